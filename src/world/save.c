// Saving and restoring a world.
//
// Besides what particles and bodies are, the order of particles in memory and the neighbour lists belong to
// the state: lists may be some steps old, and sums over them come in their order. So that the bits of a run
// do not depend on where it was saved, the positions from which the lists were made are kept as well, and the
// lists are made from these again.
#include "world/saved.h"
#include "base/hash.h"
#include "state/state.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Arrays by name ----

FloStatus flo_state_create(FloState **out, FloError *error) {
  FloMemory memory;
  flo_memory_init(&memory, &(FloAllocator){0});
  *out = flo_memory_allocate(&memory, sizeof **out);
  if (!*out) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a world's state");
  **out = (FloState){.memory = memory};
  return FLO_OK;
}

void flo_state_destroy(FloState *state) {
  if (!state) return;
  for (size_t k = 0; k < FLO_MAX_STATE_ARRAYS; ++k) flo_buffer_free(&state->memory, &state->arrays[k].buffer);
  FloMemory last = state->memory;
  flo_memory_release(&last, state, sizeof *state);
}

FloStatus flo_state_add(FloState *state, const char *name, FloType type, size_t count, void **data,
                        FloError *error) {
  *data = NULL;
  if (state->n_arrays == FLO_MAX_STATE_ARRAYS)
    return flo_fail(error, FLO_BAD_INPUT, "state: more than %d arrays", FLO_MAX_STATE_ARRAYS);
  FloStateArray *array = &state->arrays[state->n_arrays];
  FLO_TRY(flo_buffer_reserve(&state->memory, &array->buffer, count * flo_type_size(type), 0, error));
  snprintf(array->name, sizeof array->name, "%s", name);
  array->type = type, array->count = count;
  *data = array->buffer.data;
  state->n_arrays++;
  return FLO_OK;
}

const FloStateArray *flo_state_find(const FloState *state, const char *name) {
  for (size_t k = 0; k < state->n_arrays; ++k)
    if (!strcmp(state->arrays[k].name, name)) return &state->arrays[k];
  return NULL;
}

static FloStatus add_copy(FloState *state, const char *name, FloType type, size_t count, const void *from,
                          FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, name, type, count, &data, error));
  if (count) memcpy(data, from, count * flo_type_size(type));
  return FLO_OK;
}

// ---- Single numbers: X(member of the world, its type, the least and the most it may be) ----

#define MUCH 1e18 // exact as a double, and fits 64 bits

#define FLO_SCALARS(X)                                                                                       \
  X(time, double, -MUCH, MUCH)                                                                               \
  X(dt, double, 0, MUCH)                                                                                     \
  X(averages_since, double, -MUCH, MUCH)                                                                     \
  X(step, uint64_t, 0, MUCH)                                                                                 \
  X(iterations, int, 0, INT_MAX)                                                                             \
  X(residual, double, 0, MUCH)                                                                               \
  X(contacts, size_t, 0, MUCH)                                                                               \
  X(next_id[FLO_SET_FLUID], uint32_t, 0, UINT32_MAX)                                                         \
  X(n_emitted, size_t, 0, MUCH)                                                                              \
  X(n_removed, size_t, 0, MUCH)                                                                              \
  X(max_speed, double, 0, MUCH)                                                                              \
  X(max_acceleration, double, 0, MUCH)                                                                       \
  X(was_changed, bool, 0, 1)                                                                                 \
  X(is_prepared, bool, 0, 1)                                                                                 \
  X(lists.reach, double, 1, 2)                                                                               \
  X(lists.age, int, 0, INT_MAX)

#define X(member, type, low, high) +1
enum { N_SCALARS = 0 FLO_SCALARS(X) };
#undef X

static FloStatus save_scalars(const FloWorld *world, FloState *state, FloError *error) {
#define X(member, type, low, high) (double)world->member,
  const double values[N_SCALARS] = {FLO_SCALARS(X)};
#undef X
  return add_copy(state, "scalars", FLO_TYPE_F64, N_SCALARS, values, error);
}

