// The sweeps of implicit methods (gradient, divergence, square, approach, stress, change) against sums over
// all pairs in double precision, for every instruction set this machine can run.
#include "sph/passes.h"
#include "support/cloud.h"
#include "support/reference.h"

#define SUPPORT 0.04
#define STEP    1e-3 // in which no pair moves by more than a fifth of a support

enum { MARK = 0x7fc01234 }; // a NaN that no sum produces: rows that nobody wrote

typedef struct Case {
  CloudBox box;
  FloLattice lattice;
  Cloud rows, other;
  const Cloud *columns; // rows or other
  FloPairs pairs;
  ReferenceKernel kernel;
  uint32_t *groups;                // per row, or NULL
  float *numbers, *quads;          // per column
  float *row_quads, *approach;     // per row: velocity; per block: square of the highest speed of approach
  float *volumes, *row_numbers;    // per column, per row: for stresses
  float *gradient, *flux, *square; // per row: what the library says
  float *stress, *change;          // the same
} Case;

// What it should say for one row, and how large the sums of magnitudes are that rounding works on.
typedef struct Exact {
  double gradient[3], flux, square, stress, change;
  double gradient_size, flux_size, square_size, stress_size, change_size;
} Exact;

// ---- Making ----

static void case_init(Case *c, int dim, FloKernel kernel, bool is_periodic) {
  *c = (Case){.box = {.dim = dim, .support = SUPPORT}, .kernel = {kernel, dim, SUPPORT}};
  for (int axis = 0; axis < dim; ++axis) {
    c->box.high[axis] = (dim == 2 ? 8 : 4) * SUPPORT;
    c->box.periodic[axis] = is_periodic;
  }
  c->lattice = box_lattice(&c->box);
  cloud_init(&c->rows, FLO_SET_FLUID, &c->lattice);
  cloud_init(&c->other, FLO_SET_BOUNDARY, &c->lattice);
  flo_pairs_init(&c->pairs, &c->rows.memory);
  c->columns = &c->rows;
}

static void case_free(Case *c) {
  void *const arrays[] = {c->groups, c->numbers,   c->quads,    c->gradient, c->flux,        c->square,
                          c->stress, c->row_quads, c->approach, c->volumes,  c->row_numbers, c->change};
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k) free(arrays[k]);
  flo_pairs_free(&c->pairs);
  cloud_free(&c->rows);
  cloud_free(&c->other);
}

static void build(Case *c) {
  FloError error;
  FloPairsSpec spec = {.rows = &c->rows.grid,
                       .columns = &c->columns->grid,
                       .kernel = flo_kernel_form(c->kernel.kernel, c->kernel.dim, SUPPORT),
                       .reach = 1,
                       .groups = c->groups,
                       .threads = 2};
  cloud_build(&c->rows, 2);
  if (c->columns != &c->rows) cloud_build(&c->other, 2);
  assert_ok(flo_pairs_build(&c->pairs, &spec, &error), &error);
}

static float *marked(size_t n) {
  uint32_t *bits = malloc((n + 1) * sizeof *bits); // never empty, and one beyond to see overruns
  for (size_t k = 0; k <= n; ++k) bits[k] = MARK;
  return (float *)bits;
}

static bool is_marked(const float *value) {
  uint32_t bits;
  memcpy(&bits, value, sizeof bits);
  return bits == MARK;
}

static void invent_columns(Case *c, Random *random) {
  size_t n = c->columns->particles.count;
  c->numbers = malloc((n + 1) * sizeof(float)), c->quads = malloc((4 * n + 1) * sizeof(float));
  for (size_t j = 0; j < n; ++j) {
    c->numbers[j] = (float)random_between(random, -3, 5);
    for (size_t k = 0; k < 4; ++k) c->quads[4 * j + k] = (float)random_between(random, -2, 2);
  }
  size_t n_rows = c->rows.particles.count;
  c->row_quads = malloc((4 * n_rows + 1) * sizeof(float));
  for (size_t k = 0; k < 4 * n_rows; ++k)
    c->row_quads[k] = c->columns == &c->rows ? c->quads[k] : (float)random_between(random, -2, 2);
  c->volumes = malloc((n + 1) * sizeof(float)), c->row_numbers = malloc((n_rows + 1) * sizeof(float));
  for (size_t j = 0; j < n; ++j)
    c->volumes[j] = c->columns == &c->rows ? 0.7f : (float)random_between(random, 0.5, 2);
  for (size_t i = 0; i < n_rows; ++i) c->row_numbers[i] = (float)random_between(random, -3, 5);
}

