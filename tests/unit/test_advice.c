// What `flotsam check` has to say about a scene: that it speaks where it should, and only there.
#include "base/vecmath.h"
#include "input/scene_texts.h"
#include "io/advice.h"
#include "world.h"

typedef struct Notes {
  char text[4096];
} Notes;

static void keep(void *context, const char *sentence) {
  Notes *notes = context;
  size_t length = strlen(notes->text);
  snprintf(notes->text + length, sizeof notes->text - length, "%s\n", sentence);
}

static void build(const char *text, FloScene **scene, FloWorld **world) {
  FloError error = {0};
  write_text(file, text);
  assert_ok(flo_scene_load(file, NULL, scene, &error), &error);
  assert_ok(flo_scene_build(*scene, world, &error), &error);
}

static Notes notes_of(const char *text) {
  FloScene *scene;
  FloWorld *world;
  Notes notes = {0};
  build(text, &scene, &world);
  flo_advice_give(scene, world, keep, &notes);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  return notes;
}

static void expect_note(const char *text, const char *words) {
  Notes notes = notes_of(text);
  if (!strstr(notes.text, words)) print_error("no '%s' in: %s\nof %s\n", words, notes.text, text);
  assert_non_null(strstr(notes.text, words));
}

static void expect_silence(const char *text) {
  Notes notes = notes_of(text);
  if (notes.text[0]) print_error("unwanted: %s\nof %s\n", notes.text, text);
  assert_string_equal(notes.text, "");
}

// Spacing 0.05 and no gravity, so that only bodies matter.
#define SOLIDS(all)                                                                                          \
  "{'schema_version':1,'spacing':0.05,'duration':1,'gravity':[0,0,0],'fluids':[{'material':{},'shape':"      \
  "{'box':0.2},'at':[9,9,9]}],'boundaries':[" all "]}"

#define A(shape, x) "{'name':'a','shape':" shape ",'at':[" x ",0,0]}"
#define B(shape, x) "{'name':'b','shape':" shape ",'at':[" x ",0,0]}"

// ---- Pairs ----

static void test_overlap_is_seen_in_either_order(void **state) {
  (void)state;
  expect_note(SOLIDS(A("{'box':1}", "0") "," B("{'sphere':0.2}", "0")), "'b' stands in 'a'");
  expect_note(SOLIDS(A("{'sphere':0.2}", "0") "," B("{'box':1}", "0")), "'a' stands in 'b'");
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.4")), "stands in");
  // A ball that pokes into a large box by its cap.
  expect_note(SOLIDS(A("{'sphere':0.2}", "0.6") "," B("{'box':1}", "0")), "'a' stands in 'b'");
  expect_note(SOLIDS(A("{'box':1}", "0") "," B("{'sphere':0.2}", "0.6")), "'b' stands in 'a'");
}

static void test_narrow_gaps(void **state) {
  (void)state;
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.505")), "'b' and 'a' is 0.005 m");
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.51")), "'b' and 'a' is 0.01 m");
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.53")), "'b' and 'a' is 0.03 m");
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.545")), "'b' and 'a' is 0.045 m");
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.5")));
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.502")));
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.55")));
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.6")));
  // Round ones, by formula and by mesh.
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'sphere':0.2}", "0.46")), "is 0.01 m");
  expect_note(SOLIDS(A("{'torus':[0.3,0.1]}", "0") "," B("{'sphere':0.2}", "0.62")), "is 0.02 m");
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'sphere':0.2}", "0.45")));
  expect_silence(SOLIDS(A("{'box':0.5}", "0") "," B("{'sphere':0.1}", "0.35")));
}

// Samples that lie nearer to the surface do not make the gap look narrower.
static void test_gaps_of_bodies_with_an_inset(void **state) {
  (void)state;
  expect_note(
      SOLIDS(A("{'box':0.5}", "0") ",{'name':'b','shape':{'sphere':0.2},'at':[0.475,0,0],'inset':0.01}"),
      "is 0.025 m");
  expect_silence(
      SOLIDS(A("{'box':0.5}", "0") ",{'name':'b','shape':{'sphere':0.2},'at':[0.45,0,0],'inset':0.01}"));
  expect_silence(
      SOLIDS(A("{'box':0.5}", "0") ",{'name':'b','shape':{'sphere':0.2},'at':[0.51,0,0],'inset':0.05}"));
}

