// Threads. The only place that knows OpenMP.
//
// A loop over n items is cut into chunks of `grain` items. Which thread takes a chunk varies, but what the
// chunk computes does not. Sums are formed per chunk and added in the order of the chunks. Results therefore
// have the same bits for any number of threads.
#ifndef FLO_BASE_PARALLEL_H
#define FLO_BASE_PARALLEL_H

#include "base/core.h"

// Works on items [begin, end). `thread` is in [0, threads). No other call has the same number at the same
// time, so it may choose scratch memory.
typedef void (*FloRangeFn)(void *context, size_t begin, size_t end, int thread);

// Adds the contribution of items [begin, end) to `partial`, which starts as zeros.
typedef void (*FloSumFn)(const void *context, size_t begin, size_t end, double *partial);

enum { FLO_MAX_SUMS = 16, FLO_MAX_CHUNKS = 256, FLO_MOST_THREADS = 1024 };

// As many as there are cores, or as the environment variable OMP_NUM_THREADS says, up to FLO_MOST_THREADS.
int flo_parallel_default_threads(void);
int flo_parallel_cores(void);
void flo_parallel_for(int threads, size_t n, size_t grain, FloRangeFn work, void *context);
// The grain that cuts n items into at most FLO_MAX_CHUNKS chunks of at least 1024 items. It depends on n
// alone.
size_t flo_parallel_grain(size_t n);
// `sums` receives n_sums totals.
void flo_parallel_sum(int threads, size_t n, FloSumFn add, const void *context, int n_sums, double *sums);
// The same for maxima; `partial` starts as the lowest double.
void flo_parallel_max(int threads, size_t n, FloSumFn raise, const void *context, int n_maxima,
                      double *maxima);

#endif
