// Rows: how much room is left in each kernel at the start of the step, and how pressures change that.
#include "base/parallel.h"
#include "coupling/elastic/elastic.h"
#include "sph/passes.h"

// A wet sample and the fluid next to it push the same particles in nearly the same way. Their steps add up,
// so those of samples are shorter by this factor.
#define CAUTION 2

typedef struct Rows {
  FloWorld *world;
  FloElastic *e;
  FloSet set; // of samples
} Rows;

// ---- Fluid ----

// A compression is corrected over several steps; see flo_implicit_correction.
static float source_of(const FloElastic *e, float room) {
  return room < 0 ? (float)e->correction * room : room;
}

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Rows *in = context;
  const FloWorld *world = in->world;
  FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const float self = (float)flo_kernel_w(&world->kernel, 0), volume = (float)in->e->rest_volume;
  const float *near_fluid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->kernel_sum,
              *near_walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY)->kernel_sum,
              *near_bodies = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID)->kernel_sum;
  const bool has_rigid = world->sets[FLO_SET_RIGID].count > 0;
  for (size_t i = begin; i < end; ++i) {
    float share = volume * (self + near_fluid[i]) + near_walls[i] + (has_rigid ? near_bodies[i] : 0);
    share /= (float)in->e->rest_sum;
    p->density[i] = share * p->mass[i] / volume;
    in->e->room[i] = in->e->source[i] = source_of(in->e, 1 - share);
    in->e->move[i] = volume;
    in->e->way[i] = p->held[i] ? 0 : volume * volume / p->mass[i];
  }
}

// sum_j V_j grad W_ij over all neighbours, and sum_j V_j^2/m_j |grad W_ij|^2 over fluid.
static void sweep_gradients(const Rows *in, size_t begin, size_t end) {
  const FloWorld *world = in->world;
  FloElastic *e = in->e;
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID);
  FloSweep sweep = {.pairs = pairs, .columns = e->move, .rows = e->steep};
  const FloSweep squares = {.pairs = pairs, .columns = e->way, .rows = e->diagonal};
  flo_passes()->gradient(&sweep, begin, end);
  flo_passes()->square(&squares, begin, end);
  sweep.is_added = true;
  sweep.pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY);
  sweep.columns = world->sets[FLO_SET_BOUNDARY].volume;
  flo_passes()->gradient(&sweep, begin, end);
  if (world->sets[FLO_SET_RIGID].count == 0) return;
  sweep.pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  sweep.columns = world->sets[FLO_SET_RIGID].volume;
  flo_passes()->gradient(&sweep, begin, end);
}

// The change of the error by the row's own pressure, without bodies. It is at least that of the prototype, a
// particle in a filled lattice: a particle with few neighbours would otherwise get absurd pressures.
static void fluid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Rows *in = context;
  FloElastic *e = in->e;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const float scale = (float)(e->dt * e->dt * e->rest_volume),
              least = (float)(e->prototype * e->rest_volume * e->rest_volume);
  sweep_gradients(in, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, p->count); ++i) {
    const float *g = e->steep + 4 * i;
    float own = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / p->mass[i] + e->diagonal[i];
    e->diagonal[i] = p->held[i] ? 0 : scale * fmaxf(own, least / p->mass[i]);
  }
}

// ---- Samples ----

static float *near_of(const FloElastic *e, FloSet set) {
  return set == FLO_SET_BOUNDARY ? e->near_walls : e->near_bodies;
}

static void describe_sample(const Rows *in, size_t i) {
  FloElastic *e = in->e;
  const size_t row = e->first[in->set] + i;
  const FloPairs *pairs = flo_pairs_of(in->world, in->set, FLO_SET_FLUID);
  bool is_wet = e->has_wet && pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->row_count[i] > 0 &&
                flo_wet_sample_is_wet(&e->wet_samples, in->world, in->set, i);
  e->room[row] = e->source[row] = 0;
  if (!is_wet) e->diagonal[row] = 0;
  if (!is_wet) return;
  float fluid = (float)(e->rest_volume / e->rest_sum) * pairs->kernel_sum[i];
  e->room[row] = e->source[row] =
      source_of(e, flo_wet_sample_room(&e->wet_samples, in->world, in->set, i) - fluid);
  e->diagonal[row] *= (float)(CAUTION * e->dt * e->dt * e->rest_volume);
}

static void sample_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Rows *in = context;
  FloElastic *e = in->e;
  const FloPairs *pairs = flo_pairs_of(in->world, in->set, FLO_SET_FLUID);
  const FloSweep among = {.pairs = pairs, .columns = e->move, .rows = near_of(e, in->set)},
                 squares = {.pairs = pairs, .columns = e->way, .rows = e->diagonal + e->first[in->set]};
  flo_passes()->gradient(&among, begin, end);
  flo_passes()->square(&squares, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, pairs->n_rows); ++i)
    describe_sample(in, i);
}

void flo_elastic_describe(FloWorld *world, FloElastic *e) {
  static const FloSet sets[] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  Rows rows = {world, e, FLO_SET_FLUID};
  flo_each_particle(world, FLO_SET_FLUID, density_range, &rows);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, fluid_range, &rows);
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k) {
    rows.set = sets[k];
    if (world->sets[sets[k]].count) flo_each_block(world, sets[k], FLO_SET_FLUID, sample_range, &rows);
  }
}
