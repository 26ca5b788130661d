// Solves with the factors: forward from the leaves to the roots, then backward. Each front has a vector with
// the unknowns of its slots. Forward, it collects what its children subtract from them. Backward, it takes
// the unknowns below from its parent. So tasks (block_plan.c) share nothing that changes, and all sums have a
// fixed order.
#include "base/parallel.h"
#include "solve/block_factors.h"
#include "solve/block_kernels.h"

#include <string.h>

// FEW: reading as many numbers takes about as long as it takes to start threads.
enum { SIDE = FLO_TILE_SIDE, FEW = 1 << 16 };

typedef struct Solve {
  const FloBlockFactor *factor;
  const FloTileKernels *kernels;
  bool is_single, is_forward;
  int threads;
  double *x;
} Solve;

// A front and where its unknowns are.
typedef struct Part {
  const Solve *solve;
  const FloFront *front;
  size_t n_pivot_strips, n_below_strips, n_columns;
  double *pivots, *below, *sums;
} Part;

// ---- Products ----

// sum += strip x; the strip begins with number `at` of the panel.
static void add_forward(const Part *part, size_t at, size_t n, const double *x, double *sum) {
  const Solve *s = part->solve;
  at += part->front->panel;
  if (s->is_single)
    s->kernels->add_forward_single(s->factor->singles + at, n, x, sum);
  else
    s->kernels->add_forward(s->factor->numbers + at, n, x, sum);
}

static void add_backward(const Part *part, size_t at, size_t n, const double *y, double *sums) {
  const Solve *s = part->solve;
  at += part->front->panel;
  if (s->is_single)
    s->kernels->add_backward_single(s->factor->singles + at, n, y, sums);
  else
    s->kernels->add_backward(s->factor->numbers + at, n, y, sums);
}

static double total(const double sums[4]) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }

// ---- Forward ----

// The right-hand side, less what the children subtract.
static void collect(const Part *part) {
  const FloBlockTree *tree = &part->solve->factor->tree;
  const FloFront *front = part->front;
  memset(part->pivots, 0, (part->n_pivot_strips + part->n_below_strips) * SIDE * sizeof(double));
  for (size_t i = 0; i < front->n_pivots; ++i)
    memcpy(part->pivots + 3 * i, part->solve->x + 3 * (size_t)tree->order[front->first + i],
           3 * sizeof(double));
  for (uint32_t c = front->child; c != FLO_NO_FRONT; c = tree->fronts[c].sibling) {
    const FloFront *child = &tree->fronts[c];
    const double *from = part->solve->factor->vectors + child->vector + flo_front_pivot_strips(child) * SIDE;
    const uint32_t *slots = tree->slots + child->below;
    for (size_t i = 0; i < child->n_below; ++i)
      for (size_t axis = 0; axis < 3; ++axis) part->pivots[3 * (size_t)slots[i] + axis] += from[3 * i + axis];
  }
}

static void solve_pivots_forward(const Part *part) {
  for (size_t j = 0; j < part->n_pivot_strips; ++j) {
    double sum[SIDE] = {0}, *x = part->pivots + j * SIDE;
    add_forward(part, flo_triangle_strip(j), j * SIDE, part->pivots, sum);
    for (int i = 0; i < SIDE; ++i) sum[i] = x[i] - sum[i], x[i] = 0;
    add_forward(part, flo_triangle_strip(j) + j * FLO_TILE_NUMBERS, SIDE, sum, x);
  }
}

// The strips below.
static void subtract_below(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Part *part = context;
  for (size_t i = begin; i < end; ++i) {
    double sum[SIDE] = {0}, *x = part->below + i * SIDE;
    add_forward(part, flo_panel_strip(part->n_pivot_strips, part->n_pivot_strips + i), part->n_columns,
                part->pivots, sum);
    for (int k = 0; k < SIDE; ++k) x[k] -= sum[k];
  }
}

static void go_forward(Part *part, int threads) {
  collect(part);
  solve_pivots_forward(part);
  flo_parallel_for(threads, part->n_below_strips, 8, subtract_below, part);
}

// ---- Backward ----

