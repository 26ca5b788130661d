#include "io/scene.h"

#include <dirent.h>
#include <unistd.h>

#include <jansson.h>

#include "base/vecmath.h"
#include "io/scene_steps.h"
#include "support/check.h"

// ---- Helpers: texts with ' for quotes become files ----

static char folder[] = "/tmp/flotsam-test-XXXXXX";
static char file[sizeof folder + 16];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(file, sizeof file, "%s/scene.json", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(file);
  return rmdir(folder);
}

static void write_text(const char *text, char quote) {
  FILE *stream = fopen(file, "wb");
  assert_non_null(stream);
  for (; *text; text++) fputc(*text == quote ? '"' : *text, stream);
  fclose(stream);
}

static FloScene *load_file(const char *path, const FloSceneOptions *options) {
  FloError error = {0};
  FloScene *scene;
  if (flo_scene_load(path, options, &scene, &error)) {
    print_error("%s\n", error.text);
    fail();
  }
  return scene;
}

static FloScene *load(const char *text, const FloSceneOptions *options) {
  write_text(text, '\'');
  return load_file(file, options);
}

static FloWorld *build(FloScene *scene) {
  FloError error = {0};
  FloWorld *world;
  if (flo_scene_build(scene, &world, &error)) {
    print_error("%s\n", error.text);
    fail();
  }
  return world;
}

static void assert_near(double value, double wanted) {
  if (!(fabs(value - wanted) <= 1e-12 * (1 + fabs(wanted))))
    print_error("got %.17g, wanted %.17g\n", value, wanted);
  assert_true(fabs(value - wanted) <= 1e-12 * (1 + fabs(wanted)));
}

static void assert_vector(const double v[3], double x, double y, double z) {
  assert_near(v[0], x);
  assert_near(v[1], y);
  assert_near(v[2], z);
}

#define HEAD "'schema_version':1,'spacing':0.1,'duration':1,"

// ---- The whole scene ----

static void test_defaults(void **state) {
  (void)state;
  FloScene *scene = load("{" HEAD "'fluids':[{'material':{},'shape':{'box':1}}]}", NULL);
  FloWorldDef def = flo_default_world_def();
  assert_string_equal(scene->name, "scene");
  assert_string_equal(scene->path, file);
  assert_string_equal(scene->title, "scene");
  assert_string_equal(scene->shows, "");
  assert_string_equal(scene->colour_by, "speed");
  assert_string_equal(scene->world.method, def.method);
  assert_int_equal(scene->up, 2);
  assert_int_equal(scene->world.dim, 3);
  assert_int_equal(scene->world.kernel, def.kernel);
  assert_near(scene->world.cfl, def.cfl);
  assert_near(scene->world.spacing, 0.1);
  assert_near(scene->frames_per_second, 30);
  assert_vector(scene->world.gravity, 0, 0, -9.81);
  assert_false(scene->camera.is_set);
  assert_near(scene->parts->materials[0].def.density, flo_default_material_def().density);
  assert_near(scene->parts->materials[0].def.wall_viscosity, -1);
  assert_near(scene->parts->materials[0].def.surface_tension, 0);
  assert_near(scene->parts->materials[0].def.adhesion, 0);
  assert_true(scene->parts->materials[0].def.contact_angle < 0);
  assert_vector(scene->parts->fluids[0].def.pose.position, 0, 0, 0);
  flo_scene_destroy(scene);
}

