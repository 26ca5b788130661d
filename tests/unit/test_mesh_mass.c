// What meshes weigh: against closed formulas of boxes, prisms and rings, moved, turned and hollowed.
#include "base/vecmath.h"
#include "geometry/mesh.h"
#include "support/check.h"
#include "support/meshes.h"
#include "support/random.h"

typedef struct Sheet {
  FloMemory memory;
  FloMesh mesh;
} Sheet;

static void sheet_init(Sheet *sheet) {
  flo_memory_init(&sheet->memory, NULL);
  flo_mesh_init(&sheet->mesh, &sheet->memory);
}

// ---- Bodies ----

static void add_box(Sheet *sheet, const double size[3], bool is_inward) {
  double low[3], high[3];
  vec_scale(size, -0.5, low), vec_scale(size, 0.5, high);
  mesh_add_box(&sheet->mesh, low, high, is_inward);
}

// A prism over a regular polygon, axis z.
static void add_prism(Sheet *sheet, uint32_t n, double radius, double height) {
  uint32_t bottom = mesh_add_vertex(&sheet->mesh, 0, 0, -height / 2),
           top = mesh_add_vertex(&sheet->mesh, 0, 0, height / 2);
  for (uint32_t k = 0; k < 2 * n; ++k) {
    double angle = 2 * FLO_PI * (k / 2) / n;
    mesh_add_vertex(&sheet->mesh, radius * cos(angle), radius * sin(angle), k % 2 ? height / 2 : -height / 2);
  }
  for (uint32_t k = 0; k < n; ++k) {
    uint32_t here = 2 + 2 * k, next = 2 + 2 * ((k + 1) % n);
    mesh_add_quad(&sheet->mesh, here, next, next + 1, here + 1);
    mesh_add_triangle(&sheet->mesh, bottom, next, here);
    mesh_add_triangle(&sheet->mesh, top, here + 1, next + 1);
  }
}

// Points (out, up) of a closed line, turned about the z axis in n steps.
static void add_ring(Sheet *sheet, const double *line, uint32_t n_line, uint32_t n) {
  for (uint32_t k = 0; k < n * n_line; ++k) {
    double angle = 2 * FLO_PI * (k / n_line) / n, out = line[2 * (k % n_line)];
    mesh_add_vertex(&sheet->mesh, out * cos(angle), out * sin(angle), line[2 * (k % n_line) + 1]);
  }
  for (uint32_t k = 0; k < n; ++k)
    for (uint32_t i = 0; i < n_line; ++i) {
      uint32_t here = k * n_line, next = (k + 1) % n * n_line, j = (i + 1) % n_line;
      mesh_add_quad(&sheet->mesh, here + i, next + i, next + j, here + j);
    }
}

static void add_ball(Sheet *sheet, uint32_t n, double radius) {
  uint32_t south = mesh_add_vertex(&sheet->mesh, 0, 0, -radius),
           north = mesh_add_vertex(&sheet->mesh, 0, 0, radius);
  for (uint32_t k = 1; k < n; ++k)
    for (uint32_t i = 0; i < 2 * n; ++i) {
      double polar = FLO_PI * k / n, angle = FLO_PI * i / n;
      mesh_add_vertex(&sheet->mesh, radius * sin(polar) * cos(angle), radius * sin(polar) * sin(angle),
                      -radius * cos(polar));
    }
  for (uint32_t i = 0; i < 2 * n; ++i) {
    uint32_t j = (i + 1) % (2 * n), last = 2 + (n - 2) * 2 * n;
    mesh_add_triangle(&sheet->mesh, south, 2 + j, 2 + i);
    mesh_add_triangle(&sheet->mesh, north, last + i, last + j);
    for (uint32_t k = 0; k + 2 < n; ++k) {
      uint32_t row = 2 + k * 2 * n;
      mesh_add_quad(&sheet->mesh, row + i, row + j, row + 2 * n + j, row + 2 * n + i);
    }
  }
}

// ---- Checks ----

static FloMassProperties weigh(const Sheet *sheet, double density) {
  FloMassProperties mass;
  flo_mesh_mass(&sheet->mesh, density, &mass);
  return mass;
}

static void check_inertia(const FloMassProperties *mass, const double expected[6], double tolerance) {
  double size = fabs(expected[0]) + fabs(expected[1]) + fabs(expected[2]);
  for (int k = 0; k < 6; ++k) assert_close(mass->inertia[k], expected[k], tolerance * size);
}