static void restore_scalars(FloWorld *world, const double *values) {
#define X(member, type, low, high) world->member = (type)(*values++);
  FLO_SCALARS(X)
#undef X
}

// ---- Streams and bodies, as rows of numbers ----

enum { PER_EMITTER = 3, PER_BODY = 29 };

static FloStatus save_streams(const FloWorld *world, FloState *state, FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, "emitters", FLO_TYPE_F64, PER_EMITTER * world->emitters.count, &data, error));
  double *at = data;
  for (size_t k = 0; k < world->emitters.count; ++k) {
    const FloEmitter *emitter = &flo_emitters(world)[k];
    *at++ = (double)emitter->n_layers, *at++ = emitter->is_alive, *at++ = emitter->is_silenced;
  }
  FLO_TRY(flo_state_add(state, "sinks", FLO_TYPE_F64, world->sinks.count, &data, error));
  at = data;
  for (size_t k = 0; k < world->sinks.count; ++k) *at++ = flo_sinks(world)[k].is_alive;
  FLO_TRY(flo_state_add(state, "materials", FLO_TYPE_F64, world->materials.count, &data, error));
  at = data;
  for (size_t k = 0; k < world->materials.count; ++k) *at++ = flo_materials(world)[k].is_fluid;
  return FLO_OK;
}

static void restore_streams(FloWorld *world, const double *emitters, const double *sinks,
                            const double *materials) {
  for (size_t k = 0; k < world->emitters.count; ++k, emitters += PER_EMITTER) {
    FloEmitter *emitter = &flo_emitters(world)[k];
    emitter->n_layers = (uint64_t)emitters[0];
    emitter->is_alive = emitters[1] != 0, emitter->is_silenced = emitters[2] != 0;
  }
  for (size_t k = 0; k < world->sinks.count; ++k) flo_sinks(world)[k].is_alive = sinks[k] != 0;
  for (size_t k = 0; k < world->materials.count; ++k) flo_materials(world)[k].is_fluid = materials[k] != 0;
}

static FloStatus save_bodies(const FloWorld *world, FloState *state, FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, "bodies", FLO_TYPE_F64, PER_BODY * world->bodies.count, &data, error));
  double *at = data;
  for (size_t k = 0; k < world->bodies.count; ++k, at += PER_BODY) {
    const FloBodyState *s = &flo_bodies(world)[k].state;
    const FloRigid *rigid = &flo_bodies(world)[k].rigid;
    memcpy(at, s->pose.position, 3 * sizeof *at);
    memcpy(at + 3, s->pose.rotation, 4 * sizeof *at);
    memcpy(at + 7, s->velocity, 3 * sizeof *at);
    memcpy(at + 10, s->angular_velocity, 3 * sizeof *at);
    memcpy(at + 13, rigid->position, 3 * sizeof *at);
    memcpy(at + 16, rigid->velocity, 3 * sizeof *at);
    memcpy(at + 19, rigid->angular_momentum, 3 * sizeof *at);
    at[22] = rigid->is_held;
    memcpy(at + 23, flo_bodies(world)[k].impulse, 6 * sizeof *at);
  }
  return FLO_OK;
}

static void restore_bodies(FloWorld *world, const double *at) {
  for (size_t k = 0; k < world->bodies.count; ++k, at += PER_BODY) {
    FloBody *body = &flo_bodies(world)[k];
    FloBodyState *s = &body->state;
    FloRigid *rigid = &body->rigid;
    memcpy(s->pose.position, at, 3 * sizeof *at);
    memcpy(s->pose.rotation, at + 3, 4 * sizeof *at);
    memcpy(s->velocity, at + 7, 3 * sizeof *at);
    memcpy(s->angular_velocity, at + 10, 3 * sizeof *at);
    memcpy(rigid->position, at + 13, 3 * sizeof *at);
    memcpy(rigid->velocity, at + 16, 3 * sizeof *at);
    memcpy(rigid->angular_momentum, at + 19, 3 * sizeof *at);
    rigid->is_held = at[22] != 0;
    memcpy(body->impulse, at + 23, 6 * sizeof *at);
    if (body->kind == FLO_BODY_DYNAMIC) flo_rigid_refresh(rigid, s->pose.rotation);
    if (body->kind != FLO_BODY_STATIC) flo_world_place_samples(world, body);
  }
}

