// The functions of the second library with good, NULL and odd arguments, and what they give.
#include "flotsam/scenes.h"

#include "support/worlds.h"

#include <string.h>
#include <unistd.h>

static const char scene_text[] =
    "{\"schema_version\": 1, \"title\": \"A drop\", \"shows\": \"a ball of water falls into a tank\", "
    "\"spacing\": 0.02,"
    " \"duration\": 0.1, \"materials\": {\"water\": {\"density\": 1000, \"viscosity\": 1e-6}},"
    " \"boundaries\": [{\"name\": \"tank\", \"shape\": {\"tank\": [0.4, 0.4, 0.4]}}],"
    " \"fluids\": [{\"material\": \"water\", \"shape\": {\"box\": [0.4, 0.4, 0.1]}, \"corner\": [0, 0, 0]}],"
    " \"events\": [{\"at\": 0.01, \"add\": {\"material\": \"water\", \"shape\": {\"sphere\": 0.06},"
    "              \"at\": [0.2, 0.2, 0.25]}}]}";

static FloScene *load(void) {
  FloError error;
  FloScene *scene;
  assert_ok(flo_scene_load_text("drop.json", scene_text, strlen(scene_text), NULL, &scene, &error), &error);
  return scene;
}

static FloWorld *build(FloScene *scene) {
  FloError error;
  FloWorld *world;
  assert_ok(flo_scene_build(scene, &world, &error), &error);
  return world;
}

static void test_scenes_are_loaded_and_advanced(void **state) {
  (void)state;
  FloError error;
  FloSceneInfo info;
  FloStepInfo step;
  FloScene *scene = load(), *none;
  FloWorld *world = build(scene), *nothing;
  assert_ok(flo_scene_info(scene, &info, &error), &error);
  assert_string_equal(info.title, "A drop");
  assert_close(info.spacing, 0.02, 0);
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  assert_ok(flo_scene_advance(scene, world, 0.005, &step, &error), &error);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), n);
  assert_ok(flo_scene_advance(scene, world, 0.02, NULL, &error), &error);
  assert_true(flo_world_count(world, FLO_SET_FLUID) > n + 80); // the event has added a ball
  assert_close(flo_world_time(world), 0.02, 0);
  assert_refused(flo_scene_info(NULL, &info, &error), &error, "scene");
  assert_refused(flo_scene_info(scene, NULL, &error), &error, "info");
  assert_refused(flo_scene_advance(NULL, world, 1, NULL, &error), &error, "scene");
  assert_refused(flo_scene_advance(scene, NULL, 1, NULL, &error), &error, "world");
  assert_refused(flo_scene_advance(scene, world, NAN, NULL, &error), &error, "finite");
  assert_refused(flo_scene_build(NULL, &nothing, &error), &error, "scene");
  assert_refused(flo_scene_build(scene, NULL, &error), &error, "world");
  assert_refused(flo_scene_load(NULL, NULL, &none, &error), &error, "path");
  assert_refused(flo_scene_load("x.json", NULL, NULL, &error), &error, "scene");
  assert_true(flo_scene_load("/nowhere/x.json", NULL, &none, &error) != FLO_OK);
  assert_null(none);
  assert_refused(flo_scene_load_text(NULL, "{}", 2, NULL, &none, &error), &error, "path");
  assert_refused(flo_scene_load_text("x", NULL, 7, NULL, &none, &error), &error, "x");
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  flo_scene_destroy(NULL);
}

static void test_meshes_are_read(void **state) {
  (void)state;
  FloError error;
  FloTriangles triangles;
  char path[] = "/tmp/flotsam-mesh-XXXXXX";
  static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
  const int file = mkstemp(path);
  assert_int_equal(write(file, obj, sizeof obj - 1), sizeof obj - 1);
  close(file);
  assert_ok(flo_triangles_read(path, &triangles, &error), &error);
  assert_int_equal(triangles.n_vertices, 4);
  assert_int_equal(triangles.n_triangles, 4);
  FloWorld *world = empty_world(3);
  FloBodyDef def = flo_default_body_def();
  def.shape = (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &triangles};
  add_body(world, &def);
  flo_world_destroy(world);
  flo_triangles_free(&triangles);
  flo_triangles_free(&triangles);
  flo_triangles_free(NULL);
  assert_refused(flo_triangles_read(NULL, &triangles, &error), &error, "path");
  assert_refused(flo_triangles_read(path, NULL, &error), &error, "triangles");
  unlink(path);
  assert_true(flo_triangles_read(path, &triangles, &error) != FLO_OK);
}

static void test_the_surface_of_the_present_moment(void **state) {
  (void)state;
  FloError error;
  FloFluidSurface surface, empty;
  FloFluidSurfaceDef def = {.cell = 0.4, .smoothing = 0};
  FloWorld *world = empty_world(3), *flat = empty_world(2);
  assert_ok(flo_world_surface(world, NULL, &empty, &error), &error);
  assert_int_equal(empty.n_triangles, 0);
  flo_fluid_surface_free(&empty);
  add_block(world, add_water(world), (const double[3]){0}, (const double[3]){0.2, 0.2, 0.2});
  assert_ok(flo_world_surface(world, &def, &surface, &error), &error);
  print_message("the surface of 8 litres holds %.4f litres\n", 1000 * surface.volume);
  assert_true(fabs(surface.volume / 0.008 - 1) < 0.05);
  assert_true(surface.n_triangles > 1000 &&
              surface.n_vertices * 2 == surface.n_triangles + 4); // a closed ball
  flo_fluid_surface_free(&surface);
  flo_fluid_surface_free(NULL);
  def.cell = NAN;
  assert_refused(flo_world_surface(world, &def, &surface, &error), &error, "cell");
  assert_refused(flo_world_surface(NULL, NULL, &surface, &error), &error, "world");
  assert_refused(flo_world_surface(world, NULL, NULL, &error), &error, "surface");
  assert_fails(flo_world_surface(flat, NULL, &surface, &error), FLO_UNSUPPORTED, &error, "three dimensions");
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

static void test_pictures_are_drawn(void **state) {
  (void)state;
  FloError error;
  FloScene *scene = load();
  FloWorld *world = build(scene);
  char path[] = "/tmp/flotsam-picture-XXXXXX";
  close(mkstemp(path));
  const FloPictureDef small = {.width = 64, .height = 48}, large = {.width = 1 << 20}, odd = {.quality = 9};
  const FloStatus status = flo_scene_draw(scene, world, &small, path, &error);
  assert_true(status == FLO_OK || (status == FLO_UNSUPPORTED && strstr(error.text, "Embree")));
  if (status == FLO_OK) {
    FILE *file = fopen(path, "rb");
    char head[8];
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
    fclose(file);
  }
  unlink(path);
  assert_refused(flo_scene_draw(NULL, world, &small, path, &error), &error, "scene");
  assert_refused(flo_scene_draw(scene, NULL, &small, path, &error), &error, "world");
  assert_refused(flo_scene_draw(scene, world, &small, NULL, &error), &error, "path");
  assert_refused(flo_scene_draw(scene, world, &large, path, &error), &error, "pixels");
  assert_refused(flo_scene_draw(scene, world, &odd, path, &error), &error, "quality");
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenes_are_loaded_and_advanced),
      cmocka_unit_test(test_meshes_are_read),
      cmocka_unit_test(test_the_surface_of_the_present_moment),
      cmocka_unit_test(test_pictures_are_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
