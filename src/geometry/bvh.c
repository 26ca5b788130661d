// Queries on the tree of boxes: the triangles in a box, the nearest point of the mesh, and the first hit of a
// ray.
#include "geometry/bvh.h"

#include "base/vecmath.h"
#include "geometry/bvh_tree.h"

#include <math.h>

// ---- Boxes ----

static bool is_touching(const FloBvhNode *node, const double low[3], const double high[3]) {
  return node->low[0] <= high[0] && node->high[0] >= low[0] && node->low[1] <= high[1] &&
         node->high[1] >= low[1] && node->low[2] <= high[2] && node->high[2] >= low[2];
}

bool flo_bvh_visit_box(const FloBvh *bvh, const double low[3], const double high[3],
                       bool (*visit)(uint32_t triangle, void *context), void *context) {
  const FloBvhNode *nodes = bvh_nodes(bvh);
  uint32_t stack[FLO_BVH_STACK_SIZE];
  int height = 0;
  if (bvh->n_nodes && is_touching(&nodes[0], low, high)) stack[height++] = 0;
  while (height) {
    const FloBvhNode *node = &nodes[stack[--height]];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      if (!visit(bvh_order(bvh)[k], context)) return false;
    if (node->count) continue;
    if (is_touching(&nodes[node->first + 1], low, high)) stack[height++] = node->first + 1;
    if (is_touching(&nodes[node->first], low, high)) stack[height++] = node->first;
  }
  return true;
}

// ---- Nearest point ----

static double square_distance_to_box(const FloBvhNode *node, const double p[3]) {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double below = node->low[axis] - p[axis], above = p[axis] - node->high[axis];
    double d = below > above ? below : above;
    square += d > 0 ? d * d : 0;
  }
  return square;
}

typedef struct Nearest {
  double square;
  double weights[3];
} Nearest;

// Takes the nearest point of the segment between corners i and j, if it is nearer than the best so far.
static void try_segment(const double *const corners[3], int i, int j, const double p[3], Nearest *best) {
  double along[3], d[3];
  vec_sub(corners[j], corners[i], along);
  vec_sub(p, corners[i], d);
  double square = vec_dot(along, along), t = square > 0 ? vec_dot(d, along) / square : 0;
  t = t > 0 ? (t < 1 ? t : 1) : 0;
  vec_add_scaled(d, along, -t, d);
  // At the far end the difference is computed from the corner itself, so that corners are found exactly.
  if (t == 1) vec_sub(p, corners[j], d);
  double distance = vec_dot(d, d);
  if (!(distance < best->square)) return;
  *best = (Nearest){.square = distance};
  best->weights[i] = 1 - t, best->weights[j] = t;
}

enum { ALL_SIDES = 7 };

// Tries the foot of the perpendicular on the triangle's plane. Returns one bit for each side that may be
// nearer than the best so far: bit k for the side from corner k. No bit is set if the foot lies inside the
// triangle or if the plane is too far away. The normal of a very flat triangle is only rounding noise; then
// all sides are tried.
static unsigned try_interior(const double *const corners[3], const double p[3], Nearest *best) {
  double ab[3], ac[3], ap[3], n[3], m[3];
  vec_sub(corners[1], corners[0], ab), vec_sub(corners[2], corners[0], ac);
  vec_sub(p, corners[0], ap);
  vec_cross(ab, ac, n);
  double square = vec_dot(n, n), ab_square = vec_dot(ab, ab), ac_square = vec_dot(ac, ac);
  double longest = ab_square > ac_square ? ab_square : ac_square, noise = longest * longest;
  if (!(square > 1e-20 * noise)) return ALL_SIDES;
  double height = vec_dot(ap, n);
  if (height * height > (1 + 1e-6) * best->square * square && square > 1e-8 * noise) return 0;
  vec_cross(ap, ac, m);
  double v = vec_dot(m, n); // barycentric, times `square`
  vec_cross(ab, ap, m);
  double w = vec_dot(m, n), u = square - v - w;
  unsigned facing = (w < 0) | (u < 0) << 1 | (v < 0) << 2;
  if (facing) return square > 1e-8 * noise ? facing : ALL_SIDES;
  double distance = height * height / square;
  if (distance < best->square) *best = (Nearest){distance, {u / square, v / square, w / square}};
  return 0;
}

