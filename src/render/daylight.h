// The light of path traced pictures: a sky that is brightest at the horizon, a soft lamp, and a pale ground.
//
// A white matt surface that receives all of the light has the brightness sky + lamp. The factor pi of the
// cosine's integral is left out everywhere.
#ifndef FLO_RENDER_DAYLIGHT_H
#define FLO_RENDER_DAYLIGHT_H

#include "render/v3.h"

#include <stdbool.h>

typedef struct FloDaylight {
  V3 up;
  V3 zenith, horizon; // radiance of the sky
  V3 lamp, side, top; // direction of the lamp, and two across it
  V3 lamp_strength;   // on a surface that faces it
  float lamp_radius;  // sine of the half angle under which it is seen
  bool has_ground;
  float ground;       // its height along `up`
  V3 ground_radiance; // where it has no shadow
} FloDaylight;

// Daylight from the direction `lamp`.
FloDaylight flo_daylight_create(V3 up, V3 lamp, bool has_ground, float ground);
// The same radiance from everywhere. A white surface must then show this radiance, which tests use.
FloDaylight flo_daylight_even(float radiance);

V3 flo_daylight_sky(const FloDaylight *, V3 direction);
// The lamp's own brightness in a direction, with a soft rim.
V3 flo_daylight_lamp(const FloDaylight *, V3 direction);
// A direction towards the lamp from two numbers in [0, 1).
V3 flo_daylight_towards_lamp(const FloDaylight *, const float pair[2]);
// The light on open level ground.
V3 flo_daylight_on_ground(const FloDaylight *);
// Distance to the ground along a ray; INFINITY where there is none.
float flo_daylight_ground_distance(const FloDaylight *, V3 origin, V3 direction);

// A direction about `axis` from two numbers in [0, 1), weighted by the cosine.
V3 flo_cosine_direction(V3 axis, const float pair[2]);

#endif
