// Surface tension of fluids and their adhesion to solids, as explicit forces; see surface_tension.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_TENSION_H
#define FLO_COUPLING_FORCES_SURFACE_TENSION_H

#include "coupling/forces/body_rows.h"

// Of the forces that make a surface tension, or an adhesion, of 1 N/m.
typedef struct FloTensionStrengths {
  double cohesion, area, adhesion; // [N]
  double normal;                   // length of the normal at a plane surface
} FloTensionStrengths;

typedef struct FloSurfaceTension {
  bool has_tension, has_adhesion; // in this step
  FloBodyRows bodies;             // wrenches: what adhesion does to each body
  FloTensionStrengths strengths;  // zeros: not known yet
  float *surface;                 // quadruples per fluid particle: normal [N], how much it is at the surface
  float *cohesion, *adhesion;     // strengths per fluid particle [N]
  float *wall_share, *body_share; // how strongly samples pull
  FloBuffer buffers[5];
} FloSurfaceTension;

// Whether any fluid has surface tension or adhesion.
bool flo_surface_tension_is_used(const FloWorld *world);
// The longest step in which capillary waves are stable; INFINITY without surface tension.
double flo_surface_tension_max_dt(const FloWorld *world);
// Of the shortest capillary waves that particles can show; 0 without surface tension.
double flo_surface_tension_speed(const FloWorld *world);
// Adds forces on fluid to `force` (quadruples) and leaves those on bodies in the wrenches. Needs the
// neighbours and the densities of the step.
FloStatus flo_surface_tension_add(FloSurfaceTension *tension, FloWorld *world, float *force, FloError *error);
// Adds what the fluid of the last step does to walls: blocks [begin, end) of the rows of walls.
void flo_surface_tension_pull_walls(const FloSurfaceTension *tension, const FloWorld *world, float *force,
                                    size_t begin, size_t end);
void flo_surface_tension_free(FloSurfaceTension *tension, FloMemory *memory);

FloTensionStrengths flo_surface_tension_strengths(const FloWorld *world);

#endif
