// Samples of every shape there is and of published meshes: number densities on and below the surface, depth,
// layers, and evenness.
#include "geometry/figures.h"
#include "geometry/mesh_io.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"
#include "geometry/solid_meshes.h"
#include "support/densities.h"
#include "support/geometry.h"

static void make_shape(Fixture *f, const FloShape *shape, double fineness) {
  FloError error;
  assert_ok(flo_shape_mesh(shape, fineness, 0.1, &f->mesh, &error), &error);
}

// ---- Number densities ----

static void check_densities(const char *name, Fixture *f, double spacing) {
  Densities d = measure_densities(&f->points, spacing);
  print_message("%-34s spacing %-6.3g %6zu samples, density %.2f %.2f %.2f /H^3\n", name, spacing,
                f->points.count, d.min, d.mean, d.max);
  assert_true(f->points.count > 0);
  if (!(d.min > 3.6 && d.max < 10)) fail_msg("%s: out of range", name);
}

// ---- Every shape ----

// About a metre large, one entry or more for every kind.
static const double hills[] = {0.1, 0.2, 0.1, 0.15, 0.3, 0.2, 0.05, 0.2, 0.1};
static const double arrow[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8};
static const FloTriangles no_triangles = {0};
static const struct {
  const char *name;
  FloShape shape;
} shapes[] = {
    {"box", {.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}}},
    {"rounded box", {.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}, .radius = 0.1}},
    {"sphere", {.kind = FLO_SHAPE_SPHERE, .radius = 0.5}},
    {"cylinder", {.kind = FLO_SHAPE_CYLINDER, .size = {1}, .radius = 0.3}},
    {"open tank", {.kind = FLO_SHAPE_TANK, .size = {1, 0.7, 0.5}, .up = 2}},
    {"closed tank", {.kind = FLO_SHAPE_TANK, .size = {1, 0.7, 0.5}, .up = 1, .closed = true}},
    {"capsule", {.kind = FLO_SHAPE_CAPSULE, .size = {0.6}, .radius = 0.25}},
    {"pointed cone", {.kind = FLO_SHAPE_CONE, .size = {0.8}, .radius = 0.4}},
    {"blunt cone", {.kind = FLO_SHAPE_CONE, .size = {0.8}, .radius = 0.4, .radius2 = 0.1}},
    {"torus", {.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12}},
    {"tube", {.kind = FLO_SHAPE_TUBE, .size = {0.8}, .radius = 0.3, .radius2 = 0.25}},
    {"plane", {.kind = FLO_SHAPE_PLANE, .size = {1, 1, 0.1}}},
    {"ramp", {.kind = FLO_SHAPE_RAMP, .size = {1, 0.5, 0.4}}},
    {"wedge", {.kind = FLO_SHAPE_WEDGE, .size = {1, 0.5, 0.4}}},
    {"link", {.kind = FLO_SHAPE_LINK, .size = {1, 0.5}, .radius = 0.08}},
    {"card", {.kind = FLO_SHAPE_CARD, .size = {0.9, 0.6, 0.004}, .radius = 0.05}},
    {"sharp card", {.kind = FLO_SHAPE_CARD, .size = {0.9, 0.6, 0.004}}},
    {"letters", {.kind = FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "AO8"}},
    {"hollow letters", {.kind = FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "R-5", .hollow = true}},
    {"heightfield",
     {.kind = FLO_SHAPE_HEIGHTFIELD, .size = {1, 0.8, 0.1}, .heights = hills, .n_heights = {3, 3}}},
    {"duck", {.kind = FLO_SHAPE_DUCK, .size = {1}}},
    {"rabbit", {.kind = FLO_SHAPE_RABBIT, .size = {1}}},
    {"armadillo", {.kind = FLO_SHAPE_ARMADILLO, .size = {1}}},
    {"outline", {.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = arrow, .n_points = 4}},
    {"sheet", {.kind = FLO_SHAPE_SHEET, .size = {1, 0.7}}},
    {"disc", {.kind = FLO_SHAPE_DISC, .radius = 0.5}},
    {"hose", {.kind = FLO_SHAPE_HOSE, .size = {0.8}, .radius = 0.3}},
    {"bag", {.kind = FLO_SHAPE_BAG, .size = {0.4}, .radius = 0.3}},
    {"mesh", {.kind = FLO_SHAPE_MESH, .mesh = &no_triangles}},
};

