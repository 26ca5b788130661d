// A cylindrical joint: the body turns about the axis and slides along it.
#include "bodies/joint.h"

static void cylindrical_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_along(view, 0, &rows[0]);
  flo_joint_along(view, 1, &rows[1]);
  flo_joint_square(view, 0, 2, &rows[2]);
  flo_joint_square(view, 1, 2, &rows[3]);
}

static void cylindrical_way(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_along(view, 2, row);
}

const FloJointForm flo_joint_cylindrical = {.name = "cylindrical",
                                            .kind = FLO_JOINT_CYLINDRICAL,
                                            .has_force = true,
                                            .has_torque = true,
                                            .lets_pass = true,
                                            .n_rows = 4,
                                            .n_points = 2,
                                            .has_axis = true,
                                            .has_coordinate = true,
                                            .rows = cylindrical_rows,
                                            .coordinate = cylindrical_way};
