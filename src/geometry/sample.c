// Surface samples after Akinci et al. 2013 (Coupling Elastic Solids with SPH Fluids), section 2.4: vertices,
// edges, and rows within triangles that run parallel to the shortest edge.
//
// The paper takes all of them, which oversamples needles and fine meshes, and rounds the number of steps
// down, which undersamples edges of almost two spacings. Here the elements only offer candidates, and a
// thinner decides which become samples: a candidate must keep its distance, must not lie where samples
// abound, and must not lift the number density of any sample above its upper bound, which therefore always
// holds. Those that are only a little too near to others, but lie where samples are few, are tried once more
// when all of their kind are in: they close gaps. Samples that are left below the lower bound, at free
// borders and at the tips of spikes for instance, get company in further rounds with finer candidates.
#include "geometry/sample.h"

#include "base/vecmath.h"
#include "geometry/patches.h"
#include "geometry/sides.h"
#include "geometry/walk_set.h"

#include <math.h>
#include <string.h>

static const double max_samples = 1e9;
// In spacings; a quarter from corner to corner.
static const double longest_walk_cell = 0.144;

static const FloThinRule first_rule = {0.97, 0.55, 1.4, false}, gap_rule = {0.55, 0.55, 1.5, false};

enum { IS_USED = 1, IS_SAMPLE = 2 }; // marks of vertices
enum { IS_FAR = 0, IS_NEAR = 1 };    // the same during repairs: how far from weak samples
#define NO_VERTEX UINT32_MAX

typedef struct Candidate {
  double point[3];
  uint32_t triangle; // on which it lies
  uint32_t vertex;   // that it is; or NO_VERTEX
} Candidate;

typedef struct Sampler {
  const FloMesh *mesh;
  FloMemory *memory;
  FloError *error;
  const FloBvh *bvh; // NULL unless samples leave the surface or move on it
  FloThinner *thinner;
  double spacing;
  bool is_first_try;  // of candidates that may have another
  double latest[3];   // sample
  FloBuffer deferred; // candidates to try once more
  size_t n_deferred;
  FloBuffer marks; // bytes, per vertex
  FloBuffer edges; // hash set of edges done
  uint64_t edge_mask;
  FloBuffer sides; // bytes, per triangle: bit k for the side from corner k, and more
  FloSideSurvey survey;
  FloPatches patches;  // of triangles with three long sides
  FloBuffer pieces;    // of the rows of a patch
  FloBuffer near_weak; // numbers of the triangles that may help
  size_t n_near_weak;
  int layer;
  double depth;     // of the layer
  double low[3];    // corner of the box around the mesh
  FloWalkSet walks; // from where walks inwards began
} Sampler;

static FloStatus grow(const Sampler *sampler, FloBuffer *buffer, size_t count, size_t size) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(sampler->memory, buffer, (2 * count + 64) * size, count * size, sampler->error);
}

// ---- Candidates ----

static FloStatus defer(Sampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  FLO_TRY(grow(sampler, &sampler->deferred, sampler->n_deferred, sizeof(Candidate)));
  Candidate *last = (Candidate *)sampler->deferred.data + sampler->n_deferred++;
  *last = (Candidate){{point[0], point[1], point[2]}, triangle, vertex};
  return FLO_OK;
}

static void set_rule(Sampler *sampler, const FloThinRule *rule) {
  sampler->is_first_try = rule->retry_distance < rule->min_distance;
  vec_set(sampler->latest, INFINITY, INFINITY, INFINITY);
  flo_thinner_set_rule(sampler->thinner, sampler->layer, rule);
}

// Whether it is clear without a judgement that a candidate is a little too near. The next one along a row or
// a mesh is often beside the sample just made. What stands against it besides will do so at the second try.
static inline bool is_beside_latest(const Sampler *sampler, const double point[3]) {
  static const double least = 0.56 * 0.56,
                      most = 0.96 * 0.96; // surely within the distances of the first rule
  double d[3], unit = sampler->spacing * sampler->spacing;
  vec_sub(point, sampler->latest, d);
  double square = vec_dot(d, d);
  return sampler->is_first_try && square > least * unit && square < most * unit;
}

