// The boundary field of `constraint`: still water beside floors, side walls, tilted walls, and a piston, for
// both ways in which fluid can see solids; and blocks of water that hit solids. Every case prints what it
// measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

enum { SAMPLES, DISTANCES, FIELD };
static const char *const boundary_names[] = {"samples", "distances", "field"};

static void set(FloWorld *world, const char *name, double value) {
  FloError error;
  must(flo_world_set_param(world, name, value, &error), &error);
}

static FloWorld *make_empty(int dim, double spacing, double gravity, int boundary) {
  FloWorldDef def = flo_default_world_def();
  def.dim = dim, def.method = "constraint", def.spacing = spacing, def.threads = 1, def.max_time_step = 0.1;
  vec_set(def.gravity, 0, dim == 2 ? -gravity : 0, dim == 2 ? 0 : -gravity);
  FloWorld *world = make_world(&def);
  set(world, "boundary", boundary);
  return world;
}

// ---- Still water in a tank ----

typedef struct Tank {
  int dim;
  double spacing;   // [m]
  int width, depth; // in particles
} Tank;

enum { MAX_LAYERS = 64 };

// Sums of densities by layers, and of particles that two or three walls are next to.
typedef struct Profile {
  double sum[MAX_LAYERS], count[MAX_LAYERS], edge_sum[4], edge_count[4];
} Profile;

static void add_particle(const Tank *tank, const double x[3], double density, Profile *profile) {
  const double s = tank->spacing, width = tank->width * s, height = x[tank->dim - 1];
  const int layer = (int)fmax(height / s, 0);
  int n_near = height < s;
  assert_true(layer < MAX_LAYERS);
  for (int axis = 0; axis < tank->dim - 1; ++axis) n_near += x[axis] < s || x[axis] > width - s;
  profile->sum[layer] += density, profile->count[layer] += 1;
  if (height < (tank->depth - 3) * s) profile->edge_sum[n_near] += density, profile->edge_count[n_near] += 1;
}

static void add_profile(const FloWorld *world, const Tank *tank, Profile *profile) {
  const double *x[3] = {doubles(world, "x"), doubles(world, "y"), doubles(world, "z")};
  const float *density = floats(world, "density");
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    add_particle(tank, (const double[3]){x[0][i], x[1][i], x[2][i]}, (double)density[i], profile);
}

// The mean density farthest from that of the material, of layers below the three at the surface.
static double worst_layer(const Tank *tank, const Profile *profile) {
  double worst = 0;
  for (int k = 0; k < tank->depth - 3; ++k)
    if (profile->count[k] > 0) worst = fmax(worst, fabs(profile->sum[k] / profile->count[k] / DENSITY - 1));
  return worst;
}

static double off_by(const Profile *profile, int n_near) {
  if (!(profile->edge_count[n_near] > 0)) return 0;
  return profile->edge_sum[n_near] / profile->edge_count[n_near] / DENSITY - 1;
}

// ---- Particles beside walls ----

// Reported densities contain what solids add. Numbers of particles do not. So these are counted as well:
// within one and two spacings of side walls, and of the upright edges between them.
typedef struct Crowd {
  double sides[2], edges[2];
} Crowd;

enum { LEFT_OUT = 4 }; // layers at the surface

static double gap_to_wall(const Tank *tank, double x) { return fmin(x, tank->width * tank->spacing - x); }

static void add_crowd(const FloWorld *world, const Tank *tank, Crowd *crowd) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y"),
               *h = tank->dim == 3 ? doubles(world, "z") : y;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    for (int q = 0; q < 2 && h[i] < (tank->depth - LEFT_OUT) * tank->spacing; ++q) {
      const bool is_beside = gap_to_wall(tank, x[i]) < (q + 1) * tank->spacing;
      crowd->sides[q] += is_beside;
      crowd->edges[q] += is_beside && tank->dim == 3 && gap_to_wall(tank, y[i]) < (q + 1) * tank->spacing;
    }
}

// Sums over frames become shares beyond the numbers in a lattice.
static void compare_with_lattice(const Tank *tank, int n_frames, Crowd *crowd) {
  const double high = (tank->depth - LEFT_OUT) * (double)n_frames, deep = tank->dim == 3 ? tank->width : 1;
  for (int q = 0; q < 2; ++q) {
    crowd->sides[q] = crowd->sides[q] / (2 * (q + 1) * deep * high) - 1;
    crowd->edges[q] = tank->dim == 3 ? crowd->edges[q] / (4 * (q + 1) * (q + 1) * high) - 1 : 0;
  }
}

