// A spinning, flying blob in empty space: nothing outside acts on it, so nothing may change its momenta.
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(viscous_blob_keeps_its_momenta_in_3d),
      cmocka_unit_test(blob_keeps_its_momenta_in_2d),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
