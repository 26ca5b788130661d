// Drag of balls and cubes that are driven down through a column of fluid at a constant speed. The references
// are Schiller & Naumann 1935 for spheres and Haider & Levenspiel 1989 for cubes. With FLOTSAM_FULL=1 in the
// environment all cases of docs/validation.md are run, which takes hours.
#include "physics.h"

// Units: the body is 1 m across, moves at 1 m/s, and the density is 1000 kg/m^3.
#define DENSITY 1000.0
#define GRAVITY 0.3

typedef struct Case {
  const char *method;
  bool is_cube;
  int across; // spacings
  double reynolds;
  FloKernel kernel;
  bool is_narrow;   // the column is smaller, which needs half as many particles
  double low, high; // limits of the drag over the reference
} Case;

// The column repeats sideways.
static double width_of(const Case *c) { return c->is_narrow ? 3.5 : 5; }
static double height_of(const Case *c) { return c->is_narrow ? 6 : 6.5; }

// The cube's sphericity is 0.806. Reynolds number and area are those of a ball of the same volume.
static double cube_drag(double reynolds) {
  double across = cbrt(6 / TEST_PI), re = across * reynolds, f = 0.806;
  double a = exp(2.3288 - 6.4581 * f + 2.4486 * f * f), b = 0.0964 + 0.5565 * f;
  double c = exp(4.905 - 13.8944 * f + 18.4222 * f * f - 10.2599 * f * f * f);
  double d = exp(1.4681 + 12.2584 * f - 20.7322 * f * f + 15.8855 * f * f * f);
  return (24 / re * (1 + a * pow(re, b)) + c / (1 + d / re)) * TEST_PI / 4 * across * across;
}

static double sphere_drag(double reynolds) { return 24 / reynolds * (1 + 0.15 * pow(reynolds, 0.687)); }

// The fluid passes the body faster than the body moves, since it has less room there than in an open fluid.
static double reference(const Case *c) {
  double area = c->is_cube ? 1 : TEST_PI / 4, blocked = area / pow(width_of(c), 2);
  return (c->is_cube ? cube_drag(c->reynolds) : sphere_drag(c->reynolds)) / pow(1 - blocked, 2);
}

static FloWorld *make_column(const Case *c) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  double s = 1.0 / c->across, width = width_of(c);
  def.method = c->method, def.spacing = s, def.threads = 1, def.kernel = c->kernel;
  def.gravity[2] = -GRAVITY, def.max_time_step = 0.05;
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = width;
  FloWorld *world = make_world(&def);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {width, width, 4 * s}};
  floor.pose = pose_at(width / 2, width / 2, -2 * s);
  must(flo_world_add_body(world, &floor, NULL, &error), &error);
  return world;
}

// How far the body has moved: it gets its speed in the first second.
static double way_at(double time) { return time < 1 ? time * time / 2 : time - 0.5; }

static FloBodyId add_driven(FloWorld *world, const Case *c) {
  enum { N_KEYS = 101 };
  FloError error;
  FloBodyId id;
  FloKeyframe keys[N_KEYS];
  const double middle = width_of(c) / 2;
  for (int k = 0; k < N_KEYS; ++k) {
    keys[k].time = 0.04 * k;
    keys[k].pose = pose_at(middle, middle, height_of(c) - 2.2 - way_at(keys[k].time));
  }
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_KEYFRAMES, motion.keyframes = keys, motion.n_keyframes = N_KEYS;
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_KINEMATIC, def.averages_force = true, def.motions = &motion, def.n_motions = 1;
  def.shape = c->is_cube ? (FloShape){.kind = FLO_SHAPE_BOX, .size = {1, 1, 1}}
                         : (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.5};
  def.pose = keys[0].pose;
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

// The mean drag coefficient of the third second, without buoyancy.
static double measure_drag(const Case *c) {
  FloWorld *world = make_column(c);
  FloBodyId id = add_driven(world, c);
  add_block(world, add_water(world, DENSITY, 1 / c->reynolds), 0, width_of(c), width_of(c), height_of(c));
  advance(world, 2);
  flo_world_restart_averages(world);
  advance(world, 3);
  double volume = c->is_cube ? 1 : TEST_PI / 6, area = c->is_cube ? 1 : TEST_PI / 4;
  double force = state_of(world, id).mean_force[2] - DENSITY * GRAVITY * volume;
  flo_world_destroy(world);
  return force / (DENSITY / 2 * area);
}

static void check_drag(Case c) {
  double found = measure_drag(&c), expected = reference(&c);
  print_message(
      "%s, %s, %s, %d across, column %g wide, Re %.0f: drag coefficient %.2f, reference %.2f (%+.0f %%)\n",
      c.method, c.is_cube ? "cube" : "ball",
      c.kernel == FLO_KERNEL_CUBIC_SPLINE ? "default kernel" : "Wendland", c.across, width_of(&c), c.reynolds,
      found, expected, 100 * (found / expected - 1));
  assert_true(found / expected > c.low && found / expected < c.high);
}

static void drag_is_near_that_of_experiments(void **unused) {
  (void)unused;
  check_drag((Case){.method = "monolithic", .across = 6, .reynolds = 30, .low = 0.8, .high = 1.5});
  check_drag(
      (Case){.method = "monolithic", .across = 6, .reynolds = 300, .is_cube = true, .low = 0.7, .high = 1.5});
}

static void check_size(int across, bool is_narrow, FloKernel kernel, double high) {
  const double numbers[] = {10, 100, 1000};
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; ++k)
    for (int is_cube = 0; is_cube <= 1; ++is_cube)
      check_drag((Case){.method = "monolithic",
                        .across = across,
                        .reynolds = numbers[k],
                        .is_cube = is_cube,
                        .kernel = kernel,
                        .is_narrow = is_narrow,
                        .low = 0.7,
                        .high = high});
}

static void drag_at_many_sizes(void **unused) {
  (void)unused;
  if (!getenv("FLOTSAM_FULL")) skip();
  check_size(8, false, FLO_KERNEL_CUBIC_SPLINE, 2.5);
  check_size(8, false, FLO_KERNEL_WENDLAND_C2, 2);
  check_size(8, true, FLO_KERNEL_CUBIC_SPLINE, 2.5);
  check_size(8, true, FLO_KERNEL_WENDLAND_C2, 2);
  check_size(16, true, FLO_KERNEL_CUBIC_SPLINE, 2);
  check_size(16, true, FLO_KERNEL_WENDLAND_C2, 1.6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(drag_is_near_that_of_experiments),
                                     cmocka_unit_test(drag_at_many_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
