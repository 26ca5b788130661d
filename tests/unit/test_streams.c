// Emitters and sinks: how much they add and remove, where, when, and what they refuse.
#include "support/worlds.h"

static const double s = 0.02; // spacing of the default world

// ---- Helpers ----

static FloWorld *weightless_world(int dim) {
  FloWorldDef def = small_world_def(dim);
  vec_set(def.gravity, 0, 0, 0);
  return create_world(&def);
}

// A window of 5 x 4 spacings at the origin that emits along +x at 2 m/s.
static FloEmitterDef window(FloMaterialId material) {
  FloEmitterDef def = flo_default_emitter_def();
  def.material = material;
  def.size[0] = 5 * s, def.size[1] = 4 * s;
  def.speed = 2;
  return def;
}

static FloEmitterId add_emitter(FloWorld *world, const FloEmitterDef *def) {
  FloError error;
  FloEmitterId id;
  assert_ok(flo_world_add_emitter(world, def, &id, &error), &error);
  return id;
}

static FloSinkId add_sink(FloWorld *world, FloShape shape, FloPose pose) {
  FloError error;
  FloSinkId id;
  FloSinkDef def = flo_default_sink_def();
  def.shape = shape, def.pose = pose;
  assert_ok(flo_world_add_sink(world, &def, &id, &error), &error);
  return id;
}

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

static size_t fluid_count(const FloWorld *world) { return flo_world_count(world, FLO_SET_FLUID); }

static void fluid_position(const FloWorld *world, size_t i, double out[3]) {
  vec_set(out, field_at(world, FLO_SET_FLUID, "x", i), field_at(world, FLO_SET_FLUID, "y", i),
          field_at(world, FLO_SET_FLUID, "z", i));
}

// ---- How much an emitter emits ----

static void check_flow(int dim, bool round, double area, size_t layer) {
  FloWorld *world = weightless_world(dim);
  FloEmitterDef def = window(add_water(world));
  def.round = round;
  add_emitter(world, &def);
  for (double time = 0.011; time < 0.15; time += 0.0237) {
    advance(world, time);
    double expected = def.speed * time * area / pow(s, dim);
    assert_close(fluid_count(world), expected, layer);
    assert_int_equal(flo_world_measure(world).emitted, fluid_count(world));
  }
  assert_int_equal(fluid_count(world) % layer, 0);
  flo_world_destroy(world);
}

static void test_an_emitter_emits_speed_times_area(void **state) {
  (void)state;
  check_flow(3, false, 5 * s * 4 * s, 20);
  check_flow(2, false, 5 * s, 5);
}

// 21 of the 25 lattice points of a square of 5 lie in its disc; the disc's area is 19.6.
static void test_a_round_window_emits_a_disc(void **state) {
  (void)state;
  check_flow(3, true, 21 * s * s, 21);
  FloWorld *world = weightless_world(3);
  FloEmitterDef def = window(add_water(world));
  def.round = true, def.size[0] = 0.4;
  add_emitter(world, &def);
  step_world(world, 1);
  assert_close(fluid_count(world) * s * s, FLO_PI * 0.04, 0.03 * FLO_PI * 0.04);
  for (size_t i = 0; i < fluid_count(world); ++i) {
    double x[3];
    fluid_position(world, i, x);
    assert_true(hypot(x[1], x[2]) <= 0.2 + 1e-12);
  }
  flo_world_destroy(world);
}

static void test_layers_are_a_spacing_apart_whatever_the_time_step(void **state) {
  (void)state;
  const double steps[] = {1e-3, 3.3e-3, 1.1e-2};
  for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k) {
    FloWorldDef world_def = small_world_def(2);
    vec_set(world_def.gravity, 0, 0, 0);
    world_def.time_step = steps[k];
    FloWorld *world = create_world(&world_def);
    FloEmitterDef def = window(add_water(world));
    def.size[0] = s; // a single file, which never spreads
    def.speed = 3;
    add_emitter(world, &def);
    advance(world, 0.1);
    size_t n = fluid_count(world);
    assert_close(n, 15.5, 1);
    for (uint32_t id = 1; id < n; ++id) {
      double a[3], b[3];
      fluid_position(world, index_of_id(world, id - 1), a);
      fluid_position(world, index_of_id(world, id), b);
      assert_close(a[0] - b[0], s, 0.02 * s);
      assert_close(a[1] - b[1], 0, 1e-9);
    }
    flo_world_destroy(world);
  }
}

