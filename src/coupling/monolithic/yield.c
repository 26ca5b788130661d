// How bodies yield to fluid within an iteration.
//
// This file is about bodies that keep their shape; for soft bodies see forces/soft_yield.h.
//
// Each fluid row around a light body would push it as if it were the only row, and together they would push
// too far. But the matrix of those rows is a diagonal D plus c J M^-1 J^T of rank six, which can be inverted
// (Woodbury):
//   (D + c J M^-1 J^T)^-1 e = D^-1 e - D^-1 J y,   y = (M/c + J^T D^-1 J)^-1 J^T D^-1 e
// with c = dt^2/V0, over the rows that are active now. This needs six numbers for each body. With it a light
// body slows the iteration no more than fluid does.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"
#include "solve/dense.h"

#include <string.h>

typedef struct Yielding {
  FloWorld *world;
  FloMonolithic *mono;
  float relaxation;
  bool is_refined; // yields are known and are improved
} Yielding;

enum {
  N_YIELD_SUMS = 6 + 21
}; // J^T D^-1 e and the upper half of J^T D^-1 J; they follow the first seven sums

// Whether the known yield of the body would clamp the pressure of this row to zero.
static bool lets_go(const Yielding *yielding, const FloTouch *t) {
  const FloMonolithic *mono = yielding->mono;
  float error = mono->error[t->row] - flo_touch_along(t, mono->partners[t->node].yield);
  return yielding->is_refined &&
         !(mono->pressure[t->row] > yielding->relaxation * error / mono->diagonal[t->row]);
}

static void sum_yield(const Yielding *yielding, const FloTouchChunk *chunk, double sums[N_YIELD_SUMS]) {
  const FloMonolithic *mono = yielding->mono;
  for (int k = 0; k < N_YIELD_SUMS; ++k) sums[k] = 0;
  for (uint32_t n = chunk->begin; n < chunk->end; ++n) {
    const FloTouch *t = &mono->touches[mono->touch_order[n]];
    if (t->row >= mono->n_pressures || !t->is_main || !flo_monolithic_is_active(mono, t->row)) continue;
    if (!(mono->diagonal[t->row] > 0)) continue;
    if (lets_go(yielding, t)) {
      double lost = (double)(mono->pressure[t->row] / yielding->relaxation);
      for (int i = 0; i < 6; ++i) sums[i] += (double)t->j[i] * lost;
      continue;
    }
    double per_diagonal = 1 / (double)mono->diagonal[t->row], *matrix = sums + 6;
    for (int i = 0; i < 6; ++i) {
      double j = (double)t->j[i] * per_diagonal;
      sums[i] += j * (double)mono->error[t->row];
      for (int k = i; k < 6; ++k) *matrix++ += j * (double)t->j[k];
    }
  }
}

static void yield_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Yielding *)context)->mono;
  for (size_t k = begin; k < end; ++k)
    if (mono->partners[mono->chunks[k].node].has_fluid)
      sum_yield(context, &mono->chunks[k], mono->chunk_sums + FLO_CHUNK_SUMS * k + 7);
}

// With the mass M of the node this is (M/scale + S) y = w, without the rows and columns of locked axes.
void flo_monolithic_give_way(const FloNode *node, double scale, const double sums[27], double y[6]) {
  double a[36] = {0}, factors[36];
  const double *upper = sums + 6;
  for (int i = 0; i < 6; ++i)
    for (int k = i; k < 6; ++k) {
      double mass = i < 3 ? (i == k ? node->mass : 0) : node->inertia[3 * (i - 3) + k - 3];
      a[6 * k + i] = flo_node_is_locked(node, i) || flo_node_is_locked(node, k) ? 0 : mass / scale + *upper;
      ++upper;
    }
  memset(y, 0, 6 * sizeof *y);
  if (flo_dense_factorise_semidefinite(6, a, factors)) flo_dense_solve(6, factors, sums, y);
}

