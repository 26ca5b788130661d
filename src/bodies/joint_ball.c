// A ball joint: the points stay together.
#include "bodies/joint.h"

static void ball_rows(const FloJoint *joint, const FloJointView *view, FloJointRow *rows) {
  (void)joint;
  flo_joint_together(view, rows);
}

const FloJointForm flo_joint_ball = {.name = "ball",
                                     .kind = FLO_JOINT_BALL,
                                     .lets_pass = true,
                                     .has_force = true,
                                     .n_rows = 3,
                                     .n_points = 3,
                                     .rows = ball_rows};
