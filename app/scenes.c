// Scenes by path or by name. Named scenes come with the program. They are searched in the source tree around
// the program's file, beside an installed program, and in the source tree it was compiled from.
#include "app.h"
#include "base/core.h"
#include "io/files.h"
#include "io/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SCENES = 512, N_FOLDERS = 3 };

typedef struct SceneNames {
  char names[MAX_SCENES][64];
  size_t count;
} SceneNames;

// The folder `levels` above the program's file; false if it is not known or does not exist.
static bool find_above_program(int levels, char folder[FLO_PATH_SIZE]) {
  ssize_t length = readlink("/proc/self/exe", folder, FLO_PATH_SIZE - 1);
  if (length <= 0) return false;
  folder[length] = 0;
  for (int k = 0; k < levels; k++) {
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = 0;
  }
  return true;
}

static bool find_scene_folder(int k, char folder[FLO_PATH_SIZE]) {
  char above[FLO_PATH_SIZE];
  switch (k) {
  case 0: // TREE/build/bin/flotsam and TREE/scenes
    return find_above_program(3, above) && flo_path_join(above, "scenes", folder, NULL) == FLO_OK;
  case 1: // PREFIX/bin/flotsam and PREFIX/share/flotsam/scenes
    return find_above_program(2, above) &&
           flo_path_join(above, "share/flotsam/scenes", folder, NULL) == FLO_OK;
  default:
    return snprintf(folder, FLO_PATH_SIZE, "%s", FLOTSAM_SOURCE_SCENES) < FLO_PATH_SIZE;
  }
}

// ---- All names ----

static FloStatus collect_name(const char *file, void *context, FloError *error) {
  (void)error;
  SceneNames *all = context;
  size_t length = strlen(file);
  if (length < 6 || length > 68 || strcmp(file + length - 5, ".json") != 0 || all->count == MAX_SCENES)
    return FLO_OK;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(length - 5), file);
  for (size_t k = 0; k < all->count; k++)
    if (strcmp(all->names[k], name) == 0) return FLO_OK;
  memcpy(all->names[all->count++], name, sizeof name);
  return FLO_OK;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static void collect_names(SceneNames *all) {
  all->count = 0;
  for (int k = 0; k < N_FOLDERS; k++) {
    char folder[FLO_PATH_SIZE];
    if (find_scene_folder(k, folder)) flo_folder_visit(folder, collect_name, all, NULL);
  }
  qsort(all->names, all->count, sizeof all->names[0], compare_names);
}

void app_list_scenes(void (*visit)(const char *name, void *context), void *context) {
  SceneNames *all = malloc(sizeof *all);
  if (!all) return;
  collect_names(all);
  for (size_t k = 0; k < all->count; k++) visit(all->names[k], context);
  free(all);
}

// ---- One scene ----

static bool is_path(const char *scene) {
  size_t length = strlen(scene);
  return strchr(scene, '/') || (length > 5 && strcmp(scene + length - 5, ".json") == 0);
}

bool app_find_scene(const char *name, char path[FLO_PATH_SIZE]) {
  char file[256], folder[FLO_PATH_SIZE];
  if (snprintf(file, sizeof file, "%s.json", name) >= (int)sizeof file) return false;
  for (int k = 0; k < N_FOLDERS; k++) {
    if (!find_scene_folder(k, folder) || flo_path_join(folder, file, path, NULL) != FLO_OK) continue;
    if (flo_file_exists(path)) return true;
  }
  return false;
}

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// The name of a scene that a path suggests: "dam-break" for "scenes/dam-break.json".
static void name_from_path(const char *path, char name[64]) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  size_t length = strlen(file);
  if (length > 5 && strcmp(file + length - 5, ".json") == 0) length -= 5;
  snprintf(name, 64, "%.*s", (int)flo_min_size(length, 63), file);
}

static int complain_missing(const char *scene) {
  if (is_folder(scene))
    return app_fail(APP_BAD_INPUT, "%s: is a folder, not a scene file; name a .json file in it", scene);
  char name[64], buffer[128];
  SceneNames *all = malloc(sizeof *all);
  if (!all) return app_fail(APP_RUN_FAILED, "no memory");
  collect_names(all);
  name_from_path(scene, name);
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < all->count; k++) flo_suggest_offer(&suggestion, all->names[k]);
  const char *hint = flo_suggest_text(&suggestion, buffer);
  if (is_path(scene))
    app_fail(
        APP_BAD_INPUT,
        "%s: there is no such scene file%s (paths start at the current folder; 'flotsam info scenes' lists "
        "the scenes that can be given by name)",
        scene, hint);
  else
    app_fail(APP_BAD_INPUT,
             "no scene '%s'%s ('flotsam info scenes' lists them; a path to a scene file works too)", scene,
             hint);
  free(all);
  return APP_BAD_INPUT;
}

// More threads than cores make a run slower.
static void mention_threads(int threads) {
  long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (n_cores > 0 && threads > n_cores)
    app_fail(APP_OK,
             "note: %d threads share the %ld core%s of this machine, which is slower; give --threads a "
             "smaller number",
             threads, n_cores, n_cores == 1 ? "" : "s");
}

bool app_load_scene(const AppSceneArguments *arguments, FloScene **scene, int *exit_code) {
  char found[FLO_PATH_SIZE];
  const char *path = arguments->scene;
  if (!is_path(path) && app_find_scene(path, found)) path = found;
  if (!flo_file_exists(path)) {
    *exit_code = complain_missing(arguments->scene);
    return false;
  }
  FloSceneOptions options = {.method = arguments->method,
                             .size = arguments->size,
                             .sets = arguments->sets.items,
                             .n_sets = arguments->sets.count,
                             .threads = arguments->threads};
  FloError error;
  FloStatus status = flo_scene_load(path, &options, scene, &error);
  if (status == FLO_OK) {
    mention_threads(arguments->threads);
    return true;
  }
  // Every error of a scene is bad input, even a file that cannot be read.
  *exit_code = app_fail(status == FLO_NO_MEMORY ? APP_RUN_FAILED : APP_BAD_INPUT, "%s", error.text);
  return false;
}
