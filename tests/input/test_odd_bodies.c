// Bodies that make no sense, or hardly any: in each other, smaller than a particle, without width, between
// closing walls, with nothing below them, and far lighter or heavier than water. Whatever is not refused must
// run on without an explosion.
#include "input/scene_texts.h"
#include "io/advice.h"
#include "state/state.h"
#include "support/worlds.h"

#define S 0.02

// Nothing that merely comes apart is faster than what falls by half a spacing.
#define GENTLE 0.44

// ---- Making ----

typedef struct Messages {
  int n_warnings;
  char last[512];
} Messages;

static void keep_warning(void *context, FloLogLevel level, const char *text) {
  Messages *messages = context;
  if (level != FLO_LOG_WARNING) return;
  messages->n_warnings++;
  snprintf(messages->last, sizeof messages->last, "%s", text);
}

static const char *method = "monolithic"; // of the worlds to come

static FloWorld *moving_world(int dim, double gravity, Messages *messages) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = S;
  def.gravity[dim - 1] = -gravity;
  if (messages) def.log = (FloLog){keep_warning, messages};
  return create_world(&def);
}

static FloBodyDef solid_def(const char *name, FloBodyKind kind, FloShape shape, FloPose pose) {
  FloBodyDef def = flo_default_body_def();
  def.name = name, def.kind = kind, def.shape = shape, def.pose = pose;
  if (kind == FLO_BODY_DYNAMIC) def.density = 1000;
  return def;
}

static FloBodyId add_solid(FloWorld *world, const char *name, FloBodyKind kind, FloShape shape,
                           FloPose pose) {
  FloBodyDef def = solid_def(name, kind, shape, pose);
  return add_body(world, &def);
}

static FloBodyId add_floor(FloWorld *world) {
  return add_solid(world, "floor", FLO_BODY_STATIC, box_shape(40 * S, 40 * S, 10 * S), pose_at(0, 0, -5 * S));
}

static FloShape ball_shape(double radius) { return (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = radius}; }

static FloBodyState state_of(FloWorld *world, FloBodyId id) {
  FloBodyState state;
  FloError error;
  assert_ok(flo_world_body_state(world, id, &state, &error), &error);
  return state;
}

// ---- Watching ----

typedef struct Extremes {
  double speed, spin; // of any dynamic body
  double energy;      // highest, above that of the start [J]
  int n_steps;
} Extremes;

static double energy_of(FloWorld *world) {
  FloMeasurements measurements = flo_world_measure(world);
  return measurements.kinetic_energy + measurements.potential_energy;
}

static void look_at_bodies(FloWorld *world, Extremes *extremes) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    assert_true(vec_is_finite(body->state.pose.position) && vec_is_finite(body->state.velocity));
    assert_true(vec_is_finite(body->state.angular_velocity));
    extremes->speed = fmax(extremes->speed, vec_length(body->state.velocity));
    extremes->spin = fmax(extremes->spin, vec_length(body->state.angular_velocity));
  }
}

static Extremes watch(FloWorld *world, double until) {
  Extremes extremes = {0};
  FloError error;
  double start = energy_of(world);
  while (flo_world_time(world) < until) {
    assert_ok(flo_world_step_until(world, until, NULL, &error), &error);
    look_at_bodies(world, &extremes);
    extremes.energy = fmax(extremes.energy, energy_of(world) - start);
    extremes.n_steps++;
  }
  return extremes;
}

// ---- Overlaps ----

