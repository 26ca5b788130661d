// Joints with a mistake in them, and what their scene or the library says about it.
#include "scene_texts.h"

#include "state/state.h"

#include <math.h>

#define BODIES                                                                                               \
  "'bodies':[{'name':'wheel','material':{'density':500},'shape':{'box':0.5}},"                               \
  "{'name':'hull','material':{'density':500},'shape':{'box':0.5},'at':[1,0,0]}],"                            \
  "'boundaries':[{'name':'wall','shape':{'box':0.5},'at':[3,0,0]}],"
#define JOINT(joint)        SCENE(BODIES "'joints':[{'name':'axle'," joint "}]")
#define EVENT(joint, event) SCENE(BODIES "'joints':[{'name':'axle'," joint "}],'events':[" event "]")
#define MOTOR(motor)        JOINT("'hinge':'wheel','motor':{" motor "}")

static const BadScene keys[] = {
    {JOINT("'to':'hull'"), "/joints/0: a joint needs exactly one of hinge, slider"},
    {JOINT("'hinge':'wheel','ball':'wheel'"), "/joints/0: "},
    {JOINT("'hinge':'whel'"), "/joints/0/hinge: unknown body 'whel', did you mean 'wheel'?"},
    {JOINT("'hinge':'wheel','to':'hul'"), "/joints/0/to: unknown body 'hul', did you mean 'hull'?"},
    {JOINT("'hinge':'wheel','axes':[0,0,1]"), "did you mean 'axis'?"},
    {JOINT("'hinge':'wheel','friction':-1"), "/joints/0/friction: must be >= 0"},
    {JOINT("'hinge':'wheel','limits':[1]"), "/joints/0/limits: "},
    {SCENE(BODIES "'joints':[{'name':'hull','hinge':'wheel'}]"),
     "/joints/0: a body or boundary has the name 'hull', too; rename one"},
    {SCENE(BODIES "'joints':[{'name':'a','hinge':'wheel'},{'name':'a','hinge':'hull'}]"),
     "there are two joints with the name 'a'"},
    {JOINT("'gear':'axl','with':'b'"), "/joints/0/gear: unknown joint 'axl'"},
    {SCENE(BODIES "'joints':[{'name':'a','hinge':'wheel'},{'gear':'a'}]"), "/joints/1: 'with' is missing"},
    {MOTOR("'speed':1"), "/joints/0/motor: a motor needs exactly one of max_torque or max_force"},
    {MOTOR("'max_torque':1"), "/joints/0/motor: a motor needs exactly one of speed or position"},
    {MOTOR("'speed':1,'max_torque':0"), "/joints/0/motor/max_torque: must be > 0"},
    {MOTOR("'speed':1,'max_force':3"),
     "/joints/0/motor: the motor of a joint of the kind 'hinge' has a 'max_torque'"},
    {MOTOR("'speed':0,'max_torque':3,'law':[[1,2],[1,3]]"), "times must rise"},
    {MOTOR("'speed':0,'max_torque':3,'time':1"), "/joints/0/motor: 'time' belongs to 'position'"},
    {MOTOR("'speed':0,'position':1,'max_torque':3"), "exactly one of speed or position"},
    {JOINT("'hinge':'wheel','grid':{'count':[2,1,1],'step':[1,1,1]}"), "put it and its bodies into a group"},
    // Keys that do nothing on a kind.
    {JOINT("'hinge':'wheel','length':1"),
     "/joints/0/length: does nothing on a joint of the kind 'hinge'; these have it: distance, rope, spring, "
     "turn_spring"},
    {JOINT("'hinge':'wheel','ratio':2"),
     "/joints/0/ratio: does nothing on a joint of the kind 'hinge'; these "
     "have it: gear"},
    {JOINT("'hinge':'wheel','axis2':[1,0,0]"), "/joints/0/axis2: does nothing"},
    {JOINT("'hinge':'wheel','with':'a'"), "/joints/0/with: does nothing"},
    {JOINT("'hinge':'wheel','stiffness':3"), "these have it: spring, turn_spring"},
    {JOINT("'ball':'wheel','axis':[1,0,0]"), "/joints/0/axis: does nothing"},
    {JOINT("'ball':'wheel','limits':[0,1]"), "/joints/0/limits: does nothing"},
    {JOINT("'ball':'wheel','motor':{'speed':1,'max_force':3}"), "/joints/0/motor: does nothing"},
    {JOINT("'ball':'wheel','limit_stiffness':3"), "/joints/0/limit_stiffness: does nothing"},
    {JOINT("'ball':'wheel','break_torque':3"), "/joints/0/break_torque: does nothing"},
    {JOINT("'rope':'wheel','to_at':[1,0,0],'close':true"), "/joints/0/close: does nothing"},
    {SCENE(BODIES "'joints':[{'name':'a','hinge':'wheel'},{'name':'b','hinge':'hull'},"
                  "{'gear':'a','with':'b','to':'hull'}]"),
     "/joints/2/to: does nothing on a joint of the kind 'gear'"},
};
TRY(keys)

