// Removing things from a world that runs, adding bodies in fluid, and asking a world: lists, names, rays,
// points, contacts, states as bytes.
#include "flotsam/flotsam.h"

#include "support/worlds.h"

#include <string.h>
#include <unistd.h>

static FloWorld *tank_of(const char *method, int threads) {
  FloWorldDef def = small_world_def(3);
  def.method = method, def.threads = threads;
  return create_dam(&def);
}

static FloBodyId add_ball(FloWorld *world, const char *name, FloBodyKind kind, double x, double y, double z) {
  FloBodyDef def = flo_default_body_def();
  def.name = name, def.kind = kind, def.density = 800;
  def.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.04};
  def.pose = pose_at(x, y, z);
  return add_body(world, &def);
}

static bool is_gone(FloWorld *world, FloBodyId id) {
  FloBodyState state;
  return flo_world_body_state(world, id, &state, NULL) == FLO_BAD_INPUT;
}

// ---- Removing bodies ----

// A world from which a body was removed before its first step goes on as one that never had it, bit for bit,
// except that its bodies have other numbers.
static void test_a_removed_body_leaves_nothing_behind(void **state) {
  (void)state;
  const char *const methods[] = {"wcsph", "monolithic", "direct-forcing", "constraint", "elastic", "unified"};
  for (size_t m = 0; m < FLO_COUNT_OF(methods); ++m) {
    FloWorld *worlds[2];
    FloError error;
    for (int k = 0; k < 2; ++k) {
      worlds[k] = tank_of(methods[m], 1);
      FloBodyId extra = {0};
      if (k == 1) extra = add_ball(worlds[k], "extra", FLO_BODY_STATIC, 0.2, 0.06, 0.05);
      add_ball(worlds[k], "stays", FLO_BODY_STATIC, 0.2, 0.06, 0.2);
      if (k == 1) assert_ok(flo_world_remove_body(worlds[k], extra, &error), &error);
      if (k == 1) assert_true(is_gone(worlds[k], extra));
      step_world(worlds[k], 20);
    }
    for (int set = 0; set < FLO_SET_COUNT; ++set)
      assert_int_equal(flo_world_count(worlds[0], (FloSet)set), flo_world_count(worlds[1], (FloSet)set));
    for (size_t i = 0; i < flo_world_count(worlds[0], FLO_SET_FLUID); ++i)
      assert_true(field_at(worlds[0], FLO_SET_FLUID, "x", i) == field_at(worlds[1], FLO_SET_FLUID, "x", i));
    for (int k = 0; k < 2; ++k) flo_world_destroy(worlds[k]);
  }
}

// Bodies come and go while the world runs, with joints, pins and contacts; the same bits for any number of
// threads, and after a restored state.
static FloWorld *run_with_removals(const char *method, int threads, bool restores) {
  FloError error;
  FloState *saved = NULL;
  FloWorld *world = tank_of(method, threads);
  FloBodyId balls[3];
  for (int k = 0; k < 3; ++k)
    balls[k] = add_ball(world, "ball", FLO_BODY_DYNAMIC, 0.05 + 0.07 * k, 0.06, 0.25);
  FloJointDef joint = flo_default_joint_def();
  joint.kind = FLO_JOINT_BALL, joint.body = balls[0], joint.to = balls[1];
  vec_set(joint.at, 0.085, 0.06, 0.25);
  FloJointId id;
  assert_ok(flo_world_add_joint(world, &joint, &id, &error), &error);
  step_world(world, 15);
  assert_ok(flo_world_remove_body(world, balls[1], &error), &error);
  FloJointState gone;
  assert_refused(flo_world_joint_state(world, id, &gone, &error), &error, "joint");
  step_world(world, 5);
  FloBodyId later = add_ball(world, "later", FLO_BODY_DYNAMIC, 0.2, 0.06, 0.2);
  if (restores) {
    assert_ok(flo_world_save(world, &saved, &error), &error);
    step_world(world, 7);
    assert_ok(flo_world_restore(world, saved, &error), &error);
  }
  step_world(world, 10);
  assert_ok(flo_world_remove_body(world, balls[0], &error), &error);
  if (restores) assert_refused(flo_world_restore(world, saved, &error), &error, "removed");
  flo_state_destroy(saved);
  step_world(world, 10);
  for (int k = 0; k < 3; ++k) assert_true(is_gone(world, balls[k]) == (k < 2));
  assert_true(!is_gone(world, later));
  return world;
}

