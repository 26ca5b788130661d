// A sweep visits the rows by colour. Rows of the same colour share no node that moves. So threads can divide
// them, and the result is that of one thread. Each row, with the response w = largest eigenvalue of J M^-1
// J^T + softness, takes
//
//   lambda = P(lambda - error / w),
//
// where P applies the bounds, and moves its nodes at once. For friction the step must have the same factor in
// all directions: then sliding and friction are parallel at the solution. To solve the three components
// exactly before P would change the direction of friction.
//
// With conjugate directions (nncg.h) the unknowns move beyond the sweep along the last direction, and
// velocities follow.
#include "solve/gauss_seidel.h"

#include "base/parallel.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 64, COMPONENTS_PER_CHUNK = 4096 };

typedef struct Solve {
  FloRows *rows;
  int threads;
  double *lambda, *velocities;
  const uint32_t *order; // the rows of the present colour
  double beta;
} Solve;

// ---- A sweep ----

static void relax_row(const Solve *solve, const FloRow *row) {
  double error[3], chosen[3], *own = solve->lambda + row->component;
  double *move = solve->rows->scratch.move + row->component;
  flo_row_error(solve->rows, row, solve->velocities, own, error);
  flo_row_choose(solve->rows, row, row->response, error, solve->lambda, own, chosen);
  for (int k = 0; k < row->def.width; ++k) move[k] = chosen[k] - own[k], own[k] = chosen[k];
  flo_row_push(solve->rows, row, move, solve->velocities);
}

static void relax_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &solve->rows->rows[solve->order[n]];
    if (row->response > 0) relax_row(solve, row);
  }
}

// The largest change of velocity.
static void raise_change(const void *context, size_t begin, size_t end, double *largest) {
  const FloRows *rows = ((const Solve *)context)->rows;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &rows->rows[n];
    if (!(row->response > 0)) continue;
    double length = flo_row_length(row, rows->scratch.move + row->component);
    largest[0] = fmax(largest[0], length * row->response);
  }
}

// In joule, so that impulses and torques may be added.
static void add_square(const void *context, size_t begin, size_t end, double *sums) {
  const FloRows *rows = ((const Solve *)context)->rows;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &rows->rows[n];
    if (!(row->response > 0)) continue;
    double length = flo_row_length(row, rows->scratch.move + row->component);
    sums[0] += length * length * row->response;
  }
}

// Visits all rows, colour by colour; returns the largest change of velocity.
static double relax_all(Solve *solve) {
  const FloRows *rows = solve->rows;
  double largest;
  for (size_t colour = 0; colour < rows->n_colours; ++colour) {
    solve->order = rows->colour_rows + rows->colour_begin[colour];
    flo_parallel_for(solve->threads, rows->colour_begin[colour + 1] - rows->colour_begin[colour],
                     ROWS_PER_CHUNK, relax_range, solve);
  }
  flo_parallel_max(solve->threads, rows->n_rows, raise_change, solve, 1, &largest);
  return fmax(largest, 0);
}

static FloSweepMeasure sweep(void *context) {
  Solve *solve = context;
  FloSweepMeasure measure = {.residual = relax_all(solve)};
  flo_parallel_sum(solve->threads, solve->rows->n_rows, add_square, solve, 1, &measure.square);
  return measure;
}

double flo_gauss_seidel_sweep(FloRows *rows, int threads, double *lambda, double *velocities) {
  Solve solve = {.rows = rows, .threads = threads, .lambda = lambda, .velocities = velocities};
  return relax_all(&solve);
}

// ---- Conjugate directions ----

// The sweep has already made its move. This adds the part of the last direction.
static void advance_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowScratch *s = &solve->rows->scratch;
  for (size_t k = begin; k < end; ++k) {
    double more = solve->beta * s->way[k];
    solve->lambda[k] += more;
    s->way[k] = more + s->move[k];
  }
}

static void advance(void *context, double length, FloConjugate conjugate) {
  (void)length; // always 1
  Solve *solve = context;
  const FloRows *rows = solve->rows;
  solve->beta = conjugate.beta;
  flo_parallel_for(solve->threads, rows->n_components, COMPONENTS_PER_CHUNK, advance_range, solve);
  if (conjugate.is_restart) memset(rows->scratch.way, 0, rows->n_components * sizeof(double));
  if (!(conjugate.beta > 0)) return;
  flo_rows_project(rows, solve->threads, solve->lambda);
  flo_rows_gather(rows, solve->threads, rows->scratch.start, solve->lambda, solve->velocities);
}

// ---- The whole solution ----

FloSolveReport flo_gauss_seidel(FloRows *rows, int threads, const FloNncgLimits *limits, double *lambda,
                                double *velocities) {
  Solve solve = {.rows = rows, .threads = threads, .lambda = lambda, .velocities = velocities};
  const FloFixedPoint point = {.context = &solve, .sweep = sweep, .advance = advance};
  FloRowScratch *s = &rows->scratch;
  memset(s->move, 0, rows->n_components * sizeof(double));
  memset(s->way, 0, rows->n_components * sizeof(double));
  memcpy(s->start, velocities, 6 * rows->n_nodes * sizeof(double));
  flo_rows_project(rows, threads, lambda);
  flo_rows_gather(rows, threads, s->start, lambda, velocities);
  FloSolveReport report = flo_nncg_solve(&point, limits);
  report.residual = flo_rows_residual(rows, threads, velocities, lambda);
  return report;
}
