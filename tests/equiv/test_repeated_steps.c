// A step that runs out of memory can be repeated: the run then continues with the bits of one that never
// failed. Checked for every allocation of several steps, with fluid, contacts, joints, streams and soft
// bodies.
#include "state/state.h"
#include "support/allocator.h"
#include "support/worlds.h"

typedef struct Case {
  const char *method;
  int dim;
  double viscosity; // [m^2/s]
  int n_before;     // steps before allocations may fail
  int n_failing;    // steps in which they may
  bool has_bodies;
  bool has_soft;
} Case;

enum { N_AFTER = 3 }; // steps after them

static FloBodyId add_box(FloWorld *world, double density, double width, FloPose pose) {
  FloBodyDef box = flo_default_body_def();
  const bool is_flat = world->def.dim == 2;
  box.kind = FLO_BODY_DYNAMIC, box.density = density;
  box.shape = box_shape(width, width, is_flat ? 0 : width), box.pose = pose;
  return add_body(world, &box);
}

// Where something is: along, and above the floor.
static FloPose place(const FloWorld *world, double along, double above) {
  return world->def.dim == 2 ? pose_at(along, above, 0) : pose_at(along, 4 * world->def.spacing, above);
}

static void add_joint(FloWorld *world, FloBodyId body, FloBodyId to, FloPose at, FloMotorDef motor) {
  FloJointDef joint = flo_default_joint_def();
  FloError error;
  joint.body = body, joint.to = to, joint.motor = motor, joint.friction = 1e-3;
  vec_copy(at.position, joint.at);
  if (world->def.dim == 3) vec_set(joint.axis, 0, 1, 0);
  joint.low = -1e-3, joint.high = 0.5;
  assert_ok(flo_world_add_joint(world, &joint, NULL, &error), &error);
}

// A rope that lets go a little later, and one that breaks.
static void add_ropes(FloWorld *world, FloBodyId body) {
  static const FloJointChange changes[] = {{2e-3, FLO_JOINT_RELEASE, 1}};
  FloJointDef rope = flo_default_joint_def();
  FloError error;
  rope.kind = FLO_JOINT_ROPE, rope.body = body, rope.has_to_at = true;
  rope.changes = changes, rope.n_changes = 1;
  vec_copy(place(world, 13.5 * world->def.spacing, 5 * world->def.spacing).position, rope.at);
  vec_copy(place(world, 13.5 * world->def.spacing, 12 * world->def.spacing).position, rope.to_at);
  assert_ok(flo_world_add_joint(world, &rope, NULL, &error), &error);
  rope.n_changes = 0, rope.break_force = 0.05;
  assert_ok(flo_world_add_joint(world, &rope, NULL, &error), &error);
}

// A heavy box on the floor with another one on it. Beside them two boxes in a hinge with a motor and limits,
// and in another one to the world.
static void add_boxes(FloWorld *world) {
  const double s = world->def.spacing;
  const FloMotorDef motor = {.kind = FLO_MOTOR_SPEED, .value = 3, .max_load = 1};
  add_box(world, 3000, 3 * s, place(world, 3 * s, 1.5 * s));
  add_box(world, 600, 3 * s, place(world, 3.4 * s, 4.5 * s));
  FloBodyId a = add_box(world, 2000, 3 * s, place(world, 10 * s, 5 * s)),
            b = add_box(world, 700, 3 * s, place(world, 13.5 * s, 5 * s));
  add_joint(world, a, (FloBodyId){0}, place(world, 8.5 * s, 5 * s), (FloMotorDef){0});
  add_joint(world, b, a, place(world, 11.75 * s, 5 * s), motor);
  add_ropes(world, b);
}

// A sheet in the water that touches itself nowhere, with a pin that breaks, and an elastic block on the
// floor.
static void add_soft(FloWorld *world) {
  const double s = world->def.spacing;
  static const FloPinDef pins[] = {{.place = FLO_PIN_CORNERS, .break_load = 0.02}};
  FloBodyDef soft = flo_default_body_def();
  soft.kind = FLO_BODY_CLOTH, soft.pins = pins, soft.n_pins = 1, soft.pose = place(world, 11 * s, 5 * s);
  soft.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {4 * s, 4 * s, 0}};
  soft.cloth = (FloClothDef){.areal_density = 1, .stretch = 300, .bend = 1e-4, .damping = 0.01};
  add_body(world, &soft);
  soft.kind = FLO_BODY_ELASTIC, soft.n_pins = 0, soft.density = 1500,
  soft.pose = place(world, 5 * s, 1.5 * s);
  soft.shape = box_shape(3 * s, 3 * s, world->def.dim == 2 ? 0 : 3 * s);
  soft.elastic = (FloElasticDef){.young = 2e4, .poisson = 0.3};
  add_body(world, &soft);
}

static void add_streams(FloWorld *world, FloMaterialId water) {
  const double s = world->def.spacing;
  FloEmitterDef emitter = flo_default_emitter_def();
  FloSinkDef sink = flo_default_sink_def();
  FloError error;
  emitter.material = water, emitter.speed = 3, emitter.pose = place(world, 2 * s, 10 * s);
  emitter.size[0] = 2 * s, emitter.size[1] = world->def.dim == 3 ? 2 * s : 0;
  assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  sink.shape = box_shape(2 * s, 2 * s, 2 * s), sink.pose = place(world, 17 * s, 2 * s);
  assert_ok(flo_world_add_sink(world, &sink, NULL, &error), &error);
}

