// What joints bear: chains under heavy loads, motors at their largest torque, limits, friction, ropes, gears,
// joints that break; and that joints take nothing from the momentum of a free system.
#include "joints.h"

// ---- A chain of links under a load ----

enum { N_LINKS = 100 };

static double lowest_point(FloWorld *world, const Setting *s, FloBodyId body, double link) {
  return -state_of(world, body).pose.position[s->dim - 1] + link / 2;
}

// The chain hangs from the world; the last link carries the load.
static FloBodyId hang_chain(FloWorld *world, const Setting *s, double link, double density,
                            FloJointKind kind) {
  const int up = s->dim - 1;
  const double axis[3] = {0, s->dim == 3, s->dim == 2};
  FloBodyId before = {0}, body = {0};
  for (int k = 0; k <= N_LINKS; ++k) {
    double size[3] = {link / 4, link / 4, 0}, at[3] = {0};
    size[up] = link, at[up] = -(k + 0.5) * link;
    FloBodyDef def =
        solid_def(FLO_BODY_DYNAMIC, box_shape(size[0], size[1], size[2]), pose_at(at[0], at[1], at[2]), 0);
    if (s->dim == 3) def.shape.size[1] = link / 4;
    def.density = k < N_LINKS ? density : 1000 * density;
    body = add_body(world, def);
    at[up] = -k * link;
    FloJointDef joint = joint_def(kind, body, at, axis);
    joint.to = before;
    add_joint(world, joint);
    before = body;
  }
  return body;
}

static void check_chain(const Setting *s, double link, double density, FloJointKind kind, double until) {
  FloWorld *world = heavy_world(s);
  FloBodyId load = hang_chain(world, s, link, density, kind);
  double length = (N_LINKS + 1) * link, longest = 0, fastest = 0;
  FloError error;
  FloStepInfo info = {0};
  while (info.time < until) {
    must(flo_world_step(world, &info, &error), &error);
    longest = larger(longest, lowest_point(world, s, load, link));
    const FloBodyState state = state_of(world, load);
    fastest = larger(fastest, vec_length(state.velocity) + link * vec_length(state.angular_velocity));
  }
  FloMeasurements m = flo_world_measure(world);
  flo_world_destroy(world);
  judge(longest / length - 1 < 0.01 && fastest < 1e-5,
        "%s, %d links of %g m (%s, %g kg/m3) under 1000 links: stretched by %.1e %%, %d steps, load moves at "
        "most "
        "%.1e m/s, energy of motion %.1e J",
        setting_text(s), N_LINKS, link, flo_joint_kind_name(kind), density, 100 * (longest / length - 1),
        (int)info.step, fastest, m.kinetic_energy);
}

static void loaded_chains_do_not_stretch(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    check_chain(&(Setting){methods[m], 3, 0.1, 0}, 0.2, 1000, FLO_JOINT_HINGE, 0.12);
    check_chain(&(Setting){methods[m], 3, 0.025, 0}, 0.05, 4000, FLO_JOINT_BALL, 0.05);
    check_chain(&(Setting){methods[m], 2, 0.1, 0}, 0.2, 1000, FLO_JOINT_HINGE, 0.12);
  }
  end_cases();
}

// A chain that swings keeps its length, too, and its energy. The velocities of `direct-forcing` are those
// half a step ago.
static void swinging_chains_do_not_stretch(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 0};
    FloWorld *world = dry_world(&s, 0.5 * GRAVITY, 0, -GRAVITY);
    FloBodyId load = hang_chain(world, &s, 0.2, 1000, FLO_JOINT_HINGE);
    FloMeasurements start = flo_world_measure(world), end;
    advance(world, 0.5);
    end = flo_world_measure(world);
    const FloBodyState state_now = state_of(world, load);
    double length = (N_LINKS + 0.5) * 0.2, stretch = vec_length(state_now.pose.position) / length - 1;
    double change = end.kinetic_energy + end.potential_energy - start.potential_energy;
    judge(fabs(stretch) < 1e-3 && fabs(change) < (m == 0 ? 1e-5 : 5e-3) * end.kinetic_energy,
          "%s, swinging chain: %+.1e %% longer, energy changes by %.1e of %.1e J", setting_text(&s),
          100 * stretch, change, end.kinetic_energy);
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- Motors ----

