// Parts of the `unified` method: means of two fluids, collisions and the boundary force of a pair, phases,
// the speed of sound, and what a user is told.
#include "coupling/unified/near_pair.h"
#include "coupling/unified/unified.h"
#include "support/worlds.h"

// clang-format off
#include "sph/real_scalar.h" // first: it defines the type that the next one uses
#include "sph/pair.h"
// clang-format on

static void test_means_of_two_fluids(void **state) {
  (void)state;
  const float tiny = 1e-38f;
  assert_true(pair_mean(3, 3, tiny) == 3);
  assert_true(fabsf(pair_mean(1, 3, tiny) - 1.5f) < 1e-6f);
  assert_true(pair_mean(0, 5, tiny) == 0 && pair_mean(0, 0, tiny) == 0);
  // The order does not change a bit, and numbers whose product underflows have a mean.
  for (int k = 1; k < 100; ++k)
    assert_true(pair_mean(0.7f * k, 3.1f, tiny) == pair_mean(3.1f, 0.7f * k, tiny));
  assert_true(fabsf(pair_mean(1e-25f, 3e-25f, tiny) / 1.5e-25f - 1) < 1e-6f);
}

// A collision leaves no approach, and the share `slip` of sliding. Momentum is exchanged, and energy lost.
static void test_a_collision_of_two_masses(void **state) {
  (void)state;
  const double m = 0.3, big = 7, response = 1 / m + 1 / big, closing = 2, sliding = 1.5, slip = 0.25;
  const double push = near_pair_push(closing, response), drag = near_pair_drag(sliding, slip, response);
  assert_true(fabs(closing - push * response) < 1e-12);
  assert_true(fabs(sliding - drag * response - slip * sliding) < 1e-12);
  assert_true(near_pair_push(-closing, response) == 0);
  assert_true(near_pair_drag(sliding, 1, response) == 0);
}

// (20) and its slope have no jump except at 2/3, where the slope of the constant part ends.
static void test_the_boundary_force_fades_out(void **state) {
  (void)state;
  const double tiny = 1e-7, joints[] = {2.0 / 3, 1, 2};
  for (int k = 0; k < 3; ++k)
    assert_true(fabs(near_pair_shape(joints[k] + tiny) - near_pair_shape(joints[k] - tiny)) < 4 * tiny);
  assert_true(near_pair_shape(2.5) == 0);
  for (double q = 0.7; q < 2; q += 0.01) assert_true(near_pair_shape(q + 0.01) < near_pair_shape(q));
  // k_b times the reduced mass times the shape over the distance.
  assert_true(fabs(near_pair_repulsion(3, 4, 0.5, 1) - 3.0 / 4 * (2.0 / 3) / 0.5) < 1e-12);
}

// Light fluid above water, in a tank.
static FloWorld *make_layers(double light) {
  FloWorldDef def = small_world_def(2);
  def.method = "unified";
  FloWorld *world = create_world(&def);
  const double s = def.spacing, low[3] = {0}, middle[3] = {8 * s, 4 * s, 0}, left[3] = {0, 4 * s, 0},
               high[3] = {8 * s, 8 * s, 0};
  add_tank(world, 2, 8 * s, 12 * s, 0);
  add_block(world, add_material(world, 1000, 1e-6), low, middle);
  add_block(world, add_material(world, light, 1e-6), left, high);
  add_material(world, 1, 1e-6); // no fluid is made of it
  return world;
}

static void test_the_lightest_fluid_limits_the_step(void **state) {
  (void)state;
  FloWorld *near = make_layers(1000), *far = make_layers(10);
  const FloPhases phases = flo_unified_phases(far);
  const char *limited_by;
  assert_true(phases.most == 1000 && phases.least == 10 && phases.heaviest == 0 && phases.lightest == 1);
  const double ratio = flo_world_max_dt(near, &limited_by) / flo_world_max_dt(far, &limited_by);
  assert_string_equal(limited_by, "sound");
  assert_true(fabs(ratio - 10) < 0.01);
  assert_true(fabs(flo_unified_top_sound(far, far->method_state) /
                       flo_sound_speed(far, &((FloUnified *)far->method_state)->fluid) -
                   10) < 1e-6);
  flo_world_destroy(near);
  flo_world_destroy(far);
}

static void test_users_are_told_of_costly_fluids(void **state) {
  (void)state;
  char text[512];
  FloWorld *near = make_layers(800), *far = make_layers(10);
  assert_false(flo_unified_advise(near, text, sizeof text));
  assert_true(flo_unified_advise(far, text, sizeof text));
  assert_non_null(strstr(text, "100 times as dense as"));
  assert_non_null(strstr(text, "10 times as fast"));
  assert_non_null(strstr(text, "at least 40 kg/m^3 would halve the cost"));
  flo_world_destroy(near);
  flo_world_destroy(far);
}

// A body fifty times as dense as water needs sound ten times as fast as sqrt(50 g h).
static void test_heavy_bodies_need_faster_sound(void **state) {
  (void)state;
  FloWorld *world = make_layers(1000);
  const double before = flo_unified_expected_speed(world, 1000), s = world->def.spacing;
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 50000, box.shape = box_shape(4 * s, 4 * s, 0);
  box.pose = pose_at(4 * s, 10.5 * s, 0);
  add_body(world, &box);
  const double expected = flo_unified_expected_speed(world, 1000);
  // Samples lie half a spacing below the surface.
  assert_true(expected > before);
  assert_true(expected > sqrt(50 * 9.81 * 2.5 * s) && expected <= sqrt(50 * 9.81 * 4 * s) * (1 + 1e-12));
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_means_of_two_fluids),
      cmocka_unit_test(test_a_collision_of_two_masses),
      cmocka_unit_test(test_the_boundary_force_fades_out),
      cmocka_unit_test(test_the_lightest_fluid_limits_the_step),
      cmocka_unit_test(test_users_are_told_of_costly_fluids),
      cmocka_unit_test(test_heavy_bodies_need_faster_sound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
