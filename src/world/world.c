// The world: what a step is, and the life of everything in it.
#include "state/state.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- Defaults ----

FloPose flo_pose_identity(void) { return (FloPose){.rotation = {0, 0, 0, 1}}; }

FloWorldDef flo_default_world_def(void) {
  return (FloWorldDef){.dim = 3,
                       .spacing = 0.02,
                       .gravity = {0, 0, -9.81},
                       .method = "monolithic",
                       .cfl = 0.4,
                       .min_time_step = 1e-9,
                       .max_time_step = 5e-3};
}

FloMaterialDef flo_default_material_def(void) {
  return (FloMaterialDef){.name = "water",
                          .density = 1000,
                          .viscosity = 1e-6,
                          .wall_viscosity = -1,
                          .friction = -1,
                          .slip = -1,
                          .restitution = -1};
}

FloFluidDef flo_default_fluid_def(void) {
  return (FloFluidDef){.shape = {.size = {1, 1, 1}}, .pose = flo_pose_identity()};
}

FloBodyDef flo_default_body_def(void) {
  return (FloBodyDef){.name = "body",
                      .shape = {.size = {1, 1, 1}},
                      .pose = flo_pose_identity(),
                      .friction = -1,
                      .slip = -1,
                      .restitution = -1};
}

FloMotionDef flo_default_motion_def(void) { return (FloMotionDef){.end = INFINITY}; }

FloEmitterDef flo_default_emitter_def(void) {
  return (FloEmitterDef){.pose = flo_pose_identity(), .size = {0.1, 0.1}, .speed = 1, .end = INFINITY};
}

FloSinkDef flo_default_sink_def(void) {
  return (FloSinkDef){.shape = {.size = {1, 1, 1}}, .pose = flo_pose_identity(), .end = INFINITY};
}

FloFillDef flo_default_fill_def(void) { return (FloFillDef){.level = 1, .up = 2}; }

// ---- Creation ----

static FloStatus check_sizes(const FloWorldDef *def, FloError *error) {
  if (def->dim != 2 && def->dim != 3)
    return flo_fail(error, FLO_BAD_INPUT, "dim: must be 2 or 3, got %d", def->dim);
  if (!(def->spacing > 0) || !isfinite(def->spacing))
    return flo_fail(error, FLO_BAD_INPUT, "spacing: must be > 0, got %g", def->spacing);
  if (!vec_is_finite(def->gravity)) return flo_fail(error, FLO_BAD_INPUT, "gravity: must be finite");
  if (def->dim == 2 && def->gravity[2] != 0)
    return flo_fail(error, FLO_BAD_INPUT, "gravity: in two dimensions its z part must be 0, got %g",
                    def->gravity[2]);
  if ((unsigned)def->kernel >= FLO_KERNEL_COUNT) return flo_fail(error, FLO_BAD_INPUT, "kernel: unknown");
  if (def->kernel == FLO_KERNEL_VISCOSITY)
    return flo_fail(error, FLO_BAD_INPUT,
                    "kernel: '%s' is infinite at distance zero and cannot give densities; try '%s'",
                    flo_kernel_name(def->kernel), flo_kernel_name(FLO_KERNEL_CUBIC_SPLINE));
  if (!def->allocator.allocate != !def->allocator.release)
    return flo_fail(error, FLO_BAD_INPUT, "allocator: it needs both functions, or neither");
  if (def->support != 0 && !(def->support >= 1.2 && def->support <= 6))
    return flo_fail(error, FLO_BAD_INPUT, "support: must lie between 1.2 and 6 spacings, got %g",
                    def->support);
  if (def->threads < 0 || def->threads > 1024)
    return flo_fail(error, FLO_BAD_INPUT, "threads: must lie between 0 and 1024, got %d", def->threads);
  return FLO_OK;
}

