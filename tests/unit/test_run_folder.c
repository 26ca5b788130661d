// Run folders: what is refused, what is replaced, what is never touched; frames there and back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timer.h"
#include "io/run_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void put(const char *name, const char *text) {
  char path[FLO_PATH_SIZE];
  assert_int_equal(flo_path_join(folder, name, path, NULL), FLO_OK);
  assert_int_equal(flo_file_write(path, text, strlen(text), NULL), FLO_OK);
}

static bool has(const char *name) {
  char path[FLO_PATH_SIZE];
  flo_path_join(folder, name, path, NULL);
  return flo_file_exists(path);
}

static FloStatus remove_file(const char *name, void *context, FloError *error) {
  (void)context;
  char path[FLO_PATH_SIZE];
  FloStatus status = flo_path_join(folder, name, path, error);
  remove(path);
  return status;
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-run-XXXXXX");
  assert_non_null(mkdtemp(folder));
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  flo_folder_visit(folder, remove_file, NULL, NULL);
  return rmdir(folder);
}

static void open_and_close(bool replace) {
  FloRunFolder *run;
  FloError error;
  assert_int_equal(flo_run_folder_open(folder, replace, &run, &error), FLO_OK);
  flo_run_folder_note(run, "hello");
  flo_run_folder_close(run);
}

static void full_folders_are_refused(void **state) {
  (void)state;
  FloRunFolder *run;
  FloError error;
  put("notes.txt", "mine");
  assert_int_equal(flo_run_folder_open(folder, false, &run, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "not empty"));
  assert_false(has("log.txt"));
}

static void foreign_files_with_our_names_are_refused(void **state) {
  (void)state;
  FloRunFolder *run;
  FloError error;
  put("scene.json", "{}");
  put("log.txt", "a log of something else\n");
  assert_int_equal(flo_run_folder_open(folder, true, &run, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "did not write"));
  assert_true(has("scene.json"));
}

static void only_our_files_are_replaced(void **state) {
  (void)state;
  open_and_close(false);
  const char *ours[] = {"scene.json",          "series.csv",
                        "summary.json",        "run.pvd",
                        "picture.png",         "picture_0003.png",
                        "particles_12345.vtp", "body_tank.ply.5.tmp",
                        "run.pvd.77.tmp",      "particles_0001.vtp.9.tmp"};
  const char *others[] = {"notes.txt",           "particles_.vtp",      "particles_1.vtp.bak",
                          "picture_a.png",       "particles_notes.txt", "particles_1.vtp",
                          "particles_00001.vtp", "picture_007.png",     "body_mine.ply",

                          "my_picture.png",      "scene.json~",         "scene.json.tmp",
                          "scene.json.x.tmp"};
  for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++) put(ours[k], "x");
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) put(others[k], "x");
  open_and_close(true);
  for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++) assert_false(has(ours[k]));
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) assert_true(has(others[k]));
}

static FloWorld *make_world(void) {
  FloWorldDef def = flo_default_world_def();
  FloMaterialDef water = flo_default_material_def();
  FloMaterialId material;
  FloWorld *world;
  assert_int_equal(flo_world_create(&def, &world, NULL), FLO_OK);
  assert_int_equal(flo_world_add_material(world, &water, &material, NULL), FLO_OK);
  const double positions[] = {0, 0, 0, 0.5, 0.25, 0.125};
  const float velocities[] = {1, 2, 3, -1, -2, -3};
  assert_int_equal(flo_world_add_particles(world, material, 2, positions, velocities, NULL), FLO_OK);
  return world;
}

// ---- The list of frames, and what is on disk: every rename and fsync of this program is counted ----

static size_t n_lists, n_syncs;
static char synced[64][FLO_PATH_SIZE]; // the latest of them

int rename(const char *from, const char *to) {
  n_lists += strstr(to, "run.pvd") != NULL;
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int fsync(int descriptor) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t n = readlink(link, synced[n_syncs % 64], FLO_PATH_SIZE - 1);
  synced[n_syncs++ % 64][n < 0 ? 0 : n] = 0;
  return 0;
}

