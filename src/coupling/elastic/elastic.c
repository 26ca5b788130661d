// `elastic`: PCISPH with solids of any kind that answer within the pressure iterations (Akinci, Cornelis,
// Akinci & Teschner 2013: Coupling Elastic Solids with SPH Fluids; Solenthaler & Pajarola 2009:
// Predictive-Corrective Incompressible SPH; Akinci and others 2012: Versatile Rigid-Fluid Coupling).
//
// Every iteration predicts velocities and positions with the present pressures, finds the densities there,
// and raises or lowers each pressure by its density error times k:
//
// clang-format off
//   force on fluid       -V0 V_j (p_i + p_j) grad W_ij;  beside solids see below
//   velocity, position   v = v* + dt F/m,  x + dt v
//   density error        C_i = 1 - sum_j V_j W(x_i - x_j at the predicted positions), itself included
//   pressure             p_i = max(0, p_i - C_i/(2 d)),  d: change of C_i by p_i of a particle in a filled lattice
// clang-format on
//
// Solids have volumes by (1). Where this differs from the papers:
// - Bodies answer in every iteration rather than after the fluid: answer.c. A sheet far lighter than the
// water
//   on it would otherwise leak or jitter at any step.
// - Akinci 2012 lets only the pressure of fluid act between fluid and solids. That carries half of the load
//   at a wall: the first layer sinks in, and buoyancy is wrong. Here samples next to fluid have pressures of
//   their own, by the same condition on their kernels; `wall_pressure` 0 turns them off.
// - d is larger than that of the prototype where neighbours are denser or lighter, and next to bodies:
//   weigh.c. Conjugate directions speed the iteration up; `solver` = `plain` turns them off.
// - Within the iterations densities change by the gradients at the start of the step, along which forces act,
//   so that the matrix is symmetric. With densities at predicted positions in each iteration, conjugate
//   directions may run away to positions beyond other particles. When the iterations have converged,
//   densities are found at the predicted positions, and the iterations go on until these are right: solve.c.
// - A compression may be corrected over several steps: flo_implicit_correction.
// - Adhesion has the sign that makes fluid stick: adhesion.c.
#include "coupling/elastic/elastic.h"

#include "coupling/coupling.h"
#include "coupling/forces/felt_pressure.h"
#include "coupling/forces/step_limit.h"
#include "sph/passes.h"

#include <string.h>

static const char *const solver_words[] = {"plain", "nncg", NULL};

static const FloParam params[] = {
    FLO_NUMBER("tolerance", 1e-3, 0, 1, "",
               "stop iterating when the compression that remains cannot add up to a mean of more than this; "
               "smaller values keep the volume better and cost more iterations"),
    FLO_NUMBER("largest_compression", 0.01, 0, 1, "",
               "stop iterating only when no particle is compressed by more than this; smaller values cost "
               "more iterations in splashes"),
    FLO_NUMBER("pressure_tolerance", 0.001, 0, 1, "",
               "stop iterating when the volume error that remains is below this share of the volume change "
               "that pressure prevents in the step; matters where pressures are small, as in still water"),
    FLO_NUMBER("motion_tolerance", 4e-3, 0, 1, "",
               "stop iterating when the volume error that remains is below this share of the way that fluid "
               "under pressure moves in the step, in spacings, even if pressure_tolerance is not met"),
    FLO_NUMBER("contact_tolerance", 5e-6, 0, 1, "",
               "contacts between bodies stop iterating when they lack less than this share of a spacing in "
               "the step; smaller values let stacks creep less"),
    FLO_WHOLE("min_iterations", 2, 0, 1e4, "smallest number of iterations in a step"),
    FLO_WHOLE("max_iterations", 100, 1, 1e5,
              "largest number of iterations in a step; more keep deep fluid from being compressed"),
    FLO_WORDS("solver", FLO_ELASTIC_NNCG, solver_words, 2,
              "plain: the iteration of PCISPH; nncg: the same with conjugate directions, which need fewer "
              "iterations"),
    FLO_NUMBER("relaxation", 0.5, 0.01, 1, "",
               "length of a step of the iteration, 0.5 in PCISPH; larger values converge faster until they "
               "diverge"),
    FLO_NUMBER("warm_start", 1, 0, 1, "",
               "share of the last step's pressures that the iterations start from, where the last step had "
               "converged; 0: start from nothing, as in PCISPH"),
    FLO_NUMBER("beta", 0, 0, 1e6, "m^dim/s^2",
               "attraction of fluid by all solids; larger values make fluid stick to them; the paper uses "
               "0.05; the adhesion of materials acts besides"),
    FLO_ALPHA_PARAM(0.1),
    FLO_CORRECTION_TIME_PARAM(0.3),
    FLO_SWITCH("wall_pressure", 1,
               "1: solids next to fluid have pressures of their own, so that fluid keeps its volume beside "
               "walls and buoyancy is right; 0, and with surface tension: they have none, as in the papers"),
    FLO_FILM_GAP_PARAM,
    FLO_FORCE_PARAMS(1e-3),
    {0}};

