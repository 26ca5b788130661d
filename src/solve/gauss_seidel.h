// Projected Gauss-Seidel for rows: one row after the other gets the multiplier that it would choose for the
// present velocities. The algorithm is told in gauss_seidel.c.
#ifndef FLO_SOLVE_GAUSS_SEIDEL_H
#define FLO_SOLVE_GAUSS_SEIDEL_H

#include "solve/nncg.h"
#include "solve/rows.h"

// `lambda` are the multipliers to start from: zeros, or those of the last step, which saves iterations. It
// gets the solution. `velocities` are those without the rows, and get those with them. A solution is closely
// enough when no row changes velocities by more than the tolerance in a sweep. The report has the residual of
// flo_rows_residual.
FloSolveReport flo_gauss_seidel(FloRows *rows, int threads, const FloNncgLimits *limits, double *lambda,
                                double *velocities);
// One sweep alone, for a caller that has other unknowns to visit in between. Both arrays must belong
// together, as one that begins with zeros and velocities without the rows. The largest change of velocity by
// a row.
double flo_gauss_seidel_sweep(FloRows *rows, int threads, double *lambda, double *velocities);

#endif
