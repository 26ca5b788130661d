// Largest loads hold however fast bodies swing: those of motors and of friction, and the load at which a
// joint breaks.
#include "joints.h"

#include "support/allocator.h"

static const char *const all_methods[] = {"monolithic", "direct-forcing", "constraint", "elastic"};
enum { N_ALL = sizeof all_methods / sizeof *all_methods };

// ---- Motors and friction of a double pendulum ----

typedef struct Swing {
  FloWorld *world;
  FloJointId shoulder, elbow;
  int turn; // the axis of both hinges
} Swing;

static FloBodyId add_bar(FloWorld *world, const Setting *s, double length, double middle, double spin,
                         double pivot_speed) {
  const double size = length / 5;
  FloShape shape = s->dim == 3 ? box_shape(length, size, size) : box_shape(length, size, 0);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, shape, pose_at(middle, 0, 0), 0);
  def.mass = 2;
  def.angular_velocity[s->dim == 3 ? 1 : 2] = s->dim == 3 ? -spin : spin;
  def.velocity[s->dim - 1] = pivot_speed + spin * length / 2;
  return add_body(world, def);
}

// Two bars that turn about the origin, with a drive in the elbow.
static Swing add_swing(const Setting *s, double length, double bend, FloMotorDef motor, double friction) {
  const double spin = 8;
  Swing swing = {.world = heavy_world(s), .turn = s->dim == 3 ? 1 : 2};
  const double axis[3] = {0, s->dim == 3 ? -1 : 0, s->dim == 2};
  FloBodyId upper = add_bar(swing.world, s, length, length / 2, spin, 0),
            lower = add_bar(swing.world, s, length, 1.5 * length, spin + bend, spin * length);
  swing.shoulder = add_joint(swing.world, joint_def(FLO_JOINT_HINGE, upper, V3(0, 0, 0), axis));
  FloJointDef elbow = joint_def(FLO_JOINT_HINGE, lower, V3(length, 0, 0), axis);
  elbow.to = upper, elbow.motor = motor, elbow.friction = friction;
  swing.elbow = add_joint(swing.world, elbow);
  return swing;
}

typedef struct Loads {
  double most, torque; // of the motor, and of all about the axis [N m]
  double work, gained; // of the motor, and of the bodies [J]
  double power_error;  // |power - load * speed|, with the speed in the middle of the step [W]
  double fastest;      // speed of the coordinate [rad/s]
} Loads;

static double energy_of(FloWorld *world) {
  const FloMeasurements m = flo_world_measure(world);
  return m.kinetic_energy + m.potential_energy;
}

static Loads watch(const Swing *swing, double until) {
  Loads loads = {.gained = -energy_of(swing->world)};
  double speed = joint_of(swing->world, swing->elbow).speed;
  while (flo_world_time(swing->world) < until) {
    one_step(swing->world);
    const FloJointState j = joint_of(swing->world, swing->elbow);
    loads.most = larger(loads.most, fabs(j.motor_load));
    loads.torque = larger(loads.torque, fabs(j.torque[swing->turn]));
    loads.power_error = larger(loads.power_error, fabs(j.motor_power - j.motor_load * (j.speed + speed) / 2));
    loads.fastest = larger(loads.fastest, fabs(j.speed));
    loads.work = j.motor_work, speed = j.speed;
  }
  loads.gained += energy_of(swing->world);
  return loads;
}

// The motor shall hold the elbow, but the arms swing too fast for it.
static void check_motor(const Setting *s, double length, double most) {
  const FloMotorDef motor = {.kind = FLO_MOTOR_SPEED, .value = 1, .max_load = most};
  Swing swing = add_swing(s, length, 0, motor, 0);
  Loads loads = watch(&swing, 1);
  const double room = 8 * s->dt * most * loads.fastest; // of first order in the step
  judge(loads.most <= most * (1 + 1e-9) && loads.most > 0.9 * most && loads.fastest > 1.5 &&
            loads.power_error < 1e-9 * most * loads.fastest && fabs(loads.work - loads.gained) < room,
        "%s, arms of %g m, motor of %g N m: load at most %.9g N m at up to %.3g rad/s; work %.4g J, energy "
        "gained %.4g J",
        setting_text(s), length, most, loads.most, loads.fastest, loads.work, loads.gained);
  flo_world_destroy(swing.world);
}

