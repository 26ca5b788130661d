// Mechanisms of several bodies and joints, open and closed, against theory and tables of the literature.
#include "joints.h"

// ---- Pendulum ----

static double elliptic_integral(double k_squared) {
  double a = 1, b = sqrt(1 - k_squared);
  while (fabs(a - b) > 1e-15) {
    double mean = (a + b) / 2;
    b = sqrt(a * b), a = mean;
  }
  return TEST_PI / (2 * a);
}

// A box of this length swings about its end, from the horizontal, along the last axis but one.
static FloBodyId add_pendulum(FloWorld *world, const Setting *s, double length, double density,
                              FloJointKind kind) {
  double width = length / 5;
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, s->dim == 2 ? box_shape(length, width, 0) : box_shape(length, width, width),
                pose_at(length / 2, 0, 0), 0);
  def.density = density;
  FloBodyId body = add_body(world, def);
  add_joint(world, joint_def(kind, body, V3(0, 0, 0), s->dim == 2 ? V3(0, 0, 1) : V3(0, 1, 0)));
  return body;
}

// Time of four swings, between passages through the lowest point.
static double measure_period(FloWorld *world, FloBodyId body) {
  double first = 0, before = 1;
  FloError error;
  FloStepInfo info = {0};
  for (int n = 0; n < 5;) {
    must(flo_world_step(world, &info, &error), &error);
    assert_true(info.time < 100);
    double now = state_of(world, body).pose.position[0];
    if (before * now <= 0) {
      double time = info.time - info.dt * now / (now - before);
      if (n++ == 0) first = time;
      if (n == 5) return (time - first) / 2;
    }
    before = now;
  }
  return 0;
}

static void check_pendulum(const Setting *s, double length, double density, FloJointKind kind, double limit) {
  FloWorld *world = heavy_world(s);
  FloBodyId body = add_pendulum(world, s, length, density, kind);
  double width = length / 5, inertia = (length * length + width * width) / 12 + length * length / 4;
  double period = 4 * elliptic_integral(0.5) * sqrt(inertia / (GRAVITY * length / 2));
  double measured = measure_period(world, body);
  flo_world_destroy(world);
  judge(fabs(measured / period - 1) < limit, "%s, %-6s %g m, %g kg/m3: period %.6f s (theory %.6f: %+.4f %%)",
        setting_text(s), flo_joint_kind_name(kind), length, density, measured, period,
        100 * (measured / period - 1));
}

static void pendulums_swing_in_time(void **state) {
  static const double steps[] = {0, 1e-3, 4e-3}, lengths[] = {0.2, 1};
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim)
      for (int k = 0; k < 6; ++k) {
        double length = lengths[k % 2];
        const Setting setting = {methods[m], dim, length / 10, steps[k / 2]};
        FloJointKind kind = dim == 3 && k % 3 == 1 ? FLO_JOINT_BALL : FLO_JOINT_HINGE;
        check_pendulum(&setting, length, k < 3 ? 300 : 5000, kind, 1e-3);
      }
  end_cases();
}

// ---- Order: the error falls with the step ----

// Mean distance from where the pendulum should be, over two seconds.
static double pendulum_error(const char *method, double step, double (*path)[3], bool is_exact) {
  const Setting setting = {method, 3, 0.1, step};
  FloWorld *world = heavy_world(&setting);
  FloBodyId body = add_pendulum(world, &setting, 1, 1000, FLO_JOINT_HINGE);
  double sum = 0;
  for (int k = 0; k < 10; ++k) {
    advance(world, 0.16 * (k + 1));
    if (is_exact) vec_copy(state_of(world, body).pose.position, path[k]);
    sum += distance(state_of(world, body).pose.position, path[k]) / 10;
  }
  flo_world_destroy(world);
  return sum;
}

static void errors_fall_as_the_order_says(void **state) {
  (void)state;
  double path[10][3];
  pendulum_error("monolithic", 1e-4, path, true);
  for (int m = 0; m < N_METHODS; ++m) {
    double coarse = pendulum_error(methods[m], 8e-3, path, false),
           fine = pendulum_error(methods[m], 4e-3, path, false);
    double order = log2(coarse / fine), least = m == 0 ? 3.5 : 1.8;
    judge(order > least, "%-14s pendulum, 8 and 4 ms: errors %.2e and %.2e m, order %.2f (at least %.1f)",
          methods[m], coarse, fine, order, least);
  }
  end_cases();
}

