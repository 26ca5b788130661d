// Movies: raw pictures go through a pipe to ffmpeg, which writes a temporary file. At the end the file is
// renamed.
#include "app.h"
#include "base/core.h"
#include "io/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ARGUMENTS = 40, MAX_LINE = 300 };

struct AppMovie {
  FloNewFile file; // the temporary name that ffmpeg writes to
  FILE *messages;  // the messages of ffmpeg
  size_t frame_size;
  int pipe; // to ffmpeg's standard input; -1: closed
  pid_t process;
  struct sigaction before[4]; // earlier handlers of the signals below
};

// ---- Signals ----

static const int signals[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t is_stop_wanted;

static void want_stop(int signal_number) {
  if (signal_number != SIGPIPE) is_stop_wanted = 1;
}

// SIGPIPE is ignored, so that a closed pipe is an error of write() and does not end the program. The first
// SIGINT, SIGTERM or SIGHUP ends the movie and removes the handler, so that a second one ends the program.
// Signals that the caller ignores stay ignored.
static void catch_signals(AppMovie *movie) {
  is_stop_wanted = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(signals); k++) {
    struct sigaction action = {.sa_handler = want_stop};
    if (signals[k] != SIGPIPE) action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(signals[k], NULL, &movie->before[k]);
    if (movie->before[k].sa_handler != SIG_IGN) sigaction(signals[k], &action, NULL);
  }
}

static void restore_signals(const AppMovie *movie) {
  for (size_t k = 0; k < FLO_COUNT_OF(signals); k++) sigaction(signals[k], &movie->before[k], NULL);
}

// ---- Formats ----

// The colour space of HD screens; by default ffmpeg assumes that of old television sets.
#define SCREEN_COLOURS                                                                                       \
  "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", "-colorspace", "bt709",         \
      "-color_primaries", "bt709", "-color_trc", "bt709"

