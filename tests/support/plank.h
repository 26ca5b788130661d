// A kind of body of two nodes: a plank in the plane whose ends rise and fall independently. Each sample is
// carried by both ends, with shares that depend on where it is.
#ifndef TEST_SUPPORT_PLANK_H
#define TEST_SUPPORT_PLANK_H

#include "world/world.h"

typedef struct Plank {
  FloNode ends[2], marked[FLO_N_MARKS][2];
  double half; // of its length [m]
} Plank;

// Velocity of an end; an end that is held has one only when it is released.
static void plank_velocity(const FloNode *end, double v[3]) {
  vec_set(v, 0, end->is_held ? 0 : end->velocity[1], 0);
}

static void plank_refresh(FloBody *body) {
  const FloNode *ends = ((const Plank *)body->own)->ends;
  double way[3], v[2][3];
  for (int k = 0; k < 2; ++k) plank_velocity(&ends[k], v[k]);
  vec_sub(ends[1].position, ends[0].position, way);
  vec_add(ends[0].position, ends[1].position, body->state.pose.position);
  vec_scale(body->state.pose.position, 0.5, body->state.pose.position);
  vec_add(v[0], v[1], body->state.velocity);
  vec_scale(body->state.velocity, 0.5, body->state.velocity);
  body->state.angular_velocity[2] = (v[1][1] - v[0][1]) / way[0];
  quat_from_axis_angle((const double[3]){0, 0, 1}, atan2(way[1], way[0]), body->state.pose.rotation);
}

static FloStatus plank_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                            FloError *error) {
  Plank *own = body->own;
  FloMassProperties mass;
  FLO_TRY(flo_solid_mass(body->solid, making->density, 0, &mass, error));
  own->half = def->shape.size[0] / 2;
  body->state.pose = def->pose;
  body->nodes = own->ends, body->n_nodes = 2, body->is_moving = true;
  for (int k = 0; k < 2; ++k) {
    own->ends[k] = (FloNode){.mass = mass.mass / 2, .locks = {true, false, true, true, true, true}};
    own->ends[k].inverse_mass[1] = 2 / mass.mass;
    vec_copy(def->pose.position, own->ends[k].position);
    own->ends[k].position[0] += k ? own->half : -own->half;
  }
  plank_refresh(body);
  return FLO_OK;
}

static FloCarriers plank_carry(const FloBody *body, const FloParticles *samples, size_t i) {
  double share = 0.5 + samples->local_x[i] / (2 * ((const Plank *)body->own)->half);
  return (FloCarriers){.count = 2, .nodes = {0, 1}, .shares = {1 - share, share}};
}

static void plank_kick(FloBody *body, const double gravity[3], const double *wrenches, double dt) {
  for (size_t k = 0; k < 2; ++k) {
    FloNode *end = &body->nodes[k];
    end->velocity[1] += dt * (gravity[1] + (wrenches ? wrenches[6 * k + 1] * end->inverse_mass[1] : 0));
  }
  plank_refresh(body);
}

static void plank_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]) {
  (void)turn;
  body->nodes[node].velocity[1] += body->nodes[node].inverse_mass[1] * impulse[1];
  plank_refresh(body);
}

static void plank_move(FloBody *body, double dt) {
  for (size_t k = 0; k < 2; ++k) body->nodes[k].position[1] += dt * body->nodes[k].velocity[1];
  plank_refresh(body);
}

static void plank_mark(FloBody *body, FloMark mark) {
  Plank *own = body->own;
  for (int k = 0; k < 2; ++k) own->marked[mark][k] = own->ends[k];
}

static void plank_rewind(FloBody *body, FloMark mark) {
  Plank *own = body->own;
  for (int k = 0; k < 2; ++k) own->ends[k] = own->marked[mark][k];
  plank_refresh(body);
}

static void plank_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out) {
  for (size_t k = 0; k < 2; ++k) {
    const FloNode *end = &body->nodes[k];
    vec_add_scaled(out->momentum, end->velocity, end->mass, out->momentum);
    out->kinetic_energy += end->mass * vec_dot(end->velocity, end->velocity) / 2;
    out->potential_energy -= end->mass * vec_dot(gravity, end->position);
  }
}

static const FloKind plank_kind = {.name = "plank",
                                   .set = FLO_SET_RIGID,
                                   .has_contacts = false,
                                   .size = sizeof(Plank),
                                   .make = plank_make,
                                   .kick = plank_kick,
                                   .push = plank_push,
                                   .move = plank_move,
                                   .mark = plank_mark,
                                   .rewind = plank_rewind,
                                   .refresh = plank_refresh,
                                   .carry = plank_carry,
                                   FLO_POSED_FUNCTIONS,
                                   .measure = plank_measure};

#endif