// A body with active contacts gives only half of its mass to fluid.
static void find_yield(const FloMonolithic *mono, FloPartner *partner, const double sums[N_YIELD_SUMS]) {
  double y[6], scale = mono->dt * mono->dt / mono->rest_volume * (partner->n_active > 0 ? 2 : 1);
  flo_monolithic_give_way(partner->node, scale, sums, y);
  for (int k = 0; k < 6; ++k) partner->yield[k] = (float)y[k];
}

static void find_yields_once(Yielding *yielding) {
  FloMonolithic *mono = yielding->mono;
  FloWorld *world = yielding->world;
  flo_parallel_for(world->threads, mono->n_chunks, FLO_CHUNKS_AT_ONCE, yield_range, yielding);
  for (size_t k = 0; k < mono->n_chunks;) {
    uint32_t node = mono->chunks[k].node;
    bool has_fluid = mono->partners[node].has_fluid && !mono->partners[node].is_soft;
    double sums[N_YIELD_SUMS] = {0};
    for (; k < mono->n_chunks && mono->chunks[k].node == node; ++k)
      for (size_t i = 0; i < N_YIELD_SUMS && has_fluid; ++i)
        sums[i] += mono->chunk_sums[FLO_CHUNK_SUMS * k + 7 + i];
    if (has_fluid) find_yield(mono, &mono->partners[node], sums);
  }
}

// A row whose pressure is clamped to zero changes by less than the formula assumes. A body far lighter than a
// fluid particle would be thrown by the difference. So the yields are found again: a row that the last yields
// clamp loses exactly its pressure, D dp = -D p in place of -(e - J y).
void flo_monolithic_find_yields(FloWorld *world, FloMonolithic *mono, float relaxation) {
  enum { ROUNDS = 3 };
  Yielding yielding = {.world = world, .mono = mono, .relaxation = relaxation};
  if (mono->n_coupled == 0) return;
  for (int k = 0; k < ROUNDS; ++k) {
    yielding.is_refined = k > 0;
    find_yields_once(&yielding);
  }
}

// ---- Soft bodies ----

static FloStatus list_row(FloWorld *world, FloMonolithic *mono, size_t n, FloError *error) {
  const size_t row = mono->coupled[n];
  if (row < mono->n_fluid && world->sets[FLO_SET_FLUID].held[row]) return FLO_OK;
  flo_soft_yield_open(&mono->soft_yield, row);
  for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k) {
    const FloTouch *t = &mono->touches[k];
    const double j[3] = {(double)t->j[0], (double)t->j[1], (double)t->j[2]};
    if (mono->partners[t->node].is_soft)
      FLO_TRY(flo_soft_yield_push(&mono->soft_yield, world, t->node, j, error));
  }
  return FLO_OK;
}

FloStatus flo_monolithic_list_soft(FloWorld *world, FloMonolithic *mono, FloError *error) {
  FLO_TRY(flo_soft_yield_begin(&mono->soft_yield, world, error));
  for (size_t n = 0; mono->soft_motion.is_used && n < mono->n_coupled; ++n)
    FLO_TRY(list_row(world, mono, n, error));
  return FLO_OK;
}

// Soft bodies with active contacts give only half of their mass to fluid, too.
void flo_monolithic_find_soft_yields(FloWorld *world, FloMonolithic *mono, float relaxation) {
  double n_active = 0;
  for (size_t k = 0; mono->soft_yield.n_rows && k < world->nodes.count; ++k)
    n_active += mono->partners[k].is_soft ? mono->partners[k].n_active : 0;
  const FloYieldingRows rows = {
      .pressure = mono->pressure,
      .error = mono->error,
      .diagonal = mono->diagonal,
      .relaxation = relaxation,
      .scale = mono->dt * mono->dt / mono->rest_volume * (n_active > 0 ? 2 : 1),
  };
  flo_soft_yield_find(&mono->soft_yield, world, &rows);
  for (size_t k = 0; mono->soft_yield.n_rows && k < world->nodes.count; ++k)
    for (size_t axis = 0; mono->partners[k].is_soft && axis < 3; ++axis)
      mono->partners[k].yield[axis] = (float)mono->soft_yield.yield[3 * k + axis];
}
