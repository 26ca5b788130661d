// A wedge enters water at a constant speed V. The flow looks the same at all times, so the force grows as
// F = f rho V^3 t. The factor f of the similarity solution is that of Zhao & Faltinsen 1993: 23.7 for a
// deadrise angle of 25 degrees, 5.48 for 40 degrees. These two numbers are quoted at second hand.
#include "physics.h"

#define DENSITY 1000.0
#define WIDTH   8.0
#define DEPTH   3.0
#define GAP     0.05 // between the wedge and the water at the start

// Units: the wedge is 2 m wide and enters at 1 m/s.
static FloBodyId add_wedge(FloWorld *world, double height) {
  FloError error;
  FloBodyId id;
  const double points[] = {-1, height, 0, 0, 1, height, 1, height + 0.4, -1, height + 0.4};
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[1] = -1;
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_KINEMATIC, def.averages_force = true, def.motions = &motion, def.n_motions = 1;
  def.shape = (FloShape){.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 5};
  def.pose = pose_at(WIDTH / 2, DEPTH + GAP, 0);
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

// f from the impulse: single forces scatter.
static double measure_factor(const char *method, double degrees, int resolution) {
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = 2, def.spacing = 1.0 / resolution, def.threads = 1;
  def.gravity[1] = -0.1, def.gravity[2] = 0, def.max_time_step = 0.01;
  FloWorld *world = make_world(&def);
  add_tank(world, WIDTH, DEPTH + 2, 0, 1);
  FloBodyId wedge = add_wedge(world, tan(degrees * TEST_PI / 180));
  add_block(world, add_water(world, DENSITY, 1e-6), 0, WIDTH, DEPTH, 0);
  double wet = 0.3, time = GAP + wet;
  flo_world_restart_averages(world);
  advance(world, time);
  double impulse = state_of(world, wedge).mean_force[1] * time;
  flo_world_destroy(world);
  return impulse / (DENSITY * wet * wet / 2);
}

static void check_entry(const char *method, double degrees, int resolution, double expected, double limit) {
  double found = measure_factor(method, degrees, resolution);
  print_message(
      "%s, wedge of %.0f degrees, %d spacings half its width: F/(rho V^3 t) %.1f, theory %.1f (%+.0f %%)\n",
      method, degrees, resolution, found, expected, 100 * (found / expected - 1));
  assert_true(fabs(found / expected - 1) < limit);
}

static void wedges_enter_as_similarity_says(void **unused) {
  (void)unused;
  for (int resolution = 16; resolution <= 32; resolution *= 2) {
    check_entry("monolithic", 25, resolution, 23.66, 0.22);
    check_entry("monolithic", 40, resolution, 5.48, 0.35);
  }
  check_entry("direct-forcing", 25, 16, 23.66, 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wedges_enter_as_similarity_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
