// Makes a JSON Schema from the tables, so that editors can mark what the program would refuse.
#include "io/scene_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_context.h"

enum {
  COMPONENTS = FLO_SCENE_PAIR | FLO_SCENE_VECTOR | FLO_SCENE_TRIPLE | FLO_SCENE_FIELD | FLO_SCENE_COUNTS
};

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

// ---- Tables ----

static void list_tables(const FloSceneTable *table, const FloSceneTable *tables[], size_t *n) {
  for (size_t k = 0; k < *n; k++)
    if (tables[k] == table) return;
  FLO_ASSERT(*n < FLO_SCENE_MAX_TABLES);
  tables[(*n)++] = table;
  for (size_t k = 0; k < table->n_keys; k++)
    if (table->keys[k].table) list_tables(table->keys[k].table, tables, n);
}

size_t flo_scene_list_tables(const FloSceneTable *tables[FLO_SCENE_MAX_TABLES]) {
  size_t n = 0;
  list_tables(&flo_scene_table, tables, &n);
  return n;
}

void flo_scene_table_slug(const FloSceneTable *table, char slug[64]) {
  const char *space = strchr(table->name, ' ');
  snprintf(slug, 64, "%s", space ? space + 1 : table->name);
  for (; *slug; slug++)
    if (*slug == ' ') *slug = '-';
}

static json_t *reference(const FloSceneTable *table) {
  char slug[64], path[96];
  flo_scene_table_slug(table, slug);
  snprintf(path, sizeof path, "#/definitions/%s", slug);
  return json_pack("{s:s}", "$ref", path);
}

// ---- Values ----

// Bounds apply to numbers only. Every number may also be text, which is an expression.
static json_t *number_schema(FloSceneRange range, bool is_whole) {
  json_t *schema = json_pack("{s:[s,s]}", "type", is_whole ? "integer" : "number", "string");
  if (isfinite(range.low)) set(schema, range.is_open ? "exclusiveMinimum" : "minimum", json_real(range.low));
  if (isfinite(range.high)) set(schema, "maximum", json_real(range.high));
  return range.includes_zero ? json_pack("{s:[{s:i},o]}", "anyOf", "const", 0, schema) : schema;
}

// In 2D the third component may be missing or present.
static json_t *components_schema(const FloSceneKey *key) {
  bool is_pair = key->types & FLO_SCENE_PAIR;
  return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items",
                   number_schema(key->range, key->types & FLO_SCENE_COUNTS), "minItems", 2, "maxItems",
                   is_pair ? 2 : 3);
}

static json_t *points_schema(const FloSceneKey *key) {
  return json_pack("{s:s, s:{s:s, s:o, s:i, s:i}, s:i}", "type", "array", "items", "type", "array", "items",
                   number_schema(key->range, false), "minItems", 2, "maxItems", 2, "minItems", 3);
}

static json_t *corners_schema(const FloSceneKey *key) {
  return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", components_schema(key), "minItems", 2,
                   "maxItems", 2);
}

static json_t *text_schema(const FloSceneKey *key) {
  json_t *words = json_array(), *schema = json_pack("{s:s}", "type", "string");
  for (size_t k = 0; key->choices && key->choices[k]; k++)
    json_array_append_new(words, json_string(key->choices[k]));
  for (int k = 0; !strcmp(key->name, "kernel") && k < FLO_KERNEL_COUNT; k++)
    json_array_append_new(words, json_string(flo_kernel_name((FloKernel)k)));
  if (json_array_size(words) > 0) set(schema, "enum", json_incref(words));
  json_decref(words);
  if (!(key->types & FLO_SCENE_NAME)) return schema;
  set(schema, "minLength", json_integer(1));
  set(schema, "maxLength", json_integer(63));
  set(schema, "pattern", json_string("^[^,;\"'/\\\\]*$"));
  return schema;
}

static json_t *colour_schema(void) {
  return json_pack("{s:s, s:s}", "type", "string", "pattern", "^#[0-9A-Fa-f]{6}$");
}

static json_t *list_schema(const FloSceneKey *key) {
  json_t *entry = reference(key->table);
  if (key->choices) entry = json_pack("{s:[o,o]}", "anyOf", text_schema(key), entry);
  return json_pack("{s:s, s:o, s:i}", "type", "array", "items", entry, "maxItems", FLO_SCENE_MAX_LIST);
}

