// Projected Gauss-Seidel for rows: one row after the other gets the multiplier that it would choose for the
// present velocities. The algorithm stands in gauss_seidel.c.
#ifndef FLO_SOLVE_GAUSS_SEIDEL_H
#define FLO_SOLVE_GAUSS_SEIDEL_H

#include "solve/nncg.h"
#include "solve/rows.h"

// `lambda` holds the multipliers to start from: zeros, or those of the last step, which saves iterations. It
// returns the solution. `velocities` holds the velocities without the rows and returns those with them. The
// iteration stops when no row changes a velocity by more than the tolerance in a sweep. The report has the
// residual of flo_rows_residual.
FloSolveReport flo_gauss_seidel(FloRows *rows, int threads, const FloNncgLimits *limits, double *lambda,
                                double *velocities);
// A single sweep, for a caller that has other unknowns to solve in between. `velocities` must include the
// effect of `lambda`; zeros and velocities without the rows are a valid start. Returns the largest change of
// velocity by a row.
double flo_gauss_seidel_sweep(FloRows *rows, int threads, double *lambda, double *velocities);

#endif
