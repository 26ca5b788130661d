#include "geometry/outline.h"

#include "base/vecmath.h"

#include <math.h>

// ---- Points and sides ----

static const double *point_at(const double *points, size_t k) { return points + 2 * k; }

static bool is_same(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

// Twice the area of a triangle, positive if it runs counter-clockwise. It is 0 also if it is only rounding
// noise.
static double turn(const double a[2], const double b[2], const double c[2]) {
  double ab[2] = {b[0] - a[0], b[1] - a[1]}, ac[2] = {c[0] - a[0], c[1] - a[1]};
  double area = ab[0] * ac[1] - ab[1] * ac[0];
  double size = hypot(ab[0], ab[1]) * hypot(ac[0], ac[1]);
  return fabs(area) <= 1e-12 * size ? 0 : area;
}

double flo_side_squared_distance(const double a[2], const double b[2], const double p[2]) {
  double ab[2] = {b[0] - a[0], b[1] - a[1]}, ap[2] = {p[0] - a[0], p[1] - a[1]};
  double length = ab[0] * ab[0] + ab[1] * ab[1], along = ap[0] * ab[0] + ap[1] * ab[1];
  double t = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
  double d[2] = {ap[0] - t * ab[0], ap[1] - t * ab[1]};
  return d[0] * d[0] + d[1] * d[1];
}

// ---- Measures ----

double flo_outline_area(const double *points, size_t n) {
  double area = 0;
  for (size_t k = 1; k + 1 < n; ++k) {
    const double *a = points, *b = point_at(points, k), *c = point_at(points, k + 1);
    area += (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  }
  return area / 2;
}

double flo_outline_length(const double *points, size_t n) {
  double length = 0;
  for (size_t k = 0; k < n; ++k) {
    const double *a = point_at(points, k), *b = point_at(points, (k + 1) % n);
    length += hypot(b[0] - a[0], b[1] - a[1]);
  }
  return length;
}

void flo_outline_bounds(const double *points, size_t n, double low[2], double high[2]) {
  for (int axis = 0; axis < 2; ++axis) low[axis] = n ? INFINITY : 0, high[axis] = n ? -INFINITY : 0;
  for (size_t k = 0; k < 2 * n; ++k) {
    low[k % 2] = fmin(low[k % 2], points[k]);
    high[k % 2] = fmax(high[k % 2], points[k]);
  }
}

bool flo_side_is_crossed(const double a[2], const double b[2], const double p[2]) {
  if ((a[1] > p[1]) == (b[1] > p[1])) return false;
  return p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
}

// Counts whether a ray along x crosses an odd number of sides. A side owns its lower end but not its upper
// one, so that no corner is counted twice.
bool flo_outline_contains(const double *points, size_t n, const double p[2]) {
  bool is_inside = false;
  for (size_t k = 0; k < n; ++k)
    is_inside ^= flo_side_is_crossed(point_at(points, k), point_at(points, (k + 1) % n), p);
  return is_inside;
}

double flo_outline_distance(const double *points, size_t n, const double p[2]) {
  double nearest = INFINITY;
  for (size_t k = 0; k < n; ++k)
    nearest = fmin(nearest, flo_side_squared_distance(point_at(points, k), point_at(points, (k + 1) % n), p));
  return flo_outline_contains(points, n, p) ? -sqrt(nearest) : sqrt(nearest);
}

// ---- Checks ----

static bool is_between(double a, double b, double x) { return x >= fmin(a, b) && x <= fmax(a, b); }

// Whether p, which is in line with the side, lies on it.
static bool is_on_side(const double a[2], const double b[2], const double p[2]) {
  return is_between(a[0], b[0], p[0]) && is_between(a[1], b[1], p[1]);
}

static bool do_sides_meet(const double a[2], const double b[2], const double c[2], const double d[2]) {
  double abc = turn(a, b, c), abd = turn(a, b, d), cda = turn(c, d, a), cdb = turn(c, d, b);
  if (((abc > 0 && abd < 0) || (abc < 0 && abd > 0)) && ((cda > 0 && cdb < 0) || (cda < 0 && cdb > 0)))
    return true;
  return (abc == 0 && is_on_side(a, b, c)) || (abd == 0 && is_on_side(a, b, d)) ||
         (cda == 0 && is_on_side(c, d, a)) || (cdb == 0 && is_on_side(c, d, b));
}

// Two sides with a corner in common meet elsewhere, too, if one folds back upon the other.
static bool does_fold_back(const double a[2], const double b[2], const double c[2]) {
  double along = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]);
  return turn(b, a, c) == 0 && along > 0;
}

