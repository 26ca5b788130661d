// Surface tension in 3D as the area of a fluid's surface, and contact angles; see surface_facets.c.
#ifndef FLO_COUPLING_FORCES_SURFACE_FACETS_H
#define FLO_COUPLING_FORCES_SURFACE_FACETS_H

#include "coupling/forces/surface_near.h"

enum { FLO_MOST_FACETS = 16 };

// A triangle of the surface, kept by its first particle.
typedef struct FloFacet {
  uint32_t second, third;
  uint32_t sides; // 1: free on the side of (second - first) x (third - first); 2: on the other; 3: both
} FloFacet;

// An edge of two facets, kept by its first particle.
typedef struct FloRidge {
  uint32_t second;
  float turn; // angle between the facets' normals [rad]; > 0: convex
} FloRidge;

// The wetted solid that is nearest to a particle.
typedef struct FloFooting {
  bool is_near;
  FloSet set;
  size_t sample;
  double distance, normal[3]; // of the solid [m]
} FloFooting;

typedef struct FloSurfaceFacets {
  FloFacet *facets; // FLO_MOST_FACETS per fluid particle
  FloRidge *ridges;
  uint8_t *n_facets, *n_ridges;
  FloFooting *footings; // per fluid particle
  double *pull;         // triples per fluid particle [N]
  size_t n_full;        // steps in which a particle had more facets than there is room for
  FloSolidPulls solids;
  FloBuffer buffers[6];
} FloSurfaceFacets;

// Adds forces on fluid to `force` (quadruples), and the opposite ones to those of bodies if they are used.
// Needs the neighbours of the step.
FloStatus flo_surface_facets_add(FloSurfaceFacets *facets, FloWorld *world, float *force, FloBodyRows *bodies,
                                 FloError *error);
void flo_surface_facets_free(FloSurfaceFacets *facets, FloMemory *memory);

#endif
