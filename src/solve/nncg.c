// Silcowitz, Niebe and Erleben 2010: A Nonsmooth Nonlinear Conjugate Gradient Method for Interactive Contact
// Force Problems, Algorithm 2. The move that a sweep proposes takes the place of the gradient:
//
//   direction = beta direction + move,   x = x + direction,   beta = |move|^2 / |last move|^2
//
// This is the formula of Fletcher and Reeves. If beta is larger than one, moves grow: the step is made
// without the last direction, and the direction starts again from zero.
//
// Beyond the paper: a step of the iteration is cautious, while conjugate gradients go to the point of least
// energy. The residual r depends linearly on the unknowns except at limits. So two points of a line, the
// start and the end of a step, give the best one: with the step s and the residuals r0 and r1, s . r falls
// from s . r0 to s . r1 and is zero at the length s . r0 / (s . r0 - s . r1). Beta is then that of Polak and
// Ribiere. It is the same while the same limits are active, and soon zero if they change.
#include "solve/nncg.h"

#include <math.h>

// ---- Decisions ----

static FloConjugate conjugate_of(double square, double before, double largest) {
  double beta = before > 0 ? square / before : 0;
  return (FloConjugate){.beta = beta > 0 && beta <= largest ? beta : 0, .is_restart = beta > largest};
}

FloConjugate flo_nncg_fletcher_reeves(double square, double before) {
  return conjugate_of(square, before, 1);
}

FloConjugate flo_nncg_polak_ribiere(double square, double cross, double before) {
  // When limits change, the residual may grow once although the direction is still good. But it must not grow
  // much.
  static const double largest = 10;
  return conjugate_of(square - cross, before, largest);
}

double flo_nncg_best_length(double slope, double bend) {
  static const double longest = 4;
  // Uphill, because limits changed the direction. A slope that is not a number decides nothing.
  if (!(slope > 0)) return slope <= 0 ? 0 : 1;
  return bend > 0 ? fmin(slope / bend, longest) : 1;
}

bool flo_nncg_is_near(double best_length) { return fabs(best_length - 1) < 0.25; }

// Most of the best lengths are between these.
static double usual_length(double length) {
  static const double shortest = 0.5, longest = 2.5;
  return fmin(fmax(length, shortest), longest);
}

double flo_nncg_next_length(double length, double best_length) { return usual_length(length * best_length); }

double flo_nncg_first_length(double earlier) { return earlier > 0 ? usual_length(earlier) : 1; }

// ---- The driver ----

// Moves to the best point of the last step's line, unless the step ended near it. Returns false if the step
// went uphill, so that its direction is useless.
static bool go_to_best(const FloFixedPoint *point, double *length, FloSweepMeasure *now) {
  double best = flo_nncg_best_length(now->slope, now->bend);
  *length = flo_nncg_next_length(*length, best);
  if (flo_nncg_is_near(best)) return true;
  *now = point->go(point->context, best);
  return best > 0;
}

static FloConjugate choose_conjugate(const FloSweepMeasure *now, double before, bool has_lines) {
  return has_lines ? flo_nncg_polak_ribiere(now->square, now->cross, before)
                   : flo_nncg_fletcher_reeves(now->square, before);
}

// One step after a sweep. Returns the square of its move.
static double step(const FloFixedPoint *point, bool is_conjugate, double before, FloSweepMeasure now,
                   double *length) {
  bool has_lines = is_conjugate && point->go;
  FloConjugate conjugate = {0};
  if (has_lines && before > 0 && !go_to_best(point, length, &now)) before = 0;
  if (is_conjugate) conjugate = choose_conjugate(&now, before, has_lines);
  point->advance(point->context, *length, conjugate);
  return now.square;
}

FloSolveReport flo_nncg_solve(const FloFixedPoint *point, const FloNncgLimits *limits) {
  FloSolveReport report = {0};
  double before = 0, length = flo_nncg_first_length(0);
  while (report.iterations < limits->max_iterations) {
    FloSweepMeasure now = point->sweep(point->context);
    report.iterations++, report.residual = now.residual;
    if (now.residual <= limits->tolerance || report.iterations == limits->max_iterations) break;
    before = step(point, limits->is_conjugate, before, now, &length);
  }
  return report;
}
