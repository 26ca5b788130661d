// What `flotsam check` has to say about a scene: that it speaks where it should, and only there.
#include "base/vecmath.h"
#include "input/scene_texts.h"
#include "io/advice.h"
#include "state/state.h"

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
  expect_note(SOLIDS(A("{'box':1}", "0") "," B("{'sphere':0.2}", "0")), "'b' overlaps 'a'");
  expect_note(SOLIDS(A("{'sphere':0.2}", "0") "," B("{'box':1}", "0")), "'a' overlaps 'b'");
  expect_note(SOLIDS(A("{'box':0.5}", "0") "," B("{'box':0.5}", "0.4")), " overlaps ");
  // A ball that pokes into a large box by its cap.
  expect_note(SOLIDS(A("{'sphere':0.2}", "0.6") "," B("{'box':1}", "0")), "'a' overlaps 'b'");
  expect_note(SOLIDS(A("{'box':1}", "0") "," B("{'sphere':0.2}", "0.6")), "'b' overlaps 'a'");
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
  expect_note(SOLIDS(A("{'tube':[0.3,0.295,0.5]}", "0")), "'a' has walls 0.005 m thin");
  expect_note(SOLIDS(A("{'tube':[0.3,0.26,0.5]}", "0")), "'a' has walls 0.04 m thin");
  expect_note(SOLIDS(A("{'letters':'O','height':2,'depth':0.4,'stroke':0.16,'hollow':true}", "0")),
              "'a' has walls 0.0");
  expect_silence(SOLIDS(A("{'tube':[0.3,0.2,0.5]}", "0")));
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

#define SOFT_PLATE(thick)                                                                                    \
  FLAT("'method':{'name':'unified'},'bodies':[{'name':'a','elastic':{'as':'particles','density':900,"        \
       "'young':1e4},'shape':{'box':[1," thick "]}}],'gravity':[0,0]")

static void test_bodies_of_few_particles(void **state) {
  (void)state;
  expect_note(SOFT_PLATE("0.3"), "'a' is only 3 particles across (0.3 m of 0.1 m each)");
  expect_silence(SOFT_PLATE("0.4"));
}

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
  assert_non_null(
      strstr(notes.text, "'a' spans so many spacings that its surface is accurate only to 0.04 m"));
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
#define LOST        "fluid particles will fall for ever, because nothing is below them"

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
  // Fast in next to no gravity: steps that are differences of nearly equal speeds would come to nothing.
  expect_note(FALL("[0,0,-1e-13]", BODIES(TANK),
                   "{'material':'water','shape':{'box':0.2},'at':[3,0,2],'velocity':[0,0,-100]}"),
              "64 of 64 " LOST);
  // Thrown up where there is nothing else.
  expect_note(FALL(DOWN, "", "{'material':'water','shape':{'box':0.2},'velocity':[0,0,5]}"),
              "64 of 64 " LOST);
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

// ---- Emitters, sinks and probes out of reach ----

#define HELD       BODIES(TANK)
#define POOL(more) FALL(DOWN, HELD more, DROP("[0.5,0.5,0.3]"))
#define TAP(place, direction)                                                                                \
  "'emitters':[{'name':'tap','material':'water','at':" place ",'direction':" direction                       \
  ",'size':0.1,'speed':0.5}],"
#define BLOCKED BODIES(TANK ",{'name':'block','shape':{'box':0.6},'base':[0.5,0.5,0]}")

static void test_emitters_out_of_reach(void **state) {
  (void)state;
  expect_silence(POOL(TAP("[0.5,0.5,0.8]", "[0,0,-1]")));
  // From beside the tank into it, and past it.
  expect_silence(POOL(TAP("[-0.3,0.5,1.3]", "[4,0,1]")));
  expect_note(POOL(TAP("[-0.3,0.5,1.3]", "[-1,0,0]")),
              "emitter 'tap' at (-0.3, 0.5, 1.3) will fall for ever, because nothing is below it");
  expect_note(POOL(TAP("[5,5,5]", "[1,0,0]")), "emitter 'tap' at (5, 5, 5)");
  expect_note(FALL(DOWN, BLOCKED TAP("[0.5,0.5,0.3]", "[1,0,0]"), DROP("[0.15,0.5,0.8]")),
              "emitter 'tap' at (0.5, 0.5, 0.3) is inside 'block'");
  // A window in the skin of a solid, from which the stream is led into the open.
  expect_silence(FALL(DOWN, BLOCKED TAP("[0.78,0.5,0.3]", "[1,0,0]"), DROP("[0.15,0.5,0.8]")));
  expect_silence(FALL("[0,0,0]", HELD TAP("[5,5,5]", "[1,0,0]"), DROP("[0.5,0.5,0.3]")));
}

