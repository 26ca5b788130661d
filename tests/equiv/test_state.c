// A world that was saved and restored goes on to the same bits as one that was not.
#include "base/saved.h"
#include "state/state.h"
#include "support/worlds.h"

enum { N_STEPS = 90 };

typedef void (*Fill)(FloWorld *world);

static void fill_dam(FloWorld *world) {
  const double low[3] = {0, 0, 0}, high[3] = {0.2, 0.2, world->def.dim == 2 ? 0 : 0.3};
  add_tank(world, world->def.dim, 0.4, world->def.dim == 2 ? 0.4 : 0.2, 0.4);
  add_block(world, add_water(world), low, high);
}

static void fill_paddle(FloWorld *world) {
  FloMotionDef motion = flo_default_motion_def();
  fill_dam(world);
  motion.kind = FLO_MOTION_OSCILLATE, motion.vector[0] = 0.03, motion.frequency = 2;
  add_moving_box(world, box_shape(0.04, 0.15, 0.2), pose_at(0.34, 0.1, 0.12), &motion);
}

static void fill_streams(FloWorld *world) {
  FloEmitterDef emitter = flo_default_emitter_def();
  FloSinkDef sink = flo_default_sink_def();
  FloError error;
  fill_dam(world);
  emitter.material = add_material(world, 800, 1e-4);
  emitter.pose = pose_at(0.3, 0.1, 0.2), emitter.size[0] = emitter.size[1] = 0.06, emitter.speed = 2;
  emitter.end = 0.05;
  assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  sink.shape = box_shape(0.1, 0.3, 0.1), sink.pose = pose_at(0.3, 0.1, 0.05);
  assert_ok(flo_world_add_sink(world, &sink, NULL, &error), &error);
}

// Two bodies that fall into the water, one onto the other.
static void fill_bodies(FloWorld *world) {
  bool is_flat = world->def.dim == 2;
  fill_dam(world);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef body = flo_default_body_def();
    double height = 0.34 + 0.09 * k;
    body.kind = FLO_BODY_DYNAMIC, body.density = 300 + 500 * k, body.slip = 0.5;
    body.shape = box_shape(0.08, 0.08, is_flat ? 0 : 0.08);
    body.pose = is_flat ? pose_at(0.1, height - 0.09, 0) : pose_at(0.1, 0.1, height + 0.01);
    add_body(world, &body);
  }
}

static void fill_bodies_in_a_field(FloWorld *world) {
  FloError error;
  fill_bodies(world);
  assert_ok(flo_world_set_param(world, "boundary", 2, &error), &error);
}

// A light fluid beside the water, and all that may keep fluid off bodies.
static void fill_bodies_in_two_fluids(FloWorld *world) {
  const double low[3] = {0.2, 0, 0}, high[3] = {0.3, 0.2, world->def.dim == 2 ? 0 : 0.1};
  FloError error;
  fill_bodies(world);
  add_block(world, add_material(world, 100, 1e-5), low, high);
  assert_ok(flo_world_set_param(world, "collisions", 1, &error), &error);
  assert_ok(flo_world_set_param(world, "repulsion", 0.1, &error), &error);
}

static FloWorld *make(const FloWorldDef *def, Fill fill, int threads) {
  FloWorldDef own = *def;
  own.threads = threads;
  FloWorld *world = create_world(&own);
  fill(world);
  return world;
}

// Also fluid that is added on the way, at a step of its own.
static void run(FloWorld *world, int from, int to) {
  bool is_flat = world->def.dim == 2;
  const double low[3] = {0.25, is_flat ? 0.3 : 0.02, is_flat ? 0 : 0.3},
               high[3] = {0.31, is_flat ? 0.36 : 0.08, is_flat ? 0 : 0.36};
  for (int step = from; step < to; ++step) {
    if (step == 40) add_block(world, (FloMaterialId){0, 1}, low, high);
    step_world(world, 1);
  }
}

// What two runs that are one have in common after a step.
typedef struct Trace {
  double time;
  uint64_t hash;
  FloMeasurements measurements;
} Trace;