// ---- Solids: their samples are not kept, but known again ----

// Where they are in their bodies, and what volume they stand for.
static uint64_t hash_set(const FloParticles *b, uint64_t h) {
  const struct {
    const void *data;
    size_t size;
  } arrays[] = {{b->local_x, sizeof(double)},
                {b->local_y, sizeof(double)},
                {b->local_z, sizeof(double)},
                {b->volume, sizeof(float)}};
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k)
    h = flo_hash_bytes(h, arrays[k].data, b->count * arrays[k].size);
  return h;
}

static uint64_t hash_samples(const FloWorld *world) {
  return hash_set(&world->sets[FLO_SET_RIGID], hash_set(&world->sets[FLO_SET_BOUNDARY], FLO_HASH_START));
}

static FloStatus save_samples(const FloWorld *world, FloState *state, FloError *error) {
  uint64_t h = hash_samples(world);
  const uint32_t halves[2] = {(uint32_t)h, (uint32_t)(h >> 32)};
  return add_copy(state, "solids", FLO_TYPE_U32, 2, halves, error);
}

// ---- Particles ----

// Of fluid every field that is state; of bodies' samples only what the method keeps with them, since all else
// follows from the bodies.
static const FloField *saved_field(const FloParticles *particles, size_t *k, void **data, char name[48]) {
  const FloField *field;
  while ((field = flo_particles_field(particles, (*k)++, data))) {
    bool is_extra = false;
    for (const FloField *f = particles->extra_fields; f && f->name; ++f) is_extra = is_extra || f == field;
    if (!field->is_state || (particles->set != FLO_SET_FLUID && !is_extra)) continue;
    snprintf(name, 48, "%s/%s", particles->set == FLO_SET_FLUID ? "fluid" : "rigid", field->name);
    return field;
  }
  return NULL;
}

static FloStatus save_particles(const FloParticles *particles, FloState *state, FloError *error) {
  const FloField *field;
  void *data;
  char name[48];
  for (size_t k = 0; (field = saved_field(particles, &k, &data, name));)
    FLO_TRY(add_copy(state, name, field->type, particles->count, data, error));
  return FLO_OK;
}

static void restore_particles(FloParticles *particles, const FloState *state) {
  const FloField *field;
  void *data;
  char name[48];
  for (size_t k = 0; (field = saved_field(particles, &k, &data, name));)
    if (particles->count)
      memcpy(data, flo_state_find(state, name)->buffer.data, particles->count * flo_type_size(field->type));
}

static FloStatus restore_fluid(FloWorld *world, const FloState *state, size_t count, FloError *error) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t before = fluid->count;
  // Nothing of the old fluid stays: also fields that are not state begin as those of new particles do.
  fluid->count = 0;
  FloStatus status = flo_particles_add(fluid, count, error);
  if (status != FLO_OK) fluid->count = before;
  if (status == FLO_OK) restore_particles(fluid, state);
  return status;
}

// ---- Neighbour lists that serve several steps ----

static FloStatus save_grid(const FloGrid *grid, const char *fixed_name, const char *cells_name,
                           FloState *state, FloError *error) {
  void *fixed, *cells;
  FLO_TRY(flo_state_add(state, fixed_name, FLO_TYPE_U32, 3 * grid->count, &fixed, error));
  FLO_TRY(flo_state_add(state, cells_name, FLO_TYPE_U32, 3 * grid->count, &cells, error));
  flo_grid_save(grid, fixed, cells);
  return FLO_OK;
}

