// Queries on a triangle mesh by a tree of boxes: what is in a box, nearest point, nearest hit of a ray,
// inside or outside.
#ifndef FLO_GEOMETRY_BVH_H
#define FLO_GEOMETRY_BVH_H

#include "geometry/mesh.h"

// A tree over the triangles of a mesh, which must outlive it and must not change meanwhile. Triangles without
// area count as the segment or the point they are; a tree without triangles finds nothing.
typedef struct FloBvh {
  const FloMesh *mesh;
  FloBuffer nodes, dipoles; // FloBvhNode and, if built, FloBvhDipole, one each per node; the root is node 0
  FloBuffer order;          // triangle numbers, so that every node owns a range
  size_t n_nodes;
} FloBvh;

typedef struct FloBvhNode {
  double low[3], high[3];
  uint32_t first; // inner node: its first child, the second follows; leaf: its first place in `order`
  uint32_t count; // triangles of a leaf; 0: inner node
} FloBvhNode;

// What a node looks like from afar, for the winding number.
typedef struct FloBvhDipole {
  double centre[3];            // area-weighted
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
// For flo_bvh_visit_box alone: in a fraction of the time, and for all coordinates that are finite.
FloStatus flo_bvh_build_boxes(FloBvh *bvh, const FloMesh *mesh, FloError *error);
void flo_bvh_free(FloBvh *bvh);
// Calls `visit` for every triangle whose leaf touches the box, until it returns false; returns whether it
// never did. Coordinates of the box may be infinite.
bool flo_bvh_visit_box(const FloBvh *bvh, const double low[3], const double high[3],
                       bool (*visit)(uint32_t triangle, void *context), void *context);
// The point of the mesh nearest to `point`; false if none lies within `max_distance`.
bool flo_bvh_closest(const FloBvh *bvh, const double point[3], double max_distance, FloClosest *out);
// The square of the distance to one triangle, or `max_square` if that is less.
double flo_triangle_square_distance(const FloMesh *mesh, uint32_t triangle, const double point[3],
                                    double max_square);
// The first hit with 0 <= t <= max_t from either side; false if there is none. `direction` need not have unit
// length. A ray never slips through a shared edge or vertex.
bool flo_bvh_ray(const FloBvh *bvh, const double origin[3], const double direction[3], double max_t,
                 FloHit *hit);
// How often the mesh surrounds the point: 1 inside and 0 outside of a closed mesh, and between the two near
// the holes of an open one, where 0.5 is the best guess of the missing surface.
double flo_bvh_winding(const FloBvh *bvh, const double point[3]);
// Walks from `start`, which lies beside the surface, away from it until the surface is `depth` away, along
// the ridges between two sides where it must, and never through the surface. Stops at the deepest place of a
// part that is too thin. Returns the distance that was reached.
double flo_bvh_walk_away(const FloBvh *bvh, const double start[3], double depth, double out[3]);
// The same from a point of a triangle, towards its back; 0 and the point itself if the triangle has no area.
double flo_bvh_inset(const FloBvh *bvh, const double point[3], uint32_t triangle, double depth,
                     double out[3]);

#endif
