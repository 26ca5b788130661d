#include "base/pose.h"

FloPose flo_pose_identity(void) { return (FloPose){.rotation = {0, 0, 0, 1}}; }

FloStatus flo_pose_check(const FloPose *pose, int dim, const char *what, FloError *error) {
  const double *q = pose->rotation;
  double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!vec_is_finite(pose->position))
    return flo_fail(error, FLO_BAD_INPUT, "%s: the position must be finite", what);
  if (!(fabs(length2 - 1) < 1e-6))
    return flo_fail(error, FLO_BAD_INPUT, "%s: the rotation must be a unit quaternion; its length is %g",
                    what, sqrt(length2));
  if (dim == 2 && (pose->position[2] != 0 || q[0] != 0 || q[1] != 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: in two dimensions things stay in the plane z = 0 and turn about z only", what);
  return FLO_OK;
}
