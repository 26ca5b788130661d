// From raw triangles to a surface: crumbs go, bumps are smoothed away without loss of volume, normals come.
#ifndef FLO_SURFACE_POLISH_H
#define FLO_SURFACE_POLISH_H

#include "surface/extract.h"

// Parts that are smaller or thinner than this are no fluid.
typedef struct FloCrumb {
  double volume;    // [m^3]
  double thickness; // [m] twice the volume over the area, as it is of sheets
} FloCrumb;

// Drops parts below the limits, bubbles as well; numbers the others.
FloStatus flo_surface_drop_crumbs(FloSurfaceMesh *surface, FloSurfaceNotes *notes, FloCrumb limits,
                                  FloError *error);
// Smooths as the definition says, keeps every vertex inside its limits, finds normals, volume and area.
FloStatus flo_surface_polish(const FloSurfaceDef *def, FloSurfaceMesh *surface, const FloSurfaceNotes *notes,
                             FloError *error);

#endif
