#include "base/parallel.h"
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

enum { GRAIN = 2048, IS_BAD = 2 };

// ---- Making ----

static FloStatus check_definition(const FloMeshSamplerDef *def, FloError *error) {
  if (!(def->spacing > 0) || !isfinite(def->spacing))
    return flo_fail(error, FLO_BAD_INPUT, "samples on a mesh: the spacing is %g; it must be above zero",
                    def->spacing);
  if (def->rule == FLO_RESAMPLE_BY_SUBDIVISION && def->n_corners != 3)
    return flo_fail(error, FLO_BAD_INPUT,
                    "samples on a mesh: the seven-point rule needs triangles; use another rule for segments");
  for (size_t v = 0; v < def->n_vertices; ++v)
    if (!vec_is_finite(def->rest + 3 * v))
      return flo_fail(error, FLO_BAD_INPUT,
                      "samples on a mesh: vertex %zu is at (%g, %g, %g); all coordinates must be finite", v,
                      def->rest[3 * v], def->rest[3 * v + 1], def->rest[3 * v + 2]);
  return FLO_OK;
}

static FloStatus reserve(FloMeshSampler *sampler, FloBuffer *buffer, size_t count, size_t size,
                         FloError *error) {
  return flo_buffer_reserve(sampler->memory, buffer, (count + 1) * size, 0, error);
}

static FloStatus reserve_all(FloMeshSampler *sampler, FloError *error) {
  const FloMeshTopology *topology = &sampler->topology;
  const size_t n = flo_sampler_count_primitives(sampler), n_triangles = topology->n_triangles;
  FLO_TRY(reserve(sampler, &sampler->rest_steps, topology->n_edges, sizeof(uint32_t), error));
  FLO_TRY(reserve(sampler, &sampler->rest_rows, n_triangles, sizeof(FloRowState), error));
  FLO_TRY(reserve(sampler, &sampler->counts, flo_sampler_first_triangle(sampler), sizeof(uint32_t), error));
  FLO_TRY(reserve(sampler, &sampler->rows, n_triangles, sizeof(FloRowState), error));
  FLO_TRY(reserve(sampler, &sampler->lengths, topology->n_edges, sizeof(double), error));
  FLO_TRY(reserve(sampler, &sampler->is_wanted, n, 1, error));
  FLO_TRY(reserve(sampler, &sampler->has_changed, n, 1, error));
  FLO_TRY(reserve(sampler, &sampler->is_dropped, topology->n_edges, 1, error));
  FLO_TRY(reserve(sampler, &sampler->is_lonely, n_triangles, 1, error));
  FLO_TRY(reserve(sampler, &sampler->is_taken, topology->n_vertices, 1, error));
  FLO_TRY(reserve(sampler, &sampler->rest_needles, n_triangles, 1, error));
  if (sampler->rule != FLO_RESAMPLE_BY_DENSITY) return FLO_OK;
  return reserve(sampler, &sampler->densities, n, 2 * sizeof(float), error);
}

// The samples that the mesh has at rest.
static void sample_at_rest(FloMeshSampler *sampler, const double *rest) {
  const FloMeshTopology *topology = &sampler->topology;
  uint32_t *steps = sampler->rest_steps.data;
  FloRowState *rows = sampler->rest_rows.data;
  const uint32_t *homes = sampler->thinning.homes.data;
  sampler->is_at_rest = true;
  flo_sampler_measure_edges(sampler, rest, 0, topology->n_edges);
  memset(rows, 0, topology->n_triangles * sizeof *rows);
  memset(sampler->rows.data, 0, topology->n_triangles * sizeof *rows);
  flo_sampler_drop_edges(sampler, homes);
  flo_sampler_find_lonely(sampler, rest, homes);
  for (size_t e = 0; e < topology->n_edges; ++e) steps[e] = flo_sampler_rest_steps(sampler, rest, e);
  for (size_t t = 0; t < topology->n_triangles; ++t) rows[t] = flo_sampler_rest_rows(sampler, t);
  sampler->is_at_rest = false;
}

