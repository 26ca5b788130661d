// Joints: what holds two bodies together, and the table that makes a kind of joint.
//
// A joint is a number of rows. A row measures a quantity g of the poses of two bodies that must stay zero:
// its rate is J v, and its multiplier is the impulse with which the row acts. A kind may also have a
// coordinate: one more row that measures how far the joint has moved. Motors, limits, friction and springs
// act along it.
//
// Side 0 is the body that the joint leads to, or the world; side 1 is the joint's own body.
#ifndef FLO_BODIES_JOINT_H
#define FLO_BODIES_JOINT_H

#include "base/memory.h"
#include "base/vecmath.h"

#include <math.h>

enum { FLO_JOINT_ROWS = 6, FLO_JOINT_STICKS = 4 };

// "None" for limits and loads, so that all numbers of a joint are finite and can be saved.
#define FLO_JOINT_NONE 1e18
static inline double flo_joint_finite(double value) {
  return fmax(fmin(value, FLO_JOINT_NONE), -FLO_JOINT_NONE);
}
// The piece of an axis before the first step.
#define FLO_JOINT_NO_PIECE (-1)

// The motion of the body at one side, or of the world, which stands still.
typedef struct FloJointEnd {
  double position[3], rotation[4]; // of the centre of mass
  double velocity[3], spin[3];
} FloJointEnd;

// Where the joint is at one side.
typedef struct FloJointSide {
  uint32_t body;  // UINT32_MAX: the world
  double arm[3];  // from the centre of mass, in the axes of the body [m]
  double axes[4]; // rotation of the joint's axes in those of the body; the joint's axis is z
} FloJointSide;

// The joint in the present poses of its bodies.
typedef struct FloJointView {
  const FloJointEnd *ends[2];
  double arms[2][3], points[2][3];
  double axes[2][3][3];
  double apart[3];    // from point 0 to point 1 [m]
  double parting[3];  // its rate [m/s]
  double pulls[2][3]; // acceleration of each point by the turning of its body: w x (w x arm) [m/s²]
} FloJointView;

typedef struct FloJointRow {
  double j[2][6];   // the rate per unit of the six velocities of each side
  double violation; // g, or the coordinate [m or rad]
  double rate;      // dg/dt
  double bend;      // d²g/dt² while no body accelerates
} FloJointRow;

// Parts that change during a run: all of them are saved.
typedef struct FloJointLive {
  double is_released, is_broken, n_changed;
  double motor_kind, motor_value, motor_amplitude, motor_frequency, motor_phase, motor_has_keys;
  double max_load, motor_time;
  double low, high, limit_stiffness, limit_damping, friction;
  double stiffness, damping, length;
  double break_force, break_torque;
  double coordinate; // at the start of the last step; angles are counted on over full turns
  double piece;      // of the axis that was active in the last step; see FloAxis; FLO_JOINT_NO_PIECE: unknown
  double work, motor_load, motor_power, speed;
  double force[3], torque[3];
  double sums[8]; // force, torque, motor load and power times time since averages were restarted
  double peak_force, peak_torque; // largest ones of a step since averages were restarted
} FloJointLive;

typedef struct FloJointForm FloJointForm;

typedef struct FloJoint {
  char name[64];
  const FloJointForm *form;
  FloJointSide sides[2];
  uint32_t joints[2]; // of a gear
  double ratio, sum;  // of a gear: first + ratio * second = sum
  bool is_idle;       // a gear that does not act, since one of its joints does not
  double lever;       // way per angle of its body: its radius of gyration about the joint's point [m]
  FloJointTouch touch;
  FloMotorKey *keys;
  size_t n_keys;
  FloJointChange *changes;
  size_t n_changes;
  bool is_removed; // it is released for ever, and its id is not valid any more
  void *user_data;
  FloJointLive live;
} FloJoint;

// A kind of joint.
struct FloJointForm {
  const char *name;
  FloJointKind kind;
  int n_rows;   // besides the coordinate
  int n_points; // of these, the first ones measure distances; the others measure angles
  bool has_axis, has_second_axis, has_other_end; // parts of the definition that it reads
  bool has_coordinate, is_angle;
  bool is_spring, has_length;
  bool is_gear, only_pulls;
  bool lets_pass;             // its bodies are in touch at the joint, so that they pass through each other
  bool has_torque, has_force; // loads that it may bear
  void (*rows)(const FloJoint *, const FloJointView *, FloJointRow *rows);
  void (*coordinate)(const FloJoint *, const FloJointView *, FloJointRow *row);
};

extern const FloJointForm flo_joint_hinge, flo_joint_slider, flo_joint_cylindrical, flo_joint_ball,
    flo_joint_universal, flo_joint_fixed, flo_joint_distance, flo_joint_rope, flo_joint_point_on_line,
    flo_joint_point_on_plane, flo_joint_gear, flo_joint_spring, flo_joint_turn_spring;
const FloJointForm *flo_joint_form(FloJointKind kind); // NULL: no such kind

