// A hinge: the points stay together, and the axis keeps its direction at both sides.
#include "bodies/joint.h"

static void hinge_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_together(view, rows);
  flo_joint_square(view, 0, 2, &rows[3]);
  flo_joint_square(view, 1, 2, &rows[4]);
}

static void hinge_angle(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_turned(view, row);
}

const FloJointForm flo_joint_hinge = {.name = "hinge",
                                      .kind = FLO_JOINT_HINGE,
                                      .has_force = true,
                                      .has_torque = true,
                                      .lets_pass = true,
                                      .n_rows = 5,
                                      .n_points = 3,
                                      .has_axis = true,
                                      .has_coordinate = true,
                                      .is_angle = true,
                                      .rows = hinge_rows,
                                      .coordinate = hinge_angle};
