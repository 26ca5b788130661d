// Water at rest and what floats in it, with `monolithic`: Archimedes' law, a body as heavy as water, and the
// pressure of a pool. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define SPACING 0.02
#define GRAVITY 9.81
#define DENSITY 1000.0

static FloWorldDef water_def(double settle) {
  FloWorldDef def = flo_default_world_def();
  def.method = "monolithic", def.spacing = SPACING, def.settle = settle, def.threads = 1;
  vec_set(def.gravity, 0, 0, -GRAVITY);
  return def;
}

// ---- A cube in a basin ----

typedef struct Bath {
  FloWorld *world;
  FloBodyId cube;
  double width, depth, edge;
} Bath;

// The basin has a floor and repeats along x and y. Homogeneous cubes of 0.21 to 0.79 times the density of
// water float on an edge or a corner, not flat, and would roll over during the test: they are kept from
// turning.
static Bath make_bath(double width, double depth, double edge, double density, double height,
                      double sampling) {
  FloWorldDef def = water_def(0.3);
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = width;
  Bath bath = {.world = make_world(&def), .width = width, .depth = depth, .edge = edge};
  FloError error;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {width, width, 4 * SPACING}};
  floor.pose = pose_at(width / 2, width / 2, -2 * SPACING);
  must(flo_world_add_body(bath.world, &floor, NULL, &error), &error);
  FloBodyDef cube = flo_default_body_def();
  cube.kind = FLO_BODY_DYNAMIC, cube.density = density, cube.sampling = sampling;
  cube.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {edge, edge, edge}};
  cube.pose = pose_at(width / 2, width / 2, height);
  for (int axis = 0; axis < 3; ++axis) cube.turn_locks[axis] = true;
  must(flo_world_add_body(bath.world, &cube, &bath.cube, &error), &error);
  add_block(bath.world, add_water(bath.world, DENSITY, 1e-6), 0, width, width, depth);
  return bath;
}

// How high the water stands, from its volume: it fills the basin up to the level, except where the cube is.
static double measure_level(const Bath *bath, double bottom) {
  double area = bath->width * bath->width, base = bath->edge * bath->edge;
  double volume = (double)flo_world_count(bath->world, FLO_SET_FLUID) * pow(SPACING, 3);
  return (volume - base * bottom) / (area - base);
}

// Mean over a while, in which the cube bobs a little.
static double measure_share(const Bath *bath, double from, double to) {
  double sum = 0;
  int n = 0;
  for (double time = from; time < to; time += 0.02, ++n) {
    advance(bath->world, time);
    double bottom = state_of(bath->world, bath->cube).pose.position[2] - bath->edge / 2;
    sum += (measure_level(bath, bottom) - bottom) / bath->edge;
  }
  return sum / n;
}

// ---- Archimedes ----

static void cube_floats_as_deep_as_it_weighs(void **density) {
  double expected = *(const double *)*density / DENSITY, edge = 12 * SPACING;
  double depth = fmax(expected * edge + 0.14, 0.24);
  Bath bath =
      make_bath(edge + 14 * SPACING, depth, edge, expected * DENSITY, depth + (0.5 - expected) * edge, 1);
  advance(bath.world, 2.8); // until it has settled
  double share = measure_share(&bath, 2.8, 3.4);
  FloMeasurements measurements = flo_world_measure(bath.world);
  print_message("%g kg/m3: %.4f of it is under water (theory %.4f: off by %+.2f %% of that)\n",
                expected * DENSITY, share, expected, 100 * (share / expected - 1));
  flo_world_destroy(bath.world);
  assert_true(fabs(share / expected - 1) < 0.02);
  assert_int_equal(measurements.penetrations, 0);
}

// With samples twice as fine as fluid, and as coarse as they may be.
static void cube_floats_whatever_its_samples(void **unused) {
  (void)unused;
  static const double samplings[] = {FLO_FINEST_SAMPLING, FLO_COARSEST_SAMPLING};
  for (int k = 0; k < 2; ++k) {
    double depth = 0.22, edge = 8 * SPACING;
    Bath bath = make_bath(edge + 12 * SPACING, depth, edge, 500, depth, samplings[k]);
    advance(bath.world, 0.3);
    double share = measure_share(&bath, 0.3, 0.9);
    FloMeasurements measurements = flo_world_measure(bath.world);
    print_message("samples %g spacings apart: %.4f of 0.5 is under water, %zu penetrations\n", samplings[k],
                  share, measurements.penetrations);
    flo_world_destroy(bath.world);
    assert_true(fabs(share - 0.5) < 0.05);
    assert_int_equal(measurements.penetrations, 0);
  }
}

static void neutral_body_neither_rises_nor_sinks(void **unused) {
  (void)unused;
  double depth = 0.36, edge = 10 * SPACING, lowest = INFINITY, highest = -INFINITY;
  Bath bath = make_bath(0.36, depth, edge, DENSITY, depth / 2, 1);
  for (double time = 1; time < 6.01; time += 0.1) {
    advance(bath.world, time);
    double height = state_of(bath.world, bath.cube).pose.position[2];
    lowest = fmin(lowest, height), highest = fmax(highest, height);
  }
  print_message("as heavy as water: stays within %.2f %% of its size for 5 s, at %.4f m of %.2f m\n",
                100 * (highest - lowest) / edge, (lowest + highest) / 2, depth);
  flo_world_destroy(bath.world);
  assert_true(highest - lowest < 0.02 * edge);
}

