// Restitution between bodies. A contact that closes in the step, faster than bodies at rest jitter, asks for
// the separating speed of its rebound rather than for a gap that stays open. Speeds are the rates of the
// contact's volume error over its steepness, through the same touches as its pressure.
#include "coupling/monolithic/monolithic.h"

// Speed at which a contact closes, with the velocities before the step's forces, or after all of them except
// pressure and friction.
static double closing_speed(const FloMonolithic *mono, const FloContact *c, bool is_before) {
  double sum = 0;
  for (uint32_t k = c->first; k < c->first + c->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    const FloPartner *partner = &mono->partners[t->node];
    const double *v = is_before ? partner->node->velocity : partner->start,
                 *turn = is_before ? partner->node->angular_velocity : partner->turn_start;
    if (partner->node->is_held) continue;
    for (int axis = 0; axis < 3; ++axis)
      sum += (double)t->j[axis] * v[axis] + (double)t->j[axis + 3] * turn[axis];
  }
  return -(sum / (double)c->volume + (double)c->wall_rate) / (double)c->steepness;
}

void flo_monolithic_note_approach(FloMonolithic *mono) {
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    FloContact *c = &mono->contacts[k];
    if (c->restitution > 0) c->approach = (float)closing_speed(mono, c, true);
  }
}

// What the contact meets.
typedef struct Meeting {
  const FloBody *other; // the nearest other body
  double gap;           // between the surfaces at the sample; negative if they overlap [m]
  double x[3];          // of the sample
} Meeting;

// The volume error is no measure of the gap: it rises ever more slowly with the distance.
static Meeting find_meeting(const FloWorld *world, const FloContact *c) {
  static const FloSet sets[] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  Meeting m = {.gap = INFINITY, .x = {rigid->x[c->sample], rigid->y[c->sample], rigid->z[c->sample]}};
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_RIGID, sets[k], c->sample, &near);) {
      const FloBody *other = &flo_bodies(world)[near.body];
      double distance = flo_world_distance(world, other, m.x);
      if (distance < m.gap || !m.other) m.gap = distance, m.other = other;
    }
  m.gap -= fmax(-flo_world_distance(world, &flo_bodies(world)[c->body], m.x), 0);
  return m;
}

// The part of the contact's approach that is rolling.
static double rolling_speed(const FloWorld *world, const FloContact *c, const Meeting *m) {
  const FloBody *body = &flo_bodies(world)[c->body];
  const double normal[3] = {(double)c->normal[0], (double)c->normal[1], (double)c->normal[2]};
  double spin[3];
  vec_sub(body->state.angular_velocity, m->other->state.angular_velocity, spin);
  return flo_world_turning_speed(world, body, m->other, m->x, spin, normal);
}

static void bounce(const FloWorld *world, const FloMonolithic *mono, double least, FloContact *c) {
  const double dt = mono->dt, steepness = (double)c->steepness, from_walls = dt * (double)c->wall_rate;
  double now = closing_speed(mono, c, false), open = (double)c->gap - from_walls;
  const Meeting m = find_meeting(world, c);
  if (!m.other || (m.gap >= dt * now && open >= dt * steepness * now)) return;
  double rolling = rolling_speed(world, c, &m), approach = (double)c->approach - rolling;
  if (approach <= least) return;
  const FloImpact impact = {.restitution = (double)c->restitution,
                            .approach = approach,
                            .pull = fmax((now - (double)c->approach) / dt, 0),
                            .gap = m.gap};
  double wanted = -dt * steepness * (flo_body_rebound(&impact, dt) - rolling);
  c->gap = (float)(fmin(open, wanted) + from_walls);
}

void flo_monolithic_bounce(const FloWorld *world, FloMonolithic *mono) {
  double least = flo_body_least_impact(world->def.gravity, world->def.spacing, mono->dt);
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    FloContact *c = &mono->contacts[k];
    if (c->restitution > 0 && (double)c->approach > least) bounce(world, mono, least, c);
  }
}