static FloStatus save_lists(const FloWorld *world, FloState *state, FloError *error) {
  const FloGrid *grid = &world->grids[FLO_SET_FLUID], *rigid = &world->grids[FLO_SET_RIGID];
  void *clearance;
  if (!world->lists.is_current || world->lists.reach == 1) return FLO_OK;
  FLO_TRY(save_grid(grid, "lists/fixed", "lists/cells", state, error));
  if (rigid->count) FLO_TRY(save_grid(rigid, "lists/rigid_fixed", "lists/rigid_cells", state, error));
  if (!world->lists.has_clearances) return FLO_OK;
  FLO_TRY(flo_state_add(state, "lists/clearance", FLO_TYPE_F32, grid->count, &clearance, error));
  const FloWallRoom *rooms = world->wall_rooms.data;
  for (size_t i = 0; i < grid->count; ++i) ((float *)clearance)[i] = rooms[i].clearance;
  return FLO_OK;
}

static FloStatus restore_clearances(FloWorld *world, const FloStateArray *clearance, FloError *error) {
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->wall_rooms, clearance->count * sizeof(FloWallRoom), 0,
                             error));
  FloWallRoom *rooms = world->wall_rooms.data;
  for (size_t i = 0; i < clearance->count; ++i)
    rooms[i] = flo_empty_room(((const float *)clearance->buffer.data)[i]);
  return FLO_OK;
}

// The samples of dynamic bodies weigh what they stand for.
static FloStatus restore_rigid_grid(FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *fixed = flo_state_find(state, "lists/rigid_fixed"),
                      *cells = flo_state_find(state, "lists/rigid_cells");
  FloGrid *grid = &world->grids[FLO_SET_RIGID];
  if (!fixed) return FLO_OK;
  FLO_TRY(flo_grid_restore(grid, fixed->count / 3, fixed->buffer.data, cells->buffer.data, world->threads,
                           error));
  for (size_t i = 0; i < grid->count; ++i)
    memcpy(grid->fixed + 4 * i + 3, &world->sets[FLO_SET_RIGID].volume[i], sizeof(float));
  return FLO_OK;
}

static FloStatus restore_lists(FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *fixed = flo_state_find(state, "lists/fixed"),
                      *cells = flo_state_find(state, "lists/cells"),
                      *clearance = flo_state_find(state, "lists/clearance");
  double reach = world->lists.reach;
  world->lists.is_current = world->lists.has_clearances = false;
  world->lists.reach = 1; // what cells fit at first; the next line makes them fit what was saved
  flo_lattice_set_reach(&world->lattice, 1);
  flo_world_set_reach(world, reach);
  world->is_boundary_grid_current = false;
  if (!fixed) return FLO_OK;
  FLO_TRY(flo_world_update_boundary_grid(world, error));
  FLO_TRY(flo_grid_restore(&world->grids[FLO_SET_FLUID], fixed->count / 3, fixed->buffer.data,
                           cells->buffer.data, world->threads, error));
  FLO_TRY(restore_rigid_grid(world, state, error));
  FLO_TRY(flo_world_build_operators(world, error));
  if (clearance) FLO_TRY(restore_clearances(world, clearance, error));
  world->lists.has_clearances = clearance != NULL;
  world->lists.is_current = true;
  return FLO_OK;
}

// ---- All of it ----

FloStatus flo_world_save(const FloWorld *world, FloState **out, FloError *error) {
  bool is_new = !*out;
  if (is_new) FLO_TRY(flo_state_create(out, error));
  FloState *state = *out;
  state->n_arrays = 0;
  size_t n_params = 0;
  while (world->method->params[n_params].name) ++n_params;
  FloStatus status = save_scalars(world, state, error);
  if (status == FLO_OK) status = add_copy(state, "params", FLO_TYPE_F64, n_params, world->params, error);
  if (status == FLO_OK)
    status = add_copy(state, "method", FLO_TYPE_F64, world->method->n_saved, world->method_state, error);
  if (status == FLO_OK) status = save_streams(world, state, error);
  if (status == FLO_OK) status = save_bodies(world, state, error);
  if (status == FLO_OK) status = save_samples(world, state, error);
  if (status == FLO_OK) status = save_particles(&world->sets[FLO_SET_FLUID], state, error);
  if (status == FLO_OK) status = save_particles(&world->sets[FLO_SET_RIGID], state, error);
  if (status == FLO_OK) status = save_lists(world, state, error);
  if (status != FLO_OK && is_new) flo_state_destroy(state), *out = NULL;
  return status;
}

