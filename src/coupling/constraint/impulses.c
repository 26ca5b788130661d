// Forces that follow from the unknowns: on fluid, (25) corrected to (m_j lambda_i + m_i lambda_j)/rho0, and
// on walls. They are formed anew from the unknowns, so that they are equal and opposite to rounding; the
// velocities of the iterations have gathered rounding errors.
#include "base/parallel.h"
#include "coupling/constraint/constraint.h"
#include "coupling/forces/felt_pressure.h"

#include <string.h>

// Sums over the samples of a set need p of each sample, zero for dry ones.
static void spread_wet(FloConstraint *c, size_t first, size_t n, size_t n_samples, float *p) {
  if (n_samples) memset(p, 0, n_samples * sizeof(float));
  for (size_t k = first; k < first + n; ++k) p[c->wet[k]] = c->p[c->n_fluid + k];
}

typedef struct Work {
  FloWorld *world;
  FloConstraint *c;
} Work;

static void gather_set(const Work *work, FloSet set, const float *p, size_t begin, size_t end) {
  const FloPairs *pairs = flo_pairs_of(work->world, FLO_SET_FLUID, set);
  const FloSweep sweep = {.pairs = pairs, .columns = p, .rows = work->c->force, .is_added = true};
  if (pairs->n_blocks && work->world->sets[set].count) flo_passes()->gradient(&sweep, begin, end);
}

static void force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  FloConstraint *c = work->c;
  const FloSweep among = {
      .pairs = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_FLUID), .columns = c->p, .rows = c->force};
  flo_passes()->gradient(&among, begin, end);
  if (c->n_walls) gather_set(work, FLO_SET_BOUNDARY, c->wall_p, begin, end);
  if (c->n_bodies) gather_set(work, FLO_SET_RIGID, c->body_p, begin, end);
  const float scale = (float)(-c->rest_volume / (c->rest_sum * c->dt)), per_dt = -1 / (float)c->dt;
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, c->n_fluid); ++i) {
    float *f = c->force + 4 * i, own = per_dt * c->p[i];
    for (size_t axis = 0; axis < 3; ++axis)
      f[axis] = scale * f[axis] + own * c->links[c->link_begin[i]].g[axis];
  }
}

static void add_distances(FloConstraint *c) {
  for (size_t k = 0, first = flo_constraint_first_distance(c); k < c->n_distances; ++k) {
    const FloFluidContact *contact = &c->contacts[k];
    const float push = c->p[first + k] / (float)c->dt;
    for (size_t axis = 0; axis < 3; ++axis)
      c->force[4 * (size_t)contact->particle + axis] += push * contact->normal[axis];
  }
}

// ---- What the next step starts from ----

static void keep_wet(FloWorld *world, FloConstraint *c, FloSet set, size_t first, size_t n) {
  FloParticles *samples = &world->sets[set];
  float *kept = samples->extra[FLO_CONSTRAINT_WET];
  if (samples->count) memset(kept, 0, samples->count * sizeof(float));
  for (size_t k = first; k < first + n; ++k)
    kept[c->wet[k]] = c->p[c->n_fluid + k] / ((float)c->dt * samples->volume[c->wet[k]]);
}

static void keep_distances(FloWorld *world, FloConstraint *c) {
  float *const *kept = (float *const *)world->sets[FLO_SET_FLUID].extra + FLO_CONSTRAINT_PUSH;
  for (int axis = 0; axis < 3 && c->n_fluid; ++axis) memset(kept[axis], 0, c->n_fluid * sizeof(float));
  for (size_t k = 0, first = flo_constraint_first_distance(c); k < c->n_distances; ++k)
    for (int axis = 0; axis < 3; ++axis)
      kept[axis][c->contacts[k].particle] += c->p[first + k] / (float)c->dt * c->contacts[k].normal[axis];
}

// The stress with the part that solids cover, as if they had the multiplier of the particle.
static void feel_field(FloWorld *world, const FloConstraint *c) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  const float *warm = fluid->extra[FLO_CONSTRAINT_WARM];
  flo_world_feel_pressure(world, FLO_CONSTRAINT_WARM, FLO_NO_FIELD);
  for (size_t i = 0; i < c->n_fluid; ++i) fluid->pressure[i] += warm[i] * flo_constraint_cover_stress(c, i);
}