static void test_settings(void **state) {
  (void)state;
  FloSceneOptions options = {.threads = 3};
  FloScene *scene = load(
      "{'schema_version':1,'title':'T','shows':'S','up':'x','dimension':2,'constants':{'s':'a/4','a':0.4},"
      "'spacing':'s','duration':'10*a','frames_per_second':50,'gravity':'2*a','kernel':'wendland-c2',"
      "'support':3,'time_step':1e-4,'cfl':0.2,'min_time_step':1e-7,'max_time_step':1e-2,"
      "'periodic':{'low':[-1,-2],'high':[1,2],'axes':'y'},'max_particles':'10^5','colour_by':'density',"
      "'camera':{'from':[1,2,3],'look_at':[4,5,6],'field_of_view':50},"
      "'fluids':[{'material':{'wall_viscosity':2,'surface_tension':0.07,'adhesion':0.1,'contact_angle':75},'"
      "shape':{'box':1}}],"
      "'expect':[{'measurement':'removed','max':0},{'measurement':'emitted','min':'a','paper':'at most 1.19 "
      "\u2013'},"
      "{'measurement':'iterations','paper':'20.0'}]}",
      &options);
  const FloWorldDef *def = &scene->world;
  assert_string_equal(scene->title, "T");
  assert_string_equal(scene->shows, "S");
  assert_int_equal(scene->up, 0);
  assert_near(scene->duration, 4);
  assert_near(scene->frames_per_second, 50);
  assert_int_equal(def->dim, 2);
  assert_int_equal(def->threads, 3);
  assert_int_equal(def->kernel, FLO_KERNEL_WENDLAND_C2);
  assert_int_equal(def->max_particles, 100000);
  assert_near(def->spacing, 0.1);
  assert_near(def->support, 3);
  assert_near(def->time_step, 1e-4);
  assert_near(def->cfl, 0.2);
  assert_near(def->min_time_step, 1e-7);
  assert_near(def->max_time_step, 1e-2);
  assert_vector(def->gravity, -0.8, 0, 0);
  assert_false(def->periodic[0]);
  assert_true(def->periodic[1]);
  assert_vector(def->domain_low, -1, -2, 0);
  assert_vector(def->domain_high, 1, 2, 0);
  assert_true(scene->camera.is_set);
  assert_vector(scene->camera.look_at, 4, 5, 6);
  assert_near(scene->camera.field_of_view, 50);
  assert_near(scene->parts->materials[0].def.wall_viscosity, 2);
  assert_near(scene->parts->materials[0].def.surface_tension, 0.07);
  assert_near(scene->parts->materials[0].def.adhesion, 0.1);
  assert_near(scene->parts->materials[0].def.contact_angle, 75);
  assert_int_equal(scene->n_expects, 3);
  assert_true(isinf(scene->expects[0].low) && scene->expects[0].high == 0);
  assert_near(scene->expects[1].low, 0.4);
  assert_string_equal(scene->expects[0].paper, "");
  assert_string_equal(scene->expects[1].paper, "at most 1.19 \u2013");
  assert_string_equal(scene->expects[2].paper, "20.0");
  assert_true(isinf(scene->expects[2].low) && isinf(scene->expects[2].high));
  flo_scene_destroy(scene);
}

// ---- Shapes and places ----

static void test_places(void **state) {
  (void)state;
  FloScene *scene =
      load("{" HEAD "'fluids':[{'material':{},'shape':{'box':1}}],'boundaries':["
           "{'shape':{'tank':[2,4,6]}},"
           "{'shape':{'tank':[2,4,6],'closed':true},'at':[0,0,0]},"
           "{'shape':{'box':[2,4,6]},'corner':[1,1,1]},"
           "{'shape':{'cylinder':[0.5,3]},'base':[1,2,0]},"
           "{'shape':{'sphere':0.5},'base':[0,0,1]},"
           "{'shape':{'cylinder':[0.5,3]},'corner':[0,0,0],'rotate':{'axis':[0,2,0],'angle':90}}]}",
           NULL);
  assert_int_equal(scene->n_bodies, 6);
  const FloBodyDef *tank = &scene->bodies[0].def, *lidded = &scene->bodies[1].def;
  assert_string_equal(scene->bodies[0].name, "boundary0");
  assert_string_equal(tank->name, "boundary0");
  assert_int_equal(tank->kind, FLO_BODY_STATIC);
  assert_int_equal(tank->shape.up, 2);
  assert_vector(tank->pose.position, 1, 2, 3);
  assert_false(tank->shape.closed);
  assert_true(lidded->shape.closed);
  assert_vector(lidded->pose.position, 0, 0, 0);
  assert_vector(scene->bodies[2].def.pose.position, 2, 3, 4);
  assert_vector(scene->bodies[3].def.pose.position, 1, 2, 1.5);
  assert_near(scene->bodies[3].def.shape.radius, 0.5);
  assert_near(scene->bodies[3].def.shape.size[0], 3);
  assert_vector(scene->bodies[4].def.pose.position, 0, 0, 1.5);
  // A corner is meant before turning: the cylinder's middle does not depend on its angle.
  assert_vector(scene->bodies[5].def.pose.position, 0.5, 0.5, 1.5);
  double axis[3] = {0, 0, 1};
  quat_rotate(scene->bodies[5].def.pose.rotation, axis, axis);
  assert_vector(axis, 1, 0, 0);
  flo_scene_destroy(scene);
}

