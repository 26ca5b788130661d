// Stages of a step that methods share: neighbours and integration.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "state/state.h"

#include <string.h>

// ---- Neighbours ----

FloStatus flo_world_update_boundary_grid(FloWorld *world, FloError *error) {
  if (world->is_boundary_grid_current) return FLO_OK;
  FloParticles *boundary = &world->sets[FLO_SET_BOUNDARY];
  FLO_TRY(flo_grid_build(&world->grids[FLO_SET_BOUNDARY], boundary, boundary->volume, world->threads, error));
  world->is_boundary_grid_current = true;
  return FLO_OK;
}

static FloStatus update_fluid_grid(FloWorld *world, FloError *error) {
  FloGrid *grid = &world->grids[FLO_SET_FLUID];
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  FLO_TRY(flo_grid_build(grid, fluid, NULL, world->threads, error));
  // Moving every field is worth it once the order has decayed noticeably, not each step.
  if (grid->n_descents * 16 > grid->count)
    FLO_TRY(flo_grid_sort_particles(grid, fluid, world->threads, error));
  return FLO_OK;
}

// Lists that reach further than the support, by a skin, stay complete until two particles may have approached
// each other by it (Verlet 1967). A skin d costs about 3 d of the work of each step, since it is the share of
// pairs that it adds, and spares a search that costs twice as much in all but every d/approach-th step. That
// is least for d = sqrt(2/3 approach); where it lasts for less than two steps, none is better. Few different
// skins, so that cells seldom change.
static double choose_skin(const FloWorld *world, double dt) {
  static const double skins[] = {0.06, 0.03, 0.015};
  double speed = fmax(world->max_speed, flo_world_any_wall_speed(world));
  double approach = 2 * speed * dt / world->kernel.support, best = sqrt(2.0 / 3 * approach);
  // Where walls move, lists are made in each step anyway.
  if (!world->method->has_small_steps || flo_world_has_moving_walls(world)) return 0;
  for (size_t k = 0; k < FLO_COUNT_OF(skins); ++k)
    if (best > 0.7 * skins[k] || k + 1 == FLO_COUNT_OF(skins)) return skins[k] > 2 * approach ? skins[k] : 0;
  return 0;
}

void flo_world_set_reach(FloWorld *world, double reach) {
  if (reach == world->lists.reach || !flo_lattice_set_reach(&world->lattice, reach)) return;
  world->lists.reach = reach;
  world->is_boundary_grid_current = false;
}

static bool are_lists_complete(FloWorld *world) {
  if (!world->lists.is_current || !world->is_boundary_grid_current || world->lists.reach == 1) return false;
  const FloSet sets[] = {FLO_SET_FLUID, FLO_SET_RIGID};
  double moved = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k)
    moved = fmax(moved, flo_grid_refresh(&world->grids[sets[k]], &world->sets[sets[k]], world->threads));
  // The little more is for rounding.
  return 2 * moved + 1e-6 < world->lists.reach - 1;
}

enum { MAX_OPERATORS = 6 };

typedef struct Operators {
  int count;
  FloPairs *pairs[MAX_OPERATORS];
  FloPairsSpec specs[MAX_OPERATORS];
} Operators;

static void add_operator(FloWorld *world, Operators *all, FloPairs *pairs, FloSet rows, FloSet columns,
                         bool with_viscous) {
  all->pairs[all->count] = pairs;
  all->specs[all->count++] = (FloPairsSpec){.rows = &world->grids[rows],
                                            .columns = &world->grids[columns],
                                            .kernel = world->kernel,
                                            .reach = world->lists.reach,
                                            .with_viscous = with_viscous,
                                            .threads = world->threads};
}

// Those that the method sweeps and that are not empty from the outset.
static Operators describe_operators(FloWorld *world) {
  const FloSet fluid = FLO_SET_FLUID, wall = FLO_SET_BOUNDARY, rigid = FLO_SET_RIGID;
  Operators all = {0};
  add_operator(world, &all, &world->fluid_fluid, fluid, fluid, true);
  add_operator(world, &all, &world->fluid_boundary, fluid, wall, true);
  if (world->method->has_wall_rows) add_operator(world, &all, &world->boundary_fluid, wall, fluid, true);
  if (world->sets[rigid].count == 0) return all;
  add_operator(world, &all, &world->fluid_rigid, fluid, rigid, true);
  add_operator(world, &all, &world->rigid_boundary, rigid, wall, false);
  add_operator(world, &all, &world->rigid_rigid, rigid, rigid, false);
  all.specs[all.count - 1].groups = world->sets[rigid].body;
  return all;
}

FloStatus flo_world_build_operators(FloWorld *world, FloError *error) {
  Operators all = describe_operators(world);
  for (int k = 0; k < all.count; ++k) FLO_TRY(flo_pairs_build(all.pairs[k], &all.specs[k], error));
  return FLO_OK;
}