// A bar on a hinge, in a plane across gravity or along it.
static FloJointId add_driven(FloWorld *world, const Setting *s, FloMotorDef motor, FloBodyId *body) {
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, s->dim == 3 ? box_shape(1, 0.2, 0.2) : box_shape(1, 0.2, 0),
                             pose_at(0.5, 0, 0), 0);
  def.mass = 2;
  *body = add_body(world, def);
  FloJointDef joint =
      joint_def(FLO_JOINT_HINGE, *body, V3(0, 0, 0), s->dim == 3 ? V3(0, -1, 0) : V3(0, 0, 1));
  joint.motor = motor;
  return add_joint(world, joint);
}

// Lifting the bar from the horizontal needs m g l/2 = 9.81 N m.
static void check_stall(const Setting *s, double torque) {
  FloWorld *world = heavy_world(s);
  FloBodyId body;
  FloJointId id =
      add_driven(world, s, (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 3, .max_load = torque}, &body);
  const double needed = 2 * GRAVITY * 0.5;
  double most = 0, work = 0;
  for (int k = 0; k < 100; ++k) {
    advance(world, 0.01 * (k + 1));
    const FloJointState j = joint_of(world, id);
    most = larger(most, fabs(j.motor_load));
    work = j.motor_work;
  }
  const FloJointState j = joint_of(world, id);
  FloMeasurements m = flo_world_measure(world);
  double energy = m.kinetic_energy + m.potential_energy;
  bool is_stalled = torque < needed, is_right = is_stalled
                                                    ? j.coordinate < 0 && fabs(j.motor_load - torque) < 1e-9
                                                    : fabs(j.speed - 3) < 1e-6;
  judge(is_right && most < torque * (1 + 1e-9) && fabs(work - energy) < 0.02 * (fabs(energy) + 1),
        "%s, motor of %g N m (the bar needs %.3g): turned by %+.3f rad, %+.3f rad/s, load %.4f N m; work "
        "%.4f J, energy "
        "%.4f J",
        setting_text(s), torque, needed, j.coordinate, j.speed, j.motor_load, work, energy);
  flo_world_destroy(world);
}

static void motors_stall_at_their_largest_torque(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k) {
      const Setting s = {methods[m], 2 + k / 2, 0.1, k % 2 ? 1e-3 : 2e-4};
      check_stall(&s, 5);
      check_stall(&s, 40);
    }
  end_cases();
}

// Against friction, power is torque times speed.
static void power_is_torque_times_speed(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 2; ++k) {
      const Setting s = {methods[m], 3, 0.1, k ? 1e-3 : 1e-4};
      FloWorld *world = dry_world(&s, 0, 0, 0);
      FloBodyId body;
      FloMotorDef motor = {.kind = FLO_MOTOR_SPEED, .value = 4, .max_load = 50};
      FloJointId id = add_driven(world, &s, motor, &body);
      FloError error;
      must(flo_world_set_joint(world, id, FLO_JOINT_FRICTION, 7, &error), &error);
      advance(world, 0.5);
      double before = joint_of(world, id).motor_work;
      advance(world, 1.5);
      double work = joint_of(world, id).motor_work - before;
      one_step(world); // the one before may have been very short
      const FloJointState j = joint_of(world, id);
      judge(fabs(j.motor_load - 7) < 1e-6 && fabs(j.motor_power - 28) < 1e-5 && fabs(work - 28) < 1e-4 &&
                fabs(j.speed - 4) < 1e-9,
            "%s, friction of 7 N m at 4 rad/s: load %.6f N m, power %.6f W, work in 1 s %.6f J",
            setting_text(&s), j.motor_load, j.motor_power, work);
      flo_world_destroy(world);
    }
  end_cases();
}

