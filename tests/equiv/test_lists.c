// Neighbour lists that serve several steps miss nobody: before every step of a flow, every row of the
// operators has the kernel sum of operators that are made afresh from the same positions.
#include "support/worlds.h"
#include "world/world.h"

// ---- Fresh operators to compare with ----

static void compare_operator(FloWorld *world, FloSet row_set, FloSet column_set, const FloGrid grids[]) {
  FloError error;
  FloPairs fresh;
  const FloPairs *used = flo_pairs_of(world, row_set, column_set);
  FloPairsSpec spec = {.rows = &grids[row_set],
                       .columns = &grids[column_set],
                       .kernel = world->kernel,
                       .reach = 1,
                       .threads = 1};
  flo_pairs_init(&fresh, &world->memory);
  assert_ok(flo_pairs_build(&fresh, &spec, &error), &error);
  assert_int_equal(used->n_rows, fresh.n_rows);
  double self = flo_kernel_w(&world->kernel, 0);
  double scale = column_set == FLO_SET_BOUNDARY ? self * flo_world_rest_volume(world) : self;
  for (size_t i = 0; i < fresh.n_rows; ++i)
    assert_close((double)used->kernel_sum[i], (double)fresh.kernel_sum[i], 1e-5 * scale);
  flo_pairs_free(&fresh);
}

static void make_grids(FloWorld *world, FloGrid grids[FLO_SET_COUNT]) {
  FloError error;
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    FloParticles *p = &world->sets[set];
    flo_grid_init(&grids[set], &world->lattice, &world->memory);
    assert_ok(flo_grid_build(&grids[set], p, set == FLO_SET_FLUID ? NULL : p->volume, 1, &error), &error);
  }
}

static void compare_operators(FloWorld *world) {
  FloGrid grids[FLO_SET_COUNT];
  make_grids(world, grids);
  compare_operator(world, FLO_SET_FLUID, FLO_SET_FLUID, grids);
  compare_operator(world, FLO_SET_FLUID, FLO_SET_BOUNDARY, grids);
  compare_operator(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, grids);
  for (int set = 0; set < FLO_SET_COUNT; ++set) flo_grid_free(&grids[set]);
}

// Does what a step does before it uses the operators, looks at them, and then makes the step.
static void compare_and_step(FloWorld *world) {
  FloError error;
  double dt = flo_world_max_dt(world, NULL);
  assert_ok(flo_world_drain(world, &error), &error);
  assert_ok(flo_world_emit(world, &error), &error);
  if (world->sets[FLO_SET_FLUID].count) {
    assert_ok(flo_world_find_neighbours(world, dt, &error), &error);
    compare_operators(world);
  }
  assert_ok(flo_world_step(world, NULL, &error), &error);
}

// ---- Flows ----

static FloWorldDef flow_def(int dim) {
  FloWorldDef def = small_world_def(dim);
  def.spacing = 0.05;
  // Not at exactly the distance of lattice neighbours, where rounding decides who is one.
  def.support = 2.1;
  return def;
}

// Far from the origin, where cells of another width are other cells.
#define LEFT 30.0

static FloWorld *make_dam(int dim) {
  FloWorldDef def = flow_def(dim);
  FloWorld *world = create_world(&def);
  FloBodyDef tank = flo_default_body_def();
  double depth = dim == 2 ? 0.8 : 0.4, height = dim == 2 ? 0 : 0.8;
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {1.2, depth, height}, .up = dim - 1};
  tank.pose = pose_at(LEFT + 0.6, depth / 2, height / 2);
  add_body(world, &tank);
  add_block(world, add_water(world), (double[]){LEFT, 0, 0},
            dim == 2 ? (double[]){LEFT + 0.4, 0.6, 0} : (double[]){LEFT + 0.4, 0.4, 0.6});
  return world;
}

static void test_lists_of_a_breaking_dam_miss_nobody(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_dam(dim);
    int n_lists = 0, n_reaches = 0;
    double reach = 0;
    for (int step = 0; step < 300; ++step) {
      compare_and_step(world);
      n_lists += world->lists.age <= 1;
      n_reaches += world->lists.reach != reach;
      reach = world->lists.reach;
    }
    // They were made now and then, and with margins that fit the speed: the test has seen what it is for.
    assert_in_range(n_lists, 10, 200);
    assert_true(n_reaches >= 3);
    flo_world_destroy(world);
  }
}

static void add_stream(FloWorld *world) {
  FloError error;
  FloEmitterDef emitter = flo_default_emitter_def();
  emitter.material = add_water(world);
  emitter.pose = pose_at(LEFT + 0.5, 0.65, 0);
  emitter.size[0] = 0.2, emitter.speed = 1;
  FloSinkDef sink = flo_default_sink_def();
  sink.shape = box_shape(0.1, 0.1, 0);
  sink.pose = pose_at(LEFT + 0.3, 0.1, 0);
  sink.start = 0.02;
  assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  assert_ok(flo_world_add_sink(world, &sink, NULL, &error), &error);
}

