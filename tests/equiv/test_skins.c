// Skins that lose and gain samples in every step: the same bits for any number of threads, and after saving
// and restoring; samples of other bodies keep all they have. Steps and restores that fail claim nothing that
// they have not done.
#include "base/saved.h"
#include "support/allocator.h"
#include "support/spring_plate.h"
#include "support/worlds.h"

enum { MOST_MISSING = 64, N_STEPS = 40 };

static CountingAllocator *memory; // of the worlds to come; NULL: the C library's

// A plate that sheds some of its samples in each step, and takes back those that it shed before.
typedef struct SheddingPlate {
  SpringPlate plate; // first: the functions of the plate know nothing else
  double n_steps, n_missing, missing[3 * MOST_MISSING];
} SheddingPlate;

static const FloStateField shedding_fields[] = {FLO_STATE_FIELD(SheddingPlate, plate.node.position),
                                                FLO_STATE_FIELD(SheddingPlate, plate.node.velocity),
                                                FLO_STATE_FIELD(SheddingPlate, plate.node.mass),
                                                FLO_STATE_FIELD(SheddingPlate, plate.node.inverse_mass),
                                                FLO_STATE_FIELD(SheddingPlate, n_steps),
                                                FLO_STATE_FIELD(SheddingPlate, n_missing),
                                                FLO_STATE_FIELD(SheddingPlate, missing),
                                                {0}};

static FloStatus shed(FloBody *body, const FloParticles *samples, FloSkinEdit *edit, FloError *error) {
  SheddingPlate *own = body->own;
  size_t n_missing = 0;
  for (size_t k = 0; k < (size_t)own->n_missing; ++k)
    FLO_TRY(flo_skin_gain(edit, own->missing + 3 * k, error));
  size_t offset = (size_t)(own->n_steps++) % 5;
  for (size_t i = body->first + offset; i < body->first + body->count && n_missing < MOST_MISSING; i += 7) {
    vec_set(own->missing + 3 * n_missing++, samples->local_x[i], samples->local_y[i], samples->local_z[i]);
    FLO_TRY(flo_skin_lose(edit, i, error));
  }
  own->n_missing = (double)n_missing;
  return FLO_OK;
}

static const FloKind shedding_kind = {.name = "shedding plate",
                                      .size = sizeof(SheddingPlate),
                                      .fields = shedding_fields,
                                      .resample = shed,
                                      SPRING_PLATE_FUNCTIONS};

