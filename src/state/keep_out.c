// Keeps the centres of fluid particles out of bodies.
//
// Pressure keeps fluid one spacing away from the samples. But a single fast drop has little pressure and
// would pass between four samples. So if the next position of a particle would be inside a body, the particle
// loses just enough of its approach velocity to stay on the surface. The body gets the opposite impulse. Only
// particles that list a sample of the body are tested. A particle that moves farther than that in one step,
// or crosses a thinner body in one step, can still pass.
#include "state/keep_out.h"
#include "state/state.h"

#include <string.h>

// A particle deeper inside than this, in spacings, is not deflected: it has been inside for longer, and a
// push would only stir it.
#define MAX_DEPTH 0.4

double flo_world_wall_thickness(const FloWorld *world) { return 2 * world->kernel.support; }

// The velocity that keeps a particle at x from entering the body; false if none is needed.
static bool deflect(const FloWorld *world, const FloBody *body, const double x[3], const double v[3],
                    double dt, double push[3]) {
  return body->kind->deflect &&
         body->kind->deflect(body, &world->domain, x, v, dt, MAX_DEPTH * world->def.spacing, push);
}

// Records the push by one body. A particle in a corner may get three. The push of a further body is recorded
// for the last one, and the host is told of that once.
static void record_push(FloWorld *world, size_t i, size_t sample, const float added[3]) {
  FloWallRoom *room = (FloWallRoom *)world->wall_rooms.data + i;
  const FloBody *body = flo_world_body_of(world, sample);
  int k = 0;
  while (k + 1 < FLO_MAX_PUSHES && room->by[k].sample >= 0 &&
         flo_world_body_of(world, (size_t)room->by[k].sample) != body)
    ++k;
  if (room->by[k].sample < 0) room->by[k].sample = (int32_t)sample;
  if (flo_world_body_of(world, (size_t)room->by[k].sample) != body) world->has_crowd = true;
  for (int axis = 0; axis < 3; ++axis) room->by[k].velocity[axis] += added[axis];
}

static void tell_crowd(FloWorld *world) {
  if (!world->has_crowd || world->has_told_crowd) return;
  world->has_told_crowd = true;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %.4g s more than %d bodies kept one fluid particle out in the same step: the forces "
                "reported for these "
                "bodies are mixed up; join walls that touch each other",
                world->time, FLO_MAX_PUSHES);
}

// Adds to the velocity of particle i. `added` is what rounding really added, so that the body gets exactly
// the opposite.
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

// ---- Walls ----

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
    if (flo_bodies(world)[near.body].kind->deflect)
      clearance = fmin(clearance, flo_world_distance(world, &flo_bodies(world)[near.body], x));
  return (float)clearance;
}

typedef struct KeepOut {
  double dt;
  float moved; // upper bound of how far a particle has moved since the lists were made [m]
  float wall_speed;
  bool has_clearances; // clearances at the time of the lists are known
} KeepOut;

// Skips a particle whose clearance at the time of the lists is larger than what it and the walls can have
// moved since.
static void keep_row_out(FloWorld *world, const KeepOut *keep, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloWallRoom *room = (FloWallRoom *)world->wall_rooms.data + i;
  float speed = sqrtf(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]) + keep->wall_speed;
  *room = flo_empty_room(keep->has_clearances ? room->clearance : clearance_of(world, i));
  if (room->clearance > keep->moved + speed * (float)keep->dt) return;
  // Bodies that forces move follow in flo_world_keep_out_of_bodies, one particle after the other.
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

// ---- Bodies that forces move ----

// The position of particle i before its last move, which took dt.
static void position_before(const FloParticles *p, size_t i, double dt, double x[3]) {
  const double v[3] = {(double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
                       (double)p->vz[i] + (double)p->vz_low[i]};
  vec_set(x, p->x[i], p->y[i], p->z[i]);
  vec_add_scaled(x, v, -dt, x);
}

// A body that contacts press on moves as they found it to. What kept particles out of it acts after that
// move, so that the contacts of the next step resist it. If it moved the body at once, particles in the
// narrow gap below a stone would lift and carry it a little in each step.
static void push_later(const FloGrip *grip, const double impulse[3]) {
  for (int k = 0; k < grip->count; ++k) {
    const FloGripPart *part = &grip->parts[k];
    double share[3], x[3], turn[3];
    vec_scale(impulse, part->share, share);
    vec_add(part->node->position, part->arm, x);
    vec_cross(x, share, turn);
    vec_add(part->node->late, share, part->node->late);
    vec_add(part->node->late + 3, turn, part->node->late + 3);
  }
}

static void find_pressed(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) flo_bodies(world)[k].is_pressed = false;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (!(point->kept[0] > 0)) continue;
    flo_bodies(world)[point->body].is_pressed = flo_bodies(world)[point->other].is_pressed = true;
  }
}

