// A shape made ready for use. Any shape can then be sampled and asked for distances.
//
// Boxes, balls, cylinders, tanks and outlines in the plane answer by formula. All other shapes become a mesh
// with a grid of signed distances. Thin shapes, which are for cloth, have no inside. They have a mesh without
// a grid, and their distances are never negative.
#ifndef FLO_GEOMETRY_SOLID_H
#define FLO_GEOMETRY_SOLID_H

#include "geometry/bvh.h"
#include "geometry/outline.h"
#include "geometry/sample.h"
#include "geometry/sdf.h"
#include "geometry/shapes.h"

typedef struct FloSolid {
  FloShape shape;    // without its text, heights and triangles; points are those of `details`
  FloBuffer details; // copy of the text, the heights or the points
  size_t details_size;
  uint64_t key; // hash of everything that the shape was made from
  int dim;
  double wall; // thickness of a tank's wall [m]
  bool has_mesh;
  FloOutlineTree outline; // of outlines in the plane; otherwise without points
  FloMesh mesh;           // of shapes without a formula
  FloBvh bvh;
  FloSdf sdf;
} FloSolid;

// Prepares a shape. `spacing` sets the fineness of round shapes and of the grid: details finer than a
// particle need no triangles.
FloStatus flo_solid_init(FloSolid *solid, const FloShape *shape, int dim, double spacing, double wall,
                         int threads, FloMemory *memory, FloError *error);
void flo_solid_free(FloSolid *solid);
// A hash of the shape. It reads every triangle, so compute it once.
uint64_t flo_solid_key(const FloShape *shape);
// Whether two shapes have the same numbers and point to the same details. Instances of one entry do.
bool flo_shape_is_same(const FloShape *a, const FloShape *b);
// Whether the solid was made from a shape like this, whose key is given.
bool flo_solid_is_of(const FloSolid *solid, const FloShape *shape, uint64_t key);

// Signed distance to the surface, negative inside. Of a thin shape: distance to its triangles.
double flo_solid_distance(const FloSolid *solid, const double point[3]);
// Unit vector along which the distance grows fastest.
void flo_solid_normal(const FloSolid *solid, const double point[3], double normal[3]);
// Corners of the box around it (of a tank: around its inner space).
void flo_solid_bounds(const FloSolid *solid, double low[3], double high[3]);
// Upper bound of the distance of its points from the origin of its frame, with the walls of a tank.
double flo_solid_reach(const FloSolid *solid);
// See flo_shape_sample_volume.
FloStatus flo_solid_sample_volume(const FloSolid *solid, double spacing, FloFluidPacking packing,
                                  FloPoints *points, FloError *error);
// See flo_shape_sample_surface and flo_sample_surface. Boxes, tanks and everything in the plane are sampled
// by lattices and rings, which are even already and are not relaxed. Thin shapes get one layer, on the
// surface.
FloStatus flo_solid_sample_surface(const FloSolid *solid, const FloSampleOptions *options, FloPoints *points,
                                   FloError *error);
// Mass, centre and inertia in the shape's own frame. `thickness` 0: of the full solid; otherwise of a thin
// shell along its surface. In the plane the results are per metre of depth, and of the inertia only that
// about z is set. Results are exact, except for round shapes without a formula and round shells, which are as
// round as their triangles. Refuses tanks, thin shapes and meshes whose holes leave the volume uncertain.
FloStatus flo_solid_mass(const FloSolid *solid, double density, double thickness, FloMassProperties *out,
                         FloError *error);

#endif