// A plate that gets more samples in each step, so that its set needs more memory than in a new world.
static FloStatus grow(FloBody *body, const FloParticles *samples, FloSkinEdit *edit, FloError *error) {
  SheddingPlate *own = body->own;
  size_t i = body->first + (size_t)(own->n_steps++) % body->count;
  for (int k = 1; k <= 4; ++k) {
    double binding[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
    vec_scale(binding, 1 - 0.1 * k, binding);
    FLO_TRY(flo_skin_gain(edit, binding, error));
  }
  return FLO_OK;
}

static const FloKind growing_kind = {.name = "growing plate",
                                     .size = sizeof(SheddingPlate),
                                     .fields = shedding_fields,
                                     .resample = grow,
                                     SPRING_PLATE_FUNCTIONS};

static FloStatus make_wall(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                           FloError *error) {
  (void)making, (void)error;
  body->state.pose = def->pose;
  return FLO_OK;
}

// A wall that grows like the plate, so that two sets change.
static const FloKind growing_wall = {.name = "growing wall",
                                     .set = FLO_SET_BOUNDARY,
                                     .size = sizeof(SheddingPlate),
                                     .fields = shedding_fields,
                                     .make = make_wall,
                                     .resample = grow,
                                     FLO_POSED_FUNCTIONS};

static void add_growing_wall(FloWorld *world) {
  FloError error;
  FloBodyDef wall = flo_default_body_def();
  wall.shape = box_shape(0.1, 0.04, 0), wall.pose = pose_at(0.1, 0.5, 0);
  assert_ok(flo_world_add_body_of(world, &growing_wall, &wall, NULL, &error), &error);
}

// Two plates with a rigid body between them, in water; where the method moves rigid bodies.
static FloWorld *make_of(const char *method, int threads, const FloKind *plate) {
  FloWorldDef def = small_world_def(2);
  FloError error;
  def.method = method, def.spacing = 0.02, def.threads = threads;
  if (memory) def.allocator = counting_allocator(memory);
  FloWorld *world = create_world(&def);
  spring.stiffness = 2000, spring.damping = 100;
  add_tank(world, 2, 0.8, 0.6, 0);
  for (int k = 0; k < 3; ++k) {
    FloBodyDef body = flo_default_body_def();
    body.kind = FLO_BODY_DYNAMIC;
    body.shape = box_shape(0.12, 0.08, 0), body.pose = pose_at(0.2 + 0.2 * k, 0.2, 0), body.density = 500;
    if (k == 1 && strcmp(method, "wcsph") == 0) continue;
    assert_ok(flo_world_add_body_of(world, k == 1 ? &flo_rigid_kind : plate, &body, NULL, &error), &error);
  }
  if (plate == &growing_kind) add_growing_wall(world);
  add_block(world, add_water(world), (const double[3]){0}, (const double[3]){0.8, 0.3, 0});
  return world;
}

static FloWorld *make(const char *method, int threads) { return make_of(method, threads, &shedding_kind); }

static void run(FloWorld *world, int n) {
  FloError error;
  for (int k = 0; k < n; ++k) assert_ok(flo_world_step(world, NULL, &error), &error);
}

static void test_bits_do_not_depend_on_threads(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    uint64_t hash = 0;
    for (int threads = 1; threads <= 3; ++threads) {
      FloWorld *world = make(flo_method_name(k), threads);
      run(world, N_STEPS);
      if (threads == 1) hash = flo_world_hash(world);
      assert_true(flo_world_hash(world) == hash);
      flo_world_destroy(world);
    }
  }
}

static void test_restored_worlds_go_on_alike(void **state) {
  (void)state;
  FloError error;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    FloWorld *whole = make(flo_method_name(k), 2), *other = make(flo_method_name(k), 1);
    FloState *saved = NULL;
    run(whole, N_STEPS / 2 + 1);
    assert_ok(flo_world_save(whole, &saved, &error), &error);
    run(other, 3); // another number of samples than was saved
    assert_ok(flo_world_restore(other, saved, &error), &error);
    assert_true(flo_world_hash(other) == flo_world_hash(whole));
    run(whole, N_STEPS), run(other, N_STEPS);
    assert_true(flo_world_hash(other) == flo_world_hash(whole));
    flo_state_destroy(saved);
    flo_world_destroy(whole), flo_world_destroy(other);
  }
}

static void test_number_of_samples_changes(void **state) {
  (void)state;
  FloWorld *world = make("monolithic", 1);
  size_t before = flo_world_count(world, FLO_SET_RIGID), plate = flo_bodies(world)[1].count;
  run(world, 1);
  assert_true(flo_bodies(world)[1].count < plate);
  assert_true(flo_world_count(world, FLO_SET_RIGID) < before);
  size_t sum = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->kind->set != FLO_SET_RIGID) continue;
    assert_int_equal(body->first, sum);
    for (size_t i = body->first; i < body->first + body->count; ++i)
      assert_int_equal(world->sets[FLO_SET_RIGID].body[i], k);
    sum += body->count;
  }
  assert_int_equal(sum, flo_world_count(world, FLO_SET_RIGID));
  flo_world_destroy(world);
}

