#include "geometry/mesh_topology.h"

#include <string.h>

// ---- Elements ----

static FloStatus check_input(size_t n_vertices, const uint32_t *elements, size_t n_elements, int n_corners,
                             FloError *error) {
  if (n_vertices >= UINT32_MAX || n_elements > UINT32_MAX / 16)
    return flo_fail(error, FLO_BAD_INPUT,
                    "mesh: %zu vertices and %zu elements are too many; use a coarser one", n_vertices,
                    n_elements);
  for (size_t k = 0; k < n_elements * (size_t)n_corners; ++k)
    if (elements[k] >= n_vertices)
      return flo_fail(
          error, FLO_BAD_INPUT,
          "mesh: element %zu has the vertex %u, but there are only %zu vertices; mend its corners",
          k / (size_t)n_corners, elements[k], n_vertices);
  return FLO_OK;
}

static FloStatus reserve(FloMeshTopology *topology, FloBuffer *buffer, size_t count, size_t size,
                         FloError *error) {
  return flo_buffer_reserve(topology->memory, buffer, (count + 1) * size, 0, error);
}

static FloStatus copy_corners(FloMeshTopology *topology, const uint32_t *elements, int n_corners,
                              FloError *error) {
  FLO_TRY(reserve(topology, &topology->corners, 3 * topology->n_triangles, sizeof(uint32_t), error));
  uint32_t *corners = topology->corners.data;
  for (size_t t = 0; t < topology->n_triangles; ++t)
    for (int k = 0; k < 3; ++k)
      corners[3 * t + (size_t)k] =
          elements[t * (size_t)n_corners + (size_t)(k < n_corners ? k : n_corners - 1)];
  return FLO_OK;
}

// ---- Edges ----

static FloStatus reserve_edges(FloMeshTopology *topology, FloError *error) {
  const size_t n_sides = 3 * topology->n_triangles;
  FLO_TRY(reserve(topology, &topology->sides, n_sides, sizeof(uint32_t), error));
  FLO_TRY(reserve(topology, &topology->ends, 2 * n_sides, sizeof(uint32_t), error));
  FLO_TRY(reserve(topology, &topology->is_border, n_sides, 1, error));
  FLO_TRY(reserve(topology, &topology->is_apart, topology->n_triangles, 1, error));
  return reserve(topology, &topology->has_interior, topology->n_triangles, 1, error);
}

static void number_edges(FloMeshTopology *topology, const FloMeshSide *sides) {
  const size_t n_sides = 3 * topology->n_triangles;
  uint32_t *edges = topology->sides.data, *ends = topology->ends.data;
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    bool is_edge = sides[first].low != sides[first].high;
    uint32_t number = is_edge ? (uint32_t)topology->n_edges++ : FLO_NO_EDGE;
    for (size_t k = first; k < first + n; ++k) edges[sides[k].side] = number;
    if (!is_edge) continue;
    ends[2 * number] = sides[first].low, ends[2 * number + 1] = sides[first].high;
  }
}

static bool has_twin_corners(const uint32_t *t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

// The corner that is not an end of a side.
static uint32_t opposite_corner(const FloMeshTopology *topology, uint32_t side) {
  return flo_topology_corners(topology, side / 3)[(side % 3 + 2) % 3];
}

// Of triangles with the same corners only the first has an interior. They share all their edges, so it is
// enough to compare the triangles of each edge. `latest[v]` is the last edge at which a triangle with the
// opposite corner v was met.
static void find_interiors(FloMeshTopology *topology, const FloMeshSide *sides, uint32_t *latest) {
  const size_t n_sides = 3 * topology->n_triangles;
  uint8_t *has_interior = topology->has_interior.data;
  for (size_t t = 0; t < topology->n_triangles; ++t)
    has_interior[t] = !has_twin_corners(flo_topology_corners(topology, t));
  memset(latest, 0xff, topology->n_vertices * sizeof *latest);
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    for (size_t k = first; k < first + n; ++k) {
      uint32_t corner = opposite_corner(topology, sides[k].side);
      if (latest[corner] == first) has_interior[sides[k].side / 3] = 0;
      latest[corner] = (uint32_t)first;
    }
  }
}

// Doubled triangles, and segments of the plane, do not make an edge an inner one.
static void find_borders(FloMeshTopology *topology) {
  const uint8_t *has_interior = topology->has_interior.data;
  const uint32_t *edges = topology->sides.data;
  uint8_t *n_beside = topology->is_border.data;
  memset(n_beside, 0, topology->n_edges);
  for (size_t side = 0; side < 3 * topology->n_triangles; ++side)
    if (has_interior[side / 3] && n_beside[edges[side]] < 2) ++n_beside[edges[side]];
  for (size_t e = 0; e < topology->n_edges; ++e) n_beside[e] = n_beside[e] < 2;
}

