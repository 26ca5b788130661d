// A fixed joint: the body keeps its place and rotation.
#include "bodies/joint.h"

static void fixed_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_together(view, rows);
  flo_joint_aligned(view, &rows[3]);
}

const FloJointForm flo_joint_fixed = {.name = "fixed",
                                      .kind = FLO_JOINT_FIXED,
                                      .lets_pass = true,
                                      .has_force = true,
                                      .has_torque = true,
                                      .n_rows = 6,
                                      .n_points = 3,
                                      .rows = fixed_rows};
