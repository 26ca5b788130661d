// Distances from soft bodies that have moved: signs and lengths against brute force, normals, fluid inside
// that is counted, and sheets that were stretched when they were made.
#include "bodies/soft_body.h"
#include "geometry/bvh.h"
#include "state/state.h"
#include "support/worlds.h"

enum { SIDE = 11 }; // points along an edge of the lattice that is asked

static FloWorld *make_world(int dim, double spacing) {
  FloWorldDef def = small_world_def(dim);
  def.method = "elastic", def.spacing = spacing;
  vec_set(def.gravity, 0, 0, 0);
  return create_world(&def);
}

static FloBody *add_elastic(FloWorld *world, FloShapeKind kind) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_ELASTIC, def.density = 1000;
  def.elastic = (FloElasticDef){.young = 1e5, .poisson = 0.3};
  def.shape = box_shape(0.2, 0.3, world->def.dim == 3 ? 0.25 : 0);
  if (kind == FLO_SHAPE_SPHERE) def.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.12};
  add_body(world, &def);
  return &flo_bodies(world)[0];
}

// An arch: x bends z (in the plane y), and everything is shifted.
static void bend(FloBody *body, int dim) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n; ++k) {
    double *x = own->x + 3 * k;
    x[dim - 1] += 8 * x[0] * x[0] + 0.3 * x[0] + 0.5;
    x[0] *= 1.2;
  }
  flo_soft_body_refresh(body);
}

// The solid angle of a triangle, or the angle of a segment, as a share of all.
static double angle_of(const FloMesh *mesh, size_t k, const double x[3]) {
  double a[3], b[3], c[3], normal[3];
  vec_sub(flo_mesh_corner(mesh, k, 0), x, a);
  vec_sub(flo_mesh_corner(mesh, k, 1), x, b);
  vec_sub(flo_mesh_corner(mesh, k, 2), x, c);
  if (flo_mesh_triangle(mesh, k)[1] == flo_mesh_triangle(mesh, k)[2])
    return atan2(a[0] * b[1] - a[1] * b[0], vec_dot(a, b)) / (2 * FLO_PI);
  const double la = vec_length(a), lb = vec_length(b), lc = vec_length(c);
  vec_cross(b, c, normal);
  return atan2(vec_dot(a, normal),
               la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb) /
         (2 * FLO_PI);
}

static bool is_surrounded(const FloBody *body, const double x[3]) {
  const FloMesh *faces = flo_soft_body_faces(body);
  double sum = 0;
  for (size_t k = 0; k < faces->n_triangles; ++k) sum += angle_of(faces, k, x);
  return fabs(sum) > 0.5;
}

static double nearest_by_force(const FloBody *body, const double x[3]) {
  const FloMesh *faces = flo_soft_body_faces(body);
  double square = INFINITY;
  for (uint32_t k = 0; k < faces->n_triangles; ++k)
    square = flo_triangle_square_distance(faces, k, x, square);
  return sqrt(square);
}

// The point that lies as far away along the normal as the distance says is on the surface.
static void check_normal(const FloWorld *world, const FloBody *body, const double x[3], double distance) {
  double normal[3], foot[3];
  body->kind->normal(body, &world->domain, x, normal);
  assert_float_equal(vec_length(normal), 1, 1e-9);
  vec_add_scaled(x, normal, -distance, foot);
  assert_true(nearest_by_force(body, foot) < 1e-9);
}

static void check_point(const FloWorld *world, const FloBody *body, const double x[3], size_t counts[2]) {
  const double distance = flo_world_distance(world, body, x), far = nearest_by_force(body, x);
  const bool is_in = is_surrounded(body, x);
  if (distance > world->def.spacing * 2) { // it may be a lower bound
    assert_true(distance <= far + 1e-12 && !is_in);
    return;
  }
  assert_float_equal(fabs(distance), far, 1e-12);
  check_normal(world, body, x, distance);
  assert_true((distance < 0) == is_in);
  counts[is_in]++;
}

