// Surface tension as the length of a fluid's outline, and contact angles; see surface_links.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_LINKS_H
#define FLO_COUPLING_FORCES_SURFACE_LINKS_H

#include "coupling/forces/surface_near.h"

typedef struct FloSurfaceLinks {
  float *touches; // per fluid particle: 1 if a solid pulls it
  FloSolidPulls solids;
  FloBuffer buffer;
} FloSurfaceLinks;

// Adds forces on fluid to `force` (quadruples), and the opposite ones to those of bodies if they are used.
// Needs the neighbours of the step.
FloStatus flo_surface_links_add(FloSurfaceLinks *links, FloWorld *world, float *force, FloBodyRows *bodies,
                                FloError *error);
void flo_surface_links_free(FloSurfaceLinks *links, FloMemory *memory);

#endif
