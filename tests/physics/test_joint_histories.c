// One body on a joint of each kind, against time histories of the multibody program ADAMS. The limits are
// those in the heads of the files, at the step that they name or at a longer one.
#include "joints.h"

enum { N_COLUMNS = 26, N_ROWS = 101, N_MOTION = 13 };

typedef struct History {
  int n_columns;
  double rows[N_ROWS][N_COLUMNS]; // time, position, quaternion, velocity, spin, force, torque, ...
} History;

typedef struct Limits {
  double position, velocity, quaternion, spin, force, torque;
} Limits;

typedef struct Rig {
  FloWorld *world;
  FloBodyId body;
  FloJointId joints[2];
  int n_joints;
  double motor_axis[3];
  bool is_about_origin; // torques are about the origin, otherwise about the joint's point
} Rig;

typedef struct Case {
  const char *file;
  double steps[N_METHODS]; // [s]
  Limits limits;
  void (*build)(Rig *rig);
} Case;

// ---- Rigs: the set-ups in the heads of the files ----

static const double rod[3] = {0.04, 0.1, 0.1};

static void turn_about_x(FloBodyDef *def, double angle) {
  quat_from_axis_angle(V3(1, 0, 0), angle, def->pose.rotation);
}

static void add_hinged(Rig *rig) {
  FloBodyDef def = mass_def(1, rod, V3(2, 0, 0));
  turn_about_x(&def, -TEST_PI / 2);
  rig->body = add_body(rig->world, def);
  rig->joints[0] = add_joint(rig->world, joint_def(FLO_JOINT_HINGE, rig->body, V3(0, 0, 0), V3(0, 1, 0)));
  rig->n_joints = 1;
}

static void add_simple(Rig *rig, FloJointKind kind, const double at[3]) {
  rig->body = add_body(rig->world, mass_def(1, rod, at));
  rig->joints[0] = add_joint(rig->world, joint_def(kind, rig->body, V3(0, 0, 0), V3(0, 0, 1)));
  rig->n_joints = 1;
}

static void build_revolute(Rig *rig) { add_hinged(rig); }
static void build_spherical(Rig *rig) { add_simple(rig, FLO_JOINT_BALL, V3(2, 0, 0)); }
static void build_prismatic(Rig *rig) { add_simple(rig, FLO_JOINT_SLIDER, V3(2, 0, 0)); }
static void build_cylindrical(Rig *rig) { add_simple(rig, FLO_JOINT_CYLINDRICAL, V3(2, 0, 0)); }

static void build_universal(Rig *rig) {
  FloBodyDef def = mass_def(1, V3(0.1, 0.1, 0.04), V3(0, 2, 0));
  turn_about_x(&def, TEST_PI / 2);
  rig->body = add_body(rig->world, def);
  FloJointDef joint = joint_def(FLO_JOINT_UNIVERSAL, rig->body, V3(0, 0, 0), V3(1, 0, 0));
  vec_set(joint.axis2, 0, 0, 1);
  rig->joints[0] = add_joint(rig->world, joint), rig->n_joints = 1;
}

static void build_distance(Rig *rig) {
  rig->body = add_body(rig->world, mass_def(1, rod, V3(0, 2, 0)));
  FloJointDef joint = joint_def(FLO_JOINT_DISTANCE, rig->body, V3(0, 2, 0), NULL);
  joint.has_to_at = true;
  rig->joints[0] = add_joint(rig->world, joint), rig->n_joints = 1;
}

// The massless link with a hinge and a ball is the meeting of a plane and a distance.
static void build_rev_spherical(Rig *rig) {
  rig->body = add_body(rig->world, mass_def(1, V3(0.1, 0.04, 0.1), V3(2, 2, 0)));
  FloJointDef plane = joint_def(FLO_JOINT_POINT_ON_PLANE, rig->body, V3(2, 0, 0), V3(0, 0, 1));
  FloJointDef link = joint_def(FLO_JOINT_DISTANCE, rig->body, V3(2, 0, 0), NULL);
  link.has_to_at = true;
  rig->joints[0] = add_joint(rig->world, plane);
  rig->joints[1] = add_joint(rig->world, link), rig->n_joints = 2;
  rig->is_about_origin = true;
}

