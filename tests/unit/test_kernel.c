// Kernels: their constants, shapes, gradients and lattice sums.
#include "sph/kernel_form.h"
#include "support/check.h"
#include "support/reference.h"

// Below this q the viscosity kernel, infinite at the centre, is cut off.
#define CUT_OFF 1e-3

static const double support = 0.04;

typedef void (*KernelCheck)(const FloKernelForm *form, const ReferenceKernel *reference);

static void for_each_kernel(KernelCheck check) {
  for (int kernel = 0; kernel < FLO_KERNEL_COUNT; ++kernel)
    for (int dim = 2; dim <= 3; ++dim) {
      FloKernelForm form = flo_kernel_form((FloKernel)kernel, dim, support);
      ReferenceKernel reference = {(FloKernel)kernel, dim, support};
      check(&form, &reference);
    }
}

static void check_value(const FloKernelForm *form, const ReferenceKernel *reference) {
  double scale = reference_w(reference, 0.1 * support).value;
  for (double q = CUT_OFF; q < 1; q += 0.00037) {
    double exact = reference_w(reference, q * support).value;
    assert_close(flo_kernel_w(form, q * support), exact, 1e-6 * (scale + exact));
  }
}

static void test_value_is_the_printed_formula(void **state) {
  (void)state;
  for_each_kernel(check_value);
}

static double shell(const FloKernelForm *form, const ReferenceKernel *reference, double r) {
  double area = form->dim == 2 ? 2 * FLO_PI * r : 4 * FLO_PI * r * r;
  bool is_cut_off = form->kernel == FLO_KERNEL_VISCOSITY && r < CUT_OFF * support;
  return area * (is_cut_off ? reference_w(reference, r).value : flo_kernel_w(form, r));
}

static void check_integral(const FloKernelForm *form, const ReferenceKernel *reference) {
  enum { N = 40000 };
  double integral = 0, width = support / N;
  for (int k = 0; k < N; ++k) integral += width * shell(form, reference, (k + 0.5) * width);
  assert_close(integral, 1, 1e-4);
}

static void test_integral_is_one(void **state) {
  (void)state;
  for_each_kernel(check_integral);
}

static void check_gradient(const FloKernelForm *form, const ReferenceKernel *reference) {
  const double step = 1e-6 * support, steepest = reference_steepest(reference);
  for (double q = 2 * CUT_OFF; q < 1 - 1e-5; q += 0.00071) {
    double r = q * support;
    double slope =
        (reference_w(reference, r + step).value - reference_w(reference, r - step).value) / (2 * step);
    assert_close(flo_kernel_gradient(form, r) * r, slope, 3e-6 * (steepest - slope));
  }
}

static void test_gradient_is_the_finite_difference_of_the_value(void **state) {
  (void)state;
  for_each_kernel(check_gradient);
}

static void check_signs(const FloKernelForm *form, const ReferenceKernel *reference) {
  (void)reference;
  for (double q = 0; q < 0.995; q += 0.001) {
    assert_true(flo_kernel_w(form, q * support) > 0);
    assert_true(flo_kernel_gradient(form, q * support) <= 0);
    assert_true(isfinite(flo_kernel_gradient(form, q * support)));
  }
  for (double q = 1; q < 3; q += 0.01) {
    assert_true(flo_kernel_w(form, q * support) == 0);
    assert_true(flo_kernel_gradient(form, q * support) == 0);
  }
}

static void test_positive_and_falling_inside_and_zero_outside(void **state) {
  (void)state;
  for_each_kernel(check_signs);
}

static double lattice_sum(const FloKernelForm *form, double spacing, int layers) {
  int reach = (int)ceil(form->support / spacing), reach_z = form->dim == 3 ? reach : 0;
  double sum = 0;
  for (int z = -reach_z; z <= reach_z; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -layers; x <= layers; ++x)
        sum += flo_kernel_w(form, spacing * sqrt(x * x + y * y + z * z));
  return sum * pow(spacing, form->dim);
}

static void test_lattice_sums_of_the_cubic_spline(void **state) {
  (void)state;
  const double s = support / 2;
  FloKernelForm solid = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, support);
  FloKernelForm plane = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 2, support);
  assert_close(lattice_sum(&solid, s, 2), 0.99997, 1e-5);
  assert_close(lattice_sum(&plane, s, 2), 1.00086, 1e-5);
  assert_close(lattice_sum(&solid, s, 0), 0.70060, 1e-5);
}

