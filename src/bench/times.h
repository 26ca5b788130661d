// Statistics of several measurements of the same thing.
#ifndef FLO_BENCH_TIMES_H
#define FLO_BENCH_TIMES_H

enum { FLO_BENCH_MAX_REPEATS = 16 };

// The best is the speed of the machine alone; the median is what a user gets while other programs run.
typedef struct FloTimes {
  double best, median; // [s]
} FloTimes;

FloTimes flo_times_of(const double *seconds, int n); // 0 < n <= FLO_BENCH_MAX_REPEATS

// Calls `work` once to warm up, then measures it `repeats` times.
FloTimes flo_times_measure(int repeats, void (*work)(void *context), void *context);

#endif
