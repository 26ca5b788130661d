// The rows of every kind of joint against finite differences, and the pieces of an axis.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "bodies/joint.h"
#include "bodies/rigid.h"
#include "support/random.h"

#include <string.h>

// ---- Rows ----

static void random_vector(Random *random, double size, double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = random_between(random, -size, size);
}

static void random_rotation(Random *random, double out[4]) {
  double axis[3];
  random_vector(random, 1, axis);
  quat_from_axis_angle(axis, random_between(random, -3, 3), out);
}

static FloJointEnd random_end(Random *random) {
  FloJointEnd end;
  random_vector(random, 2, end.position);
  random_rotation(random, end.rotation);
  random_vector(random, 3, end.velocity);
  random_vector(random, 3, end.spin);
  return end;
}

static FloJointEnd moved(const FloJointEnd *end, double dt) {
  FloJointEnd later = *end;
  vec_add_scaled(end->position, end->velocity, dt, later.position);
  flo_rigid_turn(end->rotation, end->spin, dt, later.rotation);
  return later;
}

static int find_rows(const FloJoint *joint, const FloJointEnd ends[2], FloJointRow rows[FLO_JOINT_ROWS + 1]) {
  FloJointView view;
  flo_joint_view(joint, &ends[0], &ends[1], &view);
  if (joint->form->rows) joint->form->rows(joint, &view, rows);
  if (joint->form->has_coordinate) joint->form->coordinate(joint, &view, rows + joint->form->n_rows);
  return (int)flo_joint_width(joint);
}

static double along(const FloJointRow *row, const FloJointEnd ends[2]) {
  double sum = 0;
  for (int side = 0; side < 2; ++side)
    sum += vec_dot(row->j[side], ends[side].velocity) + vec_dot(row->j[side] + 3, ends[side].spin);
  return sum;
}

// The coordinate of a hinge is an angle of its own only while the axes agree, so the second body gets the
// axes of the first, turned about the joint's axis.
static void align(FloJoint *joint, const FloJointEnd ends[2], double angle) {
  double world[4], turn[4], back[4];
  quat_multiply(ends[0].rotation, joint->sides[0].axes, world);
  quat_from_axis_angle((const double[3]){0, 0, 1}, angle, turn);
  quat_multiply(world, turn, world);
  quat_conjugate(ends[1].rotation, back);
  quat_multiply(back, world, joint->sides[1].axes);
}

static void check_kind(const FloJointForm *form, uint64_t seed) {
  Random random = {seed};
  FloJoint joint = {.form = form, .live.length = 0.7};
  FloJointEnd ends[2] = {random_end(&random), random_end(&random)};
  FloJointRow now[FLO_JOINT_ROWS + 1], before[FLO_JOINT_ROWS + 1], after[FLO_JOINT_ROWS + 1];
  const double step = 1e-5;
  for (int side = 0; side < 2; ++side) {
    random_vector(&random, 1, joint.sides[side].arm);
    random_rotation(&random, joint.sides[side].axes);
  }
  if (form->is_angle) {
    align(&joint, ends, random_between(&random, -1, 1));
    // Only turning about the axis keeps it an angle; its rate is that of the spin along the axis.
    double axis[3], world[4];
    quat_multiply(ends[0].rotation, joint.sides[0].axes, world);
    quat_rotate(world, (const double[3]){0, 0, 1}, axis);
    vec_add_scaled(ends[0].spin, axis, 2, ends[1].spin);
  }
  const FloJointEnd earlier[2] = {moved(&ends[0], -step), moved(&ends[1], -step)},
                    later[2] = {moved(&ends[0], step), moved(&ends[1], step)};
  int n = find_rows(&joint, ends, now);
  find_rows(&joint, earlier, before), find_rows(&joint, later, after);
  for (int k = 0; k < n; ++k) {
    double rate = (after[k].violation - before[k].violation) / (2 * step),
           bend = (after[k].rate - before[k].rate) / (2 * step);
    assert_true(fabs(along(&now[k], ends) - now[k].rate) < 1e-12 * (1 + fabs(now[k].rate)));
    assert_true(fabs(now[k].rate - rate) < 1e-7 * (1 + fabs(rate)));
    assert_true(fabs(now[k].bend - bend) < 1e-6 * (1 + fabs(bend)));
  }
}

