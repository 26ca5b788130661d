// A kind of body that no method knows works with every method.
#include "support/plank.h"
#include "support/spring_plate.h"
#include "support/worlds.h"

static FloBody *add_plate(FloWorld *world, FloShape shape, FloPose pose, double density) {
  FloBodyDef def = flo_default_body_def();
  FloError error;
  def.name = "plate", def.shape = shape, def.pose = pose, def.density = density, def.friction = 0;
  assert_ok(flo_world_add_body_of(world, &spring_plate_kind, &def, NULL, &error), &error);
  return &flo_bodies(world)[world->bodies.count - 1];
}

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

// A light plate in still water lifts its spring. The spring bears what the method says that fluid does to the
// plate, less its weight; and that is about its buoyancy. How well each method knows the buoyancy is tested
// elsewhere: thin plates of few spacings show the errors of walls at their largest.
static void lifts_its_spring(int dim, const char *method, double s, double density) {
  FloWorldDef def = small_world_def(dim);
  FloError error;
  FloBodyState last;
  def.method = method, def.spacing = s, def.threads = 2;
  FloWorld *world = create_world(&def);
  double a = 8 * s, thick = 4 * s, wide = 24 * s, deep = 20 * s, sum = 0;
  double volume = dim == 2 ? a * thick : a * a * thick, buoyancy = 1000 * volume * 9.81,
         weight = density * volume * 9.81;
  spring.stiffness = (buoyancy - weight) / (2 * s),
  spring.damping = 2 * sqrt(spring.stiffness * 1000 * volume);
  add_tank(world, dim, wide, dim == 2 ? 2 * deep : wide, 2 * deep);
  add_plate(world, dim == 2 ? box_shape(a, thick, 0) : box_shape(a, a, thick),
            pose_at(wide / 2, dim == 2 ? deep / 2 : wide / 2, dim == 2 ? 0 : deep / 2), density);
  add_block(world, add_water(world), (const double[3]){0},
            (const double[3]){wide, dim == 2 ? deep : wide, dim == 2 ? 0 : deep});
  advance(world, 1);
  flo_world_restart_averages(world);
  for (int k = 1; k <= 40; ++k) {
    advance(world, 1 + 0.01 * k);
    const FloBody *plate = &flo_bodies(world)[1];
    sum += plate->nodes->position[dim - 1] - plate->start.position[dim - 1];
  }
  assert_ok(flo_world_body_state(world, (FloBodyId){1, 1}, &last, &error), &error);
  double borne = spring.stiffness * sum / 40 + weight, force = last.mean_force[dim - 1];
  print_message("%dD, %s, spacing %g m, density %g: force of fluid %.3f, borne %.3f of the buoyancy\n", dim,
                method, s, density, force / buoyancy, borne / buoyancy);
  assert_close(borne / buoyancy, force / buoyancy, 0.02);
  assert_close(borne / buoyancy, 1, 0.15);
  flo_world_destroy(world);
}

static void test_plate_is_lifted(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    lifts_its_spring(2, flo_method_name(k), 0.02, 300);
    lifts_its_spring(2, flo_method_name(k), 0.01, 600);
  }
}

static void test_plate_is_lifted_in_3d(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) lifts_its_spring(3, flo_method_name(k), 0.04, 300);
}

// A drop hits the plate without gravity and without a spring: what the fluid loses the plate gets. Along the
// axes that are locked the plate takes any momentum.
static void test_plate_gets_what_fluid_loses(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    FloWorldDef def = small_world_def(2);
    def.method = flo_method_name(k), def.spacing = 0.02;
    vec_set(def.gravity, 0, 0, 0);
    FloWorld *world = create_world(&def);
    spring.stiffness = spring.damping = 0;
    add_plate(world, box_shape(0.2, 0.08, 0), pose_at(0, 0, 0), 500);
    FloFluidDef drop = flo_default_fluid_def();
    FloError error;
    drop.material = add_water(world), drop.shape = box_shape(0.1, 0.1, 0), drop.pose = pose_at(0.02, 0.12, 0);
    drop.velocity[1] = -1;
    assert_ok(flo_world_add_fluid(world, &drop, NULL, &error), &error);
    FloMeasurements before = flo_world_measure(world);
    advance(world, 0.2);
    FloMeasurements after = flo_world_measure(world);
    assert_true(flo_bodies(world)[0].nodes->velocity[1] < -0.05);
    assert_close(after.momentum[1] / before.momentum[1], 1, 1e-6);
    flo_world_destroy(world);
  }
}

