// How easily bodies yield, as part of the diagonals of the rows next to them.
//
// A row whose pressure pushes a body also pushes all other rows next to that body. If each of them took the
// step that suits it alone, their steps would add up and throw a light body about. The diagonals of such rows
// are therefore larger by the sum over a row of the matrix J M^-1 J^T of nodes, with all its entries made
// positive. This sum is at least its largest eigenvalue, so that steps are never too long:
//
//   d_i += dt^2 V0 sum_b |J_ib| u_b,   u_b = sum over the nodes k of sample b: |share_bk| L_k/m_k,
//   L_k = sum_b |share_bk| sum_i |J_ib|,   |J_ib| = V_b |grad W_ib|
//
// and the same for turning, with arms. Soft bodies, whose nodes hold each other, are treated apart:
// forces/soft_yield.h.
#include "base/parallel.h"
#include "coupling/elastic/elastic.h"
#include "coupling/forces/carried.h"

#include <string.h>

typedef struct Weighing {
  FloWorld *world;
  FloElastic *e;
} Weighing;

enum { LOAD, TURNING_LOAD };

// The weighted sum of |grad W| over the neighbours of a row; weights: per column, or NULL for ones.
static double sum_slopes(const FloPairs *pairs, size_t i, const float *weights) {
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const size_t lane = i % FLO_BLOCK;
  double sum = 0;
  for (int32_t k = 0; pairs->slot_count[i / FLO_BLOCK] && k < pairs->row_count[i]; ++k) {
    const double g[3] = {(double)slots[k].gx[lane], (double)slots[k].gy[lane], (double)slots[k].gz[lane]};
    sum += vec_length(g) * (weights ? (double)weights[slots[k].index[lane]] : 1);
  }
  return sum;
}

static double own_slope(const FloElastic *e, size_t sample) {
  const float *near = e->near_bodies + 4 * sample;
  const double g[3] = {(double)near[0], (double)near[1], (double)near[2]};
  return e->diagonal[e->first[FLO_SET_RIGID] + sample] > 0 ? vec_length(g) : 0;
}

static bool is_soft(const FloWorld *world, size_t sample) {
  return flo_body_is_soft(&flo_bodies(world)[world->sets[FLO_SET_RIGID].body[sample]]);
}

// ---- Loads of nodes ----

static void load_nodes(const FloWorld *world, FloElastic *e, size_t sample) {
  const FloParticles *samples = &world->sets[FLO_SET_RIGID];
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_FLUID);
  const double push =
      (double)samples->volume[sample] * sum_slopes(pairs, sample, NULL) + own_slope(e, sample);
  if (!(push > 0) || is_soft(world, sample)) return;
  const FloCarried carried = flo_world_carried(world, sample);
  for (int k = 0; k < carried.count; ++k) {
    double *load = e->loads + 2 * carried.nodes[k];
    const double share = fabs(carried.shares[k]);
    load[LOAD] += share * push;
    load[TURNING_LOAD] += share * push * vec_length(carried.arms[k]);
  }
}

static double largest_of(const double values[3]) { return fmax(fmax(values[0], values[1]), values[2]); }

// From loads to velocities.
static void move_node(const FloNode *node, double load[2]) {
  const double *inverse = node->inverse_inertia, diagonal[3] = {inverse[0], inverse[4], inverse[8]};
  load[LOAD] *= largest_of(node->inverse_mass);
  load[TURNING_LOAD] *= largest_of(diagonal);
}

// ---- Diagonals ----

static void yield_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Weighing *in = context;
  const FloElastic *e = in->e;
  const float scale = (float)(e->dt * e->dt * e->rest_volume);
  for (size_t i = begin; i < end; ++i) {
    const FloCarried carried = flo_world_carried(in->world, i);
    double sum = 0;
    for (int k = 0; k < carried.count; ++k) {
      const double *load = e->loads + 2 * carried.nodes[k];
      sum += fabs(carried.shares[k]) * (load[LOAD] + vec_length(carried.arms[k]) * load[TURNING_LOAD]);
    }
    e->yields[i] = (float)sum * in->world->sets[FLO_SET_RIGID].volume[i];
    e->diagonal[e->first[FLO_SET_RIGID] + i] += scale * (float)(own_slope(e, i) * sum);
  }
}

