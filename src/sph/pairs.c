#include "sph/pairs.h"

#include "base/parallel.h"
#include "sph/passes.h"

#include <math.h>
#include <string.h>

enum { SLOT_BEGIN, SLOT_COUNT, SLOTS, VISCOUS, KERNEL_SUM, ROW_COUNT, SLABS, CANDIDATES };

enum { BLOCKS_PER_CHUNK = 64, FIRST_CANDIDATE_CAPACITY = 1024 };

void flo_pairs_init(FloPairs *pairs, FloMemory *memory) { *pairs = (FloPairs){.memory = memory}; }

void flo_pairs_free(FloPairs *pairs) {
  flo_buffers_free(pairs->memory, pairs->buffers, FLO_COUNT_OF(pairs->buffers));
}

static FloStatus reserve(FloPairs *pairs, int which, size_t size, FloError *error) {
  return flo_buffer_reserve(pairs->memory, &pairs->buffers[which], size, 0, error);
}

static FloStatus reserve_rows(FloPairs *pairs, FloError *error) {
  FLO_TRY(reserve(pairs, SLOT_BEGIN, (pairs->n_blocks + 1) * 4, error));
  FLO_TRY(reserve(pairs, SLOT_COUNT, (pairs->n_blocks + 1) * 4, error));
  FLO_TRY(reserve(pairs, KERNEL_SUM, (pairs->n_blocks + 1) * FLO_BLOCK * sizeof(float), error));
  FLO_TRY(reserve(pairs, ROW_COUNT, (pairs->n_blocks + 1) * FLO_BLOCK * sizeof(int32_t), error));
  pairs->slot_begin = pairs->buffers[SLOT_BEGIN].data;
  pairs->slot_count = pairs->buffers[SLOT_COUNT].data;
  pairs->kernel_sum = pairs->buffers[KERNEL_SUM].data;
  pairs->row_count = pairs->buffers[ROW_COUNT].data;
  return FLO_OK;
}

static FloStatus reserve_slots(FloPairs *pairs, size_t n_slots, bool with_viscous, FloError *error) {
  FLO_TRY(reserve(pairs, SLOTS, n_slots * sizeof(FloPairSlot), error));
  pairs->slots = pairs->buffers[SLOTS].data;
  pairs->slot_capacity = pairs->buffers[SLOTS].capacity / sizeof(FloPairSlot);
  pairs->viscous = NULL;
  if (with_viscous) {
    FLO_TRY(reserve(pairs, VISCOUS, pairs->slot_capacity * FLO_BLOCK * sizeof(float), error));
    pairs->viscous = pairs->buffers[VISCOUS].data;
  }
  return FLO_OK;
}

enum { PAGE_FLOATS = 4096 / sizeof(float) };

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static FloStatus reserve_slabs(FloPairs *pairs, int threads, FloError *error) {
  // A load must wait if its address has the same last twelve bits as a recent store. Arrays of candidates are
  // read while lists are written. So the starts of the two are kept half a page apart.
  size_t stride = round_up(pairs->candidate_capacity + FLO_LIST_OVERRUN, PAGE_FLOATS) + 16;
  size_t lists = round_up(5 * stride, PAGE_FLOATS) + PAGE_FLOATS / 2;
  size_t size = round_up(lists + FLO_BLOCK * stride, PAGE_FLOATS);
  FLO_TRY(reserve(pairs, SLABS, (size_t)threads * sizeof(FloPairSlab), error));
  FLO_TRY(reserve(pairs, CANDIDATES, (size_t)threads * size * sizeof(float), error));
  pairs->slabs = pairs->buffers[SLABS].data;
  for (int thread = 0; thread < threads; ++thread) {
    float *x = (float *)pairs->buffers[CANDIDATES].data + (size_t)thread * size;
    pairs->slabs[thread] = (FloPairSlab){.candidates = {.x = x,
                                                        .y = x + stride,
                                                        .z = x + 2 * stride,
                                                        .square = x + 3 * stride,
                                                        .index = (int32_t *)(x + 4 * stride)},
                                         .lists = (int32_t *)(x + lists),
                                         .stride = stride};
  }
  return FLO_OK;
}

typedef struct Build {
  FloPairs *pairs;
  const FloPairsSpec *spec;
  const FloPasses *passes;
} Build;

static void build_range(void *context, size_t begin, size_t end, int thread) {
  Build *build = context;
  build->passes->build_pairs(build->pairs, build->spec, &build->pairs->slabs[thread], begin, end);
}

static void refill_range(void *context, size_t begin, size_t end, int thread) {
  Build *build = context;
  build->passes->refill_pairs(build->pairs, build->spec, &build->pairs->slabs[thread], begin, end);
}

static void count_pairs(FloPairs *pairs, int threads) {
  pairs->n_pairs = 0;
  for (int thread = 0; thread < threads; ++thread) pairs->n_pairs += pairs->slabs[thread].n_pairs;
}

// Returns the largest number of candidates of a cell.
static size_t build_once(FloPairs *pairs, const FloPairsSpec *spec) {
  Build build = {pairs, spec, flo_passes()};
  size_t most = 0;
  atomic_store(&pairs->n_claimed, 0);
  flo_parallel_for(spec->threads, pairs->n_blocks, BLOCKS_PER_CHUNK, build_range, &build);
  pairs->n_slots = atomic_load(&pairs->n_claimed);
  count_pairs(pairs, spec->threads);
  for (int thread = 0; thread < spec->threads; ++thread)
    most = flo_max_size(most, pairs->slabs[thread].most_candidates);
  return most;
}

// The memory that a build needs is known only after it. A build that had too little returns how much it
// needs, and is repeated.
FloStatus flo_pairs_build(FloPairs *pairs, const FloPairsSpec *spec, FloError *error) {
  double length2 = spec->kernel.viscous_length * spec->kernel.viscous_length;
  pairs->length2 = (float)length2, pairs->least = (float)(0.0025 * pow(spec->kernel.support, 2) / length2);
  pairs->n_rows = spec->rows->count;
  pairs->n_blocks = (pairs->n_rows + FLO_BLOCK - 1) / FLO_BLOCK;
  if (!pairs->candidate_capacity) pairs->candidate_capacity = FIRST_CANDIDATE_CAPACITY;
  FLO_TRY(reserve_rows(pairs, error));
  FLO_TRY(reserve_slots(pairs, 1, spec->with_viscous, error));
  for (;;) {
    FLO_TRY(reserve_slabs(pairs, spec->threads, error));
    size_t most_candidates = build_once(pairs, spec);
    if (most_candidates > pairs->candidate_capacity) {
      pairs->candidate_capacity = 2 * most_candidates;
      continue;
    }
    if (pairs->n_slots <= pairs->slot_capacity) return FLO_OK;
    // Space for lists that grow a little, and for slabs that other threads may leave half used next time.
    size_t room = pairs->n_slots / 32 + (size_t)spec->threads * FLO_SLAB_SLOTS;
    FLO_TRY(reserve_slots(pairs, pairs->n_slots + room, spec->with_viscous, error));
  }
}

void flo_pairs_refill(FloPairs *pairs, const FloPairsSpec *spec) {
  Build build = {pairs, spec, flo_passes()};
  for (int thread = 0; thread < spec->threads; ++thread) pairs->slabs[thread].n_pairs = 0;
  flo_parallel_for(spec->threads, pairs->n_blocks, BLOCKS_PER_CHUNK, refill_range, &build);
  count_pairs(pairs, spec->threads);
}
