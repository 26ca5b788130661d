// Sparse block matrices: the pattern, products against dense ones.
#include "solve/block_matrix.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/graphs.h"

static void a_pattern_has_each_pair_once_both_ways_and_the_diagonal(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloBlockMatrix m;
  flo_memory_init(&memory, NULL);
  flo_block_matrix_init(&m, &memory);
  const uint32_t pairs[] = {2, 0, 0, 2, 3, 2, 1, 1, 2, 0};
  assert_ok(flo_block_matrix_build(&m, 5, pairs, 5, &error), &error);
  const size_t begin[] = {0, 2, 3, 6, 8, 9};
  const uint32_t columns[] = {0, 2, 1, 0, 2, 3, 2, 3, 4};
  assert_memory_equal(m.begin, begin, sizeof begin);
  assert_memory_equal(m.columns, columns, sizeof columns);
  for (size_t k = 0; k < 81; ++k) assert_true(m.blocks[k] == 0);
  assert_ptr_equal(flo_block_matrix_at(&m, 2, 3), m.blocks + 9 * 5);
  assert_ptr_equal(flo_block_matrix_at(&m, 2, 0), m.blocks + 9 * 3);
  flo_block_matrix_free(&m);
  assert_int_equal(memory.bytes, 0);
}

static void a_pattern_may_be_built_anew_and_be_empty(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloBlockMatrix m;
  double nothing = 7;
  flo_memory_init(&memory, NULL);
  flo_block_matrix_init(&m, &memory);
  for (uint32_t n = 0; n < 40; n += 13) {
    assert_ok(flo_block_matrix_build(&m, n, NULL, 0, &error), &error);
    assert_int_equal(m.begin[n], n);
  }
  assert_ok(flo_block_matrix_build(&m, 0, NULL, 0, &error), &error);
  flo_block_matrix_clear(&m);
  flo_block_matrix_apply(&m, &nothing, &nothing, 2);
  assert_true(nothing == 7);
  flo_block_matrix_free(&m);
}

static void products_equal_dense_ones_for_any_number_of_threads(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloBlockMatrix m;
  Random random = {5};
  flo_memory_init(&memory, NULL);
  flo_block_matrix_init(&m, &memory);
  Graph g = graph_sheet(50, 40);
  assert_ok(flo_block_matrix_build(&m, g.n, g.pairs, g.n_pairs, &error), &error);
  fill_positive(&m, &g, 3, 0.1);
  double x[6000], y[6000], again[6000];
  for (size_t i = 0; i < 3 * g.n; ++i) x[i] = random_between(&random, -1, 1);
  flo_block_matrix_apply(&m, x, y, 1);
  for (size_t i = 0; i < 3 * g.n; ++i) {
    double sum = 0;
    for (size_t k = m.begin[i / 3]; k < m.begin[i / 3 + 1]; ++k)
      for (size_t c = 0; c < 3; ++c) sum += m.blocks[9 * k + 3 * (i % 3) + c] * x[3 * m.columns[k] + c];
    assert_close(y[i], sum, 1e-12);
  }
  for (int threads = 2; threads <= 3; ++threads) {
    flo_block_matrix_apply(&m, x, again, threads);
    assert_memory_equal(again, y, sizeof y);
  }
  graph_free(&g);
  flo_block_matrix_free(&m);
}

static void want_of_memory_is_reported(void **state) {
  (void)state;
  Graph g = graph_sheet(6, 6);
  for (size_t fail_at = 1; fail_at <= 3; ++fail_at) {
    CountingAllocator counting = {.fail_at = fail_at, .is_poisoned = true};
    FloAllocator allocator = counting_allocator(&counting);
    FloMemory memory;
    FloError error;
    FloBlockMatrix m;
    flo_memory_init(&memory, &allocator);
    flo_block_matrix_init(&m, &memory);
    assert_fails(flo_block_matrix_build(&m, g.n, g.pairs, g.n_pairs, &error), FLO_NO_MEMORY, &error,
                 "memory");
    flo_block_matrix_free(&m);
    assert_int_equal(counting.n_blocks, 0);
    assert_int_equal(counting.n_mismatches, 0);
  }
  graph_free(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pattern_has_each_pair_once_both_ways_and_the_diagonal),
      cmocka_unit_test(a_pattern_may_be_built_anew_and_be_empty),
      cmocka_unit_test(products_equal_dense_ones_for_any_number_of_threads),
      cmocka_unit_test(want_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
