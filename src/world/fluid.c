// Changing fluid at run time: removing and overwriting particles, gravity, the speed of emitters.
#include "base/pose.h"
#include "base/vecmath.h"
#include "flotsam/control.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

// ---- Removing ----

FloStatus flo_world_remove_fluid_if(FloWorld *world, FloIsGoneFn is_gone, const void *context, size_t *n_gone,
                                    FloError *error) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t n = 0;
  *n_gone = 0;
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->scratch, fluid->capacity * sizeof(uint32_t), 0, error));
  uint32_t *keep = world->scratch.data;
  for (size_t i = 0; i < fluid->count; ++i)
    if (!is_gone(world, i, context)) keep[n++] = (uint32_t)i;
  if (n == fluid->count) return FLO_OK;
  *n_gone = fluid->count - n;
  flo_epoch_note(world, &world->epochs.order);
  FLO_TRY(flo_particles_permute(fluid, keep, n, world->threads, error));
  world->n_removed += *n_gone;
  return FLO_OK;
}

// Between steps everything that the last step computed is out of date, too.
static FloStatus remove_now(FloWorld *world, FloIsGoneFn is_gone, const void *context, size_t *n_removed,
                            FloError *error) {
  size_t n;
  FLO_TRY(flo_world_remove_fluid_if(world, is_gone, context, &n, error));
  if (n_removed) *n_removed = n;
  if (n > 0) flo_world_note_added(world);
  return FLO_OK;
}

typedef struct IdList {
  const uint32_t *ids; // in rising order
  size_t n;
} IdList;

static int compare_ids(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static bool is_listed(const FloWorld *world, size_t i, const void *context) {
  const IdList *list = context;
  return bsearch(&world->sets[FLO_SET_FLUID].id[i], list->ids, list->n, sizeof *list->ids, compare_ids);
}

FloStatus flo_world_remove_particles(FloWorld *world, const uint32_t *ids, size_t n, size_t *n_removed,
                                     FloError *error) {
  FLO_NEED(world, error);
  if (n_removed) *n_removed = 0;
  if (n == 0) return FLO_OK;
  FLO_NEED(ids, error);
  const size_t size = n * sizeof *ids;
  if (n > UINT32_MAX) return flo_fail(error, FLO_BAD_INPUT, "ids: %zu are too many", n);
  uint32_t *sorted = flo_memory_allocate(&world->memory, size);
  if (!sorted) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu ids", n);
  memcpy(sorted, ids, size);
  qsort(sorted, n, sizeof *sorted, compare_ids);
  FloStatus status = remove_now(world, is_listed, &(IdList){sorted, n}, n_removed, error);
  flo_memory_release(&world->memory, sorted, size);
  return status;
}

typedef struct Region {
  const FloSolid *solid;
  FloPose pose;
} Region;

static bool is_in_region(const FloWorld *world, size_t i, const void *context) {
  const Region *region = context;
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  const double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]};
  double image[3], local[3];
  flo_world_nearest_image(world, region->pose.position, x, image);
  pose_to_local(&region->pose, image, local);
  return flo_solid_distance(region->solid, local) < 0;
}

FloStatus flo_world_remove_fluid(FloWorld *world, const FloShape *shape, const FloPose *pose,
                                 size_t *n_removed, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(shape, error);
  FLO_NEED(pose, error);
  FLO_TRY(flo_shape_check(shape, world->def.dim, error));
  FLO_TRY(flo_shape_check_solid(shape, error));
  FLO_TRY(flo_pose_check(pose, world->def.dim, "pose", error));
  if (shape->kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT, "shape: a tank has no inside of its own; use a box");
  Region region = {.pose = *pose};
  FLO_TRY(flo_world_find_solid(world, shape, &region.solid, error));
  return remove_now(world, is_in_region, &region, n_removed, error);
}

// Fluid this near to the surface would be pushed out of the body, too; see FLO_FLUID_CLEARANCE.
bool flo_world_is_fluid_in(const FloWorld *world, size_t i, const void *body) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  const double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]},
               clearance = FLO_FLUID_CLEARANCE * world->def.spacing;
  if (flo_world_is_beyond(world, body, x, clearance)) return false;
  return flo_world_distance(world, body, x) < clearance;
}

