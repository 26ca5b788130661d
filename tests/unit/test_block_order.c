// The order of elimination: it is a permutation, and the factors of meshes grow as nested dissection says.
#include "solve/block_order.h"
#include "solve/block_tree.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/graphs.h"

static FloMemory memory;

static int start(void **state) {
  (void)state;
  flo_memory_init(&memory, NULL);
  return 0;
}

static int finish(void **state) {
  (void)state;
  return memory.bytes != 0;
}

static FloBlockMatrix make_matrix(const Graph *g) {
  FloBlockMatrix matrix;
  FloError error;
  flo_block_matrix_init(&matrix, &memory);
  assert_ok(flo_block_matrix_build(&matrix, g->n, g->pairs, g->n_pairs, &error), &error);
  return matrix;
}

static void check_order(Graph g) {
  FloError error;
  FloBlockMatrix matrix = make_matrix(&g);
  uint32_t *order = malloc((g.n + 1) * sizeof *order);
  bool *is_there = calloc(g.n + 1, sizeof *is_there);
  assert_ok(flo_block_order(&matrix, &memory, order, &error), &error);
  for (uint32_t k = 0; k < g.n; ++k) {
    assert_true(order[k] < g.n && !is_there[order[k]]);
    is_there[order[k]] = true;
  }
  free(order), free(is_there);
  flo_block_matrix_free(&matrix);
  graph_free(&g);
}

static void an_order_is_a_permutation(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 4; ++n) check_order((Graph){.n = n});
  check_order((Graph){.n = 20000});
  check_order(graph_path(3000)), check_order(graph_loop(3001)), check_order(graph_star(20000));
  check_order(graph_complete(300)), check_order(graph_sheet(60, 50)),
      check_order(graph_tetrahedra(9, 10, 11));
  for (uint32_t seed = 1; seed < 6; ++seed) check_order(graph_random(1000, 300 * seed, seed));
}

// Numbers in the factors and the estimated time of a factorisation.
static void measure(Graph g, double *n_numbers, double *cost) {
  FloError error;
  FloBlockTree tree;
  FloBlockMatrix matrix = make_matrix(&g);
  assert_ok(flo_block_tree_build(&tree, &matrix, &memory, &error), &error);
  *n_numbers = (double)tree.n_numbers, *cost = 0;
  for (size_t f = 0; f < tree.n_fronts; ++f)
    *cost += flo_front_cost(tree.fronts[f].n_pivots, tree.fronts[f].n_below);
  flo_block_tree_free(&tree);
  flo_block_matrix_free(&matrix);
  graph_free(&g);
}

// For a sheet of n vertices numbers grow as n log n and the time as n^1.5 (George 1973); those of a band
// would grow as n^1.5 and n^2.
static void factors_of_sheets_grow_slowly(void **state) {
  (void)state;
  double numbers[3], cost[3];
  for (int k = 0; k < 3; ++k) measure(graph_sheet(40 << k, 40 << k), &numbers[k], &cost[k]);
  for (int k = 1; k < 3; ++k) {
    assert_in_range((int)(100 * numbers[k] / numbers[k - 1]), 400, 600);
    assert_in_range((int)(100 * cost[k] / cost[k - 1]), 400, 850);
  }
}

static void factors_of_a_strip_grow_with_its_length(void **state) {
  (void)state;
  double numbers[2], cost[2];
  for (int k = 0; k < 2; ++k) measure(graph_sheet(300 << k, 10), &numbers[k], &cost[k]);
  assert_close(numbers[1] / numbers[0], 2, 0.1);
  assert_close(cost[1] / cost[0], 2, 0.1);
}

static void a_star_has_small_factors(void **state) {
  (void)state;
  double numbers[2], cost[2];
  for (int k = 0; k < 2; ++k) measure(graph_star(2000u << k), &numbers[k], &cost[k]);
  assert_close(numbers[1] / numbers[0], 2, 0.05);
}

static void the_numbering_of_vertices_matters_little(void **state) {
  (void)state;
  double numbers, cost, numbers_shuffled, cost_shuffled;
  Graph sheets[] = {graph_sheet(60, 60), graph_sheet(90, 30), graph_tetrahedra(11, 11, 11)};
  Graph same[] = {graph_sheet(60, 60), graph_sheet(90, 30), graph_tetrahedra(11, 11, 11)};
  for (size_t k = 0; k < FLO_COUNT_OF(sheets); ++k) {
    graph_shuffle(&same[k], k + 1);
    measure(sheets[k], &numbers, &cost);
    measure(same[k], &numbers_shuffled, &cost_shuffled);
    assert_close(numbers_shuffled / numbers, 1, 0.15);
    assert_close(cost_shuffled / cost, 1, 0.3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_order_is_a_permutation),
      cmocka_unit_test(factors_of_sheets_grow_slowly),
      cmocka_unit_test(factors_of_a_strip_grow_with_its_length),
      cmocka_unit_test(a_star_has_small_factors),
      cmocka_unit_test(the_numbering_of_vertices_matters_little),
  };
  return cmocka_run_group_tests(tests, start, finish);
}
