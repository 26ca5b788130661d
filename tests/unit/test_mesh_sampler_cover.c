// How well samples cover meshes that move: grids of any fineness, closed meshes, figures, lines in the plane.
#include "geometry/figures.h"
#include "geometry/solid_meshes.h"
#include "support/mesh_samples.h"

// ---- Meshes ----

// A sheet of n x n cells in the plane z = 0. Triangles are halves of squares, or have equal sides.
static void add_grid(FloMesh *mesh, uint32_t n, double edge, bool has_equal_sides) {
  const double shift = has_equal_sides ? edge / 2 : 0, height = has_equal_sides ? sqrt(0.75) * edge : edge;
  for (uint32_t j = 0; j <= n; ++j)
    for (uint32_t i = 0; i <= n; ++i) mesh_add_vertex(mesh, edge * i + shift * j, height * j, 0);
  for (uint32_t j = 0; j < n; ++j)
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      mesh_add_triangle(mesh, a, b, has_equal_sides ? c : d);
      mesh_add_triangle(mesh, has_equal_sides ? b : a, d, c);
    }
}

static double *copy_vertices(const FloMesh *mesh) {
  double *rest = malloc(3 * mesh->n_vertices * sizeof *rest);
  memcpy(rest, mesh->vertices.data, 3 * mesh->n_vertices * sizeof *rest);
  return rest;
}

// A linear map, and a turn about an axis that is no axis of the grid.
typedef struct Stretch {
  const char *name;
  double x, y, shear, angle;
} Stretch;

static void move_mesh(FloMesh *mesh, const double *rest, const Stretch *to, double share) {
  const double axis[3] = {1, 2, 3};
  double turn[4];
  quat_from_axis_angle(axis, to->angle * share, turn);
  for (size_t v = 0; v < mesh->n_vertices; ++v) {
    const double *p = rest + 3 * v;
    const double q[3] = {p[0] * (1 + share * (to->x - 1)) + share * to->shear * p[1],
                         p[1] * (1 + share * (to->y - 1)), p[2]};
    quat_rotate(turn, q, flo_mesh_vertex(mesh, v));
  }
}

// Moves in steps, as a simulation does.
static void move_and_sample(Sampled *s, const double *rest, const Stretch *to, bool is_back) {
  enum { STEPS = 4 };
  for (int k = 1; k <= STEPS; ++k) {
    move_mesh(s->mesh, rest, to, (double)(is_back ? STEPS - k : k) / STEPS);
    sampled_resample(s);
  }
  // The number-density test sees its own samples only in the step after.
  sampled_resample(s);
}

// ---- Limits ----

typedef struct Limits {
  double gap, nearest, least, most;
} Limits;

static void check(const char *name, const Sampled *s, const Limits *limits, Quality *worst) {
  sampled_place((Sampled *)(uintptr_t)s);
  Quality q = measure_quality(s, 0.12);
  worst->gap = fmax(worst->gap, q.gap), worst->nearest = fmin(worst->nearest, q.nearest);
  worst->min = fmin(worst->min, q.min), worst->max = fmax(worst->max, q.max);
  if (q.gap <= limits->gap && q.nearest >= limits->nearest && q.min >= limits->least && q.max <= limits->most)
    return;
  print_quality(name, &q);
  fail_msg("%s: out of limits", name);
}

static void print_worst(const char *name, const Quality *q) {
  print_message("%-28s gap at most %.2f, nearest %.2f, density %.2f ... %.2f\n", name, q->gap, q->nearest,
                q->min, q->max);
}

static const Quality no_worst = {.nearest = INFINITY, .min = INFINITY};

// ---- Grids ----

static const double edges[] = {0.2, 0.33, 0.5, 0.61, 0.7, 0.8, 1, 1.21, 1.4, 1.5, 1.9, 2.6, 5, 20};

static const Stretch stretches[] = {
    {"turned", 1, 1, 0, 1},        {"sheared", 1, 1, 0.6, 0.3},   {"1.5 times as long", 1.5, 1, 0, 0.2},
    {"1.5 times", 1.5, 1.5, 0, 2}, {"twice as long", 2, 1, 0, 0}, {"twice", 2, 2, 0, 1},
    {"half", 0.5, 0.5, 0, 0.5},    {"1.1 times", 1.1, 1.1, 0, 0}, {"0.8 times", 0.8, 0.8, 0, 0},
};

