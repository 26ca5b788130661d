// Meshes: welding, what the report says about broken ones and about published models, and repair.
#include "geometry/mesh_io.h"
#include "support/geometry.h"

#include <limits.h>
#include <time.h>

// The box between (a, a, a) and (b, b, b); `is_inward` turns its triangles round.
static void add_box(Fixture *sheet, double a, double b, bool is_inward) {
  mesh_add_box(&sheet->mesh, (double[3]){a, a, a}, (double[3]){b, b, b}, is_inward);
}

static FloMeshReport inspect(const Fixture *sheet) {
  FloError error;
  FloMeshReport report;
  assert_ok(flo_mesh_inspect(&sheet->mesh, &report, &error), &error);
  return report;
}

static FloMeshReport repair(Fixture *sheet) {
  FloError error;
  assert_ok(flo_mesh_repair(&sheet->mesh, NULL, &error), &error);
  return inspect(sheet);
}

static void turn_at_random(Fixture *sheet, uint64_t seed) {
  Random random = {seed};
  for (size_t t = 0; t < sheet->mesh.n_triangles; ++t) {
    uint32_t *c = flo_mesh_triangle(&sheet->mesh, t), swap = c[1];
    if (random_below(&random, 3) == 0) c[1] = c[2], c[2] = swap;
  }
}

// ---- Welding ----

static void test_weld_keeps_the_first_of_equal_vertices(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  fixture_init(&sheet);
  mesh_add_vertex(&sheet.mesh, 9, 9, 9); // not in use
  mesh_add_vertex(&sheet.mesh, 1, 0, 0);
  mesh_add_vertex(&sheet.mesh, 0.0, 2, 0);
  mesh_add_vertex(&sheet.mesh, -0.0, 2, -0.0);
  mesh_add_vertex(&sheet.mesh, 1, 0, nextafter(0, 1));
  mesh_add_vertex(&sheet.mesh, 1, -0.0, 0);
  mesh_add_triangle(&sheet.mesh, 1, 2, 4);
  mesh_add_triangle(&sheet.mesh, 5, 3, 4);
  assert_ok(flo_mesh_weld(&sheet.mesh, &error), &error);
  assert_int_equal(sheet.mesh.n_vertices, 3);
  assert_close_3(flo_mesh_vertex(&sheet.mesh, 0), ((double[3]){1, 0, 0}), 0);
  assert_close_3(flo_mesh_vertex(&sheet.mesh, 1), ((double[3]){0, 2, 0}), 0);
  assert_true(flo_mesh_vertex(&sheet.mesh, 2)[2] > 0);
  for (size_t t = 0; t < 2; ++t)
    for (uint32_t k = 0; k < 3; ++k) assert_int_equal(flo_mesh_triangle(&sheet.mesh, t)[k], k);
  fixture_free(&sheet);
}

static void test_weld_of_a_soup_gives_the_solid(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  fixture_init(&sheet);
  for (int k = 0; k < 36; ++k) {
    uint32_t corner = box_triangles[k / 3][k % 3];
    uint32_t v = mesh_add_vertex(&sheet.mesh, corner & 1, corner >> 1 & 1, corner >> 2 & 1);
    if (k % 3 == 2) mesh_add_triangle(&sheet.mesh, v - 2, v - 1, v);
  }
  assert_int_equal(inspect(&sheet).n_boundary_edges, 36);
  assert_ok(flo_mesh_weld(&sheet.mesh, &error), &error);
  assert_int_equal(sheet.mesh.n_vertices, 8);
  assert_true(inspect(&sheet).is_watertight);
  fixture_free(&sheet);
}

static void test_weld_of_nothing(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  char text[100];
  fixture_init(&sheet);
  assert_ok(flo_mesh_weld(&sheet.mesh, &error), &error);
  mesh_add_vertex(&sheet.mesh, 1, 2, 3);
  FloMeshReport report = repair(&sheet);
  assert_int_equal(sheet.mesh.n_vertices, 0);
  assert_false(report.is_watertight || report.is_inside_out);
  flo_mesh_describe_problems(&report, text, sizeof text);
  assert_string_equal(text, "empty: it has no triangles");
  fixture_free(&sheet);
}