static Trace trace_of(FloWorld *world) {
  return (Trace){flo_world_time(world), flo_world_hash(world), flo_world_measure(world)};
}

static void check_same(const Trace *a, const Trace *b) {
  assert_close(a->time, b->time, 0);
  assert_int_equal(a->hash, b->hash);
  assert_int_equal(a->measurements.step, b->measurements.step);
  assert_int_equal(a->measurements.emitted, b->measurements.emitted);
  assert_int_equal(a->measurements.removed, b->measurements.removed);
}

// Each moment is followed until lists have been made anew, and the first to the end.
static void check_every_moment(const FloWorldDef *def, Fill fill) {
  const int moments[] = {0, 1, 2, 7, 39, 40, 41, 60, 89};
  FloWorld *whole = make(def, fill, 2);
  FloState *states[FLO_COUNT_OF(moments)] = {0};
  Trace traces[N_STEPS + 1];
  FloError error;
  for (size_t step = 0, k = 0; step <= N_STEPS; ++step) {
    if (step) run(whole, (int)step - 1, (int)step);
    traces[step] = trace_of(whole);
    if (k < FLO_COUNT_OF(moments) && moments[k] == (int)step)
      assert_ok(flo_world_save(whole, &states[k++], &error), &error);
  }
  for (size_t k = 0; k < FLO_COUNT_OF(moments); ++k) {
    FloWorld *resumed = make(def, fill, 1 + (int)k % 3);
    int end = k && moments[k] + 25 < N_STEPS ? moments[k] + 25 : N_STEPS;
    assert_ok(flo_world_restore(resumed, states[k], &error), &error);
    run(resumed, moments[k], end);
    Trace trace = trace_of(resumed);
    check_same(&trace, &traces[end]);
    flo_world_destroy(resumed);
    flo_state_destroy(states[k]);
  }
  flo_world_destroy(whole);
}

static void test_a_dam(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    check_every_moment(&def, fill_dam);
  }
}

static void test_a_calm_dam_whose_lists_serve_long(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.settle = 1;
  check_every_moment(&def, fill_dam);
}

static void test_a_moving_wall(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  check_every_moment(&def, fill_paddle);
}

static void test_emitters_and_sinks(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  check_every_moment(&def, fill_streams);
}

static void test_bodies_by_other_methods(void **state) {
  (void)state;
  static const char *const methods[] = {"direct-forcing", "constraint", "elastic", "unified"};
  for (int k = 0; k < 8; ++k) {
    FloWorldDef def = small_world_def(2 + k % 2);
    def.method = methods[k / 2];
    check_every_moment(&def, fill_bodies);
    if (k == 2) check_every_moment(&def, fill_bodies_in_a_field);
    if (k >= 6) check_every_moment(&def, fill_bodies_in_two_fluids);
  }
}

static void test_a_periodic_domain(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.periodic[1] = true, def.domain_high[1] = 0.2;
  check_every_moment(&def, fill_dam);
}

static void test_a_world_can_go_back(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = make(&def, fill_streams, 2);
  FloState *kept = NULL;
  FloError error;
  run(world, 0, 30);
  assert_ok(flo_world_save(world, &kept, &error), &error);
  run(world, 30, 60);
  uint64_t hash = flo_world_hash(world);
  for (int again = 0; again < 2; ++again) {
    assert_ok(flo_world_restore(world, kept, &error), &error);
    assert_true(flo_world_hash(world) != hash);
    run(world, 30, 60);
    assert_int_equal(flo_world_hash(world), hash);
  }
  flo_state_destroy(kept);
  flo_world_destroy(world);
}

static void test_saving_does_not_disturb(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *saved = make(&def, fill_dam, 2), *left_alone = make(&def, fill_dam, 2);
  FloState *kept = NULL;
  FloError error;
  for (int step = 0; step < 40; ++step) {
    assert_ok(flo_world_save(saved, &kept, &error), &error);
    run(saved, step, step + 1);
  }
  run(left_alone, 0, 40);
  assert_int_equal(flo_world_hash(saved), flo_world_hash(left_alone));
  flo_state_destroy(kept);
  flo_world_destroy(saved);
  flo_world_destroy(left_alone);
}

