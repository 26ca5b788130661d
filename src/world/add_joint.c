// Adding joints to a world, changing them and asking for their state.
#include "world/world.h"

#include <stdio.h>
#include <string.h>

// How far apart the parts of a joint may be at the start, in spacings.
#define MEETS 1e-6
// The largest cosine of two axes that count as square, and of an axis in the plane with its normal.
#define IS_SQUARE 1e-6

typedef struct Making {
  FloWorld *world;
  const FloJointDef *def;
  FloJoint *joint;
} Making;

// ---- Bodies ----

static bool can_hold(const FloBody *body) { return flo_body_is_pushed(body) && body->kind->put; }

static FloStatus check_bodies(const Making *making, FloError *error) {
  const FloJointDef *def = making->def;
  const FloWorld *world = making->world;
  const char *name = making->joint->name;
  if (!flo_world_body_at(world, def->body))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': it has no body; add the body to this world first",
                    name);
  const FloBody *body = &flo_bodies(world)[def->body.index];
  if (!can_hold(body))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': forces do not move '%s', so a joint cannot hold it; let the joint be one of "
                    "a rigid body to it",
                    name, body->name);
  if (!def->to.generation) return FLO_OK;
  if (!flo_world_body_at(world, def->to))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': the body that it leads to is not in this world", name);
  if (def->to.index == def->body.index)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': it joins '%s' to itself; name another body, or none",
                    name, body->name);
  const FloBody *to = &flo_bodies(world)[def->to.index];
  if (flo_body_is_pushed(to) && !can_hold(to))
    return flo_fail(error, FLO_UNSUPPORTED, "joint '%s': '%s' is of several pieces, which joints cannot hold",
                    name, to->name);
  return FLO_OK;
}

// ---- Axes ----

static FloStatus scale_axis(const Making *making, const double axis[3], const char *which, double out[3],
                            FloError *error) {
  double length = vec_length(axis);
  if (!vec_is_finite(axis) || !(length > 0))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': %s (%g, %g, %g) has no direction", making->joint->name,
                    which, axis[0], axis[1], axis[2]);
  vec_scale(axis, 1 / length, out);
  return FLO_OK;
}

static FloStatus check_plane(const Making *making, const double axis[3], FloError *error) {
  const FloJointForm *form = making->joint->form;
  if (making->world->def.dim == 3 || form->has_second_axis) return FLO_OK;
  bool is_turning = form->is_angle;
  if (is_turning ? fabs(axis[2]) > 1 - IS_SQUARE : fabs(axis[2]) < IS_SQUARE) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "joint '%s': in two dimensions the axis of a joint of the kind '%s' must %s, but it is (%g, "
      "%g, %g)",
      making->joint->name, form->name, is_turning ? "be z" : "lie in the plane", axis[0], axis[1], axis[2]);
}

// Any direction square to a unit vector.
static void square_to(const double axis[3], double out[3]) {
  int least = 0;
  double unit[3] = {0};
  for (int k = 1; k < 3; ++k)
    if (fabs(axis[k]) < fabs(axis[least])) least = k;
  unit[least] = 1;
  vec_cross(axis, unit, out);
  vec_scale(out, 1 / vec_length(out), out);
}

// The rotation whose axes are x, y and their product.
static void rotation_of(const double x[3], const double y[3], double q[4]) {
  double z[3];
  vec_cross(x, y, z);
  const double m[3][3] = {{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}};
  int i = 0;
  if (m[1][1] > m[0][0]) i = 1;
  if (m[2][2] > m[i][i]) i = 2;
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  double trace = m[0][0] + m[1][1] + m[2][2];
  if (trace > 0) {
    q[3] = 1 + trace;
    for (int a = 0; a < 3; ++a) q[a] = m[(a + 2) % 3][(a + 1) % 3] - m[(a + 1) % 3][(a + 2) % 3];
  } else {
    q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
    q[j] = m[i][j] + m[j][i], q[k] = m[i][k] + m[k][i];
    q[3] = m[k][j] - m[j][k];
  }
  quat_normalise(q);
}

