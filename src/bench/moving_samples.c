#include "bench/moving_samples.h"

#include <string.h>

void flo_moving_samples_init(FloMovingSamples *moving, FloMemory *memory) {
  *moving = (FloMovingSamples){.memory = memory};
  flo_mesh_init(&moving->mesh, memory);
}

void flo_moving_samples_free(FloMovingSamples *moving) {
  flo_mesh_sampler_destroy(moving->sampler);
  for (int k = 0; k < 3; ++k) flo_buffer_free(moving->memory, &moving->bindings[k]);
  flo_buffer_free(moving->memory, &moving->rest);
  flo_mesh_free(&moving->mesh);
}

FloStatus flo_moving_samples_begin(FloMovingSamples *moving, double spacing, FloResampling rule,
                                   FloError *error) {
  const size_t bytes = 3 * moving->mesh.n_vertices * sizeof(double);
  FLO_TRY(flo_buffer_reserve(moving->memory, &moving->rest, bytes, 0, error));
  memcpy(moving->rest.data, moving->mesh.vertices.data, bytes);
  moving->def = (FloMeshSamplerDef){.rest = moving->rest.data,
                                    .n_vertices = moving->mesh.n_vertices,
                                    .elements = moving->mesh.triangles.data,
                                    .n_elements = moving->mesh.n_triangles,
                                    .n_corners = 3,
                                    .spacing = spacing,
                                    .rule = rule};
  return FLO_OK;
}

FloStatus flo_moving_samples_resample(FloMovingSamples *moving, const float *densities, FloError *error) {
  const FloMeshSamples now = {
      .vertices = moving->mesh.vertices.data,
      .bindings = {moving->bindings[0].data, moving->bindings[1].data, moving->bindings[2].data},
      .count = moving->count,
      .densities = densities,
      .threads = 1};
  return flo_mesh_sampler_resample(moving->sampler, &now, &moving->edit, error);
}

FloStatus flo_moving_samples_apply(FloMovingSamples *moving, FloError *error) {
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

void flo_moving_samples_place(const FloMovingSamples *moving, double *x, double *y, double *z) {
  const double *const bindings[3] = {moving->bindings[0].data, moving->bindings[1].data,
                                     moving->bindings[2].data};
  flo_mesh_sampler_interpolate(moving->sampler, moving->mesh.vertices.data, bindings, moving->count, 1, x, y,
                               z);
}
