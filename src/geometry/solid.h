// A shape made ready for use: whatever it was made from, it can be asked for distances and be sampled.
//
// Boxes, balls, cylinders, tanks and outlines in the plane answer by formula. All other shapes become a mesh
// with a grid of signed distances.
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
  uint64_t key; // of everything that the shape was made from
  int dim;
  double wall; // thickness of a tank's wall [m]
  bool has_mesh;
  FloOutlineTree outline; // of outlines in the plane; otherwise without points
  FloMesh mesh;           // of shapes without a formula
  FloBvh bvh;
  FloSdf sdf;
} FloSolid;

// Details finer than a particle need no triangles: `spacing` sets the fineness of round shapes, and of the
// grid.
FloStatus flo_solid_init(FloSolid *solid, const FloShape *shape, int dim, double spacing, double wall,
                         int threads, FloMemory *memory, FloError *error);
void flo_solid_free(FloSolid *solid);
// A number that differs for most shapes that differ. It costs a look at every triangle: compute it once.
uint64_t flo_solid_key(const FloShape *shape);
// Whether two shapes have the same numbers and point to the same details, as instances of one entry do.
bool flo_shape_is_same(const FloShape *a, const FloShape *b);
// Whether the solid was made from a shape like this, whose key is given.
bool flo_solid_is_of(const FloSolid *solid, const FloShape *shape, uint64_t key);

// Signed distance to the surface, negative inside.
double flo_solid_distance(const FloSolid *solid, const double point[3]);
// Unit vector along which the distance grows fastest.
void flo_solid_normal(const FloSolid *solid, const double point[3], double normal[3]);
// Corners of the box around it (of a tank: around its inner space).
void flo_solid_bounds(const FloSolid *solid, double low[3], double high[3]);
// See flo_shape_sample_volume.
FloStatus flo_solid_sample_volume(const FloSolid *solid, double spacing, FloFluidPacking packing,
                                  FloPoints *points, FloError *error);
// See flo_shape_sample_surface and flo_sample_surface. What stands on lattices and rings is even already and
// is not relaxed: boxes, tanks and everything in the plane.
FloStatus flo_solid_sample_surface(const FloSolid *solid, const FloSampleOptions *options, FloPoints *points,
                                   FloError *error);
// Mass, centre and inertia in the shape's own frame. `thickness` 0: of the full solid; otherwise of a thin
// shell along its surface. In the plane per metre of depth, and of the inertia only that about z. Exact but
// for round shapes without a formula and round shells, which are as round as their triangles. A tank, a sheet
// and a mesh whose holes leave its volume uncertain weigh nothing by themselves and are refused.
FloStatus flo_solid_mass(const FloSolid *solid, double density, double thickness, FloMassProperties *out,
                         FloError *error);

#endif