static void build_actuator(Rig *rig) {
  FloBodyDef def = mass_def(1, V3(1, 1, 1), V3(0, 0, 0));
  def.velocity[2] = 1;
  rig->body = add_body(rig->world, def);
  FloJointDef joint = joint_def(FLO_JOINT_SLIDER, rig->body, V3(0, 0, 0), V3(0, 0, 1));
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 1, .max_load = 1000};
  rig->joints[0] = add_joint(rig->world, joint), rig->n_joints = 1;
  rig->motor_axis[2] = 1;
}

static void build_spring(Rig *rig) {
  rig->body = add_body(rig->world, mass_def(1, rod, V3(0, 0, 0)));
  FloJointDef joint = joint_def(FLO_JOINT_SPRING, rig->body, V3(0, 0, 0), NULL);
  joint.has_to_at = true, joint.length = 0, joint.stiffness = 10, joint.damping = 0.5;
  rig->joints[0] = add_joint(rig->world, joint), rig->n_joints = 1;
}

static void build_turn_spring(Rig *rig) {
  add_hinged(rig);
  FloJointDef joint = joint_def(FLO_JOINT_TURN_SPRING, rig->body, V3(0, 0, 0), V3(0, 1, 0));
  joint.stiffness = 200, joint.damping = 10;
  rig->joints[1] = add_joint(rig->world, joint), rig->n_joints = 2;
}

// ---- Reading and comparing ----

static void read_history(const char *name, History *history) {
  char line[1024], path[64];
  snprintf(path, sizeof path, "%s_Case01_ADAMS.csv", name);
  FILE *file = open_reference(path);
  int row = 0;
  if (!file) {
    print_message("skipped: there is no %s\n", path);
    skip();
  }
  while (row < N_ROWS && fgets(line, sizeof line, file)) {
    char *at = line, *end;
    int n = 0;
    for (; n < N_COLUMNS; ++n, at = end + (*end == ',')) {
      history->rows[row][n] = strtod(at, &end);
      if (end == at) break;
    }
    if (n > N_MOTION) ++row, history->n_columns = n;
  }
  fclose(file);
  assert_int_equal(row, N_ROWS);
}

// Of the joints without their motors, on the ground.
static void read_loads(const Rig *rig, double loads[6]) {
  memset(loads, 0, 6 * sizeof *loads);
  for (int k = 0; k < rig->n_joints; ++k) {
    const FloJointState state = joint_of(rig->world, rig->joints[k]);
    double turn[3];
    vec_cross(state.point, state.force, turn);
    for (int i = 0; i < 3; ++i) {
      loads[i] -= state.force[i] - state.motor_load * rig->motor_axis[i];
      loads[i + 3] -= state.torque[i] + (rig->is_about_origin ? turn[i] : 0);
    }
  }
}

static void read_motion(const Rig *rig, double motion[N_MOTION]) {
  const FloBodyState s = state_of(rig->world, rig->body);
  const double *q = s.pose.rotation;
  vec_copy(s.pose.position, motion);
  motion[3] = q[3], motion[4] = q[0], motion[5] = q[1], motion[6] = q[2];
  vec_copy(s.velocity, motion + 7);
  vec_copy(s.angular_velocity, motion + 10);
}

static void find_velocities(const double *before, const double *after, double step, double *values) {
  const double first[4] = {before[4], before[5], before[6], before[3]},
               last[4] = {after[4], after[5], after[6], after[3]};
  double turn[4];
  quat_between(first, last, turn);
  quat_to_vector(turn, values + 10);
  for (int k = 0; k < 3; ++k) {
    values[7 + k] = (after[k] - before[k]) / (2 * step);
    values[10 + k] /= 2 * step;
  }
}

// Loads are means over a step: the mean of two steps is the value between them. The velocities of
// `direct-forcing` are those in the middle of a step, so positions give the velocity between two steps.
static void sample(Rig *rig, bool leaps, double time, double step, double values[N_MOTION + 6]) {
  double before[N_MOTION], after[N_MOTION + 6];
  advance(rig->world, time - step);
  read_motion(rig, before);
  advance(rig->world, time);
  read_motion(rig, values), read_loads(rig, values + N_MOTION);
  one_step(rig->world);
  read_motion(rig, after), read_loads(rig, after + N_MOTION);
  for (int k = N_MOTION; k < N_MOTION + 6; ++k) values[k] = (values[k] + after[k]) / 2;
  if (leaps) find_velocities(before, after, step, values);
}

