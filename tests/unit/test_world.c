// A world: what its definition refuses, its parameters, and how it steps.
#include "support/allocator.h"
#include "support/random.h"
#include "support/worlds.h"

// ---- Definitions ----

static void refuse_world(FloWorldDef def, const char *word) {
  CountingAllocator counter = {0};
  FloError error;
  FloWorld *world = (FloWorld *)&counter;
  def.allocator = counting_allocator(&counter);
  assert_refused(flo_world_create(&def, &world, &error), &error, word);
  assert_null(world);
  assert_int_equal(counter.bytes, 0);
}

#define REFUSE_WORLD(change, word)                                                                           \
  do {                                                                                                       \
    FloWorldDef def = flo_default_world_def();                                                               \
    def.change;                                                                                              \
    refuse_world(def, word);                                                                                 \
  } while (0)

static void test_bad_sizes_of_a_world_are_named(void **state) {
  (void)state;
  REFUSE_WORLD(dim = 1, "dim");
  REFUSE_WORLD(dim = 4, "dim");
  REFUSE_WORLD(spacing = 0, "spacing");
  REFUSE_WORLD(spacing = -1, "spacing");
  REFUSE_WORLD(spacing = NAN, "spacing");
  REFUSE_WORLD(spacing = INFINITY, "spacing");
  REFUSE_WORLD(gravity[0] = NAN, "gravity");
  REFUSE_WORLD(gravity[2] = INFINITY, "gravity");
  REFUSE_WORLD(dim = 2, "gravity"); // the default points along z
  REFUSE_WORLD(kernel = FLO_KERNEL_COUNT, "kernel");
  REFUSE_WORLD(kernel = (FloKernel)-1, "kernel");
  REFUSE_WORLD(support = 1.1, "support");
  REFUSE_WORLD(support = 6.1, "support");
  REFUSE_WORLD(support = -2, "support");
  REFUSE_WORLD(support = NAN, "support");
  REFUSE_WORLD(threads = -1, "threads");
  REFUSE_WORLD(threads = 2000, "threads");
}

static void test_bad_times_of_a_world_are_named(void **state) {
  (void)state;
  REFUSE_WORLD(time_step = -1, "time_step");
  REFUSE_WORLD(time_step = NAN, "time_step");
  REFUSE_WORLD(time_step = INFINITY, "time_step");
  REFUSE_WORLD(cfl = 0, "cfl");
  REFUSE_WORLD(cfl = -0.1, "cfl");
  REFUSE_WORLD(cfl = 2.1, "cfl");
  REFUSE_WORLD(cfl = NAN, "cfl");
  REFUSE_WORLD(min_time_step = -1, "min_time_step");
  REFUSE_WORLD(min_time_step = NAN, "min_time_step");
  REFUSE_WORLD(min_time_step = 1, "max_time_step");
  REFUSE_WORLD(max_time_step = 0, "max_time_step");
  REFUSE_WORLD(max_time_step = NAN, "max_time_step");
  REFUSE_WORLD(settle = -1, "settle");
  REFUSE_WORLD(settle = NAN, "settle");
  REFUSE_WORLD(settle = INFINITY, "settle");
  REFUSE_WORLD(gravity[2] = 0 * (def.settle = 1), "without gravity");
}

static void test_bad_methods_are_named(void **state) {
  (void)state;
  REFUSE_WORLD(method = "magic", "magic");
  REFUSE_WORLD(method = "", "method");
  REFUSE_WORLD(method = NULL, "method");
}

static void test_bad_periods_are_named(void **state) {
  (void)state;
  const double highs[] = {-1, 0, NAN, INFINITY, 0.119};
  for (int axis = 0; axis < 3; ++axis)
    for (size_t k = 0; k < FLO_COUNT_OF(highs); ++k) {
      FloWorldDef def = flo_default_world_def();
      char word[16];
      snprintf(word, sizeof word, "along %c", "xyz"[axis]);
      def.periodic[axis] = true;
      def.domain_high[axis] = highs[k];
      refuse_world(def, word);
    }
}

static void test_domains_of_axes_that_do_not_repeat_are_not_read(void **state) {
  (void)state;
  FloWorldDef def = flo_default_world_def();
  for (int axis = 0; axis < 3; ++axis) def.domain_low[axis] = NAN, def.domain_high[axis] = -1;
  flo_world_destroy(create_world(&def));
}

