// Which part of a sample's approach is rolling, and how fast bodies part after an impact.
#include "bodies/surface.h"
#include "state/state.h"
#include "support/worlds.h"

#define SPACING 0.01
#define RADIUS  0.08

static FloWorld *make(FloShape shape, double height) {
  FloWorldDef def = small_world_def(3);
  FloBodyDef floor = flo_default_body_def(), body = flo_default_body_def();
  def.method = "monolithic", def.spacing = SPACING;
  FloWorld *world = create_world(&def);
  floor.shape = box_shape(0.4, 0.4, 0.04), floor.pose = pose_at(0, 0, -0.02);
  body.kind = FLO_BODY_DYNAMIC, body.density = 1000, body.shape = shape, body.pose = pose_at(0, 0, height);
  add_body(world, &floor);
  add_body(world, &body);
  return world;
}

// Of the sample at x, if the body turns about y by 1 rad/s.
static double rolling_at(const FloWorld *world, const double x[3]) {
  static const double spin[3] = {0, 1, 0}, up[3] = {0, 0, 1};
  return flo_world_turning_speed(world, &flo_bodies(world)[1], &flo_bodies(world)[0], x, spin, up);
}

static void test_all_of_a_rolling_balls_approach_is_rolling(void **state) {
  (void)state;
  FloWorld *world = make((FloShape){.kind = FLO_SHAPE_SPHERE, .radius = RADIUS}, RADIUS);
  for (int k = -1; k <= 1; ++k) { // the sample comes down with spin times its distance from the pole
    double way = k * SPACING, depth = RADIUS - SPACING / 2;
    const double x[3] = {way, 0, RADIUS - sqrt(depth * depth - way * way)};
    assert_close(rolling_at(world, x), way, 0.02 * SPACING);
  }
  flo_world_destroy(world);
}

static void test_none_of_a_boxs_is(void **state) {
  (void)state;
  FloWorld *world = make(box_shape(0.1, 0.1, 0.1), 0.05);
  for (int k = -4; k <= 4; ++k) {
    const double x[3] = {k * SPACING, 0, SPACING / 2};
    assert_close(rolling_at(world, x), 0, 1e-9);
  }
  flo_world_destroy(world);
}

static void test_rebounds_keep_their_share_of_the_energy(void **state) {
  (void)state;
  const double dt = 1e-3, v = 2, a = 9.81, e = 0.6;
  const FloImpact flying = {.restitution = e, .approach = v, .gap = 1e-3},
                  falling = {.restitution = e, .approach = v, .pull = a, .gap = 1e-3},
                  whole = {.restitution = 1, .approach = v, .pull = a, .gap = 1e-3},
                  slow = {.restitution = e, .approach = 0.05, .pull = a, .gap = 1e-3};
  double u = flo_body_rebound(&falling, dt);
  assert_close(flo_body_rebound(&flying, dt), e * v, 1e-12);
  assert_close(flo_body_rebound(&whole, dt), v, 1e-12);
  assert_close(u * u / 2 + a * (1e-3 + u * dt / 2), e * e * (v * v / 2 + a * (1e-3 + v * dt / 2)), 1e-12);
  assert_true(flo_body_rebound(&slow, dt) == 0); // it falls on less far than it would climb back
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_of_a_rolling_balls_approach_is_rolling),
      cmocka_unit_test(test_none_of_a_boxs_is),
      cmocka_unit_test(test_rebounds_keep_their_share_of_the_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
