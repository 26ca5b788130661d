// The number density of samples against the kernel's definition.
#include "sph/sample_density.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

#include <math.h>

enum { N_SAMPLES = 300, N_POINTS = 200 };

// The cubic spline (Monaghan 1992) with the support H = 2, times H^dim.
static double kernel(double q, int dim) {
  double sigma = dim == 3 ? 1 / FLO_PI : 10 / (7 * FLO_PI);
  if (q >= 2) return 0;
  double w = q < 1 ? 1 - 1.5 * q * q + 0.75 * q * q * q : 0.25 * (2 - q) * (2 - q) * (2 - q);
  return sigma * w * pow(2, dim);
}

typedef struct Points {
  double x[3][N_SAMPLES];
} Points;

static void scatter(Points *p, Random *random, double size, int dim) {
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < N_SAMPLES; ++i) p->x[k][i] = k < dim ? random_between(random, -size, size) : 0;
}

static void check_against_sum(double spacing, int dim, int threads) {
  Random random = {5};
  Points samples, points;
  FloMemory memory;
  FloError error;
  CountingAllocator counter = {0};
  FloAllocator allocator = counting_allocator(&counter);
  FloSampleDensity *density;
  float found[N_POINTS];
  flo_memory_init(&memory, &allocator);
  scatter(&samples, &random, 4 * spacing, dim), scatter(&points, &random, 5 * spacing, dim);
  const double *const at_samples[3] = {samples.x[0], samples.x[1], samples.x[2]};
  const double *const at_points[3] = {points.x[0], points.x[1], points.x[2]};
  assert_ok(flo_sample_density_create(dim, spacing, &memory, &density, &error), &error);
  assert_ok(
      flo_sample_density_at(density, at_samples, N_SAMPLES, at_points, N_POINTS, threads, found, &error),
      &error);
  for (int i = 0; i < N_POINTS; ++i) {
    double sum = 0;
    for (int j = 0; j < N_SAMPLES; ++j) {
      double square = 0;
      for (int k = 0; k < 3; ++k) square += pow(samples.x[k][j] - points.x[k][i], 2);
      sum += kernel(sqrt(square) / spacing, dim);
    }
    assert_true(fabs((double)found[i] - sum) <= 1e-5 * (1 + sum));
  }
  flo_sample_density_destroy(density);
  assert_int_equal(counter.bytes, 0);
}

static void test_it_is_the_sum_of_the_kernel(void **state) {
  (void)state;
  const double spacings[] = {1e-3, 0.1, 7};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k)
    for (int dim = 2; dim <= 3; ++dim)
      for (int threads = 1; threads <= 2; ++threads) check_against_sum(spacings[k], dim, threads);
}

// A sheet of samples one spacing apart has 5.6 at its samples, a line in the plane 2.7.
static void test_a_sheet_and_a_line(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloSampleDensity *density;
  double x[81], y[81], z[81] = {0};
  float found;
  flo_memory_init(&memory, NULL);
  for (int k = 0; k < 81; ++k) x[k] = 0.1 * (k % 9 - 4), y[k] = 0.1 * (k / 9 - 4);
  const double middle[3] = {0, 0, 0};
  const double *const samples[3] = {x, y, z}, *const line[3] = {x, z, z},
                      *const point[3] = {&middle[0], &middle[1], &middle[2]};
  assert_ok(flo_sample_density_create(3, 0.1, &memory, &density, &error), &error);
  assert_ok(flo_sample_density_at(density, samples, 81, point, 1, 1, &found, &error), &error);
  assert_close((double)found, 5.605, 1e-3);
  // Nothing there: the density is zero.
  assert_ok(flo_sample_density_at(density, samples, 0, point, 1, 1, &found, &error), &error);
  assert_true(found == 0);
  flo_sample_density_destroy(density);
  assert_ok(flo_sample_density_create(2, 0.1, &memory, &density, &error), &error);
  assert_ok(flo_sample_density_at(density, line, 9, point, 1, 1, &found, &error), &error);
  assert_close((double)found, 2.728, 1e-3);
  flo_sample_density_destroy(density);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_is_the_sum_of_the_kernel),
      cmocka_unit_test(test_a_sheet_and_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
