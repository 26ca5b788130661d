// The pair operator against brute force in double precision: who is a neighbour, gradients, kernel sums,
// viscous factors.
#include "sph/pairs.h"
#include "support/cloud.h"
#include "support/reference.h"

#define SUPPORT 0.04

// One entry of the operator, collected from its slots.
typedef struct Entry {
  float g[3], viscous;
  int n_seen;   // slots that name the column
  int n_active; // of these, slots with a gradient
} Entry;

typedef struct Case {
  CloudBox box;
  double viscous_length;
  FloLattice lattice;
  Cloud rows, other;
  const Cloud *columns; // rows or other
  FloPairs pairs;
  ReferenceKernel kernel;
  const float *weights;
  Entry *entries; // n_rows x n_columns
} Case;

// ---- Making and unpacking ----

static CloudBox small_box(int dim, double centre, double edge) {
  CloudBox box = {.dim = dim, .support = SUPPORT};
  for (int axis = 0; axis < dim; ++axis)
    box.low[axis] = centre - edge / 2, box.high[axis] = centre + edge / 2;
  return box;
}

static void case_init(Case *c, const CloudBox *box, FloKernel kernel) {
  *c = (Case){.box = *box, .lattice = box_lattice(box), .kernel = {kernel, box->dim, box->support}};
  c->viscous_length = reference_viscous_length(&c->kernel);
  cloud_init(&c->rows, FLO_SET_FLUID, &c->lattice);
  cloud_init(&c->other, FLO_SET_BOUNDARY, &c->lattice);
  flo_pairs_init(&c->pairs, &c->rows.memory);
  c->columns = &c->rows;
}

static void case_free(Case *c) {
  free(c->entries);
  flo_pairs_free(&c->pairs);
  cloud_free(&c->rows);
  cloud_free(&c->other);
}

static FloPairsSpec case_spec(const Case *c, int threads) {
  return (FloPairsSpec){.rows = &c->rows.grid,
                        .columns = &c->columns->grid,
                        .kernel = flo_kernel_form(c->kernel.kernel, c->kernel.dim, c->kernel.support),
                        .reach = 1,
                        .with_viscous = true,
                        .threads = threads};
}

static void build(Case *c, int threads) {
  FloError error;
  FloPairsSpec spec = case_spec(c, threads);
  assert_ok(flo_grid_build(&c->rows.grid, &c->rows.particles, NULL, threads, &error), &error);
  if (c->columns != &c->rows)
    assert_ok(flo_grid_build(&c->other.grid, &c->other.particles, c->weights, threads, &error), &error);
  assert_ok(flo_pairs_build(&c->pairs, &spec, &error), &error);
}

static Entry *entry_at(const Case *c, size_t i, size_t j) {
  return c->entries + i * c->columns->particles.count + j;
}

static void unpack_lane(Case *c, size_t slot, size_t i, size_t lane) {
  const FloPairSlot *s = c->pairs.slots + slot;
  size_t j = (size_t)s->index[lane];
  assert_true(j < c->columns->particles.count);
  const float g[3] = {s->gx[lane], s->gy[lane], s->gz[lane]};
  Entry *entry = entry_at(c, i, j);
  entry->n_seen++;
  entry->n_active += g[0] != 0 || g[1] != 0 || g[2] != 0;
  for (int axis = 0; axis < 3; ++axis) entry->g[axis] += g[axis];
  entry->viscous += c->pairs.viscous[slot * FLO_BLOCK + lane];
}

static void unpack(Case *c) {
  free(c->entries);
  c->entries = calloc(c->pairs.n_rows * c->columns->particles.count + 1, sizeof *c->entries);
  for (size_t i = 0; i < c->pairs.n_rows; ++i) {
    size_t block = i / FLO_BLOCK, begin = c->pairs.slot_begin[block];
    for (size_t slot = begin; slot < begin + c->pairs.slot_count[block]; ++slot)
      unpack_lane(c, slot, i, i % FLO_BLOCK);
  }
}

// ---- Brute force ----

