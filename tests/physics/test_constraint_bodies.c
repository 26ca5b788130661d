// Bodies in fluid with `constraint`: they are dropped and float as deep as they weigh, and a free system of
// fluid, bodies and a joint keeps its momenta. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

enum { SAMPLES, DISTANCES, FIELD };
static const char *const boundary_names[] = {"samples", "distances", "field"};

static void set_boundary(FloWorld *world, int boundary) {
  FloError error;
  must(flo_world_set_param(world, "boundary", boundary, &error), &error);
}

// ---- Floats ----

typedef struct Float {
  int dim;
  double spacing; // [m]
  FloShapeKind kind;
  int across;     // in spacings
  double density; // [kg/m^3]
  int boundary;
  int width;           // of the basin, in spacings; 0: 24 wider than the body in 2D, 12 in 3D
  bool is_held, is_in; // it is held, or released, in the middle of the water
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
  const double s = f->spacing, across = f->across * s, depth = (f->across + (f->is_in ? 12 : 5)) * s,
               width = (f->width ? f->width : f->across + (f->dim == 2 ? 24 : 12)) * s;
  const int up = f->dim - 1;
  Bath bath = {.width = width, .across = across, .depth = depth};
  def.dim = f->dim, def.method = "constraint", def.spacing = s, def.threads = 1, def.settle = 0.3;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[up] = -GRAVITY;
  for (int axis = 0; axis < up; ++axis) def.periodic[axis] = true, def.domain_high[axis] = width;
  bath.world = make_world(&def);
  set_boundary(bath.world, f->boundary);
  FloBodyDef floor = flo_default_body_def(), body = floor;
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {width, f->dim == 3 ? width : 4 * s, 4 * s}};
  if (f->dim == 2) floor.shape.size[2] = 0;
  floor.pose = upright(f->dim, width, -2 * s);
  must(flo_world_add_body(bath.world, &floor, NULL, &error), &error);
  body.kind = FLO_BODY_DYNAMIC, body.density = f->density, body.shape = float_shape(f, across);
  body.pose = upright(f->dim, width, f->is_in ? depth / 2 : depth + 0.55 * across);
  body.release = f->is_held ? 1e9 : 0;
  for (int axis = 0; axis < 3; ++axis) body.turn_locks[axis] = f->kind == FLO_SHAPE_BOX;
  must(flo_world_add_body(bath.world, &body, &bath.body, &error), &error);
  add_block(bath.world, add_water(bath.world, DENSITY, 1e-6), 0, width, f->dim == 3 ? width : depth,
            f->dim == 3 ? depth : 0);
  return bath;
}

// Volume of the body below a level that is h above its lowest point; area in 2D.
static double volume_below(const Float *f, double across, double h) {
  const double r = across / 2;
  h = fmin(fmax(h, 0), across);
  if (f->kind == FLO_SHAPE_BOX) return pow(across, f->dim - 1) * h;
  if (f->dim == 2) return r * r * acos(1 - h / r) - (r - h) * sqrt(h * (across - h));
  return TEST_PI * h * h * (3 * r - h) / 3;
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

static const char *name_of(const Float *f) { return f->kind == FLO_SHAPE_SPHERE ? "sphere" : "box"; }

// The mean of a second, after it was dropped.
static double find_draught(const Float *f) {
  const Bath bath = make_bath(f);
  const double since = f->dim == 2 ? 4 : 2;
  double sum = 0;
  advance(bath.world, since);
  for (int k = 1; k <= 50; ++k) advance(bath.world, since + 0.02 * k), sum += submerged_ratio(&bath, f) / 50;
  const size_t penetrations = flo_world_measure(bath.world).penetrations, n_deck = count_on_deck(&bath, f);
  print_message("%dD, %g mm, %s, %s of %g kg/m3, %d across: draught off by %+.2f %%, %zu particles on it\n",
                f->dim, 1e3 * f->spacing, boundary_names[f->boundary], name_of(f), f->density, f->across,
                100 * (sum - 1), n_deck);
  flo_world_destroy(bath.world);
  assert_int_equal(penetrations, 0);
  return sum;
}

// In 2D, water freezes into a lattice under a box, which then rests up to a tenth of a spacing too high or
// too low, as the width of the basin has it. The mean over some widths counts, and how many are near it.
static void flat_boxes_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  static const int widths[] = {33, 36, 30, 31, 32, 34, 35, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 48};
  static const double densities[] = {250, 500, 750};
  const int n_widths = is_full() ? (int)(sizeof widths / sizeof *widths) : 2;
  for (int n = is_full() ? 0 : 2; n < (is_full() ? 6 : 4); ++n) {
    double sum = 0;
    int n_off = 0;
    for (int k = 0; k < n_widths; ++k) {
      const Float f = {.dim = 2,
                       .spacing = 0.02,
                       .kind = FLO_SHAPE_BOX,
                       .across = 12,
                       .density = densities[n / 2],
                       .boundary = n % 2 ? FIELD : SAMPLES,
                       .width = widths[k]};
      const double draught = find_draught(&f);
      assert_true(fabs(draught - 1) < (f.boundary == FIELD ? 0.04 : 0.025));
      n_off += fabs(draught - 1) > 0.02;
      sum += draught / n_widths;
    }
    print_message("  mean: %+.2f %%, %d of %d off by more than 2 %%\n", 100 * (sum - 1), n_off, n_widths);
    assert_true(fabs(sum - 1) < (is_full() ? 0.01 : 0.02));
    assert_true(n_off <= n_widths / 6);
  }
}

