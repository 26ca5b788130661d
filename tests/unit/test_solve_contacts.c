// What contacts do, with every solver of rows: known results of mechanics, and all that is true of every
// solution.
#include "solve/dense.h"
#include "support/pile.h"

static const double nothing[3] = {0, 0, 0}, up[3] = {0, 0, 1};

// ---- Friction ----

// A cube on a floor, under gravity that is turned by an angle; it moves along x if it slides.
static Pile *make_slope(double angle, double friction) {
  Pile *pile = pile_create();
  uint32_t floor = pile_add_cube(pile, 0, 0, 0, -0.5), cube = pile_add_cube(pile, 3, 0, 0, 0.5);
  pile_stand(pile, cube, floor, friction);
  pile_finish(pile, (double[]){sin(angle), 0, -cos(angle)});
  return pile;
}

static void test_a_cube_slides_where_the_slope_is_steeper_than_friction(void **state) {
  (void)state;
  const double friction = 0.4, critical = atan(friction);
  for (int solver = 0; solver < N_SOLVERS; ++solver)
    for (double part = 0.5; part < 1.6; part += 0.099) {
      double angle = part * critical, slides = fmax(sin(angle) - friction * cos(angle), 0);
      Pile *pile = make_slope(angle, friction);
      pile_solve(pile, solver);
      assert_close_3(pile->velocities + 6, ((double[]){slides, 0, 0}), 1e-9);
      assert_close_3(pile->velocities + 9, nothing, 1e-9);
      pile_destroy(pile);
    }
}

// The same in any direction: cones are round.
static void test_friction_acts_against_the_sliding(void **state) {
  (void)state;
  const double friction = 0.3;
  for (int solver = 0; solver < N_SOLVERS; ++solver)
    for (double angle = 0; angle < 6.3; angle += 0.37) {
      Pile *pile = pile_create();
      uint32_t floor = pile_add_cube(pile, 0, 0, 0, -0.5), cube = pile_add_cube(pile, 2, 0, 0, 0.5);
      vec_set(pile->nodes[cube].velocity, 5 * cos(angle), 5 * sin(angle), 0);
      // At its centre, so that it does not turn.
      pile_touch(pile, cube, floor, (double[]){0, 0, 0.5}, up, friction);
      pile_finish(pile, (double[]){0, 0, -1});
      pile_solve(pile, solver);
      assert_close(pile->lambda[0], 2, 1e-9);
      assert_close_3(pile->velocities + 6, ((double[]){4.7 * cos(angle), 4.7 * sin(angle), 0}), 1e-9);
      pile_destroy(pile);
    }
}

// A long rod that hits the floor with one end gives way along some directions more than along others.
static Pile *make_rod(Random *random) {
  Pile *pile = pile_create();
  uint32_t floor = pile_add_cube(pile, 0, 0, 0, -0.5), rod = pile_add_cube(pile, 1, 0, 0, 0);
  FloNode *node = &pile->nodes[rod];
  node->inverse_inertia[0] = 50, node->inverse_inertia[4] = node->inverse_inertia[8] = 0.5;
  for (int axis = 0; axis < 3; ++axis) {
    node->angular_velocity[axis] = random_between(random, -3, 3);
    node->velocity[axis] = axis == 2 ? -3 : random_between(random, -3, 3);
  }
  pile_touch(pile, rod, floor, (double[]){1, 0.1, -0.1}, up, 0.1);
  pile_finish(pile, nothing);
  return pile;
}

// It sticks, or friction is all that it can be and opposite to the sliding.
static void test_friction_of_a_rod_is_against_its_sliding(void **state) {
  (void)state;
  Random random = {11};
  int n_slides = 0;
  for (int round = 0; round < 200; ++round) {
    Pile *pile = make_rod(&random);
    double slide[3];
    FloSolveReport report = pile_solve(pile, round % N_SOLVERS);
    const double *drag = pile->lambda + 1, limit = 0.1 * pile->lambda[0];
    flo_row_error(&pile->rows, &pile->rows.rows[1], pile->velocities, drag, slide);
    assert_true(report.residual < 1e-10 && vec_length(drag) <= limit * (1 + 1e-12));
    assert_close(vec_dot(drag, slide), -limit * vec_length(slide), 1e-9);
    n_slides += vec_length(slide) > 0.1;
    pile_destroy(pile);
  }
  assert_true(n_slides > 100);
}

