// The grid: every pair within reach is found once, wherever the particles are; sorting loses nothing.
#include "sph/grid.h"
#include "support/cloud.h"
#include "support/fields.h"
#include "support/reference.h"

#define SUPPORT 0.04

// ---- Which pairs the walker finds ----

// How often each particle stands in the walker's ranges.
static void count_visits(const Cloud *cloud, const FloWalker *walker, unsigned char *visits) {
  memset(visits, 0, cloud->particles.count);
  for (int range = 0; range < walker->n_ranges; ++range) {
    assert_true(walker->begin[range] < walker->end[range]);
    for (uint32_t k = walker->begin[range]; k < walker->end[range]; ++k) visits[cloud->grid.order[k]]++;
  }
}

static void check_visits_of(const Cloud *cloud, const double period[3], size_t i,
                            const unsigned char *visits) {
  double here[3], there[3], d[3];
  cloud_position(cloud, i, here);
  for (size_t j = 0; j < cloud->particles.count; ++j) {
    assert_true(visits[j] <= 1);
    cloud_position(cloud, j, there);
    reference_difference(here, there, period, d);
    // The last ten-millionth of a support weighs nothing, and may be lost to rounding far from the origin.
    bool is_near = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) < SUPPORT * (1 - 1e-7);
    if (is_near && !visits[j]) fail_msg("particle %zu does not find its neighbour %zu", i, j);
  }
}

// Moves one walker through the particles in the given order, so that what it remembers is put to the test.
static void check_walk(const Cloud *cloud, const double period[3], const uint32_t *order) {
  FloWalker walker = {0};
  unsigned char *visits = malloc(cloud->particles.count);
  for (size_t k = 0; k < cloud->particles.count; ++k) {
    size_t i = order ? order[k] : k;
    flo_walker_move(&walker, &cloud->grid, cloud->grid.cell + 3 * i);
    count_visits(cloud, &walker, visits);
    check_visits_of(cloud, period, i, visits);
  }
  free(visits);
}

static void check_box(const CloudBox *box, size_t n) {
  Random random = {n};
  Cloud cloud;
  FloLattice lattice = box_lattice(box);
  double period[3];
  box_period(box, period);
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, box, &random, n);
  cloud_build(&cloud, 2);
  check_walk(&cloud, period, NULL);
  check_walk(&cloud, period, cloud.grid.order);
  cloud_free(&cloud);
}

static CloudBox cube(int dim, double centre, double edge) {
  CloudBox box = {.dim = dim, .support = SUPPORT};
  for (int axis = 0; axis < dim; ++axis)
    box.low[axis] = centre - edge / 2, box.high[axis] = centre + edge / 2;
  return box;
}

static void test_finds_every_pair_once(void **state) {
  (void)state;
  const double centres[] = {0, 0.05, -3.3, 1e4, -1e4};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(centres); ++k) {
      CloudBox box = cube(dim, centres[k], 0.25);
      check_box(&box, 400);
    }
}

static void test_finds_every_pair_once_across_periodic_faces(void **state) {
  (void)state;
  const double edges[] = {3 * SUPPORT, 3.2 * SUPPORT, 4 * SUPPORT, 7.77 * SUPPORT, 33 * SUPPORT};
  for (int dim = 2; dim <= 3; ++dim)
    for (unsigned axes = 1; axes < 1u << dim; ++axes)
      for (size_t k = 0; k < FLO_COUNT_OF(edges); ++k) {
        CloudBox box = cube(dim, k % 2 ? -2.34 : 0.5, edges[k]);
        for (int axis = 0; axis < dim; ++axis) box.periodic[axis] = axes >> axis & 1;
        check_box(&box, 200);
      }
}

static void test_finds_every_pair_in_a_long_thin_domain(void **state) {
  (void)state;
  CloudBox box = {.dim = 3, .support = SUPPORT, .low = {-50, 0, 0}, .high = {50, 0.1, 20}};
  check_box(&box, 500);
  box.periodic[0] = true;
  check_box(&box, 500);
}

