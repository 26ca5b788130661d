// Soft bodies touch bodies of all kinds with every method that solves contacts: what test_soft_contacts.c and
// test_soft_crossing.c show of `monolithic` in detail, the others do as well. Rigid bodies do not pass
// through cloth, sheets rub on each other, pins pull both bodies, and threads and saving change nothing.
#include "support/soft_worlds.h"

static const char *const methods[] = {"constraint", "unified"};

// Steps of 0 are as long as the method likes.
static FloWorld *make_world(const char *method, int dim, double s, double slope, double dt) {
  FloWorldDef def = small_world_def(dim);
  const double angle = atan(slope);
  def.method = method, def.spacing = s, def.time_step = dt;
  vec_set(def.gravity, 9.81 * sin(angle), 0, 0);
  def.gravity[dim - 1] = -9.81 * cos(angle);
  return create_world(&def);
}

static FloPose pose_above(int dim, double x, double height) {
  return pose_at(x, dim == 2 ? height : 0, dim == 3 ? height : 0);
}

static FloShape block(int dim, double wide, double high) {
  return dim == 2 ? box_shape(wide, high, 0) : box_shape(wide, wide, high);
}

static FloBodyDef sheet_def(const char *name, double wide, double mu) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = name, def.friction = mu;
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth =
      (FloClothDef){.areal_density = 0.5, .thickness = 0.002, .stretch = 5000, .bend = 1e-4, .damping = 0.05};
  return def;
}

static FloBodyDef rigid_def(const char *name, FloShape shape, double density, double mu) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.name = name, def.density = density, def.friction = mu, def.shape = shape;
  return def;
}

// How deep the nodes of a sheet are in another body at most [m].
static double depth_in(const FloWorld *world, const FloBody *sheet, const FloBody *other) {
  const FloSoftBody *own = flo_soft_body(sheet);
  double deepest = 0;
  for (size_t k = 0; k < own->n; ++k)
    deepest = fmax(deepest, own->half_thickness - flo_world_distance(world, other, own->x + 3 * k));
  return deepest;
}

// ---- A body falls into a sheet that is held at its corners ----

static void sheet_catches(const char *method, int dim, double s, double density, bool is_ball) {
  FloWorld *world = make_world(method, dim, s, 0, 0);
  FloBodyDef cloth = sheet_def("cloth", 16 * s, 0.5);
  const FloPinDef pins = {.place = FLO_PIN_CORNERS};
  cloth.pins = &pins, cloth.n_pins = 1;
  add_body(world, &cloth);
  FloBodyDef falling = rigid_def(
      "body", is_ball ? (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 3 * s} : block(dim, 5 * s, 5 * s),
      density, 0.5);
  falling.pose = pose_above(dim, 0, 4 * s), falling.velocity[dim - 1] = -1;
  add_body(world, &falling);
  const FloBody *sheet = body_of(world, "cloth"), *body = body_of(world, "body");
  const double weight = 9.81 * (flo_soft_body(sheet)->mass + body->nodes->mass);
  double lift = 0, deepest = 0;
  enum { SAMPLES = 20 };
  for (int k = 1; k <= 4 * SAMPLES; ++k) {
    advance(world, 0.01 * k);
    deepest = fmax(deepest, depth_in(world, sheet, body));
    for (size_t n = 0; k > 3 * SAMPLES && n < flo_soft_body(sheet)->n_pins; ++n)
      lift += flo_soft_body(sheet)->pins[n].load[dim - 1] / SAMPLES;
  }
  print_message("%s, %dD, spacing %g, %s of %g kg/m3: pins carry %.4f of the weight, %.3f spacings deep\n",
                method, dim, s, is_ball ? "ball" : "box", density, lift / weight, deepest / s);
  assert_close(lift / weight, 1, 0.02);
  assert_true(deepest < 0.15 * s);
  flo_world_destroy(world);
}

static void test_sheet_catches_bodies(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k) {
    sheet_catches(methods[k], 2, 0.02, 500, true);
    sheet_catches(methods[k], 2, 0.01, 2000, false);
  }
  sheet_catches("constraint", 3, 0.02, 300, true);
}

