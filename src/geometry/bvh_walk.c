// Walks from the surface inwards. Each step uses a ball that touches the surface and shrinks until it fits
// between two sides.
#include "base/vecmath.h"
#include "geometry/bvh.h"

#include <math.h>

// Finds the largest ball that touches the surface at `foot`, has its centre along `up`, and holds no part of
// the surface (Ma, Bae and Choi 2012). Returns its radius; `other` is the second point it touches.
static double shrink_ball(const FloBvh *bvh, const double foot[3], const double up[3], double radius,
                          double other[3]) {
  for (int step = 0; step < 32; ++step) {
    double centre[3], d[3];
    FloClosest closest;
    vec_add_scaled(foot, up, radius, centre);
    if (!flo_bvh_closest(bvh, centre, radius * (1 - 1e-9), &closest)) return radius;
    vec_copy(closest.point, other);
    vec_sub(closest.point, foot, d);
    double height = vec_dot(d, up);
    if (!(height > 0)) return radius;
    radius = fmin(radius * (1 - 1e-9), vec_dot(d, d) / (2 * height));
  }
  return radius;
}

// One step from a place whose nearest surface point is `foot`. It goes to the full depth if the way is free,
// else onto the ridge between the two sides and up along it. Returns false where the ridge is almost level.
static bool climb(const FloBvh *bvh, const double foot[3], const double up[3], double depth, double p[3],
                  double *reached) {
  double other[3], away[3], rise[3];
  vec_copy(foot, other);
  double radius = shrink_ball(bvh, foot, up, depth, other);
  vec_add_scaled(foot, up, radius, p);
  *reached = radius;
  if (radius >= depth * (1 - 1e-6)) return false;
  vec_sub(p, other, away);
  double length = vec_length(away);
  if (!(length > 0)) return false;
  vec_scale(away, 1 / length, away);
  vec_add(up, away, rise);
  double slope = vec_length(rise) / 2;
  // Two sides at less than some 40 degrees belong to a thin part, whose middle is deep enough.
  if (slope < 0.35) return false;
  vec_scale(rise, 0.5 / slope, rise);
  for (double step = (depth - radius) / slope; step > 1e-3 * depth; step /= 2) {
    double next[3];
    FloClosest closest;
    FloHit hit;
    vec_add_scaled(p, rise, step, next);
    if (flo_bvh_ray(bvh, p, rise, step, &hit)) continue;
    if (flo_bvh_closest(bvh, next, radius, &closest)) continue;
    vec_copy(next, p);
    return true;
  }
  return false;
}

double flo_bvh_walk_away(const FloBvh *bvh, const double start[3], double depth, double out[3]) {
  double reached = 0;
  vec_copy(start, out);
  for (int step = 0; step < 12; ++step) {
    FloClosest closest;
    double up[3];
    if (!flo_bvh_closest(bvh, out, depth, &closest)) return depth;
    reached = closest.distance;
    if (!(reached > 0) || reached >= depth * (1 - 1e-6)) break;
    vec_sub(out, closest.point, up);
    vec_scale(up, 1 / vec_length(up), up);
    if (!climb(bvh, closest.point, up, depth, out, &reached)) break;
  }
  return reached;
}

static double distance_to_sides(const double *const corners[3], const double point[3]) {
  double nearest = INFINITY;
  for (int k = 0; k < 3; ++k) {
    double side[3], d[3], normal[3];
    vec_sub(corners[(k + 1) % 3], corners[k], side), vec_sub(point, corners[k], d);
    vec_cross(side, d, normal);
    nearest = fmin(nearest, vec_length(normal) / vec_length(side));
  }
  return nearest;
}

// Finds a place a little inside of a point of a triangle. From most points it goes straight down, so that
// even points stay even. From an edge or a corner it first moves a little towards the middle of the triangle,
// because straight down could lead along the neighbour.
static bool step_inside(const FloMesh *mesh, const double point[3], uint32_t triangle, double depth,
                        double out[3]) {
  const double *const corners[3] = {flo_mesh_corner(mesh, triangle, 0), flo_mesh_corner(mesh, triangle, 1),
                                    flo_mesh_corner(mesh, triangle, 2)};
  double normal[3], middle[3];
  flo_mesh_normal(mesh, triangle, normal);
  double length = vec_length(normal);
  if (!(length > 0)) return false;
  for (int k = 0; k < 3; ++k) middle[k] = (corners[0][k] + corners[1][k] + corners[2][k]) / 3 - point[k];
  double way = vec_length(middle), least = 0.02 * depth;
  double share = way > 0 && distance_to_sides(corners, point) < least ? fmin(0.3, least / way) : 0;
  vec_add_scaled(point, middle, share, out);
  vec_add_scaled(out, normal, -(2e-6 * depth + 0.01 * share * way) / length, out);
  return true;
}

double flo_bvh_inset(const FloBvh *bvh, const double point[3], uint32_t triangle, double depth,
                     double out[3]) {
  double start[3];
  if (step_inside(bvh->mesh, point, triangle, depth, start)) return flo_bvh_walk_away(bvh, start, depth, out);
  vec_copy(point, out);
  return 0;
}