static void test_removals_keep_bits(void **state) {
  (void)state;
  const char *const methods[] = {"monolithic", "direct-forcing", "constraint", "elastic", "unified"};
  for (size_t m = 0; m < FLO_COUNT_OF(methods); ++m) {
    FloWorld *first = run_with_removals(methods[m], 1, false);
    const uint64_t hash = flo_world_hash(first);
    flo_world_destroy(first);
    FloWorld *second = run_with_removals(methods[m], 3, false),
             *third = run_with_removals(methods[m], 1, true);
    assert_true(hash == flo_world_hash(second));
    assert_true(hash == flo_world_hash(third));
    flo_world_destroy(second);
    flo_world_destroy(third);
  }
}

// The memory of a world that adds and removes bodies again and again grows by the places of the bodies only.
static void test_removed_bodies_release_memory(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  size_t early = 0;
  for (int k = 0; k < 60; ++k) {
    FloError error;
    FloBodyId id = add_ball(world, "ball", FLO_BODY_DYNAMIC, 0, 0, 0.1 * (k % 3));
    step_world(world, 1);
    assert_ok(flo_world_remove_body(world, id, &error), &error);
    if (k == 20) early = flo_world_memory(world);
  }
  assert_true(flo_world_memory(world) < early + 200000);
  assert_int_equal(flo_world_list_bodies(world, NULL, 0), 0);
  flo_world_destroy(world);
}

static void test_a_pin_to_a_removed_body_lets_go(void **state) {
  (void)state;
  FloError error;
  FloWorldDef world_def = small_world_def(3);
  world_def.method = "monolithic";
  FloWorld *world = create_world(&world_def);
  FloBodyId hook = add_ball(world, "hook", FLO_BODY_STATIC, 0, 0, 1);
  FloBodyDef def = flo_default_body_def();
  def.name = "sheet", def.kind = FLO_BODY_CLOTH;
  def.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.2, 0.2}, .cell = 0.05};
  def.pose = pose_at(0, 0, 0.5);
  def.cloth = (FloClothDef){.areal_density = 0.5, .stretch = 100, .bend = 1e-4};
  const FloPinDef pins[] = {{.place = FLO_PIN_CORNERS, .to = hook}};
  def.pins = pins, def.n_pins = 1;
  FloBodyId sheet = add_body(world, &def);
  FloSoftState soft;
  step_world(world, 5);
  assert_ok(flo_world_soft_state(world, sheet, &soft, &error), &error);
  assert_int_equal(soft.n_pins, 4);
  assert_ok(flo_world_remove_body(world, hook, &error), &error);
  step_world(world, 5);
  assert_ok(flo_world_soft_state(world, sheet, &soft, &error), &error);
  assert_int_equal(soft.n_pins, 0);
  assert_refused(flo_world_set_pin(world, sheet, 0, true, &error), &error, "pin");
  FloBodyMesh mesh;
  assert_ok(flo_world_body_mesh(world, sheet, &mesh, &error), &error);
  assert_true(mesh.n_vertices >= 25 && mesh.n_triangles >= 32);
  assert_ok(flo_world_remove_body(world, sheet, &error), &error);
  step_world(world, 2);
  flo_world_destroy(world);
}

// ---- Fluid ----

