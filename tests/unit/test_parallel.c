// Parallel loops and reductions: everything once, and the same bits for any number of threads.
#include "base/parallel.h"
#include "support/check.h"
#include "support/random.h"

// ---- Loops ----

typedef struct Visits {
  unsigned char *count;
  int threads, n_bad_threads;
  size_t grain, n_bad_ranges;
} Visits;

static void visit(void *context, size_t begin, size_t end, int thread) {
  Visits *visits = context;
  if (thread < 0 || thread >= visits->threads) visits->n_bad_threads = 1;
  if (begin % visits->grain || end <= begin || end - begin > visits->grain) visits->n_bad_ranges = 1;
  for (size_t k = begin; k < end; ++k) visits->count[k]++;
}

static void test_visits_every_item_once(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 2, 15, 16, 17, 1000, 4096, 4097}, grains[] = {1, 16, 1000, 5000};
  for (size_t n = 0; n < FLO_COUNT_OF(sizes); ++n)
    for (size_t g = 0; g < FLO_COUNT_OF(grains); ++g)
      for (int threads = 1; threads <= 4; ++threads) {
        Visits visits = {calloc(sizes[n] + 1, 1), threads, 0, grains[g], 0};
        flo_parallel_for(threads, sizes[n], grains[g], visit, &visits);
        for (size_t k = 0; k < sizes[n]; ++k) assert_int_equal(visits.count[k], 1);
        assert_int_equal(visits.n_bad_threads, 0);
        assert_int_equal(visits.n_bad_ranges, 0);
        free(visits.count);
      }
}

static void test_grain_cuts_into_few_large_chunks(void **state) {
  (void)state;
  for (size_t n = 1; n < 100000000; n = n * 3 / 2 + 1) {
    size_t grain = flo_parallel_grain(n);
    assert_int_equal(grain % 16, 0);
    assert_true(grain >= 1024);
    assert_true((n + grain - 1) / grain <= FLO_MAX_CHUNKS);
  }
  assert_true(flo_parallel_grain(0) > 0);
}

static void test_there_is_at_least_one_thread(void **state) {
  (void)state;
  assert_true(flo_parallel_default_threads() >= 1);
}

// ---- Reductions ----

static void add_values(const void *context, size_t begin, size_t end, double *sums) {
  const double *values = context;
  for (size_t k = begin; k < end; ++k) sums[0] += values[k], sums[1] += 1;
}

// Values whose sum depends on the order in which they are added.
static double *awkward_values(size_t n) {
  Random random = {7};
  double *values = malloc(n * sizeof *values);
  for (size_t k = 0; k < n; ++k)
    values[k] = random_between(&random, -1, 1) * pow(10, random_between(&random, -8, 8));
  return values;
}

static void test_sums_are_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  enum { N = 100003 };
  double *values = awkward_values(N), one[2], many[2];
  flo_parallel_sum(1, N, add_values, values, 2, one);
  assert_true(one[1] == N);
  long double exact = 0;
  for (size_t k = 0; k < N; ++k) exact += (long double)values[k];
  assert_close(one[0], (double)exact, 1e-2);
  for (int threads = 2; threads <= 8; ++threads) {
    flo_parallel_sum(threads, N, add_values, values, 2, many);
    assert_memory_equal(many, one, sizeof one);
  }
  free(values);
}

static void raise_values(const void *context, size_t begin, size_t end, double *maxima) {
  const double *values = context;
  for (size_t k = begin; k < end; ++k) {
    maxima[0] = fmax(maxima[0], values[k]);
    maxima[1] = fmax(maxima[1], -values[k]);
  }
}

static void test_maxima_are_found_wherever_they_are(void **state) {
  (void)state;
  enum { N = 20000 };
  const size_t places[] = {0, 1023, 1024, 12345, N - 1};
  for (size_t p = 0; p < FLO_COUNT_OF(places); ++p)
    for (int threads = 1; threads <= 3; ++threads) {
      double *values = malloc(N * sizeof *values), maxima[2];
      for (size_t k = 0; k < N; ++k) values[k] = -5 - (double)k;
      values[places[p]] = -2;
      flo_parallel_max(threads, N, raise_values, values, 2, maxima);
      assert_true(maxima[0] == -2);
      assert_true(maxima[1] == (places[p] == N - 1 ? N + 3 : N + 4));
      free(values);
    }
}

static void test_nothing_sums_to_zero_and_has_the_lowest_maximum(void **state) {
  (void)state;
  double sums[2] = {1, 1}, maximum = 0;
  flo_parallel_sum(3, 0, add_values, NULL, 2, sums);
  assert_true(sums[0] == 0 && sums[1] == 0);
  flo_parallel_max(3, 0, raise_values, NULL, 1, &maximum);
  assert_true(maximum == -DBL_MAX);
}

static jmp_buf caught;

static void catch_assertion(const char *condition, const char *file, int line) {
  assert_non_null(strstr(condition, "FLO_MAX_SUMS"));
  assert_non_null(strstr(file, "parallel.c"));
  assert_true(line > 0);
  longjmp(caught, 1);
}

static void test_too_many_sums_are_a_callers_mistake(void **state) {
  (void)state;
  double sums[FLO_MAX_SUMS + 1];
  flo_set_assert_handler(catch_assertion);
  if (setjmp(caught) == 0) {
    flo_parallel_sum(1, 0, add_values, NULL, FLO_MAX_SUMS + 1, sums);
    fail_msg("the assertion handler was not called");
  }
  flo_set_assert_handler(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_visits_every_item_once),
      cmocka_unit_test(test_grain_cuts_into_few_large_chunks),
      cmocka_unit_test(test_there_is_at_least_one_thread),
      cmocka_unit_test(test_sums_are_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(test_maxima_are_found_wherever_they_are),
      cmocka_unit_test(test_nothing_sums_to_zero_and_has_the_lowest_maximum),
      cmocka_unit_test(test_too_many_sums_are_a_callers_mistake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
