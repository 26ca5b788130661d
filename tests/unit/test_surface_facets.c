// Surface tension as facets between the particles of a surface, against a surface that is found by looking at
// all triples of particles, and its energy; and the pulls of solids with a contact angle.
#include "base/vecmath.h"
#include "coupling/forces/surface_facets.h"
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

static void jitter(FloWorld *world, uint64_t seed) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  Random random = {seed};
  double s = 0.15 * world->def.spacing;
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += random_between(&random, -s, s), p->y[i] += random_between(&random, -s, s);
    p->z[i] += random_between(&random, -s, s);
  }
}

// A block of 5 by 4 by 4 particles on a floor, or on a stone that moves, if they have an angle.
static FloWorld *make_block(double angle, FloBodyKind kind, uint64_t seed) {
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  const double low[3] = {-2.5 * s, -2 * s, 0}, high[3] = {2.5 * s, 2 * s, 4 * s};
  FloBodyDef stone = flo_default_body_def();
  stone.kind = kind, stone.density = 2000;
  stone.shape = box_shape(14 * s, 14 * s, 4 * s), stone.pose = pose_at(0.3 * s, 0, -2 * s);
  if (angle >= 0) add_body(world, &stone);
  stone.kind = FLO_BODY_STATIC, stone.pose = pose_at(0, 0, 20 * s); // far away
  add_body(world, &stone);
  add_block(world, add_drop_fluid(world, angle), low, high);
  jitter(world, seed);
  return world;
}

typedef struct Pull {
  FloWorld *world;
  FloSurfaceFacets facets;
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
  assert_ok(flo_surface_facets_add(&pull.facets, world, pull.force, &pull.bodies, &error), &error);
  return pull;
}

static void pull_free(Pull *pull) {
  free(pull->force);
  flo_surface_facets_free(&pull->facets, &pull->world->memory);
  flo_body_rows_free(&pull->bodies, &pull->world->memory);
  flo_world_destroy(pull->world);
}

// ---- The surface ----

