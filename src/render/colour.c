// Colour maps are designed in Oklab (B. Ottosson, "A perceptual color space for image processing", 2020).
// Straight lines in it look evenly spaced to the eye, so equal steps of a value give equal steps of colour.
#include "render/colour.h"

#include "base/core.h"

#include <ctype.h>
#include <string.h>

static float linear_from_srgb(float c) {
  return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}
static float srgb_from_linear(float c) {
  return c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1 / 2.4f) - 0.055f;
}

V3 flo_linear_from_rgb8(FloRgb8 c) {
  return v3(linear_from_srgb(c.r / 255.0f), linear_from_srgb(c.g / 255.0f), linear_from_srgb(c.b / 255.0f));
}

static uint8_t byte_from_linear(float c) { return (uint8_t)(255 * srgb_from_linear(flo_clamp01(c)) + 0.5f); }

FloRgb8 flo_rgb8_from_linear(V3 c) {
  return (FloRgb8){byte_from_linear(c.x), byte_from_linear(c.y), byte_from_linear(c.z)};
}

// All channels are scaled by the factor of the largest one, so that a bright blue stays blue instead of
// turning white.
V3 flo_tone_map(V3 c) {
  const float knee = 0.8f, room = 1 - knee;
  float peak = flo_maxf(c.x, flo_maxf(c.y, c.z));
  if (peak <= knee) return c;
  float excess = (peak - knee) / room;
  return v3_scale(c, (knee + room * excess / (1 + excess)) / peak);
}

// ---- Oklab ----

static V3 oklab_from_linear(V3 c) {
  float l = cbrtf(0.4122214708f * c.x + 0.5363325363f * c.y + 0.0514459929f * c.z);
  float m = cbrtf(0.2119034982f * c.x + 0.6806995451f * c.y + 0.1073969566f * c.z);
  float s = cbrtf(0.0883024619f * c.x + 0.2817188376f * c.y + 0.6299787005f * c.z);
  return v3(0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
            1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
            0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s);
}

static V3 linear_from_oklab(V3 lab) {
  float l = lab.x + 0.3963377774f * lab.y + 0.2158037573f * lab.z;
  float m = lab.x - 0.1055613458f * lab.y - 0.0638541728f * lab.z;
  float s = lab.x - 0.0894841775f * lab.y - 1.2914855480f * lab.z;
  l = l * l * l, m = m * m * m, s = s * s * s;
  V3 c = v3(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
            -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
            -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s);
  return v3_max(c, v3(0, 0, 0));
}

// ---- Maps ----

// Control colours at even steps, interpolated in Oklab with a Catmull-Rom spline, so that no kink is visible.
static V3 spline_map(const FloRgb8 *colours, int n, float t) {
  float place = t * (float)(n - 1);
  int cell = place >= (float)(n - 1) ? n - 2 : (int)place;
  float u = place - (float)cell;
  V3 p[4];
  for (int k = 0; k < 4; k++) {
    int i = cell + k - 1;
    p[k] = oklab_from_linear(flo_linear_from_rgb8(colours[i < 0 ? 0 : i >= n ? n - 1 : i]));
  }
  V3 slope0 = v3_scale(v3_sub(p[2], p[0]), 0.5f), slope1 = v3_scale(v3_sub(p[3], p[1]), 0.5f);
  V3 step = v3_sub(p[2], p[1]);
  V3 quadratic = v3_sub(v3_scale(step, 3), v3_mad(slope1, slope0, 2));
  V3 cubic = v3_mad(v3_add(slope0, slope1), step, -2);
  V3 lab = v3_mad(v3_mad(v3_mad(p[1], slope0, u), quadratic, u * u), cubic, u * u * u);
  return linear_from_oklab(lab);
}

static const FloRgb8 water_colours[] = {{18, 66, 148},   {16, 94, 182},   {26, 130, 210}, {58, 168, 226},
                                        {118, 206, 235}, {184, 232, 243}, {240, 252, 254}};
