// Saving and restoring neighbour lists that serve several steps: the positions from which they were made.
#include "world/save_lists.h"

#include <string.h>

// Sets whose particles move, and the names of what their grids hold.
static const struct {
  FloSet set;
  const char *fixed, *cells;
} grids[] = {{FLO_SET_FLUID, "lists/fixed", "lists/cells"},
             {FLO_SET_RIGID, "lists/rigid_fixed", "lists/rigid_cells"},
             {FLO_SET_SOFT, "lists/soft_fixed", "lists/soft_cells"}};

static FloStatus save_grids(const FloWorld *world, FloState *state, FloError *error) {
  for (size_t k = 0; k < FLO_COUNT_OF(grids); ++k) {
    const FloGrid *grid = &world->grids[grids[k].set];
    void *fixed, *cells;
    FLO_TRY(flo_state_add(state, grids[k].fixed, FLO_TYPE_U32, 3 * grid->count, &fixed, error));
    FLO_TRY(flo_state_add(state, grids[k].cells, FLO_TYPE_U32, 3 * grid->count, &cells, error));
    if (grid->count) flo_grid_save(grid, fixed, cells);
  }
  return FLO_OK;
}

FloStatus flo_save_lists(const FloWorld *world, FloState *state, FloError *error) {
  size_t n = world->grids[FLO_SET_FLUID].count;
  void *clearance;
  if (!flo_world_has_lists(world) || world->lists.reach == 1) return FLO_OK;
  FLO_TRY(save_grids(world, state, error));
  if (!flo_world_has_clearances(world)) return FLO_OK;
  FLO_TRY(flo_state_add(state, "lists/clearance", FLO_TYPE_F32, n, &clearance, error));
  const FloWallRoom *rooms = world->wall_rooms.data;
  for (size_t i = 0; i < n; ++i) ((float *)clearance)[i] = rooms[i].clearance;
  return FLO_OK;
}

static FloStatus restore_clearances(FloWorld *world, const FloStateArray *clearance, FloError *error) {
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->wall_rooms, clearance->count * sizeof(FloWallRoom), 0,
                             error));
  FloWallRoom *rooms = world->wall_rooms.data;
  for (size_t i = 0; i < clearance->count; ++i)
    rooms[i] = flo_empty_room(((const float *)clearance->buffer.data)[i]);
  return FLO_OK;
}

// The fourth number of a grid position is the volume of the sample; fluid has none.
static FloStatus restore_grids(FloWorld *world, const FloState *state, FloError *error) {
  for (size_t k = 0; k < FLO_COUNT_OF(grids); ++k) {
    const FloStateArray *fixed = flo_state_find(state, grids[k].fixed),
                        *cells = flo_state_find(state, grids[k].cells);
    FloGrid *grid = &world->grids[grids[k].set];
    if (fixed->count == 0 && grid->count == 0) continue;
    FLO_TRY(flo_grid_restore(grid, fixed->count / 3, fixed->buffer.data, cells->buffer.data, world->threads,
                             error));
    const float *volume = world->sets[grids[k].set].volume;
    for (size_t i = 0; volume && i < grid->count; ++i)
      memcpy(grid->fixed + 4 * i + 3, &volume[i], sizeof(float));
  }
  return FLO_OK;
}

static FloStatus rebuild_lists(FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *clearance = flo_state_find(state, "lists/clearance");
  FLO_TRY(flo_world_update_wall_grid(world, error));
  FLO_TRY(restore_grids(world, state, error));
  flo_epoch_note(world, &world->epochs.lists);
  world->epochs.positions = world->epochs.lists;
  FLO_TRY(flo_world_build_operators(world, error));
  if (!clearance) return FLO_OK;
  FLO_TRY(restore_clearances(world, clearance, error));
  flo_epoch_note(world, &world->epochs.clearances);
  return FLO_OK;
}

FloStatus flo_restore_lists(FloWorld *world, const FloState *state, FloError *error) {
  double reach = world->lists.reach;
  world->lists.reach = 1; // the reach of the initial cells; the next lines set the saved one
  flo_lattice_set_reach(&world->lattice, 1);
  flo_world_set_reach(world, reach);
  if (!flo_state_find(state, "lists/fixed")) return FLO_OK;
  FloStatus status = rebuild_lists(world, state, error);
  if (status != FLO_OK) flo_epoch_note(world, &world->epochs.order);
  return status;
}

static FloStatus check_grid(const FloState *state, const char *fixed_name, const char *cells_name, size_t n,
                            FloError *error) {
  FLO_TRY(flo_state_need(state, cells_name, FLO_TYPE_U32, 3 * n, error));
  FLO_TRY(flo_state_need(state, fixed_name, FLO_TYPE_U32, 3 * n, error));
  const FloStateArray *cells = flo_state_find(state, cells_name);
  for (size_t k = 0; k < cells->count; ++k)
    if (!flo_grid_is_cell(((const int32_t *)cells->buffer.data)[k]))
      return flo_fail(error, FLO_BAD_INPUT, "state: a particle is in a cell that is out of reach");
  return FLO_OK;
}

// All of the lists or nothing.
FloStatus flo_check_lists(const FloWorld *world, const FloState *state, size_t n, FloError *error) {
  const char *const parts[] = {"lists/cells", "lists/fixed", "lists/clearance"};
  bool has_any = false;
  for (size_t k = 0; k < FLO_COUNT_OF(parts); ++k) has_any = has_any || flo_state_find(state, parts[k]);
  for (size_t k = 0; has_any && k < FLO_COUNT_OF(grids); ++k) {
    size_t count = grids[k].set == FLO_SET_FLUID ? n : flo_save_samples_in(world, state, grids[k].set);
    FLO_TRY(check_grid(state, grids[k].fixed, grids[k].cells, count, error));
  }
  if (!flo_state_find(state, "lists/clearance")) return FLO_OK;
  return flo_state_need(state, "lists/clearance", FLO_TYPE_F32, n, error);
}
