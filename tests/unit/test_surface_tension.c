// Surface tension and adhesion against sums over all pairs in double precision, with the kernels as the paper
// prints them; and the work that parting fluids and solids takes.
#include "base/vecmath.h"
#include "coupling/forces/surface_tension.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/worlds.h"

// clang-format off
#include "sph/real_scalar.h" // before kernel.h, which is written in its vocabulary
#include "sph/kernel.h"
#include "sph/tension_kernel.h"
// clang-format on

// ---- Kernels, as printed: Akinci et al. 2013, equations 2 and 7 ----

static double printed_cohesion(double r, double h) {
  double scale = 32 / (FLO_PI * pow(h, 9)), a = pow(h - r, 3) * pow(r, 3);
  if (r > h) return 0;
  return 2 * r > h ? scale * a : scale * (2 * a - pow(h, 6) / 64);
}

static double printed_adhesion(double r, double h) {
  if (2 * r <= h || r > h) return 0;
  return 0.007 / pow(h, 3.25) * pow(-4 * r * r / h + 6 * r - 2 * h, 0.25);
}

static void test_kernels_have_the_printed_shapes(void **state) {
  (void)state;
  double h = 0.04;
  for (int k = 0; k <= 220; ++k) {
    double q = k / 200.0, r = q * h;
    assert_close(32 / (FLO_PI * pow(h, 3)) * (double)tension_cohesion((float)q), printed_cohesion(r, h),
                 1e-6 * printed_cohesion(h / 2, h));
    // A fourth root is steep where it begins.
    if (fabs(q - 0.5) < 1e-3 || fabs(q - 1) < 1e-3) continue;
    assert_close(0.007 / pow(h, 3) * (double)tension_adhesion((float)q), printed_adhesion(r, h),
                 1e-4 * printed_adhesion(0.75 * h, h));
  }
}

// The printed normalisation of C: its integral over a ball is a pure number, whatever h.
static void test_cohesion_pulls_more_than_it_pushes(void **state) {
  (void)state;
  double pull = 0, push = 0;
  for (int k = 0; k < 1000; ++k) {
    double q = (k + 0.5) / 1000, c = (double)tension_cohesion((float)q);
    *(c > 0 ? &pull : &push) += fabs(c) * q * q / 1000;
  }
  assert_true(pull > 20 * push && push > 0);
  assert_true(tension_cohesion(0.2f) < 0 && tension_cohesion(0.3f) > 0);
  assert_close(tension_cohesion(0.5f), 1.0 / 64, 1e-7);
}

// int_0^1 q^n c(q) dq in closed form, by powers.
static double moment_of_cohesion(int n) {
  const double powers[] = {1, -3, 3, -1}; // of (1-q)^3
  double sum = -pow(0.5, n + 1) / (64 * (n + 1));
  for (int k = 0; k < 4; ++k) sum += powers[k] * (1 + pow(0.5, n + k + 4)) / (n + k + 4);
  return sum;
}

// ---- Worlds ----

static FloMaterialId add_drop_fluid(FloWorld *world, double density, double tension, double adhesion) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.density = density, def.surface_tension = tension, def.adhesion = adhesion;
  def.viscosity = 0;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static void jitter(FloWorld *world, Random *random) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double s = 0.2 * world->def.spacing;
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += random_between(random, -s, s), p->y[i] += random_between(random, -s, s);
    if (world->def.dim == 3) p->z[i] += random_between(random, -s, s);
    p->density[i] =
        p->mass[i] / (float)flo_world_rest_volume(world) * (float)random_between(random, 0.6, 1.1);
  }
}

static void add_stone(FloWorld *world, FloBodyKind kind, double x, double up) {
  FloBodyDef def = flo_default_body_def();
  double s = world->def.spacing;
  bool is_flat = world->def.dim == 2;
  def.kind = kind, def.density = 2000;
  def.shape = is_flat ? box_shape(3 * s, 3 * s, 0) : box_shape(3 * s, 3 * s, 3 * s);
  def.pose = is_flat ? pose_at(x * s, up * s, 0) : pose_at(x * s, 0, up * s);
  add_body(world, &def);
}

