// Inner loops of the machine probes, one table per instruction set.
//
// They share no code with the library, on purpose: they measure what the machine can do with a simple data
// layout, and the library is compared with that.
#ifndef FLO_BENCH_PROBE_KERNELS_H
#define FLO_BENCH_PROBE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { FLO_PROBE_LANES = 8 };

// One neighbour of each of eight particles: 16 bytes a pair.
typedef struct FloProbeSlot {
  int32_t index[FLO_PROBE_LANES];
  float gx[FLO_PROBE_LANES], gy[FLO_PROBE_LANES], gz[FLO_PROBE_LANES]; // kernel gradient
} FloProbeSlot;

// A pair operator and the fields it is swept over. Block b has the slots [begin[b], begin[b + 1]).
typedef struct FloProbeFields {
  size_t n_blocks;
  const uint32_t *begin;
  const FloProbeSlot *slots;
  float *p;            // pressure
  float *ax, *ay, *az; // pressure acceleration
} FloProbeFields;

typedef struct FloProbeKernels {
  const char *name;
  // One iteration of a pressure solver over blocks [begin, end) is two sweeps:
  // a_i = -sum_j (p_i + p_j) g_ij,
  void (*accelerate)(const FloProbeFields *, size_t begin, size_t end);
  // p_i += omega sum_j (a_i - a_j) . g_ij.
  void (*correct)(const FloProbeFields *, size_t begin, size_t end);
  // Does `n` rounds of independent chains of multiplications and additions; returns a value that depends on
  // all of them.
  float (*multiply_add)(size_t n);
  double flops_per_round;
} FloProbeKernels;

// Small enough that the fields of a probe stay finite over all its iterations.
#define FLO_PROBE_OMEGA 1e-5f

const FloProbeKernels *flo_probe_kernels(void); // the fastest that this machine can run
const FloProbeKernels *flo_probe_kernels_generic(void);
const FloProbeKernels *flo_probe_kernels_avx2(void); // NULL if this machine cannot run them

#endif
