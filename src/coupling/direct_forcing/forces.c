// Forces of the fluid before contacts are searched: pressure (6) with artificial viscosity (5), and forces
// that the paper leaves out: laminar viscosity, surface tension and adhesion. They act on fluid, and the
// opposite acts on bodies. Forces on samples are summed only when the host asks for them.
//
// A solid answers to the pressure of the fluid next to it and drags it by the fluid's wall viscosity, in one
// sweep over its samples. If the fluid is too viscous for explicit steps of the length that sound allows, an
// implicit step (implicit_viscosity.c), which includes bodies, adds viscosity.
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

typedef struct Work {
  FloWorld *world;
  FloDirectForcing *forcing;
  FloTait tait;
} Work;

static bool is_penalty(const FloDirectForcing *forcing) { return forcing->response == FLO_RESPONSE_PENALTY; }

// ---- Density and pressure ----

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  const float *near_fluid = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_FLUID)->kernel_sum,
              *walls = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_BOUNDARY)->kernel_sum,
              *rigid = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_RIGID)->kernel_sum;
  if (work->world->sets[FLO_SET_RIGID].count == 0) rigid = NULL;
  const float self = (float)flo_kernel_w(&work->world->kernel, 0);
  const float least = (float)flo_least_uncovered(work->world);
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

// Samples of the penalty response exert no pressure.
static void unpressed_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloDirectForcing *forcing = ((const Work *)context)->forcing;
  memcpy(forcing->predicted + 4 * begin, forcing->state + 4 * begin, (end - begin) * 4 * sizeof(float));
  for (size_t i = begin; i < end; ++i) forcing->predicted[4 * i + 3] = 0;
}

// ---- Pressure and explicit viscosity ----

static FloForceSweep describe_sweep(FloDirectForcing *forcing) {
  bool has_own = forcing->has_wall_pressure;
  return (FloForceSweep){.fluid = forcing->state,
                         .at_solids = is_penalty(forcing) ? forcing->predicted : NULL,
                         .wall_pressure = has_own ? forcing->fluid.wall_pressure.data : NULL,
                         .body_pressure = has_own ? forcing->fluid.body_pressure.data : NULL,
                         .bodies = &forcing->bodies,
                         .force = forcing->force};
}

static void push_partners(const FloWorld *world, FloDirectForcing *forcing, const FloBodyRows *rows) {
  for (size_t k = 0; rows->is_used && k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    for (size_t row = 0; flo_body_is_pushed(body) && row < 6; ++row)
      forcing->partners[k].push[row] += forcing->kick_dt * rows->wrenches[6 * body->first_node + row];
  }
}

// As in the paper: samples have no pressures.
static void find_fluid_pressures(FloWorld *world, FloDirectForcing *forcing) {
  double since = flo_seconds();
  Work work = {.world = world, .forcing = forcing};
  work.tait = flo_tait(world, &forcing->fluid);
  flo_each_particle(world, FLO_SET_FLUID, density_range, &work);
  if (is_penalty(forcing)) flo_each_particle(world, FLO_SET_FLUID, unpressed_range, &work);
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
}

static FloStatus find_pressures(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  if (!forcing->has_wall_pressure) {
    find_fluid_pressures(world, forcing);
    return FLO_OK;
  }
  if (world->sets[FLO_SET_FLUID].count > 0 && world->sets[FLO_SET_BOUNDARY].count > 0)
    FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  forcing->fluid.most_covered = 1 - flo_least_uncovered(world);
  return flo_compressible_find_pressures(&forcing->fluid, world, forcing->state, error);
}

FloStatus flo_forcing_add_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FLO_TRY(flo_body_rows_prepare(&forcing->bodies, world, error));
  FLO_TRY(find_pressures(world, forcing, error));
  const FloForceSweep sweep = describe_sweep(forcing);
  double since = flo_seconds();
  if (forcing->bodies.is_used) flo_world_spread_motions(world, NULL, forcing->bodies.motion);
  flo_forces_sweep(&forcing->forces, world, &sweep);
  push_partners(world, forcing, &forcing->bodies);
  FLO_TRY(flo_forcing_press_films(world, forcing, error));
  if (is_penalty(forcing)) flo_forcing_add_penalty(world, forcing);
  FLO_TRY(flo_forces_add_tension(&forcing->forces, world, forcing->force, error));
  push_partners(world, forcing, &forcing->forces.tension.bodies);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

