// `monolithic`: fluid pressure, contact of fluid and bodies, contact among bodies and exact Coulomb friction
// as one system (Probst & Teschner 2023: Monolithic Friction and Contact Handling for Rigid Bodies and Fluids
// using SPH; equation numbers are theirs).
//
// The unknowns are a pressure p_i for each fluid particle and for each sample of a dynamic body near another
// body, and a friction multiplier for each such sample. With g_i = sum_j V_j grad W_ij over all neighbours
// that do not belong to the same body:
//
// clang-format off
//   volume error       C_i = C_i(t) - dt sum_j V_j (v_i - v_j) . grad W_ij
//   its conditions     C_i >= 0, p_i >= 0, p_i C_i = 0
//   forces of p_i      -p_i V_i V_j grad W_ij on i, the opposite on j
//   C_i(t) of fluid    1 - sum_j V_j W_ij/r, itself included; if negative, the share that this step corrects;
//                      r: this sum of settled fluid
//   C_i(t) of contacts c - sum_j V_j W_ij over other bodies; c: that sum of plane sheets one spacing apart
// clang-format on
//
// These are (3.7)-(3.16) with volumes of samples in place of ones. So uneven sampling and samples of another
// size have the right weight; for even sampling nothing changes. The forces are the transpose of the
// constraint, so the matrix is symmetric, momentum is conserved, and no energy is produced. Here the forces
// of p_i between fluid and solids stand alone, as in the paper (p_b = 0); the pressures of solids next to
// fluid are further unknowns, see wet.c. The pressure of contacts does not push fluid, as in the paper.
//
// Position of the surface: closed bodies have their samples half a spacing below it. Fluid rests one spacing
// away from the samples, so its centres are half a spacing outside the surface. Bodies touch where their
// surfaces do.
#include "coupling/monolithic/monolithic.h"

#include "coupling/coupling.h"
#include "coupling/forces/felt_pressure.h"
#include "coupling/forces/step_limit.h"

#include <string.h>

static const char *const solver_words[] = {"jacobi", "nncg", NULL};
static const char *const contact_words[] = {"points", "kernel", NULL};

static const FloParam params[] = {
    FLO_NUMBER("tolerance", 1e-3, 0, 1, "",
               "stop iterating when the compression that remains cannot add up to a mean of more than this; "
               "smaller values keep the volume better and cost more iterations"),
    FLO_NUMBER(
        "pressure_tolerance", 0.001, 0, 1, "",
        "stop iterating when the volume error that remains is below this share of the volume change "
        "that pressure prevents in the step; matters where pressures are small, as in still water; with "
        "surface tension at least 0.005"),
    FLO_NUMBER("motion_tolerance", 4e-3, 0, 1, "",
               "stop iterating when the volume error that remains is below this share of the way that fluid "
               "under pressure moves in the step, in spacings, even if pressure_tolerance is not met; not "
               "used with surface tension"),
    FLO_NUMBER("contact_tolerance", 2e-4, 0, 1, "",
               "stop iterating when overlaps and slips of contacts are below this share of the way that "
               "gravity moves things by in the step"),
    FLO_WHOLE("min_iterations", 2, 0, 1e4, "smallest number of iterations in a step"),
    FLO_WHOLE("max_iterations", 100, 1, 1e5,
              "largest number of iterations in a step; contacts that converge later than the fluid, or "
              "without fluid, may take "
              "ten times as many of their own"),
    FLO_WORDS("solver", FLO_SOLVER_NNCG, solver_words, 2,
              "jacobi: projected Jacobi; nncg: nonsmooth nonlinear conjugate gradients, which need fewer "
              "iterations"),
    FLO_NUMBER("relaxation", 0.5, 0.01, 1, "",
               "length of a Jacobi step; larger values converge faster until they diverge"),
    FLO_NUMBER("gamma", 0, 0, 0.99, "",
               "gamma of the paper's (3.2): larger values let bodies touch farther apart; 0: they touch one "
               "spacing apart"),
    FLO_NUMBER("warm_start", 1, 0, 1, "",
               "share of the last step's pressures that the iterations start from, where the last step had "
               "converged; 0: start from nothing"),
    FLO_SWITCH("anchors", 1,
               "1: contacts that stick remember where they stuck, so that nothing creeps; 0: they do not"),
    FLO_NUMBER("separation", 0, 0, 100, "m/s",
               "highest speed at which bodies that overlap are pushed apart; 0: chosen by gravity, and lower "
               "where the overlap is shallow"),
    FLO_ALPHA_PARAM(0.1),
    FLO_CORRECTION_TIME_PARAM(0.3),
    FLO_SWITCH("wall_pressure", 1,
               "1: solids next to fluid have pressures of their own, so that fluid keeps its volume beside "
               "walls and buoyancy is right; 0, and with surface tension: they have none, as in the paper"),
    FLO_WORDS("contacts", FLO_CONTACTS_POINTS, contact_words, 2,
              "points: bodies touch at points of their true surfaces; kernel: where kernel sums over their "
              "samples say so, as in the paper, which rounds off edges"),
    FLO_FILM_GAP_PARAM,
    FLO_FORCE_PARAMS(1e-3),
    {0}};

