// Evens samples out within their surface. Neighbours push each other apart along the tangent plane; then each
// sample moves to the nearest point of the mesh. All samples move at once from their old places, so neither
// their order nor the threads matter.
#include "geometry/sample.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <math.h>
#include <string.h>

static const double range = 1.6;     // reach of the repulsion, in spacings
static const double strength = 0.35; // step for a push of one, in spacings
static const double longest = 0.2;   // longest step, in spacings

#define NONE UINT32_MAX

typedef struct Relaxation {
  const FloBvh *bvh;
  double spacing;
  FloSurfacePoint *samples;
  size_t n_samples;
  FloSurfacePoint *moved; // where they go
  uint32_t *heads, *next; // samples by cell, chained from high to low numbers; cells are hashed
  uint64_t mask;
} Relaxation;

static void cell_of(const Relaxation *r, const double p[3], int64_t cell[3]) {
  // The cell number is bounded, because a mesh may be any number of spacings from the origin. Far out all
  // samples share a cell.
  for (int axis = 0; axis < 3; ++axis)
    cell[axis] = (int64_t)floor(fmin(fmax(p[axis] / (range * r->spacing), -1e15), 1e15));
}

static uint64_t bucket_of(const Relaxation *r, int64_t x, int64_t y, int64_t z) {
  uint64_t key = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xbf58476d1ce4e5b9u ^
                 (uint64_t)z * 0x94d049bb133111ebu;
  return (key ^ key >> 31) & r->mask;
}

static void sort_samples(Relaxation *r) {
  memset(r->heads, 0xff, (r->mask + 1) * sizeof(uint32_t));
  for (size_t k = 0; k < r->n_samples; ++k) {
    int64_t cell[3];
    cell_of(r, r->samples[k].point, cell);
    uint32_t *head = &r->heads[bucket_of(r, cell[0], cell[1], cell[2])];
    r->next[k] = *head;
    *head = (uint32_t)k;
  }
}

static void unit_normal(const FloMesh *mesh, uint32_t triangle, double normal[3]) {
  flo_mesh_normal(mesh, triangle, normal);
  double length = vec_length(normal);
  vec_scale(normal, length > 0 ? 1 / length : 0, normal);
}

// Samples in the bucket that belong to the cell push with (1 - r/range)^2.
static void add_push(const Relaxation *r, size_t self, const int64_t cell[3], double push[3]) {
  const double reach = range * r->spacing, *p = r->samples[self].point;
  for (uint32_t k = r->heads[bucket_of(r, cell[0], cell[1], cell[2])]; k != NONE; k = r->next[k]) {
    int64_t other[3];
    double d[3];
    vec_sub(p, r->samples[k].point, d);
    double distance = vec_length(d);
    if (k == self || !(distance > 0) || distance >= reach) continue;
    cell_of(r, r->samples[k].point, other);
    if (memcmp(other, cell, sizeof other) != 0) continue; // another cell in the same bucket
    double share = 1 - distance / reach;
    vec_add_scaled(push, d, share * share / distance, push);
  }
}

static void move_sample(const Relaxation *r, size_t k) {
  const FloSurfacePoint *sample = &r->samples[k];
  double push[3] = {0}, normal[3], target[3];
  int64_t cell[3];
  cell_of(r, sample->point, cell);
  for (int64_t z = -1; z <= 1; ++z)
    for (int64_t y = -1; y <= 1; ++y)
      for (int64_t x = -1; x <= 1; ++x)
        add_push(r, k, (const int64_t[3]){cell[0] + x, cell[1] + y, cell[2] + z}, push);
  unit_normal(r->bvh->mesh, sample->triangle, normal);
  vec_add_scaled(push, normal, -vec_dot(push, normal), push);
  double step = strength * r->spacing, length = vec_length(push);
  step = fmin(step, length > 0 ? longest * r->spacing / length : 0);
  vec_add_scaled(sample->point, push, step, target);
  FloClosest closest;
  r->moved[k] = *sample;
  if (!flo_bvh_closest(r->bvh, target, r->spacing, &closest)) return;
  vec_copy(closest.point, r->moved[k].point);
  r->moved[k].triangle = closest.triangle;
}

static void move_samples(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  for (size_t k = begin; k < end; ++k) move_sample(context, k);
}

FloStatus flo_sample_relax(const FloBvh *bvh, double spacing, int n_iterations, int threads,
                           FloSurfacePoint *samples, size_t n_samples, FloError *error) {
  FloMemory *memory = bvh->mesh->memory;
  FloBuffer moved = {0}, heads = {0}, next = {0};
  size_t n_buckets = 16;
  while (n_buckets < n_samples) n_buckets *= 2;
  FloStatus status = flo_buffer_reserve(memory, &moved, n_samples * sizeof(FloSurfacePoint), 0, error);
  if (status == FLO_OK) status = flo_buffer_reserve(memory, &heads, n_buckets * sizeof(uint32_t), 0, error);
  if (status == FLO_OK) status = flo_buffer_reserve(memory, &next, n_samples * sizeof(uint32_t), 0, error);
  Relaxation r = {bvh, spacing, samples, n_samples, moved.data, heads.data, next.data, n_buckets - 1};
  for (int k = 0; status == FLO_OK && k < n_iterations; ++k) {
    sort_samples(&r);
    flo_parallel_for(threads > 0 ? threads : 1, n_samples, 256, move_samples, &r);
    memcpy(samples, r.moved, n_samples * sizeof(FloSurfacePoint));
  }
  flo_buffer_free(memory, &moved);
  flo_buffer_free(memory, &heads);
  flo_buffer_free(memory, &next);
  return status;
}
