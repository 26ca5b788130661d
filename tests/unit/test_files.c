// Files: whole or not at all, with the system's reason in the message.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[FLO_PATH_SIZE];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-files-XXXXXX");
  assert_non_null(mkdtemp(folder));
  return flo_path_join(folder, "file", path, NULL);
}

static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return rmdir(folder); // fails if a temporary file was left behind
}

static void large_files_come_back(void **state) {
  (void)state;
  size_t n = 300000, size;
  char *data = malloc(n), *back;
  for (size_t k = 0; k < n; k++) data[k] = (char)(k * k);
  assert_int_equal(flo_file_write(path, data, n, NULL), FLO_OK);
  assert_int_equal(flo_file_read(path, &back, &size, NULL), FLO_OK);
  assert_int_equal(size, n);
  assert_memory_equal(back, data, n);
  assert_int_equal(back[n], 0);
  free(back);
  free(data);
}

static void old_content_stays_until_the_end(void **state) {
  (void)state;
  FloNewFile file;
  char *text;
  size_t size;
  assert_int_equal(flo_file_write(path, "old", 3, NULL), FLO_OK);
  assert_int_equal(flo_new_file_begin(&file, path, NULL), FLO_OK);
  fputs("new", file.stream);
  assert_int_equal(flo_file_read(path, &text, &size, NULL), FLO_OK);
  assert_string_equal(text, "old");
  free(text);
  flo_new_file_abandon(&file);
  assert_int_equal(flo_file_read(path, &text, &size, NULL), FLO_OK);
  assert_string_equal(text, "old");
  free(text);
}

static void a_failed_rename_is_told_and_cleaned_up(void **state) {
  (void)state;
  FloNewFile file;
  FloError error;
  assert_int_equal(flo_new_file_begin(&file, path, NULL), FLO_OK);
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(flo_new_file_finish(&file, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "directory"));
  assert_false(flo_file_exists(path)); // a folder is no file
}

static void missing_files_are_named(void **state) {
  (void)state;
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_file_read(path, &text, &size, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, path));
  assert_non_null(strstr(error.text, "No such file"));
  assert_int_equal(flo_file_read(folder, &text, &size, &error), FLO_IO_FAILED);
}

static void folders_are_made_with_their_parents(void **state) {
  (void)state;
  char deep[FLO_PATH_SIZE], inner[FLO_PATH_SIZE];
  FloError error;
  flo_path_join(path, "a b", inner, NULL);
  flo_path_join(inner, "c/", deep, NULL);
  assert_int_equal(flo_folder_make(deep, &error), FLO_OK);
  assert_int_equal(flo_folder_make(deep, &error), FLO_OK);
  assert_int_equal(rmdir(deep), 0);
  assert_int_equal(rmdir(inner), 0);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(flo_folder_make("", &error), FLO_BAD_INPUT);
  assert_int_equal(flo_file_write(path, "x", 1, &error), FLO_OK);
  assert_int_equal(flo_folder_make(path, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "is a file"));
}

static void endless_paths_are_refused(void **state) {
  (void)state;
  char long_name[2 * FLO_PATH_SIZE], joined[FLO_PATH_SIZE];
  FloNewFile file;
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  assert_int_equal(flo_path_join("a", long_name, joined, NULL), FLO_BAD_INPUT);
  assert_int_equal(flo_new_file_begin(&file, long_name, NULL), FLO_BAD_INPUT);
  assert_int_equal(flo_folder_make(long_name, NULL), FLO_BAD_INPUT);
}

// FNV-1a of nothing and of "foobar", as its authors publish them.
static void files_are_known_by_their_hash(void **state) {
  (void)state;
  uint64_t hash;
  assert_int_equal(flo_file_write(path, "", 0, NULL), FLO_OK);
  assert_int_equal(flo_file_hash(path, &hash, NULL), FLO_OK);
  assert_true(hash == 0xcbf29ce484222325u);
  assert_int_equal(flo_file_write(path, "foobar", 6, NULL), FLO_OK);
  assert_int_equal(flo_file_hash(path, &hash, NULL), FLO_OK);
  assert_true(hash == 0x85944171f73967e8u);
  remove(path);
  assert_int_equal(flo_file_hash(path, &hash, NULL), FLO_IO_FAILED);
}

