// Forces and torques of soft bodies on walls: the whole wall takes them where they act, also a wall that has
// no samples.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

typedef struct Case {
  const char *method;
  int dim;
  FloBodyKind kind;
  double spacing;   // [m]
  bool has_samples; // the floor
} Case;

enum { FAR_WALL, FLOOR, SOFT };

static FloPose place(const Case *c, double along, double height) {
  return c->dim == 2 ? pose_at(along, height, 0) : pose_at(along, 0, height);
}

static FloShape block(const Case *c, double wide, double high) {
  return c->dim == 2 ? box_shape(wide, high, 0) : box_shape(wide, wide, high);
}

// Gives all samples of the floor to the other wall.
static void forget_samples(FloWorld *world) {
  FloParticles *samples = &world->sets[FLO_SET_BOUNDARY];
  FloBody *floor = &flo_bodies(world)[FLOOR];
  for (size_t i = floor->first; i < floor->first + floor->count; ++i) samples->body[i] = FAR_WALL;
  floor->count = 0;
}

static void add_wall(FloWorld *world, const Case *c, double along) {
  FloBodyDef wall = flo_default_body_def();
  wall.shape = block(c, 24 * c->spacing, 4 * c->spacing);
  wall.pose = place(c, along, -2 * c->spacing), wall.averages_force = true;
  add_body(world, &wall);
}

// The soft body lies beside the middle of the floor.
static FloWorld *make_world(const Case *c, double along) {
  FloWorldDef def = small_world_def(c->dim);
  const double s = c->spacing, thickness = 0.2 * s;
  def.method = c->method, def.spacing = s;
  FloWorld *world = create_world(&def);
  FloBodyDef soft = flo_default_body_def();
  add_wall(world, c, 60 * s);
  add_wall(world, c, 0);
  if (!c->has_samples) forget_samples(world);
  soft.kind = c->kind, soft.density = 800;
  soft.elastic = (FloElasticDef){.young = 1e5, .poisson = 0.3, .damping = 0.02};
  soft.cloth = (FloClothDef){
      .areal_density = 2, .thickness = thickness, .stretch = 1000, .bend = 1e-3, .damping = 0.02};
  soft.shape = c->kind == FLO_BODY_CLOTH ? (FloShape){.kind = FLO_SHAPE_SHEET, .size = {6 * s, 6 * s, 0}}
                                         : block(c, 6 * s, 4 * s);
  soft.pose = place(c, along, c->kind == FLO_BODY_CLOTH ? thickness / 2 : 2 * s);
  add_body(world, &soft);
  return world;
}

static FloBodyState state_of(FloWorld *world, uint32_t body) {
  FloBodyState state;
  FloError error;
  assert_ok(flo_world_body_state(world, (FloBodyId){body, 1}, &state, &error), &error);
  return state;
}

static void check_case(const Case *c) {
  const double along = 4.3 * c->spacing;
  FloWorld *world = make_world(c, along);
  FloError error;
  if (!world->method->touches_soft) { // its soft bodies pass through walls
    flo_world_destroy(world);
    return;
  }
  assert_ok(flo_world_advance(world, 0.3, NULL, &error), &error);
  flo_world_restart_averages(world);
  assert_ok(flo_world_advance(world, 0.4, NULL, &error), &error);
  const FloBodyState far = state_of(world, FAR_WALL), floor = state_of(world, FLOOR);
  const double weight = 9.81 * flo_soft_body(&flo_bodies(world)[SOFT])->mass,
               arm = flo_bodies(world)[SOFT].state.pose.position[0];
  const double turn = c->dim == 2 ? -floor.mean_torque[2] : floor.mean_torque[1];
  print_message("%s, %dD, spacing %g, %s, %s samples: force %.5f of the weight, torque %.5f\n", c->method,
                c->dim, c->spacing, c->kind == FLO_BODY_CLOTH ? "cloth" : "solid",
                c->has_samples ? "with" : "without", -floor.mean_force[c->dim - 1] / weight,
                turn / (weight * arm));
  assert_true(vec_length(far.mean_force) == 0 && vec_length(far.mean_torque) == 0);
  assert_close(-floor.mean_force[c->dim - 1] / weight, 1, 1e-3);
  assert_close(turn / (weight * arm), 1, 1e-3);
  flo_world_destroy(world);
}

static void test_walls_take_forces(void **state) {
  (void)state;
  static const Case cases[] = {
      {"monolithic", 2, FLO_BODY_ELASTIC, 0.02, true}, {"monolithic", 2, FLO_BODY_ELASTIC, 0.01, false},
      {"monolithic", 2, FLO_BODY_CLOTH, 0.02, false},  {"monolithic", 3, FLO_BODY_ELASTIC, 0.02, false},
      {"monolithic", 3, FLO_BODY_CLOTH, 0.02, true},   {"elastic", 2, FLO_BODY_ELASTIC, 0.02, false},
      {"elastic", 3, FLO_BODY_CLOTH, 0.02, true},      {"constraint", 2, FLO_BODY_ELASTIC, 0.02, false},
      {"constraint", 3, FLO_BODY_CLOTH, 0.02, true}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) check_case(&cases[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_walls_take_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
