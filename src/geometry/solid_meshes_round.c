// Round solids. Those with an axis are made ring by ring, as on a lathe. Spheres and rounded boxes are
// inflated boxes.
#include "geometry/solid_meshes.h"

#include "base/vecmath.h"

static const double most_triangles = 150000; // on curved parts; those of flat ends are added to it
enum { LEAST_SIDES = 12 };

// Limits the fineness so that a surface of `around` by `along` has no more than the allowed number of
// triangles, with at least LEAST_SIDES in each direction.
static double bounded_fineness(double fineness, double around, double along) {
  double by_area = sqrt(2 * around * along / most_triangles);
  double by_length = 2 * LEAST_SIDES * fmax(around, along) / most_triangles;
  return fmax(fineness, fmax(by_area, by_length));
}

// Multiples of four, so that a ring touches its bounding box.
static size_t sides_of_circle(double radius, double fineness, size_t least) {
  size_t n = 4 * (size_t)ceil(2 * FLO_PI * radius / fineness / 4);
  return flo_max_size(n, least);
}

static size_t steps_along(double length, double fineness) {
  return flo_max_size((size_t)ceil(length / fineness), 1);
}

// ---- The lathe ----

// A profile runs upwards on its outside. Rings are circles, or stadiums if they are stretched along x.
typedef struct Lathe {
  FloMesh *mesh;
  double stretch;     // straight part of each long side
  size_t n_stretched; // edges along it
  FloMeshRing start, last;
  bool has_ring;
} Lathe;

// Point k of a ring with n_round sides in its round parts. The ring starts at the lowest y of the round end
// at high x. Its second half is the first one rotated by half a turn.
static void ring_point(const Lathe *lathe, double radius, size_t n_round, size_t k, double point[3]) {
  size_t n_half = n_round / 2 + lathe->n_stretched, in_half = k % n_half;
  double sign = k < n_half ? 1 : -1;
  if (in_half <= n_round / 2) {
    double angle = FLO_PI * ((double)in_half / (double)(n_round / 2) - 0.5);
    point[0] = sign * (lathe->stretch / 2 + radius * cos(angle));
    point[1] = sign * radius * sin(angle);
  } else {
    double fraction = (double)(in_half - n_round / 2) / (double)lathe->n_stretched;
    point[0] = sign * lathe->stretch * (0.5 - fraction);
    point[1] = sign * radius;
  }
}

FloStatus flo_mesh_stitch_rings(FloMesh *mesh, FloMeshRing low, FloMeshRing high, FloError *error) {
  uint64_t n_low = low.n > 1 ? low.n : 0, n_high = high.n > 1 ? high.n : 0, i = 0, j = 0;
  while (i < n_low || j < n_high) {
    uint32_t a = low.first + (uint32_t)(i % low.n), b = high.first + (uint32_t)(j % high.n);
    uint64_t next_low = (2 * i + 1 + low.half_steps) * n_high,
             next_high = (2 * j + 1 + high.half_steps) * n_low;
    if (j == n_high || (i < n_low && next_low <= next_high)) {
      FLO_TRY(flo_mesh_add_triangle(mesh, a, low.first + (uint32_t)(++i % low.n), b, error));
    } else {
      FLO_TRY(flo_mesh_add_triangle(mesh, a, high.first + (uint32_t)(++j % high.n), b, error));
    }
  }
  return FLO_OK;
}

static FloStatus join_ring(Lathe *lathe, FloMeshRing ring, FloError *error) {
  if (lathe->has_ring)
    FLO_TRY(flo_mesh_stitch_rings(lathe->mesh, lathe->last, ring, error));
  else
    lathe->start = ring;
  lathe->last = ring, lathe->has_ring = true;
  return FLO_OK;
}

static FloStatus add_ring(Lathe *lathe, double radius, double z, size_t n_round, FloError *error) {
  const FloMeshRing ring = {(uint32_t)lathe->mesh->n_vertices, (uint32_t)(n_round + 2 * lathe->n_stretched),
                            0};
  for (size_t k = 0; k < ring.n; ++k) {
    double point[3] = {0, 0, z};
    ring_point(lathe, radius, n_round, k, point);
    FLO_TRY(flo_mesh_add_vertex(lathe->mesh, point, NULL, error));
  }
  return join_ring(lathe, ring, error);
}

static FloStatus add_pole(Lathe *lathe, double z, FloError *error) {
  uint32_t index;
  FLO_TRY(flo_mesh_add_vertex(lathe->mesh, (const double[3]){0, 0, z}, &index, error));
  return join_ring(lathe, (FloMeshRing){index, 1, 0}, error);
}