static FloStatus make(FloMeshSampler *sampler, const FloMeshSamplerDef *def, FloError *error) {
  FLO_TRY(flo_mesh_topology_make(&sampler->topology, sampler->memory, def->n_vertices, def->elements,
                                 def->n_elements, def->n_corners, error));
  FLO_TRY(reserve_all(sampler, error));
  FLO_TRY(flo_thinning_make(sampler, def->rest, error));
  sample_at_rest(sampler, def->rest);
  return FLO_OK;
}

FloStatus flo_mesh_sampler_create(const FloMeshSamplerDef *def, FloMemory *memory, FloMeshSampler **sampler,
                                  FloError *error) {
  *sampler = NULL;
  FLO_TRY(check_definition(def, error));
  FloMeshSampler *made = flo_memory_allocate(memory, sizeof *made);
  if (!made) return flo_fail(error, FLO_NO_MEMORY, "out of memory for the samples of a mesh");
  const size_t most = FLO_TOO_MANY_STEPS - 1;
  *made = (FloMeshSampler){.memory = memory,
                           .spacing = def->spacing,
                           .per_square = 1 / (def->spacing * def->spacing),
                           .is_flat = def->n_corners == 2,
                           .rule = def->rule,
                           .max_samples = def->max_samples ? flo_min_size(def->max_samples, most) : most};
  FloStatus status = make(made, def, error);
  if (status == FLO_OK)
    *sampler = made;
  else
    flo_mesh_sampler_destroy(made);
  return status;
}

void flo_mesh_sampler_destroy(FloMeshSampler *sampler) {
  if (!sampler) return;
  FloBuffer *buffers[] = {&sampler->rest_steps,  &sampler->rest_rows, &sampler->counts,
                          &sampler->rows,        &sampler->lengths,   &sampler->is_wanted,
                          &sampler->has_changed, &sampler->densities, &sampler->is_dropped,
                          &sampler->is_lonely,   &sampler->is_taken,  &sampler->rest_needles,
                          &sampler->lost,        &sampler->gained};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(sampler->memory, buffers[k]);
  flo_thinning_free(sampler);
  flo_mesh_topology_free(&sampler->topology);
  flo_memory_release(sampler->memory, sampler, sizeof *sampler);
}

// ---- What is there ----

// The number of the primitive of a sample; triangles count once here.
static size_t primitive_of(const FloMeshSampler *sampler, size_t i) {
  const size_t number = (size_t)sampler->now.bindings[0][i], triangles = flo_sampler_first_triangle(sampler);
  return number < triangles ? number : triangles + (number - triangles) / FLO_LAYOUTS;
}

static FloStatus check_binding(const FloMeshSampler *sampler, size_t i, FloError *error) {
  const double *const *b = sampler->now.bindings;
  const double binding[3] = {b[0][i], b[1][i], b[2][i]};
  if (flo_mesh_sampler_knows(sampler, binding)) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "samples on a mesh: sample %zu is bound by (%g, %g, %g), which is no place on this mesh; use "
      "the mesh with which the samples were made",
      i, binding[0], binding[1], binding[2]);
}

// The first row of a triangle is one n-th of the way to the opposite corner.
static void note_row(FloMeshSampler *sampler, size_t i) {
  const double *const *b = sampler->now.bindings;
  const FloMeshPart primitive = flo_mesh_sampler_primitive(sampler, b[0][i]);
  FloRowState *rows = (FloRowState *)sampler->rows.data + primitive.index;
  const double weights[3] = {1 - b[1][i] - b[2][i], b[1][i], b[2][i]};
  const uint32_t n = (uint32_t)(1 / fmax(weights[(primitive.layout + 2) % 3], 1e-8) + 0.5);
  rows->count++;
  rows->layout = (unsigned)primitive.layout;
  if (n > rows->n_rows) rows->n_rows = n;
}

static FloStatus count_samples(FloMeshSampler *sampler, FloError *error) {
  const size_t triangles = flo_sampler_first_triangle(sampler);
  uint32_t *counts = sampler->counts.data;
  memset(counts, 0, triangles * sizeof *counts);
  memset(sampler->rows.data, 0, sampler->topology.n_triangles * sizeof(FloRowState));
  for (size_t i = 0; i < sampler->now.count; ++i) {
    FLO_TRY(check_binding(sampler, i, error));
    const size_t number = (size_t)sampler->now.bindings[0][i];
    if (number < triangles)
      counts[number]++;
    else
      note_row(sampler, i);
  }
  return FLO_OK;
}