static void motors_seek_positions_and_follow_laws(void **state) {
  static const FloMotorKey keys[] = {{0, 0}, {0.5, 1}, {1, -0.5}};
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = heavy_world(&s);
    FloBodyId body;
    FloMotorDef motor = {.kind = FLO_MOTOR_POSITION,
                         .amplitude = 0.2,
                         .frequency = 2,
                         .keys = keys,
                         .n_keys = 3,
                         .max_load = INFINITY,
                         .time = 0.02};
    FloJointId id = add_driven(world, &s, motor, &body);
    double worst = 0;
    for (int k = 1; k <= 100; ++k) {
      double t = 0.01 * k, law = (t < 0.5 ? 2 * t : 1 - 3 * (t - 0.5)) + 0.2 * sin(4 * TEST_PI * t);
      advance(world, t);
      worst = larger(worst, fabs(joint_of(world, id).coordinate - law));
    }
    FloError error;
    must(flo_world_set_joint(world, id, FLO_JOINT_MOTOR_POSITION, 0.7, &error), &error);
    advance(world, 1.5);
    double rest = joint_of(world, id).coordinate;
    judge(worst < 1e-3 && fabs(rest - 0.7) < 1e-3, "%s, law over time: off by %.1e rad; then 0.7 rad: %.6f",
          setting_text(&s), worst, rest);
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- Limits, friction, ropes, gears ----

static void limits_hold(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k) {
      const Setting s = {methods[m], 2 + k % 2, 0.1, 1e-3};
      bool is_soft = k / 2;
      FloWorld *world = heavy_world(&s);
      FloBodyId body = add_body(world, solid_def(FLO_BODY_DYNAMIC,
                                                 s.dim == 3 ? box_shape(1, 0.2, 0.2) : box_shape(1, 0.2, 0),
                                                 pose_at(0.5, 0, 0), 0));
      FloJointDef joint =
          joint_def(FLO_JOINT_HINGE, body, V3(0, 0, 0), s.dim == 3 ? V3(0, -1, 0) : V3(0, 0, 1));
      joint.low = -0.5, joint.high = 0.5, joint.friction = is_soft ? 0 : 3;
      double mass = s.dim == 3 ? 40 : 200, load = mass * GRAVITY * 0.5 * cos(0.5);
      joint.limit_stiffness = is_soft ? 50 * load : 0, joint.limit_damping = is_soft ? 5 * load : 0;
      FloJointId id = add_joint(world, joint);
      double lowest = 0;
      for (int n = 1; n <= 200; ++n) {
        advance(world, 0.01 * n);
        lowest = fmin(lowest, joint_of(world, id).coordinate);
      }
      const FloJointState j = joint_of(world, id);
      double rest = is_soft ? -0.52 : -0.5;
      judge(fabs(j.coordinate - rest) < 2e-3 && fabs(j.speed) < 1e-3 && (is_soft || lowest > -0.5 - 0.01),
            "%s, %s limit at -0.5 rad: rests at %.5f (%.5f), lowest %.4f, %.1e rad/s, torque %.5g N m (%.5g)",
            setting_text(&s), is_soft ? "soft" : "hard", j.coordinate, rest, lowest, j.speed,
            vec_length(j.torque), load);
      flo_world_destroy(world);
    }
  end_cases();
}

// A body slides on a line against friction: it stops after v^2/(2 F/m).
static void friction_stops_a_slider(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 2; ++k) {
      const Setting s = {methods[m], 2 + k, 0.1, 1e-3};
      FloWorld *world = dry_world(&s, 0, 0, 0);
      FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0);
      def.mass = 3, def.velocity[0] = 2;
      FloBodyId body = add_body(world, def);
      FloJointDef joint = joint_def(FLO_JOINT_SLIDER, body, V3(0, 0, 0), V3(1, 0, 0));
      joint.friction = 6;
      FloJointId id = add_joint(world, joint);
      advance(world, 2);
      const FloJointState j = joint_of(world, id);
      judge(fabs(j.coordinate - 1) < 2e-3 && j.speed == 0,
            "%s, 3 kg at 2 m/s against 6 N: stops after %.5f m (1), speed %.1e m/s", setting_text(&s),
            j.coordinate, j.speed);
      flo_world_destroy(world);
    }
  end_cases();
}

