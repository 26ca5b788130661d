// Rigid bodies against what mechanics says in closed form: falls, spins, tops, impulses, locks.
#include "base/vecmath.h"
#include "bodies/rigid.h"
#include "support/check.h"
#include "support/random.h"

// ---- Bodies to test with ----

// A box of mass m about its centre, which stands off the shape's origin.
static FloMassProperties box_mass(double m, double x, double y, double z) {
  return (FloMassProperties){
      .mass = m,
      .volume = x * y * z,
      .centre = {0.1, -0.2, 0.3},
      .inertia = {m * (y * y + z * z) / 12, m * (z * z + x * x) / 12, m * (x * x + y * y) / 12}};
}

static FloPose tilted_pose(void) {
  FloPose pose = {.position = {1, 2, 3}};
  quat_from_axis_angle((const double[3]){1, -2, 0.5}, 0.8, pose.rotation);
  return pose;
}

typedef struct Body {
  FloRigid rigid;
  FloPose pose;
} Body;

static Body make_body(const FloMassProperties *mass, const FloPose *pose, int dim) {
  FloError error;
  Body body = {.pose = *pose};
  assert_ok(flo_rigid_init(&body.rigid, mass, pose, dim, &error), &error);
  flo_rigid_refresh(&body.rigid, pose->rotation);
  return body;
}

static Body make_box(void) {
  FloMassProperties mass = box_mass(2, 0.3, 0.5, 0.9);
  FloPose pose = tilted_pose();
  return make_body(&mass, &pose, 3);
}

static void spin(Body *body, double x, double y, double z) {
  flo_rigid_spin(&body->rigid, body->pose.rotation, (const double[3]){x, y, z});
  flo_rigid_refresh(&body->rigid, body->pose.rotation);
}

static void move(Body *body, double dt, int n_steps) {
  for (int k = 0; k < n_steps; ++k) {
    flo_rigid_move(&body->rigid, body->pose.rotation, dt);
    flo_rigid_refresh(&body->rigid, body->pose.rotation);
  }
}

static FloBodyState state_of(const Body *body) {
  FloBodyState state = {0};
  flo_rigid_state(&body->rigid, body->pose.rotation, &state);
  return state;
}

// The world's inertia times a vector, from the definition: turn back, multiply, turn again.
static void inertia_times(const Body *body, const double v[3], double out[3]) {
  double local[3], image[3];
  quat_rotate_back(body->pose.rotation, v, local);
  mat_apply(body->rigid.inertia, local, image);
  quat_rotate(body->pose.rotation, image, out);
}

static double spin_energy(const Body *body) {
  return vec_dot(body->rigid.angular_momentum, body->rigid.node.angular_velocity) / 2;
}

static void push(Body *body, double x, double y, double z, double turn_x, double turn_y, double turn_z) {
  flo_rigid_push(&body->rigid, (const double[3]){x, y, z}, (const double[3]){turn_x, turn_y, turn_z});
}

// ---- At rest ----

static void test_a_new_body_rests_where_it_is_put(void **unused) {
  (void)unused;
  Body body = make_box();
  FloBodyState state = state_of(&body);
  double arm[3], centre[3];
  quat_rotate(body.pose.rotation, body.rigid.centre, arm);
  vec_add(body.pose.position, arm, centre);
  assert_close_3(body.rigid.node.position, centre, 1e-15);
  assert_close_3(state.pose.position, body.pose.position, 1e-15);
  assert_close_3(state.velocity, ((double[3]){0}), 0);
  move(&body, 0.1, 10);
  assert_close_3(body.rigid.node.position, centre, 0);
}

// ---- Falling ----

