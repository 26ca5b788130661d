// What makes long scenes of short ones: instances, groups and included files.
#include "base/vecmath.h"
#include "input/scene_texts.h"
#include "io/scene_steps.h"

// ---- Helpers ----

static FloStatus try_text(const char *text, FloScene **scene, FloError *error) {
  char *quoted = strdup(text);
  for (char *c = quoted; *c; c++)
    if (*c == '\'') *c = '"';
  FloStatus status = flo_scene_load_text("text", quoted, strlen(quoted), NULL, scene, error);
  free(quoted);
  return status;
}

// Loads a scene, and once more what it was resolved to, which must come to the same.
static FloScene *load(const char *text) {
  FloError error = {0};
  FloScene *scene, *again;
  assert_ok(try_text(text, &scene, &error), &error);
  assert_ok(flo_scene_load_text("text", scene->resolved, strlen(scene->resolved), NULL, &again, &error),
            &error);
  assert_string_equal(again->resolved, scene->resolved);
  assert_int_equal(again->n_bodies, scene->n_bodies);
  for (size_t k = 0; k < scene->n_bodies; k++) {
    assert_string_equal(again->bodies[k].name, scene->bodies[k].name);
    assert_memory_equal(&again->bodies[k].def.pose, &scene->bodies[k].def.pose, sizeof(FloPose));
  }
  flo_scene_destroy(again);
  return scene;
}

static void assert_at(const FloScene *scene, size_t body, double x, double y, double z) {
  const double expected[3] = {x, y, z};
  assert_true(body < scene->n_bodies);
  assert_close_3(scene->bodies[body].def.pose.position, expected, 1e-12);
}

static void assert_turned(const double rotation[4], double vx, double vy, double vz, double x, double y,
                          double z) {
  double v[3] = {vx, vy, vz};
  const double expected[3] = {x, y, z};
  quat_rotate(rotation, v, v);
  assert_close_3(v, expected, 1e-12);
}

// ---- Instances ----

static void test_grid(void **state) {
  (void)state;
  FloScene *scene = load(SCENE(FLUID ",'boundaries':[{'name':'b','shape':{'box':0.1},'at':[1,2,3],"
                                     "'grid':{'count':[3,2,1],'step':[0.5,1,9]}}]"));
  assert_int_equal(scene->n_bodies, 6);
  assert_at(scene, 0, 0.5, 1.5, 3);
  assert_at(scene, 1, 1, 1.5, 3);
  assert_at(scene, 5, 1.5, 2.5, 3);
  assert_string_equal(scene->bodies[0].name, "b 1");
  assert_string_equal(scene->bodies[5].name, "b 6");
  flo_scene_destroy(scene);
  scene =
      load(SCENE(FLUID ",'constants':{'k':2},'boundaries':[{'shape':{'box':0.1}},{'shape':{'box':0.2},"
                       "'corner':[1,1,1],'grid':{'count':['k',1,'k'],'step':[0.5,1,2],'from':'corner'}}]"));
  assert_int_equal(scene->n_bodies, 5);
  assert_at(scene, 1, 1.1, 1.1, 1.1);
  assert_at(scene, 4, 1.6, 1.1, 3.1);
  assert_string_equal(scene->bodies[4].name, "boundary4");
  flo_scene_destroy(scene);
  // In the plane there are two counts; a third may be there if it is one.
  scene = load(FLAT("'fluids':[{'material':{},'shape':{'box':0.1},'grid':{'count':[2,3],'step':[1,1]}},"
                    "{'material':{},'shape':{'box':0.1},'grid':{'count':[2,2,1],'step':[1,1,0]}}]"));
  assert_int_equal(scene->parts->n_fluids, 10);
  flo_scene_destroy(scene);
}

static void test_stack(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(FLUID ",'boundaries':["
                       "{'name':'crate','shape':{'box':[0.4,0.2,0.1]},'base':[2,1,0],"
                       "'stack':{'columns':3,'rows':2}},"
                       "{'shape':{'box':[0.4,0.2,0.1]},'at':[0,0,0],'rotate':{'axis':[0,1,0],'angle':90},"
                       "'stack':{'rows':2}},"
                       "{'shape':{'sphere':0.5},'at':[0,0,0],'rotate':{'axis':[1,1,0],'angle':30},"
                       "'stack':{'columns':2,'rows':1}},"
                       "{'shape':{'box':1},'at':[0,0,0],'stack':{'columns':2,'rows':2,'step':[3,4]}}]"));
  assert_int_equal(scene->n_bodies, 6 + 2 + 2 + 4);
  assert_at(scene, 0, 1.6, 1, 0.05);
  assert_at(scene, 2, 2.4, 1, 0.05);
  assert_at(scene, 4, 2, 1, 0.15);
  // On its side, the crate is as high as it was long.
  assert_at(scene, 7, 0, 0, 0.4);
  // A ball has no sides.
  assert_at(scene, 9, 0.5, 0, 0);
  assert_at(scene, 13, 1.5, 0, 4);
  flo_scene_destroy(scene);
  scene = load(SCENE("'up':'x'," FLUID
                     ",'boundaries':[{'shape':{'box':[0.1,0.2,0.3]},'stack':{'columns':2,'rows':2}}]"));
  assert_at(scene, 3, 0.1, 0.1, 0);
  flo_scene_destroy(scene);
}

