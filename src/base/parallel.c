#include "base/parallel.h"

#include <float.h>
#include <omp.h>

int flo_parallel_default_threads(void) {
  const int threads = omp_get_max_threads();
  return threads < FLO_MOST_THREADS ? threads : FLO_MOST_THREADS;
}

int flo_parallel_cores(void) { return omp_get_num_procs(); }

void flo_parallel_for(int threads, size_t n, size_t grain, FloRangeFn work, void *context) {
  size_t n_chunks = (n + grain - 1) / grain;
  if (n_chunks <= 1 || threads == 1) {
    for (size_t begin = 0; begin < n; begin += grain) work(context, begin, flo_min_size(begin + grain, n), 0);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t chunk = 0; chunk < n_chunks; ++chunk) {
    size_t begin = chunk * grain;
    work(context, begin, flo_min_size(begin + grain, n), omp_get_thread_num());
  }
}

size_t flo_parallel_grain(size_t n) {
  size_t grain = (n + FLO_MAX_CHUNKS - 1) / FLO_MAX_CHUNKS;
  grain = flo_max_size(grain, 1024);
  return (grain + 15) / 16 * 16;
}

typedef struct Reduction {
  FloSumFn add;
  const void *context;
  size_t grain;
  int n_values;
  double partials[FLO_MAX_CHUNKS][FLO_MAX_SUMS];
} Reduction;

static void reduce_chunk(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Reduction *reduction = context;
  reduction->add(reduction->context, begin, end, reduction->partials[begin / reduction->grain]);
}

static size_t reduce(int threads, size_t n, FloSumFn add, const void *context, int n_values, double start,
                     Reduction *r) {
  FLO_ASSERT(n_values <= FLO_MAX_SUMS);
  r->add = add, r->context = context, r->n_values = n_values, r->grain = flo_parallel_grain(n);
  size_t n_chunks = (n + r->grain - 1) / r->grain;
  for (size_t chunk = 0; chunk < n_chunks; ++chunk)
    for (int k = 0; k < n_values; ++k) r->partials[chunk][k] = start;
  flo_parallel_for(threads, n, r->grain, reduce_chunk, r);
  return n_chunks;
}

void flo_parallel_sum(int threads, size_t n, FloSumFn add, const void *context, int n_sums, double *sums) {
  Reduction r;
  size_t n_chunks = reduce(threads, n, add, context, n_sums, 0, &r);
  for (int k = 0; k < n_sums; ++k) {
    sums[k] = 0;
    for (size_t chunk = 0; chunk < n_chunks; ++chunk) sums[k] += r.partials[chunk][k];
  }
}

void flo_parallel_max(int threads, size_t n, FloSumFn raise, const void *context, int n_maxima,
                      double *maxima) {
  Reduction r;
  size_t n_chunks = reduce(threads, n, raise, context, n_maxima, -DBL_MAX, &r);
  for (int k = 0; k < n_maxima; ++k) {
    maxima[k] = -DBL_MAX;
    for (size_t chunk = 0; chunk < n_chunks; ++chunk)
      if (r.partials[chunk][k] > maxima[k]) maxima[k] = r.partials[chunk][k];
  }
}