// Many points on a lattice, each three times: as many as there are places must remain.
static void test_weld_of_many(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  fixture_init(&sheet);
  for (int k = 0; k < 90000; ++k) {
    int place = k % 30000;
    uint32_t v = mesh_add_vertex(&sheet.mesh, place % 30 * 0.1, place / 30 % 100 * -0.1, place / 3000 * 1e-3);
    if (k % 3 == 2) mesh_add_triangle(&sheet.mesh, v - 2, v - 1, v);
  }
  assert_ok(flo_mesh_weld(&sheet.mesh, &error), &error);
  assert_int_equal(sheet.mesh.n_vertices, 30000);
  fixture_free(&sheet);
}

// ---- Reports ----

static void test_report_of_a_box(void **state) {
  (void)state;
  Fixture sheet;
  char text[200];
  fixture_init(&sheet);
  add_box(&sheet, -1, 1, false);
  FloMeshReport r = inspect(&sheet);
  assert_true(r.is_watertight && !r.is_inside_out && r.is_touching_complete);
  assert_close(r.signed_volume, 8, 1e-14);
  assert_close(r.area, 24, 1e-13);
  assert_int_equal(r.n_components, 1);
  assert_int_equal(r.euler_characteristic, 2);
  assert_close_3(r.low, ((double[3]){-1, -1, -1}), 0);
  assert_close_3(r.high, ((double[3]){1, 1, 1}), 0);
  flo_mesh_describe_problems(&r, text, sizeof text);
  assert_string_equal(text, "");
  mesh_turn_all(&sheet.mesh);
  r = inspect(&sheet);
  assert_true(r.is_watertight && r.is_inside_out);
  assert_close(r.signed_volume, -8, 1e-14);
  fixture_free(&sheet);
}

static void test_report_of_a_box_with_a_hole(void **state) {
  (void)state;
  Fixture sheet;
  char text[400];
  fixture_init(&sheet);
  add_box(&sheet, 0, 200, false);
  --sheet.mesh.n_triangles;
  FloMeshReport r = inspect(&sheet);
  assert_int_equal(r.n_boundary_edges, 3);
  assert_int_equal(r.euler_characteristic, 1);
  assert_false(r.is_watertight || r.is_inside_out);
  flo_mesh_describe_problems(&r, text, sizeof text);
  assert_string_equal(text, "open: 3 boundary edges, so inside and outside are guessed by winding numbers; "
                            "size 200 units: if it was drawn in millimetres, scale by 0.001");
  fixture_free(&sheet);
}

static void test_report_of_a_turned_triangle(void **state) {
  (void)state;
  Fixture sheet;
  char text[400];
  fixture_init(&sheet);
  add_box(&sheet, 0, 1e-4, false);
  uint32_t *t = flo_mesh_triangle(&sheet.mesh, 4), swap = t[0];
  t[0] = t[1], t[1] = swap;
  FloMeshReport r = inspect(&sheet);
  assert_int_equal(r.n_boundary_edges + r.n_nonmanifold_edges, 0);
  assert_int_equal(r.n_inconsistent_halfedges, 3);
  assert_false(r.is_watertight);
  flo_mesh_describe_problems(&r, text, sizeof text);
  assert_non_null(strstr(text, "3 edges between triangles of opposite orientation"));
  assert_non_null(strstr(text, "less than a millimetre"));
  fixture_free(&sheet);
}

static void test_report_of_a_fin_and_flat_triangles(void **state) {
  (void)state;
  Fixture sheet;
  char text[600], little[20];
  fixture_init(&sheet);
  add_box(&sheet, 0, 1, false);
  mesh_add_triangle(&sheet.mesh, 0, 1, mesh_add_vertex(&sheet.mesh, 0.5, -1, -1));
  uint32_t a = mesh_add_vertex(&sheet.mesh, 5, 0, 0), b = mesh_add_vertex(&sheet.mesh, 5.1, 0.3, 0.7);
  mesh_add_triangle(&sheet.mesh, a, b, mesh_add_vertex(&sheet.mesh, 5.3, 0.9, 2.1)); // on an oblique line
  mesh_add_triangle(&sheet.mesh, 3, 3, 5);
  FloMeshReport r = inspect(&sheet);
  assert_int_equal(r.n_nonmanifold_edges, 1);
  assert_int_equal(r.n_boundary_edges, 2 + 3);
  assert_int_equal(r.n_degenerate, 2);
  assert_int_equal(r.n_components, 2);
  flo_mesh_describe_problems(&r, text, sizeof text);
  assert_non_null(strstr(text, "1 edge of more than two triangles"));
  assert_non_null(strstr(text, "2 triangles without area"));
  flo_mesh_describe_problems(&r, little, sizeof little);
  assert_int_equal(strlen(little), sizeof little - 1);
  flo_mesh_describe_problems(&r, little, 0);
  fixture_free(&sheet);
}