// Particles come and go, are looked at, and get company of others and of a body in the middle of the run.
static void test_lists_follow_what_is_added_and_removed(void **state) {
  (void)state;
  FloWorld *world = make_dam(2);
  FloError error;
  size_t n_old_lists = 0;
  // Short steps, so that lists get old.
  assert_ok(flo_world_set_param(world, "sound_speed", 60, &error), &error);
  add_stream(world);
  for (int step = 0; step < 400; ++step) {
    double density, pressure;
    compare_and_step(world);
    n_old_lists += world->lists.age > 1;
    flo_world_sample(world, (double[]){LEFT + 0.3, 0.2, 0}, &density, &pressure);
    if (step == 100)
      assert_ok(
          flo_world_add_particles(world, add_water(world), 1, (double[]){LEFT + 0.9, 0.7, 0}, NULL, &error),
          &error);
    if (step == 101) flo_world_sample(world, (double[]){LEFT + 0.9, 0.7, 0}, &density, &pressure);
    if (step == 200) {
      FloBodyDef body = flo_default_body_def();
      body.shape = box_shape(0.1, 0.1, 0), body.pose = pose_at(LEFT + 1.1, 0.7, 0);
      add_body(world, &body);
    }
  }
  assert_true(n_old_lists > 20);
  assert_true(world->n_emitted > 0 && world->n_removed > 0);
  flo_world_destroy(world);
}

static void test_lists_reach_across_a_short_period(void **state) {
  (void)state;
  // Room for three supports, but hardly for three cells with a margin.
  const double lengths[] = {0.35, 0.9};
  for (size_t k = 0; k < FLO_COUNT_OF(lengths); ++k) {
    FloWorldDef def = flow_def(2);
    double length = lengths[k];
    def.periodic[0] = true, def.domain_high[0] = length;
    FloWorld *world = create_world(&def);
    FloBodyDef floor = flo_default_body_def();
    floor.shape = box_shape(length, 0.1, 0), floor.pose = pose_at(length / 2, -0.05, 0);
    add_body(world, &floor);
    add_block(world, add_water(world), (double[]){0, 0, 0}, (double[]){length, 0.4, 0});
    world->sets[FLO_SET_FLUID].vx[0] = 0.5f;
    for (int step = 0; step < 150; ++step) compare_and_step(world);
    flo_world_destroy(world);
  }
}

static void test_lists_near_a_moving_body_are_made_each_step(void **state) {
  (void)state;
  FloWorld *world = make_dam(3);
  FloMotionDef swing = flo_default_motion_def();
  FloBodyDef paddle = flo_default_body_def();
  swing.kind = FLO_MOTION_OSCILLATE;
  swing.vector[0] = 0.05, swing.frequency = 2;
  paddle.kind = FLO_BODY_KINEMATIC;
  paddle.shape = box_shape(0.1, 0.3, 0.3), paddle.pose = pose_at(LEFT + 0.9, 0.2, 0.2);
  paddle.motions = &swing, paddle.n_motions = 1;
  add_body(world, &paddle);
  for (int step = 0; step < 30; ++step) {
    compare_and_step(world);
    assert_true(world->lists.age <= 1 && world->lists.reach == 1);
  }
  flo_world_destroy(world);
}

// ---- Directed cases: one or two particles in a still world ----

static FloWorld *still_world(double dt) {
  FloWorldDef def = flow_def(3);
  vec_set(def.gravity, 0, 0, 0);
  def.time_step = dt;
  return create_world(&def);
}

// Each uses up half of the margin: together all of it.
static void test_two_that_approach_each_other_are_listed_in_time(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = still_world(1e-3);
  double h = world->kernel.support;
  for (int k = 0; k < 20; ++k) {
    // Just out of reach of the first lists, whatever the margin.
    double apart = h * (1 + 0.005 * k), x[6] = {0, k * 4.0 * h, 0, apart, k * 4.0 * h, 0};
    float speed = (float)(5 * h), v[6] = {speed, 0, 0, -speed, 0, 0};
    FloMaterialId water = add_water(world);
    assert_ok(flo_world_add_particles(world, water, 2, x, v, &error), &error);
  }
  int n_old_lists = 0;
  for (int step = 0; step < 30; ++step) {
    compare_and_step(world);
    n_old_lists += world->lists.age > 1;
  }
  assert_true(n_old_lists > 5);
  flo_world_destroy(world);
}