static const FloRgb8 signed_colours[] = {{22, 56, 140},   {58, 122, 196}, {150, 196, 228}, {246, 246, 244},
                                         {242, 170, 136}, {212, 84, 66},  {132, 18, 44}};

// The water map in other hues, for further fluids.
static const FloRgb8 ramps[FLO_RAMPS - 1][7] = {
    {{112, 46, 6},
     {164, 76, 8},
     {208, 114, 18},
     {236, 154, 48},
     {247, 194, 104},
     {252, 226, 170},
     {255, 249, 238}},
    {{6, 82, 58},
     {12, 114, 74},
     {34, 148, 90},
     {82, 182, 118},
     {144, 212, 160},
     {200, 234, 206},
     {246, 253, 247}},
    {{76, 34, 124},
     {106, 58, 160},
     {136, 88, 192},
     {168, 124, 214},
     {200, 164, 230},
     {226, 204, 242},
     {251, 247, 254}},
    {{122, 20, 52},
     {164, 36, 70},
     {202, 66, 92},
     {226, 110, 126},
     {240, 158, 166},
     {248, 206, 208},
     {254, 246, 246}},
    {{78, 74, 18},
     {110, 104, 26},
     {146, 140, 46},
     {180, 174, 84},
     {208, 204, 136},
     {232, 230, 192},
     {252, 252, 244}},
};

// Lightness rises linearly while the hue turns from violet over blue and green to yellow. Chroma is a cubic
// that stays within what screens can show.
static V3 field_map(float t) {
  float lightness = 0.30f + 0.61f * t;
  float hue = (float)FLO_PI / 180 * (306 - t * (58 + t * (140 - 2 * t)));
  float chroma = 0.105f + t * (0.11f + t * (-0.28f + 0.235f * t));
  return linear_from_oklab(v3(lightness, chroma * cosf(hue), chroma * sinf(hue)));
}

V3 flo_colour_map(FloColourMap map, float t) {
  t = flo_clamp01(t);
  if (map == FLO_MAP_WATER) return spline_map(water_colours, FLO_COUNT_OF(water_colours), t);
  if (map == FLO_MAP_SIGNED) return spline_map(signed_colours, FLO_COUNT_OF(signed_colours), t);
  return field_map(t);
}

V3 flo_material_colour(size_t material, float t) {
  const float shortened = 0.84f * flo_clamp01(t);
  size_t ramp = material % FLO_RAMPS;
  if (ramp == 0) return spline_map(water_colours, FLO_COUNT_OF(water_colours), shortened);
  return spline_map(ramps[ramp - 1], FLO_COUNT_OF(ramps[0]), shortened);
}

V3 flo_own_colour(V3 colour, float t) {
  const float place = 2 * flo_clamp01(t) - 1;
  const V3 dark = v3_scale(colour, 0.4f), white = v3(1, 1, 1);
  return place < 0 ? v3_mix(colour, dark, -place) : v3_mix(colour, white, 0.8f * place);
}

V3 flo_age_colour(float share) {
  static const FloRgb8 young[] = {{196, 20, 28}, {226, 88, 30}, {238, 160, 52}}, first = {206, 212, 216};
  return share < 1 ? spline_map(young, FLO_COUNT_OF(young), flo_clamp01(share)) : flo_linear_from_rgb8(first);
}

V3 flo_colour_warning(void) { return flo_linear_from_rgb8((FloRgb8){255, 0, 160}); }

static bool label_has(const char *label, const char *word) {
  size_t length = strlen(word);
  for (; *label; label++) {
    size_t k = 0;
    while (k < length && tolower((unsigned char)label[k]) == word[k]) k++;
    if (k == length) return true;
  }
  return false;
}

FloColourMap flo_colour_map_for(const char *label) {
  if (!label || label_has(label, "speed")) return FLO_MAP_WATER;
  const bool is_signed =
      label_has(label, "velocity") || label_has(label, "vorticity") || label_has(label, "error");
  return is_signed ? FLO_MAP_SIGNED : FLO_MAP_FIELD;
}
