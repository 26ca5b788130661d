// Prepares a run to continue from its folder and checkpoint.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- What the run said at its end ----

static json_t *read_summary(const AppRun *run) {
  char path[FLO_PATH_SIZE];
  if (flo_path_join(run->folder->path, "summary.json", path, NULL) != FLO_OK) return NULL;
  return json_load_file(path, 0, NULL);
}

static bool has_ended(const json_t *summary, const char *how) {
  const char *end = json_string_value(json_object_get(summary, "end"));
  return end && strcmp(end, how) == 0;
}

bool app_run_is_complete(const AppRun *run, const FloCheckpoint *checkpoint) {
  bool has_new_goal = !isnan(run->options->until) || run->options->frames >= 0;
  json_t *summary = read_summary(run);
  bool is_finished = has_ended(summary, "finished");
  json_decref(summary);
  // If the end is no frame's time, the checkpoint is that of the frame before.
  return !has_new_goal && is_finished && checkpoint->point.n_written >= checkpoint->point.n_frames;
}

// ---- The scene ----

// The file's name without folder and extension.
static void name_after(FloScene *scene, const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(scene->path, sizeof scene->path, "%s", path);
  snprintf(scene->name, sizeof scene->name, "%s", slash ? slash + 1 : path);
  char *dot = strrchr(scene->name, '.');
  if (dot && dot != scene->name) *dot = 0;
}

// The scene and the files it names are in the folder; messages use the path of the original scene.
static FloStatus load_scene(AppRun *run, const FloCheckpoint *checkpoint) {
  FloSceneOptions options = {.threads = run->options->threads};
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(run->folder->path, "scene.json", path, &run->error));
  FLO_TRY(flo_scene_load_text(path, checkpoint->scene, strlen(checkpoint->scene), &options, &run->scene,
                              &run->error));
  name_after(run->scene, checkpoint->scene_path);
  return FLO_OK;
}

// Warns that changes of the scene in the folder have no effect.
static void tell_changed_scene(AppRun *run, const FloCheckpoint *checkpoint) {
  char path[FLO_PATH_SIZE], *text = NULL;
  size_t size;
  if (flo_path_join(run->folder->path, "scene.json", path, NULL) != FLO_OK ||
      flo_file_read(path, &text, &size, NULL) != FLO_OK)
    return;
  if (strcmp(text, checkpoint->scene) != 0) {
    flo_run_folder_note(run->folder, "scene.json was changed and is written again");
    app_fail(0,
             "%s was changed after the run began; the run continues with its original scene (start a new run "
             "with 'flotsam run' to use the changes)",
             path);
  }
  free(text);
}

// ---- Whether it can go on ----

// The time of a frame on disk, by the schedule of frames at that time.
static double time_of_frame(const AppRun *run, const FloRunPoint *plan, size_t frame) {
  return frame == plan->n_frames ? plan->until : (double)frame / run->scene->frames_per_second;
}

static FloStatus check_goal(AppRun *run, const FloCheckpoint *checkpoint) {
  size_t n = run->point.n_written;
  if (checkpoint->point.next_event > run->scene->n_events)
    return flo_fail(&run->error, FLO_BAD_INPUT,
                    "%s/checkpoint.h5: does not belong to this scene; restore the checkpoint of this run, or "
                    "start the run again with 'flotsam run'",
                    run->folder->path);
  // A killed run may have frames that are younger than its checkpoint. They are written again if the new end
  // is later, but would be lost if it were earlier.
  size_t found = flo_max_size(n, flo_run_folder_count_frames(run->folder->path));
  double last = time_of_frame(run, &checkpoint->point, found ? found - 1 : 0);
  if (run->point.n_frames + 1 >= found && !(run->point.until < last)) return FLO_OK;
  return flo_fail(&run->error, FLO_BAD_INPUT,
                  "%s: has %zu frame%s already, up to %g s; name a later time than %g s, or none to go on to "
                  "%g s",
                  run->folder->path, found, found == 1 ? "" : "s", last, run->point.until,
                  checkpoint->point.until);
}

static FloStatus restore(AppRun *run, const FloCheckpoint *checkpoint) {
  FLO_TRY(flo_world_restore(run->world, checkpoint->state, &run->error));
  double time = flo_world_time(run->world);
  if (time <= run->point.until) return FLO_OK;
  return flo_fail(&run->error, FLO_BAD_INPUT, "%s: has reached %g s already; name a later time than %g s",
                  run->folder->path, time, run->point.until);
}

static bool is_at_frame(const AppRun *run, const FloCheckpoint *checkpoint) {
  size_t n = checkpoint->point.n_written;
  return n > 0 && checkpoint->frame_pressure && checkpoint->frame_times[n - 1] == flo_world_time(run->world);
}

