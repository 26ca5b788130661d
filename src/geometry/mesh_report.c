// Finds what is wrong with a mesh: open edges, edges of more than two triangles, orientation, number of
// parts, and triangles that intersect. A tree of boxes finds the latter.
#include "base/vecmath.h"
#include "geometry/bvh.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- Sizes ----

static double triangle_area(const FloMesh *mesh, size_t triangle) {
  double normal[3];
  flo_mesh_normal(mesh, triangle, normal);
  return vec_length(normal) / 2;
}

static void measure_area(const FloMesh *mesh, FloMeshReport *report) {
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    report->area += triangle_area(mesh, t);
    report->n_degenerate += flo_mesh_is_degenerate(mesh, t);
  }
}

// The volume of a closed surface is the same about any point, so a near one is taken for precision. The
// volume of an open surface depends on the point; the origin is the usual choice.
static void measure_volume(const FloMesh *mesh, bool is_closed, FloMeshReport *report) {
  double from[3] = {0};
  for (int axis = 0; is_closed && axis < 3; ++axis)
    from[axis] = report->low[axis] / 2 + report->high[axis] / 2;
  for (size_t t = 0; t < mesh->n_triangles; ++t)
    report->signed_volume += flo_mesh_determinant(mesh, t, from) / 6;
}

// ---- Edges ----

// Counts the sides that run from the smaller vertex number to the larger.
static size_t count_forward(const FloMesh *mesh, const FloMeshSide *sides, size_t n) {
  size_t n_forward = 0;
  for (size_t k = 0; k < n; ++k) n_forward += flo_mesh_triangle(mesh, 0)[sides[k].side] == sides[k].low;
  return n_forward;
}

// Returns the number of edges. `is_closed` means that every edge is passed as often in one direction as in
// the other.
static size_t inspect_edges(const FloMesh *mesh, const FloMeshSide *sides, size_t n_sides, bool *is_closed,
                            FloMeshReport *report) {
  size_t n_edges = 0;
  for (size_t first = 0, n; first < n_sides; first += n, ++n_edges) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    size_t n_forward = count_forward(mesh, sides + first, n);
    report->n_boundary_edges += n == 1;
    report->n_nonmanifold_edges += n > 2;
    report->n_inconsistent_halfedges += (size_t)(n_forward > 1) + (n - n_forward > 1);
    *is_closed &= n == 2 * n_forward;
  }
  return n_edges;
}

// Leaves out the sides of triangles with the same vertex twice: these have no inside and no neighbours.
static size_t drop_flat_sides(const FloMesh *mesh, FloMeshSide *sides, size_t n_sides) {
  size_t n_kept = 0;
  for (size_t k = 0; k < n_sides; ++k)
    if (!flo_mesh_has_twin_corners(mesh, sides[k].side / 3)) sides[n_kept++] = sides[k];
  return n_kept;
}

// ---- Parts ----

// Returns the number of vertices in use.
static size_t count_components(const FloMesh *mesh, uint32_t *parent, bool *is_used, FloMeshReport *report) {
  for (size_t v = 0; v < mesh->n_vertices; ++v) parent[v] = (uint32_t)v, is_used[v] = false;
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const uint32_t *corners = flo_mesh_triangle(mesh, t);
    if (flo_mesh_has_twin_corners(mesh, t)) continue;
    for (int k = 0; k < 3; ++k) is_used[corners[k]] = true;
    flo_mesh_join_sets(parent, corners[0], corners[1]);
    flo_mesh_join_sets(parent, corners[0], corners[2]);
  }
  size_t n_used = 0;
  for (size_t v = 0; v < mesh->n_vertices; ++v) {
    n_used += is_used[v];
    report->n_components += is_used[v] && parent[v] == v;
  }
  return n_used;
}

static FloStatus inspect_components(const FloMesh *mesh, size_t *n_used, FloMeshReport *report,
                                    FloError *error) {
  FloBuffer room = {0};
  FLO_TRY(flo_buffer_reserve(mesh->memory, &room, (mesh->n_vertices + 1) * (sizeof(uint32_t) + sizeof(bool)),
                             0, error));
  uint32_t *parent = room.data;
  *n_used = count_components(mesh, parent, (bool *)(parent + mesh->n_vertices), report);
  flo_buffer_free(mesh->memory, &room);
  return FLO_OK;
}