static void ropes_only_pull(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = heavy_world(&s);
    FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, -0.5), 0);
    def.mass = 3;
    FloBodyId body = add_body(world, def);
    FloJointDef joint = joint_def(FLO_JOINT_ROPE, body, V3(0, 0, -0.5), NULL);
    joint.has_to_at = true, joint.length = 1;
    FloJointId id = add_joint(world, joint);
    advance(world, 0.2);
    double fall = joint_of(world, id).coordinate - 0.5, slack = vec_length(joint_of(world, id).force);
    advance(world, 1);
    const FloJointState j = joint_of(world, id);
    judge(fabs(fall - GRAVITY * 0.02) < 3e-3 && slack == 0 && fabs(j.coordinate - 1) < 1e-6 &&
              fabs(j.force[2] - 3 * GRAVITY) < 1e-6,
          "%s, rope of 1 m: falls freely by %.4f m, then hangs at %.8f m with %.6f N", setting_text(&s), fall,
          j.coordinate, j.force[2]);
    flo_world_destroy(world);
  }
  end_cases();
}

// A motor drives one wheel, a gear of ratio 1/2 another one: it turns half as fast, the other way.
// A body falls into its rope: the peak is the largest force of a single step, much more than the mean. It
// starts again with the averages.
static void check_peak(const Setting *s) {
  FloWorld *world = heavy_world(s);
  const FloBodyDef ball = mass_def(2, V3(0.1, 0.1, 0.1), V3(0, 0, 0));
  FloError error;
  FloBodyId body;
  must(flo_world_add_body(world, &ball, &body, &error), &error);
  FloJointDef rope = joint_def(FLO_JOINT_ROPE, body, V3(0, 0, 0), NULL);
  rope.has_to_at = true, rope.to_at[s->dim - 1] = 1, rope.length = 1.2;
  const FloJointId id = add_joint(world, rope);
  double peak = 0;
  flo_world_restart_averages(world);
  while (flo_world_time(world) < 0.4) {
    one_step(world);
    const FloJointState now = joint_of(world, id);
    peak = fmax(peak, vec_length(now.force));
  }
  const FloJointState state = joint_of(world, id);
  flo_world_restart_averages(world);
  while (flo_world_time(world) < 0.5) one_step(world);
  const FloJointState later = joint_of(world, id);
  judge(state.peak_force == peak && peak > 5 * vec_length(state.mean_force) &&
            later.peak_force < 0.5 * state.peak_force,
        "%s: peak %g N (largest %g N), mean %g N, later %g N", setting_text(s), state.peak_force, peak,
        vec_length(state.mean_force), later.peak_force);
  flo_world_destroy(world);
}

static void peaks_are_those_of_single_steps(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim) check_peak(&(Setting){methods[m], dim, 0.1, 1e-3});
  end_cases();
}

static void gears_share_speed_and_torque(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = dry_world(&s, 0, 0, 0);
    FloJointId hinges[2];
    for (int k = 0; k < 2; ++k) {
      FloBodyDef def = mass_def(1, V3(0.2, 0.2, 0.2 * (k + 1)), V3(2 * k, 0, 0));
      FloBodyId body = add_body(world, def);
      FloJointDef joint = joint_def(FLO_JOINT_HINGE, body, V3(2 * k, 0, 0), V3(0, 0, 1));
      if (k == 0) joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 10, .max_load = 1};
      hinges[k] = add_joint(world, joint);
    }
    FloJointDef gear = joint_def(FLO_JOINT_GEAR, (FloBodyId){0}, V3(0, 0, 0), NULL);
    gear.joints[0] = hinges[0], gear.joints[1] = hinges[1], gear.ratio = 2;
    add_joint(world, gear);
    advance(world, 0.5);
    // first + 2 second = 0. Inertia at the motor: 0.2 + 0.4/4 = 0.3, so 1 N m gives 3.333 rad/s2.
    const FloJointState a = joint_of(world, hinges[0]), b = joint_of(world, hinges[1]);
    double speed = 0.5 / 0.3 - (m == 1 ? 0.5e-3 / 0.3 : 0);
    judge(fabs(a.speed - speed) < 1e-6 && fabs(a.speed + 2 * b.speed) < 1e-9 &&
              fabs(a.coordinate + 2 * b.coordinate) < 1e-9,
          "%s, gear: %.6f and %.6f rad/s after 0.5 s at 1 N m (theory %.6f), angles %.6f and %.6f",
          setting_text(&s), a.speed, b.speed, speed, a.coordinate, b.coordinate);
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- Breaking and releasing ----