static void test_circle(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(FLUID ",'boundaries':["
                       "{'shape':{'box':1},'at':[1,1,1],'circle':{'count':4,'radius':2,'facing':true}},"
                       "{'shape':{'box':1},'circle':{'count':2,'radius':1,'axis':[3,0,0]}}]"));
  assert_at(scene, 0, 3, 1, 1);
  assert_at(scene, 1, 1, 3, 1);
  assert_at(scene, 3, 1, -1, 1);
  // What looks outwards at the first does so at every other.
  assert_turned(scene->bodies[1].def.pose.rotation, 1, 0, 0, 0, 1, 0);
  assert_turned(scene->bodies[2].def.pose.rotation, 1, 0, 0, -1, 0, 0);
  assert_at(scene, 4, 0, 1, 0);
  assert_at(scene, 5, 0, -1, 0);
  assert_turned(scene->bodies[5].def.pose.rotation, 1, 2, 3, 1, 2, 3);
  flo_scene_destroy(scene);
  // Fluids and emitters take their velocities along.
  scene = load(SCENE(
      "'fluids':[{'material':{},'shape':{'box':0.2},'velocity':[1,0,0],'angular_velocity':[0,2,0],"
      "'circle':{'count':4,'radius':1,'facing':true}}],'emitters':[{'material':{},'at':[0,0,1],"
      "'direction':[1,0,0],'size':[0.2,0.1],'speed':1,'circle':{'count':3,'radius':1,'facing':true}}]"));
  const double out[3] = {0, 1, 0}, spin[3] = {-2, 0, 0};
  assert_close_3(scene->parts->fluids[1].def.velocity, out, 1e-12);
  assert_close_3(scene->parts->fluids[1].def.angular_velocity, spin, 1e-12);
  for (int k = 0; k < 3; k++) {
    const FloPose *pose = &scene->parts->emitters[k].def.pose;
    double angle = 2 * FLO_PI * k / 3, c = cos(angle), s = sin(angle);
    const double at[3] = {c, s, 1};
    assert_close_3(pose->position, at, 1e-12);
    assert_turned(pose->rotation, 1, 0, 0, c, s, 0);
    assert_turned(pose->rotation, 0, 0, 1, 0, 0, 1);
  }
  flo_scene_destroy(scene);
}

static double distance_between(const FloScene *scene, size_t a, size_t b) {
  double between[3];
  vec_sub(scene->bodies[a].def.pose.position, scene->bodies[b].def.pose.position, between);
  return vec_length(between);
}

static void test_scatter(void **state) {
  (void)state;
  const char *const text =
      SCENE(FLUID ",'boundaries':[{'shape':{'box':0.1},'at':[5,0,0],'scatter':{'count':200,"
                  "'within':[4,2,1],'apart':0.2,'turned':true}}]");
  FloScene *scene = load(text), *other = load(text);
  double low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
  for (size_t a = 0; a < 200; a++) {
    const FloPose *pose = &scene->bodies[a].def.pose;
    assert_memory_equal(pose, &other->bodies[a].def.pose, sizeof *pose);
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], pose->position[k]);
      high[k] = fmax(high[k], pose->position[k]);
    }
    for (size_t b = 0; b < a; b++) assert_true(distance_between(scene, a, b) >= 0.2);
  }
  // The box is filled to its walls, and nothing stands outside.
  const double centre[3] = {5, 0, 0}, half[3] = {2, 1, 0.5};
  for (int k = 0; k < 3; k++) {
    assert_true(low[k] >= centre[k] - half[k] && low[k] < centre[k] - 0.9 * half[k]);
    assert_true(high[k] <= centre[k] + half[k] && high[k] > centre[k] + 0.9 * half[k]);
  }
  flo_scene_destroy(other);
  // Another seed, other places; without turning, the same places.
  other = load(SCENE(FLUID ",'boundaries':[{'shape':{'box':0.1},'at':[5,0,0],'scatter':{'count':200,"
                           "'within':[4,2,1],'apart':0.2}}]"));
  const double *p = scene->bodies[7].def.pose.position, *q = other->bodies[7].def.pose.position;
  assert_close_3(p, q, 1e-12);
  flo_scene_destroy(other);
  other = load(SCENE(FLUID ",'boundaries':[{'shape':{'box':0.1},'at':[5,0,0],'scatter':{'count':200,"
                           "'within':[4,2,1],'apart':0.2,'seed':2}}]"));
  assert_true(p[0] != other->bodies[7].def.pose.position[0]);
  flo_scene_destroy(other);
  flo_scene_destroy(scene);
}

