// Transforms points between the frame of a shape and that of the world.
#ifndef FLO_BASE_POSE_H
#define FLO_BASE_POSE_H

#include "base/core.h"
#include "base/vecmath.h"

static inline void pose_to_world(const FloPose *pose, const double local[3], double out[3]) {
  quat_rotate(pose->rotation, local, out);
  vec_add(out, pose->position, out);
}

static inline void pose_to_local(const FloPose *pose, const double point[3], double out[3]) {
  double d[3];
  vec_sub(point, pose->position, d);
  quat_rotate_back(pose->rotation, d, out);
}

// Refuses a pose that is not finite or not a rotation. `what` begins the message.
FloStatus flo_pose_check(const FloPose *pose, int dim, const char *what, FloError *error);

#endif