typedef struct Exact {
  double d[3], r, q;
  bool is_pair, is_on_the_edge; // so near the end of the support that single precision may see it otherwise
} Exact;

static Exact exact_pair(const Case *c, size_t i, size_t j) {
  double a[3], b[3], period[3];
  Exact e = {0};
  box_period(&c->box, period);
  cloud_position(&c->rows, i, a);
  cloud_position(c->columns, j, b);
  reference_difference(a, b, period, e.d);
  e.r = sqrt(e.d[0] * e.d[0] + e.d[1] * e.d[1] + e.d[2] * e.d[2]);
  e.q = e.r / SUPPORT;
  e.is_pair = e.q < 1 && !(c->columns == &c->rows && i == j);
  e.is_on_the_edge = fabs(e.q - 1) < 1e-6;
  return e;
}

static void check_gradient(const Case *c, const Exact *e, const Entry *entry, double steepest) {
  // The viscosity kernel is infinite at the centre and cut off there.
  if (c->kernel.kernel == FLO_KERNEL_VISCOSITY && e->q < 2e-3) return;
  double slope = e->is_pair && e->r > 0 ? reference_w(&c->kernel, e->r).slope : 0;
  for (int axis = 0; axis < 3; ++axis)
    assert_close(entry->g[axis], e->r > 0 ? slope * e->d[axis] / e->r : 0, 2e-6 * (steepest - slope));
}

// 1/(F l^2); F loses digits at both ends of the support, where it is a small difference.
static void check_viscous(const Case *c, const Exact *e, const Entry *entry) {
  if (!e->is_pair || e->q < 0.01 || e->q > 0.99) return;
  double length = c->viscous_length;
  double exact = e->r / (reference_w(&c->kernel, e->r).slope * length * length);
  assert_close(entry->viscous, exact, 2e-6 * (1 / e->q + 1 / (1 - e->q)) * fabs(exact));
}

static void check_neighbour(const Exact *e, const Entry *entry) {
  if (e->is_on_the_edge) return;
  if (e->is_pair)
    assert_true(entry->n_seen >= 1 && entry->n_active <= 1);
  else
    assert_int_equal(entry->n_active, 0);
}

static void check_row(const Case *c, size_t i, double steepest, size_t *n_pairs, size_t *n_doubtful) {
  double sum = 0, scale = reference_w(&c->kernel, 0.3 * SUPPORT).value;
  for (size_t j = 0; j < c->columns->particles.count; ++j) {
    Exact e = exact_pair(c, i, j);
    const Entry *entry = entry_at(c, i, j);
    check_neighbour(&e, entry);
    check_gradient(c, &e, entry, steepest);
    check_viscous(c, &e, entry);
    double weight = c->weights ? (double)c->weights[j] : 1;
    if (e.is_pair) sum += weight * reference_w(&c->kernel, fmax(e.r, 1e-12)).value;
    *n_pairs += e.is_pair, *n_doubtful += e.is_on_the_edge;
  }
  if (c->kernel.kernel == FLO_KERNEL_VISCOSITY) return;
  assert_close(c->pairs.kernel_sum[i], sum, 2e-6 * (scale + sum));
}

static void check_against_brute_force(Case *c) {
  size_t n_pairs = 0, n_doubtful = 0;
  double steepest = reference_steepest(&c->kernel);
  unpack(c);
  assert_int_equal(c->pairs.n_rows, c->rows.particles.count);
  for (size_t i = 0; i < c->pairs.n_rows; ++i) check_row(c, i, steepest, &n_pairs, &n_doubtful);
  assert_close(c->pairs.n_pairs, n_pairs, n_doubtful);
}

static void check_antisymmetric(const Case *c) {
  for (size_t i = 0; i < c->pairs.n_rows; ++i)
    for (size_t j = 0; j < i; ++j) {
      const Entry *a = entry_at(c, i, j), *b = entry_at(c, j, i);
      for (int axis = 0; axis < 3; ++axis) assert_true(a->g[axis] == -b->g[axis]);
      assert_true(a->viscous == b->viscous);
    }
}

