// flotsam compare: runs one scene with several methods, and shows the results side by side.
#include "base/core.h"
#include "compare_page.h"
#include "io/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "compare",
    .arguments = "SCENE",
    .about =
        "Runs SCENE with several methods and writes one page, DIR/index.html, that needs no other file:\n"
        "pictures of the same moments side by side, plots of measurements over time, cost, final positions\n"
        "of bodies, and the expectations that each method met. --methods names the methods; each must be "
        "able to run the scene. Without it, all methods that can\n"
        "run the scene are compared.\n"
        "A parameter of the scene or of --set method.NAME=VALUE applies to the methods that have it; the\n"
        "others ignore it.\n"
        "If a comparison was interrupted, give the same command again to continue it.\n"
        "Exit codes: 0 done, 1 a run failed or was interrupted, 2 bad input, 3 an expectation failed.",
    .examples = "  flotsam compare flotsam\n"
                "  flotsam compare floating-cuboids --methods direct-forcing,monolithic --size draft\n"
                "  flotsam compare dam-break --set method.max_iterations=50 --out /tmp/dam\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  AppSceneArguments scene;
  AppList methods;
  const char *out;
  AppLook look;
  bool is_fresh, is_quiet;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){0};
  AppOption options[] = {
      {"--methods", "METHOD,...", APP_LIST, &a->methods,
       "methods, separated by commas (default: all that can run the scene)", 0, 0},
      {"--out", "DIR", APP_TEXT, &a->out, "the folder to write (default: runs/compare-NAME)", 0, 0},
      {"--size", "SIZE", APP_TEXT, &a->scene.size, "use one of the scene's sizes, e.g. fine", 0, 0},
      {"--set", "PATH=VALUE", APP_LIST, &a->scene.sets, "change a value of the scene; may be repeated", 0, 0},
      APP_LOOK_OPTIONS(&a->look),
      APP_TOUR_OPTIONS(a),
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->scene.scene = words.items[0];
  *exit_code = APP_BAD_INPUT;
  return app_check_look("compare", &a->look);
}

// ---- What is set ----

static bool is_method_set(const char *set) {
  return strncmp(set, "method", 6) == 0 && strchr(".=", set[6]) && set[6];
}

// The parameter that "method.NAME=VALUE" sets. Returns false if the text sets the method itself.
static bool find_parameter(const char *set, char name[64]) {
  if (set[6] != '.') return false;
  snprintf(name, 64, "%.*s", (int)flo_min_size(strcspn(set + 7, "="), 63), set + 7);
  return strcmp(name, "name") != 0;
}

static bool knows(const char *method, const char *name) {
  size_t n;
  const FloParam *params = flo_method_params(method, &n);
  for (size_t k = 0; k < n; k++)
    if (strcmp(params[k].name, name) == 0) return true;
  return false;
}

// The values set for this method. A parameter that the method does not have is meant for another one, and
// left out.
static AppList sets_for(const AppList *sets, const char *method) {
  AppList own = {0};
  for (size_t k = 0; k < sets->count; k++) {
    char name[64];
    bool is_foreign =
        is_method_set(sets->items[k]) && find_parameter(sets->items[k], name) && !knows(method, name);
    if (!is_foreign) own.items[own.count++] = sets->items[k];
  }
  return own;
}

static FloStatus check_set(const Comparison *c, const char *set, FloError *error) {
  char name[64], buffer[128];
  if (!is_method_set(set)) return FLO_OK;
  if (!find_parameter(set, name))
    return flo_fail(error, FLO_BAD_INPUT,
                    "compare: --set %s cannot choose the method here; name the methods with --methods", set);
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < c->tour.count; k++) {
    size_t n;
    const FloParam *params = flo_method_params(c->tour.items[k].name, &n);
    if (knows(c->tour.items[k].name, name)) return FLO_OK;
    for (size_t p = 0; p < n; p++) flo_suggest_offer(&suggestion, params[p].name);
  }
  return flo_fail(error, FLO_BAD_INPUT, "compare: --set %s: none of the methods has a parameter '%s'%s", set,
                  name, flo_suggest_text(&suggestion, buffer));
}

// ---- Which methods ----

static void add_method(Comparison *c, const Arguments *a, const char *method) {
  AppExhibit *e = &c->tour.items[c->tour.count];
  for (size_t k = 0; k < c->tour.count; k++)
    if (strcmp(c->tour.items[k].name, method) == 0) return;
  if (c->tour.count == COMPARE_MOST) return;
  *e = (AppExhibit){.name = method, .arguments = a->scene};
  e->arguments.scene = c->scene->path;
  e->arguments.method = method;
  e->arguments.sets = sets_for(&a->scene.sets, method);
  c->tour.count++;
}

// Returns the table's own text for a method's name, which stays valid longer than the command line.
static const char *find_method(const char *name) {
  for (size_t k = 0; k < flo_method_count(); k++)
    if (strcmp(flo_method_name(k), name) == 0) return flo_method_name(k);
  return NULL;
}

static FloStatus refuse_method(const char *name, FloError *error) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < flo_method_count(); k++) flo_suggest_offer(&suggestion, flo_method_name(k));
  return flo_fail(error, FLO_BAD_INPUT, "compare: no method '%s'%s ('flotsam info methods' lists them)", name,
                  flo_suggest_text(&suggestion, buffer));
}

static FloStatus add_named(Comparison *c, const Arguments *a, const char *list, FloError *error) {
  AppTexts names = {0};
  FloStatus status = FLO_OK;
  app_texts_split(&names, list);
  for (size_t k = 0; k < names.count && status == FLO_OK; k++) {
    const char *method = find_method(names.items[k]);
    if (method)
      add_method(c, a, method);
    else
      status = refuse_method(names.items[k], error);
  }
  app_texts_free(&names);
  return status;
}