// ---- Stacks and collisions ----

// n cubes of different masses, one on the other.
static Pile *make_stack(int n, double friction) {
  Pile *pile = pile_create();
  uint32_t below = pile_add_cube(pile, 0, 0, 0, -0.5);
  for (int k = 0; k < n; ++k) {
    uint32_t cube = pile_add_cube(pile, 1 + 0.5 * (k % 3), 0, 0, 0.5 + k);
    pile_stand(pile, cube, below, friction);
    below = cube;
  }
  pile_finish(pile, (double[]){0, 0, -1});
  return pile;
}

static void test_contacts_of_a_stack_bear_what_is_above_them(void **state) {
  (void)state;
  enum { N = 6 };
  for (int solver = 0; solver < N_SOLVERS; ++solver)
    for (int round = 0; round < 2; ++round) {
      Pile *pile = make_stack(N, round ? 0.5 : 0);
      double weight = 0;
      FloSolveReport report = pile_solve(pile, solver);
      for (size_t cube = N; cube > 0; --cube) {
        double load = 0;
        weight += pile->nodes[cube].mass;
        for (size_t k = 0; k < pile->rows.n_rows / N; ++k) {
          const FloRow *row = &pile->rows.rows[(cube - 1) * (pile->rows.n_rows / N) + k];
          if (row->def.width == 1) load += pile->lambda[row->component];
        }
        assert_close(load, weight, 1e-8);
        assert_close_3(pile->velocities + 6 * cube, nothing, 1e-9);
      }
      print_message("%s, stack of %d%s: %d iterations\n", solver_names[solver], N,
                    round ? " with friction" : "", report.iterations);
      pile_destroy(pile);
    }
}

static void test_two_balls_collide(void **state) {
  (void)state;
  const double mass[2] = {2, 5}, before[2] = {3, -1}, bounce = 0.6, normal[3] = {-1, 0, 0};
  double together = (mass[0] * before[0] + mass[1] * before[1]) / (mass[0] + mass[1]);
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    FloRowDef press = flo_default_row_def();
    press.low = 0, press.wanted[0] = bounce * (before[0] - before[1]);
    for (int k = 0; k < 2; ++k) pile_add_cube(pile, mass[k], k, 0, 0), pile->nodes[k].velocity[0] = before[k];
    pile_link(pile, &press, 0, 1, (double[]){0.5, 0, 0}, normal);
    pile_finish(pile, nothing);
    pile_solve(pile, solver);
    for (int k = 0; k < 2; ++k)
      assert_close(pile->velocities[6 * k], together - bounce * (before[k] - together), 1e-11);
    pile_destroy(pile);
  }
}

static void test_what_moves_apart_is_left_alone(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    pile_add_cube(pile, 1, 0, 0, 0), pile_add_cube(pile, 1, 0, 0, 1);
    pile->nodes[1].velocity[2] = 2;
    pile_touch(pile, 1, 0, (double[]){0, 0, 0.5}, up, 0.5);
    pile_finish(pile, nothing);
    assert_int_equal(pile_solve(pile, solver).iterations, 1);
    for (size_t k = 0; k < pile->rows.n_components; ++k) assert_true(pile->lambda[k] == 0);
    assert_true(pile->velocities[8] == 2 && pile->velocities[2] == 0);
    pile_destroy(pile);
  }
}

// ---- Against enumeration ----

// Which rows press is tried out in all ways; one of them has impulses and errors that are not negative.
static bool solve_by_enumeration(const double *matrix, const double *b, int n, double *x) {
  for (unsigned set = 0; set < 1u << n; ++set) {
    double a[36] = {0}, rhs[6] = {0}, factors[36];
    bool is_right = true;
    for (int i = 0; i < n; ++i) {
      bool is_in = set >> i & 1;
      for (int k = 0; k < n; ++k) a[n * i + k] = is_in && set >> k & 1 ? matrix[n * i + k] : 0;
      if (is_in) rhs[i] = b[i];
    }
    if (!flo_dense_factorise_semidefinite(n, a, factors)) continue;
    flo_dense_solve(n, factors, rhs, x);
    for (int i = 0; i < n; ++i) {
      double error = -b[i];
      for (int k = 0; k < n; ++k) error += matrix[n * i + k] * x[k];
      is_right = is_right && x[i] >= -1e-12 && error >= -1e-9;
    }
    if (is_right) return true;
  }
  return false;
}

