// Joints that change while a world runs: released and broken ones with gears, lengths and limits that move,
// gaps that close, friction of many joints, steps that fail, and states that do not fit.
#include "joints.h"

#include "base/saved.h"
#include "state/state.h"
#include "support/allocator.h"

// ---- Gears ----

typedef struct Geared {
  FloWorld *world;
  FloJointId hinges[2], gear;
} Geared;

// A motor turns one wheel, a gear turns the other one. `break_force`: of the second wheel's hinge.
static Geared make_geared(const Setting *s, double break_force) {
  Geared g = {.world = dry_world(s, 0, 0, 0)};
  for (int k = 0; k < 2; ++k) {
    FloBodyId body = add_body(g.world, mass_def(1, V3(0.1, 0.1, 0.2), V3(2 * k, 0, 0)));
    FloJointDef joint = joint_def(FLO_JOINT_HINGE, body, V3(2 * k + 0.1 * k, 0, 0), V3(0, 0, 1));
    if (k == 0) joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 3, .max_load = 10};
    if (k == 1) joint.break_force = break_force;
    g.hinges[k] = add_joint(g.world, joint);
  }
  FloJointDef gear = joint_def(FLO_JOINT_GEAR, (FloBodyId){0}, V3(0, 0, 0), NULL);
  gear.joints[0] = g.hinges[0], gear.joints[1] = g.hinges[1], gear.ratio = 1;
  g.gear = add_joint(g.world, gear);
  return g;
}

// Without its gear the motor keeps its speed without any load. A gear that still acted would load it, and
// kick it when the angle of the loose wheel is counted from the other side.
static void judge_loose(const Setting *s, const Geared *g, const char *how) {
  double worst_speed = 0, worst_load = 0;
  bool gear_rests = !joint_of(g->world, g->gear).is_active;
  for (int k = 0; k < 1500; ++k) {
    one_step(g->world);
    const FloJointState motor = joint_of(g->world, g->hinges[0]);
    worst_speed = fmax(worst_speed, fabs(motor.speed - 3));
    if (k > 0) worst_load = fmax(worst_load, fabs(motor.motor_load));
  }
  judge(gear_rests && worst_speed < 1e-9 && worst_load < 1e-9,
        "%s, gear of a joint that is %s: rests %d, motor off by %.1e rad/s with %.1e N m", setting_text(s),
        how, gear_rests, worst_speed, worst_load);
}

static void gears_rest_with_their_joints(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim) {
      const Setting s = {methods[m], dim, 0.1, 2e-3};
      FloError error;
      Geared g = make_geared(&s, INFINITY);
      advance(g.world, 0.5);
      must(flo_world_set_joint(g.world, g.hinges[1], FLO_JOINT_RELEASE, 1, &error), &error);
      judge_loose(&s, &g, "released");
      flo_world_destroy(g.world);
      g = make_geared(&s, 0.5); // its centre is beside its axle, which bears 0.9 N at 3 rad/s
      for (int k = 0; k < 2000 && !joint_of(g.world, g.hinges[1]).is_broken; ++k) one_step(g.world);
      assert_true(joint_of(g.world, g.hinges[1]).is_broken);
      for (int k = 0; k < 1000; ++k) one_step(g.world); // the motor reaches its speed again
      judge_loose(&s, &g, "broken");
      flo_world_destroy(g.world);
    }
  end_cases();
}

// ---- What is off returns without a kick ----

typedef enum Return { SHORT_ROPE, SHORT_ROD, MOVED_STOP, TURNED_STOP, CLOSING_BALL, N_RETURNS } Return;
static const char *const return_names[N_RETURNS] = {"rope shortened", "rod shortened",
                                                    "limit of a slider moved", "limit of a hinge moved",
                                                    "ball joint that closes"};

