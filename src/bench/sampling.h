// The time to sample the surface of a mesh.
#ifndef FLO_BENCH_SAMPLING_H
#define FLO_BENCH_SAMPLING_H

#include "base/core.h"
#include "bench/times.h"
#include "geometry/mesh.h"

typedef struct FloSamplingResult {
  const char *name;
  const char *task; // what is measured
  size_t triangles, samples;
  double spacing; // in mean edges of the mesh
  FloTimes times; // of one sampling, on one thread
} FloSamplingResult;

enum { FLO_SAMPLING_COUNT = 4 };

// Case k: the duck with about 2000 triangles or a wavy cloth with 90,000, each with a spacing of its mean
// edge and with a somewhat finer one.
FloStatus flo_sampling_measure(size_t k, int repeats, FloSamplingResult *result, FloError *error);

// The cloth, and the mean length of a mesh's edges.
FloStatus flo_sampling_make_cloth(FloMesh *mesh, FloError *error);
double flo_sampling_mean_edge(const FloMesh *mesh);

#endif
