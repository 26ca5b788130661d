// Neighbours: grids of all sets, and the pair operators of the method's table.
#include "state/state.h"

// ---- Operators ----

void flo_world_init_operators(FloWorld *world) {
  for (int rows = 0; rows < FLO_SET_COUNT; ++rows)
    for (int columns = 0; columns < FLO_SET_COUNT; ++columns)
      flo_pairs_init(&world->operators[rows][columns].pairs, &world->memory);
  for (size_t k = 0; k < world->method->n_operators; ++k) {
    const FloOperatorDef *def = &world->method->operators[k];
    world->operators[def->rows][def->columns].def = def;
  }
}

static FloPairsSpec describe(const FloWorld *world, const FloOperatorDef *def) {
  return (FloPairsSpec){.rows = &world->grids[def->rows],
                        .columns = &world->grids[def->columns],
                        .kernel = world->kernel,
                        .reach = world->lists.reach,
                        .with_viscous = def->with_viscous,
                        .groups = def->between_bodies ? world->sets[def->rows].body : NULL,
                        .threads = world->threads};
}

// Most worlds have no bodies that forces move. Operators of an empty set are not computed.
static bool is_empty(const FloWorld *world, const FloOperatorDef *def) {
  const FloSet sets[2] = {def->rows, def->columns};
  for (int k = 0; k < 2; ++k)
    if (sets[k] != FLO_SET_FLUID && sets[k] != FLO_SET_BOUNDARY && world->sets[sets[k]].count == 0)
      return true;
  return false;
}

// Computes an operator for the present positions. Its lists are kept if no newer lists were made.
static FloStatus fit_operator(FloWorld *world, FloOperator *op, FloError *error) {
  const FloPairsSpec spec = describe(world, op->def);
  if (is_empty(world, op->def)) {
    op->pairs.n_rows = op->pairs.n_blocks = 0;
    return FLO_OK;
  }
  if (op->listed > world->epochs.lists) {
    flo_pairs_refill(&op->pairs, &spec);
  } else {
    FLO_TRY(flo_pairs_build(&op->pairs, &spec, error));
    // Lists made from later positions than the others do not last as long: they serve once.
    if (world->epochs.positions == world->epochs.lists) flo_epoch_note(world, &op->listed);
  }
  flo_epoch_note(world, &op->filled);
  return FLO_OK;
}

FloStatus flo_world_build_operators(FloWorld *world, FloError *error) {
  for (size_t k = 0; k < world->method->n_operators; ++k) {
    const FloOperatorDef *def = &world->method->operators[k];
    if (!def->is_on_demand) FLO_TRY(fit_operator(world, &world->operators[def->rows][def->columns], error));
  }
  return FLO_OK;
}

FloStatus flo_world_need_pairs(FloWorld *world, FloSet rows, FloSet columns, FloError *error) {
  FloOperator *op = &world->operators[rows][columns];
  FLO_ASSERT(op->def);
  return op->filled > world->epochs.positions ? FLO_OK : fit_operator(world, op, error);
}

// ---- Grids ----

FloStatus flo_world_update_wall_grid(FloWorld *world, FloError *error) {
  if (flo_world_has_wall_grid(world)) return FLO_OK;
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  FLO_TRY(flo_grid_build(&world->grids[FLO_SET_BOUNDARY], walls, walls->volume, world->threads, error));
  flo_epoch_note(world, &world->epochs.wall_grid);
  return FLO_OK;
}

static FloStatus update_fluid_grid(FloWorld *world, FloError *error) {
  FloGrid *grid = &world->grids[FLO_SET_FLUID];
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  FLO_TRY(flo_grid_build(grid, fluid, NULL, world->threads, error));
  // All fields are sorted only when the order has decayed noticeably, since it costs much.
  if (grid->n_descents * 16 > grid->count)
    FLO_TRY(flo_grid_sort_particles(grid, fluid, world->threads, error));
  return FLO_OK;
}

