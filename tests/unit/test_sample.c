// Samples of surfaces: how densely they lie, whatever the triangles, and that they lie on the surface.
#include "base/vecmath.h"
#include "geometry/figures.h"
#include "geometry/mesh_io.h"
#include "geometry/sample.h"
#include "geometry/solid_meshes.h"
#include "sph/kernel_form.h"
#include "support/check.h"

#include <stdlib.h>

typedef struct Fixture {
  FloMemory memory;
  FloMesh mesh;
  FloPoints points;
} Fixture;

static void fixture_init(Fixture *f) {
  *f = (Fixture){0};
  flo_memory_init(&f->memory, NULL);
  flo_mesh_init(&f->mesh, &f->memory);
  f->points.memory = &f->memory;
}

static void fixture_free(Fixture *f) {
  flo_points_free(&f->points);
  flo_mesh_free(&f->mesh);
  assert_int_equal(f->memory.bytes, 0);
}

typedef struct Density {
  double low, mean, high; // in units of 1/H^3
} Density;

static int compare_x(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// sum_j W(x_i - x_j), itself included, with the cubic spline and H = 2 spacing. Sorted along x, so that a
// sweep finds the neighbours.
static Density number_density(FloPoints *points, double spacing) {
  double h = 2 * spacing, sum = 0;
  FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, h);
  Density d = {INFINITY, 0, 0};
  qsort(points->buffer.data, points->count, 3 * sizeof(double), compare_x);
  for (size_t i = 0; i < points->count; ++i) {
    const double *x = flo_points_at(points, i);
    double rho = flo_kernel_w(&kernel, 0);
    for (int side = -1; side <= 1; side += 2)
      for (size_t j = i + (size_t)side; j < points->count; j += (size_t)side) {
        double between[3];
        vec_sub(flo_points_at(points, j), x, between);
        if (fabs(between[0]) > h) break;
        rho += flo_kernel_w(&kernel, vec_length(between));
      }
    rho *= h * h * h;
    d.low = fmin(d.low, rho), d.high = fmax(d.high, rho);
    sum += rho;
  }
  d.mean = sum / (double)points->count;
  return d;
}

static void check_density(Fixture *f, const char *name, double spacing) {
  FloError error;
  FloSampleOptions options = {.spacing = spacing};
  f->points.count = 0;
  assert_ok(flo_sample_surface(&f->mesh, &options, &f->points, &error), &error);
  Density d = number_density(&f->points, spacing);
  print_message("%s, spacing %.3g: %zu samples, density %.2f to %.2f, mean %.2f / H^3\n", name, spacing,
                f->points.count, d.low, d.high, d.mean);
  assert_true(d.low >= 3.6 && d.high <= 10);
}

static void test_density_on_shapes(void **state) {
  (void)state;
  FloError error;
  const double finenesses[] = {0.02, 0.05, 0.2};
  for (size_t k = 0; k < FLO_COUNT_OF(finenesses); ++k)
    for (int shape = 0; shape < 6; ++shape) {
      static const char *const names[] = {"box", "sphere", "cylinder", "torus", "cone", "duck"};
      Fixture f;
      double fineness = finenesses[k];
      fixture_init(&f);
      FloStatus status = shape == 0   ? flo_mesh_box((double[]){1, 0.7, 0.4}, fineness, &f.mesh, &error)
                         : shape == 1 ? flo_mesh_sphere(0.5, fineness, &f.mesh, &error)
                         : shape == 2 ? flo_mesh_cylinder(0.3, 1, fineness, &f.mesh, &error)
                         : shape == 3 ? flo_mesh_torus(0.5, 0.2, fineness, &f.mesh, &error)
                         : shape == 4 ? flo_mesh_cone(0.4, 0.1, 0.8, fineness, &f.mesh, &error)
                                      : flo_mesh_duck(1, fineness, &f.mesh, &error);
      assert_ok(status, &error);
      check_density(&f, names[shape], 0.05);
      fixture_free(&f);
    }
}

