// The longest stable step. Pressures are implicit, but the kernel gradients along which they push are those
// of the start of the step. Their change under pressure acts like a spring that is integrated explicitly. So
// a step must be shorter than about 0.45 H/sqrt(p/rho0) for the highest pressure p, whatever the iterations;
// above that, still water boils for ever. The limit depends on the depth of the fluid, not on its speed.
#include "coupling/monolithic/monolithic.h"

// Share of H/sqrt(p/rho0) that a step may take.
#define STABLE_SHARE 0.38

enum { SUM_CUBES, SUM_FOURTH_POWERS, N_SUMS };

static void add_powers(const void *context, size_t begin, size_t end, double *sums) {
  const FloWorld *world = context;
  const FloMonolithic *mono = world->method_state;
  const float *mass = world->sets[FLO_SET_FLUID].mass;
  for (size_t i = begin; i < end; ++i) {
    double p = (double)mono->pressure[i] * mono->rest_volume / (double)mass[i], cube = p * p * p;
    sums[SUM_CUBES] += cube;
    sums[SUM_FOURTH_POWERS] += cube * p;
  }
}

// The highest pressure over density, not that of a single particle by chance: in still water with a linear
// pressure the ratio of these sums is 4/5 of the pressure at the bottom.
static double measure_peak(const FloWorld *world, const FloMonolithic *mono) {
  double sums[N_SUMS];
  flo_parallel_sum(world->threads, mono->n_fluid, add_powers, world, N_SUMS, sums);
  return sums[SUM_CUBES] > 0 ? 1.25 * sums[SUM_FOURTH_POWERS] / sums[SUM_CUBES] : 0;
}

// Impacts are short and need no shorter steps, so the peak follows slowly.
void flo_monolithic_note_pressure(const FloWorld *world, FloMonolithic *mono) {
  double g = vec_length(world->def.gravity), time = sqrt(world->def.spacing / (g > 0 ? g : 1));
  double peak = measure_peak(world, mono);
  mono->peak += (1 - exp(-mono->dt / time)) * (peak - mono->peak);
}

// Before the first step: the weight of a column from the lowest to the highest fluid particle.
void flo_monolithic_expect_pressure(const FloWorld *world, FloMonolithic *mono) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  double low = INFINITY, high = -INFINITY;
  if (mono->peak > 0) return; // what was measured is better
  for (size_t i = 0; i < fluid->count; ++i) {
    const double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]};
    double depth = vec_dot(x, world->def.gravity);
    low = fmin(low, depth), high = fmax(high, depth);
  }
  if (fluid->count) mono->peak = high - low;
}

double flo_monolithic_stable_dt(const FloWorld *world, const FloMonolithic *mono) {
  return mono->peak > 0 ? STABLE_SHARE * world->kernel.support / sqrt(mono->peak) : INFINITY;
}

// What an iteration leaves of a contact's error is a share of the way that gravity moves things by in a step.
// So that dry stones settle by less than shows, that way is at most this share of a spacing.
#define FALL_SHARE 0.002

double flo_monolithic_contact_dt(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  bool has_fluid = world->sets[FLO_SET_FLUID].count > 0;
  if (world->nodes.count == 0 || (has_fluid && mono->has_dry_contacts == 0) || !(g > 0)) return INFINITY;
  return sqrt(FALL_SHARE * world->def.spacing / g);
}

double flo_monolithic_peak_height(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  return g > 0 ? mono->peak / g : 0;
}
