// Surface nets (Gibson 1998): one vertex in every lattice cell that the surface crosses, one quad around
// every lattice edge that it crosses. Vertices then slide along the surface towards the middle of their
// neighbours.
//
// The net of a cell is a single disc, and the mesh a 2-manifold, if the set of inner nodes is well composed
// (Latecki 1997): no square of four and no cube of eight nodes has only diagonal neighbours on one side.
// Inner nodes that break this rule are made outer ones first.
//
// Outlines are cut ear by ear (Meisters 1975) after bridges have joined their holes to the rim.
#include "geometry/polygonise.h"

#include "base/vecmath.h"
#include "geometry/outline.h"

#include <string.h>

typedef struct Net {
  FloMemory *memory;
  FloBuffer values; // at the nodes
  FloBuffer
      cell_nets;    // vertex number of the cell above each node, NO_VERTEX if the surface does not cross it
  FloBuffer quads;  // four vertex numbers each
  FloBuffer places; // Place of each vertex
  size_t n[3];      // nodes
  size_t n_quads;
  double low[3], cell;            // of the lattice
  double box_low[3], box_high[3]; // no vertex leaves it
  size_t first_vertex;
} Net;

typedef struct Place {
  double start[3]; // before it moved
  double sum[3];   // of its neighbours
  double n_neighbours;
} Place;

static const uint32_t NO_VERTEX = UINT32_MAX;
static const double most_nodes = 3e7;

static double *net_values(const Net *net) { return net->values.data; }
static uint32_t *net_cells(const Net *net) { return net->cell_nets.data; }

static size_t stride_of(const Net *net, int axis) {
  return axis == 0 ? 1 : axis == 1 ? net->n[0] : net->n[0] * net->n[1];
}

static void node_position(const Net *net, const size_t node[3], double point[3]) {
  for (int axis = 0; axis < 3; ++axis) point[axis] = net->low[axis] + (double)node[axis] * net->cell;
}

static size_t node_index(const Net *net, size_t i, size_t j, size_t k) {
  return (k * net->n[1] + j) * net->n[0] + i;
}

// ---- Values at the nodes ----

enum { BLOCK = 4 }; // nodes along the edge of a block that is passed over at once

static void fill_block(Net *net, const size_t begin[3], const size_t end[3], double value) {
  for (size_t k = begin[2]; k < end[2]; ++k)
    for (size_t j = begin[1]; j < end[1]; ++j)
      for (size_t i = begin[0]; i < end[0]; ++i) net_values(net)[node_index(net, i, j, k)] = value;
}

static void sample_block(Net *net, const FloSignedField *field, const size_t begin[3], const size_t end[3]) {
  for (size_t k = begin[2]; k < end[2]; ++k)
    for (size_t j = begin[1]; j < end[1]; ++j)
      for (size_t i = begin[0]; i < end[0]; ++i) {
        double point[3];
        node_position(net, (const size_t[3]){i, j, k}, point);
        net_values(net)[node_index(net, i, j, k)] = field->value(field->context, point);
      }
}

// Far from the surface one value stands for a block: the field's slope is about one, and is given a margin of
// two.
static void sample_nodes(Net *net, const FloSignedField *field) {
  const double reach = 2 * sqrt(3) * (BLOCK / 2 + 1) * net->cell;
  for (size_t k = 0; k < net->n[2]; k += BLOCK)
    for (size_t j = 0; j < net->n[1]; j += BLOCK)
      for (size_t i = 0; i < net->n[0]; i += BLOCK) {
        const size_t begin[3] = {i, j, k};
        const size_t end[3] = {flo_min_size(i + BLOCK, net->n[0]), flo_min_size(j + BLOCK, net->n[1]),
                               flo_min_size(k + BLOCK, net->n[2])};
        double middle[3];
        node_position(net, begin, middle);
        for (int axis = 0; axis < 3; ++axis) middle[axis] += (BLOCK - 1) / 2.0 * net->cell;
        double value = field->value(field->context, middle);
        if (fabs(value) > reach)
          fill_block(net, begin, end, value);
        else
          sample_block(net, field, begin, end);
      }
}

