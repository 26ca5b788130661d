// Rows over quadruples of particles: two links side by side.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/pair.h"
#include "sph/wide_passes.h"

#include <string.h>

// The gradients of two links. Their fourth parts are numbers of particles, which a mask removes.
WIDE_INLINE WideF load_gradients(const FloLink *links) {
  static const WideI mask = {-1, -1, -1, 0, -1, -1, -1, 0};
  return (WideF)(wide_load_int((const int32_t *)(const void *)links) & mask);
}

WIDE_INLINE WideF load_velocities(const FloLink *links, const float *velocity) {
  return wide_load_quads(velocity + 4 * (size_t)links[0].particle, velocity + 4 * (size_t)links[1].particle);
}

WIDE_INLINE WideF add_rates(const FloLink *links, const float *velocity, WideF sum) {
  return wide_fma(load_gradients(links), load_velocities(links, velocity), sum);
}

WIDE_INLINE float measure_rate(const FloLink *links, size_t n, const float *velocity) {
  WideF even = wide_set(0), odd = wide_set(0);
  size_t k = 0;
  for (; k + 2 < n; k += 4) {
    even = add_rates(links + k, velocity, even);
    odd = add_rates(links + k + 2, velocity, odd);
  }
  if (k < n) even = add_rates(links + k, velocity, even);
  return wide_sum_vectors(even + odd);
}

// A missing link names the particle of the other one, which is stored last.
WIDE_INLINE void push_links(const FloLink *links, size_t n, float impulse, float *velocity) {
  const WideF all = wide_set(-impulse);
  for (size_t k = 0; k < n; k += 2) {
    const WideF v = load_velocities(links + k, velocity);
    wide_store_quads(wide_fma(all * wide_fourth(v), load_gradients(links + k), v),
                     velocity + 4 * (size_t)links[k].particle, velocity + 4 * (size_t)links[k + 1].particle);
  }
}

float FLO_WIDE(links_rate)(const FloLink *links, size_t n, const float *velocity) {
  return measure_rate(links, n, velocity);
}

void FLO_WIDE(links_push)(const FloLink *links, size_t n, float impulse, float *velocity) {
  push_links(links, n, impulse, velocity);
}

float FLO_WIDE(links_response)(const FloLink *links, size_t n, const float *velocity) {
  WideF sum = wide_set(0);
  for (size_t k = 0; k < n; k += 2) {
    const WideF g = load_gradients(links + k);
    sum = wide_fma(g * g, wide_fourth(load_velocities(links + k, velocity)), sum);
  }
  return wide_sum_vectors(sum);
}

// ---- Links of densities ----

// Stores one link of each row whose list is long enough.
WIDE_INLINE void store_links(PairVector g, WideI columns, const int32_t *counts, size_t n_rows, size_t k,
                             FloLink *const rows[FLO_BLOCK]) {
  const WideF parts[4] = {g.x, g.y, g.z, (WideF)columns};
  float quads[4 * FLO_BLOCK];
  wide_store4(quads, parts);
  for (size_t lane = 0; lane < n_rows; ++lane)
    if (k < (size_t)counts[lane]) memcpy(&rows[lane][1 + k], quads + 4 * lane, sizeof(FloLink));
}

WIDE_INLINE void store_own(PairVector g, size_t first, size_t n_rows, FloLink *const rows[FLO_BLOCK]) {
  float x[FLO_BLOCK], y[FLO_BLOCK], z[FLO_BLOCK];
  wide_store(x, g.x), wide_store(y, g.y), wide_store(z, g.z);
  for (size_t lane = 0; lane < n_rows; ++lane)
    rows[lane][0] = (FloLink){{x[lane], y[lane], z[lane]}, (uint32_t)(first + lane)};
}

void FLO_WIDE(link_block)(const FloPairs *pairs, size_t block, float scale, FloLink *const rows[FLO_BLOCK]) {
  const size_t first = block * FLO_BLOCK, n_rows = flo_min_size(FLO_BLOCK, pairs->n_rows - first);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  const WideF minus = wide_set(-scale);
  PairVector own = {wide_set(0), wide_set(0), wide_set(0)};
  for (size_t k = 0; k < pairs->slot_count[block]; ++k) {
    const FloPairSlot *slot = slots + k;
    const PairVector g = {minus * wide_load(slot->gx), minus * wide_load(slot->gy),
                          minus * wide_load(slot->gz)};
    own = pair_difference(own, g);
    store_links(g, wide_load_int(slot->index), pairs->row_count + first, n_rows, k, rows);
  }
  store_own(own, first, n_rows, rows);
}

// ---- Gauss-Seidel ----

WIDE_INLINE void relax_row(const FloLinkedRows *in, size_t position) {
  const FloRowHead *head = in->heads + position;
  const FloLink *links = in->links + head->first_link;
  const size_t row = in->order[position];
  const float rate = measure_rate(links, head->n_links, in->velocity);
  const float p = flo_links_choose(in, position, rate, in->relaxation), change = p - in->p[row];
  in->move[row] = change;
  if (change == 0) return;
  in->p[row] = p;
  push_links(links, head->n_links, change, in->velocity);
}

void FLO_WIDE(relax)(const FloLinkedRows *in, FloRowGroup group) {
  for (size_t position = group.begin; position < group.end; ++position) relax_row(in, position);
}
