// Soft bodies touch each other and themselves and never cross: sheets thrown at each other, folded strands
// and sheets, sheets that stick on sheets, blocks on blocks; momentum is kept and threads change nothing.
#include "support/soft_crossings.h"
#include "support/soft_worlds.h"

static FloWorld *make_world(int dim, const char *method, double s, double step, double pull, int threads) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = s, def.threads = threads;
  if (step > 0) def.time_step = step;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[dim - 1] = -pull;
  return create_world(&def);
}

static FloPose pose_above(int dim, double x, double height) {
  return pose_at(x, dim == 2 ? height : 0, dim == 3 ? height : 0);
}

static FloBodyDef cloth_def(const char *name, double wide, double thickness, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = name, def.friction = friction;
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  return def;
}

static void add_floor(FloWorld *world, int dim, double wide, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.name = "floor", def.friction = friction, def.averages_force = true;
  def.shape = dim == 2 ? box_shape(wide, 0.1, 0) : box_shape(wide, wide, 0.1);
  def.pose = pose_above(dim, 0, -0.05);
  add_body(world, &def);
}

// The largest mean speed of a node of any soft body over the next tenth of a second.
static double fastest_node(FloWorld *world) {
  const size_t n = world->nodes.count;
  double *before = malloc(3 * n * sizeof *before), fastest = 0, way[3];
  for (size_t k = 0; k < n; ++k) vec_copy(flo_node_at(world, k)->position, before + 3 * k);
  advance(world, flo_world_time(world) + 0.1);
  for (size_t k = 0; k < n; ++k) {
    vec_sub(flo_node_at(world, k)->position, before + 3 * k, way);
    fastest = fmax(fastest, vec_length(way) / 0.1);
  }
  free(before);
  return fastest;
}

// ---- Thrown at each other ----

typedef struct Throw {
  int dim;
  const char *method;
  double s, thickness, step, angle; // angle between the two [rad]
  int threads;
} Throw;

// Two sheets that fly at each other with 5 m/s, turned by an angle: about their normal in 3D, so that they
// are crossed, and tilted in 2D.
static FloWorld *make_throw(const Throw *t) {
  FloWorld *world = make_world(t->dim, t->method, t->s, t->step, 0, t->threads);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef def = cloth_def(k == 0 ? "lower" : "upper", 16 * t->s, t->thickness, 0.3);
    const double away = t->dim == 2 ? 2 * t->s + 8 * t->s * sin(t->angle) : 2 * t->s;
    def.pose = pose_above(t->dim, k * 0.3 * t->s, (k == 0 ? -1 : 1) * away);
    if (t->dim == 3) def.shape.size[1] = 6 * t->s;
    def.pose.rotation[3] = cos(k * t->angle / 2), def.pose.rotation[2] = sin(k * t->angle / 2);
    def.velocity[t->dim - 1] = k == 0 ? 2.5 : -2.5;
    add_body(world, &def);
  }
  return world;
}

static void stays_apart(const Throw *t) {
  FloWorld *world = make_throw(t);
  const FloMeasurements start = flo_world_measure(world);
  const double size = 2.5 * flo_soft_body(flo_bodies(world))->mass;
  double worst = 0, most_contacts = 0, off[3];
  size_t n_crossings = 0, n_stopped = 0, n_pairs = 0, n_zones = 0, n_steps = 0;
  FloError error;
  while (flo_world_time(world) < 0.08) {
    assert_ok(flo_world_step(world, NULL, &error), &error);
    n_crossings += count_crossings(world);
    n_pairs += flo_world_measure(world).crossings;
    n_stopped += world->meetings.n_stopped, n_zones += world->meetings.n_zones, ++n_steps;
    most_contacts = fmax(most_contacts, (double)world->contacts);
    const FloMeasurements now = flo_world_measure(world);
    vec_sub(now.momentum, start.momentum, off);
    worst = fmax(worst, vec_length(off) / size);
    // Parallel sheets could change sides within a step and cross at no end of a step.
    // The ends of crossed sheets fly on beside each other.
    assert_true(t->angle > 0 || flo_bodies(world)[1].state.pose.position[t->dim - 1] >
                                    flo_bodies(world)[0].state.pose.position[t->dim - 1]);
  }
  const FloMeasurements end = flo_world_measure(world);
  print_message(
      "%dD %s, spacing %g, %g mm, steps of %g ms, angle %.2f: %zu crossings, %zu stopped, %zu zones in "
      "%zu steps, up to %g contacts, momentum off by %.1e, energy %.4f of %.4f J\n",
      t->dim, t->method, t->s, 1000 * t->thickness, 1000 * t->step, t->angle, n_crossings, n_stopped, n_zones,
      n_steps, most_contacts, worst, end.kinetic_energy, start.kinetic_energy);
  assert_int_equal(n_crossings, 0);
  assert_true(most_contacts > 0 || n_stopped > 0);
  // A pair that is stopped in several rounds counts once.
  assert_true(n_pairs <= n_stopped && (n_pairs > 0) == (n_stopped > 0));
  assert_true(n_stopped < 100 || n_pairs < n_stopped);
  assert_true(worst < 1e-6);
  assert_true(end.kinetic_energy < start.kinetic_energy);
  flo_world_destroy(world);
}

