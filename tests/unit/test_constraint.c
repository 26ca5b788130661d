// Rows of `constraint`: the rates that they measure against differences of the densities and distances, that
// rows of one colour in different cells share no particle, and when the second level is made.
#include "coupling/constraint/constraint.h"
#include "support/random.h"
#include "support/worlds.h"

#include <string.h>

static FloBodyId add_float(FloWorld *world, int dim, double s) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_DYNAMIC, def.density = 500;
  def.shape = box_shape(5 * s, 5 * s, dim == 3 ? 5 * s : 0);
  def.pose = dim == 3 ? pose_at(0, 0, 8.2 * s) : pose_at(0, 8.2 * s, 0);
  return add_body(world, &def);
}

static FloWorld *fill_bath(int dim, double boundary) {
  FloWorldDef def = small_world_def(dim);
  FloError error;
  def.method = "constraint", def.spacing = 0.02;
  const double s = def.spacing, low[3] = {-6 * s, dim == 3 ? -6 * s : 0, 0},
               high[3] = {6 * s, dim == 3 ? 6 * s : 8 * s, dim == 3 ? 8 * s : 0};
  FloWorld *world = create_world(&def);
  FloBodyDef tank = flo_default_body_def();
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = dim - 1};
  vec_set(tank.shape.size, 12 * s, dim == 3 ? 12 * s : 20 * s, dim == 3 ? 20 * s : 0);
  tank.pose = dim == 3 ? pose_at(0, 0, 10 * s) : pose_at(0, 10 * s, 0);
  add_body(world, &tank);
  add_float(world, dim, s);
  add_block(world, add_water(world), low, high);
  assert_ok(flo_world_set_param(world, "boundary", boundary, &error), &error);
  // At half a spacing fluid would lie between cells of the field, where its gradient jumps.
  assert_ok(flo_world_set_param(world, "distance", boundary == FLO_CONSTRAINT_FIELD ? 0.47 : 0, &error),
            &error);
  return world;
}

static FloWorld *make_bath(int dim, double boundary) {
  FloWorld *world = fill_bath(dim, boundary);
  step_world(world, 20);
  return world;
}

static float any_speed(Random *random) { return (float)random_between(random, -1, 1); }

// Gives everything that forces move a velocity at random.
static void stir(FloWorld *world, Random *random, double motion[6]) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const bool is_flat = world->def.dim == 2;
  for (size_t i = 0; i < p->count; ++i) {
    p->vx[i] = any_speed(random), p->vy[i] = any_speed(random);
    p->vz[i] = is_flat ? 0 : any_speed(random);
  }
  for (int k = 0; k < 6; ++k) motion[k] = (double)any_speed(random);
  if (is_flat) motion[2] = motion[3] = motion[4] = 0;
}

static void move_pose(FloPose *pose, const double motion[6], double dt) {
  double turn[4], before[4];
  quat_copy(pose->rotation, before);
  const double spin = vec_length(motion + 3);
  const double axis[3] = {motion[3] / spin, motion[4] / spin, motion[5] / spin};
  quat_from_axis_angle(axis, spin * dt, turn);
  quat_multiply(turn, before, pose->rotation);
  vec_add_scaled(pose->position, motion, dt, pose->position);
}

static void move(FloWorld *world, const double motion[6], double dt) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloBody *body = flo_node_body(world, 0);
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += dt * (double)p->vx[i], p->y[i] += dt * (double)p->vy[i], p->z[i] += dt * (double)p->vz[i];
  }
  vec_copy(motion, body->nodes->velocity);
  move_pose(&body->state.pose, motion, dt);
  FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  for (size_t i = 0; i < rigid->count; ++i) {
    double arm[3] = {rigid->x[i], rigid->y[i], rigid->z[i]}, v[3];
    vec_sub(arm, body->nodes->position, arm);
    vec_cross(motion + 3, arm, v);
    vec_add(v, motion, v);
    rigid->x[i] += dt * v[0], rigid->y[i] += dt * v[1], rigid->z[i] += dt * v[2];
  }
}

static FloConstraint *look(FloWorld *world) {
  FloConstraint *c = world->method_state;
  FloError error;
  assert_ok(flo_world_list_neighbours(world, 0, &error), &error);
  c->n_fluid = world->sets[FLO_SET_FLUID].count;
  assert_ok(flo_constraint_make_rows(world, c, &error), &error);
  return c;
}

enum { MAX_ROWS = 8192 };

// Violations by the id of the particle or sample, since sorting moves them.
static void take_violations(const FloWorld *world, const FloConstraint *c, double *by_id, size_t *n) {
  const uint32_t *ids[3] = {world->sets[FLO_SET_FLUID].id, world->sets[FLO_SET_BOUNDARY].id,
                            world->sets[FLO_SET_RIGID].id};
  for (size_t k = 0; k < 3 * MAX_ROWS; ++k) by_id[k] = NAN;
  for (size_t row = 0; row < flo_constraint_first_foot(c); ++row) {
    const int kind = row < c->n_fluid ? 0 : row < c->n_fluid + c->n_walls ? 1 : 2;
    const uint32_t id = ids[kind][kind ? c->wet[row - c->n_fluid] : row];
    assert_true(id < MAX_ROWS);
    by_id[(size_t)kind * MAX_ROWS + id] = (double)c->violation[row];
    ++*n;
  }
}

