// Patches of a bending sheet: which angles between triangles make up the curvature of a triangle.
#ifndef FLO_SOFT_BENDING_PATCH_H
#define FLO_SOFT_BENDING_PATCH_H

#include "geometry/mesh.h"
#include "soft/element.h"
#include "soft/sheet.h"

enum { FLO_BEND_HINGES = 9, FLO_BEND_VERTICES = 12 };

#define FLO_BEND_NONE UINT32_MAX

// An edge from a to b with the far vertices p and q on its two sides.
typedef struct FloHinge {
  const double *a, *b, *p, *q;
} FloHinge;

double flo_hinge_angle(const FloHinge *hinge);

// The energy of a triangle is a quadratic form of the angles of its hinges.
typedef struct FloBendPatch {
  int n;                                       // hinges
  uint8_t corners[FLO_BEND_HINGES][4];         // a, b, p, q of each, as places in the vertices of the element
  double rest[FLO_BEND_HINGES];                // angles at rest
  double q[FLO_BEND_HINGES * FLO_BEND_HINGES]; // [N m]
} FloBendPatch;

// One side of a triangle; side k leads from corner k to the next.
typedef struct FloBendSide {
  uint32_t partner; // the side of another triangle that continues it; FLO_BEND_NONE: a free edge
  double rest;      // angle at rest
  double length;    // [m]
  double normal[3]; // outwards in the plane of the triangle: n_x^2, n_y^2, 2 n_x n_y
  double free[3];   // angle of the hinge for each unit of curvature K_xx, K_yy, 2 K_xy [m]
  double own[3];    // part of it between the triangle and the edge [m]
} FloBendSide;

// What patches are made from.
typedef struct FloBendSheet {
  FloSheet sheet;
  const double *x;           // at rest; not kept
  size_t n;                  // triangles
  const uint32_t *triangles; // three vertices each
  FloBendSide *sides;        // three for each triangle
  double *areas;             // [m^2]
  bool is_even;              // a triangle and its three neighbours are enough, since all vertices are alike
} FloBendSheet;

// Fills sides, areas and is_even.
FloStatus flo_bend_measure(FloBendSheet *sheet, FloMemory *memory, FloError *error);
// Hinges of the patch of a triangle and the vertices of its element. Returns the number of vertices.
size_t flo_bend_gather(const FloBendSheet *sheet, size_t triangle, FloBendPatch *patch, uint32_t *vertices);
// The form q, which depends on the vertices that are fixed.
void flo_bend_weigh(const FloBendSheet *sheet, size_t triangle, const bool *fixed, FloBendPatch *patch);

#endif
