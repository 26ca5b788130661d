// Candidates for samples on a mesh: its vertices, points on its edges, and rows of points within its
// triangles. Triangles that lie in one plane form patches, which rows cross as if they were one polygon.
#include "base/vecmath.h"
#include "geometry/sampler.h"

#include <math.h>
#include <string.h>

// ---- Lines ----

// Into how many steps a length is divided. Steps of up to 1.3 spacings are allowed, because two of
// 0.65 are worse than one of 1.3. The paper allows longer steps, too; these leave gaps.
static size_t count_steps(const FloSampler *sampler, double length) {
  double n = ceil(length / sampler->spacing - (FLO_LONGEST_STEP - 1));
  return n > 1 ? (size_t)n : 1;
}

static FloStatus offer_between(FloSampler *sampler, const double a[3], const double b[3], size_t n_steps,
                               uint32_t triangle) {
  double along[3], p[3];
  vec_sub(b, a, along);
  for (size_t k = 1; k < n_steps; ++k) {
    vec_add_scaled(a, along, (double)k / (double)n_steps, p);
    FLO_TRY(flo_sampler_offer(sampler, p, triangle, FLO_NO_VERTEX));
  }
  return FLO_OK;
}

// By how much a layer ends before the surface does, in a direction along the surface. It is the way in this
// direction from a surface point to the point of the layer below it. At the edge of a box it equals the
// depth.
static double trim_at(const FloSampler *sampler, const double point[3], uint32_t triangle,
                      const double direction[3]) {
  double sunk[3];
  if (!(sampler->depth > 0)) return 0;
  flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  vec_sub(sunk, point, sunk);
  return fmin(fmax(vec_dot(sunk, direction), 0), 2 * sampler->depth);
}

// Moves both ends of a line on the surface to where it ends in the layer below; false if nothing is left.
static bool trim_line(const FloSampler *sampler, double from[3], uint32_t at_from, double to[3],
                      uint32_t at_to) {
  double along[3], back[3];
  if (!(sampler->depth > 0)) return true;
  vec_sub(to, from, along);
  double length = vec_length(along);
  if (!(length > 0)) return false;
  vec_scale(along, 1 / length, along), vec_scale(along, -1, back);
  double first = trim_at(sampler, from, at_from, along), last = trim_at(sampler, to, at_to, back);
  if (first + last >= length) return false;
  vec_add_scaled(from, along, first, from), vec_add_scaled(to, back, last, to);
  return true;
}

// ---- Vertices ----

static double square_length(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double d[3];
  vec_sub(flo_mesh_vertex(mesh, b), flo_mesh_vertex(mesh, a), d);
  return vec_dot(d, d);
}

// Offers the corners of the triangle that are met for the first time.
static FloStatus offer_corners(FloSampler *sampler, uint32_t triangle) {
  const uint32_t *t = flo_mesh_triangle(sampler->mesh, triangle);
  uint8_t *marks = sampler->marks.data;
  for (int corner = 0; corner < 3; ++corner) {
    if (marks[t[corner]]) continue;
    marks[t[corner]] = FLO_VERTEX_IS_USED;
    FLO_TRY(flo_sampler_offer(sampler, flo_mesh_vertex(sampler->mesh, t[corner]), triangle, t[corner]));
  }
  return FLO_OK;
}

// Vertices within patches are not offered, because the rows cover the patch. They are marked as used
// beforehand.
static void mark_inner_vertices(FloSampler *sampler) {
  const uint8_t *inner = sampler->patches.inner.data;
  uint8_t *marks = sampler->marks.data;
  memset(marks, sampler->patches.n_ordered ? FLO_VERTEX_IS_USED : 0, sampler->mesh->n_vertices);
  for (size_t k = 0; sampler->patches.n_ordered && k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    for (int side = 0; side < 3; ++side)
      if (!(inner[k] >> side & 1)) marks[t[side]] = marks[t[(side + 1) % 3]] = 0;
  }
}

static FloStatus offer_vertices(FloSampler *sampler) {
  const uint8_t *marks = sampler->marks.data;
  mark_inner_vertices(sampler);
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    if (!marks[t[0]] || !marks[t[1]] || !marks[t[2]]) FLO_TRY(offer_corners(sampler, k));
  }
  return FLO_OK;
}

// ---- Edges ----

// Whether the edge is met for the first time. The set is large enough for all edges that need it.
static bool remember_edge(const FloSampler *sampler, uint32_t a, uint32_t b) {
  uint64_t key = (uint64_t)a << 32 | b, *edges = sampler->edges.data;
  uint64_t slot = (key * 0x9e3779b97f4a7c15u) >> 20;
  while (edges[slot & sampler->edge_mask] != UINT64_MAX) {
    if (edges[slot & sampler->edge_mask] == key) return false;
    ++slot;
  }
  edges[slot & sampler->edge_mask] = key;
  return true;
}