static void test_thrown_sheets(void **state) {
  (void)state;
  static const double steps[] = {0.001, 0.002, 0.005};
  static const double angles[] = {0, 0.4, 1.2};
  for (size_t k = 0; k < 3; ++k)
    for (size_t n = 0; n < 3; ++n) {
      stays_apart(&(Throw){2, "monolithic", 0.02, 0.002, steps[k], angles[n], 1});
      stays_apart(&(Throw){2, "monolithic", 0.01, 0.004, steps[k], angles[n], 1});
    }
  for (size_t k = 0; k < 3; ++k) {
    stays_apart(&(Throw){3, "monolithic", 0.02, 0.002, steps[k], 1.5708, 1});
    stays_apart(&(Throw){3, "elastic", 0.02, 0.002, steps[k], 1.5708, 1});
  }
  stays_apart(&(Throw){3, "monolithic", 0.01, 0.001, 0.002, 0.7, 1});
}

// ---- Folded on itself ----

// A strand or a strip stands on its end and falls between two walls, so that it folds on itself again and
// again.
static FloWorld *make_fold(int dim, double s, double thickness, double high, double wide) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 9.81, 1);
  FloBodyDef cloth = cloth_def("cloth", high, thickness, 0.3), wall = flo_default_body_def();
  add_floor(world, dim, 3 * wide, 0.3);
  wall.shape = dim == 2 ? box_shape(4 * s, 4 * wide, 0) : box_shape(4 * s, 2 * wide, 4 * wide);
  for (int k = 0; k < 2; ++k) {
    wall.name = k == 0 ? "left" : "right", wall.friction = 0.3;
    wall.pose = pose_above(dim, (k == 0 ? -1 : 1) * (wide / 2 + 2 * s), 2 * wide);
    add_body(world, &wall);
  }
  cloth.shape.size[1] = 6 * s, cloth.cloth.areal_density = 1, cloth.cloth.bend = 1e-5;
  cloth.pose = pose_above(dim, 0.1 * s, high / 2 + s);
  const int axis = dim == 2 ? 2 : 1;
  const double angle = dim == 2 ? 1.55 : -1.55;
  cloth.pose.rotation[3] = cos(angle / 2), cloth.pose.rotation[axis] = sin(angle / 2);
  add_body(world, &cloth);
  return world;
}

// Of motion, in gravity and elastic [J].
static double energy_of_body(const FloWorld *world, const FloBody *body) {
  FloBodyMeasure measure = {0};
  body->kind->measure(body, world->def.gravity, &measure);
  return measure.kinetic_energy + measure.potential_energy;
}

static void fold_settles(int dim, double s, double thickness, double high, double wide, double time) {
  FloWorld *world = make_fold(dim, s, thickness, high * s, wide * s);
  const FloBody *cloth = &flo_bodies(world)[3];
  const double start = energy_of_body(world, cloth);
  size_t n_crossings = 0, n_stopped = 0, n_steps = 0;
  double iterations = 0, most_contacts = 0, last = start, grown = 0;
  FloError error;
  while (flo_world_time(world) < time) {
    FloStepInfo info;
    assert_ok(flo_world_step(world, &info, &error), &error);
    const double now = energy_of_body(world, cloth);
    if (n_steps % 8 == 0) n_crossings += count_crossings(world);
    n_stopped += info.crossings, ++n_steps, grown += fmax(now - last, 0), last = now;
    iterations += info.iterations, most_contacts = fmax(most_contacts, (double)world->contacts);
  }
  const double fastest = fastest_node(world);
  n_crossings += count_crossings(world);
  print_message(
      "%dD, spacing %g, %g mm, %g spacings long, %g wide: %zu crossings, %zu stopped in %zu steps of "
      "%.0f iterations, up to %g contacts, %.2g m/s in the end, energy %.4f J to %.4f, grew by %.1e\n",
      dim, s, 1000 * thickness, high, wide, n_crossings, n_stopped, n_steps, iterations / (double)n_steps,
      most_contacts, fastest, start, last, grown);
  assert_int_equal(n_crossings, 0);
  assert_true(most_contacts > 10);
  assert_true(fastest < 1e-2); // of 3 m/s in the fall; a free end may swing for long
  assert_true(grown < (dim == 2 ? 1e-4 : 0.05) * start); // see Limits of docs/soft-bodies.md
  flo_world_destroy(world);
}

