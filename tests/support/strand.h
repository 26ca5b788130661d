// A kind of body of many light nodes that hold each other: a strand along x whose ends are fixed, in space a
// sheet that is the same all along y. Springs join neighbouring nodes. A step of the springs is implicit, so
// an impulse on one node moves all others at once: the kind answers by `respond`.
#ifndef TEST_SUPPORT_STRAND_H
#define TEST_SUPPORT_STRAND_H

#include "world/world.h"

#include <string.h>

enum { STRAND_NODES = 25, STRAND_UNKNOWNS = 2 * STRAND_NODES };

// Of all strands.
static struct {
  double stiffness; // force per strain, of the whole width [N]
  double mass;      // of the whole strand [kg]
  double strain;    // at the start
  double borne;     // impulse that its ends got directly, along its second axis [N s]
} strand;

typedef struct Strand {
  FloNode nodes[STRAND_NODES], marked[STRAND_NODES];
  double part, rest;                                // distance of nodes at the start, and without strain [m]
  int up;                                           // the axis besides x along which nodes move
  double factors[STRAND_UNKNOWNS][STRAND_UNKNOWNS]; // Cholesky, of the last kick
} Strand;

static bool strand_is_end(size_t k) { return k == 0 || k == STRAND_NODES - 1; }

static int strand_axis(const Strand *own, int part) { return part ? own->up : 0; }

// Methods choose steps by the fastest point.
static void strand_refresh(FloBody *body) {
  const Strand *own = body->own;
  const FloNode *fastest = own->nodes;
  for (size_t k = 1; k < STRAND_NODES; ++k)
    if (vec_length(own->nodes[k].velocity) > vec_length(fastest->velocity)) fastest = &own->nodes[k];
  vec_copy(fastest->velocity, body->state.velocity);
  vec_copy(body->start.position, body->state.pose.position);
}

static FloStatus strand_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error) {
  (void)error;
  Strand *own = body->own;
  own->up = making->dim - 1, own->part = def->shape.size[0] / (STRAND_NODES - 1);
  own->rest = own->part / (1 + strand.strain);
  body->state.pose = body->start = def->pose;
  body->nodes = own->nodes, body->n_nodes = STRAND_NODES, body->is_moving = true;
  for (size_t k = 0; k < STRAND_NODES; ++k) {
    FloNode *node = &own->nodes[k];
    node->mass = strand.mass / STRAND_NODES;
    for (int axis = 0; axis < 6; ++axis) node->locks[axis] = axis != 0 && axis != own->up;
    vec_copy(def->pose.position, node->position);
    node->position[0] += ((double)k - (STRAND_NODES - 1) / 2.0) * own->part;
    if (!strand_is_end(k)) node->inverse_mass[0] = node->inverse_mass[own->up] = 1 / node->mass;
  }
  strand_refresh(body);
  return FLO_OK;
}

// ---- The spring between nodes k and k + 1 ----

// The force on the first node, and the stiffness without the part that would not be positive definite.
static void strand_spring(const Strand *own, size_t k, double force[2], double stiffness[2][2]) {
  const FloNode *a = &own->nodes[k], *b = a + 1;
  double d[2], length, slack;
  for (int i = 0; i < 2; ++i) d[i] = b->position[strand_axis(own, i)] - a->position[strand_axis(own, i)];
  length = hypot(d[0], d[1]), slack = fmax(1 - own->rest / length, 0);
  const double rate = strand.stiffness / own->rest;
  for (int i = 0; i < 2; ++i) {
    force[i] = rate * (length - own->rest) * d[i] / length;
    for (int j = 0; j < 2; ++j) {
      const double along = d[i] * d[j] / (length * length);
      stiffness[i][j] = rate * (along + slack * ((i == j) - along));
    }
  }
}

// ---- The step ----

static void strand_add(double matrix[STRAND_UNKNOWNS][STRAND_UNKNOWNS], size_t a, size_t b,
                       double block[2][2], double scale) {
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) matrix[2 * a + i][2 * b + j] += scale * block[i][j];
}

static void strand_factorise(double m[STRAND_UNKNOWNS][STRAND_UNKNOWNS]) {
  for (size_t j = 0; j < STRAND_UNKNOWNS; ++j) {
    for (size_t k = 0; k < j; ++k) m[j][j] -= m[j][k] * m[j][k];
    m[j][j] = sqrt(m[j][j]);
    for (size_t i = j + 1; i < STRAND_UNKNOWNS; ++i) {
      for (size_t k = 0; k < j; ++k) m[i][j] -= m[i][k] * m[j][k];
      m[i][j] /= m[j][j];
    }
  }
}

