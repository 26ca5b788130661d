// The fluid of a picture: its surface as triangles, and the drops that fly alone as small balls.
#ifndef FLO_RENDER_WATER_H
#define FLO_RENDER_WATER_H

#include "render/cloud.h"
#include "render/solids.h"

// Fineness, in spacings, of the solids that keep water out in pictures (see surface/walls.h).
#define FLO_WATER_FINENESS 2.0

typedef struct FloWater {
  FloSolids surface; // vertices, normals and triangles only
  V3 *tints;         // of each vertex, linear: what remains of white light after `reach`
  FloCloud drops;    // spheres only
  V3 *drop_tints;
  float spacing; // of the particles [m]
  float reach;   // [m]
} FloWater;

// Whether a particle is fluid, and not the sample of a body.
static inline bool flo_is_fluid(const FloPictureInput *input, size_t i) {
  return !input->materials || input->materials[i] != UINT16_MAX;
}

// Makes the surface of all fluid within `bounds` and somewhat beyond, kept out of walls. `colours` gives the
// map of values if the style shows them. The result is the same for any number of threads (0: all cores).
// `memory_limit` [bytes] is for making the surface and fitting it to walls; 0: none.
FloStatus flo_water_create(const FloPictureInput *, const FloCloud *colours, FloBounds bounds,
                           size_t memory_limit, int threads, FloWater *, FloError *);
// Must be called also after a failure.
void flo_water_destroy(FloWater *);

// The tint where a triangle was hit.
V3 flo_water_tint(const FloWater *, uint32_t triangle, float u, float v);

#endif
