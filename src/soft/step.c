// One step of implicit Euler, as the minimum of a potential of the velocities v at its end:
//
//   1/2 (v - v*)^T M (v - v*) + U(x + dt v) + friction,   v* = v0 + M^-1 impulses.
//
// Newton's method finds it. Its matrix is M + dt^2 (second derivative of U and friction). The true one is
// tried. Where it is not positive definite, that of each element is made so for the next few iterations. A
// search along the way makes sure that the potential falls.
//
// Systems are solved by conjugate gradients with the factors of an earlier matrix. When that takes many
// iterations, the present matrix is factorised, always with definite elements. So the factors never yield
// more than the masses alone, also where a sheet is squeezed. The iterations of fluid and contacts rely on
// that.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "soft/body.h"

#include <string.h>

enum {
  MOST_NEWTON = 200,
  MOST_GRADIENTS = 40,
  FEW_GRADIENTS = 8,
  MOST_HALVINGS = 40,
  RETRY = 4,
  GRAIN = 256
};

#define BALANCE    1e-7  // largest impulse that may be missing, as a share of the largest term
#define LEAST_WAY  1e-11 // a way shorter than this share of an element is rounding
#define LINEAR     1e-3  // residual of linear systems, as a share
#define SUFFICIENT 1e-4  // share of the predicted fall of the potential that a step must reach
#define NEAR       1e-4  // with a missing impulse below this share, as of BALANCE,
#define LAST_FALL  1e-8  // an iteration that lets the potential fall by no more than this share is the last
#define ROUNDING   1e-12 // of the potential

typedef struct Step {
  FloSoft *soft;
  double dt;
  int threads;
  bool is_exact;    // the matrix is the true one
  double potential; // at the present velocities
  double magnitude; // of the terms of the potential
  double rounding;  // error of the potential
  FloSoftReport *report;
} Step;

// ---- The potential ----

static FloSoftPlace place_of(const Step *step) { return (FloSoftPlace){step->soft->trial, 1 / step->dt}; }

// trial = x + dt (v + share * way).
static void move_trial(const Step *step, double share) {
  const FloSoft *soft = step->soft;
  for (size_t i = 0; i < 3 * soft->n; ++i)
    soft->trial[i] = soft->x[i] + step->dt * (soft->v[i] + share * soft->way[i]);
}

// 1/2 m (v - v*)^2 up to a constant, written so that nothing is divided by a mass.
static double inertia_at(const Step *step, double share) {
  const FloSoft *soft = step->soft;
  double sum = 0;
  for (size_t i = 0; i < 3 * soft->n; ++i) {
    if (flo_soft_is_held(soft, i)) continue;
    double change = soft->v[i] + share * soft->way[i] - soft->start[i];
    sum += change * (soft->mass[i / 3] * change / 2 - soft->impulses[i]);
  }
  return sum;
}

// The potential with a share of the way; its rounding error is remembered.
static double potential_at(Step *step, double share) {
  FloSoft *soft = step->soft;
  move_trial(step, share);
  FloSoftPlace place = place_of(step);
  double energy = 0, scale = 0;
  for (size_t g = 0; g < soft->groups.count; ++g) {
    energy += flo_soft_group_energy(flo_soft_group(soft, g), &place, step->threads);
    scale += flo_soft_group(soft, g)->scale;
  }
  double inertia = inertia_at(step, share);
  step->magnitude = fabs(energy) + fabs(inertia);
  // Strains have errors of about 1e-16, so energies have errors of that share of strain times stiffness.
  step->rounding = ROUNDING * step->magnitude + 1e-15 * sqrt(fabs(energy) * scale) + 1e-16 * scale;
  return energy + inertia;
}

// ---- Gradient and matrix ----

static void push_all(const Step *step, const FloSoftSink *sink) {
  FloSoftPlace place = place_of(step);
  for (size_t g = 0; g < step->soft->groups.count; ++g)
    flo_soft_group_push(flo_soft_group(step->soft, g), &place, sink, step->threads);
}

// The missing impulse of vertex i, from the gradient of U, and its largest term.
static void complete_gradient(const Step *step, size_t i) {
  FloSoft *soft = step->soft;
  double *g = soft->gradient + 3 * i, change[3];
  vec_sub(soft->v + 3 * i, soft->start + 3 * i, change);
  for (int k = 0; k < 3; ++k)
    g[k] = step->dt * g[k] + soft->mass[i] * change[k] - soft->impulses[3 * i + (size_t)k];
  soft->size[i] = step->dt * soft->size[i] + vec_length(soft->impulses + 3 * i) +
                  soft->mass[i] * (vec_length(change) + vec_length(soft->v + 3 * i));
  vec_set(soft->reaction + 3 * i, 0, 0, 0);
  for (size_t c = 3 * i; c < 3 * i + 3; ++c)
    if (flo_soft_is_held(soft, c)) soft->reaction[c] = soft->gradient[c], soft->gradient[c] = 0;
}

