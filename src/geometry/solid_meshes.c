// Solids with flat faces, and the checks that all generators share.
#include "geometry/solid_meshes.h"

#include "base/vecmath.h"

// ---- Checks ----

// Limits beyond which squares and quotients of lengths lose their precision.
static const double shortest_length = 1e-9, longest_length = 1e9;

FloStatus flo_lengths_check(const char *shape, const FloNamedLength *lengths, size_t n, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    double value = lengths[k].value;
    if (!(value > 0) || !isfinite(value))
      return flo_fail(error, FLO_BAD_INPUT, "%s: the %s must be a positive length, got %g m", shape,
                      lengths[k].name, value);
    if (value < shortest_length || value > longest_length)
      return flo_fail(error, FLO_BAD_INPUT, "%s: the %s must be between %g m and %g m, got %g m", shape,
                      lengths[k].name, shortest_length, longest_length, value);
  }
  return FLO_OK;
}

FloStatus flo_fineness_check(const char *shape, double fineness, FloError *error) {
  if (fineness > 0 && isfinite(fineness)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: the fineness must be a positive length, got %g m", shape,
                  fineness);
}

static FloStatus check_size(const char *shape, const double size[3], double fineness, FloError *error) {
  const FloNamedLength lengths[] = {
      {"size along x", size[0]}, {"size along y", size[1]}, {"size along z", size[2]}};
  FLO_TRY(flo_lengths_check(shape, lengths, FLO_COUNT_OF(lengths), error));
  return flo_fineness_check(shape, fineness, error);
}

// ---- Polyhedra ----

typedef struct Polyhedron {
  const double (*vertices)[3];
  size_t n_vertices;
  const uint32_t (*triangles)[3];
  size_t n_triangles;
  bool is_turned_inwards;
} Polyhedron;

static FloStatus add_polyhedron(const Polyhedron *body, FloMesh *mesh, FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (size_t k = 0; k < body->n_vertices; ++k)
    FLO_TRY(flo_mesh_add_vertex(mesh, body->vertices[k], NULL, error));
  for (size_t k = 0; k < body->n_triangles; ++k) {
    const uint32_t *t = body->triangles[k];
    uint32_t b = t[body->is_turned_inwards ? 2 : 1], c = t[body->is_turned_inwards ? 1 : 2];
    FLO_TRY(flo_mesh_add_triangle(mesh, first + t[0], first + b, first + c, error));
  }
  return FLO_OK;
}

// Corner k of a box lies at the high end of x, y, z where bits 0, 1, 2 of k are set. The top comes last, so
// that it can be left out.
static const uint32_t box_triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4},
                                              {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2},
                                              {1, 3, 7}, {1, 7, 5}, {4, 5, 7}, {4, 7, 6}};
enum { N_BOX_TRIANGLES = 12, N_OPEN_BOX_TRIANGLES = 10 };

static void box_corners(const double low[3], const double high[3], double corners[8][3]) {
  for (int k = 0; k < 8; ++k)
    for (int axis = 0; axis < 3; ++axis) corners[k][axis] = k >> axis & 1 ? high[axis] : low[axis];
}

static FloStatus add_box(const double low[3], const double high[3], bool is_turned_inwards, FloMesh *mesh,
                         FloError *error) {
  double corners[8][3];
  box_corners(low, high, corners);
  const Polyhedron box = {(const double(*)[3])corners, 8, box_triangles, N_BOX_TRIANGLES, is_turned_inwards};
  return add_polyhedron(&box, mesh, error);
}

FloStatus flo_mesh_box(const double size[3], double fineness, FloMesh *mesh, FloError *error) {
  FLO_TRY(check_size("box", size, fineness, error));
  double low[3], high[3];
  vec_scale(size, -0.5, low);
  vec_scale(size, 0.5, high);
  return add_box(low, high, false, mesh, error);
}

FloStatus flo_mesh_plane(double size_x, double size_y, double thickness, double fineness, FloMesh *mesh,
                         FloError *error) {
  FLO_TRY(check_size("plane", (const double[3]){size_x, size_y, thickness}, fineness, error));
  const double low[3] = {-size_x / 2, -size_y / 2, -thickness}, high[3] = {size_x / 2, size_y / 2, 0};
  return add_box(low, high, false, mesh, error);
}

