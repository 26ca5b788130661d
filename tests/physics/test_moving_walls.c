// Boxes on walls that follow motions: they stay where friction can hold them, with steps of any length.
// Creep is the way of a box in the frame of its table, over time.
#include "physics.h"

#include "base/vecmath.h"

#define SPACING  0.02
#define GRAVITY  9.81
#define EDGE     (5 * SPACING)
#define FRICTION 0.5

// A method and its step.
typedef struct Setting {
  const char *method;
  double dt;
} Setting;

static const Setting settings[] = {
    {"monolithic", 1.2e-3}, {"monolithic", 4e-3}, {"direct-forcing", 1e-3}, {"direct-forcing", 2e-3}};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

typedef struct Table {
  FloWorld *world;
  FloBodyId table, box;
} Table;

static FloBodyDef box_of(FloWorld *world, FloBodyKind kind, double x, double y, double z) {
  FloError error;
  FloBodyDef def = flo_default_body_def();
  FloMaterialDef material = flo_default_material_def();
  material.density = 1000, material.friction = FRICTION;
  must(flo_world_add_material(world, &material, &def.material, &error), &error);
  def.kind = kind, def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
  return def;
}

// A table of the given size that follows a motion, and a box on it at x that moves with it at the start.
static Table make_table(const Setting *setting, const double size[2], const FloMotionDef *motion, double x) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  Table t = {0};
  def.method = setting->method, def.dim = 3, def.spacing = SPACING, def.time_step = setting->dt;
  def.threads = 1;
  vec_set(def.gravity, 0, 0, -GRAVITY);
  t.world = make_world(&def);
  FloBodyDef table = box_of(t.world, FLO_BODY_KINEMATIC, size[0], size[1], 2 * SPACING);
  table.pose = pose_at(0, 0, -SPACING), table.motions = motion, table.n_motions = 1;
  must(flo_world_add_body(t.world, &table, &t.table, &error), &error);
  const FloBodyState moving = state_of(t.world, t.table);
  FloBodyDef box = box_of(t.world, FLO_BODY_DYNAMIC, EDGE, EDGE, EDGE);
  box.pose = pose_at(x, 0, EDGE / 2);
  vec_cross(moving.angular_velocity, box.pose.position, box.velocity);
  vec_add(box.velocity, moving.velocity, box.velocity);
  vec_copy(moving.angular_velocity, box.angular_velocity);
  must(flo_world_add_body(t.world, &box, &t.box, &error), &error);
  return t;
}

// Where the box is on the table.
static void place_on(const Table *t, double out[3]) {
  const FloPose table = state_of(t->world, t->table).pose, box = state_of(t->world, t->box).pose;
  vec_sub(box.position, table.position, out);
  quat_rotate_back(table.rotation, out, out);
}

// Mean speed of the box on the table in three seconds, after it has settled for half a second.
static double creep_of(const Table *t) {
  double early[3], late[3];
  advance(t->world, 0.5);
  place_on(t, early);
  advance(t->world, 3.5);
  place_on(t, late);
  vec_sub(late, early, late);
  return vec_length(late) / 3;
}

#define CREEP 1e-5

// ---- Turntable ----

static void check_turntable(const Setting *setting, double rate, double x) {
  static const double size[2] = {0.8, 0.8};
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_ROTATE, motion.rate = rate, motion.vector[2] = 1;
  Table t = make_table(setting, size, &motion, x);
  double creep = creep_of(&t);
  flo_world_destroy(t.world);
  print_message("turntable, %s, %g ms, %g rad/s: creeps by %.2g m/s; tangents would throw it by %.2g m/s\n",
                setting->method, 1e3 * setting->dt, rate, creep, rate * rate * x * setting->dt / 2);
  assert_true(creep < CREEP);
}

static void box_stays_on_a_turntable(void **state) {
  (void)state;
  for (int k = 0; k < N_SETTINGS; ++k) {
    check_turntable(&settings[k], 0.5, 0.3);
    check_turntable(&settings[k], 1, 0.3);
    check_turntable(&settings[k], 3, 0.3);
  }
}

static uint64_t hash_after(FloWorld *world, int n_steps) {
  FloError error;
  for (int k = 0; k < n_steps; ++k) must(flo_world_step(world, NULL, &error), &error);
  return flo_world_hash(world);
}

