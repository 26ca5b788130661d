// The system that `monolithic` solves against brute force in double precision, written from the equations of
// Probst & Teschner 2023 with sums weighted by volumes as at the head of monolithic.c; its diagonals and its
// symmetry by finite differences; and what must hold for whole runs: momentum, threads, saved states, memory.
#include "support/allocator.h"
#include "support/monolithic_model.h"

// ---- (a) Against brute force ----

// Compared with the largest of its kind: single precision sums some hundred terms.
static void check_series(const char *what, size_t n, const double (*actual)[3], const double (*expected)[3]) {
  double largest = 0, worst = 0;
  size_t at = 0;
  for (size_t k = 0; k < n; ++k)
    for (int axis = 0; axis < 3; ++axis) {
      double off = fabs(actual[k][axis] - expected[k][axis]);
      largest = fmax(largest, fabs(expected[k][axis]));
      if (!(off <= worst)) worst = off, at = k;
    }
  if (worst <= 5e-6 * largest) return;
  fail_msg("%s %zu of %zu is off by %g, the largest being %g: (%g, %g, %g) instead of (%g, %g, %g)", what, at,
           n, worst, largest, actual[at][0], actual[at][1], actual[at][2], expected[at][0], expected[at][1],
           expected[at][2]);
}

static void check_fluid(const Model *m) {
  double(*forces)[3] = calloc(m->n_fluid, sizeof *forces), (*errors)[3] = calloc(m->n_fluid, sizeof *errors),
  (*exact)[3] = calloc(m->n_fluid, sizeof *exact);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    for (size_t axis = 0; axis < 3; ++axis) forces[i][axis] = (double)m->mono->force[4 * i + axis];
    errors[i][0] = (double)m->mono->error[i], exact[i][0] = fluid_error(m, i);
  }
  check_series("force on particle", m->n_fluid, (const double(*)[3])forces, (const double(*)[3])m->force);
  check_series("error of particle", m->n_fluid, (const double(*)[3])errors, (const double(*)[3])exact);
  free(forces), free(errors), free(exact);
}

static void check_wet(const Model *m) {
  size_t n = m->mono->n_pressures - m->n_fluid;
  double(*errors)[3] = calloc(n + 1, sizeof *errors), (*exact)[3] = calloc(n + 1, sizeof *exact);
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = sample_at(m, k);
    if (sample->wet < 0) continue;
    size_t row = (size_t)sample->wet - m->n_fluid;
    errors[row][0] = (double)m->mono->error[sample->wet], exact[row][0] = wet_error(m, sample);
  }
  check_series("error of wet sample", n, (const double(*)[3])errors, (const double(*)[3])exact);
  free(errors), free(exact);
}

// Of a body that forces move.
static const FloPartner *partner_of(const Model *m, size_t body) {
  return &m->mono->partners[flo_bodies(m->world)[body].first_node];
}

static void check_bodies(const Model *m) {
  double force[MAX_BODIES][3], torque[MAX_BODIES][3], velocity[MAX_BODIES][3], omega[MAX_BODIES][3];
  size_t n = m->world->bodies.count;
  for (size_t k = 0; k < n; ++k) {
    const FloPartner none = {0}, *partner = is_dynamic(m, k) ? partner_of(m, k) : &none;
    vec_copy(partner->force, force[k]), vec_copy(partner->torque, torque[k]);
    vec_copy(partner->velocity, velocity[k]), vec_copy(partner->angular_velocity, omega[k]);
  }
  check_series("force on body", n, (const double(*)[3])force, m->body_force);
  check_series("torque on body", n, (const double(*)[3])torque, m->body_torque);
  check_series("velocity of body", n, (const double(*)[3])velocity, m->velocity);
  check_series("spin of body", n, (const double(*)[3])omega, m->omega);
}