// ---- States that do not fit ----

static void test_a_state_of_another_world_is_refused(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *dam = make(&def, fill_dam, 1), *streams = make(&def, fill_streams, 1);
  FloState *kept = NULL;
  FloError error;
  assert_ok(flo_world_save(streams, &kept, &error), &error);
  uint64_t before = flo_world_hash(dam);
  assert_refused(flo_world_restore(dam, kept, &error), &error, "another");
  assert_int_equal(flo_world_hash(dam), before);
  flo_state_destroy(kept);
  flo_world_destroy(dam);
  flo_world_destroy(streams);
}

static void refuse_changed(FloWorld *world, FloState *kept, const char *name, double value) {
  FloError error;
  FloStateArray *array = (FloStateArray *)flo_state_find(kept, name);
  if (!array) fail_msg("there is no %s", name);
  char before[8];
  memcpy(before, array->buffer.data, 8);
  if (array->type == FLO_TYPE_F64)
    *(double *)array->buffer.data = value;
  else if (array->type == FLO_TYPE_U32)
    *(uint32_t *)array->buffer.data = (uint32_t)value;
  else
    *(uint16_t *)array->buffer.data = (uint16_t)value;
  assert_refused(flo_world_restore(world, kept, &error), &error, "state: ");
  memcpy(array->buffer.data, before, 8);
}

static void test_a_damaged_state_is_refused_and_changes_nothing(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.settle = 1;
  FloWorld *world = make(&def, fill_streams, 1);
  FloState *kept = NULL;
  FloError error;
  const char *const tables[] = {"epochs",
                                "method/fluid.expected_speed",
                                "bodies/state.pose.position",
                                "bodies/state.pose.rotation",
                                "bodies/state.velocity",
                                "bodies/state.angular_velocity",
                                "bodies/impulse"};
  run(world, 0, 20);
  assert_ok(flo_world_save(world, &kept, &error), &error);
  uint64_t before = flo_world_hash(world);
  refuse_changed(world, kept, "scalars", NAN);
  refuse_changed(world, kept, "scalars", INFINITY);
  refuse_changed(world, kept, "fluid/material", 77);
  refuse_changed(world, kept, "fluid/held", 78);
  refuse_changed(world, kept, "lists/cells", 1 << 30);
  refuse_changed(world, kept, "fluid/x", NAN);
  refuse_changed(world, kept, "emitters", NAN);
  refuse_changed(world, kept, "emitters", -1);
  for (size_t k = 0; k < FLO_COUNT_OF(tables); ++k) refuse_changed(world, kept, tables[k], NAN);
  refuse_changed(world, kept, "params", INFINITY);
  FloStateArray *cells = (FloStateArray *)flo_state_find(kept, "lists/cells");
  cells->name[0] = 'm';
  assert_refused(flo_world_restore(world, kept, &error), &error, "state: ");
  cells->name[0] = 'l';
  FloStateArray *ids = (FloStateArray *)flo_state_find(kept, "fluid/id");
  ids->count--;
  assert_refused(flo_world_restore(world, kept, &error), &error, "state: ");
  ids->count++;
  kept->n_arrays = 3;
  assert_refused(flo_world_restore(world, kept, &error), &error, "state: ");
  assert_int_equal(flo_world_hash(world), before);
  flo_state_destroy(kept);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_dam),
      cmocka_unit_test(test_a_calm_dam_whose_lists_serve_long),
      cmocka_unit_test(test_a_moving_wall),
      cmocka_unit_test(test_emitters_and_sinks),
      cmocka_unit_test(test_bodies_by_other_methods),
      cmocka_unit_test(test_a_periodic_domain),
      cmocka_unit_test(test_a_world_can_go_back),
      cmocka_unit_test(test_saving_does_not_disturb),
      cmocka_unit_test(test_a_state_of_another_world_is_refused),
      cmocka_unit_test(test_a_damaged_state_is_refused_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
