// Closed meshes from signed fields, and triangles from outlines.
#ifndef FLO_GEOMETRY_POLYGONISE_H
#define FLO_GEOMETRY_POLYGONISE_H

#include "geometry/mesh.h"

// Negative inside; close to the surface its slope should be about one.
typedef struct FloSignedField {
  double (*value)(const void *context, const double point[3]);
  const void *context;
} FloSignedField;

// Adds the surface where the field is zero, oriented outwards, as seen by a lattice of `cell` sized cells
// over a box. What reaches out of the box is cut off there, so that the mesh is a closed 2-manifold whatever
// the field. Details smaller than a cell may be lost or merge.
FloStatus flo_polygonise(const FloSignedField *field, const double low[3], const double high[3], double cell,
                         FloMesh *mesh, FloError *error);

// Loops in a plane: one rim, counter-clockwise, and the holes in it, clockwise; they must not touch.
typedef struct FloOutline {
  const double *points;    // two coordinates each, loop by loop
  const size_t *loop_ends; // number of points up to the end of each loop
  size_t n_points, n_loops;
} FloOutline;

// Cuts the face inside an outline into triangles, three point numbers each (uint32_t), counter-clockwise and
// without further points.
FloStatus flo_outline_triangulate(const FloOutline *outline, FloMemory *memory, FloBuffer *triangles,
                                  size_t *n_triangles, FloError *error);

#endif
