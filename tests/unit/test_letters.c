// Letters: every glyph is one closed surface with its holes, as large as its strokes.
#include "base/vecmath.h"
#include "geometry/letters.h"
#include "geometry/outline.h"
#include "support/manifold.h"

static void letter(Fixture *fixture, const char *text, double stroke, bool is_hollow, double fineness) {
  FloError error;
  fixture_init(fixture);
  assert_ok(flo_mesh_letters(text, 1, 0.2, stroke, is_hollow, fineness, &fixture->mesh, &error), &error);
}

// ---- Outlines ----

// A square with a smaller one in it, and a bow tie.
static const double squares[] = {0, 0, 4, 0, 4, 4, 0, 4, 1, 1, 1, 3, 3, 3, 3, 1};
static const double bow_tie[] = {0, 0, 2, 1, 2, 0, 0, 1.5};

static void test_outlines_are_cut_into_triangles(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  FloBuffer triangles = {0};
  size_t n = 0;
  double area = 0;
  fixture_init(&fixture);
  const FloOutline frame = {squares, (const size_t[]){4, 8}, 8, 2};
  assert_ok(flo_outline_triangulate(&frame, &fixture.memory, &triangles, &n, &error), &error);
  assert_int_equal(n, 8);
  for (size_t k = 0; k < n; ++k) {
    const uint32_t *t = (const uint32_t *)triangles.data + 3 * k;
    const double *a = squares + 2 * t[0], *b = squares + 2 * t[1], *c = squares + 2 * t[2];
    double doubled = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert_true(doubled > 0);
    area += doubled / 2;
  }
  assert_close(area, 12, 1e-12);
  flo_buffer_free(&fixture.memory, &triangles);
  fixture_free(&fixture);
}

static void test_bad_outlines_are_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  FloBuffer triangles = {0};
  size_t n = 0;
  fixture_init(&fixture);
  const FloOutline no_rim = {squares + 8, (const size_t[]){4}, 4, 1};
  const FloOutline crossed = {bow_tie, (const size_t[]){4}, 4, 1};
  assert_refused(flo_outline_triangulate(&no_rim, &fixture.memory, &triangles, &n, &error), &error,
                 "one rim, got 0");
  FloStatus status = flo_outline_triangulate(&crossed, &fixture.memory, &triangles, &n, &error);
  assert_true(status == FLO_BAD_INPUT);
  flo_buffer_free(&fixture.memory, &triangles);
  fixture_free(&fixture);
}

// ---- Closed surfaces ----

static const char all_glyphs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

static long holes_of(char glyph) { return strchr("B8", glyph) ? 2 : strchr("ADOPQR0469", glyph) ? 1 : 0; }

static void check_glyph(char glyph, double stroke, bool is_hollow, double fineness) {
  const char text[2] = {glyph, 0};
  long n_surfaces = is_hollow ? 2 : 1;
  Fixture fixture;
  letter(&fixture, text, stroke, is_hollow, fineness);
  const FloMesh *mesh = &fixture.mesh;
  check_manifold(mesh);
  if (euler_characteristic(mesh) != n_surfaces * (2 - 2 * holes_of(glyph)))
    fail_msg("'%c' (stroke %g, fineness %g): Euler characteristic %ld", glyph, stroke, fineness,
             euler_characteristic(mesh));
  assert_int_equal(count_components(mesh), n_surfaces);
  assert_true(mesh_volume(mesh) > 0);
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    if (smallest_angle(mesh, k) < 0.03)
      fail_msg("'%c' (stroke %g, fineness %g): an angle of %g degrees", glyph, stroke, fineness,
               smallest_angle(mesh, k));
  fixture_free(&fixture);
}

static void test_every_glyph_is_closed_with_its_holes(void **state) {
  (void)state;
  static const double strokes[] = {0.04, 0.1, 0.137, 0.2}, finenesses[] = {1, 0.02, 0.009};
  for (const char *glyph = all_glyphs; *glyph; ++glyph)
    for (size_t s = 0; s < FLO_COUNT_OF(strokes); ++s)
      for (size_t f = 0; f < FLO_COUNT_OF(finenesses); ++f)
        check_glyph(*glyph, strokes[s], false, finenesses[f]);
}

