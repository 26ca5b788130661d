// Bodies with a mistake in them, and what their scene says about it.
#include "scene_texts.h"

#include <math.h>

#define MOVED      "'method':{'name':'monolithic'},"
#define BODY(more) SCENE(MOVED "'bodies':[{'name':'cube','material':{'density':500}," more "}]")
#define CLOTH      "'cloth':{'areal_density':1,'stretch':100},'shape':{'sheet':[1,1]}"
#define CUBE       "'shape':{'box':0.5}"
#define EVENT(event)                                                                                         \
  SCENE(MOVED "'bodies':[{'name':'cube','material':{}," CUBE "}],'boundaries':[{'name':'wall'," CUBE         \
              ",'at':[2,0,0]}],'events':[" event "]")

static const BadScene keys[] = {
    {SCENE(MOVED "'bodies':[{'name':'cube'," CUBE "}]"), "/bodies/0: needs 'material'"},
    {SCENE(MOVED "'bodies':[{'material':'oak'," CUBE "}]"), "/bodies/0/material: unknown material 'oak'"},
    {BODY("'friction':-0.1," CUBE), "/bodies/0/friction: must be >= 0 and <= 1000, got -0.1"},
    {BODY("'thickness':0," CUBE), "/bodies/0/thickness: must be > 0, got 0"},
    {BODY("'release':-1," CUBE), "/bodies/0/release: must be >= 0, got -1"},
    {BODY("'lock':'xw'," CUBE), "/bodies/0/lock: must be made of x, y and z, got 'w'"},
    {BODY("'lock_rotation':3," CUBE), "/bodies/0/lock_rotation: "},
    {BODY("'velocty':[1,0,0]," CUBE), "did you mean 'velocity'?"},
    {BODY("'velocity':[1e9,0,0]," CUBE), "/bodies/0/velocity"},
    {SCENE(MOVED "'bodies':[{'name':'a','material':{'density':0}," CUBE "}]"),
     "/bodies/0/material/density: "},
    {SCENE(MOVED "'bodies':[{'name':'a','material':{}," CUBE "}],'boundaries':[{'name':'a'," CUBE "}]"),
     "there are two bodies or boundaries with the name 'a'"},
};
TRY(keys)

static const BadScene body_events[] = {
    {EVENT("{'at':0.5,'body':'cbue','release':true}"),
     "/events/0/body: unknown body 'cbue', did you mean 'cube'?"},
    {EVENT("{'at':0.5,'body':'ball*','release':true}"), "/events/0/body: unknown body 'ball*'"},
    {EVENT("{'at':0.5,'body':'wall','release':true}"), "a boundary cannot be released, only a body can"},
    {EVENT("{'at':0.5,'body':'w*','release':true}"),
     "/events/0: at 0.5 s: only boundaries have names that begin so, but only bodies can be released"},
    {EVENT("{'at':0.2,'body':'*','release':true},{'at':0.5,'body':'cube','release':true}"),
     "/events/1: at 0.5 s: the body is released already"},
    {EVENT("{'at':0.5,'body':'cube','release':false}"),
     "a body can be released ('release': true), be unpinned ('unpin') or be 'set'"},
    {EVENT("{'at':0.5,'body':'cube','start':true}"),
     "a body can be released ('release': true), be unpinned ('unpin') or be 'set'"},
    {EVENT("{'at':0.2,'body':'cube','release':true},{'at':0.5,'body':'cube','release':true}"),
     "/events/1: at 0.5 s: the body is released already"},
    {EVENT("{'at':0.5,'boundary':'wall','release':true}"), "only a 'body' can be released, unpinned or set"},
    {EVENT("{'at':0.5,'body':'cube','set':{}}"), "/events/0/set: needs 'friction'"},
    {EVENT("{'at':0.5,'body':'cube','set':{'friction':-1}}"), "/events/0/set/friction: must be >= 0"},
    {EVENT("{'at':0.5,'body':'cube','set':{'friction':2000}}"),
     "/events/0/set/friction: must be >= 0 and <= 1000, got 2000"},
    {EVENT("{'at':0.5,'body':'cube','set':{'motor.speed':1}}"), "/events/0/set: needs 'friction'"},
    {EVENT("{'at':0.2,'body':'cube','set':{'friction':1,'within':0.5}},{'at':0.5,'body':'cube','set':{'"
           "friction':0}}"),
     "/events/1: at 0.5 s: the previous change of friction has not ended"},
};
TRY(body_events)

// What only the world can find out is told with the body's place, too.
static void expect_no_world(const char *text, FloStatus wanted, const char *message) {
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  write_text(file, text);
  assert_int_equal(flo_scene_load(file, NULL, &scene, &error), FLO_OK);
  assert_int_equal(flo_scene_build(scene, &world, &error), wanted);
  if (!strstr(error.text, message)) fail_msg("'%s' does not say '%s'", error.text, message);
  flo_scene_destroy(scene);
}

static void test_worlds(void **state) {
  (void)state;
  expect_no_world(SCENE("'method':{'name':'wcsph'},'bodies':[{'material':{}," CUBE "}]"), FLO_UNSUPPORTED,
                  "/bodies/0: body: method 'wcsph' knows no bodies that are pushed around");
  // Methods that the message names can move the body; in the second scene another one is tried.
  expect_no_world(SCENE("'method':{'name':'wcsph'},'bodies':[{" CLOTH "}]"), FLO_UNSUPPORTED,
                  "pushed around; use method 'monolithic' or 'constraint' or 'elastic'");
  expect_no_world(SCENE("'method':{'name':'direct-forcing'},'bodies':[{" CLOTH "}]"), FLO_UNSUPPORTED,
                  "that keep their shape; use method 'monolithic' or 'constraint' or 'elastic'");
  expect_no_world(SCENE(MOVED "'bodies':[{'material':{},'shape':{'tank':[1,1,1]}}]"), FLO_BAD_INPUT,
                  "/bodies/0: mass: a tank has no volume of its own");
}