static void part_a_pair(double overlap, double shift) {
  FloWorld *world = moving_world(3, 0, NULL);
  double edge = 8 * S, mass = 1000 * pow(edge, 3);
  add_solid(world, "a", FLO_BODY_DYNAMIC, box_shape(edge, edge, edge), pose_at(0, 0, 0));
  add_solid(world, "b", FLO_BODY_DYNAMIC, box_shape(edge, edge, edge),
            pose_at(edge - overlap, shift, shift / 2));
  FloMeasurements before = flo_world_measure(world);
  Extremes extremes = watch(world, 2.5);
  FloMeasurements after = flo_world_measure(world);
  double left = flo_world_overlap(world, &flo_bodies(world)[0], &flo_bodies(world)[1]), drift[3], turn[3];
  vec_sub(after.momentum, before.momentum, drift);
  vec_sub(after.angular_momentum, before.angular_momentum, turn);
  print_message("pair, %.1f spacings deep: up to %.3f m/s, %.2f rad/s, %.3g J; drift %.1g N s, %.1g N m s; "
                "%.2f spacings left\n",
                overlap / S, extremes.speed, extremes.spin, extremes.energy, vec_length(drift),
                vec_length(turn), left / S);
  flo_world_destroy(world);
  assert_true(extremes.speed < GENTLE && extremes.spin * edge / 2 < GENTLE);
  assert_true(extremes.energy < mass * GENTLE * GENTLE);
  assert_true(vec_length(drift) < 1e-6 * mass * extremes.speed);
  assert_true(vec_length(turn) < 1e-6 * mass * extremes.speed * edge);
  assert_true(left < S / 4);
}

static void test_bodies_in_each_other_part_gently(void **state) {
  (void)state;
  part_a_pair(0.5 * S, 0.03);
  part_a_pair(1.5 * S, 0.03);
  part_a_pair(1.5 * S, 0);
  part_a_pair(3 * S, 0.03);
  part_a_pair(3 * S, 0);
}

// Lifting takes energy, which the push may give; more than a little must not come with it.
static void lift_from_the_floor(double overlap) {
  FloWorld *world = moving_world(3, 9.81, NULL);
  double edge = 12 * S, weight = 9.81 * 1000 * pow(edge, 3);
  add_floor(world);
  FloBodyId cube = add_solid(world, "cube", FLO_BODY_DYNAMIC, box_shape(edge, edge, edge),
                             pose_at(0, 0, edge / 2 - overlap));
  Extremes extremes = watch(world, 2);
  double height = state_of(world, cube).pose.position[2];
  print_message(
      "floor, %.1f spacings deep: up to %.3f m/s, %.3g J (lifting: %.3g J), ends %.3f spacings off\n",
      overlap / S, extremes.speed, extremes.energy, weight * overlap, (height - edge / 2) / S);
  flo_world_destroy(world);
  assert_true(extremes.speed < GENTLE);
  assert_true(extremes.energy < weight * (overlap + S / 4));
  assert_close(height, edge / 2, S / 4);
}

static void test_a_body_in_the_floor_is_lifted_gently(void **state) {
  (void)state;
  lift_from_the_floor(0.5 * S);
  lift_from_the_floor(1.5 * S);
  lift_from_the_floor(2 * S);
  lift_from_the_floor(6 * S);
}

// Nearly or exactly in one another there is no way that is much shorter than others.
static void part_twins(double gravity, double offset) {
  FloWorld *world = moving_world(3, gravity, NULL);
  double edge = 6 * S, between[3];
  FloBodyId twins[2];
  FloBodyState states[2];
  if (gravity > 0) add_floor(world);
  for (int k = 0; k < 2; ++k)
    twins[k] = add_solid(world, k ? "b" : "a", FLO_BODY_DYNAMIC, box_shape(edge, edge, edge),
                         pose_at(k * offset, 0, edge / 2));
  Extremes extremes = watch(world, 2);
  for (int k = 0; k < 2; ++k) states[k] = state_of(world, twins[k]);
  vec_sub(states[1].pose.position, states[0].pose.position, between);
  print_message("twins %.2f spacings apart: up to %.3f m/s, end %.2f edges apart\n", offset / S,
                extremes.speed, vec_length(between) / edge);
  if (gravity > 0)
    for (int k = 0; k < 2; ++k) assert_true(vec_length(states[k].velocity) < 0.01);
  flo_world_destroy(world);
  assert_true(vec_length(between) > edge - S / 4);
  assert_true(extremes.speed < 2 * GENTLE && extremes.spin * edge / 2 < 2 * GENTLE);
}

