// The rows of joints in the present poses, and what they want in a step.
#include "bodies/surface.h"
#include "state/state.h"

#include <string.h>

// Points and directions that are off return by at most this share in each step. If a step is much shorter
// than the last one, rounding errors must not return within it, so that the pace of steps counts.
#define RETURNED 0.2

// ---- Ends ----

void flo_world_joint_end(const FloWorld *world, uint32_t body, FloJointEnd *end) {
  *end = (FloJointEnd){.rotation = {0, 0, 0, 1}};
  if (body == UINT32_MAX) return;
  const FloBody *b = &flo_bodies(world)[body];
  bool is_pushed = flo_body_is_pushed(b);
  vec_copy(is_pushed ? b->nodes->position : b->state.pose.position, end->position);
  quat_copy(b->state.pose.rotation, end->rotation);
  if (is_pushed && b->nodes->is_held) return;
  vec_copy(is_pushed ? b->nodes->velocity : b->state.velocity, end->velocity);
  vec_copy(is_pushed ? b->nodes->angular_velocity : b->state.angular_velocity, end->spin);
}

static void start_member(const FloWorld *world, FloJointMember *member) {
  const FloBody *body = &flo_bodies(world)[member->body];
  const FloNode *node = body->nodes;
  FloRigid *start = &member->start;
  *start = (FloRigid){.node = *node};
  quat_copy(body->state.pose.rotation, member->start_rotation);
  mat_apply(node->inertia, node->angular_velocity, start->angular_momentum);
  flo_rigid_turn_back(node->inertia, member->start_rotation, start->inertia);
  member->is_free = !node->is_held, member->is_quiet = false;
}

static void find_ends(FloWorld *world) {
  FloJoints *joints = &world->joints;
  for (uint32_t k = 0; k < world->bodies.count; ++k) flo_world_joint_end(world, k, &joints->ends[k]);
  flo_world_joint_end(world, UINT32_MAX, &joints->ends[world->bodies.count]);
  memcpy(joints->first_ends, joints->ends, (world->bodies.count + 1) * sizeof *joints->ends);
  for (size_t k = 0; k < joints->members.count; ++k) start_member(world, &flo_joint_members(joints)[k]);
}

// ---- Slots ----

static void look_at(const FloJoints *joints, size_t n_bodies, const FloJoint *joint, FloJointView *view) {
  const FloJointEnd *ends[2];
  for (int side = 0; side < 2; ++side)
    ends[side] = &joints->ends[joint->sides[side].body == UINT32_MAX ? n_bodies : joint->sides[side].body];
  flo_joint_view(joint, ends[0], ends[1], view);
}

static void scale_row(FloJointRow *row, double scale) {
  double *numbers = &row->j[0][0];
  for (int k = 0; k < 12; ++k) numbers[k] *= scale;
  row->violation *= scale, row->rate *= scale, row->bend *= scale;
}

static void look_joint(const FloJoints *joints, size_t n_bodies, const FloJoint *joint, FloJointRow *slots) {
  FloJointView view;
  look_at(joints, n_bodies, joint, &view);
  if (joint->form->rows) joint->form->rows(joint, &view, slots);
  if (!joint->form->has_coordinate) return;
  FloJointRow *row = slots + joint->form->n_rows;
  joint->form->coordinate(joint, &view, row);
  row->violation = flo_joint_unwrap(joint, row->violation);
}

// The parts of a gear: coordinates of two joints, whose sum stands in the first part.
static void look_gear(const FloJoints *joints, size_t n_bodies, const FloJoint *gear, FloJointRow *slots) {
  for (int k = 0; k < 2; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[gear->joints[k]];
    FloJointView view;
    look_at(joints, n_bodies, joint, &view);
    joint->form->coordinate(joint, &view, &slots[k]);
    slots[k].violation = flo_joint_unwrap(joint, slots[k].violation);
  }
  scale_row(&slots[1], gear->ratio);
  slots[0].violation += slots[1].violation - gear->sum;
  slots[0].rate += slots[1].rate, slots[0].bend += slots[1].bend;
}

void flo_joints_look(FloJoints *joints, size_t n_bodies) {
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    FloJointRow *slots = joints->slots + joints->first_slot[k];
    if (!flo_joint_is_active(joint)) continue;
    if (joint->form->is_gear)
      look_gear(joints, n_bodies, joint, slots);
    else
      look_joint(joints, n_bodies, joint, slots);
  }
}

