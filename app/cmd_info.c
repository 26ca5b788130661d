// flotsam info: prints what a run's folder, the tables of the library and the tables of the scene format
// hold.
#include "app.h"
#include "base/core.h"
#include "command_line.h"
#include "coupling/coupling.h"
#include "io/files.h"
#include "io/run_info.h"
#include "io/scene_schema.h"
#include "io/scene_steps.h"
#include "io/suggest.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const AppUsage usage = {
    .command = "info",
    .arguments = "[DIR | methods | method METHOD | kernels | scenes | shapes | shape SHAPE | scene-keys | "
                 "schema]",
    .about =
        "With a folder DIR: what ran there, how it ended, what is missing or damaged, and how to continue.\n"
        "With a topic: lists the coupling methods, the parameters of one method, the kernels, the scenes\n"
        "that come with flotsam, the shapes of scenes, one shape, or every key of a scene file; or prints\n"
        "the JSON Schema of scenes. Without an argument: the version and an overview.\n"
        "A run that is still going on holds a lock on its log; a run that was killed does not.\n"
        "If a folder has the name of a topic, write ./NAME.",
    .examples = "  flotsam info\n"
                "  flotsam info runs/dam-break\n"
                "  flotsam info method wcsph\n"
                "  flotsam info scenes --json\n"
                "  flotsam info scene-keys\n"
                "  flotsam info schema >scene.schema.json\n",
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
    const char *const *words = flo_method_words(method, p->name);
    if (words) json_object_set_new(entry, "words", json_array());
    for (size_t w = 0; words && words[w]; w++)
      json_array_append_new(json_object_get(entry, "words"), json_string(words[w]));
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