// ---- Tables of histories ----

typedef struct Row {
  double t, x[3], v[3], w[3];
} Row;

static int read_rows(const char *name, Row *rows, int most) {
  char line[512], key[64];
  FILE *file = open_reference("mechanisms_time_histories.csv");
  int n = 0;
  if (!file) {
    print_message("skipped: there is no table of mechanisms\n");
    skip();
  }
  snprintf(key, sizeof key, "%s,", name);
  while (n < most && fgets(line, sizeof line, file)) {
    Row *r = &rows[n];
    if (strncmp(line, key, strlen(key))) continue;
    n += sscanf(line + strlen(key), "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &r->t, &r->x[0], &r->x[1],
                &r->x[2], &r->v[0], &r->v[1], &r->v[2], &r->w[0], &r->w[1], &r->w[2]) == 10;
  }
  fclose(file);
  assert_true(n > 1);
  return n;
}

// ---- Heavy top ----

static void check_top(const char *method, double step, double limit) {
  static Row rows[256];
  int n = read_rows("heavy_top_centre_of_mass", rows, 256);
  const Setting setting = {method, 3, 0.3, step};
  FloWorld *world = dry_world(&setting, 0, 0, -9.81);
  FloBodyDef def = mass_def(15, V3(0.234375, 0.46875, 0.234375), V3(0, 1, 0));
  vec_set(def.angular_velocity, 0, 150, -4.61538);
  vec_cross(def.angular_velocity, V3(0, 1, 0), def.velocity);
  FloBodyId body = add_body(world, def);
  FloJointId joint = add_joint(world, joint_def(FLO_JOINT_BALL, body, V3(0, 0, 0), NULL));
  double worst = 0, open = 0;
  for (int k = 1; k < n; ++k) {
    advance(world, rows[k].t);
    worst = larger(worst, distance(state_of(world, body).pose.position, rows[k].x));
    open = larger(open, joint_of(world, joint).open);
  }
  FloMeasurements m = flo_world_measure(world);
  double energy = m.kinetic_energy + m.potential_energy;
  flo_world_destroy(world);
  judge(worst < limit && open < 1e-5 && (step > 5e-4 || fabs(energy / 5435.70 - 1) < 1e-4),
        "%-14s heavy top, step %g ms: position off by at most %.2e m in %g s; joint open by %.1e m; energy "
        "%.4f J "
        "(5435.70)",
        method, 1e3 * step, worst, rows[n - 1].t, open, energy);
}

static void heavy_tops_precess(void **state) {
  (void)state;
  check_top("monolithic", 1e-3, 0.01);
  check_top("monolithic", 5e-4, 0.001);
  check_top("direct-forcing", 1e-4, 0.01);
  end_cases();
}

// ---- Double four-bar: passes a singular position ----

static FloBodyId add_bar(FloWorld *world, double x0, double y0, double x1, double y1,
                         const double velocity[3], double spin) {
  double length = hypot(x1 - x0, y1 - y0);
  FloBodyDef def =
      mass_def(1, V3(1e-3, length * length / 12, length * length / 12), V3((x0 + x1) / 2, (y0 + y1) / 2, 0));
  quat_from_axis_angle(V3(0, 0, 1), atan2(y1 - y0, x1 - x0), def.pose.rotation);
  vec_copy(velocity, def.velocity);
  def.angular_velocity[2] = spin;
  return add_body(world, def);
}

static FloJointId pin(FloWorld *world, FloBodyId body, FloBodyId to, double x, double y) {
  FloJointDef def = joint_def(FLO_JOINT_HINGE, body, V3(x, y, 0), V3(0, 0, 1));
  def.to = to;
  return add_joint(world, def);
}

enum { N_PINS = 7 };

static FloBodyId build_four_bars(FloWorld *world, FloJointId pins[N_PINS]) {
  static const FloBodyId ground = {0};
  FloBodyId posts[3], beams[2];
  for (int k = 0; k < 3; ++k) {
    posts[k] = add_bar(world, k, 0, k, 1, V3(0.5, 0, 0), -1);
    pins[k] = pin(world, posts[k], ground, k, 0);
  }
  for (int k = 0; k < 2; ++k) {
    beams[k] = add_bar(world, k, 1, k + 1, 1, V3(1, 0, 0), 0);
    pins[3 + 2 * k] = pin(world, beams[k], posts[k], k, 1);
    pins[4 + 2 * k] = pin(world, beams[k], posts[k + 1], k + 1, 1);
  }
  return posts[0];
}