static FloStatus check_times(const FloWorldDef *def, FloError *error) {
  if (!(def->time_step >= 0) || !isfinite(def->time_step))
    return flo_fail(error, FLO_BAD_INPUT, "time_step: must be >= 0, got %g", def->time_step);
  if (!(def->cfl > 0 && def->cfl <= 2))
    return flo_fail(error, FLO_BAD_INPUT, "cfl: must lie in (0, 2], got %g", def->cfl);
  if (!(def->min_time_step >= 0) || !(def->max_time_step > def->min_time_step))
    return flo_fail(error, FLO_BAD_INPUT, "max_time_step (%g) must be larger than min_time_step (%g >= 0)",
                    def->max_time_step, def->min_time_step);
  if (!(def->settle >= 0) || !isfinite(def->settle))
    return flo_fail(error, FLO_BAD_INPUT, "settle: must be >= 0, got %g", def->settle);
  if (def->settle > 0 && vec_length(def->gravity) == 0)
    return flo_fail(error, FLO_BAD_INPUT, "settle: without gravity fluid does not settle; leave it out");
  return FLO_OK;
}

static FloStatus init_lattice(FloWorld *world, FloError *error) {
  const FloWorldDef *def = &world->def;
  double low[3] = {0}, high[3] = {0};
  for (int axis = 0; axis < def->dim; ++axis) {
    if (!def->periodic[axis]) continue;
    low[axis] = def->domain_low[axis], high[axis] = def->domain_high[axis];
    if (!(high[axis] > low[axis]) || !isfinite(high[axis] - low[axis]))
      return flo_fail(error, FLO_BAD_INPUT,
                      "periodic: along %c the domain's high end (%g) must lie above its low end (%g)",
                      "xyz"[axis], high[axis], low[axis]);
  }
  world->lists.reach = 1;
  return flo_lattice_init(&world->lattice, def->dim, world->kernel.support, low, high, error);
}

static FloStatus init_method(FloWorld *world, FloError *error) {
  world->method = flo_coupling_find(world->def.method);
  if (!world->method)
    return flo_fail(error, FLO_BAD_INPUT, "method: there is none called '%s'",
                    world->def.method ? world->def.method : "");
  world->def.method = world->method->name;
  world->method_state = flo_memory_allocate(&world->memory, world->method->state_size);
  if (!world->method_state)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory for method '%s'", world->method->name);
  memset(world->method_state, 0, world->method->state_size);
  for (size_t k = 0; world->method->params[k].name; ++k) {
    FLO_ASSERT(k < FLO_MAX_PARAMS);
    world->params[k] = world->method->params[k].value;
  }
  return FLO_OK;
}

static void init_particles(FloWorld *world) {
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    flo_particles_init(&world->sets[set], (FloSet)set, world->method->fields, &world->memory);
    flo_grid_init(&world->grids[set], &world->lattice, &world->memory);
  }
  flo_pairs_init(&world->fluid_fluid, &world->memory);
  flo_pairs_init(&world->fluid_boundary, &world->memory);
  flo_pairs_init(&world->boundary_fluid, &world->memory);
  flo_pairs_init(&world->fluid_rigid, &world->memory);
  flo_pairs_init(&world->rigid_rigid, &world->memory);
  flo_pairs_init(&world->rigid_boundary, &world->memory);
  world->emitter_points.memory = &world->memory;
}

static FloStatus init_world(FloWorld *world, FloError *error) {
  const FloWorldDef *def = &world->def;
  double support = def->support > 0 ? def->support : flo_kernel_default_support(def->kernel);
  world->def.support = support;
  world->threads = def->threads ? def->threads : flo_parallel_default_threads();
  world->kernel = flo_kernel_form(def->kernel, def->dim, support * def->spacing);
  world->layers = (int)flo_max_size((size_t)ceil(support - 1e-9) - 1, 1);
  world->boundary_gamma = flo_kernel_boundary_gamma(&world->kernel, def->spacing, world->layers);
  world->forces_of_step = UINT64_MAX;
  world->lost_depth = INFINITY;
  world->time = world->averages_since = 0 - def->settle; // never -0
  FLO_TRY(init_lattice(world, error));
  FLO_TRY(init_method(world, error));
  init_particles(world);
  return FLO_OK;
}

FloStatus flo_world_create(const FloWorldDef *def, FloWorld **out, FloError *error) {
  *out = NULL;
  FLO_TRY(check_sizes(def, error));
  FLO_TRY(check_times(def, error));
  FloMemory memory;
  flo_memory_init(&memory, &def->allocator);
  FloWorld *world = flo_memory_allocate(&memory, sizeof *world);
  if (!world) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a world");
  *world = (FloWorld){.memory = memory, .def = *def};
  FloStatus status = init_world(world, error);
  if (status != FLO_OK)
    flo_world_destroy(world);
  else
    *out = world;
  return status;
}

