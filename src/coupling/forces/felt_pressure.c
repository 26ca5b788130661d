#include "coupling/forces/felt_pressure.h"

#include "sph/passes.h"

typedef struct Feeling {
  const FloWorld *world;
  const float *multipliers;
  int solid_field;
  float volume;
  float *pressure;
} Feeling;

static void add_stress(const Feeling *in, FloSet set, size_t begin, size_t end) {
  const FloParticles *others = &in->world->sets[set];
  bool is_fluid = set == FLO_SET_FLUID;
  if (others->count == 0) return;
  const FloStress stress = {.pairs = flo_pairs_of(in->world, FLO_SET_FLUID, set),
                            .rows = &in->world->grids[FLO_SET_FLUID],
                            .columns = &in->world->grids[set],
                            .row_pressure = in->multipliers,
                            .column_pressure = is_fluid ? in->multipliers : others->extra[in->solid_field],
                            .column_volume = is_fluid ? NULL : others->volume,
                            .all_volume = in->volume,
                            .sum = in->pressure};
  flo_passes()->stress(&stress, begin, end);
}

static void feel_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Feeling *in = context;
  size_t first = begin * FLO_BLOCK,
         last = flo_min_size(end * FLO_BLOCK, in->world->sets[FLO_SET_FLUID].count);
  float scale = -1 / (2 * (float)in->world->def.dim);
  for (size_t i = first; i < last; ++i) in->pressure[i] = 0;
  add_stress(in, FLO_SET_FLUID, begin, end);
  if (in->solid_field != FLO_NO_FIELD) {
    add_stress(in, FLO_SET_BOUNDARY, begin, end);
    add_stress(in, FLO_SET_RIGID, begin, end);
  }
  for (size_t i = first; i < last; ++i) in->pressure[i] *= scale;
}

void flo_world_feel_pressure(FloWorld *world, int fluid_field, int solid_field) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  Feeling feeling = {world, fluid->extra[fluid_field], solid_field, (float)flo_world_rest_volume(world),
                     fluid->pressure};
  if (fluid->count) flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, feel_range, &feeling);
}
