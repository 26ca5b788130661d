#include "solve/block_kernels.h"

#include "sph/passes.h"

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

const FloTileKernels *flo_tile_kernels(void) {
#ifdef FLO_HAS_AVX2
  if (flo_simd_is_avx2()) return flo_tile_kernels_avx2();
#endif
  return flo_tile_kernels_generic();
}
