// Several rows push one node at the same time. If each ignored the others, together they would push too far.
// Tonge, Benevolenski and Voroshilov 2012 (Mass Splitting for Jitter-Free Parallel Rigid Body Simulation)
// give each row on a node an equal share of its mass. With n active rows on a node, a row has the response
//
//   w = sum over its nodes of n (J M^-1 J^T) + softness,   lambda = P(lambda - error / w),
//
// where P applies the bounds. The eigenvalues of the preconditioned matrix are then at most one, and the
// iteration is stable for any rows. A row is active if it has an impulse, or would have one after this
// iteration.
//
// With conjugate directions (nncg.h) steps go to the best point of their line. That needs an energy, which
// friction does not have: if there are friction rows, steps have length 1.
#include "solve/jacobi.h"

#include "base/parallel.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 256, NODES_PER_CHUNK = 256, COMPONENTS_PER_CHUNK = 4096 };

typedef struct Solve {
  FloRows *rows;
  FloRowScratch *scratch;
  int threads;
  double *lambda, *velocities;
  double beta, length;
  bool is_restart;
  bool is_friction; // visits rows with a normal row, else the others
} Solve;

static void for_rows(Solve *solve, FloRangeFn range) {
  flo_parallel_for(solve->threads, solve->rows->n_rows, ROWS_PER_CHUNK, range, solve);
}

// Visits rows without a normal row first: friction rows depend on them.
static void for_normals_first(Solve *solve, FloRangeFn range) {
  solve->is_friction = false;
  for_rows(solve, range);
  solve->is_friction = true;
  if (solve->rows->has_friction) for_rows(solve, range);
}

static void for_components(Solve *solve, FloRangeFn range) {
  flo_parallel_for(solve->threads, solve->rows->n_components, COMPONENTS_PER_CHUNK, range, solve);
}

// ---- Shares of mass ----

static bool has_impulse(const FloRow *row, const double *own) {
  bool has = false;
  for (int k = 0; k < row->def.width; ++k) has = has || own[k] != 0;
  return has;
}

static bool is_active(const Solve *solve, const FloRow *row) {
  const double *own = solve->lambda + row->component, *error = solve->scratch->error + row->component;
  double chosen[3];
  if (!(row->response > 0)) return false;
  flo_row_choose(solve->rows, row, row->response, error, solve->lambda, own, chosen);
  return has_impulse(row, own) || has_impulse(row, chosen);
}

// Marks active rows with a 1, in the place of their response. Friction is active if its normal row is.
static void activity_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  double *mark = solve->scratch->response;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &solve->rows->rows[n];
    if ((row->def.normal != FLO_NO_ROW) != solve->is_friction) continue;
    mark[n] = solve->is_friction ? mark[row->def.normal] : is_active(solve, row);
  }
}

static void share_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRows *rows = solve->rows;
  for (size_t node = begin; node < end; ++node) {
    double n_active = 0;
    for (uint32_t k = rows->node_begin[node]; k < rows->node_begin[node + 1]; ++k)
      n_active += solve->scratch->response[rows->blocks[rows->node_blocks[k]].row];
    solve->scratch->share[node] = fmax(n_active, 1);
  }
}

static void response_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRows *rows = solve->rows;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &rows->rows[n];
    double sum = row->def.softness;
    for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k)
      sum += solve->scratch->share[rows->blocks[k].node] * rows->blocks[k].response;
    solve->scratch->response[n] = sum;
  }
}

static void share_masses(Solve *solve) {
  for_normals_first(solve, activity_range);
  flo_parallel_for(solve->threads, solve->rows->n_nodes, NODES_PER_CHUNK, share_range, solve);
  for_rows(solve, response_range);
}

// ---- A sweep ----

// Proposes moves. The bounds of friction include the proposed moves of the normal rows.
static void propose_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowScratch *s = solve->scratch;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &solve->rows->rows[n];
    const double *own = solve->lambda + row->component;
    double *moved = s->move + row->component;
    if ((row->def.normal != FLO_NO_ROW) != solve->is_friction || !(row->response > 0)) continue;
    flo_row_choose(solve->rows, row, s->response[n], s->error + row->component, s->move, own, moved);
  }
}

