#include "run.h"

#include "base/core.h"
#include "base/timer.h"
#include "command_line.h"
#include "io/advice.h"
#include "io/residuals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- Signals ----

static volatile sig_atomic_t is_stop_wanted, is_checkpoint_wanted;

// The first of these signals ends the run after the current step. A second one of any kind ends the program
// at once. SIGHUP, which a closed terminal sends, is one of them.
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

// Two signals within this time count as one: timeout(1) signals the program and then its process group.
#define TOGETHER 0.5 // [s]

static void want_stop(int signal_number) {
  static const char text[] =
      "\nflotsam: finishing the current step and its files; press Ctrl-C again to stop at once\n";
  static double first; // when
  const int reason = errno;
  struct timespec clock;
  clock_gettime(CLOCK_MONOTONIC, &clock); // a function that a signal handler may call
  double now = (double)clock.tv_sec + 1e-9 * (double)clock.tv_nsec;
  if (is_stop_wanted && now - first > TOGETHER) _exit(128 + signal_number);
  if (is_stop_wanted) return;
  first = now; // before the flag: another thread may already handle the second signal
  is_stop_wanted = 1;
  // A signal handler may call write(). If it fails, there is no way to report it.
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) errno = reason;
  errno = reason;
}

static void want_checkpoint(int signal_number) {
  (void)signal_number;
  is_checkpoint_wanted = 1;
}

// A signal that the caller ignores stays ignored, as shells do for background jobs.
static void catch_signal(int signal_number, void (*handler)(int), int flags) {
  struct sigaction before, action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  for (size_t k = 0; k < FLO_COUNT_OF(stop_signals); k++) sigaddset(&action.sa_mask, stop_signals[k]);
  if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(signal_number, &action, NULL);
}

static void catch_signals(void) {
  for (size_t k = 0; k < FLO_COUNT_OF(stop_signals); k++)
    catch_signal(stop_signals[k], want_stop, SA_RESTART);
}

// Called at the very beginning, so that these signals do not end the program while the scene is built.
static void expect_signals(void) {
  catch_signal(SIGUSR1, want_checkpoint, SA_RESTART);
  // A file beyond the size limit gives an error like a full disk; a closed stderr does not end the program.
  catch_signal(SIGXFSZ, SIG_IGN, 0);
  catch_signal(SIGPIPE, SIG_IGN, 0);
}

// ---- Options ----

AppRunOptions app_default_run_options(void) {
  return (AppRunOptions){.until = NAN, .frames = -1, .checkpoint_seconds = 30};
}

bool app_check_run_options(const char *command, const AppRunOptions *options, int *exit_code) {
  if (isnan(options->until) || options->frames < 0) return true;
  *exit_code = app_fail(APP_BAD_INPUT, "%s: --until and --frames exclude each other; give only one", command);
  return false;
}

void app_run_plan(AppRun *run, double until) {
  const AppRunOptions *o = run->options;
  double fps = run->scene->frames_per_second;
  run->point.until = o->frames >= 0 ? o->frames / fps : isnan(o->until) ? until : o->until;
  // A tiny excess over a whole number of frames is a rounding error, not another frame.
  run->point.n_frames = o->frames >= 0 ? (size_t)o->frames : (size_t)ceil(run->point.until * fps - 1e-6);
}

double app_run_frame_time(const AppRun *run, size_t frame) {
  return frame == run->point.n_frames ? run->point.until : (double)frame / run->scene->frames_per_second;
}

bool app_run_has_odd_goal(const AppRun *run) {
  return run->point.until != (double)run->point.n_frames / run->scene->frames_per_second;
}

// ---- Start ----

// Warnings of the steps are also printed, the first few of them; all messages are in the log. Before the
// first step, notes tell what is doubtful.
static void print_warning(AppRun *run, const char *text) {
  enum { MAX_WARNINGS = 5 };
  if (run->options->is_quiet || ++run->n_warnings > MAX_WARNINGS) return;
  app_progress_end(&run->progress);
  app_fail(0, "warning: %s%s", text, run->n_warnings == MAX_WARNINGS ? " (more will be in log.txt)" : "");
}

