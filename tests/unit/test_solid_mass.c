// What solids weigh: against integrals over thin slices, closed formulas, and finer and finer triangles.
#include "base/vecmath.h"
#include "geometry/solid.h"
#include "support/check.h"

#define DENSITY 700.0

static FloMassProperties mass_of(const FloShape *shape, int dim, double spacing, double thickness) {
  FloMemory memory;
  FloSolid solid;
  FloError error;
  FloMassProperties mass;
  flo_memory_init(&memory, NULL);
  assert_ok(flo_solid_init(&solid, shape, dim, spacing, 0.1, 2, &memory, &error), &error);
  assert_ok(flo_solid_mass(&solid, DENSITY, thickness, &mass, &error), &error);
  flo_solid_free(&solid);
  assert_int_equal(memory.bytes, 0);
  return mass;
}

static void assert_mass(const FloMassProperties *actual, const FloMassProperties *expected,
                        double tolerance) {
  double largest = fmax(expected->inertia[0], fmax(expected->inertia[1], expected->inertia[2]));
  double size = sqrt(largest / expected->mass);
  assert_close(actual->volume, expected->volume, tolerance * expected->volume);
  assert_close(actual->mass, expected->mass, tolerance * expected->mass);
  assert_close_3(actual->centre, expected->centre, tolerance * size);
  for (int k = 0; k < 6; ++k) assert_close(actual->inertia[k], expected->inertia[k], tolerance * largest);
}

// ---- Bodies of revolution, cut into discs with a hole ----

typedef struct Ring {
  double outer, inner;
} Ring;

static double chord(double radius, double z) { return sqrt(fmax(radius * radius - z * z, 0)); }

static Ring ball_ring(const FloShape *s, double z) { return (Ring){chord(s->radius, z), 0}; }
static Ring cylinder_ring(const FloShape *s, double z) { return (void)z, (Ring){s->radius, 0}; }
static Ring tube_ring(const FloShape *s, double z) { return (void)z, (Ring){s->radius, s->radius2}; }
static Ring capsule_ring(const FloShape *s, double z) {
  return (Ring){chord(s->radius, fmax(fabs(z) - s->size[0] / 2, 0)), 0};
}
static Ring cone_ring(const FloShape *s, double z) {
  return (Ring){s->radius + (s->radius2 - s->radius) * (z / s->size[0] + 0.5), 0};
}
static Ring torus_ring(const FloShape *s, double z) {
  double half = chord(s->radius2, z);
  return (Ring){s->radius + half, s->radius - half};
}

typedef struct Turned {
  FloShape shape;
  Ring (*ring)(const FloShape *, double z);
  double half; // of its height
} Turned;

static const Turned turned[] = {
    {{FLO_SHAPE_SPHERE, .radius = 0.3}, ball_ring, 0.3},
    {{FLO_SHAPE_CYLINDER, .size = {0.7}, .radius = 0.2}, cylinder_ring, 0.35},
    {{FLO_SHAPE_CAPSULE, .size = {0.5}, .radius = 0.2}, capsule_ring, 0.45},
    {{FLO_SHAPE_CONE, .size = {0.6}, .radius = 0.3}, cone_ring, 0.3},
    {{FLO_SHAPE_CONE, .size = {0.6}, .radius = 0.1, .radius2 = 0.25}, cone_ring, 0.3},
    {{FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.1}, torus_ring, 0.1},
    {{FLO_SHAPE_TUBE, .size = {0.5}, .radius = 0.3, .radius2 = 0.2}, tube_ring, 0.25},
};

// Sums of the discs' own properties, and the parallel-axis theorem.
static FloMassProperties mass_of_slices(const Turned *body) {
  enum { SLICES = 200000 };
  double height = 2 * body->half / SLICES, first = 0, second = 0, fourth = 0, area = 0;
  for (int k = 0; k < SLICES; ++k) {
    double z = -body->half + (k + 0.5) * height;
    Ring ring = body->ring(&body->shape, z);
    double a = ring.outer * ring.outer, b = ring.inner * ring.inner, slice = FLO_PI * (a - b) * height;
    area += slice, first += slice * z, second += slice * z * z, fourth += slice * (a + b);
  }
  double across = DENSITY * (fourth / 4 + second - first * first / area);
  return (FloMassProperties){.volume = area,
                             .mass = DENSITY * area,
                             .centre = {0, 0, first / area},
                             .inertia = {across, across, DENSITY * fourth / 2}};
}

