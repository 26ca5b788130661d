// Keeps the centres of fluid particles out of bodies.
//
// Pressure keeps fluid one spacing away from the samples, but a single fast drop has little of it and would
// slip through between four of them. So a particle near a body whose next position would lie inside the body
// loses just as much of its approach as keeps it on the surface. The body feels the opposite push.
// Only particles with a sample of the body in reach are looked at: who travels farther than that in one step,
// or through a body thinner than the step, can still pass.
#include "base/pose.h"
#include "state/state.h"

// Deeper inside than this, in spacings, a particle is left alone: it did not just come in, and is not to be
// stirred.
#define MAX_DEPTH 0.4

double flo_world_wall_thickness(const FloWorld *world) { return 2 * world->kernel.support; }

void flo_world_nearest_image(const FloWorld *world, const double centre[3], const double x[3],
                             double image[3]) {
  vec_copy(x, image);
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (!world->def.periodic[axis]) continue;
    double period = world->def.domain_high[axis] - world->def.domain_low[axis];
    image[axis] -= period * round((x[axis] - centre[axis]) / period);
  }
}

// A box as long as the domain repeats has no ends: where along it a point is does not matter.
bool flo_world_is_endless(const FloWorld *world, const FloShape *shape, const FloPose *pose, int axis) {
  const double *q = pose->rotation;
  bool is_turned = q[0] != 0 || q[1] != 0 || q[2] != 0;
  if (!world->def.periodic[axis] || shape->kind != FLO_SHAPE_BOX || is_turned) return false;
  double period = world->def.domain_high[axis] - world->def.domain_low[axis];
  return shape->size[axis] >= period * (1 - 1e-9);
}

static void forget_endless_axes(const FloWorld *world, const FloBody *body, double local[3]) {
  for (int axis = 0; axis < world->def.dim; ++axis)
    if (flo_world_is_endless(world, &body->solid->shape, &body->state.pose, axis)) local[axis] = 0;
}

void flo_world_to_body(const FloWorld *world, const FloBody *body, const FloPose *pose, const double x[3],
                       double local[3]) {
  double image[3];
  flo_world_nearest_image(world, pose->position, x, image);
  pose_to_local(pose, image, local);
  forget_endless_axes(world, body, local);
}

static void to_body(const FloWorld *world, const FloBody *body, const double x[3], double local[3]) {
  flo_world_to_body(world, body, &body->state.pose, x, local);
}

double flo_world_distance(const FloWorld *world, const FloBody *body, const double x[3]) {
  double local[3];
  to_body(world, body, x, local);
  return flo_solid_distance(body->solid, local);
}

void flo_world_normal(const FloWorld *world, const FloBody *body, const double x[3], double normal[3]) {
  double local[3];
  to_body(world, body, x, local);
  flo_solid_normal(body->solid, local, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
}

static double distance_between(const FloWorld *world, const double a[3], const double b[3]) {
  double image[3], between[3];
  flo_world_nearest_image(world, a, b, image);
  vec_sub(image, a, between);
  return vec_length(between);
}

// Most bodies of many are too far away to be asked.
static bool is_out_of_reach(const FloWorld *world, const FloBody *body, const double x[3], double clearance) {
  return distance_between(world, body->state.pose.position, x) > body->reach + fmax(clearance, 0);
}

static void look_around(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near) {
  *near = (FloSolidsNear){.radius = 10 * world->def.spacing};
  vec_copy(x, near->centre);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    if (is_out_of_reach(world, &flo_bodies(world)[k], x, fmax(clearance, 0) + near->radius)) continue;
    near->has_overflow = near->count == FLO_COUNT_OF(near->bodies);
    if (near->has_overflow) return;
    near->bodies[near->count++] = (uint32_t)k;
  }
}

