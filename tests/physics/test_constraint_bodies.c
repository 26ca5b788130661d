// Bodies in fluid with `constraint`: they are dropped and float as deep as they weigh, and a free system of
// fluid, bodies and a joint keeps its momenta. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

// ---- Floats ----

typedef struct Float {
  int dim;
  double spacing; // [m]
  FloShapeKind kind;
  int across;     // in spacings
  double density; // [kg/m^3]
} Float;

typedef struct Bath {
  FloWorld *world;
  FloBodyId body;
  double width, across, depth; // of basin, body and water [m]
} Bath;

static FloShape float_shape(const Float *f, double across) {
  FloShape shape = {.kind = f->kind};
  if (f->kind == FLO_SHAPE_SPHERE)
    shape.radius = across / 2;
  else
    vec_set(shape.size, across, across, f->dim == 3 ? across : 0);
  return shape;
}

static FloPose upright(int dim, double width, double height) {
  return dim == 3 ? pose_at(width / 2, width / 2, height) : pose_at(width / 2, height, 0);
}

// A basin that repeats sideways. Boxes of some densities float on an edge and would roll over: they are kept
// from turning.
static Bath make_bath(const Float *f) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  const double s = f->spacing, width = (f->across + (f->dim == 2 ? 24 : 12)) * s, across = f->across * s,
               depth = (f->across + 5) * s;
  const int up = f->dim - 1;
  Bath bath = {.width = width, .across = across, .depth = depth};
  def.dim = f->dim, def.method = "constraint", def.spacing = s, def.threads = 1, def.settle = 0.3;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[up] = -GRAVITY;
  for (int axis = 0; axis < up; ++axis) def.periodic[axis] = true, def.domain_high[axis] = width;
  bath.world = make_world(&def);
  FloBodyDef floor = flo_default_body_def(), body = floor;
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {width, f->dim == 3 ? width : 4 * s, 4 * s}};
  if (f->dim == 2) floor.shape.size[2] = 0;
  floor.pose = upright(f->dim, width, -2 * s);
  must(flo_world_add_body(bath.world, &floor, NULL, &error), &error);
  body.kind = FLO_BODY_DYNAMIC, body.density = f->density, body.shape = float_shape(f, across);
  body.pose = upright(f->dim, width, depth + 0.55 * across);
  for (int axis = 0; axis < 3; ++axis) body.turn_locks[axis] = f->kind == FLO_SHAPE_BOX;
  must(flo_world_add_body(bath.world, &body, &bath.body, &error), &error);
  add_block(bath.world, add_water(bath.world, DENSITY, 1e-6), 0, width, f->dim == 3 ? width : depth,
            f->dim == 3 ? depth : 0);
  return bath;
}

// Volume of the body below a level that is h above its lowest point.
static double volume_below(const Float *f, double across, double h) {
  const double r = across / 2;
  h = fmin(fmax(h, 0), across);
  return f->kind == FLO_SHAPE_SPHERE ? TEST_PI * h * h * (3 * r - h) / 3 : pow(across, f->dim - 1) * h;
}

// Particles that splashed onto the top of a box and stay there: a load.
static size_t count_on_deck(const Bath *bath, const Float *f) {
  const double *x[3] = {doubles(bath->world, "x"), doubles(bath->world, "y"), doubles(bath->world, "z")};
  const FloBodyState state = state_of(bath->world, bath->body);
  const double *centre = state.pose.position;
  size_t n = 0;
  for (size_t i = 0; f->kind == FLO_SHAPE_BOX && i < flo_world_count(bath->world, FLO_SET_FLUID); ++i) {
    bool is_above = x[f->dim - 1][i] > centre[f->dim - 1] + bath->across / 2;
    for (int axis = 0; axis < f->dim - 1; ++axis)
      is_above = is_above && fabs(x[axis][i] - centre[axis]) < bath->across / 2;
    n += is_above;
  }
  return n;
}

// The volume under water, if water and the part of the body below the level fill the basin, over the volume
// that carries the body and the water on it.
static double submerged_ratio(const Bath *bath, const Float *f) {
  const size_t n_deck = count_on_deck(bath, f);
  const double particle = pow(f->spacing, f->dim), area = pow(bath->width, f->dim - 1),
               volume = (double)(flo_world_count(bath->world, FLO_SET_FLUID) - n_deck) * particle;
  const double carrying =
      volume_below(f, bath->across, bath->across) * f->density / DENSITY + (double)n_deck * particle;
  const double bottom = state_of(bath->world, bath->body).pose.position[f->dim - 1] - bath->across / 2;
  double low = 0, high = 2 * volume / area;
  for (int k = 0; k < 60; ++k) {
    const double level = (low + high) / 2;
    *(area * level - volume_below(f, bath->across, level - bottom) > volume ? &high : &low) = level;
  }
  return volume_below(f, bath->across, low - bottom) / carrying;
}