static FloStatus check_sides(const double *points, size_t n, FloError *error) {
  for (size_t k = 0; k < n; ++k)
    if (does_fold_back(point_at(points, k), point_at(points, (k + 1) % n), point_at(points, (k + 2) % n)))
      return flo_fail(error, FLO_BAD_INPUT, "outline: at point %zu it turns back upon itself", (k + 1) % n);
  for (size_t k = 0; k < n; ++k) {
    const double *a = point_at(points, k), *b = point_at(points, (k + 1) % n);
    for (size_t j = k + 2; j < n && !(k == 0 && j == n - 1); ++j)
      if (do_sides_meet(a, b, point_at(points, j), point_at(points, (j + 1) % n)))
        return flo_fail(
            error, FLO_BAD_INPUT,
            "outline: the side behind point %zu crosses or touches the one behind point %zu; points "
            "count from 0 and follow each other around the shape",
            k, j);
  }
  return FLO_OK;
}

static FloStatus check_points(const double *points, size_t n, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    const double *a = point_at(points, k), *b = point_at(points, (k + 1) % n);
    if (!isfinite(a[0]) || !isfinite(a[1]))
      return flo_fail(error, FLO_BAD_INPUT, "outline: point %zu is (%g, %g); it must be finite", k, a[0],
                      a[1]);
    if (is_same(a, b) && k + 1 == n)
      return flo_fail(
          error, FLO_BAD_INPUT,
          "outline: the last point repeats the first; leave it out, outlines close by themselves");
    if (is_same(a, b))
      return flo_fail(error, FLO_BAD_INPUT, "outline: points %zu and %zu are the same; leave one out", k,
                      k + 1);
  }
  return FLO_OK;
}

// Whether all points lie on one line. Other outlines may have no area because parts of it cancel.
static bool is_straight(const double *points, size_t n, double tolerance) {
  for (size_t k = 2; k < n; ++k)
    if (fabs(turn(point_at(points, 0), point_at(points, k - 1), point_at(points, k))) > tolerance)
      return false;
  return true;
}

FloStatus flo_outline_check(const double *points, size_t n, FloError *error) {
  if (!points || n < 3)
    return flo_fail(error, FLO_BAD_INPUT, "outline: it needs at least 3 points, got %zu", points ? n : 0);
  if (n > FLO_OUTLINE_MAX_POINTS)
    return flo_fail(error, FLO_BAD_INPUT, "outline: %zu points are more than %d; leave out every other", n,
                    FLO_OUTLINE_MAX_POINTS);
  FLO_TRY(check_points(points, n, error));
  double low[2], high[2];
  flo_outline_bounds(points, n, low, high);
  double extent = hypot(high[0] - low[0], high[1] - low[1]);
  const double least = 1e-12 * extent * extent;
  if (isfinite(least) && !is_straight(points, n, least)) FLO_TRY(check_sides(points, n, error));
  if (!(fabs(flo_outline_area(points, n)) > least) || !isfinite(least))
    return flo_fail(error, FLO_BAD_INPUT,
                    "outline: the area between its %zu points is %g m2; its points must not lie on a line", n,
                    flo_outline_area(points, n));
  return FLO_OK;
}

// ---- Triangles: ear clipping (Meisters 1975: "Polygons have ears") ----

// A corner of the polygon that remains. `quality` tells how far from degenerate the triangle of the corner
// and its neighbours is. It is negative if cutting the triangle off would cut through the polygon.
typedef struct Corner {
  uint32_t before, after;
  bool blocks; // it is not convex, so it may lie in the ear of another corner
  double quality;
} Corner;

typedef struct Clipping {
  const double *points;
  Corner *corners;
  size_t n;
  int n_searches;
} Clipping;

enum { MAX_SEARCHES = 5 };
#define NONE UINT32_MAX

