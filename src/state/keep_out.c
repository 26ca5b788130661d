// Keeps the centres of fluid particles out of bodies.
//
// Pressure keeps fluid one spacing away from the samples, but a single fast drop has little of it and would
// slip through between four of them. So a particle near a body whose next position would lie inside the body
// loses just as much of its approach as keeps it on the surface. The body feels the opposite push. Only
// particles with a sample of the body in reach are looked at: a particle that travels farther than that in
// one step, or through a body thinner than the step, can still pass.
#include "state/state.h"

// Deeper inside than this, in spacings, a particle is left alone: it did not just come in, and is not to be
// stirred.
#define MAX_DEPTH 0.4

double flo_world_wall_thickness(const FloWorld *world) { return 2 * world->kernel.support; }

// The velocity to add to a particle at x so that it does not enter the body; false if none is needed.
static bool deflect(const FloWorld *world, const FloBody *body, const double x[3], const double v[3],
                    double dt, double push[3]) {
  return body->kind->deflect(body, &world->domain, x, v, dt, MAX_DEPTH * world->def.spacing, push);
}

// The push by one body; a particle in a corner may get three. A further one adds to that of the same body, or
// to the last.
static void record_push(FloWorld *world, size_t i, size_t sample, const float added[3]) {
  FloWallRoom *room = (FloWallRoom *)world->wall_rooms.data + i;
  int k = 0;
  while (k + 1 < FLO_MAX_PUSHES && room->by[k].sample >= 0 &&
         flo_world_body_of(world, (size_t)room->by[k].sample) != flo_world_body_of(world, sample))
    ++k;
  if (room->by[k].sample < 0) room->by[k].sample = (int32_t)sample;
  for (int axis = 0; axis < 3; ++axis) room->by[k].velocity[axis] += added[axis];
}

// Adds to the velocity of particle i; `added` gets what was really added, so that the body gets exactly the
// opposite.
static void change_velocity(FloParticles *p, size_t i, const double push[3], double dt, float added[3]) {
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]},
        *acceleration[3] = {&p->ax[i], &p->ay[i], &p->az[i]};
  for (int axis = 0; axis < 3; ++axis) {
    float before = *velocity[axis];
    *velocity[axis] = (float)((double)before + push[axis]);
    added[axis] = *velocity[axis] - before;
    *acceleration[axis] += (float)((double)added[axis] / dt);
  }
}

// ---- Walls, which do not give way ----

static void keep_out_of_wall(FloWorld *world, size_t i, const FloNearBody *near, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]},
               v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
  double push[3];
  float added[3];
  if (p->held[i] || !deflect(world, &flo_bodies(world)[near->body], x, v, dt, push)) return;
  change_velocity(p, i, push, dt, added);
  record_push(world, i, near->sample, added);
}

static float clearance_of(const FloWorld *world, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  double clearance = INFINITY;
  for (FloNearBody near = {0}; flo_near_next(world, i, &near);)
    clearance = fmin(clearance, flo_world_distance(world, &flo_bodies(world)[near.body], x));
  return (float)clearance;
}

typedef struct KeepOut {
  double dt;
  float moved; // no particle is farther from where the lists were made [m]
  float wall_speed;
  bool has_clearances; // as they were when the lists were made
} KeepOut;

// A particle that had clearance when the lists were made, more than it can have used up, needs no closer
// look.
static void keep_row_out(FloWorld *world, const KeepOut *keep, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloWallRoom *room = (FloWallRoom *)world->wall_rooms.data + i;
  float speed = sqrtf(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]) + keep->wall_speed;
  *room = flo_empty_room(keep->has_clearances ? room->clearance : clearance_of(world, i));
  if (room->clearance > keep->moved + speed * (float)keep->dt) return;
  // Bodies that give way come later, one particle after the other.
  for (FloNearBody near = {0}; flo_near_next(world, i, &near) && !near.is_past_walls;)
    keep_out_of_wall(world, i, &near, keep->dt);
}

