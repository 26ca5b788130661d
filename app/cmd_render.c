// flotsam render: draws frames of a run from its folder, as pictures or as a movie.
#include "base/core.h"
#include "io/run_folder.h"
#include "render/water.h"
#include "render_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Which frames ----

static FloStatus plan_range(AppRenderJob *job, const char *text) {
  size_t numbers[3] = {0, job->n_frames - 1, 1};
  bool is_single;
  if (!app_read_frames(text, numbers, &is_single) || is_single || numbers[2] == 0)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --frames needs A:B or A:B:STEP such as 0:20:2, not '%s' (--frame N draws one)",
                    text);
  job->first = numbers[0], job->last = numbers[1], job->step = numbers[2];
  if (job->first < job->n_frames && job->first > job->last)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --frames %s: the first frame is after the last; exchange them", text);
  return FLO_OK;
}

static FloStatus plan_single(AppRenderJob *job, const char *text) {
  size_t numbers[3] = {0};
  bool is_single;
  job->first = job->n_frames - 1;
  if (!text || strcmp(text, "last") == 0) return FLO_OK;
  if (!app_read_frames(text, numbers, &is_single) || !is_single)
    return flo_fail(&job->error, FLO_BAD_INPUT, "render: --frame needs a number or last, not '%s'%s", text,
                    strchr(text, ':') ? " (--frames A:B draws several)" : "");
  job->first = numbers[0];
  return FLO_OK;
}

static FloStatus plan(AppRenderJob *job) {
  const AppRenderArguments *a = job->arguments;
  FLO_TRY(plan_single(job, a->frame));
  if (a->movie) job->first = 0;
  job->last = a->movie ? job->n_frames - 1 : job->first;
  job->step = 1;
  if (a->frames) FLO_TRY(plan_range(job, a->frames));
  size_t farthest = flo_max_size(job->first, job->last);
  if (farthest < job->n_frames) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "render: there is no frame %zu; the last one is %zu", farthest,
                  job->n_frames - 1);
}

size_t app_render_count(const AppRenderJob *job) { return (job->last - job->first) / job->step + 1; }

// ---- Where to ----

static FloStatus picture_path(AppRenderJob *job, size_t frame, char path[FLO_PATH_SIZE]) {
  const AppRenderArguments *a = job->arguments;
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  if (!a->out || a->frames) return flo_path_join(a->out ? a->out : a->folder, name, path, &job->error);
  if (snprintf(path, FLO_PATH_SIZE, "%s", a->out) < FLO_PATH_SIZE) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
}

// Files in the run's folder that have the names of flotsam's pictures may be replaced without --force.
static FloStatus check_free(AppRenderJob *job, const char *path) {
  if (job->arguments->is_forced || !flo_file_exists(path)) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT,
                  "%s: exists; replace it with --force, or use %s to name another %s", path,
                  job->arguments->movie ? "--movie" : "--out", job->arguments->frames ? "place" : "file");
}

static FloStatus check_targets(AppRenderJob *job) {
  char path[FLO_PATH_SIZE];
  if (job->arguments->movie) return check_free(job, job->arguments->movie);
  for (size_t frame = job->first; job->arguments->out && frame <= job->last; frame += job->step) {
    FLO_TRY(picture_path(job, frame, path));
    FLO_TRY(check_free(job, path));
  }
  return FLO_OK;
}

// Checks before any work is done that the result can be written. If not, this is bad input.
static FloStatus check_place(AppRenderJob *job) {
  const AppRenderArguments *a = job->arguments;
  char path[FLO_PATH_SIZE];
  FloNewFile file;
  FloStatus status = FLO_OK;
  if (a->frames && a->out) status = flo_folder_make(a->out, &job->error);
  if (status == FLO_OK && !a->movie) status = picture_path(job, job->first, path);
  if (status == FLO_OK) status = check_targets(job);
  if (status == FLO_OK) status = flo_new_file_begin(&file, a->movie ? a->movie : path, &job->error);
  if (status == FLO_OK) flo_new_file_abandon(&file);
  return status == FLO_IO_FAILED ? FLO_BAD_INPUT : status;
}

// ---- Drawing ----

// The paths of all moving bodies, up to a frame.
static FloStatus take_traces(AppRenderJob *job, const FloBodyTable *table, size_t frame) {
  const FloScene *scene = job->scene;
  size_t n = 0;
  free(job->trace_points);
  job->trace_points = malloc(scene->n_bodies * (frame + 1) * sizeof(float[3]));
  if (!job->traces) job->traces = malloc(scene->n_bodies * sizeof *job->traces);
  if (!job->trace_points || !job->traces)
    return flo_fail(&job->error, FLO_NO_MEMORY, "no memory for the traces of %zu bodies", scene->n_bodies);
  for (size_t b = 0; b < scene->n_bodies; b++) {
    if (scene->bodies[b].def.kind == FLO_BODY_STATIC) continue;
    float *points = job->trace_points + 3 * (frame + 1) * n;
    for (size_t k = 0; k <= frame; k++) {
      const FloPose pose = flo_body_table_pose(table, k, b);
      for (size_t axis = 0; axis < 3; axis++) points[3 * k + axis] = (float)pose.position[axis];
    }
    job->traces[n++] = (FloTrace){b, points, frame + 1};
  }
  job->extras.traces = job->traces, job->extras.n_traces = n;
  return FLO_OK;
}

static FloStatus prepare_traces(AppRenderJob *job, size_t frame) {
  const FloBodyTable *table;
  if (!job->arguments->has_traces || job->scene->n_bodies == 0) return FLO_OK;
  FLO_TRY(flo_run_frames_bodies(&job->frames, &table, &job->error));
  return take_traces(job, table, frame);
}

