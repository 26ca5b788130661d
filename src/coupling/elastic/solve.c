// The iterations. PCISPH's own, p += k (compression), with k from the prototype, is a projected Jacobi
// iteration with half steps. It is accelerated by conjugate directions with steps of the best length
// (solve/nncg.h), or taken as it is.
#include "base/parallel.h"
#include "coupling/elastic/elastic.h"
#include "solve/nncg.h"

#include <string.h>

typedef struct Solve {
  FloWorld *world;
  FloElastic *e;
  float relaxation, beta, length;
  bool is_restart;
  int n_sweeps;
  double largest;        // compression that a row may keep
  double motion;         // of the fluid in the step, in spacings
  double fluid_residual; // without soft bodies
} Solve;

enum {
  SUM_SQUARE,
  SUM_CROSS,
  SUM_SLOPE,
  SUM_BEND,
  SUM_RESIDUAL,
  SUM_ACTIVE,
  SUM_PRESSURE,
  SUM_COMPRESSED,
  SUM_LOAD,
  SUM_LOAD_ERROR,
  N_SUMS
};

static void measure_row(const Solve *solve, size_t i, double *sums) {
  const FloElastic *e = solve->e;
  const double p = (double)e->pressure[i], error = (double)e->error[i], d = (double)e->diagonal[i];
  sums[SUM_RESIDUAL] += flo_complementarity(error, p * d);
  sums[SUM_PRESSURE] += p * d;
  sums[SUM_ACTIVE] += 1;
  sums[SUM_COMPRESSED] += error < -solve->largest;
  sums[SUM_LOAD] += p;
  sums[SUM_LOAD_ERROR] += p * error;
}

static void propose_rows(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloElastic *e = solve->e;
  for (size_t i = begin; i < end; ++i) {
    const float p = e->pressure[i], error = e->error[i], d = e->diagonal[i];
    e->move[i] = 0;
    if (!(d > 0)) continue;
    const float moved = p - solve->relaxation * (error - e->eased[i]) / d;
    const double step = (double)(p - e->from_pressure[i]), from = (double)e->from_error[i];
    e->move[i] = (moved > 0 ? moved : 0) - p;
    sums[SUM_SQUARE] -= (double)(e->move[i] * error);
    sums[SUM_CROSS] -= (double)e->move[i] * from;
    sums[SUM_SLOPE] -= step * from;
    sums[SUM_BEND] += step * ((double)error - from);
    if (p > 0 || error < 0) measure_row(solve, i, sums);
  }
}

// ---- When to stop ----

// What remains of the mean error, in units of what may remain.
static double mean_residual(const Solve *solve, const double *sums) {
  const double *params = solve->world->params, n = fmax(sums[SUM_ACTIVE], 1);
  // Errors that remain add up over the steps, until the correction of a step is as large.
  const double lasting = params[FLO_ELASTIC_TOLERANCE] * solve->e->correction;
  // If pressures are small, as in still water with short steps, a small volume error is a large pressure
  // error. But it need not be smaller than an error that does not show beside the motion.
  const double unseen = fmax(params[FLO_ELASTIC_PRESSURE_TOLERANCE] * sums[SUM_PRESSURE] / n,
                             params[FLO_ELASTIC_MOTION_TOLERANCE] * solve->motion);
  const double may_remain = fmin(lasting, unseen);
  return sums[SUM_RESIDUAL] > 0 ? sums[SUM_RESIDUAL] / n / fmax(may_remain, 1e-30) : 0;
}

// What soft bodies lack; see soft_motion.h.
static double soft_residual(const Solve *solve) {
  const FloWorld *world = solve->world;
  const double *params = world->params, dt = solve->e->dt;
  const double shares[2] = {params[FLO_ELASTIC_PRESSURE_TOLERANCE], params[FLO_ELASTIC_MOTION_TOLERANCE]};
  if (solve->e->soft_yield.n_rows == 0) return 0; // dry
  return flo_soft_motion_residual(&solve->e->soft_motion, world, dt, solve->motion * world->def.spacing / dt,
                                  shares);
}

// Soft bodies yield to rows that are active.
static void ease(const Solve *solve) {
  FloElastic *e = solve->e;
  const FloYieldingRows rows = {.pressure = e->pressure,
                                .error = e->error,
                                .diagonal = e->diagonal,
                                .relaxation = solve->relaxation,
                                .scale = e->dt * e->dt / (e->rest_volume * e->rest_sum)};
  flo_soft_yield_find(&e->soft_yield, solve->world, &rows);
  for (size_t n = 0; n < e->soft_yield.n_rows; ++n) {
    const uint32_t row = e->soft_yield.rows[n].row;
    e->eased[row] = flo_elastic_is_active(e, row) ? flo_soft_yield_along(&e->soft_yield, n) : 0;
  }
}

