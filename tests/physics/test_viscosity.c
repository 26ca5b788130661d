// Laminar flows with known solutions: a decaying shear wave and the start of Couette flow.
#include "physics.h"
#include "sph/kernel_form.h"

// ---- Shear wave v_x = U sin(k y) in a periodic box: it decays as exp(-nu k^2 t) ----

static void shear_velocity(void *context, const double x[3], double v[3]) {
  v[0] = 1e-3 * sin(2 * TEST_PI * x[1] / *(const double *)context), v[1] = v[2] = 0;
}

static double resolution_of(int dim) { return dim == 2 ? 48 : 24; }

static FloWorld *make_shear_wave(int dim, double *size, double viscosity) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  double depth = dim == 3 ? *size / 1.5 : 0;
  def.dim = dim, def.spacing = *size / resolution_of(dim), def.gravity[2] = 0;
  for (int axis = 0; axis < dim; ++axis)
    def.periodic[axis] = true, def.domain_high[axis] = axis == 2 ? depth : *size;
  // On a lattice a narrow kernel sees too few diagonal neighbours to feel shear rightly; this tests the
  // formula, not that.
  def.kernel = FLO_KERNEL_WENDLAND_C2, def.support = 4;
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "alpha", 0, &error), &error);
  must(flo_world_set_param(world, "sound_speed", 1, &error), &error);
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = add_water(world, 1000, viscosity);
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {*size, *size, depth}};
  fluid.pose = pose_at(*size / 2, *size / 2, depth / 2);
  fluid.velocity_at = shear_velocity, fluid.context = size;
  must(flo_world_add_fluid(world, &fluid, NULL, &error), &error);
  return world;
}

// What the formula -(dim+2) sum V F x^2 y^2/l^2 gives on a lattice; the integral it stands for
// is 1.
static double lattice_viscosity(int dim, double spacing, double support) {
  FloKernelForm form = flo_kernel_form(FLO_KERNEL_WENDLAND_C2, dim, support);
  double sum = 0, length2 = pow(form.viscous_length, 2);
  int reach_z = dim == 3 ? 4 : 0;
  for (int i = -4; i <= 4; ++i)
    for (int j = -4; j <= 4; ++j)
      for (int k = -reach_z; k <= reach_z; ++k) {
        double x = i * spacing, y = j * spacing, z = k * spacing, r2 = x * x + y * y + z * z;
        sum -= (dim + 2) * pow(spacing, dim) * flo_kernel_gradient(&form, sqrt(r2)) * x * x * y * y / length2;
      }
  return sum;
}

static void check_shear_wave(int dim) {
  double size = 1, viscosity = 0.01, k = 2 * TEST_PI / size, t = 1 / (viscosity * k * k);
  FloWorld *world = make_shear_wave(dim, &size, viscosity);
  double start = flo_world_measure(world).kinetic_energy;
  advance(world, t);
  double speed = sqrt(flo_world_measure(world).kinetic_energy / start),
         share = lattice_viscosity(dim, size / resolution_of(dim), 4 * size / resolution_of(dim));
  print_message("%dD shear wave: decays to %.4f; theory %.4f, theory on a lattice %.4f\n", dim, speed,
                exp(-1), exp(-share));
  flo_world_destroy(world);
  assert_true(fabs(share - 1) < 0.1);
  assert_true(fabs(speed / exp(-share) - 1) < 0.02);
}

static void shear_wave_decays_in_2d(void **unused) {
  (void)unused;
  check_shear_wave(2);
}

static void shear_wave_decays_in_3d(void **unused) {
  (void)unused;
  check_shear_wave(3);
}

// ---- Couette: Morris 1997, eq. 21 ----

static double couette_speed(double y, double t, double gap, double nu, double wall) {
  double v = wall * y / gap;
  for (int n = 1; n <= 50; ++n) {
    double a = n * TEST_PI / gap;
    v += 2 * wall / (n * TEST_PI) * (n % 2 ? -1 : 1) * sin(a * y) * exp(-nu * a * a * t);
  }
  return v;
}

static void add_plate(FloWorld *world, double length, double thickness, double y, double speed) {
  FloError error;
  FloBodyId id;
  FloBodyDef def = flo_default_body_def();
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[0] = speed;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {length, thickness, 0}};
  def.pose = pose_at(length / 2, y, 0);
  if (speed != 0) def.kind = FLO_BODY_KINEMATIC, def.motions = &motion, def.n_motions = 1;
  must(flo_world_add_body(world, &def, &id, &error), &error);
}

static FloWorld *make_channel(double gap, double length, int resolution, double viscosity, double wall) {
  FloError error;
  double s = gap / resolution;
  FloWorldDef def = flo_default_world_def();
  def.method = "wcsph";
  def.dim = 2, def.spacing = s, def.gravity[2] = 0;
  def.kernel = FLO_KERNEL_WENDLAND_C2, def.support = 3;
  def.periodic[0] = true, def.domain_high[0] = length;
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "alpha", 0, &error), &error);
  FloMaterialId fluid = add_water(world, 1000, viscosity);
  add_plate(world, length, 4 * s, -2 * s, 0);
  add_plate(world, length, 4 * s, gap + 2 * s, wall);
  add_block(world, fluid, 0, length, gap, 0);
  return world;
}

static void couette_flow_starts_as_theory_says(void **unused) {
  (void)unused;
  double gap = 0.1, viscosity = 0.01, wall = 0.1, worst = 0;
  FloWorld *world = make_channel(gap, 0.05, 40, viscosity, wall);
  const double times[] = {0.05, 0.1, 0.2, 1.0};
  for (size_t k = 0; k < sizeof times / sizeof times[0]; ++k) {
    advance(world, times[k]);
    const double *y = doubles(world, "y");
    const float *vx = floats(world, "vx");
    double sum = 0;
    size_t n = flo_world_count(world, FLO_SET_FLUID);
    for (size_t i = 0; i < n; ++i)
      sum += fabs((double)vx[i] - couette_speed(y[i], times[k], gap, viscosity, wall));
    worst = fmax(worst, sum / (double)n / wall);
  }
  print_message("Couette: mean difference to theory at most %.1f %% of the wall's speed\n", 100 * worst);
  flo_world_destroy(world);
  assert_true(worst < 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shear_wave_decays_in_2d),
                                     cmocka_unit_test(shear_wave_decays_in_3d),
                                     cmocka_unit_test(couette_flow_starts_as_theory_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