static void test_an_emitter_points_where_its_pose_turns_it(void **state) {
  (void)state;
  const double up[3] = {0, -1, 0};
  FloWorld *world = weightless_world(3);
  FloEmitterDef def = window(add_water(world));
  def.pose = pose_at(1, 2, 3);
  quat_from_axis_angle(up, FLO_PI / 2, def.pose.rotation); // +x becomes +z
  add_emitter(world, &def);
  advance(world, 0.015);
  assert_int_equal(fluid_count(world), 40);
  for (size_t i = 0; i < 40; ++i) {
    double x[3];
    fluid_position(world, i, x);
    assert_close(field_at(world, FLO_SET_FLUID, "vz", i), 2, 1e-6);
    assert_close(x[0], 1, 2 * s);
    assert_close(x[1], 2, 2.5 * s);
    assert_true(x[2] >= 3 && x[2] <= 3.03 + 1e-9);
  }
  flo_world_destroy(world);
}

// The first layer comes in the step that was chosen before there was any fluid.
static void test_a_fast_emitter_limits_the_step_it_begins_in(void **state) {
  (void)state;
  const char *const methods[] = {"wcsph", "monolithic", "direct-forcing"};
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k)
    for (double start = 0; start < 0.02; start += 0.0123) {
      FloWorldDef world_def = small_world_def(3);
      world_def.method = methods[k];
      FloWorld *world = create_world(&world_def);
      FloEmitterDef def = window(add_water(world));
      def.speed = 20, def.start = start;
      add_emitter(world, &def);
      advance(world, start + 0.01);
      assert_true(fluid_count(world) > 100);
      assert_true(flo_world_measure(world).max_speed < 25);
      flo_world_destroy(world);
    }
}

static void test_an_emitter_keeps_its_hours(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3);
  FloEmitterDef def = window(add_water(world));
  def.start = 0.05, def.end = 0.1;
  add_emitter(world, &def);
  advance(world, 0.05);
  assert_int_equal(fluid_count(world), 0);
  advance(world, 0.2);
  assert_int_equal(fluid_count(world), 20 * 5); // one layer a hundredth of a second
  flo_world_destroy(world);
}

static void test_an_emitter_stops_at_the_largest_number_of_particles(void **state) {
  (void)state;
  FloWorldDef world_def = small_world_def(3);
  world_def.max_particles = 55;
  FloWorld *world = create_world(&world_def);
  FloEmitterDef def = window(add_water(world));
  add_emitter(world, &def);
  advance(world, 0.1);
  assert_int_equal(fluid_count(world), 40);
  assert_int_equal(flo_world_measure(world).emitted, 40);
  flo_world_destroy(world);
}

// What an emitter could have emitted before it was there is not made up for.
static void test_an_emitter_added_later_starts_then(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3);
  FloEmitterDef def = window(add_water(world));
  advance(world, 1);
  add_emitter(world, &def);
  step_world(world, 1);
  assert_true(fluid_count(world) <= 20);
  double time = flo_world_time(world);
  advance(world, time + 0.045);
  assert_close(fluid_count(world), 20 * 5, 20);
  flo_world_destroy(world);
}

// ---- Guiding ----

static void test_particles_are_guided_until_a_support_away(void **state) {
  (void)state;
  FloWorldDef world_def = small_world_def(3);
  FloWorld *world = create_world(&world_def);
  FloEmitterDef def = window(add_water(world));
  add_emitter(world, &def);
  size_t n_guided = 0, n_free = 0;
  for (int k = 0; k < 60; ++k) {
    step_world(world, 1);
    double slip = 2 * flo_world_measure(world).dt; // a particle is let go in the step after it has passed
    for (size_t i = 0; i < fluid_count(world); ++i) {
      bool is_held = field_at(world, FLO_SET_FLUID, "held", i) != 0;
      double x = field_at(world, FLO_SET_FLUID, "x", i), vz = field_at(world, FLO_SET_FLUID, "vz", i);
      is_held ? ++n_guided : ++n_free;
      if (x < 2 * s) assert_true(is_held);
      if (x > 2 * s + 2 * slip) assert_false(is_held);
      if (!is_held) continue;
      assert_true(field_at(world, FLO_SET_FLUID, "vx", i) == 2 && vz == 0);
      assert_true(field_at(world, FLO_SET_FLUID, "az", i) == 0);
    }
  }
  assert_true(n_guided > 0 && n_free > 0);
  flo_world_destroy(world);
}

