// Labelle, Shewchuk 2007: Isosurface stuffing: fast tetrahedral meshes with good dihedral angles.
//
// The lattice is body-centred cubic: corners and centres of cubes. Its tetrahedra have two long edges, from
// corner to corner and from centre to centre, and four short ones between them. First, points of the lattice
// that are near the surface move onto it, along an edge. Then each tetrahedron gives what is inside of it:
// one of a few patterns, by the sides on which its corners lie. Faces that the surface cuts are four-sided;
// the rules for their diagonals depend on the face alone, so that both tetrahedra at a face agree.
#include "geometry/stuffing.h"

#include "base/vecmath.h"

#include <math.h>

// A point moves to a cut that is nearer than this share of the edge. With these two numbers of the paper all
// angles lie between 10.7 and 164.8 degrees.
static const double long_share = 0.24999, short_share = 0.41189;

// Nodes have whole coordinates in units of half a cube's edge: corners even ones, centres odd ones.
typedef struct Lattice {
  double low[3], unit; // [m]
  long n[3];           // cubes along each axis
} Lattice;

typedef struct Node {
  long at[3];
} Node;

static size_t count_cubes(const Lattice *l) { return (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2]; }

// Corners first, then centres; x runs fastest.
static uint32_t number_of(const Lattice *l, Node node) {
  size_t i = (size_t)(node.at[0] / 2), j = (size_t)(node.at[1] / 2), k = (size_t)(node.at[2] / 2);
  size_t centre = node.at[0] % 2 ? count_cubes(l) : 0;
  return (uint32_t)(centre + (k * (size_t)l->n[1] + j) * (size_t)l->n[0] + i);
}

static Node node_of(const Lattice *l, uint32_t number) {
  long n_cubes = (long)count_cubes(l), centre = number >= n_cubes, cube = (long)number - centre * n_cubes;
  long i = cube % l->n[0], j = cube / l->n[0] % l->n[1], k = cube / l->n[0] / l->n[1];
  return (Node){{2 * i + centre, 2 * j + centre, 2 * k + centre}};
}

static void place(const void *lattice, uint32_t number, double point[3]) {
  const Lattice *l = lattice;
  Node node = node_of(l, number);
  for (int axis = 0; axis < 3; ++axis) point[axis] = l->low[axis] + l->unit * (double)node.at[axis];
}

static bool is_in_lattice(const Lattice *l, Node node) {
  for (int axis = 0; axis < 3; ++axis)
    if (node.at[axis] < 0 || node.at[axis] >= 2 * l->n[axis]) return false;
  return true;
}

static bool is_long(const Lattice *l, uint32_t a, uint32_t b) {
  return (a < count_cubes(l)) == (b < count_cubes(l));
}

// ---- Moving nodes onto the surface ----

static const long steps[14][3] = {{2, 0, 0},  {-2, 0, 0},  {0, 2, 0},   {0, -2, 0},  {0, 0, 2},
                                  {0, 0, -2}, {1, 1, 1},   {-1, 1, 1},  {1, -1, 1},  {-1, -1, 1},
                                  {1, 1, -1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, -1}};
enum { N_LONG_STEPS = 6 };

static bool find_neighbour(const Lattice *l, Node node, size_t step, uint32_t *number) {
  for (int axis = 0; axis < 3; ++axis) node.at[axis] += steps[step][axis];
  if (!is_in_lattice(l, node)) return false;
  *number = number_of(l, node);
  return true;
}

// A node moves to the nearest cut if that is near enough. Edges of a node that has moved have no cut any
// more.
static FloStatus move_to_surface(FloStuffing *s, const Lattice *l, uint32_t node) {
  double nearest = INFINITY, target[3] = {0};
  for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k) {
    bool is_long_step = k < N_LONG_STEPS;
    uint32_t other;
    double point[3];
    if (!find_neighbour(l, node_of(l, node), k, &other) || !flo_stuffing_is_cut(s, node, other)) continue;
    double share = flo_stuffing_cut(s, node, other, point), way = share * (is_long_step ? 2 : sqrt(3));
    if (share > (is_long_step ? long_share : short_share) || way >= nearest) continue;
    nearest = way;
    vec_copy(point, target);
  }
  return nearest < INFINITY ? flo_stuffing_move(s, node, target) : FLO_OK;
}

