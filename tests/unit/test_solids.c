// Meshes of solids: closed, manifold, outward, as large as the formulas say, and what is refused.
#include "base/vecmath.h"
#include "geometry/solid_meshes.h"
#include "support/manifold.h"
#include "support/random.h"

static double mesh_area(const FloMesh *mesh) {
  double area = 0, normal[3];
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    triangle_normal(mesh, k, normal);
    area += vec_length(normal) / 2;
  }
  return area;
}

// ---- One of each shape ----

static const double box_size[3] = {1.2, 0.7, 0.4};

#define SHAPE(name, call)                                                                                    \
  static FloStatus make_##name(double fineness, FloMesh *mesh, FloError *error) { return call; }

SHAPE(box, flo_mesh_box(box_size, fineness, mesh, error))
SHAPE(plane, flo_mesh_plane(2, 3, 0.1, fineness, mesh, error))
SHAPE(open_tank, flo_mesh_tank(box_size, 0.05, 2, false, fineness, mesh, error))
SHAPE(sideways_tank, flo_mesh_tank(box_size, 0.05, 0, false, fineness, mesh, error))
SHAPE(closed_tank, flo_mesh_tank(box_size, 0.05, 1, true, fineness, mesh, error))
SHAPE(ramp, flo_mesh_ramp(1.2, 0.7, 0.4, fineness, mesh, error))
SHAPE(wedge, flo_mesh_wedge(box_size, fineness, mesh, error))
SHAPE(sharp_card, flo_mesh_card(0.63, 0.88, 0.03, 0, fineness, mesh, error))
SHAPE(card, flo_mesh_card(0.63, 0.88, 0.03, 0.2, fineness, mesh, error))
SHAPE(stadium_card, flo_mesh_card(0.63, 0.88, 0.03, 0.315, fineness, mesh, error))
SHAPE(round_card, flo_mesh_card(0.6, 0.6, 0.03, 0.3, fineness, mesh, error))
SHAPE(rounded_box, flo_mesh_rounded_box(box_size, 0.15, fineness, mesh, error))
SHAPE(pill_box, flo_mesh_rounded_box(box_size, 0.2, fineness, mesh, error))
SHAPE(sphere, flo_mesh_sphere(0.5, fineness, mesh, error))
SHAPE(cylinder, flo_mesh_cylinder(0.5, 0.8, fineness, mesh, error))
SHAPE(capsule, flo_mesh_capsule(0.4, 0.6, fineness, mesh, error))
SHAPE(cone, flo_mesh_cone(0.5, 0, 0.9, fineness, mesh, error))
SHAPE(frustum, flo_mesh_cone(0.3, 0.5, 0.9, fineness, mesh, error))
SHAPE(torus, flo_mesh_torus(0.6, 0.25, fineness, mesh, error))
SHAPE(tube, flo_mesh_tube(0.5, 0.35, 0.8, fineness, mesh, error))
SHAPE(link, flo_mesh_link(2, 1.2, 0.2, fineness, mesh, error))
SHAPE(ring_link, flo_mesh_link(1.2, 1.2, 0.2, fineness, mesh, error))

typedef struct Case {
  const char *name;
  FloStatus (*make)(double fineness, FloMesh *mesh, FloError *error);
  long euler;
  double volume, area;
  double low[3], high[3];
} Case;

#define BOX_LOW                                                                                              \
  { -0.6, -0.35, -0.2 }
#define BOX_HIGH                                                                                             \
  { 0.6, 0.35, 0.2 }
#define WALL_LOW                                                                                             \
  { -0.65, -0.4, -0.25 }
#define SIDES(x, y, z) (2 * ((x) * (y) + (y) * (z) + (z) * (x)))