static void check_four_bars(const char *method, int dim, double step, double until, double limit) {
  static Row rows[256];
  int n = read_rows("double_four_bar_iftomm_point_B0", rows, 256);
  const Setting setting = {method, dim, 0.3, step};
  FloWorld *world = dry_world(&setting, 0, -9.81, 0);
  FloJointId pins[N_PINS];
  FloBodyId post = build_four_bars(world, pins);
  FloMeasurements start = flo_world_measure(world), end;
  double worst = 0, open = 0;
  for (int k = 1; k < n && rows[k].t <= until; ++k) {
    advance(world, rows[k].t);
    const double *centre = state_of(world, post).pose.position;
    const double top[3] = {2 * centre[0], 2 * centre[1], 0};
    worst = larger(worst, distance(top, rows[k].x));
    for (int j = 0; j < N_PINS; ++j) open = larger(open, joint_of(world, pins[j]).open);
  }
  end = flo_world_measure(world);
  double gain = end.kinetic_energy + end.potential_energy - start.kinetic_energy - start.potential_energy;
  flo_world_destroy(world);
  judge(worst < limit && open < 1e-4,
        "%-14s %dD double four-bar, step %g ms: point off by at most %.2e m in %g s; joints open by %.1e m; "
        "energy "
        "changes by %.1e J",
        method, dim, 1e3 * step, worst, until, open, gain);
}

static void double_four_bars_pass_their_singular_position(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_four_bars("monolithic", dim, 2e-3, 10, 0.01);
    check_four_bars("direct-forcing", dim, 5e-4, 10, 0.01);
  }
  end_cases();
}

// ---- Four-bar with a motor ----

#define CRANK   0.2
#define COUPLER 0.5
#define ROCKER  0.4
#define GROUND  0.5

// Freudenstein's equation, uncrossed.
static double rocker_angle(double crank) {
  double x = CRANK * cos(crank) - GROUND, y = CRANK * sin(crank), square = x * x + y * y, d = sqrt(square);
  double inner = acos((ROCKER * ROCKER + square - COUPLER * COUPLER) / (2 * ROCKER * d));
  return atan2(y, x) - inner;
}

static FloBodyId add_link(FloWorld *world, const Setting *s, double x0, double y0, double x1, double y1) {
  double length = hypot(x1 - x0, y1 - y0);
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, s->dim == 3 ? box_shape(length, 0.04, 0.04) : box_shape(length, 0.04, 0),
                pose_at((x0 + x1) / 2, (y0 + y1) / 2, 0), 0);
  quat_from_axis_angle(V3(0, 0, 1), atan2(y1 - y0, x1 - x0), def.pose.rotation);
  return add_body(world, def);
}

static double angle_of(FloWorld *world, FloBodyId body) {
  const double *q = state_of(world, body).pose.rotation;
  return 2 * atan2(q[2], q[3]);
}

static void check_four_bar(const char *method, int dim, double step) {
  static const FloBodyId ground = {0};
  const Setting setting = {method, dim, 0.04, step};
  FloWorld *world = dry_world(&setting, 0, 0, 0);
  double rocker = rocker_angle(0), x = GROUND + ROCKER * cos(rocker), y = ROCKER * sin(rocker), worst = 0,
         open = 0;
  FloBodyId bodies[3] = {add_link(world, &setting, 0, 0, CRANK, 0), add_link(world, &setting, CRANK, 0, x, y),
                         add_link(world, &setting, GROUND, 0, x, y)};
  FloJointDef drive = joint_def(FLO_JOINT_HINGE, bodies[0], V3(0, 0, 0), V3(0, 0, 1));
  drive.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 2 * TEST_PI, .max_load = 100};
  FloJointId pins[4] = {add_joint(world, drive), pin(world, bodies[1], bodies[0], CRANK, 0),
                        pin(world, bodies[2], bodies[1], x, y), pin(world, bodies[2], ground, GROUND, 0)};
  for (int k = 1; k <= 200; ++k) {
    advance(world, 0.01 * k);
    double turn = angle_of(world, bodies[2]) - rocker_angle(joint_of(world, pins[0]).coordinate);
    worst = larger(worst, fabs(remainder(turn, 2 * TEST_PI)));
    for (int j = 0; j < 4; ++j) open = larger(open, joint_of(world, pins[j]).open);
  }
  double turns = joint_of(world, pins[0]).coordinate / (2 * TEST_PI);
  flo_world_destroy(world);
  judge(
      worst < 0.1 * TEST_PI / 180 && open < 1e-3 && turns > 1.9,
      "%-14s %dD four-bar, step %g ms: rocker within %.1e degrees, joints open by %.1e m, %.3f turns in 2 s",
      method, dim, 1e3 * step, worst * 180 / TEST_PI, open, turns);
}

