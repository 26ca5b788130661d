// Viscosity and rows of `constraint` as one system: a step with passes ends at the velocities and pressures
// that a dense solution of the whole system gives, for fluids of two viscosities, walls and a body.
#include "coupling/constraint/constraint.h"
#include "support/dense.h"
#include "support/random.h"
#include "support/worlds.h"

#include <string.h>

#define STEP (1 / 120.0)

enum { MAX_UNKNOWNS = 700 };

typedef struct Dense {
  size_t n;
  double a[MAX_UNKNOWNS][MAX_UNKNOWNS], b[MAX_UNKNOWNS];
} Dense;

// ---- Worlds ----

static FloMaterialId add_honey(FloWorld *world, double viscosity) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.density = 1200, def.viscosity = viscosity;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static void set(FloWorld *world, const char *name, double value) {
  FloError error;
  assert_ok(flo_world_set_param(world, name, value, &error), &error);
}

static void add_raft(FloWorld *world, int dim, double s) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.density = 300;
  def.shape = dim == 2 ? box_shape(3 * s, 2 * s, 0) : box_shape(2 * s, 2 * s, 2 * s);
  def.pose = dim == 2 ? pose_at(s, 5 * s, 0) : pose_at(0, 0, 4 * s);
  add_body(world, &def);
}

// Fluid of two viscosities falls onto a floor, under a light body.
static FloWorld *make_pool(int dim, double viscosity, int boundary, uint64_t seed) {
  FloWorldDef def = small_world_def(dim);
  Random random = {seed};
  def.method = "constraint", def.spacing = 0.02, def.threads = 1, def.time_step = STEP, def.max_time_step = 1;
  vec_set(def.gravity, 0, dim == 2 ? -9.81 : 0, dim == 2 ? 0 : -9.81);
  FloWorld *world = create_world(&def);
  const double s = def.spacing, deep = dim == 2 ? 4 * s : 3 * s, wide = dim == 2 ? 5 * s : 2 * s,
               low[3] = {-wide, dim == 2 ? 0 : -wide, 0},
               high[3] = {wide, dim == 2 ? deep : wide, dim == 2 ? 0 : deep};
  const double middle[3] = {0, high[1], high[2]}, corner[3] = {0, low[1], 0};
  FloBodyDef floor = flo_default_body_def();
  floor.shape = dim == 2 ? box_shape(16 * s, 3 * s, 0) : box_shape(8 * s, 8 * s, 3 * s);
  floor.pose = dim == 2 ? pose_at(0, -1.5 * s, 0) : pose_at(0, 0, -1.5 * s);
  add_body(world, &floor);
  add_raft(world, dim, s);
  add_block(world, add_honey(world, viscosity), low, middle);
  add_block(world, add_honey(world, viscosity / 20), corner, high);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i)
    p->x[i] += random_between(&random, -0.05, 0.05) * s, p->vx[i] = (float)random_between(&random, -0.2, 0.2);
  set(world, "boundary", boundary), set(world, "alpha", 0), set(world, "viscosity", FLO_VISCOSITY_IMPLICIT);
  return world;
}

// ---- The whole system, dense ----

static size_t n_body(int dim) { return dim == 2 ? 3 : 6; }

// Which of six velocities of a node is unknown k.
static size_t row_of(int dim, size_t k) { return dim == 2 && k == 2 ? 5 : k; }

// Column j of M + dt K.
static void fill_column(const FloWorld *world, FloImplicitViscosity *v, Dense *dense, size_t j) {
  const size_t d = (size_t)world->def.dim, n = d * v->n_fluid;
  for (size_t i = 0; i < n; ++i) dense->a[i][j] = (double)v->image[4 * (i / d) + i % d];
  for (size_t k = 0; k < n_body(world->def.dim); ++k)
    dense->a[n + k][j] = v->node_image[row_of(world->def.dim, k)];
}

