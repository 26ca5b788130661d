// Simple things that cloth must do: hold what lies on pinned vertices, stop a ball that comes at the middle
// of a large triangle, part slowly from another sheet, and pull as its stretch at the start says.
#include "support/soft_worlds.h"

static FloWorld *make_world(int dim, const char *method, double s, double dt, double gravity) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = s, def.time_step = dt;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[dim - 1] = -gravity;
  return create_world(&def);
}

static FloBodyDef sheet_def(const char *name, double wide, double thickness) {
  FloBodyDef cloth = flo_default_body_def();
  cloth.kind = FLO_BODY_CLOTH, cloth.name = name;
  cloth.shape.kind = FLO_SHAPE_SHEET, cloth.shape.size[0] = cloth.shape.size[1] = wide;
  cloth.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  return cloth;
}

// ---- Pinned vertices ----

static void carries(int dim, double s, double density) {
  const FloPinDef pins = {.place = FLO_PIN_BOX, .low = {-9, -9, -9}, .high = {9, 9, 9}};
  FloWorld *world = make_world(dim, "monolithic", s, 0, 9.81);
  FloBodyDef cloth = sheet_def("cloth", 16 * s, 0.1 * s), box = flo_default_body_def();
  cloth.pins = &pins, cloth.n_pins = 1;
  add_body(world, &cloth);
  box.kind = FLO_BODY_DYNAMIC, box.density = density, box.name = "box";
  box.shape = box_shape(6 * s, 6 * s, dim == 3 ? 6 * s : 0);
  box.pose.position[dim - 1] = 3.2 * s;
  add_body(world, &box);
  advance(world, 0.3);
  const double height = body_of(world, "box")->state.pose.position[dim - 1] / s;
  print_message("%dD, box of %g kg/m3 on pinned cloth: %.3f spacings above it\n", dim, density, height - 3);
  assert_true(fabs(height - 3.05) < 0.1);
  flo_world_destroy(world);
}

static void test_pinned_cloth_carries_bodies(void **state) {
  (void)state;
  carries(2, 0.02, 100), carries(2, 0.01, 5000), carries(3, 0.02, 1000);
}

// ---- The middle of a triangle ----

// The ball comes at the place that divides a segment or a triangle evenly, where the search for it begins.
static void stops_ball(int dim, double s, double radius) {
  FloWorld *world = make_world(dim, "monolithic", s, 1e-3, 0);
  const double cell = 8 * s;
  FloBodyDef cloth = sheet_def("cloth", 2 * cell, 0.1 * s), ball = flo_default_body_def();
  cloth.shape.cell = cell;
  add_body(world, &cloth);
  ball.kind = FLO_BODY_DYNAMIC, ball.density = 500, ball.name = "ball";
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = radius * s};
  ball.pose = pose_at(cell / 3, dim == 3 ? cell / 3 : 0, 0);
  ball.pose.position[dim - 1] = (radius + 1) * s;
  ball.velocity[dim - 1] = -0.5;
  add_body(world, &ball);
  advance(world, 0.2);
  const double apart = (body_of(world, "ball")->state.pose.position[dim - 1] -
                        body_of(world, "cloth")->state.pose.position[dim - 1]) /
                       s;
  print_message("%dD, ball of %g spacings at the middle of a triangle: %.2f spacings above the cloth\n", dim,
                radius, apart);
  assert_true(apart > -1); // of the middle of the cloth, which lags; a ball that passes is at -2.7 and less
  flo_world_destroy(world);
}

static void test_ball_at_the_middle_of_a_triangle(void **state) {
  (void)state;
  stops_ball(2, 0.02, 1.3), stops_ball(2, 0.02, 2), stops_ball(3, 0.02, 1.3), stops_ball(3, 0.02, 2);
}

// ---- Slow approach ----

// With a method without contacts of soft bodies, sheets that drift towards each other stop. They must not be
// shot apart.
static void parts_slowly(int dim, double speed) {
  const double thickness = 0.004;
  FloWorld *world = make_world(dim, "elastic", 0.02, 1e-3, 0);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef cloth = sheet_def(k ? "upper" : "lower", 0.16, thickness);
    cloth.pose.position[dim - 1] = (k ? 1 : -1) * thickness;
    cloth.velocity[dim - 1] = (k ? -1 : 1) * speed / 2;
    add_body(world, &cloth);
  }
  const double start = energy_of(world);
  double most = 0;
  while (flo_world_time(world) < 2.5 * thickness / speed)
    step_world(world, 1), most = fmax(most, energy_of(world));
  print_message("%dD, sheets meet at %g m/s: energy up to %.4f of the start\n", dim, speed, most / start);
  assert_true(most < 1.001 * start);
  assert_true(body_of(world, "upper")->state.pose.position[dim - 1] >
              body_of(world, "lower")->state.pose.position[dim - 1]);
  flo_world_destroy(world);
}

static void test_slow_sheets_do_not_rebound(void **state) {
  (void)state;
  parts_slowly(2, 0.05), parts_slowly(2, 0.2), parts_slowly(3, 0.05);
}

// ---- Stretch at the start ----

// A strand that is held at its ends: its length is `stretch` times that of its shape, and so is its tension.
static void pulls(double stretch, double cell) {
  const double wide = 0.6;
  FloWorld *world = make_world(2, "monolithic", 0.02, 1e-3, 0);
  FloBodyDef cloth = sheet_def("cloth", wide, 0.002);
  const double end = stretch * wide / 2;
  const FloPinDef pins[2] = {
      {.place = FLO_PIN_BOX, .low = {-end - 1e-3, -1, -1}, .high = {-end + 1e-3, 1, 1}},
      {.place = FLO_PIN_BOX, .low = {end - 1e-3, -1, -1}, .high = {end + 1e-3, 1, 1}}};
  cloth.cloth.poisson = 0, cloth.cloth.prestretch[0] = stretch, cloth.shape.cell = cell;
  cloth.pins = pins, cloth.n_pins = 2;
  add_body(world, &cloth);
  advance(world, 0.1);
  FloSoftState soft;
  const FloBody *body = body_of(world, "cloth");
  flo_soft_body_state(body, &soft);
  double mass = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) mass += body->nodes[k].mass;
  print_message("strand stretched to %g: pins bear up to %.2f N, mass %.4f kg\n", stretch, soft.largest_load,
                mass);
  assert_close(soft.largest_load, 1000 * (stretch - 1), 1e-3 * 1000 * (stretch - 1));
  assert_close(mass, 0.5 * wide, 1e-9);
  flo_world_destroy(world);
}

static void test_stretch_at_the_start(void **state) {
  (void)state;
  pulls(1.1, 0.03), pulls(1.2, 0.02), pulls(1.5, 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pinned_cloth_carries_bodies),
      cmocka_unit_test(test_ball_at_the_middle_of_a_triangle),
      cmocka_unit_test(test_slow_sheets_do_not_rebound),
      cmocka_unit_test(test_stretch_at_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