static void check_friction(const Setting *s, double length, double most) {
  Swing swing = add_swing(s, length, 6, (FloMotorDef){0}, most);
  Loads loads = watch(&swing, 1);
  judge(loads.torque <= most * (1 + 1e-9) && loads.torque > 0.9 * most && loads.fastest > 1,
        "%s, arms of %g m, friction of %g N m: torque at most %.9g N m at up to %.3g rad/s", setting_text(s),
        length, most, loads.torque, loads.fastest);
  flo_world_destroy(swing.world);
}

static void loads_stay_within_their_bounds(void **state) {
  static const double steps[] = {2e-4, 1e-3, 5e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      check_motor(&s, 1, 20);
      check_motor(&s, 0.5, 5);
      check_friction(&s, 1, 20);
    }
  end_cases();
}

// ---- Joints that break ----

static FloBodyId add_cube(FloWorld *world, const Setting *s, double size, double x, double speed) {
  FloShape shape = s->dim == 3 ? box_shape(size, size, size) : box_shape(size, size, 0);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, shape, pose_at(x, 0, 0), 0);
  def.density = 1000, def.velocity[0] = speed;
  return add_body(world, def);
}

// A block hits one that a weak joint ties to a third one. The joint passes on its breaking load times one
// step; without it the impact would set the third block in motion, too.
static void check_impact(const Setting *s, double size, double load, FloJointKind kind) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloBodyId hammer = add_cube(world, s, size, -1.05 * size, 2), struck = add_cube(world, s, size, 0, 0),
            behind = add_cube(world, s, size, 2 * size, 0);
  const bool turns = kind == FLO_JOINT_HINGE;
  FloJointDef joint = joint_def(kind, struck, V3(size, 0, 0), V3(0, !turns, turns));
  joint.to = behind, joint.break_force = load;
  FloJointId id = add_joint(world, joint);
  double before = 0;
  while (!joint_of(world, id).is_broken && flo_world_time(world) < 0.1) {
    before = state_of(world, behind).velocity[0];
    one_step(world);
  }
  double mass = flo_world_measure(world).momentum[0] / 2,
         passed = mass * (state_of(world, behind).velocity[0] - before), most = load * s->dt;
  advance(world, 0.1);
  double end = mass * state_of(world, behind).velocity[0],
         speeds[2] = {state_of(world, hammer).velocity[0], state_of(world, struck).velocity[0]};
  judge(joint_of(world, id).is_broken && passed > 0 && passed <= most * (1 + 1e-6) && end < 2 * most &&
            fabs(speeds[0] - 1) < 0.01 && fabs(speeds[1] - 1) < 0.01,
        "%s, %s of %g N between blocks of %g m: passes on %.3g N s (at most %.3g), and %.3g in all; blocks "
        "at %.4f and %.4f m/s",
        setting_text(s), flo_joint_kind_name(kind), load, size, passed, most, end, speeds[0], speeds[1]);
  flo_world_destroy(world);
}

static void breaking_joints_pass_on_little(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      check_impact(&s, 0.4, 5, FLO_JOINT_FIXED);
      check_impact(&s, 0.6, 50, k % 2 ? FLO_JOINT_SLIDER : FLO_JOINT_HINGE);
    }
  end_cases();
}

// A body falls into a rope, which snaps: it takes load times step from the body, and the body falls on. The
// velocities of `direct-forcing` are those half a step ago.
static void check_snap(const Setting *s, double mass, double load) {
  const int up = s->dim - 1;
  FloWorld *world = heavy_world(s);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0);
  def.mass = mass;
  FloBodyId body = add_body(world, def);
  FloJointDef joint = joint_def(FLO_JOINT_ROPE, body, V3(0, 0, 0), NULL);
  joint.has_to_at = true, joint.length = 0.5, joint.break_force = load;
  FloJointId id = add_joint(world, joint);
  advance(world, 0.5);
  double speed = -state_of(world, body).velocity[up], lost = mass * (GRAVITY * 0.5 - speed);
  const double delay = strcmp(s->method, "direct-forcing") ? 0 : 0.5 * mass * GRAVITY * s->dt;
  judge(joint_of(world, id).is_broken && fabs(lost - delay - load * s->dt) < 1e-3 * load * s->dt,
        "%s, rope of %g N snaps at %g kg: takes %.4g N s (at most %.4g)", setting_text(s), load, mass, lost,
        load * s->dt);
  flo_world_destroy(world);
}

