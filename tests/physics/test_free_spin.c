// A body with three different inertias spins about its middle axis in empty space, with a little spin about
// the axis of least inertia: it turns over again and again (Dzhanibekov). Euler's equations give the time
// between two flips as an elliptic integral.
#include "dry.h"

#define SPIN 10.0 // [rad/s]
#define EDGE 0.1  // of the shortest edge; the others are two and three times as long [m]

// ---- Theory ----

// The complete elliptic integral of the first kind of modulus k, by the arithmetic-geometric mean.
static double elliptic_integral(double k_squared) {
  double a = 1, b = sqrt(1 - k_squared);
  while (fabs(a - b) > 1e-15) {
    double mean = (a + b) / 2;
    b = sqrt(a * b), a = mean;
  }
  return TEST_PI / (2 * a);
}

// Time between two flips of a body with inertias i1 < i2 < i3 that spins with `share` * SPIN about the first
// axis and SPIN about the second. Here L^2 < 2 E i2 (Landau and Lifshitz, Mechanics, section 37).
static double flip_time(double i1, double i2, double i3, double share) {
  double w1 = share * SPIN, w2 = SPIN, energy2 = i1 * w1 * w1 + i2 * w2 * w2;
  double momentum2 = pow(i1 * w1, 2) + pow(i2 * w2, 2), above = energy2 * i3 - momentum2;
  double rate = sqrt((i2 - i1) * above / (i1 * i2 * i3));
  double k_squared = (i3 - i2) * (momentum2 - energy2 * i1) / ((i2 - i1) * above);
  return 2 * elliptic_integral(k_squared) / rate;
}

// ---- Measuring ----

// The longest edge lies along x, so that x, y, z are the axes of least, middle and largest inertia.
static FloBodyId add_spinner(FloWorld *world, double share) {
  FloShape shape = box_shape(3 * EDGE, 2 * EDGE, EDGE);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, shape, pose_at(0.1, 0.2, 0.3), 0);
  const double spin[3] = {share * SPIN, SPIN, 0};
  quat_from_axis_angle((const double[3]){1, 2, 0.5}, 0.8, def.pose.rotation);
  quat_rotate(def.pose.rotation, spin, def.angular_velocity);
  return add_body(world, def);
}

static double middle_spin(FloWorld *world, FloBodyId body) {
  const FloBodyState state = state_of(world, body);
  double spin[3];
  quat_rotate_back(state.pose.rotation, state.angular_velocity, spin);
  return spin[1];
}

typedef struct Flips {
  int count;
  double first, last;                    // [s]
  double energy_change, momentum_change; // largest, relative
} Flips;

static void note_changes(const FloMeasurements *start, const FloMeasurements *now, Flips *flips) {
  double momentum = vec_length(start->angular_momentum);
  flips->energy_change = larger(flips->energy_change, fabs(now->kinetic_energy / start->kinetic_energy - 1));
  flips->momentum_change =
      larger(flips->momentum_change, distance(now->angular_momentum, start->angular_momentum) / momentum);
}

// A flip is where the spin about the middle axis changes its sign.
static Flips watch_flips(FloWorld *world, FloBodyId body, double until) {
  const FloMeasurements start = flo_world_measure(world);
  FloError error;
  FloStepInfo info = {0};
  Flips flips = {0};
  for (double before = middle_spin(world, body), now; info.time < until; before = now) {
    must(flo_world_step(world, &info, &error), &error);
    const FloMeasurements measured = flo_world_measure(world);
    note_changes(&start, &measured, &flips);
    now = middle_spin(world, body);
    if (before * now > 0) continue;
    flips.last = info.time - info.dt * now / (now - before);
    if (!flips.count++) flips.first = flips.last;
  }
  return flips;
}

static void check_spinner(const Setting *s, double share) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloBodyId body = add_spinner(world, share);
  double expected = flip_time(1 + 4, 1 + 9, 4 + 9, share);
  Flips flips = watch_flips(world, body, 2.7 * expected);
  double time = flips.count > 1 ? (flips.last - flips.first) / (flips.count - 1) : INFINITY;
  flo_world_destroy(world);
  judge(fabs(time / expected - 1) < 0.02 && flips.energy_change < 1e-6 && flips.momentum_change < 1e-6,
        "%s, %g of the spin about the least axis: %d flips, one each %.4f s (theory %.4f: %+.2f %%); energy "
        "changes by %.1e, angular momentum by %.1e",
        setting_text(s), share, flips.count, time, expected, 100 * (time / expected - 1), flips.energy_change,
        flips.momentum_change);
}

static void spinning_bodies_turn_over(void **state) {
  static const double steps[] = {0, 1e-3, 4e-3}, shares[] = {0.01, 0.1};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 6; ++k) {
    const Setting setting = {contact_methods[k / 6], 3, EDGE / 5, steps[k / 2 % 3]};
    check_spinner(&setting, shares[k % 2]);
  }
  end_cases();
}

static void theory_gives_the_known_times(void **state) {
  (void)state;
  assert_true(fabs(flip_time(1 + 4, 1 + 9, 4 + 9, 0.01) - 2.434493) < 1e-5);
  assert_true(fabs(flip_time(1, 2, 3, 0.1) - 1.275549) < 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(theory_gives_the_known_times),
      CASES(spinning_bodies_turn_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
