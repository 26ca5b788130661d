// The tables of the scene format: as data, and as a Markdown page.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_context.h"
#include "io/scene_schema.h"

// ---- Words ----

static const struct {
  unsigned type;
  const char *word;
} type_words[] = {
    {FLO_SCENE_NUMBER, "number"},
    {FLO_SCENE_INTEGER, "whole number"},
    {FLO_SCENE_BOOLEAN, "true or false"},
    {FLO_SCENE_TEXT, "text"},
    {FLO_SCENE_COLOUR, "colour such as `#3355ff`"},
    {FLO_SCENE_NAME, "name"},
    {FLO_SCENE_PAIR, "2 numbers"},
    {FLO_SCENE_VECTOR, "vector"},
    {FLO_SCENE_COUNTS, "vector of whole numbers"},
    {FLO_SCENE_TRIPLE, "3 numbers"},
    {FLO_SCENE_POINTS, "list of points of 2 numbers"},
    {FLO_SCENE_CORNERS, "2 vectors"},
    {FLO_SCENE_FIELD, "vector of numbers or expressions in x, y, z"},
    {FLO_SCENE_OBJECT, "object"},
    {FLO_SCENE_LIST, "list"},
    {FLO_SCENE_MAP, "names"},
};

static void write_type(const FloSceneKey *key, char text[128]) {
  text[0] = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(type_words); k++)
    if (key->types & type_words[k].type) flo_text_append(text, 128, " or ", type_words[k].word);
  if (!strcmp(key->name, "method")) flo_text_append(text, 128, " or ", "text");
  if (!text[0]) flo_text_append(text, 128, "", "text or list");
}

static void write_range(FloSceneRange range, char text[64]) {
  const char *sign = range.is_open ? ">" : "≥", *zero = range.includes_zero ? "0 or " : "";
  text[0] = 0;
  if (isfinite(range.low) && isfinite(range.high) && range.low == -range.high)
    snprintf(text, 64, "±%g", range.high);
  else if (isfinite(range.low) && range.low == range.high)
    snprintf(text, 64, "%g", range.low);
  else if (isfinite(range.low) && isfinite(range.high))
    snprintf(text, 64, "%s%s %g, ≤ %g", zero, sign, range.low, range.high);
}

static json_t *number_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

// ---- As data ----

static json_t *default_of(const FloSceneKey *key) {
  if (key->library) return key->library();
  return key->fallback ? json_loads(key->fallback, JSON_DECODE_ANY, NULL) : json_null();
}

static json_t *describe_key(const FloSceneKey *key) {
  char type[128], range[64], slug[64];
  write_type(key, type);
  write_range(key->range, range);
  json_t *entry = json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:b, s:s}", "name", key->name, "type", type,
                            "unit", key->unit ? key->unit : "", "low", number_or_null(key->range.low), "high",
                            number_or_null(key->range.high), "range", range, "default", default_of(key),
                            "required", key->is_required, "help", key->help);
  if (key->table) {
    flo_scene_table_slug(key->table, slug);
    json_object_set_new(entry, "table", json_string(slug));
  }
  json_t *choices = json_array();
  for (size_t k = 0; key->choices && key->choices[k]; k++)
    json_array_append_new(choices, json_string(key->choices[k]));
  if (key->choices) json_object_set(entry, "choices", choices);
  json_decref(choices);
  return entry;
}

static void describe_group(json_t *entry, const char *word, const char *const names[]) {
  json_t *list = json_array();
  for (size_t k = 0; k < FLO_SCENE_MAX_ALTERNATIVES && names[k]; k++)
    json_array_append_new(list, json_string(names[k]));
  json_t *groups = json_object_get(entry, word);
  if (names[0] && groups) json_array_append(groups, list);
  json_decref(list);
}

static json_t *describe_table(const FloSceneTable *table) {
  char slug[64];
  json_t *keys = json_array();
  flo_scene_table_slug(table, slug);
  for (size_t k = 0; k < table->n_keys; k++) json_array_append_new(keys, describe_key(&table->keys[k]));
  json_t *entry = json_pack("{s:s, s:o, s:[], s:[], s:[]}", "name", slug, "keys", keys, "exactly_one",
                            "at_most_one", "at_least_one");
  describe_group(entry, "exactly_one", table->exactly_one);
  describe_group(entry, "exactly_one", table->also_exactly_one);
  describe_group(entry, "at_most_one", table->at_most_one);
  describe_group(entry, "at_most_one", table->also_at_most_one);
  describe_group(entry, "at_least_one", table->at_least_one);
  return entry;
}

json_t *flo_scene_describe(void) {
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables);
  json_t *list = json_array();
  for (size_t k = 0; k < n_tables; k++) json_array_append_new(list, describe_table(tables[k]));
  return list;
}

