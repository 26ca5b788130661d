// Memory over the life of a world: none taken once it has warmed up, all given back, and every failure
// survived.
#include "state/state.h"
#include "support/allocator.h"
#include "support/worlds.h"

static FloWorldDef counted_def(int dim, CountingAllocator *counter) {
  FloWorldDef def = small_world_def(dim);
  def.allocator = counting_allocator(counter);
  return def;
}

static void check_balanced(const CountingAllocator *counter) {
  assert_int_equal(counter->n_blocks, 0);
  assert_int_equal(counter->bytes, 0);
  assert_int_equal(counter->n_mismatches, 0);
}

// ---- Warm worlds ----

static void check_warm_steps(int dim, double scale) {
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(dim, &counter);
  def.threads = 2;
  FloWorld *world = create_dam_of(&def, scale);
  step_world(world, 50);
  size_t calls = counter.n_calls;
  for (int k = 50; k < 100; ++k) {
    step_world(world, 1);
    if (counter.n_calls != calls) fail_msg("%dD: step %d allocates", dim, k);
  }
  flo_world_destroy(world);
  check_balanced(&counter);
}

static void test_a_warm_world_takes_no_memory(void **state) {
  (void)state;
  check_warm_steps(3, 2);
  check_warm_steps(2, 4);
}

// A box that floats beside one that has sunk, in a basin.
static FloWorld *create_bath(const FloWorldDef *def) {
  FloWorld *world = create_world(def);
  double s = def->spacing;
  FloBodyDef tank = flo_default_body_def(), box = flo_default_body_def();
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {20 * s, 12 * s, 16 * s}, .up = 2};
  tank.pose = pose_at(0, 0, 8 * s);
  add_body(world, &tank);
  box.kind = FLO_BODY_DYNAMIC, box.shape = box_shape(5 * s, 5 * s, 5 * s);
  for (int k = 0; k < 2; ++k) {
    box.density = k ? 3000 : 500, box.pose = pose_at(k ? 5 * s : -5 * s, 0, k ? 2.5 * s : 8 * s);
    add_body(world, &box);
  }
  const double low[3] = {-10 * s, -6 * s, 0}, high[3] = {10 * s, 6 * s, 8 * s};
  add_block(world, add_water(world), low, high);
  return world;
}

// What touches what still grows now and then, as the water comes to rest; nothing is taken in every step.
static void test_a_warm_world_with_bodies_seldom_takes_memory(void **state) {
  (void)state;
  static const char *const methods[] = {"monolithic", "direct-forcing", "constraint", "elastic", "unified"};
  for (int m = 0; m < 5; ++m) {
    CountingAllocator counter = {0};
    FloWorldDef def = counted_def(3, &counter);
    def.method = methods[m], def.spacing = 0.02;
    FloWorld *world = create_bath(&def);
    step_world(world, 200);
    size_t calls = counter.n_calls;
    step_world(world, 200);
    print_message("%s: %zu allocations in 200 steps\n", methods[m], counter.n_calls - calls);
    assert_true(counter.n_calls - calls < 20);
    flo_world_destroy(world);
    check_balanced(&counter);
  }
}

// ---- Joints ----

// A chain with a motor that follows a law, a spring, and a joint that lets go later.
static FloStatus hang_chain(FloWorld *world, double s, FloError *error) {
  static const FloMotorKey keys[] = {{0, 0}, {1, 2}};
  static const FloJointChange changes[] = {{1e9, FLO_JOINT_RELEASE, 1}};
  FloBodyId before = {0}, id;
  for (int k = 0; k < 5; ++k) {
    FloBodyDef link = flo_default_body_def();
    FloJointDef joint = flo_default_joint_def();
    link.kind = FLO_BODY_DYNAMIC, link.density = 1000, link.shape = box_shape(4 * s, 2 * s, 2 * s);
    link.pose = pose_at(4 * s * k, 0, 0);
    FLO_TRY(flo_world_add_body(world, &link, &id, error));
    joint.body = id, joint.to = before, joint.axis[1] = 1, joint.axis[2] = 0, joint.at[0] = 4 * s * (k - 0.5);
    joint.changes = changes, joint.n_changes = 1, joint.friction = 0.01;
    if (k == 2)
      joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .max_load = 1, .keys = keys, .n_keys = 2};
    FLO_TRY(flo_world_add_joint(world, &joint, NULL, error));
    before = id;
  }
  FloJointDef spring = flo_default_joint_def();
  spring.kind = FLO_JOINT_SPRING, spring.body = id, spring.has_to_at = true, spring.stiffness = 10;
  spring.to_at[2] = 20 * s;
  return flo_world_add_joint(world, &spring, NULL, error);
}