// Takes the point itself, in its depth, as a candidate.
static FloStatus consider(Sampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  FloVerdict verdict;
  if (is_beside_latest(sampler, point)) return defer(sampler, point, triangle, vertex);
  FLO_TRY(flo_thinner_offer(sampler->thinner, point, triangle, &verdict, sampler->error));
  if (verdict == FLO_TOO_NEAR) return defer(sampler, point, triangle, vertex);
  if (verdict != FLO_ACCEPTED) return FLO_OK;
  vec_copy(point, sampler->latest);
  if (vertex != NO_VERTEX && !(sampler->depth > 0)) ((uint8_t *)sampler->marks.data)[vertex] = IS_SAMPLE;
  return FLO_OK;
}

// ---- Walks inwards ----

static FloStatus begin_walks(Sampler *sampler, double cell) {
  if (!(sampler->depth > 0)) return FLO_OK;
  return flo_walk_set_begin(&sampler->walks, sampler->memory, sampler->low, cell * sampler->spacing,
                            sampler->error);
}

// Takes the point of the layer below a surface point as a candidate. Lower layers exist only where the body
// is thick enough.
static FloStatus offer(Sampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  double sunk[3];
  if (!(sampler->depth > 0)) return consider(sampler, point, triangle, vertex);
  if (flo_walk_set_has(&sampler->walks, point)) return FLO_OK;
  double reached = flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  if (reached > 0) FLO_TRY(flo_walk_set_add(&sampler->walks, sampler->memory, point, sampler->error));
  bool is_deep = sampler->layer == 0 ? reached > 0 : reached > 0.95 * sampler->depth;
  return is_deep ? consider(sampler, sunk, triangle, vertex) : FLO_OK;
}

// Tries those again that were only a little too near to others.
static FloStatus close_gaps(Sampler *sampler) {
  set_rule(sampler, &gap_rule);
  for (size_t k = 0, n = sampler->n_deferred; k < n; ++k) {
    Candidate again = ((Candidate *)sampler->deferred.data)[k];
    FLO_TRY(consider(sampler, again.point, again.triangle, again.vertex));
  }
  sampler->n_deferred = 0;
  return FLO_OK;
}

// Into how many steps a length is divided. Steps of up to 1.3 spacings are let pass, because two of 0.65 are
// worse than one of 1.3; longer ones, which the paper allows, leave gaps.
static size_t count_steps(const Sampler *sampler, double length) {
  double n = ceil(length / sampler->spacing - (FLO_LONGEST_STEP - 1));
  return n > 1 ? (size_t)n : 1;
}

static FloStatus offer_between(Sampler *sampler, const double a[3], const double b[3], size_t n_steps,
                               uint32_t triangle) {
  double along[3], p[3];
  vec_sub(b, a, along);
  for (size_t k = 1; k < n_steps; ++k) {
    vec_add_scaled(a, along, (double)k / (double)n_steps, p);
    FLO_TRY(offer(sampler, p, triangle, NO_VERTEX));
  }
  return FLO_OK;
}

// How far below the surface ends short of where it ends above: by so much the point of the layer below a
// surface point lies in a direction. At the edge of a box that is the depth.
static double trim_at(const Sampler *sampler, const double point[3], uint32_t triangle,
                      const double direction[3]) {
  double sunk[3];
  if (!(sampler->depth > 0)) return 0;
  flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  vec_sub(sunk, point, sunk);
  return fmin(fmax(vec_dot(sunk, direction), 0), 2 * sampler->depth);
}

