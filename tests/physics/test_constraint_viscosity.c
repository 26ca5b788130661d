// Thick fluids with `constraint`: they take the same long steps as water, flow as theory says, rest on their
// floor, and keep their momenta. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0
#define STEP    (1 / 120.0)
// Presses films and channels together, weakly, so that their depth allows the step.
#define WEAK_GRAVITY 1.0

static void set(FloWorld *world, const char *name, double value) {
  FloError error;
  must(flo_world_set_param(world, name, value, &error), &error);
}

static FloWorldDef flat_def(double spacing, double step) {
  FloWorldDef def = flo_default_world_def();
  def.dim = 2, def.method = "constraint", def.spacing = spacing, def.threads = 1;
  def.time_step = step, def.max_time_step = 0.1;
  vec_set(def.gravity, 0, -GRAVITY, 0);
  return def;
}

// ---- At rest ----

static FloWorld *make_pool(double spacing, double viscosity, double step) {
  const FloWorldDef def = flat_def(spacing, step);
  FloWorld *world = make_world(&def);
  add_tank(world, 20 * spacing, 16 * spacing, 0, 1);
  add_block(world, add_water(world, DENSITY, viscosity), 0, 20 * spacing, 10 * spacing, 0);
  return world;
}

// Pressure of the lowest layer over that of the weight above it.
static double floor_pressure(const FloWorld *world, double spacing) {
  const double *y = doubles(world, "y");
  const float *p = floats(world, "pressure");
  double sum = 0, theory = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if (y[i] < 3 * spacing && y[i] > spacing)
      sum += (double)p[i], theory += DENSITY * GRAVITY * (10 * spacing - y[i]);
  return sum / theory;
}

// Viscosity does not shorten the automatic step, and honey rests on its floor. If it acted before any
// pressure, honey would turn over at about a centimetre a second, and press on its floor with a small part of
// its weight.
static void check_pool(double spacing, double viscosity, double *dt) {
  FloWorld *world = make_pool(spacing, viscosity, 0);
  const char *limited_by;
  advance(world, 1);
  double speed = 0, pressure = 0;
  for (int k = 1; k <= 10; ++k) {
    advance(world, 1 + 0.03 * k);
    speed += rms_speed(world) / 10, pressure += floor_pressure(world, spacing) / 10;
  }
  *dt = flo_world_max_dt(world, &limited_by);
  print_message("pool, %g mm, %g m2/s: steps of %.2f ms, limited by %s; rms %.2f mm/s, pressure %+.1f %%\n",
                1e3 * spacing, viscosity, 1e3 * *dt, limited_by, 1e3 * speed, 100 * (pressure - 1));
  flo_world_destroy(world);
  assert_string_equal(limited_by, "pressure");
  // A pool starts without pressure. If viscosity and pressure were solved one after the other, a thick one
  // would need about nu dt/(width/pi)^2 steps until its pressure is that of its weight.
  assert_true(fabs(pressure - 1) < 0.05);
  if (viscosity >= 0.1) assert_true(speed < 1e-3);
}

static void thick_fluids_take_the_steps_of_water(void **unused) {
  (void)unused;
  static const double viscosities[] = {1e-6, 1e-3, 0.1, 1, 10, 100}, spacings[] = {0.02, 0.01};
  for (int k = 0; k < 2; ++k) {
    double water = 0;
    for (int n = 0; n < 6; ++n) {
      double dt;
      check_pool(spacings[k], viscosities[n], &dt);
      if (n == 0) water = dt;
      // Pressures of thick fluid at rest differ from particle to particle, and the highest one counts.
      assert_true(dt > (viscosities[n] > 0.1 ? 0.7 : 0.85) * water);
    }
  }
}

// ---- Films: fluid on a plate, with a free surface, that gravity pulls along it ----

typedef struct Film {
  int deep;                       // in particles
  double depth, viscosity, speed; // [m], [m^2/s], of the surface [m/s]
} Film;

static void add_plate(FloWorld *world, int dim, const double size[3], const double centre[3], double speed) {
  FloError error;
  FloBodyDef def = flo_default_body_def();
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[dim - 2] = speed;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {size[0], size[1], size[2]}};
  def.pose = pose_at(centre[0], centre[1], centre[2]);
  if (speed != 0) def.kind = FLO_BODY_KINEMATIC, def.motions = &motion, def.n_motions = 1;
  must(flo_world_add_body(world, &def, NULL, &error), &error);
}

