// Ropes that wind on drums: a gear ties the length of a rope to the angle of a hinge. A load that unwinds its
// drum falls with m g / (m + I / r^2), a balanced windlass rests, and a motor that winds has the power m g v.
#include "joints.h"

static const char *const winding_methods[] = {"constraint", "monolithic", "direct-forcing"};
enum { N_WINDING = sizeof winding_methods / sizeof *winding_methods };

#define INERTIA 0.4 // of the drum about its axle [kg m2]
#define HANG    1.5 // from the axle down to the first load [m]; the second hangs twice as low

typedef struct Winch {
  FloWorld *world;
  FloJointId axle, rope[2], winding[2];
} Winch;

// A place in the plane in which loads hang.
static const double *place(const Setting *s, double x, double height, double out[3]) {
  vec_set(out, x, s->dim == 2 ? height : 0, s->dim == 2 ? 0 : height);
  return out;
}

// Positive angles let the rope on the right side down.
static void add_axle(Winch *w, const Setting *s, FloMotorDef motor) {
  FloBodyId drum = add_body(w->world, mass_def(3, V3(INERTIA, INERTIA, INERTIA), V3(0, 0, 0)));
  FloJointDef axle = joint_def(FLO_JOINT_HINGE, drum, V3(0, 0, 0), s->dim == 2 ? V3(0, 0, -1) : V3(0, 1, 0));
  axle.motor = motor;
  w->axle = add_joint(w->world, axle);
}

// Hangs a load on the drum, to the right of the axle if the radius is positive and else to the left.
static void hang(Winch *w, const Setting *s, int k, double radius, double mass) {
  double at[3], top[3];
  FloBodyId load =
      add_body(w->world, mass_def(mass, V3(0.1, 0.1, 0.1), place(s, radius, -HANG * (1 + k), at)));
  FloJointDef rope = joint_def(FLO_JOINT_ROPE, load, at, NULL);
  vec_copy(place(s, radius, 0, top), rope.to_at);
  rope.has_to_at = true, rope.length = 100;
  w->rope[k] = add_joint(w->world, rope);
  FloJointDef gear = joint_def(FLO_JOINT_GEAR, (FloBodyId){0}, V3(0, 0, 0), NULL);
  gear.joints[0] = w->rope[k], gear.joints[1] = w->axle, gear.ratio = -radius;
  w->winding[k] = add_joint(w->world, gear);
}

static Winch make_winch(const Setting *s, FloMotorDef motor) {
  Winch w = {.world = heavy_world(s)};
  add_axle(&w, s, motor);
  return w;
}

// ---- A load that falls ----

static void check_fall(const Setting *s, double radius, double mass) {
  const double time = 0.4, rate = mass * GRAVITY / (mass + INERTIA / (radius * radius));
  Winch w = make_winch(s, (FloMotorDef){0});
  hang(&w, s, 0, radius, mass);
  advance(w.world, time);
  const double fall = joint_of(w.world, w.rope[0]).coordinate - HANG, exact = rate * time * time / 2,
               angle = joint_of(w.world, w.axle).coordinate,
               pull = -joint_of(w.world, w.winding[0]).motor_load, weight = mass * (GRAVITY - rate);
  judge(fabs(fall / exact - 1) < 1e-6 && fabs(angle * radius - fall) < 1e-6 && fabs(pull / weight - 1) < 1e-6,
        "%s, load of %g kg on a drum of %g m: falls by %.5f m (%.5f), drum %.1e m off, pull %.4f N (%.4f)",
        setting_text(s), mass, radius, fall, exact, angle * radius - fall, pull, weight);
  flo_world_destroy(w.world);
}

// ---- A windlass in balance ----

static void check_balance(const Setting *s, double radius, double mass) {
  Winch w = make_winch(s, (FloMotorDef){0});
  hang(&w, s, 0, radius, mass);
  hang(&w, s, 1, -radius / 3, 3 * mass);
  advance(w.world, 0.5);
  const double moved = joint_of(w.world, w.axle).coordinate;
  judge(fabs(moved) < 1e-6, "%s, %g kg at %g m and %g kg at %g m on one drum: turns by %.1e", setting_text(s),
        mass, radius, 3 * mass, radius / 3, moved);
  flo_world_destroy(w.world);
}

// ---- A motor that winds ----

static void check_lift(const Setting *s, double radius, double mass) {
  const double speed = 2, time = 0.4;
  Winch w = make_winch(s, (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = -speed, .max_load = 1e4});
  hang(&w, s, 0, radius, mass);
  one_step(w.world);
  const double start = joint_of(w.world, w.rope[0]).coordinate, began = flo_world_time(w.world);
  advance(w.world, time);
  const FloJointState axle = joint_of(w.world, w.axle);
  const double rise = start - joint_of(w.world, w.rope[0]).coordinate,
               power = mass * GRAVITY * radius * speed,
               exact = radius * speed * (flo_world_time(w.world) - began);
  judge(fabs(rise / exact - 1) < 1e-6 && fabs(axle.motor_power / power - 1) < 1e-6,
        "%s, a motor winds %g kg on a drum of %g m: rises by %.5f m (%.5f) with %.4f W (%.4f)",
        setting_text(s), mass, radius, rise, exact, axle.motor_power, power);
  flo_world_destroy(w.world);
}

// ---- All of them ----

static void for_all(void (*check)(const Setting *, double radius, double mass)) {
  static const double radii[] = {0.05, 0.2}, masses[] = {1, 20}, steps[] = {1e-3, 4e-3};
  for (int m = 0; m < N_WINDING; ++m)
    for (int dim = 2; dim <= 3; ++dim)
      for (int k = 0; k < 4; ++k)
        check(&(Setting){winding_methods[m], dim, 0.1, steps[k % 2]}, radii[k / 2], masses[(k + k / 2) % 2]);
  end_cases();
}

static void loads_unwind_their_drums(void **state) {
  (void)state;
  for_all(check_fall);
}

static void balanced_windlasses_rest(void **state) {
  (void)state;
  for_all(check_balance);
}

static void motors_wind_with_the_power_of_the_load(void **state) {
  (void)state;
  for_all(check_lift);
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(loads_unwind_their_drums), CASES(balanced_windlasses_rest),
                                     CASES(motors_wind_with_the_power_of_the_load)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
