// A run with soft bodies that is saved and restored at any step goes on with the same bits, whatever the last
// step did: drops strike the cloth, pins bear loads and break, fluid is viscous.
#include "bodies/soft_body.h"
#include "state/state.h"
#include "support/worlds.h"

enum { N_STEPS = 60, N_AFTER = 3, EVERY = 4 };

typedef struct Case {
  const char *method;
  int dim;
  FloBodyKind kind;
  double viscosity; // [m²/s]
  FloElasticForm form;
} Case;

static FloPose at_height(const Case *c, double z) {
  return c->dim == 2 ? pose_at(0, z, 0) : pose_at(0, 0, z);
}

// A sheet, or a plate, held at its ends. Some pins break under the load.
static void add_soft(FloWorld *world, const Case *c) {
  const double s = world->def.spacing, width = 12 * s, thickness = 3 * s;
  static const FloPinDef corners = {.place = FLO_PIN_CORNERS, .break_load = 3};
  const FloPinDef end = {.place = FLO_PIN_BOX, .low = {-1, -1, -1}, .high = {-4 * s, 1, 1}};
  FloBodyDef body = flo_default_body_def();
  body.kind = c->kind, body.pins = c->kind == FLO_BODY_CLOTH ? &corners : &end, body.n_pins = 1;
  body.shape = c->kind == FLO_BODY_CLOTH
                   ? (FloShape){.kind = FLO_SHAPE_SHEET, .size = {width, width, 0}, .cell = 1.5 * s}
                   : box_shape(width, c->dim == 2 ? thickness : width, c->dim == 2 ? 0 : thickness);
  body.cloth = (FloClothDef){.areal_density = 1, .stretch = 300, .bend = 1e-4, .damping = 0.01};
  body.elastic = (FloElasticDef){.young = 2e4, .poisson = 0.3, .form = c->form};
  body.density = 800, body.pose = at_height(c, 0);
  add_body(world, &body);
}

// A drop that meets the sheet soon.
static void add_drop(FloWorld *world, const Case *c) {
  const double s = world->def.spacing, half = 2.5 * s;
  const FloMaterialId water = add_material(world, 1000, c->viscosity);
  const double low = c->kind == FLO_BODY_CLOTH ? 2 * s : 3.5 * s;
  const double from[3] = {-half, c->dim == 2 ? low : -half, c->dim == 2 ? 0 : low};
  const double to[3] = {half, c->dim == 2 ? low + 5 * s : half, c->dim == 2 ? 0 : low + 3 * s};
  add_block(world, water, from, to);
}

static FloWorld *make_world(const Case *c) {
  FloWorldDef def = small_world_def(c->dim);
  def.method = c->method, def.threads = 1, def.spacing = 0.02;
  FloWorld *world = create_world(&def);
  add_soft(world, c);
  add_drop(world, c);
  return world;
}

static void step(FloWorld *world) {
  FloError error;
  assert_ok(flo_world_step(world, NULL, &error), &error);
}

// What a user may ask right after a run was resumed.
static void check_same_answers(const FloWorld *a, const FloWorld *b) {
  FloSoftState one, other;
  flo_soft_body_state(&flo_bodies(a)[0], &one);
  flo_soft_body_state(&flo_bodies(b)[0], &other);
  assert_int_equal(one.n_pins, other.n_pins);
  for (int axis = 0; axis < 3; ++axis) {
    assert_true(one.pull[axis] == other.pull[axis]);
    assert_true(flo_bodies(a)[0].state.velocity[axis] == flo_bodies(b)[0].state.velocity[axis]);
  }
}

// Resumes the world of one step in another world, and takes a few steps in it.
static void resume(const Case *c, const FloWorld *world, uint64_t hashes[N_AFTER]) {
  FloWorld *other = make_world(c);
  FloState *saved = NULL;
  FloError error;
  assert_ok(flo_world_save(world, &saved, &error), &error);
  assert_ok(flo_world_restore(other, saved, &error), &error);
  flo_state_destroy(saved);
  check_same_answers(world, other);
  for (int k = 0; k < N_AFTER; ++k) step(other), hashes[k] = flo_world_hash(other);
  flo_world_destroy(other);
}

static void check_case(const Case *c) {
  FloWorld *world = make_world(c);
  uint64_t hashes[N_STEPS + N_AFTER], resumed[N_STEPS][N_AFTER];
  int n_wrong = 0;
  for (int k = 0; k < N_STEPS + N_AFTER; ++k) {
    if (k < N_STEPS && k % EVERY == 0) resume(c, world, resumed[k]);
    step(world);
    hashes[k] = flo_world_hash(world);
  }
  for (int k = 0; k < N_STEPS; k += EVERY)
    for (int after = 0; after < N_AFTER; ++after) n_wrong += resumed[k][after] != hashes[k + after];
  print_message("%s, %dD, %s, viscosity %g: %d of %d steps after a resume differ\n", c->method, c->dim,
                c->kind == FLO_BODY_CLOTH ? "cloth" : "solid", c->viscosity, n_wrong,
                N_AFTER * (N_STEPS / EVERY));
  assert_int_equal(n_wrong, 0);
  flo_world_destroy(world);
}

static void test_resumed_runs(void **state) {
  (void)state;
  static const Case cases[] = {{"monolithic", 2, FLO_BODY_CLOTH, 1e-6, 0},
                               {"monolithic", 2, FLO_BODY_CLOTH, 1, 0},
                               {"monolithic", 3, FLO_BODY_CLOTH, 1e-6, 0},
                               {"monolithic", 3, FLO_BODY_CLOTH, 1, 0},
                               {"monolithic", 2, FLO_BODY_ELASTIC, 1, 0},
                               {"monolithic", 3, FLO_BODY_ELASTIC, 1, 0},
                               {"elastic", 2, FLO_BODY_CLOTH, 1e-6, 0},
                               {"elastic", 3, FLO_BODY_CLOTH, 1, 0},
                               {"elastic", 2, FLO_BODY_ELASTIC, 1, 0},
                               {"constraint", 2, FLO_BODY_CLOTH, 1e-6, 0},
                               {"constraint", 3, FLO_BODY_CLOTH, 1, 0},
                               {"constraint", 2, FLO_BODY_ELASTIC, 1, 0},
                               {"unified", 2, FLO_BODY_ELASTIC, 1e-6, FLO_ELASTIC_PARTICLES},
                               {"unified", 3, FLO_BODY_ELASTIC, 1, FLO_ELASTIC_PARTICLES},
                               {"monolithic", 2, FLO_BODY_ELASTIC, 1, FLO_ELASTIC_PARTICLES}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) check_case(&cases[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resumed_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
