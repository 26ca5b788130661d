// flotsam info: what the library's tables hold.
#include "app.h"
#include "base/core.h"
#include "io/suggest.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "info",
    .arguments = "[methods | method NAME | kernels | scenes]",
    .about = "Lists the coupling methods, one method's parameters, the kernels or the scenes that come with "
             "flotsam.\n"
             "Without an argument: the version and an overview.",
    .examples = "  flotsam info\n"
                "  flotsam info method wcsph\n"
                "  flotsam info kernels\n"
                "  flotsam info scenes --json\n",
    .min_words = 0,
    .max_words = 2,
};

// ---- The tables as JSON ----

static json_t *method_json(const char *method) {
  size_t count = 0;
  const FloParam *params = flo_method_params(method, &count);
  json_t *list = json_array();
  for (size_t k = 0; k < count; k++) {
    const FloParam *p = &params[k];
    json_t *entry = json_pack("{s:s, s:f, s:s, s:s}", "name", p->name, "default", p->value, "unit", p->unit,
                              "help", p->help);
    json_object_set_new(entry, "low", isfinite(p->low) ? json_real(p->low) : json_null());
    json_object_set_new(entry, "high", isfinite(p->high) ? json_real(p->high) : json_null());
    json_array_append_new(list, entry);
  }
  return json_pack("{s:s, s:s, s:o}", "name", method, "paper", flo_method_paper(method), "parameters", list);
}

static json_t *methods_json(void) {
  json_t *list = json_array();
  for (size_t k = 0; k < flo_method_count(); k++)
    json_array_append_new(list, method_json(flo_method_name(k)));
  return list;
}

static json_t *kernels_json(void) {
  json_t *list = json_array();
  for (int k = 0; k < FLO_KERNEL_COUNT; k++)
    json_array_append_new(list, json_string(flo_kernel_name((FloKernel)k)));
  return list;
}

static void add_scene(const char *name, void *list) { json_array_append_new(list, json_string(name)); }

static json_t *scenes_json(void) {
  json_t *list = json_array();
  app_list_scenes(add_scene, list);
  return list;
}

static json_t *overview_json(void) {
  return json_pack("{s:s, s:s, s:o, s:o, s:o}", "version", flo_version(), "simd", flo_simd_name(), "methods",
                   methods_json(), "kernels", kernels_json(), "scenes", scenes_json());
}

// ---- The same for readers ----

// One item of a list of names, or a method's name and paper.
static void print_item(const json_t *item) {
  if (json_is_string(item))
    printf("  %s\n", json_string_value(item));
  else
    printf("  %-16s %s\n", json_string_value(json_object_get(item, "name")),
           json_string_value(json_object_get(item, "paper")));
}

static void print_list(const char *title, const json_t *list) {
  printf("%s:\n", title);
  for (size_t k = 0; k < json_array_size(list); k++) print_item(json_array_get(list, k));
}

static void print_method(const json_t *method) {
  const char *name = json_string_value(json_object_get(method, "name"));
  size_t count = 0;
  const FloParam *params = flo_method_params(name, &count);
  printf("%s\n%s\n\n", name, json_string_value(json_object_get(method, "paper")));
  for (size_t k = 0; k < count; k++) {
    const FloParam *p = &params[k];
    printf("  %-22s %s\n  %22s default %g%s%s, from %g to %g\n", p->name, p->help, "", p->value,
           p->unit[0] ? " " : "", p->unit, p->low, p->high);
  }
}

static void print_overview(const json_t *overview) {
  printf("flotsam %s, vector instructions: %s\n", flo_version(), flo_simd_name());
  print_list("methods", json_object_get(overview, "methods"));
  print_list("kernels", json_object_get(overview, "kernels"));
  print_list("scenes", json_object_get(overview, "scenes"));
}

static void print_methods(const json_t *list) { print_list("methods", list); }
static void print_kernels(const json_t *list) { print_list("kernels", list); }
static void print_scenes(const json_t *list) { print_list("scenes", list); }

// ---- Command ----

typedef struct Topic {
  const char *name;
  json_t *(*make)(void);
  void (*print)(const json_t *answer);
} Topic;

static const Topic topics[] = {
    {"methods", methods_json, print_methods},
    {"kernels", kernels_json, print_kernels},
    {"scenes", scenes_json, print_scenes},
};

static int show(json_t *answer, void (*print)(const json_t *answer), bool is_json) {
  char *text = is_json && answer ? json_dumps(answer, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  bool has_failed = !answer || (is_json && !text);
  if (text)
    puts(text);
  else if (!has_failed)
    print(answer);
  free(text);
  json_decref(answer);
  return has_failed ? app_fail(APP_RUN_FAILED, "no memory") : APP_OK;
}

static int complain_topic(const char *name) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < FLO_COUNT_OF(topics); k++) flo_suggest_offer(&suggestion, topics[k].name);
  flo_suggest_offer(&suggestion, "method");
  return app_fail(APP_BAD_INPUT, "info: nothing known about '%s'%s (see 'flotsam info --help')", name,
                  flo_suggest_text(&suggestion, buffer));
}

static int show_method(const AppList *words, bool is_json) {
  if (words->count < 2)
    return app_fail(APP_BAD_INPUT, "info: which method? ('flotsam info methods' lists them)");
  FloSuggestion suggestion = flo_suggest_start(words->items[1]);
  for (size_t k = 0; k < flo_method_count(); k++) {
    if (strcmp(flo_method_name(k), words->items[1]) == 0)
      return show(method_json(words->items[1]), print_method, is_json);
    flo_suggest_offer(&suggestion, flo_method_name(k));
  }
  char buffer[128];
  return app_fail(APP_BAD_INPUT, "info: no method '%s'%s ('flotsam info methods' lists them)",
                  words->items[1], flo_suggest_text(&suggestion, buffer));
}

int cmd_info(int argc, char **argv) {
  AppList words = {0};
  bool is_json = false;
  int exit_code;
  AppOption options[] = {{"--json", NULL, APP_FLAG, &is_json, "print the answer as JSON", 0, 0}, {0}};
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (words.count == 0) return show(overview_json(), print_overview, is_json);
  if (strcmp(words.items[0], "method") == 0) return show_method(&words, is_json);
  if (words.count > 1) return app_fail(APP_BAD_INPUT, "info: unexpected argument '%s'", words.items[1]);
  for (size_t k = 0; k < FLO_COUNT_OF(topics); k++)
    if (strcmp(topics[k].name, words.items[0]) == 0) return show(topics[k].make(), topics[k].print, is_json);
  return complain_topic(words.items[0]);
}
