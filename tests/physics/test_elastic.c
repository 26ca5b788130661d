// The method `elastic` by itself: still water, buoyancy, adhesion, momenta, and its two solvers. Every case
// prints what it measured.
#include "tanks.h"

// ---- Still water ----

// Limits of the pressure error: in the layer at the floor, and in the other layers.
static const double floor_limits[] = {0.06, 0.03}, layer_limits[] = {0.035, 0.03};

static void judge_rest(const Tank *tank, const Rest *rest, double floor_error) {
  double at_floor = pressure_error(rest, tank, 0), above = pressure_error(rest, tank, 1);
  print_message(
      "%dD, %2g mm, %2d deep: speed %.2f %%, squeezed %.2f %%, level %+.3f, first layer %.3f, force "
      "on the floor %+.2f %%, pressure %.1f %%, above the first layer %.1f %%\n",
      tank->dim, 1e3 * tank->spacing, tank->depth, 100 * rest->speed, 100 * rest->most_squeezed, rest->level,
      rest->first_layer, 100 * floor_error, 100 * at_floor, 100 * above);
  assert_true(rest->speed <= 0.016);
  assert_true(rest->most_squeezed < 0.0025);
  assert_true(fabs(rest->level) < 0.03);
  assert_true(fabs(rest->first_layer - 0.5) < 0.04);
  assert_true(fabs(floor_error) < 0.002);
  assert_true(at_floor < floor_limits[tank->dim - 2] && above < layer_limits[tank->dim - 2]);
}

// Two seconds, or as long as waves of large particles need to calm down.
static void check_tank(const Tank *tank) {
  FloBodyId walls;
  FloWorld *world = make_tank(tank, &walls);
  const double end = fmax(2, 63 * sqrt(tank->spacing / GRAVITY));
  advance(world, end - 0.5);
  flo_world_restart_averages(world);
  const Rest rest = rest_until(world, tank, end);
  const double borne = -state_of(world, walls).mean_force[tank->dim - 1] / weight_of(world);
  flo_world_destroy(world);
  judge_rest(tank, &rest, borne - 1);
}

static void water_rests(void **unused) {
  (void)unused;
  check_tank(&(Tank){"elastic", 2, 0.002, 24, 32, 0, false});
  check_tank(&(Tank){"elastic", 2, 0.01, 24, 8, 0, false});
  check_tank(&(Tank){"elastic", 2, 0.01, 24, 16, 1e-3, false});
  check_tank(&(Tank){"elastic", 2, 0.05, 24, 16, 0, false});
  check_tank(&(Tank){"elastic", 3, 0.002, 10, 8, 0, false});
  check_tank(&(Tank){"elastic", 3, 0.01, 10, 16, 0, false});
}

// With the papers' walls, which have no pressure of their own, the first layer sinks into the floor.
static void without_wall_pressure_the_first_layer_sinks(void **unused) {
  (void)unused;
  for (int dim = 2; dim <= 3; ++dim) {
    const Tank tank = {"elastic", dim, 0.01, dim == 2 ? 24 : 8, 12, 0, true};
    FloBodyId walls;
    FloWorld *world = make_tank(&tank, &walls);
    advance(world, 1);
    const Rest rest = rest_until(world, &tank, 1.3);
    flo_world_destroy(world);
    print_message("%dD without wall pressure: first layer %.3f, level %+.3f\n", dim, rest.first_layer,
                  rest.level);
    assert_true(rest.first_layer < 0.42 && rest.first_layer > 0.1);
    assert_true(rest.level < -0.08 && rest.level > -0.7);
  }
}

// ---- Solvers ----

// Conjugate directions need far fewer iterations than PCISPH's own, for the same water.
static void conjugate_directions_save_iterations(void **unused) {
  (void)unused;
  double iterations[2] = {0}, borne[2];
  for (int solver = 0; solver < 2; ++solver) {
    const Tank tank = {"elastic", 2, 0.01, 16, 24, 2e-3, false};
    FloBodyId walls;
    FloError error;
    FloStepInfo info;
    FloWorld *world = make_tank(&tank, &walls);
    must(flo_world_set_param(world, "solver", solver, &error), &error);
    must(flo_world_set_param(world, "max_iterations", 1000, &error), &error);
    for (int step = 0; step < 250; ++step) {
      must(flo_world_step(world, &info, &error), &error);
      iterations[solver] += info.iterations / 250.0;
    }
    borne[solver] = -state_of(world, walls).mean_force[1] / weight_of(world);
    flo_world_destroy(world);
  }
  print_message("plain: %.1f iterations a step, the floor bears %.4f; nncg: %.1f, %.4f\n", iterations[0],
                borne[0], iterations[1], borne[1]);
  assert_true(iterations[1] < iterations[0] / 1.5);
  for (int solver = 0; solver < 2; ++solver) assert_true(fabs(borne[solver] - 1) < 0.02);
}

