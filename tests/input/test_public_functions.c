// Every public function with good, NULL, stale and NaN arguments: it refuses politely, changes nothing, and
// never crashes. tests/structure/public.sh checks that each function of the public headers is called here.
#include "flotsam/flotsam.h"

#include "support/worlds.h"

#include <string.h>
#include <unistd.h>

// ---- A world with one thing of each kind ----

typedef struct Things {
  FloWorld *world;
  FloMaterialId water;
  FloBodyId tank, ball, paddle, cloth;
  FloJointId joint;
  FloEmitterId emitter;
  FloSinkId sink;
} Things;

static const FloBodyId no_body = {77, 1};
static const FloJointId no_joint = {77, 1};
static const double zero[3] = {0}, nan3[3] = {0, NAN, 0}, inf3[3] = {INFINITY, 0, 0};

static FloBodyDef body_def(const char *name, FloBodyKind kind, double x, double z) {
  FloBodyDef def = flo_default_body_def();
  def.name = name, def.kind = kind, def.density = 500;
  def.shape = box_shape(0.06, 0.06, 0.06);
  def.pose = pose_at(x, 0.06, z);
  return def;
}

static FloBodyDef cloth_def(void) {
  FloBodyDef def = body_def("cloth", FLO_BODY_CLOTH, 0.1, 0.6);
  static const FloPinDef pin = {.place = FLO_PIN_CORNERS};
  def.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.1, 0.1}, .cell = 0.05};
  def.cloth = (FloClothDef){.areal_density = 0.5, .stretch = 100, .bend = 1e-4};
  def.pins = &pin, def.n_pins = 1;
  return def;
}

static FloJointDef joint_def(const Things *things) {
  FloJointDef def = flo_default_joint_def();
  def.name = "joint", def.body = things->ball;
  vec_set(def.at, 0.1, 0.06, 0.3);
  return def;
}

static FloSinkDef sink_def(void) {
  FloSinkDef def = flo_default_sink_def();
  def.shape = box_shape(0.01, 0.01, 0.01), def.pose = pose_at(3, 3, 3);
  return def;
}

static FloEmitterDef emitter_def(FloMaterialId water) {
  FloEmitterDef def = flo_default_emitter_def();
  def.material = water, def.start = 1000;
  return def;
}

static Things make_things(void) {
  FloError error;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  Things t = {.world = create_dam(&def)};
  assert_ok(flo_world_find_body(t.world, "tank", &t.tank, &error), &error);
  assert_ok(flo_world_find_material(t.world, "water", &t.water, &error), &error);
  FloBodyDef ball = body_def("ball", FLO_BODY_DYNAMIC, 0.1, 0.3),
             paddle = body_def("paddle", FLO_BODY_KINEMATIC, 0.1, 0.45), cloth = cloth_def();
  t.ball = add_body(t.world, &ball), t.paddle = add_body(t.world, &paddle),
  t.cloth = add_body(t.world, &cloth);
  FloJointDef joint = joint_def(&t);
  assert_ok(flo_world_add_joint(t.world, &joint, &t.joint, &error), &error);
  FloEmitterDef emitter = emitter_def(t.water);
  assert_ok(flo_world_add_emitter(t.world, &emitter, &t.emitter, &error), &error);
  FloSinkDef sink = sink_def();
  assert_ok(flo_world_add_sink(t.world, &sink, &t.sink, &error), &error);
  return t;
}

// The call is refused with a text, and the world is as before.
#define REFUSE(call) refuse(call, &error, things.world, &hash, #call, __LINE__)
// The call succeeds.
#define GOOD(call)                                                                                           \
  do {                                                                                                       \
    assert_ok(call, &error);                                                                                 \
    hash = flo_world_hash(things.world);                                                                     \
  } while (0)

static void refuse(FloStatus status, FloError *error, const FloWorld *world, const uint64_t *hash,
                   const char *call, int line) {
  if (status != FLO_BAD_INPUT || error->text[0] == 0 || flo_world_hash(world) != *hash) {
    print_error("%s: '%s', text '%s', hash %s\n", call, flo_status_name(status), error->text,
                flo_world_hash(world) == *hash ? "same" : "changed");
    _fail(__FILE__, line);
  }
  *error = (FloError){0};
}

#define SETUP                                                                                                \
  (void)state;                                                                                               \
  Things things = make_things();                                                                             \
  FloWorld *world = things.world;                                                                            \
  FloError error = {0};                                                                                      \
  uint64_t hash = flo_world_hash(world)

// ---- Creation, parameters, adding ----

static void test_creation(void **state) {
  SETUP;
  FloWorldDef def = flo_default_world_def();
  FloWorld *made;
  double value;
  REFUSE(flo_world_create(NULL, &made, &error));
  assert_null(made);
  REFUSE(flo_world_create(&def, NULL, &error));
  def.spacing = NAN;
  REFUSE(flo_world_create(&def, &made, &error));
  const char *name = flo_method_params("monolithic", NULL)[0].name;
  GOOD(flo_world_get_param(world, name, &value, &error));
  GOOD(flo_world_set_param(world, name, value, &error));
  REFUSE(flo_world_get_param(NULL, name, &value, &error));
  REFUSE(flo_world_get_param(world, NULL, &value, &error));
  REFUSE(flo_world_get_param(world, name, NULL, &error));
  REFUSE(flo_world_get_param(world, "nothing", &value, &error));
  REFUSE(flo_world_set_param(NULL, name, 1, &error));
  REFUSE(flo_world_set_param(world, NULL, 1, &error));
  REFUSE(flo_world_set_param(world, name, NAN, &error));
  flo_world_destroy(world);
  flo_world_destroy(NULL);
}

