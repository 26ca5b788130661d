// Projected Jacobi for rows: all rows choose their multipliers at the same time. It needs more iterations
// than Gauss-Seidel, but treats all rows alike: results do not depend on their order, and a symmetric scene
// stays symmetric. It is parallel even if all rows act on one body. The algorithm stands in jacobi.c.
#ifndef FLO_SOLVE_JACOBI_H
#define FLO_SOLVE_JACOBI_H

#include "solve/nncg.h"
#include "solve/rows.h"

// Parameters are those of flo_gauss_seidel. The iteration stops when flo_rows_residual is at most the
// tolerance.
FloSolveReport flo_jacobi(FloRows *rows, int threads, const FloNncgLimits *limits, double *lambda,
                          double *velocities);

#endif