static void test_bodies_in_one_place_part_gently(void **state) {
  (void)state;
  part_twins(0, 0);
  part_twins(9.81, 0);
  part_twins(9.81, 0.2 * S);
  part_twins(9.81, 0.7 * S);
}

#define REFUSE "'method':{'name':'monolithic'},'overlaps':'refuse',"
#define CUBES(x)                                                                                             \
  SCENE(REFUSE "'bodies':[{'name':'a','material':{},'shape':{'box':0.5}},{'name':'b',"                       \
               "'material':{},'shape':{'box':0.5},'at':[" x ",0,0]}]")
#define IN_TANK(z)                                                                                           \
  SCENE(REFUSE "'boundaries':[{'name':'tank','shape':{'tank':2}},{'name':'step','shape':{'box':1},'at':"     \
               "[1.5,1.5,0.2]}],'bodies':[{'name':'cube','material':{},'shape':{'box':0.5},'corner':[0,0," z \
               "]}]")

static void expect_build(const char *text, const char *refusal) {
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  write_text(file, text);
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  if (refusal)
    assert_refused(flo_scene_build(scene, &world, &error), &error, refusal);
  else
    assert_ok(flo_scene_build(scene, &world, &error), &error);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
}

static void test_overlaps_are_refused_where_the_scene_asks_for_it(void **state) {
  (void)state;
  expect_build(CUBES("0.4"), "'a' and 'b' overlap by 0.1 m (1 spacings); move them apart");
  expect_build(CUBES("0"), "'a' and 'b' overlap by");
  expect_build(CUBES("0.4"), "\"overlaps\": \"separate\"");
  expect_build(CUBES("0.5"), NULL);
  expect_build(CUBES("0.49"), NULL);
  // Walls may stand in each other, and bodies in the corner of a tank.
  expect_build(IN_TANK("0"), NULL);
  expect_build(IN_TANK("-0.2"), "'tank' and 'cube' overlap by 0.2 m");
}

static void test_the_key_has_two_values(void **state) {
  (void)state;
  write_text(file, SCENE("'overlaps':'explode','bodies':[{'material':{},'shape':{'box':0.5}}]"));
  expect_failure(NULL, FLO_BAD_INPUT, "/overlaps: ");
}

// ---- Tiny, thin and weightless ones ----

static void drop_on_floor(const char *what, FloShape shape, double height) {
  FloWorld *world = moving_world(3, 9.81, NULL);
  const double low[3] = {-6 * S, -6 * S, 0}, high[3] = {6 * S, 6 * S, 4 * S};
  add_floor(world);
  FloBodyId id = add_solid(world, what, FLO_BODY_DYNAMIC, shape, pose_at(0, 0, height));
  add_block(world, add_water(world), low, high);
  Extremes extremes = watch(world, 0.5);
  double z = state_of(world, id).pose.position[2], fall = sqrt(2 * 9.81 * height);
  print_message("%s: up to %.2f m/s (a fall: %.2f), %.1f rad/s, %.3g J; ends at %.2f spacings\n", what,
                extremes.speed, fall, extremes.spin, extremes.energy, z / S);
  flo_world_destroy(world);
  // The water it falls with can throw it, but not higher than it all was.
  assert_true(extremes.speed < 1.5 * fall + 0.3);
  assert_true(z > -S);
}

static void test_bodies_smaller_than_two_particles_behave(void **state) {
  (void)state;
  drop_on_floor("half a particle", box_shape(0.5 * S, 0.5 * S, 0.5 * S), 8 * S);
  drop_on_floor("a particle", box_shape(S, S, S), 8 * S);
  drop_on_floor("nearly two particles", box_shape(1.9 * S, 1.9 * S, 1.9 * S), 8 * S);
  drop_on_floor("a grain", ball_shape(0.3 * S), 8 * S);
}