static void sweep_stress(Case *c, const FloPasses *passes) {
  size_t n = c->rows.particles.count, half = c->pairs.n_blocks / 2, end = c->pairs.n_blocks;
  bool is_same = c->columns == &c->rows;
  free(c->stress);
  c->stress = marked(n);
  for (size_t i = 0; i < n; ++i) c->stress[i] = 1; // it is added to
  const FloStress stress = {.pairs = &c->pairs,
                            .rows = &c->rows.grid,
                            .columns = &c->columns->grid,
                            .row_pressure = c->row_numbers,
                            .column_pressure = c->numbers,
                            .column_volume = is_same ? NULL : c->volumes,
                            .all_volume = 0.7f,
                            .sum = c->stress};
  passes->stress(&stress, 0, half), passes->stress(&stress, half, end);
}

static void sweep_change(Case *c, const FloPasses *passes) {
  size_t n = c->rows.particles.count, half = c->pairs.n_blocks / 2, end = c->pairs.n_blocks;
  free(c->change);
  c->change = marked(n);
  for (size_t i = 0; i < n; ++i) c->change[i] = 1; // it is added to
  const FloSumChange change = {.pairs = &c->pairs,
                               .rows = &c->rows.grid,
                               .columns = &c->columns->grid,
                               .kernel = flo_kernel_form(c->kernel.kernel, c->kernel.dim, SUPPORT),
                               .row_velocity = c->row_quads,
                               .column_velocity = c->quads,
                               .column_volume = c->columns == &c->rows ? NULL : c->volumes,
                               .all_volume = 0.7f,
                               .dt = STEP,
                               .sum = c->change};
  passes->sum_change(&change, 0, half), passes->sum_change(&change, half, end);
}

static void sweep(Case *c, const FloPasses *passes) {
  size_t n = c->rows.particles.count;
  free(c->gradient), free(c->flux), free(c->square), free(c->approach);
  c->gradient = marked(4 * n), c->flux = marked(n), c->square = marked(n);
  const FloSweep gradient = {.pairs = &c->pairs, .columns = c->numbers, .rows = c->gradient},
                 flux = {.pairs = &c->pairs, .columns = c->quads, .rows = c->flux},
                 square = {.pairs = &c->pairs, .columns = c->numbers, .rows = c->square};
  // In two parts, as threads do.
  size_t half = c->pairs.n_blocks / 2, end = c->pairs.n_blocks;
  passes->gradient(&gradient, 0, half), passes->gradient(&gradient, half, end);
  passes->divergence(&flux, 0, half), passes->divergence(&flux, half, end);
  passes->square(&square, 0, half), passes->square(&square, half, end);
  c->approach = calloc(end + 1, sizeof(float));
  const FloApproach approach = {.pairs = &c->pairs,
                                .rows = c->row_quads,
                                .columns = c->quads,
                                .unit = (float)pow(SUPPORT / 2, c->box.dim + 1),
                                .fastest = c->approach};
  passes->approach(&approach, 0, half), passes->approach(&approach, half, end);
  sweep_stress(c, passes);
  sweep_change(c, passes);
}

// ---- Brute force ----

// The change of W while the pair moves, by the gradient at half of the way.
static void add_change(const Case *c, size_t i, size_t j, const double d[3], Exact *sum) {
  double way[3], middle[3], dot = 0, r = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    way[axis] = STEP * (double)(c->row_quads[4 * i + axis] - c->quads[4 * j + axis]);
    middle[axis] = d[axis] + way[axis] / 2;
    dot += middle[axis] * way[axis], r += middle[axis] * middle[axis];
  }
  r = sqrt(r);
  double change = (double)c->volumes[j] * reference_w(&c->kernel, r).slope * dot / fmax(r, 1e-9 * SUPPORT);
  sum->change += change, sum->change_size += fabs(change);
}

static void add_pair(const Case *c, size_t i, size_t j, Exact *sum) {
  double a[3], b[3], d[3], period[3];
  if (c->columns == &c->rows && (i == j || (c->groups && c->groups[i] == c->groups[j]))) return;
  box_period(&c->box, period);
  cloud_position(&c->rows, i, a);
  cloud_position(c->columns, j, b);
  reference_difference(a, b, period, d);
  double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  if (r < SUPPORT) add_change(c, i, j, d, sum);
  if (r >= SUPPORT || r == 0) return;
  double slope = reference_w(&c->kernel, r).slope, q = (double)c->numbers[j], dot = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double g = slope * d[axis] / r;
    sum->gradient[axis] += q * g;
    dot += (double)c->quads[4 * j + (size_t)axis] * g;
  }
  sum->flux += dot, sum->square += q * slope * slope;
  sum->gradient_size += fabs(q * slope), sum->square_size += fabs(q) * slope * slope;
  sum->flux_size += 4 * fabs(slope);
  double both = (double)c->volumes[j] * (q + (double)c->row_numbers[i]);
  sum->stress += both * r * slope, sum->stress_size += fabs(both * r * slope);
}

