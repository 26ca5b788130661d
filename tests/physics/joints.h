// Jointed bodies without fluid: what the tests of joints share.
#ifndef FLO_TEST_JOINTS_H
#define FLO_TEST_JOINTS_H

#include "dry.h"
#include "support/reference_file.h"

// A ball with any mass and inertia about its own axes, without friction.
static inline FloBodyDef mass_def(double mass, const double inertia[3], const double at[3]) {
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, ball_shape(0.3), pose_at(at[0], at[1], at[2]), 0);
  def.mass = mass;
  for (int k = 0; k < 3; ++k) def.inertia[k] = inertia[k];
  return def;
}

static inline FloJointDef joint_def(FloJointKind kind, FloBodyId body, const double at[3],
                                    const double axis[3]) {
  FloJointDef def = flo_default_joint_def();
  def.kind = kind, def.body = body, def.name = flo_joint_kind_name(kind);
  vec_copy(at, def.at);
  if (axis) vec_copy(axis, def.axis);
  return def;
}

static inline FloJointId add_joint(FloWorld *world, FloJointDef def) {
  FloError error;
  FloJointId id;
  must(flo_world_add_joint(world, &def, &id, &error), &error);
  return id;
}

static inline FloJointState joint_of(const FloWorld *world, FloJointId id) {
  FloError error;
  FloJointState state;
  must(flo_world_joint_state(world, id, &state, &error), &error);
  return state;
}

static inline void one_step(FloWorld *world) {
  FloError error;
  must(flo_world_step(world, NULL, &error), &error);
}

#define V3(x, y, z) ((const double[3]){x, y, z})

// A file of the folder `joints` of the reference data; NULL: it is not at hand.
static inline FILE *open_reference(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "joints/%s", name);
  return reference_open(path);
}

#endif
