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
//   reads as compressed, also next to a wall. The divisor is never less than what a particle alone
//   contributes, so that one in a crevice does not press.
// - (8) with delta: a particle that flies away already when contact is foreseen is not drawn near again.
// - Solids answer to the pressure of the fluid next to them (Akinci 2012: -p_i V_i^2 V_b/V0 grad W_ib on
// fluid,
//   the opposite on the body), which is half of what the fluid in their place would do. Without it a single
//   layer on a wall, which contacts keep from going in and nothing from staying, stands there like a
//   membrane after the water has gone. The rest is left to the response, so that fluid is still pressed on.
// - (12) takes the predicted velocity; (18) has the transposed block; (8) drags along what should glide: see
//   direct_forcing_response.c.
// - Arms reach to the particle's centre at the start of the step, not to the contact point at its end:
//   only so does the exchange conserve angular momentum. Normal velocities are the same.
// - Surfaces and normals come from signed distances rather than from the nearest sample.
#include "coupling/direct_forcing.h"

#include "base/parallel.h"
#include "bodies/motion.h"
#include "coupling/weakly_compressible.h"

static const FloParamWords words[] = {{"response", {"global", "local", "penalty"}}, {0}};

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
    {0}};

enum { STATE = FLO_FORCING_PARTNERS + 1, FORCE };

// ---- Life ----

static double sound_speed(const FloWorld *world, const FloDirectForcing *forcing) {
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
  forcing->expected_speed = fmax(forcing->expected_speed, expected);
  flo_world_log(world, FLO_LOG_INFO, "direct-forcing: speed of sound %g m/s", sound_speed(world, forcing));
  return FLO_OK;
}

static void forcing_finish(FloWorld *world, void *state) {
  FloDirectForcing *forcing = state;
  for (size_t k = 0; k < FLO_COUNT_OF(forcing->buffers); ++k)
    flo_buffer_free(&world->memory, &forcing->buffers[k]);
  flo_buffer_free(&world->memory, &forcing->viscosity.each);
}

// Monaghan 1992: artificial viscosity shortens the step that sound allows.
static double forcing_max_dt(const FloWorld *world, const void *state, const char **limited_by) {
  double c = sound_speed(world, state) * (1 + 0.6 * world->params[FLO_FORCING_ALPHA]);
  double dt = world->def.cfl * world->def.spacing / (c + world->max_speed);
  *limited_by = "sound";
  double viscous = flo_viscosity_max_dt(world);
  if (viscous < dt) dt = viscous, *limited_by = "viscosity";
  return dt;
}

static FloStatus reserve(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].capacity;
  const size_t sizes[] = {[FLO_FORCING_PARTNERS] = world->bodies.count * sizeof(FloForcingPartner),
                          [STATE] = n * 16,
                          [FORCE] = n * 16};
  for (size_t k = FLO_FORCING_PARTNERS; k <= FORCE; ++k)
    FLO_TRY(flo_buffer_reserve(&world->memory, &forcing->buffers[k], sizes[k], 0, error));
  forcing->partners = forcing->buffers[FLO_FORCING_PARTNERS].data;
  forcing->state = forcing->buffers[STATE].data;
  forcing->force = forcing->buffers[FORCE].data;
  double artificial =
      world->params[FLO_FORCING_ALPHA] * world->kernel.support / 2 * sound_speed(world, forcing);
  return flo_viscosity_prepare(&forcing->viscosity, world, artificial, true, error);
}

// ---- Fluid: density, pressure and forces ----

typedef struct Density {
  FloWorld *world;
  FloDirectForcing *forcing;
  FloTait tait;
} Density;

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Density *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  const float *near_fluid = d->world->fluid_fluid.kernel_sum, *walls = d->world->fluid_boundary.kernel_sum,
              *rigid = d->world->sets[FLO_SET_RIGID].count ? d->world->fluid_rigid.kernel_sum : NULL;
  const float self = (float)flo_kernel_w(&d->world->kernel, 0);
  const float alone = self * (float)flo_world_rest_volume(d->world);
  for (size_t i = begin; i < end; ++i) {
    float rest = (float)flo_materials(d->world)[p->material[i]].density;
    float uncovered = fmaxf(1 - walls[i] - (rigid ? rigid[i] : 0), alone);
    float density = p->mass[i] * (self + near_fluid[i]) / uncovered;
    float change = p->held[i] ? 0 : density - p->density[i];
    float pressure = flo_tait_pressure(&d->tait, rest, density, change), volume = p->mass[i] / density;
    float *q = d->forcing->state + 4 * i;
    p->density[i] = density, p->pressure[i] = pressure;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = pressure * volume * volume;
  }
}

static void force_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  flo_passes()->fluid_forces(context, begin, end);
}

