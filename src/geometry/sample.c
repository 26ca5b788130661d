// Surface samples after Akinci et al. 2013 (Coupling Elastic Solids with SPH Fluids), section 2.4: vertices,
// edges, and rows within triangles that run parallel to the shortest edge.
//
// The paper takes all of them, which oversamples needles and fine meshes, and rounds the number of steps
// down, which undersamples edges of almost two spacings. Here the elements only offer candidates, and each is
// accepted by what the samples accepted before it add up to:
//
//   w(q) is the cubic spline with w(0) = 1, q = r/H, H = 2 spacing;  W = 8/(pi H^3) w.
//   The paper wants  3.6/H^3 < sum W < 10/H^3  (section 2.3, with 1/H^3 for its Gamma and its h being H: it
//   gives the sample distance as h/2, and draws delta for h = 1), that is  1.41 < sum w < 3.93, the sample's
//   own 1 included. A flat square lattice of one spacing has 1 + 4 w(1/2) + 4 w(0.71) = 2.20, or 5.6/H^3,
//   and a cubic one that fills space 8/H^3.
//
// A candidate must keep its distance, must not lie where samples abound, and must not lift any neighbour
// above the upper bound, which therefore always holds. Those that were only a little too near to others, but
// lie where samples are few, are tried once more when all are in: they close gaps. Samples that are left
// below the lower bound, at the tips of spikes for instance, get company in further rounds with finer
// candidates.
#include "geometry/sample.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

static const double max_samples = 1e9;
static const float least_sum = 1.46f;   // of w, 3.7/H^3
static const float largest_sum = 3.86f; // 9.8/H^3

static const double longest_step = 1.3; // between candidates, in spacings

// What a candidate must fulfil.
typedef struct Rule {
  double min_distance; // from other samples, in spacings
  double max_sum;      // of w at the candidate, without its own
  bool is_repair;      // it must be within a spacing of a sample with too few neighbours
} Rule;

static const Rule first_rule = {0.74, 1.35, false}, gap_rule = {0.55, 1.35, false};
static const Rule repair_rules[] = {{0.5, 1.7, true}, {0.35, 2.2, true}, {0.1, 2.8, true}};
static const double repair_steps[] = {0.5, 0.25, 0.125}; // between candidates, in spacings

#define NONE UINT32_MAX

enum { LANES = 4, MAX_VISITS = 256, N_AROUND = 27 };

typedef float Lanes __attribute__((vector_size(16)));
typedef int32_t LaneMask __attribute__((vector_size(16)));

