// Blocks on the floor of a tank of water, with `monolithic`: a light block leaves the floor, also if no
// particle fits under it, and a heavy one stays. What tank and block are said to bear is what the momenta
// lack.
#include "lifts.h"

static void check_impulses(const Outcome *outcome) {
  assert_true(outcome->tank_error < 1e-8);
  assert_true(outcome->block_error < 1e-12);
}

static void check_light(const Lift *lift) {
  const Outcome outcome = watch(lift);
  check_impulses(&outcome);
  assert_true(outcome.rise > 2 && outcome.left_at > 0);
}

static void check_heavy(Lift lift, double settle) {
  lift.settle = settle;
  const Outcome outcome = watch(&lift);
  check_impulses(&outcome);
  assert_true(outcome.moved < 0.1);
}

// ---- Cases ----

static void light_blocks_leave_the_floor_in_2d(void **unused) {
  (void)unused;
  for (int fineness = 1; fineness <= 2; ++fineness)
    for (int k = 0; k < 6; ++k) {
      Lift lift = lift_2d("monolithic", fineness, k / 3 ? 300 : 800, k % 3);
      check_light(&lift);
    }
  for (int k = 0; k < 4; ++k) {
    Lift lift = lift_2d("constraint", 1, k / 2 ? 300 : 800, k % 2);
    check_light(&lift);
  }
}

static void light_blocks_leave_the_floor_in_3d(void **unused) {
  (void)unused;
  const Lift lifts[] = {lift_3d("monolithic", 300, 0), lift_3d("monolithic", 800, 0),
                        lift_3d("monolithic", 800, 1), lift_3d("constraint", 800, 0)};
  for (size_t k = 0; k < sizeof lifts / sizeof *lifts; ++k) check_light(&lifts[k]);
}

// Water has settled before, or stands on a lattice that does not fit beside the block and moves at first.
static void heavy_blocks_stay(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    check_heavy(lift_2d("monolithic", 1, 1200, 0), 0.6 * k);
    check_heavy(lift_2d("monolithic", 2, 1200, 0), 0.6 * k);
    check_heavy(lift_3d("monolithic", 1200, 0), 0.6 * k);
    check_heavy(lift_2d("constraint", 1, 1200, 0), 0.6 * k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(light_blocks_leave_the_floor_in_2d),
      cmocka_unit_test(light_blocks_leave_the_floor_in_3d),
      cmocka_unit_test(heavy_blocks_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