FloStatus flo_world_remove_fluid_in(FloWorld *world, FloBodyId id, size_t *n_removed, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  return remove_now(world, flo_world_is_fluid_in, body, n_removed, error);
}

// ---- Overwriting ----

static FloStatus check_values(const FloWorld *world, int axis, bool is_velocity, const void *values, size_t n,
                              FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    const double value = is_velocity ? (double)((const float *)values)[k] : ((const double *)values)[k];
    if (!isfinite(value))
      return flo_fail(error, FLO_BAD_INPUT, "values: number %zu is %g, which is not finite", k, value);
    if (axis == 2 && world->def.dim == 2 && value != 0)
      return flo_fail(error, FLO_BAD_INPUT, "values: number %zu is %g, which leaves the plane", k, value);
  }
  return FLO_OK;
}

static void write_velocities(FloWorld *world, int axis, const void *values) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  float *const fields[3] = {fluid->vx, fluid->vy, fluid->vz}, *const lows[3] = {fluid->vx_low, fluid->vy_low,
                                                                                fluid->vz_low};
  memcpy(fields[axis], values, fluid->count * sizeof(float));
  memset(lows[axis], 0, fluid->count * sizeof(float));
  world->max_speed = world->max_approach = flo_world_measure_speed(world);
}

FloStatus flo_world_set_field(FloWorld *world, const char *field, const void *values, size_t n,
                              FloError *error) {
  static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz"};
  FLO_NEED(world, error);
  FLO_NEED(field, error);
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  double *const positions[3] = {fluid->x, fluid->y, fluid->z};
  int k = 0;
  while (k < 6 && strcmp(names[k], field)) ++k;
  if (k == 6)
    return flo_fail(error, FLO_BAD_INPUT, "field: '%s' cannot be written; use x, y, z, vx, vy or vz", field);
  if (n != fluid->count)
    return flo_fail(error, FLO_BAD_INPUT, "values: there are %zu for %zu particles", n, fluid->count);
  if (n == 0) return FLO_OK;
  FLO_NEED(values, error);
  FLO_TRY(check_values(world, k % 3, k >= 3, values, n, error));
  if (k >= 3) {
    write_velocities(world, k - 3, values);
    return FLO_OK;
  }
  memcpy(positions[k], values, n * sizeof(double));
  flo_world_note_added(world);
  return FLO_OK;
}

// ---- Gravity, emitters ----

FloStatus flo_world_set_gravity(FloWorld *world, const double gravity[3], FloError *error) {
  FLO_TRY(flo_world_check_vector(world, gravity, "gravity", error));
  vec_copy(gravity, world->def.gravity);
  world->epochs.prepared = 0; // the method is to look at the whole world again
  return FLO_OK;
}

// The next layer has as far to go as before, at the new speed; guided layers get this speed, too.
FloStatus flo_world_set_emitter_speed(FloWorld *world, FloEmitterId id, double speed, FloError *error) {
  FLO_NEED(world, error);
  FloEmitter *emitter = flo_world_emitter_at(world, id);
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  if (!emitter) return flo_fail(error, FLO_BAD_INPUT, "emitter: no such id");
  if (!(speed > 0) || !isfinite(speed))
    return flo_fail(error, FLO_BAD_INPUT, "speed: must be > 0, got %g; remove the emitter to stop it", speed);
  const double s = world->def.spacing, n = (double)emitter->n_layers;
  const double next = emitter->def.start + n * s / emitter->def.speed;
  const double wait = fmax(next - world->time, 0) * emitter->def.speed / speed;
  if (n > 0) emitter->def.start = world->time + wait - n * s / speed;
  emitter->def.speed = speed;
  double forward[3] = {speed, 0, 0};
  quat_rotate(emitter->def.pose.rotation, forward, forward);
  for (size_t i = 0; i < fluid->count; ++i) {
    if (fluid->held[i] != id.index + 1) continue;
    fluid->vx[i] = (float)forward[0], fluid->vy[i] = (float)forward[1], fluid->vz[i] = (float)forward[2];
  }
  world->max_speed = fmax(world->max_speed, speed);
  world->epochs.prepared = 0;
  return FLO_OK;
}

FloStatus flo_world_set_step_callback(FloWorld *world, FloStepFn after_step, void *context, FloError *error) {
  FLO_NEED(world, error);
  world->after_step = after_step, world->after_step_context = context;
  return FLO_OK;
}
