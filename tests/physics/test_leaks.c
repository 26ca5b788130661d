// Nothing passes through a wall: neither single drops shot at it, nor a wave that breaks on obstacles.
#include "physics.h"
#include "support/random.h"

enum { N_DROPS = 400 };

// Single particles, too far apart to feel each other, fly at 20 m/s from the middle of a closed box in all
// directions.
static void single_fast_drops_stay_inside(void **unused) {
  (void)unused;
  FloError error;
  FloBodyId id;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.spacing = 0.02;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  FloBodyDef box = flo_default_body_def();
  box.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {1, 1, 1}, .up = 2, .closed = true};
  must(flo_world_add_body(world, &box, &id, &error), &error);
  FloBodyDef ball = flo_default_body_def();
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.1};
  must(flo_world_add_body(world, &ball, &id, &error), &error);
  static double x[3 * N_DROPS];
  static float v[3 * N_DROPS];
  Random random = {7};
  for (int k = 0; k < N_DROPS; ++k) {
    double angle = 2 * TEST_PI * random_between(&random, 0, 1), up = 2 * random_between(&random, 0, 1) - 1,
           side = sqrt(1 - up * up);
    double direction[3] = {side * cos(angle), side * sin(angle), up};
    for (int axis = 0; axis < 3; ++axis) {
      x[3 * k + axis] = 0.3 * direction[axis];
      // Every other one flies inwards, onto the ball.
      v[3 * k + axis] = (float)((k % 2 ? -20 : 20) * direction[axis]);
    }
  }
  must(flo_world_add_particles(world, water, N_DROPS, x, v, &error), &error);
  size_t worst = 0;
  for (int frame = 1; frame <= 100; ++frame) {
    advance(world, 0.001 * frame);
    FloMeasurements f = flo_world_measure(world);
    worst = f.penetrations > worst ? f.penetrations : worst;
  }
  for (int axis = 0; axis < 3; ++axis) {
    const double *p = doubles(world, (const char *[]){"x", "y", "z"}[axis]);
    for (size_t i = 0; i < N_DROPS; ++i) assert_true(fabs(p[i]) < 0.5 + def.spacing / 2);
  }
  flo_world_destroy(world);
  assert_int_equal(worst, 0);
}

static void wave_on_obstacles_stays_outside_of_them(void **unused) {
  (void)unused;
  FloError error;
  FloBodyId id;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.spacing = 0.04;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  add_tank(world, 1.6, 0.6, 2, 2);
  FloBodyDef body = flo_default_body_def();
  body.shape = (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = 0.1, .size = {0.4}};
  body.pose = pose_at(0.9, 0.3, 0.2);
  must(flo_world_add_body(world, &body, &id, &error), &error);
  body.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.2, 0.2, 0.2}};
  body.pose = pose_at(1.3, 0.3, 0.1);
  must(flo_world_add_body(world, &body, &id, &error), &error);
  add_block(world, water, 0, 0.5, 0.6, 0.8);
  size_t worst = 0;
  for (int frame = 1; frame <= 50; ++frame) {
    advance(world, 0.02 * frame);
    FloMeasurements f = flo_world_measure(world);
    worst = f.penetrations > worst ? f.penetrations : worst;
  }
  flo_world_destroy(world);
  assert_int_equal(worst, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(single_fast_drops_stay_inside),
                                     cmocka_unit_test(wave_on_obstacles_stays_outside_of_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
