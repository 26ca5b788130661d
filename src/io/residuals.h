// residuals.csv in a run folder: the residuals of several solvers for the same step.
#ifndef FLO_IO_RESIDUALS_H
#define FLO_IO_RESIDUALS_H

#include "flotsam/world.h"

// Replaces an earlier file.
FloStatus flo_residuals_write(const char *folder, const FloResiduals *residuals, FloError *error);

#endif
