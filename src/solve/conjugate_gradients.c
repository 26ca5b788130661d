// Hestenes and Stiefel 1952, with the preconditioner P: directions are conjugate with respect to A,
//
//   direction = P r + beta direction,   beta = (r . P r) / (r . P r of the last iteration)
//
// and each step goes to the point of its line where the energy x . A x / 2 - b . x is least,
//
//   alpha = (r . P r) / (direction . A direction).
#include "solve/conjugate_gradients.h"

#include <math.h>

FloSolveReport flo_conjugate_gradients(const FloLinearSystem *system, const FloGradientLimits *limits) {
  int k;
  double first = system->measure(system->context), square = first, before = 0;
  double enough = fmax(limits->tolerance * limits->tolerance * first, limits->least_square);
  for (k = 0; square > enough && k < limits->max_iterations; ++k) {
    system->turn(system->context, before > 0 ? square / before : 0);
    double along = system->apply(system->context);
    if (!(along > 0)) break; // only rounding is left, or a number is not finite
    system->go(system->context, square / along);
    before = square;
    square = system->measure(system->context);
  }
  return (FloSolveReport){k, first > 0 ? sqrt(square / first) : 0};
}
