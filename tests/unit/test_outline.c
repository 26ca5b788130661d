// Outlines: distances against brute force, measures against formulas, triangles that cover a polygon exactly,
// meshes, samples, and what is refused.
#include "geometry/outline.h"

#include "geometry/mesh_io.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"
#include "support/manifold.h"
#include "support/random.h"

#include <time.h>

#define S 0.02

typedef struct Polygon {
  double points[400];
  size_t n;
} Polygon;

static void put(Polygon *polygon, double x, double y) {
  polygon->points[2 * polygon->n] = x, polygon->points[2 * polygon->n++ + 1] = y;
}

static Polygon polygon_of(size_t n, const double *points) {
  Polygon polygon = {.n = n};
  memcpy(polygon.points, points, 2 * n * sizeof *points);
  return polygon;
}

#define POLYGON(...)                                                                                         \
  polygon_of(sizeof((const double[]){__VA_ARGS__}) / sizeof(double) / 2, (const double[]){__VA_ARGS__})

static Polygon reversed(const Polygon *polygon) {
  Polygon other = {0};
  for (size_t k = polygon->n; k-- > 0;) put(&other, polygon->points[2 * k], polygon->points[2 * k + 1]);
  return other;
}

static Polygon ell(void) { return POLYGON(0, 0, 0.6, 0, 0.6, 0.2, 0.2, 0.2, 0.2, 0.5, 0, 0.5); }

static Polygon star(size_t n_tips, double inner) {
  Polygon polygon = {0};
  for (size_t k = 0; k < 2 * n_tips; ++k) {
    double angle = FLO_PI * (double)k / (double)n_tips, r = k % 2 ? inner : 1;
    put(&polygon, r * cos(angle), r * sin(angle));
  }
  return polygon;
}

// Teeth with straight corners along the back.
static Polygon comb(size_t n_teeth) {
  Polygon polygon = {0};
  for (size_t k = 0; k <= 2 * n_teeth; ++k) put(&polygon, (double)k, 0);
  for (size_t k = 2 * n_teeth + 1; k-- > 0;) put(&polygon, (double)k, k % 2 ? 3 : 1);
  return polygon;
}

static Polygon spiral(void) {
  Polygon polygon = {0};
  for (size_t k = 0; k < 60; ++k)
    put(&polygon, (1 + 0.1 * (double)k) * cos(0.25 * (double)k),
        (1 + 0.1 * (double)k) * sin(0.25 * (double)k));
  for (size_t k = 60; k-- > 0;)
    put(&polygon, (0.8 + 0.1 * (double)k) * cos(0.25 * (double)k),
        (0.8 + 0.1 * (double)k) * sin(0.25 * (double)k));
  return polygon;
}

// ---- Measures ----

// Known by formula: an L of two rectangles, a regular hexagon, a triangle.
static void test_area_centre_and_second_moment(void **state) {
  (void)state;
  FloMassProperties m;
  Polygon l = ell();
  const double a1 = 0.6 * 0.2, a2 = 0.2 * 0.3, area = a1 + a2;
  const double cx = (a1 * 0.3 + a2 * 0.1) / area, cy = (a1 * 0.1 + a2 * 0.35) / area;
  const double jx =
      a1 * (0.2 * 0.2 / 12 + (0.1 - cy) * (0.1 - cy)) + a2 * (0.3 * 0.3 / 12 + (0.35 - cy) * (0.35 - cy));
  const double jy =
      a1 * (0.6 * 0.6 / 12 + (0.3 - cx) * (0.3 - cx)) + a2 * (0.2 * 0.2 / 12 + (0.1 - cx) * (0.1 - cx));
  for (int is_turned = 0; is_turned < 2; ++is_turned) {
    assert_close(flo_outline_area(l.points, l.n), is_turned ? -area : area, 1e-15);
    assert_close(flo_outline_length(l.points, l.n), 2 * (0.6 + 0.5), 1e-15);
    flo_outline_mass(l.points, l.n, 3, &m);
    assert_close(m.volume, area, 1e-12);
    assert_close_3(m.centre, ((double[3]){cx, cy, 0}), 1e-12);
    assert_close(m.inertia[0], 3 * jx, 1e-12);
    assert_close(m.inertia[1], 3 * jy, 1e-12);
    assert_close(m.inertia[2], 3 * (jx + jy), 1e-12);
    l = reversed(&l);
  }
  Polygon hexagon = star(3, 1);
  flo_outline_mass(hexagon.points, hexagon.n, 1, &m);
  assert_close(m.volume, 1.5 * sqrt(3), 1e-12);
  assert_close(m.inertia[2], 5 * sqrt(3) / 8, 1e-12);
}