static void test_round_bodies_weigh_what_their_slices_do(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(turned); ++k) {
    FloMassProperties expected = mass_of_slices(&turned[k]), mass = mass_of(&turned[k].shape, 3, 0.1, 0);
    assert_mass(&mass, &expected, 1e-6);
  }
}

// ---- Flat faces ----

static FloMassProperties block_mass(double x, double y, double z, double height) {
  double volume = x * y * z, m = DENSITY * volume;
  return (FloMassProperties){
      .volume = volume,
      .mass = m,
      .centre = {0, 0, height},
      .inertia = {m * (y * y + z * z) / 12, m * (z * z + x * x) / 12, m * (x * x + y * y) / 12}};
}

static const double rectangle[] = {0.3, 0.2, -0.3, 0.2, -0.3, -0.2, 0.3, -0.2};
static const double cube_corners[] = {-0.5, -0.5, -0.5, 0.5, -0.5, -0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5,
                                      -0.5, -0.5, 0.5,  0.5, -0.5, 0.5,  -0.5, 0.5, 0.5,  0.5, 0.5, 0.5};
static const uint32_t cube_sides[] = {4, 5, 7, 4, 7, 6, 0, 2, 3, 0, 3, 1, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
static const uint32_t cube_inside_out[] = {4, 7, 5, 4, 6, 7, 0, 3, 2, 0, 1, 3, 0, 5, 1, 0, 4, 5,
                                           2, 7, 6, 2, 3, 7, 0, 6, 4, 0, 2, 6, 1, 7, 3, 1, 5, 7};

static void test_blocks(void **state) {
  (void)state;
  static const double heights[] = {0.1, 0.1, 0.1, 0.1};
  static const FloTriangles cube = {cube_corners, cube_sides, 8, 12};
  const struct {
    FloShape shape;
    FloMassProperties expected;
  } cases[] = {
      {{FLO_SHAPE_BOX, .size = {0.5, 0.4, 0.3}}, block_mass(0.5, 0.4, 0.3, 0)},
      {{FLO_SHAPE_PLANE, .size = {0.5, 0.4, 0.3}}, block_mass(0.5, 0.4, 0.3, -0.15)},
      {{FLO_SHAPE_CARD, .size = {0.5, 0.4, 0.1}}, block_mass(0.5, 0.4, 0.1, 0)},
      {{FLO_SHAPE_OUTLINE, .size = {0.2}, .points = rectangle, .n_points = 4}, block_mass(0.6, 0.4, 0.2, 0)},
      {{FLO_SHAPE_HEIGHTFIELD, .size = {0.5, 0.4, 0.3}, .heights = heights, .n_heights = {2, 2}},
       block_mass(0.5, 0.4, 0.3, -0.05)},
      {{FLO_SHAPE_MESH, .mesh = &cube}, block_mass(1, 1, 1, 0)},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    FloMassProperties mass = mass_of(&cases[k].shape, 3, 0.1, 0);
    assert_mass(&mass, &cases[k].expected, 1e-9);
  }
}

// A right triangle of legs a and b has its centre a third from the right angle, and the moments m a^2/18 and
// m b^2/18 about it; the product of inertia is -(-m a b/36).
static void test_a_ramp_and_a_wedge(void **state) {
  (void)state;
  const FloShape ramp = {FLO_SHAPE_RAMP, .size = {0.6, 0.4, 0.3}};
  FloMassProperties mass = mass_of(&ramp, 3, 0.1, 0);
  double m = DENSITY * 0.036, xx = m * 0.36 / 18, yy = m * 0.16 / 12, zz = m * 0.09 / 18;
  FloMassProperties expected = {.volume = 0.036,
                                .mass = m,
                                .centre = {0.1, 0, -0.05},
                                .inertia = {yy + zz, zz + xx, xx + yy, 0, 0, -m * 0.18 / 36}};
  assert_mass(&mass, &expected, 1e-9);
  const FloShape wedge = {FLO_SHAPE_WEDGE, .size = {0.6, 0.4, 0.3}};
  mass = mass_of(&wedge, 3, 0.1, 0);
  xx = m * 0.36 / 24; // an isosceles triangle about its own axis
  expected = (FloMassProperties){
      .volume = 0.036, .mass = m, .centre = {0, 0, -0.05}, .inertia = {yy + zz, zz + xx, xx + yy}};
  assert_mass(&mass, &expected, 1e-9);
}

// ---- By triangles ----

// A rounded box is a box with smaller slabs on its sides, quarters of rods along its edges and eighths of a
// ball at its corners.
static double rounded_volume(const double size[3], double r) {
  double a = size[0] - 2 * r, b = size[1] - 2 * r, c = size[2] - 2 * r;
  return a * b * c + 2 * r * (a * b + b * c + c * a) + FLO_PI * r * r * (a + b + c) +
         4 * FLO_PI / 3 * r * r * r;
}

static void test_rounded_boxes_are_as_round_as_their_triangles(void **state) {
  (void)state;
  const FloShape shape = {FLO_SHAPE_BOX, .size = {0.5, 0.4, 0.3}, .radius = 0.1};
  double expected = rounded_volume(shape.size, shape.radius), errors[2];
  for (int k = 0; k < 2; ++k) {
    FloMassProperties mass = mass_of(&shape, 3, k ? 0.0125 : 0.025, 0);
    errors[k] = fabs(mass.volume / expected - 1);
    assert_close_3(mass.centre, ((double[3]){0}), 1e-6);
    assert_close(mass.mass, DENSITY * mass.volume, 1e-9);
  }
  assert_true(errors[1] < 2e-3 && errors[1] < errors[0] / 3);
}

// Whatever has no formula: all of it weighs something, and inertia obeys the triangle inequality.
static void test_every_kind_weighs_something(void **state) {
  (void)state;
  static const FloShape shapes[] = {
      {FLO_SHAPE_LINK, .size = {0.6, 0.4}, .radius = 0.05},
      {FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "A8"},
      {FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "A8", .hollow = true},
      {FLO_SHAPE_CARD, .size = {0.5, 0.4, 0.1}, .radius = 0.05},
      {FLO_SHAPE_DUCK, .size = {0.5}},
      {FLO_SHAPE_RABBIT, .size = {0.5}},
      {FLO_SHAPE_ARMADILLO, .size = {0.5}},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (int is_shell = 0; is_shell < 2; ++is_shell) {
      FloMassProperties mass = mass_of(&shapes[k], 3, 0.03, is_shell ? 1e-3 : 0);
      const double *inertia = mass.inertia;
      assert_true(mass.volume > 1e-4 && mass.volume < 0.1);
      assert_close(mass.mass, DENSITY * mass.volume, 1e-9);
      for (int axis = 0; axis < 3; ++axis)
        assert_true(inertia[axis] > 0 && inertia[axis] < inertia[(axis + 1) % 3] + inertia[(axis + 2) % 3]);
    }
}

// ---- Shells ----

// Thin shells are what a full body has more than the one inside it; of order thickness squared.
static void test_shells_are_differences_of_solids(void **state) {
  (void)state;
  const double t = 1e-4;
  for (size_t k = 0; k < 2; ++k) { // ball and cylinder
    Turned large = turned[k], small = turned[k];
    large.shape.radius += t / 2, small.shape.radius -= t / 2;
    large.shape.size[0] += t, small.shape.size[0] -= t;
    large.half += t / 2, small.half -= t / 2;
    FloMassProperties outer = mass_of_slices(&large), inner = mass_of_slices(&small);
    outer.volume -= inner.volume, outer.mass -= inner.mass;
    for (int i = 0; i < 3; ++i) outer.inertia[i] -= inner.inertia[i];
    FloMassProperties mass = mass_of(&turned[k].shape, 3, 0.1, t);
    assert_mass(&mass, &outer, 1e-5);
  }
}

static void test_shells_of_boxes_and_tori(void **state) {
  (void)state;
  const double t = 0.002;
  FloMassProperties mass = mass_of(&(FloShape){FLO_SHAPE_BOX, .size = {0.3, 0.3, 0.3}}, 3, 0.1, t);
  double m = DENSITY * 6 * 0.09 * t, inertia = m * 0.09 * 5 / 18; // of a cubic shell: 5/18 m a^2
  FloMassProperties expected = {.volume = 0.54 * t, .mass = m, .inertia = {inertia, inertia, inertia}};
  assert_mass(&mass, &expected, 1e-9);
  mass = mass_of(&(FloShape){FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.1}, 3, 0.01, t);
  double area = 4 * FLO_PI * FLO_PI * 0.04;
  assert_close(mass.volume, area * t, 2e-3 * area * t);
  // m (R^2 + 3/2 r^2) about the axis of a hollow ring.
  assert_close(mass.inertia[2], mass.mass * (0.16 + 0.015), 2e-3 * mass.mass * 0.175);
}

static void test_a_sheet_needs_a_thickness(void **state) {
  (void)state;
  FloMassProperties mass =
      mass_of(&(FloShape){FLO_SHAPE_OUTLINE, .points = rectangle, .n_points = 4}, 3, 0.1, 0.01);
  double m = DENSITY * 0.0024;
  FloMassProperties expected = {
      .volume = 0.0024, .mass = m, .inertia = {m * 0.16 / 12, m * 0.36 / 12, m * 0.52 / 12}};
  assert_mass(&mass, &expected, 1e-9);
}

// ---- The plane ----

static FloMassProperties flat(double area, double squared_radius) {
  return (FloMassProperties){
      .volume = area, .mass = DENSITY * area, .inertia = {[2] = DENSITY * area * squared_radius}};
}

static void test_the_plane(void **state) {
  (void)state;
  static const double moved[] = {1, 1, 1.6, 1, 1.6, 1.4, 1, 1.4};
  const FloShape box = {FLO_SHAPE_BOX, .size = {0.6, 0.4}}, disc = {FLO_SHAPE_SPHERE, .radius = 0.3},
                 outline = {FLO_SHAPE_OUTLINE, .points = moved, .n_points = 4};
  const FloShape *shapes[] = {&box, &outline, &disc};
  const double full[] = {0.24, 0.24, FLO_PI * 0.09}, full_radius[] = {0.52 / 12, 0.52 / 12, 0.045};
  // Sides of lengths a and b, b/2 and a/2 from the middle: (a^2/12 + b^2/4) for the former.
  double a = 0.6, b = 0.4, frame = (a * (a * a / 12 + b * b / 4) + b * (b * b / 12 + a * a / 4)) / (a + b);
  const double edge[] = {2, 2, 2 * FLO_PI * 0.3}, edge_radius[] = {frame, frame, 0.09};
  for (int k = 0; k < 3; ++k)
    for (int is_shell = 0; is_shell < 2; ++is_shell) {
      double t = 0.005;
      FloMassProperties mass = mass_of(shapes[k], 2, 0.1, is_shell ? t : 0);
      FloMassProperties expected =
          is_shell ? flat(edge[k] * t, edge_radius[k]) : flat(full[k], full_radius[k]);
      if (k == 1) vec_set(expected.centre, 1.3, 1.2, 0);
      assert_mass(&mass, &expected, 1e-9);
    }
}

// ---- What weighs nothing ----

static void assert_weightless(const FloShape *shape, int dim, double density, double thickness,
                              const char *word) {
  FloMemory memory;
  FloSolid solid;
  FloError error;
  FloMassProperties mass;
  flo_memory_init(&memory, NULL);
  assert_ok(flo_solid_init(&solid, shape, dim, 0.1, 0.1, 1, &memory, &error), &error);
  assert_refused(flo_solid_mass(&solid, density, thickness, &mass, &error), &error, word);
  flo_solid_free(&solid);
  assert_int_equal(memory.bytes, 0);
}

// The cube's upper side is its first two triangles, its lower one the next two.
static void test_open_solids_have_no_mass(void **state) {
  (void)state;
  static const FloTriangles turned_cube = {cube_corners, cube_inside_out, 8, 12},
                            sheet = {cube_corners, cube_sides, 8, 2},
                            bowl = {cube_corners, cube_sides + 6, 8, 10},
                            pipe = {cube_corners, cube_sides + 12, 8, 8};
  const FloTriangles *open[] = {&sheet, &bowl, &pipe};
  for (size_t k = 0; k < FLO_COUNT_OF(open); ++k)
    assert_weightless(&(FloShape){FLO_SHAPE_MESH, .mesh = open[k]}, 3, 1, 0, "open");
  assert_weightless(&(FloShape){FLO_SHAPE_MESH, .mesh = &turned_cube}, 3, 1, 0, "inwards");
  for (int dim = 2; dim <= 3; ++dim)
    assert_weightless(&(FloShape){FLO_SHAPE_TANK, .size = {1, 1, 1}, .up = 1}, dim, 1, 0.1, "a tank has no");
  assert_weightless(&(FloShape){FLO_SHAPE_OUTLINE, .points = rectangle, .n_points = 4}, 3, 1, 0, "depth");
  FloMassProperties mass = mass_of(&(FloShape){FLO_SHAPE_MESH, .mesh = &pipe}, 3, 0.1, 0.01);
  assert_close(mass.volume, 0.04, 1e-12);
}

// A missing sliver and a seam with a vertex on one side only leave the mass as it was.
static void test_small_holes_do_not_matter(void **state) {
  (void)state;
  enum { N_CORNERS = FLO_COUNT_OF(cube_corners), N_SIDES = FLO_COUNT_OF(cube_sides) };
  double corners[N_CORNERS + 3];
  uint32_t sides[N_SIDES + 3];
  memcpy(corners, cube_corners, sizeof cube_corners);
  memcpy(sides, cube_sides, sizeof cube_sides);
  // The edge from corner 4 to 5 gets a vertex in the upper side, but none in that at the front.
  vec_set(corners + N_CORNERS, 0, -0.5, 0.5);
  sides[0] = 4, sides[1] = 8, sides[2] = 7;
  sides[N_SIDES] = 8, sides[N_SIDES + 1] = 5, sides[N_SIDES + 2] = 7;
  for (int is_moved = 0; is_moved < 2; ++is_moved) {
    if (is_moved) corners[N_CORNERS + 1] = -0.499; // the seam gapes
    const FloTriangles cube = {corners, sides, 9, 13};
    FloMassProperties mass = mass_of(&(FloShape){FLO_SHAPE_MESH, .mesh = &cube}, 3, 0.1, 0);
    FloMassProperties expected = block_mass(1, 1, 1, 0);
    assert_mass(&mass, &expected, is_moved ? 1e-3 : 1e-9);
  }
}

static void test_bad_requests_are_refused(void **state) {
  (void)state;
  const FloShape box = {FLO_SHAPE_BOX, .size = {1, 1, 1}};
  const double bad[] = {-1, NAN, INFINITY};
  assert_weightless(&box, 3, 0, 0, "density");
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    assert_weightless(&box, 3, bad[k], 0, "density");
    assert_weightless(&box, 2, 1, bad[k], "thickness");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_bodies_weigh_what_their_slices_do),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_a_ramp_and_a_wedge),
      cmocka_unit_test(test_rounded_boxes_are_as_round_as_their_triangles),
      cmocka_unit_test(test_every_kind_weighs_something),
      cmocka_unit_test(test_shells_are_differences_of_solids),
      cmocka_unit_test(test_shells_of_boxes_and_tori),
      cmocka_unit_test(test_a_sheet_needs_a_thickness),
      cmocka_unit_test(test_the_plane),
      cmocka_unit_test(test_open_solids_have_no_mass),
      cmocka_unit_test(test_small_holes_do_not_matter),
      cmocka_unit_test(test_bad_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
