// From a scene's file to its description: read the text, include files, apply the options, check against the
// tables, then interpret the keys.
#include "io/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_steps.h"

// The file's name without folder and extension.
static void name_scene(const char *path, FloScene *scene) {
  snprintf(scene->path, sizeof scene->path, "%s", path);
  const char *slash = strrchr(path, '/');
  snprintf(scene->name, sizeof scene->name, "%s", slash ? slash + 1 : path);
  char *dot = strrchr(scene->name, '.');
  if (dot && dot != scene->name) *dot = 0;
}

static FloStatus read_parts(FloSceneContext *context, json_t *root, const FloSceneOptions *options,
                            FloScene *scene) {
  FLO_TRY(flo_scene_read_world(context, root, options, scene));
  FLO_TRY(flo_scene_read_method(context, root, options, scene));
  FLO_TRY(flo_scene_read_materials(context, root, scene));
  FLO_TRY(flo_scene_read_interfaces(context, root, scene));
  FLO_TRY(flo_scene_read_bodies(context, root, scene));
  FLO_TRY(flo_scene_read_joints(context, root, scene));
  FLO_TRY(flo_scene_read_fluids(context, root, scene));
  FLO_TRY(flo_scene_read_events(context, root, scene));
  FLO_TRY(flo_scene_count_emitted(context, scene));
  return flo_scene_read_probes(context, root, scene);
}

static FloStatus load_parts(FloSceneContext *context, const FloSceneOptions *options, json_t *root,
                            FloScene *scene) {
  FLO_TRY(flo_scene_apply_options(context, root, options));
  FLO_TRY(flo_scene_resolve(context, root));
  FLO_TRY(read_parts(context, root, options, scene));
  scene->resolved = flo_scene_write(root);
  scene->parts->origins = json_incref(context->origins);
  return scene->resolved ? FLO_OK : flo_scene_no_memory(context);
}

// A missing size is reported last, because it would hide errors that exist in every size.
static FloStatus load(FloSceneContext *context, const FloSceneOptions *options, json_t *root,
                      FloScene *scene) {
  FLO_TRY(flo_scene_include(context, root));
  json_t *sizes = json_incref(json_object_get(root, "sizes"));
  FloStatus status = load_parts(context, options, root, scene);
  if (status == FLO_OK) status = flo_scene_check_size(context, sizes, options->size);
  json_decref(sizes);
  return status;
}

static FloScene *create_scene(const char *path) {
  FloScene *scene = calloc(1, sizeof *scene);
  if (!scene) return NULL;
  scene->parts = calloc(1, sizeof *scene->parts);
  if (!scene->parts) {
    free(scene);
    return NULL;
  }
  name_scene(path, scene);
  return scene;
}

// The maps that a context owns.
static void list_maps(FloSceneContext *context, json_t **maps[8]) {
  json_t **const all[] = {
      &context->origins,       &context->material_names, &context->body_names,  &context->joint_names,
      &context->emitter_names, &context->sink_names,     &context->probe_names, NULL};
  memcpy(maps, all, sizeof all);
}

static bool start_context(FloSceneContext *context) {
  json_t **maps[8];
  bool is_complete = (context->files = json_array()) != NULL;
  list_maps(context, maps);
  for (size_t k = 0; maps[k]; k++) is_complete &= (*maps[k] = json_object()) != NULL;
  return is_complete;
}

static void end_context(FloSceneContext *context) {
  json_t **maps[8];
  list_maps(context, maps);
  for (size_t k = 0; maps[k]; k++) json_decref(*maps[k]);
  json_decref(context->files);
}

// Reads the text if there is one, else the file of that name.
static FloStatus load_from(const char *name, const char *text, size_t length, const FloSceneOptions *options,
                           FloScene **scene, FloError *error) {
  static const FloSceneOptions no_options = {0};
  if (!scene) return flo_fail(error, FLO_BAD_INPUT, "scene: is NULL, but it is needed");
  *scene = NULL;
  if (!name) return flo_fail(error, FLO_BAD_INPUT, "path: is NULL, but it is needed");
  if (!options) options = &no_options;
  FloSceneContext context = {
      .file = name, .error = error, .dim = 3, .refuses_includes = options->refuse_includes};
  json_t *root = NULL;
  FloScene *made = create_scene(name);
  FloStatus status = start_context(&context) && made ? FLO_OK : flo_scene_no_memory(&context);
  if (made) context.attachments = &made->parts->attachments;
  if (status == FLO_OK)
    status = text ? flo_scene_read_text(&context, text, length, &root) : flo_scene_read_file(&context, &root);
  if (status == FLO_OK) status = load(&context, options, root, made);
  json_decref(root);
  end_context(&context);
  if (status == FLO_OK)
    *scene = made;
  else
    flo_scene_destroy(made);
  return status;
}

FloStatus flo_scene_load(const char *path, const FloSceneOptions *options, FloScene **scene,
                         FloError *error) {
  return load_from(path, NULL, 0, options, scene, error);
}

FloStatus flo_scene_load_text(const char *name, const char *text, size_t length,
                              const FloSceneOptions *options, FloScene **scene, FloError *error) {
  if (!text) length = 0;
  return load_from(name, text ? text : "", length, options, scene, error);
}

static void destroy_bodies(FloScene *scene) {
  for (size_t b = 0; b < scene->n_bodies; b++) {
    const FloBodyDef *def = &scene->bodies[b].def;
    for (size_t m = 0; m < def->n_motions; m++) free((void *)def->motions[m].keyframes);
    free((void *)def->motions);
    free((void *)def->friction_changes);
    free((void *)def->pins);
    free((void *)def->elastic.rigid);
    free(scene->bodies[b].pins);
  }
  free(scene->bodies);
}

static void destroy_fluids(FloSceneFluid *fluids, size_t n) {
  for (size_t f = 0; f < n; f++)
    for (int k = 0; k < 3; k++) flo_expression_destroy(fluids[f].field[k]);
  free(fluids);
}

static void destroy_parts(struct FloSceneParts *parts) {
  flo_scene_free_attachments(parts->attachments);
  destroy_fluids(parts->fluids, parts->n_fluids);
  destroy_fluids(parts->added, parts->n_added);
  for (size_t k = 0; k < parts->n_emitters; k++) free(parts->emitters[k].spans.list);
  for (size_t k = 0; k < parts->n_sinks; k++) free(parts->sinks[k].spans.list);
  json_decref(parts->origins);
  for (size_t k = 0; k < parts->n_particle_files; k++) flo_particle_file_free(&parts->particles[k].file);
  free(parts->particles);
  free(parts->fills);
  free(parts->materials);
  free(parts->interfaces);
  free(parts->emitters);
  free(parts->sinks);
  free(parts->parameters);
  free(parts);
}

void flo_scene_destroy(FloScene *scene) {
  if (!scene) return;
  destroy_bodies(scene);
  flo_scene_free_joints(scene);
  destroy_parts(scene->parts);
  free(scene->title);
  free(scene->shows);
  free(scene->events);
  free(scene->expects);
  free(scene->probes);
  free(scene->resolved);
  free(scene);
}
