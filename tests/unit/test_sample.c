// Samples of surfaces: number densities on every kind of triangle, where samples lie, and what is refused.
#include "geometry/solid_meshes.h"
#include "support/geometry.h"

#include <time.h>

// ---- Meshes ----

// A sheet in the plane z = 0 of nx by ny cells, each cut along a diagonal.
static void add_sheet(Fixture *f, uint32_t nx, uint32_t ny, double dx, double dy) {
  uint32_t first = (uint32_t)f->mesh.n_vertices, row = nx + 1;
  for (uint32_t j = 0; j <= ny; ++j)
    for (uint32_t i = 0; i <= nx; ++i) mesh_add_vertex(&f->mesh, dx * i, dy * j, 0);
  for (uint32_t j = 0; j < ny; ++j)
    for (uint32_t i = 0; i < nx; ++i) {
      uint32_t a = first + j * row + i;
      mesh_add_triangle(&f->mesh, a, a + 1, a + row + 1);
      mesh_add_triangle(&f->mesh, a, a + row + 1, a + row);
    }
}

static void add_box(Fixture *f, double x, double y, double z) {
  mesh_add_box(&f->mesh, (double[3]){-x, -y, -z}, (double[3]){x, y, z}, false);
}

// A closed cone with n sides: all its triangles are needles if it is slender or n large.
static void add_cone(Fixture *f, double radius, double height, uint32_t n) {
  uint32_t first = (uint32_t)f->mesh.n_vertices;
  for (uint32_t k = 0; k < n; ++k)
    mesh_add_vertex(&f->mesh, radius * cos(2 * FLO_PI * k / n), radius * sin(2 * FLO_PI * k / n), 0);
  uint32_t tip = mesh_add_vertex(&f->mesh, 0, 0, height), foot = mesh_add_vertex(&f->mesh, 0, 0, 0);
  for (uint32_t k = 0; k < n; ++k) {
    mesh_add_triangle(&f->mesh, first + k, first + (k + 1) % n, tip);
    mesh_add_triangle(&f->mesh, first + (k + 1) % n, first + k, foot);
  }
}

// ---- Number densities ----

// The cubic spline in 3D by its definition (Monaghan 1992), with the support H.
static double kernel(double r, double support) {
  double q = 2 * r / support, h = support / 2, sigma = 1 / (FLO_PI * h * h * h);
  if (q >= 2) return 0;
  return q < 1 ? sigma * (1 - 1.5 * q * q + 0.75 * q * q * q) : sigma * 0.25 * (2 - q) * (2 - q) * (2 - q);
}

static int compare_x(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct Densities {
  double min, mean, max; // of the number density, times H^3
  double nearest;        // least distance of two samples, in spacings
} Densities;

// Sums over all pairs within one support. A copy is sorted along x, so that a sweep finds the neighbours.
static Densities measure(const Fixture *f, double spacing) {
  const double support = 2 * spacing;
  const size_t n = f->points.count;
  Densities d = {INFINITY, 0, 0, INFINITY};
  double(*points)[3] = malloc((n + 1) * sizeof *points);
  if (n) memcpy(points, f->points.buffer.data, n * sizeof *points);
  qsort(points, n, sizeof *points, compare_x);
  for (size_t i = 0; i < n; ++i) {
    double density = kernel(0, support);
    for (int side = -1; side <= 1; side += 2)
      for (size_t j = i + (size_t)side; j < n; j += (size_t)side) {
        double between[3];
        vec_sub(points[j], points[i], between);
        if (fabs(between[0]) > support) break;
        density += kernel(vec_length(between), support);
        d.nearest = fmin(d.nearest, vec_length(between) / spacing);
      }
    density *= support * support * support;
    d.min = fmin(d.min, density), d.max = fmax(d.max, density), d.mean += density / (double)n;
  }
  free(points);
  return d;
}

static void check_densities(const char *name, const Fixture *f, double spacing) {
  Densities d = measure(f, spacing);
  print_message("%-32s %6zu samples, density %.2f %.2f %.2f /H^3, %.2f spacings apart\n", name,
                f->points.count, d.min, d.mean, d.max, d.nearest);
  assert_true(f->points.count > 0);
  if (!(d.min > 3.6 && d.max < 10)) fail_msg("%s: out of range", name);
}

static double mesh_area(const FloMesh *mesh) {
  double area = 0;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    double ab[3], ac[3], n[3];
    vec_sub(flo_mesh_vertex(mesh, t[1]), flo_mesh_vertex(mesh, t[0]), ab);
    vec_sub(flo_mesh_vertex(mesh, t[2]), flo_mesh_vertex(mesh, t[0]), ac);
    vec_cross(ab, ac, n);
    area += vec_length(n) / 2;
  }
  return area;
}

