// Small symmetric systems: solutions have no residual, whatever the units of the unknowns; singular matrices
// are solved in what is left of them; indefinite ones are refused.
#include "base/vecmath.h"
#include "solve/dense.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = FLO_DENSE_MAX };

// B^T B with a random B of `rank` rows: positive definite if rank >= n.
static void random_matrix(Random *random, int n, int rank, double *matrix) {
  double b[2 * MOST * MOST];
  for (int k = 0; k < rank * n; ++k) b[k] = random_between(random, -1, 1);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      matrix[n * i + k] = 0;
      for (int row = 0; row < rank; ++row) matrix[n * i + k] += b[row * n + i] * b[row * n + k];
    }
}

static void multiply(int n, const double *matrix, const double *x, double *out) {
  for (int i = 0; i < n; ++i) {
    out[i] = 0;
    for (int k = 0; k < n; ++k) out[i] += matrix[n * i + k] * x[k];
  }
}

static void random_vector(Random *random, int n, double *x) {
  for (int i = 0; i < n; ++i) x[i] = random_between(random, -1, 1);
}

static void test_solutions_have_no_residual(void **state) {
  (void)state;
  Random random = {1};
  for (int round = 0; round < 50; ++round)
    for (int n = 1; n <= MOST; ++n) {
      double a[MOST * MOST], f[MOST * MOST], b[MOST], x[MOST], back[MOST];
      random_matrix(&random, n, 2 * n, a);
      random_vector(&random, n, b);
      assert_true(flo_dense_factorise(n, a, f));
      flo_dense_solve(n, f, b, x);
      multiply(n, a, x, back);
      for (int i = 0; i < n; ++i) assert_close(back[i], b[i], 1e-12);
      flo_dense_solve(n, f, b, b);
      assert_memory_equal(b, x, (size_t)n * sizeof *x);
    }
}

static void test_columns_are_those_of_the_inverse(void **state) {
  (void)state;
  Random random = {2};
  for (int n = 1; n <= MOST; ++n) {
    double a[MOST * MOST], f[MOST * MOST], x[MOST], back[MOST];
    random_matrix(&random, n, 2 * n, a);
    assert_true(flo_dense_factorise(n, a, f));
    for (int column = 0; column < n; ++column) {
      flo_dense_inverse_column(n, f, column, x);
      multiply(n, a, x, back);
      for (int i = 0; i < n; ++i) assert_close(back[i], i == column, 1e-12);
    }
  }
}

// Kilograms beside grams, metres beside micrometres: s A s y = s b has the solution y = x / s.
static void test_units_do_not_matter(void **state) {
  (void)state;
  Random random = {3};
  for (int n = 2; n <= MOST; ++n) {
    double a[MOST * MOST], f[MOST * MOST], b[MOST], x[MOST], y[MOST], s[MOST];
    random_matrix(&random, n, 2 * n, a);
    random_vector(&random, n, b);
    assert_true(flo_dense_factorise(n, a, f));
    flo_dense_solve(n, f, b, x);
    for (int i = 0; i < n; ++i) s[i] = pow(10, random_between(&random, -12, 12)), b[i] *= s[i];
    for (int k = 0; k < n * n; ++k) a[k] *= s[k / n] * s[k % n];
    assert_true(flo_dense_factorise(n, a, f));
    flo_dense_solve(n, f, b, y);
    for (int i = 0; i < n; ++i) assert_close(y[i] * s[i], x[i], 1e-9 * (1 + fabs(x[i])));
  }
}

// ---- Singular matrices ----

static void test_redundant_unknowns_are_left_out(void **state) {
  (void)state;
  Random random = {4};
  for (int n = 2; n <= MOST; ++n)
    for (int rank = 1; rank < n; ++rank) {
      double a[MOST * MOST], f[MOST * MOST], any[MOST], b[MOST], x[MOST], back[MOST];
      int n_zeros = 0;
      random_matrix(&random, n, rank, a);
      random_vector(&random, n, any);
      multiply(n, a, any, b); // so that there is a solution
      assert_false(flo_dense_factorise(n, a, f));
      assert_true(flo_dense_factorise_semidefinite(n, a, f));
      flo_dense_solve(n, f, b, x);
      multiply(n, a, x, back);
      for (int i = 0; i < n; ++i) assert_close(back[i], b[i], 1e-7);
      for (int i = 0; i < n; ++i) n_zeros += x[i] == 0;
      assert_int_equal(n_zeros, n - rank);
    }
}

