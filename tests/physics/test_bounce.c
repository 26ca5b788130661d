// Restitution between bodies, with both methods that solve contacts between them.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define RADIUS  0.05

static const char *const methods[] = {"monolithic", "direct-forcing", "constraint", "elastic", "unified"};
enum { N_METHODS = sizeof methods / sizeof *methods };

// ---- Making ----

static FloWorld *empty_world(const char *method, double spacing, double gravity) {
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = 3, def.spacing = spacing, def.threads = 1, def.time_step = 1e-3;
  vec_set(def.gravity, 0, 0, -gravity);
  return make_world(&def);
}

static FloBodyDef body_of(FloBodyKind kind, FloShape shape, FloPose pose, double restitution) {
  FloBodyDef def = flo_default_body_def();
  def.kind = kind, def.shape = shape, def.pose = pose, def.restitution = restitution, def.density = 1000;
  return def;
}

static FloBodyId add_body(FloWorld *world, FloBodyDef def) {
  FloError error;
  FloBodyId id;
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

static FloShape ball_shape(void) { return (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = RADIUS}; }

static FloShape cube_shape(double edge) {
  return (FloShape){.kind = FLO_SHAPE_BOX, .size = {edge, edge, edge}};
}

static void add_floor(FloWorld *world, double spacing, double restitution) {
  FloShape shape = {.kind = FLO_SHAPE_BOX, .size = {0.3, 0.3, 2 * spacing}};
  add_body(world, body_of(FLO_BODY_STATIC, shape, pose_at(0, 0, -spacing), restitution));
}

static FloStepInfo step(FloWorld *world) {
  FloError error;
  FloStepInfo info;
  must(flo_world_step(world, &info, &error), &error);
  return info;
}

// ---- Drops ----

typedef struct Drop {
  const char *method;
  bool is_ball;
  double spacing, height, restitution;
} Drop;

// Height of the first rebound over the height of the fall.
static double rebound_of(const Drop *drop) {
  FloWorld *world = empty_world(drop->method, drop->spacing, GRAVITY);
  FloShape shape = drop->is_ball ? ball_shape() : cube_shape(2 * RADIUS);
  FloBodyDef def = body_of(FLO_BODY_DYNAMIC, shape, pose_at(0, 0, RADIUS + drop->height), drop->restitution);
  add_floor(world, drop->spacing, 0);
  FloBodyId id = add_body(world, def);
  double fall = sqrt(2 * drop->height / GRAVITY), e = drop->restitution, highest = 0;
  double until = fall * (1 + 1.3 * e) + 0.05;
  for (FloStepInfo info = {0}; info.time < until;) {
    info = step(world);
    const FloBodyState state = state_of(world, id);
    if (info.time > 1.03 * fall && state.velocity[2] > -0.05)
      highest = fmax(highest, state.pose.position[2] - RADIUS);
  }
  flo_world_destroy(world);
  return highest / drop->height;
}

static void check_drop(const Drop *drop) {
  double rebound = rebound_of(drop), expected = drop->restitution * drop->restitution;
  print_message("%s, %s, spacing %g mm, from %g m, e %g: rebound %.4f, expected %.4f\n", drop->method,
                drop->is_ball ? "ball" : "box", 1e3 * drop->spacing, drop->height, drop->restitution, rebound,
                expected);
  assert_true(fabs(rebound - expected) <= (expected > 0 ? 0.03 * expected : 1e-3));
}

static void bodies_rebound(void **state) {
  static const double restitutions[] = {0, 0.5, 0.9}, heights[] = {0.1, 0.25}, fineness[] = {4, 8};
  (void)state;
  for (int k = 0; k < 2 * 2 * 2 * 2 * 3; ++k) {
    const Drop drop = {methods[k / 24], k / 12 % 2 == 0, RADIUS / fineness[k / 6 % 2], heights[k / 3 % 2],
                       restitutions[k % 3]};
    check_drop(&drop);
  }
}

// ---- Two bodies ----

// A body meets another one of half its size head-on, without gravity.
static void check_collision(const char *method, bool is_ball, double e) {
  const double spacing = RADIUS / 5, speeds[2] = {0.8, -0.3};
  FloWorld *world = empty_world(method, spacing, 0);
  FloShape small = cube_shape(RADIUS), large = is_ball ? ball_shape() : cube_shape(2 * RADIUS);
  FloBodyDef defs[2] = {body_of(FLO_BODY_DYNAMIC, large, pose_at(0, 0, 0), e),
                        body_of(FLO_BODY_DYNAMIC, small, pose_at(0, 0, 1.5 * RADIUS + 0.04), 0)};
  for (int k = 0; k < 2; ++k) defs[k].velocity[2] = speeds[k];
  FloBodyId first = add_body(world, defs[0]), second = add_body(world, defs[1]);
  double before = flo_world_measure(world).momentum[2];
  advance(world, 0.1);
  double parting = state_of(world, second).velocity[2] - state_of(world, first).velocity[2];
  double after = flo_world_measure(world).momentum[2], approach = speeds[0] - speeds[1];
  flo_world_destroy(world);
  print_message("%s, %s meets box, e %g: parts with %.4f of the speed; momentum %.6g, then %+.1e of it\n",
                method, is_ball ? "ball" : "box", e, parting / approach, before, after / before - 1);
  // Without restitution `monolithic` pushes bodies apart slowly that overlap after the impact.
  assert_true(fabs(parting / approach - e) < (e > 0 ? 0.01 : 0.06));
  assert_true(fabs(after / before - 1) < 1e-6);
}

static void collisions_keep_momentum(void **state) {
  static const double restitutions[] = {0, 0.5, 0.9, 1};
  (void)state;
  for (int k = 0; k < N_METHODS; ++k)
    for (int e = 0; e < 4; ++e) {
      check_collision(methods[k], false, restitutions[e]);
      check_collision(methods[k], true, restitutions[e]);
    }
}

// ---- Rest ----

static void stack_rests(void **state) {
  (void)state;
  for (int k = 0; k < N_METHODS; ++k) {
    const double spacing = RADIUS / 4;
    FloWorld *world = empty_world(methods[k], spacing, GRAVITY);
    FloBodyId boxes[3];
    double start[3], moved = 0;
    add_floor(world, spacing, 0.9);
    for (int box = 0; box < 3; ++box)
      boxes[box] = add_body(world, body_of(FLO_BODY_DYNAMIC, cube_shape(2 * RADIUS),
                                           pose_at(0, 0, (2 * box + 1) * RADIUS), 0.9));
    for (int box = 0; box < 3; ++box) start[box] = state_of(world, boxes[box]).pose.position[2];
    while (flo_world_time(world) < 1) {
      step(world);
      for (int box = 0; box < 3; ++box)
        moved = fmax(moved, fabs(state_of(world, boxes[box]).pose.position[2] - start[box]));
    }
    flo_world_destroy(world);
    print_message("%s: a stack of three with e 0.9 moves by %.4f spacings\n", methods[k], moved / spacing);
    assert_true(moved < 0.1 * spacing);
  }
}

// The samples of a rolling ball come down one after the other. They must not throw it up.
static void rolling_ball_does_not_hop(void **state) {
  (void)state;
  for (int k = 0; k < N_METHODS; ++k) {
    const double spacing = RADIUS / 4;
    FloWorld *world = empty_world(methods[k], spacing, GRAVITY);
    FloShape lane = {.kind = FLO_SHAPE_BOX, .size = {1, 0.2, 2 * spacing}};
    FloBodyDef ball = body_of(FLO_BODY_DYNAMIC, ball_shape(), pose_at(-0.4, 0, RADIUS), 0.9);
    add_body(world, body_of(FLO_BODY_STATIC, lane, pose_at(0, 0, -spacing), 0));
    ball.velocity[0] = 1, ball.angular_velocity[1] = 1 / RADIUS;
    FloBodyId id = add_body(world, ball);
    double hop = 0;
    while (flo_world_time(world) < 0.7) {
      step(world);
      hop = fmax(hop, state_of(world, id).pose.position[2] - RADIUS);
    }
    flo_world_destroy(world);
    print_message("%s: a rolling ball with e 0.9 hops by %.3f spacings\n", methods[k], hop / spacing);
    assert_true(hop < 0.02 * spacing);
  }
}

// ---- Energy ----

// Kinetic and potential energy of everything. The last term makes it constant in flight, since velocities
// change before positions do.
static double energy_of(FloWorld *world, FloBodyId id, double mass, double dt) {
  const FloMeasurements m = flo_world_measure(world);
  return m.kinetic_energy + m.potential_energy - mass * GRAVITY * dt / 2 * state_of(world, id).velocity[2];
}

// A tilted box that tumbles over a floor. Without friction and with e = 1 it loses nothing.
static void tumbling_gains_nothing(void **state) {
  (void)state;
  static const double restitutions[] = {0.5, 0.9, 1};
  for (int k = 0; k < 6 * N_METHODS; ++k) {
    const double spacing = RADIUS / (k % 2 ? 8 : 4), mass = 1000 * pow(2 * RADIUS, 3),
                 e = restitutions[k / 2 % 3];
    FloWorld *world = empty_world(methods[k / 6], spacing, GRAVITY);
    FloBodyDef def = body_of(FLO_BODY_DYNAMIC, cube_shape(2 * RADIUS), pose_at(-0.05, 0, 0.2), e);
    quat_from_axis_angle((const double[3]){1, 2, 0.5}, 0.6, def.pose.rotation);
    vec_set(def.velocity, 0.3, 0.1, 0), vec_set(def.angular_velocity, 2, 3, -1);
    if (e == 1) def.friction = 0;
    add_floor(world, spacing, 0);
    FloBodyId id = add_body(world, def);
    step(world);
    double first = energy_of(world, id, mass, 1e-3), least = first, gain = 0;
    while (flo_world_time(world) < 0.8) {
      step(world);
      double now = energy_of(world, id, mass, 1e-3);
      gain = fmax(gain, now - least), least = fmin(least, now);
    }
    flo_world_destroy(world);
    print_message(
        "%s: a tumbling box with e %g ends with %.3f of its energy and never gains more than %.2g\n",
        methods[k / 6], e, least / first, gain / first);
    assert_true(gain < 5e-3 * first);
    if (e == 1) assert_true(least > 0.98 * first);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_rebound),
      cmocka_unit_test(collisions_keep_momentum),
      cmocka_unit_test(stack_rests),
      cmocka_unit_test(rolling_ball_does_not_hop),
      cmocka_unit_test(tumbling_gains_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
