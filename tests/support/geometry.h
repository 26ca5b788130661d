// What tests of geometry share: a mesh and what is made of it, in memory that is counted.
#ifndef TEST_SUPPORT_GEOMETRY_H
#define TEST_SUPPORT_GEOMETRY_H

#include "base/vecmath.h"
#include "geometry/bvh.h"
#include "geometry/sample.h"
#include "geometry/sdf.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/meshes.h"
#include "support/random.h"

// The tree, the grid and the points stay empty unless a test makes them.
typedef struct Fixture {
  CountingAllocator counter;
  FloMemory memory;
  FloMesh mesh;
  FloBvh bvh;
  FloSdf sdf;
  FloPoints points;
} Fixture;

static inline void fixture_init(Fixture *f) {
  *f = (Fixture){.counter = {.byte_limit = 512 << 20}};
  FloAllocator allocator = counting_allocator(&f->counter);
  flo_memory_init(&f->memory, &allocator);
  flo_mesh_init(&f->mesh, &f->memory);
  f->points.memory = &f->memory;
}

static inline void fixture_free(Fixture *f) {
  flo_points_free(&f->points);
  flo_sdf_free(&f->sdf);
  flo_bvh_free(&f->bvh);
  flo_mesh_free(&f->mesh);
  assert_int_equal(f->counter.bytes, 0);
  assert_int_equal(f->counter.n_mismatches, 0);
}

static inline void fixture_build_tree(Fixture *f) {
  FloError error;
  assert_ok(flo_bvh_build(&f->bvh, &f->mesh, &error), &error);
}

// The surface of the mesh, instead of whatever points there are.
static inline void fixture_sample(Fixture *f, FloSampleOptions options) {
  FloError error;
  f->points.count = 0;
  assert_ok(flo_sample_surface(&f->mesh, &options, &f->points, &error), &error);
}

// In the cube around the origin that reaches `size` to all sides.
static inline void random_point(Random *random, double size, double p[3]) {
  for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(random, -size, size);
}

#endif
