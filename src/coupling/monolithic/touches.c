// Fluid next to bodies (3.15): the effect of each fluid row on the nodes near it, and viscous drag.
#include "coupling/monolithic/monolithic.h"

// ---- Touches ----

static FloStatus add_touch(FloWorld *world, FloMonolithic *mono, uint32_t row, uint32_t node,
                           FloError *error) {
  size_t n = mono->n_touches;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_TOUCHES, (n + 1) * sizeof(FloTouch),
                                 n * sizeof(FloTouch), error));
  mono->touches = mono->buffers[FLO_BUFFER_TOUCHES].data;
  mono->touches[n] = (FloTouch){.row = row, .node = node};
  mono->n_touches++;
  return FLO_OK;
}

// The touch of this node among those from `first` on; a new one if there is none.
static FloStatus find_touch(FloWorld *world, FloMonolithic *mono, size_t first, uint32_t row, uint32_t node,
                            size_t *found, FloError *error) {
  for (*found = first; *found < mono->n_touches; ++*found)
    if (mono->touches[*found].node == node) return FLO_OK;
  return add_touch(world, mono, row, node, error);
}

// ---- Pairs of fluid and samples ----

// One pair of a fluid particle and a sample.
typedef struct FluidPair {
  size_t i, sample;
  double g[3]; // grad W
  double drag; // force on the body along g, per velocity along g
  FloCarried carriers;
} FluidPair;

static FluidPair find_pair(const FloWorld *world, const FloMonolithic *mono, size_t i, size_t slot) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairSlot *s = &pairs->slots[slot];
  const FloViscosity *viscosity = &mono->forces.viscosity;
  const FloFluidCoefficients *each = viscosity->each.data,
                             *c = viscosity->is_single ? &viscosity->all : each + i;
  size_t lane = i % FLO_BLOCK;
  FluidPair pair = {.i = i,
                    .sample = (size_t)s->index[lane],
                    .g = {(double)s->gx[lane], (double)s->gy[lane], (double)s->gz[lane]}};
  pair.carriers = flo_world_carried(world, pair.sample);
  // See pair_viscosity: a pair's factor is negative.
  pair.drag = -(double)(c->wall * pairs->viscous[slot * FLO_BLOCK + lane]) *
              (double)world->sets[FLO_SET_RIGID].volume[pair.sample] / mono->rest_volume;
  return pair;
}

// Velocity of the fluid relative to the sample, along g. With `has_drift`, the velocities of nodes include
// their drift.
static double approach_of(const FloWorld *world, const FloMonolithic *mono, const FluidPair *pair,
                          bool has_drift) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID], *rigid = &world->sets[FLO_SET_RIGID];
  double v[3] = {(double)fluid->vx[pair->i] - (double)rigid->vx[pair->sample],
                 (double)fluid->vy[pair->i] - (double)rigid->vy[pair->sample],
                 (double)fluid->vz[pair->i] - (double)rigid->vz[pair->sample]},
         turn[3];
  for (int k = 0; has_drift && k < pair->carriers.count; ++k) {
    const double *drift = mono->partners[pair->carriers.nodes[k]].drift, share = pair->carriers.shares[k];
    vec_cross(drift + 3, pair->carriers.arms[k], turn);
    vec_add_scaled(v, drift, -share, v);
    vec_add_scaled(v, turn, -share, v);
  }
  return vec_dot(v, pair->g);
}

// Adds the drag on a node at its present velocities (w), and how it changes with these velocities (K).
static void sum_drag(const FluidPair *pair, int k, double force, FloPartner *partner) {
  double j[6], *matrix = partner->drag_sums + 6, share = pair->carriers.shares[k];
  vec_scale(pair->g, share, j);
  vec_cross(pair->carriers.arms[k], j, j + 3);
  for (int row = 0; row < 6; ++row) {
    partner->drag_sums[row] += force * j[row];
    for (int column = row; column < 6; ++column) *matrix++ += pair->drag * j[row] * j[column];
  }
}

static FloStatus meet_sample(FloWorld *world, FloMonolithic *mono, const FluidPair *pair, size_t first,
                             FloError *error) {
  double volume = (double)world->sets[FLO_SET_RIGID].volume[pair->sample];
  double drag = pair->drag > 0 ? pair->drag * approach_of(world, mono, pair, false) : 0;
  for (int k = 0; k < pair->carriers.count; ++k) {
    uint32_t node = pair->carriers.nodes[k];
    size_t touch;
    double force[3];
    FLO_TRY(find_touch(world, mono, first, (uint32_t)pair->i, node, &touch, error));
    vec_scale(pair->g, mono->rest_volume * volume * pair->carriers.shares[k], force);
    flo_touch_add_wrench(mono->touches[touch].j, force, pair->carriers.arms[k]);
    if (pair->drag > 0) sum_drag(pair, k, drag, &mono->partners[node]);
  }
  return FLO_OK;
}

