// `direct-forcing`: weakly compressible fluid whose boundary conditions are met exactly in each step (Becker,
// Tessendorf & Teschner 2009: Direct Forcing for Lagrangian Rigid-Fluid Coupling; equation numbers are
// theirs).
//
// A step is a leapfrog step, with velocities half a step behind positions, as predictor and corrector:
//
//   forces at x(t)           pressure (6) and artificial viscosity (5); solids press back, see below
//   v* = v + a (dt+dt')/2    dt' is the step before; bodies likewise
//   x* = x + dt v*           contacts are searched here: fluid nearer to a surface than its radius s/2
//   v  = v* + response       such that relative velocities are (8) or (9)
//   x** = x + dt v           with bodies moved by their corrected velocities
//   x  = x** + correction    contacts are searched again here, (19) and (20)
//
// The second search is not needed where only walls and bodies that fluid cannot push are near (Algorithm 2).
//
// Where this differs from the printed paper:
// - Density. (2) with constant volumes makes every density equal to rho0. Here samples add their share,
//   rho0 sum_b V_b W_ib, to the sum of kernels. So compressed fluid has a higher density also next to a wall.
//   The share is at most the value in the narrowest place that has room for a particle. So a particle
//   squeezed into a narrower gap is not shot out of it. With `wall_pressure` 0 the sum over fluid is divided
//   by one minus the share.
// - (8) with delta: a particle that already moves away when the contact is predicted is not pulled back.
// - Solids press on the fluid next to them. Without it a single layer of particles stays on a wall like a
//   membrane after the water has gone: contacts keep it from entering the wall, and nothing pushes it away.
//   Samples have pressures of their own (weakly_compressible.c), so that bodies float as deep as they weigh.
//   With `wall_pressure` 0 they have none and answer to the pressure of the fluid (Akinci 2012: -p_i V_i^2
//   V_b/V0 grad W_ib on the fluid, the opposite on the body). This is half of what fluid in their place would
//   do. The other half is left to the response.
// - Gaps between bodies that are too narrow for particles are wet: films.c.
// - Viscous friction of the fluid at solids. The paper has none. Here the fluid's wall viscosity acts next to
//   solids for any slip. It is zero for water and holds honey.
// - (12) takes the predicted velocity; (18) has the transposed block; (8) drags fluid along that should
//   glide: see response.c.
// - Arms reach to the particle's centre at the start of the step, not to the contact point at its end. Only
//   then does the exchange conserve angular momentum. Normal velocities are the same.
// - Surfaces and normals come from signed distances rather than from the nearest sample.
#include "coupling/direct_forcing/direct_forcing.h"

#include "coupling/coupling.h"

#include <string.h>

static const char *const response_words[] = {"global", "local", "penalty", NULL};

static const FloParam params[] = {
    FLO_TAIT_PARAMS(0.1),
    FLO_WORDS("response", FLO_RESPONSE_GLOBAL, response_words, 3,
              "how fluid and bodies answer to contacts; global: all contacts of a body at once, exactly; "
              "local: each contact by itself, approximately; penalty: samples repel fluid (Monaghan 2005), "
              "the baseline that the paper compares with"),
    FLO_SWITCH(
        "wall_pressure", 1,
        "1: samples next to fluid have pressures of their own, so that bodies float as deep as they "
        "weigh; 0: they answer to half of the fluid's pressure and contacts do the rest, nearer to the "
        "paper"),
    FLO_SWITCH("one_way", 0, "1: fluid does not push bodies, which saves a search for contacts; 0: it does"),
    FLO_NUMBER("slip_time", 0, 0, 1e3, "s",
               "time in which the velocity of fluid along a surface falls to the share `slip`; 0: in each "
               "step, as in the paper, so that the result depends on the step"),
    FLO_NUMBER("tolerance", 1e-6, 0, 1, "",
               "contacts that depend on each other stop iterating when velocities change by less than this "
               "share of the highest speed"),
    FLO_WHOLE("max_iterations", 50, 1, 1e4,
              "largest number of iterations of contacts that depend on each other; raise it if stacks of "
              "bodies creep"),
    FLO_FORCE_PARAMS(1e-3),
    {0}};

static const FloStateField saved[] = {FLO_COMPRESSIBLE_FIELDS(FloDirectForcing, fluid), {0}};

static const FloOperatorDef operators[] = {FLO_BODY_OPERATORS};

#define RIGID (1u << FLO_SET_RIGID)

static const FloField fields[] = {
    FLO_FILM_FIELD,
    {"contact_x", FLO_TYPE_F32, RIGID, true, "N", "force of fluid that touched the sample", true},
    {"contact_y", FLO_TYPE_F32, RIGID, true, "N", "force of fluid that touched the sample", true},
    {"contact_z", FLO_TYPE_F32, RIGID, true, "N", "force of fluid that touched the sample", true},
    {0}};