FloStatus flo_world_build_wall_rows(FloWorld *world, FloError *error) {
  Operators all = {0};
  add_operator(world, &all, &world->boundary_fluid, FLO_SET_BOUNDARY, FLO_SET_FLUID, true);
  return flo_pairs_build(all.pairs[0], &all.specs[0], error);
}

static FloStatus update_rigid_grid(FloWorld *world, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  return flo_grid_build(&world->grids[FLO_SET_RIGID], rigid, rigid->volume, world->threads, error);
}

FloStatus flo_world_list_neighbours(FloWorld *world, double skin, FloError *error) {
  double since = flo_seconds();
  world->lists.is_current = world->lists.has_clearances = world->has_step_state = false;
  flo_world_set_reach(world, 1 + skin);
  FLO_TRY(flo_world_update_boundary_grid(world, error));
  FLO_TRY(update_fluid_grid(world, error));
  FLO_TRY(update_rigid_grid(world, error));
  since = flo_world_stage_done(world, FLO_STAGE_SORT, since);
  FLO_TRY(flo_world_build_operators(world, error));
  world->lists.is_current = true, world->lists.age = 0;
  flo_world_stage_done(world, FLO_STAGE_NEIGHBOURS, since);
  return FLO_OK;
}

FloStatus flo_world_find_neighbours(FloWorld *world, double dt, FloError *error) {
  double since = flo_seconds();
  bool are_complete = are_lists_complete(world);
  since = flo_world_stage_done(world, FLO_STAGE_SORT, since);
  if (!are_complete) return flo_world_list_neighbours(world, choose_skin(world, dt), error);
  ++world->lists.age;
  Operators all = describe_operators(world);
  for (int k = 0; k < all.count; ++k) flo_pairs_refill(all.pairs[k], &all.specs[k]);
  flo_world_stage_done(world, FLO_STAGE_NEIGHBOURS, since);
  return FLO_OK;
}

// ---- Integration: symplectic Euler ----

typedef struct Integrate {
  FloWorld *world;
  const float *force;
  float dt, gravity[3];
  double dt_exact;
  float speed2_limit;
  float kept; // share of a velocity that is left after the step
  size_t grain;
  struct {
    float speed2, acceleration2;
    size_t bad; // first particle that left the range of sense, or SIZE_MAX
  } chunks[FLO_MAX_CHUNKS];
} Integrate;

// Adds to a velocity kept as a float and the rest that the float cannot hold. A plain sum would lose small
// kicks of fast particles but not those of their slow neighbours, and so break the symmetry that conserves
// momentum.
static inline void add_compensated(float *v, float *rest, float kick) {
  float wanted = kick + *rest, sum = *v + wanted;
  *rest = wanted - (sum - *v);
  *v = sum;
}

static void kick(const Integrate *in, FloParticles *p, size_t i) {
  const float *f = in->force + 4 * i;
  float per_mass = 1 / p->mass[i];
  bool is_held = p->held[i] != 0;
  p->ax[i] = is_held ? 0 : f[0] * per_mass + in->gravity[0];
  p->ay[i] = is_held ? 0 : f[1] * per_mass + in->gravity[1];
  p->az[i] = is_held ? 0 : f[2] * per_mass + in->gravity[2];
  add_compensated(&p->vx[i], &p->vx_low[i], in->dt * p->ax[i]);
  add_compensated(&p->vy[i], &p->vy_low[i], in->dt * p->ay[i]);
  add_compensated(&p->vz[i], &p->vz_low[i], in->dt * p->az[i]);
}

static void brake(const Integrate *in, FloParticles *p, size_t i) {
  p->vx[i] *= in->kept, p->vx_low[i] *= in->kept;
  p->vy[i] *= in->kept, p->vy_low[i] *= in->kept;
  p->vz[i] *= in->kept, p->vz_low[i] *= in->kept;
}

static void kick_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Integrate *in = context;
  FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) kick(in, p, i);
  for (size_t i = begin; i < end && in->kept < 1; ++i) brake(in, p, i);
}

