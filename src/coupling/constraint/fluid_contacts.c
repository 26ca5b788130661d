// Rows of distances, (26)-(29): fluid stays at least half a support away from surfaces, as in the paper's
// simulations in 3D. These rows replace those of wet samples if `boundary` is `distances`.
#include "coupling/constraint/constraint.h"

// Surfaces farther away than this, in spacings beyond the distance that is kept, have no row in this step.
#define REACH 0.5

static double kept_distance(const FloWorld *world) {
  double given = world->params[FLO_CONSTRAINT_DISTANCE];
  return given > 0 ? given * world->def.spacing : world->kernel.support / 2;
}

static FloStatus add_contact(FloWorld *world, FloConstraint *c, const FloFluidContact *contact,
                             FloError *error) {
  const size_t n = c->n_distances, size = sizeof *contact;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_FLUID_CONTACTS, (n + 1) * size, n * size, error));
  c->contacts = c->buffers[FLO_CONSTRAINT_FLUID_CONTACTS].data;
  c->contacts[c->n_distances++] = *contact;
  return FLO_OK;
}

static FloStatus find_near(FloWorld *world, FloConstraint *c, size_t i, FloError *error) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]}, kept = kept_distance(world);
  for (FloNearBody near = {0}; flo_near_next(world, i, &near);) {
    const FloBody *body = &flo_bodies(world)[near.body];
    const double gap = flo_world_distance(world, body, x) - kept;
    double normal[3];
    if (gap > REACH * world->def.spacing) continue;
    flo_world_normal(world, body, x, normal);
    const FloFluidContact contact = {.particle = (uint32_t)i,
                                     .body = near.body,
                                     .sample = (uint32_t)near.sample,
                                     .normal = {(float)normal[0], (float)normal[1], (float)normal[2]},
                                     .gap = (float)gap};
    FLO_TRY(add_contact(world, c, &contact, error));
  }
  return FLO_OK;
}

FloStatus flo_constraint_find_distances(FloWorld *world, FloConstraint *c, FloError *error) {
  c->n_distances = 0;
  for (size_t i = 0; i < c->n_fluid; ++i)
    if (flo_world_is_near_solids(world, i)) FLO_TRY(find_near(world, c, i, error));
  return FLO_OK;
}

void flo_constraint_link_distance(const FloWorld *world, FloConstraint *c, size_t row) {
  const FloFluidContact *contact = &c->contacts[row - flo_constraint_first_distance(c)];
  const FloBody *body = &flo_bodies(world)[contact->body];
  const float *n = contact->normal;
  size_t i;
  const FloParticles *samples = flo_world_find_sample(world, contact->sample, &i);
  c->links[c->link_begin[row]] = (FloLink){{-n[0], -n[1], -n[2]}, contact->particle};
  c->violation[row] = -contact->gap;
  c->wall_rate[row] = 0;
  if (!flo_body_is_pushed(body))
    c->wall_rate[row] = n[0] * samples->vx[i] + n[1] * samples->vy[i] + n[2] * samples->vz[i];
}
