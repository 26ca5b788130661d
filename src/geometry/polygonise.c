// Surface nets (Gibson 1998). Every lattice cell that the surface crosses gets one vertex, every lattice edge
// that it crosses one quad. The vertices then slide along the surface towards the middle of their neighbours.
//
// The mesh is a 2-manifold if the set of inner nodes is well composed (Latecki 1997): in no square of four
// nodes and no cube of eight are nodes of one side connected only diagonally. Inner nodes that break this
// rule become outer ones first.
#include "geometry/polygonise.h"

#include "base/vecmath.h"

typedef struct Net {
  FloMemory *memory;
  FloBuffer values;    // at the nodes
  FloBuffer cell_nets; // vertex number of the cell above each node; NO_VERTEX if the surface does not cross
                       // the cell
  FloBuffer quads;     // four vertex numbers each
  FloBuffer places;    // Place of each vertex
  size_t n[3];         // nodes
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

enum { BLOCK = 4 }; // nodes along the edge of a block that may be filled with one value

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

// Far from the surface one value stands for a block. The slope of the field is about one; the test allows
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

// Makes the outermost nodes outer ones, so that the mesh is closed. Values that are not finite count as
// outside.
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

// Finds an inner corner to give up where nodes of one side are connected only diagonally; -1 if there is
// none.
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

// Each repair turns an inner node into an outer one, so this ends.
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

// The border is outside, so the four cells around a crossed edge always exist.
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

// Returns the distance to first order, which is the value divided by the slope, and the unit gradient.
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

// Keeps a vertex within one cell of where it began, and in the box, so that thin parts get no folds or
// spikes.
static void keep_near(const Net *net, const Place *place, double *point) {
  for (int axis = 0; axis < 3; ++axis) {
    double low = fmax(place->start[axis] - net->cell, net->box_low[axis]);
    double high = fmin(place->start[axis] + net->cell, net->box_high[axis]);
    point[axis] = fmin(fmax(point[axis], low), high);
  }
}

// The distance to the surface, but at most half a cell, so that a vertex cannot reach the other side of a
// thin part.
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

// Moves a vertex half the way to the middle of its neighbours, along the surface, and towards the surface.
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

// Cuts each quad along its shorter diagonal. Two quads never have the same diagonal: their cells would share
// two edges without sharing a face.
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
    // The lattice has a margin on both sides and is centred, so that a symmetric field gets a symmetric mesh.
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
