#include "io/scene_context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core.h"
#include "io/shown.h"
#include "io/suggest.h"

// ---- Failing ----

// The origin of the innermost value around `path` that has one; *rest is what remains of the path below it.
static const json_t *find_origin(const FloSceneContext *context, const char *path, const char **rest) {
  char place[sizeof context->path];
  snprintf(place, sizeof place, "%s", path);
  for (size_t length = strlen(place); context->origins && length > 0;) {
    const json_t *origin = json_object_get(context->origins, place);
    if (origin) {
      *rest = path + length;
      return origin;
    }
    while (length > 0 && place[--length] != '/') continue;
    place[length] = 0;
  }
  return NULL;
}

static const char *origin_text(const json_t *origin, size_t k) {
  return json_string_value(json_array_get(origin, k));
}

const char *flo_scene_file_at(const FloSceneContext *context) {
  const char *rest;
  const json_t *origin = find_origin(context, context->path, &rest);
  return origin ? origin_text(origin, 0) : context->file;
}

json_t *flo_scene_origin(const FloSceneContext *context, const char *note) {
  const char *rest = context->path;
  const json_t *known = find_origin(context, context->path, &rest);
  char path[2 * sizeof context->path];
  snprintf(path, sizeof path, "%s%s", known ? origin_text(known, 1) : "", rest);
  json_t *file = json_stringn_nocheck(context->file, strlen(context->file));
  if (known) {
    json_decref(file);
    file = json_incref(json_array_get(known, 0));
    if (!*note) note = origin_text(known, 2);
  }
  json_t *origin = json_array();
  json_array_append_new(origin, file);
  json_array_append_new(origin, json_stringn_nocheck(path, strlen(path)));
  json_array_append_new(origin, json_stringn_nocheck(note, strlen(note)));
  if (json_array_size(origin) == 3) return origin;
  json_decref(origin);
  return NULL;
}

FloStatus flo_scene_set_origin(FloSceneContext *context, const char *place, json_t *origin) {
  return json_object_set_new_nocheck(context->origins, place, origin) ? flo_scene_no_memory(context) : FLO_OK;
}

void flo_scene_forget_origins(FloSceneContext *context, const char *place) {
  const char *key;
  json_t *origin;
  void *next;
  size_t length = strlen(place);
  json_object_foreach_safe(context->origins, next, key, origin) {
    if (!strncmp(key, place, length) && (key[length] == 0 || key[length] == '/'))
      json_object_del(context->origins, key);
  }
}

// " (instance 3 of 8)" while instances are made, else the note of the origin.
static void describe_place(const FloSceneContext *context, const json_t *origin, char *text, size_t size) {
  const char *note = origin ? origin_text(origin, 2) : "";
  if (context->n_instances > 1)
    snprintf(text, size, " (instance %zu of %zu)", context->instance + 1, context->n_instances);
  else
    snprintf(text, size, "%s%s%s", *note ? " (" : "", note, *note ? ")" : "");
}

static FloStatus fail_with(FloSceneContext *context, FloStatus status, const char *text) {
  context->has_failed = true;
  const char *rest = context->path;
  const json_t *origin = find_origin(context, context->path, &rest);
  char note[256];
  describe_place(context, origin, note, sizeof note);
  flo_fail(context->error, status, "%s: %s%s%s%s%s", origin ? origin_text(origin, 0) : context->file,
           origin ? origin_text(origin, 1) : "", rest, note, context->path[0] ? ": " : "", text);
  // A file's text may hold any bytes, so control characters are masked for the terminal.
  if (context->error) flo_shown_mask(context->error->text);
  return status;
}