static void fluid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Weighing *in = context;
  FloElastic *e = in->e;
  const FloPairs *pairs = flo_pairs_of(in->world, FLO_SET_FLUID, FLO_SET_RIGID);
  const double scale = e->dt * e->dt * e->rest_volume;
  for (size_t i = begin; i < end; ++i)
    if (e->diagonal[i] > 0 && pairs->slot_count[i / FLO_BLOCK])
      e->diagonal[i] += (float)(scale * sum_slopes(pairs, i, e->yields));
}

void flo_elastic_weigh_bodies(FloWorld *world, FloElastic *e) {
  Weighing in = {world, e};
  if (!e->has_bodies) return;
  memset(e->loads, 0, 2 * world->nodes.count * sizeof *e->loads);
  for (size_t i = 0; i < world->sets[FLO_SET_RIGID].count; ++i) load_nodes(world, e, i);
  for (size_t k = 0; k < world->nodes.count; ++k) move_node(flo_node_at(world, k), e->loads + 2 * k);
  flo_each_particle(world, FLO_SET_RIGID, yield_range, &in);
  flo_each_particle(world, FLO_SET_FLUID, fluid_range, &in);
}

// ---- Rows next to soft bodies ----

// The force on the nodes of a sample, per unit of the row's pressure.
static FloStatus push_sample(FloWorld *world, FloElastic *e, size_t sample, const double force[3],
                             FloError *error) {
  const FloCarried carried = flo_world_carried(world, sample);
  for (int k = 0; k < carried.count; ++k) {
    double j[3];
    vec_scale(force, carried.shares[k], j);
    FLO_TRY(flo_soft_yield_push(&e->soft_yield, world, carried.nodes[k], j, error));
  }
  return FLO_OK;
}

static FloStatus list_fluid(FloWorld *world, FloElastic *e, size_t i, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const size_t lane = i % FLO_BLOCK;
  flo_soft_yield_open(&e->soft_yield, i);
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    const size_t sample = (size_t)slots[k].index[lane];
    const double scale = e->rest_volume * (double)world->sets[FLO_SET_RIGID].volume[sample];
    const double force[3] = {scale * (double)slots[k].gx[lane], scale * (double)slots[k].gy[lane],
                             scale * (double)slots[k].gz[lane]};
    if (is_soft(world, sample)) FLO_TRY(push_sample(world, e, sample, force, error));
  }
  return FLO_OK;
}

static FloStatus list_sample(FloWorld *world, FloElastic *e, size_t i, FloError *error) {
  const size_t row = e->first[FLO_SET_RIGID] + i;
  const float *near = e->near_bodies + 4 * i;
  const double scale = -e->rest_volume,
               force[3] = {scale * (double)near[0], scale * (double)near[1], scale * (double)near[2]};
  if (!(e->diagonal[row] > 0) || !is_soft(world, i)) return FLO_OK;
  flo_soft_yield_open(&e->soft_yield, row);
  return push_sample(world, e, i, force, error);
}

FloStatus flo_elastic_list_soft(FloWorld *world, FloElastic *e, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  FLO_TRY(flo_soft_yield_begin(&e->soft_yield, world, error));
  if (e->n_rows) memset(e->eased, 0, e->n_rows * sizeof *e->eased);
  if (!e->has_bodies || !e->soft_motion.is_used) return FLO_OK;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    if (e->diagonal[i] > 0 && pairs->slot_count[i / FLO_BLOCK] && pairs->row_count[i])
      FLO_TRY(list_fluid(world, e, i, error));
  for (size_t i = 0; i < world->sets[FLO_SET_RIGID].count; ++i) FLO_TRY(list_sample(world, e, i, error));
  return FLO_OK;
}