static void test_plane_places(void **state) {
  (void)state;
  FloScene *scene =
      load("{" HEAD "'dimension':2,'fluids':[{'material':{},'shape':{'box':[1,2]},'corner':[1,1,0]}],"
           "'boundaries':[{'shape':{'tank':[2,4]}},{'shape':{'sphere':1},'base':[0,0]}]}",
           NULL);
  assert_int_equal(scene->up, 1);
  assert_vector(scene->world.gravity, 0, -9.81, 0);
  assert_vector(scene->parts->fluids[0].def.pose.position, 1.5, 2, 0);
  assert_vector(scene->bodies[0].def.pose.position, 1, 2, 0);
  assert_vector(scene->bodies[1].def.pose.position, 0, 1, 0);
  flo_scene_destroy(scene);
}

// ---- Motions ----

// As some editors write it.
static void test_text_with_a_byte_order_mark(void **state) {
  (void)state;
  static const char marked[] =
      "\xef\xbb\xbf{ \"schema_version\": 1, \"spacing\": 0.1, \"duration\": 1, "
      "\"fluids\": [ { \"material\": {}, \"shape\": { \"box\": [1, 1, 1] }, \"at\": [0, 0, 0] } ] }";
  FloScene *scene;
  FloError error;
  assert_ok(flo_scene_load_text("marked", marked, sizeof marked - 1, NULL, &scene, &error), &error);
  flo_scene_destroy(scene);
  assert_refused(flo_scene_load_text("wide", "\xff\xfe{\0", 4, NULL, &scene, &error), &error,
                 "save it as UTF-8");
}

static void test_motions(void **state) {
  (void)state;
  FloScene *scene = load(
      "{" HEAD "'fluids':[{'material':{},'shape':{'box':1}}],'boundaries':[{'name':'arm','shape':{'box':1},'"
      "at':[1,2,3],"
      "'look':'red','motions':[{'translate':[1,0,0],'start':1,'end':2},{'rotate':{'axis':[1,0,0],'rate':2}},"
      "{'rotate':{'rate':2,'centre':[7,8,9]}},{'oscillate':{'amplitude':[0,0,1],'frequency':3,'phase':'pi'}}"
      "]},{'shape':{'box':1},'motions':["
      "{'keyframes':[{'time':0,'at':[0,0,0]},{'time':1,'at':[1,0,0],'rotate':{'angle':180}}]},"
      "{'translate':[0,1,0],'start':1}]}]}",
      NULL);
  const FloBodyDef *def = &scene->bodies[0].def;
  assert_string_equal(scene->bodies[0].look, "red");
  assert_int_equal(def->kind, FLO_BODY_KINEMATIC);
  assert_int_equal(def->n_motions, 4);
  assert_int_equal(def->motions[0].kind, FLO_MOTION_TRANSLATE);
  assert_vector(def->motions[0].vector, 1, 0, 0);
  assert_near(def->motions[0].start, 1);
  assert_near(def->motions[0].end, 2);
  assert_int_equal(def->motions[1].kind, FLO_MOTION_ROTATE);
  assert_true(isinf(def->motions[1].end));
  assert_vector(def->motions[1].centre, 1, 2, 3);
  assert_vector(def->motions[2].vector, 0, 0, 1);
  assert_vector(def->motions[2].centre, 7, 8, 9);
  assert_near(def->motions[2].rate, 2);
  assert_int_equal(def->motions[3].kind, FLO_MOTION_OSCILLATE);
  assert_near(def->motions[3].frequency, 3);
  assert_near(def->motions[3].phase, FLO_PI);
  def = &scene->bodies[1].def;
  assert_int_equal(def->n_motions, 2);
  assert_int_equal(def->motions[0].kind, FLO_MOTION_KEYFRAMES);
  assert_int_equal(def->motions[0].n_keyframes, 2);
  assert_near(def->motions[0].keyframes[1].pose.rotation[2], 1);
  flo_scene_destroy(scene);
}

