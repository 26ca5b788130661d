// Surfaces among solids: they end at walls of any shape, and do not come out behind thin ones. And what
// memory small cells take.
#include "base/vecmath.h"
#include "support/allocator.h"
#include "support/check.h"
#include "surface/surface.h"
#include "surface/walls.h"

typedef struct Bench {
  CountingAllocator counter;
  FloMemory memory;
  FloWalls walls;
  double *positions;
  size_t count;
  FloSurfaceMesh surface;
} Bench;

static void bench_init(Bench *bench, size_t n_walls, double spacing) {
  FloError error;
  *bench = (Bench){0};
  FloAllocator allocator = counting_allocator(&bench->counter);
  flo_memory_init(&bench->memory, &allocator);
  assert_ok(flo_walls_init(&bench->walls, n_walls, spacing, &bench->memory, &error), &error);
}

static void bench_free(Bench *bench) {
  flo_surface_free(&bench->surface);
  flo_walls_free(&bench->walls);
  free(bench->positions);
  assert_int_equal(bench->counter.bytes, 0);
}

static void set_wall(Bench *bench, size_t k, FloShape shape, double x, double y, double z) {
  FloError error;
  FloPose pose = flo_pose_identity();
  vec_set(pose.position, x, y, z);
  assert_ok(flo_walls_set_shape(&bench->walls, k, &shape, 1, &error), &error);
  flo_walls_set_pose(&bench->walls, k, &pose);
}

// A block of n[0] x n[1] x n[2] particles, the first one half a spacing from its corner.
static void fill_block(Bench *bench, double spacing, const size_t n[3], const double corner[3]) {
  bench->positions = malloc(n[0] * n[1] * n[2] * sizeof(double[3]));
  for (size_t k = 0; k < n[2]; ++k)
    for (size_t j = 0; j < n[1]; ++j)
      for (size_t i = 0; i < n[0]; ++i) {
        const double at[3] = {(double)i + 0.5, (double)j + 0.5, (double)k + 0.5};
        vec_add_scaled(corner, at, spacing, bench->positions + 3 * bench->count++);
      }
}

static void build(Bench *bench, const FloSurfaceDef *def) {
  FloError error;
  flo_surface_free(&bench->surface);
  assert_ok(
      flo_surface_build(def, bench->positions, NULL, bench->count, &bench->surface, &bench->memory, &error),
      &error);
}

static double lowest(const FloSurfaceMesh *surface) {
  double low[3], high[3];
  flo_mesh_bounds(&surface->mesh, low, high);
  return low[2];
}

static FloShape box(double x, double y, double z) {
  return (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
}

// ---- Depths ----

static void test_depths(void **state) {
  (void)state;
  Bench bench;
  double normal[3];
  bench_init(&bench, 3, 0.1);
  assert_true(flo_walls_is_empty(&bench.walls));
  assert_true(flo_walls_depth(&bench.walls, (double[3]){0, 0, 0}, NULL) == -(double)INFINITY);
  set_wall(&bench, 0, box(2, 2, 2), 0, 0, -1);
  set_wall(&bench, 1, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 4, 0, 0);
  set_wall(&bench, 2, box(2, 2, 2), 0, 0, 5); // of the same shape as the first
  assert_int_equal(bench.walls.n_solids, 2);
  assert_close(flo_walls_depth(&bench.walls, (double[3]){0, 0, 0.25}, normal), -0.25, 1e-12);
  assert_close_3(normal, ((double[3]){0, 0, 1}), 1e-6);
  assert_close(flo_walls_depth(&bench.walls, (double[3]){0.1, 0, -0.25}, NULL), 0.25, 1e-12);
  assert_close(flo_walls_depth(&bench.walls, (double[3]){3, 0, 0}, normal), -0.5, 1e-12);
  assert_close_3(normal, ((double[3]){-1, 0, 0}), 1e-6);
  assert_close(flo_walls_depth(&bench.walls, (double[3]){4, 0.1, 0}, NULL), 0.4, 1e-12);
  // Very far away it is still the nearest that counts.
  assert_close(flo_walls_depth(&bench.walls, (double[3]){104, 0, 0}, NULL), -99.5, 1e-9);
  bench_free(&bench);
}

// A mesh with a hole has no inside: a bowl without thickness would lose its water.
static void test_open_meshes_are_passed_over(void **state) {
  (void)state;
  static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {0, 1, 4}, {1, 5, 4}, {1, 3, 5}, {3, 7, 5},
                                        {3, 2, 7}, {2, 6, 7}, {2, 0, 6}, {0, 4, 6}, {4, 5, 6}, {5, 7, 6}};
  for (size_t n = 10; n <= 12; n += 2) { // without and with a lid
    Bench bench;
    const FloTriangles mesh = {
        .vertices = corners[0], .n_vertices = 8, .triangles = faces[0], .n_triangles = n};
    bench_init(&bench, 1, 0.1);
    set_wall(&bench, 0, (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &mesh}, 0, 0, 0);
    assert_int_equal(flo_walls_is_empty(&bench.walls), n == 10);
    if (n == 12) assert_close(flo_walls_depth(&bench.walls, (double[3]){0.5, 0.5, 0.05}, NULL), 0.05, 0.002);
    bench_free(&bench);
  }
}

