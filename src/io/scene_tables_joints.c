// The keys of joints and motors; see scene_tables.h.
#include "io/scene_words.h"

#define MAX_LOAD 1e15 // [N] or [N m]

static const FloSceneKey motor_keys[] = {
    {"speed", NUMBER, WITHIN(MAX_RATE), "rad/s or m/s", .help = "speed that the motor keeps"},
    {"position", NUMBER, WITHIN(MAX_RATE), "rad or m", .help = "position that the motor seeks"},
    {"amplitude", NUMBER, WITHIN(MAX_RATE), NULL,
     .help = "added to speed or position: amplitude * sin(2 pi frequency t + phase)", .fallback = "0"},
    {"frequency", NUMBER, FROM(0, MAX_RATE), "Hz", .help = "periods of the sine wave per second",
     .fallback = "0"},
    {"phase", NUMBER, WITHIN(1e9), "rad", .help = "phase of the sine wave at time 0", .fallback = "0"},
    {"law", POINTS, WITHIN(1e9), NULL,
     .help = "added to speed or position: a list of [time, value], straight in between"},
    {"max_torque", NUMBER, ABOVE(0, MAX_LOAD), "N m", .help = "largest torque of the motor of a hinge"},
    {"max_force", NUMBER, ABOVE(0, MAX_LOAD), "N",
     .help = "largest force of a motor that moves along a line"},
    {"time", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "with position: a difference from it decays with this time; larger is softer; without it, 0.05"},
};

static const FloSceneTable motor_table = {"a motor", TABLE(motor_keys), .exactly_one = {"speed", "position"},
                                          .also_exactly_one = {"max_torque", "max_force"}};

#define KIND(name_, help_)                                                                                   \
  { name_, TEXT, ANY, NULL, .help = help_ }

static const FloSceneKey joint_keys[] = {
    {"name", NAME, ANY, NULL, .help = "its name in events and reports; without it, 'joint' and a number"},
    KIND("hinge", "name of a body that turns about the axis"),
    KIND("slider", "name of a body that slides along the axis and does not turn"),
    KIND("cylindrical", "name of a body that turns about the axis and slides along it"),
    KIND("ball", "name of a body that turns about the point `at` in any direction"),
    KIND("universal", "name of a body on a cross of two axes: axis belongs to `to`, axis2 to the body"),
    KIND("fixed", "name of a body that keeps its place and rotation relative to `to`"),
    KIND("distance", "name of a body on a rod from `at` on it to `to_at` on `to`"),
    KIND("rope", "name of a body on a rope from `at` on it to `to_at` on `to`"),
    KIND("point_on_line", "name of a body whose point `at` stays on a line along the axis"),
    KIND("point_on_plane", "name of a body whose point `at` stays on a plane that the axis is normal to"),
    KIND("gear", "name of a joint; its coordinate + ratio * that of the joint `with` stays the same"),
    KIND("spring", "name of a body on a spring from `at` on it to `to_at` on `to`"),
    KIND("turn_spring", "name of a body that a spring turns about the axis; a hinge must hold it"),
    {"to", TEXT, ANY, NULL,
     .help = "name of the body or boundary that it is joined to; without it, to the world"},
    {"with", TEXT, ANY, NULL, .help = "gear: name of the other joint"},
    {"at", VECTOR, COORDINATE, "m", .help = "where the joint is; without it, at the position of the body",
     .frame = FLO_FRAME_POINT},
    {"to_at", VECTOR, COORDINATE, "m",
     .help = "the point at `to`: the other end of a rod, rope or spring, or a point still apart from `at`",
     .frame = FLO_FRAME_POINT},
    {"axis", TRIPLE, COORDINATE, NULL, .help = "direction of the axis; any length; without it, z",
     .frame = FLO_FRAME_DIRECTION},
    {"axis2", TRIPLE, COORDINATE, NULL, .help = "universal: direction of the second axis, square to axis",
     .frame = FLO_FRAME_DIRECTION},
    {"length", NUMBER, FROM(0, MAX_LENGTH), "m or rad",
     .help =
         "length of a rod or rope, or of a spring at rest (turn_spring: angle); without it, as at the start"},
    {"ratio", NUMBER, WITHIN(1e6), NULL,
     .help = "gear: weight of the other joint's coordinate; without it, 1"},
    {"motor", OBJECT, ANY, NULL, .help = "drives the joint along its coordinate", .table = &motor_table},
    {"limits", PAIR, WITHIN(MAX_RATE), "rad or m",
     .help = "lowest and highest coordinate; at the start it is 0, of ropes the distance"},
    {"limit_stiffness", NUMBER, FROM(0, MAX_LOAD), "N m/rad or N/m",
     .help = "stiffness of the limits; without it, they are hard"},
    {"limit_damping", NUMBER, FROM(0, MAX_LOAD), "N m s/rad or N s/m",
     .help = "damping of limits that have a stiffness"},
    {"friction", NUMBER, FROM(0, MAX_LOAD), "N m or N",
     .help = "largest torque or force with which the joint resists motion; without it, 0"},
    {"stiffness", NUMBER, FROM(0, MAX_LOAD), "N/m or N m/rad", .help = "of springs; larger is harder"},
    {"damping", NUMBER, FROM(0, MAX_LOAD), "N s/m or N m s/rad", .help = "of springs"},
    {"break_force", NUMBER, ABOVE(0, MAX_LOAD), "N",
     .help = "the joint breaks when its force is larger; without it, never"},
    {"break_torque", NUMBER, ABOVE(0, MAX_LOAD), "N m",
     .help = "the joint breaks when its torque is larger; without it, never"},
    {"collide", BOOLEAN, ANY, NULL,
     .help =
         "true: the two bodies touch each other; false: they pass through each other; without it, those of "
         "distance, rope, spring and turn_spring touch"},
    {"close", BOOLEAN, ANY, NULL,
     .help = "true: parts that are apart at the start are pulled together; without it, they are refused"},
};

