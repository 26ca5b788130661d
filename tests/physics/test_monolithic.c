// What `monolithic` must get right in numbers: dry friction, stacks and collisions. Every case prints what it
// measured. Friction is looked at twice: with steps as long as the world chooses, and with a millisecond.
#include "physics.h"

#include "base/vecmath.h"

#define SPACING 0.02
#define GRAVITY 9.81

// ---- Making ----

static FloWorldDef world_def(int dim, double time_step) {
  FloWorldDef def = flo_default_world_def();
  def.method = "monolithic", def.dim = dim, def.spacing = SPACING, def.time_step = time_step;
  vec_set(def.gravity, 0, dim == 2 ? -GRAVITY : 0, dim == 3 ? -GRAVITY : 0);
  return def;
}

static FloMaterialId add_solid(FloWorld *world, double density, double friction) {
  FloError error;
  FloMaterialId id;
  FloMaterialDef def = flo_default_material_def();
  def.density = density, def.friction = friction;
  must(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static FloBodyId add_body(FloWorld *world, const FloBodyDef *def) {
  FloError error;
  FloBodyId id;
  must(flo_world_add_body(world, def, &id, &error), &error);
  return id;
}

static FloBodyDef box_def(FloBodyKind kind, double x, double y, double z, FloPose pose) {
  FloBodyDef def = flo_default_body_def();
  def.kind = kind, def.pose = pose;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
  return def;
}

static FloBodyId add_cube(FloWorld *world, double edge, FloPose pose, double density, double friction) {
  FloBodyDef def = box_def(FLO_BODY_DYNAMIC, edge, edge, edge, pose);
  def.material = add_solid(world, density, friction);
  return add_body(world, &def);
}

static double distance(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(a, b, d);
  return vec_length(d);
}

// ---- Dry friction ----

typedef struct Slope {
  FloWorld *world;
  FloBodyId block;
  double down[3]; // along the slope
  double start[3];
} Slope;

// Distances of the samples of a body, and of what it lies on, in spacings.
typedef struct Sampling {
  double own, other;
} Sampling;

// A cube of ten spacings on a board that is tilted about y.
static Slope make_sampled_slope(const double *time_step, double degrees, double friction, double speed,
                                Sampling sampling) {
  FloWorldDef def = world_def(3, *time_step);
  Slope slope = {.world = make_world(&def)};
  double angle = degrees * TEST_PI / 180, edge = 10 * SPACING, normal[3] = {sin(angle), 0, cos(angle)};
  FloPose board = flo_pose_identity(), block = flo_pose_identity();
  vec_set(slope.down, cos(angle), 0, -sin(angle));
  quat_from_axis_angle((const double[3]){0, 1, 0}, angle, board.rotation);
  quat_from_axis_angle((const double[3]){0, 1, 0}, angle, block.rotation);
  vec_scale(normal, -SPACING, board.position);
  vec_scale(normal, edge / 2, block.position);
  vec_add_scaled(block.position, slope.down, -0.4, block.position);
  FloBodyDef board_def = box_def(FLO_BODY_STATIC, 1.4, 0.3, 2 * SPACING, board);
  board_def.sampling = sampling.other;
  add_body(slope.world, &board_def);
  FloBodyDef block_def = box_def(FLO_BODY_DYNAMIC, edge, edge, edge, block);
  block_def.material = add_solid(slope.world, 1000, friction);
  block_def.sampling = sampling.own;
  vec_scale(slope.down, speed, block_def.velocity);
  slope.block = add_body(slope.world, &block_def);
  vec_copy(block.position, slope.start);
  return slope;
}

static Slope make_slope(const double *time_step, double degrees, double friction, double speed) {
  return make_sampled_slope(time_step, degrees, friction, speed, (Sampling){1, 1});
}

static double slope_speed(const Slope *slope) {
  return vec_dot(state_of(slope->world, slope->block).velocity, slope->down);
}

static double slope_travel(const Slope *slope) {
  double way[3];
  vec_sub(state_of(slope->world, slope->block).pose.position, slope->start, way);
  return vec_dot(way, slope->down);
}

static void block_sticks_above_the_critical_friction(void **time_step) {
  Slope slope = make_slope(*time_step, 30, 0.59, 0);
  advance(slope.world, 2);
  double travel = slope_travel(&slope), speed = slope_speed(&slope);
  print_message("30 deg, mu 0.59: moved %.4f mm in 2 s, speed %.2g m/s\n", 1e3 * travel, speed);
  flo_world_destroy(slope.world);
  assert_true(fabs(travel) < SPACING / 20 && fabs(speed) < 1e-3);
}

static void block_slides_below_the_critical_friction(void **time_step) {
  Slope slope = make_slope(*time_step, 30, 0.56, 0);
  double angle = TEST_PI / 6, expected = GRAVITY * (sin(angle) - 0.56 * cos(angle));
  advance(slope.world, 0.5);
  double early = slope_speed(&slope);
  advance(slope.world, 2);
  double acceleration = (slope_speed(&slope) - early) / 1.5;
  print_message("30 deg, mu 0.56: accelerates by %.5f m/s2 (theory %.5f: %+.2f %%), moved %.1f mm in 2 s\n",
                acceleration, expected, 100 * (acceleration / expected - 1), 1e3 * slope_travel(&slope));
  flo_world_destroy(slope.world);
  assert_true(fabs(acceleration / expected - 1) < 0.03);
}

static void sliding_block_is_braked_by_mu_g(void **time_step) {
  Slope slope = make_slope(*time_step, 0, 0.3, 2);
  advance(slope.world, 0.1);
  double early = slope_speed(&slope);
  advance(slope.world, 0.5);
  double braking = (early - slope_speed(&slope)) / 0.4, expected = 0.3 * GRAVITY;
  advance(slope.world, 1);
  double rest = slope_travel(&slope), way = 2 * 2 / (2 * expected);
  print_message("mu 0.3: braked by %.4f m/s2 (theory %.4f: %+.2f %%), stops after %.4f m (theory %.4f)\n",
                braking, expected, 100 * (braking / expected - 1), rest, way);
  flo_world_destroy(slope.world);
  assert_true(fabs(braking / expected - 1) < 0.02);
  assert_true(fabs(rest / way - 1) < 0.02);
}

static void block_does_not_creep(void **time_step) {
  Slope slope = make_slope(*time_step, 20, 0.6, 0);
  advance(slope.world, 1);
  double early = slope_travel(&slope);
  advance(slope.world, 10);
  double travel = slope_travel(&slope);
  print_message("20 deg, mu 0.6: moved %.4f mm in 1 s, %.4f mm in 10 s\n", 1e3 * early, 1e3 * travel);
  flo_world_destroy(slope.world);
  assert_true(fabs(travel) < SPACING / 10);
}

// ---- Finer and coarser samples ----

// Friction that a block sliding down 30 degrees feels, less what its material has: where samples are coarse,
// those of others fall into the dents between them. At tan 30 - 0.05 that shows most.
static double measure_roughness(Sampling sampling) {
  static const double chosen = 0;
  double angle = TEST_PI / 6, friction = tan(angle) - 0.05;
  Slope slope = make_sampled_slope(&chosen, 30, friction, 0, sampling);
  advance(slope.world, 0.4);
  double early = slope_speed(&slope);
  advance(slope.world, 1.2);
  double acceleration = (slope_speed(&slope) - early) / 0.8;
  flo_world_destroy(slope.world);
  double more = (GRAVITY * sin(angle) - acceleration) / (GRAVITY * cos(angle)) - friction;
  print_message("block %g, board %g: friction %+.4f\n", sampling.own, sampling.other, more);
  return more;
}

static void fine_surfaces_are_smooth_and_coarse_ones_hardly_rough(void **unused) {
  (void)unused;
  static const Sampling fine[] = {{0.5, 0.5}, {1, 0.5}, {1.2, 0.5}, {0.5, 1}, {1.2, 1}};
  static const Sampling coarse[] = {{0.5, 1.2}, {1, 1.2}, {1.2, 1.2}};
  for (size_t k = 0; k < sizeof fine / sizeof *fine; ++k)
    assert_true(fabs(measure_roughness(fine[k])) < 0.006);
  for (size_t k = 0; k < sizeof coarse / sizeof *coarse; ++k)
    assert_true(fabs(measure_roughness(coarse[k])) < 0.03);
}

static void block_sticks_whatever_its_samples(void **unused) {
  (void)unused;
  static const double chosen = 0;
  static const Sampling samplings[] = {{0.5, 1.2}, {1.2, 0.5}, {0.5, 0.5}, {1.2, 1.2}};
  for (size_t k = 0; k < sizeof samplings / sizeof *samplings; ++k) {
    Slope slope = make_sampled_slope(&chosen, 30, 0.6, 0, samplings[k]);
    advance(slope.world, 0.5);
    double early = slope_travel(&slope);
    advance(slope.world, 1.5);
    double travel = slope_travel(&slope);
    print_message("block %g, board %g, mu 0.6: moved %.4f mm in 0.5 s, %.4f mm in 1.5 s\n", samplings[k].own,
                  samplings[k].other, 1e3 * early, 1e3 * travel);
    flo_world_destroy(slope.world);
    assert_true(fabs(travel) < SPACING / 10 && fabs(travel - early) < SPACING / 200);
  }
}

// A coarse cube on a fine one and the other way round, both on a floor of the usual kind. The finest samples
// are so many that the steps do not converge, and the cube on them drifts by half a hundredth of a spacing.
static void fine_and_coarse_cubes_rest_on_each_other(void **unused) {
  (void)unused;
  static const Sampling samplings[] = {{1.2, 0.5}, {0.75, 1.2}};
  for (size_t k = 0; k < 2; ++k) {
    FloWorldDef def = world_def(3, 1e-3);
    FloWorld *world = make_world(&def);
    FloBodyDef floor = box_def(FLO_BODY_STATIC, 0.4, 0.4, 2 * SPACING, pose_at(0, 0, -SPACING));
    double edge = 6 * SPACING, start[3];
    add_body(world, &floor);
    FloBodyDef cube = box_def(FLO_BODY_DYNAMIC, edge, edge, edge, pose_at(0, 0, edge / 2));
    cube.material = add_solid(world, 1000, 0.5), cube.sampling = samplings[k].other;
    add_body(world, &cube);
    cube.pose = pose_at(0, 0, 1.5 * edge), cube.sampling = samplings[k].own;
    FloBodyId top = add_body(world, &cube);
    advance(world, 1);
    vec_copy(state_of(world, top).pose.position, start);
    advance(world, 2);
    double crept = distance(state_of(world, top).pose.position, start), off = fabs(start[2] - 1.5 * edge);
    print_message("cube of %g on one of %g: %.3f spacings off, creeps by %.2g spacings in 1 s\n",
                  samplings[k].own, samplings[k].other, off / SPACING, crept / SPACING);
    flo_world_destroy(world);
    assert_true(off < 0.25 * SPACING);
    assert_true(crept < 0.01 * SPACING);
  }
}

// ---- Stacks ----

enum { MAX_CUBES = 8 };

static void check_stack(const double *time_step, const char *what, int n, double edge,
                        const double *densities) {
  FloWorldDef def = world_def(3, *time_step);
  FloWorld *world = make_world(&def);
  FloBodyId cubes[MAX_CUBES];
  FloBodyDef floor = box_def(FLO_BODY_STATIC, 0.5, 0.5, 2 * SPACING, pose_at(0, 0, -SPACING));
  double worst_way = 0, worst_speed = 0, worst_turn = 0;
  add_body(world, &floor);
  for (int k = 0; k < n; ++k)
    cubes[k] = add_cube(world, edge, pose_at(0, 0, (k + 0.5) * edge), densities[k], 0.5);
  for (double time = 1; time < 1.25; time += 0.05) {
    advance(world, time);
    for (int k = 0; k < n; ++k) {
      FloBodyState state = state_of(world, cubes[k]);
      const double start[3] = {0, 0, (k + 0.5) * edge};
      worst_way = fmax(worst_way, distance(state.pose.position, start));
      worst_speed = fmax(worst_speed, vec_length(state.velocity));
      worst_turn = fmax(worst_turn, vec_length(state.angular_velocity));
    }
  }
  print_message("%s: 1 to 1.2 s: off by at most %.4f spacings, speeds up to %.3g mm/s, %.3g rad/s\n", what,
                worst_way / SPACING, 1e3 * worst_speed, worst_turn);
  flo_world_destroy(world);
  assert_true(worst_way < SPACING / 4);
  assert_true(worst_speed < 1e-3);
}

static void heavy_on_light_stays(void **time_step) {
  check_stack(*time_step, "heavy on light, 1000:1", 2, 8 * SPACING, (const double[]){100, 1e5});
}

static void stack_of_eight_stays(void **time_step) {
  check_stack(*time_step, "stack of eight", 8, 4 * SPACING,
              (const double[]){1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000});
}

// ---- A free collision ----

static void collision_keeps_momentum(void **unused) {
  (void)unused;
  FloWorldDef def = world_def(3, 0);
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  double edge = 6 * SPACING, mass = 1000 * pow(edge, 3);
  FloBodyDef moving = box_def(FLO_BODY_DYNAMIC, edge, edge, edge, pose_at(-0.2, 0.03, 0.01));
  moving.material = add_solid(world, 1000, 0.4);
  vec_set(moving.velocity, 1.5, 0.1, 0.2);
  vec_set(moving.angular_velocity, 1, 2, 3);
  FloBodyId first = add_body(world, &moving);
  FloBodyDef resting = box_def(FLO_BODY_DYNAMIC, edge, edge, edge, pose_at(0, 0, 0));
  resting.density = 2500;
  add_body(world, &resting);
  FloMeasurements before = flo_world_measure(world);
  FloBodyState then = state_of(world, first);
  advance(world, 0.5);
  FloMeasurements after = flo_world_measure(world);
  FloBodyState now = state_of(world, first);
  double exchanged = mass * distance(now.velocity, then.velocity), turned = exchanged * edge / 2;
  double drift = distance(after.momentum, before.momentum) / exchanged,
         turn_drift = distance(after.angular_momentum, before.angular_momentum) / turned;
  print_message(
      "collision: %.3f N s exchanged; drift %.2g of it, of the angular momentum %.2g; energy %.3f -> "
      "%.3f J\n",
      exchanged, drift, turn_drift, before.kinetic_energy, after.kinetic_energy);
  flo_world_destroy(world);
  assert_true(exchanged > 0.5);
  assert_true(after.kinetic_energy <= before.kinetic_energy * (1 + 1e-6));
  assert_true(drift <= 1e-6);
  assert_true(turn_drift <= 1e-6);
}

#define STEPPED(test, step)                                                                                  \
  { #test ", steps: " #step, test, NULL, NULL, (void *)&step }

// ---- Rolling and spinning friction ----

#define BALL 0.1

// A ball that lies on a floor, rolls along x or spins about the vertical.
static FloWorld *ball_world(double friction, double rolling, double speed, double spin, FloBodyId *ball) {
  FloWorldDef def = world_def(3, 1e-3);
  FloWorld *world = make_world(&def);
  FloPose pose = flo_pose_identity();
  pose.position[2] = -SPACING, pose.position[0] = 0.5;
  FloBodyDef floor = box_def(FLO_BODY_STATIC, 1.6, 0.4, 2 * SPACING, pose);
  add_body(world, &floor);
  FloBodyDef def_of_ball = flo_default_body_def();
  def_of_ball.kind = FLO_BODY_DYNAMIC;
  def_of_ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = BALL};
  def_of_ball.pose.position[2] = BALL;
  def_of_ball.material = add_solid(world, 1000, friction);
  def_of_ball.rolling_friction = rolling;
  def_of_ball.velocity[0] = speed;
  vec_set(def_of_ball.angular_velocity, 0, speed / BALL, spin);
  *ball = add_body(world, &def_of_ball);
  return world;
}

static double spin_after(double rolling, double spin, double time) {
  FloBodyId ball;
  FloWorld *world = ball_world(0, rolling, 0, spin, &ball);
  advance(world, time);
  double left = state_of(world, ball).angular_velocity[2];
  flo_world_destroy(world);
  return left;
}

// A torque b m g slows a ball of inertia 2/5 m R^2.
static void spinning_balls_come_to_rest(void **state) {
  (void)state;
  double length = 2e-3, expected = length * GRAVITY / (0.4 * BALL * BALL);
  double slowed = 20 - spin_after(length, 20, 1), left = spin_after(length, 2, 1),
         free = spin_after(0, 20, 1);
  print_message("spinning ball: slows by %.3f rad/s2 (theory %.3f), stands at %.2g, without friction %.4f\n",
                slowed, expected, left, free);
  assert_true(fabs(slowed / expected - 1) < 0.03 && fabs(left) < 1e-3 && fabs(free - 20) < 0.02);
}

static double roll_after(double rolling, double time) {
  FloBodyId ball;
  FloWorld *world = ball_world(1, rolling, 1, 0, &ball);
  advance(world, time);
  double speed = state_of(world, ball).velocity[0];
  flo_world_destroy(world);
  return speed;
}

// Without slipping: 5/7 g b/R. A ball of samples is not quite round and is braked by its own bumps, the
// faster one more; so the difference to a ball without rolling friction is only roughly that.
static void rolling_balls_slow_down(void **state) {
  (void)state;
  double length = 5e-3, expected = 5.0 / 7 * GRAVITY * length / BALL;
  double free = roll_after(0, 0.8), braked = roll_after(length, 0.8), slowed = (free - braked) / 0.8;
  print_message("rolling ball: %.4f and %.4f m/s after 0.8 s: slows by %.3f m/s2 (theory %.3f)\n", free,
                braked, slowed, expected);
  assert_true(slowed > 0.5 * expected && slowed < 1.3 * expected);
}

int main(void) {
  static const double chosen = 0, millisecond = 1e-3; // 0: as the world chooses
  const struct CMUnitTest tests[] = {
      STEPPED(block_sticks_above_the_critical_friction, chosen),
      STEPPED(block_sticks_above_the_critical_friction, millisecond),
      STEPPED(block_slides_below_the_critical_friction, chosen),
      STEPPED(block_slides_below_the_critical_friction, millisecond),
      STEPPED(sliding_block_is_braked_by_mu_g, chosen),
      STEPPED(sliding_block_is_braked_by_mu_g, millisecond),
      STEPPED(block_does_not_creep, chosen),
      STEPPED(heavy_on_light_stays, millisecond),
      STEPPED(stack_of_eight_stays, millisecond),
      cmocka_unit_test(fine_surfaces_are_smooth_and_coarse_ones_hardly_rough),
      cmocka_unit_test(block_sticks_whatever_its_samples),
      cmocka_unit_test(fine_and_coarse_cubes_rest_on_each_other),
      cmocka_unit_test(spinning_balls_come_to_rest),
      cmocka_unit_test(rolling_balls_slow_down),
      cmocka_unit_test(collision_keeps_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
