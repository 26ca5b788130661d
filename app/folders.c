// Folders of runs, as several commands need them: is it one, what is in it, what to do with it.
#include "app.h"
#include "base/core.h"
#include "io/files.h"
#include "io/run_info.h"
#include "io/scene_steps.h"
#include "io/suggest.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool app_is_run_folder(const char *path) { return flo_run_info_is_folder(path); }

// ---- Wrong folders ----

typedef struct Neighbours {
  FloSuggestion *suggestion;
  AppTexts names;
  const char *parent; // with its slash
} Neighbours;

static FloStatus offer_neighbour(const char *name, void *context, FloError *error) {
  (void)error;
  Neighbours *neighbours = context;
  char path[FLO_PATH_SIZE];
  if (snprintf(path, sizeof path, "%s%s", neighbours->parent, name) >= (int)sizeof path) return FLO_OK;
  if (!app_is_run_folder(path)) return FLO_OK;
  size_t before = neighbours->names.count;
  app_texts_add(&neighbours->names, path);
  if (neighbours->names.count > before)
    flo_suggest_offer(neighbours->suggestion, neighbours->names.items[before]);
  return FLO_OK;
}

// Offers the runs that stand where the path points to, and of those in runs/ the one of that name.
int app_complain_no_run(const char *command, const char *path) {
  char parent[FLO_PATH_SIZE] = "", below[FLO_PATH_SIZE], buffer[128];
  struct stat about;
  const char *slash = strrchr(path, '/');
  if (slash) snprintf(parent, sizeof parent, "%.*s", (int)(slash - path + 1), path);
  FloSuggestion suggestion = flo_suggest_start(path);
  Neighbours neighbours = {.suggestion = &suggestion, .parent = parent};
  flo_folder_visit(parent[0] ? parent : ".", offer_neighbour, &neighbours, NULL);
  bool is_there = stat(path, &about) == 0;
  if (!is_there && flo_path_join("runs", path, below, NULL) == FLO_OK && app_is_run_folder(below))
    suggestion.best = below;
  app_fail(0, "%s: %s: %s%s (see 'flotsam %s --help')", command, path,
           !is_there                 ? "there is no such folder"
           : !S_ISDIR(about.st_mode) ? "is a file, not the folder of a run"
                                     : "is not the folder of a run",
           flo_suggest_text(&suggestion, buffer), command);
  app_texts_free(&neighbours.names);
  return APP_BAD_INPUT;
}

// ---- What to do with a run ----

// The command that goes on with a run: from its checkpoint if there is one, else from the start.
static void write_resume(const json_t *info, const char *folder, char *text, size_t size) {
  if (json_is_null(json_object_get(info, "checkpoint")))
    snprintf(text, size, "flotsam run '%s/scene.json' --out '%s' --force", folder, folder);
  else
    snprintf(text, size, "flotsam resume '%s'", folder);
}

static bool is_complete(const json_t *info) {
  const char *end = json_string_value(json_object_get(info, "end"));
  return end && strcmp(end, "finished") == 0;
}

static bool has_file(const char *folder, const char *name) {
  char path[FLO_PATH_SIZE];
  return flo_path_join(folder, name, path, NULL) == FLO_OK && flo_file_exists(path);
}

static json_t *list_commands(const char *folder, const json_t *info) {
  char text[2 * FLO_PATH_SIZE];
  json_t *list = json_array();
  const char *const formats[] = {"flotsam plot '%s'", "flotsam render '%s'",
                                 "flotsam convert '%s' --frame last"};
  for (size_t k = 0; k < FLO_COUNT_OF(formats); k++) {
    const char *place = strstr(formats[k], "%s");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - formats[k]), formats[k], folder, place + 2);
    json_array_append_new(list, json_string(text));
  }
  if (has_file(folder, "run.pvd")) {
    snprintf(text, sizeof text, "paraview '%s/run.pvd'", folder);
    json_array_append_new(list, json_string(text));
  }
  if (json_integer_value(json_object_get(info, "frames")) == 0) json_array_clear(list);
  return list;
}

