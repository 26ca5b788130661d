// The inside of a mesh sampler, for the files that make it up.
//
// Lengths are in spacings. A length L is cut into n steps, which puts n - 1 samples between its ends. It gets
// one step more where L exceeds n by a *surplus*. So that small movements do not change samples again and
// again, n stays until L is beyond its limits by a tolerance. And because n would then depend on the past,
// the n of the mesh at rest returns as soon as it fits without tolerance.
#ifndef FLO_GEOMETRY_MESH_SAMPLER_PARTS_H
#define FLO_GEOMETRY_MESH_SAMPLER_PARTS_H

#include "geometry/mesh_sampler.h"
#include "geometry/mesh_topology.h"

enum { FLO_LAYOUTS = 4, FLO_CENTRE_LAYOUT = 3 };

// How samples lie in a triangle.
typedef struct FloRows {
  uint32_t count;  // of all samples
  uint32_t n_rows; // steps from the side to the opposite corner
  int layout;
  double base; // length of the side [spacings]
} FloRows;

// A triangle's samples at present, or at rest.
typedef struct FloRowState {
  uint32_t count;
  uint32_t n_rows : 29, layout : 3;
  float base; // at rest only [spacings]
} FloRowState;

// The vertices that are samples at rest, and where the others find one.
typedef struct FloThinning {
  FloBuffer homes;      // of vertices: the nearest chosen vertex at rest, uint32_t; itself if it is chosen
  FloBuffer radii;      // of vertices: other samples should be at least this far away [spacings], float
  FloBuffer chosen;     // chosen vertices, in the order of their choice, uint32_t
  FloBuffer first_near; // of chosen[k], and one more: where its earlier neighbours begin, uint32_t
  FloBuffer near;       // chosen vertices whose surroundings touch, uint32_t
  size_t n_chosen;
  FloBuffer covers;        // now, of vertices: the sample near it, uint32_t; itself if it is one
  bool is_everywhere;      // all vertices are samples now
  const uint32_t *present; // `covers` or `homes`
} FloThinning;

struct FloMeshSampler {
  FloMemory *memory;
  FloMeshTopology topology;
  double spacing;    // [m]
  double per_square; // one over its square [1/m²]
  bool is_flat;      // a mesh of segments
  FloResampling rule;
  size_t max_samples;
  FloThinning thinning;
  FloBuffer rest_steps;   // of edges, uint32_t
  FloBuffer rest_rows;    // of triangles, FloRowState
  FloBuffer rest_needles; // of triangles, uint8_t: bits of corners at which two sides lie side by side
  bool is_at_rest;        // the samples at rest are being found
  // Of the present step:
  FloMeshSamples now;
  FloBuffer counts;      // samples of vertices, then of edges, uint32_t
  FloBuffer rows;        // of triangles, FloRowState
  FloBuffer lengths;     // of edges, squared [spacings²], double
  FloBuffer is_wanted;   // of primitives, uint8_t
  FloBuffer has_changed; // of primitives, uint8_t
  FloBuffer densities;   // of primitives: least and greatest of their samples, two floats; by density only
  FloBuffer is_dropped;  // of edges, uint8_t: another edge beside it has samples
  FloBuffer is_lonely;   // of triangles, uint8_t: far from samples
  bool has_lonely;
  FloBuffer is_taken; // of vertices, uint8_t: room for the search of lonely triangles
  FloBuffer lost, gained;
  size_t n_lost, n_gained;
};

static inline size_t flo_sampler_first_triangle(const FloMeshSampler *sampler) {
  return sampler->topology.n_vertices + sampler->topology.n_edges;
}
static inline size_t flo_sampler_count_primitives(const FloMeshSampler *sampler) {
  return flo_sampler_first_triangle(sampler) + sampler->topology.n_triangles;
}
// Whether a primitive may have samples.
static inline bool flo_sampler_is_wanted(const FloMeshSampler *sampler, size_t primitive) {
  if (sampler->rule == FLO_RESAMPLE_BY_SUBDIVISION && primitive < flo_sampler_first_triangle(sampler))
    return false;
  return !sampler->now.is_wanted || ((const uint8_t *)sampler->is_wanted.data)[primitive];
}
static inline uint32_t flo_sampler_count_of(const FloMeshSampler *sampler, size_t primitive) {
  return ((const uint32_t *)sampler->counts.data)[primitive];
}
// The squared distance of two vertices [spacings²].
static inline double flo_sampler_distance2(const FloMeshSampler *sampler, const double *vertices, uint32_t a,
                                           uint32_t b) {
  const double *p = vertices + 3 * (size_t)a, *q = vertices + 3 * (size_t)b;
  double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
  return (x * x + y * y + z * z) * sampler->per_square;
}

