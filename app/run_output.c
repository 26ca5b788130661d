// What a run writes on its way: frames, pictures and checkpoints, by the writer's thread, from copies.
#include "base/core.h"
#include "base/timer.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

enum { N_PICTURES = 8 }; // on the way, evenly spread

static FloStatus no_memory(AppRun *run) {
  return flo_fail(&run->error, FLO_NO_MEMORY, "no memory for a copy of the particles");
}

// ---- Frames ----

typedef struct FrameJob {
  AppRun *run;
  FloSnapshot snapshot;
  FloBodyState *bodies;
  size_t frame;
  bool has_picture, is_last;
} FrameJob;

static void release_frame(void *data) {
  FrameJob *job = data;
  flo_snapshot_free(&job->snapshot);
  free(job->bodies);
  free(job);
}

static FloStatus copy_file(const char *from, const char *to, FloError *error) {
  char *data;
  size_t size;
  FLO_TRY(flo_file_read(from, &data, &size, error));
  FloStatus status = flo_file_write(to, data, size, error);
  free(data);
  return status;
}

// The scene with its bodies where they were.
static FloStatus draw_bodies_of(const FrameJob *job, const char *path, FloError *error) {
  FloScene scene = *job->run->scene;
  size_t n = scene.n_bodies;
  FloSceneBody *bodies = malloc((n + 1) * sizeof *bodies);
  if (!bodies) return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  if (n) memcpy(bodies, scene.bodies, n * sizeof *bodies);
  for (size_t k = 0; k < n; k++) bodies[k].def.pose = job->bodies[k].pose;
  scene.bodies = bodies;
  AppPicture picture = {.threads = job->run->options->threads, .view = &job->run->view};
  FloStatus status = app_draw(&scene, &job->snapshot, &picture, path, error);
  free(bodies);
  return status;
}

static FloStatus draw_frame(const FrameJob *job, FloError *error) {
  AppRun *run = job->run;
  char name[48], path[FLO_PATH_SIZE], last[FLO_PATH_SIZE];
  double began = flo_seconds();
  snprintf(name, sizeof name, "picture_%04zu.png", job->frame);
  FLO_TRY(flo_path_join(run->folder->path, name, path, error));
  FLO_TRY(draw_bodies_of(job, path, error));
  if (job->is_last) {
    FLO_TRY(flo_path_join(run->folder->path, "picture.png", last, error));
    FLO_TRY(copy_file(path, last, error));
    run->has_picture = true;
  }
  run->picture_seconds += flo_seconds() - began;
  return FLO_OK;
}

static FloStatus write_frame_job(void *data, FloError *error) {
  FrameJob *job = data;
  AppRun *run = job->run;
  double began = flo_seconds();
  FLO_TRY(flo_run_folder_add_frame(run->folder, &job->snapshot, error));
  FLO_TRY(
      flo_body_files_add_poses(&run->bodies, run->scene, job->frame, job->snapshot.time, job->bodies, error));
  run->output_seconds += flo_seconds() - began;
  return job->has_picture ? draw_frame(job, error) : FLO_OK;
}

// Whether the frame is one of those evenly spread over the run, the last one among them.
static bool is_picture_frame(const AppRun *run, size_t frame) {
  size_t n = run->point.n_frames;
  return frame > 0 && n > 0 && frame * N_PICTURES / n != (frame - 1) * N_PICTURES / n;
}

static FloStatus fill_frame(AppRun *run, FrameJob *job) {
  job->bodies = calloc(run->scene->n_bodies + 1, sizeof *job->bodies);
  if (!job->bodies) return no_memory(run);
  FLO_TRY(flo_body_files_take(run->scene, run->world, job->bodies, &run->error));
  return flo_snapshot_take(run->world, &job->snapshot, &run->error);
}

static FloStatus post_frame(AppRun *run, size_t frame, bool is_last) {
  FrameJob *job = calloc(1, sizeof *job);
  if (!job) return no_memory(run);
  *job = (FrameJob){.run = run, .frame = frame, .is_last = is_last};
  job->has_picture = !run->options->has_no_pictures && (is_last || is_picture_frame(run, frame));
  FloStatus status = fill_frame(run, job);
  if (status != FLO_OK) return release_frame(job), status;
  return flo_writer_post(run->writer, (FloJob){write_frame_job, release_frame, job}, &run->error);
}

// ---- Checkpoints ----

typedef struct CheckpointJob {
  AppRun *run;
  FloRunPoint point;
  FloState *state;
} CheckpointJob;

static void release_checkpoint(void *data) {
  CheckpointJob *job = data;
  flo_state_destroy(job->state);
  free(job);
}

static FloStatus write_checkpoint_job(void *data, FloError *error) {
  CheckpointJob *job = data;
  AppRun *run = job->run;
  char path[FLO_PATH_SIZE];
  double began = flo_seconds();
  job->point.bodies_size = run->bodies.offset;
  job->point.output_seconds = run->output_seconds, job->point.picture_seconds = run->picture_seconds;
  FloCheckpoint checkpoint = {.point = job->point,
                              .scene = run->scene->resolved,
                              .scene_path = run->scene->path,
                              .size = (char *)run->size,
                              .frame_times = run->folder->times,
                              .state = job->state};
  FLO_TRY(flo_path_join(run->folder->path, "checkpoint.h5", path, error));
  FLO_TRY(flo_checkpoint_write(path, &checkpoint, error));
  run->output_seconds += flo_seconds() - began;
  return FLO_OK;
}

static FloStatus post_checkpoint(AppRun *run, const FloRunPoint *point, FloState *state) {
  CheckpointJob *job = malloc(sizeof *job);
  if (!job) return flo_state_destroy(state), no_memory(run);
  *job = (CheckpointJob){run, *point, state};
  run->last_checkpoint = flo_seconds();
  return flo_writer_post(run->writer, (FloJob){write_checkpoint_job, release_checkpoint, job}, &run->error);
}

static void update_point(AppRun *run) {
  run->point.series_size = run->series->size;
  run->point.wall_seconds = flo_seconds() - run->began;
}

FloStatus app_run_write_checkpoint(AppRun *run) {
  FloState *state = NULL;
  update_point(run);
  FLO_TRY(flo_world_save(run->world, &state, &run->error));
  // The state of the last frame is older than this one.
  flo_state_destroy(run->last_good), run->last_good = NULL;
  return post_checkpoint(run, &run->point, state);
}

FloStatus app_run_write_last_good(AppRun *run) {
  FloState *state = run->last_good;
  if (!state) return FLO_OK;
  run->last_good = NULL;
  return post_checkpoint(run, &run->good_point, state);
}

// ---- Both ----

FloStatus app_run_show_frame(AppRun *run, bool is_last) {
  double wall_seconds = flo_seconds() - run->began;
  FLO_TRY(flo_series_add(run->series, run->scene, run->world, wall_seconds, &run->error));
  FLO_TRY(post_frame(run, run->point.n_written, is_last));
  run->point.n_written++;
  return FLO_OK;
}

FloStatus app_run_write_frame(AppRun *run, bool is_last) {
  FLO_TRY(app_run_show_frame(run, is_last));
  update_point(run);
  FLO_TRY(flo_world_save(run->world, &run->last_good, &run->error));
  run->good_point = run->point;
  bool is_wanted = app_run_is_checkpoint_wanted();
  if (is_wanted) flo_run_folder_note(run->folder, "checkpoint at %g s", flo_world_time(run->world));
  bool is_due =
      is_last || is_wanted || flo_seconds() - run->last_checkpoint >= run->options->checkpoint_seconds;
  return is_due ? app_run_write_last_good(run) : FLO_OK;
}