// Moves both ends of a line on the surface to where it ends in the layer below; false if nothing is left.
static bool trim_line(const Sampler *sampler, double from[3], uint32_t at_from, double to[3],
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

static double square_length(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double d[3];
  vec_sub(flo_mesh_vertex(mesh, b), flo_mesh_vertex(mesh, a), d);
  return vec_dot(d, d);
}

// Those of the triangle that are met for the first time.
static FloStatus offer_corners(Sampler *sampler, uint32_t triangle) {
  const uint32_t *t = flo_mesh_triangle(sampler->mesh, triangle);
  uint8_t *marks = sampler->marks.data;
  for (int corner = 0; corner < 3; ++corner) {
    if (marks[t[corner]]) continue;
    marks[t[corner]] = IS_USED;
    FLO_TRY(offer(sampler, flo_mesh_vertex(sampler->mesh, t[corner]), triangle, t[corner]));
  }
  return FLO_OK;
}

// Vertices within patches are left to the rows: they are taken for used before they are met.
static void mark_inner_vertices(Sampler *sampler) {
  const uint8_t *inner = sampler->patches.inner.data;
  uint8_t *marks = sampler->marks.data;
  memset(marks, sampler->patches.n_ordered ? IS_USED : 0, sampler->mesh->n_vertices);
  for (size_t k = 0; sampler->patches.n_ordered && k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    for (int side = 0; side < 3; ++side)
      if (!(inner[k] >> side & 1)) marks[t[side]] = marks[t[(side + 1) % 3]] = 0;
  }
}

static FloStatus offer_vertices(Sampler *sampler) {
  const uint8_t *marks = sampler->marks.data;
  mark_inner_vertices(sampler);
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    if (!marks[t[0]] || !marks[t[1]] || !marks[t[2]]) FLO_TRY(offer_corners(sampler, k));
  }
  return FLO_OK;
}

// Whether the edge is met for the first time. The set is large enough for all edges that need it.
static bool remember_edge(const Sampler *sampler, uint32_t a, uint32_t b) {
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
static bool are_corners_samples(const Sampler *sampler, const uint32_t *t) {
  const uint8_t *marks = sampler->marks.data;
  return marks[t[0]] == IS_SAMPLE && marks[t[1]] == IS_SAMPLE && marks[t[2]] == IS_SAMPLE;
}

static FloStatus offer_edge(Sampler *sampler, uint32_t triangle, int side) {
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
static unsigned sides_to_offer(const Sampler *sampler, uint32_t triangle) {
  const unsigned bits = ((uint8_t *)sampler->sides.data)[triangle], crowded = bits >> FLO_FIRST_CROWDED;
  if (crowded && are_corners_samples(sampler, flo_mesh_triangle(sampler->mesh, triangle)))
    return bits & FLO_ALL_SIDES & ~crowded;
  if ((bits & FLO_ALL_SIDES) == FLO_ALL_SIDES && sampler->patches.n_ordered)
    return FLO_ALL_SIDES & ~(unsigned)((uint8_t *)sampler->patches.inner.data)[triangle];
  return bits & FLO_ALL_SIDES;
}

static size_t count_sides_to_offer(const Sampler *sampler) {
  size_t n_sides = 0;
  // Crowded sides have nothing to offer if all vertices became samples.
  bool are_all_samples = !memchr(sampler->marks.data, IS_USED, sampler->mesh->n_vertices);
  if (!sampler->survey.has_spacious && are_all_samples) return 0;
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k)
    for (unsigned bits = sides_to_offer(sampler, k); bits; bits &= bits - 1) ++n_sides;
  return n_sides;
}

// An empty set that has room for all edges.
static FloStatus prepare_edges(Sampler *sampler, size_t n_sides) {
  size_t n_slots = 16;
  // Most edges have two sides; if all had one, three quarters of the slots would be taken.
  while (3 * n_slots < 4 * n_sides) n_slots *= 2;
  sampler->edge_mask = n_slots - 1;
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &sampler->edges, n_slots * sizeof(uint64_t), 0, sampler->error));
  memset(sampler->edges.data, 0xff, n_slots * sizeof(uint64_t));
  return FLO_OK;
}

