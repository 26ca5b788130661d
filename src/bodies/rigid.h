// How a rigid body moves: mass, momenta and the step that turns them into a new pose.
//
// Angular momentum is kept rather than angular velocity. Without torque it stays what it is to the last bit,
// and the gyroscopic term need not be computed: it is what the velocity does when the inertia turns.
#ifndef FLO_BODIES_RIGID_H
#define FLO_BODIES_RIGID_H

#include "base/core.h"
#include "geometry/mesh.h"
#include "solve/node.h"

typedef struct FloRigid {
  FloNode node;               // position, velocities and inverse mass in the world
  double centre[3];           // of mass, in the shape's frame
  double inertia[9];          // about the centre, likewise
  double angular_momentum[3]; // in the world
} FloRigid;

// At rest in `pose`. In two dimensions it moves in the plane only.
FloStatus flo_rigid_init(FloRigid *rigid, const FloMassProperties *mass, const FloPose *pose, int dim,
                         FloError *error);
// Fits everything that depends on the rotation to it.
void flo_rigid_refresh(FloRigid *rigid, const double rotation[4]);
// Sets the angular momentum that goes with a velocity; refresh first.
void flo_rigid_spin(FloRigid *rigid, const double rotation[4], const double angular_velocity[3]);
// Impulse [N s] and angular impulse about the centre of mass [N m s].
void flo_rigid_push(FloRigid *rigid, const double impulse[3], const double turn[3]);
// Moves for dt with the present momenta: Euler for the position (B.2a), one exact rotation about the angular
// velocity half way (B.2b of Probst & Teschner 2023, which takes that of the end).
void flo_rigid_move(FloRigid *rigid, double rotation[4], double dt);
// The shape's pose and velocities that go with it.
void flo_rigid_state(const FloRigid *rigid, const double rotation[4], FloBodyState *state);

#endif