// Converts the proposed multipliers to moves.
static void move_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t k = begin; k < end; ++k) solve->scratch->move[k] -= solve->lambda[k];
}

enum { SUM_SQUARE, SUM_CROSS, SUM_SLOPE, SUM_BEND, N_SUMS };

static void add_measures(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloRowScratch *s = solve->scratch;
  for (size_t k = begin; k < end; ++k) {
    double step = solve->lambda[k] - s->from[k];
    sums[SUM_SQUARE] -= s->move[k] * s->error[k];
    sums[SUM_CROSS] -= s->move[k] * s->from_error[k];
    sums[SUM_SLOPE] -= step * s->from_error[k];
    sums[SUM_BEND] += step * (s->error[k] - s->from_error[k]);
  }
}

static FloSweepMeasure propose(Solve *solve) {
  double sums[N_SUMS];
  share_masses(solve);
  memset(solve->scratch->move, 0, solve->rows->n_components * sizeof(double));
  for_normals_first(solve, propose_range);
  for_components(solve, move_range);
  flo_parallel_sum(solve->threads, solve->rows->n_components, add_measures, solve, N_SUMS, sums);
  return (FloSweepMeasure){
      .square = sums[SUM_SQUARE], .cross = sums[SUM_CROSS], .slope = sums[SUM_SLOPE], .bend = sums[SUM_BEND]};
}

static FloSweepMeasure sweep(void *context) {
  Solve *solve = context;
  flo_rows_errors(solve->rows, solve->threads, solve->velocities, solve->lambda, solve->scratch->error);
  FloSweepMeasure measure = propose(solve);
  measure.residual = flo_rows_residual(solve->rows, solve->threads, solve->velocities, solve->lambda);
  return measure;
}

// ---- Steps ----

static void advance_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowScratch *s = solve->scratch;
  for (size_t k = begin; k < end; ++k) {
    double way = solve->beta * s->way[k] + s->move[k];
    s->from[k] = solve->lambda[k], s->from_error[k] = s->error[k];
    s->way[k] = solve->is_restart ? 0 : way;
    solve->lambda[k] += solve->length * way;
  }
}

static void advance(void *context, double length, FloConjugate conjugate) {
  Solve *solve = context;
  solve->length = length, solve->beta = conjugate.beta, solve->is_restart = conjugate.is_restart;
  for_components(solve, advance_range);
  flo_rows_project(solve->rows, solve->threads, solve->lambda);
  flo_rows_gather(solve->rows, solve->threads, solve->scratch->start, solve->lambda, solve->velocities);
}

// Interpolates errors as if no limit became active between the two points. They only serve to choose the next
// direction; the next sweep computes its own.
static void go_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowScratch *s = solve->scratch;
  for (size_t k = begin; k < end; ++k) {
    solve->lambda[k] = s->from[k] + solve->length * (solve->lambda[k] - s->from[k]);
    s->error[k] = s->from_error[k] + solve->length * (s->error[k] - s->from_error[k]);
  }
}

static FloSweepMeasure go(void *context, double length) {
  Solve *solve = context;
  solve->length = length;
  for_components(solve, go_range);
  flo_rows_project(solve->rows, solve->threads, solve->lambda);
  return propose(solve);
}

// ---- The whole solution ----

static void begin_vectors(const FloRows *rows, const double *velocities) {
  const FloRowScratch *s = &rows->scratch;
  size_t size = rows->n_components * sizeof(double);
  memset(s->way, 0, size);
  memset(s->from, 0, size);
  memset(s->from_error, 0, size);
  memcpy(s->start, velocities, 6 * rows->n_nodes * sizeof(double));
}

FloSolveReport flo_jacobi(FloRows *rows, int threads, const FloNncgLimits *limits, double *lambda,
                          double *velocities) {
  Solve solve = {.rows = rows,
                 .scratch = &rows->scratch,
                 .threads = threads,
                 .lambda = lambda,
                 .velocities = velocities};
  const FloFixedPoint point = {&solve, sweep, advance, rows->has_friction ? NULL : go};
  begin_vectors(rows, velocities);
  flo_rows_project(rows, threads, lambda);
  flo_rows_gather(rows, threads, rows->scratch.start, lambda, velocities);
  return flo_nncg_solve(&point, limits);
}
