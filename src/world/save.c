// Saving and restoring a world.
//
// The state also includes the order of particles in memory and the neighbour lists: lists may be some steps
// old, and sums over them depend on their order. A run must give the same bits wherever it was saved. So the
// positions from which the lists were made are saved as well, and the lists are made again from these.
#include "base/hash.h"
#include "world/save_contacts.h"
#include "world/save_lists.h"
#include "world/save_settings.h"
#include "world/world.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// ---- Single numbers: X(member of the world, its type, lowest and highest valid value) ----

#define MUCH FLO_STATE_MUCH

#define FLO_SCALARS(X)                                                                                       \
  X(time, double, -MUCH, MUCH)                                                                               \
  X(dt, double, 0, MUCH)                                                                                     \
  X(averages_since, double, -MUCH, MUCH)                                                                     \
  X(step, uint64_t, 0, MUCH)                                                                                 \
  X(iterations, int, 0, INT_MAX)                                                                             \
  X(residual, double, 0, MUCH)                                                                               \
  X(contacts, size_t, 0, MUCH)                                                                               \
  X(put_back, size_t, 0, MUCH)                                                                               \
  X(next_id[FLO_SET_FLUID], uint32_t, 0, UINT32_MAX)                                                         \
  X(next_id[FLO_SET_BOUNDARY], uint32_t, 0, UINT32_MAX)                                                      \
  X(next_id[FLO_SET_RIGID], uint32_t, 0, UINT32_MAX)                                                         \
  X(next_id[FLO_SET_SOFT], uint32_t, 0, UINT32_MAX)                                                          \
  X(n_emitted, size_t, 0, MUCH)                                                                              \
  X(n_removed, size_t, 0, MUCH)                                                                              \
  X(n_collisions, size_t, 0, MUCH)                                                                           \
  X(n_repulsions, size_t, 0, MUCH)                                                                           \
  X(max_speed, double, 0, MUCH)                                                                              \
  X(max_acceleration, double, 0, MUCH)                                                                       \
  X(max_approach, double, 0, MUCH)                                                                           \
  X(lists.reach, double, 1, 2)                                                                               \
  X(lists.age, int, 0, INT_MAX)

#define X(member, type, low, high) +1
enum { N_SCALARS = 0 FLO_SCALARS(X) };
#undef X

static FloStatus save_scalars(const FloWorld *world, FloState *state, FloError *error) {
#define X(member, type, low, high) (double)world->member,
  const double values[N_SCALARS] = {FLO_SCALARS(X)};
#undef X
  return flo_state_add_copy(state, "scalars", FLO_TYPE_F64, N_SCALARS, values, error);
}

static void restore_scalars(FloWorld *world, const FloState *state) {
  const double *values = flo_state_find(state, "scalars")->buffer.data;
#define X(member, type, low, high) world->member = (type)(*values++);
  FLO_SCALARS(X)
#undef X
}