// Two fluids (or one) between a wall and a loose stone.
static FloWorld *make_drops(int dim, uint64_t seed, bool fluids_differ, bool has_wall) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  bool is_flat = dim == 2;
  Random random = {seed};
  const double low[3] = {-4 * s, is_flat ? 0 : -2 * s, 0},
               middle[3] = {0, is_flat ? 4 * s : 2 * s, is_flat ? 0 : 4 * s}, corner[3] = {0, low[1], 0},
               high[3] = {4 * s, middle[1], middle[2]};
  if (has_wall) add_stone(world, FLO_BODY_STATIC, -1, -1.6);
  add_stone(world, FLO_BODY_DYNAMIC, 1.2, 5.6);
  FloMaterialId water = add_drop_fluid(world, 1000, 0.072, 0.1);
  add_block(world, water, low, middle);
  add_block(world, fluids_differ ? add_drop_fluid(world, 700, 0.02, 0) : water, corner, high);
  jitter(world, &random);
  return world;
}

typedef struct Sweep {
  FloWorld *world;
  FloSurfaceTension tension;
  float *force, *wall_force;
} Sweep;

static Sweep sweep_of(FloWorld *world) {
  FloError error;
  Sweep sweep = {.world = world};
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count;
  assert_ok(flo_world_list_neighbours(world, 0, &error), &error);
  sweep.force = calloc(4 * (world->sets[FLO_SET_FLUID].count + FLO_BLOCK), sizeof(float));
  sweep.wall_force = calloc(4 * (n_walls + FLO_BLOCK), sizeof(float));
  assert_ok(flo_surface_tension_add(&sweep.tension, world, sweep.force, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, &error), &error);
  if (n_walls)
    flo_surface_tension_pull_walls(&sweep.tension, world, sweep.wall_force, 0,
                                   flo_pairs_of(world, FLO_SET_BOUNDARY, FLO_SET_FLUID)->n_blocks);
  return sweep;
}

static void sweep_free(Sweep *sweep) {
  free(sweep->force), free(sweep->wall_force);
  flo_surface_tension_free(&sweep->tension, &sweep->world->memory);
  flo_world_destroy(sweep->world);
}

// ---- Brute force ----

static double apart(const FloParticles *p, size_t i, const FloParticles *q, size_t j, double unit[3]) {
  double d[3] = {p->x[i] - q->x[j], p->y[i] - q->y[j], p->z[i] - q->z[j]}, r = vec_length(d);
  vec_scale(d, r > 0 ? 1 / r : 0, unit);
  return r;
}

static const FloMaterial *material_of(const FloWorld *world, size_t i) {
  return &flo_materials(world)[world->sets[FLO_SET_FLUID].material[i]];
}

