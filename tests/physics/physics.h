// Small worlds that the physics tests share. Everything fails the test at once if the library refuses.
#ifndef FLO_TEST_PHYSICS_H
#define FLO_TEST_PHYSICS_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "flotsam/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_PI 3.14159265358979323846

// Fails the test with the library's own words.
static inline void must(FloStatus status, const FloError *error) {
  if (status != FLO_OK) fail_msg("%s: %s", flo_status_name(status), error->text);
}

// Whether the environment asks for all cases, FLOTSAM_FULL=1, which takes many minutes.
static inline bool is_full(void) {
  const char *value = getenv("FLOTSAM_FULL");
  return value && atoi(value) > 0;
}

static inline FloWorld *make_world(const FloWorldDef *def) {
  FloError error;
  FloWorld *world;
  must(flo_world_create(def, &world, &error), &error);
  return world;
}

static inline FloMaterialId add_water(FloWorld *world, double density, double viscosity) {
  FloError error;
  FloMaterialId id;
  FloMaterialDef def = flo_default_material_def();
  def.density = density, def.viscosity = viscosity;
  must(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static inline FloPose pose_at(double x, double y, double z) {
  FloPose pose = flo_pose_identity();
  pose.position[0] = x, pose.position[1] = y, pose.position[2] = z;
  return pose;
}

// A tank whose inner space is [0, x] x [0, y] x [0, z], open along `up`.
static inline FloBodyId add_tank(FloWorld *world, double x, double y, double z, int up) {
  FloError error;
  FloBodyId id;
  FloBodyDef def = flo_default_body_def();
  def.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {x, y, z}, .up = up};
  def.pose = pose_at(x / 2, y / 2, z / 2);
  must(flo_world_add_body(world, &def, &id, &error), &error);
  return id;
}

// A block of fluid that fills [x0, x0+x] x [0, y] x [0, z].
static inline size_t add_block(FloWorld *world, FloMaterialId material, double x0, double x, double y,
                               double z) {
  FloError error;
  size_t n;
  FloFluidDef def = flo_default_fluid_def();
  def.material = material;
  def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
  def.pose = pose_at(x0 + x / 2, y / 2, z / 2);
  must(flo_world_add_fluid(world, &def, &n, &error), &error);
  return n;
}

static inline void advance(FloWorld *world, double time) {
  FloError error;
  must(flo_world_advance(world, time, NULL, &error), &error);
}

static inline FloBodyState state_of(FloWorld *world, FloBodyId id) {
  FloBodyState state;
  FloError error;
  must(flo_world_body_state(world, id, &state, &error), &error);
  return state;
}

static inline const void *field(const FloWorld *world, const char *name) {
  FloError error;
  FloView view;
  must(flo_world_view(world, FLO_SET_FLUID, name, &view, &error), &error);
  return view.data;
}

static inline const double *doubles(const FloWorld *world, const char *name) { return field(world, name); }
static inline const float *floats(const FloWorld *world, const char *name) { return field(world, name); }

// Root mean square speed of the fluid's particles.
static inline double rms_speed(const FloWorld *world) {
  const size_t n = flo_world_count(world, FLO_SET_FLUID);
  const float *v[3] = {floats(world, "vx"), floats(world, "vy"), floats(world, "vz")};
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    for (int axis = 0; axis < 3; ++axis) sum += pow((double)v[axis][i], 2);
  return sqrt(sum / (double)n);
}

#endif
