// A point of the body stays on a plane, and the body turns as it likes.
#include "bodies/joint.h"

static void plane_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_along(view, 2, rows);
}

const FloJointForm flo_joint_point_on_plane = {.name = "point_on_plane",
                                               .kind = FLO_JOINT_POINT_ON_PLANE,
                                               .lets_pass = true,
                                               .has_force = true,
                                               .n_rows = 1,
                                               .n_points = 1,
                                               .has_axis = true,
                                               .rows = plane_rows};