// The message names the file, and calls flat what is flat, also where it has two sides.
static void expect_no_mass(const char *name, const char *mesh, const char *message) {
  char path[sizeof folder + 32], text[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  write_text(path, mesh);
  snprintf(text, sizeof text, SCENE(MOVED "'bodies':[{'material':{},'shape':{'mesh':'%s'}}]"), name);
  expect_no_world(text, FLO_BAD_INPUT, message);
  remove(path);
}

static void test_meshes_without_volume(void **state) {
  (void)state;
  static const char square[] = "v 0 0 0\nv 1 0 1\nv 1 1 1\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
  static const char sides[] = "v 0 0 0\nv 1 0 1\nv 1 1 1\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 3 2\nf 1 4 3\n";
  static const char tent[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 1 4 3\n";
  expect_no_mass("square.obj", square,
                 "square.obj: mass: the mesh is flat and has no volume of its own; give");
  expect_no_mass("sides.obj", sides, "sides.obj: mass: the mesh is flat and has no volume of its own; give");
  expect_no_mass("tent.obj", tent, "/bodies/0: mesh ");
  expect_no_mass("tent.obj", tent, "tent.obj: mass: the mesh is open and has no volume of its own");
}

// Whoever releases all bodies does not mean the walls.
static void test_release_of_all(void **state) {
  (void)state;
  FloScene *scene;
  FloError error = {0};
  write_text(file,
             EVENT("{'at':0.5,'body':'*','release':true},{'at':0.6,'body':'*','set':{'friction':0.1}}"));
  if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
  for (size_t k = 0; k < 2; k++) {
    bool is_cube = !strcmp(scene->bodies[k].name, "cube");
    assert_true(scene->bodies[k].def.release == (is_cube ? 0.5 : 0));
    assert_int_equal(scene->bodies[k].def.n_friction_changes, 1);
  }
  flo_scene_destroy(scene);
}

// ---- Masses that no body has, by calls of the library ----

typedef struct MassCase {
  double mass, centre[3], inertia[6];
  const char *message; // NULL: it is good
} MassCase;

static const MassCase mass_cases[] = {
    {1, {0.1, 0, 0}, {1, 1, 1, 0, 0, 0}, NULL},
    {1, {0, 0, 0}, {1, 1, 2, 0, 0, 0}, NULL}, // a disk
    {1, {0, 0, 0}, {1, 2, 2.5, 0.1, -0.1, 0.1}, NULL},
    {1, {0, 0, 0}, {0.01, 0.01, 10, 0, 0, 0}, "inertia: no body has (0.01, 0.01, 10)"},
    {1, {0, 0, 0}, {1, 0, 1, 0, 0, 0}, "inertia: no body has"},
    {1, {0, 0, 0}, {0, 1, 1, 0, 0, 0}, "inertia: no body has"},
    {1, {0, 0, 0}, {1, 1, 1, 5, 0, 0}, "inertia: no body has"},
    {1, {0, 0, 0}, {1, 1, 1, 0.45, 0.45, 0.45}, "inertia: no body has"},
    {1, {0, 0, 0}, {1, (double)NAN, (double)NAN, 0, 0, 0}, "inertia: no body has"},
    {0, {0, 0, 0}, {1, 1, 1, 0, 0, 0}, "inertia: needs a mass > 0"},
    {1, {0.05, 0, 0}, {0}, "centre: a centre of mass needs a mass and an inertia about it"},
};

static void try_mass(FloWorld *world, const MassCase *a_case, double x) {
  FloError error = {0};
  FloBodyDef body = flo_default_body_def();
  body.kind = FLO_BODY_DYNAMIC, body.density = 1000, body.mass = a_case->mass;
  body.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.2};
  body.pose.position[0] = x;
  memcpy(body.centre, a_case->centre, sizeof body.centre);
  memcpy(body.inertia, a_case->inertia, sizeof body.inertia);
  FloStatus status = flo_world_add_body(world, &body, NULL, &error);
  if ((status == FLO_OK) != !a_case->message) fail_msg("inertia %g: %s", a_case->inertia[0], error.text);
  if (a_case->message && !strstr(error.text, a_case->message))
    fail_msg("'%s' does not say '%s'", error.text, a_case->message);
}

static void test_masses_that_no_body_has(void **state) {
  (void)state;
  FloWorldDef def = flo_default_world_def();
  FloWorld *world;
  FloError error = {0};
  def.dim = 3, def.spacing = 0.1, def.threads = 1;
  if (flo_world_create(&def, &world, &error) != FLO_OK) fail_msg("%s", error.text);
  for (size_t k = 0; k < FLO_COUNT_OF(mass_cases); ++k) try_mass(world, &mass_cases[k], (double)k);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),           cmocka_unit_test(test_body_events),
      cmocka_unit_test(test_worlds),         cmocka_unit_test(test_meshes_without_volume),
      cmocka_unit_test(test_release_of_all), cmocka_unit_test(test_masses_that_no_body_has)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
