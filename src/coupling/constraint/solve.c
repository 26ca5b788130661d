// Projected Gauss-Seidel on velocities (Algorithm VII.1), coloured, and conjugate directions over it.
//
// Where it differs from the print: the response of a row includes Sigma, without which large epsilon blows
// up; only rows that may not pull are projected; the start from the last step's unknowns also moves
// everything.
#include "base/parallel.h"
#include "coupling/constraint/constraint.h"
#include "solve/nncg.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 4096 };

typedef struct Solve {
  FloWorld *world;
  FloConstraint *c;
  size_t first_group; // of the present colour
  const FloIterating *how;
  bool is_bilateral;
  FloLinkedRows rows;
  double beta;
  double contact_residual; // the largest way that contacts still lack in the step, in spacings
  double start_residual;   // for the history
  int iteration;
} Solve;

// ---- One row ----

float flo_constraint_rate(const FloConstraint *c, const float *velocity, size_t row) {
  return flo_passes()->links_rate(c->links + c->link_begin[row], c->link_count[row], velocity);
}

static void push_fluid(const FloConstraint *c, size_t row, float impulse) {
  flo_passes()->links_push(c->links + c->link_begin[row], c->link_count[row], impulse, c->velocity);
}

static double touch_rate(const FloConstraint *c, size_t position) {
  const uint32_t *begin = c->touch_begin + (position - c->n_coloured);
  double rate = 0;
  for (uint32_t t = begin[0]; t < begin[1]; ++t) {
    const double *v = c->bodies.motion + 6 * (size_t)c->touches[t].node, *j = c->touches[t].j;
    for (int k = 0; k < 6; ++k) rate += j[k] * v[k];
  }
  return rate;
}

float flo_constraint_rate_at(const FloConstraint *c, size_t position) {
  const float rate = flo_constraint_rate(c, c->velocity, c->order[position]);
  return position < c->n_coloured ? rate : rate + (float)touch_rate(c, position);
}

static void push_nodes(const FloConstraint *c, size_t position, double impulse) {
  const uint32_t *begin = c->touch_begin + (position - c->n_coloured);
  for (uint32_t t = begin[0]; t < begin[1]; ++t)
    for (int k = 0; k < 6; ++k)
      c->bodies.motion[6 * (size_t)c->touches[t].node + (size_t)k] -= impulse * c->touches[t].reply[k];
}

void flo_constraint_push(const FloConstraint *c, size_t position, float change) {
  push_fluid(c, c->order[position], change);
  if (position >= c->n_coloured) push_nodes(c, position, (double)change);
}

static void relax_touching_row(const Solve *solve, size_t position) {
  const FloConstraint *c = solve->c;
  const size_t row = c->order[position];
  if (!(c->response[row] > 0)) return;
  const float rate = flo_constraint_rate_at(c, position);
  const float p = flo_links_choose(&solve->rows, position, rate, solve->rows.relaxation),
              change = p - c->p[row];
  c->move[row] = change;
  if (change == 0) return;
  c->p[row] = p;
  flo_constraint_push(c, position, change);
}

// ---- A sweep ----

static void relax_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowGroup *groups = solve->c->groups + solve->first_group;
  for (size_t n = begin; n < end; ++n) flo_passes()->relax(&solve->rows, groups[n]);
}

// Visits the groups of all colours.
static void for_colours(Solve *solve, FloRangeFn work) {
  const FloConstraint *c = solve->c;
  for (int colour = 0; colour < c->n_colours; ++colour) {
    solve->first_group = c->colour_begin[colour];
    flo_parallel_for(solve->world->threads, c->colour_begin[colour + 1] - solve->first_group,
                     flo_constraint_groups_per_chunk(c), work, solve);
  }
}

static void relax_coloured(Solve *solve) {
  const FloConstraint *c = solve->c;
  for_colours(solve, relax_range);
  for (size_t position = c->n_coloured; position < c->n_rows; ++position) relax_touching_row(solve, position);
}

// Rows as particles lie in memory, one after the other.
static void relax_naturally(const Solve *solve) {
  const FloConstraint *c = solve->c;
  for (size_t row = 0; row < c->n_rows; ++row) {
    const uint32_t position = c->position[row];
    if (position < c->n_coloured)
      flo_passes()->relax(&solve->rows, (FloRowGroup){position, position + 1});
    else
      relax_touching_row(solve, position);
  }
}

static void relax_all(Solve *solve) {
  FloConstraint *c = solve->c;
  if (solve->how->is_natural)
    relax_naturally(solve);
  else
    relax_coloured(solve);
  const double way = c->dt / solve->world->def.spacing; // of a velocity in the step, in spacings
  solve->contact_residual = way * flo_constraint_sweep_bodies(
                                      solve->world, c, solve->world->params[FLO_CONSTRAINT_TOLERANCE] / way);
}

enum { SUM_SQUARES, SUM_MOVES, N_SUMS };

