// The linear operators of implicit methods: gradient and divergence over the pair operator, and the sums for
// the diagonal of their product. Rows [begin, end) are blocks.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/wide_passes.h"
#include "sph/wide_rows.h"

WIDE_INLINE PairVector load_gradient(const FloPairSlot *slot) {
  return (PairVector){wide_load(slot->gx), wide_load(slot->gy), wide_load(slot->gz)};
}

WIDE_INLINE void store_numbers(const FloPairs *pairs, size_t block, WideF sum, float *numbers) {
  float lanes[FLO_BLOCK];
  wide_store(lanes, sum);
  size_t first = block * FLO_BLOCK, n = flo_min_size(FLO_BLOCK, pairs->n_rows - first);
  for (size_t lane = 0; lane < n; ++lane) numbers[first + lane] = lanes[lane];
}

void FLO_WIDE(gradient)(const FloSweep *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block],
                      *last = slot + pairs->slot_count[block];
    PairVector sum = {wide_set(0), wide_set(0), wide_set(0)};
    if (in->is_added && slot == last) continue; // most fluid is far from solids
    for (; slot < last; ++slot)
      sum = pair_add_scaled(sum, wide_gather(in->columns, slot->index), load_gradient(slot));
    wide_store_rows(pairs, block, sum, in->is_added, in->rows);
  }
}

void FLO_WIDE(divergence)(const FloSweep *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block],
                      *last = slot + pairs->slot_count[block];
    WideF sum = wide_set(0);
    for (; slot < last; ++slot) {
      WideF v[4];
      wide_gather4(in->columns, slot->index, v);
      PairVector g = load_gradient(slot);
      sum = wide_fma(v[0], g.x, wide_fma(v[1], g.y, wide_fma(v[2], g.z, sum)));
    }
    store_numbers(pairs, block, sum, in->rows);
  }
}

void FLO_WIDE(square)(const FloSweep *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block],
                      *last = slot + pairs->slot_count[block];
    WideF sum = wide_set(0);
    for (; slot < last; ++slot) {
      PairVector g = load_gradient(slot);
      sum = wide_fma(wide_gather(in->columns, slot->index), pair_dot(g, g), sum);
    }
    store_numbers(pairs, block, sum, in->rows);
  }
}
