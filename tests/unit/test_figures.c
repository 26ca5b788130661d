// Blended primitives, the polygoniser, and the figures made with them.
#include "base/vecmath.h"
#include "geometry/figures.h"
#include "geometry/polygonise.h"
#include "support/manifold.h"
#include "support/random.h"

// ---- Primitives ----

// The distance to a round cone by trying many of the spheres it is swept by.
static double brute_round_cone(const FloPrimitive *cone, const double point[3]) {
  double best = INFINITY;
  for (int k = 0; k <= 20000; ++k) {
    double s = k / 20000.0, d[3];
    for (int axis = 0; axis < 3; ++axis) d[axis] = point[axis] - (1 - s) * cone->a[axis] - s * cone->b[axis];
    best = fmin(best, vec_length(d) - (1 - s) * cone->radii[0] - s * cone->radii[1]);
  }
  return best;
}

static void test_round_cones_are_swept_by_spheres(void **state) {
  (void)state;
  Random random = {3};
  for (int k = 0; k < 200; ++k) {
    FloPrimitive cone = {.kind = FLO_PRIMITIVE_ROUND_CONE};
    double point[3];
    for (int axis = 0; axis < 3; ++axis) {
      cone.a[axis] = random_between(&random, -1, 1);
      cone.b[axis] = random_between(&random, -1, 1);
      point[axis] = random_between(&random, -2, 2);
    }
    cone.radii[0] = random_between(&random, 0.1, 1.5), cone.radii[1] = random_between(&random, 0.1, 1);
    assert_close(flo_primitive_value(&cone, point), brute_round_cone(&cone, point), 1e-6);
  }
}

static void test_primitives_vanish_on_their_surface(void **state) {
  (void)state;
  const double half = FLO_PI / 2;
  const FloPrimitive ball = {FLO_PRIMITIVE_SPHERE, .a = {1, 2, 3}, .radii = {2}};
  // The long axis of the egg and the axis of the ring turn from x and z to y and x.
  const FloPrimitive egg = {FLO_PRIMITIVE_ELLIPSOID, .a = {0, 1, 0}, .radii = {3, 1, 2},
                            .turn = {0, 0, half}};
  const FloPrimitive ring = {FLO_PRIMITIVE_TORUS, .radii = {2, 0.5}, .turn = {0, half, 0}};
  FloPrimitive twin = {FLO_PRIMITIVE_SPHERE, .a = {0, 2, 0}, .radii = {0.5}, .is_mirrored = true};
  assert_close(flo_primitive_value(&ball, (double[3]){1, 2, 6}), 1, 1e-12);
  assert_close(flo_primitive_value(&egg, (double[3]){0, 4, 0}), 0, 1e-12);
  assert_close(flo_primitive_value(&egg, (double[3]){1, 1, 0}), 0, 1e-12);
  assert_close(flo_primitive_value(&egg, (double[3]){0, 1, 2}), 0, 1e-12);
  assert_close(flo_primitive_value(&egg, (double[3]){0, 1, 0}), -1, 1e-12);
  assert_close(flo_primitive_value(&ring, (double[3]){0.5, 2, 0}), 0, 1e-12);
  assert_close(flo_primitive_value(&ring, (double[3]){0, 0, 2.5}), 0, 1e-12);
  assert_close(flo_primitive_value(&twin, (double[3]){0, -2.5, 0}), 0, 1e-12);
  twin.is_mirrored = false;
  assert_close(flo_primitive_value(&twin, (double[3]){0, -2.5, 0}), 4, 1e-12);
}

static void test_blends_reach_a_quarter_of_their_width(void **state) {
  (void)state;
  FloPrimitive parts[] = {{FLO_PRIMITIVE_SPHERE, .a = {-1, 0, 0}, .radii = {1}},
                          {FLO_PRIMITIVE_SPHERE, .a = {1, 0, 0}, .radii = {1}, .blend = 0.4}};
  const FloImplicit implicit = {.primitives = parts, .n_primitives = 2};
  assert_close(flo_implicit_value(&implicit, (double[3]){0, 0, 0}), -0.1, 1e-12);
  assert_close(flo_implicit_value(&implicit, (double[3]){3, 0, 0}), 1,
               1e-12); // out of reach of the other one
  parts[1].is_subtracted = true;
  assert_close(flo_implicit_value(&implicit, (double[3]){0, 0, 0}), 0.1, 1e-12);
  assert_close(flo_implicit_value(&implicit, (double[3]){1.5, 0, 0}), 1.5, 1e-12);
  assert_close(flo_implicit_value(&implicit, (double[3]){-2, 0, 0}), 0, 1e-12);
  parts[1].blend = 0;
  assert_close(flo_implicit_value(&implicit, (double[3]){0, 0, 0}), 0, 1e-12);
}