static void place(const FloWorld *world, size_t i, double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

static double gap(const FloWorld *world, size_t i, size_t j) {
  double a[3], b[3];
  place(world, i, a), place(world, j, b);
  vec_sub(a, b, a);
  return vec_length(a);
}

// Centre of the circle through three points: equally far from them and in their plane. Its radius is
// returned.
static double circle(const double a[3], const double b[3], const double c[3], double centre[3],
                     double normal[3]) {
  double u[3], v[3], uu, vv, uv;
  vec_sub(b, a, u), vec_sub(c, a, v);
  uu = vec_dot(u, u), vv = vec_dot(v, v), uv = vec_dot(u, v);
  double d = 2 * (uu * vv - uv * uv), s = vv * (uu - uv) / d, t = uu * (vv - uv) / d;
  vec_cross(u, v, normal);
  vec_scale(normal, 1 / vec_length(normal), normal);
  vec_copy(a, centre);
  vec_add_scaled(centre, u, s, centre), vec_add_scaled(centre, v, t, centre);
  vec_sub(centre, a, u);
  return vec_length(u);
}

// Whether a ball of 1.25 spacings that touches i, j and k, on one side of them, holds no other particle that
// is nearer than two spacings to all three.
static bool is_free(const FloWorld *world, size_t i, size_t j, size_t k, double side, double out[3]) {
  double a[3], b[3], c[3], centre[3], normal[3], alpha = 1.25 * world->def.spacing,
                                                 reach = 2 * world->def.spacing;
  place(world, i, a), place(world, j, b), place(world, k, c);
  double radius = circle(a, b, c, centre, normal);
  if (radius >= alpha) return false;
  vec_scale(normal, side, out);
  vec_add_scaled(centre, out, sqrt(alpha * alpha - radius * radius), centre);
  for (size_t l = 0; l < world->sets[FLO_SET_FLUID].count; ++l) {
    double x[3];
    if (l == i || l == j || l == k || gap(world, i, l) >= reach) continue;
    if (gap(world, j, l) >= reach || gap(world, k, l) >= reach) continue;
    place(world, l, x);
    vec_sub(x, centre, x);
    if (vec_length(x) < alpha) return false;
  }
  return true;
}

static double wetness(double q) {
  q = fmin(fmax((q - 0.7) / 0.8, 0), 1);
  return 1 - q * q * (3 - 2 * q);
}

// Energy of one side of a facet: tension times area, less the work of adhesion where it faces the floor.
static double energy_of_side(const FloWorld *world, double angle, const size_t corners[3],
                             const double out[3]) {
  double x[3][3], area[3], height = 0;
  for (int k = 0; k < 3; ++k) {
    place(world, corners[k], x[k]);
    height += x[k][2] / 3;
    if (k > 0) vec_sub(x[k], x[0], x[k]);
  }
  vec_cross(x[1], x[2], area);
  double size = vec_length(area) / 2, work = angle < 0 ? 0 : TENSION * (1 + cos(angle * FLO_PI / 180));
  return TENSION * size - work * wetness(height / world->def.spacing) * size * fmax(-out[2], 0);
}

// Energy of all facets of some particle that are near it.
static double energy_at(const FloWorld *world, double angle, size_t i) {
  double sum = 0, reach = 2 * world->def.spacing;
  size_t n = world->sets[FLO_SET_FLUID].count;
  for (size_t j = 0; j < n; ++j)
    for (size_t k = j + 1; k < n; ++k) {
      double out[3];
      if (j == i || k == i || gap(world, i, j) >= reach || gap(world, i, k) >= reach ||
          gap(world, j, k) >= reach)
        continue;
      const size_t corners[3] = {i, j, k};
      for (double side = -1; side < 2; side += 2)
        if (is_free(world, corners[0], corners[1], corners[2], side, out))
          sum += energy_of_side(world, angle, corners, out);
    }
  return sum;
}

// Pulls along the edges are those of the turns that were found.
static void take_ridges_off(const Pull *pull, double *force) {
  const FloSurfaceFacets *facets = &pull->facets;
  double s = pull->world->def.spacing;
  for (size_t i = 0; i < pull->world->sets[FLO_SET_FLUID].count; ++i)
    for (size_t k = 0; k < facets->n_ridges[i]; ++k) {
      const FloRidge *ridge = &facets->ridges[FLO_MOST_FACETS * i + k];
      double a[3], b[3];
      place(pull->world, i, a), place(pull->world, ridge->second, b);
      vec_sub(b, a, b);
      const bool is_wet = facets->footings[i].is_near && facets->footings[ridge->second].is_near;
      double w = is_wet ? wetness((a[2] + b[2] / 2) / s) : 0, turn = (double)ridge->turn;
      vec_scale(b, s / 2 * TENSION * (turn + w * (sin(turn) - turn)) / vec_length(b), b);
      for (size_t axis = 0; axis < 3; ++axis)
        force[3 * i + axis] -= b[axis], force[3 * ridge->second + axis] += b[axis];
    }
}

// Less the pulls along edges, the pulls are minus the gradient of the energy.
static void check_gradient(double angle, uint64_t seed) {
  Pull pull = pull_of(make_block(angle, FLO_BODY_STATIC, seed));
  FloParticles *p = &pull.world->sets[FLO_SET_FLUID];
  double *force = calloc(3 * p->count, sizeof *force), s = pull.world->def.spacing, step = 1e-6 * s, size = 0;
  for (size_t k = 0; k < 3 * p->count; ++k) force[k] = (double)pull.force[k / 3 * 4 + k % 3];
  take_ridges_off(&pull, force);
  for (size_t i = 0; i < p->count; i += 3)
    for (size_t axis = 0; axis < 3; axis += 2) {
      double *x = (axis == 0 ? p->x : p->z) + i, start = *x;
      *x = start + step;
      double more = energy_at(pull.world, angle, i);
      *x = start - step;
      double less = energy_at(pull.world, angle, i);
      *x = start;
      assert_close(force[3 * i + axis], -(more - less) / (2 * step), 2e-3 * TENSION * s);
      size += fabs(force[3 * i + axis]);
    }
  assert_true(size > 5 * TENSION * s);
  free(force);
  pull_free(&pull);
}

static void test_pulls_derive_from_the_energy(void **state) {
  (void)state;
  check_gradient(-1, 1), check_gradient(60, 2), check_gradient(110, 7);
}

// ---- Edges ----

// By Gauss and Bonnet and by Steiner: the mean width of a convex body. The edges of a box of a by b by c turn
// by a right angle each, so the sum of length times turn is 2 pi (a + b + c).
static void test_edges_turn_as_those_of_a_box(void **state) {
  (void)state;
  FloWorld *world = make_block(-1, FLO_BODY_STATIC, 4);
  const double s = world->def.spacing;
  Pull pull = pull_of(world);
  double sum = 0;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    for (size_t k = 0; k < pull.facets.n_ridges[i]; ++k) {
      const FloRidge *ridge = &pull.facets.ridges[FLO_MOST_FACETS * i + k];
      sum += gap(world, i, ridge->second) * (double)ridge->turn;
    }
  assert_close(sum, 2 * FLO_PI * (4 + 3 + 3) * s, 0.12 * 2 * FLO_PI * 10 * s);
  pull_free(&pull);
}

// ---- Solids ----

static void add_up(const Pull *pull, double force[3], double torque[3], double *size) {
  vec_set(force, 0, 0, 0), vec_set(torque, 0, 0, 0);
  *size = 0;
  for (size_t i = 0; i < pull->world->sets[FLO_SET_FLUID].count; ++i) {
    const float *f = pull->force + 4 * i;
    double x[3], on[3] = {(double)f[0], (double)f[1], (double)f[2]}, turn[3];
    place(pull->world, i, x);
    vec_cross(x, on, turn);
    vec_add(force, on, force), vec_add(torque, turn, torque);
    *size += vec_length(on);
  }
}

static void test_momenta_of_fluid_and_stone_are_conserved(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Pull pull = pull_of(make_block(70, FLO_BODY_DYNAMIC, seed));
    const double *wrench = pull.bodies.wrenches, *at = flo_bodies(pull.world)[0].nodes->position;
    double force[3], torque[3], size, turn[3], s = pull.world->def.spacing;
    add_up(&pull, force, torque, &size);
    assert_true(vec_length(wrench) > 1e-3 * TENSION * s);
    vec_add(force, wrench, force);
    vec_cross(at, wrench, turn);
    vec_add(torque, turn, torque), vec_add(torque, wrench + 3, torque);
    assert_true(vec_length(force) < 1e-6 * size && vec_length(torque) < 1e-6 * size * 5 * s);
    pull_free(&pull);
  }
}

