// Questions to a world: views, measurements, samples; and that asking changes nothing.
#include "support/worlds.h"

// ---- Views ----

static void check_views(const FloWorld *world, FloSet set) {
  const char *name;
  size_t n = 0;
  for (; (name = flo_world_field_name(world, set, n)); ++n) {
    static const size_t sizes[] = {
        [FLO_TYPE_F32] = 4, [FLO_TYPE_F64] = 8, [FLO_TYPE_U16] = 2, [FLO_TYPE_U32] = 4};
    FloView view = view_of(world, set, name);
    assert_int_equal(view.count, flo_world_count(world, set));
    assert_int_equal(view.stride, sizes[view.type]);
    assert_non_null(view.data);
    assert_true(view.unit && view.meaning && strlen(view.meaning) > 0);
    for (size_t i = 0; i < view.count; ++i) assert_true(isfinite(view_at(&view, i)));
  }
  assert_true(n > 5);
  assert_null(flo_world_field_name(world, set, n + 10));
}

static void test_views_show_every_field_of_a_set(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  check_views(world, FLO_SET_FLUID);
  check_views(world, FLO_SET_BOUNDARY);
  step_world(world, 3);
  check_views(world, FLO_SET_FLUID);
  check_views(world, FLO_SET_BOUNDARY);
  flo_world_destroy(world);
}

static void test_views_of_fields_a_set_has_not_are_refused(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  FloView view;
  assert_refused(flo_world_view(world, FLO_SET_FLUID, "magic", &view, &error), &error, "magic");
  assert_refused(flo_world_view(world, FLO_SET_BOUNDARY, "mass", &view, &error), &error, "mass");
  assert_refused(flo_world_view(world, FLO_SET_FLUID, "volume", &view, &error), &error, "volume");
  flo_world_destroy(world);
}

static void test_ids_are_unique_and_stay_with_their_particle(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; ++i) {
    size_t id = (size_t)field_at(world, FLO_SET_FLUID, "id", i);
    assert_true(id < n);
    x[id] = field_at(world, FLO_SET_FLUID, "x", i);
  }
  step_world(world, 5);
  unsigned char *seen = calloc(n, 1);
  for (size_t i = 0; i < n; ++i) {
    size_t id = (size_t)field_at(world, FLO_SET_FLUID, "id", i);
    assert_int_equal(seen[id]++, 0);
    assert_close(field_at(world, FLO_SET_FLUID, "x", i), x[id], 0.01);
  }
  free(x), free(seen);
  flo_world_destroy(world);
}

// ---- Answers ----

static void test_measurements_of_known_particles(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  const double x[6] = {1, 0, 2, 0, 1, 4};
  const float v[6] = {0, 2, 0, 0, 0, 4};
  assert_ok(flo_world_add_particles(world, add_material(world, 500, 0), 2, x, v, &error), &error);
  FloMeasurements f = flo_world_measure(world);
  const double m = 500 * 8e-6;
  assert_int_equal(f.fluid_particles, 2);
  assert_int_equal(f.boundary_particles, 0);
  assert_close(f.kinetic_energy, m * (4 + 16) / 2, 1e-8);
  assert_close(f.potential_energy, m * 9.81 * 6, 1e-7);
  assert_close_3(f.momentum, ((double[3]){0, 2 * m, 4 * m}), 1e-9);
  assert_close_3(f.angular_momentum, ((double[3]){(-4 + 4) * m, 0, 2 * m}), 1e-9);
  assert_close(f.max_speed, 4, 1e-6);
  assert_true(f.density_error_mean == 0 && f.density_error_max == 0);
  flo_world_destroy(world);
}

static void test_particles_deep_inside_a_solid_are_counted(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  FloBodyDef def = flo_default_body_def(); // a cube of one metre
  const double x[9] = {0.48, 0, 0, 0.495, 0, 0, 0.7, 0, 0};
  add_body(world, &def);
  assert_ok(flo_world_add_particles(world, add_water(world), 3, x, NULL, &error), &error);
  assert_int_equal(flo_world_measure(world).penetrations, 1);
  flo_world_destroy(world);
}

static void test_measurements_of_an_empty_world_are_zero(void **state) {
  (void)state;
  FloWorld *world = empty_world(2);
  FloMeasurements f = flo_world_measure(world);
  assert_true(f.kinetic_energy == 0 && f.max_speed == 0 && f.density_error_mean == 0 &&
              f.density_error_max == 0);
  flo_world_destroy(world);
}

// A lattice of `n` points an edge, `scale` spacings apart, in a world without gravity.
static FloWorld *lattice_world(int dim, int n, double scale) {
  FloWorldDef def = small_world_def(dim);
  vec_set(def.gravity, 0, 0, 0);
  def.time_step = 1e-7;
  FloWorld *world = create_world(&def);
  FloMaterialId water = add_water(world);
  FloError error;
  for (int k = 0; k < (dim == 3 ? n : 1); ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const double x[3] = {i * scale * def.spacing, j * scale * def.spacing, k * scale * def.spacing};
        assert_ok(flo_world_add_particles(world, water, 1, x, NULL, &error), &error);
      }
  return world;
}

static void test_a_sample_inside_a_lattice_is_the_rest_density(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = lattice_world(dim, 9, 1);
    step_world(world, 1);
    for (int k = 0; k <= 4; ++k) {
      const double at = (4 + 0.25 * k) * 0.02, point[3] = {at, at, dim == 3 ? at : 0};
      double density, pressure;
      flo_world_sample(world, point, &density, &pressure);
      assert_close(density, 1000, 20);
      assert_true(isfinite(pressure) && pressure >= 0);
    }
    flo_world_destroy(world);
  }
}

