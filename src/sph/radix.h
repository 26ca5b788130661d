// Sorts 64-bit keys with a 32-bit value each. The sort is stable and parallel, and its result is the same for
// any number of threads.
#ifndef FLO_SPH_RADIX_H
#define FLO_SPH_RADIX_H

#include <stddef.h>
#include <stdint.h>

size_t flo_radix_scratch(size_t n); // bytes
void flo_radix_sort(uint64_t *keys, uint32_t *values, size_t n, int n_bits, void *scratch, int threads);

#endif
