// Winding numbers (Jacobson et al. 2013), summed over the tree of boxes as in Barill et al. 2018. A node far
// away counts as one dipole with its moments. A near one is summed triangle by triangle.
#include "base/vecmath.h"
#include "geometry/bvh_tree.h"

#include <math.h>
#include <string.h>

// ---- Dipoles ----

static void sum_dipole(const FloBvh *bvh, const FloBvhRange *range, const FloBvhNode *node,
                       FloBvhDipole *dipole) {
  double total = 0, centre[3] = {0}, normal[3] = {0};
  for (uint32_t k = range->begin; k < range->end; ++k) {
    FloBvhCorners t = bvh_corners(bvh->mesh, bvh_order(bvh)[k]);
    double ab[3], ac[3], n[3], middle[3];
    vec_sub(t.b, t.a, ab), vec_sub(t.c, t.a, ac);
    vec_cross(ab, ac, n);
    vec_add(t.a, t.b, middle), vec_add(middle, t.c, middle);
    double area = vec_length(n) / 2;
    vec_add_scaled(normal, n, 0.5, normal);
    vec_add_scaled(centre, middle, area / 3, centre);
    total += area;
  }
  vec_add(node->low, node->high, dipole->centre);
  vec_scale(dipole->centre, 0.5, dipole->centre);
  if (total > 0) vec_scale(centre, 1 / total, dipole->centre);
  vec_copy(normal, dipole->normal);
}

// Which components the symmetric moments hold, and how often each occurs in the full tensor.
static const uint8_t pairs[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
static const uint8_t triples[10][3] = {{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 1, 2},
                                       {0, 2, 2}, {1, 1, 1}, {1, 1, 2}, {1, 2, 2}, {2, 2, 2}};
static const double pair_counts[6] = {1, 2, 2, 1, 2, 1};
static const double triple_counts[10] = {1, 3, 3, 3, 6, 3, 1, 3, 3, 1};

// Adds the integrals of n x and n x x over a triangle, where x is measured from the centre. Over a triangle
// of unit area with the centroid m, the integral of x x is  (9 m m + sum over the corners of x x)/12.
static void add_moments(const FloBvhCorners *t, FloBvhDipole *dipole) {
  double x[3][3], ab[3], ac[3], n[3], m[3], squares[3][3];
  const double *corners[3] = {t->a, t->b, t->c};
  for (int k = 0; k < 3; ++k) vec_sub(corners[k], dipole->centre, x[k]);
  vec_sub(x[1], x[0], ab), vec_sub(x[2], x[0], ac);
  vec_cross(ab, ac, n);
  for (int i = 0; i < 3; ++i) m[i] = (x[0][i] + x[1][i] + x[2][i]) / 3;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      squares[i][j] = (9 * m[i] * m[j] + x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j]) / 12;
  for (int k = 0; k < 6; ++k)
    dipole->first[k] += (n[pairs[k][0]] * m[pairs[k][1]] + n[pairs[k][1]] * m[pairs[k][0]]) / 4;
  for (int k = 0; k < 10; ++k) {
    const uint8_t *c = triples[k];
    dipole->second[k] +=
        (n[c[0]] * squares[c[1]][c[2]] + n[c[1]] * squares[c[0]][c[2]] + n[c[2]] * squares[c[0]][c[1]]) / 6;
  }
}

static void measure_dipole(const FloBvh *bvh, const FloBvhRange *range, FloBvhDipole *dipole) {
  double square = 0;
  memset(dipole->first, 0, sizeof dipole->first);
  memset(dipole->second, 0, sizeof dipole->second);
  for (uint32_t k = range->begin; k < range->end; ++k) {
    FloBvhCorners t = bvh_corners(bvh->mesh, bvh_order(bvh)[k]);
    add_moments(&t, dipole);
    const double *corners[3] = {t.a, t.b, t.c};
    for (int corner = 0; corner < 3; ++corner) {
      double d[3];
      vec_sub(corners[corner], dipole->centre, d);
      square = fmax(square, vec_dot(d, d));
    }
  }
  dipole->radius = sqrt(square);
}

