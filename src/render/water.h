// The fluid of a picture: its surface as triangles, and the drops that fly alone as small balls.
#ifndef FLO_RENDER_WATER_H
#define FLO_RENDER_WATER_H

#include "render/cloud.h"
#include "render/solids.h"

// How fine the solids are that pictures keep their water out of, in spacings (see surface/walls.h).
#define FLO_WATER_FINENESS 2.0

typedef struct FloWater {
  FloSolids surface; // vertices, normals and triangles only
  V3 *tints;         // of each vertex, linear: what is left of white light after `reach`
  FloCloud drops;    // spheres only
  V3 *drop_tints;
  float spacing; // of the particles [m]
  float reach;   // [m]
} FloWater;

// Whether a particle is fluid, and not the sample of a body.
static inline bool flo_is_fluid(const FloPictureInput *input, size_t i) {
  return !input->materials || input->materials[i] != UINT16_MAX;
}

// The surface of all fluid within `bounds` and some way around, kept out of solids that are not pushed
// around. `colours` gives the map of values where the style shows them. The same for any number of threads
// (0: all cores). `memory_limit` [bytes] is for making the surface and laying it against walls; 0: none.
FloStatus flo_water_create(const FloPictureInput *, const FloCloud *colours, FloBounds bounds,
                           size_t memory_limit, int threads, FloWater *, FloError *);
// Release whatever happened.
void flo_water_destroy(FloWater *);

// The tint where a triangle was hit.
V3 flo_water_tint(const FloWater *, uint32_t triangle, float u, float v);

#endif
