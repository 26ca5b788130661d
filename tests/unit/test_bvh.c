// The tree over a mesh: nearest points, rays and winding numbers against brute force.
#include "support/geometry.h"

static void add_box(Fixture *f, double half) {
  mesh_add_box(&f->mesh, (double[3]){-half, -half, -half}, (double[3]){half, half, half}, false);
}

// Triangles of all sizes anywhere, some of them without area.
static void add_soup(Fixture *f, Random *random, int n) {
  for (int k = 0; k < n; ++k) {
    double centre[3], size = pow(10, random_between(random, -4, 0));
    uint32_t corners[3];
    random_point(random, 1, centre);
    for (int corner = 0; corner < 3; ++corner) {
      double d[3];
      random_point(random, size, d);
      corners[corner] = mesh_add_vertex(&f->mesh, centre[0] + d[0], centre[1] + d[1], centre[2] + d[2]);
    }
    if (k % 10 == 7) corners[1] = corners[0];
    if (k % 50 == 8) corners[2] = corners[1] = corners[0];
    mesh_add_triangle(&f->mesh, corners[0], corners[1], corners[2]);
  }
}

// ---- The tree itself ----

static void check_node(const FloBvh *bvh, uint32_t index, int depth, bool *is_seen) {
  const FloBvhNode *nodes = bvh->nodes.data, *node = &nodes[index];
  assert_true(depth < 100 && index < bvh->n_nodes);
  for (uint32_t k = node->first; k < node->first + node->count; ++k) {
    uint32_t triangle = ((uint32_t *)bvh->order.data)[k];
    assert_false(is_seen[triangle]);
    is_seen[triangle] = true;
    for (int corner = 0; corner < 3; ++corner)
      for (int axis = 0; axis < 3; ++axis) {
        double x = flo_mesh_vertex(bvh->mesh, flo_mesh_triangle(bvh->mesh, triangle)[corner])[axis];
        assert_true(x >= node->low[axis] && x <= node->high[axis]);
      }
  }
  for (uint32_t child = node->first; !node->count && child < node->first + 2; ++child) {
    for (int axis = 0; axis < 3; ++axis)
      assert_true(nodes[child].low[axis] >= node->low[axis] && nodes[child].high[axis] <= node->high[axis]);
    check_node(bvh, child, depth + 1, is_seen);
  }
}

static void check_tree(const Fixture *f) {
  bool *is_seen = calloc(f->mesh.n_triangles + 1, sizeof *is_seen);
  check_node(&f->bvh, 0, 0, is_seen);
  for (size_t k = 0; k < f->mesh.n_triangles; ++k) assert_true(is_seen[k]);
  free(is_seen);
}

static void test_every_triangle_is_in_one_leaf_and_in_its_boxes(void **state) {
  (void)state;
  Fixture f;
  Random random = {1};
  fixture_init(&f);
  add_soup(&f, &random, 3000);
  fixture_build_tree(&f);
  check_tree(&f);
  fixture_free(&f);
}

// A thousand copies of one triangle, and triangles whose sizes shrink by halves for ever, which would make a
// tree by area as deep as it has leaves.
static void test_trees_over_awkward_meshes_are_not_deep(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  uint32_t a = mesh_add_vertex(&f.mesh, 0, 0, 0), b = mesh_add_vertex(&f.mesh, 1, 0, 0),
           c = mesh_add_vertex(&f.mesh, 0, 1, 0);
  for (int k = 0; k < 1000; ++k) mesh_add_triangle(&f.mesh, a, b, c);
  fixture_build_tree(&f);
  check_tree(&f);
  flo_bvh_free(&f.bvh);
  double x = 1;
  for (int k = 0; k < 900; ++k, x /= 2)
    mesh_add_triangle(&f.mesh, mesh_add_vertex(&f.mesh, x, 0, 0), mesh_add_vertex(&f.mesh, x / 2, x / 2, 0),
                      mesh_add_vertex(&f.mesh, x, x, x));
  fixture_build_tree(&f);
  check_tree(&f);
  fixture_free(&f);
}

