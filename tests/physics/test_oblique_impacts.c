// Oblique impacts with friction. A ball that hits a plane and slides all the time gets the impulse m v_n
// along the normal and mu times that against its sliding. With its inertia 2/5 m r^2 its spin changes by 5 mu
// v_n / (2 r). Two free bodies that collide keep their momenta.
#include "dry.h"

#include <string.h>

#define RADIUS   0.08
#define FRICTION 0.3

// ---- A ball hits a plane ----

#define NORMAL_SPEED  1.0
#define SLIDING_SPEED 2.0 // more than 7/2 mu v_n, so that the ball still slides after the impact

static const int fineness[] = {4, 6, 8, 16}; // spacings per radius
enum { N_FINENESS = sizeof fineness / sizeof *fineness };

typedef struct Ball {
  FloWorld *world;
  FloBodyId id;
  double along[3]; // direction of its sliding
} Ball;

// There is no gravity, so after the impact nothing presses the ball on the floor. Direction, height, place
// and rotation of the ball are random.
static Ball throw_ball(const Setting *s, uint64_t seed) {
  Random random = {seed};
  Ball ball = {.world = dry_world(s, 0, 0, 0)};
  double angle = random_between(&random, 0, 2 * TEST_PI), h = s->spacing;
  FloPose pose = pose_at(random_between(&random, -h, h), random_between(&random, -h, h),
                         RADIUS + random_between(&random, 0.01, 0.01 + 2 * h));
  vec_set(ball.along, cos(angle), sin(angle), 0);
  random_rotation(&random, 3, pose.rotation);
  add_floor(ball.world, s, 0.8, 0.8, FRICTION);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(RADIUS), pose, FRICTION);
  vec_scale(ball.along, SLIDING_SPEED, def.velocity);
  def.velocity[2] = -NORMAL_SPEED;
  ball.id = add_body(ball.world, def);
  return ball;
}

// Degrees between a spin and the axis it should have: z cross the direction of sliding.
static double axis_error(const Ball *ball, const double spin[3]) {
  double axis[3], across[3];
  vec_cross((const double[3]){0, 0, 1}, ball->along, axis);
  vec_cross(axis, spin, across);
  return atan2(vec_length(across), vec_dot(axis, spin)) * 180 / TEST_PI;
}

static void check_ball(const Setting *s, int fine, uint64_t seed) {
  Ball ball = throw_ball(s, seed);
  const double expected = 5 * FRICTION * NORMAL_SPEED / (2 * RADIUS);
  advance_case(ball.world, 0.12);
  const FloBodyState end = state_of(ball.world, ball.id);
  double spin = vec_length(end.angular_velocity), off = axis_error(&ball, end.angular_velocity);
  flo_world_destroy(ball.world);
  judge(fabs(spin / expected - 1) < 0.05 && off < 2 && fabs(end.velocity[2]) < 0.05 * NORMAL_SPEED,
        "%s, r/spacing %2d, seed %d: spin %.4f rad/s (theory %.4f: %+.1f %%), axis off by %.2f deg, leaves "
        "with "
        "%+.4f v_n",
        setting_text(s), fine, (int)seed, spin, expected, 100 * (spin / expected - 1), off,
        end.velocity[2] / NORMAL_SPEED);
}

static void sliding_impacts_turn_balls(void **state) {
  (void)state;
  for (int method = 0; method < N_CONTACT_METHODS; ++method)
    for (int k = 0; k < N_FINENESS; ++k)
      for (uint64_t seed = 1; seed <= (is_full() ? 8 : k < 3 ? 3 : 0); ++seed) {
        const Setting setting = {contact_methods[method], 3, RADIUS / fineness[k], seed % 2 ? 0 : 1e-3};
        check_ball(&setting, fineness[k], seed);
      }
  end_cases();
}

// ---- Two free bodies collide ----

typedef enum Pair { BALLS, BALL_AND_BOX, BOXES, N_PAIRS } Pair;
static const char *const pair_names[] = {"two balls", "ball and box", "two boxes"};

// A heavy body at rest and a light one that comes along x, off its centre, with a spin. Returns the light
// one.
static FloBodyId add_pair(FloWorld *world, Pair pair, uint64_t seed) {
  Random random = {seed};
  FloShape ball = ball_shape(RADIUS), box = box_shape(2 * RADIUS, 1.5 * RADIUS, 1.8 * RADIUS);
  FloBodyDef still = solid_def(FLO_BODY_DYNAMIC, pair == BALLS ? ball : box, pose_at(0, 0, 0), FRICTION);
  FloBodyDef moving = solid_def(FLO_BODY_DYNAMIC, pair == BOXES ? box : ball,
                                pose_at(-3.2 * RADIUS, 0.5 * RADIUS, 0.3 * RADIUS), FRICTION);
  still.density = 2500;
  random_rotation(&random, 3, still.pose.rotation);
  random_rotation(&random, 3, moving.pose.rotation);
  vec_set(moving.velocity, 1.5, 0.1, 0.2);
  vec_set(moving.angular_velocity, 4, -3, 6);
  add_body(world, still);
  return add_body(world, moving);
}

static void check_pair(const Setting *s, Pair pair, uint64_t seed) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloBodyId moving = add_pair(world, pair, seed);
  const FloMeasurements before = flo_world_measure(world);
  const FloBodyState start = state_of(world, moving);
  advance_case(world, 0.4);
  const FloMeasurements after = flo_world_measure(world);
  double exchanged = distance(state_of(world, moving).velocity, start.velocity) / vec_length(start.velocity);
  double linear = distance(after.momentum, before.momentum) / vec_length(before.momentum);
  double angular =
      distance(after.angular_momentum, before.angular_momentum) / vec_length(before.angular_momentum);
  flo_world_destroy(world);
  // `monolithic` keeps the arms of forces as floats.
  double rounding = strcmp(s->method, "monolithic") == 0 ? 1e-7 : 1e-9;
  judge(exchanged > 0.2 && linear <= 1e-9 && angular <= rounding &&
            after.kinetic_energy <= before.kinetic_energy * (1 + 1e-6),
        "%s, %s, seed %d: velocity changes by %.2f of itself; momentum by %.1e, angular momentum by %.1e; "
        "energy "
        "%.3f -> %.3f J",
        setting_text(s), pair_names[pair], (int)seed, exchanged, linear, angular, before.kinetic_energy,
        after.kinetic_energy);
}

static void collisions_keep_momenta(void **state) {
  (void)state;
  for (int method = 0; method < N_CONTACT_METHODS; ++method)
    for (int pair = 0; pair < N_PAIRS; ++pair)
      for (uint64_t seed = 1; seed <= (is_full() ? 8 : 2); ++seed) {
        const Setting setting = {contact_methods[method], 3, RADIUS / (seed % 2 ? 4 : 8), 0};
        check_pair(&setting, (Pair)pair, seed);
      }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(sliding_impacts_turn_balls),
      CASES(collisions_keep_momenta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
