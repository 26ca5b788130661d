// `direct-forcing`: weakly compressible fluid whose boundary conditions are met exactly in each step (Becker,
// Tessendorf & Teschner 2009: Direct Forcing for Lagrangian Rigid-Fluid Coupling; equation numbers are
// theirs).
//
// A step is leapfrog with velocities half a step behind positions, as predictor and corrector:
//
//   forces at x(t)           pressure (6) and artificial viscosity (5); solids press back, see below
//   v* = v + a (dt+dt')/2    dt' is the step before; bodies likewise
//   x* = x + dt v*           where contacts are looked for: fluid nearer to a surface than its radius s/2
//   v  = v* + response       such that relative velocities are (8) or (9)
//   x** = x + dt v           with bodies moved by their corrected velocities
//   x  = x** + correction    where contacts are looked for once more, (19) and (20)
//
// Where only walls and bodies that fluid cannot push are near (Algorithm 2), the second search is not needed.
//
// Where the print misleads, or is left:
// - Density. (2) with constant volumes makes every density equal to rho0. Here a sum of kernels is divided by
//   the part of the kernel's support that solids leave free, 1 - sum_b V_b W_ib: what is compressed still
//   reads as compressed, also next to a wall. The divisor is never less than what solids leave where there is
//   room for a particle, so that what is squeezed into a narrower gap is not shot out of it.
// - (8) with delta: a particle that flies away already when contact is foreseen is not drawn near again.
// - Solids answer to the pressure of the fluid next to them (Akinci 2012: -p_i V_i^2 V_b/V0 grad W_ib on it,
//   the opposite on the body), which is half of what the fluid in their place would do. Without it a single
//   layer on a wall, which contacts keep from going in and nothing from staying, stands there like a
//   membrane after the water has gone. The rest is left to the response, so that fluid is still pressed on.
// - Friction of the fluid itself at solids, which the paper has none of: its wall viscosity acts next to
//   them, whatever the slip. It is nothing for water and holds honey.
// - (12) takes the predicted velocity; (18) has the transposed block; (8) drags along what should glide: see
//   response.c.
// - Arms reach to the particle's centre at the start of the step, not to the contact point at its end:
//   only so does the exchange conserve angular momentum. Normal velocities are the same.
// - Surfaces and normals come from signed distances rather than from the nearest sample.
#include "coupling/direct_forcing/direct_forcing.h"

#include "bodies/motion.h"
#include "coupling/forces/weakly_compressible.h"

#include <string.h>

static const FloParamWords words[] = {{"response", {"global", "local", "penalty"}}, FLO_VISCOSITY_WORDS, {0}};

static const FloParam params[] = {
    {"sound_speed", 0, 0, 1e5, "m/s",
     "speed of sound; 0: ten times the highest speed to expect, so density varies by 1 %"},
    {"alpha", 0.1, 0, 10, "", "artificial viscosity (5), acting while particles approach each other"},
    {"gamma", 7, 1, 20, "", "exponent of Tait's equation; 7 is water"},
    {"damping", 0.3, 0, 1, "",
     "bulk viscosity in units of spacing times sound speed; quiets sound, not flow"},
    {"response", FLO_RESPONSE_GLOBAL, 0, 2, "",
     "how fluid and bodies answer to contacts: all of a body's at once, each by itself, or by the repulsion "
     "of samples (Monaghan 2005) that the paper compares with"},
    {"one_way", 0, 0, 1, "", "1: fluid does not push bodies, which saves a search for contacts; 0: it does"},
    {"slip_time", 0, 0, 1e3, "s",
     "time in which tangential velocities fall to the share `slip`; 0: in each step, as in the paper"},
    {"tolerance", 1e-6, 0, 1, "", "of joint contacts, as a share of the highest speed"},
    {"max_iterations", 50, 1, 1e4, "", "at most as many for joint contacts"},
    {"viscosity", FLO_VISCOSITY_AUTOMATIC, 0, 2, "",
     "how materials are viscous; automatic: implicitly in steps too long for the explicit way"},
    {"viscosity_tolerance", 1e-3, 0, 1, "", "share of its first residual at which implicit viscosity ends"},
    {"viscosity_iterations", 100, 1, 1e5, "", "of implicit viscosity, at most"},
    {0}};

