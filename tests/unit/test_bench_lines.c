// Lines of the bench that runs of seconds cannot show.
#include "bench/lines.h"
#include "support/check.h"

static const FloCouplingCase dam = {"peer-dam", "monolithic", true, 0, 0.5, "peer", {82.5, 90}, 0};
static const FloCouplingCase alone = {"peer-pillar", "monolithic", true, 0, 0.4, NULL, {0}, 0};

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

// Times of another program, from another run, are told and not compared with anything.
static void no_ratio_of_two_runs(void **unused) {
  (void)unused;
  FloCouplingResult run = whole_run(&dam, 43);
  json_t *line = flo_line_coupling(&run), *peer = json_object_get(line, "reference");
  assert_int_equal(json_object_size(peer), 3);
  const json_t *range = json_object_get(peer, "seconds_per_simulated_second");
  assert_close(json_number_value(json_array_get(range, 0)), 165, 1e-12);
  assert_close(json_number_value(json_array_get(range, 1)), 180, 1e-12);
  json_decref(line);
  run = whole_run(&alone, 43);
  line = flo_line_coupling(&run);
  assert_true(json_is_null(json_object_get(line, "reference")));
  json_decref(line);
}

static void only_direct_forcing_has_a_response(void **unused) {
  (void)unused;
  FloCouplingResult run = whole_run(&dam, 20);
  json_t *line = flo_line_coupling(&run);
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
      cmocka_unit_test(no_ratio_of_two_runs),
      cmocka_unit_test(only_direct_forcing_has_a_response),
      cmocka_unit_test(the_tower_is_held_against_the_paper),
      cmocka_unit_test(surfaces_are_timed_by_the_million),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
