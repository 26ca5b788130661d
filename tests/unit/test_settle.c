// Time before zero: the fluid comes to rest, braked, while all else waits.
#include "support/worlds.h"

static FloWorld *settling_dam(double settle) {
  FloWorldDef def = small_world_def(2);
  def.settle = settle;
  return create_dam(&def);
}

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

static void test_time_begins_before_zero_and_lands_on_it(void **state) {
  (void)state;
  FloWorld *world = settling_dam(0.25);
  assert_close(flo_world_time(world), -0.25, 0);
  advance(world, 0);
  assert_close(flo_world_time(world), 0, 0);
  assert_false(signbit(flo_world_time(world)));
  flo_world_destroy(world);
}

// A lone particle under gravity and a braking rate k falls at g (1 - exp(-k t))/k; here the fall is one
// spacing high at least, so k = 2 sqrt(g/spacing).
static void test_a_falling_particle_reaches_the_braked_speed(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.settle = 1, def.time_step = 1e-4;
  FloWorld *world = create_world(&def);
  FloError error;
  const double x[3] = {0, 0, 0};
  const float v[3] = {1, 0, 0};
  assert_ok(flo_world_add_particles(world, add_water(world), 1, x, v, &error), &error);
  advance(world, -0.9);
  double rate = 2 * sqrt(9.81 / def.spacing), left = exp(-rate * 0.1);
  assert_close(field_at(world, FLO_SET_FLUID, "vx", 0), left, 0.01 * left);
  assert_close(field_at(world, FLO_SET_FLUID, "vz", 0), -9.81 / rate * (1 - left), 0.01 * 9.81 / rate);
  advance(world, 0);
  double at_zero = field_at(world, FLO_SET_FLUID, "vz", 0);
  advance(world, 0.1);
  assert_close(field_at(world, FLO_SET_FLUID, "vz", 0), at_zero - 0.981, 1e-4);
  flo_world_destroy(world);
}

static void test_a_settled_dam_is_calmer_than_one_that_was_let_go(void **state) {
  (void)state;
  FloWorld *settled = settling_dam(2), *free_one = settling_dam(0);
  advance(settled, 0);
  advance(free_one, 2);
  double calm = flo_world_measure(settled).max_speed, lively = flo_world_measure(free_one).max_speed;
  assert_true(calm < 0.02);
  assert_true(calm < 0.2 * lively);
  flo_world_destroy(settled);
  flo_world_destroy(free_one);
}

static void test_walls_wait_where_they_begin(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.settle = 0.5;
  FloWorld *world = create_world(&def);
  FloMotionDef motion = flo_default_motion_def();
  FloBodyState body;
  FloError error;
  motion.vector[0] = 3;
  FloBodyId id = add_moving_box(world, box_shape(0.1, 0.1, 0.1), flo_pose_identity(), &motion);
  advance(world, -0.1);
  assert_ok(flo_world_body_state(world, id, &body, &error), &error);
  assert_close(body.pose.position[0], 0, 0);
  assert_close(body.velocity[0], 0, 0);
  advance(world, 0.2);
  assert_ok(flo_world_body_state(world, id, &body, &error), &error);
  assert_close(body.pose.position[0], 0.6, 1e-12);
  assert_close(body.velocity[0], 3, 1e-12);
  flo_world_destroy(world);
}

// Whether it is told to begin at zero or long before, nothing comes out early and nothing is made up for.
static void test_emitters_and_sinks_wait(void **state) {
  (void)state;
  const double starts[] = {0, -5};
  for (int k = 0; k < 2; ++k) {
    FloWorldDef def = small_world_def(3);
    def.settle = 0.2;
    FloWorld *world = create_world(&def);
    FloEmitterDef emitter = flo_default_emitter_def();
    FloSinkDef sink = flo_default_sink_def();
    FloError error;
    FloEmitterId id;
    const double x[3] = {5, 0, 0};
    emitter.material = add_water(world), emitter.start = starts[k], sink.start = starts[k];
    sink.shape = box_shape(2, 100, 100), sink.pose = pose_at(5, 0, 0);
    assert_ok(flo_world_add_particles(world, emitter.material, 1, x, NULL, &error), &error);
    assert_ok(flo_world_add_emitter(world, &emitter, &id, &error), &error);
    assert_ok(flo_world_add_sink(world, &sink, NULL, &error), &error);
    advance(world, 0);
    assert_int_equal(flo_world_measure(world).emitted, 0);
    assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 1);
    advance(world, 0.1);
    FloMeasurements measurements = flo_world_measure(world);
    double layers = 0.1 * emitter.speed / def.spacing;
    assert_close(measurements.emitted, layers * 25, 25);
    assert_int_equal(measurements.removed, 1);
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_begins_before_zero_and_lands_on_it),
      cmocka_unit_test(test_a_falling_particle_reaches_the_braked_speed),
      cmocka_unit_test(test_a_settled_dam_is_calmer_than_one_that_was_let_go),
      cmocka_unit_test(test_walls_wait_where_they_begin),
      cmocka_unit_test(test_emitters_and_sinks_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
