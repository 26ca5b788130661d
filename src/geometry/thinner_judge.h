// How candidates are judged and accepted; private to the thinner. This file is compiled once per instruction
// set. FLO_THINNER_TARGET is the function attribute that names it, FLO_THINNER_LANES the number of floats in
// a vector. The samples are the same with all of them: each sample is treated alike, sums have the same
// order, and products are not contracted.
#ifndef FLO_GEOMETRY_THINNER_JUDGE_H
#define FLO_GEOMETRY_THINNER_JUDGE_H

#include "base/vecmath.h"
#include "geometry/thinner.h"

#include <math.h>
#include <string.h>
#if FLO_THINNER_LANES == 8
#include <immintrin.h>
#endif

static const size_t max_samples = 1000000000;
static const float least_sum = 1.46f;   // of w, 3.7/H^3
static const float largest_sum = 3.86f; // 9.8/H^3

#define NONE     UINT32_MAX // no block
#define MAX_MARK UINT8_MAX  // this many or more; such a mark is never removed

enum { BLOCK = 8, MAX_VISITS = 256, N_AROUND = 27, N_GROUPS = 2, N_PARTS = 2 };

// ---- Lanes ----

// -Wpsabi warns of changed calling conventions. They do not matter here, because everything is inlined into
// one function per instruction set.
#pragma GCC diagnostic ignored "-Wpsabi"
#define LANES_INLINE static inline __attribute__((always_inline, unused, FLO_THINNER_TARGET))

// A block of eight values is one or two vectors.
enum { LANES = FLO_THINNER_LANES, N_SPLITS = BLOCK / LANES };

typedef float Lanes __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t LaneMask __attribute__((vector_size(4 * LANES), may_alias));
typedef float Quad __attribute__((vector_size(16), may_alias));

#if FLO_THINNER_LANES == 8
#define EACH_LANE(f)                                                                                         \
  { f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7) }
#else
#define EACH_LANE(f)                                                                                         \
  { f(0), f(1), f(2), f(3) }
#endif
#define SAME_IN_LANE(k)   a
#define SQRT_OF_LANE(k)   sqrtf(a[k])
#define NUMBER_OF_LANE(k) k

