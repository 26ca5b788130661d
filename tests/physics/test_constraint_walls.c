// How many particles of still water are next to walls with the boundary field of `constraint`: counted by
// position, at floors, side walls, edges, corners, and around a box and a cylinder that stand in the water.
// And the force on side walls, and walls that overlap. Every case prints what it measured.
#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

enum { FIELD = 2, N_FRAMES = 10 };
enum { LEFT_OUT = 4 }; // layers at the surface

typedef struct Pool {
  int dim;
  double spacing; // [m]
  FloKernel kernel;
  int width, depth; // in particles
  bool has_boxes;   // its walls are boxes that overlap
} Pool;

static FloWorld *make_empty(const Pool *pool) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = pool->dim, def.method = "constraint", def.spacing = pool->spacing, def.kernel = pool->kernel;
  def.threads = 1, def.max_time_step = 0.1;
  vec_set(def.gravity, 0, pool->dim == 2 ? -GRAVITY : 0, pool->dim == 2 ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "boundary", FIELD, &error), &error);
  return world;
}

static double high_of(const Pool *pool) { return (pool->depth + 6) * pool->spacing; }

// The extent of the inner space along each axis.
static void inner_size(const Pool *pool, double height, double size[3]) {
  vec_set(size, pool->width * pool->spacing, pool->dim == 2 ? height : pool->width * pool->spacing,
          pool->dim == 2 ? 0 : height);
}