// On the floor of a tank: touching it is no gap, but the wall beside it may be too near.
static void test_gaps_beside_places_that_touch(void **state) {
  (void)state;
#define IN_TANK(more) SOLIDS("{'name':'tank','shape':{'tank':1}}," more)
  expect_silence(IN_TANK("{'name':'b','shape':{'box':0.3},'base':[0.5,0.5,0]}"));
  expect_silence(IN_TANK("{'name':'b','shape':{'sphere':0.3},'base':[0.5,0.5,0]}"));
  expect_silence(IN_TANK("{'name':'b','shape':{'sphere':0.1},'base':[0.5,0.5,0]}"));
  expect_silence(IN_TANK("{'name':'b','shape':{'cylinder':[0.1,0.4]},'base':[0.52,0.5,0]}"));
  expect_silence(IN_TANK("{'name':'b','shape':{'duck':0.4},'base':[0.5,0.5,0]}"));
  expect_silence(IN_TANK("{'name':'b','shape':{'box':0.3},'at':[0.51,0.5,0.212132],"
                         "'rotate':{'axis':[0,1,0],'angle':45}}"));
  expect_note(IN_TANK("{'name':'b','shape':{'box':0.3},'corner':[0.01,0.35,0]}"), "'b' and 'tank' is 0.01 m");
  expect_note(IN_TANK("{'name':'b','shape':{'box':0.3},'corner':[0,0.665,0]}"), "'b' and 'tank' is 0.035 m");
}

// ---- Single bodies ----

static void test_thin_walls(void **state) {
  (void)state;
  expect_note(SOLIDS(A("{'box':[0.5,0.5,0.01]}", "0")), "'a' is 0.01 m thin");
  expect_note(SOLIDS(A("{'tube':[0.5,0.495,1]}", "0")), "'a' has walls 0.005 m thin");
  expect_note(SOLIDS(A("{'tube':[0.5,0.46,1]}", "0")), "'a' has walls 0.04 m thin");
  expect_note(SOLIDS(A("{'letters':'O','height':2,'depth':0.4,'stroke':0.16,'hollow':true}", "0")),
              "'a' has walls 0.0");
  expect_silence(SOLIDS(A("{'tube':[0.5,0.4,1]}", "0")));
  expect_silence(SOLIDS(A("{'letters':'O','height':2,'depth':0.4,'stroke':0.16}", "0")));
  // Every wedge is thin at its edge, every cone at its tip.
  expect_silence(SOLIDS(A("{'ramp':[1,0.5,0.5]}", "0")));
  expect_silence(SOLIDS(A("{'cone':[0.3,0,0.6]}", "0")));
  expect_silence(SOLIDS(A("{'duck':0.6}", "0")));
}

#define FLAT_SOLID(points)                                                                                   \
  "{'schema_version':1,'dimension':2,'spacing':0.05,'duration':1,'gravity':[0,0],'fluids':[{'material':{},"  \
  "'shape':{'box':0.2},'at':[9,9]}],'boundaries':[{'name':'a','shape':{'outline':{'points':[" points         \
  "]}}}]}"

static void test_thin_outlines(void **state) {
  (void)state;
  expect_note(FLAT_SOLID("[0,0],[1,0],[1,1],[0.97,1],[0.97,0.03],[0,0.03]"), "'a' has walls 0.03 m thin");
  expect_silence(FLAT_SOLID("[0,0],[1,0],[1,1],[0.9,1],[0.9,0.1],[0,0.1]"));
  expect_silence(FLAT_SOLID("[0,0],[1,0],[0,0.5]"));
}