static bool is_in_triangle(const double a[2], const double b[2], const double c[2], const double p[2]) {
  // Most points are nowhere near.
  for (int axis = 0; axis < 2; ++axis) {
    double low = fmin(fmin(a[axis], b[axis]), c[axis]), high = fmax(fmax(a[axis], b[axis]), c[axis]);
    double margin = 1e-12 * (high - low);
    if (p[axis] < low - margin || p[axis] > high + margin) return false;
  }
  if (is_same(p, a) || is_same(p, b) || is_same(p, c)) return false;
  return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

static double triangle_quality(const double a[2], const double b[2], const double c[2]) {
  double longest = fmax(fmax(hypot(b[0] - a[0], b[1] - a[1]), hypot(c[0] - b[0], c[1] - b[1])),
                        hypot(a[0] - c[0], a[1] - c[1]));
  return longest > 0 ? turn(a, b, c) / (longest * longest) : 0;
}

// Whether another corner lies in the triangle of this one. If any corner does, one that is not convex does,
// so only those are tested. Straight corners count as not convex, and the border counts as inside: a cut
// never runs along other corners.
static bool is_in_the_way(const Clipping *clipping, uint32_t corner) {
  const Corner *c = &clipping->corners[corner];
  const double *a = point_at(clipping->points, c->before), *b = point_at(clipping->points, corner),
               *d = point_at(clipping->points, c->after);
  for (uint32_t k = clipping->corners[c->after].after; k != c->before; k = clipping->corners[k].after)
    if (clipping->corners[k].blocks && is_in_triangle(a, b, d, point_at(clipping->points, k))) return true;
  return false;
}

static void classify(Clipping *clipping, uint32_t corner) {
  Corner *c = &clipping->corners[corner];
  c->blocks = turn(point_at(clipping->points, c->before), point_at(clipping->points, corner),
                   point_at(clipping->points, c->after)) <= 0;
}

static void judge(Clipping *clipping, uint32_t corner) {
  Corner *c = &clipping->corners[corner];
  c->quality = -1;
  if (c->blocks || is_in_the_way(clipping, corner)) return;
  c->quality = triangle_quality(point_at(clipping->points, c->before), point_at(clipping->points, corner),
                                point_at(clipping->points, c->after));
}

// The ear that is least thin, or NONE.
static uint32_t find_ear(const Clipping *clipping, uint32_t start) {
  uint32_t best = NONE, k = start;
  double best_quality = 0;
  do {
    const Corner *c = &clipping->corners[k];
    if (c->quality > best_quality) best = k, best_quality = c->quality;
    k = c->after;
  } while (k != start);
  return best;
}

static uint32_t find_most_convex(const Clipping *clipping, uint32_t start) {
  uint32_t best = start, k = start;
  double most = -INFINITY;
  do {
    const Corner *c = &clipping->corners[k];
    double quality = triangle_quality(point_at(clipping->points, c->before), point_at(clipping->points, k),
                                      point_at(clipping->points, c->after));
    if (quality > most) best = k, most = quality;
    k = c->after;
  } while (k != start);
  return best;
}

// Chooses the next ear. Straight corners that have become convex may hide an ear, so the qualities are
// computed anew if none is found. A polygon that crosses itself may have no ear at all; the number of such
// searches is limited.
static uint32_t choose_ear(Clipping *clipping, uint32_t start) {
  uint32_t ear = find_ear(clipping, start), k = start;
  if (ear == NONE && clipping->n_searches++ < MAX_SEARCHES) {
    do judge(clipping, k);
    while ((k = clipping->corners[k].after) != start);
    ear = find_ear(clipping, start);
  }
  return ear == NONE ? find_most_convex(clipping, start) : ear;
}

// Cutting off an ear changes nothing for corners other than its two neighbours.
static void clip(Clipping *clipping, uint32_t ear) {
  Corner *c = &clipping->corners[ear];
  uint32_t before = c->before, after = c->after;
  clipping->corners[before].after = after;
  clipping->corners[after].before = before;
  classify(clipping, before);
  classify(clipping, after);
  judge(clipping, before);
  judge(clipping, after);
}

static void clip_all(Clipping *clipping, uint32_t *triangles) {
  for (uint32_t k = 0; k < clipping->n; ++k) classify(clipping, k);
  for (uint32_t k = 0; k < clipping->n; ++k) judge(clipping, k);
  uint32_t start = 0;
  for (size_t left = clipping->n; left >= 3; --left) {
    uint32_t ear = left > 3 ? choose_ear(clipping, start) : start;
    const Corner *c = &clipping->corners[ear];
    *triangles++ = c->before, *triangles++ = ear, *triangles++ = c->after;
    start = c->after;
    if (left > 3) clip(clipping, ear);
  }
}

FloStatus flo_outline_cut(const double *points, size_t n, FloMemory *memory, uint32_t *triangles,
                          FloError *error) {
  FLO_ASSERT(n >= 3 && n < UINT32_MAX);
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve(memory, &buffer, n * sizeof(Corner), 0, error));
  Clipping clipping = {.points = points, .corners = buffer.data, .n = n};
  bool is_clockwise = flo_outline_area(points, n) < 0;
  for (size_t k = 0; k < n; ++k) {
    uint32_t next = (uint32_t)((k + 1) % n), previous = (uint32_t)((k + n - 1) % n);
    clipping.corners[k].before = is_clockwise ? next : previous;
    clipping.corners[k].after = is_clockwise ? previous : next;
  }
  clip_all(&clipping, triangles);
  flo_buffer_free(memory, &buffer);
  return FLO_OK;
}

