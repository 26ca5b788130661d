// Surface tension as links between the particles of a surface, against an outline that is found by looking at
// all particles, and its length; and the pulls of solids with a contact angle.
#include "base/vecmath.h"
#include "coupling/forces/surface_links.h"
#include "support/check.h"
#include "support/random.h"
#include "support/worlds.h"

static const double TENSION = 0.5;

// ---- Worlds ----

static FloMaterialId add_drop_fluid(FloWorld *world, double angle) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.surface_tension = TENSION, def.contact_angle = angle;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static FloKernel kernel = FLO_KERNEL_CUBIC_SPLINE;
static double domain_low = NAN; // in spacings, of a domain that repeats after 40 of them; NAN: none

static FloWorld *make_flat_world(void) {
  FloWorldDef def = small_world_def(2);
  def.method = "monolithic", def.kernel = kernel;
  if (!isnan(domain_low)) {
    def.periodic[0] = true;
    def.domain_low[0] = domain_low * def.spacing, def.domain_high[0] = (domain_low + 40) * def.spacing;
  }
  return create_world(&def);
}

static void jitter(FloWorld *world, uint64_t seed) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  Random random = {seed};
  double s = 0.15 * world->def.spacing;
  for (size_t i = 0; i < p->count; ++i)
    p->x[i] += random_between(&random, -s, s), p->y[i] += random_between(&random, -s, s);
}

// A block of 8 by 6 particles on a floor, or on a stone that moves.
static FloWorld *make_block(double angle, FloBodyKind kind, uint64_t seed) {
  FloWorld *world = make_flat_world();
  double s = world->def.spacing;
  const double low[3] = {-4 * s, 0, 0}, high[3] = {4 * s, 6 * s, 0};
  FloBodyDef stone = flo_default_body_def();
  stone.kind = kind, stone.density = 2000;
  stone.shape = box_shape(30 * s, 6 * s, 0), stone.pose = pose_at(0.3 * s, -3 * s, 0);
  if (angle >= 0) add_body(world, &stone);
  add_block(world, add_drop_fluid(world, angle), low, high);
  jitter(world, seed);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; !isnan(domain_low) && i < p->count; ++i)
    if (p->x[i] < domain_low * s) p->x[i] += 40 * s; // as motion through the face does
  return world;
}

typedef struct Pull {
  FloWorld *world;
  FloSurfaceLinks links;
  FloBodyRows bodies;
  float *force;
} Pull;

static Pull pull_of(FloWorld *world) {
  FloError error;
  Pull pull = {.world = world};
  pull.force = calloc(4 * (world->sets[FLO_SET_FLUID].count + FLO_BLOCK), sizeof(float));
  assert_ok(flo_world_list_neighbours(world, 0, &error), &error);
  assert_ok(flo_body_rows_prepare(&pull.bodies, world, &error), &error);
  if (pull.bodies.is_used) {
    memset(pull.bodies.force, 0, 4 * world->sets[FLO_SET_RIGID].count * sizeof(float));
    memset(pull.bodies.wrenches, 0, 6 * world->nodes.count * sizeof(double));
  }
  assert_ok(flo_surface_links_add(&pull.links, world, pull.force, &pull.bodies, &error), &error);
  return pull;
}

static void pull_free(Pull *pull) {
  free(pull->force);
  flo_surface_links_free(&pull->links, &pull->world->memory);
  flo_body_rows_free(&pull->bodies, &pull->world->memory);
  flo_world_destroy(pull->world);
}

// ---- The outline ----

static double gap(const FloParticles *p, size_t i, size_t j) {
  return hypot(p->x[i] - p->x[j], p->y[i] - p->y[j]);
}

// Whether a disc of 1.25 spacings that touches i and j, on one side of them, holds no particle that is nearer
// than two spacings to both.
static bool is_free(const FloWorld *world, size_t i, size_t j, double side) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double r = 1.25 * world->def.spacing, h = 2 * world->def.spacing, d = gap(p, i, j),
         up = sqrt(r * r - d * d / 4);
  double x = (p->x[i] + p->x[j]) / 2 - side * up * (p->y[j] - p->y[i]) / d,
         y = (p->y[i] + p->y[j]) / 2 + side * up * (p->x[j] - p->x[i]) / d;
  for (size_t k = 0; k < p->count; ++k)
    if (k != i && k != j && gap(p, i, k) < h && gap(p, j, k) < h && hypot(p->x[k] - x, p->y[k] - y) < r)
      return false;
  return true;
}