static void test_free_fall(void **unused) {
  (void)unused;
  const double dt = 0.01, g = 9.81;
  const int n = 1000;
  Body body = make_box();
  double start[3];
  vec_copy(body.rigid.node.position, start);
  vec_set(body.rigid.node.velocity, 3, -1, 2);
  for (int k = 0; k < n; ++k) {
    push(&body, 0, 0, -g * body.rigid.node.mass * dt, 0, 0, 0);
    move(&body, dt, 1);
  }
  // Symplectic Euler falls n (n + 1)/2 steps of g dt^2, exactly.
  double fallen[3] = {start[0] + 3 * n * dt, start[1] - n * dt,
                      start[2] + 2 * n * dt - g * dt * dt * n * (n + 1) / 2};
  assert_close_3(body.rigid.node.position, fallen, 1e-9);
  assert_close_3(body.rigid.node.velocity, ((double[3]){3, -1, 2 - g * n * dt}), 1e-11);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){0}), 0);
}

// ---- Turning ----

// About a principal axis the velocity stays what it is, and even steps of a ninth of a turn are exact. About
// the middle one rounding grows with every step, as in nature; so it gets few.
static void test_a_constant_angular_velocity_is_followed_exactly(void **unused) {
  (void)unused;
  for (int axis = 0; axis < 3; ++axis) {
    Body body = make_box();
    double unit[3] = {axis == 0, axis == 1, axis == 2}, omega[3], turn[4], expected[4];
    quat_rotate(body.pose.rotation, unit, omega);
    vec_scale(omega, 7, omega);
    int n_steps = axis == 1 ? 10 : 50;
    quat_from_axis_angle(omega, 7 * 0.1 * n_steps, turn);
    quat_multiply(turn, body.pose.rotation, expected);
    spin(&body, omega[0], omega[1], omega[2]);
    move(&body, 0.1, n_steps);
    double sign = 0;
    for (int k = 0; k < 4; ++k) sign += expected[k] * body.pose.rotation[k];
    for (int k = 0; k < 4; ++k) assert_close(body.pose.rotation[k], (sign < 0 ? -1 : 1) * expected[k], 1e-12);
    assert_close_3(body.rigid.node.angular_velocity, omega, 1e-12);
  }
}

// A body whose inertia is the same about all axes has no preferred one.
static void test_a_ball_spins_about_any_axis(void **unused) {
  (void)unused;
  FloMassProperties mass = {.mass = 3, .inertia = {0.2, 0.2, 0.2}};
  FloPose pose = tilted_pose();
  Body body = make_body(&mass, &pose, 3);
  spin(&body, 1, -2, 3);
  move(&body, 0.25, 40);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){1, -2, 3}), 1e-13);
  assert_close_3(body.rigid.angular_momentum, ((double[3]){0.2, -0.4, 0.6}), 1e-15);
}

// How far the axis of a free symmetric top is after a second from where theory has it: it goes around the
// angular momentum at the rate |L|/I_1 (Landau & Lifshitz, Mechanics, section 33).
static double precession_error(int n_steps) {
  FloMassProperties mass = {.mass = 1, .inertia = {0.02, 0.02, 0.05}};
  FloPose pose = tilted_pose();
  Body body = make_body(&mass, &pose, 3);
  const double own_axis[3] = {0, 0, 1};
  double axis[3], turn[4], expected[3], miss[3];
  spin(&body, 2, 1, 4);
  quat_rotate(body.pose.rotation, own_axis, axis);
  quat_from_axis_angle(body.rigid.angular_momentum, vec_length(body.rigid.angular_momentum) / 0.02, turn);
  quat_rotate(turn, axis, expected);
  move(&body, 1.0 / n_steps, n_steps);
  quat_rotate(body.pose.rotation, own_axis, axis);
  vec_sub(axis, expected, miss);
  return vec_length(miss);
}

static void test_a_symmetric_top_precesses_as_theory_says(void **unused) {
  (void)unused;
  double coarse = precession_error(100), fine = precession_error(200);
  print_message("axis of a top after 1 s: off by %.2g rad with 100 steps, %.2g with 200\n", coarse, fine);
  assert_true(coarse < 1e-7);
  assert_close(coarse / fine, 16, 2); // of fourth order
}