static void check_same(const FloMassProperties *a, const FloMassProperties *b, double tolerance) {
  assert_close(a->volume, b->volume, tolerance * fabs(b->volume));
  assert_close(a->mass, b->mass, tolerance * fabs(b->mass));
  check_inertia(a, b->inertia, tolerance);
}

// ---- Solids ----

static void test_box(void **state) {
  (void)state;
  Sheet sheet;
  sheet_init(&sheet);
  add_box(&sheet, (double[3]){1, 2, 3}, false);
  FloMassProperties mass = weigh(&sheet, 500);
  assert_close(mass.volume, 6, 1e-14);
  assert_close(mass.mass, 3000, 1e-11);
  assert_close_3(mass.centre, ((double[3]){0, 0, 0}), 1e-15);
  check_inertia(&mass, (double[6]){3000 / 12.0 * 13, 3000 / 12.0 * 10, 3000 / 12.0 * 5, 0, 0, 0}, 1e-15);
  mesh_turn_all(&sheet.mesh);
  assert_close(weigh(&sheet, 500).mass, -3000, 1e-11);
  flo_mesh_free(&sheet.mesh);
}

// Corner at the origin, sides a, b, c along the axes: the mean of x is a/4, of x^2 a^2/10, of xy ab/20.
static void test_tetrahedron(void **state) {
  (void)state;
  Sheet sheet;
  double a = 1, b = 2, c = 5, m = 12 * a * b * c / 6;
  sheet_init(&sheet);
  uint32_t o = mesh_add_vertex(&sheet.mesh, 0, 0, 0), x = mesh_add_vertex(&sheet.mesh, a, 0, 0),
           y = mesh_add_vertex(&sheet.mesh, 0, b, 0), z = mesh_add_vertex(&sheet.mesh, 0, 0, c);
  mesh_add_triangle(&sheet.mesh, o, y, x);
  mesh_add_triangle(&sheet.mesh, o, x, z);
  mesh_add_triangle(&sheet.mesh, o, z, y);
  mesh_add_triangle(&sheet.mesh, x, y, z);
  FloMassProperties mass = weigh(&sheet, 12);
  assert_close(mass.mass, m, 1e-13);
  assert_close_3(mass.centre, ((double[3]){a / 4, b / 4, c / 4}), 1e-15);
  double s = m * (1 / 10.0 - 1 / 16.0), p = m * (1 / 16.0 - 1 / 20.0);
  check_inertia(&mass,
                (double[6]){s * (b * b + c * c), s * (c * c + a * a), s * (a * a + b * b), p * a * b,
                            p * b * c, p * c * a},
                1e-14);
  flo_mesh_free(&sheet.mesh);
}

// A regular n-gon has the area n R^2 sin(2 pi/n) / 2 and the polar mean R^2 (2 + cos(2 pi/n)) / 6.
static void test_prisms(void **state) {
  (void)state;
  for (uint32_t n = 3; n < 4000; n = n * 3 + 1) {
    Sheet sheet;
    double r = 0.3, h = 1.7, step = 2 * FLO_PI / n, volume = n * r * r * sin(step) / 2 * h;
    double polar = r * r * (2 + cos(step)) / 6, m = 700 * volume, across = m * (polar / 2 + h * h / 12);
    sheet_init(&sheet);
    add_prism(&sheet, n, r, h);
    FloMassProperties mass = weigh(&sheet, 700);
    assert_close(mass.volume, volume, 1e-13 * volume);
    assert_close_3(mass.centre, ((double[3]){0, 0, 0}), 1e-13);
    check_inertia(&mass, (double[6]){across, across, m * polar, 0, 0, 0}, 1e-13);
    flo_mesh_free(&sheet.mesh);
  }
}

