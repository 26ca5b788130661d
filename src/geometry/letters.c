// Letters are strokes: lines and arcs on a grid. The outline of a letter is where the distance to the nearest
// stroke is half the width of a stroke. It is found by marching over triangles, so it is closed and does not
// cross itself; holes are loops of their own.
#include "geometry/letters.h"

#include "base/vecmath.h"
#include "geometry/outline.h"
#include "geometry/solid_meshes.h"

#include <string.h>

// ---- Glyphs ----

// Codes of strokes. Two digits are the next point of the stroke, x and y. "@" and six digits are a part of an
// ellipse: x and y of its middle, its half axes along x and y, and the angles where it begins and ends.
// Angles are in steps of 15 degrees, counter-clockwise from x. "/" begins a new stroke. Digits above 9 are
// letters, from a = 10 to z = 35. Glyphs are 12 high.
typedef struct Glyph {
  char character;
  unsigned char width;
  const char *strokes;
} Glyph;

static const Glyph glyphs[] = {
    {'A', 8, "004c80/1373"},
    {'B', 8, "000c4c@4933ui06/4656@5333ui00"},
    {'C', 8, "@46463l"},
    {'D', 8, "000c3c@3656ui00"},
    {'E', 7, "7c0c0070/0656"},
    {'F', 7, "7c0c00/0656"},
    {'G', 8, "@46463o56"},
    {'H', 8, "000c/808c/0686"},
    {'I', 0, "000c"},
    {'J', 6, "6c63@3333oc"},
    {'K', 8, "000c/8c04/3780"},
    {'L', 7, "0c0070"},
    {'M', 10, "000c54aca0"},
    {'N', 8, "000c808c"},
    {'O', 8, "@46460o"},
    {'P', 8, "000c5c@5933ui06"},
    {'Q', 9, "@46460o/5390"},
    {'R', 8, "000c5c@5933ui06/4680"},
    {'S', 8, "@49432i@4343ue"},
    {'T', 8, "0c8c/4c40"},
    {'U', 8, "0c04@4444co8c"},
    {'V', 8, "0c408c"},
    {'W', 12, "0c306990cc"},
    {'X', 8, "008c/0c80"},
    {'Y', 8, "0c468c/4640"},
    {'Z', 8, "0c8c0080"},
    {'0', 6, "@36360o"},
    {'1', 3, "093c30"},
    {'2', 8, "@4844zm0080"},
    {'3', 8, "@4943yi@4343ue"},
    {'4', 8, "606c0484"},
    {'5', 8, "7c1c@4444xe"},
    {'6', 8, "@44440o/@8488c7"},
    {'7', 8, "0c8c30"},
    {'8', 8, "@49330o/@43430o"},
    {'9', 8, "@48440o/@0888oj"},
    {'-', 4, "0646"},
    {' ', 3, ""},
};
static const char known_characters[] = "A to Z, 0 to 9, '-' and ' '";
static const double grid_height = 12, gap = 2; // between glyphs, in addition to half a stroke on either side
enum { MAX_GLYPHS = 64 };

static const Glyph *find_glyph(char character) {
  // Not toupper(): what a letter is must not depend on the locale.
  if (character >= 'a' && character <= 'z') character = (char)(character - 'a' + 'A');
  for (size_t k = 0; k < FLO_COUNT_OF(glyphs); ++k)
    if (glyphs[k].character == character) return &glyphs[k];
  return NULL;
}

// ---- Strokes ----

enum { MAX_SEGMENTS = 256, SEGMENTS_PER_STEP = 3 };

// Line segments in metres, from the lower left corner of the grid.
typedef struct Strokes {
  double segments[MAX_SEGMENTS][4];
  size_t n_segments;
  double unit; // size of a grid cell [m]
  double end[2];
  bool has_end;
} Strokes;

static void stroke_to(Strokes *strokes, double x, double y) {
  x *= strokes->unit, y *= strokes->unit;
  if (strokes->has_end) {
    double *segment = strokes->segments[strokes->n_segments++];
    FLO_ASSERT(strokes->n_segments <= MAX_SEGMENTS);
    segment[0] = strokes->end[0], segment[1] = strokes->end[1], segment[2] = x, segment[3] = y;
  }
  strokes->end[0] = x, strokes->end[1] = y, strokes->has_end = true;
}

static int digit_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

