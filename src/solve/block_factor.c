// The numbers of the factors. A front is assembled from blocks of the matrix and from the updates of its
// children. Then its pivots are eliminated, a group of tile columns at a time, so that the strips of a group
// stay in the caches while all other tiles are changed. The tiles on the diagonal keep the inverses of their
// factors: solves then need products only.
#include "solve/block_factor.h"

#include "base/parallel.h"
#include "solve/block_factors.h"
#include "solve/block_kernels.h"

#include <stdatomic.h>
#include <string.h>

enum { GROUP = 8 };

// A front and where its numbers are.
typedef struct Work {
  const FloBlockFactor *factor;
  const FloTileKernels *kernels;
  const FloFront *front;
  size_t n_pivot_strips, n_strips;
  double *panel, *update;
} Work;

static Work work_on(const FloBlockFactor *factor, const FloFront *front) {
  size_t k = flo_front_pivot_strips(front);
  return (Work){factor,
                flo_tile_kernels(),
                front,
                k,
                k + flo_front_below_strips(front),
                factor->numbers + front->panel,
                factor->stack + front->update};
}

static double *panel_tile(const Work *work, size_t i, size_t j) {
  return work->panel + flo_panel_strip(work->n_pivot_strips, i) + j * FLO_TILE_NUMBERS;
}

// The first number of a strip, as if its tiles began with the first column of the front.
static double *tile(const Work *work, size_t i, size_t j) {
  size_t k = work->n_pivot_strips;
  if (j < k) return panel_tile(work, i, j);
  return work->update + flo_triangle_strip(i - k) + (j - k) * FLO_TILE_NUMBERS;
}

// ---- Assembly ----

// Slots without a pivot get a one on the diagonal, which changes nothing else.
static void clear_front(const Work *work) {
  size_t k = work->n_pivot_strips;
  memset(work->panel, 0, flo_panel_strip(k, work->n_strips) * sizeof(double));
  memset(work->update, 0, flo_triangle_strip(work->n_strips - k) * sizeof(double));
  for (size_t i = 3 * (size_t)work->front->n_pivots; i < k * FLO_TILE_SIDE; ++i)
    panel_tile(work, k - 1, k - 1)[i % FLO_TILE_SIDE * (FLO_TILE_SIDE + 1)] = 1;
}

static void add_matrix(const Work *work, const FloBlockMatrix *matrix) {
  const FloBlockEntry *entries = work->factor->tree.entries;
  for (size_t e = work->front[0].entry; e < work->front[1].entry; ++e) {
    const double *from = matrix->blocks + 9 * (size_t)entries[e].block;
    double *to = work->panel + entries[e].number;
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) to[c * FLO_TILE_SIDE + r] += from[3 * c + r];
  }
}

static void add_block(const double *from, double *to) {
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r) to[c * FLO_TILE_SIDE + r] += from[c * FLO_TILE_SIDE + r];
}

// One block row of the child's update.
static void add_row(const Work *work, const FloFront *child, const uint32_t *slots, uint32_t row) {
  size_t k = work->n_pivot_strips, n_in_panel = k * FLO_TILE_SLOTS, strip = slots[row] / FLO_TILE_SLOTS;
  const double *from = work->factor->stack + child->update + flo_triangle_strip(row / FLO_TILE_SLOTS);
  double *panel = work->panel + flo_panel_strip(k, strip);
  uint32_t column = 0;
  for (; column <= row && slots[column] < n_in_panel; ++column)
    add_block(from + flo_strip_block(row, column), panel + flo_strip_block(slots[row], slots[column]));
  if (column > row) return;
  double *update = work->update + flo_triangle_strip(strip - k);
  for (; column <= row; ++column)
    add_block(from + flo_strip_block(row, column),
              update + flo_strip_block(slots[row], slots[column] - n_in_panel));
}

static void add_child(const Work *work, const FloFront *child) {
  const uint32_t *slots = work->factor->tree.slots + child->below;
  for (uint32_t row = 0; row < child->n_below; ++row) add_row(work, child, slots, row);
}

static void assemble(const Work *work, const FloBlockMatrix *matrix) {
  const FloFront *fronts = work->factor->tree.fronts;
  clear_front(work);
  add_matrix(work, matrix);
  for (uint32_t c = work->front->child; c != FLO_NO_FRONT; c = fronts[c].sibling) add_child(work, &fronts[c]);
}

// ---- Elimination ----

