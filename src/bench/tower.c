#include "bench/tower.h"

#include "base/core.h"
#include "base/timer.h"
#include "io/scene.h"

// The number of iterations in Table 1 of Probst and Teschner 2023, whatever residual they reach.
static const char *const sets[] = {"method.min_iterations=10", "method.max_iterations=10"};

enum { WARM_UP = 2, STEPS = 5 };

static FloStatus make_steps(FloWorld *world, bool is_quick, FloTowerResult *result, FloError *error) {
  double seconds[STEPS];
  const int warm_up = is_quick ? 0 : WARM_UP, steps = is_quick ? 1 : STEPS;
  for (int k = -warm_up; k < steps; ++k) {
    FloStepInfo info;
    double began = flo_seconds();
    FLO_TRY(flo_world_step(world, &info, error));
    if (k < 0) continue;
    seconds[k] = flo_seconds() - began;
    result->iterations += (double)info.iterations / steps;
  }
  result->step = flo_times_of(seconds, steps);
  return FLO_OK;
}

static FloStatus measure(FloScene *scene, bool is_quick, FloTowerResult *result, FloError *error) {
  FloWorld *world = NULL;
  FLO_TRY(flo_scene_build(scene, &world, error));
  result->particles = flo_world_count(world, FLO_SET_FLUID);
  result->rigid = flo_world_count(world, FLO_SET_RIGID);
  result->boundary = flo_world_count(world, FLO_SET_BOUNDARY);
  FloStatus status = make_steps(world, is_quick, result, error);
  flo_world_destroy(world);
  return status;
}

FloStatus flo_tower_measure(const char *path, int threads, bool is_quick, FloTowerResult *result,
                            FloError *error) {
  FloScene *scene;
  *result = (FloTowerResult){.size = is_quick ? "draft" : "paper", .is_whole = !is_quick, .threads = threads};
  const FloSceneOptions options = {
      .size = result->size, .sets = sets, .n_sets = FLO_COUNT_OF(sets), .threads = threads};
  FLO_TRY(flo_scene_load(path, &options, &scene, error));
  FloStatus status = measure(scene, is_quick, result, error);
  flo_scene_destroy(scene);
  return status;
}
