// The wide passes of every instruction set against each other, and the wide text of the kernels against the
// scalar one. The sets differ in fused multiply-add only, so they may differ by a few units of rounding and
// no more.
#include "sph/passes.h"
#include "support/cloud.h"
#include "support/forcing.h"
#include "support/reference.h"

#if defined(__x86_64__)
const FloPasses *flo_passes_avx2(void);
static const FloPasses *fast_passes(void) {
  bool can =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return can ? flo_passes_avx2() : NULL;
}
#else
static const FloPasses *fast_passes(void) { return NULL; }
#endif

// ---- Two sets of particles and the operators between them ----

#define SUPPORT 0.04
enum { N_FLUID = 1003, N_SOLID = 517 };

typedef struct Scene {
  CloudBox box;
  FloLattice lattice;
  Cloud fluid, solid;
} Scene;

static void scene_init(Scene *scene, int dim, bool periodic) {
  Random random = {(uint64_t)dim};
  double edge = dim == 2 ? 0.6 : 0.2;
  scene->box = (CloudBox){.dim = dim, .support = SUPPORT};
  for (int axis = 0; axis < dim; ++axis)
    scene->box.low[axis] = -1.3, scene->box.high[axis] = edge - 1.3, scene->box.periodic[axis] = periodic;
  scene->lattice = box_lattice(&scene->box);
  cloud_init(&scene->fluid, FLO_SET_FLUID, &scene->lattice);
  cloud_init(&scene->solid, FLO_SET_BOUNDARY, &scene->lattice);
  cloud_strew(&scene->fluid, &scene->box, &random, N_FLUID);
  cloud_strew(&scene->solid, &scene->box, &random, N_SOLID);
  cloud_build(&scene->fluid, 1);
  cloud_build(&scene->solid, 1);
}

static void scene_free(Scene *scene) {
  cloud_free(&scene->fluid);
  cloud_free(&scene->solid);
}

static FloPairsSpec spec_of(const Cloud *rows, const Cloud *columns, FloKernel kernel, int dim) {
  return (FloPairsSpec){.rows = &rows->grid,
                        .columns = &columns->grid,
                        .kernel = flo_kernel_form(kernel, dim, SUPPORT),
                        .reach = 1,
                        .with_viscous = true,
                        .threads = 1};
}

// The library's own build makes room; then the passes in question fill it.
static void build_with(const FloPasses *passes, const FloPairsSpec *spec, FloMemory *memory,
                       FloPairs *pairs) {
  FloError error;
  flo_pairs_init(pairs, memory);
  assert_ok(flo_pairs_build(pairs, spec, &error), &error);
  memset(pairs->slots, 0xff, pairs->slot_capacity * sizeof *pairs->slots);
  memset(pairs->kernel_sum, 0xff, pairs->n_rows * sizeof *pairs->kernel_sum);
  atomic_store(&pairs->n_claimed, 0);
  FloPairSlab *slab = &pairs->slabs[0];
  slab->next = slab->end = slab->n_pairs = slab->most_candidates = 0;
  passes->build_pairs(pairs, spec, slab, 0, pairs->n_blocks);
}

// ---- Operators ----

