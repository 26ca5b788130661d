// The system: finds the velocities of fluid and nodes from the unknowns, and the errors of volume and slip
// from the velocities. All sums are formed in a fixed order.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

#include <string.h>

enum { BLOCKS_PER_CHUNK = 64, ROWS_PER_CHUNK = 1024 };

typedef struct System {
  FloWorld *world;
  FloMonolithic *mono;
} System;

// ---- From unknowns to velocities ----

// Force, torque and number of active contacts of one chunk of touches.
static void sum_chunk(const FloMonolithic *mono, const FloTouchChunk *chunk, double result[7]) {
  double sums[7] = {0};
  for (uint32_t n = chunk->begin; n < chunk->end; ++n) {
    const FloLoad *t = &mono->loads[n];
    if (t->row < mono->n_pressures) {
      double p = (double)mono->pressure[t->row];
      for (int k = 0; k < 6; ++k) sums[k] += p * (double)t->j[k];
      continue;
    }
    const FloContact *contact = &mono->contacts[t->row - mono->n_pressures];
    double p = (double)contact->pressure, torque[3];
    double arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]};
    double lambda[3] = {(double)contact->friction[0], (double)contact->friction[1],
                        (double)contact->friction[2]};
    vec_cross(arm, lambda, torque);
    for (int axis = 0; axis < 3; ++axis) {
      sums[axis] += p * (double)t->j[axis] + (double)t->weight * lambda[axis];
      sums[axis + 3] +=
          p * (double)t->j[axis + 3] + torque[axis] + (double)t->weight * (double)contact->torque[axis];
    }
    sums[6] += flo_contact_is_active(contact);
  }
  memcpy(result, sums, sizeof sums);
}

static void chunk_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((const System *)context)->mono;
  for (size_t k = begin; k < end; ++k)
    sum_chunk(mono, &mono->chunks[k], mono->chunk_sums + FLO_CHUNK_SUMS * k);
}

// (3.11b) and (3.11c).
static void move_partner(const FloMonolithic *mono, FloPartner *partner) {
  const FloNode *node = partner->node;
  double spin[3];
  mat_apply(node->inverse_inertia, partner->torque, spin);
  for (int axis = 0; axis < 3; ++axis) {
    partner->velocity[axis] =
        partner->start[axis] + mono->dt * node->inverse_mass[axis] * partner->force[axis];
    partner->angular_velocity[axis] = partner->turn_start[axis] + mono->dt * spin[axis];
    partner->motion[axis] = (float)partner->velocity[axis];
    partner->motion[axis + 3] = (float)partner->angular_velocity[axis];
  }
}

// All nodes of a soft body follow when some of them are pushed.
static void move_soft(FloMonolithic *mono, const FloBody *body) {
  double *impulses = mono->wrenches + 6 * body->first_node, *changes = impulses + 3 * body->n_nodes;
  for (size_t k = 0; k < body->n_nodes; ++k) {
    const FloPartner *partner = &mono->partners[body->first_node + k];
    vec_sub(partner->force, partner->expected, impulses + 3 * k);
    vec_scale(impulses + 3 * k, mono->dt, impulses + 3 * k);
  }
  body->kind->respond(body, impulses, changes);
  for (size_t k = 0; k < body->n_nodes; ++k) {
    FloPartner *partner = &mono->partners[body->first_node + k];
    vec_add(partner->start, changes + 3 * k, partner->velocity);
    for (int axis = 0; axis < 3; ++axis) partner->motion[axis] = (float)partner->velocity[axis];
  }
}

// Joints change the velocities of their bodies at once.
static void join_partners(FloWorld *world, FloMonolithic *mono) {
  FloJoints *joints = &world->joints;
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(joints)[k];
    const FloPartner *partner = &mono->partners[flo_bodies(world)[member->body].first_node];
    vec_scale(partner->velocity, member->is_free, joints->trial + 6 * k);
    vec_scale(partner->angular_velocity, member->is_free, joints->trial + 6 * k + 3);
  }
  flo_world_solve_joints(world, joints->trial);
  for (size_t k = 0; k < joints->members.count; ++k) {
    const double *velocity = joints->trial + 6 * k;
    FloPartner *partner = &mono->partners[flo_bodies(world)[flo_joint_members(joints)[k].body].first_node];
    vec_copy(velocity, partner->velocity);
    vec_copy(velocity + 3, partner->angular_velocity);
    for (int i = 0; i < 6; ++i) partner->motion[i] = (float)velocity[i];
  }
}

void flo_monolithic_apply_to_bodies(FloWorld *world, FloMonolithic *mono) {
  System system = {world, mono};
  flo_parallel_for(world->threads, mono->n_chunks, FLO_CHUNKS_AT_ONCE, chunk_range, &system);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    vec_set(partner->force, 0, 0, 0);
    vec_set(partner->torque, 0, 0, 0);
    partner->n_active = 0;
  }
  for (size_t k = 0; k < mono->n_chunks; ++k) {
    FloPartner *partner = &mono->partners[mono->chunks[k].node];
    vec_add(partner->force, mono->chunk_sums + FLO_CHUNK_SUMS * k, partner->force);
    vec_add(partner->torque, mono->chunk_sums + FLO_CHUNK_SUMS * k + 3, partner->torque);
    partner->n_active += mono->chunk_sums[FLO_CHUNK_SUMS * k + 6];
  }
  for (size_t k = 0; k < world->nodes.count; ++k) move_partner(mono, &mono->partners[k]);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_soft(&flo_bodies(world)[k])) move_soft(mono, &flo_bodies(world)[k]);
  if (flo_world_has_joints(world)) join_partners(world, mono);
}