static void stroke_along_arc(Strokes *strokes, const char *digits) {
  const double middle[2] = {digit_value(digits[0]), digit_value(digits[1])};
  const double half[2] = {digit_value(digits[2]), digit_value(digits[3])};
  int begin = SEGMENTS_PER_STEP * digit_value(digits[4]), end = SEGMENTS_PER_STEP * digit_value(digits[5]);
  for (int step = begin, turn = begin < end ? 1 : -1; step != end + turn; step += turn) {
    double angle = FLO_PI / 12 / SEGMENTS_PER_STEP * step;
    stroke_to(strokes, middle[0] + half[0] * cos(angle), middle[1] + half[1] * sin(angle));
  }
}

static void strokes_read(Strokes *strokes, const char *text, double unit) {
  *strokes = (Strokes){.unit = unit};
  while (*text) {
    if (*text == '/') {
      strokes->has_end = false;
      text += 1;
    } else if (*text == '@') {
      stroke_along_arc(strokes, text + 1);
      text += 7;
    } else {
      stroke_to(strokes, digit_value(text[0]), digit_value(text[1]));
      text += 2;
    }
  }
}

static double strokes_distance(const Strokes *strokes, const double point[2]) {
  double best = INFINITY;
  for (size_t k = 0; k < strokes->n_segments; ++k) {
    const double *s = strokes->segments[k];
    double along[2] = {s[2] - s[0], s[3] - s[1]}, from[2] = {point[0] - s[0], point[1] - s[1]};
    double squared = along[0] * along[0] + along[1] * along[1];
    double t = squared > 0 ? (from[0] * along[0] + from[1] * along[1]) / squared : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double x = from[0] - t * along[0], y = from[1] - t * along[1], distance = x * x + y * y;
    best = distance < best ? distance : best;
  }
  return sqrt(best);
}

// ---- Outlines ----

// Loops of points: rims counter-clockwise, holes clockwise, the inside on the left.
typedef struct Outline {
  FloMemory *memory;
  const Strokes *strokes;
  double half_width; // of a stroke
  double cell, low[2];
  size_t n[2];         // nodes
  FloBuffer values;    // at the nodes
  FloBuffer next;      // crossed edge that follows each crossed edge
  FloBuffer points;    // two doubles each
  FloBuffer loop_ends; // number of points up to the end of each loop
  FloBuffer triangles; // three points each
  size_t n_points, n_loops, n_triangles;
} Outline;

static const uint32_t NO_EDGE = UINT32_MAX;

static double *outline_point(const Outline *outline, size_t k) {
  return (double *)outline->points.data + 2 * k;
}
static size_t *outline_loop_ends(const Outline *outline) { return outline->loop_ends.data; }
static size_t loop_begin(const Outline *outline, size_t loop) {
  return loop ? outline_loop_ends(outline)[loop - 1] : 0;
}

static void outline_free(Outline *outline) {
  flo_buffer_free(outline->memory, &outline->values);
  flo_buffer_free(outline->memory, &outline->next);
  flo_buffer_free(outline->memory, &outline->points);
  flo_buffer_free(outline->memory, &outline->loop_ends);
  flo_buffer_free(outline->memory, &outline->triangles);
}

static double outline_value(const Outline *outline, const double point[2]) {
  return strokes_distance(outline->strokes, point) - outline->half_width;
}

static void node_position(const Outline *outline, size_t node, double point[2]) {
  point[0] = outline->low[0] + (double)(node % outline->n[0]) * outline->cell;
  point[1] = outline->low[1] + (double)(node / outline->n[0]) * outline->cell;
}

// A distance changes by at most one cell from node to node. Nodes that cannot be next to the outline get the
// value of the node before them.
static void sample_row(const Outline *outline, double *values, size_t row) {
  for (size_t i = 0; i < outline->n[0];) {
    double point[2];
    node_position(outline, row * outline->n[0] + i, point);
    double value = outline_value(outline, point);
    size_t n_same = 1 + (size_t)fmax(fabs(value) / outline->cell - 2, 0);
    for (size_t end = flo_min_size(i + n_same, outline->n[0]); i < end; ++i) values[i] = value;
  }
}

