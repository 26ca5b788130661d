// What a FloBlockFactor holds.
#ifndef FLO_SOLVE_BLOCK_FACTORS_H
#define FLO_SOLVE_BLOCK_FACTORS_H

#include "solve/block_tree.h"

struct FloBlockFactor {
  FloBlockTree tree;
  double *numbers; // panels
  double *stack;   // updates
  // Room for a solve.
  double *permuted; // the unknowns in the order of elimination
  double *below;    // those below a front, strip by strip
  double *pivots;   // those of its pivots, strip by strip
  double *sums;     // four for each pivot
  FloBuffer buffers[3];
};

#endif
