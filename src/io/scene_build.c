// Makes the world that a scene describes.
#include <stdlib.h>

#include "base/core.h"
#include "io/scene_steps.h"

// Passes a failure of the library on, with the place in the scene to which it belongs.
static FloStatus at_place(const FloScene *scene, const char *key, size_t index, FloStatus status,
                          const FloError *cause, FloError *error) {
  if (status == FLO_OK) return FLO_OK;
  FloSceneContext context = {.file = scene->path, .error = error};
  if (key) {
    flo_scene_enter(&context, key);
    flo_scene_enter_index(&context, index);
  }
  return flo_scene_pass_on(&context, status, cause);
}

static FloStatus add_materials(const FloScene *scene, FloWorld *world, FloMaterialId *ids, FloError *error) {
  const struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_materials; k++) {
    FloError cause;
    FloStatus status = flo_world_add_material(world, &parts->materials[k].def, &ids[k], &cause);
    FLO_TRY(at_place(scene, NULL, k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus add_bodies(FloScene *scene, FloWorld *world, FloError *error) {
  for (size_t k = 0; k < scene->n_bodies; k++) {
    FloError cause;
    FloStatus status = flo_world_add_body(world, &scene->bodies[k].def, &scene->bodies[k].id, &cause);
    FLO_TRY(at_place(scene, "boundaries", k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus add_fluid(const FloSceneFluid *fluid, double spacing, FloWorld *world, FloError *error) {
  size_t n_added = 0;
  FLO_TRY(flo_world_add_fluid(world, &fluid->def, &n_added, error));
  if (n_added > 0) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "no particle fits in: the spacing is %g m, or a boundary is in the way", spacing);
}

static FloStatus add_fluids(FloScene *scene, FloWorld *world, const FloMaterialId *ids, FloError *error) {
  for (size_t k = 0; k < scene->parts->n_fluids; k++) {
    FloSceneFluid *fluid = &scene->parts->fluids[k];
    FloError cause;
    fluid->def.material = ids[fluid->material];
    FloStatus status = add_fluid(fluid, scene->world.spacing, world, &cause);
    FLO_TRY(at_place(scene, "fluids", k, status, &cause, error));
  }
  return FLO_OK;
}

static FloStatus add_openings(FloScene *scene, FloWorld *world, const FloMaterialId *ids, FloError *error) {
  struct FloSceneParts *parts = scene->parts;
  for (size_t k = 0; k < parts->n_emitters; k++) {
    FloEmitterId id;
    FloError cause;
    parts->emitters[k].def.material = ids[parts->emitters[k].material];
    FloStatus status = flo_world_add_emitter(world, &parts->emitters[k].def, &id, &cause);
    FLO_TRY(at_place(scene, "emitters", k, status, &cause, error));
  }
  for (size_t k = 0; k < parts->n_sinks; k++) {
    FloSinkId id;
    FloError cause;
    FloStatus status = flo_world_add_sink(world, &parts->sinks[k], &id, &cause);
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

static FloStatus fill(FloScene *scene, FloWorld *world, FloMaterialId *ids, FloError *error) {
  FLO_TRY(set_parameters(scene, world, error));
  FLO_TRY(add_materials(scene, world, ids, error));
  FLO_TRY(add_bodies(scene, world, error));
  FLO_TRY(add_fluids(scene, world, ids, error));
  return add_openings(scene, world, ids, error);
}

FloStatus flo_scene_build(FloScene *scene, FloWorld **world, FloError *error) {
  *world = NULL;
  FloError cause;
  FloWorld *made = NULL;
  FloMaterialId *ids = flo_scene_allocate(scene->parts->n_materials, sizeof *ids);
  if (!ids) return flo_fail(error, FLO_NO_MEMORY, "%s: out of memory", scene->path);
  FloStatus status = flo_world_create(&scene->world, &made, &cause);
  if (status != FLO_OK)
    at_place(scene, NULL, 0, status, &cause, error);
  else
    status = fill(scene, made, ids, error);
  free(ids);
  if (status == FLO_OK)
    *world = made;
  else
    flo_world_destroy(made);
  return status;
}