static void add_moves(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloConstraint *c = solve->c;
  for (size_t row = begin; row < end; ++row) {
    const double lack = (double)(c->move[row] * c->response[row]);
    sums[SUM_SQUARES] += lack * lack;
  }
  for (size_t row = begin; row < end && solve->how->is_conjugate; ++row) {
    const double all = (double)(c->p[row] - c->from[row]);
    sums[SUM_MOVES] += all * all * (double)c->response[row];
  }
}

// Conjugate directions need to know from where a sweep has started.
static void keep_start(FloConstraint *c, const FloWorld *world) {
  const size_t nodes = 6 * world->nodes.count * sizeof(double);
  memcpy(c->from, c->p, c->n_rows * sizeof(float));
  memcpy(c->from_velocity, c->velocity, 4 * c->n_fluid * sizeof(float));
  if (nodes) memcpy(c->from_motion, c->bodies.motion, nodes), memcpy(c->from_given, c->bodies.given, nodes);
  if (c->bodies.rows.n_components)
    memcpy(c->from_lambda, c->bodies.lambda, c->bodies.rows.n_components * sizeof(double));
}

// ---- Residuals, on request ----

// The natural residual: the error that the row's own unknown could remove.
static void add_residuals(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloConstraint *c = solve->c;
  for (size_t position = begin; position < end; ++position) {
    const size_t row = c->order[position];
    if (!(c->response[row] > 0)) continue;
    const float rate = flo_constraint_rate_at(c, position);
    const double error =
        (double)((flo_links_choose(&solve->rows, position, rate, 1) - c->p[row]) * c->response[row]);
    sums[0] += error * error;
  }
}

static void note_residual(const Solve *solve) {
  double sum;
  if (!solve->how->residuals) return;
  flo_parallel_sum(solve->world->threads, solve->c->n_rows, add_residuals, solve, 1, &sum);
  solve->how->residuals[solve->iteration] = sqrt(sum);
}

// ---- The second level ----

// The level is made anew when this share of the rows have begun or ceased to push.
#define CHANGED_SHARE 0.01

static void count_changed(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloConstraint *c = solve->c;
  for (size_t row = begin; row < end; ++row)
    sums[0] += flo_constraint_is_active(c, solve->is_bilateral, row) != (c->weight[row] > 0);
}

static void correct(Solve *solve) {
  FloConstraint *c = solve->c;
  double n_changed;
  flo_parallel_sum(solve->world->threads, c->n_rows, count_changed, solve, 1, &n_changed);
  if (n_changed > CHANGED_SHARE * (double)c->n_rows) flo_constraint_make_coarse(solve->world, c);
  if (c->coarse.n_made) flo_constraint_correct(solve->world, c);
}

// ---- An iteration ----

static FloSweepMeasure sweep(void *context) {
  Solve *solve = context;
  FloConstraint *c = solve->c;
  double sums[N_SUMS] = {0};
  if (solve->how->is_conjugate) keep_start(c, solve->world);
  if (solve->how->has_levels) correct(solve);
  relax_all(solve);
  solve->iteration++;
  flo_parallel_sum(solve->world->threads, c->n_rows, add_moves, solve, N_SUMS, sums);
  note_residual(solve);
  const double of_rows = c->n_rows ? c->dt * sqrt(sums[SUM_SQUARES] / (double)c->n_rows) : 0;
  return (FloSweepMeasure){.residual = fmax(of_rows, solve->contact_residual), .square = sums[SUM_MOVES]};
}

// ---- Conjugate directions: unknowns and velocities move on along the last direction ----

static void advance_floats(const float *from, float beta, size_t n, float *now, float *way) {
  for (size_t k = 0; k < n; ++k) {
    const float more = beta * way[k];
    way[k] = now[k] - from[k] + more;
    now[k] += more;
  }
}

static void advance_doubles(const double *from, double beta, size_t n, double *now, double *way) {
  for (size_t k = 0; k < n; ++k) {
    const double more = beta * way[k];
    way[k] = now[k] - from[k] + more;
    now[k] += more;
  }
}

static void advance_rows(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloConstraint *c = solve->c;
  advance_floats(c->from + begin, (float)solve->beta, end - begin, c->p + begin, c->way + begin);
}

static void advance_fluid(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloConstraint *c = solve->c;
  advance_floats(c->from_velocity + 4 * begin, (float)solve->beta, 4 * (end - begin), c->velocity + 4 * begin,
                 c->way_velocity + 4 * begin);
}

static void forget_direction(const Solve *solve) {
  FloConstraint *c = solve->c;
  const size_t nodes = 6 * solve->world->nodes.count * sizeof(double);
  memset(c->way, 0, c->n_rows * sizeof(float));
  memset(c->way_velocity, 0, 4 * c->n_fluid * sizeof(float));
  if (nodes) memset(c->way_motion, 0, nodes), memset(c->way_given, 0, nodes);
  if (c->bodies.rows.n_components) memset(c->way_lambda, 0, c->bodies.rows.n_components * sizeof(double));
}