static void test_a_warm_world_with_joints_seldom_takes_memory(void **state) {
  (void)state;
  static const char *const methods[] = {"monolithic", "direct-forcing", "elastic", "unified"};
  for (int m = 0; m < 4; ++m) {
    CountingAllocator counter = {.is_poisoned = true};
    FloWorldDef def = counted_def(3, &counter);
    FloError error;
    def.method = methods[m];
    FloWorld *world = create_world(&def);
    assert_ok(hang_chain(world, def.spacing, &error), &error);
    step_world(world, 20);
    size_t calls = counter.n_calls;
    step_world(world, 100);
    print_message("%s: %zu allocations in 100 steps\n", methods[m], counter.n_calls - calls);
    assert_true(counter.n_calls - calls < 10); // links that come near each other need some
    flo_world_destroy(world);
    check_balanced(&counter);
  }
}

static void test_joints_survive_every_failure_of_memory(void **state) {
  (void)state;
  FloStatus status = FLO_NO_MEMORY;
  for (size_t k = 1; status != FLO_OK; ++k) {
    CountingAllocator counter = {.fail_at = k};
    FloWorldDef def = counted_def(3, &counter);
    FloWorld *world;
    FloError error;
    def.method = "monolithic";
    status = flo_world_create(&def, &world, &error);
    if (status == FLO_OK) status = hang_chain(world, def.spacing, &error);
    for (int step = 0; status == FLO_OK && step < 3; ++step) status = flo_world_step(world, NULL, &error);
    assert_true(status == FLO_OK || status == FLO_NO_MEMORY);
    // A step that ran out of memory may be tried again.
    if (status != FLO_OK && world && world->joints.list.count == 6) {
      FloStatus again = flo_world_step(world, NULL, &error);
      assert_int_equal(again, FLO_OK);
    }
    flo_world_destroy(world);
    check_balanced(&counter);
  }
}

static void test_asking_a_warm_world_takes_no_memory(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  FloWorld *world = create_dam(&def);
  const double point[3] = {0.05, 0.05, 0.05};
  double density, pressure;
  FloBodyState body;
  FloError error;
  size_t calls = 0;
  for (int k = 0; k < 60; ++k) {
    step_world(world, 1);
    flo_world_measure(world);
    flo_world_sample(world, point, &density, &pressure);
    assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &body, &error), &error);
    if (k == 40) calls = counter.n_calls;
  }
  assert_int_equal(counter.n_calls, calls);
  flo_world_destroy(world);
  check_balanced(&counter);
}

// ---- Whole lives ----

typedef struct Life {
  FloWorld *world;
  FloError error;
  bool is_asked; // for the forces on bodies after each step; otherwise they are still unknown when a step
                 // fails
} Life;

static FloStatus live_bodies(Life *life, double s) {
  FloBodyId id;
  FloBodyDef tank = flo_default_body_def();
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {10 * s, 6 * s, 8 * s}, .up = 2};
  tank.pose = pose_at(5 * s, 3 * s, 4 * s);
  FLO_TRY(flo_world_add_body(life->world, &tank, &id, &life->error));
  FloKeyframe frames[2] = {{0, pose_at(8 * s, 3 * s, 6 * s)}, {1, pose_at(8 * s, 3 * s, 3 * s)}};
  FloMotionDef motions[2] = {flo_default_motion_def(), flo_default_motion_def()};
  motions[0].kind = FLO_MOTION_KEYFRAMES, motions[0].keyframes = frames, motions[0].n_keyframes = 2;
  FloBodyDef mover = flo_default_body_def();
  mover.kind = FLO_BODY_KINEMATIC, mover.shape = (FloShape){FLO_SHAPE_SPHERE, .radius = 2 * s};
  mover.motions = motions, mover.n_motions = 2;
  return flo_world_add_body(life->world, &mover, &id, &life->error);
}

static FloStatus live_fluids(Life *life, double s) {
  FloMaterialId materials[2];
  FloMaterialDef material = flo_default_material_def();
  for (int k = 0; k < 2; ++k, material.density = 1500)
    FLO_TRY(flo_world_add_material(life->world, &material, &materials[k], &life->error));
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = materials[0], fluid.shape = box_shape(5 * s, 6 * s, 4 * s),
  fluid.pose = pose_at(2.5 * s, 3 * s, 2 * s);
  FLO_TRY(flo_world_add_fluid(life->world, &fluid, NULL, &life->error));
  const double x[3] = {5.5 * s, 3 * s, 5 * s};
  return flo_world_add_particles(life->world, materials[1], 1, x, NULL, &life->error);
}