static void test_bodies_in_fluid_tell_and_remove(void **state) {
  (void)state;
  FloError error;
  for (int rule = FLO_IN_FLUID_STAYS; rule <= FLO_IN_FLUID_REFUSES; ++rule) {
    FloWorld *world = tank_of("monolithic", 1);
    const size_t n = flo_world_count(world, FLO_SET_FLUID);
    const uint64_t hash = flo_world_hash(world);
    FloBodyDef def = flo_default_body_def();
    def.kind = FLO_BODY_DYNAMIC, def.density = 500, def.in_fluid = (FloInFluid)rule;
    def.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.04};
    def.pose = pose_at(0.06, 0.06, 0.08);
    FloBodyId id;
    FloStatus status = flo_world_add_body(world, &def, &id, &error);
    if (rule == FLO_IN_FLUID_REFUSES) {
      assert_int_equal(status, FLO_BAD_INPUT);
      assert_true(strstr(error.text, "fluid particles") != NULL);
      assert_true(hash == flo_world_hash(world));
    } else {
      FloBodyInfo info;
      assert_ok(flo_world_body_info(world, id, &info, &error), &error);
      assert_true(info.n_displaced > 30 && info.n_displaced < 80); // a ball of radius 2.4 spacings holds 58
      assert_int_equal(flo_world_count(world, FLO_SET_FLUID),
                       rule == FLO_IN_FLUID_STAYS ? n : n - info.n_displaced);
      size_t n_removed;
      assert_ok(flo_world_remove_fluid_in(world, id, &n_removed, &error), &error);
      assert_int_equal(n_removed, rule == FLO_IN_FLUID_STAYS ? info.n_displaced : 0);
      step_world(world, 5);
    }
    flo_world_destroy(world);
  }
}

static void test_particles_are_removed_and_written(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = tank_of("wcsph", 1);
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  step_world(world, 4);
  const uint32_t ids[] = {7, 3, 5, 4000000000u, 3};
  size_t n_removed;
  assert_ok(flo_world_remove_particles(world, ids, FLO_COUNT_OF(ids), &n_removed, &error), &error);
  assert_int_equal(n_removed, 3);
  for (size_t i = 0; i + 3 < n; ++i) {
    const uint32_t id = (uint32_t)field_at(world, FLO_SET_FLUID, "id", i);
    assert_true(id != 3 && id != 5 && id != 7);
  }
  FloShape box = box_shape(1, 1, 0.08);
  FloPose pose = pose_at(0, 0, 0);
  assert_ok(flo_world_remove_fluid(world, &box, &pose, &n_removed, &error), &error);
  assert_true(n_removed > 0);
  const size_t left = flo_world_count(world, FLO_SET_FLUID);
  assert_int_equal(left + n_removed + 3, n);
  float *v = calloc(left, sizeof *v);
  for (size_t i = 0; i < left; ++i) v[i] = 0.25f;
  assert_ok(flo_world_set_field(world, "vx", v, left, &error), &error);
  assert_close(field_at(world, FLO_SET_FLUID, "vx", left / 2), 0.25, 0);
  assert_refused(flo_world_set_field(world, "mass", v, left, &error), &error, "mass");
  assert_refused(flo_world_set_field(world, "vx", v, left - 1, &error), &error, "particles");
  v[left - 1] = NAN;
  assert_refused(flo_world_set_field(world, "vx", v, left, &error), &error, "finite");
  free(v);
  step_world(world, 5);
  assert_int_equal(flo_world_measure(world).removed, n - left);
  flo_world_destroy(world);
}

// The flow of an emitter follows its speed: layers one spacing apart, however often it changes.
static void test_emitters_change_their_speed(void **state) {
  (void)state;
  FloError error;
  FloWorldDef def = small_world_def(3);
  vec_set(def.gravity, 0, 0, 0);
  def.max_time_step = 1e-3;
  FloWorld *world = create_world(&def);
  FloEmitterDef emitter = flo_default_emitter_def();
  emitter.material = add_water(world);
  emitter.speed = 1;
  FloEmitterId id;
  assert_ok(flo_world_add_emitter(world, &emitter, &id, &error), &error);
  assert_ok(flo_world_advance(world, 0.1, NULL, &error), &error);
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  assert_ok(flo_world_set_emitter_speed(world, id, 2, &error), &error);
  assert_ok(flo_world_advance(world, 0.2, NULL, &error), &error);
  const double per_layer = 25, layers = (double)(flo_world_count(world, FLO_SET_FLUID) - n) / per_layer;
  assert_true(fabs(layers - 0.1 * 2 / def.spacing) <= 1);
  assert_refused(flo_world_set_emitter_speed(world, id, 0, &error), &error, "speed");
  flo_world_destroy(world);
}

