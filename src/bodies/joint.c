#include "bodies/joint.h"

#include "base/core.h"

const FloJointForm *flo_joint_form(FloJointKind kind) {
  static const FloJointForm *const forms[FLO_JOINT_COUNT] = {
      &flo_joint_hinge,         &flo_joint_slider,         &flo_joint_cylindrical, &flo_joint_ball,
      &flo_joint_universal,     &flo_joint_fixed,          &flo_joint_distance,    &flo_joint_rope,
      &flo_joint_point_on_line, &flo_joint_point_on_plane, &flo_joint_gear,        &flo_joint_spring,
      &flo_joint_turn_spring};
  return (unsigned)kind < FLO_JOINT_COUNT ? forms[kind] : NULL;
}

const char *flo_joint_kind_name(FloJointKind kind) {
  const FloJointForm *form = flo_joint_form(kind);
  return form ? form->name : NULL;
}

FloJointDef flo_default_joint_def(void) {
  return (FloJointDef){.kind = FLO_JOINT_HINGE,
                       .axis = {0, 0, 1},
                       .length = -1,
                       .ratio = 1,
                       .motor = {.max_load = 0, .time = 0.05},
                       .low = -INFINITY,
                       .high = INFINITY,
                       .break_force = INFINITY,
                       .break_torque = INFINITY};
}

// ---- The view ----

static void view_side(const FloJointSide *side, const FloJointEnd *end, int k, FloJointView *view) {
  double axes[4], spin[3];
  view->ends[k] = end;
  quat_rotate(end->rotation, side->arm, view->arms[k]);
  vec_add(end->position, view->arms[k], view->points[k]);
  quat_multiply(end->rotation, side->axes, axes);
  for (int axis = 0; axis < 3; ++axis) {
    const double unit[3] = {axis == 0, axis == 1, axis == 2};
    quat_rotate(axes, unit, view->axes[k][axis]);
  }
  vec_cross(end->spin, view->arms[k], spin);
  vec_cross(end->spin, spin, view->pulls[k]);
}

static void point_velocity(const FloJointView *view, int k, double out[3]) {
  vec_cross(view->ends[k]->spin, view->arms[k], out);
  vec_add(out, view->ends[k]->velocity, out);
}

void flo_joint_view(const FloJoint *joint, const FloJointEnd *to, const FloJointEnd *body,
                    FloJointView *view) {
  double of_to[3], of_body[3];
  view_side(&joint->sides[0], to, 0, view);
  view_side(&joint->sides[1], body, 1, view);
  vec_sub(view->points[1], view->points[0], view->apart);
  point_velocity(view, 0, of_to);
  point_velocity(view, 1, of_body);
  vec_sub(of_body, of_to, view->parting);
}

// ---- Rows ----

static void set_j(const double line[3], const double turn[3], double sign, double j[6]) {
  vec_scale(line, sign, j);
  vec_scale(turn, sign, j + 3);
}

// g = n . apart, where n turns with side 0.
void flo_joint_along(const FloJointView *view, int axis, FloJointRow *row) {
  const double *n = view->axes[0][axis], *spin = view->ends[0]->spin;
  double to_other[3], turn[3], swing[3], more[3], pull[3];
  vec_add(view->arms[0], view->apart, to_other);
  vec_cross(to_other, n, turn);
  set_j(n, turn, -1, row->j[0]);
  vec_cross(view->arms[1], n, turn);
  set_j(n, turn, 1, row->j[1]);
  vec_cross(spin, n, swing);
  vec_cross(spin, swing, more);
  vec_sub(view->pulls[1], view->pulls[0], pull);
  row->violation = vec_dot(n, view->apart);
  row->rate = vec_dot(n, view->parting) + vec_dot(swing, view->apart);
  row->bend = vec_dot(n, pull) + 2 * vec_dot(swing, view->parting) + vec_dot(more, view->apart);
}

