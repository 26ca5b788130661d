// `unified`: fluids of different density above each other, bodies that float, land and hover, and what is
// conserved. Every case prints what it measured. With FLOTSAM_FULL=1 more ratios and densities are tried,
// which takes some minutes.
#include "layers.h"

#include "support/reference_file.h"

#define METHOD "unified"

// ---- Two layers ----

#define REFERENCE "analytic_two_layer_hydrostatics_rayleigh_taylor_lock_exchange.csv"

// The pressure at the bottom of layers of half a metre each.
static void compare_theory(const Layers *l) {
  char line[128];
  snprintf(line, sizeof line, "two-layer hydrostatics,%g,%g,0.5,0.5,9.81,,,pressure at the bottom", l->heavy,
           l->light);
  assert_true(fabs(pressure_below(l, 1) / reference_number(REFERENCE, line, 9) - 1) < 1e-6);
}

// `units` times sqrt(height/g) to come to rest. Sound crosses the tank several times in the last tenth.
static LayersRest rest_of_layers(const Layers *l, double units) {
  FloBodyId tank;
  FloWorld *world = make_layers(l, &tank);
  const double unit = sqrt(l->height / GRAVITY);
  advance(world, (units - 1.2) * unit);
  flo_world_restart_averages(world);
  const LayersRest rest = layers_rest(world, l, units * unit);
  const double weight = GRAVITY * (l->heavy + l->light) / 2 * l->height * l->width * layers_spacing(l);
  const double borne = -state_of(world, tank).mean_force[1] / weight;
  print_message("ratio %g, %d deep: pressure at the bottom %.4f, force on the floor %.4f of theory, gap %.3f "
                "spacings, speed %.2f %%, heavy fluid up to %+.2f spacings\n",
                l->heavy / l->light, l->depth, rest.bottom, borne, rest.gap, 100 * rest.speed, rest.mixed);
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  assert_true(fabs(borne - 1) < 0.02);
  flo_world_destroy(world);
  return rest;
}

static void check_layers(double light, double units, double gap) {
  const Layers l = {
      .method = METHOD, .dim = 2, .width = 16, .depth = 32, .height = 1, .heavy = 1000, .light = light};
  const LayersRest rest = rest_of_layers(&l, units);
  assert_true(fabs(rest.bottom - 1) < 0.02);
  assert_true(rest.speed < 0.01);
  assert_true(rest.gap < gap && rest.mixed < 0.5);
}

static void layers_rest_on_each_other(void **unused) {
  (void)unused;
  reference_need(REFERENCE);
  static const double lights[] = {800, 500, 100, 10};
  for (int k = 0; k < 4; ++k) compare_theory(&(Layers){.height = 1, .heavy = 1000, .light = lights[k]});
  check_layers(800, 12, 1.1);
  if (is_full()) check_layers(500, 16, 1.1);
  check_layers(100, 6, 1.1);
  check_layers(10, 3.5, 1.1);
  // Five seconds.
  if (is_full()) check_layers(10, 15.7, 1.1);
  if (is_full()) check_layers(2, 15.7, 1.1);
}

// ---- What keeps fluid off walls presses on them ----

static void check_weight_on_tank(int dim, double collisions, double repulsion) {
  const Layers l = {
      .method = METHOD, .dim = dim, .width = 8, .depth = 12, .height = 0.24, .heavy = 1000, .light = 1000};
  FloBodyId tank;
  FloError error;
  FloWorld *world = make_layers(&l, &tank);
  must(flo_world_set_param(world, "collisions", collisions, &error), &error);
  must(flo_world_set_param(world, "repulsion", repulsion, &error), &error);
  advance(world, 1);
  flo_world_restart_averages(world);
  advance(world, 1.5);
  const FloMeasurements after = flo_world_measure(world);
  const double wide = l.width * layers_spacing(&l),
               weight = GRAVITY * 1000 * l.height * wide * (dim == 3 ? wide : 1),
               borne = -state_of(world, tank).mean_force[dim - 1] / weight;
  print_message("%dD, collisions %g, repulsion %g: %zu repulsions; the tank bears %.4f of the weight\n", dim,
                collisions, repulsion, after.repulsions, borne);
  assert_true((after.repulsions > 0) == (repulsion > 0));
  assert_true(fabs(borne - 1) < 0.005);
  flo_world_destroy(world);
}

