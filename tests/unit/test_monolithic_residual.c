// What is not a number must not hide in the residual of `monolithic`.
#include "state/state.h"
#include "support/worlds.h"

static void test_nan_is_told(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    FloError error;
    def.method = "monolithic";
    FloWorld *world = create_dam(&def);
    step_world(world, 2);
    assert_true(world->residual >= 0);
    world->sets[FLO_SET_FLUID].vx[5] = NAN;
    assert_int_equal(flo_world_step(world, NULL, &error), FLO_DIVERGED);
    assert_true(isnan(world->residual));
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nan_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
