// Random numbers that are the same on every machine (splitmix64).
#ifndef TEST_SUPPORT_RANDOM_H
#define TEST_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct Random {
  uint64_t state;
} Random;

static inline uint64_t random_bits(Random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static inline double random_between(Random *random, double low, double high) {
  return low + (high - low) * (double)(random_bits(random) >> 11) * 0x1p-53;
}

static inline uint32_t random_below(Random *random, uint32_t n) {
  return (uint32_t)(random_bits(random) % n);
}

// A permutation of 0 .. n-1 (Fisher and Yates).
static inline void random_order(Random *random, uint32_t *order, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k) {
    uint32_t other = random_below(random, k + 1);
    order[k] = order[other];
    order[other] = k;
  }
}

#endif