static const struct {
  const char *ending, *format;
  bool is_even; // colours are stored for squares of four pixels
  const char *options[16];
} formats[] = {
    {".mp4", "mp4", true, {SCREEN_COLOURS, "-crf", "19", "-movflags", "+faststart"}},
    {".mkv", "matroska", true, {SCREEN_COLOURS, "-crf", "19"}},
    {".webm", "webm", true, {SCREEN_COLOURS, "-crf", "30", "-b:v", "0"}},
    // Each picture gets its own palette. A common palette would need all pictures first.
    {".gif",
     "gif",
     false,
     {"-filter_complex", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"}},
};

static size_t find_format(const char *path) {
  size_t k = 0, length = strlen(path);
  for (; k < FLO_COUNT_OF(formats); k++) {
    size_t n = strlen(formats[k].ending);
    if (length > n && strcasecmp(path + length - n, formats[k].ending) == 0) break;
  }
  return k;
}

FloStatus app_movie_check(const char *path, FloError *error) {
  if (find_format(path) < FLO_COUNT_OF(formats)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: is no name for a movie; it must end in .mp4, .mkv, .webm or .gif", path);
}

bool app_movie_needs_even_size(const char *path) {
  size_t k = find_format(path);
  return k < FLO_COUNT_OF(formats) && formats[k].is_even;
}

// ---- Starting ffmpeg ----

// Strings that the argument list points to.
typedef struct Texts {
  char size[32], rate[32], output[FLO_PATH_SIZE + 8];
} Texts;

static void list_arguments(size_t format, const Texts *texts, char *arguments[MAX_ARGUMENTS]) {
  const char *const first[] = {"ffmpeg",    "-hide_banner", "-loglevel",     "error", "-y",
                               "-f",        "rawvideo",     "-pixel_format", "rgb24", "-video_size",
                               texts->size, "-framerate",   texts->rate,     "-i",    "pipe:0"};
  const char *const last[] = {"-f", formats[format].format, texts->output};
  size_t n = 0;
  // posix_spawn does not change the texts, so the casts are safe.
  for (size_t k = 0; k < FLO_COUNT_OF(first); k++) arguments[n++] = (char *)first[k];
  for (const char *const *option = formats[format].options; *option; option++)
    arguments[n++] = (char *)*option;
  for (size_t k = 0; k < FLO_COUNT_OF(last); k++) arguments[n++] = (char *)last[k];
  arguments[n] = NULL;
}

// ffmpeg reads the pipe and writes its messages into a file. It gets a process group of its own, so that
// Ctrl-C reaches only this program, which then ends ffmpeg and removes its files.
static int spawn(AppMovie *movie, char *const arguments[], int input) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset(&defaults);
  for (size_t k = 0; k < FLO_COUNT_OF(signals); k++) sigaddset(&defaults, signals[k]);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(movie->messages), STDERR_FILENO);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  int reason = posix_spawnp(&movie->process, "ffmpeg", &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return reason;
}

static FloStatus fail_to_start(int reason, FloError *error) {
  if (reason == ENOENT)
    return flo_fail(error, FLO_UNSUPPORTED,
                    "movies are made by the program ffmpeg, which is not on the PATH; install it (on Debian: "
                    "apt-get install ffmpeg) or draw pictures with --frames");
  return flo_fail(error, FLO_IO_FAILED, "cannot start ffmpeg: %s", strerror(reason));
}

static FloStatus start(AppMovie *movie, char *const arguments[], FloError *error) {
  int ends[2];
  movie->messages = tmpfile();
  if (!movie->messages || pipe(ends) != 0) return fail_to_start(errno, error);
  // ffmpeg must not inherit the writing end of the pipe, or it would never see the end of its input.
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  int reason = spawn(movie, arguments, ends[0]);
  close(ends[0]);
  movie->pipe = ends[1];
  if (reason) movie->process = 0;
  return reason ? fail_to_start(reason, error) : FLO_OK;
}

FloStatus app_movie_open(const char *path, int width, int height, double fps, AppMovie **movie,
                         FloError *error) {
  char *arguments[MAX_ARGUMENTS];
  Texts texts;
  FLO_TRY(app_movie_check(path, error));
  AppMovie *m = calloc(1, sizeof *m);
  if (!m) return flo_fail(error, FLO_NO_MEMORY, "no memory for a movie");
  m->pipe = -1;
  m->frame_size = 3 * (size_t)width * (size_t)height;
  FloStatus status = flo_new_file_begin(&m->file, path, error);
  if (status != FLO_OK) {
    free(m);
    return status;
  }
  catch_signals(m);
  snprintf(texts.size, sizeof texts.size, "%dx%d", width, height);
  snprintf(texts.rate, sizeof texts.rate, "%.9g", fps);
  // With "file:" ffmpeg does not interpret colons and dashes in the name.
  snprintf(texts.output, sizeof texts.output, "file:%s", m->file.temporary);
  list_arguments(find_format(path), &texts, arguments);
  status = start(m, arguments, error);
  if (status == FLO_OK)
    *movie = m;
  else
    app_movie_abandon(m);
  return status;
}

// ---- Ending it ----

// The last useful line of ffmpeg's messages; its very last one only says that it failed.
static void find_last_line(FILE *stream, char last[MAX_LINE]) {
  char line[MAX_LINE];
  snprintf(last, MAX_LINE, "it gave no reason");
  rewind(stream);
  while (fgets(line, sizeof line, stream)) {
    line[strcspn(line, "\r\n")] = 0;
    if (line[0] && strcmp(line, "Conversion failed!") != 0) memcpy(last, line, sizeof line);
  }
}

static void close_pipe(AppMovie *movie) {
  if (movie->pipe >= 0) close(movie->pipe);
  movie->pipe = -1;
}

// Waits for ffmpeg to finish its file.
static FloStatus wait_for_end(AppMovie *movie, FloError *error) {
  int state = 0;
  char line[MAX_LINE];
  close_pipe(movie);
  while (waitpid(movie->process, &state, 0) < 0)
    if (errno != EINTR) return flo_fail(error, FLO_IO_FAILED, "cannot wait for ffmpeg: %s", strerror(errno));
  movie->process = 0;
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return FLO_OK;
  find_last_line(movie->messages, line);
  if (WIFSIGNALED(state))
    return flo_fail(error, FLO_IO_FAILED, "%s: ffmpeg was ended by signal %d: %s", movie->file.path,
                    WTERMSIG(state), line);
  return flo_fail(error, FLO_IO_FAILED, "%s: ffmpeg failed with exit code %d: %s", movie->file.path,
                  WEXITSTATUS(state), line);
}

void app_movie_abandon(AppMovie *movie) {
  if (!movie) return;
  close_pipe(movie);
  if (movie->process > 0) {
    kill(movie->process, SIGKILL);
    while (waitpid(movie->process, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  if (movie->messages) fclose(movie->messages);
  flo_new_file_abandon(&movie->file);
  restore_signals(movie);
  free(movie);
}

FloStatus app_movie_close(AppMovie *movie, FloError *error) {
  FloStatus status = wait_for_end(movie, error);
  if (status == FLO_OK && is_stop_wanted)
    status = flo_fail(error, FLO_IO_FAILED, "%s: interrupted, no movie was made", movie->file.path);
  if (status == FLO_OK) status = flo_new_file_finish(&movie->file, error);
  app_movie_abandon(movie);
  return status;
}

// ---- Pictures ----

FloStatus app_movie_add(AppMovie *movie, const uint8_t *rgb, FloError *error) {
  for (size_t done = 0; done < movie->frame_size;) {
    if (is_stop_wanted)
      return flo_fail(error, FLO_IO_FAILED, "%s: interrupted, no movie was made", movie->file.path);
    ssize_t n = write(movie->pipe, rgb + done, movie->frame_size - done);
    if (n >= 0) {
      done += (size_t)n;
    } else if (errno == EPIPE) {
      // ffmpeg has ended early, and its messages say why. Even if it reports success, pictures are missing.
      FLO_TRY(wait_for_end(movie, error));
      return flo_fail(error, FLO_IO_FAILED, "%s: ffmpeg ended before the last picture", movie->file.path);
    } else if (errno != EINTR) {
      return flo_fail(error, FLO_IO_FAILED, "%s: cannot write to ffmpeg: %s", movie->file.path,
                      strerror(errno));
    }
  }
  return FLO_OK;
}
