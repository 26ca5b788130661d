// All solvers side by side: each starts a step from the same state and takes all iterations. Residuals are
// relative to the one without any pressure. The step itself is then solved as if nothing had been tried.
#include "coupling/constraint/constraint.h"

#include <string.h>

enum { N_TRIALS = 8 };

static const char *const names[N_TRIALS] = {
    "two_levels", "two_levels_nncg", "two_levels_cold", "two_levels_nncg_cold",
    "one_level",  "one_level_nncg",  "one_level_cold",  "one_level_natural_order_cold"};

static const struct Trial {
  bool is_conjugate, has_levels, is_natural, is_cold;
} trials[N_TRIALS] = {{.has_levels = true},
                      {.has_levels = true, .is_conjugate = true},
                      {.has_levels = true, .is_cold = true},
                      {.has_levels = true, .is_conjugate = true, .is_cold = true},
                      {0},
                      {.is_conjugate = true},
                      {.is_cold = true},
                      {.is_cold = true, .is_natural = true}};

// Everything that iterations change.
enum { N_OWN_PARTS = 5, N_PARTS = N_OWN_PARTS + FLO_JOINT_PARTS };

static void list_parts(FloWorld *world, const FloConstraint *c, FloSolvePart parts[N_PARTS]) {
  const size_t nodes = 6 * world->nodes.count * sizeof(double);
  parts[0] = (FloSolvePart){c->p, c->n_rows * sizeof(float)};
  parts[1] = (FloSolvePart){c->velocity, 4 * c->n_fluid * sizeof(float)};
  parts[2] = (FloSolvePart){c->bodies.motion, nodes};
  parts[3] = (FloSolvePart){c->bodies.given, nodes};
  parts[4] = (FloSolvePart){c->bodies.lambda, c->bodies.rows.n_components * sizeof(double)};
  memset(parts + N_OWN_PARTS, 0, FLO_JOINT_PARTS * sizeof *parts);
  if (flo_world_has_joints(world)) flo_joints_list_parts(&world->joints, parts + N_OWN_PARTS);
}

static void copy_parts(FloWorld *world, const FloConstraint *c, bool is_back) {
  FloSolvePart parts[N_PARTS];
  char *kept = c->buffers[FLO_CONSTRAINT_HISTORY_STATE].data;
  list_parts(world, c, parts);
  for (int k = 0; k < N_PARTS; kept += parts[k].size, ++k)
    if (parts[k].size) memcpy(is_back ? parts[k].data : kept, is_back ? kept : parts[k].data, parts[k].size);
}

static FloStatus reserve(FloWorld *world, FloConstraint *c, size_t n_values, FloError *error) {
  FloSolvePart parts[N_PARTS];
  size_t size = 0;
  FLO_TRY(flo_constraint_reserve_coarse(world, c, error));
  list_parts(world, c, parts);
  for (int k = 0; k < N_PARTS; ++k) size += parts[k].size;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_HISTORY_STATE, size, 0, error));
  return flo_constraint_reserve(world, c, FLO_CONSTRAINT_HISTORY_VALUES,
                                (N_TRIALS + 1) * n_values * sizeof(double), 0, error);
}

static void try_solver(FloWorld *world, FloConstraint *c, const struct Trial *trial, double *residuals) {
  const FloIterating how = {.is_conjugate = trial->is_conjugate,
                            .has_levels = trial->has_levels,
                            .is_natural = trial->is_natural,
                            .n_iterations = (int)world->params[FLO_CONSTRAINT_ITERATIONS],
                            .residuals = residuals};
  if (trial->is_cold) memset(c->p, 0, c->n_rows * sizeof(float));
  for (int k = 0; k <= how.n_iterations; ++k) residuals[k] = 0; // a solver that ends early is exact
  flo_constraint_iterate(world, c, &how);
  copy_parts(world, c, true);
}

FloStatus flo_constraint_compare(FloWorld *world, FloConstraint *c, FloError *error) {
  const double every = world->params[FLO_CONSTRAINT_HISTORY];
  const size_t n = (size_t)world->params[FLO_CONSTRAINT_ITERATIONS] + 1;
  if (!(every > 0) || world->step % (uint64_t)every != 0) return FLO_OK;
  if ((int)world->params[FLO_CONSTRAINT_SOLVER] == FLO_CONSTRAINT_STANDARD) return FLO_OK;
  FLO_TRY(reserve(world, c, n, error));
  double *values = c->buffers[FLO_CONSTRAINT_HISTORY_VALUES].data, *residuals = values + N_TRIALS * n;
  copy_parts(world, c, false);
  double without = 0;
  for (size_t k = N_TRIALS; k-- > 0;) { // the last one starts without pressure
    try_solver(world, c, &trials[k], residuals);
    if (k == N_TRIALS - 1) without = residuals[0];
    for (size_t i = 0; i < n; ++i) values[N_TRIALS * i + k] = without > 0 ? residuals[i] / without : 0;
  }
  world->residuals = (FloResiduals){world->step, N_TRIALS, n, names, values};
  return FLO_OK;
}