FloStatus flo_scene_fail(FloSceneContext *context, const char *format, ...) {
  char text[sizeof((FloError *)0)->text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fail_with(context, FLO_BAD_INPUT, text);
}

FloStatus flo_scene_no_memory(FloSceneContext *context) {
  return fail_with(context, FLO_NO_MEMORY, "out of memory");
}

FloStatus flo_scene_pass_on(FloSceneContext *context, FloStatus status, const FloError *cause) {
  return fail_with(context, status, cause->text);
}

static const char word_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

bool flo_text_has_word(const char *text, const char *word) {
  while (*text) {
    text += strcspn(text, word_letters);
    size_t length = strspn(text, word_letters);
    if (length > 0 && length == strlen(word) && !strncmp(text, word, length)) return true;
    text += length;
  }
  return false;
}

void flo_text_append(char *text, size_t size, const char *separator, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s", length ? separator : "", more);
}

// Writes "there is: a, b, c", or that there is none.
static const char *list_names(json_t *names, char *text, size_t size) {
  const char *name;
  json_t *value;
  size_t used =
      (size_t)snprintf(text, size, "%s", json_object_size(names) ? "there is:" : "this scene has none");
  json_object_foreach(names, name, value) {
    if (used + 64 > size) break;
    used += (size_t)snprintf(text + used, size - used, "%s %.50s", used > 9 ? "," : "", name);
  }
  return text;
}

FloStatus flo_scene_unknown(FloSceneContext *context, const char *what, const char *word, json_t *names) {
  FloSuggestion suggestion = flo_suggest_start(word);
  const char *name;
  json_t *value;
  json_object_foreach(names, name, value) flo_suggest_offer(&suggestion, name);
  char hint[128], known[512];
  if (*flo_suggest_text(&suggestion, hint))
    return flo_scene_fail(context, "unknown %s '%.60s'%s", what, word, hint);
  return flo_scene_fail(context, "unknown %s '%.60s'; %s", what, word,
                        list_names(names, known, sizeof known));
}

FloStatus flo_scene_no_name(FloSceneContext *context, const char *where, const char *word, json_t *names,
                            const char *more) {
  FloSuggestion suggestion = flo_suggest_start(word);
  const char *name;
  json_t *value;
  json_object_foreach(names, name, value) flo_suggest_offer(&suggestion, name);
  char hint[128], known[512];
  return flo_scene_fail(context, "there is no '%.60s' in %.60s%s (%s)%s", word, where,
                        flo_suggest_text(&suggestion, hint), list_names(names, known, sizeof known), more);
}

// ---- The current place ----

size_t flo_scene_enter(FloSceneContext *context, const char *key) {
  size_t mark = context->path_length, space = sizeof context->path - mark;
  int length = snprintf(context->path + mark, space, "/%s", key);
  context->path_length += flo_min_size((size_t)length, space - 1);
  return mark;
}

size_t flo_scene_enter_index(FloSceneContext *context, size_t index) {
  char key[24];
  snprintf(key, sizeof key, "%zu", index);
  return flo_scene_enter(context, key);
}

void flo_scene_leave(FloSceneContext *context, size_t mark) {
  context->path_length = mark;
  context->path[mark] = 0;
}

FloSceneEntries flo_scene_entries(const FloSceneContext *context, const json_t *list) {
  // Starts one before the first: the next index is 0.
  return (FloSceneEntries){.list = list, .index = SIZE_MAX, .mark = context->path_length};
}

bool flo_scene_next(FloSceneContext *context, FloSceneEntries *entries) {
  flo_scene_leave(context, entries->mark);
  entries->entry = json_array_get(entries->list, ++entries->index);
  if (entries->entry) flo_scene_enter_index(context, entries->index);
  return entries->entry != NULL;
}

FloScenePlace flo_scene_go_to(FloSceneContext *context, const char *key, const char *name) {
  FloScenePlace place = {.path_length = context->path_length};
  _Static_assert(sizeof place.path == sizeof context->path, "a place must hold a whole path");
  memcpy(place.path, context->path, sizeof place.path);
  flo_scene_leave(context, 0);
  flo_scene_enter(context, key);
  flo_scene_enter(context, name);
  return place;
}

void flo_scene_go_back(FloSceneContext *context, const FloScenePlace *place) {
  memcpy(context->path, place->path, sizeof place->path);
  context->path_length = place->path_length;
}

// ---- Constants and expressions ----

static const char *const positions[] = {"x", "y", "z"};

static FloStatus work_out_constant(FloSceneContext *context, const char *name, double *value);

static FloStatus find_constant(void *user, const char *name, bool *found, double *value, FloError *error) {
  (void)error; // the message is written through the context, which has file and path
  FloSceneContext *context = user;
  bool is_number = !strcmp(name, "i"), is_count = !strcmp(name, "n");
  if (context->n_instances > 0 && (is_number || is_count)) {
    *found = true;
    *value = (double)(is_number ? context->instance : context->n_instances);
    return FLO_OK;
  }
  *found = context->constants && json_object_get(context->constants, name);
  return *found ? work_out_constant(context, name, value) : FLO_OK;
}

static const char *constant_name(void *user, size_t k) {
  json_t *constants = ((FloSceneContext *)user)->constants;
  void *entry = constants ? json_object_iter(constants) : NULL;
  while (entry && k--) entry = json_object_iter_next(constants, entry);
  return entry ? json_object_iter_key(entry) : NULL;
}

// Words that C and other languages read as numbers. As unknown names they would get confusing suggestions.
static bool is_no_number(const char *text) {
  static const char *const words[] = {"nan", "inf", "infinity"};
  text += *text == '-' || *text == '+';
  for (size_t k = 0; k < FLO_COUNT_OF(words); k++)
    if (!strcasecmp(text, words[k])) return true;
  return false;
}

FloStatus flo_scene_compile(FloSceneContext *context, const char *text, bool has_position,
                            FloExpression **out) {
  *out = NULL;
  if (is_no_number(text) && !json_object_get(context->constants, text))
    return flo_scene_fail(context, "must be a finite number, got \"%s\"", text);
  FloExpressionScope scope = {.find = find_constant,
                              .name_at = constant_name,
                              .context = context,
                              .variables = positions,
                              .n_variables = has_position ? FLO_COUNT_OF(positions) : 0};
  FloError cause = {0};
  FloStatus status = flo_expression_compile(text, &scope, out, &cause);
  if (status == FLO_OK || context->has_failed) return status;
  return status == FLO_NO_MEMORY ? flo_scene_no_memory(context)
                                 : flo_scene_fail(context, "\"%.80s\", %s", text, cause.text);
}

FloStatus flo_scene_evaluate(FloSceneContext *context, const char *text, double *value) {
  FloExpression *expression;
  FLO_TRY(flo_scene_compile(context, text, false, &expression));
  *value = flo_expression_evaluate(expression, NULL);
  flo_expression_destroy(expression);
  if (isfinite(*value)) return FLO_OK;
  // Printed, it might have a sign.
  if (isnan(*value)) return flo_scene_fail(context, "\"%.80s\" is not a number", text);
  return flo_scene_fail(context, "\"%.80s\" gives %g, not a finite number", text, *value);
}

static FloStatus fail_circle(FloSceneContext *context, const char *name) {
  char circle[512];
  size_t length = 0, first = 0;
  while (strcmp(context->chain[first], name)) first++;
  for (size_t k = first; k < context->n_chain && length < sizeof circle; k++)
    length += (size_t)snprintf(circle + length, sizeof circle - length, "%.60s -> ", context->chain[k]);
  return flo_scene_fail(context, "constants refer to each other in a circle: %s%.60s", circle, name);
}

// Numbers are used directly. Text is evaluated, which calls this function again for the constants in it.
static FloStatus work_out_constant(FloSceneContext *context, const char *name, double *value) {
  json_t *given = json_object_get(context->constants, name);
  if (json_is_number(given)) {
    *value = json_number_value(given);
    return FLO_OK;
  }
  for (size_t k = 0; k < context->n_chain; k++)
    if (!strcmp(context->chain[k], name)) return fail_circle(context, name);
  if (context->n_chain == FLO_SCENE_MAX_CHAIN)
    return flo_scene_fail(context,
                          "a chain of more than %d constants refer to one another; make the chain shorter",
                          FLO_SCENE_MAX_CHAIN);

  // A message must name the wrong constant, not the value that uses it.
  FloScenePlace user = flo_scene_go_to(context, "constants", name);
  char found[96];
  if (!json_is_string(given))
    return flo_scene_fail(context, "must be a number or an expression, got %s",
                          flo_shown_value(given, found));
  context->chain[context->n_chain++] = name;
  FLO_TRY(flo_scene_evaluate(context, json_string_value(given), value));
  context->n_chain--;
  flo_scene_go_back(context, &user);
  return json_object_set_new(context->constants, name, json_real(*value)) ? flo_scene_no_memory(context)
                                                                          : FLO_OK;
}

static bool is_identifier(const char *name) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  size_t length = strlen(name);
  return length > 0 && length < 64 && strspn(name, letters) > 0 && strspn(name, word_letters) == length;
}

static FloStatus check_constant_name(FloSceneContext *context, const char *name) {
  if (!is_identifier(name))
    return flo_scene_fail(context, "'%.60s' cannot name a constant: use up to 63 letters, digits and _",
                          name);
  if (flo_expression_is_reserved(name) || !strcmp(name, "x") || !strcmp(name, "y") || !strcmp(name, "z") ||
      !strcmp(name, "t"))
    return flo_scene_fail(
        context, "'%s' cannot name a constant: it has another meaning in expressions; choose another name",
        name);
  return FLO_OK;
}

FloStatus flo_scene_evaluate_constants(FloSceneContext *context, json_t *constants) {
  context->constants = constants;
  size_t mark = flo_scene_enter(context, "constants");
  if (json_object_size(constants) > FLO_SCENE_MAX_CONSTANTS)
    return flo_scene_fail(context, "has %zu constants, at most %d are allowed", json_object_size(constants),
                          FLO_SCENE_MAX_CONSTANTS);
  const char *name;
  json_t *given;
  json_object_foreach(constants, name, given) {
    double value;
    FLO_TRY(check_constant_name(context, name));
    FLO_TRY(work_out_constant(context, name, &value));
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}
