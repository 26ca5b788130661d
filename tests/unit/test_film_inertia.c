// The formulas of the inertia of wetted films, against numerical solutions, and which gaps are connected.
#include "base/vecmath.h"
#include "coupling/forces/film_gaps.h"
#include "support/worlds.h"

// ---- The integral of f, where laplace f = -1, and f = 0 at the rim ----

enum { CELLS = 128 };

typedef struct Section {
  const char *name;
  double width, height; // of cells around it, in cells
  bool is_disc;
  double error; // of the approximation, as said at the head of film_inertia.c
} Section;

static bool is_inside(const Section *section, int x, int y) {
  if (x < 0 || y < 0 || x >= section->width || y >= section->height) return false;
  const double dx = x + 0.5 - section->width / 2, dy = y + 0.5 - section->height / 2;
  return !section->is_disc || dx * dx + dy * dy < section->width * section->width / 4;
}

// The sum of neighbours. A rim is half a cell away, so it counts twice.
static double sum_around(const Section *section, double f[CELLS][CELLS], int x, int y, double *weight) {
  double sum = 0;
  *weight = 0;
  for (int k = 0; k < 4; ++k) {
    const int to_x = x + (k == 0) - (k == 1), to_y = y + (k == 2) - (k == 3);
    const bool is_fluid = is_inside(section, to_x, to_y);
    *weight += is_fluid ? 1 : 2;
    if (is_fluid) sum += f[to_y][to_x];
  }
  return sum;
}

// Over-relaxed Gauss-Seidel in cells of width 1.
static double integrate(const Section *section) {
  static double f[CELLS][CELLS];
  double sum = 0;
  memset(f, 0, sizeof f);
  for (int sweep = 0; sweep < 600; ++sweep)
    for (int y = 0; y < CELLS; ++y)
      for (int x = 0; x < CELLS; ++x) {
        if (!is_inside(section, x, y)) continue;
        double weight;
        const double around = sum_around(section, f, x, y, &weight);
        f[y][x] += 1.9 * ((around + 1) / weight - f[y][x]);
      }
  for (int y = 0; y < CELLS; ++y)
    for (int x = 0; x < CELLS; ++x) sum += f[y][x];
  return sum;
}

// Area and polar moment are sums over cells, as they are over samples.
static double approximate(const Section *section) {
  double area = 0, moment = 0;
  for (int y = 0; y < CELLS; ++y)
    for (int x = 0; x < CELLS; ++x) {
      const double dx = x + 0.5 - section->width / 2, dy = y + 0.5 - section->height / 2;
      if (!is_inside(section, x, y)) continue;
      area++, moment += dx * dx + dy * dy + 1.0 / 6;
    }
  return flo_film_integral(3, area, moment);
}

static void test_the_integral_is_near_that_of_sections(void **state) {
  static const Section sections[] = {{"square", 64, 64, false, 0.067},
                                     {"disc", 96, 96, true, -0.013},
                                     {"strip 1 : 16", 128, 8, false, -0.09}};
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(sections); ++k) {
    const double error = approximate(&sections[k]) / integrate(&sections[k]) - 1;
    print_message("%s: %+.1f %%\n", sections[k].name, 100 * error);
    assert_close(error, sections[k].error, 0.015);
  }
}

// ---- A gap in the plane ----

// Fluid of density 1 between x = -half and half flows with v = -u x/h. The push of its pressure over that
// around the gap follows from dp/dx = -(dv/dt + v dv/dx), where u changes at the rate `gain`.
static double push_in_plane(double half, double h, double u, double gain) {
  const int n = 20000;
  const double dx = half / n, rim = u * half / h;
  double p = u > 0 ? -rim * rim / 2 : 0, push = 0; // inflow is smooth from rest; outflow is a jet
  for (int k = 0; k < n; ++k) {
    const double x = half - (k + 0.5) * dx;
    const double slope = -(-(gain / h - u * u / (h * h)) * x + u * u / (h * h) * x);
    push += 2 * dx * (p - slope * dx / 2);
    p -= slope * dx;
  }
  return push;
}

static void test_a_strip_pushes_as_the_equation_of_euler_says(void **state) {
  static const double speeds[] = {0.3, -0.3, 0}, gains[] = {0, 2, -1.5};
  const double half = 0.04, h = 0.003;
  (void)state;
  for (int k = 0; k < 9; ++k) {
    const double u = speeds[k / 3], gain = gains[k % 3], mass = flo_film_integral(2, 2 * half, 0) / h;
    const double expected = push_in_plane(half, h, u, gain);
    assert_close(mass * (flo_film_swing(2, u, h, 0) - gain), expected, 1e-4 * fabs(expected) + 1e-12);
  }
}

