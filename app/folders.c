// Folders of runs, as several commands need them: is it one, and if not, which may have been meant.
#include "app.h"
#include "base/core.h"
#include "io/files.h"
#include "io/run_info.h"
#include "io/suggest.h"

#include <stdio.h>
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
