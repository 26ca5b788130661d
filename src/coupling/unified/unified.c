// `unified`: fluids, rigid and elastic bodies as particles of one system (Shao, Zhou, Zhang & Wu 2014:
// Lagrangian particle-based simulation of fluid-solid coupling on graphics processing units; equation numbers
// are theirs).
//
// Volumes come from the number density (21), so that the densities of neighbours may differ by any factor:
//
//   delta_i = sum_j W_ij,   V_i = 1/delta_i,   rho_i = m_i delta_i                                 (21), (22)
//   p_i     = max(B ((rho_i/rho0_i)^7 - 1), 0)                                                          (23)
//   f_i     = -sum_j (V_i^2 p_i + V_j^2 p_j) grad W_ij                                                  (24)
//
// A step of symplectic Euler is a list of passes over whole sets:
//
//   neighbours               kernel sums and gradients of fluid and samples
//   pressures                of fluid, and of samples next to it: weakly_compressible.c
//   forces                   pressure, viscosity, tension; of fluid on bodies: forces.c, body_rows.c
//   interfaces               weight and surface tension between two fluids: interfaces.c, tension.c
//   repulsion, collisions    fluid that comes too near to a sample: collisions.c
//   contacts                 between bodies, with friction: body_solve.c
//   motion                   velocities, positions
//
// Where this differs from the printed paper:
// - (24) with the mean of two pressures is half of the gradient, and conserves momentum only if forces are
//   divided by the right one of two densities. The sum of p V^2 is whole and symmetric.
// - (23) has a stiffness for each fluid. Here all fluids share one: phases.c.
// - (25) has the wrong sign and the arithmetic mean of viscosities. Here viscosity brakes along the line of
//   centres, so that it conserves angular momentum, and has the harmonic mean: pair.h.
// - Samples of solids next to fluid have pressures of their own, which keep fluid on a lattice beside a wall
//   in equilibrium: weakly_compressible.c. With the density of (22) for samples, bodies would press on fluid
//   by what their own samples are compressed.
// - Solids touch each other at points of their true surfaces, with friction (state/contacts.h), and not by
//   pressures between samples. Pressures have no static friction, round off edges, and need a stiffness that
//   grows with the heaviest body and so a shorter step for all.
// - (13) to (20): collisions.c.
// - (26) to (28), (33): tension.c.
// - Symplectic Euler instead of leapfrog: the same positions, with velocities counted half a step later.
#include "coupling/unified/unified.h"

#include "coupling/coupling.h"

#include <string.h>

static const FloParam params[] = {
    FLO_TAIT_PARAMS(0.05),
    FLO_SWITCH("collisions", 0,
               "1: fluid and samples nearer than 0.8 spacings that approach each other collide without "
               "rebound, as in the paper; 0: pressure and the surfaces of bodies keep fluid out"),
    FLO_NUMBER("repulsion", 0, 0, 1e6, "m^2/s^2",
               "boundary force of samples on fluid; larger values keep fluid farther away and make bodies "
               "float too high; 0: none"),
    FLO_NUMBER("contact_tolerance", 5e-6, 0, 1, "",
               "contacts between bodies stop iterating when they lack less than this share of a spacing in "
               "the step; smaller values let stacks creep less"),
    FLO_WHOLE("contact_iterations", 30, 1, 1e5,
              "largest number of iterations over contacts between bodies in a step; raise it if high stacks "
              "creep"),
    FLO_FORCE_PARAMS(1e-3),
    {0}};

static const FloOperatorDef operators[] = {FLO_BODY_OPERATORS};

static const FloStateField saved[] = {FLO_COMPRESSIBLE_FIELDS(FloUnified, fluid), {0}};

static const FloArrayDef array_defs[] = {FLO_UNIFIED_ARRAYS(FLO_ARRAY_DEF)};

// ---- Creation and end ----

// They follow from the materials, so they are found anew and not saved.
static void find_phases(const FloWorld *world, FloUnified *u) {
  u->phases = flo_unified_phases(world);
  u->fluid.reference = u->phases.most;
}

static FloStatus unified_init(FloWorld *world, void *state, FloError *error) {
  FloUnified *u = state;
  find_phases(world, u);
  flo_compressible_init(&u->fluid, flo_unified_expected_speed(world, u->phases.most));
  flo_world_log(world, FLO_LOG_INFO, "unified: speed of sound %g m/s, in the lightest fluid %g m/s",
                flo_sound_speed(world, &u->fluid), flo_unified_top_sound(world, u));
  return flo_unified_check_ratio(world, u, error);
}