// Adds rings between two circles, without the circles themselves.
static FloStatus add_between(Lathe *lathe, const double from[2], const double to[2], double fineness,
                             FloError *error) {
  size_t n = steps_along(hypot(to[0] - from[0], to[1] - from[1]), fineness);
  for (size_t k = 1; k < n; ++k) {
    double s = (double)k / (double)n, radius = from[0] + s * (to[0] - from[0]),
           z = from[1] + s * (to[1] - from[1]);
    FLO_TRY(add_ring(lathe, radius, z, sides_of_circle(radius, fineness, LEAST_SIDES), error));
  }
  return FLO_OK;
}

// Adds rings from a circle that exists already to another one or to a pole.
static FloStatus add_slope(Lathe *lathe, const double from[2], const double to[2], double fineness,
                           FloError *error) {
  FLO_TRY(add_between(lathe, from, to, fineness, error));
  if (to[0] <= 0) return add_pole(lathe, to[1], error);
  return add_ring(lathe, to[0], to[1], sides_of_circle(to[0], fineness, LEAST_SIDES), error);
}

// ---- Flat ends ----

enum { MAX_DISC_RINGS = 32, INNERMOST_SIDES = 8 };

typedef struct DiscRing {
  double radius;
  size_t n;
} DiscRing;

// Each ring has half the sides of the one around it. A fine rim then needs few triangles, and none is thin.
static size_t disc_rings(double radius, size_t n, DiscRing rings[MAX_DISC_RINGS]) {
  size_t n_rings = 0;
  rings[n_rings++] = (DiscRing){radius, n};
  while (n > INNERMOST_SIDES && n_rings < MAX_DISC_RINGS) {
    radius *= 1 - 1.2 * 2 * FLO_PI / (double)n;
    n = flo_max_size(4 * ((n + 7) / 8), INNERMOST_SIDES);
    rings[n_rings++] = (DiscRing){radius, n};
  }
  return n_rings;
}

// Adds a disc from its middle to its rim.
static FloStatus add_bottom(Lathe *lathe, double radius, double z, double fineness, FloError *error) {
  DiscRing rings[MAX_DISC_RINGS];
  size_t n = disc_rings(radius, sides_of_circle(radius, fineness, LEAST_SIDES), rings);
  FLO_TRY(add_pole(lathe, z, error));
  while (n-- > 0) FLO_TRY(add_ring(lathe, rings[n].radius, z, rings[n].n, error));
  return FLO_OK;
}

// Adds a disc from its rim, which exists already, to its middle.
static FloStatus add_top(Lathe *lathe, double radius, double z, double fineness, FloError *error) {
  DiscRing rings[MAX_DISC_RINGS];
  size_t n = disc_rings(radius, sides_of_circle(radius, fineness, LEAST_SIDES), rings);
  for (size_t k = 1; k < n; ++k) FLO_TRY(add_ring(lathe, rings[k].radius, z, rings[k].n, error));
  return add_pole(lathe, z, error);
}

// ---- Shapes with an axis ----

static FloStatus turn_cone(double base, double top, double length, double fineness, FloMesh *mesh,
                           FloError *error) {
  Lathe lathe = {.mesh = mesh};
  double slant = hypot(length, base - top);
  fineness = bounded_fineness(fineness, 2 * FLO_PI * fmax(base, top), slant);
  FLO_TRY(add_bottom(&lathe, base, -length / 2, fineness, error));
  FLO_TRY(add_slope(&lathe, (const double[2]){base, -length / 2}, (const double[2]){top, length / 2},
                    fineness, error));
  return top > 0 ? add_top(&lathe, top, length / 2, fineness, error) : FLO_OK;
}