// Directions of rotations drawn at random have no preference: the mean of 2000 unit vectors is near zero.
static void test_scatter_turns(void **state) {
  (void)state;
  FloScene *scene = load(SCENE(FLUID ",'boundaries':[{'shape':{'box':0.1},'scatter':{'count':500,"
                                     "'within':[9,9,9],'turned':true}}]"));
  for (int axis = 0; axis < 3; axis++) {
    double sum[3] = {0};
    for (size_t k = 0; k < 500; k++) {
      double v[3] = {axis == 0, axis == 1, axis == 2};
      quat_rotate(scene->bodies[k].def.pose.rotation, v, v);
      vec_add(sum, v, sum);
    }
    // The sum's standard deviation is sqrt(500) = 22.
    assert_true(vec_length(sum) < 4 * 22);
  }
  flo_scene_destroy(scene);
}

static void test_numbers_of_instances(void **state) {
  (void)state;
  FloScene *scene = load(SCENE("'fluids':[{'material':{'density':'1000+i'},'shape':{'box':'0.2*(i+1)/n'},"
                               "'at':['i*0.3',0,0],'velocity':['i*x+n','i',0],'grid':{'count':[4,1,1]}}]"));
  assert_int_equal(scene->parts->n_fluids, 4);
  for (int k = 0; k < 4; k++) {
    const FloSceneFluid *fluid = &scene->parts->fluids[k];
    const double place[3] = {2, 5, 7};
    double velocity[3];
    assert_close(fluid->def.pose.position[0], 0.3 * k, 1e-12);
    assert_close(fluid->def.shape.size[0], 0.05 * (k + 1), 1e-12);
    assert_close(scene->parts->materials[fluid->material].def.density, 1000 + k, 0);
    assert_close(fluid->def.velocity[1], k, 0);
    fluid->def.velocity_at(fluid->def.context, place, velocity);
    assert_close(velocity[0], 2 * k + 4, 1e-12);
  }
  flo_scene_destroy(scene);
}

// An instance is the whole entry moved: what its motions say of places and directions goes along.
static void test_moved_motions(void **state) {
  (void)state;
  FloScene *scene = load(SCENE(
      FLUID ",'boundaries':["
            "{'shape':{'box':1},'at':[1,0,0],'circle':{'count':4,'radius':2,'facing':true},'motions':["
            "{'translate':[1,0,0]},{'rotate':{'rate':1,'axis':[1,0,0],'centre':[1,0,0]}},"
            "{'rotate':{'rate':1}},{'oscillate':{'amplitude':[0,1,0],'frequency':1}}]},"
            "{'shape':{'box':1},'at':[1,0,0],'circle':{'count':4,'radius':2,'facing':true},'motions':["
            "{'keyframes':[{'time':0,'at':[1,0,0]},{'time':1,'at':[2,0,0],'rotate':{'angle':90}}]}]}]"));
  const FloMotionDef *m = scene->bodies[1].def.motions;
  const double along[3] = {0, 1, 0}, place[3] = {1, 2, 0}, across[3] = {-1, 0, 0}, later[3] = {1, 3, 0};
  assert_close_3(m[0].vector, along, 1e-12);
  assert_close_3(m[1].vector, along, 1e-12);
  assert_close_3(m[1].centre, place, 1e-12);
  assert_close_3(m[2].centre, place, 1e-12);
  assert_close_3(m[3].vector, across, 1e-12);
  const FloKeyframe *frames = scene->bodies[5].def.motions[0].keyframes;
  assert_close_3(frames[0].pose.position, place, 1e-12);
  assert_close_3(frames[1].pose.position, later, 1e-12);
  assert_turned(frames[0].pose.rotation, 1, 0, 0, 0, 1, 0);
  assert_turned(frames[1].pose.rotation, 1, 0, 0, -1, 0, 0);
  flo_scene_destroy(scene);
}

// Every list of the format can be expanded, and the largest scene is not a slow one.
static void test_all_lists(void **state) {
  (void)state;
  FloScene *scene = load(SCENE(
      "'fluids':[{'material':{},'shape':{'sphere':0.2},'grid':{'count':[1,2,1]}}],"
      "'emitters':[{'name':'e','material':{},'at':[0,0,0],'direction':[1,0,0],'size':0.1,'speed':1,"
      "'grid':{'count':[3,1,1],'step':[1,0,0]}}],"
      "'sinks':[{'name':'s','shape':{'box':1},'base':[0,0,5],'grid':{'count':[1,1,4],'step':[0,0,1]}}]"));
  assert_int_equal(scene->parts->n_fluids, 2);
  assert_int_equal(scene->parts->n_emitters, 3);
  assert_int_equal(scene->parts->n_sinks, 4);
  assert_close(scene->parts->sinks[0].def.pose.position[2], 5.5 - 1.5, 1e-12);
  assert_non_null(strstr(scene->resolved, "\"e 3\""));
  assert_non_null(strstr(scene->resolved, "\"s 4\""));
  flo_scene_destroy(scene);
  scene = load(BOUNDARIES("{'shape':{'box':0.1},'grid':{'count':[5000,1,1],'step':[1,0,0]}}"));
  assert_int_equal(scene->n_bodies, 5000);
  flo_scene_destroy(scene);
}

// ---- Groups ----