static FloStatus update_grids(FloWorld *world, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID], *soft = &world->sets[FLO_SET_SOFT];
  FLO_TRY(flo_world_update_wall_grid(world, error));
  FLO_TRY(update_fluid_grid(world, error));
  FLO_TRY(flo_grid_build(&world->grids[FLO_SET_RIGID], rigid, rigid->volume, world->threads, error));
  if (soft->count == 0) return FLO_OK; // as in most worlds
  return flo_grid_build(&world->grids[FLO_SET_SOFT], soft, soft->volume, world->threads, error);
}

void flo_world_set_reach(FloWorld *world, double reach) {
  if (reach == world->lists.reach || !flo_lattice_set_reach(&world->lattice, reach)) return;
  world->lists.reach = reach;
  flo_epoch_note(world, &world->epochs.walls);
}

// ---- Lists that serve several steps ----

// Lists that reach a margin beyond the support stay complete until two particles may have approached each
// other by that margin (Verlet 1967). A margin d adds about the share 3 d of pairs, and of work, to each
// step. A search costs about twice the work of a step, and is needed once in d/approach steps. The total is
// least for d = sqrt(2/3 approach). If the margin lasts for less than two steps, no margin is better. Few
// different margins are used, so that cells seldom change.
static double choose_margin(const FloWorld *world, double dt) {
  static const double margins[] = {0.06, 0.03, 0.015};
  double speed = fmax(world->max_speed, flo_world_any_wall_speed(world));
  double approach = 2 * speed * dt / world->kernel.support, best = sqrt(2.0 / 3 * approach);
  // If walls move by motions, lists are made in each step anyway.
  if (!world->method->has_small_steps || flo_world_has_led_bodies(world)) return 0;
  for (size_t k = 0; k < FLO_COUNT_OF(margins); ++k)
    if (best > 0.7 * margins[k] || k + 1 == FLO_COUNT_OF(margins))
      return margins[k] > 2 * approach ? margins[k] : 0;
  return 0;
}

static bool are_lists_complete(FloWorld *world) {
  static const FloSet moving[] = {FLO_SET_FLUID, FLO_SET_RIGID, FLO_SET_SOFT};
  if (!flo_world_has_lists(world) || !flo_world_has_wall_grid(world) || world->lists.reach == 1) return false;
  double moved = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(moving); ++k)
    if (world->sets[moving[k]].count)
      moved =
          fmax(moved, flo_grid_refresh(&world->grids[moving[k]], &world->sets[moving[k]], world->threads));
  // The small number allows for rounding.
  return 2 * moved + 1e-6 < world->lists.reach - 1;
}

FloStatus flo_world_list_neighbours(FloWorld *world, double margin, FloError *error) {
  double since = flo_seconds();
  flo_epoch_note(world, &world->epochs.order); // until they are made, no lists are valid
  flo_epoch_note(world, &world->epochs.begun);
  flo_world_set_reach(world, 1 + margin);
  FLO_TRY(update_grids(world, error));
  since = flo_world_stage_done(world, FLO_STAGE_SORT, since);
  flo_epoch_note(world, &world->epochs.lists);
  world->epochs.positions = world->epochs.lists;
  FloStatus status = flo_world_build_operators(world, error);
  if (status != FLO_OK) flo_epoch_note(world, &world->epochs.order);
  world->lists.age = 0;
  flo_world_stage_done(world, FLO_STAGE_NEIGHBOURS, since);
  return status;
}

FloStatus flo_world_find_neighbours(FloWorld *world, double dt, FloError *error) {
  double since = flo_seconds();
  bool are_complete = are_lists_complete(world);
  since = flo_world_stage_done(world, FLO_STAGE_SORT, since);
  if (!are_complete) return flo_world_list_neighbours(world, choose_margin(world, dt), error);
  ++world->lists.age;
  flo_epoch_note(world, &world->epochs.positions);
  FLO_TRY(flo_world_build_operators(world, error));
  flo_world_stage_done(world, FLO_STAGE_NEIGHBOURS, since);
  return FLO_OK;
}
