#include "io/run_info.h"

#include "base/core.h"
#include "io/run_folder.h"
#include "io/series_read.h"
#include "io/vtk.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct Inspection {
  const char *folder;
  json_t *info, *problems;
  size_t n_files, n_left_over; // left over: unfinished files
  json_int_t bytes;
  time_t changed; // when a file changed last
  char checkpoint[256];
  time_t checkpoint_changed;
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
  json_t *sentence = json_string(text); // NULL if a name is no UTF-8
  json_array_append_new(in->problems, sentence ? sentence : json_string("a file has a name that is no text"));
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
  bool is_left_over = ends_with(name, ".tmp");
  in->n_left_over += is_left_over;
  if (strncmp(name, "checkpoint", 10) != 0 || is_left_over) return FLO_OK;
  // Of two of the same second the one with the higher number.
  if (about.st_mtime < in->checkpoint_changed ||
      (about.st_mtime == in->checkpoint_changed && strcmp(name, in->checkpoint) < 0))
    return FLO_OK;
  in->checkpoint_changed = about.st_mtime;
  snprintf(in->checkpoint, sizeof in->checkpoint, "%s", name);
  return FLO_OK;
}

static void tell_files(Inspection *in) {
  set(in, "files", json_integer((json_int_t)in->n_files));
  set(in, "bytes", json_integer(in->bytes));
  set(in, "checkpoint", in->checkpoint[0] ? json_string(in->checkpoint) : NULL);
  set(in, "seconds_since_change", json_real(difftime(time(NULL), in->changed)));
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

static void tell_expectations(Inspection *in, const json_t *summary) {
  const json_t *list = json_object_get(summary, "expect");
  json_int_t counts[3] = {0}; // failed, passed, not judged
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *pass = json_object_get(json_array_get(list, k), "pass");
    counts[json_is_false(pass) ? 0 : json_is_true(pass) ? 1 : 2]++;
  }
  copy(in, summary, "expect");
  set(in, "passed", summary ? json_integer(counts[1]) : NULL);
  set(in, "failed", summary ? json_integer(counts[0]) : NULL);
  set(in, "not_judged", summary ? json_integer(counts[2]) : NULL);
}

static void tell_summary(Inspection *in, const json_t *summary) {
  static const char *const keys[] = {"title", "name",  "method",       "version",  "message",
                                     "time",  "steps", "wall_seconds", "particles"};
  for (size_t k = 0; k < FLO_COUNT_OF(keys); k++) copy(in, summary, keys[k]);
  json_t *end = json_object_get(summary, "end");
  set(in, "end", json_is_string(end) ? json_incref(end) : json_string("unfinished"));
  tell_expectations(in, summary);
}

// The scene as run tells what a run without a summary was to be.
static void tell_scene(Inspection *in, const json_t *scene) {
  if (json_is_null(json_object_get(in->info, "title"))) copy(in, scene, "title");
  if (json_is_null(json_object_get(in->info, "method"))) {
    const json_t *method = json_object_get(scene, "method");
    set(in, "method",
        json_incref(json_is_object(method) ? json_object_get(method, "name") : (json_t *)method));
  }
  copy(in, scene, "duration");
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

static void check_frames(Inspection *in, size_t n_frames) {
  for (size_t k = 0; k < n_frames; k++) {
    char path[FLO_PATH_SIZE];
    if (flo_run_folder_frame_path(in->folder, k, path, NULL) != FLO_OK) continue;
    if (!has_tail(path))
      note(in, "%s is cut off", path);
    else if (k + 1 == n_frames)
      check_last_frame(in, path);
  }
}

// Frames behind a gap are found by no command, since frames are counted from 0.
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

static void tell_times(Inspection *in, size_t n_frames) {
  char path[FLO_PATH_SIZE];
  FloSeriesTable table = {0};
  FloError error;
  size_t column = 0;
  bool is_read = flo_path_join(in->folder, "series.csv", path, &error) == FLO_OK && flo_file_exists(path);
  if (!is_read)
    note(in, "series.csv is missing");
  else if (!(is_read = flo_series_table_read(path, &table, &error) == FLO_OK))
    note(in, "%s", error.text);
  if (is_read && table.is_cut) note(in, "the last line of series.csv is not complete");
  if (is_read && table.n_rows != n_frames)
    note(in, "series.csv has %zu rows, but there are %zu frames", table.n_rows, n_frames);
  column = flo_series_table_find(&table, "time");
  bool has_times = table.n_rows > 0 && column < table.n_columns;
  const double *times = has_times ? flo_series_table_column(&table, column) : NULL;
  set(in, "first_time", has_times ? json_real(times[0]) : NULL);
  set(in, "last_time", has_times ? json_real(times[table.n_rows - 1]) : NULL);
  flo_series_table_free(&table);
}

static void tell_frames(Inspection *in) {
  Numbers numbers = {flo_run_folder_count_frames(in->folder), 0};
  set(in, "frames", json_integer((json_int_t)numbers.n_frames));
  check_frames(in, numbers.n_frames);
  tell_times(in, numbers.n_frames);
  flo_folder_visit(in->folder, look_behind, &numbers, NULL);
  if (numbers.n_behind > 0)
    note(in, "particles_%04zu.vtp is missing, but %zu later frames are there", numbers.n_frames,
         numbers.n_behind);
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
  json_t *summary = read_document(&in, "summary.json"), *scene = read_document(&in, "scene.json");
  set(&in, "folder", json_string(folder));
  tell_summary(&in, summary);
  tell_scene(&in, scene);
  tell_frames(&in);
  tell_files(&in);
  if (in.n_left_over > 0) note(&in, "%zu files ending with .tmp were never finished", in.n_left_over);
  set(&in, "problems", in.problems);
  json_decref(summary);
  json_decref(scene);
  *info = in.info;
  return FLO_OK;
}
