// Mixing of passes. Passes (passes.c) that only follow each other lose smooth errors quickly and others
// slowly. So the next pass starts from a combination of the last ones (Anderson 1965: Iterative procedures
// for nonlinear integral equations).
//
// Let pass k start from the unknowns x_k and propose y_k, so that z_k = y_k - x_k vanishes at the solution.
// The next one starts from
//
//   y_k + sum_j theta_j (y_j - y_k),   with the theta for which |z_k + sum_j theta_j (z_j - z_k)| is least,
//
// where j are up to four passes before k. If the map from x to y is affine, this is as good as conjugate
// directions. A square of z counts as the work that it does: response z^2. Unknowns still obey p >= 0.
#include "base/parallel.h"
#include "coupling/constraint/constraint.h"
#include "solve/dense.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 4096, MOST = FLO_MIXED_PASSES - 1, N_SQUARES = MOST * (MOST + 1) / 2 };
_Static_assert(N_SQUARES + MOST <= FLO_MAX_SUMS, "the sums of a mix are found at once");

typedef struct Mix {
  FloConstraint *c;
  int n;                               // passes before the present one
  const float *gain[FLO_MIXED_PASSES]; // z; the present one comes first
  const float *end[FLO_MIXED_PASSES];  // y
  double share[MOST];                  // theta
} Mix;

FloStatus flo_constraint_reserve_mixing(FloWorld *world, FloConstraint *c, FloError *error) {
  const size_t size = (1 + 2 * FLO_MIXED_PASSES) * c->n_rows * sizeof(float);
  return flo_constraint_reserve(world, c, FLO_CONSTRAINT_MIXING, size, 0, error);
}

// Three kinds of arrays: where the present pass started, and the gains and ends of the last passes.
static float *start_of(const FloConstraint *c) { return c->buffers[FLO_CONSTRAINT_MIXING].data; }
static float *gain_of(const FloConstraint *c, int pass) {
  return start_of(c) + (1 + 2 * (size_t)(pass % FLO_MIXED_PASSES)) * c->n_rows;
}
static float *end_of(const FloConstraint *c, int pass) { return gain_of(c, pass) + c->n_rows; }

void flo_constraint_begin_mixing(FloConstraint *c) {
  c->n_mixed = 0;
  memcpy(start_of(c), c->p, c->n_rows * sizeof(float));
}

static void note_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Mix *mix = context;
  const FloConstraint *c = mix->c;
  const float *start = start_of(c), *proposed = c->move;
  float *gain = gain_of(c, c->n_mixed), *y = end_of(c, c->n_mixed);
  for (size_t row = begin; row < end; ++row) y[row] = proposed[row], gain[row] = proposed[row] - start[row];
}

// The matrix, by rows of its lower triangle, and the right-hand side.
static void add_products(const void *context, size_t begin, size_t end, double *sums) {
  const Mix *mix = context;
  for (size_t row = begin; row < end; ++row) {
    const double weight = (double)mix->c->response[row], z = (double)mix->gain[0][row];
    double difference[MOST], *sum = sums;
    for (int i = 0; i < mix->n; ++i) {
      difference[i] = (double)mix->gain[i + 1][row] - z;
      for (int j = 0; j <= i; ++j) *sum++ += weight * difference[i] * difference[j];
    }
    for (int i = 0; i < mix->n; ++i) *sum++ -= weight * difference[i] * z;
  }
}

static void find_shares(const FloWorld *world, Mix *mix) {
  const int n = mix->n;
  double sums[FLO_MAX_SUMS], matrix[MOST * MOST], factors[MOST * MOST];
  const double *sum = sums;
  flo_parallel_sum(world->threads, mix->c->n_rows, add_products, mix, n * (n + 1) / 2 + n, sums);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) matrix[n * i + j] = *sum++;
  if (flo_dense_factorise_semidefinite(n, matrix, factors))
    flo_dense_solve(n, factors, sum, mix->share);
  else
    memset(mix->share, 0, sizeof mix->share);
}

static void combine_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Mix *mix = context;
  FloConstraint *c = mix->c;
  float *start = start_of(c);
  for (size_t row = begin; row < end; ++row) {
    const double y = (double)mix->end[0][row];
    double mixed = y;
    for (int j = 0; j < mix->n; ++j) mixed += mix->share[j] * ((double)mix->end[j + 1][row] - y);
    const float p = mixed > 0 ? (float)mixed : 0;
    c->move[row] = p - c->p[row];
    c->p[row] = start[row] = p;
  }
}

void flo_constraint_mix(FloWorld *world, FloConstraint *c) {
  Mix mix = {.c = c, .n = c->n_mixed < MOST ? c->n_mixed : MOST};
  flo_parallel_for(world->threads, c->n_rows, ROWS_PER_CHUNK, note_range, &mix);
  for (int k = 0; k <= mix.n; ++k)
    mix.gain[k] = gain_of(c, c->n_mixed - k), mix.end[k] = end_of(c, c->n_mixed - k);
  if (mix.n > 0) find_shares(world, &mix);
  flo_parallel_for(world->threads, c->n_rows, ROWS_PER_CHUNK, combine_range, &mix);
  c->n_mixed++;
}