// ---- Triangles that meet ----

// The sign of a sum of products whose rounding error is below `bound`; 0 if the error could change it.
static int certain_sign(double sum, double bound) { return sum > bound ? 1 : sum < -bound ? -1 : 0; }

// On which side of the plane abc the point d lies. The error bound is the first of Shewchuk's (1997). Points
// that rounding cannot tell from touching count as touching.
static int plane_side(const double a[3], const double b[3], const double c[3], const double d[3]) {
  double u[3], v[3], w[3];
  vec_sub(a, d, u);
  vec_sub(b, d, v);
  vec_sub(c, d, w);
  double sum = 0, size = 0;
  for (int k = 0; k < 3; ++k) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    sum += u[k] * (v[l] * w[m] - v[m] * w[l]);
    size += fabs(u[k]) * (fabs(v[l] * w[m]) + fabs(v[m] * w[l]));
  }
  return certain_sign(sum, 8e-16 * size);
}

// The same for three points in the plane of axes k and l.
static int line_side(const double a[3], const double b[3], const double c[3], int k, int l) {
  double left = (a[k] - c[k]) * (b[l] - c[l]), right = (a[l] - c[l]) * (b[k] - c[k]);
  return certain_sign(left - right, 4e-16 * (fabs(left) + fabs(right)));
}

typedef const double *Corners[3];

static void get_corners(const FloMesh *mesh, size_t triangle, Corners out) {
  for (int k = 0; k < 3; ++k) out[k] = flo_mesh_corner(mesh, triangle, k);
}

static bool spans_overlap(const double a[3], const double b[3], const double c[3], const double d[3],
                          int axis) {
  return fmax(a[axis], b[axis]) >= fmin(c[axis], d[axis]) && fmax(c[axis], d[axis]) >= fmin(a[axis], b[axis]);
}

static bool segments_meet(const double a[3], const double b[3], const double c[3], const double d[3], int k,
                          int l) {
  return line_side(a, b, c, k, l) * line_side(a, b, d, k, l) <= 0 &&
         line_side(c, d, a, k, l) * line_side(c, d, b, k, l) <= 0 && spans_overlap(a, b, c, d, k) &&
         spans_overlap(a, b, c, d, l);
}

// No two of the three signs are opposite.
static bool signs_agree(int a, int b, int c) { return a * b >= 0 && b * c >= 0 && a * c >= 0; }

static bool point_is_inside(Corners t, const double p[3], int k, int l) {
  return signs_agree(line_side(t[0], t[1], p, k, l), line_side(t[1], t[2], p, k, l),
                     line_side(t[2], t[0], p, k, l));
}

// Triangles in one plane meet if sides cross or one holds the other.
static bool coplanar_meet(Corners s, Corners t) {
  double u[3], v[3], normal[3];
  vec_sub(s[1], s[0], u);
  vec_sub(s[2], s[0], v);
  vec_cross(u, v, normal);
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (fabs(normal[k]) > fabs(normal[axis])) axis = k;
  int k = (axis + 1) % 3, l = (axis + 2) % 3;
  for (int i = 0; i < 9; ++i)
    if (segments_meet(s[i / 3], s[(i / 3 + 1) % 3], t[i % 3], t[(i + 1) % 3], k, l)) return true;
  return point_is_inside(s, t[0], k, l) || point_is_inside(t, s[0], k, l);
}

// Whether a side of t passes through s. `sides` tells on which side of the plane of s the corners of t lie.
// Sides within the plane need no test: neighbouring sides, which leave the plane, and the sides of s find the
// same.
static bool sides_pierce(Corners s, Corners t, const int sides[3]) {
  for (int k = 0; k < 3; ++k) {
    int l = (k + 1) % 3;
    if (sides[k] * sides[l] > 0 || (sides[k] == 0 && sides[l] == 0)) continue;
    if (signs_agree(plane_side(t[k], t[l], s[0], s[1]), plane_side(t[k], t[l], s[1], s[2]),
                    plane_side(t[k], t[l], s[2], s[0])))
      return true;
  }
  return false;
}