// ---- Number densities ----

// The window of section 2.3, times H^3. In the plane a line of samples one spacing apart has 2.7/H^2.
// Between samples the density is less than at them, so that samples must have a little more than the least.
static const float windows[2][2] = {{5, 10}, {2.4f, 5}};

static void note_densities(FloMeshSampler *sampler) {
  float(*ranges)[2] = sampler->densities.data;
  const size_t n = flo_sampler_count_primitives(sampler);
  for (size_t k = 0; k < n; ++k) ranges[k][0] = INFINITY, ranges[k][1] = -INFINITY;
  for (size_t i = 0; i < sampler->now.count; ++i) {
    float *range = ranges[primitive_of(sampler, i)], density = sampler->now.densities[i];
    range[0] = fminf(range[0], density), range[1] = fmaxf(range[1], density);
  }
}

static void add_range(const FloMeshSampler *sampler, size_t primitive, float range[2]) {
  const float *other = ((const float(*)[2])sampler->densities.data)[primitive];
  range[0] = fminf(range[0], other[0]), range[1] = fmaxf(range[1], other[1]);
}

// Densities on an edge and its ends, or on a triangle, its edges and its corners.
bool flo_sampler_is_due(const FloMeshSampler *sampler, size_t primitive) {
  const FloMeshTopology *topology = &sampler->topology;
  const size_t triangles = flo_sampler_first_triangle(sampler), edges = topology->n_vertices;
  const bool is_edge = primitive < triangles;
  const uint32_t *corners = is_edge ? flo_topology_ends(topology, primitive - edges)
                                    : flo_topology_corners(topology, primitive - triangles);
  float range[2] = {INFINITY, -INFINITY};
  add_range(sampler, primitive, range);
  for (int k = 0; k < (is_edge ? 2 : 3); ++k) add_range(sampler, corners[k], range);
  for (int k = 0; !is_edge && k < 3; ++k)
    add_range(sampler, edges + flo_topology_sides(topology, primitive - triangles)[k], range);
  const float *window = windows[sampler->is_flat];
  const bool is_unknown = range[0] > range[1];
  return is_unknown || range[0] < window[0] || range[1] > window[1];
}

// ---- Where samples are wanted ----

static void spread_wishes(FloMeshSampler *sampler) {
  const FloMeshTopology *topology = &sampler->topology;
  const size_t triangles = flo_sampler_first_triangle(sampler);
  uint8_t *is_wanted = sampler->is_wanted.data;
  memset(is_wanted, 0, flo_sampler_count_primitives(sampler));
  for (size_t t = 0; t < topology->n_triangles; ++t) {
    if (!sampler->now.is_wanted[t]) continue;
    const uint32_t *corners = flo_topology_corners(topology, t), *sides = flo_topology_sides(topology, t);
    is_wanted[triangles + t] = 1;
    for (int k = 0; k < 3; ++k) {
      is_wanted[corners[k]] = 1;
      if (sides[k] != FLO_NO_EDGE) is_wanted[topology->n_vertices + sides[k]] = 1;
    }
  }
}

// ---- What changes ----

static void check_vertices_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  const uint32_t *order = sampler->topology.order.data;
  uint8_t *marks = sampler->has_changed.data;
  for (size_t k = begin; k < end; ++k)
    marks[k] = vec_is_finite(sampler->now.vertices + 3 * (size_t)order[k]) ? 0 : IS_BAD;
}

static FloStatus check_vertices(FloMeshSampler *sampler, FloError *error) {
  const size_t n = sampler->topology.n_ordered;
  const uint8_t *marks = sampler->has_changed.data;
  flo_parallel_for(sampler->now.threads, n, GRAIN, check_vertices_range, sampler);
  const uint8_t *bad = memchr(marks, IS_BAD, n);
  if (!bad) return FLO_OK;
  const uint32_t vertex = ((const uint32_t *)sampler->topology.order.data)[bad - marks];
  const double *x = sampler->now.vertices + 3 * (size_t)vertex;
  return flo_fail(
      error, FLO_DIVERGED,
      "samples on a mesh: vertex %u is at (%g, %g, %g); use shorter time steps or a softer material", vertex,
      x[0], x[1], x[2]);
}