static void test_every_kind_of_shape_is_here(void **state) {
  (void)state;
  for (int kind = 0; kind < FLO_SHAPE_COUNT; ++kind) {
    size_t n_found = 0;
    for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) n_found += shapes[k].shape.kind == (FloShapeKind)kind;
    assert_true(n_found > 0);
  }
}

// On triangles much finer than the spacing, about as fine, and much coarser.
static void test_number_densities_of_shapes(void **state) {
  (void)state;
  const double spacings[] = {0.12, 0.06, 0.04}, finenesses[] = {0.03, 0.06, 0.3};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) {
    if (shapes[k].shape.kind == FLO_SHAPE_MESH) continue; // published ones have a test of their own
    for (size_t i = 0; i < FLO_COUNT_OF(finenesses); ++i) {
      Fixture f;
      fixture_init(&f);
      make_shape(&f, &shapes[k].shape, finenesses[i]);
      for (size_t j = 0; j < FLO_COUNT_OF(spacings); ++j) {
        fixture_sample(&f, (FloSampleOptions){.spacing = spacings[j]});
        check_densities(shapes[k].name, &f, spacings[j]);
      }
      fixture_free(&f);
    }
  }
}

// As bodies are sampled: half a spacing below the surface. Only the upper bound is promised with more layers.
static void test_number_densities_below_the_surface(void **state) {
  (void)state;
  const double s = 0.05;
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) {
    if (shapes[k].shape.kind == FLO_SHAPE_MESH || flo_shape_is_thin(&shapes[k].shape)) continue;
    Fixture f;
    fixture_init(&f);
    make_shape(&f, &shapes[k].shape, s);
    fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2});
    check_densities(shapes[k].name, &f, s);
    fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2, .layers = 2});
    assert_true(measure_densities(&f.points, s).max < 10);
    fixture_free(&f);
  }
}

// ---- As bodies are sampled ----

// The first layer of a body, one spacing being one metre; false if it is but one sample, as bodies have whose
// inside is a point.
static bool sample_solid(Fixture *f, const FloSolid *solid, int layers) {
  FloError error;
  FloSampleOptions options = {.spacing = 1, .inset = 0.5, .layers = layers};
  f->points.count = 0;
  assert_ok(flo_solid_sample_surface(solid, &options, &f->points, &error), &error);
  assert_true(f->points.count > 0);
  return f->points.count > 1;
}

static void init_body(Fixture *f, const FloShape *shape, FloSolid *solid) {
  FloError error;
  assert_ok(flo_solid_init(solid, shape, 3, 1, 1, 1, &f->memory, &error), &error);
}

static void check_solid(Fixture *f, const FloSolid *solid) {
  const FloShape shape = solid->shape;
  if (!sample_solid(f, solid, 1)) return;
  Densities d = measure_densities(&f->points, 1);
  if (!(d.min > 3.6 && d.max < 10))
    fail_msg("kind %d, %g x %g x %g, radius %g: density %.2f to %.2f", (int)shape.kind, shape.size[0],
             shape.size[1], shape.size[2], shape.radius, d.min, d.max);
  // More layers are not absurdly dense.
  sample_solid(f, solid, 2);
  assert_true(measure_densities(&f->points, 1).max < 10);
}

static void check_body(Fixture *f, FloShape shape) {
  FloSolid solid;
  init_body(f, &shape, &solid);
  check_solid(f, &solid);
  flo_solid_free(&solid);
}

static void test_number_densities_of_boxes_and_tanks(void **state) {
  (void)state;
  static const double sizes[] = {0.7, 1.2, 1.45, 1.5, 1.8, 2.3, 2.5, 3.4, 3.5, 4.6, 7.5};
  const size_t n = FLO_COUNT_OF(sizes);
  Fixture f;
  fixture_init(&f);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j)
      for (size_t k = 0; k <= j; ++k) {
        FloShape shape = {.kind = FLO_SHAPE_BOX, .size = {sizes[i], sizes[j], sizes[k]}};
        check_body(&f, shape);
        shape.kind = FLO_SHAPE_TANK, shape.up = (int)(k % 3), shape.closed = j % 2;
        check_body(&f, shape);
      }
  fixture_free(&f);
}