// The normalisation: a flat square lattice of one spacing, H = 2 spacings, has 5.6/H^3.
static void test_a_square_lattice_lies_within_the_range(void **state) {
  (void)state;
  double sum = 0;
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j) sum += kernel(hypot(i, j), 2);
  assert_close(sum * 8, 5.605, 1e-3);
}

// ---- Awkward triangles ----

// Grids of all sizes, from a thirtieth of a spacing to thirty. At their free borders half of the neighbours
// are missing; the lower bound holds there too.
static void test_sheets_of_any_fineness(void **state) {
  (void)state;
  const uint32_t n[] = {1, 2, 7, 19, 23, 26, 31, 37, 50, 64, 200, 600};
  for (size_t k = 0; k < FLO_COUNT_OF(n); ++k) {
    Fixture f;
    char name[64];
    fixture_init(&f);
    add_sheet(&f, n[k], n[k], 1.0 / n[k], 1.0 / n[k]);
    fixture_sample(&f, (FloSampleOptions){.spacing = 0.033});
    snprintf(name, sizeof name, "sheet of %u x %u", n[k], n[k]);
    check_densities(name, &f, 0.033);
    assert_close((double)f.points.count * 0.033 * 0.033, 1, 0.3);
    for (size_t i = 0; i < f.points.count; ++i) assert_true(flo_points_at(&f.points, i)[2] == 0);
    fixture_free(&f);
  }
}

static void test_sheets_of_needles(void **state) {
  (void)state;
  const uint32_t n[][2] = {{1, 400}, {400, 1}, {3, 111}, {30, 1000}, {1, 20}};
  for (size_t k = 0; k < FLO_COUNT_OF(n); ++k) {
    Fixture f;
    fixture_init(&f);
    add_sheet(&f, n[k][0], n[k][1], 1.0 / n[k][0], 1.0 / n[k][1]);
    fixture_sample(&f, (FloSampleOptions){.spacing = 0.033});
    check_densities("sheet of needles", &f, 0.033);
    fixture_free(&f);
  }
}

// Vertices of a sheet moved at random within it: triangles of every shape.
static void test_irregular_sheets(void **state) {
  (void)state;
  Random random = {1};
  for (uint32_t n = 8; n <= 80; n += 12) {
    Fixture f;
    fixture_init(&f);
    add_sheet(&f, n, n, 1.0 / n, 1.0 / n);
    for (size_t k = 0; k < f.mesh.n_vertices; ++k)
      for (int axis = 0; axis < 2; ++axis) {
        double *x = &flo_mesh_vertex(&f.mesh, k)[axis];
        if (*x > 1e-9 && *x < 1 - 1e-9) *x += random_between(&random, -0.3, 0.3) / n;
      }
    fixture_sample(&f, (FloSampleOptions){.spacing = 0.033});
    check_densities("irregular sheet", &f, 0.033);
    fixture_free(&f);
  }
}

static void test_closed_bodies(void **state) {
  (void)state;
  const double spacings[] = {0.3, 0.11, 0.05, 0.021};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k)
    for (int kind = 0; kind < 6; ++kind) {
      static const char *names[] = {"box",           "coarse sphere",    "fine sphere",
                                    "slender spike", "spike of needles", "thin plate"};
      Fixture f;
      fixture_init(&f);
      if (kind == 0) add_box(&f, 0.5, 0.4, 0.3);
      if (kind == 1) mesh_add_sphere(&f.mesh, 0.6, 6);
      if (kind == 2) mesh_add_sphere(&f.mesh, 0.6, 60);
      if (kind == 3) add_cone(&f, 0.08, 2, 6);
      if (kind == 4) add_cone(&f, 0.4, 2, 500);
      if (kind == 5) add_box(&f, 0.5, 0.4, 1e-3);
      fixture_sample(&f, (FloSampleOptions){.spacing = spacings[k]});
      check_densities(names[kind], &f, spacings[k]);
      fixture_free(&f);
    }
}

