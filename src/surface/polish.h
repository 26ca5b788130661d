// Turns raw triangles into a surface: removes crumbs, smooths bumps without loss of volume, finds normals.
#ifndef FLO_SURFACE_POLISH_H
#define FLO_SURFACE_POLISH_H

#include "surface/extract.h"

// Limits: smaller or thinner parts are not fluid.
typedef struct FloCrumb {
  double volume;    // [m^3]
  double thickness; // [m] of a part: twice its volume over its area, as for a sheet
} FloCrumb;

// Drops parts below the limits, also bubbles, and numbers the others.
FloStatus flo_surface_drop_crumbs(FloSurfaceMesh *surface, FloSurfaceNotes *notes, FloCrumb limits,
                                  FloError *error);
// Smooths as the definition says, keeps every vertex inside its limits, finds normals, volume and area.
FloStatus flo_surface_polish(const FloSurfaceDef *def, FloSurfaceMesh *surface, const FloSurfaceNotes *notes,
                             FloError *error);

#endif