static void test_number_densities_of_balls_and_cylinders(void **state) {
  (void)state;
  static const double lengths[] = {0.6, 1.1, 1.5, 2.2, 2.5, 3.7, 8};
  Fixture f;
  fixture_init(&f);
  for (double radius = 0.63; radius < 9; radius += 0.11 + 0.05 * radius) {
    check_body(&f, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = radius});
    for (size_t k = 0; k < FLO_COUNT_OF(lengths); ++k)
      check_body(&f, (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = radius, .size = {lengths[k]}});
  }
  check_body(&f, (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = 4, .size = {8}});
  check_body(&f, (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = 4.1, .size = {1.5}});
  fixture_free(&f);
}

static FloShape magnified(FloShape shape, double factor) {
  for (int axis = 0; axis < 3; ++axis) shape.size[axis] *= factor;
  shape.radius *= factor, shape.radius2 *= factor;
  return shape;
}

// Every kind, a metre being some spacings.
static void test_number_densities_of_bodies(void **state) {
  (void)state;
  static const double factors[] = {6.3, 9.1};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (size_t i = 0; i < FLO_COUNT_OF(factors); ++i) {
      Fixture f;
      FloShape shape = magnified(shapes[k].shape, factors[i]);
      double outline[8], heights[9];
      if (shape.kind == FLO_SHAPE_MESH) continue;
      for (int m = 0; m < 8; ++m) outline[m] = factors[i] * arrow[m];
      for (int m = 0; m < 9; ++m) heights[m] = factors[i] * hills[m];
      if (shape.points) shape.points = outline;
      if (shape.heights) shape.heights = heights;
      fixture_init(&f);
      check_body(&f, shape);
      fixture_free(&f);
    }
}

// What fits is not touched: these are the cells of a lattice, in its order.
static void test_lattices_that_fit_stay_as_they_are(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  for (int layers = 1; layers <= 3; ++layers)
    for (int is_tank = 0; is_tank <= 1; ++is_tank) {
      const int n[3] = {7, 2, 5}, margin = is_tank ? layers : 0, top = is_tank ? 0 : margin;
      size_t count = 0;
      FloSolid solid;
      init_body(&f, &(FloShape){.kind = is_tank ? FLO_SHAPE_TANK : FLO_SHAPE_BOX, .size = {7, 2, 5}, .up = 2},
                &solid);
      sample_solid(&f, &solid, layers);
      flo_solid_free(&solid);
      for (int z = -margin; z < n[2] + top; ++z)
        for (int y = -margin; y < n[1] + margin; ++y)
          for (int x = -margin; x < n[0] + margin; ++x) {
            int edge = is_tank ? 0 : layers;
            bool is_inner = x >= edge && x < n[0] - edge && y >= edge && y < n[1] - edge && z >= edge &&
                            (is_tank || z < n[2] - edge);
            if (is_inner) continue;
            const double expected[3] = {x + 0.5 - 3.5, y + 0.5 - 1, z + 0.5 - 2.5};
            assert_true(count < f.points.count);
            for (int axis = 0; axis < 3; ++axis)
              assert_close(flo_points_at(&f.points, count)[axis], expected[axis], 1e-12);
            ++count;
          }
      assert_int_equal(count, f.points.count);
    }
  fixture_free(&f);
}

// ---- Published meshes ----

static bool check_file(const char *name) {
  const char *source = getenv("FLOTSAM_SOURCE");
  char path[1024], title[128];
  FloError error;
  Fixture f;
  fixture_init(&f);
  snprintf(path, sizeof path, "%s/../shared/reference/meshes/%s", source ? source : ".", name);
  bool is_there = flo_mesh_read(path, &f.mesh, &error) == FLO_OK;
  double low[3], high[3], extent = 0;
  flo_mesh_bounds(&f.mesh, low, high);
  for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, high[axis] - low[axis]);
  for (int n = 30; is_there && n <= 80; n += 50) {
    fixture_sample(&f, (FloSampleOptions){.spacing = extent / n});
    snprintf(title, sizeof title, "%s / %d", name, n);
    check_densities(title, &f, extent / n);
  }
  fixture_free(&f);
  return is_there;
}

