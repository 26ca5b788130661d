// Triangles inside an outline with holes. Bridges first join the holes to the rim, which makes one polygon.
// The polygon is then cut ear by ear (Meisters 1975). Last, edges are flipped where that makes a thin
// triangle better.
#include "geometry/outline.h"

#include <math.h>
#include <string.h>

// The face inside an outline as one polygon. It goes over bridges to the holes and back.
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

// Whether the direction from corner b to the target leads into the face. The face is to the left of a, b, c.
static bool leads_inside(const double *a, const double *b, const double *c, const double *target) {
  bool is_left_of_in = doubled_area(a, b, target) > 0, is_left_of_out = doubled_area(b, c, target) > 0;
  return doubled_area(a, b, c) > 0 ? is_left_of_in && is_left_of_out : is_left_of_in || is_left_of_out;
}

static bool is_crossed(const double *a, const double *b, const double *c, const double *d) {
  return doubled_area(a, b, c) * doubled_area(a, b, d) <= 0 &&
         doubled_area(c, d, a) * doubled_area(c, d, b) <= 0;
}

// Whether no edge of any loop touches the way between two points, except edges that end at one of them.
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

// The shortest way between the polygon and a hole that crosses no edge.
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