// Positions on the borders of cells, and the next doubles below and above.
static void test_finds_every_pair_on_cell_borders(void **state) {
  (void)state;
  for (int is_periodic = 0; is_periodic <= 1; ++is_periodic) {
    CloudBox box = cube(2, 0, 6 * SUPPORT);
    box.periodic[0] = box.periodic[1] = is_periodic;
    FloLattice lattice = box_lattice(&box);
    Cloud cloud;
    double period[3];
    box_period(&box, period);
    cloud_init(&cloud, FLO_SET_FLUID, &lattice);
    for (int j = -3; j < 3; ++j)
      for (int i = -6; i < 6; ++i) {
        double x = i * SUPPORT / 2, y = j * SUPPORT;
        cloud_add(&cloud, x, y, 0);
        cloud_add(&cloud, nextafter(x, 1), nextafter(y, -1), 0);
        cloud_add(&cloud, nextafter(x, -1), nextafter(y, 1), 0);
      }
    cloud_build(&cloud, 1);
    check_walk(&cloud, period, NULL);
    cloud_free(&cloud);
  }
}

static void test_finds_coincident_particles(void **state) {
  (void)state;
  CloudBox box = cube(3, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  for (int k = 0; k < 100; ++k) cloud_add(&cloud, 0.1, -0.2, 0.3);
  cloud_build(&cloud, 2);
  assert_int_equal(cloud.grid.n_cells, 1);
  check_walk(&cloud, (double[3]){0}, NULL);
  cloud_free(&cloud);
}

static void test_one_particle_and_none(void **state) {
  (void)state;
  CloudBox box = cube(3, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Cloud cloud;
  FloWalker walker = {0};
  const int32_t cell[3] = {0};
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_build(&cloud, 2);
  assert_null(flo_grid_find_row(&cloud.grid, 0, 0));
  flo_walker_move(&walker, &cloud.grid, cell);
  assert_int_equal(walker.n_ranges, 0);
  cloud_add(&cloud, 0.01, 0.01, 0.01);
  cloud_build(&cloud, 2);
  check_walk(&cloud, (double[3]){0}, NULL);
  cloud_free(&cloud);
}

static void test_walking_past_the_occupied_cells_finds_nothing(void **state) {
  (void)state;
  CloudBox box = cube(3, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_add(&cloud, 0.01, 0.01, 0.01);
  cloud_build(&cloud, 1);
  for (int axis = 0; axis < 3; ++axis)
    for (int side = -1; side <= 1; side += 2) {
      FloWalker walker = {0};
      int32_t cell[3] = {0};
      cell[axis] = side * 5;
      flo_walker_move(&walker, &cloud.grid, cell);
      assert_int_equal(walker.n_ranges, 0);
    }
  cloud_free(&cloud);
}

// ---- Structure ----

static void check_structure(const Cloud *cloud) {
  const FloGrid *grid = &cloud->grid;
  unsigned char *seen = calloc(grid->count + 1, 1);
  assert_int_equal(grid->cell_begin[0], 0);
  assert_int_equal(grid->cell_begin[grid->n_cells], grid->count);
  for (size_t c = 0; c < grid->n_cells; ++c) {
    assert_true(grid->cell_begin[c] < grid->cell_begin[c + 1]);
    const int32_t *first = grid->cell + 3 * (size_t)grid->order[grid->cell_begin[c]];
    assert_int_equal(grid->cell_x[c], first[0]);
    for (uint32_t k = grid->cell_begin[c]; k < grid->cell_begin[c + 1]; ++k) {
      size_t i = grid->order[k];
      assert_int_equal(seen[i]++, 0);
      assert_memory_equal(grid->cell + 3 * i, first, 3 * sizeof *first);
      assert_int_equal(grid->sorted_x[k], grid->fixed[4 * i]);
      assert_int_equal(grid->sorted_y[k], grid->fixed[4 * i + 1]);
      assert_int_equal(grid->sorted_z[k], grid->fixed[4 * i + 2]);
    }
  }
  free(seen);
}

static void test_every_particle_is_in_its_own_cell(void **state) {
  (void)state;
  CloudBox box = cube(3, -0.1, 0.7);
  FloLattice lattice = box_lattice(&box);
  Random random = {4};
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  const size_t more[] = {10, 5000, 1};
  for (size_t k = 0; k < FLO_COUNT_OF(more); ++k) {
    cloud_strew(&cloud, &box, &random, more[k]);
    cloud_build(&cloud, 2);
    assert_int_equal(cloud.grid.count, cloud.particles.count);
    check_structure(&cloud);
    for (size_t i = 0; i < cloud.particles.count; ++i) {
      double x[3];
      int32_t cell[3];
      cloud_position(&cloud, i, x);
      flo_grid_cell_of(&lattice, x, cell);
      assert_memory_equal(cloud.grid.cell + 3 * i, cell, sizeof cell);
    }
  }
  cloud_free(&cloud);
}

static void test_weights_are_carried_along(void **state) {
  (void)state;
  CloudBox box = cube(3, 0, 0.3);
  FloLattice lattice = box_lattice(&box);
  Random random = {5};
  FloError error;
  Cloud cloud;
  float weights[100], found;
  for (int k = 0; k < 100; ++k) weights[k] = (float)k * 0.37f;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, 100);
  assert_ok(flo_grid_build(&cloud.grid, &cloud.particles, weights, 1, &error), &error);
  for (size_t i = 0; i < 100; ++i) {
    memcpy(&found, cloud.grid.fixed + 4 * i + 3, sizeof found);
    assert_true(found == weights[i]);
  }
  cloud_build(&cloud, 1);
  for (size_t i = 0; i < 100; ++i) {
    memcpy(&found, cloud.grid.fixed + 4 * i + 3, sizeof found);
    assert_true(found == 1);
  }
  cloud_free(&cloud);
}

static void test_any_number_of_threads_builds_the_same_grid(void **state) {
  (void)state;
  CloudBox box = cube(3, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Random random = {6};
  Cloud cloud;
  enum { N = 20000 };
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, N);
  cloud_build(&cloud, 1);
  uint32_t *order = malloc(N * sizeof *order);
  size_t n_cells = cloud.grid.n_cells, n_rows = cloud.grid.n_rows;
  memcpy(order, cloud.grid.order, N * sizeof *order);
  for (int threads = 2; threads <= 5; ++threads) {
    cloud_build(&cloud, threads);
    assert_int_equal(cloud.grid.n_cells, n_cells);
    assert_int_equal(cloud.grid.n_rows, n_rows);
    assert_memory_equal(cloud.grid.order, order, N * sizeof *order);
  }
  free(order);
  cloud_free(&cloud);
}

// ---- Lost particles ----

static void test_a_lost_particle_is_named(void **state) {
  (void)state;
  const double places[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30};
  CloudBox box = cube(3, 0, 0.5);
  FloLattice lattice = box_lattice(&box);
  Random random = {8};
  FloError error;
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, 5000);
  double *coordinates[3] = {cloud.particles.x, cloud.particles.y, cloud.particles.z};
  for (size_t place = 0; place < FLO_COUNT_OF(places); ++place)
    for (int axis = 0; axis < 3; ++axis) {
      size_t i = random_below(&random, 5000);
      char name[32];
      snprintf(name, sizeof name, "particle %u ", cloud.particles.id[i]);
      double kept = coordinates[axis][i];
      coordinates[axis][i] = places[place];
      assert_fails(flo_grid_build(&cloud.grid, &cloud.particles, NULL, 2, &error), FLO_DIVERGED, &error,
                   name);
      coordinates[axis][i] = kept;
    }
  cloud_build(&cloud, 2);
  check_structure(&cloud);
  cloud_free(&cloud);
}

static void test_the_first_of_several_lost_particles_is_named(void **state) {
  (void)state;
  CloudBox box = cube(2, 0, 0.5);
  FloLattice lattice = box_lattice(&box);
  Random random = {9};
  FloError error;
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, 5000);
  cloud.particles.y[4321] = NAN;
  cloud.particles.x[2222] = 1e30;
  cloud.particles.x[2223] = NAN;
  for (int threads = 1; threads <= 4; ++threads)
    assert_fails(flo_grid_build(&cloud.grid, &cloud.particles, NULL, threads, &error), FLO_DIVERGED, &error,
                 "particle 3222 ");
  cloud_free(&cloud);
}

