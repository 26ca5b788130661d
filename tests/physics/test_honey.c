// Thick fluids at rest, with the methods that find pressures after viscosity: they do not turn over, and
// their tank carries their weight. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81

typedef struct Pool {
  const char *method;
  int dim;
  double spacing, viscosity;
  double fixed_step; // [s]; 0: the world chooses
} Pool;

typedef struct Rest {
  double speed; // root of the mean square [m/s]
  double borne; // what the tank carries, of the weight
} Rest;

// With a box in it, or NULL.
static FloWorld *make_pool(const Pool *pool, const FloBodyDef *body, FloBodyId ids[2], double *weight) {
  const double s = pool->spacing;
  const bool is_flat = pool->dim == 2;
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = pool->dim, def.method = pool->method, def.spacing = s, def.threads = 1;
  def.time_step = pool->fixed_step, def.max_time_step = 0.1;
  def.gravity[0] = def.gravity[1] = def.gravity[2] = 0, def.gravity[pool->dim - 1] = -GRAVITY;
  FloWorld *world = make_world(&def);
  FloBodyDef box = flo_default_body_def();
  box.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = pool->dim - 1};
  vec_set(box.shape.size, 12 * s, is_flat ? 16 * s : 12 * s, is_flat ? 0 : 16 * s);
  vec_scale(box.shape.size, 0.5, box.pose.position);
  box.averages_force = true;
  must(flo_world_add_body(world, &box, &ids[0], &error), &error);
  if (body) must(flo_world_add_body(world, body, &ids[1], &error), &error);
  size_t n = add_block(world, add_water(world, 1000, pool->viscosity), 0, 12 * s, is_flat ? 10 * s : 12 * s,
                       is_flat ? 0 : 10 * s);
  *weight = 1000 * GRAVITY * (double)n * pow(s, pool->dim);
  return world;
}

static Rest rest_of(const Pool *pool) {
  FloBodyId ids[2];
  double weight;
  FloWorld *world = make_pool(pool, NULL, ids, &weight);
  Rest rest = {0};
  advance(world, 1);
  flo_world_restart_averages(world);
  for (int k = 1; k <= 10; ++k) {
    advance(world, 1 + 0.03 * k);
    rest.speed += rms_speed(world) / 10;
  }
  rest.borne = -state_of(world, ids[0]).mean_force[pool->dim - 1] / weight;
  flo_world_destroy(world);
  return rest;
}

static void check_pool(const Pool *pool) {
  const Rest rest = rest_of(pool);
  print_message("%s, %dD, %g mm, %g m2/s, step %g ms: %.3f mm/s, the tank carries %.4f of the weight\n",
                pool->method, pool->dim, 1e3 * pool->spacing, pool->viscosity, 1e3 * pool->fixed_step,
                1e3 * rest.speed, rest.borne);
  assert_true(rest.speed < 1e-3);
  assert_true(fabs(rest.borne - 1) < 0.01);
}

static void honey_rests_and_weighs_on_its_tank(void **unused) {
  static const char *const methods[] = {"monolithic", "constraint"};
  static const double viscosities[] = {0.1, 1}, steps[] = {0, 0.004};
  (void)unused;
  for (int k = 0; k < 8; ++k) {
    const Pool pool = {methods[k % 2], 2, 0.02, viscosities[k / 2 % 2], steps[k / 4]};
    check_pool(&pool);
  }
  for (int k = 0; k < 2; ++k) check_pool(&(Pool){methods[k], 3, 0.01, 0.5, 0});
}

// ---- A box in it ----

// A joint holds the box in the middle of the pool, or it lies on the floor. It feels its buoyancy, and the
// fluid rests all the same.
static void check_box(const Pool *pool, double density, bool is_fixed) {
  const double s = pool->spacing, size[3] = {6 * s, 4 * s, 0}, weight_of_box = density * GRAVITY * 24 * s * s;
  FloBodyId ids[2];
  FloJointId joint = {0};
  FloJointState state = {0};
  FloError error;
  double weight, load = 0, speed;
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = density, box.friction = 0.5;
  box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {size[0], size[1], 0}};
  box.pose = pose_at(6 * s, is_fixed ? 5 * s : 2 * s, 0);
  FloWorld *world = make_pool(pool, &box, ids, &weight);
  FloJointDef def = flo_default_joint_def();
  def.kind = FLO_JOINT_FIXED, def.body = ids[1];
  if (is_fixed) must(flo_world_add_joint(world, &def, &joint, &error), &error);
  advance(world, 2);
  const double from = state_of(world, ids[1]).pose.position[1];
  for (int k = 1; k <= 20; ++k) {
    advance(world, 2 + 0.02 * k);
    if (is_fixed) must(flo_world_joint_state(world, joint, &state, &error), &error);
    load += state.force[1] / 20;
  }
  speed = rms_speed(world);
  const double moved = state_of(world, ids[1]).pose.position[1] - from, theory = 1 - 1000 / density;
  flo_world_destroy(world);
  print_message("%s, %g m2/s, box of %g kg/m3 %s: %.3f mm/s, joint bears %.4f of its weight (theory %.4f)\n",
                pool->method, pool->viscosity, density, is_fixed ? "fixed" : "on the floor", 1e3 * speed,
                load / weight_of_box, theory);
  assert_true(speed < 1e-3 && fabs(moved) < 1e-3 * s);
  if (is_fixed) assert_true(fabs(load / weight_of_box - theory) < 0.015);
}

static void boxes_rest_in_honey(void **unused) {
  static const char *const methods[] = {"monolithic", "constraint"};
  static const double viscosities[] = {0.3, 1, 2};
  (void)unused;
  for (int k = 0; k < 12; ++k) {
    const Pool pool = {methods[k % 2], 2, 0.02, viscosities[k / 2 % 3], 0};
    check_box(&pool, k % 4 < 2 ? 8000 : 3000, k / 6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(honey_rests_and_weighs_on_its_tank),
                                     cmocka_unit_test(boxes_rest_in_honey)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