// The jet of a disc: A rho v^2/2 at the rim besides the half.
static void test_a_closing_disc_pushes_more_by_its_jet(void **state) {
  const double radius = 0.05, h = 0.002, u = -0.2, pi = acos(-1), area = pi * radius * radius;
  const double mass = pi * pow(radius, 4) / 8 / h, rim = u / h * radius / 2;
  (void)state;
  assert_close(mass * flo_film_swing(3, u, h, 0), mass * u * u / (2 * h) + area * rim * rim / 2, 1e-9);
  assert_close(flo_film_swing(3, -u, h, 0), u * u / (2 * h), 1e-12);
}

static void test_long_steps_do_not_throw_closing_bodies_apart(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double dt = 1e-6; dt < 10; dt *= 10)
      assert_true(-0.5 + dt * flo_film_swing(dim, -0.5, 1e-4, dt) < 0);
}

// ---- Connected pieces ----

enum { FAR = 3 }; // body that some samples face

// A row of samples of a bar faces body 0, except those from `first` to `end`.
typedef struct Row {
  uint32_t first, end, instead; // which face this body or none
  size_t n_gaps;
} Row;

static FloWorld *make_bar(void) {
  FloWorldDef def = small_world_def(2);
  FloBodyDef body = flo_default_body_def();
  def.method = "monolithic", def.spacing = 0.01;
  FloWorld *world = create_world(&def);
  body.kind = FLO_BODY_DYNAMIC, body.density = 1000, body.shape = box_shape(0.2, 0.05, 0);
  for (int k = 0; k < FAR + 1; ++k) {
    body.pose = pose_at(0, 0.1 * k, 0);
    add_body(world, &body);
  }
  return world;
}

// Finds the gaps below body 1. Each sample is pushed with 2 N.
static FloFilmForce *face_row(FloWorld *world, const Row *row, FloFilmGaps *gaps) {
  const FloBody *body = &flo_bodies(world)[1];
  const FloParticles *p = &world->sets[FLO_SET_RIGID];
  FloFilmForce *forces = calloc(p->count, sizeof *forces);
  FloError error;
  uint32_t n = 0;
  for (size_t i = 0; i < p->count; ++i) forces[i].facing = UINT32_MAX;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    if (p->y[i] > 0.1 - 0.019) continue; // the lowest layer only
    forces[i].facing = n >= row->first && n < row->end ? row->instead : 0;
    vec_set(forces[i].away, 0, 1, 0);
    vec_set(forces[i].force, 0, forces[i].facing != UINT32_MAX ? 2 : 0, 0);
    forces[i].distance = 0.007, n++;
  }
  assert_int_equal(n, 20);
  assert_ok(flo_film_gaps_begin(gaps, world, &error), &error);
  assert_ok(flo_film_gaps_add(gaps, world, forces, 1, 0.001, &error), &error);
  return forces;
}

static void check_row(FloWorld *world, const Row *row) {
  FloFilmGaps gaps = {0};
  FloFilmForce *forces = face_row(world, row, &gaps);
  const bool is_split = row->n_gaps == 2, has_two = row->instead == FAR && row->end > row->first;
  assert_int_equal(gaps.n_gaps, row->n_gaps);
  assert_close(gaps.gaps[0].area, 0.01 * (is_split ? row->first : 20), 1e-9);
  assert_close(gaps.gaps[0].push, 2 * (is_split ? row->first : 20), 1e-9);
  assert_close(gaps.gaps[0].height, 0.002 + 0.001, 1e-6);
  assert_int_equal(gaps.n_parts, is_split ? 4 : has_two ? 3 : 2);
  flo_film_gaps_free(&gaps, &world->memory);
  free(forces);
}

static void test_gaps_end_where_no_sample_faces_a_body_and_not_at_seams(void **state) {
  static const Row rows[] = {{0, 0, 0, 1}, {8, 12, UINT32_MAX, 2}, {8, 20, FAR, 1}};
  (void)state;
  FloWorld *world = make_bar();
  for (size_t k = 0; k < FLO_COUNT_OF(rows); ++k) check_row(world, &rows[k]);
  flo_world_destroy(world);
}

// ---- Forces ----

// Motion of the bar (1) and of the body below it (0), and which of them contacts press on.
typedef struct Motion {
  double speeds[2], spins[2];
  bool are_touched[2];
} Motion;

