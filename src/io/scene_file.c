// Reads a scene's text, and applies the changes of the command line before anything is checked.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core.h"
#include "io/scene_steps.h"
#include "io/shown.h"
#include "io/suggest.h"

#define MAX_FILE_SIZE ((size_t)64 << 20)
#define TOO_LARGE     "larger than 64 MB; put large data into particle or mesh files"

// ---- The file ----

static FloStatus io_failed(FloSceneContext *context, const char *what) {
  FloError cause;
  flo_fail(&cause, FLO_IO_FAILED, "%s", what);
  return flo_scene_pass_on(context, FLO_IO_FAILED, &cause);
}

// Reads at most one byte more than the limit, so that endless pipes and devices are refused too.
static FloStatus read_stream(FloSceneContext *context, FILE *stream, char **text, size_t *length) {
  size_t capacity = 1 << 16;
  *length = 0;
  *text = malloc(capacity);
  while (*text) {
    *length += fread(*text + *length, 1, capacity - *length, stream);
    if (ferror(stream)) return io_failed(context, strerror(errno));
    if (*length > MAX_FILE_SIZE) return flo_scene_fail(context, TOO_LARGE);
    if (*length < capacity) return FLO_OK;
    capacity *= 2;
    char *larger = realloc(*text, capacity);
    if (!larger) break;
    *text = larger;
  }
  return flo_scene_no_memory(context);
}

static FloStatus read_text(FloSceneContext *context, char **text, size_t *length) {
  struct stat about;
  if (stat(context->file, &about)) return io_failed(context, strerror(errno));
  if (S_ISDIR(about.st_mode)) return io_failed(context, "is a folder, not a scene file");
  FILE *stream = fopen(context->file, "rb");
  if (!stream) return io_failed(context, strerror(errno));
  FloStatus status = read_stream(context, stream, text, length);
  fclose(stream);
  return status;
}

static bool is_blank(const char *text, size_t length) {
  for (size_t k = 0; k < length; k++)
    if (!strchr(" \t\r\n", text[k]) || !text[k]) return false;
  return true;
}

// Whether the bracket that the parser refused follows a comma. The position is after the bracket.
static bool has_comma_before(const char *text, size_t length, const json_error_t *problem) {
  size_t back = flo_min_size(problem->position > 0 ? (size_t)problem->position - 1 : 0, length);
  while (back > 0 && strchr(" \t\r\n", text[back - 1])) --back;
  return back > 0 && text[back - 1] == ',';
}

// A hint for text that is valid in JavaScript or other languages, but not in JSON; "" for other errors.
static const char *find_remedy(const char *text, size_t length, const json_error_t *problem) {
  static const struct {
    const char *symptom, *remedy;
  } habits[] = {
      {"near '/", "; JSON has no comments, write notes into \"shows\""},
      {"near '#", "; JSON has no comments, write notes into \"shows\""},
      {"near '\'", "; use double quotes"},
      {"near 'NaN'", "; a number must be finite"},
      {"near 'Infinity'", "; a number must be finite"},
      {"near 'True'", "; write true in lower case"},
      {"near 'False'", "; write false in lower case"},
      {"near 'None'", "; leave out a key that has no value"},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(habits); k++)
    if (strstr(problem->text, habits[k].symptom)) return habits[k].remedy;
  bool is_bracket = strstr(problem->text, "near '}'") || strstr(problem->text, "near ']'");
  return is_bracket && has_comma_before(text, length, problem) ? "; remove the comma after the last entry"
                                                               : "";
}

// The message of the parser, in words for authors of scenes.
static const char *reword(const char *text, size_t length, const json_error_t *problem, char out[256]) {
  static const char decode[] = "unable to decode byte ";
  const char *found = strstr(problem->text, decode);
  if (found)
    snprintf(out, 256, "byte %.4s is not UTF-8; save the file as UTF-8", found + sizeof decode - 1);
  else if (strstr(problem->text, "JSON_ALLOW_NUL"))
    snprintf(out, 256, "\\u0000 is not allowed in text; leave it out");
  else if (strstr(problem->text, "near end of file") && memchr(text, 0, length))
    snprintf(out, 256, "the text holds a zero byte; remove it");
  else
    snprintf(out, 256, "%s%s", problem->text, find_remedy(text, length, problem));
  return out;
}

