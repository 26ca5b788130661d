// Small worlds to test with.
#ifndef TEST_SUPPORT_WORLDS_H
#define TEST_SUPPORT_WORLDS_H

#include "base/vecmath.h"
#include "support/check.h"

// Gravity along the last axis.
static inline FloWorldDef small_world_def(int dim) {
  FloWorldDef def = flo_default_world_def();
  def.dim = dim;
  def.method = "wcsph";
  def.threads = 1;
  vec_set(def.gravity, 0, dim == 2 ? -9.81 : 0, dim == 3 ? -9.81 : 0);
  return def;
}

static inline FloWorld *create_world(const FloWorldDef *def) {
  FloError error;
  FloWorld *world;
  assert_ok(flo_world_create(def, &world, &error), &error);
  return world;
}

static inline FloWorld *empty_world(int dim) {
  FloWorldDef def = small_world_def(dim);
  return create_world(&def);
}

static inline FloMaterialId add_material(FloWorld *world, double density, double viscosity) {
  FloError error;
  FloMaterialId id;
  FloMaterialDef def = flo_default_material_def();
  def.density = density, def.viscosity = viscosity;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static inline FloMaterialId add_water(FloWorld *world) { return add_material(world, 1000, 1e-6); }

static inline FloShape box_shape(double x, double y, double z) {
  return (FloShape){.kind = FLO_SHAPE_BOX, .size = {x, y, z}};
}

static inline FloPose pose_at(double x, double y, double z) {
  FloPose pose = flo_pose_identity();
  vec_set(pose.position, x, y, z);
  return pose;
}

// A box of fluid between two corners; how many particles it got.
static inline size_t add_block(FloWorld *world, FloMaterialId material, const double low[3],
                               const double high[3]) {
  FloError error;
  size_t n;
  FloFluidDef def = flo_default_fluid_def();
  def.material = material;
  def.shape.kind = FLO_SHAPE_BOX;
  vec_sub(high, low, def.shape.size);
  vec_add(low, high, def.pose.position);
  vec_scale(def.pose.position, 0.5, def.pose.position);
  assert_ok(flo_world_add_fluid(world, &def, &n, &error), &error);
  return n;
}

static inline FloBodyId add_body(FloWorld *world, const FloBodyDef *def) {
  FloError error;
  FloBodyId id;
  assert_ok(flo_world_add_body(world, def, &id, &error), &error);
  return id;
}

// A tank with its inner low corner at the origin, open along the last axis.
static inline FloBodyId add_tank(FloWorld *world, int dim, double x, double y, double z) {
  FloBodyDef def = flo_default_body_def();
  def.name = "tank";
  def.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {x, y, z}, .up = dim - 1};
  def.pose = pose_at(x / 2, y / 2, dim == 3 ? z / 2 : 0);
  return add_body(world, &def);
}

static inline FloBodyId add_moving_box(FloWorld *world, FloShape shape, FloPose pose,
                                       const FloMotionDef *motion) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_KINEMATIC;
  def.shape = shape, def.pose = pose;
  def.motions = motion, def.n_motions = 1;
  return add_body(world, &def);
}

// A block of water in the low corner of a tank, 6 `scale` spacings wide and 8 `scale` high.
static inline FloWorld *create_dam_of(const FloWorldDef *def, double scale) {
  FloWorld *world = create_world(def);
  bool is_flat = def->dim == 2;
  const double s = def->spacing * scale, low[3] = {0},
               high[3] = {6 * s, is_flat ? 8 * s : 6 * s, is_flat ? 0 : 8 * s};
  add_tank(world, def->dim, 12 * s, is_flat ? 12 * s : 6 * s, 12 * s);
  add_block(world, add_water(world), low, high);
  return world;
}

static inline FloWorld *create_dam(const FloWorldDef *def) { return create_dam_of(def, 1); }

static inline void step_world(FloWorld *world, int n) {
  FloError error;
  for (int k = 0; k < n; ++k) assert_ok(flo_world_step(world, NULL, &error), &error);
}

static inline FloView view_of(const FloWorld *world, FloSet set, const char *field) {
  FloError error;
  FloView view;
  assert_ok(flo_world_view(world, set, field, &view, &error), &error);
  return view;
}

// Element i of a field, whatever its type.
static inline double view_at(const FloView *view, size_t i) {
  const char *at = (const char *)view->data + i * view->stride;
  switch (view->type) {
  case FLO_TYPE_F32:
    return (double)*(const float *)at;
  case FLO_TYPE_F64:
    return *(const double *)at;
  case FLO_TYPE_U16:
    return *(const uint16_t *)at;
  default:
    return *(const uint32_t *)at;
  }
}

static inline double field_at(const FloWorld *world, FloSet set, const char *field, size_t i) {
  FloView view = view_of(world, set, field);
  assert_true(i < view.count);
  return view_at(&view, i);
}

// Where the fluid particle with this id is in memory now.
static inline size_t index_of_id(const FloWorld *world, uint32_t id) {
  FloView view = view_of(world, FLO_SET_FLUID, "id");
  for (size_t i = 0; i < view.count; ++i)
    if (((const uint32_t *)view.data)[i] == id) return i;
  fail_msg("there is no particle %u", id);
  return 0;
}

#endif
