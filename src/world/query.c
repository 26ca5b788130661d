// Queries of a world.
#include "base/hash.h"
#include "base/parallel.h"
#include "base/pose.h"
#include "world/world.h"

#include <string.h>

double flo_world_time(const FloWorld *world) { return world ? world->time : 0; }
size_t flo_world_count(const FloWorld *world, FloSet set) {
  if (!world) return 0;
  return (unsigned)set < FLO_SET_COUNT ? world->sets[set].count : 0;
}
size_t flo_world_memory(const FloWorld *world) { return world ? world->memory.bytes : 0; }

// ---- Measurements ----

enum {
  KINETIC,
  POTENTIAL,
  MOMENTUM,
  ANGULAR = MOMENTUM + 3,
  DENSITY_ERROR = ANGULAR + 3,
  PENETRATIONS,
  N_SUMS
};

static void add_measurements(const void *context, size_t begin, size_t end, double *sums) {
  const FloWorld *world = context;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloSolidsNear near = {0};
  for (size_t i = begin; i < end; ++i) {
    double x[3] = {p->x[i], p->y[i], p->z[i]}, m = (double)p->mass[i], spin[3];
    double v[3] = {(double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
                   (double)p->vz[i] + (double)p->vz_low[i]};
    vec_cross(x, v, spin);
    sums[KINETIC] += m * vec_dot(v, v) / 2;
    sums[POTENTIAL] -= m * vec_dot(world->def.gravity, x);
    for (int axis = 0; axis < 3; ++axis) {
      sums[MOMENTUM + axis] += m * v[axis];
      sums[ANGULAR + axis] += m * spin[axis];
    }
    sums[PENETRATIONS] += flo_world_is_in_solid(world, x, -world->def.spacing / 2, &near);
    sums[DENSITY_ERROR] += fmax((double)p->density[i] / flo_materials(world)[p->material[i]].density - 1, 0);
  }
}

static void raise_density_error(const void *context, size_t begin, size_t end, double *maxima) {
  const FloWorld *world = context;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i)
    maxima[0] = fmax(maxima[0], (double)p->density[i] / flo_materials(world)[p->material[i]].density - 1);
}

static void add_body_measurements(const FloWorld *world, const FloBody *body, FloMeasurements *f) {
  FloBodyMeasure measure = {0};
  if (!body->kind->measure) return;
  body->kind->measure(body, world->def.gravity, &measure);
  f->kinetic_energy += measure.kinetic_energy;
  f->potential_energy += measure.potential_energy;
  vec_add(f->momentum, measure.momentum, f->momentum);
  vec_add(f->angular_momentum, measure.angular_momentum, f->angular_momentum);
}

FloMeasurements flo_world_measure(FloWorld *world) {
  if (!world) return (FloMeasurements){0};
  double sums[N_SUMS], worst;
  size_t n = world->sets[FLO_SET_FLUID].count;
  flo_parallel_sum(world->threads, n, add_measurements, world, N_SUMS, sums);
  flo_parallel_max(world->threads, n, raise_density_error, world, 1, &worst);
  FloMeasurements f = {.time = world->time,
                       .dt = world->dt,
                       .step = world->step,
                       .iterations = world->iterations,
                       .residual = world->residual,
                       .density_error_mean = n ? sums[DENSITY_ERROR] / (double)n : 0,
                       .density_error_max = fmax(worst, 0),
                       .penetrations = (size_t)sums[PENETRATIONS],
                       .fluid_particles = n,
                       .boundary_particles = world->sets[FLO_SET_BOUNDARY].count,
                       .rigid_particles = world->sets[FLO_SET_RIGID].count,
                       .contacts = world->contacts,
                       .put_back = world->put_back,
                       .crossings = world->meetings.pairs.count,
                       .kinetic_energy = sums[KINETIC],
                       .potential_energy = sums[POTENTIAL],
                       .max_speed = flo_world_measure_speed(world),
                       .emitted = world->n_emitted,
                       .removed = world->n_removed,
                       .collisions = world->n_collisions,
                       .repulsions = world->n_repulsions};
  vec_copy(sums + MOMENTUM, f.momentum);
  vec_copy(sums + ANGULAR, f.angular_momentum);
  for (size_t k = 0; k < world->bodies.count; ++k) add_body_measurements(world, &flo_bodies(world)[k], &f);
  return f;
}