LANES_INLINE Lanes in_all_lanes(float a) { return (Lanes)EACH_LANE(SAME_IN_LANE); }
// Compilers make one instruction of it.
LANES_INLINE Lanes lanes_sqrt(Lanes a) { return (Lanes)EACH_LANE(SQRT_OF_LANE); }
// a where the mask is all ones, 0 elsewhere.
LANES_INLINE Lanes lanes_where(LaneMask mask, Lanes a) { return (Lanes)((LaneMask)a & mask); }
LANES_INLINE Lanes *lanes_of(const float block[BLOCK], int split) { return (Lanes *)(block + LANES * split); }
// The mask of the lanes in which small numbers of a block equal a value.
LANES_INLINE LaneMask lanes_equal(const int8_t block[BLOCK], int split, int value) {
  typedef int8_t Bytes __attribute__((vector_size(LANES), may_alias, aligned(1)));
  return __builtin_convertvector(*(const Bytes *)(block + LANES * split), LaneMask) == value;
}
// Replaces one value of a block. The whole block is written, because a processor stalls when it reads what
// was just written in parts.
LANES_INLINE void replace_in_block(float block[BLOCK], int k, float value) {
  for (int split = 0; split < N_SPLITS; ++split) {
    LaneMask is_it = (LaneMask)EACH_LANE(NUMBER_OF_LANE) == k - LANES * split;
    Lanes *lanes = lanes_of(block, split);
    *lanes = (Lanes)(((LaneMask)*lanes & ~is_it) | ((LaneMask)in_all_lanes(value) & is_it));
  }
}
// Adds in the same order, however the block is split.
LANES_INLINE float block_sum(const Lanes splits[N_SPLITS]) {
  _Alignas(64) float a[BLOCK];
  for (int split = 0; split < N_SPLITS; ++split) *lanes_of(a, split) = splits[split];
  Quad sum = *(Quad *)a + *(Quad *)(a + 4);
  return sum[0] + sum[1] + (sum[2] + sum[3]);
}
#if FLO_THINNER_LANES == 8
LANES_INLINE bool is_any_lane(LaneMask mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
// The smaller and the larger, lane by lane; b where a is not a number.
LANES_INLINE Lanes lanes_min(Lanes a, Lanes b) { return (Lanes)_mm256_min_ps((__m256)a, (__m256)b); }
LANES_INLINE Lanes lanes_max(Lanes a, Lanes b) { return (Lanes)_mm256_max_ps((__m256)a, (__m256)b); }
#else
LANES_INLINE bool is_any_lane(LaneMask mask) {
  typedef int64_t Pairs __attribute__((vector_size(4 * LANES)));
  Pairs pairs = (Pairs)mask;
  return (pairs[0] | pairs[1]) != 0;
}
LANES_INLINE Lanes lanes_choose(LaneMask is_first, Lanes a, Lanes b) {
  return (Lanes)(((LaneMask)a & is_first) | ((LaneMask)b & ~is_first));
}
LANES_INLINE Lanes lanes_min(Lanes a, Lanes b) { return lanes_choose(a < b, a, b); }
LANES_INLINE Lanes lanes_max(Lanes a, Lanes b) { return lanes_choose(a > b, a, b); }
#endif

// Up to eight samples of one cell, so that one vector holds them. Two cache lines hold what every candidate
// nearby needs in the first layer; a third holds the rest. Places are in cells from the low corner of the
// cell. For an empty place the position is far away and the sum is NaN, which is neither too small nor too
// large.
typedef struct Block {
  _Alignas(64) float x[BLOCK];
  float y[BLOCK], z[BLOCK];
  float sum[BLOCK]; // sums of w over all samples, their own included
  uint64_t cell;
  uint32_t next;     // block of the same bucket
  uint8_t n;         // samples
  uint8_t is_marked; // bit k: marks were set around the k-th
  int8_t layers[BLOCK];
  uint32_t samples[BLOCK]; // their numbers
} Block;

typedef struct Sample {
  double point[3];
  uint32_t triangle;
} Sample;

// The shift from a cell to one around it, for all samples of a block.
typedef struct Shift {
  _Alignas(64) float along[3][BLOCK];
} Shift;

// A block near the candidate at hand.
typedef struct Visit {
  _Alignas(64) float w[BLOCK]; // w of its samples at the candidate
  Block *block;
  const Shift *shift; // shift to the cell it is in
} Visit;

// The blocks around a cell, found in two groups: those of the cell itself, which decide most refusals, and
// those of the 26 cells around it. It is kept for the candidates that follow in the same cell.
typedef struct Neighbourhood {
  uint64_t cell;
  size_t
      n_blocks; // number of blocks of the thinner when it was found; it is out of date if there are more now
  int n_groups; // found so far
  int ends[N_GROUPS];
  Visit visits[MAX_VISITS];
} Neighbourhood;

typedef FloStatus FloOfferFunction(FloThinner *, const double[3], uint32_t, FloVerdict *, FloError *);

struct FloThinner {
  FloMemory *memory;
  FloOfferFunction *offer; // the fastest version for this machine
  FloBuffer samples, blocks;
  size_t n_samples, n_blocks;
  // Cells are one H wide. A bucket holds all cells whose number is the same modulo the number of buckets.
  // Small grids are thus indexed directly and large ones hashed.
  FloBuffer tables;  // what the next three point into
  uint32_t *heads;   // first block of each bucket
  uint32_t *is_near; // per bucket: bit k is set if the k-th cell around has samples
  // For each part of a cell, one spacing wide: the number of weak samples near it, at most MAX_MARK. Parts
  // share marks as cells share buckets.
  uint8_t *marks;
  bool has_marks;
  double reach;                       // of the marks, in parts
  double marks_low[3], marks_high[3]; // corners of the box around the weak samples
  uint64_t mask, mark_mask;           // number of buckets less 1, and of marks less 1
  double last_cell[3];                // last cell along each axis; the first is 1
  uint64_t row, sheet;                // the number of a cell is x + row y + sheet z
  uint64_t around[N_AROUND];          // offsets of the numbers of the cells around a cell, itself first
  Shift shifts[N_AROUND];             // the same along the axes
  double low[3], per_cell;
  Neighbourhood last;
  // The present layer and rule.
  int layer;
  float near, hopeless; // distance from samples that is too short, and the one that is too short also for a
                        // second try [H]
  float max_sum;
  bool must_help;
};

LANES_INLINE Sample *samples_of(const FloThinner *thinner) { return thinner->samples.data; }
LANES_INLINE Block *blocks_of(const FloThinner *thinner) { return thinner->blocks.data; }

// One version for each instruction set.
FloOfferFunction flo_thinner_offer_generic, flo_thinner_offer_avx2;
// Removes the marks around those samples of a block that are no longer weak.
void flo_thinner_unmark_helped(const FloThinner *thinner, Block *block);

// ---- Cells ----

// The coordinate of a point along an axis, in cells.
LANES_INLINE double cell_coordinate(const FloThinner *thinner, const double p[3], int axis) {
  return (p[axis] - thinner->low[axis]) * thinner->per_cell + 1;
}

// Faster than floor(), which is a function call on many machines.
LANES_INLINE int64_t floor_of(double x) {
  int64_t whole = (int64_t)x;
  return whole - (x < (double)whole);
}

// Clamping can only bring points nearer together, so neighbours stay within one cell.
LANES_INLINE int64_t cell_index(const FloThinner *thinner, double coordinate, int axis) {
  double last = thinner->last_cell[axis], from_first = coordinate > 1 ? coordinate : 1;
  return (int64_t)(from_first < last ? from_first : last);
}

// A point, given by its cell and its place in it.
typedef struct Place {
  uint64_t cell;
  float at[3];
} Place;

LANES_INLINE Place place_of(const FloThinner *thinner, const double p[3]) {
  double x = cell_coordinate(thinner, p, 0), y = cell_coordinate(thinner, p, 1),
         z = cell_coordinate(thinner, p, 2);
  int64_t i = cell_index(thinner, x, 0), j = cell_index(thinner, y, 1), k = cell_index(thinner, z, 2);
  return (Place){(uint64_t)i + thinner->row * (uint64_t)j + thinner->sheet * (uint64_t)k,
                 {(float)(x - (double)i), (float)(y - (double)j), (float)(z - (double)k)}};
}

// ---- Judging ----

// Sums over the samples around a candidate, lane by lane.
typedef struct Tally {
  Lanes sum[N_SPLITS], sum_in_layer[N_SPLITS]; // of w, without the candidate's own
  Lanes nearest;                               // least distance [H]
  Lanes fullest;                               // largest sum of a sample with the candidate included
} Tally;

// Finds the next group of blocks; false if there are too many.
LANES_INLINE bool find_group(const FloThinner *thinner, Neighbourhood *around) {
  static const uint32_t groups[N_GROUPS] = {1, 0x7fffffe};
  const uint32_t *heads = thinner->heads, near = thinner->is_near[around->cell & thinner->mask];
  Block *blocks = blocks_of(thinner);
  int n = around->n_groups ? around->ends[around->n_groups - 1] : 0;
  for (uint32_t bits = near & groups[around->n_groups]; bits; bits &= bits - 1) {
    int turn = __builtin_ctz(bits);
    uint64_t cell = around->cell + thinner->around[turn];
    for (uint32_t k = heads[cell & thinner->mask]; k != NONE; k = blocks[k].next) {
      if (blocks[k].cell != cell) continue; // another one of the same bucket
      if (n == MAX_VISITS) return false;
      around->visits[n].block = &blocks[k], around->visits[n].shift = &thinner->shifts[turn], ++n;
    }
  }
  around->ends[around->n_groups++] = n;
  return true;
}

// The squares of the distances from a place to the samples of a block.
LANES_INLINE Lanes squares_to_block(const Visit *visit, const Lanes at[3], int split) {
  const Block *block = visit->block;
  const Shift *shift = visit->shift;
  Lanes dx = *lanes_of(block->x, split) + *lanes_of(shift->along[0], split) - at[0];
  Lanes dy = *lanes_of(block->y, split) + *lanes_of(shift->along[1], split) - at[1];
  Lanes dz = *lanes_of(block->z, split) + *lanes_of(shift->along[2], split) - at[2];
  return dx * dx + dy * dy + dz * dz;
}

// Adds the samples of some blocks. Only a third of them is within reach, which branches cannot predict: there
// are none, and samples out of reach add zero. In the first layer the sum of the layer is the sum of all.
LANES_INLINE void add_blocks(const FloThinner *thinner, Visit *visit, const Visit *end, const Lanes at[3],
                             bool is_alone, Tally *total) {
  const Lanes none = {0};
  Tally tally = *total;
  for (; visit < end; ++visit)
    for (int split = 0; split < N_SPLITS; ++split) {
      Lanes q = lanes_sqrt(squares_to_block(visit, at, split));
      // w(q) = 2 (1-q)^3 - (1-2q)^3, truncated powers
      Lanes a = 1 - q, b = a - q;
      a = lanes_max(a, none), b = lanes_max(b, none);
      Lanes cube = a * a * a, w = cube + cube - b * b * b;
      *lanes_of(visit->w, split) = w;
      tally.sum[split] += w;
      tally.nearest = lanes_min(q, tally.nearest);
      tally.fullest = lanes_max(*lanes_of(visit->block->sum, split) + w, tally.fullest);
      if (is_alone) continue;
      LaneMask is_in_layer = lanes_equal(visit->block->layers, split, thinner->layer);
      tally.sum_in_layer[split] += lanes_where(is_in_layer, w);
    }
  *total = tally;
}

// Whether a weak sample is within a spacing of a place. Most candidates that must help fail this test, which
// costs a third of a judgement. Finds all groups.
LANES_INLINE bool is_help(const FloThinner *thinner, Neighbourhood *around, const Lanes at[3]) {
  LaneMask is_helped = {0};
  while (around->n_groups < N_GROUPS)
    if (!find_group(thinner, around)) return false;
  const Visit *end = around->visits + around->ends[N_GROUPS - 1];
  for (const Visit *visit = around->visits; visit < end; ++visit)
    for (int split = 0; split < N_SPLITS; ++split)
      is_helped |=
          (squares_to_block(visit, at, split) < 0.25f) & (*lanes_of(visit->block->sum, split) < least_sum);
  return is_any_lane(is_helped);
}

// Judges a candidate. `sum` receives the sum of w if it is accepted.
LANES_INLINE FloVerdict judge(FloThinner *thinner, const Place *place, float *sum) {
  const Lanes at[3] = {in_all_lanes(place->at[0]), in_all_lanes(place->at[1]), in_all_lanes(place->at[2])};
  Neighbourhood *around = &thinner->last;
  const bool is_alone = thinner->layer == 0;
  if (around->cell != place->cell || around->n_blocks != thinner->n_blocks)
    around->cell = place->cell, around->n_blocks = thinner->n_blocks, around->n_groups = 0;
  if (thinner->must_help && !is_help(thinner, around, at)) return FLO_REFUSED;
  Tally tally = {.nearest = in_all_lanes(INFINITY)};
  *sum = 0;
  for (int group = 0, begin = 0; group < N_GROUPS; begin = around->ends[group++]) {
    if (group == around->n_groups && !find_group(thinner, around)) return FLO_REFUSED;
    const int end = around->ends[group];
    if (begin == end) continue;
    if (is_alone)
      add_blocks(thinner, around->visits + begin, around->visits + end, at, true, &tally);
    else
      add_blocks(thinner, around->visits + begin, around->visits + end, at, false, &tally);
    // Refuses the candidate if the sum is too large already.
    *sum = block_sum(tally.sum);
    float sum_in_layer = is_alone ? *sum : block_sum(tally.sum_in_layer);
    LaneMask is_hopeless = (tally.nearest < thinner->hopeless) | (tally.fullest > largest_sum);
    if (is_any_lane(is_hopeless) || *sum > largest_sum - 1 || sum_in_layer > thinner->max_sum)
      return FLO_REFUSED;
  }
  return is_any_lane(tally.nearest < thinner->near) ? FLO_TOO_NEAR : FLO_ACCEPTED;
}

// ---- Accepting ----

LANES_INLINE FloStatus grow(const FloThinner *thinner, FloBuffer *buffer, size_t count, size_t size,
                            FloError *error) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(thinner->memory, buffer, (2 * count + 64) * size, count * size, error);
}

