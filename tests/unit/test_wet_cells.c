// Wide cells near fluid: none that fluid can reach is missed, and far ones are dry.
#include "sph/wet_cells.h"
#include "support/check.h"

static FloMemory memory;

static FloWetCells make(FloDomain domain, double width) {
  flo_memory_init(&memory, NULL);
  FloWetCells cells = {.memory = &memory};
  flo_wet_cells_begin(&cells, &domain, width);
  return cells;
}

static void add(FloWetCells *cells, double x, double y, double z) {
  FloError error;
  assert_ok(flo_wet_cells_add(cells, (const double[3]){x, y, z}, &error), &error);
}

static bool is_near(const FloWetCells *cells, double x, double y, double z) {
  const double point[3] = {x, y, z};
  return flo_wet_cells_are_near(cells, point, point);
}

// Points nearer than a cell are always near, points three cells away never.
static void test_near_and_far(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWetCells cells = make((FloDomain){.dim = dim}, 0.5);
    assert_false(is_near(&cells, 0, 0, 0)); // no fluid at all
    for (int k = 0; k < 300; ++k) add(&cells, 40.0 * k, -17.0 * k, dim == 3 ? 13.0 * k : 0);
    for (int k = 0; k < 300; ++k) {
      const double x = 40.0 * k, y = -17.0 * k, z = dim == 3 ? 13.0 * k : 0;
      for (int side = -1; side <= 1; side += 2) {
        assert_true(is_near(&cells, x + 0.49 * side, y - 0.49 * side, dim == 3 ? z + 0.49 * side : 0));
        assert_false(is_near(&cells, x + 1.5 * side, y, z));
        assert_false(is_near(&cells, x, y - 1.5 * side, z));
      }
    }
    flo_wet_cells_free(&cells);
  }
}

static void test_boxes(void **state) {
  (void)state;
  FloWetCells cells = make((FloDomain){.dim = 3}, 1);
  add(&cells, 5.5, 5.5, 5.5);
  assert_true(flo_wet_cells_are_near(&cells, (const double[3]){0, 5, 5}, (const double[3]){20, 6, 6}));
  assert_false(flo_wet_cells_are_near(&cells, (const double[3]){0, 5, 8}, (const double[3]){20, 6, 9}));
  // A box of too many cells to look at counts as near.
  assert_true(
      flo_wet_cells_are_near(&cells, (const double[3]){10, 10, 10}, (const double[3]){1e9, 1e9, 1e9}));
  flo_wet_cells_free(&cells);
}

static void test_periodic_axis(void **state) {
  (void)state;
  const double periods[] = {0.3, 1.7, 10.4};
  for (size_t k = 0; k < FLO_COUNT_OF(periods); ++k) {
    const double period = periods[k];
    FloWetCells cells =
        make((FloDomain){.dim = 2, .periodic = {true}, .low = {-1}, .high = {-1 + period}}, 1);
    add(&cells, -1 + 0.01, 0, 0);
    assert_true(is_near(&cells, -1 + period - 0.01, 0, 0));
    assert_true(is_near(&cells, -1 + 5 * period + 0.02, 0.5, 0));
    assert_true(is_near(&cells, -1 - 0.02, 0, 0));
    assert_false(is_near(&cells, -1, 3, 0));
    if (period > 6) assert_false(is_near(&cells, -1 + period / 2, 0, 0));
    flo_wet_cells_free(&cells);
  }
}

// Emptied and filled again, and at places that no integer can number.
static void test_begin_again_and_far_away(void **state) {
  (void)state;
  FloWetCells cells = make((FloDomain){.dim = 3}, 0.1);
  add(&cells, 1, 1, 1);
  flo_wet_cells_begin(&cells, &(FloDomain){.dim = 3}, 0.1);
  assert_false(is_near(&cells, 1, 1, 1));
  add(&cells, 1e30, -1e30, 0);
  add(&cells, NAN, 0, 0);
  assert_true(is_near(&cells, 1e30, -1e30, 0));
  assert_false(is_near(&cells, 0, 0, 0));
  flo_wet_cells_free(&cells);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_near_and_far), cmocka_unit_test(test_boxes),
                                     cmocka_unit_test(test_periodic_axis),
                                     cmocka_unit_test(test_begin_again_and_far_away)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
