// The store of particles: the field list, adding, permuting, removing, and the hash.
#include "sph/particles.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/fields.h"
#include "support/random.h"

typedef struct Store {
  CountingAllocator counter;
  FloMemory memory;
  FloParticles particles;
} Store;

static void store_init(Store *store, FloSet set, const FloField *extra) {
  store->counter = (CountingAllocator){0};
  FloAllocator allocator = counting_allocator(&store->counter);
  flo_memory_init(&store->memory, &allocator);
  flo_particles_init(&store->particles, set, extra, &store->memory);
}

static void store_free(Store *store) {
  flo_particles_free(&store->particles);
  assert_int_equal(store->memory.bytes, 0);
  assert_int_equal(store->counter.bytes, 0);
  assert_int_equal(store->counter.n_mismatches, 0);
}

// Adds n particles with ids that go on counting, and brands them.
static void store_add(Store *store, size_t n) {
  FloError error;
  FloParticles *p = &store->particles;
  size_t first = p->count;
  assert_ok(flo_particles_add(p, n, &error), &error);
  for (size_t i = first; i < p->count; ++i) p->id[i] = 500 + (uint32_t)i;
  brand_fields(p, "");
}

static const FloField extra_fields[] = {
    {"warmth", FLO_TYPE_F64, FLO_F, true, "K", "temperature", false},
    {"mark", FLO_TYPE_U16, FLO_F | FLO_B, true, "", "a mark", false},
    {"guess", FLO_TYPE_F32, FLO_F, false, "Pa", "computed anew each step", false},
    {0},
};

static size_t count_fields(const FloParticles *particles) {
  size_t n = 0;
  void *data;
  while (flo_particles_field(particles, n, &data)) ++n;
  return n;
}

// ---- The list ----

static bool has_field(const FloParticles *particles, const char *name) {
  void *data;
  const FloField *field;
  for (size_t k = 0; (field = flo_particles_field(particles, k, &data)); ++k)
    if (!strcmp(field->name, name)) return true;
  return false;
}

static void test_each_set_has_the_fields_that_make_sense_for_it(void **state) {
  (void)state;
  Store fluid, boundary;
  store_init(&fluid, FLO_SET_FLUID, NULL);
  store_init(&boundary, FLO_SET_BOUNDARY, NULL);
  assert_true(has_field(&fluid.particles, "x") && has_field(&boundary.particles, "x"));
  assert_true(has_field(&fluid.particles, "mass") && !has_field(&boundary.particles, "mass"));
  assert_true(!has_field(&fluid.particles, "volume") && has_field(&boundary.particles, "volume"));
}

static void test_every_field_is_described_and_named_once(void **state) {
  (void)state;
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    Store store;
    void *data;
    const FloField *field;
    store_init(&store, (FloSet)set, extra_fields);
    for (size_t k = 0; (field = flo_particles_field(&store.particles, k, &data)); ++k) {
      assert_true(strlen(field->name) > 0 && strlen(field->meaning) > 0);
      assert_non_null(field->unit);
      assert_true(field->sets >> set & 1);
      for (size_t other = 0; other < k; ++other)
        assert_string_not_equal(flo_particles_field(&store.particles, other, &data)->name, field->name);
    }
    assert_null(flo_particles_field(&store.particles, 1000, &data));
  }
}

static void test_a_methods_own_fields_come_last(void **state) {
  (void)state;
  Store plain, extended;
  void *data;
  store_init(&plain, FLO_SET_BOUNDARY, NULL);
  store_init(&extended, FLO_SET_BOUNDARY, extra_fields);
  size_t n = count_fields(&plain.particles);
  assert_int_equal(count_fields(&extended.particles), n + 1);
  assert_string_equal(flo_particles_field(&extended.particles, n, &data)->name, "mark");
}

static void test_sizes_of_types(void **state) {
  (void)state;
  assert_int_equal(flo_type_size(FLO_TYPE_F32), sizeof(float));
  assert_int_equal(flo_type_size(FLO_TYPE_F64), sizeof(double));
  assert_int_equal(flo_type_size(FLO_TYPE_U16), sizeof(uint16_t));
  assert_int_equal(flo_type_size(FLO_TYPE_U32), sizeof(uint32_t));
}

// ---- Adding ----

static void check_zero(const FloParticles *particles, size_t first) {
  void *data;
  const FloField *field;
  for (size_t k = 0; (field = flo_particles_field(particles, k, &data)); ++k) {
    size_t size = flo_type_size(field->type);
    for (size_t byte = first * size; byte < particles->count * size; ++byte)
      assert_int_equal(((const char *)data)[byte], 0);
  }
}

