// Balls and cylinders that roll on floors and slopes. A ball of radius r has the inertia 2/5 m r^2, a
// cylinder 1/2 m r^2. A ball that slides with v0 ends rolling with 5/7 v0. On a slope a ball rolls with 5/7 g
// sin, a cylinder with 2/3 g sin. A ball that rolls freely keeps its speed, and a ball at rest stays.
#include "dry.h"

#define RADIUS   0.08
#define FRICTION 0.5

static const int fineness[] = {4, 6, 8, 16}; // spacings per radius
enum { N_FINENESS = sizeof fineness / sizeof *fineness, N_PHASES = 3 };

// A ball that is turned, and placed relative to the floor's samples, at random.
typedef struct Case {
  Setting setting;
  int fine;
  uint64_t seed;
} Case;

static const char *case_text(const Case *c) {
  static char text[128];
  snprintf(text, sizeof text, "%s, r/spacing %2d, seed %d", setting_text(&c->setting), c->fine, (int)c->seed);
  return text;
}

// ---- Making ----

// A ball on a floor of the given length that begins a little before the ball. The floor is turned a little,
// so that the ball does not roll along its rows of samples.
static FloWorld *ball_on_floor(const Case *c, double length, FloBodyDef *ball) {
  Random random = {c->seed};
  double h = c->setting.spacing, thick = 4 * h;
  FloWorld *world = heavy_world(&c->setting);
  FloBodyDef floor = solid_def(FLO_BODY_STATIC, box_shape(length + 0.2, 0.4, thick),
                               pose_at(length / 2, random_between(&random, -h, h), -thick / 2), FRICTION);
  floor.pose.position[0] += random_between(&random, -h, h);
  quat_from_axis_angle((const double[3]){0, 0, 1}, 0.1, floor.pose.rotation);
  add_body(world, floor);
  *ball = solid_def(FLO_BODY_DYNAMIC, ball_shape(RADIUS), pose_at(0, 0, RADIUS), FRICTION);
  random_rotation(&random, 3, ball->pose.rotation);
  return world;
}

static void for_all_balls(void (*check)(const Case *)) {
  for (int method = 0; method < N_CONTACT_METHODS; ++method)
    for (int k = 0; k < N_FINENESS; ++k)
      for (int phase = 0; phase < N_PHASES; ++phase) {
        const Case c = {{contact_methods[method], 3, RADIUS / fineness[k], phase == 1 ? 1e-3 : 0},
                        fineness[k],
                        (uint64_t)(1 + phase)};
        if (is_full() || k < (phase ? 1 : 2)) check(&c);
      }
  end_cases();
}

// ---- Balls on a floor ----

static void check_sliding_ball(const Case *c) {
  FloBodyDef def;
  FloWorld *world = ball_on_floor(c, 0.4, &def);
  def.friction = 0.2, def.velocity[0] = 1;
  FloBodyId ball = add_body(world, def);
  advance_case(world, 0.3);
  const FloBodyState end = state_of(world, ball);
  double slip = end.velocity[0] - RADIUS * end.angular_velocity[1];
  flo_world_destroy(world);
  judge(fabs(end.velocity[0] * 7 / 5 - 1) < 0.02 && fabs(slip) < 0.02,
        "%s: ends with %.4f v0 (theory %.4f: %+.2f %%), slips with %.4f v0", case_text(c), end.velocity[0],
        5.0 / 7, 100 * (end.velocity[0] * 7 / 5 - 1), slip);
}

static void check_free_roll(const Case *c) {
  FloBodyDef def;
  FloWorld *world = ball_on_floor(c, 20 * RADIUS, &def);
  def.velocity[0] = 1, def.angular_velocity[1] = 1 / RADIUS;
  FloBodyId ball = add_body(world, def);
  advance_case(world, 20 * RADIUS);
  const FloBodyState end = state_of(world, ball);
  double drift = fabs(end.pose.position[1] / end.pose.position[0]);
  flo_world_destroy(world);
  judge(fabs(end.velocity[0] - 1) < 0.02 && drift < 0.005,
        "%s: after 20 radii rolls with %.4f of its speed, drifts sideways by %.4f of its way, %.3f spacings "
        "high",
        case_text(c), end.velocity[0], drift, (end.pose.position[2] - RADIUS) / c->setting.spacing);
}

