// How long it takes to make a mesh of a fluid's particles.
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

// Water of about `particles` particles that sloshes in a tank and sprays, by the settings of `flotsam
// surface`.
FloStatus flo_surfacing_measure(size_t particles, int threads, int repeats, FloSurfacingResult *result,
                                FloError *error);

#endif
