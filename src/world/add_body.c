// Adding bodies to a world.
#include "base/pose.h"
#include "coupling/coupling.h"
#include "world/world.h"

#include <stdio.h>
#include <string.h>

// ---- Creation ----

// NULL: it has none.
static const FloMaterial *material_of(const FloWorld *world, const FloBodyDef *def) {
  return def->material.generation ? &flo_materials(world)[def->material.index] : NULL;
}

FloStatus flo_world_make_kind(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  const FloMaterial *material = material_of(world, def);
  FloBodyMaking making = {.dim = world->def.dim,
                          .time = world->time,
                          .density = def->density == 0 && material ? material->density : def->density,
                          .spacing = world->def.spacing,
                          .sheet_volume = flo_world_sheet_volume(world, body->sampling),
                          .bodies = flo_bodies(world),
                          .n_bodies = world->bodies.count,
                          .threads = world->threads,
                          .memory = &world->memory};
  if (body->kind->size) {
    body->own = flo_memory_allocate(&world->memory, body->kind->size);
    if (!body->own) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a body");
    memset(body->own, 0, body->kind->size);
  }
  return body->kind->make(body, def, &making, error);
}

static FloStatus list_nodes(FloWorld *world, const FloBody *body, FloError *error) {
  for (size_t k = 0; k < body->n_nodes; ++k) {
    FloNodeRef ref = {(uint32_t)world->bodies.count, (uint32_t)k};
    FLO_TRY(flo_list_append(&world->memory, &world->nodes, &ref, sizeof ref, error));
  }
  return FLO_OK;
}

// "method 'a' or 'b'": the methods that can move a kind.
static void name_movers(const FloKind *kind, char text[128]) {
  size_t length = (size_t)snprintf(text, 128, "method");
  bool is_first = true;
  for (size_t k = 0; k < flo_method_count() && length < 128; ++k) {
    const FloMethod *method = flo_coupling_find(flo_method_name(k));
    if (method->moves == FLO_MOVES_NONE || (kind->has_contacts && method->moves != FLO_MOVES_ALL)) continue;
    if ((kind->respond || kind->carry) && !method->moves_pieces) continue;
    length += (size_t)snprintf(text + length, 128 - length, "%s '%s'", is_first ? "" : " or", method->name);
    is_first = false;
  }
}

// Fluid where the new body is: see FloInFluid.
static FloStatus displace_fluid(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  const size_t n = world->sets[FLO_SET_FLUID].count;
  if (body->is_thin) return FLO_OK;
  for (size_t i = 0; i < n; ++i) body->n_displaced += flo_world_is_fluid_in(world, i, body);
  if (body->n_displaced == 0) return FLO_OK;
  if (def->in_fluid == FLO_IN_FLUID_REFUSES)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "body: '%s' would be where %zu fluid particles are; put it elsewhere, or have them removed",
        body->name, body->n_displaced);
  if (def->in_fluid == FLO_IN_FLUID_REMOVED)
    return flo_world_remove_fluid_if(world, flo_world_is_fluid_in, body, &body->n_displaced, error);
  flo_world_log(world, FLO_LOG_WARNING,
                "'%s' was added where %zu fluid particles are: they will leave it with violence; have them "
                "removed (in_fluid), or add the body first",
                body->name, body->n_displaced);
  return FLO_OK;
}

static FloStatus make_body(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  FLO_TRY(flo_body_set_friction(body, def, &world->memory, error));
  FLO_TRY(flo_world_make_skin(world, def, body, error));
  FLO_TRY(flo_world_make_kind(world, def, body, error));
  bool is_one_piece = body->n_nodes <= 1 && !body->kind->vertices;
  if (!is_one_piece && !world->method->moves_pieces) {
    char movers[128];
    name_movers(body->kind, movers);
    return flo_fail(error, FLO_UNSUPPORTED,
                    "body: method '%s' moves only bodies of one piece that keep their shape; use %s",
                    world->method->name, movers);
  }
  FLO_TRY(flo_world_describe_skin(world, body, error));
  FLO_TRY(list_nodes(world, body, error));
  FLO_TRY(displace_fluid(world, def, body, error));
  return flo_world_append(world, &world->bodies, body, sizeof *body, error);
}

void flo_world_discard_body(FloWorld *world, FloBody *body) {
  FloMemory *memory = &world->memory;
  if (body->own && body->kind->discard) body->kind->discard(body, memory);
  flo_memory_release(memory, body->own, body->kind->size);
  flo_body_free_surface(body, memory);
}

void flo_world_free_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) flo_world_discard_body(world, &flo_bodies(world)[k]);
}

// ---- Checks ----

static bool has_operator(const FloMethod *method, FloSet rows, FloSet columns) {
  for (size_t k = 0; k < method->n_operators; ++k)
    if (method->operators[k].rows == rows && method->operators[k].columns == columns) return true;
  return false;
}

