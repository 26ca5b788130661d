// A gear: one row that ties the coordinates of two other joints, first + ratio * second = sum. Its row is
// made of theirs; see state/joint_rows.c.
#include "bodies/joint.h"

const FloJointForm flo_joint_gear = {
    .name = "gear", .kind = FLO_JOINT_GEAR, .n_rows = 1, .n_points = 0, .is_gear = true};