static inline Lanes in_all_lanes(float a) { return (Lanes){a, a, a, a}; }
// a where the mask is all ones, 0 elsewhere.
static inline Lanes lanes_where(LaneMask mask, Lanes a) { return (Lanes)((LaneMask)a & mask); }
static inline Lanes lanes_sqrt(Lanes a) {
  return (Lanes){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}
static inline double lanes_sum(Lanes a) { return (double)(a[0] + a[1] + (a[2] + a[3])); }
static inline bool is_any_lane(LaneMask mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

// Up to four samples of one cell, so that a vector unit takes them at once. Places are in cells from the low
// corner of the cell; those of lanes without a sample are far away.
typedef struct Block {
  Lanes x, y, z;
  Lanes sum; // of w over all samples, their own included
  LaneMask layer;
  uint64_t cell;
  uint32_t next; // block of the same bucket
  int32_t n;     // samples
} Block;

typedef struct Sample {
  double point[3];
  uint32_t triangle; // from which it came
  uint32_t slot;     // block and lane
} Sample;

typedef struct Sampler {
  const FloMesh *mesh;
  FloMemory *memory;
  FloError *error;
  const FloBvh *bvh; // NULL unless samples leave the surface or move on it
  double spacing;
  FloBuffer samples, blocks;
  size_t n_samples, n_blocks, first_of_layer;
  FloBuffer deferred; // FloSurfacePoint: candidates to try once more
  size_t n_deferred;
  // Cells one H wide. A bucket holds all cells whose number is the same modulo the number of buckets: small
  // grids are indexed directly, large ones hashed.
  FloBuffer heads;   // first block of each bucket
  FloBuffer is_near; // per bucket: bit k if the k-th of the cells around has samples
  FloBuffer is_weak; // bytes, per bucket: whether samples near its cells need company
  uint64_t mask;
  uint64_t n_cells[3], row, sheet; // the number of a cell is x + row y + sheet z
  uint64_t around[N_AROUND];       // what to add to the number of a cell for those around it, itself first
  float shifts[N_AROUND][3];       // the same in steps along the axes
  double low[3], per_cell;
  FloBuffer is_marked; // bytes, per vertex
  FloBuffer edges;     // hash set of edges done
  uint64_t edge_mask;
  FloBuffer long_sides; // bytes, per triangle: bit k for the side from corner k
  size_t n_long_sides;
  FloBuffer near_weak; // numbers of the triangles that may help
  size_t n_near_weak;
  // The layer and the rule at work.
  int layer;
  double depth;
  Rule rule;
  float near, hopeless; // distances from other samples that are too short, and also for a second try [H]
} Sampler;

static Sample *samples_of(const Sampler *sampler) { return sampler->samples.data; }
static Block *blocks_of(const Sampler *sampler) { return sampler->blocks.data; }

// ---- Cells ----

static uint64_t cell_index(const Sampler *sampler, const double p[3], int axis) {
  double x = (p[axis] - sampler->low[axis]) * sampler->per_cell + 1;
  double last = (double)(int64_t)(sampler->n_cells[axis] - 2);
  // Clamping brings points nearer together, never apart: neighbours stay within one cell.
  return (uint64_t)(int64_t)(x > 1 ? (x < last ? x : last) : 1);
}

static uint64_t cell_of(const Sampler *sampler, const double p[3]) {
  return cell_index(sampler, p, 0) + sampler->row * cell_index(sampler, p, 1) +
         sampler->sheet * cell_index(sampler, p, 2);
}

// A point as its cell and the place in it.
typedef struct Place {
  uint64_t cell;
  float at[3];
} Place;

static Place place_of(const Sampler *sampler, const double p[3]) {
  const uint64_t strides[3] = {1, sampler->row, sampler->sheet};
  Place place = {0};
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t index = cell_index(sampler, p, axis);
    place.cell += strides[axis] * index;
    place.at[axis] = (float)((p[axis] - sampler->low[axis]) * sampler->per_cell + 1 - (double)(int64_t)index);
  }
  return place;
}

static void lay_cells(Sampler *sampler, const double low[3], const double high[3]) {
  sampler->per_cell = 0.5 / sampler->spacing;
  for (int axis = 0; axis < 3; ++axis) {
    sampler->low[axis] = low[axis];
    sampler->n_cells[axis] = (uint64_t)((high[axis] - low[axis]) * sampler->per_cell) + 3;
  }
}

// The own cell first, then its neighbours from near to far: candidates are refused as early as can be.
static void number_cells(Sampler *sampler) {
  const uint64_t row = sampler->n_cells[0];
  sampler->row = row, sampler->sheet = row * sampler->n_cells[1];
  int n = 0;
  for (int steps = 0; steps <= 3; ++steps)
    for (int64_t k = 0; k < N_AROUND; ++k) {
      int64_t x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
      if (x * x + y * y + z * z != steps) continue;
      sampler->shifts[n][0] = (float)x, sampler->shifts[n][1] = (float)y, sampler->shifts[n][2] = (float)z;
      sampler->around[n++] = (uint64_t)x + (uint64_t)y * row + (uint64_t)z * sampler->sheet;
    }
}

static void clear_cells(Sampler *sampler) {
  sampler->n_samples = sampler->n_blocks = 0;
  memset(sampler->heads.data, 0xff, (sampler->mask + 1) * sizeof(uint32_t));
  memset(sampler->is_near.data, 0, (sampler->mask + 1) * sizeof(uint32_t));
}

static FloStatus reserve(const Sampler *sampler, FloBuffer *buffer, size_t size) {
  return flo_buffer_reserve(sampler->memory, buffer, size, 0, sampler->error);
}

static FloStatus allocate_cells(Sampler *sampler, double n_expected) {
  double n_cells = (double)sampler->n_cells[0] * (double)sampler->n_cells[1] * (double)sampler->n_cells[2];
  double wanted = fmin(n_cells, 2 * n_expected + 4096);
  size_t n_buckets = 64, n_samples = (size_t)(1.2 * n_expected + 64);
  while ((double)n_buckets < wanted && n_buckets < (1u << 30)) n_buckets *= 2;
  sampler->mask = n_buckets - 1;
  FLO_TRY(reserve(sampler, &sampler->heads, n_buckets * sizeof(uint32_t)));
  FLO_TRY(reserve(sampler, &sampler->is_near, n_buckets * sizeof(uint32_t)));
  FLO_TRY(reserve(sampler, &sampler->samples, n_samples * sizeof(Sample)));
  FLO_TRY(reserve(sampler, &sampler->blocks, n_samples / 2 * sizeof(Block)));
  clear_cells(sampler);
  return FLO_OK;
}

// ---- Accepting candidates ----

typedef enum Verdict { REFUSED, TOO_NEAR, ACCEPTED } Verdict;

// What the samples around a candidate add up to, lane by lane.
typedef struct Tally {
  Lanes sum, sum_in_layer;     // of w, without the candidate's own
  LaneMask too_near, hopeless; // within the rule's distance, within the least; or filled by the candidate
  LaneMask helped;             // weak and within a spacing
} Tally;

typedef struct Candidate {
  const double *point;
  Place place;
  double sum;
  int n_visits;
  Lanes w[MAX_VISITS]; // of the blocks visited
  uint32_t visited[MAX_VISITS];
  uint8_t around[MAX_VISITS]; // where they are
} Candidate;

// Finds the blocks in the cells named by `bits`; false if there are too many.
static bool find_blocks(const Sampler *sampler, uint32_t bits, Candidate *candidate) {
  const uint32_t *heads = sampler->heads.data;
  const Block *blocks = blocks_of(sampler);
  int n = candidate->n_visits;
  for (; bits; bits &= bits - 1) {
    int around = __builtin_ctz(bits);
    uint64_t cell = candidate->place.cell + sampler->around[around];
    for (uint32_t k = heads[cell & sampler->mask]; k != NONE; k = blocks[k].next) {
      if (blocks[k].cell != cell) continue; // another one of the same bucket
      if (n == MAX_VISITS) return false;
      candidate->visited[n] = k, candidate->around[n] = (uint8_t)around, ++n;
    }
  }
  candidate->n_visits = n;
  return true;
}

// Adds the samples of the blocks from number `first`. Only a third of them is within reach, which no
// processor can guess: there are no branches on it, and what is out of reach adds zero.
static void add_blocks(const Sampler *sampler, Candidate *candidate, int first, Tally *total) {
  const float near = sampler->near, hopeless = sampler->hopeless, *at = candidate->place.at;
  const int32_t layer = sampler->layer;
  Tally tally = *total;
  for (int k = first; k < candidate->n_visits; ++k) {
    const Block *block = &blocks_of(sampler)[candidate->visited[k]];
    const float *shift = sampler->shifts[candidate->around[k]];
    Lanes dx = block->x - (at[0] - shift[0]), dy = block->y - (at[1] - shift[1]),
          dz = block->z - (at[2] - shift[2]);
    Lanes q = lanes_sqrt(dx * dx + dy * dy + dz * dz), a = 1 - q, b = 0.5f - q;
    // w(q) = 2 [(1-q)^3 - 4 (1/2-q)^3], truncated powers
    a = lanes_where(a > 0, a), b = lanes_where(b > 0, b);
    Lanes w = 2 * (a * a * a - 4 * (b * b * b));
    candidate->w[k] = w;
    tally.sum += w;
    tally.sum_in_layer += lanes_where(block->layer == layer, w);
    tally.too_near |= q < near;
    tally.hopeless |= (q < hopeless) | (block->sum + w > largest_sum);
    tally.helped |= (q < 0.5f) & (block->sum < least_sum);
  }
  *total = tally;
}

static Verdict judge(const Sampler *sampler, Candidate *candidate) {
  uint32_t near = ((uint32_t *)sampler->is_near.data)[candidate->place.cell & sampler->mask];
  // Whether it is too much already is asked after the own cell, the six next to it, and all.
  const uint32_t groups[3] = {1, 0x7e, 0x7ffff80};
  Tally tally = {0};
  for (int group = 0; group < 3; ++group) {
    int first = candidate->n_visits;
    if (!find_blocks(sampler, near & groups[group], candidate)) return REFUSED;
    if (first == candidate->n_visits) continue;
    add_blocks(sampler, candidate, first, &tally);
    if (is_any_lane(tally.hopeless) || lanes_sum(tally.sum) > (double)largest_sum - 1 ||
        lanes_sum(tally.sum_in_layer) > sampler->rule.max_sum)
      return REFUSED;
  }
  candidate->sum = lanes_sum(tally.sum);
  if (is_any_lane(tally.too_near)) return TOO_NEAR;
  return !sampler->rule.is_repair || is_any_lane(tally.helped) ? ACCEPTED : REFUSED;
}

static FloStatus grow(const Sampler *sampler, FloBuffer *buffer, size_t count, size_t size) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(sampler->memory, buffer, (2 * count + 64) * size, count * size, sampler->error);
}