// The tops of single columns differ by a particle: those beside walls in 2D, and those in edges.
static void check_crowd(const Tank *tank, const Crowd *crowd) {
  const double one = 1.0 / (tank->depth - LEFT_OUT), grain = tank->dim == 2 ? one : 0;
  for (int q = 0; q < 2; ++q) assert_true(fabs(crowd->sides[q]) < 0.02 + grain);
  assert_true(fabs(crowd->edges[0]) < one);
  assert_true(fabs(crowd->edges[1]) < 0.03);
}

// ---- The whole tank ----

static double level_of(const FloWorld *world, const Tank *tank) {
  const double *h = doubles(world, tank->dim == 2 ? "y" : "z");
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += h[i];
  return 2 * sum / (double)n / (tank->depth * tank->spacing);
}

static void check_tank(const Tank *tank, int boundary) {
  FloWorld *world = make_empty(tank->dim, tank->spacing, GRAVITY, boundary);
  const double width = tank->width * tank->spacing, depth = tank->depth * tank->spacing,
               high = depth + 6 * tank->spacing;
  const bool is_flat = tank->dim == 2;
  Profile profile = {0};
  Crowd crowd = {0};
  double level = 0, speed = 0;
  add_tank(world, width, is_flat ? high : width, is_flat ? 0 : high, tank->dim - 1);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width, is_flat ? depth : width, is_flat ? 0 : depth);
  advance(world, 2);
  for (int k = 1; k <= 10; ++k) {
    advance(world, 2 + 0.02 * k);
    add_profile(world, tank, &profile), add_crowd(world, tank, &crowd);
    level += level_of(world, tank) / 10, speed += rms_speed(world) / 10;
  }
  const double worst = worst_layer(tank, &profile), edges = off_by(&profile, 2),
               corners = off_by(&profile, 3);
  print_message(
      "%dD, %g mm, %d x %d, %s: layers within %.2f %%, edges %+.2f %%, corners %+.2f %%, level %+.2f %%, "
      "rms %.1f mm/s\n",
      tank->dim, 1e3 * tank->spacing, tank->width, tank->depth, boundary_names[boundary], 100 * worst,
      100 * edges, 100 * corners, 100 * (level - 1), 1e3 * speed);
  compare_with_lattice(tank, 10, &crowd);
  print_message("  particles within 1 and 2 spacings of side walls %+.1f %% and %+.1f %%, of edges %+.1f %% "
                "and %+.1f %%\n",
                100 * crowd.sides[0], 100 * crowd.sides[1], 100 * crowd.edges[0], 100 * crowd.edges[1]);
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  check_crowd(tank, &crowd);
  assert_true(worst < 0.01 && fabs(edges) < 0.01 && fabs(corners) < 0.01);
  assert_true(fabs(level - 1) < 5e-3);
  assert_true(speed < 0.012 * sqrt(GRAVITY * depth));
}

static void still_water_fills_layers_edges_and_corners(void **unused) {
  (void)unused;
  static const Tank tanks[] = {{2, 0.02, 24, 15}, {2, 0.01, 16, 30}, {2, 0.005, 24, 20},
                               {3, 0.02, 10, 12}, {3, 0.02, 14, 14}, {3, 0.01, 10, 16}};
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) check_tank(&tanks[k], FIELD);
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) check_tank(&tanks[k], SAMPLES);
}

// ---- Tilted walls ----

static FloBodyDef box_at(double x, double y, double size_x, double size_y, double angle) {
  FloBodyDef def = flo_default_body_def();
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {size_x, size_y, 0}};
  def.pose = pose_at(x, y, 0);
  const double axis[3] = {0, 0, 1};
  quat_from_axis_angle(axis, angle, def.pose.rotation);
  return def;
}

// A trough of two planes that meet at the origin, each tilted by `angle`; thick boxes.
static void add_trough(FloWorld *world, double angle, double length) {
  FloError error;
  for (int side = -1; side <= 1; side += 2) {
    const double thick = 0.5 * length, along = length / 2;
    const double x = side * (along * cos(angle) + thick / 2 * sin(angle)),
                 y = along * sin(angle) - thick / 2 * cos(angle);
    FloBodyDef wall = box_at(x, y, length, thick, side * angle);
    must(flo_world_add_body(world, &wall, NULL, &error), &error);
  }
}

