// Lists of names, by the kinds that usages and option tables use: SCENE, METHOD, SHAPE, COMMAND.
#include "app.h"
#include "io/scene_schema.h"

#include <jansson.h>
#include <string.h>

typedef void (*NameFn)(const char *name, void *context);

static void list_methods(NameFn visit, void *context) {
  for (size_t k = 0; k < flo_method_count(); k++) visit(flo_method_name(k), context);
}

static void list_commands(NameFn visit, void *context) {
  size_t count;
  const AppCommand *commands = app_commands(&count);
  for (size_t k = 0; k < count; k++) visit(commands[k].name, context);
}

// Shapes are those keys of a scene's shape table of which exactly one must be given. The other keys are
// details of shapes.
static void list_shapes(NameFn visit, void *context) {
  json_t *tables = flo_scene_describe(), *table;
  size_t k, n;
  json_array_foreach(tables, k, table) {
    if (strcmp(json_string_value(json_object_get(table, "name")), "shape") != 0) continue;
    const json_t *names = json_array_get(json_object_get(table, "exactly_one"), 0);
    for (n = 0; n < json_array_size(names); n++) visit(json_string_value(json_array_get(names, n)), context);
  }
  json_decref(tables);
}

bool app_list_names(const char *kind, NameFn visit, void *context) {
  static const struct {
    const char *kind;
    void (*list)(NameFn visit, void *context);
  } kinds[] = {{"SCENE", app_list_scenes},
               {"METHOD", list_methods},
               {"SHAPE", list_shapes},
               {"COMMAND", list_commands}};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
    if (strcmp(kinds[k].kind, kind) == 0) return kinds[k].list(visit, context), true;
  return false;
}