FloStatus flo_mesh_ramp(double length, double width, double height, double fineness, FloMesh *mesh,
                        FloError *error) {
  FLO_TRY(check_size("ramp", (const double[3]){length, width, height}, fineness, error));
  static const uint32_t triangles[][3] = {{0, 2, 3}, {0, 3, 1}, {0, 1, 4}, {2, 5, 3},
                                          {1, 3, 5}, {1, 5, 4}, {0, 4, 5}, {0, 5, 2}};
  const double x = length / 2, y = width / 2, z = height / 2;
  const double vertices[][3] = {{-x, -y, -z}, {x, -y, -z}, {-x, y, -z}, {x, y, -z}, {x, -y, z}, {x, y, z}};
  const Polyhedron ramp = {vertices, FLO_COUNT_OF(vertices), triangles, FLO_COUNT_OF(triangles), false};
  return add_polyhedron(&ramp, mesh, error);
}

FloStatus flo_mesh_wedge(const double size[3], double fineness, FloMesh *mesh, FloError *error) {
  FLO_TRY(check_size("wedge", size, fineness, error));
  static const uint32_t triangles[][3] = {{0, 2, 3}, {0, 3, 1}, {0, 1, 4}, {2, 5, 3},
                                          {1, 3, 5}, {1, 5, 4}, {0, 4, 5}, {0, 5, 2}};
  const double x = size[0] / 2, y = size[1] / 2, z = size[2] / 2;
  const double vertices[][3] = {{-x, -y, -z}, {x, -y, -z}, {-x, y, -z}, {x, y, -z}, {0, -y, z}, {0, y, z}};
  const Polyhedron wedge = {vertices, FLO_COUNT_OF(vertices), triangles, FLO_COUNT_OF(triangles), false};
  return add_polyhedron(&wedge, mesh, error);
}

// ---- Tank ----

// With z up: corners 0 to 7 of the outer box, 8 to 15 of the inner one.
static FloStatus add_open_tank(const double (*corners)[3], FloMesh *mesh, FloError *error) {
  static const uint32_t rim[4] = {4, 5, 7, 6};
  uint32_t first = (uint32_t)mesh->n_vertices;
  const Polyhedron outside = {corners, 8, box_triangles, N_OPEN_BOX_TRIANGLES, false};
  const Polyhedron inside = {corners + 8, 8, box_triangles, N_OPEN_BOX_TRIANGLES, true};
  FLO_TRY(add_polyhedron(&outside, mesh, error));
  FLO_TRY(add_polyhedron(&inside, mesh, error));
  for (int k = 0; k < 4; ++k) {
    uint32_t a = first + rim[k], b = first + rim[(k + 1) % 4];
    FLO_TRY(flo_mesh_add_triangle(mesh, a, b, b + 8, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, a, b + 8, a + 8, error));
  }
  return FLO_OK;
}

// Permutes the axes cyclically so that z becomes `up` and the orientation stays.
static void turn_upwards(FloMesh *mesh, size_t first, int up) {
  for (size_t k = first; k < mesh->n_vertices; ++k) {
    double *p = flo_mesh_vertex(mesh, k), turned[3];
    for (int axis = 0; axis < 3; ++axis) turned[(axis + up + 1) % 3] = p[axis];
    vec_copy(turned, p);
  }
}

FloStatus flo_mesh_tank(const double size[3], double wall, int up, bool is_closed, double fineness,
                        FloMesh *mesh, FloError *error) {
  FLO_TRY(check_size("tank", size, fineness, error));
  FLO_TRY(flo_lengths_check("tank", &(const FloNamedLength){"wall thickness", wall}, 1, error));
  if (up < 0 || up > 2)
    return flo_fail(error, FLO_BAD_INPUT, "tank: the axis that is up must be 0, 1 or 2, got %d", up);
  double inner[3], outer[3], low[3], corners[16][3];
  for (int axis = 0; axis < 3; ++axis) {
    inner[axis] = size[(axis + up + 1) % 3] / 2;
    outer[axis] = inner[axis] + wall;
  }
  if (!is_closed) outer[2] = inner[2];
  vec_set(low, -outer[0], -outer[1], -inner[2] - wall);
  box_corners(low, outer, corners);
  vec_scale(inner, -1, low);
  box_corners(low, inner, corners + 8);
  size_t first = mesh->n_vertices;
  if (is_closed) {
    FLO_TRY(add_box(corners[0], corners[7], false, mesh, error));
    FLO_TRY(add_box(corners[8], corners[15], true, mesh, error));
  } else {
    FLO_TRY(add_open_tank((const double(*)[3])corners, mesh, error));
  }
  turn_upwards(mesh, first, up);
  return FLO_OK;
}