static void test_needles_and_plates_behave(void **state) {
  (void)state;
  drop_on_floor("a needle", box_shape(16 * S, S, S), 8 * S);
  drop_on_floor("a hair", box_shape(16 * S, 0.1 * S, 0.1 * S), 8 * S);
  drop_on_floor("a plate", box_shape(12 * S, 12 * S, S), 8 * S);
  drop_on_floor("a leaf", box_shape(12 * S, 12 * S, 0.1 * S), 8 * S);
}

static void keep_note(void *context, const char *sentence) {
  if (strstr(sentence, "'grain'")) snprintf(context, 512, "%s", sentence);
}

static void expect_note(const char *text, const char *words) {
  FloScene *scene;
  FloWorld *world;
  FloError error = {0};
  char note[512] = "";
  write_text(file, text);
  assert_ok(flo_scene_load(file, NULL, &scene, &error), &error);
  assert_ok(flo_scene_build(scene, &world, &error), &error);
  flo_advice_give(scene, world, keep_note, note);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  if (words ? !strstr(note, words) : note[0]) fail_msg("the note is '%s'", note);
}

#define GRAIN(size, x)                                                                                       \
  SCENE("'method':{'name':'monolithic'},'boundaries':[{'shape':{'box':[4,4,0.5]}}],'bodies':[{'name':"       \
        "'grain','material':{},'shape':{'box':" size "},'at':[" x ",0,1]}]")

static void test_check_tells_of_tiny_and_of_falling_bodies(void **state) {
  (void)state;
  expect_note(GRAIN("0.05", "0"), "'grain' is 0.05 m large, less than two spacings (0.2 m):");
  expect_note(GRAIN("0.19", "0"), "less than two spacings");
  expect_note(GRAIN("0.3", "0"), NULL);
  expect_note(GRAIN("0.3", "2.3"),
              "'grain' will fall for ever, because nothing is below it; put a boundary below it");
  // It is over the edge by half.
  expect_note(GRAIN("0.3", "2"), NULL);
  // It hangs on a hinge.
  expect_note(
      SCENE("'method':{'name':'monolithic'},'boundaries':[{'shape':{'box':[4,4,0.5]}}],'bodies':[{'name':"
            "'grain','material':{},'shape':{'box':0.3},'at':[2.3,0,1]}],'joints':[{'name':'h','hinge':"
            "'grain','at':[2.3,0,1.1],'axis':[0,1,0]}]"),
      NULL);
}

// ---- Numbers that are none ----

static void expect_refused(FloBodyDef def, const char *word) {
  FloWorld *world = moving_world(3, 9.81, NULL);
  FloError error;
  FloBodyId id;
  assert_refused(flo_world_add_body(world, &def, &id, &error), &error, word);
  assert_int_equal(flo_world_count(world, FLO_SET_RIGID), 0);
  flo_world_destroy(world);
}

static FloBodyDef cube_of_density(double density) {
  FloBodyDef def = solid_def("cube", FLO_BODY_DYNAMIC, box_shape(0.1, 0.1, 0.1), pose_at(0, 0, 0));
  def.density = density;
  return def;
}

static void test_mass_must_be_a_number(void **state) {
  (void)state;
  expect_refused(cube_of_density(0), "density: a dynamic body needs one > 0, or a mass > 0, got 0");
  expect_refused(cube_of_density(-1), "density: ");
  expect_refused(cube_of_density(NAN), "density: ");
  expect_refused(cube_of_density(INFINITY), "density: ");
  // So light that its inertia is no number any more.
  expect_refused(cube_of_density(1e-320), "inertia: ");
  FloBodyDef shell = cube_of_density(1000);
  shell.thickness = NAN;
  expect_refused(shell, "thickness");
  shell.thickness = INFINITY;
  expect_refused(shell, "thickness");
}

