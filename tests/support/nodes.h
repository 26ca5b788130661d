// Momenta of the nodes of bodies, which the library keeps where only a kind sees them.
#ifndef TEST_SUPPORT_NODES_H
#define TEST_SUPPORT_NODES_H

#include "bodies/body.h"

// About its position.
static inline void angular_momentum_of(const FloNode *node, double out[3]) {
  mat_apply(node->inertia, node->angular_velocity, out);
}

// Gives the only node of a body these velocities, by the impulses that it takes.
static inline void set_motion(FloBody *body, const double velocity[3], const double angular_velocity[3]) {
  const FloNode *node = body->nodes;
  double impulse[3], missing[3], turn[3];
  vec_sub(velocity, node->velocity, impulse);
  vec_scale(impulse, node->mass, impulse);
  vec_sub(angular_velocity, node->angular_velocity, missing);
  mat_apply(node->inertia, missing, turn);
  body->kind->push(body, 0, impulse, turn);
}

#endif
