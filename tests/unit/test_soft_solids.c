// Elastic bodies in the plane are drawn as the area inside their border.
#include "render/soft_solids.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 };

typedef struct Fixture {
  FloSceneBody scene;
  FloFrameBody body;
  float vertices[3 * MOST], rest[3 * MOST], stretch[MOST];
  uint32_t triangles[3 * MOST];
} Fixture;

// A loop of n corners follows those that there are.
static void add_loop(Fixture *f, const float (*points)[2], uint32_t n) {
  const uint32_t first = (uint32_t)f->body.n_vertices;
  for (uint32_t k = 0; k < n; k++) {
    memcpy(f->vertices + 3 * (first + k), points[k], sizeof *points);
    uint32_t *ends = f->triangles + 3 * (first + k);
    ends[0] = first + k, ends[1] = ends[2] = first + (k + 1) % n;
  }
  f->body.n_vertices += n, f->body.n_triangles += n;
}

static void begin(Fixture *f, FloBodyKind kind, const char *look) {
  *f = (Fixture){.scene = {.def = {.kind = kind, .shape = {.kind = FLO_SHAPE_BOX, .size = {1, 1, 1}}}}};
  f->scene.def.pose.rotation[3] = f->body.state.pose.rotation[3] = 1;
  snprintf(f->scene.look, sizeof f->scene.look, "%s", look);
  f->body.vertices = f->vertices, f->body.rest = f->rest, f->body.stretch = f->stretch;
  f->body.triangles = f->triangles;
}

// The area of all triangles, and the number of edges.
static double drawn_area(const Fixture *f, size_t *n_edges) {
  FloSolids solids;
  FloError error;
  double area = 0;
  assert_int_equal(flo_solids_create(&f->scene, &f->body, 1, 2, 0.01f, NULL, &solids, &error), FLO_OK);
  for (size_t t = 0; t < solids.n_triangles; t++) {
    const V3 *p = solids.vertices, a = p[solids.triangles[t][0]], b = p[solids.triangles[t][1]],
             c = p[solids.triangles[t][2]];
    area += fabs((double)v3_cross(v3_sub(b, a), v3_sub(c, a)).z) / 2;
  }
  *n_edges = solids.n_edges;
  flo_solids_destroy(&solids);
  return area;
}

static void test_area(void **state) {
  (void)state;
  static const float corner[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  static const float square[4][2] = {{5, 0}, {5, 2}, {7, 2}, {7, 0}}; // clockwise
  static const char *const looks[] = {"", "green", "checked"};
  for (size_t k = 0; k < 3; k++) {
    Fixture f;
    size_t n_edges;
    begin(&f, FLO_BODY_ELASTIC, looks[k]);
    add_loop(&f, corner, 6);
    assert_float_equal(drawn_area(&f, &n_edges), 5, 1e-6);
    assert_int_equal(n_edges, 6);
    add_loop(&f, square, 4); // a body of two pieces
    assert_float_equal(drawn_area(&f, &n_edges), 9, 1e-6);
    assert_int_equal(n_edges, 10);
  }
}

static void test_lines(void **state) {
  (void)state;
  static const float square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  Fixture f;
  size_t n_edges;
  begin(&f, FLO_BODY_ELASTIC, "outline");
  add_loop(&f, square, 4);
  assert_float_equal(drawn_area(&f, &n_edges), 0, 0);
  assert_int_equal(n_edges, 4);
  begin(&f, FLO_BODY_CLOTH, "red");
  add_loop(&f, square, 4);
  assert_float_equal(drawn_area(&f, &n_edges), 0, 0);
  assert_int_equal(n_edges, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_area), cmocka_unit_test(test_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
