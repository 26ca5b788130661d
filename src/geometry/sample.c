// Surface samples after Akinci et al. 2013 (Coupling Elastic Solids with SPH Fluids), section 2.4: vertices,
// edges, and rows within triangles that run parallel to the shortest edge.
//
// The paper takes every such point, which oversamples needles and fine meshes. It rounds the number of steps
// down, which undersamples edges of almost two spacings. Here these points are only candidates
// (sample_mesh.c), and a thinner decides which of them become samples (sampler.c). A candidate must keep its
// distance from samples and must not lie where there are many. It must not lift the number density of any
// sample above the upper bound, so this bound always holds.
//
// A candidate that is only a little too near to others is tried once more after all others of its kind. This
// closes gaps. Some samples remain below the lower bound, for instance at free borders and at the tips of
// spikes. Further rounds offer finer candidates near them (sample_repair.c).
#include "geometry/sample.h"

#include "base/vecmath.h"
#include "geometry/sampler.h"

#include <math.h>

static const double max_samples = 1e9;

// ---- Layers ----

static FloStatus offer_given(FloSampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  flo_sampler_set_rule(sampler, &flo_sampler_first_rule);
  FLO_TRY(flo_sampler_begin_walks(sampler, FLO_LONGEST_WALK_CELL));
  for (size_t k = 0; k < n_given; ++k)
    FLO_TRY(flo_sampler_offer(sampler, given[k].point, given[k].triangle, FLO_NO_VERTEX));
  return flo_sampler_close_gaps(sampler);
}

// Candidates are the points `given`, or those of the mesh if it is NULL.
static FloStatus sample_layer(FloSampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  sampler->n_deferred = 0;
  FLO_TRY(given ? offer_given(sampler, given, n_given) : flo_sampler_offer_mesh(sampler));
  return flo_sampler_repair(sampler);
}

// ---- Preparation ----

static FloStatus find_bounds(const FloSampler *sampler, double low[3], double high[3]) {
  const uint8_t *is_used = sampler->marks.data;
  vec_set(low, INFINITY, INFINITY, INFINITY), vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < sampler->mesh->n_vertices; ++k) {
    const double *p = flo_mesh_vertex(sampler->mesh, k);
    if (!is_used[k]) continue;
    if (!vec_is_finite(p))
      return flo_fail(sampler->error, FLO_BAD_INPUT,
                      "mesh: vertex %zu is at (%g, %g, %g); coordinates must be finite", k, p[0], p[1], p[2]);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = p[axis] < low[axis] ? p[axis] : low[axis];
      high[axis] = p[axis] > high[axis] ? p[axis] : high[axis];
    }
  }
  for (int axis = 0; axis < 3; ++axis)
    if (high[axis] - low[axis] > max_samples * sampler->spacing)
      return flo_fail(sampler->error, FLO_BAD_INPUT,
                      "mesh: it is %.3g m long, more than %.0e spacings of %g m; make the spacing larger",
                      high[axis] - low[axis], max_samples, sampler->spacing);
  return FLO_OK;
}

static FloStatus prepare(FloSampler *sampler, int layers) {
  const FloMesh *mesh = sampler->mesh;
  double low[3], high[3];
  FLO_TRY(flo_buffer_reserve(sampler->memory, &sampler->marks, mesh->n_vertices, 0, sampler->error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &sampler->sides, mesh->n_triangles, 0, sampler->error));
  sampler->survey = flo_sides_survey(mesh, sampler->spacing, sampler->marks.data, sampler->sides.data);
  double n_expected = sampler->survey.n_expected * layers;
  FLO_TRY(find_bounds(sampler, low, high));
  vec_copy(low, sampler->low);
  if (!(n_expected <= max_samples))
    return flo_fail(sampler->error, FLO_BAD_INPUT,
                    "mesh: sampling it would take about %.3g particles, more than the %.0e that can be "
                    "handled; make the spacing larger",
                    n_expected, max_samples);
  if (sampler->survey.has_roomy)
    FLO_TRY(flo_patches_build(&sampler->patches, sampler->memory, mesh, sampler->sides.data, sampler->error));
  return flo_thinner_create(&sampler->thinner, sampler->memory, low, high, sampler->spacing, n_expected,
                            sampler->error);
}