// Gives a body the opposite of the impulse on particle i. It acts where the particle was when it was
// deflected, so that angular momentum is conserved, too.
static void push_body(FloWorld *world, size_t i, size_t sample, const float added[3], double dt) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloBody *body = flo_world_body_of(world, sample);
  double x[3], impulse[3], arm[3], turn[3];
  size_t index;
  const FloParticles *samples = flo_world_find_sample(world, sample, &index);
  position_before(p, i, dt, x);
  const FloGrip grip = flo_body_grip(body, &world->domain, samples, index, x);
  for (int axis = 0; axis < 3; ++axis) impulse[axis] = -(double)p->mass[i] * (double)added[axis];
  if (body->is_pressed)
    push_later(&grip, impulse);
  else
    flo_grip_push(&grip, impulse);
  flo_world_nearest_image(world, grip.parts->node->position, x, x);
  vec_sub(x, body->state.pose.position, arm);
  vec_cross(arm, impulse, turn);
  vec_add_scaled(body->state.force, impulse, 1 / dt, body->state.force);
  vec_add_scaled(body->state.torque, turn, 1 / dt, body->state.torque);
}

// Reduces a push to the part that the particle takes if the body yields, as in a collision without rebound.
// If a body lighter than the particle acted like a wall, the push would add energy.
static void share_push(FloWorld *world, size_t i, size_t sample, const double x[3], double push[3]) {
  size_t index;
  const FloParticles *samples = flo_world_find_sample(world, sample, &index);
  const FloGrip grip = flo_body_grip(flo_world_body_of(world, sample), &world->domain, samples, index, x);
  double normal[3], mass = (double)world->sets[FLO_SET_FLUID].mass[i];
  vec_scale(push, 1 / vec_length(push), normal);
  vec_scale(push, 1 / (1 + mass * flo_grip_response(&grip, normal)), push);
}

// Joints push their bodies after this stage. What these pushes will change, six numbers for each member, is
// found here. Without it a body that joints hold would seem to fall by gravity, and drops would sink into it.
static void find_joint_pushes(FloWorld *world) {
  FloJoints *joints = &world->joints;
  if (!flo_world_has_joints(world)) return;
  memset(joints->velocities, 0, 6 * joints->members.count * sizeof *joints->velocities);
  flo_joints_push(joints, joints->lambda, joints->velocities);
}

// The velocity of a particle at x for a body that does not know yet what its joints will change.
static void lag_behind(const FloWorld *world, size_t body, const double x[3], double v[3]) {
  const FloJoints *joints = &world->joints;
  double arm[3], sweep[3];
  if (!flo_world_is_joined(world, body)) return;
  const double *change = joints->velocities + 6 * (size_t)joints->member_of[body],
               *centre = flo_bodies(world)[body].nodes->position;
  flo_world_nearest_image(world, centre, x, arm);
  vec_sub(arm, centre, arm);
  vec_cross(change + 3, arm, sweep);
  vec_sub(v, sweep, v);
  vec_sub(v, change, v);
}

static void keep_out_of_body(FloWorld *world, size_t i, const FloNearBody *near, double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]}, x[3] = {p->x[i], p->y[i], p->z[i]},
         push[3];
  float added[3];
  vec_add_scaled(x, v, -dt, x);
  lag_behind(world, near->body, x, v);
  if (p->held[i] || !deflect(world, &flo_bodies(world)[near->body], x, v, dt, push)) return;
  share_push(world, i, near->sample, x, push);
  change_velocity(p, i, push, dt, added);
  double *position[3] = {&p->x[i], &p->y[i], &p->z[i]};
  for (int axis = 0; axis < 3; ++axis) *position[axis] += dt * (double)added[axis];
  record_push(world, i, near->sample, added);
  push_body(world, i, near->sample, added, dt);
}

void flo_world_keep_out_of_bodies(FloWorld *world, double dt) {
  tell_crowd(world);
  if (world->sets[FLO_SET_RIGID].count == 0 || world->sets[FLO_SET_FLUID].count == 0) return;
  find_pressed(world);
  find_joint_pushes(world);
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_FLUID, FLO_SET_RIGID, i, &near);)
      keep_out_of_body(world, i, &near, dt);
}

void flo_world_push_late(FloWorld *world) {
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloNode *node = flo_node_at(world, k);
    double turn[3];
    if (!(vec_length(node->late) + vec_length(node->late + 3) > 0)) continue;
    vec_cross(node->position, node->late, turn);
    vec_sub(node->late + 3, turn, turn);
    flo_node_push(world, k, node->late, turn);
    memset(node->late, 0, sizeof node->late);
    flo_world_place_samples(world, flo_node_body(world, k));
  }
}

void flo_world_add_pushes(FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  if (!flo_world_has_clearances(world)) return; // the method has its own way to keep particles out
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