static double length_of(const FloPairSlot *slot, int lane) {
  double g[3] = {(double)slot->gx[lane], (double)slot->gy[lane], (double)slot->gz[lane]};
  return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static void compare_slots(const FloPairs *a, const FloPairs *b, size_t block, double steepest) {
  assert_int_equal(a->slot_count[block], b->slot_count[block]);
  for (size_t k = 0; k < a->slot_count[block]; ++k) {
    size_t slot_a = a->slot_begin[block] + k, slot_b = b->slot_begin[block] + k;
    const FloPairSlot *p = &a->slots[slot_a], *q = &b->slots[slot_b];
    for (int lane = 0; lane < FLO_BLOCK && block * FLO_BLOCK + (size_t)lane < a->n_rows; ++lane) {
      assert_int_equal(p->index[lane], q->index[lane]);
      double length = length_of(p, lane), tolerance = 2e-6 * (steepest + length);
      assert_close(p->gx[lane], q->gx[lane], tolerance);
      assert_close(p->gy[lane], q->gy[lane], tolerance);
      assert_close(p->gz[lane], q->gz[lane], tolerance);
      // d |g| is r/l^2, in which the end of the support is no special place.
      double across = (double)a->viscous[slot_a * FLO_BLOCK + (size_t)lane] * length;
      double also = (double)b->viscous[slot_b * FLO_BLOCK + (size_t)lane] * length_of(q, lane);
      assert_close(across, also, 2e-6 * fabs(across));
    }
  }
}

static void compare_operators(const FloPairs *a, const FloPairs *b, const ReferenceKernel *kernel) {
  double steepest = reference_steepest(kernel), typical = reference_w(kernel, 0.3 * SUPPORT).value;
  for (size_t block = 0; block < a->n_blocks; ++block) compare_slots(a, b, block, steepest);
  for (size_t i = 0; i < a->n_rows; ++i)
    assert_close(a->kernel_sum[i], b->kernel_sum[i], 2e-6 * (typical + (double)a->kernel_sum[i]));
}

static void check_operators(FloKernel kernel, int dim, bool periodic) {
  Scene scene;
  scene_init(&scene, dim, periodic);
  const Cloud *clouds[2] = {&scene.fluid, &scene.solid};
  for (int rows = 0; rows < 2; ++rows)
    for (int columns = 0; columns < 2; ++columns) {
      FloPairsSpec spec = spec_of(clouds[rows], clouds[columns], kernel, dim);
      ReferenceKernel reference = {kernel, dim, SUPPORT};
      FloPairs plain, fast;
      build_with(flo_passes_generic(), &spec, &scene.fluid.memory, &plain);
      build_with(fast_passes(), &spec, &scene.fluid.memory, &fast);
      assert_true(plain.slabs[0].n_pairs > 0);
      assert_int_equal(plain.slabs[0].n_pairs, fast.slabs[0].n_pairs);
      compare_operators(&plain, &fast, &reference);
      flo_pairs_free(&plain);
      flo_pairs_free(&fast);
    }
  scene_free(&scene);
}

static void test_operators_agree_slot_by_slot(void **state) {
  (void)state;
  if (!fast_passes()) skip();
  for (int kernel = 0; kernel < FLO_KERNEL_COUNT; ++kernel)
    for (int dim = 2; dim <= 3; ++dim) check_operators((FloKernel)kernel, dim, kernel % 2);
}

// ---- Sweeps ----

typedef struct States {
  float fluid[4 * (N_FLUID + 16)], solid[4 * (N_SOLID + 16)], solid_pressure[N_SOLID + 16];
  FloFluidCoefficients coefficients[N_FLUID + 16];
} States;

static float between(Random *random, double low, double high) {
  return (float)random_between(random, low, high);
}

// Velocities of a few metres a second, and pressures and viscosities of the same weight.
static void make_states(States *states) {
  Random random = {77};
  for (size_t k = 0; k < FLO_COUNT_OF(states->fluid); ++k)
    states->fluid[k] = k % 4 == 3 ? between(&random, 0, 1e-6) : between(&random, -3, 3);
  for (size_t k = 0; k < FLO_COUNT_OF(states->solid); ++k)
    states->solid[k] = k % 4 == 3 ? between(&random, 0.7, 1.5) : between(&random, -3, 3);
  for (size_t k = 0; k < FLO_COUNT_OF(states->solid_pressure); ++k)
    states->solid_pressure[k] = between(&random, 0, 1e-9);
  for (size_t k = 0; k < FLO_COUNT_OF(states->coefficients); ++k)
    states->coefficients[k] = (FloFluidCoefficients){between(&random, 0, 1e-8), between(&random, 0, 1e-8),
                                                     between(&random, 0, 1e-8), between(&random, 500, 3000)};
}

static void compare_forces(const float *a, const float *b, size_t n) {
  double largest = 0;
  for (size_t k = 0; k < 4 * n; ++k) largest = fmax(largest, fabs((double)a[k]));
  assert_true(largest > 0);
  for (size_t k = 0; k < 4 * n; ++k) assert_close(a[k], b[k], 1e-6 * largest);
}

// Forces on the rows of `pairs` by one instruction set.
static void sweep(const FloPasses *passes, const FloPairs *pairs, const States *states, int which,
                  bool fluids_differ, float *force) {
  const FloFluidCoefficients *each = fluids_differ ? states->coefficients : NULL;
  FloFluidForces fluid = {pairs, states->fluid, states->coefficients[0], each, force};
  FloSolidForces solid = {
      pairs, states->fluid, states->solid, states->solid_pressure, states->coefficients[0], each, force};
  for (size_t k = 0; k < 4 * pairs->n_rows; ++k) force[k] = which == 0 ? NAN : (float)(k % 3);
  if (which == 0) passes->fluid_forces(&fluid, 0, pairs->n_blocks);
  if (which == 1) passes->solid_forces_on_fluid(&solid, 0, pairs->n_blocks);
  if (which == 2) passes->fluid_forces_on_solid(&solid, 0, pairs->n_blocks);
}

static void check_sweeps(int dim, bool fluids_differ) {
  static States states;
  Scene scene;
  make_states(&states);
  scene_init(&scene, dim, false);
  const Cloud *rows[3] = {&scene.fluid, &scene.fluid, &scene.solid};
  const Cloud *columns[3] = {&scene.fluid, &scene.solid, &scene.fluid};
  for (int which = 0; which < 3; ++which) {
    FloPairsSpec spec = spec_of(rows[which], columns[which], FLO_KERNEL_CUBIC_SPLINE, dim);
    FloPairs pairs;
    build_with(flo_passes_generic(), &spec, &scene.fluid.memory, &pairs);
    float plain[4 * N_FLUID], fast[4 * N_FLUID];
    sweep(flo_passes_generic(), &pairs, &states, which, fluids_differ, plain);
    sweep(fast_passes(), &pairs, &states, which, fluids_differ, fast);
    compare_forces(plain, fast, pairs.n_rows);
    flo_pairs_free(&pairs);
  }
  scene_free(&scene);
}

static void test_forces_agree(void **state) {
  (void)state;
  if (!fast_passes()) skip();
  for (int dim = 2; dim <= 3; ++dim) check_sweeps(dim, false);
}

static void test_forces_of_two_fluids_agree(void **state) {
  (void)state;
  if (!fast_passes()) skip();
  for (int dim = 2; dim <= 3; ++dim) check_sweeps(dim, true);
}

// Where all particles have the same coefficients, it must not matter how they are given.
static void test_equal_fluids_are_one_fluid(void **state) {
  (void)state;
  static States states;
  const FloPasses *all[2] = {flo_passes_generic(), fast_passes()};
  Scene scene;
  make_states(&states);
  for (size_t k = 1; k < FLO_COUNT_OF(states.coefficients); ++k)
    states.coefficients[k] = states.coefficients[0];
  scene_init(&scene, 3, false);
  FloPairsSpec spec = spec_of(&scene.fluid, &scene.fluid, FLO_KERNEL_CUBIC_SPLINE, 3);
  for (int isa = 0; isa < 2 && all[isa]; ++isa) {
    FloPairs pairs;
    float one[4 * N_FLUID], each[4 * N_FLUID];
    build_with(all[isa], &spec, &scene.fluid.memory, &pairs);
    sweep(all[isa], &pairs, &states, 0, false, one);
    sweep(all[isa], &pairs, &states, 0, true, each);
    assert_memory_equal(one, each, sizeof one);
    flo_pairs_free(&pairs);
  }
  scene_free(&scene);
}

// ---- Kernels, lane by lane ----

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2,popcnt")
#define FLO_SIMD_HEADER "base/simd_avx2.h"
// clang-format off
#include "sph/real_wide.h" // before kernel.h, which is written in its vocabulary
#include "sph/kernel.h"
// clang-format on

static void shapes_of_lanes(FloKernel kernel, const float q[8], float w[8], float f[8]) {
  KernelShape shape = kernel_shape(kernel, wide_load(q));
  wide_store(w, shape.w);
  wide_store(f, shape.f);
}
#pragma GCC pop_options

// The same operations in the same order, none of them fused: the same bits.
static void test_wide_kernels_equal_scalar_ones_lane_by_lane(void **state) {
  (void)state;
  if (!fast_passes()) skip();
  for (int kernel = 0; kernel < FLO_KERNEL_COUNT; ++kernel) {
    FloKernelForm unit = {.kernel = (FloKernel)kernel, .dim = 3, .support = 1, .sigma = 1};
    for (int first = 0; first < 8192; first += 8) { // q up to 2: beyond the support both must vanish
      float q[8], w[8], f[8];
      for (int lane = 0; lane < 8; ++lane) q[lane] = (float)(first + lane) / 4096;
      shapes_of_lanes((FloKernel)kernel, q, w, f);
      for (int lane = 0; lane < 8; ++lane) {
        assert_true((double)w[lane] == flo_kernel_w(&unit, (double)q[lane]));
        assert_true((double)f[lane] == flo_kernel_gradient(&unit, (double)q[lane]));
      }
    }
  }
}
#else
static void test_wide_kernels_equal_scalar_ones_lane_by_lane(void **state) {
  (void)state;
  skip();
}
#endif

// ---- Followers of bodies in `direct-forcing`: nothing is fused, so they get the same bits ----

// Two plates that sink, and what is known of the wider one in the end; `passes` is NULL: what the method
// chooses by itself.
static uint64_t sink_hash(const FloFollowerPasses *passes, double response, double slip,
                          FloForcingPartner *plate) {
  FloWorld *world = sink_two(1, response, slip, 1);
  FloDirectForcing *forcing = world->method_state;
  size_t n_followers = 0;
  forcing->follower_passes = passes;
  for (int k = 0; k < 40; ++k) {
    step_world(world, 1);
    n_followers += forcing->n_followers;
  }
  assert_ptr_equal(forcing->follower_passes, passes);
  assert_true(n_followers > 1000);
  *plate = forcing->partners[1];
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void compare_followers(double response, double slip) {
  FloForcingPartner plain, fast;
  assert_true(sink_hash(flo_forcing_passes_generic(), response, slip, &plain) ==
              sink_hash(NULL, response, slip, &fast));
  assert_true(plain.n_followers > 0);
  assert_memory_equal(plain.followers, fast.followers, sizeof plain.followers);
  assert_memory_equal(plain.load, fast.load, sizeof plain.load);
  assert_memory_equal(plain.exchange, fast.exchange, sizeof plain.exchange);
}

static void test_followers_get_the_same_bits(void **state) {
  (void)state;
  if (fast_passes()) assert_string_equal(flo_forcing_passes()->name, "avx2");
  if (flo_forcing_passes() == flo_forcing_passes_generic()) skip();
  for (double slip = 0; slip <= 1; slip += 0.5) {
    compare_followers(FLO_RESPONSE_GLOBAL, slip);
    compare_followers(FLO_RESPONSE_LOCAL, slip);
  }
}

static void test_the_best_passes_are_chosen(void **state) {
  (void)state;
  assert_ptr_equal(flo_passes(), fast_passes() ? fast_passes() : flo_passes_generic());
  assert_string_equal(flo_simd_name(), fast_passes() ? "avx2" : "generic");
  assert_string_equal(flo_passes_generic()->name, "generic");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operators_agree_slot_by_slot),
      cmocka_unit_test(test_forces_agree),
      cmocka_unit_test(test_forces_of_two_fluids_agree),
      cmocka_unit_test(test_equal_fluids_are_one_fluid),
      cmocka_unit_test(test_wide_kernels_equal_scalar_ones_lane_by_lane),
      cmocka_unit_test(test_followers_get_the_same_bits),
      cmocka_unit_test(test_the_best_passes_are_chosen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