static void test_walls_are_pulled_by_the_opposite(void **state) {
  (void)state;
  Pull pull = pull_of(make_block(40, FLO_BODY_STATIC, 5));
  double force[3], torque[3], size;
  add_up(&pull, force, torque, &size);
  for (size_t j = 0; j < pull.world->sets[FLO_SET_BOUNDARY].count; ++j)
    for (size_t axis = 0; axis < 3; ++axis)
      force[axis] += (double)pull.facets.solids.wall_force[4 * j + axis];
  assert_true(pull.facets.solids.has_contacts && vec_length(force) < 1e-6 * size);
  pull_free(&pull);
}

// At 180 degrees a solid does not attract at all.
static void test_a_dry_floor_does_not_pull(void **state) {
  (void)state;
  Pull pull = pull_of(make_block(180, FLO_BODY_STATIC, 6));
  double force[3], torque[3], size;
  add_up(&pull, force, torque, &size);
  assert_true(vec_length(force) < 1e-6 * size);
  pull_free(&pull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pulls_derive_from_the_energy),
      cmocka_unit_test(test_edges_turn_as_those_of_a_box),
      cmocka_unit_test(test_momenta_of_fluid_and_stone_are_conserved),
      cmocka_unit_test(test_walls_are_pulled_by_the_opposite),
      cmocka_unit_test(test_a_dry_floor_does_not_pull),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