// The outermost nodes are outside, so that the mesh closes; a value that is no number is outside, too.
static void close_border(Net *net) {
  double *value = net_values(net);
  for (size_t k = 0; k < net->n[2]; ++k)
    for (size_t j = 0; j < net->n[1]; ++j)
      for (size_t i = 0; i < net->n[0]; ++i, ++value) {
        bool is_border =
            i == 0 || j == 0 || k == 0 || i + 1 == net->n[0] || j + 1 == net->n[1] || k + 1 == net->n[2];
        if (!isfinite(*value) || (is_border && *value < net->cell / 2)) *value = net->cell / 2;
      }
}

// ---- Well-composed signs ----

// Bit c is set if corner c of the cell above a node is inside.
static unsigned cell_corners(const Net *net, size_t node) {
  unsigned corners = 0;
  for (unsigned c = 0; c < 8; ++c) {
    size_t at = node + (c & 1) + (c >> 1 & 1) * stride_of(net, 1) + (c >> 2 & 1) * stride_of(net, 2);
    corners |= (net_values(net)[at] < 0 ? 1U : 0U) << c;
  }
  return corners;
}

// An inner corner that touches others of its side only across a diagonal, or -1.
static int lonely_corner(unsigned corners) {
  static const unsigned char faces[6][4] = {{0, 1, 3, 2}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                            {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 3, 7, 5}};
  for (int f = 0; f < 6; ++f) {
    unsigned in[4];
    for (int c = 0; c < 4; ++c) in[c] = corners >> faces[f][c] & 1;
    if (in[0] == in[2] && in[1] == in[3] && in[0] != in[1]) return faces[f][in[0] ? 0 : 1];
  }
  for (unsigned c = 0; c < 4; ++c) {
    unsigned pair = 1U << c | 1U << (7 - c);
    if (corners == pair) return (int)c;
    if (corners == (0xffU ^ pair)) return (int)(c ^ 1U); // opens a way between the two outer corners
  }
  return -1;
}

// Each repair makes one node an outer one, so that this comes to an end.
static void compose_signs(Net *net) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t k = 0; k + 1 < net->n[2]; ++k)
      for (size_t j = 0; j + 1 < net->n[1]; ++j)
        for (size_t i = 0; i + 1 < net->n[0]; ++i) {
          size_t node = node_index(net, i, j, k);
          int c = lonely_corner(cell_corners(net, node));
          if (c < 0) continue;
          node += (size_t)(c & 1) + (size_t)(c >> 1 & 1) * stride_of(net, 1) +
                  (size_t)(c >> 2) * stride_of(net, 2);
          net_values(net)[node] = 1e-3 * net->cell;
          is_changed = true;
        }
  }
}

// ---- Vertices and quads ----

// The mean of the points where the surface crosses the edges of the cell.
static void crossing_middle(const Net *net, const size_t node[3], double point[3]) {
  size_t base = node_index(net, node[0], node[1], node[2]);
  double sum[3] = {0}, n_crossings = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (unsigned side = 0; side < 4; ++side) {
      int across = (axis + 1) % 3, along = (axis + 2) % 3;
      size_t at = base + (side & 1) * stride_of(net, across) + (side >> 1) * stride_of(net, along);
      double a = net_values(net)[at], b = net_values(net)[at + stride_of(net, axis)];
      if ((a < 0) == (b < 0)) continue;
      sum[axis] += a / (a - b), sum[across] += side & 1, sum[along] += side >> 1, n_crossings += 1;
    }
  node_position(net, node, point);
  vec_add_scaled(point, sum, net->cell / n_crossings, point);
}

static FloStatus add_net_vertices(Net *net, FloMesh *mesh, FloError *error) {
  net->first_vertex = mesh->n_vertices;
  for (size_t k = 0; k + 1 < net->n[2]; ++k)
    for (size_t j = 0; j + 1 < net->n[1]; ++j)
      for (size_t i = 0; i + 1 < net->n[0]; ++i) {
        const size_t node[3] = {i, j, k};
        size_t at = node_index(net, i, j, k);
        unsigned corners = cell_corners(net, at);
        double point[3];
        net_cells(net)[at] = NO_VERTEX;
        if (corners == 0 || corners == 0xff) continue;
        crossing_middle(net, node, point);
        FLO_TRY(flo_mesh_add_vertex(mesh, point, &net_cells(net)[at], error));
      }
  return FLO_OK;
}