static const FloStateField saved[] = {
    FLO_SAVED_EXPECTATIONS(FloElastic, expected), FLO_STATE_FIELD(FloElastic, was_solved), {0}};

static const FloOperatorDef operators[] = {FLO_IMPLICIT_OPERATORS};

static const FloArrayDef array_defs[] = {FLO_ELASTIC_ARRAYS(FLO_ARRAY_DEF)};

static const FloField fields[] = {FLO_WARM_FIELD, FLO_WET_FIELD, FLO_FILM_FIELD, {0}};

static float *extra(const FloWorld *world, FloSet set, int field) { return world->sets[set].extra[field]; }

// ---- Creation and end ----

static FloStatus elastic_init(FloWorld *world, void *state, FloError *error) {
  (void)error; // everything else is set up in each step
  flo_expect_fluid(world, &((FloElastic *)state)->expected);
  return FLO_OK;
}

static void elastic_finish(FloWorld *world, void *state) {
  FloElastic *e = state;
  FloBuffer *buffers[] = {&e->node_buffer, &e->wall_force, &e->strength};
  FloBodyRows *rows[] = {&e->drag, &e->pressed, &e->adhesion};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(&world->memory, buffers[k]);
  for (size_t k = 0; k < FLO_COUNT_OF(rows); ++k) flo_body_rows_free(rows[k], &world->memory);
  for (size_t k = 0; k < FLO_COUNT_OF(e->array_buffers); ++k)
    flo_buffer_free(&world->memory, &e->array_buffers[k]);
  flo_wet_samples_free(&e->wet_samples, &world->memory);
  flo_films_free(&e->films, &world->memory);
  flo_body_solve_free(&e->bodies, &world->memory);
  flo_soft_motion_free(&e->soft_motion, &world->memory);
  flo_soft_yield_free(&e->soft_yield, &world->memory);
  flo_forces_free(&e->forces, &world->memory);
}

static double elastic_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  const FloElastic *e = state;
  return flo_implicit_max_dt(world, &e->expected, FLO_ELASTIC_FIRST_FORCE_PARAM, limited_by);
}

static FloStatus reserve_nodes(FloWorld *world, FloElastic *e, FloError *error) {
  double **arrays[] = {&e->wrenches, &e->start_motion, &e->impulses, &e->loads};
  const size_t n = 6 * world->nodes.count + 1;
  FLO_TRY(flo_buffer_reserve(&world->memory, &e->node_buffer, n * FLO_COUNT_OF(arrays) * sizeof(double), 0,
                             error));
  memset(e->node_buffer.data, 0, n * FLO_COUNT_OF(arrays) * sizeof(double));
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k) *arrays[k] = (double *)e->node_buffer.data + k * n;
  return FLO_OK;
}

static FloStatus reserve(FloWorld *world, FloElastic *e, FloError *error) {
  const double artificial =
      flo_implicit_artificial_viscosity(world, &e->expected, world->params[FLO_ELASTIC_ALPHA]);
  const FloParticles *sets = world->sets;
  const FloArraySizes sizes = {sets, sets[FLO_SET_FLUID].capacity + sets[FLO_SET_BOUNDARY].capacity +
                                         sets[FLO_SET_RIGID].capacity};
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &sizes, &world->memory, e->array_buffers,
                             e->arrays, error));
  FLO_TRY(reserve_nodes(world, e, error));
  FLO_TRY(flo_soft_motion_prepare(&e->soft_motion, world, error));
  FLO_TRY(flo_world_reserve_motion(world, error));
  FLO_TRY(flo_body_rows_prepare(&e->drag, world, error));
  FLO_TRY(flo_body_rows_prepare(&e->pressed, world, error));
  e->has_bodies = e->pressed.is_used;
  return flo_forces_prepare(&e->forces, world, FLO_ELASTIC_FIRST_FORCE_PARAM, e->dt, artificial, error);
}

