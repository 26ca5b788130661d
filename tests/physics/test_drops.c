// Drops in 2D with surface tension and contact angles: periods, pressures and shapes by Rayleigh, Laplace and
// Young. Density, surface tension and the radius of the drop's circle are one, so speeds are in units of
// sqrt(sigma/(rho R)). FLOTSAM_FULL=1 runs finer drops and all angles.
#include "physics.h"
#include "support/reference_file.h"

static const char *const METHODS[] = {"monolithic", "wcsph", "direct-forcing", "constraint", "elastic"};

typedef struct Drop {
  FloWorld *world;
  double spacing, radius; // of the circle with the area of all particles
} Drop;

static Drop make_drop(const char *method, double across, double gravity, int threads) {
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = 2, def.spacing = 2 / across, def.threads = threads;
  def.gravity[0] = def.gravity[2] = 0, def.gravity[1] = -gravity;
  return (Drop){.world = make_world(&def), .spacing = def.spacing};
}

static void fill_drop(Drop *drop, FloShape shape, FloPose pose, double viscosity, double angle,
                      void (*velocity)(void *, const double *, double *), void *context) {
  FloError error;
  FloMaterialDef material = flo_default_material_def();
  FloFluidDef fluid = flo_default_fluid_def();
  material.density = 1, material.viscosity = viscosity, material.surface_tension = 1;
  material.wall_viscosity = viscosity / 5, material.contact_angle = angle;
  must(flo_world_add_material(drop->world, &material, &fluid.material, &error), &error);
  fluid.shape = shape, fluid.pose = pose, fluid.velocity_at = velocity, fluid.context = context;
  must(flo_world_add_fluid(drop->world, &fluid, NULL, &error), &error);
  drop->radius = sqrt((double)flo_world_count(drop->world, FLO_SET_FLUID) / TEST_PI) * drop->spacing;
}

static void find_centre(const FloWorld *world, double centre[2]) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y");
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  centre[0] = centre[1] = 0;
  for (size_t i = 0; i < n; ++i) centre[0] += x[i] / (double)n, centre[1] += y[i] / (double)n;
}

// ---- Free drops ----

static void stretch(void *context, const double x[3], double v[3]) {
  double rate = *(const double *)context;
  v[0] = rate * x[0], v[1] = -rate * x[1], v[2] = 0;
}

static double elongation(const FloWorld *world) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y");
  double xx = 0, yy = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) xx += x[i] * x[i], yy += y[i] * y[i];
  return (xx - yy) / (xx + yy);
}

// Period of the second mode, from the first to the third passage through the circle, over Lamb's.
static double period_ratio(double across) {
  FloError error;
  FloStepInfo info = {0};
  double rate = 0.3, last = 0, last_time = 0, passed[3] = {0};
  Drop drop = make_drop("monolithic", across, 0, 1);
  fill_drop(&drop, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 1}, pose_at(0, 0, 0), 0.02, -1, stretch,
            &rate);
  for (int n = 0; n < 3 && info.time < 6;) {
    must(flo_world_step(drop.world, &info, &error), &error);
    double now = elongation(drop.world);
    if (info.time > 0.2 && now * last < 0)
      passed[n++] = last_time + (info.time - last_time) * last / (last - now);
    last = now, last_time = info.time;
  }
  flo_world_destroy(drop.world);
  return (passed[2] - passed[0]) / (2 * TEST_PI / sqrt(6 / pow(drop.radius, 3)));
}

static void drops_swing_with_the_period_of_lamb(void **unused) {
  (void)unused;
  for (double across = 20; across <= (is_full() ? 40 : 20); across += 20) {
    double ratio = period_ratio(across);
    print_message("%g across: %.3f of the period of the second mode\n", across, ratio);
    assert_true(fabs(ratio - 1) < 0.03);
  }
}

typedef struct Rest {
  double radius, pressure, speed; // outermost particle and half a spacing; in the middle; root mean square
} Rest;

static void add_rest(const Drop *drop, Rest *sum) {
  const double *x = doubles(drop->world, "x"), *y = doubles(drop->world, "y");
  const float *p = field(drop->world, "pressure"), *vx = field(drop->world, "vx"),
              *vy = field(drop->world, "vy");
  size_t n = flo_world_count(drop->world, FLO_SET_FLUID), n_inner = 0;
  double centre[2], far = 0, pressure = 0, square = 0;
  find_centre(drop->world, centre);
  for (size_t i = 0; i < n; ++i) {
    double r = hypot(x[i] - centre[0], y[i] - centre[1]);
    far = fmax(far, r), square += (double)(vx[i] * vx[i] + vy[i] * vy[i]) / (double)n;
    if (r < drop->radius / 2) pressure += (double)p[i], ++n_inner;
  }
  sum->radius += far + drop->spacing / 2, sum->pressure += pressure / (double)n_inner;
  sum->speed += sqrt(square);
}

// A square drop, averaged over its last fifth.
static Rest square_at_rest(double across) {
  FloError error;
  Drop drop = make_drop("monolithic", across, 0, 1);
  double side = sqrt(TEST_PI), n = 0;
  Rest rest = {0};
  FloStepInfo info = {0};
  fill_drop(&drop, (FloShape){.kind = FLO_SHAPE_BOX, .size = {side, side, 0}}, pose_at(0, 0, 0), 0.1, -1,
            NULL, NULL);
  while (info.time < 7) {
    must(flo_world_step(drop.world, &info, &error), &error);
    if (info.time > 5.5) add_rest(&drop, &rest), ++n;
  }
  flo_world_destroy(drop.world);
  return (Rest){rest.radius / n / drop.radius, rest.pressure / n * drop.radius, rest.speed / n};
}