static void test_a_lost_particle_on_a_periodic_axis_is_named(void **state) {
  (void)state;
  CloudBox box = cube(2, 0, 0.5);
  box.periodic[0] = true;
  FloLattice lattice = box_lattice(&box);
  FloError error;
  Cloud cloud;
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_add(&cloud, 0.1, 0.1, 0);
  cloud_add(&cloud, NAN, 0.1, 0);
  assert_fails(flo_grid_build(&cloud.grid, &cloud.particles, NULL, 1, &error), FLO_DIVERGED, &error, "1001");
  cloud_free(&cloud);
}

// ---- Sorting the store ----

static void check_sorting(FloSet set, size_t n) {
  CloudBox box = cube(3, 0.2, 0.6);
  FloLattice lattice = box_lattice(&box);
  Random random = {n};
  FloError error;
  Cloud cloud;
  cloud_init(&cloud, set, &lattice);
  cloud_strew(&cloud, &box, &random, n);
  brand_fields(&cloud.particles, "x y z");
  double *x = malloc(n * sizeof *x);
  memcpy(x, cloud.particles.x, n * sizeof *x);
  cloud_build(&cloud, 2);
  assert_ok(flo_grid_sort_particles(&cloud.grid, &cloud.particles, 2, &error), &error);
  check_brands(&cloud.particles, "x y z");
  for (size_t i = 0; i < n; ++i)
    assert_true(cloud.particles.x[i] == x[cloud.particles.id[i] - CLOUD_FIRST_ID]);
  free(x);
  cloud_free(&cloud);
}