// ---- A body of two nodes ----

static void add_plank(FloWorld *world, FloPose pose) {
  FloBodyDef def = flo_default_body_def();
  FloError error;
  def.name = "plank", def.shape = box_shape(0.4, 0.08, 0), def.pose = pose, def.density = 500,
  def.friction = 0;
  assert_ok(flo_world_add_body_of(world, &plank_kind, &def, NULL, &error), &error);
}

// A drop falls beside the middle: the nearer end goes down, and all of the momentum that the fluid loses goes
// to the two ends.
static void hits_one_end(const char *method) {
  FloWorldDef def = small_world_def(2);
  FloFluidDef drop = flo_default_fluid_def();
  FloError error;
  def.method = method, def.spacing = 0.02;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  add_plank(world, pose_at(0, 0, 0));
  drop.material = add_water(world), drop.shape = box_shape(0.1, 0.1, 0), drop.pose = pose_at(0.12, 0.12, 0);
  drop.velocity[1] = -1;
  assert_ok(flo_world_add_fluid(world, &drop, NULL, &error), &error);
  FloMeasurements before = flo_world_measure(world);
  advance(world, 0.08);
  FloMeasurements after = flo_world_measure(world);
  const FloNode *ends = flo_bodies(world)[0].nodes;
  print_message("%s: ends of a plank get %.3f and %.3f m/s\n", method, ends[0].velocity[1],
                ends[1].velocity[1]);
  assert_true(ends[1].velocity[1] < -0.1 && ends[1].velocity[1] < 2 * ends[0].velocity[1]);
  assert_close(after.momentum[1] / before.momentum[1], 1, 1e-6);
  flo_world_destroy(world);
}

static void test_nodes_share_what_their_samples_get(void **state) {
  (void)state;
  hits_one_end("wcsph");
  hits_one_end("monolithic");
}

// On the floor both ends rest, and the floor carries the weight.
static void test_plank_rests(void **state) {
  (void)state;
  for (double s = 0.02; s > 0.009; s /= 2) {
    FloWorldDef def = small_world_def(2);
    FloError error;
    FloBodyState body;
    def.method = "monolithic", def.spacing = s;
    FloWorld *world = create_world(&def);
    add_tank(world, 2, 0.8, 0.4, 0);
    add_plank(world, pose_at(0.4, 0.04, 0));
    advance(world, 0.5);
    flo_world_restart_averages(world);
    advance(world, 0.7);
    assert_ok(flo_world_body_state(world, (FloBodyId){1, 1}, &body, &error), &error);
    for (size_t k = 0; k < 2; ++k) assert_close(flo_bodies(world)[1].nodes[k].position[1], 0.04, 0.2 * s);
    assert_close(body.mean_force[1] / (500 * 0.4 * 0.08 * 9.81), 1, 0.02);
    flo_world_destroy(world);
  }
}

static void test_methods_say_what_they_cannot_move(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  FloBodyDef body = flo_default_body_def();
  FloError error;
  def.method = "direct-forcing";
  FloWorld *world = create_world(&def);
  body.shape = box_shape(0.4, 0.08, 0), body.density = 500;
  assert_fails(flo_world_add_body_of(world, &plank_kind, &body, NULL, &error), FLO_UNSUPPORTED, &error,
               "one piece");
  assert_int_equal(flo_world_count(world, FLO_SET_RIGID), 0);
  flo_world_destroy(world);
  // No method of today looks at the particles of soft bodies.
  FloKind soft = spring_plate_kind;
  soft.name = "soft plate", soft.set = FLO_SET_SOFT;
  world = empty_world(2);
  assert_fails(flo_world_add_body_of(world, &soft, &body, NULL, &error), FLO_UNSUPPORTED, &error,
               "soft plate");
  flo_world_destroy(world);
  world = empty_world(2);
  body.kind = FLO_BODY_DYNAMIC;
  assert_fails(flo_world_add_body(world, &body, NULL, &error), FLO_UNSUPPORTED, &error,
               "use method 'monolithic' or 'direct-forcing'");
  flo_world_destroy(world);
}

