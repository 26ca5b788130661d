// `wcsph`: weakly compressible SPH, the standard method that the papers compare with.
//
// Density by summation (Müller 2003, with number densities as in Solenthaler & Pajarola 2008), pressure by
// Tait's equation (Monaghan 1994; Becker & Teschner 2007, eq. 7), artificial and laminar viscosity (Monaghan
// 2005), solids as samples with volumes (Akinci 2012). Symplectic Euler.
//
//   rho_i = m_i (W(0) + sum_j W_ij) + rho0 sum_b V_b W_ib,      r_i = rho_i / rho0
//   r_b   = covered_b + V0 sum_f W_bf
//   p     = max(B (r^gamma - 1) + damping s c drho/dt, 0),  B = rho0 c^2 / gamma
//   f_i   = sum_j [-(p_i V_i^2 + p_j V_j^2) + viscosity] grad W_ij
//         + sum_b V_b/V0 [-(p_i V_i^2 + p_b V0^2/r_b^2) + viscosity] grad W_ib
//
// Akinci's wall has no pressure of its own: it answers to the fluid's (p_b = 0), which lets fluid sink half a
// spacing into it, or mirrors it (p_b = p_i), which does not derive from an energy: a column at rest then
// starts to boil within a second. Here samples carry a density and a pressure of their own, as in the dynamic
// boundaries of Crespo 2007, and the force is minus the gradient of sum U(r_i) + sum U(r_b): energy is
// conserved (for a single fluid; with several, a sample answers to each with that one's density), and fluid
// on a lattice next to a wall is in equilibrium. That needs the density ratio of a sample without fluid,
// which is one minus what a fluid lattice around the body would add
// (`covered`, computed once from the shape; where two bodies touch, each knows of itself only). It also stops
// single drops, which have no pressure of their own.
//
// The equation of state and its damping are in weakly_compressible.h.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "coupling/forces/implicit_viscosity.h"
#include "coupling/forces/surface_tension.h"
#include "coupling/forces/viscosity.h"
#include "coupling/forces/weakly_compressible.h"
#include "state/state.h"

enum { SOUND_SPEED, ALPHA, GAMMA, DAMPING, VISCOSITY, VISCOSITY_TOLERANCE, VISCOSITY_ITERATIONS };

static const FloParam params[] = {
    {"sound_speed", 0, 0, 1e5, "m/s",
     "speed of sound; 0: ten times the highest speed to expect, so density varies by 1 %"},
    {"alpha", 0.05, 0, 10, "", "artificial viscosity (Monaghan), acting while particles approach each other"},
    {"gamma", 7, 1, 20, "", "exponent of Tait's equation; 7 is water"},
    {"damping", 0.3, 0, 1, "",
     "bulk viscosity in units of spacing times sound speed; quiets sound, not flow"},
    {"viscosity", FLO_VISCOSITY_AUTOMATIC, 0, 2, "",
     "how materials are viscous; automatic: implicitly in steps too long for the explicit way"},
    {"viscosity_tolerance", 1e-3, 0, 1, "", "share of its first residual at which implicit viscosity ends"},
    {"viscosity_iterations", 100, 1, 1e5, "", "of implicit viscosity, at most"},
    {0}};

static const FloParamWords words[] = {FLO_VISCOSITY_WORDS, {0}};

typedef struct Wcsph {
  double expected_speed;  // [m/s]; saved
  FloViscosity viscosity; // explicit
  bool has_implicit_viscosity;
  FloImplicitViscosity implicit_viscosity;
  FloSurfaceTension surface_tension;
  FloBuffer predicted; // quadruples per fluid particle: velocity without implicit viscosity; then with it
  FloBuffer state;     // quadruples per fluid particle: velocity, p V^2
  FloBuffer force;     // quadruples per fluid particle
  FloBuffer solid;     // quadruples per sample: velocity, volume over the fluid's rest volume
  FloBuffer solid_pressure; // per sample: p V0^2/r^2 for a fluid of density 1
  FloBuffer solid_force;
} Wcsph;

// ---- Speed of sound ----

static double sound_speed(const FloWorld *world, const Wcsph *wcsph) {
  return flo_sound_speed(world->params[SOUND_SPEED], wcsph->expected_speed);
}

// ---- Life ----

static FloStatus wcsph_init(FloWorld *world, void *state, FloError *error) {
  (void)error;
  Wcsph *wcsph = state;
  // Fluid that was added later may move faster, but what was there does not get slower.
  wcsph->expected_speed = fmax(wcsph->expected_speed, flo_world_expected_speed(world));
  flo_world_log(world, FLO_LOG_INFO, "wcsph: speed of sound %g m/s", sound_speed(world, wcsph));
  return FLO_OK;
}

