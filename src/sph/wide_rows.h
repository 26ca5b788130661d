// Stores the sums over a block of rows in memory.
#ifndef FLO_SPH_WIDE_ROWS_H
#define FLO_SPH_WIDE_ROWS_H

#include "sph/wide.h" // first: the vocabulary of the others

#include "sph/pair.h"

// Adds to, or sets, the quadruples of a block.
WIDE_INLINE void wide_store_rows(const FloPairs *pairs, size_t block, PairVector sum, bool add,
                                 float *quads) {
  float x[FLO_BLOCK], y[FLO_BLOCK], z[FLO_BLOCK];
  wide_store(x, sum.x), wide_store(y, sum.y), wide_store(z, sum.z);
  size_t first = block * FLO_BLOCK;
  size_t n = first + FLO_BLOCK <= pairs->n_rows ? FLO_BLOCK : pairs->n_rows - first;
  for (size_t lane = 0; lane < n; ++lane) {
    float *q = quads + 4 * (first + lane);
    q[0] = x[lane] + (add ? q[0] : 0);
    q[1] = y[lane] + (add ? q[1] : 0);
    q[2] = z[lane] + (add ? q[2] : 0);
    if (!add) q[3] = 0;
  }
}

#endif