// Rows and columns of locked axes are zeros; the others are solved as if those were not there.
static void test_locked_unknowns_stay_at_zero(void **state) {
  (void)state;
  Random random = {5};
  enum { N = 6 };
  for (unsigned locks = 0; locks < 1u << N; ++locks) {
    double a[N * N], f[N * N], b[N], x[N], back[N];
    random_matrix(&random, N, 2 * N, a);
    random_vector(&random, N, b);
    for (int k = 0; k < N * N; ++k)
      if (locks >> k / N & 1 || locks >> k % N & 1) a[k] = 0;
    assert_true(flo_dense_factorise_semidefinite(N, a, f));
    flo_dense_solve(N, f, b, x);
    multiply(N, a, x, back);
    for (int i = 0; i < N; ++i) {
      bool is_locked = locks >> i & 1;
      if (is_locked) assert_true(x[i] == 0);
      if (!is_locked) assert_close(back[i], b[i], 1e-12);
    }
  }
}

static void test_both_ways_agree_where_the_matrix_is_definite(void **state) {
  (void)state;
  Random random = {6};
  for (int n = 1; n <= MOST; ++n) {
    double a[MOST * MOST], f[MOST * MOST] = {0}, g[MOST * MOST] = {0};
    random_matrix(&random, n, 2 * n, a);
    assert_true(flo_dense_factorise(n, a, f) && flo_dense_factorise_semidefinite(n, a, g));
    assert_memory_equal(f, g, sizeof f);
  }
}

// ---- Matrices that are no energy ----

static void assert_matrix_refused(int n, const double *matrix) {
  double f[MOST * MOST];
  assert_false(flo_dense_factorise(n, matrix, f));
  assert_false(flo_dense_factorise_semidefinite(n, matrix, f));
}

static void test_indefinite_matrices_are_refused(void **state) {
  (void)state;
  const double swap[] = {0, 1, 1, 0}, saddle[] = {1, 2, 2, 1}, negative[] = {-1},
               hidden[] = {1, 0, 0, 0, 0, 3, 0, 3, 1}, unknown[] = {1, NAN, NAN, 1};
  assert_matrix_refused(2, swap);
  assert_matrix_refused(2, saddle);
  assert_matrix_refused(1, negative);
  assert_matrix_refused(3, hidden);
  assert_matrix_refused(2, unknown);
  Random random = {7};
  for (int n = 2; n <= MOST; ++n) {
    double a[MOST * MOST];
    random_matrix(&random, n, 2 * n, a);
    a[n * n - 1] = -a[n * n - 1];
    assert_matrix_refused(n, a);
  }
}

// ---- The largest eigenvalue ----

// A rotated diagonal matrix has the numbers of its diagonal.
static void test_the_largest_eigenvalue_is_found(void **state) {
  (void)state;
  Random random = {8};
  for (int round = 0; round < 200; ++round) {
    double axis[3], q[4], a[9] = {0}, largest = 0;
    random_vector(&random, 3, axis);
    quat_from_axis_angle(axis, random_between(&random, 0, 3), q);
    for (int k = 0; k < 3; ++k) {
      double unit[3] = {k == 0, k == 1, k == 2}, turned[3];
      double value = round % 3 == 0 && k ? 0 : random_between(&random, 0, 5);
      quat_rotate(q, unit, turned);
      for (int n = 0; n < 9; ++n) a[n] += value * turned[n / 3] * turned[n % 3];
      largest = fmax(largest, value);
    }
    assert_close(flo_dense_largest_eigenvalue(a), largest, 1e-13 * 5);
  }
}

static void test_equal_eigenvalues_are_no_trouble(void **state) {
  (void)state;
  const double zeros[9] = {0}, threes[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, flat[9] = {2, 0, 0, 0, 2, 0, 0, 0, 0};
  assert_true(flo_dense_largest_eigenvalue(zeros) == 0);
  assert_true(flo_dense_largest_eigenvalue(threes) == 3);
  assert_close(flo_dense_largest_eigenvalue(flat), 2, 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solutions_have_no_residual),
      cmocka_unit_test(test_columns_are_those_of_the_inverse),
      cmocka_unit_test(test_units_do_not_matter),
      cmocka_unit_test(test_redundant_unknowns_are_left_out),
      cmocka_unit_test(test_locked_unknowns_stay_at_zero),
      cmocka_unit_test(test_both_ways_agree_where_the_matrix_is_definite),
      cmocka_unit_test(test_indefinite_matrices_are_refused),
      cmocka_unit_test(test_the_largest_eigenvalue_is_found),
      cmocka_unit_test(test_equal_eigenvalues_are_no_trouble),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