static void check_contacts(Model *m) {
  enum { ERROR_AND_CONE, VELOCITY, NORMAL, N_SERIES };
  size_t n = m->mono->n_contacts;
  double(*actual[N_SERIES])[3], (*exact[N_SERIES])[3];
  for (int k = 0; k < N_SERIES; ++k)
    actual[k] = calloc(n, sizeof *actual[k]), exact[k] = calloc(n, sizeof *exact[k]);
  for (size_t k = 0; k < n; ++k) {
    const FloContact *c = &m->mono->contacts[k];
    ExactContact e = exact_contact(m, &m->rigid[c->sample]);
    actual[ERROR_AND_CONE][k][0] = (double)c->error, exact[ERROR_AND_CONE][k][0] = e.error;
    actual[ERROR_AND_CONE][k][1] = (double)c->cone, exact[ERROR_AND_CONE][k][1] = e.cone;
    for (int axis = 0; axis < 3; ++axis) {
      actual[VELOCITY][k][axis] = (double)c->velocity[axis], exact[VELOCITY][k][axis] = e.velocity[axis];
      actual[NORMAL][k][axis] = (double)c->normal[axis], exact[NORMAL][k][axis] = e.normal[axis];
    }
  }
  const char *const names[] = {"error of contact", "slip of contact", "normal of contact"};
  for (int k = 0; k < N_SERIES; ++k) {
    check_series(names[k], n, (const double(*)[3])actual[k], (const double(*)[3])exact[k]);
    free(actual[k]), free(exact[k]);
  }
}

static void mark_neighbour(Model *m, const Point *sample, const Point *other, const Pair *pair,
                           void *context) {
  (void)m, (void)sample, (void)other;
  if (pair->w * pow(m->kernel.support, m->kernel.dim) > 1e-9) *(bool *)context = true;
}

static void check_rows(Model *m) {
  for (size_t k = 0; k < m->n_rigid; ++k) {
    bool is_near = false;
    visit_others(m, &m->rigid[k], mark_neighbour, &is_near);
    if (is_near) assert_true(m->rigid[k].row >= 0);
  }
}

// A sample is wet if fluid and room around it are at least a quarter of what a plane sheet of fluid one
// spacing away gives. Sums that are so close to that as single precision does not tell are left out.
static void check_wet_rows(const Model *m) {
  double least = flo_kernel_sheet_sum(&m->world->kernel, m->world->def.spacing, 1) * m->rest_volume / 4;
  size_t n_wet = 0, n_dry = 0;
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = sample_at(m, k);
    WetSums sums = wet_sums(m, sample);
    double above = fmin(m->rest_volume * sums.fluid, sums.room) - least;
    if (fabs(above) > 2e-6 && (sample->wet >= 0) != (m->has_wet && above > 0))
      fail_msg("sample %zu has the row %d, but fluid and room are %g and %g of %g", k, sample->wet,
               m->rest_volume * sums.fluid, sums.room, least);
    n_wet += sample->wet >= 0, n_dry += sample->wet < 0 && sums.fluid > 0;
  }
  assert_true(n_wet == m->mono->n_pressures - m->n_fluid);
  if (m->has_wet) assert_true(n_wet > 15 && n_dry > 0);
}

static void check_scene(const Scene *scene) {
  Random random = {scene->seed + 100};
  Model m = model_of(make_scene(scene));
  assert_true(m.n_fluid > 50 && m.mono->n_contacts > 8 && m.mono->n_coupled > 5);
  check_rows(&m);
  check_wet_rows(&m);
  for (int round = 0; round < 2; ++round) {
    clear_unknowns(&m);
    if (round) invent_unknowns(&m, &random);
    run(&m);
    compute_forces(&m);
    compute_body_velocities(&m);
    check_bodies(&m);
    check_fluid(&m);
    check_wet(&m);
    check_contacts(&m);
  }
  model_free(&m);
}

// Every scene with wet samples, and without them as in the paper.
static void each_scene(uint64_t n_seeds, void (*check)(const Scene *scene)) {
  for (uint64_t seed = 1; seed <= n_seeds; ++seed)
    for (int k = 0; k < 4; ++k) {
      Scene scene = {.dim = 2 + k % 2, .seed = seed, .has_walls = seed != 2, .is_papers = k / 2};
      scene.scale = scene.dim == 2 ? 2 : 1;
      check(&scene);
    }
}