static double rms(const double *squares, int n) {
  double most = 0;
  for (int k = 0; k < n; ++k) most = larger(most, squares[k]);
  return sqrt(most / (N_ROWS - 1));
}

static void add_squares(const double *row, double values[N_MOTION + 6], double squares[N_MOTION + 6]) {
  double sign = 0;
  for (int k = 3; k < 7; ++k) sign += row[1 + k] * values[k];
  for (int k = 3; k < 7 && sign < 0; ++k) values[k] *= -1;
  for (int k = 0; k < N_MOTION + 6; ++k) squares[k] += pow(values[k] - row[1 + k], 2);
}

static Limits compare(const Case *c, const char *method, double step, const History *history) {
  const Setting setting = {method, 3, 0.3, step};
  Rig rig = {.world = dry_world(&setting, 0, 0, -9.80665)};
  double squares[N_MOTION + 6] = {0}, values[N_MOTION + 6];
  c->build(&rig);
  for (int k = 1; k < N_ROWS; ++k) {
    sample(&rig, !strcmp(method, "direct-forcing"), history->rows[k][0], step, values);
    add_squares(history->rows[k], values, squares);
  }
  flo_world_destroy(rig.world);
  return (Limits){.position = rms(squares, 3),
                  .quaternion = rms(squares + 3, 4),
                  .velocity = rms(squares + 7, 3),
                  .spin = rms(squares + 10, 3),
                  .force = rms(squares + 13, 3),
                  .torque = rms(squares + 16, 3)};
}

static bool is_within(const Limits *e, const Limits *most) {
  return e->position <= most->position && e->velocity <= most->velocity &&
         e->quaternion <= most->quaternion && e->spin <= most->spin && e->force <= most->force &&
         e->torque <= most->torque;
}

static const Case cases[] = {
    {"Revolute", {5e-4, 5e-4}, {1e-3, 1e-4, 1e-3, 1e-2, 2e-2, 1e-2}, build_revolute},
    {"Spherical", {5e-4, 5e-4}, {2e-3, 1e-3, 1e-3, 2e-2, 2e-2, 1e-6}, build_spherical},
    {"Universal", {5e-4, 5e-4}, {2e-3, 2e-3, 1e-3, 2e-2, 2e-2, 1e-6}, build_universal},
    {"Prismatic", {5e-4, 5e-4}, {1e-2, 1e-4, 1e-3, 2e-2, 1e-6, 1e-6}, build_prismatic},
    {"Cylindrical", {5e-4, 5e-4}, {1e-2, 1e-4, 1e-3, 2e-2, 2e-2, 1e-6}, build_cylindrical},
    {"Distance", {5e-4, 5e-4}, {1e-3, 1e-4, 1e-3, 1e-2, 2e-2, 1e-10}, build_distance},
    {"RevSpherical", {1e-4, 1e-5}, {1e-4, 1e-4, 1e-5, 1e-4, 5e-1, 5e-1}, build_rev_spherical},
    {"LinActuator", {1e-3, 1e-3}, {2e-3, 1e-3, 1e-3, 2e-2, 2e-2, 1e-10}, build_actuator},
    {"TranSpring", {5e-4, 5e-4}, {1e-3, 3e-4, 1e-10, 1e-10, 5e-3, 1e-10}, build_spring},
    {"RotSpring", {5e-4, 5e-4}, {1e-3, 5e-4, 1e-3, 1e-3, 5e-3, 1e-2}, build_turn_spring},
};

static void bodies_on_joints_move_as_adams_says(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (int m = 0; m < N_METHODS; ++m) {
      History history;
      read_history(cases[k].file, &history);
      Limits e = compare(&cases[k], methods[m], cases[k].steps[m], &history);
      judge(
          is_within(&e, &cases[k].limits),
          "%-14s %-12s step %g ms: position %.1e m, velocity %.1e, quaternion %.1e, spin %.1e, force %.1e N, "
          "torque %.1e N m",
          methods[m], cases[k].file, 1e3 * cases[k].steps[m], e.position, e.velocity, e.quaternion, e.spin,
          e.force, e.torque);
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(bodies_on_joints_move_as_adams_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