// ---- Implicit viscosity ----

FloStatus flo_forcing_make_viscous(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloForces *forces = &forcing->forces;
  if (!forces->is_implicit) return FLO_OK;
  double since = flo_seconds();
  flo_forces_predict(world, forcing->force, forcing->kick_dt, forcing->predicted);
  FLO_TRY(flo_forces_make_viscous(forces, world, forcing->kick_dt, NULL, forcing->predicted, forcing->force,
                                  error));
  push_partners(world, forcing, &forces->implicit.bodies);
  flo_forces_find_drag(forces, world);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

// ---- Forces on samples, requested between steps: those of the last step ----

// Adds all forces before contacts to wall samples.
static FloStatus press_walls(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  size_t n = walls->count;
  FloBuffer *buffer = &forcing->buffers[FLO_FORCING_WALL_FORCE];
  const FloForceSweep sweep = describe_sweep(forcing);
  if (n == 0 || world->sets[FLO_SET_FLUID].count == 0) return FLO_OK;
  FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, 4 * (n + FLO_BLOCK) * sizeof(float), 0, error));
  memset(buffer->data, 0, 4 * n * sizeof(float));
  flo_forces_on_walls(&forcing->forces, world, &sweep, buffer->data);
  flo_films_add_to_walls(&forcing->films, world, buffer->data);
  flo_samples_add_forces(walls, buffer->data);
  return FLO_OK;
}

static void add_to_sample(FloWorld *world, size_t sample, const double impulse[3], double scale) {
  size_t i;
  FloParticles *set = flo_world_find_sample(world, sample, &i);
  set->fx[i] += (float)(scale * impulse[0]);
  set->fy[i] += (float)(scale * impulse[1]);
  set->fz[i] += (float)(scale * impulse[2]);
}

// Adds the impulse to the sample of the body that is nearest to the particle.
static void add_contact(FloWorld *world, const FloForcingContact *c, double scale) {
  for (FloNearBody near = {0}; flo_near_next(world, c->particle, &near);)
    if (near.body == c->body) add_to_sample(world, near.sample, c->impulse, -scale);
}

static void add_body_contact(FloWorld *world, const FloBodyContact *c, double scale) {
  add_to_sample(world, c->body_sample, c->impulse, scale);
  add_to_sample(world, c->other_sample, c->impulse, -scale);
}

static void add_rows(FloWorld *world, const FloBodyRows *rows) {
  if (rows->is_used) flo_samples_add_forces(&world->sets[FLO_SET_RIGID], rows->force);
}

static void add_repulsion(FloWorld *world, const FloDirectForcing *forcing) {
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  flo_samples_add_forces(walls, forcing->repulsion);
  flo_samples_add_forces(&world->sets[FLO_SET_RIGID], forcing->repulsion + 4 * walls->count);
}

FloStatus flo_forcing_solid_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloForces *forces = &forcing->forces;
  flo_samples_clear_forces(&world->sets[FLO_SET_BOUNDARY]);
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  FLO_TRY(press_walls(world, forcing, error));
  add_rows(world, &forcing->bodies);
  if (forces->tension.has_adhesion) add_rows(world, &forces->tension.bodies);
  if (forces->is_implicit) add_rows(world, &forces->implicit.bodies);
  if (is_penalty(forcing)) add_repulsion(world, forcing);
  flo_films_add_to_bodies(&forcing->films, world);
  double scale = 1 / forcing->kick_dt;
  for (size_t k = 0; k < forcing->n_contacts; ++k) add_contact(world, &forcing->contacts[k], scale);
  for (size_t k = 0; k < forcing->n_body_contacts; ++k)
    add_body_contact(world, &forcing->body_contacts[k], scale);
  return FLO_OK;
}
