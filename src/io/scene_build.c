// Builds the world that a scene describes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "io/scene_steps.h"
#include "state/state.h"

// Returns an error of the library, with its place in the scene added.
static FloStatus at_place(const FloScene *scene, const char *key, size_t index, FloStatus status,
                          const FloError *cause, FloError *error) {
  if (status == FLO_OK) return FLO_OK;
  FloSceneContext context = {.file = scene->path, .error = error, .origins = scene->parts->origins};
  if (key) {
    flo_scene_enter(&context, key);
    flo_scene_enter_index(&context, index);
  }
  return flo_scene_pass_on(&context, status, cause);
}

static FloStatus add_materials(const FloScene *scene, FloWorld *world, FloError *error) {
  struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_materials; k++) {
    FloError cause;
    FloStatus status =
        flo_world_add_material(world, &parts->materials[k].def, &parts->materials[k].id, &cause);
    FLO_TRY(at_place(scene, NULL, k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus set_interfaces(const FloScene *scene, FloWorld *world, FloError *error) {
  const struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_interfaces; k++) {
    const FloSceneInterface *interface = &parts->interfaces[k];
    FloError cause;
    FloStatus status =
        flo_world_set_interface(world, parts->materials[interface->one].id,
                                parts->materials[interface->other].id, interface->tension, &cause);
    FLO_TRY(at_place(scene, "interfaces", k, status, &cause, error));
  }
  return FLO_OK;
}

static bool has_force_probe(const FloScene *scene, size_t body) {
  for (size_t k = 0; k < scene->n_probes; k++) {
    const FloProbe *probe = &scene->probes[k];
    bool is_of_body = probe->kind == FLO_PROBE_FORCE || probe->kind == FLO_PROBE_TORQUE;
    if (is_of_body && (size_t)probe->body == body) return true;
  }
  return false;
}

// Whether a mesh is flat: all of it is in the plane of its largest triangle.
static bool is_flat(const FloMesh *mesh) {
  double normal[3] = {0}, low[3], high[3], size = 0, furthest = 0;
  for (size_t k = 0; k < mesh->n_triangles; k++) {
    double first[3], second[3], cross[3];
    vec_sub(flo_mesh_corner(mesh, k, 1), flo_mesh_corner(mesh, k, 0), first);
    vec_sub(flo_mesh_corner(mesh, k, 2), flo_mesh_corner(mesh, k, 0), second);
    vec_cross(first, second, cross);
    if (vec_length(cross) <= size) continue;
    size = vec_length(cross);
    vec_scale(cross, 1 / size, normal);
  }
  for (size_t k = 0; k < mesh->n_vertices; k++) {
    double away[3];
    vec_sub(flo_mesh_vertex(mesh, k), flo_mesh_vertex(mesh, 0), away);
    furthest = fmax(furthest, fabs(vec_dot(away, normal)));
  }
  flo_mesh_bounds(mesh, low, high);
  vec_sub(low, high, low);
  return furthest <= 1e-9 * vec_length(low);
}

// The library does not know the file of a mesh, so the name is added here. A mesh without volume gets a
// clearer message.
static void name_mesh(const FloScene *scene, const FloShape *shape, FloError *cause) {
  const FloSceneAttachment *a = shape->kind == FLO_SHAPE_MESH ? scene->parts->attachments : NULL;
  while (a && &a->triangles != shape->mesh) a = a->next;
  if (!a) return;
  char text[sizeof cause->text];
  bool has_no_volume = strstr(cause->text, "the mesh is open and has no volume") != NULL;
  snprintf(text, sizeof text, "%s",
           has_no_volume && is_flat(&a->mesh)
               ? "mass: the mesh is flat and has no volume of its own; give it a thickness"
               : cause->text);
  snprintf(cause->text, sizeof cause->text, "mesh %.300s: %.600s", a->text, text);
}

// What the world's ids are needed for.
static void complete_body(const FloScene *scene, FloSceneBody *body) {
  FloPinDef *pins = (FloPinDef *)body->def.pins;
  if (flo_scene_is_body(body) && body->material != FLO_NO_MATERIAL)
    body->def.material = scene->parts->materials[body->material].id;
  for (size_t k = 0; k < body->def.n_pins; k++)
    if (body->pins[k].has_to) pins[k].to = scene->bodies[body->pins[k].to].id;
}

static FloStatus add_bodies(FloScene *scene, FloWorld *world, FloError *error) {
  for (size_t k = 0; k < scene->n_bodies; k++) {
    FloError cause;
    FloSceneBody *body = &scene->bodies[k];
    bool is_dynamic = flo_scene_is_body(body);
    FloSet set = is_dynamic ? FLO_SET_RIGID : FLO_SET_BOUNDARY;
    size_t before = flo_world_count(world, set);
    complete_body(scene, body);
    body->def.averages_force = has_force_probe(scene, k);
    FloStatus status = flo_world_add_body(world, &body->def, &body->id, &cause);
    if (status != FLO_OK) name_mesh(scene, &body->def.shape, &cause);
    FLO_TRY(at_place(scene, is_dynamic ? "bodies" : "boundaries", body->entry, status, &cause, error));
    body->n_samples = flo_world_count(world, set) - before;
  }
  return FLO_OK;
}

static FloStatus add_joint(FloScene *scene, FloSceneJoint *joint, FloWorld *world, FloError *error) {
  FloJointDef *def = &joint->def;
  if (def->kind == FLO_JOINT_GEAR) {
    for (int k = 0; k < 2; k++) def->joints[k] = scene->joints[joint->of[k]].id;
  } else {
    def->body = scene->bodies[joint->of[1]].id;
    if (joint->has_to) def->to = scene->bodies[joint->of[0]].id;
  }
  return flo_world_add_joint(world, def, &joint->id, error);
}

// If the world refuses a joint, it may be for one of its changes: then the event is to blame. The first
// change that it refuses is found with the world, which is given up anyway.
static FloStatus blame(FloScene *scene, size_t k, FloWorld *world, FloStatus status, const FloError *cause,
                       FloError *error) {
  FloJointDef def = scene->joints[k].def;
  FloError other;
  size_t n = 0;
  for (def.n_changes = 0; n < scene->joints[k].def.n_changes; def.n_changes = ++n)
    if (flo_world_add_joint(world, &def, NULL, &other) != FLO_OK) break;
  if (n == 0) return at_place(scene, "joints", k, status, cause, error);
  return at_place(scene, "events", scene->joints[k].events[n - 1], status, cause, error);
}

static FloStatus add_some(FloScene *scene, bool are_gears, FloWorld *world, FloError *error) {
  FloError cause = {0};
  for (size_t k = 0; k < scene->n_joints; k++) {
    if ((scene->joints[k].def.kind == FLO_JOINT_GEAR) != are_gears) continue;
    FloStatus status = add_joint(scene, &scene->joints[k], world, &cause);
    if (status != FLO_OK) return blame(scene, k, world, status, &cause, error);
  }
  return FLO_OK;
}

static FloStatus add_joints(FloScene *scene, FloWorld *world, FloError *error) {
  FloError cause = {0};
  FLO_TRY(add_some(scene, false, world, error));
  FLO_TRY(add_some(scene, true, world, error));
  FloStatus built = flo_world_build_joints(world, &cause);
  FLO_TRY(at_place(scene, NULL, 0, built, &cause, error));
  FloStatus status = scene->refuses_overlaps ? flo_world_refuse_overlaps(world, &cause) : FLO_OK;
  return at_place(scene, NULL, 0, status, &cause, error);
}

// The body that contains the middle of a fluid, the deepest one; NULL if there is none.
static const FloBody *find_body_around(const FloWorld *world, const FloFluidDef *def) {
  const FloBody *found = NULL;
  double deepest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double distance = flo_world_distance(world, body, def->pose.position);
    if (distance < deepest) deepest = distance, found = body;
  }
  return found;
}

static FloStatus add_fluid(FloScene *scene, FloSceneFluid *fluid, FloWorld *world, FloError *error) {
  fluid->def.material = scene->parts->materials[fluid->material].id;
  FLO_TRY(flo_world_add_fluid(world, &fluid->def, &fluid->n_particles, error));
  if (fluid->n_particles > 0) return FLO_OK;
  const FloBody *body = find_body_around(world, &fluid->def);
  if (body)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "no particle fits in, because '%s' fills the place; move one of them, or make '%s' smaller",
        body->name, body->name);
  return flo_fail(error, FLO_BAD_INPUT,
                  "no particle fits in, because the spacing is %g m or a boundary fills the place; make the "
                  "shape larger, or move it",
                  scene->world.spacing);
}