#define DRAIN(place) "'sinks':[{'name':'drain','shape':{'box':0.2},'at':" place "}],"

static void test_sinks_out_of_reach(void **state) {
  (void)state;
  expect_silence(POOL(DRAIN("[0.5,0.5,0.1]")));
  expect_silence(POOL(DRAIN("[1.4,0.5,-0.5]")));
  expect_note(POOL(DRAIN("[50,0.5,0]")), "sink 'drain' at (50, 0.5, 0) is out of reach of all fluid");
  expect_note(FALL(DOWN, BLOCKED DRAIN("[0.5,0.5,0.3]"), DROP("[0.15,0.5,0.8]")),
              "sink 'drain' at (0.5, 0.5, 0.3) is inside 'block'");
  expect_silence(FALL(DOWN, BLOCKED DRAIN("[0.5,0.5,0.6]"), DROP("[0.15,0.5,0.8]")));
}

#define PROBE(what) "'probes':[{'name':'p'," what "}],"

static void test_probes_out_of_reach(void **state) {
  (void)state;
  expect_silence(POOL(PROBE("'pressure':[0.5,0.5,0.1]")));
  expect_silence(POOL(PROBE("'pressure':[1,0.5,0.1]")));
  expect_silence(POOL(PROBE("'pressure':[0.5,0.5,7]")));
  expect_silence(POOL(PROBE("'front':'x'")));
  expect_note(POOL(PROBE("'pressure':[3,0.5,0.1]")),
              "probe 'p' at (3, 0.5, 0.1) will measure nothing, because it is out of reach of all fluid");
  expect_note(POOL(PROBE("'pressure':[0.5,0.5,-2]")),
              "probe 'p' at (0.5, 0.5, -2) will measure nothing, because it is out of reach");
  expect_note(POOL(PROBE("'water_height':[0.5,-2,0]")),
              "probe 'p' at (0.5, -2, 0) will measure nothing, because it is out of reach");
  expect_silence(POOL(PROBE("'water_height':[0.5,0.5,0]")));
  expect_note(FALL(DOWN, BLOCKED PROBE("'pressure':[0.5,0.5,0.3]"), DROP("[0.15,0.5,0.8]")),
              "probe 'p' at (0.5, 0.5, 0.3) will measure nothing, because it is inside 'block'");
  // A body floats away from where it starts.
  expect_silence(FALL(DOWN,
                      "'method':{'name':'monolithic'},'bodies':[{'name':'crate','material':{'density':300},"
                      "'shape':{'box':0.6},'base':[0.5,0.5,0]}]," HELD PROBE("'pressure':[0.5,0.5,0.3]"),
                      DROP("[0.12,0.5,0.8]")));
  // Water may stand on the block.
  expect_silence(FALL(DOWN, BLOCKED PROBE("'water_height':[0.5,0.5,0.1]"), DROP("[0.15,0.5,0.8]")));
  // On the face of the block, where impact is measured.
  expect_silence(FALL(DOWN, BLOCKED PROBE("'pressure':[0.2,0.5,0.1]"), DROP("[0.15,0.5,0.8]")));
  // Through a periodic face everything is in reach.
  expect_silence(FALL(DOWN,
                      "'periodic':{'low':[0,0,0],'high':[1,1,1],'axes':'x'}," BODIES(
                          "{'shape':{'box':[1,1,0.2]},'at':[0.5,0.5,-0.1]}") PROBE("'pressure':[3,0.5,0.1]"),
                      DROP("[0.5,0.5,0.3]")));
}