static const FloStateField saved[] = {
    FLO_STATE_FIELD(FloMonolithic, was_fluid_solved), FLO_STATE_FIELD(FloMonolithic, were_contacts_solved),
    FLO_SAVED_EXPECTATIONS(FloMonolithic, expected),  FLO_STATE_FIELD(FloMonolithic, step_length),
    FLO_STATE_FIELD(FloMonolithic, has_dry_contacts), {0}};

static const FloOperatorDef operators[] = {FLO_IMPLICIT_OPERATORS};

static const FloArrayDef array_defs[] = {FLO_MONO_ARRAYS(FLO_ARRAY_DEF)};

#define RIGID (1u << FLO_SET_RIGID)

static const FloField fields[] = {
    FLO_WARM_FIELD,
    {"friction_x", FLO_TYPE_F32, RIGID, true, "N", "friction multiplier of the last step", true},
    {"friction_y", FLO_TYPE_F32, RIGID, true, "N", "friction multiplier of the last step", true},
    {"friction_z", FLO_TYPE_F32, RIGID, true, "N", "friction multiplier of the last step", true},
    FLO_WET_FIELD,
    FLO_FILM_FIELD,
    {0}};

static float *extra(const FloWorld *world, FloSet set, int field) { return world->sets[set].extra[field]; }

// ---- Creation and end ----

static double contact_sum(const FloWorld *world) {
  double sum = 0, gamma = world->params[FLO_MONO_GAMMA], s = world->def.spacing;
  if (gamma > 0) return world->boundary_gamma * (1 / gamma - 1);
  for (int k = 1; k * s < world->kernel.support; ++k) sum += flo_kernel_sheet_sum(&world->kernel, s, k);
  return sum * flo_world_rest_volume(world);
}

static FloStatus monolithic_init(FloWorld *world, void *state, FloError *error) {
  (void)error; // everything else is set up in each step
  flo_expect_fluid(world, &((FloMonolithic *)state)->expected);
  return FLO_OK;
}

static void monolithic_finish(FloWorld *world, void *state) {
  FloMonolithic *mono = state;
  flo_buffers_free(&world->memory, mono->buffers, FLO_COUNT_OF(mono->buffers));
  flo_buffers_free(&world->memory, mono->array_buffers, FLO_COUNT_OF(mono->array_buffers));
  flo_buffer_free(&world->memory, &mono->wall_force);
  flo_monolithic_free_wet(world, mono);
  flo_forces_free(&mono->forces, &world->memory);
  flo_soft_motion_free(&mono->soft_motion, &world->memory);
  flo_soft_yield_free(&mono->soft_yield, &world->memory);
}

static double monolithic_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  const FloMonolithic *mono = state;
  const double fluid = flo_implicit_max_dt(world, &mono->expected, FLO_MONO_FIRST_FORCE_PARAM, limited_by),
               contacts = flo_monolithic_contact_dt(world, mono);
  if (contacts < fluid) *limited_by = "contacts";
  return fmin(contacts, fluid);
}

