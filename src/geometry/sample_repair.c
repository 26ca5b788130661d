// Neighbours for weak samples, those whose number density is below the lower bound. Each round offers finer
// candidates near the samples that are still weak.
#include "base/vecmath.h"
#include "geometry/sampler.h"

#include <math.h>

enum { IS_FAR = 0, IS_NEAR = 1 }; // marks of vertices during repairs: how far from weak samples

// Marks the vertices near weak samples. A vertex that no triangle uses may be anywhere, even not a number;
// the test of the box leaves it out.
static void find_near_vertices(FloSampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *marks = sampler->marks.data;
  double low[3], high[3];
  flo_thinner_bound_marks(sampler->thinner, low, high);
  for (size_t k = 0; k < mesh->n_vertices; ++k) {
    const double *p = flo_mesh_vertex(mesh, k);
    bool is_in_box = p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] &&
                     p[2] >= low[2] && p[2] <= high[2];
    marks[k] = is_in_box && flo_thinner_is_marked(sampler->thinner, p) ? IS_NEAR : IS_FAR;
  }
}

// Lists the triangles that may lie near weak samples: those with a marked corner, and all large ones. Every
// point of a triangle lies within 0.58 of its longest side from a corner. The corners therefore suffice for
// sides up to 1.7 spacings.
static FloStatus list_near_weak(FloSampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  const uint8_t *marks = sampler->marks.data, *sides = sampler->sides.data;
  sampler->n_near_weak = 0;
  find_near_vertices(sampler);
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    unsigned is_near = marks[t[0]] | marks[t[1]] | marks[t[2]];
    if (!((is_near & IS_NEAR) | (sides[k] & FLO_IS_LARGE))) continue;
    FLO_TRY(flo_sampler_grow(sampler, &sampler->near_weak, sampler->n_near_weak, sizeof(uint32_t)));
    ((uint32_t *)sampler->near_weak.data)[sampler->n_near_weak++] = k;
  }
  return FLO_OK;
}

static FloStatus offer_if_near(FloSampler *sampler, const double point[3], uint32_t triangle) {
  return flo_thinner_is_marked(sampler->thinner, point)
             ? flo_sampler_offer(sampler, point, triangle, FLO_NO_VERTEX)
             : FLO_OK;
}

// Offers rows of candidates at most a step apart, within the triangle and on its sides but not at its
// corners. The side from a to b must be the shortest.
static FloStatus offer_finely(FloSampler *sampler, const double a[3], const double b[3], const double c[3],
                              double step, uint32_t triangle) {
  double ab[3], ac[3], bc[3], p[3], from[3], to[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(c, b, bc);
  double width = vec_length(ab), height = fmax(vec_length(ac), vec_length(bc));
  int n_rows = (int)ceil(height / step);
  for (int row = 0; row < n_rows; ++row) {
    double share = (double)row / n_rows;
    int n_steps = (int)fmax(ceil((1 - share) * width / step), 1);
    vec_add_scaled(a, ac, share, from), vec_add_scaled(b, bc, share, to);
    vec_sub(to, from, to);
    int first = row == 0 ? 1 : 0, last = row == 0 ? n_steps - 1 : n_steps;
    for (int k = first; k <= last; ++k) {
      vec_add_scaled(from, to, (double)k / n_steps, p);
      FLO_TRY(offer_if_near(sampler, p, triangle));
    }
  }
  return FLO_OK;
}

static bool is_box_near_weak(const FloSampler *sampler, const double *const corners[3]) {
  double low[3], high[3];
  vec_copy(corners[0], low), vec_copy(corners[0], high);
  for (int corner = 1; corner < 3; ++corner)
    for (int axis = 0; axis < 3; ++axis) {
      double x = corners[corner][axis];
      low[axis] = x < low[axis] ? x : low[axis], high[axis] = x > high[axis] ? x : high[axis];
    }
  return flo_thinner_is_box_marked(sampler->thinner, low, high);
}

// Halves the longest side until the parts are small, and leaves out the parts far from weak samples. Of the
// corners only those are offered that halving makes.
static FloStatus offer_parts(FloSampler *sampler, const double *const corners[3], double step,
                             uint32_t triangle) {
  double squares[3], d[3], middle[3];
  int longest = 0, shortest = 0;
  for (int side = 0; side < 3; ++side) {
    vec_sub(corners[(side + 1) % 3], corners[side], d);
    squares[side] = vec_dot(d, d);
    longest = squares[side] > squares[longest] ? side : longest;
    shortest = squares[side] < squares[shortest] ? side : shortest;
  }
  double size = sqrt(squares[longest]) / sampler->spacing;
  if (size * sampler->spacing <= step) return FLO_OK;
  if (size <= 16 && !is_box_near_weak(sampler, corners)) return FLO_OK;
  const double *a = corners[longest], *b = corners[(longest + 1) % 3], *c = corners[(longest + 2) % 3];
  if (size <= 3)
    return offer_finely(sampler, corners[shortest], corners[(shortest + 1) % 3], corners[(shortest + 2) % 3],
                        step, triangle);
  vec_add(a, b, middle);
  vec_scale(middle, 0.5, middle);
  FLO_TRY(offer_if_near(sampler, middle, triangle));
  FLO_TRY(offer_parts(sampler, (const double *const[3]){a, middle, c}, step, triangle));
  return offer_parts(sampler, (const double *const[3]){middle, b, c}, step, triangle);
}

// Offers each corner once, and points in between.
static FloStatus offer_near_weak(FloSampler *sampler, double step) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *marks = sampler->marks.data;
  for (size_t i = 0; i < sampler->n_near_weak; ++i) {
    uint32_t triangle = ((uint32_t *)sampler->near_weak.data)[i];
    const uint32_t *t = flo_mesh_triangle(mesh, triangle);
    const double *corners[3];
    for (int corner = 0; corner < 3; ++corner) {
      corners[corner] = flo_mesh_vertex(mesh, t[corner]);
      if (marks[t[corner]] != IS_NEAR) continue;
      marks[t[corner]] = IS_FAR;
      FLO_TRY(offer_if_near(sampler, corners[corner], triangle));
    }
    FLO_TRY(offer_parts(sampler, corners, step, triangle));
  }
  return FLO_OK;
}

FloStatus flo_sampler_repair(FloSampler *sampler) {
  // A new sample must lie within one spacing of the weak one, and the surface point above it may be twice the
  // depth away. In triangles that are not large the nearest corner is at most one more spacing away.
  double reach = 1 + 2 * sampler->depth / sampler->spacing;
  for (size_t k = 0; k < FLO_REPAIR_ROUNDS; ++k) {
    if (!flo_thinner_mark_weak(sampler->thinner, reach + 1)) break;
    FLO_TRY(list_near_weak(sampler));
    flo_thinner_mark_weak(sampler->thinner, reach);
    flo_sampler_set_rule(sampler, &flo_repair_rounds[k].rule);
    FLO_TRY(flo_sampler_begin_walks(sampler, fmin(FLO_LONGEST_WALK_CELL, flo_repair_rounds[k].step / 2)));
    FLO_TRY(offer_near_weak(sampler, flo_repair_rounds[k].step * sampler->spacing));
  }
  return FLO_OK;
}
