// Triangles are joined over edges at which they do not bend. Rows of samples run across a whole patch. Rows
// of single triangles would not meet at the edges between them, and samples would crowd there.
#include "geometry/patches.h"

#include "base/vecmath.h"
#include "geometry/sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The sine of the largest angle between two triangles of one plane. It is well above the rounding of
// coordinates and far below what matters to a sample.
static const double largest_bend = 1e-6;

// ---- Sides ----

static int compare_sides(const void *a, const void *b) {
  const FloMeshSide *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return (p->side > q->side) - (p->side < q->side);
}

static FloStatus list_sides(FloMemory *memory, const FloMesh *mesh, const uint8_t *sides, FloBuffer *list,
                            size_t *n, FloError *error) {
  size_t count = 0;
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    count += (sides[k] & 1u) + (sides[k] >> 1 & 1u) + (sides[k] >> 2 & 1u);
  FLO_TRY(flo_buffer_reserve(memory, list, count * sizeof(FloMeshSide), 0, error));
  FloMeshSide *out = list->data;
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    for (uint32_t corner = 0; corner < 3; ++corner) {
      if (!(sides[k] >> corner & 1)) continue;
      uint32_t a = flo_mesh_triangle(mesh, k)[corner], b = flo_mesh_triangle(mesh, k)[(corner + 1) % 3];
      *out++ = (FloMeshSide){a < b ? a : b, a < b ? b : a, 3 * (uint32_t)k + corner};
    }
  *n = count;
  qsort(list->data, count, sizeof(FloMeshSide), compare_sides);
  return FLO_OK;
}

