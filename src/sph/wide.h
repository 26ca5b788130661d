// For files that are compiled once per instruction set: gives names the suffix of the set.
#ifndef FLO_SPH_WIDE_H
#define FLO_SPH_WIDE_H

#include "sph/pairs.h"
#include "sph/real_wide.h"

#define FLO_JOIN_(a, b) a##_##b
#define FLO_JOIN(a, b)  FLO_JOIN_(a, b)
#define FLO_WIDE(name)  FLO_JOIN(name, FLO_ISA) // e.g. build_pairs_avx2
#define FLO_TEXT_(a)    #a
#define FLO_TEXT(a)     FLO_TEXT_(a)

// Indices of a block's rows. The last block may overrun; its surplus lanes name some valid row.
WIDE_INLINE void wide_rows(size_t block, size_t n_rows, int32_t rows[FLO_BLOCK]) {
  for (size_t lane = 0; lane < FLO_BLOCK; ++lane)
    rows[lane] = (int32_t)flo_min_size(block * FLO_BLOCK + lane, n_rows - 1);
}

// The quadruples of a block's own rows.
WIDE_INLINE void wide_load_rows(const float *quads, size_t block, size_t n_rows, WideF out[4]) {
  int32_t rows[FLO_BLOCK];
  wide_rows(block, n_rows, rows);
  wide_gather4(quads, rows, out);
}

#endif