void flo_world_keep_out(FloWorld *world, size_t begin, size_t end, double dt) {
  KeepOut keep = {.dt = dt,
                  .moved = (float)((world->lists.reach - 1) / 2 * world->kernel.support),
                  .wall_speed = (float)flo_world_any_wall_speed(world),
                  .has_clearances = flo_world_has_clearances(world)};
  for (size_t i = begin; i < end; ++i)
    if (flo_world_is_near_solids(world, i)) keep_row_out(world, &keep, i);
}

// ---- Bodies that give way ----

// Where particle i was before it went on for dt.
static void position_before(const FloParticles *p, size_t i, double dt, double x[3]) {
  const double v[3] = {(double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
                       (double)p->vz[i] + (double)p->vz_low[i]};
  vec_set(x, p->x[i], p->y[i], p->z[i]);
  vec_add_scaled(x, v, -dt, x);
}

// Gives a body the opposite of what particle i was given, where the particle was when it was deflected, so
// that angular momentum is kept too.
static void push_body(FloWorld *world, size_t i, size_t sample, const float added[3], double dt) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloBody *body = flo_world_body_of(world, sample);
  double x[3], impulse[3], arm[3], turn[3];
  size_t index;
  const FloParticles *samples = flo_world_find_sample(world, sample, &index);
  position_before(p, i, dt, x);
  const FloGrip grip = flo_body_grip(body, &world->domain, samples, index, x);
  for (int axis = 0; axis < 3; ++axis) impulse[axis] = -(double)p->mass[i] * (double)added[axis];
  flo_grip_push(&grip, impulse);
  flo_world_nearest_image(world, grip.parts->node->position, x, x);
  vec_sub(x, body->state.pose.position, arm);
  vec_cross(arm, impulse, turn);
  vec_add_scaled(body->state.force, impulse, 1 / dt, body->state.force);
  vec_add_scaled(body->state.torque, turn, 1 / dt, body->state.torque);
}

// The part of a push that a particle at x takes where the body gives way: as in a collision without rebound.
// A body lighter than the particle, taken for a wall, would gain energy by it.
static void share_push(FloWorld *world, size_t i, size_t sample, const double x[3], double push[3]) {
  size_t index;
  const FloParticles *samples = flo_world_find_sample(world, sample, &index);
  const FloGrip grip = flo_body_grip(flo_world_body_of(world, sample), &world->domain, samples, index, x);
  double normal[3], mass = (double)world->sets[FLO_SET_FLUID].mass[i];
  vec_scale(push, 1 / vec_length(push), normal);
  vec_scale(push, 1 / (1 + mass * flo_grip_response(&grip, normal)), push);
}

static void keep_out_of_body(FloWorld *world, size_t i, const FloNearBody *near, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
  double x[3] = {p->x[i], p->y[i], p->z[i]}, push[3];
  float added[3];
  vec_add_scaled(x, v, -dt, x);
  if (p->held[i] || !deflect(world, &flo_bodies(world)[near->body], x, v, dt, push)) return;
  share_push(world, i, near->sample, x, push);
  change_velocity(p, i, push, dt, added);
  double *position[3] = {&p->x[i], &p->y[i], &p->z[i]};
  for (int axis = 0; axis < 3; ++axis) *position[axis] += dt * (double)added[axis];
  record_push(world, i, near->sample, added);
  push_body(world, i, near->sample, added, dt);
}

void flo_world_push_bodies(FloWorld *world, double dt) {
  if (world->sets[FLO_SET_RIGID].count == 0) return;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_FLUID, FLO_SET_RIGID, i, &near);)
      keep_out_of_body(world, i, &near, dt);
}

void flo_world_add_pushes(FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  if (!flo_world_has_clearances(world)) return; // the method keeps particles out in its own way
  for (size_t i = 0; i < p->count; ++i) {
    if (!flo_world_is_near_solids(world, i)) continue;
    float scale = p->mass[i] / (float)world->force_dt;
    for (int k = 0; k < FLO_MAX_PUSHES; ++k) {
      const FloPush *push = &((const FloWallRoom *)world->wall_rooms.data)[i].by[k];
      size_t index;
      if (push->sample < 0) continue;
      FloParticles *s = flo_world_find_sample(world, (size_t)push->sample, &index);
      s->fx[index] -= scale * push->velocity[0];
      s->fy[index] -= scale * push->velocity[1];
      s->fz[index] -= scale * push->velocity[2];
    }
  }
}