static FloStatus find_axes(const Making *making, double axes[4], FloError *error) {
  const FloJointDef *def = making->def;
  double axis[3], first[3], second[3];
  if (!making->joint->form->has_axis) {
    const double identity[4] = {0, 0, 0, 1};
    quat_copy(identity, axes);
    return FLO_OK;
  }
  FLO_TRY(scale_axis(making, def->axis, "its axis", axis, error));
  FLO_TRY(check_plane(making, axis, error));
  if (!making->joint->form->has_second_axis) {
    square_to(axis, first);
    vec_cross(axis, first, second);
    rotation_of(first, second, axes);
    return FLO_OK;
  }
  FLO_TRY(scale_axis(making, def->axis2, "its second axis", second, error));
  double cosine = vec_dot(axis, second);
  if (fabs(cosine) > IS_SQUARE)
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its two axes must be square, but the angle between them is %.4g degrees",
                    making->joint->name, acos(cosine) * 180 / FLO_PI);
  vec_add_scaled(second, axis, -cosine, second);
  rotation_of(axis, second, axes);
  return FLO_OK;
}

// ---- Sides ----

static void place_side(const Making *making, int k, const double at[3], const double axes[4]) {
  FloJointSide *side = &making->joint->sides[k];
  FloJointEnd end;
  double arm[3], back[4];
  flo_world_joint_end(making->world, side->body, &end);
  vec_sub(at, end.position, arm);
  quat_conjugate(end.rotation, back);
  quat_rotate(back, arm, side->arm);
  quat_multiply(back, axes, side->axes);
}

// The body turns about the joint's point as a mass at this distance would, roughly.
static double find_lever(const Making *making) {
  const FloNode *node = flo_bodies(making->world)[making->def->body.index].nodes;
  const double *inertia = node->inertia, *arm = making->joint->sides[1].arm;
  double largest = fmax(fmax(inertia[0], inertia[4]), inertia[8]);
  return fmax(sqrt(largest / node->mass + vec_dot(arm, arm)), making->world->def.spacing);
}

static FloStatus place(const Making *making, FloError *error) {
  const FloJointDef *def = making->def;
  FloJoint *joint = making->joint;
  double axes[4];
  if (!vec_is_finite(def->at) || (def->has_to_at && !vec_is_finite(def->to_at)))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its place is not finite", joint->name);
  if (joint->form->has_other_end && !def->has_to_at)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': a joint of the kind '%s' needs its other end",
                    joint->name, joint->form->name);
  FLO_TRY(find_axes(making, axes, error));
  joint->sides[0].body = def->to.generation ? def->to.index : UINT32_MAX;
  joint->sides[1].body = def->body.index;
  place_side(making, 0, def->has_to_at ? def->to_at : def->at, axes);
  place_side(making, 1, def->at, axes);
  joint->lever = find_lever(making);
  return FLO_OK;
}

static void view_now(const FloWorld *world, const FloJoint *joint, FloJointEnd ends[2], FloJointView *view) {
  for (int side = 0; side < 2; ++side) flo_world_joint_end(world, joint->sides[side].body, &ends[side]);
  flo_joint_view(joint, &ends[0], &ends[1], view);
}

// ---- Numbers ----

static FloStatus check_number(const FloJoint *joint, const char *what, double value, bool may_be_endless,
                              FloError *error) {
  if (value >= 0 && (may_be_endless || isfinite(value))) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its %s must be 0 or more, got %g", joint->name, what,
                  value);
}

static FloStatus check_loads(const FloJoint *joint, const FloJointDef *def, FloError *error) {
  FLO_TRY(check_number(joint, "limit stiffness", def->limit_stiffness, false, error));
  FLO_TRY(check_number(joint, "limit damping", def->limit_damping, false, error));
  FLO_TRY(check_number(joint, "friction", def->friction, false, error));
  FLO_TRY(check_number(joint, "stiffness", def->stiffness, false, error));
  FLO_TRY(check_number(joint, "damping", def->damping, false, error));
  FLO_TRY(check_number(joint, "breaking force", def->break_force, true, error));
  return check_number(joint, "breaking torque", def->break_torque, true, error);
}

