// Elastic solids of particles: forces against the energy, beams and flags against theory with 8, 16 and 32
// particles across, free spin, and the mode that linear deformations do not see.
#include "soft/rotation.h"
#include "support/particle_solids.h"
#include "support/reference_file.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

static bool is_full(void) { return getenv("FLOTSAM_FULL") != NULL; }

// ---- Forces ----

static double random_number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0 - 0.5;
}

static void make_block(SoftTest *t, int dim, int n, double size) {
  if (dim == 2)
    soft_test_grid(t, n, n, DIAGONALS_SAME);
  else
    soft_test_bricks(t, n, n, n);
  soft_test_scale(t, size, size, size);
}

static void turn_points(FloSoft *soft, const double axis[3], double angle) {
  double q[4];
  quat_from_axis_angle(axis, angle, q);
  for (size_t k = 0; k < flo_soft_count(soft); ++k)
    quat_rotate(q, flo_soft_positions(soft) + 3 * k, flo_soft_positions(soft) + 3 * k);
}

static double largest_force(const FloSoft *soft) {
  double most = 0;
  for (size_t k = 0; k < flo_soft_count(soft); ++k)
    most = fmax(most, vec_length(soft->particles->forces + 3 * k));
  return most;
}

static void check_rigid(int dim, FloElasticForm form, double allowed) {
  const double size = 0.3, axis[3] = {dim == 3 ? 1 : 0, dim == 3 ? 2 : 0, 3};
  SoftTest t;
  make_block(&t, dim, 6, size);
  FloSoft *soft =
      particles_in_box(&t, dim, size / 6, 800, &(FloElasticDef){.young = 1e5, .poisson = 0.3, .form = form});
  for (int k = 0; k < 7; ++k) {
    turn_points(soft, axis, 0.9);
    flo_particles_push(soft->particles, soft->x, soft->v, 1);
    assert_true(largest_force(soft) < allowed * 1e5 * size * (dim == 3 ? size : 1));
  }
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
}

static void test_rigid_motion(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    check_rigid(dim, FLO_ELASTIC_PARTICLES, 1e-13), check_rigid(dim, FLO_ELASTIC_PLAIN_PARTICLES, 1e-13);
}

// Forces are the slope of the energy, add up to zero and have no torque, however deformed the body is.
static void check_slope(int dim, double chaos) {
  const double size = 0.3, step = 1e-6;
  SoftTest t;
  uint32_t seed = 7;
  double sum[3] = {0}, torque[3] = {0}, worst = 0;
  make_block(&t, dim, 4, size);
  FloSoft *soft = particles_in_box(&t, dim, size / 4, 800, &(FloElasticDef){.young = 1e5, .poisson = 0.4});
  for (size_t k = 0; k < 3 * soft->n; ++k)
    if (dim == 3 || k % 3 < 2) soft->x[k] += chaos * size / 4 * random_number(&seed);
  turn_points(soft, (double[]){dim == 3, 0, 1}, 1);
  flo_particles_push(soft->particles, soft->x, soft->v, 1);
  const double most = largest_force(soft);
  for (size_t k = 0; k < 3 * soft->n; ++k) {
    if (dim == 2 && k % 3 == 2) continue;
    const double x = soft->x[k];
    soft->x[k] = x + step;
    const double above = flo_soft_energy(soft);
    soft->x[k] = x - step;
    const double below = flo_soft_energy(soft);
    soft->x[k] = x;
    worst = fmax(worst, fabs((below - above) / (2 * step) - soft->particles->forces[k]));
  }
  for (size_t k = 0; k < soft->n; ++k) {
    double turn[3];
    vec_cross(soft->x + 3 * k, soft->particles->forces + 3 * k, turn);
    vec_add(torque, turn, torque), vec_add(sum, soft->particles->forces + 3 * k, sum);
  }
  print_message("%dD, displacements of %g cells: error of forces %.1e, sum %.1e, torque %.1e\n", dim, chaos,
                worst / most, vec_length(sum) / most, vec_length(torque) / most);
  assert_true(worst < 1e-6 * most && vec_length(sum) < 1e-12 * most && vec_length(torque) < 1e-12 * most);
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
}

static void test_slope(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) check_slope(dim, 0.1), check_slope(dim, 0.6);
}

// ---- Beams at rest ----

// Result over that of Timoshenko's beam; see test_soft_solids.c for the clamp.
static double bend_beam(int n, double ratio, FloElasticForm form) {
  const double young = 1e6, g = 0.01, nu = 0.3;
  SoftTest t;
  soft_test_grid(&t, (int)(ratio * n), n, DIAGONALS_SAME), soft_test_scale(&t, ratio, 1, 1);
  FloElasticDef elastic = {.young = young, .poisson = nu, .form = form};
  soft_test_make_solid(&t, 2, 1, &elastic);
  FloSoft *soft = particles_in_box(&t, 2, 1.0 / n, 1, &elastic);
  size_t tip = 0;
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    const bool is_middle = fabs(p[1] - 0.5) < 1e-9;
    if (p[0] < 1e-9) flo_soft_hold(t.soft, i, (bool[]){1, is_middle, 0});
    if (p[0] > ratio - 1e-9 && is_middle) tip = i;
  }
  const int count = particles_settle_under_gravity(soft, &t, (double[]){0, -g, 0}, 1e-7);
  const double drop = 0.5 - soft->x[3 * tip + 1], bend = young / 12 / (1 - nu * nu);
  const double shear = young / (2 * (1 + nu)) * 5 / 6;
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
  assert_true(count < 80);
  return drop / (g * pow(ratio, 4) / (8 * bend) + g * ratio * ratio / (2 * shear));
}

