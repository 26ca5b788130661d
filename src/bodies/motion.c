#include "bodies/motion.h"

#include "base/pose.h"

FloMotionDef flo_default_motion_def(void) { return (FloMotionDef){.end = INFINITY}; }

static FloStatus check_keyframes(const FloMotionDef *motion, int dim, FloError *error) {
  if (motion->n_keyframes && !motion->keyframes)
    return flo_fail(error, FLO_BAD_INPUT, "motion: its keyframes are NULL");
  for (size_t k = 0; k < motion->n_keyframes; ++k)
    FLO_TRY(flo_pose_check(&motion->keyframes[k].pose, dim, "motion: keyframe", error));
  if (motion->n_keyframes < 2)
    return flo_fail(error, FLO_BAD_INPUT, "motion: at least two keyframes are needed");
  if (!isfinite(motion->keyframes[0].time) || !isfinite(motion->keyframes[motion->n_keyframes - 1].time))
    return flo_fail(error, FLO_BAD_INPUT, "motion: keyframe times must be finite");
  for (size_t k = 1; k < motion->n_keyframes; ++k)
    if (!(motion->keyframes[k].time > motion->keyframes[k - 1].time))
      return flo_fail(error, FLO_BAD_INPUT, "motion: keyframe times must rise, but %g s follows %g s",
                      motion->keyframes[k].time, motion->keyframes[k - 1].time);
  return FLO_OK;
}

static FloStatus check_rotation(const FloMotionDef *motion, int dim, FloError *error) {
  if (!(vec_length(motion->vector) > 0))
    return flo_fail(error, FLO_BAD_INPUT, "motion: the rotation axis has no length");
  if (dim == 2 && (motion->vector[0] != 0 || motion->vector[1] != 0))
    return flo_fail(error, FLO_BAD_INPUT, "motion: in two dimensions only rotation about z is possible");
  return FLO_OK;
}

FloStatus flo_motion_check(const FloMotionDef *motion, int dim, FloError *error) {
  const double scalars[3] = {motion->rate, motion->frequency, motion->phase};
  if (!vec_is_finite(motion->vector) || !vec_is_finite(motion->centre) || !vec_is_finite(scalars))
    return flo_fail(error, FLO_BAD_INPUT, "motion: all numbers must be finite");
  if (!isfinite(motion->start)) return flo_fail(error, FLO_BAD_INPUT, "motion: its start must be finite");
  if (!(motion->start <= motion->end))
    return flo_fail(error, FLO_BAD_INPUT, "motion: it ends before it starts");
  if (motion->kind == FLO_MOTION_KEYFRAMES) return check_keyframes(motion, dim, error);
  if (motion->kind == FLO_MOTION_ROTATE) return check_rotation(motion, dim, error);
  if (motion->kind != FLO_MOTION_TRANSLATE && motion->kind != FLO_MOTION_OSCILLATE)
    return flo_fail(error, FLO_BAD_INPUT, "motion: unknown kind %d", (int)motion->kind);
  if (dim == 2 && motion->vector[2] != 0)
    return flo_fail(error, FLO_BAD_INPUT, "motion: in two dimensions bodies cannot move along z");
  return FLO_OK;
}

FloStatus flo_motion_check_start(const FloBodyDef *def, int dim, FloError *error) {
  bool leaves = def->velocity[2] != 0 || def->angular_velocity[0] != 0 || def->angular_velocity[1] != 0;
  if (!vec_is_finite(def->velocity) || !vec_is_finite(def->angular_velocity) || (dim == 2 && leaves))
    return flo_fail(error, FLO_BAD_INPUT,
                    "velocity: (%g, %g, %g) m/s and (%g, %g, %g) rad/s are not finite, or leave the plane",
                    def->velocity[0], def->velocity[1], def->velocity[2], def->angular_velocity[0],
                    def->angular_velocity[1], def->angular_velocity[2]);
  if (!(def->release >= 0))
    return flo_fail(error, FLO_BAD_INPUT, "release: must be >= 0, got %g", def->release);
  return FLO_OK;
}

static void rotate_about(const FloMotionDef *motion, double elapsed, bool is_active, FloBodyState *s) {
  double turn[4], arm[3], omega[3], lever[3];
  quat_from_axis_angle(motion->vector, motion->rate * elapsed, turn);
  vec_sub(s->pose.position, motion->centre, arm);
  quat_rotate(turn, arm, arm);
  vec_add(motion->centre, arm, s->pose.position);
  quat_multiply(turn, s->pose.rotation, s->pose.rotation);
  // The velocities of earlier motions turn with the body, and the rotation adds its own:
  // d/dt (c + R (x - c)) = R v + omega x arm.
  quat_rotate(turn, s->velocity, s->velocity);
  quat_rotate(turn, s->angular_velocity, s->angular_velocity);
  if (!is_active) return;
  vec_scale(motion->vector, motion->rate / vec_length(motion->vector), omega);
  vec_cross(omega, arm, lever);
  vec_add(s->velocity, lever, s->velocity);
  vec_add(s->angular_velocity, omega, s->angular_velocity);
}

