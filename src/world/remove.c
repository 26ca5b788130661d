// Removing things from a world, and making bodies another kind.
//
// The place of a removed body stays empty, so that samples, joints, pins and contacts, which know bodies by
// their numbers, need no change. The samples of all bodies stay in the order of the bodies.
#include "base/pose.h"
#include "bodies/soft_body.h"
#include "flotsam/control.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

// ---- The order of samples and nodes ----

// Room for flo_world_arrange, which then cannot fail.
static FloStatus reserve_order(FloWorld *world, FloSet set, FloError *error) {
  FloParticles *samples = &world->sets[set];
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->scratch, samples->count * sizeof(uint32_t), 0, error));
  return flo_buffer_reserve(samples->memory, &samples->shadow, samples->capacity * sizeof(double), 0, error);
}

// The samples of each body of the set follow each other, in the order of the bodies. All others are dropped.
static void arrange(FloWorld *world, FloSet set) {
  FloParticles *samples = &world->sets[set];
  uint32_t *order = world->scratch.data;
  size_t n = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (body->kind->set != set) continue;
    for (size_t i = 0; i < body->count; ++i) order[n + i] = (uint32_t)(body->first + i);
    body->first = n, n += body->count;
  }
  FloStatus status = samples->count ? flo_particles_permute(samples, order, n, world->threads, NULL) : FLO_OK;
  FLO_ASSERT(status == FLO_OK);
}

// Numbers all nodes anew. There must be room for them. Contacts of soft bodies are known by these numbers, so
// that nothing is kept of contacts if there are any.
static void number_nodes(FloWorld *world) {
  size_t n = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    body->first_node = n;
    for (size_t node = 0; node < body->n_nodes; ++node)
      FLO_LIST(world->nodes, FloNodeRef)[n++] = (FloNodeRef){(uint32_t)k, (uint32_t)node};
    if (flo_body_is_soft(body)) world->body_contacts.points.count = 0;
  }
  world->nodes.count = n;
}

static void note_changed(FloWorld *world) {
  flo_joints_note_change(&world->joints);
  world->meetings.n_bodies = SIZE_MAX; // finds the features of soft bodies again
  flo_epoch_note(world, &world->epochs.walls);
  flo_epoch_note(world, &world->epochs.fixed);
  flo_world_note_added(world);
}

// ---- Bodies ----

static void remove_joints_of(FloWorld *world, uint32_t body) {
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    FloJoint *joint = &flo_joint_list(&world->joints)[k];
    if (!joint->form->is_gear && (joint->sides[0].body == body || joint->sides[1].body == body))
      flo_world_drop_joint(joint);
  }
}

static void remove_pins_to(FloWorld *world, uint32_t number) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_soft(body) && body->kind->soft_state) flo_soft_body_leave(body, number);
  }
}

FloStatus flo_world_remove_body(FloWorld *world, FloBodyId id, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  const FloSet set = body->kind->set;
  FLO_TRY(reserve_order(world, set, error));
  remove_joints_of(world, id.index);
  remove_pins_to(world, id.index);
  flo_world_forget_contacts_of(world, id.index);
  flo_world_discard_body(world, body);
  *body = (FloBody){.kind = &flo_removed_kind,
                    .solid = body->solid,
                    .start = body->start,
                    .generation = body->generation,
                    .state.pose = flo_pose_identity()};
  arrange(world, set);
  number_nodes(world);
  flo_world_look_at_filters(world);
  note_changed(world);
  return FLO_OK;
}

// ---- Another kind ----

static bool is_held_by_joints(const FloWorld *world, uint32_t body) {
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    if (!joint->is_removed && !joint->form->is_gear &&
        (joint->sides[0].body == body || joint->sides[1].body == body))
      return true;
  }
  return false;
}

static bool is_held_by_pins(const FloWorld *world, uint32_t number) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_soft(body) || !body->kind->soft_state) continue;
    const FloSoftBody *own = flo_soft_body(body);
    for (size_t pin = 0; pin < own->n_pins; ++pin)
      if (own->pins[pin].other == number) return true;
  }
  return false;
}

static FloStatus check_kinds(const FloWorld *world, const FloBody *body, const FloKind *kind,
                             FloError *error) {
  const uint32_t number = (uint32_t)(body - flo_bodies(world));
  if (!kind || kind == &flo_cloth_kind || kind == &flo_elastic_kind || flo_body_is_soft(body))
    return flo_fail(error, FLO_BAD_INPUT,
                    "kind: only static, kinematic and dynamic bodies can become one another");
  if (is_held_by_joints(world, number) || is_held_by_pins(world, number))
    return flo_fail(error, FLO_BAD_INPUT, "kind: joints or pins hold '%s'; remove them first", body->name);
  return flo_world_check_mover(world, kind, error);
}