static void rows_are_the_derivatives_of_what_they_measure(void **state) {
  (void)state;
  for (int kind = 0; kind < FLO_JOINT_COUNT; ++kind) {
    const FloJointForm *form = flo_joint_form((FloJointKind)kind);
    assert_int_equal(form->kind, kind);
    assert_string_equal(flo_joint_kind_name((FloJointKind)kind), form->name);
    for (uint64_t seed = 1; !form->is_gear && seed < 50; ++seed) check_kind(form, seed);
  }
  assert_null(flo_joint_form(FLO_JOINT_COUNT));
  assert_null(flo_joint_kind_name((FloJointKind)-1));
}

static void angles_are_counted_on_over_full_turns(void **state) {
  (void)state;
  FloJoint joint = {.form = &flo_joint_hinge};
  joint.live.coordinate = 12;
  assert_true(fabs(flo_joint_unwrap(&joint, 12.5 - 4 * 3.14159265358979323846) - 12.5) < 1e-12);
  joint.form = &flo_joint_slider;
  assert_true(flo_joint_unwrap(&joint, -0.3) == -0.3);
}

// ---- The axis ----

static FloJoint make_axis(FloJointLive live) {
  FloJoint joint = {.form = &flo_joint_hinge, .live = live};
  if (live.low == 0 && live.high == 0) joint.live.low = -FLO_JOINT_NONE, joint.live.high = FLO_JOINT_NONE;
  return joint;
}

// The impulse of an axis with inertia 1 that would have the speed `free` without it: the pieces are exchanged
// as in the real system.
static double solve_axis(const FloJoint *joint, const FloAxisStep *step, double free, FloAxis *axis) {
  flo_axis_make(joint, step, axis);
  for (int round = 0; round < 50; ++round) {
    double impulse = flo_axis_is_known(axis) ? flo_axis_slide(axis) : 0, speed;
    if (!flo_axis_is_known(axis)) {
      const FloAxisLine line = flo_axis_line(axis);
      impulse = (line.speed + line.softness * line.start - free) / (1 + line.softness);
    }
    speed = free + impulse;
    int next = flo_axis_next(axis, impulse, speed, (FloAxisSlack){0, 0});
    if (next == axis->piece) return impulse;
    axis->piece = next;
  }
  fail_msg("the pieces run in circles");
  return 0;
}

static void motors_friction_and_limits_act_together(void **state) {
  (void)state;
  const FloAxisStep step = {.drift = 0.1, .kick = 0.1};
  FloAxis axis;
  // A motor of 20 for speed 3, friction 5, free between -1 and 1.
  FloJoint joint = make_axis((FloJointLive){
      .motor_kind = FLO_MOTOR_SPEED, .motor_value = 3, .max_load = 20, .friction = 5, .low = -1, .high = 1});
  const double frees[] = {-40, -8, -2.2, 0, 1, 2, 3, 4, 6, 9, 20},
               // -10 is the speed that reaches the lower limit. Below 0 motor and friction push up by 2.5; at
               // 0 friction holds; up to 3 the motor pushes by 2 against 0.5; at 3 the motor holds; beyond,
               // both push down by 2.5; 10 reaches the upper limit.
      speeds[] = {-10, -5.5, 0, 1.5, 2.5, 3, 3, 3, 3.5, 6.5, 10};
  for (size_t k = 0; k < sizeof frees / sizeof *frees; ++k) {
    double speed = frees[k] + solve_axis(&joint, &step, frees[k], &axis);
    assert_true(fabs(speed - speeds[k]) < 1e-12);
  }
  solve_axis(&joint, &step, 2, &axis);
  assert_true(fabs(flo_axis_motor(&axis, 1) - 1.5) < 1e-12); // it holds 3 against friction
  solve_axis(&joint, &step, -40, &axis);
  assert_true(fabs(flo_axis_motor(&axis, 30) - 2) < 1e-12);
}