static void broken_joints_stay_broken(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = heavy_world(&s);
    FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(1, 0, 0), 0);
    def.mass = 2;
    FloBodyId body = add_body(world, def);
    FloJointDef joint = joint_def(FLO_JOINT_BALL, body, V3(0, 0, 0), NULL);
    joint.break_force = 2 * 2 * GRAVITY; // the pendulum's force is 3 m g sin
    FloJointId id = add_joint(world, joint);
    FloError error;
    FloState *saved = NULL;
    double height = 0;
    while (!joint_of(world, id).is_broken && flo_world_time(world) < 2) {
      one_step(world);
      height = state_of(world, body).pose.position[2];
    }
    must(flo_world_save(world, &saved, &error), &error);
    advance(world, flo_world_time(world) + 0.1);
    must(flo_world_restore(world, saved, &error), &error);
    flo_state_destroy(saved);
    must(flo_world_set_joint(world, id, FLO_JOINT_RELEASE, 0, &error), &error);
    double speed = state_of(world, body).velocity[0];
    advance(world, flo_world_time(world) + 0.3);
    const FloJointState j = joint_of(world, id);
    // For a small ball 3 m g sin = 2 m g at sin = 2/3; its own inertia delays that a little.
    judge(j.is_broken && !j.is_active && vec_length(j.force) == 0 && fabs(height + 2.0 / 3) < 0.02 &&
              fabs(state_of(world, body).velocity[0] - speed) < 1e-9,
          "%s, breaks at a height of %.4f m (about -0.667), then flies at %.6f m/s (%.6f)", setting_text(&s),
          height, state_of(world, body).velocity[0], speed);
    flo_world_destroy(world);
  }
  end_cases();
}

static void changes_happen_in_time(void **state) {
  static const FloJointChange changes[] = {
      {0.2, FLO_JOINT_MOTOR_SPEED, -2}, {0.4, FLO_JOINT_MOTOR_FREE, 0}, {0.6, FLO_JOINT_RELEASE, 1}};
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = dry_world(&s, 0, 0, 0);
    FloBodyId body = add_body(world, mass_def(1, V3(0.1, 0.1, 0.1), V3(1, 0, 0)));
    FloJointDef joint = joint_def(FLO_JOINT_HINGE, body, V3(0, 0, 0), V3(0, 0, 1));
    joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 2, .max_load = INFINITY};
    joint.changes = changes, joint.n_changes = 3;
    FloJointId id = add_joint(world, joint);
    advance(world, 0.1);
    double first = joint_of(world, id).speed;
    advance(world, 0.3);
    double second = joint_of(world, id).speed;
    advance(world, 0.5);
    double third = joint_of(world, id).motor_load;
    advance(world, 0.7);
    bool is_free = !joint_of(world, id).is_active;
    judge(fabs(first - 2) < 1e-9 && fabs(second + 2) < 1e-9 && third == 0 && is_free,
          "%s, speed 2, -2, free, released: %g, %g, load %g, %s", setting_text(&s), first, second, third,
          is_free ? "released" : "still held");
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- Walls that move, bodies that wait ----

// A body is fixed to a wall that turns: it goes round with it, and the joint bears m r omega^2.
static void joints_to_moving_walls_follow_them(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k) {
      const Setting s = {methods[m], 2 + k % 2, 0.1, k < 2 ? 1e-3 : 4e-3};
      FloWorld *world = dry_world(&s, 0, 0, 0);
      FloMotionDef turn = flo_default_motion_def();
      turn.kind = FLO_MOTION_ROTATE, turn.rate = 2, turn.end = INFINITY;
      vec_set(turn.vector, 0, 0, 1);
      FloBodyDef wall =
          solid_def(FLO_BODY_KINEMATIC, s.dim == 3 ? box_shape(0.4, 0.4, 0.4) : box_shape(0.4, 0.4, 0),
                    pose_at(0, 0, 0), 0);
      wall.motions = &turn, wall.n_motions = 1;
      FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(1, 0, 0), 0);
      def.mass = 3, def.velocity[1] = 2, def.angular_velocity[2] = 2;
      FloBodyId to = add_body(world, wall), body = add_body(world, def);
      FloJointDef joint = joint_def(FLO_JOINT_FIXED, body, V3(0.5, 0, 0), NULL);
      joint.to = to;
      FloJointId id = add_joint(world, joint);
      advance(world, 2);
      double exact[3] = {cos(4), sin(4), 0}, off = distance(state_of(world, body).pose.position, exact);
      double force = vec_length(joint_of(world, id).force);
      judge(off < 1e-5 && fabs(force / 12 - 1) < 0.01,
            "%s, on a turning wall: off by %.1e m after 2 s, force %.4f N (12)", setting_text(&s), off,
            force);
      flo_world_destroy(world);
    }
  end_cases();
}

