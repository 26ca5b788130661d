// The triangles that a cloth is made of.
#ifndef FLO_GEOMETRY_CLOTH_MESH_H
#define FLO_GEOMETRY_CLOTH_MESH_H

#include "geometry/mesh.h"

// Fills an empty mesh. The shape's own cell, or else `cell`, is the length of triangle sides. Thin shapes are
// even. Of a solid shape it is the surface, whose sides are at most one and a half cells long. The triangles
// of a mesh stay as they are, and equal vertices become one; it may be open, and edges may have any number of
// triangles. A tank is refused.
//
// In the plane it is a line of segments: a sheet along x, or the outline of a solid shape, counter-clockwise.
// A segment is a triangle whose second and third corner are the same.
FloStatus flo_shape_cloth_mesh(const FloShape *shape, int dim, double cell, FloMesh *mesh, FloError *error);

#endif
