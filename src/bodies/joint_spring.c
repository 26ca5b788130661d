// A spring with damping between two points.
#include "bodies/joint.h"

static void spring_way(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_apart(view, row);
}

const FloJointForm flo_joint_spring = {.name = "spring",
                                       .kind = FLO_JOINT_SPRING,
                                       .has_force = true,
                                       .has_other_end = true,
                                       .has_coordinate = true,
                                       .is_spring = true,
                                       .has_length = true,
                                       .coordinate = spring_way};