static void test_added_fluid_falls_too(void **state) {
  (void)state;
#define ADD(place) "'events':[{'at':0.5,'add':{'material':'water','shape':{'box':0.2},'at':" place "}}],"
  expect_silence(POOL(ADD("[0.5,0.5,0.8]")));
  expect_note(POOL(ADD("[3,0.5,0.8]")), "the fluid that event 0 adds at 0.5 s");
}

// ---- Plans ----

#define MOVING(motion)                                                                                       \
  BODIES(TANK ",{'name':'gate','shape':{'box':0.2},'at':[0.7,0.5,0.7],'motions':[" motion "]}")

static void test_motions_after_the_end(void **state) {
  (void)state;
  expect_note(FALL(DOWN, MOVING("{'translate':[0,0,0.1],'start':5}"), DROP("[0.2,0.5,0.3]")),
              "motion 0 of 'gate' begins at 5 s, but the scene ends at 1 s");
  expect_note(FALL(DOWN, MOVING("{'keyframes':[{'time':2,'at':[0.7,0.5,0.7]},{'time':3,'at':[0.7,0.5,1]}]}"),
                   DROP("[0.2,0.5,0.3]")),
              "motion 0 of 'gate' begins at 2 s");
  expect_silence(FALL(DOWN, MOVING("{'translate':[0,0,0.1],'start':0.5}"), DROP("[0.2,0.5,0.3]")));
  expect_note(POOL("'emitters':[{'name':'tap','material':'water','at':[0.5,0.5,0.8],'direction':[0,0,-1],"
                   "'size':0.1,'speed':0.5,'start':1}],"),
              "emitter 'tap' begins at 1 s, but the scene ends at 1 s");
  expect_note(POOL(TAP("[0.5,0.5,0.8]", "[0,0,-1]") "'events':[{'at':3,'emitter':'tap','stop':true}],"),
              "/events/0 is planned for 3 s, but the scene ends at 1 s");
}

static void test_limits_of_particles(void **state) {
  (void)state;
  expect_note(POOL("'max_particles':10,"),
              "max_particles is 10, but the scene starts with 64 fluid particles, so");
  // A window of 2 by 2 particles at 0.5 m/s makes 40 in a second.
  expect_note(POOL("'max_particles':80," TAP("[0.5,0.5,0.8]", "[0,0,-1]")),
              "emitters would add 40 particles, 104 in total, but max_particles is 80: they will pause after "
              "about 0.4 s");
  expect_silence(POOL("'max_particles':104," TAP("[0.5,0.5,0.8]", "[0,0,-1]")));
  expect_silence(POOL("'max_particles':64,"));
}

static void test_fast_walls(void **state) {
  (void)state;
  expect_note(FALL(DOWN, MOVING("{'translate':[2000,0,0]}"), DROP("[0.2,0.5,0.3]")),
              "'gate' moves at up to 2e+03 m/s, faster than sound in water");
  expect_note(FALL(DOWN, "'time_step':0.001," MOVING("{'translate':[100,0,0]}"), DROP("[0.2,0.5,0.3]")),
              "'gate' moves at up to 100 m/s, 2 spacings in one time_step of 0.001 s");
  expect_silence(FALL(DOWN, "'time_step':0.0002," MOVING("{'translate':[10,0,0]}"), DROP("[0.2,0.5,0.3]")));
}

// Speeds that no scene of this size has: what falls through it comes to some 5 m/s.
static void test_absurd_speeds(void **state) {
  (void)state;
#define BALL(more)                                                                                           \
  FALL(DOWN,                                                                                                 \
       HELD "'method':'monolithic','bodies':[{'name':'ball','material':{},'shape':{'sphere':0.15}"           \
            ",'at':[0.6,0.5,0.4]" more "}],",                                                                \
       DROP("[0.2,0.5,0.3]"))
  expect_silence(BALL(""));
  expect_silence(BALL(",'velocity':[100,0,0]"));
  expect_note(BALL(",'velocity':[500,0,0]"), "/bodies/0/velocity: 'ball' moves at up to 500 m/s, ");
  expect_note(BALL(",'angular_velocity':[0,0,1e4]"), "/bodies/0/angular_velocity: 'ball' moves at up to ");
  expect_note(BALL(",'velocity':[0,0,-2000]"), "up to 2e+03 m/s, faster than sound in water");
  expect_note(POOL("'emitters':[{'name':'tap','material':{},'at':[0.5,0.5,0.8],'direction':[0,0,-1],"
                   "'size':[0.2,0.2],'speed':900}],"),
              "/emitters/0/speed: 'tap' moves at up to 900 m/s, ");
  expect_note(
      FALL(DOWN, HELD, "{'material':'water','shape':{'box':0.2},'at':[0.2,0.5,0.3],'velocity':[0,0,800]}"),
      "/fluids/0/velocity: 'water' moves at up to 800 m/s, ");
}

