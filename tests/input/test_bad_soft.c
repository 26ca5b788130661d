// Cloth and elastic bodies with a mistake in them, and what their scene says about it.
#include "scene_texts.h"

#define MOVED       "'method':{'name':'monolithic'},"
#define BODY(more)  SCENE(MOVED "'bodies':[{'name':'thing'," more "}]")
#define STUFF       "'cloth':{'areal_density':1,'stretch':100}"
#define SHEET       "'shape':{'sheet':[1,1]}"
#define CLOTH(more) BODY(STUFF "," SHEET more)
#define SOFT        "'elastic':{'density':900,'young':1e4}"
#define SOLID(more) BODY(SOFT ",'shape':{'box':0.5}" more)
#define PIN(pin)    CLOTH(",'pin':[" pin "]")
#define EVENT(event)                                                                                         \
  SCENE(MOVED "'bodies':[{'name':'thing'," STUFF "," SHEET                                                   \
              ",'pin':['corners']},{'name':'cube','material':{},'shape':{'box':1},"                          \
              "'at':[3,0,0]}],'events':[" event "]")

static const BadScene stuffs[] = {
    {BODY("'cloth':{'areal_density':1}," SHEET),
     "/bodies/0/cloth: a cloth needs exactly one of young or stretch, got 0"},
    {BODY("'cloth':{'areal_density':1,'stretch':-2}," SHEET), "/bodies/0/cloth/stretch: must be > 0, got -2"},
    {BODY("'cloth':{'areal_density':1,'stretch':9,'bend':-1}," SHEET),
     "/bodies/0/cloth/bend: must be >= 0, got -1"},
    {BODY("'cloth':{'areal_density':1,'young':1e6}," SHEET), "/bodies/0/cloth: 'young' needs 'thickness'"},
    {BODY("'cloth':{'areal_density':1,'young':1e6,'thickness':0}," SHEET),
     "/bodies/0/cloth/thickness: must be > 0"},
    {BODY("'cloth':{'areal_density':1,'young':1e6,'thickness':1e-3,'bend':1}," SHEET),
     "a cloth may have only one of young or bend"},
    {BODY("'cloth':{'stretch':100}," SHEET), "/bodies/0/cloth: needs 'areal_density'"},
    {BODY("'material':{},'cloth':{'stretch':100}," SHEET), "/bodies/0/cloth: needs 'areal_density'"},
    {BODY("'cloth':{'areal_density':1,'stretch':100,'poisson':0.6}," SHEET),
     "/bodies/0/cloth/poisson: must be >= 0 and <= 0.5, got 0.6"},
    {BODY("'cloth':{'areal_density':1,'stretch':100,'prestretch':0}," SHEET),
     "/bodies/0/cloth/prestretch: must be > 0"},
    {BODY("'cloth':{'areal_density':1,'strech':100}," SHEET), "did you mean 'stretch'?"},
    {BODY("'cloth':{'areal_density':1,'stretch':100,'resampling':'nevr'}," SHEET), "did you mean 'never'?"},
    {FLAT(MOVED "'bodies':[{'name':'thing','cloth':{'areal_density':1,'stretch':100,'resampling':"
                "'seven-point'},'shape':{'sheet':1}}]"),
     "/bodies/0/cloth/resampling: 'seven-point' needs triangles"},
    {BODY("'elastic':{'density':900},'shape':{'box':0.5}"), "/bodies/0/elastic: needs 'young'"},
    {BODY("'elastic':{'density':900,'young':0},'shape':{'box':0.5}"), "/bodies/0/elastic/young: must be > 0"},
    {BODY("'elastic':{'density':900,'young':1e4,'poisson':0.5},'shape':{'box':0.5}"),
     "/bodies/0/elastic/poisson: must be >= 0 and <= 0.49, got 0.5"},
    {BODY("'elastic':{'young':1e4},'shape':{'box':0.5}"), "/bodies/0/elastic: needs 'density'"},
    {BODY("'elastic':{'as':'particels','density':900,'young':1e4},'shape':{'box':0.5}"),
     "did you mean 'particles'?"},
    {BODY("'elastic':{'as':'particles','density':900,'young':-1e4},'shape':{'box':0.5}"),
     "/bodies/0/elastic/young: must be > 0"},
    {BODY("'elastic':{'as':'particles','density':900,'young':1e4,'poisson':0.5},'shape':{'box':0.5}"),
     "/bodies/0/elastic/poisson: must be >= 0 and <= 0.49, got 0.5"},
    {BODY("'elastic':{'density':900,'young':1e4,'rigid':[{'box':[[0,0,0],[1,1,1]]}]},'shape':{'box':0.5}"),
     "/bodies/0/elastic/rigid: only a body of particles can have rigid parts"},
    {BODY("'elastic':{'as':'particles','density':900,'young':1e4,'rigid':[{}]},'shape':{'box':0.5}"),
     "/bodies/0/elastic/rigid/0: needs 'box'"},
    {BODY(STUFF "," SOFT "," SHEET), "/bodies/0: a body is either 'cloth' or 'elastic', not both"},
    {BODY("'matrial':{}," STUFF "," SHEET), "did you mean 'material'?"},
};
TRY(stuffs)

