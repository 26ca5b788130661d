#include "render/light.h"

#include "base/core.h"

static const float sun_strength = 0.66f; // on a facing surface
static const float sun_radius = 0.07f;   // tangent of the half angle under which it is seen
static const V3 sun_colour = {1.0f, 0.975f, 0.93f};
static const V3 zenith = {0.53f, 0.56f, 0.60f}, horizon = {0.63f, 0.64f, 0.65f},
                bounce = {0.42f, 0.42f, 0.42f};

// ---- Random numbers ----

static uint32_t scramble(uint32_t h) {
  h ^= h >> 15, h *= 0x2c1b3c6du;
  h ^= h >> 12, h *= 0x297a2d39u;
  return h ^ h >> 15;
}

// The pixels of a small block take turns in one sequence of rays. Together they sample evenly, and the noise
// that remains is too fine to be seen; independent random numbers would leave grain. The order of the turns
// is Bayer's, in which every part of the block is even, too.
FloSeed flo_pixel_seed(int x, int y) {
  static const int turns[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  uint32_t h = scramble((uint32_t)(x / 4) * 0x9e3779b9u ^ scramble((uint32_t)(y / 4) + 0x85ebca6bu));
  float angle = 2 * (float)FLO_PI * (float)(h & 0xffff) / 65536;
  return (FloSeed){turns[y & 3][x & 3], (float)(h >> 16) / 65536, cosf(angle), sinf(angle)};
}

// Steps of a sequence that fills the unit square evenly for any count: powers of the plastic number's
// inverse.
static const float radius_step = 0.7548776662f, turn_step = 0.5698402910f;

FloSky flo_sky_create(const FloTracer *tracer, V3 up, V3 sun, bool has_ground, float ground) {
  FloSky sky = {.tracer = tracer, .up = up, .sun = sun, .has_ground = has_ground, .ground = ground};
  v3_frame(sun, &sky.sun_side, &sky.sun_top);
  for (int k = 0; k < FLO_SKY_TURNS; k++) {
    float turn = turn_step * (float)k, angle = 2 * (float)FLO_PI * (turn - floorf(turn));
    sky.turns[k][0] = cosf(angle), sky.turns[k][1] = sinf(angle);
  }
  return sky;
}

// Point k of the pixel's sequence, mapped to the unit disc spanned by s and t and rotated by the pixel's
// angle. `inner` is one less its squared radius.
static inline V3 disc_point(const FloSky *sky, const FloSeed *seed, int k, V3 s, V3 t, float *inner) {
  k = seed->first + FLO_SEED_STEP * k;
  float a = seed->radius + radius_step * (float)k;
  a -= (float)(int)a;
  const float *turn = sky->turns[k % FLO_SKY_TURNS], radius = sqrtf(a);
  *inner = 1 - a;
  return v3_mad(v3_scale(s, radius * (turn[0] * seed->cos - turn[1] * seed->sin)), t,
                radius * (turn[0] * seed->sin + turn[1] * seed->cos));
}

// ---- Gathering ----

// Radiance from the surroundings along a ray, and where the ray ends: at the ground or nowhere.
static V3 surroundings(const FloSky *sky, FloRay *ray) {
  float rise = v3_dot(ray->direction, sky->up);
  ray->end = INFINITY;
  if (rise >= 0 || !sky->has_ground) return v3_mix(horizon, zenith, fabsf(rise));
  ray->end = flo_maxf(0, (sky->ground - v3_dot(ray->origin, sky->up)) / rise);
  return bounce;
}

static void gather_sky(const FloSky *sky, V3 point, V3 normal, const FloSeed *seed, int first, int n,
                       FloLight *light) {
  V3 s, t, sum = {0, 0, 0};
  int n_open = 0;
  v3_frame(normal, &s, &t);
  for (int k = 0; k < n; k++) {
    // Points of the disc, projected up to the hemisphere, are directions weighted by the cosine.
    float inner;
    V3 flat = disc_point(sky, seed, first + k, s, t, &inner);
    FloRay ray = {.origin = point, .direction = v3_mad(flat, normal, sqrtf(inner))};
    V3 radiance = surroundings(sky, &ray);
    if (flo_tracer_is_blocked(sky->tracer, &ray)) continue;
    sum = v3_add(sum, radiance);
    n_open++;
  }
  light->sky = v3_scale(sum, 1 / (float)n);
  light->open = (float)n_open / (float)n;
}

static int count_sun(const FloSky *sky, V3 point, const FloSeed *seed, int first, int n) {
  int n_open = 0;
  for (int k = 0; k < n; k++) {
    float inner;
    V3 off = disc_point(sky, seed, first + k, sky->sun_side, sky->sun_top, &inner);
    FloRay ray = {point, v3_normalize(v3_mad(sky->sun, off, sun_radius)), INFINITY};
    n_open += !flo_tracer_is_blocked(sky->tracer, &ray);
  }
  return n_open;
}

// In the soft edge of a shadow, where the rays disagree, three times as many rays are added.
static float gather_sun(const FloSky *sky, V3 point, const FloSeed *seed, int first, int n) {
  int n_open = count_sun(sky, point, seed, first, n);
  if (n_open == 0 || n_open == n) return n_open == 0 ? 0 : 1;
  n_open += count_sun(sky, point, seed, first + n, 3 * n);
  return (float)n_open / (float)(4 * n);
}

FloLight flo_gather_light(const FloSky *sky, V3 point, V3 normal, const FloSeed *seed, FloRayShare share) {
  FloLight light = {.sun = 0};
  gather_sky(sky, point, normal, seed, share.first_sky, share.n_sky, &light);
  if (v3_dot(normal, sky->sun) > 0) light.sun = gather_sun(sky, point, seed, share.first_sun, share.n_sun);
  return light;
}

// ---- Reflecting ----

V3 flo_reflect_light(const FloSky *sky, FloLight light, V3 normal, V3 view, V3 albedo, float gloss) {
  // Blocked directions are not black: neighbours of about the same colour reflect light.
  V3 passed_on = v3_scale(v3_mul(albedo, bounce), 1 - light.open);
  V3 sum = v3_mul(albedo, v3_add(light.sky, passed_on));
  float facing = v3_dot(normal, sky->sun);
  if (light.sun <= 0 || facing <= 0) return sum;
  V3 middle = v3_normalize(v3_sub(sky->sun, view));
  float shine = gloss * powf(flo_maxf(0, v3_dot(normal, middle)), 48);
  V3 reflected = v3_add(v3_scale(albedo, sun_strength * facing), v3(shine, shine, shine));
  return v3_mad(sum, v3_mul(sun_colour, reflected), light.sun);
}

float flo_ground_light(const FloSky *sky, FloLight light) {
  // The cosine-weighted mean of a sky that is linear from horizon to zenith.
  const float full_sky = horizon.y / 3 + zenith.y * 2 / 3;
  float sun = sun_strength * v3_dot(sky->up, sky->sun);
  return flo_clamp01((light.sky.y + sun * light.sun) / (full_sky + sun));
}