static FloJointDef def_of(Return which, FloBodyId body, int dim) {
  static const FloJointKind kinds[N_RETURNS] = {FLO_JOINT_ROPE, FLO_JOINT_DISTANCE, FLO_JOINT_SLIDER,
                                                FLO_JOINT_HINGE, FLO_JOINT_BALL};
  const double *along = dim == 3 ? V3(0, 0, 1) : V3(0, 1, 0);
  FloJointDef def = joint_def(kinds[which], body, V3(0, 0, 0), which == TURNED_STOP ? V3(0, 0, 1) : along);
  if (which == TURNED_STOP) def.at[0] = 1;
  if (which == TURNED_STOP) def.high = 0.5;
  if (which == MOVED_STOP) def.low = -1;
  def.has_to_at = which == SHORT_ROPE || which == SHORT_ROD || which == CLOSING_BALL;
  if (def.has_to_at) vec_scale(along, which == CLOSING_BALL ? 0.2 : 1, def.to_at);
  def.closes = which == CLOSING_BALL;
  return def;
}

static void disturb(FloWorld *world, FloJointId id, Return which) {
  FloError error;
  if (which == SHORT_ROPE || which == SHORT_ROD)
    must(flo_world_set_joint(world, id, FLO_JOINT_LENGTH, 0.8, &error), &error);
  if (which == MOVED_STOP) must(flo_world_set_joint(world, id, FLO_JOINT_LIMIT_LOW, 0.2, &error), &error);
  if (which == TURNED_STOP) must(flo_world_set_joint(world, id, FLO_JOINT_LIMIT_HIGH, -0.2, &error), &error);
}

static double lack_of(const FloJointState *state, Return which) {
  if (which == SHORT_ROPE) return fmax(state->coordinate - 0.8, 0);
  if (which == MOVED_STOP) return fmax(0.2 - state->coordinate, 0);
  if (which == TURNED_STOP) return fmax(state->coordinate + 0.2, 0);
  return state->open;
}

// The largest kinetic energy while 0.2 m, or 0.2 rad at an arm of 1 m, return.
static double energy_of_return(const Setting *s, Return which, double *lack) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0);
  def.mass = 2, def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.05;
  FloBodyId body = add_body(world, def);
  FloJointId id = add_joint(world, def_of(which, body, s->dim));
  double most = 0;
  one_step(world);
  disturb(world, id, which);
  while (flo_world_time(world) < 4) {
    one_step(world);
    const FloBodyState b = state_of(world, body);
    most =
        fmax(most, vec_dot(b.velocity, b.velocity) + 0.025 * vec_dot(b.angular_velocity, b.angular_velocity));
  }
  const FloJointState j = joint_of(world, id);
  *lack = lack_of(&j, which);
  flo_world_destroy(world);
  return most;
}

// Overlaps of bodies vanish with at most sqrt(g s)/2, with g = 1 m/s2 where there is no gravity. Rows may
// overshoot that speed by half.
static void returns_do_not_kick(void **state) {
  (void)state;
  static const double steps[] = {5e-3, 1e-3, 2e-4}, spacings[] = {0.05, 0.1};
  for (int m = 0; m < N_METHODS; ++m)
    for (int which = 0; which < N_RETURNS; ++which)
      for (int k = 0; k < 2; ++k) {
        double energies[3], lacks[3], limit = 1.5 * 1.5 * spacings[k] / 4;
        const int dim = which % 2 == k ? 2 : 3;
        for (int n = 0; n < 3; ++n) {
          const Setting s = {methods[m], dim, spacings[k], steps[n]};
          energies[n] = energy_of_return(&s, (Return)which, &lacks[n]);
        }
        double most = fmax(energies[0], fmax(energies[1], energies[2])),
               least = fmin(energies[0], fmin(energies[1], energies[2]));
        judge(
            least > 0 && most < 1.1 * least && most < limit && lacks[1] < 0.02 && lacks[2] < 0.02,
            "%-14s %dD, spacing %g mm, %s: energy %.3e %.3e %.3e J with steps of 5, 1, 0.2 ms (limit %.1e); "
            "%.1e left",
            methods[m], dim, 1e3 * spacings[k], return_names[which], energies[0], energies[1], energies[2],
            limit, lacks[1]);
      }
  end_cases();
}

// ---- Friction of many joints ----

static void count_warnings(void *context, FloLogLevel level, const char *text) {
  (void)text;
  if (level == FLO_LOG_WARNING) ++*(int *)context;
}