static void test_destroying_nothing_is_fine(void **state) {
  (void)state;
  flo_world_destroy(NULL);
}

static void test_every_kernel_and_dimension_makes_a_world_that_steps(void **state) {
  (void)state;
  for (int kernel = 0; kernel < FLO_KERNEL_VISCOSITY; ++kernel)
    for (int dim = 2; dim <= 3; ++dim) {
      FloWorldDef def = small_world_def(dim);
      def.kernel = (FloKernel)kernel;
      FloWorld *world = create_dam(&def);
      step_world(world, 3);
      assert_true(flo_world_time(world) > 0);
      flo_world_destroy(world);
    }
}

// ---- Parameters ----

static void test_parameters_have_ranges(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  size_t n;
  const FloParam *params = flo_method_params("wcsph", &n);
  assert_true(n > 0);
  for (size_t k = 0; k < n; ++k) {
    FloError error;
    double value;
    assert_ok(flo_world_get_param(world, params[k].name, &value, &error), &error);
    assert_true(value == params[k].value);
    assert_true(value >= params[k].low && value <= params[k].high);
    assert_refused(flo_world_set_param(world, params[k].name, params[k].low - 1, &error), &error,
                   params[k].name);
    assert_refused(flo_world_set_param(world, params[k].name, params[k].high * 1.01, &error), &error,
                   params[k].name);
    assert_refused(flo_world_set_param(world, params[k].name, NAN, &error), &error, params[k].name);
    assert_ok(flo_world_set_param(world, params[k].name, params[k].high, &error), &error);
    assert_ok(flo_world_get_param(world, params[k].name, &value, &error), &error);
    assert_true(value == params[k].high);
  }
  flo_world_destroy(world);
}

static void test_unknown_parameters_are_refused(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  double value;
  assert_refused(flo_world_set_param(world, "magic", 1, &error), &error, "magic");
  assert_refused(flo_world_get_param(world, "", &value, &error), &error, "parameter");
  flo_world_destroy(world);
}

static void test_the_speed_of_sound_limits_the_time_step(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  const char *reason;
  assert_ok(flo_world_set_param(world, "sound_speed", 100, &error), &error);
  assert_close(flo_world_max_dt(world, &reason), 0.4 * 0.02 / 100, 1e-9);
  assert_string_equal(reason, "sound");
  flo_world_destroy(world);
}

static void test_parameters_may_change_between_steps(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  assert_ok(flo_world_set_param(world, "sound_speed", 20, &error), &error);
  step_world(world, 1);
  double before = flo_world_max_dt(world, NULL);
  assert_ok(flo_world_set_param(world, "sound_speed", 40, &error), &error);
  assert_close(flo_world_max_dt(world, NULL), before / 2, 0.05 * before);
  flo_world_destroy(world);
}

// ---- Stepping ----

static void test_a_world_without_fluid_steps(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloStepInfo info;
  FloError error;
  assert_ok(flo_world_step(world, &info, &error), &error);
  assert_true(info.dt > 0 && info.time == info.dt && info.step == 1);
  assert_ok(flo_world_advance(world, 0.1, &info, &error), &error);
  assert_true(flo_world_time(world) == 0.1);
  flo_world_destroy(world);
}

static void test_a_lone_particle_falls_freely(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    def.time_step = 1e-3;
    FloWorld *world = create_world(&def);
    FloError error;
    const double x[3] = {1, 2, 0};
    const float v[3] = {3, 0, 0};
    assert_ok(flo_world_add_particles(world, add_water(world), 1, x, v, &error), &error);
    step_world(world, 100);
    const char *down = dim == 2 ? "y" : "z", *speed = dim == 2 ? "vy" : "vz";
    assert_close(field_at(world, FLO_SET_FLUID, "x", 0), 1.3, 1e-6);
    assert_close(field_at(world, FLO_SET_FLUID, speed, 0), -0.981, 1e-5);
    assert_close(field_at(world, FLO_SET_FLUID, down, 0), (dim == 2 ? 2 : 0) - 9.81 * 1e-6 * 5050, 1e-6);
    flo_world_destroy(world);
  }
}

