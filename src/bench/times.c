#include "bench/times.h"

#include "base/core.h"
#include "base/timer.h"

#include <stdlib.h>
#include <string.h>

static int compare_seconds(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

FloTimes flo_times_of(const double *seconds, int n) {
  double sorted[FLO_BENCH_MAX_REPEATS];
  FLO_ASSERT(n > 0 && n <= FLO_BENCH_MAX_REPEATS);
  memcpy(sorted, seconds, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_seconds);
  return (FloTimes){sorted[0], (sorted[(n - 1) / 2] + sorted[n / 2]) / 2};
}

FloTimes flo_times_measure(int repeats, void (*work)(void *context), void *context) {
  double seconds[FLO_BENCH_MAX_REPEATS];
  FLO_ASSERT(repeats > 0 && repeats <= FLO_BENCH_MAX_REPEATS);
  work(context);
  for (int k = 0; k < repeats; ++k) {
    double since = flo_seconds();
    work(context);
    seconds[k] = flo_seconds() - since;
  }
  return flo_times_of(seconds, repeats);
}
