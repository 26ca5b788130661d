#include "render/optics.h"

float flo_fresnel(float cosine, float index) {
  cosine = flo_clamp01(fabsf(cosine));
  float sine2 = (1 - cosine * cosine) / (index * index);
  if (sine2 >= 1) return 1;
  float inner = sqrtf(1 - sine2);
  float across = (cosine - index * inner) / (cosine + index * inner);
  float along = (index * cosine - inner) / (index * cosine + inner);
  return 0.5f * (across * across + along * along);
}

bool flo_refract(V3 direction, V3 normal, float index, V3 *refracted) {
  float cosine = -v3_dot(direction, normal), ratio = 1 / index;
  float sine2 = ratio * ratio * flo_maxf(0, 1 - cosine * cosine);
  if (sine2 >= 1) return false;
  V3 bent = v3_mad(v3_scale(direction, ratio), normal, ratio * cosine - sqrtf(1 - sine2));
  *refracted = v3_normalize(bent);
  return true;
}

V3 flo_mirror(V3 direction, V3 normal) { return v3_mad(direction, normal, -2 * v3_dot(direction, normal)); }

V3 flo_beer(V3 absorption, float distance) {
  return v3(expf(-absorption.x * distance), expf(-absorption.y * distance), expf(-absorption.z * distance));
}

// Light that vanishes altogether would need infinite absorption; a thousandth looks the same.
static float absorption_of(float share, float distance) {
  return -logf(flo_minf(1, flo_maxf(0.001f, share))) / distance;
}

V3 flo_absorption_of(V3 tint, float distance) {
  return v3(absorption_of(tint.x, distance), absorption_of(tint.y, distance),
            absorption_of(tint.z, distance));
}

float flo_microfacets(float light, float view, float middle, float alpha) {
  const float pi = 3.14159265f;
  if (light <= 0 || view <= 0) return 0;
  float a2 = alpha * alpha, width = middle * middle * (a2 - 1) + 1;
  float shadow = view * sqrtf(light * light * (1 - a2) + a2) + light * sqrtf(view * view * (1 - a2) + a2);
  return a2 / (pi * width * width) * 0.5f / flo_maxf(1e-6f, shadow) * light;
}
