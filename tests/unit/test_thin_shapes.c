// Thin shapes and the triangles of cloth: even, exact at their rims, closed or open as they should be, and
// known to everything that asks a solid.
#include "geometry/cloth_mesh.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"
#include "geometry/solid_surface.h"
#include "support/geometry.h"
#include "support/worlds.h"

static void make_cloth(Fixture *f, const FloShape *shape, int dim, double cell) {
  FloError error;
  assert_ok(flo_shape_check(shape, dim, &error), &error);
  assert_ok(flo_shape_cloth_mesh(shape, dim, cell, &f->mesh, &error), &error);
}

static FloMeshReport inspect(const Fixture *f) {
  FloError error;
  FloMeshReport report;
  assert_ok(flo_mesh_inspect(&f->mesh, &report, &error), &error);
  return report;
}

static double side_length(const FloMesh *mesh, size_t triangle, int side) {
  double way[3];
  vec_sub(flo_mesh_corner(mesh, triangle, (side + 1) % 3), flo_mesh_corner(mesh, triangle, side), way);
  return vec_length(way);
}

typedef struct Quality {
  double shortest, longest; // side [m]
  double least_angle;       // [degrees]
} Quality;

static double angle_at(const FloMesh *mesh, size_t triangle, int corner) {
  double u[3], v[3], across[3];
  const double *at = flo_mesh_corner(mesh, triangle, corner);
  vec_sub(flo_mesh_corner(mesh, triangle, (corner + 1) % 3), at, u);
  vec_sub(flo_mesh_corner(mesh, triangle, (corner + 2) % 3), at, v);
  vec_cross(u, v, across);
  return atan2(vec_length(across), vec_dot(u, v)) * 180 / FLO_PI;
}

static Quality quality_of(const FloMesh *mesh) {
  Quality q = {INFINITY, 0, INFINITY};
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    for (int side = 0; side < 3; ++side) {
      q.shortest = fmin(q.shortest, side_length(mesh, k, side));
      q.longest = fmax(q.longest, side_length(mesh, k, side));
      q.least_angle = fmin(q.least_angle, angle_at(mesh, k, side));
    }
  return q;
}

// ---- Meshes of thin shapes ----

static void test_a_sheet_is_a_grid_that_fits(void **state) {
  (void)state;
  Random random = {3};
  for (int n_tried = 0; n_tried < 60; ++n_tried) {
    Fixture f;
    fixture_init(&f);
    double cell = pow(10, random_between(&random, -3, 1));
    FloShape sheet = {
        .kind = FLO_SHAPE_SHEET,
        .size = {cell * random_between(&random, 0.6, 40), cell * random_between(&random, 0.6, 40)}};
    if (n_tried % 2) sheet.cell = cell;
    make_cloth(&f, &sheet, 3, n_tried % 2 ? 100 * cell : cell);
    FloMeshReport r = inspect(&f);
    Quality q = quality_of(&f.mesh);
    const size_t n[2] = {(size_t)lround(sheet.size[0] / cell), (size_t)lround(sheet.size[1] / cell)};
    assert_int_equal(r.n_vertices, (n[0] + 1) * (n[1] + 1));
    assert_int_equal(r.n_triangles, 2 * n[0] * n[1]);
    assert_int_equal(r.n_boundary_edges, 2 * (n[0] + n[1]));
    assert_int_equal(r.euler_characteristic, 1);
    assert_int_equal(r.n_nonmanifold_edges + r.n_inconsistent_halfedges + r.n_degenerate, 0);
    assert_close(r.area, sheet.size[0] * sheet.size[1], 1e-12 * r.area);
    for (int axis = 0; axis < 2; ++axis) {
      assert_true(r.high[axis] == sheet.size[axis] / 2 && r.low[axis] == -sheet.size[axis] / 2);
    }
    // A row is a cell high, but for rounding to whole rows: 0.6 cells may make one row, 1.49 as well.
    assert_true(q.longest < 1.5 * sqrt(2) * cell && q.shortest >= 0.6 * cell && q.least_angle > 20);
    fixture_free(&f);
  }
}