static void test_step_info_says_what_was_done(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  double time = 0;
  for (uint64_t k = 1; k <= 20; ++k) {
    FloStepInfo info;
    double longest = flo_world_max_dt(world, NULL);
    assert_ok(flo_world_step(world, &info, &error), &error);
    assert_true(info.dt == longest);
    assert_true(info.time == time + info.dt);
    assert_true(info.step == k);
    assert_true(info.time == flo_world_time(world));
    time = info.time;
  }
  flo_world_destroy(world);
}

static void test_advance_lands_exactly(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  FloWorld *world = create_dam(&def);
  FloError error;
  for (int frame = 1; frame <= 20; ++frame) {
    FloStepInfo info;
    double time = frame * 0.0037;
    assert_ok(flo_world_advance(world, time, &info, &error), &error);
    assert_true(flo_world_time(world) == time);
    assert_true(info.time == time);
    assert_true(info.dt > 1e-6);
  }
  uint64_t hash = flo_world_hash(world);
  assert_ok(flo_world_advance(world, 0.01, NULL, &error), &error);
  assert_ok(flo_world_advance(world, 20 * 0.0037, NULL, &error), &error);
  assert_true(flo_world_hash(world) == hash);
  assert_refused(flo_world_advance(world, NAN, NULL, &error), &error, "time");
  assert_refused(flo_world_advance(world, INFINITY, NULL, &error), &error, "time");
  flo_world_destroy(world);
}

// Where t + (T - t) rounds to something else than T, the world must land on T all the same.
static void test_advance_lands_exactly_in_long_strides(void **state) {
  (void)state;
  Random random = {12};
  for (int k = 0; k < 100; ++k) {
    FloWorldDef def = small_world_def(2);
    def.time_step = 1e3;
    FloWorld *world = create_world(&def);
    FloError error;
    for (double time = random_between(&random, 0, 1); time < 100; time *= random_between(&random, 2, 10)) {
      FloStepInfo info;
      assert_ok(flo_world_advance(world, time, &info, &error), &error);
      assert_true(flo_world_time(world) == time);
      assert_true(info.time == time);
    }
    flo_world_destroy(world);
  }
}

static void test_a_fixed_time_step_is_kept(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.time_step = 1.25e-4;
  FloWorld *world = create_dam(&def);
  const char *reason;
  FloStepInfo info;
  FloError error;
  assert_true(flo_world_max_dt(world, &reason) == 1.25e-4);
  assert_string_equal(reason, "time_step");
  for (int k = 0; k < 10; ++k) {
    assert_ok(flo_world_step(world, &info, &error), &error);
    assert_true(info.dt == 1.25e-4);
  }
  assert_ok(flo_world_advance(world, 1.3e-3, &info, &error), &error);
  assert_close(info.dt, 0.5e-4, 1e-12);
  assert_int_equal(info.step, 11);
  flo_world_destroy(world);
}

// Ten steps of a tenth make a whole; what rounding leaves over is not worth a step of its own.
static void test_fixed_steps_leave_no_sliver(void **state) {
  (void)state;
  const double steps[] = {1e-4, 3e-4, 7e-4, 1e-3};
  for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k) {
    FloWorldDef def = small_world_def(2);
    def.time_step = steps[k];
    FloWorld *world = create_world(&def);
    FloStepInfo info;
    FloError error;
    for (int frame = 1; frame <= 10; ++frame) {
      assert_ok(flo_world_advance(world, frame * 10 * steps[k], &info, &error), &error);
      assert_close(info.dt, steps[k], 1e-9 * steps[k]);
      assert_int_equal(info.step, frame * 10);
    }
    flo_world_destroy(world);
  }
}

static double largest(const FloWorld *world, const char *field) {
  FloView view = view_of(world, FLO_SET_FLUID, field);
  double most = 0;
  for (size_t i = 0; i < view.count; ++i) most = fmax(most, fabs(view_at(&view, i)));
  return most;
}