// So has an outline without depth.
static void test_flat_outlines_are_passed_over(void **state) {
  (void)state;
  static const double plan[6] = {0, 0, 1, 0, 0, 1};
  Bench bench;
  bench_init(&bench, 1, 0.1);
  set_wall(&bench, 0, (FloShape){.kind = FLO_SHAPE_OUTLINE, .points = plan, .n_points = 3}, 0, 0, 0);
  assert_true(flo_walls_is_empty(&bench.walls));
  bench_free(&bench);
}

// ---- Surfaces ----

// A block of water that reaches a quarter of a spacing into what stands below it.
static void check_floor(FloShape shape, double z, size_t n_components) {
  const double spacing = 0.1;
  Bench bench;
  bench_init(&bench, 1, spacing);
  set_wall(&bench, 0, shape, 0.5, 0.5, z);
  fill_block(&bench, spacing, (const size_t[3]){10, 10, 6}, (const double[3]){0, 0, -0.25 * spacing});
  FloSurfaceDef def = flo_surface_default_def(spacing);
  build(&bench, &def);
  assert_true(lowest(&bench.surface) < -0.2 * spacing); // without walls it does reach in
  const FloSignedField region = flo_walls_region(&bench.walls);
  def.region = &region;
  build(&bench, &def);
  assert_int_equal(bench.surface.n_components, n_components);
  assert_true(lowest(&bench.surface) > -0.03 * spacing);
  bench_free(&bench);
}

static void test_surface_ends_at_solids(void **state) {
  (void)state;
  check_floor(box(3, 3, 1), -0.5, 1);
  check_floor((FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = 3, .size = {1}}, -0.5, 1);
  static const double plan[8] = {-2, -2, 2, -2, 2, 2, -2, 2};
  check_floor((FloShape){.kind = FLO_SHAPE_OUTLINE, .points = plan, .n_points = 4, .size = {1}}, -0.5, 1);
}

// The sheet that would be left below a floor of a tenth of a spacing has no particle in it.
static void test_thin_floors_hold(void **state) {
  (void)state;
  check_floor(box(3, 3, 0.01), -0.005, 1);
}

// ---- Memory ----

static void test_small_cells_take_memory_by_the_surface(void **state) {
  (void)state;
  const double spacing = 0.1;
  size_t peak[2], n_bricks[2];
  for (size_t k = 0; k < 2; ++k) {
    Bench bench;
    const size_t n = 12 << k;
    FloSurfaceDef def = flo_surface_default_def(spacing);
    bench_init(&bench, 0, spacing);
    fill_block(&bench, spacing, (const size_t[3]){n, n, n}, (const double[3]){0, 0, 0});
    def.cell = 0.125 * spacing, def.smoothing = 0;
    build(&bench, &def);
    peak[k] = bench.counter.peak, n_bricks[k] = bench.surface.n_bricks;
    assert_close(bench.surface.volume, pow((double)n * spacing, 3), 0.06 * pow((double)n * spacing, 3));
    bench_free(&bench);
  }
  // Four times the surface, eight times the particles.
  assert_true(n_bricks[1] < 5 * n_bricks[0]);
  assert_true(peak[1] < 5 * peak[0]);
}

static void test_a_limit_is_kept(void **state) {
  (void)state;
  const double spacing = 0.1;
  Bench bench;
  FloError error;
  FloSurfaceDef def = flo_surface_default_def(spacing);
  bench_init(&bench, 0, spacing);
  fill_block(&bench, spacing, (const size_t[3]){12, 12, 12}, (const double[3]){0, 0, 0});
  def.cell = 0.125 * spacing;
  build(&bench, &def);
  const size_t needed = bench.counter.peak;
  flo_surface_free(&bench.surface);
  def.memory_limit = needed / 4;
  assert_fails(
      flo_surface_build(&def, bench.positions, NULL, bench.count, &bench.surface, &bench.memory, &error),
      FLO_NO_MEMORY, &error, "take larger cells");
  assert_non_null(strstr(error.text, "1728 particles with cells of 0.0125 m"));
  flo_surface_free(&bench.surface);
  def.memory_limit = 2 * needed;
  build(&bench, &def);
  bench_free(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_depths),
      cmocka_unit_test(test_open_meshes_are_passed_over),
      cmocka_unit_test(test_flat_outlines_are_passed_over),
      cmocka_unit_test(test_surface_ends_at_solids),
      cmocka_unit_test(test_thin_floors_hold),
      cmocka_unit_test(test_small_cells_take_memory_by_the_surface),
      cmocka_unit_test(test_a_limit_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
