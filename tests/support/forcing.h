// Small worlds of the `direct-forcing` method.
#ifndef TEST_SUPPORT_FORCING_H
#define TEST_SUPPORT_FORCING_H

#include "coupling/direct_forcing/direct_forcing.h"
#include "support/worlds.h"

static inline FloWorldDef forcing_def(int dim, bool has_gravity) {
  FloWorldDef def = small_world_def(dim);
  def.method = "direct-forcing";
  if (!has_gravity) vec_set(def.gravity, 0, 0, 0);
  return def;
}

static inline const FloDirectForcing *forcing_of(const FloWorld *world) { return world->method_state; }

static inline void set_param(FloWorld *world, const char *name, double value) {
  FloError error;
  assert_ok(flo_world_set_param(world, name, value, &error), &error);
}

static inline FloBodyId add_solid(FloWorld *world, FloBodyKind kind, FloShape shape, FloPose pose,
                                  double density) {
  FloBodyDef def = flo_default_body_def();
  def.kind = kind, def.shape = shape, def.pose = pose, def.density = density;
  return add_body(world, &def);
}

// A block of one particle.
static inline void add_drop(FloWorld *world, FloMaterialId water, double x, double y, double z,
                            const double v[3]) {
  FloError error;
  size_t n;
  FloFluidDef def = flo_default_fluid_def();
  double s = world->def.spacing;
  def.material = water, def.shape = box_shape(s, s, world->def.dim == 3 ? s : 0), def.pose = pose_at(x, y, z);
  vec_copy(v, def.velocity);
  assert_ok(flo_world_add_fluid(world, &def, &n, &error), &error);
  assert_int_equal(n, 1);
}

static inline void velocity_at(const FloWorld *world, size_t i, double v[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(v, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
}

static inline double difference(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(a, b, d);
  return vec_length(d);
}

// A ball that plunges into a pool, with all that a condition may have.
static inline FloWorld *plunge(int dim, int threads, double slip, double density) {
  FloWorldDef def = forcing_def(dim, true);
  def.threads = threads;
  FloWorld *world = create_world(&def);
  double s = def.spacing, low[3] = {0}, high[3] = {16 * s, dim == 3 ? 12 * s : 10 * s, dim == 3 ? 8 * s : 0};
  add_tank(world, dim, high[0], dim == 3 ? high[1] : 30 * s, 30 * s);
  add_block(world, add_water(world), low, high);
  FloBodyDef body = flo_default_body_def();
  body.kind = FLO_BODY_DYNAMIC, body.density = density, body.slip = slip, body.restitution = 0.2;
  body.shape = dim == 3 ? box_shape(6 * s, 5 * s, 4 * s) : box_shape(6 * s, 4 * s, 0);
  body.pose = dim == 3 ? pose_at(8 * s, 6 * s, 10.6 * s) : pose_at(8 * s, 12.6 * s, 0);
  quat_from_axis_angle((const double[3]){0, 0, 1}, 0.3, body.pose.rotation);
  vec_set(body.velocity, 0.2, dim == 3 ? 0 : -1, dim == 3 ? -1 : 0);
  body.angular_velocity[2] = 2;
  add_body(world, &body);
  return world;
}

// Two plates that sink with more followers than fit into a group, which are only told apart by sorting. All
// is `width` times as wide.
static inline FloWorld *sink_two(int threads, double response, double slip, double width) {
  FloWorldDef def = forcing_def(3, true);
  def.threads = threads;
  FloWorld *world = create_world(&def);
  double s = def.spacing, w = width * s, low[3] = {0}, high[3] = {16 * w, 12 * w, 9 * s};
  set_param(world, "response", response);
  add_tank(world, 3, high[0], high[1], 20 * s);
  FloBodyDef body = flo_default_body_def();
  body.kind = FLO_BODY_DYNAMIC, body.density = 700, body.slip = slip;
  body.shape = box_shape(8 * w, 9 * w, 2 * s), body.pose = pose_at(5.5 * w, 6 * w, 5 * s);
  body.velocity[2] = -1, body.angular_velocity[0] = 1;
  add_body(world, &body);
  body.density = 3000, body.slip = 1 - slip, body.shape = box_shape(3 * w, 4 * w, 3 * s);
  body.pose = pose_at(12.5 * w, 6 * w, 5 * s), body.locks[0] = body.turn_locks[1] = true;
  add_body(world, &body);
  add_block(world, add_water(world), low, high);
  return world;
}

#endif