void flo_world_destroy(FloWorld *world) {
  if (!world) return;
  FloMemory *memory = &world->memory;
  if (world->method_state) world->method->finish(world, world->method_state);
  if (world->method) flo_memory_release(memory, world->method_state, world->method->state_size);
  for (int set = 0; set < FLO_SET_COUNT && world->sets[set].memory; ++set) {
    flo_particles_free(&world->sets[set]);
    flo_grid_free(&world->grids[set]);
  }
  FloPairs *operators[] = {&world->fluid_fluid, &world->fluid_boundary, &world->boundary_fluid,
                           &world->fluid_rigid, &world->rigid_rigid,    &world->rigid_boundary};
  for (size_t k = 0; k < FLO_COUNT_OF(operators); ++k)
    if (operators[k]->memory) flo_pairs_free(operators[k]);
  flo_world_free_bodies(world);
  flo_world_free_solids(world);
  FloBuffer *buffers[] = {&world->materials.buffer, &world->bodies.buffer,         &world->emitters.buffer,
                          &world->sinks.buffer,     &world->emitter_points.buffer, &world->scratch,
                          &world->wall_rooms,       &world->solids.buffer};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(memory, buffers[k]);
  FloMemory last = *memory;
  flo_memory_release(&last, world, sizeof *world);
}

// ---- Parameters ----

static FloStatus find_param(const FloWorld *world, const char *name, size_t *k, FloError *error) {
  for (*k = 0; world->method->params[*k].name; ++*k)
    if (!strcmp(world->method->params[*k].name, name)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "method '%s' has no parameter '%s'", world->method->name, name);
}

FloStatus flo_world_set_param(FloWorld *world, const char *name, double value, FloError *error) {
  size_t k;
  FLO_TRY(find_param(world, name, &k, error));
  const FloParam *param = &world->method->params[k];
  if (!(value >= param->low && value <= param->high))
    return flo_fail(error, FLO_BAD_INPUT, "%s: must lie between %g and %g, got %g", name, param->low,
                    param->high, value);
  if (flo_method_words(world->method->name, name) && value != floor(value))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is a choice and must be a whole number, got %g", name, value);
  world->params[k] = value;
  return FLO_OK;
}

FloStatus flo_world_get_param(const FloWorld *world, const char *name, double *value, FloError *error) {
  size_t k;
  FLO_TRY(find_param(world, name, &k, error));
  *value = world->params[k];
  return FLO_OK;
}

// ---- Messages ----

void flo_world_log(const FloWorld *world, FloLogLevel level, const char *format, ...) {
  char text[512];
  if (!world->def.log.write) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  world->def.log.write(world->def.log.context, level, text);
}

// ---- Stepping ----

double flo_world_stage_done(FloWorld *world, FloStage stage, double since) {
  double now = flo_seconds();
  world->stage_seconds[stage] += now - since;
  return now;
}

static FloStatus prepare(FloWorld *world, FloError *error) {
  if (world->is_prepared) return FLO_OK;
  flo_world_find_lost_depth(world);
  world->max_speed = flo_world_measure_speed(world);
  FLO_TRY(world->method->init(world, world->method_state, error));
  world->is_prepared = world->was_changed = true;
  return FLO_OK;
}

// What every method must respect: nothing travels more than its share of a spacing, nor is kicked across one.
static double speed_limit(const FloWorld *world, const char **limited_by) {
  double dt = world->def.max_time_step, s = world->def.spacing;
  *limited_by = "max_time_step";
  double speed =
      fmax(fmax(world->max_speed, flo_world_max_wall_speed(world)), flo_world_max_emitter_speed(world));
  if (world->def.cfl * s < dt * speed) dt = world->def.cfl * s / speed, *limited_by = "speed";
  double kick = world->max_acceleration > 0 ? 0.5 * sqrt(s / world->max_acceleration) : INFINITY;
  if (kick < dt) dt = kick, *limited_by = "force";
  return dt;
}