static void test_groups(void **state) {
  (void)state;
  FloScene *scene = load(
      SCENE("'materials':{'water':{}},'groups':{"
            "'pair':{'boundaries':[{'name':'ball','shape':{'sphere':0.1},'grid':{'count':[2,1,1],'step':[1,0,"
            "0]}}]},"
            "'cart':{'boundaries':[{'name':'bed','shape':{'box':[1,0.5,0.2]},'corner':[0,0,0]},{'shape':{'"
            "box':0.1}}],"
            "'fluids':[{'material':'water','shape':{'box':0.2},'at':[0,0,1],'velocity':[1,0,0]}],"
            "'place':[{'group':'pair','at':[0,0,2]}]}},"
            "'place':[{'group':'cart','at':[5,0,0],'rotate':{'angle':90}},{'group':'cart','name':'other'}]"));
  static const char *const names[] = {"cart: bed",           "boundary1",          "cart: pair: ball 1",
                                      "cart: pair: ball 2",  "other: bed",         "boundary5",
                                      "other: pair: ball 1", "other: pair: ball 2"};
  assert_int_equal(scene->n_bodies, 8);
  for (size_t k = 0; k < 8; k++) assert_string_equal(scene->bodies[k].name, names[k]);
  assert_at(scene, 0, 5 - 0.25, 0.5, 0.1);
  assert_turned(scene->bodies[0].def.pose.rotation, 1, 0, 0, 0, 1, 0);
  assert_at(scene, 1, 5, 0, 0);
  assert_at(scene, 2, 5, -0.5, 2);
  assert_at(scene, 3, 5, 0.5, 2);
  assert_at(scene, 4, 0.5, 0.25, 0.1);
  assert_at(scene, 6, -0.5, 0, 2);
  const double velocity[3] = {0, 1, 0};
  assert_close_3(scene->parts->fluids[0].def.velocity, velocity, 1e-12);
  flo_scene_destroy(scene);
}

static void test_group_names(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(FLUID ",'groups':{'g':{'boundaries':[{'name':'b','shape':{'box':1}}]}},"
                       "'place':[{'group':'g'},{'group':'g','at':[2,0,0],"
                       "'grid':{'count':[2,1,1],'step':[3,0,0],'from':'corner'}},{'group':'g','name':'h'}]"));
  static const char *const names[] = {"g 1: b", "g 2: b", "g 3: b", "h: b"};
  static const double x[] = {0, 2, 5, 0};
  assert_int_equal(scene->n_bodies, 4);
  for (size_t k = 0; k < 4; k++) {
    assert_string_equal(scene->bodies[k].name, names[k]);
    assert_at(scene, k, x[k], 0, 0);
  }
  flo_scene_destroy(scene);
}

// Rotations compose: a group in a group, both turned, against the product worked out by hand.
static void test_group_rotations(void **state) {
  (void)state;
  FloScene *scene =
      load(SCENE(FLUID ",'groups':{'in':{'boundaries':[{'shape':{'box':1},'at':[1,0,0],'rotate':{'axis':[1,0,"
                       "0],'angle':90}}]},"
                       "'out':{'place':[{'group':'in','at':[0,0,1],'rotate':{'axis':[0,1,0],'angle':90}}]}},"
                       "'place':[{'group':'out','at':[10,0,0],'rotate':{'axis':[0,0,1],'angle':90}}]"));
  // (1,0,0) -> about y (0,0,-1) -> moved (0,0,0) -> about z (0,0,0) -> moved (10,0,0)
  assert_at(scene, 0, 10, 0, 0);
  // The body's y: about x z, about y x, about z y. Its z: -y, -y, x.
  assert_turned(scene->bodies[0].def.pose.rotation, 0, 1, 0, 0, 1, 0);
  assert_turned(scene->bodies[0].def.pose.rotation, 0, 0, 1, 1, 0, 0);
  flo_scene_destroy(scene);
}

#define LOCKED(rotation, locks)                                                                              \
  SCENE("'method':{'name':'monolithic'},'groups':{'g':{'bodies':[{'material':{},'shape':{'box':1}," locks    \
        "}]}},'place':[{'group':'g','rotate':" rotation "}]")

static void assert_locks(const char *text, const char *locks, const char *turn_locks) {
  FloScene *scene = load(text);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(scene->bodies[0].def.locks[k], strchr(locks, 'x' + k) != NULL);
    assert_int_equal(scene->bodies[0].def.turn_locks[k], strchr(turn_locks, 'x' + k) != NULL);
  }
  flo_scene_destroy(scene);
}