static FloStatus reserve(FloWorld *world, FloMonolithic *mono, FloError *error) {
  double artificial =
      flo_implicit_artificial_viscosity(world, &mono->expected, world->params[FLO_MONO_ALPHA]);
  // The number of wet samples changes with every step, so there is room for more.
  const size_t n_wet = mono->n_pressures - mono->n_fluid, n_fluid = world->sets[FLO_SET_FLUID].capacity;
  if (n_fluid + n_wet > mono->row_capacity) mono->row_capacity = n_fluid + n_wet + n_wet / 2;
  const FloArraySizes sizes = {world->sets, mono->row_capacity};
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &sizes, &world->memory,
                             mono->array_buffers, mono->arrays, error));
  FLO_TRY(flo_world_reserve_motion(world, error));
  FLO_TRY(flo_soft_motion_prepare(&mono->soft_motion, world, error));
  return flo_forces_prepare(&mono->forces, world, FLO_MONO_FIRST_FORCE_PARAM, mono->dt, artificial, error);
}

// ---- Before the pressure: explicit forces ----

typedef struct Step {
  FloWorld *world;
  FloMonolithic *mono;
} Step;

static FloForceSweep describe_sweep(const FloMonolithic *mono) {
  return (FloForceSweep){.fluid = mono->before, .force = mono->explicit_force};
}

// Adds the forces of a sweep on nodes.
static void add_drag(FloWorld *world, FloMonolithic *mono, const FloBodyRows *rows) {
  for (size_t k = 0; rows->is_used && k < world->nodes.count; ++k) {
    vec_add(mono->partners[k].drag, rows->wrenches + 6 * k, mono->partners[k].drag);
    vec_add(mono->partners[k].turn_drag, rows->wrenches + 6 * k + 3, mono->partners[k].turn_drag);
  }
}

// Velocities of nodes without pressure and friction.
static void start_partners(FloWorld *world, FloMonolithic *mono) {
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    vec_copy(partner->node->angular_velocity, partner->turn_start);
    if (!partner->node->is_held) vec_copy(partner->node->velocity, partner->start);
  }
}

// Contacts start from this share of their last pressures and friction. Several distributions of pressures
// over the points of a face press in the same way. From the whole, errors within the tolerance would add up
// in such distributions from step to step, until a stack sways.
#define CONTACT_WARMTH 0.9f

// Contacts of soft bodies need many iterations while they slide and fold, and would not get them from
// nothing. So these start from their last pressures if they had nearly converged.
static float contact_share(const FloWorld *world, const FloMonolithic *mono, const FloContactPoint *point) {
  const double least = point->hold.count > 0 ? FLO_NEARLY_SOLVED : FLO_SOLVED;
  return mono->were_contacts_solved >= least ? CONTACT_WARMTH * (float)world->params[FLO_MONO_WARM_START] : 0;
}

void flo_monolithic_start_unknowns(FloWorld *world, FloMonolithic *mono) {
  const float warm = (float)world->params[FLO_MONO_WARM_START];
  const float fluid_share = mono->was_fluid_solved != 0 ? warm : 0;
  const float *fluid = extra(world, FLO_SET_FLUID, FLO_MONO_WARM);
  for (size_t i = 0; i < mono->n_fluid; ++i) mono->pressure[i] = fluid_share * fluid[i];
  flo_monolithic_start_wet(world, mono, fluid_share);
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    FloContact *c = &mono->contacts[k];
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    const double *kept = point->kept;
    const float share = contact_share(world, mono, point);
    c->pressure = share * (float)kept[FLO_KEPT_PRESSURE];
    for (int axis = 0; axis < 3; ++axis) c->friction[axis] = share * (float)kept[FLO_KEPT_FRICTION + axis];
  }
}

// The force of the pressures at the start on the nodes of soft bodies.
static void expect_pressures(FloMonolithic *mono) {
  for (size_t k = 0; k < mono->n_touches && mono->touches[k].row < mono->n_pressures; ++k) {
    const FloTouch *t = &mono->touches[k];
    if (!mono->partners[t->node].is_soft) continue;
    for (int axis = 0; axis < 3; ++axis)
      mono->partners[t->node].expected[axis] += (double)mono->pressure[t->row] * (double)t->j[axis];
  }
}