// Tile column j, with the columns of its group before it.
static bool eliminate_column(const Work *work, size_t first, size_t j) {
  double *diagonal = panel_tile(work, j, j);
  for (size_t i = j; i < work->n_strips; ++i)
    work->kernels->subtract_product(panel_tile(work, i, first), panel_tile(work, j, first),
                                    (j - first) * FLO_TILE_SIDE, panel_tile(work, i, j));
  if (!flo_tile_invert_factor(diagonal)) return false;
  for (size_t i = j + 1; i < work->n_strips; ++i)
    work->kernels->apply_inverse(diagonal, panel_tile(work, i, j));
  return true;
}

// What the group of tile columns from `first` to `end` changes in strip i behind it.
static void change_strip(const Work *work, size_t first, size_t end, size_t i) {
  size_t n = flo_min_size(end * FLO_TILE_SIDE, 3 * (size_t)work->front->n_pivots) - first * FLO_TILE_SIDE;
  for (size_t j = end; j <= i; ++j)
    work->kernels->subtract_product(panel_tile(work, i, first), panel_tile(work, j, first), n,
                                    tile(work, i, j));
}

static bool eliminate(const Work *work) {
  for (size_t first = 0, end; first < work->n_pivot_strips; first = end) {
    end = flo_min_size(first + GROUP, work->n_pivot_strips);
    for (size_t j = first; j < end; ++j)
      if (!eliminate_column(work, first, j)) return false;
    for (size_t i = end; i < work->n_strips; ++i) change_strip(work, first, end, i);
  }
  return true;
}

static bool factorise_front(const FloBlockFactor *factor, const FloBlockMatrix *matrix, size_t f) {
  Work work = work_on(factor, &factor->tree.fronts[f]);
  assemble(&work, matrix);
  return eliminate(&work);
}

// ---- The tree ----

typedef struct Run {
  const FloBlockFactor *factor;
  const FloBlockMatrix *matrix;
  atomic_bool has_failed;
} Run;

static void work_on_tasks(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Run *run = context;
  const FloBlockTree *tree = &run->factor->tree;
  for (size_t t = begin; t < end; ++t)
    for (size_t f = tree->fronts[tree->tasks[t]].first_descendant; f <= tree->tasks[t]; ++f) {
      if (factorise_front(run->factor, run->matrix, f)) continue;
      atomic_store(&run->has_failed, true);
      return;
    }
}

bool flo_block_factorise(FloBlockFactor *factor, const FloBlockMatrix *matrix, int threads) {
  const FloBlockTree *tree = &factor->tree;
  Run run = {.factor = factor, .matrix = matrix};
  FLO_ASSERT(matrix->n == tree->n);
  flo_parallel_for(threads, tree->n_tasks, 1, work_on_tasks, &run);
  if (atomic_load(&run.has_failed)) return false;
  for (size_t f = 0; f < tree->n_fronts; ++f)
    if (!tree->fronts[f].is_in_task && !factorise_front(factor, matrix, f)) return false;
  return true;
}

// ---- Memory ----

static FloStatus reserve(FloBlockFactor *factor, FloMemory *memory, FloError *error) {
  const FloBlockTree *tree = &factor->tree;
  size_t n_room = 3 * tree->n + (tree->most_below + 3) * 3 + (tree->most_pivots + 3) * 15;
  FloBuffer *buffers = factor->buffers;
  FLO_TRY(flo_buffer_reserve(memory, &buffers[0], (tree->n_numbers + 1) * sizeof(double), 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &buffers[1], (tree->n_stack + 1) * sizeof(double), 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &buffers[2], n_room * sizeof(double), 0, error));
  factor->numbers = buffers[0].data, factor->stack = buffers[1].data, factor->permuted = buffers[2].data;
  factor->below = factor->permuted + 3 * tree->n;
  factor->pivots = factor->below + (tree->most_below + 3) * 3;
  factor->sums = factor->pivots + (tree->most_pivots + 3) * 3;
  return FLO_OK;
}

FloStatus flo_block_factor_create(const FloBlockMatrix *matrix, FloMemory *memory, FloBlockFactor **factor,
                                  FloError *error) {
  *factor = flo_memory_allocate(memory, sizeof **factor);
  if (!*factor)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes more were needed", sizeof **factor);
  **factor = (FloBlockFactor){0};
  FloStatus status = flo_block_tree_build(&(*factor)->tree, matrix, memory, error);
  if (status == FLO_OK) status = reserve(*factor, memory, error);
  if (status != FLO_OK) {
    flo_block_factor_destroy(*factor, memory);
    *factor = NULL;
  }
  return status;
}

void flo_block_factor_destroy(FloBlockFactor *factor, FloMemory *memory) {
  if (!factor) return;
  flo_block_tree_free(&factor->tree);
  for (size_t k = 0; k < FLO_COUNT_OF(factor->buffers); ++k) flo_buffer_free(memory, &factor->buffers[k]);
  flo_memory_release(memory, factor, sizeof *factor);
}
