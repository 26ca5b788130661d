// Surfaces that are carried by elements: they are where they were, follow what the elements do, and hand
// forces on.
#include "geometry/cloth_mesh.h"
#include "geometry/embedding.h"
#include "geometry/shape_mesh.h"
#include "support/elements.h"

typedef struct Carried {
  Filling filling; // its fixture's mesh is the surface
  FloEmbedding embedding;
} Carried;

// A fine surface of the shape, bound to coarse elements.
static void carry(Carried *c, const FloShape *shape, int dim, double cell) {
  FloError error;
  filling_init(&c->filling, shape, dim, cell / 2);
  FloMesh *surface = &c->filling.fixture.mesh;
  assert_ok(flo_solid_fill(&c->filling.solid, cell, false, &c->filling.elements, &error), &error);
  assert_ok(flo_shape_cloth_mesh(shape, dim, cell / 3, surface, &error), &error);
  assert_ok(flo_embedding_build(&c->embedding, &c->filling.elements, surface->vertices.data,
                                surface->n_vertices, &error),
            &error);
}

static void carried_free(Carried *c) {
  flo_embedding_free(&c->embedding);
  filling_free(&c->filling);
}

static const double arrow[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8};
static const struct {
  FloShape shape;
  int dim;
  double cell;
} cases[] = {
    {{.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 3, 0.15},
    {{.kind = FLO_SHAPE_BOX, .size = {1, 0.5, 0.1}}, 3, 0.1},
    {{.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12}, 3, 0.06},
    {{.kind = FLO_SHAPE_DUCK, .size = {1}}, 3, 0.06},
    {{.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 2, 0.1},
    {{.kind = FLO_SHAPE_BOX, .size = {0.35, 0.02}}, 2, 0.01},
    {{.kind = FLO_SHAPE_OUTLINE, .points = arrow, .n_points = 4}, 2, 0.05},
};

static double *allocate_vectors(size_t n) { return calloc(3 * n + 1, sizeof(double)); }

static void map(const double matrix[9], const double shift[3], const double x[3], double out[3]) {
  double turned[3];
  mat_apply(matrix, x, turned);
  vec_add(turned, shift, out);
}

static void check_affine(const Carried *c, const double matrix[9], const double shift[3]) {
  const FloElements *e = &c->filling.elements;
  const FloMesh *surface = &c->filling.fixture.mesh;
  double *moved = allocate_vectors(e->n_vertices), *placed = allocate_vectors(surface->n_vertices);
  for (size_t k = 0; k < e->n_vertices; ++k) map(matrix, shift, flo_elements_vertex(e, k), moved + 3 * k);
  flo_embedding_place(&c->embedding, moved, placed);
  for (size_t k = 0; k < surface->n_vertices; ++k) {
    double expected[3];
    map(matrix, shift, flo_mesh_vertex(surface, k), expected);
    assert_close_3(placed + 3 * k, expected, 1e-12);
  }
  free(moved), free(placed);
}

static void test_surfaces_follow_affine_maps(void **state) {
  (void)state;
  static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                      sheared[9] = {1.3, 0.4, 0, -0.2, 0.8, 0, 0, 0, 1};
  static const double skew[9] = {1.3, 0.4, -0.1, -0.2, 0.8, 0.3, 0.1, 0.6, -0.7}, no_shift[3] = {0},
                      shift[3] = {1, -2, 0};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    Carried c;
    carry(&c, &cases[k].shape, cases[k].dim, cases[k].cell);
    check_affine(&c, same, no_shift);
    check_affine(&c, cases[k].dim == 2 ? sheared : skew, shift);
    carried_free(&c);
  }
}

// A vertex belongs to the element that holds it, or else to the nearest; few are farther out than a cell.
static void test_vertices_belong_to_near_elements(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    Carried c;
    carry(&c, &cases[k].shape, cases[k].dim, cases[k].cell);
    double worst = 0;
    size_t n = c.embedding.n_points;
    for (size_t i = 0; i < n; ++i) {
      const double *w = flo_embedding_weights(&c.embedding, i);
      double sum = 0;
      for (int corner = 0; corner < 4; ++corner) {
        assert_true(flo_embedding_corners(&c.embedding, i)[corner] < c.filling.elements.n_vertices);
        sum += w[corner], worst = fmax(worst, -w[corner]);
      }
      assert_close(sum, 1, 1e-12);
      assert_true(cases[k].dim == 3 || w[3] == 0);
    }
    print_message("case %zu: %zu vertices, farthest %.2f cells out, weights from %.2f\n", k, n,
                  c.embedding.farthest / cases[k].cell, -worst);
    bool is_box = cases[k].shape.kind == FLO_SHAPE_BOX;
    assert_true(is_box ? worst < 1e-9 && c.embedding.farthest < 1e-12
                       : c.embedding.farthest < 4 * cases[k].cell);
    carried_free(&c);
  }
}

