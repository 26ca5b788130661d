// Everything that acts along the coordinate of a joint: motor, limits, friction, spring. See joint.h.
#include "base/core.h"
#include "bodies/joint.h"

#include <math.h>

// A hard limit that was passed is restored by at most this share of the excess in each step.
#define RESTORED 0.25

// ---- The law of a motor ----

static double law_of_keys(const FloJoint *joint, double time) {
  const FloMotorKey *keys = joint->keys;
  size_t n = joint->n_keys;
  if (time <= keys[0].time) return keys[0].value;
  for (size_t k = 1; k < n; ++k)
    if (time < keys[k].time)
      return keys[k - 1].value + (keys[k].value - keys[k - 1].value) * (time - keys[k - 1].time) /
                                     (keys[k].time - keys[k - 1].time);
  return keys[n - 1].value;
}

double flo_joint_law(const FloJoint *joint, double time) {
  const FloJointLive *live = &joint->live;
  double value = live->motor_value;
  if (live->motor_amplitude != 0)
    value += live->motor_amplitude * sin(2 * FLO_PI * live->motor_frequency * time + live->motor_phase);
  if (live->motor_has_keys != 0) value += law_of_keys(joint, time);
  return value;
}

static double motor_speed(const FloJoint *joint, const FloAxisStep *step) {
  double now = flo_joint_law(joint, step->time), next = flo_joint_law(joint, step->time + step->drift);
  if (joint->live.motor_kind == FLO_MOTOR_SPEED) return next;
  return (next - now) / step->drift + (now - step->coordinate) / fmax(joint->live.motor_time, step->drift);
}

// ---- Sticks ----

typedef struct Making {
  const FloAxisStep *step;
  bool only_pulls;
  int sides[FLO_JOINT_STICKS]; // 1: lower limit, -1: upper limit, 0: neither
  FloAxis *axis;
} Making;

static void add_stick(Making *making, FloStick stick, int side) {
  FloAxis *axis = making->axis;
  int k = axis->n_sticks++;
  for (; k > 0 && axis->sticks[k - 1].speed > stick.speed; --k) {
    axis->sticks[k] = axis->sticks[k - 1], making->sides[k] = making->sides[k - 1];
    if (axis->motor == k - 1) axis->motor = k;
  }
  axis->sticks[k] = stick, making->sides[k] = side;
}

// A part that gives at most `most` in both directions. A rope only pulls.
static FloStick strong_stick(const Making *making, double speed, double most) {
  return (FloStick){.speed = speed, .low = -most, .high = making->only_pulls ? 0 : most};
}

// Of a spring with damping: speed + softness * impulse = stick.speed. The force is that at the end of the
// step.
static FloStick soft_stick(const Making *making, double stiffness, double damping, double lack) {
  double both = making->step->drift * stiffness + damping;
  return (FloStick){.speed = stiffness * lack / both, .softness = 1 / (making->step->kick * both)};
}

// The same if velocities leap: the force is the mean of those at the last, the present and the next position
// with weights 1, 2, 1. That is of order two, and stable for any stiffness (Newmark 1959).
static FloStick leaping_stick(const Making *making, double stiffness, double damping, double lack) {
  const FloAxisStep *step = making->step;
  double pull = step->drift * stiffness / 4, drag = damping / 2;
  return (FloStick){.speed = (stiffness * lack + (pull - drag) * step->speed) / (pull + drag),
                    .softness = 1 / (step->kick * (pull + drag))};
}

// The speed that reaches a hard limit in this step. Beyond it the speed is bounded, since it remains as
// motion of the bodies when the limit is reached: it must not grow as steps become shorter.
static double speed_to_limit(const FloAxisStep *step, double lack, int side) {
  if (side * lack <= 0) return lack / step->drift;
  double excess = fabs(lack);
  return copysign(fmin(RESTORED * excess / step->drift, step->rate * fmin(excess, step->reach)), lack);
}