// The surface area heuristic: how many boxes a random line through the root meets. Halving the order in which
// the triangles come would make it hundreds.
static void test_boxes_of_a_tree_overlap_little(void **state) {
  (void)state;
  Fixture f;
  double cost = 0, root = 0;
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 40);
  for (uint32_t k = 0, n = (uint32_t)f.mesh.n_triangles; k < n; ++k) { // in no useful order
    uint32_t a[3], *t = flo_mesh_triangle(&f.mesh, k), *other = flo_mesh_triangle(&f.mesh, k * 2741ull % n);
    memcpy(a, t, sizeof a), memcpy(t, other, sizeof a), memcpy(other, a, sizeof a);
  }
  fixture_build_tree(&f);
  for (size_t k = 0; k < f.bvh.n_nodes; ++k) {
    const FloBvhNode *node = (FloBvhNode *)f.bvh.nodes.data + k;
    double e[3];
    vec_sub(node->high, node->low, e);
    double area = e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
    cost += area, root = k ? root : area;
  }
  print_message("a line meets %.1f boxes of %zu\n", cost / root, f.bvh.n_nodes);
  assert_true(cost / root < 30);
  fixture_free(&f);
}

static void test_a_tree_is_the_same_every_time(void **state) {
  (void)state;
  Fixture f;
  Random random = {2};
  FloBvh other;
  FloError error;
  fixture_init(&f);
  add_soup(&f, &random, 500);
  fixture_build_tree(&f);
  assert_ok(flo_bvh_build(&other, &f.mesh, &error), &error);
  assert_int_equal(f.bvh.n_nodes, other.n_nodes);
  assert_memory_equal(f.bvh.nodes.data, other.nodes.data, other.n_nodes * sizeof(FloBvhNode));
  assert_memory_equal(f.bvh.order.data, other.order.data, f.mesh.n_triangles * sizeof(uint32_t));
  flo_bvh_free(&other);
  fixture_free(&f);
}

static void test_an_empty_mesh_answers_nothing(void **state) {
  (void)state;
  Fixture f;
  FloClosest closest;
  FloHit hit;
  double p[3] = {0}, out[3];
  fixture_init(&f);
  fixture_build_tree(&f);
  assert_false(flo_bvh_closest(&f.bvh, p, INFINITY, &closest));
  assert_false(flo_bvh_ray(&f.bvh, p, (double[3]){1, 0, 0}, INFINITY, &hit));
  assert_true(flo_bvh_winding(&f.bvh, p) == 0);
  assert_true(flo_bvh_walk_away(&f.bvh, p, 1, out) == 1);
  fixture_free(&f);
}

static void test_meshes_that_are_not_finite_are_refused(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    Fixture f;
    FloError error;
    fixture_init(&f);
    add_box(&f, 1);
    flo_mesh_vertex(&f.mesh, 5)[1] = bad[k];
    assert_refused(flo_bvh_build(&f.bvh, &f.mesh, &error), &error, "triangle");
    fixture_free(&f);
  }
}

// The far field of the winding number needs high powers of the distance.
static void test_winding_numbers_of_the_largest_meshes(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  for (int k = 0; k < 40; ++k) add_box(&f, 1e39 * (1 - 0.001 * k));
  assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
  assert_close(flo_bvh_winding(&f.bvh, (double[3]){0, 0, 0}), 40, 1e-6);
  assert_close(flo_bvh_winding(&f.bvh, (double[3]){9e39, 8e39, 1e39}), 0, 1e-3);
  flo_bvh_free(&f.bvh);
  flo_mesh_vertex(&f.mesh, 5)[1] = 2e40;
  assert_refused(flo_bvh_build(&f.bvh, &f.mesh, &error), &error, "at most 1e+40");
  fixture_free(&f);
}

