// Vectors between the particles of a pair, and the sums over a block of rows in memory.
#ifndef FLO_SPH_WIDE_ROWS_H
#define FLO_SPH_WIDE_ROWS_H

#include "sph/wide.h" // first: the vocabulary of the others

#include "sph/pair.h"

typedef struct WideScale {
  Real x, y, z; // supports per unit of fixed point
} WideScale;

WIDE_INLINE WideScale wide_scale_of(const FloLattice *lattice) {
  return (WideScale){wide_set(lattice->to_support[0]), wide_set(lattice->to_support[1]),
                     wide_set(lattice->to_support[2])};
}

// The vectors from the neighbours in one slot to the rows of a block, in supports.
WIDE_INLINE PairVector wide_offset(const FloPairSlot *slot, const float *columns, const WideF here[4],
                                   WideScale s) {
  WideF there[4];
  wide_gather4(columns, slot->index, there);
  return (PairVector){wide_from_int(wide_subtract((WideI)here[0], (WideI)there[0])) * s.x,
                      wide_from_int(wide_subtract((WideI)here[1], (WideI)there[1])) * s.y,
                      wide_from_int(wide_subtract((WideI)here[2], (WideI)there[2])) * s.z};
}

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

// The same with the fourth numbers of the quadruples.
WIDE_INLINE void wide_store_rows_with(const FloPairs *pairs, size_t block, PairVector sum, Real fourth,
                                      bool add, float *quads) {
  float lanes[FLO_BLOCK];
  wide_store(lanes, fourth);
  wide_store_rows(pairs, block, sum, add, quads);
  size_t first = block * FLO_BLOCK, n = flo_min_size(FLO_BLOCK, pairs->n_rows - first);
  for (size_t lane = 0; lane < n; ++lane) quads[4 * (first + lane) + 3] += lanes[lane];
}

// Adds to the numbers of a block.
WIDE_INLINE void wide_add_numbers(const FloPairs *pairs, size_t block, WideF sum, float *rows) {
  float lanes[FLO_BLOCK];
  wide_store(lanes, sum);
  size_t first = block * FLO_BLOCK, n = flo_min_size(FLO_BLOCK, pairs->n_rows - first);
  for (size_t lane = 0; lane < n; ++lane) rows[first + lane] += lanes[lane];
}

#endif