static void snapping_ropes_take_little(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      check_snap(&s, 2, 60);
      check_snap(&s, 20, 500);
    }
  end_cases();
}

// A pendulum that swings breaks its joint in the motion, by the pull of its turning. No joint bears more than
// its breaking load, at any step.
static void check_pull(const Setting *s, double mass) {
  const int up = s->dim - 1;
  FloWorld *world = heavy_world(s);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.1), pose_at(1, 0, 0), 0);
  def.mass = mass;
  FloBodyId body = add_body(world, def);
  FloJointDef joint = joint_def(FLO_JOINT_BALL, body, V3(0, 0, 0), NULL);
  joint.break_force = 2 * mass * GRAVITY;
  FloJointId id = add_joint(world, joint);
  double most = 0, height = 0;
  while (!joint_of(world, id).is_broken && flo_world_time(world) < 1) {
    one_step(world);
    most = larger(most, vec_length(joint_of(world, id).force));
    height = state_of(world, body).pose.position[up];
  }
  judge(joint_of(world, id).is_broken && most <= joint.break_force * (1 + 1e-9) &&
            fabs(height + 2.0 / 3) < 0.005 + 4 * s->dt,
        "%s, pendulum of %g kg: bears %.6f of its breaking load, breaks at %.4f m (about -0.667)",
        setting_text(s), mass, most / joint.break_force, height);
  flo_world_destroy(world);
}

static void swinging_bodies_break_their_joints(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      check_pull(&s, k % 2 ? 2 : 300);
    }
  end_cases();
}

// A motor is stronger than its joint. In the step in which the joint breaks, the motor gives its share of the
// breaking load, and its work is the energy that bodies and friction take.
// The motor starts after a step, since the first push of `direct-forcing` is that of half a step.
static void check_overload(const Setting *s, FloJointKind kind, FloMotorDef motor, double load,
                           double friction) {
  const bool turns = kind == FLO_JOINT_HINGE;
  FloError error;
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.4), pose_at(0, 0, 0), 0);
  def.mass = 2;
  FloJointDef joint = joint_def(kind, add_body(world, def), V3(0, 0, 0), V3(!turns, 0, turns));
  joint.motor = motor, joint.motor.value = 0, joint.friction = friction;
  *(turns ? &joint.break_torque : &joint.break_force) = load;
  FloJointId id = add_joint(world, joint);
  one_step(world);
  must(flo_world_set_joint(world, id, FLO_JOINT_MOTOR_SPEED, motor.value, &error), &error);
  one_step(world);
  const FloJointState j = joint_of(world, id);
  const double borne = turns ? j.torque[2] : j.force[0], gained = flo_world_measure(world).kinetic_energy,
               own = load + friction * load / (motor.max_load - friction), work = own / load * gained;
  judge(j.is_broken && fabs(borne - load) < 1e-9 * load && fabs(j.motor_load - own) < 1e-9 * own &&
            fabs(j.motor_work - work) < 1e-9 * work,
        "%s, %s breaks at %g, motor of %g to %g, friction %g: bears %.6f, motor gives %.6f (%.6f), work "
        "%.4e J (%.4e)",
        setting_text(s), flo_joint_kind_name(kind), load, motor.max_load, motor.value, friction, borne,
        j.motor_load, own, j.motor_work, work);
  flo_world_destroy(world);
}

static void motors_of_breaking_joints_give_their_share(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      const FloMotorDef fast = {.kind = FLO_MOTOR_SPEED, .value = 50, .max_load = 100},
                        slow = {.kind = FLO_MOTOR_SPEED, .value = 3, .max_load = 1e6};
      check_overload(&s, FLO_JOINT_HINGE, fast, 10, 0);
      check_overload(&s, FLO_JOINT_SLIDER, fast, 10, 0);
      check_overload(&s, FLO_JOINT_SLIDER, fast, 40, 20);
      check_overload(&s, FLO_JOINT_HINGE, slow, 5, 0);
    }
  end_cases();
}

