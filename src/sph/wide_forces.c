// Sweeps over the pair operator that gather forces. Rows [begin, end) are blocks.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/wide_passes.h"
#include "sph/wide_rows.h"

#include <float.h>

// One neighbour of each row of a block.
typedef struct Neighbours {
  PairVector gradient, velocity;
  Real value; // fourth number of the neighbours' quadruples
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

typedef struct WideCoefficients {
  Real always, approaching, wall, rest_density;
} WideCoefficients;

WIDE_INLINE WideCoefficients spread_coefficients(const FloFluidCoefficients *c) {
  return (WideCoefficients){wide_set(c->always), wide_set(c->approaching), wide_set(c->wall),
                            wide_set(c->rest_density)};
}

WIDE_INLINE WideCoefficients gather_coefficients(const FloFluidCoefficients *all, const int32_t *index) {
  WideF q[4];
  wide_gather4(&all->always, index, q);
  return (WideCoefficients){q[0], q[1], q[2], q[3]};
}

WIDE_INLINE WideCoefficients load_coefficients(const FloFluidCoefficients *all, size_t block, size_t n_rows) {
  WideF q[4];
  wide_load_rows(&all->always, block, n_rows, q);
  return (WideCoefficients){q[0], q[1], q[2], q[3]};
}

// `fluids_differ` and `is_artificial` are constants where this is inlined.
WIDE_INLINE void fluid_block(const FloFluidForces *in, size_t block, bool fluids_differ, bool is_artificial) {
  const FloPairs *pairs = in->pairs;
  WideF here[4];
  wide_load_rows(in->state, block, pairs->n_rows, here);
  WideCoefficients own = spread_coefficients(&in->all), pair = own;
  if (fluids_differ) own = load_coefficients(in->coefficients, block, pairs->n_rows);
  PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
  Real virial = wide_set(0);
  const Real length2 = wide_set(pairs->length2), least = wide_set(pairs->least), tiny = wide_set(FLT_MIN);
  size_t slot = pairs->slot_begin[block], end = slot + pairs->slot_count[block];
  for (; slot < end; ++slot) {
    Neighbours n = load_neighbours(pairs, slot, in->state);
    if (fluids_differ) {
      WideCoefficients other = gather_coefficients(in->coefficients, pairs->slots[slot].index);
      pair.always = pair_mean(own.always, other.always, tiny);
      pair.approaching = pair_mean(own.approaching, other.approaching, tiny);
    }
    Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
    Real strength = pair.always;
    if (is_artificial)
      strength = pair_strength(v_dot_g, pair.always,
                               pair.approaching * pair_closeness(n.gradient, n.viscous, length2, least));
    Real pressure = pair_pressure(here[3], n.value);
    virial = real_fma(pressure, pair_virial(n.gradient, n.viscous), virial);
    sum = pair_add_scaled(sum, pressure + pair_viscosity(v_dot_g, n.viscous, strength), n.gradient);
  }
  wide_store_rows_with(pairs, block, sum, length2 * virial, false, in->force);
}

void FLO_WIDE(fluid_forces)(const FloFluidForces *in, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) {
    if (in->coefficients)
      fluid_block(in, block, true, true);
    else if (in->all.approaching > 0)
      fluid_block(in, block, false, true);
    else
      fluid_block(in, block, false, false);
  }
}

// A sample acts like `ratio` fluid particles with the sample's pressure. The expression is the same for rows
// of fluid and rows of samples. So the force of the fluid on the solid is exactly opposite to that of the
// solid on the fluid.
WIDE_INLINE Real solid_scale(Real fluid_pv2, Real solid_pv2, Real ratio, Real v_dot_g, Real viscous,
                             Real wall) {
  return ratio * (pair_pressure(fluid_pv2, solid_pv2) + pair_viscosity(v_dot_g, viscous, wall));
}

void FLO_WIDE(solid_forces_on_fluid)(const FloSolidForces *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    size_t slot = pairs->slot_begin[block], last = slot + pairs->slot_count[block];
    if (slot == last) continue;
    WideF here[4];
    wide_load_rows(in->fluid, block, pairs->n_rows, here);
    WideCoefficients own = spread_coefficients(&in->all);
    if (in->coefficients) own = load_coefficients(in->coefficients, block, pairs->n_rows);
    PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
    Real virial = wide_set(0);
    for (; slot < last; ++slot) {
      Neighbours n = load_neighbours(pairs, slot, in->solid);
      Real solid_pv2 = own.rest_density * wide_gather(in->solid_pressure, pairs->slots[slot].index);
      Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
      Real scale = solid_scale(here[3], solid_pv2, n.value, v_dot_g, n.viscous, own.wall);
      virial =
          real_fma(n.value * pair_pressure(here[3], solid_pv2), pair_virial(n.gradient, n.viscous), virial);
      sum = pair_add_scaled(sum, scale, n.gradient);
    }
    wide_store_rows_with(pairs, block, sum, wide_set(pairs->length2) * virial, true, in->force);
  }
}

void FLO_WIDE(fluid_forces_on_solid)(const FloSolidForces *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  for (size_t block = begin; block < end; ++block) {
    size_t slot = pairs->slot_begin[block], last = slot + pairs->slot_count[block];
    if (slot == last) continue;
    WideF here[4];
    wide_load_rows(in->solid, block, pairs->n_rows, here);
    int32_t rows[FLO_BLOCK];
    wide_rows(block, pairs->n_rows, rows);
    Real pressure = wide_gather(in->solid_pressure, rows);
    WideCoefficients other = spread_coefficients(&in->all);
    PairVector velocity = {here[0], here[1], here[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
    for (; slot < last; ++slot) {
      Neighbours n = load_neighbours(pairs, slot, in->fluid);
      if (in->coefficients) other = gather_coefficients(in->coefficients, pairs->slots[slot].index);
      Real v_dot_g = pair_dot(pair_difference(velocity, n.velocity), n.gradient);
      Real scale =
          solid_scale(n.value, other.rest_density * pressure, here[3], v_dot_g, n.viscous, other.wall);
      sum = pair_add_scaled(sum, scale, n.gradient);
    }
    wide_store_rows(pairs, block, sum, true, in->force);
  }
}

const FloPasses *FLO_WIDE(flo_passes)(void) {
  static const FloPasses passes = {FLO_TEXT(FLO_ISA),
                                   FLO_WIDE(build_pairs),
                                   FLO_WIDE(refill_pairs),
                                   FLO_WIDE(fluid_forces),
                                   FLO_WIDE(solid_forces_on_fluid),
                                   FLO_WIDE(fluid_forces_on_solid),
                                   FLO_WIDE(gradient),
                                   FLO_WIDE(divergence),
                                   FLO_WIDE(square),
                                   FLO_WIDE(approach),
                                   FLO_WIDE(normals),
                                   FLO_WIDE(cohesion),
                                   FLO_WIDE(adhesion),
                                   FLO_WIDE(stress),
                                   FLO_WIDE(sum_change),
                                   FLO_WIDE(links_rate),
                                   FLO_WIDE(links_push),
                                   FLO_WIDE(links_response),
                                   FLO_WIDE(link_block),
                                   FLO_WIDE(relax)};
  return &passes;
}