// Diagonals alternate, so inner vertices have four or eight triangles.
static void test_the_diagonals_of_a_sheet_alternate(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  make_cloth(&f, &(FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.6, 0.4}}, 3, 0.1);
  int counts[35] = {0};
  for (size_t k = 0; k < 3 * f.mesh.n_triangles; ++k) ++counts[((uint32_t *)f.mesh.triangles.data)[k]];
  for (int j = 1; j < 4; ++j)
    for (int i = 1; i < 6; ++i) assert_int_equal(counts[7 * j + i], (i + j) % 2 ? 4 : 8);
  fixture_free(&f);
}

typedef struct Thin {
  const char *name;
  FloShape shape;
  long long euler;
  size_t n_borders; // loops of open edges
  double area;      // of the round shape [m²]
} Thin;

static const Thin round_ones[] = {
    {"disc", {.kind = FLO_SHAPE_DISC, .radius = 0.5}, 1, 1, FLO_PI / 4},
    {"hose", {.kind = FLO_SHAPE_HOSE, .size = {1}, .radius = 0.3}, 0, 2, 2 * FLO_PI * 0.3},
    {"bag", {.kind = FLO_SHAPE_BAG, .size = {0.5}, .radius = 0.3}, 1, 1, 2 * FLO_PI *(0.3 * 0.5 + 0.09)},
    {"bowl", {.kind = FLO_SHAPE_BAG, .radius = 0.4}, 1, 1, 2 * FLO_PI * 0.16},
    {"closed bag",
     {.kind = FLO_SHAPE_BAG, .size = {0.5}, .radius = 0.3, .closed = true},
     2,
     0,
     2 * FLO_PI *(0.3 * 0.5 + 2 * 0.09)},
    {"balloon", {.kind = FLO_SHAPE_BAG, .radius = 0.4, .closed = true}, 2, 0, 4 * FLO_PI * 0.16},
};

// How far a point is from the round shape that a mesh stands for.
static double miss(const FloShape *shape, const double p[3]) {
  double radial = hypot(p[0], p[1]), half = shape->size[0] / 2;
  if (shape->kind == FLO_SHAPE_DISC) return hypot(fmax(radial - shape->radius, 0), p[2]);
  if (shape->kind == FLO_SHAPE_HOSE || fabs(p[2]) <= half) return fabs(radial - shape->radius);
  return fabs(hypot(radial, fabs(p[2]) - half) - shape->radius);
}

static void check_round(const Thin *thin, double cell) {
  Fixture f;
  fixture_init(&f);
  make_cloth(&f, &thin->shape, 3, cell);
  FloMeshReport r = inspect(&f);
  Quality q = quality_of(&f.mesh);
  print_message("%-11s cell %-6g %6zu triangles, sides %.2f to %.2f cells, angles from %.1f degrees\n",
                thin->name, cell, r.n_triangles, q.shortest / cell, q.longest / cell, q.least_angle);
  assert_int_equal(r.euler_characteristic, thin->euler);
  assert_int_equal(r.n_components, 1);
  assert_int_equal(r.n_nonmanifold_edges + r.n_inconsistent_halfedges + r.n_degenerate, 0);
  assert_true((r.n_boundary_edges > 0) == (thin->n_borders > 0));
  assert_true(q.shortest > 0.6 * cell && q.longest < 1.5 * cell && q.least_angle > 35);
  for (size_t k = 0; k < f.mesh.n_vertices; ++k)
    assert_close(miss(&thin->shape, flo_mesh_vertex(&f.mesh, k)), 0, 1e-12);
  // Chords fall short of arcs by a share that falls with the square of the cell.
  assert_true(r.area < thin->area && r.area > thin->area * (1 - pow(cell / thin->shape.radius, 2) / 4));
  fixture_free(&f);
}

static void test_round_shapes_are_even(void **state) {
  (void)state;
  const double cells[] = {0.1, 0.07, 0.05, 0.031, 0.02};
  for (size_t k = 0; k < FLO_COUNT_OF(round_ones); ++k)
    for (size_t i = 0; i < FLO_COUNT_OF(cells); ++i) check_round(&round_ones[k], cells[i]);
}

// A cell larger than the shape still gives a mesh that holds together.
static void test_round_shapes_with_a_coarse_cell(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_ones); ++k) {
    Fixture f;
    fixture_init(&f);
    make_cloth(&f, &round_ones[k].shape, 3, 3);
    FloMeshReport r = inspect(&f);
    assert_int_equal(r.euler_characteristic, round_ones[k].euler);
    assert_true(r.n_triangles >= 6 && r.n_degenerate == 0);
    fixture_free(&f);
  }
}

