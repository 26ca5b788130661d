// Scenes: outlines, packings, and how boundaries are sampled.
#include "base/vecmath.h"
#include "input/scene_texts.h"
#include "io/scene_steps.h"

static FloScene *load(const char *text) {
  FloError error = {0};
  FloScene *scene, *again;
  write_text(file, text);
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  // What it was resolved to is the same scene.
  assert_ok(flo_scene_load_text("text", scene->resolved, strlen(scene->resolved), NULL, &again, &error),
            &error);
  assert_string_equal(again->resolved, scene->resolved);
  flo_scene_destroy(again);
  return scene;
}

static size_t count_particles(FloScene *scene, FloSet set) {
  FloWorld *world;
  FloError error = {0};
  assert_ok(flo_scene_build(scene, &world, &error), &error);
  size_t n = flo_world_count(world, set);
  flo_world_destroy(world);
  return n;
}

#define ELL "{'outline':{'points':[[0,0],['3*a',0],['3*a','a'],['a','a'],['a','2*a'],[0,'2*a']]}}"

static void test_an_outline_in_the_plane(void **state) {
  (void)state;
  FloScene *scene = load(FLAT(
      "'constants':{'a':1}," FLUIDS(ELL ",'base':[10,0]") ",'boundaries':[{'name':'b','shape':" ELL "}]"));
  const FloFluidDef *fluid = &scene->parts->fluids[0].def;
  assert_int_equal(fluid->shape.kind, FLO_SHAPE_OUTLINE);
  assert_int_equal(fluid->shape.n_points, 6);
  assert_close(fluid->shape.points[2], 3, 0);
  // The middle of the bottom is at x = 1.5 in the outline's own coordinates; without a place those are the
  // world's.
  assert_close_3(fluid->pose.position, ((double[3]){8.5, 0, 0}), 1e-12);
  assert_close_3(scene->bodies[0].def.pose.position, ((double[3]){0, 0, 0}), 0);
  assert_close(flo_scene_shape_volume(&fluid->shape, 2), 4, 1e-12);
  assert_close(flo_scene_shape_surface(&fluid->shape, 2), 10, 1e-12);
  assert_int_equal(count_particles(scene, FLO_SET_FLUID), 400);
  flo_scene_destroy(scene);
}

static void test_a_prism_in_space(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(FLUIDS("{'outline':{'points':[[0,0],[3,0],[3,1],[1,1],[1,2],[0,2]],'depth':0.5}},"
                        "'corner':[1,1,1]")));
  const FloFluidDef *fluid = &scene->parts->fluids[0].def;
  assert_close(fluid->shape.size[0], 0.5, 0);
  assert_close_3(fluid->pose.position, ((double[3]){1, 1, 1.25}), 1e-12);
  assert_close(flo_scene_shape_volume(&fluid->shape, 3), 2, 1e-9);
  assert_close(flo_scene_shape_surface(&fluid->shape, 3), 2 * 4 + 10 * 0.5, 1e-9);
  assert_int_equal(count_particles(scene, FLO_SET_FLUID), 2000);
  flo_scene_destroy(scene);
}

// Each instance has its own outline, and they stand side by side.
static void test_many_outlines(void **state) {
  (void)state;
  FloScene *scene =
      load(FLAT(FLUID ",'boundaries':[{'shape':{'outline':{'points':[[-1,0],['1+i*0',0],[0,0.5]]}},"
                      "'stack':{'columns':3,'rows':2}},"
                      "{'shape':{'outline':{'points':[[0,0],['1+i',0],[0,1]]}},'at':[0,5],"
                      "'grid':{'count':[2,1],'step':[4,0]}}]"));
  assert_int_equal(scene->n_bodies, 8);
  assert_close_3(scene->bodies[0].def.pose.position, ((double[3]){-2, 0, 0}), 1e-12);
  assert_close_3(scene->bodies[5].def.pose.position, ((double[3]){2, 0.5, 0}), 1e-12);
  assert_close(scene->bodies[6].def.shape.points[2], 1, 0);
  assert_close(scene->bodies[7].def.shape.points[2], 2, 0);
  flo_scene_destroy(scene);
}

// A duck is as high as it is, not as its length says.
static void test_meshes_can_be_stacked(void **state) {
  (void)state;
  FloScene *scene = load(BOUNDARIES("{'shape':{'rabbit':2},'stack':{'rows':2}}"));
  double low[3], high[3];
  FloSceneContext context = {.dim = 3};
  assert_int_equal(flo_scene_shape_bounds(&context, &scene->bodies[0].def.shape, low, high), FLO_OK);
  assert_true(high[2] - low[2] > 1);
  assert_close(scene->bodies[1].def.pose.position[2], high[2] - low[2], 1e-12);
  flo_scene_destroy(scene);
}

