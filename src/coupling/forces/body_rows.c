#include "coupling/forces/body_rows.h"

#include <string.h>

enum { MOTION, FORCE, WRENCHES };

static FloStatus reserve(FloBodyRows *rows, FloWorld *world, FloError *error) {
  const size_t n_quads = 4 * (world->sets[FLO_SET_RIGID].capacity + FLO_BLOCK) * sizeof(float);
  const size_t n_wrenches = 6 * (world->nodes.count + 1) * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[MOTION], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[FORCE], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[WRENCHES], n_wrenches, 0, error));
  rows->motion = rows->buffers[MOTION].data;
  rows->force = rows->buffers[FORCE].data;
  rows->wrenches = rows->buffers[WRENCHES].data;
  return FLO_OK;
}

FloStatus flo_body_rows_prepare(FloBodyRows *rows, FloWorld *world, FloError *error) {
  rows->is_used = world->sets[FLO_SET_RIGID].count > 0 && world->sets[FLO_SET_FLUID].count > 0;
  if (!rows->is_used) return FLO_OK;
  FLO_TRY(reserve(rows, world, error));
  return flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, error);
}

static void sweep_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  flo_passes()->fluid_forces_on_solid(context, begin, end);
}

void flo_body_rows_sweep(FloBodyRows *rows, FloWorld *world, FloSolidForces forces) {
  forces.pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  forces.solid = rows->motion, forces.force = rows->force;
  memset(rows->force, 0, 4 * world->sets[FLO_SET_RIGID].count * sizeof(float));
  flo_each_block(world, FLO_SET_RIGID, FLO_SET_FLUID, sweep_range, &forces);
}

void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory) {
  for (size_t k = 0; k < FLO_COUNT_OF(rows->buffers); ++k) flo_buffer_free(memory, &rows->buffers[k]);
}
