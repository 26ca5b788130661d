// The friction of walls on laminar flow, against exact solutions: Couette and Poiseuille flow between plates,
// a film on a slope, and a ball that turns slowly. Every case prints what it measured.
#include "physics.h"

#define DENSITY 1000.0
#define GAP     1.0
#define SPEED   1.0

typedef enum Flow { COUETTE, POISEUILLE, FILM } Flow;

typedef struct Channel {
  const char *method;
  Flow flow;
  int dim, resolution; // spacings across the gap
  double shift;        // of the fluid's lattice against that of the samples, in spacings
  FloKernel kernel;
  bool is_implicit;
} Channel;

typedef struct Rig {
  FloWorld *world;
  FloBodyId floor, top;
  double length, depth, viscosity;
} Rig;

static const char *const names[] = {"Couette", "Poiseuille", "film"};

// Steady laminar flow, so that nothing has to develop.
static void steady(void *context, const double x[3], double v[3]) {
  double y = x[1] / GAP;
  v[1] = v[2] = 0;
  switch (*(const Flow *)context) {
  case COUETTE:
    v[0] = SPEED * y;
    break;
  case POISEUILLE:
    v[0] = 4 * SPEED * y * (1 - y);
    break;
  case FILM:
    v[0] = SPEED * y * (2 - y);
    break;
  }
}

// The acceleration along the channel that drives the flow.
static double push_of(Flow flow, double viscosity) {
  const double factors[] = {0, 8, 2};
  return factors[flow] * viscosity * SPEED / (GAP * GAP);
}

static double stress_of(Flow flow, double viscosity) {
  const double factors[] = {1, 4, 2};
  return factors[flow] * DENSITY * viscosity * SPEED / GAP;
}

static FloWorld *make_channel_world(const Channel *channel, Rig *rig) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  double s = GAP / channel->resolution;
  def.method = channel->method, def.dim = channel->dim, def.spacing = s, def.threads = 1;
  def.kernel = channel->kernel, def.max_time_step = 1;
  def.periodic[0] = true, def.domain_high[0] = rig->length;
  if (channel->dim == 3) def.periodic[2] = true, def.domain_high[2] = rig->depth;
  def.gravity[0] = push_of(channel->flow, rig->viscosity), def.gravity[2] = 0;
  def.gravity[1] = channel->flow == FILM ? -5 : 0;
  FloWorld *world = make_world(&def);
  must(flo_world_set_param(world, "alpha", 0, &error), &error);
  if (channel->is_implicit) must(flo_world_set_param(world, "viscosity", 2, &error), &error);
  if (strcmp(channel->method, "monolithic") != 0)
    must(flo_world_set_param(world, "sound_speed", 10 * SPEED, &error), &error);
  return world;
}

static FloBodyId add_plate(const Rig *rig, double thickness, double y, double speed) {
  FloError error;
  FloBodyId id;
  FloBodyDef def = flo_default_body_def();
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[0] = speed, def.averages_force = true;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {rig->length, thickness, rig->depth}};
  def.pose = pose_at(rig->length / 2, y, rig->depth / 2);
  if (speed != 0) def.kind = FLO_BODY_KINEMATIC, def.motions = &motion, def.n_motions = 1;
  must(flo_world_add_body(rig->world, &def, &id, &error), &error);
  return id;
}

static Rig make_rig(Channel *channel) {
  FloError error;
  double s = GAP / channel->resolution, is_3d = channel->dim == 3;
  Rig rig = {.length = 12 * s, .depth = is_3d ? 9 * s : 0, .viscosity = 0.1};
  rig.world = make_channel_world(channel, &rig);
  rig.floor = rig.top = add_plate(&rig, 4 * s, -2 * s, 0);
  if (channel->flow != FILM)
    rig.top = add_plate(&rig, 4 * s, GAP + 2 * s, channel->flow == COUETTE ? SPEED : 0);
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = add_water(rig.world, DENSITY, rig.viscosity);
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {rig.length, GAP, rig.depth}};
  fluid.pose = pose_at(rig.length / 2 + channel->shift * s, GAP / 2,
                       rig.depth / 2 + (is_3d != 0 ? 0.7 * channel->shift * s : 0));
  fluid.velocity_at = steady, fluid.context = &channel->flow;
  must(flo_world_add_fluid(rig.world, &fluid, NULL, &error), &error);
  return rig;
}

static double mean_speed(const FloWorld *world) {
  const float *vx = floats(world, "vx");
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (double)vx[i];
  return sum / (double)n;
}

typedef struct Found {
  double floor, top, speed; // over theory
} Found;

static Found measure(Channel channel) {
  const double mean[] = {0.5, 2.0 / 3, 2.0 / 3};
  Rig rig = make_rig(&channel);
  double time = 0.2 * GAP * GAP / rig.viscosity, area = rig.length * (channel.dim == 3 ? rig.depth : 1);
  advance(rig.world, time);
  flo_world_restart_averages(rig.world);
  advance(rig.world, 2 * time);
  double force = stress_of(channel.flow, rig.viscosity) * area;
  Found found = {.floor = state_of(rig.world, rig.floor).mean_force[0] / force,
                 .top = fabs(state_of(rig.world, rig.top).mean_force[0]) / force,
                 .speed = mean_speed(rig.world) / (mean[channel.flow] * SPEED)};
  print_message(
      "%s, %s, %dD, %s, %d across, lattice shifted by %.1f%s: floor %.3f, top %.3f, flow %.3f of theory\n",
      names[channel.flow], channel.method, channel.dim,
      channel.kernel == FLO_KERNEL_CUBIC_SPLINE ? "default kernel" : "Wendland", channel.resolution,
      channel.shift, channel.is_implicit ? ", implicit" : "", found.floor, found.top, found.speed);
  flo_world_destroy(rig.world);
  return found;
}

