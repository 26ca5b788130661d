// Nodes of a lattice: on which side of the surface they lie, and where the surface cuts the edges between
// them.
#include "geometry/stuffing.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

#define NO_VERTEX UINT32_MAX

// ---- Table ----

typedef struct Cut {
  uint32_t ends[2]; // the smaller number first; equal: the place is free
  uint32_t vertex;
} Cut;

static uint64_t hash_edge(uint32_t a, uint32_t b) {
  uint64_t z = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  return z ^ z >> 29;
}

static Cut *place_of(const FloCutTable *table, uint32_t a, uint32_t b) {
  Cut *places = table->places.data;
  for (size_t k = hash_edge(a, b) & (table->n_places - 1);; k = (k + 1) & (table->n_places - 1)) {
    bool is_free = places[k].ends[0] == places[k].ends[1];
    if (is_free || (places[k].ends[0] == a && places[k].ends[1] == b)) return &places[k];
  }
}

// Doubles the table before it is half full.
static FloStatus grow(FloCutTable *table, FloMemory *memory, FloError *error) {
  if (2 * (table->count + 1) < table->n_places) return FLO_OK;
  FloCutTable larger = {.n_places = flo_max_size(2 * table->n_places, 1024), .count = table->count};
  FLO_TRY(flo_buffer_reserve(memory, &larger.places, larger.n_places * sizeof(Cut), 0, error));
  memset(larger.places.data, 0, larger.n_places * sizeof(Cut));
  const Cut *old = table->places.data;
  for (size_t k = 0; k < table->n_places; ++k)
    if (old[k].ends[0] != old[k].ends[1]) *place_of(&larger, old[k].ends[0], old[k].ends[1]) = old[k];
  flo_buffer_free(memory, &table->places);
  *table = larger;
  return FLO_OK;
}

// The entry of an edge. A new one has no vertex yet.
static FloStatus find_cut(FloStuffing *s, uint32_t a, uint32_t b, Cut **cut) {
  FLO_TRY(grow(&s->cuts, s->elements->memory, s->error));
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  *cut = place_of(&s->cuts, low, high);
  if ((*cut)->ends[0] != (*cut)->ends[1]) return FLO_OK;
  **cut = (Cut){{low, high}, NO_VERTEX};
  ++s->cuts.count;
  return FLO_OK;
}

// ---- Nodes ----

FloStatus flo_stuffing_begin(FloStuffing *s) {
  FloMemory *memory = s->elements->memory;
  FLO_TRY(flo_buffer_reserve(memory, &s->values, s->n_nodes * sizeof(double), 0, s->error));
  FLO_TRY(flo_buffer_reserve(memory, &s->vertices, s->n_nodes * sizeof(uint32_t), 0, s->error));
  for (size_t k = 0; k < s->n_nodes; ++k) {
    double point[3];
    s->place(s->lattice, (uint32_t)k, point);
    ((double *)s->values.data)[k] = flo_solid_distance(s->solid, point);
    ((uint32_t *)s->vertices.data)[k] = NO_VERTEX;
  }
  return FLO_OK;
}

void flo_stuffing_end(FloStuffing *s) {
  flo_buffer_free(s->elements->memory, &s->values);
  flo_buffer_free(s->elements->memory, &s->vertices);
  flo_buffer_free(s->elements->memory, &s->cuts.places);
}

FloSides flo_stuffing_sides(const FloStuffing *s, const uint32_t *nodes, int n) {
  FloSides sides = {.n_inside = 0};
  for (int k = 0; k < n; ++k) {
    double value = flo_stuffing_value(s, nodes[k]);
    if (value < 0)
      sides.inside[sides.n_inside++] = nodes[k];
    else if (value > 0)
      sides.outside[sides.n_outside++] = nodes[k];
    else
      sides.on[sides.n_on++] = nodes[k];
  }
  return sides;
}

// ---- Cuts ----

bool flo_stuffing_is_cut(const FloStuffing *s, uint32_t a, uint32_t b) {
  double value_a = flo_stuffing_value(s, a), value_b = flo_stuffing_value(s, b);
  return (value_a < 0 && value_b > 0) || (value_a > 0 && value_b < 0);
}

// Regula falsi in the Illinois variant: an end that stays twice counts half. The distance is nearly linear
// along an edge, so few steps suffice; the number of steps only bounds the search at kinks.
static double find_root(const FloSolid *solid, const double a[3], const double way[3], double value_a,
                        double value_b) {
  double low = 0, high = 1, at = 0.5, point[3], tolerance = 1e-9 * vec_length(way);
  int last_side = 0;
  for (int step = 0; step < 60; ++step) {
    at = low + (high - low) * value_a / (value_a - value_b);
    vec_add_scaled(a, way, at, point);
    double value = flo_solid_distance(solid, point);
    if (fabs(value) < tolerance || high - low < 1e-9) break;
    int side = (value < 0) == (value_a < 0) ? 1 : 2;
    if (side == 1)
      low = at, value_a = value, value_b *= last_side == 1 ? 0.5 : 1;
    else
      high = at, value_b = value, value_a *= last_side == 2 ? 0.5 : 1;
    last_side = side;
  }
  return at;
}

double flo_stuffing_cut(const FloStuffing *s, uint32_t a, uint32_t b, double point[3]) {
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  double from[3], to[3], way[3];
  s->place(s->lattice, low, from);
  s->place(s->lattice, high, to);
  vec_sub(to, from, way);
  double at = find_root(s->solid, from, way, flo_stuffing_value(s, low), flo_stuffing_value(s, high));
  vec_add_scaled(from, way, at, point);
  return a < b ? at : 1 - at;
}

// ---- Vertices ----

FloStatus flo_stuffing_move(FloStuffing *s, uint32_t node, const double point[3]) {
  ((double *)s->values.data)[node] = 0;
  return flo_elements_add_vertex(s->elements, point, (uint32_t *)s->vertices.data + node, s->error);
}

FloStatus flo_stuffing_at_node(FloStuffing *s, uint32_t node, uint32_t *vertex) {
  uint32_t *own = (uint32_t *)s->vertices.data + node;
  double point[3];
  s->place(s->lattice, node, point);
  if (*own == NO_VERTEX) FLO_TRY(flo_elements_add_vertex(s->elements, point, own, s->error));
  *vertex = *own;
  return FLO_OK;
}

FloStatus flo_stuffing_at_cut(FloStuffing *s, uint32_t a, uint32_t b, uint32_t *vertex) {
  Cut *cut;
  double point[3];
  FLO_TRY(find_cut(s, a, b, &cut));
  if (cut->vertex == NO_VERTEX) {
    flo_stuffing_cut(s, a, b, point);
    FLO_TRY(flo_elements_add_vertex(s->elements, point, &cut->vertex, s->error));
  }
  *vertex = cut->vertex;
  return FLO_OK;
}

FloStatus flo_stuffing_add_single(FloStuffing *s, const FloSides *sides) {
  uint32_t corners[4];
  int n = 0;
  for (int k = 0; k < sides->n_inside; ++k) FLO_TRY(flo_stuffing_at_node(s, sides->inside[k], &corners[n++]));
  for (int k = 0; k < sides->n_on; ++k) FLO_TRY(flo_stuffing_at_node(s, sides->on[k], &corners[n++]));
  for (int k = 0; k < sides->n_outside; ++k)
    FLO_TRY(flo_stuffing_at_cut(s, sides->inside[0], sides->outside[k], &corners[n++]));
  return flo_elements_add(s->elements, corners, s->error);
}
