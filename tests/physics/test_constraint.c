// Fluid alone with `constraint`: still water in tanks of several sizes, the longest stable step, a blob in
// empty space, and the residual of a calm pillar. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

typedef struct Tank {
  int dim;
  double spacing;    // [m]
  int width, depth;  // in particles
  double fixed_step; // [s]; 0: the world chooses
} Tank;

static double to_metres(const Tank *tank, int n) { return n * tank->spacing; }

static FloWorldDef tank_def(const Tank *tank) {
  FloWorldDef def = flo_default_world_def();
  def.dim = tank->dim, def.method = "constraint", def.spacing = tank->spacing, def.threads = 1;
  def.time_step = tank->fixed_step, def.max_time_step = 0.1;
  vec_set(def.gravity, 0, tank->dim == 2 ? -GRAVITY : 0, tank->dim == 2 ? 0 : -GRAVITY);
  return def;
}

static FloWorld *make_tank_of(const Tank *tank, const FloWorldDef *def) {
  FloWorld *world = make_world(def);
  const double width = to_metres(tank, tank->width), depth = to_metres(tank, tank->depth),
               high = depth + 6 * tank->spacing;
  const bool is_flat = tank->dim == 2;
  add_tank(world, width, is_flat ? high : width, is_flat ? 0 : high, tank->dim - 1);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width, is_flat ? depth : width, is_flat ? 0 : depth);
  return world;
}

static FloWorld *make_tank(const Tank *tank) {
  const FloWorldDef def = tank_def(tank);
  return make_tank_of(tank, &def);
}

static void set(FloWorld *world, const char *name, double value) {
  FloError error;
  must(flo_world_set_param(world, name, value, &error), &error);
}

// ---- Measurements ----

static const double *heights(const FloWorld *world, const Tank *tank) {
  return doubles(world, tank->dim == 2 ? "y" : "z");
}

// Depth of the fluid over its depth at rest, from the centroid.
static double level_of(const FloWorld *world, const Tank *tank) {
  const double *h = heights(world, tank);
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += h[i];
  return 2 * sum / (double)n / to_metres(tank, tank->depth);
}

static double nearest_neighbour(const FloWorld *world, double spacing) {
  const double *x[3] = {doubles(world, "x"), doubles(world, "y"), doubles(world, "z")};
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  double nearest = INFINITY;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j) {
      const double dx = x[0][i] - x[0][j], dy = x[1][i] - x[1][j], dz = x[2][i] - x[2][j];
      nearest = fmin(nearest, dx * dx + dy * dy + dz * dz);
    }
  return sqrt(nearest) / spacing;
}

enum { MAX_LAYERS = 64 };

// The density of a layer farthest from that of the material, but for the last three layers at the surface.
static double worst_layer(const FloWorld *world, const Tank *tank) {
  const double *h = heights(world, tank);
  const float *density = floats(world, "density");
  double sums[MAX_LAYERS] = {0}, counts[MAX_LAYERS] = {0}, worst = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    const int layer = (int)fmax(h[i] / tank->spacing, 0);
    assert_true(layer < MAX_LAYERS);
    sums[layer] += (double)density[i], counts[layer] += 1;
  }
  for (int k = 0; k < tank->depth - 3; ++k)
    if (counts[k] > 0) worst = fmax(worst, fabs(sums[k] / counts[k] / DENSITY - 1));
  return worst;
}

// Adds up pressures of layers. Returns the largest share by which those in the lower three quarters are off,
// but for the layer at the floor.
static double pressure_error(const FloWorld *world, const Tank *tank, double *sums, double *theory) {
  const double *h = heights(world, tank), depth = to_metres(tank, tank->depth);
  const float *p = floats(world, "pressure");
  double worst = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    const int layer = (int)fmax(h[i] / tank->spacing, 0);
    sums[layer] += (double)p[i], theory[layer] += DENSITY * GRAVITY * (depth - h[i]);
  }
  for (int k = 1; k < 3 * tank->depth / 4; ++k) worst = fmax(worst, fabs(sums[k] / theory[k] - 1));
  return worst;
}

// ---- Still water ----

