// Interiors of triangles of a mesh sampler: rows of samples along the shortest side.
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

// For the distance of rows, and of samples in a row.
static const FloStepRule rows_rule = {0.5, 0.08};

// Another side may be shorter than the one that rows follow by this share, before they are made anew.
#define SHORTER_SIDE 0.1

// Triangles whose corners are on a larger circle than this have a sample at the centre [spacings].
#define CENTRE_CIRCLE    0.76
#define CENTRE_TOLERANCE 0.02

// ---- Triangles in spacings ----

typedef struct Shape {
  double base, height;
  int side;
} Shape;

// The side and the height upon it. Sixteen times the squared area is 4 a² b² - (a² + b² - c²)².
static Shape shape_upon(const double squares[3], int side) {
  double a = squares[side], b = squares[(side + 1) % 3], c = squares[(side + 2) % 3], skew = a + b - c;
  double area4 = sqrt(fmax(4 * a * b - skew * skew, 0)), base = sqrt(a);
  return (Shape){base, base > 0 ? area4 / (2 * base) : 0, side};
}

static int shortest_side(const double squares[3]) {
  if (squares[2] < squares[0] && squares[2] < squares[1]) return 2;
  return squares[1] < squares[0];
}

static void squares_of(const FloMeshSampler *sampler, size_t triangle, double squares[3]) {
  const uint32_t *sides = flo_topology_sides(&sampler->topology, triangle);
  const double *lengths = sampler->lengths.data;
  for (int k = 0; k < 3; ++k) squares[k] = lengths[sides[k]];
}

// ---- How many samples ----

static double row_width(double base, uint32_t row, uint32_t n_rows) {
  return (1 - (double)row / (double)n_rows) * base;
}

// Rows become shorter: the first without samples is the last.
static uint32_t count_in_rows(double base, uint32_t n_rows) {
  uint64_t count = 0;
  // Half of the points of the parallelogram; an estimate keeps the sum from running for ever.
  if (base > 2 && 0.2 * base * n_rows > FLO_TOO_MANY_STEPS) return FLO_TOO_MANY_STEPS;
  for (uint32_t row = 1; row < n_rows; ++row) {
    uint32_t n = flo_steps_of(row_width(base, row, n_rows), rows_rule.surplus);
    if (n < 2) break;
    count += n - 1;
  }
  return count < FLO_TOO_MANY_STEPS ? (uint32_t)count : FLO_TOO_MANY_STEPS;
}

static FloRows rows_in(const Shape *shape) {
  FloRows rows = {.layout = shape->side, .base = shape->base};
  rows.n_rows = flo_steps_of(shape->height, rows_rule.surplus);
  rows.count = count_in_rows(shape->base, rows.n_rows);
  return rows;
}

static FloRows best_rows(const double squares[3]) {
  Shape shape = shape_upon(squares, shortest_side(squares));
  return rows_in(&shape);
}

// ---- Whether rows fit ----

// How many samples of a state are in rows.
static uint32_t in_rows(const FloRowState *state) {
  return state->layout == FLO_CENTRE_LAYOUT ? 0 : state->count;
}

// A triangle that is smaller by the tolerance has none.
static bool does_none_fit(const double squares[3], double tolerance) {
  Shape shape = shape_upon(squares, shortest_side(squares));
  shape.base -= tolerance, shape.height -= tolerance;
  return rows_in(&shape).count == 0;
}

static bool do_rows_fit(const FloRowState *state, const double squares[3], double tolerance) {
  if (!in_rows(state)) return does_none_fit(squares, tolerance);
  Shape shape = shape_upon(squares, state->layout);
  double shortest = sqrt(squares[shortest_side(squares)]);
  return shape.base <= (1 + SHORTER_SIDE) * shortest &&
         flo_steps_fit(state->n_rows, shape.height, rows_rule.surplus, tolerance) &&
         count_in_rows(shape.base - tolerance, state->n_rows) <= state->count &&
         count_in_rows(shape.base + tolerance, state->n_rows) >= state->count;
}