static void film_velocity(void *context, const double x[3], double v[3]) {
  const Film *film = context;
  v[0] = film->speed * sin(TEST_PI * x[1] / (2 * film->depth)), v[1] = v[2] = 0;
}

// `pull`: acceleration along the plate.
static FloWorld *make_film(const Film *film, double pull, bool is_moving) {
  const double s = film->depth / film->deep, length = 16 * s;
  FloWorldDef def = flat_def(s, STEP);
  FloError error;
  FloFluidDef fluid = flo_default_fluid_def();
  def.periodic[0] = true, def.domain_high[0] = length;
  vec_set(def.gravity, pull, -WEAK_GRAVITY, 0);
  FloWorld *world = make_world(&def);
  set(world, "alpha", 0);
  add_plate(world, 2, (const double[3]){length, 4 * s, 0}, (const double[3]){length / 2, -2 * s, 0}, 0);
  fluid.material = add_water(world, DENSITY, film->viscosity);
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {length, film->depth, 0}};
  fluid.pose = pose_at(length / 2, film->depth / 2, 0);
  if (is_moving) fluid.velocity_at = film_velocity, fluid.context = (void *)film;
  must(flo_world_add_fluid(world, &fluid, NULL, &error), &error);
  return world;
}

// The mean speed along x, and of the profile y (2 h - y)/h^2 that ends with `speed` at the surface.
static double mean_speed(const FloWorld *world, const Film *film, double *theory, double *worst) {
  const double *y = doubles(world, "y"), h = film->depth;
  const float *vx = floats(world, "vx");
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  *theory = *worst = 0;
  for (size_t i = 0; i < n; ++i) {
    const double exact = film->speed * y[i] * (2 * h - y[i]) / (h * h);
    sum += (double)vx[i] / (double)n, *theory += exact / (double)n;
    *worst = fmax(*worst, fabs((double)vx[i] - exact) / film->speed);
  }
  return sum;
}

static void check_film(const Film *film) {
  const double rate = film->viscosity * pow(TEST_PI / (2 * film->depth), 2),
               pull = 2 * film->viscosity * film->speed / (film->depth * film->depth);
  double theory, worst;
  FloWorld *world = make_film(film, pull, false);
  advance(world, fmax(4 / rate, 60 * STEP));
  const double mean = mean_speed(world, film, &theory, &worst);
  print_message("film of %g mm, %d deep, %g m2/s: mean speed %+.1f %%, profile within %.1f %%\n",
                1e3 * film->depth, film->deep, film->viscosity, 100 * (mean / theory - 1), 100 * worst);
  flo_world_destroy(world);
  assert_true(fabs(mean / theory - 1) < 0.05 && worst < 0.06);
}

// Without a pull a shear wave decays as exp(-rate t). An implicit step decays by 1/(1 + rate dt).
static void check_decay(const Film *film) {
  const double rate = film->viscosity * pow(TEST_PI / (2 * film->depth), 2);
  const int n_steps = (int)fmax(0.7 / (rate * STEP), 2);
  double unused, worst;
  FloWorld *world = make_film(film, 0, true);
  FloError error;
  const double start = mean_speed(world, film, &unused, &worst);
  for (int k = 0; k < n_steps; ++k) must(flo_world_step(world, NULL, &error), &error);
  const double measured = log(start / mean_speed(world, film, &unused, &worst)) / (n_steps * STEP),
               expected = log(1 + rate * STEP) / STEP;
  print_message(
      "film of %g mm, %d deep, %g m2/s: decays at %.3g 1/s, %+.1f %% from theory, %+.1f %% from that "
      "of implicit steps\n",
      1e3 * film->depth, film->deep, film->viscosity, measured, 100 * (measured / rate - 1),
      100 * (measured / expected - 1));
  flo_world_destroy(world);
  assert_true(fabs(measured / expected - 1) < 0.05);
}

static void films_flow_and_slow_down_as_theory_says(void **unused) {
  (void)unused;
  static const Film films[] = {{12, 0.1, 0.01, 0.05},
                               {24, 0.1, 0.01, 0.05},
                               {12, 0.1, 1, 0.05},
                               {12, 0.1, 10, 0.05},
                               {12, 0.02, 0.002, 0.02}};
  for (size_t k = 0; k < sizeof films / sizeof *films; ++k) check_film(&films[k]);
  for (size_t k = 0; k < 2; ++k) check_decay(&films[k]);
  check_decay(&films[4]);
}

