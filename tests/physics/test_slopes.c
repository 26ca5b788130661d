// Bodies on slopes close to the angle of friction. With a slope of 0.98 of the friction coefficient they
// stay. With 1.02 of it they slide with g (sin - mu cos). Slopes are tilted floors, in several directions,
// and level floors under tilted gravity.
#include "dry.h"

#define FRICTION 0.5
#define NEARNESS 0.02 // difference of the slope to the friction coefficient, as a share
#define SPACING  0.02

typedef enum Tilt { TILTED_GRAVITY, TILTED_FLOOR, OBLIQUE_FLOOR, N_TILTS } Tilt;
static const char *const tilt_names[] = {"tilted gravity", "tilted floor", "oblique floor"};

typedef enum What { BOX, CYLINDER, ROUNDED_BOX, N_WHATS } What;
static const char *const what_names[] = {"box", "upright cylinder", "rounded box"};

typedef struct Case {
  Setting setting;
  What what;
  Tilt tilt;
  int n_spacings; // of an edge
  double slope;   // tangent of its angle
} Case;

typedef struct Slope {
  FloWorld *world;
  FloBodyId body;
  double down[3], up[3]; // along the slope, and its normal
  double start[3];
} Slope;

// ---- Making ----

static FloShape shape_of(const Case *c) {
  double edge = c->n_spacings * c->setting.spacing;
  FloShape shape = box_shape(edge, edge, c->setting.dim == 2 ? 0 : edge);
  if (c->what == ROUNDED_BOX) shape.radius = edge / 5;
  return c->what == CYLINDER ? cylinder_shape(edge / 2, edge) : shape;
}

// Turns the level world into the slope: about z in the plane, else about an axis that is level.
static void tilt_of(const Case *c, double q[4]) {
  double angle = atan(c->slope);
  if (c->setting.dim == 2)
    quat_from_axis_angle((const double[3]){0, 0, 1}, -angle, q);
  else
    quat_from_axis_angle((const double[3]){c->tilt == OBLIQUE_FLOOR ? 0.6 : 0, 1, 0}, angle, q);
}

static FloPose turned(const double q[4], double x, double y, double z) {
  FloPose pose = pose_at(0, 0, 0);
  quat_rotate(q, (const double[3]){x, y, z}, pose.position);
  quat_copy(q, pose.rotation);
  return pose;
}

// The body begins at an odd fraction of a spacing, so that its samples and the floor's do not match.
static void add_slope_bodies(const Case *c, const double q[4], Slope *slope) {
  double h = c->setting.spacing, half = c->n_spacings * h / 2, x = 0.37 * h, thick = 4 * h;
  bool is_flat = c->setting.dim == 2;
  FloShape floor = is_flat ? box_shape(1.2, thick, 0) : box_shape(1.2, 1.2, thick);
  add_solid(slope->world, FLO_BODY_STATIC, floor,
            is_flat ? turned(q, 0, -thick / 2, 0) : turned(q, 0, 0, -thick / 2), FRICTION);
  FloPose pose = is_flat ? turned(q, x, half, 0) : turned(q, x, 0.23 * h, half);
  slope->body = add_solid(slope->world, FLO_BODY_DYNAMIC, shape_of(c), pose, FRICTION);
  vec_copy(pose.position, slope->start);
}

static Slope make_slope(const Case *c) {
  double tilt[4], level[4] = {0, 0, 0, 1}, gravity[3] = {0};
  const int last = c->setting.dim - 1;
  Slope slope = {0};
  tilt_of(c, tilt);
  gravity[last] = -GRAVITY;
  if (c->tilt == TILTED_GRAVITY) quat_rotate_back(tilt, gravity, gravity);
  const double *floor = c->tilt == TILTED_GRAVITY ? level : tilt;
  quat_rotate(floor, (const double[3]){0, last == 1, last == 2}, slope.up);
  vec_add_scaled(gravity, slope.up, -vec_dot(gravity, slope.up), slope.down);
  vec_scale(slope.down, 1 / vec_length(slope.down), slope.down);
  slope.world = dry_world(&c->setting, gravity[0], gravity[1], gravity[2]);
  add_slope_bodies(c, floor, &slope);
  return slope;
}

// How far the body has come: along the floor in any direction, and how deep it has sunk [m].
typedef struct Way {
  double slid, sunk, sideways;
} Way;

static Way way_of(const Slope *slope) {
  double way[3], along[3];
  vec_sub(state_of(slope->world, slope->body).pose.position, slope->start, way);
  double sunk = -vec_dot(way, slope->up);
  vec_add_scaled(way, slope->up, sunk, along);
  vec_add_scaled(along, slope->down, -vec_dot(along, slope->down), way);
  return (Way){vec_length(along), sunk, vec_length(way)};
}

static double speed_of(const Slope *slope) {
  return vec_dot(state_of(slope->world, slope->body).velocity, slope->down);
}

