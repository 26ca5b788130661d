// Rows over quadruples of particles: two links side by side.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/wide_passes.h"

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
