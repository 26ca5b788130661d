// The same bits whatever the number of threads: hashes of whole runs.
#include "state/state.h"
#include "support/random.h"
#include "support/worlds.h"

typedef FloWorld *(*MakeWorld)(int threads);

static const char *method = "wcsph";
static double boundary = -1; // of the method `constraint`, if it is given

// A dam breaks against a wall that swings, an emitter pours in, and a sink drains a corner.
static FloWorld *busy_dam(int threads) {
  FloWorldDef def = small_world_def(3);
  def.threads = threads, def.method = method;
  FloWorld *world = create_world(&def);
  const double s = def.spacing, low[3] = {0}, high[3] = {14 * s, 8 * s, 12 * s};
  FloError error;
  FloEmitterId emitter_id;
  FloSinkId sink_id;
  FloMaterialId water = add_water(world);
  add_tank(world, 3, 28 * s, 8 * s, 16 * s);
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_OSCILLATE, motion.frequency = 3, motion.vector[0] = 2 * s;
  add_moving_box(world, box_shape(2 * s, 8 * s, 12 * s), pose_at(23 * s, 4 * s, 6 * s), &motion);
  add_block(world, water, low, high);
  FloEmitterDef emitter = flo_default_emitter_def();
  emitter.material = water, emitter.pose = pose_at(15 * s, 4 * s, 14 * s), emitter.speed = 1.5;
  assert_ok(flo_world_add_emitter(world, &emitter, &emitter_id, &error), &error);
  FloSinkDef sink = flo_default_sink_def();
  sink.shape = box_shape(4 * s, 4 * s, 2 * s), sink.pose = pose_at(14 * s, 2 * s, s);
  assert_ok(flo_world_add_sink(world, &sink, &sink_id, &error), &error);
  return world;
}

static void taylor_green(void *context, const double x[3], double v[3]) {
  double k = 2 * FLO_PI / *(const double *)context;
  vec_set(v, sin(k * x[0]) * cos(k * x[1]), -cos(k * x[0]) * sin(k * x[1]), 0);
}

static FloWorld *periodic_vortices(int threads) {
  FloWorldDef def = small_world_def(2);
  FloError error;
  double edge = 50 * def.spacing;
  def.threads = threads, def.method = method;
  vec_set(def.gravity, 0, 0, 0);
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = edge;
  FloWorld *world = create_world(&def);
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = add_material(world, 1000, 1e-3);
  fluid.shape = box_shape(edge, edge, 0), fluid.pose = pose_at(edge / 2, edge / 2, 0);
  fluid.velocity_at = taylor_green, fluid.context = &edge;
  assert_ok(flo_world_add_fluid(world, &fluid, NULL, &error), &error);
  return world;
}

static FloWorld *two_fluids(int threads) {
  FloWorldDef def = small_world_def(2);
  def.threads = threads, def.method = method;
  FloWorld *world = create_world(&def);
  const double s = def.spacing, low[3] = {0}, middle[3] = {40 * s, 15 * s, 0}, corner[3] = {0, 15 * s, 0};
  const double high[3] = {20 * s, 45 * s, 0};
  add_tank(world, 2, 40 * s, 60 * s, 0);
  add_block(world, add_water(world), low, middle);
  add_block(world, add_material(world, 2500, 0.01), corner, high);
  return world;
}

// Soft bodies of particles that water falls on, one with a rigid part.
static FloWorld *soft_particles(int threads) {
  FloWorldDef def = small_world_def(3);
  def.threads = threads, def.method = method;
  FloWorld *world = create_world(&def);
  const double s = def.spacing, low[3] = {0, 0, 8 * s}, high[3] = {18 * s, 8 * s, 18 * s};
  const FloRegion region = {{0, 0, 0}, {4 * s, 8 * s, 4 * s}};
  add_tank(world, 3, 18 * s, 8 * s, 30 * s);
  add_block(world, add_water(world), low, high);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef body = flo_default_body_def();
    body.kind = FLO_BODY_ELASTIC, body.density = 2000;
    body.elastic = (FloElasticDef){.young = 5e4, .poisson = 0.3, .form = FLO_ELASTIC_PARTICLES};
    body.elastic.rigid = &region, body.elastic.n_rigid = k == 0;
    body.shape = box_shape(6 * s, 6 * s, 6 * s), body.pose = pose_at((4 + 9 * k) * s, 4 * s, 3.5 * s);
    add_body(world, &body);
  }
  return world;
}

static uint64_t hash_after(MakeWorld make, int threads, int steps) {
  FloWorld *world = make(threads);
  FloError error;
  if (boundary >= 0) assert_ok(flo_world_set_param(world, "boundary", boundary, &error), &error);
  step_world(world, steps);
  uint64_t hash = flo_world_hash(world);
  // What makes a run worth comparing: everything in it has happened.
  FloMeasurements measurements = flo_world_measure(world);
  assert_true(measurements.max_speed > 0.1 && measurements.fluid_particles > 1024);
  if (make == busy_dam) assert_true(measurements.emitted > 0 && measurements.removed > 0);
  flo_world_destroy(world);
  return hash;
}

