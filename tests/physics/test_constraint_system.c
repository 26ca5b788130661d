// Everything in one system with `constraint`: a motor turns two boxes against each other in a free drop, and
// loose bricks with friction collide and rub in it. Nothing acts from outside, so momenta stay. Every case
// prints what it measured.
#include "joints.h"

typedef struct Drop {
  int dim;
  double spacing, dt;
  double solver, levels, order; // parameters of the method
} Drop;

static FloShape brick_shape(int dim, double x, double y) { return box_shape(x, y, dim == 3 ? 0.1 : 0); }

static FloBodyId add_brick(FloWorld *world, int dim, double x, double y, double density, double speed) {
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, brick_shape(dim, 0.15, 0.1), pose_at(x, y, dim == 3 ? 0.2 : 0), 0.5);
  def.velocity[0] = 0.5, def.velocity[1] = speed, def.density = density;
  def.restitution = 0.3, def.rolling_friction = 0.005;
  return add_body(world, def);
}

// The motor's boxes are below. Of the bricks above, one falls on another, and both touch the boxes.
static FloWorld *make_drop(const Drop *d) {
  const Setting setting = {"constraint", d->dim, d->spacing, d->dt};
  FloWorld *world = dry_world(&setting, 0, 0, 0);
  FloError error;
  FloBodyId boxes[2];
  for (int k = 0; k < 2; ++k) boxes[k] = add_brick(world, d->dim, 0.3 + 0.17 * k, 0.15, k ? 3000 : 500, 0);
  FloJointDef joint =
      joint_def(FLO_JOINT_HINGE, boxes[1], V3(0.385, 0.15, d->dim == 3 ? 0.2 : 0), V3(0, 0, 1));
  joint.to = boxes[0];
  joint.motor = (FloMotorDef){.kind = FLO_MOTOR_SPEED, .value = 5, .max_load = d->dim == 3 ? 2 : 20};
  add_joint(world, joint);
  add_brick(world, d->dim, 0.36, 0.27, 2000, -0.2);
  add_brick(world, d->dim, 0.42, 0.39, 800, -2);
  add_block(world, add_water(world, 1000, 1e-6), 0, 0.75, 0.5, d->dim == 3 ? 0.4 : 0);
  must(flo_world_set_param(world, "solver", d->solver, &error), &error);
  must(flo_world_set_param(world, "levels", d->levels, &error), &error);
  must(flo_world_set_param(world, "order", d->order, &error), &error);
  return world;
}

// Steps until the time, or longer until bodies touch, since the water between them must flow away first.
// Returns the largest number of contacts that bore loads.
static size_t run_drop(FloWorld *world, double until) {
  size_t most = 0;
  while (flo_world_time(world) < until || (most == 0 && flo_world_time(world) < 3 * until)) {
    one_step(world);
    const size_t n = flo_world_measure(world).contacts;
    most = n > most ? n : most;
  }
  return most;
}

static void check_drop(const Drop *d) {
  FloWorld *world = make_drop(d);
  const FloMeasurements start = flo_world_measure(world);
  const size_t n_contacts = run_drop(world, 0.4);
  const FloMeasurements end = flo_world_measure(world);
  // The momentum of water and bodies that move at about half a metre a second.
  const double scale = (double)start.fluid_particles * pow(d->spacing, d->dim) * 1000 * 0.5;
  const double linear = distance(start.momentum, end.momentum) / scale,
               angular = distance(start.angular_momentum, end.angular_momentum) / scale;
  judge(
      linear <= 1e-6 && angular <= 1e-6 && n_contacts > 0,
      "%dD, %g mm, step %g ms, %s, %g levels, %s order: momentum drifts by %.1e, angular by %.1e; up to %zu "
      "contacts",
      d->dim, 1e3 * d->spacing, 1e3 * d->dt, d->solver > 0 ? "nncg" : "gauss-seidel", d->levels,
      d->order > 0 ? "natural" : "coloured", linear, angular, n_contacts);
  flo_world_destroy(world);
}

static void drops_with_motors_and_contacts_keep_their_momenta(void **state) {
  (void)state;
  static const Drop drops[] = {
      {2, 0.025, 0, 0, 2, 0}, {2, 0.025, 2e-3, 1, 2, 0}, {2, 0.025, 0, 0, 1, 1}, {2, 0.0125, 1e-3, 0, 2, 0},
      {3, 0.05, 0, 0, 2, 0},  {3, 0.05, 2e-3, 1, 1, 0},  {3, 0.033, 0, 0, 2, 0}};
  for (size_t k = 0; k < sizeof drops / sizeof *drops; ++k) check_drop(&drops[k]);
  end_cases();
}