// ---- All layers ----

// Samples the surface itself, evens the samples out and takes them as candidates for the layers.
static FloStatus sample_relaxed(FloSampler *sampler, const FloSampleOptions *options, FloBuffer *given,
                                size_t *n_given) {
  sampler->depth = 0;
  FLO_TRY(sample_layer(sampler, NULL, 0));
  size_t n = flo_thinner_count(sampler->thinner);
  FLO_TRY(flo_buffer_reserve(sampler->memory, given, n * sizeof(FloSurfacePoint), 0, sampler->error));
  FloSurfacePoint *surface = given->data;
  for (size_t k = 0; k < n; ++k) surface[k] = flo_thinner_sample(sampler->thinner, k);
  *n_given = n;
  flo_thinner_clear(sampler->thinner);
  int n_iterations = options->relax_iterations > 0 ? options->relax_iterations : 10;
  return flo_sample_relax(sampler->bvh, sampler->spacing, n_iterations, options->threads, surface, n,
                          sampler->error);
}

static FloStatus sample_layers(FloSampler *sampler, const FloSampleOptions *options, int layers) {
  FloBuffer given = {0};
  size_t n_given = 0;
  FloStatus status = options->relax ? sample_relaxed(sampler, options, &given, &n_given) : FLO_OK;
  for (sampler->layer = 0; status == FLO_OK && sampler->layer < layers; ++sampler->layer) {
    sampler->depth = options->inset + sampler->layer * sampler->spacing;
    status = sample_layer(sampler, given.data, n_given);
  }
  flo_buffer_free(sampler->memory, &given);
  return status;
}

static FloStatus write_points(const FloSampler *sampler, FloPoints *points) {
  const size_t n = flo_thinner_count(sampler->thinner), size = 3 * sizeof(double);
  FLO_TRY(flo_buffer_reserve(points->memory, &points->buffer, (points->count + n) * size,
                             points->count * size, sampler->error));
  for (size_t k = 0; k < n; ++k) {
    FloSurfacePoint sample = flo_thinner_sample(sampler->thinner, k);
    vec_copy(sample.point, flo_points_at(points, points->count++));
  }
  return FLO_OK;
}

static void free_sampler(FloSampler *sampler) {
  FloBuffer *buffers[] = {&sampler->deferred, &sampler->marks,       &sampler->edges, &sampler->near_weak,
                          &sampler->sides,    &sampler->walks.slots, &sampler->pieces};
  flo_patches_free(&sampler->patches);
  flo_thinner_destroy(sampler->thinner);
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(sampler->memory, buffers[k]);
}

static FloStatus check_options(const FloSampleOptions *options, FloError *error) {
  if (!(options->spacing > 0) || !isfinite(options->spacing))
    return flo_fail(error, FLO_BAD_INPUT, "mesh: the spacing of samples must be positive, got %g",
                    options->spacing);
  if (!(options->inset >= 0) || options->inset > 16 * options->spacing)
    return flo_fail(error, FLO_BAD_INPUT,
                    "mesh: the inset of samples must be at least 0 and at most 16 spacings, got %g",
                    options->inset);
  if (options->layers < 0 || options->layers > 16)
    return flo_fail(error, FLO_BAD_INPUT, "mesh: there can be 1 to 16 layers of samples, got %d",
                    options->layers);
  return FLO_OK;
}

FloStatus flo_sample_surface(const FloMesh *mesh, const FloSampleOptions *options, FloPoints *points,
                             FloError *error) {
  FLO_TRY(check_options(options, error));
  if (!mesh->n_triangles) return FLO_OK;
  int layers = options->layers > 0 ? options->layers : 1;
  FloSampler sampler = {.mesh = mesh, .memory = points->memory, .error = error, .spacing = options->spacing};
  FloBvh bvh = {0};
  FloStatus status = prepare(&sampler, layers);
  if (status == FLO_OK && (options->inset > 0 || layers > 1 || options->relax)) {
    status = flo_bvh_build(&bvh, mesh, error);
    sampler.bvh = &bvh;
  }
  if (status == FLO_OK) status = sample_layers(&sampler, options, layers);
  if (status == FLO_OK) status = write_points(&sampler, points);
  flo_bvh_free(&bvh);
  free_sampler(&sampler);
  return status;
}
