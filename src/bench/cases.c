#include "bench/cases.h"

#include "state/state.h"

#include <math.h>
#include <stdlib.h>

// ---- The box ----

#define BOX_SPACING 0.02 // [m]
#define BOX_NOISE   0.1  // the largest shift along each axis, in spacings

typedef struct Box {
  size_t n[3]; // particles along the axes
} Box;

static size_t count_of(const Box *box) { return box->n[0] * box->n[1] * box->n[2]; }

// Chooses edges of similar length whose product is nearest to n.
static Box shape_box(size_t n) {
  size_t cube = flo_max_size((size_t)lround(cbrt((double)n)), 1), least = cube - cube / 3;
  Box best = {{cube, cube, cube}};
  for (size_t a = cube; a >= least && a > 0; --a)
    for (size_t b = cube; b <= cube + cube / 3; ++b) {
      Box box = {{a, b, flo_max_size((n + a * b / 2) / (a * b), 1)}};
      double error = fabs((double)count_of(&box) - (double)n),
             least_error = fabs((double)count_of(&best) - (double)n);
      if (error < least_error) best = box;
    }
  return best;
}

// Uses splitmix64.
double flo_case_noise(uint64_t k) {
  k = (k + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
  k = (k ^ k >> 27) * 0x94d049bb133111ebu;
  return (double)((k ^ k >> 31) >> 11) * 0x1p-52 - 1;
}

static void place_particles(const Box *box, double *positions) {
  size_t i = 0;
  for (size_t z = 0; z < box->n[2]; ++z)
    for (size_t y = 0; y < box->n[1]; ++y)
      for (size_t x = 0; x < box->n[0]; ++x, ++i) {
        const size_t at[3] = {x, y, z};
        for (size_t axis = 0; axis < 3; ++axis)
          positions[3 * i + axis] =
              ((double)at[axis] + 0.5 + BOX_NOISE * flo_case_noise(3 * i + axis)) * BOX_SPACING;
      }
}

static FloStatus add_tank(FloWorld *world, const Box *box, FloError *error) {
  FloBodyDef tank = flo_default_body_def();
  FloBodyId id;
  tank.name = "tank";
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = 2};
  for (int axis = 0; axis < 3; ++axis) {
    // A few spacings of free space above the water.
    tank.shape.size[axis] = (double)(box->n[axis] + (axis == 2 ? 4 : 0)) * BOX_SPACING;
    tank.pose.position[axis] = tank.shape.size[axis] / 2;
  }
  return flo_world_add_body(world, &tank, &id, error);
}

static FloStatus add_water(FloWorld *world, const Box *box, FloError *error) {
  FloMaterialDef water = flo_default_material_def();
  FloMaterialId material;
  FLO_TRY(flo_world_add_material(world, &water, &material, error));
  // All particles are added at once, so that the world's arrays have exactly the size they need.
  double *positions = malloc(count_of(box) * 3 * sizeof *positions);
  if (!positions) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu positions", count_of(box));
  place_particles(box, positions);
  FloStatus status = flo_world_add_particles(world, material, count_of(box), positions, NULL, error);
  free(positions);
  return status;
}

FloStatus flo_case_box(size_t particles, int threads, const char *method, const FloAllocator *allocator,
                       FloWorld **world, FloError *error) {
  Box box = shape_box(particles);
  FloWorldDef def = flo_default_world_def();
  def.spacing = BOX_SPACING, def.method = method;
  def.threads = threads;
  if (allocator) def.allocator = *allocator;
  FLO_TRY(flo_world_create(&def, world, error));
  FloStatus status = add_tank(*world, &box, error);
  if (status == FLO_OK) status = add_water(*world, &box, error);
  if (status == FLO_OK) return FLO_OK;
  flo_world_destroy(*world);
  *world = NULL;
  return status;
}

// ---- The dam break that other programs are compared with ----

static FloStatus fill_dam(FloWorld *world, FloError *error) {
  FloMaterialDef water = flo_default_material_def();
  FloBodyDef tank = flo_default_body_def();
  FloFluidDef fluid = flo_default_fluid_def();
  FloBodyId id;
  water.viscosity = 0.01;
  tank.name = "tank";
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {5, 3, 2.6}, .up = 1};
  tank.pose.position[1] = 1.5;
  // 40 x 50 x 50 particles, the first one at (-2.4, 0.1, -1.225).
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {2, 2.5, 2.5}};
  fluid.pose.position[0] = -1.425, fluid.pose.position[1] = 1.325;
  FLO_TRY(flo_world_add_material(world, &water, &fluid.material, error));
  FLO_TRY(flo_world_add_body(world, &tank, &id, error));
  return flo_world_add_fluid(world, &fluid, NULL, error);
}

FloStatus flo_case_peer_dam(int threads, FloWorld **world, FloError *error) {
  FloWorldDef def = flo_default_world_def();
  def.spacing = 0.05, def.method = "wcsph";
  def.threads = threads;
  def.gravity[1] = -9.81, def.gravity[2] = 0;
  FLO_TRY(flo_world_create(&def, world, error));
  FloStatus status = fill_dam(*world, error);
  if (status == FLO_OK) return FLO_OK;
  flo_world_destroy(*world);
  *world = NULL;
  return status;
}

// ---- Measuring ----

typedef struct Samples {
  double step[FLO_BENCH_MAX_REPEATS], stages[FLO_STAGE_COUNT][FLO_BENCH_MAX_REPEATS];
  double full_build[FLO_BENCH_MAX_REPEATS];
  int n_searches, n_iterations;
} Samples;

