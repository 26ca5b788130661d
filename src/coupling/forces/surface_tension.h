// Surface tension of fluids and their adhesion to solids, as explicit forces; see surface_tension.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_TENSION_H
#define FLO_COUPLING_FORCES_SURFACE_TENSION_H

#include "coupling/forces/body_rows.h"
#include "coupling/forces/surface_facets.h"
#include "coupling/forces/surface_links.h"
#include "sph/arrays.h"

// Strengths of the forces for a surface tension, or an adhesion, of 1 N/m.
typedef struct FloTensionStrengths {
  double cohesion, area, adhesion; // [N]
  double normal;                   // length of the normal at a plane surface
} FloTensionStrengths;

// surface: normal [N], and the degree to which a particle is at the surface; cohesion, adhesion: strengths of
// fluid [N]; shares: how strongly samples attract.
#define FLO_TENSION_ARRAYS(X)                                                                                \
  X(surface, FLO_SET_FLUID, 4)                                                                               \
  X(cohesion, FLO_SET_FLUID, 1)                                                                              \
  X(adhesion, FLO_SET_FLUID, 1)                                                                              \
  X(wall_share, FLO_SET_BOUNDARY, 1)                                                                         \
  X(body_share, FLO_SET_RIGID, 1)

typedef struct FloSurfaceTension {
  bool has_tension, has_adhesion; // in this step
  FloBodyRows bodies;             // wrenches: force and torque of adhesion on each node
  FloSurfaceLinks links;          // instead of cohesion, in 2D
  FloSurfaceFacets facets;        // instead of cohesion, in 3D with contact angles
  FloTensionStrengths strengths;  // zeros: not known yet
  FLO_ARRAYS(FLO_TENSION_ARRAYS);
} FloSurfaceTension;

// Whether any fluid has surface tension or adhesion.
bool flo_surface_tension_is_used(const FloWorld *world);
// The longest step in which capillary waves are stable; INFINITY without surface tension.
double flo_surface_tension_max_dt(const FloWorld *world);
// Speed of the shortest capillary waves that particles can resolve; 0 without surface tension.
double flo_surface_tension_speed(const FloWorld *world);
// Adds forces on fluid to `force` (quadruples). The forces on bodies are in the wrenches. Needs the
// neighbours and densities of the step.
FloStatus flo_surface_tension_add(FloSurfaceTension *tension, FloWorld *world, float *force, FloError *error);
// Adds the forces of the last step's fluid on walls, for blocks [begin, end) of wall samples.
void flo_surface_tension_pull_walls(const FloSurfaceTension *tension, const FloWorld *world, float *force,
                                    size_t begin, size_t end);
// A step in which nothing pulls.
void flo_surface_tension_skip(FloSurfaceTension *tension);
void flo_surface_tension_free(FloSurfaceTension *tension, FloMemory *memory);

FloTensionStrengths flo_surface_tension_strengths(const FloWorld *world);

#endif
