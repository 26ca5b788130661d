// Measurements of the bench that runs of seconds cannot show: ratios to what is published.
#include "bench/lines.h"
#include "support/check.h"

static const FloCouplingCase dam = {"peer-dam", "monolithic", true, 0, 1, "peer", 172, 0};
static const FloCouplingCase alone = {"peer-pillar", "monolithic", true, 0, 0.4, NULL, 0, 0};

static FloCouplingResult whole_run(const FloCouplingCase *about, double seconds) {
  return (FloCouplingResult){.about = about,
                             .particles = 100000,
                             .threads = 2,
                             .simulated = about->simulated,
                             .seconds = seconds,
                             .steps = 500,
                             .response_seconds = NAN};
}

static double number_at(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_non_null(value);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void only_the_same_work_is_faster(void **unused) {
  (void)unused;
  FloCouplingResult run = whole_run(&dam, 43), other = run;
  assert_close(flo_measured_times_faster(&run), 4, 1e-12);
  other.threads = 4;
  assert_true(isnan(flo_measured_times_faster(&other)));
  other = run, other.simulated = 0.002;
  assert_true(isnan(flo_measured_times_faster(&other)));
  other = whole_run(&alone, 43);
  assert_true(isnan(flo_measured_times_faster(&other)));
}

// A processor twice as fast as the one of the peer explains half of the ratio.
static void a_fast_processor_is_taken_out(void **unused) {
  (void)unused;
  FloRates rates = {0};
  FloCouplingResult run = whole_run(&dam, 17.2);
  assert_true(isnan(flo_measured_times_faster_at_equal_fma(&run, &rates)));
  flo_rates_add(&rates, &(FloRate){FLO_BENCH_FMA, 2, 0, 500e9, 400e9});
  assert_true(isnan(flo_measured_times_faster_at_equal_fma(&run, &rates)));
  flo_rates_add(&rates, &(FloRate){FLO_BENCH_FMA, 1, 0, 204e9, 190e9});
  assert_close(flo_measured_times_faster_at_equal_fma(&run, &rates), 5, 1e-12);
  json_t *line = flo_line_coupling(&run, &rates);
  const json_t *peer = json_object_get(line, "reference");
  assert_close(number_at(peer, "times_faster"), 10, 1e-12);
  assert_close(number_at(peer, "times_faster_at_equal_fma"), 5, 1e-12);
  json_decref(line);
}

static void only_direct_forcing_has_a_response(void **unused) {
  (void)unused;
  FloRates rates = {0};
  FloCouplingResult run = whole_run(&dam, 20);
  json_t *line = flo_line_coupling(&run, &rates);
  assert_true(json_is_null(json_object_get(line, "response_share")));
  json_decref(line);
  run.response_seconds = 0.1;
  assert_close(flo_measured_response_share(&run), 0.005, 1e-12);
}

// What the paper took, 3.73 s on 24 cores, is eight times as much.
static void the_tower_is_held_against_the_paper(void **unused) {
  (void)unused;
  FloTowerResult run = {.size = "paper", .is_whole = true, .threads = 2, .iterations = 10, .particles = 1};
  run.step = (FloTimes){.best = 1, .median = 3.73 * 24 / 8 / 2};
  assert_close(flo_measured_times_better(&run), 8, 1e-12);
  json_t *line = flo_line_tower(&run);
  assert_close(number_at(line, "core_seconds_per_step"), 3.73 * 24 / 8, 1e-12);
  assert_close(number_at(line, "times_better"), 8, 1e-12);
  json_decref(line);
  run.is_whole = false;
  assert_true(isnan(flo_measured_times_better(&run)));
}

// The median counts, of a million particles.
static void surfaces_are_timed_by_the_million(void **unused) {
  (void)unused;
  FloSurfacingResult run = {.particles = 500000, .threads = 2, .times = {.best = 1, .median = 2}};
  assert_close(flo_measured_surface_seconds(&run), 4, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_the_same_work_is_faster),
      cmocka_unit_test(a_fast_processor_is_taken_out),
      cmocka_unit_test(only_direct_forcing_has_a_response),
      cmocka_unit_test(the_tower_is_held_against_the_paper),
      cmocka_unit_test(surfaces_are_timed_by_the_million),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