// Beyond a limit the coordinate returns, whatever motors and friction hold: by a quarter of the excess in a
// step, or at the speed that is allowed, which does not depend on the step.
static void limits_that_were_passed_are_restored(void **state) {
  (void)state;
  const FloAxisStep above = {.coordinate = 1.2, .drift = 0.1, .kick = 0.1, .rate = 9, .reach = 1},
                    below = {.coordinate = -1.2, .drift = 0.1, .kick = 0.1, .rate = 9, .reach = 1};
  const FloAxisStep slow = {.coordinate = 1.2, .drift = 0.1, .kick = 0.1, .rate = 1, .reach = 0.15},
                    slow_and_short = {
                        .coordinate = 1.2, .drift = 1e-5, .kick = 1e-5, .rate = 1, .reach = 0.15};
  for (int piece = 0; piece < 8; ++piece) {
    FloAxis axis;
    FloJoint joint = make_axis((FloJointLive){.motor_kind = FLO_MOTOR_SPEED,
                                              .motor_value = 3,
                                              .max_load = 20,
                                              .friction = 5,
                                              .low = -1,
                                              .high = 1,
                                              .piece = piece});
    double impulse = solve_axis(&joint, &above, 0, &axis);
    assert_true(fabs(impulse + 0.5) < 1e-12); // a quarter of the excess in a step
    assert_true(fabs(flo_axis_motor(&axis, impulse) - 2) < 1e-12);
    assert_true(fabs(solve_axis(&joint, &slow, 0, &axis) + 0.15) < 1e-12);
    assert_true(fabs(solve_axis(&joint, &slow_and_short, 0, &axis) + 0.15) < 1e-12);
    joint.live.motor_value = -3;
    impulse = solve_axis(&joint, &below, 0, &axis);
    assert_true(fabs(impulse - 0.5) < 1e-12);
    assert_true(fabs(flo_axis_motor(&axis, impulse) + 2) < 1e-12);
  }
}

static void soft_limits_and_springs_yield(void **state) {
  (void)state;
  const FloAxisStep step = {.coordinate = 1.2, .drift = 0.1, .kick = 0.1};
  FloAxis axis;
  FloJoint joint = make_axis((FloJointLive){.low = -1, .high = 1, .limit_stiffness = 50, .limit_damping = 2});
  // impulse = -0.1 (50 (0.2 + 0.1 v) + 2 v), v = impulse: v = -1/(1.7).
  assert_true(fabs(solve_axis(&joint, &step, 0, &axis) + 1 / 1.7) < 1e-12);
  FloJoint spring = {.form = &flo_joint_spring, .live = {.stiffness = 50, .damping = 2, .length = 1}};
  assert_true(fabs(solve_axis(&spring, &step, 0, &axis) + 1 / 1.7) < 1e-12);
  // A limit that does not touch does nothing.
  const FloAxisStep inside = {.coordinate = 0, .drift = 0.1, .kick = 0.1};
  assert_true(solve_axis(&joint, &inside, 0, &axis) == 0);
}

