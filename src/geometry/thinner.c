// Candidates are judged by sums of the kernel over a grid of cells.
//
// w(q) is the cubic spline with w(0) = 1, q = r/H and H = 2 spacings, so that W = 8/(pi H^3) w. Akinci et al.
// 2013 (section 2.3) want the number density between 3.6/H^3 and 10/H^3. Their Gamma is 1/H^3 here, and their
// h is H: they put samples h/2 apart and draw delta for h = 1. The condition is  1.41 < sum w < 3.93,  where
// the sum includes the sample's own 1. A flat square lattice of one spacing has 1 + 4 w(1/2) + 4 w(0.71) =
// 2.20, or 5.6/H^3, in the middle of that range (its geometric mean is 6). A cubic lattice that fills space
// has 8/H^3.
#define FLO_THINNER_TARGET unused
#define FLO_THINNER_LANES  4
#include "geometry/thinner_judge.h"

#include <string.h>

const FloRepairRound flo_repair_rounds[FLO_REPAIR_ROUNDS] = {
    {{0.5, 0.5, 1.7, true}, 0.5},
    {{0.35, 0.35, 2.2, true}, 0.25},
    {{0.1, 0.1, 2.8, true}, 0.125},
    // For specks far from everything else, which have only their corners to offer.
    {{0.02, 0.02, 2.8, true}, 0.125}};

// The first and the last row of cells stay empty, so that all other cells have neighbours.
static void lay_cells(FloThinner *thinner, const double low[3], const double high[3], double spacing) {
  thinner->per_cell = 0.5 / spacing;
  for (int axis = 0; axis < 3; ++axis) {
    thinner->low[axis] = low[axis];
    thinner->last_cell[axis] = floor((high[axis] - low[axis]) * thinner->per_cell) + 1;
  }
  thinner->row = (uint64_t)thinner->last_cell[0] + 2;
  thinner->sheet = thinner->row * ((uint64_t)thinner->last_cell[1] + 2);
  // The cell itself is number 0, whose entries are zeros.
  for (int64_t k = 0, n = 1; k < N_AROUND; ++k) {
    int64_t x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
    if (!x && !y && !z) continue;
    const float steps[3] = {(float)x, (float)y, (float)z};
    for (int axis = 0; axis < 3; ++axis)
      for (int i = 0; i < BLOCK; ++i) thinner->shifts[n].along[axis][i] = steps[axis];
    thinner->around[n++] = (uint64_t)x + (uint64_t)y * thinner->row + (uint64_t)z * thinner->sheet;
  }
}

// Reserves at least two megabytes, which is one huge page (see memory.c). That is faster than a quarter of it
// in small pages.
static FloStatus reserve(FloThinner *thinner, FloBuffer *buffer, size_t size, FloError *error) {
  const size_t huge = 2 << 20;
  return flo_buffer_reserve(thinner->memory, buffer, size > huge / 4 && size < huge ? huge : size, 0, error);
}

// Makes buckets for all cells, or for the number of cells that are expected to have samples.
static FloStatus reserve_cells(FloThinner *thinner, double n_expected, FloError *error) {
  double n_cells = (double)thinner->sheet * (thinner->last_cell[2] + 2);
  double wanted = fmin(n_cells, n_expected + 4096);
  size_t n_buckets = 64, n_samples = (size_t)(n_expected + 64);
  size_t n_blocks = n_samples / 3 + 64; // a flat sheet has four samples in a cell, a slanted one fewer
  while ((double)n_buckets < wanted && n_buckets < (1u << 30)) n_buckets *= 2;
  size_t n_marks = n_buckets * N_PARTS * N_PARTS * N_PARTS;
  thinner->mask = n_buckets - 1, thinner->mark_mask = n_marks - 1;
  FLO_TRY(reserve(thinner, &thinner->tables, 2 * n_buckets * sizeof(uint32_t) + n_marks, error));
  thinner->heads = thinner->tables.data, thinner->is_near = thinner->heads + n_buckets;
  thinner->marks = (uint8_t *)(thinner->is_near + n_buckets);
  FLO_TRY(reserve(thinner, &thinner->samples, n_samples * sizeof(Sample), error));
  return reserve(thinner, &thinner->blocks, n_blocks * sizeof(Block), error);
}

