// The paddle steamer, 35 jointed bodies with a motor. It drives itself across calm water and stays afloat in
// a breaking dam. Water, boat and tank exchange momentum without loss.
#include "plays.h"

// What is watched on a voyage.
typedef struct Voyage {
  double mass;         // of water and boat together, from the first step [kg]
  double unbalanced;   // sum of the changes of momentum that no force explains [N s]
  double pushed;       // sum of the sizes of all impulses on water and boat [N s]
  double farthest;     // place of the hull along x [m]
  double pitch;        // largest angle of the hull after half of the time, to either side [rad]
  double gap;          // widest gap in a joint [m]
  size_t n_penetrated; // most particles that were inside solids
} Voyage;

static double pitch_of(const FloBodyState *hull) {
  return 2 * atan2(hull->pose.rotation[2], hull->pose.rotation[3]);
}

// Besides gravity only the tank pushes water and boat. Gravity acts with the same mass in each step.
static void step_and_balance(const Play *play, Voyage *voyage) {
  FloError error;
  FloStepInfo info;
  const FloMeasurements before = flo_world_measure(play->world);
  must(flo_world_step(play->world, &info, &error), &error);
  const FloMeasurements after = flo_world_measure(play->world);
  const FloBodyState tank = body_named(play, "tank");
  const double sideways = after.momentum[0] - before.momentum[0] + tank.force[0] * info.dt,
               down = -(after.momentum[1] - before.momentum[1] + tank.force[1] * info.dt);
  if (info.step == 1) voyage->mass = down / (GRAVITY * info.dt);
  voyage->unbalanced += fabs(sideways) + fabs(down - voyage->mass * GRAVITY * info.dt);
  voyage->pushed += (fabs(tank.force[0]) + fabs(tank.force[1])) * info.dt;
  voyage->n_penetrated =
      after.penetrations > voyage->n_penetrated ? after.penetrations : voyage->n_penetrated;
}

static Voyage sail(const Play *play, double duration) {
  Voyage voyage = {0};
  while (flo_world_time(play->world) < duration) {
    step_and_balance(play, &voyage);
    const FloBodyState hull = body_named(play, "hull");
    voyage.farthest = fmax(voyage.farthest, hull.pose.position[0]);
    voyage.gap = fmax(voyage.gap, widest_gap(play));
    if (flo_world_time(play->world) > duration / 2) voyage.pitch = fmax(voyage.pitch, fabs(pitch_of(&hull)));
  }
  return voyage;
}

static size_t count_escaped(const Play *play, double length) {
  const double *x = doubles(play->world, "x"), *y = doubles(play->world, "y");
  size_t n = 0;
  for (size_t k = 0; k < flo_world_count(play->world, FLO_SET_FLUID); ++k)
    n += !(x[k] > 0 && x[k] < length && y[k] > 0);
  return n;
}

static size_t count_bodies(const Play *play) {
  size_t n = 0;
  for (size_t k = 0; k < play->scene->n_bodies; ++k) n += play->scene->bodies[k].def.kind == FLO_BODY_DYNAMIC;
  return n;
}

typedef struct Tour {
  const char *scene, *method, *spacing;
  double length;   // of the tank [m]
  double duration; // [s]
  double goal;     // where the middle of the hull must have been [m]
  double pitch;    // largest angle in the second half [rad]
} Tour;

static void check_tour(const Tour *tour) {
  char spacing[64], length[64];
  snprintf(spacing, sizeof spacing, "constants.s=%s", tour->spacing);
  snprintf(length, sizeof length, "constants.length=%g", tour->length);
  Play play = open_play(tour->scene, tour->method, (const char *const[]){spacing, length, NULL});
  const Voyage v = sail(&play, tour->duration);
  const size_t n_escaped = count_escaped(&play, tour->length);
  const double balance = v.unbalanced / v.pushed, work = joint_named(&play, "axle").motor_work;
  judge(
      count_bodies(&play) == 35 && v.farthest > tour->goal && v.pitch < tour->pitch && balance < 1e-6 &&
          v.gap < 1e-6 && !v.n_penetrated && !n_escaped && work > 0,
      "%s by %s, spacing %s m: %zu bodies, hull came to %.2f m (at least %.2f), pitch up to %.2f rad, motor "
      "%.0f J; momentum that nothing explains %.1e of all; joints open by %.1e m; %zu inside solids, %zu "
      "escaped",
      tour->scene, tour->method, tour->spacing, count_bodies(&play), v.farthest, tour->goal, v.pitch, work,
      balance, v.gap, v.n_penetrated, n_escaped);
  close_play(&play);
}

// The bow, 1.02 m before the middle, comes as near to the far end as the stern was to the near one: half a
// metre.
static void it_crosses_its_tank(void **state) {
  (void)state;
  check_tour(&(Tour){"paddle-steamer-cruise", "constraint", "0.045", 4.6, 4.5, 3.0, 0.15});
  check_tour(&(Tour){"paddle-steamer-cruise", "monolithic", "0.045", 4.6, 4.5, 3.0, 0.15});
  if (is_full()) {
    check_tour(&(Tour){"paddle-steamer-cruise", "constraint", "0.03", 6.6, 8, 5.0, 0.15});
    check_tour(&(Tour){"paddle-steamer-cruise", "monolithic", "0.03", 6.6, 8, 5.0, 0.15});
  }
  end_cases();
}

// The motor holds the wheel.
static void it_stays_without_power(void **state) {
  (void)state;
  const char *const sets[] = {"constants.s=0.045", "constants.length=4.6", "constants.speed=0", NULL};
  Play play = open_play("paddle-steamer-cruise", "constraint", sets);
  const double start = body_named(&play, "hull").pose.position[0];
  advance(play.world, 4.5);
  const double way = body_named(&play, "hull").pose.position[0] - start;
  judge(fabs(way) < 0.1, "the wheel stands still: the hull moves by %.3f m in 4.5 s", way);
  close_play(&play);
  end_cases();
}

static void it_survives_a_breaking_dam(void **state) {
  (void)state;
  check_tour(&(Tour){"paddle-steamer", "constraint", "0.045", 7, 4, 4, 0.6});
  check_tour(&(Tour){"paddle-steamer", "monolithic", "0.045", 7, 4, 4, 0.6});
  if (is_full()) check_tour(&(Tour){"paddle-steamer", "monolithic", "0.03", 7, 8, 4, 0.6});
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(it_crosses_its_tank),
      CASES(it_stays_without_power),
      CASES(it_survives_a_breaking_dam),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
