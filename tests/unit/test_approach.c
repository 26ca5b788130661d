// The step of an implicit method follows the speed at which fluid approaches its neighbours and solids, not
// the speed at which it flies.
#include "physics/physics.h"

#include "base/vecmath.h"

#define SPACING 0.02
#define SPEED   10.0

static FloWorld *make_empty(int dim) {
  FloWorldDef def = flo_default_world_def();
  def.dim = dim, def.method = "monolithic", def.spacing = SPACING, def.threads = 1, def.max_time_step = 1;
  vec_set(def.gravity, 0, 0, 0);
  return make_world(&def);
}

// A block of 4 spacings that moves along x.
static void add_flying(FloWorld *world, int dim, FloMaterialId water, double x, double speed) {
  FloError error;
  FloFluidDef def = flo_default_fluid_def();
  size_t n;
  def.material = water;
  def.shape =
      (FloShape){.kind = FLO_SHAPE_BOX, .size = {4 * SPACING, 4 * SPACING, dim == 3 ? 4 * SPACING : 0}};
  def.pose = pose_at(x, 0, 0);
  def.velocity[0] = speed;
  must(flo_world_add_fluid(world, &def, &n, &error), &error);
}

// Steps of a block that flies alone cover 0.6 spacings.
static void test_a_block_that_flies_takes_long_steps(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double speed = SPEED; speed < 2000; speed *= 10) {
      FloWorld *world = make_empty(dim);
      FloError error;
      const char *limited_by;
      add_flying(world, dim, add_water(world, 1000, 1e-6), 0, speed);
      must(flo_world_step(world, NULL, &error), &error);
      assert_true(fabs(flo_world_max_dt(world, &limited_by) * speed / SPACING - 0.6) < 1e-3);
      assert_string_equal(limited_by, "speed");
      flo_world_destroy(world);
    }
}

// The largest compression while two blocks meet whose surfaces are `gap` spacings apart.
static double compression_in_crash(int dim, double gap) {
  FloWorld *world = make_empty(dim);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  FloError error;
  double largest = 0;
  add_flying(world, dim, water, -(2 + gap / 2) * SPACING, SPEED);
  add_flying(world, dim, water, (2 + gap / 2) * SPACING, -SPEED);
  for (int k = 0; k < 20; ++k) {
    must(flo_world_step(world, NULL, &error), &error);
    largest = fmax(largest, flo_world_measure(world).density_error_max);
  }
  flo_world_destroy(world);
  return largest;
}

// Two blocks that do not see each other yet must not be in each other when they do, wherever they start.
static void test_blocks_that_crash_do_not_overlap(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    double largest = 0;
    for (double gap = 3; gap < 5; gap += 0.2) largest = fmax(largest, compression_in_crash(dim, gap));
    print_message("%dD: blocks that crash are compressed by up to %.0f %%\n", dim, 100 * largest);
    assert_true(largest < 0.55);
  }
}

// The same block, thrown at a wall: the wall counts as a neighbour.
static void test_a_block_that_hits_a_wall_takes_short_steps(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_empty(dim);
    FloError error;
    FloBodyDef wall = flo_default_body_def();
    double shortest = INFINITY;
    wall.shape =
        (FloShape){.kind = FLO_SHAPE_BOX, .size = {4 * SPACING, 20 * SPACING, dim == 3 ? 20 * SPACING : 0}};
    wall.pose = pose_at(7 * SPACING, 0, 0);
    must(flo_world_add_body(world, &wall, NULL, &error), &error);
    add_flying(world, dim, add_water(world, 1000, 1e-6), -SPACING, SPEED);
    for (int k = 0; k < 12; ++k) {
      FloStepInfo info;
      must(flo_world_step(world, &info, &error), &error);
      shortest = fmin(shortest, info.dt);
    }
    assert_true(shortest * SPEED / SPACING <= 0.401);
    assert_int_equal(flo_world_measure(world).penetrations, 0);
    flo_world_destroy(world);
  }
}

// A dry box on a floor takes the steps that its contacts need, also if there is a drop of water elsewhere.
static void test_a_drop_elsewhere_does_not_lengthen_the_steps_of_contacts(void **state) {
  (void)state;
  double limits[2];
  for (int has_drop = 0; has_drop < 2; ++has_drop) {
    FloWorldDef def = flo_default_world_def();
    FloError error;
    const char *limited_by;
    def.method = "monolithic", def.spacing = SPACING, def.threads = 1;
    FloWorld *world = make_world(&def);
    FloBodyDef floor = flo_default_body_def(), box = floor;
    floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {2, 1, 4 * SPACING}};
    floor.pose = pose_at(0, 0, -2 * SPACING);
    must(flo_world_add_body(world, &floor, NULL, &error), &error);
    box.kind = FLO_BODY_DYNAMIC, box.density = 1000;
    box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {8 * SPACING, 8 * SPACING, 8 * SPACING}};
    box.pose = pose_at(-0.5, 0, 4 * SPACING);
    must(flo_world_add_body(world, &box, NULL, &error), &error);
    if (has_drop) add_flying(world, 3, add_water(world, 1000, 1e-6), 0.5, 0);
    for (int k = 0; k < 3; ++k) must(flo_world_step(world, NULL, &error), &error);
    limits[has_drop] = flo_world_max_dt(world, &limited_by);
    assert_string_equal(limited_by, "contacts");
    flo_world_destroy(world);
  }
  assert_true(limits[0] == limits[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_block_that_flies_takes_long_steps),
      cmocka_unit_test(test_blocks_that_crash_do_not_overlap),
      cmocka_unit_test(test_a_block_that_hits_a_wall_takes_short_steps),
      cmocka_unit_test(test_a_drop_elsewhere_does_not_lengthen_the_steps_of_contacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
