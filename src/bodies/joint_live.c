// Whether saved numbers of a joint fit the joint, so that a damaged state, or one of another world, is
// refused before anything of it is used.
#include "base/core.h"
#include "bodies/joint.h"

#include <math.h>

typedef struct Range {
  const char *name;
  double value, low, high;
  bool is_whole;
} Range;

static FloStatus check_range(const FloJoint *joint, const Range *range, FloError *error) {
  bool is_inside = range->value >= range->low && range->value <= range->high;
  if (is_inside && (!range->is_whole || range->value == floor(range->value))) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "state: joint '%s' has %s = %g, but it must be %s from %g to %g; the state is damaged or "
                  "from another world, use another one",
                  joint->name, range->name, range->value, range->is_whole ? "a whole number" : "a number",
                  range->low, range->high);
}

static FloStatus check_ranges(const FloJoint *joint, const Range *ranges, size_t n, FloError *error) {
  for (size_t k = 0; k < n; ++k) FLO_TRY(check_range(joint, &ranges[k], error));
  return FLO_OK;
}

static FloStatus check_states(const FloJoint *joint, const FloJointLive *live, FloError *error) {
  const double most_motor = flo_joint_has_drive(joint->form) ? FLO_MOTOR_POSITION : FLO_MOTOR_FREE;
  const Range ranges[] = {{"is_released", live->is_released, 0, 1, true},
                          {"is_broken", live->is_broken, 0, 1, true},
                          {"n_changed", live->n_changed, 0, (double)joint->n_changes, true},
                          {"motor_kind", live->motor_kind, 0, most_motor, true},
                          {"motor_has_keys", live->motor_has_keys, 0, joint->n_keys > 0, true},
                          {"piece", live->piece, FLO_JOINT_NO_PIECE, 2 * FLO_JOINT_STICKS, true}};
  return check_ranges(joint, ranges, FLO_COUNT_OF(ranges), error);
}

static FloStatus check_sizes(const FloJoint *joint, const FloJointLive *live, FloError *error) {
  const double least = joint->form->has_length && joint->form->has_other_end ? 0 : -FLO_JOINT_NONE;
  const Range ranges[] = {{"max_load", live->max_load, 0, FLO_JOINT_NONE, false},
                          {"motor_time", live->motor_time, 0, FLO_JOINT_NONE, false},
                          {"low", live->low, -FLO_JOINT_NONE, live->high, false},
                          {"limit_stiffness", live->limit_stiffness, 0, FLO_JOINT_NONE, false},
                          {"limit_damping", live->limit_damping, 0, FLO_JOINT_NONE, false},
                          {"friction", live->friction, 0, FLO_JOINT_NONE, false},
                          {"stiffness", live->stiffness, 0, FLO_JOINT_NONE, false},
                          {"damping", live->damping, 0, FLO_JOINT_NONE, false},
                          {"length", live->length, least, FLO_JOINT_NONE, false},
                          {"break_force", live->break_force, 0, FLO_JOINT_NONE, false},
                          {"break_torque", live->break_torque, 0, FLO_JOINT_NONE, false}};
  return check_ranges(joint, ranges, FLO_COUNT_OF(ranges), error);
}

FloStatus flo_joint_check_live(const FloJoint *joint, const FloJointLive *live, FloError *error) {
  FLO_TRY(check_states(joint, live, error));
  return check_sizes(joint, live, error);
}