static void fill_viscosity(FloWorld *world, FloConstraint *c, Dense *dense) {
  FloImplicitViscosity *v = &c->forces.implicit;
  const size_t d = (size_t)world->def.dim, n = d * v->n_fluid;
  const FloNode *node = flo_node_at(world, 0);
  for (size_t j = 0; j < n + n_body(world->def.dim); ++j) {
    memset(v->way, 0, 4 * v->n_fluid * sizeof(float));
    memset(v->node_way, 0, 6 * sizeof(double)), memset(v->node_momentum, 0, 6 * sizeof(double));
    if (j < n)
      v->way[4 * (j / d) + j % d] = 1;
    else
      v->node_way[row_of(world->def.dim, j - n)] = 1;
    vec_scale(v->node_way, node->mass, v->node_momentum);
    mat_apply(node->inertia, v->node_way + 3, v->node_momentum + 3);
    flo_implicit_viscosity_apply(v, world);
    fill_column(world, v, dense, j);
  }
}

// M v*: gravity is the only other force.
static void fill_start(const FloWorld *world, const FloConstraint *c, Dense *dense) {
  const size_t d = (size_t)world->def.dim, n = d * c->n_fluid;
  const FloNode *node = flo_node_at(world, 0);
  double momentum[6];
  for (size_t i = 0; i < n; ++i)
    dense->b[i] = (double)world->sets[FLO_SET_FLUID].mass[i / d] *
                  ((double)c->before[4 * (i / d) + i % d] + c->dt * world->def.gravity[i % d]);
  for (int axis = 0; axis < 3; ++axis)
    momentum[axis] = node->mass * (c->bodies.motion_before[axis] + c->dt * world->def.gravity[axis]);
  mat_apply(node->inertia, c->bodies.motion_before + 3, momentum + 3);
  for (size_t k = 0; k < n_body(world->def.dim); ++k) dense->b[n + k] = momentum[row_of(world->def.dim, k)];
}

// What the row at a position measures of each unknown.
static void fill_row(const FloWorld *world, const FloConstraint *c, size_t position, double *g) {
  const size_t d = (size_t)world->def.dim, n = d * c->n_fluid, row = c->order[position];
  memset(g, 0, MAX_UNKNOWNS * sizeof *g);
  for (uint32_t k = c->link_begin[row], end = k + c->link_count[row]; k < end; ++k)
    for (size_t axis = 0; axis < d; ++axis) g[d * c->links[k].particle + axis] += (double)c->links[k].g[axis];
  if (position < c->n_coloured) return;
  for (uint32_t t = c->touch_begin[position - c->n_coloured];
       t < c->touch_begin[position - c->n_coloured + 1]; ++t)
    for (size_t k = 0; k < n_body(world->def.dim); ++k)
      g[n + k] += c->touches[t].j[row_of(world->def.dim, k)];
}

// Rows that push are equalities. Their unknowns follow the velocities.
static void add_rows(const FloWorld *world, const FloConstraint *c, size_t n, Dense *dense) {
  double g[MAX_UNKNOWNS];
  dense->n = n;
  for (size_t position = 0; position < c->n_rows; ++position) {
    const size_t row = c->order[position], k = dense->n;
    if (!(c->p[row] > 0)) continue;
    assert_true(++dense->n <= MAX_UNKNOWNS);
    fill_row(world, c, position, g);
    for (size_t i = 0; i < n; ++i) dense->a[k][i] = dense->a[i][k] = g[i];
    dense->a[k][k] = -(double)c->softness[row], dense->b[k] = (double)c->wanted[row];
  }
}

// ---- Comparison ----

typedef struct Difference {
  double velocity, size;      // root of mean squares, of fluid
  double body, body_size;     // of the body's velocity
  double pressure, push_size; // of unknowns
  double opening;             // the highest rate beyond what a row that does not push wants
} Difference;

static Difference compare(const FloWorld *world, const FloConstraint *c, const Dense *dense) {
  const size_t d = (size_t)world->def.dim, n = d * c->n_fluid;
  Difference sum = {0};
  double g[MAX_UNKNOWNS];
  for (size_t i = 0; i < n; ++i) {
    sum.velocity += pow((double)c->velocity[4 * (i / d) + i % d] - dense->b[i], 2);
    sum.size += pow(dense->b[i], 2);
  }
  for (size_t k = 0; k < d; ++k) {
    sum.body += pow(c->bodies.motion[k] - dense->b[n + k], 2), sum.body_size += pow(dense->b[n + k], 2);
  }
  for (size_t position = 0, k = n + n_body(world->def.dim); position < c->n_rows; ++position) {
    const size_t row = c->order[position];
    double rate = -(double)c->wanted[row];
    fill_row(world, c, position, g);
    for (size_t i = 0; i < n + n_body(world->def.dim); ++i) rate += g[i] * dense->b[i];
    if (!(c->p[row] > 0) && c->response[row] > 0) sum.opening = fmax(sum.opening, c->dt * rate);
    if (!(c->p[row] > 0)) continue;
    sum.pressure += pow((double)c->p[row] - dense->b[k], 2), sum.push_size += pow(dense->b[k++], 2);
  }
  return sum;
}

