// The dense operations on tiles and strips (block_tree.h) that the factors are made with.
#ifndef FLO_SOLVE_BLOCK_KERNELS_H
#define FLO_SOLVE_BLOCK_KERNELS_H

#include "solve/block_tree.h"

typedef struct FloTileKernels {
  // c -= a b^T, with n columns of the strips a and b.
  void (*subtract_product)(const double *a, const double *b, size_t n, double *c);
  // a = a inverse^T, where `inverse` is a lower triangular tile.
  void (*apply_inverse)(const double *inverse, double *a);
  // sum[12] += a x, with n columns of the strip a.
  void (*add_forward)(const double *a, size_t n, const double *x, double *sum);
  void (*add_forward_single)(const float *a, size_t n, const double *x, double *sum);
  // sum[4 k .. 4 k + 3] += four parts of the product of column k with y[12], for n columns.
  void (*add_backward)(const double *a, size_t n, const double *y, double *sum);
  void (*add_backward_single)(const float *a, size_t n, const double *y, double *sum);
} FloTileKernels;

const FloTileKernels *flo_tile_kernels(void);         // the best this machine can run
const FloTileKernels *flo_tile_kernels_generic(void); // those every machine can run
#ifdef FLO_HAS_AVX2
const FloTileKernels *flo_tile_kernels_avx2(void);
#endif

// Replaces a tile by the inverse of its lower Cholesky factor. False if it is not positive definite.
bool flo_tile_invert_factor(double *tile);

#endif