// u of each row, by the same numbers.
static void take_rates(const FloWorld *world, FloConstraint *c, const double motion[6], double *by_id) {
  size_t n = 0;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) {
    float *q = c->before + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
  }
  for (size_t position = 0; position < c->n_rows; ++position) {
    const size_t row = c->order[position];
    double rate = (double)flo_constraint_rate(c, c->before, row);
    if (position >= c->n_coloured)
      for (uint32_t t = c->touch_begin[position - c->n_coloured];
           t < c->touch_begin[position - c->n_coloured + 1]; ++t)
        for (int k = 0; k < 6; ++k) rate += c->touches[t].j[k] * motion[k];
    c->violation[row] = (float)rate;
  }
  take_violations(world, c, by_id, &n);
}

// Central differences of g along a motion of everything, against G v.
static void check_rates(int dim, double boundary) {
  static double before[3 * MAX_ROWS], after[3 * MAX_ROWS], rates[3 * MAX_ROWS];
  const double dt = 4e-6;
  Random random = {7};
  double motion[6], worst = 0, largest = 0;
  size_t n = 0, n_compared = 0, n_off = 0;
  FloWorld *world = make_bath(dim, boundary);
  stir(world, &random, motion);
  take_rates(world, look(world), motion, rates);
  move(world, motion, -dt);
  take_violations(world, look(world), before, &n);
  move(world, motion, 2 * dt);
  take_violations(world, look(world), after, &n);
  for (size_t k = 0; k < 3 * MAX_ROWS; ++k) {
    const double slope = (after[k] - before[k]) / (2 * dt);
    if (!isfinite(slope) || !isfinite(rates[k])) continue;
    n_off += fabs(slope - rates[k]) > 0.1;
    worst = fmax(worst, fabs(slope - rates[k])), largest = fmax(largest, fabs(slope)), ++n_compared;
  }
  print_message(
      "%dD, boundary %g: %zu rows, rates up to %.1f 1/s, off by at most %.2e, %zu by more than 0.1\n", dim,
      boundary, n_compared, largest, worst, n_off);
  assert_true(n_compared >= world->sets[FLO_SET_FLUID].count);
  // Few particles come within reach of a body, or cross a cell of the field, just then.
  const bool has_cells = boundary == FLO_CONSTRAINT_FIELD;
  assert_true(n_off <= (has_cells ? n_compared / 50 : 0));
  assert_true(has_cells || worst < 0.01 * largest);
  flo_world_destroy(world);
}

static void test_rates_are_those_of_densities(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    check_rates(dim, FLO_CONSTRAINT_SAMPLES), check_rates(dim, FLO_CONSTRAINT_FIELD);
}

// ---- Feet ----

// How much the density of a foot changes if one of the particles that it is linked to moves, against its
// link.
static double foot_error(FloWorld *world, FloConstraint *c, size_t row, uint32_t k) {
  const FloLink link = c->links[c->link_begin[row] + k];
  double *x[3] = {world->sets[FLO_SET_FLUID].x, world->sets[FLO_SET_FLUID].y, world->sets[FLO_SET_FLUID].z};
  const double step = 1e-3 * world->def.spacing;
  double worst = 0;
  for (int axis = 0; axis < world->def.dim; ++axis) {
    double *at = &x[axis][link.particle], before = *at, g[2];
    for (int side = 0; side < 2; ++side) {
      *at = before + (side ? step : -step);
      flo_constraint_link_foot(world, c, row);
      g[side] = (double)c->violation[row];
    }
    *at = before;
    worst = fmax(worst, fabs((g[1] - g[0]) / (2 * step) - (double)link.g[axis]));
  }
  flo_constraint_link_foot(world, c, row);
  return worst * world->def.spacing;
}

// Padding repeats the particle of the link before it.
static bool is_padding(const FloConstraint *c, size_t row, uint32_t k) {
  const FloLink *links = c->links + c->link_begin[row];
  return k > 0 && links[k].particle == links[k - 1].particle;
}

// What the bodies below a foot get adds up to what the particles get.
static double parts_error(const FloConstraint *c, size_t row) {
  const FloFoot *foot = flo_constraint_foot(c, row);
  double sum[3], left[3], part[3];
  flo_constraint_sum_links(c, row, sum);
  vec_copy(sum, left);
  for (uint32_t k = 0; k < foot->n_faces; ++k) {
    flo_constraint_foot_part(c, foot, k, sum, part);
    vec_sub(left, part, left);
  }
  return vec_length(left) / (vec_length(sum) + 1e-30);
}

