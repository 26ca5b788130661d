// Isosurface stuffing (stuffing.c) one dimension lower: triangles of a triangular lattice, whose nodes near
// the outline move onto it.
#include "geometry/stuffing.h"

#include "base/vecmath.h"

#include <math.h>

// A node moves to a cut that is nearer than this share of the edge. It balances the angles of triangles that
// were cut, which grow with it, and of those whose corners moved, which shrink. All angles exceed 15 degrees.
static const double share_limit = 0.38;

// Row j is shifted by half a side if j is odd.
typedef struct Lattice {
  double low[2], side; // [m]
  long n[2];
} Lattice;

static uint32_t number_of(const Lattice *l, long i, long j) { return (uint32_t)(j * l->n[0] + i); }

static void place(const void *lattice, uint32_t number, double point[3]) {
  const Lattice *l = lattice;
  long i = number % l->n[0], j = number / l->n[0];
  vec_set(point, l->low[0] + l->side * ((double)i + (j % 2 ? 0.5 : 0)),
          l->low[1] + l->side * sqrt(0.75) * (double)j, 0);
}

// ---- Moving nodes onto the outline ----

static bool find_neighbour(const Lattice *l, uint32_t node, int k, uint32_t *number) {
  static const long rows[6] = {0, 0, 1, 1, -1, -1}, columns[6] = {-1, 1, -1, 0, -1, 0};
  long own_row = node / l->n[0], j = own_row + rows[k];
  long i = node % l->n[0] + columns[k] + (k >= 2 && own_row % 2 ? 1 : 0);
  if (i < 0 || i >= l->n[0] || j < 0 || j >= l->n[1]) return false;
  *number = number_of(l, i, j);
  return true;
}

static FloStatus move_to_outline(FloStuffing *s, const Lattice *l, uint32_t node) {
  double nearest = share_limit, target[3] = {0};
  for (int k = 0; k < 6; ++k) {
    uint32_t other;
    double point[3];
    if (!find_neighbour(l, node, k, &other) || !flo_stuffing_is_cut(s, node, other)) continue;
    double share = flo_stuffing_cut(s, node, other, point);
    if (share >= nearest) continue;
    nearest = share;
    vec_copy(point, target);
  }
  return nearest < share_limit ? flo_stuffing_move(s, node, target) : FLO_OK;
}

// ---- Patterns ----

static double square_way(const FloElements *elements, uint32_t a, uint32_t b) {
  double way[3];
  vec_sub(flo_elements_vertex(elements, b), flo_elements_vertex(elements, a), way);
  return vec_dot(way, way);
}

// Two corners inside, one outside: four corners, cut along the shorter diagonal.
static FloStatus add_stump(FloStuffing *s, const FloSides *sides) {
  uint32_t a, b, cut_a, cut_b;
  FLO_TRY(flo_stuffing_at_node(s, sides->inside[0], &a));
  FLO_TRY(flo_stuffing_at_node(s, sides->inside[1], &b));
  FLO_TRY(flo_stuffing_at_cut(s, sides->inside[0], sides->outside[0], &cut_a));
  FLO_TRY(flo_stuffing_at_cut(s, sides->inside[1], sides->outside[0], &cut_b));
  bool is_first = square_way(s->elements, a, cut_b) <= square_way(s->elements, b, cut_a);
  const uint32_t first[3] = {a, b, is_first ? cut_b : cut_a}, second[3] = {is_first ? a : b, cut_b, cut_a};
  FLO_TRY(flo_elements_add(s->elements, first, s->error));
  return flo_elements_add(s->elements, second, s->error);
}

static FloStatus add_inside(FloStuffing *s, uint32_t a, uint32_t b, uint32_t c) {
  FloSides sides = flo_stuffing_sides(s, (const uint32_t[3]){a, b, c}, 3);
  if (sides.n_inside == 0) return FLO_OK;
  return sides.n_inside == 2 && sides.n_outside == 1 ? add_stump(s, &sides)
                                                     : flo_stuffing_add_single(s, &sides);
}

// The two triangles between a node, the next one in its row, and the row above.
static FloStatus add_above(FloStuffing *s, const Lattice *l, long i, long j) {
  uint32_t own = number_of(l, i, j), right = number_of(l, i + 1, j);
  uint32_t above = number_of(l, i, j + 1), beside = number_of(l, i + 1, j + 1);
  bool is_shifted = j % 2;
  FLO_TRY(add_inside(s, own, right, is_shifted ? beside : above));
  return add_inside(s, is_shifted ? own : right, beside, above);
}

static FloStatus fill(FloStuffing *s, const Lattice *l) {
  FLO_TRY(flo_stuffing_begin(s));
  for (uint32_t k = 0; k < s->n_nodes; ++k) {
    double distance = fabs(flo_stuffing_value(s, k));
    if (distance > 0 && distance < l->side) FLO_TRY(move_to_outline(s, l, k));
  }
  for (long j = 0; j + 1 < l->n[1]; ++j)
    for (long i = 0; i + 1 < l->n[0]; ++i) FLO_TRY(add_above(s, l, i, j));
  return FLO_OK;
}

// A node has the area of a cell: sqrt(3)/2 of the square over a side. The middle of the solid is a node in a
// row that is not shifted.
static Lattice lay_out(const FloSolid *solid, double cell) {
  Lattice l;
  double low[3], high[3];
  flo_solid_bounds(solid, low, high);
  l.side = cell * sqrt(2 / sqrt(3));
  for (int axis = 0; axis < 2; ++axis) {
    double step = axis ? l.side * sqrt(0.75) : l.side;
    double half = 2 * ceil((high[axis] - low[axis]) / 4 / step) + 2;
    l.n[axis] = 2 * (long)half + 1;
    l.low[axis] = (low[axis] + high[axis]) / 2 - half * step;
  }
  return l;
}

FloStatus flo_stuff_plane(const FloSolid *solid, double cell, FloElements *elements, FloError *error) {
  const Lattice l = lay_out(solid, cell);
  FloStuffing s = {.solid = solid, .elements = elements, .lattice = &l, .place = place, .error = error};
  s.n_nodes = (size_t)l.n[0] * (size_t)l.n[1];
  FloStatus status = fill(&s, &l);
  flo_stuffing_end(&s);
  return status;
}