static void take_message(void *context, FloLogLevel level, const char *text) {
  static const char *const levels[] = {"debug", "info", "warning"};
  AppRun *run = context;
  size_t used = strlen(run->early);
  if (run->folder && level == FLO_LOG_WARNING) print_warning(run, text);
  if (run->folder)
    flo_run_folder_note(run->folder, "%s: %s", levels[level], text);
  else
    snprintf(run->early + used, sizeof run->early - used, "%s: %s\n", levels[level], text);
}

FloStatus app_run_build(AppRun *run) {
  FLO_TRY(flo_series_create(run->scene, &run->series, &run->error));
  FLO_TRY(flo_summary_check_expects(run->scene, run->series, &run->error));
  run->scene->world.log = (FloLog){take_message, run};
  FLO_TRY(flo_scene_build(run->scene, &run->world, &run->error));
  if (run->options->has_no_pictures) return FLO_OK;
  return app_view_of_scene(run->scene, &(AppPicture){0}, &run->view, &run->error);
}

FloStatus app_run_open_files(AppRun *run) {
  char path[FLO_PATH_SIZE];
  const char *folder = run->folder->path;
  if (run->early[0]) flo_run_folder_note(run->folder, "while building the scene:\n%s", run->early);
  FLO_TRY(flo_path_join(folder, "series.csv", path, &run->error));
  FLO_TRY(run->point.series_size ? flo_series_go_on(run->series, &run->error)
                                 : flo_series_open(run->series, path, &run->error));
  run->series_size = run->series->file.size;
  FLO_TRY(flo_body_files_open(&run->bodies, folder, run->point.bodies_size, &run->error));
  return flo_writer_start(&run->writer, &run->error);
}

// The folder is created last, so that a scene that cannot be built leaves no files. The checkpoint is the
// first file, and is complete before the run continues, so that the run can be resumed from the start.
static FloStatus start(AppRun *run, const char *out, bool replace) {
  FLO_TRY(app_check_run_place(out, replace, &run->error));
  FLO_TRY(flo_run_folder_check(out, replace, &run->error));
  FLO_TRY(app_run_build(run));
  FLO_TRY(flo_advice_check_speeds(run->scene, run->world, &run->error));
  FLO_TRY(app_run_name_assets(run, out));
  FLO_TRY(app_make_place(out, &run->error));
  FLO_TRY(flo_run_folder_open(out, replace, &run->folder, &run->error));
  app_run_tell_notes(run);
  FLO_TRY(app_run_keep_assets(run));
  FLO_TRY(app_run_open_files(run));
  FLO_TRY(app_run_write_checkpoint(run));
  FLO_TRY(flo_writer_wait(run->writer, &run->error));
  FLO_TRY(app_run_clear_assets(run, &run->error));
  FLO_TRY(flo_run_folder_write(run->folder, "scene.json", run->scene->resolved, &run->error));
  FLO_TRY(flo_body_files_write_meshes(out, run->scene, &run->error));
  flo_run_folder_note(run->folder,
                      "%s: %zu fluid and %zu boundary particles, method %s, %zu frame%s until %g s",
                      run->scene->path, flo_world_count(run->world, FLO_SET_FLUID),
                      flo_world_count(run->world, FLO_SET_BOUNDARY), run->scene->world.method,
                      run->point.n_frames, run->point.n_frames == 1 ? "" : "s", run->point.until);
  return FLO_OK;
}

// ---- Stepping ----

// Writes a checkpoint if a signal asked for it, or if a frame takes long.
static FloStatus keep_if_due(AppRun *run) {
  double interval = run->options->checkpoint_seconds;
  bool is_due = interval > 0 && flo_seconds() - run->last_checkpoint >= interval;
  if (run->is_astray) return FLO_OK;
  if (!app_run_is_checkpoint_wanted() && !is_due) return FLO_OK;
  flo_run_folder_note(run->folder, "checkpoint at %g s", flo_world_time(run->world));
  return app_run_write_checkpoint(run);
}