// Gradients themselves are right to a few units of single precision times the steepest of the kernel.
static void check_row(const Case *c, size_t i) {
  Exact e = {0};
  for (size_t j = 0; j < c->columns->particles.count; ++j) add_pair(c, i, j, &e);
  double steepest = reference_steepest(&c->kernel), rounding = 2e-6;
  for (int axis = 0; axis < 3; ++axis)
    assert_close(c->gradient[4 * i + (size_t)axis], e.gradient[axis],
                 rounding * (e.gradient_size + 5 * steepest));
  assert_true(c->gradient[4 * i + 3] == 0);
  assert_close(c->flux[i], e.flux, rounding * (e.flux_size + 4 * steepest));
  assert_close(c->square[i], e.square, 2 * rounding * (e.square_size + 5 * steepest * steepest));
  assert_close(c->change[i], 1 + e.change, rounding * (1 + 2 * e.change_size + SUPPORT * steepest));
  assert_close(c->stress[i], 1 + e.stress, rounding * (1 + 2 * e.stress_size + 10 * SUPPORT * steepest));
}

// The highest speed at which row i approaches a column within `reach`.
static double approach_within(const Case *c, size_t i, double reach) {
  double fastest = 0, a[3], b[3], d[3], period[3];
  box_period(&c->box, period);
  cloud_position(&c->rows, i, a);
  for (size_t j = 0; j < c->columns->particles.count; ++j) {
    double along = 0;
    if (c->columns == &c->rows && (i == j || (c->groups && c->groups[i] == c->groups[j]))) continue;
    cloud_position(c->columns, j, b);
    reference_difference(a, b, period, d);
    double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (r >= reach || r == 0) continue;
    for (size_t axis = 0; axis < 3; ++axis)
      along -= (double)(c->row_quads[4 * i + axis] - c->quads[4 * j + axis]) * d[axis] / r;
    fastest = fmax(fastest, along);
  }
  return fastest;
}

// Near the end of the support, where the gradient vanishes, pairs may count or not.
static void check_approach(const Case *c) {
  size_t n = c->rows.particles.count;
  for (size_t block = 0; block < c->pairs.n_blocks; ++block) {
    double least = 0, most = 0, found = sqrt((double)c->approach[block]);
    for (size_t i = block * FLO_BLOCK; i < n && i < (block + 1) * FLO_BLOCK; ++i) {
      least = fmax(least, approach_within(c, i, 0.9 * SUPPORT));
      most = fmax(most, approach_within(c, i, 1.0001 * SUPPORT));
    }
    assert_true(found >= least - 1e-3 && found <= most + 1e-3);
  }
}

static void check_all(Case *c) {
  const FloPasses *const all[] = {flo_passes(), flo_passes_generic()};
  size_t n = c->rows.particles.count;
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k) {
    sweep(c, all[k]);
    for (size_t i = 0; i < n; ++i) check_row(c, i);
    check_approach(c);
    // Not one row beyond the last was written.
    assert_true(is_marked(c->gradient + 4 * n) && is_marked(c->flux + n) && is_marked(c->square + n) &&
                is_marked(c->stress + n) && is_marked(c->change + n));
  }
}

// ---- Clouds ----

static void test_random_clouds(void **state) {
  (void)state;
  const FloKernel kernels[] = {FLO_KERNEL_CUBIC_SPLINE, FLO_KERNEL_WENDLAND_C2, FLO_KERNEL_QUINTIC};
  for (uint64_t seed = 1; seed <= 6; ++seed)
    for (int dim = 2; dim <= 3; ++dim) {
      Random random = {seed};
      Case c;
      case_init(&c, dim, kernels[seed % FLO_COUNT_OF(kernels)], seed % 2 == 0);
      cloud_strew(&c.rows, &c.box, &random, 500 + random_below(&random, 17));
      invent_columns(&c, &random);
      build(&c);
      check_all(&c);
      case_free(&c);
    }
}

