// Shapes without a formula: their distances against what is known, their samples, and that equal shapes share
// one solid.
#include "geometry/solid.h"
#include "state/state.h"
#include "support/random.h"
#include "support/worlds.h"

#define S 0.02

static double capsule_distance(const FloShape *shape, const double p[3]) {
  double z = fmax(fabs(p[2]) - shape->size[0] / 2, 0);
  return hypot(hypot(p[0], p[1]), z) - shape->radius;
}

static double torus_distance(const FloShape *shape, const double p[3]) {
  return hypot(hypot(p[0], p[1]) - shape->radius, p[2]) - shape->radius2;
}

// Of a rounded box: that of the box without its rounding, less the radius.
static double rounded_distance(const FloShape *shape, const double p[3]) {
  double outside[3], inside = -INFINITY;
  for (int axis = 0; axis < 3; ++axis) {
    double d = fabs(p[axis]) - (shape->size[axis] / 2 - shape->radius);
    outside[axis] = fmax(d, 0);
    inside = fmax(inside, d);
  }
  return (inside > 0 ? vec_length(outside) : inside) - shape->radius;
}

typedef struct Known {
  FloShape shape;
  double (*distance)(const FloShape *, const double p[3]);
} Known;

static const Known known[] = {
    {{.kind = FLO_SHAPE_CAPSULE, .size = {0.3}, .radius = 0.2}, capsule_distance},
    {{.kind = FLO_SHAPE_TORUS, .radius = 0.3, .radius2 = 0.1}, torus_distance},
    {{.kind = FLO_SHAPE_BOX, .size = {0.5, 0.4, 0.3}, .radius = 0.1}, rounded_distance},
};

static void init_solid(FloSolid *solid, const FloShape *shape, FloMemory *memory) {
  FloError error;
  assert_ok(flo_solid_init(solid, shape, 3, S, 0.1, 2, memory, &error), &error);
}

// The solids of the known shapes, made once: no test changes them.
static FloMemory known_memory;
static FloSolid known_solids[FLO_COUNT_OF(known)];

static int make_known(void **state) {
  (void)state;
  flo_memory_init(&known_memory, NULL);
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k)
    init_solid(&known_solids[k], &known[k].shape, &known_memory);
  return 0;
}

static int free_known(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k) flo_solid_free(&known_solids[k]);
  assert_int_equal(known_memory.bytes, 0);
  return 0;
}

static void test_distances_near_the_surface(void **state) {
  (void)state;
  Random random = {1};
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k) {
    const FloSolid *solid = &known_solids[k];
    for (int n_tried = 0; n_tried < 5000; ++n_tried) {
      double p[3], normal[3];
      for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(&random, -0.5, 0.5);
      double expected = known[k].distance(&known[k].shape, p), found = flo_solid_distance(solid, p);
      if (fabs(expected) < S) {
        assert_close(found, expected, 0.06 * S);
        flo_solid_normal(solid, p, normal);
        assert_close(vec_length(normal), 1, 1e-6);
        // Along the normal the surface is where the distance says.
        double q[3];
        vec_add_scaled(p, normal, -found, q);
        assert_close(known[k].distance(&known[k].shape, q), 0, 0.15 * S);
      } else {
        assert_true((found < 0) == (expected < 0));
      }
    }
  }
}

// Half a spacing below the surface, and none outside.
static void test_samples_lie_below_the_surface(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k) {
    FloPoints points = {.memory = &memory};
    FloSampleOptions options = {.spacing = S, .inset = S / 2, .layers = 1};
    assert_ok(flo_solid_sample_surface(&known_solids[k], &options, &points, &error), &error);
    assert_true(points.count > 500);
    for (size_t i = 0; i < points.count; ++i)
      assert_close(known[k].distance(&known[k].shape, flo_points_at(&points, i)), -S / 2, 0.2 * S);
    flo_points_free(&points);
  }
}