static void strand_solve(const Strand *own, double x[STRAND_UNKNOWNS]) {
  for (size_t i = 0; i < STRAND_UNKNOWNS; ++i) {
    for (size_t k = 0; k < i; ++k) x[i] -= own->factors[i][k] * x[k];
    x[i] /= own->factors[i][i];
  }
  for (size_t i = STRAND_UNKNOWNS; i-- > 0;) {
    for (size_t k = i + 1; k < STRAND_UNKNOWNS; ++k) x[i] -= own->factors[k][i] * x[k];
    x[i] /= own->factors[i][i];
  }
}

// Fixed ends are a unit matrix by themselves.
static void strand_fix_ends(double m[STRAND_UNKNOWNS][STRAND_UNKNOWNS], double x[STRAND_UNKNOWNS]) {
  for (size_t i = 0; i < STRAND_UNKNOWNS; ++i) {
    if (!strand_is_end(i / 2)) continue;
    for (size_t k = 0; k < STRAND_UNKNOWNS; ++k) m[i][k] = m[k][i] = i == k;
    x[i] = 0;
  }
}

// (M + dt^2 K) v = M v + dt (F + other forces), with a little damping in proportion to K.
static void strand_kick(FloBody *body, const double gravity[3], const double *wrenches, double dt) {
  Strand *own = body->own;
  double x[STRAND_UNKNOWNS] = {0}, force[2], block[2][2];
  const double damping = 1e-3; // [s]
  memset(own->factors, 0, sizeof own->factors);
  for (size_t k = 0; k < STRAND_NODES; ++k)
    for (int i = 0; i < 2; ++i) {
      const int axis = strand_axis(own, i);
      const double other = wrenches ? wrenches[6 * k + (size_t)axis] : 0, mass = own->nodes[k].mass;
      x[2 * k + (size_t)i] += mass * own->nodes[k].velocity[axis] + dt * (mass * gravity[axis] + other);
      own->factors[2 * k + (size_t)i][2 * k + (size_t)i] += mass;
    }
  for (size_t k = 0; k + 1 < STRAND_NODES; ++k) {
    strand_spring(own, k, force, block);
    for (size_t i = 0; i < 2; ++i) x[2 * k + i] += dt * force[i], x[2 * k + 2 + i] -= dt * force[i];
    for (size_t a = k; a < k + 2; ++a)
      for (size_t b = k; b < k + 2; ++b)
        strand_add(own->factors, a, b, block, (a == b ? 1 : -1) * dt * (dt + damping));
  }
  for (size_t k = 0; k < STRAND_NODES; k += STRAND_NODES - 1) // what springs add is in strand_load
    strand.borne +=
        dt * (own->nodes[k].mass * gravity[own->up] + (wrenches ? wrenches[6 * k + (size_t)own->up] : 0));
  strand_fix_ends(own->factors, x);
  strand_factorise(own->factors);
  strand_solve(own, x);
  for (size_t k = 0; k < STRAND_NODES; ++k)
    for (int i = 0; i < 2; ++i) own->nodes[k].velocity[strand_axis(own, i)] = x[2 * k + (size_t)i];
  strand_refresh(body);
}

static void strand_respond(const FloBody *body, const double *impulses, double *changes) {
  const Strand *own = body->own;
  double x[STRAND_UNKNOWNS];
  for (size_t k = 0; k < STRAND_NODES; ++k)
    for (int i = 0; i < 2; ++i)
      x[2 * k + (size_t)i] = strand_is_end(k) ? 0 : impulses[3 * k + (size_t)strand_axis(own, i)];
  strand_solve(own, x);
  memset(changes, 0, 3 * STRAND_NODES * sizeof *changes);
  for (size_t k = 0; k < STRAND_NODES; ++k)
    for (int i = 0; i < 2; ++i) changes[3 * k + (size_t)strand_axis(own, i)] = x[2 * k + (size_t)i];
}

static void strand_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]) {
  (void)turn;
  double impulses[3 * STRAND_NODES] = {0}, changes[3 * STRAND_NODES];
  vec_copy(impulse, impulses + 3 * node);
  if (strand_is_end(node)) strand.borne += impulse[((const Strand *)body->own)->up];
  strand_respond(body, impulses, changes);
  for (size_t k = 0; k < STRAND_NODES; ++k)
    vec_add(body->nodes[k].velocity, changes + 3 * k, body->nodes[k].velocity);
  strand_refresh(body);
}

static void strand_move(FloBody *body, double dt) {
  for (size_t k = 0; k < STRAND_NODES; ++k)
    vec_add_scaled(body->nodes[k].position, body->nodes[k].velocity, dt, body->nodes[k].position);
  strand_refresh(body);
}

static void strand_mark(FloBody *body) {
  Strand *own = body->own;
  memcpy(own->marked, own->nodes, sizeof own->nodes);
}

