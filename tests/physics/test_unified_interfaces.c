// `unified`: surface tension between two fluids, in 2D. Every case prints what it measured. With
// FLOTSAM_FULL=1 more densities and spacings are tried, which takes some minutes.
#include "physics.h"

#include "base/vecmath.h"
#include "support/reference_file.h"

#define METHOD "unified"

// Puts particles of a material on the lattice of a box, where `is_of_it` says so.
static void fill_lattice(FloWorld *world, FloMaterialId material, double s, const int n[2],
                         bool (*is_of_it)(const void *, double x, double y), const void *context,
                         bool wanted) {
  double *points = malloc(3 * (size_t)(n[0] * n[1]) * sizeof *points);
  size_t count = 0;
  FloError error;
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j) {
      const double x = (i + 0.5) * s, y = (j + 0.5) * s;
      if (is_of_it(context, x, y) == wanted) vec_set(points + 3 * count++, x, y, 0);
    }
  must(flo_world_add_particles(world, material, count, points, NULL, &error), &error);
  free(points);
}

// ---- A drop in another fluid, in a square that repeats ----

typedef struct Drop {
  int across;          // particles in its diameter
  double inner, outer; // densities [kg/m^3]
  double viscosity;    // of both [m^2/s]
  double stretch;      // its long half axis over the radius of the circle of the same area; 1: a circle
  FloKernel kernel;
} Drop;

#define RADIUS  0.1 // [m]
#define BOX     (6 * RADIUS)
#define TENSION 1.0 // [N/m]

static bool is_in_drop(const void *context, double x, double y) {
  const Drop *drop = context;
  const double a = RADIUS * drop->stretch, b = RADIUS / drop->stretch;
  return pow((x - BOX / 2) / a, 2) + pow((y - BOX / 2) / b, 2) < 1;
}

static FloWorld *make_drop_with(const Drop *drop, int threads) {
  const double s = 2 * RADIUS / drop->across;
  const int n[2] = {(int)round(BOX / s), (int)round(BOX / s)};
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = 2, def.method = METHOD, def.spacing = s, def.threads = threads, def.kernel = drop->kernel;
  vec_set(def.gravity, 0, 0, 0);
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = BOX;
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "alpha", 0, &error), &error);
  const FloMaterialId inner = add_water(world, drop->inner, drop->viscosity),
                      outer = add_water(world, drop->outer, drop->viscosity);
  must(flo_world_set_interface(world, inner, outer, TENSION, &error), &error);
  fill_lattice(world, inner, s, n, is_in_drop, drop, true);
  fill_lattice(world, outer, s, n, is_in_drop, drop, false);
  return world;
}

static FloWorld *make_drop(const Drop *drop) { return make_drop_with(drop, 1); }

static bool is_inner(const FloWorld *world, const Drop *drop, size_t i) {
  const double s = 2 * RADIUS / drop->across;
  return fabs((double)floats(world, "mass")[i] / (s * s) - drop->inner) < 1e-4 * drop->inner;
}

// Mean pressure well inside less that well outside of a round drop, over the tension over the radius.
static double jump_of(const FloWorld *world) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y");
  const float *p = floats(world, "pressure");
  double sum[2] = {0};
  int n[2] = {0};
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    const double r = hypot(x[i] - BOX / 2, y[i] - BOX / 2);
    if (r < 0.6 * RADIUS) sum[0] += (double)p[i], ++n[0];
    if (r > 1.6 * RADIUS) sum[1] += (double)p[i], ++n[1];
  }
  return (sum[0] / n[0] - sum[1] / n[1]) * RADIUS / TENSION;
}

// Moment of the drop along x less that along y.
static double stretch_of(const FloWorld *world, const Drop *drop) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y");
  double sum = 0, n = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if (is_inner(world, drop, i)) sum += pow(x[i] - BOX / 2, 2) - pow(y[i] - BOX / 2, 2), ++n;
  return sum / n;
}