static void test_report_refuses_what_is_not_finite(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  FloMeshReport report;
  fixture_init(&sheet);
  add_box(&sheet, 0, 1, false);
  flo_mesh_vertex(&sheet.mesh, 5)[1] = NAN;
  assert_refused(flo_mesh_inspect(&sheet.mesh, &report, &error), &error, "vertex 5 is not finite");
  fixture_free(&sheet);
}

// Far from the origin, and so large that products of four coordinates overflow a float.
static void test_report_of_places_far_out(void **state) {
  (void)state;
  Fixture sheet;
  fixture_init(&sheet);
  add_box(&sheet, 1e6, 1e6 + 1, false);
  assert_close(inspect(&sheet).signed_volume, 1, 1e-9);
  fixture_free(&sheet);
  fixture_init(&sheet);
  add_box(&sheet, -1e30, 1e30, false);
  assert_close(inspect(&sheet).signed_volume, 8e90, 1e77);
  assert_int_equal(inspect(&sheet).n_self_touching, 0);
  fixture_free(&sheet);
  // Whatever comes of the volume, all that is finite can be inspected and repaired.
  fixture_init(&sheet);
  add_box(&sheet, -DBL_MAX, DBL_MAX, true);
  add_box(&sheet, -1e-300, 1e-300, false);
  repair(&sheet);
  assert_int_equal(inspect(&sheet).n_triangles, 24);
  fixture_free(&sheet);
}

// ---- Triangles that meet ----

typedef struct Whole {
  long long x[3];
} Whole;