static FloStatus fail_syntax(FloSceneContext *context, const char *text, size_t length,
                             const json_error_t *problem) {
  // Errors in the text have a line. Without a line, memory ran out.
  if (problem->line < 0) return flo_scene_no_memory(context);
  char words[256];
  return flo_scene_fail(context, "line %d, column %d: %s", problem->line, problem->column,
                        reword(text, length, problem, words));
}

FloStatus flo_scene_read_text(FloSceneContext *context, const char *text, size_t length, json_t **root) {
  json_error_t problem;
  *root = NULL;
  if (length > MAX_FILE_SIZE) return flo_scene_fail(context, TOO_LARGE);
  // Some editors put a UTF-8 mark in front, or save as UTF-16.
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, length -= 3;
  if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2) ||
                      !memcmp(text, "{\0", 2) || !memcmp(text, "\0{", 2)))
    return flo_scene_fail(context, "is UTF-16 text; save it as UTF-8");
  if (is_blank(text, length))
    return flo_scene_fail(context, "is empty; a scene is a JSON object: { \"schema_version\": 1, ... }");
  *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
  if (!*root) return fail_syntax(context, text, length, &problem);
  char found[96];
  if (json_is_object(*root)) return FLO_OK;
  return flo_scene_fail(context, "a scene must be a JSON object: { ... }, got %s",
                        flo_shown_value(*root, found));
}

FloStatus flo_scene_read_file(FloSceneContext *context, json_t **root) {
  char *text = NULL;
  size_t length = 0;
  *root = NULL;
  FloStatus status = read_text(context, &text, &length);
  if (status == FLO_OK) status = flo_scene_read_text(context, text, length, root);
  free(text);
  return status;
}

// ---- Text that will be shown ----

enum { MAX_TITLE = 200, MAX_SHOWS = 2000 };

// Whether any text or key in a value holds control characters.
static bool has_control(json_t *value) {
  const char *name;
  json_t *inner;
  size_t index;
  if (json_is_string(value)) return !flo_shown_is_plain(json_string_value(value));
  json_array_foreach(value, index, inner) {
    if (has_control(inner)) return true;
  }
  json_object_foreach(value, name, inner) {
    if (!flo_shown_is_plain(name) || has_control(inner)) return true;
  }
  return false;
}

static FloStatus fail_control(FloSceneContext *context, const char *what, const char *text) {
  char shown[200];
  return flo_scene_fail(context,
                        "%s must not have control characters, such as line breaks and terminal escapes, got "
                        "'%s'",
                        what, flo_shown_escape(text, shown, sizeof shown));
}

// Fails with the path of the first text or key that has them, if there is one.
static FloStatus report_control(FloSceneContext *context, json_t *value) {
  const char *name;
  json_t *inner;
  if (json_is_string(value) && has_control(value))
    return fail_control(context, "text", json_string_value(value));
  for (FloSceneEntries at = flo_scene_entries(context, value); flo_scene_next(context, &at);)
    FLO_TRY(report_control(context, at.entry));
  json_object_foreach(value, name, inner) {
    if (!flo_shown_is_plain(name)) return fail_control(context, "a name", name);
    size_t mark = flo_scene_enter(context, name);
    FLO_TRY(report_control(context, inner));
    flo_scene_leave(context, mark);
  }
  return FLO_OK;
}

