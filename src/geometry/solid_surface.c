// Distance and normal in one go. Contacts need both for every particle next to a wall, in each step.
// Differences of distances would cost six times as much as the distance itself. Shapes that are a grid of
// distances, or an outline of many sides, are asked in the general way.
#include "geometry/solid_surface.h"

#include "base/vecmath.h"

// For more sides the tree of the outline is faster.
enum { MAX_SIDES = 40 };

static double towards(double x) { return x < 0 ? -1 : 1; }

// Of a box with the origin in its middle, which along the axis `open` (-1: none) has a lower end only.
// Inside, the nearest side counts; at its very centre the first one.
static double box_surface(const double half[3], int dim, int open, const double p[3], double normal[3]) {
  double outside[3] = {0}, inside = -INFINITY, nearest[3] = {0};
  for (int axis = 0; axis < dim; ++axis) {
    double sign = axis == open ? -1 : towards(p[axis]), d = sign * p[axis] - half[axis];
    if (d > 0) outside[axis] = sign * d;
    if (!(d > inside)) continue;
    inside = d;
    vec_set(nearest, axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
  }
  double length = vec_length(outside);
  vec_copy(nearest, normal);
  if (length > 0) vec_scale(outside, 1 / length, normal);
  return length > 0 ? length : inside;
}

static double tank_surface(const FloSolid *solid, const double half[3], const double p[3], double normal[3]) {
  const FloShape *shape = &solid->shape;
  double outer[3], outer_normal[3];
  double inner = -box_surface(half, solid->dim, shape->closed ? -1 : shape->up, p, normal);
  vec_scale(normal, -1, normal);
  for (int axis = 0; axis < 3; ++axis) outer[axis] = half[axis] + (axis < solid->dim ? solid->wall : 0);
  double distance = box_surface(outer, solid->dim, -1, p, outer_normal);
  double above = p[shape->up] - half[shape->up];
  if (!shape->closed && above > distance) {
    distance = above;
    vec_set(outer_normal, 0, 0, 0);
    outer_normal[shape->up] = 1;
  }
  if (distance > inner) vec_copy(outer_normal, normal);
  return fmax(inner, distance);
}

static double cylinder_surface(const FloShape *shape, const double p[3], double normal[3]) {
  double r = hypot(p[0], p[1]), radial = r - shape->radius, axial = fabs(p[2]) - shape->size[0] / 2;
  const double out[3] = {r > 0 ? p[0] / r : 1, r > 0 ? p[1] / r : 0, towards(p[2])};
  bool is_beside = radial > axial, is_at_edge = radial > 0 && axial > 0;
  double side = is_at_edge ? radial : is_beside, end = is_at_edge ? axial : !is_beside;
  double length = hypot(side, end);
  vec_set(normal, side / length * out[0], side / length * out[1], end / length * out[2]);
  return is_at_edge ? length : fmax(radial, axial);
}

static double sphere_surface(const FloShape *shape, const double p[3], double normal[3]) {
  double length = vec_length(p);
  vec_set(normal, 1, 0, 0);
  if (length > 0) vec_scale(p, 1 / length, normal);
  return length - shape->radius;
}

// From the nearest point of a side to p.
static void way_from_side(const double a[2], const double b[2], const double p[3], double way[2]) {
  double ab[2] = {b[0] - a[0], b[1] - a[1]}, ap[2] = {p[0] - a[0], p[1] - a[1]};
  double length2 = ab[0] * ab[0] + ab[1] * ab[1], along = ap[0] * ab[0] + ap[1] * ab[1];
  double t = along > 0 && length2 > 0 ? (along < length2 ? along / length2 : 1) : 0;
  way[0] = ap[0] - t * ab[0], way[1] = ap[1] - t * ab[1];
}

// Of few sides, all of which are looked at once. False on the very outline, where no way leads to it.
static bool outline_surface(const FloOutlineTree *outline, const double p[3], double *distance,
                            double normal[3]) {
  double nearest = INFINITY, away[2] = {0};
  bool is_inside = false;
  for (size_t k = 0, last = outline->n_points - 1; k < outline->n_points; last = k++) {
    const double *a = outline->points + 2 * last, *b = outline->points + 2 * k;
    double way[2];
    way_from_side(a, b, p, way);
    double square = way[0] * way[0] + way[1] * way[1];
    if (square < nearest) nearest = square, away[0] = way[0], away[1] = way[1];
    is_inside ^= flo_side_is_crossed(a, b, p);
  }
  double sign = is_inside ? -1 : 1, length = sqrt(nearest);
  *distance = sign * length;
  vec_set(normal, sign * away[0] / length, sign * away[1] / length, 0);
  return length > 1e-9 * (fabs(p[0]) + fabs(p[1]));
}

double flo_solid_surface(const FloSolid *solid, const double point[3], double reach, double normal[3]) {
  double half[3];
  bool has_formula = !solid->has_mesh && solid->outline.n_points == 0;
  if (has_formula && solid->shape.kind == FLO_SHAPE_SPHERE)
    return sphere_surface(&solid->shape, point, normal);
  if (has_formula && solid->shape.kind == FLO_SHAPE_CYLINDER)
    return cylinder_surface(&solid->shape, point, normal);
  if (has_formula && (solid->shape.kind == FLO_SHAPE_BOX || solid->shape.kind == FLO_SHAPE_TANK)) {
    flo_shape_half_extent(&solid->shape, solid->dim, half);
    return solid->shape.kind == FLO_SHAPE_BOX ? box_surface(half, solid->dim, -1, point, normal)
                                              : tank_surface(solid, half, point, normal);
  }
  double distance;
  size_t n_sides = solid->outline.n_points;
  if (n_sides > 0 && n_sides <= MAX_SIDES && outline_surface(&solid->outline, point, &distance, normal))
    return distance;
  distance = flo_solid_distance(solid, point);
  vec_set(normal, 0, 0, 0);
  if (distance < reach) flo_solid_normal(solid, point, normal);
  return distance;
}

// Close to the surface, where the grid may be wrong, the side of the nearest triangle decides.
static bool is_inside_mesh(const FloSolid *solid, const FloClosest *nearest, const double x[3]) {
  double distance = flo_sdf_distance(&solid->sdf, x), normal[3], way[3];
  if (fabs(distance) > 0.3 * solid->sdf.cell) return distance < 0;
  flo_mesh_normal(&solid->mesh, nearest->triangle, normal);
  vec_sub(x, nearest->point, way);
  return vec_dot(way, normal) < 0;
}

double flo_solid_sharp_surface(const FloSolid *solid, const double point[3], double normal[3]) {
  FloClosest nearest;
  if (!solid->has_mesh || flo_shape_is_thin(&solid->shape) ||
      !flo_bvh_closest(&solid->bvh, point, INFINITY, &nearest))
    return flo_solid_surface(solid, point, INFINITY, normal);
  double sign = is_inside_mesh(solid, &nearest, point) ? -1 : 1;
  vec_sub(point, nearest.point, normal);
  if (nearest.distance > 0)
    vec_scale(normal, sign / nearest.distance, normal);
  else
    flo_mesh_normal(&solid->mesh, nearest.triangle, normal);
  return sign * nearest.distance;
}
