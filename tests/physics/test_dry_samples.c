// Soft bodies have samples only where fluid is near. Fluid feels no difference, a body that meets fluid later
// gets its samples in time, and a saved state continues to the same bits.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

// ---- A drop falls on a long sheet ----

typedef struct Case {
  const char *method;
  int dim;
  double spacing; // [m]
  int length;     // of the sheet, in spacings
  double cell;    // of its triangles, in spacings
} Case;

// A block of water that flies down.
static void throw_drop(FloWorld *world, double side, double height) {
  FloFluidDef drop = flo_default_fluid_def();
  FloError error;
  const int dim = world->def.dim;
  drop.material = add_water(world);
  drop.shape = box_shape(side, side, dim == 3 ? side : 0);
  drop.pose.position[dim - 1] = height, drop.velocity[dim - 1] = -2;
  assert_ok(flo_world_add_fluid(world, &drop, NULL, &error), &error);
}

static FloWorld *make_sheet(const Case *c, bool has_dry_samples) {
  FloWorldDef def = small_world_def(c->dim);
  const FloPinDef border = {.place = FLO_PIN_BORDER};
  const double s = c->spacing;
  FloBodyDef body = flo_default_body_def();
  def.method = c->method, def.spacing = s;
  FloWorld *world = create_world(&def);
  body.kind = FLO_BODY_CLOTH, body.name = "sheet", body.pins = &border, body.n_pins = 1;
  body.shape = (FloShape){
      .kind = FLO_SHAPE_SHEET, .size = {c->length * s, c->dim == 3 ? 12 * s : 0}, .cell = c->cell * s};
  body.cloth = (FloClothDef){.areal_density = 500 * s, .stretch = 3e6 * s * s, .damping = 0.01};
  body.dry_samples = has_dry_samples;
  add_body(world, &body);
  throw_drop(world, 8 * s, 5.5 * s);
  return world;
}

static const FloBody *first_body(const FloWorld *world) { return &flo_bodies(world)[0]; }

// The largest distance of a node in one world from the same node in the other.
static double apart(const FloWorld *a, const FloWorld *b) {
  double most = 0, way[3];
  for (size_t k = 0; k < first_body(a)->n_nodes; ++k) {
    vec_sub(first_body(a)->nodes[k].position, first_body(b)->nodes[k].position, way);
    most = fmax(most, vec_length(way));
  }
  return most;
}

static double lowest_node(const FloWorld *world) {
  double lowest = 0;
  for (size_t k = 0; k < first_body(world)->n_nodes; ++k)
    lowest = fmin(lowest, first_body(world)->nodes[k].position[world->def.dim - 1]);
  return lowest;
}

static void check_drop(const Case *c) {
  FloWorld *some = make_sheet(c, false), *all = make_sheet(c, true);
  assert_int_equal(first_body(some)->count, first_body(all)->count);
  advance(some, 0.06);
  advance(all, 0.06);
  const double off = apart(some, all) / c->spacing, sag = -lowest_node(all) / c->spacing;
  print_message("%s, %dD, %d spacings long, cells of %g: %zu of %zu samples, sheet sags by %.2f spacings, "
                "apart by %.2g\n",
                c->method, c->dim, c->length, c->cell, first_body(some)->count, first_body(all)->count, sag,
                off);
  assert_true(first_body(some)->count > 0);
  assert_true(first_body(some)->count < 0.75 * (double)first_body(all)->count);
  assert_true(sag > 2);
  assert_true(off < 1e-3);
  flo_world_destroy(some);
  flo_world_destroy(all);
}

static void test_fluid_feels_no_difference(void **state) {
  (void)state;
  check_drop(&(Case){"monolithic", 2, 0.02, 100, 1});
  check_drop(&(Case){"monolithic", 2, 0.01, 80, 0.4});
  check_drop(&(Case){"elastic", 2, 0.02, 100, 3});
  check_drop(&(Case){"monolithic", 3, 0.02, 60, 2});
  check_drop(&(Case){"elastic", 3, 0.02, 60, 0.8});
}

