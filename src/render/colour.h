// Colours: sRGB and linear light, colour maps built in a perceptual space, tone mapping.
#ifndef FLO_RENDER_COLOUR_H
#define FLO_RENDER_COLOUR_H

#include "render/v3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FloRgb8 {
  uint8_t r, g, b;
} FloRgb8;

typedef enum FloColourMap {
  FLO_MAP_WATER,  // deep blue, cyan, white: speeds
  FLO_MAP_FIELD,  // purple, blue, green, yellow with evenly rising lightness: any other quantity
  FLO_MAP_SIGNED, // blue, white, red with the middle at zero: components of vectors
  FLO_MAP_COUNT
} FloColourMap;

// The map that suits a quantity, chosen by the words in its label; NULL: water.
FloColourMap flo_colour_map_for(const char *label);

// Colour at t in 0..1 (clamped) as linear light.
V3 flo_colour_map(FloColourMap map, float t);

// Colours that tell fluids apart: the water map for the first, similar ones in other hues for the next,
// repeated after FLO_RAMPS. They end before white, where all hues are alike.
enum { FLO_RAMPS = 6 };
V3 flo_material_colour(size_t material, float t);

// The same for a fluid that has a colour of its own (linear), which is in the middle of its ramp.
V3 flo_own_colour(V3 colour, float t);

// The colour of a sample by its age as a share of the time since the start: from red for a sample that was
// just added to yellow, and grey for those of the start, whose share is 1.
V3 flo_age_colour(float share);

// The colour of a value that is not a number. No map contains it.
V3 flo_colour_warning(void);

V3 flo_linear_from_rgb8(FloRgb8 colour);
FloRgb8 flo_rgb8_from_linear(V3 colour); // clamps
// Turns linear light into a displayable colour: unchanged below 0.8, then compressed smoothly without
// changing the hue.
V3 flo_tone_map(V3 colour);

#endif