static void four_bars_follow_their_crank(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim) {
      check_four_bar(methods[m], dim, 2e-4);
      check_four_bar(methods[m], dim, 2e-3);
    }
  end_cases();
}

// ---- Slider-crank ----

static void check_slider_crank(const char *method, double offset, double step) {
  const Setting setting = {method, 3, 0.04, step};
  const double r = 0.1, l = 0.3, speed = 10;
  FloWorld *world = dry_world(&setting, 0, 0, 0);
  double x = r + sqrt(l * l - offset * offset), worst = 0, worst_speed = 0;
  FloBodyId crank = add_link(world, &setting, 0, 0, r, 0), rod = add_link(world, &setting, r, 0, x, offset);
  FloBodyId slider =
      add_solid(world, FLO_BODY_DYNAMIC, box_shape(0.08, 0.08, 0.08), pose_at(x, offset, 0), 0);
  FloJointDef drive = joint_def(FLO_JOINT_HINGE, crank, V3(0, 0, 0), V3(0, 0, 1));
  drive.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = speed, .max_load = INFINITY};
  add_joint(world, drive);
  pin(world, rod, crank, r, 0);
  pin(world, slider, rod, x, offset);
  add_joint(world, joint_def(FLO_JOINT_SLIDER, slider, V3(x, offset, 0), V3(1, 0, 0)));
  for (int k = 1; k <= 100; ++k) {
    double t = 0.0126 * k, angle = speed * t, y = r * sin(angle) - offset, root;
    advance(world, t);
    root = sqrt(l * l - y * y);
    const FloBodyState s = state_of(world, slider);
    worst = larger(worst, fabs(s.pose.position[0] - r * cos(angle) - root));
    double exact = -r * speed * (sin(angle) + y * cos(angle) / root);
    worst_speed = larger(worst_speed, fabs(s.velocity[0] - exact));
  }
  flo_world_destroy(world);
  judge(worst < 0.01 * 2 * r && worst_speed < 0.01 * r * speed,
        "%-14s slider-crank, offset %g m, step %g ms: position off by %.1e m of 0.2, speed by %.1e m/s of 1",
        method, offset, 1e3 * step, worst, worst_speed);
}

static void slider_cranks_run(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k) check_slider_crank(methods[m], k % 2 ? 0.05 : 0, k / 2 ? 1e-3 : 2e-4);
  end_cases();
}

// ---- A slider-crank in space ----

// The crank turns about x at (0, 0.1, 0.12) m, the slider moves along the x axis, a rod of 0.3 m joins them
// (benchmark of IFToMM: spatial rigid slider-crank, driven).
static double spatial_slider(double angle) {
  double y = 0.1 - 0.08 * sin(angle), z = 0.12 + 0.08 * cos(angle);
  return sqrt(0.09 - y * y - z * z);
}

static FloBodyId add_ball(FloWorld *world, double x, double y, double z) {
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.02), pose_at(x, y, z), 0);
  def.mass = 1;
  for (int k = 0; k < 3; ++k) def.inertia[k] = 1e-3;
  return add_body(world, def);
}

static void check_spatial_crank(const char *method, double step, double speed) {
  const Setting s = {method, 3, 0.02, step};
  FloWorld *world = dry_world(&s, 0, 0, -GRAVITY);
  FloBodyId crank = add_ball(world, 0, 0.1, 0.16), rod = add_ball(world, 0.1, 0.05, 0.1),
            block = add_ball(world, 0.2, 0, 0);
  FloJointDef drive = joint_def(FLO_JOINT_HINGE, crank, V3(0, 0.1, 0.12), V3(1, 0, 0));
  drive.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = speed, .max_load = INFINITY};
  FloJointDef head = joint_def(FLO_JOINT_BALL, rod, V3(0, 0.1, 0.2), NULL),
              foot = joint_def(FLO_JOINT_BALL, rod, V3(0.2, 0, 0), NULL);
  head.to = crank, foot.to = block;
  FloJointId motor = add_joint(world, drive), pins[2] = {add_joint(world, head), add_joint(world, foot)};
  add_joint(world, joint_def(FLO_JOINT_SLIDER, block, V3(0.2, 0, 0), V3(1, 0, 0)));
  double off = 0, open = 0;
  for (int k = 1; k <= 50; ++k) {
    advance(world, 0.04 * k);
    double x = spatial_slider(joint_of(world, motor).coordinate);
    off = larger(off, fabs(state_of(world, block).pose.position[0] - x));
    for (int j = 0; j < 2; ++j) open = larger(open, joint_of(world, pins[j]).open);
  }
  judge(off < 8e-6 && open < 1e-5 && fabs(joint_of(world, motor).coordinate - 2 * speed) < 1e-3 * fabs(speed),
        "%s, slider-crank in space at %g rad/s: slider off by %.1e m, joints open by %.1e m",
        setting_text(&s), speed, off, open);
  flo_world_destroy(world);
}

