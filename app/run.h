// A simulation from its scene, or its last checkpoint, to its end: what `run` and `resume` share.
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
  {"--until", "T", APP_NUMBER, &(o)->until, "simulate until this time in seconds", 0, 1e9},                  \
      {"--frames", "N", APP_INTEGER, &(o)->frames, "simulate this many frames", 0, 1e6},                     \
      {"--checkpoint",                                                                                       \
       "SECONDS",                                                                                            \
       APP_NUMBER,                                                                                           \
       &(o)->checkpoint_seconds,                                                                             \
       "wall clock between checkpoints, 30 unless given; 0: at every frame",                                 \
       0,                                                                                                    \
       1e9},                                                                                                 \
      {"--quiet", NULL, APP_FLAG, &(o)->is_quiet, "say nothing unless something fails", 0, 0},               \
      {"--json", NULL, APP_FLAG, &(o)->is_json, "print summary.json at the end", 0, 0}, {                    \
    "--no-picture", NULL, APP_FLAG, &(o)->has_no_pictures, "draw nothing", 0, 0                              \
  }

AppRunOptions app_default_run_options(void);
// Complains, and returns false with *exit_code set, where options exclude each other.
bool app_check_run_options(const char *command, const AppRunOptions *options, int *exit_code);

// Everything a run holds while it goes on. Members behind `writer` belong to its thread until it has been
// waited for.
typedef struct AppRun {
  const AppRunOptions *options;
  FloScene *scene;
  FloWorld *world;
  FloSeries *series;
  FloRunFolder *folder;
  FloRunPoint point;   // where it stands; sizes of files and seconds are brought up to date when it is kept
  FloState *last_good; // of the last frame, unless it is on its way to disk already
  FloRunPoint good_point;
  float *good_pressure; // of the fluid in that frame
  size_t n_good_pressure;
  const char *size;               // name of the scene's size; NULL: its own
  const AppSceneArguments *given; // by whom the scene was called for; NULL: by nobody, as in resuming
  FloRunReport report;
  FloError error;
  FloError aside; // what could not be written while something else was reported; empty: nothing
  json_t *assets; // paths of the files that the scene names: where their copies are in the folder
  AppProgress progress;
  double began;           // wall clock, less what earlier parts of the run took
  double last_checkpoint; // wall clock
  bool has_checkpoint;    // one of this part of the run was given to the writer
  bool is_interrupted;
  bool is_astray; // on the last steps to a goal that is no frame's time: a longer run would not come by here
  double frame_time;   // of the last frame [s]; NaN: none yet
  uint64_t n_replayed; // steps that are to be done once more after it diverged
  char early[4096];    // messages of the library from before there was a log
  AppView view;        // of all its pictures
  FloWriter *writer;
  FloBodyFiles bodies;
  uint64_t series_size; // of series.csv, without rows of frames that are not written yet
  bool has_picture;
  size_t n_undrawn; // pictures that a signal has left out
  double output_seconds, picture_seconds;
} AppRun;

// Simulates `scene`, which it takes over, into the folder; returns the exit code.
// `given` is how it was called for.
int app_run(FloScene *scene, const AppSceneArguments *given, const AppRunOptions *options, const char *out,
            bool replace);
// Goes on with the run in the folder.
int app_resume(const char *folder, const AppRunOptions *options);

// ---- Where to write (folders.c) ----

// Fails, with bad input, where no run can be written: in a file, a folder that may not be written, or one
// that is neither empty nor a run's. Changes nothing.
FloStatus app_check_run_place(const char *path, bool replace, FloError *error);
// Makes the folder; that a place does not take one is bad input.
FloStatus app_make_place(const char *path, FloError *error);
// Fails, with bad input, where no file of this name can be written.
FloStatus app_check_file_place(const char *path, FloError *error);

// ---- What is doubtful about the scene (run_notes.c) ----

