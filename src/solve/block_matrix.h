// Sparse symmetric matrices of 3 x 3 blocks: a block row for each vertex of a mesh. Both halves are stored,
// so that products need no scattered sums and are the same for any number of threads.
#ifndef FLO_SOLVE_BLOCK_MATRIX_H
#define FLO_SOLVE_BLOCK_MATRIX_H

#include "base/memory.h"

typedef struct FloBlockMatrix {
  FloMemory *memory;
  size_t n;          // block rows
  size_t *begin;     // blocks of row i: begin[i] .. begin[i + 1]
  uint32_t *columns; // rising in each row; the diagonal is there
  double *blocks;    // nine numbers by rows
  FloBuffer buffers[3];
} FloBlockMatrix;

void flo_block_matrix_init(FloBlockMatrix *matrix, FloMemory *memory);
void flo_block_matrix_free(FloBlockMatrix *matrix);
// The pattern: pairs of vertices that have a block in common; they may be repeated. Blocks are zero then.
FloStatus flo_block_matrix_build(FloBlockMatrix *matrix, size_t n, const uint32_t *pairs, size_t n_pairs,
                                 FloError *error);
void flo_block_matrix_clear(FloBlockMatrix *matrix);
// The nine numbers of block (i, j), which must be in the pattern.
double *flo_block_matrix_at(const FloBlockMatrix *matrix, size_t i, size_t j);
// y = A x.
void flo_block_matrix_apply(const FloBlockMatrix *matrix, const double *x, double *y, int threads);

#endif
