#include "render/stage.h"

#include "base/core.h"
#include "render/soft_solids.h"

static const FloRgb8 page_top = {206, 217, 228}, page_bottom = {236, 240, 244}, edge_colour = {58, 74, 92};
static const float edge_opacity = 0.75f;
static const float particle_gloss = 0.10f, solid_gloss = 0.05f;

// Owners of light that samples of a pixel share: bodies by number, or one of these.
enum { owner_none = -1, owner_ground = -2 };

// The state of one pixel. Noise is more visible on smooth surfaces than on many small spheres. Therefore
// light on a solid or the ground is gathered once per pixel with many rays, and shared by all samples that
// see the same surface.
typedef struct Pixel {
  const FloStage *stage;
  FloSeed seed;
  int sample; // number of the sample at work
  int64_t light_owner;
  V3 light_normal;
  FloLight light;
} Pixel;

static int rays_per_sample(const FloStage *stage) { return stage->samples == 1 ? 8 : 6; }

// ---- Surfaces ----

static FloLight shared_light(Pixel *p, int64_t owner, V3 point, V3 normal) {
  if (p->light_owner == owner && v3_dot(p->light_normal, normal) > 0.995f) return p->light;
  const int n_samples = p->stage->samples * p->stage->samples, n = n_samples * rays_per_sample(p->stage);
  p->light_owner = owner, p->light_normal = normal;
  p->light = flo_gather_light(&p->stage->sky, point, normal, &p->seed, (FloRayShare){0, 2 * n, 0, n});
  return p->light;
}

static V3 page_colour(const FloStage *stage, float y) {
  return v3_mix(stage->page_top, stage->page_bottom, flo_clamp01(y / (float)stage->lens.height));
}

// The ground has the colour of the page, darkened where sky or sun are hidden. There is no horizon.
static V3 ground_colour(Pixel *p, V3 point, V3 page) {
  const FloStage *stage = p->stage;
  float distance = v3_length(v3_sub(point, stage->centre)) / stage->extent;
  float fade = 1 - flo_smooth_step(1.3f, 2.6f, distance);
  if (fade <= 0) return page;
  point = v3_mad(point, stage->sky.up, 1e-4f * stage->extent);
  float light = flo_ground_light(&stage->sky, shared_light(p, owner_ground, point, stage->sky.up));
  return v3_scale(page, 1 - fade * (1 - light));
}

static V3 particle_colour(Pixel *p, V3 point, V3 normal, V3 view, uint32_t index) {
  const FloStage *stage = p->stage;
  V3 albedo = stage->tones[stage->cloud->tones[index]];
  if (stage->is_plane) {
    // In the plane colours are not shaded, so that they match the legend. Only the rim is darker; otherwise
    // white discs could not be told apart.
    float slope = 1 - fabsf(normal.z);
    return v3_scale(albedo, 1 - 0.5f * slope * slope);
  }
  const int n = rays_per_sample(stage), n_sun = n / 2;
  // Four times as many random numbers are reserved for the sun, because that many may be used.
  FloLight light = flo_gather_light(&stage->sky, point, normal, &p->seed,
                                    (FloRayShare){p->sample * n, n, p->sample * 4 * n_sun, n_sun});
  return flo_reflect_light(&stage->sky, light, normal, view, albedo, particle_gloss);
}

static V3 solid_colour(Pixel *p, V3 point, V3 normal, V3 view, const FloHit *hit) {
  const FloStage *stage = p->stage;
  uint32_t owner = stage->solids->owners[hit->index];
  V3 albedo =
      v3_scale(stage->solids->colours[owner], flo_solids_shade(stage->solids, hit->index, hit->u, hit->v));
  if (stage->is_plane) return albedo;
  FloLight light = shared_light(p, owner, point, normal);
  return flo_reflect_light(&stage->sky, light, normal, view, albedo, solid_gloss);
}

static float ground_distance(const FloSky *sky, const FloRay *ray) {
  float fall = -v3_dot(ray->direction, sky->up);
  if (!sky->has_ground || fall <= 0) return INFINITY;
  return (v3_dot(ray->origin, sky->up) - sky->ground) / fall;
}

static V3 seen_colour(Pixel *p, const FloRay *ray, const FloHit *hit, float ground, float y) {
  const float distance = flo_minf(ground, hit->distance);
  V3 page = page_colour(p->stage, y), point = v3_mad(ray->origin, ray->direction, distance);
  if (ground < hit->distance) return ground_colour(p, point, page);
  if (hit->kind == FLO_HIT_NOTHING) return page;
  V3 normal = v3_dot(hit->normal, ray->direction) > 0 ? v3_scale(hit->normal, -1) : hit->normal;
  point = v3_mad(point, normal, 2e-5f * (p->stage->extent + distance));
  return hit->kind == FLO_HIT_PARTICLE ? particle_colour(p, point, normal, ray->direction, hit->index)
                                       : solid_colour(p, point, normal, ray->direction, hit);
}

// ---- Slices ----

// The distance where a ray meets the slice; INFINITY if it does not, or meets no fluid there. Colours are not
// shaded, so that they match the legend.
static float slice_distance(const FloStage *stage, const FloRay *ray, V3 *colour) {
  const FloSlice *slice = stage->slice;
  if (!slice) return INFINITY;
  const float pace = v3_get(ray->direction, slice->axis);
  const float distance = (slice->at - v3_get(ray->origin, slice->axis)) / pace;
  float value;
  if (!(distance > 0 && isfinite(distance))) return INFINITY;
  if (!flo_slice_value(slice, v3_mad(ray->origin, ray->direction, distance), &value)) return INFINITY;
  const FloCloud *cloud = stage->cloud;
  *colour = flo_colour_map(cloud->map, (value - cloud->low) / (cloud->high - cloud->low));
  return distance;
}