static void test_adding(void **state) {
  SETUP;
  FloMaterialDef material = flo_default_material_def();
  FloBodyDef body = body_def("more", FLO_BODY_DYNAMIC, 5, 5);
  FloFluidDef fluid = flo_default_fluid_def();
  FloFillDef fill = flo_default_fill_def();
  FloEmitterDef emitter = emitter_def(things.water);
  FloSinkDef sink = sink_def();
  FloJointDef joint = joint_def(&things);
  const float bad_velocity[3] = {0, NAN, 0};
  fluid.material = fill.material = things.water;
  REFUSE(flo_world_add_material(NULL, &material, NULL, &error));
  REFUSE(flo_world_add_material(world, NULL, NULL, &error));
  REFUSE(flo_world_set_interface(NULL, (FloMaterialId){0, 1}, (FloMaterialId){0, 1}, 0.1, &error));
  REFUSE(flo_world_set_interface(world, (FloMaterialId){0, 1}, (FloMaterialId){0, 1}, 0.1, &error));
  REFUSE(flo_world_set_interface(world, (FloMaterialId){9, 1}, (FloMaterialId){0, 1}, 0.1, &error));
  REFUSE(flo_world_set_interface(world, (FloMaterialId){0, 1}, (FloMaterialId){0, 7}, (double)NAN, &error));
  REFUSE(flo_world_add_body(NULL, &body, NULL, &error));
  REFUSE(flo_world_add_body(world, NULL, NULL, &error));
  REFUSE(flo_world_add_fluid(NULL, &fluid, NULL, &error));
  REFUSE(flo_world_add_fluid(world, NULL, NULL, &error));
  REFUSE(flo_world_add_particles(NULL, things.water, 1, zero, NULL, &error));
  REFUSE(flo_world_add_particles(world, things.water, 1, NULL, NULL, &error));
  REFUSE(flo_world_add_particles(world, things.water, 1, nan3, NULL, &error));
  REFUSE(flo_world_add_particles(world, things.water, 1, zero, bad_velocity, &error));
  REFUSE(flo_world_add_particles(world, (FloMaterialId){9, 1}, 1, zero, NULL, &error));
  GOOD(flo_world_add_particles(world, things.water, 0, NULL, NULL, &error));
  REFUSE(flo_world_add_fill(NULL, &fill, NULL, &error));
  REFUSE(flo_world_add_fill(world, NULL, NULL, &error));
  REFUSE(flo_world_add_emitter(NULL, &emitter, NULL, &error));
  REFUSE(flo_world_add_emitter(world, NULL, NULL, &error));
  REFUSE(flo_world_add_sink(NULL, &sink, NULL, &error));
  REFUSE(flo_world_add_sink(world, NULL, NULL, &error));
  REFUSE(flo_world_add_joint(NULL, &joint, NULL, &error));
  REFUSE(flo_world_add_joint(world, NULL, NULL, &error));
  joint.body = no_body;
  REFUSE(flo_world_add_joint(world, &joint, NULL, &error));
  body.material = (FloMaterialId){9, 1};
  REFUSE(flo_world_add_body(world, &body, NULL, &error));
  flo_world_destroy(world);
}

// Arrays that are NULL although there should be something in them.
static void test_arrays_that_are_not_there(void **state) {
  SETUP;
  FloBodyDef body = body_def("more", FLO_BODY_KINEMATIC, 5, 5);
  body.n_motions = 1;
  REFUSE(flo_world_add_body(world, &body, NULL, &error));
  const FloMotionDef motion = {.kind = FLO_MOTION_KEYFRAMES, .end = 1, .n_keyframes = 2};
  body.motions = &motion;
  REFUSE(flo_world_add_body(world, &body, NULL, &error));
  body = body_def("more", FLO_BODY_STATIC, 5, 5);
  body.n_friction_changes = 1;
  REFUSE(flo_world_add_body(world, &body, NULL, &error));
  body = cloth_def();
  body.pins = NULL;
  REFUSE(flo_world_add_body(world, &body, NULL, &error));
  body = body_def("more", FLO_BODY_STATIC, 5, 5);
  for (FloShapeKind kind = FLO_SHAPE_BOX; kind < FLO_SHAPE_COUNT; ++kind) {
    body.shape = (FloShape){.kind = kind, .size = {0.1, 0.1, 0.1}, .radius = 0, .n_points = 3};
    if (flo_world_add_body(world, &body, NULL, &error) != FLO_OK) assert_true(error.text[0]);
  }
  const FloTriangles nothing = {NULL, NULL, 3, 1};
  body.shape = (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &nothing};
  REFUSE((hash = flo_world_hash(world), flo_world_add_body(world, &body, NULL, &error)));
  FloJointDef joint = joint_def(&things);
  joint.n_changes = 1;
  REFUSE(flo_world_add_joint(world, &joint, NULL, &error));
  joint = joint_def(&things);
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .n_keys = 1, .max_load = 1};
  REFUSE(flo_world_add_joint(world, &joint, NULL, &error));
  flo_world_destroy(world);
}

