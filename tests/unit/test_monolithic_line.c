// Steps of the best length: points of a line have the errors of the system, the energy is least where it is
// said to be, and the solver that uses them finds what Jacobi finds, sooner.
#include "solve/nncg.h"
#include "support/monolithic_model.h"

// A column beside a box: fluid that is coupled. A box that floats has no contact, one at half its height
// does.
static FloWorld *make_column(int dim, double spacings_up) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic", def.time_step = 1e-3;
  FloWorld *world = create_world(&def);
  double s = def.spacing, up = spacings_up * s;
  bool is_flat = dim == 2;
  FloBodyDef box = flo_default_body_def(), floor = box;
  floor.shape = is_flat ? box_shape(24 * s, 3 * s, 0) : box_shape(24 * s, 8 * s, 3 * s);
  floor.pose = is_flat ? pose_at(0, -1.5 * s, 0) : pose_at(0, 0, -1.5 * s);
  add_body(world, &floor);
  box.kind = FLO_BODY_DYNAMIC, box.density = 400;
  box.shape = box_shape(4 * s, 4 * s, is_flat ? 0 : 4 * s);
  box.pose = is_flat ? pose_at(5 * s, up, 0) : pose_at(5 * s, 0, up);
  add_body(world, &box);
  const double low[3] = {-6 * s, is_flat ? 0 : -3 * s, 0},
               high[3] = {3 * s, is_flat ? 16 * s : 3 * s, is_flat ? 0 : 16 * s};
  add_block(world, add_ideal_fluid(world, 1000), low, high);
  return world;
}

// A line from rough pressures to half as rough ones: even ones, twice as far, are about best. None comes to
// zero.
static Model make_line(int dim) {
  Model m = model_of(make_column(dim, 6));
  FloMonolithic *mono = m.mono;
  Random random = {7};
  float *half = malloc(mono->n_pressures * sizeof(float));
  assert_int_equal(mono->n_contacts, 0);
  assert_true(mono->n_coupled > 0 && mono->n_pressures > m.n_fluid);
  for (size_t i = 0; i < m.mono->n_pressures; ++i) {
    half[i] = (float)random_between(&random, -2e4, 2e4);
    mono->pressure[i] = mono->from_pressure[i] = 1e5f + 2 * half[i];
  }
  run(&m);
  memcpy(mono->from_error, mono->error, m.mono->n_pressures * sizeof(float));
  for (size_t i = 0; i < m.mono->n_pressures; ++i) mono->pressure[i] -= half[i];
  run(&m);
  free(half);
  return m;
}

static void test_points_of_a_line_have_the_errors_of_the_system(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double length = 0.25; length <= 4; length *= 2) {
      Model m = make_line(dim);
      float *gone = malloc(m.mono->n_pressures * sizeof(float));
      double largest = 0;
      flo_monolithic_go(m.world, m.mono, length);
      memcpy(gone, m.mono->error, m.mono->n_pressures * sizeof(float));
      run(&m);
      for (size_t i = 0; i < m.mono->n_pressures; ++i)
        largest = fmax(largest, fabs((double)m.mono->error[i]));
      for (size_t i = 0; i < m.mono->n_pressures; ++i)
        assert_close(gone[i], m.mono->error[i], 2e-5 * largest);
      free(gone);
      model_free(&m);
    }
}

// sum of p (e(0) + e(p)) / 2, whose slope the errors are, at a point of the line.
static double energy_at(int dim, double length) {
  Model m = make_line(dim);
  FloMonolithic *mono = m.mono;
  float *none = malloc(m.mono->n_pressures * sizeof(float)), *p = malloc(m.mono->n_pressures * sizeof(float));
  double sum = 0;
  flo_monolithic_go(m.world, mono, length);
  memcpy(p, mono->pressure, m.mono->n_pressures * sizeof(float));
  memset(mono->pressure, 0, m.mono->n_pressures * sizeof(float));
  run(&m);
  memcpy(none, mono->error, m.mono->n_pressures * sizeof(float));
  memcpy(mono->pressure, p, m.mono->n_pressures * sizeof(float));
  run(&m);
  for (size_t i = 0; i < m.mono->n_pressures; ++i)
    sum += (double)p[i] * ((double)none[i] + (double)mono->error[i]) / 2;
  free(none), free(p);
  model_free(&m);
  return sum;
}

static void test_the_energy_is_least_at_the_best_length(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Model m = make_line(dim);
    FloResidual r = {0};
    for (size_t i = 0; i < m.mono->n_pressures; ++i) {
      double step = (double)m.mono->pressure[i] - (double)m.mono->from_pressure[i];
      r.slope -= step * (double)m.mono->from_error[i];
      r.bend += step * ((double)m.mono->error[i] - (double)m.mono->from_error[i]);
    }
    model_free(&m);
    double best = flo_nncg_best_length(r.slope, r.bend), least = energy_at(dim, best);
    assert_true(best > 1.5 && best < 3);
    assert_true(least < energy_at(dim, 0.8 * best) && least < energy_at(dim, 1.2 * best));
  }
}

