// `wcsph`: weakly compressible SPH, the standard method that the papers compare with.
//
// Density by summation (Müller 2003, with number densities as in Solenthaler & Pajarola 2008), pressure by
// Tait's equation (Monaghan 1994; Becker & Teschner 2007, eq. 7), artificial and laminar viscosity (Monaghan
// 2005), solids as samples with volumes (Akinci 2012). Symplectic Euler.
// The equation of state and the pressures of samples are in weakly_compressible.h and .c.
//
// Bodies that forces move get the opposite of the forces of their samples on fluid. They do not touch other
// bodies.
#include "base/vecmath.h"
#include "coupling/coupling.h"
#include "coupling/forces/forces.h"
#include "coupling/forces/weakly_compressible.h"

enum { FIRST_FORCE_PARAM = FLO_N_TAIT_PARAMS };

static const FloParam params[] = {FLO_TAIT_PARAMS(0.05), FLO_FORCE_PARAMS(1e-3), {0}};

static const FloOperatorDef operators[] = {
    {.rows = FLO_SET_FLUID, .columns = FLO_SET_FLUID, .with_viscous = true},
    {.rows = FLO_SET_FLUID, .columns = FLO_SET_BOUNDARY, .with_viscous = true},
    {.rows = FLO_SET_BOUNDARY, .columns = FLO_SET_FLUID, .with_viscous = true},
    {.rows = FLO_SET_FLUID, .columns = FLO_SET_RIGID, .with_viscous = true},
    {.rows = FLO_SET_RIGID, .columns = FLO_SET_FLUID, .with_viscous = true},
};

typedef struct Wcsph {
  FloCompressible fluid;
  FloForces forces;
  FloBodyRows bodies;   // forces on bodies that forces move
  FloBuffer predicted;  // quadruples per fluid particle: velocity without, later with implicit viscosity
  FloBuffer state;      // quadruples per fluid particle: velocity, p V^2
  FloBuffer force;      // quadruples per fluid particle
  FloBuffer wall_force; // quadruples per wall sample
} Wcsph;

static const FloStateField saved[] = {FLO_COMPRESSIBLE_FIELDS(Wcsph, fluid), {0}};

static double sound_speed(const FloWorld *world, const Wcsph *wcsph) {
  return flo_sound_speed(world, &wcsph->fluid);
}

// ---- Creation and end ----

static FloStatus wcsph_init(FloWorld *world, void *state, FloError *error) {
  (void)error;
  Wcsph *wcsph = state;
  // Drops without gravity have no other speed; see the method direct-forcing.
  double capillary = flo_surface_tension_speed(world) / sqrt(10);
  flo_compressible_init(&wcsph->fluid, fmax(flo_world_expected_speed(world), capillary));
  flo_world_log(world, FLO_LOG_INFO, "wcsph: speed of sound %g m/s", sound_speed(world, wcsph));
  return FLO_OK;
}

static void wcsph_finish(FloWorld *world, void *state) {
  Wcsph *wcsph = state;
  FloBuffer *buffers[] = {&wcsph->predicted, &wcsph->state, &wcsph->force, &wcsph->wall_force};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(&world->memory, buffers[k]);
  flo_compressible_free(&wcsph->fluid, &world->memory);
  flo_body_rows_free(&wcsph->bodies, &world->memory);
  flo_forces_free(&wcsph->forces, &world->memory);
}

static double wcsph_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  return flo_compressible_max_dt(world, sound_speed(world, state), FIRST_FORCE_PARAM, limited_by);
}

static FloStatus reserve(FloWorld *world, Wcsph *wcsph, FloError *error) {
  size_t n_fluid = world->sets[FLO_SET_FLUID].capacity, quad = 4 * sizeof(float);
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->state, n_fluid * quad, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &wcsph->force, n_fluid * quad, 0, error));
  if (!wcsph->forces.is_implicit) return FLO_OK;
  return flo_buffer_reserve(&world->memory, &wcsph->predicted, n_fluid * quad, 0, error);
}

static FloStatus prepare(FloWorld *world, Wcsph *wcsph, double dt, FloError *error) {
  double artificial = flo_tait_viscosity(world, sound_speed(world, wcsph));
  wcsph->forces.has_pressures = true;
  FLO_TRY(flo_forces_prepare(&wcsph->forces, world, FIRST_FORCE_PARAM, dt, artificial, error));
  FLO_TRY(reserve(world, wcsph, error));
  FLO_TRY(flo_world_reserve_motion(world, error));
  return flo_body_rows_prepare(&wcsph->bodies, world, error);
}

// ---- Forces ----