static void unified_finish(FloWorld *world, void *state) {
  FloUnified *u = state;
  flo_buffers_free(&world->memory, u->array_buffers, FLO_COUNT_OF(u->array_buffers));
  flo_buffer_free(&world->memory, &u->node_buffer);
  flo_buffer_free(&world->memory, &u->tension_buffer);
  flo_compressible_free(&u->fluid, &world->memory);
  flo_body_rows_free(&u->bodies, &world->memory);
  flo_body_solve_free(&u->contacts, &world->memory);
  flo_forces_free(&u->forces, &world->memory);
}

// Monaghan 1992: artificial viscosity shortens the step that sound allows.
static double unified_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  const double c = flo_unified_top_sound(world, state) * (1 + 0.6 * world->params[FLO_TAIT_ALPHA]);
  const double usual = flo_compressible_max_dt(world, c, FLO_UNIFIED_FIRST_FORCE_PARAM, limited_by),
               capillary = flo_unified_capillary_dt(world);
  if (capillary < usual) *limited_by = "surface tension";
  return fmin(usual, capillary);
}

static FloStatus reserve_nodes(FloWorld *world, FloUnified *u, FloError *error) {
  const size_t size = (6 * world->nodes.count + 1) * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &u->node_buffer, size, 0, error));
  u->impulses = u->node_buffer.data;
  memset(u->impulses, 0, size);
  return FLO_OK;
}

static FloStatus prepare(FloWorld *world, FloUnified *u, double dt, FloError *error) {
  find_phases(world, u);
  const double artificial = flo_tait_viscosity(world, flo_sound_speed(world, &u->fluid));
  const FloArraySizes sizes = {world->sets, 0};
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &sizes, &world->memory, u->array_buffers,
                             u->arrays, error));
  FLO_TRY(reserve_nodes(world, u, error));
  FLO_TRY(flo_unified_prepare_tensions(world, u, error));
  u->forces.has_pressures = true;
  u->forces.viscosity.reference = u->phases.most;
  FLO_TRY(flo_forces_prepare(&u->forces, world, FLO_UNIFIED_FIRST_FORCE_PARAM, dt, artificial, error));
  FLO_TRY(flo_world_reserve_motion(world, error));
  FLO_TRY(flo_body_solve_meet(&u->contacts, world, dt, error));
  return flo_body_rows_prepare(&u->bodies, world, error);
}

// ---- Forces of fluid ----

static FloForceSweep describe_sweep(FloUnified *u) {
  return (FloForceSweep){.fluid = u->state,
                         .wall_pressure = u->fluid.wall_pressure.data,
                         .body_pressure = u->fluid.body_pressure.data,
                         .bodies = &u->bodies,
                         .force = u->force};
}

static FloStatus find_pressures(FloWorld *world, FloUnified *u, FloError *error) {
  double since = flo_seconds();
  if (world->sets[FLO_SET_BOUNDARY].count > 0)
    FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  flo_unified_find_bulks(world, u);
  u->fluid.most_covered = 1 - flo_least_uncovered(world);
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  return flo_compressible_find_pressures(&u->fluid, world, u->state, error);
}

static FloStatus find_forces(FloWorld *world, FloUnified *u, double dt, FloError *error) {
  FloForces *forces = &u->forces;
  const FloForceSweep sweep = describe_sweep(u);
  if (u->bodies.is_used) flo_world_spread_motions(world, NULL, u->bodies.motion);
  flo_forces_sweep(forces, world, &sweep);
  flo_unified_meet(world, u);
  FLO_TRY(flo_unified_pull(world, u, error));
  FLO_TRY(flo_forces_add_tension(forces, world, u->force, error));
  flo_world_kick_bodies(world, NULL, dt);
  flo_world_push_by_rows(world, &u->bodies, dt);
  flo_world_push_by_rows(world, &forces->tension.bodies, dt);
  if (!forces->is_implicit) return FLO_OK;
  flo_forces_predict(world, u->force, dt, u->predicted);
  FLO_TRY(flo_forces_make_viscous(forces, world, dt, NULL, u->predicted, u->force, error));
  flo_world_note_rows(world, &forces->implicit.bodies);
  flo_forces_find_drag(forces, world);
  return FLO_OK;
}

// ---- Contacts of bodies ----