static FloStatus offer_edges(Sampler *sampler) {
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

static int shortest_side(const FloMesh *mesh, const uint32_t *t) {
  double a = square_length(mesh, t[0], t[1]), b = square_length(mesh, t[1], t[2]);
  double c = square_length(mesh, t[2], t[0]);
  return c < a && c < b ? 2 : a <= b ? 0 : 1;
}

// Rows from the shortest side (ends p and q) to the corner opposite (r).
static FloStatus offer_rows(Sampler *sampler, uint32_t triangle) {
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

// Evenly over a row of pieces that touch each other.
static FloStatus offer_run(Sampler *sampler, const FloRowPiece *pieces, size_t n_pieces) {
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
    FLO_TRY(offer(sampler, p, piece->triangle, NO_VERTEX));
  }
  return FLO_OK;
}

// Where the first and the last row of the layer are, which belong to the border.
static void trim_frame(const Sampler *sampler, const FloPatchFrame *frame, FloPatchRows *rows) {
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

// Rows across a patch of several triangles. The edges within have no samples of their own: these would be
// seams, where rows of different triangles meet.
static FloStatus offer_patch(Sampler *sampler, const uint32_t *triangles, size_t n_triangles) {
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

static FloStatus offer_patches(Sampler *sampler) {
  const uint32_t *order = sampler->patches.order.data, *owners = sampler->patches.owners.data;
  for (size_t first = 0, end; first < sampler->patches.n_ordered; first = end) {
    for (end = first + 1; end < sampler->patches.n_ordered && owners[order[end]] == owners[order[first]];)
      ++end;
    FLO_TRY(end - first > 1 ? offer_patch(sampler, order + first, end - first)
                            : offer_rows(sampler, order[first]));
  }
  return FLO_OK;
}

static FloStatus offer_mesh(Sampler *sampler) {
  FLO_TRY(begin_walks(sampler, longest_walk_cell));
  set_rule(sampler, &first_rule);
  FLO_TRY(offer_vertices(sampler));
  // Before the edges: between vertices that are all samples there may be no room for more.
  FLO_TRY(close_gaps(sampler));
  if (!sampler->survey.has_long) return FLO_OK;
  set_rule(sampler, &first_rule);
  FLO_TRY(offer_edges(sampler));
  // A triangle with a side of one step has no room between its rows' ends, and is in no patch.
  FLO_TRY(offer_patches(sampler));
  return close_gaps(sampler);
}

// ---- Company for weak samples ----

// Which vertices are marked. Those that no triangle uses may be anywhere, even not a number: they are not in
// the box around the marks.
static void find_near_vertices(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *marks = sampler->marks.data;
  double low[3], high[3];
  flo_thinner_bound_marks(sampler->thinner, low, high);
  for (size_t k = 0; k < mesh->n_vertices; ++k) {
    const double *p = flo_mesh_vertex(mesh, k);
    bool is_in_box = p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] &&
                     p[2] >= low[2] && p[2] <= high[2];
    marks[k] = is_in_box && flo_thinner_is_marked(sampler->thinner, p) ? IS_NEAR : IS_FAR;
  }
}

// Triangles that may help: those with a marked corner, and all large ones. A point of a triangle lies within
// 0.58 of its longest side from a corner, so that the corners tell of sides up to 1.7 spacings.
static FloStatus list_near_weak(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  const uint8_t *marks = sampler->marks.data, *sides = sampler->sides.data;
  sampler->n_near_weak = 0;
  find_near_vertices(sampler);
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    unsigned is_near = marks[t[0]] | marks[t[1]] | marks[t[2]];
    if (!((is_near & IS_NEAR) | (sides[k] & FLO_IS_LARGE))) continue;
    FLO_TRY(grow(sampler, &sampler->near_weak, sampler->n_near_weak, sizeof(uint32_t)));
    ((uint32_t *)sampler->near_weak.data)[sampler->n_near_weak++] = k;
  }
  return FLO_OK;
}

static FloStatus offer_if_near(Sampler *sampler, const double point[3], uint32_t triangle) {
  return flo_thinner_is_marked(sampler->thinner, point) ? offer(sampler, point, triangle, NO_VERTEX) : FLO_OK;
}

// Rows of candidates at most a step apart, on the sides too but not at the corners; the first side is the
// shortest.
static FloStatus offer_finely(Sampler *sampler, const double a[3], const double b[3], const double c[3],
                              double step, uint32_t triangle) {
  double ab[3], ac[3], bc[3], p[3], from[3], to[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(c, b, bc);
  double width = vec_length(ab), height = fmax(vec_length(ac), vec_length(bc));
  int n_rows = (int)ceil(height / step);
  for (int row = 0; row < n_rows; ++row) {
    double share = (double)row / n_rows;
    int n_steps = (int)fmax(ceil((1 - share) * width / step), 1);
    vec_add_scaled(a, ac, share, from), vec_add_scaled(b, bc, share, to);
    vec_sub(to, from, to);
    int first = row == 0 ? 1 : 0, last = row == 0 ? n_steps - 1 : n_steps;
    for (int k = first; k <= last; ++k) {
      vec_add_scaled(from, to, (double)k / n_steps, p);
      FLO_TRY(offer_if_near(sampler, p, triangle));
    }
  }
  return FLO_OK;
}

static bool is_box_near_weak(const Sampler *sampler, const double *const corners[3]) {
  double low[3], high[3];
  vec_copy(corners[0], low), vec_copy(corners[0], high);
  for (int corner = 1; corner < 3; ++corner)
    for (int axis = 0; axis < 3; ++axis) {
      double x = corners[corner][axis];
      low[axis] = x < low[axis] ? x : low[axis], high[axis] = x > high[axis] ? x : high[axis];
    }
  return flo_thinner_is_box_marked(sampler->thinner, low, high);
}

// Halves the longest side until a part is a few cells large, then leaves out the parts far from weak samples.
// Corners are not offered, except for those that the halving makes.
static FloStatus offer_parts(Sampler *sampler, const double *const corners[3], double step,
                             uint32_t triangle) {
  double squares[3], d[3], middle[3];
  int longest = 0, shortest = 0;
  for (int side = 0; side < 3; ++side) {
    vec_sub(corners[(side + 1) % 3], corners[side], d);
    squares[side] = vec_dot(d, d);
    longest = squares[side] > squares[longest] ? side : longest;
    shortest = squares[side] < squares[shortest] ? side : shortest;
  }
  double size = sqrt(squares[longest]) / sampler->spacing;
  if (size * sampler->spacing <= step) return FLO_OK;
  if (size <= 16 && !is_box_near_weak(sampler, corners)) return FLO_OK;
  const double *a = corners[longest], *b = corners[(longest + 1) % 3], *c = corners[(longest + 2) % 3];
  if (size <= 3)
    return offer_finely(sampler, corners[shortest], corners[(shortest + 1) % 3], corners[(shortest + 2) % 3],
                        step, triangle);
  vec_add(a, b, middle);
  vec_scale(middle, 0.5, middle);
  FLO_TRY(offer_if_near(sampler, middle, triangle));
  FLO_TRY(offer_parts(sampler, (const double *const[3]){a, middle, c}, step, triangle));
  return offer_parts(sampler, (const double *const[3]){middle, b, c}, step, triangle);
}

// Each corner once, and points in between.
static FloStatus offer_near_weak(Sampler *sampler, double step) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *marks = sampler->marks.data;
  for (size_t i = 0; i < sampler->n_near_weak; ++i) {
    uint32_t triangle = ((uint32_t *)sampler->near_weak.data)[i];
    const uint32_t *t = flo_mesh_triangle(mesh, triangle);
    const double *corners[3];
    for (int corner = 0; corner < 3; ++corner) {
      corners[corner] = flo_mesh_vertex(mesh, t[corner]);
      if (marks[t[corner]] != IS_NEAR) continue;
      marks[t[corner]] = IS_FAR;
      FLO_TRY(offer_if_near(sampler, corners[corner], triangle));
    }
    FLO_TRY(offer_parts(sampler, corners, step, triangle));
  }
  return FLO_OK;
}

// Rounds of ever finer candidates near the samples that are still weak.
static FloStatus repair(Sampler *sampler) {
  // Help comes from within a spacing, and its surface point may be twice the depth off; corners of triangles
  // that are not large are at most another spacing away.
  double reach = 1 + 2 * sampler->depth / sampler->spacing;
  for (size_t k = 0; k < FLO_REPAIR_ROUNDS; ++k) {
    if (!flo_thinner_mark_weak(sampler->thinner, reach + 1)) break;
    FLO_TRY(list_near_weak(sampler));
    flo_thinner_mark_weak(sampler->thinner, reach);
    set_rule(sampler, &flo_repair_rounds[k].rule);
    FLO_TRY(begin_walks(sampler, fmin(longest_walk_cell, flo_repair_rounds[k].step / 2)));
    FLO_TRY(offer_near_weak(sampler, flo_repair_rounds[k].step * sampler->spacing));
  }
  return FLO_OK;
}

// ---- Layers ----

static FloStatus offer_given(Sampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  set_rule(sampler, &first_rule);
  FLO_TRY(begin_walks(sampler, longest_walk_cell));
  for (size_t k = 0; k < n_given; ++k) FLO_TRY(offer(sampler, given[k].point, given[k].triangle, NO_VERTEX));
  return close_gaps(sampler);
}

// `given`, unless NULL, takes the place of the mesh.
static FloStatus sample_layer(Sampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  sampler->n_deferred = 0;
  FLO_TRY(given ? offer_given(sampler, given, n_given) : offer_mesh(sampler));
  return repair(sampler);
}

// ---- The whole ----

static FloStatus find_bounds(const Sampler *sampler, double low[3], double high[3]) {
  const uint8_t *is_used = sampler->marks.data;
  vec_set(low, INFINITY, INFINITY, INFINITY), vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < sampler->mesh->n_vertices; ++k) {
    const double *p = flo_mesh_vertex(sampler->mesh, k);
    if (!is_used[k]) continue;
    if (!vec_is_finite(p))
      return flo_fail(sampler->error, FLO_BAD_INPUT,
                      "mesh: vertex %zu is at (%g, %g, %g); coordinates must be finite", k, p[0], p[1], p[2]);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = p[axis] < low[axis] ? p[axis] : low[axis];
      high[axis] = p[axis] > high[axis] ? p[axis] : high[axis];
    }
  }
  for (int axis = 0; axis < 3; ++axis)
    if (high[axis] - low[axis] > max_samples * sampler->spacing)
      return flo_fail(sampler->error, FLO_BAD_INPUT,
                      "mesh: it is %.3g m long, more than %.0e spacings of %g m; make the spacing larger",
                      high[axis] - low[axis], max_samples, sampler->spacing);
  return FLO_OK;
}

