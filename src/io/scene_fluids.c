// Materials, fluids, fills, particles from files, emitters and sinks.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "io/scene_colour.h"
#include "io/scene_steps.h"

// ---- Materials ----

static void read_material(const json_t *object, const char *name, FloSceneMaterial *material) {
  material->def = flo_default_material_def();
  snprintf(material->name, sizeof material->name, "%s", name);
  material->def.name = material->name;
  material->def.density = flo_json_number(object, "density");
  material->def.viscosity = flo_json_number(object, "viscosity");
  material->def.wall_viscosity = -1;
  if (json_object_get(object, "wall_viscosity"))
    material->def.wall_viscosity = flo_json_number(object, "wall_viscosity");
  material->def.friction = json_object_get(object, "friction") ? flo_json_number(object, "friction") : -1;
  material->def.surface_tension = flo_json_number(object, "surface_tension");
  material->def.adhesion = flo_json_number(object, "adhesion");
  if (json_object_get(object, "contact_angle"))
    material->def.contact_angle = flo_json_number(object, "contact_angle");
  material->def.slip = json_object_get(object, "slip") ? flo_json_number(object, "slip") : -1;
  material->def.restitution =
      json_object_get(object, "restitution") ? flo_json_number(object, "restitution") : -1;
  material->has_colour = flo_scene_colour(flo_json_text(object, "colour"), material->colour);
}

// Room for the named materials, and for one inline material in each entry that may have one.
FloStatus flo_scene_read_materials(FloSceneContext *context, json_t *root, FloScene *scene) {
  static const char *const owners[] = {"bodies", "fluids", "fills", "particles", "emitters", "events"};
  struct FloSceneParts *parts = scene->parts;
  json_t *map = json_object_get(root, "materials"), *object;
  size_t n_most = json_object_size(map);
  for (size_t k = 0; k < FLO_COUNT_OF(owners); k++)
    n_most += json_array_size(json_object_get(root, owners[k]));
  parts->materials = flo_scene_allocate(n_most, sizeof *parts->materials);
  if (!parts->materials) return flo_scene_no_memory(context);
  const char *name;
  json_object_foreach(map, name, object) {
    json_t *index = json_integer((json_int_t)parts->n_materials);
    if (json_object_set_new(context->material_names, name, index)) return flo_scene_no_memory(context);
    read_material(object, name, &parts->materials[parts->n_materials++]);
  }
  return FLO_OK;
}

FloStatus flo_scene_find_material(FloSceneContext *context, json_t *object, const char *owner,
                                  size_t owner_index, struct FloSceneParts *parts, size_t *index) {
  const json_t *material = json_object_get(object, "material");
  if (json_is_object(material)) {
    char name[64];
    snprintf(name, sizeof name, "%s%zu", owner, owner_index);
    *index = parts->n_materials++;
    read_material(material, name, &parts->materials[*index]);
    return FLO_OK;
  }
  const json_t *known = json_object_get(context->material_names, json_string_value(material));
  *index = (size_t)json_integer_value(known);
  if (known) return FLO_OK;
  flo_scene_enter(context, "material");
  return flo_scene_unknown(context, "material", json_string_value(material), context->material_names);
}

// ---- Fluids ----

// Called for every particle of the fluid while the world is built. Components without an expression are part
// of the uniform velocity, to which this is added.
static void evaluate_field(void *user, const double position[3], double velocity[3]) {
  const FloSceneFluid *fluid = user;
  for (int k = 0; k < 3; k++)
    velocity[k] = fluid->field[k] ? flo_expression_evaluate(fluid->field[k], position) : 0;
}

