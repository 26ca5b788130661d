// Prescribed motions: velocities are derivatives of poses, motions hold outside their time, and compose.
#include "base/pose.h"
#include "bodies/motion.h"
#include "support/check.h"

static const FloPose start = {.position = {0.3, -0.2, 0.5}, .rotation = {0, 0, 0, 1}};

static FloMotionDef translate(double x, double y, double z) {
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_TRANSLATE;
  motion.vector[0] = x, motion.vector[1] = y, motion.vector[2] = z;
  return motion;
}

static FloMotionDef rotate(double rate) {
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_ROTATE;
  motion.rate = rate;
  vec_set(motion.vector, 1, -2, 0.5);
  vec_set(motion.centre, 1, 0.5, -1);
  return motion;
}

static FloMotionDef oscillate(double frequency, double phase) {
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_OSCILLATE;
  motion.frequency = frequency, motion.phase = phase;
  vec_set(motion.vector, 0.1, 0.2, -0.3);
  return motion;
}

// Three poses; the second quaternion has the sign with which a naive interpolation turns the long way round.
static FloMotionDef follow(FloKeyframe frames[3]) {
  const double axis[3] = {0.3, 1, 0.2};
  const double times[3] = {0.5, 1.25, 2}, angles[3] = {0.2, 1.9, -0.4};
  for (int k = 0; k < 3; ++k) {
    frames[k] = (FloKeyframe){.time = times[k], .pose = {.position = {k * 0.5, 1 - k * k, 0.25 * k}}};
    quat_from_axis_angle(axis, angles[k], frames[k].pose.rotation);
  }
  for (int k = 0; k < 4; ++k) frames[1].pose.rotation[k] *= -1; // the same rotation, the other sign
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_KEYFRAMES;
  motion.keyframes = frames, motion.n_keyframes = 3;
  return motion;
}

static FloBodyState at(const FloMotionDef *motions, size_t n, double time) {
  FloBodyState s;
  flo_motion_evaluate(motions, n, &start, time, &s);
  return s;
}

// Axis times angle of the small rotation from a to b.
static void small_rotation(const double a[4], const double b[4], double out[3]) {
  double back[4], turn[4];
  quat_conjugate(a, back);
  quat_multiply(b, back, turn);
  vec_scale(turn, turn[3] < 0 ? -2 : 2, out);
}

static void check_derivatives_at(const FloMotionDef *motions, size_t n, double time) {
  const double h = 1e-5;
  FloBodyState before = at(motions, n, time - h), now = at(motions, n, time),
               after = at(motions, n, time + h);
  double velocity[3], omega[3];
  vec_sub(after.pose.position, before.pose.position, velocity);
  vec_scale(velocity, 1 / (2 * h), velocity);
  assert_close_3(now.velocity, velocity, 1e-6);
  small_rotation(before.pose.rotation, after.pose.rotation, omega);
  vec_scale(omega, 1 / (2 * h), omega);
  assert_close_3(now.angular_velocity, omega, 1e-6);
  const double *q = now.pose.rotation;
  assert_close(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-12);
}

// At odd times, so that none falls on a kink.
static void check_derivatives(const FloMotionDef *motions, size_t n) {
  for (double time = 0.0123; time < 3; time += 0.0371) check_derivatives_at(motions, n, time);
}

// ---- Each kind ----

static void test_translation(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 2, -3);
  FloBodyState s = at(&motion, 1, 0.5);
  assert_close_3(s.pose.position, ((double[3]){0.8, 0.8, -1}), 1e-15);
  check_derivatives(&motion, 1);
}

static void test_rotation_about_a_centre(void **state) {
  (void)state;
  FloMotionDef motion = rotate(2.5);
  check_derivatives(&motion, 1);
  double arm[3], before[3];
  FloBodyState s = at(&motion, 1, 0.7);
  vec_sub(s.pose.position, motion.centre, arm);
  vec_sub(start.position, motion.centre, before);
  assert_close(vec_length(arm), vec_length(before), 1e-14);
  assert_close(vec_length(s.angular_velocity), 2.5, 1e-14);
}

static void test_a_whole_turn_comes_back(void **state) {
  (void)state;
  FloMotionDef motion = rotate(2 * FLO_PI);
  FloBodyState s = at(&motion, 1, 1);
  assert_close_3(s.pose.position, start.position, 1e-13);
  assert_close(fabs(s.pose.rotation[3]), 1, 1e-13);
}

