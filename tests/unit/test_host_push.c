// Driving a world at run time: forces, impulses, poses, velocities, targets, kinds, filters, pins. And that
// all of it is part of a saved state.
#include "flotsam/flotsam.h"

#include "support/worlds.h"

#include <string.h>

// ---- Worlds ----

static FloWorld *space(int dim, const char *method) {
  FloWorldDef def = small_world_def(dim);
  def.method = method;
  vec_set(def.gravity, 0, 0, 0);
  def.max_time_step = 1e-3;
  return create_world(&def);
}

static FloBodyId add_box(FloWorld *world, FloBodyKind kind, const double at[3], const double size[3]) {
  FloBodyDef def = flo_default_body_def();
  def.name = "box", def.kind = kind, def.density = 500;
  def.shape = box_shape(size[0], size[1], size[2]);
  def.pose = pose_at(at[0], at[1], at[2]);
  return add_body(world, &def);
}

static FloBodyId add_cube(FloWorld *world, FloBodyKind kind, double x, double y, double z) {
  return add_box(world, kind, (const double[3]){x, y, z}, (const double[3]){0.2, 0.2, 0.2});
}

static FloBodyState state_of(FloWorld *world, FloBodyId id) {
  FloError error;
  FloBodyState state;
  assert_ok(flo_world_body_state(world, id, &state, &error), &error);
  return state;
}

static FloBodyInfo info_of(const FloWorld *world, FloBodyId id) {
  FloError error;
  FloBodyInfo info;
  assert_ok(flo_world_body_info(world, id, &info, &error), &error);
  return info;
}

static const char *const movers[] = {"monolithic", "direct-forcing", "constraint",
                                     "elastic",    "unified",        "wcsph"};

// Whether a method moves bodies: it takes one.
static bool moves_bodies(const char *method) {
  FloWorld *world = space(3, method);
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.density = 500;
  def.shape = box_shape(0.2, 0.2, 0.2);
  const bool moves = flo_world_add_body(world, &def, NULL, NULL) == FLO_OK;
  flo_world_destroy(world);
  return moves;
}

// ---- Forces and impulses ----

// After one step of length dt the velocity is F dt / m, whatever the method; after the next it is the same.
static void test_a_force_acts_for_one_step(void **state) {
  (void)state;
  size_t n_tried = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(movers); ++k) {
    if (!moves_bodies(movers[k])) continue;
    FloError error;
    FloStepInfo info;
    FloWorld *world = space(3, movers[k]);
    FloBodyId id = add_cube(world, FLO_BODY_DYNAMIC, 0, 0, 0);
    const double force[3] = {3, -2, 1}, mass = info_of(world, id).mass;
    assert_true(fabs(mass - 4) < 0.05);
    assert_ok(flo_world_apply_force(world, id, force, NULL, &error), &error);
    assert_ok(flo_world_step(world, &info, &error), &error);
    for (int axis = 0; axis < 3; ++axis)
      assert_close(state_of(world, id).velocity[axis], force[axis] * info.dt / mass, 1e-9);
    const double after = state_of(world, id).velocity[0];
    assert_ok(flo_world_step(world, &info, &error), &error);
    assert_close(state_of(world, id).velocity[0], after, 1e-9);
    flo_world_destroy(world);
    ++n_tried;
  }
  print_message("%zu methods\n", n_tried);
  assert_true(n_tried >= 4);
}

// An impulse at a point turns the body as angular momentum says: r x J, about the centre of mass.
static void test_an_impulse_at_a_point_turns(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = space(3, "monolithic");
  FloBodyId id =
      add_box(world, FLO_BODY_DYNAMIC, (const double[3]){1, 2, 3}, (const double[3]){0.2, 0.3, 0.4});
  const FloBodyInfo info = info_of(world, id);
  const double impulse[3] = {0, 2, 0}, point[3] = {info.centre[0] + 0.1, info.centre[1], info.centre[2]};
  assert_ok(flo_world_apply_impulse(world, id, impulse, point, &error), &error);
  FloBodyState now = state_of(world, id);
  assert_close(now.velocity[1], 2 / info.mass, 1e-12);
  assert_close(now.angular_velocity[2], 0.2 / info.inertia[2], 1e-9);
  assert_ok(flo_world_apply_angular_impulse(world, id, (const double[3]){0, 0, -0.2}, &error), &error);
  assert_close(state_of(world, id).angular_velocity[2], 0, 1e-12);
  double v[3];
  assert_ok(flo_world_body_velocity_at(world, id, point, v, &error), &error);
  assert_close(v[1], 2 / info.mass, 1e-12);
  assert_ok(flo_world_apply_torque(world, id, (const double[3]){0.5, 0, 0}, &error), &error);
  FloStepInfo step;
  assert_ok(flo_world_step(world, &step, &error), &error);
  assert_close(state_of(world, id).angular_velocity[0], 0.5 * step.dt / info.inertia[0], 1e-9);
  flo_world_destroy(world);
}

