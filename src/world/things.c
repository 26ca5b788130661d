// What is in a world: lists of ids, things by name, what does not change in each step, contacts.
#include "base/vecmath.h"
#include "bodies/soft_body.h"
#include "flotsam/query.h"
#include "world/world.h"

#include <string.h>

// ---- Lists ----

// Writes the ids of all things for which `is_there` holds, as far as there is room; returns their number.
#define LIST_IDS(n, is_there, id)                                                                            \
  size_t n_ids = 0;                                                                                          \
  for (size_t k = 0; k < (n); ++k) {                                                                         \
    if (!(is_there)) continue;                                                                               \
    if (ids && n_ids < capacity) ids[n_ids] = (id);                                                          \
    ++n_ids;                                                                                                 \
  }                                                                                                          \
  return n_ids

size_t flo_world_list_bodies(const FloWorld *world, FloBodyId *ids, size_t capacity) {
  if (!world) return 0;
  LIST_IDS(world->bodies.count, !flo_body_is_removed(&flo_bodies(world)[k]), flo_world_body_id(world, k));
}

size_t flo_world_list_joints(const FloWorld *world, FloJointId *ids, size_t capacity) {
  if (!world) return 0;
  LIST_IDS(world->joints.list.count, !flo_joint_list(&world->joints)[k].is_removed,
           ((FloJointId){(uint16_t)k, 1}));
}

size_t flo_world_list_materials(const FloWorld *world, FloMaterialId *ids, size_t capacity) {
  if (!world) return 0;
  LIST_IDS(world->materials.count, !flo_materials(world)[k].is_removed, ((FloMaterialId){(uint16_t)k, 1}));
}

size_t flo_world_list_emitters(const FloWorld *world, FloEmitterId *ids, size_t capacity) {
  if (!world) return 0;
  LIST_IDS(world->emitters.count, flo_emitters(world)[k].is_alive,
           ((FloEmitterId){(uint16_t)k, flo_emitters(world)[k].generation}));
}

size_t flo_world_list_sinks(const FloWorld *world, FloSinkId *ids, size_t capacity) {
  if (!world) return 0;
  LIST_IDS(world->sinks.count, flo_sinks(world)[k].is_alive,
           ((FloSinkId){(uint16_t)k, flo_sinks(world)[k].generation}));
}

// ---- By name ----

// Arguments of a search by name.
static FloStatus check_search(const FloWorld *world, const char *name, const void *id, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(name, error);
  FLO_NEED(id, error);
  return FLO_OK;
}

static FloStatus fail_name(const char *what, const char *name, FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT, "%s: there is none called '%s'", what, name);
}

FloStatus flo_world_find_body(const FloWorld *world, const char *name, FloBodyId *id, FloError *error) {
  FLO_TRY(check_search(world, name, id, error));
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (!flo_body_is_removed(&flo_bodies(world)[k]) && !strcmp(flo_bodies(world)[k].name, name))
      return *id = flo_world_body_id(world, k), FLO_OK;
  return fail_name("body", name, error);
}

FloStatus flo_world_find_joint(const FloWorld *world, const char *name, FloJointId *id, FloError *error) {
  FLO_TRY(check_search(world, name, id, error));
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    if (!joint->is_removed && !strcmp(joint->name, name)) return *id = (FloJointId){(uint16_t)k, 1}, FLO_OK;
  }
  return fail_name("joint", name, error);
}

FloStatus flo_world_find_material(const FloWorld *world, const char *name, FloMaterialId *id,
                                  FloError *error) {
  FLO_TRY(check_search(world, name, id, error));
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *material = &flo_materials(world)[k];
    if (!material->is_removed && !strcmp(material->name, name))
      return *id = (FloMaterialId){(uint16_t)k, 1}, FLO_OK;
  }
  return fail_name("material", name, error);
}

// ---- About one thing ----

static void describe_mass(const FloBody *body, FloBodyInfo *info) {
  static const int places[6] = {0, 4, 8, 1, 5, 2}; // xx, yy, zz, xy, yz, zx in a matrix of three rows
  vec_copy(body->state.pose.position, info->centre);
  for (size_t k = 0; k < body->n_nodes; ++k) info->mass += body->nodes[k].mass;
  if (!flo_body_is_pushed(body)) return;
  info->is_held = body->nodes[0].is_held;
  if (flo_body_is_soft(body)) return;
  vec_copy(body->nodes->position, info->centre);
  for (int k = 0; k < 6; ++k) info->inertia[k] = body->nodes->inertia[places[k]];
}

static FloBodyKind number_of(const FloKind *kind) {
  for (FloBodyKind number = FLO_BODY_STATIC; number < FLO_BODY_ELASTIC; ++number)
    if (flo_kind_of(number) == kind) return number;
  return FLO_BODY_ELASTIC;
}

