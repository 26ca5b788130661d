// Edges of a mesh sampler: how many samples they have between their ends.
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

// ---- Steps ----

// The printed rule of the paper, floor(L / d) steps, lets steps grow to almost two spacings. Between
// triangles the nearest whole number is best: samples on both sides of the edge help. At a border nothing
// lies beyond, and in the plane nothing lies beside, so there steps are shorter.
static const FloStepRule inner_rule = {0.5, 0.06}, border_rule = {0.3, 0.05}, flat_rule = {0.25, 0.03};

uint32_t flo_steps_of(double length, double surplus) {
  double n = ceil(length - surplus);
  if (!(n < FLO_TOO_MANY_STEPS)) return FLO_TOO_MANY_STEPS;
  return n > 1 ? (uint32_t)n : 1;
}

bool flo_steps_fit(uint32_t n, double length, double surplus, double tolerance) {
  return length <= n + surplus + tolerance && (n == 1 || length >= n - 1 + surplus - tolerance);
}

// ---- Lengths ----

void flo_sampler_measure_edges(FloMeshSampler *sampler, const double *vertices, size_t begin, size_t end) {
  const uint32_t *ends = sampler->topology.ends.data;
  double *lengths = sampler->lengths.data;
  for (size_t e = begin; e < end; ++e)
    lengths[e] = flo_sampler_distance2(sampler, vertices, ends[2 * e], ends[2 * e + 1]);
}

static const FloStepRule *rule_of(const FloMeshSampler *sampler, size_t edge) {
  if (sampler->is_flat) return &flat_rule;
  return ((const uint8_t *)sampler->topology.is_border.data)[edge] ? &border_rule : &inner_rule;
}

// An edge whose ends are not samples reaches farther, to the samples that stand for its ends.
static double length_of(const FloMeshSampler *sampler, const double *vertices, const uint32_t *covers,
                        size_t edge) {
  const uint32_t *ends = flo_topology_ends(&sampler->topology, edge);
  double length = sqrt(((const double *)sampler->lengths.data)[edge]);
  for (int k = 0; k < 2; ++k)
    if (covers[ends[k]] != ends[k])
      length += 0.5 * sqrt(flo_sampler_distance2(sampler, vertices, ends[k], covers[ends[k]]));
  return length;
}

uint32_t flo_sampler_rest_steps(const FloMeshSampler *sampler, const double *vertices, size_t edge) {
  double length = length_of(sampler, vertices, sampler->thinning.homes.data, edge);
  return flo_steps_of(length, rule_of(sampler, edge)->surplus);
}

// ---- Edges beside each other ----

// Whether the two sides of a triangle from one corner to the others are long and the others share a sample.
static bool is_needle(const FloMeshSampler *sampler, const uint32_t *sides, const uint32_t *corners,
                      int corner) {
  const double *lengths = sampler->lengths.data;
  const uint32_t *covers = sampler->thinning.present;
  uint32_t one = sides[corner], other = sides[(corner + 2) % 3];
  if (one == FLO_NO_EDGE || other == FLO_NO_EDGE || one == other) return false;
  return lengths[one] > 1 && lengths[other] > 1 &&
         covers[corners[(corner + 1) % 3]] == covers[corners[(corner + 2) % 3]];
}

// In a row of such edges those with the least number among their neighbours stay, so one is always near.
void flo_sampler_drop_edges(FloMeshSampler *sampler) {
  const FloMeshTopology *topology = &sampler->topology;
  uint8_t *is_dropped = sampler->is_dropped.data;
  sampler->has_dropped = !sampler->thinning.is_everywhere && !sampler->is_flat;
  if (!sampler->has_dropped) return;
  memset(is_dropped, 0, topology->n_edges);
  for (size_t t = 0; t < topology->n_triangles; ++t) {
    const uint32_t *sides = flo_topology_sides(topology, t), *corners = flo_topology_corners(topology, t);
    for (int k = 0; k < 3; ++k) {
      uint32_t one = sides[k], other = sides[(k + 2) % 3];
      if (is_needle(sampler, sides, corners, k)) is_dropped[one > other ? one : other] = 1;
    }
  }
}

// ---- Steps now ----

static bool has_samples(const FloMeshSampler *sampler, size_t edge) {
  if (sampler->has_dropped && ((const uint8_t *)sampler->is_dropped.data)[edge]) return false;
  return flo_sampler_is_wanted(sampler, sampler->topology.n_vertices + edge);
}

uint32_t flo_sampler_edge_steps(const FloMeshSampler *sampler, size_t edge) {
  const FloStepRule *rule = rule_of(sampler, edge);
  const size_t primitive = sampler->topology.n_vertices + edge;
  const uint32_t present = flo_sampler_count_of(sampler, primitive) + 1;
  const uint32_t rest = ((const uint32_t *)sampler->rest_steps.data)[edge];
  if (!has_samples(sampler, edge)) return 1;
  double length = length_of(sampler, sampler->now.vertices, sampler->thinning.present, edge);
  if (sampler->rule == FLO_RESAMPLE_BY_DENSITY)
    return flo_sampler_is_due(sampler, primitive) ? flo_steps_of(length, rule->surplus) : present;
  if (flo_steps_fit(rest, length, rule->surplus, FLO_REST_TOLERANCE)) return rest;
  if (flo_steps_fit(present, length, rule->surplus, rule->tolerance)) return present;
  return flo_steps_of(length, rule->surplus);
}