// Returns false if all three corners of t lie on the same side of s.
static bool reaches_plane(Corners s, Corners t, int sides[3]) {
  for (int k = 0; k < 3; ++k) sides[k] = plane_side(s[0], s[1], s[2], t[k]);
  return !(sides[0] * sides[1] > 0 && sides[1] * sides[2] > 0);
}

static bool triangles_meet(const FloMesh *mesh, size_t first, size_t second) {
  Corners s, t;
  int s_sides[3], t_sides[3];
  get_corners(mesh, first, s);
  get_corners(mesh, second, t);
  if (!reaches_plane(s, t, t_sides) || !reaches_plane(t, s, s_sides)) return false;
  if (!t_sides[0] && !t_sides[1] && !t_sides[2]) return coplanar_meet(s, t);
  return sides_pierce(s, t, t_sides) || sides_pierce(t, s, s_sides);
}

typedef struct MeetingSearch {
  const FloMesh *mesh;
  size_t triangle; // the one whose partners are searched
  double low[3], high[3];
  size_t n_found, n_tests, most_tests;
} MeetingSearch;

static bool shares_vertex(const FloMesh *mesh, size_t first, size_t second) {
  const uint32_t *s = flo_mesh_triangle(mesh, first), *t = flo_mesh_triangle(mesh, second);
  for (int k = 0; k < 9; ++k)
    if (s[k / 3] == t[k % 3]) return true;
  return false;
}

static void get_box(const FloMesh *mesh, size_t triangle, double low[3], double high[3]) {
  Corners t;
  get_corners(mesh, triangle, t);
  // fmin and fmax would be function calls, and most of the time of a report is spent here.
  for (int axis = 0; axis < 3; ++axis) {
    double a = t[0][axis], b = t[1][axis], c = t[2][axis];
    double smaller = a < b ? a : b, larger = a < b ? b : a;
    low[axis] = c < smaller ? c : smaller, high[axis] = c > larger ? c : larger;
  }
}

static bool test_partner(uint32_t triangle, void *context) {
  MeetingSearch *search = context;
  if (++search->n_tests > search->most_tests) return false;
  double low[3], high[3];
  if (triangle <= search->triangle) return true;
  get_box(search->mesh, triangle, low, high);
  for (int axis = 0; axis < 3; ++axis)
    if (low[axis] > search->high[axis] || high[axis] < search->low[axis]) return true;
  if (shares_vertex(search->mesh, triangle, search->triangle)) return true;
  if (flo_mesh_is_degenerate(search->mesh, triangle)) return true;
  search->n_found += triangles_meet(search->mesh, search->triangle, triangle);
  return true;
}

// If most triangles overlap most others, the number of pairs is quadratic and the exact count does not
// matter. The search then ends after a time linear in the size of the mesh.
static FloStatus find_meetings(const FloMesh *mesh, FloMeshReport *report, FloError *error) {
  FloBvh tree;
  FLO_TRY(flo_bvh_build_boxes(&tree, mesh, error));
  MeetingSearch search = {.mesh = mesh, .most_tests = 3000000 + 400 * mesh->n_triangles};
  report->is_touching_complete = true;
  for (size_t t = 0; t < mesh->n_triangles && report->is_touching_complete; ++t) {
    if (flo_mesh_is_degenerate(mesh, t)) continue;
    search.triangle = t;
    get_box(mesh, t, search.low, search.high);
    report->is_touching_complete = flo_bvh_visit_box(&tree, search.low, search.high, test_partner, &search);
  }
  report->n_self_touching = search.n_found;
  flo_bvh_free(&tree);
  return FLO_OK;
}

// ---- The report ----

static FloStatus check_finite(const FloMesh *mesh, FloError *error) {
  for (size_t v = 0; v < mesh->n_vertices; ++v)
    if (!vec_is_finite(flo_mesh_vertex(mesh, v)))
      return flo_fail(error, FLO_BAD_INPUT, "mesh: vertex %zu is not finite; give every vertex a place", v);
  return FLO_OK;
}

