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
  def.dim = dim, def.spacing = 0.02, def.gravity[2] = 0, def.method = "wcsph";
  FloWorld *world = make_world(&def);
  FloFluidDef blob = flo_default_fluid_def();
  blob.material = add_water(world, 1000, viscosity);
  blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.2};
  blob.pose = pose_at(0.3, 0.2, 0);
  blob.velocity[0] = 1, blob.velocity[1] = 0.5;
  blob.angular_velocity[2] = 5;
  must(flo_world_add_fluid(world, &blob, &n, &error), &error);
  FloMeasurements start = flo_world_measure(world);
  for (int step = 0; step < 1000; ++step) must(flo_world_step(world, NULL, &error), &error);
  FloMeasurements end = flo_world_measure(world);
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

#define CUBE_MASS   0.7
#define CUBE_WEIGHT (9.81 * CUBE_MASS)

static const double before_the_dam[3] = {0.35, 0.1, 0.06}, in_the_dam[3] = {0.1, 0.1, 0.2};

// With a cube, unless that is nowhere.
static FloWorld *make_dam(const char *method, double viscosity, const double cube_at[3], FloBodyId *tank,
                          FloBodyId *cube) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  FloBodyDef walls = flo_default_body_def(), box = flo_default_body_def();
  def.spacing = 0.025, def.method = method;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, viscosity);
  walls.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {0.5, 0.2, 0.5}, .up = 2};
  walls.pose = pose_at(0.25, 0.1, 0.25), walls.averages_force = true;
  must(flo_world_add_body(world, &walls, tank, &error), &error);
  box.kind = FLO_BODY_DYNAMIC, box.density = 700, box.shape = (FloShape){.kind = FLO_SHAPE_BOX};
  for (int axis = 0; axis < 3; ++axis) box.shape.size[axis] = 0.1;
  box.material = water;
  if (cube_at) {
    box.pose = pose_at(cube_at[0], cube_at[1], cube_at[2]);
    must(flo_world_add_body(world, &box, cube, &error), &error);
  }
  add_block(world, water, 0, 0.2, 0.2, 0.3);
  return world;
}

static double weight_of(FloWorld *world, bool has_cube) {
  double mass = has_cube ? CUBE_MASS : 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) mass += (double)floats(world, "mass")[i];
  return 9.81 * mass;
}

// Over any time, whatever steps it took: the force on the tank is the weight less the gain of momentum, that
// on the cube its gain of momentum and its weight. Where velocities are behind positions by a share `lag` of
// the last step, so are the momenta: gravity has acted from then to then.
static void check_mean_forces(const char *method, bool has_cube, double lag) {
  static const double frames[] = {0.05, 0.08, 0.13, 0.2, 0.21, 0.3, 0.301, 0.4};
  FloBodyId tank, cube;
  FloError error;
  FloBodyState walls, box = {0};
  FloWorld *world = make_dam(method, 1e-6, has_cube ? before_the_dam : NULL, &tank, &cube);
  double weight = weight_of(world, has_cube), time = 0, behind = 0, before[3] = {0}, fall = 0, worst = 0;
  for (size_t k = 0; k < sizeof frames / sizeof *frames; ++k) {
    flo_world_restart_averages(world);
    advance(world, frames[k]);
    double span = frames[k] - time, fell = box.velocity[2];
    const FloMeasurements now = flo_world_measure(world);
    must(flo_world_body_state(world, tank, &walls, &error), &error);
    if (has_cube) must(flo_world_body_state(world, cube, &box, &error), &error);
    double acted = span - (lag * now.dt - behind);
    for (int axis = 0; axis < 3; ++axis) {
      double missing = (axis == 2 ? -weight * acted : 0) - (now.momentum[axis] - before[axis]);
      worst = fmax(worst, fabs(walls.mean_force[axis] * span - missing) / weight);
      before[axis] = now.momentum[axis];
    }
    if (has_cube)
      fall = fmax(fall, fabs(box.mean_force[2] * span - CUBE_MASS * (box.velocity[2] - fell + 9.81 * acted)) /
                            CUBE_WEIGHT);
    time = frames[k], behind = lag * now.dt;
  }
  print_message(
      "%s: impulses differ from the gain of momentum by %.1e s of the weight, of the cube by %.1e s\n",
      method, worst, fall);
  flo_world_destroy(world);
  assert_true(worst < 1e-7);
  assert_true(fall < 1e-7);
}