static void test_particles_fall_once_they_are_let_go(void **state) {
  (void)state;
  FloWorldDef world_def = small_world_def(2);
  FloWorld *world = create_world(&world_def);
  FloEmitterDef def = window(add_water(world));
  def.size[0] = s;
  add_emitter(world, &def);
  advance(world, 0.1);
  size_t first = index_of_id(world, 0);
  assert_close(field_at(world, FLO_SET_FLUID, "vy", first), -9.81 * (0.1 - 0.02), 0.03);
  flo_world_destroy(world);
}

// ---- Removing emitters ----

static void test_a_removed_emitter_stops_and_lets_go(void **state) {
  (void)state;
  FloWorldDef world_def = small_world_def(3);
  FloWorld *world = create_world(&world_def);
  FloEmitterDef def = window(add_water(world));
  FloEmitterId id = add_emitter(world, &def);
  FloError error;
  advance(world, 0.025);
  size_t n = fluid_count(world);
  assert_ok(flo_world_remove_emitter(world, id, &error), &error);
  step_world(world, 2);
  assert_int_equal(fluid_count(world), n);
  for (size_t i = 0; i < n; ++i) assert_true(field_at(world, FLO_SET_FLUID, "held", i) == 0);
  flo_world_destroy(world);
}

static void test_ids_of_removed_streams_are_never_valid_again(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3);
  FloError error;
  FloEmitterDef def = window(add_water(world));
  FloEmitterId emitter = add_emitter(world, &def);
  FloSinkId sink = add_sink(world, box_shape(1, 1, 1), flo_pose_identity());
  assert_ok(flo_world_remove_emitter(world, emitter, &error), &error);
  assert_refused(flo_world_remove_emitter(world, emitter, &error), &error, "emitter");
  assert_ok(flo_world_remove_sink(world, sink, &error), &error);
  assert_refused(flo_world_remove_sink(world, sink, &error), &error, "sink");
  FloEmitterId next = add_emitter(world, &def);
  FloSinkId next_sink = add_sink(world, box_shape(1, 1, 1), flo_pose_identity());
  assert_refused(flo_world_remove_emitter(world, emitter, &error), &error, "emitter");
  assert_refused(flo_world_remove_sink(world, sink, &error), &error, "sink");
  assert_refused(flo_world_remove_emitter(world, (FloEmitterId){next.index, 7}, &error), &error, "emitter");
  assert_refused(flo_world_remove_emitter(world, (FloEmitterId){99, 1}, &error), &error, "emitter");
  assert_refused(flo_world_remove_sink(world, (FloSinkId){next_sink.index, 0}, &error), &error, "sink");
  assert_ok(flo_world_remove_emitter(world, next, &error), &error);
  assert_ok(flo_world_remove_sink(world, next_sink, &error), &error);
  flo_world_destroy(world);
}

// ---- Sinks ----

// A block of 10 x 4 x 4 at rest, from the origin.
static FloWorld *resting_block(void) {
  FloWorldDef def = small_world_def(3);
  vec_set(def.gravity, 0, 0, 0);
  def.time_step = 1e-6;
  FloWorld *world = create_world(&def);
  const double low[3] = {0}, high[3] = {10 * s, 4 * s, 4 * s};
  assert_int_equal(add_block(world, add_water(world), low, high), 160);
  return world;
}

static void test_a_sink_removes_what_is_inside_and_counts_it(void **state) {
  (void)state;
  FloWorld *world = resting_block();
  add_sink(world, box_shape(6 * s, 1, 1), flo_pose_identity()); // three spacings into the block
  step_world(world, 1);
  assert_int_equal(fluid_count(world), 7 * 16);
  FloMeasurements measurements = flo_world_measure(world);
  assert_int_equal(measurements.removed, 3 * 16);
  assert_int_equal(measurements.fluid_particles, 7 * 16);
  for (size_t i = 0; i < fluid_count(world); ++i) {
    double x = field_at(world, FLO_SET_FLUID, "x", i);
    uint32_t id = (uint32_t)field_at(world, FLO_SET_FLUID, "id", i);
    assert_true(x > 3 * s);
    assert_close(x, (id % 10 + 0.5) * s, 1e-4 * s); // ids count along x first: each kept its own place
  }
  step_world(world, 3);
  assert_int_equal(flo_world_measure(world).removed, 3 * 16);
  flo_world_destroy(world);
}