static void test_a_quarter_turn_about_z(void **state) {
  (void)state;
  FloMotionDef motion = rotate(FLO_PI / 2);
  vec_set(motion.vector, 0, 0, 3);
  vec_set(motion.centre, 0, 0, 0);
  FloBodyState s = at(&motion, 1, 1);
  assert_close_3(s.pose.position, ((double[3]){0.2, 0.3, 0.5}), 1e-15);
  assert_close_3(s.angular_velocity, ((double[3]){0, 0, FLO_PI / 2}), 1e-15);
}

static void test_oscillation(void **state) {
  (void)state;
  FloMotionDef motion = oscillate(1.5, 0.4);
  check_derivatives(&motion, 1);
  FloBodyState s = at(&motion, 1, 0.35);
  double swing = sin(2 * FLO_PI * 1.5 * 0.35 + 0.4), offset[3];
  vec_add_scaled(start.position, motion.vector, swing, offset);
  assert_close_3(s.pose.position, offset, 1e-14);
}

static void test_keyframes_are_met_and_interpolated(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  check_derivatives(&motion, 1);
  for (int k = 0; k < 3; ++k) {
    FloBodyState s = at(&motion, 1, frames[k].time);
    double turn[3];
    assert_close_3(s.pose.position, frames[k].pose.position, 1e-14);
    small_rotation(frames[k].pose.rotation, s.pose.rotation, turn);
    assert_close_3(turn, ((double[3]){0}), 1e-14);
  }
  FloBodyState middle = at(&motion, 1, 0.875);
  assert_close_3(middle.pose.position, ((double[3]){0.25, 0.5, 0.125}), 1e-14);
}

static void test_keyframes_turn_the_short_way(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  assert_close(vec_length(at(&motion, 1, 0.6).angular_velocity) * 0.75, 1.7, 1e-12);
  assert_close(vec_length(at(&motion, 1, 1.3).angular_velocity) * 0.75, 2.3, 1e-12);
}

static void test_keyframes_without_a_turn(void **state) {
  (void)state;
  FloKeyframe frames[2] = {{.time = 0, .pose = flo_pose_identity()},
                           {.time = 1, .pose = flo_pose_identity()}};
  frames[1].pose.position[0] = 2;
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_KEYFRAMES, motion.keyframes = frames, motion.n_keyframes = 2;
  FloBodyState s = at(&motion, 1, 0.25);
  assert_close_3(s.velocity, ((double[3]){2, 0, 0}), 1e-15);
  assert_close_3(s.angular_velocity, ((double[3]){0}), 0);
  assert_close(s.pose.rotation[3], 1, 1e-15);
}

// ---- Held outside start and end ----

static void check_held(const FloMotionDef *motion, double time, double edge) {
  FloBodyState held = at(motion, 1, time), there = at(motion, 1, edge);
  assert_close_3(held.pose.position, there.pose.position, 1e-14);
  for (int k = 0; k < 4; ++k) assert_close(held.pose.rotation[k], there.pose.rotation[k], 1e-14);
  assert_close_3(held.velocity, ((double[3]){0}), 0);
  assert_close_3(held.angular_velocity, ((double[3]){0}), 0);
}

static void check_held_outside(FloMotionDef motion) {
  motion.start = 0.5, motion.end = 1.1;
  check_held(&motion, 0, 0.5);
  check_held(&motion, 0.499, 0.5);
  check_held(&motion, 1.1, 1.1);
  check_held(&motion, 7, 1.1);
  check_derivatives_at(&motion, 1, 0.8);
}

static void test_motions_are_held_outside_their_time(void **state) {
  (void)state;
  check_held_outside(translate(1, 2, 3));
  check_held_outside(rotate(-1.5));
  check_held_outside(oscillate(0.7, 1));
}

static void test_keyframes_are_held_before_the_first_and_after_the_last(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  check_held(&motion, 0, 0.5);
  check_held(&motion, 2, 2);
  check_held(&motion, 9, 2);
}

