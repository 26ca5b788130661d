// Rows of wet samples: their volume errors are what measured kernel sums become, walls bear what fluid and
// bodies lack, and the switch and surface tension leave them out. For their equations by brute force see
// test_monolithic_system.c.
#include "support/monolithic_model.h"

// ---- Errors against finite differences ----

// The places of all points after a while at the velocities that the step has found.
typedef struct Places {
  Point *fluid, *rigid, *walls;
} Places;

static Point *moved_samples(const Model *m, const Point *samples, size_t n, double time) {
  Point *points = calloc(n + 1, sizeof *points);
  for (size_t k = 0; k < n; ++k) {
    double v[3];
    velocity_at(m, &samples[k], samples[k].x, v);
    points[k] = samples[k];
    vec_add_scaled(samples[k].x, v, time, points[k].x);
  }
  return points;
}

static Places places_after(const Model *m, double time) {
  Places places = {.fluid = calloc(m->n_fluid + 1, sizeof(Point))};
  for (size_t i = 0; i < m->n_fluid; ++i) {
    const float *v = m->mono->velocity + 4 * i;
    const double wide[3] = {(double)v[0], (double)v[1], (double)v[2]};
    places.fluid[i] = m->fluid[i];
    vec_add_scaled(m->fluid[i].x, wide, time, places.fluid[i].x);
  }
  places.rigid = moved_samples(m, m->rigid, m->n_rigid, time);
  places.walls = moved_samples(m, m->walls, m->n_walls, time);
  return places;
}

static void free_places(Places *places) { free(places->fluid), free(places->rigid), free(places->walls); }

static double sum_around(const Model *m, const Places *places, const Point *at, bool has_solids) {
  double sum = 0;
  for (size_t j = 0; j < m->n_fluid; ++j) sum += m->rest_volume * pair_of(m, at, &places->fluid[j]).w;
  for (size_t k = 0; has_solids && k < m->n_rigid; ++k)
    sum += places->rigid[k].volume * pair_of(m, at, &places->rigid[k]).w;
  for (size_t k = 0; has_solids && k < m->n_walls; ++k)
    sum += places->walls[k].volume * pair_of(m, at, &places->walls[k]).w;
  return sum;
}

// The kernel sum of a row: a particle sees everything, a wet sample fluid.
static double sum_of_row(const Model *m, const Places *places, size_t row) {
  if (row < m->n_fluid) return sum_around(m, places, &places->fluid[row], true);
  for (size_t k = 0; k < m->n_rigid; ++k)
    if (m->rigid[k].wet == (int)row) return sum_around(m, places, &places->rigid[k], false);
  for (size_t k = 0; k < m->n_walls; ++k)
    if (m->walls[k].wet == (int)row) return sum_around(m, places, &places->walls[k], false);
  fail_msg("no sample has the row %zu", row);
  return 0;
}

static const Point *sample_of_row(const Model *m, size_t row) {
  for (size_t k = 0; row >= m->n_fluid && k < m->n_rigid + m->n_walls; ++k)
    if (sample_at(m, k)->wet == (int)row) return sample_at(m, k);
  return NULL;
}

// The volume error at the start of the step, from kernel sums alone.
static double start_of_row(const Model *m, const Places *now, size_t row) {
  const Point *sample = sample_of_row(m, row);
  double room = sample ? wet_sums(m, sample).room : 1;
  return corrected(m, room - sum_of_row(m, now, row) / m->rest_sum);
}

// Motion changes an error by as much as the kernel sum changes when everything moves.
static void check_rates(const Scene *scene) {
  Random random = {scene->seed};
  Model m = model_of(make_scene(scene));
  invent_unknowns(&m, &random);
  run(&m);
  compute_forces(&m);
  compute_body_velocities(&m);
  const double step = 1e-3 * m.dt;
  Places now = places_after(&m, 0), before = places_after(&m, -step), after = places_after(&m, step);
  double worst = 0, largest = 0;
  for (size_t row = 0; row < m.mono->n_pressures; row += row < m.n_fluid ? 3 : 1) {
    double rate = (sum_of_row(&m, &after, row) - sum_of_row(&m, &before, row)) / (2 * step);
    double expected = start_of_row(&m, &now, row) - m.dt * rate;
    worst = fmax(worst, fabs((double)m.mono->error[row] - expected));
    largest = fmax(largest, fabs(m.dt * rate));
  }
  assert_true(largest > 0.01);
  if (worst > 5e-5 * largest) fail_msg("errors are off by %g; motion changes them by %g", worst, largest);
  free_places(&now), free_places(&before), free_places(&after);
  model_free(&m);
}

static void test_errors_are_what_kernel_sums_become(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 2; ++seed)
    for (int dim = 2; dim <= 3; ++dim) {
      Scene scene = {.dim = dim, .seed = seed, .has_walls = true, .scale = dim == 2 ? 2 : 1};
      check_rates(&scene);
      scene.is_papers = true;
      check_rates(&scene);
    }
}

// ---- Walls ----

// The force of wet samples on walls is the opposite of that of walls on fluid.
static void test_walls_bear_what_their_pressures_push(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Random random = {3};
    Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = 3, .has_walls = true, .scale = 2}));
    const FloWet *walls = &m.mono->wet[0];
    float *force = calloc(4 * m.n_walls, sizeof *force);
    double total[3] = {0}, size = 0;
    assert_true(walls->n_rows > 10);
    clear_unknowns(&m);
    for (size_t row = 0; row < walls->n_rows; ++row)
      m.mono->pressure[walls->first_row + row] = (float)random_between(&random, 0, 500);
    run(&m);
    flo_monolithic_add_wet_forces(m.mono, force);
    for (size_t k = 0; k < m.n_walls; ++k)
      for (size_t axis = 0; axis < 3; ++axis) total[axis] += (double)force[4 * k + axis];
    for (size_t i = 0; i < m.n_fluid; ++i) {
      const float *f = m.mono->force + 4 * i;
      const double wide[3] = {(double)f[0], (double)f[1], (double)f[2]};
      vec_add(total, wide, total);
      size += vec_length(wide);
    }
    assert_true(size > 0);
    assert_close_3(total, ((double[3]){0}), 1e-6 * size);
    free(force);
    model_free(&m);
  }
}

// ---- Where there are none ----

static void test_surface_tension_and_the_switch_leave_them_out(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    FloWorldDef def = small_world_def(3);
    def.method = "monolithic", def.time_step = 1e-3;
    FloWorld *world = create_world(&def);
    const FloMonolithic *mono = world->method_state;
    FloMaterialDef water = flo_default_material_def();
    FloMaterialId id;
    FloError error;
    double s = def.spacing;
    const double low[3] = {0}, high[3] = {6 * s, 6 * s, 4 * s};
    if (k == 1) set_param(world, "wall_pressure", 0);
    if (k == 2) water.surface_tension = 0.07;
    assert_ok(flo_world_add_material(world, &water, &id, &error), &error);
    add_tank(world, 3, 6 * s, 6 * s, 6 * s);
    add_block(world, id, low, high);
    step_world(world, 1);
    assert_true((mono->n_pressures > mono->n_fluid) == (k == 0));
    assert_close(mono->rest_sum, k == 0 ? 0.996 : 1, 1e-9);
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors_are_what_kernel_sums_become),
      cmocka_unit_test(test_walls_bear_what_their_pressures_push),
      cmocka_unit_test(test_surface_tension_and_the_switch_leave_them_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
