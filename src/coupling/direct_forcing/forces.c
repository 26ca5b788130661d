// Forces of the fluid before contacts are looked for: pressure (6) with artificial viscosity (5), and what
// the paper leaves out, laminar viscosity, surface tension and adhesion. They act on fluid and, oppositely,
// on bodies; what samples feel is summed up when somebody asks.
//
// A solid answers to the pressure of the fluid next to it and drags it along by the fluid's wall viscosity,
// in one sweep over its samples. Fluid too thick for steps as short as sound allows is made viscous by an
// implicit step (implicit_viscosity.c) in which bodies take part.
#include "base/parallel.h"
#include "coupling/direct_forcing/direct_forcing.h"
#include "coupling/forces/weakly_compressible.h"

#include <string.h>

enum { BLOCKS_PER_CHUNK = 64 };

typedef struct Work {
  FloWorld *world;
  FloDirectForcing *forcing;
  FloTait tait;
  FloFluidForces among;
  FloSolidForces walls, bodies; // on fluid
} Work;

static bool is_penalty(const FloWorld *world) { return flo_forcing_response(world) == FLO_RESPONSE_PENALTY; }

// ---- Density and pressure ----

// The least share of the kernel that solids leave free where there is room for a particle: between two plates
// one spacing apart a sheet of fluid fits, and in the corner of a tank all walls take their part. A gap
// narrower than that holds no whole particle; who is squeezed in there would read as compressed without limit
// and be shot out.
static double least_uncovered(const FloWorld *world) {
  double sheet = flo_world_rest_volume(world) * flo_kernel_sheet_sum(&world->kernel, world->def.spacing, 0);
  return fmin(sheet, pow((1 + sheet) / 2, world->def.dim));
}

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  const float *near_fluid = work->world->fluid_fluid.kernel_sum,
              *walls = work->world->fluid_boundary.kernel_sum,
              *rigid = work->world->sets[FLO_SET_RIGID].count ? work->world->fluid_rigid.kernel_sum : NULL;
  const float self = (float)flo_kernel_w(&work->world->kernel, 0);
  const float least = (float)least_uncovered(work->world);
  for (size_t i = begin; i < end; ++i) {
    float rest = (float)flo_materials(work->world)[p->material[i]].density;
    float uncovered = fmaxf(1 - walls[i] - (rigid ? rigid[i] : 0), least);
    float density = p->mass[i] * (self + near_fluid[i]) / uncovered;
    float change = p->held[i] ? 0 : density - p->density[i];
    float pressure = flo_tait_pressure(&work->tait, rest, density, change), volume = p->mass[i] / density;
    float *q = work->forcing->state + 4 * i;
    p->density[i] = density, p->pressure[i] = pressure;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = pressure * volume * volume;
  }
}

// Samples that repel by penalty do not press.
static void unpressed_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloDirectForcing *forcing = ((const Work *)context)->forcing;
  memcpy(forcing->predicted + 4 * begin, forcing->state + 4 * begin, (end - begin) * 4 * sizeof(float));
  for (size_t i = begin; i < end; ++i) forcing->predicted[4 * i + 3] = 0;
}

static void wall_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloParticles *b = &work->world->sets[FLO_SET_BOUNDARY];
  const float per_volume = 1 / (float)work->forcing->rest_volume;
  for (size_t i = begin; i < end; ++i) {
    float *q = work->forcing->walls + 4 * i;
    q[0] = b->vx[i], q[1] = b->vy[i], q[2] = b->vz[i], q[3] = b->volume[i] * per_volume;
  }
}

// ---- Pressure and explicit viscosity ----

static FloSolidForces solid_forces(const FloWorld *world, const FloDirectForcing *forcing,
                                   const FloPairs *pairs, const float *solid, float *force) {
  const FloViscosity *viscosity = &forcing->viscosity;
  return (FloSolidForces){.pairs = pairs,
                          .fluid = is_penalty(world) ? forcing->predicted : forcing->state,
                          .solid = solid,
                          .solid_pressure = forcing->zeros,
                          .all = viscosity->all,
                          .coefficients = viscosity->is_single ? NULL : viscosity->each.data,
                          .force = force};
}