static void test_materials_are_removed_when_unused(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = empty_world(3);
  FloMaterialId water = add_water(world), oil = add_material(world, 800, 1e-5);
  add_block(world, water, (const double[3]){0}, (const double[3]){0.1, 0.1, 0.1});
  assert_refused(flo_world_remove_material(world, water, &error), &error, "fluid");
  assert_ok(flo_world_remove_material(world, oil, &error), &error);
  assert_refused(flo_world_remove_material(world, oil, &error), &error, "material");
  FloFluidDef def = flo_default_fluid_def();
  def.material = oil;
  assert_refused(flo_world_add_fluid(world, &def, NULL, &error), &error, "material");
  assert_int_equal(flo_world_list_materials(world, NULL, 0), 1);
  FloBodyDef body = flo_default_body_def();
  FloMaterialId wood = add_material(world, 600, 0);
  body.material = wood, body.pose = pose_at(3, 3, 3);
  FloBodyId id = add_body(world, &body);
  assert_refused(flo_world_remove_material(world, wood, &error), &error, "body");
  assert_ok(flo_world_remove_body(world, id, &error), &error);
  assert_ok(flo_world_remove_material(world, wood, &error), &error);
  flo_world_destroy(world);
}

// ---- Queries ----

static void test_things_are_listed_and_found(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = tank_of("monolithic", 1);
  FloBodyId a = add_ball(world, "a", FLO_BODY_DYNAMIC, 0.05, 0.06, 0.5),
            b = add_ball(world, "b", FLO_BODY_DYNAMIC, 1, 1, 1);
  FloBodyId ids[2], found;
  assert_int_equal(flo_world_list_bodies(world, ids, 2), 3); // with the tank; two of them are told
  assert_ok(flo_world_find_body(world, "b", &found, &error), &error);
  assert_memory_equal(&found, &b, sizeof b);
  assert_ok(flo_world_remove_body(world, a, &error), &error);
  assert_refused(flo_world_find_body(world, "a", &found, &error), &error, "called 'a'");
  assert_int_equal(flo_world_list_bodies(world, ids, 2), 2);
  assert_memory_equal(&ids[1], &b, sizeof b);
  FloMaterialId water;
  FloMaterialDef about;
  assert_ok(flo_world_find_material(world, "water", &water, &error), &error);
  assert_ok(flo_world_material_info(world, water, &about, &error), &error);
  assert_close(about.density, 1000, 0);
  assert_string_equal(about.name, "water");
  int tag;
  FloBodyInfo info;
  assert_ok(flo_world_set_body_user_data(world, b, &tag, &error), &error);
  assert_ok(flo_world_body_info(world, b, &info, &error), &error);
  assert_ptr_equal(info.user_data, &tag);
  const double volume = 4.0 / 3 * 3.14159265358979 * 0.04 * 0.04 * 0.04;
  assert_true(fabs(info.mass / (800 * volume) - 1) < 1e-6);
  assert_true(fabs(info.inertia[0] / (0.4 * info.mass * 0.0016) - 1) < 1e-6);
  flo_world_destroy(world);
}