static void check_friction(const char *method, int n, double friction, size_t limit) {
  FloWorldDef def = flo_default_world_def();
  int n_warnings = 0;
  def.method = method, def.dim = 3, def.spacing = 0.1, def.threads = 1, def.time_step = 1e-3;
  def.log.write = count_warnings, def.log.context = &n_warnings;
  FloWorld *world = make_world(&def);
  FloBodyId last = {0};
  for (int k = 0; k < n; ++k) {
    FloBodyId body = add_body(world, mass_def(4, V3(0.017, 0.017, 0.017), V3(0.7 * k, 0, 0)));
    FloJointDef joint = joint_def(FLO_JOINT_HINGE, body, V3(0.7 * k - 0.35, 0, 0), V3(0, 1, 0));
    joint.to = last, joint.friction = friction * (1 + k % 7);
    add_joint(world, joint);
    last = body;
  }
  size_t most = 0;
  for (int k = 0; k < 4; ++k) {
    one_step(world);
    most = most > world->joints.n_rounds ? most : world->joints.n_rounds;
  }
  judge(most <= limit && n_warnings == 0,
        "%-14s %d hinges with friction from %g N m: at most %zu rounds a step (%zu), %d warnings", method, n,
        friction, most, limit, n_warnings);
  flo_world_destroy(world);
}

// The number of rounds hardly depends on the number of joints.
static void friction_of_long_chains_settles(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    check_friction(methods[m], 100, 50, 45);
    check_friction(methods[m], 1000, 50, 45);
  }
  check_friction(methods[0], 3000, 1, 45);
  end_cases();
}

// ---- Steps that fail, and steps in which a joint breaks ----

static FloWorld *make_led(const char *method, CountingAllocator *counter, FloBodyId *table, FloBodyId *ball) {
  static const double centre[3] = {2, 0, 0};
  FloWorldDef def = flo_default_world_def();
  FloMotionDef motion = flo_default_motion_def();
  def.method = method, def.dim = 3, def.spacing = 0.1, def.threads = 1, def.time_step = 0.01;
  def.allocator = counting_allocator(counter);
  FloWorld *world = make_world(&def);
  FloBodyDef led = solid_def(FLO_BODY_KINEMATIC, box_shape(1, 1, 0.4), pose_at(2, 0, 0), 0);
  motion.kind = FLO_MOTION_ROTATE, motion.rate = 20;
  vec_set(motion.vector, 0, 0, 1);
  vec_copy(centre, motion.centre);
  motion.centre[0] -= 0.5;
  led.motions = &motion, led.n_motions = 1;
  *table = add_body(world, led);
  *ball = add_body(world, solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 3), 0));
  return world;
}

// A joint is new, so that the next step must make the structure of joints. Each of its allocations fails
// once.
static void failed_steps_change_nothing(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    int n_failures = 0, n_changed = 0;
    for (size_t at = 1; at < 200; ++at) {
      CountingAllocator counter = {0};
      FloBodyId table, ball;
      FloError error;
      FloWorld *world = make_led(methods[m], &counter, &table, &ball);
      one_step(world);
      one_step(world);
      add_joint(world, joint_def(FLO_JOINT_BALL, ball, V3(0.5, 0, 3), NULL));
      const FloBodyState before[2] = {state_of(world, table), state_of(world, ball)};
      counter.fail_at = counter.n_calls + at;
      FloStatus status = flo_world_step(world, NULL, &error);
      const FloBodyState after[2] = {state_of(world, table), state_of(world, ball)};
      for (int k = 0; k < 2 && status != FLO_OK; ++k)
        n_changed += memcmp(before[k].velocity, after[k].velocity, sizeof after[k].velocity) != 0 ||
                     memcmp(before[k].angular_velocity, after[k].angular_velocity, 24) != 0 ||
                     memcmp(&before[k].pose, &after[k].pose, sizeof after[k].pose) != 0;
      n_failures += status != FLO_OK;
      flo_world_destroy(world);
      if (status == FLO_OK) break;
    }
    judge(n_failures > 5 && n_changed == 0, "%-14s %d ways to run out of memory: %d bodies changed",
          methods[m], n_failures, n_changed);
  }
  end_cases();
}