static Whole minus(Whole a, Whole b) { return (Whole){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}}; }
static Whole cross(Whole a, Whole b) {
  return (Whole){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                  a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static bool is_zero(Whole a) { return !a.x[0] && !a.x[1] && !a.x[2]; }

static bool separates(Whole axis, const Whole s[3], const Whole t[3]) {
  long long low[2] = {LLONG_MAX, LLONG_MAX}, high[2] = {LLONG_MIN, LLONG_MIN};
  for (int k = 0; k < 6; ++k) {
    const Whole *p = k < 3 ? &s[k] : &t[k - 3];
    long long d = axis.x[0] * p->x[0] + axis.x[1] * p->x[1] + axis.x[2] * p->x[2];
    if (d < low[k / 3]) low[k / 3] = d;
    if (d > high[k / 3]) high[k / 3] = d;
  }
  return high[0] < low[1] || high[1] < low[0];
}

// By separating axes, exactly: normals, products of sides, and sides within the plane.
static bool meet_exactly(const Whole s[3], const Whole t[3]) {
  Whole n[2] = {cross(minus(s[1], s[0]), minus(s[2], s[0])), cross(minus(t[1], t[0]), minus(t[2], t[0]))};
  if (is_zero(n[0]) || is_zero(n[1])) return false;
  if (separates(n[0], s, t) || separates(n[1], s, t)) return false;
  for (int i = 0; i < 3; ++i) {
    Whole e = minus(s[(i + 1) % 3], s[i]), f = minus(t[(i + 1) % 3], t[i]);
    if (separates(cross(n[0], e), s, t) || separates(cross(n[1], f), s, t)) return false;
    for (int j = 0; j < 3; ++j)
      if (separates(cross(e, minus(t[(j + 1) % 3], t[j])), s, t)) return false;
  }
  return true;
}

// Small whole coordinates, so that corners lie on sides and planes coincide often.
static size_t compare_soup(Random *random, int n, uint32_t room, uint32_t size, int flatness) {
  Fixture sheet;
  Whole points[3 * 200];
  fixture_init(&sheet);
  for (int k = 0; k < 3 * n; ++k) {
    for (int axis = 0; axis < 3; ++axis)
      points[k].x[axis] = k % 3 ? points[k - k % 3].x[axis] + random_below(random, size)
                                : (long long)random_below(random, axis < flatness ? room : 1);
    uint32_t v =
        mesh_add_vertex(&sheet.mesh, (double)points[k].x[0], (double)points[k].x[1], (double)points[k].x[2]);
    if (k % 3 == 2) mesh_add_triangle(&sheet.mesh, v - 2, v - 1, v);
  }
  size_t n_meetings = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) n_meetings += meet_exactly(points + 3 * i, points + 3 * j);
  assert_int_equal(inspect(&sheet).n_self_touching, n_meetings);
  fixture_free(&sheet);
  return n_meetings;
}

static void test_meetings_agree_with_separating_axes(void **state) {
  (void)state;
  Random random = {7};
  size_t n = 0;
  for (int k = 0; k < 40; ++k) n += compare_soup(&random, 200, 12, 4, 3);
  for (int k = 0; k < 20; ++k) n += compare_soup(&random, 100, 9, 2, 2); // many in few planes
  for (int k = 0; k < 20; ++k) n += compare_soup(&random, 60, 40, 30, 3);
  assert_true(n > 10000);
}

static void test_overlapping_boxes_meet(void **state) {
  (void)state;
  Fixture sheet;
  char text[300];
  fixture_init(&sheet);
  add_box(&sheet, 0, 1, false);
  add_box(&sheet, 0.5, 1.5, false);
  FloMeshReport r = inspect(&sheet);
  assert_true(r.n_self_touching > 0);
  flo_mesh_describe_problems(&r, text, sizeof text);
  assert_non_null(strstr(text, "run into each other"));
  fixture_free(&sheet);
}

// All in the same place: the pairs are too many to count, and the search says so.
static void test_a_heap_of_triangles_is_given_up(void **state) {
  (void)state;
  Fixture sheet;
  fixture_init(&sheet);
  for (int k = 0; k < 4000; ++k) {
    uint32_t a = mesh_add_vertex(&sheet.mesh, 0, k * 1e-9, 0),
             b = mesh_add_vertex(&sheet.mesh, 1, 0, k * 1e-9);
    mesh_add_triangle(&sheet.mesh, a, b, mesh_add_vertex(&sheet.mesh, 0, 1, 1 - k * 1e-9));
  }
  FloMeshReport r = inspect(&sheet);
  assert_false(r.is_touching_complete);
  assert_true(r.n_self_touching > 1000);
  fixture_free(&sheet);
}

// ---- Published models ----

static const char *models_folder(char path[500]) {
  const char *source = getenv("FLOTSAM_SOURCE");
  snprintf(path, 500, "%s/../shared/reference/meshes", source ? source : ".");
  return path;
}

static FILE *open_statistics(void) {
  char folder[500], path[600];
  snprintf(path, sizeof path, "%s/mesh_statistics.csv", models_folder(folder));
  FILE *table = fopen(path, "r");
  if (!table) {
    print_message("no reference meshes at %s\n", path);
    skip();
  }
  return table;
}

static void read_model(Fixture *sheet, const char *name) {
  char folder[500], path[700];
  FloError error;
  fixture_init(sheet);
  snprintf(path, sizeof path, "%s/%s", models_folder(folder), name);
  assert_ok(flo_mesh_read(path, &sheet->mesh, &error), &error);
}

// The report as a line of the table.
static void print_report(const char *name, const FloMeshReport *r, char *line, size_t size) {
  snprintf(line, size, "%s,%zu,%zu,%s,%zu,%zu,%zu,%zu,%zu,%lld,%.6g,%.6g,%.6g,%.6g", name, r->n_triangles,
           r->n_vertices, r->is_watertight ? "yes" : "no", r->n_boundary_edges, r->n_nonmanifold_edges,
           r->n_inconsistent_halfedges, r->n_degenerate, r->n_components, r->euler_characteristic,
           r->signed_volume, r->high[0] - r->low[0], r->high[1] - r->low[1], r->high[2] - r->low[2]);
}

static void test_published_models_have_their_statistics(void **state) {
  (void)state;
  FILE *table = open_statistics();
  char expected[400], name[200], line[400];
  int n_models = 0;
  while (fgets(expected, sizeof expected, table)) {
    expected[strcspn(expected, "\r\n")] = 0;
    if (expected[0] == '#' || strncmp(expected, "file,", 5) == 0 || !strchr(expected, ',')) continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(expected, ","), expected);
    Fixture sheet;
    read_model(&sheet, name);
    FloMeshReport report = inspect(&sheet);
    print_report(name, &report, line, sizeof line);
    assert_string_equal(line, expected);
    fixture_free(&sheet);
    ++n_models;
  }
  fclose(table);
  assert_true(n_models >= 19);
}

