#include "solve/block_matrix.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { FOR_BEGIN, FOR_COLUMNS, FOR_BLOCKS, GRAIN = 512 };

void flo_block_matrix_init(FloBlockMatrix *matrix, FloMemory *memory) {
  *matrix = (FloBlockMatrix){.memory = memory};
}

void flo_block_matrix_free(FloBlockMatrix *matrix) {
  for (size_t k = 0; k < FLO_COUNT_OF(matrix->buffers); ++k)
    flo_buffer_free(matrix->memory, &matrix->buffers[k]);
  *matrix = (FloBlockMatrix){.memory = matrix->memory};
}

// ---- The pattern ----

// begin[i] becomes the end of row i when every row is full: one column for the diagonal, two for each pair.
static void count_columns(FloBlockMatrix *matrix, const uint32_t *pairs, size_t n_pairs) {
  for (size_t i = 0; i < matrix->n; ++i) matrix->begin[i] = 1;
  matrix->begin[matrix->n] = 0;
  for (size_t k = 0; k < 2 * n_pairs; ++k) {
    FLO_ASSERT(pairs[k] < matrix->n);
    matrix->begin[pairs[k]]++;
  }
  size_t sum = 0;
  for (size_t i = 0; i <= matrix->n; ++i) matrix->begin[i] = sum += matrix->begin[i];
}

// Fills the rows from their ends; begin[i] is then the beginning of row i.
static void fill_columns(FloBlockMatrix *matrix, const uint32_t *pairs, size_t n_pairs) {
  for (size_t i = 0; i < matrix->n; ++i) matrix->columns[--matrix->begin[i]] = (uint32_t)i;
  for (size_t k = 0; k < 2 * n_pairs; ++k) matrix->columns[--matrix->begin[pairs[k]]] = pairs[k ^ 1];
}

static int compare_columns(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// Sorts each row and keeps one of equal columns.
static void tidy_columns(FloBlockMatrix *matrix) {
  size_t n_kept = 0;
  for (size_t i = 0; i < matrix->n; ++i) {
    size_t begin = matrix->begin[i], end = matrix->begin[i + 1];
    qsort(matrix->columns + begin, end - begin, sizeof *matrix->columns, compare_columns);
    matrix->begin[i] = n_kept;
    for (size_t k = begin; k < end; ++k)
      if (n_kept == matrix->begin[i] || matrix->columns[n_kept - 1] != matrix->columns[k])
        matrix->columns[n_kept++] = matrix->columns[k];
  }
  matrix->begin[matrix->n] = n_kept;
}

FloStatus flo_block_matrix_build(FloBlockMatrix *matrix, size_t n, const uint32_t *pairs, size_t n_pairs,
                                 FloError *error) {
  FLO_ASSERT(n < UINT32_MAX);
  FloBuffer *buffers = matrix->buffers;
  FLO_TRY(flo_buffer_reserve(matrix->memory, &buffers[FOR_BEGIN], (n + 1) * sizeof(size_t), 0, error));
  FLO_TRY(flo_buffer_reserve(matrix->memory, &buffers[FOR_COLUMNS], (n + 2 * n_pairs + 1) * sizeof(uint32_t),
                             0, error));
  matrix->n = n, matrix->begin = buffers[FOR_BEGIN].data, matrix->columns = buffers[FOR_COLUMNS].data;
  count_columns(matrix, pairs, n_pairs);
  fill_columns(matrix, pairs, n_pairs);
  tidy_columns(matrix);
  FLO_TRY(flo_buffer_reserve(matrix->memory, &buffers[FOR_BLOCKS],
                             (matrix->begin[n] * 9 + 1) * sizeof(double), 0, error));
  matrix->blocks = buffers[FOR_BLOCKS].data;
  flo_block_matrix_clear(matrix);
  return FLO_OK;
}

// ---- Numbers ----

void flo_block_matrix_clear(FloBlockMatrix *matrix) {
  if (matrix->n) memset(matrix->blocks, 0, matrix->begin[matrix->n] * 9 * sizeof(double));
}

double *flo_block_matrix_at(const FloBlockMatrix *matrix, size_t i, size_t j) {
  FLO_ASSERT(i < matrix->n);
  size_t low = matrix->begin[i], high = matrix->begin[i + 1];
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if (matrix->columns[middle] <= j)
      low = middle;
    else
      high = middle;
  }
  FLO_ASSERT(matrix->columns[low] == j);
  return matrix->blocks + 9 * low;
}

typedef struct Product {
  const FloBlockMatrix *matrix;
  const double *x;
  double *y;
} Product;

static void multiply_rows(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Product *product = context;
  const FloBlockMatrix *matrix = product->matrix;
  for (size_t i = begin; i < end; ++i) {
    double sum[3] = {0};
    for (size_t k = matrix->begin[i]; k < matrix->begin[i + 1]; ++k) {
      const double *a = matrix->blocks + 9 * k, *x = product->x + 3 * (size_t)matrix->columns[k];
      for (int row = 0; row < 3; ++row)
        sum[row] += a[3 * row] * x[0] + a[3 * row + 1] * x[1] + a[3 * row + 2] * x[2];
    }
    memcpy(product->y + 3 * i, sum, sizeof sum);
  }
}

void flo_block_matrix_apply(const FloBlockMatrix *matrix, const double *x, double *y, int threads) {
  flo_parallel_for(threads, matrix->n, GRAIN, multiply_rows, &(Product){matrix, x, y});
}
