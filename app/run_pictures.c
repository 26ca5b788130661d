// The pictures that a run draws at its end: from the frames on disk, as 'flotsam render' draws them.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

enum { N_PICTURES = 8 }; // on the way, evenly spread

bool app_run_is_picture_frame(const AppRun *run, size_t frame) {
  size_t n = run->point.n_frames;
  return frame > 0 && n > 0 && frame * N_PICTURES / n != (frame - 1) * N_PICTURES / n;
}

static FloStatus read_frame(const AppRun *run, size_t frame, FloSnapshot *snapshot, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_frame_path(run->folder->path, frame, path, error));
  return flo_snapshot_read(path, snapshot, error);
}

// The same frames as 'flotsam render' looks at, so that it comes to the same view.
static FloStatus choose_view(const AppRun *run, AppView *view, FloError *error) {
  FloSurvey survey = {0};
  AppPicture picture = {0};
  size_t n_frames = run->folder->n_frames, n = flo_min_size(n_frames, FLO_SURVEY_FRAMES);
  *view = run->view;
  for (size_t k = 0; k < n; k++) {
    FloSnapshot snapshot;
    if (read_frame(run, n > 1 ? k * (n_frames - 1) / (n - 1) : 0, &snapshot, NULL) != FLO_OK) continue;
    FloStatus status = app_survey_frame(run->scene, &snapshot, &picture, &survey, error);
    flo_snapshot_free(&snapshot);
    FLO_TRY(status);
  }
  app_view_settle(run->scene, &picture, &survey, view);
  return FLO_OK;
}

// Where the series says that bodies were.
static FloStatus place_bodies(const AppRun *run, size_t frame, FloSceneBody *bodies, FloError *error) {
  double *row;
  size_t n;
  FLO_TRY(flo_series_read_row(run->series->file.path, frame, &row, &n, error));
  for (size_t b = 0; b < run->scene->n_bodies && n == run->series->n_columns; b++) {
    const double *at = row + run->series->first_body_column + b * FLO_SERIES_PER_BODY;
    memcpy(bodies[b].def.pose.position, at, 3 * sizeof *at);
    memcpy(bodies[b].def.pose.rotation, at + 3, 4 * sizeof *at);
  }
  free(row);
  return FLO_OK;
}

// What is drawn at the end, for whoever waits for it.
typedef struct Drawing {
  AppRun *run;
  const AppView *view;
  size_t n, n_done;
} Drawing;

static void report(void *context, double share) {
  Drawing *drawing = context;
  char text[64];
  if (!app_progress_is_due(&drawing->run->progress)) return;
  snprintf(text, sizeof text, "drawing picture %zu of %zu", drawing->n_done + 1, drawing->n);
  app_progress_tell(&drawing->run->progress, (double)drawing->n_done + share, text);
}

static FloStatus draw_snapshot(Drawing *drawing, size_t frame, const FloSnapshot *snapshot, const char *path,
                               FloError *error) {
  const AppRun *run = drawing->run;
  FloScene scene = *run->scene;
  AppPicture picture = {
      .threads = run->options->threads, .view = drawing->view, .report = report, .context = drawing};
  scene.bodies = malloc((scene.n_bodies + 1) * sizeof *scene.bodies);
  if (!scene.bodies) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  if (scene.n_bodies) memcpy(scene.bodies, run->scene->bodies, scene.n_bodies * sizeof *scene.bodies);
  FloStatus status = scene.n_bodies ? place_bodies(run, frame, scene.bodies, error) : FLO_OK;
  if (status == FLO_OK) status = app_draw(&scene, snapshot, &picture, path, error);
  free(scene.bodies);
  return status;
}

static FloStatus draw_frame(Drawing *drawing, size_t frame, char path[FLO_PATH_SIZE], FloError *error) {
  const AppRun *run = drawing->run;
  FloSnapshot snapshot;
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  FLO_TRY(flo_path_join(run->folder->path, name, path, error));
  FLO_TRY(read_frame(run, frame, &snapshot, error));
  FloStatus status = draw_snapshot(drawing, frame, &snapshot, path, error);
  flo_snapshot_free(&snapshot);
  drawing->n_done++;
  return status;
}

static FloStatus copy_file(const char *from, const char *to, FloError *error) {
  char *data;
  size_t size;
  FLO_TRY(flo_file_read(from, &data, &size, error));
  FloStatus status = flo_file_write(to, data, size, error);
  free(data);
  return status;
}

static bool is_drawn(const AppRun *run, size_t frame) {
  return frame + 1 == run->folder->n_frames || app_run_is_picture_frame(run, frame);
}

// The last frame comes first: it is the one that is looked at, also where a signal ends the drawing.
static FloStatus draw_last(Drawing *drawing, FloError *error) {
  AppRun *run = drawing->run;
  char path[FLO_PATH_SIZE], last[FLO_PATH_SIZE];
  FLO_TRY(draw_frame(drawing, run->folder->n_frames - 1, path, error));
  FLO_TRY(flo_path_join(run->folder->path, "picture.png", last, error));
  FLO_TRY(copy_file(path, last, error));
  run->has_picture = true;
  return FLO_OK;
}

FloStatus app_run_draw_end(AppRun *run, FloError *error) {
  const double began = flo_seconds();
  const size_t n_frames = run->folder->n_frames;
  char path[FLO_PATH_SIZE];
  AppView view;
  Drawing drawing = {.run = run, .view = &view};
  if (n_frames == 0) return FLO_OK;
  for (size_t frame = 0; frame < n_frames; frame++) drawing.n += is_drawn(run, frame);
  app_progress_end(&run->progress);
  app_progress_begin(&run->progress, 0, (double)drawing.n, run->options->is_quiet);
  FLO_TRY(choose_view(run, &view, error));
  if (!app_run_is_stopped()) FLO_TRY(draw_last(&drawing, error));
  for (size_t frame = 0; frame + 1 < n_frames && !app_run_is_stopped(); frame++)
    if (is_drawn(run, frame)) FLO_TRY(draw_frame(&drawing, frame, path, error));
  run->n_undrawn = drawing.n - drawing.n_done;
  run->picture_seconds += flo_seconds() - began;
  return FLO_OK;
}
