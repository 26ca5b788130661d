// What tests of samples on moving meshes share: a mesh with a sampler, the samples that it has, and how well
// they cover it.
#ifndef TEST_SUPPORT_MESH_SAMPLES_H
#define TEST_SUPPORT_MESH_SAMPLES_H

#include "geometry/mesh_sampler.h"
#include "sph/sample_density.h"
#include "support/geometry.h"

typedef struct Sampled {
  FloMeshSampler *sampler;
  FloMesh *mesh; // its vertices are the present ones
  double spacing;
  int threads;
  bool is_by_density;
  bool is_flat; // its triangles are segments: the last two corners are the same
  const uint8_t *is_wanted;
  double *bindings[3], *x[3];
  size_t count, n_lost, n_gained;
} Sampled;

static inline FloMeshSamplerDef sampled_definition(const FloMesh *mesh, double spacing, FloResampling rule) {
  return (FloMeshSamplerDef){.rest = mesh->vertices.data,
                             .n_vertices = mesh->n_vertices,
                             .elements = mesh->triangles.data,
                             .n_elements = mesh->n_triangles,
                             .n_corners = 3,
                             .spacing = spacing,
                             .rule = rule};
}

static inline void sampled_resize(Sampled *s, size_t count) {
  for (int k = 0; k < 3; ++k) {
    s->bindings[k] = realloc(s->bindings[k], (count + 1) * sizeof(double));
    s->x[k] = realloc(s->x[k], (count + 1) * sizeof(double));
  }
}

static inline void sampled_place(Sampled *s) {
  const double *const bindings[3] = {s->bindings[0], s->bindings[1], s->bindings[2]};
  flo_mesh_sampler_interpolate(s->sampler, s->mesh->vertices.data, bindings, s->count, s->threads, s->x[0],
                               s->x[1], s->x[2]);
}

// Samples that stay keep their order; new ones are added at the end, as in a world.
static inline void sampled_apply(Sampled *s, const FloMeshSampleEdit *edit) {
  size_t n = 0, n_lost = 0;
  sampled_resize(s, s->count + edit->n_gained);
  for (size_t i = 0; i < s->count; ++i) {
    if (n_lost < edit->n_lost && edit->lost[n_lost] == i) {
      ++n_lost;
      continue;
    }
    for (int k = 0; k < 3; ++k) s->bindings[k][n] = s->bindings[k][i];
    ++n;
  }
  assert_int_equal(n_lost, edit->n_lost);
  for (size_t g = 0; g < edit->n_gained; ++g, ++n)
    for (int k = 0; k < 3; ++k) s->bindings[k][n] = edit->gained[g][k];
  s->count = n, s->n_lost = edit->n_lost, s->n_gained = edit->n_gained;
  sampled_place(s);
}

// Number densities at the samples themselves.
static inline float *sampled_densities(const Sampled *s) {
  FloMemory memory;
  FloError error;
  FloSampleDensity *density;
  float *out = malloc((s->count + 1) * sizeof *out);
  const double *const x[3] = {s->x[0], s->x[1], s->x[2]};
  flo_memory_init(&memory, NULL);
  assert_ok(flo_sample_density_create(s->is_flat ? 2 : 3, s->spacing, &memory, &density, &error), &error);
  assert_ok(flo_sample_density_at(density, x, s->count, x, s->count, 1, out, &error), &error);
  flo_sample_density_destroy(density);
  return out;
}

static inline void sampled_resample(Sampled *s) {
  FloMeshSampleEdit edit;
  FloError error;
  if (s->count) sampled_place(s);
  float *densities = s->is_by_density && s->count ? sampled_densities(s) : NULL;
  const FloMeshSamples now = {.vertices = s->mesh->vertices.data,
                              .is_wanted = s->is_wanted,
                              .bindings = {s->bindings[0], s->bindings[1], s->bindings[2]},
                              .count = s->count,
                              .densities = densities,
                              .threads = s->threads};
  assert_ok(flo_mesh_sampler_resample(s->sampler, &now, &edit, &error), &error);
  sampled_apply(s, &edit);
  free(densities);
}

