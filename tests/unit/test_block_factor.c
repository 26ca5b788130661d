// Factors of sparse block matrices and solves with them, against dense elimination.
#include "solve/block_factor.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/graphs.h"

typedef struct System {
  Graph graph;
  FloBlockMatrix matrix;
  FloBlockFactor *factor;
  double *b, *x;
} System;

static CountingAllocator counting;
static FloMemory memory;

static int start(void **state) {
  (void)state;
  counting = (CountingAllocator){.is_poisoned = true};
  FloAllocator allocator = counting_allocator(&counting);
  flo_memory_init(&memory, &allocator);
  return 0;
}

static int finish(void **state) {
  (void)state;
  return counting.n_blocks != 0 || counting.n_mismatches != 0;
}

static void refill(System *s, uint64_t seed, double least) {
  Random random = {seed};
  fill_positive(&s->matrix, &s->graph, seed, least);
  for (size_t i = 0; i < 3 * s->graph.n; ++i) s->b[i] = random_between(&random, -1, 1);
}

static System make(Graph graph) {
  FloError error;
  System s = {.graph = graph};
  size_t size = (3 * graph.n + 1) * sizeof(double);
  flo_block_matrix_init(&s.matrix, &memory);
  assert_ok(flo_block_matrix_build(&s.matrix, graph.n, graph.pairs, graph.n_pairs, &error), &error);
  assert_ok(flo_block_factor_create(&s.matrix, &memory, &s.factor, &error), &error);
  s.b = malloc(size), s.x = malloc(size);
  return s;
}

static void drop(System *s) {
  flo_block_factor_destroy(s->factor, &memory);
  flo_block_matrix_free(&s->matrix);
  graph_free(&s->graph);
  free(s->b), free(s->x);
}

static void solve(System *s) {
  memcpy(s->x, s->b, 3 * s->graph.n * sizeof(double));
  flo_block_solve(s->factor, s->x);
}

// ---- Dense ----

static double *make_dense(const FloBlockMatrix *m) {
  size_t n = 3 * m->n;
  double *dense = calloc(n * n + 1, sizeof *dense);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = m->begin[i / 3]; k < m->begin[i / 3 + 1]; ++k)
      for (size_t c = 0; c < 3; ++c)
        dense[n * i + 3 * m->columns[k] + c] = m->blocks[9 * k + 3 * (i % 3) + c];
  return dense;
}

// Elimination without pivoting, as for positive definite matrices.
static void solve_dense(double *a, size_t n, double *x) {
  for (size_t p = 0; p < n; ++p)
    for (size_t i = p + 1; i < n; ++i) {
      double share = a[n * i + p] / a[n * p + p];
      if (share == 0) continue;
      for (size_t k = p; k < n; ++k) a[n * i + k] -= share * a[n * p + k];
      x[i] -= share * x[p];
    }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) x[i] -= a[n * i + k] * x[k];
    x[i] /= a[n * i + i];
  }
}

static void check_graph(Graph graph) {
  System s = make(graph);
  size_t n = 3 * graph.n, n_calls = counting.n_calls;
  double *expected = malloc((n + 1) * sizeof *expected);
  for (uint64_t seed = 1; seed <= 2; ++seed) { // the second matrix needs no more memory
    refill(&s, seed, 0.1);
    double *dense = make_dense(&s.matrix), most = 0;
    memcpy(expected, s.b, n * sizeof(double));
    solve_dense(dense, n, expected);
    assert_true(flo_block_factorise(s.factor, &s.matrix, 1));
    solve(&s);
    for (size_t i = 0; i < n; ++i) most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < n; ++i) assert_close(s.x[i], expected[i], 1e-11 * most);
    free(dense);
  }
  assert_int_equal(counting.n_calls, n_calls);
  free(expected);
  drop(&s);
}

static Graph shuffled(Graph g, uint64_t seed) {
  graph_shuffle(&g, seed);
  return g;
}

static void small_patterns_are_solved(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 30; ++n) check_graph((Graph){.n = n}); // nothing is connected
  for (uint32_t n = 1; n < 30; ++n) check_graph(graph_path(n)), check_graph(graph_star(n));
  for (uint32_t n = 3; n < 30; ++n) check_graph(graph_loop(n)), check_graph(graph_complete(n));
}

