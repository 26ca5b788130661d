// Products of tiles and strips. A third of a tile, 12 rows by 4 columns, is summed up in registers: three
// lanes of doubles for each column.
#include "sph/wide.h" // first: it defines the types that the others use

#include "solve/block_kernels.h"

enum { SIDE = FLO_TILE_SIDE, LANES = 4, PARTS = SIDE / LANES, WIDTH = 4 };

typedef struct Third {
  WideD sums[WIDTH][PARTS];
} Third;

// sums = a b^T for the first four rows of b, with n columns.
WIDE_INLINE Third multiply(const double *a, const double *b, size_t n) {
  Third t;
  for (int j = 0; j < WIDTH; ++j)
    for (int r = 0; r < PARTS; ++r) t.sums[j][r] = wide_set_double(0);
  for (; n > 0; --n, a += SIDE, b += SIDE) {
    const WideD rows[PARTS] = {wide_load_double(a), wide_load_double(a + LANES),
                               wide_load_double(a + 2 * LANES)};
    for (int j = 0; j < WIDTH; ++j) {
      const WideD factor = wide_set_double(b[j]);
      for (int r = 0; r < PARTS; ++r) t.sums[j][r] = wide_fma_double(rows[r], factor, t.sums[j][r]);
    }
  }
  return t;
}

static void subtract_product(const double *a, const double *b, size_t n, double *c) {
  for (int first = 0; first < SIDE; first += WIDTH) {
    const Third t = multiply(a, b + first, n);
    for (int j = 0; j < WIDTH; ++j)
      for (int r = 0; r < PARTS; ++r) {
        double *to = c + (first + j) * SIDE + r * LANES;
        wide_store_double(to, wide_load_double(to) - t.sums[j][r]);
      }
  }
}

// From the last columns to the first: each column of the product needs those up to itself only.
static void apply_inverse(const double *inverse, double *a) {
  for (int first = SIDE - WIDTH; first >= 0; first -= WIDTH) {
    const Third t = multiply(a, inverse + first, (size_t)(first + WIDTH));
    for (int j = 0; j < WIDTH; ++j)
      for (int r = 0; r < PARTS; ++r) wide_store_double(a + (first + j) * SIDE + r * LANES, t.sums[j][r]);
  }
}

// Four columns at a time have sums of their own, so that no addition waits for the one before.
static void add_forward(const double *a, size_t n, const double *x, double *sum) {
  WideD sums[WIDTH][PARTS];
  for (int j = 0; j < WIDTH; ++j)
    for (int r = 0; r < PARTS; ++r) sums[j][r] = wide_set_double(0);
  size_t p = 0;
  for (; p + WIDTH <= n; p += WIDTH)
    for (int j = 0; j < WIDTH; ++j) {
      const WideD factor = wide_set_double(x[p + (size_t)j]);
      for (int r = 0; r < PARTS; ++r)
        sums[j][r] =
            wide_fma_double(wide_load_double(a + (p + (size_t)j) * SIDE + r * LANES), factor, sums[j][r]);
    }
  for (; p < n; ++p)
    for (int r = 0; r < PARTS; ++r)
      sums[0][r] =
          wide_fma_double(wide_load_double(a + p * SIDE + r * LANES), wide_set_double(x[p]), sums[0][r]);
  for (int r = 0; r < PARTS; ++r)
    wide_store_double(sum + r * LANES, wide_load_double(sum + r * LANES) +
                                           ((sums[0][r] + sums[1][r]) + (sums[2][r] + sums[3][r])));
}

static void add_backward(const double *a, size_t n, const double *y, double *sum) {
  const WideD rows[PARTS] = {wide_load_double(y), wide_load_double(y + LANES),
                             wide_load_double(y + 2 * LANES)};
  for (; n > 0; --n, a += SIDE, sum += LANES) {
    WideD s = wide_load_double(sum);
    for (int r = 0; r < PARTS; ++r) s = wide_fma_double(wide_load_double(a + r * LANES), rows[r], s);
    wide_store_double(sum, s);
  }
}

const FloTileKernels *FLO_JOIN(flo_tile_kernels, FLO_ISA)(void) {
  static const FloTileKernels kernels = {subtract_product, apply_inverse, add_forward, add_backward};
  return &kernels;
}
