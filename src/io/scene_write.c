// Writes checked JSON for people: one key per line, lists of numbers and small objects on one line.
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/scene_steps.h"

enum { MAX_LINE = 100 };

typedef struct Text {
  char *data;
  size_t length, capacity;
  bool has_failed;
} Text;

static void put(Text *text, const char *more) {
  size_t n = strlen(more);
  if (text->length + n + 1 > text->capacity) {
    size_t capacity = 2 * text->capacity + n + 256;
    char *data = realloc(text->data, capacity);
    if (!data) {
      text->has_failed = true;
      return;
    }
    text->data = data;
    text->capacity = capacity;
  }
  memcpy(text->data + text->length, more, n + 1);
  text->length += n;
}

// jansson writes quotes and escapes.
static void put_scalar(Text *text, const json_t *value) {
  if (json_is_real(value)) {
    char digits[32];
    flo_format_number(json_real_value(value), digits);
    // "-0" would be read as a whole number, which loses its sign.
    put(text, strcmp(digits, "-0") ? digits : "-0.0");
    return;
  }
  char *written = json_dumps(value, JSON_ENCODE_ANY);
  if (written)
    put(text, written);
  else
    text->has_failed = true;
  free(written);
}

static void put_key(Text *text, const char *key) {
  json_t *name = json_string(key);
  if (name)
    put_scalar(text, name);
  else
    text->has_failed = true;
  put(text, ": ");
  json_decref(name);
}

static void put_line_break(Text *text, int depth) {
  put(text, "\n");
  for (int k = 0; k < depth; k++) put(text, "  ");
}

// The separator before member k: a space on one line, else a line break.
static void put_separator(Text *text, size_t k, bool is_flat, int depth) {
  if (k) put(text, is_flat ? ", " : ",");
  if (!is_flat) put_line_break(text, depth + 1);
}

static void put_value(Text *text, const json_t *value, bool is_flat, int depth);

// Whether a value is short enough for one line; it is written to find out.
static bool fits_line(const json_t *value) {
  Text trial = {0};
  put_value(&trial, value, true, 0);
  bool fits = !trial.has_failed && trial.length <= MAX_LINE;
  free(trial.data);
  return fits;
}

static void put_object(Text *text, const json_t *object, bool is_flat, int depth) {
  const char *key;
  json_t *member;
  size_t k = 0;
  put(text, is_flat && json_object_size(object) ? "{ " : "{");
  json_object_foreach((json_t *)object, key, member) {
    put_separator(text, k++, is_flat, depth);
    put_key(text, key);
    put_value(text, member, is_flat, depth + 1);
  }
  if (!is_flat) put_line_break(text, depth);
  put(text, is_flat && json_object_size(object) ? " }" : "}");
}

static void put_list(Text *text, const json_t *list, bool is_flat, int depth) {
  put(text, "[");
  for (size_t k = 0; k < json_array_size(list); k++) {
    put_separator(text, k, is_flat, depth);
    put_value(text, json_array_get(list, k), is_flat, depth + 1);
  }
  if (!is_flat) put_line_break(text, depth);
  put(text, "]");
}

static void put_value(Text *text, const json_t *value, bool is_flat, int depth) {
  bool is_object = json_is_object(value);
  if (!is_object && !json_is_array(value)) {
    put_scalar(text, value);
    return;
  }
  // The scene itself always has one key per line; values that fit stay on that line.
  if (!is_flat && depth > 0) is_flat = fits_line(value);
  if (is_object)
    put_object(text, value, is_flat, depth);
  else
    put_list(text, value, is_flat, depth);
}

char *flo_scene_write(const json_t *root) {
  Text text = {0};
  put_value(&text, root, false, 0);
  put(&text, "\n");
  if (!text.has_failed) return text.data;
  free(text.data);
  return NULL;
}
