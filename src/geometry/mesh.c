#include "geometry/mesh.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

void flo_mesh_init(FloMesh *mesh, FloMemory *memory) { *mesh = (FloMesh){.memory = memory}; }

void flo_mesh_free(FloMesh *mesh) {
  flo_buffer_free(mesh->memory, &mesh->vertices);
  flo_buffer_free(mesh->memory, &mesh->triangles);
  mesh->n_vertices = mesh->n_triangles = 0;
}

// Room for n elements; grows by halves, so that adding one at a time costs little.
static FloStatus make_room(FloMesh *mesh, FloBuffer *buffer, size_t count, size_t n, size_t size,
                           FloError *error) {
  if (n >= UINT32_MAX) return flo_fail(error, FLO_BAD_INPUT, "mesh: more than %u elements", UINT32_MAX - 1);
  if (n * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(mesh->memory, buffer, (n + n / 2 + 16) * size, count * size, error);
}

FloStatus flo_mesh_add_vertex(FloMesh *mesh, const double point[3], uint32_t *index, FloError *error) {
  FLO_TRY(
      make_room(mesh, &mesh->vertices, mesh->n_vertices, mesh->n_vertices + 1, 3 * sizeof(double), error));
  vec_copy(point, flo_mesh_vertex(mesh, mesh->n_vertices));
  if (index) *index = (uint32_t)mesh->n_vertices;
  ++mesh->n_vertices;
  return FLO_OK;
}

FloStatus flo_mesh_add_triangle(FloMesh *mesh, uint32_t a, uint32_t b, uint32_t c, FloError *error) {
  FLO_ASSERT(a < mesh->n_vertices && b < mesh->n_vertices && c < mesh->n_vertices);
  FLO_TRY(make_room(mesh, &mesh->triangles, mesh->n_triangles, mesh->n_triangles + 1, 3 * sizeof(uint32_t),
                    error));
  const uint32_t corners[3] = {a, b, c};
  memcpy(flo_mesh_triangle(mesh, mesh->n_triangles++), corners, sizeof corners);
  return FLO_OK;
}

FloStatus flo_mesh_append(FloMesh *mesh, const FloMesh *other, FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (size_t k = 0; k < other->n_vertices; ++k)
    FLO_TRY(flo_mesh_add_vertex(mesh, flo_mesh_vertex(other, k), NULL, error));
  for (size_t k = 0; k < other->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(other, k);
    FLO_TRY(flo_mesh_add_triangle(mesh, first + t[0], first + t[1], first + t[2], error));
  }
  return FLO_OK;
}

void flo_mesh_bounds(const FloMesh *mesh, double low[3], double high[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = mesh->n_vertices ? INFINITY : 0, high[axis] = mesh->n_vertices ? -INFINITY : 0;
    for (size_t k = 0; k < mesh->n_vertices; ++k) {
      low[axis] = fmin(low[axis], flo_mesh_vertex(mesh, k)[axis]);
      high[axis] = fmax(high[axis], flo_mesh_vertex(mesh, k)[axis]);
    }
  }
}
