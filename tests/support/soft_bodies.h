// Soft bodies for tests: sheets, strands, bars, and how to move them.
#ifndef TEST_SUPPORT_SOFT_BODIES_H
#define TEST_SUPPORT_SOFT_BODIES_H

#include "base/vecmath.h"
#include "soft/body.h"
#include "support/check.h"

#include <stdlib.h>

// Which way the diagonals of a grid of quads run.
typedef enum Diagonals { DIAGONALS_SAME, DIAGONALS_ALTERNATE, DIAGONALS_CROSSED } Diagonals;

typedef struct SoftTest {
  FloMemory memory;
  FloSoft *soft;
  double *points, *impulses;
  uint32_t *elements;
  size_t n_points, n_elements;
  int threads;
  FloSoftReport report, all; // of the last step; sums
} SoftTest;

static inline void soft_test_start(SoftTest *t, size_t most_points, size_t most_indices) {
  *t = (SoftTest){.threads = 1};
  flo_memory_init(&t->memory, &(FloAllocator){0});
  t->points = calloc(3 * most_points + 1, sizeof *t->points);
  t->impulses = calloc(3 * most_points + 1, sizeof *t->impulses);
  t->elements = calloc(most_indices + 1, sizeof *t->elements);
}

static inline uint32_t soft_test_point(SoftTest *t, double x, double y, double z) {
  vec_set(t->points + 3 * t->n_points, x, y, z);
  return (uint32_t)t->n_points++;
}

static inline void soft_test_triangle(SoftTest *t, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *e = t->elements + 3 * t->n_elements++;
  e[0] = a, e[1] = b, e[2] = c;
}

static inline void soft_test_tet(SoftTest *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t *e = t->elements + 4 * t->n_elements++;
  e[0] = a, e[1] = b, e[2] = c, e[3] = d;
}

static inline void soft_test_free(SoftTest *t) {
  flo_soft_destroy(t->soft, &t->memory);
  assert_int_equal(t->memory.bytes, 0);
  free(t->points), free(t->impulses), free(t->elements);
}

// A grid of nx times ny quads in the unit square; number of point (i, j): j + (ny + 1) i. Crossed quads have
// a point in their middle, too. The caller maps points to where they belong.
static inline void soft_test_grid(SoftTest *t, int nx, int ny, Diagonals diagonals) {
  size_t most = (size_t)(nx + 1) * (size_t)(ny + 1) + (size_t)nx * (size_t)ny;
  soft_test_start(t, most, 12 * most);
  for (int i = 0; i <= nx; ++i)
    for (int j = 0; j <= ny; ++j) soft_test_point(t, (double)i / nx, (double)j / ny, 0);
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j) {
      uint32_t a = (uint32_t)(j + (ny + 1) * i), b = a + (uint32_t)ny + 1, c = b + 1, d = a + 1;
      if (diagonals == DIAGONALS_CROSSED) {
        uint32_t m = soft_test_point(t, (i + 0.5) / nx, (j + 0.5) / ny, 0);
        soft_test_triangle(t, a, b, m), soft_test_triangle(t, b, c, m);
        soft_test_triangle(t, c, d, m), soft_test_triangle(t, d, a, m);
      } else if (diagonals == DIAGONALS_ALTERNATE && (i + j) % 2) {
        soft_test_triangle(t, a, b, d), soft_test_triangle(t, b, c, d);
      } else {
        soft_test_triangle(t, a, b, c), soft_test_triangle(t, a, c, d);
      }
    }
}

static inline void soft_test_scale(SoftTest *t, double x, double y, double z) {
  for (size_t i = 0; i < t->n_points; ++i)
    t->points[3 * i] *= x, t->points[3 * i + 1] *= y, t->points[3 * i + 2] *= z;
}

// A grid of bricks in the unit cube, six tetrahedra each around alternating diagonals (five would do, too).
static inline void soft_test_bricks(SoftTest *t, int nx, int ny, int nz) {
  static const int ways[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  size_t most = (size_t)(nx + 1) * (size_t)(ny + 1) * (size_t)(nz + 1);
  uint32_t strides[3] = {(uint32_t)((ny + 1) * (nz + 1)), (uint32_t)(nz + 1), 1};
  soft_test_start(t, most, 24 * most);
  for (int i = 0; i <= nx; ++i)
    for (int j = 0; j <= ny; ++j)
      for (int k = 0; k <= nz; ++k) soft_test_point(t, (double)i / nx, (double)j / ny, (double)k / nz);
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j)
      for (int k = 0; k < nz; ++k)
        for (int w = 0; w < 6; ++w) {
          uint32_t a = (uint32_t)i * strides[0] + (uint32_t)j * strides[1] + (uint32_t)k;
          uint32_t b = a + strides[ways[w][0]], c = b + strides[ways[w][1]], d = c + strides[ways[w][2]];
          if (w < 3)
            soft_test_tet(t, a, b, c, d);
          else
            soft_test_tet(t, a, c, b, d);
        }
}