// (3.12). A soft body says how it responds to small impulses after its kick. Without the water on it and its
// contacts the kick would lead far from where the body will be, and the response there is not the same. So
// the kick contains the forces that the solver starts from, and the solver finds what is to be added to them.
static void start_bodies(FloWorld *world, FloMonolithic *mono) {
  flo_monolithic_start_unknowns(world, mono);
  expect_pressures(mono);
  flo_monolithic_expect_contacts(world, mono);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    vec_add(mono->partners[k].drag, mono->partners[k].expected, mono->wrenches + 6 * k);
    vec_copy(mono->partners[k].turn_drag, mono->wrenches + 6 * k + 3);
  }
  flo_world_kick_bodies(world, mono->wrenches, mono->dt);
}

// Applies implicit viscosity, after all other forces except pressure. The pressures of the last step act as a
// guess; see flo_forces_make_viscous.
static FloStatus make_viscous(FloWorld *world, FloMonolithic *mono, FloError *error) {
  FloForces *forces = &mono->forces;
  start_partners(world, mono);
  if (!forces->is_implicit) return FLO_OK;
  flo_monolithic_start_unknowns(world, mono);
  flo_monolithic_apply_to_fluid(world, mono);
  flo_implicit_guess_bodies(world, mono->dt);
  FLO_TRY(flo_forces_make_viscous(forces, world, mono->dt, mono->force, mono->start, mono->explicit_force,
                                  error));
  flo_implicit_guess_bodies(world, -mono->dt);
  add_drag(world, mono, &forces->implicit.bodies);
  start_partners(world, mono);
  return FLO_OK;
}

// ---- Volumes and diagonals of fluid ----

// A compression is corrected over several steps; see flo_implicit_correction.
static void volume_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  FloWorld *world = step->world;
  FloMonolithic *mono = step->mono;
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float self = (float)flo_kernel_w(&world->kernel, 0), volume = (float)mono->rest_volume;
  const float correction = (float)mono->correction, per_rest_sum = 1 / (float)mono->rest_sum;
  bool has_rigid = world->sets[FLO_SET_RIGID].count > 0;
  const float *near_fluid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->kernel_sum,
              *near_walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY)->kernel_sum,
              *near_bodies = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID)->kernel_sum;
  for (size_t i = begin; i < end; ++i) {
    float share = volume * (self + near_fluid[i]) + near_walls[i];
    if (has_rigid) share += near_bodies[i];
    share *= per_rest_sum;
    p->density[i] = share * p->mass[i] / volume;
    mono->own_source[i] = share > 1 ? correction * (1 - share) : 1 - share;
  }
}

// Adds the walls' part of the gradient sum, and the effect of their motion on the volume.
static void add_walls_to_steep(const FloWorld *world, FloMonolithic *mono, size_t i) {
  const FloPairs *walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY);
  const FloPairSlot *slots = walls->slots + walls->slot_begin[i / FLO_BLOCK];
  const FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  float *g = mono->steep + 4 * i, rate = 0;
  size_t lane = i % FLO_BLOCK;
  for (int32_t k = 0; walls->slot_count[i / FLO_BLOCK] && k < walls->row_count[i]; ++k) {
    size_t j = (size_t)slots[k].index[lane];
    float gx = b->volume[j] * slots[k].gx[lane], gy = b->volume[j] * slots[k].gy[lane],
          gz = b->volume[j] * slots[k].gz[lane];
    g[0] += gx, g[1] += gy, g[2] += gz;
    rate += b->vx[j] * gx + b->vy[j] * gy + b->vz[j] * gz;
  }
  mono->own_source[i] += (float)mono->dt * rate;
}

// sum_j V_j grad W_ij.
static void steep_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  FloMonolithic *mono = step->mono;
  const FloPairs *pairs = flo_pairs_of(step->world, FLO_SET_FLUID, FLO_SET_FLUID);
  const FloSweep among = {.pairs = pairs, .columns = mono->move, .rows = mono->steep};     // move: V0
  const FloSweep squares = {.pairs = pairs, .columns = mono->way, .rows = mono->diagonal}; // way: V0^2/m
  flo_passes()->gradient(&among, begin, end);
  flo_passes()->square(&squares, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, mono->n_fluid); ++i) {
    add_walls_to_steep(step->world, mono, i);
    mono->source[i] = mono->own_source[i];
  }
}

// The bodies' part of the gradient sum is known from the touches.
static void add_bodies_to_steep(FloMonolithic *mono) {
  float per_volume = 1 / (float)mono->rest_volume;
  for (size_t n = 0; n < mono->n_coupled && mono->coupled[n] < mono->n_fluid; ++n)
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      for (int axis = 0; axis < 3; ++axis)
        mono->steep[4 * (size_t)mono->coupled[n] + (size_t)axis] += per_volume * mono->touches[k].j[axis];
}