// ---- For readers ----

static double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static const char *plural(double n) { return n == 1 ? "" : "s"; }

static void print_size(double bytes) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t k = 0;
  for (; bytes >= 1000 && k + 1 < FLO_COUNT_OF(units); k++) bytes /= 1000;
  printf("%.*f %s", k && bytes < 100 ? 1 : 0, bytes, units[k]);
}

static void print_end(const json_t *info) {
  const char *end = text_of(info, "end"), *message = text_of(info, "message");
  double last = number_of(info, "last_time"), duration = number_of(info, "duration");
  if (strcmp(end, "unfinished") == 0) {
    printf("  end           not finished: still going on, or killed");
    if (!isnan(last)) printf(" behind %g s", last);
    printf("; last change %.0f s ago\n", number_of(info, "seconds_since_change"));
    return;
  }
  printf("  end           %s at %g s", end, number_of(info, "time"));
  if (number_of(info, "time") < duration) printf(" of %g s", duration);
  double steps = number_of(info, "steps");
  printf(", %.0f step%s in %.1f s%s%s\n", steps, plural(steps), number_of(info, "wall_seconds"),
         message[0] ? ": " : "", message);
}

static void print_expect(const json_t *expect) {
  double low = number_of(expect, "low"), high = number_of(expect, "high");
  printf("                failed: %s is %g, expected ", text_of(expect, "name"), number_of(expect, "value"));
  if (isnan(low))
    printf("at most %g\n", high);
  else if (isnan(high))
    printf("at least %g\n", low);
  else
    printf("%g to %g\n", low, high);
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

static void print_list(const char *name, const json_t *list) {
  for (size_t k = 0; k < json_array_size(list); k++)
    printf("  %-13s %s\n", k ? "" : name, json_string_value(json_array_get(list, k)));
}

static void print_frames(const json_t *info) {
  double n = number_of(info, "frames"), last = number_of(info, "last_time");
  printf("  frames        %.0f", n);
  if (!isnan(last)) printf(", from %g to %g s", number_of(info, "first_time"), last);
  puts("");
}

static void print_run(const json_t *info) {
  const json_t *particles = json_object_get(info, "particles");
  const char *title = text_of(info, "title");
  printf("%s\n", title[0] ? title : text_of(info, "folder"));
  double n_files = number_of(info, "files");
  printf("  folder        %s: %.0f file%s, ", text_of(info, "folder"), n_files, plural(n_files));
  print_size(number_of(info, "bytes"));
  printf("\n  method        %s\n", text_of(info, "method")[0] ? text_of(info, "method") : "not known");
  if (json_is_object(particles))
    printf("  particles     %.0f fluid, %.0f boundary\n", number_of(particles, "fluid"),
           number_of(particles, "boundary"));
  print_frames(info);
  print_end(info);
  print_expects(info);
  print_list("problems", json_object_get(info, "problems"));
  print_list("look at it", json_object_get(info, "look"));
  if (!is_complete(info)) printf("  go on         %s\n", text_of(info, "resume"));
}

int app_show_run(const char *path, bool is_json) {
  json_t *info = NULL;
  FloError error;
  char resume[3 * FLO_PATH_SIZE], folder[FLO_PATH_SIZE];
  snprintf(folder, sizeof folder, "%s", path);
  for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--) folder[n - 1] = 0;
  FloStatus status = flo_run_info_make(folder, &info, &error);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "info: %s", error.text);
  write_resume(info, folder, resume, sizeof resume);
  json_object_set_new(info, "resume", is_complete(info) ? json_null() : json_string(resume));
  json_object_set_new(info, "look", list_commands(folder, info));
  char *text = is_json ? flo_scene_write(info) : NULL; // with all digits, as in series.csv
  if (text)
    fputs(text, stdout);
  else if (!is_json)
    print_run(info);
  bool has_failed = is_json && !text;
  free(text);
  json_decref(info);
  return has_failed ? app_fail(APP_RUN_FAILED, "no memory") : APP_OK;
}
