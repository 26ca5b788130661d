// The motion of joined bodies in a step.
//
// First the impulses of joints push the bodies, so that velocities fit the joints. Then the bodies move along
// the joints, by a Runge-Kutta method of order four: in each of its stages joints give the forces that keep
// the accelerations within what they allow. As for a single body (rigid.c), the motion of a spinning wheel or
// of a pendulum without gravity is therefore exact to that order, and keeps its energy.
//
// A group of bodies that nothing but gravity, springs and joints without bounds acts on is *smooth*: it moves
// from its state at the start of the step with these forces in all stages, so that the whole step is of order
// four. In a group that fluid, contacts, motors, limits or friction act on, these act at once at the start of
// the step, as the methods require, which is of first order. With a method that leaps all groups are of the
// second kind: their velocities are those in the middle between two positions, and positions are of order
// two.
#include "state/state.h"

#include <string.h>

// What is off returns with this rate times the pace of steps, critically damped.
#define RETURN 0.5
// A group is smooth only if its rows have a rate that moves them less than this in a step: in spacings, or in
// radians.
#define STEADY 1e-3
// The largest stiffness and damping of a spring that the stages resolve, in a step.
#define RESOLVED 0.5

// ---- Pushes ----

static void gather(const FloWorld *world, double *velocities) {
  for (size_t k = 0; k < world->joints.members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(&world->joints)[k];
    const FloNode *node = flo_bodies(world)[member->body].nodes;
    memset(velocities + 6 * k, 0, 6 * sizeof *velocities);
    if (!member->is_free) continue;
    vec_copy(node->velocity, velocities + 6 * k);
    vec_copy(node->angular_velocity, velocities + 6 * k + 3);
  }
}

static void push_members(FloWorld *world, const double *lambda) {
  for (size_t k = 0; k < world->joints.members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(&world->joints)[k];
    double wrench[6];
    flo_joints_wrench(&world->joints, member, lambda, wrench);
    flo_node_push(world, flo_bodies(world)[member->body].first_node, wrench, wrench + 3);
  }
}

static bool weigh_alone(FloWorld *world) {
  FloJoints *joints = &world->joints;
  if (joints->is_alone) return true;
  for (size_t k = 0; k < joints->members.count; ++k)
    flo_node_mobility(flo_bodies(world)[flo_joint_members(joints)[k].body].nodes,
                      flo_joint_members(joints)[k].mobility);
  return flo_joints_factorise(joints);
}

// The impulses of the method's solution, and then those that its rounding and later pushes need.
static void push_all(FloWorld *world) {
  FloJoints *joints = &world->joints;
  push_members(world, joints->lambda);
  joints->has_failed = joints->has_failed || !weigh_alone(world);
  gather(world, joints->velocities);
  joints->has_failed = joints->has_failed || !flo_joints_correct(joints, joints->velocities);
  push_members(world, joints->rest);
  if (joints->n_rows) memcpy(joints->pushes, joints->lambda, joints->n_rows * sizeof(double));
}

// ---- Smooth groups ----

static bool is_quiet(const FloWorld *world, const FloJointMember *member) {
  const FloNode *node = flo_bodies(world)[member->body].nodes;
  bool is_same = member->is_quiet;
  for (int axis = 0; axis < 3; ++axis)
    is_same = is_same && node->velocity[axis] == member->kicked[axis] &&
              node->angular_velocity[axis] == member->kicked[axis + 3];
  return is_same || !member->is_free;
}

static double spring_response(const FloJoints *joints, size_t k) {
  const int row = flo_joint_list(joints)[k].form->n_rows;
  return flo_joints_response(joints, (uint32_t)k, row);
}

static bool is_resolved(const FloJoints *joints, size_t k) {
  const FloJointLive *live = &flo_joint_list(joints)[k].live;
  const double response = spring_response(joints, k), dt = joints->drift;
  return live->stiffness * response * dt * dt < RESOLVED && live->damping * response * dt < RESOLVED;
}

// A spring that swings faster than steps can show comes to rest at once. A note says so, unless its own
// damping does the same.
static void tell_of_stiff_spring(FloWorld *world, size_t k) {
  FloJoints *joints = &world->joints;
  const FloJoint *joint = &flo_joint_list(joints)[k];
  const double response = spring_response(joints, k), stiff = joint->live.stiffness * response,
               damped = joint->live.damping * response;
  if (joints->has_told_of_spring || world->method->leaps || damped * damped >= 4 * stiff) return;
  if (stiff * joints->drift * joints->drift < RESOLVED) return;
  joints->has_told_of_spring = true;
  flo_world_log(
      world, FLO_LOG_WARNING,
      "spring '%s' swings with a period of %.3g s, too fast for steps of %.3g s: its swing is damped; "
      "use a softer spring, a heavier body, or a time step of at most %.3g s",
      joint->name, 2 * FLO_PI / sqrt(stiff), joints->drift, sqrt(RESOLVED / stiff));
}