// Triangles without area among the others, duplicates of triangles, and vertices that nothing uses (one of
// them not a number) change nothing but the order.
static void test_degenerate_triangles_do_no_harm(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 0.5, 12);
  uint32_t n = (uint32_t)f.mesh.n_triangles;
  mesh_add_vertex(&f.mesh, NAN, INFINITY, 1e30);
  for (uint32_t k = 0; k < n; k += 3) {
    const uint32_t *t = flo_mesh_triangle(&f.mesh, k);
    uint32_t a = t[0], b = t[1], c = t[2];
    mesh_add_triangle(&f.mesh, a, a, b);
    mesh_add_triangle(&f.mesh, c, c, c);
    mesh_add_triangle(&f.mesh, a, b, c);
    mesh_add_triangle(&f.mesh, c, b, a);
  }
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.05});
  check_densities("degenerate triangles", &f, 0.05);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.05, .inset = 0.025});
  check_densities("degenerate triangles, inset", &f, 0.05);
  fixture_free(&f);
}

static void test_a_segment_and_a_point_are_sampled(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  uint32_t a = mesh_add_vertex(&f.mesh, 0, 0, 0), b = mesh_add_vertex(&f.mesh, 1, 0, 0);
  mesh_add_triangle(&f.mesh, a, b, b);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.1});
  assert_true(f.points.count >= 11);
  for (size_t k = 0; k < f.points.count; ++k) assert_true(flo_points_at(&f.points, k)[1] == 0);
  fixture_free(&f);
  fixture_init(&f);
  a = mesh_add_vertex(&f.mesh, 1, 2, 3);
  mesh_add_triangle(&f.mesh, a, a, a);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.1});
  assert_int_equal(f.points.count, 1);
  assert_close_3(flo_points_at(&f.points, 0), ((double[3]){1, 2, 3}), 0);
  fixture_free(&f);
}

// One triangle alone is all border. From a little more than a tenth of a spacing on, it gets enough samples.
static void test_single_triangles(void **state) {
  (void)state;
  Random random = {4};
  double least = INFINITY, most = 0;
  for (int k = 0; k < 2000; ++k) {
    Fixture f;
    fixture_init(&f);
    double size = pow(10, random_between(&random, -0.85, 1.3)),
           thinness = pow(10, random_between(&random, -4, 0));
    uint32_t a = mesh_add_vertex(&f.mesh, 0, 0, 0), b = mesh_add_vertex(&f.mesh, size, 0, 0);
    uint32_t c = mesh_add_vertex(&f.mesh, random_between(&random, 0, size), size * thinness, 0);
    mesh_add_triangle(&f.mesh, a, b, c);
    fixture_sample(&f, (FloSampleOptions){.spacing = 1});
    Densities d = measure(&f, 1);
    least = fmin(least, d.min), most = fmax(most, d.max);
    if (!(d.min > 3.6 && d.max < 10))
      fail_msg("size %g, thinness %g: density %g to %g", size, thinness, d.min, d.max);
    fixture_free(&f);
  }
  print_message("single triangles: density %.2f to %.2f /H^3\n", least, most);
}

static void add_soup(Fixture *f, uint64_t seed) {
  Random random = {seed};
  for (int k = 0; k < 400; ++k) {
    uint32_t corners[3];
    double size = pow(10, random_between(&random, -2, 0)), centre[3];
    for (int axis = 0; axis < 3; ++axis) centre[axis] = random_between(&random, -1, 1);
    for (int corner = 0; corner < 3; ++corner)
      corners[corner] = mesh_add_vertex(&f->mesh, centre[0] + random_between(&random, -size, size),
                                        centre[1] + random_between(&random, -size, size),
                                        centre[2] + random_between(&random, -size, size));
    mesh_add_triangle(&f->mesh, corners[0], corners[1], corners[2]);
  }
}

// Soup: triangles of all sizes and shapes that cross each other. In the last three a triangle of a tenth of a
// spacing or less lies alone.
static void test_soups_have_the_right_density(void **state) {
  (void)state;
  static const uint64_t seeds[] = {2, 45, 89, 162};
  for (size_t k = 0; k < FLO_COUNT_OF(seeds); ++k) {
    Fixture f;
    fixture_init(&f);
    add_soup(&f, seeds[k]);
    fixture_sample(&f, (FloSampleOptions){.spacing = 0.04});
    Densities d = measure(&f, 0.04);
    if (!(d.min > 3.6 && d.max < 10)) fail_msg("seed %d: density %g to %g", (int)seeds[k], d.min, d.max);
    fixture_free(&f);
  }
}