static FloStatus prepare(Sampler *sampler, int layers) {
  const FloMesh *mesh = sampler->mesh;
  double low[3], high[3];
  FLO_TRY(flo_buffer_reserve(sampler->memory, &sampler->marks, mesh->n_vertices, 0, sampler->error));
  FLO_TRY(flo_buffer_reserve(sampler->memory, &sampler->sides, mesh->n_triangles, 0, sampler->error));
  sampler->survey = flo_sides_survey(mesh, sampler->spacing, sampler->marks.data, sampler->sides.data);
  double n_expected = sampler->survey.n_expected * layers;
  FLO_TRY(find_bounds(sampler, low, high));
  vec_copy(low, sampler->low);
  if (!(n_expected <= max_samples))
    return flo_fail(sampler->error, FLO_BAD_INPUT,
                    "mesh: sampling it would take about %.3g particles, more than the %.0e that can be "
                    "handled; make the spacing larger",
                    n_expected, max_samples);
  if (sampler->survey.has_roomy)
    FLO_TRY(flo_patches_build(&sampler->patches, sampler->memory, mesh, sampler->sides.data, sampler->error));
  return flo_thinner_create(&sampler->thinner, sampler->memory, low, high, sampler->spacing, n_expected,
                            sampler->error);
}

// Samples the surface itself, evens the samples out and takes them as candidates for the layers.
static FloStatus sample_relaxed(Sampler *sampler, const FloSampleOptions *options, FloBuffer *given,
                                size_t *n_given) {
  sampler->depth = 0;
  FLO_TRY(sample_layer(sampler, NULL, 0));
  size_t n = flo_thinner_count(sampler->thinner);
  FLO_TRY(flo_buffer_reserve(sampler->memory, given, n * sizeof(FloSurfacePoint), 0, sampler->error));
  FloSurfacePoint *surface = given->data;
  for (size_t k = 0; k < n; ++k) surface[k] = flo_thinner_sample(sampler->thinner, k);
  *n_given = n;
  flo_thinner_clear(sampler->thinner);
  int n_iterations = options->relax_iterations > 0 ? options->relax_iterations : 10;
  return flo_sample_relax(sampler->bvh, sampler->spacing, n_iterations, options->threads, surface, n,
                          sampler->error);
}

