// From raw triangles to a surface: crumbs go, bumps are smoothed away without loss of volume, normals come.
#ifndef FLO_SURFACE_POLISH_H
#define FLO_SURFACE_POLISH_H

#include "surface/extract.h"

// Drops parts whose volume is less than `least` [m^3], bubbles as well; numbers the others.
FloStatus flo_surface_drop_crumbs(FloSurfaceMesh *surface, FloSurfaceNotes *notes, double least,
                                  FloError *error);
// Smooths as the definition says, keeps every vertex inside its limits, finds normals, volume and area.
FloStatus flo_surface_polish(const FloSurfaceDef *def, FloSurfaceMesh *surface, const FloSurfaceNotes *notes,
                             FloError *error);

#endif