static void check_strewn(const CloudBox *box, FloKernel kernel, size_t n) {
  Random random = {n * 7 + (size_t)kernel};
  Case c;
  case_init(&c, box, kernel);
  cloud_strew(&c.rows, box, &random, n);
  build(&c, 2);
  check_against_brute_force(&c);
  check_antisymmetric(&c);
  case_free(&c);
}

// ---- Among the particles of one set ----

static void test_every_kernel_equals_brute_force(void **state) {
  (void)state;
  for (int kernel = 0; kernel < FLO_KERNEL_COUNT; ++kernel)
    for (int dim = 2; dim <= 3; ++dim) {
      CloudBox box = small_box(dim, 0.3, dim == 2 ? 0.3 : 0.12);
      check_strewn(&box, (FloKernel)kernel, 300);
    }
}

static void test_any_count_equals_brute_force(void **state) {
  (void)state;
  const size_t counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 250};
  CloudBox box = small_box(3, 0, 0.08);
  for (size_t k = 0; k < FLO_COUNT_OF(counts); ++k) check_strewn(&box, FLO_KERNEL_CUBIC_SPLINE, counts[k]);
}

static void test_the_place_does_not_matter(void **state) {
  (void)state;
  const double centres[] = {-0.07, -5, 1e4, -1e4};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(centres); ++k) {
      CloudBox box = small_box(dim, centres[k], dim == 2 ? 0.3 : 0.12);
      check_strewn(&box, FLO_KERNEL_CUBIC_SPLINE, 300);
    }
}

static void test_pairs_across_periodic_faces(void **state) {
  (void)state;
  const double edges[] = {3 * SUPPORT, 3.9 * SUPPORT, 8.1 * SUPPORT};
  for (int dim = 2; dim <= 3; ++dim)
    for (unsigned axes = 1; axes < 1u << dim; ++axes)
      for (size_t k = 0; k < FLO_COUNT_OF(edges); ++k) {
        CloudBox box = small_box(dim, -0.4, edges[k]);
        for (int axis = 0; axis < dim; ++axis) box.periodic[axis] = axes >> axis & 1;
        check_strewn(&box, FLO_KERNEL_WENDLAND_C2, 200);
      }
}

static void test_coincident_particles_have_zero_gradients(void **state) {
  (void)state;
  for (int kernel = 0; kernel < FLO_KERNEL_COUNT; ++kernel) {
    CloudBox box = small_box(3, 0, 0.1);
    Case c;
    case_init(&c, &box, (FloKernel)kernel);
    for (int k = 0; k < 11; ++k) cloud_add(&c.rows, 0.01, 0.02, -0.03);
    cloud_add(&c.rows, 0.02, 0.02, -0.03);
    build(&c, 1);
    unpack(&c);
    assert_int_equal(c.pairs.n_pairs, 12 * 11);
    for (size_t i = 0; i < 11; ++i) {
      assert_true(isfinite(c.pairs.kernel_sum[i]));
      for (size_t j = 0; j < 11; ++j) {
        const Entry *entry = entry_at(&c, i, j);
        for (int axis = 0; axis < 3; ++axis) assert_true(entry->g[axis] == 0);
        assert_true(isfinite(entry->viscous));
      }
      assert_int_equal(entry_at(&c, i, 11)->n_active, 1);
    }
    case_free(&c);
  }
}

static void test_more_neighbours_than_a_list_first_holds(void **state) {
  (void)state;
  CloudBox box = small_box(3, 0.1, 0.5 * SUPPORT);
  check_strewn(&box, FLO_KERNEL_CUBIC_SPLINE, 700);
}

static void test_an_operator_is_rebuilt_as_particles_come_and_crowd(void **state) {
  (void)state;
  CloudBox wide = small_box(3, 0, 0.2), narrow = small_box(3, 0, 0.04);
  Random random = {3};
  Case c;
  case_init(&c, &wide, FLO_KERNEL_CUBIC_SPLINE);
  for (int k = 0; k < 4; ++k) {
    cloud_strew(&c.rows, k % 2 ? &narrow : &wide, &random, k == 0 ? 5 : 150);
    build(&c, 2);
    check_against_brute_force(&c);
  }
  c.rows.particles.count = 3;
  build(&c, 2);
  check_against_brute_force(&c);
  c.rows.particles.count = 0;
  build(&c, 2);
  assert_int_equal(c.pairs.n_pairs, 0);
  case_free(&c);
}