// A lane for a new sample of the cell, in its newest block or in a new one.
static FloStatus find_slot(Sampler *sampler, uint64_t cell, uint32_t *slot) {
  uint32_t *head = (uint32_t *)sampler->heads.data + (cell & sampler->mask);
  uint32_t number = *head;
  const Block *blocks = blocks_of(sampler);
  while (number != NONE && (blocks[number].cell != cell || blocks[number].n == LANES))
    number = blocks[number].next;
  if (number == NONE) {
    FLO_TRY(grow(sampler, &sampler->blocks, sampler->n_blocks, sizeof(Block)));
    number = (uint32_t)sampler->n_blocks++;
    Block *block = &blocks_of(sampler)[number];
    *block = (Block){.x = in_all_lanes(1e6f), .cell = cell, .next = *head};
    *head = number;
    for (int k = 0; k < N_AROUND; ++k)
      ((uint32_t *)sampler->is_near.data)[(cell - sampler->around[k]) & sampler->mask] |= 1u << k;
  }
  *slot = LANES * number + (uint32_t)blocks_of(sampler)[number].n++;
  return FLO_OK;
}

static FloStatus accept(Sampler *sampler, const Candidate *c, uint32_t triangle) {
  if ((double)sampler->n_samples >= max_samples)
    return flo_fail(sampler->error, FLO_BAD_INPUT, "mesh: more than %.0e samples; make the spacing larger",
                    max_samples);
  for (int k = 0; k < c->n_visits; ++k) blocks_of(sampler)[c->visited[k]].sum += c->w[k];
  uint32_t slot;
  FLO_TRY(grow(sampler, &sampler->samples, sampler->n_samples, sizeof(Sample)));
  FLO_TRY(find_slot(sampler, c->place.cell, &slot));
  Block *block = &blocks_of(sampler)[slot / LANES];
  int lane = slot % LANES;
  block->x[lane] = c->place.at[0], block->y[lane] = c->place.at[1], block->z[lane] = c->place.at[2];
  block->sum[lane] = (float)(1 + c->sum), block->layer[lane] = sampler->layer;
  Sample *sample = &samples_of(sampler)[sampler->n_samples++];
  vec_copy(c->point, sample->point);
  sample->triangle = triangle, sample->slot = slot;
  return FLO_OK;
}