// Whether nothing with bounds acts along the coordinate.
static bool is_axis_smooth(const FloJoints *joints, size_t k) {
  const FloAxis *axis = &joints->axes[k];
  if (flo_joint_list(joints)[k].form->is_spring) return is_resolved(joints, k);
  return axis->n_sticks == 0 || (flo_axis_is_known(axis) && flo_axis_slide(axis) == 0);
}

static bool is_joint_smooth(const FloWorld *world, size_t k) {
  const FloJoints *joints = &world->joints;
  const FloJointForm *form = flo_joint_list(joints)[k].form;
  for (int row = 0; row < form->n_rows; ++row) {
    double way = fabs(flo_joint_slot(joints, k, row, 0)->rate) * joints->drift;
    if (joints->is_on[flo_joint_row(joints, k) + (uint32_t)row] &&
        way > STEADY * (row < form->n_points ? world->def.spacing : 1))
      return false;
  }
  return !form->has_coordinate || is_axis_smooth(joints, k);
}

static void tell_of_stiff_springs(FloWorld *world) {
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    if (joint->form->is_spring && flo_joint_is_active(joint)) tell_of_stiff_spring(world, k);
  }
}

static void find_smooth(FloWorld *world) {
  FloJoints *joints = &world->joints;
  FloJointGroup *groups = flo_joint_groups(joints);
  for (size_t k = 0; k < joints->groups.count; ++k) groups[k].is_smooth = true;
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(joints)[k];
    if (!is_quiet(world, member)) groups[member->group].is_smooth = false;
  }
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    if (!flo_joint_is_active(joint)) continue;
    const FloJointMember *member = flo_joint_first_member(joints, joint);
    if (member && joints->yields[k].is_on) groups[member->group].is_smooth = false;
    if (member && !is_joint_smooth(world, k)) groups[member->group].is_smooth = false;
  }
}

// ---- Stages ----

// Members of groups that are not smooth start with the velocities that pushes have given them.
static void start_members(FloWorld *world) {
  FloJoints *joints = &world->joints;
  for (size_t k = 0; k < joints->members.count; ++k) {
    FloJointMember *member = &flo_joint_members(joints)[k];
    const FloNode *node = flo_bodies(world)[member->body].nodes;
    if (flo_joint_is_smooth(joints, member)) continue;
    vec_copy(node->velocity, member->start.node.velocity);
    mat_apply(node->inertia, node->angular_velocity, member->start.angular_momentum);
  }
}

static void turn_member(FloJointMember *member, int stage, double h) {
  const double *k0 = member->rates[0] + 3, *k1 = member->rates[1] + 3, *k2 = member->rates[2] + 3,
               *k3 = member->rates[3] + 3;
  const double *q = member->start_rotation;
  double omega[3], half[4];
  if (stage == 0) quat_copy(q, member->rotation);
  if (stage == 1) flo_rigid_turn(q, k0, h / 2, member->rotation);
  if (stage == 2) flo_rigid_turn(q, k1, h / 2, member->rotation);
  if (stage == 3) {
    flo_rigid_turn(q, k0, h / 2, half);
    vec_add_scaled(k2, k0, -0.5, omega);
    flo_rigid_turn(half, omega, h, member->rotation);
  }
  if (stage < 4) return;
  for (int i = 0; i < 3; ++i) omega[i] = 3 * k0[i] + 2 * (k1[i] + k2[i]) - k3[i];
  flo_rigid_turn(q, omega, h / 12, half);
  for (int i = 0; i < 3; ++i) omega[i] = -k0[i] + 2 * (k1[i] + k2[i]) + 3 * k3[i];
  flo_rigid_turn(half, omega, h / 12, member->rotation);
  quat_normalise(member->rotation);
}

