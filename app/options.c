// Long options from tables, so that parsing, --help and error messages always agree.
#include "app.h"
#include "base/core.h"
#include "io/suggest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int app_fail(int exit_code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("flotsam: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return exit_code;
}

int app_exit_code(FloStatus status) {
  if (status == FLO_OK) return APP_OK;
  return status == FLO_BAD_INPUT || status == FLO_UNSUPPORTED ? APP_BAD_INPUT : APP_RUN_FAILED;
}

// ---- Help ----

static void print_option(const char *name, const char *value, const char *help) {
  char left[64];
  snprintf(left, sizeof left, "%s%s%s", name, value ? " " : "", value ? value : "");
  printf("  %-22s %s\n", left, help);
}

static void print_help(const AppUsage *usage, const AppOption *options) {
  printf("usage: flotsam %s%s%s [options]\n\n%s\n\noptions:\n", usage->command,
         usage->arguments[0] ? " " : "", usage->arguments, usage->about);
  for (; options->name; options++) print_option(options->name, options->value, options->help);
  print_option("--help", NULL, "print this text");
  printf("\nexamples:\n%s", usage->examples);
}

// ---- Parsing ----

typedef struct Parser {
  const AppUsage *usage;
  const AppOption *options;
  int argc, next; // next: index of the argument to read
  char **argv;
} Parser;

// Prints what is wrong and where to read more.
__attribute__((format(printf, 2, 3))) static bool complain(const Parser *parser, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  app_fail(APP_BAD_INPUT, "%s: %s (see 'flotsam %s --help')", parser->usage->command, text,
           parser->usage->command);
  return false;
}

static const AppOption *find_option(const Parser *parser, const char *name, size_t length) {
  for (const AppOption *option = parser->options; option->name; option++)
    if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return option;
  return NULL;
}

static bool complain_unknown(const Parser *parser, const char *name, size_t length) {
  char word[64], buffer[128];
  snprintf(word, sizeof word, "%.*s", (int)flo_min_size(length, 60), name);
  FloSuggestion suggestion = flo_suggest_start(word);
  for (const AppOption *option = parser->options; option->name; option++)
    flo_suggest_offer(&suggestion, option->name);
  flo_suggest_offer(&suggestion, "--help");
  return complain(parser, "unknown option '%s'%s", word, flo_suggest_text(&suggestion, buffer));
}

static bool read_number(const Parser *parser, const AppOption *option, const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (end == text || *end != 0 || !isfinite(*value))
    return complain(parser, "%s needs a number, not '%s'", option->name, text);
  if (option->kind == APP_INTEGER && *value != floor(*value))
    return complain(parser, "%s needs a whole number, not '%s'", option->name, text);
  if (*value < option->low || *value > option->high)
    return complain(parser, "%s must lie between %g and %g, got %s", option->name, option->low, option->high,
                    text);
  return true;
}

static bool store(const Parser *parser, const AppOption *option, const char *text) {
  double value = 0;
  AppList *list = option->target;
  switch (option->kind) {
  case APP_FLAG:
    *(bool *)option->target = true;
    return true;
  case APP_TEXT:
    *(const char **)option->target = text;
    return true;
  case APP_LIST:
    if (list->count == FLO_COUNT_OF(list->items))
      return complain(parser, "%s is given more than %zu times", option->name, FLO_COUNT_OF(list->items));
    list->items[list->count++] = text;
    return true;
  case APP_NUMBER:
    if (!read_number(parser, option, text, &value)) return false;
    *(double *)option->target = value;
    return true;
  case APP_INTEGER:
    if (!read_number(parser, option, text, &value)) return false;
    *(int *)option->target = (int)value;
    return true;
  }
  return false;
}

// Reads "--name", "--name value" or "--name=value".
static bool take_option(Parser *parser) {
  const char *argument = parser->argv[parser->next++];
  size_t length = strcspn(argument, "=");
  const char *text = argument[length] ? argument + length + 1 : NULL;
  const AppOption *option = find_option(parser, argument, length);
  if (!option) return complain_unknown(parser, argument, length);
  if (option->kind == APP_FLAG && text) return complain(parser, "%s takes no value", option->name);
  if (option->kind != APP_FLAG && !text) {
    if (parser->next == parser->argc)
      return complain(parser, "%s needs a value: %s", option->name, option->value);
    text = parser->argv[parser->next++];
  }
  return store(parser, option, text);
}

static bool take_word(const Parser *parser, const char *word, AppList *words) {
  if (words->count == parser->usage->max_words || words->count == FLO_COUNT_OF(words->items))
    return complain(parser, "unexpected argument '%s'", word);
  words->items[words->count++] = word;
  return true;
}

static bool take_all(Parser *parser, AppList *words) {
  bool only_words = false;
  while (parser->next < parser->argc) {
    const char *argument = parser->argv[parser->next];
    bool is_option = !only_words && argument[0] == '-' && argument[1];
    if (is_option && strcmp(argument, "--") == 0) {
      only_words = true;
      parser->next++;
    } else if (is_option) {
      if (!take_option(parser)) return false;
    } else {
      parser->next++;
      if (!take_word(parser, argument, words)) return false;
    }
  }
  if (words->count < parser->usage->min_words)
    return complain(parser, "missing argument: %s", parser->usage->arguments);
  return true;
}

// --help works even if other arguments are wrong, because the user may ask for help about them.
static bool wants_help(int argc, char **argv) {
  for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; k++)
    if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) return true;
  return false;
}

// If set, this function receives the tables instead of help being printed; see app_describe.
static struct {
  AppVisitFn visit;
  void *context;
} listener;

// The tables point at variables of the command's function, so only that function can provide them. It is
// called as for --help, which every command handles before it does anything else.
void app_describe(const AppCommand *command, AppVisitFn visit, void *context) {
  char name[32], help[] = "--help", *arguments[] = {name, help, NULL};
  snprintf(name, sizeof name, "%s", command->name);
  listener.visit = visit;
  listener.context = context;
  command->run(2, arguments);
  listener.visit = NULL;
}

bool app_parse(const AppUsage *usage, const AppOption *options, int argc, char **argv, AppList *words,
               int *exit_code) {
  Parser parser = {usage, options, argc, 1, argv};
  if (wants_help(argc, argv)) {
    if (listener.visit)
      listener.visit(usage, options, listener.context);
    else
      print_help(usage, options);
    *exit_code = APP_OK;
    return false;
  }
  *exit_code = APP_BAD_INPUT;
  return take_all(&parser, words);
}

void app_texts_add(AppTexts *texts, const char *text) {
  char **grown = realloc(texts->items, (texts->count + 1) * sizeof *grown);
  if (!grown) return;
  texts->items = grown;
  if ((grown[texts->count] = strdup(text))) ++texts->count;
}

void app_texts_split(AppTexts *texts, const char *list) {
  for (;; list++) {
    size_t length = strcspn(list, ",");
    char *name = strndup(list, length);
    if (name) app_texts_add(texts, name);
    free(name);
    list += length;
    if (!*list) return;
  }
}

void app_texts_free(AppTexts *texts) {
  for (size_t k = 0; k < texts->count; k++) free(texts->items[k]);
  free(texts->items);
  *texts = (AppTexts){0};
}