static void set_rule(Sampler *sampler, const Rule *rule) {
  sampler->rule = *rule;
  sampler->near = (float)(rule->min_distance / 2);
  sampler->hopeless = (float)(fmin(rule->min_distance, gap_rule.min_distance) / 2);
}

static FloStatus defer(Sampler *sampler, const double point[3], uint32_t triangle) {
  FLO_TRY(grow(sampler, &sampler->deferred, sampler->n_deferred, sizeof(FloSurfacePoint)));
  FloSurfacePoint *last = (FloSurfacePoint *)sampler->deferred.data + sampler->n_deferred++;
  vec_copy(point, last->point);
  last->triangle = triangle;
  return FLO_OK;
}

// Takes the point itself, in its depth, as a candidate.
static FloStatus consider(Sampler *sampler, const double point[3], uint32_t triangle) {
  Candidate candidate;
  candidate.point = point, candidate.place = place_of(sampler, point), candidate.n_visits = 0;
  Verdict verdict = judge(sampler, &candidate);
  if (verdict == TOO_NEAR) return defer(sampler, point, triangle);
  return verdict == ACCEPTED ? accept(sampler, &candidate, triangle) : FLO_OK;
}

// ---- Candidates ----

// Takes the point of the layer below a surface point as a candidate. Lower layers exist only where the body
// is thick enough.
static FloStatus offer(Sampler *sampler, const double point[3], uint32_t triangle) {
  double sunk[3];
  if (!(sampler->depth > 0)) return consider(sampler, point, triangle);
  double reached = flo_bvh_inset(sampler->bvh, point, triangle, sampler->depth, sunk);
  bool is_deep = sampler->layer == 0 ? reached > 0 : reached > 0.95 * sampler->depth;
  return is_deep ? consider(sampler, sunk, triangle) : FLO_OK;
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
    FLO_TRY(offer(sampler, p, triangle));
  }
  return FLO_OK;
}

