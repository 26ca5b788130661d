// Rows: what they do to velocities, the bounds of their multipliers, the orders in which they are visited,
// and their memory.
#include "support/allocator.h"
#include "support/pile.h"

static const double nothing[3] = {0, 0, 0};

// ---- What rows do ----

static void random_numbers(Random *random, size_t n, double *numbers) {
  for (size_t k = 0; k < n; ++k) numbers[k] = random_between(random, -1, 1);
}

// Rows of one and of three components with up to four blocks each, some of them on held nodes.
static Pile *make_tangle(uint64_t seed, uint32_t n_nodes, int n_rows) {
  Random random = {seed};
  Pile *pile = pile_create();
  for (uint32_t k = 0; k < n_nodes; ++k)
    pile_add_cube(pile, k % 7 == 3 ? 0 : random_between(&random, 0.1, 4), 0, 0, 0);
  for (int n = 0; n < n_rows; ++n) {
    FloRowDef def = flo_default_row_def();
    double j[18];
    def.width = n % 3 == 2 ? 3 : 1, def.softness = n % 2 ? 0.25 : 0;
    random_numbers(&random, 3, def.wanted);
    if (n % 3 == 2) def.normal = (uint32_t)n - 1, def.friction = 0.5;
    pile_add_row(pile, &def);
    for (int k = 0; k < n % 5; ++k) {
      random_numbers(&random, 18, j);
      pile_add_block(pile, random_below(&random, n_nodes), j);
    }
  }
  pile_finish(pile, nothing);
  return pile;
}

// By the definition, in the order of the rows.
static void push_all(const Pile *pile, const double *lambda, double *velocities) {
  for (size_t n = 0; n < pile->rows.n_rows; ++n)
    flo_row_push(&pile->rows, &pile->rows.rows[n], lambda + pile->rows.rows[n].component, velocities);
}

static void test_gathering_is_pushing(void **state) {
  (void)state;
  Pile *pile = make_tangle(1, 5, 2000); // long lists: several chunks for each node
  Random random = {2};
  double by_rows[30] = {0}, start[30], *lambda = calloc(pile->rows.n_components, sizeof *lambda);
  random_numbers(&random, pile->rows.n_components, lambda);
  random_numbers(&random, 30, start);
  memcpy(by_rows, start, sizeof start);
  push_all(pile, lambda, by_rows);
  for (int threads = 1; threads <= 3; ++threads) {
    double first[30], again[30];
    flo_rows_gather(&pile->rows, 1, start, lambda, first);
    flo_rows_gather(&pile->rows, threads, start, lambda, again);
    assert_memory_equal(first, again, sizeof first);
    for (int k = 0; k < 30; ++k) assert_close(first[k], by_rows[k], 1e-9);
  }
  free(lambda);
  pile_destroy(pile);
}

// error(lambda) - error(0) = (J M^-1 J^T + softness) lambda: symmetric, not negative, and on the diagonal the
// response.
static void test_responses_are_those_of_the_matrix(void **state) {
  (void)state;
  enum { ROWS = 30 };
  Pile *pile = make_tangle(3, 6, ROWS);
  size_t n = pile->rows.n_components;
  double *matrix = calloc(n * n, sizeof *matrix), *e = calloc(n, sizeof *e),
         *first = calloc(n, sizeof *first);
  double *lambda = calloc(n, sizeof *lambda), v[36] = {0};
  flo_rows_errors(&pile->rows, 1, v, lambda, first);
  for (size_t column = 0; column < n; ++column) {
    memset(v, 0, sizeof v), memset(lambda, 0, n * sizeof *lambda);
    lambda[column] = 1;
    flo_rows_gather(&pile->rows, 1, v, lambda, v);
    flo_rows_errors(&pile->rows, 1, v, lambda, e);
    for (size_t k = 0; k < n; ++k) matrix[n * k + column] = e[k] - first[k];
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) assert_close(matrix[n * i + k], matrix[n * k + i], 1e-11);
  for (size_t row = 0; row < ROWS; ++row) {
    const FloRow *r = &pile->rows.rows[row];
    double trace = 0;
    for (size_t k = r->component; k < r->component + (size_t)r->def.width; ++k) trace += matrix[n * k + k];
    if (r->def.width == 1) assert_close(r->response, trace, 1e-11 * (1 + trace));
    if (r->def.width == 3) assert_true(r->response <= trace * (1 + 1e-9) && r->response >= trace / 3);
  }
  free(matrix), free(e), free(first), free(lambda);
  pile_destroy(pile);
}

