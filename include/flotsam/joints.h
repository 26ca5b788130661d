// Joints and motors: definitions and answers.
//
// A joint acts between a body and another body, `to`, or the world. Its coordinate measures how the body
// moves relative to `to`: an angle about the axis [rad], or a distance [m].
#ifndef FLOTSAM_JOINTS_H
#define FLOTSAM_JOINTS_H

#include "types.h"

typedef enum FloJointKind {
  FLO_JOINT_HINGE,          // the body turns about the axis. Coordinate: angle
  FLO_JOINT_SLIDER,         // the body slides along the axis and does not turn. Coordinate: distance
  FLO_JOINT_CYLINDRICAL,    // the body turns about the axis and slides along it. Coordinate: distance
  FLO_JOINT_BALL,           // the points stay together
  FLO_JOINT_UNIVERSAL,      // the points stay together; axis (of `to`) and axis2 (of the body) stay square
  FLO_JOINT_FIXED,          // the body keeps its place and rotation relative to `to`
  FLO_JOINT_DISTANCE,       // a rod: the distance between the points stays. Coordinate: distance
  FLO_JOINT_ROPE,           // the distance between the points is at most `length`. Coordinate: distance
  FLO_JOINT_POINT_ON_LINE,  // the point of the body stays on the line of `to`. Coordinate: distance along it
  FLO_JOINT_POINT_ON_PLANE, // the point of the body stays on the plane of `to` that the axis is normal to
  FLO_JOINT_GEAR,           // coordinates of two joints: first + ratio * second stays what it is at the start
  FLO_JOINT_SPRING,         // a spring with damping between two points. Coordinate: distance
  FLO_JOINT_TURN_SPRING,    // a spring with damping about the axis. Coordinate: angle
  FLO_JOINT_COUNT
} FloJointKind;

typedef enum FloMotorKind {
  FLO_MOTOR_FREE,     // there is no motor, or it is switched off
  FLO_MOTOR_SPEED,    // it keeps a speed of the coordinate [rad/s or m/s]
  FLO_MOTOR_POSITION, // it seeks a value of the coordinate [rad or m]
} FloMotorKind;

// A point of a law over time; the law is linear in between, and constant before and after.
typedef struct FloMotorKey {
  double time, value;
} FloMotorKey;

// What a motor wants at time t: value + amplitude * sin(2 pi frequency t + phase) + the law of the keys.
typedef struct FloMotorDef {
  FloMotorKind kind;
  double value;            // [rad/s or m/s], or [rad or m]
  double amplitude;        // unit of value
  double frequency;        // [Hz]
  double phase;            // [rad]
  const FloMotorKey *keys; // copied; strictly rising times
  size_t n_keys;
  double max_load; // largest torque [N m] or force [N]; > 0, or INFINITY: whatever is needed
  double time; // POSITION: a difference from the wanted position decays with this time [s]; larger is softer
} FloMotorDef;

// Parts of a joint that may change during a run.
typedef enum FloJointPart {
  FLO_JOINT_RELEASE,        // value > 0: the joint acts no more; 0: it acts again, unless it is broken
  FLO_JOINT_MOTOR_SPEED,    // a motor that keeps this speed; its law over time ends
  FLO_JOINT_MOTOR_POSITION, // a motor that seeks this position; its law over time ends
  FLO_JOINT_MOTOR_FREE,     // no motor; the value is not read
  FLO_JOINT_MAX_LOAD,       // of the motor
  FLO_JOINT_LIMIT_LOW,
  FLO_JOINT_LIMIT_HIGH,
  FLO_JOINT_FRICTION,
  FLO_JOINT_STIFFNESS, // of a spring
  FLO_JOINT_DAMPING,   // of a spring
  FLO_JOINT_LENGTH,    // of a rod, rope or spring, or the angle at which a turning spring is at rest
  FLO_JOINT_BREAK_FORCE,
  FLO_JOINT_BREAK_TORQUE,
  FLO_JOINT_PART_COUNT
} FloJointPart;

// At `time` a part of the joint gets a new value.
typedef struct FloJointChange {
  double time; // [s]
  FloJointPart part;
  double value;
} FloJointChange;

// Whether the two bodies of a joint touch each other or pass through each other.
typedef enum FloJointTouch {
  FLO_TOUCH_BY_KIND, // they pass, unless the joint is a DISTANCE, ROPE, SPRING or TURN_SPRING
  FLO_TOUCH_YES,     // whatever other joints of the two bodies say
  FLO_TOUCH_NO
} FloJointTouch;

typedef struct FloJointDef {
  const char *name; // copied; shown in reports
  FloJointKind kind;
  FloBodyId body; // a DYNAMIC body
  FloBodyId to;   // any other body; zeroed: the world
  double at[3];   // where the joint is, in the world, with the bodies in their present poses [m]
  bool has_to_at; // `to_at` is given; DISTANCE, ROPE and SPRING need it
  double
      to_at[3]; // the joint's point at `to`, if it is another one: the other end, or a point still apart [m]
  bool closes;  // parts that do not meet at the start are pulled together; otherwise they are refused
  double axis[3];       // in the world; any length > 0
  double axis2[3];      // UNIVERSAL: square to axis
  double length;        // DISTANCE, ROPE, SPRING: [m], TURN_SPRING: [rad]; < 0: as it is now (TURN_SPRING: 0)
  double ratio;         // GEAR
  FloJointId joints[2]; // GEAR: joints with a coordinate
  FloMotorDef motor;
  double low, high;              // limits of the coordinate [rad or m]; -INFINITY, INFINITY: none
  double limit_stiffness;        // [N m/rad or N/m]; 0: limits are hard
  double limit_damping;          // [N m s/rad or N s/m]
  double friction;               // largest torque [N m] or force [N] by which the joint resists motion
  double stiffness;              // springs [N/m or N m/rad]
  double damping;                // springs [N s/m or N m s/rad]
  double break_force;            // [N] the joint breaks if its force is larger; INFINITY: never
  double break_torque;           // [N m]
  FloJointTouch touch;           // whether the two bodies touch each other
  const FloJointChange *changes; // copied; in order of rising time
  size_t n_changes;
  void *user_data; // the library does not read it
} FloJointDef;

// The state of a joint. Loads are those of the last step, as means over the step. They act on the body; `to`
// gets the opposite.
typedef struct FloJointState {
  bool is_active; // not released and not broken
  bool is_broken;
  double coordinate;          // [rad or m]; 0 for kinds without one
  double speed;               // its rate [rad/s or m/s]
  double force[3], torque[3]; // of the whole joint with its motor [N], [N m] about `point`
  double point[3];            // where it acts: the joint's point on the body [m]
  double motor_load;          // torque [N m] or force [N] of the motor along the coordinate
  double motor_power;         // of the last step [W]
  double motor_work;          // since the start [J]
  // Means over all steps since flo_world_restart_averages; without a step since then, those of the last step.
  double mean_force[3], mean_torque[3], mean_motor_load, mean_motor_power;
  double peak_force, peak_torque; // largest force and torque of any of these steps [N], [N m]
  double open;                    // how far points that should be together are apart [m]
  double bent;                    // angle by which directions are off [rad]
} FloJointState;

#endif
