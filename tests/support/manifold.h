// Meshes to test: a place for one, whether it is closed and manifold, and how large it is.
#ifndef TEST_SUPPORT_MANIFOLD_H
#define TEST_SUPPORT_MANIFOLD_H

#include "base/vecmath.h"
#include "geometry/mesh.h"
#include "support/allocator.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
  CountingAllocator counter;
  FloMemory memory;
  FloMesh mesh;
} Fixture;

static inline void fixture_init(Fixture *fixture) {
  *fixture = (Fixture){.counter = {.byte_limit = 1U << 30}};
  FloAllocator allocator = counting_allocator(&fixture->counter);
  flo_memory_init(&fixture->memory, &allocator);
  flo_mesh_init(&fixture->mesh, &fixture->memory);
}

static inline void fixture_free(Fixture *fixture) {
  flo_mesh_free(&fixture->mesh);
  assert_int_equal(fixture->counter.bytes, 0);
  assert_int_equal(fixture->counter.n_mismatches, 0);
}

// A directed edge and the corner opposite to it.
typedef struct Edge {
  uint32_t from, to, opposite;
} Edge;

static inline int compare_edges(const void *a, const void *b) {
  const Edge *p = a, *q = b;
  if (p->from != q->from) return p->from < q->from ? -1 : 1;
  return p->to < q->to ? -1 : p->to > q->to;
}

static inline const Edge *find_edge(const Edge *edges, size_t n, uint32_t from, uint32_t to) {
  return bsearch(&(Edge){.from = from, .to = to}, edges, n, sizeof *edges, compare_edges);
}

static inline Edge *sorted_edges(const FloMesh *mesh) {
  Edge *edges = malloc((3 * mesh->n_triangles + 1) * sizeof *edges);
  assert_non_null(edges);
  for (size_t k = 0; k < 3 * mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k / 3);
    edges[k] = (Edge){t[k % 3], t[(k + 1) % 3], t[(k + 2) % 3]};
  }
  qsort(edges, 3 * mesh->n_triangles, sizeof *edges, compare_edges);
  return edges;
}

static inline int compare_points(const void *a, const void *b) {
  for (int axis = 0; axis < 3; ++axis) {
    double p = ((const double *)a)[axis], q = ((const double *)b)[axis];
    if (p != q) return p < q ? -1 : 1;
  }
  return 0;
}

static inline void check_no_duplicates(const FloMesh *mesh) {
  double *points = malloc(mesh->n_vertices * sizeof(double[3]));
  assert_non_null(points);
  memcpy(points, mesh->vertices.data, mesh->n_vertices * sizeof(double[3]));
  qsort(points, mesh->n_vertices, sizeof(double[3]), compare_points);
  for (size_t k = 1; k < mesh->n_vertices; ++k)
    assert_int_not_equal(compare_points(points + 3 * k - 3, points + 3 * k), 0);
  free(points);
}

// Every edge has one face on either side, with opposite directions, and the faces around a vertex are one
// fan.
static inline void check_topology(const FloMesh *mesh) {
  Edge *edges = sorted_edges(mesh);
  size_t n = 3 * mesh->n_triangles, begin = 0;
  for (size_t k = 0; k < n; ++k) {
    assert_true(edges[k].from != edges[k].to);
    if (k) assert_true(compare_edges(&edges[k - 1], &edges[k]) < 0);
    assert_non_null(find_edge(edges, n, edges[k].to, edges[k].from));
  }
  for (uint32_t vertex = 0; vertex < mesh->n_vertices; ++vertex) {
    size_t end = begin, n_around = 0;
    while (end < n && edges[end].from == vertex) ++end;
    assert_true(end > begin);
    const Edge *edge = &edges[begin];
    do edge = find_edge(edges, n, vertex, edge->opposite), ++n_around;
    while (edge != &edges[begin]);
    assert_int_equal(n_around, end - begin);
    begin = end;
  }
  free(edges);
}

static inline void check_manifold(const FloMesh *mesh) {
  check_topology(mesh);
  check_no_duplicates(mesh);
}

static inline long euler_characteristic(const FloMesh *mesh) {
  assert_int_equal(mesh->n_triangles % 2, 0);
  return (long)mesh->n_vertices - (long)(3 * mesh->n_triangles / 2) + (long)mesh->n_triangles;
}

static inline void triangle_normal(const FloMesh *mesh, size_t k, double normal[3]) {
  const uint32_t *t = flo_mesh_triangle(mesh, k);
  double a[3], b[3];
  vec_sub(flo_mesh_vertex(mesh, t[1]), flo_mesh_vertex(mesh, t[0]), a);
  vec_sub(flo_mesh_vertex(mesh, t[2]), flo_mesh_vertex(mesh, t[0]), b);
  vec_cross(a, b, normal);
}

static inline double mesh_volume(const FloMesh *mesh) {
  double volume = 0, normal[3];
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    triangle_normal(mesh, k, normal);
    volume += vec_dot(flo_mesh_vertex(mesh, flo_mesh_triangle(mesh, k)[0]), normal) / 6;
  }
  return volume;
}

static inline uint32_t root_of(uint32_t *parent, uint32_t vertex) {
  while (parent[vertex] != vertex) vertex = parent[vertex] = parent[parent[vertex]];
  return vertex;
}

// How many separate pieces there are.
static inline size_t count_components(const FloMesh *mesh) {
  uint32_t *parent = malloc(mesh->n_vertices * sizeof *parent);
  size_t n = mesh->n_vertices;
  assert_non_null(parent);
  for (uint32_t k = 0; k < mesh->n_vertices; ++k) parent[k] = k;
  for (size_t k = 0; k < 3 * mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k / 3);
    uint32_t a = root_of(parent, t[k % 3]), b = root_of(parent, t[(k + 1) % 3]);
    if (a != b) parent[a] = b, --n;
  }
  free(parent);
  return n;
}

// The smallest angle of a triangle [degrees].
static inline double smallest_angle(const FloMesh *mesh, size_t k) {
  const uint32_t *t = flo_mesh_triangle(mesh, k);
  double smallest = 180;
  for (int corner = 0; corner < 3; ++corner) {
    double a[3], b[3], cross[3];
    vec_sub(flo_mesh_vertex(mesh, t[(corner + 1) % 3]), flo_mesh_vertex(mesh, t[corner]), a);
    vec_sub(flo_mesh_vertex(mesh, t[(corner + 2) % 3]), flo_mesh_vertex(mesh, t[corner]), b);
    vec_cross(a, b, cross);
    smallest = fmin(smallest, atan2(vec_length(cross), vec_dot(a, b)) * 180 / FLO_PI);
  }
  return smallest;
}

#endif
