// Without fluid no sound limits the step: weakly compressible methods take the steps of contacts then.
#include "state/state.h"
#include "support/worlds.h"

#include <math.h>

static const char *const methods[] = {"direct-forcing", "monolithic"};

static FloWorld *world_with_floor(int dim, const char *method, double spacing) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = spacing;
  FloWorld *world = create_world(&def);
  const double s = spacing;
  add_tank(world, dim, 40 * s, dim == 3 ? 12 * s : 30 * s, dim == 3 ? 30 * s : 0);
  return world;
}

static FloPose place(const FloWorld *world, double along, double above) {
  const double s = world->def.spacing;
  return world->def.dim == 2 ? pose_at(along * s, above * s, 0) : pose_at(along * s, 6 * s, above * s);
}

static FloBodyId add_box(FloWorld *world, double along, double above) {
  FloBodyDef box = flo_default_body_def();
  const double width = 6 * world->def.spacing;
  box.kind = FLO_BODY_DYNAMIC, box.density = 2000, box.pose = place(world, along, above);
  box.shape = box_shape(width, width, world->def.dim == 2 ? 0 : width);
  return add_body(world, &box);
}

static void add_drop(FloWorld *world, FloMaterialId water) {
  const double s = world->def.spacing;
  const double low[3] = {20 * s, 4 * s, 4 * s}, high[3] = {26 * s, 10 * s, world->def.dim == 3 ? 10 * s : 0};
  const double flat[3] = {20 * s, 4 * s, 0};
  add_block(world, water, world->def.dim == 3 ? low : flat, high);
}

static double limit_of(FloWorld *world, const char *expected) {
  const char *limited_by;
  const double dt = flo_world_max_dt(world, &limited_by);
  assert_string_equal(limited_by, expected);
  return dt;
}

// The steps of both methods are equal without fluid; with a drop elsewhere sound counts.
static void test_sound_counts_only_with_fluid(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double spacing = 0.005; spacing < 0.05; spacing *= 4) {
      double dry[2];
      for (int m = 0; m < 2; ++m) {
        FloWorld *world = world_with_floor(dim, methods[m], spacing);
        const FloMaterialId water = add_water(world);
        add_box(world, 6, 3);
        step_world(world, 2);
        dry[m] = limit_of(world, "contacts");
        if (m == 0) {
          add_drop(world, water);
          assert_true(limit_of(world, "sound") < 0.5 * dry[m]);
        }
        flo_world_destroy(world);
      }
      assert_true(dry[0] == dry[1]);
    }
}

// The step before fluid comes is already as short as sound allows.
static void test_an_emitter_shortens_steps_in_time(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = world_with_floor(dim, "direct-forcing", 0.02);
    FloEmitterDef emitter = flo_default_emitter_def();
    FloError error;
    FloStepInfo info;
    emitter.material = add_water(world), emitter.speed = 1, emitter.start = 0.03;
    emitter.pose = place(world, 20, 15), emitter.size[0] = 0.06, emitter.size[1] = dim == 3 ? 0.06 : 0;
    assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
    add_box(world, 6, 3);
    const double dry = limit_of(world, "contacts");
    double last = 0;
    while (flo_world_count(world, FLO_SET_FLUID) == 0) {
      last = world->dt;
      assert_ok(flo_world_step(world, &info, &error), &error);
    }
    assert_true(world->time > 0.03 && last < 0.5 * dry);
    assert_true(last < 1.1 * limit_of(world, "sound"));
    flo_world_destroy(world);
  }
}

static double fall_of(const FloWorld *world, FloBodyId id) {
  FloBodyState body;
  FloError error;
  assert_ok(flo_world_body_state((FloWorld *)world, id, &body, &error), &error);
  return -body.velocity[world->def.dim - 1];
}

// The acceleration of a drop that is there from the start. Its first kick acts for half a step.
static double first_kick(int dim) {
  FloWorld *world = world_with_floor(dim, "direct-forcing", 0.02);
  const FloMaterialId water = add_water(world);
  add_box(world, 6, 24);
  add_drop(world, water);
  step_world(world, 1);
  const double acceleration = world->max_speed / (world->dt / 2);
  flo_world_destroy(world);
  return acceleration;
}

// Fluid that is added between long steps gets no longer kick than its own steps allow, and a falling box
// falls on as before: velocities are half a step behind positions.
static void test_fluid_added_after_dry_steps_gets_a_short_kick(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = world_with_floor(dim, "direct-forcing", 0.02);
    const FloMaterialId water = add_water(world);
    const FloBodyId box = add_box(world, 6, 24);
    step_world(world, 10);
    assert_true(fabs(fall_of(world, box) - 9.81 * (world->time - world->dt / 2)) < 1e-6);
    add_drop(world, water);
    step_world(world, 1);
    assert_true(fabs(world->max_speed / world->dt / first_kick(dim) - 1) < 0.02);
    assert_true(fabs(fall_of(world, box) - 9.81 * (world->time - world->dt / 2)) < 1e-6);
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sound_counts_only_with_fluid),
      cmocka_unit_test(test_an_emitter_shortens_steps_in_time),
      cmocka_unit_test(test_fluid_added_after_dry_steps_gets_a_short_kick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
