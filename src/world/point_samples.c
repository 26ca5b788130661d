// Fluid at points of the host: sums over the particles around them.
#include "base/parallel.h"
#include "flotsam/query.h"
#include "world/world.h"

// Whether the grid of the last step still holds all particles. Otherwise a grid of its own is made: that of
// the step belongs to neighbour lists which may serve the next step.
static bool has_current_grid(const FloWorld *world) {
  return flo_world_has_step_state(world) &&
         world->grids[FLO_SET_FLUID].count == world->sets[FLO_SET_FLUID].count;
}

static double distance_to(const FloLattice *lattice, const int32_t at[3], const int32_t *there) {
  double d[3];
  for (int axis = 0; axis < 3; ++axis)
    d[axis] = (double)(int32_t)((uint32_t)at[axis] - (uint32_t)there[axis]) / lattice->to_fixed[axis];
  return vec_length(d);
}

static void add_particle(const FloParticles *fluid, uint32_t i, double w, FloPointSample *sample) {
  const double v[3] = {(double)fluid->vx[i] + (double)fluid->vx_low[i],
                       (double)fluid->vy[i] + (double)fluid->vy_low[i],
                       (double)fluid->vz[i] + (double)fluid->vz_low[i]};
  sample->density += w * (double)fluid->mass[i];
  sample->pressure += w * (double)fluid->pressure[i];
  vec_add_scaled(sample->velocity, v, w, sample->velocity);
}

// The density is the SPH sum at the point; pressure and velocity are means with the same weights. Particles
// are where the last step found them.
static FloPointSample sample_at(const FloWorld *world, const FloGrid *grid, const double point[3]) {
  const FloLattice *lattice = &world->lattice;
  FloPointSample sample = {0};
  double weight = 0;
  int32_t cell[3], at[3];
  flo_grid_cell_of(lattice, point, cell);
  if (cell[0] == INT32_MAX || cell[1] == INT32_MAX || cell[2] == INT32_MAX) return sample;
  for (int axis = 0; axis < 3; ++axis) at[axis] = flo_grid_fixed_point(lattice, axis, point[axis]);
  FloWalker walker = {0};
  flo_walker_move(&walker, grid, cell);
  for (int range = 0; range < walker.n_ranges; ++range)
    for (uint32_t k = walker.begin[range]; k < walker.end[range]; ++k) {
      const double r = distance_to(lattice, at, grid->fixed + 4 * (size_t)grid->order[k]);
      const double w = flo_kernel_w(&world->kernel, r);
      weight += w;
      add_particle(&world->sets[FLO_SET_FLUID], grid->order[k], w, &sample);
    }
  if (!(weight > 0)) return (FloPointSample){0};
  sample.pressure /= weight;
  vec_scale(sample.velocity, 1 / weight, sample.velocity);
  return sample;
}

typedef struct Sampling {
  const FloWorld *world;
  const FloGrid *grid;
  const double *points;
  FloPointSample *samples;
} Sampling;

static void sample_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sampling *sampling = context;
  for (size_t k = begin; k < end; ++k)
    sampling->samples[k] = sample_at(sampling->world, sampling->grid, sampling->points + 3 * k);
}

FloStatus flo_world_sample_points(FloWorld *world, size_t n, const double *points, FloPointSample *samples,
                                  FloError *error) {
  FLO_NEED(world, error);
  if (n == 0) return FLO_OK;
  FLO_NEED(points, error);
  FLO_NEED(samples, error);
  for (size_t k = 0; k < n; ++k) FLO_TRY(flo_world_check_vector(world, points + 3 * k, "points", error));
  Sampling sampling = {world, &world->grids[FLO_SET_FLUID], points, samples};
  if (has_current_grid(world)) {
    flo_parallel_for(world->threads, n, 64, sample_range, &sampling);
    return FLO_OK;
  }
  FloGrid own;
  flo_grid_init(&own, &world->lattice, &world->memory);
  FloStatus status = flo_grid_build(&own, &world->sets[FLO_SET_FLUID], NULL, world->threads, error);
  sampling.grid = &own;
  if (status == FLO_OK) flo_parallel_for(world->threads, n, 64, sample_range, &sampling);
  flo_grid_free(&own);
  return status;
}

void flo_world_sample(FloWorld *world, const double point[3], double *density, double *pressure) {
  FloPointSample sample = {0};
  if (point) flo_world_sample_points(world, 1, point, &sample, NULL);
  if (density) *density = sample.density;
  if (pressure) *pressure = sample.pressure;
}
