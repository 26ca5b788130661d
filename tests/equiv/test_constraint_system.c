// The same bits with `constraint`: for any number of threads, after saving and restoring, and with all
// solvers tried on the side. Water and honey, joints of all sorts, loose bodies that touch, and a start from
// the last step's pressures.
#include "state/state.h"
#include "support/worlds.h"

static FloBodyId add_box(FloWorld *world, int dim, double s, double x, double height, double density) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.density = density, def.friction = 0.4, def.rolling_friction = 0.002;
  def.shape = box_shape(5 * s, dim == 3 ? 5 * s : 4 * s, dim == 3 ? 4 * s : 0);
  def.pose = dim == 3 ? pose_at(x, 5 * s, height) : pose_at(x, height, 0);
  return add_body(world, &def);
}

// A weak motor with friction, limits that are soon reached, and a rope that soon breaks: the joints slide,
// stick and yield by turns.
static void join(FloWorld *world, int dim, double s) {
  FloJointDef joint = flo_default_joint_def(), rope = joint;
  FloError error;
  joint.kind = FLO_JOINT_HINGE, joint.body = add_box(world, dim, s, 8 * s, 12 * s, 700);
  joint.to = add_box(world, dim, s, 14 * s, 12 * s, 1500);
  vec_set(joint.at, 11 * s, dim == 3 ? 5 * s : 12 * s, dim == 3 ? 12 * s : 0);
  vec_set(joint.axis, 0, dim == 3, dim == 2);
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 2, .max_load = 0.3};
  joint.friction = 0.05, joint.low = -0.02, joint.high = 0.05;
  assert_ok(flo_world_add_joint(world, &joint, NULL, &error), &error);
  rope.kind = FLO_JOINT_ROPE, rope.body = joint.to, rope.has_to_at = true, rope.break_force = 30;
  vec_copy(joint.at, rope.at);
  vec_copy(joint.at, rope.to_at);
  rope.to_at[dim - 1] += 10 * s, rope.length = 10.1 * s;
  assert_ok(flo_world_add_joint(world, &rope, NULL, &error), &error);
  joint.body = add_box(world, dim, s, 2.6 * s, 12 * s, 900), joint.to = (FloBodyId){0};
  joint.at[0] = 0, joint.motor = (FloMotorDef){0};
  assert_ok(flo_world_add_joint(world, &joint, NULL, &error), &error);
}

// Joined boxes in water, and a pile of two bricks beside them.
static FloWorld *make_system(int dim, int threads, double solver, double viscosity) {
  FloWorldDef def = small_world_def(dim);
  FloError error;
  def.threads = threads, def.method = "constraint";
  FloWorld *world = create_world(&def);
  const double s = def.spacing, low[3] = {0}, high[3] = {30 * s, 10 * s, dim == 3 ? 10 * s : 0};
  add_tank(world, dim, 30 * s, dim == 3 ? 10 * s : 40 * s, 40 * s);
  join(world, dim, s);
  add_box(world, dim, s, 23 * s, 2.05 * s, 3000);
  add_box(world, dim, s, 24 * s, 6.2 * s, 2500);
  add_block(world, add_material(world, 1000, viscosity), low, high);
  assert_ok(flo_world_set_param(world, "solver", solver, &error), &error);
  return world;
}

enum { N_STEPS = 24 };

static uint64_t hash_of(FloWorld *world) {
  const uint64_t hash = flo_world_hash(world);
  assert_true(flo_world_measure(world).contacts > 0 && flo_world_measure(world).fluid_particles > 200);
  flo_world_destroy(world);
  return hash;
}

static uint64_t hash_after(int dim, int threads, double solver, double viscosity) {
  FloWorld *world = make_system(dim, threads, solver, viscosity);
  step_world(world, N_STEPS);
  return hash_of(world);
}

static uint64_t hash_restored(int dim, double solver, double viscosity) {
  FloWorld *first = make_system(dim, 2, solver, viscosity), *second = make_system(dim, 3, solver, viscosity);
  FloState *state = NULL;
  FloError error;
  step_world(first, N_STEPS / 2);
  assert_ok(flo_world_save(first, &state, &error), &error);
  assert_ok(flo_world_restore(second, state, &error), &error);
  step_world(second, N_STEPS - N_STEPS / 2);
  flo_state_destroy(state);
  flo_world_destroy(first);
  return hash_of(second);
}

static uint64_t hash_with_history(int dim, double solver, double viscosity) {
  FloWorld *world = make_system(dim, 2, solver, viscosity);
  FloError error;
  assert_int_equal(flo_world_residuals(world).n_solvers, 0);
  assert_ok(flo_world_set_param(world, "history", 1, &error), &error);
  step_world(world, N_STEPS);
  const FloResiduals residuals = flo_world_residuals(world);
  assert_true(residuals.n_solvers == 8 && residuals.n_iterations == 31 && residuals.step == N_STEPS - 1);
  return hash_of(world);
}

static void check_bits(int dim, double solver, double viscosity) {
  const uint64_t one = hash_after(dim, 1, solver, viscosity);
  assert_true(hash_after(dim, 2, solver, viscosity) == one && hash_after(dim, 3, solver, viscosity) == one);
  assert_true(hash_restored(dim, solver, viscosity) == one);
  assert_true(hash_with_history(dim, solver, viscosity) == one);
}

// Water, and honey whose viscosity is part of the system.
static void test_bits_are_the_same(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (int solver = 0; solver < 2; ++solver) check_bits(dim, solver, 1e-6);
  check_bits(2, 0, 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
