// A program that drives a world through the public headers only, as a game would: for 1000 steps it drops
// things into water, pushes them, turns a motor, casts rays, removes, saves and restores. Two runs give the
// same bits, with other numbers of threads.
#include "flotsam/flotsam.h"

#include "support/check.h"

enum { N_STEPS = 1000, MOST_CRATES = 4 };

typedef struct Game {
  FloWorld *world;
  FloBodyId tank, paddle, lift, crates[MOST_CRATES], flag, statue;
  size_t n_crates;
  FloJointId motor;
  FloState *saved;
  uint64_t heard; // a sum over everything that the world answered
  size_t n_hits, n_contacts, n_removed, n_restored, n_calls;
} Game;

static FloError error;
static void must(FloStatus status) { assert_ok(status, &error); }

static void hear(Game *game, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  game->heard = (game->heard ^ bits) * 0x100000001b3u;
}

// ---- The start ----

static FloBodyDef box(const char *name, FloBodyKind kind, double size, double x, double z) {
  FloBodyDef def = flo_default_body_def();
  def.name = name, def.kind = kind, def.density = 600;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {size, size, size}};
  def.pose.position[0] = x, def.pose.position[2] = z;
  return def;
}

static void add_walls(Game *game) {
  FloBodyDef tank = box("tank", FLO_BODY_STATIC, 1, 0, 0.3),
             lift = box("lift", FLO_BODY_KINEMATIC, 0.1, 0.14, 0.4);
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {0.4, 0.3, 0.6}, .up = 2};
  must(flo_world_add_body(game->world, &tank, &game->tank, &error));
  must(flo_world_add_body(game->world, &lift, &game->lift, &error));
}

static void add_motor(Game *game) {
  FloBodyDef paddle = box("paddle", FLO_BODY_DYNAMIC, 0.1, -0.1, 0.2);
  paddle.shape.size[0] = 0.12, paddle.shape.size[1] = 0.08;
  must(flo_world_add_body(game->world, &paddle, &game->paddle, &error));
  FloJointDef hinge = flo_default_joint_def();
  hinge.name = "motor", hinge.body = game->paddle;
  hinge.at[0] = -0.1, hinge.at[2] = 0.2;
  hinge.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 4, .max_load = 5};
  must(flo_world_add_joint(game->world, &hinge, &game->motor, &error));
}

static void add_flag(Game *game) {
  static const FloPinDef pin = {.place = FLO_PIN_CORNERS};
  FloBodyDef flag = box("flag", FLO_BODY_CLOTH, 1, 0.1, 0.55);
  flag.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {0.12, 0.12}, .cell = 0.04};
  flag.cloth = (FloClothDef){.areal_density = 0.5, .stretch = 200, .bend = 1e-4};
  flag.pins = &pin, flag.n_pins = 1;
  must(flo_world_add_body(game->world, &flag, &game->flag, &error));
}

static void add_water(Game *game) {
  FloMaterialDef water = flo_default_material_def();
  FloFluidDef fluid = flo_default_fluid_def();
  must(flo_world_add_material(game->world, &water, &fluid.material, &error));
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.4, 0.3, 0.15}};
  fluid.pose.position[2] = 0.075;
  must(flo_world_add_fluid(game->world, &fluid, NULL, &error));
}

static FloStatus count_step(void *context, FloWorld *world, const FloStepInfo *info, FloError *reason) {
  Game *game = context;
  (void)world, (void)info, (void)reason;
  ++game->n_calls;
  return FLO_OK;
}

static void begin(Game *game, int threads) {
  FloWorldDef def = flo_default_world_def();
  def.spacing = 0.05, def.threads = threads;
  must(flo_world_create(&def, &game->world, &error));
  add_walls(game);
  add_motor(game);
  add_flag(game);
  add_water(game);
  must(flo_world_set_step_callback(game->world, count_step, game, &error));
}

// ---- What happens on the way ----

static void drop(Game *game, int step) {
  FloBodyDef crate = box("crate", FLO_BODY_DYNAMIC, 0.08, 0.06 * sin(step), 0.35);
  crate.in_fluid = FLO_IN_FLUID_REMOVED;
  if (game->n_crates == MOST_CRATES) {
    must(flo_world_remove_body(game->world, game->crates[0], &error));
    assert_int_equal(flo_world_remove_body(game->world, game->crates[0], &error), FLO_BAD_INPUT);
    memmove(game->crates, game->crates + 1, (MOST_CRATES - 1) * sizeof *game->crates);
    --game->n_crates, ++game->n_removed;
  }
  must(flo_world_add_body(game->world, &crate, &game->crates[game->n_crates++], &error));
}