static void integrate_range(void *context, size_t begin, size_t end, int thread) {
  Integrate *in = context;
  FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  float speed2 = 0, acceleration2 = 0;
  if (in->force) {
    kick_range(context, begin, end, thread);
    flo_world_keep_out(in->world, begin, end, in->dt_exact);
  }
  for (size_t i = begin; i < end; ++i) {
    p->x[i] += in->dt_exact * ((double)p->vx[i] + (double)p->vx_low[i]);
    p->y[i] += in->dt_exact * ((double)p->vy[i] + (double)p->vy_low[i]);
    p->z[i] += in->dt_exact * ((double)p->vz[i] + (double)p->vz_low[i]);
  }
  size_t bad = SIZE_MAX;
  for (size_t i = begin; i < end; ++i) {
    float v2 = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    float a2 = p->ax[i] * p->ax[i] + p->ay[i] * p->ay[i] + p->az[i] * p->az[i];
    // Written so that NaN is bad too.
    bool is_bad = !(v2 < in->speed2_limit);
    if (is_bad || v2 > speed2) {
      // Where it was before: who is shot past the walls in this step is not lost, but bad.
      const double x[3] = {p->x[i] - in->dt_exact * (double)p->vx[i],
                           p->y[i] - in->dt_exact * (double)p->vy[i],
                           p->z[i] - in->dt_exact * (double)p->vz[i]};
      if (flo_world_is_lost(in->world, x)) continue;
    }
    if (is_bad && i < bad) bad = i;
    speed2 = v2 > speed2 ? v2 : speed2;
    acceleration2 = a2 > acceleration2 ? a2 : acceleration2;
  }
  in->chunks[begin / in->grain].speed2 = speed2;
  in->chunks[begin / in->grain].acceleration2 = acceleration2;
  in->chunks[begin / in->grain].bad = bad;
}

static void wrap_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloWorld *world = context;
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double *coordinates[3] = {p->x, p->y, p->z};
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (!world->def.periodic[axis]) continue;
    double low = world->def.domain_low[axis], high = world->def.domain_high[axis], *x = coordinates[axis];
    for (size_t i = begin; i < end; ++i)
      if (!(x[i] >= low && x[i] < high)) {
        x[i] -= floor((x[i] - low) / (high - low)) * (high - low);
        // Just below `low` the sum above may round up to `high` itself.
        if (x[i] >= high) x[i] = low;
      }
  }
}

// Names the first field, in the order in which they are computed, that makes no sense any more.
static FloStatus report_divergence(FloWorld *world, size_t i, double dt, FloError *error) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  world->divergence.particle = i;
  const struct {
    const char *name;
    double value;
  } fields[] = {
      {"density", (double)p->density[i]},
      {"pressure", (double)p->pressure[i]},
      {"acceleration", sqrt(pow((double)p->ax[i], 2) + pow((double)p->ay[i], 2) + pow((double)p->az[i], 2))}};
  for (size_t k = 0; k < FLO_COUNT_OF(fields); ++k)
    if (!isfinite(fields[k].value))
      return flo_fail(error, FLO_DIVERGED,
                      "at %g s the %s of particle %u became %g near (%g, %g, %g); try a shorter time step or "
                      "more viscosity",
                      world->time, fields[k].name, p->id[i], fields[k].value, p->x[i], p->y[i], p->z[i]);
  double speed = sqrt(pow((double)p->vx[i], 2) + pow((double)p->vy[i], 2) + pow((double)p->vz[i], 2));
  return flo_fail(
      error, FLO_DIVERGED,
      "at %g s the velocity of particle %u became %g m/s near (%g, %g, %g): %.2g spacings in one step; "
      "try a shorter time step or more viscosity",
      world->time, p->id[i], speed, p->x[i], p->y[i], p->z[i], speed * dt / world->def.spacing);
}

// While fluid settles: as strong as brings a swing as slow as free fall from the surface to the floor to rest
// without swinging back. Stronger braking would keep particles from finding their places, weaker would let
// waves run.
static double kept_share(const FloWorld *world, double dt) {
  if (world->time >= 0) return 1;
  double height = fmax(flo_world_fall_height(world), world->def.spacing);
  return exp(-2 * sqrt(vec_length(world->def.gravity) / height) * dt);
}

static Integrate describe_step(FloWorld *world, const float *force, double dt) {
  Integrate in = {.world = world,
                  .force = force,
                  .dt = (float)dt,
                  .dt_exact = dt,
                  .kept = (float)kept_share(world, dt),
                  .grain = flo_parallel_grain(world->sets[FLO_SET_FLUID].count)};
  for (int axis = 0; axis < 3; ++axis) in.gravity[axis] = (float)world->def.gravity[axis];
  // Whoever crosses a whole support in one step has passed its neighbours unseen.
  in.speed2_limit = (float)pow(world->kernel.support / dt, 2);
  return in;
}

void flo_world_kick(FloWorld *world, const float *force, double dt) {
  Integrate in = describe_step(world, force, dt);
  flo_parallel_for(world->threads, world->sets[FLO_SET_FLUID].count, in.grain, kick_range, &in);
}