static const Case flat_cases[] = {
    {"box", make_box, 2, 1.2 * 0.7 * 0.4, SIDES(1.2, 0.7, 0.4), BOX_LOW, BOX_HIGH},
    {"plane", make_plane, 2, 0.6, SIDES(2, 3, 0.1), {-1, -1.5, -0.1}, {1, 1.5, 0}},
    {"open tank",
     make_open_tank,
     2,
     1.3 * 0.8 * 0.45 - 1.2 * 0.7 * 0.4,
     2 * 1.3 * 0.8 + 2 * 2.1 * 0.45 + 2 * 1.9 * 0.4,
     WALL_LOW,
     {0.65, 0.4, 0.2}},
    {"tank open along x",
     make_sideways_tank,
     2,
     1.25 * 0.8 * 0.5 - 1.2 * 0.7 * 0.4,
     2 * 0.8 * 0.5 + 2 * 1.3 * 1.25 + 2 * 1.1 * 1.2,
     WALL_LOW,
     {0.6, 0.4, 0.25}},
    {"closed tank",
     make_closed_tank,
     4,
     1.3 * 0.8 * 0.5 - 1.2 * 0.7 * 0.4,
     SIDES(1.3, 0.8, 0.5) + SIDES(1.2, 0.7, 0.4),
     WALL_LOW,
     {0.65, 0.4, 0.25}},
    {"ramp", make_ramp, 2, 1.2 * 0.7 * 0.4 / 2, 1.2 * 0.7 + 0.7 * 0.4 + 0.7 * 1.2649110640673518 + 1.2 * 0.4,
     BOX_LOW, BOX_HIGH},
    {"wedge", make_wedge, 2, 1.2 * 0.7 * 0.4 / 2, 1.2 * 0.7 + 2 * 0.7 * 0.7211102550927978 + 1.2 * 0.4,
     BOX_LOW, BOX_HIGH},
    {"card with sharp corners",
     make_sharp_card,
     2,
     0.63 * 0.88 * 0.03,
     SIDES(0.63, 0.88, 0.03),
     {-0.315, -0.44, -0.015},
     {0.315, 0.44, 0.015}},
};

#define CARD(w, h, t, r)      ((w) * (h) - (4 - FLO_PI) * (r) * (r)) * (t)
#define CARD_AREA(w, h, t, r) 2 * CARD(w, h, 1, r) + (t) * (2 * ((w) + (h)) - (8 - 2 * FLO_PI) * (r))
// With a, b, c what is left of the edges between the roundings (Steiner's formula).
#define ROUNDED(a, b, c, r)                                                                                  \
  (a) * (b) * (c) + (r)*SIDES(a, b, c) + FLO_PI *(r) * (r) * ((a) + (b) + (c)) +                             \
      4 * FLO_PI / 3 * (r) * (r) * (r)
#define ROUNDED_AREA(a, b, c, r) SIDES(a, b, c) + 2 * FLO_PI *(r) * ((a) + (b) + (c)) + 4 * FLO_PI *(r) * (r)

