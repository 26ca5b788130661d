// Samples on moving meshes: the figures of the paper, bindings, awkward triangles, and what is refused.
#include "geometry/figures.h"
#include "support/mesh_samples.h"

// ---- Two triangles, figures 3 and 4 of the paper ----

static const double before[4][3] = {{0, 0, 0}, {4, 0.4, 0}, {1.4, 3.4, 0}, {5, 3.8, 0}};
static const double after[4][3] = {{-1, -0.6, 0}, {5.2, 0.2, 0}, {0.6, 4.6, 0}, {8.2, 4.4, 0.5}};

static void add_two_triangles(FloMesh *mesh) {
  for (int k = 0; k < 4; ++k) mesh_add_vertex(mesh, before[k][0], before[k][1], before[k][2]);
  mesh_add_triangle(mesh, 0, 1, 2);
  mesh_add_triangle(mesh, 1, 3, 2);
}

// The state between `before`, 0, and `after`, 1.
static void deform(FloMesh *mesh, double share) {
  for (int k = 0; k < 4; ++k)
    for (int axis = 0; axis < 3; ++axis)
      flo_mesh_vertex(mesh, (size_t)k)[axis] = (1 - share) * before[k][axis] + share * after[k][axis];
}

typedef struct Figure {
  Quality first, last, back;
} Figure;

// Deforms the triangles in steps, and back.
static Figure run_figure(const char *name, FloResampling rule, double spacing) {
  Fixture f;
  Sampled s;
  Figure figure;
  enum { STEPS = 20 };
  fixture_init(&f);
  add_two_triangles(&f.mesh);
  sampled_init(&s, &f.mesh, spacing, rule);
  figure.first = measure_quality(&s, 0.1);
  for (int k = 1; k <= STEPS; ++k) deform(&f.mesh, (double)k / STEPS), sampled_resample(&s);
  sampled_place(&s);
  figure.last = measure_quality(&s, 0.1);
  for (int k = STEPS - 1; k >= 0; --k) deform(&f.mesh, (double)k / STEPS), sampled_resample(&s);
  sampled_place(&s);
  figure.back = measure_quality(&s, 0.1);
  print_message("%s, spacing %g\n", name, spacing);
  print_quality("  before", &figure.first), print_quality("  after", &figure.last);
  sampled_free(&s);
  fixture_free(&f);
  return figure;
}

static bool is_within(const Quality *q) { return q->min >= 3.6 && q->max <= 10; }

static void test_figure_geometry_and_density(void **state) {
  (void)state;
  const double spacings[] = {0.5, 0.37, 0.25, 0.1};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k)
    for (int rule = FLO_RESAMPLE_BY_GEOMETRY; rule <= FLO_RESAMPLE_BY_DENSITY; ++rule) {
      Figure figure = run_figure(rule ? "number density" : "geometry", (FloResampling)rule, spacings[k]);
      assert_true(is_within(&figure.first) && is_within(&figure.last));
      assert_true(figure.first.deviation < 0.7 && figure.last.deviation < 0.9);
      assert_true(figure.last.samples > 1.3 * figure.first.samples);
      assert_int_equal(figure.back.samples, figure.first.samples);
    }
}

static void test_figure_static_is_too_sparse_after(void **state) {
  (void)state;
  const double spacings[] = {0.5, 0.25};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k) {
    Figure figure = run_figure("static", FLO_RESAMPLE_NEVER, spacings[k]);
    assert_true(is_within(&figure.first));
    assert_true(figure.last.min < 3.2 && figure.last.samples == figure.first.samples);
  }
}

// Too dense and too sparse at the same time, with a larger deviation.
static void test_figure_seven_points_are_uneven(void **state) {
  (void)state;
  Figure seven = run_figure("seven points", FLO_RESAMPLE_BY_SUBDIVISION, 0.5);
  Figure ours = run_figure("geometry", FLO_RESAMPLE_BY_GEOMETRY, 0.5);
  assert_int_equal(seven.first.samples % 7, 0);
  assert_true(seven.first.min < 3.6 && seven.first.max > 10);
  assert_true(seven.last.min < 3.6 && seven.last.max > 10);
  assert_true(seven.first.deviation > 1.5 * ours.first.deviation);
  assert_true(seven.last.deviation > 1.5 * ours.last.deviation);
}

// ---- Bindings ----