// A box beyond the side `side`, -1 or 1, of the inner space along an axis. It reaches beyond its neighbours.
static FloBodyId add_wall(FloWorld *world, const Pool *pool, int axis, int side) {
  const double thick = 6 * pool->spacing;
  FloBodyDef def = flo_default_body_def();
  FloBodyId id;
  FloError error;
  double inner[3];
  inner_size(pool, high_of(pool), inner);
  def.shape.kind = FLO_SHAPE_BOX, def.averages_force = true;
  for (int k = 0; k < pool->dim; ++k) {
    def.shape.size[k] = k == axis ? thick : inner[k] + 2 * thick;
    def.pose.position[k] = inner[k] / 2 + (k == axis ? side * (inner[k] + thick) / 2 : 0);
  }
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

static void add_walls(FloWorld *world, const Pool *pool, FloBodyId sides[2]) {
  double inner[3];
  inner_size(pool, high_of(pool), inner);
  if (!pool->has_boxes) {
    add_tank(world, inner[0], inner[1], inner[2], pool->dim - 1);
    return;
  }
  sides[0] = add_wall(world, pool, 0, -1), sides[1] = add_wall(world, pool, 0, 1);
  if (pool->dim == 3) add_wall(world, pool, 1, -1), add_wall(world, pool, 1, 1);
  add_wall(world, pool, pool->dim - 1, -1);
}

static size_t add_still_water(FloWorld *world, const Pool *pool) {
  double size[3];
  inner_size(pool, pool->depth * pool->spacing, size);
  return add_block(world, add_water(world, DENSITY, 1e-6), 0, size[0], size[1], size[2]);
}

// ---- Counts in a tank ----

// Number of particles over that of a lattice, in slabs one and two spacings wide.
typedef struct Counts {
  double floor[2], sides[2], edges[2], corners[2];
} Counts;

static void count_particle(const Pool *pool, const double x[3], Counts *counts) {
  const double s = pool->spacing, width = pool->width * s, h = x[pool->dim - 1];
  for (int q = 0; q < 2; ++q) {
    const double near = (q + 1) * s;
    int n_near = 0;
    for (int axis = 0; axis < pool->dim - 1; ++axis) n_near += x[axis] < near || x[axis] >= width - near;
    if (h < near) counts->floor[q] += 1;
    if (h < near && n_near == pool->dim - 1) counts->corners[q] += 1;
    if (h >= (pool->depth - LEFT_OUT) * s) continue;
    for (int axis = 0; axis < pool->dim - 1; ++axis)
      counts->sides[q] += x[axis] < near || x[axis] >= width - near;
    counts->edges[q] += n_near == 2;
  }
}

// Sums over frames become shares beyond the numbers in a lattice.
static void compare_with_lattice(const Pool *pool, Counts *counts) {
  const double high = pool->depth - LEFT_OUT, wide = pool->width;
  for (int q = 0; q < 2; ++q) {
    const double n = q + 1, all = N_FRAMES * n;
    counts->floor[q] = counts->floor[q] / (all * (pool->dim == 3 ? wide * wide : wide)) - 1;
    counts->sides[q] = counts->sides[q] / (all * high * (pool->dim == 3 ? 4 * wide : 2)) - 1;
    counts->edges[q] = pool->dim == 3 ? counts->edges[q] / (all * n * 4 * high) - 1 : 0;
    counts->corners[q] = counts->corners[q] / (all * (pool->dim == 3 ? 4 * n * n : 2 * n)) - 1;
  }
}

static Counts count_at_walls(FloWorld *world, const Pool *pool) {
  Counts counts = {0};
  advance(world, 2);
  for (int frame = 1; frame <= N_FRAMES; ++frame) {
    advance(world, 2 + 0.05 * frame);
    const double *x = doubles(world, "x"), *y = doubles(world, "y"), *z = doubles(world, "z");
    for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
      count_particle(pool, (const double[3]){x[i], y[i], z[i]}, &counts);
  }
  compare_with_lattice(pool, &counts);
  return counts;
}

// Within 3 % in slabs two spacings wide, and 5 % in those of one. Rows of few particles, such as those in an
// edge, may also lack one of them or have one more.
static void check_counts(const Pool *pool, const Counts *counts) {
  const double one = 1.0 / (pool->depth - LEFT_OUT), in_row = pool->dim == 2 ? one : 0;
  assert_true(fabs(counts->floor[0]) < 0.05 && fabs(counts->floor[1]) < 0.03);
  assert_true(fabs(counts->sides[0]) < 0.05 + in_row && fabs(counts->sides[1]) < 0.03);
  assert_true(fabs(counts->edges[0]) < one && fabs(counts->edges[1]) < 0.03);
  assert_true(fabs(counts->corners[0]) < 0.03 && fabs(counts->corners[1]) < 0.04);
}

static void check_pool(const Pool *pool) {
  FloWorld *world = make_empty(pool);
  FloBodyId sides[2];
  add_walls(world, pool, sides);
  add_still_water(world, pool);
  const Counts n = count_at_walls(world, pool);
  print_message(
      "%dD, %g mm, %s, %d x %d, %s: within 1 and 2 spacings of the floor %+.1f %% %+.1f %%, of sides "
      "%+.1f %% %+.1f %%, of edges %+.1f %% %+.1f %%, of corners %+.1f %% %+.1f %%; rms %.1f mm/s\n",
      pool->dim, 1e3 * pool->spacing, flo_kernel_name(pool->kernel), pool->width, pool->depth,
      pool->has_boxes ? "boxes" : "tank", 100 * n.floor[0], 100 * n.floor[1], 100 * n.sides[0],
      100 * n.sides[1], 100 * n.edges[0], 100 * n.edges[1], 100 * n.corners[0], 100 * n.corners[1],
      1e3 * rms_speed(world));
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  check_counts(pool, &n);
}

static void water_is_as_dense_at_walls_as_elsewhere(void **unused) {
  (void)unused;
  static const Pool pools[] = {
      {2, 0.02, FLO_KERNEL_CUBIC_SPLINE, 40, 20, false}, {2, 0.01, FLO_KERNEL_CUBIC_SPLINE, 40, 30, true},
      {2, 0.02, FLO_KERNEL_WENDLAND_C2, 40, 20, false},  {3, 0.02, FLO_KERNEL_CUBIC_SPLINE, 12, 14, true},
      {3, 0.01, FLO_KERNEL_CUBIC_SPLINE, 12, 12, false}, {3, 0.02, FLO_KERNEL_WENDLAND_C2, 12, 12, false}};
  for (size_t k = 0; k < sizeof pools / sizeof *pools; ++k) check_pool(&pools[k]);
}

// ---- Solids that stand in the water ----

// A pillar on the floor, or in 2D a solid in the middle of the pool; `radius` 0: a box.
typedef struct Pillar {
  double size, radius, centre[3]; // [m]
  int dim;
} Pillar;

// Distance from its surface, across its axis.
static double pillar_distance(const Pillar *pillar, const double x[3]) {
  const double dx = x[0] - pillar->centre[0], dy = x[1] - pillar->centre[1];
  if (pillar->radius > 0) return hypot(dx, dy) - pillar->radius;
  const double ax = fabs(dx) - pillar->size / 2, ay = fabs(dy) - pillar->size / 2;
  return hypot(fmax(ax, 0), fmax(ay, 0)) + fmin(fmax(ax, ay), 0);
}

// The area within this distance of it.
static double area_around(const Pillar *pillar, double reach) {
  if (pillar->radius > 0) return TEST_PI * reach * (2 * pillar->radius + reach);
  return 4 * pillar->size * reach + TEST_PI * reach * reach;
}

static void add_pillar(FloWorld *world, const Pillar *pillar, double high) {
  FloBodyDef def = flo_default_body_def();
  FloError error;
  vec_copy(pillar->centre, def.pose.position);
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {pillar->size, pillar->size, high}};
  if (pillar->radius > 0)
    def.shape = (FloShape){.kind = pillar->dim == 2 ? FLO_SHAPE_SPHERE : FLO_SHAPE_CYLINDER,
                           .radius = pillar->radius,
                           .size = {high, 0, 0}};
  must(flo_world_add_body(world, &def, NULL, &error), &error);
}

