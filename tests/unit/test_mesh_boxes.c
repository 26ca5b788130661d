// The triangles of a mesh that lie in a box, as a tree of boxes finds them, against brute force.
#include "support/geometry.h"

// Triangles of all sizes anywhere, some of them without area.
static void add_soup(Fixture *f, Random *random, double scale, int n) {
  for (int k = 0; k < n; ++k) {
    double centre[3], size = pow(10, random_between(random, -4, 0));
    uint32_t corners[3];
    random_point(random, 1 - size, centre);
    for (int corner = 0; corner < 3; ++corner) {
      double p[3];
      random_point(random, size, p);
      vec_add(p, centre, p);
      vec_scale(p, scale, p);
      assert_ok(flo_mesh_add_vertex(&f->mesh, p, &corners[corner], NULL), &(FloError){0});
    }
    if (k % 10 == 7) corners[1] = corners[0];
    if (k % 50 == 8) corners[2] = corners[1] = corners[0];
    assert_ok(flo_mesh_add_triangle(&f->mesh, corners[0], corners[1], corners[2], NULL), &(FloError){0});
  }
}

typedef struct Visits {
  bool *is_visited;
  size_t n, limit;
} Visits;

static bool note_visit(uint32_t triangle, void *context) {
  Visits *visits = context;
  assert_false(visits->is_visited[triangle]);
  visits->is_visited[triangle] = true;
  return ++visits->n < visits->limit;
}

static bool touches_box(const FloMesh *mesh, size_t triangle, const double low[3], const double high[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    double a = flo_mesh_corner(mesh, triangle, 0)[axis], b = flo_mesh_corner(mesh, triangle, 1)[axis],
           c = flo_mesh_corner(mesh, triangle, 2)[axis];
    if (fmin(a, fmin(b, c)) > high[axis] || fmax(a, fmax(b, c)) < low[axis]) return false;
  }
  return true;
}

// No triangle whose own box touches the box is missed, none comes twice, and few others come.
static void test_boxes_agree_with_brute_force(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  Random random = {12};
  fixture_init(&f);
  add_soup(&f, &random, 1, 2000);
  const size_t n = f.mesh.n_triangles;
  Visits visits = {.is_visited = malloc(n), .limit = SIZE_MAX};
  assert_ok(flo_bvh_build_boxes(&f.bvh, &f.mesh, &error), &error);
  size_t n_visits = 0, n_touching = 0;
  for (int k = 0; k < 300; ++k) {
    double a[3], b[3], low[3], high[3];
    random_point(&random, 1, a), random_point(&random, k % 2 ? 1 : 0.1, b);
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = fmin(a[axis], b[axis]), high[axis] = fmax(a[axis], b[axis]);
    if (k % 3 == 0) vec_copy(low, high), high[2] = INFINITY; // a ray, upwards
    memset(visits.is_visited, 0, n), visits.n = 0;
    assert_true(flo_bvh_visit_box(&f.bvh, low, high, note_visit, &visits));
    n_visits += visits.n;
    for (size_t i = 0; i < n; ++i) {
      bool is_touching = touches_box(&f.mesh, i, low, high);
      n_touching += is_touching;
      if (is_touching) assert_true(visits.is_visited[i]);
    }
  }
  print_message("%zu visits of %zu triangles in 300 boxes\n", n_visits, n_touching);
  assert_true(n_touching > 1000 && n_visits < 2 * n_touching);
  // The visitor may stop the search.
  memset(visits.is_visited, 0, n), visits.n = 0, visits.limit = 5;
  const double low[3] = {-2, -2, -2}, high[3] = {2, 2, 2};
  assert_false(flo_bvh_visit_box(&f.bvh, low, high, note_visit, &visits));
  assert_int_equal(visits.n, 5);
  free(visits.is_visited);
  fixture_free(&f);
}

// All that is finite has its place in the tree, however large or small.
static void test_boxes_are_as_large_as_numbers_are(void **state) {
  (void)state;
  const double sizes[] = {1e-320, 1e-200, 1e200, DBL_MAX};
  const double low[3] = {-INFINITY, -INFINITY, -INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k) {
    Fixture f;
    FloError error;
    Random random = {13};
    fixture_init(&f);
    add_soup(&f, &random, sizes[k], 300);
    bool is_visited[300] = {false};
    Visits visits = {.is_visited = is_visited, .limit = SIZE_MAX};
    assert_ok(flo_bvh_build_boxes(&f.bvh, &f.mesh, &error), &error);
    assert_true(flo_bvh_visit_box(&f.bvh, low, high, note_visit, &visits));
    assert_int_equal(visits.n, 300);
    flo_bvh_free(&f.bvh);
    flo_mesh_vertex(&f.mesh, flo_mesh_triangle(&f.mesh, 17)[1])[1] = NAN;
    assert_refused(flo_bvh_build_boxes(&f.bvh, &f.mesh, &error), &error, "triangle 17");
    fixture_free(&f);
  }
}

static void test_an_empty_mesh_has_no_boxes(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  const double p[3] = {0};
  fixture_init(&f);
  assert_ok(flo_bvh_build_boxes(&f.bvh, &f.mesh, &error), &error);
  assert_true(flo_bvh_visit_box(&f.bvh, p, p, note_visit, NULL));
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boxes_agree_with_brute_force),
      cmocka_unit_test(test_boxes_are_as_large_as_numbers_are),
      cmocka_unit_test(test_an_empty_mesh_has_no_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
