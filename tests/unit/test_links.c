// Rows over quadruples of particles: every pass of links.h against sums in double precision, with the passes
// of all instruction sets that this machine can run.
#include "sph/passes.h"
#include "support/check.h"
#include "support/random.h"

enum { N_PARTICLES = 23, MOST_LINKS = 20 };

static const FloPasses *passes_of(int which) { return which ? flo_passes_generic() : flo_passes(); }

static float any(Random *random) { return (float)random_between(random, -1, 1); }

static void make_velocities(Random *random, float velocity[4 * N_PARTICLES]) {
  for (size_t k = 0; k < (size_t)4 * N_PARTICLES; ++k) velocity[k] = any(random);
  // The fourth part is an inverse mass; one particle does not yield.
  for (size_t i = 0; i < N_PARTICLES; ++i) velocity[4 * i + 3] = i == 3 ? 0 : 1 + (float)(i % 3);
}

// Different particles, and padding.
static void make_links(Random *random, uint32_t n, FloLink links[MOST_LINKS]) {
  for (uint32_t k = 0; k < n; ++k)
    links[k] = (FloLink){{any(random), any(random), any(random)}, (k * 7 + n) % N_PARTICLES};
  flo_links_pad(links, n);
}

static double dot(const float *a, const float *b) {
  return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

// ---- Sums over links ----

static void check_sums(const FloPasses *passes, const FloLink *links, uint32_t n, const float *velocity) {
  double rate = 0, response = 0;
  for (uint32_t k = 0; k < n; ++k) {
    const float *v = velocity + 4 * links[k].particle;
    rate += dot(links[k].g, v);
    response += dot(links[k].g, links[k].g) * (double)v[3];
  }
  assert_true(fabs((double)passes->links_rate(links, flo_links_padded(n), velocity) - rate) < 1e-5);
  assert_true(fabs((double)passes->links_response(links, flo_links_padded(n), velocity) - response) < 1e-5);
}

static void check_push(const FloPasses *passes, const FloLink *links, uint32_t n, const float *velocity) {
  static const float impulse = 0.7f;
  float moved[4 * N_PARTICLES];
  double expected[4 * N_PARTICLES];
  for (size_t k = 0; k < (size_t)4 * N_PARTICLES; ++k) expected[k] = (double)(moved[k] = velocity[k]);
  for (uint32_t k = 0; k < n; ++k)
    for (size_t axis = 0; axis < 3; ++axis)
      expected[4 * links[k].particle + axis] -=
          (double)(impulse * velocity[4 * links[k].particle + 3] * links[k].g[axis]);
  passes->links_push(links, flo_links_padded(n), impulse, moved);
  for (size_t k = 0; k < (size_t)4 * N_PARTICLES; ++k)
    assert_true(fabs((double)moved[k] - expected[k]) < 1e-6);
}

static void test_sums_and_pushes_are_those_of_single_links(void **state) {
  (void)state;
  Random random = {1};
  for (uint32_t n = 0; n < MOST_LINKS; ++n)
    for (int which = 0; which < 2; ++which) {
      float velocity[4 * N_PARTICLES];
      FloLink links[MOST_LINKS];
      make_velocities(&random, velocity), make_links(&random, n, links);
      check_sums(passes_of(which), links, n, velocity);
      check_push(passes_of(which), links, n, velocity);
    }
}

// ---- Gauss-Seidel ----

enum { N_ROWS = 6, ROW_LINKS = 5 };

typedef struct System {
  FloLink links[N_ROWS * (ROW_LINKS + 1)];
  FloRowHead heads[N_ROWS];
  uint32_t order[N_ROWS];
  float p[N_ROWS], move[N_ROWS], velocity[4 * N_PARTICLES];
} System;

static FloLinkedRows rows_of(System *system, size_t n_equalities) {
  return (FloLinkedRows){.links = system->links,
                         .heads = system->heads,
                         .order = system->order,
                         .relaxation = 1,
                         .n_equalities = n_equalities,
                         .p = system->p,
                         .move = system->move,
                         .velocity = system->velocity};
}

static void make_system(const FloPasses *passes, System *system) {
  Random random = {5};
  memset(system, 0, sizeof *system);
  make_velocities(&random, system->velocity);
  for (uint32_t k = 0; k < N_ROWS; ++k) {
    FloLink *links = system->links + k * (ROW_LINKS + 1);
    make_links(&random, ROW_LINKS, links);
    system->order[k] = N_ROWS - 1 - k;
    const float response = 0.01f + passes->links_response(links, ROW_LINKS + 1, system->velocity);
    system->heads[k] =
        (FloRowHead){k * (ROW_LINKS + 1), ROW_LINKS + 1, 0.3f * any(&random), 0.01f, 1 / response};
  }
  system->heads[2].inverse = 0; // its unknown stays
  system->p[system->order[2]] = 0.25f;
}

// After many visits each row has what it wants, or wants to pull and does not.
static void check_solution(const FloPasses *passes, size_t n_equalities) {
  System system;
  size_t n_pushing = 0, n_at_zero = 0;
  make_system(passes, &system);
  const FloLinkedRows rows = rows_of(&system, n_equalities);
  for (int k = 0; k < 3000; ++k) passes->relax(&rows, (FloRowGroup){0, N_ROWS});
  for (uint32_t k = 0; k < N_ROWS; ++k) {
    const uint32_t row = system.order[k];
    const float error =
        passes->links_rate(system.links + system.heads[k].first_link, ROW_LINKS + 1, system.velocity) -
        system.heads[k].softness * system.p[row] - system.heads[k].wanted;
    if (system.heads[k].inverse == 0) {
      assert_true(system.p[row] == 0.25f);
    } else if (row < n_equalities || system.p[row] > 0) {
      assert_true(fabsf(error) < 1e-3f);
      n_pushing++;
    } else {
      assert_true(system.p[row] == 0 && error < 1e-3f);
      n_at_zero++;
    }
  }
  assert_true(n_pushing > 0 && (n_at_zero > 0) == (n_equalities == 0));
}

static void test_rows_get_what_they_want(void **state) {
  (void)state;
  for (int which = 0; which < 2; ++which) {
    check_solution(passes_of(which), 0);
    check_solution(passes_of(which), N_ROWS);
  }
}

// ---- Links of densities ----

// Rows of a last block that is not full, with lists of different lengths, one of them empty.
enum { N_BLOCK_ROWS = 11, LONGEST = 7 };

static int32_t length_of(size_t row) { return (int32_t)(row * 5 % (LONGEST + 1)); }

static void fill_slots(FloPairSlot slots[2 * LONGEST]) {
  Random random = {3};
  memset(slots, 0, 2 * LONGEST * sizeof *slots);
  for (size_t row = 0; row < N_BLOCK_ROWS; ++row)
    for (int32_t k = 0; k < length_of(row); ++k) {
      FloPairSlot *slot = slots + row / FLO_BLOCK * LONGEST + k;
      const size_t lane = row % FLO_BLOCK;
      slot->index[lane] = (int32_t)((row + 3 * (size_t)k) % N_BLOCK_ROWS);
      slot->gx[lane] = any(&random), slot->gy[lane] = any(&random), slot->gz[lane] = any(&random);
    }
}

static void check_row(const FloLink *links, const FloPairSlot *slots, size_t row, float scale) {
  double own[3] = {0};
  for (int32_t k = 0; k < length_of(row); ++k) {
    const FloPairSlot *slot = slots + row / FLO_BLOCK * LONGEST + k;
    const size_t lane = row % FLO_BLOCK;
    const float g[3] = {slot->gx[lane], slot->gy[lane], slot->gz[lane]};
    assert_int_equal(links[1 + k].particle, slot->index[lane]);
    for (int axis = 0; axis < 3; ++axis) {
      assert_true(links[1 + k].g[axis] == -scale * g[axis]);
      own[axis] += (double)(scale * g[axis]);
    }
  }
  assert_int_equal(links[0].particle, row);
  for (int axis = 0; axis < 3; ++axis) assert_true(fabs((double)links[0].g[axis] - own[axis]) < 1e-5);
  assert_int_equal(links[1 + length_of(row)].particle, 12345); // nothing is written beyond the list
}

static void test_links_of_blocks_are_their_lists(void **state) {
  (void)state;
  static FloPairSlot slots[2 * LONGEST];
  uint32_t begin[2] = {0, LONGEST}, count[2] = {LONGEST, LONGEST};
  int32_t lengths[2 * FLO_BLOCK] = {0};
  for (size_t row = 0; row < N_BLOCK_ROWS; ++row) lengths[row] = length_of(row);
  fill_slots(slots);
  const FloPairs pairs = {.n_rows = N_BLOCK_ROWS,
                          .n_blocks = 2,
                          .slot_begin = begin,
                          .slot_count = count,
                          .slots = slots,
                          .row_count = lengths};
  for (int which = 0; which < 2; ++which) {
    FloLink links[2 * FLO_BLOCK][LONGEST + 2];
    for (size_t row = 0; row < (size_t)2 * FLO_BLOCK; ++row)
      for (size_t k = 0; k < LONGEST + 2; ++k) links[row][k] = (FloLink){.particle = 12345};
    for (size_t block = 0; block < 2; ++block) {
      FloLink *rows[FLO_BLOCK];
      for (size_t lane = 0; lane < FLO_BLOCK; ++lane) rows[lane] = links[block * FLO_BLOCK + lane];
      passes_of(which)->link_block(&pairs, block, 1.5f, rows);
    }
    for (size_t row = 0; row < N_BLOCK_ROWS; ++row) check_row(links[row], slots, row, 1.5f);
    assert_int_equal(links[N_BLOCK_ROWS][0].particle, 12345);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_and_pushes_are_those_of_single_links),
                                     cmocka_unit_test(test_rows_get_what_they_want),
                                     cmocka_unit_test(test_links_of_blocks_are_their_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