// (A.6) without bodies, whose part depends on how many rows push them.
static void diagonal_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  FloMonolithic *mono = step->mono;
  const float *mass = step->world->sets[FLO_SET_FLUID].mass;
  float scale = (float)(mono->dt * mono->dt * mono->rest_volume);
  for (size_t i = begin; i < end; ++i) {
    const float *g = mono->steep + 4 * i;
    mono->diagonal[i] = scale * ((g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / mass[i] + mono->diagonal[i]);
  }
}

// V0 and V0^2/m of each particle. Pressure does not move particles that an emitter guides.
static void fill_columns(const FloWorld *world, FloMonolithic *mono) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float volume = (float)mono->rest_volume;
  for (size_t i = 0; i < mono->n_fluid; ++i) {
    mono->move[i] = volume;
    mono->way[i] = p->held[i] ? 0 : volume * volume / p->mass[i];
  }
}

// ---- Start and end of the solution ----

// A contact that sticks adds up the slip that remains and takes it back over several steps. A contact that
// slides or has opened has no anchor.
static void keep_contact(const FloWorld *world, const FloMonolithic *mono, const FloContact *c,
                         double kept[FLO_N_KEPT]) {
  float limit = flo_contact_grip(c, c->pressure);
  bool sticks = c->pressure > 0 && flo_dot3(c->friction, c->friction) < 0.999f * limit * limit &&
                world->params[FLO_MONO_ANCHORS] > 0;
  kept[FLO_KEPT_PRESSURE] = (double)c->pressure;
  for (int axis = 0; axis < 3; ++axis) {
    float anchor = c->anchor[axis] + (float)mono->dt * (c->velocity[axis] - c->bias[axis]);
    kept[FLO_KEPT_FRICTION + axis] = (double)c->friction[axis];
    kept[FLO_KEPT_ANCHOR + axis] = sticks ? (double)anchor : 0;
  }
}

static void note_push(const FloMonolithic *mono, const FloContact *c, double push[3]) {
  const double along = (double)(c->pressure * c->volume * c->steepness);
  for (int axis = 0; axis < 3; ++axis)
    push[axis] = mono->dt * (along * (double)c->normal[axis] + (double)c->friction[axis]);
}

static bool is_dry(const FloMonolithic *mono, const FloContact *c) {
  for (uint32_t k = c->first; k < c->first + c->count; ++k)
    if (mono->partners[mono->touches[k].node].has_fluid) return false;
  return true;
}

// Its pin bears the force on the vertex.
static void load_pin(const FloWorld *world, const FloContact *c, const FloContactPoint *point) {
  const double load[3] = {(double)c->friction[0], (double)c->friction[1], (double)c->friction[2]};
  flo_soft_body_load_pin(&flo_bodies(world)[point->body], point->pin, load);
}

static void keep_unknowns(FloWorld *world, FloMonolithic *mono) {
  size_t n_rigid = world->sets[FLO_SET_RIGID].count;
  if (mono->n_fluid)
    memcpy(extra(world, FLO_SET_FLUID, FLO_MONO_WARM), mono->pressure, mono->n_fluid * sizeof(float));
  flo_monolithic_keep_wet(world, mono);
  flo_world_feel_pressure(world, FLO_MONO_WARM, FLO_MONO_WET);
  flo_films_keep(&mono->films);
  world->contacts = 0, mono->has_dry_contacts = 0;
  for (int axis = 0; n_rigid && axis < 3; ++axis)
    memset(extra(world, FLO_SET_RIGID, FLO_MONO_FRICTION_X + axis), 0, n_rigid * sizeof(float));
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    const FloContact *c = &mono->contacts[k];
    for (int axis = 0; c->sample != FLO_NO_SAMPLE && axis < 3; ++axis)
      extra(world, FLO_SET_RIGID, FLO_MONO_FRICTION_X + axis)[c->sample] += c->friction[axis];
    keep_contact(world, mono, c, flo_contact_points(&world->body_contacts)[k].kept);
    note_push(mono, c, flo_contact_points(&world->body_contacts)[k].push);
    if (c->is_glued) load_pin(world, c, &flo_contact_points(&world->body_contacts)[k]);
    world->contacts += c->pressure > 0;
    if (c->pressure > 0 && is_dry(mono, c)) mono->has_dry_contacts = 1;
  }
}