// (4) and (6).
static void compute_forces(FloWorld *world, FloDirectForcing *forcing) {
  size_t n = world->sets[FLO_SET_FLUID].count;
  double since = flo_seconds();
  Density density = {world, forcing,
                     flo_tait(world, sound_speed(world, forcing), world->params[FLO_FORCING_GAMMA],
                              world->params[FLO_FORCING_DAMPING])};
  flo_parallel_for(world->threads, n, flo_parallel_grain(n), density_range, &density);
  since = flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  FloFluidForces forces = {.pairs = &world->fluid_fluid,
                           .state = forcing->state,
                           .all = forcing->viscosity.all,
                           .coefficients = forcing->viscosity.is_single ? NULL : forcing->viscosity.each.data,
                           .force = forcing->force};
  flo_parallel_for(world->threads, world->fluid_fluid.n_blocks, 64, force_range, &forces);
  flo_world_stage_done(world, FLO_STAGE_FORCE, since);
}

// ---- Pressure of solids ----

// On fluid particle i by a sample of a solid of this volume.
static void pressure_by(const FloDirectForcing *forcing, size_t i, const FloPairSlot *slot, double volume,
                        double force[3]) {
  size_t lane = i % FLO_BLOCK;
  const double g[3] = {(double)slot->gx[lane], (double)slot->gy[lane], (double)slot->gz[lane]};
  vec_scale(g, -(double)forcing->state[4 * i + 3] * volume / forcing->rest_volume, force);
}

// By all samples that a particle lists of a set.
static void pressure_of_row(const FloWorld *world, const FloDirectForcing *forcing, const FloPairs *pairs,
                            FloSet set, size_t i, float total[3]) {
  size_t block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
  if (i >= pairs->n_rows || pairs->slot_count[block] == 0) return;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    double force[3];
    pressure_by(forcing, i, &slots[k], (double)world->sets[set].volume[slots[k].index[lane]], force);
    for (int axis = 0; axis < 3; ++axis) total[axis] += (float)force[axis];
  }
}

typedef struct Pressing {
  const FloWorld *world;
  const FloDirectForcing *forcing;
} Pressing;

static void press_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Pressing *in = context;
  for (size_t n = begin; n < end; ++n) {
    size_t i = in->forcing->near[n].particle;
    float *force = in->forcing->force + 4 * i;
    if (!(in->forcing->state[4 * i + 3] > 0)) continue;
    pressure_of_row(in->world, in->forcing, &in->world->fluid_boundary, FLO_SET_BOUNDARY, i, force);
    if (in->forcing->near[n].is_near_rigid)
      pressure_of_row(in->world, in->forcing, &in->world->fluid_rigid, FLO_SET_RIGID, i, force);
  }
}

void flo_forcing_answer(const FloWorld *world, const FloDirectForcing *forcing, size_t i,
                        const double origin[3], const double force[3], double impulses[6]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double x[3] = {p->x[i], p->y[i], p->z[i]}, arm[3], turn[3], impulse[3];
  vec_scale(force, -forcing->kick_dt, impulse);
  flo_world_nearest_image(world, origin, x, x);
  vec_sub(x, origin, arm);
  vec_cross(arm, impulse, turn);
  vec_add(impulses, impulse, impulses);
  vec_add(impulses + 3, turn, impulses + 3);
}

// The opposite on bodies, in the order of the particles.
static void press_body(const FloWorld *world, FloDirectForcing *forcing, size_t i, size_t sample,
                       const double force[3]) {
  FloForcingPartner *partner = &forcing->partners[world->sets[FLO_SET_RIGID].body[sample]];
  flo_forcing_answer(world, forcing, i, partner->origin, force, partner->pressure);
}

static void press_bodies(const FloWorld *world, FloDirectForcing *forcing) {
  const FloPairs *pairs = &world->fluid_rigid;
  for (size_t n = 0; n < forcing->n_near; ++n) {
    size_t i = forcing->near[n].particle, block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
    if (!forcing->near[n].is_near_rigid || !(forcing->state[4 * i + 3] > 0)) continue;
    const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
    for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
      size_t sample = (size_t)slots[k].index[lane];
      double force[3];
      pressure_by(forcing, i, &slots[k], (double)world->sets[FLO_SET_RIGID].volume[sample], force);
      press_body(world, forcing, i, sample, force);
    }
  }
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