static void square_drops_become_round_with_the_pressure_of_laplace(void **unused) {
  (void)unused;
  for (double across = 20; across <= (is_full() ? 40 : 20); across += 20) {
    Rest rest = square_at_rest(across);
    print_message("%g across: %.3f of the radius, %.3f of Laplace's pressure, currents of %.4f\n", across,
                  rest.radius, rest.pressure, rest.speed);
    // A particle more or less is a spacing.
    assert_true(fabs(rest.radius - 1) < 0.5 / across);
    assert_true(fabs(rest.pressure - 1) < 0.05);
    assert_true(rest.speed < 0.01);
  }
}

// ---- Drops on a floor ----

typedef struct Shape {
  double height, half_width, middle; // over the radius; middle: height of the centre of mass
} Shape;

static void add_floor(const Drop *drop) {
  FloError error;
  FloBodyId id;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {18, 3, 0}};
  floor.pose = pose_at(0, -1.5, 0);
  must(flo_world_add_body(drop->world, &floor, &id, &error), &error);
}

static Shape shape_of(const Drop *drop) {
  const double *x = doubles(drop->world, "x"), *y = doubles(drop->world, "y");
  double top = 0, left = INFINITY, right = -INFINITY, centre[2];
  for (size_t i = 0; i < flo_world_count(drop->world, FLO_SET_FLUID); ++i)
    top = fmax(top, y[i]), left = fmin(left, x[i]), right = fmax(right, x[i]);
  find_centre(drop->world, centre);
  return (Shape){(top + drop->spacing / 2) / drop->radius, (right - left + drop->spacing) / 2 / drop->radius,
                 centre[1] / drop->radius};
}

// A half circle on a floor spreads or beads.
static Shape settled(const char *method, double across, double bond, double angle, double time) {
  Drop drop = make_drop(method, across, bond, 1);
  add_floor(&drop);
  fill_drop(&drop, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = sqrt(2)}, pose_at(0, 0, 0), 0.1, angle,
            NULL, NULL);
  advance(drop.world, time);
  Shape shape = shape_of(&drop);
  flo_world_destroy(drop.world);
  return shape;
}

// Height of the centre of a cap of the circle's area that meets the floor at this angle.
static double middle_of_cap(double degrees) {
  double a = degrees * TEST_PI / 180, part = a - sin(a) * cos(a);
  return sqrt(TEST_PI / part) * (2 * pow(sin(a), 3) / (3 * part) - cos(a));
}

static double angle_of(double middle) {
  double low = 5, high = 179;
  while (high - low > 0.01) *(middle_of_cap((low + high) / 2) < middle ? &low : &high) = (low + high) / 2;
  return low;
}

// Without gravity a drop is a cap of a circle. Where its centre lies tells the angle, of all of its surface.
static void check_cap(const char *method, double degrees, double time) {
  Shape shape = settled(method, 20, 0, degrees, time);
  double angle = angle_of(shape.middle);
  print_message("%s, %g degrees: %.1f\n", method, degrees, angle);
  assert_true(fabs(angle - degrees) < 5);
}

static void drops_meet_floors_at_their_contact_angle(void **unused) {
  (void)unused;
  for (double degrees = 30; degrees <= 150; degrees += is_full() ? 30 : 60)
    check_cap("monolithic", degrees, 10);
  for (size_t k = 1; k < sizeof METHODS / sizeof *METHODS; ++k) check_cap(METHODS[k], 60, is_full() ? 7 : 5);
}

static void check_height(double across, double bond, double degrees, double tolerance) {
  static const char *const file = "analytic_sessile_drop_with_gravity_young_laplace.csv";
  char line[40];
  snprintf(line, sizeof line, "2,%g,%g,", bond, degrees);
  double height = reference_number(file, line, 3), width = reference_number(file, line, 5);
  Shape shape = settled("monolithic", across, bond, degrees, 10);
  print_message("%g across, Bond %g, %g degrees: height %.3f of theory, width %.3f\n", across, bond, degrees,
                shape.height / height, shape.half_width / width);
  assert_true(fabs(shape.height / height - 1) < tolerance && fabs(shape.half_width / width - 1) < tolerance);
}

static void heavy_drops_are_as_high_and_wide_as_young_and_laplace_say(void **unused) {
  (void)unused;
  reference_need("analytic_sessile_drop_with_gravity_young_laplace.csv");
  check_height(20, 1, 60, 0.05), check_height(20, 1, 120, 0.05);
  if (!is_full()) return;
  check_height(20, 1, 90, 0.05), check_height(20, 1, 150, 0.05);
  for (double degrees = 60; degrees <= 150; degrees += 30) check_height(20, 5, degrees, 0.1);
}

// ---- Bits ----

static uint64_t hash_of_run(int threads) {
  FloError error;
  Drop drop = make_drop("monolithic", 20, 1, threads);
  add_floor(&drop);
  fill_drop(&drop, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = sqrt(2)}, pose_at(0, 0, 0), 0.1, 60, NULL,
            NULL);
  for (int step = 0; step < 50; ++step) must(flo_world_step(drop.world, NULL, &error), &error);
  uint64_t hash = flo_world_hash(drop.world);
  flo_world_destroy(drop.world);
  return hash;
}

static void same_bits_for_any_number_of_threads(void **unused) {
  (void)unused;
  uint64_t one = hash_of_run(1);
  assert_true(hash_of_run(2) == one && hash_of_run(3) == one);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drops_swing_with_the_period_of_lamb),
      cmocka_unit_test(square_drops_become_round_with_the_pressure_of_laplace),
      cmocka_unit_test(drops_meet_floors_at_their_contact_angle),
      cmocka_unit_test(heavy_drops_are_as_high_and_wide_as_young_and_laplace_say),
      cmocka_unit_test(same_bits_for_any_number_of_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