// ---- Height field ----

typedef struct HeightField {
  size_t n_x, n_y;
  const double *heights;
  double size_x, size_y;
} HeightField;

static FloStatus check_heights(const HeightField *field, double depth, double *floor_level, FloError *error) {
  if (field->n_x < 2 || field->n_y < 2 || field->n_x > UINT32_MAX / 8 / field->n_y)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "heightfield: it needs at least 2 heights along x and y and at most %u in all, got %zu by %zu",
        UINT32_MAX / 8, field->n_x, field->n_y);
  double lowest = INFINITY;
  for (size_t k = 0; k < field->n_x * field->n_y; ++k) {
    if (!(fabs(field->heights[k]) <= longest_length))
      return flo_fail(error, FLO_BAD_INPUT, "heightfield: height %zu must be within %g m of zero, got %g m",
                      k, longest_length, field->heights[k]);
    lowest = fmin(lowest, field->heights[k]);
  }
  *floor_level = lowest - depth;
  return FLO_OK;
}

static FloStatus add_height_vertex(const HeightField *field, size_t i, size_t j, double z, FloMesh *mesh,
                                   FloError *error) {
  const double x = ((double)i / (double)(field->n_x - 1) - 0.5) * field->size_x;
  const double y = ((double)j / (double)(field->n_y - 1) - 0.5) * field->size_y;
  return flo_mesh_add_vertex(mesh, (const double[3]){x, y, z}, NULL, error);
}

static FloStatus add_top(const HeightField *field, FloMesh *mesh, FloError *error) {
  size_t first = mesh->n_vertices;
  for (size_t j = 0; j < field->n_y; ++j)
    for (size_t i = 0; i < field->n_x; ++i)
      FLO_TRY(add_height_vertex(field, i, j, field->heights[j * field->n_x + i], mesh, error));
  for (size_t j = 0; j + 1 < field->n_y; ++j)
    for (size_t i = 0; i + 1 < field->n_x; ++i) {
      uint32_t a = (uint32_t)(first + j * field->n_x + i), b = a + (uint32_t)field->n_x;
      FLO_TRY(flo_mesh_add_triangle(mesh, a, a + 1, b + 1, error));
      FLO_TRY(flo_mesh_add_triangle(mesh, a, b + 1, b, error));
    }
  return FLO_OK;
}

// Node k of the n around the border, counter-clockwise seen from above.
static void border_node(const HeightField *field, size_t k, size_t *i, size_t *j) {
  size_t x = field->n_x - 1, y = field->n_y - 1;
  if (k < x)
    *i = k, *j = 0;
  else if (k < x + y)
    *i = x, *j = k - x;
  else if (k < 2 * x + y)
    *i = 2 * x + y - k, *j = y;
  else
    *i = 0, *j = 2 * (x + y) - k;
}

// Four walls, and a floor of triangles around its middle.
static FloStatus add_walls_and_floor(const HeightField *field, double floor_level, size_t top, FloMesh *mesh,
                                     FloError *error) {
  size_t n = 2 * (field->n_x - 1 + field->n_y - 1), i, j;
  uint32_t first = (uint32_t)mesh->n_vertices, middle = first + (uint32_t)n;
  for (size_t k = 0; k < n; ++k) {
    border_node(field, k, &i, &j);
    FLO_TRY(add_height_vertex(field, i, j, floor_level, mesh, error));
  }
  FLO_TRY(flo_mesh_add_vertex(mesh, (const double[3]){0, 0, floor_level}, NULL, error));
  for (size_t k = 0; k < n; ++k) {
    border_node(field, k, &i, &j);
    uint32_t a = first + (uint32_t)k, b = first + (uint32_t)((k + 1) % n);
    uint32_t above_a = (uint32_t)(top + j * field->n_x + i);
    border_node(field, (k + 1) % n, &i, &j);
    uint32_t above_b = (uint32_t)(top + j * field->n_x + i);
    FLO_TRY(flo_mesh_add_triangle(mesh, a, b, above_b, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, a, above_b, above_a, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, b, a, middle, error));
  }
  return FLO_OK;
}

