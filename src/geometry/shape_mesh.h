// The triangles of any shape.
#ifndef FLO_GEOMETRY_SHAPE_MESH_H
#define FLO_GEOMETRY_SHAPE_MESH_H

#include "geometry/mesh.h"

// Triangles whose edges on curved parts are about `fineness` long. A tank gets a wall of the given thickness.
FloStatus flo_shape_mesh(const FloShape *shape, double fineness, double wall, FloMesh *mesh, FloError *error);

#endif