// ---- Candidates ----

FloStatus flo_thinner_offer_generic(FloThinner *thinner, const double point[3], uint32_t triangle,
                                    FloVerdict *verdict, FloError *error) {
  return offer(thinner, point, triangle, verdict, error);
}

static FloOfferFunction *fastest_offer(void) {
#ifdef FLO_HAS_AVX2
  if (__builtin_cpu_supports("avx2")) return flo_thinner_offer_avx2;
#endif
  return flo_thinner_offer_generic;
}

FloStatus flo_thinner_offer(FloThinner *thinner, const double point[3], uint32_t triangle,
                            FloVerdict *verdict, FloError *error) {
  return thinner->offer(thinner, point, triangle, verdict, error);
}

// ---- Building ----

FloStatus flo_thinner_create(FloThinner **out, FloMemory *memory, const double low[3], const double high[3],
                             double spacing, double n_expected, FloError *error) {
  *out = NULL;
  FloThinner *thinner = flo_memory_allocate(memory, sizeof *thinner);
  if (!thinner)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes more were needed", sizeof *thinner);
  memset(thinner, 0, sizeof *thinner);
  thinner->memory = memory;
  thinner->offer = fastest_offer();
  lay_cells(thinner, low, high, spacing);
  FloStatus status = reserve_cells(thinner, n_expected, error);
  if (status != FLO_OK) {
    flo_thinner_destroy(thinner);
    return status;
  }
  thinner->has_marks = true; // the memory is not cleared yet
  flo_thinner_clear(thinner);
  *out = thinner;
  return FLO_OK;
}

void flo_thinner_destroy(FloThinner *thinner) {
  if (!thinner) return;
  FloBuffer *buffers[] = {&thinner->samples, &thinner->blocks, &thinner->tables};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(thinner->memory, buffers[k]);
  flo_memory_release(thinner->memory, thinner, sizeof *thinner);
}

static void clear_marks(FloThinner *thinner) {
  if (thinner->has_marks) memset(thinner->marks, 0, thinner->mark_mask + 1);
  thinner->has_marks = false;
}

void flo_thinner_clear(FloThinner *thinner) {
  thinner->n_samples = thinner->n_blocks = 0;
  thinner->last.n_blocks = SIZE_MAX;
  memset(thinner->heads, 0xff, (thinner->mask + 1) * sizeof(uint32_t));
  memset(thinner->is_near, 0, (thinner->mask + 1) * sizeof(uint32_t));
  clear_marks(thinner);
}

void flo_thinner_set_rule(FloThinner *thinner, int layer, const FloThinRule *rule) {
  thinner->layer = layer, thinner->max_sum = (float)rule->max_sum, thinner->must_help = rule->must_help;
  thinner->near = (float)(rule->min_distance / 2);
  thinner->hopeless = (float)(fmin(rule->min_distance, rule->retry_distance) / 2);
}

// ---- Marks around weak samples ----

// A box of parts, both ends included. Parts are numbered over the whole grid, like cells.
typedef struct Parts {
  int64_t first[3], last[3];
} Parts;

static uint8_t *mark_at(const FloThinner *thinner, int64_t x, int64_t y, int64_t z) {
  uint64_t row = N_PARTS * thinner->row, sheet = N_PARTS * N_PARTS * thinner->sheet;
  uint64_t number = (uint64_t)x + row * (uint64_t)y + sheet * (uint64_t)z;
  return &thinner->marks[number & thinner->mark_mask];
}

// Adds `change` to all marks that a cube around a sample touches.
static void change_marks(const FloThinner *thinner, const Sample *sample, int change) {
  Parts parts;
  for (int axis = 0; axis < 3; ++axis) {
    double middle = N_PARTS * cell_coordinate(thinner, sample->point, axis);
    parts.first[axis] = floor_of(middle - thinner->reach);
    parts.last[axis] = floor_of(middle + thinner->reach);
  }
  for (int64_t z = parts.first[2]; z <= parts.last[2]; ++z)
    for (int64_t y = parts.first[1]; y <= parts.last[1]; ++y)
      for (int64_t x = parts.first[0]; x <= parts.last[0]; ++x) {
        uint8_t *mark = mark_at(thinner, x, y, z);
        if (*mark < MAX_MARK) *mark = (uint8_t)(*mark + change);
      }
}