static void test_an_asymmetric_body_keeps_momentum_and_energy(void **unused) {
  (void)unused;
  Body body = make_box();
  spin(&body, 0.1, 5, 0.2); // near no principal axis of the tilted box: it tumbles
  double momentum[3], energy = spin_energy(&body), drift = 0, least = INFINITY, most = 0;
  vec_copy(body.rigid.angular_momentum, momentum);
  for (int k = 0; k < 10000; ++k) {
    move(&body, 1e-3, 1);
    drift = fmax(drift, fabs(spin_energy(&body) / energy - 1));
    double speed = vec_length(body.rigid.node.angular_velocity);
    least = fmin(least, speed), most = fmax(most, speed);
  }
  print_message("tumbling box: energy within %.2g over 10,000 steps, speeds %.2f to %.2f rad/s\n", drift,
                least, most);
  assert_memory_equal(body.rigid.angular_momentum, momentum, sizeof momentum);
  assert_true(most > 1.05 * least); // it does tumble
  assert_true(drift < 1e-10);
  double back[3];
  inertia_times(&body, body.rigid.node.angular_velocity, back);
  assert_close_3(back, momentum, 1e-13);
}

// The Dzhanibekov effect: a spin about the middle axis turns over, those about the others do not.
static double least_alignment(int axis) {
  FloMassProperties mass = box_mass(2, 0.3, 0.5, 0.9);
  FloPose pose = {.rotation = {0, 0, 0, 1}};
  Body body = make_body(&mass, &pose, 3);
  double unit[3] = {axis == 0, axis == 1, axis == 2}, omega[3] = {0.02, 0.02, 0.02}, now[3], least = 1;
  omega[axis] = 5;
  spin(&body, omega[0], omega[1], omega[2]);
  for (int k = 0; k < 5000; ++k) {
    move(&body, 2e-3, 1);
    quat_rotate(body.pose.rotation, unit, now);
    least = fmin(least, now[axis]);
  }
  return least;
}

static void test_only_the_middle_axis_is_unstable(void **unused) {
  (void)unused;
  assert_true(least_alignment(0) > 0.99);
  assert_true(least_alignment(1) < -0.99);
  assert_true(least_alignment(2) > 0.99);
}

static void test_rotations_stay_unit_quaternions(void **unused) {
  (void)unused;
  Body body = make_box();
  spin(&body, 30, 50, -20);
  move(&body, 0.013, 20000);
  const double *q = body.pose.rotation;
  assert_close(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-15 * 4);
}

// ---- Impulses ----

static void test_an_impulse_off_centre(void **unused) {
  (void)unused;
  Random random = {5};
  for (int round = 0; round < 50; ++round) {
    Body body = make_box();
    double impulse[3], arm[3], turn[3], back[3], expected[3];
    for (int axis = 0; axis < 3; ++axis)
      impulse[axis] = random_between(&random, -1, 1), arm[axis] = random_between(&random, -1, 1);
    vec_cross(arm, impulse, turn);
    flo_rigid_push(&body.rigid, impulse, turn);
    vec_scale(impulse, 0.5, expected);
    assert_close_3(body.rigid.node.velocity, expected, 1e-15);
    inertia_times(&body, body.rigid.node.angular_velocity, back);
    assert_close_3(back, turn, 1e-14);
    // The work of the impulse is its product with the mean velocity of the point.
    double sweep[3];
    vec_cross(body.rigid.node.angular_velocity, arm, sweep);
    vec_add(sweep, body.rigid.node.velocity, sweep);
    double energy = vec_dot(body.rigid.node.velocity, body.rigid.node.velocity) + spin_energy(&body);
    assert_close(energy, vec_dot(impulse, sweep) / 2, 1e-13);
  }
}

static void test_the_state_is_that_of_the_shape(void **unused) {
  (void)unused;
  Body body = make_box();
  vec_set(body.rigid.node.velocity, 1, 2, 3);
  spin(&body, -1, 4, 2);
  FloBodyState before = state_of(&body);
  const double dt = 1e-6;
  move(&body, dt, 1);
  FloBodyState after = state_of(&body);
  for (int axis = 0; axis < 3; ++axis)
    assert_close((after.pose.position[axis] - before.pose.position[axis]) / dt, before.velocity[axis], 1e-4);
  assert_close_3(before.angular_velocity, ((double[3]){-1, 4, 2}), 1e-14);
}

// ---- Locks ----

