#include "world/save_settings.h"

#include "base/vecmath.h"

#include <string.h>

// ---- Which things there are. A state cannot bring them back ----

// Of a body: its generation, or 0 if it was removed, its kind, and how often it became another kind.
enum { PER_BODY = 3, PER_FILTER = 2, PER_FLOW = 2 };

static double kind_number(const FloBody *body) {
  for (FloBodyKind number = FLO_BODY_STATIC; number <= FLO_BODY_ELASTIC; ++number)
    if (flo_kind_of(number) == body->kind) return number;
  return -1;
}

static void tell_body(const FloBody *body, double entry[PER_BODY]) {
  entry[0] = flo_body_is_removed(body) ? 0 : body->generation;
  entry[1] = flo_body_is_removed(body) ? 0 : kind_number(body);
  entry[2] = body->n_conversions;
}

static FloStatus save_things(const FloWorld *world, FloState *state, FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, "there/bodies", FLO_TYPE_F64, PER_BODY * world->bodies.count, &data, error));
  for (size_t k = 0; k < world->bodies.count; ++k)
    tell_body(&flo_bodies(world)[k], (double *)data + PER_BODY * k);
  FLO_TRY(flo_state_add(state, "there/joints", FLO_TYPE_F64, world->joints.list.count, &data, error));
  for (size_t k = 0; k < world->joints.list.count; ++k)
    ((double *)data)[k] = !flo_joint_list(&world->joints)[k].is_removed;
  FLO_TRY(flo_state_add(state, "there/materials", FLO_TYPE_F64, world->materials.count, &data, error));
  for (size_t k = 0; k < world->materials.count; ++k)
    ((double *)data)[k] = !flo_materials(world)[k].is_removed;
  return FLO_OK;
}

static FloStatus fail_thing(const char *what, size_t k, const char *name, FloError *error) {
  return flo_fail(
      error, FLO_BAD_INPUT,
      "state: %s %zu ('%s') was removed, or had another kind, either there or here; a state cannot "
      "bring things back, so save after removing",
      what, k, name);
}

static FloStatus check_bodies(const FloWorld *world, const FloState *state, FloError *error) {
  FLO_TRY(flo_state_need(state, "there/bodies", FLO_TYPE_F64, PER_BODY * world->bodies.count, error));
  const double *there = flo_state_find(state, "there/bodies")->buffer.data;
  for (size_t k = 0; k < world->bodies.count; ++k, there += PER_BODY) {
    double here[PER_BODY];
    tell_body(&flo_bodies(world)[k], here);
    if (memcmp(here, there, sizeof here) != 0) return fail_thing("body", k, flo_bodies(world)[k].name, error);
  }
  return FLO_OK;
}

static FloStatus check_joints(const FloWorld *world, const FloState *state, FloError *error) {
  FLO_TRY(flo_state_need(state, "there/joints", FLO_TYPE_F64, world->joints.list.count, error));
  const double *there = flo_state_find(state, "there/joints")->buffer.data;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    if (joint->is_removed != (there[k] == 0)) return fail_thing("joint", k, joint->name, error);
  }
  return FLO_OK;
}

static FloStatus check_materials(const FloWorld *world, const FloState *state, FloError *error) {
  FLO_TRY(flo_state_need(state, "there/materials", FLO_TYPE_F64, world->materials.count, error));
  const double *there = flo_state_find(state, "there/materials")->buffer.data;
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *material = &flo_materials(world)[k];
    if (material->is_removed != (there[k] == 0)) return fail_thing("material", k, material->name, error);
  }
  return FLO_OK;
}

// ---- Gravity, filters, speeds of emitters ----

static FloStatus save_filters(const FloWorld *world, FloState *state, FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, "set/filters", FLO_TYPE_F64, PER_FILTER * world->bodies.count, &data, error));
  double *at = data;
  for (size_t k = 0; k < world->bodies.count; ++k)
    *at++ = flo_bodies(world)[k].filter.category, *at++ = flo_bodies(world)[k].filter.mask;
  return FLO_OK;
}

static FloStatus save_flows(const FloWorld *world, FloState *state, FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, "set/flows", FLO_TYPE_F64, PER_FLOW * world->emitters.count, &data, error));
  double *at = data;
  for (size_t k = 0; k < world->emitters.count; ++k)
    *at++ = flo_emitters(world)[k].def.start, *at++ = flo_emitters(world)[k].def.speed;
  return FLO_OK;
}

FloStatus flo_save_settings(const FloWorld *world, FloState *state, FloError *error) {
  FLO_TRY(save_things(world, state, error));
  FLO_TRY(flo_state_add_copy(state, "set/gravity", FLO_TYPE_F64, 3, world->def.gravity, error));
  FLO_TRY(save_filters(world, state, error));
  return save_flows(world, state, error);
}

FloStatus flo_check_settings(const FloWorld *world, const FloState *state, FloError *error) {
  const double much = FLO_STATE_MUCH;
  if (!flo_state_find(state, "there/bodies")) return FLO_OK;
  FLO_TRY(check_bodies(world, state, error));
  FLO_TRY(check_joints(world, state, error));
  FLO_TRY(check_materials(world, state, error));
  FLO_TRY(flo_state_check_numbers(state, "set/gravity", 3, -much, much, error));
  FLO_TRY(
      flo_state_check_numbers(state, "set/filters", PER_FILTER * world->bodies.count, 0, UINT32_MAX, error));
  FLO_TRY(flo_state_check_numbers(state, "set/flows", PER_FLOW * world->emitters.count, -much, much, error));
  const double *flows = flo_state_find(state, "set/flows")->buffer.data;
  for (size_t k = 0; k < world->emitters.count; ++k)
    if (!(flows[PER_FLOW * k + 1] > 0))
      return flo_fail(error, FLO_BAD_INPUT, "state: the speed of emitter %zu is %g, not above 0", k,
                      flows[PER_FLOW * k + 1]);
  return FLO_OK;
}

void flo_restore_settings(FloWorld *world, const FloState *state) {
  if (!flo_state_find(state, "there/bodies")) return;
  const double *filters = flo_state_find(state, "set/filters")->buffer.data,
               *flows = flo_state_find(state, "set/flows")->buffer.data;
  vec_copy(flo_state_find(state, "set/gravity")->buffer.data, world->def.gravity);
  for (size_t k = 0; k < world->bodies.count; ++k, filters += PER_FILTER)
    flo_bodies(world)[k].filter = (FloFilter){(uint32_t)filters[0], (uint32_t)filters[1]};
  for (size_t k = 0; k < world->emitters.count; ++k, flows += PER_FLOW)
    flo_emitters(world)[k].def.start = flows[0], flo_emitters(world)[k].def.speed = flows[1];
  flo_world_look_at_filters(world);
}