static void test_building_without_memory_says_so(void **state) {
  (void)state;
  for (size_t fail_at = 1; fail_at <= 4; ++fail_at) {
    Fixture f;
    FloError error;
    fixture_init(&f);
    add_box(&f, 1);
    f.counter.fail_at = f.counter.n_calls + fail_at;
    assert_fails(flo_bvh_build(&f.bvh, &f.mesh, &error), FLO_NO_MEMORY, &error, "memory");
    fixture_free(&f);
  }
}

// ---- Nearest points ----

// The nearest point of a triangle by descending on its two weights: slow, and not the code under test.
static double brute_triangle_distance(const double *a, const double *b, const double *c, const double p[3]) {
  double best = INFINITY, v0 = 0, w0 = 0, size = 1;
  for (int level = 0; level < 60; ++level, size *= 0.6) {
    double v1 = v0, w1 = w0;
    for (int i = -4; i <= 4; ++i)
      for (int j = -4; j <= 4; ++j) {
        double v = fmin(fmax(v0 + size * i / 4, 0), 1), w = fmin(fmax(w0 + size * j / 4, 0), 1);
        if (v + w > 1) v /= v + w, w = 1 - v;
        double d[3];
        for (int axis = 0; axis < 3; ++axis)
          d[axis] = a[axis] + v * (b[axis] - a[axis]) + w * (c[axis] - a[axis]) - p[axis];
        if (vec_length(d) < best) best = vec_length(d), v1 = v, w1 = w;
      }
    v0 = v1, w0 = w1;
  }
  return best;
}

static double brute_distance(const FloMesh *mesh, const double p[3]) {
  double best = INFINITY;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    best = fmin(best, brute_triangle_distance(flo_mesh_vertex(mesh, t[0]), flo_mesh_vertex(mesh, t[1]),
                                              flo_mesh_vertex(mesh, t[2]), p));
  }
  return best;
}

// The answer fits together: point, weights and distance.
static void check_closest(const FloMesh *mesh, const double p[3], const FloClosest *closest) {
  double sum[3] = {0}, d[3];
  const uint32_t *t = flo_mesh_triangle(mesh, closest->triangle);
  for (int corner = 0; corner < 3; ++corner) {
    assert_true(closest->barycentric[corner] >= 0);
    vec_add_scaled(sum, flo_mesh_vertex(mesh, t[corner]), closest->barycentric[corner], sum);
  }
  assert_close(closest->barycentric[0] + closest->barycentric[1] + closest->barycentric[2], 1, 1e-12);
  assert_close_3(closest->point, sum, 1e-12);
  vec_sub(closest->point, p, d);
  assert_close(closest->distance, vec_length(d), 1e-9);
}

static void test_nearest_points_agree_with_brute_force(void **state) {
  (void)state;
  Fixture f;
  Random random = {3};
  fixture_init(&f);
  add_soup(&f, &random, 60);
  fixture_build_tree(&f);
  for (int k = 0; k < 60; ++k) {
    double p[3];
    FloClosest closest;
    random_point(&random, k % 2 ? 1 : 3, p);
    assert_true(flo_bvh_closest(&f.bvh, p, INFINITY, &closest));
    check_closest(&f.mesh, p, &closest);
    assert_close(closest.distance, brute_distance(&f.mesh, p), 1e-7);
  }
  fixture_free(&f);
}