// Lamb 1932, art. 275, in two dimensions and without viscosity: n (n^2 - 1) tension/((rho + rho') R^3).
static double period_of(const Drop *drop) {
  return 2 * TEST_PI / sqrt(6 * TENSION / ((drop->inner + drop->outer) * pow(RADIUS, 3)));
}

// The mean over the second half of three periods.
static void check_round(const Drop *drop, double limit) {
  const double period = period_of(drop), unit = sqrt(TENSION / (drop->inner * RADIUS));
  FloWorld *world = make_drop(drop);
  double jump = 0, speed = 0;
  int n = 0;
  for (double time = 1.5; time < 3; time += 0.02, ++n) {
    advance(world, time * period);
    jump += jump_of(world), speed += rms_speed(world) / unit;
  }
  print_message(
      "round drop, %d across, %g in %g kg/m3: jump of pressure %.3f of tension/radius, currents %.4f "
      "sqrt(tension/(rho R))\n",
      drop->across, drop->inner, drop->outer, jump / n, speed / n);
  flo_world_destroy(world);
  assert_true(fabs(jump / n - 1) < limit);
  assert_true(speed / n < 0.01);
}

// From the first to the third time at which the drop is round: a whole period.
static void check_swing(const Drop *drop, double limit) {
  const double period = period_of(drop), step = 0.01;
  FloWorld *world = make_drop(drop);
  double times[3] = {0}, last = stretch_of(world, drop);
  int n = 0;
  for (double time = step; n < 3 && time < 2.5; time += step) {
    advance(world, time * period);
    const double now = stretch_of(world, drop);
    if (now * last < 0) times[n++] = time - step * now / (now - last);
    last = now;
  }
  print_message("swinging drop, %d across, %g in %g kg/m3: period %.3f of theory\n", drop->across,
                drop->inner, drop->outer, times[2] - times[0]);
  flo_world_destroy(world);
  assert_int_equal(n, 3);
  assert_true(fabs(times[2] - times[0] - 1) < limit);
}

static void round_drops_have_the_pressure_of_laplace(void **unused) {
  (void)unused;
  check_round(&(Drop){20, 1000, 990, 1e-3, 1, FLO_KERNEL_CUBIC_SPLINE}, 0.03);
  if (is_full()) check_round(&(Drop){20, 1000, 100, 1e-3, 1, FLO_KERNEL_CUBIC_SPLINE}, 0.03);
  if (is_full()) check_round(&(Drop){40, 1000, 100, 1e-3, 1, FLO_KERNEL_CUBIC_SPLINE}, 0.03);
  if (is_full()) check_round(&(Drop){20, 1000, 990, 1e-3, 1, FLO_KERNEL_QUINTIC}, 0.05);
}

static void stretched_drops_swing(void **unused) {
  (void)unused;
  check_swing(&(Drop){20, 1000, 100, 1e-4, 1.2, FLO_KERNEL_CUBIC_SPLINE}, 0.1);
  if (is_full()) check_swing(&(Drop){20, 1000, 990, 1e-4, 1.2, FLO_KERNEL_QUINTIC}, 0.1);
  if (is_full()) check_swing(&(Drop){40, 1000, 100, 1e-4, 1.2, FLO_KERNEL_CUBIC_SPLINE}, 0.1);
}

// ---- Momenta ----

static void sum_momenta(const FloWorld *world, double sums[4]) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y");
  const float *vx = floats(world, "vx"), *vy = floats(world, "vy"), *mass = floats(world, "mass");
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    const double m = (double)mass[i], u = (double)vx[i], v = (double)vy[i];
    sums[0] += m * u, sums[1] += m * v, sums[2] += m * (x[i] * v - y[i] * u), sums[3] += m * hypot(u, v);
  }
}

static bool is_left(const void *context, double x, double y) {
  (void)context, (void)y;
  return x < 0.15;
}