static void test_a_single_particle_has_no_neighbours(void **state) {
  (void)state;
  CloudBox box = small_box(2, 0, 0.3);
  Case c;
  case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
  cloud_add(&c.rows, 0.01, 0.02, 0);
  build(&c, 2);
  assert_int_equal(c.pairs.n_pairs, 0);
  assert_true(c.pairs.kernel_sum[0] == 0);
  case_free(&c);
}

// ---- Between two sets ----

static void strew_two_sets(Case *c, size_t n_rows, size_t n_columns, float *weights) {
  Random random = {n_rows + 100 * n_columns};
  cloud_strew(&c->rows, &c->box, &random, n_rows);
  cloud_strew(&c->other, &c->box, &random, n_columns);
  for (size_t k = 0; k < n_columns; ++k) weights[k] = (float)random_between(&random, 0.5, 2);
  c->columns = &c->other;
  c->weights = weights;
}

static void test_two_sets_equal_brute_force(void **state) {
  (void)state;
  const size_t counts[][2] = {{100, 200}, {201, 33}, {1, 50}, {50, 1}};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(counts); ++k) {
      CloudBox box = small_box(dim, 0.1, 0.12);
      float weights[200];
      Case c;
      case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
      strew_two_sets(&c, counts[k][0], counts[k][1], weights);
      build(&c, 2);
      check_against_brute_force(&c);
      case_free(&c);
    }
}

static void test_either_set_may_be_empty(void **state) {
  (void)state;
  for (int which = 0; which < 3; ++which) {
    CloudBox box = small_box(3, 0, 0.1);
    float weights[20];
    Case c;
    case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
    strew_two_sets(&c, which == 1 ? 20 : 0, which == 2 ? 20 : 0, weights);
    build(&c, 2);
    assert_int_equal(c.pairs.n_pairs, 0);
    assert_int_equal(c.pairs.n_rows, which == 1 ? 20 : 0);
    for (size_t i = 0; i < c.pairs.n_rows; ++i) assert_true(c.pairs.kernel_sum[i] == 0);
    case_free(&c);
  }
}

// Only within one set is the particle of the same number oneself.
static void test_a_particle_sees_its_namesake_of_the_other_set(void **state) {
  (void)state;
  CloudBox box = small_box(3, 0, 0.1);
  const float weight = 1;
  Case c;
  case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
  cloud_add(&c.rows, 0, 0, 0);
  cloud_add(&c.other, 0.01, 0, 0);
  c.columns = &c.other, c.weights = &weight;
  build(&c, 1);
  assert_int_equal(c.pairs.n_pairs, 1);
  check_against_brute_force(&c);
  case_free(&c);
}

// What i feels from j is minus what j feels from i, also between sets and across a period.
static void test_two_sets_are_antisymmetric_to_the_bit(void **state) {
  (void)state;
  CloudBox box = small_box(3, 0.2, 4 * SUPPORT);
  box.periodic[0] = box.periodic[2] = true;
  float weights[150];
  FloError error;
  Case c;
  case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
  strew_two_sets(&c, 170, 150, weights);
  build(&c, 2);
  unpack(&c);
  Case back = {.columns = &c.rows};
  flo_pairs_init(&back.pairs, &c.rows.memory);
  FloPairsSpec spec = case_spec(&c, 2);
  spec.rows = &c.other.grid, spec.columns = &c.rows.grid;
  assert_ok(flo_pairs_build(&back.pairs, &spec, &error), &error);
  unpack(&back);
  for (size_t i = 0; i < 170; ++i)
    for (size_t j = 0; j < 150; ++j)
      for (int axis = 0; axis < 3; ++axis) {
        float there = back.entries[j * 170 + i].g[axis];
        assert_true(entry_at(&c, i, j)->g[axis] == -there);
      }
  free(back.entries);
  flo_pairs_free(&back.pairs);
  case_free(&c);
}