// ---- Bodies ----

static void sum_body_forces(FloWorld *world, FloBody *body) {
  const FloParticles *b = flo_samples_of(world, body);
  vec_set(body->state.force, 0, 0, 0);
  vec_set(body->state.torque, 0, 0, 0);
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double f[3] = {(double)b->fx[i], (double)b->fy[i], (double)b->fz[i]}, none[3] = {0};
    const double x[3] = {b->x[i], b->y[i], b->z[i]};
    flo_body_add_force(body, f, none, x, body->state.pose.position);
  }
  vec_add(body->state.force, body->touched, body->state.force);
  vec_add(body->state.torque, body->touched + 3, body->state.torque);
}

// The forces on bodies that forces move are known from the step.
static FloStatus find_forces(FloWorld *world, FloError *error) {
  if (!flo_world_has_step_state(world) || world->epochs.forces > world->epochs.done) return FLO_OK;
  for (size_t k = 0; k < world->bodies.count; ++k)
    memset(flo_bodies(world)[k].touched, 0, sizeof flo_bodies(world)[k].touched);
  FLO_TRY(world->method->solid_forces(world, world->method_state, error));
  flo_world_add_pushes(world);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (!flo_body_is_pushed(&flo_bodies(world)[k])) sum_body_forces(world, &flo_bodies(world)[k]);
  flo_epoch_note(world, &world->epochs.forces);
  return FLO_OK;
}

static bool has_average(const FloBody *body) { return flo_body_is_pushed(body) || body->averages_force; }

FloStatus flo_world_add_impulses(FloWorld *world, FloError *error) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].averages_force) FLO_TRY(find_forces(world, error));
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!has_average(body)) continue;
    vec_add_scaled(body->impulse, body->state.force, world->force_dt, body->impulse);
    vec_add_scaled(body->impulse + 3, body->state.torque, world->force_dt, body->impulse + 3);
  }
  return FLO_OK;
}

void flo_world_restart_averages(FloWorld *world) {
  if (!world) return;
  world->averages_since = world->time;
  for (size_t k = 0; k < world->bodies.count; ++k)
    for (int i = 0; i < 6; ++i) flo_bodies(world)[k].impulse[i] = 0;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    FloJointLive *live = &flo_joint_list(&world->joints)[k].live;
    memset(live->sums, 0, sizeof live->sums);
    live->peak_force = live->peak_torque = 0;
  }
}

static void find_means(const FloWorld *world, FloBody *body) {
  FloBodyState *state = &body->state;
  double span = world->time - world->averages_since;
  vec_copy(state->force, state->mean_force);
  vec_copy(state->torque, state->mean_torque);
  if (!(span > 0) || !has_average(body)) return;
  vec_scale(body->impulse, 1 / span, state->mean_force);
  vec_scale(body->impulse + 3, 1 / span, state->mean_torque);
}

FloStatus flo_world_body_state(FloWorld *world, FloBodyId id, FloBodyState *state, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(state, error);
  FLO_TRY(find_forces(world, error));
  find_means(world, body);
  *state = body->state;
  return FLO_OK;
}

FloStatus flo_world_soft_state(const FloWorld *world, FloBodyId id, FloSoftState *state, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(state, error);
  if (!body->kind->soft_state)
    return flo_fail(error, FLO_BAD_INPUT, "body: '%s' does not change its shape", body->name);
  body->kind->soft_state(body, state);
  return FLO_OK;
}

// ---- Fields ----