// Empty slots are zero: they are so since the way forward.
static void take_from_parent(const Part *part) {
  const FloBlockTree *tree = &part->solve->factor->tree;
  const uint32_t *slots = tree->slots + part->front->below;
  if (part->front->parent == FLO_NO_FRONT) return;
  const double *from = part->solve->factor->vectors + tree->fronts[part->front->parent].vector;
  for (size_t i = 0; i < part->front->n_below; ++i)
    memcpy(part->below + 3 * i, from + 3 * (size_t)slots[i], 3 * sizeof(double));
}

// Tile columns begin .. end of the strips below.
static void sum_below(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Part *part = context;
  size_t k = part->n_pivot_strips, n = flo_min_size(end * SIDE, part->n_columns) - begin * SIDE;
  double *sums = part->sums + 4 * begin * SIDE;
  memset(sums, 0, 4 * (end - begin) * SIDE * sizeof(double));
  for (size_t i = 0; i < part->n_below_strips; ++i)
    add_backward(part, flo_panel_strip(k, k + i) + begin * FLO_TILE_NUMBERS, n, part->below + i * SIDE, sums);
}

static void solve_pivots_backward(const Part *part) {
  for (size_t j = part->n_pivot_strips; j-- > 0;) {
    double *x = part->pivots + j * SIDE, *sums = part->sums + 4 * j * SIDE, products[4 * SIDE] = {0};
    for (size_t i = 0; i < SIDE; ++i) x[i] -= total(sums + 4 * i);
    add_backward(part, flo_triangle_strip(j) + j * FLO_TILE_NUMBERS, SIDE, x, products);
    for (size_t i = 0; i < SIDE; ++i) x[i] = total(products + 4 * i);
    add_backward(part, flo_triangle_strip(j), j * SIDE, x, part->sums);
  }
}

static void go_backward(Part *part, int threads) {
  const FloBlockTree *tree = &part->solve->factor->tree;
  take_from_parent(part);
  flo_parallel_for(threads, part->n_pivot_strips, threads == 1 ? part->n_pivot_strips : 4, sum_below, part);
  solve_pivots_backward(part);
  for (size_t i = 0; i < part->front->n_pivots; ++i)
    memcpy(part->solve->x + 3 * (size_t)tree->order[part->front->first + i], part->pivots + 3 * i,
           3 * sizeof(double));
}

// ---- The tree ----

static void visit(const Solve *solve, const FloFront *front, int threads) {
  size_t k = flo_front_pivot_strips(front), m = flo_front_below_strips(front);
  double *pivots = solve->factor->vectors + front->vector;
  Part part = {solve,
               front,
               k,
               m,
               3 * (size_t)front->n_pivots,
               pivots,
               pivots + k * SIDE,
               solve->factor->sums + front->sums};
  if (k * m * FLO_TILE_NUMBERS < FEW) threads = 1;
  if (solve->is_forward)
    go_forward(&part, threads);
  else
    go_backward(&part, threads);
}

static void visit_tasks(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  const FloBlockTree *tree = &solve->factor->tree;
  for (size_t t = begin; t < end; ++t) {
    size_t last = tree->tasks[t], first = tree->fronts[last].first_descendant;
    for (size_t k = 0; k <= last - first; ++k)
      visit(solve, &tree->fronts[solve->is_forward ? first + k : last - k], 1);
  }
}

static void visit_others(const Solve *solve) {
  const FloBlockTree *tree = &solve->factor->tree;
  for (size_t k = 0; k < tree->n_fronts; ++k) {
    const FloFront *front = &tree->fronts[solve->is_forward ? k : tree->n_fronts - 1 - k];
    if (!front->is_in_task) visit(solve, front, solve->threads);
  }
}

static void solve_with(const FloBlockFactor *factor, bool is_single, double *x) {
  const FloBlockTree *tree = &factor->tree;
  Solve solve = {factor, flo_tile_kernels(), is_single, true, tree->n_numbers < FEW ? 1 : factor->threads, x};
  flo_parallel_for(solve.threads, tree->n_tasks, 1, visit_tasks, &solve);
  visit_others(&solve);
  solve.is_forward = false;
  visit_others(&solve);
  flo_parallel_for(solve.threads, tree->n_tasks, 1, visit_tasks, &solve);
}

void flo_block_solve(const FloBlockFactor *factor, double *x) { solve_with(factor, false, x); }

void flo_block_solve_single(const FloBlockFactor *factor, double *x) {
  FLO_ASSERT(factor->singles);
  solve_with(factor, true, x);
}
