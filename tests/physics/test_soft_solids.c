// Elastic solids against theory: bending bars of any Poisson ratio, Turek and Hron's flag, oscillating
// plates. Each case runs with at least two meshes. Limits: 3 % of theory, and 1 % between the two finest
// meshes.
#include "support/reference_file.h"
#include "support/soft_bodies.h"

static const double LIMIT = 0.03, AGREE = 0.01;

static void check_pair(const char *what, double coarse, double fine, double wanted) {
  print_message("%s: %+.2f %%, finer %+.2f %%\n", what, 100 * (coarse / wanted - 1),
                100 * (fine / wanted - 1));
  assert_close(coarse, wanted, LIMIT * fabs(wanted));
  assert_close(fine, wanted, LIMIT * fabs(wanted));
  assert_close(coarse, fine, AGREE * fabs(wanted));
}

// ---- Bars under their weight ----

// A cantilever of length 10 and height 1 that bends little; in space it is also 1 wide and free to narrow.
// The clamp holds x everywhere and the height in the middle, as theory has it. Result over that of
// Timoshenko's beam.
static double bend_bar(int dim, int n, double poisson, double share) {
  SoftTest t;
  const double length = 10, young = 1e6, g = 0.01;
  size_t up = dim == 2 ? 1 : 2;
  if (dim == 2)
    soft_test_grid(&t, 10 * n, n, DIAGONALS_SAME), soft_test_scale(&t, length, 1, 1);
  else
    soft_test_bricks(&t, (int)(10 * n * share), (int)(n * share), n), soft_test_scale(&t, length, 1, 1);
  soft_test_make_solid(&t, dim, 1, &(FloElasticDef){.young = young, .poisson = poisson});
  size_t tip = 0;
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    bool is_middle = fabs(p[up] - 0.5) < 1e-9;
    if (p[0] < 1e-9)
      flo_soft_hold(t.soft, i, (bool[]){1, dim == 2 ? is_middle : p[1] < 1e-9, dim == 3 && is_middle});
    if (p[0] > length - 1e-9 && is_middle) tip = i;
  }
  double down[3] = {0};
  down[up] = -g;
  soft_test_settle_under_gravity(&t, down, 1000);
  double drop = 0.5 - soft_test_at(&t, tip)[up], bend = young / 12 / (dim == 2 ? 1 - poisson * poisson : 1);
  double shear = young / (2 * (1 + poisson)) * 5 / 6;
  soft_test_free(&t);
  return drop / (g * pow(length, 4) / (8 * bend) + g * length * length / (2 * shear));
}

static void test_bars(void **state) {
  (void)state;
  static const double ratios[] = {0, 0.3, 0.45, 0.49};
  for (size_t k = 0; k < FLO_COUNT_OF(ratios); ++k) {
    print_message("flat bar, Poisson %g ", ratios[k]);
    check_pair("drop", bend_bar(2, 6, ratios[k], 1), bend_bar(2, 8, ratios[k], 1), 1);
    print_message("bar in space, Poisson %g ", ratios[k]);
    check_pair("drop", bend_bar(3, 4, ratios[k], 0.75), bend_bar(3, 4, ratios[k], 1), 1);
  }
}

// ---- Turek and Hron's flag ----

typedef struct Tip {
  double x, y;
} Tip;

// The flag begins at the back of the cylinder: centre (0.2, 0), radius 0.05.
static Tip hang_flag(int n, Diagonals diagonals, double mu) {
  SoftTest t;
  const double poisson = 0.4;
  soft_test_grid(&t, 35 * n / 2, n, diagonals);
  for (size_t i = 0; i < t.n_points; ++i) {
    double *p = t.points + 3 * i, y = 0.02 * (p[1] - 0.5), start = 0.2 + sqrt(0.05 * 0.05 - y * y);
    p[0] = start + p[0] * (0.6 - start), p[1] = y;
  }
  soft_test_make_solid(&t, 2, 1000, &(FloElasticDef){.young = 2 * mu * (1 + poisson), .poisson = poisson});
  for (int k = 0; k <= n; ++k) flo_soft_fix(t.soft, (size_t)k, true);
  soft_test_settle_under_gravity(&t, (double[]){0, -2, 0}, 100);
  Tip tip = {0};
  for (size_t i = 0; i < t.n_points; ++i)
    if (fabs(t.points[3 * i] - 0.6) < 1e-9 && fabs(t.points[3 * i + 1]) < 1e-9)
      tip = (Tip){1000 * (soft_test_at(&t, i)[0] - 0.6), 1000 * soft_test_at(&t, i)[1]};
  soft_test_free(&t);
  return tip;
}

