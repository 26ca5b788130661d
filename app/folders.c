// Checks of folders for several commands: whether a folder is that of a run and, if not, which one may have
// been meant; whether a place can be written. A place that cannot be written is bad input, and is reported
// before any work is done. A disk that becomes full during the work is not bad input.
#include "base/core.h"
#include "io/run_info.h"
#include "io/suggest.h"
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool app_is_run_folder(const char *path) { return flo_run_info_is_folder(path); }

// ---- Wrong folders ----

typedef struct Neighbours {
  FloSuggestion *suggestion;
  AppTexts names;
  const char *parent; // including its slash
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

// Suggests runs in the folder that the path names, and a run of that name in runs/.
int app_complain_no_run(const char *command, const char *path) {
  char parent[FLO_PATH_SIZE] = "", below[FLO_PATH_SIZE], buffer[128];
  struct stat about;
  const char *slash = strrchr(path, '/');
  if (slash) snprintf(parent, sizeof parent, "%.*s", (int)(slash - path + 1), path);
  FloSuggestion suggestion = flo_suggest_start(path);
  Neighbours neighbours = {.suggestion = &suggestion, .parent = parent};
  flo_folder_visit(parent[0] ? parent : ".", offer_neighbour, &neighbours, NULL);
  bool is_there = stat(path, &about) == 0;
  if (app_is_run_folder(path)) {
    app_texts_free(&neighbours.names);
    return app_fail(APP_BAD_INPUT,
                    "%s: %s: a file of this run is missing, such as series.csv; run its scene again", command,
                    path);
  }
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

// ---- Places to write ----

static FloStatus count_name(const char *name, void *context, FloError *error) {
  (void)name, (void)error;
  ++*(size_t *)context;
  return FLO_OK;
}

// The folder that a path stands in.
static void find_parent(const char *path, char parent[FLO_PATH_SIZE]) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') --length;
  while (length > 0 && path[length - 1] != '/') --length;
  while (length > 1 && path[length - 1] == '/') --length;
  snprintf(parent, FLO_PATH_SIZE, "%.*s", length ? (int)length : 1, length ? path : ".");
}

// Fails unless files can be created in `folder`; `path` is the file or folder to be written.
static FloStatus check_folder(const char *path, const char *folder, const struct stat *about,
                              FloError *error) {
  if (!S_ISDIR(about->st_mode) && strcmp(path, folder) == 0)
    return flo_fail(error, FLO_BAD_INPUT, "%s: is a file, not a folder; name a folder with --out", path);
  if (!S_ISDIR(about->st_mode))
    return flo_fail(error, FLO_BAD_INPUT, "%s: '%s' is a file, not a folder; name another place with --out",
                    path, folder);
  if (access(folder, W_OK | X_OK) == 0) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: the folder '%s' cannot be written: %s; name another place with --out", path, folder,
                  strerror(errno));
}

static FloStatus check_name(const char *path, FloError *error) {
  if (path[0] == 0)
    return flo_fail(error, FLO_BAD_INPUT, "--out: the name is empty; give the name of a folder or file");
  if (strlen(path) < FLO_PATH_SIZE - 64) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
}

// A missing folder will be created inside the nearest one that exists, so that one is checked.
static FloStatus check_new_folder(const char *path, FloError *error) {
  char folder[FLO_PATH_SIZE], above[FLO_PATH_SIZE];
  struct stat about;
  snprintf(folder, sizeof folder, "%s", path);
  while (stat(folder, &about) != 0) {
    find_parent(folder, above);
    if (strcmp(above, folder) == 0) return FLO_OK; // the error is reported when the folder is created
    memcpy(folder, above, sizeof folder);
  }
  return check_folder(path, folder, &about, error);
}

// Only the folder of a run may be replaced. Any other folder may hold important files: it may be / or a home
// folder.
FloStatus app_check_run_place(const char *path, bool replace, FloError *error) {
  struct stat about;
  size_t n_names = 0;
  FLO_TRY(check_name(path, error));
  if (stat(path, &about) != 0) return check_new_folder(path, error);
  if (S_ISDIR(about.st_mode) && flo_folder_visit(path, count_name, &n_names, error) != FLO_OK)
    return flo_fail(error, FLO_BAD_INPUT, "%s: cannot read this folder: %s; name another with --out", path,
                    strerror(errno));
  if (n_names > 0 && !flo_run_folder_is_run(path))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is not empty and not the folder of a run%s; name another folder with --out", path,
                    replace ? ", and --force replaces only runs" : "");
  return check_folder(path, path, &about, error);
}

FloStatus app_make_place(const char *path, FloError *error) {
  FloStatus status = flo_folder_make(path, error);
  return status == FLO_IO_FAILED ? (error->status = FLO_BAD_INPUT) : status;
}

FloStatus app_check_file_place(const char *path, FloError *error) {
  char parent[FLO_PATH_SIZE];
  struct stat about;
  FLO_TRY(check_name(path, error));
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is a folder; name a file in it", path);
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) return FLO_OK; // it is a device or a pipe
  find_parent(path, parent);
  if (stat(parent, &about) != 0)
    return flo_fail(error, FLO_BAD_INPUT, "%s: there is no folder '%s'; create it, or choose another place",
                    path, parent);
  return check_folder(path, parent, &about, error);
}
