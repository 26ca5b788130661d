// A spring with damping that turns the body about the axis. It does not hold the axis; a hinge does.
#include "bodies/joint.h"

static void turn_spring_angle(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_turned(view, row);
}

const FloJointForm flo_joint_turn_spring = {.name = "turn_spring",
                                            .kind = FLO_JOINT_TURN_SPRING,
                                            .has_torque = true,
                                            .has_axis = true,
                                            .has_coordinate = true,
                                            .is_angle = true,
                                            .is_spring = true,
                                            .has_length = true,
                                            .coordinate = turn_spring_angle};