static FloStatus sample_layers(Sampler *sampler, const FloSampleOptions *options, int layers) {
  FloBuffer given = {0};
  size_t n_given = 0;
  FloStatus status = options->relax ? sample_relaxed(sampler, options, &given, &n_given) : FLO_OK;
  for (sampler->layer = 0; status == FLO_OK && sampler->layer < layers; ++sampler->layer) {
    sampler->depth = options->inset + sampler->layer * sampler->spacing;
    status = sample_layer(sampler, given.data, n_given);
  }
  flo_buffer_free(sampler->memory, &given);
  return status;
}

static FloStatus write_points(const Sampler *sampler, FloPoints *points) {
  const size_t n = flo_thinner_count(sampler->thinner), size = 3 * sizeof(double);
  FLO_TRY(flo_buffer_reserve(points->memory, &points->buffer, (points->count + n) * size,
                             points->count * size, sampler->error));
  for (size_t k = 0; k < n; ++k) {
    FloSurfacePoint sample = flo_thinner_sample(sampler->thinner, k);
    vec_copy(sample.point, flo_points_at(points, points->count++));
  }
  return FLO_OK;
}

static void free_sampler(Sampler *sampler) {
  FloBuffer *buffers[] = {&sampler->deferred, &sampler->marks,       &sampler->edges, &sampler->near_weak,
                          &sampler->sides,    &sampler->walks.slots, &sampler->pieces};
  flo_patches_free(&sampler->patches);
  flo_thinner_destroy(sampler->thinner);
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(sampler->memory, buffers[k]);
}

