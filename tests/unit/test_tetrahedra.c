// Solids filled with tetrahedra and triangles: volume, angles, whether elements fit together and hold the
// same holes as the solid, and what is refused.
#include "geometry/mesh_io.h"
#include "geometry/shape_mesh.h"
#include "support/elements.h"

// Labelle and Shewchuk prove these for their lattice; ours in the plane are worked out in the same way
// [degrees].
static const double least_angle_3d = 10.7, largest_angle_3d = 164.8, least_angle_2d = 15;

static FillingReport fill(Filling *f, double cell) {
  FloError error;
  flo_elements_clear(&f->elements);
  assert_ok(flo_solid_fill(&f->solid, cell, false, &f->elements, &error), &error);
  return check_elements(&f->elements);
}

static void check_angles(const FillingReport *r, int dim) {
  assert_true(r->least_angle > (dim == 3 ? least_angle_3d : least_angle_2d));
  if (dim == 3) assert_true(r->largest_angle < largest_angle_3d);
}

// ---- Shapes ----

typedef struct Case {
  const char *name;
  FloShape shape;
  int dim;
  long long euler; // 1 for a ball; each tunnel takes one, each cavity and each further part adds one
  double cell;     // the coarser of two [m]
  double worst;    // loss of volume with it, and four times what is allowed with half of it, as a share
} Case;

// Creases narrower than a cell, as between ears and head, may be bridged in some places.
enum { UNKNOWN = -1000 };

static const double arrow[] = {0, 0, 0.5, 0.3, 1, 0, 0.5, 0.8};
static const double ell[] = {0, 0, 1, 0, 1, 0.3, 0.3, 0.3, 0.3, 1, 0, 1};

static const Case cases[] = {
    {"sphere", {.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 3, 1, 0.12, 0.025},
    {"cylinder", {.kind = FLO_SHAPE_CYLINDER, .size = {1}, .radius = 0.3}, 3, 1, 0.1, 0.05},
    {"rounded box", {.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}, .radius = 0.1}, 3, 1, 0.1, 0.05},
    {"capsule", {.kind = FLO_SHAPE_CAPSULE, .size = {0.6}, .radius = 0.25}, 3, 1, 0.08, 0.05},
    {"cone", {.kind = FLO_SHAPE_CONE, .size = {0.8}, .radius = 0.4}, 3, 1, 0.08, 0.07},
    {"torus", {.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12}, 3, 0, 0.06, 0.06},
    {"tube", {.kind = FLO_SHAPE_TUBE, .size = {0.8}, .radius = 0.3, .radius2 = 0.2}, 3, 0, 0.05, 0.06},
    {"wedge", {.kind = FLO_SHAPE_WEDGE, .size = {1, 0.5, 0.4}}, 3, 1, 0.06, 0.05},
    {"link", {.kind = FLO_SHAPE_LINK, .size = {1, 0.5}, .radius = 0.08}, 3, 0, 0.05, 0.08},
    {"letters", {.kind = FLO_SHAPE_LETTERS, .size = {0.6, 0.2, 0.1}, .text = "AO8"}, 3, -1, 0.05, 0.1},
    {"duck", {.kind = FLO_SHAPE_DUCK, .size = {1}}, 3, 1, 0.06, 0.04},
    {"rabbit", {.kind = FLO_SHAPE_RABBIT, .size = {1}}, 3, UNKNOWN, 0.045, 0.05},
    {"disc", {.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 2, 1, 0.12, 0.015},
    {"arrow", {.kind = FLO_SHAPE_OUTLINE, .points = arrow, .n_points = 4}, 2, 1, 0.06, 0.05},
    {"ell", {.kind = FLO_SHAPE_OUTLINE, .points = ell, .n_points = 6}, 2, 1, 0.1, 0.04},
};

static void check_case(const Case *c, double cell, double worst) {
  Filling f;
  FloError error;
  FloMassProperties mass;
  filling_init(&f, &c->shape, c->dim, cell / 2);
  FillingReport r = fill(&f, cell);
  assert_ok(flo_solid_mass(&f.solid, 1, 0, &mass, &error), &error);
  print_message("%-11s cell %-6g %6zu elements, angles %4.1f to %5.1f degrees, volume %+.2f %%\n", c->name,
                cell, f.elements.n_elements, r.least_angle, r.largest_angle,
                100 * (r.volume / mass.volume - 1));
  check_angles(&r, c->dim);
  if (c->euler != UNKNOWN) assert_int_equal(r.euler, c->euler);
  assert_close(r.volume, mass.volume, worst * mass.volume);
  assert_close(f.elements.solid_volume, mass.volume, 0);
  assert_close(f.elements.cell, cell, 0);
  // One vertex for each cell^dim; those on the surface own less.
  double n_expected = mass.volume / pow(cell, c->dim);
  assert_true((double)f.elements.n_vertices > n_expected && (double)f.elements.n_vertices < 4 * n_expected);
  filling_free(&f);
}

static void test_shapes_are_filled(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    check_case(&cases[k], cases[k].cell, cases[k].worst);
    check_case(&cases[k], cases[k].cell / 2, cases[k].worst / 2);
  }
}

