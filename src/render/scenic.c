#include "render/scenic.h"

#include "base/core.h"
#include "render/denoise.h"
#include "render/path.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16 };

static const struct {
  int samples; // per pixel and axis
  int bounces, depth;
  float least_weight;
} qualities[FLO_QUALITY_COUNT] = {{2, 0, 5, 0.02f}, {4, 1, 7, 0.01f}, {8, 2, 12, 0.002f}};

static const FloRgb8 page_top = {196, 208, 220}, page_bottom = {236, 239, 242}, edge_colour = {70, 88, 106};
static const float edge_opacity = 0.62f, edge_through_water = 0.3f;
static const float scatter = 0.3f;

// Everything that a picture needs besides its plan, so that one function frees it after any failure.
typedef struct Work {
  const FloScenicPlan *plan;
  FloCloud balls; // samples of bodies that are drawn as such
  FloWater water;
  FloTracer *opaque, *clear;
  FloStuff *stuffs;
  V3 ball_colours[FLO_TONES];
  FloPathScene scene;
  FloScreenEdge *edges;
  size_t n_edges;
  float edge_width;
  float aperture, focus; // [m]
  FloFilm film;
} Work;

static void release(Work *work) {
  flo_tracer_destroy(work->opaque);
  flo_tracer_destroy(work->clear);
  flo_water_destroy(&work->water);
  flo_cloud_destroy(&work->balls);
  flo_film_destroy(&work->film);
  free(work->stuffs);
  free(work->edges);
}

// ---- Preparing ----

// Takes the particles that are not fluid, with the colours they would have among all the others.
static FloStatus take_balls(Work *work, FloError *error) {
  const FloScenicPlan *plan = work->plan;
  FloPictureInput input = *plan->input;
  size_t n = 0;
  float *positions = malloc((3 * input.n_particles + 1) * sizeof *positions);
  float *values = malloc((input.n_particles + 1) * sizeof *values);
  float *ages = malloc((input.n_particles + 1) * sizeof *ages);
  FloStatus status =
      positions && values && ages ? FLO_OK : flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  for (size_t i = 0; status == FLO_OK && i < input.n_particles; i++) {
    if (flo_is_fluid(&input, i)) continue;
    memcpy(positions + 3 * n, input.positions + 3 * i, 3 * sizeof *positions);
    ages[n] = input.ages ? input.ages[i] : -1;
    values[n++] = input.values ? input.values[i] : 0;
  }
  input.n_particles = n, input.positions = positions, input.materials = NULL;
  input.values = input.values ? values : NULL, input.ages = ages;
  if (status == FLO_OK) status = flo_cloud_create(&input, &work->balls, error);
  free(positions);
  free(values);
  free(ages);
  return status;
}

static FloStatus make_stuffs(Work *work, FloError *error) {
  const FloPictureInput *input = work->plan->input;
  work->stuffs = malloc((input->n_bodies + 1) * sizeof *work->stuffs);
  if (!work->stuffs) return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu bodies", input->n_bodies);
  for (size_t k = 0; k < input->n_bodies; k++)
    work->stuffs[k] = flo_stuff_of(&input->bodies[k], flo_frame_pose(input->placed, input->bodies, k),
                                   input->view.substances, work->plan->solids->colours[k]);
  for (size_t k = 0; k < FLO_TONES; k++) work->ball_colours[k] = flo_cloud_colour(&work->balls, k);
  return FLO_OK;
}

static FloStatus make_tracers(Work *work, FloError *error) {
  const FloScenicPlan *plan = work->plan;
  const size_t limit = plan->options->memory_limit;
  FLO_TRY(flo_tracer_create(&work->balls, plan->solids, limit, &work->opaque, error));
  return flo_tracer_create(&work->water.drops, &work->water.surface, limit, &work->clear, error);
}

// The lamp is high up, on the viewer's left and a little behind the scene, so that water reflects it.
static FloDaylight light_of(const FloScenicPlan *plan, float extent) {
  const FloLens *lens = &plan->lens;
  V3 up = v3_axis(plan->input->up);
  // The ground is raised a little into what stands on it: through the finest gap a ray would see deep shadow.
  float height = plan->ground.height + 1e-4f * extent;
  bool has_ground = plan->ground.is_there && v3_dot(lens->eye, up) > height;
  V3 back = v3_normalize(v3_sub(v3_scale(up, v3_dot(lens->forward, up)), lens->forward));
  V3 lamp = v3_mad(v3_mad(v3_scale(up, 1.0f), lens->right, -0.62f), back, 0.05f);
  return flo_daylight_create(up, v3_normalize(lamp), has_ground, height);
}