FloStatus flo_world_body_info(const FloWorld *world, FloBodyId id, FloBodyInfo *info, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(info, error);
  *info = (FloBodyInfo){.name = body->name,
                        .kind = number_of(body->kind),
                        .material = body->given.material,
                        .filter = body->filter,
                        .user_data = body->user_data,
                        .reach = body->reach,
                        .n_samples = body->count,
                        .n_displaced = body->n_displaced};
  describe_mass(body, info);
  return FLO_OK;
}

static FloBodyId id_of_side(const FloWorld *world, const FloJointSide *side) {
  return side->body == UINT32_MAX ? (FloBodyId){0} : flo_world_body_id(world, side->body);
}

FloStatus flo_world_joint_info(const FloWorld *world, FloJointId id, FloJointInfo *info, FloError *error) {
  FloJoint *joint;
  FLO_TRY(flo_world_need_joint(world, id, &joint, error));
  FLO_NEED(info, error);
  *info = (FloJointInfo){.name = joint->name,
                         .kind = joint->form->kind,
                         .body = id_of_side(world, &joint->sides[1]),
                         .to = id_of_side(world, &joint->sides[0]),
                         .user_data = joint->user_data};
  return FLO_OK;
}

FloStatus flo_world_material_info(const FloWorld *world, FloMaterialId id, FloMaterialDef *info,
                                  FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(info, error);
  FLO_TRY(flo_world_check_material(world, id, error));
  const FloMaterial *m = &flo_materials(world)[id.index];
  *info = (FloMaterialDef){.name = m->name,
                           .density = m->density,
                           .viscosity = m->viscosity,
                           .wall_viscosity = m->wall_viscosity,
                           .friction = m->friction,
                           .surface_tension = m->surface_tension,
                           .adhesion = m->adhesion,
                           .contact_angle = m->contact_angle,
                           .slip = m->slip,
                           .restitution = m->restitution};
  return FLO_OK;
}

FloStatus flo_world_body_mesh(const FloWorld *world, FloBodyId id, FloBodyMesh *mesh, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(mesh, error);
  if (!body->kind->vertices)
    return flo_fail(error, FLO_UNSUPPORTED,
                    "mesh: '%s' keeps its shape; its surface is that of its shape in its pose", body->name);
  *mesh = (FloBodyMesh){0};
  mesh->vertices = body->kind->vertices(body, &mesh->n_vertices);
  mesh->triangles = body->kind->triangles(body, &mesh->n_triangles);
  return FLO_OK;
}

static const FloNode *nearest_node(const FloWorld *world, const FloBody *body, const double x[3]) {
  const FloNode *nearest = body->nodes;
  double least = INFINITY, way[3];
  for (size_t k = 0; k < body->n_nodes; ++k) {
    flo_domain_between(&world->domain, body->nodes[k].position, x, way);
    if (vec_dot(way, way) < least) least = vec_dot(way, way), nearest = &body->nodes[k];
  }
  return nearest;
}

FloStatus flo_world_body_velocity_at(const FloWorld *world, FloBodyId id, const double point[3],
                                     double velocity[3], FloError *error) {
  FloBody *body;
  double arm[3], turn[3];
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_TRY(flo_world_check_vector(world, point, "point", error));
  FLO_NEED(velocity, error);
  if (flo_body_is_soft(body)) {
    vec_copy(nearest_node(world, body, point)->velocity, velocity);
    return FLO_OK;
  }
  flo_domain_between(&world->domain, body->state.pose.position, point, arm);
  vec_cross(body->state.angular_velocity, arm, turn);
  vec_add(body->state.velocity, turn, velocity);
  return FLO_OK;
}

// ---- Contacts ----

static bool is_pressing(const FloContactPoint *point) {
  return vec_length(point->push) > 0 && vec_length(point->normal) > 0;
}

static FloContactInfo describe_contact(const FloWorld *world, const FloContactPoint *point) {
  FloContactInfo info = {.body = flo_world_body_id(world, point->body),
                         .other = flo_world_body_id(world, point->other),
                         .gap = point->gap};
  vec_copy(point->x, info.point);
  vec_copy(point->normal, info.normal);
  vec_copy(point->push, info.impulse);
  return info;
}

size_t flo_world_list_contacts(const FloWorld *world, FloContactInfo *contacts, size_t capacity) {
  if (!world || !flo_world_has_step_state(world)) return 0;
  size_t n = 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (!is_pressing(point)) continue;
    if (contacts && n < capacity) contacts[n] = describe_contact(world, point);
    ++n;
  }
  return n;
}
