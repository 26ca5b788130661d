#include "render/creased.h"

#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/shape_mesh.h"
#include "geometry/shapes.h"

#include <stdlib.h>

// Faces that meet at less than this angle look like one round surface.
#define CREASE_COSINE 0.75 // 41 degrees

// Number of triangle edges along the longest extent; enough that an outline shows no corners.
enum { EDGES_ALONG = 60 };

static double extent_of(const FloShape *shape) {
  double extent = 2 * (shape->radius + shape->radius2);
  for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, shape->size[axis]);
  return extent;
}

// The normal times twice the area, so that large faces count more.
static void face_normal(const FloMesh *mesh, size_t k, double normal[3]) {
  const uint32_t *t = flo_mesh_triangle(mesh, k);
  const double *a = flo_mesh_vertex(mesh, t[0]), *b = flo_mesh_vertex(mesh, t[1]),
               *c = flo_mesh_vertex(mesh, t[2]);
  double u[3], v[3];
  vec_sub(b, a, u);
  vec_sub(c, a, v);
  vec_cross(u, v, normal);
}

// Sorts corners by vertex: those of vertex v are corners[first[v]] to corners[first[v + 1] - 1]. A corner is
// three times the number of a triangle plus its place there.
static void sort_corners(const FloMesh *mesh, size_t *first, size_t *corners) {
  const uint32_t *vertex_of = flo_mesh_triangle(mesh, 0);
  size_t n = 3 * mesh->n_triangles;
  for (size_t v = 0; v <= mesh->n_vertices; ++v) first[v] = 0;
  for (size_t k = 0; k < n; ++k) ++first[vertex_of[k] + 1];
  for (size_t v = 0; v < mesh->n_vertices; ++v) first[v + 1] += first[v];
  for (size_t k = n; k-- > 0;) corners[--first[vertex_of[k] + 1]] = k;
  // Each entry is now the beginning of the vertex before it.
  for (size_t v = 0; v < mesh->n_vertices; ++v) first[v] = first[v + 1];
  first[mesh->n_vertices] = n;
}

// The mean of the faces around a corner that meet its own face smoothly.
static V3 corner_normal(const double (*faces)[3], const size_t *corners, size_t n, size_t own) {
  const double *mine = faces[own / 3];
  double sum[3] = {0}, length = vec_length(mine);
  for (size_t k = 0; k < n; ++k) {
    const double *other = faces[corners[k] / 3];
    if (vec_dot(mine, other) >= CREASE_COSINE * length * vec_length(other)) vec_add(sum, other, sum);
  }
  double total = vec_length(sum);
  if (total > 0) vec_scale(sum, 1 / total, sum);
  return v3((float)sum[0], (float)sum[1], (float)sum[2]);
}

static bool compute_normals(FloCreased *out) {
  const FloMesh *mesh = &out->mesh;
  size_t n = 3 * mesh->n_triangles;
  size_t *first = malloc((mesh->n_vertices + 2) * sizeof *first),
         *corners = malloc((n + 1) * sizeof *corners);
  double(*faces)[3] = malloc((mesh->n_triangles + 1) * sizeof *faces);
  out->normals = malloc((n + 1) * sizeof *out->normals);
  bool has_memory = first && corners && faces && out->normals;
  if (has_memory && n > 0) {
    for (size_t k = 0; k < mesh->n_triangles; ++k) face_normal(mesh, k, faces[k]);
    sort_corners(mesh, first, corners);
    const uint32_t *vertex_of = flo_mesh_triangle(mesh, 0);
    for (size_t k = 0; k < n; ++k) {
      size_t begin = first[vertex_of[k]], end = first[vertex_of[k] + 1];
      out->normals[k] = corner_normal((const double(*)[3])faces, corners + begin, end - begin, k);
    }
  }
  free(first);
  free(corners);
  free(faces);
  return has_memory;
}

FloStatus flo_creased_complete(FloCreased *out, FloError *error) {
  if (compute_normals(out)) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu triangles", out->mesh.n_triangles);
}

FloStatus flo_creased_create(const FloShape *shape, FloMemory *memory, FloCreased *out, FloError *error) {
  *out = (FloCreased){0};
  flo_mesh_init(&out->mesh, memory);
  FloStatus status = flo_shape_mesh(shape, extent_of(shape) / EDGES_ALONG, 0, &out->mesh, error);
  if (status == FLO_OK) status = flo_creased_complete(out, error);
  if (status != FLO_OK) flo_creased_destroy(out);
  return status;
}

void flo_creased_destroy(FloCreased *out) {
  if (out->is_borrowed) return;
  free(out->normals);
  out->normals = NULL;
  if (!out->mesh.memory) return;
  flo_buffer_free(out->mesh.memory, &out->sides);
  flo_mesh_free(&out->mesh);
}
