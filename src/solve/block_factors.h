// What a FloBlockFactor holds, and its fronts.
#ifndef FLO_SOLVE_BLOCK_FACTORS_H
#define FLO_SOLVE_BLOCK_FACTORS_H

#include "solve/block_factor.h"
#include "solve/block_tree.h"

struct FloBlockFactor {
  FloBlockTree tree;
  int threads;     // of the last factorisation
  double *numbers; // panels
  float *singles;  // the same in single precision; NULL: not wanted
  double *stack;   // updates
  double *vectors; // room for a solve: for each front the unknowns of its slots
  double *sums;    // and four sums for each number of its pivot slots
  FloBuffer buffers[5];
};

// Eliminates the pivots of a front after its children. False if the matrix is not positive definite.
bool flo_front_factorise(const FloBlockFactor *factor, const FloBlockMatrix *matrix, const FloFront *front,
                         int threads);

#endif