// The weights of earlier rates in each stage, and in the result.
static const double weights[FLO_JOINT_STAGES + 1][FLO_JOINT_STAGES] = {
    {0, 0, 0, 0}, {0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 1, 0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

static void place_member(FloJointMember *member, int stage, double h) {
  FloRigid *now = &member->now;
  *now = member->start;
  for (int k = 0; k < FLO_JOINT_STAGES && member->is_free; ++k) {
    const double size = h * weights[stage][k], *rate = member->rates[k];
    double impulse[3], turn[3];
    if (size == 0) continue;
    vec_add_scaled(now->node.position, rate, size, now->node.position);
    vec_scale(rate + 6, size, impulse);
    vec_scale(rate + 9, size, turn);
    flo_rigid_push(now, impulse, turn);
  }
  if (member->is_free)
    turn_member(member, stage, h);
  else
    quat_copy(member->start_rotation, member->rotation);
  flo_rigid_refresh(now, member->rotation);
}

// Sides that are no members move on along their way.
static void place_others(FloWorld *world, double time) {
  FloJoints *joints = &world->joints;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloJointEnd *first = &joints->first_ends[k];
    FloJointEnd *end = &joints->ends[k];
    if (joints->member_of[k] != UINT32_MAX) continue;
    vec_add_scaled(first->position, first->velocity, time, end->position);
    flo_rigid_turn(first->rotation, first->spin, time, end->rotation);
  }
}

static void place_all(FloWorld *world, int stage, double h) {
  static const double times[FLO_JOINT_STAGES + 1] = {0, 0.5, 0.5, 1, 1};
  FloJoints *joints = &world->joints;
  place_others(world, times[stage] * h);
  for (size_t k = 0; k < joints->members.count; ++k) {
    FloJointMember *member = &flo_joint_members(joints)[k];
    FloJointEnd *end = &joints->ends[member->body];
    place_member(member, stage, h);
    vec_copy(member->now.node.position, end->position);
    quat_copy(member->rotation, end->rotation);
    flo_node_mobility(&member->now.node, member->mobility);
    if (!member->is_free) continue;
    vec_copy(member->now.node.velocity, end->velocity);
    vec_copy(member->now.node.angular_velocity, end->spin);
  }
  flo_joints_look(joints, world->bodies.count);
}

// ---- Forces of a stage ----

// Springs of smooth groups are forces; everything that holds a coordinate now keeps its speed, as far as it
// has the strength.
static void set_axis(FloJoints *joints, size_t k) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  const FloJointLive *live = &joint->live;
  const FloAxisRoom *room = &joints->rooms[k];
  const uint32_t row = flo_joint_row(joints, k) + (uint32_t)joint->form->n_rows;
  const FloJointRow *slot = flo_joint_slot(joints, k, joint->form->n_rows, 0);
  const bool has_forces = flo_joint_is_smooth(joints, flo_joint_first_member(joints, joint));
  joints->is_on[row] = !has_forces && flo_axis_holds(&joints->axes[k]) && room->slips == 0;
  if (joint->form->is_spring && has_forces)
    joints->lambda[row] = live->stiffness * (live->length - slot->violation) - live->damping * slot->rate;
  else if (room->slips != 0)
    joints->lambda[row] = room->slips > 0 ? room->high : room->low;
}

static void set_joint(FloJoints *joints, size_t k) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  const uint32_t first = flo_joint_row(joints, k), n_rows = (uint32_t)joint->form->n_rows;
  const FloJointYield *yield = &joints->yields[k];
  for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row) {
    joints->is_on[first + row] = !yield->is_on && row < n_rows;
    if (yield->is_on) joints->lambda[first + row] = yield->force[row];
  }
  if (joint->form->has_coordinate && !yield->is_on) set_axis(joints, k);
}

static void set_rows(FloJoints *joints) {
  memset(joints->lambda, 0, joints->n_rows * sizeof(double));
  memset(joints->softness, 0, joints->n_rows * sizeof(double));
  for (size_t k = 0; k < joints->list.count; ++k)
    if (flo_joint_is_active(&flo_joint_list(joints)[k])) set_joint(joints, k);
}

static void free_acceleration(const FloWorld *world, const FloJointMember *member, double out[6]) {
  const FloNode *node = &member->now.node;
  const bool has_weight = flo_joint_is_smooth(&world->joints, member);
  double turn[3];
  vec_cross(member->now.angular_momentum, node->angular_velocity, turn);
  mat_apply(node->inverse_inertia, turn, out + 3);
  for (int axis = 0; axis < 3; ++axis)
    out[axis] = has_weight ? node->inverse_mass[axis] * node->mass * world->def.gravity[axis] : 0;
}