static void test_sizes_and_inertia_must_be_there(void **state) {
  (void)state;
  FloBodyDef def = cube_of_density(1000);
  def.shape.size[1] = 0;
  expect_refused(def, "");
  def.shape.size[1] = NAN;
  expect_refused(def, "");
  def = cube_of_density(1000);
  // Inertia of the thinnest of rods vanishes beside that about other axes.
  def.shape = box_shape(1e-120, 1e-120, 0.1);
  expect_refused(def, "");
}

static void test_friction_must_be_a_number(void **state) {
  (void)state;
  FloBodyDef def = cube_of_density(1000);
  def.friction = NAN;
  expect_refused(def, "friction: must be finite");
  def.friction = INFINITY;
  expect_refused(def, "friction: must be finite");
  FloWorld *world = moving_world(3, 9.81, NULL);
  FloError error;
  FloMaterialId id;
  FloMaterialDef material = flo_default_material_def();
  material.friction = NAN;
  assert_refused(flo_world_add_material(world, &material, &id, &error), &error, "friction: must be finite");
  flo_world_destroy(world);
}

// ---- Closing walls ----

// A cube beside a wall, and another wall that comes towards it, and goes away again if it is to and fro.
static FloWorld *make_press(FloMotionDef motion, double gravity, Messages *messages) {
  FloWorld *world = moving_world(3, gravity, messages);
  FloShape jaw = box_shape(5 * S, 20 * S, 20 * S);
  add_solid(world, "left jaw", FLO_BODY_STATIC, jaw, pose_at(-8.5 * S, 0, 10 * S));
  add_solid(world, "cube", FLO_BODY_DYNAMIC, box_shape(12 * S, 12 * S, 12 * S), pose_at(0, 0, 10 * S));
  FloBodyDef right = solid_def("right jaw", FLO_BODY_KINEMATIC, jaw, pose_at(9 * S, 0, 10 * S));
  right.motions = &motion, right.n_motions = 1;
  add_body(world, &right);
  return world;
}

static void squeeze(double speed, double gravity) {
  Messages messages = {0};
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_TRANSLATE, motion.vector[0] = -speed;
  FloWorld *world = make_press(motion, gravity, &messages);
  double until = 10 * S / speed;
  Extremes extremes = watch(world, until);
  print_message("squeezed at %g m/s: up to %.3f m/s, %.2f rad/s; %s\n", speed, extremes.speed, extremes.spin,
                messages.last);
  flo_world_destroy(world);
  assert_true(extremes.speed < speed + gravity * until + GENTLE);
  assert_true(extremes.spin * 6 * S < speed + GENTLE);
  assert_int_equal(messages.n_warnings, 1);
  assert_non_null(strstr(messages.last, "'cube' is squeezed between 'left jaw' and 'right jaw'"));
  assert_true(strstr(messages.last, "at 0.") == messages.last);
}

static void test_closing_walls_squeeze_but_do_not_shoot(void **state) {
  (void)state;
  squeeze(0.2, 0);
  squeeze(1, 9.81);
  squeeze(4, 0);
}

static void test_every_squeeze_is_told_once(void **state) {
  (void)state;
  Messages messages = {0};
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_OSCILLATE, motion.vector[0] = -3 * S, motion.frequency = 1;
  FloWorld *world = make_press(motion, 0, &messages);
  watch(world, 0.6);
  assert_int_equal(messages.n_warnings, 1);
  watch(world, 1.6);
  assert_int_equal(messages.n_warnings, 2);
  flo_world_destroy(world);
}

// ---- Falling for ever ----