static void test_a_round_sink_and_a_turned_one(void **state) {
  (void)state;
  const double axis[3] = {0, 0, 1};
  FloWorld *world = resting_block();
  FloShape ball = {FLO_SHAPE_SPHERE, .radius = 1};
  FloPose turned = pose_at(10 * s, 0, 0);
  quat_from_axis_angle(axis, FLO_PI / 2, turned.rotation);
  add_sink(world, ball, pose_at(-1 + 1e-3 * s, 0, 0)); // touches nothing
  add_sink(world, box_shape(1, 4 * s, 1), turned);     // its y along x: the last two spacings
  step_world(world, 1);
  assert_int_equal(fluid_count(world), 8 * 16);
  flo_world_destroy(world);
}

static void test_a_sink_keeps_its_hours(void **state) {
  (void)state;
  FloWorld *world = resting_block();
  FloError error;
  FloSinkId id;
  FloSinkDef def = flo_default_sink_def();
  def.start = 2.5e-6, def.end = 3.5e-6;
  assert_ok(flo_world_add_sink(world, &def, &id, &error), &error);
  def.start = def.end = 0;
  assert_ok(flo_world_add_sink(world, &def, &id, &error), &error);
  step_world(world, 3); // these begin at 0, 1 and 2 microseconds
  assert_int_equal(fluid_count(world), 160);
  step_world(world, 1);
  assert_int_equal(fluid_count(world), 0);
  flo_world_destroy(world);
}

static void test_a_removed_sink_removes_nothing(void **state) {
  (void)state;
  FloWorld *world = resting_block();
  FloError error;
  FloSinkId id = add_sink(world, box_shape(1, 1, 1), flo_pose_identity());
  assert_ok(flo_world_remove_sink(world, id, &error), &error);
  step_world(world, 2);
  assert_int_equal(fluid_count(world), 160);
  flo_world_destroy(world);
}

static void test_a_drained_world_goes_on(void **state) {
  (void)state;
  FloWorld *world = resting_block();
  FloSinkId id = add_sink(world, box_shape(1, 1, 1), flo_pose_identity());
  FloError error;
  step_world(world, 3);
  assert_int_equal(fluid_count(world), 0);
  assert_int_equal(flo_world_measure(world).removed, 160);
  assert_ok(flo_world_remove_sink(world, id, &error), &error);
  const double x[3] = {0};
  assert_ok(flo_world_add_particles(world, (FloMaterialId){0, 1}, 1, x, NULL, &error), &error);
  step_world(world, 1);
  assert_true(field_at(world, FLO_SET_FLUID, "id", 0) == 160); // not the number of one that has gone
  flo_world_destroy(world);
}

static void test_solids_feel_nothing_once_the_fluid_has_gone(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  FloBodyState body;
  step_world(world, 20);
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &body, &error), &error);
  assert_true(vec_length(body.force) > 0.01);
  add_sink(world, box_shape(10, 10, 10), flo_pose_identity());
  step_world(world, 1);
  assert_int_equal(fluid_count(world), 0);
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &body, &error), &error);
  assert_close_3(body.force, ((double[3]){0}), 0);
  assert_close_3(body.torque, ((double[3]){0}), 0);
  flo_world_destroy(world);
}

static void test_what_flows_in_and_out_is_accounted_for(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3);
  FloEmitterDef def = window(add_water(world));
  add_emitter(world, &def);
  add_sink(world, box_shape(0.2, 1, 1), pose_at(0.3, 0, 0));
  advance(world, 0.3);
  FloMeasurements measurements = flo_world_measure(world);
  assert_true(measurements.removed > 100);
  assert_int_equal(measurements.emitted, measurements.removed + measurements.fluid_particles);
  assert_close(measurements.emitted, 20 * 30, 20);
  flo_world_destroy(world);
}

// ---- What is refused ----

#define REFUSE_EMITTER(world, water, change, word)                                                           \
  do {                                                                                                       \
    FloError error;                                                                                          \
    FloEmitterId id;                                                                                         \
    FloEmitterDef def = window(water);                                                                       \
    def.change;                                                                                              \
    assert_refused(flo_world_add_emitter(world, &def, &id, &error), &error, word);                           \
  } while (0)

