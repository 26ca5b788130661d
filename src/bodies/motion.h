// Prescribed motions: position and velocity of a kinematic body at any time.
#ifndef FLO_BODIES_MOTION_H
#define FLO_BODIES_MOTION_H

#include "base/core.h"

FloStatus flo_motion_check(const FloMotionDef *motion, int dim, FloError *error);
// Applies the motions, in order, to the pose at time zero.
void flo_motion_evaluate(const FloMotionDef *motions, size_t n_motions, const FloPose *start, double time,
                         FloBodyState *state);

// Upper bound of the speed of any point within `reach` of the body's position, at any time.
double flo_motion_max_speed(const FloMotionDef *motions, size_t n_motions, const FloPose *start,
                            double reach);

// Refuses velocities and a release of a body that forces move, if they are not finite or leave the plane.
FloStatus flo_motion_check_start(const FloBodyDef *def, int dim, FloError *error);

#endif