static FloBodyId add_sheet(FloWorld *world, const FloPinDef *pin) {
  FloBodyDef def = flo_default_body_def();
  def.name = "sheet", def.kind = FLO_BODY_CLOTH;
  def.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.2, 0.2}, .cell = 0.05};
  def.cloth = (FloClothDef){.areal_density = 0.5, .stretch = 100, .bend = 1e-4};
  def.pins = pin, def.n_pins = pin != NULL;
  return add_body(world, &def);
}

static void test_cloth_is_pushed(void **state) {
  (void)state;
  FloError error;
  FloStepInfo info;
  FloWorld *world = space(3, "monolithic");
  FloBodyId id = add_sheet(world, NULL);
  const double mass = info_of(world, id).mass;
  assert_close(mass, 0.02, 1e-6);
  assert_ok(flo_world_apply_force(world, id, (const double[3]){0, 0, 0.1}, NULL, &error), &error);
  assert_ok(flo_world_step(world, &info, &error), &error);
  assert_close(state_of(world, id).velocity[2], 0.1 * info.dt / mass, 1e-6);
  const double before = state_of(world, id).velocity[2];
  assert_ok(flo_world_apply_impulse(world, id, (const double[3]){0, 0, 0.01}, (const double[3]){0.1, 0.1, 0},
                                    &error),
            &error);
  assert_close(state_of(world, id).velocity[2], before + 0.01 / mass, 1e-6);
  assert_ok(
      flo_world_set_body_velocity(world, id, (const double[3]){1, 0, 0}, (const double[3]){0, 0, 2}, &error),
      &error);
  assert_close(state_of(world, id).velocity[0], 1, 1e-9);
  FloPose pose = pose_at(5, 5, 5);
  assert_ok(flo_world_set_body_pose(world, id, &pose, &error), &error);
  for (int axis = 0; axis < 3; ++axis) assert_close(state_of(world, id).pose.position[axis], 5, 1e-9);
  assert_refused(flo_world_apply_torque(world, id, (const double[3]){1, 0, 0}, &error), &error, "shape");
  step_world(world, 3);
  flo_world_destroy(world);
}

// A pin that is switched off lets go; a pin that is moved leads its vertices.
static void test_pins_are_switched_and_moved(void **state) {
  (void)state;
  FloError error;
  FloSoftState soft;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic", def.max_time_step = 2e-3;
  FloWorld *world = create_world(&def);
  const FloPinDef pin = {.place = FLO_PIN_CORNERS};
  FloBodyId id = add_sheet(world, &pin);
  step_world(world, 20);
  assert_ok(flo_world_soft_state(world, id, &soft, &error), &error);
  assert_int_equal(soft.n_pins, 4);
  const double before = state_of(world, id).pose.position[0];
  for (int k = 0; k < 100; ++k) {
    assert_ok(flo_world_move_pin(world, id, 0, (const double[3]){1e-3, 0, 0}, &error), &error);
    step_world(world, 1);
  }
  assert_true(fabs(state_of(world, id).pose.position[0] - before - 0.1) < 0.03);
  assert_ok(flo_world_set_pin(world, id, 0, false, &error), &error);
  const double height = state_of(world, id).pose.position[2];
  step_world(world, 100);
  assert_true(state_of(world, id).pose.position[2] < height - 0.1);
  assert_refused(flo_world_set_pin(world, id, 1, true, &error), &error, "pin");
  flo_world_destroy(world);
}

// ---- Poses, velocities, targets ----

static void test_a_body_is_put_and_flung(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = space(3, "monolithic");
  FloBodyId id =
      add_box(world, FLO_BODY_DYNAMIC, (const double[3]){0, 0, 0}, (const double[3]){0.2, 0.3, 0.4});
  assert_ok(
      flo_world_set_body_velocity(world, id, (const double[3]){1, 2, 3}, (const double[3]){4, 5, 6}, &error),
      &error);
  FloPose pose = {{1, 1, 1}, {0, 0, sqrt(0.5), sqrt(0.5)}};
  assert_ok(flo_world_set_body_pose(world, id, &pose, &error), &error);
  FloBodyState now = state_of(world, id);
  for (int axis = 0; axis < 3; ++axis) {
    assert_close(now.pose.position[axis], 1, 1e-12);
    assert_close(now.velocity[axis], axis + 1, 1e-9);
    assert_close(now.angular_velocity[axis], axis + 4, 1e-9);
  }
  FloStepInfo info;
  assert_ok(flo_world_step(world, &info, &error), &error);
  assert_close(state_of(world, id).pose.position[0], 1 + info.dt, 1e-6);
  const double x = field_at(world, FLO_SET_RIGID, "x", 0);
  assert_true(fabs(x - 1) < 0.3); // its samples came along
  flo_world_destroy(world);
}