// Says on stderr, unless the run is quiet, what 'flotsam check' notes about the scene, each note without its
// remedy; the log has them in full. The world must just have been built, and the folder be open.
void app_run_tell_notes(AppRun *run);

// ---- Going on (run_resume.c) ----

// Reads what the run in its folder has left, and makes it ready to go on. Nothing in the folder is changed
// before all that is needed was found to be good.
FloStatus app_run_restart(AppRun *run, const FloCheckpoint *checkpoint);
// Reads of a run that is complete what its pictures need.
FloStatus app_run_reopen(AppRun *run, const FloCheckpoint *checkpoint);
// Whether the run has come to its goal and `options` name no other.
bool app_run_is_complete(const AppRun *run, const FloCheckpoint *checkpoint);

// ---- Stepping and files (run.c) ----

FloStatus app_run_build(AppRun *run);
FloStatus app_run_open_files(AppRun *run);
// What was asked for; `until` otherwise.
void app_run_plan(AppRun *run, double until);
double app_run_frame_time(const AppRun *run, size_t frame);
// Whether the goal is a moment at which a longer run writes no frame. The steps before it are shortened to
// land on it, so that a longer run has none of their states.
bool app_run_has_odd_goal(const AppRun *run);
// Does what happens up to `time`, on the way there; `advance` does the steps to a time, and may stop before
// it.
FloStatus app_run_advance(AppRun *run, double time, FloStatus (*advance)(AppRun *run, double time));
// Whether a signal asked for the end.
bool app_run_is_stopped(void);
// Whether one was asked for by a signal since this was last asked.
bool app_run_is_checkpoint_wanted(void);

// ---- Divergence (run_diverged.c) ----

// After a step towards `time` has failed so: goes back to the checkpoint, and from there to the step that
// failed; leaves a small scene around the particle that went wrong, diverged.json and diverged.csv, and names
// it in `reason`. The world is what it was before, unless a signal came. If there is no such scene, the log
// says why.
void app_run_reproduce(AppRun *run, double time, FloError *reason);

// ---- Output (run_output.c) ----

// Frame and series of the present moment. Instead of another frame of the same time the last one is written
// anew.
FloStatus app_run_show_frame(AppRun *run);
// The same; keeps the state and writes a checkpoint if it is time.
FloStatus app_run_write_frame(AppRun *run, bool is_last);
FloStatus app_run_write_checkpoint(AppRun *run);
// The state of the last frame, if it is not on disk yet.
FloStatus app_run_write_last_good(AppRun *run);
// What was written last is on disk, and run.pvd is complete. After a failure no row is left whose frame is
// missing.
FloStatus app_run_settle_files(AppRun *run, bool has_failed, FloError *error);

// ---- Pictures (run_pictures.c) ----

// A run that is over sooner [s] draws all its pictures at the end; another one those on the way twice.
enum { APP_RUN_SOON = 20 };

// Whether the frame is one of those that are drawn on the way.
bool app_run_is_picture_frame(const AppRun *run, size_t frame);
// Draws the last frame, and those on the way once more, with the camera and the colours that suit what did
// happen: as 'flotsam render' does. After a signal nothing but the picture at hand is drawn.
FloStatus app_run_draw_end(AppRun *run, FloError *error);
// Of a run that is complete: draws what a signal has left out, or somebody has removed.
FloStatus app_run_draw_rest(AppRun *run, const FloCheckpoint *checkpoint, size_t *n_drawn);

// ---- Files that the scene names (run_assets.c) ----

// Finds out what they are to be called in the folder `out`, and copies those that are in it already and may
// be about to be replaced.
FloStatus app_run_name_assets(AppRun *run, const char *out);
// Copies the others, and makes the scene as it is stored refer to the copies.
FloStatus app_run_keep_assets(AppRun *run);
// Removes copies that this scene does not need. An older checkpoint may need them: only when one of this run
// is on disk.
FloStatus app_run_clear_assets(AppRun *run, FloError *error);

#endif