static const BadScene events[] = {
    {EVENT("'hinge':'wheel'", "{'at':1,'joint':'axel','release':true}"),
     "/events/0/joint: unknown joint 'axel', did you mean 'axle'?"},
    {EVENT("'hinge':'wheel'", "{'at':1,'joint':'axle','start':true}"), "a joint can be released"},
    {EVENT("'hinge':'wheel'", "{'at':1,'joint':'axle','set':{'motor.sped':1}}"),
     "did you mean 'motor.speed'?"},
    {EVENT("'hinge':'wheel'", "{'at':1,'joint':'axle','set':{'friction':1,'within':0.5}}"),
     "/events/0/set/within: joints change at once"},
    {EVENT("'hinge':'wheel','motor':{'speed':1,'max_torque':1}",
           "{'at':1,'joint':'axle','set':{'motor.speed':1,'motor.position':0.5}}"),
     "/events/0/set: "},
    {EVENT("'hinge':'wheel'", "{'at':1,'body':'hull','set':{'friction':1,'motor.speed':0.5}}"),
     "/events/0/set: needs 'friction', the only value of a body that can be set"},
    {EVENT("'hinge':'wheel','motor':{'speed':1,'max_torque':1}",
           "{'at':1,'joint':'axle','set':{'motor.max_force':2}}"),
     "/events/0/set/motor.max_force: the motor of joint 'axle', of the kind 'hinge', has a "
     "'motor.max_torque'"},
    {EVENT("'slider':'wheel','motor':{'speed':1,'max_force':1}",
           "{'at':1,'joint':'axle','set':{'motor.max_torque':2}}"),
     "has a 'motor.max_force'"},
    {EVENT("'hinge':'wheel','limits':[-1,1]",
           "{'at':1,'joint':'axle','set':{'limits':[0,1],'limits.high':2}}"),
     "/events/0/set: 'limits' and 'limits.high' say the same; leave one out"},
    {EVENT("'hinge':'wheel','motor':{'speed':1,'max_torque':1}",
           "{'at':1,'joint':'axle','set':{'motor.max_load':1,'motor.max_torque':2}}"),
     "'motor.max_load' and 'motor.max_torque' say the same"},
};
TRY(events)

// An event says the same in the words of the joint and in its own.
static void words_of_the_joint_do_the_same(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double low, high, max_load;
  } cases[] = {{EVENT("'hinge':'wheel','limits':[-1,1],'motor':{'speed':0,'max_torque':1}",
                      "{'at':1e-9,'joint':'axle','set':{'limits':[-3,-2],'motor.max_torque':5}}"),
                -3, -2, 5},
               {EVENT("'hinge':'wheel','limits':[-1,1],'motor':{'speed':0,'max_torque':1}",
                      "{'at':1e-9,'joint':'axle','set':{'limits':[2,3],'motor.max_load':5}}"),
                2, 3, 5},
               {EVENT("'slider':'wheel','limits':[-1,1],'motor':{'speed':0,'max_force':1}",
                      "{'at':1e-9,'joint':'axle','set':{'limits.low':-3,'motor.max_force':7}}"),
                -3, 1, 7}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    FloScene *scene;
    FloWorld *world;
    FloError error = {0};
    write_text(file, cases[k].text);
    if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
    if (flo_scene_build(scene, &world, &error) != FLO_OK) fail_msg("%s", error.text);
    for (int step = 0; step < 2; step++) assert_int_equal(flo_world_step(world, NULL, &error), FLO_OK);
    const FloJointLive *live = &flo_joint_list(&world->joints)[0].live;
    assert_true(live->low == cases[k].low && live->high == cases[k].high);
    assert_true(live->max_load == cases[k].max_load);
    flo_world_destroy(world);
    flo_scene_destroy(scene);
  }
}

// ---- What only the world can find out ----