// Large trees against a loop over all triangles, each made a tree of its own.
static void test_large_trees_find_what_single_triangles_find(void **state) {
  (void)state;
  Fixture f, one;
  Random random = {4};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 24);
  add_soup(&f, &random, 500);
  fixture_build_tree(&f);
  double points[40][3], best[40];
  for (int k = 0; k < 40; ++k) random_point(&random, 1.5, points[k]), best[k] = INFINITY;
  fixture_init(&one);
  for (int corner = 0; corner < 3; ++corner) mesh_add_vertex(&one.mesh, 0, 0, 0);
  mesh_add_triangle(&one.mesh, 0, 1, 2);
  for (size_t t = 0; t < f.mesh.n_triangles; ++t) {
    for (uint32_t corner = 0; corner < 3; ++corner)
      vec_copy(flo_mesh_vertex(&f.mesh, flo_mesh_triangle(&f.mesh, t)[corner]),
               flo_mesh_vertex(&one.mesh, corner));
    fixture_build_tree(&one);
    for (int k = 0; k < 40; ++k) {
      FloClosest closest;
      assert_true(flo_bvh_closest(&one.bvh, points[k], INFINITY, &closest));
      best[k] = fmin(best[k], closest.distance);
    }
    flo_bvh_free(&one.bvh);
  }
  for (int k = 0; k < 40; ++k) {
    FloClosest closest;
    assert_true(flo_bvh_closest(&f.bvh, points[k], INFINITY, &closest));
    assert_true(closest.distance == best[k]);
  }
  fixture_free(&one);
  fixture_free(&f);
}

static void test_points_of_the_mesh_are_at_no_distance(void **state) {
  (void)state;
  Fixture f;
  Random random = {5};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 0.7, 12);
  fixture_build_tree(&f);
  for (size_t k = 0; k < f.mesh.n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(&f.mesh, k);
    const double *a = flo_mesh_vertex(&f.mesh, t[0]), *b = flo_mesh_vertex(&f.mesh, t[1]);
    double p[3];
    FloClosest closest;
    assert_true(flo_bvh_closest(&f.bvh, a, 0, &closest));
    assert_true(closest.distance == 0);
    vec_sub(b, a, p);
    vec_add_scaled(a, p, random_between(&random, 0, 1), p);
    assert_true(flo_bvh_closest(&f.bvh, p, INFINITY, &closest));
    assert_close(closest.distance, 0, 1e-15);
  }
  fixture_free(&f);
}

static void test_nearest_points_beyond_the_limit_are_not_found(void **state) {
  (void)state;
  Fixture f;
  FloClosest closest;
  fixture_init(&f);
  add_box(&f, 1);
  fixture_build_tree(&f);
  assert_true(flo_bvh_closest(&f.bvh, (double[3]){3, 0.25, 0}, 2, &closest));
  assert_close(closest.distance, 2, 1e-15);
  assert_close_3(closest.point, ((double[3]){1, 0.25, 0}), 1e-15);
  assert_false(flo_bvh_closest(&f.bvh, (double[3]){3, 0.25, 0}, 1.999999, &closest));
  assert_false(flo_bvh_closest(&f.bvh, (double[3]){NAN, 0, 0}, INFINITY, &closest));
  assert_false(flo_bvh_closest(&f.bvh, (double[3]){0}, NAN, &closest));
  assert_false(flo_bvh_closest(&f.bvh, (double[3]){0}, -1, &closest));
  fixture_free(&f);
}

// Needles, segments and points given as triangles.
static void test_nearest_points_of_degenerate_triangles(void **state) {
  (void)state;
  Fixture f;
  FloClosest closest;
  fixture_init(&f);
  uint32_t a = mesh_add_vertex(&f.mesh, 0, 0, 0), b = mesh_add_vertex(&f.mesh, 2, 0, 0),
           c = mesh_add_vertex(&f.mesh, 1, 0, 0);
  mesh_add_triangle(&f.mesh, a, b, c);
  fixture_build_tree(&f);
  assert_true(flo_bvh_closest(&f.bvh, (double[3]){1.5, 3, 4}, INFINITY, &closest));
  assert_close(closest.distance, 5, 1e-14);
  check_closest(&f.mesh, (double[3]){1.5, 3, 4}, &closest);
  vec_set(flo_mesh_vertex(&f.mesh, c), 1, 1e-13, 0);
  assert_true(flo_bvh_closest(&f.bvh, (double[3]){1.5, 3, 4}, INFINITY, &closest));
  assert_close(closest.distance, 5, 1e-11);
  vec_set(flo_mesh_vertex(&f.mesh, c), 0, 0, 0), vec_set(flo_mesh_vertex(&f.mesh, b), 0, 0, 0);
  assert_true(flo_bvh_closest(&f.bvh, (double[3]){0, 3, 4}, INFINITY, &closest));
  assert_close(closest.distance, 5, 1e-14);
  fixture_free(&f);
}

