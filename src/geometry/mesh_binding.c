// Bindings of a mesh sampler: which vertices carry a sample.
#include "base/parallel.h"
#include "geometry/mesh_sampler_parts.h"

bool flo_mesh_sampler_knows(const FloMeshSampler *sampler, const double binding[3]) {
  const double number = binding[0], a = binding[1], b = binding[2];
  const size_t triangles = flo_sampler_first_triangle(sampler);
  if (!(number >= 0 && number < (double)(triangles + FLO_LAYOUTS * sampler->topology.n_triangles)))
    return false;
  if (number != (double)(uint64_t)number) return false;
  return a >= 0 && b >= 0 && a + b <= 1;
}

FloMeshPart flo_mesh_sampler_primitive(const FloMeshSampler *sampler, double number) {
  const size_t k = (size_t)number, n_vertices = sampler->topology.n_vertices;
  const size_t triangles = flo_sampler_first_triangle(sampler);
  if (k < n_vertices) return (FloMeshPart){FLO_MESH_VERTEX, (uint32_t)k, 0};
  if (k < triangles) return (FloMeshPart){FLO_MESH_EDGE, (uint32_t)(k - n_vertices), 0};
  return (FloMeshPart){FLO_MESH_TRIANGLE, (uint32_t)((k - triangles) / FLO_LAYOUTS),
                       (int)((k - triangles) % FLO_LAYOUTS)};
}

FloMeshCarriers flo_mesh_sampler_carriers(const FloMeshSampler *sampler, const double binding[3]) {
  const FloMeshPart primitive = flo_mesh_sampler_primitive(sampler, binding[0]);
  const double a = binding[1], b = binding[2];
  if (primitive.kind == FLO_MESH_VERTEX) return (FloMeshCarriers){1, {primitive.index}, {1}};
  if (primitive.kind == FLO_MESH_EDGE) {
    const uint32_t *ends = flo_topology_ends(&sampler->topology, primitive.index);
    return (FloMeshCarriers){2, {ends[0], ends[1]}, {1 - a, a}};
  }
  const uint32_t *corners = flo_topology_corners(&sampler->topology, primitive.index);
  return (FloMeshCarriers){3, {corners[0], corners[1], corners[2]}, {1 - a - b, a, b}};
}

size_t flo_mesh_sampler_count_edges(const FloMeshSampler *sampler) { return sampler->topology.n_edges; }

// ---- All samples ----

typedef struct Interpolation {
  const FloMeshSampler *sampler;
  const double *of_vertices, *const *bindings;
  double *out[3];
} Interpolation;

static void interpolate_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Interpolation *work = context;
  const double *const *from = work->bindings;
  for (size_t i = begin; i < end; ++i) {
    const double binding[3] = {from[0][i], from[1][i], from[2][i]};
    const FloMeshCarriers carriers = flo_mesh_sampler_carriers(work->sampler, binding);
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < carriers.count; ++k)
      for (int axis = 0; axis < 3; ++axis)
        sum[axis] += carriers.weights[k] * work->of_vertices[3 * (size_t)carriers.vertices[k] + (size_t)axis];
    for (int axis = 0; axis < 3; ++axis) work->out[axis][i] = sum[axis];
  }
}

void flo_mesh_sampler_interpolate(const FloMeshSampler *sampler, const double *of_vertices,
                                  const double *const bindings[3], size_t count, int threads, double *x,
                                  double *y, double *z) {
  Interpolation work = {sampler, of_vertices, bindings, {x, y, z}};
  flo_parallel_for(threads, count, 1024, interpolate_range, &work);
}
