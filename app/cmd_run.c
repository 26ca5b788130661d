// flotsam run: simulates a scene and writes its folder.
#include "app.h"
#include "base/core.h"
#include "base/timer.h"
#include "io/run_folder.h"
#include "io/series.h"
#include "io/summary.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_PICTURES = 8 }; // on the way, evenly spread

static const AppUsage usage = {
    .command = "run",
    .arguments = "SCENE",
    .about =
        "Simulates SCENE, a scene file or the name of a scene that comes with flotsam, and writes a folder:\n"
        "scene.json (as run), series.csv (figures of every frame), summary.json, particles_NNNN.vtp and "
        "run.pvd\n"
        "(for ParaView), picture.png and log.txt. Ctrl-C ends the run early, with all files complete.\n"
        "Exit codes: 0 done, 1 the run failed or was interrupted, 2 bad input, 3 an expectation failed.",
    .examples =
        "  flotsam run dam-break\n"
        "  flotsam run dam-break --until 0.5 --threads 2 --out /tmp/dam\n"
        "  flotsam run my/scene.json --set spacing=0.01 --set materials.water.viscosity=1e-3 --force\n"
        "  flotsam run dam-break --frames 10 --no-picture --quiet --json\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  AppSceneArguments scene;
  const char *out;
  double until; // NaN: not given
  int frames;   // -1: not given
  bool is_quiet, is_json, is_forced, no_picture;
} Arguments;

// Everything a run holds while it goes on.
typedef struct Run {
  const Arguments *arguments;
  FloScene *scene;
  FloWorld *world;
  FloSeries *series;
  FloRunFolder *folder;
  FloRunReport report;
  FloError error;
  AppProgress progress;
  double began;    // wall clock
  double until;    // [s] simulated
  size_t n_frames; // behind the initial one
  bool has_picture;
  AppView view;      // of all its pictures
  char early[4096];  // messages of the library from before there was a log
  size_t next_event; // of the scene, that has not happened yet
} Run;

// ---- Signals ----

static volatile sig_atomic_t is_stop_wanted;