// Pulls of all links on each particle, and the length of the outline.
static double outline(const FloWorld *world, double (*force)[2]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double length = 0;
  for (size_t i = 0; i < p->count; ++i)
    for (size_t j = 0; j < p->count; ++j) {
      double d = gap(p, i, j);
      if (i == j || d >= 2 * world->def.spacing) continue;
      int sides = is_free(world, i, j, 1) + is_free(world, i, j, -1);
      force[i][0] += TENSION * sides * (p->x[j] - p->x[i]) / d;
      force[i][1] += TENSION * sides * (p->y[j] - p->y[i]) / d;
      length += sides * d / 2;
    }
  return length;
}

// Whatever the kernel.
static void test_links_are_those_of_the_outline(void **state) {
  (void)state;
  static const FloKernel kernels[] = {FLO_KERNEL_CUBIC_SPLINE, FLO_KERNEL_WENDLAND_C2, FLO_KERNEL_QUINTIC};
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    kernel = kernels[seed % 3];
    Pull pull = pull_of(make_block(-1, FLO_BODY_STATIC, seed));
    size_t n = pull.world->sets[FLO_SET_FLUID].count, n_pulled = 0;
    double(*force)[2] = calloc(n, sizeof *force), s = pull.world->def.spacing;
    double length = outline(pull.world, force);
    // Particles lie half a spacing below the surface of a block of 8 by 6.
    assert_close(length, 24 * s, 3 * s);
    for (size_t i = 0; i < n; ++i) {
      for (size_t axis = 0; axis < 2; ++axis)
        assert_close(pull.force[4 * i + axis], force[i][axis], 1e-6 * TENSION);
      n_pulled += fabs((double)pull.force[4 * i]) + fabs((double)pull.force[4 * i + 1]) > 0;
    }
    assert_true(n_pulled >= 16 && n_pulled <= 32);
    free(force);
    pull_free(&pull);
  }
  kernel = FLO_KERNEL_CUBIC_SPLINE;
}

// The pulls are minus the gradient of tension times length.
static void test_pulls_derive_from_the_length(void **state) {
  (void)state;
  Pull pull = pull_of(make_block(-1, FLO_BODY_STATIC, 3));
  FloParticles *p = &pull.world->sets[FLO_SET_FLUID];
  double(*force)[2] = calloc(p->count, sizeof *force), step = 1e-6 * pull.world->def.spacing;
  for (size_t i = 0; i < p->count; ++i) {
    double x = p->x[i];
    p->x[i] = x + step;
    double more = outline(pull.world, force);
    p->x[i] = x - step;
    double less = outline(pull.world, force);
    p->x[i] = x;
    assert_close(pull.force[4 * i], -TENSION * (more - less) / (2 * step), 1e-3 * TENSION);
  }
  free(force);
  pull_free(&pull);
}

// A lone pair has two sides. It does not pull when it is very close, or too far apart for a disc.
static void test_a_lone_pair(void **state) {
  (void)state;
  const double distances[] = {0.2, 1.0, 1.9, 2.2, 2.7}, pulls[] = {0, 2, 2, 0, 0};
  for (int k = 0; k < 10; ++k) {
    kernel = k < 5 ? FLO_KERNEL_CUBIC_SPLINE : FLO_KERNEL_QUINTIC;
    FloWorld *world = make_flat_world();
    double s = world->def.spacing;
    const double low[3] = {0}, high[3] = {2 * s, s, 0};
    add_block(world, add_drop_fluid(world, -1), low, high);
    FloParticles *p = &world->sets[FLO_SET_FLUID];
    assert_int_equal(p->count, 2);
    p->x[0] = 0, p->x[1] = distances[k % 5] * s, p->y[0] = p->y[1] = 0;
    Pull pull = pull_of(world);
    assert_close(pull.force[0], pulls[k % 5] * TENSION, 1e-3 * TENSION);
    assert_close(pull.force[4], -pulls[k % 5] * TENSION, 1e-3 * TENSION);
    pull_free(&pull);
  }
  kernel = FLO_KERNEL_CUBIC_SPLINE;
}

// ---- Solids ----

static void sum_forces(const Pull *pull, double force[3], double *torque, double *size) {
  const FloParticles *p = &pull->world->sets[FLO_SET_FLUID];
  vec_set(force, 0, 0, 0);
  *torque = *size = 0;
  for (size_t i = 0; i < p->count; ++i) {
    double f[2] = {(double)pull->force[4 * i], (double)pull->force[4 * i + 1]};
    force[0] += f[0], force[1] += f[1], *size += hypot(f[0], f[1]);
    *torque += p->x[i] * f[1] - p->y[i] * f[0];
  }
}