static void test_a_body_that_falls_for_ever_slows_nothing(void **state) {
  (void)state;
  Messages messages = {0};
  FloWorld *world = moving_world(3, 9.81, &messages);
  add_floor(world);
  FloBodyId lost =
      add_solid(world, "lost", FLO_BODY_DYNAMIC, box_shape(4 * S, 4 * S, 4 * S), pose_at(1, 0, 0.1));
  FloBodyId kept =
      add_solid(world, "kept", FLO_BODY_DYNAMIC, box_shape(4 * S, 4 * S, 4 * S), pose_at(0, 0, 2 * S));
  Extremes extremes = watch(world, 10);
  double depth = -state_of(world, lost).pose.position[2];
  print_message("%d steps for 10 s of falling, by %.0f m; %s\n", extremes.n_steps, depth, messages.last);
  assert_close(depth, 9.81 * 100 / 2, 5);
  assert_close(state_of(world, kept).pose.position[2], 2 * S, S / 10);
  flo_world_destroy(world);
  // Bodies without fluid take steps in which gravity moves them by a five-hundredth of a spacing.
  assert_true(extremes.n_steps < 1.1 * 10 / sqrt(0.002 * S / 9.81));
  assert_int_equal(messages.n_warnings, 1);
  assert_non_null(strstr(messages.last, "'lost' has fallen past all walls"));
}

// `direct-forcing` watches bodies, too.
static void test_other_methods_tell_as_well(void **state) {
  (void)state;
  for (int is_lost = 0; is_lost < 2; ++is_lost) {
    Messages messages = {0};
    FloMotionDef motion = flo_default_motion_def();
    motion.kind = FLO_MOTION_TRANSLATE, motion.vector[0] = -0.5;
    method = "direct-forcing";
    FloWorld *world = is_lost ? moving_world(3, 9.81, &messages) : make_press(motion, 0, &messages);
    method = "monolithic";
    if (is_lost) add_floor(world);
    if (is_lost)
      add_solid(world, "lost", FLO_BODY_DYNAMIC, box_shape(4 * S, 4 * S, 4 * S), pose_at(1, 0, 0.1));
    watch(world, is_lost ? 1 : 10 * S / 0.5);
    flo_world_destroy(world);
    assert_int_equal(messages.n_warnings, 1);
    assert_non_null(
        strstr(messages.last, is_lost ? "'lost' has fallen past all walls" : "'cube' is squeezed between"));
  }
}

// ---- Far from the density of water ----

static FloBodyId add_ball_to_pool(FloWorld *world, double density) {
  const double low[3] = {0}, high[3] = {12 * S, 12 * S, 11 * S};
  FloBodyDef ball = solid_def("ball", FLO_BODY_DYNAMIC, ball_shape(3 * S), pose_at(6 * S, 6 * S, 6 * S));
  ball.density = density;
  add_tank(world, 3, 12 * S, 12 * S, 40 * S);
  FloBodyId id = add_body(world, &ball);
  add_block(world, add_water(world), low, high);
  return id;
}

// Let go below the surface it shoots up, leaves the water and falls back on it.
static void release_light_ball(double density, double most_gain, double most_height) {
  FloWorld *world = moving_world(3, 9.81, NULL);
  FloBodyId ball = add_ball_to_pool(world, density);
  double highest = 0, start = energy_of(world), gain = 0;
  Extremes extremes = {0};
  FloError error;
  while (flo_world_time(world) < 0.6) {
    assert_ok(flo_world_step_until(world, 0.6, NULL, &error), &error);
    look_at_bodies(world, &extremes);
    gain = fmax(gain, energy_of(world) / start - 1);
    highest = fmax(highest, state_of(world, ball).pose.position[2]);
  }
  double z = state_of(world, ball).pose.position[2];
  print_message(
      "ball of %g kg/m3: up to %.2f m/s, %.0f rad/s, as high as %.1f spacings, ends at %.1f; energy "
      "%+.2g %%\n",
      density, extremes.speed, extremes.spin, highest / S, z / S, 100 * gain);
  flo_world_destroy(world);
  assert_true(gain <= most_gain);
  assert_true(highest < most_height);
  assert_true(z > 10 * S && z < 20 * S);
}

// Where a fluid particle weighs nine times as much as the ball, some energy comes from what the solver leaves
// over when the ball breaks through the surface; it must stay a small part of the pool's.
static void test_light_balls_rise_and_stay_on_top(void **state) {
  (void)state;
  release_light_ball(4, 0, 26 * S);
  release_light_ball(1, 0.08, 32 * S);
}

