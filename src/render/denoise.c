#include "render/denoise.h"

#include "base/core.h"
#include "base/parallel.h"

#include <stdlib.h>

enum { ROUNDS = 4 };

static const float brightness_width = 7.0f; // in standard deviations of the noise
static const float albedo_width = 0.10f, depth_width = 0.02f;

FloStatus flo_film_create(int width, int height, FloFilm *film, FloError *error) {
  size_t n = (size_t)width * (size_t)height;
  *film = (FloFilm){.width = width, .height = height};
  film->colours = malloc(n * sizeof *film->colours);
  film->albedos = malloc(n * sizeof *film->albedos);
  film->normals = malloc(n * sizeof *film->normals);
  film->variances = malloc(n * sizeof *film->variances);
  film->depths = malloc(n * sizeof *film->depths);
  if (film->colours && film->albedos && film->normals && film->variances && film->depths) return FLO_OK;
  flo_film_destroy(film);
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture of %d x %d", width, height);
}

void flo_film_destroy(FloFilm *film) {
  free(film->colours);
  free(film->albedos);
  free(film->normals);
  free(film->variances);
  free(film->depths);
  *film = (FloFilm){0};
}

// ---- Weights ----

// About exp(-x), but much faster and without its long tail.
static inline float falling(float x) {
  float a = flo_maxf(0, 1 - 0.25f * x);
  a *= a;
  return a * a;
}

static inline float length2(V3 a) { return v3_dot(a, a); }

// How alike the surfaces of two pixels are: 1 for the same surface, 0 for surfaces that have nothing in
// common.
static inline float likeness(const FloFilm *film, size_t i, size_t j, float step) {
  float a = film->depths[i], b = film->depths[j];
  bool is_sky = !isfinite(a);
  if (is_sky != !isfinite(b)) return 0;
  float albedo = length2(v3_sub(film->albedos[i], film->albedos[j])) / (albedo_width * albedo_width);
  if (is_sky) return falling(albedo);
  float depth = fabsf(a - b) / (depth_width * step * flo_minf(a, b));
  float normal = 1 - v3_dot(film->normals[i], film->normals[j]);
  return falling(albedo + depth + 24 * normal);
}

// ---- Rounds ----

// Variances are noisy themselves, so their mean over 5 x 5 pixels is used.
static void smooth_variances(const FloFilm *film, int y, float *out) {
  for (int x = 0; x < film->width; x++) {
    float sum = 0, count = 0;
    for (int v = y > 1 ? y - 2 : 0; v <= y + 2 && v < film->height; v++)
      for (int u = x > 1 ? x - 2 : 0; u <= x + 2 && u < film->width; u++)
        sum += film->variances[(size_t)v * (size_t)film->width + (size_t)u], count++;
    out[(size_t)y * (size_t)film->width + (size_t)x] = sum / count;
  }
}

typedef struct Round {
  const FloFilm *film;
  const V3 *from;
  const float *variances;
  V3 *to;
  float *variances_to;
  int step;
} Round;

static void filter_pixel(const Round *r, int x, int y) {
  static const float kernel[3] = {0.25f, 0.5f, 0.25f};
  const FloFilm *film = r->film;
  const size_t i = (size_t)y * (size_t)film->width + (size_t)x;
  const float own = flo_brightness(r->from[i]), width2 = 0.5f * brightness_width * brightness_width;
  V3 sum = {0, 0, 0};
  float total = 0, variance = 0;
  for (int v = -1; v <= 1; v++)
    for (int u = -1; u <= 1; u++) {
      int at_x = x + u * r->step, at_y = y + v * r->step;
      if (at_x < 0 || at_y < 0 || at_x >= film->width || at_y >= film->height) continue;
      size_t j = (size_t)at_y * (size_t)film->width + (size_t)at_x;
      float weight = kernel[u + 1] * kernel[v + 1];
      if (j != i) {
        // The noise of both pixels counts, because a pixel next to the soft edge of a shadow may have none.
        float noise2 = width2 * (r->variances[i] + r->variances[j]) + 1e-9f;
        float off = flo_brightness(r->from[j]) - own;
        weight *= falling(off * off / noise2) * likeness(film, i, j, (float)r->step);
      }
      sum = v3_mad(sum, r->from[j], weight);
      total += weight, variance += weight * weight * r->variances[j];
    }
  r->to[i] = v3_scale(sum, 1 / total); // the pixel itself always counts
  r->variances_to[i] = variance / (total * total);
}

static void run_rounds(FloFilm *film, V3 *colours, float *variances, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int y = 0; y < film->height; y++) smooth_variances(film, y, variances);
  V3 *from = film->colours, *to = colours;
  float *noise = variances, *noise_to = film->variances;
  for (int k = 0; k < ROUNDS; k++) {
    const Round round = {film, from, noise, to, noise_to, 1 << k};
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int y = 0; y < film->height; y++)
      for (int x = 0; x < film->width; x++) filter_pixel(&round, x, y);
    V3 *swap = from;
    from = to, to = swap;
    float *noise_swap = noise;
    noise = noise_to, noise_to = noise_swap;
  }
  FLO_ASSERT(from == film->colours); // an even number of rounds
}

FloStatus flo_film_denoise(FloFilm *film, int threads, FloError *error) {
  size_t n = (size_t)film->width * (size_t)film->height;
  V3 *colours = malloc(n * sizeof *colours);
  float *variances = malloc(n * sizeof *variances);
  bool has_memory = colours && variances;
  if (has_memory)
    run_rounds(film, colours, variances, threads > 0 ? threads : flo_parallel_default_threads());
  free(colours);
  free(variances);
  if (has_memory) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY, "no memory to smooth a picture of %d x %d", film->width,
                  film->height);
}
