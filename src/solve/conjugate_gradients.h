// Preconditioned conjugate gradients for A x = b, where A is symmetric and positive semidefinite. The caller
// owns the vectors, in any form, and provides the operations on them. The algorithm stands in
// conjugate_gradients.c.
#ifndef FLO_SOLVE_CONJUGATE_GRADIENTS_H
#define FLO_SOLVE_CONJUGATE_GRADIENTS_H

#include "solve/report.h"

// The caller has four vectors: the solution x, the residual r = b - A x, the direction and its image. P is
// the preconditioner, an approximation of the inverse of A. Before the first call r must be the residual of
// x.
typedef struct FloLinearSystem {
  void *context;
  double (*measure)(void *context);         // r . P r
  void (*turn)(void *context, double beta); // direction = P r + beta direction; beta is 0 at first
  double (*apply)(void *context);           // image = A direction; returns direction . image
  void (*go)(void *context, double alpha);  // x += alpha direction, r -= alpha image
} FloLinearSystem;

typedef struct FloGradientLimits {
  double tolerance;    // stops if the residual is this share of the first one
  double least_square; // stops if r . P r is this small
  int max_iterations;
} FloGradientLimits;

// The residual in the report is a share of the first one.
FloSolveReport flo_conjugate_gradients(const FloLinearSystem *system, const FloGradientLimits *limits);

#endif
