#include "base/core.h"
#include "base/parallel.h"
#include "render/markings.h"
#include "render/overlay.h"
#include "render/scenic.h"
#include "render/stage.h"
#include "render/water.h"

#include <omp.h>
#include <stdlib.h>

enum { tile = 16 };

FloPictureOptions flo_default_picture_options(void) {
  return (FloPictureOptions){.width = 1280, .height = 720, .samples = 2};
}

static FloStatus check_options(const FloPictureOptions *o, FloError *error) {
  const int limit = FLO_MAX_PICTURE_SIDE;
  if (o->width < 1 || o->height < 1 || o->width > limit || o->height > limit)
    return flo_fail(error, FLO_BAD_INPUT, "a picture must have 1 to %d pixels on each side, got %d x %d",
                    limit, o->width, o->height);
  if (o->samples < 1 || o->samples > FLO_MAX_SAMPLES)
    return flo_fail(error, FLO_BAD_INPUT, "samples of a picture must be 1 to %d, got %d", FLO_MAX_SAMPLES,
                    o->samples);
  if (o->threads < 0 || o->threads > FLO_MOST_THREADS)
    return flo_fail(error, FLO_BAD_INPUT, "threads of a picture must be 0 to %d, got %d", FLO_MOST_THREADS,
                    o->threads);
  return FLO_OK;
}

static bool is_finite_camera(const FloCamera *c) {
  double sum = c->field_of_view;
  for (int axis = 0; axis < 3; axis++) sum += c->from[axis] + c->look_at[axis];
  return isfinite((float)sum);
}

static bool is_finite_view(const FloPictureView *view) {
  bool is_fine = !view->has_ground || isfinite((float)view->ground);
  for (int axis = 0; axis < 3; axis++)
    is_fine = is_fine && view->low[axis] <= view->high[axis] &&
              isfinite((float)view->low[axis] - (float)view->high[axis]);
  return is_fine;
}

static FloStatus check_input(const FloPictureInput *input, FloError *error) {
  FLO_ASSERT(input->positions || input->n_particles == 0);
  FLO_ASSERT(input->bodies || input->n_bodies == 0);
  if (input->dim != 2 && input->dim != 3)
    return flo_fail(error, FLO_BAD_INPUT, "dim of a picture must be 2 or 3, got %d", input->dim);
  if (input->up < 0 || input->up > 2)
    return flo_fail(error, FLO_BAD_INPUT, "up of a picture must be axis 0, 1 or 2, got %d", input->up);
  if (input->n_particles > 0 && !(input->radius > 0 && isfinite(input->radius)))
    return flo_fail(error, FLO_BAD_INPUT, "radius of particles must be > 0, got %g", (double)input->radius);
  if (input->n_particles > UINT32_MAX / 4)
    return flo_fail(error, FLO_BAD_INPUT, "a picture holds at most %u particles, got %zu", UINT32_MAX / 4,
                    input->n_particles);
  if (input->camera.is_set && !is_finite_camera(&input->camera))
    return flo_fail(error, FLO_BAD_INPUT, "camera of a picture must have finite numbers");
  for (int axis = 0; axis < 3; axis++)
    if (input->repeat.is_on[axis] && !(input->repeat.low[axis] < input->repeat.high[axis]))
      return flo_fail(error, FLO_BAD_INPUT, "a box that repeats must have low < high, got %g and %g",
                      input->repeat.low[axis], input->repeat.high[axis]);
  FLO_ASSERT((int)input->view.style.look >= 0 && input->view.style.look < FLO_LOOK_COUNT);
  FLO_ASSERT((int)input->view.style.quality >= 0 && input->view.style.quality < FLO_QUALITY_COUNT);
  const FloStyle *style = &input->view.style;
  if (style->flat < -3 || style->flat > 3)
    return flo_fail(error, FLO_BAD_INPUT, "a flat view is along axis 1, 2 or 3, got %d", style->flat);
  if (style->has_slice && !(style->slice_axis >= 0 && style->slice_axis < 3 && isfinite(style->slice_at)))
    return flo_fail(error, FLO_BAD_INPUT, "a slice crosses axis 0, 1 or 2 at a finite place, got %d at %g",
                    style->slice_axis, style->slice_at);
  if (!(style->aperture >= 0 && isfinite(style->aperture) && style->focus >= 0 && isfinite(style->focus)))
    return flo_fail(error, FLO_BAD_INPUT, "aperture and focus must be 0 or more, got %g and %g",
                    style->aperture, style->focus);
  for (size_t k = 0; k < input->n_traces; k++) FLO_ASSERT(input->traces[k].body < input->n_bodies);
  if (input->view.is_set && !is_finite_view(&input->view))
    return flo_fail(error, FLO_BAD_INPUT, "view of a picture must be a box of finite size");
  return FLO_OK;
}

