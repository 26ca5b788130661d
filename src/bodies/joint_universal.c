// A universal joint: the points stay together, and the two axes of its cross stay square. The first axis, x
// here, is fixed in the body that the joint leads to, the second, y, in its own body.
#include "bodies/joint.h"

static void universal_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_together(view, rows);
  flo_joint_square(view, 0, 1, &rows[3]);
}

const FloJointForm flo_joint_universal = {.name = "universal",
                                          .kind = FLO_JOINT_UNIVERSAL,
                                          .lets_pass = true,
                                          .has_force = true,
                                          .has_torque = true,
                                          .n_rows = 4,
                                          .n_points = 3,
                                          .has_axis = true,
                                          .has_second_axis = true,
                                          .rows = universal_rows};
