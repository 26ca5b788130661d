// A simulation from its scene or its last checkpoint to its end. Shared by `run` and `resume`.
#ifndef FLO_APP_RUN_H
#define FLO_APP_RUN_H

#include "app.h"
#include "io/body_files.h"
#include "io/checkpoint.h"
#include "io/run_folder.h"
#include "io/series.h"
#include "io/summary.h"
#include "io/writer.h"

#include <jansson.h>

typedef struct AppRunOptions {
  double until;              // [s]; NaN: not given
  int frames;                // -1: not given
  double checkpoint_seconds; // wall clock between checkpoints; 0: one at every frame
  int threads;
  bool is_quiet, is_json, has_no_pictures;
} AppRunOptions;

// Rows of an option table that `run` and `resume` share.
#define APP_RUN_OPTIONS(o)                                                                                   \
  {"--until",                                                                                                \
   "T",                                                                                                      \
   APP_NUMBER,                                                                                               \
   &(o)->until,                                                                                              \
   "simulate until this time in seconds (default: the scene's duration)",                                    \
   0,                                                                                                        \
   1e9},                                                                                                     \
      {"--frames", "N", APP_INTEGER, &(o)->frames, "simulate this many frames", 0, 1e6},                     \
      {"--checkpoint",                                                                                       \
       "SECONDS",                                                                                            \
       APP_NUMBER,                                                                                           \
       &(o)->checkpoint_seconds,                                                                             \
       "wall-clock time between checkpoints; 0: at every frame (default: 30)",                               \
       0,                                                                                                    \
       1e9},                                                                                                 \
      {"--quiet", NULL, APP_FLAG, &(o)->is_quiet, "print nothing unless something fails", 0, 0},             \
      {"--json", NULL, APP_FLAG, &(o)->is_json, "print summary.json at the end", 0, 0}, {                    \
    "--no-picture", NULL, APP_FLAG, &(o)->has_no_pictures, "draw no picture", 0, 0                           \
  }

AppRunOptions app_default_run_options(void);
// If options exclude each other: prints a message, sets *exit_code and returns false.
bool app_check_run_options(const char *command, const AppRunOptions *options, int *exit_code);

// Everything that a run holds. The members after `writer` belong to the writer's thread until it has been
// waited for.
typedef struct AppRun {
  const AppRunOptions *options;
  FloScene *scene;
  FloWorld *world;
  FloSeries *series;
  FloRunFolder *folder;
  FloRunPoint point;   // its progress; sizes of files and seconds are updated when a checkpoint is made
  FloState *last_good; // of the last frame, unless the writer has it already
  FloRunPoint good_point;
  float *good_pressure; // of the fluid in that frame
  size_t n_good_pressure;
  const char *size;               // name of the scene's size; NULL: its own
  const AppSceneArguments *given; // the arguments that named the scene; NULL when resuming
  FloRunReport report;
  FloError error;
  FloError aside; // a write error that came after another error; empty: none
  json_t *assets; // path of each file that the scene names: the path of its copy in the folder
  AppProgress progress;
  double began;           // wall clock at the start, minus the seconds of earlier parts of the run
  double last_checkpoint; // wall clock
  bool has_checkpoint;    // this part of the run has given a checkpoint to the writer
  bool is_interrupted;
  bool is_astray; // in the last steps before an end that is no frame's time; a longer run has none of these
                  // states
  double frame_time;   // of the last frame [s]; NaN: none yet
  uint64_t n_replayed; // steps to repeat after a divergence
  size_t n_warnings;   // of the library in this run
  char early[4096];    // messages of the library from before the log was opened
  AppView view;        // of its picture, before any frame is known
  FloWriter *writer;
  FloBodyFiles bodies;
  uint64_t series_size; // size of series.csv, without rows of frames that are not written yet
  bool has_picture;
  bool is_undrawn; // the picture was left out because of a signal
  double output_seconds, picture_seconds;
} AppRun;

// Simulates `scene`, which it takes ownership of, into the folder; returns the exit code. `given` holds the
// arguments that named the scene.
int app_run(FloScene *scene, const AppSceneArguments *given, const AppRunOptions *options, const char *out,
            bool replace);
// Continues the run in the folder.
int app_resume(const char *folder, const AppRunOptions *options);

