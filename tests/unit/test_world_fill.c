// Filling vessels: up to the level, around what stands in them, and never through a hole.
#include "state/state.h"
#include "support/worlds.h"

#define S 0.05

static FloWorld *make_vessel(int dim) {
  FloWorldDef def = small_world_def(dim);
  def.spacing = S;
  FloWorld *world = create_world(&def);
  add_tank(world, dim, 1, dim == 2 ? 0.8 : 0.5, 0.8);
  return world;
}

static FloFillDef fill_def(FloWorld *world, int dim, double level) {
  FloFillDef def = flo_default_fill_def();
  def.material = add_water(world);
  def.up = dim - 1, def.level = level;
  vec_set(def.seed, 0.52, dim == 2 ? 0.11 : 0.23, dim == 2 ? 0 : 0.13);
  return def;
}

static void test_a_tank_is_filled_to_its_level(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloError error;
    size_t n;
    FloWorld *world = make_vessel(dim);
    FloFillDef def = fill_def(world, dim, 0.4);
    assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
    // 20 x 10 x 8 particles, half a spacing from the walls, wherever the seed was.
    assert_int_equal(n, dim == 2 ? 20 * 8 : 20 * 10 * 8);
    const FloParticles *p = &world->sets[FLO_SET_FLUID];
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->count; ++i) {
      double h = dim == 2 ? p->y[i] : p->z[i];
      low = fmin(low, h), high = fmax(high, h);
    }
    assert_close(low, S / 2, 1e-9);
    assert_close(high, 0.4 - S / 2, 1e-9);
    flo_world_destroy(world);
  }
}

// A basin of five boxes, 1 m square and 0.5 m high inside.
static FloWorld *make_basin(void) {
  static const double boxes[5][6] = {{1, 1, 0.2, 0.5, 0.5, -0.1},
                                     {0.2, 1.4, 0.7, -0.1, 0.5, 0.15},
                                     {0.2, 1.4, 0.7, 1.1, 0.5, 0.15},
                                     {1, 0.2, 0.7, 0.5, -0.1, 0.15},
                                     {1, 0.2, 0.7, 0.5, 1.1, 0.15}};
  FloWorldDef def = small_world_def(3);
  def.spacing = S;
  FloWorld *world = create_world(&def);
  for (int k = 0; k < 5; ++k) {
    FloBodyDef box = flo_default_body_def();
    const double *b = boxes[k];
    box.shape = box_shape(b[0], b[1], b[2]), box.pose = pose_at(b[3], b[4], b[5]);
    add_body(world, &box);
  }
  return world;
}

static void test_what_a_basin_holds_does_not_depend_on_the_seed(void **state) {
  (void)state;
  const double seeds[][3] = {{0.5, 0.5, 0.1}, {0.525, 0.525, 0.125}, {0.31, 0.77, 0.21}, {0.03, 0.03, 0.03}};
  for (size_t k = 0; k < FLO_COUNT_OF(seeds); ++k) {
    FloError error;
    size_t n;
    FloWorld *world = make_basin();
    FloFillDef def = fill_def(world, 3, 0.3);
    vec_copy(seeds[k], def.seed);
    assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
    assert_int_equal(n, 20 * 20 * 6);
    flo_world_destroy(world);
  }
}

static void test_fluid_that_is_there_is_not_doubled(void **state) {
  (void)state;
  FloError error;
  size_t n;
  FloWorld *world = make_vessel(3);
  FloFillDef def = fill_def(world, 3, 0.4);
  const double low[3] = {0, 0, 0}, high[3] = {0.4, 0.5, 0.5};
  size_t n_block = add_block(world, def.material, low, high);
  assert_int_equal(n_block, 8 * 10 * 10);
  assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
  assert_int_equal(n, 12 * 10 * 8);
  def.level = 0.5;
  assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
  assert_int_equal(n, 12 * 10 * 2);
  flo_world_destroy(world);
}

// A floor that repeats holds what stands on it.
static void test_a_repeating_floor_is_filled(void **state) {
  (void)state;
  FloError error;
  size_t n;
  FloWorldDef world_def = small_world_def(3);
  world_def.spacing = S;
  world_def.periodic[0] = world_def.periodic[1] = true;
  world_def.domain_high[0] = world_def.domain_high[1] = 1;
  FloWorld *world = create_world(&world_def);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = box_shape(1, 1, 0.2), floor.pose = pose_at(0.5, 0.5, -0.1);
  add_body(world, &floor);
  FloFillDef def = fill_def(world, 3, 0.3);
  assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
  assert_int_equal(n, 20 * 20 * 6);
  flo_world_destroy(world);
}