// Of smooth shapes the missing volume falls with the square of the cell.
static void test_the_missing_volume_is_of_second_order(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Filling f;
    filling_init(&f, &(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, dim, 0.02);
    double volume = dim == 3 ? FLO_PI / 6 : FLO_PI / 4, coarse = volume - fill(&f, 0.1).volume;
    double fine = volume - fill(&f, 0.025).volume;
    assert_true(coarse > 10 * fine && fine > 0);
    filling_free(&f);
  }
}

// Vertices of the border lie on the surface.
static void test_the_border_lies_on_the_surface(void **state) {
  (void)state;
  for (size_t c = 0; c < FLO_COUNT_OF(cases); ++c) {
    Filling f;
    FloError error;
    FloBuffer owners = {0};
    filling_init(&f, &cases[c].shape, cases[c].dim, cases[c].cell / 2);
    fill(&f, cases[c].cell);
    FloMesh *border = &f.fixture.mesh;
    assert_ok(flo_elements_border(&f.elements, border, &owners, &error), &error);
    for (size_t k = 0; k < 3 * border->n_triangles; ++k) {
      const double *point = flo_mesh_vertex(border, ((uint32_t *)border->triangles.data)[k]);
      assert_close(flo_solid_distance(&f.solid, point), 0, 1e-6);
    }
    for (size_t k = 0; k < border->n_triangles; ++k)
      assert_true(((uint32_t *)owners.data)[k] < f.elements.n_elements);
    if (cases[c].dim == 3) {
      FloMeshReport report;
      assert_ok(flo_mesh_inspect(border, &report, &error), &error);
      // Where the border touches itself, two edges in the same place count as one of four triangles.
      assert_true(report.n_boundary_edges == 0 && !report.is_inside_out);
      assert_true(report.n_inconsistent_halfedges <= 2 * report.n_nonmanifold_edges);
      if (report.n_nonmanifold_edges) print_message("%s: the border touches itself\n", cases[c].name);
      assert_close(report.signed_volume, flo_elements_volume(&f.elements), 1e-12);
    }
    flo_buffer_free(&f.fixture.memory, &owners);
    filling_free(&f);
  }
}

static void test_filling_twice_gives_the_same_bits(void **state) {
  (void)state;
  Filling a, b;
  FloShape shape = {.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12};
  filling_init(&a, &shape, 3, 0.02), filling_init(&b, &shape, 3, 0.02);
  fill(&a, 0.05), fill(&b, 0.04), fill(&b, 0.05);
  assert_int_equal(a.elements.n_vertices, b.elements.n_vertices);
  assert_int_equal(a.elements.n_elements, b.elements.n_elements);
  assert_memory_equal(a.elements.vertices.data, b.elements.vertices.data, a.elements.n_vertices * 24);
  assert_memory_equal(a.elements.corners.data, b.elements.corners.data, a.elements.n_elements * 16);
  filling_free(&a), filling_free(&b);
}

// ---- Boxes ----