// Random nodes, and rows of random numbers that only push.
static Pile *make_random_system(Random *random, int n_rows, double softness) {
  Pile *pile = pile_create();
  for (int k = 0; k < 3; ++k) {
    uint32_t node = pile_add_cube(pile, random_between(random, 0.5, 3), 0, 0, 0);
    for (int axis = 0; axis < 3; ++axis) pile->nodes[node].velocity[axis] = random_between(random, -1, 1);
  }
  for (int row = 0; row < n_rows; ++row) {
    FloRowDef def = flo_default_row_def();
    def.low = 0, def.softness = softness, def.wanted[0] = random_between(random, -0.5, 0.5);
    pile_add_row(pile, &def);
    for (uint32_t node = 0; node < 2; ++node) {
      double j[6];
      for (int k = 0; k < 6; ++k) j[k] = random_between(random, -1, 1);
      pile_add_block(pile, (node + (uint32_t)row) % 3, j);
    }
  }
  pile_finish(pile, nothing);
  return pile;
}

// The matrix, column by column, and what rows lack at first.
static void write_out(Pile *pile, double *matrix, double *b) {
  size_t n = pile->rows.n_rows;
  double *errors = calloc(n, sizeof *errors), *v = calloc(6 * pile->n_nodes, sizeof *v);
  double *unit = calloc(n, sizeof *unit), *first = calloc(n, sizeof *first);
  flo_rows_errors(&pile->rows, 1, v, unit, first);
  flo_rows_errors(&pile->rows, 1, pile->velocities, unit, errors);
  for (size_t k = 0; k < n; ++k) b[k] = -errors[k];
  for (size_t column = 0; column < n; ++column) {
    memset(v, 0, 6 * pile->n_nodes * sizeof *v);
    memset(unit, 0, n * sizeof *unit);
    unit[column] = 1;
    flo_rows_gather(&pile->rows, 1, v, unit, v);
    flo_rows_errors(&pile->rows, 1, v, unit, errors);
    for (size_t k = 0; k < n; ++k) matrix[n * k + column] = errors[k] - first[k];
  }
  free(errors), free(v), free(unit), free(first);
}

static void test_rows_that_push_are_those_of_enumeration(void **state) {
  (void)state;
  Random random = {12};
  int n_pressing = 0, n_all = 0;
  for (int round = 0; round < 60; ++round) {
    int n = 1 + round % 6;
    Pile *pile = make_random_system(&random, n, 1e-3);
    double matrix[36], b[6], x[6];
    write_out(pile, matrix, b);
    assert_true(solve_by_enumeration(matrix, b, n, x));
    for (int solver = 0; solver < N_SOLVERS; ++solver) {
      pile_begin(pile, nothing);
      pile_solve(pile, solver);
      for (int k = 0; k < n; ++k) assert_close(pile->lambda[k], x[k], 1e-7 * (1 + fabs(x[k])));
      for (int k = 0; k < n; ++k) n_all++, n_pressing += pile->lambda[k] > 0;
    }
    pile_destroy(pile);
  }
  assert_true(n_pressing > n_all / 4 && n_pressing < n_all);
}

// ---- What is always true ----