// A square of two fluids in empty space becomes round.
static void momenta_stay(void **unused) {
  (void)unused;
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = 2, def.method = METHOD, def.spacing = 0.02, def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  const FloMaterialId one = add_water(world, 1000, 1e-4), other = add_water(world, 100, 1e-4);
  must(flo_world_set_interface(world, one, other, TENSION, &error), &error);
  const int n[2] = {20, 13};
  fill_lattice(world, one, 0.02, n, is_left, NULL, true);
  fill_lattice(world, other, 0.02, n, is_left, NULL, false);
  double sums[4];
  advance(world, 0.5);
  sum_momenta(world, sums);
  print_message("momentum %.1e, %.1e, angular momentum %.1e of the sum of all speeds\n", sums[0] / sums[3],
                sums[1] / sums[3], sums[2] / sums[3] / 0.2);
  flo_world_destroy(world);
  assert_true(sums[3] > 0);
  for (int k = 0; k < 3; ++k) assert_true(fabs(sums[k]) < 1e-6 * sums[3]);
}

// ---- The same bits ----

static void take_steps(FloWorld *world, int n) {
  FloError error;
  for (int k = 0; k < n; ++k) must(flo_world_step(world, NULL, &error), &error);
}

static void threads_and_saving_change_no_bit(void **unused) {
  (void)unused;
  const Drop drop = {12, 1000, 100, 1e-4, 1.2, FLO_KERNEL_CUBIC_SPLINE};
  FloError error;
  FloState *state = NULL;
  FloWorld *first = make_drop(&drop), *restored = make_drop(&drop);
  take_steps(first, 20);
  must(flo_world_save(first, &state, &error), &error);
  must(flo_world_restore(restored, state, &error), &error);
  flo_state_destroy(state);
  take_steps(first, 20);
  take_steps(restored, 20);
  assert_int_equal(flo_world_hash(first), flo_world_hash(restored));
  flo_world_destroy(restored);
  for (int threads = 2; threads <= 3; ++threads) {
    FloWorld *world = make_drop_with(&drop, threads);
    take_steps(world, 40);
    assert_int_equal(flo_world_hash(first), flo_world_hash(world));
    flo_world_destroy(world);
  }
  flo_world_destroy(first);
}

// ---- What is refused ----

static void odd_interfaces_are_refused(void **unused) {
  (void)unused;
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.method = METHOD;
  vec_set(def.gravity, 0, -9.81, 0);
  for (def.dim = 2; def.dim <= 3; ++def.dim) {
    FloWorld *world = make_world(&def);
    const FloMaterialId one = add_water(world, 1000, 1e-6), other = add_water(world, 100, 1e-6);
    assert_int_equal(flo_world_set_interface(world, one, one, 1, &error), FLO_BAD_INPUT);
    assert_int_equal(flo_world_set_interface(world, one, other, -1, &error), FLO_BAD_INPUT);
    assert_int_equal(flo_world_set_interface(world, one, other, NAN, &error), FLO_BAD_INPUT);
    assert_int_equal(flo_world_set_interface(world, one, other, 1, &error),
                     def.dim == 2 ? FLO_OK : FLO_BAD_INPUT);
    assert_int_equal(flo_world_set_interface(world, other, one, 0, &error), FLO_OK);
    flo_world_destroy(world);
  }
}

// The message names both fluids and what helps.
static void steps_that_are_too_short_are_refused(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    FloWorldDef def = flo_default_world_def();
    FloError error;
    def.dim = 2, def.method = METHOD, def.spacing = 0.02, def.threads = 1, def.min_time_step = 1e-5;
    vec_set(def.gravity, 0, -9.81, 0);
    FloWorld *world = make_world(&def);
    add_block(world, add_water(world, 1000, 1e-6), 0, 0.2, 0.1, 0);
    add_block(world, add_water(world, k ? 0.01 : 10, 1e-6), 0.2, 0.2, 0.1, 0);
    const FloStatus status = flo_world_step(world, NULL, &error);
    assert_int_equal(status, k ? FLO_BAD_INPUT : FLO_OK);
    if (k) print_message("%s\n", error.text);
    if (k) assert_non_null(strstr(error.text, "is 1e+05 times as dense as"));
    flo_world_destroy(world);
  }
}