static void check_box(const FloShape *shape, int dim, double cell, const double low[3],
                      const double size[3]) {
  Filling f;
  double volume = 1, n_cells = 1, n_vertices = 1, found_low[3] = {1e9, 1e9, 1e9},
         found_high[3] = {-1e9, -1e9, -1e9};
  filling_init(&f, shape, dim, 0.1);
  FillingReport r = fill(&f, cell);
  for (int axis = 0; axis < dim; ++axis) {
    double n = fmax(round(size[axis] / cell), 1);
    volume *= size[axis], n_cells *= n, n_vertices *= n + 1;
  }
  assert_close(r.volume, volume, 1e-12 * volume);
  assert_int_equal(f.elements.n_elements, (dim == 3 ? 5 : 2) * n_cells);
  assert_int_equal(f.elements.n_vertices, n_vertices);
  assert_int_equal(r.euler, 1);
  for (size_t k = 0; k < 3 * f.elements.n_vertices; ++k) {
    double x = ((double *)f.elements.vertices.data)[k];
    found_low[k % 3] = fmin(found_low[k % 3], x), found_high[k % 3] = fmax(found_high[k % 3], x);
  }
  for (int axis = 0; axis < dim; ++axis) {
    assert_close(found_low[axis], low[axis], 1e-15);
    assert_close(found_high[axis], low[axis] + size[axis], 1e-15);
  }
  filling_free(&f);
}

static void test_boxes_get_cells_that_fit(void **state) {
  (void)state;
  const double cells[] = {0.2, 0.07, 0.035, 3};
  for (size_t k = 0; k < FLO_COUNT_OF(cells); ++k) {
    check_box(&(FloShape){.kind = FLO_SHAPE_BOX, .size = {1, 0.5, 0.1}}, 3, cells[k],
              (const double[3]){-0.5, -0.25, -0.05}, (const double[3]){1, 0.5, 0.1});
    check_box(&(FloShape){.kind = FLO_SHAPE_PLANE, .size = {1, 0.5, 0.1}}, 3, cells[k],
              (const double[3]){-0.5, -0.25, -0.1}, (const double[3]){1, 0.5, 0.1});
    check_box(&(FloShape){.kind = FLO_SHAPE_CARD, .size = {1, 0.5, 0.1}}, 3, cells[k],
              (const double[3]){-0.5, -0.25, -0.05}, (const double[3]){1, 0.5, 0.1});
    check_box(&(FloShape){.kind = FLO_SHAPE_BOX, .size = {0.35, 0.02}}, 2, cells[k] / 10,
              (const double[3]){-0.175, -0.01}, (const double[3]){0.35, 0.02});
  }
}

// ---- Random poses and cells ----

static void random_rotation(Random *random, double q[4]) {
  for (int k = 0; k < 4; ++k) q[k] = random_between(random, -1, 1);
  q[3] += 1e-3;
  quat_normalise(q);
}

// Turns and shifts a mesh, and makes it larger or smaller.
static void pose_at_random(Random *random, FloMesh *mesh, double scale) {
  double q[4], shift[3];
  random_rotation(random, q);
  random_point(random, 3 * scale, shift);
  for (size_t k = 0; k < mesh->n_vertices; ++k) {
    double turned[3];
    quat_rotate(q, flo_mesh_vertex(mesh, k), turned);
    vec_add_scaled(shift, turned, scale, flo_mesh_vertex(mesh, k));
  }
}

static const struct {
  FloShape shape;
  long long euler;
  double coarsest; // cell that still shows everything [m]
} posed[] = {
    {{.kind = FLO_SHAPE_BOX, .size = {1, 0.7, 0.4}}, 1, 0.12},
    {{.kind = FLO_SHAPE_TORUS, .radius = 0.4, .radius2 = 0.12}, 0, 0.07},
    {{.kind = FLO_SHAPE_CYLINDER, .size = {1}, .radius = 0.4}, 1, 0.1},
    {{.kind = FLO_SHAPE_RAMP, .size = {1, 0.5, 0.4}}, 1, 0.045},
    {{.kind = FLO_SHAPE_DUCK, .size = {1}}, 1, 0.055},
};

