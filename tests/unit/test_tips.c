// Which samples stand for edges and corners. A box has as many as its edges have samples; balls, capsules and
// boxes with round edges have none.
#include "physics/physics.h"

#include "state/state.h"

#define SPACING 0.01

static FloWorld *world_with(int dim, FloShape shape) {
  FloWorldDef def = flo_default_world_def();
  FloBodyDef body = flo_default_body_def();
  FloError error;
  FloBodyId id;
  vec_set(def.gravity, 0, 0, 0);
  def.dim = dim, def.spacing = SPACING, def.threads = 1;
  body.kind = FLO_BODY_DYNAMIC, body.density = 1000, body.shape = shape;
  FloWorld *world = make_world(&def);
  must(flo_world_add_body(world, &body, &id, &error), &error);
  return world;
}

// Number of samples with a tip. Each tip must be on the surface.
static int count_tips(int dim, FloShape shape) {
  FloWorld *world = world_with(dim, shape);
  const FloBody *body = &flo_bodies(world)[0];
  const FloParticles *samples = flo_samples_of(world, body);
  int n = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double tip[3], x[3] = {samples->x[i], samples->y[i], samples->z[i]};
    if (!flo_sample_tip(samples, i, tip)) continue;
    vec_add(x, tip, x);
    assert_true(fabs(flo_world_distance(world, body, x)) < 0.15 * SPACING);
    ++n;
  }
  flo_world_destroy(world);
  return n;
}

static FloShape box_of(int dim, double edge, double radius) {
  return (FloShape){.kind = FLO_SHAPE_BOX,
                    .size = {edge * SPACING, edge * SPACING, dim == 3 ? edge * SPACING : 0},
                    .radius = radius * SPACING};
}

static void boxes_have_tips_along_all_edges(void **state) {
  (void)state;
  for (int n = 4; n <= 12; n += 4) {
    assert_int_equal(count_tips(2, box_of(2, n, 0)), 4);
    assert_int_equal(count_tips(3, box_of(3, n, 0)), 8 + 12 * (n - 2));
  }
}

static void round_shapes_have_none(void **state) {
  static const double radii[] = {0.7, 1, 1.3, 1.6, 2, 2.5, 3, 4, 5, 6}, edges[] = {8, 9.3, 12, 12.5, 16};
  int n_bad = 0;
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(radii) * FLO_COUNT_OF(edges); ++k) {
    double radius = radii[k % FLO_COUNT_OF(radii)], edge = edges[k / FLO_COUNT_OF(radii)];
    int n = 2 * radius < edge ? count_tips(3, box_of(3, edge, radius)) : 0;
    if (n > 0) print_message("box of %g, rounded by %g spacings: %d tips\n", edge, radius, n), ++n_bad;
  }
  for (size_t k = 0; k < FLO_COUNT_OF(radii); ++k) {
    double r = radii[k] * SPACING + 2 * SPACING;
    const FloShape ball = {.kind = FLO_SHAPE_SPHERE, .radius = r},
                   capsule = {.kind = FLO_SHAPE_CAPSULE, .radius = r, .size = {3 * r, 0, 0}};
    int n = count_tips(3, ball) + count_tips(2, ball) + count_tips(3, capsule);
    if (n > 0) print_message("ball or capsule of radius %g: %d tips\n", r / SPACING, n), ++n_bad;
  }
  assert_int_equal(n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_have_tips_along_all_edges),
                                     cmocka_unit_test(round_shapes_have_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