// Takes triangles one after the other, unless one beside it was taken. `is_taken` is of edges.
static void find_apart(FloMeshTopology *topology, uint8_t *is_taken) {
  const uint8_t *has_interior = topology->has_interior.data;
  uint8_t *is_apart = topology->is_apart.data;
  memset(is_taken, 0, topology->n_edges);
  for (size_t t = 0; t < topology->n_triangles; ++t) {
    const uint32_t *sides = flo_topology_sides(topology, t);
    is_apart[t] = has_interior[t] && !is_taken[sides[0]] && !is_taken[sides[1]] && !is_taken[sides[2]];
    for (int k = 0; is_apart[t] && k < 3; ++k) is_taken[sides[k]] = 1;
  }
}

static FloStatus find_edges(FloMeshTopology *topology, FloError *error) {
  const FloMesh mesh = {
      topology->memory, {0}, topology->corners, topology->n_vertices, topology->n_triangles};
  FloBuffer sides = {0}, latest = {0};
  FloStatus status = flo_mesh_sort_sides(&mesh, &sides, error);
  if (status == FLO_OK) status = reserve_edges(topology, error);
  if (status == FLO_OK) status = reserve(topology, &latest, topology->n_vertices, sizeof(uint32_t), error);
  if (status == FLO_OK) {
    number_edges(topology, sides.data);
    find_interiors(topology, sides.data, latest.data);
    find_borders(topology);
    find_apart(topology, sides.data);
  }
  flo_buffer_free(topology->memory, &sides);
  flo_buffer_free(topology->memory, &latest);
  return status;
}

// ---- Neighbours ----

static FloStatus find_neighbours(FloMeshTopology *topology, FloError *error) {
  const size_t n = topology->n_vertices;
  FLO_TRY(reserve(topology, &topology->first_near, n + 1, sizeof(uint32_t), error));
  FLO_TRY(reserve(topology, &topology->near_vertices, 2 * topology->n_edges, sizeof(uint32_t), error));
  uint32_t *first = topology->first_near.data, *near = topology->near_vertices.data;
  const uint32_t *ends = topology->ends.data;
  memset(first, 0, (n + 2) * sizeof *first);
  // first[v + 1] grows from the begin of v's neighbours to their end while they are filled in.
  for (size_t k = 0; k < 2 * topology->n_edges; ++k) ++first[ends[k] + 2];
  for (size_t v = 0; v < n; ++v) first[v + 2] += first[v + 1];
  for (size_t k = 0; k < 2 * topology->n_edges; ++k) near[first[ends[k] + 1]++] = ends[k ^ 1];
  return FLO_OK;
}

// Visits each part of the mesh from its first vertex outwards.
static void walk_part(FloMeshTopology *topology, uint32_t start, uint8_t *is_met) {
  uint32_t *order = topology->order.data;
  size_t next = topology->n_ordered, n_near;
  is_met[start] = 1;
  for (order[topology->n_ordered++] = start; next < topology->n_ordered; ++next) {
    const uint32_t *near = flo_topology_near(topology, order[next], &n_near);
    for (size_t k = 0; k < n_near; ++k) {
      if (is_met[near[k]]) continue;
      is_met[near[k]] = 1;
      order[topology->n_ordered++] = near[k];
    }
  }
}

static FloStatus order_vertices(FloMeshTopology *topology, FloError *error) {
  FloBuffer room = {0};
  FLO_TRY(reserve(topology, &topology->order, topology->n_vertices, sizeof(uint32_t), error));
  FLO_TRY(reserve(topology, &room, topology->n_vertices, 1, error));
  uint8_t *is_met = room.data;
  const uint32_t *corners = topology->corners.data;
  memset(is_met, 0, topology->n_vertices + 1);
  for (size_t k = 0; k < 3 * topology->n_triangles; ++k)
    if (!is_met[corners[k]]) walk_part(topology, corners[k], is_met);
  flo_buffer_free(topology->memory, &room);
  return FLO_OK;
}

// ---- All ----

FloStatus flo_mesh_topology_make(FloMeshTopology *topology, FloMemory *memory, size_t n_vertices,
                                 const uint32_t *elements, size_t n_elements, int n_corners,
                                 FloError *error) {
  FLO_ASSERT(n_corners == 2 || n_corners == 3);
  *topology = (FloMeshTopology){.memory = memory, .n_vertices = n_vertices, .n_triangles = n_elements};
  FLO_TRY(check_input(n_vertices, elements, n_elements, n_corners, error));
  FLO_TRY(copy_corners(topology, elements, n_corners, error));
  FLO_TRY(find_edges(topology, error));
  FLO_TRY(find_neighbours(topology, error));
  return order_vertices(topology, error);
}

void flo_mesh_topology_free(FloMeshTopology *topology) {
  FloBuffer *buffers[] = {&topology->corners,       &topology->sides,        &topology->ends,
                          &topology->is_border,     &topology->has_interior, &topology->first_near,
                          &topology->near_vertices, &topology->order,        &topology->is_apart};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(topology->memory, buffers[k]);
}