static FloStatus add_net_quad(Net *net, size_t node, int axis, FloError *error) {
  if (sizeof(uint32_t[4]) * (net->n_quads + 1) > net->quads.capacity)
    FLO_TRY(flo_buffer_reserve(net->memory, &net->quads, sizeof(uint32_t[4]) * (2 * net->n_quads + 1024),
                               sizeof(uint32_t[4]) * net->n_quads, error));
  size_t across = stride_of(net, (axis + 1) % 3), along = stride_of(net, (axis + 2) % 3);
  const size_t around[4] = {node - across - along, node - along, node, node - across};
  bool is_inside_below = net_values(net)[node] < 0; // then the outside is towards the high end of the edge
  uint32_t *quad = (uint32_t *)net->quads.data + 4 * net->n_quads++;
  for (int c = 0; c < 4; ++c) quad[c] = net_cells(net)[around[is_inside_below ? c : 3 - c]];
  return FLO_OK;
}

// The border is outside, so that the four cells around a crossed edge exist.
static FloStatus add_net_quads(Net *net, FloError *error) {
  for (size_t k = 0; k < net->n[2]; ++k)
    for (size_t j = 0; j < net->n[1]; ++j)
      for (size_t i = 0; i < net->n[0]; ++i) {
        const size_t node[3] = {i, j, k};
        size_t at = node_index(net, i, j, k);
        for (int axis = 0; axis < 3; ++axis) {
          if (node[axis] + 1 == net->n[axis]) continue;
          bool is_crossed = (net_values(net)[at] < 0) != (net_values(net)[at + stride_of(net, axis)] < 0);
          if (is_crossed) FLO_TRY(add_net_quad(net, at, axis, error));
        }
      }
  return FLO_OK;
}

// ---- Relaxation ----

enum { N_RELAXATIONS = 12, N_PROJECTIONS = 8 };

// Value and unit gradient; the value is divided by the slope, so that it is a distance to first order.
static double distance_and_normal(const FloSignedField *field, const double point[3], double step,
                                  double normal[3]) {
  double value = field->value(field->context, point);
  for (int axis = 0; axis < 3; ++axis) {
    double beside[3];
    vec_copy(point, beside);
    beside[axis] += step;
    normal[axis] = (field->value(field->context, beside) - value) / step;
  }
  double slope = vec_length(normal);
  if (!(slope > 1e-6) || !isfinite(slope)) {
    vec_set(normal, 0, 0, 0);
    return 0;
  }
  vec_scale(normal, 1 / slope, normal);
  return value / slope;
}

// Vertices stay within a cell of where they began, and in the box: folds and spikes cannot form on thin
// parts.
static void keep_near(const Net *net, const Place *place, double *point) {
  for (int axis = 0; axis < 3; ++axis) {
    double low = fmax(place->start[axis] - net->cell, net->box_low[axis]);
    double high = fmin(place->start[axis] + net->cell, net->box_high[axis]);
    point[axis] = fmin(fmax(point[axis], low), high);
  }
}

// Value over slope, but no more than half a cell: the other side of a thin part is not its own.
static double step_to_surface(const Net *net, const FloSignedField *field, const double *point,
                              double normal[3]) {
  double distance = distance_and_normal(field, point, 1e-4 * net->cell, normal);
  return fmin(fmax(distance, -net->cell / 2), net->cell / 2);
}

static void project_vertex(const Net *net, const FloSignedField *field, const Place *place, double *point) {
  for (int round = 0; round < N_PROJECTIONS; ++round) {
    double normal[3], distance = step_to_surface(net, field, point, normal);
    if (fabs(distance) < 1e-9 * net->cell) return;
    vec_add_scaled(point, normal, -distance, point);
    keep_near(net, place, point);
  }
}