// Notes in the cells around that this one has samples now.
LANES_INLINE void announce_cell(const FloThinner *thinner, uint64_t cell) {
#pragma GCC unroll 27
  for (int k = 0; k < N_AROUND; ++k) thinner->is_near[(cell - thinner->around[k]) & thinner->mask] |= 1u << k;
}

// Adds a block to the cell of the present candidate. The neighbourhood stays up to date unless all blocks had
// to move; then it is found again.
LANES_INLINE FloStatus add_block(FloThinner *thinner, uint64_t cell, bool is_first, Block **out,
                                 FloError *error) {
  Neighbourhood *around = &thinner->last;
  uint32_t *head = &thinner->heads[cell & thinner->mask];
  const size_t room_before = thinner->blocks.capacity;
  FLO_TRY(grow(thinner, &thinner->blocks, thinner->n_blocks, sizeof(Block), error));
  Block *block = *out = &blocks_of(thinner)[thinner->n_blocks];
  for (int split = 0; split < N_SPLITS; ++split) {
    *lanes_of(block->x, split) = in_all_lanes(1e6f), *lanes_of(block->y, split) = in_all_lanes(0);
    *lanes_of(block->z, split) = in_all_lanes(0), *lanes_of(block->sum, split) = in_all_lanes(NAN);
  }
  memset(block->layers, 0,
         sizeof block->layers); // layers of empty places are read, although they have no effect
  block->cell = cell, block->next = *head, block->n = block->is_marked = 0;
  *head = (uint32_t)thinner->n_blocks++;
  if (is_first) announce_cell(thinner, cell);
  int *end = &around->ends[N_GROUPS - 1];
  if (*end == MAX_VISITS || thinner->blocks.capacity != room_before) return FLO_OK; // it is out of date
  around->visits[*end].block = block, around->visits[*end].shift = &thinner->shifts[0], ++*end;
  around->n_blocks = thinner->n_blocks;
  return FLO_OK;
}

