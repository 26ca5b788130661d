#include "render/cloud.h"

#include "base/core.h"

#include <stdlib.h>

// Beyond this, squares of coordinates leave the range of a float.
static const float far_away = 1e12f;

static bool is_usable(const float *p) {
  return fabsf(p[0]) < far_away && fabsf(p[1]) < far_away && fabsf(p[2]) < far_away; // false for NaN, too
}

// ---- Ends of a distribution ----

enum { max_sample = 8000, min_sample = 1000 };

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

typedef struct Ends {
  float low, high;           // of all finite values
  float low_bulk, high_bulk; // without the outermost `share` at either end
} Ends;

// Finds the extremes of all values, and the bulk from an even sample, which is sorted. `stride` is in floats.
static Ends find_ends(const float *values, size_t n, size_t stride, float share) {
  Ends ends = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  float sample[max_sample];
  size_t n_sample = 0, every = n / max_sample + 1;
  for (size_t i = 0; i < n; i++) {
    float value = values[i * stride];
    if (!isfinite(value)) continue;
    ends.low = fminf(ends.low, value), ends.high = fmaxf(ends.high, value);
    if (i % every == 0) sample[n_sample++] = value;
  }
  ends.low_bulk = ends.low, ends.high_bulk = ends.high;
  if (n_sample < min_sample) return ends;
  qsort(sample, n_sample, sizeof *sample, compare_floats);
  size_t cut = (size_t)(share * (float)n_sample);
  ends.low_bulk = sample[cut], ends.high_bulk = sample[n_sample - 1 - cut];
  return ends;
}

void flo_value_range(const float *values, size_t n, FloColourMap map, float *low, float *high) {
  Ends ends = find_ends(values, n, 1, 0.001f);
  float a = ends.low_bulk, b = ends.high_bulk;
  if (!(a <= b)) a = 0, b = 1;
  if (map == FLO_MAP_WATER && a > 0) a = 0;
  if (map == FLO_MAP_SIGNED) b = fmaxf(fabsf(a), fabsf(b)), a = -b;
  // If all values are equal, the value becomes the middle of a range of its own size.
  if (!(b - a > 1e-6f * fmaxf(fabsf(a), fabsf(b)))) {
    float half = a == 0 ? 1 : 0.5f * fabsf(a);
    a = map == FLO_MAP_WATER && a == 0 ? 0 : a - half;
    b += half;
  }
  *low = a, *high = b;
}