// The step in which a joint breaks is done when it breaks: it needs no memory any more.
static void breaking_needs_no_memory(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    CountingAllocator counter = {0};
    FloBodyId table, ball;
    FloError error;
    FloWorld *world = make_led(methods[m], &counter, &table, &ball);
    FloJointId id = add_joint(world, joint_def(FLO_JOINT_BALL, ball, V3(0.5, 0, 3), NULL));
    for (int k = 0; k < 20; ++k) one_step(world);
    must(flo_world_set_joint(world, id, FLO_JOINT_BREAK_FORCE, 1e-3, &error), &error);
    size_t before = counter.n_calls;
    counter.fail_at = before + 1, counter.fail_onwards = true;
    FloStatus status = flo_world_step(world, NULL, &error);
    bool is_broken = joint_of(world, id).is_broken;
    counter.fail_at = 0;
    judge(status == FLO_OK && is_broken && counter.n_calls == before,
          "%-14s the joint breaks (%d) with %zu allocations", methods[m], is_broken,
          counter.n_calls - before);
    one_step(world);
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- States that do not fit ----

static FloWorld *make_driven(bool has_law) {
  static const FloMotorKey keys[] = {{0, 1}, {1, 2}};
  const Setting s = {"monolithic", 3, 0.1, 0};
  FloWorld *world = heavy_world(&s);
  FloBodyId body = add_solid(world, FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(1, 0, 0), 0);
  FloJointDef def = joint_def(FLO_JOINT_HINGE, body, V3(0, 0, 0), V3(0, 1, 0));
  def.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 1, .max_load = 1};
  if (has_law) def.motor.keys = keys, def.motor.n_keys = 2;
  add_joint(world, def);
  return world;
}

static void refuse_live(FloWorld *world, FloState *saved, size_t offset, double value) {
  FloError error = {0};
  FloStateArray *array = (FloStateArray *)flo_state_find(saved, "joints/live");
  assert_non_null(array);
  double *number = (double *)((char *)array->buffer.data + offset), before = *number;
  uint64_t hash = flo_world_hash(world);
  *number = value;
  FloStatus status = flo_world_restore(world, saved, &error);
  *number = before;
  judge(status == FLO_BAD_INPUT && strstr(error.text, "state: ") && flo_world_hash(world) == hash,
        "number %2zu = %g: %.60s", offset / sizeof(double), value,
        status == FLO_OK ? "accepted" : error.text);
}

#define REFUSE(member, value) refuse_live(world, saved, offsetof(FloJointLive, member), value)

static void states_that_do_not_fit_are_refused(void **state) {
  (void)state;
  FloError error;
  FloState *saved = NULL;
  FloWorld *world = make_driven(false), *other = make_driven(true);
  one_step(world);
  one_step(other);
  must(flo_world_save(world, &saved, &error), &error);
  REFUSE(motor_has_keys, 1);
  REFUSE(n_changed, 1);
  REFUSE(n_changed, -1);
  REFUSE(is_released, 0.5);
  REFUSE(is_broken, -1);
  REFUSE(motor_kind, 3);
  REFUSE(motor_kind, 0.5);
  REFUSE(piece, 1e18);
  REFUSE(piece, 9);
  REFUSE(piece, -2);
  REFUSE(max_load, -1);
  REFUSE(friction, -1);
  REFUSE(low, 2e18);
  REFUSE(motor_time, -1);
  REFUSE(length, (double)NAN);
  must(flo_world_restore(world, saved, &error), &error);
  // The state of a world whose motor has a law does not fit a world whose motor has none.
  must(flo_world_save(other, &saved, &error), &error);
  judge(flo_world_restore(world, saved, &error) == FLO_BAD_INPUT, "law of a motor: %.80s", error.text);
  one_step(world);
  flo_state_destroy(saved);
  flo_world_destroy(world);
  flo_world_destroy(other);
  end_cases();
}

// ---- Springs that swing too fast ----

