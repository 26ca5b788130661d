// Several measurements of the same thing, and what they say together.
#ifndef FLO_BENCH_TIMES_H
#define FLO_BENCH_TIMES_H

enum { FLO_BENCH_MAX_REPEATS = 16 };

// The best is what the machine can do, the median what a user gets while other jobs come and go.
typedef struct FloTimes {
  double best, median; // [s]
} FloTimes;

FloTimes flo_times_of(const double *seconds, int n); // 0 < n <= FLO_BENCH_MAX_REPEATS

// Calls `work` once to warm up, then `repeats` times with the clock running.
FloTimes flo_times_measure(int repeats, void (*work)(void *context), void *context);

#endif