static void test_carriers_add_up_and_place_samples(void **state) {
  (void)state;
  Fixture f;
  Sampled s;
  fixture_init(&f);
  add_two_triangles(&f.mesh);
  sampled_init(&s, &f.mesh, 0.3, FLO_RESAMPLE_BY_GEOMETRY);
  int kinds[3] = {0};
  for (size_t i = 0; i < s.count; ++i) {
    const double binding[3] = {s.bindings[0][i], s.bindings[1][i], s.bindings[2][i]};
    FloMeshCarriers carriers = flo_mesh_sampler_carriers(s.sampler, binding);
    double sum = 0, backwards = 0, x[3] = {0};
    assert_true(flo_mesh_sampler_knows(s.sampler, binding));
    kinds[flo_mesh_sampler_primitive(s.sampler, binding[0]).kind]++;
    for (int k = 0; k < carriers.count; ++k) {
      sum += carriers.weights[k], backwards += carriers.weights[carriers.count - 1 - k];
      assert_true(carriers.weights[k] > 0);
      vec_add_scaled(x, flo_mesh_vertex(&f.mesh, carriers.vertices[k]), carriers.weights[k], x);
    }
    assert_true(sum == 1 && backwards == 1);
    for (int axis = 0; axis < 3; ++axis) assert_close(x[axis], s.x[axis][i], 1e-14);
  }
  assert_true(kinds[FLO_MESH_VERTEX] == 4 && kinds[FLO_MESH_EDGE] > 20 && kinds[FLO_MESH_TRIANGLE] > 50);
  sampled_free(&s);
  fixture_free(&f);
}