static FloStatus sample_nodes(Outline *outline, const Glyph *glyph, FloError *error) {
  const double size[2] = {glyph->width * outline->strokes->unit, grid_height * outline->strokes->unit};
  for (int axis = 0; axis < 2; ++axis) {
    double span = size[axis] + 2 * outline->half_width + 3 * outline->strokes->unit;
    // The odd shift keeps the edges of straight strokes off the nodes.
    outline->low[axis] = -outline->half_width - outline->strokes->unit - 0.2718 * outline->cell;
    outline->n[axis] = (size_t)ceil(span / outline->cell) + 2;
  }
  size_t n = outline->n[0] * outline->n[1];
  FLO_TRY(flo_buffer_reserve(outline->memory, &outline->values, n * sizeof(double), 0, error));
  FLO_TRY(flo_buffer_reserve(outline->memory, &outline->next, 3 * n * sizeof(uint32_t), 0, error));
  for (size_t row = 0; row < outline->n[1]; ++row)
    sample_row(outline, (double *)outline->values.data + row * outline->n[0], row);
  return FLO_OK;
}

// The three edges that begin at a node: to the right, up, and across the cell to the upper right.
enum { EDGE_RIGHT, EDGE_UP, EDGE_ACROSS };

static size_t edge_end(const Outline *outline, uint32_t edge) {
  size_t node = edge / 3, kind = edge % 3;
  return node + (kind != EDGE_UP) + (kind != EDGE_RIGHT ? outline->n[0] : 0);
}

// `corners` counter-clockwise; edge k leads from corner k to the next.
static void march_triangle(Outline *outline, const size_t corners[3], const uint32_t edges[3]) {
  const double *values = outline->values.data;
  bool is_inside[3];
  for (int k = 0; k < 3; ++k) is_inside[k] = values[corners[k]] < 0;
  for (int k = 0; k < 3; ++k) {
    int after = (k + 1) % 3, before = (k + 2) % 3;
    if (is_inside[k] == is_inside[after] || is_inside[k] == is_inside[before]) continue;
    uint32_t *next = outline->next.data;
    if (is_inside[k])
      next[edges[k]] = edges[before];
    else
      next[edges[before]] = edges[k];
  }
}

static void march(Outline *outline) {
  memset(outline->next.data, 0xff, 3 * outline->n[0] * outline->n[1] * sizeof(uint32_t)); // NO_EDGE
  for (size_t j = 0; j + 1 < outline->n[1]; ++j)
    for (size_t i = 0; i + 1 < outline->n[0]; ++i) {
      size_t a = j * outline->n[0] + i, b = a + 1, d = a + outline->n[0], c = d + 1;
      uint32_t bottom = (uint32_t)(3 * a + EDGE_RIGHT), right = (uint32_t)(3 * b + EDGE_UP),
               top = (uint32_t)(3 * d + EDGE_RIGHT), left = (uint32_t)(3 * a + EDGE_UP),
               across = (uint32_t)(3 * a + EDGE_ACROSS);
      march_triangle(outline, (const size_t[3]){a, b, c}, (const uint32_t[3]){bottom, right, across});
      march_triangle(outline, (const size_t[3]){a, c, d}, (const uint32_t[3]){across, top, left});
    }
}

enum { MAX_CROSSING_STEPS = 60 };

// Finds the point by false position, every third step by halving. It is as exact as rounding allows. Each
// point stays on its edge, so loops cannot cross.
static void cross_edge(const Outline *outline, uint32_t edge, double point[2]) {
  const size_t nodes[2] = {edge / 3, edge_end(outline, edge)};
  double ends[2][2], values[2];
  for (int k = 0; k < 2; ++k) {
    node_position(outline, nodes[k], ends[k]);
    values[k] = ((const double *)outline->values.data)[nodes[k]];
  }
  for (int step = 0; step < MAX_CROSSING_STEPS; ++step) {
    double t = step % 3 == 2 ? 0.5 : values[0] / (values[0] - values[1]);
    for (int axis = 0; axis < 2; ++axis) point[axis] = ends[0][axis] + t * (ends[1][axis] - ends[0][axis]);
    double value = outline_value(outline, point);
    if (fabs(value) < 1e-14 * outline->half_width) return;
    int replaced = (value < 0) == (values[0] < 0) ? 0 : 1;
    values[replaced] = value;
    memcpy(ends[replaced], point, 2 * sizeof(double));
  }
}

// Follows a loop from one of its edges and unlinks it; returns the number of points.
static size_t trace_loop(Outline *outline, uint32_t edge) {
  uint32_t *next = outline->next.data;
  size_t n = 0;
  while (next[edge] != NO_EDGE) {
    uint32_t after = next[edge];
    cross_edge(outline, edge, outline_point(outline, outline->n_points + n++));
    next[edge] = NO_EDGE;
    edge = after;
  }
  return n;
}

