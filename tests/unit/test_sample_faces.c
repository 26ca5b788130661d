// Samples of flat faces: sums of the kernel must not tell where the triangles of a face meet.
#include "geometry/solid_meshes.h"
#include "sph/kernel_form.h"
#include "support/geometry.h"

// A rectangle: a corner, and the two sides that begin there.
typedef struct Face {
  double corner[3], along[3], across[3];
} Face;

typedef enum Body { PLANE, BOX, RAMP, WEDGE, N_BODIES } Body;
static const char *const names[] = {"plane", "box", "ramp", "wedge"};
static const double size[3] = {1, 0.83, 0.77};

static Face make_body(Fixture *f, Body body) {
  const double x = size[0] / 2, y = size[1] / 2, z = size[2] / 2;
  FloError error;
  switch (body) {
  case PLANE:
    assert_ok(flo_mesh_plane(size[0], size[1], size[2], 1, &f->mesh, &error), &error);
    return (Face){{-x, -y, 0}, {2 * x, 0, 0}, {0, 2 * y, 0}};
  case BOX:
    assert_ok(flo_mesh_box(size, 1, &f->mesh, &error), &error);
    return (Face){{-x, -y, -z}, {0, 0, 2 * z}, {0, 2 * y, 0}};
  case RAMP:
    assert_ok(flo_mesh_ramp(size[0], size[1], size[2], 1, &f->mesh, &error), &error);
    return (Face){{-x, -y, -z}, {2 * x, 0, 2 * z}, {0, 2 * y, 0}};
  default:
    assert_ok(flo_mesh_wedge(size, 1, &f->mesh, &error), &error);
    return (Face){{-x, -y, -z}, {x, 0, 2 * z}, {0, 2 * y, 0}};
  }
}

static double kernel_sum(const Fixture *f, const double p[3], double spacing) {
  const FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, 2 * spacing);
  double sum = 0;
  for (size_t k = 0; k < f->points.count; ++k) {
    double d[3];
    vec_sub(flo_points_at(&f->points, k), p, d);
    if (vec_dot(d, d) < 4 * spacing * spacing) sum += flo_kernel_w(&kernel, vec_length(d));
  }
  return sum;
}

// Of the sums times spacing^3.
typedef struct Range {
  double min, mean, max;
  size_t n;
} Range;

static void add_to_range(Range *range, double value) {
  if (!range->n) range->min = INFINITY, range->max = -INFINITY;
  range->min = fmin(range->min, value), range->max = fmax(range->max, value);
  range->mean += (value - range->mean) / (double)++range->n;
}

// Where a point is: how far from the nearest border along the face and across it, and how high above it [m].
typedef struct Spot {
  double along, across, height;
} Spot;

static Spot spot_of(const Face *face, const double p[3]) {
  double d[3], normal[3], length = vec_length(face->along), width = vec_length(face->across);
  vec_sub(p, face->corner, d);
  vec_cross(face->along, face->across, normal);
  double x = vec_dot(d, face->along) / length, y = vec_dot(d, face->across) / width;
  return (Spot){fmin(x, length - x), fmin(y, width - y), vec_dot(d, normal) / vec_length(normal)};
}

// At the samples of the face, as a body's own volume is found, and one spacing above them, as a fluid feels
// them; further from the borders than the faces beyond them reach. Those of a ramp are sharp.
static void measure(const Fixture *f, const Face *face, double inset, double s, Range *own, Range *above) {
  double normal[3], q[3];
  vec_cross(face->along, face->across, normal);
  vec_scale(normal, 1 / vec_length(normal), normal);
  for (size_t k = 0; k < f->points.count; ++k) {
    const double *p = flo_points_at(&f->points, k);
    Spot spot = spot_of(face, p);
    bool is_middle = spot.along > 6.5 * s && spot.across > 3 * s;
    if (!is_middle || fabs(spot.height + inset) > 1e-3 * s) continue;
    vec_add_scaled(p, normal, s, q);
    add_to_range(own, kernel_sum(f, p, s) * s * s * s);
    add_to_range(above, kernel_sum(f, q, s) * s * s * s);
  }
}

// What a lattice of steps a and b adds up to.
static double lattice_sum(double a, double b, double s) {
  const FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, 2 * s);
  double sum = 0;
  for (int i = -3; i <= 3; ++i)
    for (int j = -3; j <= 3; ++j)
      if (hypot(i * a, j * b) < 2 * s) sum += flo_kernel_w(&kernel, hypot(i * a, j * b));
  return sum * s * s * s;
}