static void test_hollow_glyphs_have_a_cavity(void **state) {
  (void)state;
  for (const char *glyph = all_glyphs; *glyph; ++glyph) {
    check_glyph(*glyph, 0.12, true, 0.02);
    check_glyph(*glyph, 0.2, true, 1);
  }
}

static void test_a_text_has_a_component_per_glyph(void **state) {
  (void)state;
  Fixture fixture;
  double low[3], high[3];
  letter(&fixture, "FLOTSAM 2-PHASE 8", 0.15, false, 0.05);
  check_manifold(&fixture.mesh);
  assert_int_equal(count_components(&fixture.mesh), 15);
  assert_int_equal(euler_characteristic(&fixture.mesh), 2 * 15 - 2 * (1 + 1 + 1 + 1 + 2)); // O, A, P, A, 8
  flo_mesh_bounds(&fixture.mesh, low, high);
  assert_close(low[0] + high[0], 0, 1e-12);
  assert_close(low[1], -0.5, 2e-3);
  assert_close(high[1], 0.5, 2e-3);
  assert_close(low[2], -0.1, 1e-12);
  assert_close(high[2], 0.1, 1e-12);
  fixture_free(&fixture);
}

// ---- Sizes ----

static double volume_of(const char *text, double stroke, bool is_hollow, double fineness) {
  Fixture fixture;
  letter(&fixture, text, stroke, is_hollow, fineness);
  double volume = mesh_volume(&fixture.mesh);
  fixture_free(&fixture);
  return volume;
}

// A straight stroke of length l and width w with round ends.
static double stadium(double l, double w) { return l * w + FLO_PI * w * w / 4; }

static void test_an_i_is_a_stadium(void **state) {
  (void)state;
  double coarse = volume_of("I", 0.1, false, 1) - 0.2 * stadium(0.9, 0.1);
  double fine = volume_of("I", 0.1, false, 1.0 / 150) - 0.2 * stadium(0.9, 0.1);
  assert_close(coarse, 0, 0.2 * 0.01 * stadium(0.9, 0.1));
  assert_close(fine, 0, 0.2 * 0.002 * stadium(0.9, 0.1));
  assert_true(fabs(fine) < fabs(coarse));
}

// Two stadiums share three quarters of their round end and a square in the inner corner.
static void test_an_l_is_two_stadiums(void **state) {
  (void)state;
  double w = 0.1, unit = 0.9 / 12, shared = w * w / 4 + 0.75 * FLO_PI * w * w / 4;
  double exact = 0.2 * (stadium(12 * unit, w) + stadium(7 * unit, w) - shared);
  assert_close(volume_of("L", w, false, 1.0 / 150), exact, 2e-3 * exact);
}

// Two walls of a quarter of the stroke to either side, and the lids.
static void test_hollow_walls_have_their_thickness(void **state) {
  (void)state;
  double exact = 0.2 * stadium(0.8, 0.2) - 0.1 * stadium(0.8, 0.1);
  assert_close(volume_of("I", 0.2, true, 1.0 / 150), exact, 2e-3 * exact);
}

// The area of a ring-shaped stroke is its length times its width, to second order.
static void test_a_zero_is_a_bent_stroke(void **state) {
  (void)state;
  double unit = 0.95 / 12, length = 0;
  for (int k = 0; k < 100000; ++k) {
    double a = 2 * FLO_PI * k / 1e5;
    length += 2 * FLO_PI / 1e5 * hypot(3 * unit * sin(a), 6 * unit * cos(a));
  }
  assert_close(volume_of("0", 0.05, false, 1.0 / 150), 0.2 * 0.05 * length, 0.2 * 0.05 * length * 4e-3);
}

static void test_size_follows_the_height(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  assert_ok(flo_mesh_letters("R", 1e-3, 2e-4, 1e-4, false, 2e-5, &fixture.mesh, &error), &error);
  double small = mesh_volume(&fixture.mesh);
  assert_close(small * 1e9, volume_of("R", 0.1, false, 0.02), 1e-6);
  fixture_free(&fixture);
}

// ---- Text ----

