// Surface tension as the length of a fluid's outline, and contact angles; see surface_links.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_LINKS_H
#define FLO_COUPLING_FORCES_SURFACE_LINKS_H

#include "coupling/forces/body_rows.h"

typedef struct FloSurfaceLinks {
  bool has_contacts; // solids have pulled fluid in this step
  float *touches;    // per fluid particle: 1 if a solid pulls it
  float *wall_force; // quadruples per wall sample: the opposite pull [N]
  FloBuffer buffers[2];
} FloSurfaceLinks;

// Contact angle of a fluid material at a body [rad]: the body's, or else the fluid's, or else 180 degrees.
double flo_contact_angle(const FloMaterial *fluid, const FloBody *body);
// Whether a fluid or a body has a contact angle.
bool flo_surface_links_wets(const FloWorld *world);
// Adds forces on fluid to `force` (quadruples), and the opposite ones to those of bodies if they are used.
// Needs the neighbours of the step.
FloStatus flo_surface_links_add(FloSurfaceLinks *links, FloWorld *world, float *force, FloBodyRows *bodies,
                                FloError *error);
// Adds the opposite forces on walls, for blocks [begin, end) of wall samples.
void flo_surface_links_pull_walls(const FloSurfaceLinks *links, const FloWorld *world, float *force,
                                  size_t begin, size_t end);
void flo_surface_links_free(FloSurfaceLinks *links, FloMemory *memory);

#endif
