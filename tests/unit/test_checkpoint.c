// Checkpoints come back as they were written, and damaged ones are refused.
#include "base/saved.h"
#include "io/checkpoint.h"
#include "io/files.h"
#include "sph/particles.h"
#include "support/worlds.h"

#include <stdlib.h>
#include <unistd.h>

// HDF5 does not release all it has when a file turns out to be damaged.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

static const char path[] = "test_checkpoint.h5";

static FloCheckpoint example(FloState *state) {
  static double times[] = {0, 0.05, 0.1};
  return (FloCheckpoint){.point = {.n_written = 3,
                                   .n_frames = 40,
                                   .until = 2.5,
                                   .next_event = 1,
                                   .series_size = 12345,
                                   .bodies_size = 678,
                                   .wall_seconds = 9.5,
                                   .has_no_pictures = true},
                         .scene = "{ \"title\": \"käse\" }\n",
                         .scene_path = "some where/scene.json",
                         .size = "",
                         .frame_times = times,
                         .state = state};
}

static FloState *save_dam(void) {
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam_of(&def, 2);
  FloState *state = NULL;
  FloError error;
  step_world(world, 12);
  assert_ok(flo_world_save(world, &state, &error), &error);
  flo_world_destroy(world);
  return state;
}

static void write_example(void) {
  FloState *state = save_dam();
  FloCheckpoint checkpoint = example(state);
  FloError error;
  assert_ok(flo_checkpoint_write(path, &checkpoint, &error), &error);
  flo_state_destroy(state);
}

static void test_everything_comes_back(void **unused) {
  (void)unused;
  FloState *state = save_dam();
  FloCheckpoint written = example(state), read;
  FloError error;
  assert_ok(flo_checkpoint_write(path, &written, &error), &error);
  assert_ok(flo_checkpoint_read(path, &read, &error), &error);
  assert_int_equal(read.point.n_written, 3);
  assert_int_equal(read.point.n_frames, 40);
  assert_close(read.point.until, 2.5, 0);
  assert_int_equal(read.point.next_event, 1);
  assert_int_equal(read.point.series_size, 12345);
  assert_int_equal(read.point.bodies_size, 678);
  assert_close(read.point.wall_seconds, 9.5, 0);
  assert_true(read.point.has_no_pictures);
  assert_string_equal(read.scene, written.scene);
  assert_string_equal(read.scene_path, written.scene_path);
  assert_string_equal(read.size, "");
  assert_close(read.frame_times[1], 0.05, 0);
  assert_int_equal(read.state->n_arrays, state->n_arrays);
  for (size_t k = 0; k < state->n_arrays; ++k) {
    const FloStateArray *a = &state->arrays[k], *b = &read.state->arrays[k];
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->count, b->count);
    if (a->count) assert_memory_equal(a->buffer.data, b->buffer.data, a->count * flo_type_size(a->type));
  }
  flo_checkpoint_free(&read);
  flo_state_destroy(state);
  remove(path);
}

static void test_the_pressure_of_a_frame_comes_back(void **unused) {
  (void)unused;
  FloState *state = save_dam();
  float pressure[] = {1.5F, -2, 3e7F};
  FloCheckpoint written = example(state), read;
  FloError error;
  assert_ok(flo_checkpoint_write(path, &written, &error), &error);
  assert_ok(flo_checkpoint_read(path, &read, &error), &error);
  assert_null(read.frame_pressure);
  flo_checkpoint_free(&read);
  for (size_t n = 0; n <= 3; n += 3) { // of no fluid, too
    written.frame_pressure = pressure, written.n_frame_pressure = n;
    assert_ok(flo_checkpoint_write(path, &written, &error), &error);
    assert_ok(flo_checkpoint_read(path, &read, &error), &error);
    assert_non_null(read.frame_pressure);
    assert_int_equal(read.n_frame_pressure, n);
    if (n) assert_memory_equal(read.frame_pressure, pressure, n * sizeof *pressure);
    flo_checkpoint_free(&read);
  }
  flo_state_destroy(state);
  remove(path);
}

// Whatever byte of the file is changed: either the reader notices, or nothing of what it reads has changed.
static void test_damage_is_noticed(void **unused) {
  (void)unused;
  write_example();
  char *data;
  size_t size, n_refused = 0;
  FloError error;
  FloCheckpoint whole, read;
  assert_ok(flo_file_read(path, &data, &size, &error), &error);
  assert_ok(flo_checkpoint_read(path, &whole, &error), &error);
  for (size_t at = 0; at < size; at += size / 300) {
    data[at] ^= 0x20;
    assert_ok(flo_file_write(path, data, size, &error), &error);
    data[at] ^= 0x20;
    if (flo_checkpoint_read(path, &read, &error) != FLO_OK) {
      ++n_refused;
      continue;
    }
    const FloStateArray *a = flo_state_find(whole.state, "fluid/x"),
                        *b = flo_state_find(read.state, "fluid/x");
    if (b && b->count == a->count) assert_memory_equal(a->buffer.data, b->buffer.data, a->count * 8);
    flo_checkpoint_free(&read);
  }
  print_message("%zu of 300 damaged files refused\n", n_refused);
  assert_true(n_refused > 200);
  flo_checkpoint_free(&whole);
  free(data);
  remove(path);
}

static void refuse_file(const void *data, size_t size, const char *word) {
  FloCheckpoint read;
  FloError error;
  assert_ok(flo_file_write(path, data, size, &error), &error);
  assert_refused(flo_checkpoint_read(path, &read, &error), &error, word);
  assert_null(read.state);
  remove(path);
}

static void test_other_files_are_refused(void **unused) {
  (void)unused;
  write_example();
  char *data;
  size_t size;
  FloError error;
  assert_ok(flo_file_read(path, &data, &size, &error), &error);
  refuse_file(data, size / 2, "damaged");
  refuse_file(data, 100, "not a checkpoint");
  refuse_file("", 0, "not a checkpoint");
  refuse_file("hello", 5, "not a checkpoint");
  free(data);
}

static void test_a_missing_file_is_named(void **unused) {
  (void)unused;
  FloCheckpoint read;
  FloError error;
  assert_int_equal(flo_checkpoint_read("nowhere.h5", &read, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "nowhere.h5"));
}

static void test_a_write_that_fails_keeps_the_earlier_file(void **unused) {
  (void)unused;
  FloState *state = save_dam();
  FloCheckpoint checkpoint = example(state);
  FloError error;
  assert_int_equal(flo_checkpoint_write("no such folder/c.h5", &checkpoint, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "no such folder"));
  flo_state_destroy(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_comes_back),
      cmocka_unit_test(test_the_pressure_of_a_frame_comes_back),
      cmocka_unit_test(test_damage_is_noticed),
      cmocka_unit_test(test_other_files_are_refused),
      cmocka_unit_test(test_a_missing_file_is_named),
      cmocka_unit_test(test_a_write_that_fails_keeps_the_earlier_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