static Difference difference_of(FloWorld *world, Dense *dense) {
  FloConstraint *c = world->method_state;
  const size_t n = (size_t)world->def.dim * c->n_fluid + n_body(world->def.dim);
  memset(dense, 0, sizeof *dense);
  assert_true(c->forces.is_implicit && c->n_coloured < c->n_rows);
  fill_viscosity(world, c, dense), fill_start(world, c, dense), add_rows(world, c, n, dense);
  assert_true(dense->n > n); // some rows push
  solve_by_elimination(dense->n, sizeof dense->a[0] / sizeof dense->a[0][0], &dense->a[0][0], dense->b);
  return compare(world, c, dense);
}

static void check_step(int dim, double viscosity, int boundary, int passes, bool is_exact) {
  Dense *dense = malloc(sizeof *dense);
  FloWorld *world = make_pool(dim, viscosity, boundary, 3);
  set(world, "passes", passes), set(world, "tolerance", 1e-7), set(world, "iterations", 1000);
  set(world, "viscosity_tolerance", 1e-5), set(world, "viscosity_iterations", 2000);
  step_world(world, 2);
  const Difference off = difference_of(world, dense);
  const double velocity = sqrt(off.velocity / off.size), body = sqrt(off.body / off.body_size),
               pressure = sqrt(off.pressure / off.push_size);
  print_message(
      "%dD, %g m2/s, boundary %d, %d passes: velocities off by %.1e, of the body by %.1e, pressures by %.1e; "
      "open rows close by %.1e\n",
      dim, viscosity, boundary, passes, velocity, body, pressure, off.opening);
  if (is_exact) assert_true(velocity < 0.01 && body < 0.01 && pressure < 0.02 && off.opening < 1e-4);
  if (!is_exact) assert_true(velocity > 0.01 || body > 0.01 || pressure > 0.02); // else nothing is tested
  flo_world_destroy(world);
  free(dense);
}

static void test_passes_solve_one_system(void **state) {
  (void)state;
  static const double viscosities[] = {0.05, 1, 20};
  for (int k = 0; k < 3; ++k)
    for (int dim = 2; dim <= 3; ++dim)
      for (int boundary = FLO_CONSTRAINT_SAMPLES; boundary <= FLO_CONSTRAINT_FIELD; boundary += 2)
        check_step(dim, viscosities[k], boundary, 400, true);
}

static void test_one_pass_does_not(void **state) {
  (void)state;
  check_step(2, 1, FLO_CONSTRAINT_SAMPLES, 1, false), check_step(3, 20, FLO_CONSTRAINT_FIELD, 1, false);
}

// ---- Mixing ----

// With a map that is affine in four unknowns, five passes and their mix are enough. The plain passes lose the
// slowest error by 1 % each.
static void test_mixing_solves_affine_maps(void **state) {
  (void)state;
  enum { N = 4 };
  static const float wanted[N] = {30, 10, 40, 20}, kept[N] = {0.99f, 0.7f, 0.3f, -0.5f};
  FloWorldDef def = small_world_def(2);
  FloWorld *world = create_world(&def);
  FloConstraint c = {.n_rows = N};
  FloError error;
  float p[N] = {32, 11, 37, 21}, move[N], response[N] = {1, 2, 0.5f, 1};
  c.p = p, c.move = move, c.response = response;
  assert_ok(flo_constraint_reserve_mixing(world, &c, &error), &error);
  flo_constraint_begin_mixing(&c);
  for (int pass = 0; pass <= N; ++pass) {
    for (int k = 0; k < N; ++k) move[k] = wanted[k] + kept[k] * (p[k] - wanted[k]);
    flo_constraint_mix(world, &c);
    if (pass == 0) assert_true(fabsf(p[0] - wanted[0]) > 1.9f);
  }
  for (int k = 0; k < N; ++k) assert_true(fabsf(p[k] - wanted[k]) < 0.05f); // z is rounded
  flo_buffers_free(&world->memory, c.buffers, FLO_COUNT_OF(c.buffers));
  flo_world_destroy(world);
}

