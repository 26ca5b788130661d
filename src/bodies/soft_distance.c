// Distances from the surface of a soft body, where it is now.
//
// A solid has an inside. A ray from a point along x crosses the surface of the solid outwards once more often
// than inwards if the point is inside. Each edge is judged in the same way for all triangles that share it,
// so that no ray slips through between two triangles or counts twice.
#include "base/pose.h"
#include "bodies/soft_body.h"
#include "geometry/bvh.h"

FloStatus flo_soft_distance_make(FloBody *body, FloMemory *memory, FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  const FloMesh *faces = flo_soft_body_faces(body);
  FLO_TRY(flo_moving_tree_make(&own->tree, memory, flo_mesh_vertex(faces, 0), flo_mesh_triangle(faces, 0),
                               faces->n_triangles, 3, error));
  flo_soft_distance_refit(body);
  return FLO_OK;
}

void flo_soft_distance_refit(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  const double *x = flo_mesh_vertex(flo_soft_body_faces(body), 0);
  if (own->tree.n > 0) flo_moving_tree_refit(&own->tree, x, x, own->threads);
}

// ---- The nearest point ----

typedef struct Nearest {
  const FloMesh *mesh;
  const double *x;
  double point[3];
} Nearest;

static double measure(void *context, uint32_t triangle, double least) {
  Nearest *nearest = context;
  double weights[3];
  const double square = flo_triangle_nearest(nearest->mesh, triangle, nearest->x, least, weights);
  if (!(square < least)) return least;
  vec_set(nearest->point, 0, 0, 0);
  for (int corner = 0; corner < 3; ++corner)
    vec_add_scaled(nearest->point, flo_mesh_corner(nearest->mesh, triangle, corner), weights[corner],
                   nearest->point);
  return square;
}

// The point of the surface nearest to x, which may be the image of a point across a periodic border.
static double find_nearest(const FloBody *body, const double x[3], double point[3]) {
  Nearest nearest = {.mesh = flo_soft_body_faces(body), .x = x};
  const double square = flo_moving_tree_nearest(&flo_soft_body(body)->tree, x, measure, &nearest);
  vec_copy(nearest.point, point);
  return sqrt(square);
}

// ---- Inside or outside ----

typedef struct Ray {
  const FloMesh *mesh;
  const double *x; // where it starts
  int crossings;   // outwards minus inwards
} Ray;

// How an edge crosses the line at height x[up] to the right of x[side]: 1 upwards, -1 downwards, 0 not. A
// vertex at this height belongs to the part below it.
static int cross_edge(const double a[3], const double b[3], const double x[3], int side, int up) {
  if ((a[up] <= x[up]) == (b[up] <= x[up])) return 0;
  const bool is_upward = a[up] <= x[up];
  const double *low = is_upward ? a : b, *high = is_upward ? b : a;
  const double place =
      (low[side] - x[side]) * (high[up] - x[up]) - (high[side] - x[side]) * (low[up] - x[up]);
  return place > 0 ? (is_upward ? 1 : -1) : 0;
}

// Seen along the ray, the triangle surrounds its origin 1 or -1 times, or not at all.
static void cross_triangle(void *context, uint32_t triangle) {
  Ray *ray = context;
  const double *corners[3], *x = ray->x;
  double normal[3], way[3];
  int around = 0;
  for (int k = 0; k < 3; ++k) corners[k] = flo_mesh_corner(ray->mesh, triangle, k);
  for (int k = 0; k < 3; ++k) around += cross_edge(corners[k], corners[(k + 1) % 3], x, 1, 2);
  if (around == 0) return;
  flo_mesh_normal(ray->mesh, triangle, normal);
  vec_sub(corners[0], x, way);
  // It lies ahead if the normal's part along the ray and that along the way to the triangle agree.
  if (vec_dot(normal, way) * normal[0] > 0) ray->crossings += around;
}

static void cross_segment(void *context, uint32_t segment) {
  Ray *ray = context;
  ray->crossings += cross_edge(flo_mesh_corner(ray->mesh, segment, 0), flo_mesh_corner(ray->mesh, segment, 1),
                               ray->x, 0, 1);
}

static bool is_inside(const FloBody *body, const double x[3]) {
  const FloSoftBody *own = flo_soft_body(body);
  FloMovingBox box = flo_moving_tree_box(&own->tree);
  Ray ray = {.mesh = flo_soft_body_faces(body), .x = x};
  for (int axis = 0; axis < 3; ++axis) {
    if (!(x[axis] >= box.low[axis] && x[axis] <= box.high[axis])) return false;
    box.low[axis] = x[axis];
    if (axis > 0) box.high[axis] = x[axis];
  }
  flo_moving_tree_visit(&own->tree, &box, own->n_corners == 3 ? cross_triangle : cross_segment, &ray);
  return ray.crossings != 0;
}

// ---- Distances ----

// Fluid keeps half a spacing from a sheet, which has no inside. At the start, the solid of its shape knows
// the distances. Later the triangles are searched, if x is near enough to matter: farther than that the
// distance to the ball around the body is a lower bound.
double flo_soft_skin_distance(const FloBody *body, const FloDomain *domain, const double x[3]) {
  const FloSoftBody *own = flo_soft_body(body);
  const double offset = body->is_thin ? own->offset : 0;
  double image[3], way[3], nearest[3];
  flo_domain_nearest_image(domain, body->state.pose.position, x, image);
  if (!own->has_moved) {
    pose_to_local(&body->start, image, image);
    const double distance = flo_solid_distance(body->solid, image);
    return body->is_thin ? fabs(distance) - offset : distance;
  }
  vec_sub(image, body->state.pose.position, way);
  const double bound = vec_length(way) - body->reach - offset;
  if (bound > 4 * own->offset) return bound;
  const double distance = find_nearest(body, image, nearest);
  return !body->is_thin && is_inside(body, image) ? -distance : distance - offset;
}

void flo_soft_skin_normal(const FloBody *body, const FloDomain *domain, const double x[3], double normal[3]) {
  double image[3], nearest[3];
  flo_domain_nearest_image(domain, body->state.pose.position, x, image);
  const double distance = find_nearest(body, image, nearest),
               side = !body->is_thin && is_inside(body, image) ? -1 : 1;
  vec_sub(image, nearest, normal);
  vec_scale(normal, distance > 0 ? side / distance : 0, normal);
}
