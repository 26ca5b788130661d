#include "coupling/forces/soft_again.h"

#include "bodies/soft_body.h"

// A node that contacts move by more than this within the step, in spacings, may respond differently.
#define LARGE 0.1
// In later rounds nodes may end this far from where the solver expected them, in spacings.
#define NEAR 0.01

enum { MOST_ROUNDS = 30 };

static bool is_free_soft(const FloBody *body) { return flo_body_is_soft(body) && !body->nodes[0].is_held; }

bool flo_world_has_soft_contacts(const FloWorld *world) {
  const FloContacts *contacts = &world->body_contacts;
  for (size_t k = 0; k < contacts->points.count; ++k)
    if (flo_contact_points(contacts)[k].hold.count > 0) return true;
  return false;
}

// The longest way within the step, in spacings, by which forces that were found move a node.
static double longest_way(const FloWorld *world, const FloSoftAgain *again, const FloBody *body) {
  double longest = 0, change[3];
  for (size_t k = body->first_node; k < body->first_node + body->n_nodes; ++k) {
    vec_sub(again->velocity + again->stride * k, again->start + again->stride * k, change);
    longest = fmax(longest, again->dt * vec_length(change) / world->def.spacing);
  }
  return longest;
}

// Gives the body a share of what was found: all or nothing.
static void settle(const FloSoftAgain *again, FloBody *body, double share) {
  for (size_t k = 0; k < body->n_nodes; ++k) {
    const size_t at = again->stride * (body->first_node + k);
    double *impulse = again->impulses + 3 * k;
    vec_sub(again->found + at, again->taken + at, impulse);
    vec_scale(impulse, share * again->dt, impulse);
    vec_add_scaled(again->taken + at, impulse, 1 / again->dt, again->taken + at);
  }
  body->kind->settle(body, again->impulses);
  for (size_t k = 0; k < body->n_nodes; ++k)
    vec_copy(body->nodes[k].velocity, again->start + again->stride * (body->first_node + k));
}

static void settle_all(FloWorld *world, const FloSoftAgain *again, double least, double share) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (is_free_soft(body) && longest_way(world, again, body) > least) settle(again, body, share);
  }
}

void flo_soft_refresh(FloWorld *world, const FloSoftAgain *again) { settle_all(world, again, -1, 0); }

static void give_up(FloWorld *world, const FloSoftAgain *again) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (is_free_soft(body) && longest_way(world, again, body) > NEAR)
      flo_soft_keep_rough(flo_soft_body(body)->soft);
  }
  flo_world_note_unsettled(world, FLO_UNSETTLED_CONTACTS);
}

bool flo_soft_again(FloWorld *world, const FloSoftAgain *again, int round) {
  const double may = round == 1 ? LARGE : NEAR;
  double longest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (is_free_soft(&flo_bodies(world)[k]))
      longest = fmax(longest, longest_way(world, again, &flo_bodies(world)[k]));
  if (longest <= may || !flo_world_has_soft_contacts(world)) return false;
  if (round >= MOST_ROUNDS) {
    give_up(world, again);
    return false;
  }
  settle_all(world, again, may, 1);
  return true;
}
