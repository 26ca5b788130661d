// What the files of the tree of boxes share: access to its arrays, and the far field of its nodes.
#ifndef FLO_GEOMETRY_BVH_TREE_H
#define FLO_GEOMETRY_BVH_TREE_H

#include "geometry/bvh.h"

// Deeper than the median depth, nodes are cut in half, which adds at most 32 levels. A query keeps at most
// one node per level waiting.
enum { FLO_BVH_MEDIAN_DEPTH = 48, FLO_BVH_STACK_SIZE = 128 };

typedef struct FloBvhCorners {
  const double *a, *b, *c;
} FloBvhCorners;

// Triangles of a node: places `begin` to `end` - 1 in the order of triangles.
typedef struct FloBvhRange {
  uint32_t begin, end;
} FloBvhRange;

static inline const FloBvhNode *bvh_nodes(const FloBvh *bvh) { return bvh->nodes.data; }
static inline const uint32_t *bvh_order(const FloBvh *bvh) { return bvh->order.data; }

static inline FloBvhCorners bvh_corners(const FloMesh *mesh, uint32_t triangle) {
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  return (FloBvhCorners){flo_mesh_vertex(mesh, t[0]), flo_mesh_vertex(mesh, t[1]),
                         flo_mesh_vertex(mesh, t[2])};
}

// Computes the dipoles of all nodes; `ranges` is scratch for one range per node.
void flo_bvh_fill_dipoles(FloBvh *bvh, FloBvhRange *ranges);

#endif