static void strand_rewind(FloBody *body) {
  Strand *own = body->own;
  memcpy(own->nodes, own->marked, sizeof own->nodes);
  strand_refresh(body);
}

// ---- Skin ----

static FloCarriers strand_carry(const FloBody *body, const FloParticles *samples, size_t i) {
  const Strand *own = body->own;
  const double at =
      fmin(fmax(samples->local_x[i] / own->part + (STRAND_NODES - 1) / 2.0, 0), STRAND_NODES - 1);
  const uint32_t first = (uint32_t)fmin(floor(at), STRAND_NODES - 2);
  return (FloCarriers){.count = 2, .nodes = {first, first + 1}, .shares = {1 - (at - first), at - first}};
}

static void strand_mix(const FloBody *body, const FloCarriers *c, bool is_velocity, double out[3]) {
  vec_set(out, 0, 0, 0);
  for (int k = 0; k < 2; ++k) {
    const FloNode *node = &body->nodes[c->nodes[k]];
    vec_add_scaled(out, is_velocity ? node->velocity : node->position, c->shares[k], out);
  }
}

static void strand_where(const FloBody *body, const FloParticles *samples, size_t i, double x[3]) {
  const FloCarriers c = strand_carry(body, samples, i);
  strand_mix(body, &c, false, x);
  if (((const Strand *)body->own)->up == 2) x[1] += samples->local_y[i];
}

static void strand_place(const FloBody *body, FloParticles *samples) {
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloCarriers c = strand_carry(body, samples, i);
    double x[3], v[3];
    strand_where(body, samples, i, x);
    strand_mix(body, &c, true, v);
    samples->x[i] = x[0], samples->y[i] = x[1], samples->z[i] = x[2];
    samples->vx[i] = (float)v[0], samples->vy[i] = (float)v[1], samples->vz[i] = (float)v[2];
  }
}

// ---- Surface: only the distance, so that nothing but pressure keeps fluid away ----

static double strand_height(const FloBody *body, const double x[3]) {
  const Strand *own = body->own;
  size_t k = 0;
  while (k + 2 < STRAND_NODES && own->nodes[k + 1].position[0] < x[0]) ++k;
  const double *a = own->nodes[k].position, *b = own->nodes[k + 1].position;
  return x[own->up] - (a[own->up] + (b[own->up] - a[own->up]) * (x[0] - a[0]) / (b[0] - a[0]));
}

static double strand_distance(const FloBody *body, const FloDomain *domain, const double x[3]) {
  (void)domain;
  return fabs(strand_height(body, x));
}

static void strand_normal(const FloBody *body, const FloDomain *domain, const double x[3], double out[3]) {
  (void)domain;
  vec_set(out, 0, 0, 0);
  out[((const Strand *)body->own)->up] = strand_height(body, x) < 0 ? -1 : 1;
}

static bool strand_probe(const FloBody *body, const FloDomain *domain, const FloPath *path, double reach,
                         double *distance, FloSurfaceHit *hit) {
  (void)reach, (void)hit;
  *distance = strand_distance(body, domain, path->end);
  return false;
}

static bool strand_deflect(const FloBody *body, const FloDomain *domain, const double x[3], const double v[3],
                           double dt, double deepest, double push[3]) {
  (void)body, (void)domain, (void)x, (void)v, (void)dt, (void)deepest, (void)push;
  return false;
}

static void strand_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out) {
  for (size_t k = 0; k < STRAND_NODES; ++k) {
    const FloNode *node = &body->nodes[k];
    vec_add_scaled(out->momentum, node->velocity, node->mass, out->momentum);
    out->kinetic_energy += node->mass * vec_dot(node->velocity, node->velocity) / 2;
    out->potential_energy -= node->mass * vec_dot(gravity, node->position);
  }
}

// The force of springs that the two ends bear downwards [N].
static double strand_load(const FloBody *body) {
  const Strand *own = body->own;
  double first[2], last[2], block[2][2];
  strand_spring(own, 0, first, block);
  strand_spring(own, STRAND_NODES - 2, last, block);
  return -first[1] + last[1];
}

static const FloKind strand_kind = {.name = "strand",
                                    .set = FLO_SET_RIGID,
                                    .size = sizeof(Strand),
                                    .make = strand_make,
                                    .kick = strand_kick,
                                    .push = strand_push,
                                    .respond = strand_respond,
                                    .move = strand_move,
                                    .mark = strand_mark,
                                    .rewind = strand_rewind,
                                    .refresh = strand_refresh,
                                    .place = strand_place,
                                    .where = strand_where,
                                    .carry = strand_carry,
                                    .distance = strand_distance,
                                    .normal = strand_normal,
                                    .probe = strand_probe,
                                    .deflect = strand_deflect,
                                    .measure = strand_measure};

#endif