// Water in a trough stands as high as its volume says.
static void check_trough(double spacing, double degrees) {
  FloWorld *world = make_empty(2, spacing, GRAVITY, FIELD);
  FloError error;
  FloFluidDef block = flo_default_fluid_def();
  const double angle = degrees * TEST_PI / 180, depth = 20 * spacing;
  size_t n;
  add_trough(world, angle, 2 * depth / sin(angle));
  block.material = add_water(world, DENSITY, 1e-6);
  block.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {2 * depth / tan(angle), depth, 0}};
  block.pose = pose_at(0, depth / 2, 0);
  must(flo_world_add_fluid(world, &block, &n, &error), &error);
  advance(world, 3);
  const double *y = doubles(world, "y"), area = (double)n * spacing * spacing,
               level = sqrt(area * tan(angle));
  const float *density = floats(world, "density");
  double sum = 0, deep = 0, n_deep = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += y[i] / (double)n;
    if (y[i] < level - 3 * spacing) deep += (double)density[i], n_deep += 1;
  }
  print_message("trough of %g degrees, %g mm: centroid off by %+.2f %%, density by %+.2f %%, rms %.1f mm/s\n",
                degrees, 1e3 * spacing, 100 * (sum / (2 * level / 3) - 1),
                100 * (deep / n_deep / DENSITY - 1), 1e3 * rms_speed(world));
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  assert_true(fabs(sum / (2 * level / 3) - 1) < 0.02);
  assert_true(fabs(deep / n_deep / DENSITY - 1) < 0.03);
}

static void water_stands_in_tilted_troughs(void **unused) {
  (void)unused;
  check_trough(0.02, 30), check_trough(0.01, 45), check_trough(0.02, 60);
}

// ---- A piston ----

// A wall four spacings thick that pushes from the left end of a tank for a second.
static FloBodyId add_piston(FloWorld *world, int dim, double s, double width, double high, double way) {
  FloError error;
  FloBodyId id;
  FloBodyDef def = flo_default_body_def();
  const FloMotionDef motion = {.kind = FLO_MOTION_TRANSLATE, .vector = {way, 0, 0}, .start = 1, .end = 2};
  def.kind = FLO_BODY_KINEMATIC, def.motions = &motion, def.n_motions = 1, def.averages_force = true;
  def.shape =
      (FloShape){.kind = FLO_SHAPE_BOX, .size = {4 * s, dim == 2 ? high : width, dim == 2 ? 0 : high}};
  def.pose = pose_at(2 * s, dim == 2 ? high / 2 : width / 2, dim == 2 ? 0 : high / 2);
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

// The level rises by what the piston displaces. At rest it bears the weight of half the water above each
// point. The mean of its force counts.
static void check_piston(int dim, double s, int boundary) {
  FloWorld *world = make_empty(dim, s, GRAVITY, boundary);
  const double length = 28 * s, width = dim == 3 ? 8 * s : 1, depth = 12 * s, high = 26 * s, way = 6 * s;
  const bool is_flat = dim == 2;
  add_tank(world, length, is_flat ? high : width, is_flat ? 0 : high, dim - 1);
  const FloBodyId piston = add_piston(world, dim, s, width, high, way);
  add_block(world, add_water(world, DENSITY, 1e-6), 4 * s, length - 4 * s, is_flat ? depth : width,
            is_flat ? 0 : depth);
  advance(world, 4);
  flo_world_restart_averages(world);
  advance(world, 5);
  const double *h = doubles(world, is_flat ? "y" : "z");
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  const double level = depth * (length - 4 * s) / (length - 4 * s - way),
               theory = -DENSITY * GRAVITY * level * level / 2 * width,
               force = state_of(world, piston).mean_force[0];
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += 2 * h[i] / (double)n;
  print_message("%dD, %g mm, %s: behind a piston the level is off by %+.2f %%, its force by %+.1f %%\n", dim,
                1e3 * s, boundary_names[boundary], 100 * (sum / level - 1), 100 * (force / theory - 1));
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  assert_true(fabs(sum / level - 1) < 0.01);
  assert_true(fabs(force / theory - 1) < 0.045);
}

static void a_piston_lifts_water_and_bears_it(void **unused) {
  (void)unused;
  check_piston(2, 0.02, FIELD), check_piston(2, 0.01, FIELD), check_piston(2, 0.02, SAMPLES);
  check_piston(3, 0.02, FIELD);
}

// ---- Impacts ----

typedef enum Target { FLOOR, THIN_WALL, CORNER, BODY } Target;
static const char *const target_names[] = {"floor", "thin wall", "corner", "body"};

static FloBodyDef target_def(Target target, int dim, double s) {
  FloBodyDef def = flo_default_body_def();
  const double wide = 40 * s,
               thick = target == THIN_WALL ? s
                       : target == BODY    ? 6 * s
                                           : 6 * s,
               deep = dim == 3 ? 40 * s : 0;
  def.shape =
      (FloShape){.kind = FLO_SHAPE_BOX, .size = {wide, dim == 2 ? thick : deep, dim == 2 ? 0 : thick}};
  def.pose = dim == 2 ? pose_at(0, -thick / 2, 0) : pose_at(0, 0, -thick / 2);
  if (target == CORNER) { // an open tank; its inner corner is below the block
    def.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = dim - 1};
    vec_set(def.shape.size, 8 * s, dim == 2 ? 30 * s : 8 * s, dim == 2 ? 0 : 30 * s);
    def.pose = dim == 2 ? pose_at(0, 15 * s, 0) : pose_at(0, 0, 15 * s);
  }
  if (target == BODY)
    def.kind = FLO_BODY_DYNAMIC, def.density = 500, def.shape.size[0] = 10 * s,
    def.shape.size[1] = dim == 2 ? thick : 10 * s;
  return def;
}