// ---- Pixels ----

static V3 with_edges(const FloStage *stage, const uint32_t *near, size_t n_near, float x, float y,
                     float depth, V3 colour) {
  float share = 0;
  for (size_t k = 0; k < n_near; k++) {
    const FloScreenEdge *edge = &stage->edges[near[k]];
    float edge_depth,
        coverage = flo_edge_coverage(edge, stage->lens.is_flat, stage->edge_width, x, y, &edge_depth);
    if (coverage > share && edge_depth < depth + stage->edge_bias) share = coverage;
  }
  return v3_mix(colour, stage->edge_colour, edge_opacity * share);
}

// The place of sample k. Rows and columns are sheared, so that no two samples share a line and slanted edges
// are smooth.
void flo_sample_place(int n, int k, float *x, float *y) {
  const float step = 1 / (float)n, i = (float)(k % n), j = (float)(k / n);
  *x = (i + (j + 0.5f) * step) * step;
  *y = (j + ((float)(n - 1) - i + 0.5f) * step) * step;
}

V3 flo_stage_pixel(const FloStage *stage, int x, int y, const uint32_t *near, size_t n_near) {
  FLO_ASSERT(stage->samples >= 1 && stage->samples <= FLO_MAX_SAMPLES);
  const int n = stage->samples * stage->samples;
  FloRay rays[FLO_MAX_SAMPLES * FLO_MAX_SAMPLES];
  FloHit hits[FLO_MAX_SAMPLES * FLO_MAX_SAMPLES];
  float places[FLO_MAX_SAMPLES * FLO_MAX_SAMPLES][2];
  for (int k = 0; k < n; k++) {
    flo_sample_place(stage->samples, k, &places[k][0], &places[k][1]);
    places[k][0] += (float)x, places[k][1] += (float)y;
    flo_lens_ray(&stage->lens, places[k][0], places[k][1], &rays[k].origin, &rays[k].direction);
    rays[k].end = INFINITY;
  }
  flo_tracer_look(stage->sky.tracer, rays, n, hits);
  V3 sum = {0, 0, 0};
  Pixel pixel = {.stage = stage, .seed = flo_pixel_seed(x, y), .light_owner = owner_none};
  for (int k = 0; k < n; k++) {
    pixel.sample = k;
    V3 colour;
    float ground = ground_distance(&stage->sky, &rays[k]), seen = flo_minf(ground, hits[k].distance),
          slice = slice_distance(stage, &rays[k], &colour);
    const bool is_slice = slice < seen;
    if (!is_slice) colour = seen_colour(&pixel, &rays[k], &hits[k], ground, places[k][1]);
    float depth = flo_minf(slice, seen) * v3_dot(rays[k].direction, stage->lens.forward);
    colour = with_edges(stage, near, n_near, places[k][0], places[k][1], depth, colour);
    sum = v3_add(sum, stage->is_plane || is_slice ? colour : flo_tone_map(colour));
  }
  return v3_scale(sum, 1 / (float)n);
}

// ---- Setting up ----

static void set_colours(FloStage *stage) {
  for (size_t k = 0; k < FLO_TONES; k++) stage->tones[k] = flo_cloud_colour(stage->cloud, k);
  stage->page_top = flo_linear_from_rgb8(page_top), stage->page_bottom = flo_linear_from_rgb8(page_bottom);
  stage->edge_colour = flo_linear_from_rgb8(edge_colour);
}

static void set_sky(FloStage *stage, const FloTracer *tracer, V3 up, FloGround ground) {
  const FloLens *lens = &stage->lens;
  // The ground is raised a little into what stands on it: through the finest gap below an edge a ray would
  // see deep shadow.
  float height = ground.height + 1e-4f * stage->extent;
  bool has_ground = ground.is_there && !lens->is_flat && v3_dot(lens->eye, up) > height;
  // The sun is above the viewer's left shoulder, whichever way the camera looks.
  V3 back = v3_normalize(v3_sub(v3_scale(up, v3_dot(lens->forward, up)), lens->forward));
  V3 sun = v3_mad(v3_mad(v3_scale(up, 0.95f), lens->right, -0.55f), back, 0.45f);
  stage->sky = flo_sky_create(tracer, up, v3_normalize(sun), has_ground, height);
}

void flo_stage_set(FloStage *stage, const FloLens *lens, const FloTracer *tracer, const FloCloud *cloud,
                   const FloSolids *solids, int dim, int up, FloBounds bounds, FloGround ground,
                   int samples) {
  stage->is_plane = dim == 2;
  stage->lens = *lens, stage->cloud = cloud, stage->solids = solids, stage->samples = samples;
  stage->centre = v3_scale(v3_add(bounds.low, bounds.high), 0.5f);
  stage->extent = flo_maxf(1e-6f, 0.5f * v3_length(v3_sub(bounds.high, bounds.low)));
  stage->edge_width = flo_maxf(1, 1.5f * (float)lens->height / 720);
  stage->edge_bias = 0.004f * stage->extent;
  set_colours(stage);
  set_sky(stage, tracer, v3_axis(up), ground);
}