// The method may have compared solvers in the step.
static FloStatus write_residuals(AppRun *run, const FloStepInfo *info) {
  const FloResiduals residuals = flo_world_residuals(run->world);
  if (residuals.n_solvers == 0 || residuals.step + 1 != info->step) return FLO_OK;
  return flo_residuals_write(run->folder->path, &residuals, &run->error);
}

// Steps are shortened to end at a given time only when less than two steps are left.
static FloStatus step_towards(AppRun *run, double time) {
  double left = time - flo_world_time(run->world);
  FloStepInfo info;
  FLO_TRY(flo_world_step_until(run->world, time, &info, &run->error));
  FLO_TRY(write_residuals(run, &info));
  if (app_run_has_odd_goal(run) && time == run->point.until && info.dt >= 0.5 * left) run->is_astray = true;
  return FLO_OK;
}

// Does one step at a time, so that a signal takes effect soon.
static FloStatus advance_to(AppRun *run, double time) {
  while (flo_world_time(run->world) < time && !is_stop_wanted) {
    FLO_TRY(step_towards(run, time));
    // No checkpoint at the time of a frame: the frame shows values of the last step that are not part of the
    // state.
    if (flo_world_time(run->world) < time) FLO_TRY(keep_if_due(run));
    if (!app_progress_is_due(&run->progress)) continue;
    FloMeasurements measurements = flo_world_measure(run->world);
    app_progress_show(&run->progress, &measurements);
  }
  return FLO_OK;
}

FloStatus app_run_advance(AppRun *run, double time, FloStatus (*advance)(AppRun *run, double time)) {
  while (run->point.next_event < run->scene->n_events) {
    const FloSceneEvent *event = &run->scene->events[run->point.next_event];
    size_t n_added;
    if (event->time > time) break;
    FLO_TRY(advance(run, event->time));
    if (flo_world_time(run->world) < event->time) return FLO_OK;
    FLO_TRY(flo_scene_apply_event(run->scene, run->world, event, &n_added, &run->error));
    if (n_added) flo_run_folder_note(run->folder, "at %g s: %zu particles added", event->time, n_added);
    run->point.next_event++;
  }
  return advance(run, time);
}

bool app_run_is_checkpoint_wanted(void) {
  bool is_wanted = is_checkpoint_wanted;
  is_checkpoint_wanted = 0;
  return is_wanted;
}

bool app_run_is_stopped(void) { return is_stop_wanted; }

static FloStatus show_broken(AppRun *run) {
  FLO_TRY(app_run_write_last_good(run));
  return app_run_show_frame(run);
}

// The state after a divergence is written like any other frame, so that it can be looked at. The last good
// checkpoint is kept. If writing fails too, the reason of the divergence is still reported first.
static FloStatus leave_diverged(AppRun *run) {
  FloError reason = run->error;
  double frame = app_run_frame_time(run, run->point.n_written);
  flo_advice_explain_divergence(run->scene, &reason);
  if (show_broken(run) == FLO_OK)
    app_run_reproduce(run, frame, &reason);
  else
    run->aside = run->error;
  run->error = reason;
  return FLO_DIVERGED;
}

static FloStatus simulate(AppRun *run) {
  while (run->point.n_written <= run->point.n_frames) {
    size_t frame = run->point.n_written;
    FloStatus status = app_run_advance(run, app_run_frame_time(run, frame), advance_to);
    if (status == FLO_DIVERGED) return leave_diverged(run);
    FLO_TRY(status);
    if (flo_world_time(run->world) < app_run_frame_time(run, frame)) {
      run->is_interrupted = true;
      return run->is_astray ? app_run_write_last_good(run) : app_run_write_checkpoint(run);
    }
    FLO_TRY(app_run_write_frame(run, frame == run->point.n_frames));
  }
  return FLO_OK;
}

// ---- End ----