static FloStatus check_scalars(const FloState *state, FloError *error) {
  FLO_TRY(flo_state_need(state, "scalars", FLO_TYPE_F64, N_SCALARS, error));
  const double *value = flo_state_find(state, "scalars")->buffer.data;
  // The bounds also make the cast to each type valid. Written so that NaN is rejected.
#define X(member, type, low, high)                                                                           \
  if (!(*value >= (low) && *value <= (high)))                                                                \
    return flo_fail(error, FLO_BAD_INPUT, "state: %s is %g, which is out of range", #member, *value);        \
  ++value;
  FLO_SCALARS(X)
#undef X
  return FLO_OK;
}

// ---- Epochs: the two facts that matter to the next step ----

enum { IS_PREPARED, WAS_CHANGED, N_EPOCH_FLAGS };

static FloStatus save_epochs(const FloWorld *world, FloState *state, FloError *error) {
  const double flags[N_EPOCH_FLAGS] = {flo_world_is_prepared(world), flo_world_was_changed(world)};
  return flo_state_add_copy(state, "epochs", FLO_TYPE_F64, N_EPOCH_FLAGS, flags, error);
}

static void restore_epochs(FloWorld *world, const FloState *state) {
  const double *flags = flo_state_find(state, "epochs")->buffer.data;
  flo_world_note_added(world);
  flo_epoch_note(world, &world->epochs.walls);
  flo_epoch_note(world, &world->epochs.fixed);
  if (flags[IS_PREPARED] != 0) flo_epoch_note(world, &world->epochs.prepared);
  if (flags[WAS_CHANGED] == 0) flo_epoch_note(world, &world->epochs.done);
  flo_epoch_note(world, &world->epochs.begun); // nothing of the last step is known
}

// ---- Tables of the method and of bodies ----

static void *body_at(const void *world, const void *which, size_t k) {
  (void)which;
  return &flo_bodies(world)[k];
}

static void *own_at(const void *world, const void *kind, size_t k) {
  const FloBody *body = &flo_bodies(world)[k];
  return body->kind == kind ? body->own : NULL;
}

static void *joint_at(const void *world, const void *which, size_t k) {
  (void)which;
  return &flo_joint_list(&((const FloWorld *)world)->joints)[k];
}

static void *method_at(const void *world, const void *which, size_t k) {
  (void)which, (void)k;
  return ((const FloWorld *)world)->method_state;
}

static const FloStateField body_fields[] = {FLO_STATE_FIELD(FloBody, state.pose.position),
                                            FLO_STATE_FIELD(FloBody, state.pose.rotation),
                                            FLO_STATE_FIELD(FloBody, state.velocity),
                                            FLO_STATE_FIELD(FloBody, state.angular_velocity),
                                            FLO_STATE_FIELD(FloBody, impulse),
                                            FLO_STATE_FIELD(FloBody, load),
                                            {0}};

enum { FIRST_KIND = 3 }; // tables before those of kinds

static const FloStateField joint_fields[] = {FLO_STATE_FIELD(FloJoint, live), {0}};

// Other versions kept other numbers of a joint.
static FloStatus check_joint_version(const FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *live = flo_state_find(state, "joints/live");
  const size_t n = world->joints.list.count, size = sizeof(FloJointLive) / sizeof(double);
  if (n == 0 || !live || live->count == n * size || live->count % n != 0) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "state: it has %zu numbers of each joint, but this version of Flotsam has %zu, so that it cannot "
      "continue; use the version that saved the state, or run the scene anew",
      live->count / n, size);
}

static FloStatus check_joints(const FloWorld *world, const FloState *state, FloError *error) {
  if (!flo_world_has_joints(world)) return FLO_OK;
  const FloJointLive *live = flo_state_find(state, "joints/live")->buffer.data;
  for (size_t k = 0; k < world->joints.list.count; ++k)
    FLO_TRY(flo_joint_check_live(&flo_joint_list(&world->joints)[k], &live[k], error));
  return FLO_OK;
}

// Bodies of a kind mostly follow each other, so an earlier one is soon found.
static bool is_first_of_kind(const FloWorld *world, size_t k) {
  for (size_t earlier = 0; earlier < k; ++earlier)
    if (flo_bodies(world)[earlier].kind == flo_bodies(world)[k].kind) return false;
  return true;
}

// Table number k of a world: the method's, that of all bodies, then one for each body that is the first of
// its kind. A number without a table has no fields. False past the last.
static bool table_at(const FloWorld *world, size_t k, FloStateTable *table) {
  size_t n = world->bodies.count;
  *table = (FloStateTable){0};
  if (k == 0) *table = (FloStateTable){"method", world->method->saved, 1, method_at, world, NULL};
  if (k == 1) *table = (FloStateTable){"bodies", body_fields, n, body_at, world, NULL};
  if (k == 2 && flo_world_has_joints(world))
    *table = (FloStateTable){"joints", joint_fields, world->joints.list.count, joint_at, world, NULL};
  if (k < FIRST_KIND || k - FIRST_KIND >= n) return k < FIRST_KIND;
  if (!is_first_of_kind(world, k - FIRST_KIND)) return true;
  const FloKind *kind = flo_bodies(world)[k - FIRST_KIND].kind;
  *table = (FloStateTable){.fields = kind->fields, .n = n, .at = own_at, .owner = world, .which = kind};
  int length = snprintf(table->prefix, sizeof table->prefix, "bodies.%s", kind->name);
  FLO_ASSERT(length < (int)sizeof table->prefix);
  return true;
}

static FloStatus for_each_table(const FloWorld *world, FloState *state, FloStateTableFn work,
                                FloError *error) {
  FloStateTable table;
  for (size_t k = 0; table_at(world, k, &table); ++k) FLO_TRY(work(state, &table, error));
  return FLO_OK;
}

static void refresh_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (body->kind->refresh) body->kind->refresh(body);
    flo_world_place_samples(world, body);
  }
}

