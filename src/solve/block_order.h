// The order of elimination of a sparse symmetric matrix: nested dissection (George 1973). A separator splits
// the graph into two parts and comes after both; the parts are split in the same way. Small parts are
// ordered by minimum degree.
#ifndef FLO_SOLVE_BLOCK_ORDER_H
#define FLO_SOLVE_BLOCK_ORDER_H

#include "solve/block_matrix.h"

// order[k] is the block row that is eliminated as number k. It depends on the pattern alone.
FloStatus flo_block_order(const FloBlockMatrix *matrix, FloMemory *memory, uint32_t *order, FloError *error);

// Orders a part in place by minimum degree; blocks outside the part count as neighbours, but are not
// eliminated. `local` has a number for each block row of the matrix, all UINT32_MAX, and has so again in the
// end. `room` is memory for it.
FloStatus flo_block_order_leaf(const FloBlockMatrix *matrix, FloMemory *memory, uint32_t *part, size_t n,
                               uint32_t *local, FloBuffer *room, FloError *error);

#endif
