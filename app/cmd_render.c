// flotsam render: draws a frame of a run from its folder.
#include "app.h"
#include "base/core.h"
#include "io/run_folder.h"
#include "io/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "render",
    .arguments = "DIR",
    .about =
        "Draws one frame of the run in the folder DIR with the scene's camera; the last frame unless told.\n"
        "Exit codes: 0 drawn, 1 the picture could not be written, 2 bad input.",
    .examples = "  flotsam render runs/dam-break\n"
                "  flotsam render runs/dam-break --frame 12 --out splash.png --width 1920 --height 1080\n"
                "  flotsam render runs/dam-break --colour-by pressure\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  const char *folder, *out;
  int frame; // -1: the last
  AppPicture picture;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.frame = -1};
  AppOption options[] = {
      {"--frame", "N", APP_INTEGER, &a->frame, "the frame's number, from 0; the last unless given", 0, 1e9},
      {"--out", "FILE.png", APP_TEXT, &a->out, "where to; DIR/picture_NNNN.png unless given", 0, 0},
      {"--width", "PIXELS", APP_INTEGER, &a->picture.width, "width of the picture", 16, 16384},
      {"--height", "PIXELS", APP_INTEGER, &a->picture.height, "height of the picture", 16, 16384},
      {"--colour-by", "FIELD", APP_TEXT, &a->picture.colour_by, "speed, density or pressure", 0, 0},
      {"--threads", "N", APP_INTEGER, &a->picture.threads, "worker threads; all cores unless given", 1, 1024},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  if (!a->picture.colour_by || app_is_colour(a->picture.colour_by)) return true;
  *exit_code = app_fail(APP_BAD_INPUT, "render: cannot colour by '%s'; choose speed, density or pressure",
                        a->picture.colour_by);
  return false;
}

// Bodies stood elsewhere at that frame than at the start: the series tells where.
static FloStatus place_bodies(FloScene *scene, const char *folder, size_t frame, FloError *error) {
  if (scene->n_bodies == 0) return FLO_OK;
  char path[FLO_PATH_SIZE];
  FloSeries *series = NULL;
  double *row;
  size_t n;
  FLO_TRY(flo_path_join(folder, "series.csv", path, error));
  FLO_TRY(flo_series_read_row(path, frame, &row, &n, error));
  FloStatus status = flo_series_create(scene, &series, error);
  if (status == FLO_OK && n != series->n_columns)
    status = flo_fail(error, FLO_BAD_INPUT, "%s: does not belong to the scene.json beside it", path);
  for (size_t b = 0; status == FLO_OK && b < scene->n_bodies; b++) {
    const double *body = row + series->first_body_column + b * FLO_SERIES_PER_BODY;
    memcpy(scene->bodies[b].def.pose.position, body, 3 * sizeof *body);
    memcpy(scene->bodies[b].def.pose.rotation, body + 3, 4 * sizeof *body);
  }
  flo_series_destroy(series);
  free(row);
  return status;
}

static FloStatus draw(const Arguments *a, FloScene *scene, size_t frame, const char *out, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloSnapshot snapshot;
  FLO_TRY(place_bodies(scene, a->folder, frame, error));
  FLO_TRY(flo_run_folder_frame_path(a->folder, frame, path, error));
  FLO_TRY(flo_snapshot_read(path, &snapshot, error));
  FloStatus status = app_draw(scene, &snapshot, &a->picture, out, error);
  flo_snapshot_free(&snapshot);
  return status;
}

static int render(const Arguments *a, FloScene *scene, size_t frame) {
  char name[48], path[FLO_PATH_SIZE];
  FloError error;
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  FloStatus status = flo_path_join(a->folder, name, path, &error);
  const char *out = a->out ? a->out : path;
  if (status == FLO_OK) status = draw(a, scene, frame, out, &error);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", error.text);
  printf("picture  %s\n", out);
  return APP_OK;
}

int cmd_render(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  char path[FLO_PATH_SIZE];
  size_t n_frames = flo_run_folder_count_frames(arguments.folder);
  if (n_frames == 0 || flo_path_join(arguments.folder, "scene.json", path, NULL) != FLO_OK)
    return app_fail(APP_BAD_INPUT, "%s: is not the folder of a run", arguments.folder);
  size_t frame = arguments.frame < 0 ? n_frames - 1 : (size_t)arguments.frame;
  if (frame >= n_frames)
    return app_fail(APP_BAD_INPUT, "render: there is no frame %zu; the last one is %zu", frame, n_frames - 1);
  FloScene *scene;
  AppSceneArguments load = {.scene = path};
  if (!app_load_scene(&load, &scene, &exit_code)) return exit_code;
  exit_code = render(&arguments, scene, frame);
  flo_scene_destroy(scene);
  return exit_code;
}
