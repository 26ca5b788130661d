// Semicircular arches of dry stones. Milankovitch (1907): an arch of very many stones stands by its own
// weight if its thickness is at least 0.1075 of its mean radius. With few stones the limit is lower, because
// the line of thrust has to pass through the joints only. The limit is computed here for the stones that are
// built, and arches 12 % thicker and 12 % thinner must stand and fall.
#include "dry.h"

#define FRICTION 0.8
#define RADIUS   1.0 // of the centre line [m]
enum { MAX_STONES = 21 };

// ---- The limit ----

// Half an arch cut at its joints. Angles are measured from the crown. For the part between the crown and each
// joint: weight, and its moment about the middle of the span.
typedef struct Joints {
  double inner, outer; // radii
  int count;
  double angle[MAX_STONES], weight[MAX_STONES], moment[MAX_STONES];
} Joints;

// Adds the joint below a stone, or below half a keystone, that spans angles a to b. Stones have straight
// sides, so each is the difference of two triangles with a corner in the middle of the arch.
static void add_joint(Joints *joints, double a, double b) {
  int k = joints->count++;
  bool is_keystone = k == 0;
  double ro = joints->outer, ri = joints->inner, area = (is_keystone ? sin(b) * cos(b) : sin(b - a)) / 2;
  double ends = sin(b) + (is_keystone ? 0 : sin(a)); // of the outer side, across the span
  joints->angle[k] = b;
  joints->weight[k] = (k ? joints->weight[k - 1] : 0) + area * (ro * ro - ri * ri);
  joints->moment[k] = (k ? joints->moment[k - 1] : 0) + area * (pow(ro, 3) - pow(ri, 3)) * ends / 3;
}

static Joints joints_of(int n_stones, double thickness) {
  Joints joints = {.inner = RADIUS - thickness / 2, .outer = RADIUS + thickness / 2};
  double wide = TEST_PI / n_stones;
  for (int k = 0; k <= n_stones / 2; ++k) add_joint(&joints, k ? (k - 0.5) * wide : 0, (k + 0.5) * wide);
  return joints;
}

// Room that a horizontal thrust at the crown leaves for its own moment, so that the resultant passes between
// the two edges of every joint. Negative: no moment will do.
static double room_of(const Joints *joints, double thrust) {
  double most = INFINITY, least = -INFINITY;
  for (int k = 0; k < joints->count; ++k) {
    double lever = thrust * cos(joints->angle[k]) + joints->weight[k] * sin(joints->angle[k]);
    most = fmin(most, joints->outer * lever - joints->moment[k]);
    least = fmax(least, joints->inner * lever - joints->moment[k]);
  }
  return most - least;
}

// The room is a concave function of the thrust.
static bool stands_in_theory(int n_stones, double thickness) {
  const Joints joints = joints_of(n_stones, thickness);
  double low = 0, high = 2 * joints.weight[joints.count - 1];
  for (int k = 0; k < 100; ++k) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (room_of(&joints, a) < room_of(&joints, b))
      low = a;
    else
      high = b;
  }
  return room_of(&joints, low) >= 0;
}

static double least_thickness(int n_stones) {
  double falls = 0.01 * RADIUS, stands = 0.3 * RADIUS;
  for (int k = 0; k < 40; ++k) {
    double middle = (falls + stands) / 2;
    if (stands_in_theory(n_stones, middle))
      stands = middle;
    else
      falls = middle;
  }
  return stands;
}

// ---- The arch ----

// The middle stone is the keystone. The corners of a stone are relative to its centre of mass.
static FloBodyId add_stone(FloWorld *world, double thickness, double from, double to) {
  double inner = RADIUS - thickness / 2, outer = RADIUS + thickness / 2, middle = (from + to) / 2;
  double centre =
      cos((to - from) / 2) * 2 / 3 * (pow(outer, 3) - pow(inner, 3)) / (outer * outer - inner * inner);
  const double at[2] = {centre * cos(middle), centre * sin(middle)};
  const double corners[4][2] = {{inner, from}, {outer, from}, {outer, to}, {inner, to}};
  double points[8];
  for (int k = 0; k < 4; ++k) {
    points[2 * k] = corners[k][0] * cos(corners[k][1]) - at[0];
    points[2 * k + 1] = corners[k][0] * sin(corners[k][1]) - at[1];
  }
  FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 4};
  return add_solid(world, FLO_BODY_DYNAMIC, shape, pose_at(at[0], at[1], 0), FRICTION);
}