// ---- Where samples are ----

static void test_samples_lie_on_the_surface_and_at_the_corners(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  add_box(&f, 0.5, 0.4, 0.3);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.05});
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  for (size_t k = 0; k < f.points.count; ++k) {
    FloClosest closest;
    assert_true(flo_bvh_closest(&f.bvh, flo_points_at(&f.points, k), 1e-12, &closest));
  }
  // Vertices come first, and none is near another.
  for (size_t corner = 0; corner < 8; ++corner) {
    bool is_found = false;
    for (size_t k = 0; k < 8; ++k) {
      double d[3];
      vec_sub(flo_points_at(&f.points, k), flo_mesh_vertex(&f.mesh, corner), d);
      is_found |= vec_length(d) == 0;
    }
    assert_true(is_found);
  }
  fixture_free(&f);
}

static void random_surface_point(const FloMesh *mesh, Random *random, double p[3]) {
  const uint32_t *t = flo_mesh_triangle(mesh, random_below(random, (uint32_t)mesh->n_triangles));
  double u = random_between(random, 0, 1), v = random_between(random, 0, 1);
  if (u + v > 1) u = 1 - u, v = 1 - v;
  for (int axis = 0; axis < 3; ++axis)
    p[axis] = (1 - u - v) * flo_mesh_vertex(mesh, t[0])[axis] + u * flo_mesh_vertex(mesh, t[1])[axis] +
              v * flo_mesh_vertex(mesh, t[2])[axis];
}

// No point of the surface is far from a sample, and the field of the samples has no holes.
static void test_samples_leave_no_holes(void **state) {
  (void)state;
  const double s = 0.05, support = 2 * s;
  for (int kind = 0; kind < 3; ++kind) {
    Fixture f;
    Random random = {3};
    fixture_init(&f);
    if (kind == 0) add_box(&f, 0.5, 0.4, 0.3);
    if (kind == 1) mesh_add_sphere(&f.mesh, 0.6, 9);
    if (kind == 2) mesh_add_sphere(&f.mesh, 0.6, 60);
    fixture_sample(&f, (FloSampleOptions){.spacing = s});
    for (int k = 0; k < 5000; ++k) {
      double p[3], d[3], nearest = INFINITY, density = 0;
      random_surface_point(&f.mesh, &random, p);
      for (size_t i = 0; i < f.points.count; ++i) {
        vec_sub(flo_points_at(&f.points, i), p, d);
        nearest = fmin(nearest, vec_length(d));
        density += kernel(vec_length(d), support);
      }
      assert_true(nearest < 0.95 * s);
      assert_true(density * support * support * support > 2.5);
    }
    fixture_free(&f);
  }
}

static void test_the_number_of_samples_is_the_area(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 0.6, 40);
  for (double spacing = 0.08; spacing > 0.015; spacing /= 2) {
    fixture_sample(&f, (FloSampleOptions){.spacing = spacing});
    assert_close((double)f.points.count * spacing * spacing, mesh_area(&f.mesh), 0.2 * mesh_area(&f.mesh));
  }
  fixture_free(&f);
}

static void test_points_are_added_to_those_there(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  FloSampleOptions options = {.spacing = 0.1};
  fixture_init(&f);
  add_box(&f, 0.5, 0.4, 0.3);
  fixture_sample(&f, options);
  size_t n = f.points.count;
  assert_ok(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error);
  assert_int_equal(f.points.count, 2 * n);
  assert_memory_equal(flo_points_at(&f.points, 0), flo_points_at(&f.points, n), 3 * sizeof(double) * n);
  fixture_free(&f);
}

// A mesh so wide that its cells share buckets gives what its parts give.
static void test_far_apart_parts_do_not_disturb_each_other(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f, 0.5, 0.4, 0.3);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.05});
  size_t n = f.points.count;
  add_box(&f, 0.5, 0.4, 0.3);
  for (uint32_t k = 8; k < 16; ++k) {
    double *p = flo_mesh_vertex(&f.mesh, k);
    vec_set(p, p[0] + 1000, p[1] + 2000, p[2] + 4000);
  }
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.05});
  assert_close((double)f.points.count, 2 * (double)n, 4);
  fixture_free(&f);
}