// The outline ends twice at the floor. Young's pulls along the floor cancel, and those down add up.
static void test_a_floor_pulls_by_its_contact_angle(void **state) {
  (void)state;
  const double angles[] = {0, 30, 90, 135, 180};
  for (size_t k = 0; k < FLO_COUNT_OF(angles); ++k)
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Pull pull = pull_of(make_block(angles[k], FLO_BODY_STATIC, seed));
      const FloParticles *walls = &pull.world->sets[FLO_SET_BOUNDARY];
      double force[3], torque, size, wall[2] = {0};
      sum_forces(&pull, force, &torque, &size);
      for (size_t j = 0; j < walls->count; ++j)
        wall[0] += (double)pull.links.solids.wall_force[4 * j],
            wall[1] += (double)pull.links.solids.wall_force[4 * j + 1];
      assert_true(pull.links.solids.has_contacts);
      assert_close(force[0], 0, 1e-6 * size);
      assert_close(force[1], -2 * TENSION * sin(angles[k] * FLO_PI / 180), 1e-6 * size);
      assert_close(wall[0], -force[0], 1e-6 * size);
      assert_close(wall[1], -force[1], 1e-6 * size);
      pull_free(&pull);
    }
}

static void test_momenta_of_fluid_and_stone_are_conserved(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Pull pull = pull_of(make_block(70, FLO_BODY_DYNAMIC, seed));
    const double *wrench = pull.bodies.wrenches, *at = flo_bodies(pull.world)[0].nodes->position;
    double force[3], torque, size, s = pull.world->def.spacing;
    sum_forces(&pull, force, &torque, &size);
    assert_true(vec_length(wrench) > 0.5 * TENSION);
    assert_close(force[0] + wrench[0], 0, 1e-6 * size);
    assert_close(force[1] + wrench[1], 0, 1e-6 * size);
    assert_close(torque + wrench[5] + at[0] * wrench[1] - at[1] * wrench[0], 0, 3e-7 * size * 5 * s);
    pull_free(&pull);
  }
}

// The drop and its stone lie across the face of a domain, or in its middle.
static void test_a_periodic_face_changes_nothing(void **state) {
  (void)state;
  double wrench[2][6];
  for (int k = 0; k < 2; ++k) {
    domain_low = k ? 0 : -20;
    Pull pull = pull_of(make_block(70, FLO_BODY_DYNAMIC, 2));
    memcpy(wrench[k], pull.bodies.wrenches, sizeof wrench[k]);
    pull_free(&pull);
  }
  domain_low = NAN;
  assert_true(fabs(wrench[0][5]) > 0);
  for (int row = 0; row < 6; ++row) assert_close(wrench[1][row], wrench[0][row], 1e-5 * TENSION);
}

// ---- Input ----

static void test_bad_angles_are_refused(void **state) {
  (void)state;
  FloWorld *flat = empty_world(2);
  FloError error;
  FloMaterialDef def = flo_default_material_def();
  FloBodyDef stone = flo_default_body_def();
  stone.shape = box_shape(1, 1, 0), stone.contact_angle = 180.5;
  def.contact_angle = 181;
  assert_refused(flo_world_add_material(flat, &def, NULL, &error), &error, "between 0 and 180 degrees");
  assert_refused(flo_world_add_body(flat, &stone, NULL, &error), &error, "between 0 and 180 degrees");
  flo_world_destroy(flat);
}

// A solid's own angle comes before its material's, and that before the fluid's.
static void test_angles_of_solids_come_first(void **state) {
  (void)state;
  FloMaterial fluid = {.contact_angle = 30};
  FloBody body = {.contact_angle = 120};
  assert_close(flo_contact_angle(&fluid, &body), 120 * FLO_PI / 180, 1e-12);
  body.contact_angle = -1;
  assert_close(flo_contact_angle(&fluid, &body), 30 * FLO_PI / 180, 1e-12);
  fluid.contact_angle = -1;
  assert_close(flo_contact_angle(&fluid, &body), FLO_PI, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_links_are_those_of_the_outline),
      cmocka_unit_test(test_pulls_derive_from_the_length),
      cmocka_unit_test(test_a_lone_pair),
      cmocka_unit_test(test_a_floor_pulls_by_its_contact_angle),
      cmocka_unit_test(test_momenta_of_fluid_and_stone_are_conserved),
      cmocka_unit_test(test_a_periodic_face_changes_nothing),
      cmocka_unit_test(test_bad_angles_are_refused),
      cmocka_unit_test(test_angles_of_solids_come_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