// Instances are one entry of the file.
static void test_places_are_those_of_the_file(void **state) {
  (void)state;
  expect_note(FALL(DOWN,
                   HELD "'method':'monolithic','bodies':[{'name':'row','material':{},'shape':{'sphere':0.1},"
                        "'at':[0.5,0.5,0.4],'grid':{'count':[3,1,1],'step':[0.25,0,0]}},{'name':'ball',"
                        "'material':{},'shape':{'sphere':0.1},'at':[0.5,0.8,0.7],'velocity':[500,0,0]}],",
                   DROP("[0.2,0.5,0.3]")),
              "/bodies/1/velocity: 'ball' moves at up to 500 m/s, ");
}

#define LIQUIDS(gravity, all)                                                                                \
  "{'schema_version':1,'spacing':0.05,'duration':1,'gravity':" gravity ",'materials':{" all "}," HELD        \
  "'fluids':[" DROP("[0.5,0.5,0.3]") "]}"

static void test_materials_without_use(void **state) {
  (void)state;
  expect_note(LIQUIDS(DOWN, "'water':{},'oil':{'density':900}"), "material 'oil' is not used");
  expect_silence(LIQUIDS(DOWN, "'water':{}"));
}

static void test_numbers_of_another_unit(void **state) {
  (void)state;
  expect_note(LIQUIDS(DOWN, "'water':{'viscosity':1000}"),
              "material 'water' has a kinematic viscosity of 1000 m2/s");
  expect_note(LIQUIDS(DOWN, "'water':{'density':1}"),
              "fluid 'water' has a density of 1 kg/m3, but water has 1000");
  expect_note(LIQUIDS("[0,0,-981]", "'water':{}"), "gravity is 981 m/s2, 100 times");
}

static void test_angles_need_tension(void **state) {
  (void)state;
  expect_note(LIQUIDS(DOWN, "'water':{'contact_angle':60}"), "the angle does nothing");
  expect_note(LIQUIDS(DOWN, "'water':{'contact_angle':60,'surface_tension':0.07,'adhesion':0.01}"),
              "leave out adhesion");
  expect_silence(LIQUIDS(DOWN, "'water':{'contact_angle':60,'surface_tension':0.07}"));
}

static void test_shells_that_are_full(void **state) {
  (void)state;
  expect_note(
      BALL(",'thickness':0.2"),
      "'ball' is a shell 0.2 m thick, but the whole body is only 0.3 m thick, so it has no hollow space");
  expect_silence(BALL(",'thickness':0.1"));
}

static void test_keys_that_the_method_does_not_read(void **state) {
  (void)state;
  expect_note(BALL(",'slip':0.5"), "body 'ball' has slip, which the method monolithic does not read");
  expect_note(
      FALL(DOWN,
           "'method':'wcsph','boundaries':[{'name':'tank','shape':{'tank':1},'slip':1,'restitution':0}],",
           DROP("[0.2,0.5,0.3]")),
      "boundary 'tank' has slip and restitution, which the method wcsph does not read");
  expect_note(FALL(DOWN, HELD "'method':'wcsph',",
                   "{'material':{'restitution':1},'shape':{'box':0.2},'at':[0.2,0.5,0.3]}"),
              "has restitution, which the method wcsph does not read");
  expect_note(BALL(",'slip':0.5,'restitution':0.5"),
              "body 'ball' has slip, which the method monolithic does not read");
  expect_silence(BALL(",'restitution':0.5"));
  expect_silence(FALL(DOWN,
                      "'method':'direct-forcing','boundaries':[{'name':'tank','shape':{'tank':1},'slip':1}],",
                      DROP("[0.2,0.5,0.3]")));
}