// ---- What a state must be for a world to take it ----

static FloStatus need(const FloState *state, const char *name, FloType type, size_t count, FloError *error) {
  const FloStateArray *array = flo_state_find(state, name);
  if (!array)
    return flo_fail(error, FLO_BAD_INPUT, "state: it has no '%s', so it is not of such a world", name);
  if (array->type != type || array->count != count)
    return flo_fail(error, FLO_BAD_INPUT,
                    "state: it has %zu values of '%s', this world needs %zu; it was saved from another one",
                    array->count, name, count);
  return FLO_OK;
}

static FloStatus check_particles(const FloParticles *particles, const FloState *state, size_t n,
                                 FloError *error) {
  const FloField *field;
  void *data;
  char name[48];
  for (size_t k = 0; (field = saved_field(particles, &k, &data, name));)
    FLO_TRY(need(state, name, field->type, n, error));
  return FLO_OK;
}

static FloStatus check_fluid(const FloWorld *world, const FloState *state, size_t n, FloError *error) {
  if (n > UINT32_MAX / 2) return flo_fail(error, FLO_BAD_INPUT, "state: %zu particles are too many", n);
  FLO_TRY(check_particles(&world->sets[FLO_SET_FLUID], state, n, error));
  const uint16_t *material = flo_state_find(state, "fluid/material")->buffer.data,
                 *held = flo_state_find(state, "fluid/held")->buffer.data;
  const double *x[3] = {flo_state_find(state, "fluid/x")->buffer.data,
                        flo_state_find(state, "fluid/y")->buffer.data,
                        flo_state_find(state, "fluid/z")->buffer.data};
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(x[0][i]) || !isfinite(x[1][i]) || !isfinite(x[2][i]))
      return flo_fail(error, FLO_BAD_INPUT, "state: particle %zu is nowhere", i);
    else if (material[i] >= world->materials.count || held[i] > world->emitters.count)
      return flo_fail(error, FLO_BAD_INPUT,
                      "state: particle %zu is of a material or emitter that is not here", i);
  return FLO_OK;
}

static FloStatus check_cells(const FloState *state, const char *fixed_name, const char *cells_name, size_t n,
                             FloError *error) {
  FLO_TRY(need(state, cells_name, FLO_TYPE_U32, 3 * n, error));
  FLO_TRY(need(state, fixed_name, FLO_TYPE_U32, 3 * n, error));
  const FloStateArray *cells = flo_state_find(state, cells_name);
  for (size_t k = 0; k < cells->count; ++k)
    if (!flo_grid_is_cell(((const int32_t *)cells->buffer.data)[k]))
      return flo_fail(error, FLO_BAD_INPUT, "state: a particle is in a cell that is out of reach");
  return FLO_OK;
}

static FloStatus check_lists(const FloWorld *world, const FloState *state, size_t n, FloError *error) {
  size_t n_rigid = world->sets[FLO_SET_RIGID].count;
  // All of the lists or nothing.
  if (!flo_state_find(state, "lists/cells") && !flo_state_find(state, "lists/fixed") &&
      !flo_state_find(state, "lists/clearance"))
    return FLO_OK;
  FLO_TRY(check_cells(state, "lists/fixed", "lists/cells", n, error));
  if (n_rigid) FLO_TRY(check_cells(state, "lists/rigid_fixed", "lists/rigid_cells", n_rigid, error));
  if (flo_state_find(state, "lists/clearance"))
    FLO_TRY(need(state, "lists/clearance", FLO_TYPE_F32, n, error));
  return FLO_OK;
}

