#include "coupling/forces/step_limit.h"

#include "base/parallel.h"

// Share of H/sqrt(p/rho0) that a step may take.
#define STABLE_SHARE 0.38

enum { SUM_CUBES, SUM_FOURTH_POWERS, N_SUMS };

typedef struct Pressures {
  const float *pressure, *mass;
  double rest_volume;
} Pressures;

static void add_powers(const void *context, size_t begin, size_t end, double *sums) {
  const Pressures *in = context;
  for (size_t i = begin; i < end; ++i) {
    double p = (double)in->pressure[i] * in->rest_volume / (double)in->mass[i], cube = p * p * p;
    sums[SUM_CUBES] += cube;
    sums[SUM_FOURTH_POWERS] += cube * p;
  }
}

// The highest pressure over density, not that of a single particle by chance: in still water with a linear
// pressure the ratio of these sums is 4/5 of the pressure at the bottom.
static double measure_peak(const FloWorld *world, const float *pressure) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  const Pressures in = {pressure, fluid->mass, flo_world_rest_volume(world)};
  double sums[N_SUMS];
  flo_parallel_sum(world->threads, fluid->count, add_powers, &in, N_SUMS, sums);
  return sums[SUM_CUBES] > 0 ? 1.25 * sums[SUM_FOURTH_POWERS] / sums[SUM_CUBES] : 0;
}

double flo_peak_follow(const FloWorld *world, double peak, const float *pressure, double dt) {
  double g = vec_length(world->def.gravity), time = sqrt(world->def.spacing / (g > 0 ? g : 1));
  return peak + (1 - exp(-dt / time)) * (measure_peak(world, pressure) - peak);
}

double flo_peak_expect(const FloWorld *world) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < fluid->count; ++i) {
    const double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]};
    double depth = vec_dot(x, world->def.gravity);
    low = fmin(low, depth), high = fmax(high, depth);
  }
  return fluid->count ? high - low : 0;
}

double flo_peak_stable_dt(const FloWorld *world, double peak) {
  return peak > 0 ? STABLE_SHARE * world->kernel.support / sqrt(peak) : INFINITY;
}
