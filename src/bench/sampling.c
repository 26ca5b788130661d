#include "bench/sampling.h"

#include "base/timer.h"
#include "base/vecmath.h"
#include "geometry/figures.h"
#include "geometry/sample.h"

#include <math.h>

enum { CLOTH = 212 }; // quads along a side of the cloth: 89,888 triangles

// ---- Meshes ----

static FloStatus add_cloth_vertices(FloMesh *mesh, FloError *error) {
  for (int j = 0; j <= CLOTH; ++j)
    for (int i = 0; i <= CLOTH; ++i) {
      double x = (double)i / CLOTH, y = (double)j / CLOTH;
      const double vertex[3] = {x, y, 0.05 * sin(9 * x) * cos(7 * y)};
      FLO_TRY(flo_mesh_add_vertex(mesh, vertex, NULL, error));
    }
  return FLO_OK;
}

FloStatus flo_sampling_make_cloth(FloMesh *mesh, FloError *error) {
  FLO_TRY(add_cloth_vertices(mesh, error));
  for (uint32_t j = 0; j < CLOTH; ++j)
    for (uint32_t i = 0; i < CLOTH; ++i) {
      uint32_t a = j * (CLOTH + 1) + i, b = a + 1, c = a + CLOTH + 1, d = c + 1;
      FLO_TRY(flo_mesh_add_triangle(mesh, a, b, d, error));
      FLO_TRY(flo_mesh_add_triangle(mesh, a, d, c, error));
    }
  return FLO_OK;
}

double flo_sampling_mean_edge(const FloMesh *mesh) {
  double sum = 0;
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const uint32_t *corners = flo_mesh_triangle(mesh, t);
    for (int k = 0; k < 3; ++k) {
      double edge[3];
      vec_sub(flo_mesh_vertex(mesh, corners[k]), flo_mesh_vertex(mesh, corners[(k + 1) % 3]), edge);
      sum += vec_length(edge);
    }
  }
  return sum / (3 * (double)mesh->n_triangles);
}

// ---- Measuring ----

static FloStatus sample_often(const FloMesh *mesh, double spacing, int repeats, FloSamplingResult *result,
                              FloError *error) {
  FloSampleOptions options = {.spacing = spacing, .threads = 1};
  double seconds[FLO_BENCH_MAX_REPEATS];
  FLO_ASSERT(repeats <= FLO_BENCH_MAX_REPEATS);
  // The first round allocates memory that later rounds use again.
  for (int k = -1; k < repeats; ++k) {
    FloPoints points = {.memory = mesh->memory};
    double began = flo_seconds();
    FloStatus status = flo_sample_surface(mesh, &options, &points, error);
    if (k >= 0) seconds[k] = flo_seconds() - began;
    result->samples = points.count;
    flo_buffer_free(points.memory, &points.buffer);
    FLO_TRY(status);
  }
  result->times = flo_times_of(seconds, repeats);
  return FLO_OK;
}

FloStatus flo_sampling_measure(size_t k, int repeats, FloSamplingResult *result, FloError *error) {
  FloMemory memory;
  FloMesh mesh;
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  bool is_duck = k < 2;
  *result =
      (FloSamplingResult){.name = is_duck ? "duck" : "cloth", .task = "surface", .spacing = k % 2 ? 0.85 : 1};
  FloStatus status =
      is_duck ? flo_mesh_duck(1, FLO_FIGURE_FINENESS, &mesh, error) : flo_sampling_make_cloth(&mesh, error);
  result->triangles = mesh.n_triangles;
  if (status == FLO_OK)
    status = sample_often(&mesh, result->spacing * flo_sampling_mean_edge(&mesh), repeats, result, error);
  flo_mesh_free(&mesh);
  return status;
}
