// `constraint`: density as a holonomic constraint, one system for fluid, bodies, joints and contacts (Bodin,
// Lacoursière & Servin 2012: Constraint Fluids; equation numbers are theirs).
//
// The density of each particle is a constraint g_i = rho_i/rho0 - 1, (21). The stepper SPOOK, (14)-(20),
// turns it into a condition on the velocities after the step,
//
//   G v + Sigma lambda = -(4 xi/dt) g + xi G v(t),   xi = 1/(1 + 4 tau/dt),   Sigma = 4 epsilon xi/dt^2,
//
// which projected Gauss-Seidel solves for everything at once. A violation decays within a few steps of any
// length, so that steps may be long. Their own limit is that of forces/step_limit.h.
//
// Where this differs from the print:
// - (20) prints epsilon/xi; epsilon xi follows from (15). (25) lacks 1/rho0 and swaps the masses.
// - Densities must not pull at a free surface: with p = -lambda, p >= 0 unless `bilateral` is 1. Where fluid
//   is less dense than at rest, the gap may close within the step: the right-hand side is -g/dt.
// - Walls. A boundary field carries half of the pressure at a wall. Here samples of solids next to fluid have
//   constraints and multipliers of their own, see rows.c; or, with `boundary` = `field`, rows of feet carry
//   the other half, see near_solids.c and feet.c. In the paper's 3D scenes particles stop
//   half a support away from surfaces and see no more of them: `boundary` = `distances`.
// - Viscosity is implicit where steps are long; see viscous.c.
#include "coupling/constraint/constraint.h"

#include "coupling/coupling.h"
#include "coupling/forces/step_limit.h"

#include <string.h>

static const char *const solver_words[] = {"gauss-seidel", "nncg", "standard", NULL};
static const char *const order_words[] = {"cells", "natural", NULL};
static const char *const boundary_words[] = {"samples", "distances", "field", NULL};

static const FloParam params[] = {
    FLO_WORDS(
        "solver", FLO_CONSTRAINT_GAUSS_SEIDEL, solver_words, 3,
        "gauss-seidel: projected Gauss-Seidel, best for few iterations; nncg: conjugate directions over "
        "it, best from 30 iterations on; standard: pressures from an equation of state, as in standard "
        "SPH, the baseline that the paper compares with"),
    FLO_WHOLE("iterations", 30, 1, 1e5,
              "largest number of iterations in a step; more keep deep fluid from being compressed"),
    FLO_NUMBER(
        "tolerance", 2e-5, 0, 1, "",
        "stop iterating when an iteration changes densities by less than this share (root of mean "
        "squares), and contacts of bodies lack less than this share of a spacing in the step; 0: always "
        "take all iterations"),
    FLO_NUMBER("tau", 4, 0, 1e3, "steps",
               "time in which violations are damped, in time steps; larger values correct densities more "
               "softly and slowly"),
    FLO_NUMBER("epsilon", 0, 0, 1e9, "1/J",
               "softness of densities, 1/(m c^2) for fluid of particle mass m and speed of sound c; larger "
               "values converge faster and let fluid be compressed; 0: the highest pressure compresses fluid "
               "by 0.01 %"),
    FLO_NUMBER("warm_start", 0.9, 0, 1, "",
               "share of the last step's pressures that the iterations start from; 1 rings with few "
               "iterations; any share above 0 is taken as 1 where viscosity is implicit; 0: start from "
               "nothing"),
    FLO_WHOLE(
        "levels", 2, 1, 2,
        "2: each iteration also corrects the pressures of whole cells, two supports wide, which deep fluid "
        "needs; 1: only those of single particles, as in the paper"),
    FLO_WORDS(
        "order", FLO_CONSTRAINT_BY_CELLS, order_words, 2,
        "order in which an iteration visits rows; cells: by cells in colours, so that threads share the "
        "work; natural: as particles lie in memory, by one thread"),
    FLO_SWITCH("bilateral", 0,
               "1: densities also pull where fluid is less dense than at rest, which strings the surface "
               "together; 0: they only push"),
    FLO_WORDS(
        "boundary", FLO_CONSTRAINT_SAMPLES, boundary_words, 3,
        "samples: samples of solids next to fluid have pressures of their own; field: solids fill the "
        "part of a kernel that they cover, and have pressures of their own below fluid; distances: fluid "
        "keeps a distance and does not see solids otherwise, as in the paper's 3D scenes"),
    FLO_NUMBER(
        "distance", 0, 0, 10, "spacings",
        "the least distance of fluid from surfaces if boundary is field or distances; 0: a quarter of a "
        "spacing with field, half a support with distances, as in the paper"),
    FLO_ALPHA_PARAM(0.2),
    FLO_NUMBER("sound_speed", 0, 0, 1e5, "m/s",
               "speed of sound of the solver `standard`; 0: the highest that is stable at the step taken"),
    FLO_WHOLE("history", 0, 0, 1e9,
              "in every such step, tries all solvers and keeps their residuals after each iteration; "
              "flotsam run writes them to residuals.csv; 0: never"),
    FLO_WHOLE("passes", 50, 1, 1e5,
              "largest number of times that a step solves implicit viscosity and pressures in turn; fewer if "
              "they agree within the tolerance, and 1 % of the pressures; steps that need more are warned "
              "of"),
    FLO_FILM_GAP_PARAM,
    // The errors of ten solutions in turn add up, so each is ten times as good.
    FLO_FORCE_PARAMS(1e-4),
    {0}};

