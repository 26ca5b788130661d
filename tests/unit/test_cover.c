// The share of a kernel that a solid covers: against fine sums over the solid, for planes, edges, corners,
// thin and round solids, in 2D and 3D; its gradient against differences; and failing allocations.
#include "base/vecmath.h"
#include "sph/cover.h"
#include "support/allocator.h"
#include "support/random.h"
#include "support/worlds.h"

#define SPACING 0.02
#define SUPPORT (2 * SPACING)

typedef struct Case {
  const char *name;
  int dim;
  FloShape shape;
  double low[3], high[3]; // points at random between them, in spacings
  double limit;           // of the share's error
} Case;

// A sum over many points of the ball.
static double sum_over(const FloSolid *solid, const FloCoverSheets *sheets, const double x[3]) {
  enum { N = 24 };
  const int dim = sheets->kernel.dim, deep = dim == 3 ? N : 1;
  const double step = sheets->reach / N;
  double inside = 0, all = 0;
  for (int k = 0; k < 2 * N * 2 * N * (deep > 1 ? 2 * deep : 1); ++k) {
    const int index[3] = {k % (2 * N), k / (2 * N) % (2 * N), k / (4 * N * N)};
    double to[3] = {0}, there[3];
    for (int axis = 0; axis < dim; ++axis) to[axis] = (index[axis] - N + 0.5) * step;
    vec_add(x, to, there);
    const double weight = flo_cover_kernel(sheets, vec_length(to));
    all += weight;
    if (weight > 0) inside += weight * fmin(fmax(0.5 - flo_solid_distance(solid, there) / step, 0), 1);
  }
  return inside / all;
}

static double depth_at(FloCover *cover, const FloSolid *solid, const double x[3], double gradient[3]) {
  FloError error;
  assert_ok(flo_cover_need(cover, (FloCovering){.solid = solid}, x, &error), &error);
  flo_cover_fill(cover, NULL, 1);
  return flo_cover_depth(cover, (FloCovering){.solid = solid}, x, gradient);
}

// The slope of the depth along a direction, by differences.
static double slope_along(FloCover *cover, const FloSolid *solid, const double x[3], const double way[3]) {
  const double step = 1e-6 * SPACING;
  double a[3], b[3], unused[3];
  vec_scale(way, -step, a), vec_scale(way, step, b);
  vec_add(x, a, a), vec_add(x, b, b);
  return (depth_at(cover, solid, b, unused) - depth_at(cover, solid, a, unused)) / (2 * step);
}

static void check_case(const Case *c) {
  FloMemory memory;
  FloSolid solid;
  FloCover cover;
  FloError error;
  Random random = {5};
  double worst = 0, worst_slope = 0, highest = 0;
  const FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, c->dim, SUPPORT);
  flo_memory_init(&memory, NULL);
  assert_ok(flo_solid_init(&solid, &c->shape, c->dim, SPACING, 2 * SUPPORT, 1, &memory, &error), &error);
  assert_ok(flo_cover_init(&cover, &kernel, SPACING, &memory, &error), &error);
  for (int k = 0; k < (60); ++k) {
    double x[3] = {0}, gradient[3], way[3] = {0};
    for (int axis = 0; axis < c->dim; ++axis) {
      x[axis] = SPACING * random_between(&random, c->low[axis], c->high[axis]);
      way[axis] = random_between(&random, -1, 1);
    }
    const double depth = depth_at(&cover, &solid, x, gradient), share = flo_cover_share(&cover.sheets, depth);
    worst = fmax(worst, fabs(share - sum_over(&solid, &cover.sheets, x))), highest = fmax(highest, share);
    worst_slope = fmax(worst_slope, fabs(slope_along(&cover, &solid, x, way) - vec_dot(gradient, way)));
  }
  print_message("%dD %s: shares up to %.3f within %.4f, slopes within %.1e\n", c->dim, c->name, highest,
                worst, worst_slope);
  assert_true(highest > 0.1 && worst < c->limit && worst_slope < 1e-5);
  flo_cover_free(&cover);
  flo_solid_free(&solid);
  assert_int_equal(memory.bytes, 0);
}

#define BOX(x, y, z)                                                                                         \
  {                                                                                                          \
    .kind = FLO_SHAPE_BOX, .size = { x * SPACING, y * SPACING, z * SPACING }                                 \
  }
#define TANK(x, y, z, axis)                                                                                  \
  { .kind = FLO_SHAPE_TANK, .size = {x * SPACING, y * SPACING, z * SPACING}, .up = axis }