static FloStatus choose_methods(Comparison *c, const Arguments *a, FloError *error) {
  for (size_t k = 0; k < a->methods.count; k++) FLO_TRY(add_named(c, a, a->methods.items[k], error));
  if (a->methods.count == 0)
    for (size_t k = 0; k < flo_method_count(); k++) add_method(c, a, flo_method_name(k));
  for (size_t k = 0; k < a->scene.sets.count; k++) FLO_TRY(check_set(c, a->scene.sets.items[k], error));
  return FLO_OK;
}

// ---- Whether they can run it ----

// Builds the world, which fails if the method cannot run the scene. If a run exists already, the method can.
static FloStatus try_method(AppExhibit *e, FloError *error) {
  FloWorld *world = NULL;
  if (!e->scene) return flo_fail(error, FLO_BAD_INPUT, "%s", e->message);
  if (e->was_there) return FLO_OK;
  FloStatus status = flo_scene_build(e->scene, &world, error);
  flo_world_destroy(world);
  return status;
}

static FloStatus open_method(Comparison *c, const Arguments *a, AppExhibit *e, FloError *error) {
  char runs[FLO_PATH_SIZE], place[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(c->out, "runs", runs, error));
  FLO_TRY(flo_path_join(runs, e->name, place, error));
  if (a->is_fresh) FLO_TRY(app_exhibit_forget(place, error));
  FLO_TRY(app_exhibit_open(e, place, error));
  // All methods must run the same size of the scene; another size is an error here.
  if (e->arguments.size == a->scene.size) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s", e->notes.items[0]);
}

// Each exhibit has one owner. The tour closes all that it counts, also if a later method fails.
static void move_exhibit(AppExhibit *to, AppExhibit *from) {
  if (to == from) return;
  *to = *from;
  *from = (AppExhibit){0};
}

// If --methods names a method that cannot run the scene, this is an error at once. Without --methods such a
// method is left out, and the page says why.
static FloStatus try_methods(Comparison *c, const Arguments *a, FloError *error) {
  size_t n = 0;
  for (size_t k = 0; k < c->tour.count; k++) {
    AppExhibit *e = &c->tour.items[k];
    FloError reason;
    FLO_TRY(open_method(c, a, e, error));
    FloStatus status = try_method(e, &reason);
    if (status != FLO_OK && a->methods.count > 0)
      return flo_fail(error, FLO_BAD_INPUT, "compare: method %s cannot run this scene: %s", e->name,
                      reason.text);
    if (status == FLO_OK) {
      move_exhibit(&c->tour.items[n++], e);
      continue;
    }
    char text[sizeof reason.text + 96];
    snprintf(text, sizeof text, "Method %.60s cannot run this scene: %s", e->name, reason.text);
    app_texts_add(&c->left_out, text);
    app_exhibit_close(e);
    *e = (AppExhibit){0};
  }
  c->tour.count = n;
  return n > 1 ? FLO_OK
               : flo_fail(error, FLO_BAD_INPUT,
                          "compare: at least two methods are needed, got %zu method%s%s%s", n,
                          n == 1 ? "" : "s", c->left_out.count ? "; " : "",
                          c->left_out.count ? c->left_out.items[0] : "");
}

// ---- All of it ----

static FloStatus prepare(Comparison *c, const Arguments *a, FloError *error) {
  char folder[FLO_PATH_SIZE];
  snprintf(folder, sizeof folder, "runs/compare-%s", c->scene->name);
  snprintf(c->out, sizeof c->out, "%s", a->out ? a->out : folder);
  c->tour.items = c->items;
  FLO_TRY(choose_methods(c, a, error));
  FLO_TRY(flo_path_join(c->out, "index.html", c->page, error));
  FLO_TRY(flo_page_check(c->page, "compare", error));
  FLO_TRY(flo_folder_make(c->out, error));
  FLO_TRY(try_methods(c, a, error));
  return app_compare_write(&c->tour, c, error);
}

static int compare(Comparison *c, const Arguments *a) {
  FloError error;
  FloStatus status = prepare(c, a, &error);
  if (status != FLO_OK)
    return app_fail(status == FLO_NO_MEMORY ? APP_RUN_FAILED : APP_BAD_INPUT, "%s", error.text);
  status = app_tour_go(&c->tour, &error);
  if (status != FLO_OK) {
    app_fail(0, "compare: %s", error.text);
    return app_fail(APP_RUN_FAILED, "run the same command again to continue; results so far: %s", c->page);
  }
  if (!a->is_quiet) printf("page     %s\n", c->page);
  return app_tour_exit_code(&c->tour);
}

int cmd_compare(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  Comparison *c = calloc(1, sizeof *c);
  if (!c) return app_fail(APP_RUN_FAILED, "compare: no memory");
  AppSceneArguments plain = arguments.scene;
  plain.sets = (AppList){0};
  for (size_t k = 0; k < arguments.scene.sets.count; k++)
    if (!is_method_set(arguments.scene.sets.items[k]))
      plain.sets.items[plain.sets.count++] = arguments.scene.sets.items[k];
  if (app_load_scene(&plain, &c->scene, &exit_code)) {
    c->tour = (AppTour){.look = arguments.look,
                        .is_quiet = arguments.is_quiet,
                        .has_one_camera = true,
                        .write = app_compare_write,
                        .finish = app_compare_draw,
                        .context = c};
    c->given = arguments.scene.scene;
    exit_code = compare(c, &arguments);
    flo_scene_destroy(c->scene);
  }
  for (size_t k = 0; k < c->tour.count; k++) app_exhibit_close(&c->tour.items[k]);
  app_texts_free(&c->left_out);
  free(c);
  return exit_code;
}