double flo_world_max_dt(FloWorld *world, const char **limited_by) {
  const char *reason, *method_reason;
  if (prepare(world, NULL) != FLO_OK) return 0;
  double dt = speed_limit(world, &reason);
  double method_dt = world->method->max_dt(world, world->method_state, &method_reason);
  if (method_dt < dt) dt = method_dt, reason = method_reason;
  if (world->def.time_step > 0) dt = world->def.time_step, reason = "time_step";
  if (limited_by) *limited_by = reason;
  return dt;
}

static const char *remedy_for(const char *limited_by) {
  if (!strcmp(limited_by, "sound"))
    return "a lower speed of sound, slower walls and emitters, or a larger spacing";
  if (!strcmp(limited_by, "viscosity")) return "a lower viscosity, or a larger spacing";
  if (!strcmp(limited_by, "surface tension")) return "a lower surface tension, or a larger spacing";
  if (!strcmp(limited_by, "speed")) return "lower velocities of fluid, walls and emitters";
  return "weaker gravity, more artificial viscosity, or look for fluid squeezed between solids";
}

static FloStatus choose_dt(FloWorld *world, double longest, double *dt, FloError *error) {
  const char *limited_by;
  *dt = world->divergence.dt = flo_world_max_dt(world, &limited_by);
  if (*dt < world->def.min_time_step && world->def.time_step == 0)
    return flo_fail(
        error, FLO_DIVERGED,
        "at %g s a time step of %g s is needed (limited by %s), below min_time_step = %g s; try %s",
        world->time, *dt, limited_by, world->def.min_time_step, remedy_for(limited_by));
  // What rounding would leave over is not worth a step of its own. Otherwise two equal steps instead of a
  // whole one and a sliver.
  const double whole = *dt * (1 + 1e-9);
  if (longest < whole)
    *dt = longest;
  else if (longest < 2 * *dt && world->def.time_step == 0)
    *dt = longest / 2;
  world->divergence.dt = *dt;
  return FLO_OK;
}

// One step, but not beyond `until`; landing on it exactly, so that frames have round times.
static FloStatus try_step(FloWorld *world, double until, FloStepInfo *info, FloError *error) {
  double dt, longest = until - world->time;
  FLO_TRY(prepare(world, error));
  flo_world_release_bodies(world);
  FLO_TRY(choose_dt(world, longest, &dt, error));
  world->has_step_state = false;
  FLO_TRY(flo_world_drain(world, error));
  FLO_TRY(flo_world_emit(world, error));
  world->force_dt = dt; // unless the method says otherwise
  FLO_TRY(world->method->step(world, world->method_state, dt, error));
  world->has_step_state = true, world->was_changed = false;
  world->time = dt == longest ? until : world->time + dt;
  world->dt = dt, world->step++;
  flo_world_move_bodies(world);
  if (info) *info = (FloStepInfo){world->time, dt, world->step, world->iterations, world->residual};
  return flo_world_add_impulses(world, error);
}

static FloStatus step_until(FloWorld *world, double until, FloStepInfo *info, FloError *error) {
  world->divergence.particle = SIZE_MAX;
  FloStatus status = try_step(world, until, info, error);
  world->divergence.has_happened = status == FLO_DIVERGED;
  if (status == FLO_DIVERGED && world->divergence.particle == SIZE_MAX)
    world->divergence.particle = flo_world_find_culprit(world);
  return status;
}

FloStatus flo_world_step(FloWorld *world, FloStepInfo *info, FloError *error) {
  return step_until(world, INFINITY, info, error);
}

static FloStatus check_goal(const FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  if (!isfinite(time))
    return flo_fail(error, FLO_BAD_INPUT, "advance: the time must be finite, got %g", time);
  if (info) *info = (FloStepInfo){world->time, world->dt, world->step, world->iterations, world->residual};
  return FLO_OK;
}

FloStatus flo_world_step_until(FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  FLO_TRY(check_goal(world, time, info, error));
  return world->time < time ? step_until(world, time, info, error) : FLO_OK;
}

FloStatus flo_world_advance(FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  FLO_TRY(check_goal(world, time, info, error));
  while (world->time < time) FLO_TRY(step_until(world, time, info, error));
  return FLO_OK;
}