static void test_sorting_keeps_every_field_with_its_id(void **state) {
  (void)state;
  const size_t counts[] = {2, 17, 3000, 20000};
  for (int set = 0; set < FLO_SET_COUNT; ++set)
    for (size_t k = 0; k < FLO_COUNT_OF(counts); ++k) check_sorting((FloSet)set, counts[k]);
}

static void test_the_grid_of_sorted_particles_is_as_if_built_anew(void **state) {
  (void)state;
  enum { N = 12345 };
  CloudBox box = cube(3, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Random random = {10};
  FloError error;
  Cloud cloud, fresh;
  cloud_init(&fresh, FLO_SET_FLUID, &lattice);
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, N);
  cloud_build(&cloud, 2);
  assert_true(cloud.grid.n_descents > 0);
  assert_ok(flo_grid_sort_particles(&cloud.grid, &cloud.particles, 2, &error), &error);
  assert_int_equal(cloud.grid.n_descents, 0);
  check_structure(&cloud);
  assert_ok(flo_grid_build(&fresh.grid, &cloud.particles, NULL, 1, &error), &error);
  assert_int_equal(fresh.grid.n_descents, 0);
  assert_int_equal(fresh.grid.n_cells, cloud.grid.n_cells);
  assert_memory_equal(fresh.grid.order, cloud.grid.order, N * 4);
  assert_memory_equal(fresh.grid.fixed, cloud.grid.fixed, N * 16);
  assert_memory_equal(fresh.grid.cell, cloud.grid.cell, N * 12);
  cloud_free(&fresh);
  cloud_free(&cloud);
}

static void test_sorting_twice_changes_nothing_more(void **state) {
  (void)state;
  enum { N = 2000 };
  CloudBox box = cube(2, 0, 1);
  FloLattice lattice = box_lattice(&box);
  Random random = {11};
  FloError error;
  Cloud cloud;
  uint32_t ids[N];
  cloud_init(&cloud, FLO_SET_FLUID, &lattice);
  cloud_strew(&cloud, &box, &random, N);
  cloud_build(&cloud, 1);
  assert_ok(flo_grid_sort_particles(&cloud.grid, &cloud.particles, 1, &error), &error);
  memcpy(ids, cloud.particles.id, sizeof ids);
  cloud_build(&cloud, 3);
  assert_ok(flo_grid_sort_particles(&cloud.grid, &cloud.particles, 3, &error), &error);
  assert_memory_equal(cloud.particles.id, ids, sizeof ids);
  cloud_free(&cloud);
}

// ---- Lattices ----

static void test_a_period_below_three_supports_is_refused(void **state) {
  (void)state;
  for (int axis = 0; axis < 3; ++axis) {
    FloError error;
    FloLattice lattice;
    double low[3] = {0}, high[3] = {0};
    char word[16];
    snprintf(word, sizeof word, "along %c", "xyz"[axis]);
    high[axis] = 2.99 * SUPPORT;
    assert_refused(flo_lattice_init(&lattice, 3, SUPPORT, low, high, &error), &error, word);
    // Three times the support when it is rounded down, two whole supports when divided.
    high[axis] = 0.0162;
    assert_refused(flo_lattice_init(&lattice, 3, 2 * 0.0027, low, high, &error), &error, word);
    high[axis] = 3.01 * SUPPORT;
    assert_ok(flo_lattice_init(&lattice, 3, SUPPORT, low, high, &error), &error);
  }
}