// Meshes whose edges are near the spacing are the hardest: either all vertices are samples, which is a little
// too many, or only some, which is few. At the border half of the neighbours are missing.
static const Limits at_rest = {0.87, 0.55, 3.7, 10.7}, when_moved = {1.08, 0.22, 2.5, 14};

static void check_grid(double edge, bool has_equal_sides, FloResampling rule, Quality worst[2]) {
  Fixture f;
  Sampled s;
  char name[96];
  fixture_init(&f);
  add_grid(&f.mesh, (uint32_t)fmax(2, ceil(9 / edge)), 0.1 * edge, has_equal_sides);
  double *rest = copy_vertices(&f.mesh);
  sampled_init(&s, &f.mesh, 0.1, rule);
  const size_t n_first = s.count;
  snprintf(name, sizeof name, "grid of %g spacings", edge);
  check(name, &s, &at_rest, &worst[0]);
  for (size_t k = 0; k < FLO_COUNT_OF(stretches); ++k) {
    snprintf(name, sizeof name, "grid of %g spacings, %s", edge, stretches[k].name);
    move_and_sample(&s, rest, &stretches[k], false);
    check(name, &s, &when_moved, &worst[1]);
    move_and_sample(&s, rest, &stretches[k], true);
    if (fabs((double)s.count - (double)n_first) > 0.01 * (double)n_first)
      fail_msg("%s and back: %zu samples instead of %zu", name, s.count, n_first);
  }
  free(rest);
  sampled_free(&s);
  fixture_free(&f);
}

static void check_grids(bool has_equal_sides, FloResampling rule) {
  Quality worst[2] = {no_worst, no_worst};
  for (size_t k = 0; k < FLO_COUNT_OF(edges); ++k) check_grid(edges[k], has_equal_sides, rule, worst);
  print_worst("at rest", &worst[0]), print_worst("moved", &worst[1]);
}

static void test_grids_of_squares_by_geometry(void **state) {
  (void)state;
  check_grids(false, FLO_RESAMPLE_BY_GEOMETRY);
}

static void test_grids_of_equal_sides_by_geometry(void **state) {
  (void)state;
  check_grids(true, FLO_RESAMPLE_BY_GEOMETRY);
}

static void test_grids_by_density(void **state) {
  (void)state;
  check_grids(false, FLO_RESAMPLE_BY_DENSITY);
  check_grids(true, FLO_RESAMPLE_BY_DENSITY);
}

// Without resampling the same limits are broken, so the tests above can fail.
static void test_static_samples_leave_gaps(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(edges); ++k) {
    Fixture f;
    Sampled s;
    fixture_init(&f);
    add_grid(&f.mesh, (uint32_t)fmax(2, ceil(9 / edges[k])), 0.1 * edges[k], false);
    double *rest = copy_vertices(&f.mesh);
    sampled_init(&s, &f.mesh, 0.1, FLO_RESAMPLE_NEVER);
    const Stretch stretch = {"2.5 times", 2.5, 2.5, 0, 0};
    move_and_sample(&s, rest, &stretch, false);
    sampled_place(&s);
    Quality q = measure_quality(&s, 0.2);
    assert_true(q.gap > when_moved.gap && q.min < when_moved.least);
    free(rest);
    sampled_free(&s);
    fixture_free(&f);
  }
}

// A mesh that is much finer than the spacing has as many samples as a coarse one, not one at each vertex.
static void test_fine_meshes_are_thinned(void **state) {
  (void)state;
  for (uint32_t n = 10; n <= 160; n *= 2) {
    Fixture f;
    Sampled s;
    fixture_init(&f);
    add_grid(&f.mesh, n, 1.0 / n, false);
    sampled_init(&s, &f.mesh, 0.1, FLO_RESAMPLE_BY_GEOMETRY);
    print_message("%6u vertices: %zu samples\n", (n + 1) * (n + 1), s.count);
    assert_in_range(s.count, 110, 220);
    sampled_free(&s);
    fixture_free(&f);
  }
}

// ---- Closed meshes ----