static const Case round_cases[] = {
    {"card",
     make_card,
     2,
     CARD(0.63, 0.88, 0.03, 0.2),
     CARD_AREA(0.63, 0.88, 0.03, 0.2),
     {-0.315, -0.44, -0.015},
     {0.315, 0.44, 0.015}},
    {"stadium card",
     make_stadium_card,
     2,
     CARD(0.63, 0.88, 0.03, 0.315),
     CARD_AREA(0.63, 0.88, 0.03, 0.315),
     {-0.315, -0.44, -0.015},
     {0.315, 0.44, 0.015}},
    {"round card",
     make_round_card,
     2,
     FLO_PI * 0.09 * 0.03,
     2 * FLO_PI * 0.09 + 2 * FLO_PI * 0.3 * 0.03,
     {-0.3, -0.3, -0.015},
     {0.3, 0.3, 0.015}},
    {"rounded box", make_rounded_box, 2, ROUNDED(0.9, 0.4, 0.1, 0.15), ROUNDED_AREA(0.9, 0.4, 0.1, 0.15),
     BOX_LOW, BOX_HIGH},
    {"pill box", make_pill_box, 2, ROUNDED(0.8, 0.3, 0, 0.2), ROUNDED_AREA(0.8, 0.3, 0, 0.2), BOX_LOW,
     BOX_HIGH},
    {"sphere", make_sphere, 2, 4 * FLO_PI / 3 * 0.125, FLO_PI, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
    {"cylinder",
     make_cylinder,
     2,
     FLO_PI * 0.25 * 0.8,
     2 * FLO_PI * 0.25 + FLO_PI * 0.8,
     {-0.5, -0.5, -0.4},
     {0.5, 0.5, 0.4}},
    {"capsule",
     make_capsule,
     2,
     FLO_PI * 0.16 * 0.6 + 4 * FLO_PI / 3 * 0.064,
     2 * FLO_PI * 0.4 * (0.6 + 0.8),
     {-0.4, -0.4, -0.7},
     {0.4, 0.4, 0.7}},
    {"cone",
     make_cone,
     2,
     FLO_PI * 0.25 * 0.9 / 3,
     FLO_PI * 0.25 + FLO_PI * 0.5 * 1.0295630140987,
     {-0.5, -0.5, -0.45},
     {0.5, 0.5, 0.45}},
    {"frustum",
     make_frustum,
     2,
     FLO_PI * 0.9 / 3 * (0.09 + 0.15 + 0.25),
     FLO_PI *(0.09 + 0.25) + FLO_PI * 0.8 * 0.9219544457292888,
     {-0.5, -0.5, -0.45},
     {0.5, 0.5, 0.45}},
    {"torus",
     make_torus,
     0,
     2 * FLO_PI *FLO_PI * 0.6 * 0.0625,
     4 * FLO_PI *FLO_PI * 0.6 * 0.25,
     {-0.85, -0.85, -0.25},
     {0.85, 0.85, 0.25}},
    {"tube",
     make_tube,
     0,
     FLO_PI *(0.25 - 0.1225) * 0.8,
     2 * FLO_PI * 0.85 * 0.8 + 2 * FLO_PI *(0.25 - 0.1225),
     {-0.5, -0.5, -0.4},
     {0.5, 0.5, 0.4}},
    // Pappus: cross section times the length of its middle line.
    {"link",
     make_link,
     0,
     FLO_PI * 0.04 * (2 * FLO_PI * 0.4 + 1.6),
     2 * FLO_PI * 0.2 * (2 * FLO_PI * 0.4 + 1.6),
     {-1, -0.6, -0.2},
     {1, 0.6, 0.2}},
    {"ring-shaped link",
     make_ring_link,
     0,
     FLO_PI * 0.04 * 2 * FLO_PI * 0.4,
     2 * FLO_PI * 0.2 * 2 * FLO_PI * 0.4,
     {-0.6, -0.6, -0.2},
     {0.6, 0.6, 0.2}},
};

static void check_shape(const FloMesh *mesh, const Case *shape) {
  double low[3], high[3];
  check_manifold(mesh);
  if (euler_characteristic(mesh) != shape->euler)
    fail_msg("the Euler characteristic of the %s is %ld", shape->name, euler_characteristic(mesh));
  assert_true(mesh_volume(mesh) > 0);
  flo_mesh_bounds(mesh, low, high);
  assert_close_3(low, shape->low, 1e-12);
  assert_close_3(high, shape->high, 1e-12);
}

static void make(Fixture *fixture, const Case *shape, double fineness) {
  FloError error;
  fixture_init(fixture);
  assert_ok(shape->make(fineness, &fixture->mesh, &error), &error);
}

static void test_flat_shapes_are_exact(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(flat_cases); ++k)
    for (double fineness = 1e-3; fineness < 2; fineness *= 10) {
      Fixture fixture;
      make(&fixture, &flat_cases[k], fineness);
      check_shape(&fixture.mesh, &flat_cases[k]);
      assert_close(mesh_volume(&fixture.mesh), flat_cases[k].volume, 1e-12);
      assert_close(mesh_area(&fixture.mesh), flat_cases[k].area, 1e-12);
      fixture_free(&fixture);
    }
}

// Relative errors of volume and area.
static void measure(const Case *shape, double fineness, double errors[2]) {
  Fixture fixture;
  make(&fixture, shape, fineness);
  check_shape(&fixture.mesh, shape);
  errors[0] = fabs(mesh_volume(&fixture.mesh) / shape->volume - 1);
  errors[1] = fabs(mesh_area(&fixture.mesh) / shape->area - 1);
  fixture_free(&fixture);
}