// Applies the impulses of pressure and friction. The forces that the host reads include drag.
static void push_bodies(FloWorld *world, const FloMonolithic *mono) {
  flo_world_clear_body_forces(world);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    const FloPartner *partner = &mono->partners[k];
    FloBody *body = flo_node_body(world, k);
    double impulse[3], turn[3], force[3], torque[3];
    vec_sub(partner->force, partner->expected, impulse);
    vec_scale(impulse, mono->dt, impulse);
    vec_scale(partner->torque, mono->dt, turn);
    flo_node_push(world, k, impulse, turn);
    vec_add(partner->force, partner->drag, force);
    vec_add(partner->torque, partner->turn_drag, torque);
    flo_body_add_force(body, force, torque, partner->node->position, body->state.pose.position);
  }
}

static void total_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  for (size_t k = 4 * begin; k < 4 * end; ++k) step->mono->force[k] += step->mono->explicit_force[k];
}

// ---- The step ----

static FloStatus prepare(FloWorld *world, FloMonolithic *mono, FloError *error) {
  Step step = {world, mono};
  const FloForceSweep sweep = describe_sweep(mono);
  double since = flo_seconds();
  flo_implicit_read_velocities(world, mono->before);
  flo_forces_sweep(&mono->forces, world, &sweep);
  flo_each_particle(world, FLO_SET_FLUID, volume_range, &step);
  fill_columns(world, mono);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, steep_range, &step);
  flo_monolithic_describe_wet(world, mono);
  FLO_TRY(flo_monolithic_meet(world, mono, error));
  FLO_TRY(flo_monolithic_press_films(world, mono, error));
  add_bodies_to_steep(mono);
  flo_each_particle(world, FLO_SET_FLUID, diagonal_range, &step);
  flo_monolithic_weigh_fluid(mono);
  FLO_TRY(flo_monolithic_list_soft(world, mono, error));
  FLO_TRY(flo_forces_add_tension(&mono->forces, world, mono->explicit_force, error));
  add_drag(world, mono, &mono->forces.tension.bodies);
  flo_forces_predict(world, mono->explicit_force, mono->dt, mono->start); // (3.16)
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  return FLO_OK;
}

static FloStatus monolithic_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloMonolithic *mono = state;
  Step step = {world, mono};
  mono->dt = dt;
  mono->contact_sum = contact_sum(world);
  mono->rest_volume = flo_world_rest_volume(world);
  mono->has_drops = flo_surface_tension_is_used(world);
  mono->has_wet = world->params[FLO_MONO_WALL_PRESSURE] != 0 && !mono->has_drops;
  mono->correction =
      mono->has_drops ? 1 : flo_implicit_correction(world, world->params[FLO_MONO_CORRECTION_TIME], dt);
  mono->rest_sum = mono->has_wet ? flo_kernel_settled_sum(&world->kernel, world->def.spacing) : 1;
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  mono->n_fluid = world->sets[FLO_SET_FLUID].count;
  FLO_TRY(flo_monolithic_list_wet(world, mono, error));
  FLO_TRY(reserve(world, mono, error));
  FLO_TRY(prepare(world, mono, error));
  FLO_TRY(flo_implicit_check_room(world, error));
  double since = flo_seconds();
  flo_monolithic_note_approach(mono);
  start_bodies(world, mono);
  FLO_TRY(make_viscous(world, mono, error));
  flo_implicit_begin_reactions(world);
  FLO_TRY(flo_world_weigh_joints(world, dt, NULL, NULL, error));
  flo_monolithic_bounce(world, mono);
  flo_monolithic_start_unknowns(world, mono);
  flo_monolithic_solve_with_soft(world, mono);
  keep_unknowns(world, mono);
  mono->expected.peak = flo_peak_follow(world, mono->expected.peak, mono->pressure, dt);
  flo_monolithic_refine_torques(world, mono);
  push_bodies(world, mono);
  flo_each_particle(world, FLO_SET_FLUID, total_range, &step);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
  return flo_implicit_move(world, mono->force, mono->velocity, mono->forces.walls, dt, error);
}