// A note tells of a spring whose swing the step cannot show, unless its own damping ends the swing.
static int notes_on_spring(const char *method, int dim, double step, double stiffness, double damping) {
  int n_warnings = 0;
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = dim, def.spacing = 0.1, def.time_step = step, def.threads = 1;
  def.log.write = count_warnings, def.log.context = &n_warnings;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  FloBodyDef body = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0);
  body.mass = 2;
  FloJointDef spring = joint_def(FLO_JOINT_SPRING, add_body(world, body), V3(0, 0, 0), NULL);
  spring.has_to_at = true, spring.stiffness = stiffness, spring.damping = damping;
  vec_set(spring.to_at, 1, 0, 0);
  add_joint(world, spring);
  for (int k = 0; k < 5; ++k) one_step(world);
  flo_world_destroy(world);
  return n_warnings;
}

static void stiff_springs_are_told_of(void **state) {
  static const char *const all[] = {"monolithic", "constraint"};
  (void)state;
  for (size_t m = 0; m < sizeof all / sizeof *all; ++m)
    for (int k = 0; k < 4; ++k) {
      const int dim = 2 + k % 2;
      const double step = k < 2 ? 1e-3 : 4e-3, edge = 0.5 * 2 / (step * step); // of what steps resolve [N/m]
      int stiff = notes_on_spring(all[m], dim, step, 3 * edge, 0),
          soft = notes_on_spring(all[m], dim, step, edge / 3, 0),
          damped = notes_on_spring(all[m], dim, step, 3 * edge, 3 * sqrt(3 * edge * 2));
      judge(stiff == 1 && soft == 0 && damped == 0,
            "%s %dD, step %g ms: %d notes on a stiff spring, %d, %d on others", all[m], dim, 1e3 * step,
            stiff, soft, damped);
    }
  end_cases();
}

// ---- Bodies that touch ----

// Two cubes fly at each other, with a joint that lets them. They meet, or pass through each other.
static bool do_touch(const Setting *s, FloJointKind kind, FloJointTouch touch, FloJointTouch other) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  const double size = 0.4;
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, s->dim == 3 ? box_shape(size, size, size) : box_shape(size, size, 0),
                pose_at(-0.4, 0, 0), 0);
  def.velocity[0] = 1;
  FloBodyId a = add_body(world, def);
  def.pose.position[0] = 0.4, def.velocity[0] = -1;
  FloBodyId b = add_body(world, def);
  FloJointDef joint =
      joint_def(kind, a, V3(-0.4, 0, 0), kind == FLO_JOINT_TURN_SPRING ? V3(0, 0, 1) : V3(1, 0, 0));
  joint.to = b, joint.touch = touch;
  if (kind == FLO_JOINT_ROPE || kind == FLO_JOINT_SPRING)
    joint.has_to_at = true, vec_set(joint.to_at, 0.4, 0, 0);
  if (kind == FLO_JOINT_ROPE) joint.length = 5;
  add_joint(world, joint);
  FloJointDef second = joint_def(FLO_JOINT_SLIDER, a, V3(0, 0, 0), V3(1, 0, 0));
  second.to = b, second.touch = other;
  if (other != FLO_TOUCH_BY_KIND) add_joint(world, second);
  advance(world, 0.5);
  double gap = state_of(world, b).pose.position[0] - state_of(world, a).pose.position[0];
  flo_world_destroy(world);
  return gap > 0.5 * size;
}

