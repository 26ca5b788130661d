// Lonely triangles of a mesh sampler: on a mesh that is thinned, triangles none of whose corners is a sample
// and that are far from the samples of their corners. They get a sample at the centre. Of lonely triangles
// that share a corner only one does.
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

static void ask(FloMeshSampler *sampler, const double *vertices, const uint32_t *covers, size_t triangle,
                uint8_t *is_taken) {
  const uint32_t *corners = flo_topology_corners(&sampler->topology, triangle);
  uint8_t *is_lonely = sampler->is_lonely.data;
  if (is_taken[corners[0]] || is_taken[corners[1]] || is_taken[corners[2]]) return;
  if (!(gap_at(sampler, vertices, covers, corners) > flo_sampler_least_gap(sampler, triangle))) return;
  is_lonely[triangle] = 1;
  for (int k = 0; k < 3; ++k) is_taken[corners[k]] = 1;
}

void flo_sampler_find_lonely(FloMeshSampler *sampler, const double *vertices, const uint32_t *covers) {
  const FloMeshTopology *topology = &sampler->topology;
  const uint8_t *has_interior = topology->has_interior.data;
  uint8_t *is_taken = sampler->is_taken.data;
  sampler->has_lonely = !sampler->thinning.is_everywhere && !sampler->is_flat;
  if (!sampler->has_lonely) return;
  memset(sampler->is_lonely.data, 0, topology->n_triangles);
  memset(is_taken, 0, topology->n_vertices);
  for (int round = 0; round < ROUNDS; ++round)
    for (size_t t = 0; t < topology->n_triangles; ++t)
      if (has_interior[t] && !has_sample(covers, flo_topology_corners(topology, t)) &&
          round_of(sampler, t) == round)
        ask(sampler, vertices, covers, t, is_taken);
}
