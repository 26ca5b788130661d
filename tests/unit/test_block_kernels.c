// Products of tiles and strips by each instruction set, against plain sums.
#include "solve/block_kernels.h"
#include "sph/passes.h"
#include "support/check.h"
#include "support/random.h"

enum { SIDE = FLO_TILE_SIDE, MOST = 41 };

typedef struct Strips {
  double a[MOST * SIDE], b[MOST * SIDE], tile[FLO_TILE_NUMBERS], x[MOST];
  float single[MOST * SIDE];
} Strips;

static void fill(double *numbers, size_t n, Random *random) {
  for (size_t i = 0; i < n; ++i) numbers[i] = random_between(random, -1, 1);
}

static Strips make(uint64_t seed) {
  Random random = {seed};
  Strips s;
  fill(s.a, MOST * SIDE, &random), fill(s.b, MOST * SIDE, &random);
  fill(s.tile, FLO_TILE_NUMBERS, &random), fill(s.x, MOST, &random);
  for (size_t i = 0; i < MOST * SIDE; ++i) s.single[i] = (float)s.a[i];
  return s;
}

static void check_product(const FloTileKernels *kernels, size_t n) {
  const Strips s = make(n + 1);
  double c[FLO_TILE_NUMBERS];
  memcpy(c, s.tile, sizeof c);
  kernels->subtract_product(s.a, s.b, n, c);
  for (size_t j = 0; j < SIDE; ++j)
    for (size_t i = 0; i < SIDE; ++i) {
      double expected = s.tile[j * SIDE + i];
      for (size_t p = 0; p < n; ++p) expected -= s.a[p * SIDE + i] * s.b[p * SIDE + j];
      assert_close(c[j * SIDE + i], expected, 1e-13);
    }
}

static void check_vectors(const FloTileKernels *kernels, size_t n) {
  const Strips s = make(n + 1);
  double forward[2][SIDE] = {{0}}, backward[2][4 * MOST] = {{0}};
  kernels->add_forward(s.a, n, s.x, forward[0]);
  kernels->add_forward_single(s.single, n, s.x, forward[1]);
  kernels->add_backward(s.a, n, s.b, backward[0]);
  kernels->add_backward_single(s.single, n, s.b, backward[1]);
  for (int k = 0; k < 2; ++k) {
    for (size_t i = 0; i < SIDE; ++i) {
      double expected = 0;
      for (size_t p = 0; p < n; ++p) expected += (k ? s.single[p * SIDE + i] : s.a[p * SIDE + i]) * s.x[p];
      assert_close(forward[k][i], expected, 1e-13);
    }
    for (size_t p = 0; p < MOST; ++p) {
      double expected = 0, *sums = &backward[k][4 * p];
      for (size_t i = 0; p < n && i < SIDE; ++i)
        expected += (k ? s.single[p * SIDE + i] : s.a[p * SIDE + i]) * s.b[i];
      assert_close(sums[0] + sums[1] + sums[2] + sums[3], expected, 1e-13);
    }
  }
}

static void check_inverse(const FloTileKernels *kernels) {
  Strips s = make(3);
  double product[FLO_TILE_NUMBERS];
  memcpy(product, s.tile, sizeof product);
  for (size_t p = 0; p < SIDE; ++p)
    for (size_t j = 0; j < p; ++j) s.b[p * SIDE + j] = 0; // lower triangular
  kernels->apply_inverse(s.b, product);
  for (size_t j = 0; j < SIDE; ++j)
    for (size_t i = 0; i < SIDE; ++i) {
      double expected = 0;
      for (size_t p = 0; p <= j; ++p) expected += s.tile[p * SIDE + i] * s.b[p * SIDE + j];
      assert_close(product[j * SIDE + i], expected, 1e-13);
    }
}

static void products_equal_plain_sums(void **state) {
  (void)state;
  const FloTileKernels *all[] = {flo_tile_kernels(), flo_tile_kernels_generic()};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k) {
    for (size_t n = 0; n <= MOST; ++n) check_product(all[k], n), check_vectors(all[k], n);
    check_inverse(all[k]);
  }
}

static void the_best_instruction_set_is_chosen(void **state) {
  (void)state;
#ifdef FLO_HAS_AVX2
  if (flo_simd_is_avx2()) {
    assert_ptr_equal(flo_tile_kernels(), flo_tile_kernels_avx2());
    return;
  }
#endif
  assert_ptr_equal(flo_tile_kernels(), flo_tile_kernels_generic());
}

// The inverse W of the factor of T has W T W^T = 1.
static void the_inverse_of_a_factor_undoes_the_tile(void **state) {
  (void)state;
  Strips s = make(4);
  double t[SIDE][SIDE], w[FLO_TILE_NUMBERS];
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) {
      t[i][j] = i == j;
      for (int p = 0; p < SIDE; ++p) t[i][j] += s.a[p * SIDE + i] * s.a[p * SIDE + j];
      w[j * SIDE + i] = t[i][j];
    }
  assert_true(flo_tile_invert_factor(w));
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) {
      double sum = 0;
      for (int p = 0; p < SIDE; ++p)
        for (int q = 0; q < SIDE; ++q) sum += w[p * SIDE + i] * t[p][q] * w[q * SIDE + j];
      assert_close(sum, i == j, 1e-13);
      if (i < j) assert_true(w[j * SIDE + i] == 0);
    }
}

static void a_tile_that_is_not_positive_definite_is_reported(void **state) {
  (void)state;
  const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k)
    for (int at = 0; at < SIDE; ++at) {
      double tile[FLO_TILE_NUMBERS] = {0};
      for (int i = 0; i < SIDE; ++i) tile[i * (SIDE + 1)] = i == at ? bad[k] : 1;
      assert_false(flo_tile_invert_factor(tile));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_equal_plain_sums),
      cmocka_unit_test(the_best_instruction_set_is_chosen),
      cmocka_unit_test(the_inverse_of_a_factor_undoes_the_tile),
      cmocka_unit_test(a_tile_that_is_not_positive_definite_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