static void check_tank(const Tank *tank) {
  FloWorld *world = make_tank(tank);
  double sums[MAX_LAYERS] = {0}, theory[MAX_LAYERS] = {0}, speed = 0, level = 0, layer = 0, pressure = 0;
  advance(world, 3);
  const size_t first = flo_world_measure(world).step;
  for (int k = 1; k <= 20; ++k) {
    advance(world, 3 + 0.02 * k);
    speed += rms_speed(world) / 20, level += level_of(world, tank) / 20;
    layer = fmax(layer, worst_layer(world, tank));
    pressure = pressure_error(world, tank, sums, theory);
  }
  const double nearest = nearest_neighbour(world, tank->spacing);
  print_message("%dD, %g mm, %d x %d: rms %.2f mm/s, level %+.3f %%, layers within %.2f %%, pressure within "
                "%.1f %% (floor %+.1f %%), nearest %.2f spacings, %g steps/s\n",
                tank->dim, 1e3 * tank->spacing, tank->width, tank->depth, 1e3 * speed, 100 * (level - 1),
                100 * layer, 100 * pressure, 100 * (sums[0] / theory[0] - 1), nearest,
                (double)(flo_world_measure(world).step - first) / 0.4);
  flo_world_destroy(world);
  assert_true(speed < 0.009 * sqrt(GRAVITY * to_metres(tank, tank->depth)));
  if (tank->dim == 3) assert_true(speed < 5e-3);
  assert_true(fabs(level - 1) < 5e-3);
  assert_true(layer < 0.03);
  assert_true(pressure < (tank->dim == 2 ? 0.08 : 0.04) && fabs(sums[0] / theory[0] - 1) < 0.1);
  assert_true(nearest > 0.5);
}

static void still_water_keeps_density_and_level(void **unused) {
  (void)unused;
  static const Tank tanks[] = {{2, 0.02, 24, 15, 0},  {2, 0.02, 24, 30, 0}, {2, 0.01, 16, 45, 0},
                               {2, 0.005, 24, 30, 0}, {3, 0.02, 10, 12, 0}, {3, 0.01, 8, 20, 0}};
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) check_tank(&tanks[k]);
}

// The mean over half a second.
static double speed_since(FloWorld *world, double since) {
  double speed = 0;
  advance(world, since);
  for (int k = 1; k <= 10; ++k) advance(world, since + 0.05 * k), speed += rms_speed(world) / 10;
  return speed;
}

// Water in 2D takes longer to calm down than in 3D, but goes on doing so. Steps have their default limit.
static void flat_water_comes_to_rest(void **unused) {
  (void)unused;
  static const Tank tanks[] = {{2, 0.02, 20, 20, 0}, {2, 0.01, 20, 20, 0}, {2, 0.02, 40, 20, 0}};
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) {
    FloWorldDef def = tank_def(&tanks[k]);
    def.max_time_step = flo_default_world_def().max_time_step;
    FloWorld *world = make_tank_of(&tanks[k], &def);
    const double early = speed_since(world, 3), late = speed_since(world, 10);
    print_message("2D, %g mm, %d x %d: rms %.2f mm/s after 3 s, %.2f after 10 s\n", 1e3 * tanks[k].spacing,
                  tanks[k].width, tanks[k].depth, 1e3 * early, 1e3 * late);
    flo_world_destroy(world);
    assert_true(early < 12e-3 && late < 2e-3);
  }
}

// ---- Free blobs ----

static double relative_change(const double *a, const double *b) {
  double change = 0, size = 0;
  for (int axis = 0; axis < 3; ++axis) change += pow(b[axis] - a[axis], 2), size += pow(a[axis], 2);
  return sqrt(change / size);
}

