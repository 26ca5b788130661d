// Targets of the bench: the worst line counts, less may be better, and what was not measured is not met.
#include "bench/targets.h"
#include "support/check.h"

static void the_worst_counts(void **unused) {
  (void)unused;
  FloTargets targets = flo_targets_start();
  const FloTarget *step = &targets.items[FLO_TARGET_STEP], *memory = &targets.items[FLO_TARGET_MEMORY];
  flo_targets_note(&targets, FLO_TARGET_STEP, 5e6, 1000, 1);
  assert_string_equal(flo_target_met(step), "aim");
  flo_targets_note(&targets, FLO_TARGET_STEP, 3e6, 2000, 2);
  flo_targets_note(&targets, FLO_TARGET_STEP, 9e6, 3000, 4);
  assert_close(step->measured, 3e6, 0);
  assert_int_equal(step->particles, 2000);
  assert_int_equal(step->threads, 2);
  assert_string_equal(flo_target_met(step), "yes");
  flo_targets_note(&targets, FLO_TARGET_MEMORY, 700, 1000, 1);
  assert_string_equal(flo_target_met(memory), "aim");
  flo_targets_note(&targets, FLO_TARGET_MEMORY, 1300, 1000, 1);
  assert_string_equal(flo_target_met(memory), "no");
}

static void what_a_run_does_not_tell_is_not_met(void **unused) {
  (void)unused;
  FloTargets targets = flo_targets_start();
  const FloTarget *share = &targets.items[FLO_TARGET_PROBE_SHARE];
  assert_false(share->is_asked);
  flo_targets_note(&targets, FLO_TARGET_PROBE_SHARE, NAN, 1000, 1);
  assert_true(share->is_asked);
  assert_null(flo_target_met(share));
  flo_targets_note(&targets, FLO_TARGET_PROBE_SHARE, 0.7, 1000, 1);
  flo_targets_note(&targets, FLO_TARGET_PROBE_SHARE, NAN, 1000, 1);
  assert_string_equal(flo_target_met(share), "yes");
}

// Each is named, and its aim lies beyond what is asked.
static void targets_make_sense(void **unused) {
  (void)unused;
  FloTargets targets = flo_targets_start();
  for (size_t k = 0; k < FLO_TARGET_COUNT; ++k) {
    const FloGoal *goal = &targets.items[k].goal;
    assert_non_null(goal->name);
    assert_non_null(goal->unit);
    assert_true(goal->at_least > 0);
    assert_true(isnan(goal->aim) || goal->is_less_better == (goal->aim < goal->at_least));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worst_counts),
      cmocka_unit_test(what_a_run_does_not_tell_is_not_met),
      cmocka_unit_test(targets_make_sense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