static FloForceSweep describe_sweep(Wcsph *wcsph) {
  return (FloForceSweep){.fluid = wcsph->state.data,
                         .wall_pressure = wcsph->fluid.wall_pressure.data,
                         .body_pressure = wcsph->fluid.body_pressure.data,
                         .bodies = &wcsph->bodies,
                         .force = wcsph->force.data};
}

static FloStatus find_forces(FloWorld *world, Wcsph *wcsph, double dt, FloError *error) {
  FloForces *forces = &wcsph->forces;
  const FloForceSweep sweep = describe_sweep(wcsph);
  float *force = wcsph->force.data;
  double since = flo_seconds();
  if (wcsph->bodies.is_used) flo_world_spread_motions(world, NULL, wcsph->bodies.motion);
  flo_forces_sweep(forces, world, &sweep);
  FLO_TRY(flo_forces_add_tension(forces, world, force, error));
  flo_world_clear_body_forces(world);
  flo_world_kick_bodies(world, NULL, dt);
  flo_world_push_by_rows(world, &wcsph->bodies, dt);
  flo_world_push_by_rows(world, &forces->tension.bodies, dt);
  if (forces->is_implicit) {
    flo_forces_predict(world, force, dt, wcsph->predicted.data);
    FLO_TRY(flo_forces_make_viscous(forces, world, dt, NULL, wcsph->predicted.data, force, error));
    flo_world_note_rows(world, &forces->implicit.bodies);
    flo_forces_find_drag(forces, world);
  }
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

// ---- The step ----

// Without fluid, bodies move by themselves.
static FloStatus step_bodies_alone(FloWorld *world, double dt, FloError *error) {
  world->max_speed = world->max_acceleration = 0;
  flo_world_clear_body_forces(world);
  flo_world_kick_bodies(world, NULL, dt);
  return flo_world_advance_bodies(world, dt, error);
}

static FloStatus wcsph_step(FloWorld *world, void *state, double dt, FloError *error) {
  Wcsph *wcsph = state;
  if (world->sets[FLO_SET_FLUID].count == 0) return step_bodies_alone(world, dt, error);
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(prepare(world, wcsph, dt, error));
  FLO_TRY(flo_compressible_find_pressures(&wcsph->fluid, world, wcsph->state.data, error));
  FLO_TRY(find_forces(world, wcsph, dt, error));
  FLO_TRY(flo_world_integrate(world, wcsph->force.data, dt, error));
  FLO_TRY(flo_world_advance_bodies(world, dt, error));
  flo_compressible_follow(&wcsph->fluid, world, dt);
  flo_compressible_report(world, wcsph->force.data);
  return FLO_OK;
}

// ---- Forces on solids, requested between steps, as of the start of the last step ----

static void add_body_forces(FloWorld *world, const FloBodyRows *rows) {
  if (rows->is_used) flo_samples_add_forces(&world->sets[FLO_SET_RIGID], rows->force);
}

static FloStatus wcsph_solid_forces(FloWorld *world, void *state, FloError *error) {
  Wcsph *wcsph = state;
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  const FloForceSweep sweep = describe_sweep(wcsph);
  flo_samples_clear_forces(walls);
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  if (world->sets[FLO_SET_FLUID].count == 0) return FLO_OK;
  add_body_forces(world, &wcsph->bodies);
  add_body_forces(world, &wcsph->forces.tension.bodies);
  if (wcsph->forces.is_implicit) add_body_forces(world, &wcsph->forces.implicit.bodies);
  if (walls->count == 0) return FLO_OK;
  FLO_TRY(
      flo_buffer_reserve(&world->memory, &wcsph->wall_force, walls->capacity * 4 * sizeof(float), 0, error));
  float *force = wcsph->wall_force.data;
  for (size_t k = 0; k < 4 * walls->count; ++k) force[k] = 0;
  flo_forces_on_walls(&wcsph->forces, world, &sweep, force);
  flo_samples_add_forces(walls, force);
  return FLO_OK;
}

const FloMethod flo_wcsph = {
    .name = "wcsph",
    .paper = "Monaghan 1994; Becker & Teschner 2007: Weakly compressible SPH for free surface "
             "flows; Akinci et al. 2012: Versatile rigid-fluid coupling",
    .params = params,
    .operators = operators,
    .n_operators = FLO_COUNT_OF(operators),
    .moves = FLO_MOVES_ALONE,
    .moves_pieces = true,
    .has_small_steps = true,
    .state_size = sizeof(Wcsph),
    .saved = saved,
    .init = wcsph_init,
    .max_dt = wcsph_max_dt,
    .step = wcsph_step,
    .solid_forces = wcsph_solid_forces,
    .finish = wcsph_finish};
