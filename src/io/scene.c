// A scene from file to description: read, apply the options, check against the tables, then read what the
// keys mean.
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
  FLO_TRY(flo_scene_read_boundaries(context, root, scene));
  FLO_TRY(flo_scene_read_fluids(context, root, scene));
  return flo_scene_read_probes(context, root, scene);
}

static FloStatus load(FloSceneContext *context, const FloSceneOptions *options, json_t **root,
                      FloScene *scene) {
  FLO_TRY(flo_scene_read_file(context, root));
  FLO_TRY(flo_scene_apply_options(context, *root, options));
  FLO_TRY(flo_scene_resolve(context, *root));
  FLO_TRY(read_parts(context, *root, options, scene));
  scene->resolved = flo_scene_write(*root);
  return scene->resolved ? FLO_OK : flo_scene_no_memory(context);
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

FloStatus flo_scene_load(const char *path, const FloSceneOptions *options, FloScene **scene,
                         FloError *error) {
  static const FloSceneOptions no_options = {0};
  *scene = NULL;
  FloSceneContext context = {.file = path, .error = error, .dim = 3};
  context.material_names = json_object();
  context.body_names = json_object();
  context.probe_names = json_object();
  json_t *root = NULL;
  FloScene *made = create_scene(path);
  FloStatus status = made && context.material_names && context.body_names && context.probe_names
                         ? load(&context, options ? options : &no_options, &root, made)
                         : flo_scene_no_memory(&context);
  json_decref(root);
  json_decref(context.material_names);
  json_decref(context.body_names);
  json_decref(context.probe_names);
  if (status == FLO_OK)
    *scene = made;
  else
    flo_scene_destroy(made);
  return status;
}

static void destroy_bodies(FloScene *scene) {
  for (size_t b = 0; b < scene->n_bodies; b++) {
    const FloBodyDef *def = &scene->bodies[b].def;
    for (size_t m = 0; m < def->n_motions; m++) free((void *)def->motions[m].keyframes);
    free((void *)def->motions);
  }
  free(scene->bodies);
}

static void destroy_parts(struct FloSceneParts *parts) {
  for (size_t f = 0; f < parts->n_fluids; f++)
    for (int k = 0; k < 3; k++) flo_expression_destroy(parts->fluids[f].field[k]);
  free(parts->materials);
  free(parts->fluids);
  free(parts->emitters);
  free(parts->sinks);
  free(parts->parameters);
  free(parts);
}

void flo_scene_destroy(FloScene *scene) {
  if (!scene) return;
  destroy_bodies(scene);
  destroy_parts(scene->parts);
  free(scene->title);
  free(scene->shows);
  free(scene->expects);
  free(scene->probes);
  free(scene->resolved);
  free(scene);
}