static const BadScene worlds[] = {
    {JOINT("'hinge':'wheel','to':'wheel'"), "/joints/0: joint 'axle': it joins 'wheel' to itself"},
    {JOINT("'hinge':'wheel','axis':[0,0,0]"), "/joints/0: joint 'axle': its axis (0, 0, 0) has no direction"},
    {JOINT("'hinge':'wall','to':'hull'"), "forces do not move 'wall', so a joint cannot hold it"},
    {JOINT("'universal':'wheel','axis':[1,0,0],'axis2':[1,1,0]"), "the angle between them is 45 degrees"},
    {JOINT("'hinge':'wheel','limits':[1,-1]"), "its lower limit, 1, is above its upper limit, -1"},
    {JOINT("'hinge':'wheel','limits':[0.5,1]"),
     "it starts at 0 rad, outside its limits: the lower one is 0.5"},
    {JOINT("'rope':'wheel','to':'hull','to_at':[1,0,0],'length':0.5"),
     "its ends are 1 m apart at the start, more than its length, 0.5 m; make it longer"},
    {JOINT("'rope':'wheel','to':'hull','to_at':[1,0,0],'limits':[0.5,2]"), "a rope only pulls"},
    {JOINT("'hinge':'wheel','limit_stiffness':5"), "it has a limit stiffness, but no limits"},
    {JOINT("'rope':'wheel','to':'hull'"), "a joint of the kind 'rope' needs its other end"},
    {JOINT("'distance':'wheel','to':'hull','to_at':[1,0,0],'length':0.75"),
     "its parts are 0.25 m apart at the start; move the bodies together, or let the joint pull them "
     "together ('close': true in a scene)"},
    {JOINT("'ball':'wheel','to':'hull','at':[0,0,0],'to_at':[0.5,0,0]"), "its parts are 0.5 m apart"},
    {SCENE(BODIES
           "'joints':[{'name':'a','ball':'wheel'},{'name':'b','hinge':'hull'},{'gear':'a','with':'b'}]"),
     "/joints/2: joint 'joint2': 'a', of the kind 'ball', has no coordinate that a gear could drive"},
    {SCENE(BODIES "'joints':[{'name':'a','hinge':'wheel'},{'gear':'a','with':'a'}]"),
     "it joins 'a' to itself"},
    {EVENT("'hinge':'wheel','motor':{'speed':1,'max_torque':1}",
           "{'at':1,'joint':'axle','set':{'friction':1}},{'at':0.5,'joint':'axle','set':{'break_torque':1}},"
           "{'at':0.7,'joint':'axle','set':{'length':1}}"),
     "/events/2: joint 'axle': a joint of the kind 'hinge' has no length"},
    {EVENT("'ball':'wheel'", "{'at':1,'joint':'axle','set':{'break_torque':2}}"),
     "/events/0: joint 'axle': a joint of the kind 'ball' has no breaking torque"},
    {EVENT("'hinge':'wheel'", "{'at':1,'joint':'axle','set':{'motor.speed':1}}"),
     "/events/0: joint 'axle': a motor needs a largest load, or it cannot move anything"},
    {EVENT("'hinge':'wheel','limits':[-1,1]", "{'at':1,'joint':'axle','set':{'limits.low':2}}"),
     "its lower limit, 2, is above its upper limit, 1"},
    {EVENT("'hinge':'wheel','limits':[-1,1]", "{'at':1,'joint':'axle','set':{'limits':[3,2]}}"),
     "its lower limit, 3, is above its upper limit, 2"},
    {EVENT("'ball':'wheel'", "{'at':1,'joint':'axle','set':{'friction':2}}"),
     "a joint of the kind 'ball' has no friction"},
    {FLAT("'bodies':[{'name':'wheel','material':{},'shape':{'box':0.5}}],'joints':[{'hinge':'wheel','axis':["
          "1,0,0]}]"),
     "in two dimensions the axis of a joint of the kind 'hinge' must be z"},
    {FLAT("'bodies':[{'name':'wheel','material':{},'shape':{'box':0.5}}],'joints':[{'slider':'wheel'}]"),
     "in two dimensions the axis of a joint of the kind 'slider' must lie in the plane"},
};

