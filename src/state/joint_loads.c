// What joints bear: forces and torques, power and work of motors, and joints that break. Also the step that
// these loads allow.
#include "state/state.h"

#include <string.h>

// ---- Loads of a step ----

void flo_joints_load(const FloJoints *joints, size_t k, const double *lambda, double force[3],
                     double torque[3]) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  const FloJointEnd *end = &joints->ends[joint->sides[1].body];
  double arm[3], lever[3];
  vec_set(force, 0, 0, 0);
  vec_set(torque, 0, 0, 0);
  for (int row = 0; row < (int)joints->matrix.widths[k]; ++row) {
    const double *j = flo_joint_slot(joints, k, row, 0)->j[1];
    vec_add_scaled(force, j, lambda[row], force);
    vec_add_scaled(torque, j + 3, lambda[row], torque);
  }
  quat_rotate(end->rotation, joint->sides[1].arm, arm);
  vec_cross(arm, force, lever);
  vec_sub(torque, lever, torque);
}

static void add_load(const FloJoints *joints, size_t k, const double *lambda, double per_lambda) {
  FloJointLive *live = &flo_joint_list(joints)[k].live;
  double force[3], torque[3];
  flo_joints_load(joints, k, lambda + flo_joint_row(joints, k), force, torque);
  vec_add_scaled(live->force, force, per_lambda, live->force);
  vec_add_scaled(live->torque, torque, per_lambda, live->torque);
}

static double of_axis(const FloJoints *joints, size_t k, const double *lambda) {
  return lambda[flo_joint_row(joints, k) + (uint32_t)flo_joint_list(joints)[k].form->n_rows];
}

// The piece of an axis says nothing about a joint that yields.
static double motor_push(const FloJoints *joints, size_t k) {
  const FloJointYield *yield = &joints->yields[k];
  return yield->is_on ? yield->motor : flo_axis_motor(&joints->axes[k], of_axis(joints, k, joints->pushes));
}

static void clear_load(FloJointLive *live) {
  vec_set(live->force, 0, 0, 0);
  vec_set(live->torque, 0, 0, 0);
  live->motor_load = 0;
}

void flo_world_note_pushes(FloWorld *world) {
  FloJoints *joints = &world->joints;
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloJoint *joint = &flo_joint_list(joints)[k];
    clear_load(&joint->live);
    if (!flo_joint_is_active(joint)) continue;
    if (joint->form->has_coordinate) {
      joint->live.piece = joints->axes[k].piece;
      joint->live.speed = flo_joint_slot(joints, k, joint->form->n_rows, 0)->rate;
    }
    if (flo_joint_is_smooth(joints, flo_joint_first_member(joints, joint))) continue;
    if (joint->form->is_gear)
      joint->live.motor_load = joints->pushes[flo_joint_row(joints, k)] / joints->kick;
    else
      add_load(joints, k, joints->pushes, 1 / joints->kick);
    if (joint->form->has_coordinate) joint->live.motor_load = motor_push(joints, k) / joints->kick;
  }
}

// The forces of a stage, with its weight. A motor that holds its speed also bears what the motion along the
// joints needs.
void flo_world_note_forces(FloWorld *world, double weight) {
  FloJoints *joints = &world->joints;
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloJoint *joint = &flo_joint_list(joints)[k];
    if (!flo_joint_is_active(joint)) continue;
    if (joint->form->is_gear)
      joint->live.motor_load += weight * joints->lambda[flo_joint_row(joints, k)];
    else
      add_load(joints, k, joints->lambda, weight);
    const FloAxis *axis = &joints->axes[k];
    if (joint->form->has_coordinate && axis->motor >= 0 && axis->piece == 2 * axis->motor + 1)
      joint->live.motor_load += weight * of_axis(joints, k, joints->lambda);
  }
}

// ---- The end of a step ----

// Power is load times the mean of the speeds at the start and the end of the step.
static void end_axis(FloJoints *joints, size_t k) {
  FloJointLive *live = &flo_joint_list(joints)[k].live;
  const FloJointRow *slot = flo_joint_slot(joints, k, flo_joint_list(joints)[k].form->n_rows, 0);
  live->coordinate = slot->violation;
  live->motor_power = live->motor_load * (live->speed + slot->rate) / 2;
  live->work += live->motor_power * joints->drift;
  live->speed = slot->rate;
}

