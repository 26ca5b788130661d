// Distance grids against the distances of bodies that are known.
#include "support/geometry.h"

static void fixture_build(Fixture *f, double cell) {
  FloError error;
  fixture_build_tree(f);
  assert_ok(flo_sdf_build(&f->sdf, &f->bvh, cell, 4, 2, &error), &error);
}

// ---- Bodies ----

static const double box_half[3] = {0.5, 0.4, 0.3};

static void add_box(Fixture *f) {
  double low[3];
  vec_scale(box_half, -1, low);
  mesh_add_box(&f->mesh, low, box_half, false);
}

static double box_distance(const double half[3], const double p[3]) {
  double outside = 0, inside = -INFINITY;
  for (int axis = 0; axis < 3; ++axis) {
    double d = fabs(p[axis]) - half[axis];
    outside += d > 0 ? d * d : 0;
    inside = fmax(inside, d);
  }
  return outside > 0 ? sqrt(outside) : inside;
}

static double the_box(const double p[3]) { return box_distance(box_half, p); }

// The square of side 2 less its upper right quarter, 1 high: five convex edges and a concave one.
static const double ell[6][2] = {{-1, -1}, {1, -1}, {1, 0}, {0, 0}, {0, 1}, {-1, 1}};

static void add_ell(Fixture *f) {
  for (int k = 0; k < 12; ++k) mesh_add_vertex(&f->mesh, ell[k % 6][0], ell[k % 6][1], k < 6 ? -0.5 : 0.5);
  for (uint32_t k = 0; k < 6; ++k) mesh_add_quad(&f->mesh, k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6);
  mesh_add_quad(&f->mesh, 0, 3, 2, 1), mesh_add_quad(&f->mesh, 0, 5, 4, 3);
  mesh_add_quad(&f->mesh, 6, 7, 8, 9), mesh_add_quad(&f->mesh, 6, 9, 10, 11);
}

static double the_ell(const double p[3]) {
  double flat = INFINITY;
  for (int k = 0; k < 6; ++k) {
    const double *a = ell[k], *b = ell[(k + 1) % 6];
    double e[3] = {b[0] - a[0], b[1] - a[1], 0}, d[3] = {p[0] - a[0], p[1] - a[1], 0};
    double t = fmin(fmax(vec_dot(e, d) / vec_dot(e, e), 0), 1);
    flat = fmin(flat, hypot(d[0] - t * e[0], d[1] - t * e[1]));
  }
  bool is_inside = fabs(p[0]) < 1 && fabs(p[1]) < 1 && !(p[0] > 0 && p[1] > 0);
  double height = fabs(p[2]) - 0.5;
  flat = is_inside ? -flat : flat;
  return flat > 0 && height > 0 ? hypot(flat, height) : fmax(flat, height);
}

