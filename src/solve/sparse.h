// Sparse symmetric positive definite systems A x = b made of small blocks, by a direct LDL^T factorisation.
//
// Joints are blocks: the rows of one joint are one block, and two joints are neighbours if they act on the
// same body. Blocks are eliminated in the order of a multiple minimum degree method, which depends on the
// neighbours alone: a chain of n blocks has about 2 n blocks in its factors, a tree has no others than it had
// before. So the work is proportional to the number of blocks for chains and trees. n blocks that are all
// neighbours of each other cost n^3.
//
// Use: begin, connect, order once. Then for each matrix: clear, add to blocks, factorise, solve as often as
// needed. Only begin, connect and order allocate memory.
#ifndef FLO_SOLVE_SPARSE_H
#define FLO_SOLVE_SPARSE_H

#include "base/memory.h"

enum { FLO_SPARSE_WIDTH = 8, FLO_SPARSE_BUFFERS = 9 };

// One block below the diagonal: its row, as a place in the order of elimination, and its first number.
typedef struct FloSparseEntry {
  uint32_t place;
  size_t numbers;
} FloSparseEntry;

typedef struct FloSparse {
  FloMemory *memory;
  size_t n_blocks, n_rows, n_numbers;
  uint32_t *widths, *first_rows; // of each block
  uint32_t *places;              // place of each block in the order of elimination
  uint32_t *order;               // the block at each place
  size_t *begin;                 // entries of the column at place k: begin[k] .. begin[k + 1], rows rising
  FloSparseEntry *entries;
  size_t *diagonal; // first number of the diagonal block at each place
  double *numbers;  // blocks by rows
  FloList links;    // pairs of neighbours, as added
  FloBuffer buffers[FLO_SPARSE_BUFFERS];
} FloSparse;

void flo_sparse_init(FloSparse *sparse, FloMemory *memory);
void flo_sparse_free(FloSparse *sparse);

// ---- Structure ----

// `widths`: number of rows of each block, at most FLO_SPARSE_WIDTH; 0 is allowed.
FloStatus flo_sparse_begin(FloSparse *sparse, const uint32_t *widths, size_t n_blocks, FloError *error);
// Two blocks may have numbers in common. Links may be repeated.
FloStatus flo_sparse_connect(FloSparse *sparse, uint32_t a, uint32_t b, FloError *error);
FloStatus flo_sparse_order(FloSparse *sparse, FloError *error);

// ---- Numbers ----

// Of all blocks, or of those that `which` says; blocks that are connected must be chosen together.
void flo_sparse_clear(FloSparse *sparse, const bool *which);
// The numbers of block (a, b), by rows, to add to. If *is_turned, they are those of block (b, a) instead.
double *flo_sparse_block(FloSparse *sparse, uint32_t a, uint32_t b, bool *is_turned);
// False if the matrix is not positive definite. `which` as above: NULL means all.
bool flo_sparse_factorise(FloSparse *sparse, const bool *which);
// The numbers of x begin at first_rows of each block. `x` holds b at first.
void flo_sparse_solve(const FloSparse *sparse, double *x);

// ---- The order of elimination, in sparse_order.c ----

// Fills order, places, begin and entries (places only) from links.
FloStatus flo_sparse_eliminate(FloSparse *sparse, FloError *error);

#endif
