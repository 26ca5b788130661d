// Still water in tanks, with the weakly compressible methods: fluid that starts on a lattice at rest comes to
// rest, keeps its volume, its level and its distance from walls, and has the pressure of its depth. Every
// case prints what it measured. With FLOTSAM_FULL=1 all spacings and depths are tried, which takes many
// minutes.
#include "tanks.h"

static const char *const methods[] = {"wcsph", "direct-forcing"};

static void print_rest(const Tank *tank, const Rest *early, const Rest *late, double floor_error) {
  print_message("%s, %dD, %2g mm, %2d deep: speed %.2f %% -> %.2f %%, squeezed %.2f %%, level %+.3f, first "
                "layer %.3f, force on the floor %+.2f %%, pressure %.1f %%, above the first layer %.1f %%\n",
                tank->method, tank->dim, 1e3 * tank->spacing, tank->depth, 100 * early->speed,
                100 * late->speed, 100 * late->most_squeezed, late->level, late->first_layer,
                100 * floor_error, 100 * pressure_error(late, tank, 0), 100 * pressure_error(late, tank, 1));
}

// In 2D the layers at a floor that particles touch, as with `direct-forcing`, lie straight. Their stress
// along the floor differs from that across it.
static double pressure_limit(const Tank *tank) {
  return tank->dim == 2 && !strcmp(tank->method, "direct-forcing") ? 0.06 : 0.03;
}

static void judge(const Tank *tank, const Rest *early, const Rest *late, double floor_error) {
  print_rest(tank, early, late, floor_error);
  assert_true(late->speed <= 0.0075 && late->speed < early->speed);
  assert_true(late->most_squeezed < 0.02);
  assert_true(fabs(late->level) < 0.1);
  assert_true(fabs(late->first_layer - 0.5) < 0.04);
  assert_true(fabs(floor_error) < 0.005);
  assert_true(pressure_error(late, tank, 0) < pressure_limit(tank));
}

// The time in which water comes to rest grows with the root of the spacing.
static void check_tank(const Tank *tank) {
  FloBodyId walls;
  FloWorld *world = make_tank(tank, &walls);
  double unit = sqrt(tank->spacing / GRAVITY), end = 63 * unit;
  advance(world, 12 * unit);
  const Rest early = rest_until(world, tank, 15 * unit);
  advance(world, end - 15 * unit);
  flo_world_restart_averages(world);
  const Rest late = rest_until(world, tank, end);
  double borne = -state_of(world, walls).mean_force[tank->dim - 1] / weight_of(world);
  flo_world_destroy(world);
  judge(tank, &early, &late, borne - 1);
}

static void check_all(int dim) {
  static const double spacings[] = {0.002, 0.005, 0.01, 0.02, 0.05};
  for (int k = 0; k < 10; ++k)
    for (int depth = 8; depth <= 64; depth *= 2)
      check_tank(&(Tank){methods[k % 2], dim, spacings[k / 2], dim == 2 ? 24 : 10, depth, 0, false});
}

static void water_rests_in_2d(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    check_tank(&(Tank){methods[k], 2, 0.002, 24, 8, 0, false});
    check_tank(&(Tank){methods[k], 2, 0.05, 24, 32, 0, false});
  }
  if (is_full()) check_all(2);
}

static void water_rests_in_3d(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) check_tank(&(Tank){methods[k], 3, 0.01, 10, 16, 0, false});
  if (is_full()) check_all(3);
}

// In a deep tank the weight of water compresses it most.
static void the_level_stays(void **unused) {
  (void)unused;
  const Tank tank = {"wcsph", 2, 0.01, 8, 64, 0, false};
  FloBodyId walls;
  FloWorld *world = make_tank(&tank, &walls);
  advance(world, 1.5);
  const Rest rest = rest_until(world, &tank, 1.6);
  print_message("64 deep: level %+.3f\n", rest.level);
  flo_world_destroy(world);
  assert_true(fabs(rest.level) < 0.1);
}

// As in the paper, where samples have no pressures of their own, the fluid's volume is not kept.
static void without_wall_pressure_the_level_sinks(void **unused) {
  (void)unused;
  const Tank tank = {"direct-forcing", 2, 0.01, 24, 32, 0, true};
  FloBodyId walls;
  FloWorld *world = make_tank(&tank, &walls);
  advance(world, 0.9);
  const Rest rest = rest_until(world, &tank, 1);
  print_message("without wall pressure: level %+.3f\n", rest.level);
  flo_world_destroy(world);
  assert_true(rest.level < -0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_rests_in_2d),
      cmocka_unit_test(water_rests_in_3d),
      cmocka_unit_test(the_level_stays),
      cmocka_unit_test(without_wall_pressure_the_level_sinks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