static json_t *shapes_json(void) {
  json_t *tables = flo_scene_describe(), *shapes = NULL;
  for (size_t k = 0; k < json_array_size(tables) && !shapes; k++) {
    json_t *table = json_array_get(tables, k);
    if (strcmp(json_string_value(json_object_get(table, "name")), "shape") == 0) shapes = json_incref(table);
  }
  json_decref(tables);
  return shapes;
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

// The name of a parameter, and its help text in lines of at most 100 columns.
static void print_help(const FloParam *param) {
  enum { INDENT = 25, WIDTH = 100 };
  size_t column = INDENT;
  printf("  %-22s ", param->name);
  for (const char *word = param->help; *word;) {
    size_t length = strcspn(word, " ");
    if (column > INDENT && column + 1 + length > WIDTH) printf("\n%*s", INDENT, ""), column = INDENT;
    printf("%s%.*s", column > INDENT ? " " : "", (int)length, word);
    column += length + (column > INDENT);
    word += length + strspn(word + length, " ");
  }
  puts("");
}

static void print_choice(const FloParam *param, const char *const *words) {
  printf("%24s default %s, one of", "", words[(int)param->value]);
  for (size_t k = 0; words[k]; k++) printf("%s %s", k ? "," : "", words[k]);
  puts("");
}

static void print_method(const json_t *method) {
  const char *name = json_string_value(json_object_get(method, "name"));
  size_t count = 0;
  const FloParam *params = flo_method_params(name, &count);
  printf("%s\n%s\n\n", name, json_string_value(json_object_get(method, "paper")));
  for (size_t k = 0; k < count; k++) {
    const FloParam *p = &params[k];
    const char *const *words = flo_method_words(name, p->name);
    print_help(p);
    if (words)
      print_choice(p, words);
    else
      printf("%24s default %g%s%s, %sfrom %g to %g\n", "", p->value, p->unit[0] ? " " : "", p->unit,
             p->type == FLO_PARAM_NUMBER ? "" : "whole number ", p->low, p->high);
  }
}

static void print_overview(const json_t *overview) {
  printf("flotsam %s, vector instructions: %s\n", flo_version(), flo_simd_name());
  print_list("methods", json_object_get(overview, "methods"));
  print_list("kernels", json_object_get(overview, "kernels"));
  print_list("scenes", json_object_get(overview, "scenes"));
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

// A line such as "exactly one of a, b" for each group of keys.
static void print_rule(const json_t *table, const char *key, const char *phrase) {
  const json_t *groups = json_object_get(table, key);
  for (size_t g = 0; g < json_array_size(groups); g++) {
    const json_t *names = json_array_get(groups, g);
    printf("  %s", phrase);
    for (size_t k = 0; k < json_array_size(names); k++)
      printf("%s %s", k ? "," : "", json_string_value(json_array_get(names, k)));
    puts("");
  }
}

static void print_default(const json_t *key) {
  const json_t *value = json_object_get(key, "default");
  if (json_is_true(json_object_get(key, "required"))) printf(", required");
  if (json_is_null(value)) return;
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
  printf(", default %s", text ? text : "");
  free(text);
}

static void print_key(const json_t *key) {
  const char *table = text_of(key, "table"), *unit = text_of(key, "unit"), *range = text_of(key, "range");
  const json_t *choices = json_object_get(key, "choices");
  printf("  %-18s %s\n  %18s %s%s%s", text_of(key, "name"), text_of(key, "help"), "", text_of(key, "type"),
         *table ? ": " : "", table);
  for (size_t k = 0; k < json_array_size(choices); k++)
    printf("%s %s", k ? "," : ":", json_string_value(json_array_get(choices, k)));
  if (*unit) printf(" [%s]", unit);
  if (*range) printf(", %s", range);
  print_default(key);
  puts("");
}

static void print_table(const json_t *table) {
  const json_t *keys = json_object_get(table, "keys");
  printf("%s\n", text_of(table, "name"));
  print_rule(table, "exactly_one", "exactly one of");
  print_rule(table, "at_most_one", "at most one of");
  print_rule(table, "at_least_one", "at least one of");
  for (size_t k = 0; k < json_array_size(keys); k++) print_key(json_array_get(keys, k));
}

static void print_tables(const json_t *tables) {
  for (size_t k = 0; k < json_array_size(tables); k++) {
    if (k) puts("");
    print_table(json_array_get(tables, k));
  }
}

// Prints JSON; a value that fits on one line is printed on one line.
static void print_schema(const json_t *schema) {
  char *text = flo_scene_write(schema);
  fputs(text ? text : "", stdout);
  free(text);
}

static void print_methods(const json_t *list) { print_list("methods", list); }
static void print_kernels(const json_t *list) { print_list("kernels", list); }
static void print_scenes(const json_t *list) { print_list("scenes", list); }

// ---- Runs: what to do with them ----

// NULL if memory runs out, or if a path is not UTF-8, which JSON cannot hold.
static json_t *line_json(AppLine *line) {
  json_t *text = line->is_cut ? NULL : json_string(line->text);
  app_line_free(line);
  return text;
}

static json_t *command_json(const char *before, const char *folder, const char *name, const char *behind) {
  AppLine line = {0};
  app_line_add(&line, before);
  app_line_path(&line, folder, name);
  app_line_add(&line, behind);
  return line_json(&line);
}

static bool has_end(const json_t *info, const char *end) { return strcmp(text_of(info, "end"), end) == 0; }

static bool has_file(const char *folder, const char *name) {
  char path[FLO_PATH_SIZE];
  return flo_path_join(folder, name, path, NULL) == FLO_OK && flo_file_exists(path);
}

static json_t *restart_json(const char *folder, const char *name_behind, const char *change) {
  AppLine line = {0};
  if (!has_file(folder, "scene.json")) return json_null();
  app_line_add(&line, "flotsam run ");
  app_line_path(&line, folder, "/scene.json");
  app_line_add(&line, " --out ");
  app_line_path(&line, folder, name_behind);
  app_line_add(&line, change);
  return line_json(&line);
}

// The command that continues a run: from its checkpoint if that is good, else from the start. There is none
// for a run that diverged, because it would diverge again, nor for a run that is still going on.
static json_t *resume_json(const json_t *info, const char *folder) {
  if (has_end(info, "finished") || has_end(info, "running") || has_end(info, "diverged")) return json_null();
  if (json_is_true(json_object_get(info, "can_resume")))
    return command_json("flotsam resume ", folder, "", "");
  return restart_json(folder, "", " --force");
}

// What to do about a divergence: first run the small scene that shows it, then the whole scene with shorter
// steps.
static json_t *remedies_json(const json_t *info, const char *folder) {
  char change[64];
  json_t *list = json_array();
  double cfl = json_number_value(json_object_get(info, "cfl"));
  bool is_fixed = json_number_value(json_object_get(info, "time_step")) > 0;
  if (!has_end(info, "diverged")) return list;
  if (has_file(folder, "diverged.json"))
    json_array_append_new(list, command_json("flotsam run ", folder, "/diverged.json", ""));
  // A fixed time step may be too long in some steps; with 0 the method chooses each step.
  snprintf(change, sizeof change, is_fixed ? " --set time_step=0" : " --set cfl=%g", cfl > 0 ? cfl / 2 : 0.2);
  json_array_append_new(list, restart_json(folder, "-2", change));
  return list;
}

static json_t *looks_json(const json_t *info, const char *folder) {
  json_t *list = json_array();
  if (json_integer_value(json_object_get(info, "frames")) == 0) return list;
  json_array_append_new(list, command_json("flotsam plot ", folder, "", ""));
  json_array_append_new(list, command_json("flotsam render ", folder, "", ""));
  json_array_append_new(list, command_json("flotsam convert ", folder, "", " --frame last"));
  if (has_file(folder, "run.pvd"))
    json_array_append_new(list, command_json("paraview ", folder, "/run.pvd", ""));
  return list;
}

// ---- Runs: for readers ----

static double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void print_open_end(const json_t *info) {
  double last = number_of(info, "last_time"), process = number_of(info, "process");
  printf("  end           ");
  if (has_end(info, "killed"))
    printf("not finished: killed");
  else if (has_end(info, "running"))
    printf(process > 0 ? "running as process %.0f" : "running", process);
  else
    printf("not finished: still running, or killed");
  if (!isnan(last)) printf(has_end(info, "running") ? ", is behind %g s" : " behind %g s", last);
  if (has_end(info, "running") && number_of(info, "until") > 0) printf(" of %g s", number_of(info, "until"));
  printf("; last change %.0f s ago\n", number_of(info, "seconds_since_change"));
}

static void print_end(const json_t *info) {
  const char *message = text_of(info, "message");
  if (has_end(info, "killed") || has_end(info, "running") || has_end(info, "unfinished")) {
    print_open_end(info);
    return;
  }
  printf("  end           %s at %g s", text_of(info, "end"), number_of(info, "time"));
  // A run with a shorter or longer duration than the scene's, as its options asked, counts as finished.
  const bool is_finished = has_end(info, "finished");
  if (!is_finished && number_of(info, "time") < number_of(info, "until"))
    printf(" of %g s", number_of(info, "until"));
  if (is_finished && number_of(info, "time") != number_of(info, "duration"))
    printf(" as its options asked; the scene's duration is %g s", number_of(info, "duration"));
  printf(", %.0f steps in %.1f s%s%s\n", number_of(info, "steps"), number_of(info, "wall_seconds"),
         message[0] ? ": " : "", message);
}

static void print_expect(const json_t *expect) {
  double low = number_of(expect, "low"), high = number_of(expect, "high");
  printf("                failed: %s is %g, expected ", text_of(expect, "name"), number_of(expect, "value"));
  if (isnan(low))
    printf("at most %g", high);
  else if (isnan(high))
    printf("at least %g", low);
  else
    printf("%g to %g", low, high);
  const char *paper = text_of(expect, "paper");
  printf("%s%s\n", paper[0] ? "; the paper: " : "", paper);
}

static void print_expects(const json_t *info) {
  const json_t *list = json_object_get(info, "expect");
  if (json_array_size(list) == 0) return;
  printf("  expectations  %.0f passed, %.0f failed, %.0f not judged\n", number_of(info, "passed"),
         number_of(info, "failed"), number_of(info, "not_judged"));
  for (size_t k = 0; k < json_array_size(list); k++)
    if (json_is_false(json_object_get(json_array_get(list, k), "pass")))
      print_expect(json_array_get(list, k));
}

static void print_lines(const char *name, const json_t *list) {
  for (size_t k = 0; k < json_array_size(list); k++) {
    const char *text = json_string_value(json_array_get(list, k));
    if (text) printf("  %-13s %s\n", k ? "" : name, text);
  }
}

// Frames are numbered from 0. So both their count and the last number are printed.
static void print_frames(const json_t *info) {
  double n = number_of(info, "frames"), last = number_of(info, "last_time");
  printf("  frames        %.0f", n);
  if (n > 1) printf(", numbers 0 to %.0f", number_of(info, "last_frame"));
  if (n > 0 && !isnan(last)) printf(", from %g to %g s", number_of(info, "first_time"), last);
  puts("");
}

static void print_run(const json_t *info) {
  char size[32];
  const json_t *particles = json_object_get(info, "particles");
  const char *title = text_of(info, "title"), *resume = text_of(info, "resume");
  printf("%s\n", title[0] ? title : text_of(info, "folder"));
  printf("  folder        %s: %.0f files, %s", text_of(info, "folder"), number_of(info, "files"),
         app_describe_size(number_of(info, "bytes"), size));
  printf("\n  method        %s\n", text_of(info, "method")[0] ? text_of(info, "method") : "not known");
  if (json_is_object(particles))
    printf("  particles     %.0f fluid, %.0f boundary, %.0f of bodies\n", number_of(particles, "fluid"),
           number_of(particles, "boundary"), fmax(number_of(particles, "rigid"), 0));
  print_frames(info);
  print_end(info);
  print_expects(info);
  print_lines("problems", json_object_get(info, "problems"));
  print_lines("look at it", json_object_get(info, "look"));
  print_lines("find out why", json_object_get(info, "try"));
  if (resume[0]) printf("  continue      %s\n", resume);
}

// ---- Command ----

static int show(json_t *answer, void (*print)(const json_t *answer), bool is_json) {
  char *text = is_json && answer ? flo_scene_write(answer) : NULL;
  bool has_failed = !answer || (is_json && !text);
  if (text)
    puts(text);
  else if (!has_failed)
    print(answer);
  free(text);
  json_decref(answer);
  return has_failed ? app_fail(APP_RUN_FAILED, "no memory") : APP_OK;
}

static int show_run(const char *path, bool is_json) {
  json_t *info = NULL;
  FloError error;
  char folder[FLO_PATH_SIZE];
  snprintf(folder, sizeof folder, "%s", path);
  for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--) folder[n - 1] = 0;
  FloStatus status = flo_run_info_make(folder, &info, &error);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "info: %s", error.text);
  json_object_set_new(info, "resume", resume_json(info, folder));
  json_object_set_new(info, "try", remedies_json(info, folder));
  json_object_set_new(info, "look", looks_json(info, folder));
  return show(info, print_run, is_json);
}

