// A rope: the distance between two points is at most its length, which is the upper limit of the coordinate.
#include "bodies/joint.h"

static void rope_way(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_apart(view, row);
}

const FloJointForm flo_joint_rope = {.name = "rope",
                                     .kind = FLO_JOINT_ROPE,
                                     .has_force = true,
                                     .has_other_end = true,
                                     .has_length = true,
                                     .has_coordinate = true,
                                     .only_pulls = true,
                                     .coordinate = rope_way};
