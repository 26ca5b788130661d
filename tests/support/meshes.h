// Small meshes for tests, vertex by vertex.
#ifndef TEST_SUPPORT_MESHES_H
#define TEST_SUPPORT_MESHES_H

#include "geometry/mesh.h"
#include "support/check.h"

static inline uint32_t mesh_add_vertex(FloMesh *mesh, double x, double y, double z) {
  FloError error;
  uint32_t index;
  assert_ok(flo_mesh_add_vertex(mesh, (double[3]){x, y, z}, &index, &error), &error);
  return index;
}

static inline void mesh_add_triangle(FloMesh *mesh, uint32_t a, uint32_t b, uint32_t c) {
  FloError error;
  assert_ok(flo_mesh_add_triangle(mesh, a, b, c, &error), &error);
}

// Two triangles.
static inline void mesh_add_quad(FloMesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  mesh_add_triangle(mesh, a, b, c);
  mesh_add_triangle(mesh, a, c, d);
}

// Vertex k is at the high end of x if bit 0 is set, of y if bit 1 is, and of z if bit 2 is.
static const uint32_t box_triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                              {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                              {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

// `is_inward` turns its triangles round.
static inline void mesh_add_box(FloMesh *mesh, const double low[3], const double high[3], bool is_inward) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (int k = 0; k < 8; ++k)
    mesh_add_vertex(mesh, k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]);
  for (int k = 0; k < 12; ++k) {
    const uint32_t *t = box_triangles[k];
    mesh_add_triangle(mesh, first + t[0], first + t[is_inward ? 2 : 1], first + t[is_inward ? 1 : 2]);
  }
}

// A sphere of n rings of 2 n vertices, which it shares; its triangles become needles at the poles.
static inline void mesh_add_sphere(FloMesh *mesh, double radius, uint32_t n) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (uint32_t j = 1; j < n; ++j)
    for (uint32_t i = 0; i < 2 * n; ++i) {
      double theta = FLO_PI * j / n, phi = FLO_PI * i / n;
      mesh_add_vertex(mesh, radius * sin(theta) * cos(phi), radius * sin(theta) * sin(phi),
                      radius * cos(theta));
    }
  uint32_t north = mesh_add_vertex(mesh, 0, 0, radius), south = mesh_add_vertex(mesh, 0, 0, -radius);
  for (uint32_t i = 0; i < 2 * n; ++i) {
    uint32_t next = (i + 1) % (2 * n), last = first + (n - 2) * 2 * n;
    mesh_add_triangle(mesh, north, first + i, first + next);
    for (uint32_t j = 0; j + 2 < n; ++j) {
      uint32_t row = first + j * 2 * n, below = row + 2 * n;
      mesh_add_triangle(mesh, row + i, below + i, below + next);
      mesh_add_triangle(mesh, row + i, below + next, row + next);
    }
    mesh_add_triangle(mesh, south, last + next, last + i);
  }
}

static inline void mesh_turn_all(FloMesh *mesh) {
  for (size_t k = 0; k < mesh->n_triangles; ++k) flo_mesh_turn_triangle(mesh, k);
}

#endif
