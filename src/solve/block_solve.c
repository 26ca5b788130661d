// Solves with the factors: forward from the leaves to the roots, then backward.
#include "solve/block_factor.h"
#include "solve/block_factors.h"
#include "solve/block_kernels.h"

#include <string.h>

enum { SIDE = FLO_TILE_SIDE };

// x = inverse x, or with the transpose of the inverse.
static void apply_inverse(const double *inverse, double *x) {
  double product[SIDE] = {0};
  for (int p = 0; p < SIDE; ++p)
    for (int i = p; i < SIDE; ++i) product[i] += inverse[p * SIDE + i] * x[p];
  memcpy(x, product, sizeof product);
}

static void apply_transposed_inverse(const double *inverse, double *x) {
  for (int p = 0; p < SIDE; ++p) {
    double sum = 0;
    for (int i = p; i < SIDE; ++i) sum += inverse[p * SIDE + i] * x[i];
    x[p] = sum;
  }
}

// Fills a list of strips with the unknowns of a front's pivots; empty slots are zero.
static void load_pivots(const FloBlockFactor *factor, const FloFront *front) {
  size_t n = 3 * (size_t)front->n_pivots, n_all = flo_front_pivot_strips(front) * SIDE;
  memcpy(factor->pivots, factor->permuted + 3 * (size_t)front->first, n * sizeof(double));
  memset(factor->pivots + n, 0, (n_all - n) * sizeof(double));
}

static void store_pivots(const FloBlockFactor *factor, const FloFront *front) {
  memcpy(factor->permuted + 3 * (size_t)front->first, factor->pivots,
         3 * (size_t)front->n_pivots * sizeof(double));
}

static void go_forward(const FloBlockFactor *factor, const FloFront *front, const FloTileKernels *kernels) {
  const uint32_t *below = factor->tree.below + front->below;
  size_t k = flo_front_pivot_strips(front), n = 3 * (size_t)front->n_pivots;
  const double *strip = factor->numbers + front->panel;
  load_pivots(factor, front);
  for (size_t j = 0; j < k; strip += ++j * FLO_TILE_NUMBERS) {
    double sum[SIDE] = {0}, *x = factor->pivots + j * SIDE;
    kernels->add_forward(strip, j * SIDE, factor->pivots, sum);
    for (int i = 0; i < SIDE; ++i) x[i] -= sum[i];
    apply_inverse(strip + j * FLO_TILE_NUMBERS, x);
  }
  for (uint32_t first = 0; first < front->n_below; first += FLO_TILE_SLOTS, strip += k * FLO_TILE_NUMBERS) {
    double sum[SIDE] = {0};
    kernels->add_forward(strip, n, factor->pivots, sum);
    for (uint32_t i = first; i < first + FLO_TILE_SLOTS && i < front->n_below; ++i)
      for (size_t axis = 0; axis < 3; ++axis)
        factor->permuted[3 * (size_t)below[i] + axis] -= sum[3 * (i - first) + axis];
  }
  store_pivots(factor, front);
}

// The unknowns below the front, strip by strip.
static void gather_below(const FloBlockFactor *factor, const FloFront *front) {
  const uint32_t *below = factor->tree.below + front->below;
  size_t n_all = flo_front_below_strips(front) * FLO_TILE_SLOTS;
  for (size_t i = 0; i < front->n_below; ++i)
    memcpy(factor->below + 3 * i, factor->permuted + 3 * (size_t)below[i], 3 * sizeof(double));
  memset(factor->below + 3 * (size_t)front->n_below, 0, 3 * (n_all - front->n_below) * sizeof(double));
}

static void go_backward(const FloBlockFactor *factor, const FloFront *front, const FloTileKernels *kernels) {
  size_t k = flo_front_pivot_strips(front), m = flo_front_below_strips(front);
  const double *panel = factor->numbers + front->panel;
  double *sums = factor->sums;
  load_pivots(factor, front);
  gather_below(factor, front);
  memset(sums, 0, 4 * k * SIDE * sizeof(double));
  for (size_t i = 0; i < m; ++i)
    kernels->add_backward(panel + flo_panel_strip(k, k + i), 3 * (size_t)front->n_pivots,
                          factor->below + i * SIDE, sums);
  for (size_t j = k; j-- > 0;) {
    const double *strip = panel + flo_triangle_strip(j);
    double *x = factor->pivots + j * SIDE, *sum = sums + 4 * j * SIDE;
    for (size_t i = 0; i < SIDE; ++i) x[i] -= sum[4 * i] + sum[4 * i + 1] + sum[4 * i + 2] + sum[4 * i + 3];
    apply_transposed_inverse(strip + j * FLO_TILE_NUMBERS, x);
    kernels->add_backward(strip, j * SIDE, x, sums);
  }
  store_pivots(factor, front);
}

void flo_block_solve(const FloBlockFactor *factor, double *x) {
  const FloBlockTree *tree = &factor->tree;
  const FloTileKernels *kernels = flo_tile_kernels();
  for (size_t i = 0; i < tree->n; ++i)
    memcpy(factor->permuted + 3 * i, x + 3 * (size_t)tree->order[i], 3 * sizeof(double));
  for (size_t f = 0; f < tree->n_fronts; ++f) go_forward(factor, &tree->fronts[f], kernels);
  for (size_t f = tree->n_fronts; f-- > 0;) go_backward(factor, &tree->fronts[f], kernels);
  for (size_t i = 0; i < tree->n; ++i)
    memcpy(x + 3 * (size_t)tree->order[i], factor->permuted + 3 * i, 3 * sizeof(double));
}