static size_t count_listed(void) {
  char path[FLO_PATH_SIZE], *text;
  size_t size, n = 0;
  flo_path_join(folder, "run.pvd", path, NULL);
  assert_int_equal(flo_file_read(path, &text, &size, NULL), FLO_OK);
  for (const char *at = text; (at = strstr(at, "<DataSet")); at++) n++;
  free(text);
  return n;
}

static void the_list_is_not_written_for_every_frame(void **state) {
  (void)state;
  enum { N = 300 };
  FloWorld *world = make_world();
  FloRunFolder *run;
  FloFrame frame;
  assert_int_equal(flo_run_folder_open(folder, false, &run, NULL), FLO_OK);
  assert_int_equal(flo_frame_take(NULL, world, 0, FLO_FRAME_PARTICLES, &frame, NULL), FLO_OK);
  n_lists = 0;
  double began = flo_seconds();
  for (size_t k = 1; k <= N; k++) {
    frame.time = 0.5 * (double)k;
    assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
    assert_true(count_listed() >= 1 && count_listed() <= k);
  }
  assert_true((double)n_lists <= 1 + (flo_seconds() - began));
  assert_int_equal(flo_run_folder_list_frames(run, NULL), FLO_OK);
  assert_int_equal(count_listed(), N);
  size_t before = n_lists;
  assert_int_equal(flo_run_folder_list_frames(run, NULL), FLO_OK);
  assert_int_equal(n_lists, before); // it is up to date
  flo_run_folder_close(run);
  flo_frame_free(&frame);
  flo_world_destroy(world);
}

static bool was_synced(const char *name, size_t first) {
  for (size_t k = first; k < n_syncs; k++) {
    const char *slash = strrchr(synced[k % 64], '/');
    if (slash && strcmp(slash + 1, name) == 0) return true;
  }
  return false;
}

static void frames_are_brought_to_disk_once(void **state) {
  (void)state;
  FloWorld *world = make_world();
  FloRunFolder *run;
  FloFrame frame;
  size_t before = n_syncs;
  assert_int_equal(flo_run_folder_open(folder, false, &run, NULL), FLO_OK);
  assert_true(was_synced("log.txt", before));
  assert_int_equal(flo_frame_take(NULL, world, 0, FLO_FRAME_PARTICLES, &frame, NULL), FLO_OK);
  for (int k = 0; k < 3; k++) assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
  size_t first = n_syncs;
  assert_int_equal(flo_run_folder_sync(run, NULL), FLO_OK);
  assert_int_equal(count_listed(), 3);
  assert_true(was_synced("particles_0000.vtp", first) && was_synced("particles_0002.vtp", first));
  assert_true(was_synced("run.pvd", first));
  // The folder comes last: then the names of all these files are in it.
  assert_string_equal(strrchr(synced[(n_syncs - 1) % 64], '/'), strrchr(folder, '/'));
  assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
  assert_int_equal(flo_run_folder_replace_frame(run, &frame, NULL), FLO_OK);
  assert_int_equal(flo_run_folder_count_frames(folder), 4);
  first = n_syncs;
  assert_int_equal(flo_run_folder_sync(run, NULL), FLO_OK);
  assert_true(was_synced("particles_0003.vtp", first) && !was_synced("particles_0002.vtp", first));
  // Written anew, it is brought to disk anew.
  assert_int_equal(flo_run_folder_replace_frame(run, &frame, NULL), FLO_OK);
  first = n_syncs;
  assert_int_equal(flo_run_folder_sync(run, NULL), FLO_OK);
  assert_true(was_synced("particles_0003.vtp", first));
  flo_run_folder_close(run);
  flo_frame_free(&frame);
  flo_world_destroy(world);
}

