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

// The part of the contact's approach that is rolling. Samples of kernel contacts are beside the place where
// the bodies touch; points are at that place.
static double rolling_speed(const FloWorld *world, const FloContact *c, const FloContactPoint *point) {
  if ((int)world->params[FLO_MONO_CONTACTS] != FLO_CONTACTS_KERNEL) return 0;
  const FloBody *body = &flo_bodies(world)[c->body], *other = &flo_bodies(world)[point->other];
  const double normal[3] = {(double)c->normal[0], (double)c->normal[1], (double)c->normal[2]};
  double spin[3];
  vec_sub(body->state.angular_velocity, other->state.angular_velocity, spin);
  return flo_world_turning_speed(world, body, other, point->x, spin, normal);
}

static void bounce(const FloWorld *world, const FloMonolithic *mono, double least, FloContact *c,
                   const FloContactPoint *point) {
  const double dt = mono->dt, steepness = (double)c->steepness, from_walls = dt * (double)c->wall_rate;
  double now = closing_speed(mono, c, false), open = (double)c->gap - from_walls;
  if (point->gap >= dt * now && open >= dt * steepness * now) return;
  double rolling = rolling_speed(world, c, point), approach = (double)c->approach - rolling;
  if (approach <= least) return;
  const FloImpact impact = {.restitution = (double)c->restitution,
                            .approach = approach,
                            .pull = fmax((now - (double)c->approach) / dt, 0),
                            .gap = point->gap};
  double wanted = -dt * steepness * (flo_body_rebound(&impact, dt) - rolling);
  c->gap = (float)(fmin(open, wanted) + from_walls);
}

void flo_monolithic_bounce(const FloWorld *world, FloMonolithic *mono) {
  const FloContactPoint *points = flo_contact_points(&world->body_contacts);
  double least = flo_body_least_impact(world->def.gravity, world->def.spacing, mono->dt);
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    FloContact *c = &mono->contacts[k];
    if (c->restitution > 0 && (double)c->approach > least) bounce(world, mono, least, c, &points[k]);
  }
}