static void check_closed(const char *name, Fixture *f, double spacing, const Limits *limits) {
  Sampled s;
  Quality worst = no_worst;
  const Stretch changes[] = {
      {"longer", 1.6, 0.9, 0.2, 0.7}, {"larger", 2, 2, 0, 0}, {"smaller", 0.6, 0.6, 0, 1}};
  double *rest = copy_vertices(&f->mesh);
  sampled_init(&s, &f->mesh, spacing, FLO_RESAMPLE_BY_GEOMETRY);
  const size_t n_first = s.count;
  check(name, &s, limits, &worst);
  for (size_t k = 0; k < FLO_COUNT_OF(changes); ++k) {
    move_and_sample(&s, rest, &changes[k], false);
    check(name, &s, limits, &worst);
    move_and_sample(&s, rest, &changes[k], true);
    assert_true(fabs((double)s.count - (double)n_first) <= 0.01 * (double)n_first);
  }
  print_message("%6zu samples, ", n_first), print_worst(name, &worst);
  free(rest);
  sampled_free(&s);
  fixture_free(f);
}

static void test_closed_meshes(void **state) {
  (void)state;
  Fixture f;
  // Meridians meet at the poles, so that vertices force samples nearer together there.
  const Limits limits = {1.03, 0.06, 2.3, 24};
  const uint32_t rings[] = {6, 12, 30, 60};
  for (size_t k = 0; k < FLO_COUNT_OF(rings); ++k) {
    fixture_init(&f);
    mesh_add_sphere(&f.mesh, 1, rings[k]);
    check_closed("sphere", &f, 0.2, &limits);
  }
  fixture_init(&f);
  mesh_add_box(&f.mesh, (double[3]){0, 0, 0}, (double[3]){1, 2, 3}, false);
  check_closed("box", &f, 0.2, &limits);
}

static void test_duck(void **state) {
  (void)state;
  const double spacings[] = {0.02, 0.04, 0.08};
  for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k) {
    Fixture f;
    FloError error;
    const Limits limits = {1.05, 0.15, 2.3, 12};
    fixture_init(&f);
    assert_ok(flo_mesh_duck(1, FLO_FIGURE_FINENESS, &f.mesh, &error), &error);
    check_closed("duck", &f, spacings[k], &limits);
  }
}

// ---- Lines in the plane ----

static void add_line(FloMesh *mesh, uint32_t n, double edge) {
  for (uint32_t k = 0; k <= n; ++k) mesh_add_vertex(mesh, edge * k, 0.3 * sin(0.3 * edge * k), 0);
  for (uint32_t k = 0; k < n; ++k) mesh_add_triangle(mesh, k, k + 1, k + 1);
}

// A line of samples one spacing apart has 2.7/H²; the ends have half as many neighbours.
static void check_line(double edge, FloResampling rule, Quality *worst) {
  Fixture f;
  Sampled s;
  char name[64];
  const Limits limits = {0.68, 0.48, 1.65, 5};
  fixture_init(&f);
  add_line(&f.mesh, (uint32_t)fmax(2, ceil(20 / edge)), 0.1 * edge);
  double *rest = copy_vertices(&f.mesh);
  sampled_init_flat(&s, &f.mesh, 0.1, rule);
  const size_t n_first = s.count;
  for (int k = 0; k < 7; ++k) {
    const double factors[] = {1, 1.1, 1.5, 2, 3.3, 0.7, 0.5};
    const Stretch stretch = {"stretched", factors[k], factors[k], 0, 0};
    snprintf(name, sizeof name, "line of %g spacings, %g times", edge, factors[k]);
    move_and_sample(&s, rest, &stretch, false);
    check(name, &s, &limits, worst);
    move_and_sample(&s, rest, &stretch, true);
    assert_int_equal(s.count, n_first);
  }
  free(rest);
  sampled_free(&s);
  fixture_free(&f);
}

static void test_lines(void **state) {
  (void)state;
  for (int rule = FLO_RESAMPLE_BY_GEOMETRY; rule <= FLO_RESAMPLE_BY_DENSITY; ++rule) {
    Quality worst = no_worst;
    for (size_t k = 0; k < FLO_COUNT_OF(edges); ++k) check_line(edges[k], (FloResampling)rule, &worst);
    print_worst(rule ? "by density" : "by geometry", &worst);
  }
}

// ---- Steps ----

static void wave(FloMesh *mesh, const double *rest, double time) {
  for (size_t v = 0; v < mesh->n_vertices; ++v) {
    const double *p = rest + 3 * v;
    double *x = flo_mesh_vertex(mesh, v), s = 1 + 0.6 * sin(time) * sin(3 * p[0]);
    vec_set(x, p[0] * s, p[1] * (1 + 0.3 * sin(1.7 * time)), 0.3 * sin(2 * p[0] + time) * p[1]);
  }
}

