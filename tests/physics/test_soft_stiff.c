// Stiff cloth that is crumpled by a heavy body: how much energy steps add whose contacts do not settle. None
// would be right; the limits are what is reached.
#include "base/pose.h"
#include "support/soft_worlds.h"

typedef struct Case {
  int dim;
  double s, dt, stretch, fall, density;
  const char *method;
} Case;

static FloWorld *make_case(const Case *c) {
  const double s = c->s;
  FloWorldDef def = small_world_def(c->dim);
  def.method = c->method, def.spacing = s, def.time_step = c->dt;
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

// The logarithm of the largest energy over that at the start. Adds the steps that did not settle.
static double drop_ball(const Case *c, size_t *n_unsettled) {
  FloWorld *world = make_case(c);
  double most = 0, speed = 0;
  const double first = energy_of(world);
  const FloBody *ball = body_of(world, "ball");
  while (flo_world_time(world) < 0.4) {
    step_world(world, 1);
    most = fmax(most, energy_of(world) / first);
    speed = fmax(speed, vec_length(ball->state.velocity));
  }
  print_message(
      "%s, steps of %g ms, strand of %g N/m, ball starts at %g m/s: energy up to %.2f of the first, "
      "ball at most %.2f m/s, %zu steps did not settle\n",
      c->method, 1000 * c->dt, c->stretch, c->fall, most, speed, world->unsettled[FLO_UNSETTLED_CONTACTS]);
  *n_unsettled += world->unsettled[FLO_UNSETTLED_CONTACTS];
  flo_world_destroy(world);
  return log(most);
}

// A strand that buckles between a ball and a floor is chaotic, so single cases tell little.
static void test_crumpled_strand_gains_little(void **state) {
  (void)state;
  static const double steps[] = {1e-3, 2e-3}, stretches[] = {2e3, 2e4};
  double sum = 0;
  size_t n_unsettled = 0, n = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k)
    for (size_t i = 0; i < FLO_COUNT_OF(stretches); ++i)
      for (int fall = 0; fall <= 1; ++fall, ++n)
        sum += drop_ball(&(Case){2, 0.02, steps[k], stretches[i], fall, 2000, "monolithic"}, &n_unsettled);
  print_message("mean of the largest energies (geometric): %.2f; %zu steps did not settle\n",
                exp(sum / (double)n), n_unsettled);
  assert_true(exp(sum / (double)n) < 20);
  assert_true(n_unsettled < 80);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_crumpled_strand_gains_little)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