// Axes along which a body is held are those of its group.
static void test_group_locks(void **state) {
  (void)state;
  assert_locks(LOCKED("{'angle':90}", "'lock':'x','lock_rotation':'yz'"), "y", "xz");
  assert_locks(LOCKED("{'angle':-90}", "'lock':'yz','lock_rotation':'x'"), "xz", "y");
  assert_locks(LOCKED("{'angle':180}", "'lock':'xy','lock_rotation':'z'"), "xy", "z");
  assert_locks(LOCKED("{'axis':[1,1,1],'angle':120}", "'lock':'x','lock_rotation':'xz'"), "y", "xy");
  assert_locks(LOCKED("{'axis':[1,0,0],'angle':90}", "'lock':'xy','lock_rotation':''"), "xz", "");
  // Where all that is held turns into itself, any angle is right.
  assert_locks(LOCKED("{'angle':30}", "'lock':'xy','lock_rotation':'z'"), "xy", "z");
  assert_locks(LOCKED("{'axis':[1,2,3],'angle':30}", "'lock':'xyz','lock_rotation':'zyx'"), "xyz", "xyz");
  // Copies of a body, each turned about its own place, keep the axes that it names.
  FloScene *scene =
      load(SCENE("'method':{'name':'monolithic'},'bodies':[{'name':'b','material':{},'shape':{'box':1},"
                 "'lock':'x','circle':{'count':3,'radius':3,'facing':true}}]"));
  for (size_t k = 0; k < 3; k++) assert_true(scene->bodies[k].def.locks[0] && !scene->bodies[k].def.locks[1]);
  flo_scene_destroy(scene);
}

// A velocity in x, y and z belongs to the group: v'(x) = R v(R^-1 (x - t)) at any point.
static void test_group_fields(void **state) {
  (void)state;
  FloScene *scene = load(
      SCENE("'constants':{'U':2},'groups':{'g':{'fluids':[{'material':{},'shape':{'box':0.2},'at':[0.1,0,0],"
            "'velocity':['U*x*y','exp(z)-1e-1*x',3]}]}},"
            "'place':[{'group':'g','at':[1,2,3]},{'group':'g','at':[1,2,3],'rotate':{'axis':[1,2,3],'angle':"
            "40}}]"));
  double q[4], axis[3] = {1, 2, 3};
  const double t[3] = {1, 2, 3}, point[3] = {1.4, 2.7, 3.2};
  quat_from_axis_angle(axis, 40 * FLO_PI / 180, q);
  for (int k = 0; k < 2; k++) {
    const FloFluidDef *def = &scene->parts->fluids[k].def;
    double own[3], wanted[3], got[3];
    vec_sub(point, t, own);
    if (k == 1) quat_rotate_back(q, own, own);
    vec_set(wanted, 2 * own[0] * own[1], exp(own[2]) - 0.1 * own[0], 3);
    if (k == 1) quat_rotate(q, wanted, wanted);
    def->velocity_at(def->context, point, got);
    vec_add(got, def->velocity, got);
    assert_close_3(got, wanted, 1e-12);
  }
  flo_scene_destroy(scene);
}

// An opening that looks down has no side that is up; in a group it must turn all the same.
static void test_group_emitters(void **state) {
  (void)state;
  static const char *const directions[] = {"[0,0,-1]", "[1,0,0]", "[0.3,-0.2,0.5]"};
  for (size_t k = 0; k < FLO_COUNT_OF(directions); k++) {
    char text[1024];
    snprintf(text, sizeof text,
             SCENE("'emitters':[{'material':{},'at':[0,0,0],'direction':%s,'size':[0.2,0.1],'speed':1}],'"
                   "groups':{'g':{"
                   "'emitters':[{'material':{},'at':[0,0,0],'direction':%s,'size':[0.2,0.1],'speed':1}]}},"
                   "'place':[{'group':'g','at':[1,0,0],'rotate':{'axis':[1,-2,0.5],'angle':77}}]"),
             directions[k], directions[k]);
    FloScene *scene = load(text);
    double q[4], axis[3] = {1, -2, 0.5};
    quat_from_axis_angle(axis, 77 * FLO_PI / 180, q);
    for (int side = 0; side < 3; side++) {
      double plain[3] = {side == 0, side == 1, side == 2}, turned[3];
      vec_copy(plain, turned);
      quat_rotate(scene->parts->emitters[0].def.pose.rotation, plain, plain);
      quat_rotate(q, plain, plain);
      quat_rotate(scene->parts->emitters[1].def.pose.rotation, turned, turned);
      assert_close_3(turned, plain, 1e-12);
    }
    flo_scene_destroy(scene);
  }
}

// ---- Scenes with a mistake in them ----

#define MANY(pattern) BOUNDARIES("{'name':'b','shape':{'box':1}," pattern "}")

