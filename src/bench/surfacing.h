// The time to make a mesh of a fluid's particles.
#ifndef FLO_BENCH_SURFACING_H
#define FLO_BENCH_SURFACING_H

#include "bench/times.h"
#include "surface/surface.h"

typedef struct FloSurfacingResult {
  size_t particles, triangles;
  int threads;
  FloTimes times;
  FloTimes stages[FLO_SURFACE_STAGE_COUNT];
} FloSurfacingResult;

// Sloshing and spraying water of about `particles` particles in a tank, with the settings of `flotsam
// surface`.
FloStatus flo_surfacing_measure(size_t particles, int threads, int repeats, FloSurfacingResult *result,
                                FloError *error);

#endif
