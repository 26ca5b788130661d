// Animals made of blended round parts. Up is z, they look along +x, and the origin is the middle of their
// bounding box. Sizes are those of the smooth body; coarse nets cut off its thinnest tips. Generators add to
// a mesh, which must be initialised.
#ifndef FLO_GEOMETRY_FIGURES_H
#define FLO_GEOMETRY_FIGURES_H

#include "geometry/implicit.h"
#include "geometry/mesh.h"

typedef enum FloFigure {
  FLO_FIGURE_DUCK,
  FLO_FIGURE_RABBIT,
  FLO_FIGURE_ARMADILLO,
  FLO_FIGURE_COUNT
} FloFigure;

// A good fineness as a share of the length or height: with it the duck has about 2000 triangles.
#define FLO_FIGURE_FINENESS 0.05

// The primitives that a figure is made of, in units of their own.
FloImplicit flo_figure_implicit(FloFigure figure);

// A bath duck; `length` is measured from tail to bill. `fineness`: see solid_meshes.h. It is limited so that
// no part gets lost: to at least 1/143 of the length or height and at most 1/19 (duck), 1/25 (rabbit) or 1/27
// (armadillo) of it.
FloStatus flo_mesh_duck(double length, double fineness, FloMesh *mesh, FloError *error);
// Sits; `height` includes the ears.
FloStatus flo_mesh_rabbit(double height, double fineness, FloMesh *mesh, FloError *error);
// Stands upright with its arms raised.
FloStatus flo_mesh_armadillo(double height, double fineness, FloMesh *mesh, FloError *error);

#endif