// Surfaces look outwards: the volume is positive, and a disc looks up.
static void test_thin_shapes_look_outwards(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(round_ones); ++k) {
    Fixture f;
    fixture_init(&f);
    make_cloth(&f, &round_ones[k].shape, 3, 0.05);
    for (size_t t = 0; t < f.mesh.n_triangles; ++t) {
      double normal[3], out[3];
      flo_mesh_normal(&f.mesh, t, normal);
      vec_copy(flo_mesh_corner(&f.mesh, t, 0), out);
      double half = round_ones[k].shape.size[0] / 2;
      out[2] = fabs(out[2]) > half ? out[2] - copysign(half, out[2]) : 0;
      if (round_ones[k].shape.kind == FLO_SHAPE_DISC) vec_set(out, 0, 0, 1);
      assert_true(vec_dot(normal, out) > 0);
    }
    fixture_free(&f);
  }
}

// ---- Cloth of other shapes ----

static const double arrow[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8};
static const FloShape solids[] = {
    {.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}},
    {.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}, .radius = 0.1},
    {.kind = FLO_SHAPE_SPHERE, .radius = 0.5},
    {.kind = FLO_SHAPE_CYLINDER, .size = {1}, .radius = 0.3},
    {.kind = FLO_SHAPE_CAPSULE, .size = {0.6}, .radius = 0.25},
    {.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12},
    {.kind = FLO_SHAPE_WEDGE, .size = {1, 0.5, 0.4}},
    {.kind = FLO_SHAPE_DUCK, .size = {1}},
    {.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = arrow, .n_points = 4},
};

// Closed, of the same area as the coarse surface, with short sides.
static void test_the_surface_of_solid_shapes(void **state) {
  (void)state;
  const double cells[] = {0.2, 0.06};
  for (size_t k = 0; k < FLO_COUNT_OF(solids); ++k)
    for (size_t i = 0; i < FLO_COUNT_OF(cells); ++i) {
      Fixture f, coarse;
      FloError error;
      fixture_init(&f), fixture_init(&coarse);
      make_cloth(&f, &solids[k], 3, cells[i]);
      assert_ok(flo_shape_mesh(&solids[k], cells[i], 0, &coarse.mesh, &error), &error);
      FloMeshReport r = inspect(&f), before = inspect(&coarse);
      Quality q = quality_of(&f.mesh), q_before = quality_of(&coarse.mesh);
      assert_true(r.is_watertight && !r.is_inside_out && r.n_degenerate == 0);
      assert_int_equal(r.euler_characteristic, before.euler_characteristic);
      assert_close(r.area, before.area, 1e-12 * r.area);
      assert_close(r.signed_volume, before.signed_volume, 1e-12);
      assert_true(q.longest <= 1.5 * cells[i]);
      assert_true(q.least_angle > 0.49 * q_before.least_angle);
      fixture_free(&f), fixture_free(&coarse);
    }
}

// Three sheets that meet at an edge, with doubled vertices and a triangle that has no area.
static void test_a_mesh_stays_as_it_is(void **state) {
  (void)state;
  const double vertices[] = {0, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 5, 5};
  const uint32_t triangles[] = {0, 2, 1, 5, 6, 3, 0, 6, 4, 0, 5, 2};
  const FloTriangles given = {vertices, triangles, 8, 4};
  Fixture f;
  fixture_init(&f);
  make_cloth(&f, &(FloShape){.kind = FLO_SHAPE_MESH, .mesh = &given}, 3, 0.01);
  FloMeshReport r = inspect(&f);
  assert_int_equal(r.n_triangles, 3);
  assert_int_equal(r.n_vertices, 5);
  assert_int_equal(f.mesh.n_vertices, 5);
  assert_int_equal(r.n_nonmanifold_edges, 1);
  assert_int_equal(r.n_boundary_edges, 6);
  fixture_free(&f);
}