static void test_packings(void **state) {
  (void)state;
  FloScene *scene = load(
      SCENE("'boundaries':[{'shape':{'tank':[1,1,1]}}],'materials':{'water':{}},"
            "'fluids':[{'material':'water','shape':{'box':0.5},'at':[5,0,0]},"
            "{'material':'water','shape':{'box':0.5},'at':[8,0,0],'packing':'hexagonal'}],"
            "'fills':[{'material':'water','seed':[0.5,0.5,0.2],'level':0.5,'packing':'hexagonal'}],"
            "'events':[{'at':0.5,'add':{'material':'water','shape':{'box':0.5},'packing':'hexagonal'}}]"));
  assert_int_equal(scene->parts->fluids[0].def.packing, FLO_FLUID_CUBIC);
  assert_int_equal(scene->parts->fluids[1].def.packing, FLO_FLUID_HEXAGONAL);
  assert_int_equal(scene->parts->fills[0].def.packing, FLO_FLUID_HEXAGONAL);
  assert_int_equal(scene->parts->added[0].def.packing, FLO_FLUID_HEXAGONAL);
  assert_non_null(strstr(scene->resolved, "\"packing\": \"cubic\""));
  flo_scene_destroy(scene);
}

static void test_samples_of_boundaries(void **state) {
  (void)state;
  FloScene *scene =
      load(BOUNDARIES("{'shape':{'sphere':0.5},'at':[5,0,0]},"
                      "{'shape':{'sphere':0.5},'at':[9,0,0],'relax':true,'inset':'0.1/4','sampling':'3/4',"
                      "'look':'glass'}"));
  assert_false(scene->bodies[0].def.relax);
  assert_close(scene->bodies[0].def.inset, 0, 0);
  assert_true(scene->bodies[1].def.relax);
  assert_close(scene->bodies[1].def.inset, 0.025, 1e-12);
  assert_close(scene->bodies[0].def.sampling, 1, 0);
  assert_close(scene->bodies[1].def.sampling, 0.75, 1e-12);
  assert_string_equal(scene->bodies[1].look, "glass");
  assert_true(count_particles(scene, FLO_SET_BOUNDARY) > 500);
  flo_scene_destroy(scene);
}

static size_t count_attachments(const FloScene *scene, bool that_were_measured) {
  size_t n = 0;
  for (const FloSceneAttachment *a = scene->parts->attachments; a; a = a->next)
    n += a->has_measures || !that_were_measured;
  return n;
}

// However often they are read, shapes that are alike are kept once, and measured once or never.
static void test_shapes_that_are_alike_are_shared(void **state) {
  (void)state;
  FloScene *scene =
      load(BOUNDARIES("{'shape':{'letters':'A'},'at':[0,0,5],'grid':{'count':[10,1,1],'step':[2,1,1]}},"
                      "{'shape':{'outline':{'points':[[0,0],[1,0],[0,1]],'depth':1}},'at':[0,9,0],"
                      "'grid':{'count':[10,1,1],'step':[2,1,1]}},"
                      "{'shape':{'heightfield':{'size':[1,1],'cells':[5,5],'height':'x*y','depth':0.5}},"
                      "'base':[0,0,9],'grid':{'count':[10,1,1],'step':[2,1,1]}}"));
  assert_int_equal(scene->n_bodies, 30);
  assert_int_equal(count_attachments(scene, false), 6);
  assert_int_equal(count_attachments(scene, true), 3);
  assert_ptr_equal(scene->bodies[0].def.shape.text, scene->bodies[9].def.shape.text);
  assert_ptr_equal(scene->bodies[10].def.shape.points, scene->bodies[19].def.shape.points);
  assert_ptr_equal(scene->bodies[20].def.shape.heights, scene->bodies[29].def.shape.heights);
  flo_scene_destroy(scene);
}

// What is measured once is what measuring anew gives, and differs where the shapes do.
static void test_measures_are_of_the_right_shape(void **state) {
  (void)state;
  FloScene *scene = load(BOUNDARIES("{'shape':{'duck':'0.5+0.1*i'},'at':[0,0,5],"
                                    "'grid':{'count':[3,1,1],'step':[2,1,1]}}"));
  FloSceneAttachment *attachments = NULL;
  FloSceneContext context = {.dim = 3, .attachments = &attachments};
  for (int turn = 0; turn < 2; ++turn)
    for (size_t k = 0; k < 3; ++k) {
      const FloShape *shape = &scene->bodies[k].def.shape;
      assert_close(flo_scene_volume(&context, shape), flo_scene_shape_volume(shape, 3), 0);
      assert_close(flo_scene_surface(&context, shape), flo_scene_shape_surface(shape, 3), 0);
    }
  flo_scene_free_attachments(attachments);
  flo_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_outline_in_the_plane),
      cmocka_unit_test(test_a_prism_in_space),
      cmocka_unit_test(test_many_outlines),
      cmocka_unit_test(test_meshes_can_be_stacked),
      cmocka_unit_test(test_shapes_that_are_alike_are_shared),
      cmocka_unit_test(test_measures_are_of_the_right_shape),
      cmocka_unit_test(test_packings),
      cmocka_unit_test(test_samples_of_boundaries),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