#define BALL(r)                                                                                              \
  { .kind = FLO_SHAPE_SPHERE, .radius = r * SPACING }

static void test_shares_are_integrals_over_the_solid(void **state) {
  (void)state;
  const Case cases[] = {{"face", 2, BOX(20, 10, 0), {-5, 5, 0}, {5, 7, 0}, 0.002},
                        {"inner corner", 2, TANK(20, 20, 0, 1), {-9.9, -9.9, 0}, {-7.5, -7.5, 0}, 0.015},
                        {"outer corner", 2, BOX(20, 10, 0), {9, 4.3, 0}, {11.5, 6.5, 0}, 0.015},
                        {"slab of one spacing", 2, BOX(20, 1, 0), {-5, 0.5, 0}, {5, 2, 0}, 0.015},
                        {"disc", 2, BALL(4), {2.9, 2.9, 0}, {4, 4, 0}, 0.015},
                        {"face", 3, BOX(20, 20, 10), {-5, -5, 5}, {5, 5, 7}, 0.002},
                        {"inner edge", 3, TANK(20, 20, 20, 2), {-9.9, -5, -9.9}, {-8, 5, -8}, 0.015},
                        {"inner corner", 3, TANK(20, 20, 20, 2), {-9.9, -9.9, -9.9}, {-8, -8, -8}, 0.015},
                        {"outer corner", 3, BOX(20, 20, 10), {9.3, 9.3, 4.3}, {11, 11, 6}, 0.015},
                        {"slab of one spacing", 3, BOX(20, 20, 1), {-5, -5, 0.5}, {5, 5, 2}, 0.015},
                        {"ball", 3, BALL(4), {2.35, 2.35, 2.35}, {3, 3, 3}, 0.015}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) check_case(&cases[k]);
}

// ---- Lattices ----

static const FloKernel kernels[] = {FLO_KERNEL_CUBIC_SPLINE, FLO_KERNEL_WENDLAND_C2, FLO_KERNEL_WENDLAND_C4,
                                    FLO_KERNEL_QUINTIC, FLO_KERNEL_POLY6};

// The part of a lattice's kernel sum at a point of it that lies beyond planes: those below `low` along the
// first n axes.
static double sum_beyond(const FloKernelForm *kernel, int n, int low) {
  enum { FAR = 4 };
  double sum = 0;
  for (int k = 0; k < (2 * FAR + 1) * (2 * FAR + 1) * (2 * FAR + 1); ++k) {
    const int at[3] = {k % (2 * FAR + 1) - FAR, k / (2 * FAR + 1) % (2 * FAR + 1) - FAR,
                       k / ((2 * FAR + 1) * (2 * FAR + 1)) - FAR};
    bool is_beyond = false;
    for (int axis = 0; axis < n; ++axis) is_beyond |= at[axis] < low;
    if (kernel->dim == 2 && at[2]) continue;
    if (is_beyond) sum += flo_kernel_w(kernel, SPACING * sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]));
  }
  return sum * pow(SPACING, kernel->dim);
}

// The largest error of the share in layers at faces, edges and corners of a tank, which are as many as
// `n_walls` says; in parts of a kernel.
static double check_layers(FloCover *cover, const FloSolid *tank, int n_walls) {
  const int dim = tank->dim;
  double worst = 0;
  for (int layer = 0; layer < 3; ++layer) {
    double x[3] = {0}, gradient[3];
    for (int axis = 0; axis < dim; ++axis) x[axis] = 0.3 * SPACING;
    for (int k = 0; k < n_walls; ++k) x[dim - 1 - k] = (layer - 9.5) * SPACING;
    const double share = flo_cover_share(&cover->sheets, depth_at(cover, tank, x, gradient));
    worst = fmax(worst, fabs(share - sum_beyond(&cover->sheets.kernel, n_walls, -layer)));
  }
  return worst;
}