static void test_flag(void **state) {
  (void)state;
  const char *turek = "turek_hron_2006_benchmark_values.csv";
  reference_need(turek);
  static const double shear[] = {0.5e6, 2e6};
  static const char *const lines[][2] = {{"CSM1,steady,ux_A_mm", "CSM1,steady,uy_A_mm"},
                                         {"CSM2,steady,ux_A_mm", "CSM2,steady,uy_A_mm"}};
  for (int k = 0; k < 2; ++k)
    for (int crossed = 0; crossed < 2; ++crossed) {
      Diagonals diagonals = crossed ? DIAGONALS_CROSSED : DIAGONALS_SAME;
      Tip coarse = hang_flag(4, diagonals, shear[k]), fine = hang_flag(6, diagonals, shear[k]);
      print_message("CSM%d, %s ", k + 1, crossed ? "crossed" : "same diagonals");
      check_pair("ux", coarse.x, fine.x, reference_number(turek, lines[k][0], 3));
      check_pair("uy", coarse.y, fine.y, reference_number(turek, lines[k][1], 3));
    }
}

// ---- Oscillations ----

// Speed of the first mode of a cantilever of length 0.2 at x, with a tip speed of about one.
static double mode_at(double x) {
  const double k = 1.875104 / 0.2, kl = 1.875104;
  double m = sin(kl) + sinh(kl), n = cos(kl) + cosh(kl), q = 2 * (cos(kl) * sinh(kl) - sin(kl) * cosh(kl));
  return (m * (cos(k * x) - cosh(k * x)) - n * (sin(k * x) - sinh(k * x))) / q;
}

// Time from the kick until the tip is back, which is half a period.
static double half_period(SoftTest *t, size_t tip, size_t up, double dt) {
  double rest = soft_test_at(t, tip)[up], before = 0;
  for (int k = 1; k < 10000; ++k) {
    soft_test_step(t, dt);
    double now = soft_test_at(t, tip)[up] - rest;
    if (k > 5 && now * before <= 0) return dt * (k - now / (now - before));
    before = now;
  }
  return 0;
}

static double swing(SoftTest *t, size_t up, double dt) {
  size_t tip = 0;
  for (size_t i = 0; i < t->n_points; ++i) {
    double x = t->points[3 * i];
    flo_soft_fix(t->soft, i, x < 1e-9);
    if (x > 1e-9) flo_soft_velocities(t->soft)[3 * i + up] = 0.02 * mode_at(x);
    if (x > 0.2 - 1e-9) tip = i;
  }
  double period = 2 * half_period(t, tip, up, dt);
  soft_test_free(t);
  return period;
}

static const double density = 1000, young = 2e6, plate_poisson = 0.3975, thickness = 0.01;

static double swing_solid(int n, double dt) {
  SoftTest t;
  soft_test_grid(&t, 20 * n, n, DIAGONALS_SAME);
  soft_test_scale(&t, 0.2, thickness, 1);
  soft_test_make_solid(&t, 2, density, &(FloElasticDef){.young = young, .poisson = plate_poisson});
  return swing(&t, 1, dt);
}

static const FloClothDef plate = {.areal_density = 10, .young = 2e6, .thickness = 0.01, .poisson = 0.3975};

static double swing_strand(int n, double dt) {
  SoftTest t;
  soft_test_line(&t, n + 1);
  for (size_t i = 0; i < t.n_points; ++i) t.points[3 * i] = 0.2 * ((double)i - 1) / n;
  soft_test_make_strand(&t, &plate);
  return swing(&t, 1, dt);
}

// Its sides cannot narrow, as in the plane.
static double swing_sheet(int n, double dt) {
  SoftTest t;
  soft_test_grid(&t, n + 1, n / 5, DIAGONALS_ALTERNATE);
  for (size_t i = 0; i < t.n_points; ++i)
    t.points[3 * i] = 0.2 * (t.points[3 * i] * (n + 1) - 1) / n, t.points[3 * i + 1] *= 0.04;
  FloClothDef wide =
      plate; // a wide plate: curvature across is zero, which Poisson's ratio 0 gives a narrow one
  wide.poisson = 0, wide.bend = 2e6 * 1e-6 / 12 / (1 - 0.3975 * 0.3975);
  soft_test_make_cloth(&t, &wide);
  return swing(&t, 2, dt);
}

static void test_oscillations(void **state) {
  (void)state;
  const char *gray = "analytic_oscillating_cantilever_plate_period_gray_2001.csv";
  reference_need(gray);
  double period = reference_number(gray, "0.2,0.01,2000000,0.3975,1", 6);
  check_pair("strand, period", swing_strand(16, 0.002), swing_strand(32, 0.001), period);
  check_pair("sheet, period", swing_sheet(10, 0.002), swing_sheet(20, 0.001), period);
  check_pair("solid, period", swing_solid(4, 0.002), swing_solid(6, 0.001), period);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bars),
      cmocka_unit_test(test_flag),
      cmocka_unit_test(test_oscillations),
  };
  return cmocka_run_group_tests_name("soft solids", tests, NULL, NULL);
}
