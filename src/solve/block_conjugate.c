// Conjugate gradients (conjugate_gradients.h) for a sparse block matrix, with factors as preconditioner.
#include "base/parallel.h"
#include "solve/block_factors.h"
#include "solve/conjugate_gradients.h"

#include <string.h>

typedef struct Iteration {
  const FloBlockMatrix *matrix;
  const FloBlockFactor *factor;
  double *x, *residual, *direction, *image, *improved; // improved: P r
  int threads;
} Iteration;

typedef struct Pair {
  const double *a, *b;
} Pair;

static void add_products(const void *context, size_t begin, size_t end, double *partial) {
  const Pair *pair = context;
  for (size_t i = begin; i < end; ++i) *partial += pair->a[i] * pair->b[i];
}

static double dot(const Iteration *it, const double *a, const double *b) {
  double sum;
  flo_parallel_sum(it->threads, 3 * it->matrix->n, add_products, &(Pair){a, b}, 1, &sum);
  return sum;
}

static double measure(void *context) {
  const Iteration *it = context;
  memcpy(it->improved, it->residual, 3 * it->matrix->n * sizeof(double));
  if (it->factor->singles)
    flo_block_solve_single(it->factor, it->improved);
  else
    flo_block_solve(it->factor, it->improved);
  return dot(it, it->residual, it->improved);
}

static void turn(void *context, double beta) {
  const Iteration *it = context;
  for (size_t i = 0; i < 3 * it->matrix->n; ++i) it->direction[i] = it->improved[i] + beta * it->direction[i];
}

static double apply(void *context) {
  const Iteration *it = context;
  flo_block_matrix_apply(it->matrix, it->direction, it->image, it->threads);
  return dot(it, it->direction, it->image);
}

static void go(void *context, double alpha) {
  const Iteration *it = context;
  for (size_t i = 0; i < 3 * it->matrix->n; ++i) {
    it->x[i] += alpha * it->direction[i];
    it->residual[i] -= alpha * it->image[i];
  }
}

// The square of the norm of b, that of the residual of x = 0.
static double measure_b(const Iteration *it, const double *b) {
  memcpy(it->residual, b, 3 * it->matrix->n * sizeof(double));
  return measure((void *)it);
}

int flo_block_conjugate(const FloBlockMatrix *matrix, const FloBlockFactor *factor, const double *b,
                        double *x, double *room, double tolerance, int max_iterations, int threads) {
  const size_t n = 3 * matrix->n;
  if (n == 0) return 0;
  Iteration it = {matrix, factor, x, room, room + n, room + 2 * n, room + 3 * n, threads};
  double least = tolerance * tolerance * measure_b(&it, b);
  flo_block_matrix_apply(matrix, x, it.residual, threads);
  for (size_t i = 0; i < n; ++i) it.residual[i] = b[i] - it.residual[i], it.direction[i] = 0;
  FloLinearSystem system = {&it, measure, turn, apply, go};
  return flo_conjugate_gradients(&system, &(FloGradientLimits){0, least, max_iterations}).iterations;
}
