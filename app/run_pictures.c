// The pictures at the end of a run, drawn from the frames on disk, as 'flotsam render' draws them.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

#include <stdlib.h>

enum { N_PICTURES = 8 }; // before the last, evenly spread

bool app_run_is_picture_frame(const AppRun *run, size_t frame) {
  size_t n = run->point.n_frames;
  return frame > 0 && n > 0 && frame * N_PICTURES / n != (frame - 1) * N_PICTURES / n;
}

// The state of drawing, for the progress line.
typedef struct Drawing {
  AppRun *run;
  FloRunFrames frames;
  const AppView *view;
  size_t n_frames; // of the run
  bool is_rest;    // only pictures that do not exist yet
  size_t n, n_done;
} Drawing;

// Uses the same frames as 'flotsam render', so that the view is the same.
static FloStatus choose_view(Drawing *drawing, AppView *view, FloError *error) {
  const AppRun *run = drawing->run;
  FloSurvey survey = {0};
  AppPicture picture = {0};
  size_t n_frames = drawing->n_frames, n = flo_min_size(n_frames, FLO_SURVEY_FRAMES);
  *view = run->view;
  for (size_t k = 0; k < n; k++) {
    FloFrame frame;
    const size_t number = n > 1 ? k * (n_frames - 1) / (n - 1) : 0;
    if (flo_frame_read(&drawing->frames, number, FLO_FRAME_PARTICLES, &frame, NULL) != FLO_OK) continue;
    FloStatus status = app_survey_frame(run->scene, &frame, &picture, &survey, error);
    flo_frame_free(&frame);
    FLO_TRY(status);
  }
  app_view_settle(run->scene, &picture, &survey, view);
  return FLO_OK;
}

static void report(void *context, double share) {
  Drawing *drawing = context;
  char text[64];
  if (!app_progress_is_due(&drawing->run->progress)) return;
  snprintf(text, sizeof text, "drawing picture %zu of %zu", drawing->n_done + 1, drawing->n);
  app_progress_tell(&drawing->run->progress, (double)drawing->n_done + share, text);
}

static FloStatus picture_path(const AppRun *run, size_t frame, char path[FLO_PATH_SIZE], FloError *error) {
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  return flo_path_join(run->folder->path, name, path, error);
}

static FloStatus draw_frame(Drawing *drawing, size_t number, char path[FLO_PATH_SIZE], FloError *error) {
  const AppRun *run = drawing->run;
  AppPicture picture = {
      .threads = run->options->threads, .view = drawing->view, .report = report, .context = drawing};
  FloFrame frame;
  FLO_TRY(picture_path(run, number, path, error));
  FLO_TRY(flo_frame_read(&drawing->frames, number, FLO_FRAME_PICTURE, &frame, error));
  FloStatus status = app_draw(run->scene, &frame, &picture, path, error);
  flo_frame_free(&frame);
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

// ---- Which frames ----

// Pictures that were drawn before the last frame was written are drawn again.
static bool is_current(const Drawing *drawing, const char *picture) {
  const struct timespec ever = {0};
  char last[FLO_PATH_SIZE];
  return flo_run_folder_frame_path(drawing->run->folder->path, drawing->n_frames - 1, last, NULL) == FLO_OK &&
         app_is_current(picture, last, &ever);
}

static bool is_there(const Drawing *drawing, size_t frame) {
  char path[FLO_PATH_SIZE];
  if (picture_path(drawing->run, frame, path, NULL) != FLO_OK || !is_current(drawing, path)) return false;
  if (frame + 1 < drawing->n_frames) return true;
  return flo_path_join(drawing->run->folder->path, "picture.png", path, NULL) == FLO_OK &&
         is_current(drawing, path);
}

static bool is_to_draw(const Drawing *drawing, size_t frame) {
  bool is_picture = frame + 1 == drawing->n_frames || app_run_is_picture_frame(drawing->run, frame);
  return is_picture && !(drawing->is_rest && is_there(drawing, frame));
}

// ---- All of them ----

// The last frame is drawn first: it is the most important picture, if a signal ends the drawing.
static FloStatus draw_last(Drawing *drawing, FloError *error) {
  AppRun *run = drawing->run;
  char path[FLO_PATH_SIZE], last[FLO_PATH_SIZE];
  FLO_TRY(draw_frame(drawing, drawing->n_frames - 1, path, error));
  FLO_TRY(flo_path_join(run->folder->path, "picture.png", last, error));
  FLO_TRY(copy_file(path, last, error));
  run->has_picture = true;
  return FLO_OK;
}

static FloStatus draw_planned(Drawing *drawing, FloError *error) {
  const size_t last = drawing->n_frames - 1;
  char path[FLO_PATH_SIZE];
  if (!app_run_is_stopped() && is_to_draw(drawing, last)) FLO_TRY(draw_last(drawing, error));
  for (size_t frame = 0; frame < last && !app_run_is_stopped(); frame++)
    if (is_to_draw(drawing, frame)) FLO_TRY(draw_frame(drawing, frame, path, error));
  return FLO_OK;
}

static size_t count_to_draw(const Drawing *drawing) {
  size_t n = 0;
  for (size_t frame = 0; frame < drawing->n_frames; frame++) n += is_to_draw(drawing, frame);
  return n;
}

static FloStatus draw(Drawing *drawing, FloError *error) {
  AppRun *run = drawing->run;
  AppView view;
  drawing->view = &view;
  app_progress_end(&run->progress);
  app_progress_begin(&run->progress, 0, (double)drawing->n, run->options->is_quiet);
  flo_run_frames_open(run->folder->path, run->scene, &drawing->frames);
  FloStatus status = choose_view(drawing, &view, error);
  if (status == FLO_OK) status = draw_planned(drawing, error);
  flo_run_frames_close(&drawing->frames);
  if (status == FLO_OK) run->n_undrawn = drawing->n - drawing->n_done;
  return status;
}

FloStatus app_run_draw_end(AppRun *run, FloError *error) {
  const double began = flo_seconds();
  Drawing drawing = {.run = run, .n_frames = run->folder->n_frames};
  drawing.n = count_to_draw(&drawing);
  if (drawing.n == 0) return FLO_OK;
  FLO_TRY(draw(&drawing, error));
  run->picture_seconds += flo_seconds() - began;
  return FLO_OK;
}

FloStatus app_run_draw_rest(AppRun *run, const FloCheckpoint *checkpoint, size_t *n_drawn) {
  Drawing drawing = {.run = run, .n_frames = checkpoint->point.n_frames + 1, .is_rest = true};
  *n_drawn = 0;
  run->point = checkpoint->point;
  drawing.n = count_to_draw(&drawing);
  if (drawing.n == 0) return FLO_OK; // even if the scene has changed since
  FLO_TRY(app_run_reopen(run, checkpoint));
  FloStatus status = draw(&drawing, &run->error);
  app_progress_end(&run->progress);
  *n_drawn = drawing.n_done;
  return status;
}