// g = a . b.
void flo_joint_square(const FloJointView *view, int axis_a, int axis_b, FloJointRow *row) {
  static const double none[3] = {0};
  const double *a = view->axes[0][axis_a], *b = view->axes[1][axis_b];
  double turn[3], of_a[3], of_b[3], more_a[3], more_b[3];
  vec_cross(a, b, turn);
  set_j(none, turn, 1, row->j[0]);
  set_j(none, turn, -1, row->j[1]);
  vec_cross(view->ends[0]->spin, a, of_a);
  vec_cross(view->ends[1]->spin, b, of_b);
  vec_cross(view->ends[0]->spin, of_a, more_a);
  vec_cross(view->ends[1]->spin, of_b, more_b);
  row->violation = vec_dot(a, b);
  row->rate = vec_dot(of_a, b) + vec_dot(a, of_b);
  row->bend = vec_dot(more_a, b) + 2 * vec_dot(of_a, of_b) + vec_dot(a, more_b);
}

void flo_joint_together(const FloJointView *view, FloJointRow rows[3]) {
  for (int axis = 0; axis < 3; ++axis) flo_joint_along(view, axis, &rows[axis]);
}

void flo_joint_aligned(const FloJointView *view, FloJointRow rows[3]) {
  for (int axis = 0; axis < 3; ++axis) flo_joint_square(view, axis, (axis + 1) % 3, &rows[axis]);
}

// g = |apart|. If the points are at the same place there is no direction, and the row does nothing.
void flo_joint_apart(const FloJointView *view, FloJointRow *row) {
  double length = vec_length(view->apart), n[3], turn[3], pull[3];
  vec_scale(view->apart, length > 0 ? 1 / length : 0, n);
  vec_cross(view->arms[0], n, turn);
  set_j(n, turn, -1, row->j[0]);
  vec_cross(view->arms[1], n, turn);
  set_j(n, turn, 1, row->j[1]);
  vec_sub(view->pulls[1], view->pulls[0], pull);
  row->violation = length;
  row->rate = vec_dot(n, view->parting);
  double across = vec_dot(view->parting, view->parting) - row->rate * row->rate;
  row->bend = vec_dot(n, pull) + (length > 0 ? across / length : 0);
}

void flo_joint_turned(const FloJointView *view, FloJointRow *row) {
  static const double none[3] = {0};
  const double *axis = view->axes[0][2], *a = view->axes[0][0], *b = view->axes[1][0];
  double across[3], spin[3], swing[3];
  set_j(none, axis, -1, row->j[0]);
  set_j(none, axis, 1, row->j[1]);
  vec_cross(a, b, across);
  vec_sub(view->ends[1]->spin, view->ends[0]->spin, spin);
  vec_cross(view->ends[0]->spin, axis, swing);
  row->violation = atan2(vec_dot(across, axis), vec_dot(a, b));
  row->rate = vec_dot(axis, spin);
  row->bend = vec_dot(swing, spin);
}

double flo_joint_unwrap(const FloJoint *joint, double coordinate) {
  if (!joint->form->is_angle) return coordinate;
  return coordinate + 2 * FLO_PI * round((joint->live.coordinate - coordinate) / (2 * FLO_PI));
}

// ---- Changes ----

typedef struct Part {
  const char *name;
  double low; // lowest value
  bool needs_coordinate, needs_spring, needs_length;
  bool may_be_endless;
} Part;

static const Part parts[FLO_JOINT_PART_COUNT] = {
    [FLO_JOINT_RELEASE] = {"release", 0, false, false, false, false},
    [FLO_JOINT_MOTOR_SPEED] = {"motor speed", -FLO_JOINT_NONE, true, false, false, false},
    [FLO_JOINT_MOTOR_POSITION] = {"motor position", -FLO_JOINT_NONE, true, false, false, false},
    [FLO_JOINT_MOTOR_FREE] = {"motor", -FLO_JOINT_NONE, true, false, false, false},
    [FLO_JOINT_MAX_LOAD] = {"largest load", 0, true, false, false, true},
    [FLO_JOINT_LIMIT_LOW] = {"lower limit", -INFINITY, true, false, false, true},
    [FLO_JOINT_LIMIT_HIGH] = {"upper limit", -INFINITY, true, false, false, true},
    [FLO_JOINT_FRICTION] = {"friction", 0, true, false, false, false},
    [FLO_JOINT_STIFFNESS] = {"stiffness", 0, false, true, false, false},
    [FLO_JOINT_DAMPING] = {"damping", 0, false, true, false, false},
    [FLO_JOINT_LENGTH] = {"length", -FLO_JOINT_NONE, false, false, true, false},
    [FLO_JOINT_BREAK_FORCE] = {"breaking force", 0, false, false, false, true},
    [FLO_JOINT_BREAK_TORQUE] = {"breaking torque", 0, false, false, false, true},
};

