// Wetted films between bodies (coupling/forces/film.c), as this method feeds them.
//
// What fluid presses on a sample with is the pressure forces on it and the impulses of its contacts with
// fluid. Contacts are known only after the response, so those of the last step are kept in fields of the
// samples.
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

static double push_of_fluid(const void *context, const FloWorld *world, const FloFilmSite *site) {
  const FloDirectForcing *forcing = context;
  const float *f = forcing->bodies.force + 4 * site->sample;
  double push = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const float *contact = world->sets[FLO_SET_RIGID].extra[FLO_FORCING_CONTACT_X + axis];
    push -= (double)(f[axis] + contact[site->sample]) * site->out[axis];
  }
  return push;
}

// What takes the forces of films.
typedef struct Taker {
  const FloWorld *world;
  FloDirectForcing *forcing;
} Taker;

static void take_film(void *context, size_t node, const double force[3], const double torque[3]) {
  const Taker *taker = context;
  size_t body = (size_t)(flo_node_body(taker->world, node) - flo_bodies(taker->world));
  double *push = taker->forcing->partners[body].push, dt = taker->forcing->kick_dt;
  vec_add_scaled(push, force, dt, push);
  vec_add_scaled(push + 3, torque, dt, push + 3);
}

FloStatus flo_forcing_press_films(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloFilmSource source = {
      .context = forcing, .push = push_of_fluid, .kept = world->sets[FLO_SET_RIGID].extra[FLO_FORCING_FILM]};
  Taker taker = {world, forcing};
  forcing->films.n_forces = 0;
  if (!forcing->has_wall_pressure) return FLO_OK;
  FLO_TRY(flo_films_press(&forcing->films, world, &source, forcing->dt, error));
  flo_films_push_nodes(&forcing->films, world, take_film, &taker);
  return FLO_OK;
}

// Adds the force of a contact to the sample of its body that is nearest to the particle.
static void keep_contact(FloWorld *world, const FloForcingContact *c, double scale) {
  FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  for (FloNearBody near = {0}; flo_near_next(world, c->particle, &near);) {
    if (near.body != c->body) continue;
    size_t i = near.sample - world->sets[FLO_SET_BOUNDARY].count;
    for (int axis = 0; axis < 3; ++axis)
      ((float *)rigid->extra[FLO_FORCING_CONTACT_X + axis])[i] -= (float)(scale * c->impulse[axis]);
  }
}

void flo_forcing_keep_contacts(FloWorld *world, FloDirectForcing *forcing) {
  FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  for (int axis = 0; rigid->count > 0 && axis < 3; ++axis)
    memset(rigid->extra[FLO_FORCING_CONTACT_X + axis], 0, rigid->count * sizeof(float));
  for (size_t k = 0; forcing->films.n_forces > 0 && k < forcing->n_linked; ++k) {
    const FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    if (forcing->films.are_near[c->body]) keep_contact(world, c, 1 / forcing->kick_dt);
  }
}
