// Soft bodies touch bodies that keep their shape: they rest on floors, boxes and balls, stick and slide by
// dry friction, carry and are carried, conserve momentum, and threads and saving change nothing.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

// Gravity leans against the last axis by the angle whose tangent is `slope`, along x.
static FloWorld *make_world(int dim, double s, double slope, int threads) {
  FloWorldDef def = small_world_def(dim);
  const double angle = atan(slope);
  def.method = "monolithic", def.spacing = s, def.threads = threads;
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

// A floor whose surface is at height 0.
static void add_floor(FloWorld *world, int dim, double wide, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.name = "floor", def.friction = friction, def.averages_force = true;
  def.shape = block(dim, wide, 0.1), def.pose = pose_above(dim, 0, -0.05);
  add_body(world, &def);
}

static FloBodyDef cloth_def(double wide, double thickness, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = "cloth", def.friction = friction;
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  return def;
}

static FloBody *body_of(FloWorld *world, const char *name) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (strcmp(flo_bodies(world)[k].name, name) == 0) return &flo_bodies(world)[k];
  fail_msg("no body '%s'", name);
  return NULL;
}

// How deep the true surface of a soft body is in any other body at most [m].
static double deepest_in_others(const FloWorld *world, const FloBody *soft) {
  const FloSoftBody *own = flo_soft_body(soft);
  double deepest = 0;
  for (size_t n = 0; n < world->bodies.count; ++n)
    for (size_t k = 0; &flo_bodies(world)[n] != soft && k < own->n; ++k)
      deepest = fmax(deepest,
                     own->half_thickness - flo_world_distance(world, &flo_bodies(world)[n], own->x + 3 * k));
  return deepest;
}

// The largest mean speed of a node over the next tenth of a second.
static double fastest_node(FloWorld *world, const FloBody *soft) {
  const FloSoftBody *own = flo_soft_body(soft);
  const double time = 0.1;
  double *before = malloc(own->n_numbers * sizeof *before), fastest = 0, way[3];
  memcpy(before, own->x, own->n_numbers * sizeof *before);
  advance(world, flo_world_time(world) + time);
  for (size_t k = 0; k < own->n; ++k) {
    vec_sub(own->x + 3 * k, before + 3 * k, way);
    fastest = fmax(fastest, vec_length(way) / time);
  }
  free(before);
  return fastest;
}

// ---- At rest ----

// A cloth falls on a floor, on a box or over a ball. FLO_SHAPE_PLANE: nothing but the floor.
static FloWorld *drop_cloth(int dim, double s, FloShapeKind on, double thickness) {
  FloWorld *world = make_world(dim, s, 0, 1);
  FloBodyDef under = flo_default_body_def(), cloth = cloth_def(20 * s, thickness, 0.5);
  add_floor(world, dim, 60 * s, 0.5);
  under.shape =
      on == FLO_SHAPE_BOX ? block(dim, 10 * s, 4 * s) : (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 5 * s};
  under.pose = pose_above(dim, 0, on == FLO_SHAPE_BOX ? 2 * s : 0);
  under.name = "under", under.friction = 0.5;
  if (on != FLO_SHAPE_PLANE) add_body(world, &under);
  cloth.pose = pose_above(dim, 0, 7 * s);
  add_body(world, &cloth);
  return world;
}

static void comes_to_rest(int dim, double s, FloShapeKind on, double thickness) {
  FloWorld *world = drop_cloth(dim, s, on, thickness);
  const FloBody *cloth = body_of(world, "cloth");
  const double end = dim == 2 ? 4 : 3;
  double deepest = 0;
  while (flo_world_time(world) < end) {
    advance(world, fmin(flo_world_time(world) + 0.02, end));
    deepest = fmax(deepest, deepest_in_others(world, cloth));
  }
  const double fastest = fastest_node(world, cloth);
  print_message("%dD, spacing %g, cloth of %g mm on shape %d: deepest %.4f spacings, %.2g m/s\n", dim, s,
                1000 * thickness, (int)on, deepest / s, fastest);
  assert_true(world->contacts > 0);
  assert_true(deepest < 0.1 * s);
  assert_true(fastest < 1e-3);
  flo_world_destroy(world);
}