// ---- Couette: fluid between upright plates in 3D, with a free surface ----

static FloWorld *make_channel(double s, int across, double viscosity, double speed) {
  const double gap = across * s, length = 8 * s, depth = 2.5 * gap, high = depth + 4 * s;
  FloWorldDef def = flat_def(s, STEP);
  def.dim = 3, def.periodic[1] = true, def.domain_high[1] = length;
  vec_set(def.gravity, 0, 0, -WEAK_GRAVITY);
  FloWorld *world = make_world(&def);
  const double plate[3] = {4 * s, length, high}, floor[3] = {gap, length, 4 * s};
  set(world, "alpha", 0);
  add_plate(world, 3, plate, (const double[3]){-2 * s, length / 2, high / 2}, 0);
  add_plate(world, 3, plate, (const double[3]){gap + 2 * s, length / 2, high / 2}, speed);
  add_plate(world, 3, floor, (const double[3]){gap / 2, length / 2, -2 * s}, 0);
  add_block(world, add_water(world, DENSITY, viscosity), 0, gap, length, depth);
  return world;
}

// Fluid more than a gap above the floor, which slows what is near it.
static void check_channel(double s, int across, double viscosity) {
  const double gap = across * s, speed = 0.05;
  FloWorld *world = make_channel(s, across, viscosity, speed);
  advance(world, fmax(gap * gap / viscosity, 60 * STEP));
  const double *x = doubles(world, "x"), *z = doubles(world, "z");
  const float *vy = floats(world, "vy");
  double sum = 0, theory = 0, n = 0, error = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if (z[i] > 1.2 * gap) {
      const double exact = speed * x[i] / gap;
      sum += (double)vy[i], theory += exact, n += 1, error += fabs((double)vy[i] - exact) / speed;
    }
  print_message("Couette in 3D, %d across, %g m2/s: mean speed %+.1f %%, profile within %.1f %% (mean)\n",
                across, viscosity, 100 * (sum / theory - 1), 100 * error / n);
  flo_world_destroy(world);
  assert_true(fabs(sum / theory - 1) < 0.03 && error / n < 0.03);
}

static void couette_flow_has_its_profile(void **unused) {
  (void)unused;
  check_channel(0.01, 8, 0.01), check_channel(0.01, 8, 10);
}

// ---- A column that collapses ----

// How far a column of honey has spread after a while, at a step.
static double spread_of(double viscosity, double step, double duration) {
  const double s = 0.02;
  const FloWorldDef def = flat_def(s, step);
  FloWorld *world = make_world(&def);
  double front = 0;
  add_tank(world, 60 * s, 20 * s, 0, 1);
  add_block(world, add_water(world, DENSITY, viscosity), 0, 12 * s, 12 * s, 0);
  advance(world, duration);
  const double *x = doubles(world, "x");
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) front = fmax(front, x[i] + s / 2);
  flo_world_destroy(world);
  return front / (12 * s) - 1;
}

// Pressure and viscosity are one system, so that long steps cost little.
static void long_steps_spread_honey_as_far_as_short_ones(void **unused) {
  (void)unused;
  static const double viscosities[] = {0.02, 0.1, 1};
  for (int k = 0; k < 3; ++k) {
    const double duration = k == 2 ? 2 : 0.5, coarse = spread_of(viscosities[k], STEP, duration),
                 middle = spread_of(viscosities[k], STEP / 2, duration),
                 fine = spread_of(viscosities[k], STEP / 8, duration);
    print_message("column of %g m2/s: spreads by %.3f of its width at 1/120 s, by %.3f at 1/240 s, by %.3f "
                  "at 1/960 s\n",
                  viscosities[k], coarse, middle, fine);
    assert_true(fabs(coarse - fine) < 0.02 * (1 + fine) && fabs(middle - fine) < 0.02 * (1 + fine));
  }
}

// ---- A disc that sinks ----

