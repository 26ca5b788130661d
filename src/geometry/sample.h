// Particles on the surface and in the volume of triangle meshes.
#ifndef FLO_GEOMETRY_SAMPLE_H
#define FLO_GEOMETRY_SAMPLE_H

#include "geometry/sdf.h"
#include "geometry/shapes.h"
#include "geometry/thinner.h"

// ---- Surfaces ----

typedef struct FloSampleOptions {
  double spacing;       // between samples [m]
  double inset;         // samples lie this deep below the surface, or in the middle of thinner parts [m]
  int layers;           // 0 and 1: one layer; more: further layers, each one spacing below the last
  bool relax;           // even the samples out
  int relax_iterations; // 0: a number that usually suffices
  int threads;          // for the relaxation; 0: one. The result does not depend on it.
} FloSampleOptions;

// Samples a mesh. At every sample of the first layer the number density  sum_j W(x_i - x_j),  with the cubic
// spline and H = 2 spacings, lies between 3.6/H^3 and 10/H^3, whatever the triangles. The exception are parts
// smaller than a tenth of a spacing far from everything else, which get one sample. For an inset the faces
// must point outwards. Order and values depend only on the mesh and the options. Points are added to those
// already there.
FloStatus flo_sample_surface(const FloMesh *mesh, const FloSampleOptions *options, FloPoints *points,
                             FloError *error);

// Lets samples repel each other within the surface, which spreads them like blue noise.
FloStatus flo_sample_relax(const FloBvh *bvh, double spacing, int n_iterations, int threads,
                           FloSurfacePoint *samples, size_t n_samples, FloError *error);

// ---- Volumes ----

typedef enum FloPacking {
  FLO_PACKING_CUBIC,
  FLO_PACKING_HEXAGONAL // close packed; nearest neighbours are 2^(1/6) spacings apart
} FloPacking;

// Either lattice has one point in every spacing^3.
typedef struct FloVolumeOptions {
  double spacing;
  double clearance; // least distance from the surface [m]; less than 0: half a spacing
  FloPacking packing;
  int threads; // 0: one. The result does not depend on it.
} FloVolumeOptions;

// What decides whether a point is inside. The tree is exact, the grid is fast. With both, the tree is asked
// only where the grid may be wrong. One of them may be NULL.
typedef struct FloInside {
  const FloBvh *bvh;
  const FloSdf *sdf;
} FloInside;

// Adds the points of a lattice that are inside and keep the clearance. They are ordered by z, then y, then x.
// The lattice begins half a spacing from the low corner of the mesh, or the clearance if that is more, so
// that boxes fill evenly.
FloStatus flo_sample_volume(const FloInside *inside, const FloVolumeOptions *options, FloPoints *points,
                            FloError *error);

#endif
