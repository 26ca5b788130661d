// The structure of the factors of a FloBlockMatrix: a tree of *fronts* (multifrontal method, Duff and Reid
// 1983). A front eliminates a few block rows together, its pivots. Its rows are its pivots and the block rows
// below that they change. What the elimination changes below is its *update*, which is added to the front of
// its parent.
//
// Numbers are stored in tiles of 12 x 12, that is 4 x 4 blocks, with the 12 numbers of a column side by side.
// A strip is a row of tiles: 12 rows of the front. The panel of a front has a strip for each 4 pivots, up to
// the diagonal, and then one for each 4 block rows below, with a tile for each strip of pivots. Its update
// has a strip for each 4 block rows below, up to the diagonal. A block row has a *slot* in the front: its
// number if strips are filled up with empty slots.
#ifndef FLO_SOLVE_BLOCK_TREE_H
#define FLO_SOLVE_BLOCK_TREE_H

#include "solve/block_matrix.h"

enum { FLO_TILE_SLOTS = 4, FLO_TILE_SIDE = 12, FLO_TILE_NUMBERS = 144 };
#define FLO_NO_FRONT UINT32_MAX

typedef struct FloFront {
  uint32_t first, n_pivots;        // places in the order of elimination
  uint32_t n_below;                // block rows
  uint32_t parent, child, sibling; // FLO_NO_FRONT: none
  uint32_t first_descendant;       // the subtree is all fronts from there to this one
  size_t below;                    // first number in the lists `below` and `slots`
  size_t entry;                    // first number in the list of entries
  size_t panel;                    // first number of its panel in the factors
  size_t update;                   // first number of its update in the stack
  size_t vector;                   // first number of its vector: three for each slot of the front
  size_t sums; // first number of its sums: four for each number of its pivot slots; for one front at a time
  bool is_odd; // its depth in the tree
  bool is_in_task;
} FloFront;

// A block of the matrix that belongs to a panel.
typedef struct FloBlockEntry {
  uint32_t block;  // of the matrix
  uint32_t number; // first number in the panel
} FloBlockEntry;

typedef struct FloBlockTree {
  FloMemory *memory;
  size_t n, n_fronts, n_tasks;
  size_t n_numbers, n_stack, n_vectors, n_sums; // of all fronts
  uint32_t *order;                              // block row at each place in the order of elimination
  FloFront *fronts; // children before parents; one more to mark the end of the lists
  uint32_t *below;  // places of the block rows below each front, rising
  uint32_t *slots;  // their slots in the parent's front
  FloBlockEntry *entries;
  uint32_t *tasks; // fronts whose subtrees do not depend on each other
  FloBuffer buffers[6];
} FloBlockTree;

static inline size_t flo_front_pivot_strips(const FloFront *front) {
  return (front->n_pivots + FLO_TILE_SLOTS - 1) / FLO_TILE_SLOTS;
}
static inline size_t flo_front_below_strips(const FloFront *front) {
  return (front->n_below + FLO_TILE_SLOTS - 1) / FLO_TILE_SLOTS;
}
// The first number of a strip that is filled up to the diagonal.
static inline size_t flo_triangle_strip(size_t strip) { return strip * (strip + 1) / 2 * FLO_TILE_NUMBERS; }
// The first number of a strip of a panel.
static inline size_t flo_panel_strip(size_t n_pivot_strips, size_t strip) {
  if (strip <= n_pivot_strips) return flo_triangle_strip(strip);
  return flo_triangle_strip(n_pivot_strips) + (strip - n_pivot_strips) * n_pivot_strips * FLO_TILE_NUMBERS;
}
// The first number of a block within its strip.
static inline size_t flo_strip_block(size_t row_slot, size_t column_slot) {
  return column_slot * 3 * FLO_TILE_SIDE + row_slot % FLO_TILE_SLOTS * 3;
}

FloStatus flo_block_tree_build(FloBlockTree *tree, const FloBlockMatrix *matrix, FloMemory *memory,
                               FloError *error);
void flo_block_tree_free(FloBlockTree *tree);

// ---- Stages of build ----

// Block rows as they are merged to fronts, by their place in a first order.
typedef struct FloBlockColumn {
  uint32_t parent, child, sibling; // UINT32_MAX: none
  uint32_t n_pivots, n_below;
  uint32_t first_pivot, last_pivot; // of a list through next_pivot
  uint32_t next_pivot;
  bool is_merged; // into its parent
} FloBlockColumn;

// Merges columns into those of their parents where the larger front costs less than the two.
void flo_block_columns_merge(FloBlockColumn *columns, size_t n);
// An estimate of the time that a front takes, in cycles.
double flo_front_cost(double n_pivots, double n_below);
// Chooses tasks and places updates in the stack, and sums.
FloStatus flo_block_tree_plan(FloBlockTree *tree, FloError *error);

#endif
