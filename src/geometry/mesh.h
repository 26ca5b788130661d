// Triangle meshes: vertices and triangles, what is wrong with them, and what they weigh.
#ifndef FLO_GEOMETRY_MESH_H
#define FLO_GEOMETRY_MESH_H

#include "base/memory.h"

// Triangles run counter-clockwise seen from outside.
typedef struct FloMesh {
  FloMemory *memory;
  FloBuffer vertices;  // three doubles each [m]
  FloBuffer triangles; // three vertex numbers each, uint32_t
  size_t n_vertices, n_triangles;
} FloMesh;

static inline double *flo_mesh_vertex(const FloMesh *mesh, size_t k) {
  return (double *)mesh->vertices.data + 3 * k;
}
static inline uint32_t *flo_mesh_triangle(const FloMesh *mesh, size_t k) {
  return (uint32_t *)mesh->triangles.data + 3 * k;
}

void flo_mesh_init(FloMesh *mesh, FloMemory *memory);
void flo_mesh_free(FloMesh *mesh);
// `index`, which may be NULL, receives the number of the new vertex.
FloStatus flo_mesh_add_vertex(FloMesh *mesh, const double point[3], uint32_t *index, FloError *error);
// The vertices must be there already.
FloStatus flo_mesh_add_triangle(FloMesh *mesh, uint32_t a, uint32_t b, uint32_t c, FloError *error);
// Adds a copy of another mesh.
FloStatus flo_mesh_append(FloMesh *mesh, const FloMesh *other, FloError *error);
// Corners of the box around all vertices; zeros if there are none.
void flo_mesh_bounds(const FloMesh *mesh, double low[3], double high[3]);

#endif
