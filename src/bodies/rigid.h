// Motion of a rigid body: mass, momenta, and the step that finds a new pose from them.
//
// Angular momentum is stored rather than angular velocity. Without torque it is constant to the last bit, and
// the gyroscopic term need not be computed: it is the change of the velocity when the inertia turns.
#ifndef FLO_BODIES_RIGID_H
#define FLO_BODIES_RIGID_H

#include "base/core.h"
#include "geometry/mesh.h"
#include "solve/node.h"

typedef struct FloRigid {
  FloNode node;               // position, velocities and inverse mass in the world
  double centre[3];           // of mass, in the frame of the shape
  double inertia[9];          // about the centre, in the frame of the shape
  double angular_momentum[3]; // in the world
} FloRigid;

// A body at rest in `pose`. In two dimensions it moves in the plane only.
FloStatus flo_rigid_init(FloRigid *rigid, const FloMassProperties *mass, const FloPose *pose, int dim,
                         FloError *error);
// Computes everything that depends on the rotation.
void flo_rigid_refresh(FloRigid *rigid, const double rotation[4]);
// Sets the angular momentum that belongs to a velocity; refresh first.
void flo_rigid_spin(FloRigid *rigid, const double rotation[4], const double angular_velocity[3]);
// Impulse [N s] and angular impulse about the centre of mass [N m s].
void flo_rigid_push(FloRigid *rigid, const double impulse[3], const double turn[3]);
// Moves for dt with the present momenta: Euler for the position (B.2a), and rotations of fourth order for the
// orientation (B.2b of Probst & Teschner 2023 turns once, about the angular velocity at the end).
void flo_rigid_move(FloRigid *rigid, double rotation[4], double dt);
// Turns about an angular velocity for dt.
void flo_rigid_turn(const double q[4], const double omega[3], double dt, double out[4]);
// An inertia in the world's axes becomes one in the axes of a body with that rotation.
void flo_rigid_turn_back(const double inertia[9], const double rotation[4], double out[9]);
// Finds the pose and the velocities of the shape.
void flo_rigid_state(const FloRigid *rigid, const double rotation[4], FloBodyState *state);

#endif
