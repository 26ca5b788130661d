// A cloth hangs pinched between two rigid jaws, held by dry friction alone: it does not creep out.
#include "support/soft_worlds.h"

#include <stdlib.h>

// A static jaw at x < 0, and one at x > 0 that a force like its weight would presses: gravity pulls down and
// towards the first jaw.
static FloWorld *make_pinch(int dim, double s, double mu, double press) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic", def.spacing = s;
  vec_set(def.gravity, -9.81, 0, 0);
  def.gravity[dim - 1] = -9.81;
  FloWorld *world = create_world(&def);
  FloBodyDef jaw = flo_default_body_def(), cloth = flo_default_body_def();
  const double high = 6 * s, thick = 4 * s, wide = 12 * s, half = 0.001;
  jaw.name = "jaw", jaw.friction = mu;
  jaw.shape = dim == 2 ? box_shape(thick, high, 0) : box_shape(thick, wide, high);
  jaw.pose = pose_at(-half - thick / 2, 0, 0);
  add_body(world, &jaw);
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth", cloth.friction = mu;
  cloth.shape.kind = FLO_SHAPE_SHEET, cloth.shape.size[0] = 16 * s, cloth.shape.size[1] = 8 * s;
  cloth.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = 2 * half, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  // Its first axis points down; its upper end is between the jaws.
  const double axis[3] = {0, dim == 3, dim == 2};
  quat_from_axis_angle(axis, dim == 2 ? -FLO_PI / 2 : FLO_PI / 2, cloth.pose.rotation);
  cloth.pose.position[dim - 1] = -6 * s;
  add_body(world, &cloth);
  jaw.kind = FLO_BODY_DYNAMIC, jaw.name = "press", jaw.pose = pose_at(half + thick / 2, 0, 0);
  jaw.density = press * flo_soft_body(body_of(world, "cloth"))->mass / (thick * high * (dim == 3 ? wide : 1));
  for (int k = 0; k < 3; ++k) jaw.locks[k] = k != 0, jaw.turn_locks[k] = true;
  add_body(world, &jaw);
  return world;
}

// The highest vertex of the cloth.
static double top_of(const FloBody *cloth, int up) {
  const FloSoftBody *own = flo_soft_body(cloth);
  double top = -INFINITY;
  for (size_t k = 0; k < own->n; ++k) top = fmax(top, own->x[3 * k + (size_t)up]);
  return top;
}

static void holds(int dim, double s, double mu, double press, double time) {
  FloWorld *world = make_pinch(dim, s, mu, press);
  const FloBody *cloth = body_of(world, "cloth");
  advance(world, 1);
  const double start = top_of(cloth, dim - 1);
  advance(world, time);
  const double creep = fabs(top_of(cloth, dim - 1) - start) / (time - 1);
  print_message("%dD, spacing %g, mu %g, jaw %g times as heavy: creeps at %.2g m/s for %g s\n", dim, s, mu,
                press, creep, time);
  assert_true(creep < 1e-4);
  flo_world_destroy(world);
}

// With too light a press it falls out.
static void slips(int dim, double s, double mu, double press) {
  FloWorld *world = make_pinch(dim, s, mu, press);
  const FloBody *cloth = body_of(world, "cloth");
  const double start = top_of(cloth, dim - 1);
  advance(world, 0.3);
  const double fall = start - top_of(cloth, dim - 1);
  print_message("%dD, spacing %g, mu %g, jaw %g times as heavy: falls by %.3g m\n", dim, s, mu, press, fall);
  assert_true(fall > 0.02);
  flo_world_destroy(world);
}

static void test_pinched_cloth_holds(void **state) {
  (void)state;
  const double time = getenv("FLOTSAM_FULL") ? 60 : 10;
  for (int dim = 2; dim <= 3; ++dim) holds(dim, 0.02, 0.5, 3, time);
  holds(2, 0.01, 0.3, 10, time);
}

static void test_loose_cloth_slips(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) slips(dim, 0.02, 0.5, 0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pinched_cloth_holds),
      cmocka_unit_test(test_loose_cloth_slips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