static void check_sheets(const FloKernelForm *form, const ReferenceKernel *reference) {
  (void)reference;
  const double s = support / 2, volume = pow(s, form->dim);
  double sheet = flo_kernel_sheet_sum(form, s, 0);
  assert_close(sheet * volume, lattice_sum(form, s, 0), 1e-9 * sheet * volume);
  double three = (sheet + 2 * flo_kernel_sheet_sum(form, s, 1)) * volume;
  assert_close(three, lattice_sum(form, s, 1), 1e-9 * three);
  assert_true(flo_kernel_sheet_sum(form, s, 2) == 0);
}

static void test_sheets_add_up_to_the_lattice(void **state) {
  (void)state;
  for_each_kernel(check_sheets);
}

static void test_boundary_gamma_of_one_layer_is_the_sheet_sum(void **state) {
  (void)state;
  FloKernelForm form = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, support);
  assert_close(flo_kernel_boundary_gamma(&form, support / 2, 1), 0.70060, 1e-5);
}

// Fluid on sheets 0, 1, 2, ... above a wall of `layers` sheets, each with the volumes that its own samples
// get.
static double density_at_wall(const FloKernelForm *form, double s, int layers) {
  double fluid = 0, wall = 0;
  for (int k = 0; k < 8; ++k) fluid += flo_kernel_sheet_sum(form, s, k);
  for (int l = 0; l < layers; ++l) {
    double own = 0;
    for (int m = 0; m < layers; ++m) own += flo_kernel_sheet_sum(form, s, m > l ? m - l : l - m);
    wall += flo_kernel_sheet_sum(form, s, l + 1) / own;
  }
  return fluid * pow(s, form->dim) + flo_kernel_boundary_gamma(form, s, layers) * wall;
}

static void check_wall(const FloKernelForm *form, const ReferenceKernel *reference) {
  (void)reference;
  if (form->kernel == FLO_KERNEL_VISCOSITY) return;
  for (double supports = 1.5; supports <= 6; supports += 0.5) {
    double s = support / supports;
    int layers = (int)fmax(ceil(supports) - 1, 1);
    assert_close(density_at_wall(form, s, layers), lattice_sum(form, s, 8), 1e-6);
  }
}

static void test_fluid_next_to_a_wall_has_the_lattice_density(void **state) {
  (void)state;
  for_each_kernel(check_wall);
}

// With its default support every kernel that can give densities starts a lattice near its rest density.
static void test_default_supports_fit_a_lattice(void **state) {
  (void)state;
  const FloKernel kernels[] = {FLO_KERNEL_CUBIC_SPLINE, FLO_KERNEL_WENDLAND_C2, FLO_KERNEL_WENDLAND_C4,
                               FLO_KERNEL_QUINTIC};
  for (size_t k = 0; k < FLO_COUNT_OF(kernels); ++k)
    for (int dim = 2; dim <= 3; ++dim) {
      FloKernelForm form = flo_kernel_form(kernels[k], dim, flo_kernel_default_support(kernels[k]));
      assert_close(lattice_sum(&form, 1, 8), 1, 0.01);
    }
}

static void test_names_are_known_both_ways(void **state) {
  (void)state;
  FloKernel kernel = FLO_KERNEL_COUNT;
  for (int k = 0; k < FLO_KERNEL_COUNT; ++k) {
    assert_true(flo_kernel_from_name(flo_kernel_name((FloKernel)k), &kernel));
    assert_int_equal(kernel, k);
  }
  assert_false(flo_kernel_from_name("cubic", &kernel));
  assert_false(flo_kernel_from_name("", &kernel));
  assert_null(flo_kernel_name(FLO_KERNEL_COUNT));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_value_is_the_printed_formula),
      cmocka_unit_test(test_integral_is_one),
      cmocka_unit_test(test_gradient_is_the_finite_difference_of_the_value),
      cmocka_unit_test(test_positive_and_falling_inside_and_zero_outside),
      cmocka_unit_test(test_lattice_sums_of_the_cubic_spline),
      cmocka_unit_test(test_sheets_add_up_to_the_lattice),
      cmocka_unit_test(test_boundary_gamma_of_one_layer_is_the_sheet_sum),
      cmocka_unit_test(test_fluid_next_to_a_wall_has_the_lattice_density),
      cmocka_unit_test(test_default_supports_fit_a_lattice),
      cmocka_unit_test(test_names_are_known_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
