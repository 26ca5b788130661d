// The piston pump: each stroke lifts the volume that the piston displaces, and nothing passes closed valves.
#include "plays.h"

#define DISPLACED (0.45 * 0.3) // bore times stroke of the scene [m²]
#define INLET     0.03         // height of the hinge above the seat [m]
#define OUTLET    0.06         // the same
#define SHUT      1e-3         // a valve that is open by less is closed [rad]

// A valve, and where each particle was at the last step: before or behind it.
typedef struct Valve {
  const char *name;
  double height; // of its hinge above the seat [m]
  bool was_shut;
  size_t n_steps, n_shut; // how often it was looked at, and was closed
  size_t n_passed;        // particles that came through while it was closed
  size_t n_behind;        // particles behind it now
  bool is_behind[20000];
} Valve;

static void watch(const Play *play, Valve *valve) {
  const FloJointState hinge = joint_named(play, valve->name);
  const double *x = doubles(play->world, "x"), *y = doubles(play->world, "y");
  const uint32_t *id = field(play->world, "id");
  const bool is_shut = hinge.coordinate < SHUT;
  valve->n_behind = 0;
  for (size_t k = 0; k < flo_world_count(play->world, FLO_SET_FLUID); ++k) {
    assert_true(id[k] < sizeof valve->is_behind);
    const bool is_behind = x[k] > hinge.point[0] - 0.01 && y[k] > hinge.point[1] - valve->height;
    valve->n_passed += is_shut && valve->was_shut && is_behind != valve->is_behind[id[k]];
    valve->is_behind[id[k]] = is_behind, valve->n_behind += is_behind;
  }
  valve->was_shut = is_shut;
  ++valve->n_steps, valve->n_shut += is_shut;
}

static double share_shut(const Valve *valve) { return (double)valve->n_shut / (double)valve->n_steps; }

// Fluid in the bore above the middle of the piston.
static size_t count_past_piston(const Play *play) {
  const FloBodyState piston = body_named(play, "piston");
  const double *x = doubles(play->world, "x"), *y = doubles(play->world, "y");
  size_t n = 0;
  for (size_t k = 0; k < flo_world_count(play->world, FLO_SET_FLUID); ++k)
    n += fabs(x[k] - piston.pose.position[0]) < 0.225 && y[k] > piston.pose.position[1];
  return n;
}

typedef struct Work {
  double least, mean; // volume that a stroke lifts, in units of what the piston displaces
  double gap;         // widest gap in a joint [m]
  size_t n_past_piston;
} Work;

static void pump_until(const Play *play, double time, Valve valves[2], Work *work) {
  while (flo_world_time(play->world) < time) {
    one_step(play->world);
    for (int k = 0; k < 2; ++k) watch(play, &valves[k]);
    work->gap = fmax(work->gap, widest_gap(play));
  }
  work->n_past_piston += count_past_piston(play);
}

// The piston starts at the bottom. A stroke is counted from top to top, where the outlet is closed.
static Work pump(const Play *play, double spacing, double period, int n_strokes, Valve valves[2]) {
  Work work = {.least = INFINITY};
  pump_until(play, period / 2, valves, &work);
  for (int k = 1; k <= n_strokes; ++k) {
    const size_t n_before = valves[1].n_behind;
    pump_until(play, (k + 0.5) * period, valves, &work);
    const double share = ((double)valves[1].n_behind - (double)n_before) * spacing * spacing / DISPLACED;
    work.least = fmin(work.least, share), work.mean += share / n_strokes;
  }
  return work;
}

typedef struct Trial {
  const char *method;
  double spacing, period;
  int n_strokes;
  double lower, upper; // widths of the basins [m]
} Trial;

static void check_pump(const Trial *t) {
  static Valve valves[2];
  char sets[4][64];
  snprintf(sets[0], sizeof *sets, "constants.s=%g", t->spacing);
  snprintf(sets[1], sizeof *sets, "constants.period=%g", t->period);
  snprintf(sets[2], sizeof *sets, "constants.lower=%g", t->lower);
  snprintf(sets[3], sizeof *sets, "constants.upper=%g", t->upper);
  Play play =
      open_play("piston-pump", t->method, (const char *const[]){sets[0], sets[1], sets[2], sets[3], NULL});
  memset(valves, 0, sizeof valves);
  valves[0].name = "inlet", valves[0].height = INLET;
  valves[1].name = "outlet", valves[1].height = OUTLET;
  const Work w = pump(&play, t->spacing, t->period, t->n_strokes, valves);
  const size_t n_passed = valves[0].n_passed + valves[1].n_passed;
  const double shut = fmin(share_shut(&valves[0]), share_shut(&valves[1]));
  judge(
      fabs(w.mean - 1) < 0.1 && w.least > 0.9 && shut > 0.25 && !n_passed && !w.n_past_piston && w.gap < 1e-6,
      "%s, spacing %g m, %g s a stroke: %d strokes lift %.3f of the displaced volume each, %.3f at least; "
      "each valve is "
      "closed in %.0f %% of the steps at least, %zu particles pass it then; %zu pass the piston; joints open "
      "by %.1e m",
      t->method, t->spacing, t->period, t->n_strokes, w.mean, w.least, 100 * shut, n_passed, w.n_past_piston,
      w.gap);
  close_play(&play);
}

static void strokes_lift_what_the_piston_displaces(void **state) {
  (void)state;
  check_pump(&(Trial){"constraint", 0.04, 3, 2, 1.2, 0.9});
  check_pump(&(Trial){"monolithic", 0.04, 3, 2, 1.2, 0.9});
  check_pump(&(Trial){"monolithic", 0.04, 4, 1, 1.2, 0.9});
  check_pump(&(Trial){"constraint", 0.03, 4, 1, 1.2, 0.9});
  if (is_full())
    for (int m = 0; m < 2; ++m) check_pump(&(Trial){m ? "monolithic" : "constraint", 0.03, 3, 10, 3, 1.65});
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(strokes_lift_what_the_piston_displaces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
