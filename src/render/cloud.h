// The particles of a picture, ready to draw. Particles without finite positions are left out, and values are
// turned into colour numbers.
#ifndef FLO_RENDER_CLOUD_H
#define FLO_RENDER_CLOUD_H

#include "render/colour.h"
#include "render/render.h"

// Colour numbers: FLO_RAMP_TONES for each ramp, and as many for ages. The last of each ramp means that there
// is no usable value.
enum {
  FLO_RAMP_TONES = 256,
  FLO_FIRST_AGE_TONE = FLO_RAMPS * FLO_RAMP_TONES,
  FLO_TONES = FLO_FIRST_AGE_TONE + FLO_RAMP_TONES,
  FLO_TONE_WARNING = FLO_RAMP_TONES - 1
};

typedef struct FloCloud {
  size_t count;        // of spheres: two per particle in 2D
  float (*spheres)[4]; // x, y, z, radius
  uint16_t *tones;     // colour number per sphere
  FloBounds bounds;    // of the bulk, without a few particles far away
  FloColourMap map;
  bool has_ramps;    // a ramp of colours for each material instead of the map
  V3 own[FLO_RAMPS]; // the colours of materials that have one, linear; zeros: none
  float low, high;   // values at the ends of the map
} FloCloud;

// The colour of a tone.
V3 flo_cloud_colour(const FloCloud *, size_t tone);
// The colour at `share` 0..1 of the ramp of a material.
V3 flo_cloud_ramp(const FloCloud *, size_t material, float share);
// The colour that a particle of the input has in the cloud.
V3 flo_cloud_tone(const FloPictureInput *, const FloCloud *, size_t particle);
// The place 0..1 of a fluid without values on the ramp of its material.
#define FLO_PLAIN_SHARE 0.38f

FloStatus flo_cloud_create(const FloPictureInput *, FloCloud *, FloError *);
void flo_cloud_destroy(FloCloud *);

// The range of the colours if the caller gives none. Of a thousand values or more, the lowest and the highest
// thousandth are left out, so that one extreme particle does not make all others look alike. Speeds start at
// zero, and signed quantities are symmetric. The range is never empty.
void flo_value_range(const float *values, size_t n, FloColourMap map, float *low, float *high);

#endif