// ---- The longest step ----

typedef struct Tank {
  int dim;
  double spacing;   // [m]
  int width, depth; // in particles
} Tank;

static double depth_of(const Tank *t) { return t->depth * t->spacing; }

// The step that moves signals of the highest pressure by this share of a support.
static double step_of(const Tank *t, double share) {
  return share * 2 * t->spacing / sqrt(GRAVITY * depth_of(t));
}

static void count_warning(void *context, FloLogLevel level, const char *text) {
  if (level == FLO_LOG_WARNING && strstr(text, "longer than the limit")) ++*(int *)context;
}

static FloWorld *make_tank(const Tank *t, double dt, int *n_warnings) {
  FloWorldDef def = flo_default_world_def();
  const double width = t->width * t->spacing, depth = depth_of(t), high = depth + 6 * t->spacing;
  const bool is_flat = t->dim == 2;
  def.dim = t->dim, def.method = "constraint", def.spacing = t->spacing, def.threads = 1;
  def.time_step = dt, def.max_time_step = 0.1;
  def.log = (FloLog){count_warning, n_warnings};
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  add_tank(world, width, is_flat ? high : width, is_flat ? 0 : high, t->dim - 1);
  add_block(world, add_water(world, 1000, 1e-6), 0, width, is_flat ? depth : width, is_flat ? 0 : depth);
  return world;
}

// The rms speed after 1.2 s with fixed steps, in sqrt(g h); infinite if the run fails.
static double speed_at(const Tank *t, double share, bool *is_warned) {
  int n_warnings = 0;
  FloWorld *world = make_tank(t, step_of(t, share), &n_warnings);
  FloError error;
  double speed = INFINITY;
  if (flo_world_advance(world, 1.2, NULL, &error) == FLO_OK) {
    const FloMeasurements m = flo_world_measure(world);
    const double mass = (double)m.fluid_particles * pow(t->spacing, t->dim) * 1000;
    speed = sqrt(2 * m.kinetic_energy / mass / (GRAVITY * depth_of(t)));
  }
  flo_world_destroy(world);
  *is_warned = n_warnings > 0;
  return speed;
}

// Still water that boils is faster than this.
#define CALM 0.03

static double automatic_share(const Tank *t, const char **limited_by) {
  int n_warnings = 0;
  FloWorld *world = make_tank(t, 0, &n_warnings);
  const double share = flo_world_max_dt(world, limited_by) / step_of(t, 1);
  flo_world_destroy(world);
  return share;
}

static void check_steps(const Tank *t) {
  static const double shares[] = {0.2, 0.38, 0.5, 0.6, 0.7, 0.85, 1.1};
  enum { N = sizeof shares / sizeof *shares };
  double speeds[N], longest = 0;
  bool are_warned[N] = {0};
  int k = 0;
  for (; k < N && (speeds[k] = speed_at(t, shares[k], &are_warned[k])) < CALM; ++k) longest = shares[k];
  const char *limited_by;
  const double automatic = automatic_share(t, &limited_by);
  const bool is_told = k < N && are_warned[k] && are_warned[2] && !are_warned[0];
  judge(longest >= 0.38 && k < N && automatic <= 1.05 * 0.38 && automatic <= longest && is_told,
        "%dD, %g mm, %d deep: calm up to %.2f H/sqrt(p/rho) (%.1f %% of sqrt(g h)), boils at %.2f (%.0f %%); "
        "the world takes %.3f by %s; %s",
        t->dim, 1e3 * t->spacing, t->depth, longest, k > 0 ? 100 * speeds[k - 1] : NAN,
        k < N ? shares[k] : NAN, k < N ? 100 * speeds[k] : NAN, automatic, limited_by,
        is_told ? "warns of longer ones" : "warnings are wrong");
}

static void longest_steps(void **state) {
  (void)state;
  static const Tank tanks[] = {{2, 0.02, 12, 12}, {2, 0.02, 12, 24}, {2, 0.02, 12, 48}, {2, 0.01, 12, 12},
                               {2, 0.01, 12, 24}, {2, 0.01, 12, 48}, {3, 0.02, 6, 12},  {3, 0.02, 6, 24},
                               {3, 0.02, 6, 36},  {3, 0.01, 6, 12},  {3, 0.01, 6, 24},  {3, 0.01, 6, 36}};
  for (size_t k = 0; k < sizeof tanks / sizeof *tanks; ++k) check_steps(&tanks[k]);
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(drops_with_motors_and_contacts_keep_their_momenta),
      CASES(longest_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