static FloStatus check_geometry(const FloJoint *joint, const FloJointDef *def, FloError *error) {
  if (!isfinite(def->length))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its length must be a finite number, got %g; a negative one means the "
                    "present length",
                    joint->name, def->length);
  if (isnan(def->low) || isnan(def->high))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its limits, %g to %g, must be numbers; use -INFINITY and INFINITY for none",
                    joint->name, def->low, def->high);
  if (def->limit_damping > 0 && !(def->limit_stiffness > 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': limits with damping need a limit stiffness above 0; without one they are "
                    "hard, so leave the damping out",
                    joint->name);
  return FLO_OK;
}

// The part of a definition that a kind does not read; NULL: none.
static const char *unused_part(const FloJointForm *form, const FloJointDef *def) {
  const bool has_drive = flo_joint_has_drive(form);
  if (!has_drive && def->motor.kind != FLO_MOTOR_FREE) return "motor";
  if (!has_drive && (def->low > -INFINITY || def->high < INFINITY)) return "limits";
  if (!has_drive && def->friction > 0) return "friction";
  if (!has_drive && (def->limit_stiffness > 0 || def->limit_damping > 0)) return "limits";
  if (!form->is_spring && def->stiffness > 0) return "stiffness";
  if (!form->is_spring && def->damping > 0) return "damping";
  if (!form->has_length && def->length >= 0) return "length";
  if (!form->has_force && def->break_force < INFINITY) return "force at which it breaks";
  if (!form->has_torque && def->break_torque < INFINITY) return "torque at which it breaks";
  return NULL;
}

static FloStatus check_use(const FloJoint *joint, const FloJointDef *def, FloError *error) {
  const char *unused = unused_part(joint->form, def);
  if (unused)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': a joint of the kind '%s' has no %s; leave it out",
                    joint->name, joint->form->name, unused);
  if (joint->form->only_pulls && def->low > 0)
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': a rope only pulls, so that it has no lower limit, got %g m; use 0, or a rod "
                    "(distance)",
                    joint->name, def->low);
  const bool has_limits = def->low > -INFINITY || def->high < INFINITY || joint->form->only_pulls;
  if (has_limits || !(def->limit_stiffness > 0)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "joint '%s': it has a limit stiffness, but no limits; add limits, or leave it out",
                  joint->name);
}

static FloStatus check_keys(const FloJoint *joint, const FloMotorDef *motor, FloError *error) {
  if (motor->n_keys && !motor->keys)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': the law of its motor is NULL", joint->name);
  for (size_t k = 0; k < motor->n_keys; ++k) {
    const FloMotorKey *key = &motor->keys[k];
    if (!isfinite(key->time) || !isfinite(key->value))
      return flo_fail(
          error, FLO_BAD_INPUT,
          "joint '%s': point %zu of its motor's law, %g at %g s, is not finite; use finite numbers",
          joint->name, k, key->value, key->time);
    if (k > 0 && !(key->time > motor->keys[k - 1].time))
      return flo_fail(error, FLO_BAD_INPUT,
                      "joint '%s': the times of its motor's law must rise, but %g s follows %g s",
                      joint->name, key->time, motor->keys[k - 1].time);
  }
  return FLO_OK;
}

static FloStatus check_motor(const FloJoint *joint, const FloMotorDef *motor, FloError *error) {
  if (motor->kind == FLO_MOTOR_FREE) return FLO_OK;
  const char *load = joint->form->is_angle ? "max_torque" : "max_force";
  if (!(motor->max_load > 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its motor needs a largest load (%s) above 0, got %g; without one it moves "
                    "nothing",
                    joint->name, load, motor->max_load);
  const double numbers[] = {motor->value, motor->amplitude, motor->frequency, motor->phase};
  for (size_t k = 0; k < FLO_COUNT_OF(numbers); ++k)
    if (!isfinite(numbers[k]))
      return flo_fail(error, FLO_BAD_INPUT, "joint '%s': the law of its motor is not finite", joint->name);
  if (motor->kind == FLO_MOTOR_POSITION && !(motor->time >= 0 && isfinite(motor->time)))
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': the time of its motor must be 0 or more, got %g",
                    joint->name, motor->time);
  return check_keys(joint, motor, error);
}