// Cubes in a heap, with random contacts among them, some held.
static Pile *make_heap(uint64_t seed, uint32_t n_cubes, uint32_t n_contacts, bool has_held) {
  Random random = {seed};
  Pile *pile = pile_create();
  for (uint32_t k = 0; k < n_cubes; ++k) {
    double x = random_between(&random, -3, 3), y = random_between(&random, -3, 3),
           z = random_between(&random, 0, 3);
    uint32_t node =
        pile_add_cube(pile, has_held && k % 5 == 0 ? 0 : random_between(&random, 0.2, 5), x, y, z);
    for (int axis = 0; axis < 3 && pile->nodes[node].mass > 0; ++axis) {
      pile->nodes[node].velocity[axis] = random_between(&random, -1, 1);
      pile->nodes[node].angular_velocity[axis] = random_between(&random, -1, 1);
    }
  }
  for (uint32_t k = 0; k < n_contacts; ++k) {
    uint32_t a = random_below(&random, n_cubes), b = (a + 1 + random_below(&random, n_cubes - 1)) % n_cubes;
    double between[3], normal[3];
    vec_add(pile->nodes[a].position, pile->nodes[b].position, between);
    vec_scale(between, 0.5, between);
    vec_sub(pile->nodes[a].position, pile->nodes[b].position, normal);
    vec_scale(normal, 1 / vec_length(normal), normal);
    pile_touch(pile, a, b, between, normal, 0.4);
  }
  pile_finish(pile, nothing);
  return pile;
}

static void momenta_of(const Pile *pile, double momenta[6]) {
  memset(momenta, 0, 6 * sizeof *momenta);
  for (size_t k = 0; k < pile->n_nodes; ++k) {
    const double *v = pile->velocities + 6 * k, mass = pile->nodes[k].mass;
    double p[3], spin[3];
    vec_scale(v, mass, p);
    vec_cross(pile->nodes[k].position, p, spin);
    vec_add_scaled(spin, v + 3, mass / 6, spin);
    vec_add(momenta, p, momenta);
    vec_add(momenta + 3, spin, momenta + 3);
  }
}

// Also where iterations end early.
static void test_both_momenta_stay(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver)
    for (int most = 1; most <= 16; most *= 4) {
      Pile *pile = make_heap(13, 40, 120, false);
      double before[6], after[6];
      momenta_of(pile, before);
      pile_solve_with(pile, solver, 1, 0, most);
      momenta_of(pile, after);
      for (int k = 0; k < 6; ++k) assert_close(after[k], before[k], 1e-12 * 100);
      pile_destroy(pile);
    }
}

static void test_held_nodes_do_not_move_and_nothing_is_infinite(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = make_heap(14, 30, 150, true);
    pile_solve_with(pile, solver, 1, 1e-9, 2000);
    for (size_t k = 0; k < pile->n_nodes; ++k)
      for (size_t n = 6 * k; n < 6 * k + 6; ++n) {
        assert_true(isfinite(pile->velocities[n]));
        if (pile->nodes[k].mass == 0) assert_true(pile->velocities[n] == 0);
      }
    for (size_t k = 0; k < pile->rows.n_components; ++k) assert_true(isfinite(pile->lambda[k]));
    pile_destroy(pile);
  }
}

// Only held nodes: rows that can move nothing stay without impulse.
static void test_rows_that_move_nothing_have_no_impulse(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    pile_add_cube(pile, 0, 0, 0, 0), pile_add_cube(pile, 0, 0, 0, 1);
    pile->nodes[1].velocity[2] = -1;
    pile_stand(pile, 1, 0, 0.5);
    pile_finish(pile, nothing);
    for (size_t k = 0; k < pile->rows.n_components; ++k) pile->lambda[k] = 7;
    FloSolveReport report = pile_solve(pile, solver);
    assert_true(report.residual == 0);
    for (size_t k = 0; k < pile->rows.n_components; ++k) assert_true(pile->lambda[k] == 0);
    assert_true(pile->velocities[8] == -1);
    pile_destroy(pile);
  }
}

static void test_a_solution_has_no_more_energy(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = make_heap(15, 40, 80, false);
    double before = 0, after = 0;
    for (int round = 0; round < 2; ++round) {
      double *energy = round ? &after : &before;
      for (size_t k = 0; k < pile->n_nodes; ++k) {
        const double *v = pile->velocities + 6 * k, mass = pile->nodes[k].mass;
        *energy += mass / 2 * (vec_dot(v, v) + vec_dot(v + 3, v + 3) / 6);
      }
      if (round == 0) pile_solve_with(pile, solver, 1, 1e-9, 20000);
    }
    assert_true(after < before);
    pile_destroy(pile);
  }
}

