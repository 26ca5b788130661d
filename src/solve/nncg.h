// Nonsmooth nonlinear conjugate gradients: they accelerate any iteration that ends at a fixed point. The
// iteration may be projected, like Jacobi and Gauss-Seidel with contact forces that must not pull. The
// algorithm stands in nncg.c.
//
// A method with its own arrays of unknowns can let flo_nncg_solve drive it. Or it can write its own loop and
// use only the decisions below.
#ifndef FLO_SOLVE_NNCG_H
#define FLO_SOLVE_NNCG_H

#include "solve/report.h"

#include <math.h>
#include <stdbool.h>

// Fischer-Burmeister: zero exactly if pressure and error are not negative and one of them is zero.
static inline double flo_complementarity(double error, double pressure) {
  return fabs(error + pressure - sqrt(error * error + pressure * pressure));
}

// ---- Decisions ----

// How much of the last direction the next one keeps: direction = beta direction + move.
typedef struct FloConjugate {
  double beta;
  bool is_restart; // the direction after this step starts from zero
} FloConjugate;

// `square` measures the present move of the iteration, `before` the last one. A ratio above 1 means that the
// last direction was useless.
FloConjugate flo_nncg_fletcher_reeves(double square, double before);
// `cross` is the product of the present move with the last residual. It is zero while the same limits are
// active, and makes beta small if they change. For steps of the best length.
FloConjugate flo_nncg_polak_ribiere(double square, double cross, double before);

// The length along a line, in units of the trial step, at which the energy is least. `slope` is the decrease
// of the energy per length at the start, and slope - bend that at the trial. Returns 0 if the trial went
// uphill, and at most 4, since limits beyond the trial are not known.
double flo_nncg_best_length(double slope, double bend);
// Whether a trial was so near to the best point that it need not be corrected.
bool flo_nncg_is_near(double best_length);
// The length of the next trial step after one of this length. Between 0.5 and 2.5.
double flo_nncg_next_length(double length, double best_length);
// The length of the first trial step, from the last one of an earlier solution; 0 if there was none.
double flo_nncg_first_length(double earlier);

// ---- The driver ----

// Results of a sweep. Only steps of the best length need the last three. r is the residual of the present
// unknowns; its negative is the gradient of the energy.
typedef struct FloSweepMeasure {
  double residual; // decides when to stop
  double square;   // of the proposed move: move . r, or another measure of its size that is not negative
  double cross;    // move . r, with r at the point where the last step started
  double slope;    // last step . r, with r at its start
  double bend;     // last step . (r at its start - r now)
} FloSweepMeasure;

// An iteration. It keeps its unknowns x, the last proposed move, and the direction.
typedef struct FloFixedPoint {
  void *context;
  // Proposes a move from the present unknowns and measures it. It may already have made the move.
  FloSweepMeasure (*sweep)(void *context);
  // direction = beta direction + move; moves from the start of the sweep to x + length direction, within all
  // limits. Afterwards sets the direction to zero if `is_restart`.
  void (*advance)(void *context, double length, FloConjugate conjugate);
  // Moves to another point of the last step's line, at this length in units of that step. Then proposes and
  // measures a move from there. NULL: all steps have length 1.
  FloSweepMeasure (*go)(void *context, double length);
} FloFixedPoint;

typedef struct FloNncgLimits {
  double tolerance; // stops if the residual of a sweep is at most this
  int max_iterations;
  bool is_conjugate; // false: the plain iteration
} FloNncgLimits;

// The number of iterations is that of sweeps. The residual is that of the last sweep.
FloSolveReport flo_nncg_solve(const FloFixedPoint *point, const FloNncgLimits *limits);

#endif
