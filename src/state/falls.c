// How far and how fast things can fall.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "state/state.h"

// Drops that have fallen past all walls touch nothing any more. Their speed grows without limit and must not
// shorten the step.
bool flo_world_is_lost(const FloWorld *world, const double x[3]) {
  return vec_dot(x, world->def.gravity) > world->lost_depth * vec_length(world->def.gravity);
}

static void raise_speed(const void *context, size_t begin, size_t end, double *partial) {
  const FloWorld *world = context;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]}, x[3] = {p->x[i], p->y[i], p->z[i]};
    if (!flo_world_is_lost(world, x)) partial[0] = fmax(partial[0], vec_dot(v, v));
  }
}

double flo_world_measure_speed(const FloWorld *world) {
  double speed2 = 0;
  flo_parallel_max(world->threads, world->sets[FLO_SET_FLUID].count, raise_speed, world, 1, &speed2);
  return sqrt(fmax(speed2, 0));
}

// ---- How far fluid can fall ----

typedef struct Extent {
  const FloParticles *particles;
  const double *direction; // of gravity, unit length
} Extent;

static void raise_extent(const void *context, size_t begin, size_t end, double *maxima) {
  const Extent *extent = context;
  const FloParticles *p = extent->particles;
  for (size_t i = begin; i < end; ++i) {
    double x[3] = {p->x[i], p->y[i], p->z[i]}, depth = vec_dot(x, extent->direction);
    maxima[0] = fmax(maxima[0], depth);
    maxima[1] = fmax(maxima[1], -depth);
  }
}

double flo_world_fall_height(const FloWorld *world) {
  const FloSet sets[] = {FLO_SET_FLUID, FLO_SET_BOUNDARY};
  double lowest = -INFINITY, highest = -INFINITY, direction[3], g = vec_length(world->def.gravity);
  if (g == 0) return 0;
  vec_scale(world->def.gravity, 1 / g, direction);
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k) {
    Extent extent = {&world->sets[sets[k]], direction};
    double reach[2];
    flo_parallel_max(world->threads, extent.particles->count, raise_extent, &extent, 2, reach);
    lowest = fmax(lowest, reach[0]);
    if (sets[k] == FLO_SET_FLUID) highest = reach[1];
  }
  for (size_t k = 0; k < world->emitters.count; ++k)
    highest = fmax(highest, -vec_dot(flo_emitters(world)[k].def.pose.position, direction));
  return fmax(lowest + highest, 0);
}

// Whether an axis is locked along which gravity acts, so that the body may stay below all walls. A body that
// is held counts only by its release.
static bool hangs(const FloWorld *world, const FloBody *body) {
  for (size_t node = 0; node < body->n_nodes; ++node)
    for (int axis = 0; axis < 3; ++axis)
      if (body->nodes[node].locks[axis] && world->def.gravity[axis] != 0) return true;
  return false;
}

void flo_world_find_lost_depth(FloWorld *world) {
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  double direction[3], reach[2], g = vec_length(world->def.gravity);
  // Bodies that move or hang below all walls may still meet falling fluid. So may a sink.
  bool can_change = g == 0 || walls->count == 0 || world->sinks.count > 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    can_change = can_change || body->kind->follow || body->release > 0 || hangs(world, body);
  }
  for (int axis = 0; axis < 3; ++axis)
    can_change = can_change || (world->def.periodic[axis] && world->def.gravity[axis] != 0);
  world->lost_depth = INFINITY;
  if (can_change) return;
  vec_scale(world->def.gravity, 1 / g, direction);
  Extent extent = {walls, direction};
  flo_parallel_max(world->threads, walls->count, raise_extent, &extent, 2, reach);
  world->lost_depth = reach[0] + 2 * world->kernel.support;
}

double flo_world_expected_speed(const FloWorld *world) {
  double speed = fmax(world->max_speed, flo_world_scheduled_wall_speed(world));
  for (size_t k = 0; k < world->emitters.count; ++k) speed = fmax(speed, flo_emitters(world)[k].def.speed);
  double g = vec_length(world->def.gravity);
  return sqrt(speed * speed + 2 * g * flo_world_fall_height(world));
}

double flo_world_max_emitter_speed(const FloWorld *world) {
  double fastest = 0, soon = world->time + world->def.max_time_step;
  for (size_t e = 0; e < world->emitters.count; ++e) {
    const FloEmitter *emitter = &flo_emitters(world)[e];
    if (emitter->is_alive && emitter->def.start <= soon && world->time < emitter->def.end)
      fastest = fmax(fastest, emitter->def.speed);
  }
  return fastest;
}

bool flo_world_may_have_fluid(const FloWorld *world) {
  return world->sets[FLO_SET_FLUID].count > 0 || flo_world_max_emitter_speed(world) > 0;
}

// What an iteration leaves of a contact's error is a share of the way that gravity moves things by in a step.
// So that dry stones settle by less than shows, that way is at most this share of a spacing.
#define FALL_SHARE 0.002

double flo_world_dry_dt(const FloWorld *world) {
  const double g = vec_length(world->def.gravity);
  return world->nodes.count > 0 && g > 0 ? sqrt(FALL_SHARE * world->def.spacing / g) : INFINITY;
}

double flo_world_expected_body_speed(const FloWorld *world) {
  double g = vec_length(world->def.gravity), fastest = 0, lowest = -INFINITY;
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = 0; i < walls->count; ++i) {
    const double x[3] = {walls->x[i], walls->y[i], walls->z[i]};
    lowest = fmax(lowest, vec_dot(x, world->def.gravity));
  }
  for (size_t k = 0; k < world->bodies.count; ++k)
    for (size_t n = 0; n < flo_bodies(world)[k].n_nodes; ++n) {
      const FloNode *node = &flo_bodies(world)[k].nodes[n];
      double v2 = vec_dot(node->velocity, node->velocity);
      double drop = lowest - vec_dot(node->position, world->def.gravity);
      fastest = fmax(fastest, v2 + (g > 0 ? 2 * fmax(drop, 0) : 0));
    }
  return sqrt(fastest);
}
