// Where a point is with respect to the surface of a solid.
#ifndef FLO_GEOMETRY_SOLID_SURFACE_H
#define FLO_GEOMETRY_SOLID_SURFACE_H

#include "geometry/solid.h"

// Signed distance to the surface; and where that is less than `reach`, the unit normal out of it. The normal
// is zero where there is none.
double flo_solid_surface(const FloSolid *solid, const double point[3], double reach, double normal[3]);
// The same, also with sharp edges of meshes. The grid of distances of a mesh rounds them off by about a cell.
// So its triangles are asked, which takes longer.
double flo_solid_sharp_surface(const FloSolid *solid, const double point[3], double normal[3]);

#endif