// Everything that a picture needs, so that one function frees it after any failure.
typedef struct Parts {
  FloCloud cloud;
  FloSolids solids;
  FloBounds bounds; // of what the camera holds
  FloGround ground;
  FloLens lens;
  FloSlice slice;
  FloTracer *tracer;
  FloStage stage;
  uint32_t *near; // per thread: numbers of the edges that touch its tile
  uint8_t *rgb;
} Parts;

static void release(Parts *p) {
  flo_tracer_destroy(p->tracer);
  flo_solids_destroy(&p->solids);
  flo_cloud_destroy(&p->cloud);
  flo_slice_destroy(&p->slice);
  free(p->stage.edges);
  free(p->near);
  free(p->rgb);
}

// ---- Preparing ----

static FloBounds bounds_of(const FloPictureView *view, const Parts *p) {
  if (view->is_set)
    return (FloBounds){{(float)view->low[0], (float)view->low[1], (float)view->low[2]},
                       {(float)view->high[0], (float)view->high[1], (float)view->high[2]}};
  FloBounds bounds = flo_bounds_union(p->cloud.bounds, p->solids.bounds);
  return flo_bounds_is_empty(bounds) ? (FloBounds){{0, 0, 0}, {1, 1, 1}} : bounds;
}

static FloGround ground_of(const FloPictureView *view, FloBounds bounds, int up) {
  if (view->is_set) return (FloGround){view->has_ground, (float)view->ground};
  return (FloGround){true, v3_get(bounds.low, up)};
}

// Prepares what both looks need.
static FloStatus prepare(const FloPictureInput *input, const FloPictureOptions *options, Parts *p,
                         FloError *error) {
  const int width = options->width, height = options->height;
  FLO_TRY(flo_cloud_create(input, &p->cloud, error));
  FLO_TRY(flo_solids_create(input->bodies, input->placed, input->n_bodies, input->dim, input->radius,
                            &input->repeat, &p->solids, error));
  p->rgb = malloc(3 * (size_t)width * (size_t)height);
  if (!p->rgb) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture of %d x %d", width, height);
  p->bounds = bounds_of(&input->view, p);
  p->ground = ground_of(&input->view, p->bounds, input->up);
  FloMargins margins = flo_overlay_margins(input, &p->cloud, width, height);
  const int flat = input->dim == 3 ? input->view.style.flat : 0;
  p->lens = flat ? flo_lens_create_flat(flat, input->up, p->bounds, margins, width, height)
                 : flo_lens_create(&input->camera, input->dim, input->up, p->bounds, margins, width, height);
  return FLO_OK;
}

static FloStatus set_stage(const FloPictureInput *input, const FloPictureOptions *options, int threads,
                           Parts *p, FloError *error) {
  const size_t n_edges = p->solids.n_edges + 1;
  const int samples = options->samples + (int)input->view.style.quality;
  if (input->dim == 3 && input->view.style.has_slice) {
    FLO_TRY(flo_slice_create(input, &p->slice, error));
    p->stage.slice = &p->slice;
    p->cloud.count = 0; // particles would hide the slice
  }
  FLO_TRY(flo_tracer_create(&p->cloud, &p->solids, options->memory_limit, &p->tracer, error));
  p->stage.edges = malloc(n_edges * sizeof *p->stage.edges);
  p->near = malloc(n_edges * (size_t)threads * sizeof *p->near);
  if (!p->stage.edges || !p->near)
    return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture of %d x %d", options->width,
                    options->height);
  flo_stage_set(&p->stage, &p->lens, p->tracer, &p->cloud, &p->solids, input->dim, input->up, p->bounds,
                p->ground, samples < FLO_MAX_SAMPLES ? samples : FLO_MAX_SAMPLES);
  p->stage.n_edges = flo_edges_project(p->solids.edges, p->solids.n_edges, &p->lens, p->stage.edges);
  return FLO_OK;
}