// ---- Adhesion ----

// Single particles that touch a ceiling from below. With adhesion they hang there, without it they fall.
// Returns the depth of the lowest one below the ceiling, in spacings.
static double depth_below_ceiling(int dim, double spacing, double beta) {
  FloWorldDef def = flo_default_world_def();
  FloBodyDef plate = flo_default_body_def();
  FloError error;
  const int up = dim - 1;
  const double s = spacing;
  double x[12] = {0}, lowest = 0;
  const float v[12] = {0};
  def.dim = dim, def.method = "elastic", def.spacing = s, def.threads = 1;
  vec_set(def.gravity, 0, dim == 2 ? -GRAVITY : 0, dim == 3 ? -GRAVITY : 0);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "beta", beta, &error), &error);
  plate.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {20 * s, dim == 2 ? 4 * s : 20 * s, 4 * s}};
  plate.pose.position[up] = 2 * s;
  must(flo_world_add_body(world, &plate, NULL, &error), &error);
  for (int k = 0; k < 4; ++k) x[3 * k] = (4.3 * k - 6) * s, x[3 * k + up] = -s / 2;
  must(flo_world_add_particles(world, add_water(world, DENSITY, 1e-6), 4, x, v, &error), &error);
  advance(world, 0.2);
  const double *h = doubles(world, up == 1 ? "y" : "z");
  for (size_t i = 0; i < 4; ++i) lowest = fmin(lowest, h[i]);
  flo_world_destroy(world);
  return -lowest / s;
}

// beta is scaled with the spacing, so that the ceiling pulls with several times gravity.
static void fluid_sticks_to_solids(void **unused) {
  (void)unused;
  static const double spacings[] = {0.01, 0.02};
  for (int k = 0; k < 4; ++k) {
    const int dim = 2 + k % 2;
    const double s = spacings[k / 2], beta = 200 * pow(s, dim - 1), held = depth_below_ceiling(dim, s, beta),
                 free = depth_below_ceiling(dim, s, 0);
    print_message(
        "%dD, %g mm, beta %g: the lowest particle is %.2f spacings below the ceiling, %.1f without\n", dim,
        1e3 * s, beta, held, free);
    assert_true(held < 1);
    assert_true(free > 5);
  }
}

// ---- Momenta ----

// A drop hits a light box in empty space: nothing outside acts, so momenta stay, adhesion included.
static void check_collision(int dim, double density) {
  FloWorldDef def = flo_default_world_def();
  FloBodyDef box = flo_default_body_def();
  FloFluidDef drop = flo_default_fluid_def();
  FloError error;
  def.dim = dim, def.method = "elastic", def.spacing = 0.02, def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "beta", 0.05, &error), &error);
  box.kind = FLO_BODY_DYNAMIC, box.density = density;
  box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.12, 0.12, dim == 3 ? 0.12 : 0}};
  must(flo_world_add_body(world, &box, NULL, &error), &error);
  drop.material = add_water(world, DENSITY, 1e-6);
  drop.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.06};
  drop.pose.position[0] = -0.14, drop.pose.position[1] = 0.03, drop.velocity[0] = 2;
  must(flo_world_add_fluid(world, &drop, NULL, &error), &error);
  const FloMeasurements before = flo_world_measure(world);
  advance(world, 0.15);
  const FloMeasurements after = flo_world_measure(world);
  flo_world_destroy(world);
  const double linear = fabs(after.momentum[0] / before.momentum[0] - 1),
               angular = fabs(after.angular_momentum[2] / before.angular_momentum[2] - 1),
               energy = after.kinetic_energy / before.kinetic_energy;
  print_message(
      "%dD, a drop hits a box of %g kg/m3: momentum changes by %.1e, angular momentum by %.1e, %.2f of "
      "the energy is left\n",
      dim, density, linear, angular, energy);
  assert_true(linear < 1e-6 && angular < 1e-5 && energy < 1);
}

static void collisions_keep_momenta(void **unused) {
  (void)unused;
  static const double densities[] = {10, 300, 3000};
  for (int k = 0; k < 6; ++k) check_collision(2 + k % 2, densities[k / 2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_rests),
      cmocka_unit_test(without_wall_pressure_the_first_layer_sinks),
      cmocka_unit_test(conjugate_directions_save_iterations),
      cmocka_unit_test(fluid_sticks_to_solids),
      cmocka_unit_test(collisions_keep_momenta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