// The box of the bulk, widened by up to a quarter of its size where there are particles. Particles farther
// away do not count.
static FloBounds bulk_bounds(const FloCloud *cloud) {
  float low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    Ends ends = find_ends(&cloud->spheres[0][axis], cloud->count, 4, 0.002f);
    float margin = 0.25f * (ends.high_bulk - ends.low_bulk), radius = cloud->spheres[0][3];
    low[axis] = fmaxf(ends.low, ends.low_bulk - margin) - radius;
    high[axis] = fminf(ends.high, ends.high_bulk + margin) + radius;
  }
  return (FloBounds){{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

// ---- Building ----

static uint16_t tone_of(float value, float low, float high) {
  if (!isfinite(value)) return FLO_TONE_WARNING;
  double share = ((double)value - (double)low) / ((double)high - (double)low);
  return (uint16_t)(flo_clamp01((float)share) * (FLO_TONE_WARNING - 1) + 0.5f);
}

static uint16_t particle_tone(const FloPictureInput *input, const FloCloud *cloud, size_t i) {
  if (input->ages && input->ages[i] >= 0)
    return (uint16_t)(FLO_FIRST_AGE_TONE + tone_of(input->ages[i], 0, 1));
  const uint16_t plain = (uint16_t)(FLO_PLAIN_SHARE * (FLO_TONE_WARNING - 1));
  uint16_t tone = input->values ? tone_of(input->values[i], cloud->low, cloud->high) : plain;
  if (!cloud->has_ramps || !input->materials || input->materials[i] == UINT16_MAX) return tone;
  return (uint16_t)(tone + FLO_RAMP_TONES * (input->materials[i] % FLO_RAMPS));
}

V3 flo_cloud_ramp(const FloCloud *cloud, size_t material, float share) {
  const V3 own = cloud->own[material % FLO_RAMPS];
  return v3_length(own) > 0 ? flo_own_colour(own, share) : flo_material_colour(material, share);
}

V3 flo_cloud_colour(const FloCloud *cloud, size_t tone) {
  size_t step = tone % FLO_RAMP_TONES;
  if (step == FLO_TONE_WARNING) return flo_colour_warning();
  float share = (float)step / (FLO_TONE_WARNING - 1);
  if (tone >= FLO_FIRST_AGE_TONE) return flo_age_colour(share);
  return cloud->has_ramps ? flo_cloud_ramp(cloud, tone / FLO_RAMP_TONES, share)
                          : flo_colour_map(cloud->map, share);
}

V3 flo_cloud_tone(const FloPictureInput *input, const FloCloud *cloud, size_t particle) {
  return flo_cloud_colour(cloud, particle_tone(input, cloud, particle));
}

static FloStatus allocate(FloCloud *cloud, size_t n, FloError *error) {
  cloud->spheres = aligned_alloc(64, (n * sizeof *cloud->spheres + 127) / 64 * 64);
  cloud->tones = malloc((n + 1) * sizeof *cloud->tones);
  if (cloud->spheres && cloud->tones) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu particles", n);
}

static void add_sphere(FloCloud *cloud, float x, float y, float z, float radius, uint16_t tone) {
  float *sphere = cloud->spheres[cloud->count];
  sphere[0] = x, sphere[1] = y, sphere[2] = z, sphere[3] = radius;
  cloud->tones[cloud->count++] = tone;
}

static void fill(const FloPictureInput *input, FloCloud *cloud) {
  const float r = input->radius;
  for (size_t i = 0; i < input->n_particles; i++) {
    const float *p = &input->positions[3 * i];
    if (!is_usable(p)) continue;
    uint16_t tone = particle_tone(input, cloud, i);
    add_sphere(cloud, p[0], p[1], input->dim == 2 ? 0 : p[2], r, tone);
    // In the plane the page would be seen through the gaps between discs. A larger disc behind each one, and
    // behind the walls, closes them.
    if (input->dim == 2) add_sphere(cloud, p[0], p[1], -4 * r, 1.55f * r, tone);
  }
}

// Returns whether the scene gives any fluid a colour.
static bool take_own_colours(const FloPictureInput *input, FloCloud *cloud) {
  bool has_own = false;
  for (size_t k = 0; k < FLO_RAMPS && k < FLO_VIEW_MATERIALS; k++) {
    const FloSubstance *substance = &input->view.substances[k];
    if (!substance->is_coloured) continue;
    cloud->own[k] = v3(substance->tint[0], substance->tint[1], substance->tint[2]);
    has_own = true;
  }
  return has_own;
}

FloStatus flo_cloud_create(const FloPictureInput *input, FloCloud *cloud, FloError *error) {
  *cloud = (FloCloud){.map = flo_colour_map_for(input->value_label), .bounds = flo_bounds_empty()};
  FLO_TRY(allocate(cloud, (input->dim == 2 ? 2 : 1) * input->n_particles, error));
  // Other maps show one quantity; colours for materials would only confuse.
  const bool has_own = take_own_colours(input, cloud);
  cloud->has_ramps = !input->values || ((has_own || input->n_materials > 1) && cloud->map == FLO_MAP_WATER);
  cloud->low = input->value_low, cloud->high = input->value_high;
  if (input->values && !(cloud->low < cloud->high && isfinite(cloud->high - cloud->low)))
    flo_value_range(input->values, input->n_particles, cloud->map, &cloud->low, &cloud->high);
  fill(input, cloud);
  if (cloud->count > 0) cloud->bounds = bulk_bounds(cloud);
  return FLO_OK;
}

void flo_cloud_destroy(FloCloud *cloud) {
  free(cloud->spheres);
  free(cloud->tones);
  *cloud = (FloCloud){0};
}
