// Distances of features by trying all candidates: the ends of each feature against the other one, and the
// inner points where the way is at right angles to both. The nearest candidate counts, so features without
// length or area need no cases of their own.
//
// Meetings by conservative advancement (Li, Kaufman, Jiang 2021: Codimensional Incremental Potential
// Contact): no distance changes faster than the corners move, so the features can go on for a while without
// a look. The mean motion is left out, since it changes no distance.
#include "geometry/apart.h"

#include <string.h>

// ---- Distances ----

// Takes the points with these weights if they are nearer than the nearest so far.
static void try_weights(const FloFeaturePair *pair, const double weights[FLO_MOST_CORNERS], FloApart *best) {
  double way[3] = {0};
  for (int k = 0; k < pair->n_first + pair->n_second; ++k)
    vec_add_scaled(way, pair->x[k], k < pair->n_first ? weights[k] : -weights[k], way);
  const double distance = vec_length(way);
  if (!(distance < best->distance)) return;
  best->distance = distance;
  memcpy(best->weights, weights, sizeof best->weights);
  vec_copy(way, best->way);
}

// Corner p against the segment from corner a to corner b.
static void try_segment(const FloFeaturePair *pair, int p, int a, int b, FloApart *best) {
  double along[3], to[3], weights[FLO_MOST_CORNERS] = {0};
  vec_sub(pair->x[b], pair->x[a], along);
  vec_sub(pair->x[p], pair->x[a], to);
  const double square = vec_dot(along, along);
  const double share = square > 0 ? fmin(fmax(vec_dot(along, to) / square, 0), 1) : 0;
  weights[p] = 1, weights[a] = 1 - share, weights[b] = share;
  try_weights(pair, weights, best);
}

// Two numbers from the system with the products of a and b; false if these are parallel.
static bool solve_pair(const double a[3], const double b[3], const double to[3], double *u, double *v) {
  const double aa = vec_dot(a, a), ab = vec_dot(a, b), bb = vec_dot(b, b), at = vec_dot(a, to),
               bt = vec_dot(b, to), det = aa * bb - ab * ab;
  if (!(det > 1e-14 * aa * bb)) return false;
  *u = (at * bb - bt * ab) / det, *v = (bt * aa - at * ab) / det;
  return true;
}

// Corner 0 above the inside of the triangle of corners 1, 2, 3.
static void try_triangle(const FloFeaturePair *pair, FloApart *best) {
  double a[3], b[3], to[3], u, v;
  vec_sub(pair->x[2], pair->x[1], a);
  vec_sub(pair->x[3], pair->x[1], b);
  vec_sub(pair->x[0], pair->x[1], to);
  if (!solve_pair(a, b, to, &u, &v) || !(u > 0 && v > 0 && u + v < 1)) return;
  try_weights(pair, (double[]){1, 1 - u - v, u, v}, best);
}

// The inner points of two edges.
static void try_edges(const FloFeaturePair *pair, FloApart *best) {
  double a[3], b[3], to[3], u, v;
  vec_sub(pair->x[1], pair->x[0], a);
  vec_sub(pair->x[2], pair->x[3], b);
  vec_sub(pair->x[2], pair->x[0], to);
  if (!solve_pair(a, b, to, &u, &v) || !(u > 0 && u < 1 && v > 0 && v < 1)) return;
  try_weights(pair, (double[]){1 - u, u, 1 - v, v}, best);
}

void flo_pair_apart(const FloFeaturePair *pair, FloApart *apart) {
  *apart = (FloApart){.distance = INFINITY};
  if (pair->n_first == 2) {
    for (int end = 0; end < 2; ++end) try_segment(pair, end, 2, 3, apart);
    for (int end = 2; end < 4; ++end) try_segment(pair, end, 0, 1, apart);
    try_edges(pair, apart);
    return;
  }
  for (int side = 0; side < (pair->n_second == 3 ? 3 : 1); ++side)
    try_segment(pair, 0, 1 + side, 1 + (side + 1) % pair->n_second, apart);
  if (pair->n_second == 3) try_triangle(pair, apart);
}

// ---- Meetings ----

// Steps of the advancement. A pair that slides along just outside of the limit may need more: then it counts
// as met, which is never late.
enum { MOST_STEPS = 20000 };
#define NEAR_ENOUGH 0.05  // share of the limit
#define ROUNDING    1e-12 // a distance below this share of the features' size is rounding

void flo_pair_between(const FloFeaturePair *from, const FloFeaturePair *to, double share,
                      FloFeaturePair *out) {
  *out = *from;
  for (int k = 0; k < from->n_first + from->n_second; ++k)
    for (int axis = 0; axis < 3; ++axis) out->x[k][axis] += share * (to->x[k][axis] - from->x[k][axis]);
}

// Upper bound of how far the distance can change over the whole way.
static double longest_change(const FloFeaturePair *from, const FloFeaturePair *to) {
  const int n = from->n_first + from->n_second;
  double mean[3] = {0}, most[2] = {0}, way[FLO_MOST_CORNERS][3];
  for (int k = 0; k < n; ++k) {
    vec_sub(to->x[k], from->x[k], way[k]);
    vec_add_scaled(mean, way[k], 1.0 / n, mean);
  }
  for (int k = 0; k < n; ++k) {
    vec_sub(way[k], mean, way[k]);
    most[k >= from->n_first] = fmax(most[k >= from->n_first], vec_length(way[k]));
  }
  return most[0] + most[1];
}

static double size_of(const FloFeaturePair *pair) {
  double size = 0;
  for (int k = 0; k < pair->n_first + pair->n_second; ++k) size = fmax(size, vec_length(pair->x[k]));
  return size;
}

double flo_pair_meets(const FloFeaturePair *from, const FloFeaturePair *to, double least) {
  const double longest = longest_change(from, to);
  FloFeaturePair now;
  FloApart apart;
  double time = 0;
  flo_pair_apart(from, &apart);
  const double limit = fmin(least, apart.distance / 2);
  if (longest <= ROUNDING * limit) return INFINITY;
  if (apart.distance <= ROUNDING * size_of(from)) return 0;
  for (int k = 0; k < MOST_STEPS; ++k) {
    if (apart.distance - limit <= NEAR_ENOUGH * limit) return time;
    time += (apart.distance - limit) / longest;
    if (time >= 1) return INFINITY;
    flo_pair_between(from, to, time, &now);
    flo_pair_apart(&now, &apart);
  }
  return time;
}
