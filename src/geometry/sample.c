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

#include <math.h>
#include <string.h>

static const double max_samples = 1e9;
static const double longest_step = 1.3; // between candidates, in spacings
// In spacings; a quarter from corner to corner.
static const double longest_walk_cell = 0.144;

static const FloThinRule first_rule = {0.97, 0.55, 1.4, false}, gap_rule = {0.55, 0.55, 1.5, false};

enum { IS_USED = 1, IS_SAMPLE = 2 };  // marks of vertices
enum { IS_UNKNOWN, IS_FAR, IS_NEAR }; // the same during repairs: how far from weak samples
// Bits of triangles: long sides; whether one is very long; long sides whose middle has the corners so near
// that it cannot become a sample if these are samples.
enum { ALL_SIDES = 7, IS_LARGE = 8, FIRST_CROWDED = 4 };

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
  FloBuffer deferred; // candidates to try once more
  size_t n_deferred;
  FloBuffer marks; // bytes, per vertex
  FloBuffer edges; // hash set of edges done
  uint64_t edge_mask;
  FloBuffer sides;     // bytes, per triangle: bit k for the side from corner k, and more
  FloBuffer near_weak; // numbers of the triangles that may help
  size_t n_near_weak;
  int layer;
  double depth;     // of the layer
  double low[3];    // corner of the box around the mesh
  FloBuffer walked; // hash set of the cells from which a walk inwards began
  size_t n_walked, n_walk_slots;
  double walk_cell; // [m]
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

// Takes the point itself, in its depth, as a candidate.
static FloStatus consider(Sampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  FloVerdict verdict;
  FLO_TRY(flo_thinner_offer(sampler->thinner, point, triangle, &verdict, sampler->error));
  if (vertex != NO_VERTEX && verdict == FLO_ACCEPTED && !(sampler->depth > 0))
    ((uint8_t *)sampler->marks.data)[vertex] = IS_SAMPLE;
  return verdict == FLO_TOO_NEAR ? defer(sampler, point, triangle, vertex) : FLO_OK;
}

// ---- Walks inwards ----

// A walk costs as much as some hundred candidates. On triangles much finer than the spacing most of them
// would lead to the same places: one from each cell of the surface is enough.
static FloStatus begin_walks(Sampler *sampler, double cell) {
  const size_t n_slots = 1024;
  if (!(sampler->depth > 0)) return FLO_OK;
  sampler->walk_cell = cell * sampler->spacing;
  if (sampler->n_walk_slots < n_slots) {
    FLO_TRY(
        flo_buffer_reserve(sampler->memory, &sampler->walked, n_slots * sizeof(uint64_t), 0, sampler->error));
    sampler->n_walk_slots = n_slots;
  }
  sampler->n_walked = 0;
  memset(sampler->walked.data, 0, sampler->n_walk_slots * sizeof(uint64_t));
  return FLO_OK;
}

