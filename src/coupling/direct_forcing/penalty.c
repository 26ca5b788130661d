// The boundary that the paper compares with: samples of solids repel fluid by a force that grows as the
// distance falls (Monaghan 2005; in the form of Becker & Teschner 2007, eq. 12).
//
//   a_ib = m_b/(m_i + m_b) G(r) x_ib/r,   G = 0.02 c^2/r g(q),  q = r/h
//   g    = 2/3 for q < 2/3,  2q - 3/2 q^2 for q < 1,  (2-q)^2/2 for q < 2
//
// It reaches 1.5 spacings (h = 0.75 s), so that fluid placed one spacing away from the samples feels little
// of it. With the kernel's own h fluid would be shot away by 25 g at the start. Samples have the mass of
// fluid particles. The opposite force acts on the body.
//
// In the papers samples are as far apart as fluid particles. Closer samples repel less here, so that the mean
// force of a wall does not depend on how finely it is sampled.
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

static double shape_of(double q) {
  if (q < 2.0 / 3) return 2.0 / 3;
  if (q < 1) return 2 * q - 1.5 * q * q;
  return q < 2 ? 0.5 * (2 - q) * (2 - q) : 0;
}

typedef struct Penalty {
  const FloWorld *world;
  double c, h;
} Penalty;

static double share_of_sample(const FloWorld *world, const FloParticles *samples, size_t j) {
  double sampling = flo_bodies(world)[samples->body[j]].sampling;
  return world->def.dim == 3 ? sampling * sampling : sampling;
}

// Force on fluid particle i by sample j.
static void pair_force(const Penalty *in, size_t i, const FloParticles *samples, size_t j, double force[3]) {
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const double here[3] = {p->x[i], p->y[i], p->z[i]};
  double there[3] = {samples->x[j], samples->y[j], samples->z[j]}, way[3];
  flo_world_nearest_image(in->world, here, there, there);
  vec_sub(here, there, way);
  double r = fmax(vec_length(way), 1e-3 * in->h);
  double share = share_of_sample(in->world, samples, j);
  double size = share * 0.5 * (double)p->mass[i] * 0.02 * in->c * in->c / r * shape_of(r / in->h);
  vec_scale(way, size / r, force);
}

// Applies the opposite of the force on fluid particle i to the body of sample j in the rigid set.
static void push_body(const FloWorld *world, FloDirectForcing *forcing, size_t i, size_t j,
                      const double force[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloForcingPartner *partner = &forcing->partners[world->sets[FLO_SET_RIGID].body[j]];
  double x[3] = {p->x[i], p->y[i], p->z[i]}, arm[3], turn[3], impulse[3];
  vec_scale(force, -forcing->kick_dt, impulse);
  flo_world_nearest_image(world, partner->origin, x, x);
  vec_sub(x, partner->origin, arm);
  vec_cross(arm, impulse, turn);
  vec_add(partner->push, impulse, partner->push);
  vec_add(partner->push + 3, turn, partner->push + 3);
}

// Repels particle i by the samples of a set that it lists.
static void repel(const Penalty *in, FloDirectForcing *forcing, FloSet set, size_t i) {
  const FloPairs *pairs = flo_pairs_of(in->world, FLO_SET_FLUID, set);
  size_t block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
  size_t offset = set == FLO_SET_RIGID ? in->world->sets[FLO_SET_BOUNDARY].count : 0;
  if (i >= pairs->n_rows || pairs->slot_count[block] == 0) return;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    size_t j = (size_t)slots[k].index[lane];
    double force[3];
    pair_force(in, i, &in->world->sets[set], j, force);
    for (size_t axis = 0; axis < 3; ++axis) {
      forcing->force[4 * i + axis] += (float)force[axis];
      forcing->repulsion[4 * (offset + j) + axis] -= (float)force[axis];
    }
    if (set == FLO_SET_RIGID) push_body(in->world, forcing, i, j, force);
  }
}

void flo_forcing_add_penalty(FloWorld *world, FloDirectForcing *forcing) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t n_samples = world->sets[FLO_SET_BOUNDARY].count + world->sets[FLO_SET_RIGID].count;
  bool has_bodies = world->sets[FLO_SET_RIGID].count > 0;
  Penalty in = {world, flo_forcing_sound_speed(world, forcing), 0.75 * world->def.spacing};
  memset(forcing->repulsion, 0, 4 * n_samples * sizeof(float));
  for (size_t i = 0; i < p->count; ++i) {
    if (p->held[i]) continue;
    repel(&in, forcing, FLO_SET_BOUNDARY, i);
    if (has_bodies) repel(&in, forcing, FLO_SET_RIGID, i);
  }
}
