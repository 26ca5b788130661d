// Joins borders whose vertices differ only by rounding. Files with few digits have such borders, and so have
// separate triangles that were turned or scaled one by one.
#include "base/vecmath.h"
#include "geometry/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A vertex at a border, sorted by its place along a line. The line is oblique to all likely planes.
typedef struct BorderVertex {
  double along;
  uint32_t vertex;
} BorderVertex;

static int compare_along(const void *a, const void *b) {
  const BorderVertex *p = a, *q = b;
  if (p->along != q->along) return p->along < q->along ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

typedef struct Joining {
  FloMesh *mesh;
  FloBuffer sides, parents, vertices, old_triangles;
  size_t n_border_edges, n_vertices; // at the border
} Joining;

static size_t count_border_edges(const FloMeshSide *sides, size_t n_sides) {
  size_t n_border = 0;
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    n_border += n == 1 && sides[first].low != sides[first].high;
  }
  return n_border;
}

static double edge_length(const FloMesh *mesh, const FloMeshSide *side) {
  double d[3];
  vec_sub(flo_mesh_vertex(mesh, side->low), flo_mesh_vertex(mesh, side->high), d);
  return vec_length(d);
}

// The tolerance is a millionth of the mesh's size, and well below its shortest edge, so that no triangle
// collapses.
static double find_tolerance(const Joining *j) {
  const FloMeshSide *sides = j->sides.data;
  double low[3], high[3], extent[3], shortest = INFINITY;
  flo_mesh_bounds(j->mesh, low, high);
  vec_sub(high, low, extent);
  for (size_t k = 0; k < 3 * j->mesh->n_triangles; ++k) {
    double length = edge_length(j->mesh, &sides[k]);
    if (length > 0) shortest = fmin(shortest, length);
  }
  return fmin(1e-6 * vec_length(extent), 0.1 * shortest);
}

static void add_border_vertex(Joining *j, uint32_t vertex) {
  const double *p = flo_mesh_vertex(j->mesh, vertex);
  BorderVertex *list = j->vertices.data;
  list[j->n_vertices++] = (BorderVertex){0.5377 * p[0] + 0.3291 * p[1] + 0.7763 * p[2], vertex};
}

static void list_border(Joining *j) {
  const FloMeshSide *sides = j->sides.data;
  size_t n_sides = 3 * j->mesh->n_triangles;
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    if (n != 1 || sides[first].low == sides[first].high) continue;
    add_border_vertex(j, sides[first].low);
    add_border_vertex(j, sides[first].high);
  }
  qsort(j->vertices.data, j->n_vertices, sizeof(BorderVertex), compare_along);
}

// The line has unit length, so points near each other are near along it as well. Returns how many vertices
// were merged.
static size_t join_near(const Joining *j, double tolerance) {
  const BorderVertex *list = j->vertices.data;
  uint32_t *parent = j->parents.data;
  size_t n_joined = 0;
  for (size_t v = 0; v < j->mesh->n_vertices; ++v) parent[v] = (uint32_t)v;
  for (size_t a = 0; a < j->n_vertices; ++a)
    for (size_t b = a + 1; b < j->n_vertices && list[b].along - list[a].along <= tolerance; ++b) {
      double d[3];
      vec_sub(flo_mesh_vertex(j->mesh, list[a].vertex), flo_mesh_vertex(j->mesh, list[b].vertex), d);
      if (vec_length(d) <= tolerance) flo_mesh_join_sets(parent, list[a].vertex, list[b].vertex);
    }
  for (uint32_t v = 0; v < j->mesh->n_vertices; ++v) n_joined += flo_mesh_find_set(parent, v) != v;
  return n_joined;
}

// Uses the joined vertices for the triangles if this leaves fewer edges open.
static FloStatus try_joined(Joining *j, size_t *n_joined, FloError *error) {
  FloMesh *mesh = j->mesh;
  size_t n_sides = 3 * mesh->n_triangles, size = n_sides * sizeof(uint32_t);
  uint32_t *corners = mesh->triangles.data, *parent = j->parents.data;
  memcpy(j->old_triangles.data, corners, size);
  for (size_t k = 0; k < n_sides; ++k) corners[k] = flo_mesh_find_set(parent, corners[k]);
  FloStatus status = flo_mesh_sort_sides(mesh, &j->sides, error);
  bool is_better = status == FLO_OK && count_border_edges(j->sides.data, n_sides) < j->n_border_edges;
  if (!is_better) memcpy(corners, j->old_triangles.data, size), *n_joined = 0;
  return status;
}

static FloStatus make_room(Joining *j, FloError *error) {
  FloMemory *memory = j->mesh->memory;
  size_t n_bytes = 3 * j->mesh->n_triangles * sizeof(uint32_t);
  FLO_TRY(flo_buffer_reserve(memory, &j->vertices, 2 * j->n_border_edges * sizeof(BorderVertex), 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &j->parents, j->mesh->n_vertices * sizeof(uint32_t), 0, error));
  return flo_buffer_reserve(memory, &j->old_triangles, n_bytes, 0, error);
}

static FloStatus join(Joining *j, size_t *n_joined, FloError *error) {
  FLO_TRY(flo_mesh_sort_sides(j->mesh, &j->sides, error));
  j->n_border_edges = count_border_edges(j->sides.data, 3 * j->mesh->n_triangles);
  if (j->n_border_edges == 0) return FLO_OK;
  FLO_TRY(make_room(j, error));
  double tolerance = find_tolerance(j);
  list_border(j);
  *n_joined = join_near(j, tolerance);
  if (*n_joined) FLO_TRY(try_joined(j, n_joined, error));
  return *n_joined ? flo_mesh_weld(j->mesh, error) : FLO_OK;
}

FloStatus flo_mesh_join_borders(FloMesh *mesh, size_t *n_joined, FloError *error) {
  Joining j = {.mesh = mesh};
  *n_joined = 0;
  FloStatus status = join(&j, n_joined, error);
  FloBuffer *buffers[] = {&j.sides, &j.parents, &j.vertices, &j.old_triangles};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(mesh->memory, buffers[k]);
  return status;
}
