#include "bodies/soft_body.h"

#include "bodies/motion.h"

#include <string.h>

static bool is_held_at(const FloBody *body, double time) { return time < fmax(body->release, 0); }

// ---- State ----

// What an impulse does to a node alone. Vertices that are fixed take any impulse.
static void read_mass(const FloSoftBody *own, size_t k, FloNode *node) {
  const bool is_free = !node->is_held && !flo_soft_is_fixed(own->soft, k);
  node->mass = flo_soft_masses(own->soft)[k];
  for (int axis = 0; axis < 3; ++axis)
    node->inverse_mass[axis] = is_free && !node->locks[axis] ? 1 / node->mass : 0;
}

// The state of the whole: centre of mass and its velocity.
static void read_state(FloBody *body) {
  const FloSoftBody *own = flo_soft_body(body);
  double centre[3] = {0}, velocity[3] = {0}, farthest = 0, way[3];
  for (size_t k = 0; k < own->n; ++k) {
    const double share = own->nodes[k].mass / own->mass;
    vec_add_scaled(centre, own->nodes[k].position, share, centre);
    vec_add_scaled(velocity, own->nodes[k].velocity, own->nodes[k].is_held ? 0 : share, velocity);
  }
  vec_copy(centre, body->state.pose.position);
  vec_copy(velocity, body->state.velocity);
  for (size_t k = 0; k < own->n; ++k) {
    vec_sub(own->nodes[k].position, centre, way);
    farthest = fmax(farthest, vec_dot(way, way));
  }
  body->reach = sqrt(farthest);
}

static void read_nodes(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n; ++k) {
    vec_copy(own->x + 3 * k, own->nodes[k].position);
    vec_copy(own->v + 3 * k, own->nodes[k].velocity);
    read_mass(own, k, &own->nodes[k]);
  }
  flo_soft_skin_follow(body);
}

// After a state was restored.
void flo_soft_body_refresh(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  flo_soft_body_begin_pins(body, -INFINITY);
  own->has_moved = true;
  read_nodes(body);
  read_state(body);
  flo_soft_skin_turn(body);
}

// ---- Making ----

static FloStatus reserve(FloSoftBody *own, int which, size_t size, FloMemory *memory, void *data,
                         FloError *error) {
  FLO_TRY(flo_buffer_reserve_zeros(memory, &own->buffers[which], size + 1, error));
  memcpy(data, &own->buffers[which].data, sizeof(void *));
  return FLO_OK;
}

static FloStatus reserve_all(FloSoftBody *own, FloMemory *memory, FloError *error) {
  const size_t numbers = own->n_numbers * sizeof(double);
  FLO_TRY(reserve(own, FLO_SOFT_PUSHES, numbers, memory, &own->pushes, error));
  FLO_TRY(reserve(own, FLO_SOFT_LOADS, numbers, memory, &own->loads, error));
  FLO_TRY(reserve(own, FLO_SOFT_ROOM, numbers, memory, &own->room, error));
  FLO_TRY(reserve(own, FLO_SOFT_MARKED, FLO_N_MARKS * 4 * numbers, memory, &own->marked, error));
  return reserve(own, FLO_SOFT_NODES, own->n * sizeof(FloNode), memory, &own->nodes, error);
}

// The start's velocity and spin about the centre of mass.
static void start_motion(FloBody *body, const FloBodyDef *def) {
  FloSoftBody *own = flo_soft_body(body);
  read_nodes(body);
  read_state(body);
  for (size_t k = 0; k < own->n; ++k) {
    double arm[3], turn[3];
    vec_sub(own->x + 3 * k, body->state.pose.position, arm);
    vec_cross(def->angular_velocity, arm, turn);
    vec_add(def->velocity, turn, own->v + 3 * k);
  }
}

