#include "io/run_folder.h"

#include "base/core.h"
#include "base/timer.h"
#include "io/vtk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const fixed_names[] = {"scene.json",    "series.csv",    "summary.json",  "run.pvd",
                                          "picture.png",   "log.txt",       "bodies.csv",    "plot.svg",
                                          "checkpoint.h5", "plot.png",      "diverged.json", "diverged.csv",
                                          "residuals.csv", "residuals.svg", "residuals.png"};
static const double list_seconds = 1;  // shortest time between two writes of run.pvd during a run
static const char mark[] = "flotsam "; // the beginning of the first line of log.txt

// ---- Which files flotsam wrote ----

static size_t skip_digits(const char *text) {
  size_t n = 0;
  while (isdigit((unsigned char)text[n])) n++;
  return n;
}

// Whether the first `length` bytes are the prefix, a number with at least four digits, and the suffix.
static bool is_numbered(const char *name, size_t length, const char *prefix, const char *suffix) {
  size_t n_prefix = strlen(prefix), n_suffix = strlen(suffix);
  if (length <= n_prefix + n_suffix || strncmp(name, prefix, n_prefix) != 0) return false;
  size_t digits = skip_digits(name + n_prefix);
  bool is_written_so = digits == 4 || (digits > 4 && name[n_prefix] != '0');
  return is_written_so && n_prefix + digits + n_suffix == length &&
         strncmp(name + n_prefix + digits, suffix, n_suffix) == 0;
}

static bool is_body_mesh(const char *name, size_t length) {
  return length > 9 && strncmp(name, "body_", 5) == 0 && strncmp(name + length - 4, ".ply", 4) == 0;
}

// The length of a name without the ".123.tmp" of an unfinished file.
static size_t length_without_temporary(const char *name) {
  size_t length = strlen(name);
  if (length < 6 || strcmp(name + length - 4, ".tmp") != 0) return length;
  size_t start = length - 4;
  while (start > 0 && isdigit((unsigned char)name[start - 1])) start--;
  return start < length - 4 && start > 0 && name[start - 1] == '.' ? start - 1 : length;
}

static bool is_our_name(const char *name) {
  size_t length = length_without_temporary(name);
  for (size_t k = 0; k < FLO_COUNT_OF(fixed_names); k++)
    if (strlen(fixed_names[k]) == length && strncmp(name, fixed_names[k], length) == 0) return true;
  return is_numbered(name, length, "particles_", ".vtp") || is_numbered(name, length, "picture_", ".png") ||
         is_numbered(name, length, "soft_", ".vtp") || is_body_mesh(name, length);
}

// A file body_NAME.ply may come from another program, so its first bytes are compared with those that flotsam
// writes. The name of an unfinished file is unique to flotsam.
static bool is_foreign_mesh(const char *folder, const char *name) {
  static const char start[] = "ply\nformat binary_little_endian 1.0\ncomment body ";
  char path[FLO_PATH_SIZE], found[sizeof start] = "";
  if (!is_body_mesh(name, strlen(name))) return false;
  FILE *stream = flo_path_join(folder, name, path, NULL) == FLO_OK ? fopen(path, "rb") : NULL;
  if (!stream) return true;
  size_t n = fread(found, 1, sizeof start - 1, stream);
  fclose(stream);
  return n != sizeof start - 1 || memcmp(found, start, n) != 0;
}

// ---- Opening ----

typedef struct Content {
  size_t n_files;
  char ours[256]; // a file with one of flotsam's names; empty if there is none
} Content;

static FloStatus count_file(const char *name, void *context, FloError *error) {
  (void)error;
  Content *content = context;
  content->n_files++;
  if (is_our_name(name)) snprintf(content->ours, sizeof content->ours, "%s", name);
  return FLO_OK;
}

bool flo_run_folder_is_run(const char *folder) {
  char path[FLO_PATH_SIZE], start[sizeof mark] = "";
  if (flo_path_join(folder, "log.txt", path, NULL) != FLO_OK) return false;
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  size_t n = fread(start, 1, sizeof mark - 1, stream);
  fclose(stream);
  return n == sizeof mark - 1 && memcmp(start, mark, n) == 0;
}

// A folder with the name of a file was not made by flotsam.
static FloStatus remove_file(const char *path, FloError *error) {
  if (unlink(path) == 0) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot be replaced: %s; move it to another folder", path,
                  strerror(errno));
}

