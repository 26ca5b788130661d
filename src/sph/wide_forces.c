// Sweeps over the pair operator that gather forces. Rows [begin, end) are blocks.
#include "sph/wide.h" // first: the vocabulary of the others

#include "sph/pair.h"
#include "sph/wide_passes.h"

// One neighbour of each row of a block.
typedef struct Neighbours {
  PairVector gradient, velocity;
  Real value; // fourth part of the neighbours' quadruples
  Real viscous;
} Neighbours;

WIDE_INLINE Neighbours load_neighbours(const FloPairs *pairs, size_t slot, const float *quads) {
  const FloPairSlot *s = pairs->slots + slot;
  WideF q[4];
  wide_gather4(quads, s->index, q);
  return (Neighbours){{wide_load(s->gx), wide_load(s->gy), wide_load(s->gz)},
                      {q[0], q[1], q[2]},
                      q[3],
                      wide_load(pairs->viscous + slot * FLO_BLOCK)};
}

// The rows of a block themselves. The last block may overrun; its surplus lanes read some valid row.
WIDE_INLINE void load_rows(const FloPairs *pairs, size_t block, const float *quads, WideF out[4]) {
  int32_t rows[FLO_BLOCK];
  for (int lane = 0; lane < FLO_BLOCK; ++lane) {
    size_t i = block * FLO_BLOCK + (size_t)lane;
    rows[lane] = (int32_t)(i < pairs->n_rows ? i : pairs->n_rows - 1);
  }
  wide_gather4(quads, rows, out);
}

// Adds to, or sets, the force quadruples of a block.
WIDE_INLINE void store_rows(const FloPairs *pairs, size_t block, PairVector sum, bool add, float *quads) {
  float x[FLO_BLOCK], y[FLO_BLOCK], z[FLO_BLOCK];
  wide_store(x, sum.x), wide_store(y, sum.y), wide_store(z, sum.z);
  size_t first = block * FLO_BLOCK;
  size_t n = first + FLO_BLOCK <= pairs->n_rows ? FLO_BLOCK : pairs->n_rows - first;
  for (size_t lane = 0; lane < n; ++lane) {
    float *q = quads + 4 * (first + lane);
    q[0] = x[lane] + (add ? q[0] : 0);
    q[1] = y[lane] + (add ? q[1] : 0);
    q[2] = z[lane] + (add ? q[2] : 0);
    if (!add) q[3] = 0;
  }
}

// `has_coefficients` is a constant where this is inlined.
WIDE_INLINE void fluid_block(const FloFluidForces *in, size_t block, bool has_coefficients) {
  const FloPairs *pairs = in->pairs;
  WideF here[4], own[4] = {0}, other[4] = {0};
  load_rows(pairs, block, in->state, here);
  if (has_coefficients) load_rows(pairs, block, in->coefficients, own);
  WideF always = wide_set(in->always), approaching = wide_set(in->approaching);
  PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
  size_t slot = pairs->slot_begin[block], end = slot + pairs->slot_count[block];
  for (; slot < end; ++slot) {
    Neighbours n = load_neighbours(pairs, slot, in->state);
    if (has_coefficients) {
      wide_gather4(in->coefficients, pairs->slots[slot].index, other);
      always = 0.5f * (own[0] + other[0]), approaching = 0.5f * (own[1] + other[1]);
    }
    Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
    Real scale = pair_pressure(here[3], n.value) + pair_viscosity(v_dot_g, n.viscous, always, approaching);
    sum = pair_add_scaled(sum, scale, n.gradient);
  }
  store_rows(pairs, block, sum, false, in->force);
}

void FLO_WIDE(fluid_forces)(const FloFluidForces *in, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) {
    if (in->coefficients)
      fluid_block(in, block, true);
    else
      fluid_block(in, block, false);
  }
}

// The solid mirrors the pressure of the fluid particle that looks at it: p_b = p_i (Akinci 2012 with mirrored
// pressure). The sample's volume over the fluid's rest volume says how many fluid particles it stands for.
WIDE_INLINE Real solid_scale(Real pv2, Real ratio, Real v_dot_g, Real viscous, Real wall) {
  return ratio * (pair_pressure(pv2, pv2) + pair_viscosity(v_dot_g, viscous, wall, real_set(0)));
}

void FLO_WIDE(solid_forces_on_fluid)(const FloSolidForces *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    size_t slot = pairs->slot_begin[block], last = slot + pairs->slot_count[block];
    if (slot == last) continue;
    WideF here[4];
    load_rows(pairs, block, in->fluid, here);
    WideF wall = in->walls ? wide_load(in->walls + block * FLO_BLOCK) : wide_set(in->wall);
    PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
    for (; slot < last; ++slot) {
      Neighbours n = load_neighbours(pairs, slot, in->solid);
      Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
      sum = pair_add_scaled(sum, solid_scale(here[3], n.value, v_dot_g, n.viscous, wall), n.gradient);
    }
    store_rows(pairs, block, sum, true, in->force);
  }
}

void FLO_WIDE(fluid_forces_on_solid)(const FloSolidForces *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    size_t slot = pairs->slot_begin[block], last = slot + pairs->slot_count[block];
    if (slot == last) continue;
    WideF here[4], wall = wide_set(in->wall);
    load_rows(pairs, block, in->solid, here);
    PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
    for (; slot < last; ++slot) {
      Neighbours n = load_neighbours(pairs, slot, in->fluid);
      if (in->walls)
        for (int lane = 0; lane < FLO_BLOCK; ++lane) wall[lane] = in->walls[pairs->slots[slot].index[lane]];
      Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
      sum = pair_add_scaled(sum, solid_scale(n.value, here[3], v_dot_g, n.viscous, wall), n.gradient);
    }
    store_rows(pairs, block, sum, true, in->force);
  }
}

const FloPasses *FLO_WIDE(flo_passes)(void) {
  static const FloPasses passes = {FLO_TEXT(FLO_ISA), FLO_WIDE(build_pairs), FLO_WIDE(fluid_forces),
                                   FLO_WIDE(solid_forces_on_fluid), FLO_WIDE(fluid_forces_on_solid)};
  return &passes;
}