static double square_length(const FloMesh *mesh, uint32_t a, uint32_t b) {
  double d[3];
  vec_sub(flo_mesh_vertex(mesh, b), flo_mesh_vertex(mesh, a), d);
  return vec_dot(d, d);
}

static FloStatus offer_vertices(Sampler *sampler) {
  uint8_t *is_marked = sampler->is_marked.data;
  memset(is_marked, 0, sampler->mesh->n_vertices);
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(sampler->mesh, k);
    for (int corner = 0; corner < 3; ++corner) {
      if (is_marked[t[corner]]) continue;
      is_marked[t[corner]] = 1;
      FLO_TRY(offer(sampler, flo_mesh_vertex(sampler->mesh, t[corner]), k));
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

static FloStatus prepare_edges(Sampler *sampler) {
  size_t n_slots = 16;
  // Most edges have two sides; if all had one, three quarters of the slots would be taken.
  while (3 * n_slots < 4 * sampler->n_long_sides) n_slots *= 2;
  sampler->edge_mask = n_slots - 1;
  FLO_TRY(
      flo_buffer_reserve(sampler->memory, &sampler->edges, n_slots * sizeof(uint64_t), 0, sampler->error));
  memset(sampler->edges.data, 0xff, n_slots * sizeof(uint64_t));
  return FLO_OK;
}

static FloStatus offer_edges(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  const uint8_t *is_long = sampler->long_sides.data;
  FLO_TRY(prepare_edges(sampler));
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    for (int side = 0, bits = is_long[k]; bits; ++side, bits >>= 1) {
      if (!(bits & 1)) continue;
      uint32_t from = t[side], to = t[(side + 1) % 3];
      uint32_t a = from < to ? from : to, b = from < to ? to : from;
      if (!remember_edge(sampler, a, b)) continue;
      size_t n_steps = count_steps(sampler, sqrt(square_length(mesh, a, b)));
      FLO_TRY(offer_between(sampler, flo_mesh_vertex(mesh, a), flo_mesh_vertex(mesh, b), n_steps, k));
    }
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
  FLO_TRY(offer_vertices(sampler));
  FLO_TRY(offer_edges(sampler));
  // A triangle with a side of one step has no room between its rows' ends.
  for (uint32_t k = 0; k < sampler->mesh->n_triangles; ++k)
    if (((uint8_t *)sampler->long_sides.data)[k] == 7) FLO_TRY(offer_rows(sampler, k));
  return FLO_OK;
}

// ---- Company for weak samples ----

// Marks the cells up to `reach` away from weak samples of the layer; returns how many samples are weak.
static size_t mark_weak(Sampler *sampler, int reach) {
  uint8_t *is_weak = sampler->is_weak.data;
  size_t n_weak = 0;
  memset(is_weak, 0, sampler->mask + 1);
  for (size_t k = sampler->first_of_layer; k < sampler->n_samples; ++k) {
    const Sample *sample = &samples_of(sampler)[k];
    const Block *block = &blocks_of(sampler)[sample->slot / LANES];
    if (block->sum[sample->slot % LANES] >= least_sum) continue;
    ++n_weak;
    uint64_t cell = cell_of(sampler, sample->point);
    for (int64_t z = -reach; z <= reach; ++z)
      for (int64_t y = -reach; y <= reach; ++y)
        for (int64_t x = -reach; x <= reach; ++x)
          is_weak[(cell + (uint64_t)x + (uint64_t)y * sampler->row + (uint64_t)z * sampler->sheet) &
                  sampler->mask] = 1;
  }
  return n_weak;
}

static bool is_near_weak(const Sampler *sampler, const double p[3]) {
  return ((uint8_t *)sampler->is_weak.data)[cell_of(sampler, p) & sampler->mask];
}

// Triangles that may help: those with a marked corner, and all large ones. A point of a triangle lies within
// 0.58 of its longest side from a corner, so that the corners tell of sides up to 1.7 spacings.
static FloStatus list_near_weak(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *is_marked = sampler->is_marked.data;
  double large = 1.7 * sampler->spacing;
  sampler->n_near_weak = 0;
  // Vertices that no triangle uses may be anywhere, and are not looked at.
  memset(is_marked, 2, mesh->n_vertices);
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    bool is_listed = false;
    for (int corner = 0; corner < 3; ++corner) {
      if (is_marked[t[corner]] == 2)
        is_marked[t[corner]] = is_near_weak(sampler, flo_mesh_vertex(mesh, t[corner]));
      is_listed |= is_marked[t[corner]] != 0;
      is_listed |= square_length(mesh, t[corner], t[(corner + 1) % 3]) > large * large;
    }
    if (!is_listed) continue;
    FLO_TRY(grow(sampler, &sampler->near_weak, sampler->n_near_weak, sizeof(uint32_t)));
    ((uint32_t *)sampler->near_weak.data)[sampler->n_near_weak++] = k;
  }
  return FLO_OK;
}

// Rows of candidates a step apart, on the sides too; the first side is the shortest.
static FloStatus offer_finely(Sampler *sampler, const double a[3], const double b[3], const double c[3],
                              double step, uint32_t triangle) {
  double ab[3], ac[3], bc[3], p[3], from[3], to[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(c, b, bc);
  double width = vec_length(ab), height = fmax(vec_length(ac), vec_length(bc));
  int n_rows = (int)ceil(height / step) + 1;
  for (int row = 0; row <= n_rows; ++row) {
    double share = (double)row / n_rows;
    int n_steps = (int)ceil((1 - share) * width / step) + 1;
    vec_add_scaled(a, ac, share, from), vec_add_scaled(b, bc, share, to);
    vec_sub(to, from, to);
    for (int k = 0; k <= n_steps; ++k) {
      vec_add_scaled(from, to, (double)k / n_steps, p);
      if (is_near_weak(sampler, p)) FLO_TRY(offer(sampler, p, triangle));
    }
  }
  return FLO_OK;
}

static bool is_box_near_weak(const Sampler *sampler, const double *const corners[3]) {
  uint64_t first[3], last[3];
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = UINT64_MAX, last[axis] = 0;
    for (int corner = 0; corner < 3; ++corner) {
      uint64_t cell = cell_index(sampler, corners[corner], axis);
      first[axis] = cell < first[axis] ? cell : first[axis];
      last[axis] = cell > last[axis] ? cell : last[axis];
    }
  }
  const uint8_t *is_weak = sampler->is_weak.data;
  for (uint64_t z = first[2]; z <= last[2]; ++z)
    for (uint64_t y = first[1]; y <= last[1]; ++y)
      for (uint64_t x = first[0]; x <= last[0]; ++x)
        if (is_weak[(x + sampler->row * y + sampler->sheet * z) & sampler->mask]) return true;
  return false;
}

// Halves the longest side until a part is a few cells large, then leaves out the parts far from weak samples.
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
  if (size <= 16 && !is_box_near_weak(sampler, corners)) return FLO_OK;
  const double *a = corners[longest], *b = corners[(longest + 1) % 3], *c = corners[(longest + 2) % 3];
  if (size <= 3)
    return offer_finely(sampler, corners[shortest], corners[(shortest + 1) % 3], corners[(shortest + 2) % 3],
                        step, triangle);
  vec_add(a, b, middle);
  vec_scale(middle, 0.5, middle);
  FLO_TRY(offer_parts(sampler, (const double *const[3]){a, middle, c}, step, triangle));
  return offer_parts(sampler, (const double *const[3]){middle, b, c}, step, triangle);
}

