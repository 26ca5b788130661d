// Vertices of a mesh sampler. Where a mesh is finer than the spacing, only some of its vertices are samples.
//
// At rest some vertices are chosen (mesh_choice.c). Every other vertex has a chosen one near, its home.
//
// When the mesh moves, chosen vertices that come too near to each other drop out, and vertices that their
// home has left too far behind become samples. This is decided in a fixed order. A vertex learns of samples
// near it from vertices decided before, which know the one nearest to them: so no search is needed. Chosen
// vertices heed only each other. So they are all samples again when the mesh returns to its shape, and then
// no others are.
#include "base/parallel.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

// Distances, in radii of the vertex that is decided.
#define DROP_DISTANCE   0.88 // a chosen vertex nearer than this to another is no sample
#define RETURN_DISTANCE 0.98 // it becomes one again from here on
#define KEEP_DISTANCE   1.02 // a vertex that was not chosen, but is a sample, remains one from here on
#define GAIN_DISTANCE   1.06 // a vertex that was not chosen becomes a sample from here on

// The largest of all radii [spacings]; see mesh_choice.c.
#define LARGEST_RADIUS 0.75

// ---- At rest ----

// Chosen vertices whose surroundings touch are neighbours. Each is listed with the neighbours before it.
// `ranks` are the places of vertices in the list of the chosen.
static void list_earlier(FloThinning *thinning, const FloMeshTopology *topology, const uint32_t *ranks) {
  const uint32_t *homes = thinning->homes.data;
  uint32_t *first = thinning->first_near.data, *near = thinning->near.data;
  memset(first, 0, (thinning->n_chosen + 2) * sizeof *first);
  for (int round = 0; round < 2; ++round) {
    for (size_t e = 0; e < topology->n_edges; ++e) {
      const uint32_t *ends = flo_topology_ends(topology, e);
      uint32_t a = ranks[homes[ends[0]]], b = ranks[homes[ends[1]]], late = a > b ? a : b;
      if (a == b) continue;
      if (round == 0)
        ++first[late + 2];
      else
        near[first[late + 1]++] = homes[ends[a > b]];
    }
    for (size_t k = 0; round == 0 && k < thinning->n_chosen; ++k) first[k + 2] += first[k + 1];
  }
}

static FloStatus find_chosen_neighbours(FloMeshSampler *sampler, FloError *error) {
  FloThinning *thinning = &sampler->thinning;
  const uint32_t *chosen = thinning->chosen.data;
  FloBuffer room = {0};
  const size_t size = sizeof(uint32_t);
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &thinning->first_near, (thinning->n_chosen + 2) * size, 0, error));
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &thinning->near, (sampler->topology.n_edges + 1) * size, 0, error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &room, (sampler->topology.n_vertices + 1) * size, 0, error));
  uint32_t *ranks = room.data;
  for (size_t k = 0; k < thinning->n_chosen; ++k) ranks[chosen[k]] = (uint32_t)k;
  list_earlier(thinning, &sampler->topology, ranks);
  flo_buffer_free(sampler->memory, &room);
  return FLO_OK;
}

FloStatus flo_thinning_make(FloMeshSampler *sampler, const double *rest, FloError *error) {
  FloThinning *thinning = &sampler->thinning;
  const size_t bytes = (sampler->topology.n_vertices + 1) * sizeof(uint32_t);
  FLO_TRY(flo_buffer_reserve(sampler->memory, &thinning->homes, bytes, 0, error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &thinning->chosen, bytes, 0, error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &thinning->covers, bytes, 0, error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &thinning->radii, bytes, 0, error));
  FLO_TRY(flo_thinning_choose(sampler, rest, error));
  thinning->is_everywhere = thinning->n_chosen == sampler->topology.n_ordered;
  return find_chosen_neighbours(sampler, error);
}

