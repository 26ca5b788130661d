// Files of bodies: safe names, closed meshes of the right volume, poses that can be cut off and gone on with.
#include "geometry/mesh_io.h"
#include "io/body_files.h"
#include "support/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[64];

static FloStatus remove_one(const char *name, void *context, FloError *error) {
  (void)context;
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(folder, name, path, error));
  return remove(path) == 0 ? FLO_OK : FLO_IO_FAILED;
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-bodies-XXXXXX");
  assert_non_null(mkdtemp(folder));
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  flo_folder_visit(folder, remove_one, NULL, NULL);
  return rmdir(folder);
}

// ---- Names ----

static void names_are_safe_and_different(void **state) {
  (void)state;
  static const char *const given[] = {"tank",  "a/b",         "a\\b",       "a b", "Kübel",
                                      "Tank",  "../../etc/x", "mill: door", "",    "body-2",
                                      "a_b-2", "\xff\x01\n",  "x.y-z_0"};
  static const char *const wanted[] = {
      "body_tank.ply",    "body_a_b.ply",         "body_a_b-2.ply",      "body_a_b-3.ply", "body_K__bel.ply",
      "body_Tank-2.ply",  "body_.._.._etc_x.ply", "body_mill__door.ply", "body_.ply",      "body_body-2.ply",
      "body_a_b-2-2.ply", "body____.ply",         "body_x.y-z_0.ply"};
  enum { N = FLO_COUNT_OF(given) };
  FloSceneBody bodies[N] = {0};
  FloScene scene = {.bodies = bodies, .n_bodies = N};
  char names[N][FLO_BODY_FILE_SIZE];
  for (size_t k = 0; k < N; k++) snprintf(bodies[k].name, sizeof bodies[k].name, "%s", given[k]);
  flo_body_files_name(&scene, names);
  for (size_t k = 0; k < N; k++) assert_string_equal(names[k], wanted[k]);
}

static void the_longest_name_fits(void **state) {
  (void)state;
  FloSceneBody bodies[3] = {0};
  FloScene scene = {.bodies = bodies, .n_bodies = 3};
  char names[3][FLO_BODY_FILE_SIZE];
  for (size_t k = 0; k < 3; k++) memset(bodies[k].name, 'n', sizeof bodies[k].name - 1);
  flo_body_files_name(&scene, names);
  assert_int_equal(strlen(names[0]), 5 + 63 + 4);
  assert_int_equal(strlen(names[2]), 5 + 63 + 2 + 4);
}

// ---- Triangles ----

typedef struct Solid {
  FloShape shape;
  double volume;    // [m^3]
  double tolerance; // of round shapes, as a share
} Solid;

static void expect_solid(const char *name, const Solid *solid) {
  char path[FLO_PATH_SIZE];
  FloMemory memory;
  FloMesh mesh;
  FloMeshReport report;
  FloError error;
  flo_memory_init(&memory, &(FloAllocator){0});
  flo_mesh_init(&mesh, &memory);
  assert_ok(flo_path_join(folder, name, path, &error), &error);
  assert_ok(flo_mesh_read(path, &mesh, &error), &error);
  assert_ok(flo_mesh_inspect(&mesh, &report, &error), &error);
  assert_int_equal(report.n_boundary_edges, 0);
  assert_close(report.signed_volume, solid->volume, solid->tolerance * solid->volume);
  flo_mesh_free(&mesh);
}

static void check_solids(int dim, const Solid *solids, size_t n) {
  FloSceneBody bodies[8] = {0};
  FloScene scene = {.bodies = bodies, .n_bodies = n, .world = {.dim = dim, .spacing = 0.1}};
  FloError error;
  char names[8][FLO_BODY_FILE_SIZE];
  for (size_t k = 0; k < n; k++) {
    snprintf(bodies[k].name, sizeof bodies[k].name, "body %zu", k);
    bodies[k].def.shape = solids[k].shape;
    bodies[k].def.pose.position[0] = 100; // of no consequence: the files are in the bodies' frames
  }
  assert_ok(flo_body_files_write_meshes(folder, &scene, &error), &error);
  flo_body_files_name(&scene, names);
  for (size_t k = 0; k < n; k++) expect_solid(names[k], &solids[k]);
}