static void test_frames_change_no_value(void **state) {
  (void)state;
  Random random = {12};
  for (int figure = 0; figure < FLO_FIGURE_COUNT; ++figure) {
    const FloImplicit plain = flo_figure_implicit((FloFigure)figure);
    FloImplicit prepared = plain;
    FloPrimitiveFrame frames[32];
    flo_implicit_prepare(&prepared, frames);
    for (int k = 0; k < 2000; ++k) {
      double point[3];
      for (int axis = 0; axis < 3; ++axis) point[axis] = random_between(&random, -1.5, 2.5);
      assert_true(flo_implicit_value(&plain, point) == flo_implicit_value(&prepared, point));
    }
  }
}

static void test_bounds_hold_the_solid(void **state) {
  (void)state;
  Random random = {11};
  for (int figure = 0; figure < FLO_FIGURE_COUNT; ++figure) {
    FloImplicit implicit = flo_figure_implicit((FloFigure)figure);
    double low[3], high[3], point[3];
    flo_implicit_bounds(&implicit, low, high);
    for (int k = 0; k < 20000; ++k) {
      bool is_outside = false;
      for (int axis = 0; axis < 3; ++axis) {
        point[axis] = random_between(&random, low[axis] - 0.5, high[axis] + 0.5);
        is_outside = is_outside || point[axis] < low[axis] || point[axis] > high[axis];
      }
      if (is_outside) assert_true(flo_implicit_value(&implicit, point) > 0);
    }
  }
}

// ---- Polygons of any field ----

static double implicit_field(const void *context, const double point[3]) {
  return flo_implicit_value(context, point);
}

// One value per lattice node, at random: the worst that a polygoniser can be given.
static double noise_field(const void *context, const double point[3]) {
  Random random = {*(const uint64_t *)context};
  for (int axis = 0; axis < 3; ++axis)
    random.state = random_bits(&random) ^ (uint64_t)llround(point[axis] * 16);
  return random_between(&random, -1, 1);
}

static double plane_field(const void *context, const double point[3]) {
  (void)context;
  return point[2];
}

static double holed_field(const void *context, const double point[3]) {
  (void)context;
  return point[0] > 0 ? NAN : vec_length(point) - 1;
}

static double nowhere_field(const void *context, const double point[3]) {
  (void)context, (void)point;
  return 1;
}

static const double minus_one[3] = {-1, -1, -1}, plus_one[3] = {1, 1, 1};

static void polygonise(Fixture *fixture, FloSignedField field, double extent, double cell) {
  FloError error;
  double low[3], high[3];
  vec_scale(minus_one, extent, low);
  vec_scale(plus_one, extent, high);
  fixture_init(fixture);
  assert_ok(flo_polygonise(&field, low, high, cell, &fixture->mesh, &error), &error);
}

// Topology only: there is no surface worth the name.
static void test_noise_gives_a_manifold(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Fixture fixture;
    polygonise(&fixture, (FloSignedField){noise_field, &seed}, 1, 0.19);
    check_topology(&fixture.mesh);
    assert_true(fixture.mesh.n_triangles > 1000);
    fixture_free(&fixture);
  }
}

static void test_a_field_that_leaves_the_box_is_cut_off(void **state) {
  (void)state;
  Fixture fixture;
  double low[3], high[3];
  polygonise(&fixture, (FloSignedField){plane_field, NULL}, 1, 0.1);
  check_manifold(&fixture.mesh);
  assert_int_equal(euler_characteristic(&fixture.mesh), 2);
  flo_mesh_bounds(&fixture.mesh, low, high);
  assert_close_3(low, minus_one, 0.1);
  assert_close_3(high, ((double[3]){1, 1, 0}), 0.1);
  assert_close(mesh_volume(&fixture.mesh), 4, 0.4);
  fixture_free(&fixture);
}