static void test_published_models_are_repaired(void **state) {
  (void)state;
  fclose(open_statistics());
  Fixture sheet;
  read_model(&sheet, "splishsplash_EmitterBox.obj"); // every triangle stands there twice
  FloMeshReport r = repair(&sheet);
  assert_true(r.is_watertight);
  assert_int_equal(r.n_triangles, 28);
  fixture_free(&sheet);
  read_model(&sheet, "splishsplash_Dragon_50k.obj"); // parts that touch along edges, properly oriented
  r = repair(&sheet);
  assert_int_equal(r.n_triangles, 50000);
  assert_close(r.signed_volume, 0.109044, 5e-7);
  fixture_free(&sheet);
  read_model(&sheet, "erleben/hole-small.obj"); // open, and the wall of its hole is a sheet of its own
  r = repair(&sheet);
  assert_close(r.signed_volume, 1.44631, 5e-6);
  fixture_free(&sheet);
  read_model(&sheet, "mujoco_bunny.obj"); // open
  mesh_turn_all(&sheet.mesh);
  turn_at_random(&sheet, 3);
  r = repair(&sheet);
  assert_int_equal(r.n_inconsistent_halfedges, 0);
  assert_close(r.signed_volume, 0.000762963, 5e-10);
  fixture_free(&sheet);
}

// ---- Repair ----

static void test_repair_cleans_up(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  FloMeshReport before;
  fixture_init(&sheet);
  add_box(&sheet, 0, 1, false);
  add_box(&sheet, 0, 1, false);
  for (uint32_t k = 0; k < 3; ++k) // doubled, beginning at another corner
    flo_mesh_triangle(&sheet.mesh, 12)[k] = 8 + box_triangles[0][(k + 1) % 3];
  mesh_add_triangle(&sheet.mesh, 1, 1, 2);
  mesh_add_triangle(&sheet.mesh, 0, 1, mesh_add_vertex(&sheet.mesh, 0.5, 0, 0)); // flat, beside an edge
  mesh_add_vertex(&sheet.mesh, 7, 7, 7);
  assert_ok(flo_mesh_repair(&sheet.mesh, &before, &error), &error);
  assert_int_equal(before.n_degenerate, 2);
  assert_int_equal(before.n_triangles, 26);
  assert_int_equal(before.n_nonmanifold_edges, 18);
  FloMeshReport r = inspect(&sheet);
  assert_int_equal(r.n_triangles, 12);
  assert_int_equal(r.n_vertices, 8);
  assert_true(r.is_watertight);
  fixture_free(&sheet);
}

// The flat triangle between a long edge and two short ones is all that closes this tetrahedron.
static void test_repair_keeps_what_closes_a_gap(void **state) {
  (void)state;
  Fixture sheet;
  fixture_init(&sheet);
  uint32_t a = mesh_add_vertex(&sheet.mesh, 0, 0, 0), b = mesh_add_vertex(&sheet.mesh, 1, 0, 0),
           c = mesh_add_vertex(&sheet.mesh, 0, 1, 0);
  uint32_t d = mesh_add_vertex(&sheet.mesh, 0, 0, 1), m = mesh_add_vertex(&sheet.mesh, 0.5, 0, 0);
  mesh_add_triangle(&sheet.mesh, a, c, b);
  mesh_add_triangle(&sheet.mesh, b, c, d);
  mesh_add_triangle(&sheet.mesh, c, a, d);
  mesh_add_triangle(&sheet.mesh, a, m, d);
  mesh_add_triangle(&sheet.mesh, m, b, d);
  mesh_add_triangle(&sheet.mesh, a, b, m);
  assert_int_equal(inspect(&sheet).n_degenerate, 1);
  FloMeshReport r = repair(&sheet);
  assert_true(r.is_watertight);
  assert_close(r.signed_volume, 1.0 / 6, 1e-15);
  fixture_free(&sheet);
}

static void test_repair_orients_a_box(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Fixture sheet;
    fixture_init(&sheet);
    add_box(&sheet, 5, 7, seed % 2);
    turn_at_random(&sheet, seed);
    FloMeshReport r = repair(&sheet);
    assert_true(r.is_watertight);
    assert_close(r.signed_volume, 8, 1e-13);
    fixture_free(&sheet);
  }
}