// ---- Rays ----

// The nearest hit by solving three equations for each triangle (Cramer), in long double.
static double brute_ray(const FloMesh *mesh, const double o[3], const double d[3]) {
  double best = INFINITY;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    const double *a = flo_mesh_vertex(mesh, t[0]);
    double e[3], g[3], s[3], n[3], m[3];
    vec_sub(flo_mesh_vertex(mesh, t[1]), a, e), vec_sub(flo_mesh_vertex(mesh, t[2]), a, g);
    vec_sub(o, a, s);
    vec_cross(e, g, n);
    double det = -vec_dot(n, d);
    if (det == 0) continue;
    vec_cross(s, d, m);
    double v = -vec_dot(g, m) / -det, w = vec_dot(e, m) / -det, hit = vec_dot(n, s) / det;
    if (v >= 0 && w >= 0 && v + w <= 1 && hit >= 0) best = fmin(best, hit);
  }
  return best;
}

static void test_rays_agree_with_brute_force(void **state) {
  (void)state;
  Fixture f;
  Random random = {6};
  int n_hits = 0;
  fixture_init(&f);
  add_soup(&f, &random, 1000);
  fixture_build_tree(&f);
  for (int k = 0; k < 2000; ++k) {
    double o[3], d[3], at[3], there[3];
    FloHit hit;
    random_point(&random, 1.5, o);
    random_point(&random, 1, d);
    double expected = brute_ray(&f.mesh, o, d);
    bool is_hit = flo_bvh_ray(&f.bvh, o, d, INFINITY, &hit);
    assert_true(is_hit == isfinite(expected));
    if (!is_hit) continue;
    assert_close(hit.t, expected, 1e-9);
    vec_add_scaled(o, d, hit.t, at);
    vec_set(there, 0, 0, 0);
    for (int corner = 0; corner < 3; ++corner)
      vec_add_scaled(there, flo_mesh_vertex(&f.mesh, flo_mesh_triangle(&f.mesh, hit.triangle)[corner]),
                     hit.barycentric[corner], there);
    assert_close_3(at, there, 1e-8);
    assert_false(flo_bvh_ray(&f.bvh, o, d, hit.t * 0.999999, &hit) && hit.t > expected * 0.999999);
    ++n_hits;
  }
  assert_true(n_hits > 500);
  fixture_free(&f);
}

// From inside a closed mesh every ray hits, also those aimed at its vertices and at points of its edges.
static void test_rays_do_not_slip_through_edges_and_vertices(void **state) {
  (void)state;
  Fixture f;
  Random random = {7};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 16);
  fixture_build_tree(&f);
  for (int k = 0; k < 20000; ++k) {
    const uint32_t *t = flo_mesh_triangle(&f.mesh, random_below(&random, (uint32_t)f.mesh.n_triangles));
    double o[3], d[3], edge[3], share = k % 2 ? 0 : random_between(&random, 0, 1);
    FloHit hit;
    random_point(&random, 0.5, o);
    if (k % 3 == 0) vec_set(o, 0, 0, 0);
    vec_sub(flo_mesh_vertex(&f.mesh, t[1]), flo_mesh_vertex(&f.mesh, t[0]), edge);
    vec_add_scaled(flo_mesh_vertex(&f.mesh, t[0]), edge, share, d);
    vec_sub(d, o, d);
    assert_true(flo_bvh_ray(&f.bvh, o, d, INFINITY, &hit));
    assert_close(hit.t, 1, 1e-9);
  }
  fixture_free(&f);
}

