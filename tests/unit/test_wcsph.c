// What wcsph decides by itself: its speed of sound, and how it takes changes of the world.
#include "physics/physics.h"

// The step is cfl s / c as long as nothing moves, so it tells the speed of sound.
static double sound_speed(FloWorld *world, const FloWorldDef *def) {
  return def->cfl * def->spacing / flo_world_max_dt(world, NULL);
}

static void test_the_fall_onto_the_floor_counts(void **unused) {
  (void)unused;
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  FloWorld *world = make_world(&def);
  FloFluidDef block = flo_default_fluid_def();
  block.material = add_water(world, 1000, 1e-6);
  add_tank(world, 0.4, 0.4, 3, 2);
  block.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.1, 0.1, 0.1}};
  block.pose = pose_at(0.2, 0.2, 2);
  must(flo_world_add_fluid(world, &block, NULL, &error), &error);
  double c = sound_speed(world, &def), fall = 10 * sqrt(2 * 9.81 * 2);
  flo_world_destroy(world);
  assert_true(c > 0.99 * fall && c < 1.1 * fall);
}

static void test_a_wall_that_starts_later_counts(void **unused) {
  (void)unused;
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.gravity[2] = 0;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  FloMotionDef motion = flo_default_motion_def();
  FloBodyDef piston = flo_default_body_def();
  motion.vector[0] = 5, motion.start = 0.5;
  piston.kind = FLO_BODY_KINEMATIC, piston.motions = &motion, piston.n_motions = 1;
  piston.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.1, 0.1, 0.1}};
  piston.pose = pose_at(-0.2, 0.05, 0.05);
  must(flo_world_add_body(world, &piston, NULL, &error), &error);
  add_block(world, water, 0, 0.1, 0.1, 0.1);
  double c = sound_speed(world, &def);
  flo_world_destroy(world);
  assert_true(fabs(c - 50) < 1);
}

// A floor as long as the domain repeats has no ends.
static void test_an_endless_floor_is_the_same_everywhere(void **unused) {
  (void)unused;
  FloError error;
  FloView view;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.dim = 2, def.gravity[1] = -9.81, def.gravity[2] = 0;
  def.periodic[0] = true, def.domain_high[0] = 0.4;
  FloWorld *world = make_world(&def);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.4, 0.08, 0}};
  floor.pose = pose_at(0.2, -0.04, 0);
  must(flo_world_add_body(world, &floor, NULL, &error), &error);
  must(flo_world_view(world, FLO_SET_BOUNDARY, "covered", &view, &error), &error);
  const float *covered = view.data;
  // The box has a layer below each of its two long faces, and at its ends samples between them that see no
  // fluid.
  for (size_t i = 0; i < view.count; ++i) assert_true(covered[i] == covered[0] || covered[i] > 0.999f);
  add_block(world, add_water(world, 1000, 1e-6), 0, 0.4, 0.2, 0);
  advance(world, 0.5);
  const double *y = doubles(world, "y");
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) assert_true(y[i] > 0.3 * def.spacing);
  flo_world_destroy(world);
}

static double largest_pressure(const FloWorld *world) {
  const float *p = floats(world, "pressure");
  double most = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) most = fmax(most, (double)p[i]);
  return most;
}

// Neighbours that appear are no compression that goes on.
static void test_fluid_added_to_a_pool_does_not_hit_it(void **unused) {
  (void)unused;
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  must(flo_world_set_param(world, "sound_speed", 40, &error), &error);
  add_tank(world, 0.2, 0.2, 1, 2);
  add_block(world, water, 0, 0.2, 0.2, 0.2);
  advance(world, 0.2);
  double before = largest_pressure(world);
  FloFluidDef more = flo_default_fluid_def();
  more.material = water;
  more.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.2, 0.2, 0.1}};
  more.pose = pose_at(0.1, 0.1, 0.26);
  must(flo_world_add_fluid(world, &more, NULL, &error), &error);
  must(flo_world_step(world, NULL, &error), &error);
  assert_true(largest_pressure(world) < 3 * before);
  flo_world_destroy(world);
}

static void test_an_emitter_lets_go_across_a_periodic_face(void **unused) {
  (void)unused;
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.gravity[2] = 0;
  def.periodic[0] = true, def.domain_high[0] = 0.4;
  FloWorld *world = make_world(&def);
  FloEmitterDef emitter = flo_default_emitter_def();
  emitter.material = add_water(world, 1000, 1e-6);
  emitter.pose = pose_at(0.39, 0, 0), emitter.size[0] = emitter.size[1] = 0.04, emitter.end = 0.02;
  must(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  advance(world, 0.2);
  const uint16_t *held = field(world, "held");
  assert_true(flo_world_count(world, FLO_SET_FLUID) > 0);
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) assert_int_equal(held[i], 0);
  flo_world_destroy(world);
}

static void test_a_kernel_without_densities_is_refused(void **unused) {
  (void)unused;
  FloError error;
  FloWorld *world;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.kernel = FLO_KERNEL_VISCOSITY;
  assert_int_equal(flo_world_create(&def, &world, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "kernel"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_fall_onto_the_floor_counts),
      cmocka_unit_test(test_a_wall_that_starts_later_counts),
      cmocka_unit_test(test_an_endless_floor_is_the_same_everywhere),
      cmocka_unit_test(test_fluid_added_to_a_pool_does_not_hit_it),
      cmocka_unit_test(test_an_emitter_lets_go_across_a_periodic_face),
      cmocka_unit_test(test_a_kernel_without_densities_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