static FloStatus live_streams(Life *life, double s) {
  FloEmitterId emitter_id;
  FloSinkId sink_id;
  FloEmitterDef emitter = flo_default_emitter_def();
  emitter.material = (FloMaterialId){1, 1}, emitter.size[0] = emitter.size[1] = 3 * s, emitter.speed = 40;
  emitter.pose = pose_at(s, 3 * s, 6 * s);
  FLO_TRY(flo_world_add_emitter(life->world, &emitter, &emitter_id, &life->error));
  FloSinkDef sink = flo_default_sink_def();
  sink.shape = box_shape(2 * s, 2 * s, 2 * s);
  return flo_world_add_sink(life->world, &sink, &sink_id, &life->error);
}

static FloStatus live_steps(Life *life) {
  for (int k = 0; k < 9; ++k) {
    FloBodyState body;
    FLO_TRY(flo_world_step(life->world, NULL, &life->error));
    if (life->is_asked) FLO_TRY(flo_world_body_state(life->world, (FloBodyId){1, 1}, &body, &life->error));
  }
  return FLO_OK;
}

static FloStatus live(Life *life, const FloWorldDef *def) {
  // Long steps and a fast emitter: the stores grow while the world runs.
  FloWorldDef hasty = *def;
  hasty.time_step = 2.5e-4;
  FLO_TRY(flo_world_create(&hasty, &life->world, &life->error));
  FLO_TRY(flo_world_set_param(life->world, "sound_speed", 20, &life->error));
  FLO_TRY(live_bodies(life, def->spacing));
  FLO_TRY(live_fluids(life, def->spacing));
  FLO_TRY(live_streams(life, def->spacing));
  return live_steps(life);
}

static void test_a_whole_life_gives_everything_back(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  Life life = {0};
  assert_ok(live(&life, &def), &life.error);
  assert_true(counter.n_calls > 100);
  assert_int_equal(flo_world_memory(life.world), counter.bytes);
  flo_world_destroy(life.world);
  check_balanced(&counter);
}

static void test_a_world_that_is_refused_gives_everything_back(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  Life life = {0};
  def.periodic[0] = true, def.domain_high[0] = 2 * def.spacing;
  assert_int_equal(live(&life, &def), FLO_BAD_INPUT);
  check_balanced(&counter);
}

// A body that is refused after its motions were copied.
static void test_a_body_that_is_refused_gives_everything_back(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  FloWorld *world = create_world(&def);
  FloKeyframe frames[2] = {{0, pose_at(1e30, 0, 0)}, {1, pose_at(1e30, 0, 0)}};
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_KEYFRAMES, motion.keyframes = frames, motion.n_keyframes = 2;
  FloBodyDef body = flo_default_body_def();
  FloBodyId id;
  FloError error;
  body.kind = FLO_BODY_KINEMATIC, body.shape = box_shape(0.1, 0.1, 0.1);
  body.motions = &motion, body.n_motions = 1;
  assert_int_not_equal(flo_world_add_body(world, &body, &id, &error), FLO_OK);
  assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), 0);
  flo_world_destroy(world);
  check_balanced(&counter);
}

// ---- Failing allocations ----

// Everything that may be asked of a world in which something has failed.
static void ask_everything(FloWorld *world) {
  const double point[3] = {0.05, 0.05, 0.05};
  double density, pressure;
  FloBodyState body;
  FloError error;
  FloView view;
  for (uint16_t k = 0; k < 2; ++k) flo_world_body_state(world, (FloBodyId){k, 1}, &body, &error);
  flo_world_sample(world, point, &density, &pressure);
  flo_world_measure(world);
  flo_world_hash(world);
  flo_world_max_dt(world, NULL);
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    const char *name;
    for (size_t k = 0; (name = flo_world_field_name(world, (FloSet)set, k)); ++k)
      if (flo_world_view(world, (FloSet)set, name, &view, &error) == FLO_OK && view.count)
        assert_non_null(view.data);
  }
}

static size_t calls_of_a_life(bool is_asked) {
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  Life life = {.is_asked = is_asked};
  assert_ok(live(&life, &def), &life.error);
  flo_world_destroy(life.world);
  return counter.n_calls;
}