// A kind that forces move needs a method that can, and that looks at the set of its samples.
FloStatus flo_world_check_mover(const FloWorld *world, const FloKind *kind, FloError *error) {
  FloMoves needed = kind->has_contacts ? FLO_MOVES_ALL : FLO_MOVES_ALONE;
  char movers[128];
  if (!has_operator(world->method, FLO_SET_FLUID, kind->set))
    return flo_fail(error, FLO_UNSUPPORTED, "body: method '%s' knows no bodies of the kind '%s'",
                    world->method->name, kind->name);
  if (!kind->push) return FLO_OK;
  FLO_ASSERT(kind->kick && kind->move && kind->mark && kind->rewind);
  if (world->method->moves >= needed) return FLO_OK;
  name_movers(kind, movers);
  return flo_fail(error, FLO_UNSUPPORTED, "body: method '%s' knows no bodies that are pushed around; use %s",
                  world->method->name, movers);
}

static FloStatus check_body(const FloWorld *world, const FloKind *kind, const FloBodyDef *def,
                            FloError *error) {
  if ((unsigned)def->in_fluid > FLO_IN_FLUID_REFUSES)
    return flo_fail(error, FLO_BAD_INPUT, "in_fluid: unknown number %d", (int)def->in_fluid);
  if (def->n_motions && !kind->follow)
    return flo_fail(error, FLO_BAD_INPUT, "motions: only a kinematic body can have them");
  if (def->material.generation) FLO_TRY(flo_world_check_material(world, def->material, error));
  if (!(def->inset >= 0 && def->inset <= world->def.spacing))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "inset: must lie between 0 and one spacing (%g m), got %g m; deeper samples would let fluid "
        "in",
        world->def.spacing, def->inset);
  if (def->sampling != 0 && !(def->sampling >= FLO_FINEST_SAMPLING && def->sampling <= FLO_COARSEST_SAMPLING))
    return flo_fail(error, FLO_BAD_INPUT, "sampling: samples must be %g to %g spacings apart, got %g; %s",
                    FLO_FINEST_SAMPLING, FLO_COARSEST_SAMPLING, def->sampling,
                    def->sampling > FLO_COARSEST_SAMPLING ? "coarser surfaces are rough"
                                                          : "finer ones cost much and gain nothing");
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
  if (def->kind != FLO_BODY_CLOTH) FLO_TRY(flo_shape_check_solid(&def->shape, error));
  return flo_pose_check(&def->pose, world->def.dim, "pose", error);
}

static FloBody describe_body(const FloWorld *world, const FloKind *kind, const FloBodyDef *def) {
  FloBody body = {.kind = kind,
                  .start = def->pose,
                  .release = def->release,
                  .averages_force = def->averages_force,
                  .first_node = world->nodes.count,
                  .generation = 1,
                  .given = *def,
                  .filter = def->filter,
                  .user_data = def->user_data};
  // What its pointers show may be gone later.
  body.given.name = NULL, body.given.motions = NULL, body.given.pins = NULL;
  body.given.friction_changes = NULL, body.given.shape = (FloShape){.kind = def->shape.kind};
  snprintf(body.name, sizeof body.name, "%s", def->name ? def->name : "");
  return body;
}

FloStatus flo_world_add_body_of(FloWorld *world, const FloKind *kind, const FloBodyDef *def, FloBodyId *id,
                                FloError *error) {
  FLO_TRY(flo_world_check_mover(world, kind, error));
  FLO_TRY(check_body(world, kind, def, error));
  FloBody body = describe_body(world, kind, def);
  FLO_TRY(flo_contact_angle_check(def->contact_angle, error));
  FLO_TRY(flo_body_set_surface(&body, def, material_of(world, def), error));
  FLO_TRY(flo_world_find_solid(world, &def->shape, &body.solid, error));
  body.reach = flo_solid_reach(body.solid);
  size_t n_samples = world->sets[kind->set].count;
  uint32_t next_id = world->next_id[kind->set];
  FloStatus status = make_body(world, def, &body, error);
  if (status != FLO_OK) {
    // If a body cannot be made, everything is as before.
    flo_world_discard_body(world, &body);
    world->sets[kind->set].count = n_samples;
    world->nodes.count = body.first_node;
    world->next_id[kind->set] = next_id;
    return status;
  }
  flo_epoch_note(world, &world->epochs.walls);
  flo_world_note_added(world);
  flo_world_look_at_filters(world);
  world->joints.is_built = false;
  if (id) *id = flo_world_body_id(world, world->bodies.count - 1);
  return FLO_OK;
}

FloStatus flo_world_add_body(FloWorld *world, const FloBodyDef *def, FloBodyId *id, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  const FloKind *kind = flo_kind_of(def->kind);
  if (!kind) return flo_fail(error, FLO_BAD_INPUT, "body: unknown kind %d", (int)def->kind);
  return flo_world_add_body_of(world, kind, def, id, error);
}