static void force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  flo_passes()->fluid_forces(&work->among, begin, end);
  flo_passes()->solid_forces_on_fluid(&work->walls, begin, end);
  if (work->forcing->bodies.is_built) flo_passes()->solid_forces_on_fluid(&work->bodies, begin, end);
}

static void sample_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  flo_passes()->fluid_forces_on_solid(context, begin, end);
}

// Velocities of bodies as they are, where they may move.
static void find_motions(const FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double *motion = forcing->motions + 6 * k;
    memset(motion, 0, 6 * sizeof *motion);
    if (body->kind != FLO_BODY_DYNAMIC || body->rigid.is_held) continue;
    vec_copy(body->rigid.velocity, motion);
    vec_copy(body->rigid.angular_velocity, motion + 3);
  }
}

// Forces of the samples of bodies, and their sums.
static void sweep_samples(FloWorld *world, FloBodyRows *rows, FloSolidForces forces) {
  forces.pairs = &rows->pairs, forces.solid = rows->motion, forces.force = rows->force;
  memset(rows->force, 0, 4 * world->sets[FLO_SET_RIGID].count * sizeof(float));
  flo_parallel_for(world->threads, rows->pairs.n_blocks, BLOCKS_PER_CHUNK, sample_range, &forces);
}

static void push_partners(const FloWorld *world, FloDirectForcing *forcing, const FloBodyRows *rows) {
  for (size_t k = 0; rows->is_built && k < world->bodies.count; ++k)
    for (size_t row = 0; row < 6; ++row)
      forcing->partners[k].push[row] += forcing->kick_dt * rows->wrenches[6 * k + row];
}

static void press_bodies(FloWorld *world, FloDirectForcing *forcing) {
  FloBodyRows *rows = &forcing->bodies;
  if (!rows->is_built) return;
  sweep_samples(world, rows, solid_forces(world, forcing, NULL, NULL, NULL));
  flo_body_rows_gather(rows, world);
  push_partners(world, forcing, rows);
}

static void start_sweeps(FloWorld *world, FloDirectForcing *forcing, Work *work) {
  const FloViscosity *viscosity = &forcing->viscosity;
  work->among = (FloFluidForces){.pairs = &world->fluid_fluid,
                                 .state = forcing->state,
                                 .all = viscosity->all,
                                 .coefficients = viscosity->is_single ? NULL : viscosity->each.data,
                                 .force = forcing->force};
  work->walls = solid_forces(world, forcing, &world->fluid_boundary, forcing->walls, forcing->force);
  work->bodies = solid_forces(world, forcing, &world->fluid_rigid, forcing->bodies.motion, forcing->force);
}

// Where three fluid particles are, which tells one state of a world from another.
static void find_marks(const FloWorld *world, double marks[9]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t k = 0; k < 3; ++k) {
    size_t i = p->count ? k * (p->count - 1) / 2 : 0;
    vec_set(marks + 3 * k, p->count ? p->x[i] : 0, p->count ? p->y[i] : 0, p->count ? p->z[i] : 0);
  }
}

void flo_forcing_leave(const FloWorld *world, FloDirectForcing *forcing) {
  forcing->has_left = true, forcing->left_step = world->step;
  find_marks(world, forcing->left_at);
}

// Rows that were found with the lists of neighbours serve as long as those, unless the world has been set
// back to another state since.
static FloStatus list_bodies(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  double marks[9];
  find_marks(world, marks);
  bool is_continued = forcing->has_left && forcing->left_step + 1 == world->step &&
                      memcmp(marks, forcing->left_at, sizeof marks) == 0;
  if (!is_continued || world->lists.age == 0 || !forcing->bodies.is_built)
    return flo_body_rows_build(&forcing->bodies, world, error);
  flo_body_rows_refill(&forcing->bodies, world);
  return FLO_OK;
}