typedef struct Topic {
  const char *name;
  json_t *(*make)(void);
  void (*print)(const json_t *answer);
} Topic;

static const Topic topics[] = {
    {"methods", methods_json, print_methods},
    {"kernels", kernels_json, print_kernels},
    {"scenes", scenes_json, print_scenes},
    {"shapes", shapes_json, print_table},
    {"scene-keys", flo_scene_describe, print_tables},
    {"schema", flo_scene_schema, print_schema},
};

static int print_markdown(void) {
  char *text = flo_scene_reference();
  if (!text) return app_fail(APP_RUN_FAILED, "no memory");
  fputs(text, stdout);
  free(text);
  return APP_OK;
}

static int show_topic(const Topic *topic, bool is_json, bool is_markdown) {
  if (!is_markdown) return show(topic->make(), topic->print, is_json);
  if (strcmp(topic->name, "scene-keys") == 0) return print_markdown();
  return app_fail(APP_BAD_INPUT, "info: --markdown works with scene-keys only; leave it out");
}

static int complain_topic(const char *name) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < FLO_COUNT_OF(topics); k++) flo_suggest_offer(&suggestion, topics[k].name);
  flo_suggest_offer(&suggestion, "method");
  flo_suggest_offer(&suggestion, "shape");
  struct stat about;
  bool is_path = strchr(name, '/') || stat(name, &about) == 0;
  if (is_path || !suggestion.best) return app_complain_no_run("info", name);
  return app_fail(APP_BAD_INPUT,
                  "info: '%s' is neither the folder of a run nor a topic%s (see 'flotsam info --help')", name,
                  flo_suggest_text(&suggestion, buffer));
}

