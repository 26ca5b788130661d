// The boundary that the paper compares with: samples of solids repel fluid by a force that grows as it comes
// near (Monaghan 2005; in the form of Becker & Teschner 2007, eq. 12).
//
//   a_ib = m_b/(m_i + m_b) G(r) x_ib/r,   G = 0.02 c^2/r g(q),  q = r/h
//   g    = 2/3 for q < 2/3,  2q - 3/2 q^2 for q < 1,  (2-q)^2/2 for q < 2
//
// It reaches 1.5 spacings (h = 0.75 s), so that fluid one spacing away from the samples, where it is placed,
// feels little of it; with the kernel's own h it would be shot away by 25 g at the start. Samples weigh as
// much as fluid particles. What acts on a body is the opposite.
#include "coupling/direct_forcing.h"
#include "coupling/weakly_compressible.h"

static double shape_of(double q) {
  if (q < 2.0 / 3) return 2.0 / 3;
  if (q < 1) return 2 * q - 1.5 * q * q;
  return q < 2 ? 0.5 * (2 - q) * (2 - q) : 0;
}

typedef struct Penalty {
  const FloWorld *world;
  double c, h;
} Penalty;

static Penalty describe(const FloWorld *world, const FloDirectForcing *forcing) {
  double c = flo_sound_speed(world->params[FLO_FORCING_SOUND_SPEED], forcing->expected_speed);
  return (Penalty){world, c, 0.75 * world->def.spacing};
}

// On fluid particle i by a sample; x is where the sample is, as seen from the particle.
static void pair_force(const Penalty *in, size_t i, const FloParticles *samples, size_t j, double force[3],
                       double x[3]) {
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const double here[3] = {p->x[i], p->y[i], p->z[i]},
               there[3] = {samples->x[j], samples->y[j], samples->z[j]};
  double way[3];
  flo_world_nearest_image(in->world, here, there, x);
  vec_sub(here, x, way);
  double r = fmax(vec_length(way), 1e-3 * in->h);
  double size = 0.5 * (double)p->mass[i] * 0.02 * in->c * in->c / r * shape_of(r / in->h);
  vec_scale(way, size / r, force);
}

typedef void (*VisitFn)(FloWorld *, const FloDirectForcing *, size_t i, size_t j, const double force[3]);

static void visit(FloWorld *world, const FloDirectForcing *forcing, const FloPairs *pairs, FloSet set,
                  VisitFn act) {
  Penalty in = describe(world, forcing);
  for (size_t n = 0; n < forcing->n_near; ++n) {
    size_t i = forcing->near[n].particle, block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
    if (i >= pairs->n_rows || pairs->slot_count[block] == 0) continue;
    const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
    for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
      size_t j = (size_t)slots[k].index[lane];
      double force[3], x[3];
      pair_force(&in, i, &world->sets[set], j, force, x);
      act(world, forcing, i, j, force);
    }
  }
}

static void push_fluid(FloWorld *world, const FloDirectForcing *forcing, size_t i, size_t j,
                       const double force[3]) {
  (void)world, (void)j;
  for (size_t axis = 0; axis < 3; ++axis) forcing->force[4 * i + axis] += (float)force[axis];
}

static void push_both(FloWorld *world, const FloDirectForcing *forcing, size_t i, size_t j,
                      const double force[3]) {
  FloForcingPartner *partner = &forcing->partners[world->sets[FLO_SET_RIGID].body[j]];
  push_fluid(world, forcing, i, j, force);
  if (partner->is_free) flo_forcing_answer(world, forcing, i, partner->origin, force, partner->impulse);
}

void flo_forcing_add_penalty(FloWorld *world, FloDirectForcing *forcing) {
  visit(world, forcing, &world->fluid_boundary, FLO_SET_BOUNDARY, push_fluid);
  if (world->sets[FLO_SET_RIGID].count == 0) return;
  visit(world, forcing, &world->fluid_rigid, FLO_SET_RIGID, push_both);
}

static void push_wall(FloWorld *world, const FloDirectForcing *forcing, size_t i, size_t j,
                      const double force[3]) {
  (void)forcing, (void)i;
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  b->fx[j] -= (float)force[0], b->fy[j] -= (float)force[1], b->fz[j] -= (float)force[2];
}

void flo_forcing_penalty_on_walls(FloWorld *world, const FloDirectForcing *forcing) {
  visit(world, forcing, &world->fluid_boundary, FLO_SET_BOUNDARY, push_wall);
}