// Goes backwards: children come after their parents, and the range of a node joins those of its children.
void flo_bvh_fill_dipoles(FloBvh *bvh, FloBvhRange *ranges) {
  const FloBvhNode *nodes = bvh_nodes(bvh);
  for (size_t k = bvh->n_nodes; k-- > 0;) {
    uint32_t first = nodes[k].first;
    ranges[k] = nodes[k].count ? (FloBvhRange){first, first + nodes[k].count}
                               : (FloBvhRange){ranges[first].begin, ranges[first + 1].end};
    FloBvhDipole *dipole = (FloBvhDipole *)bvh->dipoles.data + k;
    sum_dipole(bvh, &ranges[k], &nodes[k], dipole);
    measure_dipole(bvh, &ranges[k], dipole);
  }
}

// ---- Winding numbers ----

// A node counts as a whole for points further away than this many of its radii (beta of Barill et al.).
static const double opening = 2.2;

// The sum over the triangles of  area n.(x - p)/|x - p|^3,  expanded about the centre to second order: with
// d = centre - p and the symmetric moments F and S,
//   N.d/|d|^3 + (tr F - 3 F:dd/|d|^2)/|d|^3 + (-9/2 tr S.d + 15/2 S:ddd/|d|^2)/|d|^5.
static double far_angle(const FloBvhDipole *dipole, const double d[3], double square) {
  const double *f = dipole->first, *s = dipole->second;
  double per = 1 / square, first = 0, second = 0;
  for (int k = 0; k < 6; ++k) first += pair_counts[k] * f[k] * d[pairs[k][0]] * d[pairs[k][1]];
  for (int k = 0; k < 10; ++k)
    second += triple_counts[k] * s[k] * d[triples[k][0]] * d[triples[k][1]] * d[triples[k][2]];
  double trace = d[0] * (s[0] + s[3] + s[5]) + d[1] * (s[1] + s[6] + s[8]) + d[2] * (s[2] + s[7] + s[9]);
  return per * sqrt(per) *
         (vec_dot(dipole->normal, d) + f[0] + f[3] + f[5] +
          per * (-3 * first - 4.5 * trace + 7.5 * per * second));
}

// Solid angle of a triangle (van Oosterom and Strackee 1983), positive if its back is seen.
static double solid_angle(const FloBvhCorners *t, const double p[3]) {
  double a[3], b[3], c[3], n[3];
  vec_sub(t->a, p, a), vec_sub(t->b, p, b), vec_sub(t->c, p, c);
  double la = vec_length(a), lb = vec_length(b), lc = vec_length(c);
  vec_cross(b, c, n);
  return 2 *
         atan2(vec_dot(a, n), la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb);
}

double flo_bvh_winding(const FloBvh *bvh, const double point[3]) {
  if (!bvh->n_nodes || !vec_is_finite(point)) return 0;
  FLO_ASSERT(bvh->dipoles.data);
  const FloBvhNode *nodes = bvh_nodes(bvh);
  const FloBvhDipole *dipoles = bvh->dipoles.data;
  uint32_t stack[FLO_BVH_STACK_SIZE];
  int height = 0;
  double angle = 0;
  stack[height++] = 0;
  while (height) {
    uint32_t k = stack[--height];
    double d[3];
    vec_sub(dipoles[k].centre, point, d);
    double square = vec_dot(d, d), reach = opening * dipoles[k].radius;
    if (square > reach * reach) {
      angle += far_angle(&dipoles[k], d, square);
      continue;
    }
    for (uint32_t i = nodes[k].first; i < nodes[k].first + nodes[k].count; ++i) {
      FloBvhCorners t = bvh_corners(bvh->mesh, bvh_order(bvh)[i]);
      angle += solid_angle(&t, point);
    }
    if (nodes[k].count) continue;
    stack[height++] = nodes[k].first + 1;
    stack[height++] = nodes[k].first;
  }
  return angle / (4 * FLO_PI);
}
