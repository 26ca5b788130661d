#include "coupling/forces/forces.h"

#include <string.h>

enum { WALLS, ZEROS, GUESSED };

const char *const flo_viscosity_words[] = {"automatic", "explicit", "implicit", NULL};

static double param(const FloWorld *world, const FloForces *forces, int which) {
  return world->params[forces->first_param + which];
}

double flo_forces_max_dt(const FloWorld *world, int first_param, const char **limited_by) {
  double viscous = flo_implicit_viscosity_max_dt(world, world->params[first_param + FLO_FORCE_VISCOSITY]),
         capillary = flo_surface_tension_max_dt(world);
  *limited_by = capillary < viscous ? "surface tension" : "viscosity";
  return fmin(capillary, viscous);
}

// ---- Preparation ----

typedef struct Walls {
  const FloWorld *world;
  float *quads;
} Walls;

static void wall_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Walls *walls = context;
  const FloParticles *b = &walls->world->sets[FLO_SET_BOUNDARY];
  const float volume = (float)flo_world_rest_volume(walls->world);
  for (size_t i = begin; i < end; ++i) {
    float *q = walls->quads + 4 * i;
    q[0] = b->vx[i], q[1] = b->vy[i], q[2] = b->vz[i], q[3] = b->volume[i] / volume;
  }
}

// Walls that do not move are read once.
static FloStatus read_walls(FloForces *forces, FloWorld *world, FloError *error) {
  FloBuffer *buffer = &forces->buffers[WALLS];
  size_t size = (world->sets[FLO_SET_BOUNDARY].capacity + FLO_BLOCK) * 4 * sizeof(float);
  if (size <= buffer->capacity && forces->walls_at > world->epochs.walls) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, size, 0, error));
  forces->walls = buffer->data;
  Walls walls = {world, forces->walls};
  flo_each_particle(world, FLO_SET_BOUNDARY, wall_range, &walls);
  flo_epoch_note(world, &forces->walls_at);
  return FLO_OK;
}

static FloStatus reserve_zeros(FloForces *forces, FloWorld *world, FloError *error) {
  size_t n =
      flo_max_size(world->sets[FLO_SET_BOUNDARY].capacity, world->sets[FLO_SET_RIGID].capacity) + FLO_BLOCK;
  FLO_TRY(flo_buffer_reserve_zeros(&world->memory, &forces->buffers[ZEROS], n * sizeof(float), error));
  forces->zeros = forces->buffers[ZEROS].data;
  return FLO_OK;
}

FloStatus flo_forces_prepare(FloForces *forces, FloWorld *world, int first_param, double dt,
                             double artificial, FloError *error) {
  forces->first_param = first_param;
  forces->is_implicit =
      flo_implicit_viscosity_is_needed(world, param(world, forces, FLO_FORCE_VISCOSITY), dt);
  FLO_TRY(read_walls(forces, world, error));
  if (forces->is_implicit || !forces->has_pressures) FLO_TRY(reserve_zeros(forces, world, error));
  return flo_viscosity_prepare(&forces->viscosity, world, artificial, !forces->is_implicit, error);
}

void flo_forces_free(FloForces *forces, FloMemory *memory) {
  flo_buffers_free(memory, forces->buffers, FLO_COUNT_OF(forces->buffers));
  flo_buffer_free(memory, &forces->viscosity.each);
  flo_implicit_viscosity_free(&forces->implicit, memory);
  flo_surface_tension_free(&forces->tension, memory);
}

// ---- Pressure and explicit viscosity ----

typedef struct Sweep {
  FloFluidForces among;
  FloSolidForces walls, bodies; // on fluid
  bool has_bodies;
} Sweep;

static FloSolidForces solid_forces(const FloForces *forces, const FloWorld *world, const FloForceSweep *sweep,
                                   FloSet set) {
  const FloViscosity *viscosity = &forces->viscosity;
  bool are_walls = set == FLO_SET_BOUNDARY;
  const float *pressure = are_walls ? sweep->wall_pressure : sweep->body_pressure;
  return (FloSolidForces){.pairs = flo_pairs_of(world, FLO_SET_FLUID, set),
                          .fluid = sweep->at_solids ? sweep->at_solids : sweep->fluid,
                          .solid = are_walls       ? forces->walls
                                   : sweep->bodies ? sweep->bodies->motion
                                                   : NULL,
                          .solid_pressure = pressure ? pressure : forces->zeros,
                          .all = viscosity->all,
                          .coefficients = viscosity->is_single ? NULL : viscosity->each.data,
                          .force = sweep->force};
}

static void sweep_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweep *sweep = context;
  flo_passes()->fluid_forces(&sweep->among, begin, end);
  flo_passes()->solid_forces_on_fluid(&sweep->walls, begin, end);
  if (sweep->has_bodies) flo_passes()->solid_forces_on_fluid(&sweep->bodies, begin, end);
}

void flo_forces_sweep(FloForces *forces, FloWorld *world, const FloForceSweep *in) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID);
  Sweep sweep = {.walls = solid_forces(forces, world, in, FLO_SET_BOUNDARY),
                 .bodies = solid_forces(forces, world, in, FLO_SET_RIGID),
                 .has_bodies = in->bodies && in->bodies->is_used};
  sweep.among = (FloFluidForces){.pairs = pairs,
                                 .state = in->fluid,
                                 .all = sweep.walls.all,
                                 .coefficients = sweep.walls.coefficients,
                                 .force = in->force};
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, sweep_range, &sweep);
  if (!sweep.has_bodies) return;
  flo_body_rows_sweep(in->bodies, world, sweep.bodies);
  flo_world_gather_wrenches(world, in->bodies->force, in->bodies->wrenches);
}