// A NaN in any number of a definition is refused, or not read: then the world goes on without trouble.
#define SWEEP_NAN(type, start, add)                                                                          \
  for (size_t at = 0; at + sizeof(double) <= sizeof(type); at += sizeof(double)) {                           \
    type def = start;                                                                                        \
    double before;                                                                                           \
    const double bad = NAN;                                                                                  \
    memcpy(&before, (char *)&def + at, sizeof before);                                                       \
    if (!is_number(before)) continue;                                                                        \
    memcpy((char *)&def + at, &bad, sizeof bad);                                                             \
    if ((add) == FLO_OK) step_finitely(things.world, #type, at);                                             \
  }

// Whether these eight bytes are a plain number rather than a pointer, an id or a flag.
static bool is_number(double value) {
  return value == 0 || (fabs(value) > 1e-9 && fabs(value) < 1e9) || isinf(value);
}

static void step_finitely(FloWorld *world, const char *type, size_t at) {
  FloError error;
  FloStatus status = flo_world_step(world, NULL, &error);
  FloMeasurements m = flo_world_measure(world);
  if (status == FLO_OK && isfinite(m.kinetic_energy + m.potential_energy)) return;
  print_error("NaN at byte %zu of a %s was accepted, and harms the world: %s\n", at, type,
              status ? error.text : "");
  fail();
}

static void test_nan_in_definitions(void **state) {
  SETUP;
  (void)hash;
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = things.water, fluid.shape = box_shape(0.05, 0.05, 0.05);
  FloFillDef fill = flo_default_fill_def();
  fill.material = things.water, fill.level = 0.05;
  vec_set(fill.seed, 0.02, 0.02, 0.02);
  SWEEP_NAN(FloMaterialDef, flo_default_material_def(), flo_world_add_material(world, &def, NULL, &error));
  SWEEP_NAN(FloBodyDef, body_def("nan", FLO_BODY_STATIC, 5, 5),
            flo_world_add_body(world, &def, NULL, &error));
  SWEEP_NAN(FloFluidDef, fluid, flo_world_add_fluid(world, &def, NULL, &error));
  SWEEP_NAN(FloFillDef, fill, flo_world_add_fill(world, &def, NULL, &error));
  SWEEP_NAN(FloEmitterDef, emitter_def(things.water), flo_world_add_emitter(world, &def, NULL, &error));
  SWEEP_NAN(FloSinkDef, sink_def(), flo_world_add_sink(world, &def, NULL, &error));
  SWEEP_NAN(FloJointDef, joint_def(&things), flo_world_add_joint(world, &def, NULL, &error));
  flo_world_destroy(world);
}

static void test_nan_in_definitions_of_moving_bodies(void **state) {
  (void)state;
  const FloBodyKind kinds[] = {FLO_BODY_DYNAMIC, FLO_BODY_CLOTH, FLO_BODY_ELASTIC};
  for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) {
    FloBodyDef start = kinds[k] == FLO_BODY_CLOTH ? cloth_def() : body_def("nan", kinds[k], 5, 5);
    start.elastic = (FloElasticDef){.young = 1e5, .poisson = 0.3};
    for (size_t at = 0; at + sizeof(double) <= sizeof start; at += sizeof(double)) {
      FloBodyDef def = start;
      FloWorldDef world_def = small_world_def(3);
      const double bad = NAN;
      double before;
      world_def.method = "monolithic";
      memcpy(&before, (char *)&def + at, sizeof before);
      if (!is_number(before)) continue;
      memcpy((char *)&def + at, &bad, sizeof bad);
      FloWorld *world = create_world(&world_def);
      if (flo_world_add_body(world, &def, NULL, NULL) == FLO_OK) step_finitely(world, "FloBodyDef", at);
      flo_world_destroy(world);
    }
  }
}

// ---- Stepping and asking ----

static void test_stepping(void **state) {
  SETUP;
  FloStepInfo info;
  REFUSE(flo_world_step(NULL, &info, &error));
  REFUSE(flo_world_step_until(NULL, 1, &info, &error));
  REFUSE(flo_world_step_until(world, NAN, &info, &error));
  REFUSE(flo_world_advance(NULL, 1, &info, &error));
  REFUSE(flo_world_advance(world, INFINITY, &info, &error));
  assert_int_equal(flo_world_step(NULL, NULL, NULL), FLO_BAD_INPUT);
  GOOD(flo_world_step(world, NULL, NULL));
  GOOD(flo_world_step_until(world, flo_world_time(world) + 1e-4, &info, &error));
  GOOD(flo_world_advance(world, flo_world_time(world) + 1e-4, &info, &error));
  assert_true(flo_world_max_dt(NULL, NULL) == 0 && flo_world_max_dt(world, NULL) > 0);
  REFUSE(flo_world_set_step_callback(NULL, NULL, NULL, &error));
  GOOD(flo_world_set_step_callback(world, NULL, NULL, &error));
  flo_world_destroy(world);
}