static void test_errors_forces_and_slip_are_those_of_the_paper(void **state) {
  (void)state;
  each_scene(4, check_scene);
}

// ---- (b) Finite differences ----

// One unknown: a pressure of fluid, of a wet sample or of a contact, or the part of a friction multiplier
// along a tangent.
typedef struct Row {
  bool is_fluid; // or wet
  bool is_friction;
  size_t index;
  double tangent[3];
} Row;

// Two tangents at right angles (the second is zero in the plane).
static void tangents_of(const Model *m, const FloContact *c, double out[2][3]) {
  const double n[3] = {(double)c->normal[0], (double)c->normal[1], (double)c->normal[2]};
  const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
  vec_cross(m->world->def.dim == 2 || fabs(n[2]) < 0.7 ? z : x, n, out[0]);
  vec_scale(out[0], 1 / vec_length(out[0]), out[0]);
  vec_cross(n, out[0], out[1]);
  if (m->world->def.dim == 2) vec_set(out[1], 0, 0, 0);
}

// What the row weighs: errors in volumes, slips in lengths, so that the matrix should be symmetric.
static double reading(const Model *m, const Row *row) {
  if (row->is_fluid) return m->rest_volume * (double)m->mono->error[row->index];
  const FloContact *c = &m->mono->contacts[row->index];
  if (!row->is_friction) return (double)(c->volume * c->error);
  double slip = 0;
  for (int axis = 0; axis < 3; ++axis) slip += row->tangent[axis] * (double)c->velocity[axis];
  return m->dt * slip;
}

static double noise_of(const Model *m, const Row *row) {
  double volume = row->is_fluid ? m->rest_volume : (double)m->mono->contacts[row->index].volume;
  return row->is_friction ? 5e-7 * m->dt : 1e-6 * volume;
}

// The whole column of the matrix that belongs to one unknown.
static void measure_column(Model *m, const Row *row, double step, const Row *rows, size_t n, double *column) {
  clear_unknowns(m);
  run(m);
  for (size_t k = 0; k < n; ++k) column[k] = -reading(m, &rows[k]);
  if (row->is_fluid) m->mono->pressure[row->index] = (float)step;
  if (!row->is_fluid && !row->is_friction) m->mono->contacts[row->index].pressure = (float)step;
  for (int axis = 0; row->is_friction && axis < 3; ++axis)
    m->mono->contacts[row->index].friction[axis] = (float)(step * row->tangent[axis]);
  run(m);
  for (size_t k = 0; k < n; ++k) column[k] = (column[k] + reading(m, &rows[k])) / step;
}

static double response_sum(const Model *m, size_t first, size_t end) {
  double sum = 0;
  for (size_t k = first; k < end; ++k) sum += (double)m->mono->touches[k].response;
  return m->dt * m->dt * sum;
}

// Of a sample: sum_j V0^2/m_j |grad W_bj|^2 over fluid.
static double wet_diagonal(const Model *m, const Point *sample) {
  double squares = 0, v = m->rest_volume;
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, sample, &m->fluid[j]);
    squares += v * v / m->fluid[j].mass * vec_dot(pair.g, pair.g);
  }
  return m->dt * m->dt * v * squares;
}

static const Point *sample_of_row(const Model *m, size_t row) {
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k)
    if (sample_at(m, k)->wet == (int)row) return sample_at(m, k);
  fail_msg("no sample has the row %zu", row);
  return NULL;
}

// (A.6) for bodies that do not give way.
static double fixed_diagonal(const Model *m, size_t i) {
  if (i >= m->n_fluid) return wet_diagonal(m, sample_of_row(m, i));
  double steep[3] = {0}, squares = 0, v = m->rest_volume;
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]);
    vec_add_scaled(steep, pair.g, v, steep);
    squares += v * v / m->fluid[j].mass * vec_dot(pair.g, pair.g);
  }
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = sample_at(m, k);
    vec_add_scaled(steep, pair_of(m, &m->fluid[i], sample).g, sample->volume, steep);
  }
  return m->dt * m->dt * v * (vec_dot(steep, steep) / m->fluid[i].mass + squares);
}

