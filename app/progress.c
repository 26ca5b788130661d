// Progress on stderr: on a terminal, a bar with the remaining time; elsewhere, a plain line from time to
// time.
#include "app.h"
#include "base/core.h"
#include "base/timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double terminal_interval = 0.1, plain_interval = 5; // [s]

enum { MIN_BAR = 5, MAX_BAR = 30, MAX_LINE = 256, PLAIN_WIDTH = 80 };

void app_progress_begin(AppProgress *progress, double start, double until, bool is_quiet) {
  double now = flo_seconds();
  *progress = (AppProgress){.is_quiet = is_quiet,
                            .is_terminal = isatty(STDERR_FILENO) == 1,
                            .start = start,
                            .until = until,
                            .began = now,
                            .part_began = now,
                            .last_line = now};
}

void app_progress_go_on(AppProgress *progress, double start, double until) {
  progress->start = start, progress->until = until;
  progress->after = 0;
  progress->part_began = flo_seconds();
}

bool app_progress_is_due(const AppProgress *progress) {
  double interval = progress->is_terminal ? terminal_interval : plain_interval;
  return !progress->is_quiet && flo_seconds() - progress->last_line >= interval;
}

// The remaining time [s], estimated from the time so far; negative: not known yet.
static double time_to_go(const AppProgress *progress, double share) {
  double elapsed = flo_seconds() - progress->part_began;
  if (share <= 0 || elapsed < 0.5) return -1;
  return elapsed * (1 - share) / share + progress->after;
}

// As "3:20" or "2:05:00".
static void format_to_go(double to_go, char text[32]) {
  long s = (long)(to_go + 0.5);
  if (to_go < 0)
    snprintf(text, 32, "-");
  else if (s < 3600)
    snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
  else
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

// The share of all work that is done, with what comes behind the end.
static double whole_share(const AppProgress *progress, double share, double to_go) {
  double elapsed = flo_seconds() - progress->began;
  if (to_go < 0) return progress->part_began > progress->began ? progress->shown : share;
  return elapsed / (elapsed + to_go);
}

static int terminal_width(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// Shortens the text to the width. Only whole measurements are left out (two blanks separate them), because a
// cut number would be wrong.
static void shorten(char *text, size_t room) {
  while (strlen(text) > room) {
    char *gap = NULL;
    for (char *at = text; (at = strstr(at, "  ")); at += 2) gap = at;
    text[gap ? (size_t)(gap - text) : room] = 0;
  }
}

// The bar uses the rest of the line. The line must not wrap, or it could not be overwritten.
static void draw_bar(double share, char *text) {
  char bar[MAX_BAR + 1];
  int room = terminal_width() - 1;
  shorten(text, (size_t)(room - 3 - MIN_BAR));
  int cells = room - 3 - (int)strlen(text);
  cells = cells < MIN_BAR ? MIN_BAR : cells > MAX_BAR ? MAX_BAR : cells;
  memset(bar, '.', (size_t)cells);
  memset(bar, '#', (size_t)(share * cells));
  bar[cells] = 0;
  fprintf(stderr, "\r[%s] %s\033[K", bar, text);
}

void app_progress_tell(AppProgress *progress, double now, const char *text) {
  double span = progress->until - progress->start;
  double share = span > 0 ? (now - progress->start) / span : 1;
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  char to_go[32], line[MAX_LINE];
  const double left = time_to_go(progress, share);
  share = progress->shown = whole_share(progress, share, left);
  format_to_go(left, to_go);
  snprintf(line, sizeof line, "%.0f %%  ETA %s  %s", 100 * share, to_go, text);
  if (progress->is_terminal)
    draw_bar(share, line);
  else
    shorten(line, PLAIN_WIDTH - 1), fprintf(stderr, "%s\n", line);
  fflush(stderr);
  progress->last_line = flo_seconds();
}

void app_progress_show(AppProgress *progress, const FloMeasurements *measurements) {
  char text[MAX_LINE];
  snprintf(text, sizeof text, "t %.3g s  density error %.2g %%  step %" PRIu64 "  dt %.1e s",
           measurements->time, 100 * measurements->density_error_mean, measurements->step, measurements->dt);
  app_progress_tell(progress, measurements->time, text);
}

void app_progress_end(AppProgress *progress) {
  if (progress->is_quiet || !progress->is_terminal) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
}
