// A slider: the body moves along the axis and does not turn.
#include "bodies/joint.h"

static void slider_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_along(view, 0, &rows[0]);
  flo_joint_along(view, 1, &rows[1]);
  flo_joint_aligned(view, &rows[2]);
}

static void slider_way(const FloJoint *joint, const FloJointView *view, FloJointRow *row) {
  (void)joint;
  flo_joint_along(view, 2, row);
}

const FloJointForm flo_joint_slider = {.name = "slider",
                                       .kind = FLO_JOINT_SLIDER,
                                       .has_force = true,
                                       .has_torque = true,
                                       .lets_pass = true,
                                       .n_rows = 5,
                                       .n_points = 2,
                                       .has_axis = true,
                                       .has_coordinate = true,
                                       .rows = slider_rows,
                                       .coordinate = slider_way};