// What a mesh does next follows from bindings and positions alone: a new sampler does the same.
static void test_bindings_are_the_whole_state(void **state) {
  (void)state;
  Fixture f;
  Sampled s;
  FloMeshSampler *other;
  FloError error;
  fixture_init(&f);
  add_two_triangles(&f.mesh);
  FloMeshSamplerDef def = sampled_definition(&f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
  def.rest = &before[0][0];
  sampled_init(&s, &f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
  assert_ok(flo_mesh_sampler_create(&def, &f.memory, &other, &error), &error);
  for (int k = 0; k < 40; ++k) {
    FloMeshSampleEdit edits[2];
    deform(&f.mesh, 0.5 - 0.5 * cos(0.3 * k));
    const FloMeshSamples now = {.vertices = f.mesh.vertices.data,
                                .bindings = {s.bindings[0], s.bindings[1], s.bindings[2]},
                                .count = s.count,
                                .threads = 1};
    assert_ok(flo_mesh_sampler_resample(s.sampler, &now, &edits[0], &error), &error);
    assert_ok(flo_mesh_sampler_resample(other, &now, &edits[1], &error), &error);
    assert_int_equal(edits[0].n_lost, edits[1].n_lost);
    assert_int_equal(edits[0].n_gained, edits[1].n_gained);
    if (edits[0].n_lost)
      assert_memory_equal(edits[0].lost, edits[1].lost, edits[0].n_lost * sizeof(uint32_t));
    if (edits[0].n_gained)
      assert_memory_equal(edits[0].gained, edits[1].gained, edits[0].n_gained * 3 * sizeof(double));
    sampled_apply(&s, &edits[0]);
    // A fresh sampler every few steps, as after a restart.
    if (k % 7 == 0) {
      flo_mesh_sampler_destroy(other);
      assert_ok(flo_mesh_sampler_create(&def, &f.memory, &other, &error), &error);
    }
  }
  flo_mesh_sampler_destroy(other);
  sampled_free(&s);
  fixture_free(&f);
}

static void test_only_what_changed_is_made_anew(void **state) {
  (void)state;
  Fixture f;
  Sampled s;
  fixture_init(&f);
  for (int k = 0; k <= 20; ++k) mesh_add_vertex(&f.mesh, k, 0, 0), mesh_add_vertex(&f.mesh, k, 1, 0);
  for (uint32_t k = 0; k < 20; ++k) mesh_add_quad(&f.mesh, 2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1);
  sampled_init(&s, &f.mesh, 0.25, FLO_RESAMPLE_BY_GEOMETRY);
  size_t n = s.count;
  flo_mesh_vertex(&f.mesh, 41)[0] += 0.7; // one corner of the strip
  sampled_resample(&s);
  assert_true(s.n_gained > 0 && s.n_lost > 0);
  assert_true(s.n_lost < n / 15);
  sampled_free(&s);
  fixture_free(&f);
}

// ---- Where samples are wanted ----

static void test_unwanted_triangles_have_none(void **state) {
  (void)state;
  Fixture f;
  Sampled s;
  fixture_init(&f);
  for (int k = 0; k <= 20; ++k) mesh_add_vertex(&f.mesh, k, 0, 0), mesh_add_vertex(&f.mesh, k, 1, 0);
  for (uint32_t k = 0; k < 20; ++k) mesh_add_quad(&f.mesh, 2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1);
  uint8_t is_wanted[40] = {0};
  sampled_init(&s, &f.mesh, 0.25, FLO_RESAMPLE_BY_GEOMETRY);
  const size_t n_all = s.count;
  s.is_wanted = is_wanted;
  sampled_resample(&s);
  assert_int_equal(s.count, 0);
  for (int t = 10; t < 20; ++t) is_wanted[t] = 1;
  sampled_resample(&s);
  for (size_t i = 0; i < s.count; ++i) assert_true(s.x[0][i] >= 5 && s.x[0][i] <= 10);
  assert_in_range(s.count, n_all / 5, n_all / 3);
  memset(is_wanted, 1, sizeof is_wanted);
  sampled_resample(&s);
  assert_int_equal(s.count, n_all);
  sampled_free(&s);
  fixture_free(&f);
}

// ---- Awkward meshes ----

static void assert_finite(const Sampled *s) {
  for (size_t i = 0; i < s->count; ++i)
    for (int k = 0; k < 3; ++k) assert_true(isfinite(s->x[k][i]) && isfinite(s->bindings[k][i]));
}

// Samples it, moves it about and back, and checks that no number is bad; returns the number of samples.
static size_t check_awkward(const char *name, Fixture *f, double spacing) {
  Random random = {7};
  size_t n = 0;
  for (int rule = 0; rule <= FLO_RESAMPLE_BY_SUBDIVISION; ++rule) {
    Sampled s;
    const size_t bytes = 3 * f->mesh.n_vertices * sizeof(double);
    double *rest = malloc(bytes + 1);
    if (bytes) memcpy(rest, f->mesh.vertices.data, bytes);
    sampled_init(&s, &f->mesh, spacing, (FloResampling)rule);
    assert_finite(&s);
    if (rule == 0) n = s.count;
    for (int k = 0; k < 5; ++k) {
      for (size_t v = 0; v < 3 * f->mesh.n_vertices; ++v)
        ((double *)f->mesh.vertices.data)[v] += spacing * random_between(&random, -0.5, 0.5);
      sampled_resample(&s);
      assert_finite(&s);
    }
    if (bytes) memcpy(f->mesh.vertices.data, rest, bytes);
    sampled_resample(&s);
    assert_finite(&s);
    if (rule == 0) assert_int_equal(s.count, n);
    sampled_free(&s);
    free(rest);
  }
  print_message("%-30s %zu samples\n", name, n);
  fixture_free(f);
  return n;
}

static void test_awkward_meshes(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  assert_int_equal(check_awkward("no triangles", &f, 0.1), 0);

  fixture_init(&f);
  for (int k = 0; k < 3; ++k) mesh_add_vertex(&f.mesh, 1, 2, 3);
  mesh_add_triangle(&f.mesh, 0, 1, 2);
  assert_int_equal(check_awkward("a triangle of no size", &f, 0.1), 1);

  fixture_init(&f);
  mesh_add_vertex(&f.mesh, 1, 2, 3);
  mesh_add_triangle(&f.mesh, 0, 0, 0);
  assert_int_equal(check_awkward("a triangle of one vertex", &f, 0.1), 1);

  fixture_init(&f);
  mesh_add_vertex(&f.mesh, 0, 0, 0), mesh_add_vertex(&f.mesh, 1, 0, 0), mesh_add_vertex(&f.mesh, 2, 0, 0);
  mesh_add_triangle(&f.mesh, 0, 1, 2), mesh_add_triangle(&f.mesh, 0, 1, 1);
  assert_int_equal(check_awkward("triangles without area", &f, 0.1), 21);
}

// A needle has as many samples as its length asks for, not one row for each long side.
static void test_needles(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  mesh_add_vertex(&f.mesh, 0, 0, 0), mesh_add_vertex(&f.mesh, 100, 0, 0),
      mesh_add_vertex(&f.mesh, 100, 1e-4, 0);
  mesh_add_triangle(&f.mesh, 0, 1, 2);
  assert_in_range(check_awkward("needle of a million to one", &f, 0.1), 1000, 1100);

  fixture_init(&f);
  uint32_t tip = mesh_add_vertex(&f.mesh, 0, 0, 10);
  enum { SIDES = 400 };
  for (int k = 0; k < SIDES; ++k)
    mesh_add_vertex(&f.mesh, 0.3 * cos(2 * FLO_PI * k / SIDES), 0.3 * sin(2 * FLO_PI * k / SIDES), 0);
  for (uint32_t k = 0; k < SIDES; ++k) mesh_add_triangle(&f.mesh, tip, 1 + k, 1 + (k + 1) % SIDES);
  // Its area is 9.4; a hundred samples cover a unit. All sides sampled would be 40,000.
  assert_in_range(check_awkward("slender cone of 400 sides", &f, 0.1), 900, 2800);
}

static void test_doubled_and_nonmanifold_triangles(void **state) {
  (void)state;
  Fixture f;
  size_t once = 0;
  for (int copies = 1; copies <= 3; ++copies) {
    fixture_init(&f);
    add_two_triangles(&f.mesh);
    for (int k = 1; k < copies; ++k) mesh_add_triangle(&f.mesh, k == 1 ? 0 : 2, 1, k == 1 ? 2 : 0);
    size_t n = check_awkward("doubled triangle", &f, 0.2);
    if (copies == 1) once = n;
    assert_int_equal(n, once);
  }
  fixture_init(&f);
  mesh_add_vertex(&f.mesh, 0, 0, 0), mesh_add_vertex(&f.mesh, 0, 0, 2);
  for (int k = 0; k < 5; ++k) {
    mesh_add_vertex(&f.mesh, 2 * cos(k), 2 * sin(k), 1);
    mesh_add_triangle(&f.mesh, 0, 1, (uint32_t)(2 + k));
  }
  assert_in_range(check_awkward("five triangles at an edge", &f, 0.2), 200, 400);
}

// ---- What is refused ----

static FloStatus try_resample(FloMeshSampler *sampler, const FloMesh *mesh, size_t count,
                              double *const bindings[3], FloError *error) {
  FloMeshSampleEdit edit;
  const FloMeshSamples now = {.vertices = mesh->vertices.data,
                              .bindings = {bindings[0], bindings[1], bindings[2]},
                              .count = count,
                              .threads = 1};
  return flo_mesh_sampler_resample(sampler, &now, &edit, error);
}

static void test_positions_that_are_no_numbers_are_refused(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    Fixture f;
    Sampled s;
    FloError error;
    fixture_init(&f);
    add_two_triangles(&f.mesh);
    sampled_init(&s, &f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
    flo_mesh_vertex(&f.mesh, 2)[1] = bad[k];
    assert_int_equal(try_resample(s.sampler, &f.mesh, s.count, s.bindings, &error), FLO_DIVERGED);
    assert_non_null(strstr(error.text, "vertex 2 is at (1.4, "));
    flo_mesh_vertex(&f.mesh, 2)[1] = 3.4;
    assert_ok(try_resample(s.sampler, &f.mesh, s.count, s.bindings, &error), &error);
    sampled_free(&s);
    fixture_free(&f);
  }
}

static void test_too_many_samples_are_refused(void **state) {
  (void)state;
  const double sizes[] = {1e6, 1e12, 1e150, 1e300};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k) {
    Fixture f;
    FloMeshSampler *sampler;
    FloError error;
    double *none[3] = {NULL, NULL, NULL};
    fixture_init(&f);
    add_two_triangles(&f.mesh);
    FloMeshSamplerDef def = sampled_definition(&f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
    assert_ok(flo_mesh_sampler_create(&def, &f.memory, &sampler, &error), &error);
    flo_mesh_vertex(&f.mesh, 3)[0] = sizes[k];
    flo_mesh_vertex(&f.mesh, 1)[1] = sizes[k] / 3;
    assert_int_equal(try_resample(sampler, &f.mesh, 0, none, &error), FLO_BAD_INPUT);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, "above 2147483647; use a larger spacing"));
    flo_mesh_sampler_destroy(sampler);
    fixture_free(&f);
  }
}