// A node whose velocities depend on each other: a mass of 2 kg that can only move along a line, turning as a
// screw does.
static void move_screw(const void *context, size_t node, const double wrench[6], double out[6]) {
  const double *pitch = context;
  const double along[6] = {1, 0, 0, *pitch, 0, 0};
  double push = 0;
  for (int k = 0; k < 6; ++k) push += along[k] * wrench[k];
  for (int k = 0; k < 6; ++k) out[k] = node == 0 ? 0 : along[k] * push / 2;
}

static void test_inverse_masses_may_be_any_matrix(void **state) {
  (void)state;
  Pile *pile = pile_create();
  FloRowDef stop = flo_default_row_def();
  const double pitch = 3, turns[6] = {0, 0, 0, 1, 0, 0};
  FloError error;
  pile_add_cube(pile, 0, 0, 0, 0), pile_add_cube(pile, 1, 0, 0, 0);
  pile_add_row(pile, &stop);
  pile_add_block(pile, 1, turns), pile_add_block(pile, 0, turns);
  assert_ok(flo_rows_finish_with(&pile->rows, move_screw, &pitch, 2, 1, &error), &error);
  assert_true(!pile->rows.blocks[0].is_held && pile->rows.blocks[1].is_held);
  assert_close(pile->rows.rows[0].response, 9 / 2.0, 1e-14);
  pile_begin(pile, nothing);
  pile->velocities[6] = 1, pile->velocities[9] = 3;
  pile_solve(pile, GAUSS_SEIDEL);
  for (int k = 6; k < 12; ++k) assert_close(pile->velocities[k], 0, 1e-12);
  pile_destroy(pile);
}

static void test_blocks_of_the_same_node_are_added_up(void **state) {
  (void)state;
  Pile *pile = pile_create();
  FloRowDef def = flo_default_row_def();
  const double j[6] = {1, 2, 3, 4, 5, 6}, k[6] = {1, 0, 0, 0, 0, -6};
  pile_add_cube(pile, 2, 0, 0, 0), pile_add_cube(pile, 3, 0, 0, 0);
  pile_add_row(pile, &def);
  pile_add_block(pile, 1, j), pile_add_block(pile, 0, j), pile_add_block(pile, 1, k);
  pile_finish(pile, nothing);
  assert_int_equal(pile->rows.n_blocks, 2);
  assert_close(pile->rows.rows[0].response,
               (1 + 4 + 9) / 2.0 + (16 + 25 + 36) * 3.0 + (4 + 4 + 9) / 3.0 + (16 + 25) * 2.0, 1e-12);
  pile_destroy(pile);
}

static void test_a_point_moves_and_slides_as_it_should(void **state) {
  (void)state;
  const double v[6] = {1, 2, 3, 0.4, 0.5, 0.6}, arm[3] = {0.1, -0.2, 0.3}, normal[3] = {0, 0.6, 0.8};
  double at[3], j[18];
  vec_cross(v + 3, arm, at);
  vec_add(v, at, at);
  flo_rows_point(normal, arm, -1, j);
  assert_close(vec_dot(j, v) + vec_dot(j + 3, v + 3), -vec_dot(at, normal), 1e-14);
  flo_rows_slide(normal, arm, 1, j);
  for (int axis = 0; axis < 3; ++axis)
    assert_close(vec_dot(j + 6 * axis, v) + vec_dot(j + 6 * axis + 3, v + 3),
                 at[axis] - vec_dot(at, normal) * normal[axis], 1e-14);
}

// ---- Bounds ----

static void test_multipliers_are_brought_within_their_bounds(void **state) {
  (void)state;
  Pile *pile = pile_create();
  FloRowDef press = flo_default_row_def(), drag = press, motor = press, rope = press;
  const double x[3] = {1, 0, 0}, at[3] = {0, 0, 0};
  pile_add_cube(pile, 1, 0, 0, 0), pile_add_cube(pile, 1, 0, 0, 0);
  press.low = 0, motor.low = -2, motor.high = 3, rope.width = 3, rope.high = 5;
  uint32_t normal = pile_link(pile, &press, 0, 1, at, x);
  drag.width = 3, drag.normal = normal, drag.friction = 0.5;
  pile_link(pile, &drag, 0, 1, at, x), pile_link(pile, &motor, 0, 1, at, x),
      pile_link(pile, &rope, 0, 1, at, x);
  pile_finish(pile, nothing);
  const double given[][8] = {{-1, 0, 3, 4, 9, 0, 6, 8},
                             {4, 0, 3, 4, -9, 3, 0, 4},
                             {100, 0, 3, 4, 1, 0, 0, 0}},
               kept[][8] = {
                   {0, 0, 0, 0, 3, 0, 3, 4}, {4, 0, 1.2, 1.6, -2, 3, 0, 4}, {100, 0, 3, 4, 1, 0, 0, 0}};
  for (size_t k = 0; k < FLO_COUNT_OF(given); ++k) {
    double lambda[8];
    memcpy(lambda, given[k], sizeof lambda);
    flo_rows_project(&pile->rows, 1, lambda);
    for (int n = 0; n < 8; ++n) assert_close(lambda[n], kept[k][n], 1e-15);
  }
  pile_destroy(pile);
}

