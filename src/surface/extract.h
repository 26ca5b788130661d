// Triangles where the level set changes its sign, with velocities.
#ifndef FLO_SURFACE_EXTRACT_H
#define FLO_SURFACE_EXTRACT_H

#include "surface/field.h"

// What later steps need to know of each vertex.
typedef struct FloSurfaceNotes {
  FloBuffer thickness; // float: 1 on thick fluid, near 0 on rims and drops
  FloBuffer part;      // uint32_t: its component of the surface
} FloSurfaceNotes;

// Fills the empty mesh, its velocities and the thickness.
FloStatus flo_surface_extract(const FloBricks *bricks, const FloSurfaceDef *def, FloSurfaceMesh *surface,
                              FloSurfaceNotes *notes, FloError *error);

#endif
