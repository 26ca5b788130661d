// Elastic bodies of particles among fluid and rigid bodies: how deep they float, momenta, and what they do
// when they land or are landed on. With FLOTSAM_FULL=1 more densities, methods and sizes are tried.
#include "base/vecmath.h"
#include "physics.h"
#include "state/state.h"

#define GRAVITY 9.81

static FloBodyDef soft_box(double wide, double high, double deep, double density, double young) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_ELASTIC, def.density = density;
  def.elastic =
      (FloElasticDef){.form = FLO_ELASTIC_PARTICLES, .young = young, .poisson = 0.3, .damping = 1e-4};
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {wide, high, deep}};
  return def;
}

static FloBodyDef hard_box(double wide, double high, double deep, double density) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.density = density;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {wide, high, deep}};
  return def;
}

static FloBodyId add(FloWorld *world, const FloBodyDef *def) {
  FloError error;
  FloBodyId id;
  must(flo_world_add_body(world, def, &id, &error), &error);
  return id;
}

static FloWorld *flat_world(const char *method, double s) {
  FloWorldDef def = flo_default_world_def();
  def.dim = 2, def.method = method, def.spacing = s, def.threads = 1;
  vec_set(def.gravity, 0, -GRAVITY, 0);
  return make_world(&def);
}

static double height_of(FloWorld *world, FloBodyId id) { return state_of(world, id).pose.position[1]; }

// ---- Floating ----

// A box twice as wide as high floats in a tank that repeats along x. The share of it under the level to which
// it and the water fill the tank, in the mean over a while.
static double float_box(const char *method, int across, double density) {
  const double s = 0.01, high = across * s, wide = (2 * across + 16) * s, share = density / 1000;
  FloWorldDef def = flo_default_world_def();
  def.dim = 2, def.method = method, def.spacing = s, def.threads = 1, def.settle = 0.3;
  vec_set(def.gravity, 0, -GRAVITY, 0);
  def.periodic[0] = true, def.domain_high[0] = wide;
  FloWorld *world = make_world(&def);
  FloBodyDef floor = flo_default_body_def(), box = soft_box(2 * high, high, 0, density, 2e5);
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {wide, 4 * s, 0}},
  floor.pose = pose_at(wide / 2, -2 * s, 0);
  box.pose = pose_at(wide / 2, (2.5 - share) * high, 0);
  add(world, &floor);
  const FloBodyId id = add(world, &box);
  add_block(world, add_water(world, 1000, 1e-6), 0, wide, 2 * high, 0);
  const double volume = (double)flo_world_count(world, FLO_SET_FLUID) * s * s;
  double sum = 0;
  int n = 0;
  advance(world, 1);
  for (double time = 1; time < 1.6; time += 0.02, ++n) {
    advance(world, time);
    const double low = height_of(world, id) - high / 2;
    sum += ((volume - 2 * high * low) / (wide - 2 * high) - low) / high;
  }
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  return sum / n;
}

// Right within 2 %, or within a tenth of a spacing.
static void check_floating(const char *method, int across, double density) {
  const double share = density / 1000, off = float_box(method, across, density) - share;
  print_message("%s, elastic box of %g kg/m3, %d high: %+.2f %% of its draught, %+.3f spacings\n", method,
                density, across, 100 * off / share, off * across);
  assert_true(fabs(off) < 0.02 * share || fabs(off * across) < 0.1);
}

static void bodies_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  check_floating("unified", 12, 500);
  if (is_full()) check_floating("monolithic", 12, 500);
  static const double densities[] = {100, 300, 700, 900};
  for (int k = 0; is_full() && k < 4; ++k)
    check_floating("unified", 12, densities[k]), check_floating("monolithic", 12, densities[k]);
}

// ---- Momenta ----

// Fluid around a soft box that spins, and a rigid box, fly onto each other through empty space.
static FloWorld *make_flight(int dim) {
  const double deep = dim == 3 ? 0.1 : 0;
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = dim, def.spacing = 0.02, def.method = "unified", def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "collisions", 1, &error), &error);
  FloBodyDef soft = soft_box(0.12, 0.08, deep, 300, 5e4), hard = hard_box(0.1, 0.1, deep, 4000);
  soft.velocity[0] = 1, soft.angular_velocity[2] = 4;
  hard.pose = pose_at(0.3, 0.03, 0), hard.velocity[0] = -2;
  add(world, &soft), add(world, &hard);
  FloFluidDef blob = flo_default_fluid_def();
  blob.material = add_water(world, 1000, 1e-6);
  blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.14};
  vec_set(blob.velocity, 1, 0, 0);
  must(flo_world_add_fluid(world, &blob, NULL, &error), &error);
  return world;
}

static double change_of(const double a[3], const double b[3]) {
  double difference[3];
  vec_sub(a, b, difference);
  return vec_length(difference) / vec_length(a);
}