static FloRows rows_of_state(const FloRowState *state, double base) {
  return (FloRows){state->count, state->n_rows, state->layout, base};
}

// ---- Centres ----

// The radius of the circle through the corners, or 0 if its centre is outside or almost: then edges are near.
static double circle_of(const double squares[3]) {
  double a = squares[0], b = squares[1], c = squares[2], skew = a + b - c;
  double longest = fmax(fmax(a, b), c), area16 = 4 * a * b - skew * skew;
  if (!(longest < 0.92 * (a + b + c - longest)) || !(area16 > 0)) return 0;
  return sqrt(a * b * c / area16);
}

double flo_sampler_least_gap(const FloMeshSampler *sampler, size_t triangle) {
  const bool is_at_rest = flo_rows_are_centre((const FloRowState *)sampler->rest_rows.data + triangle);
  const bool is_present = flo_rows_are_centre((const FloRowState *)sampler->rows.data + triangle);
  if (sampler->is_at_rest) return CENTRE_CIRCLE;
  return flo_biased_limit(CENTRE_CIRCLE, CENTRE_TOLERANCE, is_at_rest, is_present);
}

static const FloRows centre = {.count = 1, .n_rows = 3, .layout = FLO_CENTRE_LAYOUT};

static bool has_empty_sides(const FloMeshSampler *sampler, size_t triangle) {
  const uint32_t *sides = flo_topology_sides(&sampler->topology, triangle);
  for (int k = 0; k < 3; ++k)
    if (flo_sampler_edge_steps(sampler, sides[k]) > 1) return false;
  return true;
}

// A triangle without rows and without samples on its sides may be too large for the samples at its corners.
// Then it gets one at its centre, unless a triangle beside it may have one.
static FloRows add_centre(const FloMeshSampler *sampler, size_t triangle, const double squares[3],
                          FloRows rows) {
  if (rows.count && rows.layout != FLO_CENTRE_LAYOUT) return rows;
  if (sampler->has_lonely && ((const uint8_t *)sampler->is_lonely.data)[triangle]) return centre;
  if (!((const uint8_t *)sampler->topology.is_apart.data)[triangle]) return (FloRows){0};
  if (!(circle_of(squares) > flo_sampler_least_gap(sampler, triangle))) return (FloRows){0};
  return has_empty_sides(sampler, triangle) ? centre : (FloRows){0};
}

// ---- At rest and now ----

static bool has_interior(const FloMeshSampler *sampler, size_t triangle) {
  return ((const uint8_t *)sampler->topology.has_interior.data)[triangle];
}

static FloRowState state_of(const FloRows *rows) {
  return (FloRowState){rows->count, rows->n_rows & 0x1fffffff, (unsigned)rows->layout, (float)rows->base};
}

FloRowState flo_sampler_rest_rows(const FloMeshSampler *sampler, size_t triangle) {
  double squares[3];
  if (!has_interior(sampler, triangle)) return (FloRowState){0};
  squares_of(sampler, triangle, squares);
  FloRows rows = add_centre(sampler, triangle, squares, best_rows(squares));
  return state_of(&rows);
}

bool flo_sampler_is_triangle_bare(const FloMeshSampler *sampler, size_t triangle) {
  const FloRowState *rest = (const FloRowState *)sampler->rest_rows.data + triangle;
  const FloRowState *present = (const FloRowState *)sampler->rows.data + triangle;
  if (!has_interior(sampler, triangle)) return !present->count;
  if (rest->count || present->count || sampler->rule == FLO_RESAMPLE_BY_SUBDIVISION) return false;
  if (sampler->has_lonely && ((const uint8_t *)sampler->is_lonely.data)[triangle]) return false;
  double squares[3];
  squares_of(sampler, triangle, squares);
  const double a = squares[0], b = squares[1], c = squares[2];
  // No row has room if one side is short, and the circle through the corners is small if all are.
  const double row = 1 + rows_rule.surplus, side = 1.7 * CENTRE_CIRCLE;
  if (a < side * side && b < side * side && c < side * side) return true;
  if (!(a < row * row || b < row * row || c < row * row)) return false;
  return !((const uint8_t *)sampler->topology.is_apart.data)[triangle] ||
         !(circle_of(squares) > CENTRE_CIRCLE);
}