// ---- Where to write (folders.c) ----

// Fails with bad input if no run can be written there: the place is a file, a folder without write
// permission, or a folder that is neither empty nor a run's. Changes nothing.
FloStatus app_check_run_place(const char *path, bool replace, FloError *error);
// Creates the folder; fails with bad input if that is not possible.
FloStatus app_make_place(const char *path, FloError *error);
// Fails with bad input if no file of this name can be written.
FloStatus app_check_file_place(const char *path, FloError *error);

// ---- Notes about the scene (run_notes.c) ----

// Prints the notes of 'flotsam check' about the scene on stderr, unless the run is quiet. Each is printed
// without its remedy; the log has the full text. The world must have been built just before, and the folder
// must be open.
void app_run_tell_notes(AppRun *run);

// ---- Continuing (run_resume.c) ----

// Reads the files of a run and prepares to continue it. Changes nothing in the folder until everything needed
// has been checked.
FloStatus app_run_restart(AppRun *run, const FloCheckpoint *checkpoint);
// Reads what the pictures of a complete run need.
FloStatus app_run_reopen(AppRun *run, const FloCheckpoint *checkpoint);
// Whether the run has reached its end and `options` name no later one.
bool app_run_is_complete(const AppRun *run, const FloCheckpoint *checkpoint);

// ---- Stepping and files (run.c) ----

FloStatus app_run_build(AppRun *run);
FloStatus app_run_open_files(AppRun *run);
// The end that the options ask for; else `until`.
void app_run_plan(AppRun *run, double until);
double app_run_frame_time(const AppRun *run, size_t frame);
// Whether the end is a time at which a longer run would write no frame. The steps before it are shortened to
// end there, so a longer run has none of their states.
bool app_run_has_odd_goal(const AppRun *run);
// Handles all events up to `time`. `advance` does the steps to a time; it may stop earlier.
FloStatus app_run_advance(AppRun *run, double time, FloStatus (*advance)(AppRun *run, double time));
// Whether a signal asked for the end.
bool app_run_is_stopped(void);
// Whether a signal asked for a checkpoint since the last call.
bool app_run_is_checkpoint_wanted(void);

// ---- Divergence (run_diverged.c) ----

// Called after a step towards `time` has diverged. Goes back to the checkpoint and repeats the steps up to
// the failed one. Writes a small scene around the particle that went wrong, diverged.json and diverged.csv,
// and names it in `reason`. Afterwards the world is in the same state as before, unless a signal came. If no
// such scene can be made, the log says why.
void app_run_reproduce(AppRun *run, double time, FloError *reason);

// ---- Output (run_output.c) ----

// Writes the frame and the row of series.csv for the current time. If the last frame has the same time, it is
// written again.
FloStatus app_run_show_frame(AppRun *run);
// The same; also writes a checkpoint if one is due.
FloStatus app_run_write_frame(AppRun *run, bool is_last);
FloStatus app_run_write_checkpoint(AppRun *run);
// Writes the state of the last frame, if it is not on disk yet.
FloStatus app_run_write_last_good(AppRun *run);
// Waits until all files are on disk and run.pvd is complete. After a failure, rows without a frame are
// removed.
FloStatus app_run_settle_files(AppRun *run, bool has_failed, FloError *error);

// ---- The picture (run_pictures.c) ----

// Draws the last frame with the camera and colours that suit the whole run, as 'flotsam render' does. A
// signal before that leaves the picture out.
FloStatus app_run_draw_end(AppRun *run, FloError *error);
// Draws the picture of a complete run if it is missing: left out after a signal, or removed since.
FloStatus app_run_draw_missing(AppRun *run, const FloCheckpoint *checkpoint);

// ---- Files that the scene names (run_assets.c) ----

// Chooses the names of the copies in the folder `out`. Copies the files that are in this folder already,
// because they may be replaced soon.
FloStatus app_run_name_assets(AppRun *run, const char *out);
// Copies the other files, and makes the stored scene refer to the copies.
FloStatus app_run_keep_assets(AppRun *run);
// Removes copies that this scene does not need. Call it when a checkpoint of this run is on disk: an older
// checkpoint may need the copies.
FloStatus app_run_clear_assets(AppRun *run, FloError *error);

#endif
