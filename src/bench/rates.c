#include "bench/rates.h"

#include <math.h>

void flo_rates_add(FloRates *rates, const FloRate *rate) {
  FLO_ASSERT(rates->count < FLO_COUNT_OF(rates->items));
  rates->items[rates->count++] = *rate;
}

static double unlikeness(size_t a, size_t b) {
  return a == 0 || b == 0 ? 0 : fabs(log2((double)a / (double)b));
}

const FloRate *flo_rates_find(const FloRates *rates, FloBenchPart part, int threads, size_t particles) {
  const FloRate *best = NULL;
  for (size_t k = 0; k < rates->count; ++k) {
    const FloRate *rate = &rates->items[k];
    double distance = unlikeness(rate->particles, particles);
    if (rate->part != part || rate->threads != threads || distance > 1) continue;
    if (!best || distance < unlikeness(best->particles, particles)) best = rate;
  }
  return best;
}