// ---- Before the pressure ----

// The sum of |grad W|^2 over the lattice of fluid at rest.
static double sum_prototype(const FloWorld *world) {
  const double s = world->def.spacing;
  const int reach = (int)(world->kernel.support / s), depth = world->def.dim == 3 ? reach : 0;
  double sum = 0;
  for (int k = -depth; k <= depth; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const double r = s * sqrt((double)(i * i + j * j + k * k));
        const double slope =
            r > 0 && r < world->kernel.support ? r * flo_kernel_gradient(&world->kernel, r) : 0;
        sum += slope * slope;
      }
  return sum;
}

static void number_rows(const FloWorld *world, FloElastic *e) {
  const size_t n_fluid = world->sets[FLO_SET_FLUID].count, n_walls = world->sets[FLO_SET_BOUNDARY].count;
  e->first[FLO_SET_FLUID] = 0, e->first[FLO_SET_BOUNDARY] = n_fluid;
  e->first[FLO_SET_RIGID] = n_fluid + n_walls;
  e->n_rows = n_fluid ? n_fluid + n_walls + world->sets[FLO_SET_RIGID].count : 0;
}

static void begin(FloWorld *world, FloElastic *e, double dt) {
  e->dt = dt, e->contact_residual = 0;
  e->rest_volume = flo_world_rest_volume(world);
  e->has_drops = flo_surface_tension_is_used(world);
  e->has_wet = world->params[FLO_ELASTIC_WALL_PRESSURE] != 0 && !e->has_drops;
  e->correction =
      e->has_drops ? 1 : flo_implicit_correction(world, world->params[FLO_ELASTIC_CORRECTION_TIME], dt);
  e->rest_sum = e->has_wet ? flo_kernel_settled_sum(&world->kernel, world->def.spacing) : 1;
  e->prototype = sum_prototype(world);
  number_rows(world, e);
}

static FloForceSweep describe_sweep(FloElastic *e) {
  return (FloForceSweep){.fluid = e->before, .bodies = &e->drag, .force = e->explicit_force};
}

// Fluid in gaps below bodies that are too narrow for particles.
static FloStatus press_films(FloWorld *world, FloElastic *e, FloError *error) {
  const FloFilmFields film_fields = {FLO_ELASTIC_WARM, FLO_ELASTIC_WET, FLO_ELASTIC_FILM,
                                     world->params[FLO_ELASTIC_FILM_GAP]};
  e->films.n_forces = 0;
  if (!e->has_wet || e->n_rows == 0) return FLO_OK;
  FLO_TRY(flo_films_press_by_multipliers(&e->films, world, &film_fields, e->dt, error));
  flo_films_push_nodes(&e->films, world, flo_films_take_wrench, e->wrenches);
  return FLO_OK;
}

// Implicit viscosity. The pressures of the last step act as a guess; see flo_forces_make_viscous.
static FloStatus make_viscous(FloWorld *world, FloElastic *e, FloError *error) {
  if (!e->forces.is_implicit) return FLO_OK;
  flo_elastic_push_fluid(world, e);
  flo_implicit_guess_bodies(world, e->dt);
  FLO_TRY(flo_forces_make_viscous(&e->forces, world, e->dt, e->force, e->start, e->explicit_force, error));
  flo_implicit_guess_bodies(world, -e->dt);
  return FLO_OK;
}

static void start_samples(const FloWorld *world, FloElastic *e, FloSet set, float share) {
  const FloParticles *samples = &world->sets[set];
  const float per_volume = share / (float)e->rest_volume, *kept = extra(world, set, FLO_ELASTIC_WET);
  for (size_t i = 0; e->n_rows && i < samples->count; ++i) {
    const size_t row = e->first[set] + i;
    e->pressure[row] = e->diagonal[row] > 0 ? per_volume * kept[i] * samples->volume[i] : 0;
  }
}

static void start_pressures(const FloWorld *world, FloElastic *e) {
  const float share = e->was_solved != 0 ? (float)world->params[FLO_ELASTIC_WARM_START] : 0;
  const float *fluid = extra(world, FLO_SET_FLUID, FLO_ELASTIC_WARM);
  for (size_t i = 0; i < e->first[FLO_SET_BOUNDARY]; ++i)
    e->pressure[i] = e->diagonal[i] > 0 ? share * fluid[i] : 0;
  start_samples(world, e, FLO_SET_BOUNDARY, share);
  start_samples(world, e, FLO_SET_RIGID, share);
}