static void check_face(Body body, double s, double inset) {
  Fixture f;
  FloError error;
  Range own = {0}, above = {0};
  fixture_init(&f);
  Face face = make_body(&f, body);
  FloSampleOptions options = {.spacing = s, .inset = inset};
  assert_ok(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error);
  measure(&f, &face, inset, s, &own, &above);
  // Steps are a little different from a spacing, because they divide the sides evenly.
  print_message("%-5s spacing %.4f inset %.4f: %4zu samples, own %.3f %.3f %.3f, above %.3f %.3f %.3f\n",
                names[body], s, inset, own.n, own.min, own.mean, own.max, above.min, above.mean, above.max);
  assert_true(own.n > 4);
  assert_true(own.max < 1.08 * own.mean && own.min > 0.92 * own.mean);
  assert_true(above.max < 1.08 * above.mean && above.min > 0.92 * above.mean);
  assert_true(own.mean > lattice_sum(1.06 * s, 1.06 * s, s) && own.mean < lattice_sum(0.9 * s, 0.9 * s, s));
  fixture_free(&f);
}

static void test_faces_have_no_seams(void **state) {
  (void)state;
  static const double spacings[] = {0.0532, 0.0417, 0.0371, 0.0293};
  for (Body body = PLANE; body < N_BODIES; ++body)
    for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k)
      for (int half = 0; half <= 1; ++half) check_face(body, spacings[k], half * spacings[k] / 2);
}

// ---- Other flat faces ----

static double distance_to_next(const FloPoints *points, const double p[3]) {
  double nearest = INFINITY;
  for (size_t k = 0; k < points->count; ++k) {
    double d[3];
    vec_sub(flo_points_at(points, k), p, d);
    if (vec_length(d) > 0) nearest = fmin(nearest, vec_length(d));
  }
  return nearest;
}

// However a rectangle is cut: along either diagonal, around its middle, or into strips.
static void add_rectangle(FloMesh *mesh, int cut, double x, double y) {
  uint32_t a = mesh_add_vertex(mesh, 0, 0, 0), b = mesh_add_vertex(mesh, x, 0, 0),
           c = mesh_add_vertex(mesh, x, y, 0), d = mesh_add_vertex(mesh, 0, y, 0);
  if (cut == 0) mesh_add_triangle(mesh, a, b, c), mesh_add_triangle(mesh, a, c, d);
  if (cut == 1) mesh_add_triangle(mesh, a, b, d), mesh_add_triangle(mesh, b, c, d);
  if (cut < 2) return;
  uint32_t middle = mesh_add_vertex(mesh, 0.37 * x, 0.55 * y, 0);
  mesh_add_triangle(mesh, a, b, middle), mesh_add_triangle(mesh, b, c, middle);
  mesh_add_triangle(mesh, c, d, middle), mesh_add_triangle(mesh, d, a, middle);
}

// The samples are the points of the lattice that the sides begin, whatever the triangles.
static void test_cuts_do_not_matter(void **state) {
  (void)state;
  const double s = 0.1, x = 1.23, y = 0.94; // 12 steps of 1.025 spacings and 10 of 0.94: one may be up to 1.3
  for (int cut = 0; cut < 3; ++cut) {
    Fixture f;
    FloError error;
    FloSampleOptions options = {.spacing = s};
    fixture_init(&f);
    add_rectangle(&f.mesh, cut, x, y);
    assert_ok(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error);
    assert_int_equal(f.points.count, 13 * 11);
    for (size_t k = 0; k < f.points.count; ++k) {
      const double *p = flo_points_at(&f.points, k);
      double i = p[0] / x * 12, j = p[1] / y * 10;
      assert_close(i, round(i), 1e-9);
      assert_close(j, round(j), 1e-9);
      assert_close(distance_to_next(&f.points, p), y / 10, 1e-9);
    }
    fixture_free(&f);
  }
}

// A fold of a thousandth is an edge: it gets samples, all of them on the surface.
static void test_folds_are_not_flat(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  FloSampleOptions options = {.spacing = 0.1};
  size_t n_on_fold = 0;
  fixture_init(&f);
  uint32_t a = mesh_add_vertex(&f.mesh, 0, 0, 0), b = mesh_add_vertex(&f.mesh, 1, 0, 1e-3),
           c = mesh_add_vertex(&f.mesh, 1, 1, 0), d = mesh_add_vertex(&f.mesh, 0, 1, 1e-3);
  mesh_add_triangle(&f.mesh, a, b, c), mesh_add_triangle(&f.mesh, a, c, d);
  assert_ok(flo_sample_surface(&f.mesh, &options, &f.points, &error), &error);
  for (size_t k = 0; k < f.points.count; ++k) {
    const double *p = flo_points_at(&f.points, k);
    assert_close(p[2], 1e-3 * fabs(p[0] - p[1]), 1e-12);
    n_on_fold += fabs(p[0] - p[1]) < 1e-12;
  }
  assert_true(n_on_fold >= 14);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faces_have_no_seams),
      cmocka_unit_test(test_cuts_do_not_matter),
      cmocka_unit_test(test_folds_are_not_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