FloStatus flo_mesh_inspect(const FloMesh *mesh, FloMeshReport *report, FloError *error) {
  *report = (FloMeshReport){.n_vertices = mesh->n_vertices, .n_triangles = mesh->n_triangles};
  FLO_TRY(check_finite(mesh, error));
  FloBuffer buffer = {0};
  bool is_closed = true;
  size_t n_used;
  FLO_TRY(inspect_components(mesh, &n_used, report, error));
  FloStatus status = flo_mesh_sort_sides(mesh, &buffer, error);
  if (status == FLO_OK) {
    size_t n_sides = drop_flat_sides(mesh, buffer.data, 3 * mesh->n_triangles);
    size_t n_edges = inspect_edges(mesh, buffer.data, n_sides, &is_closed, report);
    report->euler_characteristic = (long long)n_used - (long long)n_edges + (long long)(n_sides / 3);
  }
  flo_buffer_free(mesh->memory, &buffer);
  FLO_TRY(status);
  flo_mesh_bounds(mesh, report->low, report->high);
  measure_area(mesh, report);
  measure_volume(mesh, is_closed, report);
  report->is_watertight = mesh->n_triangles > 0 && !report->n_boundary_edges &&
                          !report->n_nonmanifold_edges && !report->n_inconsistent_halfedges;
  report->is_inside_out = is_closed && report->signed_volume < 0;
  return find_meetings(mesh, report, error);
}

// ---- Problems in words ----

typedef struct Words {
  char *text;
  size_t size, used;
} Words;

// Adds a sentence; what does not fit is cut off.
__attribute__((format(printf, 2, 3))) static void say(Words *words, const char *format, ...) {
  if (words->used && words->used + 1 < words->size)
    words->used += (size_t)snprintf(words->text + words->used, words->size - words->used, "; ");
  if (words->used >= words->size) return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(words->text + words->used, words->size - words->used, format, arguments);
  va_end(arguments);
  if (length > 0) words->used += (size_t)length;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void describe_edges(const FloMeshReport *r, Words *words) {
  if (r->n_joined_vertices)
    say(words, "%zu vert%s that differed by rounding only %s merged", r->n_joined_vertices,
        r->n_joined_vertices == 1 ? "ex" : "ices", r->n_joined_vertices == 1 ? "was" : "were");
  if (r->n_boundary_edges)
    say(words, "open: %zu boundary edge%s, so inside and outside are guessed by winding numbers",
        r->n_boundary_edges, plural(r->n_boundary_edges));
  if (r->n_nonmanifold_edges)
    say(words,
        "%zu edge%s of more than two triangles: parts touch there, or triangles are doubled, which repair "
        "mends",
        r->n_nonmanifold_edges, plural(r->n_nonmanifold_edges));
  else if (r->n_inconsistent_halfedges)
    say(words, "%zu edge%s between triangles of opposite orientation: repair turns them where it can",
        r->n_inconsistent_halfedges, plural(r->n_inconsistent_halfedges));
}

static void describe_triangles(const FloMeshReport *r, Words *words) {
  if (r->n_degenerate)
    say(words, "%zu triangle%s without area, which carr%s nothing and may be dropped", r->n_degenerate,
        plural(r->n_degenerate), r->n_degenerate == 1 ? "ies" : "y");
  if (r->n_self_touching)
    say(words,
        "%s%zu pair%s of triangles that run into each other: overlapping volume counts twice in the mass",
        r->is_touching_complete ? "" : "more than ", r->n_self_touching, plural(r->n_self_touching));
}

static void describe_size(const FloMeshReport *r, Words *words) {
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, r->high[axis] - r->low[axis]);
  if (extent > 100)
    say(words, "size %.3g units: if it was drawn in millimetres, scale by 0.001", extent);
  else if (extent < 0.001)
    say(words, "size %.3g units, less than a millimetre: if it was drawn in kilometres, scale by 1000",
        extent);
}

void flo_mesh_describe_problems(const FloMeshReport *report, char *text, size_t size) {
  Words words = {text, size, 0};
  if (size) text[0] = 0;
  if (report->n_triangles == 0) {
    say(&words, "empty: it has no triangles");
    return;
  }
  describe_edges(report, &words);
  if (report->is_inside_out)
    say(&words, "inside out: the volume is %.4g m^3, so all triangles should be turned round",
        report->signed_volume);
  describe_triangles(report, &words);
  describe_size(report, &words);
}
