// Changing a world while it runs: between two steps, or in the function that is called after each step.
//
// Everything that these functions change is part of the state that flo_world_save copies, except user data
// and the function that is called after each step. A run that is driven in the same way gives the same bits.
#ifndef FLOTSAM_CONTROL_H
#define FLOTSAM_CONTROL_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Removing. An id of a removed thing never becomes valid again ----

// Removes a body with its joints and with the pins that lead to it. The fluid stays where it is.
FLO_API FloStatus flo_world_remove_body(FloWorld *world, FloBodyId body, FloError *error);
// A gear that drives the joint stays, but does not act any more.
FLO_API FloStatus flo_world_remove_joint(FloWorld *world, FloJointId joint, FloError *error);
// Refused as long as there is fluid, a body or an emitter of that material.
FLO_API FloStatus flo_world_remove_material(FloWorld *world, FloMaterialId material, FloError *error);
// Removes the fluid particles with these values of the field "id". Numbers without a particle are ignored.
FLO_API FloStatus flo_world_remove_particles(FloWorld *world, const uint32_t *ids, size_t n,
                                             size_t *n_removed, FloError *error);
// Removes all fluid inside a shape, which must not be a tank or thin.
FLO_API FloStatus flo_world_remove_fluid(FloWorld *world, const FloShape *shape, const FloPose *pose,
                                         size_t *n_removed, FloError *error);
// Removes all fluid inside a body, for example after it was put somewhere else.
FLO_API FloStatus flo_world_remove_fluid_in(FloWorld *world, FloBodyId body, size_t *n_removed,
                                            FloError *error);

// ---- Pushing bodies ----

// A force [N] acts for the whole next step and ends with it: call this before each step in which it is to
// act. Forces add up. `point` is where it acts, in the world; NULL: at the centre of mass. A cloth or elastic
// body takes it at the vertex nearest to the point, or everywhere in proportion to mass. Forces on bodies
// that forces do not move are refused.
FLO_API FloStatus flo_world_apply_force(FloWorld *world, FloBodyId body, const double force[3],
                                        const double *point, FloError *error);
// The same with a torque [N m]. Only rigid bodies take torques.
FLO_API FloStatus flo_world_apply_torque(FloWorld *world, FloBodyId body, const double torque[3],
                                         FloError *error);
// An impulse [N s] changes velocities at once. `point` as above.
FLO_API FloStatus flo_world_apply_impulse(FloWorld *world, FloBodyId body, const double impulse[3],
                                          const double *point, FloError *error);
// An angular impulse [N m s] changes the angular velocity at once. Only rigid bodies take it.
FLO_API FloStatus flo_world_apply_angular_impulse(FloWorld *world, FloBodyId body, const double impulse[3],
                                                  FloError *error);

// ---- Placing bodies ----

// Puts a body somewhere else at once. It keeps its velocity; a kinematic body stands still there until it
// gets a new target or velocity. Fluid does not make room: see flo_world_remove_fluid_in. Joints pull their
// parts together again. A cloth or elastic body is moved and turned as it is; its pins to the world stay.
FLO_API FloStatus flo_world_set_body_pose(FloWorld *world, FloBodyId body, const FloPose *pose,
                                          FloError *error);
// Velocity of the centre of mass [m/s] and angular velocity [rad/s] of a dynamic, cloth or elastic body. A
// kinematic body moves and turns about its position at these rates from now on, instead of by its motions.
FLO_API FloStatus flo_world_set_body_velocity(FloWorld *world, FloBodyId body, const double velocity[3],
                                              const double angular_velocity[3], FloError *error);
// A kinematic body moves evenly from where it is to `pose`, which it reaches at `time`, and stays there. This
// replaces its motions.
FLO_API FloStatus flo_world_set_body_target(FloWorld *world, FloBodyId body, const FloPose *pose, double time,
                                            FloError *error);
// Makes a static, kinematic or dynamic body one of another of these kinds, in its present pose. A body that
// becomes dynamic starts with its present velocity and needs a density or a mass in its definition. A body
// that joints or pins hold keeps its kind.
FLO_API FloStatus flo_world_set_body_kind(FloWorld *world, FloBodyId body, FloBodyKind kind, FloError *error);
FLO_API FloStatus flo_world_set_body_filter(FloWorld *world, FloBodyId body, FloFilter filter,
                                            FloError *error);
FLO_API FloStatus flo_world_set_body_user_data(FloWorld *world, FloBodyId body, void *user_data,
                                               FloError *error);
// Switches pin number `pin` of the body's definition off or on. A pin that is switched on again pulls its
// vertices back to where it holds them.
FLO_API FloStatus flo_world_set_pin(FloWorld *world, FloBodyId body, size_t pin, bool holds, FloError *error);
// Moves the places to which that pin holds its vertices by `way` [m], in the frame of what it leads to. They
// follow within the next step, so that a long way is to be cut into many short ones.
FLO_API FloStatus flo_world_move_pin(FloWorld *world, FloBodyId body, size_t pin, const double way[3],
                                     FloError *error);

// ---- Fluid and world ----

// Overwrites a field of all fluid particles, in their present order: "x", "y", "z", "vx", "vy" or "vz".
// `values` has as many numbers as there are particles, of the type that flo_world_view tells.
FLO_API FloStatus flo_world_set_field(FloWorld *world, const char *field, const void *values, size_t n,
                                      FloError *error);
FLO_API FloStatus flo_world_set_gravity(FloWorld *world, const double gravity[3], FloError *error);
// The speed at which fluid leaves an emitter [m/s], above 0.
FLO_API FloStatus flo_world_set_emitter_speed(FloWorld *world, FloEmitterId emitter, double speed,
                                              FloError *error);
// Calls a function after each step; NULL: none.
FLO_API FloStatus flo_world_set_step_callback(FloWorld *world, FloStepFn after_step, void *context,
                                              FloError *error);

#ifdef __cplusplus
}
#endif
#endif
