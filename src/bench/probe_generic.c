// The probes in plain C: a loop over eight lanes, which the compiler may vectorize.
#include "bench/probe_kernels.h"

enum { LANES = FLO_PROBE_LANES, N_CHAINS = 32 };

static void accelerate_block(const FloProbeFields *f, size_t block) {
  float x[LANES] = {0}, y[LANES] = {0}, z[LANES] = {0};
  const float *here = f->p + block * LANES;
  for (size_t s = f->begin[block]; s < f->begin[block + 1]; ++s) {
    const FloProbeSlot *slot = f->slots + s;
    for (int lane = 0; lane < LANES; ++lane) {
      float sum = here[lane] + f->p[slot->index[lane]];
      x[lane] -= sum * slot->gx[lane];
      y[lane] -= sum * slot->gy[lane];
      z[lane] -= sum * slot->gz[lane];
    }
  }
  for (size_t lane = 0; lane < LANES; ++lane) {
    size_t i = block * LANES + lane;
    f->ax[i] = x[lane], f->ay[i] = y[lane], f->az[i] = z[lane];
  }
}

static void accelerate(const FloProbeFields *f, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) accelerate_block(f, block);
}

static void correct_block(const FloProbeFields *f, size_t block) {
  float sum[LANES] = {0};
  size_t first = block * LANES;
  const float *x = f->ax + first, *y = f->ay + first, *z = f->az + first;
  for (size_t s = f->begin[block]; s < f->begin[block + 1]; ++s) {
    const FloProbeSlot *slot = f->slots + s;
    for (int lane = 0; lane < LANES; ++lane) {
      int32_t j = slot->index[lane];
      sum[lane] += (x[lane] - f->ax[j]) * slot->gx[lane] + (y[lane] - f->ay[j]) * slot->gy[lane] +
                   (z[lane] - f->az[j]) * slot->gz[lane];
    }
  }
  for (size_t lane = 0; lane < LANES; ++lane) f->p[first + lane] += FLO_PROBE_OMEGA * sum[lane];
}

static void correct(const FloProbeFields *f, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) correct_block(f, block);
}

static float multiply_add(size_t n) {
  // Volatile, so that the compiler cannot compute the result itself.
  volatile float factor = 0.999f, term = 0.001f;
  float a = factor, b = term, chains[N_CHAINS] = {0}, sum = 0;
  for (size_t k = 0; k < n; ++k)
    for (int c = 0; c < N_CHAINS; ++c) chains[c] = chains[c] * a + b;
  for (int c = 0; c < N_CHAINS; ++c) sum += chains[c];
  return sum;
}

const FloProbeKernels *flo_probe_kernels_generic(void) {
  static const FloProbeKernels kernels = {"generic", accelerate, correct, multiply_add, 2.0 * N_CHAINS};
  return &kernels;
}

const FloProbeKernels *flo_probe_kernels(void) {
  const FloProbeKernels *best = flo_probe_kernels_avx2();
  return best ? best : flo_probe_kernels_generic();
}