static FloStatus add_fluids(FloScene *scene, FloWorld *world, FloError *error) {
  for (size_t k = 0; k < scene->parts->n_fluids; k++) {
    FloError cause;
    FloStatus status = add_fluid(scene, &scene->parts->fluids[k], world, &cause);
    FLO_TRY(at_place(scene, "fluids", k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus add_particles(FloScene *scene, FloWorld *world, FloError *error) {
  for (size_t k = 0; k < scene->parts->n_particle_files; k++) {
    const FloSceneParticles *particles = &scene->parts->particles[k];
    const FloParticleFile *file = &particles->file;
    FloError cause;
    FloStatus status = flo_world_add_particles(world, scene->parts->materials[particles->material].id,
                                               file->count, file->positions, file->velocities, &cause);
    FLO_TRY(at_place(scene, "particles", k, status, &cause, error));
  }
  return FLO_OK;
}

// Adds one emitter to the world for every time interval of the scene's emitter.
static FloStatus add_emitter(const FloScene *scene, FloSceneEmitter *emitter, FloWorld *world,
                             FloError *error) {
  FloEmitterDef def = emitter->def;
  def.material = scene->parts->materials[emitter->material].id;
  if (!emitter->spans.list) return flo_world_add_emitter(world, &def, NULL, error);
  for (size_t k = 0; k < emitter->spans.n; k++) {
    def.start = emitter->spans.list[k][0], def.end = emitter->spans.list[k][1];
    FLO_TRY(flo_world_add_emitter(world, &def, NULL, error));
  }
  return FLO_OK;
}

static FloStatus add_sink(const FloSceneSink *sink, FloWorld *world, FloError *error) {
  FloSinkDef def = sink->def;
  if (!sink->spans.list) return flo_world_add_sink(world, &def, NULL, error);
  for (size_t k = 0; k < sink->spans.n; k++) {
    def.start = sink->spans.list[k][0], def.end = sink->spans.list[k][1];
    FLO_TRY(flo_world_add_sink(world, &def, NULL, error));
  }
  return FLO_OK;
}

static FloStatus add_fills(FloScene *scene, FloWorld *world, FloError *error) {
  for (size_t k = 0; k < scene->parts->n_fills; k++) {
    FloSceneFill *fill = &scene->parts->fills[k];
    FloError cause;
    fill->def.material = scene->parts->materials[fill->material].id;
    FloStatus status = flo_world_add_fill(world, &fill->def, &fill->n_particles, &cause);
    FLO_TRY(at_place(scene, "fills", k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus add_openings(FloScene *scene, FloWorld *world, FloError *error) {
  struct FloSceneParts *parts = scene->parts;
  FloError cause;
  for (size_t k = 0; k < parts->n_emitters; k++) {
    FloStatus status = add_emitter(scene, &parts->emitters[k], world, &cause);
    FLO_TRY(at_place(scene, "emitters", k, status, &cause, error));
  }
  for (size_t k = 0; k < parts->n_sinks; k++) {
    FloStatus status = add_sink(&parts->sinks[k], world, &cause);
    FLO_TRY(at_place(scene, "sinks", k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus set_parameters(const FloScene *scene, FloWorld *world, FloError *error) {
  const struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_parameters; k++) {
    FloError cause;
    FloStatus status =
        flo_world_set_param(world, parts->parameters[k].name, parts->parameters[k].value, &cause);
    FLO_TRY(at_place(scene, NULL, 0, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus fill(FloScene *scene, FloWorld *world, FloError *error) {
  FLO_TRY(set_parameters(scene, world, error));
  FLO_TRY(add_materials(scene, world, error));
  FLO_TRY(set_interfaces(scene, world, error));
  FLO_TRY(add_bodies(scene, world, error));
  FLO_TRY(add_joints(scene, world, error));
  // Particles from files are added before other fluid, which leaves room for them.
  FLO_TRY(add_particles(scene, world, error));
  FLO_TRY(add_fluids(scene, world, error));
  FLO_TRY(add_fills(scene, world, error));
  return add_openings(scene, world, error);
}

FloStatus flo_scene_build(FloScene *scene, FloWorld **world, FloError *error) {
  if (!scene || !world)
    return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed", scene ? "world" : "scene");
  *world = NULL;
  scene->next_event = 0;
  FloError cause;
  FloWorld *made = NULL;
  FloStatus status = flo_world_create(&scene->world, &made, &cause);
  if (status != FLO_OK)
    at_place(scene, NULL, 0, status, &cause, error);
  else
    status = fill(scene, made, error);
  if (status == FLO_OK)
    *world = made;
  else
    flo_world_destroy(made);
  return status;
}

FloStatus flo_scene_apply_event(FloScene *scene, FloWorld *world, const FloSceneEvent *event, size_t *n_added,
                                FloError *error) {
  if (n_added) *n_added = 0;
  if (event->kind != FLO_EVENT_ADD) return FLO_OK;
  FloError cause;
  FloSceneFluid *fluid = &scene->parts->added[event->index];
  FloStatus status = add_fluid(scene, fluid, world, &cause);
  if (status == FLO_OK && n_added) *n_added = fluid->n_particles;
  return at_place(scene, "events", event->entry, status, &cause, error);
}

// ---- Parts ----

size_t flo_scene_count_parts(const FloScene *scene) {
  const struct FloSceneParts *parts = scene->parts;
  return parts->n_fluids + parts->n_fills + parts->n_particle_files + scene->n_bodies;
}

bool flo_scene_has_fluid(const FloScene *scene) {
  const struct FloSceneParts *parts = scene->parts;
  return parts->n_fluids + parts->n_added + parts->n_fills + parts->n_particle_files + parts->n_emitters > 0;
}

FloScenePart flo_scene_part(const FloScene *scene, size_t k) {
  if (k < scene->parts->n_fluids) {
    const FloSceneFluid *fluid = &scene->parts->fluids[k];
    return (FloScenePart){scene->parts->materials[fluid->material].name, "fluid", fluid->n_particles};
  }
  k -= scene->parts->n_fluids;
  if (k < scene->parts->n_fills) {
    const FloSceneFill *fill = &scene->parts->fills[k];
    return (FloScenePart){scene->parts->materials[fill->material].name, "fill", fill->n_particles};
  }
  k -= scene->parts->n_fills;
  if (k < scene->parts->n_particle_files) {
    const FloSceneParticles *particles = &scene->parts->particles[k];
    return (FloScenePart){scene->parts->materials[particles->material].name, "particles",
                          particles->file.count};
  }
  const FloSceneBody *body = &scene->bodies[k - scene->parts->n_particle_files];
  static const char *const kinds[] = {[FLO_BODY_STATIC] = "boundary",
                                      [FLO_BODY_KINEMATIC] = "boundary",
                                      [FLO_BODY_DYNAMIC] = "body",
                                      [FLO_BODY_CLOTH] = "cloth",
                                      [FLO_BODY_ELASTIC] = "elastic body"};
  return (FloScenePart){body->name, kinds[body->def.kind], body->n_samples};
}
