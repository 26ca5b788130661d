// Bodies without fluid: what the tests of contacts and friction share. A test judges many cases. It prints
// one line for each, goes on after a case that fails, and fails at its end if any did. With the environment
// variable FLOTSAM_FULL set to 1, tests add finer spacings, more sizes and longer runs.
#ifndef FLO_TEST_DRY_H
#define FLO_TEST_DRY_H

#include "physics.h"

#include "base/vecmath.h"
#include "support/random.h"

#define GRAVITY 9.81

static const char *const methods[] = {"monolithic", "direct-forcing"};
enum { N_METHODS = sizeof methods / sizeof *methods };
// Methods with contacts between bodies.
static const char *const contact_methods[] = {"monolithic", "direct-forcing", "constraint", "elastic",
                                              "unified"};
enum { N_CONTACT_METHODS = sizeof contact_methods / sizeof *contact_methods };

// ---- Cases ----

static int n_cases, n_bad; // of the test that runs

// Prints a case with its verdict, and counts it.
__attribute__((format(printf, 2, 3))) static inline void judge(bool is_good, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  print_message("%s %s\n", is_good ? "ok " : "BAD", text);
  ++n_cases, n_bad += !is_good;
}

static inline int begin_cases(void **state) {
  (void)state;
  n_cases = n_bad = 0;
  return 0;
}

static inline void end_cases(void) {
  assert_true(n_cases > 0);
  if (n_bad) fail_msg("%d of %d cases are bad", n_bad, n_cases);
}

#define CASES(test) cmocka_unit_test_setup(test, begin_cases)

// ---- Worlds ----

typedef struct Setting {
  const char *method;
  int dim;
  double spacing; // [m]
  double dt;      // [s]; 0: as the world chooses
} Setting;

// "monolithic, 3D, 5 mm, step auto". The text lives until the next call.
static inline const char *setting_text(const Setting *s) {
  static char text[96];
  int n =
      snprintf(text, sizeof text, "%-14s %dD, spacing %5.4g mm, step ", s->method, s->dim, 1e3 * s->spacing);
  if (s->dt > 0)
    snprintf(text + n, sizeof text - (size_t)n, "%g ms", 1e3 * s->dt);
  else
    snprintf(text + n, sizeof text - (size_t)n, "auto");
  return text;
}

static inline FloWorld *dry_world(const Setting *s, double gx, double gy, double gz) {
  FloWorldDef def = flo_default_world_def();
  def.method = s->method, def.dim = s->dim, def.spacing = s->spacing, def.time_step = s->dt;
  def.threads = 1;
  vec_set(def.gravity, gx, gy, gz);
  return make_world(&def);
}

// Gravity along the last axis.
static inline FloWorld *heavy_world(const Setting *s) {
  return dry_world(s, 0, s->dim == 2 ? -GRAVITY : 0, s->dim == 3 ? -GRAVITY : 0);
}

static inline FloBodyDef solid_def(FloBodyKind kind, FloShape shape, FloPose pose, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.kind = kind, def.shape = shape, def.pose = pose, def.friction = friction, def.density = 1000;
  def.averages_force = kind == FLO_BODY_STATIC;
  return def;
}

static inline FloBodyId add_body(FloWorld *world, FloBodyDef def) {
  FloError error;
  FloBodyId id;
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

static inline FloBodyId add_solid(FloWorld *world, FloBodyKind kind, FloShape shape, FloPose pose,
                                  double friction) {
  return add_body(world, solid_def(kind, shape, pose, friction));
}

static inline FloShape box_shape(double x, double y, double z) {
  return (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
}

static inline FloShape ball_shape(double radius) {
  return (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = radius};
}

// Along its own z axis.
static inline FloShape cylinder_shape(double radius, double length) {
  return (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = radius, .size = {length, 0, 0}};
}

// A static floor of extent x (by y), four spacings thick. Its top is at height 0 of the last axis.
static inline FloBodyId add_floor(FloWorld *world, const Setting *s, double x, double y, double friction) {
  double thick = 4 * s->spacing;
  bool is_flat = s->dim == 2;
  return add_solid(world, FLO_BODY_STATIC, is_flat ? box_shape(x, thick, 0) : box_shape(x, y, thick),
                   is_flat ? pose_at(0, -thick / 2, 0) : pose_at(0, 0, -thick / 2), friction);
}

// A world that cannot go on is a bad case by itself.
static inline bool advance_case(FloWorld *world, double time) {
  FloError error;
  if (flo_world_advance(world, time, NULL, &error) == FLO_OK) return true;
  judge(false, "%s", error.text);
  return false;
}

// The larger one. Unlike fmax it keeps values that are not numbers, so that no case passes with them.
static inline double larger(double a, double b) { return isnan(a) || a >= b ? a : b; }

static inline double distance(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(a, b, d);
  return vec_length(d);
}

// A random rotation of the third dimension, or of the plane.
static inline void random_rotation(Random *random, int dim, double q[4]) {
  double axis[3] = {random_between(random, -1, 1), random_between(random, -1, 1),
                    random_between(random, 0.1, 1)};
  if (dim == 2) axis[0] = axis[1] = 0;
  quat_from_axis_angle(axis, random_between(random, 0, 2 * TEST_PI), q);
}

#endif
