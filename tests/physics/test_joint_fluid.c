// Joints between bodies in fluid and among contacts: what joints bear is what fluid and floors press with,
// and a free system keeps its momentum.
#include "joints.h"

// ---- A float on a rope, and one on a rigid rod ----

#define EDGE 0.2 // of the float [m]

static FloBodyId add_float(FloWorld *world, const Setting *s, double density, double height) {
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, s->dim == 3 ? box_shape(EDGE, EDGE, EDGE) : box_shape(EDGE, EDGE, 0),
                s->dim == 3 ? pose_at(0.3, 0.3, height) : pose_at(0.3, height, 0), 0);
  def.density = density;
  return add_body(world, def);
}

// The joint holds the float to the floor of a tank, by the middle of its bottom or by its centre.
static FloJointId tie(FloWorld *world, const Setting *s, FloBodyId body, FloBodyId tank, FloJointKind kind,
                      double height) {
  const int up = s->dim - 1;
  double at[3] = {0.3, 0.3, 0}, foot[3] = {0.3, 0.3, 0};
  at[up] = height - EDGE / 2, foot[up] = 0;
  FloJointDef joint = joint_def(kind, body, at, NULL);
  joint.to = tank;
  vec_copy(foot, joint.to_at);
  joint.has_to_at = kind == FLO_JOINT_ROPE || kind == FLO_JOINT_DISTANCE;
  return add_joint(world, joint);
}

// Its mean load is the buoyancy minus the weight.
static void check_float(const Setting *s, double density, FloJointKind kind, double limit) {
  const double height = 0.22, depth = 0.45;
  FloWorld *world = heavy_world(s);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  FloBodyId tank = s->dim == 3 ? add_tank(world, 0.6, 0.6, 0.7, 2) : add_tank(world, 0.6, 0.7, 0, 1);
  FloBodyId body = add_float(world, s, density, height);
  FloJointId id = tie(world, s, body, tank, kind, height);
  add_block(world, water, 0, 0.6, s->dim == 3 ? 0.6 : depth, s->dim == 3 ? depth : 0);
  advance(world, s->dim == 3 ? 0.4 : 1);
  flo_world_restart_averages(world);
  advance(world, s->dim == 3 ? 0.7 : 2);
  const FloJointState j = joint_of(world, id);
  const double load = -j.mean_force[s->dim - 1], exact = (1000 - density) * pow(EDGE, s->dim) * GRAVITY;
  judge(fabs(load / exact - 1) < limit && j.open < 1e-6 &&
            (kind != FLO_JOINT_ROPE || fabs(j.coordinate - height + EDGE / 2) < 0.01),
        "%s, float of %g kg/m3 held by a joint '%s': %.2f N (%.2f: %+.1f %%), open by %.1e m",
        setting_text(s), density, flo_joint_kind_name(kind), load, exact, 100 * (load / exact - 1), j.open);
  flo_world_destroy(world);
}

static void joints_bear_the_buoyancy_of_floats(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    check_float(&(Setting){methods[m], 2, 0.025, 0}, 500, FLO_JOINT_ROPE, m ? 0.1 : 0.05);
    check_float(&(Setting){methods[m], 2, 0.04, 0}, 250, FLO_JOINT_FIXED, m ? 0.1 : 0.05);
    check_float(&(Setting){methods[m], 3, 0.025, 0}, 500, FLO_JOINT_FIXED, 0.05);
  }
  end_cases();
}

// ---- Contacts ----

