// Streams: emitters that add fluid while a world runs, and sinks that remove it.
#include "base/pose.h"
#include "world/world.h"

// ---- Emitters: layers of fluid leave a window one spacing apart, guided until they are a support away ----

// Lattice points of the window's plane, as (0, y, z).
static FloStatus sample_window(FloWorld *world, const FloEmitterDef *def, FloError *error) {
  double s = world->def.spacing, height = def->round ? def->size[0] : def->size[1];
  if (!(def->size[0] / s * fmax(height / s, 1) < 1e8))
    return flo_fail(error, FLO_BAD_INPUT, "size: the window is too large for a spacing of %g m", s);
  long n_y = (long)floor(def->size[0] / s + 1e-6),
       n_z = world->def.dim == 3 ? (long)floor(height / s + 1e-6) : 1;
  for (long k = 0; k < n_z; ++k)
    for (long j = 0; j < n_y; ++j) {
      double y = ((double)j - (double)(n_y - 1) / 2) * s, z = ((double)k - (double)(n_z - 1) / 2) * s;
      if (def->round && hypot(y, z) > def->size[0] / 2) continue;
      FLO_TRY(flo_points_add(&world->emitter_points, 0, y, z, error));
    }
  return FLO_OK;
}

FloStatus flo_world_add_emitter(FloWorld *world, const FloEmitterDef *def, FloEmitterId *id,
                                FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  FLO_TRY(flo_world_check_material(world, def->material, error));
  FLO_TRY(flo_pose_check(&def->pose, world->def.dim, "pose", error));
  if (!(def->speed > 0) || !isfinite(def->speed))
    return flo_fail(error, FLO_BAD_INPUT, "speed: must be > 0, got %g", def->speed);
  if (!isfinite(def->start)) return flo_fail(error, FLO_BAD_INPUT, "emitter: its start must be finite");
  if (!(def->start <= def->end)) return flo_fail(error, FLO_BAD_INPUT, "emitter: it ends before it starts");
  int n_sizes = def->round || world->def.dim == 2 ? 1 : 2;
  for (int k = 0; k < n_sizes; ++k)
    if (!(def->size[k] >= world->def.spacing) || !isfinite(def->size[k]))
      return flo_fail(error, FLO_BAD_INPUT,
                      "size: the window must be at least one spacing (%g m) wide, got %g", world->def.spacing,
                      def->size[k]);
  FloEmitter emitter = {
      .generation = 1, .is_alive = true, .def = *def, .first_point = world->emitter_points.count};
  // Layers that it could have emitted earlier are not added later.
  emitter.n_layers = (uint64_t)fmin(
      fmax(ceil((fmax(world->time, 0) - def->start) * def->speed / world->def.spacing), 0), 1e18);
  FLO_TRY(sample_window(world, def, error));
  emitter.n_points = world->emitter_points.count - emitter.first_point;
  FLO_TRY(flo_world_append(world, &world->emitters, &emitter, sizeof emitter, error));
  world->epochs.prepared = 0; // the method is to look at the whole world again
  flo_materials(world)[def->material.index].is_fluid = true;
  if (id) *id = (FloEmitterId){(uint16_t)(world->emitters.count - 1), emitter.generation};
  return FLO_OK;
}

static FloStatus emit_layer(FloWorld *world, size_t e, double distance, FloError *error) {
  FloEmitter *emitter = &flo_emitters(world)[e];
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count;
  if (world->def.max_particles && first + emitter->n_points > world->def.max_particles) {
    if (!emitter->is_silenced)
      flo_world_log(world, FLO_LOG_WARNING, "emitter %zu pauses: max_particles = %zu is reached", e,
                    world->def.max_particles);
    emitter->is_silenced = true;
    return FLO_OK;
  }
  flo_epoch_note(world, &world->epochs.order);
  emitter->is_silenced = false;
  FLO_TRY(flo_particles_add(fluid, emitter->n_points, error));
  double forward[3] = {1, 0, 0}, velocity[3];
  quat_rotate(emitter->def.pose.rotation, forward, velocity);
  vec_scale(velocity, emitter->def.speed, velocity);
  for (size_t k = 0; k < emitter->n_points; ++k) {
    double local[3], x[3];
    vec_copy(flo_points_at(&world->emitter_points, emitter->first_point + k), local);
    local[0] += distance;
    pose_to_world(&emitter->def.pose, local, x);
    flo_world_put_particle(world, first + k, emitter->def.material.index, x, velocity);
    fluid->held[first + k] = (uint16_t)(e + 1);
  }
  world->n_emitted += emitter->n_points;
  return FLO_OK;
}

