// Bodies that just stand or just fall: two plates that lean on each other, and a plank over the edge of a
// table.
#include "dry.h"

#define SPACING 0.02

// ---- Two plates that lean on each other ----

// The left plate of a tent whose ridge is on the y axis. It is cut level at the floor and upright at the
// ridge, so that it touches with two flat faces.
typedef struct Plate {
  double corners[4][2];
  double centre[2]; // of mass
  double inner;     // x of the inner end of its foot
  double ridge;     // height of the ridge
} Plate;

// Centre of mass of a polygon.
static void centre_of(const double (*corners)[2], int n, double centre[2]) {
  double area = 0, moment[2] = {0};
  for (int k = 0; k < n; ++k) {
    const double *a = corners[k], *b = corners[(k + 1) % n];
    double cross = a[0] * b[1] - a[1] * b[0];
    area += cross / 2;
    for (int axis = 0; axis < 2; ++axis) moment[axis] += cross * (a[axis] + b[axis]) / 6;
  }
  for (int axis = 0; axis < 2; ++axis) centre[axis] = moment[axis] / area;
}

// `lean` is the angle from the vertical.
static Plate plate_of(double length, double thick, double lean) {
  double foot = thick / cos(lean), face = thick / sin(lean), top = length * cos(lean);
  double outer = -top * tan(lean);
  Plate plate = {.corners = {{outer, 0}, {outer + foot, 0}, {0, top - face}, {0, top}},
                 .inner = outer + foot,
                 .ridge = top};
  centre_of((const double(*)[2])plate.corners, 4, plate.centre);
  return plate;
}

// The ridge transmits a level force only. The least friction that holds the feet comes from the moments about
// the inner end of a foot, with the force at the top of the ridge. For thin plates it is half the tangent of
// the lean.
static double least_friction(const Plate *plate) { return (plate->centre[0] - plate->inner) / plate->ridge; }

static FloBodyId add_plate(FloWorld *world, const Plate *plate, double side, double friction) {
  double points[8];
  for (int k = 0; k < 4; ++k) {
    points[2 * k] = side * (plate->corners[k][0] - plate->centre[0]);
    points[2 * k + 1] = plate->corners[k][1] - plate->centre[1];
  }
  FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 4};
  return add_solid(world, FLO_BODY_DYNAMIC, shape, pose_at(side * plate->centre[0], plate->centre[1], 0),
                   friction);
}

static void check_tent(const Setting *s, double lean, double share, bool stands) {
  FloWorld *world = heavy_world(s);
  const Plate plate = plate_of(40 * SPACING, 4 * SPACING, lean);
  double limit = least_friction(&plate), friction = share * limit, drop = 0, time = 0;
  add_floor(world, s, 3, 0, friction);
  FloBodyId left = add_plate(world, &plate, 1, friction);
  add_plate(world, &plate, -1, friction);
  while (time < (stands ? 1.95 : 2.95) && drop < plate.ridge / 10 && advance_case(world, time += 0.1))
    drop = plate.centre[1] - state_of(world, left).pose.position[1];
  flo_world_destroy(world);
  judge(stands ? fabs(drop) < 0.1 * SPACING : drop > plate.ridge / 10,
        "%s, two plates lean by %.0f deg, mu %.4f (limit %.4f, thin %.4f) %s: drop %.4f spacings in %.1f s",
        setting_text(s), lean * 180 / TEST_PI, friction, limit, tan(lean) / 2, stands ? "stand" : "fall",
        drop / SPACING, time);
}

static void leaning_plates(void **state) {
  static const double leans[] = {25, 35};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 8; ++k) {
    const Setting setting = {contact_methods[k / 8], 2, SPACING / (k / 4 % 2 ? 2 : 1), 0};
    double lean = leans[k / 2 % 2] * TEST_PI / 180;
    if (is_full() || k / 4 % 2 == 0) check_tent(&setting, lean, k % 2 ? 0.9 : 1.1, k % 2 == 0);
  }
  end_cases();
}

// ---- A plank over the edge of a table ----

// The plank's middle is `inside` spacings from the table's edge, which is at x = 0.
static void check_plank(const Setting *s, double inside) {
  double h = s->spacing, length = 24 * h, thick = 3 * h, table = 30 * h;
  bool is_flat = s->dim == 2;
  FloWorld *world = heavy_world(s);
  add_solid(world, FLO_BODY_STATIC, is_flat ? box_shape(table, 6 * h, 0) : box_shape(table, 12 * h, 6 * h),
            is_flat ? pose_at(-table / 2, -3 * h, 0) : pose_at(-table / 2, 0, -3 * h), 0.8);
  FloPose pose = is_flat ? pose_at(-inside * h, thick / 2, 0) : pose_at(-inside * h, 0, thick / 2);
  FloShape shape = is_flat ? box_shape(length, thick, 0) : box_shape(length, 6 * h, thick);
  FloBodyId plank = add_solid(world, FLO_BODY_DYNAMIC, shape, pose, 0.8);
  advance_case(world, 1.5);
  const FloBodyState end = state_of(world, plank);
  double along[3];
  quat_rotate(end.pose.rotation, (const double[3]){1, 0, 0}, along);
  double tilt = asin(fmax(-1, fmin(1, along[s->dim - 1])));
  double way = distance(end.pose.position, pose.position) / h, end_way = way + 12 * fabs(tilt);
  flo_world_destroy(world);
  judge(inside > 0 ? end_way < 0.1 : way > 5,
        "%s, plank with its middle %.1f spacings %s the edge %s: moves %.4f spacings in 1.5 s, tilts by %.3f "
        "deg",
        setting_text(s), fabs(inside), inside > 0 ? "inside" : "outside", inside > 0 ? "stays" : "tips", way,
        tilt * 180 / TEST_PI);
}

static void planks_over_an_edge(void **state) {
  static const double steps[] = {0, 1e-3};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 8; ++k) {
    const Setting setting = {contact_methods[k / 8], 2 + k / 4 % 2, SPACING, steps[k / 2 % 2]};
    check_plank(&setting, k % 2 ? -0.4 : 0.4);
  }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(leaning_plates),
      CASES(planks_over_an_edge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