// ---- Fluids, emitters, probes ----

static void test_fluids(void **state) {
  (void)state;
  FloScene *scene = load("{" HEAD "'constants':{'U':3},'materials':{'water':{},'oil':{'density':900}},"
                         "'fluids':[{'material':'oil','shape':{'box':1},'velocity':['U','U*x*y','sin(z)'],'"
                         "angular_velocity':[0,0,1]},"
                         "{'material':{'density':5},'shape':{'sphere':1},'velocity':['2*U',0,0]}]}",
                         NULL);
  const struct FloSceneParts *parts = scene->parts;
  assert_int_equal(parts->n_materials, 3);
  const FloSceneFluid *oil = &parts->fluids[0], *other = &parts->fluids[1];
  assert_near(parts->materials[oil->material].def.density, 900);
  assert_string_equal(parts->materials[oil->material].def.name, "oil");
  assert_near(parts->materials[other->material].def.density, 5);
  assert_null(other->def.velocity_at);
  assert_vector(other->def.velocity, 6, 0, 0);
  // The number goes with the uniform velocity, the rest comes from the field.
  assert_vector(oil->def.velocity, 3, 0, 0);
  assert_vector(oil->def.angular_velocity, 0, 0, 1);
  double place[3] = {2, 5, 1}, velocity[3];
  oil->def.velocity_at(oil->def.context, place, velocity);
  assert_vector(velocity, 0, 30, sin(1));
  flo_scene_destroy(scene);
}

// The window's +x must point along the direction, its height must stay upright as far as it can.
static void test_aim(void **state) {
  (void)state;
  static const double directions[][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},          {0, -1, 0},  {0, 0, 1},
                                         {0, 0, -1}, {1, 2, -3}, {-0.2, -0.1, 0.05}, {1, 1e-9, 0}};
  for (size_t k = 0; k < FLO_COUNT_OF(directions); k++) {
    const double *d = directions[k];
    char text[512];
    snprintf(text, sizeof text,
             "{" HEAD "'emitters':[{'material':{},'at':[1,2,3],'direction':[%.17g,%.17g,%.17g],'size':[0.5,0."
             "25],'speed':2}]}",
             d[0], d[1], d[2]);
    FloScene *scene = load(text, NULL);
    const FloEmitterDef *def = &scene->parts->emitters[0].def;
    double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    quat_rotate(def->pose.rotation, x, x);
    quat_rotate(def->pose.rotation, y, y);
    quat_rotate(def->pose.rotation, z, z);
    double length = vec_length(d);
    assert_vector(x, d[0] / length, d[1] / length, d[2] / length);
    if (fabs(d[2]) < 0.9 * length) assert_true(fabs(y[2]) < 1e-12 && z[2] > 0);
    assert_vector(def->pose.position, 1, 2, 3);
    assert_false(def->round);
    assert_near(def->size[1], 0.25);
    flo_scene_destroy(scene);
  }
}

static void test_openings(void **state) {
  (void)state;
  FloScene *scene =
      load("{" HEAD
           "'emitters':[{'material':{},'at':[0,0,0],'direction':[1,0,0],'diameter':0.5,'speed':2,'start':1}],"
           "'sinks':[{'shape':{'box':1},'corner':[0,0,0],'end':4}]}",
           NULL);
  const FloEmitterDef *emitter = &scene->parts->emitters[0].def;
  const FloSinkDef *sink = &scene->parts->sinks[0].def;
  assert_true(emitter->round);
  assert_near(emitter->size[0], 0.5);
  assert_near(emitter->start, 1);
  assert_true(isinf(emitter->end));
  assert_vector(sink->pose.position, 0.5, 0.5, 0.5);
  assert_near(sink->end, 4);
  flo_scene_destroy(scene);
  scene = load(
      "{" HEAD
      "'dimension':2,'emitters':[{'material':{},'at':[0,0],'direction':[0,1],'diameter':0.5,'speed':2}]}",
      NULL);
  double x[3] = {1, 0, 0};
  quat_rotate(scene->parts->emitters[0].def.pose.rotation, x, x);
  assert_vector(x, 0, 1, 0);
  assert_false(scene->parts->emitters[0].def.round);
  flo_scene_destroy(scene);
}

