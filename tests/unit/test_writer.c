// The thread that writes: order, waiting, failures.
#include "base/core.h"
#include "io/writer.h"
#include "support/check.h"

#include <stdlib.h>
#include <time.h>

typedef struct Task {
  int number;
  bool fails;
} Task;

static int done[1000], n_done,
    n_released; // touched by one thread at a time: the writer's, or ours after a wait

static FloStatus do_task(void *data, FloError *error) {
  const Task *task = data;
  if (task->number % 7 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  if (task->fails) return flo_fail(error, FLO_IO_FAILED, "task %d failed", task->number);
  done[n_done++] = task->number;
  return FLO_OK;
}

static void release_task(void *data) {
  n_released++;
  free(data);
}

static FloStatus post(FloWriter *writer, int number, bool fails, FloError *error) {
  Task *task = malloc(sizeof *task);
  *task = (Task){number, fails};
  return flo_writer_post(writer, (FloJob){do_task, release_task, task}, error);
}

static FloWriter *start(void) {
  FloWriter *writer;
  FloError error;
  n_done = n_released = 0;
  assert_ok(flo_writer_start(&writer, &error), &error);
  return writer;
}

static void test_jobs_are_done_in_order(void **state) {
  (void)state;
  FloWriter *writer = start();
  FloError error;
  for (int k = 0; k < 300; ++k) assert_ok(post(writer, k, false, &error), &error);
  assert_ok(flo_writer_wait(writer, &error), &error);
  assert_int_equal(n_done, 300);
  assert_int_equal(n_released, 300);
  for (int k = 0; k < 300; ++k) assert_int_equal(done[k], k);
  flo_writer_stop(writer);
}

static void test_stopping_does_what_is_waiting(void **state) {
  (void)state;
  FloWriter *writer = start();
  FloError error;
  for (int k = 7; k < 10; ++k) assert_ok(post(writer, k, false, &error), &error);
  flo_writer_stop(writer);
  assert_int_equal(n_done, 3);
}

static void test_nothing_is_written_after_a_failure(void **state) {
  (void)state;
  FloWriter *writer = start();
  FloError error;
  assert_ok(post(writer, 1, false, &error), &error);
  post(writer, 2, true, NULL);
  for (int k = 3; k < 20; ++k) post(writer, k, false, NULL);
  assert_int_equal(flo_writer_wait(writer, &error), FLO_IO_FAILED);
  assert_string_equal(error.text, "task 2 failed");
  assert_int_equal(post(writer, 20, false, &error), FLO_IO_FAILED);
  assert_string_equal(error.text, "task 2 failed");
  flo_writer_stop(writer);
  assert_int_equal(n_done, 1);
  assert_int_equal(n_released, 20);
}

static void test_stopping_nothing_is_fine(void **state) {
  (void)state;
  flo_writer_stop(NULL);
  flo_writer_stop(start());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jobs_are_done_in_order),
      cmocka_unit_test(test_stopping_does_what_is_waiting),
      cmocka_unit_test(test_nothing_is_written_after_a_failure),
      cmocka_unit_test(test_stopping_nothing_is_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