static void test_folds_settle(void **state) {
  (void)state;
  fold_settles(2, 0.02, 0.002, 40, 12, 2);
  fold_settles(2, 0.01, 0.003, 60, 10, 2.4);
  fold_settles(3, 0.02, 0.004, 30, 12, 1.2);
}

// ---- Friction between sheets ----

// A sheet on another one, which lies on a floor and may be pinned. Gravity leans by the slope.
static FloWorld *make_slope(int dim, double s, double slope, double mu, bool is_pinned) {
  FloWorldDef def = small_world_def(dim);
  const double angle = atan(slope);
  const FloPinDef pins = {.place = FLO_PIN_BOX, .low = {-10, -10, -10}, .high = {10, 10, 10}};
  def.method = "monolithic", def.spacing = s, def.threads = 1;
  vec_set(def.gravity, 9.81 * sin(angle), 0, 0);
  def.gravity[dim - 1] = -9.81 * cos(angle);
  FloWorld *world = create_world(&def);
  FloBodyDef lower = cloth_def("lower", 16 * s, 0.002, mu), upper = cloth_def("upper", 10.6 * s, 0.002, mu);
  add_floor(world, dim, 3, mu);
  lower.pose = pose_above(dim, 0, 0.001), upper.pose = pose_above(dim, 0.3 * s, 0.003);
  lower.pins = &pins, lower.n_pins = is_pinned;
  add_body(world, &lower), add_body(world, &upper);
  return world;
}

static void sticks_on_sheet(int dim, double s, double slope, double mu, double time) {
  FloWorld *world = make_slope(dim, s, slope, mu, false);
  advance(world, time);
  const double fastest = fastest_node(world);
  print_message("%dD, spacing %g, tan %g, mu %g: creeps at %.2g m/s, %zu contacts\n", dim, s, slope, mu,
                fastest, world->contacts);
  assert_int_equal(count_crossings(world), 0);
  assert_true(fastest < 1e-4);
  flo_world_destroy(world);
}

static void test_sheet_sticks_on_sheet(void **state) {
  (void)state;
  sticks_on_sheet(2, 0.02, 0.4, 0.5, 0.5);
  sticks_on_sheet(2, 0.01, 0.25, 0.3, 0.5);
  sticks_on_sheet(3, 0.02, 0.4, 0.5, 0.3);
}

// The upper sheet slides on the lower one, which is pinned.
static void slides_on_sheet(int dim, double s, double slope, double mu) {
  FloWorld *world = make_slope(dim, s, slope, mu, true);
  const double angle = atan(slope), wanted = 9.81 * (sin(angle) - mu * cos(angle));
  const FloBody *upper = &flo_bodies(world)[2];
  advance(world, 0.05);
  const double before = upper->state.velocity[0];
  advance(world, 0.15);
  const double rate = (upper->state.velocity[0] - before) / 0.1;
  print_message("%dD, spacing %g, tan %g, mu %g: slides with %.4f of theory\n", dim, s, slope, mu,
                rate / wanted);
  assert_int_equal(count_crossings(world), 0);
  assert_close(rate / wanted, 1, 0.03);
  flo_world_destroy(world);
}

static void test_sheet_slides_on_sheet(void **state) {
  (void)state;
  slides_on_sheet(2, 0.02, 0.7, 0.5);
  slides_on_sheet(2, 0.01, 1, 0.2);
  slides_on_sheet(3, 0.02, 0.7, 0.5);
}

// ---- Too near from the start ----

static double fastest_in(FloWorld *world, double time) {
  double fastest = 0;
  FloError error;
  while (flo_world_time(world) < time) {
    assert_ok(flo_world_step(world, NULL, &error), &error);
    for (size_t k = 0; k < world->nodes.count; ++k)
      fastest = fmax(fastest, vec_length(flo_node_at(world, k)->velocity));
  }
  return fastest;
}

// Two sheets at a third of their thickness part without a burst.
static void parts_slowly(int dim, double s, double thickness) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 0, 1);
  FloBodyDef lower = cloth_def("lower", 10 * s, thickness, 0.3),
             upper = cloth_def("upper", 8 * s, thickness, 0.3);
  upper.pose = pose_above(dim, 0.3 * s, thickness / 3);
  add_body(world, &lower), add_body(world, &upper);
  const double fastest = fastest_in(world, 1);
  double apart[3];
  vec_sub(flo_bodies(world)[1].state.pose.position, flo_bodies(world)[0].state.pose.position, apart);
  print_message("%dD, spacing %g: at most %.3g m/s, %.3f thicknesses apart\n", dim, s, fastest,
                apart[dim - 1] / thickness);
  assert_int_equal(count_crossings(world), 0);
  assert_true(fastest < 0.02);
  assert_true(apart[dim - 1] > 0.9 * thickness);
  flo_world_destroy(world);
}