static void test_probes(void **state) {
  (void)state;
  FloScene *scene = load("{" HEAD "'fluids':[{'material':{},'shape':{'box':1}}],"
                         "'boundaries':[{'name':'a','shape':{'box':1}},{'name':'b','shape':{'box':1}}],"
                         "'probes':[{'name':'p','pressure':[1,2,3]},{'name':'h','water_height':[4,5,6]},{'"
                         "name':'f','front':'y'},"
                         "{'name':'F','force':'b'},{'name':'T','torque':'a'}]}",
                         NULL);
  assert_int_equal(scene->n_probes, 5);
  assert_int_equal(scene->probes[0].kind, FLO_PROBE_PRESSURE);
  assert_vector(scene->probes[0].point, 1, 2, 3);
  assert_int_equal(scene->probes[1].kind, FLO_PROBE_WATER_HEIGHT);
  assert_vector(scene->probes[1].point, 4, 5, 6);
  assert_int_equal(scene->probes[2].kind, FLO_PROBE_FRONT);
  assert_int_equal(scene->probes[2].axis, 1);
  assert_int_equal(scene->probes[3].kind, FLO_PROBE_FORCE);
  assert_int_equal(scene->probes[3].body, 1);
  assert_int_equal(scene->probes[4].kind, FLO_PROBE_TORQUE);
  assert_string_equal(scene->probes[4].name, "T");
  flo_scene_destroy(scene);
}

// ---- Options ----

static const char sized[] =
    "{'schema_version':1,'constants':{'s':'a/10','a':1,'b':7},'sizes':{'fine':{'s':'a/20','b':8}},"
    "'spacing':'s','duration':'b','materials':{'water':{'viscosity':1}},'method':{'alpha':0.2},"
    "'boundaries':[{'name':'tank','shape':{'tank':[1,1,1]}}],"
    "'fluids':[{'material':'water','shape':{'box':1},'at':[1,2,3]}]}";

static double viscosity_of(const FloScene *scene) { return scene->parts->materials[0].def.viscosity; }

static double param_of(const FloScene *scene, const char *name) {
  for (size_t k = 0; k < scene->parts->n_parameters; k++)
    if (!strcmp(scene->parts->parameters[k].name, name)) return scene->parts->parameters[k].value;
  return NAN;
}

static void test_sizes(void **state) {
  (void)state;
  FloScene *scene = load(sized, NULL);
  assert_near(scene->world.spacing, 0.1);
  assert_near(scene->duration, 7);
  assert_near(param_of(scene, "alpha"), 0.2);
  flo_scene_destroy(scene);
  scene = load(sized, &(FloSceneOptions){.size = "fine"});
  assert_near(scene->world.spacing, 0.05);
  assert_near(scene->duration, 8);
  flo_scene_destroy(scene);
}

static void test_sets(void **state) {
  (void)state;
  const char *const sets[] = {"constants.s=0.2",
                              "materials.water.viscosity=a+1",
                              "fluids.0.at=[4,5,6]",
                              "boundaries.tank.at=[9,9,9]",
                              "boundaries.0.look=red",
                              "title=Hello world",
                              "method.alpha=0.5",
                              "fluids.0.at.1=50",
                              "camera.from=[1,1,1]",
                              "camera.look_at=[0,0,0]",
                              "shows=a=b"};
  // A set comes after the size, so it wins.
  FloSceneOptions options = {.size = "fine", .sets = sets, .n_sets = FLO_COUNT_OF(sets), .method = "wcsph"};
  FloScene *scene = load(sized, &options);
  assert_near(scene->world.spacing, 0.2);
  assert_near(scene->duration, 8);
  assert_near(viscosity_of(scene), 2);
  assert_near(param_of(scene, "alpha"), 0.5);
  assert_vector(scene->parts->fluids[0].def.pose.position, 4, 50, 6);
  assert_vector(scene->bodies[0].def.pose.position, 9, 9, 9);
  assert_string_equal(scene->bodies[0].look, "red");
  assert_string_equal(scene->title, "Hello world");
  assert_string_equal(scene->shows, "a=b");
  assert_true(scene->camera.is_set);
  flo_scene_destroy(scene);
}