static size_t touches_of_fluid(const Model *m, size_t i, size_t *end) {
  for (size_t n = 0; n < m->mono->n_coupled; ++n)
    if (m->mono->coupled[n] == i)
      return *end = m->mono->fluid_touch_begin[n + 1], m->mono->fluid_touch_begin[n];
  return *end = 0;
}

enum { N_ROWS = 48 };

static size_t choose_rows(const Model *m, Random *random, Row rows[N_ROWS], double steps[N_ROWS]) {
  for (size_t k = 0; k < N_ROWS; ++k) {
    uint32_t contact = random_below(random, (uint32_t)m->mono->n_contacts);
    double tangents[2][3];
    rows[k] = (Row){.is_fluid = k % 4 < 2, .is_friction = k % 4 == 3};
    if (k % 4 == 0) rows[k].index = random_below(random, (uint32_t)m->n_fluid);
    if (k % 8 == 0 && m->has_wet)
      rows[k].index = m->n_fluid + random_below(random, (uint32_t)(m->mono->n_pressures - m->n_fluid));
    if (k % 4 == 1) rows[k].index = m->mono->coupled[random_below(random, (uint32_t)m->mono->n_coupled)];
    if (k % 4 >= 2) rows[k].index = contact;
    const FloContact *c = &m->mono->contacts[contact];
    tangents_of(m, c, tangents);
    if (rows[k].is_friction) vec_copy(tangents[0], rows[k].tangent);
    steps[k] = rows[k].is_fluid ? 0.2 / fixed_diagonal(m, rows[k].index)
               : rows[k].is_friction
                   ? 0.3 / (double)c->slip_diagonal
                   : 0.2 * (double)c->volume / response_sum(m, c->first, c->first + c->count);
  }
  return N_ROWS;
}

static void check_own_entry(const Model *m, const Row *row, double entry, double tolerance) {
  const FloContact *c = &m->mono->contacts[row->is_fluid ? 0 : row->index];
  size_t end, first = touches_of_fluid(m, row->index, &end);
  double expected = row->is_fluid
                        ? m->rest_volume * fixed_diagonal(m, row->index) + response_sum(m, first, end)
                        : response_sum(m, c->first, c->first + c->count);
  if (!row->is_friction) assert_close(entry, expected, tolerance);
}

static void check_matrix(const Scene *scene) {
  static double matrix[N_ROWS][N_ROWS]; // [column][row]
  Random random = {scene->seed};
  Model m = model_of(make_scene(scene));
  Row rows[N_ROWS];
  double steps[N_ROWS];
  size_t n = choose_rows(&m, &random, rows, steps), n_coupled = 0;
  for (size_t j = 0; j < n; ++j) measure_column(&m, &rows[j], steps[j], rows, n, matrix[j]);
  for (size_t i = 0; i < n; ++i) {
    check_own_entry(&m, &rows[i], matrix[i][i], 2e-5 * matrix[i][i]);
    for (size_t j = 0; j < i; ++j) {
      double tolerance = 2e-5 * sqrt(matrix[i][i] * matrix[j][j]) + noise_of(&m, &rows[i]) / steps[j] +
                         noise_of(&m, &rows[j]) / steps[i];
      assert_close(matrix[j][i], matrix[i][j], tolerance);
      n_coupled += fabs(matrix[j][i]) > 100 * tolerance;
    }
  }
  assert_true(n_coupled > 50); // or the comparison would mean nothing
  model_free(&m);
}

static void test_the_matrix_is_symmetric_and_its_diagonal_known(void **state) {
  (void)state;
  each_scene(3, check_matrix);
}

