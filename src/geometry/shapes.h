// Shapes from parameters: which points they contain, and how they are sampled.
#ifndef FLO_GEOMETRY_SHAPES_H
#define FLO_GEOMETRY_SHAPES_H

#include "base/memory.h"

// Points, three coordinates each.
typedef struct FloPoints {
  FloMemory *memory;
  FloBuffer buffer;
  size_t count;
} FloPoints;

static inline double *flo_points_at(const FloPoints *points, size_t k) {
  return (double *)points->buffer.data + 3 * k;
}
FloStatus flo_points_add(FloPoints *points, double x, double y, double z, FloError *error);
void flo_points_free(FloPoints *points);

FloStatus flo_shape_check(const FloShape *shape, int dim, FloError *error);
// Whether it is a surface without an inside: sheet, disc, hose and bag.
bool flo_shape_is_thin(const FloShape *shape);
// Refuses thin shapes, for everything but cloth.
FloStatus flo_shape_check_solid(const FloShape *shape, FloError *error);
// Whether the functions below handle the shape; solid.h handles all others. They handle outlines without
// depth, as in the plane.
bool flo_shape_has_formula(const FloShape *shape);
// Signed distance to the surface, negative inside the solid. The solid of a tank is a wall of `wall`
// thickness.
double flo_shape_distance(const FloShape *shape, int dim, const double point[3], double wall);
// Unit vector along which the distance grows fastest.
void flo_shape_normal(const FloShape *shape, int dim, const double point[3], double wall, double normal[3]);
// Adds points of a lattice inside the shape, in its own frame. Boxes and outlines are filled from their low
// corner, half a spacing from their sides, so that fluid touches floor and wall. Round shapes are filled from
// the centre.
FloStatus flo_shape_sample_volume(const FloShape *shape, int dim, double spacing, FloFluidPacking packing,
                                  FloPoints *points, FloError *error);
// Adds points `inset` below the surface, and `layers` - 1 further layers below them. The inset is usually
// half a spacing: fluid rests one spacing from a sample, so that its edge meets the surface that is drawn. In
// space the number density of the first layer is that of flo_sample_surface, except for single samples.
FloStatus flo_shape_sample_surface(const FloShape *shape, int dim, double spacing, double inset, int layers,
                                   FloPoints *points, FloError *error);
// Corners of the bounding box (of a tank: of its inner space).
void flo_shape_bounds(const FloShape *shape, int dim, double low[3], double high[3]);
// How far the bounding box reaches from the origin along each axis.
void flo_shape_half_extent(const FloShape *shape, int dim, double half[3]);

// ---- Lattices ----

// Rows along x, in planes along z; every other row and every other plane may be shifted.
typedef struct FloFluidLattice {
  double origin[3], step[3];
  double row_shift, plane_shift[2];
} FloFluidLattice;

// A lattice with one point per spacing^dim and one point at zero.
FloFluidLattice flo_fluid_lattice(FloFluidPacking packing, int dim, double spacing);
void flo_fluid_lattice_point(const FloFluidLattice *lattice, const long index[3], double point[3]);
FloStatus flo_packing_check(FloFluidPacking packing, FloError *error);

#endif