static const BadScene keys[] = {
    {CLOTH(",'mass':1"), "/bodies/0: 'mass' works with rigid bodies only, and this is a cloth"},
    {CLOTH(",'mass':1,'inertia':[1,1,1]"), "/bodies/0: 'mass' works with rigid bodies only"},
    {CLOTH(",'thickness':0.1"), "'thickness' works with rigid bodies only"},
    {SOLID(",'lock':'x'"), "/bodies/0: 'lock' works with rigid bodies only, and this is an elastic body"},
    {SOLID(",'sealed':true"), "'sealed' works with rigid bodies only"},
    {SOLID(",'rolling_friction':0.1"), "'rolling_friction' works with rigid bodies only"},
    {BODY("'material':{},'shape':{'box':1},'pin':['corners']"),
     "/bodies/0: 'pin' works with cloth and elastic bodies only"},
    {BODY("'shape':{'box':1}"), "/bodies/0: needs 'material'"},
    {BODY("'material':{},'shape':{'box':1},'look':'checked'"),
     "the look 'checked' works with cloth and elastic"},
};
TRY(keys)

static const BadScene shapes[] = {
    {BODY(STUFF ",'shape':{'sheet':1,'cell':1e-5}"), "make the cell at least"},
    {BODY("'material':{}," SHEET), "/bodies/0: this shape is only a surface, so the body must be a cloth"},
    {BODY(SOFT ",'shape':{'disc':1}"), "/bodies/0: this shape is only a surface and cannot be filled"},
    {BODY(STUFF ",'shape':{'sheet':[1,0]}"), "/bodies/0/shape/sheet/1: must be > 0"},
    {BODY(STUFF ",'shape':{'sheet':1,'cells':0}"), "/bodies/0/shape/cells: must be >= 1"},
    {BODY(STUFF ",'shape':{'sheet':1,'cells':3,'cell':0.1}"), "a shape may have only one of cell or cells"},
    {BODY(STUFF ",'shape':{'disc':1,'cells':3}"), "/bodies/0/shape: 'cells' works with a sheet only"},
    {BODY(STUFF ",'shape':{'disc':1,'closed':true}"),
     "/bodies/0/shape: 'closed' works with a tank or a bag only"},
    {BODY("'material':{},'shape':{'box':1,'cell':0.1}"),
     "/bodies/0: 'cell' of a shape works with cloth only"},
    {BODY(SOFT ",'shape':{'box':1,'cell':0.1}"), "or move it into 'elastic'"},
    {BODY(STUFF ",'shape':{'seet':1}"), "did you mean 'sheet'?"},
    {FLAT(MOVED "'bodies':[{" STUFF "," SHEET "}]"),
     "'sheet' is a line in a two-dimensional scene; give its length"},
    {FLAT(MOVED "'bodies':[{" STUFF ",'shape':{'disc':1}}]"), "/bodies/0/shape: "},
    {FLAT(MOVED "'bodies':[{" STUFF ",'shape':{'hose':[1,1]}}]"), "/bodies/0/shape: "},
    {FLAT(MOVED "'bodies':[{" STUFF ",'shape':{'bag':[1,1]}}]"), "/bodies/0/shape: "},
};
TRY(shapes)