static void test_short_method(void **state) {
  (void)state;
  const char *set = "method.alpha=0.5";
  FloScene *scene = load("{" HEAD "'method':'wcsph','fluids':[{'material':{},'shape':{'box':1}}]}",
                         &(FloSceneOptions){.sets = &set, .n_sets = 1});
  assert_string_equal(scene->world.method, "wcsph");
  assert_near(param_of(scene, "alpha"), 0.5);
  flo_scene_destroy(scene);
}

// ---- The resolved text ----

// It is a scene again, and the same one: loading it gives the same text.
static void assert_round_trip(const FloScene *scene) {
  write_text(scene->resolved, 0);
  FloScene *again = load_file(file, NULL);
  assert_string_equal(again->resolved, scene->resolved);
  assert_int_equal(again->n_bodies, scene->n_bodies);
  assert_near(again->world.spacing, scene->world.spacing);
  flo_scene_destroy(again);
}

static void test_resolved(void **state) {
  (void)state;
  FloScene *scene =
      load("{'schema_version':1,'constants':{'U':2,'k':'U*0.05'},'spacing':'k','duration':1,'dimension':2,"
           "'sizes':{'fine':{'U':1}},'fluids':[{'material':{},'shape':{'box':['U',1]},"
           "'velocity':['U*sin(x)','U*3']}],"
           "'boundaries':[{'shape':{'box':1},'at':[1,0.1],'motions':[{'rotate':{'rate':1}}]}]}",
           NULL);
  json_t *root = json_loads(scene->resolved, 0, NULL);
  assert_non_null(root);
  assert_null(json_object_get(root, "sizes"));
  assert_near(json_number_value(json_object_get(root, "spacing")), 0.1);
  assert_near(json_number_value(json_object_get(json_object_get(root, "constants"), "k")), 0.1);
  assert_string_equal(json_string_value(json_object_get(root, "up")), "y");
  json_t *velocity = json_object_get(json_array_get(json_object_get(root, "fluids"), 0), "velocity");
  assert_string_equal(json_string_value(json_array_get(velocity, 0)), "U*sin(x)");
  assert_near(json_number_value(json_array_get(velocity, 1)), 6);
  json_t *method = json_object_get(root, "method");
  assert_string_equal(json_string_value(json_object_get(method, "name")), "monolithic");
  assert_true(json_is_number(json_object_get(method, "alpha")));
  json_decref(root);
  // Numbers are written with the digits they need, lists of numbers on one line.
  assert_non_null(strstr(scene->resolved, "\"spacing\": 0.1,\n"));
  assert_non_null(strstr(scene->resolved, "[\"U*sin(x)\", 6]"));
  assert_round_trip(scene);
  flo_scene_destroy(scene);
}

// ---- Building ----