static void tanks_bear_their_water(void **unused) {
  (void)unused;
  check_weight_on_tank(2, 0, 0);
  check_weight_on_tank(2, 1, 0.2);
  check_weight_on_tank(2, 0, 1);
  check_weight_on_tank(3, 1, 0.2);
}

// ---- Bodies ----

#define SPACING 0.01

typedef struct Basin {
  FloWorld *world;
  FloBodyId box;
  double wide, volume; // of the basin [m], of the water [m^2]
} Basin;

// A basin that repeats along x, with a box twice as wide as high; `low` is the height of its lower side.
static Basin make_basin(int across, double density, double low) {
  const double s = SPACING, high = across * s;
  Basin basin = {.wide = (2 * across + 16) * s};
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = 2, def.method = METHOD, def.spacing = s, def.threads = 1, def.settle = 0.3;
  vec_set(def.gravity, 0, -GRAVITY, 0);
  def.periodic[0] = true, def.domain_high[0] = basin.wide;
  basin.world = make_world(&def);
  FloBodyDef floor = flo_default_body_def(), box = floor;
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {basin.wide, 4 * s, 0}};
  floor.pose = pose_at(basin.wide / 2, -2 * s, 0);
  must(flo_world_add_body(basin.world, &floor, NULL, &error), &error);
  box.kind = FLO_BODY_DYNAMIC, box.density = density;
  box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {2 * high, high, 0}};
  box.pose = pose_at(basin.wide / 2, low + high / 2, 0);
  must(flo_world_add_body(basin.world, &box, &basin.box, &error), &error);
  add_block(basin.world, add_water(basin.world, 1000, 1e-6), 0, basin.wide, 2 * high, 0);
  basin.volume = (double)flo_world_count(basin.world, FLO_SET_FLUID) * s * s;
  return basin;
}

// The share of an upright box below the level at which it and the water fill the basin.
static double share_of(Basin *basin, int across) {
  const double high = across * SPACING, low = state_of(basin->world, basin->box).pose.position[1] - high / 2;
  return ((basin->volume - 2 * high * low) / (basin->wide - 2 * high) - low) / high;
}

// Right within 2 %, or within a tenth of a spacing.
static void check_floating(int across, double density) {
  const double share = density / 1000, high = across * SPACING;
  Basin basin = make_basin(across, density, 2 * high - share * high);
  double sum = 0;
  int n = 0;
  advance(basin.world, 1.5);
  for (double time = 1.5; time < 2.5; time += 0.02, ++n) {
    advance(basin.world, time);
    sum += share_of(&basin, across);
  }
  const double off = sum / n - share;
  print_message("box of %g kg/m3, %d high: %.4f of it is under water (%+.2f %%, %+.2f spacings)\n", density,
                across, sum / n, 100 * off / share, off * across);
  assert_int_equal(flo_world_measure(basin.world).penetrations, 0);
  flo_world_destroy(basin.world);
  assert_true(fabs(off) < 0.02 * share || fabs(off * across) < 0.1);
}

static void boxes_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  for (int density = 100; density <= 900; density += 200)
    if (is_full() || density != 700) check_floating(12, density);
}

// A box that falls into water and onto the floor of a tank, from its own height above the water.
static void check_landing(int dim, int across, double density, bool collides) {
  const double s = 0.02, edge = across * s, wide = 3 * edge, deep = 2 * edge, start = deep + 1.5 * edge;
  const bool is_flat = dim == 2;
  FloWorldDef def = flo_default_world_def();
  FloError error;
  FloBodyId id;
  def.dim = dim, def.method = METHOD, def.spacing = s, def.threads = 1;
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "collisions", collides, &error), &error);
  add_tank(world, wide, is_flat ? 4 * deep : wide, is_flat ? 0 : 4 * deep, dim - 1);
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = density;
  box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {edge, edge, is_flat ? 0 : edge}};
  box.pose = pose_at(wide / 2, is_flat ? start : wide / 2, is_flat ? 0 : start);
  must(flo_world_add_body(world, &box, &id, &error), &error);
  add_block(world, add_water(world, 1000, 1e-6), 0, wide, is_flat ? deep : wide, is_flat ? 0 : deep);
  double lowest = INFINITY, bounce = 0, height = 0;
  for (double time = 0.01; time < 0.8; time += 0.01) {
    advance(world, time);
    height = state_of(world, id).pose.position[dim - 1] - edge / 2;
    lowest = fmin(lowest, height), bounce = fmax(bounce, height - lowest);
    assert_int_equal(flo_world_measure(world).penetrations, 0);
  }
  print_message(
      "%dD box of %g kg/m3, %d high, lands: bounces by %.4f of its fall, lies %.3f spacings above the "
      "floor, %zu collisions\n",
      dim, density, across, bounce / (start - edge / 2), height / s, flo_world_measure(world).collisions);
  assert_true(collides == (flo_world_measure(world).collisions > 0));
  assert_true(lowest > -0.05 * s && height < 2 * s);
  assert_true(bounce < 0.1 * (start - edge / 2));
  flo_world_destroy(world);
}

