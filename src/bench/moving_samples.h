// A mesh that moves, and its samples.
#ifndef FLO_BENCH_MOVING_SAMPLES_H
#define FLO_BENCH_MOVING_SAMPLES_H

#include "geometry/mesh.h"
#include "geometry/mesh_sampler.h"

typedef struct FloMovingSamples {
  FloMemory *memory;
  FloMesh mesh;   // as it is now; the caller fills it and moves its vertices
  FloBuffer rest; // its vertices at rest
  FloMeshSamplerDef def;
  FloMeshSampler *sampler;
  FloBuffer bindings[3];
  size_t count;
  FloMeshSampleEdit edit; // of the last resampling
} FloMovingSamples;

void flo_moving_samples_init(FloMovingSamples *moving, FloMemory *memory);
void flo_moving_samples_free(FloMovingSamples *moving);
// Takes the mesh as it is at rest and describes the sampler, which the caller makes.
FloStatus flo_moving_samples_begin(FloMovingSamples *moving, double spacing, FloResampling rule,
                                   FloError *error);
// Finds the edit for the present vertices; `densities` as in FloMeshSamples.
FloStatus flo_moving_samples_resample(FloMovingSamples *moving, const float *densities, FloError *error);
// Samples that are lost make room, new ones follow at the end.
FloStatus flo_moving_samples_apply(FloMovingSamples *moving, FloError *error);
// Where the samples are; each array has room for `count`.
void flo_moving_samples_place(const FloMovingSamples *moving, double *x, double *y, double *z);

#endif
