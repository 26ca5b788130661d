// Summaries: what is judged, and what is only shown.
#include "io/summary.h"
#include "support/check.h"

#include <math.h>

static void test_ranges(void **state) {
  (void)state;
  static const FloExpect between = {.low = 1, .high = 2}, most = {.low = -INFINITY, .high = 2},
                         least = {.low = 1, .high = INFINITY};
  static const FloExpect *const all[] = {&between, &most, &least};
  for (size_t k = 0; k < FLO_COUNT_OF(all); k++) {
    assert_true(flo_expect_is_judged(all[k]));
    assert_false(flo_expect_is_missed(all[k], 1.5));
    assert_true(flo_expect_is_missed(all[k], NAN));
  }
  assert_true(flo_expect_is_missed(&between, 0.5) && flo_expect_is_missed(&between, 2.5));
  assert_true(!flo_expect_is_missed(&most, 0.5) && flo_expect_is_missed(&most, 2.5));
  assert_true(flo_expect_is_missed(&least, 0.5) && !flo_expect_is_missed(&least, 2.5));
}

// Whatever comes out, also nothing.
static void test_a_measurement_beside_the_papers_is_never_missed(void **state) {
  (void)state;
  static const FloExpect shown = {.low = -INFINITY, .high = INFINITY, .paper = "0.577"};
  static const double values[] = {0, -1e300, INFINITY, -INFINITY, NAN};
  assert_false(flo_expect_is_judged(&shown));
  for (size_t k = 0; k < FLO_COUNT_OF(values); k++) assert_false(flo_expect_is_missed(&shown, values[k]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_a_measurement_beside_the_papers_is_never_missed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
