#include "io/run_info.h"

#include "base/core.h"
#include "io/checkpoint.h"
#include "io/run_folder.h"
#include "io/series_read.h"
#include "io/vtk.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef enum Activity {
  ACTIVITY_NONE,    // no process uses the folder
  ACTIVITY_RUNNING, // a running process holds its lock
  ACTIVITY_UNKNOWN, // there is no log, or its file system has no locks
} Activity;

typedef struct Inspection {
  const char *folder;
  json_t *info, *problems;
  Activity activity;
  pid_t process;    // of a run that is going on
  bool is_complete; // the run has ended in any way, and will write nothing more
  size_t n_frames;
  size_t n_bodies;             // number of bodies in the scene
  size_t n_meshes;             // files of their triangles
  size_t n_files, n_left_over; // unfinished files
  json_int_t bytes;
  time_t changed; // time of the last change of a file
} Inspection;

static void set(Inspection *in, const char *key, json_t *value) {
  json_object_set_new_nocheck(in->info, key, value ? value : json_null());
}

__attribute__((format(printf, 2, 3))) static void note(Inspection *in, const char *format, ...) {
  char text[1400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_t *sentence = json_string(text); // NULL if a name is not UTF-8
  json_array_append_new(in->problems,
                        sentence ? sentence : json_string("a file has a name that is not valid UTF-8"));
}

static bool has_file(const char *folder, const char *name) {
  char path[FLO_PATH_SIZE];
  return flo_path_join(folder, name, path, NULL) == FLO_OK && flo_file_exists(path);
}

// ---- Files ----

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), n_end = strlen(end);
  return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

static FloStatus weigh_file(const char *name, void *context, FloError *error) {
  Inspection *in = context;
  char path[FLO_PATH_SIZE];
  struct stat about;
  FLO_TRY(flo_path_join(in->folder, name, path, error));
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return FLO_OK;
  in->n_files++;
  in->bytes += (json_int_t)about.st_size;
  if (about.st_mtime > in->changed) in->changed = about.st_mtime;
  in->n_left_over += ends_with(name, ".tmp");
  in->n_meshes += strncmp(name, "body_", 5) == 0 && ends_with(name, ".ply");
  return FLO_OK;
}

// Unfinished files of a run that is going on are no problem.
static void tell_files(Inspection *in) {
  bool is_running = in->activity == ACTIVITY_RUNNING;
  if (in->n_left_over > 0 && !is_running)
    note(in, "%zu files ending with .tmp were never finished", in->n_left_over);
  if (in->n_meshes < in->n_bodies && !is_running)
    note(in, "%zu of %zu files body_NAME.ply are missing", in->n_bodies - in->n_meshes, in->n_bodies);
  set(in, "files", json_integer((json_int_t)in->n_files));
  set(in, "bytes", json_integer(in->bytes));
  set(in, "seconds_since_change", json_real(difftime(time(NULL), in->changed)));
}

// ---- Whether the run is still going on ----

// A run holds a lock on its log until its process ends: see lock_log in run_folder.c. This only tests the
// lock.
static void look_for_run(Inspection *in) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char path[FLO_PATH_SIZE];
  in->activity = ACTIVITY_UNKNOWN;
  if (flo_path_join(in->folder, "log.txt", path, NULL) != FLO_OK) return;
  int log = open(path, O_RDONLY | O_CLOEXEC);
  if (log < 0) {
    if (!flo_file_exists(path)) note(in, "log.txt is missing");
    return;
  }
  if (fcntl(log, F_GETLK, &lock) == 0)
    in->activity = lock.l_type == F_UNLCK ? ACTIVITY_NONE : ACTIVITY_RUNNING;
  if (in->activity == ACTIVITY_RUNNING) in->process = lock.l_pid;
  close(log);
}

// ---- Documents ----

static json_t *read_document(Inspection *in, const char *name) {
  char path[FLO_PATH_SIZE];
  json_error_t reason;
  if (!has_file(in->folder, name) || flo_path_join(in->folder, name, path, NULL) != FLO_OK) return NULL;
  json_t *document = json_load_file(path, 0, &reason);
  if (json_is_object(document)) return document;
  note(in, "%s is damaged: line %d: %s", name, document ? 1 : reason.line,
       document ? "not an object" : reason.text);
  json_decref(document);
  return NULL;
}

