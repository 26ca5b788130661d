// Halving long sides. A side is halved only if it is the longest of all its triangles, so no triangle becomes
// thinner than half of its smallest angle (Rivara 1984). The longest side of a mesh always qualifies.
#include "geometry/mesh.h"

#include "base/vecmath.h"

typedef struct Halving {
  FloMesh *mesh;
  const FloMeshSide *sides;
  double longest; // square of the length that may stay
} Halving;

static double square_length(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double way[3];
  vec_sub(flo_mesh_vertex(mesh, b), flo_mesh_vertex(mesh, a), way);
  return vec_dot(way, way);
}

// Equal lengths are ordered by vertices, so that neighbours agree which side is longer.
static bool is_longer(const FloMesh *mesh, const uint32_t a[2], const uint32_t b[2]) {
  double difference = square_length(mesh, a[0], a[1]) - square_length(mesh, b[0], b[1]);
  if (difference != 0) return difference > 0;
  return a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
}

static void side_vertices(const FloMesh *mesh, uint32_t side, uint32_t vertices[2]) {
  const uint32_t *t = flo_mesh_triangle(mesh, side / 3);
  uint32_t a = t[side % 3], b = t[(side + 1) % 3];
  vertices[0] = a < b ? a : b, vertices[1] = a < b ? b : a;
}

static bool is_longest(const FloMesh *mesh, uint32_t side) {
  uint32_t own[2], other[2];
  side_vertices(mesh, side, own);
  for (uint32_t k = 1; k < 3; ++k) {
    side_vertices(mesh, side / 3 * 3 + (side + k) % 3, other);
    if (is_longer(mesh, other, own)) return false;
  }
  return true;
}

static bool is_to_be_halved(const Halving *h, size_t first, size_t n) {
  const FloMeshSide *side = &h->sides[first];
  if (!(square_length(h->mesh, side->low, side->high) > h->longest)) return false;
  for (size_t k = first; k < first + n; ++k)
    if (!is_longest(h->mesh, h->sides[k].side)) return false;
  return true;
}

// The first half keeps the triangle's number.
static FloStatus cut_triangle(FloMesh *mesh, uint32_t side, uint32_t middle, FloError *error) {
  uint32_t *t = flo_mesh_triangle(mesh, side / 3), next = (side % 3 + 1) % 3;
  uint32_t other[3] = {t[0], t[1], t[2]};
  other[side % 3] = middle;
  t[next] = middle;
  return flo_mesh_add_triangle(mesh, other[0], other[1], other[2], error);
}

static FloStatus halve(const Halving *h, size_t first, size_t n, FloError *error) {
  double middle[3];
  uint32_t vertex;
  vec_add(flo_mesh_vertex(h->mesh, h->sides[first].low), flo_mesh_vertex(h->mesh, h->sides[first].high),
          middle);
  vec_scale(middle, 0.5, middle);
  FLO_TRY(flo_mesh_add_vertex(h->mesh, middle, &vertex, error));
  for (size_t k = first; k < first + n; ++k) FLO_TRY(cut_triangle(h->mesh, h->sides[k].side, vertex, error));
  return FLO_OK;
}

// Lists the first side of every edge to be halved. A triangle has one longest side, so it is cut once at
// most.
static FloStatus list_edges(const Halving *h, size_t n_sides, FloList *edges, FloError *error) {
  edges->count = 0;
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(h->sides, n_sides, first);
    const uint32_t edge = (uint32_t)first;
    if (is_to_be_halved(h, first, n))
      FLO_TRY(flo_list_append(h->mesh->memory, edges, &edge, sizeof edge, error));
  }
  return FLO_OK;
}

static FloStatus halve_once(const Halving *h, FloList *edges, FloError *error) {
  size_t n_sides = 3 * h->mesh->n_triangles;
  FLO_TRY(list_edges(h, n_sides, edges, error));
  for (size_t k = 0; k < edges->count; ++k) {
    size_t first = FLO_LIST(*edges, uint32_t)[k];
    FLO_TRY(halve(h, first, flo_mesh_count_sides(h->sides, n_sides, first), error));
  }
  return FLO_OK;
}

FloStatus flo_mesh_halve_sides(FloMesh *mesh, double longest, FloError *error) {
  FloBuffer sides = {0};
  FloList edges = {0};
  FloStatus status = FLO_OK;
  do {
    status = flo_mesh_sort_sides(mesh, &sides, error);
    const Halving h = {mesh, sides.data, longest * longest};
    if (status == FLO_OK) status = halve_once(&h, &edges, error);
  } while (status == FLO_OK && edges.count > 0);
  flo_buffer_free(mesh->memory, &sides);
  flo_buffer_free(mesh->memory, &edges.buffer);
  return status;
}
