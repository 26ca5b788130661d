// Sparse block systems against dense elimination, for chains, trees, loops and random graphs.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "solve/sparse.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, MOST_ROWS = MOST * 6 };

typedef struct Graph {
  uint32_t n, widths[MOST], n_links, links[400][2];
} Graph;

static FloMemory memory;

static int start(void **state) {
  (void)state;
  flo_memory_init(&memory, &(FloAllocator){0});
  return 0;
}

static void link_blocks(Graph *g, uint32_t a, uint32_t b) {
  g->links[g->n_links][0] = a, g->links[g->n_links++][1] = b;
}

// B B^T + 1 with numbers of B only within blocks and between neighbours of one link: it is positive definite.
static void add_random(FloSparse *sparse, const Graph *g, Random *random, double *dense) {
  size_t n = sparse->n_rows;
  for (uint32_t l = 0; l < g->n_links + g->n; ++l) {
    uint32_t a = l < g->n_links ? g->links[l][0] : l - g->n_links, b = l < g->n_links ? g->links[l][1] : a;
    double u[MOST_ROWS] = {0};
    for (uint32_t i = 0; i < g->widths[a]; ++i) u[sparse->first_rows[a] + i] = random_between(random, -1, 1);
    for (uint32_t i = 0; i < g->widths[b]; ++i) u[sparse->first_rows[b] + i] = random_between(random, -1, 1);
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < n; ++k) dense[n * i + k] += u[i] * u[k];
  }
  for (size_t i = 0; i < n; ++i) dense[n * i + i] += 0.1;
}

static void copy_block(FloSparse *sparse, uint32_t a, uint32_t b, const double *dense) {
  bool is_turned;
  double *block = flo_sparse_block(sparse, a, b, &is_turned);
  uint32_t row = is_turned ? b : a, column = is_turned ? a : b;
  for (uint32_t i = 0; i < sparse->widths[row]; ++i)
    for (uint32_t k = 0; k < sparse->widths[column]; ++k)
      block[i * sparse->widths[column] + k] =
          dense[sparse->n_rows * (sparse->first_rows[row] + i) + sparse->first_rows[column] + k];
}

static void check_graph(const Graph *g, uint64_t seed) {
  FloError error;
  FloSparse sparse;
  Random random = {seed};
  flo_sparse_init(&sparse, &memory);
  assert_int_equal(flo_sparse_begin(&sparse, g->widths, g->n, &error), FLO_OK);
  for (uint32_t l = 0; l < g->n_links; ++l)
    assert_int_equal(flo_sparse_connect(&sparse, g->links[l][0], g->links[l][1], &error), FLO_OK);
  assert_int_equal(flo_sparse_order(&sparse, &error), FLO_OK);
  size_t n = sparse.n_rows, held = memory.bytes;
  double *dense = calloc(n * n + 1, sizeof *dense), *x = calloc(n + 1, sizeof *x),
         *b = calloc(n + 1, sizeof *b);
  add_random(&sparse, g, &random, dense);
  for (int round = 0; round < 2; ++round) {
    flo_sparse_clear(&sparse, NULL);
    for (uint32_t k = 0; k < g->n; ++k) copy_block(&sparse, k, k, dense);
    for (uint32_t l = 0; l < g->n_links; ++l) copy_block(&sparse, g->links[l][0], g->links[l][1], dense);
    assert_true(flo_sparse_factorise(&sparse, NULL));
    for (size_t i = 0; i < n; ++i) x[i] = b[i] = random_between(&random, -1, 1);
    flo_sparse_solve(&sparse, x);
    for (size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += dense[n * i + k] * x[k];
      assert_true(fabs(sum - b[i]) < 1e-10);
    }
  }
  assert_int_equal(memory.bytes, held); // the second matrix needs no more memory
  free(dense), free(x), free(b);
  flo_sparse_free(&sparse);
}

static Graph make_graph(uint32_t n, uint64_t seed) {
  Random random = {seed};
  Graph g = {.n = n};
  for (uint32_t k = 0; k < n; ++k) g.widths[k] = (uint32_t)random_between(&random, 0, 6.99);
  return g;
}