// ---- A sheet on a sheet on a slope. In long steps vertices bump as they pass each other ----

static FloWorld *make_slope(const char *method, int dim, double s, double slope, double mu) {
  FloWorld *world = make_world(method, dim, s, slope, 1e-3);
  const FloPinDef all = {.place = FLO_PIN_BOX, .low = {-10, -10, -10}, .high = {10, 10, 10}};
  FloBodyDef lower = sheet_def("lower", 16 * s, mu), upper = sheet_def("upper", 10.6 * s, mu);
  lower.pins = &all, lower.n_pins = 1;
  upper.pose = pose_above(dim, 0.3 * s, 0.002);
  add_body(world, &lower), add_body(world, &upper);
  return world;
}

static void sticks(const char *method, int dim, double s, double slope, double mu) {
  FloWorld *world = make_slope(method, dim, s, slope, mu);
  const FloBody *upper = body_of(world, "upper");
  double start[3], way[3];
  advance(world, 0.2);
  vec_copy(upper->state.pose.position, start);
  advance(world, 0.3);
  vec_sub(upper->state.pose.position, start, way);
  print_message("%s, %dD, spacing %g, tan %g, mu %g: creeps at %.2g m/s\n", method, dim, s, slope, mu,
                vec_length(way) / 0.1);
  assert_true(vec_length(way) / 0.1 < 1e-4);
  flo_world_destroy(world);
}

static void slides(const char *method, int dim, double s, double slope, double mu) {
  FloWorld *world = make_slope(method, dim, s, slope, mu);
  const FloBody *upper = body_of(world, "upper");
  const double angle = atan(slope), wanted = 9.81 * (sin(angle) - mu * cos(angle));
  advance(world, 0.05);
  const double before = upper->state.velocity[0];
  advance(world, 0.12);
  const double rate = (upper->state.velocity[0] - before) / 0.07;
  print_message("%s, %dD, spacing %g, tan %g, mu %g: slides with %.4f of theory\n", method, dim, s, slope, mu,
                rate / wanted);
  assert_close(rate / wanted, 1, 0.03);
  flo_world_destroy(world);
}

static void test_sheets_rub(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k) {
    sticks(methods[k], 2, 0.02, 0.4, 0.5);
    sticks(methods[k], 2, 0.01, 0.25, 0.3);
    slides(methods[k], 2, 0.02, 0.7, 0.5);
    slides(methods[k], 2, 0.01, 1, 0.2);
  }
  slides("constraint", 3, 0.02, 0.7, 0.5);
}

// ---- Pins to a body that forces move ----

// A bar hangs on a sheet, which hangs on the world.
static void pins_carry_bar(const char *method, int dim, double density) {
  const double s = 0.02, half = 6 * s;
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = s;
  vec_set(def.gravity, -9.81, 0, 0);
  FloWorld *world = create_world(&def);
  FloBodyDef bar =
      rigid_def("bar", box_shape(4 * s, dim == 2 ? 4 * s : 12 * s, dim == 2 ? 0 : 4 * s), density, 0.5);
  FloBodyDef cloth = sheet_def("cloth", 2 * half, 0.5);
  FloPinDef pins[2];
  for (int k = 0; k < 2; ++k) {
    const double x = k == 0 ? -half : half;
    pins[k] = (FloPinDef){.place = FLO_PIN_BOX, .low = {x - 1e-3, -1, -1}, .high = {x + 1e-3, 1, 1}};
  }
  bar.pose = pose_at(-half - 2.1 * s, 0, 0);
  pins[0].to = add_body(world, &bar);
  cloth.pins = pins, cloth.n_pins = 2;
  add_body(world, &cloth);
  advance(world, 1);
  const FloSoftBody *own = flo_soft_body(body_of(world, "cloth"));
  const double weight = 9.81 * body_of(world, "bar")->nodes->mass, all = weight + 9.81 * own->mass;
  FloSoftState state;
  double pull = 0;
  flo_soft_body_state(body_of(world, "cloth"), &state);
  for (size_t k = 0; k < own->n_pins; ++k) pull -= own->pins[k].is_glued ? own->pins[k].load[0] : 0;
  print_message(
      "%s, %dD, bar of %g kg/m3: its pins pull with %.5f of its weight, those to the world bear %.5f\n",
      method, dim, density, pull / weight, state.pull[0] / all);
  assert_close(state.pull[0] / all, 1, 0.01); // without the pins to the bar
  assert_close(pull / weight, 1, 0.01);
  flo_world_destroy(world);
}