FloStatus flo_world_integrate(FloWorld *world, const float *force, double dt, FloError *error) {
  double since = flo_seconds();
  size_t n = world->sets[FLO_SET_FLUID].count;
  Integrate in = describe_step(world, force, dt);
  if (force)
    FLO_TRY(flo_buffer_reserve(&world->memory, &world->wall_rooms, n * sizeof(FloWallRoom), 0, error));
  flo_parallel_for(world->threads, n, in.grain, integrate_range, &in);
  world->lists.has_clearances = force != NULL;
  float speed2 = 0, acceleration2 = 0;
  for (size_t chunk = 0; chunk * in.grain < n; ++chunk) {
    if (in.chunks[chunk].bad != SIZE_MAX) return report_divergence(world, in.chunks[chunk].bad, dt, error);
    speed2 = fmaxf(speed2, in.chunks[chunk].speed2);
    acceleration2 = fmaxf(acceleration2, in.chunks[chunk].acceleration2);
  }
  world->max_speed = sqrt((double)speed2);
  world->max_acceleration = sqrt((double)acceleration2);
  if (world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2])
    flo_parallel_for(world->threads, n, in.grain, wrap_range, world);
  flo_world_stage_done(world, FLO_STAGE_INTEGRATE, since);
  return FLO_OK;
}

// Drops that have fallen past all walls meet nothing any more: their speed, which grows for ever, matters to
// nobody.
bool flo_world_is_lost(const FloWorld *world, const double x[3]) {
  return vec_dot(x, world->def.gravity) > world->lost_depth * vec_length(world->def.gravity);
}

static void raise_speed(const void *context, size_t begin, size_t end, double *partial) {
  const FloWorld *world = context;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]}, x[3] = {p->x[i], p->y[i], p->z[i]};
    if (!flo_world_is_lost(world, x)) partial[0] = fmax(partial[0], vec_dot(v, v));
  }
}

double flo_world_measure_speed(const FloWorld *world) {
  double speed2 = 0;
  flo_parallel_max(world->threads, world->sets[FLO_SET_FLUID].count, raise_speed, world, 1, &speed2);
  return sqrt(fmax(speed2, 0));
}

// ---- How far fluid can fall ----

typedef struct Extent {
  const FloParticles *particles;
  const double *direction; // of gravity, unit length
} Extent;

static void raise_extent(const void *context, size_t begin, size_t end, double *maxima) {
  const Extent *extent = context;
  const FloParticles *p = extent->particles;
  for (size_t i = begin; i < end; ++i) {
    double x[3] = {p->x[i], p->y[i], p->z[i]}, depth = vec_dot(x, extent->direction);
    maxima[0] = fmax(maxima[0], depth);
    maxima[1] = fmax(maxima[1], -depth);
  }
}

double flo_world_fall_height(const FloWorld *world) {
  const FloSet sets[] = {FLO_SET_FLUID, FLO_SET_BOUNDARY};
  double lowest = -INFINITY, highest = -INFINITY, direction[3], g = vec_length(world->def.gravity);
  if (g == 0) return 0;
  vec_scale(world->def.gravity, 1 / g, direction);
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k) {
    Extent extent = {&world->sets[sets[k]], direction};
    double reach[2];
    flo_parallel_max(world->threads, extent.particles->count, raise_extent, &extent, 2, reach);
    lowest = fmax(lowest, reach[0]);
    if (sets[k] == FLO_SET_FLUID) highest = reach[1];
  }
  for (size_t k = 0; k < world->emitters.count; ++k)
    highest = fmax(highest, -vec_dot(flo_emitters(world)[k].def.pose.position, direction));
  return fmax(lowest + highest, 0);
}

void flo_world_find_lost_depth(FloWorld *world) {
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  double direction[3], reach[2], g = vec_length(world->def.gravity);
  // What moves, or hangs below all walls, may still be met; and so may a sink.
  bool can_change = g == 0 || walls->count == 0 || world->sinks.count > 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    can_change = can_change || body->kind == FLO_BODY_KINEMATIC || body->release > 0;
    for (int axis = 0; axis < 3; ++axis)
      can_change = can_change || (body->rigid.locks[axis] && world->def.gravity[axis] != 0);
  }
  for (int axis = 0; axis < 3; ++axis)
    can_change = can_change || (world->def.periodic[axis] && world->def.gravity[axis] != 0);
  world->lost_depth = INFINITY;
  if (can_change) return;
  vec_scale(world->def.gravity, 1 / g, direction);
  Extent extent = {walls, direction};
  flo_parallel_max(world->threads, walls->count, raise_extent, &extent, 2, reach);
  world->lost_depth = reach[0] + 2 * world->kernel.support;
}

double flo_world_expected_speed(const FloWorld *world) {
  double speed = fmax(world->max_speed, flo_world_scheduled_wall_speed(world));
  for (size_t k = 0; k < world->emitters.count; ++k) speed = fmax(speed, flo_emitters(world)[k].def.speed);
  double g = vec_length(world->def.gravity);
  return sqrt(speed * speed + 2 * g * flo_world_fall_height(world));
}
