// The probe `outside`: how many particles of the fluid are not surrounded by the surface of a soft body.
#include "base/core.h"
#include "geometry/bvh.h"
#include "io/probes.h"

#include <math.h>

// A point is inside where the surface goes around it at least half a time, whichever way its elements face.
#define INSIDE 0.5

typedef struct Surface {
  const FloFrameBody *body;
  FloBvh tree; // of triangles
  bool is_flat;
} Surface;

// ---- In the plane ----

static double turn(const float *from, const float *to, const double point[3]) {
  const double a[2] = {(double)from[0] - point[0], (double)from[1] - point[1]};
  const double b[2] = {(double)to[0] - point[0], (double)to[1] - point[1]};
  return atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
}

static double winding_of_lines(const FloFrameBody *body, const double point[3]) {
  double sum = 0;
  for (size_t k = 0; k < body->n_triangles; k++) {
    const uint32_t *ends = body->triangles + 3 * k;
    sum += turn(body->vertices + 3 * (size_t)ends[0], body->vertices + 3 * (size_t)ends[1], point);
  }
  return sum / (2 * FLO_PI);
}

// ---- In space ----

static FloStatus copy_mesh(const FloFrameBody *body, FloMesh *mesh, FloError *error) {
  for (const float *x = body->vertices; x < body->vertices + 3 * body->n_vertices; x += 3)
    FLO_TRY(
        flo_mesh_add_vertex(mesh, (const double[3]){(double)x[0], (double)x[1], (double)x[2]}, NULL, error));
  for (const uint32_t *t = body->triangles; t < body->triangles + 3 * body->n_triangles; t += 3)
    FLO_TRY(flo_mesh_add_triangle(mesh, t[0], t[1], t[2], error));
  return FLO_OK;
}

// ---- Counting ----

static bool is_outside(const Surface *surface, const double point[3]) {
  const double around =
      surface->is_flat ? winding_of_lines(surface->body, point) : flo_bvh_winding(&surface->tree, point);
  return fabs(around) < INSIDE;
}

static double read_number(const FloView *view, size_t k) {
  return *(const double *)((const char *)view->data + k * view->stride);
}

static double count_outside(const FloWorld *world, const Surface *surface) {
  static const char *const axes[3] = {"x", "y", "z"};
  FloView x[3];
  double n = 0;
  for (int axis = 0; axis < 3; axis++)
    if (flo_world_view(world, FLO_SET_FLUID, axes[axis], &x[axis], NULL) != FLO_OK) return NAN;
  for (size_t k = 0; k < x[0].count; k++) {
    const double point[3] = {read_number(&x[0], k), read_number(&x[1], k), read_number(&x[2], k)};
    n += is_outside(surface, point);
  }
  return n;
}

double flo_probe_outside(const FloWorld *world, const FloFrameBody *body, int dim) {
  Surface surface = {.body = body, .is_flat = dim == 2};
  if (surface.is_flat) return count_outside(world, &surface);
  FloMemory memory;
  FloMesh mesh;
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  FloStatus status = copy_mesh(body, &mesh, NULL);
  if (status == FLO_OK) status = flo_bvh_build(&surface.tree, &mesh, NULL);
  const double n = status == FLO_OK ? count_outside(world, &surface) : NAN;
  flo_bvh_free(&surface.tree);
  flo_mesh_free(&mesh);
  return n;
}
