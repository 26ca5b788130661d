#include "sph/pairs.h"

#include "base/parallel.h"
#include "sph/passes.h"

#include <string.h>

enum { SLOT_BEGIN, SLOT_COUNT, SLOTS, VISCOUS, KERNEL_SUM, SLABS, LISTS, CANDIDATES };

enum { BLOCKS_PER_CHUNK = 64, FIRST_LIST_CAPACITY = 256, FIRST_CANDIDATE_CAPACITY = 1024 };

void flo_pairs_init(FloPairs *pairs, FloMemory *memory) { *pairs = (FloPairs){.memory = memory}; }

void flo_pairs_free(FloPairs *pairs) {
  for (size_t k = 0; k < FLO_COUNT_OF(pairs->buffers); ++k)
    flo_buffer_free(pairs->memory, &pairs->buffers[k]);
}

static FloStatus reserve(FloPairs *pairs, int which, size_t size, FloError *error) {
  return flo_buffer_reserve(pairs->memory, &pairs->buffers[which], size, 0, error);
}

static FloStatus reserve_rows(FloPairs *pairs, FloError *error) {
  FLO_TRY(reserve(pairs, SLOT_BEGIN, (pairs->n_blocks + 1) * 4, error));
  FLO_TRY(reserve(pairs, SLOT_COUNT, (pairs->n_blocks + 1) * 4, error));
  FLO_TRY(reserve(pairs, KERNEL_SUM, (pairs->n_blocks + 1) * FLO_BLOCK * sizeof(float), error));
  pairs->slot_begin = pairs->buffers[SLOT_BEGIN].data;
  pairs->slot_count = pairs->buffers[SLOT_COUNT].data;
  pairs->kernel_sum = pairs->buffers[KERNEL_SUM].data;
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

static FloStatus reserve_slabs(FloPairs *pairs, int threads, FloError *error) {
  size_t list_size = FLO_BLOCK * (pairs->list_capacity + FLO_LIST_OVERRUN);
  size_t candidate_size = pairs->candidate_capacity + FLO_LIST_OVERRUN;
  FLO_TRY(reserve(pairs, SLABS, (size_t)threads * sizeof(FloPairSlab), error));
  FLO_TRY(reserve(pairs, LISTS, (size_t)threads * list_size * sizeof(int32_t), error));
  FLO_TRY(reserve(pairs, CANDIDATES, (size_t)threads * 4 * candidate_size * sizeof(float), error));
  pairs->slabs = pairs->buffers[SLABS].data;
  for (int thread = 0; thread < threads; ++thread) {
    float *x = (float *)pairs->buffers[CANDIDATES].data + (size_t)thread * 4 * candidate_size;
    pairs->slabs[thread] =
        (FloPairSlab){.lists = (int32_t *)pairs->buffers[LISTS].data + (size_t)thread * list_size,
                      .candidates = {.x = x,
                                     .y = x + candidate_size,
                                     .z = x + 2 * candidate_size,
                                     .index = (int32_t *)(x + 3 * candidate_size)}};
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

typedef struct Needs {
  size_t longest, most_candidates;
} Needs;

static Needs build_once(FloPairs *pairs, const FloPairsSpec *spec) {
  Build build = {pairs, spec, flo_passes()};
  Needs needs = {0};
  atomic_store(&pairs->n_claimed, 0);
  flo_parallel_for(spec->threads, pairs->n_blocks, BLOCKS_PER_CHUNK, build_range, &build);
  pairs->n_slots = atomic_load(&pairs->n_claimed);
  pairs->n_pairs = 0;
  for (int thread = 0; thread < spec->threads; ++thread) {
    const FloPairSlab *slab = &pairs->slabs[thread];
    pairs->n_pairs += slab->n_pairs;
    needs.longest = flo_max_size(needs.longest, slab->longest);
    needs.most_candidates = flo_max_size(needs.most_candidates, slab->most_candidates);
  }
  return needs;
}

// How much memory a step needs is known only after it; a build that found too little says how much, and is
// done again.
FloStatus flo_pairs_build(FloPairs *pairs, const FloPairsSpec *spec, FloError *error) {
  pairs->n_rows = spec->rows->count;
  pairs->n_blocks = (pairs->n_rows + FLO_BLOCK - 1) / FLO_BLOCK;
  if (!pairs->list_capacity) pairs->list_capacity = FIRST_LIST_CAPACITY;
  if (!pairs->candidate_capacity) pairs->candidate_capacity = FIRST_CANDIDATE_CAPACITY;
  FLO_TRY(reserve_rows(pairs, error));
  FLO_TRY(reserve_slots(pairs, 1, spec->with_viscous, error));
  for (;;) {
    FLO_TRY(reserve_slabs(pairs, spec->threads, error));
    Needs needs = build_once(pairs, spec);
    bool has_room =
        needs.longest <= pairs->list_capacity && needs.most_candidates <= pairs->candidate_capacity;
    if (!has_room) {
      pairs->list_capacity = flo_max_size(pairs->list_capacity, 2 * needs.longest);
      pairs->candidate_capacity = flo_max_size(pairs->candidate_capacity, 2 * needs.most_candidates);
      continue;
    }
    if (spec->sums_only || pairs->n_slots <= pairs->slot_capacity) return FLO_OK;
    // Room for the lists to lengthen a little, and for slabs that other threads leave half used another time.
    size_t room = pairs->n_slots / 32 + (size_t)spec->threads * FLO_SLAB_SLOTS;
    FLO_TRY(reserve_slots(pairs, pairs->n_slots + room, spec->with_viscous, error));
  }
}
