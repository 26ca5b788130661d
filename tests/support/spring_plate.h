// A kind of body that no method knows: a plate on a spring, which moves along one axis, without turning. It
// shows what a kind needs, and that methods take it as it is.
#ifndef TEST_SUPPORT_SPRING_PLATE_H
#define TEST_SUPPORT_SPRING_PLATE_H

#include "world/world.h"

// Of all plates; the axis is the last one of the world.
static struct {
  double stiffness, damping; // [N/m], [N s/m]
} spring;

typedef struct SpringPlate {
  FloNode node, marked[FLO_N_MARKS];
  double mass; // [kg]
  int axis;
} SpringPlate;

// The masses depend on the last time step; see spring_set_mass.
static const FloStateField spring_fields[] = {FLO_STATE_FIELD(SpringPlate, node.position),
                                              FLO_STATE_FIELD(SpringPlate, node.velocity),
                                              FLO_STATE_FIELD(SpringPlate, node.mass),
                                              FLO_STATE_FIELD(SpringPlate, node.inverse_mass),
                                              {0}};

static void spring_refresh(FloBody *body) {
  SpringPlate *own = body->own;
  vec_copy(own->node.position, body->state.pose.position);
  vec_copy(own->node.velocity, body->state.velocity);
}

// The spring is implicit, so that it may be stiff: m (v' - v) = dt (f - k (x + dt v') - c v'). So an impulse
// has to move this mass.
static void spring_set_mass(SpringPlate *own, double dt) {
  own->node.mass = own->mass + dt * spring.damping + dt * dt * spring.stiffness;
  own->node.inverse_mass[own->axis] = 1 / own->node.mass;
}

static FloStatus spring_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error) {
  SpringPlate *own = body->own;
  FloMassProperties mass;
  FLO_TRY(flo_solid_mass(body->solid, making->density, 0, &mass, error));
  own->axis = making->dim - 1, own->mass = mass.mass;
  spring_set_mass(own, 0);
  for (int k = 0; k < 6; ++k) own->node.locks[k] = k != own->axis;
  vec_copy(def->pose.position, own->node.position);
  body->state.pose = def->pose;
  body->nodes = &own->node, body->n_nodes = 1, body->is_moving = true;
  spring_refresh(body);
  return FLO_OK;
}

static void spring_kick(FloBody *body, const double gravity[3], const double *wrench, double dt) {
  SpringPlate *own = body->own;
  int axis = own->axis;
  double away = own->node.position[axis] - body->start.position[axis], *v = &own->node.velocity[axis];
  double force = own->mass * gravity[axis] + (wrench ? wrench[axis] : 0) - spring.stiffness * away;
  spring_set_mass(own, dt);
  *v = (own->mass * *v + dt * force) / own->node.mass;
  spring_refresh(body);
}

static void spring_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]) {
  (void)node, (void)turn;
  SpringPlate *own = body->own;
  for (int k = 0; k < 3; ++k) own->node.velocity[k] += own->node.inverse_mass[k] * impulse[k];
  spring_refresh(body);
}

static void spring_move(FloBody *body, double dt) {
  SpringPlate *own = body->own;
  vec_add_scaled(own->node.position, own->node.velocity, dt, own->node.position);
  spring_refresh(body);
}

static void spring_mark(FloBody *body, FloMark mark) {
  ((SpringPlate *)body->own)->marked[mark] = ((SpringPlate *)body->own)->node;
}

static void spring_rewind(FloBody *body, FloMark mark) {
  ((SpringPlate *)body->own)->node = ((SpringPlate *)body->own)->marked[mark];
  spring_refresh(body);
}

static void spring_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out) {
  const FloNode *node = body->nodes;
  double mass = ((const SpringPlate *)body->own)->mass;
  vec_scale(node->velocity, mass, out->momentum);
  vec_cross(node->position, out->momentum, out->angular_momentum);
  out->kinetic_energy = vec_dot(out->momentum, node->velocity) / 2;
  out->potential_energy = -mass * vec_dot(gravity, node->position);
}

#define SPRING_PLATE_FUNCTIONS                                                                               \
  .set = FLO_SET_RIGID, .make = spring_make, .kick = spring_kick, .push = spring_push, .move = spring_move,  \
  .mark = spring_mark, .rewind = spring_rewind, .refresh = spring_refresh, FLO_POSED_FUNCTIONS,              \
  .measure = spring_measure

static const FloKind spring_plate_kind = {
    .name = "spring plate", .size = sizeof(SpringPlate), .fields = spring_fields, SPRING_PLATE_FUNCTIONS};

#endif
