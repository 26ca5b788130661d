#include "sph/radix.h"

#include "base/core.h"
#include "base/parallel.h"

#include <string.h>

// A chunk with more elements than MIN_CHUNK is worth its own row of counts, which must be cleared and summed.
enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS, N_CHUNKS = 16, MIN_CHUNK = 2 * N_DIGITS };

typedef struct Pass {
  const uint64_t *keys;
  const uint32_t *values;
  uint64_t *keys_out;
  uint32_t *values_out;
  size_t n, grain;
  int shift;
  uint32_t (*counts)[N_DIGITS]; // one row per chunk
} Pass;

size_t flo_radix_scratch(size_t n) { return n * 12 + (size_t)N_CHUNKS * N_DIGITS * sizeof(uint32_t) + 64; }

static size_t digit_of(const Pass *pass, size_t k) {
  return (size_t)(pass->keys[k] >> pass->shift) & (N_DIGITS - 1);
}

static void count_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Pass *pass = context;
  uint32_t *counts = pass->counts[begin / pass->grain];
  memset(counts, 0, sizeof pass->counts[0]);
  for (size_t k = begin; k < end; ++k) counts[digit_of(pass, k)]++;
}

// Converts counts to the places where each chunk writes its next element of each digit.
static void place_digits(Pass *pass) {
  uint32_t place = 0;
  for (size_t digit = 0; digit < N_DIGITS; ++digit)
    for (size_t chunk = 0; chunk * pass->grain < pass->n; ++chunk) {
      uint32_t count = pass->counts[chunk][digit];
      pass->counts[chunk][digit] = place;
      place += count;
    }
}

static void scatter_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Pass *pass = context;
  uint32_t *places = pass->counts[begin / pass->grain];
  for (size_t k = begin; k < end; ++k) {
    uint32_t place = places[digit_of(pass, k)]++;
    pass->keys_out[place] = pass->keys[k];
    pass->values_out[place] = pass->values[k];
  }
}

void flo_radix_sort(uint64_t *keys, uint32_t *values, size_t n, int n_bits, void *scratch, int threads) {
  uint64_t *other_keys = scratch;
  uint32_t *other_values = (uint32_t *)(other_keys + n);
  // An even number of passes ends in the given arrays.
  int n_passes = (n_bits + DIGIT_BITS - 1) / DIGIT_BITS;
  n_passes += n_passes & 1;
  Pass pass = {keys,       values,
               other_keys, other_values,
               n,          flo_max_size((n + N_CHUNKS - 1) / N_CHUNKS, MIN_CHUNK),
               0,          (uint32_t(*)[N_DIGITS])(other_values + n + (n & 1))};
  for (int p = 0; p < n_passes; ++p) {
    pass.shift = p * DIGIT_BITS;
    flo_parallel_for(threads, n, pass.grain, count_range, &pass);
    place_digits(&pass);
    flo_parallel_for(threads, n, pass.grain, scatter_range, &pass);
    uint64_t *k = pass.keys_out;
    uint32_t *v = pass.values_out;
    pass.keys_out = (uint64_t *)pass.keys, pass.values_out = (uint32_t *)pass.values;
    pass.keys = k, pass.values = v;
  }
}