static void move(FloWorld *world, const Motion *motion) {
  for (int k = 0; k < 2; ++k) {
    FloNode *node = flo_bodies(world)[k].nodes;
    vec_set(node->velocity, 0, motion->speeds[k], 0);
    vec_set(node->angular_velocity, 0, 0, motion->spins[k]);
    vec_set(node->reaction, 0, k ? 30 : -20, 0); // [N]
    vec_set(node->reaction + 3, 0, 0, k ? 0.4 : 0);
  }
}

// The rate at which the gap opens faster at a place, by the forces of all gaps.
static double gain_at(const FloWorld *world, const FloFilmGaps *gaps, const bool *are_touched, double x) {
  double gain = 0;
  for (int k = 0; k < 2; ++k) {
    const FloNode *node = flo_bodies(world)[k].nodes;
    const double sign = k == 1 ? 1 : -1;
    double force = node->reaction[1] + node->mass * world->def.gravity[1], torque = node->reaction[5];
    for (size_t g = 0; g < gaps->n_gaps; ++g) {
      force += sign * gaps->gaps[g].total;
      torque += sign * gaps->gaps[g].total * gaps->gaps[g].middle[0];
    }
    if (!are_touched[k]) gain += sign * (force / node->mass + x * torque / node->inertia[8]);
  }
  return gain;
}

// F = P + m (c u^2/h - du/dt) for each gap, and samples get their share of it.
static void check_motion(FloWorld *world, const Motion *motion, const Row *row) {
  const double dt = 1e-3, densities[FAR + 1] = {0, 1000};
  bool are_touched[FAR + 1] = {motion->are_touched[0], motion->are_touched[1]};
  FloFilmGaps gaps = {0};
  move(world, motion);
  FloFilmForce *forces = face_row(world, row, &gaps);
  double sum = 0, total = 0;
  flo_film_gaps_resist(&gaps, world, forces, densities, are_touched, dt);
  assert_int_equal(gaps.n_gaps, row->n_gaps);
  for (size_t g = 0; g < gaps.n_gaps; ++g) {
    const FloFilmGap *gap = &gaps.gaps[g];
    const double x = gap->middle[0], mass = 1000 * pow(gap->area, 3) / 12 / gap->height;
    const double speed = motion->speeds[1] - motion->speeds[0] + x * (motion->spins[1] - motion->spins[0]);
    const double gain = gain_at(world, &gaps, are_touched, x),
                 push = gap->push + mass * (flo_film_swing(2, speed, gap->height, dt) - gain);
    const bool is_held = are_touched[0] && are_touched[1];
    if (gap->total > 0) assert_close(gap->total, is_held ? gap->push : push, 1e-3 * gap->push);
    assert_true(gap->total > 0 || push < 1e-3 * gap->push);
    total += gap->total;
  }
  for (size_t i = 0; i < world->sets[FLO_SET_RIGID].count; ++i) sum += forces[i].force[1];
  assert_close(sum, total, 1e-9);
  flo_film_gaps_free(&gaps, &world->memory);
  free(forces);
}

static void test_forces_follow_from_the_motion_of_both_bodies(void **state) {
  static const Row rows[] = {{0, 0, 0, 1}, {8, 12, UINT32_MAX, 2}};
  static const Motion motions[] = {
      {{0, 0.05}, {0, 0}, {false, false}},   {{-0.02, 0.03}, {0, 0}, {true, false}},
      {{0, -0.05}, {0, 0}, {false, false}},  {{0, 0.05}, {0.1, 0.6}, {false, false}},
      {{-0.04, 0}, {0, 0.3}, {false, true}}, {{0, 0.05}, {0, 0}, {true, true}}};
  (void)state;
  FloWorld *world = make_bar();
  vec_set(world->def.gravity, 0, -2, 0);
  for (size_t k = 0; k < FLO_COUNT_OF(motions); ++k)
    for (size_t r = 0; r < FLO_COUNT_OF(rows); ++r) check_motion(world, &motions[k], &rows[r]);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_integral_is_near_that_of_sections),
      cmocka_unit_test(test_a_strip_pushes_as_the_equation_of_euler_says),
      cmocka_unit_test(test_a_closing_disc_pushes_more_by_its_jet),
      cmocka_unit_test(test_long_steps_do_not_throw_closing_bodies_apart),
      cmocka_unit_test(test_forces_follow_from_the_motion_of_both_bodies),
      cmocka_unit_test(test_gaps_end_where_no_sample_faces_a_body_and_not_at_seams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