static void sum_neighbours(const Net *net, const FloMesh *mesh, Place *places) {
  for (size_t k = net->first_vertex; k < mesh->n_vertices; ++k) {
    vec_set(places[k - net->first_vertex].sum, 0, 0, 0);
    places[k - net->first_vertex].n_neighbours = 0;
  }
  for (size_t q = 0; q < net->n_quads; ++q) {
    const uint32_t *quad = (const uint32_t *)net->quads.data + 4 * q;
    for (int c = 0; c < 4; ++c)
      for (int other = 1; other < 4; other += 2) {
        Place *place = &places[quad[c] - net->first_vertex];
        vec_add(place->sum, flo_mesh_vertex(mesh, quad[(c + other) % 4]), place->sum);
        place->n_neighbours += 1;
      }
  }
}

// Half the way to the middle of the neighbours, but only along the surface, and towards it.
static void relax_vertex(const Net *net, const FloSignedField *field, const Place *place, double *point) {
  double move[3], normal[3], distance = step_to_surface(net, field, point, normal);
  vec_scale(place->sum, 1 / place->n_neighbours, move);
  vec_sub(move, point, move);
  vec_add_scaled(move, normal, -vec_dot(move, normal), move);
  vec_add_scaled(point, move, 0.5, point);
  vec_add_scaled(point, normal, -distance, point);
  keep_near(net, place, point);
}

static FloStatus relax(Net *net, const FloSignedField *field, FloMesh *mesh, FloError *error) {
  size_t n = mesh->n_vertices - net->first_vertex;
  FLO_TRY(flo_buffer_reserve(net->memory, &net->places, n * sizeof(Place), 0, error));
  Place *places = net->places.data;
  for (size_t k = 0; k < n; ++k) vec_copy(flo_mesh_vertex(mesh, net->first_vertex + k), places[k].start);
  for (int round = 0; round < N_RELAXATIONS; ++round) {
    sum_neighbours(net, mesh, places);
    for (size_t k = 0; k < n; ++k)
      relax_vertex(net, field, &places[k], flo_mesh_vertex(mesh, net->first_vertex + k));
  }
  for (size_t k = 0; k < n; ++k)
    project_vertex(net, field, &places[k], flo_mesh_vertex(mesh, net->first_vertex + k));
  return FLO_OK;
}

// ---- Triangles ----

static double squared_distance(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double difference[3];
  vec_sub(flo_mesh_vertex(mesh, a), flo_mesh_vertex(mesh, b), difference);
  return vec_dot(difference, difference);
}

// Two quads never have the same diagonal: their cells would have to share two edges without sharing a face.
static FloStatus add_triangles(const Net *net, FloMesh *mesh, FloError *error) {
  for (size_t k = 0; k < net->n_quads; ++k) {
    const uint32_t *q = (const uint32_t *)net->quads.data + 4 * k;
    int cut = squared_distance(mesh, q[1], q[3]) < squared_distance(mesh, q[0], q[2]);
    FLO_TRY(flo_mesh_add_triangle(mesh, q[cut], q[cut + 1], q[cut + 2], error));
    FLO_TRY(flo_mesh_add_triangle(mesh, q[cut], q[cut + 2], q[(cut + 3) % 4], error));
  }
  return FLO_OK;
}

// ---- All together ----

static FloStatus prepare(Net *net, const double low[3], const double high[3], double cell, FloError *error) {
  if (!vec_is_finite(low) || !vec_is_finite(high) || !(cell > 0) || !isfinite(cell))
    return flo_fail(error, FLO_BAD_INPUT,
                    "polygonise: the box and the cell, %g m, must be finite and the cell positive", cell);
  double n_nodes = 1;
  for (int axis = 0; axis < 3; ++axis) {
    double n = ceil(fmax(high[axis] - low[axis], 0) / cell) + 3;
    // A margin on both sides, and centred: a symmetric figure gets a symmetric mesh.
    net->low[axis] = (low[axis] + high[axis]) / 2 - (n - 1) / 2 * cell;
    n_nodes *= n;
    if (n_nodes > most_nodes)
      return flo_fail(error, FLO_BAD_INPUT,
                      "polygonise: a cell of %g m would need %g nodes, more than %g; make it larger", cell,
                      n_nodes, most_nodes);
    net->n[axis] = (size_t)n;
  }
  net->cell = cell;
  vec_copy(low, net->box_low);
  vec_copy(high, net->box_high);
  FLO_TRY(flo_buffer_reserve(net->memory, &net->values, (size_t)n_nodes * sizeof(double), 0, error));
  return flo_buffer_reserve(net->memory, &net->cell_nets, (size_t)n_nodes * sizeof(uint32_t), 0, error);
}