// ---- Patterns ----

// Of a face with two corners inside and one outside: whether its diagonal begins at a, and then ends at the
// cut of the edge from b. It ends at the cut of a long edge. If both cut edges are short, it begins at the
// lower or the upper end of the long one, by the place of the outer corner. So it begins at different ends in
// the two faces of a tetrahedron that have this long edge.
static bool begins_at_first(const Lattice *l, uint32_t a, uint32_t b, uint32_t outside) {
  if (is_long(l, b, outside)) return true;
  if (is_long(l, a, outside)) return false;
  Node from = node_of(l, a), to = node_of(l, b), out = node_of(l, outside);
  long product = 1;
  bool is_a_lower = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (to.at[axis] != from.at[axis])
      is_a_lower = to.at[axis] > from.at[axis];
    else
      product *= out.at[axis] - from.at[axis];
  }
  return (product > 0) == is_a_lower;
}

// Exchanges the two so that the diagonal of their face begins at the first.
static void order_diagonal(const Lattice *l, uint32_t *a, uint32_t *b, uint32_t outside) {
  uint32_t first = *a;
  if (begins_at_first(l, *a, *b, outside)) return;
  *a = *b, *b = first;
}

static FloStatus add_all(FloStuffing *s, const uint32_t (*tetrahedra)[4], size_t n) {
  for (size_t k = 0; k < n; ++k) FLO_TRY(flo_elements_add(s->elements, tetrahedra[k], s->error));
  return FLO_OK;
}

// Two corners inside, one outside, one on the surface: a pyramid over a face with four corners.
static FloStatus add_pyramid(FloStuffing *s, const Lattice *l, const FloSides *sides) {
  uint32_t first = sides->inside[0], second = sides->inside[1], a, b, cut_a, cut_b, top;
  order_diagonal(l, &first, &second, sides->outside[0]);
  FLO_TRY(flo_stuffing_at_node(s, first, &a));
  FLO_TRY(flo_stuffing_at_node(s, second, &b));
  FLO_TRY(flo_stuffing_at_node(s, sides->on[0], &top));
  FLO_TRY(flo_stuffing_at_cut(s, first, sides->outside[0], &cut_a));
  FLO_TRY(flo_stuffing_at_cut(s, second, sides->outside[0], &cut_b));
  const uint32_t tetrahedra[][4] = {{a, b, cut_b, top}, {a, cut_b, cut_a, top}};
  return add_all(s, tetrahedra, 2);
}

// Two corners inside, two outside: a wedge between the triangles of the corners inside. The diagonals of its
// two faces inside the body begin at different corners, which leaves one choice for the third.
static FloStatus add_wedge(FloStuffing *s, const Lattice *l, const FloSides *sides) {
  uint32_t first = sides->inside[0], second = sides->inside[1], a, b, a0, a1, b0, b1;
  order_diagonal(l, &first, &second, sides->outside[0]);
  FLO_TRY(flo_stuffing_at_node(s, first, &a));
  FLO_TRY(flo_stuffing_at_node(s, second, &b));
  FLO_TRY(flo_stuffing_at_cut(s, first, sides->outside[0], &a0));
  FLO_TRY(flo_stuffing_at_cut(s, first, sides->outside[1], &a1));
  FLO_TRY(flo_stuffing_at_cut(s, second, sides->outside[0], &b0));
  FLO_TRY(flo_stuffing_at_cut(s, second, sides->outside[1], &b1));
  const uint32_t tetrahedra[][4] = {{a1, b, b0, b1}, {a, a0, a1, b0}, {a, a1, b, b0}};
  return add_all(s, tetrahedra, 3);
}

// Three corners inside: what remains when the tip at the outer corner is cut off.
static FloStatus add_stump(FloStuffing *s, const Lattice *l, const FloSides *sides) {
  int far = 0; // the corner at the long edge
  while (!is_long(l, sides->inside[far], sides->outside[0])) ++far;
  uint32_t first = sides->inside[(far + 1) % 3], second = sides->inside[(far + 2) % 3];
  uint32_t a, b, c, cut_a, cut_b, cut_c;
  order_diagonal(l, &first, &second, sides->outside[0]);
  FLO_TRY(flo_stuffing_at_node(s, first, &a));
  FLO_TRY(flo_stuffing_at_node(s, second, &b));
  FLO_TRY(flo_stuffing_at_node(s, sides->inside[far], &c));
  FLO_TRY(flo_stuffing_at_cut(s, first, sides->outside[0], &cut_a));
  FLO_TRY(flo_stuffing_at_cut(s, second, sides->outside[0], &cut_b));
  FLO_TRY(flo_stuffing_at_cut(s, sides->inside[far], sides->outside[0], &cut_c));
  const uint32_t tetrahedra[][4] = {{a, cut_a, cut_b, cut_c}, {a, b, c, cut_c}, {a, cut_c, b, cut_b}};
  return add_all(s, tetrahedra, 3);
}