static void check_blob(int dim, const char *solver_name, double solver) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.dim = dim, def.spacing = 0.02, def.gravity[2] = 0, def.method = "constraint", def.threads = 1;
  FloWorld *world = make_world(&def);
  FloFluidDef blob = flo_default_fluid_def();
  blob.material = add_water(world, DENSITY, 1e-6);
  blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = dim == 2 ? 0.2 : 0.1};
  blob.pose = pose_at(0.3, 0.2, 0);
  blob.velocity[0] = 1, blob.velocity[1] = 0.5, blob.angular_velocity[2] = 5;
  must(flo_world_add_fluid(world, &blob, NULL, &error), &error);
  set(world, "solver", solver);
  const FloMeasurements start = flo_world_measure(world);
  for (int step = 0; step < 300; ++step) must(flo_world_step(world, NULL, &error), &error);
  const FloMeasurements end = flo_world_measure(world);
  const double linear = relative_change(start.momentum, end.momentum),
               angular = relative_change(start.angular_momentum, end.angular_momentum);
  print_message("%dD blob, %s: momentum drifts by %.1e, angular by %.1e; energy %.5g -> %.5g J\n", dim,
                solver_name, linear, angular, start.kinetic_energy, end.kinetic_energy);
  flo_world_destroy(world);
  assert_true(linear <= 1e-6 && angular <= 1e-6);
  assert_true(end.kinetic_energy < 1.001 * start.kinetic_energy);
}

static void blobs_keep_their_momenta(void **unused) {
  (void)unused;
  for (int dim = 2; dim <= 3; ++dim) check_blob(dim, "gauss-seidel", 0), check_blob(dim, "nncg", 1);
}

// ---- The longest stable step ----

// Still water that boils: it gains speed from nothing and keeps it, or the run fails.
static bool boils(const Tank *tank, double share, double *speed) {
  Tank fixed = *tank;
  FloError error;
  const double depth = to_metres(tank, tank->depth);
  fixed.fixed_step = share * 2 * tank->spacing / sqrt(GRAVITY * depth);
  FloWorld *world = make_tank(&fixed);
  set(world, "iterations", 60), set(world, "tolerance", 0);
  const FloStatus status = flo_world_advance(world, 1.5, NULL, &error);
  *speed = status == FLO_DIVERGED ? INFINITY : rms_speed(world) / sqrt(GRAVITY * depth);
  flo_world_destroy(world);
  return *speed > 0.03;
}

static void steps_below_the_limit_are_stable(void **unused) {
  (void)unused;
  static const Tank tanks[] = {{2, 0.02, 16, 12, 0}, {2, 0.02, 16, 24, 0}, {2, 0.01, 16, 48, 0}};
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) {
    double calm, wild;
    const bool below = boils(&tanks[k], 0.38, &calm), above = boils(&tanks[k], 0.8, &wild);
    FloWorld *world = make_tank(&tanks[k]);
    const char *limited_by;
    const double dt = flo_world_max_dt(world, &limited_by),
                 share = dt * sqrt(GRAVITY * to_metres(&tanks[k], tanks[k].depth)) / (2 * tanks[k].spacing);
    print_message("%d deep: rms %.2f %% of sqrt(g h) at 0.38 H/sqrt(p/rho), %.1f %% at 0.8; the world takes "
                  "%.2f, limited by %s\n",
                  tanks[k].depth, 100 * calm, 100 * wild, share, limited_by);
    flo_world_destroy(world);
    assert_true(!below && above);
    assert_true(share < 0.4 && !strcmp(limited_by, "pressure"));
  }
}

// ---- Residuals ----

// Those of the default solver, warm, and of the paper's, from the same start.
static void pillars_converge(void **unused) {
  (void)unused;
  const Tank pillar = {3, 0.02, 8, 40, 0};
  FloWorld *world = make_tank(&pillar);
  advance(world, 0.3);
  FloError error;
  set(world, "iterations", 100), set(world, "history", 1);
  must(flo_world_step(world, NULL, &error), &error);
  const FloResiduals residuals = flo_world_residuals(world);
  const double *last = residuals.values + (residuals.n_iterations - 1) * residuals.n_solvers;
  const double ours = last[0], papers = last[residuals.n_solvers - 1];
  print_message("a pillar of %d x %d x %d: residual %.4f after 100 iterations, %.3f as in the paper\n",
                pillar.width, pillar.width, pillar.depth, ours, papers);
  flo_world_destroy(world);
  assert_true(ours <= 0.01 && ours < papers / 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blobs_keep_their_momenta),
      cmocka_unit_test(still_water_keeps_density_and_level),
      cmocka_unit_test(flat_water_comes_to_rest),
      cmocka_unit_test(pillars_converge),
      cmocka_unit_test(steps_below_the_limit_are_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