// ---- Fewer points ----

static double distance_2(const double *a, const double *b) { return hypot(a[0] - b[0], a[1] - b[1]); }

// Twice the area of a triangle; positive if it runs counter-clockwise.
static double doubled_area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Marching leaves points close to one another where the outline passes a node.
static size_t drop_close_points(double *points, size_t n, double least) {
  size_t kept = 1;
  for (size_t k = 1; k < n; ++k)
    if (distance_2(points + 2 * k, points + 2 * (kept - 1)) >= least)
      memmove(points + 2 * kept++, points + 2 * k, 2 * sizeof(double));
  if (kept > 3 && distance_2(points, points + 2 * (kept - 1)) < least) --kept;
  return kept;
}

// Rotates the order of the points so that the loop begins at a point to keep: one on its hull, in a direction
// that no straight stroke has.
static void begin_on_hull(double *points, size_t n, double *room) {
  size_t best = 0;
  for (size_t k = 1; k < n; ++k)
    if (points[2 * k] + 0.37 * points[2 * k + 1] > points[2 * best] + 0.37 * points[2 * best + 1]) best = k;
  memcpy(room, points, 2 * n * sizeof(double));
  memcpy(points, room + 2 * best, 2 * (n - best) * sizeof(double));
  memcpy(points + 2 * (n - best), room, 2 * best * sizeof(double));
}

static bool is_chord_good(const double *points, size_t n, size_t from, size_t to, double tolerance) {
  const double *a = points + 2 * from, *b = points + 2 * (to % n);
  double length = distance_2(a, b);
  for (size_t k = from + 1; k < to; ++k)
    if (fabs(doubled_area(a, b, points + 2 * (k % n))) > tolerance * length) return false;
  return length > 0;
}

// Keeps the fewest points such that each point left out lies within the tolerance of its chord.
static size_t keep_corners(double *points, size_t n, double tolerance) {
  size_t kept = 0, from = 0;
  while (from < n) {
    size_t to = from + 1;
    // From a kept point on, later points have not been moved yet.
    while (to < n && is_chord_good(points, n, from, to + 1, tolerance)) ++to;
    memmove(points + 2 * kept++, points + 2 * from, 2 * sizeof(double));
    from = to;
  }
  // The first point need not be a corner.
  bool is_first_idle = kept > 3 && is_chord_good(points, kept, kept - 1, kept + 1, tolerance);
  if (!is_first_idle) return kept;
  memmove(points, points + 2, 2 * (kept - 1) * sizeof(double));
  return kept - 1;
}

// Whether a hole is an artefact. Where two strokes part at a small angle, the gap is at first narrower than a
// cell, and the nodes may see pieces of it. The test is the area over the circumference, which is half the
// radius of a round hole. Real holes are wider than two cells.
static bool is_sham_hole(const double *points, size_t n, double cell) {
  double area = 0, circumference = 0;
  for (size_t k = 0; k < n; ++k) {
    const double *a = points + 2 * k, *b = points + 2 * ((k + 1) % n);
    area += doubled_area(points, a, b) / 2;
    circumference += distance_2(a, b);
  }
  return n < 3 || fabs(area) < 0.45 * cell * circumference;
}

static FloStatus trace_loops(Outline *outline, FloError *error) {
  const uint32_t *next = outline->next.data;
  size_t n_edges = 3 * outline->n[0] * outline->n[1], n_crossed = 0;
  for (size_t edge = 0; edge < n_edges; ++edge) n_crossed += next[edge] != NO_EDGE;
  // Twice the room: the second half is scratch for begin_on_hull.
  FLO_TRY(flo_buffer_reserve(outline->memory, &outline->points, 4 * n_crossed * sizeof(double), 0, error));
  FLO_TRY(flo_buffer_reserve(outline->memory, &outline->loop_ends, n_crossed * sizeof(size_t), 0, error));
  // With this tolerance an arc with the stroke's own radius keeps all points, wider arcs lose some, and
  // straight lines lose nearly all.
  double tolerance = 0.1 * outline->cell * outline->cell / outline->half_width;
  outline->n_points = outline->n_loops = 0;
  for (size_t edge = 0; edge < n_edges; ++edge) {
    if (next[edge] == NO_EDGE) continue;
    double *points = outline_point(outline, outline->n_points);
    size_t n = trace_loop(outline, (uint32_t)edge);
    n = drop_close_points(points, n, 0.2 * outline->cell);
    begin_on_hull(points, n, outline_point(outline, n_crossed));
    n = keep_corners(points, n, tolerance);
    if (is_sham_hole(points, n, outline->cell)) continue;
    outline->n_points += n;
    outline_loop_ends(outline)[outline->n_loops++] = outline->n_points;
  }
  return FLO_OK;
}

