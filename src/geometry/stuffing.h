// Fills the inside of a solid with elements of a lattice, whose border is moved onto the surface.
#ifndef FLO_GEOMETRY_STUFFING_H
#define FLO_GEOMETRY_STUFFING_H

#include "geometry/elements.h"
#include "geometry/solid.h"

// Tetrahedra by Labelle and Shewchuk 2007, Isosurface stuffing. Angles between faces lie between 10.7 and
// 164.8 degrees. Edges and corners of the solid are rounded off by up to a cell. Parts thinner than a cell
// may be missing. `cell`: there is one vertex for each cell^3.
FloStatus flo_stuff_space(const FloSolid *solid, double cell, FloElements *elements, FloError *error);
// The same in the plane, with triangles of a triangular lattice.
FloStatus flo_stuff_plane(const FloSolid *solid, double cell, FloElements *elements, FloError *error);
// Moves vertices of the border into the corners of an outline of n points, where triangles stay good.
FloStatus flo_stuffing_fill_corners(const double *points, size_t n, FloElements *elements, FloError *error);
// A box between two corners, with whole cells along each of its edges. Its faces fit exactly. Each cell is
// five tetrahedra or two triangles, mirrored from cell to cell.
FloStatus flo_stuff_box(const double low[3], const double high[3], double cell, FloElements *elements,
                        FloError *error);

// ---- What both lattices share ----

// The vertex on each edge that was cut, by the numbers of the edge's ends.
typedef struct FloCutTable {
  FloBuffer places;
  size_t n_places, count;
} FloCutTable;

// Nodes are points of a lattice, by their numbers.
typedef struct FloStuffing {
  const FloSolid *solid;
  FloElements *elements;
  const void *lattice;
  void (*place)(const void *lattice, uint32_t node, double point[3]);
  size_t n_nodes;
  FloBuffer values;   // doubles: signed distance; 0: the node was moved onto the surface
  FloBuffer vertices; // uint32_t: number of the element's vertex, if it has one
  FloCutTable cuts;
  FloError *error;
} FloStuffing;

// The corners of a lattice's element by their sides.
typedef struct FloSides {
  uint32_t inside[4], outside[4], on[4];
  int n_inside, n_outside, n_on;
} FloSides;

// Asks for the distances of all nodes.
FloStatus flo_stuffing_begin(FloStuffing *stuffing);
void flo_stuffing_end(FloStuffing *stuffing);
static inline double flo_stuffing_value(const FloStuffing *stuffing, uint32_t node) {
  return ((const double *)stuffing->values.data)[node];
}
// Whether the surface cuts an edge: its ends lie on different sides, and none on the surface.
bool flo_stuffing_is_cut(const FloStuffing *stuffing, uint32_t a, uint32_t b);
// Where it does so, as a share of the way from a to b. Exchanging a and b gives the same point.
double flo_stuffing_cut(const FloStuffing *stuffing, uint32_t a, uint32_t b, double point[3]);
FloStatus flo_stuffing_move(FloStuffing *stuffing, uint32_t node, const double point[3]);
FloSides flo_stuffing_sides(const FloStuffing *stuffing, const uint32_t *nodes, int n);
// Vertices of elements at a node and on a cut edge. They are added when they are asked for first.
FloStatus flo_stuffing_at_node(FloStuffing *stuffing, uint32_t node, uint32_t *vertex);
FloStatus flo_stuffing_at_cut(FloStuffing *stuffing, uint32_t a, uint32_t b, uint32_t *vertex);
// Adds the element of all nodes inside and on the surface, and of the cuts from the first inside to those
// outside.
FloStatus flo_stuffing_add_single(FloStuffing *stuffing, const FloSides *sides);

#endif