static bool try_triangle(const FloMesh *mesh, uint32_t triangle, const double p[3], Nearest *best) {
  FloBvhCorners t = bvh_corners(mesh, triangle);
  const double *const corners[3] = {t.a, t.b, t.c};
  double before = best->square;
  unsigned sides = try_interior(corners, p, best);
  for (int k = 0; k < 3; ++k)
    if (sides >> k & 1) try_segment(corners, k, (k + 1) % 3, p, best);
  return best->square < before;
}

double flo_triangle_square_distance(const FloMesh *mesh, uint32_t triangle, const double point[3],
                                    double max_square) {
  Nearest best = {.square = max_square};
  try_triangle(mesh, triangle, point, &best);
  return best.square;
}

double flo_triangle_nearest(const FloMesh *mesh, uint32_t triangle, const double point[3], double max_square,
                            double weights[3]) {
  Nearest best = {.square = max_square};
  if (try_triangle(mesh, triangle, point, &best)) vec_copy(best.weights, weights);
  return best.square;
}

static void describe_closest(const FloBvh *bvh, uint32_t triangle, const Nearest *nearest, FloClosest *out) {
  FloBvhCorners t = bvh_corners(bvh->mesh, triangle);
  out->triangle = triangle, out->distance = sqrt(nearest->square);
  vec_copy(nearest->weights, out->barycentric);
  vec_scale(t.a, nearest->weights[0], out->point);
  vec_add_scaled(out->point, t.b, nearest->weights[1], out->point);
  vec_add_scaled(out->point, t.c, nearest->weights[2], out->point);
}

// A node that must be visited, unless something nearer is found first.
typedef struct Waiting {
  uint32_t node;
  double near; // the square of its distance, or where the ray enters it
} Waiting;

bool flo_bvh_closest(const FloBvh *bvh, const double point[3], double max_distance, FloClosest *out) {
  if (!bvh->n_nodes || !(max_distance >= 0) || !vec_is_finite(point)) return false;
  const FloBvhNode *nodes = bvh_nodes(bvh);
  Waiting stack[FLO_BVH_STACK_SIZE];
  int height = 0;
  // The next larger number: a point at exactly this distance is found, too.
  Nearest best = {.square = nextafter(max_distance * max_distance, INFINITY)};
  uint32_t triangle = UINT32_MAX;
  stack[height++] = (Waiting){0, square_distance_to_box(&nodes[0], point)};
  while (height) {
    Waiting top = stack[--height];
    if (!(top.near < best.square)) continue;
    const FloBvhNode *node = &nodes[top.node];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      if (try_triangle(bvh->mesh, bvh_order(bvh)[k], point, &best)) triangle = bvh_order(bvh)[k];
    if (node->count) continue;
    Waiting near = {node->first, square_distance_to_box(&nodes[node->first], point)};
    Waiting far = {node->first + 1, square_distance_to_box(&nodes[node->first + 1], point)};
    bool is_swapped = far.near < near.near;
    stack[height++] = is_swapped ? near : far;
    stack[height++] = is_swapped ? far : near;
  }
  if (triangle != UINT32_MAX) describe_closest(bvh, triangle, &best, out);
  return triangle != UINT32_MAX;
}

// ---- Rays: the watertight test of Woop, Benthin and Wald 2013 ----

typedef struct Ray {
  const double *origin;
  double inverse[3];
  int x, y, z;          // axes; the ray is longest along z
  double shear[2], per; // makes the direction (0, 0, 1)
  double max_t;
} Ray;

static Ray make_ray(const double origin[3], const double d[3], double max_t) {
  Ray ray = {.origin = origin, .max_t = max_t};
  int z = fabs(d[0]) > fabs(d[1]) ? 0 : 1;
  ray.z = fabs(d[2]) > fabs(d[z]) ? 2 : z;
  ray.x = (ray.z + 1) % 3, ray.y = (ray.z + 2) % 3;
  ray.shear[0] = d[ray.x] / d[ray.z], ray.shear[1] = d[ray.y] / d[ray.z], ray.per = 1 / d[ray.z];
  for (int axis = 0; axis < 3; ++axis) ray.inverse[axis] = 1 / d[axis];
  return ray;
}