static void test_locked_axes_do_not_move(void **unused) {
  (void)unused;
  Body body = make_box();
  body.rigid.node.locks[0] = true;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  double start = body.rigid.node.position[0];
  push(&body, 1, 2, 3, 0, 0, 0);
  assert_close_3(body.rigid.node.velocity, ((double[3]){0, 1, 1.5}), 1e-15);
  move(&body, 0.1, 10);
  assert_true(body.rigid.node.position[0] == start);
}

// A body on a hinge turns with the moment of inertia about the hinge, although its axes are tilted.
static void test_a_hinge(void **unused) {
  (void)unused;
  Body body = make_box();
  const double z[3] = {0, 0, 1};
  double column[3];
  inertia_times(&body, z, column);
  body.rigid.node.locks[3] = body.rigid.node.locks[4] = true;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  push(&body, 0, 0, 0, 3, -4, 0.6);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){0, 0, 0.6 / column[2]}), 1e-14);
  double before[4], turn[4], expected[4];
  quat_copy(body.pose.rotation, before);
  quat_from_axis_angle(z, 0.6 / column[2] * 0.5, turn);
  quat_multiply(turn, before, expected);
  move(&body, 0.01, 50);
  for (int k = 0; k < 4; ++k) assert_close(body.pose.rotation[k], expected[k], 1e-12);
  assert_close(body.rigid.node.angular_velocity[2], 0.6 / column[2], 1e-12);
}

static void test_one_locked_turn_leaves_two(void **unused) {
  (void)unused;
  Body body = make_box();
  body.rigid.node.locks[4] = true;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  push(&body, 0, 0, 0, 0.3, 9, -0.2);
  double back[3];
  inertia_times(&body, body.rigid.node.angular_velocity, back);
  assert_true(body.rigid.node.angular_velocity[1] == 0);
  assert_close(back[0], 0.3, 1e-14);
  assert_close(back[2], -0.2, 1e-14);
}

static void test_a_spin_about_a_locked_axis_is_dropped(void **unused) {
  (void)unused;
  Body body = make_box();
  body.rigid.node.locks[3] = body.rigid.node.locks[4] = body.rigid.node.locks[5] = true;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  spin(&body, 1, 2, 3);
  double before[4];
  quat_copy(body.pose.rotation, before);
  move(&body, 0.1, 5);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){0}), 0);
  assert_memory_equal(before, body.pose.rotation, sizeof before);
}

// ---- Held ----

static void test_a_held_body_stands_still_and_leaves_as_it_was_told(void **unused) {
  (void)unused;
  Body body = make_box();
  vec_set(body.rigid.node.velocity, 1, 0, -1);
  spin(&body, 0, 0, 2);
  body.rigid.node.is_held = true;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  Body before = body;
  push(&body, 5, 5, 5, 1, 1, 1);
  move(&body, 0.1, 10);
  FloBodyState state = state_of(&body);
  assert_memory_equal(&body.pose, &before.pose, sizeof body.pose);
  assert_close_3(body.rigid.node.position, before.rigid.node.position, 0);
  assert_close_3(state.velocity, ((double[3]){0}), 0);
  assert_close_3(state.angular_velocity, ((double[3]){0}), 0);
  body.rigid.node.is_held = false;
  flo_rigid_refresh(&body.rigid, body.pose.rotation);
  assert_close_3(body.rigid.node.velocity, ((double[3]){1, 0, -1}), 0);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){0, 0, 2}), 1e-14);
}

// ---- The plane ----

static void test_in_the_plane(void **unused) {
  (void)unused;
  // Outlines have no inertia about axes in the plane.
  FloMassProperties mass = {.mass = 4, .centre = {0.5, 0, 0}, .inertia = {0, 0, 0.25}};
  FloPose pose = {.position = {1, 1, 0}, .rotation = {0, 0, 0, 1}};
  Body body = make_body(&mass, &pose, 2);
  push(&body, 2, 4, 8, 3, 3, 0.5);
  assert_close_3(body.rigid.node.velocity, ((double[3]){0.5, 1, 0}), 0);
  assert_close_3(body.rigid.node.angular_velocity, ((double[3]){0, 0, 2}), 1e-15);
  move(&body, 0.01, 100);
  FloBodyState state = state_of(&body);
  assert_close_3(body.rigid.node.position, ((double[3]){2, 2, 0}), 1e-13);
  assert_close_3(state.pose.position, ((double[3]){2 - 0.5 * cos(2), 2 - 0.5 * sin(2), 0}), 1e-12);
  assert_close(state.pose.rotation[0], 0, 0);
  assert_close(state.pose.rotation[1], 0, 0);
}