static void test_rays_along_axes_and_planes(void **state) {
  (void)state;
  Fixture f;
  FloHit hit;
  fixture_init(&f);
  add_box(&f, 1);
  fixture_build_tree(&f);
  for (int axis = 0; axis < 3; ++axis)
    for (int sign = -1; sign <= 1; sign += 2) {
      double o[3] = {0.25, 0.25, 0.25}, d[3] = {0};
      o[axis] = -3.0 * sign, d[axis] = sign;
      assert_true(flo_bvh_ray(&f.bvh, o, d, INFINITY, &hit));
      assert_close(hit.t, 2, 1e-15);
      assert_true(flo_bvh_ray(&f.bvh, o, d, 2, &hit));
      assert_false(flo_bvh_ray(&f.bvh, o, d, 1.9999999, &hit));
      o[(axis + 1) % 3] = 1; // within the plane of a side
      assert_true(flo_bvh_ray(&f.bvh, o, d, INFINITY, &hit));
      assert_close(hit.t, 2, 1e-15);
      o[(axis + 1) % 3] = 1.0001;
      assert_false(flo_bvh_ray(&f.bvh, o, d, INFINITY, &hit));
    }
  assert_false(flo_bvh_ray(&f.bvh, (double[3]){0}, (double[3]){0}, INFINITY, &hit));
  assert_false(flo_bvh_ray(&f.bvh, (double[3]){0}, (double[3]){NAN, 1, 0}, INFINITY, &hit));
  fixture_free(&f);
}

// ---- Winding numbers ----

static double brute_winding(const FloMesh *mesh, const double p[3]) {
  double angle = 0;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(mesh, k);
    double r[3][3], l[3], n[3];
    for (int corner = 0; corner < 3; ++corner) {
      vec_sub(flo_mesh_vertex(mesh, t[corner]), p, r[corner]);
      l[corner] = vec_length(r[corner]);
    }
    vec_cross(r[0], r[1], n);
    angle += 2 * atan2(vec_dot(n, r[2]), l[0] * l[1] * l[2] + vec_dot(r[0], r[1]) * l[2] +
                                             vec_dot(r[1], r[2]) * l[0] + vec_dot(r[2], r[0]) * l[1]);
  }
  return angle / (4 * FLO_PI);
}

static void test_winding_numbers_agree_with_the_plain_sum(void **state) {
  (void)state;
  Fixture f;
  Random random = {8};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 40);
  add_box(&f, 0.3);
  fixture_build_tree(&f);
  double worst = 0;
  for (int k = 0; k < 3000; ++k) {
    double p[3];
    random_point(&random, k % 2 ? 1.2 : 4, p);
    worst = fmax(worst, fabs(flo_bvh_winding(&f.bvh, p) - brute_winding(&f.mesh, p)));
  }
  print_message("largest error of a winding number: %.2g\n", worst);
  assert_true(worst < 1e-2);
  fixture_free(&f);
}

static void test_winding_numbers_tell_inside_from_outside(void **state) {
  (void)state;
  Fixture f;
  Random random = {9};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 30);
  fixture_build_tree(&f);
  for (int k = 0; k < 3000; ++k) {
    double p[3];
    random_point(&random, 1.5, p);
    double r = vec_length(p);
    if (r > 0.98 && r < 1.02) vec_scale(p, (r < 1 ? 0.985 : 1.001) / r, p), r = vec_length(p);
    assert_close(flo_bvh_winding(&f.bvh, p), r < 1, 0.015);
  }
  fixture_free(&f);
}

static void test_winding_numbers_survive_missing_triangles(void **state) {
  (void)state;
  Fixture f;
  Random random = {10};
  fixture_init(&f);
  mesh_add_sphere(&f.mesh, 1, 20);
  // Every fifteenth triangle is replaced by nothing.
  for (size_t k = 0; k < f.mesh.n_triangles; k += 15) {
    uint32_t *t = flo_mesh_triangle(&f.mesh, k);
    t[1] = t[2] = t[0];
  }
  fixture_build_tree(&f);
  for (int k = 0; k < 3000; ++k) {
    double p[3];
    random_point(&random, 1.5, p);
    double r = vec_length(p);
    if (r < 0.85 || r > 1.15) assert_true((flo_bvh_winding(&f.bvh, p) > 0.5) == (r < 1));
  }
  fixture_free(&f);
}

