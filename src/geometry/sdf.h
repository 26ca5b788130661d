// A grid of signed distances to a triangle mesh.
#ifndef FLO_GEOMETRY_SDF_H
#define FLO_GEOMETRY_SDF_H

#include "geometry/bvh.h"

// Near the surface all nodes of a block are kept, elsewhere one node of each block.
enum { FLO_SDF_BLOCK = 4, FLO_SDF_BLOCK_NODES = FLO_SDF_BLOCK * FLO_SDF_BLOCK * FLO_SDF_BLOCK };
#define FLO_SDF_FAR UINT32_MAX

// Nodes at low + cell (i, j, k). Near the surface values are exact up to the rounding of a float. Further
// than some four cells away the sign is right, and the magnitude is a lower bound that grows with the
// distance.
typedef struct FloSdf {
  FloMemory *memory;
  FloBuffer places;  // one uint32_t per block: its number among the near blocks, or FLO_SDF_FAR
  FloBuffer values;  // floats, FLO_SDF_BLOCK_NODES for every near block [m], negative inside; i runs fastest
  FloBuffer corners; // floats: far from the surface, the values at the corners of the blocks
  double low[3], cell;
  size_t n[3]; // nodes along each axis
  size_t n_near;
} FloSdf;

// Builds a grid with at least `margin` cells around the mesh. If it would have more than 2^26 nodes, larger
// cells are used; `sdf->cell` tells their size. The winding number decides what is inside, so a mesh may have
// small holes; faces must point outwards. The result has the same bits for any number of threads.
FloStatus flo_sdf_build(FloSdf *sdf, const FloBvh *bvh, double cell, int margin, int threads,
                        FloError *error);
void flo_sdf_free(FloSdf *sdf);
double flo_sdf_node(const FloSdf *sdf, const size_t index[3]);
// Interpolates between the nodes. Outside of the grid it is the distance to the grid plus the value at its
// border.
double flo_sdf_distance(const FloSdf *sdf, const double point[3]);
// Unit vector along which the interpolated distance grows fastest; zeros where there is none. Outside of the
// grid it is that of the nearest point of the border.
void flo_sdf_normal(const FloSdf *sdf, const double point[3], double normal[3]);

#endif