// What comes behind the frames that are good goes, and the list with it where there are none.
static void going_on_lists_only_frames_that_are_there(void **state) {
  (void)state;
  FloWorld *world = make_world();
  FloFrame frame;
  assert_int_equal(flo_frame_take(NULL, world, 0, FLO_FRAME_PARTICLES, &frame, NULL), FLO_OK);
  for (size_t kept = 0; kept <= 2; kept += 2) {
    FloRunFolder *run;
    bool is_whole;
    assert_int_equal(flo_run_folder_open(folder, true, &run, NULL), FLO_OK);
    for (int k = 0; k < 3; k++) assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
    assert_int_equal(flo_run_folder_list_frames(run, NULL), FLO_OK);
    put("picture.png", "of the end");
    flo_run_folder_close(run);
    assert_int_equal(flo_run_folder_take(folder, &run, NULL), FLO_OK);
    assert_int_equal(flo_run_folder_check_frames(run, kept, &is_whole, NULL), FLO_OK);
    assert_true(is_whole);
    assert_int_equal(flo_run_folder_check_frames(run, 4, &is_whole, NULL), FLO_BAD_INPUT);
    assert_int_equal(flo_run_folder_go_on(run, kept, (const double[]){0, 1}, NULL), FLO_OK);
    assert_int_equal(flo_run_folder_count_frames(folder), kept);
    assert_int_equal(has("run.pvd"), kept > 0);
    if (kept) assert_int_equal(count_listed(), kept);
    assert_false(has("picture.png"));
    flo_run_folder_close(run);
  }
  flo_frame_free(&frame);
  flo_world_destroy(world);
}

static void cut_off_frames_are_noticed(void **state) {
  (void)state;
  FloWorld *world = make_world();
  FloRunFolder *run;
  FloFrame frame;
  bool is_whole;
  assert_int_equal(flo_frame_take(NULL, world, 0, FLO_FRAME_PARTICLES, &frame, NULL), FLO_OK);
  assert_int_equal(flo_run_folder_open(folder, false, &run, NULL), FLO_OK);
  for (int k = 0; k < 2; k++) assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
  put("particles_0001.vtp", "<VTKFile");
  assert_int_equal(flo_run_folder_check_frames(run, 2, &is_whole, NULL), FLO_OK);
  assert_false(is_whole);
  assert_int_equal(flo_run_folder_check_frames(run, 1, &is_whole, NULL), FLO_OK);
  assert_true(is_whole);
  flo_run_folder_close(run);
  flo_frame_free(&frame);
  flo_world_destroy(world);
}

static void frames_come_back(void **state) {
  (void)state;
  FloWorld *world = make_world();
  FloRunFolder *run;
  FloFrame frame, back;
  char path[FLO_PATH_SIZE];
  assert_int_equal(flo_run_folder_open(folder, false, &run, NULL), FLO_OK);
  assert_int_equal(flo_frame_take(NULL, world, 0, FLO_FRAME_PARTICLES, &frame, NULL), FLO_OK);
  assert_int_equal(frame.count, 2);
  for (int k = 0; k < 3; k++) assert_int_equal(flo_run_folder_add_frame(run, &frame, NULL), FLO_OK);
  assert_int_equal(flo_run_folder_count_frames(folder), 3);
  assert_true(has("run.pvd"));
  assert_int_equal(flo_run_folder_frame_path(folder, 2, path, NULL), FLO_OK);
  assert_int_equal(flo_frame_read_particles(path, &back, NULL), FLO_OK);
  assert_int_equal(back.count, 2);
  assert_memory_equal(back.positions, frame.positions, 6 * sizeof(float));
  assert_memory_equal(back.velocity, frame.velocity, 6 * sizeof(float));
  assert_memory_equal(back.id, frame.id, 2 * sizeof(uint32_t));
  assert_int_equal(back.type[0], FLO_SET_FLUID);
  assert_int_equal(back.material[1], 0);
  assert_int_equal(back.body[1], UINT16_MAX);
  flo_frame_free(&back);
  flo_frame_free(&frame);
  flo_run_folder_close(run);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(full_folders_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(foreign_files_with_our_names_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(only_our_files_are_replaced, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(the_list_is_not_written_for_every_frame, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(frames_are_brought_to_disk_once, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(going_on_lists_only_frames_that_are_there, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(cut_off_frames_are_noticed, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(frames_come_back, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
