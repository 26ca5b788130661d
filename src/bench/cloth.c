#include "bench/cloth.h"

#include "base/timer.h"
#include "state/state.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[FLO_CLOTH_COUNT] = {"folded", "filled"};
static const char *const methods[FLO_CLOTH_COUNT] = {"monolithic", "elastic"};

static FloBodyDef cloth_def(double thickness) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = "cloth", def.friction = 0.3;
  def.cloth = (FloClothDef){
      .areal_density = 0.3, .thickness = thickness, .stretch = 2000, .bend = 1e-5, .damping = 0.01};
  return def;
}

static FloStatus make_world(FloClothScene scene, double spacing, int threads, FloWorld **world,
                            FloError *error) {
  FloWorldDef def = flo_default_world_def();
  def.spacing = spacing, def.threads = threads, def.method = methods[scene];
  def.gravity[1] = 0, def.gravity[2] = -9.81;
  return flo_world_create(&def, world, error);
}

// ---- A sheet in folds ----

enum { FOLDS = 10 };

// A sheet of one square metre with n times n cells: an even zigzag, whose turns are half a thickness nearer
// to each other than they may stay.
static void fold(size_t n, double thickness, double *vertices, uint32_t *triangles) {
  const double wide = 1.0 / FOLDS, rise = 1.5 * thickness;
  for (size_t i = 0; i <= n; ++i)
    for (size_t k = 0; k <= n; ++k) {
      const double way = (double)FOLDS * (double)i / (double)n, turn = fmod(way, 2);
      double *x = vertices + 3 * (i * (n + 1) + k);
      x[0] = wide * (turn < 1 ? turn : 2 - turn), x[1] = (double)k / (double)n - 0.5;
      x[2] = thickness + rise * way;
    }
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) {
      const uint32_t a = (uint32_t)(i * (n + 1) + k), b = a + (uint32_t)(n + 1);
      const uint32_t corners[6] = {a, b, a + 1, a + 1, b, b + 1};
      for (size_t c = 0; c < 6; ++c) triangles[6 * (i * n + k) + c] = corners[c];
    }
}

static FloStatus add_folded(FloWorld *world, size_t n, double thickness, FloError *error) {
  double *vertices = malloc(3 * (n + 1) * (n + 1) * sizeof *vertices);
  uint32_t *triangles = malloc(6 * n * n * sizeof *triangles);
  FloStatus status = FLO_OK;
  if (!vertices || !triangles) {
    status = flo_fail(error, FLO_NO_MEMORY, "not enough memory for a cloth of %zu triangles", 2 * n * n);
  } else {
    FloBodyDef def = cloth_def(thickness);
    const FloTriangles mesh = {vertices, triangles, (n + 1) * (n + 1), 2 * n * n};
    fold(n, thickness, vertices, triangles);
    def.shape = (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &mesh};
    status = flo_world_add_body(world, &def, NULL, error);
  }
  free(vertices), free(triangles);
  return status;
}

static FloStatus make_folded(size_t n, int threads, FloWorld **world, FloError *error) {
  const double thickness = 0.002;
  FloBodyDef floor = flo_default_body_def();
  FLO_TRY(make_world(FLO_CLOTH_FOLDED, 0.01, threads, world, error));
  floor.name = "floor", floor.friction = 0.3;
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {2, 2, 0.1}};
  floor.pose.position[2] = -0.05;
  FLO_TRY(flo_world_add_body(*world, &floor, NULL, error));
  return add_folded(*world, n, thickness, error);
}

// ---- A sheet that holds water ----

static FloStatus make_filled(size_t n, int threads, FloWorld **world, FloError *error) {
  const double cell = 1 / (double)n, s = cell, deep = 8 * s;
  FloBodyDef cloth = cloth_def(0.002);
  FloFluidDef water = flo_default_fluid_def();
  FloMaterialDef material = flo_default_material_def();
  const FloPinDef border = {.place = FLO_PIN_BORDER};
  FLO_TRY(make_world(FLO_CLOTH_FILLED, s, threads, world, error));
  FLO_TRY(flo_world_add_material(*world, &material, &water.material, error));
  cloth.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {1, 1, 0}, .cell = cell};
  cloth.cloth.stretch = 2e4;
  cloth.pins = &border, cloth.n_pins = 1;
  FLO_TRY(flo_world_add_body(*world, &cloth, NULL, error));
  water.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.8, 0.8, deep}};
  water.pose.position[2] = deep / 2 + s;
  return flo_world_add_fluid(*world, &water, NULL, error);
}

// ---- Measuring ----

static FloStatus run(FloWorld *world, int n_frames, FloClothResult *result, FloError *error) {
  double contacts = 0;
  for (int k = 1; k <= n_frames; ++k) {
    FloStepInfo info = {0};
    const double until = k / 60.0, since = flo_seconds(), skin = world->skin_seconds;
    while (info.time < until) {
      FLO_TRY(flo_world_step_until(world, until, &info, error));
      result->iterations += info.iterations, result->steps += 1, contacts += (double)world->contacts;
    }
    result->seconds += flo_seconds() - since, result->skin_seconds += world->skin_seconds - skin;
  }
  result->contacts = contacts / result->steps;
  return FLO_OK;
}

FloStatus flo_cloth_measure(FloClothScene scene, size_t triangles, int n_frames, int threads,
                            FloClothResult *result, FloError *error) {
  const size_t n = (size_t)fmax(round(sqrt((double)triangles / 2)), 1);
  FloWorld *world = NULL;
  *result = (FloClothResult){
      .scene = names[scene], .method = methods[scene], .triangles = 2 * n * n, .simulated = n_frames / 60.0};
  FloStatus status = (scene == FLO_CLOTH_FOLDED ? make_folded : make_filled)(n, threads, &world, error);
  if (status == FLO_OK) {
    result->threads = world->threads;
    result->particles = flo_world_count(world, FLO_SET_FLUID);
    status = run(world, n_frames, result, error);
    result->samples = flo_world_count(world, FLO_SET_RIGID);
  }
  flo_world_destroy(world);
  return status;
}