static void test_own_limit_is_kept(void **state) {
  (void)state;
  Fixture f;
  FloMeshSampler *sampler;
  FloError error;
  double *none[3] = {NULL, NULL, NULL};
  fixture_init(&f);
  add_two_triangles(&f.mesh);
  FloMeshSamplerDef def = sampled_definition(&f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
  def.max_samples = 100;
  assert_ok(flo_mesh_sampler_create(&def, &f.memory, &sampler, &error), &error);
  assert_int_equal(try_resample(sampler, &f.mesh, 0, none, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "above 100;"));
  flo_mesh_sampler_destroy(sampler);
  fixture_free(&f);
}

static void test_bindings_of_another_mesh_are_refused(void **state) {
  (void)state;
  const double bad[][3] = {{-1, 0, 0},     {1e9, 0, 0},   {0.5, 0, 0}, {NAN, 0, 0},
                           {17, 0.9, 0.9}, {17, -0.1, 0}, {17, NAN, 0}};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    Fixture f;
    Sampled s;
    FloError error;
    fixture_init(&f);
    add_two_triangles(&f.mesh);
    sampled_init(&s, &f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY);
    for (int axis = 0; axis < 3; ++axis) s.bindings[axis][5] = bad[k][axis];
    assert_int_equal(try_resample(s.sampler, &f.mesh, s.count, s.bindings, &error), FLO_BAD_INPUT);
    assert_non_null(strstr(error.text, "sample 5 is bound by ("));
    sampled_free(&s);
    fixture_free(&f);
  }
}

