// Stones that lie in shallow water on a slope stay where they are. Water in the narrow gap below a stone must
// neither lift nor carry it.
#include "dry.h"

typedef struct Brook {
  double slope, across; // of the floor, along x and y [rad]
  double density;       // of the stone [kg/m³]
  double turn;          // of the stone about the normal of the floor at the start [rad]
} Brook;

// A slope in a tank, a stone a little above it, and water all around.
static FloWorld *make_brook(const Setting *s, const Brook *brook, FloBodyId *stone) {
  double size = s->spacing, wide = 24 * size, high = 20 * size, tilt[4], other[4], spin[4], q[4];
  FloWorld *world = heavy_world(s);
  FloShape tank = {.kind = FLO_SHAPE_TANK, .size = {wide, wide, high}, .up = 2};
  add_solid(world, FLO_BODY_STATIC, tank, pose_at(wide / 2, wide / 2, high / 2), 0.6);
  quat_from_axis_angle((const double[]){0, 1, 0}, brook->slope, tilt);
  quat_from_axis_angle((const double[]){1, 0, 0}, brook->across, other);
  quat_from_axis_angle((const double[]){0, 0, 1}, brook->turn, spin);
  quat_multiply(other, tilt, q);
  FloPose floor = pose_at(wide / 2, wide / 2, 2 * size);
  quat_copy(q, floor.rotation);
  add_solid(world, FLO_BODY_STATIC, box_shape(16 * size, 16 * size, 6 * size), floor, 0.6);
  FloPose pose = pose_at(wide / 2, wide / 2, 9 * size);
  quat_multiply(q, spin, pose.rotation);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, box_shape(8 * size, 6 * size, 5 * size), pose, 0.6);
  def.density = brook->density;
  *stone = add_body(world, def);
  add_block(world, add_water(world, 1000, 1e-6), 0, wide, wide, 7 * size);
  return world;
}

static void check_brook(const Setting *s, const Brook *brook) {
  FloBodyId stone;
  FloWorld *world = make_brook(s, brook, &stone);
  double wait = 30 * sqrt(s->spacing / GRAVITY);
  bool is_done = advance_case(world, 2 * wait);
  const FloBodyState start = state_of(world, stone);
  is_done = is_done && advance_case(world, 3 * wait);
  const FloBodyState end = state_of(world, stone);
  double creep = is_done ? distance(start.pose.position, end.pose.position) / wait : INFINITY;
  flo_world_destroy(world);
  judge(creep < 1e-5, "%s, slope %.2f and %.2f, stone of %g kg/m3 turned by %.1f: creeps with %.2g m/s",
        setting_text(s), brook->slope, brook->across, brook->density, brook->turn, creep);
}

static void stones_in_a_brook_stay(void **state) {
  static const Brook brooks[] = {{0.3, 0, 2500, 0.4}, {0.35, -0.1, 1500, 0}, {0.2, 0.15, 4000, 1.1}};
  static const double spacings[] = {0.02, 0.005};
  (void)state;
  for (size_t k = 0; k < 6; ++k)
    if (is_full() || k == 1 || k == 3)
      check_brook(&(Setting){"monolithic", 3, spacings[k % 2], 0}, &brooks[k / 2]);
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(stones_in_a_brook_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
