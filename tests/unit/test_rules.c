// Four rules of sampling on two triangles that are deformed: what the paper's figures 3 and 4 say.
#include "bench/rules.h"
#include "support/check.h"

enum { STATIC, SEVEN, BY_DENSITY, BY_GEOMETRY };

static void measure_all(FloRuleResult results[FLO_RULE_COUNT]) {
  FloError error;
  for (size_t k = 0; k < FLO_RULE_COUNT; k++) assert_ok(flo_rule_measure(k, &results[k], &error), &error);
}

static void free_all(FloRuleResult results[FLO_RULE_COUNT]) {
  for (size_t k = 0; k < FLO_RULE_COUNT; k++) flo_rule_free(&results[k]);
}

static void test_rules_that_follow(void **state) {
  (void)state;
  FloRuleResult results[FLO_RULE_COUNT];
  measure_all(results);
  for (int k = BY_DENSITY; k <= BY_GEOMETRY; k++) {
    for (int s = 0; s < 2; s++) {
      assert_true(results[k].states[s].least > FLO_RULE_LEAST && results[k].states[s].most < FLO_RULE_MOST);
      assert_true(results[k].states[s].deviation < 0.1 * results[k].states[s].mean);
    }
    assert_true(fabs(results[k].states[1].mean / results[k].states[0].mean - 1) < 0.1);
  }
  free_all(results);
}

static void test_rules_for_comparison(void **state) {
  (void)state;
  FloRuleResult results[FLO_RULE_COUNT];
  measure_all(results);
  assert_int_equal(results[STATIC].states[0].n_samples, results[STATIC].states[1].n_samples);
  assert_true(results[STATIC].states[1].most < FLO_RULE_LEAST);
  assert_int_equal(results[SEVEN].states[0].n_samples, 2 * 4 * 7);
  assert_int_equal(results[SEVEN].states[1].n_samples, 2 * 16 * 7);
  assert_true(results[SEVEN].states[0].least < FLO_RULE_LEAST &&
              results[SEVEN].states[0].most > FLO_RULE_MOST);
  for (int s = 0; s < 2; s++)
    assert_true(results[SEVEN].states[s].deviation > 4 * results[BY_GEOMETRY].states[s].deviation);
  free_all(results);
}

// Against a lattice of samples: its density is that of the kernel's sum over a square lattice in a plane.
static void test_density_of_a_lattice(void **state) {
  (void)state;
  enum { SIDE = 21 };
  double samples[SIDE * SIDE][2];
  for (int k = 0; k < SIDE * SIDE; k++) samples[k][0] = 0.5 * (k % SIDE), samples[k][1] = 0.5 * (k / SIDE);
  const FloRuleState lattice = {.samples = samples, .n_samples = SIDE * SIDE};
  // 8/pi (1 + 4 W(1/2) + 4 W(sqrt 1/2)) with W(1/2) = 1/4 and W(q) = 2 (1 - q)³
  assert_float_equal(flo_rule_density(&lattice, 5, 5), 5.6050, 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules_that_follow),
                                     cmocka_unit_test(test_rules_for_comparison),
                                     cmocka_unit_test(test_density_of_a_lattice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
