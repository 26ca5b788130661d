// Files that a run writes during the simulation: frames and checkpoints. The writer's thread writes
// them from copies.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

static FloStatus no_memory(AppRun *run) {
  return flo_fail(&run->error, FLO_NO_MEMORY, "no memory for a copy of the particles");
}

// ---- Frames ----

typedef struct FrameJob {
  AppRun *run;
  FloFrame frame;
  uint64_t series_size; // and its row
  bool is_again;        // replaces the last frame
} FrameJob;

static void release_frame(void *data) {
  FrameJob *job = data;
  flo_frame_free(&job->frame);
  free(job);
}

// If one of the two files fails, both end with the previous frame.
static FloStatus write_both(const FrameJob *job, FloError *error) {
  AppRun *run = job->run;
  const FloFrame *frame = &job->frame;
  if (job->is_again) return flo_run_folder_replace_frame(run->folder, frame, error);
  FLO_TRY(flo_body_files_add_poses(&run->bodies, frame->number, frame->time, frame->bodies, frame->n_bodies,
                                   error));
  FloStatus status = flo_run_folder_add_frame(run->folder, frame, error);
  if (status != FLO_OK && run->folder->n_frames <= frame->number)
    flo_body_files_drop_poses(&run->bodies, NULL);
  return status;
}

static FloStatus write_frame_job(void *data, FloError *error) {
  FrameJob *job = data;
  AppRun *run = job->run;
  double began = flo_seconds();
  FLO_TRY(write_both(job, error));
  run->series_size = job->series_size;
  run->output_seconds += flo_seconds() - began;
  return FLO_OK;
}

// Takes ownership of the frame.
static FloStatus post_frame(AppRun *run, FloFrame *frame, bool is_again) {
  FrameJob *job = malloc(sizeof *job);
  if (!job) return flo_frame_free(frame), no_memory(run);
  *job = (FrameJob){.run = run, .frame = *frame, .is_again = is_again, .series_size = run->series->file.size};
  return flo_writer_post(run->writer, (FloJob){write_frame_job, release_frame, job}, &run->error);
}

// ---- Checkpoints ----

typedef struct CheckpointJob {
  AppRun *run;
  FloRunPoint point;
  FloState *state;
  float *pressure; // NULL: not of a frame
  size_t n_pressure;
} CheckpointJob;

static void release_checkpoint(void *data) {
  CheckpointJob *job = data;
  flo_state_destroy(job->state);
  free(job->pressure);
  free(job);
}

// All files that a checkpoint refers to are on disk before it. So they exist even after a power failure.
static FloStatus sync_files(AppRun *run, FloError *error) {
  FLO_TRY(flo_row_file_sync(&run->series->file, error));
  FLO_TRY(flo_row_file_sync(&run->bodies.file, error));
  return flo_run_folder_sync(run->folder, error);
}

static FloStatus write_checkpoint_job(void *data, FloError *error) {
  CheckpointJob *job = data;
  AppRun *run = job->run;
  char path[FLO_PATH_SIZE];
  double began = flo_seconds();
  FLO_TRY(sync_files(run, error));
  job->point.bodies_size = (size_t)run->bodies.file.size;
  job->point.output_seconds = run->output_seconds, job->point.picture_seconds = run->picture_seconds;
  FloCheckpoint checkpoint = {.point = job->point,
                              .scene = run->scene->resolved,
                              .scene_path = run->scene->path,
                              .size = (char *)run->size,
                              .frame_times = run->folder->times,
                              .frame_pressure = job->pressure,
                              .n_frame_pressure = job->n_pressure,
                              .state = job->state};
  FLO_TRY(flo_path_join(run->folder->path, "checkpoint.h5", path, error));
  FLO_TRY(flo_checkpoint_write(path, &checkpoint, error));
  run->output_seconds += flo_seconds() - began;
  return FLO_OK;
}

// Takes ownership of the job's state and pressure.
static FloStatus post_checkpoint(AppRun *run, CheckpointJob about) {
  CheckpointJob *job = malloc(sizeof *job);
  if (!job) return flo_state_destroy(about.state), free(about.pressure), no_memory(run);
  *job = about;
  run->last_checkpoint = flo_seconds();
  run->has_checkpoint = true;
  return flo_writer_post(run->writer, (FloJob){write_checkpoint_job, release_checkpoint, job}, &run->error);
}