// Any number of threads gives the same samples in the same order.
static void test_threads_do_not_matter(void **state) {
  (void)state;
  const double fineness[] = {0.4, 1, 2.3};
  for (size_t k = 0; k < FLO_COUNT_OF(fineness); ++k) {
    Fixture f;
    Sampled s[3];
    fixture_init(&f);
    add_grid(&f.mesh, 90, 1.0 / 90, false);
    double *rest = copy_vertices(&f.mesh);
    for (int t = 0; t < 3; ++t) {
      const FloMeshSamplerDef def =
          sampled_definition(&f.mesh, 1 / (90 * fineness[k]), FLO_RESAMPLE_BY_GEOMETRY);
      sampled_start(&s[t], &f.mesh, &def, t + 1);
    }
    size_t n_changes = 0;
    for (int step = 0; step < 12; ++step) {
      wave(&f.mesh, rest, 0.4 * step);
      for (int t = 0; t < 3; ++t) sampled_resample(&s[t]);
      n_changes += s[0].n_gained + s[0].n_lost;
      for (int t = 1; t < 3; ++t) {
        assert_int_equal(s[t].count, s[0].count);
        for (int axis = 0; axis < 3; ++axis) {
          assert_memory_equal(s[t].bindings[axis], s[0].bindings[axis], s[0].count * sizeof(double));
          assert_memory_equal(s[t].x[axis], s[0].x[axis], s[0].count * sizeof(double));
        }
      }
    }
    assert_true(n_changes > 1000);
    for (int t = 0; t < 3; ++t) sampled_free(&s[t]);
    free(rest);
    fixture_free(&f);
  }
}

static void test_no_allocation_once_warm(void **state) {
  (void)state;
  Fixture f;
  Sampled s;
  fixture_init(&f);
  add_grid(&f.mesh, 50, 1.0 / 50, false);
  double *rest = copy_vertices(&f.mesh);
  sampled_init(&s, &f.mesh, 0.015, FLO_RESAMPLE_BY_GEOMETRY);
  size_t n_calls = 0, n_changes = 0;
  for (int step = 0; step < 60; ++step) {
    wave(&f.mesh, rest, 2 * FLO_PI * step / 20);
    sampled_resample(&s);
    if (step < 40)
      n_calls = f.counter.n_calls;
    else
      n_changes += s.n_gained;
  }
  assert_int_equal(f.counter.n_calls, n_calls);
  assert_true(n_changes > 1000);
  free(rest);
  sampled_free(&s);
  fixture_free(&f);
}

// A mesh that trembles by a few thousandths about any size does not change its samples again and again.
static void test_trembling_does_not_change_samples(void **state) {
  (void)state;
  size_t n_changes = 0, n_samples = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(edges) - 1; ++k) {
    Fixture f;
    Sampled s;
    fixture_init(&f);
    add_grid(&f.mesh, (uint32_t)fmax(2, ceil(12 / edges[k])), 0.1 * edges[k], k % 2);
    double *rest = copy_vertices(&f.mesh);
    sampled_init(&s, &f.mesh, 0.1, FLO_RESAMPLE_BY_GEOMETRY);
    for (double size = 0.7; size < 2; size *= 1.05)
      for (int step = 0; step < 12; ++step) {
        const double now = size * (1 + 0.003 * sin(2.0 * step));
        const Stretch to = {"trembling", now, 1.2 * now, 0, 0};
        move_mesh(&f.mesh, rest, &to, 1);
        sampled_resample(&s);
        if (step >= 4) n_changes += s.n_lost + s.n_gained, n_samples += s.count;
      }
    free(rest);
    sampled_free(&s);
    fixture_free(&f);
  }
  print_message("%.4f %% of samples change in a step\n", 100.0 * (double)n_changes / (double)n_samples);
  assert_true((double)n_changes < 0.002 * (double)n_samples);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grids_of_squares_by_geometry),
      cmocka_unit_test(test_grids_of_equal_sides_by_geometry),
      cmocka_unit_test(test_grids_by_density),
      cmocka_unit_test(test_static_samples_leave_gaps),
      cmocka_unit_test(test_fine_meshes_are_thinned),
      cmocka_unit_test(test_closed_meshes),
      cmocka_unit_test(test_duck),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_threads_do_not_matter),
      cmocka_unit_test(test_no_allocation_once_warm),
      cmocka_unit_test(test_trembling_does_not_change_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
