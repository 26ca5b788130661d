// Light that reaches a point: a bright sky, the ground's reflection of it, and a soft sun.
//
// Sky and sun are sampled with rays. Their random numbers depend only on the pixel's position, so a picture
// is the same however threads share its pixels.
#ifndef FLO_RENDER_LIGHT_H
#define FLO_RENDER_LIGHT_H

#include "render/tracer.h"

enum { FLO_SKY_TURNS = 2048, FLO_SEED_STEP = 16 };

typedef struct FloSky {
  const FloTracer *tracer;
  V3 up;
  bool has_ground;
  float ground;                  // its height along `up`
  V3 sun, sun_side, sun_top;     // direction of the sun, and two across it
  float turns[FLO_SKY_TURNS][2]; // cosine and sine of the angles by which rays are spread
} FloSky;

typedef struct FloLight {
  V3 sky;     // light of sky and ground, weighted by the cosine
  float open; // share 0..1 of the hemisphere in sight
  float sun;  // share 0..1 of the sun's disc in sight
} FloLight;

// Where the random numbers of a pixel start.
typedef struct FloSeed {
  int first;      // of every FLO_SEED_STEP numbers, this one is the pixel's
  float radius;   // 0..1
  float cos, sin; // of an angle
} FloSeed;

// Which rays to send: numbers first .. first + n of the pixel's sequence.
typedef struct FloRayShare {
  int first_sky, n_sky, first_sun, n_sun;
} FloRayShare;

// Sky over a scene, lit from `sun` (of length one).
FloSky flo_sky_create(const FloTracer *, V3 up, V3 sun, bool has_ground, float ground);

FloSeed flo_pixel_seed(int x, int y);

// `point` must lie a little off its surface.
FloLight flo_gather_light(const FloSky *, V3 point, V3 normal, const FloSeed *, FloRayShare);

// Light that leaves a matt surface with a slight shine. `view` is the direction of the viewing ray.
V3 flo_reflect_light(const FloSky *, FloLight, V3 normal, V3 view, V3 albedo, float gloss);

// Share 0..1 of full daylight that reaches level ground.
float flo_ground_light(const FloSky *, FloLight);

#endif