static void want_stop(int signal_number) {
  static const char text[] = "\nflotsam: finishing the step and its files; once more stops at once\n";
  (void)signal_number;
  is_stop_wanted = 1;
  // write() is one of the few functions a handler may call; if it fails there is nobody to tell.
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

// The first signal ends the run after the step; the handler is gone then, so that a second one ends the
// program. A signal that the caller had ignored, as shells do for background jobs, stays ignored.
static void catch_signal(int signal_number) {
  struct sigaction before, action = {.sa_handler = want_stop, .sa_flags = SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(signal_number, &action, NULL);
}

// ---- Arguments ----

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.until = NAN, .frames = -1};
  AppOption options[] = {
      {"--out", "DIR", APP_TEXT, &a->out, "the folder to write; runs/NAME unless given", 0, 0},
      APP_SCENE_OPTIONS(&a->scene),
      {"--until", "T", APP_NUMBER, &a->until, "simulate until this time in seconds", 0, 1e9},
      {"--frames", "N", APP_INTEGER, &a->frames, "simulate this many frames", 0, 1e9},
      {"--quiet", NULL, APP_FLAG, &a->is_quiet, "say nothing unless something fails", 0, 0},
      {"--json", NULL, APP_FLAG, &a->is_json, "print summary.json at the end", 0, 0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace the run that is in the folder", 0, 0},
      {"--no-picture", NULL, APP_FLAG, &a->no_picture, "draw nothing", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->scene.scene = words.items[0];
  if (!isnan(a->until) && a->frames >= 0) {
    *exit_code = app_fail(APP_BAD_INPUT, "run: give --until or --frames, not both");
    return false;
  }
  return true;
}

// ---- Start ----

static void plan_frames(Run *run) {
  const Arguments *a = run->arguments;
  double fps = run->scene->frames_per_second;
  run->until = a->frames >= 0 ? a->frames / fps : isnan(a->until) ? run->scene->duration : a->until;
  // A tiny excess over a whole number of frames is rounding, not another frame.
  run->n_frames = a->frames >= 0 ? (size_t)a->frames : (size_t)ceil(run->until * fps - 1e-6);
}

static double frame_time(const Run *run, size_t frame) {
  return frame == run->n_frames ? run->until : (double)frame / run->scene->frames_per_second;
}

static void take_message(void *context, FloLogLevel level, const char *text) {
  static const char *const levels[] = {"debug", "info", "warning"};
  Run *run = context;
  size_t used = strlen(run->early);
  if (run->folder)
    flo_run_folder_note(run->folder, "%s: %s", levels[level], text);
  else
    snprintf(run->early + used, sizeof run->early - used, "%s: %s\n", levels[level], text);
}

static FloStatus open_folder(Run *run, const char *out) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_open(out, run->arguments->is_forced, &run->folder, &run->error));
  if (run->early[0]) flo_run_folder_note(run->folder, "while building the scene:\n%s", run->early);
  FLO_TRY(flo_run_folder_write(run->folder, "scene.json", run->scene->resolved, &run->error));
  FLO_TRY(flo_path_join(run->folder->path, "series.csv", path, &run->error));
  return flo_series_open(run->series, path, &run->error);
}

// The folder comes last: a scene that cannot be built leaves nothing behind.
static FloStatus start(Run *run) {
  char name[128];
  snprintf(name, sizeof name, "runs/%s", run->scene->name);
  const char *out = run->arguments->out ? run->arguments->out : name;
  FLO_TRY(flo_run_folder_check(out, run->arguments->is_forced, &run->error));
  FLO_TRY(flo_series_create(run->scene, &run->series, &run->error));
  FLO_TRY(flo_summary_check_expects(run->scene, run->series, &run->error));
  run->scene->world.log = (FloLog){take_message, run};
  FLO_TRY(flo_scene_build(run->scene, &run->world, &run->error));
  if (!run->arguments->no_picture)
    FLO_TRY(app_view_of_scene(run->scene, &(AppPicture){0}, &run->view, &run->error));
  FLO_TRY(open_folder(run, out));
  flo_run_folder_note(
      run->folder, "%s: %zu fluid and %zu boundary particles, method %s, %zu frames until %g s",
      run->scene->path, flo_world_count(run->world, FLO_SET_FLUID),
      flo_world_count(run->world, FLO_SET_BOUNDARY), run->scene->world.method, run->n_frames, run->until);
  return FLO_OK;
}

// ---- Frames ----

static FloStatus place_bodies(Run *run) {
  for (size_t k = 0; k < run->scene->n_bodies; k++) {
    FloBodyState state;
    FLO_TRY(flo_world_body_state(run->world, run->scene->bodies[k].id, &state, &run->error));
    run->scene->bodies[k].def.pose = state.pose;
  }
  return FLO_OK;
}

static FloStatus draw(Run *run, const FloSnapshot *snapshot, const char *path) {
  AppPicture picture = {.threads = run->arguments->scene.threads, .view = &run->view};
  FLO_TRY(place_bodies(run));
  return app_draw(run->scene, snapshot, &picture, path, &run->error);
}

static FloStatus copy_picture(const char *from, const char *to, FloError *error) {
  char *data;
  size_t size;
  FLO_TRY(flo_file_read(from, &data, &size, error));
  FloStatus status = flo_file_write(to, data, size, error);
  free(data);
  return status;
}

// Whether the frame is one of those evenly spread over the run, the last one among them.
static bool is_picture_frame(const Run *run, size_t frame) {
  return frame > 0 && frame * N_PICTURES / run->n_frames != (frame - 1) * N_PICTURES / run->n_frames;
}

static FloStatus draw_frame(Run *run, const FloSnapshot *snapshot, size_t frame, bool is_last) {
  char name[48], path[FLO_PATH_SIZE], last[FLO_PATH_SIZE];
  if (run->arguments->no_picture || !(is_last || is_picture_frame(run, frame))) return FLO_OK;
  double began = flo_seconds();
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  FLO_TRY(flo_path_join(run->folder->path, name, path, &run->error));
  FLO_TRY(draw(run, snapshot, path));
  if (is_last) {
    FLO_TRY(flo_path_join(run->folder->path, "picture.png", last, &run->error));
    FLO_TRY(copy_picture(path, last, &run->error));
    run->has_picture = true;
  }
  run->report.picture_seconds += flo_seconds() - began;
  return FLO_OK;
}

static FloStatus write_particles(Run *run, const FloSnapshot *snapshot) {
  double began = flo_seconds();
  FLO_TRY(flo_series_add(run->series, run->scene, run->world, began - run->began, &run->error));
  FLO_TRY(flo_run_folder_add_frame(run->folder, snapshot, &run->error));
  run->report.output_seconds += flo_seconds() - began;
  return FLO_OK;
}

static FloStatus write_frame(Run *run, size_t frame, bool is_last) {
  FloSnapshot snapshot;
  FLO_TRY(flo_snapshot_take(run->world, &snapshot, &run->error));
  FloStatus status = write_particles(run, &snapshot);
  if (status == FLO_OK) status = draw_frame(run, &snapshot, frame, is_last);
  flo_snapshot_free(&snapshot);
  if (status == FLO_OK) run->report.n_frames = frame;
  return status;
}

// ---- Stepping ----

// One step at a time while the frame is far, so that a signal is obeyed soon; flo_world_advance then lands on
// it. The steps are the same as if it had been called at once.
static FloStatus step_towards(Run *run, double time) {
  double left = time - flo_world_time(run->world);
  if (left > 2 * flo_world_max_dt(run->world, NULL)) return flo_world_step(run->world, NULL, &run->error);
  return flo_world_advance(run->world, time, NULL, &run->error);
}

static FloStatus advance_to(Run *run, double time) {
  while (flo_world_time(run->world) < time && !is_stop_wanted) {
    FLO_TRY(step_towards(run, time));
    if (!app_progress_is_due(&run->progress)) continue;
    FloFigures figures = flo_world_figures(run->world);
    app_progress_show(&run->progress, &figures);
  }
  return FLO_OK;
}

// Does what happens up to `time`, on the way there.
static FloStatus advance_through_events(Run *run, double time) {
  while (run->next_event < run->scene->n_events && !is_stop_wanted) {
    const FloSceneEvent *event = &run->scene->events[run->next_event];
    size_t n_added;
    if (event->time > time) break;
    FLO_TRY(advance_to(run, event->time));
    if (is_stop_wanted) break;
    FLO_TRY(flo_scene_apply_event(run->scene, run->world, event, &n_added, &run->error));
    if (n_added) flo_run_folder_note(run->folder, "at %g s: %zu particles added", event->time, n_added);
    run->next_event++;
  }
  return advance_to(run, time);
}

static FloStatus simulate(Run *run) {
  FLO_TRY(advance_through_events(run, 0));
  FLO_TRY(write_frame(run, 0, run->n_frames == 0));
  for (size_t frame = 1; frame <= run->n_frames; frame++) {
    FloStatus status = advance_through_events(run, frame_time(run, frame));
    // The state at which a run broke off is the one worth looking at: it is written like any other frame.
    bool is_last = frame == run->n_frames || is_stop_wanted || status == FLO_DIVERGED;
    if (status != FLO_OK && status != FLO_DIVERGED) return status;
    FloError reason = run->error;
    FLO_TRY(write_frame(run, frame, is_last));
    run->error = reason;
    if (status != FLO_OK || is_stop_wanted) return status;
  }
  return FLO_OK;
}

// ---- End ----

static void describe_end(Run *run, FloStatus status) {
  FloRunReport *report = &run->report;
  report->wall_seconds = flo_seconds() - run->began;
  report->size = run->arguments->scene.size;
  report->is_whole = status == FLO_OK && !is_stop_wanted && run->until >= run->scene->duration;
  if (status != FLO_OK) report->message = run->error.text;
  if (status == FLO_DIVERGED)
    report->end = FLO_RUN_DIVERGED;
  else if (status != FLO_OK)
    report->end = FLO_RUN_FAILED;
  else if (is_stop_wanted)
    report->end = FLO_RUN_INTERRUPTED;
}

static void print_result(const Run *run, const char *summary) {
  if (run->arguments->is_json) {
    puts(summary);
  } else if (!run->arguments->is_quiet) {
    FloFigures figures = flo_world_figures(run->world);
    printf("%s: %g s simulated in %" PRIu64 " steps, %.1f s\n",
           run->scene->title ? run->scene->title : run->scene->name, figures.time, figures.step,
           run->report.wall_seconds);
    if (run->has_picture) printf("picture  %s/picture.png\n", run->folder->path);
    printf("folder   %s\n", run->folder->path);
  }
}

static const char *describe_range(const FloExpect *expect, char text[80]) {
  if (isinf(expect->low))
    snprintf(text, 80, "at most %g", expect->high);
  else if (isinf(expect->high))
    snprintf(text, 80, "at least %g", expect->low);
  else
    snprintf(text, 80, "%g to %g", expect->low, expect->high);
  return text;
}

static void print_expects(const Run *run) {
  for (size_t k = 0; k < run->scene->n_expects; k++) {
    const FloExpect *expect = &run->scene->expects[k];
    double value = NAN;
    char range[80];
    flo_series_value(run->series, expect->figure, &value);
    if (!(value >= expect->low && value <= expect->high))
      app_fail(0, "expectation failed: %s is %g, expected %s", expect->figure, value,
               describe_range(expect, range));
  }
}

static int finish(Run *run, FloStatus status) {
  char *summary = NULL;
  size_t n_failed = 0;
  describe_end(run, status);
  FloError error;
  FloStatus written =
      flo_summary_make(run->scene, run->world, run->series, &run->report, &summary, &n_failed, &error);
  if (written == FLO_OK) written = flo_run_folder_write(run->folder, "summary.json", summary, &error);
  app_progress_end(&run->progress);
  if (written == FLO_OK && run->report.end != FLO_RUN_FAILED) print_result(run, summary);
  free(summary);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", run->error.text);
  if (written != FLO_OK) return app_fail(app_exit_code(written), "%s", error.text);
  if (is_stop_wanted) return app_fail(APP_RUN_FAILED, "interrupted at %g s", flo_world_time(run->world));
  if (n_failed > 0) return print_expects(run), APP_EXPECTATION_FAILED;
  return APP_OK;
}

static void release(Run *run) {
  flo_series_destroy(run->series);
  flo_world_destroy(run->world); // before the log it writes to and the scene it was made from
  flo_run_folder_close(run->folder);
  flo_scene_destroy(run->scene);
}

static int run_scene(Run *run) {
  run->began = flo_seconds();
  plan_frames(run);
  FloStatus status = start(run);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", run->error.text);
  catch_signal(SIGINT);
  catch_signal(SIGTERM);
  app_progress_begin(&run->progress, 0, run->until, run->arguments->is_quiet);
  status = simulate(run);
  int exit_code = finish(run, status);
  flo_run_folder_note(run->folder, "end with exit code %d%s%s", exit_code, status ? ": " : "",
                      status ? run->error.text : "");
  return exit_code;
}

int cmd_run(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  Run run = {.arguments = &arguments};
  if (!app_load_scene(&arguments.scene, &run.scene, &exit_code)) return exit_code;
  exit_code = run_scene(&run);
  release(&run);
  return exit_code;
}