static void chains_trees_loops_and_random_graphs_are_solved(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Random random = {seed};
    Graph chain = make_graph(MOST, seed), tree = make_graph(MOST, seed), loop = make_graph(17, seed),
          any = make_graph(30, seed);
    for (uint32_t k = 1; k < MOST; ++k) {
      link_blocks(&chain, k, k - 1);
      link_blocks(&tree, (uint32_t)random_between(&random, 0, k - 0.01), k);
    }
    for (uint32_t k = 0; k < 17; ++k) link_blocks(&loop, k, (k + 1) % 17);
    for (uint32_t k = 0; k < 60; ++k) {
      uint32_t a = (uint32_t)random_between(&random, 0, 29.99),
               b = (uint32_t)random_between(&random, 0, 29.99);
      if (a != b) link_blocks(&any, a, b);
    }
    check_graph(&chain, seed), check_graph(&tree, seed), check_graph(&loop, seed), check_graph(&any, seed);
  }
}

static size_t count_entries(uint32_t n, bool is_star) {
  FloError error;
  FloSparse sparse;
  uint32_t *widths = calloc(n, sizeof *widths);
  for (uint32_t k = 0; k < n; ++k) widths[k] = 1;
  flo_sparse_init(&sparse, &memory);
  assert_int_equal(flo_sparse_begin(&sparse, widths, n, &error), FLO_OK);
  for (uint32_t k = 1; k < n; ++k)
    assert_int_equal(flo_sparse_connect(&sparse, k, is_star ? 0 : k - 1, &error), FLO_OK);
  assert_int_equal(flo_sparse_order(&sparse, &error), FLO_OK);
  size_t count = sparse.begin[n];
  flo_sparse_free(&sparse);
  free(widths);
  return count;
}

// A tree can be eliminated from its leaves without any new block. Rounds of a chain take every second block,
// which makes some.
static void factors_of_chains_and_stars_are_small(void **state) {
  (void)state;
  assert_int_equal(count_entries(1000, true), 999);
  assert_true(count_entries(1000, false) <= 2 * 999);
  assert_true(count_entries(10000, false) <= 2 * 9999);
}

static void matrices_that_are_not_definite_are_refused(void **state) {
  (void)state;
  FloError error;
  FloSparse sparse;
  const uint32_t widths[1] = {2};
  bool is_turned;
  flo_sparse_init(&sparse, &memory);
  assert_int_equal(flo_sparse_begin(&sparse, widths, 1, &error), FLO_OK);
  assert_int_equal(flo_sparse_order(&sparse, &error), FLO_OK);
  flo_sparse_clear(&sparse, NULL);
  double *block = flo_sparse_block(&sparse, 0, 0, &is_turned);
  block[0] = 1, block[1] = block[2] = 2, block[3] = 1;
  assert_false(flo_sparse_factorise(&sparse, NULL));
  flo_sparse_free(&sparse);
  assert_int_equal(memory.bytes, 0);
}

// Parts that are not connected are changed alone: the other part keeps its factors.
static void parts_are_factorised_alone(void **state) {
  (void)state;
  FloError error;
  FloSparse sparse;
  const uint32_t widths[4] = {1, 1, 1, 1};
  const bool second[4] = {false, true, false, true};
  bool is_turned;
  double x[4] = {1, 1, 1, 1};
  flo_sparse_init(&sparse, &memory);
  assert_int_equal(flo_sparse_begin(&sparse, widths, 4, &error), FLO_OK);
  assert_int_equal(flo_sparse_connect(&sparse, 0, 2, &error), FLO_OK);
  assert_int_equal(flo_sparse_connect(&sparse, 1, 3, &error), FLO_OK);
  assert_int_equal(flo_sparse_order(&sparse, &error), FLO_OK);
  for (int round = 0; round < 2; ++round) {
    flo_sparse_clear(&sparse, round ? second : NULL);
    for (uint32_t k = 0; k < 4; ++k)
      if (!round || second[k]) *flo_sparse_block(&sparse, k, k, &is_turned) = round ? 5 : 2;
    for (uint32_t k = (uint32_t)round; k < 2; ++k) *flo_sparse_block(&sparse, k, k + 2, &is_turned) = 1;
    assert_true(flo_sparse_factorise(&sparse, round ? second : NULL));
  }
  flo_sparse_solve(&sparse, x);
  // [2 1; 1 2] x = 1 and [5 1; 1 5] x = 1.
  assert_true(fabs(x[0] - 1.0 / 3) < 1e-15 && fabs(x[2] - 1.0 / 3) < 1e-15);
  assert_true(fabs(x[1] - 1.0 / 6) < 1e-15 && fabs(x[3] - 1.0 / 6) < 1e-15);
  flo_sparse_free(&sparse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(chains_trees_loops_and_random_graphs_are_solved, start),
      cmocka_unit_test_setup(factors_of_chains_and_stars_are_small, start),
      cmocka_unit_test_setup(parts_are_factorised_alone, start),
      cmocka_unit_test_setup(matrices_that_are_not_definite_are_refused, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
