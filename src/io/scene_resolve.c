// Checks a scene against the tables. This file uses JSON and tables only; it does not know the meaning of
// keys.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_colour.h"
#include "io/scene_steps.h"
#include "io/shown.h"
#include "io/suggest.h"

// ---- Keys ----

static FloStatus unknown_key(FloSceneContext *context, const FloSceneTable *table, const char *name) {
  FloSuggestion suggestion = flo_suggest_start(name);
  char known[600] = "; known keys: ";
  for (size_t k = 0; k < table->n_keys; k++) {
    flo_suggest_offer(&suggestion, table->keys[k].name);
    flo_text_append(known, sizeof known, k ? ", " : "", table->keys[k].name);
  }
  char hint[128];
  return flo_scene_fail(context, "unknown key '%.60s'%s", name,
                        suggestion.best ? flo_suggest_text(&suggestion, hint) : known);
}

FloStatus flo_scene_check_known(FloSceneContext *context, json_t *object, const FloSceneTable *table) {
  const char *name;
  json_t *value;
  json_object_foreach(object, name, value) {
    if (!table->has_parameters && !flo_scene_find_key(table, name)) return unknown_key(context, table, name);
  }
  return FLO_OK;
}

static size_t count_given(const json_t *object, const char *const names[], char *list, size_t size) {
  size_t n_given = 0;
  list[0] = 0;
  for (size_t k = 0; k < FLO_SCENE_MAX_ALTERNATIVES && names[k]; k++) {
    n_given += json_object_get(object, names[k]) != NULL;
    flo_text_append(list, size, k + 1 < FLO_SCENE_MAX_ALTERNATIVES && names[k + 1] ? ", " : " or ", names[k]);
  }
  return n_given;
}

static FloStatus check_exactly_one(FloSceneContext *context, json_t *object, const char *what,
                                   const char *const names[]) {
  char list[256];
  size_t n_given = count_given(object, names, list, sizeof list);
  if (!names[0] || n_given == 1) return FLO_OK;
  return flo_scene_fail(context, "%s needs exactly one of %s, got %zu", what, list, n_given);
}

static FloStatus check_at_most_one(FloSceneContext *context, json_t *object, const char *what,
                                   const char *const names[]) {
  char list[256];
  size_t n_given = count_given(object, names, list, sizeof list);
  if (n_given <= 1) return FLO_OK;
  return flo_scene_fail(context, "%s may have only one of %s, got %zu", what, list, n_given);
}

FloStatus flo_scene_check_alternatives(FloSceneContext *context, json_t *object, const FloSceneTable *table) {
  FLO_TRY(check_exactly_one(context, object, table->name, table->exactly_one));
  FLO_TRY(check_exactly_one(context, object, table->name, table->also_exactly_one));
  FLO_TRY(check_at_most_one(context, object, table->name, table->at_most_one));
  FLO_TRY(check_at_most_one(context, object, table->name, table->also_at_most_one));
  char list[256];
  size_t n_given = count_given(object, table->at_least_one, list, sizeof list);
  if (!table->at_least_one[0] || n_given > 0) return FLO_OK;
  return flo_scene_fail(context, "%s needs at least one of %s", table->name, list);
}

// ---- Types ----

static const struct {
  unsigned type;
  const char *phrase;
} phrases[] = {
    {FLO_SCENE_NUMBER, "a number or an expression"},
    {FLO_SCENE_INTEGER, "a whole number"},
    {FLO_SCENE_BOOLEAN, "true or false"},
    {FLO_SCENE_TEXT | FLO_SCENE_NAME, "text"},
    {FLO_SCENE_COLOUR, "a colour such as \"#3355ff\""},
    {FLO_SCENE_PAIR, "a list of 2 numbers"},
    {FLO_SCENE_VECTOR | FLO_SCENE_FIELD, "a list of 3 numbers"},
    {FLO_SCENE_COUNTS, "a list of 3 whole numbers"},
    {FLO_SCENE_TRIPLE, "a list of 3 numbers"},
    {FLO_SCENE_POINTS, "a list of points [x, y]"},
    {FLO_SCENE_CORNERS, "a list of two corners"},
    {FLO_SCENE_OBJECT, "an object"},
    {FLO_SCENE_LIST, "a list of objects"},
    {FLO_SCENE_MAP, "an object of names"},
};

