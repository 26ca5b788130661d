// The room that the shapes of a robot take up.
#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/mesh_io.h"
#include "io/urdf.h"

static void widen(const double point[3], double reach, int axis, double low[3], double high[3]) {
  low[axis] = fmin(low[axis], point[axis] - reach);
  high[axis] = fmax(high[axis], point[axis] + reach);
}

// How far a shape reaches from its middle along an axis of the world, which has the direction `n` in the axes
// of the shape.
static double reach_along(const FloUrdfShape *shape, const double n[3]) {
  const double *size = shape->size, across = sqrt(fmax(1 - n[2] * n[2], 0));
  if (shape->kind == FLO_SHAPE_BOX)
    return (fabs(n[0]) * size[0] + fabs(n[1]) * size[1] + fabs(n[2]) * size[2]) / 2;
  if (shape->kind == FLO_SHAPE_CYLINDER) return fabs(n[2]) * size[1] / 2 + across * size[0];
  if (shape->kind == FLO_SHAPE_CAPSULE) return fabs(n[2]) * size[1] / 2 + size[0];
  return size[0];
}

static FloStatus add_mesh(const char *path, double scale, const FloPose *at, double low[3], double high[3],
                          FloError *error) {
  FloMemory memory;
  FloMesh mesh;
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  FloStatus status = flo_mesh_read(path, &mesh, error);
  for (size_t k = 0; status == FLO_OK && k < mesh.n_vertices; ++k) {
    double point[3];
    vec_scale(flo_mesh_vertex(&mesh, k), scale, point);
    quat_rotate(at->rotation, point, point);
    vec_add(at->position, point, point);
    for (int axis = 0; axis < 3; ++axis) widen(point, 0, axis, low, high);
  }
  flo_mesh_free(&mesh);
  return status;
}

FloStatus flo_urdf_bounds(const FloUrdfShape *shape, const FloPose *at, const char *mesh, double low[3],
                          double high[3], FloError *error) {
  if (shape->kind == FLO_SHAPE_MESH) return add_mesh(mesh, shape->size[0], at, low, high, error);
  for (int axis = 0; axis < 3; ++axis) {
    double n[3];
    quat_rotate_back(at->rotation, (const double[3]){axis == 0, axis == 1, axis == 2}, n);
    widen(at->position, reach_along(shape, n), axis, low, high);
  }
  return FLO_OK;
}