bool flo_world_is_in_solid(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near) {
  if (!(distance_between(world, near->centre, x) < near->radius)) look_around(world, x, clearance, near);
  size_t n = near->has_overflow ? world->bodies.count : near->count;
  for (size_t k = 0; k < n; ++k) {
    const FloBody *body = &flo_bodies(world)[near->has_overflow ? k : near->bodies[k]];
    if (is_out_of_reach(world, body, x, clearance)) continue;
    if (flo_world_distance(world, body, x) < clearance) return true;
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
  double wall_velocity[3], relative[3], step[3], here[3], there[3], normal[3];
  to_body(world, body, x, here);
  velocity_at(&body->state, here, wall_velocity);
  vec_sub(v, wall_velocity, relative);
  // In the frame that moves with the body, only the relative motion counts.
  quat_rotate_back(body->state.pose.rotation, relative, step);
  vec_add_scaled(here, step, dt, there);
  forget_endless_axes(world, body, there);
  double depth = -flo_solid_distance(body->solid, there);
  if (!(depth > 0) || flo_solid_distance(body->solid, here) < -MAX_DEPTH * world->def.spacing) return false;
  flo_solid_normal(body->solid, there, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
  double approach = -vec_dot(relative, normal);
  if (!(approach > 0)) return false;
  vec_scale(normal, fmin(depth / dt, approach), push);
  return true;
}

// The set and index of a sample; those of dynamic bodies are counted on after those of walls.
static FloParticles *find_sample(FloWorld *world, size_t sample, size_t *index) {
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count;
  *index = sample < n_walls ? sample : sample - n_walls;
  return &world->sets[sample < n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID];
}

FloBody *flo_world_body_of(const FloWorld *world, size_t sample) {
  size_t index;
  const FloParticles *set = find_sample((FloWorld *)world, sample, &index);
  return &flo_bodies(world)[set->body[index]];
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

static void keep_particle_out(FloWorld *world, size_t i, size_t sample, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloBody *body = flo_world_body_of(world, sample);
  const double x[3] = {p->x[i], p->y[i], p->z[i]},
               v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
  double push[3];
  if (p->held[i] || !deflect(world, body, x, v, dt, push)) return;
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]},
        *acceleration[3] = {&p->ax[i], &p->ay[i], &p->az[i]};
  float added[3];
  for (int axis = 0; axis < 3; ++axis) {
    float before = *velocity[axis];
    *velocity[axis] = (float)((double)before + push[axis]);
    // What was really added, so that the body gets exactly the opposite.
    added[axis] = *velocity[axis] - before;
    *acceleration[axis] += (float)((double)added[axis] / dt);
  }
  record_push(world, i, sample, added);
}

// Also those just out of the support are met, which a particle may reach while the lists serve.
static void meet_sample(FloNearBodies *near, uint32_t body, size_t sample, float steepness) {
  int k = 0;
  while (k < near->count && near->bodies[k] != body) ++k;
  if (k == FLO_MAX_NEAR_BODIES) return;
  if (k < near->count && near->steepness[k] >= steepness) return;
  if (k == near->count) ++near->count;
  near->bodies[k] = body, near->samples[k] = sample, near->steepness[k] = steepness;
}

static void meet_samples(FloNearBodies *near, const FloPairs *pairs, const uint32_t *bodies, size_t offset,
                         size_t i) {
  size_t block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
  if (i >= pairs->n_rows || pairs->slot_count[block] == 0) return;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    float x = slots[k].gx[lane], y = slots[k].gy[lane], z = slots[k].gz[lane], g2 = x * x + y * y + z * z;
    size_t column = (size_t)slots[k].index[lane];
    meet_sample(near, bodies[column], offset + column, g2);
  }
}

FloNearBodies flo_world_near_bodies(const FloWorld *world, size_t i) {
  FloNearBodies near = {0};
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY], *rigid = &world->sets[FLO_SET_RIGID];
  meet_samples(&near, &world->fluid_boundary, walls->body, 0, i);
  meet_samples(&near, &world->fluid_rigid, rigid->body, walls->count, i);
  return near;
}

static float clearance_of(const FloWorld *world, size_t i, const FloNearBodies *near) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  double clearance = INFINITY;
  for (int k = 0; k < near->count; ++k)
    clearance = fmin(clearance, flo_world_distance(world, flo_world_body_of(world, near->samples[k]), x));
  return (float)clearance;
}

typedef struct KeepOut {
  double dt;
  float moved; // nobody is further from where the lists were made [m]
  float wall_speed;
} KeepOut;

// A particle that had clearance when the lists were made, more than it can have used up, needs no closer
// look.
static void keep_row_out(FloWorld *world, const KeepOut *keep, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloWallRoom *room = (FloWallRoom *)world->wall_rooms.data + i;
  bool is_known = world->lists.has_clearances;
  float speed = sqrtf(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]) + keep->wall_speed;
  *room = flo_empty_room(room->clearance);
  if (is_known && room->clearance > keep->moved + speed * (float)keep->dt) return;
  FloNearBodies near = flo_world_near_bodies(world, i);
  if (!is_known) room->clearance = clearance_of(world, i, &near);
  if (room->clearance > keep->moved + speed * (float)keep->dt) return;
  // Dynamic bodies come later, one particle after the other, since they give way.
  for (int k = 0; k < near.count; ++k)
    if (flo_world_body_of(world, near.samples[k])->kind != FLO_BODY_DYNAMIC)
      keep_particle_out(world, i, near.samples[k], keep->dt);
}

// Whether any particle of the block of i lists a sample.
static bool is_near_solids(const FloWorld *world, size_t i) {
  size_t block = i / FLO_BLOCK;
  bool is_near_rigid = i < world->fluid_rigid.n_rows && world->fluid_rigid.slot_count[block] > 0;
  return is_near_rigid || world->fluid_boundary.slot_count[block] > 0;
}