// Chords come closer to their arcs with the square of their length.
static void test_round_shapes_converge(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_cases); ++k) {
    double coarse[2], medium[2], fine[2];
    measure(&round_cases[k], 0.1, coarse);
    measure(&round_cases[k], 0.05, medium);
    measure(&round_cases[k], 0.0125, fine);
    for (int which = 0; which < 2; ++which)
      if (!(fine[which] < coarse[which] / 12 && medium[which] < coarse[which] && fine[which] < 1.5e-3))
        fail_msg("%s: errors of the %s are %g, %g, %g", round_cases[k].name, which ? "area" : "volume",
                 coarse[which], medium[which], fine[which]);
  }
}

static void test_triangles_are_even(void **state) {
  (void)state;
  static const char *const fans[] = {"card", "stadium card", "round card"}; // flat fans around a middle
  for (size_t k = FLO_COUNT_OF(fans); k < FLO_COUNT_OF(round_cases); ++k)
    for (double fineness = 0.012; fineness < 0.2; fineness *= 2) {
      Fixture fixture;
      make(&fixture, &round_cases[k], fineness);
      for (size_t t = 0; t < fixture.mesh.n_triangles; ++t)
        if (smallest_angle(&fixture.mesh, t) < 6)
          fail_msg("%s at %g: an angle of %g degrees", round_cases[k].name, fineness,
                   smallest_angle(&fixture.mesh, t));
      fixture_free(&fixture);
    }
}

static void test_edges_have_the_wanted_length(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  assert_ok(flo_mesh_sphere(1, 0.1, &fixture.mesh, &error), &error);
  double mean = sqrt(4 * mesh_area(&fixture.mesh) / (double)fixture.mesh.n_triangles / sqrt(3));
  assert_close(mean, 0.1, 0.02);
  fixture_free(&fixture);
}

static void test_circles_have_at_least_twelve_sides(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_cases); ++k) {
    double errors[2];
    measure(&round_cases[k], 1e6, errors);
    assert_true(errors[0] < 0.16 && errors[1] < 0.1);
  }
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  assert_ok(flo_mesh_cylinder(1, 1, 100, &fixture.mesh, &error), &error);
  assert_close(mesh_volume(&fixture.mesh), 3, 1e-12); // of a twelve-sided prism
  fixture_free(&fixture);
}

SHAPE(needle, flo_mesh_cylinder(1e-3, 1000, fineness, mesh, error))
SHAPE(coin, flo_mesh_cylinder(1000, 1e-3, fineness, mesh, error))
SHAPE(thin_ring, flo_mesh_torus(1000, 1e-3, fineness, mesh, error))
SHAPE(thin_link, flo_mesh_link(1000, 0.1, 1e-3, fineness, mesh, error))
SHAPE(long_capsule, flo_mesh_capsule(1e-3, 1000, fineness, mesh, error))

static void test_no_shape_is_boundless(void **state) {
  (void)state;
  static const Case odd_cases[] = {{.make = make_needle},
                                   {.make = make_coin},
                                   {.make = make_thin_ring},
                                   {.make = make_thin_link},
                                   {.make = make_long_capsule}};
  size_t n_round = FLO_COUNT_OF(round_cases), n_odd = FLO_COUNT_OF(odd_cases);
  for (size_t k = 0; k < n_round + n_odd; ++k) {
    Fixture fixture;
    make(&fixture, k < n_round ? &round_cases[k] : &odd_cases[k - n_round], 1e-9);
    assert_true(fixture.mesh.n_triangles <= 200000);
    check_manifold(&fixture.mesh);
    fixture_free(&fixture);
  }
}

// ---- Height fields ----

enum { N_X = 7, N_Y = 5 };