// Finds a block of the cell with room for a new sample: its newest one or a new one.
LANES_INLINE FloStatus find_room(FloThinner *thinner, uint64_t cell, Block **out, FloError *error) {
  uint32_t number = thinner->heads[cell & thinner->mask];
  Block *blocks = blocks_of(thinner);
  bool is_first = true;
  for (; number != NONE; number = blocks[number].next) {
    *out = &blocks[number];
    if ((*out)->cell != cell) continue; // another one of the same bucket
    if ((*out)->n < BLOCK) return FLO_OK;
    is_first = false;
  }
  return add_block(thinner, cell, is_first, out, error);
}

LANES_INLINE void add_to_sums(FloThinner *thinner) {
  const Neighbourhood *around = &thinner->last;
  const Visit *end = around->visits + around->ends[N_GROUPS - 1];
  for (const Visit *visit = around->visits; visit < end; ++visit)
    for (int split = 0; split < N_SPLITS; ++split)
      *lanes_of(visit->block->sum, split) += *lanes_of(visit->w, split);
  if (!thinner->must_help) return;
  for (const Visit *visit = around->visits; visit < end; ++visit)
    flo_thinner_unmark_helped(thinner, visit->block);
}

LANES_INLINE FloStatus accept(FloThinner *thinner, const double point[3], uint32_t triangle,
                              const Place *place, float sum, FloError *error) {
  Block *block;
  if (thinner->n_samples >= max_samples)
    return flo_fail(error, FLO_BAD_INPUT, "mesh: more than %.0e samples; make the spacing larger",
                    (double)max_samples);
  add_to_sums(thinner);
  FLO_TRY(grow(thinner, &thinner->samples, thinner->n_samples, sizeof(Sample), error));
  FLO_TRY(find_room(thinner, place->cell, &block, error));
  const int k = block->n++;
  replace_in_block(block->x, k, place->at[0]), replace_in_block(block->y, k, place->at[1]);
  replace_in_block(block->z, k, place->at[2]), replace_in_block(block->sum, k, 1 + sum);
  block->layers[k] = (int8_t)thinner->layer, block->samples[k] = (uint32_t)thinner->n_samples;
  Sample *sample = &samples_of(thinner)[thinner->n_samples++];
  vec_copy(point, sample->point);
  sample->triangle = triangle;
  return FLO_OK;
}

LANES_INLINE FloStatus offer(FloThinner *thinner, const double point[3], uint32_t triangle,
                             FloVerdict *verdict, FloError *error) {
  Place place = place_of(thinner, point);
  float sum;
  *verdict = judge(thinner, &place, &sum);
  return *verdict == FLO_ACCEPTED ? accept(thinner, point, triangle, &place, sum, error) : FLO_OK;
}

#endif
