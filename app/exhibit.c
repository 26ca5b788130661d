#include "exhibit.h"

#include "base/core.h"
#include "base/hash.h"
#include "io/advice.h"
#include "io/scene_steps.h"
#include "io/shown.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_TRIES = 25 }; // attempts to find a folder free, a fifth of a second apart

// The time for a step of one particle on a usual machine, and the length of steps. These are rough estimates,
// used only to divide the progress bar; the remaining time is computed from measured times.
static const double seconds_per_particle = 6e-7, steps_per_metre = 60;

// ---- What is there ----

static json_t *read_summary(const AppExhibit *e) {
  char path[FLO_PATH_SIZE];
  if (flo_path_join(e->run, "summary.json", path, NULL) != FLO_OK) return NULL;
  return json_load_file(path, 0, NULL);
}

static const char *end_of(const json_t *summary) {
  const char *end = json_string_value(json_object_get(summary, "end"));
  return end ? end : "";
}

static void read_series(AppExhibit *e) {
  char path[FLO_PATH_SIZE];
  flo_series_table_free(&e->series);
  if (flo_path_join(e->run, "series.csv", path, NULL) != FLO_OK || !flo_file_exists(path)) return;
  if (flo_series_table_read(path, &e->series, NULL) != FLO_OK) flo_series_table_free(&e->series);
}

static void count_expects(AppExhibit *e) {
  const json_t *list = json_object_get(e->summary, "expect");
  e->n_expects = e->n_met = 0;
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *expect = json_array_get(list, k);
    e->n_expects += flo_run_info_is_asked(expect);
    e->n_met += json_is_true(json_object_get(expect, "pass"));
  }
}

// A run that diverged would diverge again, so it counts as done. A run that failed otherwise or was
// interrupted does not.
static bool take_results(AppExhibit *e) {
  json_decref(e->summary);
  e->summary = read_summary(e);
  bool is_finished = !strcmp(end_of(e->summary), "finished");
  bool is_over = is_finished || !strcmp(end_of(e->summary), "diverged");
  const char *message = json_string_value(json_object_get(e->summary, "message"));
  count_expects(e);
  read_series(e);
  if (is_over) e->state = is_finished ? APP_EXHIBIT_FINISHED : APP_EXHIBIT_FAILED;
  if (is_over && !is_finished) snprintf(e->message, sizeof e->message, "%s", message ? message : "diverged");
  return is_over;
}

// Whether the run in the folder was made from the current request.
static bool is_run_right(const AppExhibit *e) {
  char path[FLO_PATH_SIZE];
  return flo_path_join(e->run, "checkpoint.h5", path, NULL) == FLO_OK &&
         app_is_current(path, path, &e->asked_when);
}

// ---- What is asked for ----

static uint64_t hash_file(uint64_t hash, const char *path) {
  uint64_t content = 0;
  if (!path || flo_file_hash(path, &content, NULL) != FLO_OK) return hash;
  return flo_hash_bytes(hash, &content, sizeof content);
}

// The scene names the files of its meshes and particles. Their contents are part of the hash too.
static uint64_t hash_scene(const FloScene *scene) {
  uint64_t hash = flo_hash_bytes(FLO_HASH_START, scene->resolved, strlen(scene->resolved));
  for (const FloSceneAttachment *a = scene->parts->attachments; a; a = a->next)
    if (a->mesh.n_triangles > 0) hash = hash_file(hash, a->text);
  json_t *root = json_loads(scene->resolved, 0, NULL), *entry;
  size_t k;
  json_array_foreach(json_object_get(root, "particles"), k, entry) {
    hash = hash_file(hash, json_string_value(json_object_get(entry, "file")));
  }
  json_decref(root);
  return hash;
}

static FloStatus note_request(AppExhibit *e, FloError *error) {
  char text[256];
  snprintf(text, sizeof text, "{\n  \"version\": \"%s\",\n  \"scene\": \"%016llx\"\n}\n", FLOTSAM_VERSION,
           (unsigned long long)hash_scene(e->scene));
  return app_note_settings(e->place, text, &e->asked_when, error);
}

FloStatus app_exhibit_forget(const char *place, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(place, "settings.json", path, error));
  if (remove(path) != 0 && flo_file_exists(path))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: cannot be removed; check the rights of its folder, or choose another place with --out", path);
  return FLO_OK;
}

static void guess_cost(AppExhibit *e) {
  const FloScene *scene = e->scene;
  FloSetUp set_up = flo_advice_estimate_set_up(scene);
  double fixed = scene->world.time_step;
  double dt = fixed > 0 ? fixed : scene->world.spacing / steps_per_metre;
  double n = set_up.n_fluid + set_up.n_boundary + 0.5 * flo_scene_emitted(scene);
  e->run_cost = set_up.seconds + n * scene->duration / dt * seconds_per_particle;
}