// A fixed step is held against the one that the method would choose, which stays as it was.
static void test_time_steps_that_are_too_long(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  Notes notes = {0};
  const char *limited_by;
  build(FALL(DOWN, HELD "'method':'wcsph','time_step':0.01,", DROP("[0.2,0.5,0.3]")), &scene, &world);
  flo_advice_give(scene, world, keep, &notes);
  assert_non_null(strstr(notes.text, "/time_step: 0.01 s is "));
  assert_non_null(
      strstr(notes.text,
             "limited by sound), so the run will probably diverge; set it to 0 to let the method choose"));
  assert_close(flo_world_max_dt(world, &limited_by), 0.01, 0);
  FloError error = {0};
  flo_fail(&error, FLO_DIVERGED, "at 1 s it broke");
  flo_advice_explain_divergence(scene, &error);
  assert_non_null(strstr(error.text, "at 1 s it broke; "));
  assert_non_null(strstr(error.text, "bad.json: /time_step: 0.01 s is fixed"));
  flo_fail(&error, FLO_IO_FAILED, "no disk");
  flo_advice_explain_divergence(scene, &error);
  assert_string_equal(error.text, "no disk");
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// The message names the boundary and the file that it stands in, be it an included one.
static void test_impossible_walls(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  char part[sizeof file + 8], wanted[sizeof part + 32];
  snprintf(part, sizeof part, "%s/part.json", folder);
  snprintf(wanted, sizeof wanted, "%s: /boundaries/0/motions: 'rotor'", part);
  write_text(part, "{'boundaries':[{'name':'rotor','shape':{'box':0.2},'at':[0.7,0.5,0.7],'motions':["
                   "{'rotate':{'rate':100000}}]}]}");
  build(
      FALL(DOWN, HELD "'method':'wcsph','min_time_step':1e-6,'include':'part.json',", DROP("[0.2,0.5,0.3]")),
      &scene, &world);
  remove(part);
  assert_int_equal(flo_advice_check_speeds(scene, world, &error), FLO_BAD_INPUT);
  assert_ptr_equal(strstr(error.text, wanted), error.text);
  assert_non_null(strstr(error.text, "below min_time_step = 1e-06 s; make it slower"));
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  // An emitter is named as well.
  build(FALL(DOWN,
             HELD "'method':'wcsph','min_time_step':1e-6,'emitters':[{'name':'tap','material':'water','at':["
                  "0.5,0.5,0.8],"
                  "'direction':[0,0,-1],'size':[0.2,0.2],'speed':1e5}],",
             DROP("[0.2,0.5,0.3]")),
        &scene, &world);
  assert_refused(flo_advice_check_speeds(scene, world, &error), &error, "bad.json: /emitters/0/speed: ");
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  // What is slow, or short of time for another reason, is no wall's fault.
  build(FALL(DOWN, MOVING("{'translate':[0,0,1]}"), DROP("[0.2,0.5,0.3]")), &scene, &world);
  assert_ok(flo_advice_check_speeds(scene, world, &error), &error);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

static void test_set_up_grows_with_particles(void **state) {
  (void)state;
  FloSetUp made[2];
  for (int k = 0; k < 2; ++k) {
    FloScene *scene;
    FloError error = {0};
    const char *set = k ? "spacing=0.01" : "spacing=0.02";
    FloSceneOptions options = {.sets = &set, .n_sets = 1};
    write_text(file, FALL(DOWN, HELD, "{'material':'water','shape':{'box':1},'corner':[0,0,0]}"));
    assert_ok(flo_scene_load(file, &options, &scene, &error), &error);
    made[k] = flo_advice_estimate_set_up(scene);
    flo_scene_destroy(scene);
  }
  // A cube of 1 m, and three layers below the six faces of the tank.
  assert_close(made[0].n_fluid, 125000, 1e-6);
  assert_close(made[1].n_fluid, 1e6, 1e-5);
  assert_close(made[0].n_boundary, 3 * 6 * 2500, 1e-6);
  assert_close(made[1].n_boundary, 3 * 6 * 10000, 1e-5);
  assert_true(made[1].seconds > 4 * made[0].seconds && made[1].seconds < 8 * made[0].seconds);
  assert_true(made[1].seconds > 0.1 && made[1].seconds < 60);
  assert_true(made[1].bytes > 1e8 && made[1].bytes < 1e10);
}

// ---- Sizes ----

#define SIZED(sizes)                                                                                         \
  "{'schema_version':1,'spacing':'s','duration':1,'constants':{'s':0.1},'sizes':{" sizes                     \
  "},'fluids':[{'material':{},'shape':{'box':1}}]}"

static void test_every_size_is_tried(void **state) {
  (void)state;
  FloError error = {0};
  FloSceneOptions options = {0};
  write_text(file, SIZED("'draft':{'s':0.2},'fine':{'s':0.05}"));
  assert_ok(flo_advice_check_sizes(file, &options, &error), &error);
  // The size is a number, but no spacing.
  write_text(file, SIZED("'draft':{'s':0.2},'fine':{'s':-1}"));
  assert_refused(flo_advice_check_sizes(file, &options, &error), &error,
                 "/spacing: must be > 0, got -1 (with --size fine)");
  write_text(file, SIZED("'draft':{'s':0.2},'huge':{'s':1e-4}"));
  assert_refused(flo_advice_check_sizes(file, &options, &error), &error, "(with --size huge)");
  // The one that is chosen was looked at already.
  options.size = "huge";
  assert_ok(flo_advice_check_sizes(file, &options, &error), &error);
}

// ---- Meshes ----

static void write_cube(const char *path, double edge, bool is_open, bool is_turned) {
  static const int faces[12][3] = {{1, 3, 2}, {1, 4, 3}, {5, 6, 7}, {5, 7, 8}, {1, 2, 6}, {1, 6, 5},
                                   {2, 3, 7}, {2, 7, 6}, {3, 4, 8}, {3, 8, 7}, {4, 1, 5}, {4, 5, 8}};
  FILE *stream = fopen(path, "w");
  assert_non_null(stream);
  for (int k = 0; k < 8; ++k)
    fprintf(stream, "v %g %g %g\n", edge * (k % 4 == 1 || k % 4 == 2), edge * (k % 4 >= 2), edge * (k / 4));
  for (int k = is_open; k < 12; ++k)
    fprintf(stream, "f %d %d %d\n", faces[k][0], faces[k][is_turned ? 2 : 1], faces[k][is_turned ? 1 : 2]);
  if (is_turned) fprintf(stream, "f 1 1 2\n");
  fclose(stream);
}

static void test_notes_on_meshes(void **state) {
  (void)state;
  char mesh[sizeof file + 8];
  snprintf(mesh, sizeof mesh, "%s/cube.obj", folder);
#define CUBE SOLIDS("{'name':'cube','shape':{'mesh':'cube.obj'}}")
  write_cube(mesh, 0.5, false, false);
  expect_silence(CUBE);
  write_cube(mesh, 0.5, true, false);
  expect_note(CUBE, "cube.obj: open: 3 boundary edges (left: inside and outside are found by winding "
                    "numbers, which may be wrong there)");
  write_cube(mesh, 0.5, false, true);
  expect_note(CUBE, "1 mesh that is inside out (mended)");
  expect_note(CUBE, "1 triangle without area (mended)");
  // Larger than all else: the fluid is 0.2 m large.
  write_cube(mesh, 3.2, false, false);
  expect_note(CUBE, "cube.obj: the mesh is 3.2 m large, but everything else 0.15 m; if the mesh was drawn in "
                    "millimetres, give it \"scale\": 0.001");
  expect_silence(SOLIDS("{'name':'cube','shape':{'mesh':'cube.obj','scale':0.2}}"));
  remove(mesh);
}

// ---- Joints ----

#define JOINTS_IN(dim, rest, all, events)                                                                    \
  "{'schema_version':1,'dimension':" dim ",'spacing':0.05,'duration':1,'gravity':[0" rest                    \
  "],'bodies':[{'name':'a','material':{},'shape':{'box':0.5}},"                                              \
  "{'name':'b','material':{},'shape':{'box':0.5},'at':[1" rest "]}],'joints':[" all "],'events':[" events    \
  "]}"
#define JOINTS(all, events) JOINTS_IN("3", ",0,0", all, events)
#define SPRING              "{'name':'s','turn_spring':'a','to':'b','stiffness':1}"

static void test_turn_springs_without_hinges(void **state) {
  (void)state;
  const char *note = "turn_spring 's': no hinge joins 'a' to 'b', so that its angle means nothing";
  expect_note(JOINTS(SPRING, ""), note);
  expect_note(JOINTS(SPRING ",{'hinge':'a'}", ""), note);
  expect_note(JOINTS("{'name':'s','turn_spring':'a','stiffness':1}", ""), "no hinge joins 'a' to the world");
  expect_silence(JOINTS(SPRING ",{'hinge':'a','to':'b'}", ""));
  expect_silence(JOINTS(SPRING ",{'hinge':'b','to':'a'}", ""));
  expect_silence(JOINTS_IN("2", ",0", SPRING, "")); // everything turns about z
}

#define WINCH(more) "{'name':'w','rope':'a','to_at':[0,2,0]," more "}"

static void test_winches_without_rope(void **state) {
  (void)state;
  const char *note =
      "rope 'w': its motor pays out, but without 'length' the rope is only as long as at the start, 2 m";
  expect_note(JOINTS(WINCH("'motor':{'speed':0.1,'max_force':1}"), ""), note);
  expect_note(JOINTS(WINCH("'motor':{'speed':-0.1,'amplitude':0.2,'frequency':1,'max_force':1}"), ""), note);
  expect_note(JOINTS(WINCH("'motor':{'position':2.5,'max_force':1}"), ""), note);
  expect_note(JOINTS(WINCH("'motor':{'speed':0,'law':[[0,0],[0.5,1]],'max_force':1}"), ""), note);
  expect_note(
      JOINTS(WINCH("'motor':{'speed':-1,'max_force':1}"), "{'at':0.5,'joint':'w','set':{'motor.speed':1}}"),
      note);
  expect_silence(JOINTS(WINCH("'motor':{'speed':0.1,'max_force':1},'length':5"), ""));
  expect_silence(JOINTS(WINCH("'motor':{'speed':-0.1,'max_force':1}"), ""));
  expect_silence(JOINTS(WINCH("'motor':{'position':1.5,'max_force':1}"), ""));
  expect_silence(JOINTS(WINCH("'friction':1"), ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overlap_is_seen_in_either_order),
      cmocka_unit_test(test_narrow_gaps),
      cmocka_unit_test(test_gaps_of_bodies_with_an_inset),
      cmocka_unit_test(test_gaps_beside_places_that_touch),
      cmocka_unit_test(test_thin_walls),
      cmocka_unit_test(test_thin_outlines),
      cmocka_unit_test(test_bodies_of_few_particles),
      cmocka_unit_test(test_a_coarse_grid_is_told),
      cmocka_unit_test(test_what_falls_for_ever),
      cmocka_unit_test(test_what_is_held),
      cmocka_unit_test(test_a_cup_made_of_triangles_holds_fluid),
      cmocka_unit_test(test_emitters_out_of_reach),
      cmocka_unit_test(test_sinks_out_of_reach),
      cmocka_unit_test(test_probes_out_of_reach),
      cmocka_unit_test(test_added_fluid_falls_too),
      cmocka_unit_test(test_motions_after_the_end),
      cmocka_unit_test(test_limits_of_particles),
      cmocka_unit_test(test_fast_walls),
      cmocka_unit_test(test_absurd_speeds),
      cmocka_unit_test(test_places_are_those_of_the_file),
      cmocka_unit_test(test_materials_without_use),
      cmocka_unit_test(test_numbers_of_another_unit),
      cmocka_unit_test(test_shells_that_are_full),
      cmocka_unit_test(test_keys_that_the_method_does_not_read),
      cmocka_unit_test(test_time_steps_that_are_too_long),
      cmocka_unit_test(test_impossible_walls),
      cmocka_unit_test(test_set_up_grows_with_particles),
      cmocka_unit_test(test_every_size_is_tried),
      cmocka_unit_test(test_notes_on_meshes),
      cmocka_unit_test(test_turn_springs_without_hinges),
      cmocka_unit_test(test_winches_without_rope),
      cmocka_unit_test(test_angles_need_tension),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