// ---- Life ----

double flo_forcing_sound_speed(const FloWorld *world, const FloDirectForcing *forcing) {
  return flo_sound_speed(world->params[FLO_FORCING_SOUND_SPEED], forcing->expected_speed);
}

// What bodies have or will reach if they fall as far as the fluid's lowest solid.
static double expected_body_speed(const FloWorld *world) {
  double g = vec_length(world->def.gravity), fastest = 0, lowest = -INFINITY;
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = 0; i < walls->count; ++i) {
    const double x[3] = {walls->x[i], walls->y[i], walls->z[i]};
    lowest = fmax(lowest, vec_dot(x, world->def.gravity));
  }
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->kind != FLO_BODY_DYNAMIC) continue;
    double v2 = vec_dot(body->rigid.velocity, body->rigid.velocity);
    double drop = lowest - vec_dot(body->rigid.position, world->def.gravity);
    fastest = fmax(fastest, v2 + (g > 0 ? 2 * fmax(drop, 0) : 0));
  }
  return sqrt(fastest);
}

static FloStatus forcing_init(FloWorld *world, void *state, FloError *error) {
  (void)error;
  FloDirectForcing *forcing = state;
  double expected = fmax(flo_world_expected_speed(world), expected_body_speed(world));
  // Of drops ten spacings wide. Sound ten times as fast, c^2 = 10 sigma/(rho s), lets their pressure, 2 sigma
  // over a radius of 5 s, compress them by 4 %; in the plane, where it is half of that, by 2 %.
  expected = fmax(expected, flo_surface_tension_speed(world) / sqrt(10));
  forcing->expected_speed = fmax(forcing->expected_speed, expected);
  flo_world_log(world, FLO_LOG_INFO, "direct-forcing: speed of sound %g m/s",
                flo_forcing_sound_speed(world, forcing));
  return FLO_OK;
}

static void forcing_finish(FloWorld *world, void *state) {
  FloDirectForcing *forcing = state;
  for (size_t k = 0; k < FLO_COUNT_OF(forcing->buffers); ++k)
    flo_buffer_free(&world->memory, &forcing->buffers[k]);
  flo_buffer_free(&world->memory, &forcing->viscosity.each);
  flo_implicit_viscosity_free(&forcing->implicit_viscosity, &world->memory);
  flo_surface_tension_free(&forcing->surface_tension, &world->memory);
  flo_body_rows_free(&forcing->bodies, &world->memory);
}

// Monaghan 1992: artificial viscosity shortens the step that sound allows.
static double forcing_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  double c = flo_forcing_sound_speed(world, state) * (1 + 0.6 * world->params[FLO_FORCING_ALPHA]);
  double dt = world->def.cfl * world->def.spacing / (c + world->max_speed);
  *limited_by = "sound";
  double viscous = flo_implicit_viscosity_max_dt(world, world->params[FLO_FORCING_VISCOSITY]),
         capillary = flo_surface_tension_max_dt(world);
  if (viscous < dt) dt = viscous, *limited_by = "viscosity";
  if (capillary < dt) dt = capillary, *limited_by = "surface tension";
  return dt;
}

enum { PARTNERS = FLO_FORCING_FIRST_ARRAY, MOTIONS, STATE, FORCE, PREDICTED, WALLS, ZEROS, REPULSION };

