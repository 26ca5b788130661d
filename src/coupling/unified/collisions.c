// Fluid that comes too near to a sample: the collision (13) to (18), and the boundary force (19), (20).
//
// Where this differs from the printed paper:
// - (13) with radii from volumes makes everything at rest collide all the time: they add up to 1.13 spacings
//   in the plane and to 1.24 in space. Here a radius is 0.4 spacings. Moving the particle, as (13) does,
//   would shift the centre of mass and change the angular momentum. Impulses are enough.
// - (14) to (18) with the mass of one sample treat a body as if its samples were loose. Here the body answers
//   by its effective inverse mass there, along the normal and along the slip.
// - Impulses act on the body at the place of the particle. So angular momentum is conserved, friction
//   included.
// - (19) has no reduced mass, so that the force and its opposite differ. Here it has.
//
// Both are off by default. Pressure keeps fluid out of solids by itself up to impacts at the speed of sound,
// and state/keep_out.c stops what would cross a surface. A collision also holds back fluid that a landing
// body presses aside, so that heavy bodies bounce more. Both are counted. Particles that are near a sample
// are found side by side; what collides is visited one after the other, in the order of particles and lists,
// since bodies answer to several.
#include "coupling/unified/near_pair.h"
#include "coupling/unified/unified.h"

#include <string.h>

// Sum of the radii of a particle and a sample, in spacings.
#define COLLISION_REACH 0.8

// A fluid particle and a sample.
typedef struct Meeting {
  FloSet set;                // of the sample
  size_t index;              // of the sample
  double x[3], normal[3], r; // of the particle; from the sample to it; distance [m]
  double velocity[3];        // of the particle relative to the solid, after the forces so far
  FloGrip grip;              // of a body that forces move; count 0: of a wall
  double slip;
} Meeting;

typedef struct Work {
  FloWorld *world;
  FloUnified *unified;
  double dt, reach; // [s], [m]
} Work;

// ---- What is near ----

// The square of the distance of a pair, from its gradient; INFINITY for entries that fill up lists.
static float square_of(const FloPairs *pairs, size_t slot, size_t lane) {
  const FloPairSlot *s = pairs->slots + slot;
  const float gx = s->gx[lane], gy = s->gy[lane], gz = s->gz[lane], g2 = gx * gx + gy * gy + gz * gz;
  const float d = pairs->length2 * pairs->viscous[slot * FLO_BLOCK + lane];
  return g2 > 0 ? d * d * g2 : INFINITY;
}

static bool has_near(const Work *work, FloSet set, size_t i) {
  const FloPairs *pairs = flo_pairs_of(work->world, FLO_SET_FLUID, set);
  if (i >= pairs->n_rows) return false;
  for (size_t k = 0; k < (size_t)pairs->row_count[i]; ++k)
    if (square_of(pairs, pairs->slot_begin[i / FLO_BLOCK] + k, i % FLO_BLOCK) <
        (float)(work->reach * work->reach))
      return true;
  return false;
}

static void near_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i)
    work->unified->is_near[i] =
        !p->held[i] && (has_near(work, FLO_SET_BOUNDARY, i) || has_near(work, FLO_SET_RIGID, i)) ? 1 : 0;
}

// ---- Meetings ----

// The velocity of a particle after the forces of the step so far.
static void predicted_velocity(const Work *work, size_t i, double v[3]) {
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  const float *force = work->unified->force + 4 * i;
  vec_set(v, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
  for (int axis = 0; axis < 3; ++axis)
    v[axis] += work->dt * ((double)force[axis] / (double)p->mass[i] + work->world->def.gravity[axis]);
}

static void meet(const Work *work, size_t i, FloSet set, size_t j, Meeting *m) {
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID], *b = &work->world->sets[set];
  FloBody *body = &flo_bodies(work->world)[b->body[j]];
  m->set = set, m->index = j;
  double there[3] = {b->x[j], b->y[j], b->z[j]},
         v[3] = {(double)b->vx[j], (double)b->vy[j], (double)b->vz[j]};
  vec_set(m->x, p->x[i], p->y[i], p->z[i]);
  flo_world_nearest_image(work->world, m->x, there, there);
  vec_sub(m->x, there, m->normal);
  m->r = vec_length(m->normal);
  vec_scale(m->normal, 1 / m->r, m->normal);
  m->slip = body->slip;
  m->grip.count = 0;
  if (flo_body_is_pushed(body)) {
    m->grip = flo_body_grip(body, &work->world->domain, b, j, m->x);
    flo_grip_velocity(&m->grip, v);
  }
  predicted_velocity(work, i, m->velocity);
  vec_sub(m->velocity, v, m->velocity);
}