static const int across[] = {8, 16, 32};
static const double limits[] = {0.12, 0.04, 0.02};
static int n_levels(void) { return is_full() ? 3 : 2; }

static void test_beams(void **state) {
  (void)state;
  for (int k = 0; k < n_levels(); ++k) {
    const double sag = bend_beam(across[k], 5, FLO_ELASTIC_PARTICLES);
    print_message("beam 5 : 1, %d particles across: sag %+.2f %%\n", across[k], 100 * (sag - 1));
    assert_close(sag, 1, limits[k]);
    if (k > 0 && !is_full()) continue;
    const double long_one = bend_beam(across[k], 10, FLO_ELASTIC_PARTICLES);
    print_message("beam 10 : 1, %d particles across: sag %+.2f %%\n", across[k], 100 * (long_one - 1));
    assert_close(long_one, 1, limits[k]);
  }
  if (is_full())
    print_message("the paper's form, 8 across, 5 : 1: %+.1f %%\n",
                  100 * (bend_beam(8, 5, FLO_ELASTIC_PLAIN_PARTICLES) - 1));
}

// ---- Turek and Hron's flag ----

static void hang_flag(int n, double mu, double tip[2]) {
  const double nu = 0.4;
  SoftTest t;
  // As wide as the flag is in its middle, and clamped where the cylinder ends.
  soft_test_grid(&t, 35 * n / 2, n, DIAGONALS_SAME);
  soft_test_scale(&t, 0.35, 0.02, 1);
  FloElasticDef elastic = {.young = 2 * mu * (1 + nu), .poisson = nu};
  soft_test_make_solid(&t, 2, 1000, &elastic);
  FloSoft *soft = particles_in_box(&t, 2, 0.02 / n, 1000, &elastic);
  for (int k = 0; k <= n; ++k) flo_soft_fix(t.soft, (size_t)k, true);
  const int count = particles_settle_under_gravity(soft, &t, (double[]){0, -2, 0}, 1e-7);
  assert_true(count < 80);
  for (size_t i = 0; i < t.n_points; ++i)
    if (fabs(t.points[3 * i] - 0.35) < 1e-9 && fabs(t.points[3 * i + 1] - 0.01) < 1e-9)
      tip[0] = 1000 * (soft->x[3 * i] - 0.35), tip[1] = 1000 * (soft->x[3 * i + 1] - 0.01);
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
}

static void test_flag(void **state) {
  (void)state;
  const char *turek = "turek_hron_2006_benchmark_values.csv";
  reference_need(turek);
  static const double shear[] = {0.5e6, 2e6};
  static const char *const lines[][2] = {{"CSM1,steady,ux_A_mm", "CSM1,steady,uy_A_mm"},
                                         {"CSM2,steady,ux_A_mm", "CSM2,steady,uy_A_mm"}};
  for (int which = 0; which < 2; ++which)
    for (int k = 0; k < (which == 0 || is_full() ? n_levels() : 1); ++k) {
      double tip[2] = {0}, wanted[2];
      hang_flag(across[k], shear[which], tip);
      for (int axis = 0; axis < 2; ++axis) wanted[axis] = reference_number(turek, lines[which][axis], 3);
      print_message("CSM%d, %d particles across: ux %+.2f %%, uy %+.2f %%\n", which + 1, across[k],
                    100 * (tip[0] / wanted[0] - 1), 100 * (tip[1] / wanted[1] - 1));
      assert_close(tip[1], wanted[1], limits[k] * fabs(wanted[1]));
    }
}

// ---- Oscillation ----

// Period of the first bending mode of a free beam, whose middle is at rest in the mean, over theory:
// Euler and Bernoulli's, which for a length of 20 heights is too short by a few per mille.
static double swing(int n) {
  const double length = 0.2, height = 0.01, young = 2e6, nu = 0.3, rho = 1000;
  SoftTest t;
  soft_test_grid(&t, 20 * n, n, DIAGONALS_SAME), soft_test_scale(&t, length, height, 1);
  FloSoft *soft = particles_in_box(&t, 2, height / n, rho, &(FloElasticDef){.young = young, .poisson = nu});
  const double kl = 4.730040745, k = kl / length, ratio = (cosh(kl) - cos(kl)) / (sinh(kl) - sin(kl));
  const double theory = 2 * PI / (k * k * sqrt(young / (1 - nu * nu) * height * height / (12 * rho)));
  for (size_t i = 0; i < soft->n; ++i) {
    const double x = k * soft->x[3 * i];
    soft->v[3 * i + 1] = 0.01 * (cosh(x) + cos(x) - ratio * (sinh(x) + sin(x)));
  }
  double before = 0, half = 0;
  const double dt = theory / 200;
  for (int step = 1; half == 0 && step < 1000; ++step) {
    particles_step(soft, dt);
    const double now = soft->x[1] - soft->x[3 * (size_t)(10 * n * (n + 1)) + 1]; // an end against the middle
    if (step > 20 && now * before <= 0) half = dt * (step - now / (now - before));
    before = now;
  }
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
  return 2 * half / theory;
}

