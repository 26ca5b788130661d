// What all pictures of `flotsam render` have in common: camera, colours and style.
#include "base/core.h"
#include "io/run_folder.h"
#include "render_job.h"

#include <string.h>

// ---- Camera ----

// Given values replace those of the scene. A scene without a camera has no values to combine with a camera
// that is only half given.
FloStatus app_render_place_camera(AppRenderJob *job) {
  const AppRenderArguments *a = job->arguments;
  FloCamera *camera = &job->scene->camera;
  if (!a->from && !a->look_at && !(a->camera.field_of_view > 0)) return FLO_OK;
  if (job->scene->world.dim != 3)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --from, --look-at and --field-of-view work with 3D runs only; leave them out");
  if (!camera->is_set && !(a->from && a->look_at))
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: the scene has no camera of its own; give both --from and --look-at");
  if (a->from) memcpy(camera->from, a->camera.from, sizeof camera->from);
  if (a->look_at) memcpy(camera->look_at, a->camera.look_at, sizeof camera->look_at);
  if (a->camera.field_of_view > 0) camera->field_of_view = a->camera.field_of_view;
  camera->is_set = true;
  if (flo_camera_has_sight(camera)) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT,
                  "render: --from and --look-at are the same point; name two different points");
}

// ---- The view ----

static FloStatus read_particles(const char *folder, size_t number, FloFrame *frame) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_frame_path(folder, number, path, NULL));
  return flo_frame_read_particles(path, frame, NULL);
}

// Uses frames spread over the whole run, whichever are drawn, so that a frame always gives the same picture.
// Several runs get equal numbers of them.
static FloStatus survey_run(AppRenderJob *job, const char *folder, FloSurvey *survey) {
  size_t n_frames = flo_run_folder_count_frames(folder), n_runs = job->arguments->with.count + 1;
  size_t n = flo_min_size(n_frames, flo_max_size(FLO_SURVEY_FRAMES / n_runs, 1));
  if (n == 0)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "%s: is not the folder of a run; name a folder that 'flotsam run' wrote", folder);
  app_progress_begin(&job->progress, 0, (double)n, job->arguments->is_quiet);
  for (size_t k = 0; k < n; k++) {
    FloFrame frame;
    if (app_progress_is_due(&job->progress))
      app_progress_tell(&job->progress, (double)k, "choosing camera and colours");
    // A damaged frame does not prevent drawing the others.
    if (read_particles(folder, n > 1 ? k * (n_frames - 1) / (n - 1) : 0, &frame) != FLO_OK) continue;
    FloStatus status = app_survey_frame(job->scene, &frame, &job->picture, survey, &job->error);
    flo_frame_free(&frame);
    FLO_TRY(status);
  }
  app_progress_end(&job->progress);
  return FLO_OK;
}

static FloStatus survey_runs(AppRenderJob *job, FloSurvey *survey) {
  const AppRenderArguments *a = job->arguments;
  for (size_t k = 0; k < a->with.count; k++) FLO_TRY(survey_run(job, a->with.items[k], survey));
  return survey_run(job, a->folder, survey);
}

// Particles show a field, unless --look water is given: then the surface of the water shows it.
static FloLook choose_look(const AppRenderArguments *a, FloLook otherwise) {
  if (a->has_spray) return FLO_LOOK_WATER;
  if (a->look) return a->style.look;
  return a->picture.colour_by || a->range || a->slice ? FLO_LOOK_PARTICLES : otherwise;
}

static void choose_style(const AppRenderArguments *a, FloStyle *style) {
  const bool has_field = a->picture.colour_by || a->range || a->slice;
  const FloLook look = choose_look(a, style->look);
  *style = a->style; // what was given
  style->look = look;
  style->shows_values = (has_field || a->has_spray) && look == FLO_LOOK_WATER;
  style->only_spray = a->has_spray;
}

// Checks for options that need a 3D run, or pictures of water.
static FloStatus check_style(AppRenderJob *job, const FloStyle *style) {
  const AppRenderArguments *a = job->arguments;
  const bool is_space = job->scene->world.dim == 3, is_water = style->look == FLO_LOOK_WATER;
  if (style->aperture > 0 && !(is_space && is_water && !a->slice))
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --aperture works with pictures of water only, and these show %s; leave it out%s",
                    a->slice ? "a slice" : "particles",
                    is_space && !a->slice ? ", or give --look water" : "");
  if (is_space) return FLO_OK;
  if (a->slice || a->view)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --slice and --view work with 3D runs only, and %s is 2D; leave them "
                    "out",
                    a->folder);
  if (!is_water) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT,
                  "render: %s works with 3D runs only, and %s is 2D; leave it out",
                  a->has_spray ? "--spray" : "--look water", a->folder);
}

FloStatus app_render_choose_view(AppRenderJob *job) {
  FloSurvey survey = {0};
  FLO_TRY(app_view_of_scene(job->scene, &job->picture, &job->view, &job->error));
  FLO_TRY(survey_runs(job, &survey));
  app_view_settle(job->scene, &job->picture, &survey, &job->view);
  const AppRenderArguments *a = job->arguments;
  if (a->range) job->view.value_low = (float)a->ends[0], job->view.value_high = (float)a->ends[1];
  job->picture.view = &job->view;
  choose_style(a, &job->view.outlook.view.style);
  return check_style(job, &job->view.outlook.view.style);
}