static inline void sampled_start(Sampled *s, FloMesh *mesh, const FloMeshSamplerDef *def, int threads) {
  FloError error;
  *s = (Sampled){.mesh = mesh, .spacing = def->spacing, .threads = threads};
  s->is_by_density = def->rule == FLO_RESAMPLE_BY_DENSITY;
  s->is_flat = def->n_corners == 2;
  assert_ok(flo_mesh_sampler_create(def, mesh->memory, &s->sampler, &error), &error);
  sampled_resize(s, 0);
  sampled_resample(s);
}

static inline void sampled_init(Sampled *s, FloMesh *mesh, double spacing, FloResampling rule) {
  const FloMeshSamplerDef def = sampled_definition(mesh, spacing, rule);
  sampled_start(s, mesh, &def, 1);
}

// A mesh of segments: triangles whose last two corners are the same.
static inline void sampled_init_flat(Sampled *s, FloMesh *mesh, double spacing, FloResampling rule) {
  uint32_t *segments = malloc((2 * mesh->n_triangles + 1) * sizeof *segments);
  for (size_t t = 0; t < mesh->n_triangles; ++t)
    for (int k = 0; k < 2; ++k) segments[2 * t + (size_t)k] = flo_mesh_triangle(mesh, t)[k];
  FloMeshSamplerDef def = sampled_definition(mesh, spacing, rule);
  def.elements = segments, def.n_corners = 2;
  sampled_start(s, mesh, &def, 1);
  free(segments);
}

static inline void sampled_free(Sampled *s) {
  flo_mesh_sampler_destroy(s->sampler);
  for (int k = 0; k < 3; ++k) free(s->bindings[k]), free(s->x[k]);
}

// ---- How good samples are ----

typedef struct Quality {
  size_t samples;
  double gap;     // largest distance from a point of the mesh to the nearest sample [spacings]
  double nearest; // least distance of two samples [spacings]
  double min, mean, max, deviation; // of the number density, over the area
} Quality;

// Points on a mesh, and the area that each stands for.
typedef struct Probes {
  double *x[3], *area;
  size_t count, capacity;
} Probes;

static inline void probes_add(Probes *p, const double point[3], double area) {
  if (p->count == p->capacity) {
    p->capacity = 2 * p->capacity + 1024;
    for (int k = 0; k < 3; ++k) p->x[k] = realloc(p->x[k], p->capacity * sizeof(double));
    p->area = realloc(p->area, p->capacity * sizeof(double));
  }
  for (int k = 0; k < 3; ++k) p->x[k][p->count] = point[k];
  p->area[p->count++] = area;
}

static inline void probes_free(Probes *p) {
  for (int k = 0; k < 3; ++k) free(p->x[k]);
  free(p->area);
}

// Points of a lattice in each triangle, at most `step` apart, its border included.
static inline void probes_of_triangle(Probes *p, const FloMesh *mesh, size_t t, double step) {
  const double *a = flo_mesh_corner(mesh, t, 0), *b = flo_mesh_corner(mesh, t, 1),
               *c = flo_mesh_corner(mesh, t, 2);
  double ab[3], ac[3], bc[3], normal[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(c, b, bc);
  vec_cross(ab, ac, normal);
  double longest = fmax(fmax(vec_length(ab), vec_length(ac)), vec_length(bc));
  int n = (int)ceil(longest / step) + 1;
  // Points of segments count alike.
  double area = vec_length(bc) > 0 ? vec_length(normal) / 2 / ((n + 1) * (n + 2) / 2) : 1;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i + j <= n; ++i) {
      double point[3];
      vec_add_scaled(a, ab, (double)i / n, point);
      vec_add_scaled(point, ac, (double)j / n, point);
      probes_add(p, point, area);
    }
}

