// The numbers of a front. It is assembled from blocks of the matrix and from the updates of its children.
// Then its pivots are eliminated, a group of tile columns at a time, so that the strips of a group stay in
// the caches while all other tiles are changed. The tiles on the diagonal keep the inverses of their factors:
// solves then need products only.
//
// Threads share the strips of a large front. A tile is always changed by the same products in the same order.
#include "base/parallel.h"
#include "solve/block_factors.h"
#include "solve/block_kernels.h"

#include <string.h>

// FEW: as many products of tiles take about as long as it takes to start threads.
enum { GROUP = 8, FEW = 512 };

// A front and where its numbers are.
typedef struct Work {
  const FloBlockFactor *factor;
  const FloBlockMatrix *matrix;
  const FloTileKernels *kernels;
  const FloFront *front, *child; // the child that is being added
  size_t n_pivot_strips, n_strips;
  double *panel, *update;
  size_t first, end; // the group of tile columns that is being eliminated
  int threads;
} Work;

// The threads that are worth starting.
static int threads_for(const Work *work, size_t n_products) { return n_products < FEW ? 1 : work->threads; }

static double *panel_tile(const Work *work, size_t i, size_t j) {
  return work->panel + flo_panel_strip(work->n_pivot_strips, i) + j * FLO_TILE_NUMBERS;
}

static double *tile(const Work *work, size_t i, size_t j) {
  size_t k = work->n_pivot_strips;
  if (j < k) return panel_tile(work, i, j);
  return work->update + flo_triangle_strip(i - k) + (j - k) * FLO_TILE_NUMBERS;
}

// ---- Assembly ----

static void clear_strips(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  size_t k = work->n_pivot_strips;
  for (size_t i = begin; i < end; ++i) {
    size_t n_tiles = flo_min_size(i + 1, k);
    memset(panel_tile(work, i, 0), 0, n_tiles * FLO_TILE_NUMBERS * sizeof(double));
    if (i >= k) memset(tile(work, i, k), 0, (i + 1 - k) * FLO_TILE_NUMBERS * sizeof(double));
  }
}

// Slots without a pivot get a one on the diagonal, which changes nothing else.
static void fill_empty_slots(const Work *work) {
  size_t k = work->n_pivot_strips;
  for (size_t i = 3 * (size_t)work->front->n_pivots; i < k * FLO_TILE_SIDE; ++i)
    panel_tile(work, k - 1, k - 1)[i % FLO_TILE_SIDE * (FLO_TILE_SIDE + 1)] = 1;
}

static void add_block(const double *from, size_t column_stride, double *to) {
  for (size_t c = 0; c < 3; ++c)
    for (size_t r = 0; r < 3; ++r) to[c * FLO_TILE_SIDE + r] += from[c * column_stride + r];
}

// The blocks of the matrix are symmetric to the ones that are wanted: their rows are columns here.
static void add_matrix(const Work *work) {
  const FloBlockEntry *entries = work->factor->tree.entries;
  for (size_t e = work->front[0].entry; e < work->front[1].entry; ++e)
    add_block(work->matrix->blocks + 9 * (size_t)entries[e].block, 3, work->panel + entries[e].number);
}

// One block row of the child's update. It has a block row of the front for itself.
static void add_row(const Work *work, const uint32_t *slots, uint32_t row) {
  size_t k = work->n_pivot_strips, n_in_panel = k * FLO_TILE_SLOTS, strip = slots[row] / FLO_TILE_SLOTS;
  const double *from = work->factor->stack + work->child->update + flo_triangle_strip(row / FLO_TILE_SLOTS);
  double *panel = work->panel + flo_panel_strip(k, strip);
  uint32_t column = 0;
  for (; column <= row && slots[column] < n_in_panel; ++column)
    add_block(from + flo_strip_block(row, column), FLO_TILE_SIDE,
              panel + flo_strip_block(slots[row], slots[column]));
  if (column > row) return;
  double *update = work->update + flo_triangle_strip(strip - k);
  for (; column <= row; ++column)
    add_block(from + flo_strip_block(row, column), FLO_TILE_SIDE,
              update + flo_strip_block(slots[row], slots[column] - n_in_panel));
}