// A motor turns a bar until the pull of the turning breaks its hinge: the motor still gives all that it has.
static void check_spun_off(const Setting *s, double most) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  const FloMotorDef motor = {.kind = FLO_MOTOR_SPEED, .value = 1000, .max_load = most};
  FloJointDef joint = joint_def(FLO_JOINT_HINGE, add_bar(world, s, 1, 0.5, 0, 0), V3(0, 0, 0),
                                V3(0, s->dim == 3 ? -1 : 0, s->dim == 2));
  joint.motor = motor, joint.break_force = 10 * most;
  FloJointId id = add_joint(world, joint);
  while (!joint_of(world, id).is_broken && flo_world_time(world) < 2) one_step(world);
  const FloJointState j = joint_of(world, id);
  const double gained = flo_world_measure(world).kinetic_energy, room = 4 * s->dt * most * fabs(j.speed);
  judge(j.is_broken && fabs(j.motor_load - most) < 1e-9 * most && fabs(j.motor_work - gained) < room,
        "%s, motor of %g N m until the hinge breaks at %.3f s: load %.6f N m, work %.5g J, energy %.5g J",
        setting_text(s), most, flo_world_time(world), j.motor_load, j.motor_work, gained);
  flo_world_destroy(world);
}

static void motors_drive_until_the_joint_breaks(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k)
      check_spun_off(&(Setting){all_methods[m], 2 + k / 3, 0.1, steps[k % 3]}, k % 2 ? 2 : 20);
  end_cases();
}

// ---- Soft limits beside motors and friction; ropes ----

// A body on a slider along the last axis, above a soft limit at 0.
static FloJointId add_buffer(FloWorld *world, const Setting *s, double mass, double stiffness,
                             FloMotorDef motor, double friction) {
  const double up[3] = {0, s->dim == 2, s->dim == 3};
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0);
  def.mass = mass;
  FloJointDef joint = joint_def(FLO_JOINT_SLIDER, add_body(world, def), V3(0, 0, 0), up);
  joint.low = 0, joint.limit_stiffness = stiffness, joint.limit_damping = 0.05 * stiffness;
  joint.motor = motor, joint.friction = friction;
  return add_joint(world, joint);
}

// A motor presses a body into a soft limit: it gives what stiffness and weight need, not all that it has.
static void check_pressed(const Setting *s, double mass, double stiffness) {
  FloWorld *world = heavy_world(s);
  const FloMotorDef motor = {.kind = FLO_MOTOR_POSITION, .value = -0.1, .max_load = 1e5, .time = 0.05};
  FloJointId id = add_buffer(world, s, mass, stiffness, motor, 0);
  advance(world, 1);
  const FloJointState j = joint_of(world, id);
  double load = mass * GRAVITY - 0.1 * stiffness;
  judge(fabs(j.coordinate + 0.1) < 1e-4 && fabs(j.motor_load - load) < 0.01 * fabs(load),
        "%s, %g kg in a soft limit of %g N/m: pressed to %.5f m (-0.1) with %.5g N (%.5g)", setting_text(s),
        mass, stiffness, j.coordinate, j.motor_load, load);
  flo_world_destroy(world);
}

// A body falls into a soft limit with friction: it comes to rest, within the friction's reach of balance.
static void check_stuck(const Setting *s, double mass, double stiffness) {
  FloWorld *world = heavy_world(s);
  const double weight = mass * GRAVITY;
  FloJointId id = add_buffer(world, s, mass, stiffness, (FloMotorDef){0}, 0.4 * weight);
  advance(world, 3);
  const FloJointState j = joint_of(world, id);
  double off = fabs(-j.coordinate * stiffness - weight);
  judge(off <= 0.4 * weight && off > 0.05 * weight && fabs(j.speed) < 1e-9,
        "%s, %g kg in a soft limit of %g N/m: friction holds it at %.5f m, %.3g of its weight off balance, "
        "%.1e m/s",
        setting_text(s), mass, stiffness, j.coordinate, off / weight, j.speed);
  flo_world_destroy(world);
}