static FloStatus wrong_type(FloSceneContext *context, unsigned types, const json_t *value) {
  char wanted[256] = "";
  for (size_t k = 0; k < FLO_COUNT_OF(phrases); k++) {
    if (!(types & phrases[k].type)) continue;
    bool is_plane = context->dim == 2 && phrases[k].type & (FLO_SCENE_VECTOR | FLO_SCENE_COUNTS);
    flo_text_append(wanted, sizeof wanted, " or ", is_plane ? "a list of 2 numbers" : phrases[k].phrase);
  }
  char found[96], hint[64] = "";
  // An expression must be text, even if it is a plain number.
  if (types == FLO_SCENE_TEXT && json_is_number(value))
    snprintf(hint, sizeof hint, "; write it as text: \"%.9g\"", json_number_value(value));
  return flo_scene_fail(context, "must be %s, got %s%s", wanted, flo_shown_value(value, found), hint);
}

// ---- Numbers ----

// If the value has the wrong sign, the message names zero as the limit, not the largest permitted value.
static FloStatus fail_range(FloSceneContext *context, double value, FloSceneRange range) {
  const char *sign = range.is_open ? ">" : ">=", *zero = range.includes_zero ? "0 or " : "";
  bool is_tiny = range.low > 0 && range.low < 1e-3, is_high_far = range.high >= 1e4;
  if (value <= 0 && is_tiny) return flo_scene_fail(context, "must be > 0, got %.9g", value);
  if (value > range.high && is_high_far)
    return flo_scene_fail(context, "must be <= %.9g, got %.9g", range.high, value);
  if (is_high_far) return flo_scene_fail(context, "must be %s %g, got %.9g", sign, range.low, value);
  if (range.low == range.high) return flo_scene_fail(context, "must be %g, got %.9g", range.low, value);
  return flo_scene_fail(context, "must be %s%s %g and <= %.9g, got %.9g", zero, sign, range.low, range.high,
                        value);
}

static FloStatus check_range(FloSceneContext *context, double value, FloSceneRange range) {
  bool is_low = value < range.low || (range.is_open && value == range.low);
  bool is_fine = (!is_low && value <= range.high) || (range.includes_zero && value == 0);
  return is_fine ? FLO_OK : fail_range(context, value, range);
}

FloStatus flo_scene_resolve_number(FloSceneContext *context, json_t *value, FloSceneRange range,
                                   json_t **replacement) {
  *replacement = NULL;
  if (json_is_number(value)) return check_range(context, json_number_value(value), range);
  if (!json_is_string(value)) return wrong_type(context, FLO_SCENE_NUMBER, value);
  double number;
  FLO_TRY(flo_scene_evaluate(context, json_string_value(value), &number));
  FLO_TRY(check_range(context, number, range));
  *replacement = json_real(number);
  return *replacement ? FLO_OK : flo_scene_no_memory(context);
}

static FloStatus resolve_integer(FloSceneContext *context, json_t *value, FloSceneRange range,
                                 json_t **replacement) {
  FLO_TRY(flo_scene_resolve_number(context, value, range, replacement));
  double number = json_number_value(*replacement ? *replacement : value);
  json_decref(*replacement);
  *replacement = NULL;
  if (number != floor(number)) return flo_scene_fail(context, "must be a whole number, got %.9g", number);
  *replacement = json_integer((json_int_t)number);
  return *replacement ? FLO_OK : flo_scene_no_memory(context);
}

// A component of a field. Text that depends on the position stays text; anything else becomes a number. The
// number of an instance and the count are known only here, so they are written into the text.
static FloStatus resolve_component(FloSceneContext *context, json_t *value, FloSceneRange range,
                                   json_t **replacement) {
  *replacement = NULL;
  if (!json_is_string(value)) return flo_scene_resolve_number(context, value, range, replacement);
  FloExpression *expression;
  FLO_TRY(flo_scene_compile(context, json_string_value(value), true, &expression));
  bool is_constant = flo_expression_is_constant(expression);
  flo_expression_destroy(expression);
  if (is_constant) return flo_scene_resolve_number(context, value, range, replacement);
  if (context->n_instances == 0) return FLO_OK;
  char number[24], count[24];
  snprintf(number, sizeof number, "%zu", context->instance);
  snprintf(count, sizeof count, "%zu", context->n_instances);
  *replacement = flo_scene_substitute(json_string_value(value), 2, (const char *const[]){"i", "n"},
                                      (const char *const[]){number, count});
  return *replacement ? FLO_OK : flo_scene_no_memory(context);
}