static void test_what_is_no_number_is_outside(void **state) {
  (void)state;
  Fixture fixture;
  polygonise(&fixture, (FloSignedField){holed_field, NULL}, 1.2, 0.1);
  check_manifold(&fixture.mesh);
  for (size_t k = 0; k < fixture.mesh.n_vertices; ++k)
    assert_true(vec_is_finite(flo_mesh_vertex(&fixture.mesh, k)));
  fixture_free(&fixture);
}

static void check_field_mesh(const FloPrimitive *primitive, double cell, long euler, double volume,
                             double radius) {
  const FloImplicit implicit = {.primitives = primitive, .n_primitives = 1};
  Fixture fixture;
  polygonise(&fixture, (FloSignedField){implicit_field, &implicit}, 1.1, cell);
  check_manifold(&fixture.mesh);
  assert_int_equal(euler_characteristic(&fixture.mesh), euler);
  for (size_t k = 0; k < fixture.mesh.n_vertices; ++k)
    assert_close(flo_implicit_value(&implicit, flo_mesh_vertex(&fixture.mesh, k)), 0, 1e-9);
  assert_close(mesh_volume(&fixture.mesh), volume, 0.5 * cell * cell / (radius * radius) * volume);
  fixture_free(&fixture);
}

static void test_volumes_converge(void **state) {
  (void)state;
  const FloPrimitive ball = {FLO_PRIMITIVE_SPHERE, .radii = {1}};
  const FloPrimitive ring = {FLO_PRIMITIVE_TORUS, .radii = {0.7, 0.3}, .turn = {0.3, 0.2, 0.1}};
  for (double cell = 0.12; cell > 0.02; cell /= 2) {
    check_field_mesh(&ball, cell, 2, 4 * FLO_PI / 3, 1);
    check_field_mesh(&ring, cell, 0, 2 * FLO_PI * FLO_PI * 0.7 * 0.09, 0.3);
  }
}

static void test_bad_fields_are_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  FloMesh *m = &fixture.mesh;
  const FloSignedField plane = {plane_field, NULL}, nowhere = {nowhere_field, NULL};
  const double odd[3] = {1, NAN, 1};
  assert_refused(flo_polygonise(&plane, minus_one, plus_one, 0, m, &error), &error, "positive");
  assert_refused(flo_polygonise(&plane, minus_one, odd, 0.1, m, &error), &error, "finite");
  assert_refused(flo_polygonise(&plane, minus_one, plus_one, 1e-6, m, &error), &error, "make it larger");
  assert_refused(flo_polygonise(&nowhere, minus_one, plus_one, 0.1, m, &error), &error, "no surface");
  fixture_free(&fixture);
}

// ---- Figures ----

typedef FloStatus FigureMaker(double extent, double fineness, FloMesh *mesh, FloError *error);

typedef struct FigureCase {
  FigureMaker *make;
  int axis;
  const char *name;
} FigureCase;

static const FigureCase figure_cases[FLO_FIGURE_COUNT] = {
    [FLO_FIGURE_DUCK] = {flo_mesh_duck, 0, "duck"},
    [FLO_FIGURE_RABBIT] = {flo_mesh_rabbit, 2, "rabbit"},
    [FLO_FIGURE_ARMADILLO] = {flo_mesh_armadillo, 2, "armadillo"}};
// The nets that most tests look at, made once: a metre large, finest first. The first is as fine as there
// are; the others are finenesses that users have.
static const double finenesses[] = {1e-9, 0.013, 0.02, 0.03, 0.04, 0.05, 1};
enum { N_NETS = FLO_COUNT_OF(finenesses), FINEST = 0, MEDIUM = 2, COARSE = 4 };
static Fixture nets[FLO_FIGURE_COUNT][N_NETS];

static void make(Fixture *fixture, const FigureCase *figure, double extent, double fineness) {
  FloError error;
  fixture_init(fixture);
  assert_ok(figure->make(extent, fineness, &fixture->mesh, &error), &error);
}

static int make_nets(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k)
    for (int i = 0; i < N_NETS; ++i) make(&nets[k][i], &figure_cases[k], 1, finenesses[i]);
  return 0;
}

static int free_nets(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k)
    for (int i = 0; i < N_NETS; ++i) fixture_free(&nets[k][i]);
  return 0;
}