// Below the layers at the surface in 3D; everything around the solid in 2D.
static double count_around(const FloWorld *world, const Pool *pool, const Pillar *pillar, double reach) {
  const double *x = doubles(world, "x"), *y = doubles(world, "y"), *z = doubles(world, "z");
  const double highest = (pool->depth - LEFT_OUT) * pool->spacing;
  double n = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    if (pool->dim == 3 && z[i] >= highest) continue;
    n += pillar_distance(pillar, (const double[3]){x[i], y[i], 0}) < reach;
  }
  return n;
}

static void check_pillar(const Pool *pool, bool is_round) {
  FloWorld *world = make_empty(pool);
  const double s = pool->spacing, middle = pool->width * s / 2, high = high_of(pool);
  Pillar pillar = {.size = 6 * s, .radius = is_round ? 3.5 * s : 0, .dim = pool->dim};
  FloBodyId sides[2];
  double n[2] = {0};
  vec_set(pillar.centre, middle, pool->dim == 2 ? pool->depth * s / 2 : middle,
          pool->dim == 2 ? 0 : high / 2);
  add_walls(world, pool, sides);
  add_pillar(world, &pillar, pool->dim == 2 ? 0 : high);
  add_still_water(world, pool);
  advance(world, 2);
  for (int frame = 1; frame <= N_FRAMES; ++frame) {
    advance(world, 2 + 0.05 * frame);
    for (int q = 0; q < 2; ++q) n[q] += count_around(world, pool, &pillar, (2 + q) * s) / N_FRAMES;
  }
  for (int q = 0; q < 2; ++q)
    n[q] /= area_around(&pillar, (2 + q) * s) / (s * s) * (pool->dim == 3 ? pool->depth - LEFT_OUT : 1);
  print_message("%dD, %g mm, %s: within 2 and 3 spacings of a %s %+.1f %% %+.1f %%\n", pool->dim, 1e3 * s,
                flo_kernel_name(pool->kernel), is_round ? "cylinder" : "box", 100 * (n[0] - 1),
                100 * (n[1] - 1));
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
  assert_true(fabs(n[0] - 1) < 0.04 && fabs(n[1] - 1) < 0.03);
}

static void water_is_as_dense_around_solids_as_elsewhere(void **unused) {
  (void)unused;
  static const Pool pools[] = {{2, 0.02, FLO_KERNEL_CUBIC_SPLINE, 24, 24, false},
                               {2, 0.01, FLO_KERNEL_WENDLAND_C2, 24, 24, false},
                               {3, 0.02, FLO_KERNEL_CUBIC_SPLINE, 16, 10, false}};
  for (size_t k = 0; k < sizeof pools / sizeof *pools; ++k)
    check_pillar(&pools[k], false), check_pillar(&pools[k], true);
}

// ---- Forces on side walls ----