// Sum of the inverse masses of particle and solid along a direction.
static double response_along(const Work *work, size_t i, const Meeting *m, const double direction[3]) {
  const double own = 1 / (double)work->world->sets[FLO_SET_FLUID].mass[i];
  return m->grip.count > 0 ? own + flo_grip_response(&m->grip, direction) : own;
}

// Gives the particle an impulse, as a force for the step, and the solid the opposite.
static void exchange(const Work *work, size_t i, const Meeting *m, const double impulse[3]) {
  float *of_fluid = work->unified->force + 4 * i;
  float *of_sample =
      (m->set == FLO_SET_BOUNDARY ? work->unified->near_wall : work->unified->near_body) + 4 * m->index;
  double force[3], opposite[3], none[3] = {0}, at[3];
  vec_scale(impulse, 1 / work->dt, force);
  for (int axis = 0; axis < 3; ++axis) {
    of_fluid[axis] += (float)force[axis];
    of_sample[axis] -= (float)force[axis];
  }
  if (m->grip.count == 0) return;
  vec_scale(impulse, -1, opposite);
  flo_grip_push(&m->grip, opposite);
  vec_scale(force, -1, force);
  const double *centre = m->grip.body->state.pose.position;
  flo_world_nearest_image(work->world, centre, m->x, at);
  flo_body_add_force(m->grip.body, force, none, at, centre);
}

// ---- The two forces ----

static void collide(const Work *work, size_t i, const Meeting *m) {
  const double closing = -vec_dot(m->velocity, m->normal);
  const double push = near_pair_push(closing, response_along(work, i, m, m->normal));
  double slide[3], impulse[3];
  if (!(push > 0)) return;
  vec_add_scaled(m->velocity, m->normal, closing, slide);
  vec_scale(m->normal, push, impulse);
  const double speed = vec_length(slide);
  if (speed > 0) {
    vec_scale(slide, 1 / speed, slide);
    const double drag = near_pair_drag(speed, m->slip, response_along(work, i, m, slide));
    vec_add_scaled(impulse, slide, -drag, impulse);
  }
  exchange(work, i, m, impulse);
  work->world->n_collisions++;
}

static void repel(const Work *work, size_t i, const Meeting *m) {
  const double stiffness = work->world->params[FLO_UNIFIED_REPULSION], h = work->world->kernel.support / 2;
  double impulse[3];
  vec_scale(m->normal,
            work->dt * near_pair_repulsion(stiffness, response_along(work, i, m, m->normal), m->r, h),
            impulse);
  exchange(work, i, m, impulse);
  work->world->n_repulsions++;
}

typedef void (*MeetFn)(const Work *, size_t i, const Meeting *);

static void visit(const Work *work, size_t i, FloSet set, MeetFn act) {
  const FloPairs *pairs = flo_pairs_of(work->world, FLO_SET_FLUID, set);
  const float reach2 = (float)(work->reach * work->reach);
  if (i >= pairs->n_rows) return;
  for (size_t k = 0; k < (size_t)pairs->row_count[i]; ++k) {
    const size_t slot = pairs->slot_begin[i / FLO_BLOCK] + k, lane = i % FLO_BLOCK;
    Meeting m;
    if (!(square_of(pairs, slot, lane) < reach2)) continue;
    meet(work, i, set, (size_t)pairs->slots[slot].index[lane], &m);
    if (m.r > 0) act(work, i, &m);
  }
}

static void visit_near(Work *work, MeetFn act) {
  const size_t n = work->world->sets[FLO_SET_FLUID].count;
  flo_each_particle(work->world, FLO_SET_FLUID, near_range, work);
  for (size_t i = 0; i < n; ++i) {
    if (!(work->unified->is_near[i] > 0)) continue;
    visit(work, i, FLO_SET_BOUNDARY, act);
    visit(work, i, FLO_SET_RIGID, act);
  }
}

void flo_unified_clear_near(FloWorld *world, FloUnified *unified) {
  memset(unified->near_wall, 0, 4 * world->sets[FLO_SET_BOUNDARY].count * sizeof(float));
  memset(unified->near_body, 0, 4 * world->sets[FLO_SET_RIGID].count * sizeof(float));
}

void flo_unified_collide(FloWorld *world, FloUnified *unified, double dt) {
  Work work = {world, unified, dt, COLLISION_REACH * world->def.spacing};
  if (world->params[FLO_UNIFIED_COLLISIONS] != 0) visit_near(&work, collide);
}

void flo_unified_repel(FloWorld *world, FloUnified *unified, double dt) {
  Work work = {world, unified, dt, world->kernel.support};
  if (world->params[FLO_UNIFIED_REPULSION] > 0) visit_near(&work, repel);
}
