// Creation and end of a world: defaults, checks, parameters.
#include "world/world.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "coupling/coupling.h"

#include <string.h>

// ---- Defaults ----

FloWorldDef flo_default_world_def(void) {
  return (FloWorldDef){.dim = 3,
                       .spacing = 0.02,
                       .gravity = {0, 0, -9.81},
                       .method = "monolithic",
                       .cfl = 0.4,
                       .min_time_step = 1e-9,
                       .max_time_step = 5e-3};
}

FloFluidDef flo_default_fluid_def(void) {
  return (FloFluidDef){.shape = {.size = {1, 1, 1}}, .pose = flo_pose_identity()};
}

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
  if (def->threads < 0 || def->threads > FLO_MOST_THREADS)
    return flo_fail(error, FLO_BAD_INPUT, "threads: must lie between 0 and %d, got %d", FLO_MOST_THREADS,
                    def->threads);
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
  world->domain.dim = def->dim;
  for (int axis = 0; axis < def->dim; ++axis) {
    world->domain.periodic[axis] = def->periodic[axis];
    world->domain.low[axis] = def->domain_low[axis], world->domain.high[axis] = def->domain_high[axis];
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
  flo_world_init_operators(world);
  flo_grid_init(&world->skins.grid, &world->lattice, &world->memory);
  flo_pairs_init(&world->skins.pairs, &world->memory);
  world->skins.edit.memory = &world->memory;
  world->skins.wet.memory = &world->memory;
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
  world->wall_drag = flo_kernel_wall_drag(&world->kernel, def->spacing, world->layers);
  world->lost_depth = INFINITY;
  world->time = world->averages_since = 0 - def->settle; // never -0
  FLO_TRY(init_lattice(world, error));
  FLO_TRY(init_method(world, error));
  init_particles(world);
  flo_joints_init(&world->joints, &world->memory);
  return FLO_OK;
}

FloStatus flo_world_create(const FloWorldDef *def, FloWorld **out, FloError *error) {
  FLO_NEED(out, error);
  *out = NULL;
  FLO_NEED(def, error);
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

static void free_operators(FloWorld *world) {
  for (int rows = 0; rows < FLO_SET_COUNT; ++rows)
    for (int columns = 0; columns < FLO_SET_COUNT; ++columns)
      if (world->operators[rows][columns].pairs.memory)
        flo_pairs_free(&world->operators[rows][columns].pairs);
  if (!world->skins.pairs.memory) return;
  flo_pairs_free(&world->skins.pairs);
  flo_grid_free(&world->skins.grid);
  flo_skin_free(&world->skins.edit);
  flo_wet_cells_free(&world->skins.wet);
}

void flo_world_destroy(FloWorld *world) {
  if (!world || world->is_in_step) return;
  FloMemory *memory = &world->memory;
  if (world->method_state) world->method->finish(world, world->method_state);
  if (world->method) flo_memory_release(memory, world->method_state, world->method->state_size);
  for (int set = 0; set < FLO_SET_COUNT && world->sets[set].memory; ++set) {
    flo_particles_free(&world->sets[set]);
    flo_grid_free(&world->grids[set]);
  }
  free_operators(world);
  flo_joints_free(&world->joints, memory);
  flo_world_free_bodies(world);
  flo_world_free_solids(world);
  FloBuffer *buffers[] = {
      &world->materials.buffer, &world->bodies.buffer,         &world->emitters.buffer,
      &world->sinks.buffer,     &world->emitter_points.buffer, &world->scratch,
      &world->wall_rooms,       &world->solids.buffer,         &world->skins.changes.buffer,
      &world->nodes.buffer,     &world->approach_buffers[0],   &world->approach_buffers[1],
      &world->interfaces.buffer};
  flo_world_free_contacts(world);
  flo_world_free_meetings(world);
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
  FLO_NEED(world, error);
  FLO_NEED(name, error);
  size_t k;
  FLO_TRY(find_param(world, name, &k, error));
  const FloParam *param = &world->method->params[k];
  if (!(value >= param->low && value <= param->high))
    return flo_fail(error, FLO_BAD_INPUT, "%s: must lie between %g and %g, got %g", name, param->low,
                    param->high, value);
  if (param->type != FLO_PARAM_NUMBER && value != floor(value))
    return flo_fail(error, FLO_BAD_INPUT, "%s: must be a whole number, got %g", name, value);
  world->params[k] = value;
  return FLO_OK;
}

FloStatus flo_world_get_param(const FloWorld *world, const char *name, double *value, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(name, error);
  FLO_NEED(value, error);
  size_t k;
  FLO_TRY(find_param(world, name, &k, error));
  *value = world->params[k];
  return FLO_OK;
}