static FloStatus add_inside(FloStuffing *s, const Lattice *l, const uint32_t corners[4]) {
  FloSides sides = flo_stuffing_sides(s, corners, 4);
  if (sides.n_inside == 0) return FLO_OK;
  if (sides.n_inside == 1 || sides.n_outside == 0) return flo_stuffing_add_single(s, &sides);
  if (sides.n_inside == 3) return add_stump(s, l, &sides);
  return sides.n_on == 1 ? add_pyramid(s, l, &sides) : add_wedge(s, l, &sides);
}

// ---- All tetrahedra ----

// The four between a centre and the next one along an axis, around the face that they share.
static FloStatus add_around_face(FloStuffing *s, const Lattice *l, Node centre, int axis) {
  static const long around[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
  Node next = centre;
  uint32_t ring[5];
  next.at[axis] += 2;
  for (int k = 0; k < 5; ++k) {
    Node corner = centre;
    corner.at[axis] += 1;
    corner.at[(axis + 1) % 3] += around[k][0], corner.at[(axis + 2) % 3] += around[k][1];
    ring[k] = number_of(l, corner);
  }
  for (int k = 0; k < 4; ++k) {
    const uint32_t corners[4] = {number_of(l, centre), number_of(l, next), ring[k], ring[k + 1]};
    FLO_TRY(add_inside(s, l, corners));
  }
  return FLO_OK;
}

// The last centres along each axis are outside of the solid, as is everything next to them.
static FloStatus add_around_centre(FloStuffing *s, const Lattice *l, Node centre) {
  for (int axis = 0; axis < 3; ++axis)
    if (centre.at[axis] + 2 >= 2 * l->n[axis]) return FLO_OK;
  for (int axis = 0; axis < 3; ++axis) FLO_TRY(add_around_face(s, l, centre, axis));
  return FLO_OK;
}

// Far from the surface distances are lower bounds. So what is farther from it than an edge is told apart
// safely.
static FloStatus fill(FloStuffing *s, const Lattice *l) {
  FLO_TRY(flo_stuffing_begin(s));
  for (uint32_t k = 0; k < s->n_nodes; ++k) {
    double distance = fabs(flo_stuffing_value(s, k));
    if (distance > 0 && distance < 2 * l->unit) FLO_TRY(move_to_surface(s, l, k));
  }
  for (uint32_t k = (uint32_t)count_cubes(l); k < s->n_nodes; ++k)
    if (flo_stuffing_value(s, k) < 4 * l->unit) FLO_TRY(add_around_centre(s, l, node_of(l, k)));
  return FLO_OK;
}

// A cube has one corner and one centre, so it holds two cells. The middle of the solid is a corner of a cube.
// Beyond the solid there are at least two cubes.
static Lattice lay_out(const FloSolid *solid, double cell) {
  Lattice l;
  double low[3], high[3], cube = cbrt(2) * cell;
  flo_solid_bounds(solid, low, high);
  l.unit = cube / 2;
  for (int axis = 0; axis < 3; ++axis) {
    double half = ceil((high[axis] - low[axis]) / 2 / cube) + 2;
    l.n[axis] = 2 * (long)half + 1;
    l.low[axis] = (low[axis] + high[axis]) / 2 - half * cube;
  }
  return l;
}

FloStatus flo_stuff_space(const FloSolid *solid, double cell, FloElements *elements, FloError *error) {
  const Lattice l = lay_out(solid, cell);
  FloStuffing s = {.solid = solid, .elements = elements, .lattice = &l, .place = place, .error = error};
  s.n_nodes = 2 * count_cubes(&l);
  FloStatus status = fill(&s, &l);
  flo_stuffing_end(&s);
  return status;
}