static FloStatus build(Net *net, const FloSignedField *field, FloMesh *mesh, FloError *error) {
  sample_nodes(net, field);
  close_border(net);
  compose_signs(net);
  FLO_TRY(add_net_vertices(net, mesh, error));
  FLO_TRY(add_net_quads(net, error));
  if (net->n_quads == 0)
    return flo_fail(error, FLO_BAD_INPUT, "polygonise: there is no surface that cells of %g m could see",
                    net->cell);
  FLO_TRY(relax(net, field, mesh, error));
  return add_triangles(net, mesh, error);
}

FloStatus flo_polygonise(const FloSignedField *field, const double low[3], const double high[3], double cell,
                         FloMesh *mesh, FloError *error) {
  Net net = {.memory = mesh->memory};
  FloStatus status = prepare(&net, low, high, cell, error);
  if (status == FLO_OK) status = build(&net, field, mesh, error);
  flo_buffer_free(net.memory, &net.values);
  flo_buffer_free(net.memory, &net.cell_nets);
  flo_buffer_free(net.memory, &net.quads);
  flo_buffer_free(net.memory, &net.places);
  return status;
}

// ---- Outlines in a plane ----

// The face inside an outline as one polygon, which goes to the holes and back over bridges.
typedef struct Polygon {
  FloMemory *memory;
  const FloOutline *outline;
  FloBuffer corners; // point numbers
  FloBuffer points;  // of the corners
  FloBuffer *triangles;
  size_t n_corners, n_triangles;
} Polygon;

static const double *plane_point(const Polygon *polygon, size_t k) {
  return polygon->outline->points + 2 * k;
}

static size_t loop_begin(const Polygon *polygon, size_t loop) {
  return loop ? polygon->outline->loop_ends[loop - 1] : 0;
}

static double distance_2(const double *a, const double *b) { return hypot(a[0] - b[0], a[1] - b[1]); }

// Twice the area of a triangle; positive if it runs counter-clockwise.
static double doubled_area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double loop_area(const Polygon *polygon, size_t loop) {
  double area = 0;
  size_t begin = loop_begin(polygon, loop), end = polygon->outline->loop_ends[loop];
  const double *origin = plane_point(polygon, begin);
  for (size_t k = begin + 1; k + 1 < end; ++k)
    area += doubled_area(origin, plane_point(polygon, k), plane_point(polygon, k + 1)) / 2;
  return area;
}

// ---- Bridges to the holes of an outline ----

static uint32_t *polygon_corners(const Polygon *polygon) { return polygon->corners.data; }

static const double *corner_point(const Polygon *polygon, size_t corner) {
  return plane_point(polygon, polygon_corners(polygon)[corner % polygon->n_corners]);
}

// Whether the direction from corner b, between a and c of a face to the left, leads into the face.
static bool leads_inside(const double *a, const double *b, const double *c, const double *target) {
  bool is_left_of_in = doubled_area(a, b, target) > 0, is_left_of_out = doubled_area(b, c, target) > 0;
  return doubled_area(a, b, c) > 0 ? is_left_of_in && is_left_of_out : is_left_of_in || is_left_of_out;
}

static bool is_crossed(const double *a, const double *b, const double *c, const double *d) {
  return doubled_area(a, b, c) * doubled_area(a, b, d) <= 0 &&
         doubled_area(c, d, a) * doubled_area(c, d, b) <= 0;
}

// Whether no edge of any loop touches the way between two points, but for those that end in one of them.
static bool is_way_clear(const Polygon *polygon, uint32_t from, uint32_t to) {
  for (size_t loop = 0; loop < polygon->outline->n_loops; ++loop) {
    size_t begin = loop_begin(polygon, loop), end = polygon->outline->loop_ends[loop];
    for (size_t k = begin; k < end; ++k) {
      size_t after = k + 1 < end ? k + 1 : begin;
      if (k == from || k == to || after == from || after == to) continue;
      if (is_crossed(plane_point(polygon, from), plane_point(polygon, to), plane_point(polygon, k),
                     plane_point(polygon, after)))
        return false;
    }
  }
  return true;
}