// ---- What is refused ----

static void check_refused(const FloMassProperties *mass, int dim, const char *word) {
  FloError error;
  FloRigid rigid;
  FloPose pose = tilted_pose();
  assert_refused(flo_rigid_init(&rigid, mass, &pose, dim, &error), &error, word);
}

static void test_masses_that_make_no_sense_are_refused(void **unused) {
  (void)unused;
  const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k)
    for (int dim = 2; dim <= 3; ++dim) {
      FloMassProperties mass = box_mass(2, 1, 1, 1);
      mass.mass = bad[k];
      check_refused(&mass, dim, "must weigh something");
    }
}

static void test_bodies_without_inertia_are_refused(void **unused) {
  (void)unused;
  const char *const words[] = {"about x", "about y", "about z"};
  const double bad[] = {0, -1e-3, NAN};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k)
    for (int axis = 0; axis < 3; ++axis) {
      FloMassProperties mass = box_mass(2, 1, 1, 1);
      mass.inertia[axis] = bad[k];
      check_refused(&mass, 3, words[axis]);
    }
  FloMassProperties flat = box_mass(2, 1, 1, 1);
  flat.inertia[2] = 0;
  check_refused(&flat, 2, "about z");
}

// A thin rod has no inertia about itself, even where that is none of the three axes.
static void test_a_tilted_rod_without_width_is_refused(void **unused) {
  (void)unused;
  FloMassProperties rod = {.mass = 1, .inertia = {0.5, 0.5, 1, -0.5, 0, 0}}; // along (1, 1, 0)
  check_refused(&rod, 3, "inertia");
  rod = (FloMassProperties){.mass = 1, .inertia = {2, 2, 2, -1, -1, -1}}; // along (1, 1, 1)
  check_refused(&rod, 3, "inertia");
}

static void test_an_infinite_inertia_is_refused(void **unused) {
  (void)unused;
  FloMassProperties mass = box_mass(2, 1, 1, 1);
  mass.inertia[1] = INFINITY;
  check_refused(&mass, 3, "inertia");
  mass = box_mass(2, 1, 1, 1);
  mass.inertia[3] = NAN;
  check_refused(&mass, 3, "inertia");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_new_body_rests_where_it_is_put),
      cmocka_unit_test(test_free_fall),
      cmocka_unit_test(test_a_constant_angular_velocity_is_followed_exactly),
      cmocka_unit_test(test_a_ball_spins_about_any_axis),
      cmocka_unit_test(test_a_symmetric_top_precesses_as_theory_says),
      cmocka_unit_test(test_an_asymmetric_body_keeps_momentum_and_energy),
      cmocka_unit_test(test_only_the_middle_axis_is_unstable),
      cmocka_unit_test(test_rotations_stay_unit_quaternions),
      cmocka_unit_test(test_an_impulse_off_centre),
      cmocka_unit_test(test_the_state_is_that_of_the_shape),
      cmocka_unit_test(test_locked_axes_do_not_move),
      cmocka_unit_test(test_a_hinge),
      cmocka_unit_test(test_one_locked_turn_leaves_two),
      cmocka_unit_test(test_a_spin_about_a_locked_axis_is_dropped),
      cmocka_unit_test(test_a_held_body_stands_still_and_leaves_as_it_was_told),
      cmocka_unit_test(test_in_the_plane),
      cmocka_unit_test(test_masses_that_make_no_sense_are_refused),
      cmocka_unit_test(test_bodies_without_inertia_are_refused),
      cmocka_unit_test(test_a_tilted_rod_without_width_is_refused),
      cmocka_unit_test(test_an_infinite_inertia_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
