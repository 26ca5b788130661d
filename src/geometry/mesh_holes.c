// Lids for the holes of a mesh. Every set of connected open edges gets a cone of triangles with its tip at
// one of their vertices. With the lids the mesh is closed: every edge is passed as often in one direction as
// in the other. Where the two sides of a seam have different vertices, the lids have no area.
#include "base/vecmath.h"
#include "geometry/mesh.h"

typedef struct Holes {
  FloMesh *lids; // with the vertices of the mesh
  FloBuffer sides;
  size_t n_sides;
  FloBuffer parents; // of the sets of vertices that open edges join
} Holes;

// By how many more sides of an edge run from its low vertex to its high one than back.
static int excess_of(const uint32_t *corners, const FloMeshSide *sides, size_t n_same) {
  int excess = 0;
  for (size_t k = 0; k < n_same; ++k) excess += corners[sides[k].side] == sides[k].low ? 1 : -1;
  return sides->low == sides->high ? 0 : excess;
}

static FloStatus cap_edge(const Holes *holes, const FloMeshSide *edge, int excess, FloError *error) {
  uint32_t tip = flo_mesh_find_set(holes->parents.data, edge->low);
  uint32_t from = excess > 0 ? edge->high : edge->low, to = excess > 0 ? edge->low : edge->high;
  if (tip == from || tip == to) return FLO_OK;
  for (int k = 0; k < (excess > 0 ? excess : -excess); ++k)
    FLO_TRY(flo_mesh_add_triangle(holes->lids, from, to, tip, error));
  return FLO_OK;
}

// Visits the open edges: joins their ends, or caps them. The lids follow the n_corners of the mesh.
static FloStatus visit_open_edges(const Holes *holes, bool is_capping, FloError *error) {
  const FloMeshSide *sides = holes->sides.data;
  size_t n_same;
  for (size_t k = 0; k < holes->n_sides; k += n_same) {
    n_same = flo_mesh_count_sides(sides, holes->n_sides, k);
    int excess = excess_of(holes->lids->triangles.data, sides + k, n_same);
    if (excess && is_capping)
      FLO_TRY(cap_edge(holes, &sides[k], excess, error));
    else if (excess)
      flo_mesh_join_sets(holes->parents.data, sides[k].low, sides[k].high);
  }
  return FLO_OK;
}

static FloStatus find_lids(Holes *holes, const FloMesh *mesh, FloError *error) {
  FloMesh *lids = holes->lids;
  FLO_TRY(flo_mesh_append(lids, mesh, error));
  FLO_TRY(flo_mesh_sort_sides(lids, &holes->sides, error));
  holes->n_sides = 3 * lids->n_triangles;
  FLO_TRY(
      flo_buffer_reserve(lids->memory, &holes->parents, (lids->n_vertices + 1) * sizeof(uint32_t), 0, error));
  uint32_t *parents = holes->parents.data;
  for (size_t k = 0; k < lids->n_vertices; ++k) parents[k] = (uint32_t)k;
  FLO_TRY(visit_open_edges(holes, false, error));
  FLO_TRY(visit_open_edges(holes, true, error));
  // Only the lids are wanted; they are the last triangles.
  size_t n_before = holes->n_sides / 3;
  uint32_t *corners = lids->triangles.data;
  lids->n_triangles -= n_before;
  for (size_t k = 0; k < 3 * lids->n_triangles; ++k) corners[k] = corners[k + 3 * n_before];
  return FLO_OK;
}

FloStatus flo_mesh_cap_holes(const FloMesh *mesh, FloMesh *lids, FloError *error) {
  FLO_ASSERT(lids->n_vertices == 0 && lids->n_triangles == 0);
  Holes holes = {.lids = lids};
  FloStatus status = find_lids(&holes, mesh, error);
  flo_buffer_free(lids->memory, &holes.sides);
  flo_buffer_free(lids->memory, &holes.parents);
  return status;
}

FloStatus flo_mesh_copy_joined(const FloMesh *mesh, FloMesh *copy, FloError *error) {
  size_t n_joined;
  FLO_TRY(flo_mesh_append(copy, mesh, error));
  FLO_TRY(flo_mesh_weld(copy, error));
  return flo_mesh_join_borders(copy, &n_joined, error);
}
