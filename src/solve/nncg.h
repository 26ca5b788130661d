// Nonsmooth nonlinear conjugate gradients: they make any iteration that ends at a fixed point faster. The
// iteration may be projected, as Jacobi and Gauss-Seidel are that keep contact forces from pulling. The
// algorithm is told in nncg.c.
//
// A method whose unknowns live in fields of its own can let flo_nncg_solve drive it, or it can write its own
// loop and use only the decisions below.
#ifndef FLO_SOLVE_NNCG_H
#define FLO_SOLVE_NNCG_H

#include "solve/report.h"

#include <stdbool.h>

// ---- Decisions ----

// What the next direction takes from the last one: direction = beta direction + move.
typedef struct FloConjugate {
  double beta;
  bool is_restart; // the direction after this step is to start from nothing
} FloConjugate;

// `square` measures the move that the iteration proposes now, `before` the one that it proposed last. A share
// above 1 means that the last direction was no good.
FloConjugate flo_nncg_fletcher_reeves(double square, double before);
// `cross` is the product of the present move with the residual before. It is zero while all limits stay as
// they are, and makes beta small where they change. Use it with steps of the best length.
FloConjugate flo_nncg_polak_ribiere(double square, double cross, double before);

// How far to go along a line, in lengths of the trial step from its start: to where the energy is least.
// `slope` is how fast the energy falls at the start, `bend` by how much this falls less at the trial. 0 if
// the trial went uphill. At most 4: limits beyond the trial are not foreseen.
double flo_nncg_best_length(double slope, double bend);
// Whether a trial was so close to the best point that it need not be corrected.
bool flo_nncg_is_near(double best_length);
// How long to make the next trial step if this was the length of the last one. Within 0.5 and 2.5.
double flo_nncg_next_length(double length, double best_length);
// The length of the first trial step, from the last one of an earlier solution; 0 if there was none.
double flo_nncg_first_length(double earlier);

// ---- The driver ----

// What a sweep found. Only steps of the best length need the last three; r is the residual of the present
// unknowns, and its negative is the slope of the energy.
typedef struct FloSweepMeasure {
  double residual; // decides when to stop
  double square;   // of the proposed move: move . r, or another measure of its size that is not negative
  double cross;    // move . r of the point where the last step started
  double slope;    // last step . r where it started
  double bend;     // last step . (r where it started - r now)
} FloSweepMeasure;

// An iteration. It keeps its unknowns x, the move that was proposed last, and the direction.
typedef struct FloFixedPoint {
  void *context;
  // Proposes a move from the present unknowns and measures it. It may already have made the move.
  FloSweepMeasure (*sweep)(void *context);
  // direction = beta direction + move; goes from where the sweep started to x + length direction, within all
  // limits. Forgets the direction afterwards if told to.
  void (*advance)(void *context, double length, FloConjugate conjugate);
  // Goes to another point of the last step's line, of this length in units of that step; proposes and
  // measures a move from there. NULL: steps keep the length 1.
  FloSweepMeasure (*go)(void *context, double length);
} FloFixedPoint;

typedef struct FloNncgLimits {
  double tolerance; // ends when the residual of a sweep is at most this
  int max_iterations;
  bool is_conjugate; // false: the plain iteration
} FloNncgLimits;

// Iterations are sweeps. The residual is that of the last one.
FloSolveReport flo_nncg_solve(const FloFixedPoint *point, const FloNncgLimits *limits);

#endif