// Notes that a row has the touches from `first` on.
static FloStatus couple_row(FloWorld *world, FloMonolithic *mono, size_t row, size_t first, FloError *error) {
  size_t n = mono->n_coupled++;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_COUPLED, (n + 1) * 4, n * 4, error));
  FLO_TRY(
      flo_monolithic_reserve(world, mono, FLO_BUFFER_FLUID_BEGIN, (n + 2) * 4, n ? (n + 1) * 4 : 0, error));
  mono->coupled = mono->buffers[FLO_BUFFER_COUPLED].data;
  mono->fluid_touch_begin = mono->buffers[FLO_BUFFER_FLUID_BEGIN].data;
  mono->coupled[n] = (uint32_t)row;
  mono->fluid_touch_begin[n] = (uint32_t)first;
  mono->fluid_touch_begin[n + 1] = (uint32_t)mono->n_touches;
  return FLO_OK;
}

// The pressure of a wet sample pushes the nodes that carry it.
static FloStatus meet_wet_row(FloWorld *world, FloMonolithic *mono, const FloWet *wet, size_t row,
                              FloError *error) {
  const FloCarried carriers = flo_world_carried(world, wet->samples[row]);
  const float *g = wet->steep + 4 * row;
  size_t first = mono->n_touches;
  for (int k = 0; k < carriers.count; ++k) {
    double scale = -mono->rest_volume * carriers.shares[k];
    double force[3] = {scale * (double)g[0], scale * (double)g[1], scale * (double)g[2]};
    FLO_TRY(add_touch(world, mono, (uint32_t)(wet->first_row + row), carriers.nodes[k], error));
    flo_touch_add_wrench(mono->touches[mono->n_touches - 1].j, force, carriers.arms[k]);
  }
  return couple_row(world, mono, wet->first_row + row, first, error);
}

static FloStatus meet_fluid_row(FloWorld *world, FloMonolithic *mono, size_t i, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  size_t first = mono->n_touches, begin = pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    FluidPair pair = find_pair(world, mono, i, begin + (size_t)k);
    FLO_TRY(meet_sample(world, mono, &pair, first, error));
  }
  return couple_row(world, mono, i, first, error);
}

static FloStatus meet_rows(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  for (size_t block = 0; block < pairs->n_blocks; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, pairs->n_rows); ++i)
      if (pairs->row_count[i] > 0) FLO_TRY(meet_fluid_row(world, mono, i, error));
  }
  return FLO_OK;
}

static void drag_node(const FluidPair *pair, int k, const double force[3], FloPartner *partner) {
  double share[3], torque[3];
  vec_scale(force, pair->carriers.shares[k], share);
  vec_cross(pair->carriers.arms[k], share, torque);
  vec_add(partner->drag, share, partner->drag);
  vec_add(partner->turn_drag, torque, partner->turn_drag);
}

// Drag is explicit for the fluid, whose time step is short enough. But explicit drag would throw a light body
// to and fro. So a body gets the drag at its velocities after the step, (1 + dt M^-1 K) drift = dt M^-1 w.
// Both sides get the same force.
static void drag_row(FloWorld *world, FloMonolithic *mono, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  size_t begin = pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t n = 0; n < pairs->row_count[i]; ++n) {
    FluidPair pair = find_pair(world, mono, i, begin + (size_t)n);
    double force[3];
    vec_scale(pair.g, pair.drag * approach_of(world, mono, &pair, true), force);
    for (int k = 0; k < pair.carriers.count; ++k)
      drag_node(&pair, k, force, &mono->partners[pair.carriers.nodes[k]]);
    for (size_t axis = 0; axis < 3; ++axis) mono->explicit_force[4 * i + axis] -= (float)force[axis];
  }
}

static void drag_bodies(FloWorld *world, FloMonolithic *mono) {
  bool has_drag = false;
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    flo_monolithic_give_way(partner->node, mono->dt, partner->drag_sums, partner->drift);
    for (int row = 0; row < 6; ++row) has_drag = has_drag || partner->drag_sums[row] != 0;
  }
  for (size_t n = 0; has_drag && n < mono->n_coupled; ++n)
    if (mono->coupled[n] < mono->n_fluid) drag_row(world, mono, mono->coupled[n]);
}

FloStatus flo_monolithic_meet_fluid(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloWet *wet = &mono->wet[1];
  FLO_TRY(meet_rows(world, mono, error));
  for (size_t row = 0; row < wet->n_rows; ++row) FLO_TRY(meet_wet_row(world, mono, wet, row, error));
  drag_bodies(world, mono);
  return FLO_OK;
}