static const FloArrayDef array_defs[] = {FLO_FORCING_ARRAYS(FLO_ARRAY_DEF)};

// ---- Creation and end ----

double flo_forcing_sound_speed(const FloWorld *world, const FloDirectForcing *forcing) {
  return flo_sound_speed(world, &forcing->fluid);
}

static FloStatus forcing_init(FloWorld *world, void *state, FloError *error) {
  (void)error;
  FloDirectForcing *forcing = state;
  double expected = fmax(flo_world_expected_speed(world), flo_world_expected_body_speed(world));
  // The speed in drops ten spacings wide. With sound ten times as fast, c^2 = 10 sigma/(rho s), their
  // pressure, 2 sigma over a radius of 5 s, compresses them by 4 %. In 2D the pressure is half of that, and
  // so are the 2 %.
  expected = fmax(expected, flo_surface_tension_speed(world) / sqrt(10));
  flo_compressible_init(&forcing->fluid, expected);
  flo_world_log(world, FLO_LOG_INFO, "direct-forcing: speed of sound %g m/s",
                flo_forcing_sound_speed(world, forcing));
  return FLO_OK;
}

static void forcing_finish(FloWorld *world, void *state) {
  FloDirectForcing *forcing = state;
  flo_buffers_free(&world->memory, forcing->buffers, FLO_COUNT_OF(forcing->buffers));
  flo_buffers_free(&world->memory, forcing->array_buffers, FLO_COUNT_OF(forcing->array_buffers));
  flo_compressible_free(&forcing->fluid, &world->memory);
  flo_films_free(&forcing->films, &world->memory);
  flo_forces_free(&forcing->forces, &world->memory);
  if (forcing->rows.memory) flo_rows_free(&forcing->rows);
  flo_body_rows_free(&forcing->bodies, &world->memory);
}

// Monaghan 1992: artificial viscosity shortens the step that sound allows.
static double forcing_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  double c = flo_forcing_sound_speed(world, state) * (1 + 0.6 * world->params[FLO_TAIT_ALPHA]);
  return flo_compressible_max_dt(world, c, FLO_FORCING_FIRST_FORCE_PARAM, limited_by);
}

// `repulsion` is needed for the penalty response only.
static FloStatus reserve_buffers(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloBuffer *partners = &forcing->buffers[FLO_FORCING_PARTNERS],
            *repulsion = &forcing->buffers[FLO_FORCING_REPULSION];
  size_t n_samples =
      world->sets[FLO_SET_BOUNDARY].capacity + world->sets[FLO_SET_RIGID].capacity + 2 * FLO_BLOCK;
  bool is_penalty = forcing->response == FLO_RESPONSE_PENALTY;
  FloBuffer *changes = &forcing->buffers[FLO_FORCING_CHANGES];
  FLO_TRY(flo_buffer_reserve(&world->memory, partners, world->bodies.count * sizeof(FloForcingPartner), 0,
                             error));
  FLO_TRY(flo_buffer_reserve(&world->memory, changes, 6 * world->bodies.count * sizeof(double), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, repulsion, is_penalty ? n_samples * 4 * sizeof(float) : 0, 0,
                             error));
  forcing->partners = partners->data, forcing->repulsion = repulsion->data, forcing->changes = changes->data;
  return FLO_OK;
}

// `predicted` is the last array and is reserved only if needed.
static FloStatus reserve(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  double artificial = flo_tait_viscosity(world, flo_forcing_sound_speed(world, forcing));
  double longest = fmax(forcing->dt, forcing->kick_dt);
  forcing->forces.has_led_bodies = world->params[FLO_FORCING_ONE_WAY] != 0;
  FLO_TRY(
      flo_forces_prepare(&forcing->forces, world, FLO_FORCING_FIRST_FORCE_PARAM, longest, artificial, error));
  bool predicts = forcing->forces.is_implicit || forcing->response == FLO_RESPONSE_PENALTY;
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs) - !predicts,
                             &(FloArraySizes){world->sets, 0}, &world->memory, forcing->array_buffers,
                             forcing->arrays, error));
  return reserve_buffers(world, forcing, error);
}

// ---- Bodies: prediction and correction ----

static void keep_velocity(const double linear[3], const double angular[3], double out[6]) {
  vec_copy(linear, out);
  vec_copy(angular, out + 3);
}

static void meet_pushed(const FloWorld *world, const FloNode *node, FloForcingPartner *partner) {
  partner->is_loose = !node->is_held;
  partner->is_free = partner->is_loose && world->params[FLO_FORCING_ONE_WAY] == 0;
  vec_copy(node->position, partner->origin);
  if (partner->is_loose) keep_velocity(node->velocity, node->angular_velocity, partner->earlier);
}

