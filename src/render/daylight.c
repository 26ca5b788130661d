#include "render/daylight.h"

#include "base/core.h"

static const V3 sky_zenith = {0.40f, 0.51f, 0.66f}, sky_horizon = {0.74f, 0.78f, 0.82f};
static const V3 lamp_strength = {0.80f, 0.76f, 0.69f};
static const float lamp_radius = 0.17f;
static const V3 ground_radiance = {0.74f, 0.78f, 0.82f};

FloDaylight flo_daylight_create(V3 up, V3 lamp, bool has_ground, float ground) {
  FloDaylight light = {.up = up,
                       .zenith = sky_zenith,
                       .horizon = sky_horizon,
                       .lamp = lamp,
                       .lamp_strength = lamp_strength,
                       .lamp_radius = lamp_radius,
                       .has_ground = has_ground,
                       .ground = ground,
                       .ground_radiance = ground_radiance};
  v3_frame(lamp, &light.side, &light.top);
  return light;
}

FloDaylight flo_daylight_even(float radiance) {
  V3 even = v3(radiance, radiance, radiance);
  FloDaylight light = flo_daylight_create(v3(0, 0, 1), v3(0, 0, 1), false, 0);
  light.zenith = light.horizon = light.ground_radiance = even;
  light.lamp_strength = v3(0, 0, 0);
  return light;
}

// Without ground the sky continues below, as pale as at the horizon.
V3 flo_daylight_sky(const FloDaylight *light, V3 direction) {
  float rise = flo_clamp01(v3_dot(direction, light->up));
  return v3_mix(light->horizon, light->zenith, sqrtf(rise));
}

V3 flo_daylight_lamp(const FloDaylight *light, V3 direction) {
  float cosine = v3_dot(direction, light->lamp);
  if (cosine <= 0) return v3(0, 0, 0);
  float r2 = light->lamp_radius * light->lamp_radius, off2 = flo_maxf(0, 1 - cosine * cosine) / r2;
  // The soft rim is even about the radius, so the light is that of a disc of this radius with a sharp rim.
  float share = 1 - flo_smooth_step(0.5f, 1.5f, off2);
  return share <= 0 ? v3(0, 0, 0) : v3_scale(light->lamp_strength, share / r2);
}

V3 flo_daylight_towards_lamp(const FloDaylight *light, const float pair[2]) {
  float angle = 2 * (float)FLO_PI * pair[1], r = light->lamp_radius * sqrtf(pair[0]);
  V3 off = v3_mad(v3_scale(light->side, r * cosf(angle)), light->top, r * sinf(angle));
  return v3_normalize(v3_add(light->lamp, off));
}

V3 flo_daylight_on_ground(const FloDaylight *light) {
  // The mean of the sky weighted by the cosine. The sky changes with the square root of the rise, whose
  // weighted mean is 4/5.
  V3 sky = v3_mix(light->horizon, light->zenith, 0.8f);
  return v3_mad(sky, light->lamp_strength, flo_maxf(0, v3_dot(light->up, light->lamp)));
}

float flo_daylight_ground_distance(const FloDaylight *light, V3 origin, V3 direction) {
  float fall = -v3_dot(direction, light->up);
  if (!light->has_ground || fall <= 0) return INFINITY;
  return flo_maxf(0, (v3_dot(origin, light->up) - light->ground) / fall);
}

V3 flo_cosine_direction(V3 axis, const float pair[2]) {
  V3 s, t;
  v3_frame(axis, &s, &t);
  float angle = 2 * (float)FLO_PI * pair[1], r = sqrtf(pair[0]);
  V3 flat = v3_mad(v3_scale(s, r * cosf(angle)), t, r * sinf(angle));
  return v3_mad(flat, axis, sqrtf(flo_maxf(0, 1 - pair[0])));
}
