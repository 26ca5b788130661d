// Prescribed motions: where a kinematic body is, and how fast, at any time.
#ifndef FLO_BODIES_MOTION_H
#define FLO_BODIES_MOTION_H

#include "base/core.h"

FloStatus flo_motion_check(const FloMotionDef *motion, int dim, FloError *error);
// Applies the motions, in order, to the pose at time zero.
void flo_motion_evaluate(const FloMotionDef *motions, size_t n_motions, const FloPose *start, double time,
                         FloBodyState *state);

// A bound on how fast any point within `reach` of the body's position will ever move.
double flo_motion_max_speed(const FloMotionDef *motions, size_t n_motions, const FloPose *start,
                            double reach);

#endif