static void add_limit(const FloJoint *joint, Making *making, double limit, int side) {
  double lack = limit - making->step->coordinate;
  FloStick stick = {.speed = speed_to_limit(making->step, lack, side)};
  if (fabs(limit) >= FLO_JOINT_NONE) return;
  if (joint->live.limit_stiffness > 0) {
    stick = soft_stick(making, joint->live.limit_stiffness, joint->live.limit_damping, lack);
    stick.is_bend = true;
  }
  stick.low = side > 0 ? 0 : -INFINITY, stick.high = side > 0 ? INFINITY : 0;
  add_stick(making, stick, side);
}

static void add_motor(const FloJoint *joint, Making *making) {
  FloAxis *axis = making->axis;
  if (joint->live.motor_kind == FLO_MOTOR_FREE || !(joint->live.max_load > 0)) return;
  FloStick stick =
      strong_stick(making, motor_speed(joint, making->step), joint->live.max_load * making->step->kick);
  int n_before = 0;
  for (int k = 0; k < axis->n_sticks; ++k) n_before += axis->sticks[k].speed <= stick.speed;
  axis->has_motor = true, axis->pull = stick.low, axis->push = stick.high;
  add_stick(making, stick, 0);
  axis->motor = n_before;
}

// The coordinate does not move faster than a hard limit allows, so that sticks beyond it are never reached.
// They still push towards it.
static void cut_at_limits(Making *making) {
  FloAxis *axis = making->axis;
  int first = 0, end = axis->n_sticks;
  for (int k = 0; k < axis->n_sticks; ++k) {
    if (making->sides[k] > 0 && !axis->sticks[k].is_bend) first = k;
    if (making->sides[k] < 0 && !axis->sticks[k].is_bend && k + 1 < end) end = k + 1;
  }
  for (int k = 0; k < axis->n_sticks; ++k) {
    if (k < first) axis->given += axis->sticks[k].low;
    if (k >= end) axis->given += axis->sticks[k].high;
  }
  for (int k = first; k < end; ++k)
    axis->sticks[k - first] = axis->sticks[k], making->sides[k - first] = making->sides[k];
  axis->n_sticks = end - first, axis->motor -= first;
}

// The part of stick `other` at the speed of stick k. Motors and friction that hold a higher speed push up as
// much as they can, those of lower speeds push down.
static double part_at(const FloAxis *axis, int other, int k) {
  const FloStick *stick = &axis->sticks[other];
  if (!stick->is_bend) return other > k ? stick->high : stick->low;
  double push = (stick->speed - axis->sticks[k].speed) / stick->softness;
  return fmax(fmin(push, stick->high), stick->low);
}

static void set_ranges(Making *making) {
  FloAxis *axis = making->axis;
  for (int k = 0; k < axis->n_sticks; ++k) {
    FloStick *stick = &axis->sticks[k];
    stick->start = axis->given;
    for (int other = 0; other < axis->n_sticks; ++other)
      if (other != k) stick->start += part_at(axis, other, k);
    stick->base = stick->start + (stick->is_bend ? 0 : stick->low);
    stick->top = stick->start + (stick->is_bend ? 0 : stick->high);
  }
  // A soft lower limit pushes in all gaps below its bend, an upper one in those above it.
  for (int k = 0; k < axis->n_sticks; ++k)
    for (int gap = 0; axis->sticks[k].is_bend && gap <= axis->n_sticks; ++gap)
      if (making->sides[k] > 0 ? gap <= k : gap > k) axis->slopes[gap] += 1 / axis->sticks[k].softness;
}

static void make_spring(const FloJoint *joint, Making *making) {
  const FloJointLive *live = &joint->live;
  FloAxis *axis = making->axis;
  axis->piece = 0;
  if (!(live->stiffness + live->damping > 0)) return;
  double lack = live->length - making->step->coordinate;
  axis->sticks[0] = making->step->leaps ? leaping_stick(making, live->stiffness, live->damping, lack)
                                        : soft_stick(making, live->stiffness, live->damping, lack);
  axis->sticks[0].base = axis->sticks[0].low = -INFINITY;
  axis->sticks[0].top = axis->sticks[0].high = INFINITY;
  axis->n_sticks = 1, axis->piece = 1;
}