static FloStatus check_options(const FloSampleOptions *options, FloError *error) {
  if (!(options->spacing > 0) || !isfinite(options->spacing))
    return flo_fail(error, FLO_BAD_INPUT, "mesh: the spacing of samples must be positive, got %g",
                    options->spacing);
  if (!(options->inset >= 0) || options->inset > 16 * options->spacing)
    return flo_fail(error, FLO_BAD_INPUT,
                    "mesh: the inset of samples must be at least 0 and at most 16 spacings, got %g",
                    options->inset);
  if (options->layers < 0 || options->layers > 16)
    return flo_fail(error, FLO_BAD_INPUT, "mesh: there can be 1 to 16 layers of samples, got %d",
                    options->layers);
  return FLO_OK;
}

FloStatus flo_sample_surface(const FloMesh *mesh, const FloSampleOptions *options, FloPoints *points,
                             FloError *error) {
  FLO_TRY(check_options(options, error));
  if (!mesh->n_triangles) return FLO_OK;
  int layers = options->layers > 0 ? options->layers : 1;
  Sampler sampler = {.mesh = mesh, .memory = points->memory, .error = error, .spacing = options->spacing};
  FloBvh bvh = {0};
  FloStatus status = prepare(&sampler, layers);
  if (status == FLO_OK && (options->inset > 0 || layers > 1 || options->relax)) {
    status = flo_bvh_build(&bvh, mesh, error);
    sampler.bvh = &bvh;
  }
  if (status == FLO_OK) status = sample_layers(&sampler, options, layers);
  if (status == FLO_OK) status = write_points(&sampler, points);
  flo_bvh_free(&bvh);
  free_sampler(&sampler);
  return status;
}
