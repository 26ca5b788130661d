// Movies of `flotsam render`. Their pictures are kept in the run folder, so that an interrupted movie
// continues where it stopped.
#include "base/core.h"
#include "base/hash.h"
#include "io/run_folder.h"
#include "render_job.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A run with more frames per second than screens can show is shown in slow motion.
static const double fastest_rate = 60, slow_motion_rate = 30;

// ---- Pictures of a movie, which are kept ----

static uint64_t hash_text(const char *text) {
  return flo_hash_bytes(FLO_HASH_START, text, text ? strlen(text) : 0);
}

// All settings that pictures depend on besides their frame.
static char *settings_text(const AppRenderJob *job) {
  const FloPictureView *view = &job->view.outlook.view;
  const AppPicture *picture = &job->picture;
  const FloCamera *camera = &job->scene->camera;
  char scene[32];
  snprintf(scene, sizeof scene, "%016llx", (unsigned long long)hash_text(job->scene->resolved));
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:i, s:s, s:[f,f], s:[f,f,f], s:[f,f,f], s:f, s:s, s:s, "
      "s:f, s:b, s:[f,f], s:[f,f,f,f,f,f,f], s:b, s:b, s:b}",
      "version", FLOTSAM_VERSION, "scene", scene, "look", flo_look_name(view->style.look), "quality",
      flo_quality_name(view->style.quality), "denoise", !view->style.keeps_noise, "shows_values",
      view->style.shows_values, "width", picture->width, "height", picture->height, "colour_by",
      picture->colour_by ? picture->colour_by : job->scene->colour_by, "range", (double)job->view.value_low,
      (double)job->view.value_high, "low", view->low[0], view->low[1], view->low[2], "high", view->high[0],
      view->high[1], view->high[2], "ground", view->ground, "slice",
      job->arguments->slice ? job->arguments->slice : "", "view",
      job->arguments->view ? job->arguments->view : "", "vectors", job->extras.arrow_seconds, "traces",
      job->arguments->has_traces, "lens", view->style.aperture, view->style.focus, "camera", camera->from[0],
      camera->from[1], camera->from[2], camera->look_at[0], camera->look_at[1], camera->look_at[2],
      camera->field_of_view, "spray", view->style.only_spray, "joints", job->arguments->has_joints, "caption",
      picture->has_caption);
  char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  return text;
}

// If the folder is read-only, pictures are not kept, but the movie is made.
static void prepare_keeping(AppRenderJob *job) {
  bool is_fine = flo_path_join(job->arguments->folder, "movie", job->kept, NULL) == FLO_OK &&
                 flo_folder_make(job->kept, NULL) == FLO_OK;
  char *text = is_fine ? settings_text(job) : NULL;
  if (!text || app_note_settings(job->kept, text, &job->settings_time, NULL) != FLO_OK) job->kept[0] = 0;
  free(text);
}

// A picture made from the current frame with the current settings; NULL if there is none.
static uint8_t *find_kept(const AppRenderJob *job, size_t frame, const char *path) {
  char particles[FLO_PATH_SIZE];
  uint8_t *rgb = NULL;
  if (flo_run_folder_frame_path(job->arguments->folder, frame, particles, NULL) != FLO_OK ||
      !app_is_current(path, particles, &job->settings_time))
    return NULL;
  if (flo_read_png(path, job->picture.width, job->picture.height, &rgb, NULL) != FLO_OK) return NULL;
  return rgb;
}

static FloStatus kept_path(AppRenderJob *job, size_t frame, char path[FLO_PATH_SIZE]) {
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  return flo_path_join(job->kept, name, path, &job->error);
}

static FloStatus movie_picture(AppRenderJob *job, size_t frame, uint8_t **rgb) {
  char path[FLO_PATH_SIZE];
  if (!job->kept[0]) return app_render_paint(job, frame, rgb);
  FLO_TRY(kept_path(job, frame, path));
  *rgb = find_kept(job, frame, path);
  if (*rgb) return job->n_kept++, FLO_OK;
  FLO_TRY(app_render_paint(job, frame, rgb));
  FloStatus status = flo_write_png(path, *rgb, job->picture.width, job->picture.height, &job->error);
  if (status != FLO_OK) free(*rgb);
  return status;
}

static FloStatus add_to_movie(AppRenderJob *job, size_t frame) {
  uint8_t *rgb = NULL;
  FLO_TRY(movie_picture(job, frame, &rgb));
  FloStatus status = app_movie_add(job->movie, rgb, &job->error);
  free(rgb);
  return status;
}

// ---- Movies ----

static void choose_rate(AppRenderJob *job) {
  double real = job->scene->frames_per_second / (double)job->step;
  job->fps = job->arguments->fps > 0 ? job->arguments->fps : real > fastest_rate ? slow_motion_rate : real;
}

static void print_movie(const AppRenderJob *job) {
  double slower = job->scene->frames_per_second / (double)job->step / job->fps;
  if (job->arguments->is_quiet) return;
  printf("movie    %s: %zu frames, %.4g per second", job->arguments->movie, job->n_done, job->fps);
  if (slower > 1.01) printf(", %.3g times slower than life", slower);
  if (slower < 0.99) printf(", %.3g times faster than life", 1 / slower);
  printf("\n");
  if (job->n_kept > 0)
    printf("frames   %zu drawn, %zu existed already in %s\n", job->n_done - job->n_kept, job->n_kept,
           job->kept);
}

FloStatus app_render_movie(AppRenderJob *job) {
  int width, height;
  app_picture_size(&job->picture, &width, &height);
  if (app_movie_needs_even_size(job->arguments->movie)) width += width % 2, height += height % 2;
  job->picture.width = width, job->picture.height = height;
  choose_rate(job);
  prepare_keeping(job);
  FLO_TRY(app_movie_open(job->arguments->movie, width, height, job->fps, &job->movie, &job->error));
  FloStatus status = app_render_frames(job, add_to_movie);
  if (status != FLO_OK) {
    app_movie_abandon(job->movie);
    return status;
  }
  FLO_TRY(app_movie_close(job->movie, &job->error));
  print_movie(job);
  return FLO_OK;
}