static FloStatus touch(FloWorld *world, FloUnified *u, double dt, FloError *error) {
  const double speed = world->params[FLO_UNIFIED_TOLERANCE] * world->def.spacing / dt;
  const int n = (int)world->params[FLO_UNIFIED_ITERATIONS];
  if (world->nodes.count == 0) return FLO_OK;
  FLO_TRY(flo_body_solve_start(&u->contacts, world, true, error));
  world->residual = flo_body_solve_sweep(&u->contacts, world, speed, n);
  flo_body_solve_take(&u->contacts, world, u->impulses);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloBody *body = flo_node_body(world, k);
    const double *impulse = u->impulses + 6 * k;
    double force[3], torque[3];
    flo_body_solve_push(&u->contacts, world, k, impulse);
    vec_scale(impulse, 1 / dt, force), vec_scale(impulse + 3, 1 / dt, torque);
    flo_body_add_force(body, force, torque, flo_node_at(world, k)->position, body->state.pose.position);
  }
  return FLO_OK;
}

// ---- The step ----

static FloStatus push_fluid(FloWorld *world, FloUnified *u, double dt, FloError *error) {
  FLO_TRY(find_pressures(world, u, error));
  double since = flo_seconds();
  FLO_TRY(find_forces(world, u, dt, error));
  flo_unified_clear_near(world, u);
  flo_unified_repel(world, u, dt);
  flo_unified_collide(world, u, dt);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

static FloStatus unified_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloUnified *u = state;
  const bool is_wet = world->sets[FLO_SET_FLUID].count > 0;
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(prepare(world, u, dt, error));
  flo_world_clear_body_forces(world);
  if (is_wet)
    FLO_TRY(push_fluid(world, u, dt, error));
  else
    flo_world_kick_bodies(world, NULL, dt);
  FLO_TRY(touch(world, u, dt, error));
  if (!is_wet) world->max_speed = world->max_acceleration = 0;
  if (is_wet) FLO_TRY(flo_world_integrate(world, u->force, dt, error));
  FLO_TRY(flo_world_advance_bodies(world, dt, error));
  if (!is_wet) return FLO_OK;
  flo_compressible_follow(&u->fluid, world, dt);
  flo_compressible_report(world, u->force);
  return FLO_OK;
}

// ---- Forces on solids, requested between steps, as of the start of the last step ----

static void add_rows(FloWorld *world, const FloBodyRows *rows) {
  if (rows->is_used) flo_samples_add_forces(&world->sets[FLO_SET_RIGID], rows->force);
}

static FloStatus unified_solid_forces(FloWorld *world, void *state, FloError *error) {
  FloUnified *u = state;
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  const FloForceSweep sweep = describe_sweep(u);
  flo_samples_clear_forces(walls);
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  if (world->sets[FLO_SET_FLUID].count > 0) {
    add_rows(world, &u->bodies);
    add_rows(world, &u->forces.tension.bodies);
    flo_samples_add_forces(&world->sets[FLO_SET_RIGID], u->near_body);
    if (u->forces.is_implicit) add_rows(world, &u->forces.implicit.bodies);
  }
  if (walls->count == 0) return FLO_OK;
  memset(u->wall_force, 0, 4 * walls->count * sizeof(float));
  if (world->sets[FLO_SET_FLUID].count > 0) {
    FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
    flo_forces_on_walls(&u->forces, world, &sweep, u->wall_force);
    flo_samples_add_forces(walls, u->near_wall);
  }
  if (world->nodes.count > 0) flo_body_solve_add_to_walls(&u->contacts, world, u->wall_force);
  flo_samples_add_forces(walls, u->wall_force);
  return FLO_OK;
}

const FloMethod flo_unified = {
    .name = "unified",
    .paper = "Shao, Zhou, Zhang & Wu 2014: Lagrangian particle-based simulation of fluid-solid coupling on "
             "graphics processing units",
    .params = params,
    .operators = operators,
    .n_operators = FLO_COUNT_OF(operators),
    .moves = FLO_MOVES_ALL,
    .moves_pieces = true,
    .touches_soft = true,
    .has_small_steps = true,
    .reads_slip = true,
    .reads_restitution = true,
    .reads_interfaces = true,
    .state_size = sizeof(FloUnified),
    .saved = saved,
    .init = unified_init,
    .max_dt = unified_max_dt,
    .step = unified_step,
    .solid_forces = unified_solid_forces,
    .advise = flo_unified_advise,
    .finish = unified_finish};