static void tank_bears_what_momenta_lack(void **unused) {
  (void)unused;
  check_mean_forces("wcsph", false, 0);
  check_mean_forces("monolithic", true, 0);
  check_mean_forces("direct-forcing", true, 0.5);
  check_mean_forces("elastic", true, 0);
}

// In fluid so viscous that only the implicit solution will do, which ends before it is exact.
static void check_viscous_cube(const char *method) {
  FloBodyId tank, cube;
  FloError error;
  FloBodyState before, after;
  FloWorld *world = make_dam(method, 1, in_the_dam, &tank, &cube);
  must(flo_world_set_param(world, "viscosity_tolerance", 0.1, &error), &error);
  double worst = 0;
  must(flo_world_body_state(world, cube, &before, &error), &error);
  for (int frame = 1; frame <= 20; ++frame, before = after) {
    flo_world_restart_averages(world);
    advance(world, 0.01 * frame);
    must(flo_world_body_state(world, cube, &after, &error), &error);
    for (int axis = 0; axis < 3; ++axis) {
      double gain = after.velocity[axis] - before.velocity[axis] + (axis == 2 ? 9.81 * 0.01 : 0);
      worst = fmax(worst, fabs(after.mean_force[axis] * 0.01 - CUBE_MASS * gain) / CUBE_WEIGHT);
    }
  }
  print_message(
      "%s, viscous: impulses on the cube differ from its gain of momentum by %.1e s of its weight\n", method,
      worst);
  flo_world_destroy(world);
  assert_true(worst < 1e-7);
}

static void viscous_cube_is_told_what_it_gets(void **unused) {
  (void)unused;
  check_viscous_cube("monolithic");
  check_viscous_cube("elastic");
}

// ---- Impact ----

// A cube above a floor that it will hit within a few steps.
static FloWorld *make_impact(const char *method, double height, FloBodyId *floor_id, FloBodyId *cube) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  FloBodyDef ground = flo_default_body_def(), box = flo_default_body_def();
  def.spacing = 0.02, def.method = method, def.time_step = 5e-4, def.threads = 1;
  FloWorld *world = make_world(&def);
  box.material = add_water(world, 1000, 1e-6);
  ground.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {1, 1, 0.1}};
  ground.pose = pose_at(0, 0, -0.05), ground.averages_force = true;
  must(flo_world_add_body(world, &ground, floor_id, &error), &error);
  box.kind = FLO_BODY_DYNAMIC, box.density = 1000, box.velocity[2] = -3;
  box.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.1, 0.1, 0.1}};
  box.pose = pose_at(0, 0, 0.05 + height);
  must(flo_world_add_body(world, &box, cube, &error), &error);
  return world;
}

// Frames of one and a half steps, so that a long step follows a short one and the reverse. `lag` is as
// above; how hard the impact is makes no difference.
static void check_impact(const char *method, double height, double lag) {
  const double frame = 7.5e-4, mass = 1;
  FloBodyId floor_id, cube;
  FloError error;
  FloBodyState box, ground;
  FloWorld *world = make_impact(method, height, &floor_id, &cube);
  double given = 0, borne = 0, time = 0;
  for (int k = 1; k <= 64; ++k) {
    flo_world_restart_averages(world);
    advance(world, k * frame);
    must(flo_world_body_state(world, cube, &box, &error), &error);
    must(flo_world_body_state(world, floor_id, &ground, &error), &error);
    given += box.mean_force[2] * (k * frame - time), borne += ground.mean_force[2] * (k * frame - time);
    time = k * frame;
  }
  double gain = mass * (box.velocity[2] + 3 + 9.81 * (time - lag * flo_world_measure(world).dt));
  print_message("%s, %g mm: impulse %.7f N s on the cube, %.7f N s on the floor; momentum gained %.7f N s\n",
                method, 1e3 * height, given, borne, gain);
  flo_world_destroy(world);
  assert_true(gain > 2.9);
  assert_true(fabs(given - gain) <= 1e-6);
  assert_true(fabs(given + borne) <= 1e-5);
}

static void impacts_are_told_in_full(void **unused) {
  (void)unused;
  for (double height = 0.003; height < 0.005; height += 0.0003) {
    check_impact("direct-forcing", height, 0.5);
    check_impact("monolithic", height, 0);
    check_impact("elastic", height, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(viscous_blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(blob_keeps_its_momenta_in_2d),
      cmocka_unit_test(tank_bears_what_momenta_lack),
      cmocka_unit_test(viscous_cube_is_told_what_it_gets),
      cmocka_unit_test(impacts_are_told_in_full),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