// The finaliser of splitmix64 (Steele et al. 2014) over the numbers of a cell; never 0.
static uint64_t walk_key(const Sampler *sampler, const double point[3]) {
  uint64_t hash = 0;
  for (int axis = 0; axis < 3; ++axis) {
    hash = (hash ^ (uint64_t)((point[axis] - sampler->low[axis]) / sampler->walk_cell)) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return hash | 1;
}

static uint64_t *find_walk(const Sampler *sampler, uint64_t key) {
  uint64_t *slots = sampler->walked.data;
  size_t mask = sampler->n_walk_slots - 1, slot = (size_t)(key >> 7) & mask;
  while (slots[slot] && slots[slot] != key) slot = (slot + 1) & mask;
  return &slots[slot];
}

static FloStatus remember_walk(Sampler *sampler, uint64_t key) {
  *find_walk(sampler, key) = key;
  if (2 * ++sampler->n_walked < sampler->n_walk_slots) return FLO_OK;
  FloBuffer old = sampler->walked;
  size_t n_old = sampler->n_walk_slots;
  sampler->walked = (FloBuffer){0};
  FloStatus status =
      flo_buffer_reserve(sampler->memory, &sampler->walked, 4 * n_old * sizeof(uint64_t), 0, sampler->error);
  if (status == FLO_OK) {
    sampler->n_walk_slots = 4 * n_old;
    memset(sampler->walked.data, 0, sampler->n_walk_slots * sizeof(uint64_t));
    for (size_t k = 0; k < n_old; ++k) {
      uint64_t other = ((uint64_t *)old.data)[k];
      if (other) *find_walk(sampler, other) = other;
    }
  }
  flo_buffer_free(sampler->memory, &old);
  return status;
}

// Takes the point of the layer below a surface point as a candidate. Lower layers exist only where the body
// is thick enough.
static FloStatus offer(Sampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex) {
  double sunk[3];
  if (!(sampler->depth > 0)) return consider(sampler, point, triangle, vertex);
  uint64_t key = walk_key(sampler, point);
  if (*find_walk(sampler, key)) return FLO_OK;
  double reached = flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  if (reached > 0) FLO_TRY(remember_walk(sampler, key));
  bool is_deep = sampler->layer == 0 ? reached > 0 : reached > 0.95 * sampler->depth;
  return is_deep ? consider(sampler, sunk, triangle, vertex) : FLO_OK;
}

// Tries those again that were only a little too near to others.
static FloStatus close_gaps(Sampler *sampler) {
  flo_thinner_set_rule(sampler->thinner, sampler->layer, &gap_rule);
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
  double n = ceil(length / sampler->spacing - (longest_step - 1));
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

static double square_length(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double d[3];
  vec_sub(flo_mesh_vertex(mesh, b), flo_mesh_vertex(mesh, a), d);
  return vec_dot(d, d);
}

static FloStatus offer_vertices(Sampler *sampler) {
  uint8_t *marks = sampler->marks.data;
  memset(marks, 0, sampler->mesh->n_vertices);
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    for (int corner = 0; corner < 3; ++corner) {
      if (marks[t[corner]]) continue;
      marks[t[corner]] = IS_USED;
      FLO_TRY(offer(sampler, flo_mesh_vertex(sampler->mesh, t[corner]), k, t[corner]));
    }
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
  size_t n_steps = count_steps(sampler, sqrt(square_length(mesh, a, b)));
  return offer_between(sampler, flo_mesh_vertex(mesh, a), flo_mesh_vertex(mesh, b), n_steps, triangle);
}

// Bits of the long sides, without those whose middle is sure to be refused.
static unsigned sides_to_offer(const Sampler *sampler, uint32_t triangle) {
  const unsigned bits = ((uint8_t *)sampler->sides.data)[triangle], crowded = bits >> FIRST_CROWDED;
  if (crowded && are_corners_samples(sampler, flo_mesh_triangle(sampler->mesh, triangle)))
    return bits & ALL_SIDES & ~crowded;
  return bits & ALL_SIDES;
}

static FloStatus prepare_edges(Sampler *sampler) {
  size_t n_sides = 0, n_slots = 16;
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k)
    for (unsigned bits = sides_to_offer(sampler, k); bits; bits &= bits - 1) ++n_sides;
  // Most edges have two sides; if all had one, three quarters of the slots would be taken.
  while (3 * n_slots < 4 * n_sides) n_slots *= 2;
  sampler->edge_mask = n_slots - 1;
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &sampler->edges, n_slots * sizeof(uint64_t), 0, sampler->error));
  memset(sampler->edges.data, 0xff, n_slots * sizeof(uint64_t));
  return FLO_OK;
}

static FloStatus offer_edges(Sampler *sampler) {
  FLO_TRY(prepare_edges(sampler));
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

static FloStatus offer_mesh(Sampler *sampler) {
  FLO_TRY(begin_walks(sampler, longest_walk_cell));
  flo_thinner_set_rule(sampler->thinner, sampler->layer, &first_rule);
  FLO_TRY(offer_vertices(sampler));
  // Before the edges: between vertices that are all samples there may be no room for more.
  FLO_TRY(close_gaps(sampler));
  flo_thinner_set_rule(sampler->thinner, sampler->layer, &first_rule);
  FLO_TRY(offer_edges(sampler));
  // A triangle with a side of one step has no room between its rows' ends.
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k)
    if ((((uint8_t *)sampler->sides.data)[k] & ALL_SIDES) == ALL_SIDES) FLO_TRY(offer_rows(sampler, k));
  return close_gaps(sampler);
}

// ---- Company for weak samples ----

