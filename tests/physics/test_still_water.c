// Still water in tanks, with `monolithic` as it is by default: fluid that starts on a lattice at rest comes
// to rest, keeps its volume, its level and its distance from walls, and has the pressure of its depth. Every
// case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

enum { MAX_LAYERS = 64 };

typedef struct Tank {
  int dim;
  double spacing;    // [m]
  int width, depth;  // in particles
  double fixed_step; // [s]; 0: the world chooses
  bool is_papers;    // walls have no pressure
} Tank;

static FloWorld *make_tank(const Tank *tank, FloBodyId *walls) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  double s = tank->spacing, width = tank->width * s, depth = tank->depth * s, high = depth + 6 * s;
  bool is_flat = tank->dim == 2;
  def.dim = tank->dim, def.method = "monolithic", def.spacing = s, def.threads = 1;
  def.time_step = tank->fixed_step;
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  if (tank->is_papers) must(flo_world_set_param(world, "wall_pressure", 0, &error), &error);
  FloBodyDef box = flo_default_body_def();
  box.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = tank->dim - 1};
  vec_set(box.shape.size, width, is_flat ? high : width, is_flat ? 0 : high);
  box.pose = pose_at(width / 2, box.shape.size[1] / 2, box.shape.size[2] / 2);
  box.averages_force = true;
  must(flo_world_add_body(world, &box, walls, &error), &error);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width, is_flat ? depth : width, is_flat ? 0 : depth);
  return world;
}

// ---- Measurements ----

// Means over the steps of a while.
typedef struct Rest {
  double duration;
  double speed;         // root of the mean square in the last tenth of a second, of sqrt(g depth)
  double most_squeezed; // largest compression of a particle
  double level;         // less that of the volume, in spacings
  double first_layer;   // mean height of the first layer, in spacings
  double pressure[MAX_LAYERS], theory[MAX_LAYERS]; // sums over particles, times steps
} Rest;

static const double *heights(const FloWorld *world, const Tank *tank) {
  return doubles(world, tank->dim == 2 ? "y" : "z");
}

static double rms_speed(FloWorld *world) {
  const float *mass = floats(world, "mass");
  double total = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) total += (double)mass[i];
  return sqrt(2 * flo_world_measure(world).kinetic_energy / total);
}

// Half a spacing above the highest layer, from the centroid.
static double level_of(const FloWorld *world, const Tank *tank) {
  const double *h = heights(world, tank);
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += h[i];
  return 2 * sum / (double)n;
}

static void add_layers(const FloWorld *world, const Tank *tank, double dt, Rest *rest) {
  const double *h = heights(world, tank), depth = tank->depth * tank->spacing;
  const float *p = floats(world, "pressure");
  double first = 0, n_first = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    int layer = (int)fmax(h[i] / tank->spacing, 0);
    assert_true(layer < MAX_LAYERS);
    rest->pressure[layer] += dt * (double)p[i];
    rest->theory[layer] += dt * DENSITY * GRAVITY * (depth - h[i]);
    if (layer == 0) first += h[i] / tank->spacing, n_first += 1;
  }
  rest->first_layer += dt * first / n_first;
}

// Pressures of single steps scatter, so all steps count.
static Rest rest_until(FloWorld *world, const Tank *tank, double end) {
  Rest rest = {0};
  FloError error;
  FloStepInfo info;
  double depth = tank->depth * tank->spacing, last = 0;
  while (flo_world_time(world) < end) {
    must(flo_world_step(world, &info, &error), &error);
    rest.duration += info.dt;
    if (info.time > end - 0.1) last += info.dt, rest.speed += info.dt * rms_speed(world);
    rest.most_squeezed = fmax(rest.most_squeezed, flo_world_measure(world).density_error_max);
    rest.level += info.dt * (level_of(world, tank) - depth) / tank->spacing;
    add_layers(world, tank, info.dt, &rest);
  }
  rest.speed /= last * sqrt(GRAVITY * depth), rest.level /= rest.duration, rest.first_layer /= rest.duration;
  return rest;
}

// The largest share by which layers from `first` on, in the lower three quarters, differ from rho g depth.
static double pressure_error(const Rest *rest, const Tank *tank, int first) {
  double worst = 0;
  for (int layer = first; layer < 3 * tank->depth / 4; ++layer)
    worst = fmax(worst, fabs(rest->pressure[layer] / rest->theory[layer] - 1));
  return worst;
}

static double weight_of(const FloWorld *world) {
  const float *mass = floats(world, "mass");
  double total = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) total += (double)mass[i];
  return GRAVITY * total;
}

// ---- Tanks ----

// Limits of the pressure error: in the layer at the floor, and in the other layers.
static const double floor_limits[] = {0.15, 0.07}, layer_limits[] = {0.11, 0.06};