static FloStatus load(AppExhibit *e, const char *size, FloError *error) {
  const AppSceneArguments *a = &e->arguments;
  FloSceneOptions options = {.method = a->method,
                             .size = size,
                             .sets = a->sets.items,
                             .n_sets = a->sets.count,
                             .threads = a->threads};
  return flo_scene_load(a->scene, &options, &e->scene, error);
}

// A scene that does not have the size is run in its normal size, with a note.
static FloStatus load_any_size(AppExhibit *e, FloError *error) {
  FloStatus status = load(e, e->arguments.size, error);
  if (status == FLO_OK || !e->arguments.size) return status;
  FloError again;
  if (load(e, NULL, &again) != FLO_OK) return status;
  char text[sizeof error->text + 64];
  snprintf(text, sizeof text, "%s; shown in its normal size", error->text);
  app_texts_add(&e->notes, text);
  e->arguments.size = NULL;
  return FLO_OK;
}

static FloStatus name_folders(AppExhibit *e, const char *place, FloError *error) {
  FLO_TRY(flo_path_join(place, "run", e->run, error));
  FLO_TRY(flo_path_join(place, "pictures", e->pictures, error));
  snprintf(e->place, sizeof e->place, "%s", place);
  return flo_folder_make(place, error);
}

FloStatus app_exhibit_open(AppExhibit *e, const char *place, FloError *error) {
  FloError reason;
  FLO_TRY(name_folders(e, place, error));
  FloStatus status = load_any_size(e, &reason);
  if (status != FLO_OK) {
    e->scene = NULL;
    e->state = APP_EXHIBIT_FAILED;
    snprintf(e->message, sizeof e->message, "%s", reason.text);
    return FLO_OK;
  }
  FLO_TRY(note_request(e, error));
  guess_cost(e);
  e->was_there = is_run_right(e) && take_results(e);
  if (e->was_there) e->run_cost = 0;
  return FLO_OK;
}

void app_exhibit_close(AppExhibit *e) {
  if (e->scene) flo_scene_destroy(e->scene);
  json_decref(e->summary);
  flo_series_table_free(&e->series);
  app_texts_free(&e->notes);
}

bool app_exhibit_is_met(const AppExhibit *e) {
  return e->state == APP_EXHIBIT_FINISHED && e->n_met == e->n_expects;
}

// ---- Simulating ----

static void report(void *context, double share) {
  AppTour *tour = context;
  char text[200];
  if (!app_progress_is_due(&tour->progress)) return;
  snprintf(text, sizeof text, "%zu of %zu  %.60s  %s", (size_t)(tour->item - tour->items) + 1, tour->count,
           tour->item->name, tour->doing);
  app_progress_tell(&tour->progress, tour->done + share * tour->cost, text);
}

FloStatus app_tour_do(AppTour *tour, const AppExhibit *e, const char *doing, double cost,
                      const AppChildCommand *command, AppChildEnd *end, FloError *error) {
  tour->item = e, tour->doing = doing, tour->cost = cost;
  FloStatus status = app_child_run(command, report, tour, end, error);
  tour->done += cost;
  return status;
}

static void add_threads(AppChildCommand *command, const AppExhibit *e, char text[16]) {
  snprintf(text, 16, "%d", e->arguments.threads);
  if (e->arguments.threads > 0) app_child_add(command, "--threads", text, NULL);
}

static AppChildCommand begin_anew(const AppExhibit *e) {
  const AppSceneArguments *a = &e->arguments;
  AppChildCommand command = {0};
  app_child_add(&command, "run", "--no-picture", "--force", "--out", e->run, NULL);
  if (a->method) app_child_add(&command, "--method", a->method, NULL);
  if (a->size) app_child_add(&command, "--size", a->size, NULL);
  for (size_t k = 0; k < a->sets.count; k++) app_child_add(&command, "--set", a->sets.items[k], NULL);
  return command;
}

static void tell_failure(AppExhibit *e, const AppChildEnd *end) {
  e->state = APP_EXHIBIT_FAILED;
  if (end->signal_number)
    snprintf(e->message, sizeof e->message, "the run was ended by signal %d%s\n%.1800s", end->signal_number,
             end->signal_number == 9 ? ", perhaps because memory ran out" : "", end->message);
  else
    snprintf(e->message, sizeof e->message, "%s", end->message[0] ? end->message : "it gave no reason");
}