// Halving keeps the edge of three triangles whole: all three are cut at the same vertex.
static void test_halving_keeps_edges_together(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  fixture_init(&f);
  for (int k = 0; k < 2; ++k) mesh_add_vertex(&f.mesh, 0, 0, k);
  for (int k = 0; k < 3; ++k) mesh_add_vertex(&f.mesh, cos(2 * k), sin(2 * k), 0.3 * k);
  for (uint32_t k = 2; k < 5; ++k) mesh_add_triangle(&f.mesh, 0, 1, k);
  FloMeshReport before = inspect(&f);
  assert_ok(flo_mesh_halve_sides(&f.mesh, 0.1, &error), &error);
  FloMeshReport r = inspect(&f);
  Quality q = quality_of(&f.mesh);
  assert_close(r.area, before.area, 1e-12);
  assert_int_equal(r.euler_characteristic, before.euler_characteristic);
  assert_true(r.n_nonmanifold_edges >= 10 && q.longest <= 0.1 && q.least_angle > 10);
  fixture_free(&f);
}

// ---- In the plane ----

// Each vertex but the ends of a line has one segment to it and one from it.
static void check_line(const FloShape *shape, double cell, double length, bool is_closed) {
  Fixture f;
  fixture_init(&f);
  make_cloth(&f, shape, 2, cell);
  double sum = 0, area = 0;
  assert_int_equal(f.mesh.n_vertices, f.mesh.n_triangles + (is_closed ? 0 : 1));
  for (size_t k = 0; k < f.mesh.n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(&f.mesh, k);
    const double *a = flo_mesh_vertex(&f.mesh, t[0]), *b = flo_mesh_vertex(&f.mesh, t[1]);
    assert_true(t[1] == t[2] && t[0] == k && t[1] == (k + 1) % f.mesh.n_vertices);
    assert_true(a[2] == 0 && b[2] == 0);
    double side = hypot(b[0] - a[0], b[1] - a[1]);
    assert_true(side > 0.5 * cell && side < 1.5 * cell);
    sum += side, area += (a[0] * b[1] - a[1] * b[0]) / 2;
  }
  assert_close(sum, length, shape->kind == FLO_SHAPE_SPHERE ? 0.01 * length : 1e-12);
  assert_true(!is_closed || area > 0);
  fixture_free(&f);
}

static void test_cloth_in_the_plane(void **state) {
  (void)state;
  static const double clockwise[] = {0, 0, 0.5, 0.8, 1, 0, 0.5, 0.3};
  const double sides = 2 * (hypot(0.5, 0.3) + hypot(0.5, 0.8));
  const double cells[] = {0.1, 0.03};
  for (size_t k = 0; k < FLO_COUNT_OF(cells); ++k) {
    check_line(&(FloShape){.kind = FLO_SHAPE_SHEET, .size = {1.3}}, cells[k], 1.3, false);
    check_line(&(FloShape){.kind = FLO_SHAPE_BOX, .size = {1, 0.6}}, cells[k], 3.2, true);
    check_line(&(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.4}, cells[k], 0.8 * FLO_PI, true);
    check_line(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = arrow, .n_points = 4}, cells[k], sides, true);
    check_line(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = clockwise, .n_points = 4}, cells[k], sides,
               true);
  }
}

// ---- As solids ----

static void init_solid(FloSolid *solid, const FloShape *shape, int dim, FloMemory *memory) {
  FloError error;
  assert_ok(flo_solid_init(solid, shape, dim, 0.05, 0.1, 1, memory, &error), &error);
}

// To a rectangle around the origin, or to a segment.
static double sheet_distance(const double half[2], const double p[3]) {
  return hypot(hypot(fmax(fabs(p[0]) - half[0], 0), fmax(fabs(p[1]) - half[1], 0)), p[2]);
}

static void check_sheet_solid(int dim) {
  FloMemory memory;
  FloSolid solid;
  Random random = {7};
  const double half[2] = {0.5, dim == 3 ? 0.35 : 0};
  flo_memory_init(&memory, NULL);
  init_solid(&solid, &(FloShape){.kind = FLO_SHAPE_SHEET, .size = {2 * half[0], 2 * half[1]}}, dim, &memory);
  for (int n_tried = 0; n_tried < 1000; ++n_tried) {
    double p[3], normal[3], sharp[3], back[3];
    random_point(&random, 1, p);
    if (dim == 2) p[2] = 0;
    double expected = sheet_distance(half, p);
    assert_close(flo_solid_distance(&solid, p), expected, 1e-12);
    assert_close(flo_solid_surface(&solid, p, INFINITY, normal), expected, 1e-12);
    assert_close(flo_solid_sharp_surface(&solid, p, sharp), expected, 1e-12);
    assert_close_3(normal, sharp, 0);
    vec_add_scaled(p, normal, -expected, back);
    assert_close(sheet_distance(half, back), 0, 1e-12);
  }
  double normal[3], low[3], high[3];
  flo_solid_normal(&solid, (const double[3]){0.013, 0, 0}, normal); // on the sheet
  assert_close(fabs(normal[dim - 1]), 1, 1e-12);
  flo_solid_bounds(&solid, low, high);
  assert_close_3(high, ((const double[3]){half[0], half[1], 0}), 0);
  assert_close(flo_solid_reach(&solid), hypot(half[0], half[1]), 1e-6);
  flo_solid_free(&solid);
  assert_int_equal(memory.bytes, 0);
}

