// Walls that overlap cover what is common to them once.
//
// Of two walls that stand still, the one that was added first has all of its field. The other one has that of
// the part which is not in the first one. So their fields add up to that of both together, and each wall
// still has a field of its own, which pushes it.
//
// This needs solids that do not move against each other. Where other bodies overlap, both count.
#include "base/pose.h"
#include "coupling/constraint/constraint.h"

static bool is_fixed(const FloBody *body) {
  return !body->is_moving && !flo_body_is_pushed(body) && body->kind->distance == flo_posed_distance;
}

static bool are_near(const FloWorld *world, const FloBody *a, const FloBody *b) {
  double between[3];
  flo_domain_between(&world->domain, a->state.pose.position, b->state.pose.position, between);
  return vec_length(between) < a->reach + b->reach;
}

// Bodies of one shape share a field, unless another one may take a part of it.
static FloCovering find_covering(const FloWorld *world, uint32_t body) {
  const FloBody *bodies = flo_bodies(world), *own = &bodies[body];
  FloCovering covering = {.solid = own->solid};
  for (uint32_t k = 0; k < body && !covering.owner && is_fixed(own); ++k)
    if (is_fixed(&bodies[k]) && are_near(world, &bodies[k], own)) covering.owner = body + 1;
  return covering;
}

FloStatus flo_constraint_find_coverings(FloWorld *world, FloConstraint *c, FloError *error) {
  const uint32_t n = (uint32_t)world->bodies.count;
  if (c->n_coverings == n && c->coverings_at > world->epochs.fixed) return FLO_OK;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COVERINGS, n * sizeof *c->coverings, 0, error));
  c->coverings = c->buffers[FLO_CONSTRAINT_COVERINGS].data;
  for (uint32_t k = 0; k < n; ++k) c->coverings[k] = find_covering(world, k);
  flo_cover_forget(&c->cover);
  c->n_coverings = n;
  flo_epoch_note(world, &c->coverings_at);
  return FLO_OK;
}

// What two solids have in common of a small cell, of which these parts are inside of each. A surface cuts the
// cell in each of them. If the normals agree, one part contains the other; if they are opposite, the parts
// are on opposite sides; if they are perpendicular, the parts are independent.
static float common_part(float a, float b, float cosine) {
  const float apart = a * b, together = cosine > 0 ? fminf(a, b) : fmaxf(a + b - 1, 0);
  return apart + fabsf(cosine) * (together - apart);
}

static float cosine_between(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3]) {
  double n[3], m[3];
  flo_world_normal(world, a, x, n);
  flo_world_normal(world, b, x, m);
  return (float)vec_dot(n, m);
}

static float leave(const void *context, uint32_t owner, const double local[3], double size, float part) {
  const FloWorld *world = context;
  const FloBody *bodies = flo_bodies(world), *own = &bodies[owner - 1];
  const float all = part;
  double x[3];
  pose_to_world(&own->state.pose, local, x);
  for (uint32_t k = 0; k + 1 < owner && part > 0; ++k) {
    if (!is_fixed(&bodies[k]) || !are_near(world, &bodies[k], own)) continue;
    const float other = flo_cover_part((float)(flo_world_distance(world, &bodies[k], x) / size));
    const bool is_cut = other < 1 && all < 1;
    if (other > 0) part -= common_part(all, other, is_cut ? cosine_between(world, own, &bodies[k], x) : 0);
  }
  return fmaxf(part, 0);
}

FloCoverOwners flo_constraint_owners(const FloWorld *world) {
  return (FloCoverOwners){.leave = leave, .context = world};
}