static void worlds_refuse_them(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(worlds); k++) {
    FloScene *scene;
    FloWorld *world;
    FloError error = {0};
    write_text(file, worlds[k].text);
    if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
    assert_int_equal(flo_scene_build(scene, &world, &error), FLO_BAD_INPUT);
    if (!strstr(error.text, worlds[k].message))
      fail_msg("'%s' does not say '%s'", error.text, worlds[k].message);
    assert_null(world);
    flo_scene_destroy(scene);
  }
}

// Parts that are apart come together if the joint is told to close, at the speed at which overlaps vanish.
static void open_joints_close(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  FloJointState joint;
  write_text(file,
             SCENE(BODIES "'gravity':0,'joints':[{'name':'axle','ball':'wheel','to':'hull','at':[0.3,0,0],"
                          "'to_at':[0.4,0,0],'close':true}]"));
  if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
  assert_int_equal(flo_scene_build(scene, &world, &error), FLO_OK);
  assert_int_equal(flo_world_joint_state(world, scene->joints[0].id, &joint, &error), FLO_OK);
  assert_true(fabs(joint.open - 0.1) < 1e-12);
  assert_int_equal(flo_world_advance(world, 2, NULL, &error), FLO_OK);
  assert_int_equal(flo_world_joint_state(world, scene->joints[0].id, &joint, &error), FLO_OK);
  assert_true(joint.open < 1e-6);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// A gear may stand before its joints.
static void gears_stand_anywhere(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  FloJointState joints[3];
  write_text(file,
             SCENE(BODIES
                   "'gravity':0,'joints':[{'name':'pair','gear':'a','with':'b','ratio':2},{'name':'a',"
                   "'hinge':'wheel','motor':{'speed':2,'max_torque':1e6}},{'name':'b','hinge':'hull'}]"));
  if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
  assert_int_equal(flo_scene_build(scene, &world, &error), FLO_OK);
  assert_int_equal(flo_world_advance(world, 0.1, NULL, &error), FLO_OK);
  for (int k = 0; k < 3; ++k)
    assert_int_equal(flo_world_joint_state(world, scene->joints[k].id, &joints[k], &error), FLO_OK);
  assert_true(fabs(joints[1].speed - 2) < 1e-6 && fabs(joints[2].speed + 1) < 1e-6);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

// ---- Calls of the library ----

static void calls_with_bad_values_are_refused(void **state) {
  (void)state;
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  FloJointState joint;
  write_text(file, JOINT("'hinge':'wheel'"));
  if (flo_scene_load(file, NULL, &scene, &error) != FLO_OK) fail_msg("%s", error.text);
  assert_int_equal(flo_scene_build(scene, &world, &error), FLO_OK);
  FloJointId id = scene->joints[0].id, none = {7, 1};
  assert_int_equal(flo_world_joint_state(world, none, &joint, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, none, FLO_JOINT_RELEASE, 1, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_PART_COUNT, 1, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_FRICTION, -1, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_STIFFNESS, 1, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_MOTOR_SPEED, 1, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_MAX_LOAD, (double)NAN, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_MAX_LOAD, 5, &error), FLO_OK);
  assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_MOTOR_SPEED, 1, &error), FLO_OK);
  FloJointDef def = flo_default_joint_def();
  def.kind = FLO_JOINT_COUNT;
  assert_int_equal(flo_world_add_joint(world, &def, &id, &error), FLO_BAD_INPUT);
  def.kind = FLO_JOINT_BALL;
  assert_int_equal(flo_world_add_joint(world, &def, &id, &error), FLO_BAD_INPUT);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

static FloWorld *world_with_a_ball(FloBodyId *ball) {
  FloWorldDef def = flo_default_world_def();
  FloBodyDef body = flo_default_body_def();
  FloWorld *world;
  FloError error;
  def.dim = 3, def.spacing = 0.1, def.threads = 1, def.method = "monolithic";
  body.kind = FLO_BODY_DYNAMIC, body.density = 500;
  body.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.2};
  if (flo_world_create(&def, &world, &error) != FLO_OK) fail_msg("%s", error.text);
  assert_int_equal(flo_world_add_body(world, &body, ball, &error), FLO_OK);
  return world;
}

static void expect_refusal(FloWorld *world, FloJointDef def, const char *message) {
  FloError error = {0};
  assert_int_equal(flo_world_add_joint(world, &def, NULL, &error), FLO_BAD_INPUT);
  if (!strstr(error.text, message)) fail_msg("'%s' does not say '%s'", error.text, message);
}

