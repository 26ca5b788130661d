#include "sph/sample_density.h"

#include "sph/pairs.h"

#include <math.h>

struct FloSampleDensity {
  FloMemory *memory;
  FloLattice lattice;
  FloKernelForm kernel;
  FloGrid samples, points;
  FloPairs pairs;
};

FloStatus flo_sample_density_create(int dim, double spacing, FloMemory *memory, FloSampleDensity **density,
                                    FloError *error) {
  const double zero[3] = {0, 0, 0};
  *density = NULL;
  FloSampleDensity *made = flo_memory_allocate(memory, sizeof *made);
  if (!made) return flo_fail(error, FLO_NO_MEMORY, "out of memory for number densities");
  *made = (FloSampleDensity){.memory = memory,
                             .kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, dim, 2 * spacing)};
  flo_grid_init(&made->samples, &made->lattice, memory);
  flo_grid_init(&made->points, &made->lattice, memory);
  flo_pairs_init(&made->pairs, memory);
  FloStatus status = flo_lattice_init(&made->lattice, dim, 2 * spacing, zero, zero, error);
  if (status == FLO_OK)
    *density = made;
  else
    flo_sample_density_destroy(made);
  return status;
}

void flo_sample_density_destroy(FloSampleDensity *density) {
  if (!density) return;
  flo_pairs_free(&density->pairs);
  flo_grid_free(&density->points);
  flo_grid_free(&density->samples);
  flo_memory_release(density->memory, density, sizeof *density);
}

// The grid reads positions only.
static FloParticles view_of(const double *const x[3], size_t count) {
  return (FloParticles){.set = FLO_SET_SOFT,
                        .count = count,
                        .x = (double *)(uintptr_t)x[0],
                        .y = (double *)(uintptr_t)x[1],
                        .z = (double *)(uintptr_t)x[2]};
}

FloStatus flo_sample_density_at(FloSampleDensity *density, const double *const samples[3], size_t n_samples,
                                const double *const points[3], size_t n_points, int threads, float *out,
                                FloError *error) {
  const FloParticles columns = view_of(samples, n_samples), rows = view_of(points, n_points);
  const FloPairsSpec spec = {.rows = &density->points,
                             .columns = &density->samples,
                             .kernel = density->kernel,
                             .reach = 1,
                             .threads = threads};
  const double scale = pow(density->kernel.support, density->kernel.dim);
  FLO_TRY(flo_grid_build(&density->samples, &columns, NULL, threads, error));
  FLO_TRY(flo_grid_build(&density->points, &rows, NULL, threads, error));
  FLO_TRY(flo_pairs_build(&density->pairs, &spec, error));
  for (size_t k = 0; k < n_points; ++k) out[k] = (float)(scale * (double)density->pairs.kernel_sum[k]);
  return FLO_OK;
}