// Runs a life whose k-th allocation fails; `onwards` fails all later ones too.
static void live_without(size_t k, bool onwards, bool is_asked) {
  CountingAllocator counter = {.fail_at = k, .fail_onwards = onwards};
  FloWorldDef def = counted_def(3, &counter);
  Life life = {.is_asked = is_asked};
  FloStatus status = live(&life, &def);
  if (status != FLO_NO_MEMORY)
    fail_msg("allocation %zu failed, but the status is '%s'", k, flo_status_name(status));
  assert_int_equal(life.error.status, FLO_NO_MEMORY);
  assert_non_null(strstr(life.error.text, "memory"));
  if (life.world) ask_everything(life.world);
  flo_world_destroy(life.world);
  if (counter.n_blocks || counter.bytes) fail_msg("allocation %zu failed: %zu bytes lost", k, counter.bytes);
  if (counter.n_mismatches) fail_msg("allocation %zu failed: a block came back with another size", k);
}

static void check_every_allocation(bool onwards, bool is_asked) {
  size_t n = calls_of_a_life(is_asked);
  for (size_t k = 1; k <= n; ++k) live_without(k, onwards, is_asked);
}

static void test_any_allocation_may_fail(void **state) {
  (void)state;
  check_every_allocation(false, true);
}

static void test_memory_may_run_out_for_good(void **state) {
  (void)state;
  check_every_allocation(true, true);
}

static void test_forces_may_be_asked_for_after_a_step_without_memory(void **state) {
  (void)state;
  check_every_allocation(false, false);
  check_every_allocation(true, false);
}

static uint64_t hash_after(int n_steps) {
  CountingAllocator counter = {0};
  FloWorldDef def = counted_def(3, &counter);
  FloWorld *world = create_dam(&def);
  step_world(world, n_steps);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

// A step without memory changes nothing that cannot be done again.
static void test_a_step_that_failed_can_be_repeated(void **state) {
  (void)state;
  uint64_t expected = hash_after(3);
  for (size_t k = 1;; ++k) {
    CountingAllocator counter = {0};
    FloWorldDef def = counted_def(3, &counter);
    FloError error;
    FloWorld *world = create_dam(&def);
    size_t n = flo_world_count(world, FLO_SET_FLUID);
    counter.fail_at = counter.n_calls + k;
    FloStatus status = flo_world_step(world, NULL, &error);
    if (status != FLO_OK) {
      assert_int_equal(status, FLO_NO_MEMORY);
      assert_true(flo_world_time(world) == 0);
      assert_int_equal(flo_world_count(world, FLO_SET_FLUID), n);
      step_world(world, 3);
      assert_true(flo_world_hash(world) == expected);
    }
    flo_world_destroy(world);
    check_balanced(&counter);
    if (status == FLO_OK) break;
  }
}

// What could not be added is not there.
static void test_a_body_without_memory_leaves_no_samples(void **state) {
  (void)state;
  for (size_t k = 1;; ++k) {
    CountingAllocator counter = {0};
    FloWorldDef def = counted_def(3, &counter);
    FloError error;
    FloBodyId id;
    FloWorld *world = create_dam(&def);
    FloBodyDef body = flo_default_body_def();
    body.shape = box_shape(0.1, 0.1, 0.1), body.pose = pose_at(1, 1, 1);
    size_t before = flo_world_count(world, FLO_SET_BOUNDARY);
    uint64_t hash = flo_world_hash(world);
    counter.fail_at = counter.n_calls + k;
    FloStatus status = flo_world_add_body(world, &body, &id, &error);
    if (status != FLO_OK) {
      assert_int_equal(status, FLO_NO_MEMORY);
      assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), before);
      assert_true(flo_world_hash(world) == hash);
    }
    flo_world_destroy(world);
    check_balanced(&counter);
    if (status == FLO_OK) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_warm_world_takes_no_memory),
      cmocka_unit_test(test_a_warm_world_with_bodies_seldom_takes_memory),
      cmocka_unit_test(test_a_warm_world_with_joints_seldom_takes_memory),
      cmocka_unit_test(test_joints_survive_every_failure_of_memory),
      cmocka_unit_test(test_asking_a_warm_world_takes_no_memory),
      cmocka_unit_test(test_a_whole_life_gives_everything_back),
      cmocka_unit_test(test_a_world_that_is_refused_gives_everything_back),
      cmocka_unit_test(test_a_body_that_is_refused_gives_everything_back),
      cmocka_unit_test(test_any_allocation_may_fail),
      cmocka_unit_test(test_memory_may_run_out_for_good),
      cmocka_unit_test(test_forces_may_be_asked_for_after_a_step_without_memory),
      cmocka_unit_test(test_a_step_that_failed_can_be_repeated),
      cmocka_unit_test(test_a_body_without_memory_leaves_no_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