static json_t *map_schema(json_t *values) {
  return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
}

static json_t *constants_schema(void) {
  FloSceneRange any = {-INFINITY, INFINITY, false, false};
  json_t *schema = map_schema(number_schema(any, false));
  set(schema, "propertyNames", json_pack("{s:s}", "pattern", "^[A-Za-z_][A-Za-z_0-9]*$"));
  set(schema, "maxProperties", json_integer(FLO_SCENE_MAX_CONSTANTS));
  return schema;
}

// Keys that separate code reads: include and sizes.
static json_t *special_schema(const FloSceneKey *key) {
  if (key->types & FLO_SCENE_MAP) return map_schema(constants_schema());
  return json_pack("{s:[{s:s}, {s:s, s:{s:s}}]}", "anyOf", "type", "string", "type", "array", "items", "type",
                   "string");
}

static void add_alternative(json_t *alternatives, bool is_given, json_t *schema) {
  if (is_given)
    json_array_append_new(alternatives, schema);
  else
    json_decref(schema);
}

static json_t *alternatives_of(const FloSceneKey *key) {
  json_t *all = json_array();
  unsigned types = key->types;
  if (types & FLO_SCENE_SPECIAL) {
    json_array_append_new(all, special_schema(key));
    return all;
  }
  add_alternative(all, types & FLO_SCENE_NUMBER, number_schema(key->range, false));
  add_alternative(all, types & FLO_SCENE_INTEGER, number_schema(key->range, true));
  add_alternative(all, types & COMPONENTS, components_schema(key));
  add_alternative(all, types & FLO_SCENE_POINTS, points_schema(key));
  add_alternative(all, types & FLO_SCENE_CORNERS, corners_schema(key));
  add_alternative(all, types & FLO_SCENE_BOOLEAN, json_pack("{s:s}", "type", "boolean"));
  add_alternative(all, types & (FLO_SCENE_TEXT | FLO_SCENE_NAME), text_schema(key));
  add_alternative(all, types & FLO_SCENE_COLOUR, colour_schema());
  if (types & FLO_SCENE_OBJECT) json_array_append_new(all, reference(key->table));
  if (types & FLO_SCENE_LIST) json_array_append_new(all, list_schema(key));
  if (types & FLO_SCENE_MAP)
    json_array_append_new(all, key->table ? map_schema(reference(key->table)) : constants_schema());
  return all;
}

static void describe(const FloSceneKey *key, json_t *schema) {
  char text[512];
  snprintf(text, sizeof text, "%s%s%s%s", key->help, key->unit ? " [" : "", key->unit ? key->unit : "",
           key->unit ? "]" : "");
  set(schema, "description", json_string(text));
  if (key->fallback) set(schema, "default", json_loads(key->fallback, JSON_DECODE_ANY, NULL));
  if (key->library) set(schema, "default", key->library());
}

// Draft 7 ignores all keys beside a reference, so references are wrapped.
static json_t *key_schema(const FloSceneKey *key) {
  json_t *all = alternatives_of(key), *schema;
  json_t *only = json_array_size(all) == 1 ? json_array_get(all, 0) : NULL;
  if (!only)
    schema = json_pack("{s:O}", "anyOf", all);
  else if (json_object_get(only, "$ref"))
    schema = json_pack("{s:O}", "allOf", all);
  else
    schema = json_incref(only);
  json_decref(all);
  describe(key, schema);
  return schema;
}

// ---- Keys that go together ----

static json_t *requirement(const char *name) { return json_pack("{s:[s]}", "required", name); }

static void demand(json_t *rules, const char *word, const char *const names[]) {
  json_t *list = json_array();
  for (size_t k = 0; k < FLO_SCENE_MAX_ALTERNATIVES && names[k]; k++)
    json_array_append_new(list, requirement(names[k]));
  if (names[0]) json_array_append_new(rules, json_pack("{s:O}", word, list));
  json_decref(list);
}

// At most one of them.
static void exclude(json_t *rules, const char *const names[]) {
  for (size_t a = 0; a < FLO_SCENE_MAX_ALTERNATIVES && names[a]; a++)
    for (size_t b = 0; b < a; b++)
      json_array_append_new(rules, json_pack("{s:{s:[s,s]}}", "not", "required", names[b], names[a]));
}