// Releases particles that are a support away from the window of their emitter.
static void release_guided(FloWorld *world) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < fluid->count; ++i) {
    if (!fluid->held[i]) continue;
    const FloEmitter *emitter = &flo_emitters(world)[fluid->held[i] - 1];
    double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]}, local[3];
    flo_world_nearest_image(world, emitter->def.pose.position, x, x);
    pose_to_local(&emitter->def.pose, x, local);
    if (!emitter->is_alive || local[0] >= world->kernel.support) fluid->held[i] = 0;
  }
}

FloStatus flo_world_emit(FloWorld *world, FloError *error) {
  if (world->emitters.count == 0 || world->time < 0) return FLO_OK;
  release_guided(world);
  for (size_t e = 0; e < world->emitters.count; ++e) {
    FloEmitter *emitter = &flo_emitters(world)[e];
    if (!emitter->is_alive) continue;
    double period = world->def.spacing / emitter->def.speed;
    for (;;) {
      double born = emitter->def.start + (double)emitter->n_layers * period;
      if (born > world->time || born >= emitter->def.end) break;
      FLO_TRY(emit_layer(world, e, emitter->def.speed * (world->time - born), error));
      emitter->n_layers++;
    }
  }
  return FLO_OK;
}

FloStatus flo_world_remove_emitter(FloWorld *world, FloEmitterId id, FloError *error) {
  FLO_NEED(world, error);
  FloEmitter *emitter = flo_world_emitter_at(world, id);
  if (!emitter) return flo_fail(error, FLO_BAD_INPUT, "emitter: no such id");
  emitter->is_alive = false;
  return FLO_OK;
}

// ---- Sinks ----

FloStatus flo_world_add_sink(FloWorld *world, const FloSinkDef *def, FloSinkId *id, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
  FLO_TRY(flo_shape_check_solid(&def->shape, error));
  FLO_TRY(flo_pose_check(&def->pose, world->def.dim, "pose", error));
  if (def->shape.kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT, "sink: a tank cannot be one; use a box");
  if (!(def->start <= def->end)) return flo_fail(error, FLO_BAD_INPUT, "sink: it ends before it starts");
  FloSink sink = {.generation = 1, .is_alive = true, .def = *def};
  FLO_TRY(flo_world_find_solid(world, &def->shape, &sink.solid, error));
  // The arrays of the host's shape may not be kept; the solid has copies.
  sink.def.shape = sink.solid->shape;
  FLO_TRY(flo_world_append(world, &world->sinks, &sink, sizeof sink, error));
  if (id) *id = (FloSinkId){(uint16_t)(world->sinks.count - 1), sink.generation};
  return FLO_OK;
}

FloStatus flo_world_remove_sink(FloWorld *world, FloSinkId id, FloError *error) {
  FLO_NEED(world, error);
  FloSink *sink = id.index < world->sinks.count ? &flo_sinks(world)[id.index] : NULL;
  if (!sink || !sink->is_alive || sink->generation != id.generation)
    return flo_fail(error, FLO_BAD_INPUT, "sink: no such id");
  sink->is_alive = false;
  return FLO_OK;
}

static bool is_drained(const FloWorld *world, size_t i, const void *context) {
  (void)context;
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  double x[3] = {fluid->x[i], fluid->y[i], fluid->z[i]}, image[3], local[3];
  for (size_t k = 0; k < world->sinks.count; ++k) {
    const FloSink *sink = &flo_sinks(world)[k];
    if (!sink->is_alive || world->time < sink->def.start || world->time >= sink->def.end) continue;
    flo_world_nearest_image(world, sink->def.pose.position, x, image);
    pose_to_local(&sink->def.pose, image, local);
    if (flo_solid_distance(sink->solid, local) < 0) return true;
  }
  return false;
}

FloStatus flo_world_drain(FloWorld *world, FloError *error) {
  size_t n_drained;
  if (world->sinks.count == 0 || world->sets[FLO_SET_FLUID].count == 0 || world->time < 0) return FLO_OK;
  return flo_world_remove_fluid_if(world, is_drained, NULL, &n_drained, error);
}