static void test_a_thousand_times_waters_density_sinks(void **state) {
  (void)state;
  FloWorld *world = moving_world(3, 9.81, NULL);
  FloBodyId ball = add_ball_to_pool(world, 1e6);
  double start = energy_of(world);
  Extremes extremes = watch(world, 0.05);
  double fallen = 6 * S - state_of(world, ball).pose.position[2];
  extremes = watch(world, 0.6);
  double z = state_of(world, ball).pose.position[2];
  print_message("ball of 1e6 kg/m3: falls %.4f m in 0.05 s (free fall: %.4f m), ends at %.2f spacings; "
                "energy %+.2g J of %.3g\n",
                fallen, 9.81 * 0.05 * 0.05 / 2, z / S, extremes.energy, start);
  flo_world_destroy(world);
  assert_close(fallen, 9.81 * 0.05 * 0.05 / 2, 1.5e-3);
  assert_close(z, 3 * S, S / 2);
  assert_true(extremes.energy < 1e-3 * start);
  assert_true(extremes.speed < 1.2);
}

// Water that it squeezes under itself must not throw it back into the air.
static void test_a_heavy_block_that_falls_into_a_film_of_water_stays_down(void **state) {
  (void)state;
  FloWorld *world = moving_world(3, 9.81, NULL);
  const double low[3] = {0}, high[3] = {8 * S, 10 * S, 8 * S};
  const FloShape box = {.kind = FLO_SHAPE_BOX, .size = {4 * S, 4 * S, 4 * S}};
  FloBodyDef block = solid_def("block", FLO_BODY_DYNAMIC, box, pose_at(14 * S, 5 * S, 8 * S));
  block.density = 7800;
  add_tank(world, 3, 20 * S, 10 * S, 12 * S);
  FloBodyId id = add_body(world, &block);
  add_block(world, add_water(world), low, high);
  double start = energy_of(world), highest = 0;
  Extremes extremes = {0};
  FloError error;
  while (flo_world_time(world) < 0.6) {
    assert_ok(flo_world_step_until(world, 0.6, NULL, &error), &error);
    look_at_bodies(world, &extremes);
    extremes.energy = fmax(extremes.energy, energy_of(world) - start);
    if (flo_world_time(world) > 0.3) highest = fmax(highest, state_of(world, id).pose.position[2]);
  }
  print_message("block on a film: energy %+.2g J of %.3g, as high as %.2f spacings after the impact\n",
                extremes.energy, start, highest / S);
  flo_world_destroy(world);
  assert_true(extremes.energy < 1e-3 * start);
  assert_true(highest < 4 * S);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bodies_in_each_other_part_gently),
      cmocka_unit_test(test_a_body_in_the_floor_is_lifted_gently),
      cmocka_unit_test(test_bodies_in_one_place_part_gently),
      cmocka_unit_test(test_overlaps_are_refused_where_the_scene_asks_for_it),
      cmocka_unit_test(test_the_key_has_two_values),
      cmocka_unit_test(test_bodies_smaller_than_two_particles_behave),
      cmocka_unit_test(test_needles_and_plates_behave),
      cmocka_unit_test(test_check_tells_of_tiny_and_of_falling_bodies),
      cmocka_unit_test(test_mass_must_be_a_number),
      cmocka_unit_test(test_sizes_and_inertia_must_be_there),
      cmocka_unit_test(test_friction_must_be_a_number),
      cmocka_unit_test(test_closing_walls_squeeze_but_do_not_shoot),
      cmocka_unit_test(test_every_squeeze_is_told_once),
      cmocka_unit_test(test_a_heavy_block_that_falls_into_a_film_of_water_stays_down),
      cmocka_unit_test(test_a_body_that_falls_for_ever_slows_nothing),
      cmocka_unit_test(test_other_methods_tell_as_well),
      cmocka_unit_test(test_light_balls_rise_and_stay_on_top),
      cmocka_unit_test(test_a_thousand_times_waters_density_sinks),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
