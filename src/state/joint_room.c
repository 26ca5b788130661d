// The bounds of axes beyond the method's solution. That solution keeps every push of a motor, of friction and
// of a limit within its bounds. Then two things ask for more: the correction of what the solution has left
// over, and the forces that the turning of bodies needs while they move. An axis has for them what its push
// has left of its bounds. Where that is not enough the coordinate slips.
#include "state/state.h"

#include <string.h>

static uint32_t axis_row(const FloJoints *joints, size_t k) {
  return flo_joint_row(joints, k) + (uint32_t)flo_joint_list(joints)[k].form->n_rows;
}

// Whether an axis holds its coordinate with bounds.
static bool has_bounds(const FloJoints *joints, size_t k) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  return joint->form->has_coordinate && flo_joint_is_active(joint) && !joints->yields[k].is_on &&
         flo_axis_holds(&joints->axes[k]);
}

// ---- The correction of pushes ----

static void solve_correction(FloJoints *joints, const double *velocities, double *changed) {
  memcpy(changed, velocities, 6 * joints->members.count * sizeof(double));
  memset(joints->rest, 0, joints->n_rows * sizeof(double));
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloAxisRoom *room = &joints->rooms[k];
    if (room->slips) joints->rest[axis_row(joints, k)] = room->slips > 0 ? room->high : room->low;
  }
  flo_joints_push(joints, joints->rest, changed);
  flo_joints_rates(joints, changed);
  for (size_t i = 0; i < joints->n_rows; ++i)
    joints->rest[i] =
        joints->is_on[i] ? joints->wanted[i] - joints->rest[i] - joints->softness[i] * joints->lambda[i] : 0;
  flo_sparse_solve(&joints->matrix, joints->rest);
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloAxisRoom *room = &joints->rooms[k];
    if (room->slips) joints->rest[axis_row(joints, k)] = room->slips > 0 ? room->high : room->low;
  }
}

// What the correction may add, within the slack of pieces that fit.
static void find_correction_room(FloJoints *joints, size_t k) {
  joints->rooms[k] = (FloAxisRoom){0};
  if (!has_bounds(joints, k)) return;
  const FloStick *stick = &joints->axes[k].sticks[joints->axes[k].piece / 2];
  const double lambda = joints->lambda[axis_row(joints, k)];
  joints->rooms[k].low = fmin(stick->base - lambda, 0), joints->rooms[k].high = fmax(stick->top - lambda, 0);
}

static size_t slip_in_correction(FloJoints *joints) {
  size_t n = 0;
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloAxisRoom *room = &joints->rooms[k];
    if (!has_bounds(joints, k) || room->slips) continue;
    const double more = joints->rest[axis_row(joints, k)];
    room->slips = more > room->high ? 1 : more < room->low ? -1 : 0;
    if (room->slips) joints->is_on[axis_row(joints, k)] = false, ++n;
  }
  return n;
}

bool flo_joints_correct(FloJoints *joints, const double *velocities) {
  for (size_t k = 0; k < joints->list.count; ++k) find_correction_room(joints, k);
  solve_correction(joints, velocities, joints->trial);
  while (slip_in_correction(joints)) {
    if (!flo_joints_factorise(joints)) return false;
    solve_correction(joints, velocities, joints->trial);
  }
  for (size_t i = 0; i < joints->n_rows; ++i) joints->lambda[i] += joints->rest[i];
  return true;
}

// ---- Stages of the motion ----

void flo_joints_find_room(FloJoints *joints) {
  for (size_t k = 0; k < joints->list.count; ++k) {
    joints->rooms[k] = (FloAxisRoom){0};
    if (!has_bounds(joints, k)) continue;
    const FloStick *stick = &joints->axes[k].sticks[joints->axes[k].piece / 2];
    const double push = joints->lambda[axis_row(joints, k)];
    joints->rooms[k].low = (stick->base - push) / joints->kick;
    joints->rooms[k].high = (stick->top - push) / joints->kick;
  }
}

static int next_slip(const FloJoints *joints, size_t k, bool may_hold) {
  const FloAxisRoom *room = &joints->rooms[k];
  const uint32_t row = axis_row(joints, k);
  const int number = flo_joint_list(joints)[k].form->n_rows;
  if (room->slips) {
    double gain = joints->rest[row] + flo_joint_slot(joints, k, number, 0)->bend;
    return may_hold && room->slips * gain > 0 ? 0 : room->slips;
  }
  return joints->lambda[row] > room->high ? 1 : joints->lambda[row] < room->low ? -1 : 0;
}

size_t flo_joints_slip(FloJoints *joints, const double *accelerations, bool may_hold) {
  size_t n = 0;
  flo_joints_rates(joints, accelerations);
  for (size_t k = 0; k < joints->list.count; ++k) {
    const uint32_t row = axis_row(joints, k);
    if (!has_bounds(joints, k) || (!joints->is_on[row] && !joints->rooms[k].slips)) continue;
    int next = next_slip(joints, k, may_hold);
    n += next != joints->rooms[k].slips;
    joints->rooms[k].slips = next;
  }
  return n;
}
