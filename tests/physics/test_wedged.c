// Bodies that touch several walls at once rest without jitter, and every wall bears its share.
#include "dry.h"

#define SPACING 0.02

// Largest speed of any point of a body with this half size [m/s].
static double speed_of(FloWorld *world, FloBodyId body, double half) {
  const FloBodyState state = state_of(world, body);
  return vec_length(state.velocity) + half * vec_length(state.angular_velocity);
}

// Lets the body settle for a second, and averages forces over the next half. Returns the largest speed seen
// then.
static double settle(FloWorld *world, FloBodyId body, double half) {
  double fastest = 0;
  advance_case(world, 1);
  flo_world_restart_averages(world);
  for (int k = 1; k <= 20; ++k) {
    if (!advance_case(world, 1 + 0.025 * k)) return INFINITY;
    fastest = larger(fastest, speed_of(world, body, half));
  }
  return fastest;
}

// ---- A corner ----

// Gravity presses a box without friction into a corner of three walls. Each wall bears one part of its
// weight.
static void check_corner_of_walls(const Setting *s, double edge) {
  const double g[3] = {-3, -4, -8};
  double wide = 2 * edge, thick = 4 * s->spacing, worst = 0;
  FloWorld *world = dry_world(s, g[0], g[1], g[2]);
  FloBodyId walls[3];
  for (int axis = 0; axis < 3; ++axis) {
    FloShape shape = box_shape(wide, wide, wide);
    FloPose pose = pose_at(wide / 2, wide / 2, wide / 2);
    shape.size[axis] = thick, pose.position[axis] = -thick / 2;
    walls[axis] = add_solid(world, FLO_BODY_STATIC, shape, pose, 0);
  }
  FloBodyId box = add_solid(world, FLO_BODY_DYNAMIC, box_shape(edge, edge, edge),
                            pose_at(edge / 2, edge / 2, edge / 2), 0);
  double fastest = settle(world, box, edge);
  for (int axis = 0; axis < 3; ++axis) {
    double expected = 1000 * pow(edge, 3) * g[axis];
    worst = larger(worst, fabs(state_of(world, walls[axis]).mean_force[axis] / expected - 1));
  }
  flo_world_destroy(world);
  judge(fastest < 1e-4 && worst < 0.01,
        "%s, box of %g in a corner of three walls: moves with %.2g m/s, reactions off by %.2g",
        setting_text(s), edge / s->spacing, fastest, worst);
}

// A box in a corner of a tank touches its floor and two of its sides. With `elastic` it still moves with 0.2
// mm/s.
static void check_corner_of_tank(const Setting *s, double edge) {
  double tank = 3 * edge, weight = 1000 * pow(edge, 3) * GRAVITY;
  FloWorld *world = heavy_world(s);
  FloBodyDef def =
      solid_def(FLO_BODY_STATIC, (FloShape){.kind = FLO_SHAPE_TANK, .size = {tank, tank, tank}, .up = 2},
                pose_at(tank / 2, tank / 2, tank / 2), 0.5);
  FloBodyId walls = add_body(world, def);
  FloBodyId box = add_solid(world, FLO_BODY_DYNAMIC, box_shape(edge, edge, edge),
                            pose_at(edge / 2, edge / 2, edge / 2), 0.5);
  const FloBodyState start = state_of(world, box);
  double fastest = settle(world, box, edge);
  const FloBodyState end = state_of(world, walls);
  double off = distance(end.mean_force, (const double[3]){0, 0, -weight}) / weight;
  double way = distance(state_of(world, box).pose.position, start.pose.position) / s->spacing;
  flo_world_destroy(world);
  judge(fastest < (strcmp(s->method, "elastic") ? 1e-4 : 3e-4) && off < 0.01 && way < 0.1,
        "%s, box of %g in a corner of a tank: moves with %.2g m/s, %.4f spacings off, force on the tank off "
        "by %.2g",
        setting_text(s), edge / s->spacing, fastest, way, off);
}