// Whoever lands on a time just after a step asks for a tiny one; it must not be felt in the next.
static void test_a_very_short_step_does_not_shake_the_fluid(void **state) {
  (void)state;
  const double tiny[] = {1e-7, 1e-9, 1e-11, 1e-13};
  for (size_t k = 0; k < FLO_COUNT_OF(tiny); ++k) {
    FloWorldDef def = small_world_def(3);
    FloWorld *world = create_dam(&def);
    FloError error;
    step_world(world, 40);
    double pressure = largest(world, "pressure"), acceleration = largest(world, "az");
    assert_ok(flo_world_advance(world, flo_world_time(world) + tiny[k], NULL, &error), &error);
    for (int step = 0; step < 3; ++step) {
      step_world(world, 1);
      assert_close(largest(world, "pressure"), pressure, 0.5 * pressure);
      assert_close(largest(world, "az"), acceleration, 0.5 * acceleration);
    }
    flo_world_destroy(world);
  }
}

// One step after the other is the same as all at once, to the bit.
static void test_steps_until_a_time_are_those_of_advancing_to_it(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *single = create_dam(&def), *whole = create_dam(&def);
  FloError error;
  FloStepInfo info = {0};
  uint64_t n = 0;
  for (double time = 0.01; time < 0.025; time += 0.01) {
    for (; flo_world_time(single) < time; ++n)
      assert_ok(flo_world_step_until(single, time, &info, &error), &error);
    assert_ok(flo_world_advance(whole, time, NULL, &error), &error);
    assert_true(flo_world_time(single) == time);
    assert_true(flo_world_hash(single) == flo_world_hash(whole));
    assert_int_equal(info.step, n);
    // There already: nothing is left to do.
    assert_ok(flo_world_step_until(single, time, &info, &error), &error);
    assert_int_equal(info.step, n);
  }
  assert_refused(flo_world_step_until(single, INFINITY, NULL, &error), &error, "finite");
  flo_world_destroy(single);
  flo_world_destroy(whole);
}

static void test_a_time_step_below_the_smallest_means_divergence(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.min_time_step = 4e-3;
  FloWorld *world = create_dam(&def);
  FloError error;
  uint64_t hash = flo_world_hash(world);
  assert_fails(flo_world_step(world, NULL, &error), FLO_DIVERGED, &error, "min_time_step");
  assert_non_null(strstr(error.text, "sound"));
  assert_true(flo_world_hash(world) == hash);
  flo_world_destroy(world);
}

static void test_the_longest_time_step_is_respected(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.max_time_step = 1e-5;
  FloWorld *world = create_dam(&def);
  const char *reason;
  assert_true(flo_world_max_dt(world, &reason) == 1e-5);
  assert_string_equal(reason, "max_time_step");
  flo_world_destroy(world);
}

static void test_fast_particles_added_later_shorten_the_next_step(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  const double x[3] = {0.2, 0.06, 0.6};
  const float v[3] = {-100, 0, 0};
  step_world(world, 2);
  assert_ok(flo_world_add_particles(world, (FloMaterialId){0, 1}, 1, x, v, &error), &error);
  assert_true(flo_world_max_dt(world, NULL) <= def.cfl * def.spacing / 100);
  flo_world_destroy(world);
}

// The speed of sound is chosen for the fluid there is, not for the fluid there was before the first step.
static void test_fluid_added_to_a_running_world_gets_its_speed_of_sound(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  const double low[3] = {0}, high[3] = {0.1, 0.1, 0.5};
  double longest[2];
  for (int is_running = 0; is_running <= 1; ++is_running) {
    FloWorld *world = create_world(&def);
    FloMaterialId water = add_water(world);
    if (is_running) step_world(world, 1);
    add_block(world, water, low, high);
    longest[is_running] = flo_world_max_dt(world, NULL);
    flo_world_destroy(world);
  }
  assert_close(longest[1], longest[0], 0.01 * longest[0]);
}

static void test_a_fast_wall_limits_the_time_step(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloMotionDef motion = flo_default_motion_def();
  const char *reason;
  motion.vector[0] = 1000;
  add_moving_box(world, box_shape(0.1, 0.1, 0.1), flo_pose_identity(), &motion);
  assert_true(flo_world_max_dt(world, &reason) <= 0.4 * 0.02 / 1000);
  flo_world_destroy(world);
}

