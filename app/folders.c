// Folders of runs, as several commands need them: is it one, and if not, which may have been meant; and
// whether something may be written where the user says. A place that cannot be written is bad input, and is
// told before any work is done; a disk that fills up on the way is not.
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

// Fails unless names can be added to what is at `folder`; `path` is what is to be written there.
static FloStatus check_folder(const char *path, const char *folder, const struct stat *about,
                              FloError *error) {
  if (!S_ISDIR(about->st_mode) && strcmp(path, folder) == 0)
    return flo_fail(error, FLO_BAD_INPUT, "%s: is a file, not a folder; --out names another", path);
  if (!S_ISDIR(about->st_mode))
    return flo_fail(error, FLO_BAD_INPUT, "%s: '%s' is a file, not a folder; --out names another place", path,
                    folder);
  if (access(folder, W_OK | X_OK) == 0) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: the folder '%s' may not be written: %s; --out names another place", path, folder,
                  strerror(errno));
}

static FloStatus check_name(const char *path, FloError *error) {
  if (path[0] == 0) return flo_fail(error, FLO_BAD_INPUT, "--out: the name is empty");
  if (strlen(path) < FLO_PATH_SIZE - 64) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
}

// A folder that is not there yet is going to be made in the nearest one that is.
static FloStatus check_new_folder(const char *path, FloError *error) {
  char folder[FLO_PATH_SIZE], above[FLO_PATH_SIZE];
  struct stat about;
  snprintf(folder, sizeof folder, "%s", path);
  while (stat(folder, &about) != 0) {
    find_parent(folder, above);
    if (strcmp(above, folder) == 0) return FLO_OK; // the reason will be told when it is made
    memcpy(folder, above, sizeof folder);
  }
  return check_folder(path, folder, &about, error);
}

// Only what a run has filled may be replaced: anything else is somebody's folder, be it / or a home.
FloStatus app_check_run_place(const char *path, bool replace, FloError *error) {
  struct stat about;
  size_t n_names = 0;
  FLO_TRY(check_name(path, error));
  if (stat(path, &about) != 0) return check_new_folder(path, error);
  if (S_ISDIR(about.st_mode) && flo_folder_visit(path, count_name, &n_names, error) != FLO_OK)
    return flo_fail(error, FLO_BAD_INPUT, "%s: cannot read this folder: %s; --out names another", path,
                    strerror(errno));
  if (n_names > 0 && !flo_run_folder_is_run(path))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is not empty, and not the folder of a run%s; --out names another folder", path,
                    replace ? ", which is all that --force replaces" : "");
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
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) return FLO_OK; // a device or a pipe
  find_parent(path, parent);
  if (stat(parent, &about) != 0)
    return flo_fail(error, FLO_BAD_INPUT, "%s: there is no folder '%s'; make it, or choose another place",
                    path, parent);
  return check_folder(path, parent, &about, error);
}