// ---- Lists of numbers ----

// In 2D a vector may have a third component of zero (counts: of one), and the third of three numbers may be
// missing.
static FloStatus fit_components(FloSceneContext *context, unsigned types, json_t *list) {
  size_t n_given = json_array_size(list);
  size_t n_wanted = types & FLO_SCENE_PAIR ? 2 : types & FLO_SCENE_TRIPLE ? 3 : (size_t)context->dim;
  if (n_given == 3 && n_wanted == 2 && !(types & FLO_SCENE_PAIR)) {
    json_t *third = json_array_get(list, 2);
    if (!json_is_number(third) || json_number_value(third) != (types & FLO_SCENE_COUNTS ? 1 : 0))
      return flo_scene_fail(context, "must have 2 components, because the scene is two-dimensional");
    n_given -= !json_array_remove(list, 2);
  }
  if (n_given == 2 && n_wanted == 3 && context->dim == 2)
    n_given += !json_array_append_new(list, json_integer(0));
  if (n_given == n_wanted) return FLO_OK;
  return flo_scene_fail(context, "must be a list of %zu numbers, got %zu", n_wanted, n_given);
}

static FloStatus resolve_one(FloSceneContext *context, const FloSceneKey *key, json_t *value,
                             json_t **replacement) {
  if (key->types & FLO_SCENE_FIELD) return resolve_component(context, value, key->range, replacement);
  if (key->types & FLO_SCENE_COUNTS) return resolve_integer(context, value, key->range, replacement);
  return flo_scene_resolve_number(context, value, key->range, replacement);
}

static FloStatus check_length(FloSceneContext *context, size_t n, const char *what) {
  if (n <= FLO_SCENE_MAX_LIST) return FLO_OK;
  return flo_scene_fail(context, "has %zu %s, at most %d are allowed", n, what, FLO_SCENE_MAX_LIST);
}

static FloStatus resolve_components(FloSceneContext *context, const FloSceneKey *key, json_t *list) {
  FLO_TRY(fit_components(context, key->types, list));
  json_t *replacement;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FLO_TRY(resolve_one(context, key, at.entry, &replacement));
    if (replacement && json_array_set_new(list, at.index, replacement)) return flo_scene_no_memory(context);
  }
  return FLO_OK;
}

static FloStatus resolve_points(FloSceneContext *context, const FloSceneKey *key, json_t *list) {
  const FloSceneKey pair = {.name = key->name, .types = FLO_SCENE_PAIR, .range = key->range};
  FLO_TRY(check_length(context, json_array_size(list), "points"));
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    if (!json_is_array(at.entry)) return wrong_type(context, FLO_SCENE_PAIR, at.entry);
    FLO_TRY(resolve_components(context, &pair, at.entry));
  }
  return FLO_OK;
}

static FloStatus resolve_corners(FloSceneContext *context, const FloSceneKey *key, json_t *list) {
  const FloSceneKey corner = {.name = key->name, .types = FLO_SCENE_VECTOR, .range = key->range};
  if (json_array_size(list) != 2)
    return flo_scene_fail(context, "must be a list of two corners, such as [[0, 0, 0], [1, 1, 1]]");
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    if (!json_is_array(at.entry)) return wrong_type(context, FLO_SCENE_VECTOR, at.entry);
    FLO_TRY(resolve_components(context, &corner, at.entry));
  }
  return FLO_OK;
}

// ---- Text ----

static FloStatus check_name(FloSceneContext *context, const char *text) {
  size_t length = strlen(text);
  if (length == 0 || length > 63)
    return flo_scene_fail(context, "a name must have 1 to 63 characters, got %zu", length);
  for (size_t k = 0; k < length; k++) {
    if ((unsigned char)text[k] < ' ' || strchr(",;\"'/\\", text[k]))
      return flo_scene_fail(context,
                            "a name must not have commas, semicolons, quotes and slashes, got '%.60s'", text);
  }
  return FLO_OK;
}

