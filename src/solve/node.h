// A node: a piece of a body that moves as one, and may turn. A rigid body is one node; each vertex of a cloth
// is one. Solvers know bodies only as nodes. For every kind of body, an impulse at the end of an arm changes
// the node's velocities by its inverse mass.
#ifndef FLO_SOLVE_NODE_H
#define FLO_SOLVE_NODE_H

#include "base/vecmath.h"

typedef struct FloNode {
  double position[3]; // start of arms: the centre of mass [m]
  double velocity[3], angular_velocity[3];
  // Mass that an impulse moves [kg]. In a body with stiff internal forces it may be more than the weight
  // suggests.
  double mass;
  double inertia[9]; // about its position, in the world's axes [kg m²]; zeros: it does not turn
  bool locks[6];     // axes along which it does not move, and about which it does not turn
  bool is_held;      // it does not move until its release; it then gets these velocities
  double late[6];    // impulse, and angular impulse about the origin, that act after its next move
  // Force and torque of the last step by all that is found after viscosity: pressures, contacts and joints.
  double reaction[6];
  // These follow from the above:
  double inverse_mass[3];    // per axis [1/kg]; 0 along locked axes and while it is held
  double inverse_inertia[9]; // about free axes only [1/(kg m²)]
} FloNode;

// M^-1 times a wrench (force and torque): the change of the six velocities per unit of time.
static inline void flo_node_apply(const FloNode *node, const double wrench[6], double out[6]) {
  mat_apply(node->inverse_inertia, wrench + 3, out + 3);
  for (int axis = 0; axis < 3; ++axis) out[axis] = node->inverse_mass[axis] * wrench[axis];
}

// The size of a motion or of a change of it, as a speed; turning counts with the radius of gyration [m/s].
static inline double flo_node_speed(const FloNode *node, const double motion[6]) {
  const double largest = fmax(fmax(node->inertia[0], node->inertia[4]), node->inertia[8]);
  return vec_length(motion) + vec_length(motion + 3) * sqrt(largest / node->mass);
}

// Whether no impulse along the axis, or no angular impulse about axis - 3, moves the node.
static inline bool flo_node_is_locked(const FloNode *node, int axis) {
  return (axis < 3 ? node->inverse_mass[axis] : node->inverse_inertia[4 * (axis - 3)]) == 0;
}

// j M^-1 j^T: the effect of a row with this Jacobian on itself through the node.
static inline double flo_node_response(const FloNode *node, const double j[6]) {
  double spin[3], sum = 0;
  mat_apply(node->inverse_inertia, j + 3, spin);
  for (int axis = 0; axis < 3; ++axis) sum += node->inverse_mass[axis] * j[axis] * j[axis];
  return sum + vec_dot(j + 3, spin);
}

#endif