FloStatus flo_soft_body_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FLO_TRY(flo_motion_check_start(def, making->dim, error));
  own->n = flo_soft_count(own->soft), own->n_numbers = 3 * own->n, own->threads = making->threads;
  own->x = flo_soft_positions(own->soft), own->v = flo_soft_velocities(own->soft);
  FLO_TRY(reserve_all(own, making->memory, error));
  body->nodes = own->nodes, body->n_nodes = own->n, body->is_moving = true;
  body->state.pose = def->pose;
  for (size_t k = 0; k < own->n; ++k) {
    own->mass += flo_soft_masses(own->soft)[k];
    own->nodes[k].is_held = is_held_at(body, making->time);
    own->nodes[k].locks[2] = making->dim == 2;
  }
  FLO_TRY(flo_soft_body_make_pins(body, def, making, error));
  start_motion(body, def);
  flo_soft_body_refresh(body);
  own->has_moved = own->is_stretched;
  FLO_TRY(flo_soft_distance_make(body, making->memory, error));
  FLO_TRY(flo_buffer_reserve(making->memory, &own->buffers[FLO_SOFT_START],
                             own->n_numbers * sizeof(double) + 1, 0, error));
  own->start = memcpy(own->buffers[FLO_SOFT_START].data, own->x, own->n_numbers * sizeof(double));
  return FLO_OK;
}

void flo_soft_body_discard(FloBody *body, FloMemory *memory) {
  FloSoftBody *own = flo_soft_body(body);
  flo_soft_destroy(own->soft, memory);
  flo_mesh_sampler_destroy(own->sampler);
  if (own->surface.memory) flo_mesh_free(&own->surface);
  if (own->shown.memory) flo_mesh_free(&own->shown);
  if (own->faces.memory) flo_mesh_free(&own->faces);
  flo_moving_tree_free(&own->tree, memory);
  for (size_t k = 0; k < FLO_COUNT_OF(own->buffers); ++k) flo_buffer_free(memory, &own->buffers[k]);
}

// ---- Motion ----

void flo_soft_body_begin(FloBody *body, double time) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n; ++k) own->nodes[k].is_held = is_held_at(body, time);
  flo_soft_body_begin_pins(body, time);
  read_nodes(body);
}

static void fail(FloSoftBody *own, const FloError *error) {
  if (own->has_failed) return;
  own->has_failed = true;
  own->trouble = *error;
}

// Bodies that are held do not move. Nor do those whose step has failed: the step of the world ends with that
// error, and nothing is left to be done with them.
static bool is_idle(const FloSoftBody *own) {
  return own->has_failed || (own->n > 0 && own->nodes[0].is_held);
}

void flo_soft_body_kick(FloBody *body, const double gravity[3], const double *wrenches, double dt) {
  FloSoftBody *own = flo_soft_body(body);
  FloSoftReport report;
  FloError error;
  memset(own->pushes, 0, own->n_numbers * sizeof *own->pushes);
  own->dt = dt;
  own->has_failed = own->is_unbalanced = false;
  flo_soft_forget(own->soft); // a run that was resumed does not know earlier steps
  if (is_idle(own)) return;
  for (size_t k = 0; k < own->n; ++k) {
    double *impulse = own->room + 3 * k;
    vec_scale(gravity, own->nodes[k].mass, impulse);
    if (wrenches) vec_add(impulse, wrenches + 6 * k, impulse);
    vec_scale(impulse, dt, impulse);
  }
  if (flo_soft_begin(own->soft, own->room, dt, own->threads, &report, &error) != FLO_OK) fail(own, &error);
  read_nodes(body);
  read_state(body);
}

void flo_soft_body_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]) {
  FloSoftBody *own = flo_soft_body(body);
  (void)turn; // a vertex does not turn: the shares of a sample's nodes turn the body
  vec_add(own->pushes + 3 * node, impulse, own->pushes + 3 * node);
  for (int axis = 0; axis < 3; ++axis)
    own->nodes[node].velocity[axis] += own->nodes[node].inverse_mass[axis] * impulse[axis];
}

void flo_soft_body_respond(const FloBody *body, const double *impulses, double *changes) {
  const FloSoftBody *own = flo_soft_body(body);
  if (is_idle(own))
    memset(changes, 0, own->n_numbers * sizeof *changes);
  else
    flo_soft_respond(own->soft, impulses, changes);
}

void flo_soft_body_settle(FloBody *body, const double *impulses) {
  FloSoftBody *own = flo_soft_body(body);
  FloSoftReport report;
  FloError error;
  if (is_idle(own)) return;
  if (flo_soft_settle(own->soft, impulses, own->dt, own->threads, &report, &error) != FLO_OK)
    fail(own, &error);
  read_nodes(body);
  for (size_t k = 0; k < own->n; ++k)
    vec_add(own->nodes[k].velocity, flo_soft_ahead(own->soft) + 3 * k, own->nodes[k].velocity);
}