static void check_couette(Channel channel) {
  channel.flow = COUETTE;
  Found found = measure(channel);
  assert_true(fabs(found.floor - 1) < 0.02 && fabs(found.top - 1) < 0.02);
}

static void plates_feel_couette_flow(void **unused) {
  (void)unused;
  for (int resolution = 8; resolution <= 16; resolution *= 2) {
    check_couette((Channel){.method = "wcsph", .dim = 2, .resolution = resolution});
    check_couette((Channel){.method = "wcsph", .dim = 2, .resolution = resolution, .shift = 0.4});
    check_couette((Channel){.method = "direct-forcing", .dim = 2, .resolution = resolution, .shift = 0.2});
  }
  check_couette((Channel){.method = "wcsph", .dim = 2, .resolution = 12, .kernel = FLO_KERNEL_WENDLAND_C2});
  check_couette((Channel){.method = "wcsph", .dim = 2, .resolution = 12, .is_implicit = true});
  check_couette((Channel){.method = "wcsph", .dim = 3, .resolution = 8, .shift = 0.3});
  check_couette((Channel){.method = "direct-forcing", .dim = 3, .resolution = 8});
}

// The plates carry the whole push. Where the wall is shows in the flow.
static void check_poiseuille(Channel channel) {
  channel.flow = POISEUILLE;
  Found found = measure(channel);
  assert_true(fabs(found.floor - 1) < 0.02 && fabs(found.top - 1) < 0.02);
  assert_true(fabs(found.speed - 1) < 0.06);
}

static void plates_carry_poiseuille_flow(void **unused) {
  (void)unused;
  for (int resolution = 8; resolution <= 16; resolution *= 2)
    check_poiseuille((Channel){.method = "wcsph", .dim = 2, .resolution = resolution, .shift = 0.3});
  check_poiseuille((Channel){.method = "direct-forcing", .dim = 2, .resolution = 12});
  check_poiseuille((Channel){.method = "wcsph", .dim = 2, .resolution = 12, .is_implicit = true});
  check_poiseuille((Channel){.method = "wcsph", .dim = 3, .resolution = 8});
}

// With a free surface, which `monolithic` needs. Layers that slide over each other under pressure resist a
// little; see docs/validation.md.
static void films_run_down_slopes(void **unused) {
  (void)unused;
  for (int resolution = 8; resolution <= 16; resolution *= 2) {
    Found found =
        measure((Channel){.method = "monolithic", .flow = FILM, .dim = 2, .resolution = resolution});
    assert_true(found.speed > 0.93 && found.speed < 1.04);
    found = measure((Channel){.method = "monolithic",
                              .flow = FILM,
                              .dim = 2,
                              .resolution = resolution,
                              .kernel = FLO_KERNEL_WENDLAND_C2});
    assert_true(fabs(found.speed - 1) < 0.03);
  }
}

// ---- A ball that turns slowly in a thick fluid: torque 8 pi mu R^3 omega ----

// Images in the periodic neighbours raise the torque by 1/(1 - c), where c is the share of the ball in its
// box.
static double measure_torque(const char *method, int radius) {
  FloError error;
  double s = 1.0 / radius, box = 5, rate = 0.1, viscosity = 1;
  FloWorldDef def = flo_default_world_def();
  def.method = method, def.spacing = s, def.threads = 1, def.gravity[2] = -1, def.max_time_step = 0.05;
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = box;
  FloWorld *world = make_world(&def);
  FloBodyDef floor = flo_default_body_def(), ball = flo_default_body_def();
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {box, box, 4 * s}};
  floor.pose = pose_at(box / 2, box / 2, -2 * s);
  must(flo_world_add_body(world, &floor, NULL, &error), &error);
  FloMotionDef turn = flo_default_motion_def();
  turn.kind = FLO_MOTION_ROTATE, turn.vector[2] = 1, turn.rate = rate;
  turn.centre[0] = turn.centre[1] = turn.centre[2] = box / 2;
  ball.kind = FLO_BODY_KINEMATIC, ball.motions = &turn, ball.n_motions = 1, ball.averages_force = true;
  ball.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 1},
  ball.pose = pose_at(box / 2, box / 2, box / 2);
  FloBodyId id;
  must(flo_world_add_body(world, &ball, &id, &error), &error);
  add_block(world, add_water(world, DENSITY, viscosity), 0, box, box, box);
  advance(world, 3);
  flo_world_restart_averages(world);
  advance(world, 4);
  double torque = -state_of(world, id).mean_torque[2], share = 4 * TEST_PI / 3 / pow(box, 3);
  flo_world_destroy(world);
  return torque / (8 * TEST_PI * DENSITY * viscosity * rate / (1 - share));
}

static void balls_turn_against_stokes_friction(void **unused) {
  (void)unused;
  for (int radius = 4; radius <= 6; radius += 2) {
    double found = measure_torque("monolithic", radius);
    print_message("ball of radius %d spacings turns: torque %.3f of Stokes's\n", radius, found);
    assert_true(fabs(found - 1) < 0.12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plates_feel_couette_flow), cmocka_unit_test(plates_carry_poiseuille_flow),
      cmocka_unit_test(films_run_down_slopes), cmocka_unit_test(balls_turn_against_stokes_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
