// Joints that press bodies onto walls: contacts hold, however hard a motor or a spring presses.
#include "dry.h"

static const char *const all_methods[] = {"monolithic", "direct-forcing", "constraint", "elastic"};

typedef struct Press {
  double load;  // of the motor [N]
  bool is_held; // by a motor that seeks a position below the floor, not by one that keeps a speed
} Press;

// A slider presses a box onto the floor.
static void check_press(const Setting *s, const Press *press) {
  const double edge = 5 * s->spacing, half = edge / 2;
  const int up = s->dim - 1;
  FloWorld *world = heavy_world(s);
  FloError error;
  add_floor(world, s, 4 * edge, 4 * edge, 0.5);
  FloPose pose = pose_at(0, 0, 0);
  pose.position[up] = half + 2 * s->spacing;
  FloBodyId box =
      add_solid(world, FLO_BODY_DYNAMIC, box_shape(edge, edge, s->dim == 2 ? 0 : edge), pose, 0.5);
  FloJointDef def = flo_default_joint_def();
  def.kind = FLO_JOINT_SLIDER, def.body = box;
  vec_set(def.axis, 0, 0, 0);
  def.axis[up] = 1;
  def.motor.kind = press->is_held ? FLO_MOTOR_POSITION : FLO_MOTOR_SPEED, def.motor.max_load = press->load;
  def.motor.value = press->is_held ? -10 * s->spacing : -0.2;
  must(flo_world_add_joint(world, &def, NULL, &error), &error);
  bool is_done = advance_case(world, 0.5);
  double depth = (half - state_of(world, box).pose.position[up]) / s->spacing;
  flo_world_destroy(world);
  judge(is_done && fabs(depth) < 0.02, "%s, motor of %g N that keeps a %s: %.2g spacings in the floor",
        setting_text(s), press->load, press->is_held ? "place" : "speed", depth);
}

static void motors_press_onto_floors(void **state) {
  static const double loads[] = {100, 1e3, 1e5};
  (void)state;
  for (int k = 0; k < 48; ++k) {
    const Setting setting = {all_methods[k % 4], 2 + k / 4 % 2, 0.02, 0};
    if (is_full() || (k + k / 4) % 2) check_press(&setting, &(Press){loads[k / 8 % 3], k / 24});
  }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(motors_press_onto_floors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
