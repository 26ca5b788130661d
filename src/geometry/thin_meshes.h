// Meshes of thin shapes: sheet, disc, hose and bag. They are even, with shared vertices, and have a border.
#ifndef FLO_GEOMETRY_THIN_MESHES_H
#define FLO_GEOMETRY_THIN_MESHES_H

#include "geometry/mesh.h"

// More triangles than this are refused, whatever shape they make.
#define FLO_MOST_CLOTH_TRIANGLES 4e6

// Adds a thin shape with triangle sides of about `cell`, or of the shape's own cell if it has one. A sheet
// and a disc look along z, a hose and a bag look outwards. Rims lie exactly where the shape ends. Corners of
// polygons lie on the circle that they stand for.
//
// A sheet without extent along y is a line, as in the plane. Its segments are triangles whose second and
// third corner are the same.
FloStatus flo_mesh_thin(const FloShape *shape, double cell, FloMesh *mesh, FloError *error);
// How many parts of about the length `cell` make the length; at least one.
size_t flo_cells_along(double length, double cell);
// Refuses a cell that is no length, and one so small that there would be too many triangles.
FloStatus flo_cell_check(double cell, double area, FloError *error);

#endif