// Block (i, j): stiffness times dt^2, plus the mass. Rows and columns of held components have the mass only.
static void scale_block(const FloSoft *soft, size_t i, size_t j, double dt, double *block) {
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b) {
      bool is_held = flo_soft_is_held(soft, 3 * i + a) || flo_soft_is_held(soft, 3 * j + b);
      block[3 * a + b] = is_held ? 0 : block[3 * a + b] * dt * dt;
    }
  if (i == j)
    for (int e = 0; e < 9; e += 4) block[e] += soft->mass[i];
}

static void scale_row(FloSoft *soft, size_t i, double dt) {
  const FloBlockMatrix *matrix = &soft->matrix;
  for (size_t k = matrix->begin[i]; k < matrix->begin[i + 1]; ++k)
    scale_block(soft, i, matrix->columns[k], dt, matrix->blocks + 9 * k);
}

static void scale_rows(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  for (size_t i = begin; i < end; ++i) scale_row(step->soft, i, step->dt);
}

static void clear_sums(FloSoft *soft) {
  memset(soft->gradient, 0, 3 * soft->n * sizeof *soft->gradient);
  memset(soft->size, 0, soft->n * sizeof *soft->size);
}

// The gradient at the present velocities and, if wanted, the matrix.
static void assemble(Step *step, bool with_matrix) {
  FloSoft *soft = step->soft;
  clear_sums(soft);
  if (with_matrix) flo_block_matrix_clear(&soft->matrix);
  move_trial(step, 0);
  double *blocks = with_matrix ? soft->matrix.blocks : NULL;
  push_all(step, &(FloSoftSink){soft->gradient, soft->size, blocks, step->is_exact, NULL});
  for (size_t i = 0; i < soft->n; ++i) complete_gradient(step, i);
  if (with_matrix) flo_parallel_for(step->threads, soft->n, GRAIN, scale_rows, step);
}

// The largest missing impulse as a share of the largest term.
static double residual_of(const FloSoft *soft) {
  double most = 0, size = 0;
  for (size_t i = 0; i < soft->n; ++i) {
    most = fmax(most, vec_length(soft->gradient + 3 * i));
    size = fmax(size, soft->size[i]);
  }
  return size > 0 ? most / size : 0;
}

// ---- The linear system ----

static double dot(const FloSoft *soft, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < 3 * soft->n; ++i) sum += a[i] * b[i];
  return sum;
}

static void factorise(Step *step) {
  FloSoft *soft = step->soft;
  soft->is_factored = flo_block_factorise(soft->factor, &soft->matrix, step->threads);
  soft->factored_dt = step->dt;
  step->report->factorisations++;
}

// Factorises the matrix with definite elements; the present one stays as it is.
static bool refactor(Step *step) {
  const bool is_exact = step->is_exact;
  step->is_exact = false;
  if (is_exact) assemble(step, true);
  factorise(step);
  step->is_exact = is_exact;
  if (is_exact) assemble(step, true);
  return step->soft->is_factored;
}

static int solve_with_factor(Step *step) {
  FloSoft *soft = step->soft;
  memset(soft->way, 0, 3 * soft->n * sizeof *soft->way);
  int n = flo_block_conjugate(&soft->matrix, soft->factor, soft->gradient, soft->way, soft->room, LINEAR,
                              MOST_GRADIENTS, step->threads);
  step->report->solver_iterations += n;
  return n;
}

// Whether the way leads down, if there is a slope. Its sign is still that of the gradient.
static bool is_downhill(const FloSoft *soft) {
  double slope = dot(soft, soft->gradient, soft->way);
  return isfinite(slope) && (slope > 0 || dot(soft, soft->gradient, soft->gradient) == 0);
}

// way = A^-1 gradient. False if the matrix is not positive definite.
static bool solve(Step *step) {
  FloSoft *soft = step->soft;
  bool is_fresh = !soft->is_factored || soft->factored_dt != step->dt;
  if (is_fresh && !refactor(step)) return false;
  int n = solve_with_factor(step);
  if (n < MOST_GRADIENTS && is_downhill(soft)) {
    soft->is_factored = is_fresh || n <= FEW_GRADIENTS;
    return true;
  }
  if (is_fresh || !refactor(step)) return false;
  solve_with_factor(step);
  return is_downhill(soft);
}