static FloWorld *make_arch(const Setting *s, int n_stones, double thickness, FloBodyId *keystone) {
  FloWorld *world = heavy_world(s);
  add_floor(world, s, 2.6 * RADIUS, 0, FRICTION);
  for (int k = 0; k < n_stones; ++k) {
    FloBodyId id = add_stone(world, thickness, k * TEST_PI / n_stones, (k + 1) * TEST_PI / n_stones);
    if (k == n_stones / 2) *keystone = id;
  }
  return world;
}

// How far the keystone moves until `time`, in spacings. An arch that has fallen is not looked at any longer.
static double way_of_keystone(FloWorld *world, FloBodyId keystone, const double start[3], const Setting *s,
                              double until) {
  double way = distance(state_of(world, keystone).pose.position, start);
  for (double time = flo_world_time(world); way < RADIUS / 10 && time < until - 1e-9;) {
    if (!advance_case(world, time += 0.1)) return INFINITY;
    way = larger(way, distance(state_of(world, keystone).pose.position, start));
  }
  return way / s->spacing;
}

// In the first second the keystone moves by less than a tenth of a spacing. In the next two it moves no
// faster.
static void check_standing(const Setting *s, int n_stones, double limit) {
  FloBodyId keystone;
  FloWorld *world = make_arch(s, n_stones, 1.12 * limit, &keystone);
  const FloBodyState start = state_of(world, keystone);
  double end = is_full() ? 3 : 1, early = way_of_keystone(world, keystone, start.pose.position, s, 1);
  double late = way_of_keystone(world, keystone, start.pose.position, s, end);
  flo_world_destroy(world);
  judge(early < 0.1 && late < 0.3,
        "%s, %2d stones, t/R %.4f (limit %.4f) stands: keystone moves %.4f spacings in 1 s, %.4f in %g s",
        setting_text(s), n_stones, 1.12 * limit / RADIUS, limit / RADIUS, early, late, end);
}

// The keystone drops by more than a tenth of the radius within three seconds.
static void check_falling(const Setting *s, int n_stones, double limit) {
  FloBodyId keystone;
  FloWorld *world = make_arch(s, n_stones, 0.88 * limit, &keystone);
  double start = state_of(world, keystone).pose.position[1], drop = 0, time = 0;
  while (time < 3 && drop < RADIUS / 10 && advance_case(world, time += 0.05))
    drop = start - state_of(world, keystone).pose.position[1];
  flo_world_destroy(world);
  judge(drop >= RADIUS / 10,
        "%s, %2d stones, t/R %.4f (limit %.4f) falls: keystone drops by R/%.3g in %.2f s", setting_text(s),
        n_stones, 0.88 * limit / RADIUS, limit / RADIUS, RADIUS / drop, time);
}

// ---- Cases ----

// Spacings in the radius, and numbers of stones.
static const double fineness[] = {50, 100, 200};
static const int counts[] = {9, 15, 21};

// Without FLOTSAM_FULL only some arches are built: coarse ones, and finer ones of 15 stones.
static bool is_built(int method, int fine, int count) {
  if (is_full()) return true;
  return count == 1 ? fine == method + 1 : fine == 0 && method == 0;
}

static void check_arches(void (*check)(const Setting *, int, double)) {
  for (int k = 0; k < N_CONTACT_METHODS * 9; ++k) {
    int fine = k / 3 % 3, count = k % 3;
    const Setting setting = {contact_methods[k / 9], 2, RADIUS / fineness[fine], 0};
    if (is_built(k / 9, fine, count)) check(&setting, counts[count], least_thickness(counts[count]));
  }
  end_cases();
}

static void limit_of_many_stones_is_that_of_milankovitch(void **state) {
  (void)state;
  double limit = least_thickness(2 * MAX_STONES - 1) / RADIUS;
  print_message("limit of t/R: %.4f with 9 stones, %.4f with 15, %.4f with 21, %.4f with 41\n",
                least_thickness(9), least_thickness(15), least_thickness(21), limit);
  assert_true(fabs(limit - 0.1075) < 0.0005);
}

static void thick_arches_stand(void **state) {
  (void)state;
  check_arches(check_standing);
}

static void thin_arches_fall(void **state) {
  (void)state;
  check_arches(check_falling);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit_of_many_stones_is_that_of_milankovitch),
      CASES(thick_arches_stand),
      CASES(thin_arches_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