static void advance(void *context, double length, FloConjugate conjugate) {
  (void)length; // always 1
  Solve *solve = context;
  FloConstraint *c = solve->c;
  const size_t n_motions = 6 * solve->world->nodes.count;
  solve->beta = conjugate.beta;
  if (!solve->how->is_conjugate) return;
  flo_parallel_for(solve->world->threads, c->n_rows, ROWS_PER_CHUNK, advance_rows, solve);
  flo_parallel_for(solve->world->threads, c->n_fluid, ROWS_PER_CHUNK, advance_fluid, solve);
  advance_doubles(c->from_motion, solve->beta, n_motions, c->bodies.motion, c->way_motion);
  advance_doubles(c->from_given, solve->beta, n_motions, c->bodies.given, c->way_given);
  advance_doubles(c->from_lambda, solve->beta, c->bodies.rows.n_components, c->bodies.lambda, c->way_lambda);
  if (conjugate.is_restart) forget_direction(solve);
}

// ---- The whole solution ----

static void push_move(const FloConstraint *c, size_t position) {
  const float move = c->move[c->order[position]];
  if (move != 0) flo_constraint_push(c, position, move);
}

static void push_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloRowGroup *groups = solve->c->groups + solve->first_group;
  for (size_t n = begin; n < end; ++n)
    for (uint32_t position = groups[n].begin; position < groups[n].end; ++position)
      push_move(solve->c, position);
}

void flo_constraint_push_moves(FloWorld *world, FloConstraint *c) {
  Solve solve = {.world = world, .c = c};
  for_colours(&solve, push_range);
  for (size_t position = c->n_coloured; position < c->n_rows; ++position) push_move(c, position);
}

void flo_constraint_push_start(FloWorld *world, FloConstraint *c) {
  memcpy(c->move, c->p, c->n_rows * sizeof(float));
  flo_constraint_push_moves(world, c);
}

// With a second level, rows go a little beyond their own solution. This makes smooth errors worse, which the
// second level removes, and the others vanish in about half as many iterations.
#define OVER_RELAXATION 1.2f

static FloLinkedRows describe_rows(const FloConstraint *c, float relaxation, bool is_bilateral) {
  return (FloLinkedRows){.links = c->links,
                         .heads = c->heads,
                         .order = c->order,
                         .relaxation = relaxation,
                         .n_equalities = is_bilateral ? c->n_fluid : 0,
                         .p = c->p,
                         .move = c->move,
                         .velocity = c->velocity};
}

FloSolveReport flo_constraint_iterate(FloWorld *world, FloConstraint *c, const FloIterating *how) {
  Solve solve = {
      .world = world, .c = c, .how = how, .is_bilateral = world->params[FLO_CONSTRAINT_BILATERAL] != 0};
  solve.rows = describe_rows(c, how->has_levels ? OVER_RELAXATION : 1, solve.is_bilateral);
  const FloFixedPoint point = {.context = &solve, .sweep = sweep, .advance = advance};
  const FloNncgLimits limits = {how->tolerance, how->n_iterations, how->is_conjugate};
  if (!how->is_continued) flo_constraint_push_start(world, c);
  note_residual(&solve);
  forget_direction(&solve);
  memset(c->move, 0, c->n_rows * sizeof(float));
  memset(c->weight, 0, c->n_rows * sizeof(float));
  c->coarse.n_made = 0;
  return flo_nncg_solve(&point, &limits);
}

FloStatus flo_constraint_solve(FloWorld *world, FloConstraint *c, FloError *error) {
  const int solver = (int)world->params[FLO_CONSTRAINT_SOLVER];
  const FloIterating how = {
      .is_conjugate = solver == FLO_CONSTRAINT_NNCG,
      .has_levels = world->params[FLO_CONSTRAINT_LEVELS] > 1 && solver != FLO_CONSTRAINT_STANDARD,
      .is_natural = (int)world->params[FLO_CONSTRAINT_ROW_ORDER] == FLO_CONSTRAINT_NATURAL,
      .n_iterations = (int)world->params[FLO_CONSTRAINT_ITERATIONS],
      .tolerance = world->params[FLO_CONSTRAINT_TOLERANCE]};
  if (how.has_levels) FLO_TRY(flo_constraint_reserve_coarse(world, c, error));
  if (c->forces.is_implicit) FLO_TRY(flo_constraint_reserve_mixing(world, c, error));
  FLO_TRY(flo_constraint_compare(world, c, error));
  const FloSolveReport report =
      (c->forces.is_implicit ? flo_constraint_iterate_viscous : flo_constraint_iterate)(world, c, &how);
  world->iterations = report.iterations, world->residual = report.residual;
  return FLO_OK;
}