static void test_rows_and_columns_of_two_clouds(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Random random = {77};
    Case c;
    case_init(&c, dim, FLO_KERNEL_CUBIC_SPLINE, false);
    cloud_strew(&c.rows, &c.box, &random, 301);
    cloud_strew(&c.other, &c.box, &random, 450);
    c.columns = &c.other;
    invent_columns(&c, &random);
    build(&c);
    check_all(&c);
    case_free(&c);
  }
}

static void test_few_rows(void **state) {
  (void)state;
  for (size_t n = 0; n <= 17; ++n) {
    Random random = {n};
    Case c;
    case_init(&c, 3, FLO_KERNEL_CUBIC_SPLINE, false);
    for (int axis = 0; axis < 3; ++axis) c.box.high[axis] = SUPPORT;
    cloud_strew(&c.rows, &c.box, &random, n);
    invent_columns(&c, &random);
    build(&c);
    check_all(&c);
    case_free(&c);
  }
}

// Whoever stands at the same point has no direction to push.
static void test_particles_at_one_point_add_nothing(void **state) {
  (void)state;
  Random random = {1};
  Case c;
  case_init(&c, 3, FLO_KERNEL_CUBIC_SPLINE, false);
  for (int k = 0; k < 3; ++k) cloud_add(&c.rows, 0.05, 0.05, 0.05);
  cloud_add(&c.rows, 0.15, 0.05, 0.05); // and one all alone
  invent_columns(&c, &random);
  build(&c);
  check_all(&c);
  for (size_t i = 0; i < 4; ++i) assert_true(c.flux[i] == 0 && c.square[i] == 0);
  case_free(&c);
}

// ---- Groups ----

static void test_members_of_a_group_do_not_see_each_other(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Random random = {9};
    Case c;
    case_init(&c, dim, FLO_KERNEL_CUBIC_SPLINE, dim == 2);
    cloud_strew(&c.rows, &c.box, &random, 400);
    c.groups = malloc(400 * sizeof *c.groups);
    for (size_t i = 0; i < 400; ++i) c.groups[i] = random_below(&random, 4);
    invent_columns(&c, &random);
    build(&c);
    check_all(&c);
    for (size_t i = 0; i < 400; ++i)
      for (int32_t k = 0; k < c.pairs.row_count[i]; ++k) {
        size_t slot = c.pairs.slot_begin[i / FLO_BLOCK] + (size_t)k;
        assert_true(c.groups[c.pairs.slots[slot].index[i % FLO_BLOCK]] != c.groups[i]);
      }
    case_free(&c);
  }
}

static void test_a_single_group_is_empty(void **state) {
  (void)state;
  Random random = {10};
  Case c;
  case_init(&c, 3, FLO_KERNEL_CUBIC_SPLINE, false);
  cloud_strew(&c.rows, &c.box, &random, 200);
  c.groups = calloc(200, sizeof *c.groups);
  invent_columns(&c, &random);
  build(&c);
  check_all(&c);
  for (size_t i = 0; i < 200; ++i) {
    assert_int_equal(c.pairs.row_count[i], 0);
    assert_true(c.pairs.kernel_sum[i] == 0 && c.flux[i] == 0 && c.square[i] == 0);
  }
  case_free(&c);
}

// Sums of weights leave out the group too: what bodies know of each other.
static void test_kernel_sums_leave_out_the_group(void **state) {
  (void)state;
  Random random = {12};
  Case c;
  case_init(&c, 2, FLO_KERNEL_CUBIC_SPLINE, false);
  cloud_strew(&c.rows, &c.box, &random, 300);
  c.groups = malloc(300 * sizeof *c.groups);
  for (size_t i = 0; i < 300; ++i) c.groups[i] = random_below(&random, 3);
  build(&c);
  for (size_t i = 0; i < 300; ++i) {
    double sum = 0, a[3], b[3];
    cloud_position(&c.rows, i, a);
    for (size_t j = 0; j < 300; ++j) {
      cloud_position(&c.rows, j, b);
      if (c.groups[i] != c.groups[j]) sum += reference_w(&c.kernel, hypot(a[0] - b[0], a[1] - b[1])).value;
    }
    assert_close(c.pairs.kernel_sum[i], sum, 2e-6 * (sum + reference_w(&c.kernel, 0).value));
  }
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_clouds),
      cmocka_unit_test(test_rows_and_columns_of_two_clouds),
      cmocka_unit_test(test_few_rows),
      cmocka_unit_test(test_particles_at_one_point_add_nothing),
      cmocka_unit_test(test_members_of_a_group_do_not_see_each_other),
      cmocka_unit_test(test_a_single_group_is_empty),
      cmocka_unit_test(test_kernel_sums_leave_out_the_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
