// Gauss-Seidel by colours: a sweep is what its definition says, and what is known from the last step saves
// iterations.
#include "support/pile.h"

static const double down[3] = {0, 0, -1};

static Pile *make_wall(uint32_t n_across, uint32_t n_up) {
  Pile *pile = pile_create();
  uint32_t floor = pile_add_cube(pile, 0, 0, 0, -0.5);
  for (uint32_t z = 0; z < n_up; ++z)
    for (uint32_t x = 0; x < n_across; ++x) {
      uint32_t cube = pile_add_cube(pile, 1, 2.0 * x, 0, 0.5 + z);
      pile_stand(pile, cube, z ? cube - n_across : floor, 0.5);
    }
  pile_finish(pile, down);
  return pile;
}

// One row after the other, colour by colour, without any of the solver's lists.
static void sweep_by_definition(const FloRows *rows, double *lambda, double *velocities) {
  for (size_t colour = 0; colour < rows->n_colours; ++colour)
    for (size_t n = 0; n < rows->n_rows; ++n) {
      const FloRow *row = &rows->rows[n];
      double error[3], chosen[3], more[3], *own = lambda + row->component;
      if (row->colour != colour) continue;
      flo_row_error(rows, row, velocities, own, error);
      flo_row_choose(rows, row, row->response, error, lambda, own, chosen);
      for (int k = 0; k < row->def.width; ++k) more[k] = chosen[k] - own[k], own[k] = chosen[k];
      flo_row_push(rows, row, more, velocities);
    }
}

static void test_a_sweep_is_what_its_definition_says(void **state) {
  (void)state;
  Pile *pile = make_wall(50, 6), *other = make_wall(50, 6);
  for (int threads = 1; threads <= 3; ++threads) {
    pile_begin(pile, down), pile_begin(other, down);
    FloSolveReport report = pile_solve_with(pile, GAUSS_SEIDEL, threads, 0, 3);
    for (int k = 0; k < 3; ++k) sweep_by_definition(&other->rows, other->lambda, other->velocities);
    assert_int_equal(report.iterations, 3);
    assert_memory_equal(pile->lambda, other->lambda, pile->rows.n_components * sizeof(double));
    assert_memory_equal(pile->velocities, other->velocities, 6 * pile->n_nodes * sizeof(double));
  }
  pile_destroy(pile), pile_destroy(other);
}

// Iterations for a load, from impulses to start from.
static FloSolveReport solve_from(Pile *pile, int solver, const double load[3], const double *known) {
  pile_begin(pile, load);
  if (known) memcpy(pile->lambda, known, pile->rows.n_components * sizeof(double));
  return pile_solve_with(pile, solver, 1, 1e-6, 100000);
}

static void test_the_last_impulses_save_iterations(void **state) {
  (void)state;
  const double changed[3] = {0, 0, -1.02};
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = make_wall(2, 5);
    double known[5000];
    int cold = solve_from(pile, solver, down, NULL).iterations;
    memcpy(known, pile->lambda, pile->rows.n_components * sizeof(double));
    FloSolveReport warm = solve_from(pile, solver, down, known);
    int cold_changed = solve_from(pile, solver, changed, NULL).iterations,
        warm_changed = solve_from(pile, solver, changed, known).iterations;
    print_message("%s: %d iterations, then %d; with another load %d and %d\n", solver_names[solver], cold,
                  warm.iterations, cold_changed, warm_changed);
    assert_true(warm.iterations <= 2 && cold > 10 && warm.residual < 1e-5);
    assert_true(warm_changed < cold_changed);
    pile_destroy(pile);
  }
}

// Impulses to start from may be out of bounds, when friction has become less.
static void test_impulses_to_start_from_are_brought_within_bounds(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = make_wall(1, 1);
    for (size_t k = 0; k < pile->rows.n_components; ++k) pile->lambda[k] = k % 2 ? -100 : 100;
    pile_solve(pile, solver);
    for (int k = 0; k < 3; ++k) assert_close(pile->velocities[6 + k], 0, 1e-9);
    pile_destroy(pile);
  }
}

static void test_no_iterations_change_nothing_but_the_start(void **state) {
  (void)state;
  Pile *pile = make_wall(1, 3);
  FloSolveReport report = pile_solve_with(pile, GAUSS_SEIDEL, 1, 1e-6, 0);
  assert_int_equal(report.iterations, 0);
  assert_close(report.residual, 1, 1e-12);
  for (size_t k = 1; k < pile->n_nodes; ++k) assert_true(pile->velocities[6 * k + 2] == -1);
  pile_destroy(pile);
}

static void test_the_residual_falls_with_the_tolerance(void **state) {
  (void)state;
  double before = 1;
  for (double tolerance = 1e-2; tolerance > 1e-9; tolerance *= 0.1) {
    Pile *pile = make_wall(1, 4);
    FloSolveReport report = pile_solve_with(pile, GAUSS_SEIDEL, 1, tolerance, 100000);
    assert_true(report.residual <= before && report.residual < 20 * tolerance);
    before = report.residual;
    pile_destroy(pile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sweep_is_what_its_definition_says),
      cmocka_unit_test(test_the_last_impulses_save_iterations),
      cmocka_unit_test(test_impulses_to_start_from_are_brought_within_bounds),
      cmocka_unit_test(test_no_iterations_change_nothing_but_the_start),
      cmocka_unit_test(test_the_residual_falls_with_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