static void predict_dynamic(const FloWorld *world, const FloDirectForcing *forcing, FloBody *body,
                            FloForcingPartner *partner) {
  FloRigid *rigid = &body->rigid;
  static const double none[3] = {0};
  double impulse[3];
  partner->is_loose = !rigid->is_held;
  partner->is_free = partner->is_loose && world->params[FLO_FORCING_ONE_WAY] == 0;
  if (!rigid->is_held) keep_velocity(rigid->velocity, rigid->angular_velocity, partner->earlier);
  vec_scale(world->def.gravity, rigid->mass * forcing->kick_dt, impulse);
  flo_rigid_push(rigid, impulse, none);
  if (partner->is_free) flo_rigid_push(rigid, partner->pressure, partner->pressure + 3);
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
    *partner = (FloForcingPartner){.before = body->state.pose,
                                   .slip = body->slip,
                                   .restitution = body->restitution,
                                   .is_moving = body->kind == FLO_BODY_DYNAMIC || body->n_motions > 0};
    if (world->params[FLO_FORCING_SLIP_TIME] > 0)
      partner->slip = pow(body->slip, forcing->kick_dt / world->params[FLO_FORCING_SLIP_TIME]);
    if (body->kind == FLO_BODY_DYNAMIC) vec_copy(body->rigid.position, partner->origin);
  }
  if (flo_forcing_response(world) != FLO_RESPONSE_PENALTY) press_bodies(world, forcing);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    if (body->kind == FLO_BODY_DYNAMIC)
      predict_dynamic(world, forcing, body, partner);
    else if (body->n_motions > 0)
      predict_kinematic(world, forcing, body, partner);
  }
}

// The force is what gave the impulse; the torque is about the shape's origin rather than the centre of mass.
static void keep_force(const FloDirectForcing *forcing, const FloForcingPartner *partner, FloBody *body) {
  double arm[3], more[3];
  vec_add(partner->impulse, partner->pressure, body->state.force);
  vec_add(partner->impulse + 3, partner->pressure + 3, body->state.torque);
  vec_scale(body->state.force, 1 / forcing->kick_dt, body->state.force);
  vec_scale(body->state.torque, 1 / forcing->kick_dt, body->state.torque);
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

static FloStatus forcing_step(FloWorld *world, void *state, double dt, FloError *error) {
  FloDirectForcing *forcing = state;
  forcing->dt = dt, forcing->kick_dt = (world->dt + dt) / 2;
  forcing->radius = world->def.spacing / 2;
  forcing->rest_volume = flo_world_rest_volume(world);
  FLO_TRY(flo_world_find_neighbours(world, dt, error));
  FLO_TRY(reserve(world, forcing, error));
  FLO_TRY(flo_forcing_find_near(world, forcing, error));
  compute_forces(world, forcing);
  double since = flo_seconds();
  predict_bodies(world, forcing);
  Pressing pressing = {world, forcing};
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY)
    flo_forcing_add_penalty(world, forcing);
  else
    flo_parallel_for(world->threads, forcing->n_near, 256, press_range, &pressing);
  flo_world_kick(world, forcing->force, forcing->kick_dt);
  since = flo_world_stage_done(world, FLO_STAGE_INTEGRATE, since);
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
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
  return FLO_OK;
}

// ---- Forces on walls, asked for between steps; those on bodies are known from the step ----

static void press_walls(FloWorld *world, const FloDirectForcing *forcing, size_t i) {
  const FloPairs *pairs = &world->fluid_boundary;
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  size_t block = i / FLO_BLOCK, lane = i % FLO_BLOCK;
  bool has_pressure = flo_forcing_response(world) != FLO_RESPONSE_PENALTY && forcing->state[4 * i + 3] > 0;
  if (!has_pressure || pairs->slot_count[block] == 0) return;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    size_t j = (size_t)slots[k].index[lane];
    double force[3];
    pressure_by(forcing, i, &slots[k], (double)b->volume[j], force);
    b->fx[j] -= (float)force[0], b->fy[j] -= (float)force[1], b->fz[j] -= (float)force[2];
  }
}

static FloStatus forcing_solid_forces(FloWorld *world, void *state, FloError *error) {
  (void)error;
  const FloDirectForcing *forcing = state;
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY], *r = &world->sets[FLO_SET_RIGID];
  for (size_t i = 0; i < b->count; ++i) b->fx[i] = b->fy[i] = b->fz[i] = 0;
  for (size_t i = 0; i < r->count; ++i) r->fx[i] = r->fy[i] = r->fz[i] = 0;
  float scale = -1 / (float)forcing->kick_dt;
  for (size_t n = 0; n < forcing->n_near; ++n) press_walls(world, forcing, forcing->near[n].particle);
  for (size_t k = 0; k < forcing->n_contacts; ++k) {
    const FloForcingContact *c = &forcing->contacts[k];
    FloParticles *set = c->sample < b->count ? b : r;
    size_t i = c->sample < b->count ? c->sample : c->sample - b->count;
    set->fx[i] += scale * (float)c->impulse[0];
    set->fy[i] += scale * (float)c->impulse[1];
    set->fz[i] += scale * (float)c->impulse[2];
  }
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    const FloBodyContact *c = &forcing->body_contacts[k];
    double push[3];
    size_t i = c->wall_sample;
    if (flo_bodies(world)[c->other].set != FLO_SET_BOUNDARY) continue;
    vec_add_scaled(c->drag, c->normal, c->press, push);
    b->fx[i] += scale * (float)push[0], b->fy[i] += scale * (float)push[1],
        b->fz[i] += scale * (float)push[2];
  }
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY) flo_forcing_penalty_on_walls(world, forcing);
  return FLO_OK;
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
