// How a candidate becomes a sample: it is moved to its layer, judged by the thinner, and kept for a second
// try if it was only a little too near to others.
#include "geometry/sampler.h"

#include "base/vecmath.h"

#include <math.h>

const FloThinRule flo_sampler_first_rule = {0.97, 0.55, 1.4, false};
static const FloThinRule gap_rule = {0.55, 0.55, 1.5, false};

typedef struct Candidate {
  double point[3];
  uint32_t triangle; // the one it lies on, or below
  uint32_t vertex;   // its number if it is a vertex of the mesh, or FLO_NO_VERTEX
} Candidate;

FloStatus flo_sampler_grow(const FloSampler *sampler, FloBuffer *buffer, size_t count, size_t size) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(sampler->memory, buffer, (2 * count + 64) * size, count * size, sampler->error);
}

// ---- Candidates ----

static FloStatus defer(FloSampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  FLO_TRY(flo_sampler_grow(sampler, &sampler->deferred, sampler->n_deferred, sizeof(Candidate)));
  Candidate *last = (Candidate *)sampler->deferred.data + sampler->n_deferred++;
  *last = (Candidate){{point[0], point[1], point[2]}, triangle, vertex};
  return FLO_OK;
}

void flo_sampler_set_rule(FloSampler *sampler, const FloThinRule *rule) {
  sampler->is_first_try = rule->retry_distance < rule->min_distance;
  vec_set(sampler->latest, INFINITY, INFINITY, INFINITY);
  flo_thinner_set_rule(sampler->thinner, sampler->layer, rule);
}

// A shortcut: whether a candidate is a little too near to the latest sample, so that the thinner need not be
// asked. The next candidate along a row often is. Other reasons to refuse it will be found at the second try.
static inline bool is_beside_latest(const FloSampler *sampler, const double point[3]) {
  static const double least = 0.56 * 0.56,
                      most = 0.96 * 0.96; // within the two distances of the first rule, with a margin
  double d[3], unit = sampler->spacing * sampler->spacing;
  vec_sub(point, sampler->latest, d);
  double square = vec_dot(d, d);
  return sampler->is_first_try && square > least * unit && square < most * unit;
}

// Takes the point itself as a candidate: it lies in its layer already.
static FloStatus consider(FloSampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  FloVerdict verdict;
  if (is_beside_latest(sampler, point)) return defer(sampler, point, triangle, vertex);
  FLO_TRY(flo_thinner_offer(sampler->thinner, point, triangle, &verdict, sampler->error));
  if (verdict == FLO_TOO_NEAR) return defer(sampler, point, triangle, vertex);
  if (verdict != FLO_ACCEPTED) return FLO_OK;
  vec_copy(point, sampler->latest);
  if (vertex != FLO_NO_VERTEX && !(sampler->depth > 0))
    ((uint8_t *)sampler->marks.data)[vertex] = FLO_VERTEX_IS_SAMPLE;
  return FLO_OK;
}

// ---- Walks inwards ----

FloStatus flo_sampler_begin_walks(FloSampler *sampler, double cell) {
  if (!(sampler->depth > 0)) return FLO_OK;
  return flo_walk_set_begin(&sampler->walks, sampler->memory, sampler->low, cell * sampler->spacing,
                            sampler->error);
}

FloStatus flo_sampler_offer(FloSampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  double sunk[3];
  if (!(sampler->depth > 0)) return consider(sampler, point, triangle, vertex);
  if (flo_walk_set_has(&sampler->walks, point)) return FLO_OK;
  double reached = flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  if (reached > 0) FLO_TRY(flo_walk_set_add(&sampler->walks, sampler->memory, point, sampler->error));
  bool is_deep = sampler->layer == 0 ? reached > 0 : reached > 0.95 * sampler->depth;
  return is_deep ? consider(sampler, sunk, triangle, vertex) : FLO_OK;
}

FloStatus flo_sampler_close_gaps(FloSampler *sampler) {
  flo_sampler_set_rule(sampler, &gap_rule);
  for (size_t k = 0, n = sampler->n_deferred; k < n; ++k) {
    Candidate again = ((Candidate *)sampler->deferred.data)[k];
    FLO_TRY(consider(sampler, again.point, again.triangle, again.vertex));
  }
  sampler->n_deferred = 0;
  return FLO_OK;
}
