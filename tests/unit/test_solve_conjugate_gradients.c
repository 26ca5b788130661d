// Conjugate gradients: exact after as many iterations as there are unknowns, fewer with a good
// preconditioner, and they end where they should.
#include "solve/conjugate_gradients.h"
#include "support/check.h"
#include "support/random.h"

enum { N = 40 };

// Points in a row with springs between neighbours, on springs of very different strength.
typedef struct Chain {
  double diagonal[N], preconditioner[N];
  double solution[N], residual[N], direction[N], image[N];
  int n_applied;
} Chain;

static double measure(void *context) {
  const Chain *c = context;
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += c->residual[i] * c->preconditioner[i] * c->residual[i];
  return sum;
}

static void turn(void *context, double beta) {
  Chain *c = context;
  for (int i = 0; i < N; ++i)
    c->direction[i] = c->preconditioner[i] * c->residual[i] + beta * c->direction[i];
}

static void multiply(const Chain *c, const double *x, double *out) {
  for (int i = 0; i < N; ++i)
    out[i] = c->diagonal[i] * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < N ? x[i + 1] : 0);
}

static double apply(void *context) {
  Chain *c = context;
  double along = 0;
  c->n_applied++;
  multiply(c, c->direction, c->image);
  for (int i = 0; i < N; ++i) along += c->direction[i] * c->image[i];
  return along;
}

static void go(void *context, double alpha) {
  Chain *c = context;
  for (int i = 0; i < N; ++i)
    c->solution[i] += alpha * c->direction[i], c->residual[i] -= alpha * c->image[i];
}

static FloLinearSystem system_of(Chain *chain) { return (FloLinearSystem){chain, measure, turn, apply, go}; }

static Chain make_chain(bool is_preconditioned) {
  Chain c = {0};
  Random random = {3};
  for (int i = 0; i < N; ++i) {
    c.diagonal[i] = 2 + pow(10, random_between(&random, -2, 3));
    c.preconditioner[i] = is_preconditioned ? 1 / c.diagonal[i] : 1;
    c.residual[i] = random_between(&random, -1, 1);
  }
  return c;
}

static FloSolveReport solve(Chain *chain, double tolerance, double least_square, int max_iterations) {
  FloLinearSystem system = system_of(chain);
  FloGradientLimits limits = {tolerance, least_square, max_iterations};
  return flo_conjugate_gradients(&system, &limits);
}

static void test_solutions_have_no_residual(void **state) {
  (void)state;
  for (int round = 0; round < 2; ++round) {
    Chain c = make_chain(round);
    double b[N], back[N];
    memcpy(b, c.residual, sizeof b);
    FloSolveReport report = solve(&c, 1e-12, 0, 2 * N);
    multiply(&c, c.solution, back);
    for (int i = 0; i < N; ++i) assert_close(back[i], b[i], 1e-10);
    assert_true(report.residual <= 1e-12 && report.iterations < 2 * N);
    assert_int_equal(report.iterations, c.n_applied);
  }
}

static void test_a_good_preconditioner_saves_iterations(void **state) {
  (void)state;
  Chain plain = make_chain(false), better = make_chain(true);
  int n_plain = solve(&plain, 1e-8, 0, 10 * N).iterations,
      n_better = solve(&better, 1e-8, 0, 10 * N).iterations;
  print_message("iterations: %d, with a preconditioner %d\n", n_plain, n_better);
  assert_true(n_better < n_plain);
}

static void test_iterations_have_limits(void **state) {
  (void)state;
  Chain c = make_chain(true);
  assert_int_equal(solve(&c, 0, 0, 3).iterations, 3);
  c = make_chain(true);
  assert_int_equal(solve(&c, 0, 0, 0).iterations, 0);
  c = make_chain(true);
  assert_int_equal(solve(&c, 0, 2 * measure(&c), N).iterations, 0);
  c = make_chain(true);
  double least = measure(&c) * 1e-4;
  assert_true(solve(&c, 0, least, N).iterations < N && measure(&c) <= least);
}

static void test_nothing_to_do_is_done_at_once(void **state) {
  (void)state;
  Chain c = make_chain(true);
  memset(c.residual, 0, sizeof c.residual);
  FloSolveReport report = solve(&c, 1e-6, 0, N);
  assert_true(report.iterations == 0 && report.residual == 0);
}

// A direction along which the energy does not grow has no best point.
static void test_a_negative_matrix_ends_the_iterations(void **state) {
  (void)state;
  Chain c = make_chain(true);
  for (int i = 0; i < N; ++i) c.diagonal[i] = -c.diagonal[i];
  FloSolveReport report = solve(&c, 1e-6, 0, N);
  assert_int_equal(report.iterations, 0);
  assert_true(report.residual == 1);
  for (int i = 0; i < N; ++i) assert_true(c.solution[i] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solutions_have_no_residual),
      cmocka_unit_test(test_a_good_preconditioner_saves_iterations),
      cmocka_unit_test(test_iterations_have_limits),
      cmocka_unit_test(test_nothing_to_do_is_done_at_once),
      cmocka_unit_test(test_a_negative_matrix_ends_the_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