typedef struct Bridge {
  size_t corner; // of the polygon
  size_t point;  // of the hole
  double length;
} Bridge;

// The shortest way between the polygon and a hole that crosses nothing.
static Bridge find_bridge(const Polygon *polygon, size_t begin, size_t end) {
  Bridge best = {.length = INFINITY};
  for (size_t k = begin; k < end; ++k) {
    const double *p = plane_point(polygon, k);
    const double *before = plane_point(polygon, k == begin ? end - 1 : k - 1);
    const double *after = plane_point(polygon, k + 1 == end ? begin : k + 1);
    for (size_t corner = 0; corner < polygon->n_corners; ++corner) {
      const double *q = corner_point(polygon, corner);
      double length = distance_2(p, q);
      if (length >= best.length) continue;
      if (!leads_inside(before, p, after, q)) continue;
      if (!leads_inside(corner_point(polygon, corner + polygon->n_corners - 1), q,
                        corner_point(polygon, corner + 1), p))
        continue;
      if (is_way_clear(polygon, (uint32_t)k, polygon_corners(polygon)[corner]))
        best = (Bridge){corner, k, length};
    }
  }
  return best;
}

// The polygon goes over the bridge, around the hole and back.
static FloStatus join_hole(Polygon *polygon, size_t loop, FloError *error) {
  size_t begin = loop_begin(polygon, loop), end = polygon->outline->loop_ends[loop], n = end - begin;
  Bridge bridge = find_bridge(polygon, begin, end);
  if (!isfinite(bridge.length))
    return flo_fail(error, FLO_BAD_INPUT, "outline: a hole cannot be reached from the rim");
  uint32_t *corners = polygon_corners(polygon);
  memmove(corners + bridge.corner + n + 3, corners + bridge.corner + 1,
          (polygon->n_corners - bridge.corner - 1) * sizeof *corners);
  for (size_t k = 0; k <= n; ++k)
    corners[bridge.corner + 1 + k] = (uint32_t)(begin + (bridge.point - begin + k) % n);
  corners[bridge.corner + n + 2] = corners[bridge.corner];
  polygon->n_corners += n + 2;
  return FLO_OK;
}