// ---- Drawing ----

static size_t edges_near(const FloStage *stage, int x0, int y0, uint32_t *near) {
  size_t count = 0;
  for (size_t k = 0; k < stage->n_edges; k++)
    if (flo_edge_touches(&stage->edges[k], stage->edge_width, (float)x0, (float)y0, (float)(x0 + tile),
                         (float)(y0 + tile)))
      near[count++] = (uint32_t)k;
  return count;
}

static void draw_tile(const FloStage *stage, int x0, int y0, uint32_t *near, uint8_t *rgb) {
  const int width = stage->lens.width, height = stage->lens.height;
  size_t n_near = edges_near(stage, x0, y0, near);
  for (int y = y0; y < y0 + tile && y < height; y++)
    for (int x = x0; x < x0 + tile && x < width; x++) {
      FloRgb8 colour = flo_rgb8_from_linear(flo_stage_pixel(stage, x, y, near, n_near));
      uint8_t *pixel = &rgb[3 * ((size_t)y * (size_t)width + (size_t)x)];
      pixel[0] = colour.r, pixel[1] = colour.g, pixel[2] = colour.b;
    }
}

// Draws the tiles. Only the calling thread reports progress, so the report function need not be thread-safe.
static void draw_tiles(Parts *p, const FloPictureOptions *options, int threads) {
  const FloStage *stage = &p->stage;
  const int columns = (stage->lens.width + tile - 1) / tile, rows = (stage->lens.height + tile - 1) / tile;
  const int n = columns * rows;
  int n_done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int k = 0; k < n; k++) {
    uint32_t *near = p->near + (size_t)omp_get_thread_num() * (p->solids.n_edges + 1);
    draw_tile(stage, k % columns * tile, k / columns * tile, near, p->rgb);
    int done;
#pragma omp atomic capture
    done = ++n_done;
    if (options->report && omp_get_thread_num() == 0) options->report(options->context, (double)done / n);
  }
}

static FloStatus draw_particles(const FloPictureInput *input, const FloPictureOptions *options, int threads,
                                Parts *p, FloError *error) {
  FLO_TRY(set_stage(input, options, threads, p, error));
  draw_tiles(p, options, threads);
  return FLO_OK;
}

static FloStatus draw_water(const FloPictureInput *input, const FloPictureOptions *options, int threads,
                            Parts *p, FloError *error) {
  const FloScenicPlan plan = {input, options, &p->cloud, &p->solids, p->lens, p->bounds, p->ground, threads};
  return flo_scenic_paint(&plan, p->rgb, error);
}

// Whether there are samples of bodies. These have the colours of their values in both looks.
static bool has_samples(const FloPictureInput *input) {
  for (size_t i = 0; i < input->n_particles; i++)
    if (!flo_is_fluid(input, i)) return true;
  return false;
}

static FloStatus draw(const FloPictureInput *input, const FloPictureOptions *options, bool is_water, Parts *p,
                      FloError *error) {
  const int threads = options->threads > 0 ? options->threads : flo_parallel_default_threads();
  FloPictureInput shown = *input;
  // Water in its own colours needs no legend.
  if (is_water && !input->view.style.shows_values) {
    shown.n_materials = 0;
    if (!has_samples(input)) shown.values = NULL;
  }
  FLO_TRY(prepare(&shown, options, p, error));
  FLO_TRY((is_water ? draw_water : draw_particles)(input, options, threads, p, error));
  FLO_TRY(flo_markings_draw(input, &p->lens, &p->solids, p->rgb, error));
  return flo_overlay_draw(&shown, &p->cloud, &p->lens, p->bounds, p->rgb, error);
}

FloStatus flo_render_picture(const FloPictureInput *input, const FloPictureOptions *options, uint8_t **rgb,
                             FloError *error) {
  FLO_TRY(check_options(options, error));
  FLO_TRY(check_input(input, error));
  Parts parts = {0};
  const FloStyle *style = &input->view.style;
  const bool is_water = input->dim == 3 && style->look == FLO_LOOK_WATER && !style->has_slice;
  FloStatus status = draw(input, options, is_water, &parts, error);
  if (status == FLO_OK) *rgb = parts.rgb, parts.rgb = NULL;
  release(&parts);
  return status;
}
