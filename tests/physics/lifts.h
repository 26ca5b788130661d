// Blocks on the floor of a tank of water, or a little above it.
#ifndef FLO_TEST_LIFTS_H
#define FLO_TEST_LIFTS_H

#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

// Sizes are in spacings.
typedef struct Lift {
  const char *method;
  int dim;
  double spacing;      // [m]
  double block[2];     // width and height
  double width, depth; // of tank and water
  double density, gap; // of the block, and below it
  double settle;       // [s]
  bool is_sealed;      // no fluid gets below the block
} Lift;

typedef struct Scene {
  FloWorld *world;
  FloBodyId tank, block;
  double mass, weight; // of the block, and of block and water
} Scene;

static inline void add_basin(const Lift *lift, Scene *scene) {
  FloError error;
  FloBodyDef def = flo_default_body_def();
  double width = lift->width * lift->spacing, high = (lift->depth + 10) * lift->spacing;
  def.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = lift->dim - 1};
  vec_set(def.shape.size, width, lift->dim == 2 ? high : width, lift->dim == 2 ? 0 : high);
  def.pose = pose_at(width / 2, def.shape.size[1] / 2, def.shape.size[2] / 2);
  def.averages_force = true;
  must(flo_world_add_body(scene->world, &def, &scene->tank, &error), &error);
}

static inline void add_floater(const Lift *lift, Scene *scene) {
  FloError error;
  FloBodyDef def = flo_default_body_def();
  double s = lift->spacing, middle = lift->width * s / 2, edge = lift->block[0] * s,
         high = lift->block[1] * s;
  double up = lift->gap * s + high / 2;
  bool is_flat = lift->dim == 2;
  def.kind = FLO_BODY_DYNAMIC, def.density = lift->density, def.sealed = lift->is_sealed;
  def.shape.kind = FLO_SHAPE_BOX;
  vec_set(def.shape.size, edge, is_flat ? high : edge, is_flat ? 0 : high);
  def.pose = is_flat ? pose_at(middle, up, 0) : pose_at(middle, middle, up);
  for (int axis = 0; axis < 3; ++axis) def.turn_locks[axis] = true;
  must(flo_world_add_body(scene->world, &def, &scene->block, &error), &error);
  scene->mass = lift->density * edge * high * (is_flat ? 1 : edge);
}

static inline Scene make_scene(const Lift *lift) {
  FloWorldDef def = flo_default_world_def();
  double s = lift->spacing, width = lift->width * s, depth = lift->depth * s;
  bool is_flat = lift->dim == 2;
  def.dim = lift->dim, def.method = lift->method, def.spacing = s, def.settle = lift->settle, def.threads = 1;
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  Scene scene = {.world = make_world(&def)};
  add_basin(lift, &scene);
  add_floater(lift, &scene);
  add_block(scene.world, add_water(scene.world, DENSITY, 1e-6), 0, width, is_flat ? depth : width,
            is_flat ? 0 : depth);
  const float *mass = floats(scene.world, "mass");
  scene.weight = GRAVITY * scene.mass;
  for (size_t i = 0; i < flo_world_count(scene.world, FLO_SET_FLUID); ++i)
    scene.weight += GRAVITY * (double)mass[i];
  return scene;
}

// ---- Measurements ----

typedef struct Outcome {
  double rise;       // after a second, in spacings
  double left_at;    // time at which it has risen by two spacings [s]; 0: not yet
  double moved;      // largest distance from the start along the vertical, in spacings
  double tank_error; // impulse on the tank less what the momenta lack, per weight [s]
  double block_error;
} Outcome;

// What the last frame has left behind.
typedef struct Frame {
  double momentum[3], speed;
} Frame;

static inline void note_impulses(const Scene *scene, int up, double span, Frame *frame, Outcome *outcome) {
  const FloBodyState block = state_of(scene->world, scene->block), tank = state_of(scene->world, scene->tank);
  const FloMeasurements now = flo_world_measure(scene->world);
  for (int axis = 0; axis < 3; ++axis) {
    double lacking = (axis == up ? -scene->weight * span : 0) - (now.momentum[axis] - frame->momentum[axis]);
    double off = fabs(tank.mean_force[axis] * span - lacking) / scene->weight;
    outcome->tank_error = fmax(outcome->tank_error, off);
    frame->momentum[axis] = now.momentum[axis];
  }
  double gain = scene->mass * (block.velocity[up] - frame->speed + GRAVITY * span);
  double off = fabs(block.mean_force[up] * span - gain) / (GRAVITY * scene->mass);
  outcome->block_error = fmax(outcome->block_error, off);
  frame->speed = block.velocity[up];
}

static inline void print_outcome(const Lift *lift, const Outcome *outcome) {
  print_message("%dD, %g mm, %4g kg/m3, gap %g: rises by %.2f spacings in 1 s, by two after %.2f s, at most "
                "%.3f away; impulses off by %.1e s and %.1e s of the weight\n",
                lift->dim, 1e3 * lift->spacing, lift->density, lift->gap, outcome->rise, outcome->left_at,
                outcome->moved, outcome->tank_error, outcome->block_error);
}

static inline Outcome watch(const Lift *lift) {
  const double span = 0.02;
  Scene scene = make_scene(lift);
  Outcome outcome = {0};
  Frame frame = {0};
  int up = lift->dim - 1;
  advance(scene.world, 0);
  vec_copy(flo_world_measure(scene.world).momentum, frame.momentum);
  double start = state_of(scene.world, scene.block).pose.position[up];
  for (int k = 1; k <= 50; ++k) {
    flo_world_restart_averages(scene.world);
    advance(scene.world, k * span);
    note_impulses(&scene, up, span, &frame, &outcome);
    outcome.rise = (state_of(scene.world, scene.block).pose.position[up] - start) / lift->spacing;
    outcome.moved = fmax(outcome.moved, fabs(outcome.rise));
    if (outcome.left_at == 0 && outcome.rise > 2) outcome.left_at = k * span;
  }
  flo_world_destroy(scene.world);
  print_outcome(lift, &outcome);
  return outcome;
}

// ---- Cases ----

static inline Lift lift_2d(const char *method, int fineness, double density, double gap) {
  return (Lift){method,
                2,
                0.004 / fineness,
                {12 * fineness, 6 * fineness},
                35 * fineness,
                13 * fineness,
                density,
                gap,
                0,
                false};
}

static inline Lift lift_3d(const char *method, double density, double gap) {
  return (Lift){method, 3, 0.004, {8, 4}, 18, 9, density, gap, 0, false};
}

#endif