// Where the ray enters the box; infinity if it misses. A ray within the plane of a side gives NaN (0 times
// infinity). The comparisons are written so that NaN sets no limit.
static double enter_box(const Ray *ray, const FloBvhNode *node) {
  double enter = 0, leave = ray->max_t;
  for (int axis = 0; axis < 3; ++axis) {
    double a = (node->low[axis] - ray->origin[axis]) * ray->inverse[axis];
    double b = (node->high[axis] - ray->origin[axis]) * ray->inverse[axis];
    double near = ray->inverse[axis] < 0 ? b : a, far = ray->inverse[axis] < 0 ? a : b;
    // Rounding must not lose a grazing hit. Each bound has three roundings (section 3.3 of Woop et al.).
    far *= 1 + 4 * 0x1p-52;
    enter = near > enter ? near : enter;
    leave = far < leave ? far : leave;
  }
  return enter <= leave ? enter : INFINITY;
}

// Twice the signed area of (0, a, b). Where it rounds to zero it is computed with higher precision. Two
// triangles with a common edge then agree on which side of it the ray passes.
static double edge_function(const double a[2], const double b[2]) {
  double area = a[0] * b[1] - a[1] * b[0];
  if (area != 0) return area;
  // Kahan's difference of products corrects both roundings, so that the sign is right.
  double product = a[1] * b[0];
  return fma(a[0], b[1], -product) + fma(-a[1], b[0], product);
}

static void shear_corner(const Ray *ray, const double corner[3], double out[3]) {
  double d[3];
  vec_sub(corner, ray->origin, d);
  vec_set(out, d[ray->x] - ray->shear[0] * d[ray->z], d[ray->y] - ray->shear[1] * d[ray->z], d[ray->z]);
}

static void try_hit(Ray *ray, const FloMesh *mesh, uint32_t triangle, FloHit *hit) {
  FloBvhCorners t = bvh_corners(mesh, triangle);
  double a[3], b[3], c[3];
  shear_corner(ray, t.a, a), shear_corner(ray, t.b, b), shear_corner(ray, t.c, c);
  double u = edge_function(b, c), v = edge_function(c, a), w = edge_function(a, b);
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return;
  double sum = u + v + w;
  if (sum == 0) return;
  double distance = (u * a[2] + v * b[2] + w * c[2]) * ray->per / sum;
  if (!(distance >= 0 && distance <= ray->max_t)) return;
  ray->max_t = distance;
  *hit = (FloHit){distance, triangle, {u / sum, v / sum, w / sum}};
}

bool flo_bvh_ray(const FloBvh *bvh, const double origin[3], const double direction[3], double max_t,
                 FloHit *hit) {
  bool is_sound = vec_is_finite(origin) && vec_is_finite(direction) && vec_dot(direction, direction) > 0;
  if (!bvh->n_nodes || !is_sound || !(max_t >= 0)) return false;
  const FloBvhNode *nodes = bvh_nodes(bvh);
  Ray ray = make_ray(origin, direction, max_t);
  Waiting stack[FLO_BVH_STACK_SIZE];
  int height = 0;
  hit->triangle = UINT32_MAX;
  stack[height++] = (Waiting){0, enter_box(&ray, &nodes[0])};
  while (height) {
    Waiting top = stack[--height];
    if (!(top.near <= ray.max_t) || top.near == INFINITY) continue;
    const FloBvhNode *node = &nodes[top.node];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      try_hit(&ray, bvh->mesh, bvh_order(bvh)[k], hit);
    if (node->count) continue;
    Waiting near = {node->first, enter_box(&ray, &nodes[node->first])};
    Waiting far = {node->first + 1, enter_box(&ray, &nodes[node->first + 1])};
    bool is_swapped = far.near < near.near;
    stack[height++] = is_swapped ? near : far;
    stack[height++] = is_swapped ? far : near;
  }
  return hit->triangle != UINT32_MAX;
}