static int show_method(const AppList *words, bool is_json) {
  if (words->count < 2)
    return app_fail(APP_BAD_INPUT,
                    "info: the name of a method is missing ('flotsam info methods' lists them)");
  FloSuggestion suggestion = flo_suggest_start(words->items[1]);
  for (size_t k = 0; k < flo_method_count(); k++) {
    if (strcmp(flo_method_name(k), words->items[1]) == 0)
      return show(method_json(words->items[1]), print_method, is_json);
    flo_suggest_offer(&suggestion, flo_method_name(k));
  }
  char buffer[128];
  if (flo_method_is_announced(words->items[1]))
    return app_fail(
        APP_BAD_INPUT,
        "info: method '%s' is planned but not available yet ('flotsam info methods' lists those that are)",
        words->items[1]);
  return app_fail(APP_BAD_INPUT, "info: no method '%s'%s ('flotsam info methods' lists them)",
                  words->items[1], flo_suggest_text(&suggestion, buffer));
}

static json_t *find_key(const json_t *table, const char *name) {
  const json_t *keys = json_object_get(table, "keys");
  for (size_t k = 0; k < json_array_size(keys); k++)
    if (strcmp(text_of(json_array_get(keys, k), "name"), name) == 0)
      return json_incref(json_array_get(keys, k));
  return NULL;
}