static void test_new_particles_are_zero_and_old_ones_stay(void **state) {
  (void)state;
  const size_t steps[] = {1, 1, 14, 16, 33, 1000, 0, 3};
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    Store store;
    FloError error;
    store_init(&store, (FloSet)set, extra_fields);
    for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k) {
      size_t before = store.particles.count;
      assert_ok(flo_particles_add(&store.particles, steps[k], &error), &error);
      assert_int_equal(store.particles.count, before + steps[k]);
      check_zero(&store.particles, before);
      store.particles.count = before;
      check_brands(&store.particles, "");
      store_add(&store, steps[k]);
    }
    store_free(&store);
  }
}

static void test_room_of_removed_particles_is_zeroed_again(void **state) {
  (void)state;
  Store store;
  FloError error;
  store_init(&store, FLO_SET_FLUID, NULL);
  store_add(&store, 100);
  store.particles.count = 10;
  assert_ok(flo_particles_add(&store.particles, 90, &error), &error);
  check_zero(&store.particles, 10);
  store_free(&store);
}

static void test_too_many_particles_are_refused(void **state) {
  (void)state;
  Store store;
  FloError error;
  store_init(&store, FLO_SET_FLUID, NULL);
  store_add(&store, 10);
  size_t calls = store.counter.n_calls;
  assert_refused(flo_particles_add(&store.particles, UINT32_MAX, &error), &error, "too many particles");
  assert_int_equal(store.particles.count, 10);
  assert_int_equal(store.counter.n_calls, calls);
  store_free(&store);
}

// Growth that fails half way must leave a store that can be used, grown again, and given back to the byte.
static void test_a_failed_growth_loses_nothing(void **state) {
  (void)state;
  Store whole;
  store_init(&whole, FLO_SET_FLUID, extra_fields);
  size_t n_fields = count_fields(&whole.particles);
  for (size_t k = 1; k <= n_fields; ++k) {
    Store store;
    FloError error;
    store_init(&store, FLO_SET_FLUID, extra_fields);
    store_add(&store, 100);
    store.counter.fail_at = store.counter.n_calls + k;
    assert_fails(flo_particles_add(&store.particles, 1000, &error), FLO_NO_MEMORY, &error, "memory");
    assert_int_equal(store.particles.count, 100);
    check_brands(&store.particles, "");
    store_add(&store, 1000);
    check_brands(&store.particles, "");
    store_free(&store);
  }
}

static void test_a_failed_growth_is_given_back_to_the_byte(void **state) {
  (void)state;
  for (size_t k = 1; k <= 10; ++k) {
    Store store;
    FloError error;
    store_init(&store, FLO_SET_BOUNDARY, NULL);
    store_add(&store, 100);
    store.counter.fail_at = store.counter.n_calls + k;
    assert_fails(flo_particles_add(&store.particles, 1000, &error), FLO_NO_MEMORY, &error, "memory");
    store_free(&store);
  }
}

// ---- Permuting and removing ----

static void check_permutation(FloSet set, uint32_t n, uint32_t n_kept, int threads) {
  Store store;
  FloError error;
  Random random = {n + (uint64_t)threads};
  uint32_t *order = malloc((n + 1) * sizeof *order), *ids = malloc((n + 1) * sizeof *ids);
  store_init(&store, set, extra_fields);
  store_add(&store, n);
  memcpy(ids, store.particles.id, n * sizeof *ids);
  random_order(&random, order, n);
  assert_ok(flo_particles_permute(&store.particles, order, n_kept, threads, &error), &error);
  assert_int_equal(store.particles.count, n_kept);
  for (uint32_t k = 0; k < n_kept; ++k) assert_int_equal(store.particles.id[k], ids[order[k]]);
  check_brands(&store.particles, "");
  store_free(&store);
  free(order), free(ids);
}

static void test_permuting_moves_every_field(void **state) {
  (void)state;
  for (int set = 0; set < FLO_SET_COUNT; ++set)
    for (int threads = 1; threads <= 3; ++threads) {
      check_permutation((FloSet)set, 1, 1, threads);
      check_permutation((FloSet)set, 17, 17, threads);
      check_permutation((FloSet)set, 5000, 5000, threads);
    }
}

static void test_a_shorter_order_removes(void **state) {
  (void)state;
  check_permutation(FLO_SET_FLUID, 100, 99, 1);
  check_permutation(FLO_SET_FLUID, 5000, 1234, 2);
  check_permutation(FLO_SET_BOUNDARY, 10, 0, 2);
}