static void bodies_touch_as_the_kind_says(void **state) {
  static const struct {
    FloJointKind kind;
    FloJointTouch touch, other;
    bool do_touch;
  } cases[] = {{FLO_JOINT_SLIDER, FLO_TOUCH_BY_KIND, 0, false},
               {FLO_JOINT_SLIDER, FLO_TOUCH_YES, 0, true},
               {FLO_JOINT_SLIDER, FLO_TOUCH_NO, 0, false},
               {FLO_JOINT_ROPE, FLO_TOUCH_BY_KIND, 0, true},
               {FLO_JOINT_ROPE, FLO_TOUCH_NO, 0, false},
               {FLO_JOINT_ROPE, FLO_TOUCH_YES, 0, true},
               {FLO_JOINT_SPRING, FLO_TOUCH_BY_KIND, 0, true},
               {FLO_JOINT_SPRING, FLO_TOUCH_NO, 0, false},
               {FLO_JOINT_TURN_SPRING, FLO_TOUCH_BY_KIND, 0, true},
               {FLO_JOINT_ROPE, FLO_TOUCH_BY_KIND, FLO_TOUCH_NO, false},
               {FLO_JOINT_ROPE, FLO_TOUCH_YES, FLO_TOUCH_NO, true}};
  static const char *const all[] = {"monolithic", "direct-forcing", "constraint"};
  (void)state;
  for (size_t m = 0; m < sizeof all / sizeof *all; ++m)
    for (int dim = 2; dim <= 3; ++dim)
      for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const Setting s = {all[m], dim, 0.1, 0};
        bool touch = do_touch(&s, cases[k].kind, cases[k].touch, cases[k].other);
        judge(touch == cases[k].do_touch, "%s, %s, told %d and %d: %s", setting_text(&s),
              flo_joint_kind_name(cases[k].kind), cases[k].touch, cases[k].other, touch ? "touch" : "pass");
      }
  end_cases();
}

// Whether two bodies pass through each other, from all joints of them.
static bool should_pass(const FloWorld *world, uint32_t a, uint32_t b) {
  bool passes = false;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    const uint32_t x = joint->sides[0].body, y = joint->sides[1].body;
    if (!(x == a && y == b) && !(x == b && y == a)) continue;
    if (joint->touch == FLO_TOUCH_YES) return false;
    passes |= joint->touch == FLO_TOUCH_NO || joint->form->lets_pass;
  }
  return passes;
}

// Bodies with many joints, several of them between the same two bodies, told to touch in all ways.
static FloWorld *make_tangle(Random *random, FloBodyId *bodies, size_t n_bodies, size_t n_joints) {
  FloWorld *world = dry_world(&(Setting){"constraint", 2, 0.1, 0}, 0, 0, 0);
  for (size_t k = 0; k < n_bodies; ++k)
    bodies[k] = add_body(world, solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at((double)k, 0, 0), 0));
  for (size_t k = 0; k < n_joints; ++k) {
    const size_t a = random_below(random, (uint32_t)n_bodies),
                 b = (a + 1 + random_below(random, 4)) % n_bodies;
    FloJointDef joint = joint_def(random_below(random, 2) ? FLO_JOINT_SPRING : FLO_JOINT_SLIDER, bodies[a],
                                  V3((double)a, 0, 0), V3(1, 0, 0));
    joint.to = bodies[b], joint.touch = (FloJointTouch)(random_below(random, 3));
    if (joint.kind == FLO_JOINT_SPRING) joint.has_to_at = true, vec_set(joint.to_at, (double)b, 0, 0);
    add_joint(world, joint);
  }
  return world;
}

static void check_tangle(uint64_t seed, size_t n_bodies, size_t n_joints) {
  FloBodyId bodies[64];
  FloError error;
  FloWorld *world = make_tangle(&(Random){seed}, bodies, n_bodies, n_joints);
  size_t n_wrong = 0, n_pass = 0;
  must(flo_world_build_joints(world, &error), &error);
  for (uint32_t a = 0; a < n_bodies; ++a)
    for (uint32_t b = 0; b < a; ++b) {
      n_pass += flo_joints_join(&world->joints, a, b);
      n_wrong += flo_joints_join(&world->joints, a, b) != should_pass(world, a, b);
    }
  judge(n_wrong == 0 && n_pass > 0, "%zu bodies, %zu joints: %zu pairs pass, %zu are wrong", n_bodies,
        n_joints, n_pass, n_wrong);
  flo_world_destroy(world);
}

static void each_pair_touches_as_its_own_joints_say(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    check_tangle(seed, 8, 12), check_tangle(seed, 30, 60), check_tangle(seed, 64, 160);
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(gears_rest_with_their_joints),
      CASES(returns_do_not_kick),
      CASES(friction_of_long_chains_settles),
      CASES(failed_steps_change_nothing),
      CASES(breaking_needs_no_memory),
      CASES(states_that_do_not_fit_are_refused),
      CASES(bodies_touch_as_the_kind_says),
      CASES(stiff_springs_are_told_of),
      CASES(each_pair_touches_as_its_own_joints_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