// ---- Streams, as rows of numbers ----

enum { PER_EMITTER = 3 };

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

static void restore_streams(FloWorld *world, const FloState *state) {
  const double *emitters = flo_state_find(state, "emitters")->buffer.data,
               *sinks = flo_state_find(state, "sinks")->buffer.data,
               *materials = flo_state_find(state, "materials")->buffer.data;
  for (size_t k = 0; k < world->emitters.count; ++k, emitters += PER_EMITTER) {
    FloEmitter *emitter = &flo_emitters(world)[k];
    emitter->n_layers = (uint64_t)emitters[0];
    emitter->is_alive = emitters[1] != 0, emitter->is_silenced = emitters[2] != 0;
  }
  for (size_t k = 0; k < world->sinks.count; ++k) flo_sinks(world)[k].is_alive = sinks[k] != 0;
  for (size_t k = 0; k < world->materials.count; ++k) flo_materials(world)[k].is_fluid = materials[k] != 0;
}

// ---- Skins: samples that do not change are not saved, but checked by a hash ----

// Hashes where samples are in their bodies, and their volumes.
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
  uint64_t h = FLO_HASH_START;
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; ++set)
    if (!flo_world_has_changing_skin(world, (FloSet)set)) h = hash_set(&world->sets[set], h);
  return h;
}

// Saves the hash, and the number of samples of each body.
static FloStatus save_skins(const FloWorld *world, FloState *state, FloError *error) {
  uint64_t h = hash_samples(world);
  const uint32_t halves[2] = {(uint32_t)h, (uint32_t)(h >> 32)};
  void *counts;
  FLO_TRY(flo_state_add_copy(state, "solids", FLO_TYPE_U32, 2, halves, error));
  FLO_TRY(flo_state_add(state, "samples", FLO_TYPE_U32, world->bodies.count, &counts, error));
  for (size_t k = 0; k < world->bodies.count; ++k)
    ((uint32_t *)counts)[k] = (uint32_t)flo_bodies(world)[k].count;
  return FLO_OK;
}

static FloStatus check_skins(const FloWorld *world, const FloState *state, FloError *error) {
  FLO_TRY(flo_state_need(state, "solids", FLO_TYPE_U32, 2, error));
  FLO_TRY(flo_state_need(state, "samples", FLO_TYPE_U32, world->bodies.count, error));
  const uint32_t *halves = flo_state_find(state, "solids")->buffer.data,
                 *counts = flo_state_find(state, "samples")->buffer.data;
  bool is_same = ((uint64_t)halves[1] << 32 | halves[0]) == hash_samples(world);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    is_same = is_same && (body->kind->resample || counts[k] == body->count);
  }
  if (is_same) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "state: the solids are not the ones that were saved; a mesh file may have changed since");
}

// The number of samples that a set has in a state.
size_t flo_save_samples_in(const FloWorld *world, const FloState *state, FloSet set) {
  const uint32_t *counts = flo_state_find(state, "samples")->buffer.data;
  size_t n = 0;
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].kind->set == set) n += counts[k];
  return n;
}

// The samples of each body are contiguous in its set, in the order of the bodies.
static void restore_ranges(FloWorld *world, FloSet set, const FloState *state) {
  const uint32_t *counts = flo_state_find(state, "samples")->buffer.data;
  size_t next = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (body->kind->set != set) continue;
    body->first = next, body->count = counts[k];
    next += body->count;
  }
}

// ---- Particles ----

// All state fields of fluid and of sets whose skins change are saved. Of other samples only the fields of the
// method are saved, since all others follow from the bodies.
static bool is_whole_set(const FloWorld *world, FloSet set) {
  return set == FLO_SET_FLUID || flo_world_has_changing_skin(world, set);
}

static bool is_extra(const FloParticles *particles, const FloField *field) {
  for (const FloField *f = particles->extra_fields; f && f->name; ++f)
    if (f == field) return true;
  return false;
}

static const FloField *saved_field(const FloWorld *world, FloSet set, size_t *k, void **data, char name[48]) {
  static const char *const names[FLO_SET_COUNT] = {"fluid", "boundary", "rigid", "soft"};
  const FloParticles *particles = &world->sets[set];
  const FloField *field;
  while ((field = flo_particles_field(particles, (*k)++, data))) {
    if (!field->is_state || !(is_whole_set(world, set) || is_extra(particles, field))) continue;
    snprintf(name, 48, "%s/%s", names[set], field->name);
    return field;
  }
  return NULL;
}