// Whether all corners of a triangle are samples.
static bool are_corners_samples(const FloSampler *sampler, const uint32_t *t) {
  const uint8_t *marks = sampler->marks.data;
  return marks[t[0]] == FLO_VERTEX_IS_SAMPLE && marks[t[1]] == FLO_VERTEX_IS_SAMPLE &&
         marks[t[2]] == FLO_VERTEX_IS_SAMPLE;
}

static FloStatus offer_edge(FloSampler *sampler, uint32_t triangle, int side) {
  const FloMesh *mesh = sampler->mesh;
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  uint32_t from = t[side], to = t[(side + 1) % 3];
  uint32_t a = from < to ? from : to, b = from < to ? to : from;
  if (!remember_edge(sampler, a, b)) return FLO_OK;
  double begin[3], end[3], along[3];
  vec_copy(flo_mesh_vertex(mesh, a), begin), vec_copy(flo_mesh_vertex(mesh, b), end);
  if (!trim_line(sampler, begin, triangle, end, triangle)) return FLO_OK;
  vec_sub(end, begin, along);
  return offer_between(sampler, begin, end, count_steps(sampler, vec_length(along)), triangle);
}

// Bits of the long sides, without those within patches and those whose middle is sure to be refused.
static unsigned sides_to_offer(const FloSampler *sampler, uint32_t triangle) {
  const unsigned bits = ((uint8_t *)sampler->sides.data)[triangle], crowded = bits >> FLO_FIRST_CROWDED;
  if (crowded && are_corners_samples(sampler, flo_mesh_triangle(sampler->mesh, triangle)))
    return bits & FLO_ALL_SIDES & ~crowded;
  if ((bits & FLO_ALL_SIDES) == FLO_ALL_SIDES && sampler->patches.n_ordered)
    return FLO_ALL_SIDES & ~(unsigned)((uint8_t *)sampler->patches.inner.data)[triangle];
  return bits & FLO_ALL_SIDES;
}

static size_t count_sides_to_offer(const FloSampler *sampler) {
  size_t n_sides = 0;
  // Crowded sides have nothing to offer if all vertices became samples.
  bool are_all_samples = !memchr(sampler->marks.data, FLO_VERTEX_IS_USED, sampler->mesh->n_vertices);
  if (!sampler->survey.has_spacious && are_all_samples) return 0;
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k)
    for (unsigned bits = sides_to_offer(sampler, k); bits; bits &= bits - 1) ++n_sides;
  return n_sides;
}

// An empty set that has room for all edges.
static FloStatus prepare_edges(FloSampler *sampler, size_t n_sides) {
  size_t n_slots = 16;
  // Most edges have two sides; if all had one, three quarters of the slots would be taken.
  while (3 * n_slots < 4 * n_sides) n_slots *= 2;
  sampler->edge_mask = n_slots - 1;
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &sampler->edges, n_slots * sizeof(uint64_t), 0, sampler->error));
  memset(sampler->edges.data, 0xff, n_slots * sizeof(uint64_t));
  return FLO_OK;
}

static FloStatus offer_edges(FloSampler *sampler) {
  size_t n_sides = count_sides_to_offer(sampler);
  if (!n_sides) return FLO_OK;
  FLO_TRY(prepare_edges(sampler, n_sides));
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k) {
    unsigned bits = sides_to_offer(sampler, k);
    for (int side = 0; bits; ++side, bits >>= 1)
      if (bits & 1) FLO_TRY(offer_edge(sampler, k, side));
  }
  return FLO_OK;
}

// ---- Rows ----

static int shortest_side(const FloMesh *mesh, const uint32_t *t) {
  double a = square_length(mesh, t[0], t[1]), b = square_length(mesh, t[1], t[2]);
  double c = square_length(mesh, t[2], t[0]);
  return c < a && c < b ? 2 : a <= b ? 0 : 1;
}

// Offers rows of points in one triangle, from its shortest side (ends p and q) to the opposite corner (r).
static FloStatus offer_rows(FloSampler *sampler, uint32_t triangle) {
  const FloMesh *mesh = sampler->mesh;
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  int shortest = shortest_side(mesh, t);
  const double *p = flo_mesh_vertex(mesh, t[shortest]), *q = flo_mesh_vertex(mesh, t[(shortest + 1) % 3]),
               *r = flo_mesh_vertex(mesh, t[(shortest + 2) % 3]);
  double pq[3], pr[3], qr[3], normal[3];
  vec_sub(q, p, pq), vec_sub(r, p, pr), vec_sub(r, q, qr);
  vec_cross(pq, pr, normal);
  double length = vec_length(pq);
  size_t n_rows = count_steps(sampler, vec_length(normal) / length);
  for (size_t row = 1; row < n_rows; ++row) {
    double share = (double)row / (double)n_rows, from[3], to[3];
    size_t n_steps = count_steps(sampler, (1 - share) * length);
    if (n_steps < 2) break;
    vec_add_scaled(p, pr, share, from), vec_add_scaled(q, qr, share, to);
    FLO_TRY(offer_between(sampler, from, to, n_steps, triangle));
  }
  return FLO_OK;
}