static void test_the_diagonal_of_friction_is_the_mean_over_the_tangents(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = 5, .has_walls = true, .scale = 1}));
    for (size_t k = 0; k < m.mono->n_contacts; k += 5) {
      const FloContact *c = &m.mono->contacts[k];
      double tangents[2][3], sum = 0, entry;
      tangents_of(&m, c, tangents);
      for (int t = 0; t < dim - 1; ++t) {
        Row row = {.is_friction = true, .index = k};
        vec_copy(tangents[t], row.tangent);
        measure_column(&m, &row, 0.3 / (double)c->slip_diagonal, &row, 1, &entry);
        sum += entry / m.dt / (dim - 1);
      }
      assert_close(c->slip_diagonal, sum, 2e-5 * sum);
    }
    model_free(&m);
  }
}

// The main body of a row gives way as a whole; others are shared with the rows that push them.
static double shared_load(const Model *m, size_t first, size_t end, const double *loads) {
  double load = 0;
  for (size_t k = first; k < end; ++k)
    if (!m->mono->touches[k].is_main) load += 2 * loads[m->mono->touches[k].node];
  return load;
}

// The steps of wet samples are half as long as their diagonals allow; see CAUTION in wet.c.
static double cautious_diagonal(const Model *m, size_t row) {
  return (row < m->n_fluid ? 1 : 2) * fixed_diagonal(m, row);
}

static void check_shares(Model *m) {
  double loads[MAX_BODIES] = {0};
  const FloMonolithic *mono = m->mono;
  for (size_t n = 0; n < mono->n_coupled; ++n)
    for (size_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      loads[mono->touches[k].node] +=
          response_sum(m, k, k + 1) / m->rest_volume / cautious_diagonal(m, mono->coupled[n]);
  for (size_t i = 0; i < mono->n_pressures; ++i) {
    size_t end, first = touches_of_fluid(m, i, &end);
    double d = cautious_diagonal(m, i), actual = (double)mono->diagonal[i];
    if (first == end) assert_close(actual, d, 1e-5 * d);
    assert_close(actual, d * (1 + shared_load(m, first, end, loads)), 1e-4 * actual);
  }
}

static void test_rows_of_fluid_know_that_bodies_give_way(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (int k = 0; k < 4; ++k) {
      Scene scene = {.dim = 2 + k % 2, .seed = seed, .has_walls = true, .scale = 1, .is_papers = k / 2};
      Model m = model_of(make_scene(&scene));
      check_shares(&m);
      model_free(&m);
    }
}

// A drop that has no other fluid near it, beside a body in water.
static void test_a_lone_drop_does_not_disturb_the_diagonals(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic", def.time_step = 1e-3;
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing;
  const double drop[3] = {2.6 * s, 0, 0}, low[3] = {-6 * s, -2 * s, -2 * s}, high[3] = {-2 * s, 2 * s, 2 * s};
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 500, box.shape = box_shape(4 * s, 4 * s, 4 * s);
  add_body(world, &box);
  FloMaterialId water = add_ideal_fluid(world, 1000);
  add_block(world, water, low, high);
  assert_ok(flo_world_add_particles(world, water, 1, drop, NULL, &error), &error);
  Model m = model_of(world);
  for (size_t i = 0; i < m.n_fluid; ++i)
    if (!isfinite(m.mono->diagonal[i]))
      fail_msg("row %zu has a diagonal of %g", i, (double)m.mono->diagonal[i]);
  check_shares(&m);
  model_free(&m);
}

// ---- (c) Momentum ----

static void test_no_pressure_or_friction_changes_the_momentum(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (int dim = 2; dim <= 3; ++dim) {
      Random random = {seed};
      Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = seed, .scale = dim == 2 ? 2 : 1}));
      double force[3] = {0}, torque[3] = {0}, size = 0, f[3], turn[3];
      invent_unknowns(&m, &random);
      run(&m);
      for (size_t i = 0; i < m.n_fluid; ++i) {
        for (size_t axis = 0; axis < 3; ++axis) f[axis] = (double)m.mono->force[4 * i + axis];
        vec_cross(m.fluid[i].x, f, turn);
        vec_add(force, f, force), vec_add(torque, turn, torque);
        size += vec_length(f);
      }
      for (size_t k = 0; k < m.world->bodies.count; ++k) {
        if (!is_dynamic(&m, k)) continue;
        const FloPartner *partner = partner_of(&m, k);
        vec_cross(m.nodes[k].position, partner->force, turn);
        vec_add(force, partner->force, force), vec_add(torque, turn, torque);
        vec_add(torque, partner->torque, torque);
        size += vec_length(partner->force);
      }
      assert_close_3(force, ((double[3]){0}), 1e-7 * size);
      assert_close_3(torque, ((double[3]){0}), 1e-7 * size * 8 * 0.02 * (dim == 2 ? 2 : 1));
      model_free(&m);
    }
}