static void copy(Inspection *in, const json_t *from, const char *key) {
  set(in, key, json_incref(json_object_get(from, key)));
}

bool flo_run_info_is_asked(const json_t *expect) {
  return json_is_number(json_object_get(expect, "low")) || json_is_number(json_object_get(expect, "high"));
}

static void tell_expectations(Inspection *in, const json_t *summary) {
  const json_t *list = json_object_get(summary, "expect");
  json_int_t counts[3] = {0}; // failed, passed, not judged
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *expect = json_array_get(list, k), *pass = json_object_get(expect, "pass");
    if (!flo_run_info_is_asked(expect)) continue;
    counts[json_is_false(pass) ? 0 : json_is_true(pass) ? 1 : 2]++;
  }
  copy(in, summary, "expect");
  set(in, "passed", summary ? json_integer(counts[1]) : NULL);
  set(in, "failed", summary ? json_integer(counts[0]) : NULL);
  set(in, "not_judged", summary ? json_integer(counts[2]) : NULL);
}

// The lock is more reliable than the summary: a resumed run still has the summary of its first part for a
// moment.
static json_t *name_end(const Inspection *in, const json_t *summary) {
  json_t *end = json_object_get(summary, "end");
  if (in->activity == ACTIVITY_RUNNING) return json_string("running");
  if (json_is_string(end)) return json_incref(end);
  return json_string(in->activity == ACTIVITY_NONE ? "killed" : "unfinished");
}

static void tell_summary(Inspection *in, const json_t *summary) {
  static const char *const keys[] = {"title", "name",  "method",       "version",  "message",
                                     "time",  "steps", "wall_seconds", "particles"};
  for (size_t k = 0; k < FLO_COUNT_OF(keys); k++) copy(in, summary, keys[k]);
  set(in, "end", name_end(in, summary));
  set(in, "process", in->process > 0 ? json_integer((json_int_t)in->process) : NULL);
  in->is_complete = summary && in->activity != ACTIVITY_RUNNING;
  tell_expectations(in, summary);
}

// Without a summary, the stored scene gives the plan of the run.
static void tell_scene(Inspection *in, const json_t *scene) {
  if (json_is_null(json_object_get(in->info, "title"))) copy(in, scene, "title");
  if (json_is_null(json_object_get(in->info, "method"))) {
    const json_t *method = json_object_get(scene, "method");
    set(in, "method",
        json_incref(json_is_object(method) ? json_object_get(method, "name") : (json_t *)method));
  }
  copy(in, scene, "duration");
  copy(in, scene, "time_step");
  copy(in, scene, "cfl");
  in->n_bodies = json_array_size(json_object_get(scene, "boundaries")) +
                 json_array_size(json_object_get(scene, "bodies"));
  if (!scene && !has_file(in->folder, "scene.json")) note(in, "scene.json is missing");
}

// ---- Frames ----

static bool has_tail(const char *path) {
  static const char tail[] = "</VTKFile>\n";
  char end[sizeof tail] = "";
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  bool is_read = fseek(stream, -(long)(sizeof tail - 1), SEEK_END) == 0 &&
                 fread(end, 1, sizeof tail - 1, stream) == sizeof tail - 1;
  fclose(stream);
  return is_read && memcmp(end, tail, sizeof tail - 1) == 0;
}

static void check_last_frame(Inspection *in, const char *path) {
  FloVtkPoints points;
  FloError error;
  if (flo_vtk_read(path, &points, &error) == FLO_OK)
    flo_vtk_free(&points);
  else
    note(in, "%s", error.text);
}

static void check_frames(Inspection *in) {
  for (size_t k = 0; k < in->n_frames; k++) {
    char path[FLO_PATH_SIZE];
    if (flo_run_folder_frame_path(in->folder, k, path, NULL) != FLO_OK) continue;
    if (!has_tail(path))
      note(in, "%s is incomplete", path);
    else if (k + 1 == in->n_frames)
      check_last_frame(in, path);
  }
}

// Commands do not find frames after a gap, because frames are counted from 0.
typedef struct Numbers {
  size_t n_frames, n_behind;
} Numbers;