// Offers points at even distances along a row, whose pieces in neighbouring triangles touch each other.
static FloStatus offer_run(FloSampler *sampler, const FloRowPiece *pieces, size_t n_pieces) {
  const FloRowPiece *last = &pieces[n_pieces - 1], *piece = pieces;
  double from[3], to[3], d[3], p[3];
  vec_copy(pieces->from, from), vec_copy(last->to, to);
  if (!trim_line(sampler, from, pieces->triangle, to, last->triangle)) return FLO_OK;
  vec_sub(from, pieces->from, d);
  const double begin = pieces->begin + vec_length(d);
  vec_sub(last->to, to, d);
  const double length = last->end - vec_length(d) - begin;
  const size_t n_steps = count_steps(sampler, length);
  for (size_t k = 1; k < n_steps; ++k) {
    double x = begin + length * (double)k / (double)n_steps;
    while (piece < last && x > piece->end) ++piece;
    double width = piece->end - piece->begin;
    vec_sub(piece->to, piece->from, d);
    vec_add_scaled(piece->from, d, width > 0 ? (x - piece->begin) / width : 0, p);
    FLO_TRY(flo_sampler_offer(sampler, p, piece->triangle, FLO_NO_VERTEX));
  }
  return FLO_OK;
}

// Finds the first and the last row of the layer. They belong to the border of the patch.
static void trim_frame(const FloSampler *sampler, const FloPatchFrame *frame, FloPatchRows *rows) {
  const uint32_t sides[2] = {frame->low_side, frame->high_side};
  double trims[2] = {0, 0}, inwards[3], middle[3];
  for (int end = 0; end < 2; ++end) {
    if (sides[end] == FLO_NO_PATCH) continue;
    uint32_t triangle = sides[end] / 3;
    int corner = (int)(sides[end] % 3);
    vec_add(flo_mesh_corner(sampler->mesh, triangle, corner),
            flo_mesh_corner(sampler->mesh, triangle, (corner + 1) % 3), middle);
    vec_scale(middle, 0.5, middle), vec_scale(frame->v, end ? -1 : 1, inwards);
    trims[end] = trim_at(sampler, middle, triangle, inwards);
  }
  rows->low = frame->low + trims[0], rows->high = frame->high - trims[1];
  rows->n_steps = count_steps(sampler, rows->high - rows->low);
}

// Offers rows across a patch of several triangles. Edges within the patch get no samples of their own: they
// would be seams in an even surface.
static FloStatus offer_patch(FloSampler *sampler, const uint32_t *triangles, size_t n_triangles) {
  FloPatchFrame frame;
  FloPatchRows rows;
  size_t n_pieces = 0;
  flo_patch_frame(&sampler->patches, sampler->mesh, triangles, n_triangles, &frame);
  trim_frame(sampler, &frame, &rows);
  if (!(rows.high > rows.low)) return FLO_OK;
  FLO_TRY(flo_patch_cut_rows(&sampler->patches, sampler->mesh, triangles, n_triangles, &frame, &rows,
                             &sampler->pieces, &n_pieces, sampler->error));
  const FloRowPiece *pieces = sampler->pieces.data;
  const double gap = 1e-6 * sampler->spacing;
  for (size_t first = 0, end; first < n_pieces; first = end) {
    for (end = first + 1; end < n_pieces && pieces[end].row == pieces[first].row &&
                          pieces[end].begin <= pieces[end - 1].end + gap;)
      ++end;
    FLO_TRY(offer_run(sampler, pieces + first, end - first));
  }
  return FLO_OK;
}

// Triangles of a patch follow each other in the order. A patch of one triangle has rows along its shortest
// side.
static FloStatus offer_patches(FloSampler *sampler) {
  const uint32_t *order = sampler->patches.order.data, *owners = sampler->patches.owners.data;
  for (size_t first = 0, end; first < sampler->patches.n_ordered; first = end) {
    for (end = first + 1; end < sampler->patches.n_ordered && owners[order[end]] == owners[order[first]];)
      ++end;
    FLO_TRY(end - first > 1 ? offer_patch(sampler, order + first, end - first)
                            : offer_rows(sampler, order[first]));
  }
  return FLO_OK;
}

FloStatus flo_sampler_offer_mesh(FloSampler *sampler) {
  FLO_TRY(flo_sampler_begin_walks(sampler, FLO_LONGEST_WALK_CELL));
  flo_sampler_set_rule(sampler, &flo_sampler_first_rule);
  FLO_TRY(offer_vertices(sampler));
  // Gaps are closed before the edges, because there may be no room for more between vertices that are all
  // samples.
  FLO_TRY(flo_sampler_close_gaps(sampler));
  if (!sampler->survey.has_long) return FLO_OK;
  flo_sampler_set_rule(sampler, &flo_sampler_first_rule);
  FLO_TRY(offer_edges(sampler));
  // Patches hold only triangles with three long sides. The others have no room for samples within.
  FLO_TRY(offer_patches(sampler));
  return flo_sampler_close_gaps(sampler);
}