static FloStatus make_polygon(Polygon *polygon, FloError *error) {
  size_t most = polygon->outline->n_points + 2 * polygon->outline->n_loops, n_rims = 0;
  FLO_TRY(flo_buffer_reserve(polygon->memory, &polygon->corners, most * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(polygon->memory, polygon->triangles, most * sizeof(uint32_t[3]), 0, error));
  polygon->n_corners = polygon->n_triangles = 0;
  for (size_t loop = 0; loop < polygon->outline->n_loops; ++loop) {
    if (loop_area(polygon, loop) <= 0) continue;
    ++n_rims;
    for (size_t k = loop_begin(polygon, loop); k < polygon->outline->loop_ends[loop]; ++k)
      polygon_corners(polygon)[polygon->n_corners++] = (uint32_t)k;
  }
  if (n_rims != 1) return flo_fail(error, FLO_BAD_INPUT, "outline: it must have one rim, got %zu", n_rims);
  for (size_t loop = 0; loop < polygon->outline->n_loops; ++loop)
    if (loop_area(polygon, loop) < 0) FLO_TRY(join_hole(polygon, loop, error));
  return FLO_OK;
}

// ---- Ears ----

// Area over the square of the longest edge: 0 for a needle.
static double shape_quality(const double *a, const double *b, const double *c) {
  double longest = fmax(distance_2(a, b), fmax(distance_2(b, c), distance_2(c, a)));
  return doubled_area(a, b, c) / (longest * longest);
}

static FloStatus cut_ears(Polygon *polygon, FloError *error) {
  size_t n = polygon->n_corners;
  FLO_TRY(flo_buffer_reserve(polygon->memory, &polygon->points, n * sizeof(double[2]), 0, error));
  double *points = polygon->points.data;
  for (size_t k = 0; k < n; ++k) memcpy(points + 2 * k, corner_point(polygon, k), sizeof(double[2]));
  uint32_t *triangles = polygon->triangles->data;
  FLO_TRY(flo_outline_cut(points, n, polygon->memory, triangles, error));
  polygon->n_triangles = n - 2;
  // A triangle that is turned over covers others: the outline crosses itself.
  for (size_t k = 0; k < polygon->n_triangles; ++k)
    if (doubled_area(points + 2 * triangles[3 * k], points + 2 * triangles[3 * k + 1],
                     points + 2 * triangles[3 * k + 2]) < 0)
      return flo_fail(error, FLO_BAD_INPUT, "outline: it cannot be cut into triangles; it must be simple");
  for (size_t k = 0; k < 3 * polygon->n_triangles; ++k) triangles[k] = polygon_corners(polygon)[triangles[k]];
  return FLO_OK;
}

// ---- Needles ----

// Turns a triangle so that its longest edge is the one from its first to its second corner.
static void turn_longest_first(const Polygon *polygon, uint32_t *triangle) {
  int longest = 0;
  double length[3];
  for (int k = 0; k < 3; ++k) {
    length[k] = distance_2(plane_point(polygon, triangle[k]), plane_point(polygon, triangle[(k + 1) % 3]));
    if (length[k] > length[longest]) longest = k;
  }
  for (; longest > 0; --longest) {
    uint32_t first = triangle[0];
    triangle[0] = triangle[1], triangle[1] = triangle[2], triangle[2] = first;
  }
}

// The triangle on the other side of the edge from a to b, turned so that it begins with b and a; NULL at the
// rim.
static uint32_t *find_neighbour(const Polygon *polygon, uint32_t a, uint32_t b) {
  for (size_t k = 0; k < 3 * polygon->n_triangles; ++k) {
    uint32_t *t = (uint32_t *)polygon->triangles->data + k / 3 * 3;
    if (t[k % 3] != b || t[(k + 1) % 3] != a) continue;
    uint32_t apex = t[(k + 2) % 3];
    t[0] = b, t[1] = a, t[2] = apex;
    return t;
  }
  return NULL;
}

static double triangle_quality(const Polygon *polygon, uint32_t a, uint32_t b, uint32_t c) {
  return shape_quality(plane_point(polygon, a), plane_point(polygon, b), plane_point(polygon, c));
}

// Exchanges the longest edge for the other diagonal of the two triangles at it, if that makes the worse one
// better.
static bool flip_longest(const Polygon *polygon, uint32_t *t) {
  turn_longest_first(polygon, t);
  uint32_t a = t[0], b = t[1], c = t[2], *other = find_neighbour(polygon, a, b);
  if (!other) return false;
  uint32_t d = other[2];
  double now = fmin(triangle_quality(polygon, a, b, c), triangle_quality(polygon, b, a, d));
  double then = fmin(triangle_quality(polygon, a, d, c), triangle_quality(polygon, d, b, c));
  if (then <= now * (1 + 1e-9)) return false;
  t[1] = d;
  other[0] = d, other[1] = b, other[2] = c;
  return true;
}

static void flip_needles(const Polygon *polygon) {
  enum { MAX_PASSES = 20 };
  const double needle = 0.05;
  bool is_changed = true;
  for (int pass = 0; pass < MAX_PASSES && is_changed; ++pass) {
    is_changed = false;
    for (size_t k = 0; k < polygon->n_triangles; ++k) {
      uint32_t *t = (uint32_t *)polygon->triangles->data + 3 * k;
      if (triangle_quality(polygon, t[0], t[1], t[2]) < needle && flip_longest(polygon, t)) is_changed = true;
    }
  }
}

FloStatus flo_outline_triangulate(const FloOutline *outline, FloMemory *memory, FloBuffer *triangles,
                                  size_t *n_triangles, FloError *error) {
  Polygon polygon = {.memory = memory, .outline = outline, .triangles = triangles};
  FloStatus status = make_polygon(&polygon, error);
  if (status == FLO_OK) status = cut_ears(&polygon, error);
  if (status == FLO_OK) flip_needles(&polygon);
  *n_triangles = polygon.n_triangles;
  flo_buffer_free(memory, &polygon.corners);
  flo_buffer_free(memory, &polygon.points);
  return status;
}
