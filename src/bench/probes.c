#include "bench/probes.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "bench/probe_kernels.h"

// ---- Memory ----

enum { TRIAD_GRAIN = 1 << 17 };

typedef struct Triad {
  double *a, *b, *c;
  size_t n;
  int threads;
} Triad;

// Each thread first touches the pages that it uses later, as far as chunks allow.
static void fill_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Triad *t = context;
  for (size_t i = begin; i < end; ++i) t->a[i] = 0, t->b[i] = 1, t->c[i] = 2;
}

static void triad_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Triad *t = context;
  double *restrict a = t->a;
  const double *restrict b = t->b, *restrict c = t->c;
  for (size_t i = begin; i < end; ++i) a[i] = b[i] + 3 * c[i];
}

static void triad_once(void *context) {
  const Triad *t = context;
  flo_parallel_for(t->threads, t->n, TRIAD_GRAIN, triad_range, context);
}

FloStatus flo_probe_stream(int threads, size_t array_bytes, int repeats, FloTimes *times, FloError *error) {
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  FloBuffer arrays[3] = {0};
  FloStatus status = FLO_OK;
  for (int k = 0; k < 3 && status == FLO_OK; ++k)
    status = flo_buffer_reserve(&memory, &arrays[k], array_bytes, 0, error);
  if (status == FLO_OK) {
    Triad t = {arrays[0].data, arrays[1].data, arrays[2].data, array_bytes / sizeof(double), threads};
    flo_parallel_for(threads, t.n, TRIAD_GRAIN, fill_range, &t);
    *times = flo_times_measure(repeats, triad_once, &t);
  }
  for (int k = 0; k < 3; ++k) flo_buffer_free(&memory, &arrays[k]);
  return status;
}

// ---- Arithmetic ----

// Chunks per thread: if another program delays a thread, other threads do its remaining chunks.
enum { FMA_CHUNKS = 8 };

typedef struct Chains {
  const FloProbeKernels *kernels;
  int threads;
  size_t rounds;
} Chains;

static void chain_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Chains *chains = context;
  for (size_t k = begin; k < end; ++k) {
    // Volatile, so that the compiler computes the result, which is not used.
    volatile float sink = chains->kernels->multiply_add(chains->rounds);
    (void)sink;
  }
}

static void chain_once(void *context) {
  const Chains *chains = context;
  flo_parallel_for(chains->threads, (size_t)chains->threads * FMA_CHUNKS, 1, chain_range, context);
}

double flo_probe_fma(int threads, size_t rounds, int repeats, FloTimes *times) {
  Chains chains = {flo_probe_kernels(), threads, rounds};
  *times = flo_times_measure(repeats, chain_once, &chains);
  return chains.kernels->flops_per_round * (double)rounds * FMA_CHUNKS * threads;
}