void flo_thinning_free(FloMeshSampler *sampler) {
  FloThinning *thinning = &sampler->thinning;
  FloBuffer *buffers[] = {&thinning->homes, &thinning->chosen, &thinning->first_near,
                          &thinning->near,  &thinning->covers, &thinning->radii};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(sampler->memory, buffers[k]);
}

// ---- Now ----

// The nearest of the samples that stand for some vertices.
typedef struct Nearest {
  uint32_t vertex;
  double distance2;
} Nearest;

static void consider(const FloMeshSampler *sampler, uint32_t vertex, uint32_t candidate, Nearest *nearest) {
  if (candidate == UINT32_MAX || candidate == nearest->vertex) return;
  double distance2 = flo_sampler_distance2(sampler, sampler->now.vertices, vertex, candidate);
  if (distance2 < nearest->distance2) *nearest = (Nearest){candidate, distance2};
}

// The square of a distance that is given in radii of a vertex.
static double square_of(const FloMeshSampler *sampler, uint32_t vertex, double distance) {
  const double length = distance * (double)((const float *)sampler->thinning.radii.data)[vertex];
  return length * length;
}

static bool is_present(const FloMeshSampler *sampler, uint32_t vertex) {
  return flo_sampler_count_of(sampler, vertex) > 0;
}

// Whether a chosen vertex may have to drop out or to return.
static bool is_chosen_at_odds(const FloMeshSampler *sampler, size_t k) {
  const FloThinning *thinning = &sampler->thinning;
  const uint32_t *first = thinning->first_near.data, *near = thinning->near.data;
  const uint32_t vertex = ((const uint32_t *)thinning->chosen.data)[k];
  const double least = square_of(sampler, vertex, DROP_DISTANCE);
  if (!is_present(sampler, vertex) && flo_sampler_is_wanted(sampler, vertex)) return true;
  for (uint32_t i = first[k]; i < first[k + 1]; ++i)
    if (flo_sampler_distance2(sampler, sampler->now.vertices, vertex, near[i]) < least) return true;
  return false;
}

static bool is_other_at_odds(const FloMeshSampler *sampler, uint32_t vertex) {
  const uint32_t home = ((const uint32_t *)sampler->thinning.homes.data)[vertex];
  if (home == vertex) return false;
  return is_present(sampler, vertex) || flo_sampler_distance2(sampler, sampler->now.vertices, vertex, home) >
                                            square_of(sampler, vertex, GAIN_DISTANCE);
}

static void look_at_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  const uint32_t *order = sampler->topology.order.data;
  uint8_t *marks = sampler->has_changed.data;
  for (size_t k = begin; k < end; ++k)
    marks[k] = (k < sampler->thinning.n_chosen && is_chosen_at_odds(sampler, k)) ||
               is_other_at_odds(sampler, order[k]);
}

static bool is_any_at_odds(FloMeshSampler *sampler) {
  const size_t n = sampler->topology.n_ordered;
  flo_parallel_for(sampler->now.threads, n, 2048, look_at_range, sampler);
  return memchr(sampler->has_changed.data, 1, n);
}

// A quick test for meshes with samples at all vertices: whether one is missing or an edge is short.
static bool is_any_missing(const FloMeshSampler *sampler) {
  const uint32_t *order = sampler->topology.order.data, *counts = sampler->counts.data;
  const double *lengths = sampler->lengths.data, least = DROP_DISTANCE * LARGEST_RADIUS;
  for (size_t k = 0; k < sampler->topology.n_ordered; ++k)
    if (!counts[order[k]]) return true;
  for (size_t e = 0; e < sampler->topology.n_edges; ++e)
    if (lengths[e] < least * least) return true;
  return false;
}