static void set_scene(Work *work) {
  const FloScenicPlan *plan = work->plan;
  const FloStyle *style = &plan->input->view.style;
  FloBounds b = plan->bounds;
  const float extent = flo_maxf(1e-6f, 0.5f * v3_length(v3_sub(b.high, b.low)));
  const V3 middle = v3_sub(v3_scale(v3_add(b.low, b.high), 0.5f), plan->lens.eye);
  const float distance = v3_length(middle);
  const bool has_colours = style->shows_values && plan->input->values;
  work->aperture = (float)style->aperture;
  work->focus = style->focus > 0 ? (float)style->focus : flo_maxf(1e-6f, v3_dot(middle, plan->lens.forward));
  work->scene = (FloPathScene){.opaque = work->opaque,
                               .clear = work->clear,
                               .solids = plan->solids,
                               .cloud = &work->balls,
                               .stuffs = work->stuffs,
                               .ball_colours = work->ball_colours,
                               .water = &work->water,
                               .light = light_of(plan, extent),
                               .is_painted = has_colours && !style->only_spray,
                               .paints_spray = has_colours && style->only_spray,
                               .scatter = scatter,
                               .gap = 1.2f * work->water.spacing,
                               .skin = 2e-5f * (extent + distance),
                               .bounces = qualities[style->quality].bounces,
                               .depth = qualities[style->quality].depth,
                               .least_weight = qualities[style->quality].least_weight,
                               .lens = &plan->lens,
                               .page_top = flo_linear_from_rgb8(page_top),
                               .page_bottom = flo_linear_from_rgb8(page_bottom),
                               .ground_centre = v3_scale(v3_add(b.low, b.high), 0.5f),
                               .ground_extent = extent};
  if (!plan->lens.is_flat) flo_path_place_eye(&work->scene, plan->lens.eye);
}

static FloStatus prepare_edges(Work *work, FloError *error) {
  const FloScenicPlan *plan = work->plan;
  work->edges = malloc((plan->solids->n_edges + 1) * sizeof *work->edges);
  if (!work->edges) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  work->n_edges = flo_edges_project(plan->solids->edges, plan->solids->n_edges, &plan->lens, work->edges);
  work->edge_width = flo_maxf(1, 1.5f * (float)plan->lens.height / 720);
  return FLO_OK;
}

static FloStatus prepare(Work *work, FloError *error) {
  const FloScenicPlan *plan = work->plan;
  FLO_TRY(take_balls(work, error));
  FLO_TRY(flo_water_create(plan->input, plan->cloud, plan->bounds, plan->options->memory_limit, plan->threads,
                           &work->water, error));
  FLO_TRY(make_stuffs(work, error));
  FLO_TRY(make_tracers(work, error));
  FLO_TRY(prepare_edges(work, error));
  FLO_TRY(flo_film_create(plan->lens.width, plan->lens.height, &work->film, error));
  set_scene(work);
  return FLO_OK;
}

// ---- Tracing ----

// The mean of a pixel's samples, and the variance of this mean.
typedef struct Mean {
  V3 colour, albedo, normal;
  float depth, farthest, brightness, square;
} Mean;

// A lens of some width sees a point from every place on it. Only points at the distance of focus look the
// same from all of these. Flat views have no eye and no focus.
static void open_lens(const Work *work, FloDice *dice, FloRay *ray) {
  const FloLens *lens = &work->plan->lens;
  float pair[2];
  if (!(work->aperture > 0) || lens->is_flat) return;
  flo_dice_roll(dice, pair);
  const float angle = 2 * (float)FLO_PI * pair[1], r = 0.5f * work->aperture * sqrtf(pair[0]);
  const V3 sharp = v3_mad(ray->origin, ray->direction, work->focus / v3_dot(ray->direction, lens->forward));
  ray->origin = v3_mad(v3_mad(ray->origin, lens->right, r * cosf(angle)), lens->up, r * sinf(angle));
  ray->direction = v3_normalize(v3_sub(sharp, ray->origin));
}

static FloPathLight sample_pixel(const Work *work, int x, int y, int k) {
  const int side = qualities[work->plan->input->view.style.quality].samples;
  float at_x, at_y;
  FloDice dice = flo_dice_of_pixel(x, y, k);
  FloRay ray = {.end = INFINITY};
  flo_sample_place(side, k, &at_x, &at_y);
  flo_lens_ray(&work->plan->lens, (float)x + at_x, (float)y + at_y, &ray.origin, &ray.direction);
  open_lens(work, &dice, &ray);
  return flo_path_light(&work->scene, &ray, &dice);
}

static void trace_pixel(Work *work, int x, int y) {
  const int side = qualities[work->plan->input->view.style.quality].samples, n = side * side;
  const float share = 1 / (float)n;
  Mean m = {.depth = INFINITY};
  for (int k = 0; k < n; k++) {
    FloPathLight light = sample_pixel(work, x, y, k);
    float brightness = flo_brightness(light.colour);
    m.colour = v3_mad(m.colour, light.colour, share), m.albedo = v3_mad(m.albedo, light.albedo, share);
    m.normal = v3_mad(m.normal, light.normal, share), m.depth = flo_minf(m.depth, light.depth);
    m.farthest = flo_maxf(m.farthest, light.depth);
    m.brightness += share * brightness, m.square += share * brightness * brightness;
  }
  size_t i = (size_t)y * (size_t)work->film.width + (size_t)x;
  work->film.colours[i] = m.colour, work->film.albedos[i] = m.albedo, work->film.depths[i] = m.depth;
  // A pixel with a step in depth keeps its own colour, because its share of both sides makes edges smooth.
  // Pixels with different normals do so as well, because their mean normal is shorter.
  const float steepest = 1.02f;
  work->film.normals[i] = v3_scale(m.normal, m.farthest > steepest * m.depth ? 0.5f : 1);
  work->film.variances[i] = flo_maxf(0, m.square - m.brightness * m.brightness) / (float)(n - 1);
}