static void test_rays_and_balls_meet_bodies(void **state) {
  (void)state;
  FloError error;
  FloRayHit hit;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  FloBodyId near = add_ball(world, "near", FLO_BODY_STATIC, 1, 0, 0),
            far = add_ball(world, "far", FLO_BODY_DYNAMIC, 2, 0, 0);
  const double origin[3] = {0}, way[3] = {4, 0, 0};
  assert_ok(flo_world_cast_ray(world, origin, way, UINT32_MAX, &hit, &error), &error);
  assert_true(hit.is_hit);
  assert_memory_equal(&hit.body, &near, sizeof near);
  assert_close_3(hit.point, ((const double[3]){0.96, 0, 0}), 1e-6);
  assert_close_3(hit.normal, ((const double[3]){-1, 0, 0}), 1e-6);
  assert_close(hit.share, 0.24, 1e-6);
  assert_ok(flo_world_set_body_filter(world, near, (FloFilter){8, UINT32_MAX}, &error), &error);
  assert_ok(flo_world_cast_ray(world, origin, way, 7, &hit, &error), &error);
  assert_memory_equal(&hit.body, &far, sizeof far);
  assert_ok(flo_world_cast_ray(world, origin, (const double[3]){0, 1, 0}, UINT32_MAX, &hit, &error), &error);
  assert_false(hit.is_hit);
  assert_ok(flo_world_cast_ray(world, (const double[3]){1, 0, 0}, way, UINT32_MAX, &hit, &error), &error);
  assert_true(hit.is_hit && hit.share == 0); // begins inside
  FloNearestPoint closest;
  assert_ok(
      flo_world_closest_point(world, (const double[3]){1.6, 0, 0}, INFINITY, UINT32_MAX, &closest, &error),
      &error);
  assert_true(closest.is_found);
  assert_memory_equal(&closest.body, &far, sizeof far);
  assert_close(closest.distance, 0.36, 1e-6);
  assert_close_3(closest.point, ((const double[3]){1.96, 0, 0}), 1e-6);
  assert_ok(flo_world_closest_point(world, (const double[3]){1.6, 0, 0}, 0.1, UINT32_MAX, &closest, &error),
            &error);
  assert_false(closest.is_found);
  FloBodyId ids[4];
  size_t n;
  assert_ok(flo_world_overlap_ball(world, (const double[3]){1.5, 0, 0}, 0.47, UINT32_MAX, ids, 4, &n, &error),
            &error);
  assert_int_equal(n, 2);
  assert_ok(flo_world_overlap_ball(world, (const double[3]){1.5, 0, 0}, 0.45, UINT32_MAX, ids, 4, &n, &error),
            &error);
  assert_int_equal(n, 0);
  flo_world_destroy(world);
}

// Random rays at boxes, tanks and cloth, against the answer of many small steps.
static void test_rays_agree_with_small_steps(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = tank_of("monolithic", 1);
  FloBodyDef box = flo_default_body_def();
  box.shape = box_shape(0.06, 0.05, 0.04);
  box.pose = (FloPose){{0.1, 0.05, 0.1}, {0, 0.6, 0, 0.8}};
  FloBodyId id = add_body(world, &box);
  size_t n_hits = 0;
  for (int k = 0; k < 200; ++k) {
    const double angle = 0.1 * k, origin[3] = {0.1 + 0.09 * cos(angle), 0.05 + 0.04 * sin(3.1 * angle), 0.3};
    const double way[3] = {0.05 * sin(2.3 * angle), 0.02 * cos(5.7 * angle), -0.35};
    FloRayHit hit;
    assert_ok(flo_world_cast_ray(world, origin, way, UINT32_MAX, &hit, &error), &error);
    double expected = 1;
    for (int step = 0; step <= 3500 && expected == 1; ++step) {
      double x[3];
      FloNearestPoint at;
      vec_add_scaled(origin, way, step / 3500.0, x);
      assert_ok(flo_world_closest_point(world, x, 1, UINT32_MAX, &at, &error), &error);
      if (at.distance <= 1e-9) expected = step / 3500.0;
    }
    assert_true(fabs(hit.share - expected) < 1e-3);
    n_hits += hit.is_hit && !memcmp(&hit.body, &id, sizeof id);
  }
  print_message("%zu of 200 rays met the box\n", n_hits);
  assert_true(n_hits > 10 && n_hits < 180);
  flo_world_destroy(world);
}

static void test_points_sample_fluid(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = empty_world(3);
  FloFluidDef def = flo_default_fluid_def();
  def.material = add_water(world);
  def.shape = box_shape(0.2, 0.2, 0.2);
  vec_set(def.velocity, 1, 2, 3);
  vec_set(def.angular_velocity, 0, 0, 2);
  assert_ok(flo_world_add_fluid(world, &def, NULL, &error), &error);
  const double points[] = {0, 0, 0, 0.04, 0, 0, 0, 0.03, 0.01, 5, 5, 5};
  FloPointSample samples[4];
  assert_ok(flo_world_sample_points(world, 4, points, samples, &error), &error);
  for (int k = 0; k < 3; ++k) {
    const double *x = points + 3 * k;
    assert_true(fabs(samples[k].density - 1000) < 20);
    assert_close_3(samples[k].velocity, ((const double[3]){1 - 2 * x[1], 2 + 2 * x[0], 3}), 2e-3);
  }
  assert_true(samples[3].density == 0 && samples[3].velocity[0] == 0);
  double density, pressure;
  flo_world_sample(world, points, &density, &pressure);
  assert_true(density == samples[0].density && pressure == samples[0].pressure);
  flo_world_destroy(world);
}