static void test_cloth_comes_to_rest(void **state) {
  (void)state;
  static const FloShapeKind shapes[] = {FLO_SHAPE_PLANE, FLO_SHAPE_BOX, FLO_SHAPE_SPHERE};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) {
    comes_to_rest(2, 0.02, shapes[k], 0.002);
    comes_to_rest(2, 0.01, shapes[k], 0.004);
    comes_to_rest(3, 0.02, shapes[k], 0.002);
  }
}

// An elastic block on a floor, whose force carries the weight.
static void block_is_carried(int dim, double s, double young, double density) {
  FloWorld *world = make_world(dim, s, 0, 1);
  FloBodyDef def = flo_default_body_def();
  const double a = 8 * s, weight = 9.81 * density * pow(a, dim);
  add_floor(world, dim, 4 * a, 0.5);
  def.kind = FLO_BODY_ELASTIC, def.name = "block", def.density = density, def.friction = 0.5;
  def.elastic = (FloElasticDef){.young = young, .poisson = 0.3, .damping = 0.01};
  def.shape = block(dim, a, a), def.pose = pose_above(dim, 0, a / 2 + s);
  add_body(world, &def);
  advance(world, 1);
  flo_world_restart_averages(world);
  const double fastest = fastest_node(world, body_of(world, "block")),
               deepest = deepest_in_others(world, body_of(world, "block"));
  FloBodyState floor;
  FloError error;
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &floor, &error), &error);
  print_message("%dD, spacing %g, block of %g Pa, %g kg/m3: floor carries %.5f of it, %.2g m/s, %.4f deep\n",
                dim, s, young, density, -floor.mean_force[dim - 1] / weight, fastest, deepest / s);
  assert_close(-floor.mean_force[dim - 1] / weight, 1, 0.01);
  assert_true(fastest < 1e-3 && deepest < 0.1 * s);
  flo_world_destroy(world);
}

static void test_floor_carries_elastic_block(void **state) {
  (void)state;
  block_is_carried(2, 0.02, 1e5, 500);
  block_is_carried(2, 0.01, 1e6, 2000);
  block_is_carried(3, 0.02, 1e5, 500);
}

// ---- A ball in a sheet ----

static double lift_of_pins(const FloBody *cloth, int axis) {
  const FloSoftBody *own = flo_soft_body(cloth);
  double lift = 0;
  for (size_t k = 0; k < own->n_pins; ++k) lift += own->pins[k].load[axis];
  return lift;
}

static void sheet_carries_ball(int dim, double s, double density) {
  FloWorld *world = make_world(dim, s, 0, 1);
  FloBodyDef ball = flo_default_body_def(), cloth = cloth_def(16 * s, 0.002, 0.5);
  const FloPinDef pins = {.place = FLO_PIN_CORNERS};
  cloth.pins = &pins, cloth.n_pins = 1;
  cloth.cloth.stretch = 5000, cloth.cloth.damping = 0.05;
  add_body(world, &cloth);
  ball.kind = FLO_BODY_DYNAMIC, ball.name = "ball", ball.density = density, ball.friction = 0.5;
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 4 * s};
  ball.pose = pose_above(dim, 0, 5 * s);
  add_body(world, &ball);
  const FloBody *sheet = body_of(world, "cloth"), *on = body_of(world, "ball");
  const double weight = 9.81 * (flo_soft_body(sheet)->mass + on->nodes->mass);
  double lift = 0;
  advance(world, 2);
  for (int k = 1; k <= 20; ++k) {
    advance(world, 2 + 0.01 * k);
    lift += lift_of_pins(sheet, dim - 1) / 20;
  }
  print_message("%dD, spacing %g, ball of %g kg/m3: pins carry %.5f of the weight, %.4f spacings deep\n", dim,
                s, density, lift / weight, deepest_in_others(world, sheet) / s);
  assert_close(lift / weight, 1, 0.01);
  assert_true(deepest_in_others(world, sheet) < 0.1 * s);
  flo_world_destroy(world);
}

