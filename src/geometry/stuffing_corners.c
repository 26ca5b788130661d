// Corners of an outline, which a lattice cuts off. The nearest vertex of the border moves into each of them,
// if the triangles around it stay good.
#include "geometry/stuffing.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

// Corners that are flatter stay as they are [rad]; triangles around a corner keep at least this angle [rad].
static const double least_turn = 20 * FLO_PI / 180, least_angle = 15 * FLO_PI / 180;

typedef struct Corners {
  FloElements *elements;
  FloBuffer starts, items; // uint32_t: elements around each vertex
  FloBuffer is_border;     // unsigned char for each vertex: on the border and not yet in a corner
} Corners;

// ---- What is around a vertex ----

static void list_around(const Corners *c) {
  size_t n_corners = 3 * c->elements->n_elements, n_vertices = c->elements->n_vertices;
  const uint32_t *corners = c->elements->corners.data;
  uint32_t *starts = c->starts.data, *items = c->items.data;
  memset(starts, 0, (n_vertices + 2) * sizeof *starts);
  for (size_t k = 0; k < n_corners; ++k) ++starts[corners[k] + 2];
  for (size_t v = 0; v < n_vertices; ++v) starts[v + 2] += starts[v + 1];
  for (size_t k = 0; k < n_corners; ++k) items[starts[corners[k] + 1]++] = (uint32_t)(k / 3);
}

static FloStatus mark_border(Corners *c, FloError *error) {
  FloMesh border;
  FloBuffer owners = {0};
  unsigned char *marks = c->is_border.data;
  flo_mesh_init(&border, c->elements->memory);
  FloStatus status = flo_elements_border(c->elements, &border, &owners, error);
  memset(marks, 0, c->elements->n_vertices);
  for (size_t k = 0; status == FLO_OK && k < border.n_triangles; ++k)
    marks[flo_mesh_triangle(&border, k)[0]] = marks[flo_mesh_triangle(&border, k)[1]] = 1;
  flo_mesh_free(&border);
  flo_buffer_free(c->elements->memory, &owners);
  return status;
}

static bool are_good_around(const Corners *c, uint32_t vertex) {
  const uint32_t *starts = c->starts.data, *items = c->items.data;
  for (size_t k = starts[vertex]; k < starts[vertex + 1]; ++k) {
    double least, largest;
    flo_element_angles(c->elements, items[k], &least, &largest);
    if (!(flo_element_volume(c->elements, items[k]) > 0) || least < least_angle) return false;
  }
  return true;
}

// ---- Moving ----

// Moves a vertex, or leaves it where it is if its triangles would become bad.
static bool try_move(const Corners *c, uint32_t vertex, const double to[2]) {
  double *own = flo_elements_vertex(c->elements, vertex), before[3];
  vec_copy(own, before);
  vec_set(own, to[0], to[1], 0);
  if (are_good_around(c, vertex)) return true;
  vec_copy(before, own);
  return false;
}

// The vertex of the border that is nearest to a place, but farther than `beyond`; false if there is none
// within a cell.
static bool find_nearest(const Corners *c, const double place[2], double beyond, uint32_t *vertex,
                         double *distance) {
  const unsigned char *marks = c->is_border.data;
  *distance = c->elements->cell;
  bool is_found = false;
  for (size_t k = 0; k < c->elements->n_vertices; ++k) {
    if (!marks[k]) continue;
    const double *x = flo_elements_vertex(c->elements, k);
    double way = hypot(x[0] - place[0], x[1] - place[1]);
    if (way <= beyond || way >= *distance) continue;
    *distance = way, *vertex = (uint32_t)k, is_found = true;
  }
  return is_found;
}

static void fill_corner(const Corners *c, const double place[2]) {
  double distance = -1;
  for (uint32_t vertex; find_nearest(c, place, distance, &vertex, &distance);) {
    if (!try_move(c, vertex, place)) continue;
    ((unsigned char *)c->is_border.data)[vertex] = 0;
    return;
  }
}

static double turn_at(const double *points, size_t n, size_t k) {
  const double *a = points + 2 * ((k + n - 1) % n), *b = points + 2 * k, *d = points + 2 * ((k + 1) % n);
  double u[2] = {b[0] - a[0], b[1] - a[1]}, v[2] = {d[0] - b[0], d[1] - b[1]};
  return fabs(atan2(u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]));
}

static FloStatus make_room(Corners *c, FloError *error) {
  const FloElements *e = c->elements;
  FLO_TRY(flo_buffer_reserve(e->memory, &c->starts, (e->n_vertices + 2) * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(e->memory, &c->items, (3 * e->n_elements + 1) * sizeof(uint32_t), 0, error));
  return flo_buffer_reserve(e->memory, &c->is_border, e->n_vertices + 1, 0, error);
}

FloStatus flo_stuffing_fill_corners(const double *points, size_t n, FloElements *elements, FloError *error) {
  Corners c = {.elements = elements};
  FloStatus status = make_room(&c, error);
  if (status == FLO_OK) status = mark_border(&c, error);
  if (status == FLO_OK) {
    list_around(&c);
    for (size_t k = 0; k < n; ++k)
      if (turn_at(points, n, k) > least_turn) fill_corner(&c, points + 2 * k);
  }
  flo_buffer_free(elements->memory, &c.starts);
  flo_buffer_free(elements->memory, &c.items);
  flo_buffer_free(elements->memory, &c.is_border);
  return status;
}