static void test_kinematic_bodies_follow_targets_and_rates(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloError error;
    FloWorld *world = space(dim, "monolithic");
    FloBodyId id = add_box(world, FLO_BODY_KINEMATIC, (const double[3]){0}, (const double[3]){0.2, 0.2, 0.2});
    FloPose target = {{0.1, 0.2, 0}, {0, 0, sin(0.25), cos(0.25)}};
    assert_ok(flo_world_set_body_target(world, id, &target, 0.05, &error), &error);
    assert_ok(flo_world_advance(world, 0.025, NULL, &error), &error);
    assert_close(state_of(world, id).pose.position[0], 0.05, 1e-9);
    assert_close(state_of(world, id).velocity[1], 4, 1e-9);
    assert_close(state_of(world, id).angular_velocity[2], 10, 1e-6);
    assert_ok(flo_world_advance(world, 0.1, NULL, &error), &error);
    assert_close(state_of(world, id).pose.position[1], 0.2, 1e-12);
    assert_close(state_of(world, id).velocity[1], 0, 1e-12);
    assert_ok(
        flo_world_set_body_velocity(world, id, (const double[3]){-1, 0, 0}, (const double[3]){0}, &error),
        &error);
    assert_ok(flo_world_advance(world, 0.2, NULL, &error), &error);
    assert_close(state_of(world, id).pose.position[0], 0, 1e-9);
    FloPose back = pose_at(0, 0, 0);
    assert_ok(flo_world_set_body_pose(world, id, &back, &error), &error);
    assert_ok(flo_world_advance(world, 0.25, NULL, &error), &error);
    assert_close(state_of(world, id).pose.position[0], 0, 1e-12);
    flo_world_destroy(world);
  }
}

// ---- Kinds and filters ----

static void test_bodies_become_other_kinds(void **state) {
  (void)state;
  FloError error;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  FloBodyId first = add_cube(world, FLO_BODY_STATIC, 0, 0, 1),
            other = add_cube(world, FLO_BODY_DYNAMIC, 3, 0, 1);
  const size_t n = flo_world_count(world, FLO_SET_BOUNDARY), m = flo_world_count(world, FLO_SET_RIGID);
  step_world(world, 3);
  assert_ok(flo_world_set_body_kind(world, first, FLO_BODY_DYNAMIC, &error), &error);
  assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), 0);
  assert_int_equal(flo_world_count(world, FLO_SET_RIGID), n + m);
  const double start = state_of(world, first).pose.position[2];
  assert_ok(flo_world_advance(world, flo_world_time(world) + 0.2, NULL, &error), &error);
  const double fallen = start - state_of(world, first).pose.position[2];
  assert_true(fabs(fallen - 9.81 * 0.02) < 0.01);
  assert_ok(flo_world_set_body_kind(world, first, FLO_BODY_KINEMATIC, &error), &error);
  assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), n);
  const double height = state_of(world, first).pose.position[2];
  step_world(world, 10);
  assert_close(state_of(world, first).pose.position[2], height, 1e-12);
  assert_int_equal(info_of(world, first).kind, FLO_BODY_KINEMATIC);
  assert_int_equal(info_of(world, other).kind, FLO_BODY_DYNAMIC);
  assert_refused(flo_world_set_body_kind(world, other, FLO_BODY_CLOTH, &error), &error, "kind");
  flo_world_destroy(world);
}

// A box falls through a floor whose filter does not know it, and rests on it otherwise.
static void test_filters_let_bodies_pass(void **state) {
  (void)state;
  for (size_t k = 0; k < 3; ++k) {
    FloError error;
    FloWorldDef def = small_world_def(3);
    def.method = (const char *[]){"monolithic", "constraint", "unified"}[k];
    for (int passes = 0; passes < 2; ++passes) {
      FloWorld *world = create_world(&def);
      FloBodyId floor =
          add_box(world, FLO_BODY_STATIC, (const double[3]){0, 0, -0.1}, (const double[3]){1, 1, 0.2});
      FloBodyId box = add_cube(world, FLO_BODY_DYNAMIC, 0, 0, 0.12);
      assert_ok(flo_world_set_body_filter(world, box, (FloFilter){2, passes ? 4u : 1u}, &error), &error);
      assert_ok(flo_world_advance(world, 0.4, NULL, &error), &error);
      const double z = state_of(world, box).pose.position[2];
      assert_true(passes ? z < -0.3 : fabs(z - 0.1) < 0.02);
      assert_int_equal(info_of(world, floor).filter.category, 1);
      flo_world_destroy(world);
    }
  }
}

// ---- Contacts ----