static void bodies_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  static const Float floats[] = {
      {.dim = 3, .spacing = 0.02, .kind = FLO_SHAPE_BOX, .across = 12, .density = 500},
      {.dim = 2, .spacing = 0.01, .kind = FLO_SHAPE_BOX, .across = 12, .density = 500},
      {.dim = 2, .spacing = 0.02, .kind = FLO_SHAPE_BOX, .across = 20, .density = 500},
      {.dim = 2, .spacing = 0.02, .kind = FLO_SHAPE_SPHERE, .across = 12, .density = 500},
      {.dim = 3, .spacing = 0.02, .kind = FLO_SHAPE_BOX, .across = 12, .density = 250},
      {.dim = 3, .spacing = 0.02, .kind = FLO_SHAPE_BOX, .across = 12, .density = 750},
      {.dim = 3, .spacing = 0.02, .kind = FLO_SHAPE_SPHERE, .across = 12, .density = 500}};
  const size_t n_short = 1; // the others take minutes
  for (size_t k = 0; k < (is_full() ? sizeof floats / sizeof *floats : n_short); ++k)
    for (int boundary = is_full() ? SAMPLES : FIELD; boundary <= FIELD; boundary += FIELD) {
      Float f = floats[k];
      f.boundary = boundary;
      // Discs are off by up to 3.7 % in 2D, as the width of the basin has it. With the field spheres are off
      // by 2.6 %.
      const bool is_round = f.kind == FLO_SHAPE_SPHERE;
      const double limit = is_round && f.dim == 2 ? 0.045 : is_round && boundary == FIELD ? 0.03 : 0.02;
      assert_true(fabs(find_draught(&f) - 1) < limit);
    }
}

// ---- Bodies in the water ----

// A body that is held feels the weight of the water that it displaces.
static void check_held(int dim, FloShapeKind kind, double spacing, int boundary) {
  const Float f = {.dim = dim,
                   .spacing = spacing,
                   .kind = kind,
                   .across = 8,
                   .density = 1000,
                   .boundary = boundary,
                   .is_in = true,
                   .is_held = true};
  const Bath bath = make_bath(&f);
  const double volume = volume_below(&f, bath.across, bath.across);
  advance(bath.world, 1);
  flo_world_restart_averages(bath.world);
  advance(bath.world, 2);
  const double lift = state_of(bath.world, bath.body).mean_force[dim - 1] / (DENSITY * GRAVITY * volume);
  print_message("%dD, %g mm, %s: a held %s is lifted by %.4f of the displaced weight\n", dim, 1e3 * spacing,
                boundary_names[boundary], name_of(&f), lift);
  flo_world_destroy(bath.world);
  assert_true(fabs(lift - 1) < 0.06);
}

// A body as heavy as water stays where it is.
static void check_neutral(int dim, int boundary) {
  const Float f = {.dim = dim,
                   .spacing = 0.02,
                   .kind = FLO_SHAPE_BOX,
                   .across = 8,
                   .density = 1000,
                   .boundary = boundary,
                   .is_in = true};
  const Bath bath = make_bath(&f);
  advance(bath.world, 0);
  const double start = state_of(bath.world, bath.body).pose.position[dim - 1];
  double farthest = 0, way = 0;
  for (int k = 1; k <= 20; ++k) {
    advance(bath.world, 0.1 * k);
    way = (state_of(bath.world, bath.body).pose.position[dim - 1] - start) / f.spacing;
    farthest = fmax(farthest, fabs(way));
  }
  print_message("%dD, %s: a box as heavy as water drifts by at most %.2f spacings in 2 s, %+.2f in the end\n",
                dim, boundary_names[boundary], farthest, way);
  flo_world_destroy(bath.world);
  assert_true(farthest < 0.8);
}

static void bodies_in_the_water_are_lifted_by_its_weight(void **unused) {
  (void)unused;
  for (int boundary = SAMPLES; boundary <= FIELD; boundary += FIELD) {
    check_held(2, FLO_SHAPE_BOX, 0.02, boundary), check_held(2, FLO_SHAPE_SPHERE, 0.02, boundary);
    check_neutral(2, boundary);
    if (!is_full()) continue;
    check_held(2, FLO_SHAPE_BOX, 0.01, boundary), check_held(3, FLO_SHAPE_BOX, 0.02, boundary);
    check_held(3, FLO_SHAPE_SPHERE, 0.02, boundary), check_neutral(3, boundary);
  }
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

static FloWorld *make_collision(int dim, double spacing, int boundary) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = dim, def.method = "constraint", def.spacing = spacing, def.threads = 1;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = make_world(&def);
  set_boundary(world, boundary);
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

static void check_collision(int dim, double spacing, int boundary) {
  FloWorld *world = make_collision(dim, spacing, boundary);
  const FloMeasurements start = flo_world_measure(world);
  advance(world, 0.6);
  const FloMeasurements end = flo_world_measure(world);
  const double linear = change_of(start.momentum, end.momentum, vec_length(start.momentum)),
               angular = change_of(start.angular_momentum, end.angular_momentum,
                                   vec_length(start.angular_momentum));
  print_message("%dD, %g mm, %s: a blob hits two joined bricks: momentum changes by %.1e, angular by %.1e\n",
                dim, 1e3 * spacing, boundary_names[boundary], linear, angular);
  flo_world_destroy(world);
  assert_true(linear <= 1e-6 && angular <= 1e-6);
}

static void a_free_system_keeps_its_momenta(void **unused) {
  (void)unused;
  for (int boundary = SAMPLES; boundary <= FIELD; ++boundary)
    check_collision(2, 0.02, boundary), check_collision(2, 0.01, boundary),
        check_collision(3, 0.02, boundary);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_free_system_keeps_its_momenta),
      cmocka_unit_test(bodies_in_the_water_are_lifted_by_its_weight),
      cmocka_unit_test(flat_boxes_float_as_deep_as_they_weigh),
      cmocka_unit_test(bodies_float_as_deep_as_they_weigh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
