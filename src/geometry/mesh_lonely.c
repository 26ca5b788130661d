// Lonely triangles of a mesh sampler: on a mesh that is thinned, triangles none of whose corners is a sample
// and that are far from the samples of their corners. They get a sample at the centre. Of lonely triangles
// that share a corner only one does.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

// The distance from the centre to the nearest sample that stands for a corner [spacings].
static double gap_at(const FloMeshSampler *sampler, const double *vertices, const uint32_t *covers,
                     const uint32_t *corners) {
  double centre[3] = {0, 0, 0}, nearest = INFINITY, d[3];
  for (int k = 0; k < 3; ++k) vec_add_scaled(centre, vertices + 3 * (size_t)corners[k], 1.0 / 3, centre);
  for (int k = 0; k < 3; ++k) {
    vec_sub(vertices + 3 * (size_t)covers[corners[k]], centre, d);
    nearest = fmin(nearest, vec_dot(d, d));
  }
  return sqrt(nearest) / sampler->spacing;
}

static bool has_sample(const uint32_t *covers, const uint32_t *corners) {
  return covers[corners[0]] == corners[0] || covers[corners[1]] == corners[1] ||
         covers[corners[2]] == corners[2];
}

// Triangles with a centre at rest are asked first, then those with one now, then all others.
enum { AT_REST, AT_PRESENT, ANEW, ROUNDS };

static int round_of(const FloMeshSampler *sampler, size_t triangle) {
  if (flo_rows_are_centre((const FloRowState *)sampler->rest_rows.data + triangle)) return AT_REST;
  return flo_rows_are_centre((const FloRowState *)sampler->rows.data + triangle) ? AT_PRESENT : ANEW;
}

static void take(FloMeshSampler *sampler, size_t triangle) {
  const uint32_t *corners = flo_topology_corners(&sampler->topology, triangle);
  uint8_t *is_taken = sampler->is_taken.data;
  if (is_taken[corners[0]] || is_taken[corners[1]] || is_taken[corners[2]]) return;
  ((uint8_t *)sampler->is_lonely.data)[triangle] = 1;
  for (int k = 0; k < 3; ++k) is_taken[corners[k]] = 1;
}

typedef struct Search {
  FloMeshSampler *sampler;
  const double *vertices;
  const uint32_t *covers;
  uint8_t *marks; // of triangles
} Search;

// Marks those that may be lonely.
static void search_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  const FloMeshTopology *topology = &search->sampler->topology;
  const uint8_t *has_interior = topology->has_interior.data;
  for (size_t t = begin; t < end; ++t) {
    const uint32_t *corners = flo_topology_corners(topology, t);
    search->marks[t] = has_interior[t] && !has_sample(search->covers, corners) &&
                       gap_at(search->sampler, search->vertices, search->covers, corners) >
                           flo_sampler_least_gap(search->sampler, t);
  }
}

// Candidates are found in parallel and judged in order.
void flo_sampler_find_lonely(FloMeshSampler *sampler, const double *vertices, const uint32_t *covers) {
  const size_t n = sampler->topology.n_triangles;
  uint8_t *marks = (uint8_t *)sampler->has_changed.data + flo_sampler_first_triangle(sampler), *next;
  sampler->has_lonely = !sampler->thinning.is_everywhere && !sampler->is_flat;
  if (!sampler->has_lonely) return;
  memset(sampler->is_lonely.data, 0, n);
  memset(sampler->is_taken.data, 0, sampler->topology.n_vertices);
  Search search = {sampler, vertices, covers, marks};
  flo_parallel_for(sampler->is_at_rest ? 1 : sampler->now.threads, n, 2048, search_range, &search);
  for (int round = 0; round < ROUNDS; ++round)
    for (next = marks; (next = memchr(next, 1, (size_t)(marks + n - next))); ++next)
      if (round_of(sampler, (size_t)(next - marks)) == round) take(sampler, (size_t)(next - marks));
}