static void check_resting_ball(const Case *c) {
  FloBodyDef def;
  FloWorld *world = ball_on_floor(c, 0.2, &def);
  FloBodyId ball = add_body(world, def);
  advance_case(world, 5);
  const FloBodyState end = state_of(world, ball);
  double way = hypot(end.pose.position[0], end.pose.position[1]) / c->setting.spacing;
  double spin = vec_length(end.angular_velocity);
  flo_world_destroy(world);
  judge(way < 0.02 && spin < 1e-3, "%s: wanders %.4f spacings in 5 s, spins with %.2g rad/s", case_text(c),
        way, spin);
}

static void sliding_balls_end_rolling(void **state) {
  (void)state;
  for_all_balls(check_sliding_ball);
}

static void rolling_balls_keep_their_speed(void **state) {
  (void)state;
  for_all_balls(check_free_roll);
}

static void balls_at_rest_stay(void **state) {
  (void)state;
  for_all_balls(check_resting_ball);
}

// ---- Down a slope ----

typedef enum Roller { BALL, CYLINDER, DISC, N_ROLLERS } Roller;
static const char *const roller_names[] = {"ball", "cylinder", "disc"};
static const double shares[] = {5.0 / 7, 2.0 / 3, 2.0 / 3}; // of g sin

#define SLOPE (10 * TEST_PI / 180)

// A level floor under tilted gravity. The body begins at an odd angle and place.
static FloWorld *roller_on_slope(const Setting *s, Roller roller, FloBodyId *body) {
  double along = GRAVITY * sin(SLOPE), down = -GRAVITY * cos(SLOPE), q[4], lying[4];
  bool is_flat = s->dim == 2;
  FloWorld *world = dry_world(s, along, is_flat ? down : 0, is_flat ? 0 : down);
  FloShape shape = roller == CYLINDER ? cylinder_shape(RADIUS, 2 * RADIUS) : ball_shape(RADIUS);
  FloPose pose = is_flat ? pose_at(-0.5 + 0.3 * s->spacing, RADIUS, 0)
                         : pose_at(-0.5 + 0.3 * s->spacing, 0.2 * s->spacing, RADIUS);
  add_floor(world, s, 1.4, 0.4, FRICTION);
  quat_from_axis_angle((const double[3]){0, !is_flat, is_flat}, 0.7, q);
  quat_from_axis_angle((const double[3]){1, 0, 0}, roller == CYLINDER ? TEST_PI / 2 : 0, lying);
  quat_multiply(q, lying, pose.rotation);
  *body = add_solid(world, FLO_BODY_DYNAMIC, shape, pose, FRICTION);
  return world;
}

static void check_roller(const Setting *s, Roller roller, int fine) {
  FloBodyId body;
  FloWorld *world = roller_on_slope(s, roller, &body);
  double expected = shares[roller] * GRAVITY * sin(SLOPE);
  advance_case(world, 0.2);
  double early = state_of(world, body).velocity[0];
  advance_case(world, 0.8);
  double acceleration = (state_of(world, body).velocity[0] - early) / 0.6;
  double side = s->dim == 3 ? state_of(world, body).pose.position[1] - 0.2 * s->spacing : 0;
  double way = state_of(world, body).pose.position[0] + 0.5;
  flo_world_destroy(world);
  judge(fabs(acceleration / expected - 1) < 0.02 && fabs(side) < 0.005 * way,
        "%s, %s, r/spacing %2d: rolls with %.4f m/s2 (theory %.4f: %+.2f %%), %.4f of its way sideways",
        setting_text(s), roller_names[roller], fine, acceleration, expected,
        100 * (acceleration / expected - 1), fabs(side) / way);
}

static void bodies_roll_down_slopes(void **state) {
  (void)state;
  for (int method = 0; method < N_CONTACT_METHODS; ++method)
    for (int roller = 0; roller < N_ROLLERS; ++roller)
      for (int k = 0; k < N_FINENESS; ++k) {
        const Setting setting = {contact_methods[method], roller == DISC ? 2 : 3, RADIUS / fineness[k], 0};
        if (is_full() || roller == DISC || k < 2) check_roller(&setting, (Roller)roller, fineness[k]);
      }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(sliding_balls_end_rolling),
      CASES(rolling_balls_keep_their_speed),
      CASES(balls_at_rest_stay),
      CASES(bodies_roll_down_slopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