// ---- Forces on walls, requested between steps; those on bodies are known from the step ----

// Pressure: the opposite of the force of a wall on fluid, (3.15).
static void wall_pressure_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Step *step = context;
  const FloMonolithic *mono = step->mono;
  const FloParticles *b = &step->world->sets[FLO_SET_BOUNDARY];
  float *force = mono->wall_force.data;
  const FloSweep sweep = {.pairs = flo_pairs_of(step->world, FLO_SET_BOUNDARY, FLO_SET_FLUID),
                          .columns = extra(step->world, FLO_SET_FLUID, FLO_MONO_WARM),
                          .rows = force};
  flo_passes()->gradient(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, b->count); ++i)
    for (size_t axis = 0; axis < 3; ++axis) force[4 * i + axis] *= -(float)mono->rest_volume * b->volume[i];
}

// Adds the forces of a contact on a wall.
static void add_point(const FloWorld *world, FloMonolithic *mono, size_t k) {
  const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
  const FloContact *c = &mono->contacts[k];
  if (flo_body_is_pushed(&flo_bodies(world)[point->other])) return;
  const float push = c->pressure * c->volume * c->steepness;
  double force[3];
  for (size_t axis = 0; axis < 3; ++axis) force[axis] = -(double)(push * c->normal[axis] + c->friction[axis]);
  flo_contact_push_wall(world, point, force, mono->wall_force.data);
}

// The same for a contact by kernel sums, on the wall samples near it: the opposite of its pressure force and
// of its share of friction.
static void add_kernel_contact(const FloWorld *world, FloMonolithic *mono, const FloContact *c) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY);
  const FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  size_t block = c->sample / FLO_BLOCK, lane = c->sample % FLO_BLOCK;
  if (pairs->slot_count[block] == 0) return;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[c->sample]; ++k) {
    size_t wall = (size_t)slots[k].index[lane];
    float g[3] = {slots[k].gx[lane], slots[k].gy[lane], slots[k].gz[lane]};
    float scale = c->pressure * c->volume * b->volume[wall];
    float share = flo_monolithic_weight(world, c, wall), *force = (float *)mono->wall_force.data + 4 * wall;
    for (size_t axis = 0; axis < 3; ++axis) force[axis] += scale * g[axis] - share * c->friction[axis];
  }
}

static FloStatus monolithic_solid_forces(FloWorld *world, void *state, FloError *error) {
  FloMonolithic *mono = state;
  Step step = {world, mono};
  const FloForceSweep sweep = describe_sweep(mono);
  FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  flo_samples_clear_forces(&world->sets[FLO_SET_RIGID]);
  flo_samples_clear_forces(walls);
  FLO_TRY(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &mono->wall_force,
                             (walls->capacity + FLO_BLOCK) * 4 * sizeof(float), 0, error));
  flo_each_block(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, wall_pressure_range, &step);
  flo_monolithic_add_wet_forces(mono, mono->wall_force.data);
  flo_films_add_to_walls(&mono->films, world, mono->wall_force.data);
  flo_forces_on_walls(&mono->forces, world, &sweep, mono->wall_force.data);
  for (size_t k = 0; k < mono->n_contacts; ++k)
    if ((int)world->params[FLO_MONO_CONTACTS] == FLO_CONTACTS_KERNEL)
      add_kernel_contact(world, mono, &mono->contacts[k]);
    else
      add_point(world, mono, k);
  flo_samples_add_forces(walls, mono->wall_force.data);
  return FLO_OK;
}

const FloMethod flo_monolithic = {
    .name = "monolithic",
    .paper = "Probst & Teschner 2023: Monolithic Friction and Contact Handling for Rigid Bodies and Fluids "
             "using SPH",
    .params = params,
    .fields = fields,
    .operators = operators,
    .n_operators = FLO_COUNT_OF(operators),
    .moves = FLO_MOVES_ALL,
    .moves_pieces = true,
    .touches_soft = true,
    .reads_restitution = true,
    .state_size = sizeof(FloMonolithic),
    .saved = saved,
    .init = monolithic_init,
    .max_dt = monolithic_max_dt,
    .step = monolithic_step,
    .solid_forces = monolithic_solid_forces,
    .finish = monolithic_finish};
