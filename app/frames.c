// Shared by commands that make one file per frame: which frames, which files are still valid, and how much
// disk and memory they need.
#include "app.h"
#include "base/core.h"
#include "io/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool app_read_frames(const char *text, size_t numbers[3], bool *is_single) {
  *is_single = false;
  for (size_t k = 0; k < 3; k++) {
    size_t length = strspn(text, "0123456789");
    if (length > 9) return false;
    if (length > 0) numbers[k] = strtoul(text, NULL, 10);
    text += length;
    if (*text == 0) {
      *is_single = k == 0;
      if (k == 0) numbers[1] = numbers[0];
      return k > 0 || length > 0;
    }
    if (*text++ != ':') return false;
  }
  return false;
}

FloStatus app_note_settings(const char *folder, const char *text, struct timespec *when, FloError *error) {
  char path[FLO_PATH_SIZE], *old = NULL;
  size_t size = 0, length = strlen(text);
  struct stat about;
  FLO_TRY(flo_path_join(folder, "settings.json", path, error));
  bool is_same = flo_file_exists(path) && flo_file_read(path, &old, &size, NULL) == FLO_OK &&
                 size == length && memcmp(old, text, length) == 0;
  free(old);
  if (!is_same) FLO_TRY(flo_file_write(path, text, length, error));
  if (stat(path, &about) != 0) return flo_fail(error, FLO_IO_FAILED, "%s: cannot be read", path);
  *when = about.st_mtim;
  return FLO_OK;
}

static bool is_older(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

bool app_is_current(const char *path, const char *particles, const struct timespec *settings) {
  struct stat from, to;
  if (stat(path, &to) != 0 || stat(particles, &from) != 0) return false;
  return !is_older(&to.st_mtim, &from.st_mtim) && !is_older(&to.st_mtim, settings);
}

// If a surface needed more memory than the machine has, it would swap for hours, or the system would kill the
// program.
size_t app_memory_limit(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? (size_t)pages / 5 * 4 * (size_t)page : 0;
}

// Rounding must not print 1000 MB for nearly a GB, nor 100.0 for 99.97.
const char *app_describe_size(double bytes, char text[32]) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t k = 0;
  for (; bytes >= (k ? 999.5 : 1000) && k + 1 < FLO_COUNT_OF(units); k++) bytes /= 1000;
  snprintf(text, 32, "%.*f %s", k && bytes < 99.95 ? 1 : 0, bytes, units[k]);
  return text;
}