static void test_a_slow_drop_is_kept_out_by_old_lists(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = still_world(1e-3);
  double s = world->def.spacing;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = box_shape(1, 1, 0.2), floor.pose = pose_at(0, 0, -0.1);
  add_body(world, &floor);
  float v[3] = {0, 0, (float)(-4 * s)};
  assert_ok(
      flo_world_add_particles(world, add_water(world), 1, (double[]){0.012, 0.017, 0.05 * s}, v, &error),
      &error);
  int n_old_at_the_wall = 0;
  for (int step = 0; step < 40; ++step) {
    assert_ok(flo_world_step(world, NULL, &error), &error);
    double z = world->sets[FLO_SET_FLUID].z[0];
    assert_true(z > -1e-6 * s);
    n_old_at_the_wall += z < 0.005 * s && world->lists.age > 0;
  }
  assert_true(n_old_at_the_wall > 0);
  flo_world_destroy(world);
}

// ---- Operators on demand ----

// A floating box, and above each sample of its top a drop. The drops are at distances around the support.
static FloWorld *drops_above_a_box(void) {
  FloWorldDef def = flow_def(2);
  FloError error;
  def.method = "direct-forcing";
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 500, box.shape = box_shape(1, 0.2, 0);
  add_body(world, &box);
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  FloMaterialId water = add_water(world);
  double top = 0, h = world->kernel.support;
  for (size_t i = 0; i < rigid->count; ++i) top = fmax(top, rigid->y[i]);
  for (size_t i = 0, n = 0; i < rigid->count; ++i) {
    if (rigid->y[i] < top - 1e-9) continue;
    const double x[3] = {rigid->x[i], top + h * (0.95 + 0.02 * (double)(n++ % 10)), 0};
    assert_ok(flo_world_add_particles(world, water, 1, x, NULL, &error), &error);
  }
  return world;
}

// Moves the drops up and the box down, this many supports each, and looks at the operator between them.
static void part_and_compare(FloWorld *world, double shift) {
  FloError error;
  FloGrid grids[FLO_SET_COUNT];
  FloParticles *fluid = &world->sets[FLO_SET_FLUID], *rigid = &world->sets[FLO_SET_RIGID];
  for (size_t i = 0; i < fluid->count; ++i) fluid->y[i] += shift * world->kernel.support;
  for (size_t i = 0; i < rigid->count; ++i) rigid->y[i] -= shift * world->kernel.support;
  assert_ok(flo_world_find_neighbours(world, 1e-5, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  make_grids(world, grids);
  compare_operator(world, FLO_SET_RIGID, FLO_SET_FLUID, grids);
  for (int set = 0; set < FLO_SET_COUNT; ++set) flo_grid_free(&grids[set]);
}

// An operator that is first asked for when the others' lists are old is made from later positions. From there
// particles may approach each other by more than the margin before the others' lists are made anew.
static void test_lists_made_late_on_demand_miss_nobody(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = drops_above_a_box();
  const FloOperator *asked = &world->operators[FLO_SET_RIGID][FLO_SET_FLUID];
  const double margin = 0.2, shift = 0.45 * margin;
  assert_ok(flo_world_list_neighbours(world, margin, &error), &error);
  assert_int_equal(asked->filled, 0);
  part_and_compare(world, shift);
  size_t n_before = asked->pairs.n_pairs;
  part_and_compare(world, -2 * shift);
  // The first lists have served all the time, and new neighbours have come.
  assert_int_equal(world->lists.age, 2);
  assert_true(asked->pairs.n_pairs > n_before);
  flo_world_destroy(world);
}

// The density at a point is that of the positions from which the last step started.
static void test_samples_of_old_lists_use_new_positions(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = make_dam(2);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  int n_old_lists = 0;
  for (int step = 0; step < 60; ++step) {
    double at[3] = {LEFT + 0.31, 0.22, 0}, expected = 0, density, pressure, x[1024][2];
    assert_true(p->count < 1024);
    for (size_t i = 0; i < p->count; ++i) x[i][0] = p->x[i], x[i][1] = p->y[i];
    assert_ok(flo_world_step(world, NULL, &error), &error);
    if (world->lists.age == 0) continue;
    ++n_old_lists;
    for (size_t i = 0; i < p->count; ++i)
      expected += (double)p->mass[i] * flo_kernel_w(&world->kernel, hypot(x[i][0] - at[0], x[i][1] - at[1]));
    flo_world_sample(world, at, &density, &pressure);
    assert_close(density, expected, 1e-6 * expected);
  }
  assert_true(n_old_lists > 10);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lists_of_a_breaking_dam_miss_nobody),
      cmocka_unit_test(test_lists_follow_what_is_added_and_removed),
      cmocka_unit_test(test_lists_reach_across_a_short_period),
      cmocka_unit_test(test_lists_near_a_moving_body_are_made_each_step),
      cmocka_unit_test(test_two_that_approach_each_other_are_listed_in_time),
      cmocka_unit_test(test_a_slow_drop_is_kept_out_by_old_lists),
      cmocka_unit_test(test_lists_made_late_on_demand_miss_nobody),
      cmocka_unit_test(test_samples_of_old_lists_use_new_positions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