// Its speed between 0.3 and 0.6 s.
static double sinking_speed(double viscosity, double density, double step) {
  const double s = 0.02, depth = 24 * s;
  FloWorldDef def = flat_def(s, step);
  FloError error;
  FloBodyId id;
  def.gravity[1] = -4;
  FloWorld *world = make_world(&def);
  FloBodyDef disc = flo_default_body_def();
  add_tank(world, 24 * s, depth + 6 * s, 0, 1);
  disc.kind = FLO_BODY_DYNAMIC, disc.density = density;
  disc.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 3 * s}, disc.pose = pose_at(12 * s, 17 * s, 0);
  must(flo_world_add_body(world, &disc, &id, &error), &error);
  add_block(world, add_water(world, DENSITY, viscosity), 0, 24 * s, depth, 0);
  advance(world, 0.3);
  const double start = state_of(world, id).pose.position[1];
  advance(world, 0.6);
  const double speed = (start - state_of(world, id).pose.position[1]) / 0.3;
  flo_world_destroy(world);
  return speed;
}

static void discs_sink_as_fast_at_long_steps(void **unused) {
  (void)unused;
  static const double viscosities[] = {0.02, 0.2, 2};
  for (int k = 0; k < 3; ++k) {
    const double coarse = sinking_speed(viscosities[k], 3000, STEP),
                 middle = sinking_speed(viscosities[k], 3000, STEP / 2),
                 fine = sinking_speed(viscosities[k], 3000, STEP / 8);
    print_message("disc in %g m2/s: sinks at %.2f mm/s with steps of 1/120 s, %.2f with 1/240 s, %.2f with "
                  "1/960 s\n",
                  viscosities[k], 1e3 * coarse, 1e3 * middle, 1e3 * fine);
    assert_true(fabs(coarse / fine - 1) < 0.06 && fabs(middle / fine - 1) < 0.06);
  }
}

// ---- Free blobs ----

static double relative_change(const double *a, const double *b) {
  double change = 0, size = 0;
  for (int axis = 0; axis < 3; ++axis) change += pow(b[axis] - a[axis], 2), size += pow(a[axis], 2);
  return sqrt(change / size);
}

// A light brick in the way of the blob, which flows around it.
static void add_brick(FloWorld *world, int dim) {
  FloError error;
  FloBodyDef brick = flo_default_body_def();
  brick.kind = FLO_BODY_DYNAMIC, brick.density = 400, brick.pose = pose_at(0.45, 0.24, 0);
  brick.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.08, 0.12, dim == 3 ? 0.12 : 0}};
  must(flo_world_add_body(world, &brick, NULL, &error), &error);
}

static void thick_blobs_keep_their_momenta(void **unused) {
  (void)unused;
  // Rounding errors grow with the stress. In the thickest blob an impact would need stresses of MPa.
  static const double viscosities[] = {0.1, 100, 0.1, 1};
  for (int k = 0; k < 8; ++k) {
    FloError error;
    FloWorldDef def = flat_def(0.02, STEP);
    def.dim = 2 + k % 2, vec_set(def.gravity, 0, 0, 0);
    FloWorld *world = make_world(&def);
    if (k >= 4) add_brick(world, def.dim);
    FloFluidDef blob = flo_default_fluid_def();
    blob.material = add_water(world, DENSITY, viscosities[k / 2]);
    blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.1};
    blob.pose = pose_at(0.3, 0.2, 0);
    blob.velocity[0] = 1, blob.velocity[1] = 0.5, blob.angular_velocity[2] = 5;
    must(flo_world_add_fluid(world, &blob, NULL, &error), &error);
    const FloMeasurements start = flo_world_measure(world);
    advance(world, 0.5);
    const FloMeasurements end = flo_world_measure(world);
    const double linear = relative_change(start.momentum, end.momentum),
                 angular = relative_change(start.angular_momentum, end.angular_momentum);
    print_message("%dD blob of %g m2/s%s: momentum drifts by %.1e, angular by %.1e\n", def.dim,
                  viscosities[k / 2], k < 4 ? "" : " that hits a brick", linear, angular);
    flo_world_destroy(world);
    assert_true(linear <= 1e-6 && angular <= 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(thick_fluids_take_the_steps_of_water),
                                     cmocka_unit_test(films_flow_and_slow_down_as_theory_says),
                                     cmocka_unit_test(couette_flow_has_its_profile),
                                     cmocka_unit_test(long_steps_spread_honey_as_far_as_short_ones),
                                     cmocka_unit_test(discs_sink_as_fast_at_long_steps),
                                     cmocka_unit_test(thick_blobs_keep_their_momenta)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