// An icosahedron, every triangle of it cut into n by n and blown up to the unit sphere. Seams are doubled.
static void add_icosphere(Fixture *f, int n) {
  static const double g = 1.6180339887498949;
  const double v[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                           {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  static const uint8_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                       {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                       {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                       {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int face = 0; face < 20; ++face) {
    uint32_t first = (uint32_t)f->mesh.n_vertices;
    const double *a = v[faces[face][0]], *b = v[faces[face][1]], *c = v[faces[face][2]];
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j) {
        double p[3];
        for (int axis = 0; axis < 3; ++axis)
          p[axis] = a[axis] * n + (b[axis] - a[axis]) * i + (c[axis] - a[axis]) * j;
        vec_scale(p, 1 / vec_length(p), p);
        mesh_add_vertex(&f->mesh, p[0], p[1], p[2]);
      }
    for (uint32_t i = 0, row = (uint32_t)n + 1; i < (uint32_t)n; ++i)
      for (uint32_t j = 0; i + j < (uint32_t)n; ++j) {
        uint32_t k = first + i * row + j;
        mesh_add_triangle(&f->mesh, k, k + row, k + 1);
        if (i + j + 1 < (uint32_t)n) mesh_add_triangle(&f->mesh, k + 1, k + row, k + row + 1);
      }
  }
}

static double the_sphere(const double p[3]) { return vec_length(p) - 1; }

// A ball with a fine grid, which several tests look at.
static Fixture ball;

static int make_ball(void **state) {
  (void)state;
  fixture_init(&ball);
  add_icosphere(&ball, 40);
  fixture_build(&ball, 0.05);
  return 0;
}

static int free_ball(void **state) {
  (void)state;
  fixture_free(&ball);
  return 0;
}

// ---- Checks ----

typedef double Distance(const double p[3]);

// The largest error within two cells of the surface. Everywhere in the grid: signs, and no overestimates.
static double check_grid(const Fixture *f, Distance *exact, double slack) {
  double worst = 0, cell = f->sdf.cell;
  for (size_t k = 0; k < f->sdf.n[2]; ++k)
    for (size_t j = 0; j < f->sdf.n[1]; ++j)
      for (size_t i = 0; i < f->sdf.n[0]; ++i) {
        double p[3] = {f->sdf.low[0] + cell * (double)i, f->sdf.low[1] + cell * (double)j,
                       f->sdf.low[2] + cell * (double)k};
        double expected = exact(p), value = flo_sdf_distance(&f->sdf, p);
        if (fabs(expected) > slack && (value < 0) != (expected < 0))
          fail_msg("wrong sign at (%g, %g, %g): %g instead of %g", p[0], p[1], p[2], value, expected);
        assert_true(fabs(value) <= fabs(expected) + slack);
        if (fabs(expected) < 4 * cell) assert_close(value, expected, slack);
        assert_true(fabs(value) > 0.6 * fabs(expected) - slack); // a bound, but not a useless one
        if (fabs(expected) < 2 * cell) worst = fmax(worst, fabs(value - expected));
      }
  return worst;
}

static double worst_between_nodes(const Fixture *f, Distance *exact, double reach, double size) {
  Random random = {1};
  double worst = 0;
  for (int n = 0; n < 20000;) {
    double p[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(&random, -size, size);
    if (fabs(exact(p)) > reach) continue;
    worst = fmax(worst, fabs(flo_sdf_distance(&f->sdf, p) - exact(p)));
    ++n;
  }
  return worst;
}

static void test_a_sphere_is_exact_at_nodes_and_close_between_them(void **state) {
  (void)state;
  // Facets lie up to 3e-4 inside the sphere.
  assert_true(check_grid(&ball, the_sphere, 5e-4) < 5e-4);
  double worst = worst_between_nodes(&ball, the_sphere, 0.1, 1.1);
  print_message("sphere: error of %.3f cells\n", worst / 0.05);
  assert_true(worst < 0.03 * 0.05);
}

static void test_errors_fall_with_the_square_of_the_cell(void **state) {
  (void)state;
  double errors[3], cell = 0.24;
  Fixture f;
  FloError error;
  fixture_init(&f);
  add_icosphere(&f, 60);
  fixture_build_tree(&f);
  for (int k = 0; k < 3; ++k, cell /= 2) {
    assert_ok(flo_sdf_build(&f.sdf, &f.bvh, cell, 4, 2, &error), &error);
    errors[k] = worst_between_nodes(&f, the_sphere, 0.12, 1.15);
    flo_sdf_free(&f.sdf);
  }
  f.sdf = (FloSdf){0};
  fixture_free(&f);
  print_message("errors %.2g, %.2g, %.2g\n", errors[0], errors[1], errors[2]);
  assert_true(errors[1] < errors[0] / 3 && errors[2] < errors[1] / 3);
}

static void test_a_box_has_the_right_signs_at_its_edges(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f);
  fixture_build(&f, 0.037);
  assert_true(check_grid(&f, the_box, 1e-6) < 1e-6);
  // Between nodes the kink along an edge is cut, by at most a quarter cell or so.
  assert_true(worst_between_nodes(&f, the_box, 0.05, 0.6) < 0.45 * 0.037);
  fixture_free(&f);
}

static void test_flat_sides_are_exact_between_nodes(void **state) {
  (void)state;
  Fixture f;
  Random random = {2};
  fixture_init(&f);
  add_box(&f);
  fixture_build(&f, 0.037);
  for (int k = 0; k < 2000; ++k) {
    double p[3] = {random_between(&random, -0.3, 0.3), random_between(&random, -0.25, 0.25),
                   random_between(&random, 0.25, 0.4)};
    double normal[3];
    assert_close(flo_sdf_distance(&f.sdf, p), p[2] - 0.3, 1e-6);
    flo_sdf_normal(&f.sdf, p, normal);
    assert_close_3(normal, ((double[3]){0, 0, 1}), 1e-4);
  }
  fixture_free(&f);
}

static void test_concave_and_convex_edges(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_ell(&f);
  fixture_build(&f, 0.061);
  assert_true(check_grid(&f, the_ell, 1e-6) < 1e-6);
  fixture_free(&f);
}

static void node_place(const FloSdf *sdf, size_t node, double p[3]) {
  const size_t index[3] = {node % sdf->n[0], node / sdf->n[0] % sdf->n[1], node / sdf->n[0] / sdf->n[1]};
  for (int axis = 0; axis < 3; ++axis) p[axis] = sdf->low[axis] + sdf->cell * (double)index[axis];
}

// A side loses one of its two triangles. Everywhere but close before the hole signs stay right: there the
// border between inside and outside is the surface the winding number makes up. The hole is closed by a
// surface of w = 1/2, which lies within the box's side up to a bulge.
static void test_a_missing_triangle_does_not_turn_the_signs(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f);
  uint32_t *t = flo_mesh_triangle(&f.mesh, 2); // of the upper side
  t[1] = t[2] = t[0];
  fixture_build(&f, 0.037);
  size_t n_checked = 0, n_nodes = f.sdf.n[0] * f.sdf.n[1] * f.sdf.n[2];
  for (size_t k = 0; k < n_nodes; ++k) {
    double p[3];
    node_place(&f.sdf, k, p);
    // A box is convex and has a quarter of its surface at most missing: w = 1/2 stays within 0.15 of the
    // hole.
    bool is_before_hole = p[1] < p[0] * 0.8 + 0.1 && fabs(p[2] - 0.3) < 0.15;
    if (is_before_hole || fabs(the_box(p)) < 1e-9) continue;
    if ((flo_sdf_distance(&f.sdf, p) < 0) != (the_box(p) < 0))
      fail_msg("wrong sign at (%g, %g, %g)", p[0], p[1], p[2]);
    assert_true((flo_sdf_distance(&f.sdf, p) < 0) == (flo_bvh_winding(&f.bvh, p) > 0.5));
    ++n_checked;
  }
  assert_true(n_checked > n_nodes / 2);
  fixture_free(&f);
}

// Signs taken over from a neighbour are those the winding number gives at the node itself, in front of a
// large hole too.
static void test_signs_are_those_of_the_winding_number(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_icosphere(&f, 10);
  for (size_t k = 0; k < f.mesh.n_triangles; ++k) { // cut off the top
    uint32_t *t = flo_mesh_triangle(&f.mesh, k);
    if (flo_mesh_vertex(&f.mesh, t[0])[2] > 0.8) t[1] = t[2] = t[0];
  }
  fixture_build(&f, 0.075);
  size_t n_wrong = 0;
  for (size_t k = 0; k < f.sdf.n[0] * f.sdf.n[1] * f.sdf.n[2]; ++k) {
    double p[3];
    node_place(&f.sdf, k, p);
    double w = flo_bvh_winding(&f.bvh, p);
    // What lies on the surface itself may be taken for either side.
    if (fabs(w - 0.5) > 1e-9 && fabs(flo_sdf_distance(&f.sdf, p)) > 1e-12)
      n_wrong += (flo_sdf_distance(&f.sdf, p) < 0) != (w > 0.5);
  }
  assert_int_equal(n_wrong, 0);
  fixture_free(&f);
}

static void test_normals_of_a_sphere(void **state) {
  (void)state;
  Random random = {3};
  for (int k = 0; k < 2000; ++k) {
    double p[3], normal[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(&random, -1, 1);
    vec_scale(p, random_between(&random, 0.9, 1.1) / vec_length(p), p);
    flo_sdf_normal(&ball.sdf, p, normal);
    assert_close(vec_length(normal), 1, 1e-12);
    assert_true(vec_dot(normal, p) / vec_length(p) > cos(0.05));
  }
}

static void test_points_outside_of_the_grid(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f);
  fixture_build(&f, 0.05);
  assert_close(flo_sdf_distance(&f.sdf, (double[3]){5, 0, 0}), 4.5, 0.05);
  assert_close(flo_sdf_distance(&f.sdf, (double[3]){0, -7, 0}), 6.6, 0.05);
  double normal[3];
  flo_sdf_normal(&f.sdf, (double[3]){5, 0, 0}, normal);
  assert_close_3(normal, ((double[3]){1, 0, 0}), 1e-2);
  assert_true(flo_sdf_distance(&f.sdf, (double[3]){1e30, 0, 0}) >= 0.99e30);
  assert_true(isnan(flo_sdf_distance(&f.sdf, (double[3]){NAN, 0, 0})));
  fixture_free(&f);
}

// ---- The far field ----

// By brute force: the least distance to any triangle.
static double nearest_triangle(const Fixture *f, const double p[3]) {
  double square = INFINITY;
  for (uint32_t t = 0; t < f->mesh.n_triangles; ++t)
    square = fmin(square, flo_triangle_square_distance(&f->mesh, t, p, INFINITY));
  return sqrt(square);
}

// Far from a ball there are but few nodes, inside and outside. Their values are lower bounds, never less than
// six tenths of the distance, and grow along every way that leads away from the surface.
static void test_far_values_are_bounds_that_grow(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  Random random = {7};
  fixture_init(&f);
  add_icosphere(&f, 12);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  assert_ok(flo_sdf_build(&f.sdf, &f.bvh, 0.025, 48, 2, &error), &error);
  size_t n_blocks = f.sdf.n[0] / FLO_SDF_BLOCK * (f.sdf.n[1] / FLO_SDF_BLOCK) * (f.sdf.n[2] / FLO_SDF_BLOCK);
  assert_true(f.sdf.n_near < n_blocks / 3);
  for (int k = 0; k < 1000; ++k) {
    double p[3], q[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(&random, -2, 2);
    double expected = nearest_triangle(&f, p), value = flo_sdf_distance(&f.sdf, p);
    bool is_inside = vec_length(p) < 1;
    if (expected > 0.01) assert_true((value < 0) == is_inside);
    // Between nodes near the surface a cell's kinks add a little.
    assert_true(fabs(value) < expected + 1e-3 && fabs(value) > 0.6 * expected - 1e-3);
    vec_scale(p, (is_inside ? -0.2 : 0.2) / vec_length(p), q);
    vec_add(p, q, q);
    if (vec_length(p) > 0.3 && vec_length(q) < 2)
      assert_true(fabs(flo_sdf_distance(&f.sdf, q)) > fabs(value) + 0.05);
  }
  fixture_free(&f);
}

// Rows of nodes that run exactly along faces, edges and through corners count each of them once: the box's
// middle is a node, and its sides are whole cells.
static void test_rows_along_faces_and_edges(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f);
  fixture_build(&f, 0.05);
  assert_true(check_grid(&f, the_box, 1e-6) < 1e-6);
  fixture_free(&f);
}

// ---- The grid ----

static void test_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  Fixture f;
  FloSdf other;
  FloError error;
  fixture_init(&f);
  add_icosphere(&f, 12);
  fixture_build(&f, 0.1);
  for (int threads = 1; threads <= 5; threads += 2) {
    assert_ok(flo_sdf_build(&other, &f.bvh, 0.1, 4, threads, &error), &error);
    size_t n_blocks =
        other.n[0] / FLO_SDF_BLOCK * (other.n[1] / FLO_SDF_BLOCK) * (other.n[2] / FLO_SDF_BLOCK);
    assert_memory_equal(other.places.data, f.sdf.places.data, n_blocks * sizeof(uint32_t));
    assert_memory_equal(other.corners.data, f.sdf.corners.data, n_blocks * sizeof(float));
    assert_memory_equal(other.values.data, f.sdf.values.data,
                        other.n_near * FLO_SDF_BLOCK_NODES * sizeof(float));
    flo_sdf_free(&other);
  }
  fixture_free(&f);
}

static void test_the_margin_is_kept(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  add_box(&f);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  for (int margin = 1; margin < 9; margin += 3) {
    assert_ok(flo_sdf_build(&f.sdf, &f.bvh, 0.1, margin, 1, &error), &error);
    for (int axis = 0; axis < 3; ++axis) {
      double high = f.sdf.low[axis] + 0.1 * (double)(f.sdf.n[axis] - 1);
      assert_true(f.sdf.low[axis] <= -box_half[axis] - 0.1 * margin + 1e-9);
      assert_true(high >= box_half[axis] + 0.1 * margin - 1e-9);
    }
    flo_sdf_free(&f.sdf);
  }
  fixture_free(&f);
}

// A triangle is flat, and cells far too small for it are made larger. The fourth of a gigabyte that the
// largest grid needs is not made here: without memory the cell is chosen all the same.
static void test_cells_that_are_too_small_are_made_larger(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  add_box(&f);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  f.counter.byte_limit = 20 << 20;
  assert_fails(flo_sdf_build(&f.sdf, &f.bvh, 1e-9, 4, 1, &error), FLO_NO_MEMORY, &error, "memory");
  double n_nodes = (double)f.sdf.n[0] * (double)f.sdf.n[1] * (double)f.sdf.n[2];
  assert_true(n_nodes <= 67108864.0 && n_nodes > 0.8 * 67108864.0);
  assert_close(f.sdf.cell, cbrt(0.48 / 67108864), 0.1 * f.sdf.cell);
  fixture_free(&f);
}

static void test_bad_requests_are_refused(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  const double bad[] = {0, -1, NAN, INFINITY};
  fixture_init(&f);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  assert_refused(flo_sdf_build(&f.sdf, &f.bvh, 0.1, 2, 1, &error), &error, "no triangles");
  add_box(&f);
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k)
    assert_refused(flo_sdf_build(&f.sdf, &f.bvh, bad[k], 2, 1, &error), &error, "cell");
  assert_refused(flo_sdf_build(&f.sdf, &f.bvh, 0.1, 0, 1, &error), &error, "margin");
  assert_refused(flo_sdf_build(&f.sdf, &f.bvh, 0.1, 1000000, 1, &error), &error, "margin");
  fixture_free(&f);
}