// ---- What a body is told ----

static FloWorld *plate_in_honey(const char *method, bool is_turning) {
  FloWorldDef def = small_world_def(2);
  FloError error;
  def.method = method, def.spacing = 0.02;
  FloWorld *world = create_world(&def);
  spring.stiffness = 500, spring.damping = 10;
  add_tank(world, 2, 0.4, 0.4, 0);
  FloBody *plate = add_plate(world, box_shape(0.12, 0.08, 0), pose_at(0.2, 0.16, 0), 500);
  // A node without inertia does not turn, whether or not its axes are locked.
  for (int axis = 3; is_turning && axis < 6; ++axis) plate->nodes->locks[axis] = false;
  add_block(world, add_material(world, 1000, 0.1), (const double[3]){0}, (const double[3]){0.4, 0.3, 0});
  assert_ok(flo_world_set_param(world, "viscosity", 2, &error), &error);
  return world;
}

// The forces on the samples of a body add up to the force on it, implicit viscosity included.
static void test_samples_feel_what_their_body_feels(void **state) {
  (void)state;
  const char *const methods[] = {"wcsph", "direct-forcing"};
  for (size_t k = 0; k < 2; ++k) {
    FloWorld *world = plate_in_honey(methods[k], false);
    FloError error;
    FloBodyState body, wall;
    FloView view;
    double sum = 0;
    advance(world, 0.05);
    assert_ok(flo_world_body_state(world, (FloBodyId){1, 1}, &body, &error), &error);
    assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &wall, &error),
              &error); // finds forces of samples
    assert_ok(flo_world_view(world, FLO_SET_RIGID, "fy", &view, &error), &error);
    for (size_t i = 0; i < view.count; ++i) sum += (double)((const float *)view.data)[i];
    print_message("%s: force on the body %.4f N, on its samples %.4f N\n", methods[k], body.force[1], sum);
    assert_close(sum / body.force[1], 1, 0.01);
    flo_world_destroy(world);
  }
}

static void test_nodes_without_inertia_do_not_turn(void **state) {
  (void)state;
  for (size_t k = 0; k < flo_method_count(); ++k) {
    FloWorld *locked = plate_in_honey(flo_method_name(k), false),
             *loose = plate_in_honey(flo_method_name(k), true);
    advance(locked, 0.05), advance(loose, 0.05);
    assert_true(flo_world_hash(locked) == flo_world_hash(loose));
    flo_world_destroy(locked), flo_world_destroy(loose);
  }
}

// Adding an emitter for later, or choosing another response for the next step, does not change what is known
// of the last step.
static void test_forces_of_the_last_step_stay_known(void **state) {
  (void)state;
  FloError error;
  FloBodyState before, after;
  FloEmitterDef emitter = flo_default_emitter_def();
  FloWorld *world = plate_in_honey("direct-forcing", false);
  emitter.start = 100, emitter.material = (FloMaterialId){0, 1};
  advance(world, 0.02);
  assert_ok(flo_world_set_param(world, "response", 2, &error), &error);
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &before, &error), &error);
  assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &after, &error), &error);
  assert_true(fabs(before.force[1]) > 100);
  assert_true(after.force[1] == before.force[1]);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plate_is_lifted),
                                     cmocka_unit_test(test_plate_is_lifted_in_3d),
                                     cmocka_unit_test(test_plate_gets_what_fluid_loses),
                                     cmocka_unit_test(test_nodes_share_what_their_samples_get),
                                     cmocka_unit_test(test_plank_rests),
                                     cmocka_unit_test(test_methods_say_what_they_cannot_move),
                                     cmocka_unit_test(test_samples_feel_what_their_body_feels),
                                     cmocka_unit_test(test_nodes_without_inertia_do_not_turn),
                                     cmocka_unit_test(test_forces_of_the_last_step_stay_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
