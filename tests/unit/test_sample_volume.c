// Lattices inside meshes: how many points there are, how far apart, and none outside.
#include "base/vecmath.h"
#include "geometry/sample.h"
#include "geometry/solid_meshes.h"
#include "support/check.h"

typedef struct Fixture {
  FloMemory memory;
  FloMesh mesh;
  FloBvh bvh;
  FloSdf sdf;
  FloPoints points;
} Fixture;

static void fixture_init(Fixture *f) {
  *f = (Fixture){0};
  flo_memory_init(&f->memory, NULL);
  flo_mesh_init(&f->mesh, &f->memory);
  f->points.memory = &f->memory;
}

static void fixture_index(Fixture *f, double cell) {
  FloError error;
  assert_ok(flo_bvh_build(&f->bvh, &f->mesh, &error), &error);
  assert_ok(flo_sdf_build(&f->sdf, &f->bvh, cell, 3, 2, &error), &error);
}

static void fixture_free(Fixture *f) {
  flo_points_free(&f->points);
  flo_sdf_free(&f->sdf);
  flo_bvh_free(&f->bvh);
  flo_mesh_free(&f->mesh);
  assert_int_equal(f->memory.bytes, 0);
}

static double nearest_distance(const FloPoints *points, size_t i) {
  double nearest = INFINITY;
  for (size_t k = 0; k < points->count; ++k) {
    double d[3];
    vec_sub(flo_points_at(points, i), flo_points_at(points, k), d);
    if (k != i) nearest = fmin(nearest, vec_length(d));
  }
  return nearest;
}

// 10 x 8 x 6 particles, whatever answers the question of what is inside.
static void test_a_box_holds_whole_rows(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_box((double[]){1, 0.8, 0.6}, 0.1, &f.mesh, &error), &error);
  fixture_index(&f, 0.03);
  const FloInside ways[] = {{.bvh = &f.bvh}, {.bvh = &f.bvh, .sdf = &f.sdf}};
  for (size_t k = 0; k < FLO_COUNT_OF(ways); ++k) {
    f.points.count = 0;
    assert_ok(flo_sample_volume(&ways[k], &(FloVolumeOptions){.spacing = 0.1}, &f.points, &error), &error);
    assert_int_equal(f.points.count, 10 * 8 * 6);
    assert_close(flo_points_at(&f.points, 0)[0], -0.45, 1e-12);
  }
  fixture_free(&f);
}

// One particle in every spacing^3, in either packing, up to the layer that the surface cuts.
static void test_a_ball_is_filled_evenly(void **state) {
  (void)state;
  for (int packing = 0; packing < 2; ++packing) {
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      double spacing = k ? 0.05 : 0.1, volume = 4.0 / 3 * FLO_PI;
      Fixture f;
      FloError error;
      fixture_init(&f);
      assert_ok(flo_mesh_sphere(1, 0.05, &f.mesh, &error), &error);
      fixture_index(&f, spacing / 3);
      FloVolumeOptions options = {.spacing = spacing,
                                  .has_no_clearance = true,
                                  .lattice = packing ? FLO_PACKING_HEXAGONAL : FLO_PACKING_CUBIC};
      FloInside inside = {.bvh = &f.bvh, .sdf = &f.sdf};
      assert_ok(flo_sample_volume(&inside, &options, &f.points, &error), &error);
      errors[k] = fabs((double)f.points.count * pow(spacing, 3) / volume - 1);
      for (size_t i = 0; i < f.points.count; ++i)
        assert_true(vec_length(flo_points_at(&f.points, i)) < 1 + 1e-9);
      double apart = packing ? pow(2, 1.0 / 6) * spacing : spacing;
      for (size_t i = 0; i < f.points.count; i += 97)
        assert_close(nearest_distance(&f.points, i), apart, 1e-9);
      fixture_free(&f);
    }
    assert_true(errors[0] < 0.03 && errors[1] < 0.01);
  }
}

static void test_clearance_is_kept(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_torus(0.5, 0.2, 0.03, &f.mesh, &error), &error);
  fixture_index(&f, 0.02);
  FloInside inside = {.bvh = &f.bvh, .sdf = &f.sdf};
  FloVolumeOptions options = {.spacing = 0.04, .clearance = 0.07};
  assert_ok(flo_sample_volume(&inside, &options, &f.points, &error), &error);
  assert_true(f.points.count > 100);
  for (size_t i = 0; i < f.points.count; ++i) {
    const double *p = flo_points_at(&f.points, i);
    assert_true(hypot(hypot(p[0], p[1]) - 0.5, p[2]) < 0.2 - 0.07 + 1e-6);
  }
  fixture_free(&f);
}

static void test_out_of_all_proportion_is_refused(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_box((double[]){1, 1, 1}, 0.1, &f.mesh, &error), &error);
  fixture_index(&f, 0.1);
  FloInside inside = {.bvh = &f.bvh};
  const double spacings[] = {0, -1, NAN, INFINITY, 1e-4};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k)
    assert_refused(flo_sample_volume(&inside, &(FloVolumeOptions){.spacing = spacings[k]}, &f.points, &error),
                   &error, "sampling");
  // Too small for even one particle.
  assert_ok(flo_sample_volume(&inside, &(FloVolumeOptions){.spacing = 3}, &f.points, &error), &error);
  assert_int_equal(f.points.count, 0);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_box_holds_whole_rows),
      cmocka_unit_test(test_a_ball_is_filled_evenly),
      cmocka_unit_test(test_clearance_is_kept),
      cmocka_unit_test(test_out_of_all_proportion_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