void flo_world_keep_out(FloWorld *world, size_t begin, size_t end, double dt) {
  KeepOut keep = {.dt = dt,
                  .moved = (float)((world->lists.reach - 1) / 2 * world->kernel.support),
                  .wall_speed = (float)flo_world_any_wall_speed(world)};
  for (size_t i = begin; i < end; ++i)
    if (is_near_solids(world, i)) keep_row_out(world, &keep, i);
}

void flo_world_add_pushes(FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  if (!world->lists.has_clearances) return; // the method keeps particles out in its own way
  for (size_t i = 0; i < p->count; ++i) {
    if (!is_near_solids(world, i)) continue;
    float scale = p->mass[i] / (float)world->force_dt;
    for (int k = 0; k < FLO_MAX_PUSHES; ++k) {
      const FloPush *push = &((const FloWallRoom *)world->wall_rooms.data)[i].by[k];
      size_t index;
      if (push->sample < 0) continue;
      FloParticles *s = find_sample(world, (size_t)push->sample, &index);
      s->fx[index] -= scale * push->velocity[0];
      s->fy[index] -= scale * push->velocity[1];
      s->fz[index] -= scale * push->velocity[2];
    }
  }
}

// Where the particle was when it was deflected, so that angular momentum is kept too.
static void push_body(const FloWorld *world, size_t i, const FloPush *push, double dt) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double v[3] = {(double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
                       (double)p->vz[i] + (double)p->vz_low[i]};
  double x[3] = {p->x[i], p->y[i], p->z[i]}, arm[3], impulse[3], turn[3];
  if (push->sample < 0) return;
  vec_add_scaled(x, v, -dt, x);
  FloBody *body = flo_world_body_of(world, (size_t)push->sample);
  if (body->kind != FLO_BODY_DYNAMIC) return;
  for (int axis = 0; axis < 3; ++axis) impulse[axis] = -(double)p->mass[i] * (double)push->velocity[axis];
  flo_world_nearest_image(world, body->rigid.position, x, x);
  vec_sub(x, body->rigid.position, arm);
  vec_cross(arm, impulse, turn);
  flo_rigid_push(&body->rigid, impulse, turn);
  vec_sub(x, body->state.pose.position, arm);
  vec_cross(arm, impulse, turn);
  vec_add_scaled(body->state.force, impulse, 1 / dt, body->state.force);
  vec_add_scaled(body->state.torque, turn, 1 / dt, body->state.torque);
}

// Velocity along a unit normal that an impulse along it gives the body, at the end of an arm.
static double response_along(const FloRigid *rigid, const double arm[3], const double normal[3]) {
  double torque[3], spin[3], sum = 0;
  vec_cross(arm, normal, torque);
  mat_apply(rigid->inverse_inertia, torque, spin);
  for (int axis = 0; axis < 3; ++axis) sum += rigid->inverse_mass[axis] * normal[axis] * normal[axis];
  return sum + vec_dot(torque, spin);
}

// What is left of the approach of a particle and a body that gives way: each takes its part of the push, as
// in a collision without rebound. A body lighter than the particle, taken for a wall, would gain energy by
// it.
static void keep_out_of_body(FloWorld *world, size_t i, size_t sample, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloBody *body = flo_world_body_of(world, sample);
  const double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
  double x[3] = {p->x[i], p->y[i], p->z[i]}, push[3], arm[3], normal[3];
  vec_add_scaled(x, v, -dt, x);
  if (p->held[i] || !deflect(world, body, x, v, dt, push)) return;
  flo_world_nearest_image(world, body->rigid.position, x, arm);
  vec_sub(arm, body->rigid.position, arm);
  vec_scale(push, 1 / vec_length(push), normal);
  vec_scale(push, 1 / (1 + (double)p->mass[i] * response_along(&body->rigid, arm, normal)), push);
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]},
        *acceleration[3] = {&p->ax[i], &p->ay[i], &p->az[i]};
  double *position[3] = {&p->x[i], &p->y[i], &p->z[i]};
  FloPush given = {.sample = (int32_t)sample};
  for (int axis = 0; axis < 3; ++axis) {
    float before = *velocity[axis];
    *velocity[axis] = (float)((double)before + push[axis]);
    // What was really added, so that the body gets exactly the opposite.
    given.velocity[axis] = *velocity[axis] - before;
    *acceleration[axis] += (float)((double)given.velocity[axis] / dt);
    *position[axis] += dt * (double)given.velocity[axis];
  }
  record_push(world, i, sample, given.velocity);
  push_body(world, i, &given, dt);
  flo_rigid_state(&body->rigid, body->state.pose.rotation, &body->state);
}

void flo_world_push_bodies(FloWorld *world, double dt) {
  const uint32_t *bodies = world->sets[FLO_SET_RIGID].body;
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count;
  if (world->sets[FLO_SET_RIGID].count == 0) return;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) {
    FloNearBodies near = {0};
    meet_samples(&near, &world->fluid_rigid, bodies, n_walls, i);
    for (int k = 0; k < near.count; ++k) keep_out_of_body(world, i, near.samples[k], dt);
  }
}