static void heavy_boxes_land(void **unused) {
  (void)unused;
  check_landing(2, 8, 10000, false);
  check_landing(2, 12, 50000, false);
  check_landing(2, 8, 10000, true);
  if (is_full()) check_landing(3, 6, 10000, false);
  if (is_full()) check_landing(3, 6, 50000, false);
}

// ---- Momenta ----

// Two fluids, one of them around a box that spins, fly through empty space onto another box.
static FloWorld *make_flight(int dim, double collisions, double repulsion) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = dim, def.spacing = 0.02, def.method = METHOD, def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "collisions", collisions, &error), &error);
  must(flo_world_set_param(world, "repulsion", repulsion, &error), &error);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef box = flo_default_body_def();
    box.kind = FLO_BODY_DYNAMIC, box.density = k ? 8000 : 3000;
    box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.12, 0.08, dim == 3 ? 0.1 : 0}};
    box.pose = pose_at(k ? 0.4 : 0, k ? 0.03 : 0, 0);
    vec_set(box.velocity, k ? -1.5 : 1, 0, 0);
    box.angular_velocity[2] = k ? 0 : 4;
    must(flo_world_add_body(world, &box, NULL, &error), &error);
    FloFluidDef blob = flo_default_fluid_def();
    blob.material = add_water(world, k ? 100 : 1000, k ? 1e-3 : 1e-6);
    blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.14};
    blob.pose = pose_at(k ? -0.3 : 0, k ? 0.1 : 0, 0);
    vec_set(blob.velocity, k ? 3 : 1, 0, 0);
    must(flo_world_add_fluid(world, &blob, NULL, &error), &error);
  }
  return world;
}

static double change_of(const double a[3], const double b[3]) {
  double difference[3];
  vec_sub(a, b, difference);
  return vec_length(difference) / vec_length(a);
}

static void check_momenta(int dim, double collisions, double repulsion) {
  FloWorld *world = make_flight(dim, collisions, repulsion);
  const FloMeasurements before = flo_world_measure(world);
  size_t most_contacts = 0;
  for (int k = 1; k <= 50; ++k) {
    advance(world, k * (dim == 2 ? 0.006 : 0.004));
    const size_t contacts = flo_world_measure(world).contacts;
    if (contacts > most_contacts) most_contacts = contacts;
  }
  const FloMeasurements after = flo_world_measure(world);
  const double linear = change_of(before.momentum, after.momentum),
               angular = change_of(before.angular_momentum, after.angular_momentum);
  print_message(
      "%dD, %zu collisions, %zu repulsions, up to %zu contacts: momentum drifts by %.1e, angular momentum by "
      "%.1e\n",
      dim, after.collisions, after.repulsions, most_contacts, linear, angular);
  if (collisions == 0 && repulsion == 0) assert_true(most_contacts > 0);
  assert_true((after.collisions > 0) == (collisions > 0) && (after.repulsions > 0) == (repulsion > 0));
  assert_true(linear < 1e-6 && angular < 1e-6);
  flo_world_destroy(world);
}

static void momenta_stay(void **unused) {
  (void)unused;
  check_momenta(2, 0, 0);
  check_momenta(2, 1, 0);
  check_momenta(2, 0, 0.5);
  check_momenta(3, 1, 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_rest_on_each_other),
      cmocka_unit_test(tanks_bear_their_water),
      cmocka_unit_test(boxes_float_as_deep_as_they_weigh),
      cmocka_unit_test(heavy_boxes_land),
      cmocka_unit_test(momenta_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
