#include "coupling/forces/wet_samples.h"

#include <string.h>

// A sample that sees less fluid than this share of a flat layer is not wet: it could push that fluid only
// with absurd pressures.
#define LEAST_SHARE 0.25

float flo_wet_least_sum(const FloWorld *world) {
  return (float)(LEAST_SHARE * flo_kernel_sheet_sum(&world->kernel, world->def.spacing, 1));
}

// The kernel sum over the samples of other bodies in a set.
static float sum_over(const FloWorld *world, FloSet rows, FloSet columns, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, rows, columns);
  return i < pairs->n_rows ? pairs->kernel_sum[i] : 0;
}

float flo_wet_sample_room(const FloWetSamples *wet, const FloWorld *world, FloSet set, size_t i) {
  float room = 1 - world->sets[set].covered[i] - sum_over(world, set, FLO_SET_RIGID, i);
  return room -
         (set == FLO_SET_BOUNDARY ? wet->walls_near_walls[i] : sum_over(world, set, FLO_SET_BOUNDARY, i));
}

// Whether an emitter guides fluid next to the sample. Pressure cannot move such fluid, so that no pressure
// would be enough.
static bool sees_held_fluid(const FloWorld *world, FloSet set, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, set, FLO_SET_FLUID);
  const uint16_t *held = world->sets[FLO_SET_FLUID].held;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k)
    if (held[slots[k].index[i % FLO_BLOCK]]) return true;
  return false;
}

// A sheet has no pressure of its own: the fluid on its two sides has different pressures.
bool flo_wet_sample_is_wet(const FloWetSamples *wet, const FloWorld *world, FloSet set, size_t i) {
  return !flo_bodies(world)[world->sets[set].body[i]].is_thin &&
         flo_pairs_of(world, set, FLO_SET_FLUID)->kernel_sum[i] >= wet->least_sum &&
         flo_wet_sample_room(wet, world, set, i) >= wet->least_sum * (float)flo_world_rest_volume(world) &&
         !(wet->has_held && sees_held_fluid(world, set, i));
}

static bool are_several_walls(const FloWorld *world) {
  size_t n = 0;
  for (size_t k = 0; k < world->bodies.count && n < 2; ++k)
    n += flo_bodies(world)[k].kind->set == FLO_SET_BOUNDARY;
  return n > 1;
}

// It changes only if walls move.
static FloStatus find_walls_near_walls(FloWetSamples *wet, FloWorld *world, FloError *error) {
  size_t n = world->sets[FLO_SET_BOUNDARY].count;
  if (wet->walls_near_walls && wet->walls_near_walls_at > world->epochs.wall_grid) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(&world->memory, &wet->buffer, (n + 1) * sizeof(float), 0, error));
  wet->walls_near_walls = wet->buffer.data;
  memset(wet->walls_near_walls, 0, n * sizeof(float));
  if (are_several_walls(world)) {
    FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_BOUNDARY, error));
    memcpy(wet->walls_near_walls, flo_pairs_of(world, FLO_SET_BOUNDARY, FLO_SET_BOUNDARY)->kernel_sum,
           n * sizeof(float));
  }
  flo_epoch_note(world, &wet->walls_near_walls_at);
  return FLO_OK;
}

FloStatus flo_wet_samples_prepare(FloWetSamples *wet, FloWorld *world, FloSet set, FloError *error) {
  wet->least_sum = flo_wet_least_sum(world);
  wet->has_held = world->emitters.count > 0;
  FLO_TRY(flo_world_need_pairs(world, set, FLO_SET_FLUID, error));
  if (set != FLO_SET_BOUNDARY) return FLO_OK;
  FLO_TRY(find_walls_near_walls(wet, world, error));
  return flo_world_need_pairs(world, set, FLO_SET_RIGID, error);
}

void flo_wet_samples_free(FloWetSamples *wet, FloMemory *memory) { flo_buffer_free(memory, &wet->buffer); }
