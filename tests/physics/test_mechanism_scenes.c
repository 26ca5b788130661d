// Scenes in which water and jointed bodies drive each other: the mechanisms follow their geometry, power is
// torque times speed, nothing gains energy, joints hold or break as told, and threads do not matter.
#include "joints.h"

#include "io/scene.h"

static const char *const scene_methods[] = {"constraint", "monolithic", "direct-forcing"};

// ---- A scene that runs ----

typedef struct Play {
  const char *name, *method, *size;
  const char *sets[5]; // changes, as for --set; NULL: no more
  int threads;
  FloScene *scene;
  FloWorld *world;
} Play;

static Play begin(Play play) {
  const char *source = getenv("FLOTSAM_SOURCE");
  char path[1024];
  FloError error;
  FloSceneOptions options = {
      .method = play.method, .size = play.size, .sets = play.sets, .threads = play.threads};
  while (options.n_sets < 5 && play.sets[options.n_sets]) ++options.n_sets;
  snprintf(path, sizeof path, "%s/scenes/%s.json", source ? source : ".", play.name);
  must(flo_scene_load(path, &options, &play.scene, &error), &error);
  must(flo_scene_build(play.scene, &play.world, &error), &error);
  return play;
}

static void end(Play *play) {
  flo_world_destroy(play->world);
  flo_scene_destroy(play->scene);
}

static FloJointState joint_named(const Play *play, const char *name) {
  for (size_t k = 0; k < play->scene->n_joints; ++k)
    if (strcmp(play->scene->joints[k].name, name) == 0)
      return joint_of(play->world, play->scene->joints[k].id);
  fail_msg("%s has no joint '%s'", play->name, name);
  return (FloJointState){0};
}

static FloBodyState body_named(const Play *play, const char *name) {
  FloError error;
  FloBodyState state = {0};
  for (size_t k = 0; k < play->scene->n_bodies; ++k)
    if (strcmp(play->scene->bodies[k].name, name) == 0)
      must(flo_world_body_state(play->world, play->scene->bodies[k].id, &state, &error), &error);
  return state;
}

// The widest gap of all joints that act [m], and the number of those that do not.
static double widest(const Play *play, size_t *n_idle) {
  double open = 0;
  *n_idle = 0;
  for (size_t k = 0; k < play->scene->n_joints; ++k) {
    const FloJointState joint = joint_of(play->world, play->scene->joints[k].id);
    *n_idle += !joint.is_active;
    if (joint.is_active) open = larger(joint.open, open);
  }
  return open;
}

// ---- A four-bar linkage in water ----

// The angle of the rocker of the scene for an angle of its crank.
static double rocker_angle(double crank_angle) {
  const double crank = 0.12, coupler = 0.5, rocker = 0.32, ground = 0.56;
  const double x = ground - crank * cos(crank_angle), y = -crank * sin(crank_angle), reach = hypot(x, y);
  return atan2(y, x) + TEST_PI -
         acos((rocker * rocker + reach * reach - coupler * coupler) / (2 * rocker * reach));
}

typedef struct Linkage {
  double angle, open, power, largest; // largest errors [rad], [m], [W]; largest power [W]
} Linkage;

static void look_at_linkage(const Play *play, Linkage *worst) {
  const double start = 0.6 * TEST_PI;
  const FloJointState motor = joint_named(play, "motor"), pivot = joint_named(play, "pivot");
  const double wanted = rocker_angle(start + motor.coordinate) - rocker_angle(start);
  size_t n_idle;
  worst->angle = larger(fabs(pivot.coordinate - wanted), worst->angle);
  worst->open = larger(widest(play, &n_idle), worst->open);
  worst->power = larger(fabs(motor.motor_power - motor.motor_load * motor.speed), worst->power);
  worst->largest = larger(fabs(motor.motor_power), worst->largest);
}

static void check_linkage(const char *method, const char *spacing) {
  Play play = begin((Play){.name = "four-bar-in-water", .method = method, .sets = {spacing}, .threads = 1});
  Linkage worst = {0};
  for (int k = 0; k < 50; ++k) {
    advance(play.world, 0.5 + 0.03 * k); // after the run-up, the speed of the crank is constant
    look_at_linkage(&play, &worst);
  }
  const FloMeasurements m = flo_world_measure(play.world);
  judge(worst.angle < 0.1 * TEST_PI / 180 && worst.open < 1e-3 && worst.power < 1e-2 * worst.largest &&
            worst.largest > 100 && m.penetrations == 0,
        "%s, %s: rocker off by %.1e degrees, joints open by %.1e m, power up to %.0f W off by %.1e W, "
        "%zu penetrations",
        method, spacing, worst.angle * 180 / TEST_PI, worst.open, worst.largest, worst.power, m.penetrations);
  end(&play);
}

static void linkages_follow_their_geometry(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) check_linkage(scene_methods[m], "constants.s=0.03");
  for (int m = 0; m < 2; ++m) check_linkage(scene_methods[m], "constants.s=0.02");
  end_cases();
}