static void test_a_single_triangle_has_no_inside(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  mesh_add_triangle(&f.mesh, mesh_add_vertex(&f.mesh, 0, 0, 0), mesh_add_vertex(&f.mesh, 1, 0, 0),
                    mesh_add_vertex(&f.mesh, 0, 1, 0));
  fixture_build(&f, 0.1);
  assert_close(flo_sdf_distance(&f.sdf, (double[3]){0.2, 0.2, 0.3}), 0.3, 1e-6);
  assert_close(flo_sdf_distance(&f.sdf, (double[3]){0.2, 0.2, -0.3}), 0.3, 1e-6);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sphere_is_exact_at_nodes_and_close_between_them),
      cmocka_unit_test(test_errors_fall_with_the_square_of_the_cell),
      cmocka_unit_test(test_a_box_has_the_right_signs_at_its_edges),
      cmocka_unit_test(test_flat_sides_are_exact_between_nodes),
      cmocka_unit_test(test_concave_and_convex_edges),
      cmocka_unit_test(test_a_missing_triangle_does_not_turn_the_signs),
      cmocka_unit_test(test_signs_are_those_of_the_winding_number),
      cmocka_unit_test(test_normals_of_a_sphere),
      cmocka_unit_test(test_points_outside_of_the_grid),
      cmocka_unit_test(test_far_values_are_bounds_that_grow),
      cmocka_unit_test(test_rows_along_faces_and_edges),
      cmocka_unit_test(test_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(test_the_margin_is_kept),
      cmocka_unit_test(test_cells_that_are_too_small_are_made_larger),
      cmocka_unit_test(test_bad_requests_are_refused),
      cmocka_unit_test(test_a_single_triangle_has_no_inside),
  };
  return cmocka_run_group_tests(tests, make_ball, free_ball);
}