static void describe_end(AppRun *run, FloStatus status) {
  FloRunReport *report = &run->report;
  report->wall_seconds = flo_seconds() - run->began;
  report->output_seconds = run->output_seconds, report->picture_seconds = run->picture_seconds;
  report->n_frames = run->point.n_written ? run->point.n_written - 1 : 0;
  report->size = run->size;
  report->is_whole = status == FLO_OK && !run->is_interrupted && run->point.until >= run->scene->duration;
  if (status != FLO_OK) report->message = run->error.text;
  if (status == FLO_DIVERGED)
    report->end = FLO_RUN_DIVERGED;
  else if (status != FLO_OK)
    report->end = FLO_RUN_FAILED;
  else if (run->is_interrupted)
    report->end = FLO_RUN_INTERRUPTED;
}

static void print_result(const AppRun *run, const char *summary) {
  if (run->options->is_json) {
    puts(summary);
  } else if (!run->options->is_quiet) {
    FloMeasurements measurements = flo_world_measure(run->world);
    printf("%s: %g s simulated in %" PRIu64 " step%s, %.1f s\n",
           run->scene->title ? run->scene->title : run->scene->name, measurements.time, measurements.step,
           measurements.step == 1 ? "" : "s", run->report.wall_seconds);
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

// By how much a value misses its range, also in percent of the bound if that is not zero.
static void describe_miss(const FloExpect *expect, double value, char text[80]) {
  double bound = value < expect->low ? expect->low : expect->high, miss = fabs(value - bound);
  if (isnan(value))
    snprintf(text, 80, "the run never measured it");
  else if (bound != 0)
    snprintf(text, 80, "%.3g or %.2g %% too %s", miss, 100 * miss / fabs(bound),
             value < bound ? "low" : "high");
  else
    snprintf(text, 80, "%.3g too %s", miss, value < bound ? "low" : "high");
}

static void print_expects(const AppRun *run) {
  for (size_t k = 0; k < run->scene->n_expects; k++) {
    const FloExpect *expect = &run->scene->expects[k];
    double value = NAN;
    char range[80], miss[80];
    flo_series_value(run->series, expect->measurement, &value);
    if (!flo_expect_is_missed(expect, value)) continue;
    describe_miss(expect, value, miss);
    app_fail(0, "expectation failed: %s is %g, expected %s: %s%s%s", expect->measurement, value,
             describe_range(expect, range), miss, expect->paper[0] ? "; the paper: " : "", expect->paper);
  }
}

// A resumed run has the checkpoint of its earlier part until it has written a new one.
static void clear_assets(AppRun *run) {
  FloError error;
  if (run->has_checkpoint && app_run_clear_assets(run, &error) != FLO_OK)
    flo_run_folder_note(run->folder, "warning: %s", error.text);
}

// Closes all files after the last frame, and draws the picture.
static FloStatus complete_files(AppRun *run, FloStatus status, FloError *error) {
  if (!run->writer) return FLO_OK;
  FloStatus written = flo_writer_wait(run->writer, error), settled;
  FloError later;
  settled = app_run_settle_files(run, written != FLO_OK, &later);
  if (written == FLO_OK && settled != FLO_OK) written = settled, *error = later;
  if (written == FLO_OK) clear_assets(run);
  bool is_drawn = !run->options->has_no_pictures && !run->is_interrupted;
  if (written != FLO_OK || !is_drawn || (status != FLO_OK && status != FLO_DIVERGED)) return written;
  return app_run_draw_end(run, error);
}

// Prints what could not be written, besides the reason why the run ended.
static void tell_aside(AppRun *run) {
  if (!run->aside.text[0] || strcmp(run->aside.text, run->error.text) == 0) return;
  app_fail(0, "in addition: %s", run->aside.text);
  flo_run_folder_note(run->folder, "in addition: %s", run->aside.text);
}

static void tell_how_to_go_on(const AppRun *run, const char *what) {
  AppLine line = {0};
  app_line_add(&line, "flotsam resume ");
  app_line_path(&line, run->folder->path, "");
  const char *command = app_line_show(&line);
  app_fail(0, "%s: %s", what, command ? command : "flotsam resume");
  app_line_free(&line);
}

static int tell_interrupted(const AppRun *run) {
  char what[80];
  snprintf(what, sizeof what, "interrupted at %g s; continue with", flo_world_time(run->world));
  return tell_how_to_go_on(run, what), APP_RUN_FAILED;
}

// The simulation is complete; only its picture is missing.
static int tell_undrawn(const AppRun *run, int exit_code) {
  if (!run->is_undrawn) return exit_code;
  tell_how_to_go_on(run, "interrupted before the picture; all frames are complete; draw it with");
  return exit_code ? exit_code : APP_RUN_FAILED;
}

static int finish(AppRun *run, FloStatus status) {
  char *summary = NULL;
  size_t n_failed = 0;
  FloError error = {0};
  FloStatus written = complete_files(run, status, &error);
  if (status == FLO_OK && written != FLO_OK) status = written, run->error = error;
  if (written != FLO_OK) run->aside = error;
  describe_end(run, status);
  written = flo_summary_make(run->scene, run->world, run->series, &run->report, &summary, &n_failed, &error);
  if (written == FLO_OK) written = flo_run_folder_write(run->folder, "summary.json", summary, &error);
  app_progress_end(&run->progress);
  if (written == FLO_OK && (run->report.end != FLO_RUN_FAILED || run->options->is_json))
    print_result(run, summary);
  free(summary);
  if (status != FLO_OK && written != FLO_OK && !run->aside.text[0]) run->aside = error;
  if (status != FLO_OK) {
    app_fail(0, "%s", run->error.text);
    return tell_aside(run), app_exit_code(status);
  }
  if (written != FLO_OK) return app_fail(app_exit_code(written), "%s", error.text);
  if (run->is_interrupted) return tell_interrupted(run);
  if (n_failed > 0) print_expects(run);
  return tell_undrawn(run, n_failed > 0 ? APP_EXPECTATION_FAILED : APP_OK);
}

static void release(AppRun *run) {
  flo_writer_stop(run->writer);
  flo_state_destroy(run->last_good);
  free(run->good_pressure);
  json_decref(run->assets);
  flo_body_files_close(&run->bodies);
  flo_series_destroy(run->series);
  flo_world_destroy(run->world); // before the log it writes to and the scene it refers to
  flo_run_folder_close(run->folder);
  flo_scene_destroy(run->scene);
}

// How long the picture may take [s], for the progress line: measured with pictures of water in 1280 x 720.
static double expected_drawing(const AppRun *run) {
  const int given = run->options->threads;
  const long n_threads = given > 0 ? given : sysconf(_SC_NPROCESSORS_ONLN);
  return (5 + 4e-5 * (double)flo_world_count(run->world, FLO_SET_FLUID)) /
         (double)flo_max_size((size_t)n_threads, 1);
}

// Continues after the start; `status` is the result of starting.
static int go_through(AppRun *run, FloStatus status) {
  if (status != FLO_OK && !run->folder) return app_fail(app_exit_code(status), "%s", run->error.text);
  catch_signals();
  if (status == FLO_OK) {
    app_progress_begin(&run->progress, flo_world_time(run->world), run->point.until, run->options->is_quiet);
    if (!run->options->has_no_pictures) run->progress.after = expected_drawing(run);
    status = simulate(run);
  }
  int exit_code = finish(run, status);
  flo_run_folder_note(run->folder, "end with exit code %d%s%s", exit_code, status ? ": " : "",
                      status ? run->error.text : "");
  return exit_code;
}

int app_run(FloScene *scene, const AppSceneArguments *given, const AppRunOptions *options, const char *out,
            bool replace) {
  AppRun run = {.options = options,
                .scene = scene,
                .given = given,
                .size = given->size,
                .began = flo_seconds(),
                .frame_time = NAN};
  app_run_plan(&run, scene->duration);
  run.point.has_no_pictures = options->has_no_pictures;
  expect_signals();
  int exit_code = go_through(&run, start(&run, out, replace));
  release(&run);
  return exit_code;
}

// ---- Going on ----

static FloStatus load_checkpoint(AppRun *run, FloCheckpoint *checkpoint) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(run->folder->path, "checkpoint.h5", path, &run->error));
  if (!flo_file_exists(path))
    return flo_fail(&run->error, FLO_BAD_INPUT,
                    "%s: has no checkpoint, so the run cannot be continued; start it again with: flotsam run "
                    "'%s/scene.json' --out '%s' --force",
                    run->folder->path, run->folder->path, run->folder->path);
  return flo_checkpoint_read(path, checkpoint, &run->error);
}