// Boxes around the same point, from size 4 down; `signs` says which are drawn inward.
static double repaired_nest(const char *signs) {
  Fixture sheet;
  fixture_init(&sheet);
  for (int k = 0; signs[k]; ++k) add_box(&sheet, k * 0.25, 4 - k * 0.25, signs[k] == '-');
  FloMeshReport r = repair(&sheet);
  assert_true(r.is_watertight);
  fixture_free(&sheet);
  return r.signed_volume;
}

static double cube(double x) { return x * x * x; }

static void test_repair_keeps_cavities(void **state) {
  (void)state;
  double a = cube(4), b = cube(3.5), c = cube(3), d = cube(2.5);
  assert_close(repaired_nest("+"), a, 1e-12);
  assert_close(repaired_nest("-"), a, 1e-12);
  assert_close(repaired_nest("+-"), a - b, 1e-12);
  assert_close(repaired_nest("-+"), a - b, 1e-12); // a hollow body inside out
  assert_close(repaired_nest("++"), a + b, 1e-12); // a body in a body stays one
  assert_close(repaired_nest("+-+"), a - b + c, 1e-12);
  assert_close(repaired_nest("+--"), a - b + c, 1e-12); // what lies in a cavity is a body
  assert_close(repaired_nest("-+-"), a - b + c, 1e-12);
  assert_close(repaired_nest("+-+-"), a - b + c - d, 1e-12);
  assert_close(repaired_nest("-+-+"), a - b + c - d, 1e-12);
}

static void test_repair_of_several_bodies(void **state) {
  (void)state;
  Fixture sheet;
  fixture_init(&sheet);
  add_box(&sheet, 0, 3, false); // hollow
  add_box(&sheet, 1, 2, true);
  add_box(&sheet, 10, 13, true); // hollow and inside out
  add_box(&sheet, 11, 12, false);
  add_box(&sheet, 20, 21, true);     // two that overlap, both inside out
  add_box(&sheet, 20.4, 21.4, true); // without being each other's cavity
  FloMeshReport r = repair(&sheet);
  assert_close(r.signed_volume, 26 + 26 + 2, 1e-11);
  assert_int_equal(r.n_components, 6);
  fixture_free(&sheet);
}

// A field of ground has no inside: its orientation is its maker's.
static void test_repair_leaves_open_ground(void **state) {
  (void)state;
  for (int is_down = 0; is_down < 2; ++is_down) {
    Fixture sheet;
    fixture_init(&sheet);
    for (int k = 0; k < 25; ++k) mesh_add_vertex(&sheet.mesh, k % 5, k / 5, 0.3 * sin(k % 5) * cos(k / 5));
    for (uint32_t k = 0; k < 24; ++k) {
      uint32_t v = k / 5 * 5 + k % 5;
      if (k % 5 == 4 || k >= 20) continue;
      mesh_add_triangle(&sheet.mesh, v, v + 1, v + 6);
      mesh_add_triangle(&sheet.mesh, v, v + 6, v + 5);
    }
    if (is_down) mesh_turn_all(&sheet.mesh);
    uint32_t corners[2 * 16 * 3];
    memcpy(corners, sheet.mesh.triangles.data, sizeof corners);
    repair(&sheet);
    assert_memory_equal(corners, sheet.mesh.triangles.data, sizeof corners);
    fixture_free(&sheet);
  }
}

// Möbius' band cannot be oriented; it stays as it is.
static void test_repair_of_a_band_with_one_side(void **state) {
  (void)state;
  enum { N = 12 };
  Fixture sheet;
  fixture_init(&sheet);
  for (int k = 0; k < 2 * N; ++k) {
    double angle = 2 * FLO_PI * (k / 2) / N, out = 1 + (k % 2 ? 0.2 : -0.2) * cos(angle / 2);
    mesh_add_vertex(&sheet.mesh, out * cos(angle), out * sin(angle), (k % 2 ? 0.2 : -0.2) * sin(angle / 2));
  }
  for (uint32_t k = 0; k < N; ++k) {
    bool is_last = k == N - 1;
    uint32_t a = 2 * k, b = 2 * k + 1, c = is_last ? 1 : a + 2, d = is_last ? 0 : b + 2;
    mesh_add_triangle(&sheet.mesh, a, c, b);
    mesh_add_triangle(&sheet.mesh, b, c, d);
  }
  uint32_t corners[2 * N * 3];
  memcpy(corners, sheet.mesh.triangles.data, sizeof corners);
  assert_int_equal(inspect(&sheet).n_inconsistent_halfedges, 1);
  FloMeshReport r = repair(&sheet);
  assert_int_equal(r.n_inconsistent_halfedges, 1);
  assert_int_equal(r.euler_characteristic, 0);
  assert_memory_equal(corners, sheet.mesh.triangles.data, sizeof corners);
  fixture_free(&sheet);
}

