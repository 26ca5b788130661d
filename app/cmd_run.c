// flotsam run: simulates a scene and writes its folder.
#define _XOPEN_SOURCE 700 // realpath

#include "run.h"

#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "run",
    .arguments = "SCENE",
    .about =
        "Simulates SCENE, a scene file or the name of a scene that comes with flotsam, and writes a\n"
        "folder: scene.json (the scene as it was run), series.csv (measurements of every frame),\n"
        "summary.json, particles_NNNN.vtp and run.pvd (for ParaView), bodies.csv and body_NAME.ply,\n"
        "picture.png, checkpoint.h5, log.txt, assets (the files that the scene names), and diverged.json\n"
        "if the run diverged.\n"
        "Ctrl-C ends the run early and saves its state; 'flotsam resume' continues it with bit-identical\n"
        "results. SIGUSR1 saves the state and the run continues.\n"
        "Exit codes: 0 done, 1 the run failed or was interrupted, 2 bad input, 3 an expectation failed.",
    .examples =
        "  flotsam run dam-break\n"
        "  flotsam run dam-break --until 0.5 --threads 2 --out /tmp/dam\n"
        "  flotsam run my/scene.json --set spacing=0.01 --set materials.water.viscosity=1e-3 --force\n"
        "  flotsam run dam-break --frames 10 --no-picture --quiet --json\n",
    .min_words = 1,
    .max_words = 1,
};

// A scene stored by an earlier run is always called scene.json, so the run is named after its folder.
// Otherwise it is named after the file.
static void choose_folder(const FloScene *scene, char folder[FLO_PATH_SIZE]) {
  char parent[FLO_PATH_SIZE] = ".", whole[FLO_PATH_SIZE];
  const char *slash = strrchr(scene->path, '/'), *name = scene->name;
  if (slash) snprintf(parent, sizeof parent, "%.*s", (int)(slash + 1 - scene->path), scene->path);
  bool is_stored = strcmp(slash ? slash + 1 : scene->path, "scene.json") == 0;
  if (is_stored && flo_run_folder_is_run(parent) && realpath(parent, whole) && strcmp(whole, "/") != 0)
    name = strrchr(whole, '/') + 1;
  snprintf(folder, FLO_PATH_SIZE, "runs/%.255s", name);
}

int cmd_run(int argc, char **argv) {
  AppSceneArguments arguments = {0};
  AppRunOptions run = app_default_run_options();
  const char *out = NULL;
  bool is_forced = false;
  AppList words = {0};
  FloScene *scene;
  int exit_code;
  AppOption options[] = {
      {"--out", "DIR", APP_TEXT, &out, "the folder to write (default: runs/NAME)", 0, 0},
      APP_SCENE_OPTIONS(&arguments),
      APP_RUN_OPTIONS(&run),
      {"--force", NULL, APP_FLAG, &is_forced, "replace an earlier run in the folder", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (!app_check_run_options("run", &run, &exit_code)) return exit_code;
  arguments.scene = words.items[0];
  if (!app_load_scene(&arguments, &scene, &exit_code)) return exit_code;
  run.threads = arguments.threads;
  char folder[FLO_PATH_SIZE];
  choose_folder(scene, folder);
  return app_run(scene, &arguments, &run, out ? out : folder, is_forced);
}