static void measure_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  flo_sampler_measure_edges(sampler, sampler->now.vertices, begin, end);
}

static void mark_edges_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  uint8_t *has_changed = sampler->has_changed.data;
  for (size_t e = begin; e < end; ++e) {
    const size_t primitive = sampler->topology.n_vertices + e;
    has_changed[primitive] =
        !flo_sampler_is_edge_bare(sampler, e) &&
        flo_sampler_edge_steps(sampler, e) != flo_sampler_count_of(sampler, primitive) + 1;
  }
}

static bool do_rows_change(const FloRowState *present, const FloRows *next) {
  if (present->count != next->count) return true;
  if (next->layout == FLO_CENTRE_LAYOUT) return present->layout != FLO_CENTRE_LAYOUT;
  return next->count && (present->layout != (unsigned)next->layout || present->n_rows != next->n_rows);
}

static void mark_triangles_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  const FloRowState *present = sampler->rows.data;
  uint8_t *has_changed = (uint8_t *)sampler->has_changed.data + flo_sampler_first_triangle(sampler);
  for (size_t t = begin; t < end; ++t) {
    has_changed[t] = 0;
    if (flo_sampler_is_triangle_bare(sampler, t)) continue;
    const FloRows next = flo_sampler_rows(sampler, t);
    has_changed[t] = do_rows_change(&present[t], &next);
  }
}

static FloStatus find_changes(FloMeshSampler *sampler, FloError *error) {
  const FloMeshTopology *topology = &sampler->topology;
  const int threads = sampler->now.threads;
  FLO_TRY(check_vertices(sampler, error));
  flo_parallel_for(threads, topology->n_edges, GRAIN, measure_range, sampler);
  flo_thinning_update(sampler);
  flo_sampler_drop_edges(sampler, sampler->thinning.present);
  flo_sampler_find_lonely(sampler, sampler->now.vertices, sampler->thinning.present);
  flo_parallel_for(threads, topology->n_edges, GRAIN, mark_edges_range, sampler);
  flo_parallel_for(threads, topology->n_triangles, GRAIN, mark_triangles_range, sampler);
  return FLO_OK;
}

// ---- Samples that go and come ----

// Room for one more element of `size` bytes behind `count` others.
static FloStatus grow(FloMeshSampler *sampler, FloBuffer *buffer, size_t count, size_t size,
                      FloError *error) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(sampler->memory, buffer, (count + count / 2 + 64) * size, count * size, error);
}

static FloStatus lose_samples(FloMeshSampler *sampler, FloError *error) {
  const uint8_t *has_changed = sampler->has_changed.data;
  sampler->n_lost = 0;
  if (!memchr(has_changed, 1, flo_sampler_count_primitives(sampler))) return FLO_OK;
  for (size_t i = 0; i < sampler->now.count; ++i) {
    if (!has_changed[primitive_of(sampler, i)]) continue;
    FLO_TRY(grow(sampler, &sampler->lost, sampler->n_lost, sizeof(uint32_t), error));
    ((uint32_t *)sampler->lost.data)[sampler->n_lost++] = (uint32_t)i;
  }
  return FLO_OK;
}

// Multiples of 2^-50 make weights whose sum is exact.
static double round_weight(double weight) {
  const double scale = 0x1p50;
  return rint(weight * scale) / scale;
}

static FloStatus gain_sample(FloMeshSampler *sampler, double number, double a, double b, FloError *error) {
  FLO_TRY(grow(sampler, &sampler->gained, sampler->n_gained, 3 * sizeof(double), error));
  double *binding = (double *)sampler->gained.data + 3 * sampler->n_gained++;
  binding[0] = number, binding[1] = round_weight(a), binding[2] = round_weight(b);
  return FLO_OK;
}

// How many samples a primitive that has changed gets.
static size_t count_next(const FloMeshSampler *sampler, size_t primitive) {
  const size_t triangles = flo_sampler_first_triangle(sampler), edges = sampler->topology.n_vertices;
  if (primitive >= triangles) return flo_sampler_rows(sampler, primitive - triangles).count;
  if (primitive >= edges) return flo_sampler_edge_steps(sampler, primitive - edges) - 1;
  return flo_thinning_is_sample(sampler, (uint32_t)primitive) && flo_sampler_is_wanted(sampler, primitive);
}