// ---- Distances ----

// Points on the sides, close to each other, stand for the outline; the sign is the sum of the angles under
// which the sides are seen.
static double slow_distance(const Polygon *polygon, const double p[2]) {
  double nearest = INFINITY, angle = 0;
  for (size_t k = 0; k < polygon->n; ++k) {
    const double *a = polygon->points + 2 * k, *b = polygon->points + 2 * ((k + 1) % polygon->n);
    for (int i = 0; i <= 400; ++i)
      nearest =
          fmin(nearest, hypot(a[0] + (b[0] - a[0]) * i / 400 - p[0], a[1] + (b[1] - a[1]) * i / 400 - p[1]));
    double u[2] = {a[0] - p[0], a[1] - p[1]}, v[2] = {b[0] - p[0], b[1] - p[1]};
    angle += atan2(u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]);
  }
  return fabs(angle) > FLO_PI ? -nearest : nearest;
}

static void test_distances_agree_with_brute_force(void **state) {
  (void)state;
  Random random = {7};
  Polygon all[] = {ell(), star(7, 0.4), comb(3), spiral()};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k)
    for (int is_turned = 0; is_turned < 2; ++is_turned) {
      Polygon polygon = is_turned ? reversed(&all[k]) : all[k];
      double low[2], high[2];
      flo_outline_bounds(polygon.points, polygon.n, low, high);
      for (int n_tried = 0; n_tried < 500; ++n_tried) {
        double p[2];
        for (int axis = 0; axis < 2; ++axis)
          p[axis] = random_between(&random, low[axis] - 0.3, high[axis] + 0.3);
        double expected = slow_distance(&polygon, p),
               found = flo_outline_distance(polygon.points, polygon.n, p);
        if (fabs(expected) > 0.02) {
          assert_close(found, expected, 0.002);
          assert_true(flo_outline_contains(polygon.points, polygon.n, p) == (expected < 0));
        }
      }
    }
}

static void test_distances_at_chosen_points(void **state) {
  (void)state;
  Polygon l = ell();
  const double known[][3] = {{0.1, 0.1, -0.1}, {0.3, 0.1, -0.1},  {0.4, 0.4, hypot(0.2, 0)},
                             {0.3, 0.3, 0.1},  {-0.3, -0.4, 0.5}, {0.15, 0.15, -hypot(0.05, 0.05)},
                             {0.6, 0.1, 0},    {0.2, 0.2, 0}};
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k)
    assert_close(flo_outline_distance(l.points, l.n, known[k]), known[k][2], 1e-12);
}

// ---- Triangles ----

static double triangle_area(const Polygon *polygon, const uint32_t *t) {
  const double *a = polygon->points + 2 * t[0], *b = polygon->points + 2 * t[1],
               *c = polygon->points + 2 * t[2];
  return ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
}

// All counter-clockwise, none without area, the middles inside, and together as large as the polygon: so they
// cover it and do not overlap.
static void check_triangles(const Polygon *polygon) {
  uint32_t triangles[3 * 198];
  FloError error;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  assert_ok(flo_outline_check(polygon->points, polygon->n, &error), &error);
  assert_ok(flo_outline_cut(polygon->points, polygon->n, &memory, triangles, &error), &error);
  double sum = 0, whole = fabs(flo_outline_area(polygon->points, polygon->n));
  for (size_t k = 0; k + 2 < polygon->n; ++k) {
    const uint32_t *t = triangles + 3 * k;
    double area = triangle_area(polygon, t), middle[2] = {0};
    assert_true(area > 1e-9 * whole);
    sum += area;
    for (int i = 0; i < 3; ++i)
      for (int axis = 0; axis < 2; ++axis) middle[axis] += polygon->points[2 * t[i] + (uint32_t)axis] / 3;
    assert_true(flo_outline_contains(polygon->points, polygon->n, middle));
  }
  assert_close(sum, whole, 1e-12 * whole);
  assert_int_equal(memory.bytes, 0);
}