// Counts iterations, and steps that made neighbour lists.
static FloStatus make_steps(FloWorld *world, int n, Samples *samples, FloError *error) {
  for (int k = 0; k < n; ++k) {
    FLO_TRY(flo_world_step(world, NULL, error));
    samples->n_searches += world->lists.age == 0;
    samples->n_iterations += world->iterations;
  }
  return FLO_OK;
}

static FloStatus measure_once(FloWorld *world, int n_steps, int repeat, Samples *samples, FloError *error) {
  double before[FLO_STAGE_COUNT], after;
  for (size_t k = 0; k < FLO_STAGE_COUNT; ++k) flo_world_stage(world, k, &before[k]);
  double since = flo_seconds();
  FLO_TRY(make_steps(world, n_steps, samples, error));
  samples->step[repeat] = (flo_seconds() - since) / n_steps;
  for (size_t k = 0; k < FLO_STAGE_COUNT; ++k) {
    flo_world_stage(world, k, &after);
    samples->stages[k][repeat] = (after - before[k]) / n_steps;
  }
  return FLO_OK;
}

static FloStatus measure_full_build(FloWorld *world, int n, double *seconds, FloError *error) {
  double before, after;
  flo_world_stage(world, FLO_STAGE_NEIGHBOURS, &before);
  for (int k = 0; k < n; ++k) FLO_TRY(flo_world_list_neighbours(world, 0, error));
  flo_world_stage(world, FLO_STAGE_NEIGHBOURS, &after);
  *seconds = (after - before) / n;
  return FLO_OK;
}

static size_t count_lanes(const FloPairs *pairs) {
  size_t n_slots = 0;
  for (size_t block = 0; block < pairs->n_blocks; ++block) n_slots += pairs->slot_count[block];
  return n_slots * FLO_BLOCK;
}

static void describe(const FloWorld *world, FloCaseResult *result) {
  result->particles = flo_world_count(world, FLO_SET_FLUID);
  result->boundary = flo_world_count(world, FLO_SET_BOUNDARY);
  result->threads = world->threads;
  result->support = world->def.support;
  const FloPairs *fluid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID),
                 *walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY);
  result->pairs = fluid->n_pairs + walls->n_pairs;
  result->lanes = count_lanes(fluid) + count_lanes(walls);
  result->bytes = flo_world_memory(world);
}

FloStatus flo_case_measure(FloWorld *world, const FloCasePlan *plan, FloCaseResult *result, FloError *error) {
  Samples samples = {0}, ignored = {0};
  FLO_ASSERT(plan->repeats > 0 && plan->repeats <= FLO_BENCH_MAX_REPEATS && plan->steps > 0);
  *result = (FloCaseResult){.steps = (double)plan->repeats * plan->steps};
  FLO_TRY(make_steps(world, plan->warm_up, &ignored, error));
  double start = flo_world_time(world);
  for (int repeat = 0; repeat < plan->repeats; ++repeat)
    FLO_TRY(measure_once(world, plan->steps, repeat, &samples, error));
  result->simulated = flo_world_time(world) - start;
  result->step = flo_times_of(samples.step, plan->repeats);
  for (size_t k = 0; k < FLO_STAGE_COUNT; ++k) {
    result->stages[k] = flo_times_of(samples.stages[k], plan->repeats);
    result->stage_names[k] = flo_world_stage(world, k, NULL);
  }
  describe(world, result);
  // Done last, because it makes other neighbour lists than the steps.
  int n_builds = (plan->steps + 1) / 2;
  for (int repeat = 0; repeat < plan->repeats; ++repeat)
    FLO_TRY(measure_full_build(world, n_builds, &samples.full_build[repeat], error));
  result->full_build = flo_times_of(samples.full_build, plan->repeats);
  result->searches = samples.n_searches / result->steps;
  result->iterations = samples.n_iterations / result->steps;
  return FLO_OK;
}

// ---- Estimates ----

// Bytes of each pair in the operator: index, gradient, viscous factor.
enum { PAIR_BYTES = sizeof(FloPairSlot) / FLO_BLOCK + sizeof(float) };

// Number of candidates per particle in a neighbour search with cells of about one support radius.
static double candidates_of(const FloCaseResult *result) { return 27 * pow(result->support, 3); }

FloStageCost flo_case_cost(const FloCaseResult *result, FloStage stage) {
  double n = (double)result->particles, lanes = (double)result->lanes / n, pairs = (double)result->pairs / n;
  switch (stage) {
  case FLO_STAGE_SORT:
    // Reads positions, compares them with the sorted copy, and writes fixed-point positions. A search also
    // writes cells, sorts keys and order in two radix passes, and writes sorted copies.
    return (FloStageCost){24 + 12 + 16 + result->searches * (24 + 28 + 12 + 2 * 32 + 40 + 12), 10};
  case FLO_STAGE_NEIGHBOURS:
    // Reads sorted copies, own cell and position; writes the operator and two kernel sums. A search tests
    // candidates.
    return (FloStageCost){lanes * PAIR_BYTES + 16 + 28 + 8,
                          8 * result->searches * candidates_of(result) + 35 * lanes};
  case FLO_STAGE_DENSITY:
    // Reads kernel sums, mass, material and velocity; writes density, pressure and state.
    return (FloStageCost){8 + 6 + 12 + 8 + 16, 15};
  case FLO_STAGE_FORCE:
    // Reads operator and state, and writes force; again for solids. Only flops of real pairs are counted.
    return (FloStageCost){lanes * PAIR_BYTES + 16 + 16 + 16, 20 * pairs};
  case FLO_STAGE_INTEGRATE:
    // Reads force, mass and guide; updates velocity and position; writes acceleration.
    return (FloStageCost){16 + 6 + 24 + 48 + 12, 24};
  default:
    return (FloStageCost){NAN, NAN};
  }
}
