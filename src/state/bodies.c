// Bodies in a step: one stage begins, advances and watches all of them. It is the same for every kind of body
// and every method.
#include "base/parallel.h"
#include "state/state.h"

#include <string.h>

enum { BODIES_PER_CHUNK = 4 };

void flo_world_place_samples(FloWorld *world, const FloBody *body) {
  body->kind->place(body, flo_samples_of(world, body));
  if (body->kind->set == FLO_SET_BOUNDARY) flo_epoch_note(world, &world->epochs.walls);
}

// ---- The stage ----

static size_t count_held(const FloBody *body) {
  size_t n = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) n += body->nodes[k].is_held;
  return n;
}

FloStatus flo_world_begin_bodies(FloWorld *world, FloError *error) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    size_t n_held = count_held(body);
    if (body->kind->begin) body->kind->begin(body, world->time);
    if (count_held(body) != n_held) flo_world_place_samples(world, body);
  }
  return flo_world_resample(world, error);
}

void flo_world_kick_bodies(FloWorld *world, const double *wrenches, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_pushed(body))
      body->kind->kick(body, world->def.gravity, wrenches ? wrenches + 6 * body->first_node : NULL, dt);
  }
}

void flo_world_advance_bodies(FloWorld *world, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    body->kind->move(body, dt);
    flo_world_place_samples(world, body);
  }
}

void flo_world_finish_bodies(FloWorld *world) {
  double since = flo_seconds();
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_led(body)) continue;
    body->kind->follow(body, world->time);
    flo_world_place_samples(world, body);
  }
  flo_world_watch_bodies(world);
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
}

void flo_world_clear_body_forces(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    vec_set(body->state.force, 0, 0, 0);
    vec_set(body->state.torque, 0, 0, 0);
  }
}

void flo_body_add_force(FloBody *body, const double force[3], const double torque[3], const double centre[3],
                        const double origin[3]) {
  double arm[3], turn[3];
  vec_sub(centre, origin, arm);
  vec_cross(arm, force, turn);
  vec_add(torque, turn, turn);
  vec_add(body->state.force, force, body->state.force);
  vec_add(body->state.torque, turn, body->state.torque);
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

// The six velocities of a node.
static void motion_of(const Spread *spread, const FloBody *body, size_t number, double motion[6]) {
  const FloNode *node = &body->nodes[number];
  memset(motion, 0, 6 * sizeof *motion);
  if (spread->motions) {
    memcpy(motion, spread->motions + 6 * (body->first_node + number), 6 * sizeof *motion);
  } else if (!node->is_held) {
    vec_copy(node->velocity, motion);
    vec_copy(node->angular_velocity, motion + 3);
  }
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
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, spread_range, &spread);
}

void flo_world_gather_wrenches(FloWorld *world, const float *forces, double *wrenches) {
  Spread spread = {.world = world, .forces = forces, .wrenches = wrenches};
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, gather_range, &spread);
}

void flo_world_read_motions(const FloWorld *world, double *motions) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    for (size_t n = 0; n < flo_bodies(world)[k].n_nodes; ++n, motions += 6) {
      const FloNode *node = &flo_bodies(world)[k].nodes[n];
      memset(motions, 0, 6 * sizeof *motions);
      if (node->is_held) continue;
      vec_copy(node->velocity, motions);
      vec_copy(node->angular_velocity, motions + 3);
    }
}

// ---- Speeds ----

// An upper bound of the distance of samples from their body's position. The samples of a tank are a few
// spacings outside its inner space.
static double sample_reach(const FloWorld *world, const FloBody *body) {
  double low[3], high[3];
  flo_solid_bounds(body->solid, low, high);
  return fmax(vec_length(low), vec_length(high)) + 2 * world->layers * world->def.spacing;
}

bool flo_world_has_led_bodies(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_led(&flo_bodies(world)[k])) return true;
  return false;
}

static double fastest_body(const FloWorld *world, bool with_lost) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!body->is_moving) continue;
    if (!with_lost && flo_world_is_body_lost(world, body)) continue;
    double turning = vec_length(body->state.angular_velocity) * sample_reach(world, body);
    fastest = fmax(fastest, vec_length(body->state.velocity) + turning);
  }
  return fastest;
}

double flo_world_max_wall_speed(const FloWorld *world) { return fastest_body(world, false); }
double flo_world_any_wall_speed(const FloWorld *world) { return fastest_body(world, true); }

double flo_world_scheduled_wall_speed(const FloWorld *world) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->kind->top_speed)
      fastest = fmax(fastest, body->kind->top_speed(body, sample_reach(world, body)));
  }
  return fastest;
}

// ---- Friction and overlaps ----

// Friction of two bodies that both have no coefficient. Also the start value of a change of friction for such
// a body.
#define USUAL_FRICTION 0.5

static double friction_of(const FloBody *body, double time) {
  double now = body->friction;
  for (size_t k = 0; k < body->n_friction_changes && body->friction_changes[k].time <= time; ++k) {
    const FloFrictionChange *change = &body->friction_changes[k];
    double from = now < 0 ? USUAL_FRICTION : now;
    bool is_over = time >= change->time + change->within;
    now = is_over ? change->friction
                  : from + (change->friction - from) * (time - change->time) / change->within;
  }
  return now;
}

double flo_world_friction(const FloWorld *world, const FloBody *a, const FloBody *b) {
  double of_a = friction_of(a, world->time), of_b = friction_of(b, world->time);
  if (of_a < 0 && of_b < 0) return USUAL_FRICTION;
  if (of_a < 0) return of_b;
  return of_b < 0 ? of_a : fmin(of_a, of_b);
}

// Limits the speed at which an overlap vanishes, so that it takes several steps and is no sudden push. That
// speed remains when the overlap has gone. It adds up along a stack, and the top would hop. So the speed is
// proportional to the depth of shallow overlaps. Without gravity a weak gravity is assumed.
double flo_world_parting_speed(const FloWorld *world, double depth) {
  double s = world->def.spacing;
  return 0.5 * sqrt(fmax(vec_length(world->def.gravity), 1) * s) * fmin(depth, s) / s;
}

double flo_world_rolling_friction(const FloBody *a, const FloBody *b) {
  return fmax(a->rolling_friction, b->rolling_friction);
}