static void fill_at_random(Random *random, size_t which, FillingReport *worst) {
  Filling f;
  FloError error;
  FloMesh given;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&given, &memory);
  double scale = pow(10, random_between(random, -3, 3));
  double cell = scale * posed[which].coarsest * random_between(random, 0.6, 1);
  assert_ok(flo_shape_mesh(&posed[which].shape, 0.05, 0, &given, &error), &error);
  pose_at_random(random, &given, scale);
  const FloTriangles triangles = triangles_of(&given);
  filling_init(&f, &(FloShape){.kind = FLO_SHAPE_MESH, .mesh = &triangles}, 3, cell / 2);
  FillingReport r = fill(&f, cell);
  check_angles(&r, 3);
  assert_int_equal(r.euler, posed[which].euler);
  assert_true(r.volume < f.elements.solid_volume * 1.001 && r.volume > 0.85 * f.elements.solid_volume);
  worst->least_angle = fmin(worst->least_angle, r.least_angle);
  worst->largest_angle = fmax(worst->largest_angle, r.largest_angle);
  filling_free(&f);
  flo_mesh_free(&given);
}

static void test_random_poses_and_cells(void **state) {
  (void)state;
  Random random = {11};
  FillingReport worst = {.least_angle = 180};
  for (int n_tried = 0; n_tried < 25; ++n_tried)
    fill_at_random(&random, (size_t)n_tried % FLO_COUNT_OF(posed), &worst);
  print_message("angles %.1f to %.1f degrees\n", worst.least_angle, worst.largest_angle);
}

static void test_random_outlines(void **state) {
  (void)state;
  Random random = {12};
  double least = 180;
  for (int n_tried = 0; n_tried < 200; ++n_tried) {
    Filling f;
    double points[2 * 12], turn = random_between(&random, 0, 7);
    for (int k = 0; k < 12; ++k) {
      double angle = turn + FLO_PI / 6 * k, radius = random_between(&random, 0.6, 1);
      points[2 * k] = 5 + radius * cos(angle), points[2 * k + 1] = radius * sin(angle) - 3;
    }
    filling_init(&f, &(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 12}, 2, 0.05);
    FillingReport r = fill(&f, random_between(&random, 0.02, 0.1));
    check_angles(&r, 2);
    assert_int_equal(r.euler, 1);
    assert_close(r.volume, f.elements.solid_volume, 0.05 * f.elements.solid_volume);
    least = fmin(least, r.least_angle);
    filling_free(&f);
  }
  print_message("angles from %.1f degrees\n", least);
}

// Most fillings have a vertex in each corner. Without that the ell with a cell of 0.1 m loses 2.8 % of its
// area.
static void test_corners_of_outlines_are_kept(void **state) {
  (void)state;
  Random random = {13};
  int n_exact = 0;
  for (int n_tried = 0; n_tried < 60; ++n_tried) {
    Filling f;
    double points[12], cosine = cos(n_tried), sine = sin(n_tried), farthest = 0;
    for (int k = 0; k < 6; ++k) {
      points[2 * k] = cosine * ell[2 * k] - sine * ell[2 * k + 1];
      points[2 * k + 1] = sine * ell[2 * k] + cosine * ell[2 * k + 1];
    }
    filling_init(&f, &(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 6}, 2, 0.05);
    FillingReport r = fill(&f, random_between(&random, 0.03, 0.1));
    check_angles(&r, 2);
    for (int k = 0; k < 6; ++k) {
      double nearest = INFINITY;
      for (size_t v = 0; v < f.elements.n_vertices; ++v) {
        const double *x = flo_elements_vertex(&f.elements, v);
        nearest = fmin(nearest, hypot(x[0] - points[2 * k], x[1] - points[2 * k + 1]));
      }
      farthest = fmax(farthest, nearest);
    }
    n_exact += farthest < 1e-12;
    assert_close(r.volume, 0.51, 0.01 * 0.51);
    filling_free(&f);
  }
  print_message("%d of 60 have a vertex in each corner\n", n_exact);
  assert_true(n_exact >= 40);
}

// ---- What elements cannot show ----

// The cell that a message proposes.
static double proposed_cell(const FloError *error, const char *before) {
  const char *at = strstr(error->text, before);
  assert_non_null(at);
  return atof(at + strlen(before));
}

