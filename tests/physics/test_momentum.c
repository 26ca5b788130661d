// A spinning, flying blob in empty space: nothing outside acts on it, so nothing may change its momenta. And
// a dam break in a tank: what the tank is said to bear is what the momenta of fluid and bodies lack.
#include "physics.h"

static double relative_change(const double *a, const double *b) {
  double change = 0, size = 0;
  for (int axis = 0; axis < 3; ++axis) change += pow(b[axis] - a[axis], 2), size += pow(a[axis], 2);
  return sqrt(change / size);
}

static void check_blob(int dim, double viscosity) {
  FloError error;
  size_t n;
  FloWorldDef def = flo_default_world_def();
  def.dim = dim, def.spacing = 0.02, def.gravity[2] = 0;
  FloWorld *world = make_world(&def);
  FloFluidDef blob = flo_default_fluid_def();
  blob.material = add_water(world, 1000, viscosity);
  blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.2};
  blob.pose = pose_at(0.3, 0.2, 0);
  blob.velocity[0] = 1, blob.velocity[1] = 0.5;
  blob.angular_velocity[2] = 5;
  must(flo_world_add_fluid(world, &blob, &n, &error), &error);
  FloFigures start = flo_world_figures(world);
  for (int step = 0; step < 1000; ++step) must(flo_world_step(world, NULL, &error), &error);
  FloFigures end = flo_world_figures(world);
  double linear = relative_change(start.momentum, end.momentum);
  double angular = relative_change(start.angular_momentum, end.angular_momentum);
  print_message(
      "%dD, viscosity %g, %zu particles, 1000 steps: linear momentum drifts by %.1e, angular by %.1e\n", dim,
      viscosity, n, linear, angular);
  print_message("kinetic energy %.6g -> %.6g J\n", start.kinetic_energy, end.kinetic_energy);
  flo_world_destroy(world);
  assert_true(end.kinetic_energy < 1.001 * start.kinetic_energy);
  assert_true(linear <= 1e-6);
  assert_true(angular <= 1e-6);
}

static void blob_keeps_its_momenta_in_3d(void **unused) {
  (void)unused;
  check_blob(3, 1e-6);
}

static void viscous_blob_keeps_its_momenta_in_3d(void **unused) {
  (void)unused;
  check_blob(3, 0.05);
}

static void blob_keeps_its_momenta_in_2d(void **unused) {
  (void)unused;
  check_blob(2, 1e-6);
}

// ---- Mean forces ----

static FloWorld *make_dam(const char *method, bool has_cube, FloBodyId *tank, FloBodyId *cube) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  FloBodyDef walls = flo_default_body_def(), box = flo_default_body_def();
  def.spacing = 0.025, def.method = method;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  walls.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {0.5, 0.2, 0.5}, .up = 2};
  walls.pose = pose_at(0.25, 0.1, 0.25), walls.averages_force = true;
  must(flo_world_add_body(world, &walls, tank, &error), &error);
  box.kind = FLO_BODY_DYNAMIC, box.density = 700, box.shape = (FloShape){.kind = FLO_SHAPE_BOX};
  for (int axis = 0; axis < 3; ++axis) box.shape.size[axis] = 0.1;
  box.pose = pose_at(0.35, 0.1, 0.06), box.material = water;
  if (has_cube) must(flo_world_add_body(world, &box, cube, &error), &error);
  add_block(world, water, 0, 0.2, 0.2, 0.3);
  return world;
}

static double weight_of(FloWorld *world, bool has_cube) {
  double mass = has_cube ? 0.7 : 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) mass += (double)floats(world, "mass")[i];
  return 9.81 * mass;
}

// Over any time, whatever steps it took: the force on the tank is the weight less the gain of momentum, that
// on the cube its gain of momentum and its weight.
// Over any time, whatever steps it took: the force on the tank is the weight less the gain of momentum, that
// on the cube its gain of momentum and its weight. Where velocities are half a step behind, so are the
// momenta: `lag` is how many steps of weight an impulse may lack.
static void check_mean_forces(const char *method, bool has_cube, double lag) {
  static const double frames[] = {0.05, 0.08, 0.13, 0.2, 0.21, 0.3, 0.301, 0.4};
  FloBodyId tank, cube;
  FloError error;
  FloBodyState walls, box = {0};
  FloWorld *world = make_dam(method, has_cube, &tank, &cube);
  double weight = weight_of(world, has_cube), time = 0, before[3] = {0}, fall = 0, worst = 0;
  for (size_t k = 0; k < sizeof frames / sizeof *frames; ++k) {
    flo_world_restart_averages(world);
    advance(world, frames[k]);
    double span = frames[k] - time, fell = box.velocity[2];
    const FloFigures now = flo_world_figures(world);
    must(flo_world_body_state(world, tank, &walls, &error), &error);
    if (has_cube) must(flo_world_body_state(world, cube, &box, &error), &error);
    for (int axis = 0; axis < 3; ++axis) {
      double missing = (axis == 2 ? -weight : 0) - (now.momentum[axis] - before[axis]) / span;
      worst = fmax(worst, fabs(walls.mean_force[axis] - missing) * span / weight);
      before[axis] = now.momentum[axis];
    }
    if (has_cube)
      fall =
          fmax(fall, fabs(box.mean_force[2] * span - 0.7 * (box.velocity[2] - fell + 9.81 * span)) / 6.867);
    time = frames[k];
  }
  print_message(
      "%s: impulses differ from the gain of momentum by %.1e s of the weight, of the cube by %.1e s\n",
      method, worst, fall);
  double dt = flo_world_figures(world).dt;
  flo_world_destroy(world);
  assert_true(worst < 1e-7 + lag * dt);
  assert_true(fall < 1e-7 + lag * dt);
}

static void tank_bears_what_momenta_lack(void **unused) {
  (void)unused;
  check_mean_forces("wcsph", false, 0);
  check_mean_forces("monolithic", true, 0);
  check_mean_forces("direct-forcing", true, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(viscous_blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(blob_keeps_its_momenta_in_2d),
      cmocka_unit_test(tank_bears_what_momenta_lack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