FloStatus flo_mesh_cylinder(double radius, double length, double fineness, FloMesh *mesh, FloError *error) {
  const FloNamedLength lengths[] = {{"radius", radius}, {"length", length}};
  FLO_TRY(flo_lengths_check("cylinder", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("cylinder", fineness, error));
  return turn_cone(radius, radius, length, fineness, mesh, error);
}

FloStatus flo_mesh_cone(double base_radius, double top_radius, double length, double fineness, FloMesh *mesh,
                        FloError *error) {
  const FloNamedLength lengths[] = {
      {"base radius", base_radius}, {"length", length}, {"top radius", top_radius}};
  bool is_pointed = top_radius == 0;
  FLO_TRY(flo_lengths_check("cone", lengths, is_pointed ? 2 : 3, error));
  FLO_TRY(flo_fineness_check("cone", fineness, error));
  return turn_cone(base_radius, top_radius, length, fineness, mesh, error);
}

// Adds the rings of one cap without the equator; `is_up` tells whether they lead to the pole or from it.
static FloStatus add_dome(Lathe *lathe, double radius, double equator, bool is_up, double fineness,
                          FloError *error) {
  size_t n = flo_max_size(steps_along(FLO_PI / 2 * radius, fineness), LEAST_SIDES / 4);
  if (!is_up) FLO_TRY(add_pole(lathe, equator - radius, error));
  for (size_t k = 1; k < n; ++k) {
    double angle = FLO_PI / 2 * (double)(is_up ? k : n - k) / (double)n;
    double ring = radius * cos(angle), z = equator + (is_up ? 1 : -1) * radius * sin(angle);
    FLO_TRY(add_ring(lathe, ring, z, sides_of_circle(ring, fineness, INNERMOST_SIDES), error));
  }
  return is_up ? add_pole(lathe, equator + radius, error) : FLO_OK;
}

FloStatus flo_mesh_capsule(double radius, double length, double fineness, FloMesh *mesh, FloError *error) {
  const FloNamedLength lengths[] = {{"radius", radius}, {"length", length}};
  FLO_TRY(flo_lengths_check("capsule", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("capsule", fineness, error));
  Lathe lathe = {.mesh = mesh};
  const double low[2] = {radius, -length / 2}, high[2] = {radius, length / 2};
  fineness = bounded_fineness(fineness, 2 * FLO_PI * radius, length + FLO_PI * radius);
  FLO_TRY(add_dome(&lathe, radius, low[1], false, fineness, error));
  FLO_TRY(add_ring(&lathe, radius, low[1], sides_of_circle(radius, fineness, LEAST_SIDES), error));
  FLO_TRY(add_slope(&lathe, low, high, fineness, error));
  return add_dome(&lathe, radius, high[1], true, fineness, error);
}

FloStatus flo_mesh_torus(double ring_radius, double tube_radius, double fineness, FloMesh *mesh,
                         FloError *error) {
  const FloNamedLength lengths[] = {{"ring radius", ring_radius}, {"tube radius", tube_radius}};
  FLO_TRY(flo_lengths_check("torus", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("torus", fineness, error));
  if (tube_radius >= ring_radius)
    return flo_fail(error, FLO_BAD_INPUT,
                    "torus: the tube radius, %g m, must be less than the ring radius, %g m", tube_radius,
                    ring_radius);
  Lathe lathe = {.mesh = mesh};
  fineness = bounded_fineness(fineness, 2 * FLO_PI * (ring_radius + tube_radius), 2 * FLO_PI * tube_radius);
  size_t n = sides_of_circle(tube_radius, fineness, LEAST_SIDES);
  for (size_t k = 0; k < n; ++k) {
    double angle = 2 * FLO_PI * (double)k / (double)n, radius = ring_radius + tube_radius * cos(angle);
    size_t n_round = sides_of_circle(radius, fineness, LEAST_SIDES);
    FLO_TRY(add_ring(&lathe, radius, tube_radius * sin(angle), n_round, error));
  }
  return flo_mesh_stitch_rings(mesh, lathe.last, lathe.start, error);
}

FloStatus flo_mesh_tube(double outer_radius, double inner_radius, double length, double fineness,
                        FloMesh *mesh, FloError *error) {
  const FloNamedLength lengths[] = {
      {"outer radius", outer_radius}, {"inner radius", inner_radius}, {"length", length}};
  FLO_TRY(flo_lengths_check("tube", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("tube", fineness, error));
  if (inner_radius >= outer_radius)
    return flo_fail(error, FLO_BAD_INPUT,
                    "tube: the inner radius, %g m, must be less than the outer radius, %g m", inner_radius,
                    outer_radius);
  Lathe lathe = {.mesh = mesh};
  const double z = length / 2, r = inner_radius, R = outer_radius;
  const double corners[4][2] = {{R, -z}, {R, z}, {r, z}, {r, -z}};
  fineness = bounded_fineness(fineness, 4 * FLO_PI * R, length + R - r);
  FLO_TRY(add_ring(&lathe, R, -z, sides_of_circle(R, fineness, LEAST_SIDES), error));
  for (int k = 0; k < 3; ++k) FLO_TRY(add_slope(&lathe, corners[k], corners[k + 1], fineness, error));
  FLO_TRY(add_between(&lathe, corners[3], corners[0], fineness, error));
  return flo_mesh_stitch_rings(mesh, lathe.last, lathe.start, error);
}

static FloStatus check_link(double length, double width, double wire_radius, double fineness,
                            FloError *error) {
  const FloNamedLength lengths[] = {{"length", length}, {"width", width}, {"wire radius", wire_radius}};
  FLO_TRY(flo_lengths_check("link", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("link", fineness, error));
  if (length < width)
    return flo_fail(error, FLO_BAD_INPUT, "link: the length, %g m, must not be less than the width, %g m",
                    length, width);
  if (wire_radius >= width / 4)
    return flo_fail(error, FLO_BAD_INPUT,
                    "link: the wire radius must be less than a quarter of the width, %g m, got %g m",
                    width / 4, wire_radius);
  return FLO_OK;
}

FloStatus flo_mesh_link(double length, double width, double wire_radius, double fineness, FloMesh *mesh,
                        FloError *error) {
  FLO_TRY(check_link(length, width, wire_radius, fineness, error));
  double bend = width / 2 - wire_radius, straight = length - width;
  double around = FLO_PI * width + 2 * straight;
  fineness = bounded_fineness(fineness, around, 2 * FLO_PI * wire_radius);
  Lathe lathe = {.mesh = mesh};
  // A straight part much shorter than the bends would make very thin triangles.
  if (straight > 1e-9 * width) lathe.stretch = straight, lathe.n_stretched = steps_along(straight, fineness);
  size_t n_round = sides_of_circle(width / 2, fineness, LEAST_SIDES);
  size_t n = sides_of_circle(wire_radius, fineness, LEAST_SIDES);
  for (size_t k = 0; k < n; ++k) {
    double angle = 2 * FLO_PI * (double)k / (double)n;
    FLO_TRY(add_ring(&lathe, bend + wire_radius * cos(angle), wire_radius * sin(angle), n_round, error));
  }
  return flo_mesh_stitch_rings(mesh, lathe.last, lathe.start, error);
}

// ---- Inflated boxes ----

enum { MAX_ROUND_CELLS = 56, MAX_FLAT_CELLS = 16 };

// The surface of a lattice of cells. Along each axis some cells make the rounding at the low end, some the
// flat part, some the rounding at the high end.
typedef struct InflatedBox {
  double half[3], radius;
  size_t n_round;   // cells of the rounding at either end
  size_t n_flat[3]; // none if the roundings meet
  size_t n[3];      // all cells
  uint32_t first;   // vertex
} InflatedBox;

// Equal steps of the tangent's angle make cells of nearly equal size on a sphere (Ronchi, Iacono, Paolucci
// 1996).
static void inflated_axis(const InflatedBox *box, int axis, size_t index, double *direction, double *middle) {
  size_t n = box->n_round, n_flat = box->n_flat[axis];
  double flat = box->half[axis] - box->radius;
  double past_low = fmin((double)index - (double)n, 0),
         past_high = fmax((double)index - (double)(n + n_flat), 0);
  *direction = tan(FLO_PI / 4 * (past_low + past_high) / (double)n);
  if (index <= n)
    *middle = -flat;
  else if (index >= n + n_flat)
    *middle = flat;
  else
    *middle = flat * (2 * (double)(index - n) / (double)n_flat - 1);
  if (!n_flat) *middle = 0;
}

static void inflated_point(const InflatedBox *box, const size_t index[3], double point[3]) {
  double direction[3], middle[3];
  for (int axis = 0; axis < 3; ++axis) inflated_axis(box, axis, index[axis], &direction[axis], &middle[axis]);
  vec_add_scaled(middle, direction, box->radius / vec_length(direction), point);
}

// Layers along z: the lowest and the highest are full, the others are rings around the border.
static uint32_t lattice_vertex(const InflatedBox *box, const size_t index[3]) {
  size_t x = box->n[0], y = box->n[1], i = index[0], j = index[1], k = index[2];
  size_t full = (x + 1) * (y + 1), ring = 2 * (x + y);
  size_t before = k == 0 ? 0 : full + (k - 1) * ring, in_layer;
  if (k == 0 || k == box->n[2])
    in_layer = j * (x + 1) + i;
  else if (j == 0)
    in_layer = i;
  else if (i == x)
    in_layer = x + j;
  else if (j == y)
    in_layer = 2 * x + y - i;
  else
    in_layer = ring - j;
  return box->first + (uint32_t)(before + in_layer);
}

static bool is_on_lattice_surface(const InflatedBox *box, const size_t index[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (index[axis] == 0 || index[axis] == box->n[axis]) return true;
  return false;
}

// In the order of lattice_vertex: full layers by rows, rings around.
static FloStatus add_lattice_layer(const InflatedBox *box, size_t k, FloMesh *mesh, FloError *error) {
  bool is_full = k == 0 || k == box->n[2];
  size_t x = box->n[0], y = box->n[1], n = is_full ? (x + 1) * (y + 1) : 2 * (x + y);
  for (size_t at = 0; at < n; ++at) {
    size_t index[3] = {at % (x + 1), at / (x + 1), k};
    if (!is_full) {
      index[0] = at < x ? at : at < x + y ? x : at < 2 * x + y ? 2 * x + y - at : 0;
      index[1] = at < x ? 0 : at < x + y ? at - x : at < 2 * x + y ? y : 2 * (x + y) - at;
    }
    double point[3];
    FLO_ASSERT(is_on_lattice_surface(box, index) && lattice_vertex(box, index) == mesh->n_vertices);
    inflated_point(box, index, point);
    FLO_TRY(flo_mesh_add_vertex(mesh, point, NULL, error));
  }
  return FLO_OK;
}

static double squared_distance(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double difference[3];
  vec_sub(flo_mesh_vertex(mesh, a), flo_mesh_vertex(mesh, b), difference);
  return vec_dot(difference, difference);
}

// Cut along the shorter diagonal.
static FloStatus add_quad(FloMesh *mesh, const uint32_t q[4], FloError *error) {
  int cut = squared_distance(mesh, q[1], q[3]) < squared_distance(mesh, q[0], q[2]);
  FLO_TRY(flo_mesh_add_triangle(mesh, q[cut], q[cut + 1], q[cut + 2], error));
  return flo_mesh_add_triangle(mesh, q[cut], q[cut + 2], q[(cut + 3) % 4], error);
}

static FloStatus add_lattice_face(const InflatedBox *box, int axis, bool is_high, FloMesh *mesh,
                                  FloError *error) {
  int across = (axis + 1) % 3, along = (axis + 2) % 3;
  for (size_t j = 0; j < box->n[along]; ++j)
    for (size_t i = 0; i < box->n[across]; ++i) {
      uint32_t corners[4];
      for (int c = 0; c < 4; ++c) {
        int turn = is_high ? c : 3 - c;
        size_t index[3];
        index[axis] = is_high ? box->n[axis] : 0;
        index[across] = i + (turn == 1 || turn == 2);
        index[along] = j + (turn >= 2);
        corners[c] = lattice_vertex(box, index);
      }
      FLO_TRY(add_quad(mesh, corners, error));
    }
  return FLO_OK;
}

static FloStatus inflate_box(const double size[3], double radius, double fineness, FloMesh *mesh,
                             FloError *error) {
  InflatedBox box = {.radius = radius, .first = (uint32_t)mesh->n_vertices};
  box.n_round = (size_t)fmin(fmax(ceil(2 * FLO_PI * radius / fineness / 8), 2), MAX_ROUND_CELLS);
  for (int axis = 0; axis < 3; ++axis) {
    double flat = size[axis] - 2 * radius;
    box.half[axis] = size[axis] / 2;
    if (flat > 1e-9 * size[axis])
      box.n_flat[axis] = (size_t)fmin(fmax(ceil(flat / fineness), 1), MAX_FLAT_CELLS);
    box.n[axis] = 2 * box.n_round + box.n_flat[axis];
  }
  for (size_t k = 0; k <= box.n[2]; ++k) FLO_TRY(add_lattice_layer(&box, k, mesh, error));
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) FLO_TRY(add_lattice_face(&box, axis, side, mesh, error));
  return FLO_OK;
}

FloStatus flo_mesh_sphere(double radius, double fineness, FloMesh *mesh, FloError *error) {
  FLO_TRY(flo_lengths_check("sphere", &(const FloNamedLength){"radius", radius}, 1, error));
  FLO_TRY(flo_fineness_check("sphere", fineness, error));
  return inflate_box((const double[3]){2 * radius, 2 * radius, 2 * radius}, radius, fineness, mesh, error);
}

FloStatus flo_mesh_rounded_box(const double size[3], double radius, double fineness, FloMesh *mesh,
                               FloError *error) {
  const FloNamedLength lengths[] = {
      {"size along x", size[0]}, {"size along y", size[1]}, {"size along z", size[2]}, {"radius", radius}};
  FLO_TRY(flo_lengths_check("rounded box", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("rounded box", fineness, error));
  double shortest = fmin(size[0], fmin(size[1], size[2]));
  if (radius > shortest / 2)
    return flo_fail(error, FLO_BAD_INPUT,
                    "rounded box: the radius must be at most half the shortest edge, %g m, got %g m",
                    shortest / 2, radius);
  return inflate_box(size, radius, fineness, mesh, error);
}