static void kick_bodies(FloWorld *world, FloElastic *e) {
  double *wrenches = e->impulses; // free until the end of the step
  flo_elastic_expect_pressures(world, e);
  memcpy(wrenches, e->wrenches, 6 * world->nodes.count * sizeof *wrenches);
  flo_body_solve_expect(&e->bodies, world, world->params[FLO_ELASTIC_WARM_START] > 0, wrenches);
  flo_world_kick_bodies(world, wrenches, e->dt);
}

// All forces except pressures, contacts and joints act on fluid and bodies.
static FloStatus apply_forces(FloWorld *world, FloElastic *e, FloError *error) {
  const FloForceSweep sweep = describe_sweep(e);
  if (e->drag.is_used) flo_world_spread_motions(world, NULL, e->drag.motion);
  flo_implicit_read_velocities(world, e->before);
  flo_forces_sweep(&e->forces, world, &sweep);
  FLO_TRY(flo_forces_add_tension(&e->forces, world, e->explicit_force, error));
  FLO_TRY(flo_elastic_attract(world, e, error));
  flo_body_rows_add_wrenches(&e->drag, world, e->wrenches);
  flo_body_rows_add_wrenches(&e->forces.tension.bodies, world, e->wrenches);
  flo_body_rows_add_wrenches(&e->adhesion, world, e->wrenches);
  FLO_TRY(press_films(world, e, error));
  kick_bodies(world, e);
  flo_forces_predict(world, e->explicit_force, e->dt, e->start);
  FLO_TRY(make_viscous(world, e, error));
  flo_implicit_begin_reactions(world);
  flo_world_read_motions(world, e->start_motion);
  return flo_body_solve_start(&e->bodies, world, world->params[FLO_ELASTIC_WARM_START] > 0, error);
}

static FloStatus prepare(FloWorld *world, FloElastic *e, FloError *error) {
  double since = flo_seconds();
  FLO_TRY(flo_body_solve_meet(&e->bodies, world, e->dt, error));
  FLO_TRY(reserve(world, e, error));
  if (e->n_rows) {
    FLO_TRY(flo_wet_samples_prepare(&e->wet_samples, world, FLO_SET_BOUNDARY, error));
    FLO_TRY(flo_wet_samples_prepare(&e->wet_samples, world, FLO_SET_RIGID, error));
    flo_elastic_describe(world, e);
    e->has_led_walls = flo_world_has_led_bodies(world);
    flo_elastic_find_flow(world, FLO_SET_BOUNDARY, e->forces.walls, e->wall_flow);
    FLO_TRY(flo_implicit_check_room(world, error));
  }
  start_pressures(world, e);
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  return FLO_OK;
}

// ---- After the pressure ----

static void keep_samples(const FloWorld *world, const FloElastic *e, FloSet set) {
  const FloParticles *samples = &world->sets[set];
  float *kept = extra(world, set, FLO_ELASTIC_WET);
  for (size_t i = 0; i < samples->count; ++i)
    kept[i] = e->n_rows ? e->pressure[e->first[set] + i] * (float)e->rest_volume / samples->volume[i] : 0;
}

static void keep_pressures(FloWorld *world, FloElastic *e) {
  const size_t n_fluid = world->sets[FLO_SET_FLUID].count;
  if (n_fluid) memcpy(extra(world, FLO_SET_FLUID, FLO_ELASTIC_WARM), e->pressure, n_fluid * sizeof(float));
  keep_samples(world, e, FLO_SET_BOUNDARY);
  keep_samples(world, e, FLO_SET_RIGID);
  flo_world_feel_pressure(world, FLO_ELASTIC_WARM, FLO_ELASTIC_WET);
  flo_films_keep(&e->films);
  e->expected.peak = flo_peak_follow(world, e->expected.peak, e->pressure, e->dt);
}

static void add_force(const FloWorld *world, const double wrench[6], double scale, size_t k) {
  FloBody *body = flo_node_body(world, k);
  double force[3], torque[3];
  vec_scale(wrench, scale, force);
  vec_scale(wrench + 3, scale, torque);
  flo_body_add_force(body, force, torque, flo_node_at(world, k)->position, body->state.pose.position);
}