// ---- A bubble that rises (Hysing and others 2009, case 1) ----

#define BUBBLES "rising_bubble_2d_hysing_2009.csv"

static bool is_in_bubble(const void *context, double x, double y) {
  (void)context;
  return hypot(x - 0.5, y - 0.5) < 0.25;
}

// With the default kernel the lattice of the liquid would hold the bubble up.
static FloWorld *make_bubble(int n) {
  const double s = 1.0 / n;
  const int sizes[2] = {n, 2 * n};
  FloWorldDef def = flo_default_world_def();
  FloMaterialDef material = flo_default_material_def();
  FloMaterialId ids[2];
  FloError error;
  def.dim = 2, def.method = METHOD, def.spacing = s, def.threads = 1, def.kernel = FLO_KERNEL_QUINTIC;
  vec_set(def.gravity, 0, -0.98, 0);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "alpha", 0, &error), &error);
  add_tank(world, 1, 2 + 8 * s, 0, 1);
  material.viscosity = 0.01, material.wall_viscosity = 0;
  for (int k = 0; k < 2; ++k) {
    material.density = k ? 1000 : 100;
    must(flo_world_add_material(world, &material, &ids[k], &error), &error);
    fill_lattice(world, ids[k], s, sizes, is_in_bubble, NULL, k == 0);
  }
  must(flo_world_set_interface(world, ids[0], ids[1], 24.5, &error), &error);
  return world;
}

typedef struct Rise {
  double height, speed; // [m], [m/s]
} Rise;

static Rise rise_of(const FloWorld *world, double s) {
  const double *y = doubles(world, "y");
  const float *vy = floats(world, "vy"), *mass = floats(world, "mass");
  Rise rise = {0};
  double n = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if ((double)mass[i] < 500 * s * s) rise.height += y[i], rise.speed += (double)vy[i], ++n;
  return (Rise){rise.height / n, rise.speed / n};
}

static void check_rise(int n, double until, double limit) {
  static const struct {
    double time;
    const char *line;
  } heights[] = {{0.99538, "1,centre_y,0.99538"}, {1.99467, "1,centre_y,1.99467"}, {3, "1,centre_y,3"}};
  FloWorld *world = make_bubble(n);
  double fastest = 0, smooth = 0;
  for (int k = 0; k < 3 && heights[k].time <= until; ++k) {
    while (flo_world_time(world) < heights[k].time - 0.01) {
      advance(world, flo_world_time(world) + 0.01);
      smooth += 0.2 * (rise_of(world, 1.0 / n).speed - smooth);
      fastest = fmax(fastest, smooth);
    }
    advance(world, heights[k].time);
    const double height = rise_of(world, 1.0 / n).height,
                 theirs = reference_number(BUBBLES, heights[k].line, 3);
    print_message(
        "bubble, %d a metre: at %.3f s its centre is at %.4f m, theirs %.4f; highest speed %.4f m/s\n", n,
        heights[k].time, height, theirs, fastest);
    assert_true(fabs(height - theirs) < limit * theirs);
  }
  flo_world_destroy(world);
}

// The bubble is slower than theirs. The liquid is first compressed by its own weight and swings, and 25
// particles a metre are few.
static void bubbles_rise_nearly_as_in_the_benchmark(void **unused) {
  (void)unused;
  reference_need(BUBBLES);
  if (is_full()) check_rise(25, 1, 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_drops_have_the_pressure_of_laplace),
      cmocka_unit_test(stretched_drops_swing),
      cmocka_unit_test(momenta_stay),
      cmocka_unit_test(threads_and_saving_change_no_bit),
      cmocka_unit_test(odd_interfaces_are_refused),
      cmocka_unit_test(steps_that_are_too_short_are_refused),
      cmocka_unit_test(bubbles_rise_nearly_as_in_the_benchmark),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