FloStatus flo_mesh_heightfield(double size_x, double size_y, size_t n_x, size_t n_y, const double *heights,
                               double depth, double fineness, FloMesh *mesh, FloError *error) {
  const FloNamedLength lengths[] = {{"size along x", size_x}, {"size along y", size_y}, {"depth", depth}};
  const HeightField field = {n_x, n_y, heights, size_x, size_y};
  double floor_level = 0;
  FLO_TRY(flo_lengths_check("heightfield", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("heightfield", fineness, error));
  FLO_TRY(check_heights(&field, depth, &floor_level, error));
  size_t top = mesh->n_vertices;
  FLO_TRY(add_top(&field, mesh, error));
  return add_walls_and_floor(&field, floor_level, top, mesh, error);
}

// ---- Card ----

enum { MAX_CORNER_SIDES = 256, MAX_CARD_OUTLINE = 4 * (MAX_CORNER_SIDES + 1) };

// Adds a point unless it repeats the last one, as happens where two round corners meet.
static void add_outline_point(double (*outline)[2], size_t *n, double x, double y, double tolerance) {
  if (*n && fabs(outline[*n - 1][0] - x) + fabs(outline[*n - 1][1] - y) < tolerance) return;
  outline[*n][0] = x, outline[(*n)++][1] = y;
}

// Counter-clockwise.
static size_t card_outline(double width, double height, double corner, size_t n_sides,
                           double outline[MAX_CARD_OUTLINE][2]) {
  static const double signs[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  const double tolerance = 1e-9 * fmin(width, height);
  size_t n = 0;
  for (int k = 0; k < 4; ++k)
    for (size_t side = 0; side <= n_sides; ++side) {
      double angle = FLO_PI / 2 * (k + (double)side / (double)n_sides);
      double x = signs[k][0] * (width / 2 - corner) + corner * cos(angle);
      double y = signs[k][1] * (height / 2 - corner) + corner * sin(angle);
      add_outline_point(outline, &n, x, y, tolerance);
    }
  bool is_first_repeated =
      fabs(outline[n - 1][0] - outline[0][0]) + fabs(outline[n - 1][1] - outline[0][1]) < tolerance;
  return is_first_repeated ? n - 1 : n;
}

// The outline is convex: its faces are fans around their middles.
static FloStatus add_plate(const double (*outline)[2], size_t n, double thickness, FloMesh *mesh,
                           FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices, middle = first + 2 * (uint32_t)n;
  for (size_t k = 0; k < 2 * n; ++k) {
    const double *p = outline[k / 2];
    FLO_TRY(flo_mesh_add_vertex(mesh, (const double[3]){p[0], p[1], (k % 2 - 0.5) * thickness}, NULL, error));
  }
  for (int side = -1; side <= 1; side += 2)
    FLO_TRY(flo_mesh_add_vertex(mesh, (const double[3]){0, 0, side * thickness / 2}, NULL, error));
  for (size_t k = 0; k < n; ++k) {
    uint32_t a = first + 2 * (uint32_t)k, b = first + 2 * (uint32_t)((k + 1) % n);
    FLO_TRY(flo_mesh_add_triangle(mesh, a, b, b + 1, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, a, b + 1, a + 1, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, b, a, middle, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, a + 1, b + 1, middle + 1, error));
  }
  return FLO_OK;
}

FloStatus flo_mesh_card(double width, double height, double thickness, double corner, double fineness,
                        FloMesh *mesh, FloError *error) {
  FLO_TRY(check_size("card", (const double[3]){width, height, thickness}, fineness, error));
  if (!(corner >= 0) || corner > fmin(width, height) / 2)
    return flo_fail(error, FLO_BAD_INPUT,
                    "card: the corner radius must be between 0 and half the shorter edge, %g m, got %g m",
                    fmin(width, height) / 2, corner);
  double outline[MAX_CARD_OUTLINE][2];
  double n_sides = fmin(fmax(ceil(FLO_PI / 2 * corner / fineness), 3), MAX_CORNER_SIDES);
  size_t n = card_outline(width, height, corner, (size_t)n_sides, outline);
  return add_plate((const double(*)[2])outline, n, thickness, mesh, error);
}
