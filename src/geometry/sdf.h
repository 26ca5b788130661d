// A grid of signed distances to a triangle mesh.
#ifndef FLO_GEOMETRY_SDF_H
#define FLO_GEOMETRY_SDF_H

#include "geometry/bvh.h"

// Nodes at low + cell (i, j, k). Near the surface values are exact up to the rounding of a float; further
// than some four cells away the sign is right and the magnitude a lower bound that grows with the distance.
typedef struct FloSdf {
  FloMemory *memory;
  FloBuffer values; // floats [m], negative inside; i runs fastest
  double low[3], cell;
  size_t n[3]; // nodes along each axis
} FloSdf;

// At least `margin` cells surround the mesh. A cell so small that the grid would have more than 2^26 nodes is
// made larger; `sdf->cell` says which was used. What is inside is decided by the winding number, so that a
// mesh may have small holes; faces must point outwards. The same bits for any number of threads.
FloStatus flo_sdf_build(FloSdf *sdf, const FloBvh *bvh, double cell, int margin, int threads,
                        FloError *error);
void flo_sdf_free(FloSdf *sdf);
// Interpolated between the nodes. Outside of the grid: the distance to the grid and the value at its border.
double flo_sdf_distance(const FloSdf *sdf, const double point[3]);
// Unit vector along which the interpolated distance grows fastest; zeros where there is none. Outside of the
// grid that of the nearest point of its border.
void flo_sdf_normal(const FloSdf *sdf, const double point[3], double normal[3]);

#endif