static void test_number_densities_of_published_meshes(void **state) {
  (void)state;
  static const char *const names[] = {
      "discregrid_dragon.obj",  "mujoco_bunny.obj",  "mujoco_mug.obj",
      "mujoco_spot_cow.obj",    "pbd_bunny_10k.obj", "splishsplash_BoxOpenedHole.obj",
      "splishsplash_torus.obj", "erleben/cliff.obj", "splishsplash_Dragon_50k.obj",
      "erleben/crack.obj",      "erleben/hole.obj",  "splishsplash_EmitterBox.obj",
      "erleben/hole-small.obj", "erleben/wedge.obj", "splishsplash_UnitBox.obj",
      "erleben/spike.obj",      "trixi_gear.stl",    "erleben/internal_edges.obj",
      "trixi_pipe.stl"};
  size_t n_there = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(names); ++k) n_there += check_file(names[k]);
  if (n_there) return;
  print_message("no reference meshes here: skipped\n");
  skip();
}

// ---- Evenness ----

static void test_relaxation_evens_the_samples_out(void **state) {
  (void)state;
  static const char *const names[] = {"sphere", "box", "duck"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); ++k) {
    Fixture f;
    FloError error;
    const double s = 0.05;
    fixture_init(&f);
    for (size_t i = 0; i < FLO_COUNT_OF(shapes); ++i)
      if (!strcmp(shapes[i].name, names[k])) make_shape(&f, &shapes[i].shape, 0.05);
    fixture_sample(&f, (FloSampleOptions){.spacing = s});
    Densities before = measure_densities(&f.points, s);
    fixture_sample(&f, (FloSampleOptions){.spacing = s, .relax = true});
    check_densities(names[k], &f, s);
    Densities after = measure_densities(&f.points, s);
    print_message("%s: spread %.2f becomes %.2f\n", names[k], before.spread, after.spread);
    // The faces of boxes are lattices to begin with.
    bool was_even = before.spread < 0.15;
    assert_int_equal(was_even, !strcmp(names[k], "box"));
    assert_true(after.spread < (was_even ? 0.15 : 0.75 * before.spread));
    assert_ok(flo_bvh_build(&f.bvh, &f.mesh, &error), &error);
    for (size_t i = 0; i < f.points.count; ++i) {
      FloClosest closest;
      assert_true(flo_bvh_closest(&f.bvh, flo_points_at(&f.points, i), 1e-9, &closest));
    }
    fixture_free(&f);
  }
}

static void test_the_same_points_for_any_number_of_threads(void **state) {
  (void)state;
  Fixture f, g;
  FloError error;
  fixture_init(&f), fixture_init(&g);
  assert_ok(flo_mesh_duck(1, 0.05, &f.mesh, &error), &error);
  assert_ok(flo_mesh_duck(1, 0.05, &g.mesh, &error), &error);
  for (int relax = 0; relax <= 1; ++relax)
    for (int threads = 1; threads <= 3; ++threads) {
      FloSampleOptions options = {
          .spacing = 0.05, .inset = 0.025, .layers = 2, .relax = relax, .threads = threads};
      fixture_sample(&f, options);
      options.threads = 0;
      fixture_sample(&g, options);
      assert_int_equal(f.points.count, g.points.count);
      assert_memory_equal(f.points.buffer.data, g.points.buffer.data, 3 * sizeof(double) * f.points.count);
    }
  fixture_free(&f), fixture_free(&g);
}

// ---- Depth and layers ----

static double box_depth(const double size[3], const double p[3]) {
  return fmin(size[0] / 2 - fabs(p[0]), fmin(size[1] / 2 - fabs(p[1]), size[2] / 2 - fabs(p[2])));
}

static void make_box(Fixture *f, const double size[3]) {
  FloError error;
  fixture_init(f);
  assert_ok(flo_mesh_box(size, 1, &f->mesh, &error), &error);
}