// Whichever of its triangles is there once more and the wrong way round.
static void test_repair_drops_opposite_copies(void **state) {
  (void)state;
  for (size_t k = 0; k < 12; ++k)
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Fixture sheet;
      fixture_init(&sheet);
      if (seed % 2)
        mesh_add_triangle(&sheet.mesh, 0 * mesh_add_vertex(&sheet.mesh, 9, 9, 9), 0,
                          0); // numbers that differ
      uint32_t first = (uint32_t)sheet.mesh.n_vertices;
      add_box(&sheet, 0, 3, false);
      const uint32_t *t = box_triangles[k];
      mesh_add_triangle(&sheet.mesh, first + t[0], first + t[2], first + t[1]);
      if (seed > 1) turn_at_random(&sheet, seed);
      FloMeshReport r = repair(&sheet);
      assert_int_equal(r.n_triangles, 12);
      assert_true(r.is_watertight);
      assert_close(r.signed_volume, 27, 1e-12);
      fixture_free(&sheet);
    }
}

// Two bodies side by side: the faces in between have the same corners, and belong to one each.
static void test_repair_keeps_common_faces(void **state) {
  (void)state;
  Fixture sheet;
  fixture_init(&sheet);
  add_box(&sheet, 0, 1, false);
  add_box(&sheet, 0, 1, false);
  for (uint32_t v = 8; v < 16; ++v) // mirrored at x = 0, so that the diagonals agree
    flo_mesh_vertex(&sheet.mesh, v)[0] *= -1;
  for (size_t t = 12; t < 24; ++t) flo_mesh_turn_triangle(&sheet.mesh, t);
  FloMeshReport r = repair(&sheet);
  assert_int_equal(r.n_triangles, 24);
  assert_close(r.signed_volume, 2, 1e-12);
  fixture_free(&sheet);
}

// A box whose triangles share no vertex, each coordinate off by up to `noise`.
static void add_noisy_soup(Fixture *sheet, double noise) {
  Random random = {5};
  for (size_t k = 0; k < 12; ++k) {
    uint32_t corners[3];
    for (int i = 0; i < 3; ++i) {
      uint32_t v = box_triangles[k][i];
      corners[i] = mesh_add_vertex(&sheet->mesh, 5 + 3 * (v & 1) + random_between(&random, -noise, noise),
                                   3 * (v >> 1 & 1) + random_between(&random, -noise, noise),
                                   3 * (v >> 2) + random_between(&random, -noise, noise));
    }
    mesh_add_triangle(&sheet->mesh, corners[0], corners[1], corners[2]);
  }
}

static void test_repair_joins_what_differs_by_rounding(void **state) {
  (void)state;
  static const double noises[] = {3e-9, 3e-7};
  for (size_t k = 0; k < FLO_COUNT_OF(noises); ++k) {
    Fixture sheet;
    FloError error;
    FloMeshReport before;
    char words[256];
    fixture_init(&sheet);
    add_noisy_soup(&sheet, noises[k]);
    assert_ok(flo_mesh_repair(&sheet.mesh, &before, &error), &error);
    assert_int_equal(before.n_joined_vertices, 36 - 8);
    assert_int_equal(before.n_boundary_edges, 0);
    flo_mesh_describe_problems(&before, words, sizeof words);
    assert_non_null(strstr(words, "28 vertices that differed by rounding only were merged"));
    FloMeshReport r = inspect(&sheet);
    assert_true(r.is_watertight);
    assert_int_equal(r.n_vertices, 8);
    assert_close(r.signed_volume, 27, 1e-4);
    fixture_free(&sheet);
  }
}