static FloStatus fail_for_room(const FloMeshSampler *sampler, size_t primitive, FloError *error) {
  static const char *const names[] = {"vertex", "edge", "triangle"};
  const size_t starts[] = {0, sampler->topology.n_vertices, flo_sampler_first_triangle(sampler)};
  const int kind = (primitive >= starts[1]) + (primitive >= starts[2]);
  return flo_fail(
      error, FLO_BAD_INPUT,
      "samples on a mesh: %s %zu would bring them above %zu; use a larger spacing, or find out why the "
      "mesh is stretched so far",
      names[kind], primitive - starts[kind], sampler->max_samples);
}

static FloStatus fill_edge(FloMeshSampler *sampler, size_t edge, FloError *error) {
  const uint32_t n = flo_sampler_edge_steps(sampler, edge);
  const double number = (double)(sampler->topology.n_vertices + edge);
  for (uint32_t k = 1; k < n; ++k) FLO_TRY(gain_sample(sampler, number, (double)k / (double)n, 0, error));
  return FLO_OK;
}

static FloStatus fill_primitive(FloMeshSampler *sampler, size_t primitive, FloError *error) {
  const size_t triangles = flo_sampler_first_triangle(sampler), edges = sampler->topology.n_vertices;
  if (primitive >= triangles) {
    const FloRows rows = flo_sampler_rows(sampler, primitive - triangles);
    return flo_sampler_fill_rows(sampler, primitive - triangles, &rows, gain_sample, error);
  }
  if (primitive >= edges) return fill_edge(sampler, primitive - edges, error);
  return count_next(sampler, primitive) ? gain_sample(sampler, (double)primitive, 0, 0, error) : FLO_OK;
}

// The next primitive that has changed, from `first` on; their number if there is none.
static size_t next_changed(const FloMeshSampler *sampler, size_t first) {
  const uint8_t *has_changed = sampler->has_changed.data;
  const size_t n = flo_sampler_count_primitives(sampler);
  const uint8_t *found = memchr(has_changed + first, 1, n - first);
  return found ? (size_t)(found - has_changed) : n;
}

// All are counted first: too many are refused before memory is.
static FloStatus check_room(FloMeshSampler *sampler, FloError *error) {
  const size_t n_primitives = flo_sampler_count_primitives(sampler);
  size_t n = sampler->now.count - sampler->n_lost;
  for (size_t k = next_changed(sampler, 0); k < n_primitives; k = next_changed(sampler, k + 1)) {
    n += count_next(sampler, k);
    if (n > sampler->max_samples) return fail_for_room(sampler, k, error);
  }
  return FLO_OK;
}

static FloStatus gain_samples(FloMeshSampler *sampler, FloError *error) {
  const size_t n_primitives = flo_sampler_count_primitives(sampler);
  sampler->n_gained = 0;
  FLO_TRY(check_room(sampler, error));
  for (size_t k = next_changed(sampler, 0); k < n_primitives; k = next_changed(sampler, k + 1))
    FLO_TRY(fill_primitive(sampler, k, error));
  return FLO_OK;
}

FloStatus flo_mesh_sampler_resample(FloMeshSampler *sampler, const FloMeshSamples *now,
                                    FloMeshSampleEdit *edit, FloError *error) {
  *edit = (FloMeshSampleEdit){0};
  if (sampler->rule == FLO_RESAMPLE_NEVER && now->count) return FLO_OK;
  FLO_ASSERT(sampler->rule != FLO_RESAMPLE_BY_DENSITY || now->densities || !now->count);
  sampler->now = *now;
  FLO_TRY(count_samples(sampler, error));
  if (sampler->rule == FLO_RESAMPLE_BY_DENSITY) note_densities(sampler);
  if (now->is_wanted) spread_wishes(sampler);
  FLO_TRY(find_changes(sampler, error));
  FLO_TRY(lose_samples(sampler, error));
  FLO_TRY(gain_samples(sampler, error));
  *edit = (FloMeshSampleEdit){sampler->lost.data, sampler->n_lost, (const double(*)[3])sampler->gained.data,
                              sampler->n_gained};
  return FLO_OK;
}
