// What a light block under water stands on: a floor in one or in two pieces, a loose slab, another block that
// sinks, or its own two legs. The inertia of the film below holds the block back for some time in each case.
#include "lifts.h"

enum { N_TIMES = 3, MAX_SLABS = 2 };
static const double times[N_TIMES] = {0.12, 0.16, 0.32}; // [s]

// Lengths are in spacings, heights from the floor of the tank.
#define TANK   61
#define DEPTH  26
#define MIDDLE (TANK / 2.0)

typedef struct Slab {
  double x, width, bottom, height;
  double density; // 0: static
} Slab;

typedef struct Stand {
  const char *name, *method;
  Slab slabs[MAX_SLABS];
  double width, bottom; // of the block, which is 6 high without feet
  int n_legs;           // 8 wide; they carry a beam above the water, 20 wide for each leg
  bool is_first;        // the block is added before the slabs
  double film_gap;      // [m]; 0: the default
} Stand;

typedef struct Rise {
  double rises[N_TIMES]; // of the block above the first slab, in spacings
  double slab_moved;
} Rise;

static double width_of(const Stand *stand) { return stand->n_legs ? 40 * stand->n_legs : TANK; }

static FloBodyId add_loose(FloWorld *world, double s, const FloShape *shape, double x, double y,
                           double density) {
  FloError error;
  FloBodyDef def = flo_default_body_def();
  FloBodyId id;
  if (density > 0) def.kind = FLO_BODY_DYNAMIC, def.density = density;
  def.shape = *shape;
  def.pose = pose_at(x * s, y * s, 0);
  for (int axis = 0; axis < 3; ++axis) def.turn_locks[axis] = true;
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

static FloBodyId add_slab(FloWorld *world, double s, const Slab *slab) {
  const FloShape box = {.kind = FLO_SHAPE_BOX, .size = {slab->width * s, slab->height * s, 0}};
  return add_loose(world, s, &box, slab->x, slab->bottom + slab->height / 2, slab->density);
}

// The right half of the outline; the left half is its mirror image. Half of two legs is like one leg.
static FloBodyId add_block_on(FloWorld *world, double s, const Stand *stand) {
  const double half = stand->width / 2;
  const double outlines[][8] = {
      {half, 6, half, 0}, {10, 27, 10, 24, 4, 24, 4, 0}, {20, 27, 20, 0, 12, 0, 12, 24}};
  const size_t n = stand->n_legs == 0 ? 2 : 4;
  double points[16];
  for (size_t k = 0; k < n; ++k) {
    const double *at = outlines[stand->n_legs] + 2 * k;
    points[2 * k] = at[0] * s, points[2 * (2 * n - 1 - k)] = -at[0] * s;
    points[2 * k + 1] = points[2 * (2 * n - 1 - k) + 1] = at[1] * s;
  }
  const FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = points, .n_points = 2 * n};
  return add_loose(world, s, &shape, width_of(stand) / 2, stand->bottom, stand->n_legs ? 500 : 800);
}

static FloWorld *make_stand(const Stand *stand, double spacing, int threads, FloBodyId *block,
                            FloBodyId *slab) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  def.dim = 2, def.method = stand->method, def.spacing = spacing, def.threads = threads;
  vec_set(def.gravity, 0, -GRAVITY, 0);
  FloWorld *world = make_world(&def);
  *slab = add_tank(world, width_of(stand) * spacing, (DEPTH + 10) * spacing, 0, 1);
  must(flo_world_set_param(world, "film_gap", stand->film_gap, &error), &error);
  if (stand->is_first) *block = add_block_on(world, spacing, stand);
  for (int k = 0; k < MAX_SLABS && stand->slabs[k].width > 0; ++k) {
    const FloBodyId id = add_slab(world, spacing, &stand->slabs[k]);
    if (k == 0) *slab = id;
  }
  if (!stand->is_first) *block = add_block_on(world, spacing, stand);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width_of(stand) * spacing,
            (stand->n_legs ? 20 : DEPTH) * spacing, 0);
  return world;
}

static Rise watch_rise(const Stand *stand, double spacing) {
  FloBodyId block, slab;
  FloWorld *world = make_stand(stand, spacing, 1, &block, &slab);
  Rise rise = {0};
  advance(world, 0);
  const double from = state_of(world, block).pose.position[1], under = state_of(world, slab).pose.position[1];
  for (int k = 0; k < N_TIMES; ++k) {
    advance(world, times[k]);
    rise.slab_moved = state_of(world, slab).pose.position[1] / spacing - under / spacing;
    rise.rises[k] = (state_of(world, block).pose.position[1] - from) / spacing - rise.slab_moved;
  }
  flo_world_destroy(world);
  print_message("%s, %s, %g mm: opens by %.2f, %.2f, %.2f spacings after %g, %g, %g s; slab moves by %.3f\n",
                stand->method, stand->name, 1e3 * spacing, rise.rises[0], rise.rises[1], rise.rises[2],
                times[0], times[1], times[2], rise.slab_moved);
  return rise;
}