static void set_live(FloJoint *joint, const FloJointDef *def) {
  const FloMotorDef *motor = &def->motor;
  joint->live = (FloJointLive){.motor_kind = motor->kind,
                               .motor_value = motor->value,
                               .motor_amplitude = motor->amplitude,
                               .motor_frequency = motor->frequency,
                               .motor_phase = motor->phase,
                               .motor_has_keys = motor->n_keys > 0,
                               .max_load = flo_joint_finite(motor->max_load),
                               .motor_time = motor->time,
                               .low = flo_joint_finite(def->low),
                               .high = flo_joint_finite(def->high),
                               .limit_stiffness = def->limit_stiffness,
                               .limit_damping = def->limit_damping,
                               .friction = def->friction,
                               .stiffness = def->stiffness,
                               .damping = def->damping,
                               .length = flo_joint_finite(def->length),
                               .break_force = flo_joint_finite(def->break_force),
                               .break_torque = flo_joint_finite(def->break_torque),
                               .piece = FLO_JOINT_NO_PIECE};
}

// ---- The start ----

static double size_of(const FloJointRow *rows, int n) {
  double square = 0;
  for (int k = 0; k < n; ++k) square += rows[k].violation * rows[k].violation;
  return sqrt(square);
}

// Without a length, it is the present one. A turning spring is at rest now.
static void set_length(FloJoint *joint, const FloJointDef *def, const FloJointView *view) {
  double now = joint->form->has_other_end ? vec_length(view->apart) : 0;
  if (def->length < 0) joint->live.length = now;
  if (joint->form->kind == FLO_JOINT_ROPE) joint->live.high = fmin(joint->live.high, joint->live.length);
}

static FloStatus check_meeting(const Making *making, const FloJointView *view, FloError *error) {
  const FloJoint *joint = making->joint;
  FloJointRow rows[FLO_JOINT_ROWS];
  if (!joint->form->rows || making->def->closes) return FLO_OK;
  joint->form->rows(joint, view, rows);
  double open = size_of(rows, joint->form->n_points);
  if (open <= MEETS * making->world->def.spacing) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "joint '%s': its parts are %.4g m apart at the start; move the bodies together, or let the "
                  "joint pull them together ('close': true in a scene)",
                  joint->name, open);
}

static FloStatus check_limits(FloJoint *joint, const FloJointView *view, FloError *error) {
  FloJointRow row;
  if (!joint->form->has_coordinate) return FLO_OK;
  joint->form->coordinate(joint, view, &row);
  joint->live.coordinate = row.violation;
  if (joint->live.low > joint->live.high)
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its lower limit, %g, is above its upper limit, %g; exchange them",
                    joint->name, joint->live.low, joint->live.high);
  double room = 1e-9 * (1 + fabs(row.violation));
  if (joint->form->only_pulls && row.violation > joint->live.high + room)
    return flo_fail(error, FLO_BAD_INPUT,
                    "joint '%s': its ends are %g m apart at the start, more than its length, %g m; make it "
                    "longer, or move the bodies together",
                    joint->name, row.violation, joint->live.high);
  if (row.violation >= joint->live.low - room && row.violation <= joint->live.high + room) return FLO_OK;
  const bool is_below = row.violation < joint->live.low;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "joint '%s': it starts at %g %s, outside its limits: the %s one is %g; move the bodies or the limits",
      joint->name, row.violation, joint->form->is_angle ? "rad" : "m", is_below ? "lower" : "upper",
      is_below ? joint->live.low : joint->live.high);
}