static void test_the_residual_is_zero_at_a_solution_only(void **state) {
  (void)state;
  Pile *pile = pile_create();
  pile_add_cube(pile, 0, 0, 0, -0.5), pile_add_cube(pile, 2, 0, 0, 0.5);
  pile_touch(pile, 1, 0, nothing, (double[]){0, 0, 1}, 0.5);
  pile_finish(pile, (double[]){0, 0, -3});
  assert_close(flo_rows_residual(&pile->rows, 1, pile->velocities, pile->lambda), 3, 1e-12);
  pile->lambda[0] = 6;
  flo_rows_gather(&pile->rows, 1, pile->velocities, pile->lambda, pile->velocities);
  assert_close(flo_rows_residual(&pile->rows, 1, pile->velocities, pile->lambda), 0, 1e-12);
  pile->velocities[8] += 0.1; // presses, and moves apart
  assert_close(flo_rows_residual(&pile->rows, 1, pile->velocities, pile->lambda), 0.1, 1e-12);
  pile_destroy(pile);
}

// ---- Orders ----

static void assert_lists_hold_everything_once(const FloRows *rows) {
  unsigned char *seen = calloc(rows->n_rows + rows->n_blocks, 1);
  for (size_t k = 0; k < rows->n_rows; ++k) seen[rows->colour_rows[k]]++;
  for (size_t k = 0; k < rows->n_rows; ++k) assert_int_equal(seen[k], 1);
  for (size_t k = 0; k < rows->n_blocks; ++k) seen[rows->n_rows + rows->node_blocks[k]]++;
  for (size_t k = 0; k < rows->n_blocks; ++k) assert_int_equal(seen[rows->n_rows + k], 1);
  free(seen);
}

static void assert_colours_are_valid(const Pile *pile) {
  const FloRows *rows = &pile->rows;
  uint32_t *last = calloc(pile->n_nodes, sizeof *last); // the row + 1 of the present colour that has the node
  for (size_t colour = 0; colour < rows->n_colours; ++colour) {
    assert_true(rows->colour_begin[colour] < rows->colour_begin[colour + 1]); // none is empty
    memset(last, 0, pile->n_nodes * sizeof *last);
    for (uint32_t n = rows->colour_begin[colour]; n < rows->colour_begin[colour + 1]; ++n) {
      const FloRow *row = &rows->rows[rows->colour_rows[n]];
      assert_int_equal(row->colour, colour);
      if (row->def.normal != FLO_NO_ROW) assert_true(rows->rows[row->def.normal].colour != colour);
      for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k) {
        uint32_t node = rows->blocks[k].node;
        if (pile->nodes[node].mass == 0) continue;
        assert_int_equal(last[node], 0);
        last[node] = rows->colour_rows[n] + 1;
      }
    }
  }
  assert_int_equal(rows->colour_begin[rows->n_colours], rows->n_rows);
  assert_lists_hold_everything_once(rows);
  free(last);
}

static void test_rows_of_a_colour_share_no_node_that_moves(void **state) {
  (void)state;
  const struct {
    uint32_t n_nodes;
    int n_rows;
  } sizes[] = {{1, 1}, {2, 10}, {5, 700}, {100, 40}, {2000, 5000}}; // some have more than 64 colours
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k) {
    Pile *pile = make_tangle(4 + k, sizes[k].n_nodes, sizes[k].n_rows);
    assert_colours_are_valid(pile);
    pile_destroy(pile);
  }
}

static void test_chains_need_few_colours_and_walls_none(void **state) {
  (void)state;
  enum { N = 500 };
  Pile *pile = pile_create();
  FloRowDef def = flo_default_row_def();
  const double x[3] = {1, 0, 0};
  for (int k = 0; k < N; ++k) pile_add_cube(pile, 1, k, 0, 0);
  for (uint32_t k = 0; k + 1 < N; ++k) pile_link(pile, &def, k, k + 1, (double[]){k + 0.5, 0, 0}, x);
  pile_finish(pile, nothing);
  assert_colours_are_valid(pile);
  assert_int_equal(pile->rows.n_colours, 2);
  // Every cube of its own on one floor.
  flo_rows_clear(&pile->rows);
  uint32_t floor = pile_add_cube(pile, 0, 0, 0, -1);
  for (uint32_t k = 0; k < N; ++k) pile_link(pile, &def, k, floor, nothing, x);
  pile_finish(pile, nothing);
  assert_colours_are_valid(pile);
  assert_int_equal(pile->rows.n_colours, 1);
  pile_destroy(pile);
}