// ---- Walking inwards ----

static void check_walk(const FloBvh *bvh, const double start[3], double depth, const double expected[3]) {
  double out[3];
  FloClosest closest;
  assert_close(flo_bvh_walk_away(bvh, start, depth, out), depth, 1e-5 * depth);
  assert_close_3(out, expected, 1e-4);
  assert_true(flo_bvh_closest(bvh, out, INFINITY, &closest));
  assert_close(closest.distance, depth, 1e-4 * depth);
}

static void test_walks_keep_off_faces_edges_and_corners(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f, 1);
  fixture_build_tree(&f);
  check_walk(&f.bvh, (double[3]){0.2, 0.3, 0.99}, 0.25, (double[3]){0.2, 0.3, 0.75});
  check_walk(&f.bvh, (double[3]){0.2, 0.99, 0.98}, 0.25, (double[3]){0.2, 0.75, 0.75});
  check_walk(&f.bvh, (double[3]){0.99, 0.985, 0.98}, 0.25, (double[3]){0.75, 0.75, 0.75});
  check_walk(&f.bvh, (double[3]){0.2, 0.3, 1.01}, 0.25, (double[3]){0.2, 0.3, 1.25});
  fixture_free(&f);
}

static void test_walks_stop_in_the_middle_of_a_thin_part(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_box(&f, 1);
  for (size_t k = 0; k < f.mesh.n_vertices; ++k) flo_mesh_vertex(&f.mesh, k)[2] *= 0.1;
  fixture_build_tree(&f);
  double out[3];
  assert_close(flo_bvh_walk_away(&f.bvh, (double[3]){0.2, 0.3, 0.099}, 0.25, out), 0.1, 1e-6);
  assert_close_3(out, ((double[3]){0.2, 0.3, 0}), 1e-6);
  // From a rim it climbs to the plateau and no further.
  assert_close(flo_bvh_walk_away(&f.bvh, (double[3]){0.999, 0.3, 0.0985}, 0.25, out), 0.1, 1e-2);
  assert_close(out[2], 0, 1e-2);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_triangle_is_in_one_leaf_and_in_its_boxes),
      cmocka_unit_test(test_trees_over_awkward_meshes_are_not_deep),
      cmocka_unit_test(test_boxes_of_a_tree_overlap_little),
      cmocka_unit_test(test_a_tree_is_the_same_every_time),
      cmocka_unit_test(test_an_empty_mesh_answers_nothing),
      cmocka_unit_test(test_meshes_that_are_not_finite_are_refused),
      cmocka_unit_test(test_winding_numbers_of_the_largest_meshes),
      cmocka_unit_test(test_building_without_memory_says_so),
      cmocka_unit_test(test_nearest_points_agree_with_brute_force),
      cmocka_unit_test(test_large_trees_find_what_single_triangles_find),
      cmocka_unit_test(test_points_of_the_mesh_are_at_no_distance),
      cmocka_unit_test(test_nearest_points_beyond_the_limit_are_not_found),
      cmocka_unit_test(test_nearest_points_of_degenerate_triangles),
      cmocka_unit_test(test_rays_agree_with_brute_force),
      cmocka_unit_test(test_rays_do_not_slip_through_edges_and_vertices),
      cmocka_unit_test(test_rays_along_axes_and_planes),
      cmocka_unit_test(test_winding_numbers_agree_with_the_plain_sum),
      cmocka_unit_test(test_winding_numbers_tell_inside_from_outside),
      cmocka_unit_test(test_winding_numbers_survive_missing_triangles),
      cmocka_unit_test(test_walks_keep_off_faces_edges_and_corners),
      cmocka_unit_test(test_walks_stop_in_the_middle_of_a_thin_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
