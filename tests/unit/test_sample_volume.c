// Lattices inside meshes: how many points there are against exact volumes, how far apart, none outside, and
// what is refused.
#include "geometry/letters.h"
#include "geometry/solid_meshes.h"
#include "support/geometry.h"

static void fixture_index(Fixture *f, double cell) {
  FloError error;
  fixture_build_tree(f);
  assert_ok(flo_sdf_build(&f->sdf, &f->bvh, cell, 3, 2, &error), &error);
}

static void init_box(Fixture *f, double x, double y, double z, double cell) {
  FloError error;
  fixture_init(f);
  assert_ok(flo_mesh_box((double[]){x, y, z}, 0.1, &f->mesh, &error), &error);
  fixture_index(f, cell);
}

static size_t fill(Fixture *f, FloInside inside, FloVolumeOptions options) {
  FloError error;
  f->points.count = 0;
  assert_ok(flo_sample_volume(&inside, &options, &f->points, &error), &error);
  return f->points.count;
}

// 10 x 8 x 6 particles, whatever answers the question of what is inside.
static void test_a_box_holds_whole_rows(void **state) {
  (void)state;
  Fixture f;
  init_box(&f, 1, 0.8, 0.6, 0.05);
  const FloInside ways[] = {{&f.bvh, NULL}, {NULL, &f.sdf}, {&f.bvh, &f.sdf}};
  for (size_t way = 0; way < FLO_COUNT_OF(ways); ++way) {
    assert_int_equal(fill(&f, ways[way], (FloVolumeOptions){.spacing = 0.1, .clearance = 0}), 10 * 8 * 6);
    assert_int_equal(fill(&f, ways[way], (FloVolumeOptions){.spacing = 0.1, .clearance = -1}), 10 * 8 * 6);
    assert_close_3(flo_points_at(&f.points, 0), ((double[3]){-0.45, -0.35, -0.25}), 1e-6);
    assert_close_3(flo_points_at(&f.points, 1), ((double[3]){-0.35, -0.35, -0.25}), 1e-6);
    assert_close_3(flo_points_at(&f.points, 10), ((double[3]){-0.45, -0.25, -0.25}), 1e-6);
  }
  fixture_free(&f);
}

// Filled to the brim the volume of the points is that of the body; with a clearance, that of the body less
// its skin.
static void test_volumes_converge(void **state) {
  (void)state;
  const double radius = 0.5, exact = 4.0 / 3 * FLO_PI * radius * radius * radius;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_sphere(radius, 0.02, &f.mesh, &error), &error);
  fixture_index(&f, 0.03);
  const FloInside inside = {&f.bvh, &f.sdf};
  for (int packing = FLO_PACKING_CUBIC; packing <= FLO_PACKING_HEXAGONAL; ++packing) {
    double tolerance = 0.08;
    for (double s = 0.1; s > 0.02; s /= 2, tolerance /= 2) {
      FloVolumeOptions options = {.spacing = s, .packing = (FloPacking)packing, .threads = 2};
      assert_close((double)fill(&f, inside, options) * s * s * s, exact, tolerance * exact);
      options.clearance = -1;
      double less = exact * pow(1 - s / 2 / radius, 3);
      assert_close((double)fill(&f, inside, options) * s * s * s, less, tolerance * exact);
      for (size_t k = 0; k < f.points.count; ++k)
        assert_true(vec_length(flo_points_at(&f.points, k)) < radius - s / 2 + 1e-6);
    }
  }
  fixture_free(&f);
}

// The hollow of a hollow letter stays empty, and so does the hole in it.
static void test_shells_are_filled_without_their_hollows(void **state) {
  (void)state;
  const double s = 0.006;
  for (int is_hollow = 0; is_hollow <= 1; ++is_hollow) {
    Fixture f;
    FloError error;
    FloMassProperties mass;
    fixture_init(&f);
    assert_ok(flo_mesh_letters("O", 0.6, 0.2, 0.1, is_hollow, 0.02, &f.mesh, &error), &error);
    fixture_index(&f, 0.01);
    flo_mesh_mass(&f.mesh, 1, &mass);
    double volume =
        (double)fill(&f, (FloInside){&f.bvh, &f.sdf}, (FloVolumeOptions){.spacing = s}) * s * s * s;
    print_message("%s letter: %.5f m^3 of %.5f\n", is_hollow ? "hollow" : "solid", volume, mass.volume);
    assert_close(volume, mass.volume, 0.04 * mass.volume);
    fixture_free(&f);
  }
}

static void test_clearance_is_kept(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_torus(0.5, 0.2, 0.03, &f.mesh, &error), &error);
  fixture_index(&f, 0.02);
  FloVolumeOptions options = {.spacing = 0.04, .clearance = 0.07};
  size_t n = fill(&f, (FloInside){&f.bvh, &f.sdf}, options);
  assert_true(n > 100);
  for (size_t i = 0; i < n; ++i) {
    const double *p = flo_points_at(&f.points, i);
    assert_true(hypot(hypot(p[0], p[1]) - 0.5, p[2]) < 0.2 - 0.07 + 1e-6);
  }
  fixture_free(&f);
}