// A slit that was meant is wider than rounding, and stays; so does a mesh without any.
static void test_repair_does_not_join_what_is_apart(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  FloMeshReport before;
  fixture_init(&sheet);
  add_noisy_soup(&sheet, 1e-3);
  assert_ok(flo_mesh_repair(&sheet.mesh, &before, &error), &error);
  assert_int_equal(before.n_joined_vertices, 0);
  assert_int_equal(inspect(&sheet).n_boundary_edges, 36);
  fixture_free(&sheet);
  // Two sheets that touch with their corners only gain nothing.
  fixture_init(&sheet);
  mesh_add_triangle(&sheet.mesh, mesh_add_vertex(&sheet.mesh, 0, 0, 0), mesh_add_vertex(&sheet.mesh, 1, 0, 0),
                    mesh_add_vertex(&sheet.mesh, 0, 1, 0));
  mesh_add_triangle(&sheet.mesh, mesh_add_vertex(&sheet.mesh, 1e-9, 0, 0),
                    mesh_add_vertex(&sheet.mesh, -1, 0, 0), mesh_add_vertex(&sheet.mesh, 0, -1, 0));
  assert_ok(flo_mesh_repair(&sheet.mesh, &before, &error), &error);
  assert_int_equal(before.n_joined_vertices, 0);
  assert_int_equal(sheet.mesh.n_vertices, 6);
  fixture_free(&sheet);
}

// A column of bodies, none in another: without a look at their boxes each would meet all those above.
static void test_repair_of_a_high_stack(void **state) {
  (void)state;
  enum { N = 5000 };
  Fixture sheet;
  FloError error;
  fixture_init(&sheet);
  for (int k = 0; k < N; ++k) {
    add_box(&sheet, 0, 1, k % 2);
    for (int v = 1; v <= 8; ++v) flo_mesh_vertex(&sheet.mesh, sheet.mesh.n_vertices - (size_t)v)[2] += 2 * k;
  }
  clock_t start = clock();
  assert_ok(flo_mesh_repair(&sheet.mesh, NULL, &error), &error);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("a stack of %d boxes takes %.2f s\n", (int)N, seconds);
  FloMassProperties mass;
  flo_mesh_mass(&sheet.mesh, 1, &mass);
  assert_close(mass.volume, N, 1e-6 * N);
  fixture_free(&sheet);
}

// ---- Memory ----

static void test_failed_allocations_are_reported(void **state) {
  (void)state;
  size_t n_failures = 0;
  for (size_t at = 1;; ++at) {
    Fixture sheet;
    FloError error;
    fixture_init(&sheet);
    add_box(&sheet, 0, 3, true);
    add_box(&sheet, 1, 2, false);
    sheet.counter.fail_at = sheet.counter.n_calls + at;
    FloStatus status = flo_mesh_repair(&sheet.mesh, NULL, &error);
    sheet.counter.fail_at = 0;
    fixture_free(&sheet);
    if (status == FLO_OK) break;
    assert_int_equal(status, FLO_NO_MEMORY);
    ++n_failures;
  }
  assert_true(n_failures > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_weld_keeps_the_first_of_equal_vertices),
      cmocka_unit_test(test_weld_of_a_soup_gives_the_solid),
      cmocka_unit_test(test_weld_of_nothing),
      cmocka_unit_test(test_weld_of_many),
      cmocka_unit_test(test_report_of_a_box),
      cmocka_unit_test(test_report_of_a_box_with_a_hole),
      cmocka_unit_test(test_report_of_a_turned_triangle),
      cmocka_unit_test(test_report_of_a_fin_and_flat_triangles),
      cmocka_unit_test(test_report_refuses_what_is_not_finite),
      cmocka_unit_test(test_report_of_places_far_out),
      cmocka_unit_test(test_meetings_agree_with_separating_axes),
      cmocka_unit_test(test_overlapping_boxes_meet),
      cmocka_unit_test(test_a_heap_of_triangles_is_given_up),
      cmocka_unit_test(test_published_models_have_their_statistics),
      cmocka_unit_test(test_published_models_are_repaired),
      cmocka_unit_test(test_repair_cleans_up),
      cmocka_unit_test(test_repair_drops_opposite_copies),
      cmocka_unit_test(test_repair_keeps_common_faces),
      cmocka_unit_test(test_repair_joins_what_differs_by_rounding),
      cmocka_unit_test(test_repair_does_not_join_what_is_apart),
      cmocka_unit_test(test_repair_of_a_high_stack),
      cmocka_unit_test(test_repair_keeps_what_closes_a_gap),
      cmocka_unit_test(test_repair_orients_a_box),
      cmocka_unit_test(test_repair_keeps_cavities),
      cmocka_unit_test(test_repair_of_several_bodies),
      cmocka_unit_test(test_repair_leaves_open_ground),
      cmocka_unit_test(test_repair_of_a_band_with_one_side),
      cmocka_unit_test(test_failed_allocations_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