static void test_a_permutation_without_memory_changes_nothing(void **state) {
  (void)state;
  Store store;
  FloError error;
  const uint32_t order[] = {4, 3, 2, 1, 0};
  store_init(&store, FLO_SET_FLUID, NULL);
  store_add(&store, 5);
  uint64_t hash = flo_particles_hash(&store.particles);
  store.counter.fail_at = store.counter.n_calls + 1;
  assert_fails(flo_particles_permute(&store.particles, order, 5, 1, &error), FLO_NO_MEMORY, &error, "memory");
  assert_int_equal(store.particles.count, 5);
  assert_int_equal(store.particles.id[0], 500);
  assert_true(flo_particles_hash(&store.particles) == hash);
  store_free(&store);
}

// ---- Hash ----

static void test_the_hash_does_not_depend_on_the_order(void **state) {
  (void)state;
  enum { N = 1000 };
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    Store store;
    FloError error;
    Random random = {9};
    uint32_t order[N];
    store_init(&store, (FloSet)set, extra_fields);
    store_add(&store, N);
    uint64_t hash = flo_particles_hash(&store.particles);
    for (int k = 0; k < 5; ++k) {
      random_order(&random, order, N);
      assert_ok(flo_particles_permute(&store.particles, order, N, 1, &error), &error);
      assert_true(flo_particles_hash(&store.particles) == hash);
    }
    store_free(&store);
  }
}

// Turns over every bit of a field of one particle, one after the other.
static void check_bits(const FloParticles *particles, const FloField *field, char *element) {
  uint64_t hash = flo_particles_hash(particles);
  for (size_t bit = 0; bit < 8 * flo_type_size(field->type); ++bit) {
    element[bit / 8] ^= (char)(1 << bit % 8);
    bool is_same = flo_particles_hash(particles) == hash;
    element[bit / 8] ^= (char)(1 << bit % 8);
    if (is_same == field->is_state)
      fail_msg("bit %zu of '%s' %s the hash", bit, field->name, is_same ? "misses" : "moves");
  }
}

static void test_the_hash_covers_every_bit_of_the_state_and_nothing_else(void **state) {
  (void)state;
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    Store store;
    void *data;
    const FloField *field;
    store_init(&store, (FloSet)set, extra_fields);
    store_add(&store, 20);
    for (size_t k = 0; (field = flo_particles_field(&store.particles, k, &data)); ++k)
      check_bits(&store.particles, field, (char *)data + 7 * flo_type_size(field->type));
    store_free(&store);
  }
}

static void test_the_hash_sees_values_change_hands(void **state) {
  (void)state;
  Store store;
  store_init(&store, FLO_SET_FLUID, NULL);
  store_add(&store, 2);
  uint64_t hash = flo_particles_hash(&store.particles);
  double x = store.particles.x[0];
  store.particles.x[0] = store.particles.x[1], store.particles.x[1] = x;
  assert_true(flo_particles_hash(&store.particles) != hash);
  store.particles.x[1] = store.particles.x[0], store.particles.x[0] = x;
  assert_true(flo_particles_hash(&store.particles) == hash);
  x = store.particles.y[0];
  store.particles.y[0] = store.particles.x[0], store.particles.x[0] = x;
  assert_true(flo_particles_hash(&store.particles) != hash);
  store_free(&store);
}

static void test_the_hash_sees_particles_come_and_go(void **state) {
  (void)state;
  Store store;
  store_init(&store, FLO_SET_FLUID, NULL);
  uint64_t none = flo_particles_hash(&store.particles);
  store_add(&store, 2);
  uint64_t two = flo_particles_hash(&store.particles);
  store.particles.count = 1;
  uint64_t one = flo_particles_hash(&store.particles);
  assert_true(none != one && one != two && none != two);
  store_free(&store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_set_has_the_fields_that_make_sense_for_it),
      cmocka_unit_test(test_every_field_is_described_and_named_once),
      cmocka_unit_test(test_a_methods_own_fields_come_last),
      cmocka_unit_test(test_sizes_of_types),
      cmocka_unit_test(test_new_particles_are_zero_and_old_ones_stay),
      cmocka_unit_test(test_room_of_removed_particles_is_zeroed_again),
      cmocka_unit_test(test_too_many_particles_are_refused),
      cmocka_unit_test(test_a_failed_growth_loses_nothing),
      cmocka_unit_test(test_a_failed_growth_is_given_back_to_the_byte),
      cmocka_unit_test(test_permuting_moves_every_field),
      cmocka_unit_test(test_a_shorter_order_removes),
      cmocka_unit_test(test_a_permutation_without_memory_changes_nothing),
      cmocka_unit_test(test_the_hash_does_not_depend_on_the_order),
      cmocka_unit_test(test_the_hash_covers_every_bit_of_the_state_and_nothing_else),
      cmocka_unit_test(test_the_hash_sees_values_change_hands),
      cmocka_unit_test(test_the_hash_sees_particles_come_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
