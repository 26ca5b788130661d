// The longest stable step. Pressures are implicit, but the kernel gradients along which they push are those
// of the start of the step. Their change under pressure acts like a spring that is integrated explicitly. So
// a step must be shorter than about 0.45 H/sqrt(p/rho0) for the highest pressure p, whatever the iterations;
// above that, still water boils for ever. The limit depends on the depth of the fluid, not on its speed.
#include "coupling/monolithic/monolithic.h"

// Share of H/sqrt(p/rho0) that a step may take.
#define STABLE_SHARE 0.38

enum { SUM_CUBES, SUM_FOURTH_POWERS, N_SUMS };

static void add_powers(const void *context, size_t begin, size_t end, double *sums) {
  const FloMonolithic *mono = context;
  for (size_t i = begin; i < end; ++i) {
    double p = (double)mono->pressure[i], cube = p * p * p;
    sums[SUM_CUBES] += cube;
    sums[SUM_FOURTH_POWERS] += cube * p;
  }
}

// The highest pressure, not that of a single particle by chance: in still water with a linear pressure the
// ratio of these sums is 4/5 of the pressure at the bottom.
static double measure_peak(const FloWorld *world, const FloMonolithic *mono) {
  double sums[N_SUMS];
  flo_parallel_sum(world->threads, mono->n_fluid, add_powers, mono, N_SUMS, sums);
  return sums[SUM_CUBES] > 0 ? 1.25 * sums[SUM_FOURTH_POWERS] / sums[SUM_CUBES] : 0;
}

// Impacts are short and need no shorter steps, so the peak follows slowly.
void flo_monolithic_note_pressure(const FloWorld *world, FloMonolithic *mono) {
  double g = vec_length(world->def.gravity), time = sqrt(world->def.spacing / (g > 0 ? g : 1));
  double peak = measure_peak(world, mono);
  mono->peak_pressure += (1 - exp(-mono->dt / time)) * (peak - mono->peak_pressure);
}

static double lightest_fluid(const FloWorld *world) {
  double density = INFINITY;
  for (size_t k = 0; k < world->materials.count; ++k)
    if (flo_materials(world)[k].is_fluid) density = fmin(density, flo_materials(world)[k].density);
  return density;
}

// Before the first step: the weight of a column from the lowest to the highest fluid particle.
void flo_monolithic_expect_pressure(const FloWorld *world, FloMonolithic *mono) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  double low = INFINITY, high = -INFINITY, density = 0;
  for (size_t i = 0; i < fluid->count; ++i) {
    const double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]};
    double depth = vec_dot(x, world->def.gravity);
    low = fmin(low, depth), high = fmax(high, depth);
    density = fmax(density, (double)fluid->mass[i] / flo_world_rest_volume(world));
  }
  if (fluid->count) mono->peak_pressure = fmax(mono->peak_pressure, density * (high - low));
}

double flo_monolithic_stable_dt(const FloWorld *world, const FloMonolithic *mono) {
  if (!(mono->peak_pressure > 0)) return INFINITY;
  return STABLE_SHARE * world->kernel.support / sqrt(mono->peak_pressure / lightest_fluid(world));
}

double flo_monolithic_peak_height(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  return g > 0 ? mono->peak_pressure / (g * lightest_fluid(world)) : 0;
}
