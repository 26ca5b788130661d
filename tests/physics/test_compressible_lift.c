// Blocks on the floor of a tank of water, with `direct-forcing`: a light block leaves the floor, also if no
// particle fits under it, and a heavy one stays, and so does a light one that is sealed. With FLOTSAM_FULL=1
// more gaps and resolutions are tried.
#include "lifts.h"

#define METHOD "direct-forcing"

// Velocities are half a step behind positions and so are the momenta that a world reports. The momentum that
// half a step changes is not more than a weight times this time [s].
#define HALF_STEP 1e-4

static void check_impulses(const Outcome *outcome) {
  assert_true(outcome->tank_error < HALF_STEP);
  assert_true(outcome->block_error < HALF_STEP);
}

static void check_light(Lift lift) {
  const Outcome outcome = watch(&lift);
  check_impulses(&outcome);
  assert_true(outcome.rise > 2 && outcome.left_at > 0);
}

static void check_still(Lift lift) {
  const Outcome outcome = watch(&lift);
  check_impulses(&outcome);
  assert_true(outcome.moved < 0.1);
}

static void light_blocks_leave_the_floor_in_2d(void **unused) {
  (void)unused;
  check_light(lift_2d(METHOD, 1, 800, 0));
  check_light(lift_2d(METHOD, 1, 800, 1));
  check_light(lift_2d(METHOD, 2, 300, 0));
  if (!is_full()) return;
  for (int gap = 0; gap <= 4; ++gap) check_light(lift_2d(METHOD, 1, 300, gap));
  for (int gap = 0; gap <= 1; ++gap) check_light(lift_2d(METHOD, 2, 800, gap));
  check_light(lift_2d(METHOD, 1, 800, 2));
}

static void light_blocks_leave_the_floor_in_3d(void **unused) {
  (void)unused;
  check_light(lift_3d(METHOD, 800, 0));
  if (!is_full()) return;
  for (int gap = 0; gap <= 2; ++gap) check_light(lift_3d(METHOD, 300, gap));
  for (int gap = 1; gap <= 2; ++gap) check_light(lift_3d(METHOD, 800, gap));
}

// Water has settled before, or stands on a lattice that does not fit beside the block and moves at first.
static void heavy_blocks_stay(void **unused) {
  (void)unused;
  check_still(lift_2d(METHOD, 1, 1200, 0));
  for (int k = 0; is_full() && k < 2; ++k) {
    Lift lifts[] = {lift_2d(METHOD, 2, 1200, 0), lift_3d(METHOD, 1200, 0)};
    for (int n = 0; n < 2; ++n) lifts[n].settle = 0.6 * k, check_still(lifts[n]);
  }
}

static void sealed_blocks_stay(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    Lift lift = lift_2d(METHOD, 1, k ? 300 : 800, 0);
    lift.is_sealed = true;
    check_still(lift);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(light_blocks_leave_the_floor_in_2d),
      cmocka_unit_test(light_blocks_leave_the_floor_in_3d),
      cmocka_unit_test(heavy_blocks_stay),
      cmocka_unit_test(sealed_blocks_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