FloStatus flo_forcing_add_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].count, n_walls = world->sets[FLO_SET_BOUNDARY].count;
  double since = flo_seconds();
  Work work = {.world = world, .forcing = forcing};
  work.tait = flo_tait(world, flo_forcing_sound_speed(world, forcing), world->params[FLO_FORCING_GAMMA],
                       world->params[FLO_FORCING_DAMPING]);
  flo_parallel_for(world->threads, n, flo_parallel_grain(n), density_range, &work);
  if (is_penalty(world)) flo_parallel_for(world->threads, n, flo_parallel_grain(n), unpressed_range, &work);
  flo_parallel_for(world->threads, n_walls, flo_parallel_grain(n_walls), wall_range, &work);
  since = flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  FLO_TRY(list_bodies(world, forcing, error));
  find_motions(world, forcing);
  if (forcing->bodies.is_built) flo_body_rows_spread(&forcing->bodies, world, forcing->motions);
  start_sweeps(world, forcing, &work);
  flo_parallel_for(world->threads, world->fluid_fluid.n_blocks, BLOCKS_PER_CHUNK, force_range, &work);
  press_bodies(world, forcing);
  if (is_penalty(world)) flo_forcing_add_penalty(world, forcing);
  if (flo_surface_tension_is_used(world)) {
    FLO_TRY(flo_surface_tension_add(&forcing->surface_tension, world, forcing->force, error));
    push_partners(world, forcing, &forcing->surface_tension.bodies);
  }
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

// ---- Implicit viscosity ----

// What all other forces make of the velocities.
static void predict_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloDirectForcing *forcing = work->forcing;
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  const float dt = (float)forcing->kick_dt;
  for (size_t i = begin; i < end; ++i) {
    float *q = forcing->predicted + 4 * i;
    const float *force = forcing->force + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
    for (size_t axis = 0; axis < 3 && !p->held[i]; ++axis)
      q[axis] += dt * (force[axis] / p->mass[i] + (float)work->world->def.gravity[axis]);
  }
}

// Of the implicit step, on samples of walls or bodies.
static FloSolidForces drag_forces(const FloDirectForcing *forcing) {
  const FloViscosity *viscosity = &forcing->implicit_viscosity.coefficients;
  return (FloSolidForces){.fluid = forcing->predicted,
                          .solid = forcing->walls,
                          .solid_pressure = forcing->zeros,
                          .all = viscosity->all,
                          .coefficients = viscosity->is_single ? NULL : viscosity->each.data};
}

FloStatus flo_forcing_make_viscous(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloImplicitViscosity *viscosity = &forcing->implicit_viscosity;
  size_t n = world->sets[FLO_SET_FLUID].count;
  Work work = {.world = world, .forcing = forcing};
  if (!forcing->has_implicit_viscosity) return FLO_OK;
  double since = flo_seconds();
  viscosity->tolerance = world->params[FLO_FORCING_VISCOSITY_TOLERANCE];
  viscosity->max_iterations = (int)world->params[FLO_FORCING_VISCOSITY_ITERATIONS];
  viscosity->has_led_bodies = world->params[FLO_FORCING_ONE_WAY] != 0;
  flo_parallel_for(world->threads, n, flo_parallel_grain(n), predict_range, &work);
  FLO_TRY(flo_implicit_viscosity_step(viscosity, world, forcing->kick_dt, forcing->predicted, forcing->force,
                                      forcing->walls, error));
  push_partners(world, forcing, &viscosity->bodies);
  // What each sample felt, while they are still where the fluid was.
  find_motions(world, forcing);
  if (viscosity->bodies.is_built) {
    flo_body_rows_spread(&viscosity->bodies, world, forcing->motions);
    sweep_samples(world, &viscosity->bodies, drag_forces(forcing));
  }
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

// ---- Forces on samples, asked for between steps: those of the step before ----

static void wall_force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloDirectForcing *forcing = work->forcing;
  flo_passes()->fluid_forces_on_solid(&work->walls, begin, end);
  if (forcing->surface_tension.has_adhesion)
    flo_surface_tension_pull_walls(&forcing->surface_tension, work->world, work->walls.force, begin, end);
  if (forcing->has_implicit_viscosity) flo_passes()->fluid_forces_on_solid(&work->bodies, begin, end);
}