static void test_values_of_nothing(void **state) {
  SETUP;
  (void)hash, (void)error;
  double density = 1, pressure = 1, seconds;
  assert_true(flo_world_time(NULL) == 0);
  assert_int_equal(flo_world_count(NULL, FLO_SET_FLUID), 0);
  assert_int_equal(flo_world_count(world, (FloSet)99), 0);
  assert_int_equal(flo_world_measure(NULL).fluid_particles, 0);
  assert_true(flo_world_measure(world).fluid_particles > 0);
  flo_world_restart_averages(NULL);
  flo_world_restart_averages(world);
  assert_null(flo_world_field_name(NULL, FLO_SET_FLUID, 0));
  assert_null(flo_world_field_name(world, (FloSet)99, 0));
  assert_non_null(flo_world_field_name(world, FLO_SET_FLUID, 0));
  flo_world_sample(NULL, zero, &density, &pressure);
  assert_true(density == 0 && pressure == 0);
  flo_world_sample(world, NULL, NULL, NULL);
  flo_world_sample(world, nan3, &density, NULL);
  assert_true(density == 0);
  assert_false(flo_world_bad_particle(NULL, NULL, NULL, NULL));
  assert_true(flo_world_hash(NULL) == 0);
  assert_int_equal(flo_world_residuals(NULL).n_solvers, 0);
  assert_int_equal(flo_world_residuals(world).n_solvers, 0);
  assert_null(flo_world_stage(NULL, 0, &seconds));
  assert_non_null(flo_world_stage(world, 0, NULL));
  assert_int_equal(flo_world_memory(NULL), 0);
  assert_int_equal(flo_world_list_bodies(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_bodies(world, NULL, 5), 4);
  assert_int_equal(flo_world_list_joints(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_joints(world, NULL, 5), 1);
  assert_int_equal(flo_world_list_materials(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_materials(world, NULL, 5), 1);
  assert_int_equal(flo_world_list_emitters(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_emitters(world, NULL, 5), 1);
  assert_int_equal(flo_world_list_sinks(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_sinks(world, NULL, 5), 1);
  assert_int_equal(flo_world_list_contacts(NULL, NULL, 5), 0);
  assert_int_equal(flo_world_list_contacts(world, NULL, 5), 0);
  flo_world_destroy(world);
}

static void test_states_of_things(void **state) {
  SETUP;
  FloBodyState body;
  FloJointState joint;
  FloSoftState soft;
  FloView view;
  GOOD(flo_world_body_state(world, things.ball, &body, &error));
  REFUSE(flo_world_body_state(NULL, things.ball, &body, &error));
  REFUSE(flo_world_body_state(world, no_body, &body, &error));
  REFUSE(flo_world_body_state(world, (FloBodyId){0}, &body, &error));
  REFUSE(flo_world_body_state(world, things.ball, NULL, &error));
  GOOD(flo_world_joint_state(world, things.joint, &joint, &error));
  REFUSE(flo_world_joint_state(NULL, things.joint, &joint, &error));
  REFUSE(flo_world_joint_state(world, no_joint, &joint, &error));
  REFUSE(flo_world_joint_state(world, things.joint, NULL, &error));
  GOOD(flo_world_soft_state(world, things.cloth, &soft, &error));
  REFUSE(flo_world_soft_state(NULL, things.cloth, &soft, &error));
  REFUSE(flo_world_soft_state(world, things.ball, &soft, &error));
  REFUSE(flo_world_soft_state(world, no_body, &soft, &error));
  REFUSE(flo_world_soft_state(world, things.cloth, NULL, &error));
  GOOD(flo_world_view(world, FLO_SET_FLUID, "x", &view, &error));
  REFUSE(flo_world_view(NULL, FLO_SET_FLUID, "x", &view, &error));
  REFUSE(flo_world_view(world, (FloSet)99, "x", &view, &error));
  REFUSE(flo_world_view(world, FLO_SET_FLUID, NULL, &view, &error));
  REFUSE(flo_world_view(world, FLO_SET_FLUID, "x", NULL, &error));
  GOOD(flo_world_set_joint(world, things.joint, FLO_JOINT_FRICTION, 1, &error));
  REFUSE(flo_world_set_joint(NULL, things.joint, FLO_JOINT_FRICTION, 1, &error));
  REFUSE(flo_world_set_joint(world, no_joint, FLO_JOINT_FRICTION, 1, &error));
  REFUSE(flo_world_set_joint(world, things.joint, FLO_JOINT_FRICTION, NAN, &error));
  REFUSE(flo_world_set_joint(world, things.joint, FLO_JOINT_PART_COUNT, 1, &error));
  flo_world_destroy(world);
}

static void test_about_things(void **state) {
  SETUP;
  FloBodyInfo body;
  FloJointInfo joint;
  FloMaterialDef material;
  FloBodyId body_id;
  FloJointId joint_id;
  FloMaterialId material_id;
  FloBodyMesh mesh;
  double velocity[3];
  GOOD(flo_world_body_info(world, things.cloth, &body, &error));
  REFUSE(flo_world_body_info(NULL, things.cloth, &body, &error));
  REFUSE(flo_world_body_info(world, no_body, &body, &error));
  REFUSE(flo_world_body_info(world, things.cloth, NULL, &error));
  GOOD(flo_world_joint_info(world, things.joint, &joint, &error));
  REFUSE(flo_world_joint_info(NULL, things.joint, &joint, &error));
  REFUSE(flo_world_joint_info(world, no_joint, &joint, &error));
  REFUSE(flo_world_joint_info(world, things.joint, NULL, &error));
  GOOD(flo_world_material_info(world, things.water, &material, &error));
  REFUSE(flo_world_material_info(NULL, things.water, &material, &error));
  REFUSE(flo_world_material_info(world, (FloMaterialId){5, 1}, &material, &error));
  REFUSE(flo_world_material_info(world, things.water, NULL, &error));
  GOOD(flo_world_find_body(world, "ball", &body_id, &error));
  REFUSE(flo_world_find_body(NULL, "ball", &body_id, &error));
  REFUSE(flo_world_find_body(world, NULL, &body_id, &error));
  REFUSE(flo_world_find_body(world, "ball", NULL, &error));
  GOOD(flo_world_find_joint(world, "joint", &joint_id, &error));
  REFUSE(flo_world_find_joint(NULL, "joint", &joint_id, &error));
  REFUSE(flo_world_find_joint(world, NULL, &joint_id, &error));
  REFUSE(flo_world_find_joint(world, "joint", NULL, &error));
  GOOD(flo_world_find_material(world, "water", &material_id, &error));
  REFUSE(flo_world_find_material(NULL, "water", &material_id, &error));
  REFUSE(flo_world_find_material(world, "wine", &material_id, &error));
  REFUSE(flo_world_find_material(world, "water", NULL, &error));
  GOOD(flo_world_body_mesh(world, things.cloth, &mesh, &error));
  REFUSE(flo_world_body_mesh(NULL, things.cloth, &mesh, &error));
  REFUSE(flo_world_body_mesh(world, no_body, &mesh, &error));
  REFUSE(flo_world_body_mesh(world, things.cloth, NULL, &error));
  assert_fails(flo_world_body_mesh(world, things.ball, &mesh, &error), FLO_UNSUPPORTED, &error, "shape");
  GOOD(flo_world_body_velocity_at(world, things.ball, zero, velocity, &error));
  REFUSE(flo_world_body_velocity_at(NULL, things.ball, zero, velocity, &error));
  REFUSE(flo_world_body_velocity_at(world, no_body, zero, velocity, &error));
  REFUSE(flo_world_body_velocity_at(world, things.ball, nan3, velocity, &error));
  REFUSE(flo_world_body_velocity_at(world, things.ball, zero, NULL, &error));
  flo_world_destroy(world);
}

static void test_places(void **state) {
  SETUP;
  FloRayHit hit;
  FloNearestPoint closest;
  FloPointSample sample;
  size_t n;
  GOOD(flo_world_cast_ray(world, zero, zero, UINT32_MAX, &hit, &error));
  REFUSE(flo_world_cast_ray(NULL, zero, zero, UINT32_MAX, &hit, &error));
  REFUSE(flo_world_cast_ray(world, NULL, zero, UINT32_MAX, &hit, &error));
  REFUSE(flo_world_cast_ray(world, nan3, zero, UINT32_MAX, &hit, &error));
  REFUSE(flo_world_cast_ray(world, zero, inf3, UINT32_MAX, &hit, &error));
  REFUSE(flo_world_cast_ray(world, zero, zero, UINT32_MAX, NULL, &error));
  GOOD(flo_world_closest_point(world, zero, INFINITY, UINT32_MAX, &closest, &error));
  REFUSE(flo_world_closest_point(NULL, zero, 1, UINT32_MAX, &closest, &error));
  REFUSE(flo_world_closest_point(world, nan3, 1, UINT32_MAX, &closest, &error));
  REFUSE(flo_world_closest_point(world, zero, NAN, UINT32_MAX, &closest, &error));
  REFUSE(flo_world_closest_point(world, zero, 1, UINT32_MAX, NULL, &error));
  GOOD(flo_world_overlap_ball(world, zero, 1, UINT32_MAX, NULL, 9, &n, &error));
  REFUSE(flo_world_overlap_ball(NULL, zero, 1, UINT32_MAX, NULL, 0, &n, &error));
  REFUSE(flo_world_overlap_ball(world, NULL, 1, UINT32_MAX, NULL, 0, &n, &error));
  REFUSE(flo_world_overlap_ball(world, zero, NAN, UINT32_MAX, NULL, 0, &n, &error));
  REFUSE(flo_world_overlap_ball(world, zero, 1, UINT32_MAX, NULL, 0, NULL, &error));
  GOOD(flo_world_sample_points(world, 1, zero, &sample, &error));
  GOOD(flo_world_sample_points(world, 0, NULL, NULL, &error));
  REFUSE(flo_world_sample_points(NULL, 1, zero, &sample, &error));
  REFUSE(flo_world_sample_points(world, 1, NULL, &sample, &error));
  REFUSE(flo_world_sample_points(world, 1, nan3, &sample, &error));
  REFUSE(flo_world_sample_points(world, 1, zero, NULL, &error));
  flo_world_destroy(world);
}

// ---- Driving ----

static void test_pushes(void **state) {
  SETUP;
  GOOD(flo_world_apply_force(world, things.ball, zero, NULL, &error));
  GOOD(flo_world_apply_force(world, things.cloth, zero, zero, &error));
  REFUSE(flo_world_apply_force(NULL, things.ball, zero, NULL, &error));
  REFUSE(flo_world_apply_force(world, no_body, zero, NULL, &error));
  REFUSE(flo_world_apply_force(world, things.tank, zero, NULL, &error));
  REFUSE(flo_world_apply_force(world, things.ball, NULL, NULL, &error));
  REFUSE(flo_world_apply_force(world, things.ball, nan3, NULL, &error));
  REFUSE(flo_world_apply_force(world, things.ball, zero, inf3, &error));
  GOOD(flo_world_apply_torque(world, things.ball, zero, &error));
  REFUSE(flo_world_apply_torque(NULL, things.ball, zero, &error));
  REFUSE(flo_world_apply_torque(world, no_body, zero, &error));
  REFUSE(flo_world_apply_torque(world, things.cloth, zero, &error));
  REFUSE(flo_world_apply_torque(world, things.ball, nan3, &error));
  REFUSE(flo_world_apply_torque(world, things.ball, NULL, &error));
  GOOD(flo_world_apply_impulse(world, things.ball, zero, NULL, &error));
  GOOD(flo_world_apply_impulse(world, things.cloth, zero, NULL, &error));
  REFUSE(flo_world_apply_impulse(NULL, things.ball, zero, NULL, &error));
  REFUSE(flo_world_apply_impulse(world, no_body, zero, NULL, &error));
  REFUSE(flo_world_apply_impulse(world, things.ball, nan3, NULL, &error));
  REFUSE(flo_world_apply_impulse(world, things.ball, NULL, NULL, &error));
  REFUSE(flo_world_apply_impulse(world, things.ball, zero, nan3, &error));
  GOOD(flo_world_apply_angular_impulse(world, things.ball, zero, &error));
  REFUSE(flo_world_apply_angular_impulse(NULL, things.ball, zero, &error));
  REFUSE(flo_world_apply_angular_impulse(world, no_body, zero, &error));
  REFUSE(flo_world_apply_angular_impulse(world, things.ball, inf3, &error));
  REFUSE(flo_world_apply_angular_impulse(world, things.ball, NULL, &error));
  flo_world_destroy(world);
}

static void test_placing(void **state) {
  SETUP;
  FloPose pose = pose_at(0.1, 0.06, 0.4), bad = {{0}, {0, 0, 0, 2}}, nan = pose_at(0, NAN, 0);
  GOOD(flo_world_set_body_pose(world, things.ball, &pose, &error));
  REFUSE(flo_world_set_body_pose(NULL, things.ball, &pose, &error));
  REFUSE(flo_world_set_body_pose(world, no_body, &pose, &error));
  REFUSE(flo_world_set_body_pose(world, things.ball, NULL, &error));
  REFUSE(flo_world_set_body_pose(world, things.ball, &bad, &error));
  REFUSE(flo_world_set_body_pose(world, things.ball, &nan, &error));
  GOOD(flo_world_set_body_velocity(world, things.ball, zero, zero, &error));
  REFUSE(flo_world_set_body_velocity(NULL, things.ball, zero, zero, &error));
  REFUSE(flo_world_set_body_velocity(world, no_body, zero, zero, &error));
  REFUSE(flo_world_set_body_velocity(world, things.tank, zero, zero, &error));
  REFUSE(flo_world_set_body_velocity(world, things.ball, nan3, zero, &error));
  REFUSE(flo_world_set_body_velocity(world, things.ball, zero, NULL, &error));
  GOOD(flo_world_set_body_target(world, things.paddle, &pose, 1, &error));
  REFUSE(flo_world_set_body_target(NULL, things.paddle, &pose, 1, &error));
  REFUSE(flo_world_set_body_target(world, no_body, &pose, 1, &error));
  REFUSE(flo_world_set_body_target(world, things.ball, &pose, 1, &error));
  REFUSE(flo_world_set_body_target(world, things.paddle, NULL, 1, &error));
  REFUSE(flo_world_set_body_target(world, things.paddle, &nan, 1, &error));
  REFUSE(flo_world_set_body_target(world, things.paddle, &pose, NAN, &error));
  REFUSE(flo_world_set_body_target(world, things.paddle, &pose, -1, &error));
  GOOD(flo_world_set_body_kind(world, things.paddle, FLO_BODY_STATIC, &error));
  REFUSE(flo_world_set_body_kind(NULL, things.paddle, FLO_BODY_STATIC, &error));
  REFUSE(flo_world_set_body_kind(world, no_body, FLO_BODY_STATIC, &error));
  REFUSE(flo_world_set_body_kind(world, things.paddle, (FloBodyKind)99, &error));
  REFUSE(flo_world_set_body_kind(world, things.ball, FLO_BODY_STATIC, &error)); // a joint holds it
  REFUSE(flo_world_set_body_kind(world, things.cloth, FLO_BODY_STATIC, &error));
  GOOD(flo_world_set_body_filter(world, things.ball, (FloFilter){1, 1}, &error));
  REFUSE(flo_world_set_body_filter(NULL, things.ball, (FloFilter){1, 1}, &error));
  REFUSE(flo_world_set_body_filter(world, no_body, (FloFilter){1, 1}, &error));
  GOOD(flo_world_set_body_user_data(world, things.ball, NULL, &error));
  REFUSE(flo_world_set_body_user_data(NULL, things.ball, NULL, &error));
  REFUSE(flo_world_set_body_user_data(world, no_body, NULL, &error));
  GOOD(flo_world_set_pin(world, things.cloth, 0, false, &error));
  REFUSE(flo_world_set_pin(NULL, things.cloth, 0, false, &error));
  REFUSE(flo_world_set_pin(world, no_body, 0, false, &error));
  REFUSE(flo_world_set_pin(world, things.cloth, 9, false, &error));
  REFUSE(flo_world_set_pin(world, things.ball, 0, false, &error));
  GOOD(flo_world_move_pin(world, things.cloth, 0, zero, &error));
  REFUSE(flo_world_move_pin(NULL, things.cloth, 0, zero, &error));
  REFUSE(flo_world_move_pin(world, no_body, 0, zero, &error));
  REFUSE(flo_world_move_pin(world, things.cloth, 0, nan3, &error));
  REFUSE(flo_world_move_pin(world, things.cloth, 0, NULL, &error));
  flo_world_destroy(world);
}

static void test_fluid_and_gravity(void **state) {
  SETUP;
  const uint32_t ids[] = {1, 2};
  FloShape box = box_shape(0.01, 0.01, 0.01), tank = {.kind = FLO_SHAPE_TANK, .size = {1, 1, 1}},
           nan = box_shape(NAN, 1, 1);
  FloPose pose = pose_at(9, 9, 9), bad = pose_at(NAN, 0, 0);
  size_t n;
  GOOD(flo_world_remove_particles(world, ids, 2, &n, &error));
  REFUSE(flo_world_remove_particles(NULL, ids, 2, &n, &error));
  REFUSE(flo_world_remove_particles(world, NULL, 2, &n, &error));
  GOOD(flo_world_remove_fluid(world, &box, &pose, NULL, &error));
  REFUSE(flo_world_remove_fluid(NULL, &box, &pose, &n, &error));
  REFUSE(flo_world_remove_fluid(world, NULL, &pose, &n, &error));
  REFUSE(flo_world_remove_fluid(world, &box, NULL, &n, &error));
  REFUSE(flo_world_remove_fluid(world, &box, &bad, &n, &error));
  REFUSE(flo_world_remove_fluid(world, &nan, &pose, &n, &error));
  REFUSE(flo_world_remove_fluid(world, &tank, &pose, &n, &error));
  GOOD(flo_world_remove_fluid_in(world, things.ball, NULL, &error));
  REFUSE(flo_world_remove_fluid_in(NULL, things.ball, &n, &error));
  REFUSE(flo_world_remove_fluid_in(world, no_body, &n, &error));
  n = flo_world_count(world, FLO_SET_FLUID);
  double *x = calloc(n, sizeof *x);
  memcpy(x, view_of(world, FLO_SET_FLUID, "x").data, n * sizeof *x);
  GOOD(flo_world_set_field(world, "x", x, n, &error));
  REFUSE(flo_world_set_field(NULL, "x", x, n, &error));
  REFUSE(flo_world_set_field(world, NULL, x, n, &error));
  REFUSE(flo_world_set_field(world, "x", NULL, n, &error));
  REFUSE(flo_world_set_field(world, "mass", x, n, &error));
  x[3] = NAN;
  REFUSE(flo_world_set_field(world, "x", x, n, &error));
  free(x);
  GOOD(flo_world_set_gravity(world, zero, &error));
  REFUSE(flo_world_set_gravity(NULL, zero, &error));
  REFUSE(flo_world_set_gravity(world, NULL, &error));
  REFUSE(flo_world_set_gravity(world, nan3, &error));
  GOOD(flo_world_set_emitter_speed(world, things.emitter, 2, &error));
  REFUSE(flo_world_set_emitter_speed(NULL, things.emitter, 2, &error));
  REFUSE(flo_world_set_emitter_speed(world, (FloEmitterId){5, 1}, 2, &error));
  REFUSE(flo_world_set_emitter_speed(world, things.emitter, NAN, &error));
  flo_world_destroy(world);
}

// Removed things are refused by everything that takes their ids, for ever.
static void test_removing(void **state) {
  SETUP;
  FloMaterialId oil = add_material(world, 800, 1e-5);
  REFUSE(flo_world_remove_body(NULL, things.ball, &error));
  REFUSE(flo_world_remove_body(world, no_body, &error));
  REFUSE(flo_world_remove_joint(NULL, things.joint, &error));
  REFUSE(flo_world_remove_joint(world, no_joint, &error));
  REFUSE(flo_world_remove_material(NULL, oil, &error));
  REFUSE(flo_world_remove_material(world, (FloMaterialId){7, 1}, &error));
  REFUSE(flo_world_remove_emitter(NULL, things.emitter, &error));
  REFUSE(flo_world_remove_emitter(world, (FloEmitterId){7, 1}, &error));
  REFUSE(flo_world_remove_sink(NULL, things.sink, &error));
  REFUSE(flo_world_remove_sink(world, (FloSinkId){7, 1}, &error));
  GOOD(flo_world_remove_joint(world, things.joint, &error));
  GOOD(flo_world_remove_body(world, things.ball, &error));
  GOOD(flo_world_remove_body(world, things.cloth, &error));
  GOOD(flo_world_remove_material(world, oil, &error));
  GOOD(flo_world_remove_emitter(world, things.emitter, &error));
  GOOD(flo_world_remove_sink(world, things.sink, &error));
  for (int k = 0; k < 5; ++k) {
    FloBodyDef def = body_def("later", FLO_BODY_DYNAMIC, 5 + k, 5);
    add_body(world, &def);
    GOOD(flo_world_step(world, NULL, &error));
    FloBodyState body;
    FloJointState joint;
    REFUSE(flo_world_body_state(world, things.ball, &body, &error));
    REFUSE(flo_world_remove_body(world, things.ball, &error));
    REFUSE(flo_world_remove_body(world, things.cloth, &error));
    REFUSE(flo_world_joint_state(world, things.joint, &joint, &error));
    REFUSE(flo_world_set_joint(world, things.joint, FLO_JOINT_RELEASE, 0, &error));
    REFUSE(flo_world_remove_joint(world, things.joint, &error));
    REFUSE(flo_world_remove_material(world, oil, &error));
    REFUSE(flo_world_remove_emitter(world, things.emitter, &error));
    REFUSE(flo_world_remove_sink(world, things.sink, &error));
    REFUSE(flo_world_apply_force(world, things.ball, zero, NULL, &error));
  }
  flo_world_destroy(world);
}

// ---- States, and what needs no world ----

static void test_states(void **state) {
  SETUP;
  FloState *saved = NULL, *copy = NULL;
  char path[] = "/tmp/flotsam-public-XXXXXX";
  size_t size;
  GOOD(flo_world_save(world, &saved, &error));
  REFUSE(flo_world_save(NULL, &saved, &error));
  REFUSE(flo_world_save(world, NULL, &error));
  GOOD(flo_world_restore(world, saved, &error));
  REFUSE(flo_world_restore(NULL, saved, &error));
  REFUSE(flo_world_restore(world, NULL, &error));
  GOOD(flo_state_pack(saved, NULL, 0, &size, &error));
  REFUSE(flo_state_pack(NULL, NULL, 0, &size, &error));
  REFUSE(flo_state_pack(saved, NULL, 0, NULL, &error));
  char *bytes = malloc(size);
  GOOD(flo_state_pack(saved, bytes, size, &size, &error));
  GOOD(flo_state_unpack(bytes, size, &copy, &error));
  flo_state_destroy(copy);
  REFUSE(flo_state_unpack(NULL, size, &copy, &error));
  REFUSE(flo_state_unpack(bytes, 0, &copy, &error));
  REFUSE(flo_state_unpack(bytes, size, NULL, &error));
  free(bytes);
  close(mkstemp(path));
  GOOD(flo_state_write(saved, path, &error));
  REFUSE(flo_state_write(NULL, path, &error));
  REFUSE(flo_state_write(saved, NULL, &error));
  GOOD(flo_state_read(path, &copy, &error));
  flo_state_destroy(copy);
  REFUSE(flo_state_read(NULL, &copy, &error));
  REFUSE(flo_state_read(path, NULL, &error));
  unlink(path);
  assert_int_equal(flo_state_write(saved, "/nowhere/at/all", &error), FLO_IO_FAILED);
  assert_int_equal(flo_state_read(path, &copy, &error), FLO_IO_FAILED);
  flo_state_destroy(saved);
  flo_state_destroy(NULL);
  flo_world_destroy(world);
}

static void test_names_and_defaults(void **state) {
  (void)state;
  size_t n = 1;
  FloKernel kernel;
  assert_true(flo_default_motion_def().end > 1e300);
  assert_true(flo_pose_identity().rotation[3] == 1);
  assert_non_null(flo_version());
  assert_non_null(flo_simd_name());
  assert_string_equal(flo_status_name(FLO_OK), "ok");
  assert_string_equal(flo_status_name((FloStatus)99), "unknown");
  assert_true(flo_method_count() > 3);
  assert_non_null(flo_method_name(0));
  assert_null(flo_method_name(99));
  assert_null(flo_method_paper(NULL));
  assert_non_null(flo_method_paper("monolithic"));
  assert_null(flo_method_params(NULL, &n));
  assert_int_equal(n, 0);
  assert_null(flo_method_words(NULL, NULL));
  assert_null(flo_method_words("monolithic", NULL));
  assert_null(flo_joint_kind_name(FLO_JOINT_COUNT));
  assert_null(flo_joint_kind_name((FloJointKind)-1));
  assert_string_equal(flo_joint_kind_name(FLO_JOINT_HINGE), "hinge");
  assert_null(flo_kernel_name((FloKernel)99));
  assert_null(flo_kernel_name((FloKernel)-1));
  assert_false(flo_kernel_from_name(NULL, &kernel));
  assert_false(flo_kernel_from_name("poly6", NULL));
  assert_true(flo_kernel_from_name(flo_kernel_name(FLO_KERNEL_POLY6), &kernel));
  flo_set_assert_handler(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_creation),
      cmocka_unit_test(test_adding),
      cmocka_unit_test(test_arrays_that_are_not_there),
      cmocka_unit_test(test_nan_in_definitions),
      cmocka_unit_test(test_nan_in_definitions_of_moving_bodies),
      cmocka_unit_test(test_stepping),
      cmocka_unit_test(test_values_of_nothing),
      cmocka_unit_test(test_states_of_things),
      cmocka_unit_test(test_about_things),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_pushes),
      cmocka_unit_test(test_placing),
      cmocka_unit_test(test_fluid_and_gravity),
      cmocka_unit_test(test_removing),
      cmocka_unit_test(test_states),
      cmocka_unit_test(test_names_and_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