static FloStatus remove_ours(const char *name, void *context, FloError *error) {
  char path[FLO_PATH_SIZE];
  // The log is open and locked.
  if (!is_our_name(name) || strcmp(name, "log.txt") == 0 || is_foreign_mesh(context, name)) return FLO_OK;
  FLO_TRY(flo_path_join(context, name, path, error));
  return remove_file(path, error);
}

FloStatus flo_run_folder_check(const char *path, bool replace, FloError *error) {
  Content content = {0};
  struct stat about;
  if (stat(path, &about) != 0) return FLO_OK; // it will be created; an error is reported then
  if (!S_ISDIR(about.st_mode))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is a file, not a folder; name another folder", path);
  FLO_TRY(flo_folder_visit(path, count_file, &content, error));
  if (content.n_files == 0) return FLO_OK;
  if (!replace)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: exists and is not empty; replace the run in it with --force, or name another folder with --out",
        path);
  if (content.ours[0] && !flo_run_folder_is_run(path))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: holds a file '%s' that flotsam did not write; name another folder with --out", path,
                    content.ours);
  return FLO_OK;
}

// The lock keeps two programs from writing into one folder. It is released when the process ends in any way.
static FloStatus lock_log(const FloRunFolder *folder, FloError *error) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fileno(folder->log), F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: another flotsam is running in this folder; wait until it ends, or name another folder",
                  folder->path);
}

static FloStatus begin_log(FloRunFolder *folder, const char *mode, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(folder->path, "log.txt", path, error));
  folder->log = fopen(path, mode);
  if (!folder->log) return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(errno));
  return lock_log(folder, error);
}

static FloStatus create_folder(const char *path, FloRunFolder **result, FloError *error) {
  FloRunFolder *folder = calloc(1, sizeof *folder);
  if (!folder) return flo_fail(error, FLO_NO_MEMORY, "no memory");
  snprintf(folder->path, sizeof folder->path, "%s", path);
  folder->began = flo_seconds();
  *result = folder;
  return FLO_OK;
}

static void remove_log(const FloRunFolder *folder) {
  char path[FLO_PATH_SIZE];
  if (flo_path_join(folder->path, "log.txt", path, NULL) == FLO_OK) remove(path);
}

// The log is opened without being cut, and all other files are kept, until it is certain that no other
// program uses the folder.
static FloStatus begin_anew(FloRunFolder *folder, FloError *error) {
  FLO_TRY(begin_log(folder, "a", error));
  FLO_TRY(flo_folder_visit(folder->path, remove_ours, folder->path, error));
  // An old log keeps its first line, which marks the folder; all other lines are removed.
  struct stat about;
  int log = fileno(folder->log);
  if (fstat(log, &about) == 0 && about.st_size > (off_t)(sizeof mark - 1) &&
      ftruncate(log, (off_t)(sizeof mark - 1)) == 0)
    fprintf(folder->log, "%s\n", flo_version());
  else
    fprintf(folder->log, "%s%s\n", mark, flo_version());
  // Writes the first line, which marks the folder as flotsam's. The same descriptor must be used: closing
  // another one would release the lock.
  if (fflush(folder->log) == 0 && flo_descriptor_sync(log)) return FLO_OK;
  FloStatus status =
      flo_fail(error, FLO_IO_FAILED, "%s/log.txt: cannot write: %s", folder->path, strerror(errno));
  // If nothing could be written, the folder is left as it was.
  if (fstat(log, &about) == 0 && about.st_size == 0) remove_log(folder);
  return status;
}

FloStatus flo_run_folder_open(const char *path, bool replace, FloRunFolder **result, FloError *error) {
  FLO_TRY(flo_run_folder_check(path, replace, error));
  FLO_TRY(flo_folder_make(path, error));
  FloRunFolder *folder = NULL;
  FLO_TRY(create_folder(path, &folder, error));
  FloStatus status = begin_anew(folder, error);
  if (status == FLO_OK)
    *result = folder;
  else
    flo_run_folder_close(folder);
  return status;
}

// ---- Continuing a run ----