static void push(Game *game, int step) {
  const double force[3] = {0.5 * cos(0.05 * step), 0.3 * sin(0.03 * step), 1}, spin[3] = {0, 0.001, 0};
  for (size_t k = 0; k < game->n_crates; ++k)
    must(flo_world_apply_force(game->world, game->crates[k], force, NULL, &error));
  if (step % 40 == 0 && game->n_crates)
    must(flo_world_apply_angular_impulse(game->world, game->crates[0], spin, &error));
}

static void steer(Game *game, int step) {
  FloPose target = flo_pose_identity();
  FloJointState motor;
  must(flo_world_set_joint(game->world, game->motor, FLO_JOINT_MOTOR_SPEED, step % 200 < 100 ? 4 : -4,
                           &error));
  must(flo_world_joint_state(game->world, game->motor, &motor, &error));
  hear(game, motor.coordinate);
  target.position[0] = 0.14, target.position[2] = step % 200 < 100 ? 0.2 : 0.4;
  must(
      flo_world_set_body_target(game->world, game->lift, &target, flo_world_time(game->world) + 0.2, &error));
}

static void look(Game *game, int step) {
  const double eye[3] = {0.1 * sin(0.1 * step), 0.1 * cos(0.13 * step), 0.55}, down[3] = {0, 0, -0.7};
  FloRayHit hit;
  FloPointSample sample;
  must(flo_world_cast_ray(game->world, eye, down, UINT32_MAX, &hit, &error));
  must(flo_world_sample_points(game->world, 1, (const double[3]){0, 0, 0.08}, &sample, &error));
  game->n_hits += hit.is_hit;
  game->n_contacts += flo_world_list_contacts(game->world, NULL, 0);
  hear(game, hit.share);
  hear(game, sample.velocity[0]);
}

// Goes on for some steps, then back to the state before them: the steps that follow repeat these.
static void detour(Game *game) {
  uint64_t hashes[2];
  for (int k = 0; k < 2; ++k) {
    if (k == 0) must(flo_world_save(game->world, &game->saved, &error));
    if (k == 1) must(flo_world_restore(game->world, game->saved, &error));
    for (int step = 0; step < 5; ++step) must(flo_world_step(game->world, NULL, &error));
    hashes[k] = flo_world_hash(game->world);
  }
  assert_true(hashes[0] == hashes[1]);
  must(flo_world_restore(game->world, game->saved, &error));
  ++game->n_restored;
}

static void play(Game *game) {
  const int n_steps = getenv("FLOTSAM_SLOW") ? N_STEPS / 4 : N_STEPS; // under sanitizers
  for (int step = 0; step < n_steps; ++step) {
    if (step % 100 == 20) drop(game, step);
    if (step % 250 == 180) detour(game);
    if (step % 100 == 0) steer(game, step);
    if (step == 300) must(flo_world_set_pin(game->world, game->flag, 0, false, &error));
    if (step == 600) game->statue = game->crates[2];
    if (step == 600) must(flo_world_set_body_kind(game->world, game->statue, FLO_BODY_STATIC, &error));
    if (step == 700) must(flo_world_set_body_kind(game->world, game->statue, FLO_BODY_DYNAMIC, &error));
    if (step % 2 == 0 && (step < 600 || step >= 700)) push(game, step);
    if (step % 10 == 0) look(game, step);
    must(flo_world_step(game->world, NULL, &error));
  }
}

// ---- Two runs ----

static uint64_t run(int threads, Game *game) {
  *game = (Game){0};
  begin(game, threads);
  play(game);
  const uint64_t hash = flo_world_hash(game->world) ^ game->heard;
  assert_int_equal(flo_world_measure(game->world).penetrations, 0);
  flo_state_destroy(game->saved);
  flo_world_destroy(game->world);
  return hash;
}

static void test_a_driven_world_has_the_same_bits_twice(void **state) {
  (void)state;
  Game first, second;
  const uint64_t one = run(1, &first), two = run(2, &second);
  print_message(
      "%zu calls, %zu rays met something, %zu contacts seen, %zu crates removed, %zu times restored\n",
      first.n_calls, first.n_hits, first.n_contacts, first.n_removed, first.n_restored);
  assert_true(one == two);
  if (getenv("FLOTSAM_SLOW")) return;
  assert_true(first.n_calls > N_STEPS && first.n_hits == 100 && first.n_contacts > 50);
  assert_true(first.n_removed == 6 && first.n_restored == 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_driven_world_has_the_same_bits_twice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