// ---- Ways of building ----

static void test_any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  enum { N = 6000 };
  CloudBox box = small_box(3, 0, 0.4);
  Random random = {21};
  float sums[N];
  Case c;
  case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
  cloud_strew(&c.rows, &box, &random, N);
  build(&c, 1);
  size_t n_pairs = c.pairs.n_pairs;
  memcpy(sums, c.pairs.kernel_sum, sizeof sums);
  for (int threads = 2; threads <= 5; ++threads) {
    build(&c, threads);
    assert_int_equal(c.pairs.n_pairs, n_pairs);
    assert_memory_equal(c.pairs.kernel_sum, sums, sizeof sums);
  }
  case_free(&c);
}

static void test_viscous_factors_only_when_asked_for(void **state) {
  (void)state;
  CloudBox box = small_box(3, 0, 0.1);
  Random random = {22};
  FloError error;
  Case c;
  case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
  cloud_strew(&c.rows, &box, &random, 100);
  cloud_build(&c.rows, 1);
  FloPairsSpec spec = case_spec(&c, 1);
  spec.with_viscous = false;
  assert_ok(flo_pairs_build(&c.pairs, &spec, &error), &error);
  assert_null(c.pairs.viscous);
  build(&c, 1);
  check_against_brute_force(&c);
  case_free(&c);
}

// Lists that reach further serve as long as no two particles have approached each other by the difference.
static void test_lists_with_a_margin_serve_moved_particles(void **state) {
  (void)state;
  const double margin = 0.08, shift = 0.49 * margin * SUPPORT / sqrt(3);
  for (int periodic = 0; periodic < 2; ++periodic) {
    CloudBox box = small_box(3, 0, 0.2);
    for (int axis = 0; axis < 3; ++axis) box.periodic[axis] = periodic;
    Random random = {24};
    FloError error;
    Case c;
    case_init(&c, &box, FLO_KERNEL_CUBIC_SPLINE);
    assert_true(flo_lattice_set_reach(&c.lattice, 1 + margin));
    cloud_strew(&c.rows, &box, &random, 700);
    cloud_build(&c.rows, 2);
    FloPairsSpec spec = case_spec(&c, 2);
    spec.reach = 1 + margin;
    assert_ok(flo_pairs_build(&c.pairs, &spec, &error), &error);
    check_against_brute_force(&c);
    double *const x[3] = {c.rows.particles.x, c.rows.particles.y, c.rows.particles.z};
    for (size_t i = 0; i < c.rows.particles.count; ++i)
      for (int axis = 0; axis < 3; ++axis) x[axis][i] += random_between(&random, -shift, shift);
    double moved = flo_grid_refresh(&c.rows.grid, &c.rows.particles, 2);
    assert_true(moved > 0.3 * margin && moved < 0.5 * margin);
    flo_pairs_refill(&c.pairs, &spec);
    check_against_brute_force(&c);
    case_free(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kernel_equals_brute_force),
      cmocka_unit_test(test_any_count_equals_brute_force),
      cmocka_unit_test(test_the_place_does_not_matter),
      cmocka_unit_test(test_pairs_across_periodic_faces),
      cmocka_unit_test(test_coincident_particles_have_zero_gradients),
      cmocka_unit_test(test_more_neighbours_than_a_list_first_holds),
      cmocka_unit_test(test_an_operator_is_rebuilt_as_particles_come_and_crowd),
      cmocka_unit_test(test_a_single_particle_has_no_neighbours),
      cmocka_unit_test(test_two_sets_equal_brute_force),
      cmocka_unit_test(test_either_set_may_be_empty),
      cmocka_unit_test(test_a_particle_sees_its_namesake_of_the_other_set),
      cmocka_unit_test(test_two_sets_are_antisymmetric_to_the_bit),
      cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(test_viscous_factors_only_when_asked_for),
      cmocka_unit_test(test_lists_with_a_margin_serve_moved_particles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
