#include "bench/resampling.h"

#include "base/timer.h"
#include "base/vecmath.h"
#include "bench/moving_samples.h"

static const double spacings[2] = {0.88, 3}; // in mean edges
static const char *const tasks[3] = {"prepare", "sample", "resample"};

static void stretch(FloMovingSamples *moving, double most) {
  const double *rest = moving->rest.data;
  for (size_t v = 0; v < moving->mesh.n_vertices; ++v) {
    double *x = flo_mesh_vertex(&moving->mesh, v), s = rest[3 * v];
    // dx/ds = 1 + most sin²(pi s)
    x[0] = s + most * (s / 2 - sin(2 * FLO_PI * s) / (4 * FLO_PI));
  }
}

// ---- Measuring ----

typedef enum Task { PREPARE, SAMPLE, RESAMPLE } Task;

static FloStatus do_task(FloMovingSamples *moving, Task task, double part, double *seconds, FloError *error) {
  if (task == PREPARE) flo_mesh_sampler_destroy(moving->sampler), moving->sampler = NULL;
  if (task == SAMPLE) moving->count = 0;
  if (task == RESAMPLE) stretch(moving, 0.3 * part);
  const double began = flo_seconds();
  if (task == PREPARE)
    FLO_TRY(flo_mesh_sampler_create(&moving->def, moving->memory, &moving->sampler, error));
  else
    FLO_TRY(flo_moving_samples_resample(moving, NULL, error));
  *seconds = flo_seconds() - began;
  return task == PREPARE ? FLO_OK : flo_moving_samples_apply(moving, error);
}

static FloStatus measure(FloMovingSamples *moving, Task task, int repeats, FloSamplingResult *result,
                         FloError *error) {
  double seconds[FLO_BENCH_MAX_REPEATS], first;
  FLO_ASSERT(repeats <= FLO_BENCH_MAX_REPEATS);
  FLO_TRY(do_task(moving, PREPARE, 0, &first, error));
  FLO_TRY(do_task(moving, SAMPLE, 0, &first, error));
  for (int k = 0; k < repeats; ++k)
    FLO_TRY(do_task(moving, task, (double)(k + 1) / repeats, &seconds[k], error));
  result->times = flo_times_of(seconds, repeats);
  result->samples = moving->count, result->triangles = moving->mesh.n_triangles;
  return FLO_OK;
}

FloStatus flo_resampling_measure(size_t k, int repeats, FloSamplingResult *result, FloError *error) {
  FloMemory memory;
  FloMovingSamples moving;
  flo_memory_init(&memory, NULL);
  flo_moving_samples_init(&moving, &memory);
  *result = (FloSamplingResult){.name = "moving cloth", .task = tasks[k % 3], .spacing = spacings[k / 3]};
  FloStatus status = flo_sampling_make_cloth(&moving.mesh, error);
  if (status == FLO_OK)
    status = flo_moving_samples_begin(&moving, result->spacing * flo_sampling_mean_edge(&moving.mesh),
                                      FLO_RESAMPLE_BY_GEOMETRY, error);
  if (status == FLO_OK) status = measure(&moving, (Task)(k % 3), repeats, result, error);
  flo_moving_samples_free(&moving);
  return status;
}