static void meet_bodies(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    body->before = body->state.pose;
    memset(forcing->changes + 6 * k, 0, 6 * sizeof(double));
    *partner = (FloForcingPartner){.slip = body->slip,
                                   .restitution = body->restitution,
                                   .is_moving = body->is_moving,
                                   .change = forcing->changes + 6 * k};
    if (world->params[FLO_FORCING_SLIP_TIME] > 0)
      partner->slip = pow(body->slip, forcing->kick_dt / world->params[FLO_FORCING_SLIP_TIME]);
    if (flo_body_is_pushed(body)) meet_pushed(world, body->nodes, partner);
  }
}

// Pushes bodies by gravity and by all forces of the fluid except implicit viscosity.
static void push_bodies(FloWorld *world, const FloDirectForcing *forcing) {
  flo_world_kick_bodies(world, NULL, forcing->kick_dt);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloForcingPartner *partner = &forcing->partners[k];
    if (partner->is_free)
      flo_node_push(world, flo_bodies(world)[k].first_node, partner->push, partner->push + 3);
  }
}

static void predict_pushed(const FloDirectForcing *forcing, FloBody *body, FloForcingPartner *partner) {
  const FloNode *node = body->nodes;
  if (!node->is_held) keep_velocity(node->velocity, node->angular_velocity, partner->velocity);
  partner->node = *node;
  body->kind->mark(body, FLO_MARK_MOVE);
  body->kind->move(body, forcing->dt);
}

// A body with a motion moves to its pose at the end of the step.
static void predict_led(const FloWorld *world, const FloDirectForcing *forcing, FloBody *body,
                        FloForcingPartner *partner) {
  double time = world->time + forcing->dt;
  keep_velocity(body->state.velocity, body->state.angular_velocity, partner->earlier);
  if (time > 0) body->kind->follow(body, time);
  vec_copy(body->state.pose.position, partner->origin);
  keep_velocity(body->state.velocity, body->state.angular_velocity, partner->velocity);
}

static void predict_bodies(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    memcpy(partner->exchange, partner->push, sizeof partner->exchange);
    if (flo_body_is_pushed(body))
      predict_pushed(forcing, body, partner);
    else if (flo_body_is_led(body))
      predict_led(world, forcing, body, partner);
  }
}

// The mean force that gave the whole momentum of the step.
static void keep_force(const FloDirectForcing *forcing, const FloForcingPartner *partner, FloBody *body) {
  double force[3], torque[3];
  vec_scale(partner->exchange, 1 / forcing->kick_dt, force);
  vec_scale(partner->exchange + 3, 1 / forcing->kick_dt, torque);
  flo_body_add_force(body, force, torque, partner->origin, body->before.position);
}

static void correct_bodies(FloWorld *world, FloDirectForcing *forcing) {
  flo_world_clear_body_forces(world);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    const FloForcingPartner *partner = &forcing->partners[k];
    if (!flo_body_is_pushed(body)) continue;
    if (partner->is_loose) {
      body->kind->rewind(body, FLO_MARK_MOVE);
      body->kind->push(body, 0, partner->impulse, partner->impulse + 3);
      if (!flo_world_is_joined(world, k)) body->kind->move(body, forcing->dt);
    }
    keep_force(forcing, partner, body);
    flo_world_place_samples(world, body);
  }
  flo_world_move_joined(world);
}

// ---- Fluid: back to the start of a step that ran out of memory ----

typedef struct Work {
  FloWorld *world;
  const FloDirectForcing *forcing;
} Work;

static void mark_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    float *q = work->forcing->earlier + 4 * i;
    q[0] = p->vx_low[i], q[1] = p->vy_low[i], q[2] = p->vz_low[i], q[3] = p->density[i];
  }
}

static void rewind_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    const float *q = work->forcing->earlier + 4 * i, *v = work->forcing->state + 4 * i;
    p->density[i] = q[3];
    if (!work->forcing->has_kicked) continue;
    p->vx[i] = v[0], p->vy[i] = v[1], p->vz[i] = v[2];
    p->vx_low[i] = q[0], p->vy_low[i] = q[1], p->vz_low[i] = q[2];
  }
}

static void mark_fluid(FloWorld *world, FloDirectForcing *forcing) {
  Work work = {world, forcing};
  forcing->has_kicked = false;
  flo_each_particle(world, FLO_SET_FLUID, mark_range, &work);
}

static void rewind_fluid(FloWorld *world, FloDirectForcing *forcing) {
  Work work = {world, forcing};
  flo_each_particle(world, FLO_SET_FLUID, rewind_range, &work);
}

// ---- The step ----