static void test_lengths_have_limits(void **state) {
  (void)state;
  assert_true(flo_nncg_best_length(100, 1) == 4);
  assert_true(flo_nncg_best_length(1, 128) == 1.0 / 128);
  assert_true(flo_nncg_best_length(-1, 1) == 0);
  assert_true(flo_nncg_best_length(1, 0) == 1);
  assert_true(flo_nncg_best_length(NAN, 1) == 1);
}

// ---- The solver ----

static FloWorld *solve_column(int dim, double spacings_up, double solver) {
  FloWorld *world = make_column(dim, spacings_up);
  set_param(world, "solver", solver), set_param(world, "max_iterations", 1e4);
  set_param(world, "tolerance", 1e-8), set_param(world, "motion_tolerance", 0);
  set_param(world, "contact_tolerance", 1e-4);
  step_world(world, 1);
  return world;
}

static void compare_solvers(int dim, double spacings_up, bool has_contacts) {
  FloWorld *slow = solve_column(dim, spacings_up, FLO_SOLVER_JACOBI),
           *fast = solve_column(dim, spacings_up, FLO_SOLVER_NNCG);
  const FloMonolithic *a = slow->method_state, *b = fast->method_state;
  const double *v = flo_bodies(slow)[1].nodes->velocity, *w = flo_bodies(fast)[1].nodes->velocity;
  double largest = 0;
  assert_true((a->n_contacts > 0) == has_contacts);
  assert_true(a->was_fluid_solved != 0 && b->was_fluid_solved != 0);
  assert_true(a->were_contacts_solved != 0 && b->were_contacts_solved != 0);
  assert_true(slow->iterations > 2 * fast->iterations);
  for (size_t i = 0; i < a->n_fluid; ++i) largest = fmax(largest, (double)a->pressure[i]);
  assert_true(largest > 100);
  for (size_t i = 0; i < a->n_fluid; ++i) assert_close(a->pressure[i], b->pressure[i], 2e-3 * largest);
  for (int axis = 0; axis < 3; ++axis) assert_close(v[axis], w[axis], 1e-3 * 9.81 * a->dt);
  flo_world_destroy(slow), flo_world_destroy(fast);
}

static void test_conjugate_steps_find_what_jacobi_finds_sooner(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) compare_solvers(dim, 6, false);
}

// Fluid goes to the best length, contacts beside it have conjugate ways of their own.
static void test_the_same_beside_contacts(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) compare_solvers(dim, 2, true);
}

// ---- What is closely enough ----

// A pool, and perhaps a drop that flies far beside it. Wide, so that it is at rest soon.
static FloWorld *make_pool(bool has_drop) {
  FloWorldDef def = small_world_def(2);
  def.method = "monolithic", def.time_step = 5e-4, def.spacing = 0.02;
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  for (int side = -1; side <= 1; ++side) {
    FloBodyDef wall = flo_default_body_def();
    wall.shape = side ? box_shape(4 * s, 24 * s, 0) : box_shape(32 * s, 4 * s, 0);
    wall.pose = side ? pose_at(side * 12 * s, 10 * s, 0) : pose_at(0, -2 * s, 0);
    add_body(world, &wall);
  }
  const double low[3] = {-10 * s, 0, 0}, high[3] = {10 * s, 12 * s, 0}, drop_low[3] = {60 * s, 40 * s, 0},
               drop_high[3] = {70 * s, 50 * s, 0};
  FloMaterialId water = add_ideal_fluid(world, 1000);
  add_block(world, water, low, high);
  if (!has_drop) return world;
  add_block(world, water, drop_low, drop_high);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i)
    if (p->x[i] > 30 * s) p->vx[i] = 8;
  return world;
}

// How much the mean pressure at the foot of the pool varies from step to step, as a share of it.
static double roughness(FloWorld *world) {
  enum { SETTLING = 4000, STEPS = 200 };
  double sum = 0, squares = 0;
  step_world(world, SETTLING);
  for (int k = 0; k < STEPS; ++k) {
    const FloParticles *p = &world->sets[FLO_SET_FLUID];
    double foot = 0, n = 0;
    step_world(world, 1);
    for (size_t i = 0; i < p->count; ++i)
      if (p->y[i] > 2 * world->def.spacing && p->y[i] < 5 * world->def.spacing)
        foot += (double)p->pressure[i], n += 1;
    sum += foot / n, squares += foot / n * (foot / n);
  }
  flo_world_destroy(world);
  return sqrt(fmax(squares / STEPS - sum / STEPS * (sum / STEPS), 0)) / (sum / STEPS);
}

static void test_what_flies_does_not_make_still_water_rough(void **state) {
  (void)state;
  double alone = roughness(make_pool(false)), beside = roughness(make_pool(true));
  print_message("pressure at the foot of a pool varies by %.2f %%, beside a drop that flies by %.2f %%\n",
                100 * alone, 100 * beside);
  assert_true(beside < 2 * alone + 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_of_a_line_have_the_errors_of_the_system),
      cmocka_unit_test(test_the_energy_is_least_at_the_best_length),
      cmocka_unit_test(test_lengths_have_limits),
      cmocka_unit_test(test_conjugate_steps_find_what_jacobi_finds_sooner),
      cmocka_unit_test(test_the_same_beside_contacts),
      cmocka_unit_test(test_what_flies_does_not_make_still_water_rough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