// No mix pulls, and it says by how much unknowns have changed.
static void test_mixing_obeys_limits(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  FloWorld *world = create_world(&def);
  FloConstraint c = {.n_rows = 2};
  FloError error;
  float p[2] = {1, 1}, move[2], response[2] = {1, 1};
  c.p = p, c.move = move, c.response = response;
  assert_ok(flo_constraint_reserve_mixing(world, &c, &error), &error);
  flo_constraint_begin_mixing(&c);
  for (int pass = 0; pass < 6; ++pass) { // the fixed point is at -2 and 5
    const float before[2] = {p[0], p[1]};
    move[0] = fmaxf(0.9f * p[0] - 0.2f, 0), move[1] = 0.9f * p[1] + 0.5f;
    flo_constraint_mix(world, &c);
    assert_true(p[0] >= 0 && p[1] >= 0);
    for (int k = 0; k < 2; ++k) assert_true(fabsf(before[k] + move[k] - p[k]) < 1e-6f);
  }
  assert_true(p[0] == 0 && fabsf(p[1] - 5) < 0.01f);
  flo_buffers_free(&world->memory, c.buffers, FLO_COUNT_OF(c.buffers));
  flo_world_destroy(world);
}

// ---- What a world tells ----

typedef struct Told {
  int n_passes, n_iterations; // warnings
  int first, most, sum;       // passes: of the first step, of the longest one, and of all
} Told;

static void hear(void *context, FloLogLevel level, const char *text) {
  Told *told = context;
  if (level != FLO_LOG_WARNING) return;
  if (strstr(text, "do not agree")) ++told->n_passes;
  if (strstr(text, "implicit viscosity ends")) ++told->n_iterations;
}

static Told told_of(int dim, double viscosity, int boundary, const char *name, double value, int n_steps) {
  FloWorld *world = make_pool(dim, viscosity, boundary, 3);
  Told told = {0};
  world->def.log = (FloLog){hear, &told};
  if (name) set(world, name, value);
  for (int k = 0; k < n_steps; ++k) {
    step_world(world, 1);
    const int n = 1 + ((const FloConstraint *)world->method_state)->n_mixed;
    told.first = k == 0 ? n : told.first, told.most = n > told.most ? n : told.most, told.sum += n;
  }
  flo_world_destroy(world);
  return told;
}

// Passes suffice from the first step on, where nothing is known about pressures.
static void test_default_passes_suffice(void **state) {
  (void)state;
  static const double viscosities[] = {0.05, 0.2, 1, 5, 20};
  for (int k = 0; k < 5; ++k)
    for (int dim = 2; dim <= 3; ++dim)
      for (int boundary = FLO_CONSTRAINT_SAMPLES; boundary <= FLO_CONSTRAINT_FIELD; boundary += 2) {
        const Told told = told_of(dim, viscosities[k], boundary, NULL, 0, 20);
        print_message(
            "%dD, %g m2/s, boundary %d: %d passes in the first step, %d at most, %.1f in the mean\n", dim,
            viscosities[k], boundary, told.first, told.most, told.sum / 20.0);
        assert_int_equal(told.n_passes, 0), assert_int_equal(told.n_iterations, 0);
      }
}

// A step that ends too early is told of: the 1st and the 10th of 20.
static void test_early_ends_are_told(void **state) {
  (void)state;
  assert_int_equal(told_of(2, 1, FLO_CONSTRAINT_SAMPLES, "passes", 1, 20).n_passes, 2);
  assert_int_equal(told_of(2, 20, FLO_CONSTRAINT_SAMPLES, "viscosity_iterations", 1, 1).n_iterations, 2);
  FloWorld *world = make_pool(2, 1, FLO_CONSTRAINT_SAMPLES, 3);
  set(world, "passes", 1);
  step_world(world, 1);
  assert_true(world->residual > 100 * world->params[FLO_CONSTRAINT_TOLERANCE]); // and it shows
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes_solve_one_system),   cmocka_unit_test(test_one_pass_does_not),
      cmocka_unit_test(test_mixing_solves_affine_maps), cmocka_unit_test(test_mixing_obeys_limits),
      cmocka_unit_test(test_default_passes_suffice),    cmocka_unit_test(test_early_ends_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