static void soft_limits_balance(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k) {
      const Setting s = {all_methods[m], 2 + k / 3, 0.1, steps[k % 3]};
      check_pressed(&s, 2, 3000);
      check_pressed(&s, 50, 2000);
      check_stuck(&s, 2, 200);
    }
  end_cases();
}

// A winch pays out rope faster than a body can fall: the rope hangs loose, and the body falls freely. Then
// the winch pulls it up.
static void check_winch(const Setting *s, double mass) {
  const int up = s->dim - 1;
  FloWorld *world = heavy_world(s);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.1), pose_at(0, 0, 0), 0);
  def.mass = mass, def.pose.position[up] = -1;
  FloBodyId body = add_body(world, def);
  FloJointDef joint = joint_def(FLO_JOINT_ROPE, body, def.pose.position, NULL);
  joint.has_to_at = true, joint.length = 9;
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 50, .max_load = 1e4};
  FloJointId id = add_joint(world, joint);
  FloError error;
  advance(world, 0.3);
  double fall = -1 - state_of(world, body).pose.position[up], free = GRAVITY * 0.045;
  must(flo_world_set_joint(world, id, FLO_JOINT_MOTOR_SPEED, -0.5, &error), &error);
  advance(world, 1);
  const FloJointState j = joint_of(world, id);
  judge(fabs(fall - free) < 2 * s->dt + 1e-9 && fabs(j.speed + 0.5) < 1e-3 &&
            fabs(j.motor_load + mass * GRAVITY) < 1e-3 * mass * GRAVITY,
        "%s, %g kg at a winch: falls by %.5f m (%.5f), then rises at %.5f m/s with %.5g N", setting_text(s),
        mass, fall, free, -j.speed, -j.motor_load);
  flo_world_destroy(world);
}

static void motors_of_ropes_only_pull(void **state) {
  static const double steps[] = {2.5e-4, 1e-3, 4e-3};
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int k = 0; k < 6; ++k)
      check_winch(&(Setting){all_methods[m], 2 + k / 3, 0.1, steps[k % 3]}, k % 2 ? 2 : 100);
  end_cases();
}

// ---- Memory ----

// A warm step allocates nothing, also while motors slip and limits are reached.
static void warm_steps_need_no_memory(void **state) {
  (void)state;
  for (int m = 0; m < N_ALL; ++m)
    for (int dim = 2; dim <= 3; ++dim) {
      CountingAllocator counter = {0};
      FloWorldDef def = flo_default_world_def();
      def.method = all_methods[m], def.dim = dim, def.spacing = 0.1, def.time_step = 1e-3, def.threads = 1;
      def.allocator = counting_allocator(&counter);
      vec_set(def.gravity, 0, dim == 2 ? -GRAVITY : 0, dim == 3 ? -GRAVITY : 0);
      FloWorld *world = make_world(&def);
      const Setting s = {all_methods[m], dim, 0.1, 1e-3};
      const FloMotorDef motor = {.kind = FLO_MOTOR_SPEED, .amplitude = 9, .frequency = 2, .max_load = 30};
      FloJointDef joint = joint_def(FLO_JOINT_HINGE, add_bar(world, &s, 1, 0.5, 8, 0), V3(0, 0, 0),
                                    V3(0, dim == 3 ? -1 : 0, dim == 2));
      joint.motor = motor, joint.friction = 3, joint.low = -1, joint.high = 1, joint.break_force = 1e9;
      add_joint(world, joint);
      advance(world, 1.5); // the bar has been everywhere
      const size_t before = counter.n_calls;
      advance(world, 2.5);
      judge(counter.n_calls == before, "%s: %zu allocations in 1000 steps", setting_text(&s),
            counter.n_calls - before);
      flo_world_destroy(world);
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(loads_stay_within_their_bounds),
      CASES(breaking_joints_pass_on_little),
      CASES(snapping_ropes_take_little),
      CASES(swinging_bodies_break_their_joints),
      CASES(motors_of_breaking_joints_give_their_share),
      CASES(motors_drive_until_the_joint_breaks),
      CASES(soft_limits_balance),
      CASES(motors_of_ropes_only_pull),
      CASES(warm_steps_need_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