static const FloStateField saved[] = {FLO_SAVED_EXPECTATIONS(FloConstraint, expected), {0}};

static const FloOperatorDef operators[] = {FLO_IMPLICIT_OPERATORS};

#define PUSH_FIELD(axis)                                                                                     \
  {                                                                                                          \
    "contact_" axis, FLO_TYPE_F32, 1u << FLO_SET_FLUID, true, "N",                                           \
        "force of surfaces from which the particle kept its distance in the last step", false                \
  }

static const FloField fields[] = {
    FLO_WARM_FIELD, FLO_WET_FIELD, PUSH_FIELD("x"), PUSH_FIELD("y"), PUSH_FIELD("z"), FLO_FILM_FIELD, {0}};

// ---- Creation and end ----

static FloStatus constraint_init(FloWorld *world, void *state, FloError *error) {
  (void)error; // everything else is set up in each step
  flo_expect_fluid(world, &((FloConstraint *)state)->expected);
  return FLO_OK;
}

static void constraint_finish(FloWorld *world, void *state) {
  FloConstraint *c = state;
  flo_buffers_free(&world->memory, c->buffers, FLO_COUNT_OF(c->buffers));
  flo_buffers_free(&world->memory, c->array_buffers, FLO_COUNT_OF(c->array_buffers));
  flo_cover_free(&c->cover);
  flo_wet_samples_free(&c->wet_samples, &world->memory);
  flo_films_free(&c->films, &world->memory);
  flo_body_rows_free(&c->drag, &world->memory);
  flo_forces_free(&c->forces, &world->memory);
  flo_body_solve_free(&c->bodies, &world->memory);
}

static double constraint_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  const FloConstraint *c = state;
  return flo_implicit_max_dt(world, &c->expected, FLO_CONSTRAINT_FIRST_FORCE_PARAM, limited_by);
}

// ---- Before the rows are solved ----

typedef struct Work {
  FloWorld *world;
  FloConstraint *c;
} Work;

// Velocities to start from, with inverse masses; guided particles do not yield.
static void start_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    float *q = work->c->velocity + 4 * i;
    memcpy(q, work->c->start + 4 * i, 4 * sizeof *q);
    q[3] = p->held[i] ? 0 : 1 / p->mass[i];
  }
}

