// The winding number of a closed mesh is an integer: how often a row of nodes has entered the mesh less how
// often it has left. All triangles are intersected with the rows once, as in drawing a picture; then each
// node looks into a short list. An open mesh is closed with lids first, and the winding number of the lids is
// subtracted again (Jacobson et al. 2013: winding numbers add up).
#include "geometry/sdf_signs.h"

#include "base/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Many large triangles would cut every row everywhere. Beyond this number the tree is used instead.
static const size_t max_crossings = 1u << 26;

typedef struct Crossing {
  double x;
  int count; // entries up to and including this crossing, less exits
} Crossing;

static double coordinate(const FloSdfSigns *signs, int axis, size_t index) {
  return signs->low[axis] + signs->cell * (double)index;
}

// ---- Rows through triangles ----

// Whether an edge passes the point (y, z) on the side of large y: +1 upwards in z, -1 downwards. Both
// triangles of an edge compute with the same numbers in the same order, so they agree on which of them a row
// pierces. A row through a vertex counts as passing a little below it.
static int pass_edge(const double a[3], const double b[3], double y, double z) {
  bool is_upwards = b[2] > z;
  if ((a[2] > z) == is_upwards) return 0;
  const double *low = is_upwards ? a : b, *high = is_upwards ? b : a;
  double side = (high[1] - low[1]) * (z - low[2]) - (y - low[1]) * (high[2] - low[2]);
  return side > 0 ? (is_upwards ? 1 : -1) : 0;
}

// +1 where a row along x leaves through the triangle, -1 where it enters, 0 where it misses.
static int pierce(const double *const corners[3], double y, double z) {
  return pass_edge(corners[0], corners[1], y, z) + pass_edge(corners[1], corners[2], y, z) +
         pass_edge(corners[2], corners[0], y, z);
}

// The x where a row pierces a triangle. If the plane of the triangle contains the x direction, any x of the
// triangle serves.
static double pierced_x(const double *const corners[3], double y, double z) {
  double ab[3], ac[3], n[3];
  const double *a = corners[0];
  vec_sub(corners[1], a, ab), vec_sub(corners[2], a, ac);
  vec_cross(ab, ac, n);
  double low = fmin(a[0], fmin(corners[1][0], corners[2][0]));
  double high = fmax(a[0], fmax(corners[1][0], corners[2][0]));
  double x = a[0] - (n[1] * (y - a[1]) + n[2] * (z - a[2])) / n[0];
  return x > low ? (x < high ? x : high) : low; // NaN goes to the low end
}

// The nodes of an axis between two coordinates, and one more at each end.
static void node_range(const FloSdfSigns *signs, int axis, double low, double high, size_t range[2]) {
  double last = (double)(signs->n[axis] - 1);
  double begin = floor((low - signs->low[axis]) / signs->cell) - 1;
  double end = ceil((high - signs->low[axis]) / signs->cell) + 1;
  range[0] = (size_t)fmin(fmax(begin, 0), last);
  range[1] = (size_t)fmin(fmax(end, 0), last) + 1;
}

// Counts the crossings of each row, or stores them if there is room already. Returns false if there are too
// many.
static bool cut_triangle(const FloSdfSigns *signs, const double *const corners[3], size_t *ends,
                         Crossing *crossings, size_t *total) {
  size_t range[3][2];
  for (int axis = 1; axis < 3; ++axis)
    node_range(signs, axis, fmin(corners[0][axis], fmin(corners[1][axis], corners[2][axis])),
               fmax(corners[0][axis], fmax(corners[1][axis], corners[2][axis])), range[axis]);
  for (size_t k = range[2][0]; k < range[2][1]; ++k)
    for (size_t j = range[1][0]; j < range[1][1]; ++j) {
      double y = coordinate(signs, 1, j), z = coordinate(signs, 2, k);
      int leaves = pierce(corners, y, z);
      if (!leaves) continue;
      size_t *end = &ends[j + signs->n[1] * k];
      if (crossings) crossings[*end] = (Crossing){pierced_x(corners, y, z), -leaves};
      ++*end, ++*total;
    }
  return *total <= max_crossings;
}

static bool cut_mesh(const FloSdfSigns *signs, const FloMesh *mesh, size_t *ends, Crossing *crossings,
                     size_t *total) {
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const double *const corners[3] = {flo_mesh_corner(mesh, t, 0), flo_mesh_corner(mesh, t, 1),
                                      flo_mesh_corner(mesh, t, 2)};
    if (!cut_triangle(signs, corners, ends, crossings, total)) return false;
  }
  return true;
}

static int compare_crossings(const void *a, const void *b) {
  double x = ((const Crossing *)a)->x, y = ((const Crossing *)b)->x;
  return (x > y) - (x < y);
}