// The rigid body between the plates has the same samples as ever, with what the method keeps with them.
static void test_other_bodies_keep_their_samples(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = make("monolithic", 1);
  run(world, 5);
  const FloParticles *set = &world->sets[FLO_SET_RIGID];
  const FloBody *body = &flo_bodies(world)[2];
  assert_ptr_equal(body->kind, &flo_rigid_kind);
  size_t n = body->count, first = body->first;
  uint32_t *ids = malloc(n * sizeof *ids);
  float *volumes = malloc(n * sizeof *volumes), *marks = set->extra[1];
  for (size_t k = 0; k < n; ++k) {
    ids[k] = set->id[first + k], volumes[k] = set->volume[first + k];
    marks[first + k] = (float)k;
  }
  assert_ok(flo_world_resample(world, &error), &error);
  body = &flo_bodies(world)[2], marks = set->extra[1];
  assert_int_equal(body->count, n);
  for (size_t k = 0; k < n; ++k) {
    assert_int_equal(set->id[body->first + k], ids[k]);
    assert_true(set->volume[body->first + k] == volumes[k]);
    assert_true(marks[body->first + k] == (float)k);
  }
  free(ids), free(volumes);
  flo_world_destroy(world);
}

// No step reads memory that it has not written.
static void test_bits_do_not_depend_on_what_memory_held(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    CountingAllocator poisoned = {.is_poisoned = true};
    FloWorld *plain = make(flo_method_name(k), 2);
    memory = &poisoned;
    FloWorld *world = make(flo_method_name(k), 2);
    memory = NULL;
    run(plain, N_STEPS), run(world, N_STEPS);
    assert_true(flo_world_hash(world) == flo_world_hash(plain));
    flo_world_destroy(world), flo_world_destroy(plain);
    assert_int_equal(poisoned.n_blocks, 0);
  }
}

// The samples of each body stand side by side and name it.
static void check_ranges(const FloWorld *world) {
  size_t next[FLO_SET_COUNT] = {0};
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    assert_int_equal(body->first, next[body->kind->set]);
    next[body->kind->set] += body->count;
    for (size_t i = body->first; i < body->first + body->count; ++i)
      assert_int_equal(world->sets[body->kind->set].body[i], k);
  }
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; ++set)
    assert_int_equal(next[set], world->sets[set].count);
}

// Whichever allocation fails while skins change, bodies keep samples of their own.
static void test_failed_changes_leave_whole_skins(void **state) {
  (void)state;
  FloError error;
  size_t n_failed = 0;
  for (size_t fail = 1; fail < 40; ++fail) {
    CountingAllocator limited = {0};
    memory = &limited;
    FloWorld *world = make("monolithic", 1);
    memory = NULL;
    limited.fail_at = limited.n_calls + fail;
    for (int k = 0; k < 3; ++k) {
      FloStatus status = flo_world_resample(world, &error);
      assert_true(status == FLO_OK || status == FLO_NO_MEMORY);
      n_failed += status != FLO_OK;
      check_ranges(world);
    }
    flo_world_destroy(world);
    assert_int_equal(limited.n_blocks, 0);
  }
  assert_true(n_failed > 3);
}

// A step that fails while skins change has moved samples in memory. So the state of the step before is gone,
// and the forces of that step cannot be found any more.
static void test_failed_changes_end_the_state_of_the_last_step(void **state) {
  (void)state;
  size_t n_failed = 0;
  for (size_t fail = 1; fail < 20; ++fail) {
    CountingAllocator limited = {0};
    FloError error;
    FloBodyState body;
    memory = &limited;
    FloWorld *world = make("monolithic", 1);
    memory = NULL;
    run(world, 1);
    assert_true(flo_world_has_step_state(world));
    uint64_t lists = world->epochs.lists;
    limited.fail_at = limited.n_calls + fail;
    FloStatus status = flo_world_step(world, NULL, &error);
    limited.fail_at = 0;
    assert_true(status == FLO_OK || status == FLO_NO_MEMORY);
    assert_true(flo_world_has_step_state(world) == (status == FLO_OK));
    n_failed += status != FLO_OK && world->epochs.lists == lists; // before the method's part of the step
    for (uint16_t k = 0; k < world->bodies.count; ++k)
      assert_ok(flo_world_body_state(world, (FloBodyId){k, 1}, &body, &error), &error);
    run(world, 2);
    flo_world_destroy(world);
    assert_int_equal(limited.n_blocks, 0);
  }
  assert_true(n_failed > 0);
}