// A chosen vertex asks the earlier chosen ones around it.
static void decide_chosen(FloMeshSampler *sampler, size_t k) {
  const FloThinning *thinning = &sampler->thinning;
  const uint32_t *first = thinning->first_near.data, *near = thinning->near.data;
  const uint32_t vertex = ((const uint32_t *)thinning->chosen.data)[k];
  uint32_t *covers = thinning->covers.data;
  const double least = is_present(sampler, vertex) ? DROP_DISTANCE : RETURN_DISTANCE;
  Nearest nearest = {UINT32_MAX, square_of(sampler, vertex, least)};
  for (uint32_t i = first[k]; i < first[k + 1]; ++i) consider(sampler, vertex, covers[near[i]], &nearest);
  covers[vertex] = nearest.vertex == UINT32_MAX ? vertex : nearest.vertex;
}

// Whether the home of a vertex is a sample and near enough.
static bool is_at_home(const FloMeshSampler *sampler, uint32_t vertex) {
  const uint32_t home = ((const uint32_t *)sampler->thinning.homes.data)[vertex];
  if (((const uint32_t *)sampler->thinning.covers.data)[home] != home) return false;
  return flo_sampler_distance2(sampler, sampler->now.vertices, vertex, home) <
         square_of(sampler, vertex, KEEP_DISTANCE);
}

// Any other vertex asks its home, the homes of its neighbours, and neighbours before it.
static void decide_other(FloMeshSampler *sampler, uint32_t vertex) {
  const uint32_t *homes = sampler->thinning.homes.data;
  uint32_t *covers = sampler->thinning.covers.data;
  const double least = is_present(sampler, vertex) ? KEEP_DISTANCE : GAIN_DISTANCE;
  Nearest nearest = {UINT32_MAX, square_of(sampler, vertex, least)};
  size_t n;
  const uint32_t *near = flo_topology_near(&sampler->topology, vertex, &n);
  consider(sampler, vertex, covers[homes[vertex]], &nearest);
  for (size_t k = 0; k < n; ++k) {
    consider(sampler, vertex, covers[homes[near[k]]], &nearest);
    consider(sampler, vertex, covers[near[k]], &nearest);
  }
  covers[vertex] = nearest.vertex == UINT32_MAX ? vertex : nearest.vertex;
}

static void decide_all(FloMeshSampler *sampler) {
  const FloThinning *thinning = &sampler->thinning;
  const uint32_t *order = sampler->topology.order.data, *homes = thinning->homes.data;
  uint32_t *covers = thinning->covers.data;
  memset(covers, 0xff, sampler->topology.n_vertices * sizeof *covers);
  for (size_t k = 0; k < thinning->n_chosen; ++k) decide_chosen(sampler, k);
  for (size_t k = 0; k < sampler->topology.n_ordered; ++k)
    if (homes[order[k]] != order[k]) {
      covers[order[k]] = homes[order[k]];
      if (!is_at_home(sampler, order[k])) covers[order[k]] = UINT32_MAX, decide_other(sampler, order[k]);
    }
}

// ---- What changes ----

static void mark_changes(FloMeshSampler *sampler) {
  const FloThinning *thinning = &sampler->thinning;
  const size_t n = sampler->topology.n_ordered;
  const uint32_t *order = sampler->topology.order.data;
  uint8_t *has_changed = sampler->has_changed.data;
  size_t n_samples = 0;
  memset(has_changed, 0, sampler->topology.n_vertices);
  for (size_t k = 0; k < n; ++k) {
    const bool is_sample = thinning->present[order[k]] == order[k];
    n_samples += is_sample;
    has_changed[order[k]] =
        (is_sample && flo_sampler_is_wanted(sampler, order[k])) != is_present(sampler, order[k]);
  }
  sampler->thinning.is_everywhere = n_samples == n;
}

void flo_thinning_update(FloMeshSampler *sampler) {
  FloThinning *thinning = &sampler->thinning;
  const bool are_all_chosen = thinning->n_chosen == sampler->topology.n_ordered;
  const bool is_quiet = are_all_chosen && !is_any_missing(sampler) ? true : !is_any_at_odds(sampler);
  if (!is_quiet) decide_all(sampler);
  thinning->present = is_quiet ? thinning->homes.data : thinning->covers.data;
  mark_changes(sampler);
}