// How much the number density of samples, by the cubic spline of support 2 S, differs from place to place.
static double unevenness(const FloPoints *points) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < points->count; ++i) {
    double density = 0, d[3];
    for (size_t j = 0; j < points->count; ++j) {
      vec_sub(flo_points_at(points, i), flo_points_at(points, j), d);
      if (vec_dot(d, d) >= 4 * S * S) continue;
      double q = vec_length(d) / (2 * S);
      density += q < 0.5 ? 6 * (q * q * q - q * q) + 1 : q < 1 ? 2 * pow(1 - q, 3) : 0;
    }
    sum += density, squares += density * density;
  }
  double n = (double)points->count, mean = sum / n;
  return sqrt(fmax(squares / n - mean * mean, 0)) / mean;
}

static void sample_with(const FloSolid *solid, bool is_relaxed, double inset, FloMemory *memory,
                        FloPoints *points) {
  FloError error;
  FloSampleOptions options = {.spacing = S, .inset = inset, .layers = 1, .relax = is_relaxed, .threads = 2};
  *points = (FloPoints){.memory = memory};
  assert_ok(flo_solid_sample_surface(solid, &options, points, &error), &error);
}

// Relaxed samples are others, but as deep, about as many and even. Those of shapes with a formula are as even
// as can be and stay as they are.
static void test_relaxed_samples_are_even(void **state) {
  (void)state;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  const FloShape shapes[] = {known[0].shape,
                             known[1].shape,
                             {FLO_SHAPE_SPHERE, .radius = 0.2},
                             {FLO_SHAPE_CYLINDER, .size = {0.3}, .radius = 0.15},
                             {FLO_SHAPE_BOX, .size = {0.3, 0.2, 0.2}}};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) {
    FloPoints plain, relaxed;
    FloSolid solid;
    init_solid(&solid, &shapes[k], &memory);
    sample_with(&solid, false, S / 2, &memory, &plain);
    sample_with(&solid, true, S / 2, &memory, &relaxed);
    flo_solid_free(&solid);
    size_t n_bytes = flo_min_size(plain.count, relaxed.count) * 3 * sizeof(double);
    bool is_same = memcmp(plain.buffer.data, relaxed.buffer.data, n_bytes) == 0;
    assert_true(is_same == flo_shape_has_formula(&shapes[k]));
    assert_close((double)relaxed.count, (double)plain.count, 0.2 * (double)plain.count);
    assert_true(unevenness(&relaxed) < 0.1);
    for (size_t i = 0; i < relaxed.count && k < FLO_COUNT_OF(known) - 1; ++i)
      assert_close(known[k].distance(&shapes[k], flo_points_at(&relaxed, i)), -S / 2, 0.2 * S);
    flo_points_free(&plain);
    flo_points_free(&relaxed);
  }
  assert_int_equal(memory.bytes, 0);
}

static void test_samples_of_meshes_stand_as_deep_as_asked(void **state) {
  (void)state;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k)
    for (int is_relaxed = 0; is_relaxed < 2; ++is_relaxed) {
      FloPoints points;
      sample_with(&known_solids[k], is_relaxed, 0.2 * S, &memory, &points);
      for (size_t i = 0; i < points.count; ++i)
        assert_close(known[k].distance(&known[k].shape, flo_points_at(&points, i)), -0.2 * S, 0.1 * S);
      flo_points_free(&points);
    }
}

static void test_volume_samples_stay_inside(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  const FloShape *torus = &known[1].shape;
  for (FloFluidPacking packing = FLO_FLUID_CUBIC; packing <= FLO_FLUID_HEXAGONAL; ++packing) {
    FloPoints points = {.memory = &memory};
    assert_ok(flo_solid_sample_volume(&known_solids[1], S, packing, &points, &error), &error);
    for (size_t i = 0; i < points.count; ++i)
      assert_true(torus_distance(torus, flo_points_at(&points, i)) < 0);
    double d[3];
    vec_sub(flo_points_at(&points, 1), flo_points_at(&points, 0), d);
    assert_close(vec_length(d), packing == FLO_FLUID_HEXAGONAL ? pow(2, 1.0 / 6) * S : S, 1e-9);
    flo_points_free(&points);
  }
}

