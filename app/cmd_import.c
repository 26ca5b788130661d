// flotsam import: makes a scene of a robot.
#define _XOPEN_SOURCE 700 // realpath

#include "app.h"
#include "base/core.h"
#include "io/scene_steps.h"
#include "io/urdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "import",
    .arguments = "FILE",
    .about =
        "Makes a scene of the robot in the URDF file FILE: a body for each link with its mass, inertia and\n"
        "shape, and a joint for each joint with its limits and friction. Joints that mimic others become\n"
        "gears. Shapes are those of collisions; without any, those of visuals. Meshes stay where they are.\n"
        "The scene is written to a file in the present folder, named after FILE, unless --out names "
        "another.\n"
        "Exit codes: 0 done, 1 the file could not be written, 2 bad input.",
    .examples = "  flotsam import robot.urdf\n"
                "  flotsam import arm.urdf --fixed --hold --out arm.json\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  const char *file, *out;
  FloUrdfOptions options;
  bool is_forced;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){0};
  AppOption options[] = {
      {"--out", "FILE", APP_TEXT, &a->out, "the scene's file (default: NAME.json)", 0, 0},
      {"--spacing", "METRES", APP_NUMBER, &a->options.spacing,
       "distance between particles (default: a third of the thinnest shape)", 1e-6, 1e6},
      {"--fixed", NULL, APP_FLAG, &a->options.is_fixed,
       "fix the first link to the world; without it, add a floor", 0, 0},
      {"--hold", NULL, APP_FLAG, &a->options.holds,
       "motors hold every joint at its start, as strong as its effort", 0, 0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace a file that exists", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->file = words.items[0];
  return true;
}

// NAME.json for folder/NAME.urdf.
static void choose_path(const Arguments *a, char path[FLO_PATH_SIZE]) {
  const char *slash = strrchr(a->file, '/'), *name = slash ? slash + 1 : a->file, *dot = strrchr(name, '.');
  int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
  if (a->out)
    snprintf(path, FLO_PATH_SIZE, "%s", a->out);
  else
    snprintf(path, FLO_PATH_SIZE, "%.*s.json", length, name);
}

static FloStatus write_scene(const Arguments *a, const json_t *scene, const char *path, FloError *error) {
  if (!a->is_forced && flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: exists; replace it with --force, or name another file with --out", path);
  char *text = flo_scene_write(scene);
  if (!text) return flo_fail(error, FLO_NO_MEMORY, "no memory for a scene");
  FloStatus status = flo_file_write(path, text, strlen(text), error);
  free(text);
  return status;
}

// Prints what could not be taken over.
static void tell_notes(char *notes) {
  for (char *line = strtok(notes, "\n"); line; line = strtok(NULL, "\n"))
    fprintf(stderr, "flotsam: note: %s\n", line);
}

static FloStatus import(const Arguments *a, const char *file, FloError *error) {
  static char notes[8192];
  char path[FLO_PATH_SIZE];
  FloUrdf robot;
  json_t *scene = NULL;
  FloStatus status = flo_urdf_read(file, &robot, error);
  if (status == FLO_OK) status = flo_urdf_scene(&robot, &a->options, &scene, notes, sizeof notes, error);
  choose_path(a, path);
  if (status == FLO_OK) status = write_scene(a, scene, path, error);
  if (status == FLO_OK) {
    tell_notes(notes);
    printf("scene    %s: %zu bodies, %zu joints\n", path, json_array_size(json_object_get(scene, "bodies")),
           json_array_size(json_object_get(scene, "joints")));
  }
  json_decref(scene);
  flo_urdf_free(&robot);
  return status;
}

int cmd_import(int argc, char **argv) {
  Arguments a;
  FloError error;
  int exit_code;
  if (!parse(argc, argv, &a, &exit_code)) return exit_code;
  char *whole = realpath(a.file, NULL); // so that the scene finds meshes from any folder
  FloStatus status = import(&a, whole ? whole : a.file, &error);
  free(whole);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", error.text);
}