static void test_keyframes_are_held_outside_start_and_end_too(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  motion.start = 0.75, motion.end = 1.5;
  FloMotionDef free_running = follow(frames);
  check_held(&motion, 1.9, 1.5);
  check_held(&motion, 0.6, 0.75);
  assert_close_3(at(&motion, 1, 1.9).pose.position, at(&free_running, 1, 1.5).pose.position, 1e-14);
  check_derivatives_at(&motion, 1, 1.1);
}

static void test_a_motion_of_no_length_is_always_held(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 0, 0);
  motion.start = motion.end = 1;
  check_held(&motion, 1, 0);
  check_held(&motion, 2, 0);
}

static void test_an_endless_motion_is_still_exact_late(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 0, 0);
  FloBodyState s = at(&motion, 1, 1e6);
  assert_close(s.pose.position[0], 1e6 + 0.3, 1e-9);
  assert_close(s.velocity[0], 1, 0);
}

// ---- Several motions ----

static void test_no_motion_is_rest(void **state) {
  (void)state;
  FloBodyState s = at(NULL, 0, 3);
  assert_close_3(s.pose.position, start.position, 0);
  assert_close_3(s.velocity, ((double[3]){0}), 0);
}

static void test_two_motions_have_the_derivatives_of_both(void **state) {
  (void)state;
  FloKeyframe frames[3];
  const FloMotionDef kinds[] = {translate(1, -0.5, 0.2), rotate(1.7), oscillate(0.9, 0.3), follow(frames)};
  for (size_t a = 0; a < FLO_COUNT_OF(kinds); ++a)
    for (size_t b = 0; b < FLO_COUNT_OF(kinds); ++b) {
      FloMotionDef both[2] = {kinds[a], kinds[b]};
      check_derivatives(both, 2);
    }
}

static void test_two_rotations_about_different_axes(void **state) {
  (void)state;
  FloMotionDef motions[3] = {rotate(2), rotate(-0.8), translate(0.1, 0.2, 0.3)};
  vec_set(motions[1].vector, 0, 0, 1);
  vec_set(motions[1].centre, -0.4, 0, 0);
  motions[1].start = 0.7, motions[1].end = 2.3;
  check_derivatives(motions, 3);
}

static void test_motions_apply_in_order(void **state) {
  (void)state;
  FloMotionDef quarter = rotate(FLO_PI / 2), shift = translate(1, 0, 0);
  vec_set(quarter.vector, 0, 0, 1);
  vec_set(quarter.centre, 0, 0, 0);
  FloMotionDef first_shift[2] = {shift, quarter}, first_turn[2] = {quarter, shift};
  assert_close_3(at(first_shift, 2, 1).pose.position, ((double[3]){0.2, 1.3, 0.5}), 1e-14);
  assert_close_3(at(first_turn, 2, 1).pose.position, ((double[3]){1.2, 0.3, 0.5}), 1e-14);
}

// ---- What is refused ----

static void check_refused(FloMotionDef motion, int dim, const char *word) {
  FloError error;
  assert_refused(flo_motion_check(&motion, dim, &error), &error, word);
}

static void test_sensible_motions_are_accepted(void **state) {
  (void)state;
  FloError error;
  FloKeyframe frames[3];
  const FloMotionDef kinds[] = {translate(1, -0.5, 0.2), rotate(1.7), oscillate(0.9, 0.3), follow(frames)};
  for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) assert_ok(flo_motion_check(&kinds[k], 3, &error), &error);
}

static void test_numbers_that_are_not_finite_are_refused(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    FloMotionDef motion = translate(0, bad[k], 0);
    check_refused(motion, 3, "motion");
    motion = rotate(bad[k]);
    check_refused(motion, 3, "motion");
    motion = rotate(1), motion.centre[2] = bad[k];
    check_refused(motion, 3, "motion");
    motion = oscillate(bad[k], 0);
    check_refused(motion, 3, "motion");
    motion = oscillate(1, bad[k]);
    check_refused(motion, 3, "motion");
  }
}

static void test_times_that_make_no_sense_are_refused(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 0, 0);
  motion.start = 2, motion.end = 1;
  check_refused(motion, 3, "motion");
  motion.start = NAN, motion.end = 1;
  check_refused(motion, 3, "motion");
  motion.start = 0, motion.end = NAN;
  check_refused(motion, 3, "motion");
}

// A motion that began before all time, or never begins, has no pose.
static void test_a_start_that_is_not_finite_is_refused(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 0, 0);
  motion.start = -INFINITY;
  check_refused(motion, 3, "motion");
  motion.start = INFINITY;
  check_refused(motion, 3, "motion");
}

