// Closed meshes from signed fields.
#ifndef FLO_GEOMETRY_POLYGONISE_H
#define FLO_GEOMETRY_POLYGONISE_H

#include "geometry/mesh.h"

// A field that is negative inside. Close to the surface its slope should be about one.
typedef struct FloSignedField {
  double (*value)(const void *context, const double point[3]);
  const void *context;
} FloSignedField;

// Adds the surface where the field is zero, oriented outwards. The field is sampled by a lattice of `cell`
// sized cells over a box. The surface is cut off at the box, so the mesh is a closed 2-manifold for any
// field. Details smaller than a cell may be lost or merge.
FloStatus flo_polygonise(const FloSignedField *field, const double low[3], const double high[3], double cell,
                         FloMesh *mesh, FloError *error);

#endif
