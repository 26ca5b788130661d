// Still water in tanks, with `monolithic` as it is by default: fluid that starts on a lattice at rest comes
// to rest, keeps its volume, its level and its distance from walls, and has the pressure of its depth. Every
// case prints what it measured.
#include "tanks.h"

// ---- Tanks ----

// Limits of the pressure error: in the layer at the floor, and in the other layers.
static const double floor_limits[] = {0.05, 0.03}, layer_limits[] = {0.03, 0.03};

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
    for (int depth = 8; depth <= 32; depth *= 2)
      check_tank(&(Tank){"monolithic", 2, spacings[k], 24, depth, 0, false});
}

static void water_rests_in_3d(void **unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k)
    for (int depth = 8; depth <= 16; depth *= 2)
      check_tank(&(Tank){"monolithic", 3, spacings[k], 10, depth, 0, false});
}

// ---- Settled water ----

#define SETTLE_UNITS 100.0 // in sqrt(spacing/g)

// Fluid that had the time to leave its lattice hardly moves from then on. Shallow water takes longest.
static void check_settled(const Tank *tank) {
  FloBodyId walls;
  FloWorld *world = make_tank(tank, &walls);
  double settled = SETTLE_UNITS * sqrt(tank->spacing / GRAVITY);
  advance(world, settled + 0.9);
  const Rest rest = rest_until(world, tank, settled + 1);
  flo_world_destroy(world);
  print_message("%s, %dD, %2g mm, %2d deep, settled for %g sqrt(s/g): speed after 1 s %.2f %%\n",
                tank->method, tank->dim, 1e3 * tank->spacing, tank->depth, SETTLE_UNITS, 100 * rest.speed);
  assert_true(rest.speed <= (tank->depth > 8 ? 0.005 : 0.0075));
}

static void settled_water_rests(void **unused) {
  (void)unused;
  static const char *const methods[] = {"monolithic", "wcsph", "direct-forcing"};
  for (int k = 0; k < 3; ++k) {
    for (int depth = 8; depth <= 32; depth *= 2)
      check_settled(&(Tank){"monolithic", 2, spacings[k], 24, depth, 0, false});
    check_settled(&(Tank){"monolithic", 3, spacings[k], 10, 12, 0, false});
    check_settled(&(Tank){methods[k], 2, 0.05, 16, 16, 0, false});
  }
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
    Tank tank = {"monolithic", 2, spacings[k], 24, 32, 0, false};
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
    Tank tank = {"monolithic", 2, spacings[k], 24, 32, 0, false};
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
    Tank tank = {"monolithic", dim, 0.01, dim == 2 ? 24 : 10, 16, 0, true};
    FloBodyId walls;
    FloWorld *world = make_tank(&tank, &walls);
    advance(world, 1.5);
    const Rest rest = rest_until(world, &tank, 2);
    print_message("%dD without wall pressure: first layer %.3f, level %+.3f, pressure there %.0f %%\n", dim,
                  rest.first_layer, rest.level, 100 * pressure_error(&rest, &tank, 0));
    flo_world_destroy(world);
    assert_true(rest.first_layer < 0.4);
    assert_true(rest.level < -0.1);
    assert_true(pressure_error(&rest, &tank, 0) > 0.15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_rests_in_2d),   cmocka_unit_test(water_rests_in_3d),
      cmocka_unit_test(settled_water_rests), cmocka_unit_test(pressure_limits_the_step),
      cmocka_unit_test(longer_steps_boil),   cmocka_unit_test(without_wall_pressure_the_first_layer_sinks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