// The same, with a matrix that is made definite if need be.
static FloStatus find_way(Step *step, FloError *error) {
  bool is_found = solve(step);
  if (!is_found && step->is_exact) {
    step->is_exact = false;
    assemble(step, true);
    is_found = solve(step);
  }
  if (!is_found)
    return flo_fail(error, FLO_DIVERGED,
                    "a soft body has numbers that are not finite; use a shorter step or a softer material");
  for (size_t i = 0; i < 3 * step->soft->n; ++i) step->soft->way[i] = -step->soft->way[i];
  return FLO_OK;
}

// ---- Newton's method ----

static double longest_way(const FloSoft *soft) {
  double most = 0;
  for (size_t i = 0; i < soft->n; ++i) most = fmax(most, vec_length(soft->way + 3 * i));
  return most;
}

static void go(FloSoft *soft, double share) {
  for (size_t i = 0; i < 3 * soft->n; ++i) soft->v[i] += share * soft->way[i];
}

// The potential falls by so little along this way that rounding hides it.
static bool is_hidden(const Step *step, double fall) { return fall <= step->rounding; }

// Goes along the way as far as the potential falls enough. False if it does not fall.
static bool search(Step *step, double slope) {
  double share = 1;
  for (int k = 0; k < MOST_HALVINGS; ++k, share /= 2) {
    double potential = potential_at(step, share);
    double allowed = is_hidden(step, -share * slope) ? step->rounding : SUFFICIENT * share * slope;
    if (!(potential <= step->potential + allowed)) continue;
    go(step->soft, share);
    step->potential = potential;
    return true;
  }
  return false;
}

// Whether the iteration along this way can be the last one.
static bool is_last(const Step *step, double slope, double last_residual) {
  double residual = step->report->residual;
  if (step->dt * longest_way(step->soft) <= LEAST_WAY * step->soft->cell) return true;
  if (is_hidden(step, -slope) && residual > last_residual / 2) return true; // rounding
  return residual <= NEAR && -slope <= LAST_FALL * step->magnitude;
}

// One iteration. False if there is no need for another one, or if the potential does not fall any more.
static bool improve(Step *step, double last_residual) {
  double slope = dot(step->soft, step->soft->gradient, step->soft->way);
  bool is_enough = is_last(step, slope, last_residual), falls = search(step, slope);
  step->report->newton_iterations++;
  step->report->is_unbalanced = !is_enough && step->report->residual > NEAR;
  return falls && !is_enough;
}

static bool is_balanced(Step *step) {
  step->report->residual = residual_of(step->soft);
  return step->report->residual <= BALANCE;
}

// Improves the velocities until impulses balance.
static FloStatus iterate(Step *step, FloError *error) {
  FloSoft *soft = step->soft;
  double last_residual = INFINITY;
  memset(soft->way, 0, 3 * soft->n * sizeof *soft->way);
  step->potential = potential_at(step, 0);
  step->is_exact = soft->is_factored && soft->factored_dt == step->dt; // else it is factorised at once
  for (int k = 0; k < MOST_NEWTON; ++k, last_residual = step->report->residual) {
    if (k % RETRY == 1) step->is_exact = true;
    assemble(step, true);
    bool is_done = is_balanced(step);
    step->report->is_unbalanced = false;
    if (is_done && soft->is_factored && soft->factored_dt == step->dt) break;
    FLO_TRY(find_way(step, error));
    if (is_done || !improve(step, last_residual)) break;
  }
  return FLO_OK;
}

// What is still missing in all, which conjugate gradients leave, is given to all vertices alike along axes
// where none is held: momentum is then conserved to rounding, and shapes do not change.
static void balance_momentum(FloSoft *soft) {
  for (size_t axis = 0; axis < 3; ++axis) {
    double missing = 0, mass = 0;
    bool is_free = true;
    for (size_t i = 0; i < soft->n; ++i) {
      is_free = is_free && !flo_soft_is_held(soft, 3 * i + axis);
      mass += soft->mass[i];
      missing +=
          soft->mass[i] * (soft->v[3 * i + axis] - soft->start[3 * i + axis]) - soft->impulses[3 * i + axis];
    }
    for (size_t i = 0; is_free && i < soft->n; ++i) soft->v[3 * i + axis] -= missing / mass;
  }
}

// ---- The interface ----

static FloStatus check_finite(const double *numbers, size_t n, const char *what, FloError *error) {
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(numbers[i]))
      return flo_fail(error, FLO_DIVERGED,
                      "the %s of vertex %zu of a soft body is not finite; use a shorter step", what, i / 3);
  return FLO_OK;
}

