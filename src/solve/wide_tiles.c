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

// ---- Products with vectors, from double and from single precision ----

#define NUMBER      double
#define LOAD        wide_load_double
#define NAMED(name) name
#include "solve/wide_vectors.h"

#undef NUMBER
#undef LOAD
#undef NAMED
#define NUMBER      float
#define LOAD        wide_load_single
#define NAMED(name) name##_single
#include "solve/wide_vectors.h"

const FloTileKernels *FLO_JOIN(flo_tile_kernels, FLO_ISA)(void) {
  static const FloTileKernels kernels = {subtract_product,   apply_inverse, add_forward,
                                         add_forward_single, add_backward,  add_backward_single};
  return &kernels;
}