// A changed or damaged scene.json does not affect this run, but it does affect 'flotsam run' and other
// commands.
static void tell_wrong_scene(const AppRun *run, const FloCheckpoint *checkpoint) {
  char path[FLO_PATH_SIZE], *text = NULL;
  size_t size;
  if (flo_path_join(run->folder->path, "scene.json", path, NULL) != FLO_OK) return;
  bool is_there = flo_file_read(path, &text, &size, NULL) == FLO_OK;
  if (!is_there || strcmp(text, checkpoint->scene) != 0)
    app_fail(0, "%s is %s; write it again with: flotsam resume %s --until T", path,
             is_there ? "not what the run wrote" : "missing", run->folder->path);
  free(text);
}

// Prints how the run ended, as the run itself did.
static int repeat_end(const AppRun *run, const FloCheckpoint *checkpoint) {
  char path[FLO_PATH_SIZE], *text = NULL;
  size_t size;
  if (!run->options->is_json && !run->options->is_quiet) {
    if (run->has_picture) printf("picture  %s/picture.png\n", run->folder->path);
    printf("%s: complete; continue it with --until T\n", run->folder->path);
  }
  if (!run->options->is_quiet) tell_wrong_scene(run, checkpoint);
  if (flo_path_join(run->folder->path, "summary.json", path, NULL) != FLO_OK ||
      flo_file_read(path, &text, &size, NULL) != FLO_OK)
    return APP_OK;
  if (run->options->is_json) fputs(text, stdout);
  bool has_failed = strstr(text, "\"pass\": false") != NULL;
  free(text);
  return has_failed ? APP_EXPECTATION_FAILED : APP_OK;
}