// ---- States as bytes and files ----

static void test_states_become_bytes_and_files(void **state) {
  (void)state;
  FloError error;
  FloState *saved = NULL, *copy;
  FloWorld *world = tank_of("monolithic", 1);
  step_world(world, 5);
  assert_ok(flo_world_save(world, &saved, &error), &error);
  step_world(world, 5);
  const uint64_t hash = flo_world_hash(world);
  size_t size;
  assert_ok(flo_state_pack(saved, NULL, 0, &size, &error), &error);
  char *bytes = malloc(size), path[] = "/tmp/flotsam-state-XXXXXX";
  assert_refused(flo_state_pack(saved, bytes, size - 1, &size, &error), &error, "room");
  assert_ok(flo_state_pack(saved, bytes, size, &size, &error), &error);
  assert_ok(flo_state_unpack(bytes, size, &copy, &error), &error);
  assert_ok(flo_world_restore(world, copy, &error), &error);
  flo_state_destroy(copy);
  step_world(world, 5);
  assert_true(hash == flo_world_hash(world));
  close(mkstemp(path));
  assert_ok(flo_state_write(saved, path, &error), &error);
  assert_ok(flo_state_read(path, &copy, &error), &error);
  assert_ok(flo_world_restore(world, copy, &error), &error);
  step_world(world, 5);
  assert_true(hash == flo_world_hash(world));
  flo_state_destroy(copy);
  unlink(path);
  assert_fails(flo_state_read(path, &copy, &error), FLO_IO_FAILED, &error, path);
  for (size_t k = 0; k < size; k += size / 97 + 1) { // any changed byte is noticed
    bytes[k] ^= 4;
    assert_refused(flo_state_unpack(bytes, size, &copy, &error), &error, "damaged");
    bytes[k] ^= 4;
    assert_refused(flo_state_unpack(bytes, k, &copy, &error), &error, "damaged");
  }
  free(bytes);
  flo_state_destroy(saved);
  flo_world_destroy(world);
}

// ---- The function after each step ----

typedef struct Calls {
  int n, most;
  FloStatus nested;
} Calls;

static FloStatus count_calls(void *context, FloWorld *world, const FloStepInfo *info, FloError *error) {
  Calls *calls = context;
  (void)error;
  assert_true(info->step == ++calls->n + 0u || calls->n > 0);
  calls->nested = flo_world_step(world, NULL, NULL);
  flo_world_destroy(world); // is ignored here
  return calls->n == calls->most ? FLO_UNSUPPORTED : FLO_OK;
}

static void test_a_function_is_called_after_each_step(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = tank_of("wcsph", 1);
  Calls calls = {.most = 7};
  assert_ok(flo_world_set_step_callback(world, count_calls, &calls, &error), &error);
  assert_fails(flo_world_advance(world, 10, NULL, &error), FLO_UNSUPPORTED, &error, "after each step");
  assert_int_equal(calls.n, 7);
  assert_int_equal(calls.nested, FLO_BAD_INPUT);
  assert_ok(flo_world_set_step_callback(world, NULL, NULL, &error), &error);
  step_world(world, 1);
  assert_int_equal(calls.n, 7);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_removed_body_leaves_nothing_behind),
      cmocka_unit_test(test_removals_keep_bits),
      cmocka_unit_test(test_removed_bodies_release_memory),
      cmocka_unit_test(test_a_pin_to_a_removed_body_lets_go),
      cmocka_unit_test(test_bodies_in_fluid_tell_and_remove),
      cmocka_unit_test(test_particles_are_removed_and_written),
      cmocka_unit_test(test_emitters_change_their_speed),
      cmocka_unit_test(test_materials_are_removed_when_unused),
      cmocka_unit_test(test_things_are_listed_and_found),
      cmocka_unit_test(test_rays_and_balls_meet_bodies),
      cmocka_unit_test(test_rays_agree_with_small_steps),
      cmocka_unit_test(test_points_sample_fluid),
      cmocka_unit_test(test_states_become_bytes_and_files),
      cmocka_unit_test(test_a_function_is_called_after_each_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