// Until its release a body is as good as a wall.
static void held_bodies_hold_what_is_joined_to_them(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    const Setting s = {methods[m], 3, 0.1, 1e-3};
    FloWorld *world = heavy_world(&s);
    FloBodyDef upper = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, 0), 0),
               lower = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.2), pose_at(0, 0, -1), 0);
    upper.release = 0.5;
    FloBodyId a = add_body(world, upper), b = add_body(world, lower);
    FloJointDef joint = joint_def(FLO_JOINT_DISTANCE, b, V3(0, 0, -1), NULL);
    joint.to = a, joint.has_to_at = true;
    FloJointId id = add_joint(world, joint);
    advance(world, 0.4);
    double rest = state_of(world, b).pose.position[2], held = joint_of(world, id).force[2];
    advance(world, 0.9);
    double fall = -state_of(world, a).pose.position[2], loose = joint_of(world, id).force[2];
    double weight = 1000 * GRAVITY * 4 / 3 * TEST_PI * 0.008, exact = GRAVITY * 0.08;
    judge(fabs(rest + 1) < 1e-9 && fabs(held / weight - 1) < 0.01 && fabs(fall - exact) < 5e-3 &&
              fabs(loose) < 1e-6 * weight,
          "%s, held: hangs at %.9f m with %.3f N (%.3f); released: both fall by %.5f m (%.5f) with %.1e N",
          setting_text(&s), rest, held, weight, fall, exact, loose);
    flo_world_destroy(world);
  }
  end_cases();
}

// ---- Momentum ----

static FloBodyId add_piece(FloWorld *world, int dim, double x, double y, double spin) {
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, dim == 3 ? box_shape(0.5, 0.2, 0.3) : box_shape(0.5, 0.2, 0),
                             pose_at(x, y, 0), 0);
  def.angular_velocity[2] = spin, def.velocity[0] = 0.3, def.velocity[1] = 0.1 * spin;
  if (dim == 3) def.angular_velocity[0] = 0.4 * spin, def.velocity[2] = -0.2;
  return add_body(world, def);
}

// Five pieces in a ring, joined by different joints, with a motor and a spring.
static void build_ring(FloWorld *world, int dim, FloJointId ids[6]) {
  static const FloJointKind kinds[2][4] = {
      {FLO_JOINT_HINGE, FLO_JOINT_HINGE, FLO_JOINT_FIXED, FLO_JOINT_SLIDER},
      {FLO_JOINT_BALL, FLO_JOINT_UNIVERSAL, FLO_JOINT_CYLINDRICAL, FLO_JOINT_HINGE}};
  FloBodyId pieces[5];
  for (int k = 0; k < 5; ++k)
    pieces[k] = add_piece(world, dim, cos(0.4 * TEST_PI * k), sin(0.4 * TEST_PI * k), k == 2 ? 3 : -1);
  for (int k = 0; k < 4; ++k) {
    double angle = 0.4 * TEST_PI * (k + 0.5);
    FloJointKind kind = kinds[dim - 2][k];
    FloJointDef joint = joint_def(kind, pieces[k], V3(cos(angle), sin(angle), 0),
                                  kind == FLO_JOINT_SLIDER ? V3(1, 0, 0) : V3(0, 0, 1));
    joint.to = pieces[k + 1];
    vec_set(joint.axis2, 0, 1, 0);
    if (kind == FLO_JOINT_HINGE)
      joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 2, .max_load = 30};
    ids[k] = add_joint(world, joint);
  }
  FloJointDef spring = joint_def(FLO_JOINT_SPRING, pieces[4], V3(0.3, -0.9, 0), NULL);
  spring.to = pieces[0], spring.has_to_at = true, spring.stiffness = 500, spring.damping = 5;
  vec_set(spring.to_at, 0.9, -0.1, 0);
  spring.length = 0.5;
  ids[4] = add_joint(world, spring);
}