static void wcsph_finish(FloWorld *world, void *state) {
  Wcsph *wcsph = state;
  FloBuffer *buffers[] = {&wcsph->state,          &wcsph->force,       &wcsph->solid,
                          &wcsph->solid_pressure, &wcsph->solid_force, &wcsph->viscosity.each,
                          &wcsph->predicted};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(&world->memory, buffers[k]);
  flo_implicit_viscosity_free(&wcsph->implicit_viscosity, &world->memory);
  flo_surface_tension_free(&wcsph->surface_tension, &world->memory);
}

static double wcsph_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  const Wcsph *wcsph = state;
  double s = world->def.spacing;
  double dt = world->def.cfl * s / (sound_speed(world, wcsph) + world->max_speed);
  *limited_by = "sound";
  double viscous = flo_implicit_viscosity_max_dt(world, world->params[VISCOSITY]),
         capillary = flo_surface_tension_max_dt(world);
  if (viscous < dt) dt = viscous, *limited_by = "viscosity";
  if (capillary < dt) dt = capillary, *limited_by = "surface tension";
  return dt;
}

// ---- Density and pressure ----

typedef struct Density {
  FloWorld *world;
  const Wcsph *wcsph;
  float *state;
  float self; // W(0)
} Density;

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Density *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  const float *near_fluid = d->world->fluid_fluid.kernel_sum,
              *near_solid = d->world->fluid_boundary.kernel_sum;
  const FloTait tait =
      flo_tait(d->world, sound_speed(d->world, d->wcsph), d->world->params[GAMMA], d->world->params[DAMPING]);
  for (size_t i = begin; i < end; ++i) {
    float rest = (float)flo_materials(d->world)[p->material[i]].density;
    float density = p->mass[i] * (d->self + near_fluid[i]) + rest * near_solid[i];
    float pressure = flo_tait_pressure(&tait, rest, density, p->held[i] ? 0 : density - p->density[i]);
    float volume = p->mass[i] / density;
    float *q = d->state + 4 * i;
    p->density[i] = density, p->pressure[i] = pressure;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = pressure * volume * volume;
  }
}

static void solid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Density *d = context;
  const FloParticles *b = &d->world->sets[FLO_SET_BOUNDARY];
  const float *near_fluid = d->world->boundary_fluid.kernel_sum;
  const float gamma = (float)d->world->params[GAMMA], c = (float)sound_speed(d->world, d->wcsph);
  const float volume = (float)flo_world_rest_volume(d->world);
  float *pressures = d->wcsph->solid_pressure.data;
  for (size_t i = begin; i < end; ++i) {
    float ratio = b->covered[i] + volume * near_fluid[i];
    float pressure = fmaxf(c * c / gamma * flo_tait_power(ratio, gamma), 0);
    float *q = (float *)d->wcsph->solid.data + 4 * i;
    pressures[i] = pressure * volume * volume / (ratio * ratio);
    q[0] = b->vx[i], q[1] = b->vy[i], q[2] = b->vz[i], q[3] = b->volume[i] / volume;
  }
}

// ---- Forces ----

typedef struct Forces {
  FloFluidForces fluid;
  FloSolidForces solid;
} Forces;

static void force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Forces *forces = context;
  flo_passes()->fluid_forces(&forces->fluid, begin, end);
  flo_passes()->solid_forces_on_fluid(&forces->solid, begin, end);
}

static Forces describe_forces(FloWorld *world, Wcsph *wcsph) {
  Forces forces = {{.pairs = &world->fluid_fluid, .state = wcsph->state.data, .force = wcsph->force.data},
                   {.pairs = &world->fluid_boundary,
                    .fluid = wcsph->state.data,
                    .solid = wcsph->solid.data,
                    .solid_pressure = wcsph->solid_pressure.data,
                    .force = wcsph->force.data}};
  forces.fluid.all = forces.solid.all = wcsph->viscosity.all;
  if (!wcsph->viscosity.is_single)
    forces.fluid.coefficients = forces.solid.coefficients = wcsph->viscosity.each.data;
  return forces;
}

static FloStatus reserve(FloWorld *world, Wcsph *wcsph, double dt, FloError *error) {
  size_t n_fluid = world->sets[FLO_SET_FLUID].capacity, n_solid = world->sets[FLO_SET_BOUNDARY].capacity;
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->state, n_fluid * 16, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->force, n_fluid * 16, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->solid, n_solid * 16, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->solid_pressure, n_solid * 4, 0, error));
  double artificial = world->params[ALPHA] * world->kernel.support / 2 * sound_speed(world, wcsph);
  wcsph->has_implicit_viscosity = flo_implicit_viscosity_is_needed(world, world->params[VISCOSITY], dt);
  return flo_viscosity_prepare(&wcsph->viscosity, world, artificial, !wcsph->has_implicit_viscosity, error);
}

// What all other forces make of the velocities.
static void predict(const FloWorld *world, const Wcsph *wcsph, double dt) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float *force = wcsph->force.data;
  for (size_t i = 0; i < p->count; ++i) {
    float *q = (float *)wcsph->predicted.data + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
    for (size_t axis = 0; axis < 3 && !p->held[i]; ++axis)
      q[axis] += (float)dt * (force[4 * i + axis] / p->mass[i] + (float)world->def.gravity[axis]);
  }
}

