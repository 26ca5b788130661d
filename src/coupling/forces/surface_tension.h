// Surface tension of fluids and their adhesion to solids, as explicit forces; see surface_tension.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_TENSION_H
#define FLO_COUPLING_FORCES_SURFACE_TENSION_H

#include "coupling/forces/body_rows.h"
#include "sph/arrays.h"

// Of the forces that make a surface tension, or an adhesion, of 1 N/m.
typedef struct FloTensionStrengths {
  double cohesion, area, adhesion; // [N]
  double normal;                   // length of the normal at a plane surface
} FloTensionStrengths;

// surface: normal [N], and how much a particle is at the surface; cohesion, adhesion: strengths of fluid [N];
// shares: how strongly samples pull.
#define FLO_TENSION_ARRAYS(X)                                                                                \
  X(surface, FLO_SET_FLUID, 4)                                                                               \
  X(cohesion, FLO_SET_FLUID, 1)                                                                              \
  X(adhesion, FLO_SET_FLUID, 1)                                                                              \
  X(wall_share, FLO_SET_BOUNDARY, 1)                                                                         \
  X(body_share, FLO_SET_RIGID, 1)

typedef struct FloSurfaceTension {
  bool has_tension, has_adhesion; // in this step
  FloBodyRows bodies;             // wrenches: what adhesion does to each node
  FloTensionStrengths strengths;  // zeros: not known yet
  FLO_ARRAYS(FLO_TENSION_ARRAYS);
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
