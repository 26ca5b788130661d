// Drops in 3D with surface tension and contact angles: pressures and shapes by Laplace and Young. Density,
// surface tension and the radius of the drop's sphere are one, so speeds are in units of sqrt(sigma/(rho R)).
// FLOTSAM_FULL=1 runs finer drops, all angles and all methods.
#include "physics.h"

static const char *const METHODS[] = {"wcsph", "direct-forcing", "constraint", "elastic", "unified"};

typedef struct Drop {
  FloWorld *world;
  double spacing, radius; // of the sphere with the volume of all particles
} Drop;

static Drop make_drop(const char *method, double across, double gravity, int threads) {
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = 3, def.spacing = 2 / across, def.threads = threads;
  def.gravity[0] = def.gravity[1] = 0, def.gravity[2] = -gravity;
  return (Drop){.world = make_world(&def), .spacing = def.spacing};
}

static void fill_drop(Drop *drop, FloShape shape, double angle,
                      void (*velocity)(void *, const double *, double *), void *context) {
  FloError error;
  FloMaterialDef material = flo_default_material_def();
  FloFluidDef fluid = flo_default_fluid_def();
  material.density = 1, material.viscosity = context ? 0.02 : 0.1, material.surface_tension = 1;
  material.wall_viscosity = 0.02, material.contact_angle = angle;
  must(flo_world_add_material(drop->world, &material, &fluid.material, &error), &error);
  fluid.shape = shape, fluid.pose = pose_at(0, 0, 0), fluid.velocity_at = velocity, fluid.context = context;
  must(flo_world_add_fluid(drop->world, &fluid, NULL, &error), &error);
  double volume = (double)flo_world_count(drop->world, FLO_SET_FLUID) * pow(drop->spacing, 3);
  drop->radius = cbrt(volume * 3 / (4 * TEST_PI));
}

// ---- Free drops ----

typedef struct Rest {
  double radius, pressure, speed; // outermost particle and half a spacing; mean; root mean square
} Rest;

static void add_rest(const Drop *drop, Rest *sum) {
  const double *x = doubles(drop->world, "x"), *y = doubles(drop->world, "y"), *z = doubles(drop->world, "z");
  const float *p = floats(drop->world, "pressure"), *vx = floats(drop->world, "vx"),
              *vy = floats(drop->world, "vy"), *vz = floats(drop->world, "vz");
  size_t n = flo_world_count(drop->world, FLO_SET_FLUID), n_inner = 0;
  double far = 0, pressure = 0, square = 0, c[3] = {0};
  for (size_t i = 0; i < n; ++i) c[0] += x[i] / (double)n, c[1] += y[i] / (double)n, c[2] += z[i] / (double)n;
  for (size_t i = 0; i < n; ++i) {
    double r = hypot(hypot(x[i] - c[0], y[i] - c[1]), z[i] - c[2]);
    far = fmax(far, r);
    square += (double)(vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]) / (double)n;
    if (r < drop->radius / 2) pressure += (double)p[i], ++n_inner;
  }
  sum->radius += (far + drop->spacing / 2) / drop->radius;
  sum->pressure += pressure / (double)n_inner * drop->radius / 2, sum->speed += sqrt(square);
}

// A cube, averaged over its last fifth.
static Rest cube_at_rest(double across, double time) {
  FloError error;
  Drop drop = make_drop("monolithic", across, 0, 1);
  double side = cbrt(4 * TEST_PI / 3), n = 0;
  Rest rest = {0};
  FloStepInfo info = {0};
  fill_drop(&drop, (FloShape){.kind = FLO_SHAPE_BOX, .size = {side, side, side}}, 90, NULL,
            NULL); // with a contact angle, so that its surface is found as facets
  while (info.time < time) {
    must(flo_world_step(drop.world, &info, &error), &error);
    if (info.time > 0.8 * time) add_rest(&drop, &rest), ++n;
  }
  flo_world_destroy(drop.world);
  return (Rest){rest.radius / n, rest.pressure / n, rest.speed / n};
}

static void cubes_become_round_with_the_pressure_of_laplace(void **unused) {
  (void)unused;
  for (double across = 10; across <= (is_full() ? 20 : 10); across += 5) {
    Rest rest = cube_at_rest(across, is_full() ? 6 : 2);
    print_message("%g across: %.3f of the radius, %.3f of Laplace's pressure, currents of %.4f\n", across,
                  rest.radius, rest.pressure, rest.speed);
    // The lattice of the cube does not melt: its pressure is uneven.
    assert_true(fabs(rest.radius - 1) < 0.05 && fabs(rest.pressure - 1) < 0.25);
    assert_true(rest.speed < 0.03);
  }
}

// ---- Drops on a floor ----

static void settle(Drop *drop, double angle, double time) {
  FloError error;
  FloBodyId id;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {5.4, 5.4, 1.4}};
  floor.pose = pose_at(0, 0, -0.7);
  must(flo_world_add_body(drop->world, &floor, &id, &error), &error);
  fill_drop(drop, (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = cbrt(2)}, angle, NULL, NULL);
  advance(drop->world, time);
}

// Height of the centre of a cap of the sphere's volume that meets the floor at this angle: pi R^4/V int z
// r^2.
static double middle_of_cap(double degrees) {
  double a = cos(degrees * TEST_PI / 180), radius = cbrt(4 / ((2 + a) * (1 - a) * (1 - a)));
  double top = 1 - a, moment = top * top * (1 - a * a) / 2 - 2 * a * pow(top, 3) / 3 - pow(top, 4) / 4;
  return 0.75 * pow(radius, 4) * moment;
}

static double angle_of(double middle) {
  double low = 5, high = 179;
  while (high - low > 0.01) *(middle_of_cap((low + high) / 2) < middle ? &low : &high) = (low + high) / 2;
  return low;
}

static void check_cap(const char *method, double across, double degrees, double time, double tolerance) {
  Drop drop = make_drop(method, across, 0, 1);
  settle(&drop, degrees, time);
  const double *z = doubles(drop.world, "z");
  size_t n = flo_world_count(drop.world, FLO_SET_FLUID);
  double middle = 0;
  for (size_t i = 0; i < n; ++i) middle += z[i] / (double)n;
  double angle = angle_of(middle / drop.radius);
  print_message("%s, %g across, %g degrees: %.1f\n", method, across, degrees, angle);
  flo_world_destroy(drop.world);
  assert_true(fabs(angle - degrees) < tolerance);
}

static void drops_meet_floors_at_their_contact_angle(void **unused) {
  (void)unused;
  check_cap("monolithic", 12, 60, 2.5, 10);
  if (!is_full()) return;
  for (double degrees = 30; degrees <= 150; degrees += 30) check_cap("monolithic", 16, degrees, 6, 10);
  for (size_t k = 0; k < sizeof METHODS / sizeof *METHODS; ++k) check_cap(METHODS[k], 12, 60, 5, 15);
}

// ---- Bits ----

static uint64_t hash_of_run(int threads) {
  Drop drop = make_drop("monolithic", 10, 1, threads);
  settle(&drop, 60, 0.1);
  uint64_t hash = flo_world_hash(drop.world);
  flo_world_destroy(drop.world);
  return hash;
}

static void same_bits_for_any_number_of_threads(void **unused) {
  (void)unused;
  uint64_t one = hash_of_run(1);
  assert_true(hash_of_run(2) == one && hash_of_run(3) == one);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cubes_become_round_with_the_pressure_of_laplace),
                                     cmocka_unit_test(drops_meet_floors_at_their_contact_angle),
                                     cmocka_unit_test(same_bits_for_any_number_of_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