// Pappus' rule for a polygon instead of a circle: a ring of n quadrilateral prisms cut at an angle has
// sin(2 pi/n) / (2 pi/n) of the round ring's volume, as every slice along z is a difference of n-gons.
static void test_square_ring(void **state) {
  (void)state;
  Sheet sheet;
  const uint32_t n = 500;
  const double a = 0.8, b = 1.1, h = 0.4, line[8] = {a, -h / 2, b, -h / 2, b, h / 2, a, h / 2};
  double step = 2 * FLO_PI / n, factor = n * sin(step) / 2, volume = factor * (b * b - a * a) * h;
  double polar = factor * h * (pow(b, 4) - pow(a, 4)) * (2 + cos(step)) / 6;
  sheet_init(&sheet);
  add_ring(&sheet, line, 4, n);
  FloMassProperties mass = weigh(&sheet, 2);
  assert_close(mass.volume, volume, 1e-13);
  double across = 2 * (polar / 2 + volume * h * h / 12);
  check_inertia(&mass, (double[6]){across, across, 2 * polar, 0, 0, 0}, 1e-13);
  flo_mesh_free(&sheet.mesh);
}

// Round bodies converge with the square of the step.
static double ball_error(uint32_t n) {
  Sheet sheet;
  sheet_init(&sheet);
  add_ball(&sheet, n, 2);
  FloMassProperties mass = weigh(&sheet, 1);
  flo_mesh_free(&sheet.mesh);
  double round = 0.4 * 4 * FLO_PI / 3 * 32;
  assert_close(mass.inertia[0], mass.inertia[1], 1e-12 * round);
  return 1 - mass.inertia[2] / round;
}

static double torus_error(uint32_t n) {
  Sheet sheet;
  double line[2 * 400], big = 1.5, small = 0.4;
  for (uint32_t k = 0; k < n; ++k)
    line[2 * k] = big + small * cos(2 * FLO_PI * k / n), line[2 * k + 1] = small * sin(2 * FLO_PI * k / n);
  sheet_init(&sheet);
  add_ring(&sheet, line, n, n);
  FloMassProperties mass = weigh(&sheet, 1);
  flo_mesh_free(&sheet.mesh);
  double round = 2 * FLO_PI * FLO_PI * big * small * small * (big * big + 0.75 * small * small);
  return 1 - mass.inertia[2] / round;
}

static void test_round_bodies_converge(void **state) {
  (void)state;
  assert_true(fabs(ball_error(100)) < 3e-3);
  assert_close(ball_error(50) / ball_error(100), 4, 0.05);
  assert_true(fabs(torus_error(200)) < 2e-3);
  assert_close(torus_error(100) / torus_error(200), 4, 0.05);
}

static void test_hollow_box(void **state) {
  (void)state;
  Sheet hollow, outer, inner;
  const double large[3] = {2, 3, 4}, small[3] = {1.9, 2.7, 3.3};
  sheet_init(&hollow), sheet_init(&outer), sheet_init(&inner);
  add_box(&hollow, large, false);
  add_box(&hollow, small, true);
  add_box(&outer, large, false);
  add_box(&inner, small, false);
  FloMassProperties all = weigh(&hollow, 3), o = weigh(&outer, 3), i = weigh(&inner, 3), expected = all;
  expected.volume = o.volume - i.volume, expected.mass = o.mass - i.mass;
  for (int k = 0; k < 6; ++k) expected.inertia[k] = o.inertia[k] - i.inertia[k];
  check_same(&all, &expected, 1e-14);
  flo_mesh_free(&hollow.mesh), flo_mesh_free(&outer.mesh), flo_mesh_free(&inner.mesh);
}

// ---- Moved and turned ----

// The tensor in turned axes: R I R^T.
static void turn_inertia(const double q[4], const double inertia[6], double out[6]) {
  const double full[3][3] = {{inertia[0], inertia[3], inertia[5]},
                             {inertia[3], inertia[1], inertia[4]},
                             {inertia[5], inertia[4], inertia[2]}};
  double axes[3][3]; // columns of R
  for (int k = 0; k < 3; ++k) quat_rotate(q, (double[3]){k == 0, k == 1, k == 2}, axes[k]);
  static const int rows[6] = {0, 1, 2, 0, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 0};
  for (int e = 0; e < 6; ++e) {
    out[e] = 0;
    for (int k = 0; k < 9; ++k) out[e] += axes[k / 3][rows[e]] * full[k / 3][k % 3] * axes[k % 3][columns[e]];
  }
}

static void move(Sheet *sheet, const double q[4], const double by[3]) {
  for (size_t k = 0; k < sheet->mesh.n_vertices; ++k) {
    double *v = flo_mesh_vertex(&sheet->mesh, k), turned[3];
    quat_rotate(q, v, turned);
    vec_add(turned, by, v);
  }
}

