// Sweeps of surface tension, adhesion and stress. They need distances, which the pair operator does not
// store. Distances are computed again from the same fixed-point positions, so they are exactly opposite for
// the two sides of a pair. Rows [begin, end) are blocks.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/kernel.h"
#include "sph/tension_kernel.h"
#include "sph/wide_passes.h"
#include "sph/wide_rows.h"

#define TINY_Q 1e-6f

// The vectors from the neighbours in one slot to the rows of a block.
typedef struct Apart {
  Real q;           // distance in supports; larger than 1 if there is no neighbour
  PairVector along; // unit vector
} Apart;

WIDE_INLINE Apart apart_of(const FloPairSlot *slot, const float *columns, const WideF here[4], WideScale s,
                           WideI is_listed) {
  PairVector d = wide_offset(slot, columns, here, s);
  WideF q = wide_sqrt(pair_dot(d, d));
  WideF per_q = 1 / wide_max(q, wide_set(TINY_Q));
  return (Apart){wide_select(is_listed, q, wide_set(2)), {d.x * per_q, d.y * per_q, d.z * per_q}};
}

void FLO_WIDE(normals)(const FloNormals *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  const float *fixed = (const float *)in->grid->fixed;
  const WideScale scale = wide_scale_of(in->grid->lattice);
  for (size_t block = begin; block < end; ++block) {
    const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
    WideF here[4];
    PairVector sum = {wide_set(0), wide_set(0), wide_set(0)};
    wide_load_rows(fixed, block, pairs->n_rows, here);
    for (size_t k = 0; k < pairs->slot_count[block]; ++k, ++slot) {
      Apart apart = apart_of(slot, fixed, here, scale, (WideI)(counts > wide_set_int((int32_t)k)));
      sum = pair_add_scaled(sum, kernel_poly6(apart.q).f * apart.q, apart.along);
    }
    wide_store_rows(pairs, block, sum, false, in->normals);
  }
}

// `fluids_differ` is a constant where this is inlined.
WIDE_INLINE void cohesion_block(const FloCohesion *in, size_t block, bool fluids_differ) {
  const FloPairs *pairs = in->pairs;
  const float *fixed = (const float *)in->grid->fixed;
  const WideScale scale = wide_scale_of(in->grid->lattice);
  const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);
  Real strength = wide_set(in->all), own = strength;
  WideF here[4], surface[4];
  int32_t rows[FLO_BLOCK];
  wide_rows(block, pairs->n_rows, rows);
  wide_gather4(fixed, rows, here);
  wide_gather4(in->surface, rows, surface);
  if (fluids_differ) own = wide_gather(in->strength, rows);
  PairVector normal = {surface[0], surface[1], surface[2]}, sum = {wide_set(0), wide_set(0), wide_set(0)};
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
  for (size_t k = 0; k < pairs->slot_count[block]; ++k, ++slot) {
    Apart apart = apart_of(slot, fixed, here, scale, (WideI)(counts > wide_set_int((int32_t)k)));
    WideF other[4];
    wide_gather4(in->surface, slot->index, other);
    if (fluids_differ) strength = 0.5f * (own + wide_gather(in->strength, slot->index));
    PairVector uneven = pair_difference(normal, (PairVector){other[0], other[1], other[2]});
    TensionCurvature c = tension_curvature(apart.q);
    Real more = 0.5f * strength * (surface[3] + other[3]);
    Real pull = real_fma(more, tension_cohesion(apart.q), c.along * pair_dot(uneven, apart.along));
    sum = pair_add_scaled(sum, -pull, apart.along);
    sum = pair_add_scaled(sum, -c.all, uneven);
  }
  wide_store_rows(pairs, block, sum, true, in->force);
}

void FLO_WIDE(cohesion)(const FloCohesion *in, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) {
    if (in->pairs->slot_count[block] == 0) continue;
    if (in->strength)
      cohesion_block(in, block, true);
    else
      cohesion_block(in, block, false);
  }
}

// r W of the kernel that is given, or else the kernel of adhesion.
WIDE_INLINE Real adhesion_of(const FloKernelForm *kernel, Real q) {
  if (!kernel) return tension_adhesion(q);
  return wide_set((float)(kernel->sigma * kernel->support)) * q * kernel_shape((int)kernel->kernel, q).w;
}

void FLO_WIDE(adhesion)(const FloAdhesion *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  const float *columns = (const float *)in->columns->fixed;
  const WideScale scale = wide_scale_of(in->columns->lattice);
  for (size_t block = begin; block < end; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
    WideF here[4];
    int32_t rows[FLO_BLOCK];
    wide_rows(block, pairs->n_rows, rows);
    wide_gather4((const float *)in->rows->fixed, rows, here);
    const Real own = wide_gather(in->row_weight, rows);
    PairVector sum = {wide_set(0), wide_set(0), wide_set(0)};
    for (size_t k = 0; k < pairs->slot_count[block]; ++k, ++slot) {
      Apart apart = apart_of(slot, columns, here, scale, (WideI)(counts > wide_set_int((int32_t)k)));
      Real pull = own * wide_gather(in->column_weight, slot->index) * adhesion_of(in->kernel, apart.q);
      sum = pair_add_scaled(sum, -pull, apart.along);
    }
    wide_store_rows(pairs, block, sum, true, in->force);
  }
}

void FLO_WIDE(stress)(const FloStress *in, size_t begin, size_t end) {
  const FloPairs *pairs = in->pairs;
  const float *columns = (const float *)in->columns->fixed;
  const WideScale scale = wide_scale_of(in->columns->lattice);
  const Real support = wide_set((float)in->columns->lattice->support);
  Real volume = wide_set(in->all_volume);
  for (size_t block = begin; block < end; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);
    const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
    WideF here[4], sum = wide_set(0);
    int32_t rows[FLO_BLOCK];
    wide_rows(block, pairs->n_rows, rows);
    wide_gather4((const float *)in->rows->fixed, rows, here);
    const Real own = wide_gather(in->row_pressure, rows);
    for (size_t k = 0; k < pairs->slot_count[block]; ++k, ++slot) {
      Apart apart = apart_of(slot, columns, here, scale, (WideI)(counts > wide_set_int((int32_t)k)));
      PairVector gradient = {wide_load(slot->gx), wide_load(slot->gy), wide_load(slot->gz)};
      if (in->column_volume) volume = wide_gather(in->column_volume, slot->index);
      Real both = own + wide_gather(in->column_pressure, slot->index);
      sum = real_fma(both * volume, support * apart.q * pair_dot(apart.along, gradient), sum);
    }
    wide_add_numbers(pairs, block, sum, in->sum);
  }
}
