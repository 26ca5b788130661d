// The picture at the end of a run, drawn from the frames on disk, as 'flotsam render' draws it.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

// The state of drawing, for the progress line.
typedef struct Drawing {
  AppRun *run;
  FloRunFrames frames;
  AppView view;
  size_t n_frames; // of the run
} Drawing;

// Uses the same frames as 'flotsam render', so that the view is the same.
static FloStatus choose_view(Drawing *drawing, FloError *error) {
  const AppRun *run = drawing->run;
  FloSurvey survey = {0};
  AppPicture picture = {0};
  size_t n_frames = drawing->n_frames, n = flo_min_size(n_frames, FLO_SURVEY_FRAMES);
  drawing->view = run->view;
  for (size_t k = 0; k < n; k++) {
    FloFrame frame;
    const size_t number = n > 1 ? k * (n_frames - 1) / (n - 1) : 0;
    if (flo_frame_read(&drawing->frames, number, FLO_FRAME_PARTICLES, &frame, NULL) != FLO_OK) continue;
    FloStatus status = app_survey_frame(run->scene, &frame, &picture, &survey, error);
    flo_frame_free(&frame);
    FLO_TRY(status);
  }
  app_view_settle(run->scene, &picture, &survey, &drawing->view);
  return FLO_OK;
}

static void report(void *context, double share) {
  Drawing *drawing = context;
  AppProgress *progress = &drawing->run->progress;
  if (app_progress_is_due(progress)) app_progress_tell(progress, share, "drawing the picture");
}

static FloStatus picture_path(const AppRun *run, char path[FLO_PATH_SIZE], FloError *error) {
  return flo_path_join(run->folder->path, "picture.png", path, error);
}

static FloStatus draw_last(Drawing *drawing, FloError *error) {
  AppRun *run = drawing->run;
  AppPicture picture = {
      .threads = run->options->threads, .view = &drawing->view, .report = report, .context = drawing};
  char path[FLO_PATH_SIZE];
  FloFrame frame;
  FLO_TRY(picture_path(run, path, error));
  FLO_TRY(choose_view(drawing, error));
  FLO_TRY(flo_frame_read(&drawing->frames, drawing->n_frames - 1, FLO_FRAME_PICTURE, &frame, error));
  FloStatus status = app_draw(run->scene, &frame, &picture, path, error);
  flo_frame_free(&frame);
  run->has_picture = status == FLO_OK;
  return status;
}

static FloStatus draw(AppRun *run, size_t n_frames, FloError *error) {
  const double began = flo_seconds();
  Drawing drawing = {.run = run, .n_frames = n_frames};
  run->is_undrawn = app_run_is_stopped();
  if (run->is_undrawn) return FLO_OK;
  app_progress_go_on(&run->progress, 0, 1);
  flo_run_frames_open(run->folder->path, run->scene, &drawing.frames);
  FloStatus status = draw_last(&drawing, error);
  flo_run_frames_close(&drawing.frames);
  run->picture_seconds += flo_seconds() - began;
  return status;
}

FloStatus app_run_draw_end(AppRun *run, FloError *error) {
  return run->folder->n_frames > 0 ? draw(run, run->folder->n_frames, error) : FLO_OK;
}

// A picture that was drawn before the last frame was written is drawn again.
static bool is_current(const AppRun *run, size_t last_frame) {
  const struct timespec ever = {0};
  char picture[FLO_PATH_SIZE], frame[FLO_PATH_SIZE];
  return picture_path(run, picture, NULL) == FLO_OK &&
         flo_run_folder_frame_path(run->folder->path, last_frame, frame, NULL) == FLO_OK &&
         app_is_current(picture, frame, &ever);
}

FloStatus app_run_draw_missing(AppRun *run, const FloCheckpoint *checkpoint) {
  run->point = checkpoint->point;
  if (is_current(run, run->point.n_frames)) return FLO_OK; // even if the scene has changed since
  FLO_TRY(app_run_reopen(run, checkpoint));
  app_progress_begin(&run->progress, 0, 1, run->options->is_quiet);
  FloStatus status = draw(run, run->point.n_frames + 1, &run->error);
  app_progress_end(&run->progress);
  return status;
}