// Either way to decide gives the same points, the grid alone all but a few at the border.
static void test_grid_and_tree_agree(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_sphere(0.5, 0.1, &f.mesh, &error), &error);
  fixture_index(&f, 0.04);
  FloVolumeOptions options = {.spacing = 0.05, .clearance = -1};
  size_t exact = fill(&f, (FloInside){&f.bvh, NULL}, options);
  FloPoints kept = f.points;
  f.points = (FloPoints){.memory = &f.memory};
  for (options.threads = 1; options.threads <= 3; ++options.threads) {
    assert_int_equal(fill(&f, (FloInside){&f.bvh, &f.sdf}, options), exact);
    assert_memory_equal(f.points.buffer.data, kept.buffer.data, 3 * sizeof(double) * exact);
  }
  assert_close((double)fill(&f, (FloInside){NULL, &f.sdf}, options), (double)exact, 0.05 * (double)exact);
  flo_points_free(&kept);
  fixture_free(&f);
}

static size_t count_near(const FloPoints *points, size_t self, double distance) {
  size_t n = 0;
  for (size_t k = 0; k < points->count; ++k) {
    double d[3];
    vec_sub(flo_points_at(points, self), flo_points_at(points, k), d);
    n += k != self && vec_length(d) < distance;
  }
  return n;
}

// Six neighbours at one spacing, or twelve at 2^(1/6) spacings in close packing, and none nearer.
static void test_neighbours_in_either_packing(void **state) {
  (void)state;
  const double s = 0.1, apart[2] = {s, s * 1.122462048309373};
  const size_t n_neighbours[2] = {6, 12};
  Fixture f;
  init_box(&f, 1, 1, 1, 0.1);
  for (int packing = FLO_PACKING_CUBIC; packing <= FLO_PACKING_HEXAGONAL; ++packing) {
    FloVolumeOptions options = {.spacing = s, .packing = (FloPacking)packing};
    size_t n = fill(&f, (FloInside){&f.bvh, NULL}, options), n_checked = 0;
    assert_close((double)n * s * s * s, 1, 0.15);
    for (size_t k = 0; k < n; ++k) {
      const double *p = flo_points_at(&f.points, k);
      assert_int_equal(count_near(&f.points, k, apart[packing] * (1 - 1e-9)), 0);
      if (fabs(p[0]) > 0.35 || fabs(p[1]) > 0.35 || fabs(p[2]) > 0.35) continue;
      assert_int_equal(count_near(&f.points, k, apart[packing] * (1 + 1e-9)), n_neighbours[packing]);
      ++n_checked;
    }
    assert_true(n_checked > 100);
  }
  fixture_free(&f);
}

static void test_bodies_thinner_than_a_spacing_are_empty(void **state) {
  (void)state;
  Fixture f;
  init_box(&f, 1, 1, 0.04, 0.02);
  const FloInside ways[] = {{&f.bvh, NULL}, {NULL, &f.sdf}, {&f.bvh, &f.sdf}};
  for (size_t way = 0; way < FLO_COUNT_OF(ways); ++way)
    assert_int_equal(fill(&f, ways[way], (FloVolumeOptions){.spacing = 0.1, .clearance = -1}), 0);
  fixture_free(&f);
}

static void test_an_empty_mesh_is_not_filled(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  assert_int_equal(fill(&f, (FloInside){&f.bvh, NULL}, (FloVolumeOptions){.spacing = 0.1}), 0);
  fixture_free(&f);
}

// More points than anyone can hold must end in an error before they are made.
static void test_bad_options_are_refused(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  init_box(&f, 1, 0.8, 0.6, 0.1);
  const FloInside ways[] = {{&f.bvh, NULL}, {NULL, &f.sdf}};
  const double spacings[] = {0, -1, NAN, INFINITY, 1e-4, 1e-100}, clearances[] = {NAN, INFINITY, -INFINITY};
  for (size_t way = 0; way < FLO_COUNT_OF(ways); ++way) {
    for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k) {
      FloVolumeOptions options = {.spacing = spacings[k]};
      assert_refused(flo_sample_volume(&ways[way], &options, &f.points, &error), &error, "spacing");
    }
    for (size_t k = 0; k < FLO_COUNT_OF(clearances); ++k) {
      FloVolumeOptions options = {.spacing = 0.1, .clearance = clearances[k]};
      assert_refused(flo_sample_volume(&ways[way], &options, &f.points, &error), &error, "clearance");
    }
  }
  fixture_free(&f);
}

static void test_filling_without_memory_says_so(void **state) {
  (void)state;
  for (size_t fail_at = 1; fail_at <= 2; ++fail_at) {
    Fixture f;
    FloError error;
    init_box(&f, 1, 0.8, 0.6, 0.1);
    f.counter.fail_at = f.counter.n_calls + fail_at;
    FloInside inside = {&f.bvh, NULL};
    FloVolumeOptions options = {.spacing = 0.1};
    assert_fails(flo_sample_volume(&inside, &options, &f.points, &error), FLO_NO_MEMORY, &error, "memory");
    fixture_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_box_holds_whole_rows),
      cmocka_unit_test(test_volumes_converge),
      cmocka_unit_test(test_shells_are_filled_without_their_hollows),
      cmocka_unit_test(test_clearance_is_kept),
      cmocka_unit_test(test_grid_and_tree_agree),
      cmocka_unit_test(test_neighbours_in_either_packing),
      cmocka_unit_test(test_bodies_thinner_than_a_spacing_are_empty),
      cmocka_unit_test(test_an_empty_mesh_is_not_filled),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_filling_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