// ---- A stream that lifts a bucket ----

// The rope is as much shorter as the drum has turned, and the bucket has less energy than the water brought.
static void check_wheel(const char *method, double mass, const char *set) {
  const double drum = 0.05, start = 0.1, seconds = 1.5, stream = 22.5, head = 1.46; // of the scene
  Play play =
      begin((Play){.name = "water-wheel", .method = method, .size = "draft", .sets = {set}, .threads = 1});
  const double length = joint_named(&play, "rope").coordinate;
  double slack = 0;
  for (int k = 0; k < 15; ++k) {
    advance(play.world, seconds / 15 * (k + 1));
    slack = larger(
        fabs(joint_named(&play, "rope").coordinate + drum * joint_named(&play, "axle").coordinate - length),
        slack);
  }
  const FloBodyState bucket = body_named(&play, "bucket");
  const double rise = bucket.pose.position[2] - start, v = vec_length(bucket.velocity),
               work = mass * (GRAVITY * rise + v * v / 2), brought = stream * seconds * GRAVITY * head;
  judge(slack < 1e-6 && rise > 0.02 && work < brought,
        "%s, bucket of %g kg: rises by %.3f m, %.1f J of %.0f J, rope off by %.1e m", method, mass, rise,
        work, brought, slack);
  end(&play);
}

static void streams_lift_buckets(void **state) {
  (void)state;
  check_wheel("constraint", 4, "constants.bucket=4");
  check_wheel("monolithic", 8, "constants.bucket=8");
  end_cases();
}

// ---- A drop in a corner of a wheel ----

// No pressure acts on a single drop, so that only the surface of the wheel keeps it out. The hinge keeps the
// wheel where it is.
static void check_drop(const char *method, const char *step) {
  Play play = begin((Play){
      .name = "water-wheel",
      .method = method,
      .sets = {"emitters=[]", "sinks=[]", step,
               "fluids=[{\"material\":\"water\",\"shape\":{\"box\":\"s\"},\"corner\":[-0.115,0.09,0.805]}]"},
      .threads = 1});
  advance(play.world, 0.3);
  const double before = flo_world_measure(play.world).potential_energy;
  advance(play.world, 0.7);
  const FloMeasurements m = flo_world_measure(play.world);
  const double sunk = (before - m.potential_energy) / (1000 * pow(0.02, 3) * GRAVITY);
  judge(fabs(sunk) < 1e-4 && m.penetrations == 0 && m.fluid_particles == 1,
        "%s, %s: a drop in a corner of the wheel sinks by %.1e m in 0.4 s", method, step, sunk);
  end(&play);
}

static void drops_rest_on_what_joints_hold(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) check_drop(scene_methods[m], "time_step=0.004");
  check_drop("constraint", "time_step=0.002");
  end_cases();
}

// ---- A bridge that holds, and one that breaks ----

static void check_bridge(const char *method, const char *set, bool breaks) {
  Play play =
      begin((Play){.name = "swing-bridge", .method = method, .size = "draft", .sets = {set}, .threads = 1});
  size_t n_idle = 0, n_before, n_returned = 0;
  double open = 0;
  for (int k = 0; k < 12; ++k) {
    n_before = n_idle;
    advance(play.world, 0.07 * (k + 1));
    open = larger(widest(&play, &n_idle), open);
    n_returned += n_idle < n_before;
  }
  const FloMeasurements m = flo_world_measure(play.world);
  judge((n_idle > 0) == breaks && n_returned == 0 && open < 1e-3 && m.penetrations == 0,
        "%s, %s: %zu rods broken, %zu mended, others open by %.1e m, %zu penetrations", method, set, n_idle,
        n_returned, open, m.penetrations);
  end(&play);
}

static void bridges_hold_or_break(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    check_bridge(scene_methods[m], "constants.strength=1e5", false);
    check_bridge(scene_methods[m], "constants.strength=40", true);
  }
  end_cases();
}

// ---- Threads ----

static uint64_t hash_after(const char *name, const char *method, int threads) {
  Play play = begin((Play){.name = name, .method = method, .size = "draft", .threads = threads});
  advance(play.world, 0.08);
  const uint64_t hash = flo_world_hash(play.world);
  end(&play);
  return hash;
}

static void threads_do_not_matter(void **state) {
  (void)state;
  static const char *const names[] = {"flushing", "four-bar-in-water", "water-wheel", "swing-bridge"};
  for (int k = 0; k < 4; ++k)
    for (int m = 0; m < 2; ++m) {
      const uint64_t one = hash_after(names[k], scene_methods[m], 1);
      for (int threads = 2; threads <= 3; ++threads)
        judge(hash_after(names[k], scene_methods[m], threads) == one, "%s, %s: %d threads", names[k],
              scene_methods[m], threads);
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(linkages_follow_their_geometry), CASES(streams_lift_buckets),
                                     CASES(drops_rest_on_what_joints_hold), CASES(bridges_hold_or_break),
                                     CASES(threads_do_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