double flo_joints_coordinate(const FloJoints *joints, size_t k) {
  return joints->slots[joints->first_slot[k] + (uint32_t)flo_joint_list(joints)[k].form->n_rows].violation;
}

// ---- Scheduled changes ----

// The change was checked when the joint was added, except for limits that other changes may have crossed.
static void change_joint(FloWorld *world, FloJoint *joint) {
  while (joint->live.n_changed < (double)joint->n_changes) {
    const FloJointChange *change = &joint->changes[(size_t)joint->live.n_changed];
    FloError error;
    if (change->time > world->time) return;
    ++joint->live.n_changed;
    if (flo_joint_check_part(joint, change->part, change->value, &error) != FLO_OK)
      flo_world_log(world, FLO_LOG_WARNING, "at %g s a change is left out: %s", world->time, error.text);
    else
      flo_joint_set_part(joint, change->part, change->value);
    if (change->part == FLO_JOINT_RELEASE) flo_joints_note_change(&world->joints);
  }
}

FloStatus flo_world_begin_joints(FloWorld *world, double dt, FloError *error) {
  FloJoints *joints = &world->joints;
  if (!flo_world_has_joints(world)) return FLO_OK;
  for (size_t k = 0; k < joints->list.count; ++k) change_joint(world, &flo_joint_list(joints)[k]);
  FLO_TRY(flo_world_build_joints(world, error));
  joints->n_rounds = 0, joints->has_failed = false;
  joints->drift = dt, joints->pace = fmax(dt, world->dt);
  find_ends(world);
  flo_joints_look(joints, world->bodies.count);
  return FLO_OK;
}

void flo_world_note_kick(FloWorld *world, const double *wrenches, double dt) {
  static const double none[6] = {0};
  FloJoints *joints = &world->joints;
  for (size_t k = 0; flo_world_has_joints(world) && k < joints->members.count; ++k) {
    FloJointMember *member = &flo_joint_members(joints)[k];
    const FloBody *body = &flo_bodies(world)[member->body];
    const double *wrench = wrenches ? wrenches + 6 * body->first_node : none;
    member->is_quiet = dt == joints->drift && !world->method->leaps;
    for (int i = 0; i < 6; ++i) member->is_quiet = member->is_quiet && wrench[i] == 0;
    vec_copy(body->nodes->velocity, member->kicked);
    vec_copy(body->nodes->angular_velocity, member->kicked + 3);
  }
}

// ---- What rows want ----

// The highest speed at which parts that are off return: that at which deep overlaps of bodies vanish. Without
// it, a gap of any size would close within some steps, and the shorter they are the harder the push would be.
static double return_speed(const FloWorld *world, const FloJoint *joint, bool is_angle) {
  double speed = flo_body_parting_speed(world->def.gravity, world->def.spacing, world->def.spacing);
  return is_angle ? speed / joint->lever : speed;
}

double flo_world_joint_fault(const FloWorld *world, size_t k, int row) {
  const FloJoints *joints = &world->joints;
  const FloJoint *joint = &flo_joint_list(joints)[k],
                 *measured = joint->form->is_gear ? &flo_joint_list(joints)[joint->joints[0]] : joint;
  bool is_angle = joint->form->is_gear ? measured->form->is_angle : row >= joint->form->n_points;
  double most = return_speed(world, measured, is_angle) * joints->pace / RETURNED;
  return fmax(fmin(flo_joint_slot(joints, k, row, 0)->violation, most), -most);
}

double flo_joints_rate_of_others(const FloJoints *joints, size_t k, int row) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  double sum = 0;
  for (int side = 0; side < flo_joint_n_sides(joint); ++side) {
    uint32_t body = flo_joint_body(joints, joint, side);
    if (body == UINT32_MAX) continue;
    uint32_t member = joints->member_of[body];
    if (member != UINT32_MAX && flo_joint_members(joints)[member].is_free) continue;
    const double *j = flo_joint_slot(joints, k, row, side)->j[side % 2];
    sum += vec_dot(j, joints->ends[body].velocity) + vec_dot(j + 3, joints->ends[body].spin);
  }
  return sum;
}