static FloForceSweep describe_sweep(FloConstraint *c) {
  return (FloForceSweep){.fluid = c->before, .bodies = &c->drag, .force = c->explicit_force};
}

static FloStatus reserve(FloWorld *world, FloConstraint *c, FloError *error) {
  const size_t n_walls = world->sets[FLO_SET_BOUNDARY].count, n_bodies = world->sets[FLO_SET_RIGID].count;
  const double artificial =
      flo_implicit_artificial_viscosity(world, &c->expected, world->params[FLO_CONSTRAINT_ALPHA]);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_WALL_P, (n_walls + FLO_BLOCK) * 4, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_BODY_P, (n_bodies + FLO_BLOCK) * 4, 0, error));
  c->wall_p = c->buffers[FLO_CONSTRAINT_WALL_P].data, c->body_p = c->buffers[FLO_CONSTRAINT_BODY_P].data;
  FLO_TRY(flo_body_rows_prepare(&c->drag, world, error));
  FLO_TRY(flo_world_reserve_motion(world, error));
  return flo_forces_prepare(&c->forces, world, FLO_CONSTRAINT_FIRST_FORCE_PARAM, c->dt, artificial, error);
}

// Fluid in gaps below bodies that are too narrow for particles.
static FloStatus press_films(FloWorld *world, FloConstraint *c, FloError *error) {
  const FloFilmFields film_fields = {FLO_CONSTRAINT_WARM, FLO_CONSTRAINT_WET, FLO_CONSTRAINT_FILM,
                                     world->params[FLO_CONSTRAINT_FILM_GAP]};
  c->films.n_forces = 0;
  if (!flo_constraint_has_samples(world) || c->n_fluid == 0) return FLO_OK;
  FLO_TRY(flo_films_press_by_multipliers(&c->films, world, &film_fields, c->dt, error));
  flo_films_push_nodes(&c->films, world, flo_films_take_wrench, c->wrenches);
  return FLO_OK;
}

// All forces except those of rows act on fluid and bodies.
static FloStatus apply_forces(FloWorld *world, FloConstraint *c, FloError *error) {
  Work work = {world, c};
  const FloForceSweep sweep = describe_sweep(c);
  if (c->drag.is_used) flo_world_spread_motions(world, NULL, c->drag.motion);
  flo_forces_sweep(&c->forces, world, &sweep);
  FLO_TRY(flo_forces_add_tension(&c->forces, world, c->explicit_force, error));
  flo_body_rows_add_wrenches(&c->drag, world, c->wrenches);
  flo_body_rows_add_wrenches(&c->forces.tension.bodies, world, c->wrenches);
  FLO_TRY(press_films(world, c, error));
  flo_body_solve_expect(&c->bodies, world, world->params[FLO_CONSTRAINT_WARM_START] > 0, c->wrenches);
  flo_world_kick_bodies(world, c->wrenches, c->dt);
  flo_forces_predict(world, c->explicit_force, c->dt, c->start);
  FLO_TRY(flo_constraint_make_viscous(world, c, error));
  flo_implicit_begin_reactions(world);
  flo_each_particle(world, FLO_SET_FLUID, start_range, &work);
  return FLO_OK;
}

// ---- The baseline ----

// Standard SPH: p = c^2 (rho - rho0), and forces with the present volumes, m/rho. These unknowns are not
// solved for, so their rows have no response. The highest speed of sound at which an explicit step is stable
// moves a signal by 0.4 of a support.
#define EXPLICIT_COURANT 0.4

static void use_equation_of_state(const FloWorld *world, FloConstraint *c) {
  const double given = world->params[FLO_CONSTRAINT_SOUND_SPEED];
  const double speed = given > 0 ? given : EXPLICIT_COURANT * world->kernel.support / c->dt;
  const float *mass = world->sets[FLO_SET_FLUID].mass;
  for (size_t row = 0; row < flo_constraint_first_distance(c); ++row) {
    const double m = (double)mass[c->links[c->link_begin[row]].particle],
                 g = fmax((double)c->violation[row], 0), ratio = 1 + g;
    c->p[row] = (float)(g * speed * speed * m * c->dt / (ratio * ratio));
    c->response[row] = c->heads[c->position[row]].inverse = 0;
  }
}