// A sheet with triangles far smaller than its thickness does not push itself.
static void lies_still(int dim, double s, double thickness, double cell) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 0, 1);
  FloBodyDef cloth = cloth_def("cloth", 6 * s, thickness, 0.3);
  cloth.shape.cell = cell;
  add_body(world, &cloth);
  const double fastest = fastest_in(world, 0.1);
  print_message("%dD, spacing %g, %g mm, cells of %g mm: %zu contacts press, %.2g m/s\n", dim, s,
                1000 * thickness, 1000 * cell, world->contacts, fastest);
  assert_int_equal(world->contacts, 0);
  assert_true(fastest < 1e-9);
  flo_world_destroy(world);
}

static void test_near_at_start(void **state) {
  (void)state;
  parts_slowly(2, 0.02, 0.003);
  parts_slowly(2, 0.01, 0.003);
  parts_slowly(3, 0.02, 0.003);
  lies_still(2, 0.02, 0.02, 0.004);
  lies_still(3, 0.02, 0.03, 0.015);
}

// ---- Blocks ----

static void blocks_are_carried(int dim, double s, double young, double density) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 9.81, 1);
  const double a = 8 * s;
  double weight = 0;
  add_floor(world, dim, 4 * a, 0.5);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef def = flo_default_body_def();
    def.kind = FLO_BODY_ELASTIC, def.name = k == 0 ? "lower" : "upper", def.density = density;
    def.friction = 0.5;
    def.elastic = (FloElasticDef){.young = young, .poisson = 0.3, .damping = 0.01};
    const double wide = k == 0 ? a : 0.7 * a;
    def.shape = dim == 2 ? box_shape(wide, a, 0) : box_shape(wide, wide, a);
    def.pose = pose_above(dim, k * 0.4 * s, k == 0 ? a / 2 + 0.2 * s : 1.5 * a + 0.5 * s);
    add_body(world, &def);
    weight += 9.81 * density * pow(wide, dim - 1) * a;
  }
  advance(world, 1);
  flo_world_restart_averages(world);
  const double fastest = fastest_node(world);
  FloBodyState floor;
  FloError error;
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &floor, &error), &error);
  print_message(
      "%dD, spacing %g, blocks of %g Pa, %g kg/m3: floor carries %.5f of them, %.2g m/s, %zu contacts\n", dim,
      s, young, density, -floor.mean_force[dim - 1] / weight, fastest, world->contacts);
  assert_close(-floor.mean_force[dim - 1] / weight, 1, 0.01);
  assert_true(fastest < 1e-3);
  assert_int_equal(count_crossings(world), 0);
  flo_world_destroy(world);
}

static void test_stacked_blocks(void **state) {
  (void)state;
  blocks_are_carried(2, 0.02, 1e5, 500);
  blocks_are_carried(2, 0.01, 1e6, 2000);
  blocks_are_carried(3, 0.02, 1e5, 500);
}

// ---- The same bits ----

static uint64_t end_with_hash(FloWorld *world) {
  advance(world, 0.06);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static FloWorld *start_bits(int dim, int threads) {
  FloWorld *world = make_throw(&(Throw){dim, "monolithic", 0.02, 0.002, 0.002, 0.4, threads});
  advance(world, 0.03);
  return world;
}

static uint64_t hash_after_saving(int dim) {
  FloWorld *world = start_bits(dim, 2);
  FloState *saved = NULL;
  FloError error;
  assert_true(world->contacts > 0);
  assert_ok(flo_world_save(world, &saved, &error), &error);
  flo_world_destroy(world);
  world = make_throw(&(Throw){dim, "monolithic", 0.02, 0.002, 0.002, 0.4, 1});
  assert_ok(flo_world_restore(world, saved, &error), &error);
  flo_state_destroy(saved);
  return end_with_hash(world);
}

static void test_same_bits(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    const uint64_t one = end_with_hash(start_bits(dim, 1));
    assert_true(end_with_hash(start_bits(dim, 2)) == one);
    assert_true(end_with_hash(start_bits(dim, 3)) == one);
    assert_true(hash_after_saving(dim) == one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thrown_sheets),
      cmocka_unit_test(test_folds_settle),
      cmocka_unit_test(test_sheet_sticks_on_sheet),
      cmocka_unit_test(test_sheet_slides_on_sheet),
      cmocka_unit_test(test_near_at_start),
      cmocka_unit_test(test_stacked_blocks),
      cmocka_unit_test(test_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