static void want_axis(FloJoints *joints, size_t k, uint32_t row) {
  const FloAxis *axis = &joints->axes[k];
  const int number = flo_joint_list(joints)[k].form->n_rows;
  joints->is_on[row] = !flo_axis_is_known(axis) && !joints->yields[k].is_on;
  joints->softness[row] = 0;
  joints->wanted[row] = -flo_joints_rate_of_others(joints, k, number);
  if (flo_axis_is_known(axis)) return;
  const FloAxisLine line = flo_axis_line(axis);
  joints->softness[row] = line.softness;
  joints->wanted[row] += line.speed + line.softness * line.start;
}

static void want_joint(FloWorld *world, size_t k) {
  FloJoints *joints = &world->joints;
  const FloJoint *joint = &flo_joint_list(joints)[k];
  const uint32_t first = flo_joint_row(joints, k);
  for (int row = 0; row < joint->form->n_rows; ++row) {
    joints->is_on[first + (uint32_t)row] = flo_joint_is_active(joint);
    joints->softness[first + (uint32_t)row] = 0;
    if (flo_joint_is_active(joint))
      joints->wanted[first + (uint32_t)row] =
          -RETURNED * flo_world_joint_fault(world, k, row) / joints->pace -
          flo_joints_rate_of_others(joints, k, row);
  }
  if (!joint->form->has_coordinate) return;
  joints->axes[k] = (FloAxis){.motor = -1};
  const double reach = joint->form->is_angle ? world->def.spacing / joint->lever : world->def.spacing;
  const FloAxisStep step = {.coordinate = flo_joints_coordinate(joints, k),
                            .speed = flo_joint_slot(joints, k, joint->form->n_rows, 0)->rate,
                            .time = world->time,
                            .drift = joints->drift,
                            .kick = joints->kick,
                            .leaps = world->method->leaps,
                            .rate = return_speed(world, joint, joint->form->is_angle) / reach,
                            .reach = reach};
  if (flo_joint_is_active(joint)) flo_axis_make(joint, &step, &joints->axes[k]);
  want_axis(joints, k, first + (uint32_t)joint->form->n_rows);
}

void flo_joints_want_axes(FloJoints *joints) {
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    const uint32_t first = flo_joint_row(joints, k), n_rows = (uint32_t)joint->form->n_rows;
    if (!flo_joint_is_active(joint)) continue;
    for (uint32_t row = 0; row < n_rows; ++row) joints->is_on[first + row] = !joints->yields[k].is_on;
    if (joint->form->has_coordinate) want_axis(joints, k, first + n_rows);
  }
}

// ---- Mobilities ----

void flo_node_mobility(const FloNode *node, double mobility[36]) {
  memset(mobility, 0, 36 * sizeof *mobility);
  for (int i = 0; i < 3; ++i) {
    mobility[7 * i] = node->inverse_mass[i];
    for (int k = 0; k < 3; ++k) mobility[6 * (i + 3) + k + 3] = node->inverse_inertia[3 * i + k];
  }
}

FloStatus flo_world_weigh_joints(FloWorld *world, double kick, FloBodyMobilityFn mobility,
                                 const void *context, FloError *error) {
  FloJoints *joints = &world->joints;
  if (!flo_world_has_joints(world)) return FLO_OK;
  joints->kick = kick, joints->is_alone = !mobility;
  for (size_t k = 0; k < joints->members.count; ++k) {
    FloJointMember *member = &flo_joint_members(joints)[k];
    if (mobility && member->is_free)
      mobility(context, member->body, member->mobility);
    else
      flo_node_mobility(flo_bodies(world)[member->body].nodes, member->mobility);
  }
  flo_joints_begin_yields(joints);
  flo_joints_begin_ease(joints);
  for (size_t k = 0; k < joints->list.count; ++k) want_joint(world, k);
  joints->n_bounded = 0;
  for (size_t k = 0; k < joints->list.count; ++k)
    joints->n_bounded += flo_joint_list(joints)[k].form->has_coordinate && joints->axes[k].n_sticks > 0;
  memset(joints->lambda, 0, joints->n_rows * sizeof(double));
  if (flo_joints_factorise(joints)) return FLO_OK;
  return flo_fail(error, FLO_DIVERGED,
                  "at %g s the joints cannot be solved: the motion of their bodies is "
                  "not finite; use a shorter time step",
                  world->time);
}
