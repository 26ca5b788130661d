// What methods ask of a body, against finite differences and conservation laws; nodes that are held; and
// operators, which are made once.
#include "coupling/forces/body_rows.h"
#include "support/plank.h"
#include "support/worlds.h"
#include "world/world.h"

static FloWorld *make_world(int dim, const char *method) {
  FloWorldDef def = small_world_def(dim);
  def.method = method;
  FloWorld *world = create_world(&def);
  FloBodyDef body = flo_default_body_def();
  double angle[4];
  body.kind = FLO_BODY_DYNAMIC, body.density = 700;
  body.shape = dim == 2 ? box_shape(0.3, 0.1, 0) : box_shape(0.3, 0.1, 0.2);
  body.pose = pose_at(0.4, 0.3, dim == 2 ? 0 : 0.3);
  quat_from_axis_angle(dim == 2 ? (const double[3]){0, 0, 1} : (const double[3]){1, 2, 3}, 0.7, angle);
  quat_copy(angle, body.pose.rotation);
  vec_set(body.velocity, 0.3, -0.2, dim == 2 ? 0 : 0.1);
  vec_set(body.angular_velocity, dim == 2 ? 0 : 0.5, dim == 2 ? 0 : -1, 2);
  add_body(world, &body);
  return world;
}

static void sample_position(const FloWorld *world, size_t i, double x[3]) {
  const FloParticles *set = &world->sets[FLO_SET_RIGID];
  vec_set(x, set->x[i], set->y[i], set->z[i]);
}

// A sample moves with the velocity that its carriers have there.
static void check_velocity(int dim) {
  FloWorld *world = make_world(dim, "monolithic");
  FloBody *body = &flo_bodies(world)[0];
  const double dt = 1e-6;
  for (size_t i = body->first; i < body->first + body->count; i += 17) {
    double before[3], after[3], moved[3], velocity[3];
    sample_position(world, i, before);
    const FloGrip grip = flo_body_grip(body, &world->domain, &world->sets[FLO_SET_RIGID], i, before);
    flo_grip_velocity(&grip, velocity);
    body->kind->mark(body, FLO_MARK_MOVE);
    body->kind->move(body, dt);
    body->kind->where(body, &world->sets[FLO_SET_RIGID], i, after);
    body->kind->rewind(body, FLO_MARK_MOVE);
    vec_sub(after, before, moved);
    vec_scale(moved, 1 / dt, moved);
    assert_close_3(moved, velocity, 1e-5);
  }
  flo_world_destroy(world);
}

static void test_velocity_at_a_sample(void **state) {
  (void)state;
  check_velocity(2);
  check_velocity(3);
}

// An impulse at a sample changes the velocity there, along itself, by the response; and gives the body its
// momentum.
static void check_impulse(int dim) {
  FloWorld *world = make_world(dim, "monolithic");
  FloBody *body = &flo_bodies(world)[0];
  const double directions[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int axis = 0; axis < dim; ++axis)
    for (size_t i = body->first; i < body->first + body->count; i += 23) {
      double x[3], before[3], after[3], impulse[3], turn[3];
      FloBodyMeasure measured[2] = {0};
      sample_position(world, i, x);
      const FloGrip grip = flo_body_grip(body, &world->domain, &world->sets[FLO_SET_RIGID], i, x);
      double response = flo_grip_response(&grip, directions[axis]);
      flo_grip_velocity(&grip, before);
      body->kind->measure(body, world->def.gravity, &measured[0]);
      vec_scale(directions[axis], 0.05, impulse);
      flo_grip_push(&grip, impulse);
      flo_grip_velocity(&grip, after);
      body->kind->measure(body, world->def.gravity, &measured[1]);
      assert_close((after[axis] - before[axis]) / 0.05, response, 1e-12 * response);
      vec_cross(x, impulse, turn);
      for (int k = 0; k < 3; ++k) {
        assert_close(measured[1].momentum[k] - measured[0].momentum[k], impulse[k], 1e-14);
        if (dim == 3 || k == 2)
          assert_close(measured[1].angular_momentum[k] - measured[0].angular_momentum[k], turn[k], 1e-14);
      }
    }
  flo_world_destroy(world);
}

static void test_impulse_at_a_sample(void **state) {
  (void)state;
  check_impulse(2);
  check_impulse(3);
}