// ---- Restores without memory ----

// A state with more fluid and more samples than a new world has.
static FloState *save_grown(FloWorld *whole) {
  FloState *saved = NULL;
  FloError error;
  run(whole, 12);
  add_block(whole, (FloMaterialId){0, 1}, (const double[3]){0.1, 0.4, 0}, (const double[3]){0.7, 0.6, 0});
  run(whole, 3);
  assert_ok(flo_world_save(whole, &saved, &error), &error);
  return saved;
}

// What a restore that ran out of memory leaves: nothing counts as known, samples belong to their bodies, and
// the world may be asked and stepped.
static void check_half_restored(FloWorld *world) {
  FloError error;
  FloBodyState body;
  double density, pressure;
  assert_false(flo_world_has_step_state(world));
  assert_false(flo_world_has_lists(world));
  check_ranges(world);
  for (uint16_t k = 0; k < world->bodies.count; ++k)
    assert_ok(flo_world_body_state(world, (FloBodyId){k, 1}, &body, &error), &error);
  flo_world_sample(world, (const double[3]){0.4, 0.1, 0}, &density, &pressure);
  flo_world_measure(world);
  FloStatus status = flo_world_step(world, NULL, &error);
  assert_true(status == FLO_OK || status == FLO_DIVERGED); // fluid may now overlap bodies
}

// Restores with one failing allocation, and then again. False if nothing failed.
static bool restore_without(const char *method, const FloState *saved, size_t fail, bool onwards,
                            uint64_t expected) {
  CountingAllocator limited = {.fail_onwards = onwards};
  FloError error;
  memory = &limited;
  FloWorld *world = make_of(method, 1, &growing_kind);
  memory = NULL;
  run(world, 3);
  limited.fail_at = limited.n_calls + fail;
  FloStatus status = flo_world_restore(world, saved, &error);
  limited.fail_at = 0;
  if (status != FLO_OK) {
    assert_int_equal(status, FLO_NO_MEMORY);
    check_half_restored(world);
    assert_ok(flo_world_restore(world, saved, &error), &error);
  }
  run(world, 5);
  assert_true(flo_world_hash(world) == expected);
  flo_world_destroy(world);
  assert_int_equal(limited.n_blocks, 0);
  return status != FLO_OK;
}

static void test_restores_without_memory_can_be_repeated(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    const char *method = flo_method_name(k);
    FloWorld *whole = make_of(method, 2, &growing_kind);
    FloState *saved = save_grown(whole);
    run(whole, 5);
    for (int onwards = 0; onwards < 2; ++onwards) {
      size_t fail = 1;
      while (restore_without(method, saved, fail, onwards, flo_world_hash(whole))) ++fail;
      assert_true(fail > 40); // the sets of fluid and of samples had to grow: an allocation for each field
    }
    flo_state_destroy(saved);
    flo_world_destroy(whole);
  }
}

// ---- States whose samples belong to no body, or to another ----

// A world with its state, to be damaged.
typedef struct Damage {
  FloWorld *world;
  FloState *saved;
  uint32_t *names, *counts; // in the state: the body of each sample, and the number of samples of each body
  size_t n_names;
  uint64_t hash; // of the world
} Damage;

static uint32_t *numbers_in(const FloState *saved, const char *name, size_t *count) {
  const FloStateArray *array = flo_state_find(saved, name);
  assert_non_null(array);
  assert_int_equal(array->type, FLO_TYPE_U32);
  *count = array->count;
  return array->buffer.data;
}

