// The container, and what concerns a mesh as a whole: welding, edges and sets.
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

// Makes room for n elements. Capacity grows by half, so that adding one at a time costs little.
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

void flo_mesh_turn_triangle(FloMesh *mesh, size_t triangle) {
  uint32_t *t = flo_mesh_triangle(mesh, triangle), swap = t[1];
  t[1] = t[2], t[2] = swap;
}

bool flo_mesh_has_twin_corners(const FloMesh *mesh, size_t triangle) {
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

void flo_mesh_normal(const FloMesh *mesh, size_t triangle, double normal[3]) {
  double u[3], v[3];
  vec_sub(flo_mesh_corner(mesh, triangle, 1), flo_mesh_corner(mesh, triangle, 0), u);
  vec_sub(flo_mesh_corner(mesh, triangle, 2), flo_mesh_corner(mesh, triangle, 0), v);
  vec_cross(u, v, normal);
}

double flo_mesh_determinant(const FloMesh *mesh, size_t triangle, const double from[3]) {
  double a[3], b[3], c[3], normal[3];
  vec_sub(flo_mesh_corner(mesh, triangle, 0), from, a);
  vec_sub(flo_mesh_corner(mesh, triangle, 1), from, b);
  vec_sub(flo_mesh_corner(mesh, triangle, 2), from, c);
  vec_cross(b, c, normal);
  return vec_dot(a, normal);
}

bool flo_mesh_is_degenerate(const FloMesh *mesh, size_t triangle) {
  if (flo_mesh_has_twin_corners(mesh, triangle)) return true;
  double u[3], v[3], w[3], normal[3];
  vec_sub(flo_mesh_corner(mesh, triangle, 1), flo_mesh_corner(mesh, triangle, 0), u);
  vec_sub(flo_mesh_corner(mesh, triangle, 2), flo_mesh_corner(mesh, triangle, 0), v);
  vec_sub(v, u, w);
  vec_cross(u, v, normal);
  // For three points on an oblique line the area is a few rounding errors instead of 0.
  double longest = fmax(fmax(vec_dot(u, u), vec_dot(v, v)), vec_dot(w, w));
  return !(vec_length(normal) > 1e-14 * longest);
}

// ---- Welding ----

#define NOT_THERE UINT32_MAX

// The finaliser of splitmix64 (Steele et al. 2014) over the bits of three coordinates.
static uint64_t hash_point(const double point[3]) {
  uint64_t hash = 0;
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t bits;
    memcpy(&bits, &point[axis], sizeof bits);
    hash = (hash ^ bits) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return hash;
}

static bool is_same_point(const double a[3], const double b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// The slot of a table (open addressing) that holds this point's vertex, or the empty one where it belongs.
static uint32_t *find_slot(const FloMesh *mesh, uint32_t *table, size_t mask, const double point[3]) {
  size_t slot = hash_point(point) & mask;
  while (table[slot] != NOT_THERE && !is_same_point(flo_mesh_vertex(mesh, table[slot]), point))
    slot = (slot + 1) & mask;
  return &table[slot];
}

static void mark_used(const FloMesh *mesh, uint32_t *new_index) {
  for (size_t k = 0; k < mesh->n_vertices; ++k) new_index[k] = NOT_THERE;
  for (size_t k = 0; k < 3 * mesh->n_triangles; ++k) new_index[flo_mesh_triangle(mesh, 0)[k]] = 0;
}

// Moves the vertices that stay to the front. A vertex only moves forward, so those not yet visited are still
// intact.
static void merge_vertices(FloMesh *mesh, uint32_t *new_index, uint32_t *table, size_t mask) {
  size_t n_kept = 0;
  for (size_t k = 0; k < mesh->n_vertices; ++k) {
    if (new_index[k] == NOT_THERE) continue;
    // Adding 0 turns -0 into 0, so that equal numbers have equal bits.
    const double *old = flo_mesh_vertex(mesh, k), point[3] = {old[0] + 0.0, old[1] + 0.0, old[2] + 0.0};
    uint32_t *slot = find_slot(mesh, table, mask, point);
    if (*slot == NOT_THERE) {
      *slot = (uint32_t)n_kept;
      vec_copy(point, flo_mesh_vertex(mesh, n_kept++));
    }
    new_index[k] = *slot;
  }
  mesh->n_vertices = n_kept;
}

FloStatus flo_mesh_weld(FloMesh *mesh, FloError *error) {
  size_t n_slots = 16;
  while (n_slots < 2 * mesh->n_vertices) n_slots *= 2;
  FloBuffer table = {0}, numbers = {0};
  FloStatus status = flo_buffer_reserve(mesh->memory, &table, n_slots * sizeof(uint32_t), 0, error);
  if (status == FLO_OK)
    status = flo_buffer_reserve(mesh->memory, &numbers, (mesh->n_vertices + 1) * sizeof(uint32_t), 0, error);
  if (status == FLO_OK) {
    uint32_t *new_index = numbers.data;
    memset(table.data, 0xff, n_slots * sizeof(uint32_t));
    mark_used(mesh, new_index);
    merge_vertices(mesh, new_index, table.data, n_slots - 1);
    uint32_t *corners = mesh->triangles.data;
    for (size_t k = 0; k < 3 * mesh->n_triangles; ++k) corners[k] = new_index[corners[k]];
  }
  flo_buffer_free(mesh->memory, &table);
  flo_buffer_free(mesh->memory, &numbers);
  return status;
}

// ---- Edges ----

static void list_sides(const FloMesh *mesh, FloMeshSide *sides) {
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const uint32_t *corners = flo_mesh_triangle(mesh, t);
    for (int k = 0; k < 3; ++k) {
      uint32_t a = corners[k], b = corners[(k + 1) % 3];
      *sides++ = (FloMeshSide){a < b ? a : b, a < b ? b : a, (uint32_t)(3 * t) + (uint32_t)k};
    }
  }
}

// A stable counting sort by one of the two vertices: sorting by `high` and then by `low` sorts by both.
static void sort_by_vertex(const FloMeshSide *from, FloMeshSide *to, size_t n_sides, size_t n_vertices,
                           uint32_t *start, bool is_by_low) {
  memset(start, 0, (n_vertices + 1) * sizeof *start);
  for (size_t k = 0; k < n_sides; ++k) ++start[(is_by_low ? from[k].low : from[k].high) + 1];
  for (size_t v = 0; v < n_vertices; ++v) start[v + 1] += start[v];
  for (size_t k = 0; k < n_sides; ++k) to[start[is_by_low ? from[k].low : from[k].high]++] = from[k];
}

FloStatus flo_mesh_sort_sides(const FloMesh *mesh, FloBuffer *sides, FloError *error) {
  size_t n_sides = 3 * mesh->n_triangles, bytes = (n_sides + 1) * sizeof(FloMeshSide);
  if (n_sides > UINT32_MAX)
    return flo_fail(error, FLO_BAD_INPUT, "mesh: %zu triangles are more than the %u that can be handled",
                    mesh->n_triangles, UINT32_MAX / 3);
  FloBuffer other = {0}, start = {0};
  FloStatus status = flo_buffer_reserve(mesh->memory, sides, bytes, 0, error);
  if (status == FLO_OK) status = flo_buffer_reserve(mesh->memory, &other, bytes, 0, error);
  if (status == FLO_OK)
    status = flo_buffer_reserve(mesh->memory, &start, (mesh->n_vertices + 1) * sizeof(uint32_t), 0, error);
  if (status == FLO_OK) {
    list_sides(mesh, sides->data);
    sort_by_vertex(sides->data, other.data, n_sides, mesh->n_vertices, start.data, false);
    sort_by_vertex(other.data, sides->data, n_sides, mesh->n_vertices, start.data, true);
  }
  flo_buffer_free(mesh->memory, &other);
  flo_buffer_free(mesh->memory, &start);
  return status;
}

size_t flo_mesh_count_sides(const FloMeshSide *sides, size_t n_sides, size_t first) {
  size_t end = first + 1;
  while (end < n_sides && sides[end].low == sides[first].low && sides[end].high == sides[first].high) ++end;
  return end - first;
}

// ---- Sets ----

uint32_t flo_mesh_find_set(uint32_t *parent, uint32_t member) {
  // Halving the path while following it keeps it short.
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

void flo_mesh_join_sets(uint32_t *parent, uint32_t a, uint32_t b) {
  a = flo_mesh_find_set(parent, a), b = flo_mesh_find_set(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}