static void update_point(AppRun *run) {
  run->point.series_size = (size_t)run->series->file.size;
  run->point.wall_seconds = flo_seconds() - run->began;
}

FloStatus app_run_write_checkpoint(AppRun *run) {
  FloState *state = NULL;
  update_point(run);
  FLO_TRY(flo_world_save(run->world, &state, &run->error));
  // The state of the last frame is older than this one, and not needed.
  flo_state_destroy(run->last_good), run->last_good = NULL;
  return post_checkpoint(run, (CheckpointJob){.run = run, .point = run->point, .state = state});
}

FloStatus app_run_write_last_good(AppRun *run) {
  CheckpointJob job = {run, run->good_point, run->last_good, run->good_pressure, run->n_good_pressure};
  if (!run->last_good) return FLO_OK;
  run->last_good = NULL, run->good_pressure = NULL;
  return post_checkpoint(run, job);
}

// The pressure is shown by frames but is not part of the state.
static FloStatus keep_pressure(AppRun *run) {
  FloView view;
  free(run->good_pressure), run->good_pressure = NULL;
  if (flo_world_view(run->world, FLO_SET_FLUID, "pressure", &view, NULL) != FLO_OK) return FLO_OK;
  run->good_pressure = malloc((view.count + 1) * sizeof *run->good_pressure);
  if (!run->good_pressure) return no_memory(run);
  run->n_good_pressure = view.count;
  for (size_t i = 0; i < view.count; i++)
    run->good_pressure[i] = *(const float *)((const char *)view.data + i * view.stride);
  return FLO_OK;
}

static FloStatus keep_state(AppRun *run) {
  update_point(run);
  flo_state_destroy(run->last_good), run->last_good = NULL;
  FLO_TRY(keep_pressure(run));
  FLO_TRY(flo_world_save(run->world, &run->last_good, &run->error));
  run->good_point = run->point;
  return FLO_OK;
}

// ---- Both ----

static FloStatus show_again(AppRun *run) {
  FloFrame frame;
  FLO_TRY(flo_frame_take(run->scene, run->world, run->point.n_written - 1, FLO_FRAME_PICTURE, &frame,
                         &run->error));
  return post_frame(run, &frame, true);
}

FloStatus app_run_show_frame(AppRun *run) {
  const double now = flo_world_time(run->world);
  FloFrame frame;
  if (now == run->frame_time) return show_again(run);
  FLO_TRY(flo_frame_take(run->scene, run->world, run->point.n_written, FLO_FRAME_ALL, &frame, &run->error));
  frame.wall_seconds = flo_seconds() - run->began;
  FloStatus status = flo_series_add(run->series, &frame, &run->error);
  if (status != FLO_OK) return flo_frame_free(&frame), status;
  FLO_TRY(post_frame(run, &frame, false));
  flo_world_restart_averages(run->world);
  run->point.n_written++;
  run->frame_time = now;
  return FLO_OK;
}

FloStatus app_run_write_frame(AppRun *run, bool is_last) {
  bool is_odd = is_last && app_run_has_odd_goal(run);
  // A longer run has neither this frame nor its state. So the checkpoint stays at the last frame that a
  // longer run has too.
  if (is_odd) FLO_TRY(app_run_write_last_good(run));
  FLO_TRY(app_run_show_frame(run));
  if (is_odd) return FLO_OK;
  FLO_TRY(keep_state(run));
  bool is_wanted = app_run_is_checkpoint_wanted();
  if (is_wanted) flo_run_folder_note(run->folder, "checkpoint at %g s", flo_world_time(run->world));
  bool is_due =
      is_last || is_wanted || flo_seconds() - run->last_checkpoint >= run->options->checkpoint_seconds;
  return is_due ? app_run_write_last_good(run) : FLO_OK;
}

FloStatus app_run_settle_files(AppRun *run, bool has_failed, FloError *error) {
  if (has_failed && run->series_size < run->series->file.size)
    FLO_TRY(flo_row_file_cut(&run->series->file, run->series_size, error));
  return sync_files(run, error);
}
