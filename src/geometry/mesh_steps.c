// Edges of a mesh sampler: how many samples they have between their ends.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

// ---- Steps ----

// The printed rule of the paper, floor(L / d) steps, lets steps grow to almost two spacings. Between
// triangles the nearest whole number is best: samples on both sides of the edge help. At a border nothing
// lies beyond, and in the plane nothing lies beside, so there steps are shorter. They are also shorter if an
// end is no sample.
static const FloStepRule inner_rule = {0.55, 0.05}, open_rule = {0.3, 0.05}, border_rule = {0.1, 0.04},
                         flat_rule = {0.25, 0.03};

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

// `covers` are the samples that stand for vertices.
static const FloStepRule *rule_of(const FloMeshSampler *sampler, const uint32_t *covers, size_t edge) {
  const uint32_t *ends = flo_topology_ends(&sampler->topology, edge);
  if (sampler->is_flat) return &flat_rule;
  if (((const uint8_t *)sampler->topology.is_border.data)[edge]) return &border_rule;
  return covers[ends[0]] == ends[0] && covers[ends[1]] == ends[1] ? &inner_rule : &open_rule;
}

static double length_of(const FloMeshSampler *sampler, size_t edge) {
  return sqrt(((const double *)sampler->lengths.data)[edge]);
}

// ---- Edges beside each other ----

// Samples on long sides of a slender triangle lie side by side: some of the sides have enough.
#define NEAR_ENDS      0.8 // two long sides whose ends are nearer to each other than this [spacings]
#define ENDS_TOLERANCE 0.04
#define LOW_HEIGHT     0.4 // the longest side of a triangle that is lower than this [spacings]

enum { IS_UNDECIDED, IS_KEPT, IS_DROPPED };

// The sides of a triangle that meet at a corner, and the one across.
typedef struct Corner {
  uint32_t one, other, across;
} Corner;

static Corner corner_of(const uint32_t *sides, int corner) {
  return (Corner){sides[corner], sides[(corner + 2) % 3], sides[(corner + 1) % 3]};
}

static bool are_long(const FloMeshSampler *sampler, const Corner *corner) {
  const double *lengths = sampler->lengths.data;
  return lengths[corner->one] > 1 && lengths[corner->other] > 1;
}

// Long sides that lead to vertices for which the same sample stands. All such edges from one vertex are near
// each other, so that one of them is enough. Of neighbours the one with the least number stays.
static void drop_twins(const FloMeshSampler *sampler, const uint32_t *covers, size_t triangle,
                       uint8_t *states) {
  const uint32_t *corners = flo_topology_corners(&sampler->topology, triangle);
  for (int k = 0; k < 3; ++k) {
    const Corner corner = corner_of(flo_topology_sides(&sampler->topology, triangle), k);
    if (covers[corners[(k + 1) % 3]] == covers[corners[(k + 2) % 3]] && are_long(sampler, &corner))
      states[corner.one > corner.other ? corner.one : corner.other] = IS_DROPPED;
  }
}

// Whether long sides lead to vertices near each other, for which different samples stand.
static bool is_needle(FloMeshSampler *sampler, size_t triangle, int k) {
  const Corner corner = corner_of(flo_topology_sides(&sampler->topology, triangle), k);
  uint8_t *at_rest = (uint8_t *)sampler->rest_needles.data + triangle;
  const double tolerance = sampler->is_at_rest ? 0 : *at_rest >> k & 1 ? ENDS_TOLERANCE : -ENDS_TOLERANCE;
  const double most = NEAR_ENDS + tolerance;
  if (!(((const double *)sampler->lengths.data)[corner.across] < most * most)) return false;
  if (!are_long(sampler, &corner)) return false;
  if (sampler->is_at_rest) *at_rest |= (uint8_t)(1 << k);
  return true;
}

// Triangles are asked in order. The first that has two such sides keeps one. An edge is dropped only beside
// one that is kept, so there is always one near.
static void drop_one(uint8_t *states, uint32_t one, uint32_t other) {
  if (states[one] == IS_UNDECIDED && states[other] == IS_UNDECIDED) {
    states[one < other ? one : other] = IS_KEPT;
    states[one < other ? other : one] = IS_DROPPED;
  } else if (states[one] == IS_KEPT && states[other] == IS_UNDECIDED) {
    states[other] = IS_DROPPED;
  } else if (states[other] == IS_KEPT && states[one] == IS_UNDECIDED) {
    states[one] = IS_DROPPED;
  }
}