// ---- What is refused ----

static void test_bad_options_are_refused(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  const double bad[] = {-1, NAN, INFINITY, 0};
  fixture_init(&f);
  add_box(&f, 0.5, 0.4, 0.3);
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    FloSampleOptions options = {.spacing = bad[k]};
    assert_refused(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error, "spacing");
    if (bad[k] == 0) continue;
    options = (FloSampleOptions){.spacing = 0.1, .inset = bad[k]};
    assert_refused(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error, "inset");
  }
  FloSampleOptions options = {.spacing = 0.1, .layers = -1};
  assert_refused(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error, "layers");
  fixture_free(&f);
}

// More samples than anyone can hold must end in an error before they are made.
static void test_absurd_numbers_are_refused(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  add_box(&f, 0.5, 0.4, 0.3);
  for (double spacing = 1e-5; spacing > 1e-300; spacing *= 1e-10) {
    FloSampleOptions options = {.spacing = spacing};
    assert_refused(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error, "spacing");
  }
  flo_mesh_vertex(&f.mesh, 3)[1] = NAN;
  FloSampleOptions options = {.spacing = 0.1};
  assert_refused(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error, "finite");
  fixture_free(&f);
}

static void test_an_empty_mesh_has_no_samples(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.1, .inset = 0.05, .layers = 3, .relax = true});
  assert_int_equal(f.points.count, 0);
  fixture_free(&f);
}

// Every allocation fails once; each time the call says so and leaves nothing behind.
static void test_sampling_without_memory_says_so(void **state) {
  (void)state;
  FloSampleOptions options = {.spacing = 0.05, .inset = 0.025, .layers = 2, .relax = true};
  for (size_t fail_at = 1;; ++fail_at) {
    Fixture f;
    FloError error;
    fixture_init(&f);
    mesh_add_sphere(&f.mesh, 0.3, 8);
    f.counter.fail_at = f.counter.n_calls + fail_at;
    FloStatus status = flo_sample_surface(&f.mesh, &options, &f.points, &error);
    bool is_past = f.counter.n_calls < f.counter.fail_at;
    if (!is_past) assert_fails(status, FLO_NO_MEMORY, &error, "memory");
    fixture_free(&f);
    if (!is_past) continue;
    assert_int_equal(status, FLO_OK);
    assert_true(fail_at > 10);
    return;
  }
}

// Triangles much finer than the spacing: walks inwards begin where candidates are thinned, not at each
// corner.
static void test_fine_meshes_are_sampled_in_no_time(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  assert_ok(flo_mesh_sphere(0.25, 0.004, &f.mesh, &error), &error);
  assert_true(f.mesh.n_triangles > 80000);
  clock_t start = clock();
  fixture_sample(&f, (FloSampleOptions){.spacing = 0.25, .inset = 0.125, .layers = 1});
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("%zu triangles take %.2f s for %zu samples\n", f.mesh.n_triangles, seconds, f.points.count);
  assert_true(f.points.count >= 4);
  for (size_t k = 0; k < f.points.count; ++k)
    assert_close(vec_length(flo_points_at(&f.points, k)), 0.125, 1e-3);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fine_meshes_are_sampled_in_no_time),
      cmocka_unit_test(test_a_square_lattice_lies_within_the_range),
      cmocka_unit_test(test_sheets_of_any_fineness),
      cmocka_unit_test(test_sheets_of_needles),
      cmocka_unit_test(test_irregular_sheets),
      cmocka_unit_test(test_closed_bodies),
      cmocka_unit_test(test_degenerate_triangles_do_no_harm),
      cmocka_unit_test(test_a_segment_and_a_point_are_sampled),
      cmocka_unit_test(test_single_triangles),
      cmocka_unit_test(test_soups_have_the_right_density),
      cmocka_unit_test(test_samples_lie_on_the_surface_and_at_the_corners),
      cmocka_unit_test(test_samples_leave_no_holes),
      cmocka_unit_test(test_the_number_of_samples_is_the_area),
      cmocka_unit_test(test_points_are_added_to_those_there),
      cmocka_unit_test(test_far_apart_parts_do_not_disturb_each_other),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_absurd_numbers_are_refused),
      cmocka_unit_test(test_an_empty_mesh_has_no_samples),
      cmocka_unit_test(test_sampling_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