static void test_triangles_cover_the_polygon(void **state) {
  (void)state;
  Polygon all[] = {
      ell(), star(3, 1), star(5, 0.2), star(40, 0.7), comb(4), comb(40), spiral(), POLYGON(0, 0, 1, 0, 0, 1),
      POLYGON(0, 0, 2, 0, 0.5, 0.5, 0, 2),
      // Straight corners on every side, so that a fan would hold triangles without area.
      POLYGON(0, 0, 0.1, 0, 0.2, 0, 0.3, 0, 0.3, 0.1, 0.3, 0.3, 0.2, 0.3, 0, 0.3, 0, 0.2, 0, 0.1)};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k) {
    Polygon other = reversed(&all[k]);
    check_triangles(&all[k]);
    check_triangles(&other);
  }
}

// Polygons that are star-shaped as seen from the origin are simple, however their corners are drawn.
static void test_triangles_of_polygons_at_random(void **state) {
  (void)state;
  Random random = {11};
  for (int n_tried = 0; n_tried < 300; ++n_tried) {
    Polygon polygon = {0};
    size_t n = 4 + (size_t)n_tried % 60;
    for (size_t k = 0; k < n; ++k) {
      double angle = 2 * FLO_PI * ((double)k + random_between(&random, 0, 0.6)) / (double)n,
             r = random_between(&random, 0.1, 1);
      put(&polygon, 100 + r * cos(angle), r * sin(angle) - 50);
    }
    check_triangles(&polygon);
  }
}

// Whatever it is, it is cut into as many triangles, and that does not take for ever.
static void test_crossed_polygons_do_no_harm(void **state) {
  (void)state;
  enum { MANY = 1500 };
  Random random = {3};
  FloError error;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  double *points = malloc(2 * MANY * sizeof *points);
  uint32_t *triangles = malloc(3 * MANY * sizeof *triangles);
  assert_non_null(points);
  assert_non_null(triangles);
  for (size_t k = 0; k < 2 * MANY; ++k) points[k] = random_between(&random, -1, 1);
  assert_ok(flo_outline_cut(points, MANY, &memory, triangles, &error), &error);
  for (size_t k = 0; k < 3 * (MANY - 2); ++k) assert_true(triangles[k] < MANY);
  const double same[8] = {0};
  assert_ok(flo_outline_cut(same, 4, &memory, triangles, &error), &error);
  free(points);
  free(triangles);
}

// ---- Meshes ----

static void test_prisms_are_closed_and_weigh_what_they_should(void **state) {
  (void)state;
  Polygon all[] = {ell(), star(9, 0.5), comb(5), spiral()};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k)
    for (int is_turned = 0; is_turned < 2; ++is_turned) {
      Polygon polygon = is_turned ? reversed(&all[k]) : all[k];
      Fixture fixture;
      FloError error;
      fixture_init(&fixture);
      FloShape shape = {FLO_SHAPE_OUTLINE, .size = {0.25}, .points = polygon.points, .n_points = polygon.n};
      assert_ok(flo_shape_mesh(&shape, S, 0, &fixture.mesh, &error), &error);
      check_manifold(&fixture.mesh);
      FloMassProperties flat, solid;
      flo_outline_mass(polygon.points, polygon.n, 1, &flat);
      flo_mesh_mass(&fixture.mesh, 1, &solid);
      assert_close(solid.volume, 0.25 * flat.volume, 1e-9 * flat.volume);
      assert_close_3(solid.centre, flat.centre, 1e-9);
      assert_close(solid.inertia[2], 0.25 * flat.inertia[2], 1e-9 * flat.inertia[2]);
      fixture_free(&fixture);
    }
}

