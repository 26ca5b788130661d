#include "solve/block_factor.h"

#include "base/parallel.h"
#include "solve/block_factors.h"

#include <stdatomic.h>

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
      if (flo_front_factorise(run->factor, run->matrix, &tree->fronts[f], 1)) continue;
      atomic_store(&run->has_failed, true);
      return;
    }
}

bool flo_block_factorise(FloBlockFactor *factor, const FloBlockMatrix *matrix, int threads) {
  const FloBlockTree *tree = &factor->tree;
  Run run = {.factor = factor, .matrix = matrix};
  FLO_ASSERT(matrix->n == tree->n);
  factor->threads = threads;
  flo_parallel_for(threads, tree->n_tasks, 1, work_on_tasks, &run);
  if (atomic_load(&run.has_failed)) return false;
  for (size_t f = 0; f < tree->n_fronts; ++f)
    if (!tree->fronts[f].is_in_task && !flo_front_factorise(factor, matrix, &tree->fronts[f], threads))
      return false;
  return true;
}

// ---- Memory ----

enum { FOR_NUMBERS, FOR_STACK, FOR_VECTORS, FOR_SUMS, FOR_SINGLES };

// Room for n numbers, and an address if there are none.
static FloStatus reserve(FloBlockFactor *factor, int which, size_t n, double **numbers, FloError *error) {
  FloBuffer *buffer = &factor->buffers[which];
  FLO_TRY(flo_buffer_reserve(factor->tree.memory, buffer, (n + 1) * sizeof(double), 0, error));
  *numbers = buffer->data;
  return FLO_OK;
}

static FloStatus reserve_all(FloBlockFactor *factor, FloError *error) {
  const FloBlockTree *tree = &factor->tree;
  FLO_TRY(reserve(factor, FOR_NUMBERS, tree->n_numbers, &factor->numbers, error));
  FLO_TRY(reserve(factor, FOR_STACK, tree->n_stack, &factor->stack, error));
  FLO_TRY(reserve(factor, FOR_VECTORS, tree->n_vectors, &factor->vectors, error));
  return reserve(factor, FOR_SUMS, tree->n_sums, &factor->sums, error);
}

FloStatus flo_block_factor_keep_single(FloBlockFactor *factor, FloError *error) {
  FloBuffer *buffer = &factor->buffers[FOR_SINGLES];
  size_t size = (factor->tree.n_numbers + 1) * sizeof(float);
  FLO_TRY(flo_buffer_reserve(factor->tree.memory, buffer, size, 0, error));
  factor->singles = buffer->data;
  return FLO_OK;
}

FloStatus flo_block_factor_create(const FloBlockMatrix *matrix, FloMemory *memory, FloBlockFactor **factor,
                                  FloError *error) {
  *factor = flo_memory_allocate(memory, sizeof **factor);
  if (!*factor)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes more were needed", sizeof **factor);
  **factor = (FloBlockFactor){0};
  FloStatus status = flo_block_tree_build(&(*factor)->tree, matrix, memory, error);
  if (status == FLO_OK) status = reserve_all(*factor, error);
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