static void test_bad_emitters_are_named(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3), *flat = weightless_world(2);
  FloMaterialId water = add_water(world), flat_water = add_water(flat);
  REFUSE_EMITTER(world, water, material.index = 3, "material");
  REFUSE_EMITTER(world, water, speed = 0, "speed");
  REFUSE_EMITTER(world, water, speed = -1, "speed");
  REFUSE_EMITTER(world, water, speed = NAN, "speed");
  REFUSE_EMITTER(world, water, speed = INFINITY, "speed");
  REFUSE_EMITTER(world, water, size[0] = 0.5 * s, "size");
  REFUSE_EMITTER(world, water, size[1] = 0.5 * s, "size");
  REFUSE_EMITTER(world, water, size[0] = NAN, "size");
  REFUSE_EMITTER(world, water, size[1] = INFINITY, "size");
  REFUSE_EMITTER(world, water, pose.position[0] = NAN, "position");
  REFUSE_EMITTER(world, water, pose.rotation[1] = 1, "rotation");
  REFUSE_EMITTER(world, water, end = -1, "emitter");
  REFUSE_EMITTER(world, water, start = NAN, "emitter");
  REFUSE_EMITTER(flat, flat_water, pose.position[2] = 1, "two dimensions");
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

// One that began before all time would have emitted without end.
static void test_an_emitter_without_a_beginning_is_refused(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3);
  FloMaterialId water = add_water(world);
  REFUSE_EMITTER(world, water, start = -INFINITY, "emitter");
  flo_world_destroy(world);
}

#define REFUSE_SINK(world, change, word)                                                                     \
  do {                                                                                                       \
    FloError error;                                                                                          \
    FloSinkId id;                                                                                            \
    FloSinkDef def = flo_default_sink_def();                                                                 \
    def.change;                                                                                              \
    assert_refused(flo_world_add_sink(world, &def, &id, &error), &error, word);                              \
  } while (0)

static void test_bad_sinks_are_named(void **state) {
  (void)state;
  FloWorld *world = weightless_world(3), *flat = weightless_world(2);
  REFUSE_SINK(world, shape.kind = FLO_SHAPE_TANK, "tank");
  REFUSE_SINK(world, shape.kind = FLO_SHAPE_COUNT, "shape");
  REFUSE_SINK(world, shape.size[2] = -1, "size");
  REFUSE_SINK(world, pose.position[0] = NAN, "position");
  REFUSE_SINK(world, pose.rotation[1] = 1, "rotation");
  REFUSE_SINK(world, end = -1, "sink");
  REFUSE_SINK(world, start = NAN, "sink");
  REFUSE_SINK(flat, pose.position[2] = 1, "two dimensions");
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_emitter_emits_speed_times_area),
      cmocka_unit_test(test_a_round_window_emits_a_disc),
      cmocka_unit_test(test_layers_are_a_spacing_apart_whatever_the_time_step),
      cmocka_unit_test(test_an_emitter_points_where_its_pose_turns_it),
      cmocka_unit_test(test_a_fast_emitter_limits_the_step_it_begins_in),
      cmocka_unit_test(test_an_emitter_keeps_its_hours),
      cmocka_unit_test(test_an_emitter_stops_at_the_largest_number_of_particles),
      cmocka_unit_test(test_an_emitter_added_later_starts_then),
      cmocka_unit_test(test_particles_are_guided_until_a_support_away),
      cmocka_unit_test(test_particles_fall_once_they_are_let_go),
      cmocka_unit_test(test_a_removed_emitter_stops_and_lets_go),
      cmocka_unit_test(test_ids_of_removed_streams_are_never_valid_again),
      cmocka_unit_test(test_a_sink_removes_what_is_inside_and_counts_it),
      cmocka_unit_test(test_a_round_sink_and_a_turned_one),
      cmocka_unit_test(test_a_sink_keeps_its_hours),
      cmocka_unit_test(test_a_removed_sink_removes_nothing),
      cmocka_unit_test(test_a_drained_world_goes_on),
      cmocka_unit_test(test_solids_feel_nothing_once_the_fluid_has_gone),
      cmocka_unit_test(test_what_flows_in_and_out_is_accounted_for),
      cmocka_unit_test(test_bad_emitters_are_named),
      cmocka_unit_test(test_an_emitter_without_a_beginning_is_refused),
      cmocka_unit_test(test_bad_sinks_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
