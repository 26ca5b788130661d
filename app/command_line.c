#include "command_line.h"

#include "base/core.h"
#include "io/shown.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(AppLine *line, size_t size) {
  if (size <= line->capacity) return true;
  size_t capacity = flo_max_size(size, 2 * line->capacity);
  char *text = realloc(line->text, capacity);
  line->is_cut = line->is_cut || !text;
  if (!text) return false;
  line->text = text, line->capacity = capacity;
  return true;
}

static void add_part(AppLine *line, const char *text, size_t n) {
  if (line->is_cut || !reserve(line, line->length + n + 1)) return;
  memcpy(line->text + line->length, text, n);
  line->length += n;
  line->text[line->length] = 0;
}

void app_line_add(AppLine *line, const char *text) { add_part(line, text, strlen(text)); }

// A shell changes nothing between single quotes. A single quote itself must be outside of them.
static void add_quoted(AppLine *line, const char *text) {
  for (;;) {
    size_t n = strcspn(text, "'");
    add_part(line, text, n);
    if (!text[n]) return;
    app_line_add(line, "'\\''");
    text += n + 1;
  }
}

void app_line_path(AppLine *line, const char *folder, const char *name) {
  app_line_add(line, "'");
  add_quoted(line, folder);
  add_quoted(line, name);
  app_line_add(line, "'");
}

// Control characters must not reach a terminal. Dollar-single-quotes (POSIX.1-2024, section 2.2.4) can hold
// them as escapes.
static void add_escaped(AppLine *line, const char *text) {
  app_line_add(line, "$'");
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    char part[8];
    const bool is_printable = c >= 0x20 && c < 0x7f;
    snprintf(part, sizeof part, !is_printable ? "\\x%02x" : strchr("'\\", c) ? "\\%c" : "%c", c);
    app_line_add(line, part);
  }
  app_line_add(line, "'");
}

void app_line_word(AppLine *line, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  app_line_add(line, " ");
  if (word[0] && word[strspn(word, plain)] == 0)
    app_line_add(line, word);
  else if (!flo_shown_is_plain(word))
    add_escaped(line, word);
  else
    app_line_path(line, word, "");
}

void app_line_scene(AppLine *line, const char *scene, const AppSceneArguments *given) {
  app_line_word(line, scene);
  if (!given) return;
  if (given->method) app_line_word(line, "--method"), app_line_word(line, given->method);
  if (given->size) app_line_word(line, "--size"), app_line_word(line, given->size);
  for (size_t k = 0; k < given->sets.count; k++)
    app_line_word(line, "--set"), app_line_word(line, given->sets.items[k]);
}

// Every byte may need four.
const char *app_line_show(AppLine *line) {
  const size_t size = 4 * line->length + 1;
  char *shown = line->is_cut || !line->text ? NULL : malloc(size);
  if (!shown) return NULL;
  flo_shown_escape(line->text, shown, size);
  free(line->text);
  *line = (AppLine){.text = shown, .length = strlen(shown), .capacity = size};
  return shown;
}

void app_line_free(AppLine *line) {
  free(line->text);
  *line = (AppLine){0};
}
