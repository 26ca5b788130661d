// Joints that break. In the step in which a joint breaks it bears its breaking load, and no more. So the
// impulse that it passes on is at most that load times the step, however hard the impact is, and vanishes
// with the step. The solver of fluid and contacts meets the joint with this bound: a joint that would bear
// more *yields*, and its impulses are those that would hold it, made smaller.
#include "state/state.h"

#include <string.h>

// The share by which a load may be above a breaking load within rounding.
#define ROUNDING 1e-12

static bool can_break(const FloJoint *joint) {
  const FloJointLive *live = &joint->live;
  return flo_joint_is_active(joint) && !joint->form->is_gear &&
         fmin(live->break_force, live->break_torque) < FLO_JOINT_NONE;
}

void flo_joints_begin_yields(FloJoints *joints) {
  memset(joints->yields, 0, joints->list.count * sizeof *joints->yields);
  joints->n_breakable = 0;
  for (size_t k = 0; k < joints->list.count; ++k)
    joints->n_breakable += can_break(&flo_joint_list(joints)[k]);
}

// The largest share s for which |start + s more| is at most `most`.
static double share_within(const double start[3], const double more[3], double most) {
  double a = vec_dot(more, more), b = vec_dot(start, more), c = vec_dot(start, start) - most * most;
  if (a + 2 * b + c <= ROUNDING * most * most) return 1;
  if (!(c < 0)) return 0;
  return (sqrt(b * b - a * c) - b) / a;
}

// The share of `more` that a joint bears beside `start`: forces and torques.
static double share_of(const FloJointLive *live, double start[2][3], double more[2][3], bool *is_by_force) {
  double by_force = share_within(start[0], more[0], live->break_force),
         by_torque = share_within(start[1], more[1], live->break_torque);
  *is_by_force = by_force <= by_torque;
  return fmin(by_force, by_torque);
}

static double motor_part(const FloJoints *joints, size_t k, const double *lambda) {
  const FloJointForm *form = flo_joint_list(joints)[k].form;
  return form->has_coordinate ? flo_axis_motor(&joints->axes[k], lambda[form->n_rows]) : 0;
}

// ---- Pushes ----

static bool begin_yield(FloJoints *joints, size_t k) {
  FloJointYield *yield = &joints->yields[k];
  const double *lambda = joints->lambda + flo_joint_row(joints, k);
  double start[2][3] = {{0}}, more[2][3];
  bool is_by_force;
  flo_joints_load(joints, k, lambda, more[0], more[1]);
  for (int part = 0; part < 2; ++part) vec_scale(more[part], 1 / joints->kick, more[part]);
  double share = share_of(&flo_joint_list(joints)[k].live, start, more, &is_by_force);
  if (!(share < 1)) return false;
  yield->is_on = true, yield->is_by_force = is_by_force;
  for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row) yield->push[row] = share * lambda[row];
  yield->motor = share * motor_part(joints, k, lambda);
  return true;
}

// A joint that yields lags behind what its impulses aim at. If it does not, they are too large.
static bool end_yield(FloJoints *joints, size_t k) {
  FloJointYield *yield = &joints->yields[k];
  const uint32_t first = flo_joint_row(joints, k), n_rows = (uint32_t)flo_joint_list(joints)[k].form->n_rows;
  double lag = 0;
  for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row)
    if (row < n_rows || flo_axis_holds(&joints->axes[k]))
      lag += yield->push[row] * (joints->wanted[first + row] - joints->rest[first + row]);
  yield->is_on = lag >= 0;
  return lag < 0;
}

static bool change_yield(FloJoints *joints, size_t k, bool may_hold) {
  if (!joints->yields[k].is_on) return begin_yield(joints, k);
  return may_hold && end_yield(joints, k);
}

size_t flo_joints_yield(FloJoints *joints, const double *velocities, bool may_hold) {
  size_t n = 0;
  if (joints->n_breakable == 0) return 0;
  flo_joints_rates(joints, velocities);
  for (size_t k = 0; k < joints->groups.count; ++k) flo_joint_groups(joints)[k].is_open = false;
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    const FloJointMember *member = flo_joint_first_member(joints, joint);
    if (!member || !can_break(joint) || !change_yield(joints, k, may_hold)) continue;
    flo_joint_groups(joints)[member->group].is_open = true, ++n;
  }
  return n;
}

// ---- Stages of the motion ----

void flo_joints_note_stage(FloJoints *joints, double weight) {
  for (size_t k = 0; k < joints->list.count; ++k)
    for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row)
      joints->yields[k].sum[row] += weight * joints->lambda[flo_joint_row(joints, k) + row];
}

// The loads of the pushes are what the forces of the stages do not explain.
static bool begin_yield_in_motion(FloJoints *joints, size_t k) {
  const FloJointLive *live = &flo_joint_list(joints)[k].live;
  FloJointYield *yield = &joints->yields[k];
  double start[2][3], more[2][3];
  bool is_by_force;
  flo_joints_load(joints, k, yield->sum, more[0], more[1]);
  vec_sub(live->force, more[0], start[0]);
  vec_sub(live->torque, more[1], start[1]);
  double share = share_of(live, start, more, &is_by_force);
  if (!(share < 1)) return false;
  yield->is_on = true, yield->is_by_force = is_by_force;
  for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row) yield->force[row] = share * yield->sum[row];
  yield->motor = motor_part(joints, k, joints->pushes + flo_joint_row(joints, k));
  return true;
}

size_t flo_joints_yield_in_motion(FloJoints *joints) {
  size_t n = 0;
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloJointYield *yield = &joints->yields[k];
    if (can_break(&flo_joint_list(joints)[k]) && !yield->is_on) n += begin_yield_in_motion(joints, k);
    memset(yield->sum, 0, sizeof yield->sum);
  }
  return n;
}