static void large_files_are_copied(void **state) {
  (void)state;
  enum { N = 300001 };
  char copy[FLO_PATH_SIZE], *data = malloc(N), *back;
  size_t size;
  uint64_t hash;
  FloError error;
  flo_path_join(folder, "copy", copy, NULL);
  for (size_t k = 0; k < N; k++) data[k] = (char)(k * k / 7);
  assert_int_equal(flo_file_write_durably(path, data, N, NULL), FLO_OK);
  assert_int_equal(flo_file_hash(path, &hash, NULL), FLO_OK);
  assert_int_equal(flo_file_copy_durably(path, copy, hash, &error), FLO_OK);
  assert_int_equal(flo_file_read(copy, &back, &size, NULL), FLO_OK);
  assert_int_equal(size, N);
  assert_memory_equal(back, data, N);
  free(back);
  remove(copy);
  assert_int_equal(flo_file_copy_durably(path, copy, hash ^ 1, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "was changed"));
  assert_false(flo_file_exists(copy));
  free(data);
}

static void copies_that_do_not_fit_leave_nothing(void **state) {
  (void)state;
  char copy[FLO_PATH_SIZE], data[20000] = "";
  uint64_t hash;
  FloError error;
  struct rlimit before, limit;
  flo_path_join(folder, "copy", copy, NULL);
  assert_int_equal(flo_file_write(path, data, sizeof data, NULL), FLO_OK);
  assert_int_equal(flo_file_hash(path, &hash, NULL), FLO_OK);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = (struct rlimit){.rlim_cur = 10000, .rlim_max = before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  FloStatus status = flo_file_copy_durably(path, copy, hash, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "copy: cannot write: File too large"));
  assert_false(flo_file_exists(copy)); // nor is a temporary file: the folder could not be removed
}

static void rows_are_added_and_taken_back(void **state) {
  (void)state;
  FloRowFile file;
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_row_file_open(&file, path, 0, &error), FLO_OK);
  assert_int_equal(flo_row_file_add(&file, "one\ntwo\n", 8, &error), FLO_OK);
  assert_int_equal(flo_row_file_add(&file, "three\n", 6, &error), FLO_OK);
  assert_int_equal(flo_row_file_cut(&file, 4, &error), FLO_OK);
  assert_int_equal(flo_row_file_add(&file, "2\n", 2, &error), FLO_OK);
  assert_int_equal(flo_row_file_sync(&file, &error), FLO_OK);
  flo_row_file_close(&file);
  flo_row_file_close(&file);
  assert_int_equal(flo_row_file_open(&file, path, 4, &error), FLO_OK);
  assert_int_equal(flo_row_file_add(&file, "zwei\n", 5, &error), FLO_OK);
  assert_int_equal(file.size, 9);
  flo_row_file_close(&file);
  assert_int_equal(flo_file_read(path, &text, &size, NULL), FLO_OK);
  assert_string_equal(text, "one\nzwei\n");
  free(text);
  assert_int_equal(flo_row_file_open(&file, folder, 0, &error), FLO_IO_FAILED);
  assert_false(file.is_open);
}

static int sync_errno;

int fsync(int descriptor) {
  errno = sync_errno;
  return descriptor < 0 || sync_errno ? -1 : 0;
}

// A file system that cannot sync is not a reason not to write; a disk that fails is.
static void file_systems_without_sync_are_forgiven(void **state) {
  (void)state;
  static const int forgiven[] = {0, EINVAL, ENOTSUP, EROFS};
  FloError error;
  for (size_t k = 0; k < sizeof forgiven / sizeof *forgiven; k++) {
    sync_errno = forgiven[k];
    assert_int_equal(flo_file_write_durably(path, "text", 4, &error), FLO_OK);
  }
  sync_errno = EIO;
  assert_int_equal(flo_file_write_durably(path, "other", 5, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, strerror(EIO)));
  char *text;
  size_t size;
  assert_int_equal(flo_file_read(path, &text, &size, NULL), FLO_OK);
  assert_string_equal(text, "text");
  free(text);
  sync_errno = 0;
}

static void what_is_not_there_cannot_be_synced(void **state) {
  (void)state;
  FloError error;
  assert_int_equal(flo_file_sync(path, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, path));
  assert_int_equal(flo_folder_sync(path, &error), FLO_IO_FAILED);
  assert_int_equal(flo_folder_sync(folder, &error), FLO_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(large_files_come_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(old_content_stays_until_the_end, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_failed_rename_is_told_and_cleaned_up, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(missing_files_are_named, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(folders_are_made_with_their_parents, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(files_are_known_by_their_hash, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(large_files_are_copied, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(copies_that_do_not_fit_leave_nothing, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(rows_are_added_and_taken_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(file_systems_without_sync_are_forgiven, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_is_not_there_cannot_be_synced, make_folder, remove_folder),
      cmocka_unit_test(endless_paths_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
