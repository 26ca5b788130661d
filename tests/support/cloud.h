// Particles and their grid without a world around them.
#ifndef TEST_SUPPORT_CLOUD_H
#define TEST_SUPPORT_CLOUD_H

#include "sph/grid.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

// A box to strew particles in; `periodic` axes repeat at its faces.
typedef struct CloudBox {
  int dim;
  double support;
  double low[3], high[3];
  bool periodic[3];
} CloudBox;

typedef struct Cloud {
  CountingAllocator counter;
  FloMemory memory;
  FloParticles particles;
  FloGrid grid;
} Cloud;

static inline void box_period(const CloudBox *box, double period[3]) {
  for (int axis = 0; axis < 3; ++axis)
    period[axis] = box->periodic[axis] ? box->high[axis] - box->low[axis] : 0;
}

static inline FloLattice box_lattice(const CloudBox *box) {
  FloError error;
  FloLattice lattice;
  double low[3] = {0}, high[3] = {0};
  for (int axis = 0; axis < box->dim; ++axis)
    if (box->periodic[axis]) low[axis] = box->low[axis], high[axis] = box->high[axis];
  assert_ok(flo_lattice_init(&lattice, box->dim, box->support, low, high, &error), &error);
  return lattice;
}

// Stays where it is: the parts point at each other.
static inline void cloud_init(Cloud *cloud, FloSet set, const FloLattice *lattice) {
  cloud->counter = (CountingAllocator){0};
  FloAllocator allocator = counting_allocator(&cloud->counter);
  flo_memory_init(&cloud->memory, &allocator);
  flo_particles_init(&cloud->particles, set, NULL, &cloud->memory);
  flo_grid_init(&cloud->grid, lattice, &cloud->memory);
}

static inline void cloud_free(Cloud *cloud) {
  flo_grid_free(&cloud->grid);
  flo_particles_free(&cloud->particles);
  assert_int_equal(cloud->counter.bytes, 0);
  assert_int_equal(cloud->counter.n_mismatches, 0);
}

enum { CLOUD_FIRST_ID = 1000 }; // so that an id is not mistaken for an index

static inline void cloud_add(Cloud *cloud, double x, double y, double z) {
  FloError error;
  FloParticles *p = &cloud->particles;
  assert_ok(flo_particles_add(p, 1, &error), &error);
  size_t i = p->count - 1;
  p->x[i] = x, p->y[i] = y, p->z[i] = z;
  p->id[i] = CLOUD_FIRST_ID + (uint32_t)i;
}

static inline void cloud_strew(Cloud *cloud, const CloudBox *box, Random *random, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    double at[3] = {0};
    for (int axis = 0; axis < box->dim; ++axis)
      at[axis] = random_between(random, box->low[axis], box->high[axis]);
    cloud_add(cloud, at[0], at[1], at[2]);
  }
}

static inline void cloud_build(Cloud *cloud, int threads) {
  FloError error;
  assert_ok(flo_grid_build(&cloud->grid, &cloud->particles, NULL, threads, &error), &error);
}

static inline void cloud_position(const Cloud *cloud, size_t i, double out[3]) {
  const FloParticles *p = &cloud->particles;
  out[0] = p->x[i], out[1] = p->y[i], out[2] = p->z[i];
}

#endif