static void test_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *one = make_heap(16, 900, 3000, true);
    pile_solve_with(one, solver, 1, 0, 12);
    for (int threads = 2; threads <= 3; ++threads) {
      Pile *many = make_heap(16, 900, 3000, true);
      pile_solve_with(many, solver, threads, 0, 12);
      assert_memory_equal(many->lambda, one->lambda, one->rows.n_components * sizeof(double));
      assert_memory_equal(many->velocities, one->velocities, 6 * one->n_nodes * sizeof(double));
      pile_destroy(many);
    }
    pile_destroy(one);
  }
}

// ---- Redundant rows ----

// A door on three hinges that ask for the same: with softness they share the load equally.
static void test_redundant_rows_share_the_load(void **state) {
  (void)state;
  const double softness = 1e-3;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    FloRowDef hinge = flo_default_row_def();
    pile_add_cube(pile, 0, 0, 0, 0), pile_add_cube(pile, 2, 0, 0, 0);
    hinge.softness = softness;
    for (int k = 0; k < 3; ++k) pile_link(pile, &hinge, 1, 0, nothing, up);
    pile_finish(pile, (double[]){0, 0, -1});
    pile_solve(pile, solver);
    double share = 1 / (3 * 0.5 + softness); // (3 / m + softness) lambda = 1
    for (int k = 0; k < 3; ++k) assert_close(pile->lambda[k], share, 1e-8);
    assert_close(pile->velocities[8], -softness * share, 1e-11);
    pile_destroy(pile);
  }
}

// Four rods in a square, joined at the corners: one joint too many in the plane, and it is closed.
static void test_a_closed_loop_falls_as_one(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    FloRowDef joint = flo_default_row_def();
    joint.width = 3, joint.softness = 1e-6;
    for (int k = 0; k < 4; ++k) pile_add_cube(pile, 1 + k, (k == 0) - (k == 2), (k == 1) - (k == 3), 0);
    pile->nodes[2].velocity[0] = 1;
    for (uint32_t k = 0; k < 4; ++k) {
      double corner[3], j[18];
      uint32_t both[] = {k, (k + 1) % 4};
      vec_add(pile->nodes[both[0]].position, pile->nodes[both[1]].position, corner);
      pile_add_row(pile, &joint);
      for (int side = 0; side < 2; ++side) {
        double arm[3];
        vec_sub(corner, pile->nodes[both[side]].position, arm);
        for (int axis = 0; axis < 3; ++axis)
          flo_rows_point((double[]){axis == 0, axis == 1, axis == 2}, arm, side ? -1 : 1, j + 6 * axis);
        pile_add_block(pile, both[side], j);
      }
    }
    pile_finish(pile, (double[]){0, 0, -1});
    pile_solve(pile, solver);
    for (uint32_t k = 0; k < 4; ++k) {
      double error[3];
      const FloRow *row = &pile->rows.rows[k];
      flo_row_error(&pile->rows, row, pile->velocities, pile->lambda + row->component, error);
      assert_close_3(error, nothing, 1e-11);
      assert_close(pile->velocities[6 * k + 2], -1, 1e-9);
    }
    pile_destroy(pile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_cube_slides_where_the_slope_is_steeper_than_friction),
      cmocka_unit_test(test_friction_acts_against_the_sliding),
      cmocka_unit_test(test_friction_of_a_rod_is_against_its_sliding),
      cmocka_unit_test(test_contacts_of_a_stack_bear_what_is_above_them),
      cmocka_unit_test(test_two_balls_collide),
      cmocka_unit_test(test_what_moves_apart_is_left_alone),
      cmocka_unit_test(test_rows_that_push_are_those_of_enumeration),
      cmocka_unit_test(test_both_momenta_stay),
      cmocka_unit_test(test_held_nodes_do_not_move_and_nothing_is_infinite),
      cmocka_unit_test(test_rows_that_move_nothing_have_no_impulse),
      cmocka_unit_test(test_a_solution_has_no_more_energy),
      cmocka_unit_test(test_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(test_redundant_rows_share_the_load),
      cmocka_unit_test(test_a_closed_loop_falls_as_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