const char *flo_world_field_name(const FloWorld *world, FloSet set, size_t k) {
  if (!world) return NULL;
  void *data;
  if ((unsigned)set >= FLO_SET_COUNT) return NULL;
  const FloField *field = flo_particles_field(&world->sets[set], k, &data);
  return field ? field->name : NULL;
}

FloStatus flo_world_view(const FloWorld *world, FloSet set, const char *name, FloView *view,
                         FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(name, error);
  FLO_NEED(view, error);
  void *data;
  const FloField *field;
  if ((unsigned)set >= FLO_SET_COUNT)
    return flo_fail(error, FLO_BAD_INPUT, "there is no set of particles number %d", (int)set);
  for (size_t k = 0; (field = flo_particles_field(&world->sets[set], k, &data)); ++k) {
    if (strcmp(field->name, name)) continue;
    *view = (FloView){data,        world->sets[set].count, flo_type_size(field->type), field->type,
                      field->unit, field->meaning};
    return FLO_OK;
  }
  return flo_fail(error, FLO_BAD_INPUT, "this set of particles has no field '%s'", name);
}

// ---- The particle that failed ----

// The shorter of the steps that its speed and its acceleration allow, up to a factor; see speed_limit in
// step.c.
static double shortest_step(const FloWorld *world, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]},
               a[3] = {(double)p->ax[i], (double)p->ay[i], (double)p->az[i]}, s = world->def.spacing;
  return fmin(world->def.cfl * s / vec_length(v), 0.5 * sqrt(s / vec_length(a)));
}

size_t flo_world_find_culprit(const FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t culprit = 0;
  double shortest = INFINITY;
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    int32_t cell[3];
    flo_grid_cell_of(&world->lattice, x, cell);
    if (cell[0] == INT32_MAX || cell[1] == INT32_MAX || cell[2] == INT32_MAX) return i;
    double step = shortest_step(world, i);
    if (step < shortest) shortest = step, culprit = i;
  }
  return culprit;
}

bool flo_world_bad_particle(const FloWorld *world, double position[3], uint32_t *id, double *time_step) {
  if (!world) return false;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t i = world->divergence.particle;
  if (!world->divergence.has_happened || i >= p->count) return false;
  if (position) vec_set(position, p->x[i], p->y[i], p->z[i]);
  if (id) *id = p->id[i];
  if (time_step) *time_step = world->divergence.dt;
  return true;
}

// ---- Hash, stages ----

uint64_t flo_world_hash(const FloWorld *world) {
  if (!world) return 0;
  uint64_t h = FLO_HASH_START;
  h = flo_hash_bytes(h, &world->time, sizeof world->time);
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    if (set == FLO_SET_SOFT && world->sets[set].count == 0)
      continue; // keeps the hash of worlds without soft bodies as it was
    uint64_t particles = flo_particles_hash(&world->sets[set]);
    h = flo_hash_bytes(h, &particles, sizeof particles);
  }
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBodyState *s = &flo_bodies(world)[k].state;
    h = flo_hash_bytes(h, &s->pose, sizeof s->pose);
    h = flo_hash_bytes(h, s->velocity, sizeof s->velocity);
    h = flo_hash_bytes(h, s->angular_velocity, sizeof s->angular_velocity);
  }
  for (size_t k = 0; k < world->joints.list.count; ++k)
    h = flo_hash_bytes(h, &flo_joint_list(&world->joints)[k].live, sizeof(FloJointLive));
  return h;
}

FloResiduals flo_world_residuals(const FloWorld *world) {
  return world ? world->residuals : (FloResiduals){0};
}

const char *flo_world_stage(const FloWorld *world, size_t k, double *seconds) {
  if (!world) return NULL;
  static const char *const names[FLO_STAGE_COUNT] = {"sort",      "neighbours", "density", "force",
                                                     "integrate", "bodies",     "response"};
  if (k >= FLO_STAGE_COUNT) return NULL;
  if (seconds) *seconds = world->stage_seconds[k];
  return names[k];
}
