// Whether the motion of soft bodies has converged within the iterations of a step.
//
// A mean over all rows of fluid hides the few rows next to a sheet. If the iterations stop when that mean is
// small, the sheet may still get a wrong velocity in each step, and it trembles in still water.
#ifndef FLO_COUPLING_FORCES_SOFT_MOTION_H
#define FLO_COUPLING_FORCES_SOFT_MOTION_H

#include "state/state.h"

typedef struct FloSoftMotion {
  bool is_used;  // there are soft bodies
  double change; // in the last iteration: root of the mean square over the nodes of a body, the largest [m/s]
  double *last;  // velocities of all nodes in that iteration
  FloBuffer buffer;
} FloSoftMotion;

// In each step, before the iterations.
FloStatus flo_soft_motion_prepare(FloSoftMotion *motion, FloWorld *world, FloError *error);
void flo_soft_motion_free(FloSoftMotion *motion, FloMemory *memory);
// In each iteration: the velocities of all nodes. The first three of `stride` numbers belong to a node.
void flo_soft_motion_note(FloSoftMotion *motion, const FloWorld *world, const double *velocities,
                          size_t stride);
// The last change in units of what it may be: a share of what gravity adds in the step, or a share of the
// velocity of the fluid, `speed` [m/s], whichever is more.
double flo_soft_motion_residual(const FloSoftMotion *motion, const FloWorld *world, double dt, double speed,
                                const double shares[2]);

#endif