// Fast drops that are kept out of a body give it what they lose; see flo_world_keep_out_of_bodies.
static void test_drops_that_are_kept_out_push_the_body(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic", def.time_step = 1e-3;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing;
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 100, box.shape = box_shape(4 * s, 4 * s, 4 * s);
  add_body(world, &box);
  const double drops[6] = {1.5 * s, 0.3 * s, 2.3 * s, -1.2 * s, 1.4 * s, 2.2 * s};
  const float velocities[6] = {1, 2, -9, -2, 1, -8};
  assert_ok(flo_world_add_particles(world, add_ideal_fluid(world, 1000), 2, drops, velocities, &error),
            &error);
  FloMeasurements before = flo_world_measure(world);
  step_world(world, 1);
  FloMeasurements after = flo_world_measure(world);
  const FloWallRoom *rooms = world->wall_rooms.data;
  bool was_kept_out = rooms[0].by[0].sample >= 0 || rooms[1].by[0].sample >= 0;
  flo_world_destroy(world);
  assert_true(was_kept_out);
  assert_close_3(after.momentum, before.momentum, 1e-6 * vec_length(before.momentum));
  assert_close_3(after.angular_momentum, before.angular_momentum, 1e-6 * vec_length(before.angular_momentum));
}

// ---- (d), (e), (f): whole runs ----

static uint64_t hash_with(int dim, int threads) {
  FloWorld *world = make_scene(
      &(Scene){.dim = dim, .seed = 8, .has_walls = true, .threads = threads, .scale = dim == 2 ? 6 : 2});
  const FloMonolithic *mono = world->method_state;
  size_t n_contacts = 0, n_wet = 0;
  assert_true(flo_world_count(world, FLO_SET_FLUID) > 1024);
  for (int k = 0; k < 25; ++k) {
    step_world(world, 1);
    n_contacts += flo_world_measure(world).contacts;
    n_wet += mono->n_pressures - mono->n_fluid;
  }
  // Films push the boxes apart later on.
  assert_true(n_contacts > 50 && n_wet > 1000);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  const int threads[] = {2, 3, 8};
  for (int dim = 2; dim <= 3; ++dim) {
    uint64_t one = hash_with(dim, 1);
    for (size_t k = 0; k < FLO_COUNT_OF(threads); ++k)
      if (hash_with(dim, threads[k]) != one) fail_msg("%dD: %d threads differ from one", dim, threads[k]);
  }
}

static void test_a_restored_world_goes_on_to_the_same_bits(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Scene scene = {.dim = dim, .seed = 4, .has_walls = true, .scale = 1};
    FloWorld *world = make_scene(&scene), *other = make_scene(&scene);
    FloState *saved = NULL;
    FloError error;
    step_world(world, 25);
    assert_ok(flo_world_save(world, &saved, &error), &error);
    step_world(world, 25);
    uint64_t hash = flo_world_hash(world);
    step_world(other, 3); // whatever it did before is of no consequence
    FloWorld *const restored[] = {other, world};
    for (size_t k = 0; k < FLO_COUNT_OF(restored); ++k) {
      assert_ok(flo_world_restore(restored[k], saved, &error), &error);
      step_world(restored[k], 25);
      assert_true(flo_world_hash(restored[k]) == hash);
    }
    flo_state_destroy(saved);
    flo_world_destroy(world);
    flo_world_destroy(other);
  }
}