static FloStatus check_text(FloSceneContext *context, const FloSceneKey *key, const char *text) {
  const bool takes_colour = key->types & FLO_SCENE_COLOUR;
  uint8_t rgb[3];
  if (key->types & FLO_SCENE_NAME) return check_name(context, text);
  if (takes_colour && flo_scene_colour(text, rgb)) return FLO_OK;
  if (takes_colour && !key->choices)
    return flo_scene_fail(context, "must be a colour such as \"#3355ff\", got '%.60s'", text);
  if (!key->choices) return FLO_OK;
  FloSuggestion suggestion = flo_suggest_start(text);
  char list[256] = "";
  for (size_t k = 0; key->choices[k]; k++) {
    if (!strcmp(key->choices[k], text)) return FLO_OK;
    flo_suggest_offer(&suggestion, key->choices[k]);
    flo_text_append(list, sizeof list, k ? ", " : "", key->choices[k]);
  }
  char hint[128];
  return flo_scene_fail(context, "must be one of %s%s, got '%.60s'%s", list,
                        takes_colour ? ", or a colour such as #3355ff" : "", text,
                        flo_suggest_text(&suggestion, hint));
}

// ---- The walk ----

static FloStatus resolve_entry(FloSceneContext *context, json_t *entry, const FloSceneTable *table) {
  if (!json_is_object(entry)) return wrong_type(context, FLO_SCENE_OBJECT, entry);
  return flo_scene_resolve_object(context, entry, table);
}

// A word in a list of objects becomes the object that it is short for.
static FloStatus expand_word(FloSceneContext *context, const FloSceneKey *key, json_t *list, size_t index) {
  const char *word = json_string_value(json_array_get(list, index));
  FLO_TRY(check_text(context, key, word));
  json_t *object = json_pack("{s:b}", word, 1);
  return json_array_set_new(list, index, object) ? flo_scene_no_memory(context) : FLO_OK;
}

static FloStatus resolve_list(FloSceneContext *context, const FloSceneKey *key, json_t *list) {
  FLO_TRY(check_length(context, json_array_size(list), "entries"));
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    if (key->choices && json_is_string(at.entry)) FLO_TRY(expand_word(context, key, list, at.index));
    FLO_TRY(resolve_entry(context, json_array_get(list, at.index), key->table));
  }
  return FLO_OK;
}

// A map without a table holds numbers: the constants, which are evaluated already.
static FloStatus resolve_map(FloSceneContext *context, json_t *map, const FloSceneTable *table) {
  if (!table) return FLO_OK;
  FLO_TRY(check_length(context, json_object_size(map), "entries"));
  const char *name;
  json_t *entry;
  json_object_foreach(map, name, entry) {
    size_t mark = flo_scene_enter(context, name);
    FLO_TRY(check_name(context, name));
    FLO_TRY(resolve_entry(context, entry, table));
    flo_scene_leave(context, mark);
  }
  return FLO_OK;
}

enum {
  ANY_NUMBER = FLO_SCENE_NUMBER | FLO_SCENE_INTEGER,
  ANY_TEXT = FLO_SCENE_TEXT | FLO_SCENE_NAME | FLO_SCENE_COLOUR,
  ANY_COMPONENTS = FLO_SCENE_PAIR | FLO_SCENE_VECTOR | FLO_SCENE_TRIPLE | FLO_SCENE_FIELD | FLO_SCENE_COUNTS,
};

static FloStatus resolve_value(FloSceneContext *context, const FloSceneKey *key, json_t *value,
                               json_t **replacement) {
  unsigned types = key->types;
  *replacement = NULL;
  if (types & FLO_SCENE_SPECIAL) return flo_scene_fail(context, "cannot be set with --set");
  if (json_is_object(value) && types & FLO_SCENE_OBJECT)
    return flo_scene_resolve_object(context, value, key->table);
  if (json_is_object(value) && types & FLO_SCENE_MAP) return resolve_map(context, value, key->table);
  if (json_is_array(value) && types & FLO_SCENE_LIST) return resolve_list(context, key, value);
  if (json_is_array(value) && types & FLO_SCENE_POINTS) return resolve_points(context, key, value);
  if (json_is_array(value) && types & FLO_SCENE_CORNERS) return resolve_corners(context, key, value);
  if (json_is_array(value) && types & ANY_COMPONENTS) return resolve_components(context, key, value);
  if (json_is_boolean(value) && types & FLO_SCENE_BOOLEAN) return FLO_OK;
  if (json_is_string(value) && types & ANY_TEXT) return check_text(context, key, json_string_value(value));
  if ((json_is_string(value) || json_is_number(value)) && types & ANY_NUMBER) {
    if (types & FLO_SCENE_INTEGER) return resolve_integer(context, value, key->range, replacement);
    return flo_scene_resolve_number(context, value, key->range, replacement);
  }
  return wrong_type(context, types, value);
}