static double arrow_points[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8};

// Fluid weighs what its shape holds: as many particles as the volume has cubes of a spacing. Volumes by
// formula, and those of figures (0) by their triangles.
static void test_volume_samples_fill_the_solid(void **state) {
  (void)state;
  static const struct {
    FloShape shape;
    double spacing, volume;
  } cases[] = {
      {{FLO_SHAPE_SPHERE, .radius = 0.2}, 0.05, 4 * FLO_PI / 3 * 0.008},
      {{FLO_SHAPE_CYLINDER, .size = {0.4}, .radius = 0.2}, 0.02, FLO_PI * 0.016},
      {{FLO_SHAPE_BOX, .size = {0.4, 0.3, 0.2}}, 0.02, 0.024},
      {{FLO_SHAPE_BOX, .size = {0.4, 0.3, 0.2}, .radius = 0.001}, 0.02, 0.024},
      {{FLO_SHAPE_CAPSULE, .size = {0.001}, .radius = 0.2}, 0.05, 4 * FLO_PI / 3 * 0.008},
      {{FLO_SHAPE_CAPSULE, .size = {0.3}, .radius = 0.2}, 0.03, FLO_PI * (4.0 / 3 * 0.008 + 0.012)},
      {{FLO_SHAPE_CONE, .size = {0.6}, .radius = 0.3}, 0.03, FLO_PI * 0.09 * 0.2},
      {{FLO_SHAPE_CONE, .size = {0.6}, .radius = 0.3, .radius2 = 0.1}, 0.03, FLO_PI * 0.13 * 0.2},
      {{FLO_SHAPE_TORUS, .radius = 0.5, .radius2 = 0.15}, 0.05, 2 * FLO_PI * FLO_PI * 0.5 * 0.0225},
      {{FLO_SHAPE_TUBE, .size = {0.8}, .radius = 0.4, .radius2 = 0.2}, 0.03, FLO_PI * 0.12 * 0.8},
      {{FLO_SHAPE_PLANE, .size = {1, 0.8, 0.2}}, 0.04, 0.16},
      {{FLO_SHAPE_RAMP, .size = {1, 0.5, 0.4}}, 0.04, 0.1},
      {{FLO_SHAPE_WEDGE, .size = {1, 0.5, 0.4}}, 0.04, 0.1},
      {{FLO_SHAPE_LINK, .size = {1, 0.5}, .radius = 0.08}, 0.03, 0},
      {{FLO_SHAPE_CARD, .size = {0.9, 0.6, 0.1}, .radius = 0.05}, 0.02, 0.054 - 0.1 * 0.0025 * (4 - FLO_PI)},
      {{FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "A8"}, 0.02, 0},
      {{FLO_SHAPE_DUCK, .size = {0.5}}, 0.025, 0},
      {{FLO_SHAPE_RABBIT, .size = {0.5}}, 0.025, 0},
      {{FLO_SHAPE_ARMADILLO, .size = {0.5}}, 0.025, 0},
      {{FLO_SHAPE_OUTLINE, .size = {0.3}, .points = arrow_points, .n_points = 4}, 0.03, 0.25 * 0.3},
  };
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    FloSolid solid;
    FloMassProperties mass;
    double s = cases[k].spacing, volume = cases[k].volume;
    assert_ok(flo_solid_init(&solid, &cases[k].shape, 3, s, s, 1, &memory, &error), &error);
    if (volume == 0) flo_mesh_mass(&solid.mesh, 1, &mass), volume = mass.volume;
    for (FloFluidPacking packing = FLO_FLUID_CUBIC; packing <= FLO_FLUID_HEXAGONAL; ++packing) {
      FloPoints points = {.memory = &memory};
      assert_ok(flo_solid_sample_volume(&solid, s, packing, &points, &error), &error);
      double share = (double)points.count * s * s * s / volume;
      // The rows of close packings seldom fit between flat faces; in a box with a formula they keep half a
      // spacing from its sides.
      double tolerance = packing == FLO_FLUID_CUBIC ? 0.05 : solid.has_mesh ? 0.1 : 0.16;
      if (fabs(share - 1) > tolerance)
        fail_msg("case %zu, packing %d: %g of the volume", k, (int)packing, share);
      flo_points_free(&points);
    }
    flo_solid_free(&solid);
  }
  assert_int_equal(memory.bytes, 0);
}