// A drop beside the floor falls past it and on for ever: from then on it is nobody's business.
static void test_what_has_fallen_past_all_walls_does_not_shorten_steps(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = empty_world(3);
  FloMaterialId water = add_water(world);
  FloBodyDef floor = flo_default_body_def();
  floor.shape = box_shape(0.2, 0.2, 0.1);
  assert_ok(flo_world_set_param(world, "sound_speed", 10, &error), &error);
  add_body(world, &floor);
  const double near[3] = {1, 0, 0}, far[3] = {1, 0, -1}, resting[3] = {0, 0, 0.2};
  const float fast[3] = {0, 0, -500};
  assert_ok(flo_world_add_particles(world, water, 1, resting, NULL, &error), &error);
  double without = flo_world_max_dt(world, NULL);
  assert_ok(flo_world_add_particles(world, water, 1, far, fast, &error), &error);
  assert_close(flo_world_max_dt(world, NULL), without, 1e-12);
  assert_ok(flo_world_step(world, NULL, &error), &error);
  assert_close(flo_world_max_dt(world, NULL), without, 0.01 * without); // the other one falls, too
  assert_ok(flo_world_add_particles(world, water, 1, near, fast, &error), &error);
  assert_true(flo_world_max_dt(world, NULL) < without / 10);
  flo_world_destroy(world);
}

static void test_a_strong_force_limits_the_time_step(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.gravity[2] = -1e6, def.max_time_step = 8.5e-5;
  FloWorld *world = create_world(&def);
  FloError error;
  const char *reason;
  const double x[3] = {0};
  assert_ok(flo_world_set_param(world, "sound_speed", 1, &error), &error);
  assert_ok(flo_world_add_particles(world, add_water(world), 1, x, NULL, &error), &error);
  step_world(world, 1);
  assert_close(flo_world_max_dt(world, &reason), 0.5 * sqrt(def.spacing / 1e6), 1e-9);
  assert_string_equal(reason, "force");
  flo_world_destroy(world);
}

static void test_periodic_worlds_wrap_around(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  vec_set(def.gravity, 0, 0, 0);
  for (int axis = 0; axis < 3; ++axis)
    def.periodic[axis] = true, def.domain_low[axis] = -0.3, def.domain_high[axis] = 0.2;
  def.domain_low[1] = 0, def.domain_high[1] = 0.5;
  def.time_step = 1e-3;
  FloWorld *world = create_world(&def);
  FloError error;
  // The second stands so little below the low end that adding a period rounds to the high end.
  const double x[6] = {0.19, 0.1, -0.29, -0.1, -1e-20, 0};
  const float v[6] = {1, 0, -1, 0, 0, 0};
  assert_ok(flo_world_add_particles(world, add_water(world), 2, x, v, &error), &error);
  for (int k = 0; k < 50; ++k) {
    step_world(world, 1);
    double y = field_at(world, FLO_SET_FLUID, "y", index_of_id(world, 1));
    assert_true(y >= 0 && y < 0.5);
  }
  size_t i = index_of_id(world, 0);
  assert_close(field_at(world, FLO_SET_FLUID, "x", i), -0.26, 1e-6);
  assert_close(field_at(world, FLO_SET_FLUID, "y", i), 0.1, 1e-6);
  assert_close(field_at(world, FLO_SET_FLUID, "z", i), 0.16, 1e-6);
  flo_world_destroy(world);
}

// ---- Divergence ----

static uint32_t named_particle(const FloError *error) {
  const char *name = strstr(error->text, "particle ");
  if (!name) fail_msg("no particle in '%s'", error->text);
  return (uint32_t)strtoul(name + strlen("particle "), NULL, 10);
}

static void expect_bad_particle(const FloWorld *world, uint32_t id, double dt) {
  uint32_t found = UINT32_MAX;
  double position[3], time_step = 0;
  assert_true(flo_world_bad_particle(world, NULL, NULL, NULL));
  assert_true(flo_world_bad_particle(world, position, &found, &time_step));
  assert_int_equal(found, id);
  assert_true(position[1] == field_at(world, FLO_SET_FLUID, "y", index_of_id(world, id)) ||
              isnan(position[1]));
  assert_close(time_step, dt, 1e-9 * dt);
}

// A particle with a velocity along y that the library would refuse: it is written past the library.
static void add_bad_particle(FloWorld *world, const double x[3], float vy) {
  FloError error;
  assert_ok(flo_world_add_particles(world, (FloMaterialId){0, 1}, 1, x, NULL, &error), &error);
  const FloView view = view_of(world, FLO_SET_FLUID, "vy");
  ((float *)view.data)[view.count - 1] = vy;
}