static void test_pins_carry_bar(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k) {
    pins_carry_bar(methods[k], 2, 200);
    pins_carry_bar(methods[k], 2, 2000);
  }
  pins_carry_bar("constraint", 3, 500);
}

// ---- Momentum and bits ----

// A ball flies into a free sheet and a free elastic block behind it.
static FloWorld *make_flight(const char *method, int dim, int threads) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = 0.02, def.threads = threads;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  FloBodyDef cloth = sheet_def("cloth", 0.24, 0.5), soft = flo_default_body_def();
  FloBodyDef ball = rigid_def("ball", (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.06}, 300, 0.5);
  ball.pose = pose_above(dim, 0.02, 0.08), ball.velocity[dim - 1] = -2, ball.velocity[0] = 0.3;
  soft.kind = FLO_BODY_ELASTIC, soft.name = "soft", soft.density = 500, soft.friction = 0.3;
  soft.shape = block(dim, 0.16, 0.08), soft.pose = pose_above(dim, 0, -0.06);
  soft.elastic = (FloElasticDef){.young = 2e4, .poisson = 0.3};
  add_body(world, &cloth), add_body(world, &ball), add_body(world, &soft);
  return world;
}

static void keeps_momentum(const char *method, int dim) {
  FloWorld *world = make_flight(method, dim, 1);
  const FloMeasurements start = flo_world_measure(world);
  double worst = 0, off[3];
  size_t contacts = 0;
  for (int k = 1; k <= 20; ++k) {
    advance(world, 0.005 * k);
    const FloMeasurements now = flo_world_measure(world);
    vec_sub(now.momentum, start.momentum, off);
    worst = fmax(worst, vec_length(off) / vec_length(start.momentum));
    contacts += world->contacts;
  }
  print_message("%s, %dD: momentum off by %.2g, energy %.3f of the first\n", method, dim, worst,
                energy_of(world) / (start.kinetic_energy + start.potential_energy));
  assert_true(contacts > 0);
  assert_true(worst < 1e-12);
  assert_true(energy_of(world) < 1.001 * (start.kinetic_energy + start.potential_energy));
  flo_world_destroy(world);
}

static void test_momentum_is_kept(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k)
    for (int dim = 2; dim <= 3; ++dim) keeps_momentum(methods[k], dim);
}

static uint64_t hash_of(const char *method, int dim, int threads, bool is_saved) {
  FloWorld *world = make_flight(method, dim, threads);
  FloError error;
  advance(world, 0.03);
  assert_true(world->contacts > 0);
  if (is_saved) {
    FloState *saved = NULL;
    assert_ok(flo_world_save(world, &saved, &error), &error);
    flo_world_destroy(world);
    world = make_flight(method, dim, 1);
    assert_ok(flo_world_restore(world, saved, &error), &error);
    flo_state_destroy(saved);
  }
  advance(world, 0.045);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_same_bits(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k)
    for (int dim = 2; dim <= (k == 0 ? 3 : 2); ++dim) {
      const uint64_t one = hash_of(methods[k], dim, 1, false);
      assert_true(hash_of(methods[k], dim, 3, false) == one);
      assert_true(hash_of(methods[k], dim, 2, true) == one);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sheet_catches_bodies),
                                     cmocka_unit_test(test_sheets_rub), cmocka_unit_test(test_pins_carry_bar),
                                     cmocka_unit_test(test_momentum_is_kept),
                                     cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