// Moves the samples of a body to the end of another set. Its place in the old set is dropped later.
static FloStatus copy_samples(FloWorld *world, const FloBody *from, FloBody *to, FloError *error) {
  const FloParticles *old = &world->sets[from->kind->set];
  FloParticles *set = &world->sets[to->kind->set];
  const size_t first = set->count;
  FLO_TRY(flo_particles_add(set, from->count, error));
  void *data, *old_data;
  const FloField *field;
  for (size_t k = 0; (field = flo_particles_field(set, k, &data)); ++k) {
    const FloField *other;
    for (size_t j = 0; (other = flo_particles_field(old, j, &old_data)) && strcmp(other->name, field->name);)
      ++j;
    const size_t size = flo_type_size(field->type);
    if (other && other->is_state)
      memcpy((char *)data + first * size, (char *)old_data + from->first * size, from->count * size);
  }
  for (size_t i = first; i < set->count; ++i) {
    set->id[i] = world->next_id[to->kind->set]++;
    if (set->added) set->added[i] = (float)world->time;
  }
  to->first = first;
  return FLO_OK;
}

// Exchanges what forces move: the data of the kind, and the samples, if the kinds differ in their set.
static FloStatus exchange(FloWorld *world, FloBody *body, FloBody *next, FloError *error) {
  const FloSet from = body->kind->set, to = next->kind->set;
  const FloNodeRef room = {0};
  FLO_TRY(flo_list_append(&world->memory, &world->nodes, &room, sizeof room, error));
  world->nodes.count--;
  FLO_TRY(reserve_order(world, from, error));
  if (from != to) {
    FLO_TRY(copy_samples(world, body, next, error));
    FloStatus status = reserve_order(world, to, error);
    if (status == FLO_OK) status = reserve_order(world, from, error);
    if (status != FLO_OK) {
      world->sets[to].count = next->first;
      return status;
    }
  }
  if (body->own && body->kind->discard) body->kind->discard(body, &world->memory);
  flo_memory_release(&world->memory, body->own, body->kind->size);
  *body = *next;
  arrange(world, from);
  if (from != to) arrange(world, to);
  return FLO_OK;
}

FloStatus flo_world_set_body_kind(FloWorld *world, FloBodyId id, FloBodyKind number, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  const FloKind *kind = flo_kind_of(number);
  FLO_TRY(check_kinds(world, body, kind, error));
  if (kind == body->kind) return FLO_OK;
  FloBody next = *body;
  next.kind = kind, next.own = NULL, next.nodes = NULL, next.n_nodes = 0, next.is_moving = false;
  next.start = body->state.pose, ++next.n_conversions;
  const FloBodyState state = body->state;
  FloBodyDef def = body->given;
  def.kind = number, def.pose = state.pose, def.motions = NULL, def.n_motions = 0;
  FloStatus status = flo_world_make_kind(world, &def, &next, error);
  if (status == FLO_OK) status = exchange(world, body, &next, error);
  if (status != FLO_OK) {
    if (next.own && kind->discard) kind->discard(&next, &world->memory);
    flo_memory_release(&world->memory, next.own, kind->size);
    return status;
  }
  flo_world_keep_motion(body, &state);
  number_nodes(world);
  flo_world_place_samples(world, body);
  flo_world_forget_contacts_of(world, id.index);
  note_changed(world);
  return FLO_OK;
}

// ---- Joints and materials ----

void flo_world_drop_joint(FloJoint *joint) {
  joint->is_removed = true;
  joint->live.is_released = 1;
  joint->live.n_changed = (double)joint->n_changes; // none of them makes it act again
}

FloStatus flo_world_remove_joint(FloWorld *world, FloJointId id, FloError *error) {
  FloJoint *joint;
  FLO_TRY(flo_world_need_joint(world, id, &joint, error));
  flo_world_drop_joint(joint);
  flo_joints_note_change(&world->joints);
  return FLO_OK;
}

static bool has_fluid_of(const FloWorld *world, uint16_t material) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < fluid->count; ++i)
    if (fluid->material[i] == material) return true;
  for (size_t k = 0; k < world->emitters.count; ++k)
    if (flo_emitters(world)[k].is_alive && flo_emitters(world)[k].def.material.index == material) return true;
  return false;
}

static const FloBody *body_of_material(const FloWorld *world, uint16_t material) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    const FloMaterialId id = body->given.material;
    if (!flo_body_is_removed(body) && id.generation && id.index == material) return body;
  }
  return NULL;
}

FloStatus flo_world_remove_material(FloWorld *world, FloMaterialId id, FloError *error) {
  FLO_NEED(world, error);
  FLO_TRY(flo_world_check_material(world, id, error));
  FloMaterial *material = &flo_materials(world)[id.index];
  if (has_fluid_of(world, id.index))
    return flo_fail(error, FLO_BAD_INPUT, "material: there is fluid or an emitter of '%s'; remove it first",
                    material->name);
  const FloBody *body = body_of_material(world, id.index);
  if (body)
    return flo_fail(error, FLO_BAD_INPUT, "material: '%s' is made of '%s'; remove that body first",
                    body->name, material->name);
  material->is_removed = true, material->is_fluid = false;
  return FLO_OK;
}
