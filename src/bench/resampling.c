#include "bench/resampling.h"

#include "base/timer.h"
#include "base/vecmath.h"
#include "geometry/mesh_sampler.h"

#include <string.h>

static const double spacings[2] = {0.88, 3}; // in mean edges
static const char *const tasks[3] = {"prepare", "sample", "resample"};

// A cloth and its samples.
typedef struct Moving {
  FloMemory *memory;
  FloMesh mesh;   // as it is now
  FloBuffer rest; // its vertices at rest
  FloMeshSamplerDef def;
  FloMeshSampler *sampler;
  FloBuffer bindings[3];
  size_t count;
  FloMeshSampleEdit edit;
} Moving;

static FloStatus begin(Moving *moving, double spacing, FloError *error) {
  FLO_TRY(flo_sampling_make_cloth(&moving->mesh, error));
  const size_t bytes = 3 * moving->mesh.n_vertices * sizeof(double);
  FLO_TRY(flo_buffer_reserve(moving->memory, &moving->rest, bytes, 0, error));
  memcpy(moving->rest.data, moving->mesh.vertices.data, bytes);
  moving->def = (FloMeshSamplerDef){.rest = moving->rest.data,
                                    .n_vertices = moving->mesh.n_vertices,
                                    .elements = moving->mesh.triangles.data,
                                    .n_elements = moving->mesh.n_triangles,
                                    .n_corners = 3,
                                    .spacing = spacing * flo_sampling_mean_edge(&moving->mesh)};
  return FLO_OK;
}

static void end(Moving *moving) {
  flo_mesh_sampler_destroy(moving->sampler);
  for (int k = 0; k < 3; ++k) flo_buffer_free(moving->memory, &moving->bindings[k]);
  flo_buffer_free(moving->memory, &moving->rest);
  flo_mesh_free(&moving->mesh);
}

// ---- Steps ----

static void stretch(Moving *moving, double most) {
  const double *rest = moving->rest.data;
  for (size_t v = 0; v < moving->mesh.n_vertices; ++v) {
    double *x = flo_mesh_vertex(&moving->mesh, v), s = rest[3 * v];
    // dx/ds = 1 + most sin²(pi s)
    x[0] = s + most * (s / 2 - sin(2 * FLO_PI * s) / (4 * FLO_PI));
  }
}

static FloStatus resample(Moving *moving, FloError *error) {
  const FloMeshSamples now = {
      .vertices = moving->mesh.vertices.data,
      .bindings = {moving->bindings[0].data, moving->bindings[1].data, moving->bindings[2].data},
      .count = moving->count,
      .threads = 1};
  return flo_mesh_sampler_resample(moving->sampler, &now, &moving->edit, error);
}

// Samples that are lost make room, new ones follow at the end.
static FloStatus apply(Moving *moving, FloError *error) {
  const FloMeshSampleEdit *edit = &moving->edit;
  const size_t room = (moving->count + edit->n_gained + 1) * sizeof(double);
  size_t n = 0;
  for (int k = 0; k < 3; ++k) {
    FLO_TRY(flo_buffer_reserve(moving->memory, &moving->bindings[k], room, moving->count * sizeof(double),
                               error));
    double *values = moving->bindings[k].data;
    size_t lost = 0;
    n = 0;
    for (size_t i = 0; i < moving->count; ++i)
      if (lost < edit->n_lost && edit->lost[lost] == i)
        ++lost;
      else
        values[n++] = values[i];
    for (size_t g = 0; g < edit->n_gained; ++g) values[n++] = edit->gained[g][k];
  }
  moving->count = n;
  return FLO_OK;
}

// ---- Measuring ----

typedef enum Task { PREPARE, SAMPLE, RESAMPLE } Task;

static FloStatus do_task(Moving *moving, Task task, double part, double *seconds, FloError *error) {
  if (task == PREPARE) flo_mesh_sampler_destroy(moving->sampler), moving->sampler = NULL;
  if (task == SAMPLE) moving->count = 0;
  if (task == RESAMPLE) stretch(moving, 0.3 * part);
  const double began = flo_seconds();
  if (task == PREPARE)
    FLO_TRY(flo_mesh_sampler_create(&moving->def, moving->memory, &moving->sampler, error));
  else
    FLO_TRY(resample(moving, error));
  *seconds = flo_seconds() - began;
  return task == PREPARE ? FLO_OK : apply(moving, error);
}

static FloStatus measure(Moving *moving, Task task, int repeats, FloSamplingResult *result, FloError *error) {
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
  Moving moving = {.memory = &memory};
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&moving.mesh, &memory);
  *result = (FloSamplingResult){.name = "moving cloth", .task = tasks[k % 3], .spacing = spacings[k / 3]};
  FloStatus status = begin(&moving, result->spacing, error);
  if (status == FLO_OK) status = measure(&moving, (Task)(k % 3), repeats, result, error);
  end(&moving);
  return status;
}