// Refused with the cell, filled with the one that the message proposes, and with the permission to refine.
static void check_refinement(const FloShape *shape, int dim, double cell, const double place[3],
                             double reach) {
  Filling f;
  FloError error;
  double at[3], away[3];
  filling_init(&f, shape, dim, cell / 4);
  assert_refused(flo_solid_fill(&f.solid, cell, false, &f.elements, &error), &error, "near (");
  print_message("%s\n", error.text);
  assert_int_equal(sscanf(strchr(error.text, '(') + 1, "%lf, %lf, %lf", &at[0], &at[1], &at[2]), 3);
  vec_sub(at, place, away);
  assert_true(vec_length(away) <= reach);
  double finer = proposed_cell(&error, "use a cell of at most ");
  assert_true(finer < cell);
  fill(&f, finer);
  flo_elements_clear(&f.elements);
  assert_ok(flo_solid_fill(&f.solid, cell, true, &f.elements, &error), &error);
  assert_close(f.elements.cell, finer, 0.006 * finer);
  check_elements(&f.elements);
  filling_free(&f);
}

static void test_thin_parts_are_refused_or_refined(void **state) {
  (void)state;
  // A flat disc, and a ball that is smaller than a cell.
  check_refinement(&(FloShape){.kind = FLO_SHAPE_CYLINDER, .size = {0.1}, .radius = 0.5}, 3, 0.3,
                   (const double[3]){0}, 0.6);
  check_refinement(&(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.03}, 3, 0.3, (const double[3]){0}, 0.03);
  check_refinement(&(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.03}, 2, 0.3, (const double[3]){0}, 0.03);
  // Ears.
  check_refinement(&(FloShape){.kind = FLO_SHAPE_RABBIT, .size = {1}}, 3, 0.13, (const double[3]){0, 0, 0.4},
                   0.3);
  // A head on a long thin neck.
  static const double neck[] = {-1, -0.3, 0, -0.3, 0, -0.02, 1, -0.02, 1, 0.02, 0, 0.02, 0, 0.3, -1, 0.3};
  check_refinement(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = neck, .n_points = 8}, 2, 0.1,
                   (const double[3]){1, 0, 0}, 0.1);
  // A slit that elements would close.
  static const double slit[] = {-1,   -0.5, 1,     -0.5, 1,     0.5, 0.02, 0.5,
                                0.02, -0.3, -0.02, -0.3, -0.02, 0.5, -1,   0.5};
  check_refinement(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = slit, .n_points = 8}, 2, 0.15,
                   (const double[3]){0, 0, 0}, 0.6);
}

// Two blocks on a bridge thinner than a cell would fall apart.
static void test_what_holds_together_stays_together(void **state) {
  (void)state;
  static const double bones[] = {-0.6, -0.3,  -0.06, -0.3,  -0.06, -0.015, 0.06, -0.015,
                                 0.06, -0.3,  0.6,   -0.3,  0.6,   0.3,    0.06, 0.3,
                                 0.06, 0.015, -0.06, 0.015, -0.06, 0.3,    -0.6, 0.3};
  check_refinement(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .points = bones, .n_points = 12}, 2, 0.1,
                   (const double[3]){0, 0, 0}, 0.7);
  check_refinement(&(FloShape){.kind = FLO_SHAPE_OUTLINE, .size = {0.3}, .points = bones, .n_points = 12}, 3,
                   0.1, (const double[3]){0, 0, 0}, 0.7);
}

// Crumbs are dropped, larger parts counted.
static void test_crumbs_are_dropped(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  FloElements e;
  FloElementParts parts;
  fixture_init(&f);
  flo_elements_init(&e, 2, &f.memory);
  for (int k = 0; k < 3; ++k) {
    double x = 3 * k, size = k == 1 ? 0.1 : k + 1;
    const double corners[3][3] = {{x, 0, 0}, {x + size, 0, 0}, {x, size, 0}};
    uint32_t numbers[3];
    for (int c = 0; c < 3; ++c)
      assert_ok(flo_elements_add_vertex(&e, corners[c], &numbers[c], &error), &error);
    assert_ok(flo_elements_add(&e, numbers, &error), &error);
  }
  assert_ok(flo_elements_drop_crumbs(&e, 0.1, &parts, &error), &error);
  assert_int_equal(parts.count, 2);
  assert_int_equal(e.n_elements, 2);
  assert_int_equal(e.n_vertices, 6);
  assert_close_3(parts.smallest, ((const double[3]){0, 0, 0}), 0);
  assert_close(flo_elements_volume(&e), 0.5 + 4.5, 1e-12);
  assert_ok(flo_elements_drop_crumbs(&e, 100, &parts, &error), &error);
  assert_int_equal(parts.count, 1);
  assert_close(flo_elements_volume(&e), 4.5, 1e-12);
  flo_elements_free(&e);
  fixture_free(&f);
}