static void test_a_velocity_that_is_not_a_number_diverges_and_is_named(void **state) {
  (void)state;
  const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    FloWorldDef def = small_world_def(3);
    def.time_step = 1e-4;
    FloWorld *world = create_dam(&def);
    FloError error;
    uint32_t id = (uint32_t)flo_world_count(world, FLO_SET_FLUID);
    add_bad_particle(world, (const double[3]){0.12, 0.06, 0.5}, bad[k]);
    FloStatus status = FLO_OK;
    for (int step = 0; status == FLO_OK && step < 3; ++step) status = flo_world_step(world, NULL, &error);
    assert_int_equal(status, FLO_DIVERGED);
    assert_int_equal(named_particle(&error), id);
    expect_bad_particle(world, id, 1e-4);
    flo_world_destroy(world);
  }
}

static void test_divergence_in_a_crowd_names_a_particle_that_is_bad(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  add_bad_particle(world, (const double[3]){0.05, 0.05, 0.05}, NAN);
  assert_int_equal(flo_world_step(world, NULL, &error), FLO_DIVERGED);
  size_t i = index_of_id(world, named_particle(&error));
  assert_false(isfinite(field_at(world, FLO_SET_FLUID, "vy", i)));
  flo_world_destroy(world);
}

static void test_a_particle_out_of_reach_diverges_and_is_named(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  uint32_t id = (uint32_t)flo_world_count(world, FLO_SET_FLUID);
  const double x[3] = {0, 1e12, 0};
  def.min_time_step = 0;
  assert_ok(flo_world_add_particles(world, (FloMaterialId){0, 1}, 1, x, NULL, &error), &error);
  assert_int_equal(flo_world_set_param(world, "sound_speed", 20, &error), FLO_OK);
  assert_int_equal(flo_world_step(world, NULL, &error), FLO_DIVERGED);
  assert_int_equal(named_particle(&error), id);
  expect_bad_particle(world, id, flo_world_max_dt(world, NULL));
  flo_world_destroy(world);
}

// Where no single one went wrong, it is the fastest.
static void test_a_step_too_short_is_the_fault_of_the_fastest(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.min_time_step = 4e-3;
  FloWorld *world = create_dam(&def);
  FloError error;
  uint32_t id = (uint32_t)flo_world_count(world, FLO_SET_FLUID);
  const double x[6] = {0.12, 0.06, 0.5, 0.12, 0.06, 0.6};
  const float v[6] = {0, -3, 0, 2, 0, 0};
  assert_ok(flo_world_add_particles(world, (FloMaterialId){0, 1}, 2, x, v, &error), &error);
  assert_false(flo_world_bad_particle(world, NULL, NULL, NULL));
  assert_fails(flo_world_step(world, NULL, &error), FLO_DIVERGED, &error, "min_time_step");
  expect_bad_particle(world, id, flo_world_max_dt(world, NULL));
  flo_world_destroy(world);
}

static void test_nobody_is_bad_without_divergence(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloState *good = NULL;
  FloError error;
  assert_ok(flo_world_save(world, &good, &error), &error);
  step_world(world, 1);
  assert_false(flo_world_bad_particle(world, NULL, NULL, NULL));
  add_bad_particle(world, (const double[3]){0.05, 0.05, 0.05}, NAN);
  assert_int_equal(flo_world_step(world, NULL, &error), FLO_DIVERGED);
  assert_true(flo_world_bad_particle(world, NULL, NULL, NULL));
  assert_ok(flo_world_restore(world, good, &error), &error);
  assert_false(flo_world_bad_particle(world, NULL, NULL, NULL));
  flo_state_destroy(good);
  flo_world_destroy(world);
}

// ---- Several worlds ----

static void test_two_worlds_at_once_do_not_disturb_each_other(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3), other_def = small_world_def(2);
  other_def.kernel = FLO_KERNEL_QUINTIC;
  FloWorld *alone = create_dam(&def), *other_alone = create_dam(&other_def);
  step_world(alone, 30);
  step_world(other_alone, 30);
  FloWorld *a = create_dam(&def), *b = create_dam(&other_def);
  for (int k = 0; k < 30; ++k) step_world(a, 1), step_world(b, 1);
  assert_true(flo_world_hash(a) == flo_world_hash(alone));
  assert_true(flo_world_hash(b) == flo_world_hash(other_alone));
  assert_true(flo_world_hash(a) != flo_world_hash(b));
  FloWorld *worlds[] = {alone, other_alone, a, b};
  for (size_t k = 0; k < FLO_COUNT_OF(worlds); ++k) flo_world_destroy(worlds[k]);
}

