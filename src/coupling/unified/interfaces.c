// Where two fluids meet: what pressures between their particles lack there.
//
// At a jump of density the pressure has a kink, and the pair sums (24) round it off over the reach of the
// kernel: the lowest layer of the light fluid would be pushed up by half the weight of a layer of the heavy
// one, and would keep off from it. In the middle between particles i and j, hydrostatic pressure is
// p_i + rho_i g.(x_j - x_i)/2 from one side and p_j + rho_j g.(x_i - x_j)/2 from the other. Their sum
// replaces p_i + p_j in pairs of different fluids:
//
//   f_i -= max(V0^2 (rho_i - rho_j)/2 g.(x_j - x_i), -(V_i^2 p_i + V_j^2 p_j)) grad W_ij
//
// With that, two layers at rest are in equilibrium on their lattice. The force is symmetric and central. It
// never makes a pair attract, so that fluids which fall freely, without pressure, do not feel it.
#include "coupling/unified/unified.h"

#include <math.h>

typedef struct Meet {
  FloWorld *world;
  FloUnified *unified;
  const FloPairs *pairs;
  float packing, rest; // rest: volume of a particle at rest
  float gravity[3];
} Meet;

// A pair of the operator.
typedef struct Pair {
  size_t j;
  float g[3], d; // grad W_ij; 1/(F l^2), see pair.h
} Pair;

// The next pair of particle i with another fluid, from number k of its list on. False: there is none.
static bool next_unlike(const Meet *in, size_t i, size_t *k, Pair *pair) {
  const FloPairs *pairs = in->pairs;
  const uint16_t *material = in->world->sets[FLO_SET_FLUID].material;
  const size_t lane = i % FLO_BLOCK;
  for (; *k < (size_t)pairs->row_count[i]; ++*k) {
    const size_t at = pairs->slot_begin[i / FLO_BLOCK] + *k;
    const FloPairSlot *slot = pairs->slots + at;
    const size_t j = (size_t)slot->index[lane];
    if (material[j] == material[i]) continue;
    *pair =
        (Pair){j, {slot->gx[lane], slot->gy[lane], slot->gz[lane]}, pairs->viscous[at * FLO_BLOCK + lane]};
    return ++*k, true;
  }
  return false;
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// V^2 p.
static float push_of(const Meet *in, size_t i) {
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const float volume = in->packing * p->mass[i] / p->density[i];
  return p->pressure[i] * volume * volume;
}

// What the different weights of two particles add to V_i^2 p_i + V_j^2 p_j.
static float weight_between(const Meet *in, size_t i, const Pair *pair) {
  const float *mass = in->world->sets[FLO_SET_FLUID].mass;
  const float down = in->pairs->length2 * pair->d * dot(in->gravity, pair->g); // g . (x_i - x_j)
  return fmaxf(0.5f * in->rest * (mass[pair->j] - mass[i]) * down, -(push_of(in, i) + push_of(in, pair->j)));
}

static void force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Meet *in = context;
  for (size_t i = begin; i < end; ++i) {
    float *force = in->unified->force + 4 * i;
    Pair pair;
    size_t k = 0;
    for (in->unified->is_meeting[i] = 0; next_unlike(in, i, &k, &pair); in->unified->is_meeting[i] = 1) {
      const float push = -weight_between(in, i, &pair);
      for (int axis = 0; axis < 3; ++axis) force[axis] += push * pair.g[axis];
      force[3] += push * in->pairs->length2 * pair.d * dot(pair.g, pair.g);
    }
  }
}

void flo_unified_meet(FloWorld *world, FloUnified *unified) {
  Meet meet = {.world = world,
               .unified = unified,
               .pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID),
               .packing = (float)unified->fluid.packing,
               .rest = (float)flo_world_rest_volume(world)};
  for (int axis = 0; axis < 3; ++axis) meet.gravity[axis] = (float)world->def.gravity[axis];
  if (unified->phases.n > 1) flo_each_particle(world, FLO_SET_FLUID, force_range, &meet);
}