// A tank that measures the forces on it.
static void add_scale(FloWorld *world, double width, double across) {
  FloBodyDef tank = flo_default_body_def();
  const double height = 14 * world->def.spacing;
  const bool is_flat = world->def.dim == 2;
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK,
                          .size = {width, is_flat ? height : across, is_flat ? 0 : height},
                          .up = world->def.dim - 1};
  tank.pose = pose_at(width / 2, is_flat ? height / 2 : across / 2, is_flat ? 0 : height / 2);
  tank.averages_force = true;
  add_body(world, &tank);
}

static FloWorld *create_scene(const Case *c, CountingAllocator *counter) {
  FloWorldDef def = small_world_def(c->dim);
  def.method = c->method, def.allocator = counting_allocator(counter);
  FloWorld *world = create_world(&def);
  const double s = def.spacing, width = 18 * s, depth = 8 * s, across = c->dim == 3 ? 8 * s : 0;
  const FloMaterialId water = add_material(world, 1000, c->viscosity);
  const double low[3] = {0}, high[3] = {width, c->dim == 3 ? across : depth, c->dim == 3 ? depth : 0};
  add_scale(world, width, across);
  if (c->has_bodies) add_boxes(world);
  if (c->has_soft) add_soft(world);
  add_block(world, water, low, high);
  add_streams(world, water);
  return world;
}

// Takes steps, and repeats those that fail. How many failed.
static int step_again(FloWorld *world, int n) {
  int n_failed = 0;
  FloError error;
  for (int k = 0; k < n;) {
    FloStatus status = flo_world_step(world, NULL, &error);
    if (status != FLO_OK) assert_int_equal(status, FLO_NO_MEMORY);
    if (status == FLO_OK) ++k;
    if (status != FLO_OK) ++n_failed;
  }
  return n_failed;
}

static uint64_t run(const Case *c, size_t fail_at, int *n_failed, size_t *n_calls) {
  CountingAllocator counter = {.is_poisoned = true};
  FloWorld *world = create_scene(c, &counter);
  step_world(world, c->n_before);
  if (fail_at) counter.fail_at = counter.n_calls + fail_at;
  *n_calls = counter.n_calls;
  *n_failed = step_again(world, c->n_failing);
  *n_calls = counter.n_calls - *n_calls;
  step_world(world, N_AFTER);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  assert_int_equal(counter.n_blocks, 0);
  return hash;
}

static void check(const Case *c) {
  int n_failed;
  size_t n_calls, n_other, n_wrong = 0;
  const uint64_t expected = run(c, 0, &n_failed, &n_calls);
  const size_t stride = getenv("FLOTSAM_SLOW") ? 5 : c->dim == 3 ? 3 : 1; // all of them in 2D
  for (size_t k = 1; k <= n_calls; k += stride) {
    const uint64_t hash = run(c, k, &n_failed, &n_other);
    assert_int_equal(n_failed, 1);
    if (hash != expected) print_message("%s: allocation %zu\n", c->method, k), ++n_wrong;
  }
  print_message("%s, %dD, after %d steps: %zu allocations\n", c->method, c->dim, c->n_before, n_calls);
  assert_true(n_calls > 0);
  assert_int_equal(n_wrong, 0);
}

// In `n_later` steps the emitter needs more memory.
static void check_method(const char *method, bool has_bodies, int n_later) {
  const Case cases[] = {{method, 2, 1e-6, 0, 3, has_bodies, false},
                        {method, 2, 1, 0, 3, has_bodies, false},
                        {method, 2, 1e-6, 8, n_later, has_bodies, false},
                        {method, 3, 1e-6, 0, 3, has_bodies, false}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) check(&cases[k]);
}

static void test_steps_of_wcsph(void **state) {
  (void)state;
  check_method("wcsph", false, 60);
}

static void test_steps_of_direct_forcing(void **state) {
  (void)state;
  check_method("direct-forcing", true, 300);
}

static void test_steps_of_constraint(void **state) {
  (void)state;
  check_method("constraint", true, 60);
}

static void test_steps_of_monolithic(void **state) {
  (void)state;
  check_method("monolithic", true, 60);
}

static void test_steps_of_elastic(void **state) {
  (void)state;
  check_method("elastic", true, 60);
}

static void test_steps_with_soft_bodies(void **state) {
  (void)state;
  static const Case cases[] = {{"elastic", 2, 1, 0, 3, false, true},
                               {"constraint", 2, 1, 0, 3, false, true},
                               {"monolithic", 2, 1, 0, 3, false, true},
                               {"monolithic", 2, 1e-6, 8, 20, false, true},
                               {"monolithic", 3, 1e-6, 0, 2, false, true}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) check(&cases[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps_of_wcsph),      cmocka_unit_test(test_steps_of_direct_forcing),
      cmocka_unit_test(test_steps_of_constraint), cmocka_unit_test(test_steps_of_monolithic),
      cmocka_unit_test(test_steps_of_elastic),    cmocka_unit_test(test_steps_with_soft_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