static const BadScene bad_instances[] = {
    {MANY("'grid':{'count':[1e12,1,1],'step':[1,1,1]}"),
     "/boundaries/0/grid/count/0: must be <= 100000, got 1e+12"},
    {MANY("'grid':{'count':[1000,1000,1000]}"), "/boundaries/0/grid: makes 1e+09 instances, at most 100000"},
    {MANY("'stack':{'columns':100000,'rows':100000}"), "/stack: makes 1e+10 instances, at most 100000"},
    {MANY("'scatter':{'count':1e12,'within':[1,1,1]}"), "/scatter/count: must be <= 100000, got 1e+12"},
    {MANY("'circle':{'count':0,'radius':1}"), "/circle/count: must be >= 1, got 0"},
    {MANY("'circle':{'count':3.5,'radius':1}"), "/circle/count: must be a whole number, got 3.5"},
    {MANY("'circle':{'count':3,'radius':1,'axis':[0,0,0]}"), "/circle/axis: must not be zero"},
    {MANY("'grid':{'count':[2,2]}"), "/grid/count: must be a list of 3 numbers, got 2"},
    {MANY("'grid':{'count':4}"), "/grid/count: must be a list of 3 whole numbers, got a number"},
    {MANY("'grid':{'count':[1,1,1.5]}"), "/grid/count/2: must be a whole number, got 1.5"},
    {MANY("'grid':{'step':[1,1,1]}"), "/boundaries/0/grid: needs 'count'"},
    {MANY("'grid':{'count':[1,1,1],'form':'corner'}"), "/grid: unknown key 'form', did you mean 'from'?"},
    {MANY("'grid':3"), "/boundaries/0/grid: must be an object"},
    {MANY("'grid':{'count':[1,1,1]},'stack':{'rows':2}"),
     "/boundaries/0: a boundary may have only one of grid, stack, circle or scatter, got 2"},
    {MANY("'gird':{'count':[1,1,1]}"), "/boundaries/0: unknown key 'gird', did you mean 'grid'?"},
    {MANY("'scatter':{'count':1000,'within':[1,1,1],'apart':0.5}"), "of 1000 fit in with 0.5 m between them"},
    {MANY("'at':['i','j',0],'grid':{'count':[2,1,1]}"),
     "/boundaries/0/at/1 (instance 1 of 2): \"j\", column 1: unknown name 'j'"},
    {MANY("'at':['1/(i-1)',0,0],'grid':{'count':[3,1,1]}"),
     "/boundaries/0/at/0 (instance 2 of 3): \"1/(i-1)\""},
    {MANY("'grid':{'count':['n',1,1]}"), "/grid/count/0: \"n\", column 1: unknown name 'n'"},
    {SCENE(FLUID ",'constants':{'n':3},'boundaries':[{'shape':{'box':1},'grid':{'count':[2,1,1]}}]"),
     "/constants/n: cannot name a constant in a scene with instances"},
    {SCENE(FLUID ",'boundaries':[{'name':'0123456789012345678901234567890123456789012345678901234567890x',"
                 "'shape':{'box':1},'grid':{'count':[10,1,1]}}]"),
     "/boundaries/0/name (instance 1 of 10): '0123"},
    {SCENE(FLUID ",'boundaries':[{'name':'a 1','shape':{'box':1}},"
                 "{'name':'a','shape':{'box':1},'grid':{'count':[2,1,1]}}]"),
     "/boundaries/1 (instance 1 of 2): there are two boundaries with the name 'a 1'"},
    {POUR("'at':[0,0,0],'direction':[1,0,0],'size':1,'speed':1,'stack':{'rows':2}"),
     "/emitters/0/stack: needs 'step', because an emitter has no size of its own"},
    {SCENE("'fluids':[{'material':{},'shape':{'box':50},'grid':{'count':[1,1,2]}}]"),
     "/fluids/0 (instance 2 of 2): the scene up to here needs about 2.5e+08 particles"},
    {FLAT("'fluids':[{'material':{},'shape':{'box':1},'grid':{'count':[1,1,2]}}]"),
     "/fluids/0/grid/count: must have 2 components"},
    {FLAT("'fluids':[{'material':{},'shape':{'box':1},'circle':{'count':2,'radius':1,'axis':[1,0,0]}}]"),
     "/circle/axis: must be along z in a two-dimensional scene"},
};

#define GROUP(groups, place) SCENE(FLUID ",'groups':{" groups "},'place':[" place "]")
#define WALL                 "'boundaries':[{'shape':{'box':1}}]"

static const BadScene bad_groups[] = {
    {GROUP("'cart':{" WALL "}", "{'group':'crat'}"),
     "/place/0/group: unknown group 'crat', did you mean 'cart'?"},
    {SCENE(FLUID ",'place':[{'group':'cart'}]"), "/place/0/group: unknown group 'cart'; this scene has none"},
    {GROUP("'cart':{" WALL "}", "{'at':[0,0,0]}"), "/place/0: needs 'group'"},
    {GROUP("'cart':{" WALL "}", "{'group':'cart','shape':{'box':1}}"), "/place/0: unknown key 'shape'"},
    {GROUP("'a':{'place':[{'group':'b'}]},'b':{'place':[{'group':'a'}]}", "{'group':'a'}"),
     "/groups/b/place/0: groups place each other in a circle: a -> b -> a"},
    {GROUP("'a':{'place':[{'group':'a'}]}", ""), "groups place each other in a circle: a -> a"},
    // Together they are too many, though none of them is.
    {GROUP("'a':{'place':[{'group':'b','grid':{'count':[10,1,1]}}]},"
           "'b':{'place':[{'group':'c','grid':{'count':[1000,1,1]}}]},"
           "'c':{'place':[{'group':'d','grid':{'count':[99000,1,1]}}]},'d':{}",
           "{'group':'a'}"),
     "makes 99000 instances (100011 with those before), at most 100000 are allowed in a scene"},
    {GROUP("'cart':1", "{'group':'cart'}"), "/groups/cart: must be an object"},
    {SCENE(FLUID ",'groups':[]"), "/groups: must be an object of named groups"},
    {GROUP("'a/b':{}", ""), "/groups: the name of a group must have 1 to 63 characters"},
    {GROUP("'cart':{'boundaries':{}}", "{'group':'cart'}"),
     "/groups/cart/boundaries: must be a list of objects"},
    {GROUP("'cart':{'boundaries':[1]}", "{'group':'cart'}"), "/groups/cart/boundaries/0: must be an object"},
    {GROUP("'cart':{'boundaris':[]}", ""),
     "/groups/cart: unknown key 'boundaris', did you mean 'boundaries'?"},
    {GROUP("'cart':{'boundaries':[{'shape':{'box':-1}}]}", ""),
     "/groups/cart/boundaries/0/shape/box: must be > 0, got -1"},
    {GROUP("'cart':{" WALL "}", "{'group':'cart','stack':{'rows':2}}"),
     "/place/0/stack: needs 'step', because a placed group has no size of its own"},
    {GROUP("'tap':{'fluids':[{'material':'oil','shape':{'box':1}}]}", "{'group':'tap'}"),
     "/groups/tap/fluids/0/material (placed by /place/0): unknown material 'oil'"},
    {SCENE(FLUID ",'place':{}"), "/place: must be a list of objects"},
    {LOCKED("{'angle':30}", "'lock':'yz'"), "/groups/g/bodies/0/lock: 'yz' cannot be rotated with its group"},
    {LOCKED("{'axis':[1,0,0],'angle':45}", "'lock_rotation':'z'"),
     "/groups/g/bodies/0/lock_rotation: 'z' cannot be rotated with its group, because the group is not "
     "aligned with x, y and z; rotate the group by 90, 180 or 270 degrees"},
    {LOCKED("{'angle':90}", "'lock':'xw'"), "must be made of x, y and z, got 'w'"},
};