// H times the sum of the gradients of (1 - q^2)^3.
static void normal_of(const FloWorld *world, size_t i, double normal[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(normal, 0, 0, 0);
  for (size_t j = 0; j < p->count; ++j) {
    double unit[3], q = apart(p, i, p, j, unit) / world->kernel.support;
    if (j != i && q < 1) vec_add_scaled(normal, unit, -6 * q * pow(1 - q * q, 2), normal);
  }
}

// How much a particle is at the surface.
static double exposure(const double normal[3], const FloTensionStrengths *strengths) {
  return fmin(vec_length(normal) / strengths->normal, 1);
}

static void cohesion_on(const FloWorld *world, double (*normals)[3], size_t i, double force[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloTensionStrengths strengths = flo_surface_tension_strengths(world);
  double h = world->kernel.support, own = material_of(world, i)->surface_tension;
  for (size_t j = 0; j < p->count; ++j) {
    double unit[3], r = apart(p, i, p, j, unit), q = r / h, other = material_of(world, j)->surface_tension;
    if (j == i || q >= 1) continue;
    double exposed = (exposure(normals[i], &strengths) + exposure(normals[j], &strengths)) / 2;
    double shape = FLO_PI * pow(h, 3) / 32 * printed_cohesion(r, h);
    vec_add_scaled(force, unit, -strengths.cohesion * (own + other) / 2 * exposed * shape, force);
    // The matrix of second derivatives of (1 - q^2)^3 times what the normals differ by.
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) {
        double second =
            24 * q * q * (1 - q * q) * unit[row] * unit[column] - 6 * pow(1 - q * q, 2) * (row == column);
        force[row] -= strengths.area * second * (own * normals[i][column] - other * normals[j][column]);
      }
  }
}

// Volume of a sample times how much it is at the surface of its body: of the first layer of a plane wall,
// wholly.
static double exposed_volume(const FloWorld *world, const FloParticles *b, size_t j) {
  double plane = 0, s = world->def.spacing;
  for (int k = 1; k < 4; ++k)
    plane += flo_kernel_sheet_sum(&world->kernel, s, k) * flo_world_rest_volume(world);
  return (double)b->volume[j] * fmin(fmax((1 - (double)b->covered[j]) / plane, 0), 1);
}

// On fluid particle i by all samples of a set; the opposite is added to the samples' own.
static void adhesion_on(const FloWorld *world, FloSet set, size_t i, double force[3], double (*samples)[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID], *b = &world->sets[set];
  double h = world->kernel.support;
  double strength = flo_surface_tension_strengths(world).adhesion * material_of(world, i)->adhesion;
  for (size_t j = 0; j < b->count; ++j) {
    double unit[3], r = apart(p, i, b, j, unit);
    double pull = strength * exposed_volume(world, b, j) / flo_world_rest_volume(world) *
                  printed_adhesion(r, h) / 0.007 * pow(h, 3);
    vec_add_scaled(force, unit, -pull, force);
    vec_add_scaled(samples[j], unit, pull, samples[j]);
  }
}

static void check_wrench(const Sweep *sweep, double (*samples)[3], double tolerance) {
  const FloWorld *world = sweep->world;
  const FloParticles *r = &world->sets[FLO_SET_RIGID];
  const FloBody *stone = &flo_bodies(world)[world->bodies.count - 1];
  const double *wrench = sweep->tension.bodies.wrenches + 6 * stone->first_node;
  double force[3] = {0}, torque[3] = {0};
  for (size_t j = 0; j < r->count; ++j) {
    double x[3] = {r->x[j], r->y[j], r->z[j]}, arm[3], turn[3];
    vec_sub(x, stone->nodes->position, arm);
    vec_cross(arm, samples[j], turn);
    vec_add(force, samples[j], force);
    vec_add(torque, turn, torque);
  }
  assert_true(vec_length(force) > 10 * tolerance);
  assert_close_3(wrench, force, tolerance);
  assert_close_3(wrench + 3, torque, tolerance * world->def.spacing * 3);
}

static void check_forces(int dim, uint64_t seed, bool fluids_differ) {
  Sweep sweep = sweep_of(make_drops(dim, seed, fluids_differ, true));
  FloWorld *world = sweep.world;
  const FloParticles *walls = &world->sets[FLO_SET_BOUNDARY];
  double(*wall)[3] = calloc(walls->count, sizeof *wall);
  double(*body)[3] = calloc(world->sets[FLO_SET_RIGID].count, sizeof *body);
  double(*normals)[3] = calloc(world->sets[FLO_SET_FLUID].count, sizeof *normals);
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) normal_of(world, i, normals[i]);
  double tolerance = 2e-5 * 0.072 * world->def.spacing;
  if (dim == 2) tolerance = 2e-5 * 0.072;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) {
    double force[3] = {0};
    cohesion_on(world, normals, i, force);
    adhesion_on(world, FLO_SET_BOUNDARY, i, force, wall);
    adhesion_on(world, FLO_SET_RIGID, i, force, body);
    for (size_t axis = 0; axis < 3; ++axis) assert_close(sweep.force[4 * i + axis], force[axis], tolerance);
  }
  for (size_t j = 0; j < walls->count; ++j)
    for (size_t axis = 0; axis < 3; ++axis)
      assert_close(sweep.wall_force[4 * j + axis], wall[j][axis], tolerance);
  check_wrench(&sweep, body, 10 * tolerance);
  free(wall), free(body), free(normals);
  sweep_free(&sweep);
}

static void test_forces_are_what_brute_force_says(void **state) {
  (void)state;
  check_forces(3, 1, false), check_forces(3, 2, true);
}