static FloStatus look_behind(const char *name, void *context, FloError *error) {
  (void)error;
  Numbers *numbers = context;
  if (strncmp(name, "particles_", 10) == 0 && isdigit((unsigned char)name[10]) && ends_with(name, ".vtp"))
    numbers->n_behind += strtoul(name + 10, NULL, 10) >= numbers->n_frames;
  return FLO_OK;
}

// In a killed run, a file written before the frame may be one row ahead, and a file written after it one row
// behind. While a run is going on, the counts cannot be compared.
static bool is_count_right(const Inspection *in, size_t count, bool is_before) {
  if (in->activity == ACTIVITY_RUNNING || count == in->n_frames) return true;
  if (in->is_complete) return false;
  return is_before ? count > in->n_frames : count + 1 == in->n_frames;
}

static void tell_times(Inspection *in, const FloSeriesTable *table) {
  size_t column = flo_series_table_find(table, "time");
  bool has_times = table->n_rows > 0 && column < table->n_columns;
  const double *times = has_times ? flo_series_table_column(table, column) : NULL;
  size_t n = in->n_frames > 0 ? flo_min_size(table->n_rows, in->n_frames) : table->n_rows;
  set(in, "first_time", has_times ? json_real(times[0]) : NULL);
  set(in, "last_time", has_times ? json_real(times[n - 1]) : NULL);
}

static void tell_series(Inspection *in) {
  char path[FLO_PATH_SIZE];
  FloSeriesTable table = {0};
  FloError error;
  bool is_read = flo_path_join(in->folder, "series.csv", path, &error) == FLO_OK && flo_file_exists(path);
  if (!is_read)
    note(in, "series.csv is missing");
  else if (!(is_read = flo_series_table_read(path, &table, &error) == FLO_OK))
    note(in, "%s", error.text);
  if (is_read && table.is_cut && in->activity != ACTIVITY_RUNNING)
    note(in, "the last line of series.csv is not complete");
  if (is_read && !is_count_right(in, table.n_rows, true))
    note(in, "series.csv has %zu rows, but there are %zu frames", table.n_rows, in->n_frames);
  tell_times(in, &table);
  flo_series_table_free(&table);
}

// The text of a file, to be freed. If it is missing, returns NULL and adds a problem.
static char *read_listing(Inspection *in, const char *name) {
  char path[FLO_PATH_SIZE], *text = NULL;
  size_t size;
  FloError error;
  if (!has_file(in->folder, name))
    note(in, "%s is missing", name);
  else if (flo_path_join(in->folder, name, path, &error) != FLO_OK ||
           flo_file_read(path, &text, &size, &error) != FLO_OK)
    note(in, "%s", error.text);
  return text;
}

static size_t count_in(const char *text, const char *word) {
  size_t n = 0;
  for (; (text = strstr(text, word)); text += strlen(word)) n++;
  return n;
}

static void check_bodies(Inspection *in) {
  char *text = read_listing(in, "bodies.csv");
  if (!text) return;
  size_t n_lines = count_in(text, "\n"), length = strlen(text);
  bool is_cut = length > 0 && text[length - 1] != '\n';
  if (n_lines == 0)
    note(in, "the first line of bodies.csv does not name its columns");
  else if (is_cut && in->activity != ACTIVITY_RUNNING)
    note(in, "the last line of bodies.csv is not complete");
  else if (in->n_bodies > 0 && !is_count_right(in, (n_lines - 1) / in->n_bodies, false))
    note(in, "bodies.csv has %zu rows, but there are %zu frames of %zu bodies", n_lines - 1, in->n_frames,
         in->n_bodies);
  free(text);
}

static void check_collection(Inspection *in) {
  char *text = in->n_frames > 0 ? read_listing(in, "run.pvd") : NULL;
  if (!text) return;
  size_t n_listed = count_in(text, "<DataSet ");
  if (!strstr(text, "</VTKFile>")) note(in, "run.pvd is incomplete");
  // During a run, and after it was killed, the list may be behind.
  else if (n_listed > in->n_frames || (in->is_complete && n_listed != in->n_frames))
    note(in, "run.pvd lists %zu frames, but there are %zu", n_listed, in->n_frames);
  free(text);
}