static void check_threads(MakeWorld make, int steps, const int *threads) {
  uint64_t one = hash_after(make, 1, steps);
  for (size_t k = 0; threads[k]; ++k) {
    uint64_t many = hash_after(make, threads[k], steps);
    if (many != one)
      fail_msg("%d threads: %016llx, one: %016llx", threads[k], (unsigned long long)many,
               (unsigned long long)one);
  }
}

static void test_a_busy_dam_is_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  check_threads(busy_dam, 200, (const int[]){2, 3, 8, 0});
}

static void test_periodic_vortices_are_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  check_threads(periodic_vortices, 60, (const int[]){2, 8, 0});
}

static void test_two_fluids_are_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  check_threads(two_fluids, 60, (const int[]){3, 0});
}

// Rows are coloured by cells, also where a domain repeats and has an odd number of them.
static void test_rows_are_solved_alike_by_any_number_of_threads(void **state) {
  (void)state;
  method = "constraint";
  check_threads(busy_dam, 60, (const int[]){2, 8, 0});
  check_threads(periodic_vortices, 20, (const int[]){3, 0});
  check_threads(two_fluids, 30, (const int[]){3, 0});
  boundary = 2; // the boundary field, whose blocks are made as fluid comes near
  check_threads(busy_dam, 60, (const int[]){3, 0});
  boundary = -1, method = "wcsph";
}

// Bodies answer in every iteration, and sums over nodes have a fixed order.
static void test_answers_of_bodies_are_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  method = "elastic";
  check_threads(busy_dam, 60, (const int[]){2, 8, 0});
  check_threads(two_fluids, 30, (const int[]){3, 0});
  method = "wcsph";
}

// Particles that are near a sample are found side by side; what collides is visited in a fixed order.
static void test_fluids_of_one_stiffness_are_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  method = "unified";
  check_threads(busy_dam, 60, (const int[]){2, 3, 8, 0});
  check_threads(two_fluids, 30, (const int[]){2, 3, 0});
  check_threads(soft_particles, 60, (const int[]){2, 3, 0});
  method = "wcsph";
}

static void test_forces_on_bodies_and_measurements_are_the_same_too(void **state) {
  (void)state;
  FloWorld *one = busy_dam(1), *many = busy_dam(5);
  FloBodyState a, b;
  FloError error;
  step_world(one, 30);
  step_world(many, 30);
  for (uint16_t k = 0; k < 2; ++k) {
    assert_ok(flo_world_body_state(one, (FloBodyId){k, 1}, &a, &error), &error);
    assert_ok(flo_world_body_state(many, (FloBodyId){k, 1}, &b, &error), &error);
    assert_memory_equal(a.force, b.force, sizeof a.force);
    assert_memory_equal(a.torque, b.torque, sizeof a.torque);
  }
  FloMeasurements f = flo_world_measure(one), g = flo_world_measure(many);
  assert_memory_equal(f.momentum, g.momentum, sizeof f.momentum);
  assert_memory_equal(f.angular_momentum, g.angular_momentum, sizeof f.momentum);
  assert_true(f.kinetic_energy == g.kinetic_energy && f.density_error_mean == g.density_error_mean);
  flo_world_destroy(one);
  flo_world_destroy(many);
}

static void test_the_hash_does_not_depend_on_the_order_in_memory(void **state) {
  (void)state;
  FloWorld *world = busy_dam(2);
  FloError error;
  step_world(world, 20);
  uint64_t hash = flo_world_hash(world);
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    Random random = {3};
    uint32_t n = (uint32_t)world->sets[set].count, *order = malloc(n * sizeof *order);
    random_order(&random, order, n);
    assert_ok(flo_particles_permute(&world->sets[set], order, n, 2, &error), &error);
    assert_true(flo_world_hash(world) == hash);
    free(order);
  }
  flo_world_destroy(world);
}

// Fields that are not state are computed anew: whatever stands in them between two steps is of no
// consequence.
static void spoil_what_is_not_state(FloWorld *world) {
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    void *data;
    const FloField *field;
    for (size_t k = 0; (field = flo_particles_field(&world->sets[set], k, &data)); ++k)
      if (!field->is_state && world->sets[set].count)
        memset(data, 0xff, world->sets[set].count * flo_type_size(field->type));
  }
}

static void test_a_run_depends_on_the_state_alone(void **state) {
  (void)state;
  FloWorld *whole = busy_dam(2), *spoilt = busy_dam(2);
  step_world(whole, 10);
  step_world(spoilt, 10);
  spoil_what_is_not_state(spoilt);
  assert_true(flo_world_hash(spoilt) == flo_world_hash(whole));
  step_world(whole, 2);
  step_world(spoilt, 2);
  assert_true(flo_world_hash(spoilt) == flo_world_hash(whole));
  flo_world_destroy(whole);
  flo_world_destroy(spoilt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_busy_dam_is_the_same_for_any_number_of_threads),
      cmocka_unit_test(test_periodic_vortices_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(test_two_fluids_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(test_rows_are_solved_alike_by_any_number_of_threads),
      cmocka_unit_test(test_answers_of_bodies_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(test_fluids_of_one_stiffness_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(test_forces_on_bodies_and_measurements_are_the_same_too),
      cmocka_unit_test(test_the_hash_does_not_depend_on_the_order_in_memory),
      cmocka_unit_test(test_a_run_depends_on_the_state_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