static void judge(const Tank *tank, const Rest *early, const Rest *late, double floor_error) {
  double at_floor = pressure_error(late, tank, 0), above = pressure_error(late, tank, 1);
  print_message("%dD, %2g mm, %2d deep: speed %.2f %% -> %.2f %%, squeezed %.2f %%, level %+.3f, first layer "
                "%.3f, force on the floor %+.2f %%, pressure %.1f %%, above the first layer %.1f %%\n",
                tank->dim, 1e3 * tank->spacing, tank->depth, 100 * early->speed, 100 * late->speed,
                100 * late->most_squeezed, late->level, late->first_layer, 100 * floor_error, 100 * at_floor,
                100 * above);
  assert_true(late->speed <= 0.016 && late->speed < early->speed);
  assert_true(late->most_squeezed < 0.0025);
  assert_true(fabs(late->level) < 0.03);
  assert_true(fabs(late->first_layer - 0.5) < 0.04);
  assert_true(fabs(floor_error) < 0.002);
  assert_true(at_floor < floor_limits[tank->dim - 2] && above < layer_limits[tank->dim - 2]);
}

// Two seconds, or as long as waves of large particles need to calm down.
static void check_tank(const Tank *tank) {
  FloBodyId walls;
  FloWorld *world = make_tank(tank, &walls);
  double end = fmax(2, 63 * sqrt(tank->spacing / GRAVITY));
  advance(world, end / 2 - 0.1);
  const Rest early = rest_until(world, tank, end / 2);
  advance(world, end - 0.5);
  flo_world_restart_averages(world);
  const Rest late = rest_until(world, tank, end);
  double borne = -state_of(world, walls).mean_force[tank->dim - 1] / weight_of(world);
  flo_world_destroy(world);
  judge(tank, &early, &late, borne - 1);
}

static const double spacings[] = {0.002, 0.01, 0.05};

static void water_rests_in_2d(void **unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k)
    for (int depth = 8; depth <= 32; depth *= 2) check_tank(&(Tank){2, spacings[k], 24, depth, 0, false});
}

static void water_rests_in_3d(void **unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k)
    for (int depth = 8; depth <= 16; depth *= 2) check_tank(&(Tank){3, spacings[k], 10, depth, 0, false});
}

// ---- What it depends on ----

// Of H/sqrt(p/rho) with the pressure at the floor, the share that a step takes.
static double share_of_limit(const Tank *tank, double step) {
  return step / (2 * tank->spacing / sqrt(GRAVITY * tank->depth * tank->spacing));
}

// Large particles are left out: there the step is limited by the longest that a world takes.
static void pressure_limits_the_step(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    Tank tank = {2, spacings[k], 24, 32, 0, false};
    FloBodyId walls;
    FloWorld *world = make_tank(&tank, &walls);
    const char *at_first, *later;
    double first = flo_world_max_dt(world, &at_first);
    advance(world, 0.5);
    double then = flo_world_max_dt(world, &later);
    print_message("%2g mm, 32 deep: step %.3f of H/sqrt(p/rho) by %s, after 0.5 s %.3f by %s\n",
                  1e3 * tank.spacing, share_of_limit(&tank, first), at_first, share_of_limit(&tank, then),
                  later);
    assert_string_equal(at_first, "pressure");
    assert_string_equal(later, "pressure");
    assert_true(share_of_limit(&tank, first) < 0.45 && share_of_limit(&tank, first) > 0.3);
    assert_true(share_of_limit(&tank, then) < 0.45 && share_of_limit(&tank, then) > 0.3);
    flo_world_destroy(world);
  }
}

// With a step that is too long, water never rests.
static void longer_steps_boil(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    Tank tank = {2, spacings[k], 24, 32, 0, false};
    FloBodyId walls;
    FloWorld *world = make_tank(&tank, &walls);
    tank.fixed_step = 1.6 * flo_world_max_dt(world, NULL);
    flo_world_destroy(world);
    world = make_tank(&tank, &walls);
    advance(world, 1.5);
    const Rest rest = rest_until(world, &tank, 2);
    print_message("%2g mm, 32 deep, steps of %.2f H/sqrt(p/rho): speed %.1f %%, squeezed %.0f %%\n",
                  1e3 * tank.spacing, share_of_limit(&tank, tank.fixed_step), 100 * rest.speed,
                  100 * rest.most_squeezed);
    flo_world_destroy(world);
    assert_true(rest.speed > 0.05);
  }
}

// As in the paper, where walls have no pressure, the first layer sinks into the floor.
static void without_wall_pressure_the_first_layer_sinks(void **unused) {
  (void)unused;
  for (int dim = 2; dim <= 3; ++dim) {
    Tank tank = {dim, 0.01, dim == 2 ? 24 : 10, 16, 0, true};
    FloBodyId walls;
    FloWorld *world = make_tank(&tank, &walls);
    advance(world, 1.5);
    const Rest rest = rest_until(world, &tank, 2);
    print_message("%dD without wall pressure: first layer %.3f, level %+.3f, pressure there %.0f %%\n", dim,
                  rest.first_layer, rest.level, 100 * pressure_error(&rest, &tank, 0));
    flo_world_destroy(world);
    assert_true(rest.first_layer < 0.4);
    assert_true(rest.level < -0.1);
    assert_true(pressure_error(&rest, &tank, 0) > 0.3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_rests_in_2d),
      cmocka_unit_test(water_rests_in_3d),
      cmocka_unit_test(pressure_limits_the_step),
      cmocka_unit_test(longer_steps_boil),
      cmocka_unit_test(without_wall_pressure_the_first_layer_sinks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