// The piece that has a speed.
static int piece_at(const FloAxis *axis, double speed) {
  int k = 0;
  while (k < axis->n_sticks && axis->sticks[k].speed < speed) ++k;
  return k < axis->n_sticks && axis->sticks[k].speed == speed ? 2 * k + 1 : 2 * k;
}

// The piece of the last step is tried first, if there is one like it. Otherwise it is that of the present
// speed: what rests sticks.
static void choose_piece(const FloJoint *joint, double speed, FloAxis *axis) {
  int piece = (int)joint->live.piece;
  axis->piece = piece >= 0 && piece <= 2 * axis->n_sticks ? piece : piece_at(axis, speed);
  if (flo_axis_sticks(axis) && axis->sticks[axis->piece / 2].is_bend) ++axis->piece;
  if (flo_axis_is_known(axis) && !isfinite(flo_axis_slide(axis))) axis->piece += axis->piece > 0 ? -1 : 1;
}

void flo_axis_make(const FloJoint *joint, const FloAxisStep *step, FloAxis *axis) {
  Making making = {.step = step, .only_pulls = joint->form->only_pulls, .axis = axis};
  *axis = (FloAxis){.motor = -1};
  if (joint->form->is_spring) {
    make_spring(joint, &making);
    return;
  }
  if (joint->live.friction > 0)
    add_stick(&making, strong_stick(&making, 0, joint->live.friction * step->kick), 0);
  add_limit(joint, &making, joint->live.low, 1);
  add_limit(joint, &making, joint->live.high, -1);
  add_motor(joint, &making);
  cut_at_limits(&making);
  set_ranges(&making);
  choose_piece(joint, step->speed, axis);
}

// ---- Pieces ----

double flo_axis_slide(const FloAxis *axis) {
  if (axis->n_sticks == 0) return 0;
  int gap = axis->piece / 2;
  return gap < axis->n_sticks ? axis->sticks[gap].top : axis->sticks[gap - 1].base;
}

FloAxisLine flo_axis_line(const FloAxis *axis) {
  const int k = axis->piece / 2;
  if (flo_axis_sticks(axis))
    return (FloAxisLine){axis->sticks[k].speed, axis->sticks[k].softness, axis->sticks[k].start};
  const FloStick *stick = &axis->sticks[k < axis->n_sticks ? k : k - 1];
  return (FloAxisLine){stick->speed, 1 / axis->slopes[k], flo_axis_slide(axis)};
}

// The piece beside the present one, without bends.
static int beside(const FloAxis *axis, int way) {
  const int next = axis->piece + way;
  return next % 2 == 1 && axis->sticks[next / 2].is_bend ? next + way : next;
}

int flo_axis_next(const FloAxis *axis, double impulse, double speed, FloAxisSlack slack) {
  const int k = axis->piece / 2;
  if (flo_axis_sticks(axis)) {
    const FloStick *stick = &axis->sticks[k];
    if (impulse > stick->top + 1e-12 * fabs(stick->top) + slack.impulse) return beside(axis, -1);
    if (impulse < stick->base - 1e-12 * fabs(stick->base) - slack.impulse) return beside(axis, 1);
    return axis->piece;
  }
  const double room = 1e-12 * fabs(speed) + slack.speed;
  if (k < axis->n_sticks && speed > axis->sticks[k].speed + room) return beside(axis, 1);
  if (k > 0 && speed < axis->sticks[k - 1].speed - room) return beside(axis, -1);
  return axis->piece;
}

double flo_axis_motor(const FloAxis *axis, double impulse) {
  if (!axis->has_motor) return 0;
  int piece = 2 * axis->motor + 1;
  if (axis->piece == piece) return impulse - axis->sticks[axis->motor].start;
  return axis->piece < piece ? axis->push : axis->pull;
}
