// Small dense systems A x = b with a symmetric matrix of up to 12 unknowns: the mass of a body with the fluid
// that follows it, or the few contacts of one particle. The algorithm stands in dense.c.
//
// Matrices are stored by rows without gaps: number (i, k) is at n * i + k. Only the lower triangle, k <= i,
// is read.
#ifndef FLO_SOLVE_DENSE_H
#define FLO_SOLVE_DENSE_H

#include "base/core.h"

enum { FLO_DENSE_MAX = 12 };

// Factorises a matrix that must be positive definite; false if it is not, within rounding. `factors` is
// another array of the same size.
bool flo_dense_factorise(int n, const double *matrix, double *factors);

// The same for a matrix that may be singular, for example with locked axes or redundant constraints. An
// unknown that is locked, or determined by those before it, is left out: it is zero in solutions. False if
// the matrix is indefinite, beyond rounding.
bool flo_dense_factorise_semidefinite(int n, const double *matrix, double *factors);

// `x` may be the same array as `b`.
void flo_dense_solve(int n, const double *factors, const double *b, double *x);

// One column of the inverse: what a unit load on one unknown does to all of them.
void flo_dense_inverse_column(int n, const double *factors, int column, double *x);

// The largest eigenvalue of a symmetric matrix of three rows, which is stored in full. Exact to 1e-8 of it.
double flo_dense_largest_eigenvalue(const double matrix[9]);

#endif