// Checks that all files of the run exist.
static FloStatus check_files(AppRun *run, const FloCheckpoint *checkpoint, bool *is_last_whole) {
  char path[FLO_PATH_SIZE];
  const FloRunPoint *point = &run->point;
  FLO_TRY(flo_run_folder_check_frames(run->folder, point->n_written, is_last_whole, &run->error));
  if (!*is_last_whole && !is_at_frame(run, checkpoint))
    return flo_fail(
        &run->error, FLO_BAD_INPUT,
        "%s: frame %zu is incomplete; restore its file, or start the run again with 'flotsam run'",
        run->folder->path, point->n_written - 1);
  FLO_TRY(flo_path_join(run->folder->path, "series.csv", path, &run->error));
  if (point->series_size) FLO_TRY(flo_series_load(run->series, path, point->series_size, &run->error));
  if (point->bodies_size == 0) return FLO_OK;
  return flo_body_files_check(run->folder->path, point->bodies_size, &run->error);
}

// ---- Writing the last frame again ----

static FloStatus write_last_frame(AppRun *run, const FloCheckpoint *checkpoint) {
  FloFrame frame;
  size_t n = flo_world_count(run->world, FLO_SET_FLUID);
  FLO_TRY(flo_frame_take(run->scene, run->world, checkpoint->point.n_written - 1, FLO_FRAME_PARTICLES, &frame,
                         &run->error));
  if (n == checkpoint->n_frame_pressure)
    memcpy(frame.pressure, checkpoint->frame_pressure, n * sizeof *frame.pressure);
  FloStatus status = flo_run_folder_replace_frame(run->folder, &frame, &run->error);
  flo_frame_free(&frame);
  flo_run_folder_note(run->folder, "frame %zu is written again", checkpoint->point.n_written - 1);
  return status;
}

// ---- All of it ----

// Time after the checkpoint counts too, also if the run was killed or drew pictures.
static void take_times(AppRun *run, const FloRunPoint *point, const json_t *summary, double now) {
  double told = json_number_value(json_object_get(summary, "wall_seconds"));
  run->began = now - fmax(fmax(point->wall_seconds, told), run->series->wall_seconds);
  run->last_checkpoint = now;
  run->output_seconds = point->output_seconds, run->picture_seconds = point->picture_seconds;
}

// Prints which frames are removed now and written again later.
static void tell_rewritten(const AppRun *run, size_t n_written) {
  size_t found = flo_run_folder_count_frames(run->folder->path);
  if (found <= n_written || run->options->is_quiet) return;
  double time = flo_world_time(run->world);
  if (found == n_written + 1)
    app_fail(0, "continuing from the checkpoint at %g s; frame %zu is written again", time, n_written);
  else
    app_fail(0, "continuing from the checkpoint at %g s; frames %zu to %zu are written again", time,
             n_written, found - 1);
}

static FloStatus change_folder(AppRun *run, const FloCheckpoint *checkpoint, bool is_last_wrong) {
  const FloRunPoint *point = &checkpoint->point;
  tell_rewritten(run, point->n_written);
  FLO_TRY(flo_run_folder_go_on(run->folder, point->n_written, checkpoint->frame_times, &run->error));
  flo_run_folder_note(run->folder, "continuing at %g s, from frame %zu", flo_world_time(run->world),
                      point->n_written);
  if (is_last_wrong && is_at_frame(run, checkpoint)) FLO_TRY(write_last_frame(run, checkpoint));
  FLO_TRY(app_run_keep_assets(run));
  FLO_TRY(app_run_open_files(run));
  tell_changed_scene(run, checkpoint);
  FLO_TRY(flo_run_folder_write(run->folder, "scene.json", run->scene->resolved, &run->error));
  return flo_body_files_write_meshes(run->folder->path, run->scene, &run->error);
}

FloStatus app_run_reopen(AppRun *run, const FloCheckpoint *checkpoint) {
  FLO_TRY(load_scene(run, checkpoint));
  return app_view_of_scene(run->scene, &(AppPicture){0}, &run->view, &run->error);
}

FloStatus app_run_restart(AppRun *run, const FloCheckpoint *checkpoint) {
  const FloRunPoint *point = &checkpoint->point;
  const double now = flo_seconds();
  bool is_last_whole = true;
  run->point = *point;
  if (point->n_written > 0) run->frame_time = checkpoint->frame_times[point->n_written - 1];
  FLO_TRY(load_scene(run, checkpoint));
  app_run_plan(run, point->until);
  FLO_TRY(check_goal(run, checkpoint));
  FLO_TRY(app_run_build(run));
  FLO_TRY(restore(run, checkpoint));
  FLO_TRY(check_files(run, checkpoint, &is_last_whole));
  FLO_TRY(app_run_name_assets(run, run->folder->path));
  json_t *summary = read_summary(run);
  take_times(run, point, summary, now);
  // If a run diverged in the first step after a frame, the frame's file shows the diverged state.
  bool is_last_wrong = !is_last_whole || has_ended(summary, "diverged");
  json_decref(summary);
  return change_folder(run, checkpoint, is_last_wrong);
}