static void test_a_coarse_grid_is_told(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  Notes notes = {0};
  build(SOLIDS(A("{'torus':[0.5,0.2]}", "0")), &scene, &world);
  // As if the grid had been too large for the memory it may have.
  flo_solids(world)[0]->sdf.cell = 0.04;
  flo_advice_give(scene, world, keep, &notes);
  assert_non_null(strstr(notes.text, "'a' spans so many spacings that its surface is known to 0.04 m only"));
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// ---- Fluid ----

#define FALL(gravity, more, fluids)                                                                          \
  "{'schema_version':1,'spacing':0.05,'duration':1,'gravity':" gravity ",'materials':{'water':{}}," more     \
  "'fluids':[" fluids "]}"
#define DOWN        "[0,0,-9.81]"
#define DROP(place) "{'material':'water','shape':{'box':0.2},'at':" place "}"
#define TANK        "{'name':'tank','shape':{'tank':1}}"
#define BODIES(all) "'boundaries':[" all "],"
#define LOST        "fluid particles start with nothing below them"

static void test_what_falls_for_ever(void **state) {
  (void)state;
  expect_note(FALL(DOWN, BODIES(TANK), DROP("[0.5,0.5,0.5]") "," DROP("[3,0,0]")), "64 of 128 " LOST);
  expect_note(FALL(DOWN, "", DROP("[0,0,0]")), "64 of 64 " LOST);
  // Above a table only half of it stands.
  expect_note(FALL(DOWN, BODIES("{'shape':{'box':[1,1,0.2]}}"), DROP("[0.5,0,0.5]")), "32 of 64 " LOST);
  // Below a lid.
  expect_note(FALL(DOWN, BODIES("{'shape':{'box':[1,1,0.2]}}"), DROP("[0,0,-0.5]")), "64 of 64 " LOST);
  // A block on both sides of a shelf.
  expect_note(FALL(DOWN, BODIES("{'shape':{'box':[1,1,0.2]}}"),
                   "{'material':'water','shape':{'box':[0.2,0.2,0.6]},'at':[0,0,0]}"),
              "64 of 128 " LOST);
  // A pipe without a bottom holds nothing.
  expect_note(FALL(DOWN, BODIES("{'shape':{'tube':[0.5,0.3,1]}}"), DROP("[0,0,0]")), LOST);
}

static void test_what_is_held(void **state) {
  (void)state;
  expect_silence(FALL(DOWN, BODIES(TANK), DROP("[0.5,0.5,0.5]")));
  expect_silence(FALL("[0,0,0]", BODIES(TANK), DROP("[3,0,0]")));
  expect_silence(FALL("[0,0,0]", "", DROP("[3,0,0]")));
  // On a plane beside the tank, and on a tilted box.
  expect_silence(
      FALL(DOWN, BODIES(TANK ",{'name':'p','shape':{'plane':[2,2]},'at':[5,0,0]}"), DROP("[5,0,0.3]")));
  expect_silence(FALL(DOWN, BODIES("{'shape':{'box':[2,2,0.4]},'rotate':{'axis':[0,1,0],'angle':30}}"),
                      DROP("[0,0,0.8]")));
  // Thrown into the tank from beside it.
  expect_silence(FALL(DOWN, BODIES(TANK),
                      "{'material':'water','shape':{'box':0.2},'at':[-0.5,0.5,1.3],'velocity':[3,0,1]}"));
  // Across a periodic face.
  expect_silence(FALL(DOWN, "'periodic':{'low':[0,0,0],'high':[1,1,1],'axes':'z'},", DROP("[0.5,0.5,0.5]")));
  expect_silence(FALL(DOWN,
                      "'periodic':{'low':[0,0,0],'high':[1,1,1],'axes':'x'}," BODIES(
                          "{'shape':{'box':[1,1,0.2]},'at':[0.5,0.5,0]}"),
                      DROP("[1.5,0.5,0.5]")));
  // Into a sink, which is where it is meant to go.
  expect_silence(FALL(DOWN, "'sinks':[{'shape':{'box':1},'at':[0,0,-3]}],", DROP("[0,0,0]")));
}

// A cup that is no tank.
static void test_a_cup_made_of_triangles_holds_fluid(void **state) {
  (void)state;
  expect_silence(FALL(DOWN,
                      BODIES("{'name':'cup','shape':{'heightfield':{'size':[1,1],'cells':[20,20],"
                             "'height':'2*(x^2+y^2)','depth':0.3}}},"
                             "{'name':'tank','shape':{'tank':1},'corner':[4,0,0]}"),
                      DROP("[0,0,0.4]")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overlap_is_seen_in_either_order),
      cmocka_unit_test(test_narrow_gaps),
      cmocka_unit_test(test_gaps_of_bodies_with_an_inset),
      cmocka_unit_test(test_gaps_beside_places_that_touch),
      cmocka_unit_test(test_thin_walls),
      cmocka_unit_test(test_thin_outlines),
      cmocka_unit_test(test_a_coarse_grid_is_told),
      cmocka_unit_test(test_what_falls_for_ever),
      cmocka_unit_test(test_what_is_held),
      cmocka_unit_test(test_a_cup_made_of_triangles_holds_fluid),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
