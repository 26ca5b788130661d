// Rates measured earlier in the same run, for the shares and speed-ups of later lines.
#ifndef FLO_BENCH_RATES_H
#define FLO_BENCH_RATES_H

#include "bench/suite.h"

// A rate counts bytes (stream), flops (fma), visits of a pair (probe) or steps (box, peer-dam).
typedef struct FloRate {
  FloBenchPart part;
  int threads;
  size_t particles;    // 0 if it does not matter
  double best, median; // [1/s]
} FloRate;

typedef struct FloRates {
  // Probe, box and pool have one for each size and number of threads; stream, fma and peer-dam one for each
  // number of threads; five-million has one.
  FloRate items[FLO_BENCH_MAX_VALUES * (3 * FLO_BENCH_MAX_VALUES + 3) + 1];
  size_t count;
} FloRates;

void flo_rates_add(FloRates *rates, const FloRate *rate);
// The rate with the same number of threads and the most similar number of particles, at most a factor of two
// away; NULL if there is none.
const FloRate *flo_rates_find(const FloRates *rates, FloBenchPart part, int threads, size_t particles);

#endif