static void patterns_with_separators_are_solved(void **state) {
  (void)state;
  check_graph(graph_path(150)), check_graph(shuffled(graph_path(220), 4));
  check_graph(graph_loop(150)), check_graph(graph_star(150));
  check_graph(graph_complete(110));
  check_graph(graph_sheet(13, 11)), check_graph(shuffled(graph_sheet(16, 14), 5));
  check_graph(graph_sheet(70, 3));
  check_graph(graph_tetrahedra(6, 5, 7)), check_graph(shuffled(graph_tetrahedra(6, 6, 6), 6));
}

static void random_patterns_are_solved(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed < 12; ++seed)
    check_graph(graph_random(40 + 17 * seed, 20 + 40 * seed, seed)); // some vertices stand alone
}

// ---- Larger ----

static double residual(const System *s) {
  size_t n = 3 * s->graph.n;
  double most = 0, *image = malloc(n * sizeof *image);
  flo_block_matrix_apply(&s->matrix, s->x, image, 1);
  for (size_t i = 0; i < n; ++i) most = fmax(most, fabs(s->b[i] - image[i]));
  free(image);
  return most;
}

static void check_large(Graph graph) {
  System s = make(graph);
  size_t size = 3 * graph.n * sizeof(double);
  double *first = malloc(size);
  refill(&s, 1, 1e-3);
  for (int threads = 1; threads <= 3; ++threads) {
    assert_true(flo_block_factorise(s.factor, &s.matrix, threads));
    solve(&s);
    assert_close(residual(&s), 0, 1e-9);
    if (threads == 1) memcpy(first, s.x, size);
    assert_memory_equal(s.x, first, size);
  }
  free(first);
  drop(&s);
}

static void large_patterns_are_solved_with_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  check_large(graph_sheet(45, 40));
  check_large(shuffled(graph_sheet(120, 12), 2));
  check_large(graph_tetrahedra(12, 11, 10));
  check_large(graph_star(6000)); // the hub must come last
  check_large((Graph){.n = 5000});
}

static void a_matrix_that_is_not_positive_definite_is_reported(void **state) {
  (void)state;
  System s = make(graph_sheet(30, 20));
  for (size_t i = 0; i < s.graph.n; i += 37)
    for (int threads = 1; threads <= 2; ++threads) {
      refill(&s, 1, 0.1);
      assert_true(flo_block_factorise(s.factor, &s.matrix, threads));
      flo_block_matrix_at(&s.matrix, i, i)[4 * (i % 3)] = threads == 1 ? -1e-3 : NAN;
      assert_false(flo_block_factorise(s.factor, &s.matrix, threads));
    }
  drop(&s);
}

static void conjugate_gradients_end_where_the_factors_do(void **state) {
  (void)state;
  System s = make(graph_sheet(30, 30));
  size_t n = 3 * s.graph.n, size = n * sizeof(double);
  double *room = malloc(4 * size), *x = calloc(n, sizeof *x), *first = malloc(size);
  refill(&s, 1, 0.1);
  assert_true(flo_block_factorise(s.factor, &s.matrix, 1));
  solve(&s);
  assert_int_equal(flo_block_conjugate(&s.matrix, s.factor, s.b, x, room, 1e-10, 50, 1), 1);
  for (size_t i = 0; i < n; ++i) assert_close(x[i], s.x[i], 1e-9);
  assert_int_equal(flo_block_conjugate(&s.matrix, s.factor, s.b, x, room, 1e-6, 50, 1), 0); // starts solved
  // The factors of a nearby matrix.
  for (size_t i = 0; i < s.graph.n; ++i) flo_block_matrix_at(&s.matrix, i, i)[0] *= 1.3;
  for (int threads = 1; threads <= 3; ++threads) {
    memset(x, 0, size);
    int n_iterations = flo_block_conjugate(&s.matrix, s.factor, s.b, x, room, 1e-10, 100, threads);
    assert_in_range(n_iterations, 2, 40);
    memcpy(s.x, x, size);
    assert_close(residual(&s), 0, 1e-8);
    if (threads == 1) memcpy(first, x, size);
    assert_memory_equal(x, first, size);
  }
  memset(x, 0, size);
  assert_int_equal(flo_block_conjugate(&s.matrix, s.factor, s.b, x, room, 1e-10, 1, 1), 1);
  free(room), free(x), free(first);
  drop(&s);
}