// Rounds of ever finer candidates near the samples that are still weak.
static FloStatus repair(Sampler *sampler) {
  FLO_TRY(reserve(sampler, &sampler->is_weak, sampler->mask + 1));
  // Help comes from within a spacing, half a cell, and its surface point may be twice the depth off. The list
  // serves all rounds, in which weak samples may appear a spacing further away.
  int reach = (int)ceil(0.5 + sampler->depth / sampler->spacing);
  if (!mark_weak(sampler, reach + 1)) return FLO_OK;
  FLO_TRY(list_near_weak(sampler));
  for (size_t k = 0; k < FLO_COUNT_OF(repair_rules) && mark_weak(sampler, reach); ++k) {
    set_rule(sampler, &repair_rules[k]);
    for (size_t i = 0; i < sampler->n_near_weak; ++i) {
      uint32_t triangle = ((uint32_t *)sampler->near_weak.data)[i];
      const uint32_t *t = flo_mesh_triangle(sampler->mesh, triangle);
      const double *corners[3];
      for (int corner = 0; corner < 3; ++corner) corners[corner] = flo_mesh_vertex(sampler->mesh, t[corner]);
      FLO_TRY(offer_parts(sampler, corners, repair_steps[k] * sampler->spacing, triangle));
    }
  }
  return FLO_OK;
}

