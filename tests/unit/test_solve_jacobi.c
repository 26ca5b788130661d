// Jacobi with shares of mass: stable however many rows push one body, and without regard to the order of
// rows.
#include "support/pile.h"

static const double down[3] = {0, 0, -1}, up[3] = {0, 0, 1};

// A heavy plate on many points.
static Pile *make_plate(int n_contacts, const uint32_t *order) {
  Pile *pile = pile_create();
  uint32_t floor = pile_add_cube(pile, 0, 0, 0, -0.5), plate = pile_add_cube(pile, 100, 0, 0, 0.5);
  for (int k = 0; k < n_contacts; ++k) {
    double angle = 6.283185307179586 * (order ? order[k] : (uint32_t)k) / n_contacts;
    pile_touch(pile, plate, floor, (double[]){0.5 * cos(angle), 0.5 * sin(angle), 0}, up, 0);
  }
  pile_finish(pile, down);
  return pile;
}

// Equal rows bear equal loads, and more of them need no more iterations. Gauss-Seidel would load the first
// ones most.
static void test_equal_rows_bear_equal_loads(void **state) {
  (void)state;
  for (int n = 3; n <= 1000; n = 3 * n + 1)
    for (int solver = JACOBI; solver <= CONJUGATE_JACOBI; ++solver) {
      Pile *pile = make_plate(n, NULL);
      FloSolveReport report = pile_solve(pile, solver);
      for (int k = 0; k < n; ++k) assert_close(pile->lambda[k], 100.0 / n, 1e-7);
      assert_true(report.iterations <= (solver == JACOBI ? 80 : 6));
      pile_destroy(pile);
    }
}

static void test_the_order_of_rows_does_not_matter(void **state) {
  (void)state;
  enum { N = 60 };
  uint32_t order[N];
  Random random = {21};
  random_order(&random, order, N);
  Pile *pile = make_plate(N, NULL), *other = make_plate(N, order);
  pile->velocities[9] = other->velocities[9] = 0.3; // it also turns
  pile_solve_with(pile, JACOBI, 1, 0, 20), pile_solve_with(other, JACOBI, 1, 0, 20);
  for (int k = 0; k < N; ++k) assert_close(other->lambda[k], pile->lambda[order[k]], 1e-10);
  pile_destroy(pile), pile_destroy(other);
}

// Energy falls in every iteration: no sweep pushes too far.
static void test_energies_fall_in_every_iteration(void **state) {
  (void)state;
  double before = INFINITY;
  for (int most = 1; most <= 40; ++most) {
    Pile *pile = make_plate(30, NULL);
    double energy = 0;
    pile->velocities[10] = 2;
    pile_solve_with(pile, JACOBI, 1, 0, most);
    const double *v = pile->velocities + 6;
    energy = 50 * (vec_dot(v, v) + vec_dot(v + 3, v + 3) / 6);
    assert_true(energy <= before * (1 + 1e-12));
    before = energy;
    pile_destroy(pile);
  }
}

// A tall stack: what is known at the floor has to travel up.
static int iterations_of_stack(int solver, double friction) {
  Pile *pile = pile_create();
  uint32_t below = pile_add_cube(pile, 0, 0, 0, -0.5);
  for (int k = 0; k < 10; ++k) {
    uint32_t cube = pile_add_cube(pile, 1, 0, 0, 0.5 + k);
    pile_stand(pile, cube, below, friction);
    below = cube;
  }
  pile_finish(pile, down);
  int iterations = pile_solve_with(pile, solver, 1, 1e-6, 100000).iterations;
  print_message("%s, friction %g: %d iterations\n", solver_names[solver], friction, iterations);
  pile_destroy(pile);
  return iterations;
}

static void test_conjugate_directions_save_iterations(void **state) {
  (void)state;
  for (double friction = 0; friction < 1; friction += 0.5) {
    int plain = iterations_of_stack(JACOBI, friction), sweeps = iterations_of_stack(GAUSS_SEIDEL, friction);
    assert_true(4 * iterations_of_stack(CONJUGATE_JACOBI, friction) < plain);
    assert_true(2 * iterations_of_stack(CONJUGATE_GAUSS_SEIDEL, friction) < sweeps);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_rows_bear_equal_loads),
      cmocka_unit_test(test_the_order_of_rows_does_not_matter),
      cmocka_unit_test(test_energies_fall_in_every_iteration),
      cmocka_unit_test(test_conjugate_directions_save_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
