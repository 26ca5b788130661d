// Arguments of public functions: ids of things that are not there, vectors that are not finite.
#include "base/vecmath.h"
#include "world/world.h"

FloBody *flo_world_body_at(const FloWorld *world, FloBodyId id) {
  if (!world || id.index >= world->bodies.count) return NULL;
  FloBody *body = &flo_bodies(world)[id.index];
  return body->generation == id.generation && !flo_body_is_removed(body) ? body : NULL;
}

FloJoint *flo_world_joint_at(const FloWorld *world, FloJointId id) {
  if (!world || id.generation != 1 || id.index >= world->joints.list.count) return NULL;
  FloJoint *joint = &flo_joint_list(&world->joints)[id.index];
  return joint->is_removed ? NULL : joint;
}

FloEmitter *flo_world_emitter_at(const FloWorld *world, FloEmitterId id) {
  if (!world || id.index >= world->emitters.count) return NULL;
  FloEmitter *emitter = &flo_emitters(world)[id.index];
  return emitter->is_alive && emitter->generation == id.generation ? emitter : NULL;
}

FloStatus flo_world_need_body(const FloWorld *world, FloBodyId id, FloBody **body, FloError *error) {
  FLO_NEED(world, error);
  *body = flo_world_body_at(world, id);
  if (*body) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "body: no such id (%u, %u); it was removed, or belongs to another world", id.index,
                  id.generation);
}

FloStatus flo_world_need_joint(const FloWorld *world, FloJointId id, FloJoint **joint, FloError *error) {
  FLO_NEED(world, error);
  *joint = flo_world_joint_at(world, id);
  if (*joint) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "joint: no such id (%u, %u); it was removed, or belongs to another world", id.index,
                  id.generation);
}

static FloStatus check_finite(const double vector[3], const char *what, FloError *error) {
  if (!vector) return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed", what);
  if (vec_is_finite(vector)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: (%g, %g, %g) is not finite", what, vector[0], vector[1],
                  vector[2]);
}

FloStatus flo_world_check_vector(const FloWorld *world, const double vector[3], const char *what,
                                 FloError *error) {
  FLO_NEED(world, error);
  FLO_TRY(check_finite(vector, what, error));
  if (world->def.dim == 3 || vector[2] == 0) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: in two dimensions its z part must be 0, got %g", what,
                  vector[2]);
}

FloStatus flo_world_check_turn(const FloWorld *world, const double vector[3], const char *what,
                               FloError *error) {
  FLO_NEED(world, error);
  FLO_TRY(check_finite(vector, what, error));
  if (world->def.dim == 3 || (vector[0] == 0 && vector[1] == 0)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: in two dimensions things turn about z only, got (%g, %g, %g)",
                  what, vector[0], vector[1], vector[2]);
}