static bool may_stay(const FloMeshSampler *sampler, size_t triangle, const double squares[3]) {
  if (sampler->rule == FLO_RESAMPLE_BY_DENSITY)
    return !flo_sampler_is_due(sampler, flo_sampler_first_triangle(sampler) + triangle);
  return do_rows_fit((const FloRowState *)sampler->rows.data + triangle, squares, rows_rule.tolerance);
}

FloRows flo_sampler_rows(const FloMeshSampler *sampler, size_t triangle) {
  const FloRowState *rest = (const FloRowState *)sampler->rest_rows.data + triangle;
  const FloRowState *present = (const FloRowState *)sampler->rows.data + triangle;
  const size_t primitive = flo_sampler_first_triangle(sampler) + triangle;
  double squares[3];
  FloRows rows;
  if (!flo_sampler_is_wanted(sampler, primitive) || !has_interior(sampler, triangle)) return (FloRows){0};
  squares_of(sampler, triangle, squares);
  if (sampler->rule == FLO_RESAMPLE_BY_SUBDIVISION) return flo_sampler_seven(squares);
  if (do_rows_fit(rest, squares, FLO_REST_TOLERANCE))
    rows = rows_of_state(rest, (double)rest->base);
  else if (may_stay(sampler, triangle, squares))
    rows = rows_of_state(present, 0);
  else
    rows = best_rows(squares);
  return add_centre(sampler, triangle, squares, rows);
}

// ---- Where they are ----

static FloStatus fill_row(FloMeshSampler *sampler, size_t triangle, const FloRows *rows, uint32_t row,
                          FloGainFn gain, FloError *error) {
  const uint32_t n = flo_steps_of(row_width(rows->base, row, rows->n_rows), rows_rule.surplus);
  const double number = (double)(flo_sampler_first_triangle(sampler) + FLO_LAYOUTS * triangle) + rows->layout;
  const double apex = (double)row / (double)rows->n_rows;
  for (uint32_t k = 1; k < n; ++k) {
    double weights[3], along = (double)k / (double)n;
    weights[rows->layout] = (1 - apex) * (1 - along), weights[(rows->layout + 1) % 3] = (1 - apex) * along;
    weights[(rows->layout + 2) % 3] = apex;
    FLO_TRY(gain(sampler, number, weights[1], weights[2], error));
  }
  return FLO_OK;
}

FloStatus flo_sampler_fill_rows(FloMeshSampler *sampler, size_t triangle, const FloRows *rows, FloGainFn gain,
                                FloError *error) {
  const double number = (double)(flo_sampler_first_triangle(sampler) + FLO_LAYOUTS * triangle) + rows->layout;
  if (rows->count == 0) return FLO_OK;
  if (sampler->rule == FLO_RESAMPLE_BY_SUBDIVISION)
    return flo_sampler_fill_seven(sampler, number, rows->n_rows, gain, error);
  if (rows->layout == FLO_CENTRE_LAYOUT) return gain(sampler, number, 1.0 / 3, 1.0 / 3, error);
  for (uint32_t row = 1; row < rows->n_rows; ++row) {
    if (flo_steps_of(row_width(rows->base, row, rows->n_rows), rows_rule.surplus) < 2) break;
    FLO_TRY(fill_row(sampler, triangle, rows, row, gain, error));
  }
  return FLO_OK;
}
