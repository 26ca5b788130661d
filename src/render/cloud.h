// The particles of a picture, made ready to draw: unusable ones left out, values turned into colour numbers.
#ifndef FLO_RENDER_CLOUD_H
#define FLO_RENDER_CLOUD_H

#include "render/colour.h"
#include "render/render.h"

enum { FLO_TONES = 256, FLO_TONE_WARNING = 255 }; // colour numbers 0..254 span the map; 255: no usable value

typedef struct FloCloud {
  size_t count;        // of spheres: two per particle in 2D
  float (*spheres)[4]; // x, y, z, radius
  uint8_t *tones;      // colour number per sphere
  FloBounds bounds;    // of the bulk: a few strays far away do not count
  FloColourMap map;
  float low, high; // values at the ends of the map
} FloCloud;

FloStatus flo_cloud_create(const FloPictureInput *, FloCloud *, FloError *);
void flo_cloud_destroy(FloCloud *);

// The range that colours span when the caller gives none. Of a thousand values or more the outermost
// thousandth at either end is left out, so that one wild particle does not drain the picture of colour;
// speeds start at zero, signed quantities are symmetric; never empty.
void flo_value_range(const float *values, size_t n, FloColourMap map, float *low, float *high);

#endif
