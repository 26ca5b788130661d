// Radix sort: order, stability, every size and number of bits, any number of threads.
#include "sph/radix.h"
#include "support/check.h"
#include "support/random.h"

typedef struct Arrays {
  size_t n;
  uint64_t *original, *keys;
  uint32_t *values;
} Arrays;

// Keys of `n_bits` bits, of at most `n_kinds` different values (0: as they come); values number them.
static Arrays make_arrays(size_t n, int n_bits, uint32_t n_kinds) {
  Random random = {n * 131 + (uint64_t)n_bits};
  uint64_t mask = n_bits == 64 ? UINT64_MAX : ((uint64_t)1 << n_bits) - 1;
  uint64_t kinds[16];
  for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) kinds[k] = random_bits(&random) & mask;
  Arrays a = {n, malloc(n * 8 + 1), malloc(n * 8 + 1), malloc(n * 4 + 1)};
  for (size_t k = 0; k < n; ++k) {
    a.keys[k] = n_kinds ? kinds[random_below(&random, n_kinds)] : random_bits(&random) & mask;
    a.original[k] = a.keys[k];
    a.values[k] = (uint32_t)k;
  }
  return a;
}

static void free_arrays(Arrays *a) { free(a->original), free(a->keys), free(a->values); }

static void sort(Arrays *a, int n_bits, int threads) {
  void *scratch = malloc(flo_radix_scratch(a->n));
  flo_radix_sort(a->keys, a->values, a->n, n_bits, scratch, threads);
  free(scratch);
}

// Rising keys, companions that stayed with them, and rising companions among equal keys: that is a stable
// sort.
static void check_sorted(const Arrays *a) {
  for (size_t k = 0; k < a->n; ++k) {
    assert_true(a->values[k] < a->n);
    assert_true(a->keys[k] == a->original[a->values[k]]);
    if (k == 0) continue;
    assert_true(a->keys[k - 1] <= a->keys[k]);
    if (a->keys[k - 1] == a->keys[k]) assert_true(a->values[k - 1] < a->values[k]);
  }
}

static const size_t counts[] = {0, 1, 2, 3, 7, 16, 17, 255, 1000, 4097, 30011};
static const int bit_counts[] = {1, 10, 11, 12, 22, 23, 33, 44, 45, 55, 56, 63, 64};

static void check_every_size(uint32_t n_kinds) {
  for (size_t c = 0; c < FLO_COUNT_OF(counts); ++c)
    for (size_t b = 0; b < FLO_COUNT_OF(bit_counts); ++b) {
      Arrays a = make_arrays(counts[c], bit_counts[b], n_kinds);
      sort(&a, bit_counts[b], 1 + (int)(b % 3));
      check_sorted(&a);
      free_arrays(&a);
    }
}

static void test_sorts_random_keys(void **state) {
  (void)state;
  check_every_size(0);
}

static void test_is_stable_among_equal_keys(void **state) {
  (void)state;
  check_every_size(3);
}

static void test_no_bits_leave_the_order_alone(void **state) {
  (void)state;
  Arrays a = make_arrays(1000, 0, 0);
  sort(&a, 0, 2);
  for (uint32_t k = 0; k < 1000; ++k) assert_int_equal(a.values[k], k);
  free_arrays(&a);
}

static void test_extremes_of_64_bits(void **state) {
  (void)state;
  uint64_t keys[] = {UINT64_MAX, 0, (uint64_t)1 << 63, 1, UINT64_MAX - 1, (uint64_t)1 << 63, 0};
  const uint32_t expected[] = {1, 6, 3, 2, 5, 4, 0};
  uint32_t values[] = {0, 1, 2, 3, 4, 5, 6};
  void *scratch = malloc(flo_radix_scratch(7));
  flo_radix_sort(keys, values, 7, 64, scratch, 2);
  assert_memory_equal(values, expected, sizeof values);
  free(scratch);
}

static void test_any_number_of_threads_gives_the_same(void **state) {
  (void)state;
  enum { N = 50021 };
  Arrays one = make_arrays(N, 40, 0);
  sort(&one, 40, 1);
  const int threads[] = {2, 3, 8};
  for (size_t t = 0; t < FLO_COUNT_OF(threads); ++t) {
    Arrays many = make_arrays(N, 40, 0);
    sort(&many, 40, threads[t]);
    assert_memory_equal(many.keys, one.keys, N * 8);
    assert_memory_equal(many.values, one.values, N * 4);
    free_arrays(&many);
  }
  free_arrays(&one);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sorts_random_keys),
      cmocka_unit_test(test_is_stable_among_equal_keys),
      cmocka_unit_test(test_no_bits_leave_the_order_alone),
      cmocka_unit_test(test_extremes_of_64_bits),
      cmocka_unit_test(test_any_number_of_threads_gives_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