// A prism with a box stuck to it: no symmetry.
static void add_hammer(Sheet *sheet) {
  add_box(sheet, (double[3]){0.3, 0.4, 0.7}, false);
  move(sheet, (double[4]){0, 0, 0, 1}, (double[3]){0.5, 0.1, 0.6});
  add_prism(sheet, 7, 0.2, 1.9);
}

static void test_moving_and_turning(void **state) {
  (void)state;
  Random random = {11};
  for (int k = 0; k < 20; ++k) {
    Sheet sheet;
    double q[4], centre[3], by[3];
    for (int i = 0; i < 4; ++i) q[i] = random_between(&random, -1, 1);
    for (int i = 0; i < 3; ++i) by[i] = random_between(&random, -1e3, 1e3);
    quat_normalise(q);
    sheet_init(&sheet);
    add_hammer(&sheet);
    FloMassProperties before = weigh(&sheet, 800), expected = before;
    turn_inertia(q, before.inertia, expected.inertia);
    quat_rotate(q, before.centre, centre);
    vec_add(centre, by, centre);
    move(&sheet, q, by);
    FloMassProperties after = weigh(&sheet, 800);
    check_same(&after, &expected, 1e-10);
    assert_close_3(after.centre, centre, 1e-10);
    flo_mesh_free(&sheet.mesh);
  }
}

// Two bodies as one: about the common centre, by the parallel axes of Huygens and Steiner.
static void test_parallel_axes(void **state) {
  (void)state;
  Sheet sheet;
  sheet_init(&sheet);
  add_box(&sheet, (double[3]){1, 1, 1}, false);
  move(&sheet, (double[4]){0, 0, 0, 1}, (double[3]){2, 4, -6});
  add_box(&sheet, (double[3]){1, 1, 1}, false);
  FloMassProperties mass = weigh(&sheet, 1);
  assert_close_3(mass.centre, ((double[3]){1, 2, -3}), 1e-14);
  check_inertia(&mass, (double[6]){1 / 3.0 + 26, 1 / 3.0 + 20, 1 / 3.0 + 10, -4, 12, 6}, 1e-14);
  flo_mesh_free(&sheet.mesh);
}

// ---- Without volume ----

static void test_nothing_weighs_nothing(void **state) {
  (void)state;
  Sheet sheet;
  sheet_init(&sheet);
  FloMassProperties mass = weigh(&sheet, 1000);
  assert_true(mass.volume == 0 && mass.mass == 0 && mass.centre[0] == 0 && mass.inertia[0] == 0);
  uint32_t a = mesh_add_vertex(&sheet.mesh, 4, 0, 0);
  mesh_add_triangle(&sheet.mesh, a, mesh_add_vertex(&sheet.mesh, 6, 0, 0),
                    mesh_add_vertex(&sheet.mesh, 5, 2, 0));
  mass = weigh(&sheet, 1000);
  assert_true(mass.mass == 0);
  assert_close_3(mass.centre, ((double[3]){5, 1, 0}), 0);
  flo_mesh_free(&sheet.mesh);
}

// ---- Shells ----

static void test_shell_of_a_box(void **state) {
  (void)state;
  Sheet sheet;
  double a = 2, b = 3, c = 5, t = 0.01, density = 1000, out[3] = {0};
  sheet_init(&sheet);
  add_box(&sheet, (double[3]){a, b, c}, false);
  // Pairs of plates: of each the own moment and, across, the distance to the middle.
  double s[3] = {a, b, c}, mass = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double u = s[(axis + 1) % 3], v = s[(axis + 2) % 3], m = 2 * density * t * u * v, w = s[axis];
    mass += m;
    out[axis] += m * (u * u + v * v) / 12;
    out[(axis + 1) % 3] += m * (v * v / 12 + w * w / 4);
    out[(axis + 2) % 3] += m * (u * u / 12 + w * w / 4);
  }
  move(&sheet, (double[4]){0, 0, 0, 1}, (double[3]){100, 0, -7});
  FloMassProperties shell;
  flo_mesh_shell_mass(&sheet.mesh, density, t, &shell);
  assert_close(shell.mass, mass, 1e-10);
  assert_close(shell.volume, 62 * t, 1e-13);
  assert_close_3(shell.centre, ((double[3]){100, 0, -7}), 1e-12);
  check_inertia(&shell, (double[6]){out[0], out[1], out[2], 0, 0, 0}, 1e-12);
  flo_mesh_free(&sheet.mesh);
}