// ---- Refusals ----

static void refuse_mesh(const FloMesh *given, const char *word) {
  Filling f;
  FloError error;
  const FloTriangles triangles = triangles_of(given);
  filling_init(&f, &(FloShape){.kind = FLO_SHAPE_MESH, .mesh = &triangles}, 3, 0.1);
  assert_refused(flo_solid_fill(&f.solid, 0.1, true, &f.elements, &error), &error, word);
  print_message("%s\n", error.text);
  filling_free(&f);
}

static void test_bad_meshes_are_named(void **state) {
  (void)state;
  Fixture f;
  const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, flat[3] = {1, 1, 0};
  fixture_init(&f);
  mesh_add_box(&f.mesh, low, high, false);
  f.mesh.n_triangles -= 1;
  refuse_mesh(&f.mesh, "the mesh has holes: 3 of its edges");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, high, true);
  refuse_mesh(&f.mesh, "inside out");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, high, false);
  flo_mesh_turn_triangle(&f.mesh, 3);
  refuse_mesh(&f.mesh, "some triangles of the mesh look outwards");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, high, false);
  mesh_add_box(&f.mesh, (const double[3]){0.5, 0.4, 0.3}, (const double[3]){1.5, 1.4, 1.3}, false);
  refuse_mesh(&f.mesh, "touches or crosses itself near (");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, high, false); // two boxes that touch with a part of a face
  mesh_add_box(&f.mesh, (const double[3]){1, 0.2, 0.2}, (const double[3]){2, 0.8, 0.8}, false);
  refuse_mesh(&f.mesh, "touches or crosses itself near (1, ");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, flat, false);
  refuse_mesh(&f.mesh, "has no volume");
  f.mesh.n_triangles = f.mesh.n_vertices = 0;
  mesh_add_box(&f.mesh, low, high, false);
  mesh_add_box(&f.mesh, (const double[3]){1, 1, 0}, (const double[3]){2, 2, 1}, false);
  refuse_mesh(&f.mesh, "more than two triangles, for instance that at (1, 1, 0.5)");
  fixture_free(&f);
}

static void refuse_cell(const FloShape *shape, int dim, double cell, const char *word) {
  Filling f;
  FloError error;
  filling_init(&f, shape, dim, 0.1);
  assert_refused(flo_solid_fill(&f.solid, cell, true, &f.elements, &error), &error, word);
  print_message("%s\n", error.text);
  filling_free(&f);
}

static void test_bad_cells_and_shapes_are_named(void **state) {
  (void)state;
  const FloShape ball = {.kind = FLO_SHAPE_SPHERE, .radius = 0.5},
                 box = {.kind = FLO_SHAPE_BOX, .size = {1, 1, 1}};
  refuse_cell(&ball, 3, 0, "positive length");
  refuse_cell(&ball, 3, -1, "positive length");
  refuse_cell(&ball, 3, NAN, "positive length");
  refuse_cell(&ball, 2, INFINITY, "positive length");
  refuse_cell(&ball, 3, 1e-3, "make the cell at least 0.0097");
  refuse_cell(&box, 3, 1e-3, "make the cell at least");
  refuse_cell(&ball, 2, 1e-5, "make the cell at least");
  refuse_cell(&(FloShape){.kind = FLO_SHAPE_TORUS, .radius = 1, .radius2 = 0.002}, 3, 0.001,
              "points of a lattice");
  refuse_cell(&(FloShape){.kind = FLO_SHAPE_TANK, .size = {1, 1, 1}, .up = 2}, 3, 0.1,
              "a tank cannot be one");
  refuse_cell(&(FloShape){.kind = FLO_SHAPE_SHEET, .size = {1, 1}}, 3, 0.1, "can only be a cloth");
}