// Against a search through all elements.
static void test_the_holder_is_found(void **state) {
  (void)state;
  Random random = {5};
  for (int dim = 2; dim <= 3; ++dim) {
    Carried c;
    FloError error;
    FloEmbedding one;
    carry(&c, &(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, dim, 0.1);
    for (int n_tried = 0; n_tried < 100; ++n_tried) {
      double point[3], weights[4];
      random_point(&random, 0.5, point);
      if (dim == 2) point[2] = 0;
      bool is_inside = false;
      for (size_t k = 0; k < c.filling.elements.n_elements && !is_inside; ++k) {
        flo_element_weights(&c.filling.elements, k, point, weights);
        is_inside = weights[0] > 0 && weights[1] > 0 && weights[2] > 0 && (dim == 2 || weights[3] > 0);
      }
      assert_ok(flo_embedding_build(&one, &c.filling.elements, point, 1, &error), &error);
      assert_true(is_inside == (one.farthest == 0));
      for (int corner = 0; is_inside && corner <= dim; ++corner)
        assert_true(flo_embedding_weights(&one, 0)[corner] > 0);
      flo_embedding_free(&one);
    }
    carried_free(&c);
  }
}

// Adds a force and its torque about the origin to their sums.
static void add_load(const double x[3], const double force[3], double sum[3], double torque[3]) {
  double turn[3];
  vec_cross(x, force, turn);
  vec_add(sum, force, sum);
  vec_add(torque, turn, torque);
}

static void test_forces_are_handed_on(void **state) {
  (void)state;
  Random random = {9};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    Carried c;
    carry(&c, &cases[k].shape, cases[k].dim, cases[k].cell);
    const FloElements *e = &c.filling.elements;
    const FloMesh *surface = &c.filling.fixture.mesh;
    double *at_vertices = allocate_vectors(e->n_vertices), *at_points = allocate_vectors(surface->n_vertices);
    double given[3] = {0}, given_torque[3] = {0}, found[3] = {0}, found_torque[3] = {0};
    for (size_t i = 0; i < surface->n_vertices; ++i) {
      random_point(&random, 1, at_points + 3 * i);
      add_load(flo_mesh_vertex(surface, i), at_points + 3 * i, given, given_torque);
    }
    flo_embedding_spread(&c.embedding, at_points, at_vertices);
    for (size_t i = 0; i < e->n_vertices; ++i)
      add_load(flo_elements_vertex(e, i), at_vertices + 3 * i, found, found_torque);
    assert_close_3(found, given, 1e-11);
    assert_close_3(found_torque, given_torque, 1e-11);
    free(at_vertices), free(at_points);
    carried_free(&c);
  }
}

static void test_nothing_carries_nothing(void **state) {
  (void)state;
  Fixture f;
  FloElements empty;
  FloEmbedding embedding;
  FloError error;
  const double point[3] = {0};
  fixture_init(&f);
  flo_elements_init(&empty, 3, &f.memory);
  assert_refused(flo_embedding_build(&embedding, &empty, point, 1, &error), &error, "no elements");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_surfaces_follow_affine_maps),
      cmocka_unit_test(test_vertices_belong_to_near_elements),
      cmocka_unit_test(test_the_holder_is_found),
      cmocka_unit_test(test_forces_are_handed_on),
      cmocka_unit_test(test_nothing_carries_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