// Fluid that was put back from the surface of the soft body has moved without an impulse, which changes the
// angular momentum.
static void check_momenta(int dim, double duration) {
  FloWorld *world = make_flight(dim);
  const FloMeasurements before = flo_world_measure(world);
  size_t most_contacts = 0;
  for (double time = 0.002; time < duration; time += 0.002) {
    advance(world, time);
    const size_t now = flo_world_measure(world).contacts;
    most_contacts = now > most_contacts ? now : most_contacts;
  }
  const FloMeasurements after = flo_world_measure(world);
  const double linear = change_of(before.momentum, after.momentum),
               angular = change_of(before.angular_momentum, after.angular_momentum);
  print_message("%dD, fluid, a rigid and a soft body, %zu collisions, up to %zu contacts, %zu put back: "
                "momentum drifts "
                "by %.1e, angular momentum by %.1e\n",
                dim, after.collisions, most_contacts, world->n_kept_off, linear, angular);
  assert_true(after.collisions > 0 && (dim == 3 || most_contacts > 0));
  assert_true(linear < 1e-6 && angular < (world->n_kept_off == 0 ? 1e-6 : 5e-5));
  flo_world_destroy(world);
}

static void momenta_stay(void **unused) {
  (void)unused;
  check_momenta(2, 0.3);
  check_momenta(3, 0.08);
}

// ---- Landing ----

// A soft box on a floor without fluid, and a rigid box that falls onto it.
static void check_stack(const char *method, double young, double density) {
  const double s = 0.01, edge = 8 * s, wide = 4 * edge;
  FloWorld *world = flat_world(method, s);
  FloBodyDef soft = soft_box(edge, edge, 0, 1000, young), hard = hard_box(edge, edge / 2, 0, density);
  soft.pose = pose_at(wide / 2, edge / 2 + 0.01 * s, 0), hard.pose = pose_at(wide / 2, 1.5 * edge, 0);
  soft.elastic.damping = 3e-4;
  FloError error;
  FloBodyId floor_id;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {wide, 4 * s, 0}},
  floor.pose = pose_at(wide / 2, -2 * s, 0);
  floor.averages_force = true;
  must(flo_world_add_body(world, &floor, &floor_id, &error), &error);
  add(world, &soft);
  const FloBodyId top = add(world, &hard);
  advance(world, 1.2);
  flo_world_restart_averages(world);
  advance(world, 1.5);
  const double weight = GRAVITY * edge * edge * (1000 + density / 2);
  const double borne = -state_of(world, floor_id).mean_force[1] / weight;
  const double squeezed = (1.25 * edge - height_of(world, top)) / edge;
  const double theory = GRAVITY * edge * (density / 2 + 1000.0 / 2) / (young / (1 - 0.09));
  print_message(
      "%s, rigid box of %g kg/m3 on a soft one of %g Pa: the floor bears %.4f of the weight, the soft box "
      "is %.4f of its height lower (free to widen: %.4f), crossings %zu\n",
      method, density, young, borne, squeezed, theory, flo_world_measure(world).crossings);
  assert_true(fabs(borne - 1) < 0.02);
  assert_true(squeezed > 0.6 * theory - 0.01 && squeezed < 1.1 * theory + 0.01);
  flo_world_destroy(world);
}

static void rigid_boxes_land_on_soft_ones(void **unused) {
  (void)unused;
  check_stack("unified", 1e5, 3000);
  if (is_full()) check_stack("monolithic", 1e5, 3000);
  if (is_full()) check_stack("unified", 1e6, 8000), check_stack("monolithic", 1e6, 8000);
}

// A heavy soft box falls into water and onto the floor of a tank.
static void check_landing(const char *method, double density, double young) {
  const double s = 0.02, edge = 8 * s, wide = 3 * edge, deep = 1.5 * edge, start = deep + edge;
  FloWorld *world = flat_world(method, s);
  FloBodyDef box = soft_box(edge, edge, 0, density, young);
  box.pose = pose_at(wide / 2, start, 0);
  add_tank(world, wide, 6 * deep, 0, 1);
  const FloBodyId id = add(world, &box);
  add_block(world, add_water(world, 1000, 1e-6), 0, wide, deep, 0);
  double lowest = INFINITY, bounce = 0;
  for (double time = 0.01; time < 0.8; time += 0.01) {
    advance(world, time);
    lowest = fmin(lowest, height_of(world, id)), bounce = fmax(bounce, height_of(world, id) - lowest);
    assert_int_equal(flo_world_measure(world).penetrations, 0);
  }
  print_message("%s, soft box of %g kg/m3 and %g Pa lands in water: bounces by %.3f of its fall\n", method,
                density, young, bounce / (start - edge / 2));
  assert_true(height_of(world, id) < edge && bounce < 0.3 * start);
  flo_world_destroy(world);
}

static void soft_boxes_land(void **unused) {
  (void)unused;
  check_landing("unified", 5000, 2e5);
  if (is_full()) check_landing("unified", 10000, 1e6), check_landing("monolithic", 5000, 2e5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(momenta_stay),
      cmocka_unit_test(soft_boxes_land),
      cmocka_unit_test(rigid_boxes_land_on_soft_ones),
      cmocka_unit_test(bodies_float_as_deep_as_they_weigh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