static bool is_near(double a, double b, double share) { return fabs(a - b) < share * fabs(b) + 0.03; }

// ---- Cases ----

#define LOW(density)                                                                                         \
  { MIDDLE, 24, 0, 6, density }

static void check_same(const Stand *stand, const Stand *other, double spacing, int n_times, double share) {
  const Rise first = watch_rise(stand, spacing), second = watch_rise(other, spacing);
  for (int k = 0; k < n_times; ++k) assert_true(is_near(second.rises[k], first.rises[k], share));
}

static void a_loose_slab_is_as_good_as_a_static_one(void **unused) {
  static const char *const methods[] = {"monolithic", "constraint", "elastic"};
  (void)unused;
  for (size_t k = 0; k < (is_full() ? 3 : 2); ++k) {
    const Stand solid = {"static slab", methods[k], {LOW(0)}, 12, 6, 0, false, 0},
                loose = {"loose slab", methods[k], {LOW(8000)}, 12, 6, 0, false, 0},
                later = {"loose slab, added last", methods[k], {LOW(8000)}, 12, 6, 0, true, 0};
    check_same(&solid, &loose, 0.004, N_TIMES, 0.2);
    if (k == 0) check_same(&solid, &later, 0.004, N_TIMES, 0.2);
    if (is_full()) check_same(&solid, &loose, 0.002, N_TIMES, 0.2);
  }
}

static void a_seam_in_the_floor_is_no_rim(void **unused) {
  (void)unused;
  const Stand whole = {"one floor", "monolithic", {{MIDDLE, 48, 0, 6, 0}}, 12, 6, 0, false, 0},
              seam = {"two floors",
                      "monolithic",
                      {{MIDDLE - 12, 24, 0, 6, 0}, {MIDDLE + 12, 24, 0, 6, 0}},
                      12,
                      6,
                      0,
                      false,
                      0};
  check_same(&whole, &seam, 0.004, N_TIMES, 0.2);
}

// Nothing but the film holds two blocks together between which nothing else acts.
static void a_film_holds_a_block_that_sinks(void **unused) {
  (void)unused;
  Stand sinks = {"sinking block", "monolithic", {{MIDDLE, 12, 5, 6, 1200}}, 12, 11.02, 0, false, 0};
  const Rise first = watch_rise(&sinks, 0.004);
  sinks.is_first = true, sinks.name = "sinking block, last";
  const Rise later = watch_rise(&sinks, 0.004);
  sinks.film_gap = 1e3, sinks.name = "sinking block, film without inertia";
  const Rise light = watch_rise(&sinks, 0.004);
  for (int k = 0; k < 2; ++k) {
    assert_true(is_near(later.rises[k], first.rises[k], 0.3));
    assert_true(first.rises[k] < 0.5 * light.rises[k]);
  }
}

static void two_legs_rise_as_one_of_half_the_block(void **unused) {
  (void)unused;
  const Stand one = {"one leg", "monolithic", {{0, 0, 0, 0, 0}}, 0, 0, 1, false, 0},
              two = {"two legs", "monolithic", {{0, 0, 0, 0, 0}}, 0, 0, 2, false, 0};
  check_same(&one, &two, 0.004, N_TIMES, 0.3);
}

// Runs to the second time, once again from a state that was saved at the first.
static uint64_t hash_of(const Stand *stand, int threads) {
  FloBodyId block, slab;
  FloWorld *world = make_stand(stand, 0.004, threads, &block, &slab);
  FloState *kept = NULL;
  FloError error;
  advance(world, times[0]);
  must(flo_world_save(world, &kept, &error), &error);
  advance(world, times[1]);
  const uint64_t hash = flo_world_hash(world);
  must(flo_world_restore(world, kept, &error), &error);
  assert_true(flo_world_hash(world) != hash);
  advance(world, times[1]);
  assert_true(flo_world_hash(world) == hash);
  flo_state_destroy(kept);
  flo_world_destroy(world);
  return hash;
}

static void films_are_saved_and_the_same_for_any_number_of_threads(void **unused) {
  (void)unused;
  const Stand sinks = {"sinking block", "monolithic", {{MIDDLE, 12, 5, 6, 1200}}, 12, 11.02, 0, false, 0};
  const uint64_t hash = hash_of(&sinks, 1);
  assert_true(hash_of(&sinks, 3) == hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_loose_slab_is_as_good_as_a_static_one),
      cmocka_unit_test(a_film_holds_a_block_that_sinks),
      cmocka_unit_test(two_legs_rise_as_one_of_half_the_block),
      cmocka_unit_test(films_are_saved_and_the_same_for_any_number_of_threads),
      cmocka_unit_test(a_seam_in_the_floor_is_no_rim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