static void test_a_flat_outline_becomes_a_sheet(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  Polygon polygon = ell();
  double area = 0, normal[3];
  fixture_init(&fixture);
  FloShape shape = {FLO_SHAPE_OUTLINE, .points = polygon.points, .n_points = polygon.n};
  assert_ok(flo_shape_mesh(&shape, S, 0, &fixture.mesh, &error), &error);
  assert_int_equal(fixture.mesh.n_triangles, polygon.n - 2);
  for (size_t k = 0; k < fixture.mesh.n_triangles; ++k) {
    triangle_normal(&fixture.mesh, k, normal);
    assert_true(normal[2] > 0);
    area += normal[2] / 2;
  }
  assert_close(area, flo_outline_area(polygon.points, polygon.n), 1e-12);
  fixture_free(&fixture);
}

// ---- Faces of files ----

typedef FloStatus Parser(const char *, const unsigned char *, size_t, FloMesh *, FloError *);

static FloStatus parse(Parser *parser, const char *text, Fixture *fixture, FloError *error) {
  fixture_init(fixture);
  return parser("file", (const unsigned char *)text, strlen(text), &fixture->mesh, error);
}

// Its triangles look where the polygon looks and add up to its area, which those of a fan do not.
static void check_face(const FloMesh *mesh, size_t n_triangles, const double normal[3], double area) {
  double sum = 0, own[3];
  assert_int_equal(mesh->n_triangles, n_triangles);
  for (size_t k = 0; k < n_triangles; ++k) {
    triangle_normal(mesh, k, own);
    assert_true(vec_dot(own, normal) > 0.01 * area);
    sum += vec_length(own) / 2;
  }
  assert_close(sum, area, 1e-12);
}