// Files that a run writes at its end.
static bool shows_end(const char *name) {
  static const char *const names[] = {"summary.json", "diverged.json", "diverged.csv", "picture.png"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

// Files of a killed run that are removed before it continues: frames and pictures after the valid ones,
// unfinished files, and files that a run writes at its end.
static FloStatus remove_behind(const char *name, void *context, FloError *error) {
  const FloRunFolder *folder = context;
  char path[FLO_PATH_SIZE];
  size_t length = length_without_temporary(name);
  bool is_unfinished = is_our_name(name) && length < strlen(name);
  bool is_frame = is_numbered(name, strlen(name), "particles_", ".vtp") ||
                  is_numbered(name, strlen(name), "soft_", ".vtp");
  bool is_picture = is_numbered(name, strlen(name), "picture_", ".png");
  bool is_behind = (is_frame || is_picture) && strtoull(strchr(name, '_') + 1, NULL, 10) >= folder->n_frames;
  if (!is_unfinished && !is_behind && !shows_end(name)) return FLO_OK;
  FLO_TRY(flo_path_join(folder->path, name, path, error));
  return remove_file(path, error);
}

FloStatus flo_run_folder_check_frames(const FloRunFolder *folder, size_t n_frames, bool *is_last_whole,
                                      FloError *error) {
  char path[FLO_PATH_SIZE];
  size_t found = flo_run_folder_count_frames(folder->path);
  *is_last_whole = true;
  if (n_frames > 0 && found >= n_frames) {
    FLO_TRY(flo_run_folder_frame_path(folder->path, n_frames - 1, path, error));
    *is_last_whole = flo_vtk_is_whole(path);
    FLO_TRY(flo_run_folder_soft_path(folder->path, n_frames - 1, path, error));
    if (flo_file_exists(path)) *is_last_whole &= flo_vtk_is_whole(path);
  }
  if (found >= n_frames) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: frame %zu of the run is missing; restore its file, or start the run again",
                  folder->path, found);
}

FloStatus flo_run_folder_take(const char *path, FloRunFolder **result, FloError *error) {
  FloRunFolder *folder = NULL;
  if (!flo_run_folder_is_run(path))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is not the folder of a run; name a folder that 'flotsam run' wrote", path);
  FLO_TRY(create_folder(path, &folder, error));
  FloStatus status = begin_log(folder, "a", error);
  // In this case the folder has no write permission; the disk has not failed.
  if (status == FLO_IO_FAILED && (errno == EACCES || errno == EROFS || errno == EPERM))
    status = flo_fail(error, FLO_BAD_INPUT, "%s: cannot be written: %s; make it writable, or copy it", path,
                      strerror(errno));
  if (status == FLO_OK)
    *result = folder;
  else
    flo_run_folder_close(folder);
  return status;
}

void flo_run_folder_close(FloRunFolder *folder) {
  if (!folder) return;
  if (folder->log) fclose(folder->log);
  free(folder->times);
  free(folder);
}

// ---- Log ----

void flo_run_folder_note(FloRunFolder *folder, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(folder->log, "%9.3f ", flo_seconds() - folder->began);
  vfprintf(folder->log, format, arguments);
  va_end(arguments);
  fputc('\n', folder->log);
  fflush(folder->log);
}

// ---- Files ----

FloStatus flo_run_folder_write(const FloRunFolder *folder, const char *name, const char *text,
                               FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(folder->path, name, path, error));
  return flo_file_write(path, text, strlen(text), error);
}

static void name_frame(size_t frame, char name[48]) { snprintf(name, 48, "particles_%04zu.vtp", frame); }
static void name_soft(size_t frame, char name[48]) { snprintf(name, 48, "soft_%04zu.vtp", frame); }

FloStatus flo_run_folder_frame_path(const char *folder, size_t frame, char path[FLO_PATH_SIZE],
                                    FloError *error) {
  char name[48];
  name_frame(frame, name);
  return flo_path_join(folder, name, path, error);
}

FloStatus flo_run_folder_soft_path(const char *folder, size_t frame, char path[FLO_PATH_SIZE],
                                   FloError *error) {
  char name[48];
  name_soft(frame, name);
  return flo_path_join(folder, name, path, error);
}

size_t flo_run_folder_count_frames(const char *folder) {
  char path[FLO_PATH_SIZE];
  size_t n = 0;
  while (flo_run_folder_frame_path(folder, n, path, NULL) == FLO_OK && flo_file_exists(path)) n++;
  return n;
}