TRY(bad_instances)
TRY(bad_groups)

// ---- Includes ----

static void write_part(const char *name, const char *text) {
  char path[sizeof folder + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  write_text(path, text);
}

static void remove_part(const char *name) {
  char path[sizeof folder + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  remove(path);
}

#define WITH(include) SCENE("'include':" include "," FLUID)

// Of each case: the scene, and two files beside it. The message begins with the name of the file at fault.
static const struct {
  const char *scene, *a, *b;
  const char *culprit, *message;
} includes[] = {
    {WITH("'no.json'"), "{}", "{}", "bad.json", "/include: cannot read '"},
    {WITH("['a.json','no.json']"), "{}", "{}", "bad.json", "no.json': No such file or directory"},
    {WITH("'a.json'"), "{'include':'no.json'}", "{}", "a.json", "/include: cannot read '"},
    {WITH("'.'"), "{}", "{}", "bad.json", "/include: '.' is a folder, not a file"},
    {WITH("1"), "{}", "{}", "bad.json", "/include: must be the path of a file"},
    {WITH("[1]"), "{}", "{}", "bad.json", "/include/0: must be the path of a file"},
    {WITH("''"), "{}", "{}", "bad.json", "/include: must be the path of a file, got ''"},
    {WITH("'bad.json'"), "{}", "{}", "bad.json", "/include: files include each other in a circle: "},
    {WITH("'a.json'"), "{'include':'b.json'}", "{'include':'./a.json'}", "b.json",
     "/include: files include each other in a circle: "},
    {WITH("'a.json'"), "{", "{}", "a.json", "line 1, column 1: "},
    {WITH("'a.json'"), "[]", "{}", "a.json", "a scene must be a JSON object"},
    {WITH("'a.json'"), "{'sapcing':1}", "{}", "a.json", "unknown key 'sapcing', did you mean 'spacing'?"},
    {WITH("'a.json'"), "{'schema_version':2}", "{}", "a.json", "/schema_version: must be 1"},
    {WITH("'a.json'"), "{'fluids':{}}", "{}", "a.json", "/fluids: must be a list of objects"},
    {WITH("'a.json'"), "{'materials':[]}", "{}", "a.json", "/materials: must be an object of names"},
    {WITH("'a.json'"), "{'gravity':'q'}", "{}", "a.json", "/gravity: \"q\", column 1: unknown name 'q'"},
    {WITH("'a.json'"), "{'constants':{'c':'q'}}", "{}", "a.json", "/constants/c: \"q\", column 1"},
    {WITH("'a.json'"), "{'materials':{'oil':{'density':-1}}}", "{}", "a.json",
     "/materials/oil/density: must be > 0, got -1"},
    {WITH("['b.json','a.json']"), "{'boundaries':[{'shape':{'box':1}},{'shape':{'box':-1}}]}",
     "{'boundaries':[{'shape':{'box':1}}]}", "a.json", "/boundaries/1/shape/box: must be > 0, got -1"},
    {WITH("'a.json'"), "{'include':'b.json'}", "{'probes':[{'name':'p','front':'w'}]}", "b.json",
     "/probes/0/front: must be one of x, y, z, got 'w'"},
    {WITH("'a.json'"), "{'boundaries':[{'shape':{'box':'1-i'},'grid':{'count':[3,1,1]}}]}", "{}", "a.json",
     "/boundaries/0/shape/box (instance 2 of 3): must be > 0, got 0"},
    {SCENE("'include':'a.json','place':[{'group':'g'}]," FLUID),
     "{'groups':{'g':{'boundaries':[{'name':'b','shape':{'box':0}}]}}}", "{}", "a.json",
     "/groups/g/boundaries/0/shape/box: must be > 0, got 0"},
};

static void test_includes(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(includes); k++) {
    char culprit[sizeof folder + 64];
    write_text(file, includes[k].scene);
    write_part("a.json", includes[k].a);
    write_part("b.json", includes[k].b);
    snprintf(culprit, sizeof culprit, "%s/%s: ", folder, includes[k].culprit);
    expect_failure_of(culprit, NULL, FLO_BAD_INPUT, includes[k].message);
  }
  remove_part("a.json");
  remove_part("b.json");
}

static void test_include_limits(void **state) {
  (void)state;
  char name[32], text[512];
  for (int k = 0; k <= 17; k++) {
    snprintf(name, sizeof name, "p%d.json", k);
    snprintf(text, sizeof text, "{'include':'p%d.json'}", k + 1);
    write_part(name, text);
  }
  write_text(file, WITH("'p0.json'"));
  FloError error;
  FloScene *scene;
  assert_int_equal(flo_scene_load(file, NULL, &scene, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "files are nested more than 16 deep"));
  // A file that names another twice, which does so too, and so on: 2^14 files to read.
  for (int k = 0; k <= 13; k++) {
    snprintf(name, sizeof name, "p%d.json", k);
    snprintf(text, sizeof text, "{'include':['p%d.json','p%d.json']}", k + 1, k + 1);
    write_part(name, text);
  }
  write_part("p14.json", "{}");
  assert_int_equal(flo_scene_load(file, NULL, &scene, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "more than 256 files are included"));
  for (int k = 0; k <= 17; k++) {
    snprintf(name, sizeof name, "p%d.json", k);
    remove_part(name);
  }
  assert_int_equal(flo_scene_load(file, &(FloSceneOptions){.refuse_includes = true}, &scene, &error),
                   FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "/include: this scene is not allowed to include files"));
}