// ---- Layers ----

// `given`, unless NULL, takes the place of the mesh.
static FloStatus sample_layer(Sampler *sampler, const FloSurfacePoint *given, size_t n_given) {
  sampler->first_of_layer = sampler->n_samples;
  sampler->n_deferred = 0;
  set_rule(sampler, &first_rule);
  for (size_t k = 0; k < n_given; ++k) FLO_TRY(offer(sampler, given[k].point, given[k].triangle));
  if (!given) FLO_TRY(offer_mesh(sampler));
  set_rule(sampler, &gap_rule);
  for (size_t k = 0, n = sampler->n_deferred; k < n; ++k) {
    FloSurfacePoint candidate = ((FloSurfacePoint *)sampler->deferred.data)[k];
    FLO_TRY(consider(sampler, candidate.point, candidate.triangle));
  }
  return repair(sampler);
}

// ---- The whole ----

// Goes over the triangles once: which sides are long (those of one step have nothing between their ends, and
// fine meshes consist of them), which vertices are in use, and how many samples to expect.
static double survey(Sampler *sampler) {
  const FloMesh *mesh = sampler->mesh;
  uint8_t *is_used = sampler->is_marked.data, *long_sides = sampler->long_sides.data;
  double area = 0, length = 0, spacing = sampler->spacing, limit = longest_step * spacing;
  memset(is_used, 0, mesh->n_vertices);
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    const double *a = flo_mesh_vertex(mesh, t[0]), *b = flo_mesh_vertex(mesh, t[1]),
                 *c = flo_mesh_vertex(mesh, t[2]);
    double ab[3], bc[3], ca[3], normal[3];
    vec_sub(b, a, ab), vec_sub(c, b, bc), vec_sub(a, c, ca);
    vec_cross(ab, bc, normal);
    const double squares[3] = {vec_dot(ab, ab), vec_dot(bc, bc), vec_dot(ca, ca)};
    unsigned sides = 0;
    for (int side = 0; side < 3; ++side) {
      bool is_long = squares[side] > limit * limit;
      sides |= (unsigned)is_long << side;
      sampler->n_long_sides += is_long;
      is_used[t[side]] = 1;
      // Half, because the neighbour counts it too.
      if (is_long) length += sqrt(squares[side]) / 2;
    }
    long_sides[k] = (uint8_t)sides;
    area += vec_length(normal) / 2;
  }
  return area / (spacing * spacing) + length / spacing + 64;
}