static void free_systems_keep_their_momenta(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k) {
      const Setting s = {methods[m], 2 + k / 2, 0.1, k % 2 ? 5e-4 : 2e-3};
      FloWorld *world = dry_world(&s, 0, 0, 0);
      FloJointId ids[6];
      build_ring(world, s.dim, ids);
      FloMeasurements start = flo_world_measure(world), end;
      advance(world, 1);
      end = flo_world_measure(world);
      double linear = distance(start.momentum, end.momentum) / vec_length(start.momentum),
             angular =
                 distance(start.angular_momentum, end.angular_momentum) / vec_length(start.angular_momentum),
             open = 0;
      for (int j = 0; j < 4; ++j) open = larger(open, joint_of(world, ids[j]).open);
      judge(linear < 1e-12 && angular < 1e-6 && open < 1e-5,
            "%s, ring of five: linear momentum changes by %.1e, angular by %.1e; joints open by %.1e m",
            setting_text(&s), linear, angular, open);
      flo_world_destroy(world);
    }
  end_cases();
}

// ---- Bits ----

static FloWorld *make_ring(const char *method, int dim, int threads) {
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.dim = dim, def.spacing = 0.05, def.threads = threads, def.time_step = 1e-3;
  vec_set(def.gravity, 0, dim == 2 ? -GRAVITY : 0, dim == 3 ? -GRAVITY : 0);
  FloWorld *world = make_world(&def);
  FloJointId ids[6];
  build_ring(world, dim, ids);
  // A floor to fall on, so that contacts act, too.
  FloBodyDef floor = solid_def(FLO_BODY_STATIC, dim == 3 ? box_shape(6, 6, 0.2) : box_shape(6, 0.2, 0),
                               dim == 3 ? pose_at(0, 0, -0.3) : pose_at(0, -1.2, 0), 0.3);
  add_body(world, floor);
  return world;
}

static uint64_t hash_after(FloWorld *world, double until) {
  advance(world, until);
  return flo_world_hash(world);
}

static void threads_and_restores_give_the_same_bits(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim) {
      uint64_t hashes[5];
      FloError error;
      FloState *saved = NULL;
      for (int threads = 1; threads <= 3; ++threads) {
        FloWorld *world = make_ring(methods[m], dim, threads);
        hashes[threads - 1] = hash_after(world, 0.12);
        if (threads == 3) must(flo_world_save(world, &saved, &error), &error);
        hashes[3] = hash_after(world, 0.18);
        flo_world_destroy(world);
      }
      FloWorld *world = make_ring(methods[m], dim, 2);
      must(flo_world_restore(world, saved, &error), &error);
      hashes[4] = hash_after(world, 0.18);
      flo_world_destroy(world);
      flo_state_destroy(saved);
      judge(hashes[0] == hashes[1] && hashes[0] == hashes[2] && hashes[3] == hashes[4] &&
                hashes[0] != hashes[3],
            "%-14s %dD: 1, 2, 3 threads %s; restored %s", methods[m], dim,
            hashes[0] == hashes[1] && hashes[0] == hashes[2] ? "same" : "differ",
            hashes[3] == hashes[4] ? "same" : "differs");
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(loaded_chains_do_not_stretch),
      CASES(swinging_chains_do_not_stretch),
      CASES(motors_stall_at_their_largest_torque),
      CASES(power_is_torque_times_speed),
      CASES(motors_seek_positions_and_follow_laws),
      CASES(limits_hold),
      CASES(friction_stops_a_slider),
      CASES(ropes_only_pull),
      CASES(peaks_are_those_of_single_steps),
      CASES(gears_share_speed_and_torque),
      CASES(broken_joints_stay_broken),
      CASES(changes_happen_in_time),
      CASES(joints_to_moving_walls_follow_them),
      CASES(held_bodies_hold_what_is_joined_to_them),
      CASES(free_systems_keep_their_momenta),
      CASES(threads_and_restores_give_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