static void add_to_means(FloJointLive *live, double dt) {
  vec_add_scaled(live->sums, live->force, dt, live->sums);
  vec_add_scaled(live->sums + 3, live->torque, dt, live->sums + 3);
  live->sums[6] += dt * live->motor_load, live->sums[7] += dt * live->motor_power;
  live->peak_force = fmax(live->peak_force, vec_length(live->force));
  live->peak_torque = fmax(live->peak_torque, vec_length(live->torque));
}

// A joint that yields has borne all that it can.
static void watch_load(FloWorld *world, size_t k) {
  FloJoint *joint = &flo_joint_list(&world->joints)[k];
  FloJointLive *live = &joint->live;
  const bool is_by_force = world->joints.yields[k].is_by_force;
  if (!world->joints.yields[k].is_on) return;
  live->is_broken = 1;
  flo_joints_note_change(&world->joints);
  flo_world_log(world, FLO_LOG_INFO, "at %.4g s joint '%s' breaks: it would have to bear more than %.4g %s",
                world->time, joint->name, is_by_force ? live->break_force : live->break_torque,
                is_by_force ? "N" : "N m");
}

FloStatus flo_world_end_joints(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  if (!flo_world_has_joints(world)) return FLO_OK;
  if (joints->has_failed)
    return flo_fail(error, FLO_DIVERGED,
                    "at %g s the joints could not be solved: the motion of their bodies is not finite; use a "
                    "shorter time step",
                    world->time);
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloJoint *joint = &flo_joint_list(joints)[k];
    if (!flo_joint_is_active(joint)) {
      clear_load(&joint->live);
      joint->live.motor_power = 0;
      continue;
    }
    if (joint->form->has_coordinate) end_axis(joints, k);
    add_to_means(&joint->live, joints->drift);
    watch_load(world, k);
  }
  return FLO_OK;
}

// ---- The longest step ----

// A load F at the end of an arm r turns a body of inertia I like a pendulum, with the square of frequency F
// r/I. A load along a line of length L between two points swings a body of mass m with F/(L m). The motion of
// bodies along joints is stable while the frequency times the step is below 2.
static double frequency_square(const FloWorld *world, const FloJoint *joint, int side) {
  const uint32_t body = joint->sides[side].body;
  double arm[3], force = vec_length(joint->live.force), most = 0;
  if (body == UINT32_MAX || !flo_body_is_pushed(&flo_bodies(world)[body])) return 0;
  const FloBody *b = &flo_bodies(world)[body];
  const FloNode *node = b->nodes;
  quat_rotate(b->state.pose.rotation, joint->sides[side].arm, arm);
  for (int axis = 0; axis < 3; ++axis) {
    double across = sqrt(fmax(vec_dot(arm, arm) - arm[axis] * arm[axis], 0));
    if (!flo_node_is_locked(node, axis + 3)) most = fmax(most, force * across / node->inertia[4 * axis]);
  }
  double span = joint->form->has_coordinate ? joint->live.coordinate : joint->live.length;
  if (joint->form->has_other_end && span > 0) most += force / (span * node->mass);
  return node->is_held ? 0 : most;
}

double flo_world_joint_dt(const FloWorld *world) {
  double most = 0;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    for (int side = 0; side < 2 && !joint->form->is_gear && flo_joint_is_active(joint); ++side)
      most = fmax(most, frequency_square(world, joint, side));
  }
  return most > 0 ? 1 / sqrt(most) : INFINITY;
}

// A motor moves its body by at most the way that counts for all speeds in a step: as fast as it wants to, or
// as fast as it can become in the step.
static double motor_dt(const FloWorld *world, const FloJoint *joint) {
  const FloJointLive *live = &joint->live;
  const double arm = joint->form->is_angle ? joint->lever : 1, way = world->def.cfl * world->def.spacing;
  if (!flo_joint_is_active(joint) || live->motor_kind != FLO_MOTOR_SPEED) return INFINITY;
  const FloNode *node = flo_bodies(world)[joint->sides[1].body].nodes;
  double wanted = arm * fabs(flo_joint_law(joint, world->time)), now = arm * fabs(live->speed);
  double gain = live->max_load / (node->mass * arm); // [m/s²]
  double by_strength = 2 * way / (now + sqrt(now * now + 4 * gain * way));
  return fmax(way / wanted, by_strength);
}

const FloJoint *flo_world_fastest_motor(const FloWorld *world, double *dt) {
  const FloJoint *fastest = NULL;
  *dt = INFINITY;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    double own = motor_dt(world, joint);
    if (own < *dt) *dt = own, fastest = joint;
  }
  return fastest;
}