// Soft limits add to motor and friction, which hold as far as they can.
static void soft_limits_leave_motors_their_strength(void **state) {
  (void)state;
  const FloAxisStep step = {.coordinate = 1.2, .drift = 0.1, .kick = 0.1};
  for (int piece = FLO_JOINT_NO_PIECE; piece < 8; ++piece) {
    FloAxis axis;
    FloJoint joint = make_axis((FloJointLive){.motor_kind = FLO_MOTOR_SPEED,
                                              .motor_value = 3,
                                              .max_load = 40,
                                              .friction = 5,
                                              .low = -1,
                                              .high = 1,
                                              .limit_stiffness = 50,
                                              .piece = piece});
    // The limit pushes by -0.1 50 (0.2 + 0.1 v): by -2.5 at 3. The motor has 4, friction -0.5.
    double impulse = solve_axis(&joint, &step, 2.5, &axis);
    assert_true(fabs(impulse - 0.5) < 1e-12 && fabs(flo_axis_motor(&axis, impulse) - 3.5) < 1e-12);
    // From rest the motor gives all: v = 4 - 0.5 - 0.1 50 (0.2 + 0.1 v), v = 2.5/1.5.
    impulse = solve_axis(&joint, &step, 0, &axis);
    assert_true(fabs(impulse - 2.5 / 1.5) < 1e-12 && fabs(flo_axis_motor(&axis, impulse) - 4) < 1e-12);
    // Friction holds where motor and limit leave -3 + 2.7.
    impulse = solve_axis(&joint, &step, -2.7, &axis);
    assert_true(fabs(impulse - 2.7) < 1e-12);
  }
}

// At any strength of motor and friction, a rope is pulled.
static void ropes_never_push(void **state) {
  (void)state;
  const FloAxisStep step = {.coordinate = 1, .drift = 0.1, .kick = 0.1};
  for (int piece = FLO_JOINT_NO_PIECE; piece < 8; ++piece)
    for (int k = -6; k <= 6; ++k) {
      FloAxis axis;
      FloJoint joint = {.form = &flo_joint_rope,
                        .live = {.motor_kind = FLO_MOTOR_SPEED,
                                 .motor_value = 1,
                                 .max_load = 20,
                                 .friction = k % 2 ? 5 : 0,
                                 .low = -FLO_JOINT_NONE,
                                 .high = 2,
                                 .piece = piece}};
      double impulse = solve_axis(&joint, &step, k, &axis), motor = flo_axis_motor(&axis, impulse);
      assert_true(impulse <= 1e-12 && motor <= 1e-12 && motor >= -2 - 1e-12);
      assert_true(k <= 1 || impulse < 0); // it pays out rope at 1 at most, with what it has
    }
}

static void laws_of_motors_are_followed(void **state) {
  (void)state;
  FloMotorKey keys[] = {{1, 2}, {3, 6}};
  FloJoint joint = make_axis((FloJointLive){.motor_kind = FLO_MOTOR_POSITION,
                                            .motor_value = 0.5,
                                            .motor_has_keys = 1,
                                            .max_load = 1e9,
                                            .motor_time = 0.5});
  joint.keys = keys, joint.n_keys = 2;
  assert_true(fabs(flo_joint_law(&joint, 0) - 2.5) < 1e-12 && fabs(flo_joint_law(&joint, 2) - 4.5) < 1e-12 &&
              fabs(flo_joint_law(&joint, 9) - 6.5) < 1e-12);
  const FloAxisStep step = {.coordinate = 4, .time = 2, .drift = 0.1, .kick = 0.1};
  FloAxis axis;
  double speed = solve_axis(&joint, &step, 0, &axis);
  assert_true(fabs(speed - (2 + 0.5 / 0.5)) <
              1e-9); // the slope of the law, and what is missing over its time
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_the_derivatives_of_what_they_measure),
      cmocka_unit_test(angles_are_counted_on_over_full_turns),
      cmocka_unit_test(motors_friction_and_limits_act_together),
      cmocka_unit_test(limits_that_were_passed_are_restored),
      cmocka_unit_test(soft_limits_and_springs_yield),
      cmocka_unit_test(soft_limits_leave_motors_their_strength),
      cmocka_unit_test(ropes_never_push),
      cmocka_unit_test(laws_of_motors_are_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