// An L with a straight corner, in three planes and both senses of rotation. In the PLY file faces come first.
static void test_concave_faces_are_cut_along_their_inside(void **state) {
  (void)state;
  static const double corners[7][2] = {{0, 0}, {1.5, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  for (int axis = 0; axis < 3; ++axis)
    for (int is_turned = 0; is_turned < 2; ++is_turned) {
      char lines[2][400] = {"", ""}, file[1000];
      double normal[3] = {0};
      normal[axis] = is_turned ? -1 : 1;
      for (int k = 0; k < 7; ++k) {
        double p[3] = {0};
        const double *corner = corners[is_turned ? 6 - k : k];
        p[(axis + 1) % 3] = corner[0], p[(axis + 2) % 3] = corner[1];
        for (int is_obj = 0; is_obj < 2; ++is_obj) {
          size_t length = strlen(lines[is_obj]);
          snprintf(lines[is_obj] + length, sizeof lines[0] - length, "%s%g %g %g\n", is_obj ? "v " : "", p[0],
                   p[1], p[2]);
        }
      }
      Fixture fixture;
      FloError error;
      snprintf(file, sizeof file, "%sf 1 2 3 4 5 6 7\n", lines[1]);
      assert_ok(parse(flo_mesh_parse_obj, file, &fixture, &error), &error);
      check_face(&fixture.mesh, 5, normal, 5);
      fixture_free(&fixture);
      snprintf(file, sizeof file,
               "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\n"
               "element vertex 7\nproperty double x\nproperty double y\nproperty double z\n"
               "end_header\n7 0 1 2 3 4 5 6\n%s",
               lines[0]);
      assert_ok(parse(flo_mesh_parse_ply, file, &fixture, &error), &error);
      check_face(&fixture.mesh, 5, normal, 5);
      fixture_free(&fixture);
    }
}

// A prism with concave ends, as modellers export it: closed, and of the right volume.
static void test_a_solid_with_concave_faces_is_closed(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  assert_ok(
      parse(flo_mesh_parse_obj,
            "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 2 1\nv 1 0.5 1\nv 0 2 1\n"
            "f 5 4 3 2 1\nf 6 7 8 9 10\nf 1 2 7 6\nf 2 3 8 7\nf 3 4 9 8\nf 4 5 10 9\nf 5 1 6 10\n",
            &fixture, &error),
      &error);
  check_manifold(&fixture.mesh);
  assert_close(mesh_volume(&fixture.mesh), 4 - 1.5, 1e-12);
  fixture_free(&fixture);
}

// A ring of many corners, of which every other may stand further in; the caller frees the text.
static char *ring_text(int n, double inner) {
  char *text = malloc(80 * (size_t)n);
  assert_non_null(text);
  char *at = text;
  for (int k = 0; k < n; ++k) {
    double r = k % 2 ? inner : 1, angle = 2 * FLO_PI * k / n;
    at += sprintf(at, "v %.15g %.15g 0\n", r * cos(angle), r * sin(angle));
  }
  at += sprintf(at, "f");
  for (int k = 0; k < n; ++k) at += sprintf(at, " %d", k + 1);
  return text;
}

// Faces without area, or that cross themselves, have as many triangles as ever; more corners than can be cut
// up are refused, unless a fan will do.
static void test_odd_faces(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  const char *odd = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 0 1 0\nf 1 2 3 4\nf 1 1 1 1 1\nf 1 5 2 4 3";
  assert_ok(parse(flo_mesh_parse_obj, odd, &fixture, &error), &error);
  assert_int_equal(fixture.mesh.n_triangles, 2 + 3 + 3);
  fixture_free(&fixture);
  char *round = ring_text(10001, 1), *jagged = ring_text(10001, 0.5);
  assert_ok(parse(flo_mesh_parse_obj, round, &fixture, &error), &error);
  fixture_free(&fixture);
  assert_refused(parse(flo_mesh_parse_obj, jagged, &fixture, &error), &error,
                 "file: line 10002: a face with 10001 corners is not convex");
  fixture_free(&fixture);
  free(round);
  free(jagged);
}

// ---- Samples ----

typedef struct Samples {
  FloMemory memory;
  FloPoints points;
} Samples;

static void sample(Samples *samples, const Polygon *polygon, double inset, int layers) {
  FloError error;
  flo_memory_init(&samples->memory, NULL);
  samples->points = (FloPoints){.memory = &samples->memory};
  assert_ok(flo_outline_sample(polygon->points, polygon->n, S, inset, layers, &samples->points, &error),
            &error);
}

static void samples_free(Samples *samples) {
  flo_points_free(&samples->points);
  assert_int_equal(samples->memory.bytes, 0);
}

static double nearest_sample(const FloPoints *points, const double p[2], size_t except) {
  double best = INFINITY;
  for (size_t k = 0; k < points->count; ++k) {
    const double *q = flo_points_at(points, k);
    if (k != except) best = fmin(best, hypot(q[0] - p[0], q[1] - p[1]));
  }
  return best;
}

static void scale(Polygon *polygon, double factor) {
  for (size_t k = 0; k < 2 * polygon->n; ++k) polygon->points[k] *= factor;
}

// Every sample stands at its depth, none too near to another, and no place of the sides is far from one.
static void check_layer(const Polygon *polygon, double inset) {
  Samples samples;
  sample(&samples, polygon, inset, 1);
  for (size_t k = 0; k < samples.points.count; ++k) {
    const double *p = flo_points_at(&samples.points, k);
    double depth = -flo_outline_distance(polygon->points, polygon->n, p);
    assert_true(depth > -1e-9 * S && depth < inset * (1 + 1e-6));
    assert_true(nearest_sample(&samples.points, p, k) >= 0.59 * S);
  }
  for (size_t k = 0; k < polygon->n; ++k) {
    const double *a = polygon->points + 2 * k, *b = polygon->points + 2 * ((k + 1) % polygon->n);
    for (int i = 0; i <= 200; ++i) {
      const double p[2] = {a[0] + (b[0] - a[0]) * i / 200, a[1] + (b[1] - a[1]) * i / 200};
      assert_true(nearest_sample(&samples.points, p, SIZE_MAX) < inset + 0.75 * S);
    }
  }
  samples_free(&samples);
}

static void test_samples_line_the_sides(void **state) {
  (void)state;
  Polygon all[] = {ell(), star(3, 1), star(6, 0.5), star(90, 0.99), comb(3), spiral()};
  const double sizes[] = {1, 0.3, 0.4, 0.5, 0.1, 0.06};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k)
    for (int is_turned = 0; is_turned < 2; ++is_turned) {
      Polygon polygon = is_turned ? reversed(&all[k]) : all[k];
      scale(&polygon, sizes[k]);
      check_layer(&polygon, S / 2);
      check_layer(&polygon, S / 4);
    }
}

// A plate thinner than a spacing, and a needle: sampled along their middle.
static void test_thin_parts_have_samples(void **state) {
  (void)state;
  Polygon plate = POLYGON(0, 0, 0.4, 0, 0.4, 0.3 * S, 0, 0.3 * S), needle = POLYGON(0, 0, 0.5, 0.01, 0, 0.02);
  check_layer(&plate, S / 2);
  check_layer(&needle, S / 2);
  Samples samples;
  sample(&samples, &plate, S / 2, 3);
  for (size_t k = 0; k < samples.points.count; ++k)
    assert_close(flo_points_at(&samples.points, k)[1], 0.15 * S, 1e-9);
  assert_in_range(samples.points.count, 17, 24);
  samples_free(&samples);
}

// A box drawn as an outline has the samples of the box.
static void test_samples_of_a_box_are_those_of_the_box(void **state) {
  (void)state;
  Polygon polygon = POLYGON(-0.2, -0.1, 0.2, -0.1, 0.2, 0.1, -0.2, 0.1);
  for (int layers = 1; layers <= 3; ++layers) {
    Samples samples, expected;
    FloError error;
    sample(&samples, &polygon, S / 2, layers);
    flo_memory_init(&expected.memory, NULL);
    expected.points = (FloPoints){.memory = &expected.memory};
    FloShape box = {FLO_SHAPE_BOX, .size = {0.4, 0.2}};
    assert_ok(flo_shape_sample_surface(&box, 2, S, S / 2, layers, &expected.points, &error), &error);
    assert_int_equal(samples.points.count, expected.points.count);
    for (size_t k = 0; k < expected.points.count; ++k)
      assert_close(nearest_sample(&samples.points, flo_points_at(&expected.points, k), SIZE_MAX), 0,
                   1e-7 * S);
    samples_free(&samples);
    samples_free(&expected);
  }
}

// As many as fit on the curve that is half a spacing inside: for n sides of a circle that is the circle's.
static void test_the_number_of_samples_is_the_length(void **state) {
  (void)state;
  Polygon circle = star(90, 1);
  scale(&circle, 0.3);
  Samples samples;
  sample(&samples, &circle, S / 2, 1);
  assert_close((double)samples.points.count, 2 * FLO_PI * (0.3 - S / 2) / S, 1);
  for (size_t k = 0; k < samples.points.count; ++k)
    assert_close(nearest_sample(&samples.points, flo_points_at(&samples.points, k), k), S, 0.02 * S);
  samples_free(&samples);
}

static void test_volumes_are_filled(void **state) {
  (void)state;
  Polygon l = ell();
  FloError error;
  scale(&l, 5);
  for (FloFluidPacking packing = FLO_FLUID_CUBIC; packing <= FLO_FLUID_HEXAGONAL; ++packing) {
    Samples samples;
    flo_memory_init(&samples.memory, NULL);
    samples.points = (FloPoints){.memory = &samples.memory};
    FloShape shape = {FLO_SHAPE_OUTLINE, .points = l.points, .n_points = l.n};
    assert_ok(flo_shape_sample_volume(&shape, 2, S, packing, &samples.points, &error), &error);
    if (packing == FLO_FLUID_CUBIC) assert_int_equal(samples.points.count, 150 * 50 + 50 * 75);
    // The hexagonal lattice ends up to a row before the far sides.
    assert_close((double)samples.points.count * S * S, 25 * 0.18, 0.03 * 25 * 0.18);
    for (size_t k = 0; k < samples.points.count; ++k)
      assert_true(flo_outline_distance(l.points, l.n, flo_points_at(&samples.points, k)) < -0.499 * S);
    samples_free(&samples);
  }
}

// The points belong to the caller, who may do with them as he likes once a solid is made.
static void test_solids_keep_their_own_points(void **state) {
  (void)state;
  Polygon l = ell();
  FloMemory memory;
  FloError error;
  FloSolid solid, prism;
  const double p[3] = {0.1, 0.3, 0}, q[3] = {0.195, 0.3, 0};
  double low[3], high[3];
  flo_memory_init(&memory, NULL);
  FloShape shape = {FLO_SHAPE_OUTLINE, .points = l.points, .n_points = l.n};
  assert_ok(flo_solid_init(&solid, &shape, 2, S, 0.1, 1, &memory, &error), &error);
  assert_true(flo_solid_is_of(&solid, &shape, flo_solid_key(&shape)));
  shape.size[0] = 0.5;
  assert_ok(flo_solid_init(&prism, &shape, 3, S, 0.1, 1, &memory, &error), &error);
  assert_false(flo_solid_is_of(&solid, &shape, flo_solid_key(&shape)));
  memset(&l, 0, sizeof l);
  assert_close(flo_solid_distance(&solid, p), -0.1, 1e-12);
  assert_close(flo_solid_distance(&prism, q), -0.005, 0.05 * S);
  flo_solid_bounds(&solid, low, high);
  assert_close_3(low, ((double[3]){0, 0, 0}), 0);
  assert_close_3(high, ((double[3]){0.6, 0.5, 0}), 0);
  flo_solid_free(&solid);
  flo_solid_free(&prism);
  assert_int_equal(memory.bytes, 0);
}

// ---- Mistakes ----

static void refuse(Polygon polygon, const char *words) {
  FloError error;
  assert_refused(flo_outline_check(polygon.points, polygon.n, &error), &error, words);
  Polygon other = reversed(&polygon);
  assert_int_equal(flo_outline_check(other.points, other.n, &error), FLO_BAD_INPUT);
}

static void test_bad_outlines_are_refused(void **state) {
  (void)state;
  FloError error;
  refuse(POLYGON(0, 0, 1, 0), "at least 3 points, got 2");
  refuse(POLYGON(0, 0, 1, 0, 2, 0), "must not lie on a line");
  refuse(POLYGON(0, 0, 1, 1, 0, 1, 1, 0),
         "the side behind point 0 crosses or touches the one behind point 2");
  refuse(POLYGON(0, 0, 2, 2, 0, 1, 1, 0),
         "the side behind point 0 crosses or touches the one behind point 2");
  refuse(POLYGON(0, 0, 1, 0, 1, 1, 0, 0), "the last point repeats the first");
  refuse(POLYGON(0, 0, 1, 0, 1, 0, 0, 1), "points 1 and 2 are the same");
  refuse(POLYGON(0, 0, 1, 0, 1, NAN), "point 2 is (1, nan)");
  refuse(POLYGON(0, 0, 1, 0, INFINITY, 1), "must be finite");
  refuse(POLYGON(0, 0, 4, 0, 4, 4, 2, 0, 0, 4), "crosses or touches");
  refuse(POLYGON(0, 0, 2, 0, 3, 0, 2, 0, 2, 2, 0, 2), "turns back upon itself");
  refuse(POLYGON(0, 0, 1e200, 0, 1e200, 1e200), "area");
  assert_refused(flo_outline_check(NULL, 5, &error), &error, "at least 3 points");
  double *many = calloc(2 * 10001, sizeof *many);
  assert_non_null(many);
  assert_refused(flo_outline_check(many, 10001, &error), &error, "10001 points are more than 10000");
  free(many);
  Polygon l = ell();
  FloShape shape = {FLO_SHAPE_OUTLINE, .points = l.points, .n_points = l.n};
  assert_ok(flo_shape_check(&shape, 2, &error), &error);
  assert_refused(flo_shape_check(&shape, 3, &error), &error, "every size must be positive");
  shape.size[0] = 0.1;
  assert_ok(flo_shape_check(&shape, 3, &error), &error);
  assert_refused(flo_shape_check(&shape, 2, &error), &error, "in two dimensions an outline has no depth");
}

// A spacing out of all proportion is an error, not an endless loop; so is a lack of memory.
static void test_sampling_fails_in_good_order(void **state) {
  (void)state;
  Polygon l = ell();
  FloError error;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  FloPoints points = {.memory = &memory};
  assert_refused(flo_outline_sample(l.points, l.n, 1e-12, 1e-13, 1, &points, &error), &error, "samples");
  for (size_t fail_at = 1; fail_at <= 6; ++fail_at) {
    Fixture fixture;
    fixture_init(&fixture);
    fixture.counter.fail_at = fail_at;
    FloPoints few = {.memory = &fixture.memory};
    FloStatus status = flo_outline_sample(l.points, l.n, S, S / 2, 2, &few, &error);
    if (status == FLO_OK) status = flo_mesh_outline(l.points, l.n, 1, &fixture.mesh, &error);
    assert_int_equal(status, FLO_NO_MEMORY);
    flo_points_free(&few);
    fixture_free(&fixture);
  }
}

// ---- Many sides ----

static void make_star(double *points, size_t n, double depth, uint64_t seed) {
  Random random = {seed};
  for (size_t k = 0; k < n; ++k) {
    double angle = 2 * FLO_PI * (double)k / (double)n, radius = random_between(&random, 1 - depth, 1);
    points[2 * k] = radius * cos(angle), points[2 * k + 1] = radius * sin(angle);
  }
}

// Bit by bit what all sides one by one give.
static void test_trees_agree_with_all_sides(void **state) {
  (void)state;
  static const size_t counts[] = {3, 4, 5, 8, 9, 33, 257};
  for (size_t k = 0; k < FLO_COUNT_OF(counts); ++k) {
    double points[2 * 257];
    Random random = {k + 1};
    FloOutlineTree tree;
    FloMemory memory;
    FloError error;
    flo_memory_init(&memory, NULL);
    make_star(points, counts[k], 0.4, k);
    assert_ok(flo_outline_tree_build(&tree, points, counts[k], &memory, &error), &error);
    for (int i = 0; i < 5000; ++i) {
      double p[2] = {random_between(&random, -1.5, 1.5), random_between(&random, -1.5, 1.5)};
      if (i % 5 == 0) p[1] = points[2 * ((size_t)i % counts[k]) + 1]; // level with a corner
      if (i % 15 == 0) p[0] = points[2 * ((size_t)i % counts[k])];
      assert_true(flo_outline_tree_distance(&tree, p) == flo_outline_distance(points, counts[k], p));
    }
    flo_outline_tree_free(&tree);
    assert_int_equal(memory.bytes, 0);
  }
}

static void test_outlines_of_many_points_are_sampled_in_no_time(void **state) {
  (void)state;
  enum { N = 4000 };
  static double points[2 * N];
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  FloPoints samples = {.memory = &memory};
  make_star(points, N, 0.01, 7);
  clock_t start = clock();
  assert_ok(flo_outline_sample(points, N, 0.01, 0.005, 2, &samples, &error), &error);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("%d points take %.2f s for %zu samples\n", (int)N, seconds, samples.count);
  flo_points_free(&samples);
  assert_int_equal(memory.bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trees_agree_with_all_sides),
      cmocka_unit_test(test_outlines_of_many_points_are_sampled_in_no_time),
      cmocka_unit_test(test_area_centre_and_second_moment),
      cmocka_unit_test(test_distances_agree_with_brute_force),
      cmocka_unit_test(test_distances_at_chosen_points),
      cmocka_unit_test(test_triangles_cover_the_polygon),
      cmocka_unit_test(test_triangles_of_polygons_at_random),
      cmocka_unit_test(test_crossed_polygons_do_no_harm),
      cmocka_unit_test(test_prisms_are_closed_and_weigh_what_they_should),
      cmocka_unit_test(test_a_flat_outline_becomes_a_sheet),
      cmocka_unit_test(test_concave_faces_are_cut_along_their_inside),
      cmocka_unit_test(test_a_solid_with_concave_faces_is_closed),
      cmocka_unit_test(test_odd_faces),
      cmocka_unit_test(test_samples_line_the_sides),
      cmocka_unit_test(test_thin_parts_have_samples),
      cmocka_unit_test(test_samples_of_a_box_are_those_of_the_box),
      cmocka_unit_test(test_the_number_of_samples_is_the_length),
      cmocka_unit_test(test_volumes_are_filled),
      cmocka_unit_test(test_solids_keep_their_own_points),
      cmocka_unit_test(test_bad_outlines_are_refused),
      cmocka_unit_test(test_sampling_fails_in_good_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