// The longest side of a low triangle is near the two others.
static void drop_longest(const FloMeshSampler *sampler, size_t triangle, uint8_t *states) {
  const uint32_t *sides = flo_topology_sides(&sampler->topology, triangle);
  const double *lengths = sampler->lengths.data;
  int longest = lengths[sides[1]] > lengths[sides[0]];
  if (lengths[sides[2]] > lengths[sides[longest]]) longest = 2;
  const uint32_t one = sides[(longest + 1) % 3], other = sides[(longest + 2) % 3];
  double a = lengths[sides[longest]], b = lengths[one], skew = a + b - lengths[other];
  // Sixteen times the squared area is 4 a² height².
  if (!(a > 1 && 4 * a * b - skew * skew < 4 * a * LOW_HEIGHT * LOW_HEIGHT)) return;
  if (states[sides[longest]] != IS_UNDECIDED || states[one] == IS_DROPPED || states[other] == IS_DROPPED)
    return;
  states[sides[longest]] = IS_DROPPED, states[one] = states[other] = IS_KEPT;
}

static void drop_slender(FloMeshSampler *sampler, const uint32_t *covers, size_t triangle, uint8_t *states) {
  const uint32_t *sides = flo_topology_sides(&sampler->topology, triangle);
  const uint32_t *corners = flo_topology_corners(&sampler->topology, triangle);
  for (int k = 0; k < 3; ++k) {
    const uint32_t a = corners[(k + 1) % 3], b = corners[(k + 2) % 3];
    if (covers[a] != covers[b] && is_needle(sampler, triangle, k))
      drop_one(states, sides[k], sides[(k + 2) % 3]);
  }
  drop_longest(sampler, triangle, states);
}

// A quick test: whether a triangle has a long side, and a short one or little height.
static bool may_be_slender(const FloMeshSampler *sampler, size_t triangle) {
  const uint32_t *sides = flo_topology_sides(&sampler->topology, triangle);
  const double *lengths = sampler->lengths.data, shortest = NEAR_ENDS + ENDS_TOLERANCE;
  if (!((const uint8_t *)sampler->topology.has_interior.data)[triangle]) return false;
  const double a = lengths[sides[0]], b = lengths[sides[1]], c = lengths[sides[2]];
  const double longest = a > b ? (a > c ? a : c) : (b > c ? b : c);
  if (!(longest > 1)) return false;
  if (a < shortest * shortest || b < shortest * shortest || c < shortest * shortest) return true;
  const double skew = a + b - c;
  return 4 * a * b - skew * skew < 4.01 * longest * LOW_HEIGHT * LOW_HEIGHT;
}

static void find_slender_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMeshSampler *sampler = context;
  uint8_t *marks = (uint8_t *)sampler->has_changed.data + flo_sampler_first_triangle(sampler);
  for (size_t t = begin; t < end; ++t) marks[t] = may_be_slender(sampler, t);
}

// Slender triangles are found in parallel and judged in order.
void flo_sampler_drop_edges(FloMeshSampler *sampler, const uint32_t *covers) {
  const size_t n = sampler->topology.n_triangles;
  const uint8_t *marks = (const uint8_t *)sampler->has_changed.data + flo_sampler_first_triangle(sampler),
                *next;
  uint8_t *states = sampler->is_dropped.data;
  memset(states, IS_UNDECIDED, sampler->topology.n_edges);
  if (sampler->is_at_rest) memset(sampler->rest_needles.data, 0, n);
  flo_parallel_for(sampler->is_at_rest ? 1 : sampler->now.threads, n, 2048, find_slender_range, sampler);
  for (next = marks; !sampler->thinning.is_everywhere && (next = memchr(next, 1, (size_t)(marks + n - next)));
       ++next)
    drop_twins(sampler, covers, (size_t)(next - marks), states);
  for (next = marks; (next = memchr(next, 1, (size_t)(marks + n - next))); ++next)
    drop_slender(sampler, covers, (size_t)(next - marks), states);
}

// ---- Edges whose ends are no samples ----

// An edge of a line in the plane gets a sample in the middle where those of its ends are farther away than
// this.
#define LONELY_MIDDLE    0.62
#define LONELY_TOLERANCE 0.02
// On a surface, the middle of an edge gets none where those of its ends are nearer than this [spacings].
#define CROWDED_MIDDLE 0.5

