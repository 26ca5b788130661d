// A ball half as heavy as water floats half submerged. Pushed down and released it heaves. Its period is
// known from potential theory: added mass and damping of a half-submerged sphere in deep water (Hulme 1982).
// With FLOTSAM_FULL=1 in the environment larger balls and `direct-forcing` are tried too, which takes
// minutes.
#include "physics.h"

#define GRAVITY 9.81
#define RADIUS  0.1

// In units of sqrt(R/g). With the added mass 0.42 and the damping 0.24, both over that of the displaced
// water, at k R = 1.05, the frequency at which the ball heaves.
static double theory(void) {
  double mass = 2.0 / 3 * 1.42, ratio = 0.24 / (2 * 1.42);
  return 2 * TEST_PI * sqrt(mass) / sqrt(1 - ratio * ratio);
}

typedef struct Pool {
  FloWorld *world;
  FloBodyId ball;
  double level;
} Pool;

// Waves come back from the neighbours of a periodic basin after about three periods.
static Pool make_pool(const char *method, int radius) {
  FloError error;
  double s = RADIUS / radius, width = 10 * RADIUS, depth = 4 * RADIUS;
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.spacing = s, def.threads = 1, def.settle = 0.3, def.gravity[2] = -GRAVITY;
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = width;
  Pool pool = {.world = make_world(&def), .level = depth};
  FloBodyDef floor = flo_default_body_def(), ball = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {width, width, 4 * s}};
  floor.pose = pose_at(width / 2, width / 2, -2 * s);
  must(flo_world_add_body(pool.world, &floor, NULL, &error), &error);
  ball.kind = FLO_BODY_DYNAMIC, ball.density = 500;
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = RADIUS};
  ball.pose = pose_at(width / 2, width / 2, depth - 0.3 * RADIUS);
  must(flo_world_add_body(pool.world, &ball, &pool.ball, &error), &error);
  add_block(pool.world, add_water(pool.world, 1000, 1e-6), 0, width, width, depth);
  return pool;
}

// The time of an extreme of the parabola through three points, in steps after the middle one.
static double vertex(double before, double here, double after) {
  double curve = before - 2 * here + after;
  return curve != 0 ? (before - after) / (2 * curve) : 0;
}

typedef struct Heave {
  double period; // in units of sqrt(R/g), from the first highest place to the next
  double rises;  // heights of these two places above the lowest place between them, over the radius
  double falls;
} Heave;

static Heave measure_heave(const char *method, int radius) {
  enum { N = 400, WIDTH = 6 };
  Pool pool = make_pool(method, radius);
  double unit = sqrt(RADIUS / GRAVITY), step = 0.04 * unit, z[N], times[3] = {0}, heights[3] = {0};
  int found = 0;
  for (int k = 0; k < N && found < 3; ++k) {
    advance(pool.world, (k + 1) * step);
    z[k] = state_of(pool.world, pool.ball).pose.position[2];
    int m = k - WIDTH, sign = found % 2 ? -1 : 1;
    if (m < WIDTH || times[found] > 0) continue;
    bool is_extreme = true;
    for (int j = m - WIDTH; j <= k; ++j) is_extreme = is_extreme && sign * z[j] <= sign * z[m];
    if (!is_extreme) continue;
    heights[found] = z[m];
    times[found++] = (m + WIDTH * vertex(z[m - WIDTH], z[m], z[m + WIDTH])) * 0.04;
  }
  flo_world_destroy(pool.world);
  return (Heave){.period = times[2] - times[0],
                 .rises = (heights[2] - heights[1]) / RADIUS,
                 .falls = (heights[0] - heights[1]) / RADIUS};
}

static void check_heave(const char *method, int radius, double limit, double least) {
  Heave heave = measure_heave(method, radius);
  double error = heave.period / theory() - 1, share = heave.rises / heave.falls;
  print_message("%s, ball of radius %d spacings: period %+.1f %%, half a swing leaves %.2f of a swing\n",
                method, radius, 100 * error, share);
  assert_true(fabs(error) < limit);
  assert_true(share > least);
}

static void balls_heave_as_hulme_says(void **unused) {
  (void)unused;
  check_heave("monolithic", 4, 0.05, 0.5);
  if (!getenv("FLOTSAM_FULL")) return;
  check_heave("monolithic", 6, 0.05, 0.5);
  check_heave("monolithic", 8, 0.05, 0.5);
  check_heave("direct-forcing", 4, 0.4, 0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(balls_heave_as_hulme_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