static FloStatus reserve_arrays(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].capacity + FLO_BLOCK,
         n_walls = world->sets[FLO_SET_BOUNDARY].capacity + FLO_BLOCK,
         n_rigid = world->sets[FLO_SET_RIGID].capacity + FLO_BLOCK, quad = 4 * sizeof(float);
  bool is_penalty = flo_forcing_response(world) == FLO_RESPONSE_PENALTY;
  const size_t sizes[] = {[PARTNERS] = world->bodies.count * sizeof(FloForcingPartner),
                          [MOTIONS] = 6 * world->bodies.count * sizeof(double),
                          [STATE] = n * quad,
                          [FORCE] = n * quad,
                          [PREDICTED] = is_penalty || forcing->has_implicit_viscosity ? n * quad : 0,
                          [WALLS] = n_walls * quad,
                          [ZEROS] = flo_max_size(n_walls, n_rigid) * sizeof(float),
                          [REPULSION] = is_penalty ? (n_walls + n_rigid) * quad : 0};
  FloBuffer *buffers = forcing->buffers;
  size_t n_zeros = buffers[ZEROS].capacity;
  for (size_t k = PARTNERS; k <= REPULSION; ++k)
    FLO_TRY(flo_buffer_reserve(&world->memory, &buffers[k], sizes[k], 0, error));
  if (buffers[ZEROS].capacity != n_zeros) memset(buffers[ZEROS].data, 0, buffers[ZEROS].capacity);
  forcing->partners = buffers[PARTNERS].data, forcing->motions = buffers[MOTIONS].data;
  forcing->state = buffers[STATE].data, forcing->force = buffers[FORCE].data;
  forcing->predicted = buffers[PREDICTED].data, forcing->repulsion = buffers[REPULSION].data;
  forcing->walls = buffers[WALLS].data, forcing->zeros = buffers[ZEROS].data;
  return FLO_OK;
}

static FloStatus reserve(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  double artificial =
      world->params[FLO_FORCING_ALPHA] * world->kernel.support / 2 * flo_forcing_sound_speed(world, forcing);
  forcing->has_implicit_viscosity = flo_implicit_viscosity_is_needed(
      world, world->params[FLO_FORCING_VISCOSITY], fmax(forcing->dt, forcing->kick_dt));
  FLO_TRY(reserve_arrays(world, forcing, error));
  return flo_viscosity_prepare(&forcing->viscosity, world, artificial, !forcing->has_implicit_viscosity,
                               error);
}

// ---- Bodies: prediction and correction ----

static void keep_velocity(const double linear[3], const double angular[3], double out[6]) {
  vec_copy(linear, out);
  vec_copy(angular, out + 3);
}

static void move_to(FloBody *body, const FloRigid *rigid, const FloPose *from, double dt) {
  body->rigid = *rigid;
  body->state.pose = *from;
  flo_rigid_move(&body->rigid, body->state.pose.rotation, dt);
  flo_rigid_refresh(&body->rigid, body->state.pose.rotation);
  flo_rigid_state(&body->rigid, body->state.pose.rotation, &body->state);
}

static void meet_dynamic(const FloWorld *world, const FloRigid *rigid, FloForcingPartner *partner) {
  partner->is_loose = !rigid->is_held;
  partner->is_free = partner->is_loose && world->params[FLO_FORCING_ONE_WAY] == 0;
  vec_copy(rigid->position, partner->origin);
  if (partner->is_loose) keep_velocity(rigid->velocity, rigid->angular_velocity, partner->earlier);
}

static void meet_bodies(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    *partner = (FloForcingPartner){.before = body->state.pose,
                                   .slip = body->slip,
                                   .restitution = body->restitution,
                                   .is_moving = body->kind == FLO_BODY_DYNAMIC || body->n_motions > 0};
    if (world->params[FLO_FORCING_SLIP_TIME] > 0)
      partner->slip = pow(body->slip, forcing->kick_dt / world->params[FLO_FORCING_SLIP_TIME]);
    if (body->kind == FLO_BODY_DYNAMIC) meet_dynamic(world, &body->rigid, partner);
  }
}

// By gravity, and by all forces of the fluid before viscosity is made implicit.
static void push_bodies(FloWorld *world, const FloDirectForcing *forcing) {
  static const double none[3] = {0};
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloRigid *rigid = &flo_bodies(world)[k].rigid;
    const FloForcingPartner *partner = &forcing->partners[k];
    double impulse[3];
    if (flo_bodies(world)[k].kind != FLO_BODY_DYNAMIC) continue;
    vec_scale(world->def.gravity, rigid->mass * forcing->kick_dt, impulse);
    flo_rigid_push(rigid, impulse, none);
    if (partner->is_free) flo_rigid_push(rigid, partner->push, partner->push + 3);
  }
}

static void predict_dynamic(const FloDirectForcing *forcing, FloBody *body, FloForcingPartner *partner) {
  const FloRigid *rigid = &body->rigid;
  if (!rigid->is_held) keep_velocity(rigid->velocity, rigid->angular_velocity, partner->velocity);
  partner->kicked = *rigid;
  move_to(body, &partner->kicked, &partner->before, forcing->dt);
}