static bool are_both_open(const FloMeshSampler *sampler, const uint32_t *covers, size_t edge) {
  const uint32_t *ends = flo_topology_ends(&sampler->topology, edge);
  return covers[ends[0]] != ends[0] && covers[ends[1]] != ends[1];
}

// The distance from the middle of an edge to the nearer of the samples that stand for its ends [spacings].
static double gap_at_middle(const FloMeshSampler *sampler, const double *vertices, const uint32_t *covers,
                            size_t edge) {
  const uint32_t *ends = flo_topology_ends(&sampler->topology, edge);
  double middle[3], nearest = INFINITY, d[3];
  vec_add(vertices + 3 * (size_t)ends[0], vertices + 3 * (size_t)ends[1], middle);
  vec_scale(middle, 0.5, middle);
  for (int k = 0; k < 2; ++k) {
    vec_sub(vertices + 3 * (size_t)covers[ends[k]], middle, d);
    nearest = fmin(nearest, vec_dot(d, d));
  }
  return sqrt(nearest) / sampler->spacing;
}

// `n` are the steps that follow from the length.
static uint32_t adjust_open(const FloMeshSampler *sampler, const double *vertices, const uint32_t *covers,
                            size_t edge, double lonely, uint32_t n) {
  if (n > 2 || (n == 1 && !sampler->is_flat) || !are_both_open(sampler, covers, edge)) return n;
  const double gap = gap_at_middle(sampler, vertices, covers, edge);
  return gap > (sampler->is_flat ? lonely : CROWDED_MIDDLE) ? 2 : 1;
}

// ---- Steps at rest and now ----

uint32_t flo_sampler_rest_steps(const FloMeshSampler *sampler, const double *rest, size_t edge) {
  const uint32_t *homes = sampler->thinning.homes.data;
  const uint32_t n = flo_steps_of(length_of(sampler, edge), rule_of(sampler, homes, edge)->surplus);
  return adjust_open(sampler, rest, homes, edge, LONELY_MIDDLE, n);
}

static bool has_samples(const FloMeshSampler *sampler, size_t edge) {
  if (((const uint8_t *)sampler->is_dropped.data)[edge] == IS_DROPPED) return false;
  return flo_sampler_is_wanted(sampler, sampler->topology.n_vertices + edge);
}

bool flo_sampler_is_edge_bare(const FloMeshSampler *sampler, size_t edge) {
  const double square = ((const double *)sampler->lengths.data)[edge];
  const bool is_everywhere = sampler->thinning.is_everywhere;
  if (sampler->is_flat && !is_everywhere) return false;
  if (flo_sampler_count_of(sampler, sampler->topology.n_vertices + edge)) return false;
  if (((const uint32_t *)sampler->rest_steps.data)[edge] != 1) return false;
  const bool is_inner = !((const uint8_t *)sampler->topology.is_border.data)[edge];
  const double most = 1 + (is_everywhere && is_inner ? inner_rule.surplus : border_rule.surplus);
  return square <= most * most;
}

static uint32_t steps_by_length(const FloMeshSampler *sampler, size_t edge, uint32_t rest, uint32_t present) {
  const FloStepRule *rule = rule_of(sampler, sampler->thinning.present, edge);
  const double length = length_of(sampler, edge);
  if (flo_steps_fit(rest, length, rule->surplus, FLO_REST_TOLERANCE)) return rest;
  if (sampler->rule == FLO_RESAMPLE_BY_DENSITY
          ? !flo_sampler_is_due(sampler, sampler->topology.n_vertices + edge)
          : flo_steps_fit(present, length, rule->surplus, rule->tolerance))
    return present;
  return flo_steps_of(length, rule->surplus);
}

uint32_t flo_sampler_edge_steps(const FloMeshSampler *sampler, size_t edge) {
  const uint32_t rest = ((const uint32_t *)sampler->rest_steps.data)[edge];
  if (sampler->is_at_rest) return rest;
  if (!has_samples(sampler, edge)) return 1;
  const uint32_t present = flo_sampler_count_of(sampler, sampler->topology.n_vertices + edge) + 1;
  const uint32_t n = steps_by_length(sampler, edge, rest, present);
  if (sampler->thinning.is_everywhere) return n;
  const double lonely = flo_biased_limit(LONELY_MIDDLE, LONELY_TOLERANCE, rest > 1, present > 1);
  return adjust_open(sampler, sampler->now.vertices, sampler->thinning.present, edge, lonely, n);
}