const FloSceneTable flo_scene_joint_table = {
    "a joint", TABLE(joint_keys),
    .exactly_one = {"hinge", "slider", "cylindrical", "ball", "universal", "fixed", "distance", "rope",
                    "point_on_line", "point_on_plane", "gear", "spring", "turn_spring"}};

// ---- Changes by events ----

#define CHANGE(name_, range_, help_)                                                                         \
  { name_, NUMBER, range_, NULL, .help = help_ }

static const FloSceneKey change_keys[] = {
    {"friction", NUMBER, FROM(0, MAX_LOAD), NULL,
     .help = "body: new coefficient of dry friction; joint: new largest torque or force of its friction"},
    {"within", NUMBER, FROM(0, MAX_TIME), "s", .help = "body: duration of the change; without it, 0"},
    CHANGE("motor.speed", WITHIN(MAX_RATE), "joint: its motor keeps this speed"),
    CHANGE("motor.position", WITHIN(MAX_RATE), "joint: its motor seeks this position"),
    CHANGE("motor.max_torque", FROM(0, MAX_LOAD), "joint: largest torque of the motor of a hinge"),
    CHANGE("motor.max_force", FROM(0, MAX_LOAD), "joint: largest force of a motor that moves along a line"),
    CHANGE("motor.max_load", FROM(0, MAX_LOAD), "joint: either of these two, whatever its kind"),
    {"motor.free", BOOLEAN, ANY, NULL, .help = "joint: true switches its motor off"},
    {"limits", PAIR, WITHIN(MAX_RATE), NULL, .help = "joint: lowest and highest coordinate"},
    CHANGE("limits.low", WITHIN(MAX_RATE), "joint: lowest coordinate alone"),
    CHANGE("limits.high", WITHIN(MAX_RATE), "joint: highest coordinate alone"),
    CHANGE("stiffness", FROM(0, MAX_LOAD), "joint: stiffness of a spring"),
    CHANGE("damping", FROM(0, MAX_LOAD), "joint: damping of a spring"),
    CHANGE("length", WITHIN(MAX_LENGTH), "joint: length of a rod, rope or spring"),
    CHANGE("break_force", FROM(0, MAX_LOAD), "joint: force above which it breaks"),
    CHANGE("break_torque", FROM(0, MAX_LOAD), "joint: torque above which it breaks"),
};

const FloSceneTable flo_scene_change_table = {"a change", TABLE(change_keys),
                                              .at_most_one = {"motor.speed", "motor.position", "motor.free"}};