static void check_angles(const FloMesh *mesh, const char *name, double fineness) {
  size_t n_needles = 0;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    assert_true(smallest_angle(mesh, k) > 0.01);
    n_needles += smallest_angle(mesh, k) < 3;
  }
  if (n_needles * 100 > mesh->n_triangles)
    fail_msg("%s at %g: %zu of %zu triangles are needles", name, fineness, n_needles, mesh->n_triangles);
}

// A coarse net cuts off thin tips, such as the bill, a fine one next to nothing; none stands out.
static void check_size(const FloMesh *mesh, int axis, double extent, double fineness) {
  double low[3], high[3], share = fineness < 0.025 * extent ? 0.2 : 1.5,
                          cut = share * fmin(fineness, 0.055 * extent) + 2e-4 * extent;
  flo_mesh_bounds(mesh, low, high);
  assert_true(high[axis] > 0.5 * extent - cut && high[axis] < 0.5001 * extent);
  assert_true(low[axis] < -0.5 * extent + cut && low[axis] > -0.5001 * extent);
}

// The size is that of the body that the parts make, not of the net: blunt parts are in the same place
// whatever the fineness, and fine nets fill the box around the origin.
static void test_figures_of_any_fineness_lie_upon_each_other(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k) {
    double fine_low[3], fine_high[3], low[3], high[3];
    flo_mesh_bounds(&nets[k][FINEST].mesh, fine_low, fine_high);
    for (int i = 0; i < N_NETS && finenesses[i] < 1; ++i) {
      flo_mesh_bounds(&nets[k][i].mesh, low, high);
      assert_close(low[2], fine_low[2], 2e-3);
      assert_close(high[1], fine_high[1], 5e-3);
    }
    assert_close(fine_high[figure_cases[k].axis] - fine_low[figure_cases[k].axis], 1, 2e-4);
    for (int c = 0; c < 3; ++c) assert_close(fine_low[c], -fine_high[c], 1e-4);
  }
}

static void test_figures_are_closed(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k)
    for (int i = 0; i < N_NETS; ++i) {
      const FigureCase *figure = &figure_cases[k];
      const FloMesh *mesh = &nets[k][i].mesh;
      check_manifold(mesh);
      if (euler_characteristic(mesh) != 2 || count_components(mesh) != 1)
        fail_msg("%s at %g: Euler characteristic %ld, %zu components", figure->name, finenesses[i],
                 euler_characteristic(mesh), count_components(mesh));
      check_size(mesh, figure->axis, 1, finenesses[i]);
      check_angles(mesh, figure->name, finenesses[i]);
    }
}

// As fine as they may be, and no finer.
static void test_figures_are_bounded(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k) assert_in_range(nets[k][FINEST].mesh.n_triangles, 70000, 200000);
}

static void test_figures_lie_on_their_fields(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k)
    for (double cell = 0.1; cell > 0.04; cell /= 2) {
      FloImplicit implicit = flo_figure_implicit((FloFigure)k);
      FloPrimitiveFrame frames[32];
      double low[3], high[3];
      FloError error;
      Fixture fixture;
      fixture_init(&fixture);
      flo_implicit_bounds(&implicit, low, high);
      flo_implicit_prepare(&implicit, frames);
      const FloSignedField field = {implicit_field, &implicit};
      assert_ok(flo_polygonise(&field, low, high, cell, &fixture.mesh, &error), &error);
      for (size_t v = 0; v < fixture.mesh.n_vertices; ++v)
        assert_close(flo_implicit_value(&implicit, flo_mesh_vertex(&fixture.mesh, v)), 0, 2.4e-3);
      fixture_free(&fixture);
    }
}

static void test_volumes_of_figures_converge(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k) {
    double coarse = mesh_volume(&nets[k][COARSE].mesh), medium = mesh_volume(&nets[k][MEDIUM].mesh);
    double fine = mesh_volume(&nets[k][FINEST].mesh);
    // Nets lie inside of round bodies, by a share that falls with the square of the fineness.
    assert_true(coarse < medium && medium < fine);
    assert_close(coarse, fine, 0.024 * fine);
    assert_close(medium, fine, 0.006 * fine);
    Fixture small;
    make(&small, &figure_cases[k], 1e-3, 1e-3 * finenesses[COARSE]);
    assert_close(mesh_volume(&small.mesh), coarse * 1e-9, 1e-9 * 1e-9);
    fixture_free(&small);
  }
}

