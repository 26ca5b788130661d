#include "coupling/forces/body_rows.h"

#include "base/parallel.h"

#include <string.h>

enum { MOTION, FORCE, WRENCHES };
enum { BODIES_PER_CHUNK = 4 };

static FloStatus reserve(FloBodyRows *rows, FloWorld *world, FloError *error) {
  const size_t n_quads = 4 * (world->sets[FLO_SET_RIGID].capacity + FLO_BLOCK) * sizeof(float);
  const size_t n_wrenches = 6 * (world->nodes.count + 1) * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[MOTION], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[FORCE], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[WRENCHES], n_wrenches, 0, error));
  rows->motion = rows->buffers[MOTION].data;
  rows->force = rows->buffers[FORCE].data;
  rows->wrenches = rows->buffers[WRENCHES].data;
  return FLO_OK;
}

FloStatus flo_body_rows_prepare(FloBodyRows *rows, FloWorld *world, FloError *error) {
  rows->is_used = world->sets[FLO_SET_RIGID].count > 0 && world->sets[FLO_SET_FLUID].count > 0;
  if (!rows->is_used) return FLO_OK;
  FLO_TRY(reserve(rows, world, error));
  return flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, error);
}

static void sweep_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  flo_passes()->fluid_forces_on_solid(context, begin, end);
}

void flo_body_rows_sweep(FloBodyRows *rows, FloWorld *world, FloSolidForces forces) {
  forces.pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  forces.solid = rows->motion, forces.force = rows->force;
  memset(rows->force, 0, 4 * world->sets[FLO_SET_RIGID].count * sizeof(float));
  flo_each_block(world, FLO_SET_RIGID, FLO_SET_FLUID, sweep_range, &forces);
}

void flo_body_rows_add_wrenches(const FloBodyRows *rows, const FloWorld *world, double *wrenches) {
  for (size_t k = 0; rows->is_used && k < 6 * world->nodes.count; ++k) wrenches[k] += rows->wrenches[k];
}

void flo_world_note_rows(FloWorld *world, const FloBodyRows *rows) {
  for (size_t k = 0; rows->is_used && k < world->nodes.count; ++k) {
    FloBody *body = flo_node_body(world, k);
    const double *wrench = rows->wrenches + 6 * k;
    flo_body_add_force(body, wrench, wrench + 3, flo_node_at(world, k)->position, body->state.pose.position);
  }
}

void flo_world_push_by_rows(FloWorld *world, const FloBodyRows *rows, double dt) {
  for (size_t k = 0; rows->is_used && k < world->nodes.count; ++k) {
    double impulse[6];
    for (int row = 0; row < 6; ++row) impulse[row] = dt * rows->wrenches[6 * k + (size_t)row];
    flo_node_push(world, k, impulse, impulse + 3);
  }
  flo_world_note_rows(world, rows);
}

void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory) {
  flo_buffers_free(memory, rows->buffers, FLO_COUNT_OF(rows->buffers));
}

// ---- Between samples and nodes ----

typedef struct Spread {
  FloWorld *world;
  const double *motions; // six velocities of each node; NULL: present ones
  const float *forces;   // quadruples of each sample
  float *quads;          // out
  double *wrenches;      // out
} Spread;

// Vector from a node to a sample.
static void arm_to(const FloParticles *samples, size_t i, const FloNode *node, double arm[3]) {
  const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
  vec_sub(x, node->position, arm);
}

// The six velocities of a node; zeros if it is held.
static void read_motion(const FloNode *node, double motion[6]) {
  memset(motion, 0, 6 * sizeof *motion);
  if (node->is_held) return;
  vec_copy(node->velocity, motion);
  vec_copy(node->angular_velocity, motion + 3);
}

// The same, or the given velocities.
static void motion_of(const Spread *spread, const FloBody *body, size_t number, double motion[6]) {
  if (spread->motions)
    memcpy(motion, spread->motions + 6 * (body->first_node + number), 6 * sizeof *motion);
  else
    read_motion(&body->nodes[number], motion);
}

static void spread_sample(const Spread *spread, const FloBody *body, const FloParticles *samples, size_t i) {
  const FloCarriers carriers = flo_body_carriers(body, samples, i);
  double v[3] = {0}, arm[3], turn[3], motion[6];
  for (int k = 0; k < carriers.count; ++k) {
    motion_of(spread, body, carriers.nodes[k], motion);
    arm_to(samples, i, &body->nodes[carriers.nodes[k]], arm);
    vec_cross(motion + 3, arm, turn);
    vec_add(motion, turn, turn);
    vec_add_scaled(v, turn, carriers.shares[k], v);
  }
  for (int axis = 0; axis < 3; ++axis) spread->quads[4 * i + (size_t)axis] = (float)v[axis];
}

static void spread_body(const Spread *spread, const FloBody *body) {
  const FloParticles *samples = &spread->world->sets[FLO_SET_RIGID];
  const double per_volume = 1 / flo_world_rest_volume(spread->world);
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    spread_sample(spread, body, samples, i);
    spread->quads[4 * i + 3] = (float)((double)samples->volume[i] * per_volume);
  }
}

static void gather_sample(const Spread *spread, const FloBody *body, const FloParticles *samples, size_t i) {
  const FloCarriers carriers = flo_body_carriers(body, samples, i);
  const float *f = spread->forces + 4 * i;
  for (int k = 0; k < carriers.count; ++k) {
    double force[3] = {(double)f[0], (double)f[1], (double)f[2]}, arm[3], torque[3];
    double *wrench = spread->wrenches + 6 * (body->first_node + carriers.nodes[k]);
    vec_scale(force, carriers.shares[k], force);
    arm_to(samples, i, &body->nodes[carriers.nodes[k]], arm);
    vec_cross(arm, force, torque);
    vec_add(wrench, force, wrench);
    vec_add(wrench + 3, torque, wrench + 3);
  }
}

static void gather_body(const Spread *spread, const FloBody *body) {
  const FloParticles *samples = &spread->world->sets[FLO_SET_RIGID];
  memset(spread->wrenches + 6 * body->first_node, 0, 6 * body->n_nodes * sizeof(double));
  for (size_t i = body->first; i < body->first + body->count; ++i) gather_sample(spread, body, samples, i);
}

// Whether forces move the body, and its samples are those that methods sweep.
static bool has_swept_samples(const FloBody *body) {
  return flo_body_is_pushed(body) && body->kind->set == FLO_SET_RIGID;
}

static void spread_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Spread *spread = context;
  for (size_t k = begin; k < end; ++k)
    if (has_swept_samples(&flo_bodies(spread->world)[k])) spread_body(spread, &flo_bodies(spread->world)[k]);
}

static void gather_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Spread *spread = context;
  for (size_t k = begin; k < end; ++k)
    if (has_swept_samples(&flo_bodies(spread->world)[k])) gather_body(spread, &flo_bodies(spread->world)[k]);
}

void flo_world_spread_motions(FloWorld *world, const double *motions, float *quads) {
  Spread spread = {.world = world, .motions = motions, .quads = quads};
  const double since = flo_seconds();
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, spread_range, &spread);
  world->skin_seconds += flo_seconds() - since;
}

void flo_world_gather_wrenches(FloWorld *world, const float *forces, double *wrenches) {
  Spread spread = {.world = world, .forces = forces, .wrenches = wrenches};
  const double since = flo_seconds();
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, gather_range, &spread);
  world->skin_seconds += flo_seconds() - since;
}

void flo_world_read_motions(const FloWorld *world, double *motions) {
  for (size_t k = 0; k < world->nodes.count; ++k) read_motion(flo_node_at(world, k), motions + 6 * k);
}
