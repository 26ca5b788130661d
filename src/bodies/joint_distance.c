// A rod: the distance between two points keeps its length.
#include "bodies/joint.h"

static void distance_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  flo_joint_apart(view, rows);
  rows->violation -= joint->live.length;
}

const FloJointForm flo_joint_distance = {.name = "distance",
                                         .kind = FLO_JOINT_DISTANCE,
                                         .has_force = true,
                                         .n_rows = 1,
                                         .n_points = 1,
                                         .has_other_end = true,
                                         .has_length = true,
                                         .rows = distance_rows};