static inline bool flo_joint_is_active(const FloJoint *joint) {
  return joint->live.is_released == 0 && joint->live.is_broken == 0 && !joint->is_idle;
}
// Whether motors, limits and friction act along a coordinate.
static inline bool flo_joint_has_drive(const FloJointForm *form) {
  return form->has_coordinate && !form->is_spring;
}
// Number of rows with the coordinate.
static inline uint32_t flo_joint_width(const FloJoint *joint) {
  return (uint32_t)joint->form->n_rows + joint->form->has_coordinate;
}

// ---- Parts of rows that kinds share (joint.c) ----

void flo_joint_view(const FloJoint *joint, const FloJointEnd *to, const FloJointEnd *body,
                    FloJointView *view);
// The distance of the points along axis k of side 0.
void flo_joint_along(const FloJointView *view, int axis, FloJointRow *row);
// The cosine between axis a of side 0 and axis b of side 1: zero while they are square.
void flo_joint_square(const FloJointView *view, int a, int b, FloJointRow *row);
// All three points together, and no turning.
void flo_joint_together(const FloJointView *view, FloJointRow rows[3]);
void flo_joint_aligned(const FloJointView *view, FloJointRow rows[3]);
// The distance of the points in a straight line.
void flo_joint_apart(const FloJointView *view, FloJointRow *row);
// The angle about the joint's axis.
void flo_joint_turned(const FloJointView *view, FloJointRow *row);
// An angle plus as many full turns as bring it nearest to the last one.
double flo_joint_unwrap(const FloJoint *joint, double coordinate);

// ---- The axis: everything that acts along the coordinate, as one row (joint_axis.c) ----
//
// The impulse along the coordinate falls as its speed rises, in pieces. It is the sum of parts: a motor, with
// which the impulse drops from its largest to its least value at the speed that the motor keeps; friction,
// the same at rest; hard limits, without bound at the speed that just reaches them; soft limits, which push
// back the more the higher the speed is. At a *stick* the speed is held, and the impulse is anything between
// `base` and `top`. In a gap between two sticks the impulse is constant, or falls with the *slope* of soft
// limits. Piece 2 k + 1 is stick k; piece 2 k is the gap below stick k. A soft limit begins at a *bend*: a
// stick where the impulse does not drop, so that it is no piece.
typedef struct FloStick {
  double speed, base, top;
  double low, high; // bounds of the impulse of its part alone
  double softness;  // of a spring or soft limit: its part is (`speed` - speed) / softness
  double start;     // impulse of all other parts at this speed
  bool is_bend;
} FloStick;

typedef struct FloAxis {
  int n_sticks, piece;
  int motor; // stick of the motor; outside the sticks if a limit is nearer
  bool has_motor;
  double pull, push; // least and largest impulse of the motor
  double given;      // impulse of parts beyond hard limits
  FloStick sticks[FLO_JOINT_STICKS];
  double slopes[FLO_JOINT_STICKS + 1]; // of each gap: impulse per speed
} FloAxis;

// The line of a piece: speed = `speed` - softness (impulse - start).
typedef struct FloAxisLine {
  double speed, softness, start;
} FloAxisLine;

// A step along the coordinate: velocities change for `kick` seconds, then poses for `drift`.
typedef struct FloAxisStep {
  double coordinate, speed; // at its start
  double time, drift, kick; // [s]
  bool leaps;               // velocities are those in the middle between two positions
  // A limit that was passed is reached again at this rate times the excess, which counts up to `reach`.
  double rate, reach; // [1/s], [m or rad]
} FloAxisStep;

void flo_axis_make(const FloJoint *joint, const FloAxisStep *step, FloAxis *axis);
static inline bool flo_axis_sticks(const FloAxis *axis) { return axis->piece % 2 == 1; }
// Whether the speed is held, and does not yield to the impulse.
static inline bool flo_axis_holds(const FloAxis *axis) {
  return flo_axis_sticks(axis) && axis->sticks[axis->piece / 2].softness == 0;
}
// Whether the impulse of the present piece is known, as in a gap without slope.
static inline bool flo_axis_is_known(const FloAxis *axis) {
  return !flo_axis_sticks(axis) && axis->slopes[axis->piece / 2] == 0;
}
// That impulse.
double flo_axis_slide(const FloAxis *axis);
// The line of a piece whose impulse is not known.
FloAxisLine flo_axis_line(const FloAxis *axis);
// What is too little to matter: a speed, and the impulse that causes it.
typedef struct FloAxisSlack {
  double speed, impulse;
} FloAxisSlack;
// The piece to try next, with the impulse and the speed that the present piece gave. The same piece if they
// fit it within the slack and rounding.
int flo_axis_next(const FloAxis *axis, double impulse, double speed, FloAxisSlack slack);
// The part of the motor in the impulse.
double flo_axis_motor(const FloAxis *axis, double impulse);
// What the motor wants at a time.
double flo_joint_law(const FloJoint *joint, double time);

// ---- Changes (joint.c) ----

FloStatus flo_joint_check_part(const FloJoint *joint, FloJointPart part, double value, FloError *error);
void flo_joint_set_part(FloJoint *joint, FloJointPart part, double value);

// ---- Saved states (joint_live.c) ----

// Fails unless these numbers are possible for this joint.
FloStatus flo_joint_check_live(const FloJoint *joint, const FloJointLive *live, FloError *error);

#endif