static void test_momenta_are_conserved(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Sweep sweep = sweep_of(make_drops(dim, 5, true, false));
    const FloParticles *p = &sweep.world->sets[FLO_SET_FLUID];
    const double *wrench = sweep.tension.bodies.wrenches,
                 *centre = flo_bodies(sweep.world)[0].nodes->position;
    double force[3], torque[3], size = 0, turn_size = 0;
    vec_cross(centre, wrench, torque);
    vec_add(torque, wrench + 3, torque);
    vec_copy(wrench, force);
    for (size_t i = 0; i < p->count; ++i) {
      const float *f = sweep.force + 4 * i;
      double x[3] = {p->x[i], p->y[i], p->z[i]}, on[3] = {(double)f[0], (double)f[1], (double)f[2]}, turn[3];
      vec_cross(x, on, turn);
      vec_add(force, on, force);
      vec_add(torque, turn, torque);
      size += vec_length(on), turn_size += vec_length(turn);
    }
    assert_true(vec_length(force) < 1e-6 * size && vec_length(torque) < 1e-6 * turn_size);
    sweep_free(&sweep);
  }
}

// ---- Strengths ----

// Energy of the area term: half the strength times the support times the sum of the squared normals.
static double area_energy(const FloWorld *world, double tension) {
  double sum = 0;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) {
    double normal[3];
    normal_of(world, i, normal);
    sum += vec_dot(normal, normal);
  }
  return flo_surface_tension_strengths(world).area * tension * world->kernel.support / 2 * sum;
}

// The shares of cohesion and area are as they are documented.
static void test_strengths_follow_from_the_work_of_parting(void **state) {
  (void)state;
  const double c = 2.3, share = 0.55;
  FloWorldDef def = small_world_def(3);
  double s = def.spacing, edge = 10 * s, h = 2 * s;
  FloWorld *world = create_world(&def);
  const double low[3] = {0}, high[3] = {3 * edge, 3 * edge, 8 * s};
  add_block(world, add_drop_fluid(world, 1000, 1, 0), low, high);
  double work = FLO_PI / 8 * pow(s, -6) * pow(h, 5) * moment_of_cohesion(4);
  assert_close(flo_surface_tension_strengths(world).cohesion * work, share * c, 1e-4 * c);
  // The narrow sides and edges of the block have energy too: the whole surface counts, edges but little.
  double surface = 2 * (high[0] * high[1] + 2 * high[0] * high[2]);
  assert_close(area_energy(world, 1) / surface, (1 - share) * c, 0.1 * c);
  flo_world_destroy(world);
}

// Forces of the area term alone are minus the gradient of that energy: those of the sweep less cohesion.
static void test_area_forces_derive_from_the_energy(void **state) {
  (void)state;
  FloWorld *world = make_drops(3, 15, false, false);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloTensionStrengths strengths = flo_surface_tension_strengths(world);
  double step = 1e-4 * world->def.spacing;
  double(*normals)[3] = calloc(p->count, sizeof *normals);
  for (size_t i = 0; i < p->count; ++i) normal_of(world, i, normals[i]);
  for (size_t i = 0; i < p->count; i += 17) {
    double force[3] = {0}, start = p->x[i];
    cohesion_on(world, normals, i, force);
    for (size_t j = 0; j < p->count; ++j) { // take cohesion off again
      double unit[3], r = apart(p, i, p, j, unit), h = world->kernel.support;
      if (j == i || r >= h) continue;
      double exposed = (exposure(normals[i], &strengths) + exposure(normals[j], &strengths)) / 2;
      force[0] +=
          strengths.cohesion * 0.072 * exposed * FLO_PI * pow(h, 3) / 32 * printed_cohesion(r, h) * unit[0];
    }
    p->x[i] = start + step;
    double high = area_energy(world, 0.072);
    p->x[i] = start - step;
    double low = area_energy(world, 0.072);
    p->x[i] = start;
    assert_close(force[0], (low - high) / (2 * step), 1e-4 * 0.072 * world->def.spacing);
  }
  free(normals);
  flo_world_destroy(world);
}