static double dot(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Solving with factors in single precision multiplies by a symmetric matrix close to the inverse.
static void check_single(Graph graph) {
  FloError error;
  System s = make(graph);
  size_t n = 3 * graph.n, size = n * sizeof(double);
  double *c = malloc(size), *first = malloc(size), *solved = malloc(size);
  Random random = {7};
  assert_ok(flo_block_factor_keep_single(s.factor, &error), &error);
  refill(&s, 1, 0.1);
  for (size_t i = 0; i < n; ++i) c[i] = random_between(&random, -1, 1);
  for (int threads = 1; threads <= 3; ++threads) {
    assert_true(flo_block_factorise(s.factor, &s.matrix, threads));
    solve(&s);
    double scale = sqrt(dot(s.x, s.x, n)), rest = 0;
    memcpy(solved, s.b, size);
    flo_block_solve_single(s.factor, solved);
    for (size_t i = 0; i < n; ++i) rest += pow(solved[i] - s.x[i], 2);
    assert_in_range((int)(1e9 * sqrt(rest) / scale), 1, 1000); // neither all digits nor too few
    if (threads == 1) memcpy(first, solved, size);
    assert_memory_equal(solved, first, size);
  }
  memcpy(s.x, c, size);
  flo_block_solve_single(s.factor, s.x);
  double one = dot(c, solved, n), other = dot(s.b, s.x, n);
  assert_close(one / other, 1, 1e-11);
  free(c), free(first), free(solved);
  drop(&s);
}

static void single_precision_has_seven_digits_and_is_symmetric(void **state) {
  (void)state;
  check_single(graph_sheet(45, 40));
  check_single(graph_tetrahedra(9, 9, 9));
  check_single(graph_path(50));
}

static void conjugate_gradients_repair_single_precision(void **state) {
  (void)state;
  FloError error;
  System s = make(graph_sheet(30, 30));
  size_t n = 3 * s.graph.n;
  double *room = malloc(4 * n * sizeof(double));
  assert_ok(flo_block_factor_keep_single(s.factor, &error), &error);
  refill(&s, 1, 0.1);
  memset(s.x, 0, n * sizeof(double));
  assert_true(flo_block_factorise(s.factor, &s.matrix, 1));
  assert_in_range(flo_block_conjugate(&s.matrix, s.factor, s.b, s.x, room, 1e-12, 20, 1), 2, 3);
  assert_close(residual(&s), 0, 1e-10);
  free(room);
  drop(&s);
}

static void want_of_memory_is_reported(void **state) {
  (void)state;
  System s = make(graph_sheet(20, 20));
  bool has_failed = true;
  for (size_t call = 1; has_failed; ++call) {
    FloError error;
    FloBlockFactor *factor;
    counting.fail_at = counting.n_calls + call;
    has_failed = flo_block_factor_create(&s.matrix, &memory, &factor, &error) != FLO_OK;
    if (has_failed) assert_int_equal(error.status, FLO_NO_MEMORY);
    counting.fail_at = 0;
    flo_block_factor_destroy(factor, &memory);
    assert_true(call < 100);
  }
  drop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_patterns_are_solved),
      cmocka_unit_test(patterns_with_separators_are_solved),
      cmocka_unit_test(random_patterns_are_solved),
      cmocka_unit_test(large_patterns_are_solved_with_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(a_matrix_that_is_not_positive_definite_is_reported),
      cmocka_unit_test(conjugate_gradients_end_where_the_factors_do),
      cmocka_unit_test(single_precision_has_seven_digits_and_is_symmetric),
      cmocka_unit_test(conjugate_gradients_repair_single_precision),
      cmocka_unit_test(want_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, start, finish);
}