// ---- Solids ----

typedef struct Extrusion {
  double shift[2], depth;
  bool is_turned_inwards;
} Extrusion;

static FloStatus add_turned_triangle(const Extrusion *extrusion, uint32_t a, uint32_t b, uint32_t c,
                                     FloMesh *mesh, FloError *error) {
  return extrusion->is_turned_inwards ? flo_mesh_add_triangle(mesh, a, c, b, error)
                                      : flo_mesh_add_triangle(mesh, a, b, c, error);
}

static FloStatus add_faces(const Outline *outline, const Extrusion *extrusion, uint32_t first, FloMesh *mesh,
                           FloError *error) {
  uint32_t top = first + (uint32_t)outline->n_points;
  for (size_t k = 0; k < outline->n_triangles; ++k) {
    const uint32_t *t = (const uint32_t *)outline->triangles.data + 3 * k;
    FLO_TRY(add_turned_triangle(extrusion, first + t[2], first + t[1], first + t[0], mesh, error));
    FLO_TRY(add_turned_triangle(extrusion, top + t[0], top + t[1], top + t[2], mesh, error));
  }
  return FLO_OK;
}

static FloStatus add_sides(const Outline *outline, const Extrusion *extrusion, uint32_t first, FloMesh *mesh,
                           FloError *error) {
  uint32_t up = (uint32_t)outline->n_points;
  for (size_t loop = 0; loop < outline->n_loops; ++loop) {
    size_t begin = loop_begin(outline, loop), end = outline_loop_ends(outline)[loop];
    for (size_t k = begin; k < end; ++k) {
      uint32_t a = first + (uint32_t)k, b = first + (uint32_t)(k + 1 < end ? k + 1 : begin);
      FLO_TRY(add_turned_triangle(extrusion, a, b, b + up, mesh, error));
      FLO_TRY(add_turned_triangle(extrusion, a, b + up, a + up, mesh, error));
    }
  }
  return FLO_OK;
}

static FloStatus extrude(const Outline *outline, const Extrusion *extrusion, FloMesh *mesh, FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (int side = -1; side <= 1; side += 2)
    for (size_t k = 0; k < outline->n_points; ++k) {
      const double *p = outline_point(outline, k);
      const double point[3] = {p[0] + extrusion->shift[0], p[1] + extrusion->shift[1],
                               side * extrusion->depth / 2};
      FLO_TRY(flo_mesh_add_vertex(mesh, point, NULL, error));
    }
  FLO_TRY(add_faces(outline, extrusion, first, mesh, error));
  return add_sides(outline, extrusion, first, mesh, error);
}

static FloStatus add_surface(Outline *outline, const Glyph *glyph, const Extrusion *extrusion, FloMesh *mesh,
                             FloError *error) {
  FLO_TRY(sample_nodes(outline, glyph, error));
  march(outline);
  FLO_TRY(trace_loops(outline, error));
  const FloOutline loops = {outline->points.data, outline->loop_ends.data, outline->n_points,
                            outline->n_loops};
  FLO_TRY(
      flo_outline_triangulate(&loops, outline->memory, &outline->triangles, &outline->n_triangles, error));
  return extrude(outline, extrusion, mesh, error);
}

// ---- Text ----

typedef struct Lettering {
  double height, depth, stroke, fineness;
  double unit; // of the grid [m]
  bool is_hollow;
} Lettering;

// The cell is smaller than the stroke, so that nothing is lost, but large enough for at most some thousand
// points per glyph.
static double outline_cell(const Lettering *lettering, double half_width) {
  return fmin(fmax(lettering->fineness, lettering->height / 150), half_width / 4);
}