static FloSweepMeasure propose(Solve *solve) {
  const FloElastic *e = solve->e;
  double sums[N_SUMS];
  ease(solve);
  flo_parallel_sum(solve->world->threads, e->n_rows, propose_rows, solve, N_SUMS, sums);
  const double common = sums[SUM_LOAD] > 0 ? sums[SUM_LOAD_ERROR] / sums[SUM_LOAD] : 0;
  double residual = fmax(mean_residual(solve, sums), e->contact_residual);
  if (!e->has_drops)
    residual =
        fmax(residual, flo_implicit_common_share(solve->world, &e->expected, common, solve->motion, e->dt));
  if (sums[SUM_COMPRESSED] > 0) residual = fmax(residual, 2);
  solve->fluid_residual = residual;
  residual = fmax(residual, soft_residual(solve));
  if (solve->n_sweeps <= (int)solve->world->params[FLO_ELASTIC_MIN_ITERATIONS]) residual = fmax(residual, 2);
  solve->world->residual = sums[SUM_RESIDUAL] / fmax(sums[SUM_ACTIVE], 1);
  return (FloSweepMeasure){.residual = residual,
                           .square = sums[SUM_SQUARE],
                           .cross = sums[SUM_CROSS],
                           .slope = sums[SUM_SLOPE],
                           .bend = sums[SUM_BEND]};
}

// ---- The iteration as solve/nncg.h drives it ----

static FloSweepMeasure sweep(void *context) {
  Solve *solve = context;
  flo_elastic_answer(solve->world, solve->e);
  solve->n_sweeps++;
  return propose(solve);
}

static void advance_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloElastic *e = solve->e;
  for (size_t i = begin; i < end; ++i) {
    const float way = solve->beta * e->way[i] + e->move[i], p = e->pressure[i] + solve->length * way;
    e->from_pressure[i] = e->pressure[i], e->from_error[i] = e->error[i];
    e->way[i] = solve->is_restart ? 0 : way;
    e->pressure[i] = p > 0 ? p : 0;
  }
}

static void advance(void *context, double length, FloConjugate conjugate) {
  Solve *solve = context;
  solve->beta = (float)conjugate.beta, solve->is_restart = conjugate.is_restart;
  solve->length = (float)length;
  flo_parallel_for(solve->world->threads, solve->e->n_rows, 4096, advance_range, solve);
}

// Densities depend on pressures nearly linearly, so errors between two points are interpolated.
static void go_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloElastic *e = solve->e;
  for (size_t i = begin; i < end; ++i) {
    const float p = e->from_pressure[i] + solve->length * (e->pressure[i] - e->from_pressure[i]);
    e->pressure[i] = p > 0 ? p : 0;
    e->error[i] = e->from_error[i] + solve->length * (e->error[i] - e->from_error[i]);
  }
}

static FloSweepMeasure go(void *context, double length) {
  Solve *solve = context;
  solve->length = (float)length;
  flo_parallel_for(solve->world->threads, solve->e->n_rows, 4096, go_range, solve);
  return propose(solve);
}

// ---- The whole solution ----

// The iterations are linear: gradients are those of the start of the step. So they converge safely. When they
// have, densities are found at the predicted positions, and the iterations go on from there if these are not
// yet right. They start with the difference that the first pressures have.
enum { MOST_ROUNDS = 4 };

static void forget_way(const FloElastic *e) {
  const size_t size = e->n_rows * sizeof(float);
  if (size) memset(e->way, 0, size), memset(e->from_pressure, 0, size), memset(e->from_error, 0, size);
}

// Returns what remains.
static double solve_round(Solve *solve, int *n_iterations) {
  const double *params = solve->world->params;
  const bool is_conjugate = (int)params[FLO_ELASTIC_SOLVER] == FLO_ELASTIC_NNCG;
  const int most = (int)params[FLO_ELASTIC_MAX_ITERATIONS] + 1 - *n_iterations;
  const FloFixedPoint point = {solve, sweep, advance, is_conjugate && !solve->e->has_drops ? go : NULL};
  const FloNncgLimits limits = {1, most, is_conjugate};
  forget_way(solve->e);
  const FloSolveReport report = flo_nncg_solve(&point, &limits);
  *n_iterations += report.iterations - 1;
  if (report.residual > 1) return report.residual;
  flo_elastic_bend(solve->world, solve->e);
  return propose(solve).residual;
}

void flo_elastic_solve(FloWorld *world, FloElastic *e) {
  const double *params = world->params;
  Solve solve = {.world = world,
                 .e = e,
                 .relaxation = (float)params[FLO_ELASTIC_RELAXATION],
                 .largest = params[FLO_ELASTIC_LARGEST] * e->correction,
                 .motion = flo_implicit_motion(world, e->pressure, e->before, e->dt)};
  double residual = INFINITY;
  int n_iterations = 0;
  flo_elastic_answer(world, e);
  flo_elastic_bend(world, e);
  for (int k = 0; k < MOST_ROUNDS && residual > 1 && n_iterations < (int)params[FLO_ELASTIC_MAX_ITERATIONS];
       ++k)
    residual = solve_round(&solve, &n_iterations);
  world->iterations = n_iterations;
  e->was_solved = solve.fluid_residual <= 1;
}
