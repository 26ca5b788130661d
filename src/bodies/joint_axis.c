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
  double half[FLO_JOINT_STICKS]; // half of the range of motors and friction; 0 for limits
  int sides[FLO_JOINT_STICKS];   // 1: lower limit, -1: upper limit, 0: neither
  FloAxis *axis;
} Making;

static void add_stick(Making *making, FloStick stick, double half, int side) {
  FloAxis *axis = making->axis;
  int k = axis->n_sticks++;
  for (; k > 0 && axis->sticks[k - 1].speed > stick.speed; --k) {
    axis->sticks[k] = axis->sticks[k - 1];
    making->half[k] = making->half[k - 1], making->sides[k] = making->sides[k - 1];
    if (axis->motor == k - 1) axis->motor = k;
  }
  axis->sticks[k] = stick, making->half[k] = half, making->sides[k] = side;
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
  if (fabs(limit) >= FLO_JOINT_NONE) return;
  if (joint->live.limit_stiffness > 0) {
    add_stick(making, soft_stick(making, joint->live.limit_stiffness, joint->live.limit_damping, lack), 0,
              side);
    return;
  }
  add_stick(making, (FloStick){.speed = speed_to_limit(making->step, lack, side)}, 0, side);
}

static void add_motor(const FloJoint *joint, Making *making) {
  FloAxis *axis = making->axis;
  if (joint->live.motor_kind == FLO_MOTOR_FREE || !(joint->live.max_load > 0)) return;
  FloStick stick = {.speed = motor_speed(joint, making->step)};
  int n_before = 0;
  for (int k = 0; k < axis->n_sticks; ++k) n_before += axis->sticks[k].speed <= stick.speed;
  axis->motor_impulse = joint->live.max_load * making->step->kick;
  add_stick(making, stick, axis->motor_impulse, 0);
  axis->motor = n_before;
}

// Motors and friction that hold a higher speed push up as much as they can, those of lower speeds push down.
static void set_ranges(Making *making) {
  FloAxis *axis = making->axis;
  for (int k = 0; k < axis->n_sticks; ++k) {
    double sum = 0;
    for (int other = 0; other < axis->n_sticks; ++other)
      if (other != k) sum += other > k ? making->half[other] : -making->half[other];
    FloStick *stick = &axis->sticks[k];
    stick->base = making->sides[k] < 0 ? -INFINITY : sum - making->half[k];
    stick->top = making->sides[k] > 0 ? INFINITY : sum + making->half[k];
    stick->start = sum;
  }
}

// The coordinate does not move faster than a limit allows, so that sticks beyond a limit are never reached.
// They still push towards it.
static void cut_at_limits(Making *making) {
  FloAxis *axis = making->axis;
  int first = 0, end = axis->n_sticks;
  for (int k = 0; k < axis->n_sticks; ++k) {
    if (making->sides[k] > 0) first = k;
    if (making->sides[k] < 0 && k + 1 < end) end = k + 1;
  }
  for (int k = first; k < end; ++k) axis->sticks[k - first] = axis->sticks[k];
  axis->n_sticks = end - first, axis->motor -= first;
}

static void make_spring(const FloJoint *joint, Making *making) {
  const FloJointLive *live = &joint->live;
  FloAxis *axis = making->axis;
  axis->piece = 0;
  if (!(live->stiffness + live->damping > 0)) return;
  double lack = live->length - making->step->coordinate;
  axis->sticks[0] = making->step->leaps ? leaping_stick(making, live->stiffness, live->damping, lack)
                                        : soft_stick(making, live->stiffness, live->damping, lack);
  axis->sticks[0].base = -INFINITY, axis->sticks[0].top = INFINITY;
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
  if (!flo_axis_sticks(axis) && !isfinite(flo_axis_slide(axis))) axis->piece += axis->piece > 0 ? -1 : 1;
}

void flo_axis_make(const FloJoint *joint, const FloAxisStep *step, FloAxis *axis) {
  Making making = {.step = step, .axis = axis};
  *axis = (FloAxis){.motor = -1};
  if (joint->form->is_spring) {
    make_spring(joint, &making);
    return;
  }
  if (joint->live.friction > 0)
    add_stick(&making, (FloStick){.speed = 0}, joint->live.friction * step->kick, 0);
  add_limit(joint, &making, joint->live.low, 1);
  add_limit(joint, &making, joint->live.high, -1);
  add_motor(joint, &making);
  set_ranges(&making);
  cut_at_limits(&making);
  choose_piece(joint, step->speed, axis);
}

// ---- Pieces ----

double flo_axis_slide(const FloAxis *axis) {
  if (axis->n_sticks == 0) return 0;
  int gap = axis->piece / 2;
  return gap < axis->n_sticks ? axis->sticks[gap].top : axis->sticks[gap - 1].base;
}

int flo_axis_next(const FloAxis *axis, double impulse, double speed, FloAxisSlack slack) {
  const int k = axis->piece / 2;
  if (flo_axis_sticks(axis)) {
    const FloStick *stick = &axis->sticks[k];
    if (impulse > stick->top + 1e-12 * fabs(stick->top) + slack.impulse) return axis->piece - 1;
    if (impulse < stick->base - 1e-12 * fabs(stick->base) - slack.impulse) return axis->piece + 1;
    return axis->piece;
  }
  const double room = 1e-12 * fabs(speed) + slack.speed;
  if (k < axis->n_sticks && speed > axis->sticks[k].speed + room) return axis->piece + 1;
  if (k > 0 && speed < axis->sticks[k - 1].speed - room) return axis->piece - 1;
  return axis->piece;
}

double flo_axis_motor(const FloAxis *axis, double impulse) {
  if (!(axis->motor_impulse > 0)) return 0;
  int piece = 2 * axis->motor + 1;
  if (axis->piece == piece) return impulse - axis->sticks[axis->motor].start;
  return axis->piece < piece ? axis->motor_impulse : -axis->motor_impulse;
}
