// Polygons in the plane: what is inside of them, how they are cut into triangles, and how they are sampled.
//
// An outline is n pairs x, y without repeating the first, in either sense of rotation. It may be concave, but
// its sides must not cross or touch.
#ifndef FLO_GEOMETRY_OUTLINE_H
#define FLO_GEOMETRY_OUTLINE_H

#include "geometry/mesh.h"
#include "geometry/shapes.h"

enum { FLO_OUTLINE_MAX_POINTS = 10000 };

// Refuses outlines with fewer than three points, with points that are not finite or occur twice, without
// area, or with sides that meet.
FloStatus flo_outline_check(const double *points, size_t n, FloError *error);
// Positive if the points run counter-clockwise [m²].
double flo_outline_area(const double *points, size_t n);
double flo_outline_length(const double *points, size_t n); // of all sides [m]
void flo_outline_bounds(const double *points, size_t n, double low[2], double high[2]);
bool flo_outline_contains(const double *points, size_t n, const double point[2]);
// To the nearest side, negative inside.
double flo_outline_distance(const double *points, size_t n, const double point[2]);

// ---- Many sides ----

// Finds the same distances in a time that grows with the logarithm of the number of sides. The points must
// stay where they are.
typedef struct FloOutlineTree {
  FloMemory *memory;
  const double *points;
  size_t n_points, n_leaves;
  FloBuffer boxes;
} FloOutlineTree;

FloStatus flo_outline_tree_build(FloOutlineTree *tree, const double *points, size_t n, FloMemory *memory,
                                 FloError *error);
void flo_outline_tree_free(FloOutlineTree *tree);
double flo_outline_tree_distance(const FloOutlineTree *tree, const double point[2]);
void flo_outline_tree_bounds(const FloOutlineTree *tree, double low[2], double high[2]);
double flo_side_squared_distance(const double a[2], const double b[2], const double point[2]);
// Whether the ray from the point along x crosses the side. A side owns its lower end but not its upper one.
bool flo_side_is_crossed(const double a[2], const double b[2], const double point[2]);

// ---- Outlines with holes ----

// Loops in a plane: one rim, counter-clockwise, and the holes in it, clockwise; they must not touch.
typedef struct FloOutline {
  const double *points;    // two coordinates each, loop by loop
  const size_t *loop_ends; // number of points up to the end of each loop
  size_t n_points, n_loops;
} FloOutline;

// Cuts the face inside an outline into triangles without adding points. Each triangle is three point numbers
// (uint32_t), counter-clockwise.
FloStatus flo_outline_triangulate(const FloOutline *outline, FloMemory *memory, FloBuffer *triangles,
                                  size_t *n_triangles, FloError *error);

// ---- Areas and samples ----

// Cuts a polygon into n - 2 triangles by clipping ears. `triangles` receives three point numbers for each,
// counter-clockwise. Triangles without area are made only if there is no choice. The result for a polygon
// that crosses itself is not its inside.
FloStatus flo_outline_cut(const double *points, size_t n, FloMemory *memory, uint32_t *triangles,
                          FloError *error);
// The prism of this depth, centred on z = 0; for depth 0 a sheet that looks along z.
FloStatus flo_mesh_outline(const double *points, size_t n, double depth, FloMesh *mesh, FloError *error);
// Improves a polygon in space that was added to a mesh as a fan, with n_corners - 2 triangles from `first`
// on. A polygon that is not convex is cut anew.
FloStatus flo_mesh_cut_polygon(FloMesh *mesh, size_t first, size_t n_corners, FloError *error);

// Adds points inside, `inset` from the sides, and further layers below them. Parts too thin for that are
// sampled along their middle (outline_sample.c).
FloStatus flo_outline_sample(const double *points, size_t n, double spacing, double inset, int layers,
                             FloPoints *samples, FloError *error);

#endif