// ---- Surface tension, adhesion, implicit viscosity ----

FloStatus flo_forces_add_tension(FloForces *forces, FloWorld *world, float *force, FloError *error) {
  flo_surface_tension_skip(&forces->tension);
  if (!flo_surface_tension_is_used(world)) return FLO_OK;
  return flo_surface_tension_add(&forces->tension, world, force, error);
}

typedef struct Prediction {
  const FloWorld *world;
  const float *force;
  float dt;
  float *velocity;
} Prediction;

static void predict_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Prediction *in = context;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    float *q = in->velocity + 4 * i;
    const float *force = in->force + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
    for (size_t axis = 0; axis < 3 && !p->held[i]; ++axis)
      q[axis] += in->dt * (force[axis] / p->mass[i] + (float)in->world->def.gravity[axis]);
  }
}

void flo_forces_predict(FloWorld *world, const float *force, double dt, float *predicted) {
  Prediction in = {world, force, (float)dt, predicted};
  flo_each_particle(world, FLO_SET_FLUID, predict_range, &in);
}

typedef struct Guess {
  const FloParticles *fluid;
  const float *force;
  float dt;
  const float *from; // velocities, quadruples
  float *to;
} Guess;

static void guess_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Guess *guess = context;
  const FloParticles *p = guess->fluid;
  for (size_t i = begin; i < end; ++i) {
    const float scale = p->held[i] ? 0 : guess->dt / p->mass[i];
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) guess->to[k] = guess->from[k] + scale * guess->force[k];
  }
}

// Between the two velocities lies what the guess does in dt, which may be negative.
static void add_guess(const FloWorld *world, const float *force, double dt, const float *from, float *to) {
  Guess guess = {&world->sets[FLO_SET_FLUID], force, (float)dt, from, to};
  flo_each_particle(world, FLO_SET_FLUID, guess_range, &guess);
}

FloStatus flo_forces_solve_viscous(FloForces *forces, FloWorld *world, double dt, const float *other,
                                   float *velocity, float *force, FloError *error) {
  FloImplicitViscosity *viscosity = &forces->implicit;
  viscosity->tolerance = param(world, forces, FLO_FORCE_TOLERANCE);
  viscosity->max_iterations = (int)param(world, forces, FLO_FORCE_ITERATIONS);
  viscosity->has_led_bodies = forces->has_led_bodies;
  forces->viscous_velocity = velocity;
  return flo_implicit_viscosity_step(viscosity, world, dt, other, velocity, force, forces->walls,
                                     forces->zeros, error);
}

FloStatus flo_forces_make_viscous(FloForces *forces, FloWorld *world, double dt, const float *guess,
                                  float *predicted, float *force, FloError *error) {
  FloBuffer *guessed = &forces->buffers[GUESSED];
  float *velocity = predicted;
  if (!forces->is_implicit) return FLO_OK;
  if (guess) {
    const size_t n = world->sets[FLO_SET_FLUID].capacity + FLO_BLOCK;
    FLO_TRY(flo_buffer_reserve_zeros(&world->memory, guessed, n * 4 * sizeof(float), error));
    velocity = guessed->data;
    add_guess(world, guess, dt, predicted, velocity);
  }
  FLO_TRY(flo_forces_solve_viscous(forces, world, dt, NULL, velocity, force, error));
  if (guess) add_guess(world, guess, -dt, velocity, predicted);
  return FLO_OK;
}

// What implicit viscosity does to samples: its coefficients and velocities.
static FloSolidForces drag_forces(const FloForces *forces) {
  const FloViscosity *viscosity = &forces->implicit.coefficients;
  return (FloSolidForces){.fluid = forces->viscous_velocity,
                          .solid = forces->walls,
                          .solid_pressure = forces->zeros,
                          .all = viscosity->all,
                          .coefficients = viscosity->is_single ? NULL : viscosity->each.data};
}

void flo_forces_find_drag(FloForces *forces, FloWorld *world) {
  FloBodyRows *rows = &forces->implicit.bodies;
  if (!forces->is_implicit || !rows->is_used) return;
  flo_world_spread_motions(world, NULL, rows->motion);
  flo_body_rows_sweep(rows, world, drag_forces(forces));
}

// ---- Forces on samples ----

typedef struct OnWalls {
  const FloWorld *world;
  const FloForces *forces;
  FloSolidForces sweep, drag;
} OnWalls;

static void on_walls_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const OnWalls *in = context;
  flo_passes()->fluid_forces_on_solid(&in->sweep, begin, end);
  flo_surface_tension_pull_walls(&in->forces->tension, in->world, in->sweep.force, begin, end);
  if (in->forces->is_implicit) flo_passes()->fluid_forces_on_solid(&in->drag, begin, end);
}

void flo_forces_on_walls(FloForces *forces, FloWorld *world, const FloForceSweep *sweep, float *force) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_BOUNDARY, FLO_SET_FLUID);
  OnWalls in = {world, forces, solid_forces(forces, world, sweep, FLO_SET_BOUNDARY), drag_forces(forces)};
  in.sweep.pairs = in.drag.pairs = pairs, in.sweep.force = in.drag.force = force;
  flo_each_block(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, on_walls_range, &in);
}

void flo_samples_add_forces(FloParticles *samples, const float *force) {
  for (size_t i = 0; i < samples->count; ++i) {
    const float *f = force + 4 * i;
    samples->fx[i] += f[0], samples->fy[i] += f[1], samples->fz[i] += f[2];
  }
}

void flo_samples_clear_forces(FloParticles *samples) {
  for (size_t i = 0; i < samples->count; ++i) samples->fx[i] = samples->fy[i] = samples->fz[i] = 0;
}