static inline Probes probes_of(const FloMesh *mesh, double step) {
  Probes p = {0};
  for (size_t t = 0; t < mesh->n_triangles; ++t) probes_of_triangle(&p, mesh, t, step);
  return p;
}

static inline void measure_densities(const Sampled *s, const Probes *p, Quality *q) {
  FloMemory memory;
  FloError error;
  FloSampleDensity *density;
  float *delta = malloc((p->count + 1) * sizeof *delta);
  const double *const samples[3] = {s->x[0], s->x[1], s->x[2]}, *const points[3] = {p->x[0], p->x[1],
                                                                                    p->x[2]};
  double area = 0, sum = 0, squares = 0;
  flo_memory_init(&memory, NULL);
  assert_ok(flo_sample_density_create(s->is_flat ? 2 : 3, s->spacing, &memory, &density, &error), &error);
  assert_ok(flo_sample_density_at(density, samples, s->count, points, p->count, 1, delta, &error), &error);
  for (size_t k = 0; k < p->count; ++k) {
    double d = (double)delta[k];
    q->min = fmin(q->min, d), q->max = fmax(q->max, d);
    area += p->area[k], sum += p->area[k] * d, squares += p->area[k] * d * d;
  }
  q->mean = sum / area, q->deviation = sqrt(fmax(squares / area - q->mean * q->mean, 0));
  flo_sample_density_destroy(density);
  free(delta);
}

// Samples sorted along x, so that a search ends soon.
typedef struct Place {
  double x[3];
} Place;

static inline int place_compare(const void *a, const void *b) {
  double x = ((const Place *)a)->x[0], y = ((const Place *)b)->x[0];
  return (x > y) - (x < y);
}

static inline Place *sampled_places(const Sampled *s) {
  Place *places = malloc((s->count + 1) * sizeof *places);
  for (size_t i = 0; i < s->count; ++i) vec_set(places[i].x, s->x[0][i], s->x[1][i], s->x[2][i]);
  qsort(places, s->count, sizeof *places, place_compare);
  return places;
}

static inline size_t place_find(const Place *places, size_t n, double x) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (places[middle].x[0] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The distance from a point to the nearest place other than number `self`, or `most` if that is less.
static inline double place_distance(const Place *places, size_t n, const double point[3], size_t self,
                                    double most) {
  size_t start = place_find(places, n, point[0]);
  for (int way = -1; way <= 1; way += 2)
    for (size_t i = way > 0 ? start : start - 1; i < n; i += (size_t)way) {
      double d[3];
      vec_sub(places[i].x, point, d);
      if (fabs(d[0]) > most) break;
      if (i != self) most = fmin(most, vec_length(d));
    }
  return most;
}

static inline Quality measure_quality(const Sampled *s, double step) {
  Quality q = {.samples = s->count, .nearest = INFINITY, .min = INFINITY, .max = -INFINITY};
  Probes p = probes_of(s->mesh, step * s->spacing);
  Place *places = sampled_places(s);
  measure_densities(s, &p, &q);
  for (size_t k = 0; k < p.count; ++k) {
    const double point[3] = {p.x[0][k], p.x[1][k], p.x[2][k]};
    q.gap = fmax(q.gap, place_distance(places, s->count, point, SIZE_MAX, INFINITY) / s->spacing);
  }
  for (size_t i = 0; i < s->count; ++i)
    q.nearest = fmin(q.nearest, place_distance(places, s->count, places[i].x, i, INFINITY) / s->spacing);
  free(places);
  probes_free(&p);
  return q;
}

static inline void print_quality(const char *name, const Quality *q) {
  print_message("%-40s %6zu samples, gap %.2f, nearest %.2f, density %.2f ... %.2f, mean %.2f +- %.2f\n",
                name, q->samples, q->gap, q->nearest, q->min, q->max, q->mean, q->deviation);
}

#endif