// Under a slope the volume is that of the floor times the height of the middle.
static void test_a_sloping_field_is_exact(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  double heights[N_X * N_Y], low[3], high[3];
  for (int j = 0; j < N_Y; ++j)
    for (int i = 0; i < N_X; ++i) heights[j * N_X + i] = 0.3 + 0.1 * i / (N_X - 1) - 0.2 * j / (N_Y - 1);
  fixture_init(&fixture);
  assert_ok(flo_mesh_heightfield(3, 2, N_X, N_Y, heights, 0.5, 1, &fixture.mesh, &error), &error);
  check_manifold(&fixture.mesh);
  assert_int_equal(euler_characteristic(&fixture.mesh), 2);
  assert_close(mesh_volume(&fixture.mesh), 6 * (0.25 - (0.1 - 0.5)), 1e-12);
  double sides = 2 * 3 * 0.65 + 2 * 2 * 0.65, top = 6 * sqrt(1 + 0.01 / 9 + 0.01);
  assert_close(mesh_area(&fixture.mesh), 6 + sides + top, 1e-12);
  flo_mesh_bounds(&fixture.mesh, low, high);
  assert_close_3(low, ((double[3]){-1.5, -1, -0.4}), 1e-12);
  assert_close_3(high, ((double[3]){1.5, 1, 0.4}), 1e-12);
  fixture_free(&fixture);
}

// Each triangle weighs as much as its three heights' mean.
static void test_a_rough_field_is_closed(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  Random random = {7};
  double heights[N_X * N_Y], sum = 0, lowest = INFINITY;
  for (int k = 0; k < N_X * N_Y; ++k) {
    heights[k] = random_between(&random, -1, 1);
    lowest = fmin(lowest, heights[k]);
  }
  for (int j = 0; j + 1 < N_Y; ++j)
    for (int i = 0; i + 1 < N_X; ++i) {
      const double *h = heights + j * N_X + i;
      sum += (2 * h[0] + h[1] + h[N_X] + 2 * h[N_X + 1]) / 6;
    }
  fixture_init(&fixture);
  assert_ok(flo_mesh_heightfield(6, 4, N_X, N_Y, heights, 0.25, 1, &fixture.mesh, &error), &error);
  check_manifold(&fixture.mesh);
  assert_close(mesh_volume(&fixture.mesh), sum - 24 * (lowest - 0.25), 1e-12);
  fixture_free(&fixture);
}

static void test_bad_heights_are_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  const double flat[4] = {0}, holed[4] = {0, 0, NAN, 0};
  FloMesh *mesh = &fixture.mesh;
  assert_refused(flo_mesh_heightfield(1, 1, 1, 4, flat, 1, 1, mesh, &error), &error, "at least 2");
  assert_refused(flo_mesh_heightfield(1, 1, SIZE_MAX, 4, flat, 1, 1, mesh, &error), &error, "at most");
  assert_refused(flo_mesh_heightfield(1, 1, 2, 2, holed, 1, 1, mesh, &error), &error, "height 2");
  assert_refused(flo_mesh_heightfield(1, 1, 2, 2, flat, 0, 1, mesh, &error), &error, "depth");
  assert_refused(flo_mesh_heightfield(1, -1, 2, 2, flat, 1, 1, mesh, &error), &error, "size along y");
  fixture_free(&fixture);
}

// ---- What all have in common ----