static const BadScene pins[] = {
    {PIN("'corner'"),
     "/bodies/0/pin/0: must be one of corners, border, got 'corner', did you mean 'corners'?"},
    {PIN("3"), "/bodies/0/pin/0: must be an object"},
    {PIN("{}"), "/bodies/0/pin/0: a pin needs exactly one of corners, border, box or point, got 0"},
    {PIN("{'corners':false}"), "/bodies/0/pin/0: 'corners' must be true"},
    {PIN("{'box':[[0,0,0]]}"), "/bodies/0/pin/0/box: must be a list of two corners"},
    {PIN("{'box':[[0,0],[1,1,1]]}"), "/bodies/0/pin/0/box/0: must be a list of 3 numbers, got 2"},
    {PIN("{'box':[0,1]}"), "/bodies/0/pin/0/box/0: must be a list of 3 numbers"},
    {PIN("{'point':[0,0,0],'until':0}"), "/bodies/0/pin/0/until: must be > 0"},
    {PIN("{'point':[0,0,0],'break_load':-5}"), "/bodies/0/pin/0/break_load: must be > 0, got -5"},
    {PIN("{'point':[0,0,0],'to':'pole'}"),
     "/bodies/0/pin/0/to: there is no 'pole' in the boundaries and the bodies before"},
    {PIN("{'point':[0,0,0],'to':'thing'}"), "/bodies/0/pin/0/to: a body cannot be pinned to itself"},
    {SOLID(",'pin':['corners']"), "/bodies/0/pin/0: only a cloth has corners"},
    {SOLID(",'pin':[{'point':[0,0,0],'clamp':true}]"), "/bodies/0/pin/0: 'clamp' works with cloth only"},
    {BODY(STUFF ",'shape':{'disc':1},'pin':['corners']"), "/bodies/0/pin/0: only a sheet has corners"},
    {SCENE(MOVED "'bodies':[{'name':'a'," STUFF "," SHEET "},{'name':'b'," STUFF "," SHEET
                 ",'pin':[{'point':[0,0,0],'to':'a'}]}]"),
     "/bodies/1/pin/0/to: 'a' changes its shape"},
};
TRY(pins)

static const BadScene events[] = {
    {EVENT("{'at':0.5,'body':'thing','unpin':'border'}"), "/events/0: at 0.5 s: the body has no such pin"},
    {EVENT("{'at':0.5,'body':'thing','unpin':false}"), "/events/0/unpin: must be the name of pins, or true"},
    {EVENT("{'at':0.5,'body':'cube','unpin':true}"), "/events/0: at 0.5 s: the body has no such pin"},
    {EVENT("{'at':0.5,'body':'c*','unpin':true}"), "nothing with a name that begins so has pins"},
    {EVENT("{'at':0,'body':'thing','unpin':true}"), "a pin that is released at the start holds nothing"},
    {EVENT("{'at':0.5,'joint':'thing','unpin':true}"), "/events/0"},
    {EVENT("{'at':0.5,'add':{},'unpin':true}"), "an event needs exactly one of"},
};
TRY(events)

// Turning boxes of pins is possible by right angles only.
static const BadScene groups[] = {
    {SCENE(MOVED "'groups':{'g':{'bodies':[{'name':'a'," STUFF "," SHEET
                 ",'pin':[{'box':[[0,0,0],[1,1,1]]}]}]}},'place':[{'group':'g','rotate':{'angle':30}}]"),
     "a box cannot be rotated by this angle"},
};
TRY(groups)

// What only the world can find out is told with the body's place, too.
static void expect_no_world(const char *text, const char *message) {
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  write_text(file, text);
  if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
  assert_int_equal(flo_scene_build(scene, &world, &error), FLO_BAD_INPUT);
  if (!strstr(error.text, message)) print_error("wanted: %s\ngot:    %s\n", message, error.text);
  assert_non_null(strstr(error.text, message));
  assert_null(world);
  flo_scene_destroy(scene);
}

static void tells_what_the_world_finds(void **state) {
  (void)state;
  expect_no_world(PIN("{'box':[[0.6,0.6,0],[2,2,2]]}"),
                  "/bodies/0: pin 0: the box holds no vertex of 'thing'; the nearest is at (0.5, 0.5, 0)");
  expect_no_world(BODY(STUFF ",'shape':{'bag':[0.5,0],'closed':true},'pin':['border']"),
                  "/bodies/0: pin 0: 'thing' is closed and has no border");
  expect_no_world(PIN("'corners','corners'"),
                  "/bodies/0: pin 1: all these vertices of 'thing' are pinned already by pin 0; leave pin 1");
  expect_no_world(PIN("{'box':[[-9,-9,-9],[9,9,9]]},'border'"),
                  "/bodies/0: pin 1: all these vertices of 'thing' are pinned already by pin 0;");
  expect_no_world(PIN("'corners',{'box':[[-9,-9,-9],[9,9,9]]},{'box':[[0,-9,-9],[9,9,9]]}"),
                  "/bodies/0: pin 2: all these vertices of 'thing' are pinned already by pin ");
  expect_no_world(BOUNDARIES("{" SHEET "}"), "/boundaries/0: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stuffs),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_pins),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(tells_what_the_world_finds),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