static FloStatus make_viscous(FloWorld *world, Wcsph *wcsph, double dt, FloError *error) {
  FloImplicitViscosity *viscosity = &wcsph->implicit_viscosity;
  if (!wcsph->has_implicit_viscosity) return FLO_OK;
  size_t size = world->sets[FLO_SET_FLUID].capacity * 16;
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->predicted, size, 0, error));
  predict(world, wcsph, dt);
  viscosity->tolerance = world->params[VISCOSITY_TOLERANCE];
  viscosity->max_iterations = (int)world->params[VISCOSITY_ITERATIONS];
  return flo_implicit_viscosity_step(viscosity, world, dt, wcsph->predicted.data, wcsph->force.data,
                                     wcsph->solid.data, error);
}

static FloStatus wcsph_step(FloWorld *world, void *state, double dt, FloError *error) {
  Wcsph *wcsph = state;
  size_t n = world->sets[FLO_SET_FLUID].count;
  if (n == 0) {
    world->max_speed = world->max_acceleration = 0;
    return FLO_OK;
  }
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(reserve(world, wcsph, dt, error));

  double since = flo_seconds();
  Density density = {world, wcsph, wcsph->state.data, (float)flo_kernel_w(&world->kernel, 0)};
  flo_parallel_for(world->threads, n, flo_parallel_grain(n), density_range, &density);
  size_t n_solid = world->sets[FLO_SET_BOUNDARY].count;
  flo_parallel_for(world->threads, n_solid, flo_parallel_grain(n_solid), solid_range, &density);
  since = flo_world_stage_done(world, FLO_STAGE_DENSITY, since);

  Forces forces = describe_forces(world, wcsph);
  flo_parallel_for(world->threads, world->fluid_fluid.n_blocks, 64, force_range, &forces);
  if (flo_surface_tension_is_used(world))
    FLO_TRY(flo_surface_tension_add(&wcsph->surface_tension, world, wcsph->force.data, error));
  FLO_TRY(make_viscous(world, wcsph, dt, error));
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return flo_world_integrate(world, wcsph->force.data, dt, error);
}

// ---- Forces on solids, asked for between steps: of the positions and pressures that the last step started
// from ----

typedef struct SolidForces {
  const FloWorld *world;
  const Wcsph *wcsph;
  FloSolidForces in;
} SolidForces;

static void solid_force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const SolidForces *forces = context;
  const Wcsph *wcsph = forces->wcsph;
  const FloViscosity *viscosity = &wcsph->implicit_viscosity.coefficients;
  flo_passes()->fluid_forces_on_solid(&forces->in, begin, end);
  if (wcsph->surface_tension.has_adhesion)
    flo_surface_tension_pull_walls(&wcsph->surface_tension, forces->world, forces->in.force, begin, end);
  if (!wcsph->has_implicit_viscosity) return;
  FloSolidForces drag = forces->in;
  drag.fluid = wcsph->predicted.data, drag.solid_pressure = wcsph->implicit_viscosity.zeros;
  drag.all = viscosity->all, drag.coefficients = viscosity->is_single ? NULL : viscosity->each.data;
  flo_passes()->fluid_forces_on_solid(&drag, begin, end);
}

static FloStatus wcsph_solid_forces(FloWorld *world, void *state, FloError *error) {
  Wcsph *wcsph = state;
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = 0; i < b->count; ++i) b->fx[i] = b->fy[i] = b->fz[i] = 0;
  if (b->count == 0 || world->sets[FLO_SET_FLUID].count == 0) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->solid_force, b->capacity * 16, 0, error));
  float *force = wcsph->solid_force.data;
  for (size_t k = 0; k < 4 * b->count; ++k) force[k] = 0;
  SolidForces forces = {world, wcsph, describe_forces(world, wcsph).solid};
  forces.in.pairs = &world->boundary_fluid, forces.in.force = force;
  flo_parallel_for(world->threads, world->boundary_fluid.n_blocks, 64, solid_force_range, &forces);
  for (size_t i = 0; i < b->count; ++i)
    b->fx[i] = force[4 * i], b->fy[i] = force[4 * i + 1], b->fz[i] = force[4 * i + 2];
  return FLO_OK;
}

const FloCoupling flo_wcsph = {
    .name = "wcsph",
    .paper = "Monaghan 1994; Becker & Teschner 2007: Weakly compressible SPH for free surface "
             "flows; Akinci et al. 2012: Versatile rigid-fluid coupling",
    .params = params,
    .words = words,
    .has_small_steps = true,
    .has_wall_rows = true,
    .state_size = sizeof(Wcsph),
    .n_saved = 1,
    .init = wcsph_init,
    .max_dt = wcsph_max_dt,
    .step = wcsph_step,
    .solid_forces = wcsph_solid_forces,
    .finish = wcsph_finish};