static FloStatus write_default(FloSceneContext *context, json_t *object, const FloSceneKey *key) {
  json_t *value = key->library ? key->library() : json_loads(key->fallback, JSON_DECODE_ANY, NULL);
  return json_object_set_new(object, key->name, value) ? flo_scene_no_memory(context) : FLO_OK;
}

static FloStatus resolve_key(FloSceneContext *context, json_t *object, const FloSceneKey *key) {
  if (!json_object_get(object, key->name)) {
    if (key->is_required) return flo_scene_fail(context, "needs '%s': %s", key->name, key->help);
    if (!key->fallback && !key->library) return FLO_OK;
    FLO_TRY(write_default(context, object, key));
  }
  size_t mark = flo_scene_enter(context, key->name);
  json_t *replacement;
  FLO_TRY(resolve_value(context, key, json_object_get(object, key->name), &replacement));
  if (replacement && json_object_set_new(object, key->name, replacement)) return flo_scene_no_memory(context);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

FloStatus flo_scene_resolve_object(FloSceneContext *context, json_t *object, const FloSceneTable *table) {
  FLO_TRY(flo_scene_check_known(context, object, table));
  FLO_TRY(flo_scene_check_alternatives(context, object, table));
  for (size_t k = 0; k < table->n_keys; k++) FLO_TRY(resolve_key(context, object, &table->keys[k]));
  return FLO_OK;
}

static FloStatus resolve_constants(FloSceneContext *context, json_t *root) {
  json_t *constants = json_object_get(root, "constants");
  if (!constants) return FLO_OK;
  size_t mark = flo_scene_enter(context, "constants");
  if (!json_is_object(constants)) return flo_scene_fail(context, "must be an object of names and numbers");
  flo_scene_leave(context, mark);
  return flo_scene_evaluate_constants(context, constants);
}

static FloStatus resolve_up(FloSceneContext *context, json_t *root) {
  if (!json_object_get(root, "up") &&
      json_object_set_new(root, "up", json_string(context->dim == 2 ? "y" : "z")))
    return flo_scene_no_memory(context);
  FLO_TRY(resolve_key(context, root, flo_scene_find_key(&flo_scene_table, "up")));
  context->up = flo_json_text(root, "up")[0] - 'x';
  if (context->up < context->dim) return FLO_OK;
  flo_scene_enter(context, "up");
  return flo_scene_fail(context, "must be x or y in a two-dimensional scene");
}

// Values that others depend on are checked first: the format's version, the constants, and the directions.
static FloStatus resolve_head(FloSceneContext *context, json_t *root) {
  FLO_TRY(resolve_key(context, root, flo_scene_find_key(&flo_scene_table, "schema_version")));
  FLO_TRY(flo_scene_check_known(context, root, &flo_scene_table));
  FLO_TRY(resolve_constants(context, root));
  FLO_TRY(resolve_key(context, root, flo_scene_find_key(&flo_scene_table, "dimension")));
  context->dim = (int)flo_json_number(root, "dimension");
  FLO_TRY(resolve_up(context, root));
  FLO_TRY(resolve_key(context, root, flo_scene_find_key(&flo_scene_table, "spacing")));
  context->spacing = flo_json_number(root, "spacing");
  return FLO_OK;
}

FloStatus flo_scene_resolve(FloSceneContext *context, json_t *root) {
  FLO_TRY(resolve_head(context, root));
  FLO_TRY(flo_scene_expand(context, root));
  return flo_scene_resolve_object(context, root, &flo_scene_table);
}