static FloStatus start_joint(const Making *making, FloError *error) {
  FloJoint *joint = making->joint;
  FloJointEnd ends[2];
  FloJointView view;
  view_now(making->world, joint, ends, &view);
  set_length(joint, making->def, &view);
  FLO_TRY(check_meeting(making, &view, error));
  return check_limits(joint, &view, error);
}

// ---- Gears ----

static FloStatus make_gear(const Making *making, FloError *error) {
  const FloJointDef *def = making->def;
  FloJoint *joint = making->joint;
  const FloJoint *list = flo_joint_list(&making->world->joints);
  for (int k = 0; k < 2; ++k) {
    if (!flo_world_joint_at(making->world, def->joints[k]))
      return flo_fail(error, FLO_BAD_INPUT, "joint '%s': a gear needs two joints that were added before it",
                      joint->name);
    const FloJoint *other = &list[def->joints[k].index];
    if (!other->form->has_coordinate)
      return flo_fail(error, FLO_BAD_INPUT,
                      "joint '%s': '%s', of the kind '%s', has no coordinate that a gear could drive",
                      joint->name, other->name, other->form->name);
    joint->joints[k] = def->joints[k].index;
    joint->sides[k].body = UINT32_MAX;
  }
  if (joint->joints[0] == joint->joints[1])
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': it joins '%s' to itself", joint->name,
                    list[joint->joints[0]].name);
  if (!isfinite(def->ratio) || def->ratio == 0)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its ratio must be finite and not 0, got %g",
                    joint->name, def->ratio);
  joint->ratio = def->ratio;
  joint->sum = list[joint->joints[0]].live.coordinate + def->ratio * list[joint->joints[1]].live.coordinate;
  return FLO_OK;
}

// ---- Creation ----

static FloStatus copy_array(FloWorld *world, const void *from, size_t size, void *to, FloError *error) {
  if (size == 0) return FLO_OK;
  void *copy = flo_memory_allocate(&world->memory, size);
  if (!copy) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a joint");
  memcpy(copy, from, size);
  memcpy(to, &copy, sizeof copy);
  return FLO_OK;
}

static FloStatus check_changes(const FloJoint *joint, const FloJointDef *def, FloError *error) {
  FloJoint later = *joint; // changes may depend on those before them
  if (def->n_changes && !def->changes)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': its changes are NULL", joint->name);
  for (size_t k = 0; k < def->n_changes; ++k) {
    const FloJointChange *change = &def->changes[k];
    if (!isfinite(change->time) || (k > 0 && change->time < def->changes[k - 1].time))
      return flo_fail(error, FLO_BAD_INPUT, "joint '%s': the times of its changes must rise, got %g s",
                      joint->name, change->time);
    FLO_TRY(flo_joint_check_part(&later, change->part, change->value, error));
    flo_joint_set_part(&later, change->part, change->value);
  }
  return FLO_OK;
}

static FloStatus make_joint(const Making *making, FloError *error) {
  const FloJointDef *def = making->def;
  FloJoint *joint = making->joint;
  set_live(joint, def);
  joint->touch = def->touch;
  if (joint->form->is_gear)
    FLO_TRY(make_gear(making, error));
  else
    FLO_TRY(check_bodies(making, error));
  FLO_TRY(check_loads(joint, def, error));
  FLO_TRY(check_geometry(joint, def, error));
  FLO_TRY(check_use(joint, def, error));
  FLO_TRY(check_motor(joint, &def->motor, error));
  if (!joint->form->is_gear) {
    FLO_TRY(place(making, error));
    FLO_TRY(start_joint(making, error));
  }
  return check_changes(joint, def, error);
}

