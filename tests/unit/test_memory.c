// Memory of a world: counted, aligned, kept when asked, and failures that lose nothing.
#include "base/memory.h"
#include "support/allocator.h"
#include "support/check.h"

static void test_blocks_are_aligned_and_counted(void **state) {
  (void)state;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  const size_t sizes[] = {1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k) {
    unsigned char *block = flo_memory_allocate(&memory, sizes[k]);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    assert_int_equal(memory.bytes, sizes[k]);
    memset(block, 1, sizes[k]);
    flo_memory_release(&memory, block, sizes[k]);
    assert_int_equal(memory.bytes, 0);
  }
}

static void test_releasing_nothing_is_fine(void **state) {
  (void)state;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  flo_memory_release(&memory, NULL, 100);
  assert_int_equal(memory.bytes, 0);
}

static void test_everything_goes_through_the_hosts_allocator(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, &allocator);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 1000, 0, &error), &error);
  void *block = flo_memory_allocate(&memory, 8);
  assert_non_null(block);
  assert_int_equal(counter.n_calls, 2);
  assert_int_equal(counter.bytes, memory.bytes);
  flo_memory_release(&memory, block, 8);
  flo_buffer_free(&memory, &buffer);
  assert_int_equal(counter.n_blocks, 0);
  assert_int_equal(counter.bytes, 0);
  assert_int_equal(counter.n_mismatches, 0);
}

static void test_a_buffer_grows_and_keeps_what_is_asked(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, NULL);
  for (size_t size = 10; size < 100000; size *= 3) {
    size_t before = buffer.capacity;
    assert_ok(flo_buffer_reserve(&memory, &buffer, size, before, &error), &error);
    assert_true(buffer.capacity >= size);
    for (size_t k = 0; k < before; ++k) assert_int_equal(((unsigned char *)buffer.data)[k], k % 251);
    for (size_t k = 0; k < buffer.capacity; ++k) ((unsigned char *)buffer.data)[k] = (unsigned char)(k % 251);
  }
  flo_buffer_free(&memory, &buffer);
  assert_null(buffer.data);
  assert_int_equal(buffer.capacity, 0);
  assert_int_equal(memory.bytes, 0);
}

static void test_a_buffer_never_shrinks_nor_moves_without_need(void **state) {
  (void)state;
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, NULL);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 5000, 0, &error), &error);
  FloBuffer before = buffer;
  assert_ok(flo_buffer_reserve(&memory, &buffer, 10, 0, &error), &error);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 5000, 5000, &error), &error);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 0, 0, &error), &error);
  assert_ptr_equal(buffer.data, before.data);
  assert_int_equal(buffer.capacity, before.capacity);
  flo_buffer_free(&memory, &buffer);
}

static void test_growth_leaves_room_so_that_it_soon_ends(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, &allocator);
  for (size_t size = 1; size <= 100000; ++size)
    assert_ok(flo_buffer_reserve(&memory, &buffer, size, size - 1, &error), &error);
  assert_true(counter.n_calls < 120);
  flo_buffer_free(&memory, &buffer);
}

static void test_a_failed_growth_keeps_the_old_content(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, &allocator);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 100, 0, &error), &error);
  memset(buffer.data, 7, 100);
  counter.fail_at = 2;
  assert_fails(flo_buffer_reserve(&memory, &buffer, 1000, 100, &error), FLO_NO_MEMORY, &error, "memory");
  for (int k = 0; k < 100; ++k) assert_int_equal(((char *)buffer.data)[k], 7);
  flo_buffer_free(&memory, &buffer);
  assert_int_equal(counter.bytes, 0);
}

static void test_a_failed_growth_that_keeps_nothing_leaves_an_empty_buffer(void **state) {
  (void)state;
  CountingAllocator counter = {.fail_at = 2};
  FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloError error;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, &allocator);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 100, 0, &error), &error);
  assert_fails(flo_buffer_reserve(&memory, &buffer, 1000, 0, &error), FLO_NO_MEMORY, &error, "memory");
  assert_true(buffer.data || buffer.capacity == 0);
  assert_ok(flo_buffer_reserve(&memory, &buffer, 1000, 0, &error), &error);
  flo_buffer_free(&memory, &buffer);
  assert_int_equal(memory.bytes, 0);
  assert_int_equal(counter.bytes, 0);
}

static void test_impossible_sizes_are_out_of_memory_not_an_overflow(void **state) {
  (void)state;
  const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 63, SIZE_MAX / 9 * 8 + 100, SIZE_MAX / 2};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k)
    for (size_t first = 0; first <= 64; first += 64) {
      CountingAllocator counter = {.byte_limit = 1 << 20};
      FloAllocator allocator = counting_allocator(&counter);
      FloMemory memory;
      FloError error;
      FloBuffer buffer = {0};
      flo_memory_init(&memory, &allocator);
      if (first) assert_ok(flo_buffer_reserve(&memory, &buffer, first, 0, &error), &error);
      assert_fails(flo_buffer_reserve(&memory, &buffer, sizes[k], 0, &error), FLO_NO_MEMORY, &error,
                   "memory");
      flo_buffer_free(&memory, &buffer);
    }
}

static void test_the_default_allocator_refuses_impossible_sizes(void **state) {
  (void)state;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  assert_null(flo_memory_allocate(&memory, SIZE_MAX));
  assert_null(flo_memory_allocate(&memory, SIZE_MAX - 100));
  assert_int_equal(memory.bytes, 0);
}

static void test_failures_without_an_error_to_fill(void **state) {
  (void)state;
  CountingAllocator counter = {.fail_at = 1};
  FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloBuffer buffer = {0};
  flo_memory_init(&memory, &allocator);
  assert_int_equal(flo_buffer_reserve(&memory, &buffer, 100, 0, NULL), FLO_NO_MEMORY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_are_aligned_and_counted),
      cmocka_unit_test(test_releasing_nothing_is_fine),
      cmocka_unit_test(test_everything_goes_through_the_hosts_allocator),
      cmocka_unit_test(test_a_buffer_grows_and_keeps_what_is_asked),
      cmocka_unit_test(test_a_buffer_never_shrinks_nor_moves_without_need),
      cmocka_unit_test(test_growth_leaves_room_so_that_it_soon_ends),
      cmocka_unit_test(test_a_failed_growth_keeps_the_old_content),
      cmocka_unit_test(test_a_failed_growth_that_keeps_nothing_leaves_an_empty_buffer),
      cmocka_unit_test(test_impossible_sizes_are_out_of_memory_not_an_overflow),
      cmocka_unit_test(test_the_default_allocator_refuses_impossible_sizes),
      cmocka_unit_test(test_failures_without_an_error_to_fill),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
