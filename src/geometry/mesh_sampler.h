// Boundary samples on a mesh whose vertices move (Akinci, Cornelis, Akinci, Teschner 2013, "Coupling elastic
// solids with smoothed particle hydrodynamics fluids", sections 2.3 to 2.6).
//
// A primitive is a vertex, an edge or a triangle. Each sample is bound to one primitive and moves with it.
// When a primitive has become too large or too small for its samples, it loses them and gets new ones.
// Vertices, edges and interiors of triangles are decided apart.
//
// The bindings of the samples and the present positions of the vertices are the whole state: saving the
// bindings saves the sampling. What the sampler keeps besides depends only on its definition.
#ifndef FLO_GEOMETRY_MESH_SAMPLER_H
#define FLO_GEOMETRY_MESH_SAMPLER_H

#include "base/memory.h"

typedef struct FloMeshSamplerDef {
  const double *rest;       // vertices at rest, three coordinates each [m]; copied as far as needed
  size_t n_vertices;        //
  const uint32_t *elements; // triangles, three vertices each; in the plane segments, two vertices each
  size_t n_elements;
  int n_corners;  // 3: triangles; 2: segments
  double spacing; // d, between samples [m]
  FloResampling rule;
  size_t max_samples; // more are an error; 0: 2^31 - 1
} FloMeshSamplerDef;

typedef struct FloMeshSampler FloMeshSampler;

FloStatus flo_mesh_sampler_create(const FloMeshSamplerDef *def, FloMemory *memory, FloMeshSampler **sampler,
                                  FloError *error);
void flo_mesh_sampler_destroy(FloMeshSampler *sampler); // NULL is fine

// ---- Resampling ----

// The mesh and its samples now. Without samples, resampling is the initial sampling.
typedef struct FloMeshSamples {
  const double *vertices;   // present vertices, three coordinates each [m]
  const uint8_t *is_wanted; // for each element: whether it has samples; NULL: all have. Primitives without
                            // an element that is wanted have none. Vertices of fine meshes rely on samples up
                            // to a spacing away: want elements two spacings beyond those that matter
  const double *bindings[3]; // of the samples: number of the primitive, and two coordinates on it
  size_t count;
  const float *densities; // of the samples, sum_j W times H^3 (segments: H^2), for FLO_RESAMPLE_BY_DENSITY
  int threads;            // at least one; changes only the speed
} FloMeshSamples;

// What to change. The arrays belong to the sampler, until it resamples again.
typedef struct FloMeshSampleEdit {
  const uint32_t *lost; // indices of samples in rising order
  size_t n_lost;
  const double (*gained)[3]; // bindings
  size_t n_gained;
} FloMeshSampleEdit;

// Allocates only while the mesh needs more room than ever before. The result does not depend on the number of
// threads, nor on the order of the samples.
FloStatus flo_mesh_sampler_resample(FloMeshSampler *sampler, const FloMeshSamples *now,
                                    FloMeshSampleEdit *edit, FloError *error);

// ---- Bindings ----

typedef enum FloMeshPartKind {
  FLO_MESH_VERTEX,
  FLO_MESH_EDGE,
  FLO_MESH_TRIANGLE,
} FloMeshPartKind;

// What the first number of a binding names. Vertices come first, then edges, then triangles. A triangle has
// four numbers, because its samples are laid out in one of four ways: in rows along one of its sides, or
// around its centre.
typedef struct FloMeshPart {
  FloMeshPartKind kind;
  uint32_t index; // of the vertex, edge or triangle
  int layout;     // of a triangle: the side, 0 to 2, that its rows follow; 3: around its centre
} FloMeshPart;

// The vertices that carry a sample and their weights, which are multiples of 2^-50 and add up to exactly one.
typedef struct FloMeshCarriers {
  int count;
  uint32_t vertices[3];
  double weights[3];
} FloMeshCarriers;

bool flo_mesh_sampler_knows(const FloMeshSampler *sampler, const double binding[3]); // whether it is valid
FloMeshPart flo_mesh_sampler_primitive(const FloMeshSampler *sampler, double number);
FloMeshCarriers flo_mesh_sampler_carriers(const FloMeshSampler *sampler, const double binding[3]);
// The weighted sum of a vector of each vertex (positions or velocities) for all samples.
void flo_mesh_sampler_interpolate(const FloMeshSampler *sampler, const double *of_vertices,
                                  const double *const bindings[3], size_t count, int threads, double *x,
                                  double *y, double *z);
size_t flo_mesh_sampler_count_edges(const FloMeshSampler *sampler);

#endif
