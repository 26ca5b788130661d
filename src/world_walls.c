// No fluid particle's centre crosses the surface of a body.
//
// Pressure keeps fluid one spacing away from the samples, but a single fast drop has little of it and would
// slip through between four of them. So a particle near a body whose next position would lie inside the body
// loses just as much of its approach as keeps it on the surface. The body feels the opposite push.
#include "base/pose.h"
#include "world.h"

// Deeper inside than this, in spacings, a particle is left alone: it did not just come in, and is not to be
// stirred.
#define MAX_DEPTH 0.4

// The image of a point that is nearest to a body, in the body's frame.
static void to_body(const FloWorld *world, const FloBody *body, const double x[3], double local[3]) {
  double image[3];
  vec_copy(x, image);
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (!world->def.periodic[axis]) continue;
    double period = world->def.domain_high[axis] - world->def.domain_low[axis];
    image[axis] -= period * round((x[axis] - body->state.pose.position[axis]) / period);
  }
  pose_to_local(&body->state.pose, image, local);
}

bool flo_world_is_in_solid(const FloWorld *world, const double x[3], double wall, double clearance) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double local[3];
    to_body(world, body, x, local);
    if (flo_shape_distance(&body->shape, world->def.dim, local, wall) < clearance) return true;
  }
  return false;
}

// Velocity of the body's material at a point of its frame.
static void velocity_at(const FloBodyState *state, const double local[3], double out[3]) {
  double arm[3];
  quat_rotate(state->pose.rotation, local, arm);
  vec_cross(state->angular_velocity, arm, out);
  vec_add(out, state->velocity, out);
}

// The velocity to add so that a particle at x with velocity v does not enter the body within dt; false if
// none is needed.
static bool deflect(const FloWorld *world, const FloBody *body, const double x[3], const double v[3],
                    double dt, double push[3]) {
  const double wall = world->kernel.support;
  double wall_velocity[3], relative[3], step[3], here[3], there[3], normal[3];
  to_body(world, body, x, here);
  velocity_at(&body->state, here, wall_velocity);
  vec_sub(v, wall_velocity, relative);
  // In the frame that moves with the body, only the relative motion counts.
  quat_rotate_back(body->state.pose.rotation, relative, step);
  vec_add_scaled(here, step, dt, there);
  double depth = -flo_shape_distance(&body->shape, world->def.dim, there, wall);
  if (!(depth > 0) ||
      flo_shape_distance(&body->shape, world->def.dim, here, wall) < -MAX_DEPTH * world->def.spacing)
    return false;
  flo_shape_normal(&body->shape, world->def.dim, there, wall, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
  double approach = -vec_dot(relative, normal);
  if (!(approach > 0)) return false;
  vec_scale(normal, fmin(depth / dt, approach), push);
  return true;
}

static void keep_particle_out(FloWorld *world, size_t i, size_t sample, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloBody *body = &flo_bodies(world)[world->sets[FLO_SET_BOUNDARY].body[sample]];
  const double x[3] = {p->x[i], p->y[i], p->z[i]},
               v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
  double push[3];
  if (p->held[i] || !deflect(world, body, x, v, dt, push)) return;
  FloPush *total = (FloPush *)world->pushes.data + i;
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]},
        *acceleration[3] = {&p->ax[i], &p->ay[i], &p->az[i]};
  total->sample = (int32_t)sample;
  for (int axis = 0; axis < 3; ++axis) {
    float before = *velocity[axis];
    *velocity[axis] = (float)((double)before + push[axis]);
    // What was really added, so that the body gets exactly the opposite.
    total->velocity[axis] += *velocity[axis] - before;
    *acceleration[axis] += (float)((double)(*velocity[axis] - before) / dt);
  }
}

// One lane of a block: each body among its neighbours once, in the order in which they are met.
static void keep_lane_out(FloWorld *world, size_t block, size_t lane, double dt) {
  const FloPairs *pairs = &world->fluid_boundary;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  const uint32_t *body_of = world->sets[FLO_SET_BOUNDARY].body;
  uint32_t last_body = UINT32_MAX;
  for (uint32_t k = 0; k < pairs->slot_count[block]; ++k) {
    bool is_pair = slots[k].gx[lane] != 0 || slots[k].gy[lane] != 0 || slots[k].gz[lane] != 0;
    size_t sample = (size_t)slots[k].index[lane];
    if (!is_pair || body_of[sample] == last_body) continue;
    last_body = body_of[sample];
    keep_particle_out(world, block * FLO_BLOCK + lane, sample, dt);
  }
}

void flo_world_keep_out(FloWorld *world, size_t begin, size_t end, double dt) {
  const FloPairs *pairs = &world->fluid_boundary;
  FloPush *pushes = world->pushes.data;
  for (size_t block = begin / FLO_BLOCK; block * FLO_BLOCK < end; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    for (size_t lane = 0; lane < FLO_BLOCK; ++lane) {
      pushes[block * FLO_BLOCK + lane] = (FloPush){.sample = -1};
      if (block * FLO_BLOCK + lane < end) keep_lane_out(world, block, lane, dt);
    }
  }
}

void flo_world_add_pushes(FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloPairs *pairs = &world->fluid_boundary;
  FloParticles *s = &world->sets[FLO_SET_BOUNDARY];
  if (world->sets[FLO_SET_BOUNDARY].count == 0) return;
  for (size_t i = 0; i < p->count; ++i) {
    const FloPush *push = (const FloPush *)world->pushes.data + i;
    if (pairs->slot_count[i / FLO_BLOCK] == 0 || push->sample < 0) continue;
    float scale = p->mass[i] / (float)world->dt;
    s->fx[push->sample] -= scale * push->velocity[0];
    s->fy[push->sample] -= scale * push->velocity[1];
    s->fz[push->sample] -= scale * push->velocity[2];
  }
}