// Force along the last axis that holds a block of fluid at a height above a wide floor.
static double hold(int dim, double height, double adhesion, double *area) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  double s = def.spacing, sum = 0;
  size_t up = (size_t)dim - 1;
  bool is_flat = dim == 2;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = is_flat ? box_shape(24 * s, 4 * s, 0) : box_shape(24 * s, 24 * s, 4 * s);
  floor.pose = is_flat ? pose_at(0, -2 * s, 0) : pose_at(0, 0, -2 * s);
  add_body(world, &floor);
  const double low[3] = {-4 * s, is_flat ? 0 : -4 * s, 0},
               high[3] = {4 * s, is_flat ? 3 * s : 4 * s, is_flat ? 0 : 3 * s};
  add_block(world, add_drop_fluid(world, 1000, 0, adhesion), low, high);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) (is_flat ? p->y : p->z)[i] += height;
  *area = pow(8 * s, dim - 1);
  Sweep sweep = sweep_of(world);
  for (size_t i = 0; i < p->count; ++i) sum += (double)sweep.force[4 * i + up];
  sweep_free(&sweep);
  return -sum;
}

// The work of lifting it off is the adhesion times the area.
static void test_adhesion_is_the_work_of_lifting_off(void **state) {
  (void)state;
  enum { N = 60 };
  for (int dim = 2; dim <= 3; ++dim) {
    double work = 0, area = 0, reach = 0.05;
    for (int k = 0; k < N; ++k) work += hold(dim, (k + 0.5) / N * reach, 0.13, &area) * reach / N;
    assert_close(work / area, 0.13, 0.13 * 0.02);
  }
}

// ---- When there is none ----

static void test_nothing_is_done_without_tension(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  const double low[3] = {0}, high[3] = {0.1, 0.1, 0.1};
  // A material that no fluid is made of counts for nothing.
  add_drop_fluid(world, 1000, 1, 1);
  add_block(world, add_water(world), low, high);
  assert_false(flo_surface_tension_is_used(world));
  assert_true(isinf(flo_surface_tension_max_dt(world)));
  flo_world_destroy(world);
}

static void test_capillary_waves_limit_the_step(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  const double low[3] = {0}, high[3] = {0.1, 0.1, 0.1};
  add_block(world, add_drop_fluid(world, 1000, 0.072, 0), low, high);
  double s = world->def.spacing;
  assert_true(flo_surface_tension_is_used(world));
  assert_close(flo_surface_tension_max_dt(world), 0.25 * sqrt(1000 * s * s * s / (2 * FLO_PI * 0.072)), 1e-9);
  flo_world_destroy(world);
}

static void test_bad_values_are_refused(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  const double bad[] = {-1, NAN, INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    FloMaterialDef def = flo_default_material_def();
    def.surface_tension = bad[k];
    assert_refused(flo_world_add_material(world, &def, NULL, &error), &error, "surface_tension");
    def.surface_tension = 0, def.adhesion = bad[k];
    assert_refused(flo_world_add_material(world, &def, NULL, &error), &error, "adhesion");
    if (bad[k] < 0) continue; // not given
    def.adhesion = 0, def.contact_angle = bad[k];
    assert_refused(flo_world_add_material(world, &def, NULL, &error), &error, "contact_angle");
  }
  flo_world_destroy(world);
}

static uint64_t hash_of_run(int dim, int threads) {
  FloWorld *world = make_drops(dim, 8, true, true);
  world->threads = threads;
  step_world(world, 30);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    uint64_t one = hash_of_run(dim, 1);
    assert_true(hash_of_run(dim, 2) == one && hash_of_run(dim, 3) == one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_have_the_printed_shapes),
      cmocka_unit_test(test_cohesion_pulls_more_than_it_pushes),
      cmocka_unit_test(test_forces_are_what_brute_force_says),
      cmocka_unit_test(test_momenta_are_conserved),
      cmocka_unit_test(test_strengths_follow_from_the_work_of_parting),
      cmocka_unit_test(test_area_forces_derive_from_the_energy),
      cmocka_unit_test(test_adhesion_is_the_work_of_lifting_off),
      cmocka_unit_test(test_nothing_is_done_without_tension),
      cmocka_unit_test(test_capillary_waves_limit_the_step),
      cmocka_unit_test(test_bad_values_are_refused),
      cmocka_unit_test(test_same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