static void test_lower_case_is_upper_case(void **state) {
  (void)state;
  Fixture a, b;
  letter(&a, "r2d2-abc", 0.1, true, 0.05);
  letter(&b, "R2D2-ABC", 0.1, true, 0.05);
  assert_int_equal(a.mesh.n_vertices, b.mesh.n_vertices);
  assert_memory_equal(a.mesh.vertices.data, b.mesh.vertices.data, a.mesh.n_vertices * sizeof(double[3]));
  assert_memory_equal(a.mesh.triangles.data, b.mesh.triangles.data, a.mesh.n_triangles * sizeof(uint32_t[3]));
  fixture_free(&a);
  fixture_free(&b);
}

static void test_long_texts_are_bounded(void **state) {
  (void)state;
  char text[66];
  memset(text, 'B', sizeof text);
  text[64] = 0;
  Fixture fixture;
  FloError error;
  letter(&fixture, text, 0.04, true, 1e-9);
  assert_true(fixture.mesh.n_triangles < 250000);
  text[64] = 'B', text[65] = 0;
  assert_refused(flo_mesh_letters(text, 1, 0.2, 0.1, false, 1, &fixture.mesh, &error), &error,
                 "65 characters");
  fixture_free(&fixture);
}

static void test_bad_input_is_refused(void **state) {
  (void)state;
  Fixture fixture;
  FloError error;
  fixture_init(&fixture);
  FloMesh *m = &fixture.mesh;
  assert_refused(flo_mesh_letters("A+B", 1, 1, 0.1, false, 1, m, &error), &error, "no '+'; there are A to Z");
  assert_refused(flo_mesh_letters("A\nB", 1, 1, 0.1, false, 1, m, &error), &error,
                 "code 10; there are A to Z");
  assert_refused(flo_mesh_letters("\xc3\x84", 1, 1, 0.1, false, 1, m, &error), &error, "code 195");
  assert_refused(flo_mesh_letters("", 1, 1, 0.1, false, 1, m, &error), &error, "empty");
  assert_refused(flo_mesh_letters("  ", 1, 1, 0.1, false, 1, m, &error), &error, "empty");
  assert_refused(flo_mesh_letters("A", NAN, 1, 0.1, false, 1, m, &error), &error, "height");
  assert_refused(flo_mesh_letters("A", 1, 0, 0.1, false, 1, m, &error), &error, "depth");
  assert_refused(flo_mesh_letters("A", 1, 1, -0.1, false, 1, m, &error), &error, "stroke width");
  assert_refused(flo_mesh_letters("A", 1, 1, 0.21, false, 1, m, &error), &error, "1/5 of the height");
  assert_refused(flo_mesh_letters("A", 1, 1, 0.03, false, 1, m, &error), &error, "1/25");
  assert_refused(flo_mesh_letters("A", 1, 0.05, 0.1, true, 1, m, &error), &error, "deeper");
  assert_refused(flo_mesh_letters("A", 1, 1, 0.1, false, 0, m, &error), &error, "fineness");
  assert_int_equal(m->n_vertices, 0);
  fixture_free(&fixture);
}

static void test_memory_may_run_out(void **state) {
  (void)state;
  FloStatus status = FLO_NO_MEMORY;
  for (size_t fail_at = 1; status != FLO_OK && fail_at < 100; ++fail_at) {
    Fixture fixture;
    FloError error;
    fixture_init(&fixture);
    fixture.counter.fail_at = fail_at;
    status = flo_mesh_letters("B", 1, 1, 0.1, true, 0.05, &fixture.mesh, &error);
    fixture_free(&fixture);
    assert_true(status == FLO_OK || status == FLO_NO_MEMORY);
  }
  assert_int_equal(status, FLO_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outlines_are_cut_into_triangles),
      cmocka_unit_test(test_bad_outlines_are_refused),
      cmocka_unit_test(test_every_glyph_is_closed_with_its_holes),
      cmocka_unit_test(test_hollow_glyphs_have_a_cavity),
      cmocka_unit_test(test_a_text_has_a_component_per_glyph),
      cmocka_unit_test(test_an_i_is_a_stadium),
      cmocka_unit_test(test_an_l_is_two_stadiums),
      cmocka_unit_test(test_hollow_walls_have_their_thickness),
      cmocka_unit_test(test_a_zero_is_a_bent_stroke),
      cmocka_unit_test(test_size_follows_the_height),
      cmocka_unit_test(test_lower_case_is_upper_case),
      cmocka_unit_test(test_long_texts_are_bounded),
      cmocka_unit_test(test_bad_input_is_refused),
      cmocka_unit_test(test_memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
