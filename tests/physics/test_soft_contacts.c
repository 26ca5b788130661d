// Soft bodies touch bodies that keep their shape: they rest on floors, boxes and balls, stick and slide by
// dry friction, carry and are carried, conserve momentum, and threads and saving change nothing.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

// Gravity leans against the last axis by the angle whose tangent is `slope`, along x.
static FloWorld *make_world(int dim, double s, double slope, int threads) {
  FloWorldDef def = small_world_def(dim);
  const double angle = atan(slope);
  def.method = "monolithic", def.spacing = s, def.threads = threads;
  vec_set(def.gravity, 9.81 * sin(angle), 0, 0);
  def.gravity[dim - 1] = -9.81 * cos(angle);
  return create_world(&def);
}

static FloPose pose_above(int dim, double x, double height) {
  return pose_at(x, dim == 2 ? height : 0, dim == 3 ? height : 0);
}

static FloShape block(int dim, double wide, double high) {
  return dim == 2 ? box_shape(wide, high, 0) : box_shape(wide, wide, high);
}

// A floor whose surface is at height 0.
static FloBody *add_floor(FloWorld *world, int dim, double wide, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.name = "floor", def.friction = friction;
  def.shape = block(dim, wide, 0.1), def.pose = pose_above(dim, 0, -0.05);
  return &flo_bodies(world)[add_body(world, &def).index];
}

static FloBodyDef cloth_def(double wide, double thickness, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = "cloth", def.friction = friction;
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  return def;
}

static FloBody *body_of(FloWorld *world, const char *name) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (strcmp(flo_bodies(world)[k].name, name) == 0) return &flo_bodies(world)[k];
  fail_msg("no body '%s'", name);
  return NULL;
}

// How deep the true surface of a soft body is in another body at most [m].
static double deepest_in(const FloWorld *world, const FloBody *soft, const FloBody *other) {
  const FloSoftBody *own = flo_soft_body(soft);
  double deepest = 0;
  for (size_t k = 0; k < own->n; ++k)
    deepest = fmax(deepest, own->half_thickness - flo_world_distance(world, other, own->x + 3 * k));
  return deepest;
}

static double fastest_node(const FloBody *soft) {
  double fastest = 0;
  for (size_t k = 0; k < soft->n_nodes; ++k) fastest = fmax(fastest, vec_length(soft->nodes[k].velocity));
  return fastest;
}

// ---- At rest ----

static void comes_to_rest(int dim, double s, FloShapeKind kind, double thickness) {
  FloWorld *world = make_world(dim, s, 0, 2);
  FloBody *floor = add_floor(world, dim, 60 * s, 0.5), *on = floor;
  FloBodyDef under = flo_default_body_def(), cloth = cloth_def(20 * s, thickness, 0.5);
  under.shape = kind == FLO_SHAPE_BOX ? block(dim, 10 * s, 4 * s)
                                      : (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 5 * s};
  under.pose = pose_above(dim, 0, kind == FLO_SHAPE_BOX ? 2 * s : 0), under.name = "under", under.friction = 0.5;
  if (kind != FLO_SHAPE_PLANE) add_body(world, &under);
  cloth.pose = pose_above(dim, 0, 8 * s);
  add_body(world, &cloth);
  FloBody *soft = body_of(world, "cloth");
  on = kind == FLO_SHAPE_PLANE ? body_of(world, "floor") : body_of(world, "under");
  floor = body_of(world, "floor");
  double deepest = 0, fastest = 0;
  size_t iterations = 0, steps = 0;
  for (int k = 1; k <= 30; ++k) {
    advance(world, 0.1 * k);
    deepest = fmax(deepest, fmax(deepest_in(world, soft, on), deepest_in(world, soft, floor)));
    iterations += (size_t)world->iterations, ++steps;
  }
  for (int k = 1; k <= 10; ++k) {
    advance(world, 3 + 0.01 * k);
    fastest = fmax(fastest, fastest_node(soft));
  }
  print_message("%dD, spacing %g, %d: deepest %.4f spacings, speed %.2g m/s, contacts %zu, it %zu\n", dim, s,
                (int)kind, deepest / s, fastest, (size_t)world->contacts, iterations / steps);
  flo_world_destroy(world);
}

static void test_rest(void **state) {
  (void)state;
  comes_to_rest(2, 0.02, FLO_SHAPE_PLANE, 0.002);
  comes_to_rest(2, 0.02, FLO_SHAPE_BOX, 0.002);
  comes_to_rest(2, 0.02, FLO_SHAPE_SPHERE, 0.002);
  comes_to_rest(3, 0.02, FLO_SHAPE_PLANE, 0.002);
  comes_to_rest(3, 0.02, FLO_SHAPE_BOX, 0.002);
  comes_to_rest(3, 0.02, FLO_SHAPE_SPHERE, 0.002);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