// Forces on samples and velocities of samples are transposed to each other: the power is the same on both
// sides.
static void test_samples_and_nodes_exchange_the_same_power(void **state) {
  (void)state;
  FloWorld *world = make_world(3, "monolithic");
  const FloBody *body = &flo_bodies(world)[0];
  size_t n = world->sets[FLO_SET_RIGID].capacity + FLO_BLOCK;
  float *forces = calloc(4 * n, sizeof *forces), *quads = calloc(4 * n, sizeof *quads);
  double wrench[6], motion[6], of_samples = 0, of_node = 0;
  for (size_t i = 0; i < body->count; ++i)
    for (size_t k = 0; k < 3; ++k) forces[4 * i + k] = (float)sin(1 + 3.0 * (double)i + (double)k);
  flo_world_gather_wrenches(world, forces, wrench);
  flo_world_read_motions(world, motion);
  flo_world_spread_motions(world, NULL, quads);
  for (size_t i = 0; i < body->count; ++i)
    for (size_t k = 0; k < 3; ++k) of_samples += (double)forces[4 * i + k] * (double)quads[4 * i + k];
  for (int k = 0; k < 6; ++k) of_node += wrench[k] * motion[k];
  assert_close(of_samples, of_node, 1e-5 * fabs(of_node));
  free(forces), free(quads);
  flo_world_destroy(world);
}

// ---- Nodes that are held ----

static double releases[2]; // of the ends of a plank [s]

static void begin_plank(FloBody *body, double time) {
  for (int k = 0; k < 2; ++k) {
    FloNode *end = &body->nodes[k];
    end->is_held = time < releases[k];
    end->inverse_mass[1] = end->is_held ? 0 : 1 / end->mass;
  }
  plank_refresh(body);
}

// Begins a step when the ends move like this; what samples and solvers then see of them.
static void check_ends(FloWorld *world, double first, double second) {
  FloError error;
  const FloBody *body = &flo_bodies(world)[0];
  const FloParticles *samples = &world->sets[FLO_SET_RIGID];
  const double expected[2] = {first, second};
  double motions[12];
  assert_ok(flo_world_begin_bodies(world, &error), &error);
  flo_world_read_motions(world, motions);
  for (size_t k = 0; k < 2; ++k) {
    assert_true(body->nodes[k].is_held == (expected[k] == 0));
    assert_true(motions[6 * k + 1] == expected[k]);
  }
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloCarriers carriers = body->kind->carry(body, samples, i);
    assert_close(samples->vy[i], carriers.shares[0] * first + carriers.shares[1] * second, 1e-6);
  }
}

// Each end of a plank is released and held alone. The other end stays as it was, and the samples follow.
static void test_nodes_are_released_one_by_one(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  FloBodyDef body = flo_default_body_def();
  FloKind kind = plank_kind;
  FloError error;
  def.method = "monolithic", kind.begin = begin_plank;
  FloWorld *world = create_world(&def);
  body.shape = box_shape(0.4, 0.08, 0), body.density = 500;
  assert_ok(flo_world_add_body_of(world, &kind, &body, NULL, &error), &error);
  FloNode *ends = flo_bodies(world)[0].nodes;
  ends[0].velocity[1] = 0.3, ends[1].velocity[1] = -0.2;
  for (int late = 0; late < 2; ++late) {
    releases[late] = 2, releases[!late] = 1;
    world->time = 0, check_ends(world, 0, 0);
    FloNode before = ends[late];
    world->time = 1, check_ends(world, late ? 0.3 : 0, late ? 0 : -0.2);
    assert_memory_equal(&ends[late], &before, sizeof before);
    before = ends[!late];
    world->time = 2, check_ends(world, 0.3, -0.2);
    assert_memory_equal(&ends[!late], &before, sizeof before);
    world->time = 1, check_ends(world, late ? 0.3 : 0, late ? 0 : -0.2); // held again
    assert_memory_equal(&ends[!late], &before, sizeof before);
  }
  flo_world_destroy(world);
}

// ---- More bodies than pushes are recorded of ----

static FloStatus pusher_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error) {
  (void)making, (void)error;
  body->state.pose = def->pose;
  return FLO_OK;
}

static bool always_deflect(const FloBody *body, const FloDomain *domain, const double x[3], const double v[3],
                           double dt, double deepest, double push[3]) {
  (void)body, (void)domain, (void)x, (void)v, (void)dt, (void)deepest;
  vec_set(push, 0, 0.01, 0);
  return true;
}