static void test_bad_measures_are_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  FloMesh *m = &fixture.mesh;
  const double holed[3] = {1, NAN, 1}, flat[3] = {1, 1, 0};
  assert_refused(flo_mesh_box(holed, 1, m, &error), &error, "box: the size along y");
  assert_refused(flo_mesh_wedge(flat, 1, m, &error), &error, "size along z");
  assert_refused(flo_mesh_ramp(1, -1, 1, 1, m, &error), &error, "got -1");
  assert_refused(flo_mesh_plane(1, 1, INFINITY, 1, m, &error), &error, "plane");
  assert_refused(flo_mesh_tank(box_size, 0, 2, true, 1, m, &error), &error, "wall");
  assert_refused(flo_mesh_tank(box_size, 0.1, 3, true, 1, m, &error), &error, "0, 1 or 2");
  assert_refused(flo_mesh_card(1, 2, 1, 0.6, 1, m, &error), &error, "half the shorter edge, 0.5 m");
  assert_refused(flo_mesh_card(1, 2, 1, -0.1, 1, m, &error), &error, "corner");
  assert_refused(flo_mesh_card(1, 2, 1, NAN, 1, m, &error), &error, "corner");
  assert_refused(flo_mesh_rounded_box(box_size, 0.21, 1, m, &error), &error, "half the shortest edge, 0.2 m");
  assert_refused(flo_mesh_rounded_box(box_size, 0, 1, m, &error), &error, "radius");
  assert_refused(flo_mesh_sphere(1e300, 1, m, &error), &error, "between");
  assert_refused(flo_mesh_sphere(1, 0, m, &error), &error, "fineness");
  assert_refused(flo_mesh_cylinder(1, 1, NAN, m, &error), &error, "fineness");
  assert_refused(flo_mesh_capsule(1, 0, 1, m, &error), &error, "length");
  assert_refused(flo_mesh_cone(0, 1, 1, 1, m, &error), &error, "base radius");
  assert_refused(flo_mesh_cone(1, -1, 1, 1, m, &error), &error, "top radius");
  assert_refused(flo_mesh_torus(1, 1, 1, m, &error), &error, "less than the ring radius");
  assert_refused(flo_mesh_tube(1, 1, 1, 1, m, &error), &error, "less than the outer radius");
  assert_refused(flo_mesh_link(1, 2, 0.1, 1, m, &error), &error, "not be less than the width");
  assert_refused(flo_mesh_link(2, 1, 0.25, 1, m, &error), &error, "quarter of the width");
  assert_int_equal(m->n_vertices, 0);
  fixture_free(&fixture);
}

static void test_shapes_are_the_same_every_time(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_cases); ++k) {
    Fixture a, b;
    make(&a, &round_cases[k], 0.07);
    make(&b, &round_cases[k], 0.07);
    assert_int_equal(a.mesh.n_vertices, b.mesh.n_vertices);
    assert_int_equal(a.mesh.n_triangles, b.mesh.n_triangles);
    assert_memory_equal(a.mesh.vertices.data, b.mesh.vertices.data, a.mesh.n_vertices * sizeof(double[3]));
    assert_memory_equal(a.mesh.triangles.data, b.mesh.triangles.data,
                        a.mesh.n_triangles * sizeof(uint32_t[3]));
    fixture_free(&a);
    fixture_free(&b);
  }
}

static void test_shapes_add_to_a_mesh(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  double volume = 0;
  fixture_init(&fixture);
  for (size_t k = 0; k < FLO_COUNT_OF(flat_cases); ++k) {
    assert_ok(flat_cases[k].make(1, &fixture.mesh, &error), &error);
    volume += flat_cases[k].volume;
  }
  assert_close(mesh_volume(&fixture.mesh), volume, 1e-12);
  fixture_free(&fixture);
}

static void test_memory_may_run_out(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_cases); ++k)
    for (size_t fail_at = 1; fail_at < 100; ++fail_at) {
      Fixture fixture;
      FloError error;
      fixture_init(&fixture);
      fixture.counter.fail_at = fail_at;
      FloStatus status = round_cases[k].make(0.1, &fixture.mesh, &error);
      fixture_free(&fixture);
      if (status == FLO_OK) break;
      assert_int_equal(status, FLO_NO_MEMORY);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flat_shapes_are_exact),
      cmocka_unit_test(test_round_shapes_converge),
      cmocka_unit_test(test_triangles_are_even),
      cmocka_unit_test(test_edges_have_the_wanted_length),
      cmocka_unit_test(test_circles_have_at_least_twelve_sides),
      cmocka_unit_test(test_no_shape_is_boundless),
      cmocka_unit_test(test_a_sloping_field_is_exact),
      cmocka_unit_test(test_a_rough_field_is_closed),
      cmocka_unit_test(test_bad_heights_are_refused),
      cmocka_unit_test(test_bad_measures_are_refused),
      cmocka_unit_test(test_shapes_are_the_same_every_time),
      cmocka_unit_test(test_shapes_add_to_a_mesh),
      cmocka_unit_test(test_memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