static void test_merging(void **state) {
  (void)state;
  write_text(file, "{'schema_version':1,'include':['a.json','b.json'],'spacing':'s','constants':{'s':0.1},"
                   "'materials':{'water':{'density':999}},'sizes':{'fine':{'s':0.05}},"
                   "'fluids':[{'material':'water','shape':{'box':1}}]}");
  write_part("a.json", "{'schema_version':1,'$schema':'x','duration':2,'spacing':7,'constants':{'s':3,'k':4},"
                       "'include':'b.json','fluids':[{'material':'oil','shape':{'box':1},'at':['k',0,0]}],"
                       "'sizes':{'fine':{'s':9},'rough':{'s':0.2}},'title':'A'}");
  write_part(
      "b.json",
      "{'duration':3,'title':'B','shows':'b','materials':{'water':{'density':1},'oil':{'density':900}}}");
  FloError error = {0};
  FloScene *scene;
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  assert_close(scene->world.spacing, 0.1, 0);
  assert_close(scene->duration, 2, 0);
  assert_string_equal(scene->title, "A");
  assert_string_equal(scene->shows, "b");
  // Its own fluids first.
  assert_int_equal(scene->parts->n_fluids, 2);
  assert_close(scene->parts->materials[scene->parts->fluids[0].material].def.density, 999, 0);
  assert_close(scene->parts->materials[scene->parts->fluids[1].material].def.density, 900, 0);
  assert_close(scene->parts->fluids[1].def.pose.position[0], 4, 0);
  assert_null(strstr(scene->resolved, "include"));
  flo_scene_destroy(scene);
  assert_ok(flo_scene_load(file, &(FloSceneOptions){.size = "fine"}, &scene, &error), &error);
  assert_close(scene->world.spacing, 0.05, 0);
  flo_scene_destroy(scene);
  assert_ok(flo_scene_load(file, &(FloSceneOptions){.size = "rough"}, &scene, &error), &error);
  assert_close(scene->world.spacing, 0.2, 0);
  flo_scene_destroy(scene);
  // What is set from outside is no longer the included file's fault.
  const char *set = "fluids.1.shape=1";
  assert_refused(flo_scene_load(file, &(FloSceneOptions){.sets = &set, .n_sets = 1}, &scene, &error), &error,
                 "bad.json: /fluids/1/shape: must be an object");
  remove_part("a.json");
  remove_part("b.json");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_stack),
      cmocka_unit_test(test_circle),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_scatter_turns),
      cmocka_unit_test(test_numbers_of_instances),
      cmocka_unit_test(test_moved_motions),
      cmocka_unit_test(test_all_lists),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_group_names),
      cmocka_unit_test(test_group_rotations),
      cmocka_unit_test(test_group_locks),
      cmocka_unit_test(test_group_fields),
      cmocka_unit_test(test_group_emitters),
      cmocka_unit_test(test_bad_instances),
      cmocka_unit_test(test_bad_groups),
      cmocka_unit_test(test_includes),
      cmocka_unit_test(test_include_limits),
      cmocka_unit_test(test_merging),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