// Triangles that may help: those with a marked corner, and all large ones. A point of a triangle lies within
// 0.58 of its longest side from a corner, so that the corners tell of sides up to 1.7 spacings.
static FloStatus list_near_weak(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *marks = sampler->marks.data, *sides = sampler->sides.data;
  sampler->n_near_weak = 0;
  // Vertices that no triangle uses may be anywhere, and are not looked at.
  memset(marks, IS_UNKNOWN, mesh->n_vertices);
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    bool is_listed = sides[k] & IS_LARGE;
    for (int corner = 0; corner < 3; ++corner) {
      uint8_t *mark = &marks[t[corner]];
      if (*mark == IS_UNKNOWN)
        *mark = flo_thinner_is_marked(sampler->thinner, flo_mesh_vertex(mesh, t[corner])) ? IS_NEAR : IS_FAR;
      is_listed |= *mark == IS_NEAR;
    }
    if (!is_listed) continue;
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
    flo_thinner_set_rule(sampler->thinner, sampler->layer, &flo_repair_rounds[k].rule);
    FLO_TRY(begin_walks(sampler, fmin(longest_walk_cell, flo_repair_rounds[k].step / 2)));
    FLO_TRY(offer_near_weak(sampler, flo_repair_rounds[k].step * sampler->spacing));
  }
  return FLO_OK;
}

// ---- Layers ----

static FloStatus offer_given(Sampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  flo_thinner_set_rule(sampler->thinner, sampler->layer, &first_rule);
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

// Which sides of a triangle are long, and so on: see ALL_SIDES.
//
// The middle of a side c is crowded if the three corners add up to more than the rule allows. They are half
// of c away, twice, and the median, 4 m^2 = 2 (a^2 + b^2) - c^2. As q^3 is convex in x = q^2, the kernel's
// shape 1 - 6 x + 6 q^3 is at least 0.86 - 2.76 x, its tangent at q = 0.36; the sum of three exceeds 1.4 if
// c^2 + 2 (a^2 + b^2) < 6.83 spacings^2. Such are the diagonals of a cloth whose threads are a spacing apart,
// half of all candidates.
static uint8_t describe_sides(const double squares[3], double spacing) {
  const double unit = spacing * spacing, limit = longest_step * longest_step * unit;
  const double twice = 2 * (squares[0] + squares[1] + squares[2]);
  unsigned bits = 0;
  for (int side = 0; side < 3; ++side) {
    bool is_long = squares[side] > limit, is_one_step = squares[side] < 4 * unit;
    bool is_crowded = is_long && is_one_step && twice - squares[side] < 6.83 * unit;
    bits |= (unsigned)is_long << side | (unsigned)is_crowded << (FIRST_CROWDED + side);
    if (squares[side] > 1.7 * 1.7 * unit) bits |= IS_LARGE;
  }
  return (uint8_t)bits;
}

// The square of twice the area of a triangle, after Heron; a little noise if it is a needle.
static double heron(const double squares[3]) {
  double sum = squares[0] + squares[1] - squares[2], result = squares[0] * squares[1] - sum * sum / 4;
  return result > 0 ? result : 0;
}

// Goes over the triangles once: which sides are long (those of one step have nothing between their ends, and
// fine meshes consist of them), which vertices are in use, and how many samples to expect.
static double survey(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  const double spacing = sampler->spacing;
  uint8_t *is_used = sampler->marks.data, *sides = sampler->sides.data;
  double area = 0, length = 0;
  memset(is_used, 0, mesh->n_vertices);
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    is_used[t[0]] = is_used[t[1]] = is_used[t[2]] = 1;
    const double squares[3] = {square_length(mesh, t[0], t[1]), square_length(mesh, t[1], t[2]),
                               square_length(mesh, t[2], t[0])};
    area += sqrt(heron(squares)) / 2;
    sides[k] = describe_sides(squares, spacing);
    unsigned spacious = sides[k] & ~(sides[k] >> FIRST_CROWDED) & ALL_SIDES;
    // Half, because the neighbour counts it too.
    for (int side = 0; spacious; ++side, spacious >>= 1)
      if (spacious & 1) length += sqrt(squares[side]) / 2;
  }
  return area / (spacing * spacing) + length / spacing + 64;
}

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
  double n_expected = survey(sampler) * layers;
  FLO_TRY(find_bounds(sampler, low, high));
  vec_copy(low, sampler->low);
  if (!(n_expected <= max_samples))
    return flo_fail(sampler->error, FLO_BAD_INPUT,
                    "mesh: sampling it would take about %.3g particles, more than the %.0e that can be "
                    "handled; make the spacing larger",
                    n_expected, max_samples);
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
  FloBuffer *buffers[] = {&sampler->deferred,  &sampler->marks, &sampler->edges,
                          &sampler->near_weak, &sampler->sides, &sampler->walked};
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