static void trace_tile(Work *work, int x0, int y0) {
  for (int y = y0; y < y0 + TILE && y < work->film.height; y++)
    for (int x = x0; x < x0 + TILE && x < work->film.width; x++) trace_pixel(work, x, y);
}

// Traces the tiles. Only the calling thread reports progress, so the report function need not be thread-safe.
static void trace_tiles(Work *work) {
  const FloPictureOptions *options = work->plan->options;
  const int columns = (work->film.width + TILE - 1) / TILE, rows = (work->film.height + TILE - 1) / TILE;
  const int n = columns * rows;
  int n_done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(work->plan->threads)
  for (int k = 0; k < n; k++) {
    trace_tile(work, k % columns * TILE, k / columns * TILE);
    int done;
#pragma omp atomic capture
    done = ++n_done;
    if (options->report && omp_get_thread_num() == 0) options->report(options->context, (double)done / n);
  }
}

// ---- From samples to pixels ----

// How visible an edge is at a pixel: not at all behind bodies, less through water.
static float edge_sight(const Work *work, int x, int y, float depth) {
  const FloLens *lens = &work->plan->lens;
  FloRay ray = {.end = INFINITY};
  flo_lens_ray(lens, (float)x + 0.5f, (float)y + 0.5f, &ray.origin, &ray.direction);
  // An edge on a surface counts as in front of it.
  ray.end = 0.998f * depth / flo_maxf(1e-6f, v3_dot(ray.direction, lens->forward)) - 0.5f * work->scene.gap;
  if (ray.end <= 0) return 1;
  float ground = flo_daylight_ground_distance(&work->scene.light, ray.origin, ray.direction);
  if (ground < ray.end || flo_tracer_is_blocked(work->opaque, &ray)) return 0;
  return flo_tracer_is_blocked(work->clear, &ray) ? edge_through_water : 1;
}

static float edge_share(const Work *work, const uint32_t *near, size_t n_near, int x, int y) {
  float most = 0;
  for (size_t k = 0; k < n_near; k++) {
    float depth, coverage = flo_edge_coverage(&work->edges[near[k]], false, work->edge_width, (float)x + 0.5f,
                                              (float)y + 0.5f, &depth);
    if (coverage > most) most = flo_maxf(most, coverage * edge_sight(work, x, y, depth));
  }
  return most;
}

static void develop_tile(const Work *work, int x0, int y0, uint32_t *near, uint8_t *rgb) {
  const V3 ink = flo_linear_from_rgb8(edge_colour);
  size_t n_near = 0;
  for (size_t k = 0; k < work->n_edges; k++)
    if (flo_edge_touches(&work->edges[k], work->edge_width, (float)x0, (float)y0, (float)(x0 + TILE),
                         (float)(y0 + TILE)))
      near[n_near++] = (uint32_t)k;
  for (int y = y0; y < y0 + TILE && y < work->film.height; y++)
    for (int x = x0; x < x0 + TILE && x < work->film.width; x++) {
      size_t i = (size_t)y * (size_t)work->film.width + (size_t)x;
      V3 colour = flo_tone_map(work->film.colours[i]);
      if (n_near > 0) colour = v3_mix(colour, ink, edge_opacity * edge_share(work, near, n_near, x, y));
      FloRgb8 shown = flo_rgb8_from_linear(colour);
      rgb[3 * i] = shown.r, rgb[3 * i + 1] = shown.g, rgb[3 * i + 2] = shown.b;
    }
}

static FloStatus develop(const Work *work, uint8_t *rgb, FloError *error) {
  const int columns = (work->film.width + TILE - 1) / TILE, rows = (work->film.height + TILE - 1) / TILE;
  const int threads = work->plan->threads;
  uint32_t *near = malloc((work->n_edges + 1) * (size_t)threads * sizeof *near);
  if (!near) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int k = 0; k < columns * rows; k++)
    develop_tile(work, k % columns * TILE, k / columns * TILE,
                 near + (size_t)omp_get_thread_num() * (work->n_edges + 1), rgb);
  free(near);
  return FLO_OK;
}

static FloStatus paint(Work *work, uint8_t *rgb, FloError *error) {
  FLO_TRY(prepare(work, error));
  trace_tiles(work);
  if (!work->plan->input->view.style.keeps_noise)
    FLO_TRY(flo_film_denoise(&work->film, work->plan->threads, error));
  return develop(work, rgb, error);
}

FloStatus flo_scenic_paint(const FloScenicPlan *plan, uint8_t *rgb, FloError *error) {
  Work *work = calloc(1, sizeof *work);
  if (!work) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  work->plan = plan;
  FloStatus status = paint(work, rgb, error);
  release(work);
  free(work);
  return status;
}
