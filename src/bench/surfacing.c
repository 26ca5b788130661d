#include "bench/surfacing.h"

#include "base/timer.h"
#include "bench/cases.h"
#include "surface/walls.h"

#include <math.h>
#include <stdlib.h>

#define SPACING 0.02 // [m]
#define NOISE   0.1  // the largest shift along each axis, in spacings

enum { PER_DROP = 200 }; // one of this many particles flies alone, as in a splash

// ---- Water ----

// In a square tank; at rest its depth is half of the tank's width.
typedef struct Water {
  size_t edge; // of the tank, in spacings
  size_t count;
  double *positions; // [m]
  float *velocities; // [m/s] zero, but meshes hold velocities, so they are needed
} Water;

static size_t layers_at(const Water *water, size_t x, size_t y) {
  double edge = (double)water->edge, u = FLO_PI * ((double)x + 0.5) / edge,
         v = FLO_PI * ((double)y + 0.5) / edge;
  double wave = 0.4 * cos(u) + 0.05 * cos(6 * u) * cos(8 * v);
  return (size_t)lround(edge / 2 * (1 + wave));
}

static size_t count_layers(const Water *water) {
  size_t n = 0;
  for (size_t y = 0; y < water->edge; ++y)
    for (size_t x = 0; x < water->edge; ++x) n += layers_at(water, x, y);
  return n;
}

// Positions have noise, because a flow has no lattice.
static void add_particle(Water *water, double x, double y, double z) {
  const double at[3] = {x, y, z};
  for (size_t axis = 0; axis < 3; ++axis) {
    size_t k = 3 * water->count + axis;
    water->positions[k] = (at[axis] + NOISE * flo_case_noise(k)) * SPACING;
  }
  water->count++;
}

static void add_column(Water *water, size_t x, size_t y) {
  size_t n = layers_at(water, x, y);
  for (size_t z = 0; z < n; ++z) add_particle(water, (double)x + 0.5, (double)y + 0.5, (double)z + 0.5);
}

// A random position above the water, up to a quarter of the tank's width.
static void add_drop(Water *water, uint64_t k) {
  double edge = (double)water->edge, half = (edge - 1) / 2;
  double x = edge / 2 + half * flo_case_noise(3 * k), y = edge / 2 + half * flo_case_noise(3 * k + 1);
  double above = edge / 8 * (1 + flo_case_noise(3 * k + 2));
  add_particle(water, x, y, (double)layers_at(water, (size_t)x, (size_t)y) + 2 + above);
}

static FloStatus make_water(size_t particles, Water *water, FloError *error) {
  *water = (Water){.edge = flo_max_size((size_t)lround(cbrt(2 * (double)particles)), 4)};
  size_t n_layered = count_layers(water), n_drops = n_layered / PER_DROP, n = n_layered + n_drops;
  water->positions = malloc(n * sizeof(double[3]));
  water->velocities = calloc(n, sizeof(float[3]));
  if (!water->positions || !water->velocities)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu particles", n);
  for (size_t y = 0; y < water->edge; ++y)
    for (size_t x = 0; x < water->edge; ++x) add_column(water, x, y);
  for (size_t k = 0; k < n_drops; ++k) add_drop(water, k);
  return FLO_OK;
}

static void free_water(Water *water) {
  free(water->positions);
  free(water->velocities);
}

// ---- Its tank ----

static FloStatus make_tank(const Water *water, int threads, FloWalls *walls, FloMemory *memory,
                           FloError *error) {
  double edge = (double)water->edge * SPACING;
  const FloShape shape = {.kind = FLO_SHAPE_TANK, .size = {edge, edge, edge}, .up = 2};
  const FloPose pose = {.position = {edge / 2, edge / 2, edge / 2}, .rotation = {0, 0, 0, 1}};
  FLO_TRY(flo_walls_init(walls, 1, SPACING, memory, error));
  FLO_TRY(flo_walls_set_shape(walls, 0, &shape, threads, error));
  flo_walls_set_pose(walls, 0, &pose);
  return FLO_OK;
}

// ---- Measuring ----

typedef struct Samples {
  double whole[FLO_BENCH_MAX_REPEATS], stages[FLO_SURFACE_STAGE_COUNT][FLO_BENCH_MAX_REPEATS];
} Samples;

static FloStatus build_once(const FloSurfaceDef *def, const Water *water, FloMemory *memory, int repeat,
                            Samples *samples, FloSurfacingResult *result, FloError *error) {
  FloSurfaceMesh mesh;
  double began = flo_seconds();
  FloStatus status =
      flo_surface_build(def, water->positions, water->velocities, water->count, &mesh, memory, error);
  samples->whole[repeat] = flo_seconds() - began;
  for (size_t k = 0; k < FLO_SURFACE_STAGE_COUNT; ++k) samples->stages[k][repeat] = mesh.stage_seconds[k];
  result->triangles = mesh.mesh.n_triangles;
  flo_surface_free(&mesh);
  return status;
}

static FloStatus build_often(const FloSurfaceDef *def, const Water *water, FloMemory *memory, int repeats,
                             FloSurfacingResult *result, FloError *error) {
  Samples samples;
  FLO_ASSERT(repeats > 0 && repeats <= FLO_BENCH_MAX_REPEATS);
  // The first round allocates memory that later rounds use again; its times are overwritten.
  FLO_TRY(build_once(def, water, memory, 0, &samples, result, error));
  for (int k = 0; k < repeats; ++k) FLO_TRY(build_once(def, water, memory, k, &samples, result, error));
  result->times = flo_times_of(samples.whole, repeats);
  for (size_t k = 0; k < FLO_SURFACE_STAGE_COUNT; ++k)
    result->stages[k] = flo_times_of(samples.stages[k], repeats);
  return FLO_OK;
}

FloStatus flo_surfacing_measure(size_t particles, int threads, int repeats, FloSurfacingResult *result,
                                FloError *error) {
  FloMemory memory;
  FloWalls walls = {0};
  Water water;
  flo_memory_init(&memory, NULL);
  FloStatus status = make_water(particles, &water, error);
  if (status == FLO_OK) status = make_tank(&water, threads, &walls, &memory, error);
  FloSignedField region = flo_walls_region(&walls);
  FloSurfaceDef def = flo_surface_default_def(SPACING);
  def.threads = threads, def.region = &region;
  *result = (FloSurfacingResult){.particles = water.count, .threads = threads};
  if (status == FLO_OK) status = build_often(&def, &water, &memory, repeats, result, error);
  flo_walls_free(&walls);
  free_water(&water);
  return status;
}