// Everything before contacts: velocities and poses as they would be without contacts.
static FloStatus predict(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  meet_bodies(world, forcing);
  FLO_TRY(flo_world_find_contacts(world, forcing->dt, error));
  FLO_TRY(flo_forcing_add_forces(world, forcing, error));
  push_bodies(world, forcing);
  FLO_TRY(flo_forcing_make_viscous(world, forcing, error));
  double since = flo_seconds();
  predict_bodies(world, forcing);
  flo_world_kick(world, forcing->force, forcing->kick_dt);
  forcing->has_kicked = true;
  flo_world_stage_done(world, FLO_STAGE_INTEGRATE, since);
  return FLO_OK;
}

// Forces, and then contacts that are found where these would lead.
static FloStatus change_velocities(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FLO_TRY(predict(world, forcing, error));
  double since = flo_seconds();
  FLO_TRY(flo_forcing_detect(world, forcing, error));
  forcing->detection_seconds += flo_seconds() - since;
  since = flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  FLO_TRY(flo_forcing_respond(world, forcing, error));
  flo_world_stage_done(world, FLO_STAGE_RESPONSE, since);
  return FLO_OK;
}

// A contact presses a particle as its mirror image in the surface would, a spacing away. So its virial adds
// to that of pair forces.
static void report_pressures(FloWorld *world, FloDirectForcing *forcing) {
  const double scale = 2 * forcing->radius / forcing->kick_dt;
  for (size_t k = 0; k < forcing->n_contacts; ++k) {
    const FloForcingContact *c = &forcing->contacts[k];
    forcing->force[4 * (size_t)c->particle + 3] += (float)(scale * vec_dot(c->impulse, c->normal));
  }
  flo_compressible_report(world, forcing->force);
}

// What the next step needs to know of this one. A step that fails changes nothing of it.
static void keep_state(FloWorld *world, FloDirectForcing *forcing) {
  if (!forcing->has_wall_pressure) return;
  flo_compressible_follow(&forcing->fluid, world, forcing->dt);
  report_pressures(world, forcing);
  flo_films_keep(&forcing->films);
  flo_forcing_keep_contacts(world, forcing);
}

// Dry steps may be much longer than sound allows. If the host then adds fluid, its first kick must not act
// for half of such a step. The kick takes the last step for as long as this one, and bodies get what it lacks
// of their weight.
static double last_dt(FloWorld *world, const FloDirectForcing *forcing, double dt) {
  const char *limited_by;
  const bool is_wet = world->sets[FLO_SET_FLUID].count > 0 && world->def.time_step == 0;
  if (!is_wet || world->dt <= 2 * forcing_max_dt(world, forcing, &limited_by)) return world->dt;
  flo_world_kick_bodies(world, NULL, (world->dt - dt) / 2);
  return dt;
}

static FloStatus forcing_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloDirectForcing *forcing = state;
  forcing->dt = dt, forcing->kick_dt = world->force_dt = (last_dt(world, forcing, dt) + dt) / 2;
  forcing->response = (int)world->params[FLO_FORCING_RESPONSE];
  forcing->has_wall_pressure =
      world->params[FLO_FORCING_WALL_PRESSURE] != 0 && forcing->response != FLO_RESPONSE_PENALTY;
  forcing->radius = world->def.spacing / 2;
  forcing->rest_volume = flo_world_rest_volume(world);
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(reserve(world, forcing, error));
  mark_fluid(world, forcing);
  FloStatus status = change_velocities(world, forcing, error);
  if (status == FLO_NO_MEMORY) rewind_fluid(world, forcing);
  FLO_TRY(status);
  double since = flo_seconds();
  correct_bodies(world, forcing);
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  FLO_TRY(flo_world_drift(world, dt, error));
  since = flo_seconds();
  flo_forcing_correct_positions(world, forcing);
  keep_state(world, forcing);
  forcing->detection_seconds += flo_seconds() - since;
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  return FLO_OK;
}

static FloStatus forcing_solid_forces(FloWorld *world, void *state, FloError *error) {
  return flo_forcing_solid_forces(world, state, error);
}

const FloMethod flo_direct_forcing = {
    .name = "direct-forcing",
    .paper = "Becker, Tessendorf & Teschner 2009: Direct Forcing for Lagrangian Rigid-Fluid Coupling",
    .params = params,
    .fields = fields,
    .operators = operators,
    .n_operators = FLO_COUNT_OF(operators),
    .moves = FLO_MOVES_ALL,
    .has_small_steps = true,
    .leaps = true,
    .reads_slip = true,
    .reads_restitution = true,
    .state_size = sizeof(FloDirectForcing),
    .saved = saved,
    .init = forcing_init,
    .max_dt = forcing_max_dt,
    .step = forcing_step,
    .solid_forces = forcing_solid_forces,
    .finish = forcing_finish};