// An open sheet: one triangle, whose mean of x^2 about its middle is (a^2 + b^2 + ..)/12 of the corners.
static void test_shell_of_a_triangle(void **state) {
  (void)state;
  Sheet sheet;
  sheet_init(&sheet);
  uint32_t a = mesh_add_vertex(&sheet.mesh, 0, 0, 4);
  mesh_add_triangle(&sheet.mesh, a, mesh_add_vertex(&sheet.mesh, 3, 0, 4),
                    mesh_add_vertex(&sheet.mesh, 0, 6, 4));
  FloMassProperties shell;
  flo_mesh_shell_mass(&sheet.mesh, 10, 0.1, &shell);
  assert_close(shell.mass, 9, 1e-14);
  assert_close_3(shell.centre, ((double[3]){1, 2, 4}), 1e-14);
  check_inertia(&shell, (double[6]){9 * 36 / 18.0, 9 * 9 / 18.0, 9 * 45 / 18.0, 9 * 18 / 36.0, 0, 0}, 1e-14);
  flo_mesh_free(&sheet.mesh);
}

// ---- Outlines ----

static void test_outlines(void **state) {
  (void)state;
  FloMassProperties mass, turned;
  const double rectangle[8] = {1000, 0, 1004, 0, 1004, 2, 1000, 2};
  const double clockwise[8] = {1000, 2, 1004, 2, 1004, 0, 1000, 0};
  flo_outline_mass(rectangle, 4, 5, &mass);
  assert_close(mass.volume, 8, 1e-12);
  assert_close(mass.mass, 40, 1e-11);
  assert_close_3(mass.centre, ((double[3]){1002, 1, 0}), 1e-12);
  check_inertia(&mass, (double[6]){40 * 4 / 12.0, 40 * 16 / 12.0, 40 * 20 / 12.0, 0, 0, 0}, 1e-12);
  flo_outline_mass(clockwise, 4, 5, &turned);
  check_same(&turned, &mass, 1e-14);
  assert_close_3(turned.centre, mass.centre, 1e-12);
  // An L of three unit squares; about their common centre (5/6, 5/6).
  const double angle[12] = {0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2};
  flo_outline_mass(angle, 6, 1, &mass);
  assert_close(mass.volume, 3, 1e-15);
  assert_close_3(mass.centre, ((double[3]){5 / 6.0, 5 / 6.0, 0}), 1e-15);
  assert_close(mass.inertia[2], 3 / 6.0 + 2 / 9.0 + 5 / 9.0 + 5 / 9.0, 1e-14);
}

static void test_outlines_of_polygons(void **state) {
  (void)state;
  double points[2 * 500];
  for (size_t n = 3; n <= 500; n += 71) {
    double step = 2 * FLO_PI / (double)n, r = 0.7, area = (double)n * r * r * sin(step) / 2;
    for (size_t k = 0; k < n; ++k)
      points[2 * k] = 1000 + r * cos(step * (double)k), points[2 * k + 1] = -500 + r * sin(step * (double)k);
    FloMassProperties mass;
    flo_outline_mass(points, n, 3, &mass);
    assert_close(mass.volume, area, 1e-11);
    assert_close(mass.inertia[2], 3 * area * r * r * (2 + cos(step)) / 6, 1e-10);
  }
  FloMassProperties none;
  flo_outline_mass(points, 0, 3, &none);
  assert_true(none.mass == 0 && none.centre[0] == 0 && none.inertia[2] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_tetrahedron),
      cmocka_unit_test(test_prisms),
      cmocka_unit_test(test_square_ring),
      cmocka_unit_test(test_round_bodies_converge),
      cmocka_unit_test(test_hollow_box),
      cmocka_unit_test(test_moving_and_turning),
      cmocka_unit_test(test_parallel_axes),
      cmocka_unit_test(test_nothing_weighs_nothing),
      cmocka_unit_test(test_shell_of_a_box),
      cmocka_unit_test(test_shell_of_a_triangle),
      cmocka_unit_test(test_outlines),
      cmocka_unit_test(test_outlines_of_polygons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