static void test_fluid_flows_around_bodies_but_not_into_them(void **state) {
  (void)state;
  FloError error;
  size_t n;
  FloWorld *world = make_vessel(3);
  FloBodyDef box = flo_default_body_def();
  box.shape = box_shape(0.2, 0.2, 0.2), box.pose = pose_at(0.2, 0.2, 0.2);
  add_body(world, &box);
  FloFillDef def = fill_def(world, 3, 0.6);
  assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
  assert_int_equal(n, 20 * 10 * 12 - 4 * 4 * 4);
  flo_world_destroy(world);
}

// The seed decides which of two chambers is filled.
static void test_a_wall_holds_the_fluid_back(void **state) {
  (void)state;
  FloError error;
  size_t n;
  FloWorld *world = make_vessel(2);
  FloBodyDef wall = flo_default_body_def();
  wall.shape = box_shape(0.1, 0.8, 0), wall.pose = pose_at(0.35, 0.4, 0);
  add_body(world, &wall);
  FloFillDef def = fill_def(world, 2, 0.4);
  assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
  assert_int_equal(n, 12 * 8);
  flo_world_destroy(world);
}

// Hexagonal packing begins half a spacing from the low walls, keeps its distances and fills what there is
// room for.
static void test_a_tank_is_filled_hexagonally(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloError error;
    size_t n;
    FloWorld *world = make_vessel(dim);
    FloFillDef def = fill_def(world, dim, 0.4);
    def.packing = FLO_FLUID_HEXAGONAL;
    assert_ok(flo_world_add_fill(world, &def, &n, &error), &error);
    double apart = S * (dim == 2 ? sqrt(2 / sqrt(3)) : pow(2, 1.0 / 6));
    const FloParticles *p = &world->sets[FLO_SET_FLUID];
    const double *x[3] = {p->x, p->y, p->z};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < n; ++i) {
      double nearest = INFINITY;
      for (size_t j = 0; j < n; ++j)
        if (i != j)
          nearest = fmin(nearest, hypot(hypot(p->x[i] - p->x[j], p->y[i] - p->y[j]), p->z[i] - p->z[j]));
      assert_close(nearest, apart, 1e-6);
      for (int axis = 0; axis < dim; ++axis)
        low[axis] = fmin(low[axis], x[axis][i]), high[axis] = fmax(high[axis], x[axis][i]);
    }
    const double walls[3] = {1, dim == 2 ? 0.4 : 0.5, 0.4};
    double room = 1;
    for (int axis = 0; axis < dim; ++axis) {
      assert_close(low[axis], S / 2, 1e-9);
      assert_true(high[axis] <= walls[axis] - 0.4 * S && high[axis] > walls[axis] - 1.5 * apart);
      room *= walls[axis] / S;
    }
    assert_true((double)n < room && (double)n > 0.8 * room);
    flo_world_destroy(world);
  }
}

static void refuse(FloWorld *world, FloFillDef def, const char *word) {
  FloError error;
  size_t n_before = flo_world_count(world, FLO_SET_FLUID);
  assert_refused(flo_world_add_fill(world, &def, NULL, &error), &error, word);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), n_before);
}

static void test_what_would_run_out_is_refused(void **state) {
  (void)state;
  FloWorld *world = make_vessel(3);
  FloFillDef good = fill_def(world, 3, 0.4), def = good;
  def.level = 3;
  refuse(world, def, "run out");
  def = good, vec_set(def.seed, 5, 5, 5);
  refuse(world, def, "outside of all solids");
  def = good, def.level = 0.1;
  refuse(world, def, "no room");
  def = good, def.level = NAN;
  refuse(world, def, "finite");
  def = good, def.packing = (FloFluidPacking)7;
  refuse(world, def, "packing");
  def = good, def.up = 3;
  refuse(world, def, "up must be");
  def = good, def.material.index = 99;
  refuse(world, def, "material");
  flo_world_destroy(world);
  FloWorld *empty = empty_world(3);
  def = fill_def(empty, 3, 1);
  refuse(empty, def, "no solids");
  flo_world_destroy(empty);
}