// ---- Vertices (mesh_thinning.c, mesh_choice.c) ----

// Fills in radii, homes and chosen vertices.
FloStatus flo_thinning_choose(FloMeshSampler *sampler, const double *rest, FloError *error);
FloStatus flo_thinning_make(FloMeshSampler *sampler, const double *rest, FloError *error);
void flo_thinning_free(FloMeshSampler *sampler);
// Finds which vertices should be samples, and marks those that change.
void flo_thinning_update(FloMeshSampler *sampler);
static inline bool flo_thinning_is_sample(const FloMeshSampler *sampler, uint32_t vertex) {
  return sampler->thinning.present[vertex] == vertex;
}

// ---- Steps (mesh_steps.c) ----

// More steps than any mesh may have.
#define FLO_TOO_MANY_STEPS 0x80000000u

// Into how many steps a length is cut.
typedef struct FloStepRule {
  double surplus;   // a length up to n + surplus gets n steps
  double tolerance; // n steps stay for lengths beyond their limits by less than this
} FloStepRule;

// How much a length may differ from the length at rest and still count as the same.
#define FLO_REST_TOLERANCE 0.01

// The limit above which there is a sample: beyond the usual one by a tolerance unless there is one already,
// and the usual one for a return to what is at rest.
static inline double flo_biased_limit(double usual, double tolerance, bool is_at_rest, bool is_present) {
  if (is_at_rest == is_present) return is_present ? usual - tolerance : usual + tolerance;
  return is_at_rest ? usual - FLO_REST_TOLERANCE : usual + FLO_REST_TOLERANCE;
}

uint32_t flo_steps_of(double length, double surplus);
bool flo_steps_fit(uint32_t n, double length, double surplus, double tolerance);

// Squared lengths of edges `begin` to `end`.
void flo_sampler_measure_edges(FloMeshSampler *sampler, const double *vertices, size_t begin, size_t end);
// Steps of an edge in a mesh at rest, and now.
uint32_t flo_sampler_rest_steps(const FloMeshSampler *sampler, const double *rest, size_t edge);
uint32_t flo_sampler_edge_steps(const FloMeshSampler *sampler, size_t edge);
// Whether an edge has one step and is sure to keep it: a quick test that most edges of fine meshes pass.
bool flo_sampler_is_edge_bare(const FloMeshSampler *sampler, size_t edge);
// Of two long edges that lead from one vertex to others near each other, only one has samples.
void flo_sampler_drop_edges(FloMeshSampler *sampler, const uint32_t *covers);

// ---- Interiors (mesh_rows.c) ----

FloRowState flo_sampler_rest_rows(const FloMeshSampler *sampler, size_t triangle);
FloRows flo_sampler_rows(const FloMeshSampler *sampler, size_t triangle);
// Whether a triangle has no samples and is sure to get none: a quick test.
bool flo_sampler_is_triangle_bare(const FloMeshSampler *sampler, size_t triangle);
static inline bool flo_rows_are_centre(const FloRowState *state) {
  return state->count && state->layout == FLO_CENTRE_LAYOUT;
}
// How far samples must be from the centre of a triangle, so that it gets a sample there [spacings].
double flo_sampler_least_gap(const FloMeshSampler *sampler, size_t triangle);
// Marks lonely triangles (mesh_lonely.c).
void flo_sampler_find_lonely(FloMeshSampler *sampler, const double *vertices, const uint32_t *covers);
// The binding of each sample is handed to `gain`, which may fail.
typedef FloStatus (*FloGainFn)(FloMeshSampler *, double number, double a, double b, FloError *);
FloStatus flo_sampler_fill_rows(FloMeshSampler *sampler, size_t triangle, const FloRows *rows, FloGainFn gain,
                                FloError *error);

// Seven points in each part of a triangle (mesh_seven.c); n is the number of parts along a side.
FloRows flo_sampler_seven(const double squares[3]);
FloStatus flo_sampler_fill_seven(FloMeshSampler *sampler, double number, uint32_t n, FloGainFn gain,
                                 FloError *error);

// ---- Number densities: whether the samples of a primitive must be made anew (mesh_sampler.c) ----

bool flo_sampler_is_due(const FloMeshSampler *sampler, size_t primitive);

#endif
