// Scenes that take particles from files: what comes into the world, and what the resolved scene says.
#define _XOPEN_SOURCE 700 // realpath
#include "input/scene_texts.h"
#include "io/scene_steps.h"
#include "support/worlds.h"

static char csv[sizeof folder + 32];

static int make_files(void **state) {
  if (make_folder(state)) return -1;
  snprintf(csv, sizeof csv, "%s/start.csv", folder);
  return 0;
}

static int remove_files(void **state) {
  remove(csv);
  return remove_folder(state);
}

static FloScene *load(const char *scene_text, const char *csv_text) {
  FloError error = {0};
  FloScene *scene;
  write_text(file, scene_text);
  write_text(csv, csv_text);
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  return scene;
}

static FloWorld *build(FloScene *scene) {
  FloError error = {0};
  FloWorld *world;
  assert_ok(flo_scene_build(scene, &world, &error), &error);
  return world;
}

static const double *doubles_of(const FloWorld *world, const char *field) {
  FloView view;
  assert_int_equal(flo_world_view(world, FLO_SET_FLUID, field, &view, NULL), FLO_OK);
  assert_int_equal(view.type, FLO_TYPE_F64);
  return view.data;
}

static const float *floats_of(const FloWorld *world, const char *field) {
  FloView view;
  assert_int_equal(flo_world_view(world, FLO_SET_FLUID, field, &view, NULL), FLO_OK);
  assert_int_equal(view.type, FLO_TYPE_F32);
  return view.data;
}

#define POINTS "'particles':[{'material':{},'file':'start.csv'}]"

static void test_particles_are_what_the_file_says(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(POINTS), "x,y,z,vx,vy,vz\n0.1,0.2,0.30000000000000004,1,2,0.1\n-1e-300,5,6,0,0,-3\n");
  FloWorld *world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 2);
  assert_true(doubles_of(world, "x")[0] == 0.1 && doubles_of(world, "x")[1] == -1e-300);
  assert_true(doubles_of(world, "y")[0] == 0.2 && doubles_of(world, "z")[0] == 0.1 + 0.2);
  assert_true(floats_of(world, "vz")[0] == 0.1f && floats_of(world, "vz")[1] == -3);
  assert_close(floats_of(world, "mass")[0], 1000 * pow(0.1, 3), 1e-6);
  assert_int_equal(flo_scene_count_parts(scene), 1);
  FloScenePart part = flo_scene_part(scene, 0);
  assert_string_equal(part.name, "particles0");
  assert_string_equal(part.what, "particles");
  assert_int_equal(part.n_particles, 2);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

static void test_the_resolved_scene_finds_the_file_from_anywhere(void **state) {
  (void)state;
  FloScene *scene = load(FLAT(POINTS), "x,y\n0.5,0.25\n"), *again;
  FloError error = {0};
  char full[FLO_PATH_SIZE];
  assert_non_null(realpath(csv, full));
  assert_non_null(strstr(scene->resolved, full));
  assert_ok(
      flo_scene_load_text("elsewhere/text", scene->resolved, strlen(scene->resolved), NULL, &again, &error),
      &error);
  assert_string_equal(again->resolved, scene->resolved);
  assert_int_equal(again->parts->particles[0].file.count, 1);
  flo_scene_destroy(again);
  flo_scene_destroy(scene);
}

static void test_rows_of_each_material(void **state) {
  (void)state;
  FloScene *scene = load(FLAT("'materials':{'light':{'density':800},'heavy':{'density':1200}},'particles':["
                              "{'material':'heavy','file':'start.csv','rows':'water'},"
                              "{'material':'light','file':'start.csv','rows':'oil'}]"),
                         "x,y,type,material\n1,1,fluid,oil\n2,1,fluid,water\n3,1,boundary,\n4,1,fluid,oil\n");
  FloWorld *world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 3);
  const double *x = doubles_of(world, "x");
  const float *mass = floats_of(world, "mass");
  assert_true(x[0] == 2 && x[1] == 1 && x[2] == 4);
  assert_close(mass[0], 12, 1e-5);
  assert_close(mass[1], 8, 1e-5);
  assert_int_equal(flo_scene_part(scene, 0).n_particles, 1);
  assert_int_equal(flo_scene_part(scene, 1).n_particles, 2);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// A block of 10 x 10 around a single particle in its middle, which no site is nearer to than 0.07.
static void test_other_fluid_leaves_room(void **state) {
  (void)state;
  FloScene *scene = load(FLAT(POINTS "," FLUIDS("{'box':1},'corner':[0,0]")), "x,y\n0.5,0.5\n");
  FloWorld *world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 1 + 100 - 4);
  assert_int_equal(flo_scene_part(scene, 0).n_particles, 96);
  assert_int_equal(flo_scene_part(scene, 1).n_particles, 1);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

static void test_files_of_included_scenes(void **state) {
  (void)state;
  char part[sizeof csv];
  snprintf(part, sizeof part, "%s/part.json", folder);
  write_text(part, "{'particles':[{'material':{},'file':'start.csv'}]}");
  FloScene *scene = load(FLAT("'include':'part.json'," POINTS), "x,y\n1,2\n");
  assert_int_equal(scene->parts->n_particle_files, 2);
  FloWorld *world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 2);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  remove(part);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_particles_are_what_the_file_says),
      cmocka_unit_test(test_the_resolved_scene_finds_the_file_from_anywhere),
      cmocka_unit_test(test_rows_of_each_material),
      cmocka_unit_test(test_other_fluid_leaves_room),
      cmocka_unit_test(test_files_of_included_scenes),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