static FloStatus write_collection(FloRunFolder *folder, FloError *error) {
  const size_t n_parts = folder->has_soft ? 2 : 1, n = n_parts * folder->n_frames;
  char path[FLO_PATH_SIZE], (*names)[48] = malloc((n + 1) * sizeof *names);
  const char **pointers = malloc((n + 1) * sizeof *pointers);
  FloStatus status = flo_path_join(folder->path, "run.pvd", path, error);
  if (!names || !pointers) status = flo_fail(error, FLO_NO_MEMORY, "no memory");
  if (status == FLO_OK) {
    for (size_t k = 0; k < n; k++) {
      (k % n_parts ? name_soft : name_frame)(k / n_parts, names[k]);
      pointers[k] = names[k];
    }
    status = flo_vtk_write_collection(path, folder->n_frames, n_parts, pointers, folder->times, error);
  }
  free(pointers);
  free(names);
  if (status == FLO_OK) folder->n_listed = folder->n_frames, folder->last_listed = flo_seconds();
  return status;
}

FloStatus flo_run_folder_list_frames(FloRunFolder *folder, FloError *error) {
  return folder->n_listed == folder->n_frames ? FLO_OK : write_collection(folder, error);
}

static FloStatus list_now_and_then(FloRunFolder *folder, FloError *error) {
  bool is_due = folder->n_listed == 0 || flo_seconds() - folder->last_listed >= list_seconds;
  return is_due ? flo_run_folder_list_frames(folder, error) : FLO_OK;
}

// The particles come last: a frame is complete when they are there.
static FloStatus write_frame(FloRunFolder *folder, size_t number, const FloFrame *frame, FloError *error) {
  char path[FLO_PATH_SIZE];
  if (flo_frame_has_soft(frame)) {
    FLO_TRY(flo_run_folder_soft_path(folder->path, number, path, error));
    FLO_TRY(flo_frame_write_soft(frame, path, error));
    folder->has_soft = true;
  }
  FLO_TRY(flo_run_folder_frame_path(folder->path, number, path, error));
  return flo_frame_write_particles(frame, path, error);
}

FloStatus flo_run_folder_add_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error) {
  if (folder->n_frames == folder->capacity) {
    size_t capacity = 2 * folder->capacity + 64;
    double *times = realloc(folder->times, capacity * sizeof *times);
    if (!times) return flo_fail(error, FLO_NO_MEMORY, "no memory");
    folder->times = times;
    folder->capacity = capacity;
  }
  FLO_TRY(write_frame(folder, folder->n_frames, frame, error));
  folder->times[folder->n_frames++] = frame->time;
  return list_now_and_then(folder, error);
}

FloStatus flo_run_folder_replace_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error) {
  FLO_ASSERT(folder->n_frames > 0);
  size_t last = folder->n_frames - 1;
  FLO_TRY(write_frame(folder, last, frame, error));
  folder->times[last] = frame->time;
  folder->n_synced = flo_min_size(folder->n_synced, last);
  return FLO_OK;
}

FloStatus flo_run_folder_sync(FloRunFolder *folder, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_list_frames(folder, error));
  for (; folder->n_synced < folder->n_frames; folder->n_synced++) {
    FLO_TRY(flo_run_folder_frame_path(folder->path, folder->n_synced, path, error));
    FLO_TRY(flo_file_sync(path, error));
    FLO_TRY(flo_run_folder_soft_path(folder->path, folder->n_synced, path, error));
    if (folder->has_soft) FLO_TRY(flo_file_sync(path, error));
  }
  FLO_TRY(flo_path_join(folder->path, "run.pvd", path, error));
  if (folder->n_frames > 0) FLO_TRY(flo_file_sync(path, error));
  return flo_folder_sync(folder->path, error);
}

// ---- Continuing after the valid frames ----

static FloStatus remove_collection(const FloRunFolder *folder, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(folder->path, "run.pvd", path, error));
  return flo_file_exists(path) ? remove_file(path, error) : FLO_OK;
}

FloStatus flo_run_folder_go_on(FloRunFolder *folder, size_t n_frames, const double *times, FloError *error) {
  folder->n_frames = folder->capacity = n_frames;
  folder->times = malloc((n_frames + 1) * sizeof *times);
  if (!folder->times) return flo_fail(error, FLO_NO_MEMORY, "no memory");
  memcpy(folder->times, times, n_frames * sizeof *times);
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_soft_path(folder->path, 0, path, error));
  folder->has_soft = n_frames > 0 && flo_file_exists(path);
  // The list is written before the frames are removed, so that it never names a missing frame.
  FLO_TRY(n_frames > 0 ? write_collection(folder, error) : remove_collection(folder, error));
  return flo_folder_visit(folder->path, remove_behind, folder, error);
}
