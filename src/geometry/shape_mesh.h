// The triangles of any shape.
#ifndef FLO_GEOMETRY_SHAPE_MESH_H
#define FLO_GEOMETRY_SHAPE_MESH_H

#include "geometry/mesh.h"

// Triangles whose edges on curved parts are about `fineness` long. A tank gets a wall of the given thickness,
// and an outline without depth becomes a sheet that looks along z.
FloStatus flo_shape_mesh(const FloShape *shape, double fineness, double wall, FloMesh *mesh, FloError *error);

#endif