static void spatial_slider_cranks_run(void **state) {
  static const char *const all[] = {"monolithic", "direct-forcing", "constraint"};
  static const double steps[] = {5e-4, 2e-3, 4e-3};
  (void)state;
  for (size_t m = 0; m < sizeof all / sizeof *all; ++m)
    for (int k = 0; k < 3; ++k) {
      check_spatial_crank(all[m], steps[k], 6);
      check_spatial_crank(all[m], steps[k], -3);
    }
  end_cases();
}

// ---- A parallelogram through its dead point ----

// All bars of a parallelogram lie on one line at its dead point. From there the rocker may follow the crank
// or turn against it. Whichever it does, the motor drives the crank on, and the bars stay together.
static void check_parallelogram(const Setting *s, double start, double arm, double torque) {
  FloWorld *world = dry_world(s, 0, -GRAVITY, 0);
  const double x = arm * cos(start), y = arm * sin(start), span = 2 * arm;
  FloBodyId crank = add_link(world, s, 0, 0, x, y), rocker = add_link(world, s, span, 0, span + x, y),
            coupler = add_link(world, s, x, y, span + x, y);
  FloJointDef drive = joint_def(FLO_JOINT_HINGE, crank, V3(0, 0, 0), V3(0, 0, 1));
  drive.motor = (FloMotorDef){
      .kind = FLO_MOTOR_POSITION, .amplitude = 2, .frequency = 0.5, .max_load = torque, .time = 0.05};
  FloJointId motor = add_joint(world, drive),
             pins[3] = {pin(world, rocker, (FloBodyId){0}, span, 0), pin(world, coupler, crank, x, y),
                        pin(world, coupler, rocker, span + x, y)};
  double open = 0, lag = 0;
  for (int k = 1; k <= 80; ++k) {
    advance(world, 0.05 * k);
    for (int j = 0; j < 3; ++j) open = larger(open, joint_of(world, pins[j]).open);
    double law = 2 * sin(TEST_PI * 0.05 * k);
    if (k > 10) lag = larger(lag, fabs(joint_of(world, motor).coordinate - law));
  }
  judge(lag < 0.01 && open < 1e-3 * arm,
        "%s, parallelogram of %g m from %.2f rad, motor of %g N m: lags by %.1e rad, opens by %.1e m",
        setting_text(s), arm, start, torque, lag, open);
  flo_world_destroy(world);
}

static void parallelograms_pass_their_dead_points(void **state) {
  static const char *const all[] = {"monolithic", "direct-forcing", "constraint"};
  static const double steps[] = {0, 5e-4, 2e-3, 5e-3}, starts[] = {0, 1, 2, TEST_PI};
  (void)state;
  for (size_t m = 0; m < sizeof all / sizeof *all; ++m)
    for (int k = 0; k < 8; ++k) {
      const Setting s = {all[m], k < 6 ? 2 : 3, 0.1, steps[k % 4]};
      check_parallelogram(&s, starts[k % 4], 0.5, 1e4);
      check_parallelogram(&s, starts[(k + 2) % 4], 0.5, 1e4);
      check_parallelogram(&s, 0, 1, 1e9);
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(pendulums_swing_in_time),
      CASES(errors_fall_as_the_order_says),
      CASES(heavy_tops_precess),
      CASES(double_four_bars_pass_their_singular_position),
      CASES(four_bars_follow_their_crank),
      CASES(slider_cranks_run),
      CASES(parallelograms_pass_their_dead_points),
      CASES(spatial_slider_cranks_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