static void solids_have_their_volume(void **state) {
  (void)state;
  const Solid solids[] = {
      {{.kind = FLO_SHAPE_BOX, .size = {1, 2, 3}}, 6, 1e-6},
      {{.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, FLO_PI / 6, 0.01},
      {{.kind = FLO_SHAPE_CYLINDER, .radius = 0.5, .size = {2}}, FLO_PI / 2, 0.01},
      // Walls of one spacing around 1 x 1 x 1, open at the top.
      {{.kind = FLO_SHAPE_TANK, .size = {1, 1, 1}, .up = 2}, 1.2 * 1.2 * 1.1 - 1, 1e-5},
      {{.kind = FLO_SHAPE_TORUS, .radius = 1, .radius2 = 0.25}, 2 * FLO_PI * FLO_PI / 16, 0.03},
  };
  check_solids(3, solids, FLO_COUNT_OF(solids));
}

// One spacing deep.
static void flat_bodies_are_slabs(void **state) {
  (void)state;
  const Solid solids[] = {
      {{.kind = FLO_SHAPE_BOX, .size = {1, 2}}, 0.2, 1e-6},
      {{.kind = FLO_SHAPE_SPHERE, .radius = 0.5}, 0.1 * FLO_PI / 4, 0.01},
      {{.kind = FLO_SHAPE_TANK, .size = {1, 2}, .up = 1}, 0.1 * (1.2 * 2.1 - 2), 1e-5},
      {{.kind = FLO_SHAPE_TANK, .size = {1, 2}, .up = 0}, 0.1 * (1.1 * 2.2 - 2), 1e-5},
      {{.kind = FLO_SHAPE_TANK, .size = {1, 2}, .up = 1, .closed = true}, 0.1 * (1.2 * 2.2 - 2), 1e-5},
  };
  check_solids(2, solids, FLO_COUNT_OF(solids));
}

static void bad_shapes_and_folders_are_named(void **state) {
  (void)state;
  FloSceneBody body = {.name = "blob", .def = {.shape = {.kind = FLO_SHAPE_SPHERE, .radius = NAN}}};
  FloScene scene = {.bodies = &body, .n_bodies = 1, .world = {.dim = 3, .spacing = 0.1}};
  FloError error;
  assert_refused(flo_body_files_write_meshes(folder, &scene, &error), &error,
                 "cannot make triangles of the body 'blob'");
  body.def.shape.radius = 1;
  assert_fails(flo_body_files_write_meshes("/nowhere", &scene, &error), FLO_IO_FAILED, &error,
               "/nowhere/body_blob.ply");
  scene.n_bodies = 0;
  assert_ok(flo_body_files_write_meshes("/nowhere", &scene, &error), &error);
}

// ---- Poses ----

typedef struct Poses {
  FloSceneBody bodies[2];
  FloScene scene;
  FloFrameBody placed[2];
  FloBodyFiles files;
} Poses;

static void set_up(Poses *poses) {
  FloError error;
  *poses = (Poses){.scene = {.n_bodies = 2}};
  poses->scene.bodies = poses->bodies;
  strcpy(poses->bodies[0].name, "tank");
  strcpy(poses->bodies[1].name, "a \"mill\", big");
  for (int k = 0; k < 2; k++)
    poses->placed[k] =
        (FloFrameBody){.name = poses->bodies[k].name, .state.pose = {{1.0 / 3, 2, 3}, {0.1, 0.2, 0.3, 0.9}}};
  poses->placed[1].state.mean_torque[2] = -4e-20;
  assert_ok(flo_body_files_open(&poses->files, folder, 0, &error), &error);
}

static void add(Poses *poses, size_t frame) {
  FloError error;
  assert_ok(flo_body_files_add_poses(&poses->files, frame, 0.125 * (double)frame, poses->placed, 2, &error),
            &error);
}

static char *read_poses(size_t *size) {
  char path[FLO_PATH_SIZE], *text;
  FloError error;
  assert_ok(flo_path_join(folder, "bodies.csv", path, &error), &error);
  assert_ok(flo_file_read(path, &text, size, &error), &error);
  return text;
}

static void rows_have_all_columns(void **state) {
  (void)state;
  Poses poses;
  size_t size;
  set_up(&poses);
  add(&poses, 0);
  add(&poses, 3);
  char *text = read_poses(&size); // flushed, though the file is still open
  assert_string_equal(
      text,
      "frame,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz\n"
      "0,0,tank,0.3333333333333333,2,3,0.9,0.1,0.2,0.3,0,0,0,0,0,0,0,0,0,0,0,0\n"
      "0,0,\"a \"\"mill\"\", big\",0.3333333333333333,2,3,0.9,0.1,0.2,0.3,0,0,0,0,0,0,0,0,0,0,0,-4e-20\n"
      "3,0.375,tank,0.3333333333333333,2,3,0.9,0.1,0.2,0.3,0,0,0,0,0,0,0,0,0,0,0,0\n"
      "3,0.375,\"a \"\"mill\"\", "
      "big\",0.3333333333333333,2,3,0.9,0.1,0.2,0.3,0,0,0,0,0,0,0,0,0,0,0,-4e-20\n");
  assert_int_equal(poses.files.file.size, size);
  free(text);
  flo_body_files_close(&poses.files);
  flo_body_files_close(&poses.files);
}

// A run that was interrupted and resumed from an earlier frame writes the same file as one that was not.
static void a_resumed_file_is_the_same(void **state) {
  (void)state;
  Poses poses;
  size_t size, size_again;
  FloError error;
  set_up(&poses);
  for (size_t k = 0; k < 5; k++) add(&poses, k);
  flo_body_files_close(&poses.files);
  char *whole = read_poses(&size);

  set_up(&poses);
  add(&poses, 0);
  add(&poses, 1);
  uint64_t kept = poses.files.file.size;
  add(&poses, 77);
  assert_int_equal(write(poses.files.file.descriptor, "78,0.1,half a li", 16), 16);
  flo_body_files_close(&poses.files);
  assert_ok(flo_body_files_open(&poses.files, folder, kept, &error), &error);
  assert_int_equal(poses.files.file.size, kept);
  for (size_t k = 2; k < 5; k++) add(&poses, k);
  flo_body_files_close(&poses.files);
  char *again = read_poses(&size_again);
  assert_int_equal(size, size_again);
  assert_memory_equal(whole, again, size);
  free(whole);
  free(again);
}

static void wrong_offsets_are_refused(void **state) {
  (void)state;
  Poses poses;
  FloError error;
  set_up(&poses);
  add(&poses, 0);
  uint64_t end = poses.files.file.size;
  flo_body_files_close(&poses.files);
  const uint64_t wrong[] = {1, 20, end - 1, end + 1, end + 1000, UINT64_MAX / 2};
  for (size_t k = 0; k < FLO_COUNT_OF(wrong); k++) {
    assert_refused(flo_body_files_open(&poses.files, folder, wrong[k], &error), &error, "bodies.csv");
    assert_false(poses.files.file.is_open);
  }
  size_t size;
  free(read_poses(&size));
  assert_int_equal(size, end); // untouched
  assert_fails(flo_body_files_open(&poses.files, "/nowhere", 0, &error), FLO_IO_FAILED, &error,
               "/nowhere/bodies.csv");
  remove_one("bodies.csv", NULL, NULL);
  assert_refused(flo_body_files_open(&poses.files, folder, end, &error), &error, "is missing; restore it");
}

// A limit on the size of files, in the middle of a row, stands for a full disk.
static void a_full_disk_leaves_whole_rows(void **state) {
  (void)state;
  Poses poses;
  FloError error;
  struct rlimit before, limit;
  size_t size, size_after;
  set_up(&poses);
  for (size_t k = 0; k < 4; k++) add(&poses, k);
  char *whole = read_poses(&size);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = (struct rlimit){.rlim_cur = size + 7, .rlim_max = before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  for (size_t k = 4; k < 7; k++)
    assert_fails(flo_body_files_add_poses(&poses.files, k, 0, poses.placed, 2, &error), FLO_IO_FAILED, &error,
                 "bodies.csv: cannot write: File too large");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(poses.files.file.size, size);
  // Room again: nothing that failed before comes out now.
  flo_body_files_close(&poses.files);
  char *after = read_poses(&size_after);
  assert_int_equal(size_after, size);
  assert_memory_equal(after, whole, size);
  free(whole);
  free(after);
}

static void the_last_frame_can_be_taken_back(void **state) {
  (void)state;
  Poses poses;
  FloError error;
  set_up(&poses);
  add(&poses, 0);
  uint64_t kept = poses.files.file.size;
  add(&poses, 1);
  assert_true(poses.files.file.size > kept);
  assert_ok(flo_body_files_drop_poses(&poses.files, &error), &error);
  assert_int_equal(poses.files.file.size, kept);
  flo_body_files_close(&poses.files);
  assert_ok(flo_body_files_check(folder, kept, &error), &error);
  assert_refused(flo_body_files_check(folder, kept + 1, &error), &error, "no row ends");
}

// ---- Reading ----

static void poses_come_back(void **state) {
  (void)state;
  Poses poses;
  FloBodyTable table;
  FloError error;
  set_up(&poses);
  for (size_t k = 0; k < 3; k++) {
    poses.placed[1].state.velocity[0] = (double)k / 7;
    add(&poses, k);
  }
  assert_int_equal(write(poses.files.file.descriptor, "3,0.1,tank,half a li", 20), 20);
  flo_body_files_close(&poses.files);
  assert_ok(flo_body_table_read(folder, &poses.scene, &table, &error), &error);
  assert_true(table.n_frames == 3 && table.n_bodies == 2 && table.times[2] == 0.25);
  FloBodyState mill = flo_body_table_state(&table, 2, 1), *known = &poses.placed[1].state;
  assert_memory_equal(&mill.pose, &known->pose, sizeof mill.pose);
  assert_memory_equal(mill.velocity, known->velocity, sizeof mill.velocity);
  assert_memory_equal(mill.mean_torque, known->mean_torque, sizeof mill.mean_torque);
  FloPose first = flo_body_table_pose(&table, 0, 0);
  assert_memory_equal(&first, &known->pose, sizeof first);
  flo_body_table_free(&table);
}

static void refuse_table(const FloScene *scene, const char *text, const char *word) {
  char path[FLO_PATH_SIZE];
  FloBodyTable table;
  FloError error;
  assert_ok(flo_path_join(folder, "bodies.csv", path, &error), &error);
  assert_ok(flo_file_write(path, text, strlen(text), &error), &error);
  assert_refused(flo_body_table_read(folder, scene, &table, &error), &error, word);
  flo_body_table_free(&table);
}

static void strange_tables_are_refused(void **state) {
  (void)state;
  FloSceneBody body = {.name = "tank"};
  FloScene scene = {.bodies = &body, .n_bodies = 1};
  char text[512];
  const char *const rows[] = {"0,0,tonk,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                              "1,0,tank,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                              "0,0,tank,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                              "0,0,tank,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                              "0,0,tank,1,x,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                              "\n",
                              "0,0,\"tank\",1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"};
  for (size_t k = 0; k < FLO_COUNT_OF(rows); k++) {
    snprintf(text, sizeof text, "%s%s", flo_body_files_head, rows[k]);
    refuse_table(&scene, text,
                 "line 2: is not the row of 'tank' at frame 0; restore the original file of the run");
  }
  refuse_table(&scene, "", "line 1: does not name the columns");
  refuse_table(&scene, "frame,time\n", "line 1: does not name the columns");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_safe_and_different),
      cmocka_unit_test(the_longest_name_fits),
      cmocka_unit_test_setup_teardown(solids_have_their_volume, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(flat_bodies_are_slabs, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(bad_shapes_and_folders_are_named, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(rows_have_all_columns, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_resumed_file_is_the_same, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(wrong_offsets_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_rows, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(the_last_frame_can_be_taken_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(poses_come_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(strange_tables_are_refused, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