static void test_feet_push_what_compresses_them(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_bath(dim, FLO_CONSTRAINT_FIELD);
    FloConstraint *c = look(world);
    size_t n_by_faces[FLO_FOOT_FACES + 1] = {0}, first = flo_constraint_first_foot(c);
    double worst = 0, worst_part = 0;
    for (size_t row = first; row < first + c->n_feet; ++row) {
      n_by_faces[flo_constraint_foot(c, row)->n_faces]++;
      worst_part = fmax(worst_part, parts_error(c, row));
      for (uint32_t k = 0; row % 7 == 0 && k < c->link_count[row]; ++k)
        if (!is_padding(c, row, k)) worst = fmax(worst, foot_error(world, c, row, k));
    }
    print_message("%dD: %zu, %zu and %zu feet below one, two and three faces; links off by %.1e\n", dim,
                  n_by_faces[1], n_by_faces[2], n_by_faces[3], worst);
    assert_true(n_by_faces[1] > 20 && n_by_faces[2] >= 2 && (dim == 2 || n_by_faces[3] >= 4));
    assert_true(worst < 2e-3 && worst_part < 1e-12);
    flo_world_destroy(world);
  }
}

// Two rows of one colour in different groups must not share a particle.
static void test_groups_of_a_colour_are_apart(void **state) {
  (void)state;
  for (int k = 0; k < 6; ++k) {
    FloWorld *world = make_bath(2 + k % 2, k / 2);
    const FloConstraint *c = look(world);
    size_t *owner = calloc(c->n_fluid, sizeof *owner);
    assert_true(c->n_colours > 1 && c->n_coloured > c->n_fluid / 4);
    for (int colour = 0; colour < c->n_colours; ++colour) {
      memset(owner, 0, c->n_fluid * sizeof *owner);
      for (size_t g = c->colour_begin[colour]; g < c->colour_begin[colour + 1]; ++g)
        for (uint32_t r = c->groups[g].begin; r < c->groups[g].end; ++r) {
          const size_t row = c->order[r];
          for (uint32_t l = c->link_begin[row]; l < c->link_begin[row] + c->link_count[row]; ++l) {
            size_t *own = &owner[c->links[l].particle];
            assert_true(*own == 0 || *own == g + 1);
            *own = g + 1;
          }
        }
    }
    free(owner);
    flo_world_destroy(world);
  }
}

// ---- The second level ----

static void set(FloWorld *world, const char *name, double value) {
  FloError error;
  assert_ok(flo_world_set_param(world, name, value, &error), &error);
}

// Densities that may pull take part whether they push or not. So water that is at rest needs the level once.
static void test_the_level_is_kept_while_the_same_rows_take_part(void **state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    FloWorld *world = fill_bath(2 + k % 2, k / 2 ? FLO_CONSTRAINT_FIELD : FLO_CONSTRAINT_SAMPLES);
    const FloConstraint *c = world->method_state;
    size_t n_made = 0, n_iterations = 0;
    set(world, "bilateral", 1), set(world, "tolerance", 0);
    for (int step = 0; step < 20; ++step) {
      step_world(world, 1);
      n_made += c->coarse.n_made, n_iterations += (size_t)world->iterations;
    }
    print_message("%dD, boundary %d: made %zu times in %zu iterations of 20 steps\n", 2 + k % 2, 2 * (k / 2),
                  n_made, n_iterations);
    assert_true(n_made >= 20 && n_made < n_iterations / 2);
    flo_world_destroy(world);
  }
}

// Solvers with one level take no memory for a second, unless others are tried beside them.
static void test_only_two_levels_take_memory_for_them(void **state) {
  (void)state;
  static const struct Choice {
    double solver, levels, history;
    bool has_level;
  } choices[] = {{FLO_CONSTRAINT_GAUSS_SEIDEL, 2, 0, true},
                 {FLO_CONSTRAINT_GAUSS_SEIDEL, 1, 0, false},
                 {FLO_CONSTRAINT_GAUSS_SEIDEL, 1, 1, true},
                 {FLO_CONSTRAINT_STANDARD, 2, 1, false}};
  for (size_t k = 0; k < FLO_COUNT_OF(choices); ++k) {
    FloWorld *world = fill_bath(3, FLO_CONSTRAINT_SAMPLES);
    const FloConstraint *c = world->method_state;
    set(world, "solver", choices[k].solver), set(world, "levels", choices[k].levels);
    set(world, "history", choices[k].history);
    step_world(world, 2);
    assert_int_equal(c->buffers[FLO_CONSTRAINT_COARSE_LINKS].capacity > 0, choices[k].has_level);
    assert_int_equal(c->buffers[FLO_CONSTRAINT_CELLS].capacity > 0, choices[k].has_level);
    flo_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates_are_those_of_densities),
                                     cmocka_unit_test(test_feet_push_what_compresses_them),
                                     cmocka_unit_test(test_groups_of_a_colour_are_apart),
                                     cmocka_unit_test(test_the_level_is_kept_while_the_same_rows_take_part),
                                     cmocka_unit_test(test_only_two_levels_take_memory_for_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