static void sum_row(Crossing *row, size_t n) {
  if (n > 1) qsort(row, n, sizeof *row, compare_crossings);
  for (size_t k = 1; k < n; ++k) row[k].count += row[k - 1].count;
}

// After the first pass starts[r + 1] is the number of crossings of row r. The second pass moves every start
// to the end of its row, where the next row begins.
static FloStatus cut_rows(FloSdfSigns *signs, const FloMesh *mesh, FloError *error) {
  size_t n_rows = signs->n[1] * signs->n[2], total = 0;
  FLO_TRY(flo_buffer_reserve(mesh->memory, &signs->starts, (n_rows + 1) * sizeof(size_t), 0, error));
  size_t *starts = signs->starts.data;
  memset(starts, 0, (n_rows + 1) * sizeof(size_t));
  signs->has_rows = cut_mesh(signs, mesh, starts + 1, NULL, &total) &&
                    cut_mesh(signs, &signs->lids, starts + 1, NULL, &total);
  if (!signs->has_rows) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(mesh->memory, &signs->crossings, (total + 1) * sizeof(Crossing), 0, error));
  Crossing *crossings = signs->crossings.data;
  for (size_t row = 0; row < n_rows; ++row) starts[row + 1] += starts[row];
  memmove(starts + 1, starts, n_rows * sizeof(size_t));
  total = 0;
  cut_mesh(signs, mesh, starts + 1, crossings, &total);
  cut_mesh(signs, &signs->lids, starts + 1, crossings, &total);
  for (size_t row = 0; row < n_rows; ++row) sum_row(crossings + starts[row], starts[row + 1] - starts[row]);
  return FLO_OK;
}

// ---- Building ----

FloStatus flo_sdf_signs_init(FloSdfSigns *signs, const FloBvh *bvh, const double low[3], double cell,
                             const size_t n[3], FloError *error) {
  *signs = (FloSdfSigns){.bvh = bvh, .cell = cell, .n = {n[0], n[1], n[2]}};
  vec_copy(low, signs->low);
  flo_mesh_init(&signs->lids, bvh->mesh->memory);
  // A row could slip between borders that differ by rounding, so they are joined.
  FloMesh joined;
  flo_mesh_init(&joined, bvh->mesh->memory);
  FloStatus status = flo_mesh_copy_joined(bvh->mesh, &joined, error);
  if (status == FLO_OK) status = flo_mesh_cap_holes(&joined, &signs->lids, error);
  if (status == FLO_OK) status = flo_bvh_build(&signs->lid_bvh, &signs->lids, error);
  if (status == FLO_OK) status = cut_rows(signs, &joined, error);
  flo_mesh_free(&joined);
  if (status != FLO_OK) flo_sdf_signs_free(signs);
  return status;
}

void flo_sdf_signs_free(FloSdfSigns *signs) {
  FloMemory *memory = signs->bvh->mesh->memory;
  flo_buffer_free(memory, &signs->starts);
  flo_buffer_free(memory, &signs->crossings);
  flo_bvh_free(&signs->lid_bvh);
  flo_mesh_free(&signs->lids);
}

// ---- Queries ----

bool flo_sdf_signs_has_holes(const FloSdfSigns *signs) { return signs->lids.n_triangles || !signs->has_rows; }

// The count of the last crossing before the node.
static int count_before(const FloSdfSigns *signs, const size_t node[3]) {
  const size_t *starts = signs->starts.data, row = node[1] + signs->n[1] * node[2];
  const Crossing *crossings = signs->crossings.data;
  size_t begin = starts[row], end = starts[row + 1], first = begin;
  double x = coordinate(signs, 0, node[0]);
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    if (crossings[middle].x < x)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin > first ? crossings[begin - 1].count : 0;
}

double flo_sdf_signs_winding(const FloSdfSigns *signs, const size_t node[3]) {
  const double point[3] = {coordinate(signs, 0, node[0]), coordinate(signs, 1, node[1]),
                           coordinate(signs, 2, node[2])};
  if (!signs->has_rows) return flo_bvh_winding(signs->bvh, point);
  double count = count_before(signs, node);
  if (!signs->lids.n_triangles) return count;
  double winding = count - flo_bvh_winding(&signs->lid_bvh, point);
  // The winding numbers of the trees have a small error, and at a lid both numbers jump. Where that matters
  // the mesh itself decides.
  FloClosest closest;
  bool is_doubtful =
      fabs(winding - 0.5) < 0.02 || flo_bvh_closest(&signs->lid_bvh, point, 1e-6 * signs->cell, &closest);
  return is_doubtful ? flo_bvh_winding(signs->bvh, point) : winding;
}

bool flo_sdf_signs_is_inside(const FloSdfSigns *signs, const size_t node[3]) {
  return flo_sdf_signs_winding(signs, node) > 0.5;
}