// ---- As a page ----

static void print_default(FILE *stream, const FloSceneKey *key) {
  json_t *value = default_of(key);
  char *text = json_is_null(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
  if (key->is_required)
    fputs("required", stream);
  else if (text)
    fprintf(stream, "`%s`", text);
  free(text);
  json_decref(value);
}

static void print_key(FILE *stream, const FloSceneKey *key) {
  char type[128], range[64], slug[64];
  write_type(key, type);
  write_range(key->range, range);
  fprintf(stream, "| `%s` | %s", key->name, type);
  if (key->table) {
    flo_scene_table_slug(key->table, slug);
    fprintf(stream, ": [%s](#%s)", slug, slug);
  }
  for (size_t k = 0; key->choices && key->choices[k]; k++)
    fprintf(stream, "%s`%s`", k ? ", " : ": ", key->choices[k]);
  fprintf(stream, " | %s | %s | ", key->unit ? key->unit : "", range);
  print_default(stream, key);
  fprintf(stream, " | %s |\n", key->help);
}

static void print_group(FILE *stream, const char *phrase, const char *const names[]) {
  if (!names[0]) return;
  fputs(phrase, stream);
  for (size_t k = 0; k < FLO_SCENE_MAX_ALTERNATIVES && names[k]; k++)
    fprintf(stream, "%s`%s`", k ? ", " : " ", names[k]);
  fputs(".\n\n", stream);
}

static void print_head(FILE *stream) {
  fputs("| key | type | unit | range | default | meaning |\n| --- | --- | --- | --- | --- | --- |\n", stream);
}

// A parameter with words: they are shown instead of the range.
static void print_choice(FILE *stream, const FloParam *param, const char *const *words) {
  char list[256] = "";
  for (size_t k = 0; words[k]; k++) flo_text_append(list, sizeof list, ", ", words[k]);
  fprintf(stream, "| `%s` | text | %s | %s | `%s` | %s |\n", param->name, param->unit, list,
          words[(int)param->value], param->help);
}

static const char *type_of(const FloParam *param) {
  static const char *const names[] = {[FLO_PARAM_NUMBER] = "number",
                                      [FLO_PARAM_COUNT] = "whole number",
                                      [FLO_PARAM_SWITCH] = "0 or 1",
                                      [FLO_PARAM_CHOICE] = "text"};
  return names[param->type];
}

static void print_method(FILE *stream, const char *method) {
  size_t n_params;
  const FloParam *params = flo_method_params(method, &n_params);
  fprintf(stream, "\nParameters of `%s` (%s):\n\n", method, flo_method_paper(method));
  print_head(stream);
  for (size_t k = 0; k < n_params; k++) {
    char range[64];
    const char *const *words = flo_method_words(method, params[k].name);
    if (words) {
      print_choice(stream, &params[k], words);
      continue;
    }
    write_range((FloSceneRange){params[k].low, params[k].high, false, false}, range);
    fprintf(stream, "| `%s` | %s | %s | %s | `%g` | %s |\n", params[k].name, type_of(&params[k]),
            params[k].unit, range, params[k].value, params[k].help);
  }
}

static void print_table(FILE *stream, const FloSceneTable *table) {
  char slug[64];
  flo_scene_table_slug(table, slug);
  fprintf(stream, "\n## %s\n\n", slug);
  print_group(stream, "Exactly one of", table->exactly_one);
  print_group(stream, "Exactly one of", table->also_exactly_one);
  print_group(stream, "At most one of", table->at_most_one);
  print_group(stream, "At most one of", table->also_at_most_one);
  print_group(stream, "At least one of", table->at_least_one);
  print_head(stream);
  for (size_t k = 0; k < table->n_keys; k++) print_key(stream, &table->keys[k]);
  for (size_t k = 0; table->has_parameters && k < flo_method_count(); k++)
    print_method(stream, flo_method_name(k));
}

char *flo_scene_reference(void) {
  const FloSceneTable *tables[FLO_SCENE_MAX_TABLES];
  size_t n_tables = flo_scene_list_tables(tables), size = 0;
  char *text = NULL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  fputs("# Every key of a scene\n\n"
        "`flotsam info scene-keys --markdown` prints this page from the tables that check scenes;\n"
        "[scenes.md](scenes.md) explains them. Every number may also be an expression. A vector has as many\n"
        "components as the scene has dimensions.\n",
        stream);
  for (size_t k = 0; k < n_tables; k++) print_table(stream, tables[k]);
  bool has_failed = ferror(stream);
  has_failed |= fclose(stream) != 0;
  if (!has_failed) return text;
  free(text);
  return NULL;
}