static FloStatus check_limits(const FloJoint *joint, FloJointPart part, double value, FloError *error) {
  double low = part == FLO_JOINT_LIMIT_LOW ? value : joint->live.low,
         high = part == FLO_JOINT_LIMIT_HIGH ? value : joint->live.high;
  if (low <= high) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its lower limit, %g, is above its upper limit, %g",
                  joint->name, low, high);
}

static bool has_motor(const FloJoint *joint, FloJointPart part) {
  return part == FLO_JOINT_MOTOR_SPEED || part == FLO_JOINT_MOTOR_POSITION ? joint->live.max_load > 0 : true;
}

static bool has_part(const FloJointForm *form, FloJointPart part) {
  const Part *p = &parts[part];
  if (part == FLO_JOINT_BREAK_FORCE) return form->has_force;
  if (part == FLO_JOINT_BREAK_TORQUE) return form->has_torque;
  return (!p->needs_coordinate || flo_joint_has_drive(form)) && (!p->needs_spring || form->is_spring) &&
         (!p->needs_length || form->has_length);
}

FloStatus flo_joint_check_part(const FloJoint *joint, FloJointPart part, double value, FloError *error) {
  if ((unsigned)part >= FLO_JOINT_PART_COUNT)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': there is no part %d", joint->name, (int)part);
  const Part *p = &parts[part];
  const FloJointForm *form = joint->form;
  if (!has_part(form, part))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': a joint of the kind '%s' has no %s", joint->name,
                    form->name, p->name);
  const double low = part == FLO_JOINT_LENGTH && form->has_other_end ? 0 : p->low;
  if (!(value >= low) || (!p->may_be_endless && !isfinite(value)))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its %s must be a%s number%s, got %g", joint->name,
                    p->name, p->may_be_endless ? "" : " finite", low == 0 ? " of 0 or more" : "", value);
  if (form->only_pulls && part == FLO_JOINT_LIMIT_LOW && value > 0)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': a rope only pulls, so that it has no lower limit",
                    joint->name);
  if (!has_motor(joint, part))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': a motor needs a largest load, or it cannot move anything; set it first",
                    joint->name);
  if (part == FLO_JOINT_LIMIT_LOW || part == FLO_JOINT_LIMIT_HIGH)
    return check_limits(joint, part, value, error);
  return FLO_OK;
}

static void set_motor(FloJointLive *live, FloMotorKind kind, double value) {
  live->motor_kind = kind, live->motor_value = value;
  live->motor_amplitude = live->motor_has_keys = 0;
}

void flo_joint_set_part(FloJoint *joint, FloJointPart part, double value) {
  FloJointLive *live = &joint->live;
  double *const numbers[FLO_JOINT_PART_COUNT] = {
      [FLO_JOINT_RELEASE] = &live->is_released,     [FLO_JOINT_MAX_LOAD] = &live->max_load,
      [FLO_JOINT_LIMIT_LOW] = &live->low,           [FLO_JOINT_LIMIT_HIGH] = &live->high,
      [FLO_JOINT_FRICTION] = &live->friction,       [FLO_JOINT_STIFFNESS] = &live->stiffness,
      [FLO_JOINT_DAMPING] = &live->damping,         [FLO_JOINT_LENGTH] = &live->length,
      [FLO_JOINT_BREAK_FORCE] = &live->break_force, [FLO_JOINT_BREAK_TORQUE] = &live->break_torque};
  if (part == FLO_JOINT_MOTOR_SPEED)
    set_motor(live, FLO_MOTOR_SPEED, value);
  else if (part == FLO_JOINT_MOTOR_POSITION)
    set_motor(live, FLO_MOTOR_POSITION, value);
  else if (part == FLO_JOINT_MOTOR_FREE)
    set_motor(live, FLO_MOTOR_FREE, 0);
  else
    *numbers[part] = part == FLO_JOINT_RELEASE ? value != 0 : flo_joint_finite(value);
  if (part == FLO_JOINT_LENGTH && joint->form->kind == FLO_JOINT_ROPE) live->high = flo_joint_finite(value);
}
