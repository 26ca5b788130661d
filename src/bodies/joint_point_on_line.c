// A point of the body stays on a line, and the body turns as it likes.
#include "bodies/joint.h"

static void line_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_along(view, 0, &rows[0]);
  flo_joint_along(view, 1, &rows[1]);
}

static void line_way(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_along(view, 2, row);
}

const FloJointForm flo_joint_point_on_line = {.name = "point_on_line",
                                              .kind = FLO_JOINT_POINT_ON_LINE,
                                              .lets_pass = true,
                                              .has_force = true,
                                              .n_rows = 2,
                                              .n_points = 2,
                                              .has_axis = true,
                                              .has_coordinate = true,
                                              .rows = line_rows,
                                              .coordinate = line_way};
