// Surface tension between two fluids.
#include "io/scene_steps.h"

static FloStatus find_fluid(FloSceneContext *context, const json_t *object, const char *key, size_t *index) {
  const char *name = flo_json_text(object, key);
  const json_t *known = json_object_get(context->material_names, name);
  *index = (size_t)json_integer_value(known);
  if (known) return FLO_OK;
  flo_scene_enter(context, key);
  return flo_scene_unknown(context, "material", name, context->material_names);
}

static FloStatus read_interface(FloSceneContext *context, const json_t *object,
                                FloSceneInterface *interface) {
  FLO_TRY(find_fluid(context, object, "one", &interface->one));
  FLO_TRY(find_fluid(context, object, "other", &interface->other));
  interface->tension = flo_json_number(object, "surface_tension");
  return FLO_OK;
}

FloStatus flo_scene_read_interfaces(FloSceneContext *context, json_t *root, FloScene *scene) {
  const json_t *list = json_object_get(root, "interfaces");
  struct FloSceneParts *parts = scene->parts;
  const size_t n = json_array_size(list), mark = flo_scene_enter(context, "interfaces");
  parts->interfaces = flo_scene_allocate(n, sizeof *parts->interfaces);
  if (!parts->interfaces) return flo_scene_no_memory(context);
  for (size_t k = 0; k < n; k++) {
    const size_t here = flo_scene_enter_index(context, k);
    FLO_TRY(read_interface(context, json_array_get(list, k), &parts->interfaces[k]));
    parts->n_interfaces = k + 1;
    flo_scene_leave(context, here);
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}