// The rotation from a to b along the shortest arc, as axis times angle.
static void rotation_vector(const double a[4], const double b[4], double out[3]) {
  double turn[4];
  quat_between(a, b, turn);
  quat_to_vector(turn, out);
}

static void follow_keyframes(const FloMotionDef *motion, double time, bool is_active, FloBodyState *s) {
  const FloKeyframe *frames = motion->keyframes;
  size_t last = motion->n_keyframes - 1, k = 0;
  while (k + 1 < last && time >= frames[k + 1].time) ++k;
  const FloKeyframe *a = &frames[k], *b = &frames[k + 1];
  double span = b->time - a->time, share = fmin(fmax((time - a->time) / span, 0), 1);
  double step[3], turn[3], part[4];
  vec_sub(b->pose.position, a->pose.position, step);
  rotation_vector(a->pose.rotation, b->pose.rotation, turn);
  vec_add_scaled(a->pose.position, step, share, s->pose.position);
  quat_copy(a->pose.rotation, s->pose.rotation);
  if (vec_length(turn) > 0) {
    quat_from_axis_angle(turn, vec_length(turn) * share, part);
    quat_multiply(part, a->pose.rotation, s->pose.rotation);
  }
  is_active = is_active && time >= frames[0].time && time < frames[last].time;
  vec_scale(step, is_active ? 1 / span : 0, s->velocity);
  vec_scale(turn, is_active ? 1 / span : 0, s->angular_velocity);
}

static void apply_motion(const FloMotionDef *motion, double time, FloBodyState *s) {
  double elapsed = fmin(fmax(time, motion->start), motion->end) - motion->start;
  bool is_active = time >= motion->start && time < motion->end;
  double phase = 2 * FLO_PI * motion->frequency * elapsed + motion->phase;
  switch (motion->kind) {
  case FLO_MOTION_TRANSLATE:
    vec_add_scaled(s->pose.position, motion->vector, elapsed, s->pose.position);
    vec_add_scaled(s->velocity, motion->vector, is_active ? 1 : 0, s->velocity);
    return;
  case FLO_MOTION_OSCILLATE:
    vec_add_scaled(s->pose.position, motion->vector, sin(phase), s->pose.position);
    vec_add_scaled(s->velocity, motion->vector, is_active ? 2 * FLO_PI * motion->frequency * cos(phase) : 0,
                   s->velocity);
    return;
  case FLO_MOTION_ROTATE:
    rotate_about(motion, elapsed, is_active, s);
    return;
  case FLO_MOTION_KEYFRAMES:
    follow_keyframes(motion, motion->start + elapsed, is_active, s);
    return;
  }
}

void flo_motion_evaluate(const FloMotionDef *motions, size_t n_motions, const FloPose *start, double time,
                         FloBodyState *state) {
  *state = (FloBodyState){.pose = *start};
  for (size_t k = 0; k < n_motions; ++k) apply_motion(&motions[k], time, state);
  quat_normalise(state->pose.rotation);
}

static double fastest_keyframes(const FloMotionDef *motion, double reach) {
  double fastest = 0;
  for (size_t k = 1; k < motion->n_keyframes; ++k) {
    const FloKeyframe *a = &motion->keyframes[k - 1], *b = &motion->keyframes[k];
    double step[3], turn[3];
    vec_sub(b->pose.position, a->pose.position, step);
    rotation_vector(a->pose.rotation, b->pose.rotation, turn);
    fastest = fmax(fastest, (vec_length(step) + vec_length(turn) * reach) / (b->time - a->time));
  }
  return fastest;
}

double flo_motion_max_speed(const FloMotionDef *motions, size_t n_motions, const FloPose *start,
                            double reach) {
  double sum = 0;
  for (size_t k = 0; k < n_motions; ++k) {
    const FloMotionDef *m = &motions[k];
    double arm[3];
    vec_sub(start->position, m->centre, arm);
    if (m->kind == FLO_MOTION_TRANSLATE) sum += vec_length(m->vector);
    if (m->kind == FLO_MOTION_OSCILLATE) sum += 2 * FLO_PI * fabs(m->frequency) * vec_length(m->vector);
    if (m->kind == FLO_MOTION_ROTATE) sum += fabs(m->rate) * (vec_length(arm) + reach);
    if (m->kind == FLO_MOTION_KEYFRAMES) sum += fastest_keyframes(m, reach);
  }
  return sum;
}