static FloStatus save_particles(const FloWorld *world, FloSet set, FloState *state, FloError *error) {
  const FloField *field;
  void *data;
  char name[48];
  for (size_t k = 0; (field = saved_field(world, set, &k, &data, name));)
    FLO_TRY(flo_state_add_copy(state, name, field->type, world->sets[set].count, data, error));
  return FLO_OK;
}

static FloStatus check_particles(const FloWorld *world, FloSet set, const FloState *state, size_t n,
                                 FloError *error) {
  const FloField *field;
  void *data;
  char name[48];
  for (size_t k = 0; (field = saved_field(world, set, &k, &data, name));)
    FLO_TRY(flo_state_need(state, name, field->type, n, error));
  return FLO_OK;
}

static void restore_particles(FloWorld *world, FloSet set, const FloState *state) {
  const FloField *field;
  void *data;
  char name[48];
  size_t n = world->sets[set].count;
  for (size_t k = 0; n && (field = saved_field(world, set, &k, &data, name));)
    memcpy(data, flo_state_find(state, name)->buffer.data, n * flo_type_size(field->type));
}

// Nothing of the old particles remains: fields that are not state start as in new particles, too.
static FloStatus replace_set(FloWorld *world, FloSet set, const FloState *state, size_t count,
                             FloError *error) {
  FloParticles *particles = &world->sets[set];
  size_t before = particles->count;
  particles->count = 0;
  FloStatus status = flo_particles_add(particles, count, error);
  if (status != FLO_OK) particles->count = before;
  if (status == FLO_OK) restore_particles(world, set, state);
  return status;
}

// Ranges follow each set at once: if there is no memory for the next set, they fit those before it.
static FloStatus restore_samples(FloWorld *world, const FloState *state, FloError *error) {
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; ++set) {
    if (is_whole_set(world, (FloSet)set))
      FLO_TRY(replace_set(world, (FloSet)set, state, flo_save_samples_in(world, state, (FloSet)set), error));
    else
      restore_particles(world, (FloSet)set, state);
    restore_ranges(world, (FloSet)set, state);
  }
  return FLO_OK;
}

static FloStatus check_fluid(const FloWorld *world, const FloState *state, size_t n, FloError *error) {
  if (n > UINT32_MAX / 2) return flo_fail(error, FLO_BAD_INPUT, "state: %zu particles are too many", n);
  FLO_TRY(check_particles(world, FLO_SET_FLUID, state, n, error));
  const uint16_t *material = flo_state_find(state, "fluid/material")->buffer.data,
                 *held = flo_state_find(state, "fluid/held")->buffer.data;
  const double *x[3] = {flo_state_find(state, "fluid/x")->buffer.data,
                        flo_state_find(state, "fluid/y")->buffer.data,
                        flo_state_find(state, "fluid/z")->buffer.data};
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(x[0][i]) || !isfinite(x[1][i]) || !isfinite(x[2][i]))
      return flo_fail(error, FLO_BAD_INPUT, "state: the position of particle %zu is not finite", i);
    else if (material[i] >= world->materials.count || held[i] > world->emitters.count)
      return flo_fail(error, FLO_BAD_INPUT,
                      "state: particle %zu has a material or emitter that this world does not have", i);
  return FLO_OK;
}

// Each sample names the body in whose range it is.
static FloStatus check_names(const FloWorld *world, const FloState *state, FloSet set, const char *array,
                             FloError *error) {
  const uint32_t *counts = flo_state_find(state, "samples")->buffer.data,
                 *names = flo_state_find(state, array)->buffer.data;
  size_t i = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    size_t end = i + (flo_bodies(world)[k].kind->set == set ? counts[k] : 0);
    for (; i < end; ++i)
      if (names[i] != k)
        return flo_fail(error, FLO_BAD_INPUT,
                        "state: sample %zu in '%s' names body %u instead of body %zu; the state is damaged, "
                        "use another one",
                        i, array, names[i], k);
  }
  return FLO_OK;
}