static void test_the_hash_follows_the_state(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def), *same = create_dam(&def);
  uint64_t hash = flo_world_hash(world);
  assert_true(hash == flo_world_hash(same));
  step_world(world, 1);
  assert_true(hash != flo_world_hash(world));
  flo_world_destroy(world);
  flo_world_destroy(same);
}

// Twenty steps of 5 ms fill a tenth of a second, though rounding says a little less; a bit more is shared
// out.
static void test_whole_steps_are_not_halved(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloError error;
  FloStepInfo info;
  def.max_time_step = 0.005;
  FloWorld *world = create_world(&def);
  for (int frame = 1; frame <= 40; ++frame) {
    assert_ok(flo_world_advance(world, 0.1 * frame, &info, &error), &error);
    assert_int_equal(info.step, 20 * frame);
    assert_close(info.dt, 0.005, 1e-12);
  }
  assert_ok(flo_world_advance(world, 4.012, &info, &error), &error);
  assert_int_equal(info.step, 803);
  assert_close(info.dt, 0.0035, 1e-12);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_sizes_of_a_world_are_named),
      cmocka_unit_test(test_bad_times_of_a_world_are_named),
      cmocka_unit_test(test_bad_methods_are_named),
      cmocka_unit_test(test_bad_periods_are_named),
      cmocka_unit_test(test_domains_of_axes_that_do_not_repeat_are_not_read),
      cmocka_unit_test(test_destroying_nothing_is_fine),
      cmocka_unit_test(test_every_kernel_and_dimension_makes_a_world_that_steps),
      cmocka_unit_test(test_parameters_have_ranges),
      cmocka_unit_test(test_unknown_parameters_are_refused),
      cmocka_unit_test(test_the_speed_of_sound_limits_the_time_step),
      cmocka_unit_test(test_parameters_may_change_between_steps),
      cmocka_unit_test(test_a_world_without_fluid_steps),
      cmocka_unit_test(test_a_lone_particle_falls_freely),
      cmocka_unit_test(test_step_info_says_what_was_done),
      cmocka_unit_test(test_advance_lands_exactly),
      cmocka_unit_test(test_advance_lands_exactly_in_long_strides),
      cmocka_unit_test(test_a_fixed_time_step_is_kept),
      cmocka_unit_test(test_fixed_steps_leave_no_sliver),
      cmocka_unit_test(test_a_very_short_step_does_not_shake_the_fluid),
      cmocka_unit_test(test_steps_until_a_time_are_those_of_advancing_to_it),
      cmocka_unit_test(test_a_time_step_below_the_smallest_means_divergence),
      cmocka_unit_test(test_the_longest_time_step_is_respected),
      cmocka_unit_test(test_fast_particles_added_later_shorten_the_next_step),
      cmocka_unit_test(test_fluid_added_to_a_running_world_gets_its_speed_of_sound),
      cmocka_unit_test(test_a_fast_wall_limits_the_time_step),
      cmocka_unit_test(test_what_has_fallen_past_all_walls_does_not_shorten_steps),
      cmocka_unit_test(test_a_strong_force_limits_the_time_step),
      cmocka_unit_test(test_periodic_worlds_wrap_around),
      cmocka_unit_test(test_a_velocity_that_is_not_a_number_diverges_and_is_named),
      cmocka_unit_test(test_divergence_in_a_crowd_names_a_particle_that_is_bad),
      cmocka_unit_test(test_a_particle_out_of_reach_diverges_and_is_named),
      cmocka_unit_test(test_a_step_too_short_is_the_fault_of_the_fastest),
      cmocka_unit_test(test_nobody_is_bad_without_divergence),
      cmocka_unit_test(test_two_worlds_at_once_do_not_disturb_each_other),
      cmocka_unit_test(test_the_hash_follows_the_state),
      cmocka_unit_test(test_whole_steps_are_not_halved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