static FloStatus keep_joint(FloWorld *world, const FloJointDef *def, FloJoint *joint, FloError *error) {
  joint->n_keys = def->motor.keys ? def->motor.n_keys : 0, joint->n_changes = def->n_changes;
  FloStatus status =
      copy_array(world, def->motor.keys, joint->n_keys * sizeof *joint->keys, &joint->keys, error);
  if (status == FLO_OK)
    status =
        copy_array(world, def->changes, joint->n_changes * sizeof *joint->changes, &joint->changes, error);
  if (status == FLO_OK) status = flo_world_append(world, &world->joints.list, joint, sizeof *joint, error);
  if (status == FLO_OK) return FLO_OK;
  flo_memory_release(&world->memory, joint->keys, joint->n_keys * sizeof *joint->keys);
  flo_memory_release(&world->memory, joint->changes, joint->n_changes * sizeof *joint->changes);
  return status;
}

FloStatus flo_world_add_joint(FloWorld *world, const FloJointDef *def, FloJointId *id, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  FloJoint joint = {.form = flo_joint_form(def->kind), .user_data = def->user_data};
  snprintf(joint.name, sizeof joint.name, "%s", def->name ? def->name : "");
  if (!joint.form)
    return flo_fail(error, FLO_BAD_INPUT, "joint '%s': unknown kind %d", joint.name, (int)def->kind);
  const Making making = {world, def, &joint};
  FLO_TRY(make_joint(&making, error));
  FLO_TRY(keep_joint(world, def, &joint, error));
  flo_joints_note_change(&world->joints);
  if (id) *id = (FloJointId){(uint16_t)(world->joints.list.count - 1), 1};
  return FLO_OK;
}

// ---- Changes and state ----

FloStatus flo_world_set_joint(FloWorld *world, FloJointId id, FloJointPart part, double value,
                              FloError *error) {
  FloJoint *joint;
  FLO_TRY(flo_world_need_joint(world, id, &joint, error));
  FLO_TRY(flo_joint_check_part(joint, part, value, error));
  flo_joint_set_part(joint, part, value);
  if (part == FLO_JOINT_RELEASE) flo_joints_note_change(&world->joints);
  return FLO_OK;
}

static void state_of_geometry(const FloWorld *world, const FloJoint *joint, FloJointState *state) {
  FloJointEnd ends[2];
  FloJointView view;
  FloJointRow rows[FLO_JOINT_ROWS], row;
  const int n = joint->form->n_rows, n_points = joint->form->n_points;
  view_now(world, joint, ends, &view);
  vec_copy(view.points[1], state->point);
  if (joint->form->rows) {
    joint->form->rows(joint, &view, rows);
    state->open = size_of(rows, n_points), state->bent = size_of(rows + n_points, n - n_points);
  }
  if (!joint->form->has_coordinate) return;
  joint->form->coordinate(joint, &view, &row);
  state->coordinate = flo_joint_unwrap(joint, row.violation), state->speed = row.rate;
}

static void find_means(const FloWorld *world, const FloJointLive *live, FloJointState *state) {
  double span = world->time - world->averages_since;
  const bool has_span = span > 0;
  vec_scale(has_span ? live->sums : live->force, has_span ? 1 / span : 1, state->mean_force);
  vec_scale(has_span ? live->sums + 3 : live->torque, has_span ? 1 / span : 1, state->mean_torque);
  state->mean_motor_load = has_span ? live->sums[6] / span : live->motor_load;
  state->mean_motor_power = has_span ? live->sums[7] / span : live->motor_power;
  state->peak_force = has_span ? live->peak_force : vec_length(live->force);
  state->peak_torque = has_span ? live->peak_torque : vec_length(live->torque);
}

FloStatus flo_world_joint_state(const FloWorld *world, FloJointId id, FloJointState *state, FloError *error) {
  FloJoint *joint;
  FLO_TRY(flo_world_need_joint(world, id, &joint, error));
  FLO_NEED(state, error);
  const FloJointLive *live = &joint->live;
  *state = (FloJointState){.is_active = flo_joint_is_active(joint),
                           .is_broken = live->is_broken != 0,
                           .motor_load = live->motor_load,
                           .motor_power = live->motor_power,
                           .motor_work = live->work};
  vec_copy(live->force, state->force);
  vec_copy(live->torque, state->torque);
  find_means(world, live, state);
  if (!joint->form->is_gear) state_of_geometry(world, joint, state);
  return FLO_OK;
}