// The contacts of a box at rest carry its weight, with the normals upwards.
static void test_contacts_carry_the_weight(void **state) {
  (void)state;
  const char *const methods[] = {"monolithic", "constraint", "unified", "direct-forcing"};
  for (size_t k = 0; k < FLO_COUNT_OF(methods); ++k) {
    FloError error;
    FloContactInfo contacts[400];
    FloStepInfo info;
    FloWorldDef def = small_world_def(3);
    def.method = methods[k];
    FloWorld *world = create_world(&def);
    FloBodyId floor =
        add_box(world, FLO_BODY_STATIC, (const double[3]){0, 0, -0.1}, (const double[3]){1, 1, 0.2});
    FloBodyId box = add_cube(world, FLO_BODY_DYNAMIC, 0, 0, 0.1);
    assert_ok(flo_world_advance(world, 0.5, NULL, &error), &error);
    double sum = 0, time = 0;
    for (int step = 0; step < 50; ++step) {
      assert_ok(flo_world_step(world, &info, &error), &error);
      size_t n = flo_world_list_contacts(world, contacts, FLO_COUNT_OF(contacts));
      assert_true(n > 0 && n <= FLO_COUNT_OF(contacts));
      for (size_t c = 0; c < n; ++c) {
        assert_memory_equal(&contacts[c].body, &box, sizeof box);
        assert_memory_equal(&contacts[c].other, &floor, sizeof floor);
        assert_true(contacts[c].normal[2] > 0.99);
        assert_true(fabs(contacts[c].point[2]) < 0.02);
        sum += contacts[c].impulse[2];
      }
      time += info.dt;
    }
    const double weight = info_of(world, box).mass * 9.81;
    print_message("%s: contacts carry %.4f of the weight\n", methods[k], sum / time / weight);
    assert_true(fabs(sum / time / weight - 1) < 0.05);
    flo_world_destroy(world);
  }
}

// ---- Saved states ----

// Everything that a host has set is part of the state: a world that is restored from it goes on with the same
// bits.
static void test_what_the_host_set_is_saved(void **state) {
  (void)state;
  FloError error;
  FloState *saved = NULL;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  FloWorld *worlds[2];
  FloBodyId box = {0}, paddle = {0}, sheet = {0};
  for (int k = 0; k < 2; ++k) {
    worlds[k] = create_dam(&def);
    paddle = add_box(worlds[k], FLO_BODY_KINEMATIC, (const double[3]){0.5, 0.05, 0.1},
                     (const double[3]){0.1, 0.1, 0.1});
    box = add_box(worlds[k], FLO_BODY_DYNAMIC, (const double[3]){0.05, 0.06, 0.26},
                  (const double[3]){0.06, 0.06, 0.06});
    sheet = add_sheet(worlds[k], NULL);
    FloPose away = pose_at(2, 2, 2);
    assert_ok(flo_world_set_body_pose(worlds[k], sheet, &away, &error), &error);
  }
  FloWorld *first = worlds[0];
  step_world(first, 5);
  FloPose target = pose_at(0.5, 0.05, 0.15);
  assert_ok(flo_world_set_body_target(first, paddle, &target, 0.1, &error), &error);
  assert_ok(flo_world_set_gravity(first, (const double[3]){1, 0, -5}, &error), &error);
  assert_ok(flo_world_set_body_filter(first, box, (FloFilter){2, 1}, &error), &error);
  step_world(first, 3);
  assert_ok(flo_world_apply_force(first, box, (const double[3]){0, 1, 0}, NULL, &error), &error);
  assert_ok(flo_world_apply_force(first, sheet, (const double[3]){0, 1, 0}, NULL, &error), &error);
  assert_ok(flo_world_save(first, &saved, &error), &error);
  step_world(worlds[1], 2); // any other past
  assert_ok(flo_world_restore(worlds[1], saved, &error), &error);
  step_world(first, 10);
  step_world(worlds[1], 10);
  assert_true(flo_world_hash(first) == flo_world_hash(worlds[1]));
  for (int k = 0; k < 2; ++k) flo_world_destroy(worlds[k]);
  flo_state_destroy(saved);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_force_acts_for_one_step),
      cmocka_unit_test(test_an_impulse_at_a_point_turns),
      cmocka_unit_test(test_cloth_is_pushed),
      cmocka_unit_test(test_pins_are_switched_and_moved),
      cmocka_unit_test(test_a_body_is_put_and_flung),
      cmocka_unit_test(test_kinematic_bodies_follow_targets_and_rates),
      cmocka_unit_test(test_bodies_become_other_kinds),
      cmocka_unit_test(test_filters_let_bodies_pass),
      cmocka_unit_test(test_contacts_carry_the_weight),
      cmocka_unit_test(test_what_the_host_set_is_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