static FloStatus read_velocity(FloSceneContext *context, const json_t *list, FloSceneFluid *fluid) {
  size_t mark = flo_scene_enter(context, "velocity");
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *component = json_array_get(list, k);
    if (json_is_number(component)) {
      fluid->def.velocity[k] = json_number_value(component);
      continue;
    }
    FLO_TRY(flo_scene_compile(context, json_string_value(component), true, &fluid->field[k]));
    fluid->def.velocity_at = evaluate_field;
    fluid->def.context = fluid;
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloFluidPacking read_packing(const json_t *object) {
  return strcmp(flo_json_text(object, "packing"), "hexagonal") ? FLO_FLUID_CUBIC : FLO_FLUID_HEXAGONAL;
}

static FloStatus fill_fluid(FloSceneContext *context, json_t *object, FloScene *scene, FloSceneFluid *fluid) {
  FloFluidDef *def = &fluid->def;
  def->packing = read_packing(object);
  FLO_TRY(flo_scene_read_shape(context, object, scene->up, &def->shape, &def->pose));
  if (def->shape.kind == FLO_SHAPE_TANK)
    return flo_scene_fail(context, "a fluid cannot have the shape of a tank; use a box that fills the tank");
  FLO_TRY(read_velocity(context, json_object_get(object, "velocity"), fluid));
  flo_json_vector(object, "angular_velocity", def->angular_velocity);
  if (context->dim == 2 && (def->angular_velocity[0] != 0 || def->angular_velocity[1] != 0))
    return flo_scene_fail(context, "'angular_velocity' must be along z in a two-dimensional scene");
  return flo_scene_count(context,
                         flo_scene_volume(context, &def->shape) / pow(scene->world.spacing, context->dim));
}

static FloStatus read_fluid(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSceneFluid *fluid = &scene->parts->fluids[index];
  fluid->def = flo_default_fluid_def();
  FLO_TRY(flo_scene_find_material(context, object, "fluid", index, scene->parts, &fluid->material));
  return fill_fluid(context, object, scene, fluid);
}

FloStatus flo_scene_read_added(FloSceneContext *context, json_t *object, size_t event, FloScene *scene) {
  FloSceneFluid *fluid = &scene->parts->added[scene->parts->n_added++];
  fluid->def = flo_default_fluid_def();
  FLO_TRY(flo_scene_find_material(context, object, "event", event, scene->parts, &fluid->material));
  return fill_fluid(context, object, scene, fluid);
}

// ---- Fills ----

static FloStatus read_fill(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSceneFill *fill = &scene->parts->fills[index];
  fill->def = flo_default_fill_def();
  fill->def.up = scene->up;
  fill->def.packing = read_packing(object);
  fill->def.level = flo_json_number(object, "level");
  flo_json_vector(object, "seed", fill->def.seed);
  flo_json_vector(object, "velocity", fill->def.velocity);
  return flo_scene_find_material(context, object, "fill", index, scene->parts, &fill->material);
}

// ---- Particles from files ----

static FloStatus load_particles(FloSceneContext *context, json_t *object, FloParticleFile *file) {
  char path[FLO_PATH_SIZE];
  FloError cause;
  size_t mark = flo_scene_enter(context, "file");
  FLO_TRY(flo_scene_find_file(context, object, "file", path));
  FloParticleFileOptions options = {.dim = context->dim,
                                    .max_particles = (size_t)FLO_SCENE_MAX_PARTICLES,
                                    .material = flo_json_text(object, "rows")};
  FloStatus status = flo_particle_file_read(path, &options, file, &cause);
  if (status == FLO_NO_MEMORY) return flo_scene_no_memory(context);
  if (status != FLO_OK) return flo_scene_fail(context, "%s", cause.text);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_particles(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSceneParticles *particles = &scene->parts->particles[index];
  FLO_TRY(flo_scene_find_material(context, object, "particles", index, scene->parts, &particles->material));
  FLO_TRY(load_particles(context, object, &particles->file));
  return flo_scene_count(context, (double)particles->file.count);
}

// ---- Emitters ----

// The rotation that turns the x, y and z axes into these three orthogonal unit vectors. Of the four possible
// formulas, the one that divides by the largest number is the most accurate.
static void rotation_from_axes(const double x[3], const double y[3], const double z[3], double q[4]) {
  double squares[4] = {1 + x[0] - y[1] - z[2], 1 - x[0] + y[1] - z[2], 1 - x[0] - y[1] + z[2],
                       1 + x[0] + y[1] + z[2]};
  int largest = 0;
  for (int k = 1; k < 4; k++)
    if (squares[k] > squares[largest]) largest = k;
  const double products[4][4] = {{squares[0], x[1] + y[0], x[2] + z[0], y[2] - z[1]},
                                 {x[1] + y[0], squares[1], y[2] + z[1], z[0] - x[2]},
                                 {x[2] + z[0], y[2] + z[1], squares[2], x[1] - y[0]},
                                 {y[2] - z[1], z[0] - x[2], x[1] - y[0], squares[3]}};
  quat_copy(products[largest], q);
  quat_normalise(q);
}

static bool is_parallel(const double a[3], const double b[3]) {
  return fabs(vec_dot(a, b)) >= 0.999 * vec_length(a) * vec_length(b);
}

void flo_scene_default_upright(const double direction[3], int up, double upright[3]) {
  vec_set(upright, up == 0, up == 1, up == 2);
  if (!is_parallel(direction, upright)) return;
  int next = (up + 1) % 3;
  vec_set(upright, next == 0, next == 1, next == 2);
}

// Turns +x into the direction, and the opening's height (z) as near to `upright` as possible.
static void aim(const double direction[3], int dim, const double upright[3], double rotation[4]) {
  double x[3], y[3], z[3] = {0, 0, 1};
  vec_scale(direction, 1 / vec_length(direction), x);
  if (dim == 3) {
    vec_add_scaled(upright, x, -vec_dot(x, upright), z);
    vec_scale(z, 1 / vec_length(z), z);
  }
  vec_cross(z, x, y);
  rotation_from_axes(x, y, z, rotation);
}

static double seconds_within(const FloScene *scene, double start, double end) {
  return fmax(fmin(end, scene->duration) - fmax(start, 0), 0);
}

// The number of particles that it makes.
static double emitted_by(const FloScene *scene, const FloSceneEmitter *emitter) {
  const FloEmitterDef *def = &emitter->def;
  const int dim = scene->world.dim;
  double area = dim == 2 ? def->size[0] : def->size[0] * def->size[1] * (def->round ? FLO_PI / 4 : 1);
  double seconds = emitter->spans.list ? 0 : seconds_within(scene, def->start, def->end);
  for (size_t k = 0; emitter->spans.list && k < emitter->spans.n; k++)
    seconds += seconds_within(scene, emitter->spans.list[k][0], emitter->spans.list[k][1]);
  return area * def->speed * seconds / pow(scene->world.spacing, dim);
}

double flo_scene_emitted(const FloScene *scene) {
  double sum = 0;
  for (size_t k = 0; k < scene->parts->n_emitters; k++) sum += emitted_by(scene, &scene->parts->emitters[k]);
  return sum;
}

FloStatus flo_scene_count_emitted(FloSceneContext *context, FloScene *scene) {
  if (scene->world.max_particles > 0) return FLO_OK;
  size_t outer = flo_scene_enter(context, "emitters");
  for (size_t k = 0; k < scene->parts->n_emitters; k++) {
    size_t mark = flo_scene_enter_index(context, k);
    FLO_TRY(flo_scene_count(context, emitted_by(scene, &scene->parts->emitters[k])));
    flo_scene_leave(context, mark);
  }
  flo_scene_leave(context, outer);
  return FLO_OK;
}

static FloStatus read_window(FloSceneContext *context, json_t *object, FloEmitterDef *def) {
  const json_t *size = json_object_get(object, "size");
  if (json_is_array(size) && context->dim == 2)
    return flo_scene_fail(context, "'size' must be one number, the width, in a two-dimensional scene");
  def->round = !size && context->dim == 3;
  double edge = size ? json_number_value(size) : flo_json_number(object, "diameter");
  for (size_t k = 0; k < 2; k++)
    def->size[k] = json_is_array(size) ? json_number_value(json_array_get(size, k)) : edge;
  return FLO_OK;
}

// The direction of the stream, and the rotation of the opening about it.
static FloStatus read_direction(FloSceneContext *context, json_t *object, int up, double rotation[4]) {
  double direction[3], upright[3];
  flo_json_vector(object, "direction", direction);
  if (vec_length(direction) == 0) return flo_scene_fail(context, "'direction' must not be zero");
  flo_scene_default_upright(direction, up, upright);
  if (json_object_get(object, "upright")) flo_json_vector(object, "upright", upright);
  if (vec_length(upright) == 0) return flo_scene_fail(context, "'upright' must not be zero");
  if (context->dim == 3 && is_parallel(direction, upright))
    return flo_scene_fail(context, "'upright' must not be along 'direction'");
  aim(direction, context->dim, upright, rotation);
  return FLO_OK;
}

static FloStatus read_emitter(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSceneEmitter *emitter = &scene->parts->emitters[index];
  FloEmitterDef *def = &emitter->def;
  char name[64];
  *def = flo_default_emitter_def();
  FLO_TRY(flo_scene_read_name(context, object, index, "emitter", "emitters", context->emitter_names, name));
  FLO_TRY(flo_scene_find_material(context, object, "emitter", index, scene->parts, &emitter->material));
  FLO_TRY(read_window(context, object, def));
  def->pose = flo_pose_identity();
  def->speed = flo_json_number(object, "speed");
  flo_json_vector(object, "at", def->pose.position);
  FLO_TRY(read_direction(context, object, scene->up, def->pose.rotation));
  return flo_scene_read_span(context, object, &def->start, &def->end);
}

// ---- Sinks ----

static FloStatus read_sink(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSinkDef *def = &scene->parts->sinks[index].def;
  char name[64];
  *def = flo_default_sink_def();
  FLO_TRY(flo_scene_read_name(context, object, index, "sink", "sinks", context->sink_names, name));
  FLO_TRY(flo_scene_read_shape(context, object, scene->up, &def->shape, &def->pose));
  if (def->shape.kind == FLO_SHAPE_TANK)
    return flo_scene_fail(context, "a sink cannot have the shape of a tank; use a box");
  return flo_scene_read_span(context, object, &def->start, &def->end);
}

// ---- All of them ----

typedef FloStatus Reader(FloSceneContext *context, json_t *object, size_t index, FloScene *scene);

static FloStatus read_all(FloSceneContext *context, json_t *root, const char *key, Reader *read,
                          FloScene *scene) {
  size_t outer = flo_scene_enter(context, key);
  json_t *list = json_object_get(root, key);
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);)
    FLO_TRY(read(context, at.entry, at.index, scene));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

// n entries for the list `key`, counted into *n.
static void *allocate_list(const json_t *root, const char *key, size_t size, size_t *n) {
  *n = json_array_size(json_object_get(root, key));
  return flo_scene_allocate(*n, size);
}

static FloStatus allocate_parts(FloSceneContext *context, const json_t *root, struct FloSceneParts *p) {
  p->fluids = allocate_list(root, "fluids", sizeof *p->fluids, &p->n_fluids);
  p->fills = allocate_list(root, "fills", sizeof *p->fills, &p->n_fills);
  p->particles = allocate_list(root, "particles", sizeof *p->particles, &p->n_particle_files);
  p->emitters = allocate_list(root, "emitters", sizeof *p->emitters, &p->n_emitters);
  p->sinks = allocate_list(root, "sinks", sizeof *p->sinks, &p->n_sinks);
  bool has_all = p->fluids && p->fills && p->particles && p->emitters && p->sinks;
  if (has_all) return FLO_OK;
  p->n_fluids = p->n_fills = p->n_particle_files = p->n_emitters = p->n_sinks = 0;
  return flo_scene_no_memory(context);
}

FloStatus flo_scene_read_fluids(FloSceneContext *context, json_t *root, FloScene *scene) {
  struct FloSceneParts *parts = scene->parts;
  FLO_TRY(allocate_parts(context, root, parts));
  bool has_bodies = json_array_size(json_object_get(root, "bodies")) > 0;
  if (!has_bodies && parts->n_fluids + parts->n_fills + parts->n_particle_files + parts->n_emitters == 0)
    return flo_scene_fail(
        context, "has nothing to simulate; add at least one fluid, fill, emitter, file of particles or body");
  FLO_TRY(read_all(context, root, "fluids", read_fluid, scene));
  FLO_TRY(read_all(context, root, "fills", read_fill, scene));
  FLO_TRY(read_all(context, root, "particles", read_particles, scene));
  FLO_TRY(read_all(context, root, "emitters", read_emitter, scene));
  return read_all(context, root, "sinks", read_sink, scene);
}