static void test_oscillation(void **state) {
  (void)state;
  for (int k = 0; k < n_levels(); ++k) {
    const double period = swing(across[k]);
    print_message("free beam 20 : 1, %d particles across: period %+.2f %%\n", across[k], 100 * (period - 1));
    assert_close(period, 1, limits[k]);
  }
}

// ---- Free spin ----

static double spin_of(const FloSoft *soft, double centre[3]) {
  double sum = 0;
  for (size_t k = 0; k < soft->n; ++k) {
    double turn[3];
    vec_cross(soft->x + 3 * k, soft->v + 3 * k, turn);
    vec_add_scaled(centre, soft->x + 3 * k, soft->mass[k], centre);
    sum += soft->mass[k] * turn[2];
  }
  return sum;
}

static double kinetic_energy(const FloSoft *soft) {
  double sum = 0;
  for (size_t k = 0; k < soft->n; ++k) sum += soft->mass[k] * vec_dot(soft->v + 3 * k, soft->v + 3 * k) / 2;
  return sum;
}

static void check_spin(int dim, double omega, double dt) {
  const double size = 0.2;
  SoftTest t;
  make_block(&t, dim, 8, size);
  FloSoft *soft = particles_in_box(&t, dim, size / 8, 1000,
                                   &(FloElasticDef){.young = 1e5, .poisson = 0.3, .damping = 1e-4});
  double start[3] = {0}, end[3] = {0}, most = 0, least = INFINITY;
  for (size_t k = 0; k < soft->n; ++k) {
    double *x = soft->x + 3 * k;
    for (int axis = 0; axis < dim; ++axis) x[axis] -= size / 2;
    vec_set(soft->v + 3 * k, -omega * x[1], omega * x[0], 0);
  }
  const double spin = spin_of(soft, start), turns = is_full() || dim == 2 ? 20 : 2;
  const double settled = 4 * PI / omega; // the body widens, and its sound dies away in two turns
  double time = 0;
  for (; time < settled; time += dt) particles_step(soft, dt);
  for (time = 0; time < turns * 2 * PI / omega; time += dt) {
    particles_step(soft, dt);
    const double energy = kinetic_energy(soft) + flo_soft_energy(soft);
    most = fmax(most, energy), least = fmin(least, energy);
  }
  const double change = spin_of(soft, end) / spin - 1;
  print_message(
      "%dD, spin %g/s, steps of %g ms, %g turns: energy between %.6f and 1, spin %+.1e, centre %.1e\n", dim,
      omega, 1000 * dt, turns, least / most, change, vec_length(end));
  assert_true(least / most > 1 - 1e-4 && fabs(change) < 1e-12);
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
}

static void test_spin(void **state) {
  (void)state;
  check_spin(2, 10, 1e-3), check_spin(2, 10, 4e-3);
  check_spin(3, 10, 1e-3);
}

// ---- The mode that linear deformations do not see ----

static void check_checkerboard(int dim) {
  const int n = 8;
  const double size = 0.2, cell = size / n;
  SoftTest t;
  make_block(&t, dim, n, size);
  FloSoft *soft = particles_in_box(&t, dim, cell, 1000, &(FloElasticDef){.young = 1e5, .poisson = 0.3});
  for (size_t k = 0; k < soft->n; ++k) {
    int sum = 0;
    for (size_t axis = 0; axis < (size_t)dim; ++axis) sum += (int)lround(soft->x[3 * k + axis] / cell);
    soft->x[3 * k] += (sum % 2 ? 0.05 : -0.05) * cell;
  }
  const double start = flo_soft_energy(soft), sound = sqrt(1e5 * 1.35 / 1000);
  const double dt = 0.4 * cell / sound;
  for (int k = 0; k < 1000; ++k) particles_step(soft, dt);
  const double rest = (kinetic_energy(soft) + flo_soft_energy(soft)) / start;
  print_message("%dD, checkerboard: energy %.3g J, after %.0f ms %.1e of it\n", dim, start, 1e6 * dt, rest);
  assert_true(start > 0 && rest < 1e-3);
  flo_soft_destroy(soft, &t.memory);
  soft_test_free(&t);
}

static void test_checkerboard(void **state) {
  (void)state;
  check_checkerboard(2), check_checkerboard(3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_motion), cmocka_unit_test(test_slope),       cmocka_unit_test(test_beams),
      cmocka_unit_test(test_flag),         cmocka_unit_test(test_oscillation), cmocka_unit_test(test_spin),
      cmocka_unit_test(test_checkerboard),
  };
  return cmocka_run_group_tests_name("particle solids", tests, NULL, NULL);
}