static void add_rows(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const uint32_t *slots = work->factor->tree.slots + work->child->below;
  for (size_t row = begin; row < end; ++row) add_row(work, slots, (uint32_t)row);
}

static void assemble(Work *work) {
  const FloFront *fronts = work->factor->tree.fronts;
  int threads = threads_for(work, work->n_strips * work->n_strips / 2);
  flo_parallel_for(threads, work->n_strips, 4, clear_strips, work);
  fill_empty_slots(work);
  add_matrix(work);
  for (uint32_t c = work->front->child; c != FLO_NO_FRONT; c = fronts[c].sibling) {
    work->child = &fronts[c];
    flo_parallel_for(threads, fronts[c].n_below, 16, add_rows, work);
  }
}

// ---- Elimination ----

// What the columns of the group before the last one, j, change in column j.
static void change_column(const Work *work, size_t j, size_t i) {
  work->kernels->subtract_product(panel_tile(work, i, work->first), panel_tile(work, j, work->first),
                                  (j - work->first) * FLO_TILE_SIDE, panel_tile(work, i, j));
}

// The tiles of the last column of the group that are below the diagonal, counted from there.
static void eliminate_tiles(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  size_t j = work->end - 1;
  for (size_t i = j + 1 + begin; i < j + 1 + end; ++i) {
    change_column(work, j, i);
    work->kernels->apply_inverse(panel_tile(work, j, j), panel_tile(work, i, j));
  }
}

static bool eliminate_column(Work *work, size_t j) {
  size_t n = work->n_strips - j - 1;
  work->end = j + 1;
  change_column(work, j, j);
  if (!flo_tile_invert_factor(panel_tile(work, j, j))) return false;
  flo_parallel_for(threads_for(work, n * (work->end - work->first)), n, 8, eliminate_tiles, work);
  return true;
}

// What the group changes in the strips behind it, counted from the last: the longest come first, so that all
// threads end at about the same time.
static void change_strips(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const size_t n_columns = flo_min_size(work->end * FLO_TILE_SIDE, 3 * (size_t)work->front->n_pivots) -
                           work->first * FLO_TILE_SIDE;
  for (size_t k = begin; k < end; ++k) {
    size_t i = work->n_strips - 1 - k;
    for (size_t j = work->end; j <= i; ++j)
      work->kernels->subtract_product(panel_tile(work, i, work->first), panel_tile(work, j, work->first),
                                      n_columns, tile(work, i, j));
  }
}

static bool eliminate(Work *work) {
  for (work->first = 0; work->first < work->n_pivot_strips; work->first = work->end) {
    size_t end = flo_min_size(work->first + GROUP, work->n_pivot_strips), n = work->n_strips - end;
    for (size_t j = work->first; j < end; ++j)
      if (!eliminate_column(work, j)) return false;
    flo_parallel_for(threads_for(work, n * n / 2 * (end - work->first)), n, 1, change_strips, work);
  }
  return true;
}

// A copy in single precision of the strips of the panel.
static void copy_strips(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  size_t k = work->n_pivot_strips;
  const size_t first = flo_panel_strip(k, begin), last = flo_panel_strip(k, end);
  float *singles = work->factor->singles + work->front->panel;
  for (size_t i = first; i < last; ++i) singles[i] = (float)work->panel[i];
}

bool flo_front_factorise(const FloBlockFactor *factor, const FloBlockMatrix *matrix, const FloFront *front,
                         int threads) {
  size_t k = flo_front_pivot_strips(front);
  Work work = {.factor = factor,
               .matrix = matrix,
               .kernels = flo_tile_kernels(),
               .front = front,
               .n_pivot_strips = k,
               .n_strips = k + flo_front_below_strips(front),
               .panel = factor->numbers + front->panel,
               .update = factor->stack + front->update,
               .threads = threads};
  assemble(&work);
  if (!eliminate(&work)) return false;
  if (factor->singles)
    flo_parallel_for(threads_for(&work, work.n_strips * k), work.n_strips, 8, copy_strips, &work);
  return true;
}