static FloStatus add_glyph(const Lettering *lettering, const Glyph *glyph, double x, FloMesh *mesh,
                           FloError *error) {
  Strokes strokes;
  strokes_read(&strokes, glyph->strokes, lettering->unit);
  if (strokes.n_segments == 0) return FLO_OK;
  double half = lettering->stroke / 2, wall = lettering->stroke / 4;
  Extrusion extrusion = {{x, -grid_height / 2 * lettering->unit}, lettering->depth, false};
  Outline outline = {.memory = mesh->memory, .strokes = &strokes, .half_width = half};
  outline.cell = outline_cell(lettering, half);
  FloStatus status = add_surface(&outline, glyph, &extrusion, mesh, error);
  if (status == FLO_OK && lettering->is_hollow) {
    outline.half_width = half - wall, outline.cell = outline_cell(lettering, half - wall);
    extrusion.depth -= 2 * wall, extrusion.is_turned_inwards = true;
    status = add_surface(&outline, glyph, &extrusion, mesh, error);
  }
  outline_free(&outline);
  return status;
}

static FloStatus check_measures(const Lettering *lettering, FloError *error) {
  const FloNamedLength lengths[] = {
      {"height", lettering->height}, {"depth", lettering->depth}, {"stroke width", lettering->stroke}};
  FLO_TRY(flo_lengths_check("letters", lengths, FLO_COUNT_OF(lengths), error));
  FLO_TRY(flo_fineness_check("letters", lettering->fineness, error));
  if (lettering->stroke < lettering->height / 25 || lettering->stroke > lettering->height / 5)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "letters: the stroke width must be between 1/25 and 1/5 of the height, that is between %g m and %g "
        "m, got %g m",
        lettering->height / 25, lettering->height / 5, lettering->stroke);
  if (lettering->is_hollow && lettering->depth <= lettering->stroke / 2)
    return flo_fail(error, FLO_BAD_INPUT,
                    "letters: hollow ones must be deeper than half the stroke width, %g m, got %g m",
                    lettering->stroke / 2, lettering->depth);
  return FLO_OK;
}

// The length in bytes of the UTF-8 character at `text`; 1 if it is not valid.
static int character_length(const char *text) {
  unsigned char first = (unsigned char)text[0];
  int n = 1, n_more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  while (n <= n_more && ((unsigned char)text[n] & 0xc0) == 0x80) ++n;
  return n == n_more + 1 ? n : 1;
}

static FloStatus fail_character(const char *text, FloError *error) {
  unsigned char first = (unsigned char)text[0];
  int n = character_length(text);
  if (n == 1 && (first <= ' ' || first >= 127))
    return flo_fail(error, FLO_BAD_INPUT, "letters: there is no character with the code %d; there are %s",
                    first, known_characters);
  if (n == 1)
    return flo_fail(error, FLO_BAD_INPUT, "letters: there is no '%c'; there are %s", first, known_characters);
  return flo_fail(error, FLO_BAD_INPUT, "letters: there is no '%.*s' (code %d); there are %s", n, text, first,
                  known_characters);
}

static FloStatus check_text(const char *text, FloError *error) {
  size_t n = strlen(text), n_visible = 0;
  for (size_t k = 0; k < n; ++k) {
    if (!find_glyph(text[k])) return fail_character(text + k, error);
    n_visible += text[k] != ' ';
  }
  if (n_visible == 0)
    return flo_fail(error, FLO_BAD_INPUT, "letters: the text is empty; there are %s", known_characters);
  if (n > MAX_GLYPHS)
    return flo_fail(error, FLO_BAD_INPUT, "letters: the text has %zu characters, more than the %d that fit",
                    n, MAX_GLYPHS);
  return FLO_OK;
}

static void centre_along_x(FloMesh *mesh, size_t first) {
  double low = INFINITY, high = -INFINITY;
  for (size_t k = first; k < mesh->n_vertices; ++k) {
    low = fmin(low, flo_mesh_vertex(mesh, k)[0]);
    high = fmax(high, flo_mesh_vertex(mesh, k)[0]);
  }
  for (size_t k = first; k < mesh->n_vertices; ++k) flo_mesh_vertex(mesh, k)[0] -= (low + high) / 2;
}

FloStatus flo_mesh_letters(const char *text, double height, double depth, double stroke, bool is_hollow,
                           double fineness, FloMesh *mesh, FloError *error) {
  const Lettering lettering = {height, depth, stroke, fineness, (height - stroke) / grid_height, is_hollow};
  FLO_TRY(check_measures(&lettering, error));
  FLO_TRY(check_text(text, error));
  size_t first = mesh->n_vertices;
  double x = 0;
  for (const char *c = text; *c; ++c) {
    const Glyph *glyph = find_glyph(*c);
    FLO_TRY(add_glyph(&lettering, glyph, x, mesh, error));
    x += (glyph->width + gap) * lettering.unit + stroke;
  }
  centre_along_x(mesh, first);
  return FLO_OK;
}