// ---- A pool ----

enum { MAX_LAYERS = 64 };

// By layers a spacing thick: sums over particles and steps.
typedef struct Layers {
  double pressure[MAX_LAYERS], theory[MAX_LAYERS];
  size_t count[MAX_LAYERS];
} Layers;

// Depth counts from the top of the settled pool. Particles next to walls count as well.
static void add_layers(FloWorld *world, Layers *layers) {
  const double *z = doubles(world, "z");
  const float *p = floats(world, "pressure");
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double top = 0;
  for (size_t i = 0; i < n; ++i) top = fmax(top, z[i] + SPACING / 2);
  for (size_t i = 0; i < n; ++i) {
    int layer = (int)fmax(z[i] / SPACING, 0);
    assert_true(layer < MAX_LAYERS);
    layers->pressure[layer] += (double)p[i];
    layers->theory[layer] += DENSITY * GRAVITY * (top - z[i]);
    layers->count[layer]++;
  }
}

// Root of the mean square over the layers, as a share of the pressure at the bottom.
static double pressure_error(const Layers *layers, double depth) {
  double square = 0;
  int n_layers = 0;
  for (int k = 0; k < MAX_LAYERS; ++k)
    if (layers->count[k])
      square += pow((layers->pressure[k] - layers->theory[k]) / (double)layers->count[k], 2), ++n_layers;
  return sqrt(square / n_layers) / (DENSITY * GRAVITY * depth);
}

// The pressure of a single step scatters as much as the solver's tolerance lets it: it is averaged over 0.2
// s.
static void pool_rests(void **unused) {
  (void)unused;
  FloWorldDef def = water_def(0.5);
  def.max_time_step = 2e-3;
  FloWorld *world = make_world(&def);
  double width = 0.3, depth = 0.4;
  Layers layers = {0};
  add_tank(world, width, width, 2 * depth, 2);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width, width, depth);
  advance(world, 0.1);
  double early = flo_world_measure(world).kinetic_energy;
  for (double time = 1.5; time < 1.7; time += 2e-3) {
    advance(world, time);
    add_layers(world, &layers);
  }
  FloMeasurements measurements = flo_world_measure(world);
  double error = pressure_error(&layers, depth), late = measurements.kinetic_energy;
  print_message("pool: pressure off by %.2f %% of that at the bottom; kinetic energy %.3g -> %.3g J\n",
                100 * error, early, late);
  flo_world_destroy(world);
  assert_true(error < 0.025);
  assert_true(late < 0.7 * early);
  assert_int_equal(measurements.penetrations, 0);
}

// ---- A free collision ----

static double distance(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(a, b, d);
  return vec_length(d);
}

// A spinning cube flies into a blob of water, without gravity.
static void collision_with_water_keeps_momentum(void **unused) {
  (void)unused;
  FloWorldDef def = water_def(0);
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  FloError error;
  FloBodyId id;
  FloBodyDef cube = flo_default_body_def();
  double edge = 6 * SPACING, mass = 500 * pow(edge, 3);
  cube.kind = FLO_BODY_DYNAMIC, cube.density = 500, cube.pose = pose_at(-0.12, 0.1, 0.07);
  cube.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {edge, edge, edge}};
  vec_set(cube.velocity, 1.5, 0.1, 0.2);
  vec_set(cube.angular_velocity, 1, 2, 3);
  must(flo_world_add_body(world, &cube, &id, &error), &error);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, 0.2, 0.16, 0.16);
  FloMeasurements before = flo_world_measure(world);
  double start[3];
  vec_copy(state_of(world, id).velocity, start);
  advance(world, 0.3);
  FloMeasurements after = flo_world_measure(world);
  double exchanged = mass * distance(state_of(world, id).velocity, start);
  double drift = distance(after.momentum, before.momentum) / exchanged,
         turn_drift = distance(after.angular_momentum, before.angular_momentum) / (exchanged * edge / 2);
  print_message("cube into water: %.3f N s exchanged; drift %.2g of it, of the angular momentum %.2g; energy "
                "%.3f -> %.3f J\n",
                exchanged, drift, turn_drift, before.kinetic_energy, after.kinetic_energy);
  flo_world_destroy(world);
  assert_true(exchanged > 0.3);
  assert_true(after.kinetic_energy <= before.kinetic_energy);
  assert_true(drift <= 1e-6);
  assert_true(turn_drift <= 1e-6);
}

#define FLOATS(density)                                                                                      \
  {                                                                                                          \
    "cube of " #density " kg/m3 floats", cube_floats_as_deep_as_it_weighs, NULL, NULL,                       \
        (void *)&density_##density                                                                           \
  }

int main(void) {
  static const double density_250 = 250, density_500 = 500, density_750 = 750;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collision_with_water_keeps_momentum),
      cmocka_unit_test(pool_rests),
      FLOATS(250),
      FLOATS(500),
      FLOATS(750),
      cmocka_unit_test(cube_floats_whatever_its_samples),
      cmocka_unit_test(neutral_body_neither_rises_nor_sinks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
