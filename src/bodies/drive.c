#include "bodies/drive.h"

#include "base/pose.h"
#include "bodies/motion.h"
#include "bodies/rigid.h"

// Even motion from one pose to another is a motion of two keyframes.
static void follow_target(const FloDrive *drive, double time, FloBodyState *state) {
  const FloKeyframe frames[2] = {{drive->start, drive->from}, {drive->end, drive->to}};
  const FloMotionDef motion = {.kind = FLO_MOTION_KEYFRAMES,
                               .start = drive->start,
                               .end = drive->end,
                               .keyframes = frames,
                               .n_keyframes = 2};
  flo_motion_evaluate(&motion, 1, &drive->from, time, state);
}

void flo_drive_evaluate(const FloDrive *drive, double time, FloBodyState *state) {
  if (drive->kind == FLO_DRIVE_TARGET) {
    follow_target(drive, time, state);
    return;
  }
  const double elapsed = time - drive->start;
  vec_add_scaled(drive->from.position, drive->velocity, elapsed, state->pose.position);
  flo_rigid_turn(drive->from.rotation, drive->spin, elapsed, state->pose.rotation);
  vec_copy(drive->velocity, state->velocity);
  vec_copy(drive->spin, state->angular_velocity);
}

double flo_drive_speed(const FloDrive *drive, double reach) {
  FloBodyState state = {0};
  flo_drive_evaluate(drive, drive->start, &state);
  return vec_length(state.velocity) + reach * vec_length(state.angular_velocity);
}
