// Queries on a triangle mesh by a tree of boxes: triangles in a box, the nearest point, the first hit of a
// ray, inside or outside.
#ifndef FLO_GEOMETRY_BVH_H
#define FLO_GEOMETRY_BVH_H

#include "geometry/mesh.h"

// A tree over the triangles of a mesh. The mesh must outlive the tree and must not change meanwhile. A
// triangle without area counts as a segment or a point. A tree without triangles finds nothing.
typedef struct FloBvh {
  const FloMesh *mesh;
  FloBuffer nodes, dipoles; // FloBvhNode and, if built, FloBvhDipole, one each per node; the root is node 0
  FloBuffer order;          // triangle numbers, so that every node owns a range
  size_t n_nodes;
} FloBvh;

typedef struct FloBvhNode {
  double low[3], high[3];
  uint32_t first; // of an inner node: its first child, the second follows it; of a leaf: its first place in
                  // `order`
  uint32_t count; // triangles of a leaf; 0: inner node
} FloBvhNode;

// The far field of a node, for the winding number.
typedef struct FloBvhDipole {
  double centre[3];            // mean of the triangles, weighted by area [m]
  double normal[3];            // sum of area times normal [m^2]
  double first[6], second[10]; // symmetric parts of its moments about the centre [m^3, m^4]
  double radius;               // the triangles lie within this distance of the centre
} FloBvhDipole;

typedef struct FloClosest {
  double point[3];
  double distance;
  uint32_t triangle;
  double barycentric[3]; // weights of the triangle's corners
} FloClosest;

typedef struct FloHit {
  double t; // the hit is at origin + t direction
  uint32_t triangle;
  double barycentric[3];
} FloHit;

FloStatus flo_bvh_build(FloBvh *bvh, const FloMesh *mesh, FloError *error);
// Builds a tree that serves only flo_bvh_visit_box. It takes a fraction of the time, and coordinates may be
// any finite numbers.
FloStatus flo_bvh_build_boxes(FloBvh *bvh, const FloMesh *mesh, FloError *error);
void flo_bvh_free(FloBvh *bvh);
// Calls `visit` for every triangle whose leaf touches the box, until a call returns false. Returns whether
// all calls returned true. Coordinates of the box may be infinite.
bool flo_bvh_visit_box(const FloBvh *bvh, const double low[3], const double high[3],
                       bool (*visit)(uint32_t triangle, void *context), void *context);
// The point of the mesh nearest to `point`; false if none lies within `max_distance`.
bool flo_bvh_closest(const FloBvh *bvh, const double point[3], double max_distance, FloClosest *out);
// The square of the distance to one triangle, but at most `max_square`.
double flo_triangle_square_distance(const FloMesh *mesh, uint32_t triangle, const double point[3],
                                    double max_square);
// The same, and the weights of the corners at the nearest point, if it is nearer than that.
double flo_triangle_nearest(const FloMesh *mesh, uint32_t triangle, const double point[3], double max_square,
                            double weights[3]);
// The first hit with 0 <= t <= max_t from either side; false if there is none. `direction` need not have unit
// length. A ray never slips through a shared edge or vertex.
bool flo_bvh_ray(const FloBvh *bvh, const double origin[3], const double direction[3], double max_t,
                 FloHit *hit);
// How often the mesh surrounds the point: 1 inside and 0 outside of a closed mesh. Near the holes of an open
// mesh it lies in between; 0.5 is then the best guess of where the missing surface is.
double flo_bvh_winding(const FloBvh *bvh, const double point[3]);
// Walks away from the surface until it is `depth` away, and never through the surface. `start` lies beside
// the surface. Where two sides are near, the walk follows the ridge between them. In a part that is too thin
// it stops at the deepest place. Returns the distance that was reached.
double flo_bvh_walk_away(const FloBvh *bvh, const double start[3], double depth, double out[3]);
// The same from a point of a triangle, towards its back. A triangle without area gives 0 and the point
// itself.
double flo_bvh_inset(const FloBvh *bvh, const double point[3], uint32_t triangle, double depth,
                     double out[3]);

#endif