static void keep_name(const char *name, void *texts) { app_texts_add(texts, name); }

static int complain_shape(const char *name) {
  char buffer[128];
  AppTexts names = {0};
  app_list_names("SHAPE", keep_name, &names);
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < names.count; k++) flo_suggest_offer(&suggestion, names.items[k]);
  int exit_code = app_fail(APP_BAD_INPUT, "info: no shape '%s'%s ('flotsam info shapes' lists them)", name,
                           flo_suggest_text(&suggestion, buffer));
  app_texts_free(&names);
  return exit_code;
}

static int show_shape(const AppList *words, bool is_json) {
  if (words->count < 2)
    return app_fail(APP_BAD_INPUT, "info: the name of a shape is missing ('flotsam info shapes' lists them)");
  json_t *shapes = shapes_json(), *key = find_key(shapes, words->items[1]);
  json_decref(shapes);
  return key ? show(key, print_key, is_json) : complain_shape(words->items[1]);
}

int cmd_info(int argc, char **argv) {
  AppList words = {0};
  bool is_json = false, is_markdown = false;
  int exit_code;
  AppOption options[] = {
      {"--json", NULL, APP_FLAG, &is_json, "print the result as JSON", 0, 0},
      {"--markdown", NULL, APP_FLAG, &is_markdown, "print scene-keys as a Markdown page", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (words.count == 0) return show(overview_json(), print_overview, is_json);
  bool is_one_method = strcmp(words.items[0], "methods") == 0 && words.count == 2;
  if (is_one_method || strcmp(words.items[0], "method") == 0) return show_method(&words, is_json);
  if (strcmp(words.items[0], "shape") == 0) return show_shape(&words, is_json);
  if (words.count > 1) return app_fail(APP_BAD_INPUT, "info: unexpected argument '%s'", words.items[1]);
  for (size_t k = 0; k < FLO_COUNT_OF(topics); k++)
    if (strcmp(topics[k].name, words.items[0]) == 0) return show_topic(&topics[k], is_json, is_markdown);
  if (app_is_run_folder(words.items[0])) return show_run(words.items[0], is_json);
  return complain_topic(words.items[0]);
}