static void expect_refused(const FloMeshSamplerDef *def, FloMemory *memory, const char *text) {
  FloMeshSampler *sampler;
  FloError error;
  assert_int_equal(flo_mesh_sampler_create(def, memory, &sampler, &error), FLO_BAD_INPUT);
  assert_null(sampler);
  if (!strstr(error.text, text)) fail_msg("no '%s' in: %s", text, error.text);
}

static void test_bad_definitions(void **state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  add_two_triangles(&f.mesh);
  FloMeshSamplerDef good = sampled_definition(&f.mesh, 0.2, FLO_RESAMPLE_BY_GEOMETRY), def = good;
  const double spacings[] = {0, -1, NAN, INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k) {
    def.spacing = spacings[k];
    expect_refused(&def, &f.memory, "it must be above zero");
  }
  def = good, def.n_vertices = 3;
  expect_refused(&def, &f.memory, "element 1 has the vertex 3, but there are only 3 vertices");
  def = good, def.n_corners = 2, def.rule = FLO_RESAMPLE_BY_SUBDIVISION;
  expect_refused(&def, &f.memory, "needs triangles");
  flo_mesh_vertex(&f.mesh, 1)[2] = NAN;
  expect_refused(&good, &f.memory, "vertex 1 is at (4, 0.4, ");
  fixture_free(&f);
}

static void test_missing_memory_is_reported(void **state) {
  (void)state;
  FloStatus status = FLO_NO_MEMORY;
  for (size_t fail_at = 1; status != FLO_OK; ++fail_at) {
    Fixture f;
    FloMeshSampler *sampler;
    FloError error;
    double *none[3] = {NULL, NULL, NULL};
    fixture_init(&f);
    add_two_triangles(&f.mesh);
    FloMeshSamplerDef def = sampled_definition(&f.mesh, 0.2, FLO_RESAMPLE_BY_DENSITY);
    f.counter.fail_at = f.counter.n_calls + fail_at;
    status = flo_mesh_sampler_create(&def, &f.memory, &sampler, &error);
    if (status == FLO_OK) status = try_resample(sampler, &f.mesh, 0, none, &error);
    if (status != FLO_OK) assert_int_equal(status, FLO_NO_MEMORY);
    flo_mesh_sampler_destroy(sampler);
    fixture_free(&f);
    assert_true(fail_at < 200);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_figure_geometry_and_density),
      cmocka_unit_test(test_figure_static_is_too_sparse_after),
      cmocka_unit_test(test_figure_seven_points_are_uneven),
      cmocka_unit_test(test_carriers_add_up_and_place_samples),
      cmocka_unit_test(test_bindings_are_the_whole_state),
      cmocka_unit_test(test_only_what_changed_is_made_anew),
      cmocka_unit_test(test_unwanted_triangles_have_none),
      cmocka_unit_test(test_awkward_meshes),
      cmocka_unit_test(test_needles),
      cmocka_unit_test(test_doubled_and_nonmanifold_triangles),
      cmocka_unit_test(test_positions_that_are_no_numbers_are_refused),
      cmocka_unit_test(test_too_many_samples_are_refused),
      cmocka_unit_test(test_own_limit_is_kept),
      cmocka_unit_test(test_bindings_of_another_mesh_are_refused),
      cmocka_unit_test(test_bad_definitions),
      cmocka_unit_test(test_missing_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