static void test_sheet_carries_ball(void **state) {
  (void)state;
  sheet_carries_ball(2, 0.02, 500);
  sheet_carries_ball(2, 0.01, 2000);
  sheet_carries_ball(3, 0.02, 300);
}

// ---- Friction ----

// A sheet on a slope, alone or under a jaw that cannot slide and weighs `jaw` times as much as the sheet.
static FloWorld *make_slope(int dim, double s, double slope, double mu, double jaw) {
  FloWorld *world = make_world(dim, s, slope, 1);
  FloBodyDef cloth = cloth_def(12 * s, 0.002, mu), press = flo_default_body_def();
  const double a = 16 * s;
  add_floor(world, dim, 3, mu);
  cloth.pose = pose_above(dim, 0, 0.001);
  add_body(world, &cloth);
  press.kind = FLO_BODY_DYNAMIC, press.name = "jaw", press.friction = mu;
  press.shape = block(dim, a, 4 * s), press.pose = pose_above(dim, 0, 0.002 + 2 * s);
  press.density = jaw * flo_soft_body(body_of(world, "cloth"))->mass / (4 * s * pow(a, dim - 1));
  for (int axis = 0; axis < 3; ++axis) press.locks[axis] = axis != dim - 1, press.turn_locks[axis] = true;
  if (jaw > 0) add_body(world, &press);
  return world;
}

static void holds_on_slope(int dim, double s, double slope, double mu, double jaw) {
  FloWorld *world = make_slope(dim, s, slope, mu, jaw);
  advance(world, 0.5);
  const double fastest = fastest_node(world, body_of(world, "cloth"));
  print_message("%dD, spacing %g, tan %g, mu %g, jaw %g: creeps at %.2g m/s\n", dim, s, slope, mu, jaw,
                fastest);
  assert_true(fastest < 1e-4);
  flo_world_destroy(world);
}

// The floor rubs with mu (1 + jaw) g cos, the jaw with mu jaw g cos.
static void slides_on_slope(int dim, double s, double slope, double mu, double jaw) {
  FloWorld *world = make_slope(dim, s, slope, mu, jaw);
  const double angle = atan(slope), wanted = 9.81 * (sin(angle) - mu * (1 + 2 * jaw) * cos(angle));
  const FloBody *cloth = body_of(world, "cloth");
  advance(world, 0.1);
  const double before = cloth->state.velocity[0];
  advance(world, 0.2);
  const double rate = (cloth->state.velocity[0] - before) / 0.1;
  print_message("%dD, spacing %g, tan %g, mu %g, jaw %g: slides with %.4f of theory\n", dim, s, slope, mu,
                jaw, rate / wanted);
  assert_close(rate / wanted, 1, 0.02);
  flo_world_destroy(world);
}

static void test_sheet_on_slope(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    holds_on_slope(dim, 0.02, 0.45, 0.5, 0);
    slides_on_slope(dim, 0.02, 0.7, 0.5, 0);
  }
  holds_on_slope(2, 0.01, 0.25, 0.3, 0);
  slides_on_slope(2, 0.01, 1, 0.2, 0);
}

// Between two jaws a sheet that would slide on the slope holds, until the slope is too steep for both.
static void test_sheet_between_jaws(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    holds_on_slope(dim, 0.02, 0.9, 0.5, 0.5);
    slides_on_slope(dim, 0.02, 1.5, 0.5, 0.5);
  }
  holds_on_slope(2, 0.01, 5, 0.5, 5);
  slides_on_slope(2, 0.01, 7, 0.5, 5);
}

// ---- A ball meets a free soft body ----