static void test_blocks_of_a_node_keep_the_order_of_the_rows(void **state) {
  (void)state;
  Pile *pile = make_tangle(9, 20, 400);
  const FloRows *rows = &pile->rows;
  for (size_t node = 0; node < 20; ++node)
    for (uint32_t k = rows->node_begin[node]; k < rows->node_begin[node + 1]; ++k) {
      assert_int_equal(rows->blocks[rows->node_blocks[k]].node, node);
      if (k > rows->node_begin[node]) assert_true(rows->node_blocks[k] > rows->node_blocks[k - 1]);
    }
  pile_destroy(pile);
}

// ---- Memory ----

static FloStatus build(FloRows *rows, const FloNode *nodes, FloError *error) {
  const double j[6] = {1, 0, 0, 0, 0, 0};
  FloRowDef def = flo_default_row_def();
  for (int k = 0; k < 300; ++k) {
    FLO_TRY(flo_rows_add(rows, &def, error));
    FLO_TRY(flo_rows_add_block(rows, 0, j, error));
    FLO_TRY(flo_rows_add_block(rows, 1, j, error));
  }
  return flo_rows_finish(rows, nodes, 2, 1, error);
}

static void test_the_next_step_and_its_solution_allocate_nothing(void **state) {
  (void)state;
  CountingAllocator counting = {0};
  FloAllocator allocator = counting_allocator(&counting);
  FloMemory memory;
  FloRows rows;
  FloError error;
  FloNode nodes[2] = {{.inverse_mass = {1, 1, 1}}, {.inverse_mass = {2, 2, 2}}};
  flo_memory_init(&memory, &allocator);
  flo_rows_init(&rows, &memory);
  assert_ok(build(&rows, nodes, &error), &error);
  size_t n_calls = counting.n_calls;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    double lambda[300] = {0}, velocities[12] = {1};
    FloNncgLimits limits = {.max_iterations = 10, .is_conjugate = solver % 2};
    flo_rows_clear(&rows);
    assert_ok(build(&rows, nodes, &error), &error);
    (solver < 2 ? flo_jacobi : flo_gauss_seidel)(&rows, 1, &limits, lambda, velocities);
  }
  assert_int_equal(counting.n_calls, n_calls);
  flo_rows_free(&rows);
  assert_true(counting.n_blocks == 0 && counting.n_mismatches == 0);
}

static void test_a_lack_of_memory_is_told(void **state) {
  (void)state;
  size_t n_failed = 0;
  FloStatus status = FLO_NO_MEMORY;
  for (size_t at = 1; status != FLO_OK; ++at) {
    CountingAllocator counting = {.fail_at = at};
    FloAllocator allocator = counting_allocator(&counting);
    FloMemory memory;
    FloRows rows;
    FloError error;
    FloNode nodes[2] = {{.inverse_mass = {1, 1, 1}}, {.inverse_mass = {2, 2, 2}}};
    flo_memory_init(&memory, &allocator);
    flo_rows_init(&rows, &memory);
    status = build(&rows, nodes, &error);
    if (status != FLO_OK) assert_int_equal(status, FLO_NO_MEMORY), n_failed++;
    flo_rows_free(&rows);
    assert_int_equal(counting.n_blocks, 0);
  }
  assert_true(n_failed > 8);
}

static void test_no_rows_are_no_trouble(void **state) {
  (void)state;
  for (int solver = 0; solver < N_SOLVERS; ++solver) {
    Pile *pile = pile_create();
    pile_add_cube(pile, 1, 0, 0, 0);
    pile_finish(pile, (double[]){0, 0, -1});
    FloSolveReport report = pile_solve(pile, solver);
    assert_true(report.residual == 0 && pile->velocities[2] == -1);
    pile_destroy(pile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gathering_is_pushing),
      cmocka_unit_test(test_responses_are_those_of_the_matrix),
      cmocka_unit_test(test_inverse_masses_may_be_any_matrix),
      cmocka_unit_test(test_blocks_of_the_same_node_are_added_up),
      cmocka_unit_test(test_a_point_moves_and_slides_as_it_should),
      cmocka_unit_test(test_multipliers_are_brought_within_their_bounds),
      cmocka_unit_test(test_the_residual_is_zero_at_a_solution_only),
      cmocka_unit_test(test_rows_of_a_colour_share_no_node_that_moves),
      cmocka_unit_test(test_chains_need_few_colours_and_walls_none),
      cmocka_unit_test(test_blocks_of_a_node_keep_the_order_of_the_rows),
      cmocka_unit_test(test_the_next_step_and_its_solution_allocate_nothing),
      cmocka_unit_test(test_a_lack_of_memory_is_told),
      cmocka_unit_test(test_no_rows_are_no_trouble),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