static void test_cells_are_as_wide_as_lists_reach(void **state) {
  (void)state;
  FloError error;
  FloLattice lattice;
  const double low[3] = {0}, high[3] = {0, 3.1 * SUPPORT, 10 * SUPPORT};
  assert_ok(flo_lattice_init(&lattice, 3, SUPPORT, low, high, &error), &error);
  const FloLattice before = lattice;
  assert_true(flo_lattice_set_reach(&lattice, 1.03));
  assert_close(lattice.cell[0], 1.03 * SUPPORT, 1e-12);
  assert_close(lattice.cell[1], 3.1 / 3 * SUPPORT, 1e-12);
  assert_close(lattice.cell[2], 10.0 / 9 * SUPPORT, 1e-12);
  assert_memory_equal(lattice.to_fixed, before.to_fixed, sizeof before.to_fixed);
  // Three cells of this width do not fit along y.
  FloLattice unchanged = lattice;
  assert_false(flo_lattice_set_reach(&lattice, 1.05));
  assert_memory_equal(&lattice, &unchanged, sizeof lattice);
}

// The fixed-point difference of two points is their distance, by the shortest way around a period.
static void test_fixed_point_differences_are_distances(void **state) {
  (void)state;
  Random random = {12};
  const double edges[] = {0, 3 * SUPPORT, 16 * SUPPORT, 16.5 * SUPPORT, 1000.1 * SUPPORT};
  for (size_t e = 0; e < FLO_COUNT_OF(edges); ++e) {
    double low[3] = {-7.7}, high[3] = {-7.7 + edges[e]}, period[3] = {edges[e]};
    FloLattice lattice;
    FloError error;
    assert_ok(flo_lattice_init(&lattice, 2, SUPPORT, low, high, &error), &error);
    for (int k = 0; k < 1000; ++k) {
      double a[3] = {random_between(&random, -7.7, edges[e] - 7.7)}, d[3];
      double b[3] = {a[0] + random_between(&random, -SUPPORT, SUPPORT) + (k % 3 - 1) * edges[e]};
      reference_difference(a, b, period, d);
      uint32_t at = (uint32_t)flo_grid_fixed_point(&lattice, 0, a[0]);
      int32_t difference = (int32_t)(at - (uint32_t)flo_grid_fixed_point(&lattice, 0, b[0]));
      assert_close(difference / lattice.to_fixed[0], d[0], SUPPORT * 1e-8);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_every_pair_once),
      cmocka_unit_test(test_finds_every_pair_once_across_periodic_faces),
      cmocka_unit_test(test_finds_every_pair_in_a_long_thin_domain),
      cmocka_unit_test(test_finds_every_pair_on_cell_borders),
      cmocka_unit_test(test_finds_coincident_particles),
      cmocka_unit_test(test_one_particle_and_none),
      cmocka_unit_test(test_walking_past_the_occupied_cells_finds_nothing),
      cmocka_unit_test(test_every_particle_is_in_its_own_cell),
      cmocka_unit_test(test_weights_are_carried_along),
      cmocka_unit_test(test_any_number_of_threads_builds_the_same_grid),
      cmocka_unit_test(test_a_lost_particle_is_named),
      cmocka_unit_test(test_the_first_of_several_lost_particles_is_named),
      cmocka_unit_test(test_a_lost_particle_on_a_periodic_axis_is_named),
      cmocka_unit_test(test_sorting_keeps_every_field_with_its_id),
      cmocka_unit_test(test_the_grid_of_sorted_particles_is_as_if_built_anew),
      cmocka_unit_test(test_sorting_twice_changes_nothing_more),
      cmocka_unit_test(test_a_period_below_three_supports_is_refused),
      cmocka_unit_test(test_cells_are_as_wide_as_lists_reach),
      cmocka_unit_test(test_fixed_point_differences_are_distances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