// Boxes side by side on the floor of a tank: what is near what hardly changes any more.
static FloWorld *fill_calm_tank(const FloWorldDef *def) {
  FloWorld *world = create_world(def);
  double s = def->spacing, width = 14 * s, middle = def->dim == 2 ? 2 * s : width / 2;
  const double low[3] = {0}, high[3] = {width, def->dim == 2 ? 8 * s : width, def->dim == 2 ? 0 : 8 * s};
  add_tank(world, def->dim, width, width, width);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef box = flo_default_body_def();
    box.kind = FLO_BODY_DYNAMIC, box.density = 2000;
    box.shape = box_shape(4 * s, 4 * s, def->dim == 2 ? 0 : 4 * s);
    box.pose = pose_at((5 + 4 * k) * s, middle, def->dim == 2 ? 0 : 2 * s);
    add_body(world, &box);
  }
  add_block(world, add_material(world, 1000, 0.02), low, high); // thick enough to calm down soon
  return world;
}

static void test_a_warm_world_takes_no_memory(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    CountingAllocator counter = {0};
    FloWorldDef def = scene_def(&(Scene){.dim = dim, .has_walls = true, .threads = 2});
    def.allocator = counting_allocator(&counter);
    FloWorld *world = fill_calm_tank(&def);
    step_world(world, 300);
    size_t calls = counter.n_calls;
    for (int k = 300; k < 400; ++k) {
      step_world(world, 1);
      if (counter.n_calls != calls) fail_msg("%dD: step %d allocates", dim, k);
    }
    assert_true(flo_world_measure(world).contacts > 0);
    flo_world_destroy(world);
    assert_int_equal(counter.bytes, 0);
    assert_int_equal(counter.n_mismatches, 0);
  }
}

// ---- (g) A domain without a free surface ----

// Water in a box of ten spacings that repeats along all axes; it is `width` spacings wide.
static FloStatus step_closed(int dim, double width, FloError *error) {
  FloWorldDef def = small_world_def(dim);
  double s = def.spacing, low[3] = {0}, high[3] = {width * s, 10 * s, dim == 3 ? 10 * s : 0};
  def.method = "monolithic";
  vec_set(def.gravity, 0, 0, 0);
  for (int axis = 0; axis < dim; ++axis) def.periodic[axis] = true, def.domain_high[axis] = 10 * s;
  FloWorld *world = create_world(&def);
  add_block(world, add_water(world), low, high);
  FloStatus status = FLO_OK;
  for (int k = 0; k < 5 && status == FLO_OK; ++k) status = flo_world_step(world, NULL, error);
  flo_world_destroy(world);
  return status;
}

static void test_fluid_needs_a_free_surface(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloError error;
    assert_int_equal(step_closed(dim, 10, &error), FLO_UNSUPPORTED);
    assert_non_null(strstr(error.text, "pressures need a free surface; leave a layer empty, or use"));
    // A layer is enough.
    assert_ok(step_closed(dim, 9, &error), &error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors_forces_and_slip_are_those_of_the_paper),
      cmocka_unit_test(test_the_matrix_is_symmetric_and_its_diagonal_known),
      cmocka_unit_test(test_the_diagonal_of_friction_is_the_mean_over_the_tangents),
      cmocka_unit_test(test_rows_of_fluid_know_that_bodies_give_way),
      cmocka_unit_test(test_a_lone_drop_does_not_disturb_the_diagonals),
      cmocka_unit_test(test_no_pressure_or_friction_changes_the_momentum),
      cmocka_unit_test(test_drops_that_are_kept_out_push_the_body),
      cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(test_a_restored_world_goes_on_to_the_same_bits),
      cmocka_unit_test(test_a_warm_world_takes_no_memory),
      cmocka_unit_test(test_fluid_needs_a_free_surface),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