static void test_distances_to_a_sheet(void **state) {
  (void)state;
  check_sheet_solid(2), check_sheet_solid(3);
}

// Samples lie on the surface, whatever the inset; nothing is inside.
static void test_thin_solids_are_sampled_on_their_surface(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  for (size_t k = 0; k <= FLO_COUNT_OF(round_ones); ++k) {
    bool is_line = k == FLO_COUNT_OF(round_ones);
    FloShape shape = is_line ? (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.72}} : round_ones[k].shape;
    FloSolid solid;
    FloPoints points = {.memory = &memory};
    FloMassProperties mass;
    init_solid(&solid, &shape, is_line ? 2 : 3, &memory);
    FloSampleOptions options = {.spacing = 0.05, .inset = 0.025, .layers = 2};
    assert_ok(flo_solid_sample_surface(&solid, &options, &points, &error), &error);
    assert_true(is_line ? points.count == 14 : points.count > 100);
    for (size_t i = 0; i < points.count; ++i)
      assert_close(flo_solid_distance(&solid, flo_points_at(&points, i)), 0, 1e-12);
    assert_refused(flo_solid_sample_volume(&solid, 0.05, FLO_FLUID_CUBIC, &points, &error), &error,
                   "can only be a cloth");
    assert_refused(flo_solid_mass(&solid, 1000, 0.01, &mass, &error), &error, "can only be a cloth");
    flo_points_free(&points);
    flo_solid_free(&solid);
  }
  assert_int_equal(memory.bytes, 0);
}

// Two sheets with different cells are different solids.
static void test_the_cell_belongs_to_the_shape(void **state) {
  (void)state;
  const FloShape a = {.kind = FLO_SHAPE_SHEET, .size = {1, 1}, .cell = 0.1};
  FloShape b = a;
  b.cell = 0.05;
  assert_true(flo_shape_is_same(&a, &a) && !flo_shape_is_same(&a, &b));
  assert_true(flo_solid_key(&a) != flo_solid_key(&b));
}

// ---- Refusals ----

#define REFUSE_CLOTH(dim, cell, word, ...)                                                                   \
  do {                                                                                                       \
    Fixture f;                                                                                               \
    FloError error;                                                                                          \
    const FloShape shape = {__VA_ARGS__};                                                                    \
    fixture_init(&f);                                                                                        \
    FloStatus status = flo_shape_check(&shape, dim, &error);                                                 \
    if (status == FLO_OK) status = flo_shape_cloth_mesh(&shape, dim, cell, &f.mesh, &error);                 \
    assert_refused(status, &error, word);                                                                    \
    fixture_free(&f);                                                                                        \
  } while (0)