// ---- Meshes ----

static FloStatus add_ring(const double *points, size_t n, double z, FloMesh *mesh, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    const double *p = point_at(points, k);
    FLO_TRY(flo_mesh_add_vertex(mesh, (const double[3]){p[0], p[1], z}, NULL, error));
  }
  return FLO_OK;
}

static FloStatus add_cap(const uint32_t *triangles, size_t n_triangles, uint32_t first, bool is_bottom,
                         FloMesh *mesh, FloError *error) {
  for (size_t k = 0; k < n_triangles; ++k) {
    const uint32_t *t = triangles + 3 * k;
    FLO_TRY(flo_mesh_add_triangle(mesh, first + t[0], first + t[is_bottom ? 2 : 1],
                                  first + t[is_bottom ? 1 : 2], error));
  }
  return FLO_OK;
}

static FloStatus add_sides(size_t n, bool is_clockwise, uint32_t bottom, FloMesh *mesh, FloError *error) {
  uint32_t top = bottom + (uint32_t)n;
  for (size_t k = 0; k < n; ++k) {
    uint32_t a = (uint32_t)k, b = (uint32_t)((k + 1) % n);
    uint32_t from = is_clockwise ? b : a, to = is_clockwise ? a : b;
    FLO_TRY(flo_mesh_add_triangle(mesh, bottom + from, bottom + to, top + to, error));
    FLO_TRY(flo_mesh_add_triangle(mesh, bottom + from, top + to, top + from, error));
  }
  return FLO_OK;
}

static FloStatus add_faces(const double *points, size_t n, double depth, const uint32_t *triangles,
                           FloMesh *mesh, FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  FLO_TRY(add_ring(points, n, -depth / 2, mesh, error));
  if (depth == 0) return add_cap(triangles, n - 2, first, false, mesh, error);
  FLO_TRY(add_ring(points, n, depth / 2, mesh, error));
  FLO_TRY(add_cap(triangles, n - 2, first, true, mesh, error));
  FLO_TRY(add_cap(triangles, n - 2, first + (uint32_t)n, false, mesh, error));
  return add_sides(n, flo_outline_area(points, n) < 0, first, mesh, error);
}

FloStatus flo_mesh_outline(const double *points, size_t n, double depth, FloMesh *mesh, FloError *error) {
  FLO_TRY(flo_outline_check(points, n, error));
  if (!(depth >= 0) || !isfinite(depth))
    return flo_fail(error, FLO_BAD_INPUT, "outline: the depth must be positive, or 0 in the plane, got %g m",
                    depth);
  FloBuffer triangles = {0};
  FLO_TRY(flo_buffer_reserve(mesh->memory, &triangles, 3 * (n - 2) * sizeof(uint32_t), 0, error));
  FloStatus status = flo_outline_cut(points, n, mesh->memory, triangles.data, error);
  if (status == FLO_OK) status = add_faces(points, n, depth, triangles.data, mesh, error);
  flo_buffer_free(mesh->memory, &triangles);
  return status;
}