static FloStatus check_scalars(const FloState *state, FloError *error) {
  FLO_TRY(need(state, "scalars", FLO_TYPE_F64, N_SCALARS, error));
  const double *value = flo_state_find(state, "scalars")->buffer.data;
  // Also so that each may be cast to its type. Written so that NaN is refused.
#define X(member, type, low, high)                                                                           \
  if (!(*value >= (low) && *value <= (high)))                                                                \
    return flo_fail(error, FLO_BAD_INPUT, "state: %s is %g, which makes no sense", #member, *value);         \
  ++value;
  FLO_SCALARS(X)
#undef X
  return FLO_OK;
}

// Numbers between bounds; NaN is refused.
static FloStatus check_numbers(const FloState *state, const char *name, size_t n, double low, double high,
                               FloError *error) {
  FLO_TRY(need(state, name, FLO_TYPE_F64, n, error));
  const double *values = flo_state_find(state, name)->buffer.data;
  for (size_t k = 0; k < n; ++k)
    if (!(values[k] >= low && values[k] <= high))
      return flo_fail(error, FLO_BAD_INPUT, "state: %g among '%s' makes no sense", values[k], name);
  return FLO_OK;
}

static FloStatus check_samples(const FloWorld *world, const FloState *state, FloError *error) {
  FLO_TRY(need(state, "solids", FLO_TYPE_U32, 2, error));
  const uint32_t *halves = flo_state_find(state, "solids")->buffer.data;
  if (((uint64_t)halves[1] << 32 | halves[0]) == hash_samples(world)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "state: the solids are not the ones that were saved; a mesh file may have changed since");
}

static FloStatus check_state(const FloWorld *world, const FloState *state, size_t *n_fluid, FloError *error) {
  size_t n_params = 0;
  while (world->method->params[n_params].name) ++n_params;
  FLO_TRY(check_scalars(state, error));
  FLO_TRY(check_numbers(state, "params", n_params, -MUCH, MUCH, error));
  FLO_TRY(check_numbers(state, "method", world->method->n_saved, -MUCH, MUCH, error));
  FLO_TRY(check_numbers(state, "emitters", PER_EMITTER * world->emitters.count, 0, MUCH, error));
  FLO_TRY(check_numbers(state, "sinks", world->sinks.count, 0, 1, error));
  FLO_TRY(check_numbers(state, "materials", world->materials.count, 0, 1, error));
  FLO_TRY(check_numbers(state, "bodies", PER_BODY * world->bodies.count, -MUCH, MUCH, error));
  FLO_TRY(check_samples(world, state, error));
  const FloStateArray *id = flo_state_find(state, "fluid/id");
  *n_fluid = id ? id->count : 0;
  FLO_TRY(check_fluid(world, state, *n_fluid, error));
  FLO_TRY(check_particles(&world->sets[FLO_SET_RIGID], state, world->sets[FLO_SET_RIGID].count, error));
  return check_lists(world, state, *n_fluid, error);
}

FloStatus flo_world_restore(FloWorld *world, const FloState *state, FloError *error) {
  size_t n_fluid;
  FLO_TRY(check_state(world, state, &n_fluid, error));
  FLO_TRY(restore_fluid(world, state, n_fluid, error));
  restore_scalars(world, flo_state_find(state, "scalars")->buffer.data);
  const FloStateArray *params = flo_state_find(state, "params");
  if (params->count) memcpy(world->params, params->buffer.data, params->count * sizeof(double));
  if (world->method->n_saved)
    memcpy(world->method_state, flo_state_find(state, "method")->buffer.data,
           world->method->n_saved * sizeof(double));
  restore_streams(world, flo_state_find(state, "emitters")->buffer.data,
                  flo_state_find(state, "sinks")->buffer.data,
                  flo_state_find(state, "materials")->buffer.data);
  restore_bodies(world, flo_state_find(state, "bodies")->buffer.data);
  restore_particles(&world->sets[FLO_SET_RIGID], state);
  flo_world_find_lost_depth(world);
  world->has_step_state = world->divergence.has_happened = false;
  world->forces_of_step = UINT64_MAX;
  return restore_lists(world, state, error);
}