// Kinematic bodies are where they will be at the end of the step.
static void predict_kinematic(const FloWorld *world, const FloDirectForcing *forcing, FloBody *body,
                              FloForcingPartner *partner) {
  double time = world->time + forcing->dt;
  keep_velocity(body->state.velocity, body->state.angular_velocity, partner->earlier);
  if (time > 0) flo_motion_evaluate(body->motions, body->n_motions, &body->start, time, &body->state);
  vec_copy(body->state.pose.position, partner->origin);
  keep_velocity(body->state.velocity, body->state.angular_velocity, partner->velocity);
}

static void predict_bodies(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    memcpy(partner->exchange, partner->push, sizeof partner->exchange);
    if (body->kind == FLO_BODY_DYNAMIC)
      predict_dynamic(forcing, body, partner);
    else if (body->n_motions > 0)
      predict_kinematic(world, forcing, body, partner);
  }
}

// The force is what gave all the momentum of the step; the torque is about the shape's origin rather than the
// centre of mass.
static void keep_force(const FloDirectForcing *forcing, const FloForcingPartner *partner, FloBody *body) {
  double arm[3], more[3];
  vec_scale(partner->exchange, 1 / forcing->kick_dt, body->state.force);
  vec_scale(partner->exchange + 3, 1 / forcing->kick_dt, body->state.torque);
  vec_sub(partner->origin, partner->before.position, arm);
  vec_cross(arm, body->state.force, more);
  vec_add(body->state.torque, more, body->state.torque);
}

static void correct_bodies(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    if (body->kind != FLO_BODY_DYNAMIC) continue;
    if (partner->is_loose) {
      flo_rigid_push(&partner->kicked, partner->impulse, partner->impulse + 3);
      move_to(body, &partner->kicked, &partner->before, forcing->dt);
    }
    keep_force(forcing, partner, body);
    flo_world_place_samples(world, body);
  }
}

// ---- The step ----

// Everything before contacts: velocities and poses as they would be without.
static FloStatus predict(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  meet_bodies(world, forcing);
  FLO_TRY(flo_forcing_add_forces(world, forcing, error));
  push_bodies(world, forcing);
  FLO_TRY(flo_forcing_make_viscous(world, forcing, error));
  double since = flo_seconds();
  predict_bodies(world, forcing);
  flo_world_kick(world, forcing->force, forcing->kick_dt);
  flo_world_stage_done(world, FLO_STAGE_INTEGRATE, since);
  return FLO_OK;
}

static FloStatus forcing_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloDirectForcing *forcing = state;
  forcing->dt = dt, forcing->kick_dt = world->force_dt = (world->dt + dt) / 2;
  forcing->radius = world->def.spacing / 2;
  forcing->rest_volume = flo_world_rest_volume(world);
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(reserve(world, forcing, error));
  FLO_TRY(predict(world, forcing, error));
  double since = flo_seconds();
  FLO_TRY(flo_forcing_detect(world, forcing, error));
  forcing->detection_seconds += flo_seconds() - since;
  double response_since = flo_seconds();
  flo_forcing_respond(world, forcing);
  forcing->response_seconds += flo_seconds() - response_since;
  correct_bodies(world, forcing);
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  FLO_TRY(flo_world_integrate(world, NULL, dt, error));
  since = flo_seconds();
  flo_forcing_correct_positions(world, forcing);
  forcing->detection_seconds += flo_seconds() - since;
  flo_forcing_leave(world, forcing);
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  return FLO_OK;
}

static FloStatus forcing_solid_forces(FloWorld *world, void *state, FloError *error) {
  return flo_forcing_solid_forces(world, state, error);
}

const FloCoupling flo_direct_forcing = {
    .name = "direct-forcing",
    .paper = "Becker, Tessendorf & Teschner 2009: Direct Forcing for Lagrangian Rigid-Fluid Coupling",
    .params = params,
    .words = words,
    .has_small_steps = true,
    .moves_bodies = true,
    .state_size = sizeof(FloDirectForcing),
    .n_saved = 1,
    .init = forcing_init,
    .max_dt = forcing_max_dt,
    .step = forcing_step,
    .solid_forces = forcing_solid_forces,
    .finish = forcing_finish};