void flo_soft_body_move(FloBody *body, double dt) {
  FloSoftBody *own = flo_soft_body(body);
  FloSoftReport report;
  FloError error;
  if (is_idle(own)) return;
  if (flo_soft_end(own->soft, own->pushes, dt, own->threads, &report, &error) != FLO_OK) fail(own, &error);
  own->is_unbalanced = report.is_unbalanced;
  memset(own->pushes, 0, own->n_numbers * sizeof *own->pushes);
  flo_soft_body_end_pins(body, dt);
  own->has_moved = true;
  read_nodes(body);
  read_state(body);
  flo_soft_skin_turn(body);
}

void flo_soft_body_move_again(FloBody *body, const double *from, double dt) {
  FloSoftBody *own = flo_soft_body(body);
  FloSoftReport report;
  FloError error;
  if (flo_soft_end_again(own->soft, from, own->pushes, dt, own->threads, &report, &error) != FLO_OK)
    fail(own, &error);
  own->is_unbalanced = report.is_unbalanced;
  memset(own->pushes, 0, own->n_numbers * sizeof *own->pushes);
  flo_soft_body_end_pins(body, dt);
  flo_soft_body_correct(body);
}

void flo_soft_body_correct(FloBody *body) {
  flo_soft_body(body)->is_struck = false;
  read_nodes(body);
  read_state(body);
  flo_soft_skin_face(body);
}

void flo_soft_body_strike(const FloGrip *grip, const double impulse[3]) {
  FloSoftBody *own = flo_soft_body(grip->body);
  own->is_struck = true;
  for (int k = 0; k < grip->count; ++k) {
    const size_t number = grip->parts[k].number;
    FloNode *node = &own->nodes[number];
    for (int axis = 0; axis < 3; ++axis)
      node->velocity[axis] += node->inverse_mass[axis] * grip->parts[k].share * impulse[axis];
    vec_copy(node->velocity, own->v + 3 * number);
  }
}

void flo_soft_body_shift(FloBody *body, size_t node, const double way[3]) {
  FloSoftBody *own = flo_soft_body(body);
  vec_add(own->x + 3 * node, way, own->x + 3 * node);
  vec_copy(own->x + 3 * node, own->nodes[node].position);
}

static double *marked_at(const FloSoftBody *own, FloMark mark) {
  return own->marked + 4 * own->n_numbers * (size_t)mark;
}

const double *flo_soft_body_marked(const FloBody *body, FloMark mark) {
  return marked_at(flo_soft_body(body), mark);
}

void flo_soft_body_mark(FloBody *body, FloMark mark) {
  const FloSoftBody *own = flo_soft_body(body);
  double *x = marked_at(own, mark), *v = x + own->n_numbers, *reactions = v + own->n_numbers;
  memcpy(x, own->x, own->n_numbers * sizeof(double));
  memcpy(v, own->v, own->n_numbers * sizeof(double));
  for (size_t k = 0; k < own->n; ++k) memcpy(reactions + 6 * k, own->nodes[k].reaction, 6 * sizeof(double));
}

// A step begins without pushes.
void flo_soft_body_rewind(FloBody *body, FloMark mark) {
  FloSoftBody *own = flo_soft_body(body);
  const double *x = marked_at(own, mark), *v = x + own->n_numbers, *reactions = v + own->n_numbers;
  memcpy(own->x, x, own->n_numbers * sizeof(double));
  memcpy(own->v, v, own->n_numbers * sizeof(double));
  for (size_t k = 0; k < own->n; ++k) memcpy(own->nodes[k].reaction, reactions + 6 * k, 6 * sizeof(double));
  if (mark == FLO_MARK_STEP) memset(own->pushes, 0, own->n_numbers * sizeof *own->pushes);
  read_nodes(body);
  read_state(body);
  flo_soft_distance_refit(body);
}

// ---- Measurements ----

void flo_soft_body_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out) {
  const FloSoftBody *own = flo_soft_body(body);
  if (is_idle(own)) return;
  for (size_t k = 0; k < own->n; ++k) {
    const FloNode *node = &own->nodes[k];
    double momentum[3], orbit[3];
    vec_scale(node->velocity, node->mass, momentum);
    vec_cross(node->position, momentum, orbit);
    vec_add(out->momentum, momentum, out->momentum);
    vec_add(out->angular_momentum, orbit, out->angular_momentum);
    out->kinetic_energy += vec_dot(momentum, node->velocity) / 2;
    out->potential_energy -= node->mass * vec_dot(gravity, node->position);
  }
  out->potential_energy += flo_soft_energy(own->soft);
}