// A lattice with its first layer half a spacing away from walls has the density of a lattice, at a face, in
// an edge, and in a corner.
static void check_lattice(int dim, FloKernel kind) {
  const FloKernelForm kernel = flo_kernel_form(kind, dim, SPACING * flo_kernel_default_support(kind));
  const FloShape shape = TANK(20, 20, 20, dim - 1);
  FloMemory memory;
  FloSolid tank;
  FloCover cover;
  FloError error;
  flo_memory_init(&memory, NULL);
  assert_ok(flo_solid_init(&tank, &shape, dim, SPACING, 4 * SUPPORT, 1, &memory, &error), &error);
  assert_ok(flo_cover_init(&cover, &kernel, SPACING, &memory, &error), &error);
  for (int n_walls = 1; n_walls <= dim; ++n_walls) {
    const double worst = check_layers(&cover, &tank, n_walls);
    print_message("%dD, %s: next to %d walls the density is off by %.2f %%\n", dim, flo_kernel_name(kind),
                  n_walls, 100 * worst);
    assert_true(worst < (n_walls == 1 ? 0.003 : 0.02));
  }
  flo_cover_free(&cover), flo_solid_free(&tank);
}

static void test_a_lattice_beside_walls_is_at_rest(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) check_lattice(dim, kernels[k]);
}

// ---- Failing allocations ----

enum { N_POINTS = 1200 };

// Along a face of a long box; each needs a block of its own.
static void point_at(int k, int dim, double x[3]) {
  vec_set(x, 0.7 * SUPPORT * k, 0, 0);
  x[dim - 1] = 11.2 * SPACING;
}

// Whatever fails is tried again once.
static int fill_again(FloCover *cover, const FloSolid *solid, FloMemory *memory, FloStatus *status) {
  const FloKernelForm kernel = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, solid->dim, SUPPORT);
  FloError error;
  int n_failed = 0;
  for (int n = 0; !cover->memory && n < 2; ++n)
    n_failed += (*status = flo_cover_init(cover, &kernel, SPACING, memory, &error)) != FLO_OK;
  for (int k = 0; k < N_POINTS && *status == FLO_OK; ++k) {
    double x[3];
    point_at(k, solid->dim, x);
    if (flo_cover_need(cover, (FloCovering){.solid = solid}, x, &error) == FLO_OK) continue;
    ++n_failed, *status = flo_cover_need(cover, (FloCovering){.solid = solid}, x, &error);
  }
  flo_cover_fill(cover, NULL, 1);
  return n_failed;
}

static void compare_covers(const FloCover *a, const FloCover *b, const FloSolid *solid) {
  assert_int_equal(a->n_blocks, b->n_blocks);
  assert_true(a->n_blocks * sizeof(FloCoverKey) <= a->keys.capacity);
  assert_true(a->n_blocks * a->nodes_per_block * sizeof(float) <= a->depths.capacity);
  for (int k = 0; k < N_POINTS; ++k) {
    double x[3], slope[3];
    point_at(k, solid->dim, x);
    assert_true(flo_cover_depth(a, (FloCovering){.solid = solid}, x, slope) ==
                flo_cover_depth(b, (FloCovering){.solid = solid}, x, slope));
  }
}

// Returns whether an allocation failed.
static bool check_failure(const FloSolid *solid, const FloCover *whole, size_t fail_at) {
  CountingAllocator counter = {.fail_at = fail_at};
  const FloAllocator allocator = counting_allocator(&counter);
  FloMemory memory;
  FloCover cover = {0};
  FloStatus status = FLO_OK;
  flo_memory_init(&memory, &allocator);
  const int n_failed = fill_again(&cover, solid, &memory, &status);
  assert_int_equal(status, FLO_OK);
  assert_int_equal(n_failed, counter.n_calls >= fail_at);
  compare_covers(&cover, whole, solid);
  flo_cover_free(&cover);
  assert_int_equal(counter.n_blocks, 0);
  return n_failed > 0;
}

static void test_a_cover_without_memory_can_go_on_later(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    const FloShape shape = {.kind = FLO_SHAPE_BOX, .size = {100, dim == 2 ? 20 * SPACING : 1, 20 * SPACING}};
    FloMemory memory;
    FloSolid solid;
    FloCover whole = {0};
    FloError error;
    FloStatus status = FLO_OK;
    size_t n = 1;
    flo_memory_init(&memory, NULL);
    assert_ok(flo_solid_init(&solid, &shape, dim, SPACING, 2 * SUPPORT, 1, &memory, &error), &error);
    assert_int_equal(fill_again(&whole, &solid, &memory, &status), 0);
    while (check_failure(&solid, &whole, n)) ++n;
    print_message("%dD: each of %zu allocations may fail\n", dim, n - 1);
    assert_true(n > 10);
    flo_cover_free(&whole), flo_solid_free(&solid);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares_are_integrals_over_the_solid),
                                     cmocka_unit_test(test_a_lattice_beside_walls_is_at_rest),
                                     cmocka_unit_test(test_a_cover_without_memory_can_go_on_later)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