static void test_the_default_duck_has_two_thousand_triangles(void **state) {
  (void)state;
  Fixture fixture;
  make(&fixture, &figure_cases[FLO_FIGURE_DUCK], 1, FLO_FIGURE_FINENESS);
  assert_in_range(fixture.mesh.n_triangles, 1700, 2300);
  fixture_free(&fixture);
}

// Heads are up and in front: the highest vertex is in front of the middle, or the arms and ears are.
static void test_figures_look_along_x(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k) {
    const FloMesh *mesh = &nets[k][MEDIUM].mesh;
    double low[3], high[3], mean = 0, n = 0;
    flo_mesh_bounds(mesh, low, high);
    for (size_t v = 0; v < mesh->n_vertices; ++v) {
      const double *p = flo_mesh_vertex(mesh, v);
      if (p[2] > 0.6 * high[2]) mean += p[0], n += 1;
    }
    assert_true(mean / n > 0.1 * high[0]);
    assert_close(low[1], -high[1], 1e-4);
  }
}

static void test_figures_are_the_same_every_time(void **state) {
  (void)state;
  for (int k = 0; k < FLO_FIGURE_COUNT; ++k) {
    const FloMesh *first = &nets[k][MEDIUM].mesh;
    Fixture again;
    make(&again, &figure_cases[k], 1, finenesses[MEDIUM]);
    assert_int_equal(first->n_vertices, again.mesh.n_vertices);
    assert_memory_equal(first->vertices.data, again.mesh.vertices.data,
                        first->n_vertices * sizeof(double[3]));
    assert_memory_equal(first->triangles.data, again.mesh.triangles.data,
                        first->n_triangles * sizeof(uint32_t[3]));
    fixture_free(&again);
  }
}

static void test_bad_measures_are_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  FloMesh *m = &fixture.mesh;
  assert_refused(flo_mesh_duck(0, 1, m, &error), &error, "duck: the length");
  assert_refused(flo_mesh_rabbit(NAN, 1, m, &error), &error, "rabbit: the height");
  assert_refused(flo_mesh_armadillo(-1, 1, m, &error), &error, "armadillo: the height");
  assert_refused(flo_mesh_duck(1, 0, m, &error), &error, "fineness");
  assert_refused(flo_mesh_duck(1, INFINITY, m, &error), &error, "fineness");
  assert_int_equal(m->n_vertices, 0);
  fixture_free(&fixture);
}

static void test_memory_may_run_out(void **state) {
  (void)state;
  FloStatus status = FLO_NO_MEMORY;
  for (size_t fail_at = 1; status != FLO_OK && fail_at < 100; ++fail_at) {
    Fixture fixture;
    FloError error;
    fixture_init(&fixture);
    fixture.counter.fail_at = fail_at;
    status = flo_mesh_duck(1, 0.05, &fixture.mesh, &error);
    fixture_free(&fixture);
    assert_true(status == FLO_OK || status == FLO_NO_MEMORY);
  }
  assert_int_equal(status, FLO_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_cones_are_swept_by_spheres),
      cmocka_unit_test(test_primitives_vanish_on_their_surface),
      cmocka_unit_test(test_blends_reach_a_quarter_of_their_width),
      cmocka_unit_test(test_frames_change_no_value),
      cmocka_unit_test(test_bounds_hold_the_solid),
      cmocka_unit_test(test_noise_gives_a_manifold),
      cmocka_unit_test(test_a_field_that_leaves_the_box_is_cut_off),
      cmocka_unit_test(test_what_is_no_number_is_outside),
      cmocka_unit_test(test_volumes_converge),
      cmocka_unit_test(test_bad_fields_are_refused),
      cmocka_unit_test(test_figures_are_closed),
      cmocka_unit_test(test_figures_of_any_fineness_lie_upon_each_other),
      cmocka_unit_test(test_figures_lie_on_their_fields),
      cmocka_unit_test(test_volumes_of_figures_converge),
      cmocka_unit_test(test_the_default_duck_has_two_thousand_triangles),
      cmocka_unit_test(test_figures_are_bounded),
      cmocka_unit_test(test_figures_look_along_x),
      cmocka_unit_test(test_figures_are_the_same_every_time),
      cmocka_unit_test(test_bad_measures_are_refused),
      cmocka_unit_test(test_memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, make_nets, free_nets);
}