// ---- The step ----

static void begin(FloWorld *world, FloConstraint *c, double dt) {
  const bool fills_kernels = flo_constraint_boundary(world) != FLO_CONSTRAINT_DISTANCES;
  c->dt = dt;
  c->xi = 1 / (1 + 4 * world->params[FLO_CONSTRAINT_TAU]);
  c->rest_volume = flo_world_rest_volume(world);
  c->rest_sum = fills_kernels ? flo_kernel_settled_sum(&world->kernel, world->def.spacing) : 1;
  c->n_fluid = world->sets[FLO_SET_FLUID].count;
}

static FloStatus prepare(FloWorld *world, FloConstraint *c, FloError *error) {
  double since = flo_seconds();
  FLO_TRY(flo_constraint_meet_bodies(world, c, error));
  FLO_TRY(reserve(world, c, error));
  FLO_TRY(flo_constraint_make_rows(world, c, error));
  flo_implicit_read_velocities(world, c->before);
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  return FLO_OK;
}

static FloStatus solve(FloWorld *world, FloConstraint *c, FloError *error) {
  double since = flo_seconds();
  FLO_TRY(apply_forces(world, c, error));
  flo_constraint_want(world, c);
  FLO_TRY(flo_constraint_start_bodies(world, c, error));
  flo_constraint_start_unknowns(world, c, flo_constraint_warmth(world, c));
  if ((int)world->params[FLO_CONSTRAINT_SOLVER] == FLO_CONSTRAINT_STANDARD) use_equation_of_state(world, c);
  FLO_TRY(flo_constraint_solve(world, c, error));
  flo_constraint_take_forces(world, c);
  flo_constraint_push_bodies(world, c);
  flo_films_keep(&c->films);
  c->expected.peak =
      flo_peak_follow(world, c->expected.peak, world->sets[FLO_SET_FLUID].extra[FLO_CONSTRAINT_WARM], c->dt);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return FLO_OK;
}

static FloStatus constraint_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloConstraint *c = state;
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  begin(world, c, dt);
  FLO_TRY(prepare(world, c, error));
  FLO_TRY(solve(world, c, error));
  return flo_implicit_move(world, c->force, c->velocity, c->forces.walls, dt, error);
}

static FloStatus constraint_solid_forces(FloWorld *world, void *state, FloError *error) {
  FloConstraint *c = state;
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  const FloForceSweep sweep = describe_sweep(c);
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  flo_samples_clear_forces(walls);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_WALL_FORCE,
                                 (walls->capacity + FLO_BLOCK) * 4 * sizeof(float), 0, error));
  float *force = c->buffers[FLO_CONSTRAINT_WALL_FORCE].data;
  FLO_TRY(flo_constraint_solid_forces(world, c, force, error));
  flo_films_add_to_walls(&c->films, world, force);
  flo_forces_on_walls(&c->forces, world, &sweep, force);
  flo_samples_add_forces(walls, force);
  return FLO_OK;
}

const FloMethod flo_constraint = {.name = "constraint",
                                  .paper = "Bodin, Lacoursière & Servin 2012: Constraint Fluids",
                                  .params = params,
                                  .fields = fields,
                                  .operators = operators,
                                  .n_operators = FLO_COUNT_OF(operators),
                                  .moves = FLO_MOVES_ALL,
                                  .moves_pieces = true,
                                  .touches_soft = true,
                                  .reads_restitution = true,
                                  .state_size = sizeof(FloConstraint),
                                  .saved = saved,
                                  .init = constraint_init,
                                  .max_dt = constraint_max_dt,
                                  .step = constraint_step,
                                  .solid_forces = constraint_solid_forces,
                                  .finish = constraint_finish};