static void keep_pressures(FloWorld *world, FloConstraint *c) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  float *warm = fluid->extra[FLO_CONSTRAINT_WARM], per = 1 / (float)(c->rest_volume * c->dt);
  for (size_t i = 0; i < c->n_fluid; ++i) warm[i] = fluid->pressure[i] = per * c->p[i];
  keep_wet(world, c, FLO_SET_BOUNDARY, 0, c->n_walls);
  keep_wet(world, c, FLO_SET_RIGID, c->n_walls, c->n_bodies);
  keep_distances(world, c);
  // Without either, fluid has no stress next to solids; its multipliers are reported.
  if (flo_constraint_has_samples(world))
    flo_world_feel_pressure(world, FLO_CONSTRAINT_WARM, FLO_CONSTRAINT_WET);
  if (flo_constraint_has_field(world)) feel_field(world, c);
}

static void total_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloConstraint *c = context;
  for (size_t k = 4 * begin; k < 4 * end; ++k) c->force[k] += c->explicit_force[k];
}

void flo_constraint_find_forces(FloWorld *world, FloConstraint *c) {
  Work work = {world, c};
  spread_wet(c, 0, c->n_walls, world->sets[FLO_SET_BOUNDARY].count, c->wall_p);
  spread_wet(c, c->n_walls, c->n_bodies, world->sets[FLO_SET_RIGID].count, c->body_p);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, force_range, &work);
  flo_constraint_add_feet(c, c->force);
  add_distances(c);
}

void flo_constraint_take_forces(FloWorld *world, FloConstraint *c) {
  flo_constraint_find_forces(world, c);
  flo_each_particle(world, FLO_SET_FLUID, total_range, c);
  keep_pressures(world, c);
}

// ---- Forces on walls, requested between steps ----

typedef struct OnWalls {
  const FloWorld *world;
  const FloConstraint *c;
  float *force;
} OnWalls;

static void wall_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const OnWalls *in = context;
  const FloConstraint *c = in->c;
  const FloParticles *b = &in->world->sets[FLO_SET_BOUNDARY];
  const FloPairs *pairs = flo_pairs_of(in->world, FLO_SET_BOUNDARY, FLO_SET_FLUID);
  const FloSweep sweep = {.pairs = pairs, .columns = c->p, .rows = in->force};
  const bool has_samples = flo_constraint_has_samples(in->world);
  flo_passes()->gradient(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, b->count); ++i) {
    const float scale = has_samples ? (float)(-1 / (c->rest_sum * c->dt)) * b->volume[i] : 0;
    for (size_t axis = 0; axis < 3; ++axis) in->force[4 * i + axis] *= scale;
  }
}

static void add_wet_walls(const FloConstraint *c, float *force) {
  for (size_t k = 0; k < c->n_walls; ++k) {
    const size_t row = c->n_fluid + k;
    const float push = c->p[row] / (float)c->dt;
    for (uint32_t n = c->link_begin[row], end = n + c->link_count[row]; n < end; ++n)
      for (size_t axis = 0; axis < 3; ++axis)
        force[4 * (size_t)c->wet[k] + axis] += push * c->links[n].g[axis];
  }
}

static void add_wall_distances(const FloWorld *world, const FloConstraint *c, float *force) {
  const size_t first = flo_constraint_first_distance(c);
  for (size_t k = 0; k < c->n_distances; ++k) {
    const FloFluidContact *contact = &c->contacts[k];
    if (contact->sample >= world->sets[FLO_SET_BOUNDARY].count) continue;
    for (size_t axis = 0; axis < 3; ++axis)
      force[4 * (size_t)contact->sample + axis] -= c->p[first + k] / (float)c->dt * contact->normal[axis];
  }
}

// The boundary field pushes the sample near the particle.
static void add_wall_field(const FloWorld *world, const FloConstraint *c, float *force) {
  for (size_t k = 0; flo_constraint_has_field(world) && k < c->near_begin[c->n_fluid]; ++k) {
    const FloNearSolid *near = &c->near[k];
    if (near->sample >= world->sets[FLO_SET_BOUNDARY].count) continue;
    for (size_t axis = 0; axis < 3; ++axis)
      force[4 * (size_t)near->sample + axis] += c->p[near->particle] / (float)c->dt * near->g[axis];
  }
}

FloStatus flo_constraint_solid_forces(FloWorld *world, FloConstraint *c, float *wall_force, FloError *error) {
  OnWalls in = {world, c, wall_force};
  FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  flo_each_block(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, wall_range, &in);
  add_wet_walls(c, wall_force);
  flo_constraint_add_feet_to_walls(world, c, wall_force);
  add_wall_distances(world, c, wall_force);
  add_wall_field(world, c, wall_force);
  flo_body_solve_add_to_walls(&c->bodies, world, wall_force);
  return FLO_OK;
}
