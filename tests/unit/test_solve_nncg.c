// Nonsmooth conjugate gradients: their decisions, and the driver on a small problem with limits.
#include "solve/nncg.h"
#include "support/check.h"
#include "support/random.h"

// ---- Decisions ----

static void test_fletcher_reeves_starts_anew_where_moves_grow(void **state) {
  (void)state;
  const struct {
    double square, before, beta;
    bool is_restart;
  } cases[] = {{1, 4, 0.25, false}, {4, 4, 1, false},    {5, 4, 0, true},    {1, 0, 0, false},
               {0, 1, 0, false},    {-1, 4, 0, false},   {NAN, 4, 0, false}, {1, NAN, 0, false},
               {1, -1, 0, false},   {1, 1e-320, 0, true}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    FloConjugate c = flo_nncg_fletcher_reeves(cases[k].square, cases[k].before);
    assert_true(c.beta == cases[k].beta && c.is_restart == cases[k].is_restart);
  }
}

static void test_polak_ribiere_allows_moves_to_grow_once(void **state) {
  (void)state;
  FloConjugate same = flo_nncg_polak_ribiere(3, 0, 4), grown = flo_nncg_polak_ribiere(30, 0, 4),
               wild = flo_nncg_polak_ribiere(50, 0, 4), turned = flo_nncg_polak_ribiere(3, 4, 4);
  assert_true(same.beta == 0.75 && !same.is_restart);
  assert_true(grown.beta == 7.5 && !grown.is_restart);
  assert_true(wild.beta == 0 && wild.is_restart);
  assert_true(turned.beta == 0 && !turned.is_restart);
}

static void test_lengths_have_limits(void **state) {
  (void)state;
  assert_true(flo_nncg_best_length(3, 2) == 1.5);
  assert_true(flo_nncg_best_length(100, 1) == 4);
  assert_true(flo_nncg_best_length(1, 128) == 1.0 / 128);
  assert_true(flo_nncg_best_length(-1, 1) == 0);
  assert_true(flo_nncg_best_length(0, 1) == 0);
  assert_true(flo_nncg_best_length(1, 0) == 1);
  assert_true(flo_nncg_best_length(NAN, 1) == 1);
  assert_true(flo_nncg_is_near(1.2) && flo_nncg_is_near(0.8) && !flo_nncg_is_near(1.25) &&
              !flo_nncg_is_near(0.7));
  assert_true(flo_nncg_next_length(1, 1.5) == 1.5);
  assert_true(flo_nncg_next_length(2, 2) == 2.5);
  assert_true(flo_nncg_next_length(1, 0) == 0.5);
  assert_true(flo_nncg_first_length(0) == 1);
  assert_true(flo_nncg_first_length(0.1) == 0.5);
  assert_true(flo_nncg_first_length(2) == 2);
}

// ---- The driver ----

enum { N = 60 };

// A string that is pulled down onto a floor: x_i >= 0 in (A x - b) . x = 0, A being that of a string.
typedef struct String {
  double x[N], b[N], error[N], move[N], way[N], from[N], from_error[N];
  int n_sweeps, n_lines;
} String;

static double pull(const double *x, int i) {
  return 2.02 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < N ? x[i + 1] : 0);
}

static FloSweepMeasure propose(String *s) {
  FloSweepMeasure m = {0};
  for (int i = 0; i < N; ++i) {
    double step = s->x[i] - s->from[i], alone = s->x[i] - s->error[i] / 2.02;
    s->move[i] = fmax(s->x[i] - s->error[i] / 4.1, 0) - s->x[i];
    m.residual = fmax(m.residual, fabs(fmax(alone, 0) - s->x[i]));
    m.square -= s->move[i] * s->error[i], m.cross -= s->move[i] * s->from_error[i];
    m.slope -= step * s->from_error[i], m.bend += step * (s->error[i] - s->from_error[i]);
  }
  return m;
}

static FloSweepMeasure sweep(void *context) {
  String *s = context;
  s->n_sweeps++;
  for (int i = 0; i < N; ++i) s->error[i] = pull(s->x, i) - s->b[i];
  return propose(s);
}

static void advance(void *context, double length, FloConjugate conjugate) {
  String *s = context;
  for (int i = 0; i < N; ++i) {
    double way = conjugate.beta * s->way[i] + s->move[i];
    s->from[i] = s->x[i], s->from_error[i] = s->error[i];
    s->way[i] = conjugate.is_restart ? 0 : way;
    s->x[i] = fmax(s->x[i] + length * way, 0);
  }
}

static FloSweepMeasure go(void *context, double length) {
  String *s = context;
  s->n_lines++;
  for (int i = 0; i < N; ++i) {
    s->x[i] = fmax(s->from[i] + length * (s->x[i] - s->from[i]), 0);
    s->error[i] = s->from_error[i] + length * (s->error[i] - s->from_error[i]);
  }
  return propose(s);
}

static String make_string(void) {
  String s = {0};
  for (int i = 0; i < N; ++i) s.b[i] = sin(0.21 * i) - 0.2;
  return s;
}

static FloSolveReport solve(String *s, bool is_conjugate, bool has_lines, double tolerance, int most) {
  FloFixedPoint point = {s, sweep, advance, has_lines ? go : NULL};
  FloNncgLimits limits = {.tolerance = tolerance, .max_iterations = most, .is_conjugate = is_conjugate};
  return flo_nncg_solve(&point, &limits);
}

static void assert_solved(const String *s, double tolerance) {
  int n_down = 0;
  for (int i = 0; i < N; ++i) {
    double error = pull(s->x, i) - s->b[i];
    assert_true(s->x[i] >= 0);
    if (s->x[i] > 0) assert_close(error, 0, tolerance);
    if (s->x[i] == 0) assert_true(error >= -tolerance), n_down++;
  }
  assert_true(n_down > N / 8 && n_down < N);
}

static void test_conjugate_directions_find_the_same_sooner(void **state) {
  (void)state;
  String plain = make_string(), paper = make_string(), best = make_string();
  int n_plain = solve(&plain, false, true, 1e-9, 100000).iterations,
      n_paper = solve(&paper, true, false, 1e-9, 100000).iterations,
      n_best = solve(&best, true, true, 1e-9, 100000).iterations;
  print_message("iterations: %d, conjugate %d, to the best length %d\n", n_plain, n_paper, n_best);
  assert_solved(&plain, 1e-8), assert_solved(&paper, 1e-8), assert_solved(&best, 1e-8);
  assert_true(n_paper < n_plain / 2 && n_best < n_plain / 2);
  assert_true(plain.n_lines == 0 && paper.n_lines == 0 && best.n_lines > 0);
}

static void test_iterations_are_counted_and_limited(void **state) {
  (void)state;
  String s = make_string();
  FloSolveReport report = solve(&s, true, true, 0, 7);
  assert_true(report.iterations == 7 && s.n_sweeps == 7 && report.residual > 0);
  s = make_string();
  assert_int_equal(solve(&s, true, true, 1e9, 7).iterations, 1);
  s = make_string();
  assert_int_equal(solve(&s, true, true, 0, 0).iterations, 0);
  assert_int_equal(s.n_sweeps, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fletcher_reeves_starts_anew_where_moves_grow),
      cmocka_unit_test(test_polak_ribiere_allows_moves_to_grow_once),
      cmocka_unit_test(test_lengths_have_limits),
      cmocka_unit_test(test_conjugate_directions_find_the_same_sooner),
      cmocka_unit_test(test_iterations_are_counted_and_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
