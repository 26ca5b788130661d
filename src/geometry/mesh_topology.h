// Vertices, edges and triangles of a mesh whose vertices move: which belongs to which. It never changes.
#ifndef FLO_GEOMETRY_MESH_TOPOLOGY_H
#define FLO_GEOMETRY_MESH_TOPOLOGY_H

#include "geometry/mesh.h"

#define FLO_NO_EDGE UINT32_MAX

// A mesh in the plane has segments instead of triangles. A segment is stored as a triangle whose last two
// corners are the same vertex.
typedef struct FloMeshTopology {
  FloMemory *memory;
  size_t n_vertices, n_edges, n_triangles;
  FloBuffer corners;       // of triangles: three vertices each, uint32_t
  FloBuffer sides;         // of triangles: three edges each, from corner k to the next; or FLO_NO_EDGE
  FloBuffer ends;          // of edges: two vertices each, the smaller number first, uint32_t
  FloBuffer has_interior;  // of triangles, uint8_t: 0 for segments, twin corners and doubled triangles
  FloBuffer is_apart;      // of triangles, uint8_t: some with interior of which no two share an edge
  FloBuffer is_border;     // of edges, uint8_t: only one triangle has it
  FloBuffer first_near;    // of vertices, and one more: where their neighbours begin, uint32_t
  FloBuffer near_vertices; // vertices at the other end of an edge, uint32_t
  FloBuffer order;         // all vertices in use, each beside an earlier one of its part, uint32_t
  size_t n_ordered;
} FloMeshTopology;

// `n_corners` is 3 for triangles, 2 for segments. Corners must be numbers of vertices.
FloStatus flo_mesh_topology_make(FloMeshTopology *topology, FloMemory *memory, size_t n_vertices,
                                 const uint32_t *elements, size_t n_elements, int n_corners, FloError *error);
void flo_mesh_topology_free(FloMeshTopology *topology);

static inline const uint32_t *flo_topology_corners(const FloMeshTopology *topology, size_t triangle) {
  return (const uint32_t *)topology->corners.data + 3 * triangle;
}
static inline const uint32_t *flo_topology_sides(const FloMeshTopology *topology, size_t triangle) {
  return (const uint32_t *)topology->sides.data + 3 * triangle;
}
static inline const uint32_t *flo_topology_ends(const FloMeshTopology *topology, size_t edge) {
  return (const uint32_t *)topology->ends.data + 2 * edge;
}
// The neighbours of a vertex.
static inline const uint32_t *flo_topology_near(const FloMeshTopology *topology, size_t vertex, size_t *n) {
  const uint32_t *first = topology->first_near.data;
  *n = first[vertex + 1] - first[vertex];
  return (const uint32_t *)topology->near_vertices.data + first[vertex];
}

#endif