// ---- Polygons in space ----

// Corner k of the fan (0, 1, 2), (0, 2, 3), ...
static uint32_t fan_corner(const FloMesh *mesh, size_t first, size_t k) {
  return k < 2 ? flo_mesh_triangle(mesh, first)[k] : flo_mesh_triangle(mesh, first + k - 2)[2];
}

// The sum of the fan's normals is that of the polygon, however it is bent (Newell's method).
static void polygon_normal(const FloMesh *mesh, size_t first, size_t n, double normal[3]) {
  vec_set(normal, 0, 0, 0);
  for (size_t k = 0; k + 2 < n; ++k) {
    double ab[3], ac[3], cross[3];
    vec_sub(flo_mesh_corner(mesh, first + k, 1), flo_mesh_corner(mesh, first + k, 0), ab);
    vec_sub(flo_mesh_corner(mesh, first + k, 2), flo_mesh_corner(mesh, first + k, 0), ac);
    vec_cross(ab, ac, cross);
    vec_add(normal, cross, normal);
  }
}

// Projects the polygon along the coordinate axis that shows its largest area; counter-clockwise.
static void project(const FloMesh *mesh, size_t first, size_t n, const double normal[3], double *points) {
  int along = 0;
  for (int axis = 1; axis < 3; ++axis)
    if (fabs(normal[axis]) > fabs(normal[along])) along = axis;
  int u = (along + (normal[along] > 0 ? 1 : 2)) % 3, v = 3 - along - u;
  for (size_t k = 0; k < n; ++k) {
    const double *p = flo_mesh_vertex(mesh, fan_corner(mesh, first, k));
    points[2 * k] = p[u], points[2 * k + 1] = p[v];
  }
}

// All corners turn left, and they go round once.
static bool is_convex(const double *points, size_t n) {
  for (size_t k = 0; k < n; ++k)
    if (turn(point_at(points, k), point_at(points, (k + 1) % n), point_at(points, (k + 2) % n)) <= 0)
      return false;
  for (size_t k = 1; k + 1 < n; ++k)
    if (turn(points, point_at(points, k), point_at(points, k + 1)) <= 0) return false;
  return true;
}

static FloStatus cut(FloMesh *mesh, size_t first, size_t n, const double *points, FloError *error) {
  if (n > FLO_OUTLINE_MAX_POINTS)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "a face with %zu corners is not convex; cut it up when exporting, at most %d can be handled", n,
        FLO_OUTLINE_MAX_POINTS);
  FloBuffer buffer = {0};
  size_t size = (3 * (n - 2) + n) * sizeof(uint32_t);
  FLO_TRY(flo_buffer_reserve(mesh->memory, &buffer, size, 0, error));
  uint32_t *corners = buffer.data, *triangles = corners + n;
  for (size_t k = 0; k < n; ++k) corners[k] = fan_corner(mesh, first, k);
  FloStatus status = flo_outline_cut(points, n, mesh->memory, triangles, error);
  for (size_t k = 0; status == FLO_OK && k < 3 * (n - 2); ++k)
    flo_mesh_triangle(mesh, first)[k] = corners[triangles[k]];
  flo_buffer_free(mesh->memory, &buffer);
  return status;
}

FloStatus flo_mesh_cut_polygon(FloMesh *mesh, size_t first, size_t n, FloError *error) {
  double normal[3];
  if (n <= 3) return FLO_OK;
  polygon_normal(mesh, first, n, normal);
  // A polygon without area cannot be cut any better.
  if (!(vec_length(normal) > 0)) return FLO_OK;
  FloBuffer points = {0};
  FLO_TRY(flo_buffer_reserve(mesh->memory, &points, 2 * n * sizeof(double), 0, error));
  project(mesh, first, n, normal, points.data);
  FloStatus status = is_convex(points.data, n) ? FLO_OK : cut(mesh, first, n, points.data, error);
  flo_buffer_free(mesh->memory, &points);
  return status;
}
