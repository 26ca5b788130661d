// The particles of a picture, made ready to draw: unusable ones left out, values turned into colour numbers.
#ifndef FLO_RENDER_CLOUD_H
#define FLO_RENDER_CLOUD_H

#include "render/colour.h"
#include "render/render.h"

// Colour numbers: FLO_RAMP_TONES for each ramp, of which the last means that there is no usable value.
enum { FLO_RAMP_TONES = 256, FLO_TONES = FLO_RAMPS * FLO_RAMP_TONES, FLO_TONE_WARNING = FLO_RAMP_TONES - 1 };

typedef struct FloCloud {
  size_t count;        // of spheres: two per particle in 2D
  float (*spheres)[4]; // x, y, z, radius
  uint16_t *tones;     // colour number per sphere
  FloBounds bounds;    // of the bulk: a few strays far away do not count
  FloColourMap map;
  bool has_ramps;  // a ramp of colours for each material instead of the map
  float low, high; // values at the ends of the map
} FloCloud;

// The colour of a tone.
V3 flo_cloud_colour(const FloCloud *, size_t tone);
// The colour that a particle of the input has in it.
V3 flo_cloud_tone(const FloPictureInput *, const FloCloud *, size_t particle);
// Where a fluid without values stands on its material's ramp, 0..1.
#define FLO_PLAIN_SHARE 0.38f

FloStatus flo_cloud_create(const FloPictureInput *, FloCloud *, FloError *);
void flo_cloud_destroy(FloCloud *);

// The range that colours span when the caller gives none. Of a thousand values or more the outermost
// thousandth at either end is left out, so that one wild particle does not drain the picture of colour;
// speeds start at zero, signed quantities are symmetric; never empty.
void flo_value_range(const float *values, size_t n, FloColourMap map, float *low, float *high);

#endif