static FloWorld *make_meeting(int dim, FloBodyKind kind, int threads) {
  FloWorldDef def = small_world_def(dim);
  FloBodyDef soft = cloth_def(0.32, 0.002, 0.5), ball = flo_default_body_def();
  def.method = "monolithic", def.spacing = 0.02, def.threads = threads;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  soft.kind = kind, soft.density = 800;
  if (kind == FLO_BODY_ELASTIC) soft.shape = block(dim, 0.24, 0.08);
  soft.elastic = (FloElasticDef){.young = 2e4, .poisson = 0.3};
  add_body(world, &soft);
  ball.kind = FLO_BODY_DYNAMIC, ball.name = "ball", ball.density = 300, ball.friction = 0.5;
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.06};
  ball.pose = pose_above(dim, 0.02, kind == FLO_BODY_CLOTH ? 0.08 : 0.12), ball.velocity[dim - 1] = -1,
  ball.velocity[0] = 0.3;
  add_body(world, &ball);
  return world;
}

static void keeps_momentum(int dim, FloBodyKind kind) {
  FloWorld *world = make_meeting(dim, kind, 1);
  const FloMeasurements start = flo_world_measure(world);
  const double size = vec_length(start.momentum);
  double worst = 0, most_contacts = 0, off[3];
  for (int k = 1; k <= 20; ++k) {
    advance(world, 0.01 * k);
    const FloMeasurements now = flo_world_measure(world);
    vec_sub(now.momentum, start.momentum, off);
    worst = fmax(worst, vec_length(off) / size);
    most_contacts = fmax(most_contacts, (double)world->contacts);
  }
  print_message("%dD, kind %d: momentum off by %.2g, up to %g contacts, %.3f deep\n", dim, (int)kind, worst,
                most_contacts, deepest_in_others(world, body_of(world, "cloth")) / 0.02);
  assert_true(most_contacts > 0);
  assert_true(worst < 1e-6);
  flo_world_destroy(world);
}

static void test_momentum_is_kept(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    keeps_momentum(dim, FLO_BODY_CLOTH);
    keeps_momentum(dim, FLO_BODY_ELASTIC);
  }
}

// ---- The same bits ----

static uint64_t end_with_hash(FloWorld *world) {
  advance(world, 0.08);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static uint64_t hash_after(int dim, FloBodyKind kind, int threads) {
  FloWorld *world = make_meeting(dim, kind, threads);
  advance(world, 0.03);
  return end_with_hash(world);
}

static uint64_t hash_after_saving(int dim, FloBodyKind kind) {
  FloWorld *world = make_meeting(dim, kind, 2);
  FloState *saved = NULL;
  FloError error;
  advance(world, 0.03);
  assert_true(world->contacts > 0);
  assert_ok(flo_world_save(world, &saved, &error), &error);
  flo_world_destroy(world);
  world = make_meeting(dim, kind, 1);
  assert_ok(flo_world_restore(world, saved, &error), &error);
  flo_state_destroy(saved);
  return end_with_hash(world);
}

static void test_same_bits(void **state) {
  (void)state;
  static const FloBodyKind kinds[] = {FLO_BODY_CLOTH, FLO_BODY_ELASTIC};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) {
      const uint64_t one = hash_after(dim, kinds[k], 1);
      assert_true(hash_after(dim, kinds[k], 2) == one);
      assert_true(hash_after(dim, kinds[k], 3) == one);
      assert_true(hash_after_saving(dim, kinds[k]) == one);
    }
}

// ---- Pins to bodies that forces move ----

static FloBodyId add_bar(FloWorld *world, int dim, const char *name, double x, double density) {
  FloBodyDef bar = flo_default_body_def();
  const double s = 0.02;
  bar.kind = FLO_BODY_DYNAMIC, bar.name = name, bar.density = density;
  bar.shape = box_shape(4 * s, dim == 2 ? 4 * s : 12 * s, dim == 2 ? 0 : 4 * s);
  bar.pose = pose_at(x, 0, 0);
  if (density == 2000) bar.velocity[1] = 0.5, bar.velocity[0] = 0.2;
  return add_body(world, &bar);
}