// Whether two triangles lie in one plane, on different sides of the edge they share.
static bool is_flat(const FloMesh *mesh, uint32_t side, uint32_t other) {
  const int corner = (int)(side % 3), other_corner = (int)(other % 3);
  const double *a = flo_mesh_corner(mesh, side / 3, corner);
  const double *b = flo_mesh_corner(mesh, side / 3, (corner + 1) % 3);
  const double *c = flo_mesh_corner(mesh, side / 3, (corner + 2) % 3);
  const double *d = flo_mesh_corner(mesh, other / 3, (other_corner + 2) % 3);
  double ab[3], ac[3], ad[3], m[3], n[3], bend[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(d, a, ad);
  vec_cross(ab, ac, m), vec_cross(ad, ab, n);
  vec_cross(m, n, bend);
  double sizes = vec_length(m) * vec_length(n);
  return vec_dot(m, n) > 0 && vec_length(bend) <= largest_bend * sizes;
}

// ---- Patches ----

static void join_over_edges(FloPatches *patches, const FloMesh *mesh, const FloMeshSide *sides, size_t n) {
  uint32_t *owners = patches->owners.data;
  uint8_t *inner = patches->inner.data;
  for (size_t k = 0, count; k < n; k += count) {
    count = flo_mesh_count_sides(sides, n, k);
    if (count != 2) continue;
    uint32_t a = sides[k].side, b = sides[k + 1].side;
    if (a / 3 == b / 3 || owners[a / 3] == FLO_NO_PATCH || owners[b / 3] == FLO_NO_PATCH) continue;
    if (!is_flat(mesh, a, b)) continue;
    flo_mesh_join_sets(owners, a / 3, b / 3);
    inner[a / 3] |= (uint8_t)(1u << a % 3), inner[b / 3] |= (uint8_t)(1u << b % 3);
  }
}

// Sorts the triangles by patch and keeps their order otherwise (a counting sort). `starts` has one more entry
// than there are triangles.
static void order_by_owner(FloPatches *patches, size_t n_triangles, uint32_t *starts) {
  uint32_t *owners = patches->owners.data, *order = patches->order.data;
  memset(starts, 0, (n_triangles + 1) * sizeof *starts);
  for (size_t k = 0; k < n_triangles; ++k) {
    if (owners[k] == FLO_NO_PATCH) continue;
    owners[k] = flo_mesh_find_set(owners, (uint32_t)k);
    ++starts[owners[k] + 1];
    ++patches->n_ordered;
  }
  for (size_t k = 0; k < n_triangles; ++k) starts[k + 1] += starts[k];
  for (size_t k = 0; k < n_triangles; ++k)
    if (owners[k] != FLO_NO_PATCH) order[starts[owners[k]]++] = (uint32_t)k;
}

static FloStatus build(FloPatches *patches, const FloMesh *mesh, const uint8_t *sides, FloBuffer *list,
                       FloError *error) {
  const size_t n = mesh->n_triangles;
  size_t n_sides = 0;
  FLO_TRY(list_sides(patches->memory, mesh, sides, list, &n_sides, error));
  FLO_TRY(flo_buffer_reserve(patches->memory, &patches->owners, n * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(patches->memory, &patches->inner, n, 0, error));
  FLO_TRY(flo_buffer_reserve(patches->memory, &patches->order, n * sizeof(uint32_t), 0, error));
  memset(patches->inner.data, 0, n);
  for (size_t k = 0; k < n; ++k)
    ((uint32_t *)patches->owners.data)[k] =
        (sides[k] & FLO_ALL_SIDES) == FLO_ALL_SIDES ? (uint32_t)k : FLO_NO_PATCH;
  join_over_edges(patches, mesh, list->data, n_sides);
  FLO_TRY(flo_buffer_reserve(patches->memory, list, (n + 1) * sizeof(uint32_t), 0, error));
  order_by_owner(patches, n, list->data);
  return FLO_OK;
}

FloStatus flo_patches_build(FloPatches *patches, FloMemory *memory, const FloMesh *mesh, const uint8_t *sides,
                            FloError *error) {
  FloBuffer list = {0};
  *patches = (FloPatches){.memory = memory};
  FloStatus status = build(patches, mesh, sides, &list, error);
  flo_buffer_free(memory, &list);
  if (status != FLO_OK) flo_patches_free(patches);
  return status;
}

void flo_patches_free(FloPatches *patches) {
  if (!patches->memory) return;
  flo_buffer_free(patches->memory, &patches->owners);
  flo_buffer_free(patches->memory, &patches->inner);
  flo_buffer_free(patches->memory, &patches->order);
  patches->n_ordered = 0;
}

// ---- Rows ----

static void side_vector(const FloMesh *mesh, uint32_t triangle, int corner, double d[3]) {
  vec_sub(flo_mesh_corner(mesh, triangle, (corner + 1) % 3), flo_mesh_corner(mesh, triangle, corner), d);
}

static void find_axes(const FloPatches *patches, const FloMesh *mesh, const uint32_t *triangles, size_t n,
                      FloPatchFrame *frame) {
  const uint8_t *inner = patches->inner.data;
  double longest = -1, largest = -1, normal[3] = {0}, d[3], e[3], m[3];
  for (size_t k = 0; k < n; ++k) {
    uint32_t triangle = triangles[k];
    for (int corner = 0; corner < 3; ++corner) {
      side_vector(mesh, triangle, corner, d);
      if (inner[triangle] >> corner & 1 || !(vec_dot(d, d) > longest)) continue;
      longest = vec_dot(d, d);
      vec_scale(d, 1 / sqrt(longest), frame->u);
    }
    side_vector(mesh, triangle, 0, d), side_vector(mesh, triangle, 1, e);
    vec_cross(d, e, m);
    if (!(vec_dot(m, m) > largest)) continue;
    largest = vec_dot(m, m);
    vec_copy(m, normal);
  }
  vec_cross(normal, frame->u, frame->v);
  double length = vec_length(frame->v);
  vec_scale(frame->v, length > 0 ? 1 / length : 0, frame->v);
}

void flo_patch_frame(const FloPatches *patches, const FloMesh *mesh, const uint32_t *triangles,
                     size_t n_triangles, FloPatchFrame *frame) {
  const uint8_t *inner = patches->inner.data;
  *frame = (FloPatchFrame){.low = INFINITY, .high = -INFINITY};
  frame->low_side = frame->high_side = FLO_NO_PATCH;
  find_axes(patches, mesh, triangles, n_triangles, frame);
  for (size_t k = 0; k < 3 * n_triangles; ++k) {
    double height = vec_dot(flo_mesh_corner(mesh, triangles[k / 3], (int)(k % 3)), frame->v);
    frame->low = fmin(frame->low, height), frame->high = fmax(frame->high, height);
  }
  const double tolerance = largest_bend * (frame->high - frame->low);
  for (size_t k = 0; k < 3 * n_triangles; ++k) {
    uint32_t triangle = triangles[k / 3];
    int corner = (int)(k % 3);
    double a = vec_dot(flo_mesh_corner(mesh, triangle, corner), frame->v);
    double b = vec_dot(flo_mesh_corner(mesh, triangle, (corner + 1) % 3), frame->v);
    if (inner[triangle] >> corner & 1) continue;
    if (fmax(a, b) <= frame->low + tolerance) frame->low_side = 3 * triangle + (uint32_t)corner;
    if (fmin(a, b) >= frame->high - tolerance) frame->high_side = 3 * triangle + (uint32_t)corner;
  }
}

// Finds where a row at `height` enters and leaves a triangle whose corners lie at `heights`. A corner on the
// row counts as below. Triangles with a common corner, or a common side along the row, therefore neither
// overlap nor leave a gap.
static bool cut_triangle(const FloMesh *mesh, const FloPatchFrame *frame, const double heights[3],
                         double height, FloRowPiece *piece) {
  double ends[3][3];
  int n = 0;
  for (int corner = 0; corner < 3; ++corner) {
    double a = heights[corner], b = heights[(corner + 1) % 3], side[3];
    if ((a <= height) == (b <= height)) continue;
    side_vector(mesh, piece->triangle, corner, side);
    vec_add_scaled(flo_mesh_corner(mesh, piece->triangle, corner), side, (height - a) / (b - a), ends[n++]);
  }
  if (n != 2) return false;
  double first = vec_dot(ends[0], frame->u), second = vec_dot(ends[1], frame->u);
  bool is_turned = second < first;
  piece->begin = is_turned ? second : first, piece->end = is_turned ? first : second;
  vec_copy(ends[is_turned], piece->from), vec_copy(ends[!is_turned], piece->to);
  return true;
}

static int compare_pieces(const void *a, const void *b) {
  const FloRowPiece *p = a, *q = b;
  if (p->row != q->row) return p->row < q->row ? -1 : 1;
  if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
  return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static FloStatus cut_into_rows(const FloPatches *patches, const FloMesh *mesh, uint32_t triangle,
                               const FloPatchFrame *frame, const FloPatchRows *rows, FloBuffer *pieces,
                               size_t *n, FloError *error) {
  const double step = (rows->high - rows->low) / (double)rows->n_steps;
  double heights[3], least = INFINITY, most = -INFINITY;
  for (int corner = 0; corner < 3; ++corner) {
    heights[corner] = vec_dot(flo_mesh_corner(mesh, triangle, corner), frame->v);
    least = fmin(least, heights[corner]), most = fmax(most, heights[corner]);
  }
  double first = fmax(floor((least - rows->low) / step), 1);
  double last = fmin(ceil((most - rows->low) / step), (double)rows->n_steps - 1);
  for (double row = first; row <= last; ++row) {
    FloRowPiece piece = {.row = (uint32_t)row, .triangle = triangle};
    if (!cut_triangle(mesh, frame, heights, rows->low + row * step, &piece)) continue;
    if ((*n + 1) * sizeof piece > pieces->capacity)
      FLO_TRY(flo_buffer_reserve(patches->memory, pieces, (2 * *n + 64) * sizeof piece, *n * sizeof piece,
                                 error));
    ((FloRowPiece *)pieces->data)[(*n)++] = piece;
  }
  return FLO_OK;
}

FloStatus flo_patch_cut_rows(const FloPatches *patches, const FloMesh *mesh, const uint32_t *triangles,
                             size_t n_triangles, const FloPatchFrame *frame, const FloPatchRows *rows,
                             FloBuffer *pieces, size_t *n_pieces, FloError *error) {
  size_t n = 0;
  for (size_t k = 0; k < n_triangles; ++k)
    FLO_TRY(cut_into_rows(patches, mesh, triangles[k], frame, rows, pieces, &n, error));
  *n_pieces = n;
  if (n) qsort(pieces->data, n, sizeof(FloRowPiece), compare_pieces);
  return FLO_OK;
}