static void test_equal_shapes_share_a_solid(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.spacing = S;
  FloWorld *world = create_world(&def);
  FloBodyDef duck = flo_default_body_def();
  duck.shape = (FloShape){.kind = FLO_SHAPE_DUCK, .size = {0.3}};
  for (int k = 0; k < 3; ++k) {
    duck.pose = pose_at(k, 0, 0);
    add_body(world, &duck);
  }
  assert_int_equal(world->solids.count, 1);
  duck.shape.size[0] = 0.31;
  add_body(world, &duck);
  // Text that is elsewhere in memory is the same text; another text is another shape.
  char first[] = "AB", second[] = "AB", third[] = "AC";
  const char *texts[] = {first, second, third};
  for (int k = 0; k < 3; ++k) {
    duck.shape = (FloShape){.kind = FLO_SHAPE_LETTERS, .size = {0.3, 0.1, 0.06}, .text = texts[k]};
    add_body(world, &duck);
  }
  assert_int_equal(world->solids.count, 4);
  assert_null(world->solids.count ? flo_solids(world)[3]->shape.text : "");
  flo_world_destroy(world);
}

// Were the keys of two shapes equal by accident, the shapes would still be told apart.
static void test_equal_keys_do_not_make_shapes_equal(void **state) {
  (void)state;
  static const double arrow[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8}, kite[] = {0, 0, 0.5, -0.3, 1, 0, 0.5, 0.8};
  static const double flat[] = {0, 0, 0, 0}, hill[] = {0, 0, 0, 0.1};
  static const double corners[] = {0, 0, 0, 0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3},
                      others[] = {0, 0, 0, 0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.4};
  static const uint32_t sides[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3},
                        turned[] = {2, 1, 0, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  static const FloTriangles meshes[] = {
      {corners, sides, 4, 4}, {others, sides, 4, 4}, {corners, turned, 4, 4}, {corners, sides, 4, 3}};
  const FloShape shapes[] = {
      {.kind = FLO_SHAPE_BOX, .size = {0.3, 0.3, 0.3}},
      {.kind = FLO_SHAPE_BOX, .size = {0.3, 0.3, 0.2}},
      {.kind = FLO_SHAPE_BOX, .size = {0.3, 0.3, 0.3}, .radius = 0.1},
      {.kind = FLO_SHAPE_WEDGE, .size = {0.3, 0.3, 0.3}},
      {.kind = FLO_SHAPE_TANK, .size = {0.3, 0.3, 0.3}, .up = 2},
      {.kind = FLO_SHAPE_TANK, .size = {0.3, 0.3, 0.3}, .up = 1},
      {.kind = FLO_SHAPE_TANK, .size = {0.3, 0.3, 0.3}, .up = 2, .closed = true},
      {.kind = FLO_SHAPE_TUBE, .size = {0.3}, .radius = 0.2, .radius2 = 0.1},
      {.kind = FLO_SHAPE_TUBE, .size = {0.3}, .radius = 0.2, .radius2 = 0.15},
      {.kind = FLO_SHAPE_LETTERS, .size = {0.3, 0.1, 0.05}, .text = "A"},
      {.kind = FLO_SHAPE_LETTERS, .size = {0.3, 0.1, 0.05}, .text = "B"},
      {.kind = FLO_SHAPE_LETTERS, .size = {0.3, 0.1, 0.05}, .text = "AB"},
      {.kind = FLO_SHAPE_LETTERS, .size = {0.3, 0.1, 0.05}, .text = "A", .hollow = true},
      {.kind = FLO_SHAPE_HEIGHTFIELD, .size = {0.3, 0.3, 0.1}, .heights = flat, .n_heights = {2, 2}},
      {.kind = FLO_SHAPE_HEIGHTFIELD, .size = {0.3, 0.3, 0.1}, .heights = hill, .n_heights = {2, 2}},
      {.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = arrow, .n_points = 4},
      {.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = kite, .n_points = 4},
      {.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = arrow, .n_points = 3},
      {.kind = FLO_SHAPE_MESH, .mesh = &meshes[0]},
      {.kind = FLO_SHAPE_MESH, .mesh = &meshes[1]},
      {.kind = FLO_SHAPE_MESH, .mesh = &meshes[2]},
      {.kind = FLO_SHAPE_MESH, .mesh = &meshes[3]},
  };
  FloSolid solids[FLO_COUNT_OF(shapes)];
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  FloError error;
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    assert_ok(flo_solid_init(&solids[k], &shapes[k], 3, 0.1, 0.1, 1, &memory, &error), &error);
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (size_t i = 0; i < FLO_COUNT_OF(shapes); ++i) {
      FloSolid forged = solids[k];
      forged.key = solids[i].key;
      assert_int_equal(flo_solid_key(&shapes[i]), solids[i].key);
      assert_int_equal(flo_solid_is_of(&forged, &shapes[i], solids[i].key), i == k);
    }
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k) flo_solid_free(&solids[k]);
  assert_int_equal(memory.bytes, 0);
}