// A sheet along x with a bar glued to its lower end. The upper end is pinned to the world, or glued to
// another bar, which moves.
static FloWorld *make_hanging(int dim, double pull, double density, bool is_free, int threads) {
  FloWorldDef def = small_world_def(dim);
  const double s = 0.02, half = 6 * s;
  FloBodyDef cloth = cloth_def(2 * half, 0.002, 0.5);
  FloPinDef pins[2];
  def.method = "monolithic", def.spacing = s, def.threads = threads;
  vec_set(def.gravity, -pull, 0, 0);
  FloWorld *world = create_world(&def);
  for (int k = 0; k < 2; ++k) {
    const double x = k == 0 ? -half : half;
    pins[k] = (FloPinDef){.place = FLO_PIN_BOX, .low = {x - 1e-3, -1, -1}, .high = {x + 1e-3, 1, 1}};
  }
  pins[0].to = add_bar(world, dim, "bar", -half - 2.1 * s, density);
  if (is_free) pins[1].to = add_bar(world, dim, "other", half + 2.1 * s, 2000);
  cloth.pins = pins, cloth.n_pins = 2, cloth.cloth.stretch = 5000, cloth.cloth.damping = 0.05;
  add_body(world, &cloth);
  return world;
}

// How far glued vertices are from their places at most, in spacings.
static double loosest_pin(FloWorld *world) {
  double most = 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (point->is_glued) most = fmax(most, vec_length(point->away) / world->def.spacing);
  }
  return most;
}

static void pins_carry_bar(int dim, double density) {
  FloWorld *world = make_hanging(dim, 9.81, density, false, 1);
  advance(world, 2);
  const FloSoftBody *own = flo_soft_body(body_of(world, "cloth"));
  const double bar = 9.81 * body_of(world, "bar")->nodes->mass, all = bar + 9.81 * own->mass;
  double up = 0, down = 0;
  for (size_t k = 0; k < own->n_pins; ++k) {
    up += own->pins[k].is_glued ? 0 : own->pins[k].load[0];
    down -= own->pins[k].is_glued ? own->pins[k].load[0] : 0;
  }
  print_message(
      "%dD, bar of %g kg/m3: upper pins carry %.5f of the weight, the bar pulls with %.5f of its own, "
      "%.2g spacings off\n",
      dim, density, up / all, down / bar, loosest_pin(world));
  assert_close(up / all, 1, 0.01);
  assert_close(down / bar, 1, 0.01);
  assert_true(loosest_pin(world) < 0.01);
  flo_world_destroy(world);
}

static void test_glued_pins_carry(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    pins_carry_bar(dim, 200);
    pins_carry_bar(dim, 5000);
  }
}

static uint64_t fly_glued(int dim, int threads, double *off, double *loosest) {
  FloWorld *world = make_hanging(dim, 0, 500, true, threads);
  const FloMeasurements start = flo_world_measure(world);
  double change[3];
  *loosest = 0;
  for (int k = 1; k <= 100; ++k) {
    advance(world, 0.002 * k);
    *loosest = fmax(*loosest, loosest_pin(world));
  }
  const FloMeasurements now = flo_world_measure(world);
  const uint64_t hash = flo_world_hash(world);
  vec_sub(now.momentum, start.momentum, change);
  *off = vec_length(change) / vec_length(start.momentum);
  flo_world_destroy(world);
  return hash;
}

static void test_glued_pins_keep_momentum(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    double off, loosest;
    const uint64_t one = fly_glued(dim, 1, &off, &loosest);
    print_message("%dD, two bars and a sheet: momentum off by %.2g, pins by %.2g spacings\n", dim, off,
                  loosest);
    assert_true(off < 1e-6);
    assert_true(loosest < 0.1);
    assert_true(fly_glued(dim, 2, &off, &loosest) == one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cloth_comes_to_rest),
      cmocka_unit_test(test_floor_carries_elastic_block),
      cmocka_unit_test(test_sheet_carries_ball),
      cmocka_unit_test(test_sheet_on_slope),
      cmocka_unit_test(test_sheet_between_jaws),
      cmocka_unit_test(test_momentum_is_kept),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_glued_pins_carry),
      cmocka_unit_test(test_glued_pins_keep_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
