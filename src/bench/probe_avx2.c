// The probes with AVX2 and FMA: eight particles in the lanes of a vector, neighbours by gather instructions.
#include "bench/probe_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

// The rest of the program must run on machines without AVX2, so only these functions are compiled for it.
#define AVX2 __attribute__((target("avx2,fma")))

enum { LANES = FLO_PROBE_LANES };

AVX2 static void accelerate(const FloProbeFields *f, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) {
    __m256 here = _mm256_loadu_ps(f->p + block * LANES);
    __m256 x = _mm256_setzero_ps(), y = x, z = x;
    for (size_t s = f->begin[block]; s < f->begin[block + 1]; ++s) {
      const FloProbeSlot *slot = f->slots + s;
      __m256i j = _mm256_loadu_si256((const __m256i *)slot->index);
      __m256 sum = _mm256_add_ps(here, _mm256_i32gather_ps(f->p, j, 4));
      x = _mm256_fnmadd_ps(sum, _mm256_loadu_ps(slot->gx), x);
      y = _mm256_fnmadd_ps(sum, _mm256_loadu_ps(slot->gy), y);
      z = _mm256_fnmadd_ps(sum, _mm256_loadu_ps(slot->gz), z);
    }
    _mm256_storeu_ps(f->ax + block * LANES, x);
    _mm256_storeu_ps(f->ay + block * LANES, y);
    _mm256_storeu_ps(f->az + block * LANES, z);
  }
}

AVX2 static void correct(const FloProbeFields *f, size_t begin, size_t end) {
  const __m256 omega = _mm256_set1_ps(FLO_PROBE_OMEGA);
  for (size_t block = begin; block < end; ++block) {
    size_t first = block * LANES;
    __m256 x = _mm256_loadu_ps(f->ax + first), y = _mm256_loadu_ps(f->ay + first);
    __m256 z = _mm256_loadu_ps(f->az + first), sum = _mm256_setzero_ps();
    for (size_t s = f->begin[block]; s < f->begin[block + 1]; ++s) {
      const FloProbeSlot *slot = f->slots + s;
      __m256i j = _mm256_loadu_si256((const __m256i *)slot->index);
      __m256 dx = _mm256_sub_ps(x, _mm256_i32gather_ps(f->ax, j, 4));
      __m256 dy = _mm256_sub_ps(y, _mm256_i32gather_ps(f->ay, j, 4));
      __m256 dz = _mm256_sub_ps(z, _mm256_i32gather_ps(f->az, j, 4));
      sum = _mm256_fmadd_ps(dx, _mm256_loadu_ps(slot->gx), sum);
      sum = _mm256_fmadd_ps(dy, _mm256_loadu_ps(slot->gy), sum);
      sum = _mm256_fmadd_ps(dz, _mm256_loadu_ps(slot->gz), sum);
    }
    _mm256_storeu_ps(f->p + first, _mm256_fmadd_ps(omega, sum, _mm256_loadu_ps(f->p + first)));
  }
}

// Twelve chains: enough to cover the latency of an instruction on two units, and they fit the registers.
enum { N_CHAINS = 12 };

AVX2 static float multiply_add(size_t n) {
  // Volatile, so that the compiler cannot compute the result itself.
  volatile float factor = 0.999f, term = 0.001f;
  const __m256 a = _mm256_set1_ps(factor), b = _mm256_set1_ps(term);
  __m256 chains[N_CHAINS], sum = _mm256_setzero_ps();
  float lanes[LANES], total = 0;
  for (int c = 0; c < N_CHAINS; ++c) chains[c] = _mm256_set1_ps((float)c);
  for (size_t k = 0; k < n; ++k)
    for (int c = 0; c < N_CHAINS; ++c) chains[c] = _mm256_fmadd_ps(chains[c], a, b);
  for (int c = 0; c < N_CHAINS; ++c) sum = _mm256_add_ps(sum, chains[c]);
  _mm256_storeu_ps(lanes, sum);
  for (int lane = 0; lane < LANES; ++lane) total += lanes[lane];
  return total;
}

const FloProbeKernels *flo_probe_kernels_avx2(void) {
  static const FloProbeKernels kernels = {"avx2", accelerate, correct, multiply_add, 2.0 * LANES * N_CHAINS};
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernels : NULL;
}

#else

const FloProbeKernels *flo_probe_kernels_avx2(void) { return NULL; }

#endif