static void test_a_sample_inside_a_squeezed_lattice_is_what_the_particles_have(void **state) {
  (void)state;
  FloWorld *world = lattice_world(3, 11, 0.95);
  step_world(world, 1);
  size_t i = index_of_id(world, 5 * 121 + 5 * 11 + 5);
  const double at = 5 * 0.95 * 0.02, point[3] = {at, at, at};
  double density, pressure, particle = field_at(world, FLO_SET_FLUID, "density", i);
  flo_world_sample(world, point, &density, &pressure);
  assert_close(particle, 1000 / pow(0.95, 3), 20);
  assert_close(density, particle, 0.01 * particle);
  assert_close(pressure, field_at(world, FLO_SET_FLUID, "pressure", i), 0.01 * pressure);
  flo_world_destroy(world);
}

static void test_a_sample_far_from_fluid_is_zero(void **state) {
  (void)state;
  FloWorld *world = lattice_world(3, 5, 1);
  const double points[][3] = {{1, 0, 0}, {-0.05, 0, 0}, {1e30, 0, 0}, {NAN, 0, 0}, {0, INFINITY, 0}};
  step_world(world, 1);
  for (size_t k = 0; k < FLO_COUNT_OF(points); ++k) {
    double density = 1, pressure = 1;
    flo_world_sample(world, points[k], &density, &pressure);
    assert_true(density == 0 && pressure == 0);
  }
  flo_world_destroy(world);
}

static void test_a_sample_needs_no_step(void **state) {
  (void)state;
  FloWorld *world = lattice_world(3, 9, 1);
  const double at = 4 * 0.02, point[3] = {at, at, at};
  double density, pressure;
  flo_world_sample(world, point, &density, &pressure);
  assert_close(density, 1000, 20);
  flo_world_destroy(world);
}

// ---- Questions must not change the answer ----

static void ask_everything(FloWorld *world) {
  const double point[3] = {0.05, 0.05, 0.05};
  double density, pressure;
  FloBodyState s;
  FloError error;
  flo_world_measure(world);
  flo_world_max_dt(world, NULL);
  flo_world_sample(world, point, &density, &pressure);
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &s, &error), &error);
  flo_world_hash(world);
  flo_world_memory(world);
}

static void test_asking_does_not_change_the_run(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    FloWorld *silent = create_dam(&def), *asked = create_dam(&def);
    for (int k = 0; k < 60; ++k) {
      step_world(silent, 1);
      ask_everything(asked);
      step_world(asked, 1);
      if (flo_world_hash(asked) != flo_world_hash(silent)) fail_msg("different after %d steps", k + 1);
    }
    flo_world_destroy(silent);
    flo_world_destroy(asked);
  }
}

static void test_asking_for_the_time_step_early_does_not_change_the_run(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  uint64_t hashes[2];
  for (int is_asked = 0; is_asked <= 1; ++is_asked) {
    FloWorld *world = create_world(&def);
    const double low[3] = {0}, high[3] = {0.1, 0.1, 0.2};
    if (is_asked) flo_world_max_dt(world, NULL);
    add_block(world, add_water(world), low, high);
    step_world(world, 3);
    hashes[is_asked] = flo_world_hash(world);
    flo_world_destroy(world);
  }
  assert_true(hashes[0] == hashes[1]);
}

// ---- About ----

static void test_methods_stages_and_names(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  size_t n;
  double seconds = -1;
  assert_true(flo_method_count() >= 1);
  for (size_t k = 0; k < flo_method_count(); ++k) {
    assert_non_null(flo_method_paper(flo_method_name(k)));
    const FloParam *params = flo_method_params(flo_method_name(k), &n);
    for (size_t p = 0; p < n; ++p) assert_true(params[p].unit && strlen(params[p].help) > 0);
  }
  assert_null(flo_method_name(flo_method_count()));
  assert_null(flo_method_paper("magic"));
  assert_null(flo_method_params("magic", &n));
  assert_int_equal(n, 0);
  assert_non_null(flo_world_stage(world, 0, &seconds));
  assert_true(seconds >= 0);
  assert_null(flo_world_stage(world, 100, NULL));
  assert_true(flo_world_memory(world) > 0);
  assert_true(strlen(flo_version()) > 0);
  assert_true(!strcmp(flo_simd_name(), "avx2") || !strcmp(flo_simd_name(), "generic"));
  for (int status = FLO_OK; status <= FLO_UNSUPPORTED; ++status)
    assert_string_not_equal(flo_status_name((FloStatus)status), "unknown");
  assert_string_equal(flo_status_name((FloStatus)99), "unknown");
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_views_show_every_field_of_a_set),
      cmocka_unit_test(test_views_of_fields_a_set_has_not_are_refused),
      cmocka_unit_test(test_ids_are_unique_and_stay_with_their_particle),
      cmocka_unit_test(test_measurements_of_known_particles),
      cmocka_unit_test(test_particles_deep_inside_a_solid_are_counted),
      cmocka_unit_test(test_measurements_of_an_empty_world_are_zero),
      cmocka_unit_test(test_a_sample_inside_a_lattice_is_the_rest_density),
      cmocka_unit_test(test_a_sample_inside_a_squeezed_lattice_is_what_the_particles_have),
      cmocka_unit_test(test_a_sample_far_from_fluid_is_zero),
      cmocka_unit_test(test_a_sample_needs_no_step),
      cmocka_unit_test(test_asking_does_not_change_the_run),
      cmocka_unit_test(test_asking_for_the_time_step_early_does_not_change_the_run),
      cmocka_unit_test(test_methods_stages_and_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