static void test_a_periodic_channel_is_filled_across_its_faces(void **state) {
  (void)state;
  FloError error;
  size_t n;
  FloWorldDef def = small_world_def(2);
  def.spacing = S, def.periodic[0] = true, def.domain_high[0] = 1;
  FloWorld *world = create_world(&def);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = box_shape(1, 0.2, 0), floor.pose = pose_at(0.5, -0.1, 0);
  add_body(world, &floor);
  floor.pose = pose_at(0.5, 1.1, 0);
  add_body(world, &floor);
  FloFillDef fill = fill_def(world, 2, 0.4);
  fill.seed[1] = 0.125;
  assert_ok(flo_world_add_fill(world, &fill, &n, &error), &error);
  assert_int_equal(n, 20 * 8);
  fill.packing = FLO_FLUID_HEXAGONAL;
  refuse(world, fill, "use cubic");
  flo_world_destroy(world);
}

// ---- Periods that are no multiple of the spacing ----

static double periodic_distance(const FloWorld *world, const double a[3], const double b[3]) {
  double image[3], between[3];
  flo_world_nearest_image(world, a, b, image);
  vec_sub(a, image, between);
  return vec_length(between);
}

// How near the nearest two particles are, across the faces too.
static double least_distance(const FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double least = INFINITY;
  for (size_t i = 0; i < p->count; ++i)
    for (size_t j = 0; j < i; ++j)
      least = fmin(least, periodic_distance(world, (double[3]){p->x[i], p->y[i], p->z[i]},
                                            (double[3]){p->x[j], p->y[j], p->z[j]}));
  return least;
}

static FloWorld *make_channel(double period, double spacing) {
  FloWorldDef def = small_world_def(2);
  def.spacing = spacing, def.periodic[0] = true, def.domain_high[0] = period;
  FloWorld *world = create_world(&def);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = box_shape(period, 0.4, 0), floor.pose = pose_at(period / 2, -0.2, 0);
  add_body(world, &floor);
  floor.pose = pose_at(period / 2, 2.2, 0);
  add_body(world, &floor);
  return world;
}

// Particles stand evenly across the seam, weigh as much as their place, and stay at rest.
static void test_a_period_that_is_no_multiple_of_the_spacing(void **state) {
  (void)state;
  static const double periods[] = {1.05, 1.04, 1.06, 0.97, 2.55};
  for (size_t k = 0; k < FLO_COUNT_OF(periods); ++k)
    for (int is_block = 0; is_block <= 1; ++is_block) {
      FloError error;
      FloWorld *world = make_channel(periods[k], 0.1);
      FloFillDef fill = fill_def(world, 2, 1);
      fill.seed[1] = 0.05;
      if (is_block)
        add_block(world, fill.material, (double[3]){0}, (double[3]){periods[k], 1, 0});
      else
        assert_ok(flo_world_add_fill(world, &fill, NULL, &error), &error);
      assert_true(least_distance(world) > 0.0949);
      size_t n = flo_world_count(world, FLO_SET_FLUID);
      assert_close((double)n * 0.01, periods[k], 0.05 * periods[k]);
      step_world(world, 300);
      assert_true(flo_world_measure_speed(world) < 0.5);
      flo_world_destroy(world);
    }
}

static void test_a_period_too_short_to_stretch_is_refused(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = make_channel(0.65, 0.1);
  FloFillDef fill = fill_def(world, 2, 0.4);
  vec_set(fill.seed, 0.1, 0.05, 0);
  refuse(world, fill, "period of 0.65 m along x");
  refuse(world, fill, "nearest spacing that fits is 0.0928571 m");
  FloFluidDef block = flo_default_fluid_def();
  block.material = fill.material, block.shape = box_shape(0.65, 0.4, 0), block.pose = pose_at(0.325, 0.2, 0);
  assert_refused(flo_world_add_fluid(world, &block, NULL, &error), &error, "0.0928571 m");
  block.packing = FLO_FLUID_HEXAGONAL;
  assert_refused(flo_world_add_fluid(world, &block, NULL, &error), &error, "use cubic");
  flo_world_destroy(world);
}