static inline void soft_test_create(SoftTest *t, int dim) {
  FloError error;
  assert_ok(flo_soft_create(dim, t->n_points, t->points, &t->memory, &t->soft, &error), &error);
}

static inline void soft_test_finish(SoftTest *t) {
  FloError error;
  assert_ok(flo_soft_finish(t->soft, &error), &error);
}

static inline void soft_test_make_cloth(SoftTest *t, const FloClothDef *cloth) {
  FloError error;
  soft_test_create(t, 3);
  assert_ok(flo_soft_add_cloth(t->soft, t->elements, t->n_elements, cloth, &error), &error);
  soft_test_finish(t);
}

static inline void soft_test_make_strand(SoftTest *t, const FloClothDef *cloth) {
  FloError error;
  soft_test_create(t, 2);
  assert_ok(flo_soft_add_strand(t->soft, t->elements, t->n_elements, cloth, &error), &error);
  soft_test_finish(t);
}

static inline void soft_test_make_solid(SoftTest *t, int dim, double density, const FloElasticDef *elastic) {
  FloError error;
  soft_test_create(t, dim);
  assert_ok(flo_soft_add_solid(t->soft, t->elements, t->n_elements, density, elastic, &error), &error);
  soft_test_finish(t);
}

// A strand of n segments along x from 0 to 1.
static inline void soft_test_line(SoftTest *t, int n) {
  soft_test_start(t, (size_t)n + 1, 2 * (size_t)n);
  for (int i = 0; i <= n; ++i) soft_test_point(t, (double)i / n, 0, 0);
  for (int i = 0; i < n; ++i) {
    uint32_t *e = t->elements + 2 * t->n_elements++;
    e[0] = (uint32_t)i, e[1] = (uint32_t)i + 1;
  }
}

static inline const double *soft_test_at(const SoftTest *t, size_t i) {
  return flo_soft_positions(t->soft) + 3 * i;
}

// Mass times acceleration times dt for all vertices.
static inline void soft_test_gravity(SoftTest *t, const double g[3], double dt) {
  for (size_t i = 0; i < t->n_points; ++i)
    vec_scale(g, dt * flo_soft_masses(t->soft)[i], t->impulses + 3 * i);
}

// One step with the impulses of the test, all given at its beginning.
static inline void soft_test_step(SoftTest *t, double dt) {
  FloError error;
  FloSoftReport end;
  double *none = calloc(3 * t->n_points, sizeof *none);
  assert_ok(flo_soft_begin(t->soft, t->impulses, dt, t->threads, &t->report, &error), &error);
  assert_ok(flo_soft_end(t->soft, none, dt, t->threads, &end, &error), &error);
  free(none);
  t->report.newton_iterations += end.newton_iterations;
  t->report.solver_iterations += end.solver_iterations;
  t->report.factorisations += end.factorisations;
  t->report.residual = end.residual;
  t->all.newton_iterations += t->report.newton_iterations;
  t->all.solver_iterations += t->report.solver_iterations;
  t->all.factorisations += t->report.factorisations;
}

// Steps so long that inertia does not count, until nothing moves: the state at rest under these forces [N].
static inline void soft_test_settle(SoftTest *t, const double *forces, double dt) {
  for (int k = 0; k < 30; ++k) {
    for (size_t i = 0; i < 3 * t->n_points; ++i)
      t->impulses[i] = forces[i] * dt, flo_soft_velocities(t->soft)[i] = 0;
    soft_test_step(t, dt);
    double most = 0;
    for (size_t i = 0; i < 3 * t->n_points; ++i)
      most = fmax(most, fabs(dt * flo_soft_velocities(t->soft)[i]));
    if (most < 1e-7) return;
  }
  fail_msg("the body does not come to rest");
}

static inline void soft_test_settle_under_gravity(SoftTest *t, const double g[3], double dt) {
  double *forces = calloc(3 * t->n_points, sizeof *forces);
  for (size_t i = 0; i < t->n_points; ++i) vec_scale(g, flo_soft_masses(t->soft)[i], forces + 3 * i);
  soft_test_settle(t, forces, dt);
  free(forces);
}

static inline double soft_test_kinetic(const SoftTest *t) {
  double sum = 0;
  for (size_t i = 0; i < t->n_points; ++i) {
    const double *v = flo_soft_velocities(t->soft) + 3 * i;
    sum += flo_soft_masses(t->soft)[i] * vec_dot(v, v) / 2;
  }
  return sum;
}

#endif