FloStatus flo_soft_begin(FloSoft *soft, const double *impulses, double dt, int threads, FloSoftReport *report,
                         FloError *error) {
  FLO_ASSERT(dt > 0);
  *report = (FloSoftReport){0};
  FLO_TRY(check_finite(impulses, 3 * soft->n, "impulse", error));
  FLO_TRY(check_finite(soft->v, 3 * soft->n, "velocity", error));
  if (soft->particles) return flo_particles_begin(soft, impulses, dt, threads, error);
  flo_soft_refix(soft);
  soft->dt = dt;
  soft->is_rough = false;
  memset(soft->ahead, 0, 3 * soft->n * sizeof *soft->ahead);
  memcpy(soft->start, soft->v, 3 * soft->n * sizeof *soft->v);
  memcpy(soft->impulses, impulses, 3 * soft->n * sizeof *impulses);
  for (size_t g = 0; g < soft->groups.count; ++g)
    flo_soft_group_remember(flo_soft_group(soft, g), &(FloSoftPlace){soft->x, 0}, threads);
  Step step = {.soft = soft, .dt = dt, .threads = threads, .report = report};
  return iterate(&step, error);
}

void flo_soft_forget(FloSoft *soft) { soft->is_factored = false; }

void flo_soft_respond(const FloSoft *soft, const double *impulses, double *changes) {
  for (size_t i = 0; i < 3 * soft->n; ++i) changes[i] = flo_soft_is_held(soft, i) ? 0 : impulses[i];
  if (soft->particles) {
    for (size_t i = 0; i < 3 * soft->n; ++i) changes[i] /= soft->mass[i / 3];
    flo_particles_unite(soft, soft->x, changes);
    return;
  }
  flo_block_solve_single(soft->factor, changes);
}

// Adds impulses. The way leads to the velocities that the response has with them.
static FloStatus take(FloSoft *soft, const double *impulses, FloError *error) {
  FLO_TRY(check_finite(impulses, 3 * soft->n, "impulse", error));
  flo_soft_respond(soft, impulses, soft->way);
  for (size_t i = 0; i < 3 * soft->n; ++i)
    soft->way[i] += soft->ahead[i], soft->impulses[i] += impulses[i], soft->ahead[i] = 0;
  return FLO_OK;
}

// Goes as far along the way as the potential falls. The response is definite, so there is always a part of
// the way that lets it fall.
static void go_down(Step *step) {
  assemble(step, false);
  step->potential = potential_at(step, 0);
  search(step, dot(step->soft, step->soft->gradient, step->soft->way));
}

// The factors are made anew, also if the velocities were right at once.
FloStatus flo_soft_settle(FloSoft *soft, const double *impulses, double dt, int threads,
                          FloSoftReport *report, FloError *error) {
  FLO_ASSERT(dt == soft->dt);
  *report = (FloSoftReport){0};
  if (soft->particles) return flo_particles_settle(soft, impulses, threads, error);
  FLO_TRY(take(soft, impulses, error));
  Step step = {.soft = soft, .dt = dt, .threads = threads, .report = report};
  go_down(&step);
  soft->is_factored = false;
  assemble(&step, true);
  FLO_TRY(find_way(&step, error));
  memcpy(soft->ahead, soft->way, 3 * soft->n * sizeof *soft->way);
  return FLO_OK;
}

const double *flo_soft_ahead(const FloSoft *soft) { return soft->ahead; }
void flo_soft_keep_rough(FloSoft *soft) { soft->is_rough = true; }

// Impulses that have not settled belong to the velocities that were found with them, and to no others: exact
// velocities may be far away.
FloStatus flo_soft_end(FloSoft *soft, const double *impulses, double dt, int threads, FloSoftReport *report,
                       FloError *error) {
  FLO_ASSERT(dt == soft->dt);
  *report = (FloSoftReport){0};
  if (soft->particles) return flo_particles_end(soft, impulses, threads, error);
  FLO_TRY(take(soft, impulses, error));
  Step step = {.soft = soft, .dt = dt, .threads = threads, .report = report};
  if (soft->is_rough) {
    go_down(&step);
  } else {
    go(soft, 1);
    assemble(&step, false);
    if (!is_balanced(&step)) FLO_TRY(iterate(&step, error));
  }
  balance_momentum(soft);
  for (size_t i = 0; i < 3 * soft->n; ++i) soft->x[i] += dt * soft->v[i];
  soft->dt = 0;
  return check_finite(soft->x, 3 * soft->n, "position", error);
}

FloStatus flo_soft_end_again(FloSoft *soft, const double *from, const double *impulses, double dt,
                             int threads, FloSoftReport *report, FloError *error) {
  memcpy(soft->x, from, 3 * soft->n * sizeof *from);
  soft->dt = dt;
  return flo_soft_end(soft, impulses, dt, threads, report, error);
}
