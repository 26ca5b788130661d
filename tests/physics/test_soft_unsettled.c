// Steps of soft bodies that do not settle are told: at first, then ever more seldom.
#include "base/pose.h"
#include "support/soft_worlds.h"

typedef struct Heard {
  size_t n_contacts; // messages about contacts that did not settle
} Heard;

static void listen(void *context, FloLogLevel level, const char *text) {
  Heard *heard = context;
  if (level == FLO_LOG_WARNING && strstr(text, "did not settle")) heard->n_contacts++;
}

typedef struct Case {
  int dim;
  double s, dt, stretch, fall, density;
} Case;

// A ball falls on a strip that stands on its end, on a floor.
static FloWorld *make_case(const Case *c, Heard *heard) {
  const double s = c->s;
  FloWorldDef def = small_world_def(c->dim);
  def.log = (FloLog){.write = listen, .context = heard};
  def.method = "monolithic", def.spacing = s, def.time_step = c->dt;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[c->dim - 1] = -9.81;
  FloWorld *world = create_world(&def);
  FloBodyDef floor = flo_default_body_def(), cloth = flo_default_body_def(), ball = flo_default_body_def();
  floor.kind = FLO_BODY_STATIC, floor.name = "floor", floor.friction = 0.3;
  floor.shape = box_shape(40 * s, c->dim == 2 ? 4 * s : 40 * s, c->dim == 2 ? 0 : 4 * s);
  floor.pose.position[c->dim - 1] = -2 * s;
  add_body(world, &floor);
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth", cloth.friction = 0.3;
  cloth.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {12 * s, 4 * s, 0}, .cell = s};
  cloth.cloth = (FloClothDef){
      .areal_density = 0.2, .thickness = 0.1 * s, .stretch = c->stretch, .bend = 1e-4, .damping = 0.01};
  quat_from_axis_angle((const double[3]){0, c->dim == 3, c->dim == 2}, FLO_PI / 2 - 0.01,
                       cloth.pose.rotation);
  cloth.pose.position[c->dim - 1] = 6.5 * s;
  add_body(world, &cloth);
  ball.kind = FLO_BODY_DYNAMIC, ball.name = "ball", ball.density = c->density, ball.friction = 0.3;
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 3 * s};
  ball.pose.position[c->dim - 1] = 16 * s;
  ball.velocity[c->dim - 1] = -c->fall;
  add_body(world, &ball);
  return world;
}

static size_t count_digits(size_t n) {
  size_t digits = 0;
  for (; n > 0; n /= 10) ++digits;
  return digits;
}

// The first time, the tenth, the hundredth and so on are told.
static void test_crumpled_strand_is_told(void **state) {
  (void)state;
  for (int step = 1; step <= 5; step += 4) {
    Heard heard = {0};
    FloWorld *world = make_case(
        &(Case){.dim = 2, .s = 0.02, .dt = 1e-3 * step, .stretch = 2e4, .fall = 1, .density = 2000}, &heard);
    advance(world, 0.25);
    const size_t n = world->unsettled[FLO_UNSETTLED_CONTACTS];
    print_message("steps of %d ms: %zu steps did not settle, %zu messages\n", step, n, heard.n_contacts);
    assert_true(n >= 2);
    assert_int_equal(heard.n_contacts, count_digits(n));
    flo_world_destroy(world);
  }
}

// The ball has not reached the strand yet.
static void test_settled_steps_are_silent(void **state) {
  (void)state;
  Heard heard = {0};
  FloWorld *world =
      make_case(&(Case){.dim = 2, .s = 0.02, .dt = 1e-3, .stretch = 2e4, .density = 2000}, &heard);
  advance(world, 0.01);
  for (int k = 0; k < FLO_N_UNSETTLED; ++k) assert_int_equal(world->unsettled[k], 0);
  assert_int_equal(heard.n_contacts, 0);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_crumpled_strand_is_told),
                                     cmocka_unit_test(test_settled_steps_are_silent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