static void test_bad_cloth_is_named(void **state) {
  (void)state;
  const double flat[9] = {0};
  const uint32_t corners[] = {0, 1, 2};
  const FloTriangles no_area = {flat, corners, 3, 1};
  REFUSE_CLOTH(3, 0.1, "every size", .kind = FLO_SHAPE_SHEET, .size = {1, 0});
  REFUSE_CLOTH(3, 0.1, "every size", .kind = FLO_SHAPE_HOSE, .size = {0}, .radius = 1);
  REFUSE_CLOTH(3, 0.1, "radius", .kind = FLO_SHAPE_DISC);
  REFUSE_CLOTH(3, 0.1, "bag's tube", .kind = FLO_SHAPE_BAG, .size = {-1}, .radius = 1);
  REFUSE_CLOTH(3, 0.1, "bag's tube", .kind = FLO_SHAPE_BAG, .size = {NAN}, .radius = 1);
  REFUSE_CLOTH(3, 0.1, "cell", .kind = FLO_SHAPE_DISC, .radius = 1, .cell = -0.1);
  REFUSE_CLOTH(3, 0.1, "cell", .kind = FLO_SHAPE_DISC, .radius = 1, .cell = NAN);
  REFUSE_CLOTH(3, 0, "cell", .kind = FLO_SHAPE_SHEET, .size = {1, 1});
  REFUSE_CLOTH(3, 0, "cell", .kind = FLO_SHAPE_BOX, .size = {1, 1, 1});
  REFUSE_CLOTH(3, 1e-9, "make the cell at least 0.00", .kind = FLO_SHAPE_SHEET, .size = {1, 1});
  REFUSE_CLOTH(3, 1e-9, "make the cell at least", .kind = FLO_SHAPE_DISC, .radius = 1);
  REFUSE_CLOTH(3, 1e-9, "make the cell at least", .kind = FLO_SHAPE_HOSE, .size = {1}, .radius = 1);
  REFUSE_CLOTH(3, 1e-9, "make the cell at least", .kind = FLO_SHAPE_BAG, .radius = 1);
  REFUSE_CLOTH(3, 1e-9, "make the cell at least", .kind = FLO_SHAPE_BOX, .size = {1, 1, 1});
  REFUSE_CLOTH(2, 1e-9, "make the cell at least", .kind = FLO_SHAPE_SHEET, .size = {1});
  REFUSE_CLOTH(2, 1e-9, "make the cell at least", .kind = FLO_SHAPE_SPHERE, .radius = 1);
  REFUSE_CLOTH(2, 0.1, "a cloth in two is", .kind = FLO_SHAPE_DISC, .radius = 1);
  REFUSE_CLOTH(2, 0.1, "a cloth in two is", .kind = FLO_SHAPE_BAG, .radius = 1);
  REFUSE_CLOTH(3, 0.1, "a tank cannot be one", .kind = FLO_SHAPE_TANK, .size = {1, 1, 1}, .up = 2);
  REFUSE_CLOTH(3, 0.1, "no area", .kind = FLO_SHAPE_MESH, .mesh = &no_area);
}

static void refuse_in_world(int dim, FloBodyKind kind) {
  FloWorldDef world_def = small_world_def(dim);
  world_def.method = "monolithic";
  FloWorld *world = create_world(&world_def);
  FloError error;
  FloBodyId id;
  FloSinkId sink_id;
  size_t n;
  FloBodyDef body = flo_default_body_def();
  body.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {1, 1}};
  body.kind = kind, body.density = 1000;
  assert_refused(flo_world_add_body(world, &body, &id, &error), &error, "a sheet can only be a cloth");
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = add_water(world);
  fluid.shape = body.shape;
  assert_refused(flo_world_add_fluid(world, &fluid, &n, &error), &error, "a sheet can only be a cloth");
  FloSinkDef sink = flo_default_sink_def();
  sink.shape = body.shape;
  assert_refused(flo_world_add_sink(world, &sink, &sink_id, &error), &error, "a sheet can only be a cloth");
  flo_world_destroy(world);
}

static void test_thin_shapes_are_for_cloth_only(void **state) {
  (void)state;
  const FloBodyKind kinds[] = {FLO_BODY_STATIC, FLO_BODY_KINEMATIC, FLO_BODY_DYNAMIC};
  for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k)
    for (int dim = 2; dim <= 3; ++dim) refuse_in_world(dim, kinds[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sheet_is_a_grid_that_fits),
      cmocka_unit_test(test_the_diagonals_of_a_sheet_alternate),
      cmocka_unit_test(test_round_shapes_are_even),
      cmocka_unit_test(test_round_shapes_with_a_coarse_cell),
      cmocka_unit_test(test_thin_shapes_look_outwards),
      cmocka_unit_test(test_the_surface_of_solid_shapes),
      cmocka_unit_test(test_a_mesh_stays_as_it_is),
      cmocka_unit_test(test_halving_keeps_edges_together),
      cmocka_unit_test(test_cloth_in_the_plane),
      cmocka_unit_test(test_distances_to_a_sheet),
      cmocka_unit_test(test_thin_solids_are_sampled_on_their_surface),
      cmocka_unit_test(test_the_cell_belongs_to_the_shape),
      cmocka_unit_test(test_bad_cloth_is_named),
      cmocka_unit_test(test_thin_shapes_are_for_cloth_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