// Bit k is set if the k-th sample of a block is weak and belongs to the present layer.
static uint8_t find_weak(const FloThinner *thinner, const Block *block) {
  LaneMask is_any = {0};
  unsigned bits = 0;
  for (int split = 0; split < N_SPLITS; ++split) is_any |= *lanes_of(block->sum, split) < least_sum;
  if (!is_any_lane(is_any)) return 0;
  for (int k = 0; k < BLOCK; ++k)
    bits |= (unsigned)(block->sum[k] < least_sum && block->layers[k] == thinner->layer) << k;
  return (uint8_t)bits;
}

size_t flo_thinner_mark_weak(FloThinner *thinner, double reach) {
  size_t n_weak = 0;
  clear_marks(thinner);
  thinner->reach = reach;
  vec_set(thinner->marks_low, INFINITY, INFINITY, INFINITY);
  vec_set(thinner->marks_high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < thinner->n_blocks; ++k) {
    Block *block = &blocks_of(thinner)[k];
    unsigned bits = block->is_marked = find_weak(thinner, block);
    for (; bits; bits &= bits - 1) {
      ++n_weak;
      const Sample *sample = &samples_of(thinner)[block->samples[__builtin_ctz(bits)]];
      for (int axis = 0; axis < 3; ++axis) {
        thinner->marks_low[axis] = fmin(thinner->marks_low[axis], sample->point[axis]);
        thinner->marks_high[axis] = fmax(thinner->marks_high[axis], sample->point[axis]);
      }
      change_marks(thinner, sample, 1);
    }
  }
  thinner->has_marks = n_weak > 0;
  return n_weak;
}

void flo_thinner_unmark_helped(const FloThinner *thinner, Block *block) {
  for (unsigned k = 0; block->is_marked && k < BLOCK; ++k) {
    if (!(block->is_marked >> k & 1) || block->sum[k] < least_sum) continue;
    block->is_marked ^= (uint8_t)(1u << k);
    change_marks(thinner, &samples_of(thinner)[block->samples[k]], -1);
  }
}

void flo_thinner_bound_marks(const FloThinner *thinner, double low[3], double high[3]) {
  // A mark may begin up to one part further out than its sample reaches.
  const double margin = (thinner->reach + 1) / (N_PARTS * thinner->per_cell);
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = thinner->marks_low[axis] - margin;
    high[axis] = thinner->marks_high[axis] + margin;
  }
}

bool flo_thinner_is_marked(const FloThinner *thinner, const double point[3]) {
  return *mark_at(thinner, floor_of(N_PARTS * cell_coordinate(thinner, point, 0)),
                  floor_of(N_PARTS * cell_coordinate(thinner, point, 1)),
                  floor_of(N_PARTS * cell_coordinate(thinner, point, 2))) != 0;
}

bool flo_thinner_is_box_marked(const FloThinner *thinner, const double low[3], const double high[3]) {
  Parts parts;
  for (int axis = 0; axis < 3; ++axis) {
    parts.first[axis] = floor_of(N_PARTS * cell_coordinate(thinner, low, axis));
    parts.last[axis] = floor_of(N_PARTS * cell_coordinate(thinner, high, axis));
  }
  for (int64_t z = parts.first[2]; z <= parts.last[2]; ++z)
    for (int64_t y = parts.first[1]; y <= parts.last[1]; ++y)
      for (int64_t x = parts.first[0]; x <= parts.last[0]; ++x)
        if (*mark_at(thinner, x, y, z)) return true;
  return false;
}

size_t flo_thinner_count(const FloThinner *thinner) { return thinner->n_samples; }

FloSurfacePoint flo_thinner_sample(const FloThinner *thinner, size_t k) {
  const Sample *sample = &samples_of(thinner)[k];
  return (FloSurfacePoint){{sample->point[0], sample->point[1], sample->point[2]}, sample->triangle};
}