static void test_build(void **state) {
  (void)state;
  FloScene *scene =
      load("{" HEAD "'method':{'alpha':0.25},'boundaries':[{'name':'tank','shape':{'tank':[1,1,1]}}],"
           "'fluids':[{'material':{},'shape':{'box':[0.5,1,0.5]},'corner':[0,0,0],'velocity':['x',0,0]}],"
           "'emitters':[{'material':{},'at':[0.5,0.5,0.8],'direction':[0,0,-1],'diameter':0.2,'speed':1}],"
           "'sinks':[{'shape':{'box':0.1},'at':[0.9,0.9,0.1]}]}",
           NULL);
  FloWorld *world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 5 * 10 * 5);
  assert_true(flo_world_count(world, FLO_SET_BOUNDARY) > 400);
  double alpha;
  assert_int_equal(flo_world_get_param(world, "alpha", &alpha, NULL), FLO_OK);
  assert_near(alpha, 0.25);
  FloBodyState body;
  assert_int_equal(flo_world_body_state(world, scene->bodies[0].id, &body, NULL), FLO_OK);
  assert_vector(body.pose.position, 0.5, 0.5, 0.5);
  FloView x, vx;
  assert_int_equal(flo_world_view(world, FLO_SET_FLUID, "x", &x, NULL), FLO_OK);
  assert_int_equal(flo_world_view(world, FLO_SET_FLUID, "vx", &vx, NULL), FLO_OK);
  for (size_t k = 0; k < x.count; k++) {
    double place = *(const double *)((const char *)x.data + k * x.stride);
    float speed = *(const float *)((const char *)vx.data + k * vx.stride);
    assert_true(fabs((double)speed - place) < 1e-6);
  }
  flo_world_destroy(world);
  // A scene may be built as often as one likes.
  world = build(scene);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 250);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// ---- The scenes that come with the program ----

static void check_scene(const char *path, const char *size) {
  FloScene *scene = load_file(path, &(FloSceneOptions){.size = size});
  assert_true(strlen(scene->title) > 0);
  assert_true(strlen(scene->shows) > 20);
  assert_round_trip(scene);
  flo_scene_destroy(scene);
}

static void check_sizes(const char *path) {
  json_t *root = json_load_file(path, 0, NULL), *value;
  const char *size;
  check_scene(path, NULL);
  json_object_foreach(json_object_get(root, "sizes"), size, value) check_scene(path, size);
  json_decref(root);
}

static void test_shipped_scenes(void **state) {
  (void)state;
  const char *source = getenv("FLOTSAM_SOURCE");
  char path[1024];
  snprintf(path, sizeof path, "%s/scenes", source ? source : ".");
  DIR *scenes = opendir(path);
  assert_non_null(scenes);
  size_t n_scenes = 0;
  for (struct dirent *entry; (entry = readdir(scenes));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".json")) continue;
    snprintf(path, sizeof path, "%s/scenes/%s", source ? source : ".", entry->d_name);
    check_sizes(path);
    n_scenes++;
  }
  closedir(scenes);
  assert_true(n_scenes > 5);
}

// ---- Events ----

#define SCENE(more) "{" HEAD more "}"

static FloScene *load_twice(const char *text) {
  FloScene *scene = load(text, NULL);
  assert_round_trip(scene);
  return scene;
}

#define JET(more)                                                                                            \
  "'emitters':[{'name':'jet','material':{},'at':[0,0,0],'direction':[1,0,0],'size':0.3,'speed':1" more "}]"

static void assert_spans(const char *emitter, const char *events, size_t n, const double *wanted) {
  char text[1024];
  snprintf(text, sizeof text, "{'schema_version':1,'spacing':0.1,'duration':9,%s,'events':[%s]}", emitter,
           events);
  FloScene *scene = load_twice(text);
  const FloSceneSpans *spans = &scene->parts->emitters[0].spans;
  assert_int_equal(spans->n, n);
  for (size_t k = 0; k < 2 * n; k++) {
    double got = spans->list[k / 2][k % 2];
    assert_true(got == wanted[k]);
  }
  flo_scene_destroy(scene);
}

#define EVENT(time, word) "{'at':" #time ",'emitter':'jet','" #word "':true}"

static void test_spans(void **state) {
  (void)state;
  // Stopped; waiting for its start; both, in any order of writing; several times.
  assert_spans(JET(""), EVENT(2, stop), 1, (double[]){0, 2});
  assert_spans(JET(""), EVENT(2, start), 1, (double[]){2, INFINITY});
  assert_spans(JET(""), EVENT(3, stop) "," EVENT(2, start), 1, (double[]){2, 3});
  assert_spans(JET(""), EVENT(1, stop) "," EVENT(2, start) "," EVENT(3, stop) "," EVENT(4, start), 3,
               (double[]){0, 1, 2, 3, 4, INFINITY});
  // A span of its own is kept where nothing speaks against it.
  assert_spans(JET(",'start':1,'end':2"), EVENT(3, start), 2, (double[]){1, 2, 3, INFINITY});
  assert_spans(JET(",'end':2"), EVENT(3, start), 2, (double[]){0, 2, 3, INFINITY});
  assert_spans(JET(",'end':4"), EVENT(3, start), 1, (double[]){3, 4});
  assert_spans(JET(",'start':5"), EVENT(1, start) "," EVENT(2, stop), 2, (double[]){1, 2, 5, INFINITY});
}