static FloStatus check_length(FloSceneContext *context, const json_t *root, const char *key, size_t most) {
  size_t length = json_string_length(json_object_get(root, key)), mark = flo_scene_enter(context, key);
  if (length > most)
    return flo_scene_fail(context, "has %zu bytes, at most %zu are allowed; make it shorter", length, most);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus check_texts(FloSceneContext *context, json_t *root) {
  FLO_TRY(check_length(context, root, "title", MAX_TITLE));
  FLO_TRY(check_length(context, root, "shows", MAX_SHOWS));
  // Tracking the path takes time, so it is done only after an error was found.
  return has_control(root) ? report_control(context, root) : FLO_OK;
}

// ---- Sizes ----

enum { MAX_SIZES = 100 };

static FloStatus check_constant(FloSceneContext *context, const char *constant, const json_t *value,
                                json_t *constants) {
  char found[96];
  if (!json_object_get(constants, constant))
    return flo_scene_unknown(context, "constant", constant, constants);
  size_t mark = flo_scene_enter(context, constant);
  if (!json_is_number(value) && !json_is_string(value))
    return flo_scene_fail(context, "must be a number or an expression, got %s",
                          flo_shown_value(value, found));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// Puts the values of a size into `constants`. The context is at the size, so that messages name it.
static FloStatus take_size(FloSceneContext *context, json_t *size, json_t *constants) {
  const char *constant;
  json_t *value;
  json_object_foreach(size, constant, value) {
    char place[sizeof context->path];
    size_t mark = flo_scene_enter(context, constant);
    json_t *origin = flo_scene_origin(context, "");
    flo_scene_leave(context, mark);
    snprintf(place, sizeof place, "/constants/%.60s", constant);
    if (!origin) return flo_scene_no_memory(context);
    FLO_TRY(flo_scene_set_origin(context, place, origin));
    if (json_object_set(constants, constant, value)) return flo_scene_no_memory(context);
  }
  return FLO_OK;
}

// Evaluates a size as if it were chosen, with its own constants and origins.
static FloStatus try_size(FloSceneContext *context, const char *name, json_t *size, json_t *constants) {
  FloError cause;
  FloSceneContext trial = {.file = context->file, .error = &cause, .dim = context->dim};
  trial.origins = json_copy(context->origins);
  json_t *changed = json_copy(constants);
  flo_scene_enter(&trial, "sizes");
  flo_scene_enter(&trial, name);
  FloStatus status =
      trial.origins && changed ? take_size(&trial, size, changed) : flo_scene_no_memory(&trial);
  flo_scene_leave(&trial, 0);
  if (status == FLO_OK) status = flo_scene_evaluate_constants(&trial, changed);
  json_decref(changed);
  json_decref(trial.origins);
  if (status == FLO_OK) return FLO_OK;
  // The error may be among the constants and occur with this size only, so the size is named.
  char note[96] = "";
  if (!strstr(cause.text, "/sizes/")) snprintf(note, sizeof note, " (with --size %.60s)", name);
  context->has_failed = true;
  return flo_fail(context->error, status, "%s%s", cause.text, note);
}

static FloStatus check_size(FloSceneContext *context, const char *name, json_t *size, json_t *constants) {
  size_t mark = flo_scene_enter(context, name);
  char found[96];
  if (!json_is_object(size))
    return flo_scene_fail(context, "must be an object of constants, got %s", flo_shown_value(size, found));
  const char *constant;
  json_t *value;
  json_object_foreach(size, constant, value) { FLO_TRY(check_constant(context, constant, value, constants)); }
  // Without constants a size cannot change anything.
  if (constants) FLO_TRY(try_size(context, name, size, constants));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus check_sizes(FloSceneContext *context, json_t *sizes, json_t *constants) {
  size_t mark = flo_scene_enter(context, "sizes");
  char found[96];
  if (!json_is_object(sizes))
    return flo_scene_fail(context, "must be an object of named sizes, got %s", flo_shown_value(sizes, found));
  if (json_object_size(sizes) > MAX_SIZES)
    return flo_scene_fail(context, "has %zu sizes, at most %d are allowed", json_object_size(sizes),
                          MAX_SIZES);
  const char *name;
  json_t *size;
  json_object_foreach(sizes, name, size) { FLO_TRY(check_size(context, name, size, constants)); }
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus choose_size(FloSceneContext *context, const char *name, json_t *size, json_t *constants) {
  size_t outer = flo_scene_enter(context, "sizes");
  flo_scene_enter(context, name);
  FLO_TRY(take_size(context, size, constants));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

static FloStatus apply_size(FloSceneContext *context, json_t *root, const char *name) {
  json_t *sizes = json_object_get(root, "sizes"), *constants = json_object_get(root, "constants");
  size_t mark = flo_scene_enter(context, "constants");
  char found[96];
  if (constants && !json_is_object(constants))
    return flo_scene_fail(context, "must be an object of names and numbers, got %s",
                          flo_shown_value(constants, found));
  flo_scene_leave(context, mark);
  if (sizes) FLO_TRY(check_sizes(context, sizes, constants));
  json_t *size = sizes && name ? json_object_get(sizes, name) : NULL;
  if (size) FLO_TRY(choose_size(context, name, size, constants));
  json_object_del(root, "sizes");
  return FLO_OK;
}

FloStatus flo_scene_check_size(FloSceneContext *context, json_t *sizes, const char *name) {
  if (!name || json_object_get(sizes, name)) return FLO_OK;
  if (json_object_size(sizes) == 0)
    return flo_scene_fail(context, "has no size '%.60s': the scene defines no sizes; leave out --size", name);
  return flo_scene_unknown(context, "size", name, sizes);
}

// ---- "path=value" ----

static const char *kind_of(const json_t *value) {
  return json_is_object(value)   ? "an object"
         : json_is_array(value)  ? "a list"
         : json_is_string(value) ? "text"
                                 : "a single value";
}

static FloStatus find_entry(FloSceneContext *context, const json_t *list, const char *word, size_t *index) {
  char *end;
  unsigned long number = strtoul(word, &end, 10);
  if (*word >= '0' && *word <= '9' && !*end) {
    if (number >= json_array_size(list))
      return flo_scene_fail(context, "the list has %zu entries, counted from 0", json_array_size(list));
    *index = number;
    return FLO_OK;
  }
  // An entry with a name may be given by this name.
  FloSuggestion suggestion = flo_suggest_start(word);
  for (size_t k = 0; k < json_array_size(list); k++) {
    const char *name = flo_json_text(json_array_get(list, k), "name");
    flo_suggest_offer(&suggestion, name);
    if (!name || strcmp(name, word)) continue;
    *index = k;
    return FLO_OK;
  }
  char hint[128];
  return flo_scene_fail(context, "'%.60s' is neither the number nor the name of an entry%s", word,
                        flo_suggest_text(&suggestion, hint));
}

// The value of `word` inside `place`. A missing object is created; the tables check later whether it is
// valid.
static FloStatus step_into(FloSceneContext *context, json_t *place, const char *word, json_t **inner) {
  if (json_is_array(place)) {
    size_t index;
    FLO_TRY(find_entry(context, place, word, &index));
    *inner = json_array_get(place, index);
    return FLO_OK;
  }
  *inner = json_object_get(place, word);
  if (!*inner && !json_object_set_new(place, word, json_object())) *inner = json_object_get(place, word);
  return *inner ? FLO_OK : flo_scene_no_memory(context);
}

static FloStatus put_value(FloSceneContext *context, json_t *place, const char *word, json_t *value) {
  if (json_is_object(place))
    return json_object_set(place, word, value) ? flo_scene_no_memory(context) : FLO_OK;
  size_t index;
  FLO_TRY(find_entry(context, place, word, &index));
  return json_array_set(place, index, value) ? flo_scene_no_memory(context) : FLO_OK;
}

// Adds a step to a JSON path; entries of lists are given by their index.
static FloStatus extend_path(FloSceneContext *context, const json_t *place, const char *word,
                             char path[sizeof context->path]) {
  size_t length = strlen(path), space = sizeof context->path - length, index;
  if (!json_is_array(place)) {
    snprintf(path + length, space, "/%s", word);
    return FLO_OK;
  }
  FLO_TRY(find_entry(context, place, word, &index));
  snprintf(path + length, space, "/%zu", index);
  return FLO_OK;
}

// The table for a place: that of an object, of the entries of a list, or of the values of a map.
typedef struct Known {
  const FloSceneTable *table; // NULL: none
  bool is_map;
} Known;

// Entries of a list and values of a map have the table of the list or map.
static Known know_inner(Known known, const json_t *place, const char *word) {
  if (json_is_array(place) || known.is_map) return (Known){.table = known.table};
  const FloSceneKey *key = known.table ? flo_scene_find_key(known.table, word) : NULL;
  return key ? (Known){key->table, key->types & FLO_SCENE_MAP} : (Known){0};
}

static bool is_among(const char *const names[], const char *word) {
  size_t k = 0;
  while (k < FLO_SCENE_MAX_ALTERNATIVES && names[k] && strcmp(names[k], word) != 0) k++;
  return k < FLO_SCENE_MAX_ALTERNATIVES && names[k];
}

// If keys exclude each other, such as at and corner, the one set on the command line replaces the others.
static void drop_rivals(json_t *object, Known known, const char *word) {
  if (!known.table || known.is_map || !json_is_object(object)) return;
  const char *const *lists[] = {known.table->exactly_one, known.table->also_exactly_one,
                                known.table->at_most_one, known.table->also_at_most_one};
  for (size_t k = 0; k < FLO_COUNT_OF(lists); k++) {
    if (!is_among(lists[k], word)) continue;
    for (size_t m = 0; m < FLO_SCENE_MAX_ALTERNATIVES && lists[k][m]; m++)
      if (strcmp(lists[k][m], word) != 0) json_object_del(object, lists[k][m]);
  }
}

// `word` was searched in the value of `before`, which has no parts. A material is given by its name there.
static FloStatus fail_inside(FloSceneContext *context, const json_t *root, const char *before,
                             const char *word, const json_t *place) {
  const char *name = json_string_value(place);
  if (name && !strcmp(before, "material") && json_object_get(json_object_get(root, "materials"), name))
    return flo_scene_fail(context, "the material is given by its name, '%.60s'; set materials.%.60s.%.60s",
                          name, name, word);
  return flo_scene_fail(context, "'%.60s' would be inside %s; leave it out of the path", word,
                        kind_of(place));
}

// An unknown name of a material or a constant is probably mistyped. Setting one key of an unknown material is
// an error. A whole new material is accepted only if no existing name is similar. For constants see
// check_new_constant.
static FloStatus check_name(FloSceneContext *context, json_t *place, const char *before, const char *word,
                            bool is_part) {
  bool is_map = !strcmp(before, "materials") || !strcmp(before, "constants");
  if (!is_map || !json_is_object(place) || json_object_get(place, word)) return FLO_OK;
  FloSuggestion suggestion = flo_suggest_start(word);
  const char *name;
  json_t *value;
  char hint[128];
  json_object_foreach(place, name, value) flo_suggest_offer(&suggestion, name);
  flo_suggest_text(&suggestion, hint);
  if (!is_part && (!hint[0] || !strcmp(before, "constants"))) return FLO_OK;
  return flo_scene_fail(context, "there is no '%.60s' in %.60s%s", word, before, hint);
}

// A new constant has no effect unless another --set uses it.
static FloStatus check_new_constant(FloSceneContext *context, json_t *root, const FloSceneOptions *options,
                                    size_t k) {
  static const char start[] = "constants.";
  const char *set = options->sets[k], *word = set + sizeof start - 1;
  json_t *constants = json_object_get(root, "constants");
  char name[64], hint[256] = "";
  if (strncmp(set, start, sizeof start - 1) != 0 || (constants && !json_is_object(constants))) return FLO_OK;
  size_t length = strcspn(word, ".=");
  if (word[length] != '=' || length == 0 || length >= sizeof name) return FLO_OK;
  snprintf(name, sizeof name, "%.*s", (int)length, word);
  if (json_object_get(constants, name)) return FLO_OK;
  for (size_t other = 0; other < options->n_sets; other++) {
    const char *value = strchr(options->sets[other], '=');
    if (other != k && value && flo_text_has_word(value, name)) return FLO_OK;
  }
  if (flo_scene_find_key(&flo_scene_table, name))
    snprintf(hint, sizeof hint, "; the scene's own %s is --set %s=%.60s", name, name, word + length + 1);
  return flo_scene_no_name(context, "constants", name, constants, hint);
}

// Follows the parts of `path` between dots. `path` is changed on the way.
static FloStatus set_at(FloSceneContext *context, json_t *root, char *path, json_t *value) {
  json_t *place = root;
  Known known = {.table = &flo_scene_table};
  char json_path[sizeof context->path] = "", *last = path;
  const char *before = "";
  for (char *word = path, *dot;; word = dot + 1) {
    last = word;
    dot = strchr(word, '.');
    if (dot) *dot = 0;
    if (!*word)
      return flo_scene_fail(context, "must look like path=value, with dots between the parts of the path");
    if (!json_is_object(place) && !json_is_array(place))
      return fail_inside(context, root, before, word, place);
    FLO_TRY(extend_path(context, place, word, json_path));
    FLO_TRY(check_name(context, place, before, word, dot != NULL));
    if (!dot) break;
    known = know_inner(known, place, word);
    FLO_TRY(step_into(context, place, word, &place));
    before = word;
  }
  drop_rivals(place, known, last);
  FLO_TRY(put_value(context, place, last, value));
  // A value set on the command line does not have the origin of the old value.
  flo_scene_forget_origins(context, json_path);
  json_t *origin = json_pack("[s, s, s]", context->file, json_path, "");
  return origin ? flo_scene_set_origin(context, json_path, origin) : FLO_OK;
}

// Reads the value as JSON if it is valid, else as text, which may be an expression. A value that begins like
// JSON must be valid JSON.
static FloStatus read_value(FloSceneContext *context, const char *text, json_t **value) {
  char words[256];
  json_error_t problem;
  *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &problem);
  if (*value) return FLO_OK;
  if (!(*value = json_string(text))) return flo_scene_fail(context, "the value is not valid UTF-8");
  if (!strchr("[{\"", text[0])) return FLO_OK;
  json_decref(*value);
  return flo_scene_fail(context, "the value is not valid JSON: %s",
                        reword(text, strlen(text), &problem, words));
}

static FloStatus apply_set(FloSceneContext *context, json_t *root, const FloSceneOptions *options, size_t k) {
  const char *set = options->sets[k];
  snprintf(context->path, sizeof context->path, "--set %s", set);
  const char *equals = strchr(set, '=');
  if (!equals) return flo_scene_fail(context, "must look like path=value, such as spacing=0.01");
  if (equals == set)
    return flo_scene_fail(context, "the path before '=' is missing; write path=value, such as spacing=0.01");
  if (!equals[1 + strspn(equals + 1, " \t")])
    return flo_scene_fail(
        context,
        "the value after '=' is missing; write path=value, such as spacing=0.01 (an empty text is \"\")");
  FLO_TRY(check_new_constant(context, root, options, k));
  json_t *value;
  FLO_TRY(read_value(context, equals + 1, &value));
  char *path = malloc((size_t)(equals - set) + 1);
  FloStatus status = path ? FLO_OK : flo_scene_no_memory(context);
  if (path) {
    memcpy(path, set, (size_t)(equals - set));
    path[equals - set] = 0;
    status = set_at(context, root, path, value);
  }
  free(path);
  json_decref(value);
  if (status == FLO_OK) flo_scene_leave(context, 0);
  return status;
}

// "method": "monolithic" is short for { "name": "monolithic" }.
static FloStatus spell_out_method(FloSceneContext *context, json_t *root) {
  json_t *method = json_object_get(root, "method");
  if (!json_is_string(method)) return FLO_OK;
  json_t *object = json_pack("{s:O}", "name", method);
  return json_object_set_new(root, "method", object) ? flo_scene_no_memory(context) : FLO_OK;
}

FloStatus flo_scene_apply_options(FloSceneContext *context, json_t *root, const FloSceneOptions *options) {
  FLO_TRY(spell_out_method(context, root));
  FLO_TRY(apply_size(context, root, options->size));
  for (size_t k = 0; k < options->n_sets; k++) FLO_TRY(apply_set(context, root, options, k));
  FLO_TRY(check_texts(context, root));
  return spell_out_method(context, root);
}