static void check_bent(int dim, double spacing, FloShapeKind kind) {
  FloWorld *world = make_world(dim, spacing);
  FloBody *body = add_elastic(world, kind);
  size_t counts[2] = {0};
  const double low[3] = {-0.2031, dim == 2 ? 0.3017 : -0.2011, 0.3017}, size = 0.53;
  bend(body, dim);
  for (int i = 0; i < SIDE * SIDE * (dim == 3 ? SIDE : 1); ++i) {
    const int steps[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    double x[3] = {0};
    for (int axis = 0; axis < dim; ++axis) x[axis] = low[axis] + size * steps[axis] / (SIDE - 1);
    check_point(world, body, x, counts);
  }
  print_message("%dD, spacing %g, shape %d: %zu points inside, %zu outside\n", dim, spacing, (int)kind,
                counts[1], counts[0]);
  assert_true(counts[0] > 5 && counts[1] > 5);
  flo_world_destroy(world);
}

static void test_signed_distances(void **state) {
  (void)state;
  static const double spacings[] = {0.04, 0.02};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(spacings); ++k) {
      check_bent(dim, spacings[k], FLO_SHAPE_BOX);
      check_bent(dim, spacings[k], FLO_SHAPE_SPHERE);
    }
}

// Points level with vertices: a ray through these must not count an edge twice or never.
static void test_rays_through_vertices(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_world(dim, 0.02);
    FloBody *body = add_elastic(world, FLO_SHAPE_BOX);
    flo_soft_body(body)->has_moved = true;
    for (size_t k = 0; k < body->n_nodes; ++k) {
      const double *node = body->nodes[k].position;
      if (flo_solid_distance(body->solid, node) > -1e-6) continue;
      assert_true(flo_world_distance(world, body, node) < -1e-6);
      const double x[3] = {-0.11, node[1], node[2]};
      assert_true(flo_world_distance(world, body, x) > 0);
    }
    flo_world_destroy(world);
  }
}

// ---- Fluid ----

static void test_fluid_inside_is_counted(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_world(dim, 0.02);
    const FloBody *body = add_elastic(world, FLO_SHAPE_BOX);
    const double low[3] = {1, 1, dim == 3 ? 1 : 0}, high[3] = {1.06, 1.06, dim == 3 ? 1.06 : 0};
    const size_t n = add_block(world, add_water(world), low, high);
    FloParticles *p = &world->sets[FLO_SET_FLUID];
    step_world(world, 1);
    assert_true(flo_soft_body(body)->has_moved);
    assert_int_equal(flo_world_measure(world).penetrations, 0);
    p->x[0] = p->y[0] = p->z[0] = 0;
    assert_int_equal(flo_world_measure(world).penetrations, 1);
    p->x[0] = 0.1 - 0.015; // three quarters of a spacing deep
    assert_int_equal(flo_world_measure(world).penetrations, 1);
    p->x[0] = 0.1 - 0.005; // near the surface
    assert_int_equal(flo_world_measure(world).penetrations, 0);
    for (size_t i = 0; i < n; ++i) p->x[i] -= 1.03, p->y[i] -= 1.03, p->z[i] -= dim == 3 ? 1.03 : 0;
    p->x[0] = p->y[0] = p->z[0] = 0;
    assert_int_equal(flo_world_measure(world).penetrations, n);
    flo_world_destroy(world);
  }
}

// ---- A sheet that is stretched from the start ----

static void check_stretched(int dim, double stretch) {
  FloWorld *world = make_world(dim, 0.02);
  FloBodyDef def = flo_default_body_def();
  const double s = world->def.spacing, half = 0.4, reach = 0.15 * stretch - s / 2;
  def.kind = FLO_BODY_CLOTH, def.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.3, 0.3, 0}};
  def.cloth = (FloClothDef){.areal_density = 1, .stretch = 1000, .prestretch = {stretch, stretch}};
  add_body(world, &def);
  const double low[3] = {-half, dim == 2 ? -3 * s : -half, dim == 2 ? 0 : -3 * s},
               high[3] = {half, dim == 2 ? 3 * s : half, dim == 2 ? 0 : 3 * s};
  const FloMaterialId water = add_water(world);
  assert_true(add_block(world, water, low, high) > 0);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]}, height = fabs(x[dim - 1]);
    if (fabs(x[0]) < reach && (dim == 2 || fabs(x[1]) < reach)) assert_true(height > 0.9 * s);
  }
  const double beyond[3] = {0.15 * stretch + 3 * s, 0, 0};
  assert_float_equal(flo_world_distance(world, &flo_bodies(world)[0], beyond), 2.5 * s, 1e-9);
  flo_world_destroy(world);
}

static void test_stretched_sheets(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_stretched(dim, 1);
    check_stretched(dim, 1.5);
    check_stretched(dim, 0.7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signed_distances),
      cmocka_unit_test(test_rays_through_vertices),
      cmocka_unit_test(test_fluid_inside_is_counted),
      cmocka_unit_test(test_stretched_sheets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
