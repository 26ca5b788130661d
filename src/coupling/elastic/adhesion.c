// Adhesion of fluid to solids, (2) of the paper:
//
//   F = -beta rho0 V_b (x_f - x_b) W_fb   on fluid, the opposite on the sample
//
// The paper prints it without the minus sign, which would push fluid away from solids; the cohesion of Becker
// and Teschner (2007) that it is taken from has the sign. beta is in m^dim/s^2.
#include "coupling/elastic/elastic.h"
#include "sph/passes.h"

typedef struct Attraction {
  const FloWorld *world;
  FloAdhesion pass;
} Attraction;

static bool is_used(const FloWorld *world) { return world->params[FLO_ELASTIC_BETA] > 0; }

static FloAdhesion between(const FloWorld *world, const FloElastic *e, FloSet rows, FloSet columns,
                           float *force) {
  const float *strength = e->strength.data;
  return (FloAdhesion){.pairs = flo_pairs_of(world, rows, columns),
                       .rows = &world->grids[rows],
                       .columns = &world->grids[columns],
                       .kernel = &world->kernel,
                       .row_weight = rows == FLO_SET_FLUID ? strength : world->sets[rows].volume,
                       .column_weight = columns == FLO_SET_FLUID ? strength : world->sets[columns].volume,
                       .force = force};
}

static void attract_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  flo_passes()->adhesion(&((Attraction *)context)->pass, begin, end);
}

static void attract(FloWorld *world, const FloElastic *e, FloSet rows, FloSet columns, float *force) {
  Attraction in = {world, between(world, e, rows, columns, force)};
  if (world->sets[columns].count && world->sets[rows].count)
    flo_each_block(world, rows, columns, attract_range, &in);
}

FloStatus flo_elastic_attract(FloWorld *world, FloElastic *e, FloError *error) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloBodyRows *rows = &e->adhesion;
  rows->is_used = false;
  if (!is_used(world)) return FLO_OK;
  FLO_TRY(
      flo_buffer_reserve(&world->memory, &e->strength, (p->capacity + FLO_BLOCK) * sizeof(float), 0, error));
  FLO_TRY(flo_body_rows_prepare(rows, world, error));
  float *strength = e->strength.data;
  const float scale = (float)(world->params[FLO_ELASTIC_BETA] / e->rest_volume);
  for (size_t i = 0; i < p->count; ++i) strength[i] = scale * p->mass[i];
  attract(world, e, FLO_SET_FLUID, FLO_SET_BOUNDARY, e->explicit_force);
  if (!rows->is_used) return FLO_OK;
  attract(world, e, FLO_SET_FLUID, FLO_SET_RIGID, e->explicit_force);
  for (size_t i = 0; i < 4 * world->sets[FLO_SET_RIGID].count; ++i) rows->force[i] = 0;
  attract(world, e, FLO_SET_RIGID, FLO_SET_FLUID, rows->force);
  flo_world_gather_wrenches(world, rows->force, rows->wrenches);
  return FLO_OK;
}

void flo_elastic_attract_walls(FloWorld *world, const FloElastic *e, float *force) {
  if (is_used(world)) attract(world, e, FLO_SET_BOUNDARY, FLO_SET_FLUID, force);
}