static void a_saved_turntable_goes_on_to_the_same_bits(void **state) {
  static const double size[2] = {0.4, 0.4};
  (void)state;
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_ROTATE, motion.rate = 2, motion.vector[2] = 1;
  for (int k = 0; k < N_SETTINGS; ++k) {
    FloError error;
    FloState *saved = NULL;
    Table first = make_table(&settings[k], size, &motion, 0.1),
          second = make_table(&settings[k], size, &motion, 0.1);
    hash_after(first.world, 50);
    must(flo_world_save(first.world, &saved, &error), &error);
    must(flo_world_restore(second.world, saved, &error), &error);
    bool are_same = hash_after(first.world, 50) == hash_after(second.world, 50);
    flo_state_destroy(saved);
    flo_world_destroy(first.world);
    flo_world_destroy(second.world);
    assert_true(are_same);
  }
}

// ---- Conveyor belt ----

static void check_belt(const Setting *setting) {
  static const double size[2] = {1.2, 0.2};
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[0] = 0.3;
  Table t = make_table(setting, size, &motion, -0.4);
  double creep = creep_of(&t);
  flo_world_destroy(t.world);
  print_message("belt, %s, %g ms: creeps by %.2g m/s\n", setting->method, 1e3 * setting->dt, creep);
  assert_true(creep < CREEP);
}

static void box_stays_on_a_belt(void **state) {
  (void)state;
  for (int k = 0; k < N_SETTINGS; ++k) check_belt(&settings[k]);
}

// A motion that starts and ends within steps: the samples carry a box without friction up by the whole way.
// A wall's reported velocity is the true one.
static void check_lift(const Setting *setting) {
  static const double size[2] = {0.2, 0.2};
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[2] = 0.05, motion.start = 0.3 + 0.4 * setting->dt, motion.end = 1.3 + 0.7 * setting->dt;
  Table t = make_table(setting, size, &motion, 0);
  double before[3], after[3];
  advance(t.world, 0.3);
  place_on(&t, before);
  advance(t.world, 0.3 + setting->dt);
  assert_true(state_of(t.world, t.table).velocity[2] == 0.05);
  advance(t.world, 1.3 + setting->dt);
  assert_true(state_of(t.world, t.table).velocity[2] == 0);
  advance(t.world, 1.6);
  place_on(&t, after);
  flo_world_destroy(t.world);
  print_message("lift, %s, %g ms: the box moves by %.2g um relative to it\n", setting->method,
                1e3 * setting->dt, 1e6 * (after[2] - before[2]));
  assert_true(fabs(after[2] - before[2]) < 0.01 * SPACING);
}

static void box_rises_with_a_lift(void **state) {
  (void)state;
  for (int k = 0; k < N_SETTINGS; ++k) check_lift(&settings[k]);
}

// ---- Shaken table ----

// Three seconds are whole periods.
#define FREQUENCY 2.0

// `share`: highest acceleration of the table over that which friction can give. Returns the creep; `slip` is
// the largest way of the box to and fro.
static double shake(const Setting *setting, double share, double *slip) {
  static const double size[2] = {0.4, 0.2};
  const double rate = 2 * TEST_PI * FREQUENCY;
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_OSCILLATE, motion.frequency = FREQUENCY;
  motion.vector[0] = share * FRICTION * GRAVITY / (rate * rate);
  Table t = make_table(setting, size, &motion, 0);
  double creep = creep_of(&t), low = INFINITY, high = -INFINITY;
  while (flo_world_time(t.world) < 3.5 + 1 / FREQUENCY) { // whole steps: short ones get less friction
    double place[3];
    hash_after(t.world, 1);
    place_on(&t, place);
    low = fmin(low, place[0]), high = fmax(high, place[0]);
  }
  flo_world_destroy(t.world);
  *slip = high - low;
  print_message("shaken, %s, %g ms, %g of the threshold: creeps by %.2g m/s, slips by %.2g um\n",
                setting->method, 1e3 * setting->dt, share, creep, 1e6 * *slip);
  return creep;
}

static void shaken_box_sticks_and_slips(void **state) {
  (void)state;
  for (int k = 0; k < N_SETTINGS; ++k) {
    double slip;
    assert_true(shake(&settings[k], 0.99, &slip) < CREEP);
    double sticks = slip;
    shake(&settings[k], 1.01, &slip);
    assert_true(slip > 12e-6 && slip > 1.5 * sticks); // theory: 22 um
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_stays_on_a_turntable),
      cmocka_unit_test(box_stays_on_a_belt),
      cmocka_unit_test(box_rises_with_a_lift),
      cmocka_unit_test(a_saved_turntable_goes_on_to_the_same_bits),
      cmocka_unit_test(shaken_box_sticks_and_slips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
