// Number densities of samples, by which it is judged whether they lie evenly.
#ifndef TEST_SUPPORT_DENSITIES_H
#define TEST_SUPPORT_DENSITIES_H

#include "base/vecmath.h"
#include "geometry/sample.h"
#include "sph/kernel_form.h"
#include "support/check.h"

typedef struct Densities {
  double min, mean, max; // of the number density, times H^3
  double spread;         // standard deviation
} Densities;

// Points in slabs that are one support wide along x, sorted by slab and then along y.
typedef struct SlabPoint {
  double at[3];
  double slab;
} SlabPoint;

static inline int compare_slab_points(const void *a, const void *b) {
  const SlabPoint *p = a, *q = b;
  if (p->slab != q->slab) return p->slab < q->slab ? -1 : 1;
  return (p->at[1] > q->at[1]) - (p->at[1] < q->at[1]);
}

static inline SlabPoint *sort_into_slabs(const FloPoints *points, double support) {
  SlabPoint *sorted = malloc((points->count + 1) * sizeof *sorted);
  assert_non_null(sorted);
  for (size_t i = 0; i < points->count; ++i) {
    vec_copy(flo_points_at(points, i), sorted[i].at);
    sorted[i].slab = floor(sorted[i].at[0] / support);
  }
  qsort(sorted, points->count, sizeof *sorted, compare_slab_points);
  return sorted;
}

// The first that is not before a place in a slab.
static inline size_t find_in_slabs(const SlabPoint *sorted, size_t n, double slab, double y) {
  const SlabPoint wanted = {.at = {0, y, 0}, .slab = slab};
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (compare_slab_points(&sorted[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// sum_j W(x_i - x_j), itself included, with the library's own cubic spline and H = 2 spacing, times H^3.
static inline double density_at(const SlabPoint *sorted, size_t n, const SlabPoint *point,
                                const FloKernelForm *kernel, double support) {
  double density = 0;
  for (int step = -1; step <= 1; ++step) {
    const double slab = point->slab + step, last = point->at[1] + support;
    size_t j = find_in_slabs(sorted, n, slab, point->at[1] - support);
    for (; j < n && sorted[j].slab == slab && sorted[j].at[1] <= last; ++j) {
      double between[3];
      vec_sub(sorted[j].at, point->at, between);
      double square = vec_dot(between, between);
      if (square < support * support) density += flo_kernel_w(kernel, sqrt(square));
    }
  }
  return density * support * support * support;
}

static inline Densities measure_densities(const FloPoints *points, double spacing) {
  const double support = 2 * spacing, n = (double)points->count;
  const FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, support);
  SlabPoint *sorted = sort_into_slabs(points, support);
  Densities d = {INFINITY, 0, 0, 0};
  double squares = 0;
  for (size_t i = 0; i < points->count; ++i) {
    double density = density_at(sorted, points->count, &sorted[i], &kernel, support);
    d.min = fmin(d.min, density), d.max = fmax(d.max, density);
    d.mean += density / n, squares += density * density / n;
  }
  d.spread = sqrt(fmax(squares - d.mean * d.mean, 0));
  free(sorted);
  return d;
}

#endif