// Numbers that no scene can hold, but a call can.
static void numbers_that_are_none_are_refused(void **state) {
  (void)state;
  const double none = (double)NAN;
  const FloMotorKey bad_value[] = {{0, 1}, {1, none}}, bad_time[] = {{none, 1}}, late[] = {{0, 1}, {none, 2}};
  const FloMotorKey *const laws[] = {bad_value, bad_time, late};
  const size_t counts[] = {2, 1, 2};
  FloBodyId ball;
  FloWorld *world = world_with_a_ball(&ball);
  FloJointDef def = flo_default_joint_def();
  def.body = ball, def.motor.max_load = 1, def.motor.kind = FLO_MOTOR_SPEED;
  for (size_t k = 0; k < FLO_COUNT_OF(laws); ++k) {
    def.motor.keys = laws[k], def.motor.n_keys = counts[k];
    expect_refusal(world, def, "of its motor's law, ");
  }
  def = flo_default_joint_def(), def.body = ball, def.low = none;
  expect_refusal(world, def, "its limits, nan to inf, must be numbers");
  def = flo_default_joint_def(), def.body = ball, def.limit_damping = 3;
  expect_refusal(world, def, "limits with damping need a limit stiffness above 0");
  def = flo_default_joint_def(), def.body = ball, def.kind = FLO_JOINT_SPRING, def.has_to_at = true;
  def.to_at[0] = 1, def.stiffness = 3, def.length = none;
  expect_refusal(world, def, "its length must be a finite number, got nan");
  def.length = INFINITY;
  expect_refusal(world, def, "its length must be a finite number, got inf");
  flo_world_destroy(world);
}

// A state with fewer numbers of each joint, as an earlier version would save it.
static void states_of_other_versions_are_refused(void **state) {
  (void)state;
  FloBodyId ball;
  FloWorld *world = world_with_a_ball(&ball);
  FloJointDef def = flo_default_joint_def();
  FloState *saved = NULL;
  FloError error = {0};
  def.body = ball;
  for (int k = 0; k < 3; ++k) assert_int_equal(flo_world_add_joint(world, &def, NULL, &error), FLO_OK);
  assert_int_equal(flo_world_step(world, NULL, &error), FLO_OK);
  assert_int_equal(flo_world_save(world, &saved, &error), FLO_OK);
  assert_int_equal(flo_world_restore(world, saved, &error), FLO_OK);
  FloStateArray *live = (FloStateArray *)flo_state_find(saved, "joints/live");
  live->count -= 3 * 2;
  assert_int_equal(flo_world_restore(world, saved, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "numbers of each joint, but this version of Flotsam has"));
  assert_non_null(strstr(error.text, "use the version that saved the state, or run the scene anew"));
  live->count += 1;
  assert_int_equal(flo_world_restore(world, saved, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "it was saved from another scene"));
  flo_state_destroy(saved);
  flo_world_destroy(world);
}

static void lengths_are_not_negative(void **state) {
  (void)state;
  const FloJointKind kinds[] = {FLO_JOINT_DISTANCE, FLO_JOINT_ROPE, FLO_JOINT_SPRING};
  const FloJointChange change = {.time = 1, .part = FLO_JOINT_LENGTH, .value = -0.5};
  FloBodyId ball;
  FloWorld *world = world_with_a_ball(&ball);
  FloError error;
  FloJointId id;
  for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) {
    FloJointDef def = flo_default_joint_def();
    def.kind = kinds[k], def.body = ball, def.has_to_at = true, def.to_at[0] = 1;
    assert_int_equal(flo_world_add_joint(world, &def, &id, &error), FLO_OK);
    assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_LENGTH, -1, &error), FLO_BAD_INPUT);
    assert_non_null(strstr(error.text, "its length must be a finite number of 0 or more, got -1"));
    assert_int_equal(flo_world_set_joint(world, id, FLO_JOINT_LENGTH, 0.5, &error), FLO_OK);
    def.changes = &change, def.n_changes = 1;
    expect_refusal(world, def, "its length must be a finite number of 0 or more, got -0.5");
  }
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_events),
      cmocka_unit_test(words_of_the_joint_do_the_same),
      cmocka_unit_test(worlds_refuse_them),
      cmocka_unit_test(open_joints_close),
      cmocka_unit_test(gears_stand_anywhere),
      cmocka_unit_test(calls_with_bad_values_are_refused),
      cmocka_unit_test(numbers_that_are_none_are_refused),
      cmocka_unit_test(lengths_are_not_negative),
      cmocka_unit_test(states_of_other_versions_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