// Whether another flotsam is running in the folder: a run holds a lock on its log. Also false if the file
// system does not support locks. This function would release locks of this process on the file, but there are
// none.
static bool is_busy(const AppExhibit *e, long *process) {
  char path[FLO_PATH_SIZE];
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (flo_path_join(e->run, "log.txt", path, NULL) != FLO_OK) return false;
  int log = open(path, O_RDONLY | O_CLOEXEC);
  if (log < 0) return false;
  bool is_locked = fcntl(log, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  close(log);
  if (is_locked) *process = (long)whole.l_pid;
  return is_locked;
}

static FloStatus complain_busy(const AppExhibit *e, long process, FloError *error) {
  return flo_fail(
      error, FLO_IO_FAILED,
      "%s: another flotsam, process %ld, is running in this folder; wait until it ends, or choose "
      "another place with --out",
      e->run, process);
}

// If a tour was killed, its run may still be writing its checkpoint: wait for it. A run that goes on after
// that belongs to another tour, and must not be disturbed.
static FloStatus wait_for_folder(const AppExhibit *e, FloError *error) {
  const struct timespec pause = {.tv_nsec = 200000000};
  long process = 0;
  for (int k = 0; is_busy(e, &process); k++) {
    if (app_child_is_stop_wanted()) return flo_fail(error, FLO_IO_FAILED, "interrupted");
    if (k == BUSY_TRIES) return complain_busy(e, process, error);
    nanosleep(&pause, NULL);
  }
  return FLO_OK;
}

// Simulates the rest of the run. A failure of the run is stored in the exhibit. Only errors that stop the
// whole tour are returned.
static FloStatus run_exhibit(AppTour *tour, AppExhibit *e, FloError *error) {
  AppChildEnd end = {.exit_code = APP_BAD_INPUT};
  char threads[16];
  if (e->was_there || !e->scene) return FLO_OK;
  FLO_TRY(wait_for_folder(e, error));
  if (is_run_right(e)) {
    AppChildCommand command = {0};
    app_child_add(&command, "resume", "--no-picture", NULL);
    add_threads(&command, e, threads);
    app_child_add(&command, "--", e->run, NULL);
    FLO_TRY(app_tour_do(tour, e, "continuing", e->run_cost, &command, &end, error));
  }
  // A run that cannot be resumed, or was made from another request, starts again from the beginning.
  if (end.exit_code == APP_BAD_INPUT && !app_child_is_stop_wanted()) {
    FLO_TRY(wait_for_folder(e, error));
    AppChildCommand command = begin_anew(e);
    add_threads(&command, e, threads);
    app_child_add(&command, "--", e->arguments.scene, NULL);
    FLO_TRY(app_tour_do(tour, e, "running", e->run_cost, &command, &end, error));
  }
  if (app_child_is_stop_wanted()) return flo_fail(error, FLO_IO_FAILED, "interrupted");
  bool is_right = is_run_right(e);
  if (!(is_right && take_results(e))) tell_failure(e, &end);
  return FLO_OK;
}

// ---- One after the other ----

static void print_line(const AppTour *tour, const AppExhibit *e) {
  char verdict[64], name[512];
  const char *ignored;
  if (tour->is_quiet) return;
  printf("%-24s %s\n", flo_shown_escape(e->name, name, sizeof name),
         app_exhibit_verdict(e, verdict, &ignored));
  fflush(stdout);
}

static FloStatus do_all(AppTour *tour, FloError *error) {
  FLO_TRY(tour->write(tour, tour->context, error));
  for (size_t k = 0; k < tour->count; k++) {
    AppExhibit *e = &tour->items[k];
    FLO_TRY(run_exhibit(tour, e, error));
    if (tour->draw) FLO_TRY(tour->draw(tour, e, error));
    app_progress_end(&tour->progress);
    print_line(tour, e);
    if (e->state == APP_EXHIBIT_FAILED) app_fail(0, "%s: %s", e->name, e->message);
    for (size_t n = 0; n < e->notes.count; n++) app_fail(0, "%s: %s", e->name, e->notes.items[n]);
    FLO_TRY(tour->write(tour, tour->context, error));
  }
  if (!tour->finish) return FLO_OK;
  FLO_TRY(tour->finish(tour, error));
  return tour->write(tour, tour->context, error);
}

FloStatus app_tour_go(AppTour *tour, FloError *error) {
  double left = 0;
  for (size_t k = 0; k < tour->count; k++) {
    tour->items[k].draw_cost = app_exhibit_guess_drawing(tour, &tour->items[k]);
    left += tour->items[k].run_cost + tour->items[k].draw_cost;
  }
  app_child_catch_signals();
  app_progress_begin(&tour->progress, 0, left, tour->is_quiet);
  FloStatus status = do_all(tour, error);
  app_progress_end(&tour->progress);
  // The page shows what was finished before the signal.
  if (app_child_is_stop_wanted()) tour->write(tour, tour->context, NULL);
  return status;
}

int app_tour_exit_code(const AppTour *tour) {
  int code = APP_OK;
  for (size_t k = 0; k < tour->count; k++) {
    if (tour->items[k].state != APP_EXHIBIT_FINISHED) return APP_RUN_FAILED;
    if (!app_exhibit_is_met(&tour->items[k])) code = APP_EXPECTATION_FAILED;
  }
  return code;
}