// Whenever memory ends, everything is given back.
static void test_filling_without_memory_says_so(void **state) {
  (void)state;
  for (size_t limit = 1 << 10; limit < 1 << 22; limit *= 2) {
    Filling f;
    FloError error;
    filling_init(&f, &(FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 3, 0.1);
    f.fixture.counter.byte_limit = limit;
    FloStatus status = flo_solid_fill(&f.solid, 0.1, false, &f.elements, &error);
    assert_true(status == FLO_NO_MEMORY || status == FLO_OK);
    assert_true(status == FLO_OK || limit < 1 << 21);
    filling_free(&f);
  }
}

// ---- Published models ----

static void fill_model(const char *path, const char *name, double cells_along, long long euler,
                       double worst) {
  Fixture f;
  Filling filling;
  FloError error;
  char file[700];
  double low[3], high[3];
  fixture_init(&f);
  snprintf(file, sizeof file, "%s/%s", path, name);
  assert_ok(flo_mesh_read(file, &f.mesh, &error), &error);
  flo_mesh_bounds(&f.mesh, low, high);
  double cell = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2])) / cells_along;
  const FloTriangles triangles = triangles_of(&f.mesh);
  filling_init(&filling, &(FloShape){.kind = FLO_SHAPE_MESH, .mesh = &triangles}, 3, cell / 2);
  FillingReport r = fill(&filling, cell);
  print_message("%-28s cell %-8.3g %6zu elements, angles %4.1f to %5.1f degrees, volume %+.2f %%\n", name,
                cell, filling.elements.n_elements, r.least_angle, r.largest_angle,
                100 * (r.volume / filling.elements.solid_volume - 1));
  check_angles(&r, 3);
  assert_int_equal(r.euler, euler);
  assert_close(r.volume, filling.elements.solid_volume, worst * filling.elements.solid_volume);
  filling_free(&filling);
  fixture_free(&f);
}

static void test_published_models_are_filled(void **state) {
  (void)state;
  char path[500];
  const char *source = getenv("FLOTSAM_SOURCE");
  snprintf(path, sizeof path, "%s/../shared/reference/meshes", source ? source : ".");
  char probe[600];
  snprintf(probe, sizeof probe, "%s/pbd_bunny_10k.obj", path);
  FILE *file = fopen(probe, "r");
  if (!file) {
    print_message("no reference meshes at %s\n", path);
    skip();
  }
  fclose(file);
  fill_model(path, "pbd_bunny_10k.obj", 36, 1, 0.03);
  fill_model(path, "mujoco_spot_cow.obj", 30, 1, 0.03);
  fill_model(path, "splishsplash_torus.obj", 25, 0, 0.03);
  fill_model(path, "trixi_gear.stl", 30, 0, 0.05);
  fill_model(path, "trixi_pipe.stl", 20, 0, 0.05);
  fill_model(path, "erleben/cliff.obj", 20, 1, 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes_are_filled),
      cmocka_unit_test(test_the_missing_volume_is_of_second_order),
      cmocka_unit_test(test_the_border_lies_on_the_surface),
      cmocka_unit_test(test_filling_twice_gives_the_same_bits),
      cmocka_unit_test(test_boxes_get_cells_that_fit),
      cmocka_unit_test(test_random_poses_and_cells),
      cmocka_unit_test(test_random_outlines),
      cmocka_unit_test(test_corners_of_outlines_are_kept),
      cmocka_unit_test(test_thin_parts_are_refused_or_refined),
      cmocka_unit_test(test_what_holds_together_stays_together),
      cmocka_unit_test(test_crumbs_are_dropped),
      cmocka_unit_test(test_bad_meshes_are_named),
      cmocka_unit_test(test_bad_cells_and_shapes_are_named),
      cmocka_unit_test(test_filling_without_memory_says_so),
      cmocka_unit_test(test_published_models_are_filled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