static void report(void *context, double share) {
  AppRenderJob *job = context;
  char text[64];
  if (!app_progress_is_due(&job->progress)) return;
  snprintf(text, sizeof text, "frame %zu, %zu of %zu", job->first + job->n_done * job->step, job->n_done + 1,
           app_render_count(job));
  app_progress_tell(&job->progress, (double)job->n_done + share, text);
}

// Printed once: the first of many frames may have no fluid yet at the plane.
static void tell_empty_slice(AppRenderJob *job, const FloFrame *frame) {
  if (!job->slice.text || job->has_told_slice || !app_slice_is_empty(&job->slice, frame)) return;
  job->has_told_slice = true;
  app_progress_end(&job->progress);
  app_slice_tell_empty(&job->slice, frame);
}

// An empty picture would look like an error.
static FloStatus check_slice_place(AppRenderJob *job) {
  const AppRenderArguments *a = job->arguments;
  if (!a->slice) return FLO_OK;
  job->slice = (AppSlice){a->slice, a->style.slice_axis, a->style.slice_at, job->scene->world.spacing};
  return app_slice_check(&job->slice, &job->frames, (size_t[3]){job->first, job->last, job->step},
                         &job->error);
}

FloStatus app_render_paint(AppRenderJob *job, size_t number, uint8_t **rgb) {
  FloFrame frame;
  FLO_TRY(flo_frame_read(&job->frames, number, FLO_FRAME_PICTURE, &frame, &job->error));
  if (frame.bodies) flo_walls_place(&job->walls, frame.bodies);
  tell_empty_slice(job, &frame);
  FloStatus status = prepare_traces(job, number);
  if (status == FLO_OK) status = app_render_find_joints(job, &frame);
  if (status == FLO_OK)
    status = app_paint_with(job->scene, &frame, &job->picture, &job->extras, rgb, &job->error);
  flo_frame_free(&frame);
  return status;
}

static FloStatus draw_frame(AppRenderJob *job, size_t number) {
  char path[FLO_PATH_SIZE];
  uint8_t *rgb = NULL;
  int width, height;
  FLO_TRY(picture_path(job, number, path));
  FLO_TRY(app_render_paint(job, number, &rgb));
  app_picture_size(&job->picture, &width, &height);
  FloStatus status = flo_write_png(path, rgb, width, height, &job->error);
  free(rgb);
  if (status != FLO_OK || job->arguments->is_quiet) return status;
  app_progress_end(&job->progress);
  printf("picture  %s\n", path);
  return FLO_OK;
}

// ---- One after the other ----

FloStatus app_render_frames(AppRenderJob *job, FloStatus (*draw)(AppRenderJob *job, size_t number)) {
  FloStatus status = FLO_OK;
  app_progress_begin(&job->progress, 0, (double)app_render_count(job), job->arguments->is_quiet);
  for (size_t frame = job->first; status == FLO_OK && frame <= job->last; frame += job->step) {
    status = draw(job, frame);
    job->n_done++;
  }
  app_progress_end(&job->progress);
  return status;
}

// ---- All of it ----

// Distances to solids are computed once for all frames.
static FloStatus make_walls(AppRenderJob *job) {
  const FloScene *scene = job->scene;
  if (job->view.outlook.view.style.look != FLO_LOOK_WATER) return FLO_OK;
  FLO_TRY(flo_walls_of_bodies(&job->walls, scene->bodies, NULL, scene->n_bodies, scene->world.spacing,
                              FLO_WATER_FINENESS, job->arguments->picture.threads, &job->memory,
                              &job->error));
  job->extras.walls = &job->walls;
  return FLO_OK;
}

static FloStatus render(AppRenderJob *job) {
  job->picture = job->arguments->picture;
  job->picture.report = report, job->picture.context = job;
  job->extras.arrow_seconds = job->arguments->arrow_seconds;
  FLO_TRY(app_render_place_camera(job));
  FLO_TRY(plan(job));
  FLO_TRY(check_place(job));
  FLO_TRY(app_render_choose_view(job));
  flo_run_frames_open(job->arguments->folder, job->scene, &job->frames);
  FLO_TRY(check_slice_place(job));
  FLO_TRY(make_walls(job));
  return job->arguments->movie ? app_render_movie(job) : app_render_frames(job, draw_frame);
}

int cmd_render(int argc, char **argv) {
  AppRenderArguments arguments;
  int exit_code;
  if (!app_render_parse(argc, argv, &arguments, &exit_code)) return exit_code;
  char path[FLO_PATH_SIZE];
  AppRenderJob job = {.arguments = &arguments, .n_frames = flo_run_folder_count_frames(arguments.folder)};
  if (job.n_frames == 0 || flo_path_join(arguments.folder, "scene.json", path, NULL) != FLO_OK)
    return app_fail(APP_BAD_INPUT, "%s: is not the folder of a run; name a folder that 'flotsam run' wrote",
                    arguments.folder);
  AppSceneArguments load = {.scene = path, .sets = arguments.sets};
  if (!app_load_scene(&load, &job.scene, &exit_code)) return exit_code;
  flo_memory_init(&job.memory, NULL);
  FloStatus status = render(&job);
  flo_run_frames_close(&job.frames);
  flo_walls_free(&job.walls);
  free(job.traces);
  free(job.joints);
  free(job.acts);
  free(job.trace_points);
  flo_scene_destroy(job.scene);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", job.error.text);
}