static Damage prepare_damage(const char *method) {
  Damage damage = {.world = make(method, 1)};
  FloError error;
  size_t n_bodies;
  run(damage.world, 10);
  assert_ok(flo_world_save(damage.world, &damage.saved, &error), &error);
  damage.names = numbers_in(damage.saved, "rigid/body", &damage.n_names);
  damage.counts = numbers_in(damage.saved, "samples", &n_bodies);
  damage.hash = flo_world_hash(damage.world);
  assert_int_equal(n_bodies, damage.world->bodies.count);
  assert_int_equal(damage.n_names, flo_world_count(damage.world, FLO_SET_RIGID));
  return damage;
}

// The damaged state is refused with this word, and the world stays as it was.
static void check_refused(const Damage *damage, const char *word) {
  FloError error;
  assert_refused(flo_world_restore(damage->world, damage->saved, &error), &error, word);
  assert_true(flo_world_hash(damage->world) == damage->hash && flo_world_has_step_state(damage->world));
  check_ranges(damage->world);
}

// Without the damage the state is restored, so that nothing else was refused.
static void finish_damage(Damage *damage) {
  FloError error;
  assert_ok(flo_world_restore(damage->world, damage->saved, &error), &error);
  assert_true(flo_world_hash(damage->world) == damage->hash);
  run(damage->world, 2);
  flo_state_destroy(damage->saved);
  flo_world_destroy(damage->world);
}

static void test_samples_that_name_no_body_are_refused(void **state) {
  (void)state;
  for (size_t m = 0; m < flo_method_count(); ++m) {
    Damage damage = prepare_damage(flo_method_name(m));
    // A body that is not there, the largest number, and the tank, which has no samples in this set.
    const uint32_t wrong[] = {(uint32_t)damage.world->bodies.count, UINT32_MAX, 0};
    for (size_t i = 0; i < damage.n_names; ++i)
      for (size_t k = 0; k < FLO_COUNT_OF(wrong); ++k) {
        uint32_t right = damage.names[i];
        damage.names[i] = wrong[k];
        check_refused(&damage, "rigid/body");
        damage.names[i] = right;
      }
    finish_damage(&damage);
  }
}

// Too many or too few samples for all bodies together, and samples of one body that another one claims.
static void test_wrong_numbers_of_samples_are_refused(void **state) {
  (void)state;
  const uint32_t changes[] = {1, UINT32_MAX /* one less */, 1u << 31};
  for (size_t m = 0; m < flo_method_count(); ++m) {
    Damage damage = prepare_damage(flo_method_name(m));
    size_t last = damage.world->bodies.count - 1;
    for (size_t k = 0; k <= last; ++k)
      for (size_t c = 0; c < FLO_COUNT_OF(changes); ++c) {
        damage.counts[k] += changes[c];
        check_refused(&damage, "state: ");
        damage.counts[k] -= changes[c];
      }
    damage.counts[1]++, damage.counts[last]--;
    check_refused(&damage, "rigid/body");
    damage.counts[1]--, damage.counts[last]++;
    finish_damage(&damage);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits_do_not_depend_on_threads),
                                     cmocka_unit_test(test_restored_worlds_go_on_alike),
                                     cmocka_unit_test(test_number_of_samples_changes),
                                     cmocka_unit_test(test_other_bodies_keep_their_samples),
                                     cmocka_unit_test(test_bits_do_not_depend_on_what_memory_held),
                                     cmocka_unit_test(test_failed_changes_leave_whole_skins),
                                     cmocka_unit_test(test_failed_changes_end_the_state_of_the_last_step),
                                     cmocka_unit_test(test_restores_without_memory_can_be_repeated),
                                     cmocka_unit_test(test_samples_that_name_no_body_are_refused),
                                     cmocka_unit_test(test_wrong_numbers_of_samples_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