static FloStatus find_bounds(const Sampler *sampler, double low[3], double high[3]) {
  const uint8_t *is_used = sampler->is_marked.data;
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
  FLO_TRY(reserve(sampler, &sampler->is_marked, mesh->n_vertices));
  FLO_TRY(reserve(sampler, &sampler->long_sides, mesh->n_triangles));
  double n_expected = survey(sampler) * layers;
  FLO_TRY(find_bounds(sampler, low, high));
  if (!(n_expected <= max_samples))
    return flo_fail(sampler->error, FLO_BAD_INPUT,
                    "mesh: sampling it would take about %.3g particles, more than the %.0e that can be "
                    "handled; make the spacing larger",
                    n_expected, max_samples);
  lay_cells(sampler, low, high);
  number_cells(sampler);
  return allocate_cells(sampler, n_expected);
}

// Samples the surface itself, evens the samples out and takes them as candidates for the layers.
static FloStatus sample_relaxed(Sampler *sampler, const FloSampleOptions *options, FloBuffer *given,
                                size_t *n_given) {
  sampler->depth = 0;
  FLO_TRY(sample_layer(sampler, NULL, 0));
  size_t n = sampler->n_samples;
  FLO_TRY(flo_buffer_reserve(sampler->memory, given, n * sizeof(FloSurfacePoint), 0, sampler->error));
  FloSurfacePoint *surface = given->data;
  for (size_t k = 0; k < n; ++k) {
    vec_copy(samples_of(sampler)[k].point, surface[k].point);
    surface[k].triangle = samples_of(sampler)[k].triangle;
  }
  *n_given = n;
  clear_cells(sampler);
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
  for (size_t k = 0; k < sampler->n_samples; ++k) {
    const double *p = samples_of(sampler)[k].point;
    FLO_TRY(flo_points_add(points, p[0], p[1], p[2], sampler->error));
  }
  return FLO_OK;
}

static void free_sampler(Sampler *sampler) {
  FloBuffer *buffers[] = {&sampler->samples,   &sampler->blocks,    &sampler->is_near,   &sampler->deferred,
                          &sampler->heads,     &sampler->is_weak,   &sampler->is_marked, &sampler->edges,
                          &sampler->near_weak, &sampler->long_sides};
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