// A block longer than the period is filled once, not twice at the same place.
static void test_a_block_longer_than_the_period(void **state) {
  (void)state;
  FloWorld *world = make_channel(1, 0.1);
  assert_int_equal(add_block(world, add_water(world), (double[3]){-0.3, 0, 0}, (double[3]){1.5, 0.5, 0}), 50);
  assert_close(least_distance(world), 0.1, 1e-9);
  flo_world_destroy(world);
}

// ---- What is in a solid ----

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static bool is_in_any_body(const FloWorld *world, const double x[3], double clearance) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_world_distance(world, &flo_bodies(world)[k], x) < clearance) return true;
  return false;
}

// Asks for many points, most of them near the one before, as in a row of particles.
static void expect_solids_as_by_asking_every_body(const FloWorld *world, uint64_t *random) {
  static const double clearances[] = {0.4 * S, 0, -0.3 * S, 0.3};
  FloSolidsNear near[4] = {0};
  size_t n_inside = 0;
  double start[3] = {0};
  for (size_t k = 0; k < 20000; ++k) {
    double x[3], clearance = clearances[k % 4];
    for (int axis = 0; axis < 3 && k % 16 == 0; ++axis) start[axis] = 3 * draw(random) - 1;
    for (int axis = 0; axis < 3; ++axis) x[axis] = start[axis] + 12 * S * (draw(random) - 0.5);
    bool is_inside = is_in_any_body(world, x, clearance);
    n_inside += is_inside;
    assert_int_equal(flo_world_is_in_solid(world, x, clearance, &near[k % 4]), is_inside);
  }
  assert_true(n_inside > 500 && n_inside < 19000);
}

// Bodies that are passed over because they are far away must not be missed.
static void test_solids_are_found_as_by_asking_every_body(void **state) {
  (void)state;
  uint64_t random = 1;
  FloWorldDef def = small_world_def(3);
  def.spacing = S, def.periodic[0] = true, def.domain_low[0] = -1, def.domain_high[0] = 2;
  FloWorld *world = create_world(&def);
  add_tank(world, 3, 1, 0.5, 0.8);
  FloBodyDef body = flo_default_body_def();
  body.shape = box_shape(3, 0.1, 0.1), body.pose = pose_at(0.3, 1, 1);
  add_body(world, &body);
  body.shape = (FloShape){.kind = FLO_SHAPE_TUBE, .size = {0.6}, .radius = 0.4, .radius2 = 0.3};
  body.pose = pose_at(1.9, 1, 0);
  quat_from_axis_angle((double[3]){1, 2, 3}, 1, body.pose.rotation);
  add_body(world, &body);
  expect_solids_as_by_asking_every_body(world, &random);
  flo_world_destroy(world);
}

// More than the list of those near holds.
static void test_solids_are_found_in_a_crowd(void **state) {
  (void)state;
  uint64_t random = 2;
  FloWorldDef def = small_world_def(3);
  def.spacing = S;
  FloWorld *world = create_world(&def);
  FloBodyDef body = flo_default_body_def();
  body.shape = box_shape(2 * S, 2 * S, 2 * S);
  for (int k = 0; k < 125; ++k) {
    body.pose = pose_at(3 * S * (k % 5), 3 * S * (k / 5 % 5), 3 * S * (k / 25));
    add_body(world, &body);
  }
  expect_solids_as_by_asking_every_body(world, &random);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_tank_is_filled_to_its_level),
      cmocka_unit_test(test_a_tank_is_filled_hexagonally),
      cmocka_unit_test(test_what_a_basin_holds_does_not_depend_on_the_seed),
      cmocka_unit_test(test_fluid_that_is_there_is_not_doubled),
      cmocka_unit_test(test_a_repeating_floor_is_filled),
      cmocka_unit_test(test_fluid_flows_around_bodies_but_not_into_them),
      cmocka_unit_test(test_a_wall_holds_the_fluid_back),
      cmocka_unit_test(test_what_would_run_out_is_refused),
      cmocka_unit_test(test_a_periodic_channel_is_filled_across_its_faces),
      cmocka_unit_test(test_a_period_that_is_no_multiple_of_the_spacing),
      cmocka_unit_test(test_a_period_too_short_to_stretch_is_refused),
      cmocka_unit_test(test_a_block_longer_than_the_period),
      cmocka_unit_test(test_solids_are_found_as_by_asking_every_body),
      cmocka_unit_test(test_solids_are_found_in_a_crowd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
