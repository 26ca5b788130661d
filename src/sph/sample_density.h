// The number density of samples at any points: delta = sum_j W(x - x_j), with the cubic spline and a support
// H of two spacings. It tells where a surface has too few samples, so that fluid leaks, or more than it needs
// (Akinci et al. 2013, section 2.3).
#ifndef FLO_SPH_SAMPLE_DENSITY_H
#define FLO_SPH_SAMPLE_DENSITY_H

#include "base/memory.h"

typedef struct FloSampleDensity FloSampleDensity;

// It keeps its memory, so that it allocates nothing once it has been used.
FloStatus flo_sample_density_create(int dim, double spacing, FloMemory *memory, FloSampleDensity **density,
                                    FloError *error);
void flo_sample_density_destroy(FloSampleDensity *density); // NULL is fine
// Fills `out` with delta times H^dim at each point, which has no unit. Coordinates are in metres.
FloStatus flo_sample_density_at(FloSampleDensity *density, const double *const samples[3], size_t n_samples,
                                const double *const points[3], size_t n_points, int threads, float *out,
                                FloError *error);

#endif