static double always_near(const FloBody *body, const FloDomain *domain, const double x[3]) {
  (void)body, (void)domain, (void)x;
  return 0;
}

static const FloKind pusher_kind = {.name = "pusher",
                                    .set = FLO_SET_BOUNDARY,
                                    .make = pusher_make,
                                    .place = flo_posed_place,
                                    .where = flo_posed_where,
                                    .distance = always_near,
                                    .normal = flo_posed_normal,
                                    .probe = flo_posed_probe,
                                    .deflect = always_deflect};

static void count_warning(void *context, FloLogLevel level, const char *text) {
  if (level == FLO_LOG_WARNING && strstr(text, "bodies kept one fluid particle out")) ++*(int *)context;
}

// Around one particle stand so many walls, each of which pushes it.
static int warnings_with(int n_walls) {
  FloWorldDef def = small_world_def(2);
  FloError error;
  int n_warnings = 0;
  def.method = "monolithic", def.log = (FloLog){count_warning, &n_warnings};
  FloWorld *world = create_world(&def);
  for (int k = 0; k < n_walls; ++k) {
    FloBodyDef wall = flo_default_body_def();
    double angle = 2 * FLO_PI * k / n_walls;
    wall.shape = box_shape(0.02, 0.02, 0);
    wall.pose = pose_at(0.035 * cos(angle), 0.035 * sin(angle), 0);
    assert_ok(flo_world_add_body_of(world, &pusher_kind, &wall, NULL, &error), &error);
  }
  assert_ok(flo_world_add_particles(world, add_water(world), 1, (const double[3]){0}, NULL, &error), &error);
  for (int k = 0; k < 3; ++k) assert_ok(flo_world_step(world, NULL, &error), &error);
  flo_world_destroy(world);
  return n_warnings;
}

static void test_pushes_that_cannot_be_told_apart_are_told(void **state) {
  (void)state;
  assert_int_equal(warnings_with(3), 0);
  assert_int_equal(warnings_with(4), 1);
}

// ---- Operators ----

static void test_operators_are_made_once(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = make_world(2, "monolithic");
  add_block(world, add_water(world), (const double[3]){0.2, 0.2, 0}, (const double[3]){0.6, 0.6, 0});
  const FloOperator *each = &world->operators[FLO_SET_FLUID][FLO_SET_FLUID],
                    *asked = &world->operators[FLO_SET_RIGID][FLO_SET_FLUID];
  assert_ok(flo_world_find_neighbours(world, 1e-3, &error), &error);
  assert_true(each->pairs.n_pairs > 0);
  assert_int_equal(asked->filled, 0); // nothing has asked for it
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  uint64_t filled = asked->filled;
  assert_true(filled > 0 && asked->pairs.n_pairs > 0);
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_FLUID, FLO_SET_FLUID, &error), &error);
  assert_int_equal(asked->filled, filled);
  assert_ok(flo_world_find_neighbours(world, 1e-3, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  assert_true(asked->filled > filled); // positions may have changed
  flo_world_destroy(world);
}

// Lists that serve several steps serve operators on demand too: they are fitted, not made anew.
static void test_lists_serve_operators_on_demand(void **state) {
  (void)state;
  FloError error;
  FloWorld *world = make_world(2, "direct-forcing");
  add_block(world, add_water(world), (const double[3]){0.2, 0.2, 0}, (const double[3]){0.6, 0.6, 0});
  const FloOperator *asked = &world->operators[FLO_SET_RIGID][FLO_SET_FLUID];
  assert_ok(flo_world_list_neighbours(world, 0.06, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  uint64_t listed = asked->listed, filled = asked->filled;
  assert_ok(flo_world_find_neighbours(world, 1e-5, &error), &error);
  assert_ok(flo_world_need_pairs(world, FLO_SET_RIGID, FLO_SET_FLUID, &error), &error);
  assert_int_equal(world->lists.age, 1);
  assert_int_equal(asked->listed, listed);
  assert_true(asked->filled > filled);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_velocity_at_a_sample),
      cmocka_unit_test(test_impulse_at_a_sample),
      cmocka_unit_test(test_samples_and_nodes_exchange_the_same_power),
      cmocka_unit_test(test_nodes_are_released_one_by_one),
      cmocka_unit_test(test_pushes_that_cannot_be_told_apart_are_told),
      cmocka_unit_test(test_operators_are_made_once),
      cmocka_unit_test(test_lists_serve_operators_on_demand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