static void test_event_order(void **state) {
  (void)state;
  FloScene *scene = load_twice(SCENE(
      JET("") ",'sinks':[{'name':'drain','shape':{'box':1}}],"
              "'boundaries':[{'name':'gate','shape':{'box':1},'motions':[{'translate':[0,0,1]}]}],'events':["
              "{'at':0.8,'boundary':'gate','stop':true},{'at':'0.1+0.1','sink':'drain','stop':true},"
              "{'at':0.5,'emitter':'jet','stop':true},{'at':0.2,'boundary':'gate','start':true},"
              "{'at':0.2,'add':{'material':{'density':3},'shape':{'box':0.3},'at':[5,5,5]}}]"));
  static const size_t entries[] = {1, 3, 4, 2, 0};
  static const int targets[] = {FLO_TARGET_SINK, FLO_TARGET_BOUNDARY, FLO_TARGET_FLUID, FLO_TARGET_EMITTER,
                                FLO_TARGET_BOUNDARY};
  assert_int_equal(scene->n_events, 5);
  for (size_t k = 0; k < 5; k++) {
    assert_int_equal(scene->events[k].entry, entries[k]);
    assert_int_equal(scene->events[k].target, targets[k]);
  }
  assert_int_equal(scene->events[2].kind, FLO_EVENT_ADD);
  assert_close(scene->bodies[0].def.motions[0].start, 0.2, 1e-12);
  assert_close(scene->bodies[0].def.motions[0].end, 0.8, 1e-12);
  assert_close(scene->parts->sinks[0].spans.list[0][1], 0.2, 1e-12);
  flo_scene_destroy(scene);
}

// The world does what the events say: the jet runs only in its spans, and the fluid comes when it is added.
static void test_events_in_world(void **state) {
  (void)state;
  FloError error = {0};
  FloWorld *world;
  FloScene *scene = load_twice(SCENE("'gravity':0," JET("") ",'events':[" EVENT(0.2, start) "," EVENT(
      0.4, stop) ","
                 "{'at':0.3,'add':{'material':{},'shape':{'box':0.3},'at':[0,3,0]}}]"));
  assert_ok(flo_scene_build(scene, &world, &error), &error);
  assert_ok(flo_world_advance(world, 0.19, NULL, &error), &error);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 0);
  assert_ok(flo_world_advance(world, 0.3, NULL, &error), &error);
  assert_true(flo_world_count(world, FLO_SET_FLUID) > 0);
  size_t n_before = flo_world_count(world, FLO_SET_FLUID), n_added = 0, n_all = 0;
  for (size_t k = 0; k < scene->n_events; k++) {
    assert_ok(flo_scene_apply_event(scene, world, &scene->events[k], &n_added, &error), &error);
    n_all += n_added;
  }
  assert_int_equal(n_all, 27);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), n_before + 27);
  assert_ok(flo_world_advance(world, 0.45, NULL, &error), &error);
  size_t n_last = flo_world_measure(world).emitted;
  assert_ok(flo_world_advance(world, 0.8, NULL, &error), &error);
  assert_int_equal(flo_world_measure(world).emitted, n_last);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_plane_places),
      cmocka_unit_test(test_text_with_a_byte_order_mark),
      cmocka_unit_test(test_motions),
      cmocka_unit_test(test_fluids),
      cmocka_unit_test(test_aim),
      cmocka_unit_test(test_openings),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_sets),
      cmocka_unit_test(test_short_method),
      cmocka_unit_test(test_resolved),
      cmocka_unit_test(test_build),
      cmocka_unit_test(test_spans),
      cmocka_unit_test(test_event_order),
      cmocka_unit_test(test_events_in_world),
      cmocka_unit_test(test_shipped_scenes),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