static void test_inset_samples_lie_at_their_depth(void **state) {
  (void)state;
  const double size[3] = {1, 0.8, 0.6}, s = 0.05;
  Fixture f;
  FloError error;
  for (int k = 1; k <= 3; ++k) {
    make_box(&f, size);
    fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = k * s / 2});
    check_densities("inset box", &f, s);
    for (size_t i = 0; i < f.points.count; ++i)
      assert_close(box_depth(size, flo_points_at(&f.points, i)), k * s / 2, 1e-4 * s);
    fixture_free(&f);
  }
  fixture_init(&f);
  assert_ok(flo_mesh_sphere(0.6, 0.02, &f.mesh, &error), &error);
  fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2, .relax = true});
  check_densities("inset sphere, relaxed", &f, s);
  for (size_t i = 0; i < f.points.count; ++i)
    assert_close(vec_length(flo_points_at(&f.points, i)), 0.6 - s / 2, 0.02 * s);
  fixture_free(&f);
}

// A plate thinner than twice the inset gets one layer in its middle.
static void test_thin_parts_are_not_pierced(void **state) {
  (void)state;
  const double size[3] = {1, 0.8, 0.04}, s = 0.05;
  Fixture f;
  make_box(&f, size);
  for (int layers = 1; layers <= 3; ++layers) {
    fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s, .layers = layers});
    check_densities("inset plate", &f, s);
    for (size_t k = 0; k < f.points.count; ++k) {
      const double *p = flo_points_at(&f.points, k);
      assert_true(box_depth(size, p) > 0);
      assert_close(p[2], 0, 1e-3 * s);
    }
    assert_close((double)f.points.count * s * s, 0.8, 0.2);
  }
  fixture_free(&f);
}

static void test_layers_lie_one_spacing_below_each_other(void **state) {
  (void)state;
  const double size[3] = {1, 0.8, 0.6}, s = 0.05;
  size_t counts[3] = {0};
  Fixture f;
  make_box(&f, size);
  fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2, .layers = 3});
  for (size_t k = 0; k < f.points.count; ++k) {
    double layer = box_depth(size, flo_points_at(&f.points, k)) / s - 0.5;
    assert_close(layer, round(layer), 1e-3);
    assert_true(layer > -0.1 && layer < 2.1);
    ++counts[(int)round(layer)];
  }
  for (int layer = 0; layer < 3; ++layer) {
    double e[3];
    for (int axis = 0; axis < 3; ++axis) e[axis] = size[axis] - (2 * layer + 1) * s;
    double area = 2 * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]);
    assert_close((double)counts[layer] * s * s, area, 0.15 * area);
  }
  assert_true(measure_densities(&f.points, s).max < 10);
  fixture_free(&f);
}

// Where the body is too thin there is no further layer.
static void test_layers_end_where_the_body_does(void **state) {
  (void)state;
  const double size[3] = {1, 0.8, 0.12}, s = 0.05; // thick enough for depths up to 0.06
  Fixture f;
  make_box(&f, size);
  fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2, .layers = 1});
  size_t n_of_one = f.points.count;
  fixture_sample(&f, (FloSampleOptions){.spacing = s, .inset = s / 2, .layers = 5});
  assert_int_equal(f.points.count, n_of_one);
  for (size_t k = 0; k < f.points.count; ++k)
    assert_true(box_depth(size, flo_points_at(&f.points, k)) < 0.5 * s + 1e-3 * s);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind_of_shape_is_here),
      cmocka_unit_test(test_number_densities_of_shapes),
      cmocka_unit_test(test_number_densities_below_the_surface),
      cmocka_unit_test(test_number_densities_of_boxes_and_tanks),
      cmocka_unit_test(test_number_densities_of_balls_and_cylinders),
      cmocka_unit_test(test_number_densities_of_bodies),
      cmocka_unit_test(test_lattices_that_fit_stay_as_they_are),
      cmocka_unit_test(test_number_densities_of_published_meshes),
      cmocka_unit_test(test_relaxation_evens_the_samples_out),
      cmocka_unit_test(test_the_same_points_for_any_number_of_threads),
      cmocka_unit_test(test_inset_samples_lie_at_their_depth),
      cmocka_unit_test(test_thin_parts_are_not_pierced),
      cmocka_unit_test(test_layers_lie_one_spacing_below_each_other),
      cmocka_unit_test(test_layers_end_where_the_body_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
