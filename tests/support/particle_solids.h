// Elastic solids of particles for tests: made from the vertices of elements, and found at rest.
#ifndef TEST_SUPPORT_PARTICLE_SOLIDS_H
#define TEST_SUPPORT_PARTICLE_SOLIDS_H

#include "soft/particles.h"
#include "support/soft_bodies.h"

// A body of particles at the points of `t`, which must fill a box: those at its faces have half a cell, at
// edges a quarter, at corners an eighth.
static inline FloSoft *particles_in_box(SoftTest *t, int dim, double cell, double density,
                                        const FloElasticDef *elastic) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  double *volumes = calloc(t->n_points, sizeof *volumes), size = 1;
  FloSoft *soft;
  FloError error;
  for (size_t k = 0; k < 3 * t->n_points; ++k)
    low[k % 3] = fmin(low[k % 3], t->points[k]), high[k % 3] = fmax(high[k % 3], t->points[k]);
  for (int axis = 0; axis < dim; ++axis) size *= high[axis] - low[axis];
  for (size_t k = 0; k < t->n_points; ++k) {
    volumes[k] = 1;
    for (size_t axis = 0; axis < (size_t)dim; ++axis) {
      const double x = t->points[3 * k + axis], room = 1e-6 * cell;
      if (x < low[axis] + room || x > high[axis] - room) volumes[k] /= 2;
    }
    sum += volumes[k];
  }
  for (size_t k = 0; k < t->n_points; ++k) volumes[k] *= size / sum;
  assert_ok(flo_soft_create(dim, t->n_points, t->points, &t->memory, &soft, &error), &error);
  assert_ok(flo_soft_add_particles(soft, volumes, cell, density, elastic, &error), &error);
  assert_ok(flo_soft_finish(soft, &error), &error);
  free(volumes);
  return soft;
}

// Finds where the particles rest under these forces. The elements of `t`, a body with the same vertices and
// holds, find a place for forces that are changed until the particles are in balance there.
static inline int particles_settle(FloSoft *soft, SoftTest *t, const double *forces, double precision) {
  double *load = calloc(3 * t->n_points, sizeof *load), *none = calloc(3 * t->n_points, sizeof *none);
  int count = 0;
  memcpy(load, forces, 3 * t->n_points * sizeof *load);
  for (double most = INFINITY; count < 80 && most > precision; ++count) {
    double largest = 0;
    soft_test_settle(t, load, 1000);
    most = 0;
    for (size_t k = 0; k < 3 * t->n_points; ++k) {
      const double x = flo_soft_positions(t->soft)[k], way = fabs(x - flo_soft_positions(soft)[k]);
      most = fmax(most, way), largest = fmax(largest, fabs(x));
      flo_soft_positions(soft)[k] = x;
    }
    flo_particles_push(soft->particles, flo_soft_positions(soft), none, 1);
    for (size_t k = 0; k < 3 * t->n_points; ++k)
      if (!flo_soft_is_held(t->soft, k)) load[k] += forces[k] + soft->particles->forces[k];
  }
  free(load), free(none);
  return count;
}

static inline int particles_settle_under_gravity(FloSoft *soft, SoftTest *t, const double g[3],
                                                 double precision) {
  double *forces = calloc(3 * t->n_points, sizeof *forces);
  for (size_t i = 0; i < t->n_points; ++i) vec_scale(g, flo_soft_masses(soft)[i], forces + 3 * i);
  const int count = particles_settle(soft, t, forces, precision);
  free(forces);
  return count;
}

// A step of the body without impulses.
static inline void particles_step(FloSoft *soft, double dt) {
  FloError error;
  FloSoftReport report;
  double *none = calloc(3 * flo_soft_count(soft), sizeof *none);
  assert_ok(flo_soft_begin(soft, none, dt, 1, &report, &error), &error);
  assert_ok(flo_soft_end(soft, none, dt, 1, &report, &error), &error);
  free(none);
}

#endif