static FloStatus check_samples(const FloWorld *world, const FloState *state, FloSet set, FloError *error) {
  size_t n = flo_save_samples_in(world, state, set), k = 0;
  const FloField *field;
  void *data;
  char name[48];
  FLO_TRY(check_particles(world, set, state, n, error));
  if (n > UINT32_MAX / 2) return flo_fail(error, FLO_BAD_INPUT, "state: %zu samples are too many", n);
  while ((field = saved_field(world, set, &k, &data, name))) {
    if (field->type == FLO_TYPE_F64) FLO_TRY(flo_state_check_numbers(state, name, n, -MUCH, MUCH, error));
    if (!strcmp(field->name, "body")) FLO_TRY(check_names(world, state, set, name, error));
  }
  return FLO_OK;
}

// ---- The whole state ----

static size_t count_params(const FloWorld *world) {
  size_t n = 0;
  while (world->method->params[n].name) ++n;
  return n;
}

static FloStatus save_all(FloWorld *world, FloState *state, FloError *error) {
  FLO_TRY(save_scalars(world, state, error));
  FLO_TRY(save_epochs(world, state, error));
  FLO_TRY(flo_save_settings(world, state, error));
  FLO_TRY(flo_state_add_copy(state, "params", FLO_TYPE_F64, count_params(world), world->params, error));
  FLO_TRY(save_streams(world, state, error));
  FLO_TRY(for_each_table(world, state, flo_state_add_table, error));
  FLO_TRY(save_skins(world, state, error));
  for (int set = 0; set < FLO_SET_COUNT; ++set) FLO_TRY(save_particles(world, (FloSet)set, state, error));
  FLO_TRY(flo_save_contacts(world, state, error));
  return flo_save_lists(world, state, error);
}

FloStatus flo_world_save(const FloWorld *world, FloState **out, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(out, error);
  bool is_new = !*out;
  if (is_new) FLO_TRY(flo_state_create(out, error));
  (*out)->n_arrays = 0;
  FloStatus status = save_all((FloWorld *)world, *out, error);
  if (status != FLO_OK && is_new) flo_state_destroy(*out), *out = NULL;
  return status;
}

static FloStatus check_state(FloWorld *world, const FloState *state, size_t *n_fluid, FloError *error) {
  const FloStateArray *id = flo_state_find(state, "fluid/id");
  *n_fluid = id ? id->count : 0;
  FLO_TRY(check_scalars(state, error));
  FLO_TRY(flo_check_settings(world, state, error));
  FLO_TRY(flo_state_check_numbers(state, "epochs", N_EPOCH_FLAGS, 0, 1, error));
  FLO_TRY(flo_state_check_numbers(state, "params", count_params(world), -MUCH, MUCH, error));
  FLO_TRY(flo_state_check_numbers(state, "emitters", PER_EMITTER * world->emitters.count, 0, MUCH, error));
  FLO_TRY(flo_state_check_numbers(state, "sinks", world->sinks.count, 0, 1, error));
  FLO_TRY(flo_state_check_numbers(state, "materials", world->materials.count, 0, 1, error));
  FLO_TRY(check_joint_version(world, state, error));
  FLO_TRY(for_each_table(world, (FloState *)state, flo_state_check_table, error));
  FLO_TRY(check_joints(world, state, error));
  FLO_TRY(check_skins(world, state, error));
  FLO_TRY(check_fluid(world, state, *n_fluid, error));
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; ++set)
    FLO_TRY(check_samples(world, state, (FloSet)set, error));
  FLO_TRY(flo_check_contacts(world, state, error));
  return flo_check_lists(world, state, *n_fluid, error);
}

FloStatus flo_world_restore(FloWorld *world, const FloState *state, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(state, error);
  size_t n_fluid;
  FLO_TRY(check_state(world, state, &n_fluid, error));
  flo_world_note_added(world); // also if memory runs out on the way
  FLO_TRY(replace_set(world, FLO_SET_FLUID, state, n_fluid, error));
  FLO_TRY(restore_samples(world, state, error));
  restore_scalars(world, state);
  flo_restore_settings(world, state);
  const FloStateArray *params = flo_state_find(state, "params");
  if (params->count) memcpy(world->params, params->buffer.data, params->count * sizeof(double));
  restore_streams(world, state);
  FLO_TRY(for_each_table(world, (FloState *)state, flo_state_restore_table, error));
  refresh_bodies(world);
  world->joints.has_failed = false;
  flo_joints_note_change(&world->joints);
  FLO_TRY(flo_world_build_joints(world, error));
  flo_world_find_lost_depth(world);
  world->divergence.has_happened = world->is_unfinished = false;
  restore_epochs(world, state);
  FLO_TRY(flo_restore_contacts(world, state, error));
  return flo_restore_lists(world, state, error);
}