// ---- Saving ----

static void test_saved_state_continues(void **state) {
  (void)state;
  const Case c = {"monolithic", 2, 0.02, 100, 1};
  FloWorld *world = make_sheet(&c, false), *other = make_sheet(&c, false);
  FloState *saved = NULL;
  FloError error;
  advance(world, 0.03);
  assert_ok(flo_world_save(world, &saved, &error), &error);
  assert_ok(flo_world_restore(other, saved, &error), &error);
  flo_state_destroy(saved);
  assert_true(first_body(other)->count < 101);
  assert_int_equal(first_body(other)->count, first_body(world)->count);
  advance(world, 0.06);
  advance(other, 0.06);
  assert_true(flo_world_hash(world) == flo_world_hash(other));
  flo_world_destroy(world);
  flo_world_destroy(other);
}

// ---- A body that falls into water ----

static void check_fall(const char *method, int dim, double density) {
  FloWorldDef def = small_world_def(dim);
  FloBodyDef body = flo_default_body_def();
  const double s = 0.02, wide = 24 * s, deep = 10 * s, side = 6 * s, across = dim == 3 ? 12 * s : 0,
               height = 34 * s;
  def.method = method, def.spacing = s;
  FloWorld *world = create_world(&def);
  add_tank(world, dim, wide, dim == 2 ? 2 * wide : across, 2 * wide);
  body.kind = FLO_BODY_ELASTIC, body.name = "block", body.density = density;
  body.elastic = (FloElasticDef){.young = 1e6, .poisson = 0.3, .damping = 0.01};
  body.shape = dim == 2 ? box_shape(side, side, 0) : box_shape(side, side, side);
  body.pose = dim == 2 ? pose_at(wide / 2, height, 0) : pose_at(wide / 2, across / 2, height);
  const uint32_t index = add_body(world, &body).index;
  add_block(world, add_water(world), (const double[3]){0},
            (const double[3]){wide, dim == 2 ? deep : across, dim == 2 ? 0 : deep});
  step_world(world, 2);
  assert_int_equal(flo_bodies(world)[index].count, 0);
  advance(world, 1);
  const FloBody *block = &flo_bodies(world)[index];
  const double bottom = block->state.pose.position[dim - 1] - side / 2;
  print_message("%s, %dD, %g kg/m³: %zu samples, bottom %.1f spacings over the floor\n", method, dim, density,
                block->count, bottom / s);
  assert_true(block->count > 0);
  assert_true(density < 1000 ? bottom > 2 * s : bottom < s);
  assert_true(bottom > -0.2 * s && bottom < deep);
  flo_world_destroy(world);
}

static void test_falling_body_meets_water(void **state) {
  (void)state;
  check_fall("monolithic", 2, 400);
  check_fall("monolithic", 2, 2000);
  check_fall("elastic", 2, 400);
  check_fall("monolithic", 3, 400);
}

// ---- Without fluid ----

static void test_dry_bodies_need_no_samples(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    FloBodyDef body = flo_default_body_def();
    def.method = "monolithic", def.spacing = 0.02;
    FloWorld *world = create_world(&def);
    body.kind = FLO_BODY_CLOTH,
    body.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.4, dim == 3 ? 0.4 : 0}};
    body.cloth = (FloClothDef){.areal_density = 1, .stretch = 1000};
    add_body(world, &body);
    FloMeasurements before = flo_world_measure(world);
    assert_true(first_body(world)->count > 0); // before the first step all are there
    step_world(world, 10);
    FloMeasurements after = flo_world_measure(world);
    assert_int_equal(first_body(world)->count, 0);
    // It falls freely.
    assert_close(after.momentum[dim - 1] - before.momentum[dim - 1],
                 -9.81 * flo_world_time(world) * (dim == 3 ? 0.16 : 0.4), 1e-6);
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fluid_feels_no_difference), cmocka_unit_test(test_saved_state_continues),
      cmocka_unit_test(test_falling_body_meets_water), cmocka_unit_test(test_dry_bodies_need_no_samples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