// Adds the sums over the pressures of wet samples.
static void add_wet_pressures(const System *system, size_t begin, size_t end) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    const FloWet *wet = &system->mono->wet[k];
    const FloSweep sweep = {.pairs = flo_pairs_of(system->world, FLO_SET_FLUID, wet->set),
                            .columns = wet->pressure,
                            .rows = system->mono->force,
                            .is_added = true};
    if (wet->n_rows > 0) flo_passes()->gradient(&sweep, begin, end);
  }
}

// Pressure force (3.15) and the velocity that follows. The force is split into the part of the neighbours'
// pressures and that of the particle's own pressure, whose sum of gradients is known.
static void fluid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const System *system = context;
  FloMonolithic *mono = system->mono;
  const FloPairs *pairs = flo_pairs_of(system->world, FLO_SET_FLUID, FLO_SET_FLUID);
  const FloSweep sweep = {.pairs = pairs, .columns = mono->pressure, .rows = mono->force};
  const float *mass = system->world->sets[FLO_SET_FLUID].mass;
  const uint16_t *held = system->world->sets[FLO_SET_FLUID].held;
  const float volume = (float)mono->rest_volume, dt = (float)mono->dt;
  flo_passes()->gradient(&sweep, begin, end);
  add_wet_pressures(system, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, mono->n_fluid); ++i) {
    float *f = mono->force + 4 * i, *v = mono->velocity + 4 * i, p = mono->pressure[i];
    const float *g = mono->steep + 4 * i, *start = mono->start + 4 * i;
    float per_mass = held[i] ? 0 : dt / mass[i];
    for (int axis = 0; axis < 4; ++axis) {
      f[axis] = -volume * (volume * f[axis] + p * g[axis]);
      v[axis] = start[axis] + per_mass * f[axis];
    }
  }
}

void flo_monolithic_apply_to_fluid(FloWorld *world, FloMonolithic *mono) {
  System system = {world, mono};
  flo_monolithic_spread_wet(mono);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, fluid_range, &system);
}

void flo_monolithic_apply(FloWorld *world, FloMonolithic *mono) {
  flo_monolithic_apply_to_bodies(world, mono);
  flo_monolithic_apply_to_fluid(world, mono);
}

// ---- From velocities to errors ----

// The effect of bodies on the volume of the fluid next to them.
static void coupled_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((const System *)context)->mono;
  float scale = (float)(mono->dt / mono->rest_volume);
  for (size_t n = begin; n < end; ++n) {
    uint32_t row = mono->coupled[n];
    float sum = 0;
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      sum += flo_touch_along(&mono->touches[k], mono->partners[mono->touches[k].node].motion);
    mono->source[row] = mono->own_source[row] + scale * sum;
  }
}

// (3.14).
static void error_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const System *system = context;
  FloMonolithic *mono = system->mono;
  const FloSweep sweep = {.pairs = flo_pairs_of(system->world, FLO_SET_FLUID, FLO_SET_FLUID),
                          .columns = mono->velocity,
                          .rows = mono->error};
  const float volume = (float)mono->rest_volume, dt = (float)mono->dt;
  flo_passes()->divergence(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, mono->n_fluid); ++i) {
    const float *g = mono->steep + 4 * i, *v = mono->velocity + 4 * i;
    float own = v[0] * g[0] + v[1] * g[1] + v[2] * g[2];
    mono->error[i] = mono->source[i] - dt * (own - volume * mono->error[i]);
  }
}

// (3.10) and (3.21). The latter uses the weights and arms of the mirrored forces (3.22). Then the matrix is
// symmetric, and the velocity is that of both bodies at the same point.
static void evaluate_contact(const FloMonolithic *mono, FloContact *contact) {
  float sum = 0, v[3] = {contact->bias[0] - contact->wall[0], contact->bias[1] - contact->wall[1],
                         contact->bias[2] - contact->wall[2]};
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    const float *m = mono->partners[t->node].motion, *omega = m + 3, *arm = t->arm;
    sum += flo_touch_along(t, m);
    v[0] += t->weight * m[0] + omega[1] * arm[2] - omega[2] * arm[1];
    v[1] += t->weight * m[1] + omega[2] * arm[0] - omega[0] * arm[2];
    v[2] += t->weight * m[2] + omega[0] * arm[1] - omega[1] * arm[0];
  }
  contact->error = contact->gap + (float)mono->dt / contact->volume * sum;
  float normal = flo_dot3(v, contact->normal);
  for (int axis = 0; axis < 3; ++axis) contact->velocity[axis] = v[axis] - normal * contact->normal[axis];
}

// Relative angular velocity of the bodies of a contact.
static void evaluate_spin(const FloMonolithic *mono, FloContact *contact) {
  for (int axis = 0; axis < 3; ++axis) contact->spin[axis] = -contact->wall_spin[axis];
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    for (int axis = 0; axis < 3; ++axis)
      contact->spin[axis] += t->weight * mono->partners[t->node].motion[axis + 3];
  }
}

static void contact_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((const System *)context)->mono;
  for (size_t k = begin; k < end; ++k) {
    evaluate_contact(mono, &mono->contacts[k]);
    if (mono->contacts[k].roll_limit > 0) evaluate_spin(mono, &mono->contacts[k]);
  }
}

void flo_monolithic_evaluate_contacts(FloWorld *world, FloMonolithic *mono) {
  System system = {world, mono};
  flo_parallel_for(world->threads, mono->n_contacts, ROWS_PER_CHUNK, contact_range, &system);
}

void flo_monolithic_evaluate(FloWorld *world, FloMonolithic *mono) {
  System system = {world, mono};
  flo_parallel_for(world->threads, mono->n_coupled, 1024, coupled_range, &system);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, error_range, &system);
  flo_monolithic_evaluate_wet(world, mono);
  flo_monolithic_evaluate_contacts(world, mono);
}