static void check_float(const Float *f, double limit) {
  const Bath bath = make_bath(f);
  const double since = f->dim == 2 ? 4 : 2;
  double sum = 0;
  advance(bath.world, since);
  for (int k = 1; k <= 50; ++k) advance(bath.world, since + 0.02 * k), sum += submerged_ratio(&bath, f) / 50;
  const size_t penetrations = flo_world_measure(bath.world).penetrations, n_deck = count_on_deck(&bath, f);
  print_message("%dD, %g mm, %s of %g kg/m3, %d across: draught off by %+.2f %%, %zu particles on it\n",
                f->dim, 1e3 * f->spacing, f->kind == FLO_SHAPE_SPHERE ? "sphere" : "box", f->density,
                f->across, 100 * (sum - 1), n_deck);
  flo_world_destroy(bath.world);
  assert_true(fabs(sum - 1) < limit);
  assert_int_equal(penetrations, 0);
}

static void bodies_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  static const Float floats[] = {{2, 0.02, FLO_SHAPE_BOX, 12, 250},   {2, 0.02, FLO_SHAPE_BOX, 12, 500},
                                 {2, 0.02, FLO_SHAPE_BOX, 12, 750},   {2, 0.01, FLO_SHAPE_BOX, 12, 500},
                                 {2, 0.02, FLO_SHAPE_BOX, 20, 500},   {3, 0.02, FLO_SHAPE_BOX, 12, 500},
                                 {3, 0.02, FLO_SHAPE_BOX, 12, 250},   {3, 0.02, FLO_SHAPE_BOX, 12, 750},
                                 {3, 0.02, FLO_SHAPE_SPHERE, 12, 500}};
  const size_t n_short = 6; // the others take minutes
  for (size_t k = 0; k < (getenv("FLOTSAM_FULL") ? sizeof floats / sizeof *floats : n_short); ++k)
    check_float(&floats[k], floats[k].dim == 2 ? 0.03 : 0.02);
}

// ---- A free system ----

static FloBodyId add_brick(FloWorld *world, int dim, double x, double y, double density) {
  FloBodyDef def = flo_default_body_def();
  FloBodyId id;
  FloError error;
  def.kind = FLO_BODY_DYNAMIC, def.density = density;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.1, 0.2, dim == 3 ? 0.1 : 0}};
  def.pose = pose_at(x, y, 0);
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

static FloWorld *make_collision(int dim, double spacing) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = dim, def.method = "constraint", def.spacing = spacing, def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  FloJointDef joint = flo_default_joint_def();
  FloJointId id;
  joint.kind = FLO_JOINT_HINGE, joint.body = add_brick(world, dim, 0.4, 0, 600);
  joint.to = add_brick(world, dim, 0.4, 0.23, 2500);
  vec_set(joint.at, 0.4, 0.115, 0), vec_set(joint.axis, 0, 0, 1);
  must(flo_world_add_joint(world, &joint, &id, &error), &error);
  FloFluidDef blob = flo_default_fluid_def();
  blob.material = add_water(world, DENSITY, 1e-6);
  blob.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.1};
  blob.pose = pose_at(0.2, 0.05, 0), blob.velocity[0] = 1, blob.angular_velocity[2] = 3;
  must(flo_world_add_fluid(world, &blob, NULL, &error), &error);
  return world;
}

static double change_of(const double *a, const double *b, double scale) {
  double change = 0;
  for (int axis = 0; axis < 3; ++axis) change += pow(b[axis] - a[axis], 2);
  return sqrt(change) / scale;
}

static void check_collision(int dim, double spacing) {
  FloWorld *world = make_collision(dim, spacing);
  const FloMeasurements start = flo_world_measure(world);
  advance(world, 0.6);
  const FloMeasurements end = flo_world_measure(world);
  const double linear = change_of(start.momentum, end.momentum, vec_length(start.momentum)),
               angular = change_of(start.angular_momentum, end.angular_momentum,
                                   vec_length(start.angular_momentum));
  print_message("%dD, %g mm: a blob hits two joined bricks: momentum changes by %.1e, angular by %.1e\n", dim,
                1e3 * spacing, linear, angular);
  flo_world_destroy(world);
  assert_true(linear <= 1e-6 && angular <= 1e-6);
}

static void a_free_system_keeps_its_momenta(void **unused) {
  (void)unused;
  check_collision(2, 0.02), check_collision(2, 0.01), check_collision(3, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_free_system_keeps_its_momenta),
      cmocka_unit_test(bodies_float_as_deep_as_they_weigh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
