// Counts crossings of soft bodies by signs of volumes and areas. Nothing of this is used by the search for
// contacts, so that it can judge it.
#ifndef TEST_SUPPORT_SOFT_CROSSINGS_H
#define TEST_SUPPORT_SOFT_CROSSINGS_H

#include "bodies/soft_body.h"
#include "state/state.h"

#include <stdlib.h>

static inline double volume_of(const double *a, const double *b, const double *c, const double *d) {
  double ab[3], ac[3], ad[3], cross[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(d, a, ad);
  vec_cross(ab, ac, cross);
  return vec_dot(cross, ad);
}

static inline bool edge_crosses_triangle(const double *p, const double *q, const double *a, const double *b,
                                         const double *c) {
  const double above = volume_of(a, b, c, p), below = volume_of(a, b, c, q);
  double way[3], side[3];
  vec_sub(q, p, way), vec_sub(b, a, side);
  // Below this the edge lies in the plane of the triangle, but for rounding.
  const double rounding = 1e-13 * vec_dot(side, side) * (vec_length(side) + vec_length(way));
  if (!(above * below < 0) || fmax(fabs(above), fabs(below)) < rounding) return false;
  const double u = volume_of(p, q, a, b), v = volume_of(p, q, b, c), w = volume_of(p, q, c, a);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

static inline double area_of(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static inline bool segments_cross(const double *p, const double *q, const double *a, const double *b) {
  return area_of(p, q, a) * area_of(p, q, b) < 0 && area_of(a, b, p) * area_of(a, b, q) < 0;
}

static inline bool have_common(const uint32_t *a, int n_a, const uint32_t *b, int n_b) {
  for (int i = 0; i < n_a; ++i)
    for (int k = 0; k < n_b; ++k)
      if (a[i] == b[k]) return true;
  return false;
}

static inline size_t count_crossings_of(const FloBody *one, const FloBody *two, const double *all, int dim) {
  const double *x = all + 3 * one->first_node, *y = all + 3 * two->first_node;
  const FloMesh *first = flo_soft_body_faces(one), *second = flo_soft_body_faces(two);
  size_t n = 0;
  for (size_t i = 0; i < first->n_triangles; ++i)
    for (size_t k = 0; k < second->n_triangles; ++k)
      for (int side = 0; side < (dim == 2 ? 1 : 3); ++side) {
        const uint32_t *e = flo_mesh_triangle(first, i), *t = flo_mesh_triangle(second, k),
                       edge[2] = {e[side], e[(side + 1) % 3]};
        if (one == two && have_common(edge, 2, t, dim)) continue;
        n += dim == 2 ? segments_cross(x + 3 * edge[0], x + 3 * edge[1], y + 3 * t[0], y + 3 * t[1])
                      : edge_crosses_triangle(x + 3 * edge[0], x + 3 * edge[1], y + 3 * t[0], y + 3 * t[1],
                                              y + 3 * t[2]);
      }
  return n;
}

// With these positions of all nodes.
static inline size_t count_crossings_at(const FloWorld *world, const double *all) {
  size_t n = 0;
  for (size_t i = 0; i < world->bodies.count; ++i)
    for (size_t k = 0; k < world->bodies.count; ++k) {
      const FloBody *one = &flo_bodies(world)[i], *two = &flo_bodies(world)[k];
      if (flo_body_is_soft(one) && flo_body_is_soft(two))
        n += count_crossings_of(one, two, all, world->def.dim);
    }
  return n;
}

static inline size_t count_crossings(const FloWorld *world) {
  double *all = malloc((3 * world->nodes.count + 1) * sizeof *all);
  for (size_t k = 0; k < world->nodes.count; ++k) vec_copy(flo_node_at(world, k)->position, all + 3 * k);
  const size_t n = count_crossings_at(world, all);
  free(all);
  return n;
}

#endif
