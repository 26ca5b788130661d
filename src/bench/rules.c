#include "bench/rules.h"

#include "base/core.h"
#include "bench/moving_samples.h"

#include <math.h>
#include <stdlib.h>

#define SPACING        0.5
#define STEPS          16   // the deformation takes as many steps
#define PROBE_DISTANCE 0.04 // of the points at which densities are measured

static const struct {
  const char *name;
  FloResampling rule;
} rules[FLO_RULE_COUNT] = {{"static", FLO_RESAMPLE_NEVER},
                           {"seven-point", FLO_RESAMPLE_BY_SUBDIVISION},
                           {"density", FLO_RESAMPLE_BY_DENSITY},
                           {"geometry", FLO_RESAMPLE_BY_GEOMETRY}};

static const double poses[2][FLO_RULE_VERTICES][2] = {{{0, 0}, {3.1, 0.2}, {1.2, 2.4}, {4.2, 2.7}},
                                                      {{0, 0}, {4.9, 0.6}, {0.7, 3.4}, {6.1, 3.9}}};
static const uint32_t triangles[2][3] = {{0, 1, 2}, {2, 1, 3}};

// ---- Number density ----

// The cubic spline of support 1, times its volume.
static double kernel(double q) {
  const double sigma = 8 / FLO_PI, rest = 1 - q;
  if (q >= 1) return 0;
  return q < 0.5 ? sigma * (6 * (q * q * q - q * q) + 1) : sigma * 2 * rest * rest * rest;
}

double flo_rule_density(const FloRuleState *state, double x, double y) {
  double sum = 0;
  for (size_t k = 0; k < state->n_samples; ++k)
    sum += kernel(hypot(x - state->samples[k][0], y - state->samples[k][1]));
  return sum;
}

static double side_of(const double a[2], const double b[2], double x, double y) {
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

bool flo_rule_is_inside(const FloRuleState *state, double x, double y) {
  for (int t = 0; t < 2; ++t) {
    const double *a = state->vertices[triangles[t][0]], *b = state->vertices[triangles[t][1]],
                 *c = state->vertices[triangles[t][2]];
    if (side_of(a, b, x, y) >= 0 && side_of(b, c, x, y) >= 0 && side_of(c, a, x, y) >= 0) return true;
  }
  return false;
}

static void measure(FloRuleState *state) {
  double n = 0, sum = 0, squares = 0;
  state->least = INFINITY, state->most = -INFINITY;
  for (double y = 0; y < 4; y += PROBE_DISTANCE)
    for (double x = 0; x < 7; x += PROBE_DISTANCE) {
      if (!flo_rule_is_inside(state, x, y)) continue;
      const double density = flo_rule_density(state, x, y);
      n += 1, sum += density, squares += density * density;
      state->least = fmin(state->least, density), state->most = fmax(state->most, density);
    }
  state->mean = sum / n;
  state->deviation = sqrt(fmax(0, squares / n - state->mean * state->mean));
}

// ---- Samples ----

static void pose(FloMovingSamples *moving, double share) {
  for (size_t v = 0; v < FLO_RULE_VERTICES; ++v)
    for (int axis = 0; axis < 2; ++axis)
      flo_mesh_vertex(&moving->mesh, v)[axis] = (1 - share) * poses[0][v][axis] + share * poses[1][v][axis];
}

static FloStatus keep(const FloMovingSamples *moving, FloRuleState *state, FloError *error) {
  const size_t n = moving->count;
  double *x = malloc((3 * n + 1) * sizeof *x);
  state->samples = malloc((n + 1) * sizeof *state->samples);
  state->n_samples = n;
  if (!x || !state->samples) {
    free(x);
    return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu samples", n);
  }
  flo_moving_samples_place(moving, x, x + n, x + 2 * n);
  for (size_t k = 0; k < n; ++k) state->samples[k][0] = x[k], state->samples[k][1] = x[n + k];
  free(x);
  for (size_t v = 0; v < FLO_RULE_VERTICES; ++v)
    for (int axis = 0; axis < 2; ++axis) state->vertices[v][axis] = flo_mesh_vertex(&moving->mesh, v)[axis];
  return FLO_OK;
}

// The rule by number density is told that of each sample.
static FloStatus step(FloMovingSamples *moving, FloError *error) {
  FloRuleState now = {0};
  FloStatus status = moving->count > 0 ? keep(moving, &now, error) : FLO_OK;
  float *densities = malloc((moving->count + 1) * sizeof *densities);
  if (status == FLO_OK && !densities) status = flo_fail(error, FLO_NO_MEMORY, "no memory for samples");
  for (size_t k = 0; status == FLO_OK && k < moving->count; ++k)
    densities[k] = (float)flo_rule_density(&now, now.samples[k][0], now.samples[k][1]);
  if (status == FLO_OK)
    status = flo_moving_samples_resample(moving, moving->count > 0 ? densities : NULL, error);
  if (status == FLO_OK) status = flo_moving_samples_apply(moving, error);
  free(now.samples);
  free(densities);
  return status;
}

static FloStatus make_mesh(FloMesh *mesh, FloError *error) {
  for (int v = 0; v < FLO_RULE_VERTICES; ++v)
    FLO_TRY(flo_mesh_add_vertex(mesh, (const double[3]){poses[0][v][0], poses[0][v][1], 0}, NULL, error));
  for (int t = 0; t < 2; ++t)
    FLO_TRY(flo_mesh_add_triangle(mesh, triangles[t][0], triangles[t][1], triangles[t][2], error));
  return FLO_OK;
}

static FloStatus deform(FloMovingSamples *moving, FloResampling rule, FloRuleResult *result,
                        FloError *error) {
  FLO_TRY(make_mesh(&moving->mesh, error));
  FLO_TRY(flo_moving_samples_begin(moving, SPACING, rule, error));
  FLO_TRY(flo_mesh_sampler_create(&moving->def, moving->memory, &moving->sampler, error));
  FLO_TRY(step(moving, error));
  FLO_TRY(keep(moving, &result->states[0], error));
  for (int k = 1; k <= STEPS; ++k) {
    pose(moving, (double)k / STEPS);
    FLO_TRY(step(moving, error));
  }
  return keep(moving, &result->states[1], error);
}

FloStatus flo_rule_measure(size_t k, FloRuleResult *result, FloError *error) {
  FloMemory memory;
  FloMovingSamples moving;
  flo_memory_init(&memory, NULL);
  flo_moving_samples_init(&moving, &memory);
  *result = (FloRuleResult){.name = rules[k].name};
  FloStatus status = deform(&moving, rules[k].rule, result, error);
  for (int s = 0; status == FLO_OK && s < 2; ++s) measure(&result->states[s]);
  flo_moving_samples_free(&moving);
  return status;
}

void flo_rule_free(FloRuleResult *result) {
  for (int s = 0; s < 2; ++s) free(result->states[s].samples);
  *result = (FloRuleResult){0};
}
