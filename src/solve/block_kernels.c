#include "solve/block_kernels.h"

#include <math.h>
#include <string.h>

enum { SIDE = FLO_TILE_SIDE };

// The lower factor replaces the lower half.
static bool factorise_tile(double *t) {
  for (int j = 0; j < SIDE; ++j) {
    for (int p = 0; p < j; ++p)
      for (int i = j; i < SIDE; ++i) t[j * SIDE + i] -= t[p * SIDE + i] * t[p * SIDE + j];
    double square = t[j * SIDE + j];
    if (!(square > 0) || isinf(square)) return false;
    double scale = 1 / sqrt(square);
    for (int i = j; i < SIDE; ++i) t[j * SIDE + i] *= scale;
  }
  return true;
}

bool flo_tile_invert_factor(double *tile) {
  double inverse[FLO_TILE_NUMBERS] = {0};
  if (!factorise_tile(tile)) return false;
  for (int j = 0; j < SIDE; ++j) {
    double *column = inverse + j * SIDE;
    column[j] = 1;
    for (int p = j; p < SIDE; ++p) {
      column[p] /= tile[p * SIDE + p];
      for (int i = p + 1; i < SIDE; ++i) column[i] -= tile[p * SIDE + i] * column[p];
    }
  }
  memcpy(tile, inverse, sizeof inverse);
  return true;
}

static void subtract_product(const double *a, const double *b, size_t n, double *c) {
  for (size_t p = 0; p < n; ++p)
    for (int j = 0; j < SIDE; ++j)
      for (int i = 0; i < SIDE; ++i) c[j * SIDE + i] -= a[p * SIDE + i] * b[p * SIDE + j];
}

static void apply_inverse(const double *inverse, double *a) {
  double product[FLO_TILE_NUMBERS] = {0};
  for (int p = 0; p < SIDE; ++p)
    for (int j = p; j < SIDE; ++j)
      for (int i = 0; i < SIDE; ++i) product[j * SIDE + i] += a[p * SIDE + i] * inverse[p * SIDE + j];
  memcpy(a, product, sizeof product);
}

static void add_forward(const double *a, size_t n, const double *x, double *sum) {
  for (size_t p = 0; p < n; ++p)
    for (int i = 0; i < SIDE; ++i) sum[i] += a[p * SIDE + i] * x[p];
}

static void add_backward(const double *a, size_t n, const double *y, double *sum) {
  for (size_t p = 0; p < n; ++p)
    for (int i = 0; i < SIDE; ++i) sum[4 * p + (size_t)i % 4] += a[p * SIDE + i] * y[i];
}

const FloTileKernels *flo_tile_kernels(void) {
  static const FloTileKernels kernels = {subtract_product, apply_inverse, add_forward, add_backward};
  return &kernels;
}