static void boxes_rest_in_corners(void **state) {
  static const double sizes[] = {6, 8, 12}, steps[] = {0, 1e-3};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 6; ++k) {
    const Setting setting = {contact_methods[k / 6], 3, SPACING, steps[k / 3 % 2]};
    if (!is_full() && k % 3) continue;
    check_corner_of_walls(&setting, sizes[k % 3] * SPACING);
    check_corner_of_tank(&setting, sizes[k % 3] * SPACING);
  }
  end_cases();
}

// ---- A groove ----

// One side of a groove whose bottom is the origin. `side` is -1 for the left, 1 for the right.
static FloBodyId add_side(FloWorld *world, const Setting *s, double side, double half_angle, double wide) {
  const double points[] = {0, 0, side * wide, wide / tan(half_angle), side * wide, -0.1, 0, -0.1};
  FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 4};
  if (s->dim == 3) shape.size[0] = 0.4;
  return add_solid(world, FLO_BODY_STATIC, shape, pose_at(0, 0, 0), 0);
}

// A kite whose lower sides fit the groove. At 45 degrees it is a square of edge `edge`. It floats above the
// bottom by a quarter of its height, cut off there, so that it touches with its flat sides only.
static FloBodyId add_kite(FloWorld *world, const Setting *s, double half_angle, double edge, double *area) {
  double low = edge / 4 * cos(half_angle), x = edge * sin(half_angle), y = edge * cos(half_angle);
  double foot = low * tan(half_angle), high = 1.3 * y;
  const double corners[6][2] = {{-foot, low}, {foot, low}, {x, y}, {x / 2, high}, {-x / 2, high}, {-x, y}};
  double points[12], centre = 0;
  *area = (foot + x) * (y - low) + 1.5 * x * (high - y);
  double lower = (y - low) * (y - low) * (foot / 3 + 2 * x / 3) + low * (foot + x) * (y - low);
  double upper = (high - y) * (high - y) * (2.0 / 3 * x) + y * 1.5 * x * (high - y);
  centre = (lower + upper) / *area;
  for (int k = 0; k < 6; ++k) points[2 * k] = corners[k][0], points[2 * k + 1] = corners[k][1] - centre;
  FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 6};
  if (s->dim == 3) shape.size[0] = 8 * s->spacing;
  return add_solid(world, FLO_BODY_DYNAMIC, shape, pose_at(0, centre, 0), 0);
}

// Without friction each side presses along its normal with W / (2 sin half angle).
static void check_groove(const Setting *s, double degrees) {
  double half_angle = degrees * TEST_PI / 180, edge = 12 * SPACING, area, off = 0;
  FloWorld *world = dry_world(s, 0, -GRAVITY, 0);
  FloBodyId sides[2] = {add_side(world, s, -1, half_angle, 1.4 * edge),
                        add_side(world, s, 1, half_angle, 1.4 * edge)};
  FloBodyId kite = add_kite(world, s, half_angle, edge, &area);
  const FloBodyState start = state_of(world, kite);
  double fastest = settle(world, kite, edge), depth = s->dim == 3 ? 8 * s->spacing : 1;
  double reaction = 1000 * GRAVITY * area * depth / (2 * sin(half_angle));
  for (int k = 0; k < 2; ++k) {
    const double expected[3] = {(k ? 1 : -1) * reaction * cos(half_angle), -reaction * sin(half_angle), 0};
    off = larger(off, distance(state_of(world, sides[k]).mean_force, expected) / reaction);
  }
  double way = distance(state_of(world, kite).pose.position, start.pose.position) / s->spacing;
  flo_world_destroy(world);
  judge(fastest < 1e-4 && off < 0.01 && way < 0.1,
        "%s, groove of half angle %g: moves with %.2g m/s, %.4f spacings off, reactions off by %.2g",
        setting_text(s), degrees, fastest, way, off);
}

static void bodies_rest_in_grooves(void **state) {
  static const double angles[] = {45, 30, 20};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 12; ++k) {
    const Setting setting = {contact_methods[k / 12], 2 + k / 6 % 2, SPACING / (k / 3 % 2 ? 1.7 : 1), 0};
    if (is_full() || k / 6 % 2 == 0 || k % 6 == 0) check_groove(&setting, angles[k % 3]);
  }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(boxes_rest_in_corners),
      CASES(bodies_rest_in_grooves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