// By all that acts before contacts.
static FloStatus press_walls(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  size_t n = world->sets[FLO_SET_BOUNDARY].count;
  Work work = {.world = world, .forcing = forcing};
  FloBuffer *buffer = &forcing->buffers[FLO_FORCING_WALL_FORCE];
  if (n == 0 || world->sets[FLO_SET_FLUID].count == 0) return FLO_OK;
  FLO_TRY(flo_world_build_wall_rows(world, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, 4 * (n + FLO_BLOCK) * sizeof(float), 0, error));
  memset(buffer->data, 0, 4 * n * sizeof(float));
  work.walls = solid_forces(world, forcing, &world->boundary_fluid, forcing->walls, buffer->data);
  work.bodies = drag_forces(forcing);
  work.bodies.pairs = &world->boundary_fluid, work.bodies.force = buffer->data;
  flo_parallel_for(world->threads, world->boundary_fluid.n_blocks, BLOCKS_PER_CHUNK, wall_force_range, &work);
  return FLO_OK;
}

static void add_quads(FloParticles *samples, const float *force) {
  for (size_t i = 0; i < samples->count; ++i) {
    const float *f = force + 4 * i;
    samples->fx[i] += f[0], samples->fy[i] += f[1], samples->fz[i] += f[2];
  }
}

static void add_to_sample(FloWorld *world, size_t sample, const double impulse[3], double scale) {
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count, i = sample < n_walls ? sample : sample - n_walls;
  FloParticles *set = &world->sets[sample < n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID];
  set->fx[i] += (float)(scale * impulse[0]);
  set->fy[i] += (float)(scale * impulse[1]);
  set->fz[i] += (float)(scale * impulse[2]);
}

// To the sample of the body that is nearest to the particle.
static void add_contact(FloWorld *world, const FloForcingContact *c, double scale) {
  FloNearBodies near = flo_world_near_bodies(world, c->particle);
  for (int k = 0; k < near.count; ++k)
    if (near.bodies[k] == c->body) add_to_sample(world, near.samples[k], c->impulse, -scale);
}

static void add_body_contact(FloWorld *world, const FloBodyContact *c, double scale) {
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count;
  bool is_wall = flo_bodies(world)[c->other].set == FLO_SET_BOUNDARY;
  double push[3];
  vec_add_scaled(c->drag, c->normal, c->press, push);
  add_to_sample(world, n_walls + c->sample, push, scale);
  add_to_sample(world, c->other_sample + (is_wall ? 0 : n_walls), push, -scale);
}

static void add_rows(FloWorld *world, const FloBodyRows *rows) {
  if (rows->is_built) add_quads(&world->sets[FLO_SET_RIGID], rows->force);
}

FloStatus flo_forcing_solid_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY], *r = &world->sets[FLO_SET_RIGID];
  for (size_t i = 0; i < b->count; ++i) b->fx[i] = b->fy[i] = b->fz[i] = 0;
  for (size_t i = 0; i < r->count; ++i) r->fx[i] = r->fy[i] = r->fz[i] = 0;
  FLO_TRY(press_walls(world, forcing, error));
  if (b->count && world->sets[FLO_SET_FLUID].count)
    add_quads(b, forcing->buffers[FLO_FORCING_WALL_FORCE].data);
  add_rows(world, &forcing->bodies);
  if (forcing->surface_tension.has_adhesion) add_rows(world, &forcing->surface_tension.bodies);
  if (forcing->has_implicit_viscosity) add_rows(world, &forcing->implicit_viscosity.bodies);
  if (is_penalty(world)) {
    add_quads(b, forcing->repulsion);
    add_quads(r, forcing->repulsion + 4 * b->count);
  }
  double scale = 1 / forcing->kick_dt;
  for (size_t k = 0; k < forcing->n_contacts; ++k) add_contact(world, &forcing->contacts[k], scale);
  for (size_t k = 0; k < forcing->n_body_contacts; ++k)
    add_body_contact(world, &forcing->body_contacts[k], scale);
  return FLO_OK;
}