// Nodes get the impulses of pressures and contacts. The forces that the host reads include all others.
static void push_bodies(FloWorld *world, FloElastic *e) {
  const FloBodyRows *implicit = &e->forces.implicit.bodies;
  memset(e->impulses, 0, 6 * world->nodes.count * sizeof(double));
  for (size_t k = 0; e->has_bodies && k < 6 * world->nodes.count; ++k)
    e->impulses[k] = e->dt * e->pressed.wrenches[k];
  flo_body_solve_settle(&e->bodies, world, e->impulses, flo_elastic_contact_speed(world, e),
                        FLO_ELASTIC_CONTACT_ITERATIONS);
  flo_body_solve_take(&e->bodies, world, e->impulses);
  flo_world_clear_body_forces(world);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    const double *impulse = e->impulses + 6 * k;
    flo_body_solve_push(&e->bodies, world, k, impulse);
    add_force(world, impulse, 1 / e->dt, k);
    add_force(world, e->wrenches + 6 * k, 1, k);
    if (e->forces.is_implicit && implicit->is_used) add_force(world, implicit->wrenches + 6 * k, 1, k);
  }
}

static void add_explicit(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloElastic *e = context;
  for (size_t k = 4 * begin; k < 4 * end; ++k) e->force[k] += e->explicit_force[k];
}

static FloStatus elastic_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloElastic *e = state;
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  begin(world, e, dt);
  FLO_TRY(prepare(world, e, error));
  double since = flo_seconds();
  FLO_TRY(apply_forces(world, e, error));
  flo_elastic_weigh_bodies(world, e);
  FLO_TRY(flo_elastic_list_soft(world, e, error));
  flo_elastic_solve(world, e);
  keep_pressures(world, e);
  push_bodies(world, e);
  flo_each_particle(world, FLO_SET_FLUID, add_explicit, e);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return flo_implicit_move(world, e->force, e->velocity, e->forces.walls, dt, error);
}

// ---- Forces on walls, requested between steps; those on bodies are known from the step ----

static void wall_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloWorld *world = context;
  const FloElastic *e = world->method_state;
  const FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  const float volume = (float)e->rest_volume, *kept = extra(world, FLO_SET_BOUNDARY, FLO_ELASTIC_WET);
  float *force = e->wall_force.data;
  const FloSweep sweep = {.pairs = flo_pairs_of(world, FLO_SET_BOUNDARY, FLO_SET_FLUID),
                          .columns = extra(world, FLO_SET_FLUID, FLO_ELASTIC_WARM),
                          .rows = force};
  flo_passes()->gradient(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, b->count); ++i)
    for (size_t k = 4 * i; k < 4 * i + 3; ++k)
      force[k] = -b->volume[i] * (volume * force[k] + (e->n_rows ? kept[i] * e->near_walls[k] : 0));
}

static FloStatus elastic_solid_forces(FloWorld *world, void *state, FloError *error) {
  FloElastic *e = state;
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  const FloForceSweep sweep = describe_sweep(e);
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  flo_samples_clear_forces(walls);
  FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &e->wall_force,
                             (walls->capacity + FLO_BLOCK) * 4 * sizeof(float), 0, error));
  flo_each_block(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, wall_range, world);
  flo_films_add_to_walls(&e->films, world, e->wall_force.data);
  flo_forces_on_walls(&e->forces, world, &sweep, e->wall_force.data);
  flo_elastic_attract_walls(world, e, e->wall_force.data);
  flo_body_solve_add_to_walls(&e->bodies, world, e->wall_force.data);
  flo_samples_add_forces(walls, e->wall_force.data);
  return FLO_OK;
}

const FloMethod flo_elastic = {
    .name = "elastic",
    .paper = "Akinci, Cornelis, Akinci & Teschner 2013: Coupling Elastic Solids with SPH Fluids",
    .params = params,
    .fields = fields,
    .operators = operators,
    .n_operators = FLO_COUNT_OF(operators),
    .moves = FLO_MOVES_ALL,
    .moves_pieces = true,
    .reads_restitution = true,
    .state_size = sizeof(FloElastic),
    .saved = saved,
    .init = elastic_init,
    .max_dt = elastic_max_dt,
    .step = elastic_step,
    .solid_forces = elastic_solid_forces,
    .finish = elastic_finish};
