// Exact distances at the nodes of one block of a distance grid.
#ifndef FLO_GEOMETRY_SDF_NEAR_H
#define FLO_GEOMETRY_SDF_NEAR_H

#include "geometry/sdf.h"

// The planes of a triangle: its own, and those through its sides, perpendicular to it and facing outwards. A
// point x lies  planes[k] . x - offsets[k]  above plane k. All are zeros for triangles without area.
typedef struct FloSdfPrism {
  double planes[4][3], offsets[4];
} FloSdfPrism;

// One for each triangle of the mesh.
FloStatus flo_sdf_make_prisms(const FloMesh *mesh, FloBuffer *prisms, FloError *error);
// Unsigned distances at the nodes of the block whose first node is `low`. `bound` is at least the distance at
// the middle of these nodes.
void flo_sdf_block_distances(const FloBvh *bvh, const FloSdfPrism *prisms, const double low[3], double cell,
                             double bound, double distances[FLO_SDF_BLOCK_NODES]);

#endif