static void test_an_unknown_kind_is_refused(void **state) {
  (void)state;
  FloMotionDef motion = translate(1, 0, 0);
  motion.kind = (FloMotionKind)77;
  check_refused(motion, 3, "motion");
}

static void test_a_rotation_needs_an_axis(void **state) {
  (void)state;
  FloMotionDef motion = rotate(1);
  vec_set(motion.vector, 0, 0, 0);
  check_refused(motion, 3, "axis");
}

static void test_in_two_dimensions_motions_stay_in_the_plane(void **state) {
  (void)state;
  FloError error;
  check_refused(translate(0, 0, 1), 2, "two dimensions");
  check_refused(oscillate(1, 0), 2, "two dimensions");
  check_refused(rotate(1), 2, "two dimensions");
  FloMotionDef motion = rotate(1);
  vec_set(motion.vector, 0, 0, -1);
  assert_ok(flo_motion_check(&motion, 2, &error), &error);
  motion = translate(1, 1, 0);
  assert_ok(flo_motion_check(&motion, 2, &error), &error);
}

static void test_keyframes_in_two_dimensions_stay_in_the_plane(void **state) {
  (void)state;
  FloKeyframe frames[3];
  check_refused(follow(frames), 2, "two dimensions");
}

static void test_keyframe_times_must_rise(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  frames[2].time = frames[1].time;
  check_refused(motion, 3, "keyframe times");
  frames[2].time = NAN;
  check_refused(motion, 3, "keyframe times");
  motion.n_keyframes = 1;
  check_refused(motion, 3, "keyframes");
}

static void test_keyframe_poses_must_be_poses(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  frames[1].pose.position[1] = NAN;
  check_refused(motion, 3, "keyframe");
  motion = follow(frames);
  frames[2].pose.rotation[0] = 3;
  check_refused(motion, 3, "keyframe");
}

static void test_keyframe_times_must_be_finite(void **state) {
  (void)state;
  FloKeyframe frames[3];
  FloMotionDef motion = follow(frames);
  frames[0].time = -INFINITY;
  check_refused(motion, 3, "keyframe");
  motion = follow(frames);
  frames[2].time = INFINITY;
  check_refused(motion, 3, "keyframe");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_translation),
      cmocka_unit_test(test_rotation_about_a_centre),
      cmocka_unit_test(test_a_whole_turn_comes_back),
      cmocka_unit_test(test_a_quarter_turn_about_z),
      cmocka_unit_test(test_oscillation),
      cmocka_unit_test(test_keyframes_are_met_and_interpolated),
      cmocka_unit_test(test_keyframes_turn_the_short_way),
      cmocka_unit_test(test_keyframes_without_a_turn),
      cmocka_unit_test(test_motions_are_held_outside_their_time),
      cmocka_unit_test(test_keyframes_are_held_before_the_first_and_after_the_last),
      cmocka_unit_test(test_keyframes_are_held_outside_start_and_end_too),
      cmocka_unit_test(test_a_motion_of_no_length_is_always_held),
      cmocka_unit_test(test_an_endless_motion_is_still_exact_late),
      cmocka_unit_test(test_no_motion_is_rest),
      cmocka_unit_test(test_two_motions_have_the_derivatives_of_both),
      cmocka_unit_test(test_two_rotations_about_different_axes),
      cmocka_unit_test(test_motions_apply_in_order),
      cmocka_unit_test(test_sensible_motions_are_accepted),
      cmocka_unit_test(test_numbers_that_are_not_finite_are_refused),
      cmocka_unit_test(test_times_that_make_no_sense_are_refused),
      cmocka_unit_test(test_a_start_that_is_not_finite_is_refused),
      cmocka_unit_test(test_an_unknown_kind_is_refused),
      cmocka_unit_test(test_a_rotation_needs_an_axis),
      cmocka_unit_test(test_in_two_dimensions_motions_stay_in_the_plane),
      cmocka_unit_test(test_keyframes_in_two_dimensions_stay_in_the_plane),
      cmocka_unit_test(test_keyframe_times_must_rise),
      cmocka_unit_test(test_keyframe_poses_must_be_poses),
      cmocka_unit_test(test_keyframe_times_must_be_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
