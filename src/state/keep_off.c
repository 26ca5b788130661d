// Keeps fluid on its side of soft bodies.
//
// Pressure keeps fluid one spacing away from a sheet. But a single drop has little pressure and would pass
// between its samples. So after a step every particle that has come too near to the surface, or has passed
// it, is put back to its own side. It and the nodes of the surface lose their approach, as in a collision
// without rebound, so momentum is conserved and no energy is produced.
#include "bodies/soft_body.h"
#include "state/keep_out.h"
#include "state/state.h"

// A particle is put back if it is nearer to a sheet than this, in spacings.
#define NEAREST 0.3
// Samples stand for the surface within this distance along it, in spacings.
#define WIDTH 0.8
// Nearer to a sample than this, in spacings, the triangles around it are searched.
#define SEARCH 1.5

typedef struct Meeting {
  FloWorld *world;
  FloBody *body;
  size_t particle, sample; // index of each in its set
  FloSoftPlane now;
  double side; // of the surface, where the particle is: 1 or -1
  double lack; // distance to where it must be [m]
} Meeting;

static void read_fluid(const FloParticles *p, size_t i, double x[3], double v[3]) {
  vec_set(x, p->x[i], p->y[i], p->z[i]);
  vec_set(v, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
}

// The distance that a particle must keep from the samples. The surface of a solid lies outside of them.
static double least_distance(const FloWorld *world, const FloBody *body) {
  return body->is_thin ? NEAREST * world->def.spacing : flo_soft_body(body)->offset;
}

// Looks for the triangles of the surface near the particle. Fluid and body may be on different sides of a
// periodic border.
static void refine(Meeting *meeting, const double x[3], const double start[3], FloSoftPlane *before) {
  const FloWorld *world = meeting->world;
  const double reach = SEARCH * world->def.spacing;
  FloPath path;
  double way[3];
  flo_domain_between(&world->domain, meeting->now.x, x, way);
  if (vec_dot(way, way) > reach * reach) return;
  vec_add(meeting->now.x, way, path.end);
  flo_domain_between(&world->domain, before->x, start, way);
  vec_add(before->x, way, path.start);
  flo_soft_skin_refine(meeting->body, &world->sets[FLO_SET_RIGID], meeting->sample, &path, &meeting->now,
                       before);
}

// Whether the particle is too near at the end of the step, which took dt.
static bool is_too_near(Meeting *meeting, double dt) {
  const FloWorld *world = meeting->world;
  FloSoftPlane before;
  double x[3], v[3], start[3], way[3];
  read_fluid(&world->sets[FLO_SET_FLUID], meeting->particle, x, v);
  vec_add_scaled(x, v, -dt, start);
  flo_soft_skin_planes(meeting->body, &world->sets[FLO_SET_RIGID], meeting->sample, dt, &meeting->now,
                       &before);
  refine(meeting, x, start, &before);
  flo_domain_between(&world->domain, before.x, start, way);
  meeting->side = !meeting->body->is_thin || vec_dot(way, before.normal) > 0 ? 1 : -1;
  flo_domain_between(&world->domain, meeting->now.x, x, way);
  const double height = vec_dot(way, meeting->now.normal), along = vec_dot(way, way) - height * height;
  meeting->lack = least_distance(world, meeting->body) - meeting->side * height;
  const double width = WIDTH * world->def.spacing;
  return meeting->lack > 0 && along < width * width;
}

// The sample of the body that is nearest to a particle, of those that it lists.
static size_t nearest_sample(const FloWorld *world, size_t i, uint32_t body) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const FloParticles *p = &world->sets[FLO_SET_FLUID], *samples = &world->sets[FLO_SET_RIGID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  double least = INFINITY;
  size_t nearest = SIZE_MAX;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    const size_t j = (size_t)slots[k].index[i % FLO_BLOCK];
    const double at[3] = {samples->x[j], samples->y[j], samples->z[j]};
    double way[3];
    if (samples->body[j] != body) continue;
    flo_domain_between(&world->domain, at, x, way);
    if (vec_dot(way, way) < least) least = vec_dot(way, way), nearest = j;
  }
  return nearest;
}

// Moves the particle out, and takes the approach from both.
static void part(const Meeting *meeting) {
  FloWorld *world = meeting->world;
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const size_t i = meeting->particle;
  double x[3], v[3], out[3], rate[3], impulse[3];
  read_fluid(p, i, x, v);
  vec_scale(meeting->now.normal, meeting->side, out);
  vec_add_scaled(x, out, meeting->lack, x);
  p->x[i] = x[0], p->y[i] = x[1], p->z[i] = x[2];
  vec_sub(v, meeting->now.v, rate);
  const double approach = -vec_dot(rate, out), mass = (double)p->mass[i];
  if (!(approach > 0)) return;
  const FloGrip grip = flo_body_grip(meeting->body, &world->domain, &world->sets[FLO_SET_RIGID],
                                     meeting->sample, meeting->now.x);
  const double push = approach / (1 + mass * flo_grip_response(&grip, out));
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]};
  for (int axis = 0; axis < 3; ++axis) {
    const float before = *velocity[axis];
    *velocity[axis] = (float)((double)before + push * out[axis]);
    impulse[axis] = -mass * (double)(*velocity[axis] - before);
  }
  flo_soft_body_strike(&grip, impulse);
}

// Samples, and the state of the whole body, follow the nodes that were struck.
static void place_struck(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_soft(body) || !flo_soft_body(body)->is_struck) continue;
    flo_soft_body_correct(body);
    flo_world_place_samples(world, body);
  }
}

void flo_world_keep_off(FloWorld *world, double dt) {
  bool has_soft = false;
  if (world->lets_through) return;
  for (size_t k = 0; k < world->bodies.count && !has_soft; ++k)
    has_soft = flo_body_is_soft(&flo_bodies(world)[k]);
  if (!has_soft) return;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_FLUID, FLO_SET_RIGID, i, &near);) {
      Meeting meeting = {.world = world, .body = &flo_bodies(world)[near.body], .particle = i};
      if (!flo_body_is_soft(meeting.body) || world->sets[FLO_SET_FLUID].held[i]) continue;
      meeting.sample = nearest_sample(world, i, near.body);
      if (is_too_near(&meeting, dt)) part(&meeting), world->n_kept_off++;
    }
  place_struck(world);
}