// A box whose faces are cut into slivers.
static void test_density_on_needles(void **state) {
  (void)state;
  FloError error;
  Fixture f;
  fixture_init(&f);
  enum { N = 400 };
  assert_ok(flo_mesh_box((double[]){1, 1, 1}, 1, &f.mesh, &error), &error);
  // A fan of needles on top, over the face that is there already.
  double apex[3] = {-0.5, -0.5, 0.5};
  uint32_t first, previous = 0;
  assert_ok(flo_mesh_add_vertex(&f.mesh, apex, &first, &error), &error);
  for (int k = 0; k <= N; ++k) {
    double p[3] = {0.5, -0.5 + (double)k / N, 0.5};
    uint32_t index;
    assert_ok(flo_mesh_add_vertex(&f.mesh, p, &index, &error), &error);
    if (k) assert_ok(flo_mesh_add_triangle(&f.mesh, first, previous, index, &error), &error);
    previous = index;
  }
  // And some that have no area at all.
  for (uint32_t k = 0; k < 5; ++k) assert_ok(flo_mesh_add_triangle(&f.mesh, k, k, k + 1, &error), &error);
  check_density(&f, "needles", 0.05);
  fixture_free(&f);
}

static void test_density_on_reference_meshes(void **state) {
  (void)state;
  const char *root = getenv("FLOTSAM_SOURCE");
  static const char *const names[] = {"discregrid_dragon.obj", "mujoco_spot_cow.obj", "pbd_bunny_10k.obj",
                                      "trixi_gear.stl", "trixi_pipe.stl"};
  for (size_t k = 0; root && k < FLO_COUNT_OF(names); ++k) {
    char path[1024];
    FloError error;
    Fixture f;
    snprintf(path, sizeof path, "%s/../shared/reference/meshes/%s", root, names[k]);
    fixture_init(&f);
    if (flo_mesh_read(path, &f.mesh, &error) != FLO_OK) {
      print_message("no reference meshes here: %s\n", error.text);
      skip();
    }
    double low[3], high[3], extent = 0;
    flo_mesh_bounds(&f.mesh, low, high);
    for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, high[axis] - low[axis]);
    check_density(&f, names[k], extent / 40);
    fixture_free(&f);
  }
}

static void test_samples_lie_on_the_surface_or_below_it(void **state) {
  (void)state;
  FloError error;
  Fixture f;
  fixture_init(&f);
  assert_ok(flo_mesh_sphere(0.5, 0.05, &f.mesh, &error), &error);
  for (int k = 0; k < 3; ++k) {
    FloSampleOptions options = {.spacing = 0.05, .inset = 0.025 * k, .relax = k == 1};
    f.points.count = 0;
    assert_ok(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error);
    for (size_t i = 0; i < f.points.count; ++i)
      assert_close(vec_length(flo_points_at(&f.points, i)), 0.5 - 0.025 * k, 0.002);
  }
  FloSampleOptions layered = {.spacing = 0.05, .inset = 0.025, .layers = 3};
  f.points.count = 0;
  assert_ok(flo_sample_surface(&f.mesh, &layered, &f.points, &error), &error);
  size_t n_in_layer[3] = {0};
  for (size_t i = 0; i < f.points.count; ++i) {
    double depth = (0.5 - vec_length(flo_points_at(&f.points, i))) / 0.05;
    int layer = (int)depth;
    assert_true(layer >= 0 && layer < 3 && fabs(depth - layer - 0.5) < 0.2);
    n_in_layer[layer]++;
  }
  // Further in there is less surface.
  assert_true(n_in_layer[0] > n_in_layer[1] && n_in_layer[1] > n_in_layer[2] && n_in_layer[2] > 100);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_density_on_shapes),
      cmocka_unit_test(test_density_on_needles),
      cmocka_unit_test(test_density_on_reference_meshes),
      cmocka_unit_test(test_samples_lie_on_the_surface_or_below_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