static void test_bad_meshes_are_refused(void **state) {
  (void)state;
  const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, NAN};
  const uint32_t outside[] = {0, 1, 4}, fine[] = {0, 1, 2};
  const FloTriangles meshes[] = {
      {vertices, outside, 3, 1}, {vertices, fine, 4, 1}, {vertices, fine, 3, 0}, {NULL, fine, 3, 1}};
  const char *words[] = {"names vertex 4", "not finite", "needs vertices and triangles", "needs vertices"};
  FloWorld *world = empty_world(3);
  FloError error;
  for (size_t k = 0; k < FLO_COUNT_OF(meshes); ++k) {
    FloBodyDef body = flo_default_body_def();
    body.shape = (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &meshes[k]};
    assert_refused(flo_world_add_body(world, &body, NULL, &error), &error, words[k]);
  }
  assert_int_equal(world->bodies.count, 0);
  flo_world_destroy(world);
}

// Drops that fall on a duck stay out of it.
static void test_nothing_enters_a_figure(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloError error;
  def.spacing = S;
  FloWorld *world = create_world(&def);
  FloBodyDef duck = flo_default_body_def();
  duck.shape = (FloShape){.kind = FLO_SHAPE_DUCK, .size = {0.5}};
  add_body(world, &duck);
  add_block(world, add_water(world), (double[]){-0.3, -0.2, 0.28}, (double[]){0.3, 0.2, 0.36});
  for (int step = 0; step < 800; ++step) assert_ok(flo_world_step(world, NULL, &error), &error);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    assert_true(flo_world_distance(world, flo_bodies(world), x) > -0.1 * S);
  }
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances_near_the_surface),
      cmocka_unit_test(test_samples_lie_below_the_surface),
      cmocka_unit_test(test_relaxed_samples_are_even),
      cmocka_unit_test(test_samples_of_meshes_stand_as_deep_as_asked),
      cmocka_unit_test(test_volume_samples_stay_inside),
      cmocka_unit_test(test_volume_samples_fill_the_solid),
      cmocka_unit_test(test_equal_shapes_share_a_solid),
      cmocka_unit_test(test_equal_keys_do_not_make_shapes_equal),
      cmocka_unit_test(test_bad_meshes_are_refused),
      cmocka_unit_test(test_nothing_enters_a_figure),
  };
  return cmocka_run_group_tests(tests, make_known, free_known);
}