// The largest number of particles inside of solids or beyond a thin wall.
static void check_impact(Target target, int dim, double s, double speed, int boundary) {
  FloWorld *world = make_empty(dim, s, 0, boundary);
  FloError error;
  const FloBodyDef def = target_def(target, dim, s);
  FloFluidDef block = flo_default_fluid_def();
  size_t n_worst = 0, n;
  must(flo_world_add_body(world, &def, NULL, &error), &error);
  block.material = add_water(world, DENSITY, 1e-6);
  block.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {8 * s, 8 * s, dim == 3 ? 8 * s : 0}};
  block.pose = dim == 2 ? pose_at(0, 5.5 * s, 0) : pose_at(0, 0, 5.5 * s);
  block.velocity[dim - 1] = -speed;
  must(flo_world_add_fluid(world, &block, &n, &error), &error);
  for (int frame = 1; frame <= 20; ++frame) {
    advance(world, frame * s / speed);
    const double *h = doubles(world, dim == 2 ? "y" : "z");
    size_t n_bad = flo_world_measure(world).penetrations;
    for (size_t i = 0; target != BODY && target != CORNER && i < n; ++i)
      n_bad += h[i] < -0.05 * s; // on the surface is not beyond it
    if (n_bad > n_worst) n_worst = n_bad;
  }
  print_message("%dD, %g mm, %s: %zu particles at %g m/s on a %s: %zu pass\n", dim, 1e3 * s,
                boundary_names[boundary], n, speed, target_names[target], n_worst);
  flo_world_destroy(world);
  assert_int_equal(n_worst, 0);
}

static void nothing_passes_under_impact(void **unused) {
  (void)unused;
  for (Target target = FLOOR; target <= BODY; ++target)
    for (int k = 0; k < 2; ++k) {
      const double speed = k ? 10 : 3;
      check_impact(target, 2, 0.02, speed, FIELD), check_impact(target, 2, 0.02, speed, SAMPLES);
      check_impact(target, 3, 0.02, speed, FIELD);
      if (is_full()) check_impact(target, 3, 0.02, speed, SAMPLES);
    }
  check_impact(FLOOR, 2, 0.005, 10, FIELD), check_impact(THIN_WALL, 2, 0.005, 10, FIELD);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_passes_under_impact),
                                     cmocka_unit_test(a_piston_lifts_water_and_bears_it),
                                     cmocka_unit_test(water_stands_in_tilted_troughs),
                                     cmocka_unit_test(still_water_fills_layers_edges_and_corners)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