// The second derivative that returns what is off at the start of the step. It is the same in all stages:
// stages are less exact than the whole step, and what is off in them is no fault.
static void want_return(FloWorld *world) {
  FloJoints *joints = &world->joints;
  const double rate = RETURN / joints->pace;
  memset(joints->wanted, 0, joints->n_rows * sizeof(double));
  for (size_t k = 0; k < joints->list.count; ++k)
    for (int row = 0; row < flo_joint_list(joints)[k].form->n_rows; ++row) {
      const FloJointRow *slot = flo_joint_slot(joints, k, row, 0);
      if (flo_joint_is_active(&flo_joint_list(joints)[k]))
        joints->wanted[flo_joint_row(joints, k) + (uint32_t)row] =
            -rate * (2 * slot->rate + rate * flo_world_joint_fault(world, k, row));
    }
}

// The second derivative that rows want, minus what they have without their forces.
static void find_lack(FloJoints *joints) {
  for (size_t k = 0; k < joints->list.count; ++k)
    for (int row = 0; row < (int)joints->matrix.widths[k]; ++row) {
      const uint32_t i = flo_joint_row(joints, k) + (uint32_t)row;
      joints->rest[i] = joints->is_on[i]
                            ? joints->wanted[i] - flo_joint_slot(joints, k, row, 0)->bend - joints->rest[i]
                            : 0;
    }
}

// The accelerations of members by all forces of a stage.
static void solve_stage(FloWorld *world) {
  FloJoints *joints = &world->joints;
  double *accelerations = joints->velocities;
  set_rows(joints);
  joints->has_failed = joints->has_failed || !flo_joints_factorise(joints);
  for (size_t k = 0; k < joints->members.count; ++k)
    free_acceleration(world, &flo_joint_members(joints)[k], accelerations + 6 * k);
  flo_joints_push(joints, joints->lambda, accelerations);
  flo_joints_note_ease(joints, accelerations);
  flo_joints_rates(joints, accelerations);
  find_lack(joints);
  flo_sparse_solve(&joints->matrix, joints->rest);
  flo_joints_push(joints, joints->rest, accelerations);
  for (size_t i = 0; i < joints->n_rows; ++i) joints->lambda[i] += joints->rest[i];
}

// In later rounds no axis holds again, so that the rounds end.
static void find_rates(FloWorld *world, int stage) {
  enum { FREE_ROUNDS = 8 };
  FloJoints *joints = &world->joints;
  flo_joints_begin_trials(joints);
  for (size_t round = 0, n = 1; n > 0 && !joints->has_failed; ++round) {
    solve_stage(world);
    n = flo_joints_ease(joints);
    if (n == 0) n = flo_joints_slip(joints, joints->velocities, round < FREE_ROUNDS);
  }
  for (size_t k = 0; k < joints->members.count; ++k) {
    FloJointMember *member = &flo_joint_members(joints)[k];
    double *rate = member->rates[stage];
    vec_copy(member->now.node.velocity, rate);
    vec_copy(member->now.node.angular_velocity, rate + 3);
    flo_joints_wrench(joints, member, joints->lambda, rate + 6);
    if (flo_joint_is_smooth(joints, member))
      vec_add_scaled(rate + 6, world->def.gravity, member->now.node.mass, rate + 6);
  }
}

// ---- The whole motion ----

static void put_members(FloWorld *world) {
  for (size_t k = 0; k < world->joints.members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(&world->joints)[k];
    FloBody *body = &flo_bodies(world)[member->body];
    if (member->is_free)
      body->kind->put(body, member->now.node.position, member->rotation, member->now.node.velocity,
                      member->now.angular_momentum);
    flo_world_place_samples(world, body);
  }
}

static void move_members(FloWorld *world) {
  FloJoints *joints = &world->joints;
  start_members(world);
  for (size_t k = 0; k < joints->list.count; ++k) joints->rooms[k].slips = 0;
  for (int stage = 0; stage < FLO_JOINT_STAGES; ++stage) {
    place_all(world, stage, joints->drift);
    if (stage == 0) want_return(world);
    find_rates(world, stage);
    flo_world_note_forces(world, weights[FLO_JOINT_STAGES][stage]);
    flo_joints_note_stage(joints, weights[FLO_JOINT_STAGES][stage]);
  }
  place_all(world, FLO_JOINT_STAGES, joints->drift);
}

// A joint that breaks in the motion gives other joints more to bear, so that the motion is found again.
void flo_world_move_joined(FloWorld *world) {
  FloJoints *joints = &world->joints;
  if (!flo_world_has_joints(world)) return;
  tell_of_stiff_springs(world);
  find_smooth(world);
  push_all(world);
  flo_joints_find_room(joints);
  do {
    flo_world_note_pushes(world);
    move_members(world);
  } while (!joints->has_failed && flo_joints_yield_in_motion(joints));
  put_members(world);
}
