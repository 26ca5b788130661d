// Run folders: what is refused, what is replaced, what is never touched; frames there and back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/run_folder.h"

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
  const char *ours[] = {"scene.json",
                        "series.csv",
                        "summary.json",
                        "run.pvd",
                        "picture.png",
                        "picture_0003.png",
                        "particles_12345.vtp",
                        "run.pvd.77.tmp",
                        "particles_0001.vtp.9.tmp"};
  const char *others[] = {"notes.txt",      "particles_.vtp", "particles_1.vtp.bak", "picture_a.png",
                          "my_picture.png", "scene.json~",    "scene.json.tmp",      "scene.json.x.tmp"};
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

static void frames_come_back(void **state) {
  (void)state;
  FloWorld *world = make_world();
  FloRunFolder *run;
  FloSnapshot snapshot, back;
  char path[FLO_PATH_SIZE];
  assert_int_equal(flo_run_folder_open(folder, false, &run, NULL), FLO_OK);
  assert_int_equal(flo_snapshot_take(world, &snapshot, NULL), FLO_OK);
  assert_int_equal(snapshot.count, 2);
  for (int k = 0; k < 3; k++) assert_int_equal(flo_run_folder_add_frame(run, &snapshot, NULL), FLO_OK);
  assert_int_equal(flo_run_folder_count_frames(folder), 3);
  assert_true(has("run.pvd"));
  assert_int_equal(flo_run_folder_frame_path(folder, 2, path, NULL), FLO_OK);
  assert_int_equal(flo_snapshot_read(path, &back, NULL), FLO_OK);
  assert_int_equal(back.count, 2);
  assert_memory_equal(back.positions, snapshot.positions, 6 * sizeof(float));
  assert_memory_equal(back.velocity, snapshot.velocity, 6 * sizeof(float));
  assert_memory_equal(back.id, snapshot.id, 2 * sizeof(uint32_t));
  assert_int_equal(back.type[0], FLO_SET_FLUID);
  assert_int_equal(back.material[1], 0);
  assert_int_equal(back.body[1], UINT16_MAX);
  flo_snapshot_free(&back);
  flo_snapshot_free(&snapshot);
  flo_run_folder_close(run);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(full_folders_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(foreign_files_with_our_names_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(only_our_files_are_replaced, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(frames_come_back, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