// ---- Judging ----

// How long a body is watched. Steps in space cost more, so without FLOTSAM_FULL bodies are watched more
// briefly there.
static double seconds_of_rest(const Case *c) {
  bool is_typical = c->what == BOX && c->tilt == TILTED_FLOOR && c->n_spacings == 8;
  if (c->setting.dim == 2) return is_full() ? 25 : 5;
  return !is_full() ? 2 : is_typical ? 25 : 5;
}

static const char *case_text(const Case *c) {
  static char text[192];
  snprintf(text, sizeof text, "%s, %s of %2d, %s, slope %.4f", setting_text(&c->setting), what_names[c->what],
           c->n_spacings, tilt_names[c->tilt], c->slope);
  return text;
}

static void check_rest(const Case *c) {
  Slope slope = make_slope(c);
  double end = seconds_of_rest(c), h = c->setting.spacing, creep = INFINITY;
  Way early = {INFINITY, INFINITY, 0};
  if (advance_case(slope.world, 1)) early = way_of(&slope);
  if (early.slid < h && advance_case(slope.world, end))
    creep = (way_of(&slope).slid - early.slid) / (end - 1);
  flo_world_destroy(slope.world);
  judge(early.slid < 0.02 * h && fabs(early.sunk) < 0.1 * h && fabs(creep) <= 1e-5,
        "%s: slides %.4f and sinks %.4f spacings in 1 s, then creeps %.2g m/s", case_text(c), early.slid / h,
        early.sunk / h, creep);
}

static void check_slide(const Case *c) {
  Slope slope = make_slope(c);
  double angle = atan(c->slope), expected = GRAVITY * (sin(angle) - FRICTION * cos(angle));
  double acceleration = NAN;
  Way way = {1, 0, 1};
  if (advance_case(slope.world, 0.5)) {
    double early = speed_of(&slope);
    advance_case(slope.world, 1.5);
    acceleration = speed_of(&slope) - early, way = way_of(&slope);
  }
  flo_world_destroy(slope.world);
  judge(fabs(acceleration / expected - 1) < 0.05 && way.sideways < 0.02 * way.slid,
        "%s: accelerates %.5f m/s2 (theory %.5f: %+.1f %%), %.2g of its way sideways, sinks %.4f spacings",
        case_text(c), acceleration, expected, 100 * (acceleration / expected - 1), way.sideways / way.slid,
        way.sunk / c->setting.spacing);
}

// ---- Cases ----

static void check_sizes(const Setting *setting, What what, Tilt tilt, double sign,
                        void (*check)(const Case *)) {
  static const int sizes[] = {6, 8, 16};
  int n_sizes = is_full() ? 3 : setting->dim == 2 || what == ROUNDED_BOX ? 2 : 1;
  for (int k = 0; k < n_sizes; ++k) {
    // A rounded box of 6 stands on three spacings of flat face. The grid of distances that it is made of
    // knows them to half a spacing, and it tips over a little.
    if (what == ROUNDED_BOX && k == 0) continue;
    const Case c = {*setting, what, tilt, sizes[k], FRICTION * (1 + sign * NEARNESS)};
    check(&c);
  }
}

static void check_plane(double sign, void (*check)(const Case *)) {
  for (int k = 0; k < 2 * N_CONTACT_METHODS; ++k) {
    const Setting setting = {contact_methods[k / 2], 2, SPACING, k % 2 ? 1e-3 : 0};
    if (is_full() || k % 2) check_sizes(&setting, BOX, TILTED_GRAVITY, sign, check);
    if (is_full() || k % 2 == 0) check_sizes(&setting, BOX, TILTED_FLOOR, sign, check);
  }
  end_cases();
}

static void check_space(double sign, void (*check)(const Case *)) {
  for (int k = 0; k < 2 * N_CONTACT_METHODS; ++k) {
    const Setting setting = {contact_methods[k / 2], 3, SPACING, k % 2 ? 2e-3 : 0};
    if (k % 2 && !is_full()) continue;
    for (int tilt = 0; tilt < N_TILTS; ++tilt)
      for (int what = 0; what < N_WHATS; ++what)
        if (is_full() || tilt == OBLIQUE_FLOOR) check_sizes(&setting, (What)what, (Tilt)tilt, sign, check);
  }
  end_cases();
}

static void boxes_rest_in_the_plane(void **state) {
  (void)state;
  check_plane(-1, check_rest);
}

static void boxes_slide_in_the_plane(void **state) {
  (void)state;
  check_plane(1, check_slide);
}

static void bodies_rest_in_space(void **state) {
  (void)state;
  check_space(-1, check_rest);
}

static void bodies_slide_in_space(void **state) {
  (void)state;
  check_space(1, check_slide);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(boxes_rest_in_the_plane),
      CASES(boxes_slide_in_the_plane),
      CASES(bodies_rest_in_space),
      CASES(bodies_slide_in_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