// The simulation is complete, but its picture may be missing.
static int complete(AppRun *run, const FloCheckpoint *checkpoint) {
  catch_signals();
  FloStatus status = run->options->has_no_pictures ? FLO_OK : app_run_draw_missing(run, checkpoint);
  if (run->has_picture) flo_run_folder_note(run->folder, "picture drawn later");
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", run->error.text);
  return tell_undrawn(run, repeat_end(run, checkpoint));
}

static int resume(AppRun *run, AppRunOptions *own) {
  FloCheckpoint checkpoint = {0};
  FloStatus status = load_checkpoint(run, &checkpoint);
  if (status == FLO_OK) own->has_no_pictures |= checkpoint.point.has_no_pictures;
  if (status == FLO_OK && app_run_is_complete(run, &checkpoint)) {
    int exit_code = complete(run, &checkpoint);
    return flo_checkpoint_free(&checkpoint), exit_code;
  }
  if (status == FLO_OK) {
    run->size = checkpoint.size[0] ? checkpoint.size : NULL;
    status = app_run_restart(run, &checkpoint);
  }
  flo_state_destroy(checkpoint.state), checkpoint.state = NULL;
  // A run that cannot be continued is left unchanged.
  int exit_code =
      status == FLO_OK ? go_through(run, status) : app_fail(app_exit_code(status), "%s", run->error.text);
  flo_checkpoint_free(&checkpoint);
  return exit_code;
}

int app_resume(const char *folder, const AppRunOptions *options) {
  AppRunOptions own = *options;
  AppRun run = {.options = &own, .frame_time = NAN};
  if (!flo_run_folder_is_run(folder)) return app_complain_no_run("resume", folder);
  expect_signals();
  FloStatus status = flo_run_folder_take(folder, &run.folder, &run.error);
  int exit_code =
      status == FLO_OK ? resume(&run, &own) : app_fail(app_exit_code(status), "%s", run.error.text);
  release(&run);
  return exit_code;
}