// Two boxes on a floor carry a heavy bar between them by hinges: the floor carries everything.
static void check_table(const Setting *s, double density) {
  FloWorld *world = heavy_world(s);
  FloBodyId floor = add_floor(world, s, 3, 1, 0.5), legs[2], bar;
  const int up = s->dim - 1;
  FloBodyDef def;
  for (int k = 0; k < 2; ++k) {
    double at[3] = {k ? 0.4 : -0.4, 0, 0}, size[3] = {0.2, 0.2, 0.2 * (s->dim == 3)};
    at[up] = 0.1;
    legs[k] = add_body(world, solid_def(FLO_BODY_DYNAMIC, box_shape(size[0], size[1], size[2]),
                                        pose_at(at[0], at[1], at[2]), 0.5));
  }
  double at[3] = {0}, size[3] = {1, 0.1, 0};
  at[up] = 0.15, size[up] = 0.1, size[1] = 0.1;
  def = solid_def(FLO_BODY_DYNAMIC, box_shape(size[0], size[1], size[2]), pose_at(at[0], at[1], at[2]), 0.5);
  def.density = density;
  bar = add_body(world, def);
  FloJointId pins[2];
  for (int k = 0; k < 2; ++k) {
    at[0] = k ? 0.4 : -0.4;
    FloJointDef joint = joint_def(FLO_JOINT_HINGE, bar, at, s->dim == 3 ? V3(0, 1, 0) : V3(0, 0, 1));
    joint.to = legs[k];
    pins[k] = add_joint(world, joint);
  }
  advance(world, 0.5);
  flo_world_restart_averages(world);
  advance(world, 1);
  double third = s->dim == 3 ? 0.1 : 1, weight = density * 0.1 * third * GRAVITY, sum = 0;
  for (int k = 0; k < 2; ++k) sum += joint_of(world, pins[k]).mean_force[up];
  double whole = weight + 2 * 1000 * GRAVITY * (s->dim == 3 ? 0.008 : 0.04);
  double pressed = -state_of(world, floor).mean_force[up],
         sunk = 0.15 - state_of(world, bar).pose.position[up];
  judge(fabs(sum / weight - 1) < 1e-3 && fabs(pressed / whole - 1) < 0.01 && fabs(sunk) < 0.1 * s->spacing &&
            vec_length(state_of(world, bar).velocity) < 1e-3,
        "%s, bar of %g kg/m3 on two hinged boxes: hinges bear %.3f N (%.3f), the floor %.3f N (%.3f); sunk "
        "by %.1e m, speed "
        "%.1e m/s",
        setting_text(s), density, sum, weight, pressed, whole, sunk,
        vec_length(state_of(world, bar).velocity));
  flo_world_destroy(world);
}

static void floors_carry_jointed_bodies(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int k = 0; k < 4; ++k)
      check_table(&(Setting){methods[m], 2 + k % 2, k < 2 ? 0.05 : 0.033, k < 2 ? 0 : 1e-3},
                  k < 2 ? 1000 : 20000);
  end_cases();
}

// ---- Momentum ----

// A motor turns two boxes against each other in a free drop of water.
static void check_drop(const Setting *s) {
  FloWorld *world = dry_world(s, 0, 0, 0);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  FloBodyId boxes[2];
  for (int k = 0; k < 2; ++k) {
    FloBodyDef def =
        solid_def(FLO_BODY_DYNAMIC, s->dim == 3 ? box_shape(0.15, 0.1, 0.1) : box_shape(0.15, 0.1, 0),
                  pose_at(0.3 + 0.17 * k, 0.2, s->dim == 3 ? 0.2 : 0), 0);
    def.velocity[0] = 0.5, def.density = k ? 3000 : 500;
    boxes[k] = add_body(world, def);
  }
  FloJointDef joint =
      joint_def(FLO_JOINT_HINGE, boxes[1], V3(0.385, 0.2, s->dim == 3 ? 0.2 : 0), V3(0, 0, 1));
  joint.to = boxes[0];
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 5, .max_load = s->dim == 3 ? 2 : 20};
  add_joint(world, joint);
  add_block(world, water, 0, 0.75, 0.4, s->dim == 3 ? 0.4 : 0);
  FloMeasurements start = flo_world_measure(world), end;
  advance(world, 0.2);
  end = flo_world_measure(world);
  // The momentum of water and boxes that move at about 1 m/s.
  double scale = (double)start.fluid_particles * pow(s->spacing, s->dim) * 1000 * 0.5;
  double linear = distance(start.momentum, end.momentum) / scale,
         angular = distance(start.angular_momentum, end.angular_momentum) / scale;
  judge(linear < 1e-6 && angular < 1e-6 && end.kinetic_energy > 0,
        "%s, motor in a drop: linear momentum changes by %.1e, angular by %.1e of the whole", setting_text(s),
        linear, angular);
  flo_world_destroy(world);
}

static void joints_take_no_momentum_from_fluid(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m)
    for (int dim = 2; dim <= 3; ++dim) check_drop(&(Setting){methods[m], dim, dim == 2 ? 0.025 : 0.05, 0});
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(joints_bear_the_buoyancy_of_floats),
      CASES(floors_carry_jointed_bodies),
      CASES(joints_take_no_momentum_from_fluid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