static json_t *rules_of(const FloSceneTable *table) {
  json_t *rules = json_array();
  demand(rules, "oneOf", table->exactly_one);
  demand(rules, "oneOf", table->also_exactly_one);
  demand(rules, "anyOf", table->at_least_one);
  exclude(rules, table->at_most_one);
  exclude(rules, table->also_at_most_one);
  return rules;
}

// ---- Objects ----

static json_t *object_schema(const FloSceneTable *table) {
  json_t *properties = json_object(), *required = json_array(), *rules = rules_of(table);
  for (size_t k = 0; k < table->n_keys; k++) {
    set(properties, table->keys[k].name, key_schema(&table->keys[k]));
    if (table->keys[k].is_required) json_array_append_new(required, json_string(table->keys[k].name));
  }
  json_t *schema =
      json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
  if (json_array_size(required) > 0) set(schema, "required", json_incref(required));
  if (json_array_size(rules) > 0) set(schema, "allOf", json_incref(rules));
  json_decref(required);
  json_decref(rules);
  return schema;
}

// A parameter with words may be given as a word or as its number.
static json_t *param_schema(const FloParam *param, const char *const *words) {
  bool is_whole = param->type != FLO_PARAM_NUMBER;
  json_t *number = number_schema((FloSceneRange){param->low, param->high, false, false}, is_whole);
  if (!words) {
    set(number, "default", is_whole ? json_integer((json_int_t)param->value) : json_real(param->value));
    return number;
  }
  json_t *list = json_array();
  for (size_t k = 0; words[k]; k++) json_array_append_new(list, json_string(words[k]));
  return json_pack("{s:[{s:o}, o], s:s}", "anyOf", "enum", list, number, "default", words[(int)param->value]);
}

// A method with its parameters; only the default method may omit its name.
static json_t *one_method_schema(const char *method, const char *default_method) {
  size_t n_params;
  const FloParam *params = flo_method_params(method, &n_params);
  json_t *properties = json_object();
  set(properties, "name", json_pack("{s:s, s:s}", "const", method, "description", flo_method_paper(method)));
  for (size_t k = 0; k < n_params; k++) {
    json_t *schema = param_schema(&params[k], flo_method_words(method, params[k].name));
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s", params[k].help, params[k].unit[0] ? " [" : "", params[k].unit,
             params[k].unit[0] ? "]" : "");
    set(schema, "description", json_string(text));
    set(properties, params[k].name, schema);
  }
  json_t *schema =
      json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
  if (strcmp(method, default_method)) set(schema, "required", json_pack("[s]", "name"));
  return schema;
}

static json_t *method_schema(void) {
  json_t *all = json_array(), *names = json_array();
  for (size_t k = 0; k < flo_method_count(); k++)
    json_array_append_new(names, json_string(flo_method_name(k)));
  json_array_append_new(all, json_pack("{s:s, s:o}", "type", "string", "enum", names));
  for (size_t k = 0; k < flo_method_count(); k++)
    json_array_append_new(all, one_method_schema(flo_method_name(k), flo_default_world_def().method));
  return json_pack("{s:o}", "anyOf", all);
}

// Required keys may come from included files. So a scene with "include" has no required keys.
static void relax_for_includes(json_t *schema) {
  json_t *needed =
      json_pack("{s:O, s:[{s:[s]}, {s:[s]}, {s:[s]}, {s:[s]}, {s:[s]}, {s:[s]}]}", "required",
                json_object_get(schema, "required"), "anyOf", "required", "fluids", "required", "fills",
                "required", "particles", "required", "emitters", "required", "bodies", "required", "place");
  json_object_del(schema, "required");
  set(schema, "if", requirement("include"));
  set(schema, "else", needed);
}

json_t *flo_scene_schema(void) {
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables);
  json_t *schema = json_pack("{s:s, s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
                             "Flotsam scene", "description",
                             "A scene of Flotsam. All units are SI. Text in place of a number is an "
                             "expression that may use the scene's constants.");
  json_t *scene = object_schema(&flo_scene_table), *definitions = json_object();
  relax_for_includes(scene);
  json_object_update(schema, scene);
  json_decref(scene);
  for (size_t k = 1; k < n_tables; k++) {
    char slug[64];
    flo_scene_table_slug(tables[k], slug);
    set(definitions, slug, tables[k]->has_parameters ? method_schema() : object_schema(tables[k]));
  }
  set(schema, "definitions", definitions);
  return schema;
}
