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

WIDE_INLINE float highest_lane(WideF a) {
  float lanes[FLO_BLOCK], highest = 0;
  wide_store(lanes, a);
  for (size_t lane = 0; lane < FLO_BLOCK; ++lane) highest = lanes[lane] > highest ? lanes[lane] : highest;
  return highest;
}

void FLO_WIDE(approach)(const FloApproach *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  const WideF unit = wide_set(in->unit), tiny = wide_set(1e-12f);
  for (size_t block = begin; block < end; ++block) {
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block],
                      *last = slot + pairs->slot_count[block];
    WideF here[4], there[4], fastest = wide_set(in->fastest[block]);
    if (slot == last) continue;
    wide_load_rows(in->rows, block, pairs->n_rows, here);
    PairVector v = {here[0], here[1], here[2]};
    for (; slot < last; ++slot) {
      PairVector g = load_gradient(slot), scaled = {unit * g.x, unit * g.y, unit * g.z};
      wide_gather4(in->columns, slot->index, there);
      PairVector w = {there[0], there[1], there[2]};
      fastest = wide_max(fastest, pair_approach(pair_difference(v, w), scaled, tiny));
    }
    in->fastest[block] = highest_lane(fastest);
  }
}