static void tell_frames(Inspection *in) {
  in->n_frames = flo_run_folder_count_frames(in->folder);
  Numbers numbers = {in->n_frames, 0};
  set(in, "frames", json_integer((json_int_t)in->n_frames));
  set(in, "last_frame", in->n_frames > 0 ? json_integer((json_int_t)in->n_frames - 1) : NULL);
  check_frames(in);
  tell_series(in);
  check_bodies(in);
  check_collection(in);
  flo_folder_visit(in->folder, look_behind, &numbers, NULL);
  // A run that is going on may have written frames since they were counted.
  if (numbers.n_behind > 0 && in->activity != ACTIVITY_RUNNING)
    note(in, "particles_%04zu.vtp is missing, but %zu later frames exist", in->n_frames, numbers.n_behind);
}

// ---- Checkpoint ----

static bool is_long_enough(Inspection *in, const char *name, size_t size) {
  char path[FLO_PATH_SIZE];
  struct stat about;
  if (flo_path_join(in->folder, name, path, NULL) != FLO_OK || stat(path, &about) != 0) return size == 0;
  if ((size_t)about.st_size >= size) return true;
  note(in, "%s is shorter than when the run was last saved", name);
  return false;
}

// Whether all files that a checkpoint needs exist, as `resume` will check.
static bool has_what_it_needs(Inspection *in, const FloRunPoint *point) {
  bool has_rows = is_long_enough(in, "series.csv", point->series_size);
  bool has_poses = is_long_enough(in, "bodies.csv", point->bodies_size);
  bool has_frames = in->n_frames >= point->n_written;
  if (!has_frames && in->activity != ACTIVITY_RUNNING)
    note(in, "checkpoint.h5 needs %zu frames, but there are %zu", point->n_written, in->n_frames);
  return has_rows && has_poses && has_frames;
}

static void tell_checkpoint(Inspection *in) {
  char path[FLO_PATH_SIZE];
  FloCheckpoint checkpoint = {0};
  FloError error;
  bool is_there = has_file(in->folder, "checkpoint.h5"), is_good = false, is_usable = false;
  if (!is_there) {
    note(in, "checkpoint.h5 is missing");
  } else {
    is_good = flo_path_join(in->folder, "checkpoint.h5", path, &error) == FLO_OK &&
              flo_checkpoint_read(path, &checkpoint, &error) == FLO_OK;
    if (!is_good) note(in, "%s", error.text);
  }
  if (is_good) is_usable = has_what_it_needs(in, &checkpoint.point);
  // Not always the scene's duration: the options of the run may ask for less or more.
  set(in, "until",
      is_good ? json_real(checkpoint.point.until) : json_incref(json_object_get(in->info, "duration")));
  set(in, "checkpoint", is_good ? json_string("checkpoint.h5") : NULL);
  set(in, "can_resume", json_boolean(is_usable && in->activity != ACTIVITY_RUNNING));
  flo_checkpoint_free(&checkpoint);
}

// ---- All ----

bool flo_run_info_is_folder(const char *path) {
  return has_file(path, "summary.json") || has_file(path, "particles_0000.vtp") ||
         (has_file(path, "scene.json") && has_file(path, "log.txt"));
}

FloStatus flo_run_info_make(const char *folder, json_t **info, FloError *error) {
  Inspection in = {.folder = folder, .info = json_object(), .problems = json_array()};
  if (!in.info || !in.problems) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory", folder);
  FloStatus status = flo_folder_visit(folder, weigh_file, &in, error);
  if (status != FLO_OK) {
    json_decref(in.info);
    json_decref(in.problems);
    return status;
  }
  // The lock is tested first: a run that ends meanwhile writes its summary before it releases the lock.
  look_for_run(&in);
  json_t *summary = read_document(&in, "summary.json"), *scene = read_document(&in, "scene.json");
  set(&in, "folder", json_string(folder));
  tell_summary(&in, summary);
  tell_scene(&in, scene);
  tell_frames(&in);
  tell_checkpoint(&in);
  tell_files(&in);
  set(&in, "problems", in.problems);
  json_decref(summary);
  json_decref(scene);
  *info = in.info;
  return FLO_OK;
}