// Each of two walls opposite to each other bears half of the water's weight above each point.
static void check_force(const Pool *pool) {
  FloWorld *world = make_empty(pool);
  FloBodyId sides[2];
  add_walls(world, pool, sides);
  add_still_water(world, pool);
  advance(world, 2);
  flo_world_restart_averages(world);
  advance(world, 3);
  const double depth = pool->depth * pool->spacing, across = pool->dim == 3 ? pool->width * pool->spacing : 1,
               theory = DENSITY * GRAVITY * depth * depth / 2 * across,
               left = -state_of(world, sides[0]).mean_force[0] / theory,
               right = state_of(world, sides[1]).mean_force[0] / theory;
  print_message("%dD, %g mm, %s, %d x %d: force on the left wall %+.1f %%, on the right %+.1f %%\n",
                pool->dim, 1e3 * pool->spacing, flo_kernel_name(pool->kernel), pool->width, pool->depth,
                100 * (left - 1), 100 * (right - 1));
  flo_world_destroy(world);
  const double limit = pool->kernel == FLO_KERNEL_CUBIC_SPLINE ? 0.02 : 0.03;
  assert_true(fabs(left - 1) < limit && fabs(right - 1) < limit);
}

static void side_walls_bear_the_pressure_of_water(void **unused) {
  (void)unused;
  static const Pool pools[] = {{2, 0.02, FLO_KERNEL_CUBIC_SPLINE, 24, 20, true},
                               {2, 0.01, FLO_KERNEL_CUBIC_SPLINE, 30, 30, true},
                               {2, 0.02, FLO_KERNEL_WENDLAND_C2, 24, 20, true},
                               {3, 0.02, FLO_KERNEL_CUBIC_SPLINE, 12, 14, true},
                               {3, 0.01, FLO_KERNEL_CUBIC_SPLINE, 10, 12, true}};
  for (size_t k = 0; k < sizeof pools / sizeof *pools; ++k) check_force(&pools[k]);
}

// ---- Walls that overlap ----

// Densities of a lattice in the first step, by the place in the lattice.
static void take_densities(Pool pool, bool has_boxes, double *densities, size_t *n) {
  pool.has_boxes = has_boxes;
  FloWorld *world = make_empty(&pool);
  FloBodyId sides[2];
  add_walls(world, &pool, sides);
  *n = add_still_water(world, &pool);
  advance(world, 1e-7);
  const float *density = floats(world, "density");
  const uint32_t *id = field(world, "id");
  for (size_t i = 0; i < *n; ++i) densities[id[i]] = (double)density[i] / DENSITY;
  flo_world_destroy(world);
}

// Boxes that overlap give each particle the density that one tank gives it. If what they share counted twice,
// densities in edges would differ by more than 2 %.
static void check_overlap(const Pool *pool) {
  enum { MOST = 4096 };
  static double tank[MOST], boxes[MOST];
  double worst = 0, away = 0;
  size_t n;
  take_densities(*pool, true, boxes, &n);
  take_densities(*pool, false, tank, &n);
  for (size_t i = 0; i < n; ++i) {
    worst = fmax(worst, fabs(boxes[i] - tank[i]));
    if (i < n / 2) away = fmax(away, fabs(tank[i] - 1));
  }
  print_message(
      "%dD, %s: densities in boxes that overlap differ from those in a tank by %.2f %%; these are off "
      "by %.2f %%\n",
      pool->dim, flo_kernel_name(pool->kernel), 100 * worst, 100 * away);
  assert_true(n < MOST && worst < 0.015 && away < 0.02);
}

static void walls_that_overlap_count_once(void **unused) {
  (void)unused;
  static const Pool pools[] = {{2, 0.02, FLO_KERNEL_CUBIC_SPLINE, 12, 12, true},
                               {3, 0.02, FLO_KERNEL_CUBIC_SPLINE, 10, 10, true},
                               {2, 0.01, FLO_KERNEL_WENDLAND_C2, 12, 12, true},
                               {3, 0.01, FLO_KERNEL_WENDLAND_C2, 10, 10, true}};
  for (size_t k = 0; k < sizeof pools / sizeof *pools; ++k) check_overlap(&pools[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(walls_that_overlap_count_once),
                                     cmocka_unit_test(side_walls_bear_the_pressure_of_water),
                                     cmocka_unit_test(water_is_as_dense_around_solids_as_elsewhere),
                                     cmocka_unit_test(water_is_as_dense_at_walls_as_elsewhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
